"""Watching the engine: what one call makes it do, in the order in which it does it.

The engine knows nothing of this, so a backward that is not watched costs nothing more. For the time of one call a
Watch replaces three functions that the engine looks up by name, `walk`, `accumulate` and `retain`, and the
derivatives and hooks of every node that a walk can reach, by wrappers that note the call and pass it on.
"""

import copy
import re
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..autograd import engine, evaluate, gradients, hooks
from ..autograd.node import LEAF, Kind, Node
from ..autograd.outputs import OUTPUT, operation_of, output_nr
from .live import reachable
from .records import MAX_ELEMENTS, value_text


class Place(NamedTuple):
    """Where a gradient is: at output `index` of a node."""

    node: Node
    index: int = 0  # type: ignore[assignment]  # hides tuple.index, which nobody asks for


class Note(NamedTuple):
    """One thing that the engine did; `kind` is one of those that `steps.Event` lists."""

    kind: str
    place: Place | None
    value: str = ""
    before: str = ""
    source: Node | None = None
    position: int = 0
    words: str = ""


class Returned(NamedTuple):
    """What a node's derivatives returned: noted when the engine has passed it on to the inputs."""

    node: Node
    next_nodes: tuple
    grads: Any


class Watch:
    """Notes what the engine does in this thread, for as long as the ``with`` block lasts."""

    def __init__(self):
        self.notes: list[Note] = []
        self.roots: list[Place] = []
        self._thread = threading.get_ident()
        self._depth = 0  # of nested walks: a hook may call backward
        self._undo: list[Callable] = []
        self._kinds: dict[Kind, Kind] = {}
        self._owners: dict[int, Place] = {}  # id of an AutogradMeta -> whose gradient it holds
        self._turn: Node | None = None
        self._noted_outputs: set[int] = set()  # of which outputs, in this turn
        self._returned: Returned | None = None
        self._sums: dict[Place, Any] = {}

    def __enter__(self) -> "Watch":
        self._walk, self._accumulate, self._retain = engine.walk, engine.accumulate, hooks.retain
        self._replace(self.walk, self.accumulate, self.retain)
        return self

    def _replace(self, walk: Callable, accumulate: Callable, retain: Callable) -> None:
        engine.walk, engine.accumulate = walk, accumulate
        evaluate.accumulate, hooks.retain = accumulate, retain

    def __exit__(self, kind, error, trace) -> None:
        self._replace(self._walk, self._accumulate, self._retain)
        if isinstance(error, Exception):
            self.note_contributions()
            words = f"{type(error).__name__}: {error}".split("\n", 1)[0]
            self.note("stop", None if self._turn is None else Place(self._turn), words=words)

    def is_ignored(self) -> bool:
        """Whether the event is not to be noted: it is of another thread, or of a backward inside this one."""
        return self._depth != 1 or threading.get_ident() != self._thread

    def note(self, kind: str, place: Place | None, value="", **details) -> None:
        self.notes.append(Note(kind, place, value, **details))

    # -- the wrappers of the engine's functions -------------------------------------------------------

    def walk(self, seeds: list, retain_graph, create_graph, requested=None, capture=True) -> dict:
        walk = partial(self._walk, seeds, retain_graph, create_graph, requested, capture)
        if threading.get_ident() != self._thread:
            return walk()
        if self._depth:
            return self.nested_walk(walk)
        self._depth = 1
        try:
            self.begin(seeds)
            captured = walk()
            self.note_contributions()
            for node, grad in captured.items() if capture else ():
                self.note("capture", place_of(node), text_of(grad))
            return captured
        finally:
            self._depth = 0
            while self._undo:
                self._undo.pop()()

    def nested_walk(self, walk: Callable) -> dict:
        """A backward that a hook or a Function calls: noted, but not followed."""
        self.note("inside", None if self._turn is None else Place(self._turn))
        self._depth += 1
        try:
            return walk()
        finally:
            self._depth -= 1

    def accumulate(self, meta, grad, create_graph: bool) -> None:
        """A leaf's .grad."""
        place = self._owners.get(id(meta))
        if place is None or self.is_ignored():
            self._accumulate(meta, grad, create_graph)
            return
        self.take_turn(place.node, {0: grad})
        before = text_of(meta.grad)
        self._accumulate(meta, grad, create_graph)
        self.note("accumulate", place, text_of(meta.grad), before=before)

    def retain(self, meta, grad) -> None:
        """The .grad of a result that asked with retain_grad()."""
        place = self._owners.get(id(meta))
        if place is None or self.is_ignored():
            self._retain(meta, grad)
            return
        self.take_turn(place.node, {place.index: grad})
        before = text_of(meta.grad)
        self._retain(meta, grad)
        self.note("keep", place, text_of(meta.grad), before=before)

    # -- a walk begins -----------------------------------------------------------------------------

    def begin(self, seeds: list) -> None:
        self._turn, self._returned, self._sums = None, None, {}
        for node in reachable(node for node, _ in seeds):
            self.intercept(node)
        for node, grad in seeds:
            place = place_of(node)
            self.roots.append(place)
            self.note("seed", place, text_of(grad))
            self.add_up(place, grad)

    def intercept(self, node: Node) -> None:
        """Wrap a node's derivatives and hooks."""
        own = node._hooks
        if own is not None:
            for index, found in own.tensor_hooks.items():
                self.replace(found, node, partial(self.on_gradient, index))
            self.replace(own.pre_hooks, node, self.before_rule)
            self.replace(own.post_hooks, node, self.after_rule)
            for index, reference in own.retained.items():
                tensor = reference()
                if tensor is not None:
                    self._owners[id(tensor.materialize_meta())] = Place(node, index)
        if node._kind is LEAF:
            self._owners[id(node._leaf)] = Place(node)
            self.replace(node._leaf.hooks or {}, node, partial(self.on_gradient, 0))
            self.replace(node._leaf.post_hooks or {}, node, self.after_accumulation)
        elif node._kind is not OUTPUT:
            self._undo.append(partial(setattr, node, "_kind", node._kind))
            node._kind = self.watched(node._kind)

    def watched(self, kind: Kind) -> Kind:
        """The same kind, with wrapped derivatives."""
        if kind not in self._kinds:
            other = self._kinds[kind] = copy.copy(kind)
            other.vjp, other.vjp_recorded = partial(self.rule, kind.vjp), partial(self.rule, kind.vjp_recorded)
        return self._kinds[kind]

    def replace(self, found: dict, node: Node, handler: Callable) -> None:
        for key, hook in list(found.items()):
            wrapper: Any = partial(self.call_hook, handler, node, hook)
            wrapper.__name__ = getattr(hook, "__name__", type(hook).__name__)  # errors call hooks by name
            found[key] = wrapper
            self._undo.append(partial(restore_hook, found, key, wrapper, hook))

    # -- what happens at a node ----------------------------------------------------------------------

    def take_turn(self, node: Node, grads: dict) -> None:
        """Note that the engine has come to `node`; `grads` are its complete gradients, by output."""
        if node is not self._turn:
            self.note_contributions()
            self._turn, self._noted_outputs = node, set()
        for index in sorted(grads.keys() - self._noted_outputs):
            self.note("ready", Place(node, index), text_of(grads[index]))
        self._noted_outputs |= grads.keys()

    def rule(self, vjp: Callable, node: Node, grad, next_nodes):
        if self.is_ignored():
            return vjp(node, grad, next_nodes)
        grads = grad if isinstance(grad, dict) else {0: grad}
        self.take_turn(node, grads)
        self.note("rule", Place(node), ", ".join(text_of(grads[index]) for index in sorted(grads)))
        try:
            grads = vjp(node, grad, next_nodes)
        except RuntimeError as error:
            self.note_misfit(node, str(error))
            raise
        self._returned = Returned(node, next_nodes, grads)
        return grads

    def note_misfit(self, node: Node, sentence: str) -> None:
        """All that a Function's backward returns is checked before any of it is passed on: which did not fit?"""
        misfit = re.search(r"an invalid gradient at index (\d+) - got \[(.*?)\]", sentence)
        if misfit:
            position, shape = int(misfit[1]), tuple(map(int, filter(None, misfit[2].split(", "))))
            place = place_of(node._next_nodes[position])
            self.note("refuse", place, f"shape {shape}", source=node, position=position)

    def call_hook(self, handler: Callable, node: Node, hook: Callable, *shown):
        return hook(*shown) if self.is_ignored() else handler(node, hook, *shown)

    def on_gradient(self, index: int, node: Node, hook: Callable, grad):
        """A tensor's hook: it is shown the gradient, and may return another."""
        self.take_turn(node, {index: grad})
        before, at = text_of(grad), self.note_hook(node, hook)
        answer = hook(grad)
        self.notes[at] = self.notes[at]._replace(before=before, value=text_of(grad if answer is None else answer))
        return answer

    def before_rule(self, node: Node, hook: Callable, grads: tuple):
        """A node's prehook."""
        self.take_turn(node, {i: g for i, g in enumerate(grads) if g is not None})
        self.note_hook(node, hook)
        return hook(grads)

    def after_rule(self, node: Node, hook: Callable, grads: tuple, outputs: tuple):
        """A node's hook: what it returns is what the engine passes on."""
        if node._kind is LEAF:
            self.note_hook(node, hook)
            return hook(grads, outputs)
        self.note_hook(node, hook)
        answer = hook(grads, outputs)
        passed = grads if answer is None else answer if isinstance(answer, tuple) else (answer,)
        self._returned = self._returned and self._returned._replace(grads=passed)
        return answer

    def after_accumulation(self, node: Node, hook: Callable, leaf):
        before, at = text_of(leaf.grad), self.note_hook(node, hook)
        answer = hook(leaf)
        self.notes[at] = self.notes[at]._replace(before=before, value=text_of(leaf.grad))
        return answer

    def note_hook(self, node: Node, hook: Callable) -> int:
        """Note that a hook is called. Returns the note's index: its value is filled in after the call."""
        self.note("hook", Place(node), words=getattr(hook, "__name__", type(hook).__name__))
        return len(self.notes) - 1

    # -- the gradients that a node passes to its inputs ------------------------------------------------

    def note_contributions(self) -> None:
        """Note the gradients that the last node has contributed to its inputs: the engine has passed them on by now."""
        returned, self._returned = self._returned, None
        if returned is None:
            return
        node = returned.node
        if node._kind.frees and node._saved is None:
            self.note("free", Place(node))
        for position, (next_node, grad) in enumerate(zip(returned.next_nodes, returned.grads, strict=False)):
            if next_node is None or grad is None:
                continue
            try:
                grad = grad if node._fits else gradients.fit(array_of(grad), next_node, node)
            except (RuntimeError, ValueError):
                self.note("refuse", place_of(next_node), text_of(grad), source=node, position=position)
                return
            place = place_of(next_node)
            total = self.add_up(place, grad)
            self.note("add", place, text_of(grad), before=total, source=node, position=position)

    def add_up(self, place: Place, grad) -> str:
        """Sum a place's gradient, as the engine does: its own sum is cleared by the time that this is noted."""
        array = array_of(grad)
        if array.size > MAX_ELEMENTS:
            return text_of(array)
        here = self._sums.get(place)
        self._sums[place] = array.copy() if here is None else here + array
        return text_of(self._sums[place])


def place_of(node: Node) -> Place:
    """The place of the gradient of a tensor with this node."""
    return Place(operation_of(node), output_nr(node))


def restore_hook(hooks: dict, key, wrapper: Callable, hook: Callable) -> None:
    if hooks.get(key) is wrapper:  # it may have been removed meanwhile
        hooks[key] = hook


def array_of(grad) -> np.ndarray:
    return np.asarray(getattr(grad, "_array", grad))


def text_of(grad) -> str:
    """A gradient in words: small ones by value, others by shape."""
    if grad is None:
        return "None"
    if hasattr(grad, "data_ptr"):  # PyTorch's: no more of it is copied than is shown
        return value_text(grad) or f"shape {tuple(grad.shape)}"
    array = array_of(grad)
    return value_text(array.tolist()) if array.size <= MAX_ELEMENTS else f"shape {array.shape}"
