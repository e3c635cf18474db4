"""Which line of your program made each node, and which line overwrote each memory.

    with mg.viz.lines():      remembers the calls of the block, minigrad's and PyTorch's
        train()
    mg.viz.explain(error)     then names variables and lines; so does mg.draw(loss, lines=True)

It keeps numbers, never tensors: where each call stood, which memories it read and at which version, which it raised.
A call inside it costs some 4 to 7 microseconds of processor time more, with up to thirty tensors at most 15, and one
outside nothing (`python -m benchmarks.lines`): what watches is put on when the block begins and taken off when it ends.
Only calls from Python in the thread of the block are seen, not what C++ or torch.compile does by itself.
"""

import itertools
import sys
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from inspect import CO_GENERATOR
from types import FrameType
from typing import Any, NamedTuple

from . import pytorch
from .source import Line, Spot, called_at, line_of, place_of

MAX_CALLS = 200_000  # of more the older half is forgotten
MAX_VALUES = 6  # elements of an overwritten tensor that are remembered
LEAVES_TORCH = ("item", "tolist", "numpy", "__float__", "__int__", "__bool__", "__array__", "__index__", "__complex__")
WALKS = ("backward", "grad")


class Seen(NamedTuple):
    """A tensor as a call met it. ``where`` is its place among the arguments: position, (position, index) or name."""

    where: Any
    id: int
    memory: int
    version: int
    tracked: bool


class Change(NamedTuple):
    """What a call overwrote: which argument, its version before and after, and its value before if it is known."""

    seen: Seen
    after: int
    value: Any


class Call(NamedTuple):
    """One call. Its nodes have the numbers above ``first`` up to ``last``; ``count`` counts positional arguments."""

    op: str
    place: tuple
    inputs: tuple[Seen, ...]
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody asks for
    outputs: tuple[Seen, ...]
    first: int
    last: int
    recording: bool
    changes: tuple[Change, ...] = ()
    framework: str = ""
    keeps: bool = False  # of a backward: whether the graph stays
    failed: bool = False
    run: int | None = 0  # which run of the user's line it was made by; None if that cannot be told
    direct: bool = True  # made by the line itself, not by a function of a library that the line called

    @classmethod
    def of(cls, noted: tuple) -> "Call":
        """A call from the plain tuples that it was noted as."""
        op, place, inputs, count, outputs, first, last, recording, changes, *rest = noted
        changed = tuple(Change(Seen(*seen), after, value) for seen, after, value in changes if after != seen[3])
        inputs, outputs = (tuple(Seen(*seen) for seen in given) for given in (inputs, outputs))
        return cls(op, place, inputs, count, outputs, first, last, recording, changed, *rest)


