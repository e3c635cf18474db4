"""A film of an engine of your own: of nodes that have a name and next nodes, and of the turns that a walk gave them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .film import Film
from .records import EdgeRecord, GraphRecord, NodeRecord
from .steps import Event
from .trace import Trace
from .watch import text_of


def replay(root: Any, turns: Iterable[tuple], names: Mapping | None = None, width: int | None = None) -> Film:
    """A walk of your own engine as a film, like that of `trace(...).replay()`. There is no PyTorch counterpart.

    `root` is the node where the walk began. A node has a `.name` and its `.next_nodes`, None for an input without
    one. `turns` has a tuple for each turn, in the order of the walk: the node, the gradient that it had then, and the
    parts that went on, one for each next node. Gradients are numbers, arrays, or tensors with an array as `.data`;
    `.grad` is shown as if the walk had found it empty. What goes to a node after its turn is marked "too late".
    `names` gives nodes names, `width` is the most pixels that the film may take.

    >>> from minigrad.small_engine import Node
    >>> x = Node("leaf", ())
    >>> square = Node("mul", (), (x, x))
    >>> replay(square, [(square, 1.0, (3.0, 3.0)), (x, 6.0, ())], names={x: "x"})
    backward from mul in 3 steps
      1  mul starts with the gradient 1.
      2  mul: its turn comes, with 1.
           3. goes to x, as input 0
           3. goes to x, as input 1: 6. so far
      3  x: its turn comes, with 6.
           x.grad: None -> 6.
    what each gradient is made of
      mul: 1. = 1. to start with
      x: 6. = 3. from mul input 0 + 3. from mul input 1
    """
    ids = _ids_behind(root)
    turns = [_checked(turn, ids) for turn in turns]
    trace = Trace(_graph(ids, names or {}), tuple(_events(turns, ids)))
    return trace.replay(width)


def _ids_behind(root) -> dict:
    """Every node that can be reached, with an id, in the order of the visit."""
    ids, waiting = {root: "n0"}, [root]
    for node in waiting:  # grows while it is walked
        for next_node in _next_nodes(node):
            if next_node is not None and next_node not in ids:
                ids[next_node] = f"n{len(ids)}"
                waiting.append(next_node)
    return ids


def _next_nodes(node) -> tuple:
    if not (hasattr(node, "name") and hasattr(node, "next_nodes")):
        raise TypeError(f"replay() needs nodes with .name and .next_nodes, not {type(node).__name__}")
    return tuple(node.next_nodes)


def _checked(turn, ids: dict) -> tuple:
    if not (isinstance(turn, tuple | list) and len(turn) == 3):
        raise TypeError("replay() needs a tuple (node, gradient, parts) for each turn")
    node, grad, parts = turn
    if node not in ids:
        raise ValueError(f"replay() got a turn of {node!r}, which cannot be reached from the root")
    parts, next_nodes = list(parts), _next_nodes(node)
    if len(parts) != len(next_nodes):
        raise ValueError(f"{node.name} has {len(next_nodes)} next nodes, and its turn {len(parts)} parts")
    return node, grad, parts


def _graph(ids: dict, names: Mapping) -> GraphRecord:
    def record(node) -> NodeRecord:
        own = str(names.get(node, ""))
        if not any(_next_nodes(node)):
            return NodeRecord(ids[node], "leaf", own or node.name, grad="None")
        return NodeRecord(ids[node], "function", node.name, note=own)

    edges = [
        EdgeRecord(ids[node], ids[next_node], "next", position)
        for node in ids
        for position, next_node in enumerate(_next_nodes(node))
        if next_node is not None
    ]
    return GraphRecord("what your engine keeps", "kept", tuple(map(record, ids)), tuple(edges), ("n0",))


def _events(turns: list[tuple], ids: dict):
    """What happened, as the events of a trace."""
    arrived: dict = {}
    gone = set()  # the nodes that had their turn
    if turns:
        yield Event("seed", ids[turns[0][0]], value=_text(turns[0][1]))
    for node, grad, parts in turns:
        gone.add(node)
        yield Event("ready", ids[node], value=_text(grad), words="its turn comes, with")
        if not any(_next_nodes(node)):
            yield Event("accumulate", ids[node], value=_text(grad), before="None")
        for position, (next_node, part) in enumerate(zip(_next_nodes(node), parts, strict=True)):
            if next_node is not None and part is not None:
                before = arrived.get(next_node)
                arrived[next_node] = _array(part) if before is None else before + _array(part)
                sent = _text(part) + (" too late" if next_node in gone else "")
                total = sent if before is None else _text(arrived[next_node])
                yield Event("add", ids[next_node], 0, sent, total, ids[node], position)


def _array(value) -> np.ndarray:
    held = getattr(value, "data", None)
    return np.asarray(held if isinstance(held, np.ndarray) else value)


def _text(value) -> str:
    return text_of(_array(value))
