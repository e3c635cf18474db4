"""What is finished: a line on disk for each notebook as soon as it is graded. Tables are made from these lines."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .material import Sheet
from .submissions import Handed, Submission
from .supervisor import Result


@dataclass(frozen=True)
class Graded:
    """One file: whose it is, which exercises it answers, and what became of each.

    `why` says why none was graded, and `ours` that this was no fault of the notebook. `odd` is what a teacher should
    look at, and `walled` whether it ran behind a wall.
    """

    learner: str
    name: str
    sheet: Sheet | None
    results: tuple[Result, ...] = ()
    why: str = ""
    odd: str = ""
    ours: bool = False
    walled: bool = False

    @property
    def points(self) -> int:
        return sum(result.points for result in self.results)


class Journal:
    """The file, and what it says. Several threads may write; a line that could not be written is tried again later."""

    def __init__(self, path: Path, afresh: bool = False) -> None:
        self.path = path
        self.lock = threading.Lock()
        self.unwritten: list[str] = []
        self.done: dict[str, dict[str, Any]] = {}
        if afresh:
            path.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            for line in path.read_bytes().splitlines():
                self._take(line)

    def _take(self, line: bytes) -> None:
        """A line that a crash or a full disk has cut is none."""
        with contextlib.suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            self.done[entry["name"]] = entry

    def before(self, one: Submission, handed: Handed, sheets: dict[str, Sheet]) -> Graded | None:
        """What became of a file in an earlier run, if it was the same, with the same limits and the same course."""
        entry = self.done.get(one.name)
        if entry is None or entry["fingerprint"] != handed.fingerprint or entry["ours"]:
            return None
        sheet = sheets.get(entry["sheet"] or "")
        tasks = {task.id: task for task in sheet.tasks} if sheet else {}
        results = [
            Result(tasks[found.pop("task")], **found | {"notes": tuple(found["notes"])})
            for found in map(dict, entry["results"])
        ]
        kept = {name: entry[name] for name in ("why", "odd", "walled")}
        return Graded(one.learner, one.name, sheet, tuple(results), **kept)

    def add(self, one: Graded, fingerprint: str) -> None:
        """A notebook is graded."""
        results = [vars(result) | {"task": result.task.id} for result in one.results]
        entry = vars(one) | {"sheet": one.sheet.stem if one.sheet else None, "results": results}
        entry["fingerprint"] = fingerprint
        with self.lock:
            self.done[one.name] = entry
            self.unwritten.append(json.dumps(entry))
            with contextlib.suppress(OSError):
                self._flush()

    def flush(self) -> None:
        """Write what could not be written so far; OSError if it still cannot."""
        with self.lock:
            self._flush()

    def _flush(self) -> None:
        if not self.unwritten:
            return
        with self.path.open("ab") as file:
            # An empty line first: the last one may have been cut.
            file.write(("\n" + "\n".join(self.unwritten) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
        self.unwritten.clear()
