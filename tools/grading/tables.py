"""The results of a class: three CSV files and one HTML page that needs nothing else.

What learners chose (names, answers, errors) is text here and nothing more: escaped in HTML, and in
CSV kept from being a formula.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from exercises.checks.beliefs import BELIEFS

from .journal import Graded
from .material import Sheet, Task
from .submissions import printable
from .supervisor import Limits, Result

MARKS = {
    "passed": ("✓", "right"),
    "wrong": ("✗", "wrong"),
    "unanswered": ("–", "not answered"),
    "not graded": ("!", "not graded"),
}


@dataclass
class Class:
    """All that was graded, and the questions that the tables ask."""

    graded: list[Graded]
    limits: Limits
    unlimited: set[str] = field(default_factory=set)

    @property
    def learners(self) -> list[str]:
        return sorted({one.learner for one in self.graded})

    @property
    def sheets(self) -> list[Sheet]:
        """Those that somebody handed in."""
        found = {one.sheet.stem: one.sheet for one in self.graded if one.sheet is not None}
        return [found[stem] for stem in sorted(found)]

    @property
    def tasks(self) -> list[Task]:
        return [task for sheet in self.sheets for task in sheet.tasks]

    @property
    def possible(self) -> int:
        return sum(sheet.points for sheet in self.sheets)

    @property
    def beliefs(self) -> list[str]:
        """Those that are at stake in these exercises, in the order of the course."""
        at_stake = {belief for task in self.tasks for belief in task.beliefs}
        return [belief for belief in BELIEFS if belief in at_stake]

    def counted(self, learner: str) -> dict[str, Result]:
        """The learner's results by exercise: of several notebooks with the same exercises, the best."""
        best: dict[str, Graded] = {}
        for one in self.graded:
            if one.learner == learner and one.sheet is not None:
                stem = one.sheet.stem
                best[stem] = max(best.get(stem, one), one, key=lambda each: (each.points, bool(each.results)))
        return {result.task.id: result for one in best.values() for result in one.results}

    def points(self, learner: str) -> int:
        return sum(result.points for result in self.counted(learner).values())

    def right(self, task: Task) -> int:
        """How many percent of all learners have an exercise right."""
        counted = [self.counted(learner).get(task.id) for learner in self.learners]
        return round(100 * sum(one is not None and one.points > 0 for one in counted) / len(counted))

    def of_all(self, belief: str) -> tuple[int, ...]:
        """The sums of what `of_belief` says of each learner."""
        return tuple(map(sum, zip(*(self.of_belief(who, belief) for who in self.learners), strict=True)))

    def odd(self, learner: str) -> str:
        """What a teacher should look at in the learner's notebooks."""
        return " ".join(f"{one.name}: {one.odd}" for one in self.graded if one.learner == learner and one.odd)

    def of_belief(self, learner: str, belief: str) -> tuple[int, int, int]:
        """Points of the exercises where a belief is at stake: got and possible; and answers that show it."""
        counted = self.counted(learner)
        tasks = [task for task in self.tasks if belief in task.beliefs]
        results = [counted[task.id] for task in tasks if task.id in counted]
        shown = sum(result.belief == belief for result in counted.values())
        return sum(result.points for result in results), sum(task.points for task in tasks), shown


# --- CSV -----------------------------------------------------------------------------------------


def write(room: Class, folder: Path) -> list[Path]:
    """Write all tables; returns the files. One that cannot be written leaves the old one as it was."""
    tables = {"points.csv": points_table, "beliefs.csv": beliefs_table, "answers.csv": answers_table}
    contents = {name: _csv(table(room)) for name, table in tables.items()} | {"grades.html": page(room)}
    for name, content in contents.items():
        new = folder / f"{name}.new"
        try:
            new.write_bytes(content.encode("utf-8", "replace"))
            os.replace(new, folder / name)
        except OSError:
            new.unlink(missing_ok=True)
            raise
    return [folder / name for name in contents]


def _csv(rows: Iterable[list]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: object) -> object:
    """A spreadsheet runs a text that begins like a formula; one that takes semicolons for commas, also after one."""
    if not isinstance(cell, str):
        return cell
    return re.sub(r"((?:^|;)[\s'\"]*)([=+\-@＝＋－＠])", r"\1'\2", printable(cell, 1000))


def points_table(room: Class) -> Iterable[list]:
    """A row a learner, a column an exercise; empty where no notebook was graded."""
    yield ["learner", "points", "possible", *(task.id for task in room.tasks), "worth a look"]
    for learner in room.learners:
        counted = room.counted(learner)
        points = [counted[task.id].points if task.id in counted else "" for task in room.tasks]
        yield [learner, room.points(learner), room.possible, *points, room.odd(learner)]


def beliefs_table(room: Class) -> Iterable[list]:
    """A row for each learner and belief."""
    yield ["learner", "belief", "points", "possible", "wrong answers that show it", "the belief"]
    for learner in room.learners:
        for belief in room.beliefs:
            yield [learner, belief, *room.of_belief(learner, belief), BELIEFS[belief]]


def answers_table(room: Class) -> Iterable[list]:
    """A row for each answer in each file, and for each file that was not graded."""
    yield ["learner", "file", "exercise", "points", "possible", "result", "diagnosis", "belief", "came", "notes"]
    for one in room.graded:
        if not one.results:
            possible = one.sheet.points if one.sheet else ""
            yield [one.learner, one.name, "", 0, possible, "not graded", "", "", "", one.why]
        for result in one.results:
            task = result.task
            said = [result.status, result.code, result.belief, result.got, "; ".join(result.notes)]
            yield [one.learner, one.name, task.id, result.points, task.points, *said]


# --- HTML ----------------------------------------------------------------------------------------


def page(room: Class) -> str:
    """The HTML page: points by exercise, points by belief, and every answer."""
    maker = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    maker.filters |= {"line": lambda text: printable(text, 600), "kind": lambda status: status.replace(" ", "-")}
    template = maker.from_string((Path(__file__).parent / "grades.html").read_text(encoding="utf-8"))
    return template.render(room=room, marks=MARKS, statements=BELIEFS, walls=about_walls(room))


def about_walls(room: Class) -> str:
    """Where the notebooks ran, in two sentences."""
    ran = [one for one in room.graded if one.results]
    behind = sum(one.walled for one in ran)
    wall = (
        f"{behind} of {len(ran)} notebooks ran behind the wall of bubblewrap: without network, with their own process "
        "ids, without the solutions and other people's files, and with nothing to write to but a folder of their own."
    )
    plain = (
        f"{len(ran) - behind} of {len(ran)} notebooks ran without a wall, in a plain process with limits, as the user "
        "who started the grading: code that is written to do harm can read and change what this user can."
    )
    return " ".join([wall] * (behind > 0) + [plain] * (behind < len(ran))) or "No notebook ran."
