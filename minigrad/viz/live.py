"""What live tensors and nodes tell about themselves: identity, memory, hooks, and the backward that recorded them.

This is all that the records need to know of a graph: here it is read from minigrad's, in `pytorch.py` from PyTorch's.

Everything is read from what the graph keeps anyway. What it does not keep is not guessed: a value that was computed
under no_grad looks like any other constant, and is drawn as one.
"""

import math
import sys
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..autograd import forward_ad
from ..autograd.node import LEAF, Node, Packed, recorded_walks
from ..autograd.outputs import OUTPUT
from ..autograd.versions import FRESH
from . import pytorch
from .lines import last_log
from .records import is_tensor


def engine_node(thing) -> Node | None:
    """The engine's node of a tensor or a grad_fn; None where there is none, as for those of PyTorch."""
    return getattr(thing, "_node", None)


class Saved(NamedTuple):
    """One saved value of a node. Its versions are None where it has none."""

    name: str
    value: Any
    expected_version: int | None
    current_version: int | None


def saved_state(node: Any) -> list[Saved]:
    """What a node, of either framework, saved; the value is None once freed."""
    own = engine_node(node)
    return [Saved(*entry) for entry in pytorch.saved_values(node)] if own is None else saved_values(own)


def tangent_of(tensor: Any):
    """The tangent of a tensor in forward mode; None if it has none, as always outside of ``dual_level()``."""
    theirs = engine_node(tensor) is None and pytorch.is_theirs(tensor)
    mode = sys.modules["torch"].autograd.forward_ad if theirs else forward_ad
    return mode.unpack_dual(tensor).tangent


def constants_of(node: Any) -> tuple:
    """Per input: None where it is tracked, else the Python number, the tensor or a weakref to it, if it is known."""
    own = engine_node(node)
    return pytorch.constants(node) if own is None else own._constants or (None,) * len(own._next_nodes)


def output_like(node: Any, index: int) -> tuple:
    """(shape, dtype) of one of a node's outputs."""
    own = engine_node(node)
    if own is None:
        return pytorch.output_like(node, index)
    several = own._shape and isinstance(own._shape[0], tuple)
    return own._shape[index] if several else own._shape, own._dtype


def state_marks(node: Any) -> tuple[str, ...]:
    """`freed` after a backward has freed the saved values; `fails` if one of them has been overwritten since."""
    own = engine_node(node)
    state = saved_state(node) if own is None or own._saved is not None else []
    if own is not None and own._saved is None:
        return ("freed",)
    if any(then != now for _, _, then, now in state):
        return ("fails",)
    return ("freed",) if own is None and any(value is None for _, value, _, _ in state) else ()


def saved_values(node: Node) -> list[Saved]:
    """What is saved, with its version then and now. Never raises: broken graphs are drawn too."""
    kind, saved = node._kind, node._saved
    options = zip(kind.option_names, node._options if kind.option_names else (), strict=True)
    found = [Saved(name, value, None, None) for name, value in options if name[0] != "_"]
    if saved is None:
        return [*(Saved(name, None, None, None) for name in kind.saved_names if name), *found]
    kept = [(i, name) for i, name in enumerate(kind.saved_names) if name and saved[i] is not None]
    entries = [(saved[i], None, None) if isinstance(saved[i], Packed) else node._entry(i) for i, _ in kept]
    return [*(Saved(name, *entry) for (_, name), entry in zip(kept, entries, strict=True)), *found]


