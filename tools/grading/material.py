"""What grading takes from the course and never from a submission: exercises, points, checks, known answers."""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Task:
    """One exercise: the cells that come with it, the cell that judges it, and what it is worth."""

    id: str
    title: str
    points: int
    beliefs: tuple[str, ...]
    given: tuple[str, ...]
    test: str


@dataclass(frozen=True)
class Sheet:
    """One exercise notebook of the course.

    `answers` says for the id of an answer cell, and `below` for the id of any cell, which of the
    `tasks` (by position) the answer, or a cell that was added below it, belongs to. `given` has the set-up and the
    other cells that come with the tasks, by id.
    """

    stem: str
    title: str
    setup: str
    tasks: tuple[Task, ...]
    answers: dict[str, int]
    below: dict[str, int]
    given: dict[str, str]

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks)


def read_sheets(folder: Path = ROOT / "exercises") -> dict[str, Sheet]:
    """The exercise notebooks of the course, by name."""
    return {path.stem: read_sheet(path) for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}


def read_sheet(path: Path) -> Sheet:
    """One exercise notebook: each of its tasks ends with the cell that nbgrader would give points for."""
    chapter = importlib.import_module(f"exercises.checks.ch{path.stem[:2]}").chapter
    given: list[str] = []
    tasks: list[Task] = []
    answers, below, sources = {}, {}, {}
    for cell in _cells(path):
        name, source, flags = cell["id"], "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
        if flags.get("solution"):
            answers[name] = len(tasks)
        elif flags.get("grade"):
            exercise = chapter.exercises[name.removeprefix("test-")]
            worth = (exercise.title.replace("`", ""), int(flags["points"]), exercise.beliefs)
            tasks.append(Task(exercise.id, *worth, tuple(given), source))
            given = []
        elif cell["cell_type"] == "code":
            sources[name] = source
            given += [source] if name != "setup" else []
        below[name] = len(tasks)
    sources = {name: source for name, source in sources.items() if below[name] < len(tasks)}
    return Sheet(path.stem, chapter.title, sources["setup"], tuple(tasks), answers, below, sources)


def _cells(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_bytes())["cells"]


@cache
def known_answers(stem: str) -> dict[str, tuple[str, str]]:
    """By exercise id, an answer that is right and one that is wrong; none where solutions or tests are not there.

    The wrong ones are of those that the checks are tested with.
    """
    solved, number = ROOT / "solutions" / f"{stem}.ipynb", stem[:2]
    if not solved.exists() or not (ROOT / "tests" / "banks" / f"ch{number}.py").exists():
        return {}
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    right = {cell["id"]: "".join(cell["source"]) for cell in _cells(solved)}
    bank = importlib.import_module(f"banks.ch{number}").WRONG
    # One that does not end is found out by its time, not by the check.
    wrong = {name: next(one for code, one in each.items() if "endless" not in code) for name, each in bank.items()}
    return {f"ch{number}.{name}": (right[f"answer-{name}"], one) for name, one in wrong.items()}


def digest() -> str:
    """Changes when the checks, minigrad, the exercises or the grading change: results from before are not kept."""
    found = hashlib.sha256()
    for path in _sources():
        found.update(path.read_bytes())
    return found.hexdigest()


def _sources() -> Iterator[Path]:
    for place in ("minigrad", "exercises", "tools/grading"):
        for path in sorted((ROOT / place).rglob("*")):
            if path.suffix in (".py", ".ipynb", ".json") and not path.name.startswith("."):
                yield path
