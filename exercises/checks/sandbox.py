"""Running a learner's code so that nothing it does can hang, kill or flood the notebook.

The work runs in a thread of its own, with a time limit, with bounded output, and with `input`,
`exit` and the like refused. `Outcome` says what happened.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import dis
import functools
import io
import linecache
import queue
import re
import sys
import sysconfig
import threading
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 5.0
GRACE = 1.0  # how long a stopped thread may take to unwind before it is left behind
OUTPUT_LIMIT = 2_000

_settrace = sys.settrace  # kept here, because the learner's code is refused it
_REPOSITORY = Path(__file__).resolve().parents[2]
_NOT_THE_LEARNERS = (
    *(str(place) for place in (Path(__file__).parent, _REPOSITORY / "tools", _REPOSITORY / "minigrad")),
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    "<frozen",
    "<operation ",  # what minigrad assembles for a row of its tables
    "<program ",  # what a check gives to a learner's function
)


class TimeUp(BaseException):
    """The time limit is over. No Exception, so that an ordinary `except` does not swallow it."""


class _FirstTimeUp(TimeUp):
    """Thrown from another thread, and made in the one that is to end, if it is caught there.

    So that `while True: try: ... except: pass` ends too, TimeUp is thrown at every line from then on.
    """

    def __init__(self) -> None:
        _throw_at_every_line()


class Refused(RuntimeError):
    """The learner's code asked for something that a check cannot give, such as input()."""


@dataclass
class Outcome:
    """What became of the work: a value, or an error, or neither because the time was up."""

    value: Any = None
    error: BaseException | None = None
    timed_out: bool = False
    printed: str = ""


class _BoundedText(io.StringIO):
    def write(self, text: str) -> int:
        if self.tell() < OUTPUT_LIMIT:
            super().write(text[: OUTPUT_LIMIT - self.tell()])
        return len(text)


class quiet:
    """What is printed in this block is not shown: an answer that is run once more has said it before.

    `sys.stdout` stays what it is: a thread that is left behind in this block would set it back much later.
    """

    def __enter__(self) -> None:
        self.output = sys.stdout
        self.end = self.output.tell() if isinstance(self.output, _BoundedText) else 0

    def __exit__(self, *_: Any) -> None:
        if isinstance(self.output, _BoundedText):
            self.output.seek(self.end)
            self.output.truncate()


class _Thread(threading.Thread):
    """Drops its task, with the Outcome, as it starts: the learner's code could reach it as current_thread().task."""

    def __init__(self, *task: Any) -> None:
        super().__init__(daemon=True)
        self.task = task

    def run(self, seconds: float | None = None) -> None:
        task, self.task = (*self.task, seconds), ()
        _work_and_report(*task)


# What takes out again what the stopped thread has put in place for a while: it may be left behind inside of C code.
after_a_stop: list[Callable[[], None]] = []


def run(work: Callable[[], Any], seconds: float) -> Outcome:
    """Run `work` to its end or to the time limit, whichever comes first. Never raises."""
    outcome, output = Outcome(), _BoundedText()
    done: queue.SimpleQueue[bool] = queue.SimpleQueue()
    thread = _Thread(work, outcome, done)
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(output))
        stack.enter_context(_no_way_out())
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # a line on stderr would cost the points under nbgrader
        try:
            _start(thread, seconds)
            finished = _wait(done, seconds) or _throw_and_wait(thread, done)
        except KeyboardInterrupt as stop:
            return Outcome(error=stop)
    if not finished or isinstance(outcome.error, TimeUp):
        for put_back in after_a_stop:
            put_back()
        return Outcome(timed_out=True, printed=output.getvalue())
    outcome.printed = output.getvalue()
    return outcome


def _start(thread: _Thread, seconds: float) -> None:
    try:
        thread.start()
    except RuntimeError:  # no threads here (Python in a browser): the work runs at once, and looks at the clock itself
        thread.run(seconds)


def _wait(done: queue.SimpleQueue, seconds: float) -> bool:
    with contextlib.suppress(queue.Empty):
        return done.get(timeout=seconds)
    return False


def _throw_and_wait(thread: threading.Thread, done: queue.SimpleQueue) -> bool:
    thread_id = ctypes.c_ulong(thread.ident or 0)
    _throw_later(thread_id, ctypes.py_object(_FirstTimeUp))
    if _wait(done, GRACE):
        return True
    # The thread is inside C code (a long sleep, say) and is left behind. What was thrown is
    # withdrawn, and one is delivered here: CPython 3.11 hangs in traced code until one is.
    _throw_later(thread_id, None)
    with contextlib.suppress(TimeUp):
        _throw_later(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(TimeUp))
        _let_arrive()
    return False


def _let_arrive() -> None:
    for _ in range(3):
        pass  # an exception that was thrown from elsewhere arrives at a jump back


def _work_and_report(work, outcome: Outcome, done: queue.SimpleQueue, seconds: float | None) -> None:
    try:
        try:
            if seconds is not None:
                _settrace(_stop_after(time.monotonic() + seconds))
            outcome.value = work()
        finally:
            _settrace(None)
    except BaseException as error:  # whatever the learner's code throws, SystemExit included
        outcome.error = error
    with contextlib.suppress(TimeUp):
        _let_arrive()  # a TimeUp that is still on its way: here, not later
    done.put(True)


