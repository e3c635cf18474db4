"""One notebook, from its cells to a result for each exercise, whatever its code does.

The notebook runs in a process of its own, exercise after exercise. One that ends the process or takes
too long gets no points; for those after it a new process starts, where what went before runs again
without it. So a cell costs its own points, and a notebook only its own.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from exercises.checks.beliefs import BELIEFS

from . import processes
from .material import Sheet, Task, known_answers

STARTING_SECONDS = 60.0  # a worker starts in about one second; longer on a machine that is busy
TRIED = 2  # exercises with which the judge is tried out
_LONGEST_LINE = 65_536
_LONGEST_TEXT = 600
_STATUSES = ("passed", "wrong", "unanswered", "unjudged", "memory", "replayed")
_TEXTS = ("code", "belief", "got", "why", "look", "error")


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
    """The process did not do its job: why, in words that go on after 'not graded:'."""


class NotStarted(Exception):
    """The process of a notebook did not come into being: no notebook's fault."""


@dataclass
class Supervisor:
    """Runs notebooks with these limits, behind a wall that hides these folders; with None, there is no wall.

    `unlimited` is what has no limit on this system.
    """

    hidden: list[Path] | None
    limits: Limits
    unlimited: set[str] = field(default_factory=set)

    def grade(self, sheet: Sheet, answers: Sequence[list[str]], files: dict[str, str]) -> tuple[list[Result], str]:
        """The result of each task of a sheet, and what is odd about the judge after it: a sentence, or ''."""
        run = _Run(self, sheet, answers, files)
        while len(run.results) < len(sheet.tasks):
            before = len(run.results) + len(run.left_out)
            run.one_process()
            if len(run.results) + len(run.left_out) == before:
                break
        tasks = enumerate(sheet.tasks)
        return [run.results.get(number) or _not_graded(task, run.why) for number, task in tasks], run.odd


class _Run:
    """One notebook on its way: what is known of it so far."""

    def __init__(
        self, supervisor: Supervisor, sheet: Sheet, answers: Sequence[list[str]], files: dict[str, str]
    ) -> None:
        self.supervisor, self.sheet, self.answers, self.files = supervisor, sheet, answers, files
        self.limits = supervisor.limits
        self.until = time.monotonic() + self.limits.seconds
        self.results: dict[int, Result] = {}
        self.left_out: set[int] = set()  # tasks whose cells are not run again
        self.current: int | None = None
        self.why = "its process was ended too often"
        self.odd = ""

    def one_process(self) -> None:
        """Run the exercises that have no result yet, and before them what they may need, in one process."""
        self.current = None
        messages = _Messages(processes.Worker(self.supervisor.hidden), len(self.sheet.tasks))
        try:
            messages.send(self._job(), STARTING_SECONDS)
            self._follow(messages)
        except Failed as failed:
            self.why = str(failed) if time.monotonic() < self.until else "the time for the whole notebook was over"
            if self.current is not None and time.monotonic() < self.until:
                # Twice the same: what ends it was started by a cell further up.
                self.left_out |= set(range(self.current)) if self.current in self.left_out else {self.current}
                self.results.setdefault(self.current, _not_graded(self.sheet.tasks[self.current], self.why))
        finally:
            messages.end()
            if messages.nonsense:
                self.odd = "Something in it wrote lines of its own into the grader's report."

    def _job(self) -> dict[str, Any]:
        last = max(number for number in range(len(self.sheet.tasks)) if number not in self.results)
        steps = [
            {
                "task": number,
                "cells": task.given if number in self.left_out else self.answers[number],
                "test": task.test,
                "judge": number not in self.results,
            }
            for number, task in enumerate(self.sheet.tasks[: last + 1])
        ]
        return {"setup": self.sheet.setup, "steps": steps, "files": self.files, **vars(self.limits)}

    def _follow(self, messages: _Messages) -> None:
        """Each exercise as it begins and ends, and at last the judge itself, tried out."""
        ready = messages.next("ready", STARTING_SECONDS)
        self.supervisor.unlimited |= set(ready["unlimited"])
        while True:
            message = messages.next("", min(self.limits.task_seconds, self.until - time.monotonic()))
            if message["event"] == "begin":
                self.current = message["task"]
            elif message["event"] == "verdict" and message["task"] == self.current is not None:
                if message["memory"]:
                    self.left_out.add(self.current)
                if message["status"] != "replayed":
                    task = self.sheet.tasks[self.current]
                    self.results.setdefault(self.current, _result(task, message, self.limits))
            elif message["event"] == "end":
                break
        self.current = None
        if len(self.results) == len(self.sheet.tasks):
            self._try_the_judge(messages)

    def _try_the_judge(self, messages: _Messages) -> None:
        """Have right and wrong answers judged, to exercises that were given points, if any were."""
        answers = known_answers(self.sheet.stem)
        known = [(number, task) for number, task in enumerate(self.sheet.tasks) if task.id in answers]
        passed = [(number, task) for number, task in known if self.results[number].status == "passed"]
        # Not always the same: which ones depends on what was handed in.
        first = sum(map(len, map("".join, self.answers)))
        chosen = [(passed or known)[(first + step) % len(passed or known)] for step in range(TRIED)] if known else []
        job = [
            {
                "task": n,
                "cells": task.given,
                "test": task.test,
                "right": answers[task.id][0],
                "wrong": answers[task.id][1],
            }
            for n, task in chosen
        ]
        messages.send({"known": job}, self.limits.task_seconds)
        try:
            surprises = messages.next("tried", self.limits.task_seconds)["surprises"]
        except Failed as failed:
            self.odd = f"After it, the judge could not be tried out: {failed}."
            return
        for task, expected in surprises:
            kind, taken = (
                ("right", "is not taken for right") if expected == "passed" else ("wrong", "is not found wrong")
            )
            name = self.sheet.tasks[task].id
            self.odd = f"After it, an answer to {name} that is known to be {kind} {taken}: its code changed the judge."


