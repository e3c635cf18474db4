"""What the checks of chapter 10 ask of any engine, a learner's or the small one: its calls counted, its graph drawn.

And `Scalar`, half an engine: the learner writes the walk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from itertools import count
from typing import Any

from minigrad import small_engine
from minigrad.viz import EdgeRecord, GraphRecord, NodeRecord

_numbers = count()


class Scalar:
    """A number that notes where it came from, and with which slopes."""

    def __init__(self, value, name="leaf", next_nodes=(), slopes=()):
        self.value, self.name, self.grad = value, name, 0.0
        self.next_nodes, self.slopes = next_nodes, slopes
        self.number = next(_numbers)

    def __add__(self, other):
        return Scalar(self.value + other.value, "add", (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Scalar(self.value * other.value, "mul", (self, other), (other.value, self.value))

    def __repr__(self):
        return f"Scalar({self.value:g}, grad={self.grad:g})"


def small_with(**steps: Callable) -> type:
    """The Tensor of the small engine, with other functions for some of `record`, `turn` and `arrive`."""
    return type("Tensor", (small_engine.Tensor,), {name: staticmethod(step) for name, step in steps.items()})


class TooMany(BaseException):
    """More calls than any engine needs that walks a graph once."""


class Forbidden(BaseException):
    """A call of a function that may not be called."""


def within(calls: int, function: Callable, *inputs: Any, never: Collection[Callable] = ()) -> Any:
    """Call the function; raise TooMany when that takes more than so many calls, Forbidden when it calls one of `never`.

    Nothing is replaced meanwhile, so a thread that is left behind leaves nothing replaced.
    """
    left, forbidden = calls, {one.__code__ for one in never}

    def watch(frame, event, argument):
        nonlocal left
        left -= event in ("call", "c_call")
        if left < 0 or (event == "call" and frame.f_code in forbidden):
            sys.setprofile(None)
            raise TooMany if left < 0 else Forbidden

    sys.setprofile(watch)
    try:
        return function(*inputs)
    finally:
        sys.setprofile(None)


def graph_of(
    root: Any,
    names: dict[Any, str],
    title: str = "your graph",
    grads: dict | None = None,
    unlike: Collection = (),
) -> GraphRecord:
    """The records of a graph of nodes that have `name` and `next_nodes`, in the form of "what autograd keeps".

    `names` has the nodes of leaves and what is to be written on these, `grads` the gradients of nodes, and `unlike`
    those whose gradient is marked as wrong. Raises AttributeError or TypeError where something else is in the graph.
    """
    ids, waiting = {id(root): "n1"}, [root]
    nodes, edges = [NodeRecord("n0", "output", "result")], [EdgeRecord("n0", "n1", "grad_fn")]
    for node in waiting:
        source, inputs = ids[id(node)], list(node.next_nodes)
        marks = ("guilty",) if node in unlike else ()
        nodes += _records(node, source, inputs, names, grads or {}, marks)
        if not inputs:
            edges.append(EdgeRecord(source, f"{source}leaf", "accumulate"))
        for position, next_node in enumerate(inputs):
            if next_node is None:
                continue
            if id(next_node) not in ids:
                ids[id(next_node)] = f"n{len(ids) + 1}"
                waiting.append(next_node)
            edges.append(EdgeRecord(source, ids[id(next_node)], "next", position))
    return GraphRecord(title, "kept", tuple(nodes), tuple(edges), ("n0",))


def _records(node: Any, source: str, inputs: list, names: dict, grads: dict, marks: tuple) -> list[NodeRecord]:
    if inputs:
        op, note = str(node.name), f"gradient {grads[node]}" if node in grads else ""
        return [NodeRecord(source, "function", f"{op.capitalize()}Backward0", op, note=note, marks=marks)]
    leaf = NodeRecord(f"{source}leaf", "leaf", names.get(node, "a leaf"), grad=grads.get(node, ""), marks=marks)
    return [NodeRecord(source, "accumulate", "AccumulateGrad"), leaf]
