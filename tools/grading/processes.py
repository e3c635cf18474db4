"""Starting the process of a notebook, and ending it with everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path
from typing import Any

from . import walls
from .material import ROOT

_WINDOWS = os.name == "nt"
_MOST_ROUNDS = 100
# Of the teacher's environment a learner's code sees what Python needs to start, and nothing else.
_PASSED_ON = ("PATH", "SYSTEMROOT", "COMSPEC", "LD_LIBRARY_PATH", "LANG", "LC_ALL")
_BEGIN = "import sys; sys.path.insert(0, sys.argv[1]); from tools.grading import worker; worker.main()"

_lock = threading.Lock()
_running: dict[int, Worker] = {}
_stopped = False


class Stopped(Exception):
    """The grading was stopped: nothing starts any more."""


class Worker:
    """A process for one notebook, in a process group and a folder of its own.

    It runs behind a wall that hides some folders from it; with None, there is no wall.
    """

    def __init__(self, hidden: list[Path] | None) -> None:
        words = [sys.executable, "-I", "-c", _BEGIN, str(ROOT)]
        words = words if hidden is None else walls.around(words, hidden)
        self.ended: tuple[int, str] | None = None
        self.ending = threading.Lock()
        options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        # Windows's flag by its number, which Python has on Windows only: CREATE_NEW_PROCESS_GROUP.
        options |= {"creationflags": 0x200} if _WINDOWS else {"start_new_session": True}
        with _lock:
            if _stopped:
                raise Stopped
            self.room = Path(tempfile.mkdtemp(prefix="minigrad-grade-")) if hidden is None else None
            home = str(self.room or walls.ROOM)
            self.process: Any = subprocess.Popen(words, cwd=self.room, env=environment(home), **options)
            _running[self.process.pid] = self

    def end(self, patience: float = 0) -> tuple[int, str]:
        """End the process and all that it started, and remove its folder; its exit code, and what it said.

        `patience` is how long it may take to end by itself, which it has begun to.
        """
        with self.ending:
            self.ended = self.ended or self._end(patience)
            return self.ended

    def _end(self, patience: float) -> tuple[int, str]:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        _end_group(self.process.pid)
        with contextlib.suppress(OSError):
            self.process.kill()
        code = self.process.wait()
        if self.room is not None:
            _end_all_with(f"TMPDIR={self.room}".encode())
            remove(self.room)
        with _lock:
            _running.pop(self.process.pid, None)
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with self.process.stderr as stream:
            return code, stream.read().decode(errors="replace").strip()


def environment(home: str) -> dict[str, str]:
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), home)
    # As nbgrader has it, a failed check is a failed cell, and the learner's progress is left alone.
    environment |= {"NBGRADER_EXECUTION": "grade", "MINIGRAD_PROGRESS": f"{home}/.progress.json"}
    # As in a Jupyter kernel; and where there is no network, pip has to say so at once.
    environment |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "PAGER": "cat", "TERM": "dumb"}
    environment |= {"PIP_NO_INDEX": "1", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return environment | {"MPLCONFIGDIR": f"{home}/.matplotlib"}


def stopped() -> bool:
    """Whether the grading was stopped."""
    return _stopped


def end_all() -> None:
    """End whatever still runs: the grading was stopped. Nothing is started after that."""
    global _stopped
    with _lock:
        _stopped = True
        still = list(_running.values())
    for worker in still:
        _end_group(worker.process.pid)


def _end_group(pid: int) -> None:
    if _WINDOWS:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], check=False, capture_output=True)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _end_all_with(variable: bytes) -> None:
    """End what has left the group, again and again, for it may start more: Linux shows the environment it inherited."""
    for _ in range(_MOST_ROUNDS if sys.platform.startswith("linux") else 0):
        found = False
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # ended, or somebody else's
                if variable in (place / "environ").read_bytes().split(b"\0"):
                    found = True
                    os.kill(int(place.name), signal.SIGKILL)
        if not found:
            return


def remove(folder: Path) -> None:
    """Remove a folder, whatever was done to what is in it: closed, or nested deeper than paths and stacks reach."""
    number, waiting = count(), [folder]
    while waiting:
        place = waiting.pop()
        with contextlib.suppress(OSError):
            place.chmod(0o700)
            for entry in list(os.scandir(place)):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(f"{folder}.{next(number)}"))
                    os.chmod(entry.path, 0o700)
                    os.rename(entry.path, waiting[-1])
                else:
                    os.unlink(entry.path)
            place.rmdir()