class Log:
    """The calls of a `lines` block, in their order, and what they tell."""

    def __init__(self, base: FrameType | None = None):
        self._noted: list[tuple] = []  # what Call.of makes a Call of: plain tuples take less time to write down
        self.forgotten = 0
        self.busy = False
        self._known: tuple = (None, ())
        self._base, self._thread = base, threading.get_ident()
        self.watchers = ExitStack()

    @property
    def calls(self) -> list[Call]:
        """The calls, the oldest first."""
        return self._derived()[0]

    def watch(self, face: Any, op: str, function: Callable, args: tuple, kwargs: dict, depth: int = 2) -> Any:
        """Run a call of a framework, of which `face` tells tensors apart, and note it."""
        tensors, inputs = tensors_among(args, kwargs, face)
        in_place = is_in_place(op) or "out" in kwargs
        values = [face.value(tensor) for tensor in tensors[:3]] if in_place else ()
        recording, first, name, given = face.recording(), face.newest(), face.name, len(args)
        place, through = place_of(sys._getframe(depth), self._base)
        run, direct = next(_runs) if through is None else run_of(through), through is None
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            last = face.newest()
            self.note((op, place, inputs, given, (), first, last, recording, (), name, False, True, run, direct))
            self.remember(error, tuple(tensors))
            raise
        if isinstance(result, face.kind):  # as nearly always
            outputs = [face.see(0, result)]
        else:
            _, outputs = tensors_among(args[:1] if op == "requires_grad=" else (result,), {}, face)
        changes = self._changes(face, tensors, inputs, values) if face.is_changed(tensors, inputs) else ()
        if outputs or changes or op in LEAVES_TORCH or op in WALKS:
            keeps, last = op in WALKS and keeps_graph(op, args, kwargs), face.newest()
            self.note(
                (op, place, inputs, given, outputs, first, last, recording, changes, name, keeps, False, run, direct)
            )
        return result

    def _changes(self, face: Any, tensors: list, inputs: list[tuple], values: Sequence) -> tuple:
        """What Call.of makes Changes of: of each tensor what it was, its version now, and its value before."""
        after = [face.version(tensor) for tensor in tensors]
        return tuple(itertools.zip_longest(inputs, after, values))

    def note(self, call: tuple) -> None:
        """Add a call; of very many the older ones are forgotten."""
        self._noted.append(call)
        if len(self._noted) > MAX_CALLS:
            self.forgotten += MAX_CALLS // 2
            del self._noted[: MAX_CALLS // 2]

    def remember(self, error: BaseException, about: tuple = ()) -> None:
        """Note on an error what `explain` needs: this log, and the tensors that the refused call was given."""
        if about and not getattr(error, "about", ()):
            error.about = about  # type: ignore[attr-defined]
        if not hasattr(error, "lines"):
            error.lines = self  # type: ignore[attr-defined]

    def end(self) -> None:
        """The block is over: what it holds of the program's frames is let go."""
        self._base = None

    def close(self) -> None:
        """End the block from outside of it: nothing is watched any more."""
        self.watchers.close()
        self.end()

    def is_ignored(self) -> bool:
        """Whether a call is not to be noted: it is inside another one, or in another thread."""
        return self.busy or threading.get_ident() != self._thread

    # -- what it tells, when the block is over ---------------------------------------------------------

    @property
    def _ends(self) -> dict[str, list[int]]:
        """For each framework and each call the highest number of a node so far."""
        return self._derived()[1]

    @property
    def _index(self) -> dict[int, list[int]]:
        """For each tensor, by its id, the calls that returned it."""
        return self._derived()[2]

    @property
    def _rounds(self) -> list[tuple[int, int]]:
        """For each call in the how-manieth run of its line it was made, and of how many."""
        return self._derived()[3]

    def _derived(self) -> tuple:
        """The calls, and what is looked up of them; made anew when there are more."""
        state = (len(self._noted), self.forgotten)
        if self._known[0] != state:
            calls = [Call.of(noted) for noted in self._noted]
            ends = {name: _highest(calls, name) for name in {call.framework for call in calls}}
            returned: dict[int, list[int]] = {}
            for index, call in enumerate(calls):
                for id in {seen.id for seen in call.outputs}:
                    returned.setdefault(id, []).append(index)
            self._known = (state, (calls, ends, returned, rounds(calls)))
        return self._known[1]

    def maker(self, framework: str, order: int) -> int | None:
        """The index of the call that made the node with this number; None if it was not seen."""
        later = range(bisect_left(self._ends[framework], order), len(self.calls)) if framework in self._ends else ()
        made = (i for i in later if self.calls[i].first < order <= self.calls[i].last)
        return next((i for i in made if self.calls[i].framework == framework), None)

    def last_output(self, id: int, before: int | None = None) -> int | None:
        """The index of the last call, before another one, that returned or overwrote the tensor with this id."""
        found = self._index.get(id, [])
        at = len(found) if before is None else bisect_left(found, before)
        return found[at - 1] if at else None

    def source(self, seen: Seen, before: int) -> int | None:
        """The index of the call that made or overwrote what a call met; None if that was none of the block.

        A tensor that C++ made may have the id of one that is gone: it is another one if it lies elsewhere.
        """
        index = self.last_output(seen.id, before)
        outputs = () if index is None else self.calls[index].outputs
        known = any(seen[1:3] == each[1:3] and seen.tracked == each.tracked for each in outputs)
        return index if known else None

    def call_of(self, node: Any) -> int | None:
        """The index of the call that made a node of either framework, or an output of it."""
        own = getattr(node, "_node", None)
        return self.maker("torch", pytorch.order(node)) if own is None else self.maker("minigrad", -own._order)

    def recorded_walks(self, framework: str) -> list[tuple[int, int]]:
        """The numbers between which each backward of the block ran that recorded something."""
        walks = (call for call in self.calls if call.op in WALKS and call.framework == framework)
        return [(call.first + 1, call.last) for call in walks if call.last > call.first]

    def is_born(self, id: int, after: int) -> bool:
        """Whether a later call returned another tensor with this id: then the first one is gone."""
        later = (self.calls[index] for index in self._index.get(id, ()) if index > after)
        return any(all(seen.id != id for seen in call.inputs) for call in later)

    def returned(self, tensor: Any) -> bool:
        """Whether a call of the block returned this tensor."""
        return self.last_output(id(tensor)) is not None

    def changes_of(self, memory: int, after: int) -> Iterator[tuple[int, Change]]:
        """The changes of a memory after a call, with the indices of the calls."""
        for index in range(after + 1, len(self.calls)):
            for change in self.calls[index].changes:
                if change.seen.memory == memory:
                    yield index, change
                    break

    def freed_before(self, framework: str, order: int) -> bool:
        """Whether a backward has freed what the node with this number saved."""
        index = self.maker(framework, order)
        return index is not None and bool(self.walks_that_freed(index))

    def walks_that_freed(self, index: int) -> list[int]:
        """The backwards that came by what a call made, and did not keep the graph."""
        later = ((i, self.calls[i]) for i in range(index + 1, len(self.calls)))
        walks = [i for i, call in later if call.op in WALKS and not call.keeps and not call.failed]
        return [i for i in walks if self.leads_to(i, index)]

    def leads_to(self, walk: int, index: int) -> bool:
        """Whether the graph that a backward walked has what call `index` made."""
        visited = set()
        stack = [(seen, walk) for seen in self.calls[walk].inputs]
        while stack:
            made = self.source(*stack.pop())
            if made == index:
                return True
            if made is not None and made > index and made not in visited:
                visited.add(made)
                stack.extend((seen, made) for seen in self.calls[made].inputs)
        return False

    def spot(self, index: int) -> Spot:
        """The expression of a call in its line."""
        return Spot(self.calls[index].place)

    def line(self, index: int) -> Line | None:
        """The line of a call, and in which of its rounds it was, if all that ran before is known."""
        call = self.calls[index]
        counted = not self.forgotten and not (call.direct and self.spot(index).calls_several(call.op))
        return line_of(call.place, *(self._rounds[index] if counted else ()))


def _highest(calls: list[Call], framework: str) -> list[int]:
    """For each call the highest number of a node of this framework so far."""
    return list(itertools.accumulate((call.last * (call.framework == framework) for call in calls), max))


def rounds(calls: list[Call]) -> list[tuple[int, int]]:
    """For each call (n, total): it was made in the n-th of so many runs of the user's line, called by the same line.

    A line that calls a Module may come to one operation several times in a run; one instruction may make several
    operations, each of which then counts its own.
    """
    runs: dict[tuple, dict[int | None, int]] = {}
    found = []
    for call in calls:
        those = runs.setdefault((called_at(call.place), call.op if call.direct else ""), {})
        found.append((those, those.setdefault(call.run, len(those) + 1)))
    return [(1, 1) if None in those else (number, len(those)) for those, number in found]


_runs = itertools.count()  # a number for each run of a line


class _Mark:
    """What tells a frame of a library from the next one at the same address: it lies where a debugger has its tracer.

    Where one is at work it calls the mark for each line of that frame, to no effect.
    """

    __slots__ = ("run",)

    def __init__(self, run: int):
        self.run = run

    def __call__(self, frame, event, arg):
        return self


def run_of(frame: FrameType) -> int | None:
    """The number of the run that a frame, called by the user's line, belongs to; None where a debugger looks at it."""
    mark = frame.f_trace
    if mark is None and not frame.f_code.co_flags & CO_GENERATOR:  # one generator serves many runs of a line
        mark = frame.f_trace = _Mark(next(_runs))
    return mark.run if isinstance(mark, _Mark) else None


_AUGMENTED = {f"__i{name}__" for name in "add sub mul truediv floordiv pow mod and or xor matmul lshift rshift".split()}
_AUGMENTED |= {"__setitem__"}


@cache
def is_in_place(op: str) -> bool:
    """Whether the name of an operation says that it overwrites: add_, __iadd__, __setitem__."""
    return op in _AUGMENTED if op.endswith("__") else op.endswith(("_", "="))


_SEQUENCES = (list, tuple)  # a union would be made anew at every call
_NO_TENSORS = {type(None), bool, int, float, str}  # to look these up takes less time than to ask what they are


def tensors_among(args: tuple, kwargs: dict, face: Any) -> tuple[list, list[tuple]]:
    """The tensors among arguments, and what Seen is made of; a place is a position, (position, index) or a name."""
    tensors, seen, kind, see = [], [], face.kind, face.see
    where = 0  # counted by hand: enumerate takes longer
    for value in args:
        if type(value) not in _NO_TENSORS:
            if isinstance(value, kind):
                tensors.append(value)
                seen.append(see(where, value))
            elif isinstance(value, _SEQUENCES):
                for i, each in enumerate(value):
                    if isinstance(each, kind):
                        tensors.append(each)
                        seen.append(see((where, i), each))
        where += 1
    for name, value in kwargs.items():
        if type(value) not in _NO_TENSORS and isinstance(value, kind):
            tensors.append(value)
            seen.append(see(name, value))
    return tensors, seen


def keeps_graph(op: str, args: tuple, kwargs: dict) -> bool:
    """Whether a backward leaves what the graph saved: retain_graph, or else create_graph."""
    at = 2 if op == "backward" else 3
    given = dict(zip(("retain_graph", "create_graph"), args[at : at + 2], strict=False)) | kwargs
    retain = given.get("retain_graph")
    return bool(given.get("create_graph") if retain is None else retain)


# What puts a watcher on a framework for the time of a block: context managers that are given the log.
WATCHERS: list[Callable[[Log], Any]] = []
_last: list[Log] = []  # the log of the last block


def last_log() -> Log | None:
    """What the last block has noted, or the one that runs; None before the first."""
    return _last[-1] if _last else None


@contextmanager
def paused():
    """A block that is open notes nothing: for programs that are not the user's."""
    log = last_log()
    was = log is not None and log.busy
    if log is not None:
        log.busy = True
    try:
        yield
    finally:
        if log is not None:
            log.busy = was


@contextmanager
def lines(depth: int = 2):
    """Remember which line made each node and which line overwrote each memory. There is no PyTorch counterpart.

    What the block has noted stays until the next one, for `explain` and for ``draw(..., lines=True)``. A notebook's
    ``%%explain`` does the same for a cell. See the beginning of this file for what it costs and what it cannot see.

    >>> import minigrad as mg
    >>> w = mg.tensor(3.0, requires_grad=True)
    >>> with lines() as log:
    ...     h = w * 2
    ...     h += 1
    >>> [call.op for call in log.calls]
    ['__mul__', '__iadd__']
    """
    log = Log(sys._getframe(depth))
    _last[:] = [log]
    with log.watchers:
        for watcher in WATCHERS:
            log.watchers.enter_context(watcher(log))
        try:
            yield log
        except Exception as error:
            log.remember(error)
            raise
        finally:
            log.end()
