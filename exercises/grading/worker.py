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
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import minigrad.viz  # pictures are made by some checks: loaded before the seal is set
from exercises.checks import kit, notebook, sandbox
from exercises.grading import guard

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
    shell.run_cell(job["setup"])
    check = shell.user_ns["check"]
    functions = {name: one for name, one in check.chapter.exercises.items()}
    judge_one = _judge_of(shell.user_ns, functions)
    seal = guard.Seal()
    tried = guard.refuse(Path.cwd(), job["closed"])
    for name in [name for name in sys.modules if name.startswith("exercises.grading")]:
        del sys.modules[name]  # nothing of this is a learner's to import
    report({"event": "ready", "unlimited": unlimited})
    _run_steps(job["steps"], shell, judge_one, seal.broken, tried, report)
    report({"event": "end"})
    os._exit(0)  # threads that learners' code left behind would keep it alive


def _run_steps(steps, shell, judge_one, broken, tried, report) -> None:
    for step in steps:
        report({"event": "begin", "task": step["task"]})
        try:
            verdict = _run_step(step, shell, judge_one, broken)
        except MemoryError:
            shell.user_ns.clear()  # room for the report
            verdict = {"status": "memory"}
        report({"event": "verdict", "task": step["task"], "tried": tried[:], **verdict})
        tried.clear()
        if verdict["status"] in ("memory", "tampered"):
            os._exit(0)


def _run_step(step, shell, judge_one, broken) -> dict:
    error = ""
    for source in step["cells"]:
        error = _run_cell(shell, source) or error
    verdict = {} if broken() else judge_one(step["test"]) if step["judge"] else {"status": "replayed"}
    changed = broken()
    return {"status": "tampered", "code": changed} if changed else {"error": error, **verdict}


def _open_channel() -> tuple[dict, Callable[[dict], None]]:
    """The job, and the function that reports; afterwards stdin, stdout and stderr lead nowhere."""
    job = json.loads(sys.stdin.buffer.readline())
    channel, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    write, sign, dumps, key = os.write, hmac.digest, json.dumps, bytes.fromhex(job.pop("key"))
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
    shell.showtraceback = shell.showsyntaxerror = lambda *arguments, **options: None
    shell.display_formatter.format = lambda *arguments, **options: ({}, {})
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


def _judge_of(names: dict[str, Any], exercises: dict[str, kit.Exercise]) -> Callable[[str], dict]:
    """The function that judges what a check cell like `check.spread(flags)` asks about."""
    judge, parse, walk, missing = kit.judge, ast.parse, ast.walk, notebook.Missing

    def judge_cell(source: str) -> dict:
        (call,) = (node for node in walk(parse(source)) if isinstance(node, ast.Call))
        (argument,) = call.args
        used = [node.id for node in walk(argument) if isinstance(node, ast.Name)]
        lent = {name: missing(name) for name in used if name not in names}
        answer = eval(compile(ast.Expression(argument), "<check>", "eval"), {**names, **lent})
        verdict = judge(exercises[call.func.attr], answer)
        kept = ("status", "code", "belief", "got", "why", "look")
        return {name: sandbox.clip(str(getattr(verdict, name)), LONGEST) for name in kept}

    return judge_cell


if __name__ == "__main__":
    main()
