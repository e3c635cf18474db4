"""One notebook, from its cells to a result for each exercise, whatever its code does.

The notebook runs in a process of its own, exercise after exercise. One that ends the process, takes
too long or changes the checks gets no points; for those after it a new process starts, where what
went before runs again without it. So a cell costs its own points, and a notebook only its own.
"""

from __future__ import annotations

import hmac
import json
import queue
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from exercises.checks.beliefs import BELIEFS

from . import processes
from .material import Sheet, Task, write_files

STARTING_SECONDS = 60.0  # a worker starts in about one second; longer on a machine that is busy
_LONGEST_LINE = 65_536


@dataclass(frozen=True)
class Limits:
    """What one notebook may take."""

    task_seconds: float = 20.0
    seconds: float = 120.0
    megabytes: int = 1024


@dataclass(frozen=True)
class Result:
    """What became of one exercise. `status` is passed, wrong, unanswered, or not graded."""

    task: Task
    status: str
    code: str = ""
    belief: str = ""
    got: str = ""
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        return self.task.points if self.status == "passed" else 0


class Failed(Exception):
    """The process did not do its job: why, and whether the learner's code is the reason."""

    def __init__(self, why: str, by_learner: bool = True) -> None:
        super().__init__(why)
        self.by_learner = by_learner


@dataclass
class Supervisor:
    """Runs notebooks with a copy of these files each, out of reach of these folders."""

    files: dict[str, bytes]
    closed: list[str]
    limits: Limits
    unlimited: set[str] = field(default_factory=set)

    def grade(self, sheet: Sheet, answers: list[list[str]]) -> list[Result]:
        """The result of each task of a sheet."""
        results: dict[int, Result] = {}
        left_out: set[int] = set()
        until = time.monotonic() + self.limits.seconds
        while len(results) < len(sheet.tasks):
            current, before, why = None, len(results) + len(left_out), "its process was ended too often"
            try:
                for current, message in self._messages(sheet, answers, results, left_out, until):
                    if message.get("status") in ("memory", "tampered"):
                        left_out.add(current)
                    if message and current not in results:
                        results[current] = self._result(sheet.tasks[current], message)
            except Failed as failed:
                why = str(failed)
                if current is not None and failed.by_learner:
                    # Twice the same: what ends it was started by a cell further up.
                    left_out |= set(range(current)) if current in left_out else {current}
                    results.setdefault(current, _not_graded(sheet.tasks[current], why))
            if len(results) + len(left_out) == before:
                break
        return [results.get(number) or _not_graded(task, why) for number, task in enumerate(sheet.tasks)]

    def _result(self, task: Task, message: dict[str, Any]) -> Result:
        """What a verdict says, as far as it can be true."""
        status, code = message["status"], message.get("code", "")
        notes = [f"tried to {what}: refused" for what in message["tried"]]
        if status == "tampered":
            notes.append(f"its code changed {code}, with which answers are judged")
            return Result(task, "not graded", "tampered", notes=tuple(notes))
        if status == "memory":
            return _not_graded(task, f"needs more than {self.limits.megabytes} MB of memory")
        notes[:0] = [f"the cell raised {message['error']}"] if message["error"] else []
        if status == "unjudged":
            return Result(task, "not graded", code, notes=(*notes, message["why"]))
        belief = message["belief"] if message["belief"] in BELIEFS else ""
        return Result(task, status, code, belief, message["got"] or message["look"], tuple(notes))

    def _messages(self, sheet, answers, results, left_out, until) -> Iterator[tuple[int, dict]]:
        """One process, to its end: each task as it begins, with {}, and again with its verdict."""
        steps = [
            {
                "task": number,
                "cells": [*task.given, *(answers[number] if number not in left_out else ())],
                "test": task.test,
                "judge": number not in results,
            }
            for number, task in enumerate(sheet.tasks)
        ]
        last = max(number for number in range(len(steps)) if number not in results)
        with processes.room("minigrad-grade-") as folder:
            job = {
                "setup": sheet.setup,
                "steps": steps[: last + 1],
                "closed": self.closed,
                **vars(self.limits),
            }
            worker = _Worker(folder, self.files, job)
            try:
                self.unlimited |= set(worker.wait_for_start())
                yield from worker.verdicts(self.limits.task_seconds, until)
            finally:
                worker.end()


class _Worker:
    """A process that runs and judges one notebook."""

    def __init__(self, folder: Path, files: dict[str, bytes], job: dict[str, Any]) -> None:
        write_files(files, folder / "course")
        (folder / "home").mkdir()
        self.errors = folder / "errors.txt"
        self.process = processes.start(folder, self.errors)
        self.code: int | None = None
        key = secrets.token_bytes(32)
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.key, self.count = key, 0
        threading.Thread(target=_read_lines, args=(self.process.stdout, self.lines), daemon=True).start()
        try:
            self.process.stdin.write(json.dumps({**job, "key": key.hex()}).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended already: the next read says so

    def wait_for_start(self) -> list[str]:
        """Wait until the checks are loaded, before any of the learner's code; what has no limit here."""
        try:
            message = self._message(STARTING_SECONDS)
        except (Failed, TimeoutError):
            self.end()
            said = self.errors.read_text(errors="replace").strip().splitlines()
            why = said[-1] if said else "it said nothing"
            raise Failed(f"the grader's own process did not start: {why}", by_learner=False) from None
        return list(message["unlimited"])

    def verdicts(self, task_seconds: float, until: float) -> Iterator[tuple[int, dict]]:
        """Each task as it begins, with {}, and again with its verdict."""
        while True:
            patience = min(task_seconds, until - time.monotonic())
            if patience <= 0:
                raise Failed("the time for the whole notebook was over", by_learner=False)
            try:
                message = self._message(patience)
            except TimeoutError:
                if time.monotonic() >= until:
                    raise Failed("the time for the whole notebook was over", by_learner=False) from None
                raise Failed(f"stopped after {task_seconds:g} seconds") from None
            if message["event"] == "end":
                return  # before the last exercise, if one cannot be trusted with those after it
            yield message["task"], message if message["event"] == "verdict" else {}

    def _message(self, seconds: float) -> dict[str, Any]:
        """The next message. Failed if the process has ended, or if somebody else wrote the line."""
        try:
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        if not line:
            raise Failed(_ending(self.end()))
        self.count += 1
        tag, _, content = line.rstrip(b"\r\n").partition(b" ")
        wanted = hmac.digest(self.key, content, "sha256").hex().encode()
        message = json.loads(content) if hmac.compare_digest(tag, wanted) else {}
        if message.get("number") != self.count:
            raise Failed("its code wrote into the report: nothing after that is believed")
        return message

    def end(self) -> int:
        """End the process, and everything that it started; its exit code."""
        if self.code is None:
            self.code = processes.end(self.process)
        return self.code


def _read_lines(stream: BinaryIO, lines: queue.SimpleQueue) -> None:
    """Pass lines on until there are no more. A line that is too long is cut: it is nobody's report."""
    line = b"-"
    while line:
        try:
            line = stream.readline(_LONGEST_LINE)
        except (OSError, ValueError):
            line = b""
        lines.put(line)


def _ending(code: int) -> str:
    if code < 0:
        return f"its code ended the process (signal {-code})"
    return f"its code ended the process (exit code {code})"


def _not_graded(task: Task, why: str) -> Result:
    return Result(task, "not graded", "not-graded", notes=(why,))
