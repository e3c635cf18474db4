"""What learners' code is refused while it is graded, and how a change to the checks is noticed.

Neither is a sandbox. Code that runs in a process can, with enough effort, do there whatever the
process can do: this keeps accidents and the known tricks from counting, and says that they happened.
"""

from __future__ import annotations

import builtins
import inspect
import logging
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator, Mapping
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
    **dict.fromkeys(("sys._getframe", "sys._current_frames", "object.__getattr__"), "look into running code"),
    **dict.fromkeys(("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"), "look into running code"),
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
    thread, frames = threading.get_ident, _FRAMES

    def hook(event: str, arguments: tuple) -> None:
        if event not in watched or thread() in asking:
            return
        if event == "object.__getattr__" and arguments[1] not in frames:
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
    is_closed, frame_of, ours, devnull = _within("/proc", *closed), sys._getframe, is_learners, os.devnull
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


# Attributes that lead to a frame, and from there to everything that calls the learner's code.
_FRAMES = frozenset(("tb_frame", "gi_frame", "cr_frame", "ag_frame"))
_GO_BETWEENS = frozenset(module.__file__ for module in (inspect, logging, threading, traceback))


def _asker(frame: types.FrameType | None) -> str:
    """The file of the code that asks; some modules of Python ask on behalf of their caller."""
    while frame is not None and frame.f_code.co_filename in _GO_BETWEENS:
        frame = frame.f_back
    return frame.f_code.co_filename if frame is not None else ""


_FORMS = (os.path.abspath, os.path.realpath)


def _within(*folders: str) -> Callable[[str], bool]:
    """Whether a path, written in whatever way, is one of these folders or below one."""
    absolute, same_case, separator = os.path.abspath, os.path.normcase, os.sep
    starts = tuple(f"{same_case(form(one)).rstrip(separator)}{separator}" for one in folders for form in _FORMS)

    def inside(path: str) -> bool:
        return f"{same_case(absolute(path))}{separator}".startswith(starts)

    return inside


def seal() -> Callable[[], str]:
    """Remember what answers are judged with; the function that names a part that was changed, or ''.

    Compared are functions, classes and their methods, with their code, in every module that is loaded
    now; of the checks also their data. Numbers and containers elsewhere may change: a default dtype is
    set, a counter counts. Nothing here belongs to an object, or a name, that other code could find.
    """
    identities, differs, code_of = _identities, _changed, _code
    places = [(owner, place, dict(place)) for owner, place in _places()]
    seen = [identities(place) for _, place, _ in places]
    functions = list(_functions(places).values())
    codes = [code_of(name, one) for name, one in functions]

    def broken() -> str:
        for (owner, place, before), ids in zip(places, seen, strict=True):
            if identities(place) != ids:
                changed = differs(owner, place, before)
                if changed:
                    return f"{owner}.{changed}"
        for (name, function), code in zip(functions, codes, strict=True):
            if code_of(name, function) != code:
                return name
        return ""

    return broken


def _places() -> Iterator[tuple[str, Mapping]]:
    """Where things have names, and what it is called: modules, their classes, and the checks' own data."""
    for module, loaded in list(sys.modules.items()):
        if module.partition(".")[0] in _RESTLESS or not isinstance(loaded, types.ModuleType):
            continue
        yield module, vars(loaded)
        for one in list(vars(loaded).values()):
            if isinstance(one, type) and one.__module__ == module:
                yield f"{module}.{one.__name__}", vars(one)
        if module.startswith("exercises.checks"):
            yield from _data(module, vars(loaded))


def _data(owner: str, names: Mapping) -> Iterator[tuple[str, Mapping]]:
    """The dicts and objects of a module of the checks, and those in them."""
    waiting, known = [(owner, value) for value in names.values()], set()
    while waiting:
        place, value = waiting.pop()
        if id(value) in known or type(value).__name__ in _LIVELY:
            continue
        known.add(id(value))
        inside = value if type(value) is dict else None
        if type(value).__module__.startswith("exercises.") and hasattr(value, "__dict__"):
            inside = vars(value)
        if inside is not None and not isinstance(value, type | types.ModuleType):
            yield f"{place}.{type(value).__name__}", inside
            waiting += [(place, one) for one in inside.values()]
        elif type(value) in (list, tuple):
            waiting += [(place, one) for one in value]


def _functions(places: list[tuple[str, Mapping, dict]]) -> dict[int, tuple[str, types.FunctionType]]:
    found = [(f"{owner}.{name}", one) for owner, _, before in places for name, one in before.items()]
    return {id(one): (name, one) for name, one in found if type(one) is types.FunctionType}


def _identities(place: Mapping) -> list[int]:
    return list(map(id, place.values()))


def _changed(owner: str, place: Mapping, before: dict) -> str:
    """The name of a thing that is another one now."""
    ours = owner.startswith("exercises.")
    now = dict(place)
    for name, value in before.items():
        if now.get(name, before) is not value and (ours or _does_something(value)):
            return str(name)
    for name in now.keys() - before.keys():
        if name in _BUILTINS or (ours and not str(name).startswith("__")):  # it may hide one that was meant
            return str(name)
    return ""


def _does_something(value: Any) -> bool:
    return callable(value) or isinstance(value, property | classmethod | staticmethod | types.ModuleType)


def _code(name: str, function: types.FunctionType) -> tuple:
    """What a function runs. An operation of minigrad exchanges its own code for faster code, once."""
    code = function.__code__
    if name.startswith("minigrad."):
        return (is_learners(code.co_filename) and not code.co_filename.startswith("<operation "),)
    return id(code), id(function.__defaults__), id(function.__kwdefaults__)


_BUILTINS = frozenset(vars(builtins))
# The shell changes these while it runs cells, and nothing is judged with them.
_RESTLESS = frozenset(("IPython", "traitlets", "__main__"))
_LIVELY = frozenset(("_Session", "CellWatch"))  # what the checks themselves keep a record in
