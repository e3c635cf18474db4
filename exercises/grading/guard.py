"""What learners' code is refused while it is graded, and how a change to the checks is noticed.

Neither is a sandbox. Code that runs in a process can, with enough effort, do there whatever the
process can do: this keeps accidents and the known tricks from counting, and says that they happened.
"""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import threading
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from exercises.checks.sandbox import is_learners

_PROCESSES = "start or end another process"
_NETWORK = "use the network"
_REFUSED = {
    **dict.fromkeys(("os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system"), _PROCESSES),
    **dict.fromkeys(("subprocess.Popen", "pty.spawn", "os.startfile", "os.kill", "os.killpg"), _PROCESSES),
    **dict.fromkeys(("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"), _NETWORK),
    **dict.fromkeys(("os.symlink", "os.link", "os.chroot", "mmap.__new__"), "make links or maps of files"),
    "sys.addaudithook": "watch the grading",
}
# How Python code gets at what is not its own. Python itself and the checks use these too.
_FROM_LEARNERS = {
    **dict.fromkeys(("sys._getframe", "sys._current_frames", "sys.setprofile"), "look into running code"),
    **dict.fromkeys(("gc.get_objects", "gc.get_referrers", "gc.get_referents"), "look into running code"),
    **dict.fromkeys(("ctypes.dlopen", "ctypes.dlsym", "ctypes.string_at", "ctypes.cdata"), "leave Python"),
}
_CHANGES_FILES = frozenset(
    ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.truncate", "os.utime")
)
_READS_FILES = frozenset(("os.listdir", "os.scandir", "os.chdir"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class NotAllowed(RuntimeError):
    """The learner's code asked for something that an exercise has no use for."""


def refuse(folder: Path, closed: list[str]) -> list[str]:
    """From now on, refuse learners' code what no exercise needs; returns the list of what it tried.

    Files are written below `folder` only, and those below a `closed` folder are not even read. An
    audit hook cannot be taken away again, and everything it uses is bound here, out of reach.
    """
    tried: list[str] = []
    why_not, watched = _reasons(folder, closed)
    asking: set[int] = set()
    thread = threading.get_ident

    def hook(event: str, arguments: tuple) -> None:
        if event not in watched or thread() in asking:
            return
        asking.add(thread())
        try:
            reason = why_not(event, arguments)
        finally:
            asking.discard(thread())
        if reason:
            if reason not in tried:
                tried.append(reason)
            raise NotAllowed(f"an exercise may not {reason}")

    sys.addaudithook(hook)
    return tried


def _reasons(folder: Path, closed: list[str]) -> tuple[Callable[[str, tuple], str], frozenset[str]]:
    """The function that says why an event is refused, or '', and the events that it is to be asked about."""
    within, of_python = _within(str(folder)), _within(sys.prefix, sys.base_prefix, str(folder))
    is_closed, frame_of, ours, devnull = _within(*closed), sys._getframe, is_learners, os.devnull
    refused, from_learners, changes, reads = dict(_REFUSED), dict(_FROM_LEARNERS), _CHANGES_FILES, _READS_FILES

    def why_not(event: str, arguments: tuple) -> str:
        if event in refused:
            return refused[event]
        if event in from_learners:
            return from_learners[event] if ours(_asker(frame_of(2))) else ""
        writes = bool(arguments[2] & _WRITING) if event == "open" else event in changes
        paths = arguments[:1] if event == "open" else arguments
        for path in [os.fsdecode(one) for one in paths if isinstance(one, str | bytes | os.PathLike)]:
            if writes and not within(path) and path != devnull:
                return "write outside its own folder"
            if is_closed(path) and not of_python(path):
                return "read what belongs to others"
        return ""

    return why_not, frozenset(("open", *refused, *from_learners, *changes, *reads))


def _asker(frame: types.FrameType | None) -> str:
    """The file of the code that asks; `inspect` asks on behalf of its caller."""
    while frame is not None and frame.f_code.co_filename == inspect.__file__:
        frame = frame.f_back
    return frame.f_code.co_filename if frame is not None else ""


def _within(*folders: str) -> Callable[[str], bool]:
    """Whether a path, written in whatever way, is one of these folders or below one."""
    absolute, separator = os.path.abspath, os.sep
    starts = tuple(f"{absolute(one).rstrip(separator)}{separator}" for one in folders)
    real = tuple(f"{os.path.realpath(one).rstrip(separator)}{separator}" for one in folders)

    def inside(path: str) -> bool:
        return f"{absolute(path)}{separator}".startswith(starts + real)

    return inside


class Seal:
    """What the checks are made of, remembered, so that a change to any of it is found.

    Compared are functions, classes and their methods, with their code, in every module that judging
    uses; of the checks themselves also every other name. Numbers and containers of the framework may
    change: a default dtype is set, a counter counts.
    """

    def __init__(self) -> None:
        self._places: list[tuple[str, Mapping, dict]] = []
        functions: dict[int, tuple[str, types.FunctionType]] = {}
        for module in [name for name in sys.modules if _takes_part(name) and sys.modules[name] is not None]:
            names = vars(sys.modules[module])
            kinds = [one for one in names.values() if isinstance(one, type) and one.__module__ == module]
            for owner, place in ((module, names), *((f"{module}.{one.__name__}", vars(one)) for one in kinds)):
                self._places.append((owner, place, dict(place)))
                found = [(f"{owner}.{name}", one) for name, one in place.items() if _is_function(one)]
                functions |= {id(one): (name, one) for name, one in found}
        self._ids = [_identities(place) for _, place, _ in self._places]
        self._functions = list(functions.values())
        self._codes = [_code(name, one) for name, one in self._functions]

    def broken(self) -> str:
        """The name of a part that is not what it was, or ''."""
        for (owner, place, before), ids in zip(self._places, self._ids, strict=True):
            if _identities(place) != ids:
                changed = _changed(owner, place, before)
                if changed:
                    return f"{owner}.{changed}"
        for (name, function), code in zip(self._functions, self._codes, strict=True):
            if _code(name, function) != code:
                return name
        return ""


def _identities(place: Mapping) -> list[int]:
    return list(map(id, place.values()))


def _changed(owner: str, place: Mapping, before: dict) -> str:
    """The name of a thing in a module or class that is another one now."""
    ours = owner.startswith("exercises.")
    now = dict(place)
    for name, value in before.items():
        if now.get(name, before) is not value and (ours or _does_something(value)):
            return name
    for name in now.keys() - before.keys():
        if name in _BUILTINS or (ours and not name.startswith("__")):  # it may hide one that was meant
            return name
    return ""


def _does_something(value: Any) -> bool:
    return callable(value) or isinstance(value, property | classmethod | staticmethod)


def _is_function(value: Any) -> bool:
    return type(value) is types.FunctionType


def _code(name: str, function: types.FunctionType) -> tuple:
    """What a function runs. An operation of minigrad exchanges its own code for faster code, once."""
    code = function.__code__
    if name.startswith("minigrad."):
        return (is_learners(code.co_filename) and not code.co_filename.startswith("<operation "),)
    return id(code), id(function.__defaults__), id(function.__kwdefaults__)


_BUILTINS = frozenset(vars(builtins))
# Python's own modules that the checks and the framework judge with.
_TOOLS = frozenset(
    """builtins collections contextlib ctypes dataclasses dis functools inspect io itertools linecache math
    operator os os.path posixpath ntpath queue sys threading time traceback types typing warnings weakref""".split()
)


def _takes_part(module: str) -> bool:
    root = module.partition(".")[0]
    return module in _TOOLS or root in ("minigrad", "numpy") or module.startswith("exercises.checks")
