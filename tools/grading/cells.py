"""What runs in the process of a notebook: an IPython, the learner's cells, and the checks on what they made."""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import getpass
import os
import pdb
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from IPython.core import page
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

LONGEST = 400  # characters of a text that goes into the report
_OF_JUPYTER = ("autosave", "clear", "connect_info", "edit", "less", "man", "more", "qtconsole", "subshell")


class ZMQInteractiveShell(InteractiveShell):
    """Runs cells as a Jupyter kernel does, whose name this is, for notebooks ask for it; shows nothing."""

    def init_hooks(self) -> None:
        super().init_hooks()
        self.set_hook("show_in_pager", page.as_hook(_nothing), 99)

    def enable_gui(self, gui: str | None = None) -> None:
        """There is no window."""

    def ask_exit(self) -> None:
        """`exit` in a notebook ends nothing here."""

    def _showtraceback(self, *arguments: Any) -> None:
        """Nobody reads it."""


def _nothing(*arguments: Any, **options: Any) -> None:
    """Shows nothing."""


def _go_on(debugger: Any, intro: Any = None) -> None:
    """What a debugger does, for there is nobody to ask."""
    debugger.set_continue()


def _shell() -> InteractiveShell:
    """An IPython without history, in this folder."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = ZMQInteractiveShell.instance(config=config, ipython_dir=os.path.abspath(".ipython"), xmode="Minimal")
    shell.display_formatter.active_types = ["text/plain"]
    for name in _OF_JUPYTER:
        shell.register_magic_function(_nothing, "line", name)
    builtins.input = lambda prompt="": ""
    getpass.getpass = lambda *arguments, **options: ""
    pdb.Pdb.cmdloop = _go_on  # type: ignore[method-assign,assignment]
    return shell


_shell_of_notebook = _shell()
# Only now: minigrad and the checks look for a running IPython when they are imported.
import numpy as np  # noqa: E402

import minigrad as mg  # noqa: E402
from exercises.checks import kit, notebook, sandbox  # noqa: E402


def run(job: dict, receive: Callable[[], dict], report: Callable[[dict], None], unlimited: list[str]) -> None:
    """The whole job: every step with its verdict, and at last the judge itself tried out."""
    sandbox.SECONDS = min(sandbox.SECONDS, job["task_seconds"] / 2)  # the check's own limit says more
    # A Jupyter kernel runs cells inside an event loop.
    loop = asyncio.new_event_loop()
    loop.run_until_complete(_Room(job["setup"]).run(job["steps"], receive, _only_here(report), unlimited))


def _only_here(report: Callable[[dict], None]) -> Callable[[dict], None]:
    """A copy of this process, which a cell made and forgot to end, ends instead of reporting, too."""
    pid = os.getpid()
    return lambda message: report(message) if os.getpid() == pid else os._exit(0)


class _Room:
    """The notebook: its names, its settings, and the exercises that are judged in it."""

    def __init__(self, setup: str) -> None:
        self.shell = _shell_of_notebook
        self.setup = setup
        self.at_first = dict(self.shell.user_ns)
        self.shell.run_cell(setup)
        self.exercises = dict(self.shell.user_ns["check"].chapter.exercises)
        self.settings = _read_settings()
        # As in a kernel, files beside the notebook can be imported; only now, for they may have names of the course's.
        sys.path.insert(0, "")

    async def run(self, steps, receive, report, unlimited) -> None:
        report({"event": "ready", "unlimited": unlimited})
        for step in steps:
            report({"event": "begin", "task": step["task"]})
            verdict = await self.step(step)
            report({"event": "verdict", "task": step["task"], **verdict})
            if verdict["memory"]:
                break
        report({"event": "end"})
        surprises = [await self.surprise(**known) for known in receive()["known"]]
        report({"event": "tried", "surprises": [one for one in surprises if one]})

    async def step(self, step: dict) -> dict:
        """Run the cells of one exercise and judge the answer: a verdict."""
        error, memory, verdict = "", False, {"status": "memory"}
        try:
            for source in step["cells"]:
                found = await self.run_cell(source)
                memory = memory or isinstance(found, MemoryError)
                error = sandbox.describe_error(found) if found is not None else error
            verdict = self.judge(step["test"]) if step["judge"] else {"status": "replayed"}
        except MemoryError:
            self.shell.user_ns.clear()  # room for the report
            memory = True
        return {"error": error, "memory": memory, **verdict}

    async def run_cell(self, source: str) -> BaseException | None:
        """Run one cell as a kernel does; its error, if it raised one."""
        cell: dict[str, Any] = {"transformed_cell": source}
        shell, streams = self.shell, (sys.stdout, sys.stderr)
        try:
            try:
                cell["transformed_cell"] = shell.transform_cell(source)
            except Exception:  # the cell's error, which IPython reports as such
                cell["preprocessing_exc_tuple"] = sys.exc_info()
            # The class's own: a cell may have replaced the shell's.
            result = await InteractiveShell.run_cell_async(shell, source, store_history=True, **cell)
            shell.events.trigger("post_execute")
            shell.events.trigger("post_run_cell", result)
            await asyncio.sleep(0)
        except BaseException as error:  # a cell that breaks IPython itself
            return error
        finally:
            sys.stdout, sys.stderr = streams
        return result.error_before_exec or result.error_in_exec

    def judge(self, test: str) -> dict:
        """Judge what a check cell like `check.spread(flags)` asks about.

        With the settings of the course; an answer that passes with the learner's own is right, too.
        """
        with _settings(self.settings) as changed:
            verdict = self.verdict(test)
            if verdict.code == "library-replaced":  # told to the learner, who judges again: now it is put back
                verdict = self.verdict(test)
        if changed and verdict.status != "passed":
            again = self.verdict(test)
            verdict = again if again.status == "passed" else verdict
        kept = ("status", "code", "belief", "got", "why", "look")
        return {name: sandbox.clip(str(getattr(verdict, name)), LONGEST) for name in kept}

    def verdict(self, test: str) -> kit.Verdict:
        (call,) = (node for node in ast.walk(ast.parse(test)) if isinstance(node, ast.Call))
        (argument,) = call.args
        names = self.shell.user_ns
        used = [node.id for node in ast.walk(argument) if isinstance(node, ast.Name)]
        lent = {name: notebook.Missing(name) for name in used if name not in names}
        answer = eval(compile(ast.Expression(argument), "<check>", "eval"), {**names, **lent})
        name = ast.unparse(call.func).rpartition(".")[2]
        return kit.judge(self.exercises[name], answer)

    async def surprise(self, task: int, cells: list[str], right: str, wrong: str, test: str) -> dict | None:
        """Judge a right and a wrong answer that are known, in a fresh notebook; which of them was misjudged."""
        with _settings(self.settings):
            for answer, expected in ((wrong, "wrong"), (right, "passed")):
                # The learner's names stay where they are: what is left of his code, a tracer, say, may still need them.
                self.shell.user_module = module = ModuleType("__main__")
                self.shell.user_ns = vars(module)
                self.shell.user_ns.update(self.at_first)
                for source in (self.setup, *cells, answer):
                    await self.run_cell(source)
                status = self.verdict(test).status
                if status != expected:
                    return {"task": task, "expected": expected, "status": status}
        return None


# What honest cells change and the checks rely on: how each is read, and how it is set.
_SETTINGS: tuple[tuple[Callable, Callable], ...] = (
    (mg.get_default_dtype, mg.set_default_dtype),
    (mg.is_grad_enabled, mg.set_grad_enabled),
    (mg.is_anomaly_enabled, mg.autograd.set_detect_anomaly),
    (np.geterr, lambda old: np.seterr(**old)),
    (np.get_printoptions, lambda old: np.set_printoptions(**old)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (threading.gettrace, threading.settrace),
    (lambda: _Names(vars(builtins)), vars(builtins).update),
)


class _Names(dict):
    """Names and what they stand for: the same if they stand for the same objects."""

    def __ne__(self, other: Any) -> bool:
        return any(other.get(name) is not value for name, value in self.items())


def _read_settings() -> list[Any]:
    return [read() for read, _ in _SETTINGS]


@contextlib.contextmanager
def _settings(wanted: list[Any]) -> Iterator[bool]:
    """Have these settings for a while; whether they were others before, which come back."""
    before = _read_settings()
    others = [(change, old, new) for (_, change), old, new in zip(_SETTINGS, before, wanted, strict=True) if new != old]
    for change, _, new in others:
        change(new)
    try:
        yield bool(others)
    finally:
        for change, old, _ in others:
            change(old)
