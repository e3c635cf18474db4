"""What grading takes from the course and never from a submission: exercises, points, checks, files."""

from __future__ import annotations

import importlib.util
import json
import py_compile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
    `tasks` (by position) the answer, or a cell that was added below it, belongs to.
    """

    stem: str
    title: str
    setup: str
    tasks: tuple[Task, ...]
    answers: dict[str, int]
    below: dict[str, int]

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks)


def read_sheets(folder: Path = ROOT / "exercises") -> dict[str, Sheet]:
    """The exercise notebooks of the course, by name."""
    return {path.stem: read_sheet(path) for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}


def read_sheet(path: Path) -> Sheet:
    """One exercise notebook: each of its tasks ends with the cell that nbgrader would give points for."""
    chapter = importlib.import_module(f"exercises.checks.ch{path.stem[:2]}").chapter
    setup, given, tasks, answers, below = "", [], [], {}, {}
    for cell in json.loads(path.read_bytes())["cells"]:
        name, source, flags = cell["id"], "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
        if flags.get("solution"):
            answers[name] = len(tasks)
        elif flags.get("grade"):
            exercise = chapter.exercises[name.removeprefix("test-")]
            worth = (exercise.title, int(flags["points"]), exercise.beliefs)
            tasks.append(Task(exercise.id, *worth, tuple(given), source))
            given = []
        elif name == "setup":
            setup = source
        elif cell["cell_type"] == "code":
            given.append(source)
        below[name] = len(tasks)
    return Sheet(path.stem, chapter.title, setup, tuple(tasks), answers, below)


def course_files() -> dict[str, bytes]:
    """The checks, the grader and minigrad by path, compiled too: every process gets a copy of its own.

    They are read once, before any learner's code has run: whatever it does to files, the next process
    starts from these.
    """
    files = {}
    with tempfile.TemporaryDirectory(prefix="minigrad-course-") as scratch:
        for path in _sources():
            name = path.relative_to(ROOT).as_posix()
            files[name] = path.read_bytes()
            if path.suffix == ".py":
                files |= _compiled(path, name, Path(scratch, "one.pyc"))
    return files


def _sources() -> Iterator[Path]:
    for place in ("minigrad", "exercises"):
        for path in sorted((ROOT / place).rglob("*")):
            if path.suffix in (".py", ".json") and not path.name.startswith("."):
                yield path


def _compiled(path: Path, name: str, target: Path) -> dict[str, bytes]:
    """The compiled form under the name that Python looks for; it is never compared with the source."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(path), str(target), dfile=name, doraise=True, invalidation_mode=mode)
    cached = Path(importlib.util.cache_from_source(name)).as_posix()
    return {cached: target.read_bytes()}


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """A fresh copy of the course's files."""
    for place in {Path(name).parent for name in files}:
        (folder / place).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
