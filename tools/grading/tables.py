"""The results of a class: three CSV files and one HTML page that needs nothing else.

What learners chose (names, answers, errors) is text here and nothing more: escaped in HTML, and in
CSV kept from being a formula.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from exercises.checks.beliefs import BELIEFS

from .material import Sheet, Task
from .submissions import printable
from .supervisor import Limits, Result

NO_SANDBOX = (
    "A limit is not a sandbox. Each notebook ran in a process of its own, with limits, as the user who started "
    "the grading: code that is written to do harm can read and change what this user can. For notebooks of people "
    "you do not trust, grade in a container or on a machine that holds nothing else."
)
MARKS = {
    "passed": ("✓", "right"),
    "wrong": ("✗", "wrong"),
    "unanswered": ("–", "not answered"),
    "not graded": ("!", "not graded"),
}


@dataclass(frozen=True)
class Graded:
    """One file: whose it is, which exercises it answers, and what became of each. `why` if none was graded."""

    learner: str
    name: str
    sheet: Sheet | None
    results: tuple[Result, ...] = ()
    why: str = ""

    @property
    def points(self) -> int:
        return sum(result.points for result in self.results)


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

    def of_belief(self, learner: str, belief: str) -> tuple[int, int, int]:
        """Points of the exercises where a belief is at stake: got and possible; and answers that show it."""
        counted = self.counted(learner)
        tasks = [task for task in self.tasks if belief in task.beliefs]
        results = [counted[task.id] for task in tasks if task.id in counted]
        shown = sum(result.belief == belief for result in counted.values())
        return sum(result.points for result in results), sum(task.points for task in tasks), shown


# --- CSV -----------------------------------------------------------------------------------------


def write(room: Class, folder: Path) -> list[Path]:
    """Write all tables; returns the files."""
    tables = {"points.csv": points_table, "beliefs.csv": beliefs_table, "answers.csv": answers_table}
    written = []
    for name, table in tables.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([_harmless(cell) for cell in row] for row in table(room))
        written.append(folder / name)
    (folder / "grades.html").write_text(page(room), encoding="utf-8", newline="\n")
    return [*written, folder / "grades.html"]


def _harmless(cell: object) -> object:
    """A spreadsheet takes a text that begins like this for a formula, and runs it."""
    text = cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell
    return f"'{text}" if isinstance(text, str) and text[:1] in tuple("=+-@\t\r") else text


def points_table(room: Class) -> Iterable[list]:
    """A row a learner, a column an exercise; empty where no notebook was graded."""
    yield ["learner", "points", "possible", *(task.id for task in room.tasks)]
    for learner in room.learners:
        counted = room.counted(learner)
        points = [counted[task.id].points if task.id in counted else "" for task in room.tasks]
        yield [learner, room.points(learner), room.possible, *points]


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
            yield [
                one.learner,
                one.name,
                "",
                0,
                one.sheet.points if one.sheet else "",
                "not graded",
                "",
                "",
                "",
                one.why,
            ]
        for result in one.results:
            task = result.task
            said = [result.status, result.code, result.belief, result.got, "; ".join(result.notes)]
            yield [one.learner, one.name, task.id, result.points, task.points, *said]


# --- HTML ----------------------------------------------------------------------------------------

_STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf6; --ink: #23272e; --quiet: #5d6570; --line: #d6d1c4;
  --passed: #1d6344; --wrong: #96490b; --unanswered: #56616e; --not-graded: #5f4390; }
@media (prefers-color-scheme: dark) { :root { --paper: #1b1e23; --ink: #e6e3da; --quiet: #a7adb6; --line: #3c424b;
  --passed: #7fd0a8; --wrong: #f0a868; --unanswered: #a7b0bc; --not-graded: #c3abf0; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p, caption, li { max-width: 52rem; }
.wide { overflow-x: auto; } .wide:focus-visible { outline: 2px solid var(--quiet); }
table { border-collapse: collapse; } caption { text-align: left; color: var(--quiet); padding-bottom: .4rem; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left; vertical-align: top; }
th { font-weight: 600; } thead th, td.number { white-space: nowrap; }
.numbers th + th, td.number { text-align: right; }
tbody th { overflow-wrap: anywhere; min-width: 8rem; }
td.text { overflow-wrap: anywhere; min-width: 12rem; }
.passed { color: var(--passed); } .wrong { color: var(--wrong); }
.unanswered { color: var(--unanswered); } .not-graded { color: var(--not-graded); }
.said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
dt { font-weight: 600; float: left; clear: left; width: 3.2rem; } dd { margin: 0 0 .2rem 3.2rem; }
summary { cursor: pointer; padding: .3rem 0; } code { font-family: ui-monospace, Consolas, monospace; }
"""


def page(room: Class) -> str:
    """The HTML page: points by exercise, points by belief, and every answer."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    parts = [_summary(room), _points(room), _beliefs(room), _answers(room)]
    html = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Grades</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{"".join(parts)}
</main>
</body>
</html>
"""
    return html.encode("utf-8", "replace").decode()


def _summary(room: Class) -> str:
    limits = room.limits
    memory = f"{limits.megabytes} MB of memory"
    if "memory" in room.unlimited:
        memory = "no limit of memory, because this system has none that a program can set"
    counted = f"{len(room.graded)} notebooks of {len(room.learners)} learners"
    legend = ", ".join(f'<span class="{_kind(status)}">{mark} {word}</span>' for status, (mark, word) in MARKS.items())
    return (
        f"<h1>Grades</h1>\n<p>{counted}; {room.possible} points are possible. "
        f"An exercise had {limits.task_seconds:g} seconds, a notebook {limits.seconds:g} seconds and {memory}.</p>\n"
        f"<p>{escape(NO_SANDBOX)}</p>\n<p>In the tables: {legend}. "
        "“Not graded” gives no points: what follows it says why, and is worth a look.</p>\n"
    )


