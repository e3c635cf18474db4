"""PyTorch's graph, as far as it shows itself: what `live` reads from minigrad's, read from PyTorch's tensors and nodes.

minigrad never imports PyTorch; this works on the objects that it is given.
"""

import re
import traceback
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

FREED = object()
LEAF_NUMBER = 2**64 - 1


class Overwritten(NamedTuple):
    """In the place of a saved value that PyTorch no longer shows: what its sentence says of it."""

    words: str
    expected: int
    current: int


@cache
def saved_names(kind: type) -> tuple[str, ...]:
    """The names under which nodes of a class show what they saved."""
    return tuple(name for name in dir(kind) if name.startswith("_saved_"))


def saved(node: Any) -> list[tuple[str, Any]]:
    """(name, value) of what a node saved; the value is FREED or Overwritten where PyTorch refuses to show it."""
    found = [(name[7:], peek(node, name)) for name in saved_names(type(node))]
    if not found and hasattr(type(node), "saved_tensors"):  # a Function's
        tensors = peek(node, "saved_tensors")
        several = tensors if isinstance(tensors, tuple) and not isinstance(tensors, Overwritten) else (tensors,)
        found = [(f"saved_tensors[{i}]", each) for i, each in enumerate(several)]
    return [(name, value) for name, value in found if value is not None]


def peek(node: Any, attribute: str) -> Any:
    """What a node saved under that name; FREED or Overwritten where PyTorch refuses."""
    try:
        return getattr(node, attribute)
    except RuntimeError as error:
        return overwritten(str(error)) or FREED


def overwritten(sentence: str) -> Overwritten | None:
    """What PyTorch's sentence says of a value that was overwritten; None if it is another sentence."""
    found = re.search(r"\[([\w.]*Tensor) (\[.*?\])\].* is at version (\d+); expected version (\d+)", sentence)
    if found is None:
        return None
    kind, shape, current, expected = found.groups()
    return Overwritten(f"{kind.removeprefix('torch.')} {shape}", int(expected), int(current))


def order(node: Any) -> int:
    """The number of a node: higher for what was recorded later; 0 for an AccumulateGrad."""
    number = getattr(node, "_sequence_nr", int)()
    return 0 if number == LEAF_NUMBER else number + 1


def reachable(nodes: Iterable[Any]) -> list[Any]:
    """The nodes of a graph, each once, the latest first: in the order of a backward."""
    found: dict[Any, None] = {}
    stack = [node for node in nodes if node is not None]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack.extend(following for following, _ in node.next_functions if following is not None)
    return sorted(found, key=order, reverse=True)


def culprits(roots: Iterable[Any], error: BaseException) -> list[Any]:
    """The nodes that refuse as the error says, in the order of a backward.

    Of a second backward these are all that are freed: those that this backward itself came by are freed, too.
    """
    sentence = str(error)
    stale, found = overwritten(sentence), []
    for node in reachable(root.grad_fn for root in roots):
        for _, value in saved(node):
            if stale is None and value is FREED:
                found.append(node)
                break
            if isinstance(value, Overwritten) and stale is not None and value[:3] == stale[:3]:
                return [node]
    return found


def subjects(error: BaseException) -> tuple:
    """What a call of PyTorch's that is written in Python was given: the tensors that a backward started from."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        known, name = frame.f_locals, frame.f_code.co_name
        if not str(frame.f_globals.get("__name__")).startswith("torch"):
            continue
        given = {"backward": ("tensors", "self"), "grad": ("inputs", "outputs")}.get(name, ("self",))
        found = [each for key in given for each in _listed(known.get(key)) if hasattr(each, "grad_fn")]
        if found:
            return tuple(found)
    return ()


def _listed(value: Any) -> tuple:
    return tuple(value) if isinstance(value, list | tuple) else () if value is None else (value,)
