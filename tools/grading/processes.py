"""Starting the process of a notebook, and ending it with everything that it started."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

_WINDOWS = os.name == "nt"
_LINUX = sys.platform.startswith("linux")
_BECOME_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_MOST_ROUNDS = 200
# Of the teacher's environment a learner's code sees what Python needs to start, and nothing else.
_PASSED_ON = ("PATH", "SYSTEMROOT", "COMSPEC", "LD_LIBRARY_PATH", "LANG", "LC_ALL")

_lock = threading.Lock()
_running: set[int] = set()
_stopped = False


class Stopped(Exception):
    """The grading was stopped: nothing starts any more."""


def adopt_orphans() -> None:
    """On Linux, make a process whose parent has ended ours, so that it can be found and ended."""
    if _LINUX:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1, 0, 0, 0)


def start(folder: Path, errors: Path) -> subprocess.Popen:
    """Start the worker that was copied into `folder`, in a process group of its own."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    home = str(folder / "home")
    environment |= dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "MPLCONFIGDIR"), home)
    # As nbgrader has it, a failed check is a failed cell, and the learner's progress is left alone.
    environment |= {"NBGRADER_EXECUTION": "grade", "MINIGRAD_PROGRESS": str(folder / "home" / "progress.json")}
    environment |= {"MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    begin = "import sys; sys.path[:0] = sys.argv[1:]; from tools.grading import worker; worker.main()"
    group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if _WINDOWS else {"start_new_session": True}
    with errors.open("wb") as said, _lock:
        if _stopped:
            raise Stopped
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", begin, str(folder / "course")],
            cwd=home,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            **group,
        )
        _running.add(process.pid)
    return process


def end(process: subprocess.Popen) -> int:
    """End a process, its group, and on Linux also what had left the group; the exit code."""
    _end_group(process.pid)
    with contextlib.suppress(OSError):
        process.kill()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            stream.close()
    code = process.wait()
    with _lock:
        _running.discard(process.pid)
        _end_orphans()
    return code


def end_all() -> None:
    """End whatever still runs: the grading was stopped. Nothing is started after that."""
    global _stopped
    with _lock:
        _stopped = True
        still = set(_running)
    for pid in still:
        _end_group(pid)


def _end_group(pid: int) -> None:
    if _WINDOWS:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], check=False, **quiet)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _end_orphans() -> None:
    """End what became ours when its parent ended, again and again: it may have started more."""
    for _ in range(_MOST_ROUNDS if _LINUX else 0):
        orphans = _children() - _running
        if not orphans:
            return
        for pid in orphans:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)


def _children() -> set[int]:
    found = set()
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parent = (place / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
                found |= {int(place.name)} if int(parent) == os.getpid() else set()
    return found


@contextlib.contextmanager
def room(prefix: str):
    """A temporary folder that goes away whatever was done to what is in it."""
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