def _points(room: Class) -> str:
    heads = [_head("Learner"), _head(f"Points of {room.possible}")]
    heads += [_head(f"{escape(task.id)}<br>{task.points}", task.title) for task in room.tasks]
    rows = []
    for learner in room.learners:
        counted = room.counted(learner)
        cells = [_result_cell(counted.get(task.id)) for task in room.tasks]
        rows.append(f"{_row_head(learner)}{_number(room.points(learner))}{''.join(cells)}")
    counted = [room.counted(learner) for learner in room.learners]
    right = [sum(one[task.id].points > 0 for one in counted if task.id in one) for task in room.tasks]
    shares = [_number(f"{100 * number / len(counted):.0f} %") for number in right]
    rows.append(f"{_row_head('right, of all learners')}<td></td>{''.join(shares)}")
    return _table("Points by exercise", "Points of each learner for each exercise.", heads, rows)


def _beliefs(room: Class) -> str:
    caption = (
        "Points of the exercises in which a belief is at stake, and how many wrong answers show that the learner "
        "holds it. What the beliefs are is said below."
    )
    heads = [_head("Learner")] + [_head(belief, BELIEFS[belief]) for belief in room.beliefs]
    rows = [_beliefs_row(learner, [room.of_belief(learner, one) for one in room.beliefs]) for learner in room.learners]
    totals = [
        tuple(map(sum, zip(*(room.of_belief(who, one) for who in room.learners), strict=True))) for one in room.beliefs
    ]
    rows.append(_beliefs_row("all learners", totals))
    terms = "".join(f"<dt>{belief}</dt><dd>“{escape(BELIEFS[belief])}”</dd>\n" for belief in room.beliefs)
    return _table("Points by belief", caption, heads, rows) + f"<dl>\n{terms}</dl>\n"


def _beliefs_row(name: str, numbers: list[tuple[int, int, int]]) -> str:
    cells = [
        f'<td class="number">{got}/{possible}'
        + (f'<br><span class="wrong">shown {shown}×</span></td>' if shown else "</td>")
        for got, possible, shown in numbers
    ]
    return _row_head(name) + "".join(cells)


def _answers(room: Class) -> str:
    parts = ["<h2>Every answer</h2>\n"]
    heads = [_head(name) for name in ("Exercise", "Points", "Result", "Belief", "What came", "Notes")]
    for one in room.graded:
        of = f" of {one.sheet.points}" if one.sheet else ""
        summary = f"{escape(_visible(one.learner))}: <code>{escape(_visible(one.name))}</code>, {one.points}{of} points"
        if not one.results:
            parts.append(f'<p>{summary}. <span class="not-graded">! not graded:</span> {_text(one.why)}</p>\n')
            continue
        rows = [_answer_row(result) for result in one.results]
        caption = f"The answers in {_visible(one.name)}."
        parts.append(f"<details><summary>{summary}</summary>\n{_grid(caption, heads, rows)}</details>\n")
    return "".join(parts)


def _answer_row(result: Result) -> str:
    mark, word = MARKS[result.status]
    code = f" <small>{escape(result.code)}</small>" if result.status == "wrong" else ""
    belief = f"{result.belief} “{BELIEFS[result.belief]}”" if result.belief else ""
    cells = [
        f'<th scope="row">{escape(result.task.id)}<br><small>{escape(result.task.title)}</small></th>',
        _number(f"{result.points}/{result.task.points}"),
        f'<td class="{_kind(result.status)}">{mark} {word}{code}</td>',
        *(f'<td class="text">{_text(said)}</td>' for said in (belief, result.got, "; ".join(result.notes))),
    ]
    return "".join(cells)


def _table(title: str, caption: str, heads: list[str], rows: list[str]) -> str:
    return f"<h2>{escape(title)}</h2>\n{_grid(caption, heads, rows, 'numbers')}"


def _grid(caption: str, heads: list[str], rows: list[str], kind: str = "texts") -> str:
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    label = escape(caption, quote=True)
    return (
        f'<div class="wide" role="region" aria-label="{label}" tabindex="0">\n'
        f'<table class="{kind}">\n<caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n"
    )


def _head(html: str, title: str = "") -> str:
    return f'<th scope="col"{f" title={chr(34)}{escape(title)}{chr(34)}" if title else ""}>{html}</th>'


def _row_head(text: str) -> str:
    return f'<th scope="row">{escape(_visible(text))}</th>'


def _result_cell(result: Result | None) -> str:
    if result is None:
        return '<td class="number not-graded"><span class="said">no notebook</span></td>'
    mark, word = MARKS[result.status]
    title = escape(f"{result.task.id}: {word}")
    shown = f'<span aria-hidden="true">{mark}</span><span class="said">{word}</span>'
    return f'<td class="number {_kind(result.status)}" title="{title}">{result.points} {shown}</td>'


def _kind(status: str) -> str:
    return status.replace(" ", "-")


def _number(number: object) -> str:
    return f'<td class="number">{number}</td>'


def _visible(text: str) -> str:
    return printable(text, 120)


def _text(text: str) -> str:
    return "<br>".join(escape(printable(line, 600)) for line in text.splitlines())
