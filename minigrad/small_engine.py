"""A small engine: what happens between ``y = x * w`` and ``x.grad``, in one file. Read this before anything else.

>>> x, w = Tensor(2.0, requires_grad=True), Tensor(3.0, requires_grad=True)
>>> (x * w).backward()
>>> x.grad, w.grad
(Tensor(3.0), Tensor(2.0))

In the order in which that runs: nodes and tensors; an operation, which records a node; backward, which walks from
node to node; the table of operations. README.md leads from each part to that of minigrad, and so does chapter 10.
"""

from heapq import heappop, heappush
from inspect import signature
from itertools import count

import numpy as np

numbers = count()


class Node:
    """One recorded operation; or a leaf, which no operation made."""

    recording = True  # grad mode: whether operations are recorded

    def __init__(self, name, shape, next_nodes=(), rules=(), saved=()):
        self.number = next(numbers)  # the newer, the larger
        self.name, self.shape = name, shape  # of the operation, and of its result
        self.next_nodes = next_nodes  # for each input its node, None if it needs no gradient
        self.rules = rules  # for each input its derivative: from the result's gradient to the input's
        self.saved = dict(saved)  # what the rules need, name -> (tensor, version); None once it is freed
        self.leaf = None  # of a leaf: the tensor, which has the .grad

    def __repr__(self):
        return f"<{self.name}>"


class Tensor:
    """An array. It requires grad if it has a node. (Its operations are at the end of the file.)"""

    __array_priority__ = 1  # so that `array * tensor` asks the tensor

    def __init__(self, data, requires_grad=False):
        self.data, self.grad, self.node = np.array(data, dtype=float), None, None
        self.version = 0  # how often the array was overwritten
        if requires_grad:
            self.node = Node("leaf", self.data.shape)
            self.node.leaf = self

    def sub_(self, amount):
        self.data -= amount
        self.version += 1

    def __repr__(self):
        return f"Tensor({self.data.tolist()})"


def op(name, forward, **rules):
    """An operation: the forward on arrays, and for each input a rule that makes its gradient."""

    def apply(first, *others):
        cls = type(first)
        inputs = [first] + [other if isinstance(other, Tensor) else cls(other) for other in others]
        result = cls(forward(*[tensor.data for tensor in inputs]))
        if Node.recording:
            result.node = cls.record(apply, inputs, result.data.shape)
        return result

    apply.name, apply.rules = name, rules
    return apply


def record(op, inputs, shape):
    """The node of an operation that has just run; None if no input needs a gradient."""
    next_nodes = [tensor.node for tensor in inputs]
    if not any(next_nodes):
        return None
    by_name, saved = dict(zip(op.rules, inputs, strict=True)), {}
    for next_node, rule in zip(next_nodes, op.rules.values(), strict=True):
        if next_node:  # if not, the rule is never called: nothing is saved for it
            for name in needs(rule):
                saved[name] = by_name[name], by_name[name].version
    return Node(op.name, shape, next_nodes, list(op.rules.values()), saved)


def needs(rule):  # besides the gradient: the names of its other parameters
    return list(signature(rule).parameters)[1:]


def backward(output, retain_graph=False, create_graph=False):
    """Add the gradients of a tensor to the .grad of the leaves it was made from; recorded, with `create_graph`."""
    before, Node.recording = Node.recording, create_graph
    try:
        walk(output.node, type(output)(np.ones(output.data.shape)), retain_graph or create_graph)
    finally:
        Node.recording = before


def walk(root, gradient, retain_graph):
    """Give each node its turn, the newest first: its gradient is complete, as all that used its result is newer."""
    cls, grads = type(gradient), {root: gradient}  # node -> the sum of the parts of its gradient so far
    heap = [(-root.number, root)]  # the nodes that wait; the smallest entry comes out first
    while heap:
        node = heappop(heap)[1]
        grad = grads.pop(node)
        if node.leaf:
            accumulate(node.leaf, grad)
        for next_node, part in zip(node.next_nodes, cls.turn(node, grad, retain_graph), strict=True):
            if next_node and next_node not in grads:
                heappush(heap, (-next_node.number, next_node))
            if next_node:
                cls.arrive(grads, next_node, part)


def turn(node, grad, retain_graph):
    """Apply the rules: for each next node a part of its gradient. Then free what was saved."""
    if node.saved is None:
        raise RuntimeError("Trying to backward through the graph a second time")
    for tensor, version in node.saved.values():
        if tensor.version != version:
            raise RuntimeError("one of the variables needed has been modified by an inplace operation")
    parts = []
    for next_node, rule in zip(node.next_nodes, node.rules, strict=True):
        saved = [node.saved[name][0] for name in needs(rule)] if next_node else []
        parts.append(rule(grad, *saved) if next_node else None)
    if node.saved and not retain_graph:  # a node that saved nothing can be walked again
        node.saved = None
    return parts


def arrive(grads, next_node, part):
    """Undo broadcasting, and add the part to the gradient of the next node."""
    if part.data.shape != next_node.shape:
        part = sum_to(part, next_node.shape)
    grads[next_node] = grads[next_node] + part if next_node in grads else part


def accumulate(leaf, grad):  # + makes a new tensor: another leaf may have got the same `grad`
    leaf.grad = grad + (0.0 if leaf.grad is None else leaf.grad)


add = op("add", np.add, a=lambda grad: grad, b=lambda grad: grad)
sub = op("sub", np.subtract, a=lambda grad: grad, b=lambda grad: grad * -1.0)
mul = op("mul", np.multiply, a=lambda grad, b: grad * b, b=lambda grad, a: grad * a)
mm = op("mm", np.matmul, a=lambda grad, b: grad @ b.t(), b=lambda grad, a: a.t() @ grad)
t = op("t", np.transpose, a=lambda grad: grad.t())
exp = op("exp", np.exp, a=lambda grad, a: grad * a.exp())
log = op("log", np.log, a=lambda grad, a: grad * a**-1.0)
tanh = op("tanh", np.tanh, a=lambda grad, a: grad - grad * a.tanh() * a.tanh())


def power(a, n):  # n is a number and no input: each call makes an operation of its own
    return op("pow", lambda a: a**n, a=lambda grad, a: grad * n * a ** (n - 1.0))(a)


def sum_to(a, shape=()):  # undoes broadcasting: sums over new dimensions, and over those that had length 1
    before, new = a.data.shape, a.data.ndim - len(shape)
    axes = tuple(range(new)) + tuple(new + i for i, length in enumerate(shape) if length == 1)
    return op("sum", lambda a: a.sum(axes, keepdims=True).reshape(shape), a=lambda grad: grad * np.ones(before))(a)


Tensor.__add__ = Tensor.__radd__ = add
Tensor.__mul__ = Tensor.__rmul__ = mul
Tensor.__sub__, Tensor.__matmul__, Tensor.__pow__ = sub, mm, power
Tensor.t, Tensor.exp, Tensor.log, Tensor.tanh, Tensor.sum, Tensor.backward = t, exp, log, tanh, sum_to, backward
# Called through the class of the tensors, so that a subclass can override them.
Tensor.record, Tensor.turn, Tensor.arrive = staticmethod(record), staticmethod(turn), staticmethod(arrive)
