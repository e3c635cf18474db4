"""Questions about a recorded graph: which operations, which leaves, which constants?"""

from __future__ import annotations

import weakref
from typing import Any

import minigrad as mg


def operations(tensor: mg.Tensor) -> list[str]:
    """The names of the operations behind a tensor, sorted: ['add', 'mul']."""
    return sorted(node.op_name for node in nodes(tensor) if not hasattr(node, "variable"))


def leaves(tensor: mg.Tensor) -> list[mg.Tensor]:
    """The leaves that backward() from this tensor would reach, each once."""
    if tensor.grad_fn is None:
        return [tensor] if tensor.requires_grad else []
    return [node.variable for node in nodes(tensor) if hasattr(node, "variable")]


def constants(tensor: mg.Tensor) -> list[Any]:
    """The numbers and untracked tensors among the operands, as far as the graph still knows them."""
    found = [one for node in nodes(tensor) for one in getattr(getattr(node, "_node", None), "_constants", None) or ()]
    alive = [one() if isinstance(one, weakref.ref) else one for one in found]
    return [one for one in alive if one is not None]


def ways_to_leaves(tensor: mg.Tensor) -> int:
    """How many edges end in a leaf: more than there are leaves when one is used twice."""
    return sum(map(_edges_to_leaves, nodes(tensor)))


def multiplies_by_itself(tensor: mg.Tensor) -> bool:
    """Whether a multiplication has both its edges end in a leaf: `x * x`."""
    return any(node.op_name == "mul" and _edges_to_leaves(node) > 1 for node in nodes(tensor))


def reaches(tensor: mg.Tensor, leaf: mg.Tensor) -> bool:
    """Whether backward() from this tensor would reach the leaf."""
    return any(found is leaf for found in leaves(tensor))


def is_freed(tensor: Any) -> bool:
    """Whether a backward has gone through the node that made this tensor, and freed what it had saved."""
    node = getattr(tensor, "_node", None)
    return node is not None and node._saved is None


def _edges_to_leaves(node: Any) -> int:
    return sum(hasattr(following, "variable") for following, _ in node.next_functions)


def nodes(tensor: mg.Tensor) -> list[Any]:
    """The functions behind a tensor, each once."""
    return nodes_behind(tensor.grad_fn)


def nodes_behind(*roots: Any) -> list[Any]:
    """These functions and those behind them, each once."""
    seen: dict[int, Any] = {}  # keeps the nodes alive, so that no two have the same id
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node is not None and id(node) not in seen:
            seen[id(node)] = node
            waiting += [following for following, _ in node.next_functions]
    return list(seen.values())


def ways(root: Any) -> int:
    """How many ways lead from a node to the ends of leaves."""
    known: dict[Any, int] = {}

    def from_here(node: Any) -> int:
        if node not in known:
            behind = [following for following, _ in node.next_functions if following is not None]
            known[node] = 1 if hasattr(node, "variable") else sum(map(from_here, behind))
        return known[node]

    return from_here(root)


def is_waiting(y: mg.Tensor | None) -> bool:
    """Whether there is a graph behind `y` of which no walk has freed anything."""
    behind = [] if y is None else nodes(y)
    return bool(behind) and not any(map(is_freed, behind))
