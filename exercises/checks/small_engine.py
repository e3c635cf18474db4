"""The small engine of chapter 10, in parts, so that a learner's own part can take the place of one.

`Scalar` has slopes as numbers. `Tensor` has rules: its `parts` are the three functions that its engine
consists of, `record`, `turn` and `arrive`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from heapq import heappop, heappush
from inspect import signature
from itertools import count
from typing import Any

import numpy as np

from minigrad.viz import EdgeRecord, GraphRecord, NodeRecord

_numbers = count()


class Scalar:
    """A number that notes where it came from, and with which slopes."""

    def __init__(self, value, name="leaf", edges=(), slopes=()):
        self.value, self.name, self.grad = value, name, 0.0
        self.edges, self.slopes = edges, slopes
        self.number = next(_numbers)

    def __add__(self, other):
        return Scalar(self.value + other.value, "add", (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Scalar(self.value * other.value, "mul", (self, other), (other.value, self.value))

    def __repr__(self):
        return f"Scalar({self.value:g}, grad={self.grad:g})"


class Node:
    """One recorded operation, or the end of the graph at a leaf."""

    recording = True

    def __init__(self, name, shape, edges=(), rules=(), saved=()):
        self.number = next(_numbers)
        self.name, self.shape, self.edges = name, shape, edges
        self.rules, self.saved, self.leaf = rules, dict(saved), None

    def __repr__(self):
        return f"<{self.name}>"


def asked(rule: Callable) -> list[str]:
    """The names of what a rule uses besides the gradient."""
    return [*signature(rule).parameters][1:]


# --- The three parts, as they should be ----------------------------------------------------------


def record(op, inputs, shape):
    """The node of an operation that has just run; None if nobody needs its gradient."""
    edges = [one.node for one in inputs]
    if not any(edges):
        return None
    named = dict(zip(op.rules, inputs, strict=True))
    needed = [who for edge, rule in zip(edges, op.rules.values(), strict=True) if edge for who in asked(rule)]
    saved = {who: (named[who], named[who].version) for who in needed}
    return Node(op.name, shape, edges, [*op.rules.values()], saved)


def turn(node, grad, retain_graph):
    """The gradients of a node's inputs, and the release of what it saved."""
    if node.saved is None:
        raise RuntimeError("Trying to backward through the graph a second time")
    for tensor, version in node.saved.values():
        if tensor.version != version:
            raise RuntimeError("one of the variables needed has been modified by an inplace operation")
    kept = {name: tensor for name, (tensor, _) in node.saved.items()}
    pairs = zip(node.edges, node.rules, strict=True)
    grads = [rule(grad, *[kept[name] for name in asked(rule)]) if edge else None for edge, rule in pairs]
    if node.saved and not retain_graph:
        node.saved = None
    return grads


def arrive(gathered, edge, part):
    """Fit a part of a gradient to its tensor, and add it to what has come by other ways."""
    if part.data.shape != edge.shape:
        part = part.sum(edge.shape)
    gathered[edge] = gathered[edge] + part if edge in gathered else part


@dataclass(frozen=True)
class Parts:
    """What an engine consists of besides its table and its walk."""

    record: Callable = record
    turn: Callable = turn
    arrive: Callable = arrive


# --- The tensor, its walk and its table ----------------------------------------------------------


class Tensor:
    """An array with a node. A subclass may have other `parts`."""

    __array_priority__ = 1
    parts = Parts()

    def __init__(self, data, requires_grad=False):
        self.data, self.version = np.array(data, dtype=float), 0
        self.grad: Any = None
        self.node: Any = None
        if requires_grad:
            self.node = Node("leaf", self.data.shape)
            self.node.leaf = self

    def __repr__(self):
        return f"Tensor({self.data.tolist()})"

    def sub_(self, amount):
        """Overwrite the numbers, and count it."""
        self.data -= amount
        self.version += 1

    def backward(self, retain_graph=False, create_graph=False):
        """Walk from here to the leaves, the newest node first."""
        before, Node.recording = Node.recording, create_graph
        try:
            self._walk(type(self)(np.ones(self.data.shape)), retain_graph or create_graph)
        finally:
            Node.recording = before

    def _walk(self, gradient, retain_graph):
        gathered, waiting = {self.node: gradient}, [(-self.node.number, self.node)]
        while waiting:
            node = heappop(waiting)[1]
            grad = gathered.pop(node)
            if node.leaf:
                node.leaf.grad = grad + (node.leaf.grad or 0.0)
            for edge, part in zip(node.edges, self.parts.turn(node, grad, retain_graph), strict=True):
                if edge and edge not in gathered:
                    heappush(waiting, (-edge.number, edge))
                if edge:
                    self.parts.arrive(gathered, edge, part)

    def sum(self, shape=()):
        """The sum, down to a shape that was broadcast to this one."""
        before, added = self.data.shape, self.data.ndim - len(shape)
        axes = (*range(added), *[added + i for i, length in enumerate(shape) if length == 1])
        rules = {"a": lambda grad: grad * np.ones(before)}
        return Op("sum", lambda a: a.sum(axes, keepdims=True).reshape(shape), rules)(self)

    def __pow__(self, n):
        return Op("pow", lambda a: a**n, {"a": lambda grad, a: grad * n * a ** (n - 1.0)})(self)