class _Messages:
    """The messages of a worker, one after the other. What is no message is left out, and remembered as nonsense."""

    def __init__(self, worker: processes.Worker, tasks: int) -> None:
        self.worker, self.tasks = worker, tasks
        self.nonsense = False
        self.waiting: queue.SimpleQueue[dict | None] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, args=(worker.process.stdout, 4 * tasks + 4), daemon=True)
        self.reader.start()

    def send(self, message: dict[str, Any], seconds: float) -> None:
        """Send one; to a process that does not take it, which may have filled its own pipe, only for so long."""
        late = threading.Timer(seconds, self.worker.end)
        late.start()
        try:
            self.worker.process.stdin.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            self.worker.process.stdin.flush()
        except OSError:
            pass  # it has ended already: the next read says so
        finally:
            late.cancel()

    def next(self, event: str, seconds: float) -> dict[str, Any]:
        """The next message; of another event than the one that is expected, if one is, it is passed over."""
        until = time.monotonic() + seconds
        while True:
            try:
                message = self.waiting.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                if event == "ready":  # nothing of the notebook has run so far
                    raise NotStarted(f"nothing came of it within {seconds:.3g} seconds") from None
                raise Failed(f"stopped after {seconds:.3g} seconds") from None
            if message is None:
                code, said = self.worker.end(patience=2)
                if event == "ready":
                    raise NotStarted(said.splitlines()[-1] if said else f"it ended at once, with code {code}")
                raise Failed(_ending(code))
            if event in ("", message["event"]):
                return message

    def end(self) -> None:
        self.worker.end()
        self.reader.join(1.0)

    def _read(self, stream: BinaryIO, most: int) -> None:
        """Pass on what may be a message, to the end, but no more than any notebook has: a flood is nonsense, too."""
        with stream:
            while line := stream.readline(_LONGEST_LINE):
                message = _message(line, self.tasks)
                if message is None or most == 0:
                    self.nonsense = True
                else:
                    most -= 1
                    self.waiting.put(message)
        self.waiting.put(None)


def _message(line: bytes, tasks: int) -> dict[str, Any] | None:
    """A line as a message, with everything in it as it should be; None if it cannot be one."""
    try:
        found = json.loads(line)
        event = found["event"]
        if event == "ready":
            return {"event": event, "unlimited": ["memory"] if found["unlimited"] else []}
        if event == "tried":
            surprises = [(_task(one["task"], tasks), str(one["expected"])) for one in found["surprises"]]
            return {"event": event, "surprises": surprises}
        if event == "end":
            return {"event": event}
        message = {"event": event, "task": _task(found["task"], tasks)}
        if event == "verdict":
            message |= {name: str(found.get(name, ""))[:_LONGEST_TEXT] for name in _TEXTS}
            message |= {"status": _STATUSES[_STATUSES.index(found["status"])], "memory": bool(found["memory"])}
        return message if event in ("begin", "verdict") else None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def _task(number: Any, tasks: int) -> int:
    return range(tasks).index(number)


def _result(task: Task, message: dict[str, Any], limits: Limits) -> Result:
    """What a verdict says."""
    notes = [f"the cell raised {message['error']}"] if message["error"] else []
    if message["memory"] and message["status"] != "passed":
        return _not_graded(task, f"needs more than {limits.megabytes} MB of memory")
    if message["status"] == "unjudged":
        return Result(task, "not graded", message["code"], notes=(*notes, message["why"]))
    belief = message["belief"] if message["belief"] in BELIEFS else ""
    return Result(task, message["status"], message["code"], belief, message["got"] or message["look"], tuple(notes))


def _ending(code: int) -> str:
    if code < 0 or code > 128:
        return f"its code ended the process (signal {-code if code < 0 else code - 128})"
    return f"its code ended the process (exit code {code})"


def _not_graded(task: Task, why: str) -> Result:
    return Result(task, "not graded", "not-graded", notes=(why,))