def reachable(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes of a graph, each once."""
    stack = list(dict.fromkeys(nodes))
    found = set(stack)
    while stack:
        node = stack.pop()
        yield node
        for next_node in node._next_nodes:
            if next_node is not None and next_node not in found:
                found.add(next_node)
                stack.append(next_node)


def count_kinds(things: Iterable[Any]) -> tuple[Counter[type], int]:
    """How many operations of each kind the graph of tensors or nodes has, and how many leaves."""
    things = list(things)
    counted = Counter(node._kind for node in reachable(filter(None, map(engine_node, things))))
    counted.pop(OUTPUT, None)  # one output of an operation that is counted itself
    leaves = counted.pop(LEAF, 0)
    kinds: Counter[type] = Counter()
    for kind, count in counted.items():
        kinds[kind.grad_fn_class] += count
    nodes = [t.grad_fn if is_tensor(t) else t for t in things if engine_node(t) is None]
    kinds.update(type(node) for node in pytorch.reachable(nodes))
    theirs = [kind for kind in kinds if kind.__name__ == "AccumulateGrad"]
    return kinds, leaves + sum(kinds.pop(kind) for kind in theirs)


def identity(thing: Any, index: int | str | None = None) -> tuple:
    """Keys by which the same thing is found again after changes, most certain first.

    The key of a tensor is a weak reference to it. A leaf has the number of its AccumulateGrad besides, a result that of
    its node with the index of the output; the key of a node is the number that it got when it was recorded.
    """
    if not is_tensor(thing):
        node = engine_node(thing)
        if node is None and hasattr(thing, "variable"):
            return (("leaf", id(thing.variable)),)
        return (("node", -pytorch.order(thing) if node is None else node._order, index),)
    if thing.grad_fn is not None:
        return (weakref.ref(thing), *identity(thing.grad_fn, thing.output_nr))
    node = engine_node(thing)
    return (weakref.ref(thing),) if node is None else (weakref.ref(thing), ("leaf", node._order))


# -- memory --------------------------------------------------------------------------------------


def storage(thing: Any) -> int | None:
    """A number that all tensors and NumPy arrays on one memory have in common; None if it is not known."""
    if not is_tensor(thing) and not isinstance(thing, np.ndarray):
        return None
    array: Any = thing if isinstance(thing, np.ndarray) else getattr(thing, "_array", None)
    while getattr(array, "base", None) is not None:
        array = array.base
    if array is None or is_tensor(array):  # PyTorch's: its own, or the one that an array came from
        return pytorch.memory(thing if array is None else array)
    return id(array)


def relation(one: Any, other: Any) -> str:
    """How two that share memory are related, as far as they show it: view, detach, data or numpy."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return "numpy"
    bases = [tensor if tensor._base is None else tensor._base for tensor in (one, other)]
    if bases[0] is bases[1]:
        return "view"
    if pytorch.is_theirs(one):
        return "detach" if pytorch.shares_version(one, other) else "data"
    shared = one._version_counter is other._version_counter and one._version_counter is not FRESH
    return "detach" if shared else "data"


RELATIONS = {
    "view": "view: shared version",
    "detach": "detach(): shared version",
    "data": ".data: own version",
    "numpy": "NumPy: no version",
}


def unrecorded(tensor: Any) -> bool:
    """Whether a tensor is a view that was not recorded: it says that it requires grad, but has no history."""
    node = engine_node(tensor)
    return node is not None and tensor.grad_fn is None and node._leaf.tensor is None


def has_history(tensor: Any) -> bool:
    """Whether a tensor's gradient is used: accumulated into a .grad, or passed on to its inputs."""
    return tensor.requires_grad and not unrecorded(tensor)


def cut_by(constant: Any, tracked: Any) -> str:
    """What made a tensor without history on the memory of one that has a history: detach(), no_grad ..."""
    theirs = pytorch.is_theirs(constant)
    view = (pytorch.creation_meta(constant) if theirs else getattr(constant._meta, "creation_meta", "")) or "no_grad"
    made = {"view": view.replace("inference", "inference_mode"), "detach": "detach()", "data": ".data"}
    return made[relation(constant, tracked)]


# -- hooks ---------------------------------------------------------------------------------------


def hooks_text(thing: Any) -> str:
    """How many hooks a tensor or a node has: "2 hooks, 1 prehook"; "" if none."""
    counts: dict[str, int]
    if pytorch.is_theirs(thing):
        counts = pytorch.hook_counts(thing)
    elif is_tensor(thing):
        meta = getattr(thing, "_meta", None)
        counts = {"hook": _count(meta, "hooks"), "post-accumulate hook": _count(meta, "post_hooks")}
        if thing.grad_fn is not None:
            hooks = getattr(engine_node(thing.grad_fn), "_hooks", None)
            counts["hook"] = len(getattr(hooks, "tensor_hooks", {}).get(thing.output_nr, ()))
    else:
        hooks = getattr(engine_node(thing), "_hooks", None)
        counts = {"prehook": _count(hooks, "pre_hooks"), "hook": _count(hooks, "post_hooks")}
    return ", ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count)


def _count(owner: Any, attribute: str) -> int:
    return len(getattr(owner, attribute, None) or ())


# -- generations ---------------------------------------------------------------------------------


def built_by(nodes: Iterable[Any]) -> dict[int, int]:
    """Which backward recorded each node: id of the node -> 1, 2 ... in the order of those backwards.

    Every node has a number, and a walk with create_graph=True notes the first and last number of its time. A node
    was made by the innermost walk whose numbers enclose its own. What you compute from the gradients afterwards has a
    number beyond those of the walk. (What another thread records during the walk is taken for the walk's.) PyTorch
    notes no such numbers: of its walks those are known that ran in a `lines` block.
    """
    nodes = list(nodes)
    theirs = any(engine_node(node) is None for node in nodes)
    log = last_log() if theirs else None
    noted = recorded_walks if not theirs else [] if log is None else log.recorded_walks("torch")
    numbers = {}
    for node in nodes:
        own = engine_node(node)
        number = pytorch.order(node) if own is None else -own._order
        if number > 0 and theirs == (own is None):
            numbers[id(node)] = number
    oldest = min(numbers.values(), default=math.inf)
    walks = sorted(walk for walk in list(noted) if walk[1] >= oldest)  # thousands may have ended before
    enclosing = _enclosing(walks)
    found = {}
    for key, number in numbers.items():
        walk = bisect_right(walks, (number, math.inf)) - 1
        while walk >= 0 and walks[walk][1] < number:
            walk = enclosing[walk]
        if walk >= 0:
            found[key] = walk
    place = {walk: position for position, walk in enumerate(sorted(set(found.values())), 1)}
    return {id: place[walk] for id, walk in found.items()}


def _enclosing(walks: list[tuple[int, int]]) -> list[int]:
    """For each walk the index of the walk that it ran in (a hook may start one); -1 if there is none."""
    enclosing: list[int] = []
    open_walks: list[int] = []
    for index, (first, _) in enumerate(walks):
        while open_walks and walks[open_walks[-1]][1] < first:
            open_walks.pop()
        enclosing.append(open_walks[-1] if open_walks else -1)
        open_walks.append(index)
    return enclosing
