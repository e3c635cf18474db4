"""The process in which one notebook runs: a shell, the learner's cells, and the checks on what they made.

It is started with its job on stdin and reports on what was its stdout, a line a message. Each line is
signed with a key that came with the job, so that what the learner's code writes there is found out.
Learner's code may end this process, fill it or stop it: the supervisor sees to that.
"""

from __future__ import annotations

import ast
import contextlib
import hmac
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import minigrad.viz  # pictures are made by some checks: loaded before the seal is set
from exercises.checks import kit, notebook, sandbox
from tools.grading import guard, silence

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None

LONGEST = 400  # characters of a text that goes into the report
assert minigrad.viz


def main() -> None:
    """Do the job on stdin; the process ends here."""
    job, report = _open_channel()
    unlimited = _limit(job["megabytes"], job["seconds"])
    sandbox.SECONDS = min(sandbox.SECONDS, job["task_seconds"] / 2)  # the check's own limit says more
    shell = _shell(Path.cwd())
    InteractiveShell.run_cell(shell, job["setup"])
    # A copy: of the exercises themselves, whatever is frozen can be melted.
    exercises = {name: replace(one) for name, one in shell.user_ns["check"].chapter.exercises.items()}
    judges = [_judge_of(step["test"], shell.user_ns, exercises) for step in job["steps"]]
    _hide()
    broken = guard.seal()
    tried = guard.refuse(Path.cwd(), job["closed"])
    report({"event": "ready", "unlimited": unlimited})
    for step, judge in zip(job["steps"], judges, strict=True):
        report({"event": "begin", "task": step["task"]})
        verdict = _run_step(step, shell, judge, broken)
        report({"event": "verdict", "task": step["task"], "tried": tried[:], **verdict})
        tried.clear()
        if verdict["status"] in ("memory", "tampered"):
            break
    report({"event": "end"})
    os._exit(0)  # threads that learners' code left behind would keep it alive


def _hide() -> None:
    """Take this module, and what it is made of, from where learners' code could find it by name."""
    for name in [name for name in sys.modules if name.startswith("tools.grading")]:
        del sys.modules[name]
    delattr(sys.modules["exercises"], "grading")


def _run_step(step: dict, shell: InteractiveShell, judge: Callable[[], dict], broken: Callable[[], str]) -> dict:
    """Run the cells of one exercise and judge the answer: a verdict."""
    error = ""
    try:
        for source in step["cells"]:
            error = _run_cell(shell, source) or error
        verdict = {} if broken() else judge() if step["judge"] else {"status": "replayed"}
    except MemoryError:
        shell.user_ns.clear()  # room for the report
        return {"status": "memory"}
    changed = broken()
    return {"status": "tampered", "code": changed} if changed else {"error": error, **verdict}


def _open_channel() -> tuple[dict, Callable[[dict], None]]:
    """The job, and the function that reports; afterwards stdin, stdout and stderr lead nowhere."""
    job = json.loads(sys.stdin.buffer.readline())
    channel, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    write, sign, dumps, key = os.write, hmac.digest, json.JSONEncoder().encode, bytes.fromhex(job.pop("key"))
    count = 0

    def report(message: dict) -> None:
        nonlocal count
        count += 1
        line = dumps({**message, "number": count}).encode()
        line = sign(key, line, "sha256").hex().encode() + b" " + line + b"\n"
        while line:
            line = line[write(channel, line) :]

    return job, report


def _limit(megabytes: int, seconds: float) -> list[str]:
    """Limit this process; returns what this system has no limit for."""
    if resource is None:
        return ["memory"]
    # Beyond this, a process whose supervisor has died ends, too.
    limits = {"RLIMIT_CPU": int(seconds) + 10, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": 64 << 20}
    for name, value in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))
    try:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    except (ValueError, OSError):
        return ["memory"]
    return ["memory"] if sys.platform == "darwin" else []  # macOS takes this limit and does not keep it


def _shell(folder: Path) -> InteractiveShell:
    """An IPython without history and without output, where cells run as they do in a notebook."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config, ipython_dir=str(folder))
    shell.showtraceback = shell.showsyntaxerror = silence.nothing
    shell.display_formatter.format = silence.no_formats
    notebook.watch_cells(kit._chapters)
    return shell


def _run_cell(shell: InteractiveShell, source: str) -> str:
    """Run one cell; its error in one line, or ''. A MemoryError is raised: nothing after it can be trusted."""
    streams = sys.stdout, sys.stderr
    try:
        result = InteractiveShell.run_cell(shell, source)  # the class's: a cell may have replaced the shell's own
    except BaseException as error:  # a cell that breaks IPython itself
        return sandbox.describe_error(error)
    finally:
        sys.stdout, sys.stderr = streams
    error = result.error_before_exec or result.error_in_exec
    if isinstance(error, MemoryError):
        raise MemoryError
    return sandbox.describe_error(error) if error is not None else ""


def _judge_of(source: str, names: dict[str, Any], exercises: dict[str, kit.Exercise]) -> Callable[[], dict]:
    """The function that judges what a check cell like `check.spread(flags)` asks about."""
    (call,) = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    (argument,) = call.args
    used = [node.id for node in ast.walk(argument) if isinstance(node, ast.Name)]
    code = compile(ast.Expression(argument), "<check>", "eval")
    exercise, judge, missing, clip = exercises[call.func.attr], kit.judge, notebook.Missing, sandbox.clip

    def judge_answer() -> dict:
        lent = {name: missing(name) for name in used if name not in names}
        verdict = judge(exercise, eval(code, {**names, **lent}))
        kept = ("status", "code", "belief", "got", "why", "look")
        return {name: clip(str(getattr(verdict, name)), LONGEST) for name in kept}

    return judge_answer


if __name__ == "__main__":
    main()