_throw_later = ctypes.pythonapi.PyThreadState_SetAsyncExc


def _throw_at_every_line() -> Callable:
    """From now on throw TimeUp at every line of this thread's code.

    Python drops a trace function that raises, so this is a plain C function that asks for an asynchronous exception;
    its three extra arguments are not looked at.
    """
    throw = ctypes.PYFUNCTYPE(None, ctypes.c_ulong, *[ctypes.py_object] * 4)(
        ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
    )
    throw_here = functools.partial(throw, ctypes.c_ulong(threading.get_ident()), TimeUp)
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if is_learners(frame.f_code.co_filename):
            frame.f_trace = throw_here
        frame = frame.f_back
    _settrace(throw_here)
    return throw_here


def _stop_after(deadline: float) -> Callable:
    """A trace function for a thread that nobody can stop from outside."""

    def trace(frame, event, argument):
        if not is_learners(frame.f_code.co_filename):
            return None
        return trace if time.monotonic() < deadline else _throw_at_every_line()

    return trace


@functools.lru_cache(maxsize=4096)
def is_learners(filename: str) -> bool:
    """Whether code of this file was written by the learner, not by us, NumPy or Python."""
    return not filename.startswith(_NOT_THE_LEARNERS)


@contextlib.contextmanager
def _no_way_out() -> Iterator[None]:
    """Make input(), exit() and the like raise, instead of waiting for keys or ending the kernel."""
    places: list[tuple[Any, str]] = [(builtins, name) for name in ("input", "exit", "quit")]
    places.append((sys, "settrace"))
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        places.append((shell, "ask_exit"))  # where IPython's own exit and quit end up
    before = [(place, name, getattr(place, name)) for place, name in places if hasattr(place, name)]
    for place, name, _ in before:
        setattr(place, name, _refusal("exit" if name == "ask_exit" else name))
    try:
        yield
    finally:
        for place, name, original in before:
            setattr(place, name, original)


def _refusal(name: str) -> Callable:
    def refuse(*arguments, **options):
        raise Refused(f"{name}() cannot be used inside an exercise")

    return refuse


_INSIDE = re.compile(r"[\w.<>]*<locals>\.(<lambda>|\w+)\(\)")  # which function it is inside, a learner may not know


def describe_error(error: BaseException) -> str:
    """One line: the error's type, its message, and the learner's own line that raised it."""
    with contextlib.suppress(Exception):
        message = str(error).strip().splitlines()
        said = f"{type(error).__name__}: {message[0]}" if message else type(error).__name__
        said = _INSIDE.sub(lambda found: "a function" if found[1] == "<lambda>" else f"{found[1]}()", said)
        where = learners_line(error)
        return clip(said, 300) + (f"  (your line: {where})" if where else "")
    return type(error).__name__


BY_HAND = "(raised by your code)"


def message_of(error: BaseException) -> str:
    """The type and message of an error; BY_HAND, if it comes from a `raise` or `assert` of the learner."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    if frames is not None and is_learners(frames.tb_frame.f_code.co_filename):
        if frames.tb_frame.f_code.co_code[frames.tb_lasti] == dis.opmap["RAISE_VARARGS"]:
            return BY_HAND
    return describe_error(error).partition("  (your line: ")[0]


def learners_line(error: BaseException) -> str:
    """The text of the last line of the learner's own code on the way to the error, or ''."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if is_learners(frame.filename):
            return clip((linecache.getline(frame.filename, frame.lineno or 0)).strip(), 120)
    return ""


def came_from_learner(error: BaseException) -> bool:
    """Whether it is the learner's own code that raised the error, and nothing that it called."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and is_learners(frames[-1].filename)


def came_through_learner(error: BaseException) -> bool:
    """Whether the learner's own code is on the way to the error (a hostile __eq__, say)."""
    return any(is_learners(frame.filename) for frame in traceback.extract_tb(error.__traceback__))


def clip(text: str, length: int) -> str:
    """The text, cut with three dots when it is longer than `length`."""
    return text if len(text) <= length else text[: length - 3] + "..."


def show(value: Any, length: int = 160, depth: int = 3) -> str:
    """A short, safe text for any value: a learner's object cannot break it with its __repr__."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset, dict):
        return clip(_show_items(value, depth - 1), length) if depth else "..."
    if kind is int and value.bit_length() > 500:
        return "a very large int"
    with contextlib.suppress(Exception):
        if kind.__module__ == "builtins" and callable(value):
            return f"{'the class' if kind is type else 'the function'} {value.__name__}"
        known = kind.__module__.partition(".")[0] in ("builtins", "numpy", "minigrad")
        if known and kind.__repr__ is not object.__repr__ and kind is not types.GeneratorType:
            return clip(repr(value), length)
    return f"an object of type {clip(kind.__name__, 40)}"


def _show_items(items: Any, depth: int) -> str:
    shown = list(items.items() if type(items) is dict else items)[:8]
    more = ", ..." if len(items) > len(shown) else ""
    if type(items) is dict:
        pairs = ", ".join(f"{show(key)}: {show(item, depth=depth)}" for key, item in shown)
        return "{" + pairs + more + "}"
    brackets: dict[type, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")")}
    left, right = brackets.get(type(items), ("{", "}"))
    right = ",)" if type(items) is tuple and len(items) == 1 else right
    return left + ", ".join(show(item, depth=depth) for item in shown) + more + right
