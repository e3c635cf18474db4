"""The process in which one notebook runs: its limits, and how it reports.

It takes its job from stdin, a line of JSON, and reports on what was its stdout, a line of JSON for each
message. Learner's code may end this process, fill it or stop it: the supervisor sees to that.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from .processes import remove

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_LARGEST_FILE = 64 << 20


def main() -> None:
    """Do the job on stdin; the process ends here."""
    job, receive, report = _open_channel()
    unlimited = _limit(job["megabytes"], job["seconds"])
    _stand_between()
    _unpack(job["files"])
    from . import cells  # only now: IPython, NumPy and the checks are the notebook's own process's

    os.dup2(1, 2)  # what failed so far was said there
    cells.run(job, receive, report, unlimited)
    os._exit(0)  # threads that learners' code left behind would keep it alive


def _open_channel() -> tuple[dict, Callable[[], dict], Callable[[dict], None]]:
    """The job, and the functions that receive and report; afterwards stdin and stdout lead nowhere."""
    source, channel, nowhere = os.fdopen(os.dup(0), "rb"), os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nowhere, standard)
    loads, dumps, write = json.loads, json.dumps, os.write

    def receive() -> dict:
        return loads(source.readline())

    def report(message: dict) -> None:
        line = dumps(message).encode() + b"\n"
        while line:
            line = line[write(channel, line) :]

    return receive(), receive, report


def _limit(megabytes: int, seconds: float) -> list[str]:
    """Limit this process; returns what this system has no limit for."""
    with contextlib.suppress(OSError):  # Linux, where memory runs out, ends this process first
        Path("/proc/self/oom_score_adj").write_text("1000")
    if resource is None:
        return ["memory"]
    # Beyond this, a process whose supervisor has died ends, too.
    limits = {"RLIMIT_CPU": int(seconds) + 10, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": _LARGEST_FILE}
    for name, value in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))
    # What a program writes to, and not the libraries that it has mapped: PyTorch's are large.
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
    except (ValueError, OSError):
        return ["memory"]
    return [] if sys.platform.startswith("linux") else ["memory"]  # others take this limit and do not keep it


def _stand_between() -> None:
    """Go on in a child: a notebook that ends its parent ends this process, and not the grader.

    This process waits, and ends as the child does; without the grader, it ends the child and removes their folder.
    """
    if not hasattr(os, "fork") or os.getppid() == 1:  # behind the wall there is nobody else to end
        return
    grader, (ended, _) = os.getppid(), os.pipe()  # the other end is open while the child lives
    child = os.fork()
    if not child:
        os.close(ended)
        return
    os.closerange(3, ended)
    os.closerange(ended + 1, 64)
    while True:
        if select.select([ended], [], [], 1.0)[0]:
            os.read(ended, 1 << 16)  # nothing, but from a notebook that writes wherever it can, and must not wait here
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
        if os.getppid() != grader:
            os.kill(child, signal.SIGKILL)
            remove(Path.cwd())
            os.killpg(0, signal.SIGKILL)


def _unpack(files: dict[str, str]) -> None:
    """The files that lay beside the notebook. Without room for them, which others may have taken, nothing starts."""
    for name, content in files.items():
        path = Path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode("latin-1"))
        except OSError as error:  # a name that this system does not take
            if error.errno == errno.ENOSPC:
                sys.exit(f"its files found no room ({error.strerror})")
