"""Questions to live tensors and nodes: which thing is this, on whose memory, made by which backward?

Everything is answered from what the graph holds anyway. What it does not hold is not guessed: a value that
was computed afresh under no_grad looks like any other constant, and is drawn as one.
"""

import math
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..autograd.graph import FRESH, OUTPUT, Kind, Record, recorded_walks
from .records import is_tensor


def record_of(node):
    """The engine's record of a node; None for a node of PyTorch's."""
    return getattr(node, "record", None)


def reachable(records: Iterable[Record]) -> Iterator[Record]:
    """The records of a graph, each once."""
    stack = list(dict.fromkeys(records))
    found = set(stack)
    while stack:
        record = stack.pop()
        yield record
        for edge in record.edges:
            if edge is not None and edge not in found:
                found.add(edge)
                stack.append(edge)


def kinds_behind(tensors: Iterable[Any]) -> Counter[Kind]:
    """How many operations and leaves of each kind a graph has, counted without looking at a node. Of PyTorch's none."""
    starts = [edge for tensor in tensors if (edge := getattr(tensor, "_edge", None)) is not None]
    counted = Counter(record.kind for record in reachable(starts))
    counted.pop(OUTPUT, None)  # one output of an operation that is counted itself
    return counted


def identity(thing: Any, index: int | str | None = None) -> tuple:
    """What tells this thing from all others, now and after changes, most certain first.

    A tensor is itself for as long as it lives; a leaf is also the end of the graph that it has, a result
    the output of its node, and a node the number that it was given when it was recorded.
    """
    if not is_tensor(thing):
        record = record_of(thing)
        return () if record is None else (("node", record.order, index),)
    if thing.grad_fn is not None:
        return (weakref.ref(thing), *identity(thing.grad_fn, thing.output_nr))
    edge = getattr(thing, "_edge", None)
    return (weakref.ref(thing),) if edge is None else (weakref.ref(thing), ("leaf", edge.order))


# -- memory --------------------------------------------------------------------------------------


def storage(thing: Any) -> int | None:
    """A number that all tensors and NumPy arrays on one memory have in common; None if it is not known."""
    array = thing if isinstance(thing, np.ndarray) else getattr(thing, "_array", None)
    if array is None:
        return None
    while getattr(array, "base", None) is not None:
        array = array.base
    return id(array)


def relation(one: Any, other: Any) -> str:
    """How two that share memory are related, as far as they show it: view, detach, data or numpy."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return "numpy"
    bases = [tensor if tensor._base is None else tensor._base for tensor in (one, other)]
    if bases[0] is bases[1]:
        return "view"
    shared = one._counter is other._counter and one._counter is not FRESH
    return "detach" if shared else "data"


RELATIONS = {
    "view": "view: shared version",
    "detach": "detach(): shared version",
    "data": ".data: own version",
    "numpy": "NumPy: no version",
}


def unrecorded(tensor: Any) -> bool:
    """Whether a tensor is a view that was not recorded: it says that it requires grad, but has no history."""
    edge = getattr(tensor, "_edge", None)
    return edge is not None and tensor.grad_fn is None and edge.leaf.tensor is None


def has_history(tensor: Any) -> bool:
    """Whether a gradient that arrives at a tensor goes anywhere: into a .grad, or on to what it was made from."""
    return tensor.requires_grad and not unrecorded(tensor)


def cut_by(constant: Any, tracked: Any) -> str:
    """What made a tensor without history of the memory of one that has a history."""
    born = getattr(constant._meta, "born", "") or "no_grad"
    made = {"view": born.replace("inference", "inference_mode"), "detach": "detach()", "data": ".data"}
    return made[relation(constant, tracked)]


# -- hooks ---------------------------------------------------------------------------------------


def hooks_text(thing: Any) -> str:
    """How many hooks a tensor or a node has: "2 hooks, 1 prehook"; "" if none."""
    if is_tensor(thing):
        meta = getattr(thing, "_meta", None)
        counts = {"hook": _count(meta, "hooks"), "post-accumulate hook": _count(meta, "post_hooks")}
        if thing.grad_fn is not None:
            extra = getattr(record_of(thing.grad_fn), "extra", None)
            counts["hook"] = len(getattr(extra, "tensor_hooks", {}).get(thing.output_nr, ()))
    else:
        extra = getattr(record_of(thing), "extra", None)
        counts = {"prehook": _count(extra, "pre_hooks"), "hook": _count(extra, "post_hooks")}
    return ", ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count)


def _count(owner: Any, attribute: str) -> int:
    return len(getattr(owner, attribute, None) or ())


# -- generations ---------------------------------------------------------------------------------


def built_by(nodes: Iterable[Any]) -> dict[int, int]:
    """Which backward recorded each node: id of the node -> 1, 2 ... in the order of those backwards.

    Every record has a number, and a walk that records notes the numbers between which it ran. A record was
    made by the innermost walk around its number: that is so however often a graph is differentiated, for
    what comes after a walk, the penalty that you compute from a gradient, has a number beyond it. (What another
    thread records at that very time has a number between them, too, and would be taken for the walk's.)
    """
    walks = sorted(recorded_walks)
    around = _enclosing(walks)
    found = {}
    for node in nodes:
        record = record_of(node)
        if record is not None and record.order < 0:
            number = -record.order
            walk = bisect_right(walks, (number, math.inf)) - 1
            while walk >= 0 and walks[walk][1] < number:
                walk = around[walk]
            if walk >= 0:
                found[id(node)] = walk
    place = {walk: position for position, walk in enumerate(sorted(set(found.values())), 1)}
    return {id: place[walk] for id, walk in found.items()}


def _enclosing(walks: list[tuple[int, int]]) -> list[int]:
    """For each walk the one that it ran inside of (a hook may start one); -1 if there is none."""
    around, open_walks = [], []
    for index, (first, _) in enumerate(walks):
        while open_walks and walks[open_walks[-1]][1] < first:
            open_walks.pop()
        around.append(open_walks[-1] if open_walks else -1)
        open_walks.append(index)
    return around
