"""Which line of your program made each node, and which line overwrote each memory.

    with mg.viz.lines():      remembers the calls of the block, minigrad's and PyTorch's
        train()
    mg.viz.explain(error)     then names variables and lines; so does mg.draw(loss, lines=True)

It keeps numbers, never tensors: where each call stood, which memories it read and at which version, which it raised.
A call inside the block costs at most 15 microseconds more, one outside nothing: what watches is put on when the block
begins and taken off when it ends. Only calls from Python in the thread of the block are seen, not what C++ or
torch.compile does by itself.
"""

import itertools
import sys
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, NamedTuple

from .source import Line, Spot, line_of, place_of

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


class Log:
    """The calls of a `lines` block, in their order, and what they tell."""

    def __init__(self, base: FrameType | None = None):
        self.calls: list[Call] = []
        self.forgotten = 0
        self.busy = False
        self._known: tuple = (None, ())
        self._base, self._thread = base, threading.get_ident()

    def watch(self, face: Any, op: str, function: Callable, args: tuple, kwargs: dict, depth: int = 2) -> Any:
        """Run a call of a framework, of which `face` tells tensors apart, and note it."""
        tensors = list(face.tensors(args, kwargs))
        inputs = [face.see(where, tensor) for where, tensor in tensors]
        values = [face.value(t) for _, t in tensors[:3]] if is_in_place(op) or "out" in kwargs else ()
        recording, first = face.recording(), face.newest()
        place = place_of(sys._getframe(depth), self._base)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            found = (op, place, tuple(inputs), len(args), (), first, face.newest(), recording, (), face.name)
            self.note(Call(*found, failed=True))
            self.remember(error, tuple(tensor for _, tensor in tensors))
            raise
        changes = []
        for index, (seen, (_, tensor)) in enumerate(zip(inputs, tensors, strict=True)):
            after = face.version(tensor)
            if after != seen.version:
                changes.append(Change(seen, after, values[index] if index < len(values) else None))
        outputs = tuple([face.see(where, tensor) for where, tensor in face.tensors((result,), {})])
        if outputs or changes or op in LEAVES_TORCH or op in WALKS:
            keeps = op in WALKS and keeps_graph(op, args, kwargs)
            found = (op, place, tuple(inputs), len(args), outputs, first, face.newest(), recording)
            self.note(Call(*found, tuple(changes), face.name, keeps))
        return result

    def remember(self, error: BaseException, about: tuple = ()) -> None:
        """Note on an error what `explain` needs: this log, and the tensors that the refused call was given."""
        if about and not hasattr(error, "about"):
            error.about = about  # type: ignore[attr-defined]
        if not hasattr(error, "lines"):
            error.lines = self  # type: ignore[attr-defined]

    def note(self, call: Call) -> None:
        """Add a call; of very many the older ones are forgotten."""
        self.calls.append(call)
        if len(self.calls) > MAX_CALLS:
            self.forgotten += MAX_CALLS // 2
            del self.calls[: MAX_CALLS // 2]

    def end(self) -> None:
        """The block is over: what it holds of the program's frames is let go."""
        self._base = None

    def is_ignored(self) -> bool:
        """Whether a call is not to be noted: it is inside another one, or in another thread."""
        return self.busy or threading.get_ident() != self._thread

    # -- what it tells, when the block is over ---------------------------------------------------------

    @property
    def _ends(self) -> dict[str, list[int]]:
        """For each framework and each call the highest number of a node so far."""
        return self._derived()[0]

    @property
    def _index(self) -> dict[int, list[int]]:
        """For each tensor, by its id, the calls that returned it."""
        return self._derived()[1]

    @property
    def _places(self) -> dict[int, list[int]]:
        """For each call those of its operation and place, in a Module on its weights: one for each round of a loop."""
        return self._derived()[2]

    def _derived(self) -> tuple:
        if self._known[0] != (len(self.calls), self.forgotten):
            ends = {
                name: list(itertools.accumulate((c.last * (c.framework == name) for c in self.calls), max))
                for name in {call.framework for call in self.calls}
            }
            returned: dict[int, list[int]] = {}
            for index, call in enumerate(self.calls):
                for id in {seen.id for seen in call.outputs}:
                    returned.setdefault(id, []).append(index)
            places: dict[tuple, list[int]] = {}
            for index, call in enumerate(self.calls):
                weights = (seen.id for seen in call.inputs if seen.id not in returned and seen.where != 0)
                places.setdefault((call.place, call.op, *weights), []).append(index)
            rounds = {index: found for found in places.values() for index in found}
            self._known = ((len(self.calls), self.forgotten), (ends, returned, rounds))
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
        wanted, seen = [s.id for s in self.calls[walk].inputs], set()
        stack = [(id, walk) for id in wanted]
        while stack:
            id, before = stack.pop()
            made = self.last_output(id, before)
            if made == index:
                return True
            if made is not None and made > index and made not in seen:
                seen.add(made)
                stack.extend((s.id, made) for s in self.calls[made].inputs)
        return False

    def spot(self, index: int) -> Spot:
        """The expression of a call in its line."""
        return Spot(self.calls[index].place)

    def line(self, index: int) -> Line | None:
        """The line of a call, and in which of its rounds it was."""
        rounds = self._places[index]
        return line_of(self.calls[index].place, rounds.index(index) + 1, len(rounds))


def is_in_place(op: str) -> bool:
    """Whether the name of an operation says that it overwrites: add_, __iadd__, __setitem__."""
    if op.endswith("__"):
        return op in _AUGMENTED
    return op.endswith("_") or op.endswith("=")


_AUGMENTED = {f"__i{name}__" for name in "add sub mul truediv floordiv pow mod and or xor matmul lshift rshift".split()}
_AUGMENTED |= {"__setitem__"}


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
    with ExitStack() as stack:
        for watcher in WATCHERS:
            stack.enter_context(watcher(log))
        try:
            yield log
        except Exception as error:
            log.remember(error)
            raise
        finally:
            log.end()
