"""Watching the engine at work: what one call makes it do, in the order in which it does it.

The engine has no part in this, so a backward that nobody watches runs the code that it always ran. For
the time of one call a Watch stands in front of three functions that the engine looks up by name, `walk`,
`accumulate` and `retain`, and of the derivatives and hooks of every node that a walk can reach.
"""

import copy
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..autograd import engine, hooks
from ..autograd.graph import HANDS_OVER, LEAF, OUTPUT, Kind, Record
from .live import reachable
from .records import MAX_ELEMENTS, value_text


class Place(NamedTuple):
    """Where a gradient is: at output `index` of a node."""

    record: Record
    index: int = 0


class Note(NamedTuple):
    """One thing that the engine did; `kind` is one of those that `trace.Event` lists."""

    kind: str
    place: Place | None
    value: str = ""
    before: str = ""
    source: Record | None = None
    position: int = 0
    words: str = ""


class Given(NamedTuple):
    """What a node's derivatives returned, until the engine has passed it on."""

    record: Record
    edges: tuple
    grads: Any


class Watch:
    """Notes what the engine does in this thread, for as long as the ``with`` block lasts."""

    def __init__(self):
        self.notes: list[Note] = []
        self.roots: list[Place] = []
        self._thread = threading.get_ident()
        self._depth = 0  # walks inside walks: a hook may call backward
        self._undo: list[Callable] = []
        self._kinds: dict[Kind, Kind] = {}
        self._owners: dict[int, Place] = {}  # id of an AutogradMeta -> whose gradient it holds
        self._turn: Record | None = None
        self._told: set[int] = set()  # of which outputs, in this turn
        self._given: Given | None = None
        self._gathered: dict[Place, Any] = {}

    def __enter__(self) -> "Watch":
        self._walk, self._accumulate, self._retain = engine.walk, engine.accumulate, hooks.retain
        engine.walk, engine.accumulate, hooks.retain = self.walk, self.accumulate, self.retain
        return self

    def __exit__(self, kind, error, trace) -> None:
        engine.walk, engine.accumulate, hooks.retain = self._walk, self._accumulate, self._retain
        if isinstance(error, Exception):
            self.settle()
            words = f"{type(error).__name__}: {error}".split("\n", 1)[0]
            self.note("stop", None if self._turn is None else Place(self._turn), words=words)

    def asleep(self) -> bool:
        """Whether what happens now is somebody else's: another thread's, or a backward inside this one."""
        return self._depth != 1 or threading.get_ident() != self._thread

    def note(self, kind: str, place: Place | None, value="", **details) -> None:
        self.notes.append(Note(kind, place, value, **details))

    # -- what stands in front of the engine's own functions ------------------------------------------

    def walk(self, seeds: list, retain_graph, create_graph, wanted=None, capture=True) -> dict:
        go = partial(self._walk, seeds, retain_graph, create_graph, wanted, capture)
        if threading.get_ident() != self._thread:
            return go()
        if self._depth:
            return self.inside(go)
        self._depth = 1
        try:
            self.begin(seeds)
            captured = go()
            self.settle()
            for record, grad in captured.items() if capture else ():
                self.note("capture", place_of(record), text_of(grad))
            return captured
        finally:
            self._depth = 0
            while self._undo:
                self._undo.pop()()

    def inside(self, go: Callable) -> dict:
        """A backward that a hook or a Function calls: it is told of, and not shown."""
        self.note("inside", None if self._turn is None else Place(self._turn))
        self._depth += 1
        try:
            return go()
        finally:
            self._depth -= 1

    def accumulate(self, meta, grad, create_graph: bool) -> None:
        """A leaf's .grad."""
        place = self._owners.get(id(meta))
        if place is None or self.asleep():
            self._accumulate(meta, grad, create_graph)
            return
        self.take_turn(place.record, {0: grad})
        before = text_of(meta.grad)
        self._accumulate(meta, grad, create_graph)
        self.note("accumulate", place, text_of(meta.grad), before=before)

    def retain(self, meta, grad) -> None:
        """The .grad of a result that asked with retain_grad()."""
        place = self._owners.get(id(meta))
        if place is None or self.asleep():
            self._retain(meta, grad)
            return
        self.take_turn(place.record, {place.index: grad})
        before = text_of(meta.grad)
        self._retain(meta, grad)
        self.note("keep", place, text_of(meta.grad), before=before)

    # -- a walk begins -----------------------------------------------------------------------------

    def begin(self, seeds: list) -> None:
        self._turn, self._given, self._gathered = None, None, {}
        for record in reachable(record for record, _ in seeds):
            self.stand_before(record)
        for record, grad in seeds:
            place = place_of(record)
            self.roots.append(place)
            self.note("seed", place, text_of(grad))
            self.gather(place, grad)

    def stand_before(self, record: Record) -> None:
        """Watch a record's derivatives and hooks."""
        extra = None if record.extra is HANDS_OVER else record.extra
        if extra is not None:
            for index, found in extra.tensor_hooks.items():
                self.replace(found, record, partial(self.on_gradient, index))
            self.replace(extra.pre_hooks, record, self.before_rule)
            self.replace(extra.post_hooks, record, self.after_rule)
            for index, reference in extra.retained.items():
                tensor = reference()
                if tensor is not None:
                    self._owners[id(tensor.meta())] = Place(record, index)
        if record.kind is LEAF:
            self._owners[id(record.leaf)] = Place(record)
            self.replace(record.leaf.hooks or {}, record, partial(self.on_gradient, 0))
            self.replace(record.leaf.post_hooks or {}, record, self.after_accumulation)
        elif record.kind is not OUTPUT:
            self._undo.append(partial(setattr, record, "kind", record.kind))
            record.kind = self.watched(record.kind)

    def watched(self, kind: Kind) -> Kind:
        """The same kind, its derivatives watched."""
        if kind not in self._kinds:
            other = self._kinds[kind] = copy.copy(kind)
            other.vjp, other.vjp_recorded = partial(self.rule, kind.vjp), partial(self.rule, kind.vjp_recorded)
        return self._kinds[kind]

    def replace(self, found: dict, record: Record, how: Callable) -> None:
        for key, hook in list(found.items()):
            stand_in = partial(self.fire, how, record, hook)
            stand_in.__name__ = getattr(hook, "__name__", type(hook).__name__)  # errors call hooks by name
            found[key] = stand_in
            self._undo.append(partial(put_back, found, key, stand_in, hook))

    # -- what happens at a node ----------------------------------------------------------------------

    def take_turn(self, record: Record, grads: dict) -> None:
        """The engine has come to `record`; these are its complete gradients, by output."""
        if record is not self._turn:
            self.settle()
            self._turn, self._told = record, set()
        for index in sorted(grads.keys() - self._told):
            self.note("ready", Place(record, index), text_of(grads[index]))
        self._told |= grads.keys()

    def rule(self, vjp: Callable, record: Record, grad, edges):
        if self.asleep():
            return vjp(record, grad, edges)
        grads = grad if isinstance(grad, dict) else {0: grad}
        self.take_turn(record, grads)
        self.note("rule", Place(record), ", ".join(text_of(grads[index]) for index in sorted(grads)))
        grads = vjp(record, grad, edges)
        self._given = Given(record, edges, grads)
        return grads

    def fire(self, how: Callable, record: Record, hook: Callable, *shown):
        return hook(*shown) if self.asleep() else how(record, hook, *shown)

    def on_gradient(self, index: int, record: Record, hook: Callable, grad):
        """A tensor's hook: it is shown the gradient, and may return another."""
        self.take_turn(record, {index: grad})
        before, at = text_of(grad), self.name(record, hook)
        answer = hook(grad)
        self.notes[at] = self.notes[at]._replace(before=before, value=text_of(grad if answer is None else answer))
        return answer

    def before_rule(self, record: Record, hook: Callable, grads: tuple):
        """A node's prehook."""
        self.take_turn(record, {i: g for i, g in enumerate(grads) if g is not None})
        self.name(record, hook)
        return hook(grads)

    def after_rule(self, record: Record, hook: Callable, grads: tuple, outputs: tuple):
        """A node's hook: what it returns is what the engine passes on."""
        if record.kind is LEAF:
            self.name(record, hook)
            return hook(grads, outputs)
        self.name(record, hook)
        answer = hook(grads, outputs)
        passed = grads if answer is None else answer if isinstance(answer, tuple) else (answer,)
        self._given = self._given and self._given._replace(grads=passed)
        return answer

    def after_accumulation(self, record: Record, hook: Callable, leaf):
        before, at = text_of(leaf.grad), self.name(record, hook)
        answer = hook(leaf)
        self.notes[at] = self.notes[at]._replace(before=before, value=text_of(leaf.grad))
        return answer

    def name(self, record: Record, hook: Callable) -> int:
        """Note that a hook is called; the note's number, for what comes of it."""
        self.note("hook", Place(record), words=getattr(hook, "__name__", type(hook).__name__))
        return len(self.notes) - 1

    # -- what a node gives to its inputs -------------------------------------------------------------

    def settle(self) -> None:
        """Note where the last node's gradients went: the engine has passed them on by now."""
        given, self._given = self._given, None
        if given is None:
            return
        record = given.record
        if record.kind.frees and record.saved is None:
            self.note("free", Place(record))
        for position, (edge, grad) in enumerate(zip(given.edges, given.grads, strict=False)):
            if edge is None or grad is None:
                continue
            try:
                grad = grad if getattr(record, "fits", False) else engine.fit(array_of(grad), edge, record)
            except (RuntimeError, ValueError):
                self.note("refuse", place_of(edge), text_of(grad), source=record, position=position)
                return
            place = place_of(edge)
            sofar = self.gather(place, grad)
            self.note("add", place, text_of(grad), before=sofar, source=record, position=position)

    def gather(self, place: Place, grad) -> str:
        """Add up as the engine does, which has cleared its own sum by the time of settling."""
        array = array_of(grad)
        if array.size > MAX_ELEMENTS:
            return text_of(array)
        here = self._gathered.get(place)
        self._gathered[place] = array.copy() if here is None else here + array
        return text_of(self._gathered[place])


def place_of(record: Record) -> Place:
    """Where a gradient that an edge leads to arrives."""
    return Place(record.edges[0], record.saved) if record.kind is OUTPUT else Place(record)


def put_back(hooks: dict, key, stand_in: Callable, hook: Callable) -> None:
    if hooks.get(key) is stand_in:  # it may have been removed meanwhile
        hooks[key] = hook


def array_of(grad) -> np.ndarray:
    return np.asarray(getattr(grad, "_array", grad))


def text_of(grad) -> str:
    """A gradient in words: small ones by value, others by shape."""
    if grad is None:
        return "None"
    array = array_of(grad)
    return value_text(array.tolist()) if array.size <= MAX_ELEMENTS else f"shape {array.shape}"