class Op:
    """A row of the table, ready to be called."""

    def __init__(self, name: str, forward: Callable, rules: dict[str, Callable]):
        self.name, self.forward, self.rules = name, forward, rules

    def __call__(self, *operands):
        kind = next(type(one) for one in operands if isinstance(one, Tensor))
        inputs = [one if isinstance(one, Tensor) else kind(one) for one in operands]
        result = kind(self.forward(*[one.data for one in inputs]))
        if Node.recording:
            result.node = kind.parts.record(self, inputs, result.data.shape)
        return result

    def method(self) -> Callable:
        """The same as a function, which a class binds to its tensors."""
        return lambda *operands: self(*operands)


_add = Op("add", np.add, {"a": lambda grad: grad, "b": lambda grad: grad}).method()
_mul = Op("mul", np.multiply, {"a": lambda grad, b: grad * b, "b": lambda grad, a: grad * a}).method()
Tensor.__add__ = Tensor.__radd__ = _add
Tensor.__mul__ = Tensor.__rmul__ = _mul
Tensor.__sub__ = Op("sub", np.subtract, {"a": lambda grad: grad, "b": lambda grad: grad * -1.0}).method()
Tensor.__matmul__ = Op("mm", np.matmul, {"a": lambda grad, b: grad @ b.t(), "b": lambda grad, a: a.t() @ grad}).method()
Tensor.t = Op("t", np.transpose, {"a": lambda grad: grad.t()}).method()
Tensor.exp = Op("exp", np.exp, {"a": lambda grad, a: grad * a.exp()}).method()
Tensor.log = Op("log", np.log, {"a": lambda grad, a: grad * a**-1.0}).method()
Tensor.tanh = Op("tanh", np.tanh, {"a": lambda grad, a: grad - grad * a.tanh() * a.tanh()}).method()


# --- What the checks ask of any such engine ------------------------------------------------------


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
    """The records of a graph of nodes with a name and edges, in the form of "what autograd keeps".

    `names` has the nodes of leaves and what is to be written on these, `grads` the gradients of nodes, and `unlike`
    those whose gradient is marked as wrong. Raises AttributeError or TypeError where something else is in the graph.
    """
    ids, waiting = {id(root): "n1"}, [root]
    nodes, edges = [NodeRecord("n0", "output", "result")], [EdgeRecord("n0", "n1", "grad_fn")]
    for node in waiting:
        source, inputs = ids[id(node)], list(node.edges)
        marks = ("guilty",) if node in unlike else ()
        nodes += _records(node, source, inputs, names, grads or {}, marks)
        if not inputs:
            edges.append(EdgeRecord(source, f"{source}leaf", "accumulate"))
        for position, edge in enumerate(inputs):
            if edge is None:
                continue
            if id(edge) not in ids:
                ids[id(edge)] = f"n{len(ids) + 1}"
                waiting.append(edge)
            edges.append(EdgeRecord(source, ids[id(edge)], "next", position))
    return GraphRecord(title, "kept", tuple(nodes), tuple(edges), ("n0",))


def _records(node: Any, source: str, inputs: list, names: dict, grads: dict, marks: tuple) -> list[NodeRecord]:
    if inputs:
        op, note = str(node.name), f"gradient {grads[node]}" if node in grads else ""
        return [NodeRecord(source, "function", f"{op.capitalize()}Backward0", op, note=note, marks=marks)]
    leaf = NodeRecord(f"{source}leaf", "leaf", names.get(node, "a leaf"), grad=grads.get(node, ""), marks=marks)
    return [NodeRecord(source, "accumulate", "AccumulateGrad"), leaf]
