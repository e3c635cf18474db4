"""From the live graph to records: the two views.

"what you wrote" shows tensors and operations, arrows forward; "what autograd keeps" shows grad_fn
and next_functions, arrows backward. Both are walked from the outputs with a stack, never recursively.
"""

import itertools
import re
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .records import (
    EdgeRecord,
    GraphRecord,
    Names,
    NodeRecord,
    dtype_text,
    gradient_of,
    is_tensor,
    value_text,
)

TITLES = {"written": "what you wrote", "kept": "what autograd keeps"}


class Item(NamedTuple):
    """What becomes one node: a tensor, a graph node, output `index` of a node, its constant ..."""

    kind: str
    thing: Any
    index: int = 0

    @property
    def key(self) -> tuple:
        return (self.kind, id(self.thing), self.index)


class Link(NamedTuple):
    """An edge from an item to one of its inputs."""

    item: Item
    role: str
    position: int = 0


def walk(roots: Iterable[Item], links: Callable[[Item], list[Link]]) -> dict[tuple, tuple]:
    """Every item that can be reached, depth first, each once: key -> (item, its links)."""
    reached: dict[tuple, tuple] = {}
    stack = list(roots)[::-1]
    while stack:
        item = stack.pop()
        if item.key not in reached:
            found = links(item)
            reached[item.key] = (item, found)
            stack.extend(link.item for link in reversed(found))
    return reached


class View:
    """What the two views share. A view adds `links(item)` to its inputs and `record(item, id)`."""

    view = ""
    forward = False

    def __init__(self, tensors, names: Names, values: bool = True):
        self.tensors, self.names, self.values = tensors, names, values
        self.extra: list[Item] = []
        self.roots = list({item.key: item for item in map(self.tensor_item, tensors)}.values())

    def tensor_item(self, tensor) -> Item:
        return Item("tensor", tensor)

    def graph(self, ids=None) -> GraphRecord:
        """The records of this view, with ids from the given counter."""
        ids = itertools.count() if ids is None else ids
        reached = walk([*self.roots, *self.extra], self.links)
        named = {key: f"n{next(ids)}" for key in reached}
        nodes = tuple(self.record(item, named[key]) for key, (item, _) in reached.items())
        edges = []
        for key, (_, links) in reached.items():
            for link in links:
                pair = (named[key], named[link.item.key])
                source, target = pair[::-1] if self.forward else pair
                edges.append(EdgeRecord(source, target, link.role, link.position))
        roots = tuple(named[root.key] for root in self.roots)
        return GraphRecord(TITLES[self.view], self.view, nodes, tuple(edges), roots, self.captions())

    def captions(self) -> tuple[str, ...]:
        """A sentence for each tensor that nothing was recorded of: its picture is one lone node."""
        sentences = []
        for tensor in self.tensors:
            name = self.names.of(tensor) or "this tensor"
            if tensor.grad_fn is None and tensor.requires_grad:
                sentences.append(f"{name} is a leaf: no grad_fn")
            elif tensor.grad_fn is None:
                kept = f"autograd keeps nothing for {name}: it needs no gradient"
                sentences.append(kept if self.view == "kept" else f"nothing was recorded: {name} needs no gradient")
        return tuple(dict.fromkeys(sentences))

    def tensor_record(self, id: str, tensor, role: str = "") -> NodeRecord:
        """A tensor with its name, value and gradient. A leaf's role follows from its flag."""
        gradient = gradient_of(tensor)
        shown = tensor.requires_grad and (tensor.grad_fn is None or tensor.retains_grad)
        return NodeRecord(
            id,
            role or ("leaf" if tensor.requires_grad else "constant"),
            name=self.names.of(tensor),
            value=value_text(tensor) if self.values else "",
            shape=tuple(tensor.shape),
            dtype=dtype_text(tensor.dtype),
            grad=_gradient_text(gradient) if shown else "",
            marks=("retained",) if tensor.grad_fn is not None and tensor.retains_grad else (),
        )

    def made_record(self, id: str, tensor) -> NodeRecord:
        """A tensor that an operation made: an output if it was asked for, else an intermediate."""
        drawn = any(tensor is root for root in self.tensors)
        return self.tensor_record(id, tensor, "output" if drawn else "intermediate")


def _gradient_text(gradient) -> str:
    if gradient is None:
        return "None"
    return value_text(gradient) or f"shape {tuple(gradient.shape)}"


class Kept(View):
    """What autograd keeps: the root's grad_fn, next_functions, AccumulateGrad and its leaf."""

    view = "kept"

    def __init__(self, tensors, names, values=True, saved=False, unused=False):
        super().__init__(tensors, names, values)
        self.saved, self.unused = saved, unused
        retained = [Item("tensor", tensor) for tensor in names.held() if tensor.retains_grad]
        reached = walk(self.roots, self.links) if retained else {}
        for item in retained:  # they hang on the graph, but nothing in it leads to them
            if item.key not in reached and Item("node", item.thing.grad_fn).key in reached:
                self.extra.append(item)

    def links(self, item):
        kind, thing, _ = item
        if kind == "tensor":
            made = thing.grad_fn is not None
            return [Link(Item("node", thing.grad_fn), "grad_fn")] if made else []
        if kind != "node":
            return []
        if is_accumulator(thing):
            return [Link(Item("tensor", thing.variable), "accumulate")]
        found = []
        for position, (function, _) in enumerate(thing.next_functions):
            if function is not None:
                found.append(Link(Item("node", function), "next", position))
            elif self.unused:
                found.append(Link(Item("none", thing, position), "none", position))
        if self.saved:
            for i in range(len(saved_state(thing))):
                found.append(Link(Item("saved", thing, i), "saved", len(found)))
        return found

    def record(self, item, id):
        kind, thing, index = item
        if kind == "tensor":
            made = thing.grad_fn is not None
            return self.made_record(id, thing) if made else self.tensor_record(id, thing)
        if kind == "none":
            return NodeRecord(id, "none", name="None")
        if kind == "saved":
            return self.saved_record(id, saved_state(thing)[index])
        if is_accumulator(thing):
            return NodeRecord(id, "accumulate", name="AccumulateGrad")
        held = self.names.output(thing)
        name = self.names.of(held) if held is not None else ""
        return NodeRecord(
            id,
            "function",
            name=type(thing).__name__,
            op=operation(thing),
            note=f"{name}.grad_fn" if name else "",
            marks=("freed",) if getattr(thing, "freed", False) else (),
        )

    def saved_record(self, id, entry) -> NodeRecord:
        name, value, expected, current = entry
        marks = ("freed",) if value is None else ("stale",) if expected != current else ()
        shape = tuple(value.shape) if is_tensor(value) else None
        text = value_text(value)[:24] if value is not None and self.values else ""
        note = f"saved at version {expected}, now {current}" if marks == ("stale",) else ""
        return NodeRecord(id, "saved", name=name, value=text, shape=shape, note=note, marks=marks)


class Written(View):
    """What you wrote: tensors and operations, rebuilt from the graph and the constants it remembers."""

    view = "written"
    forward = True

    def tensor_item(self, tensor):
        if tensor.grad_fn is None:
            return Item("tensor", tensor)
        return Item("made", tensor.grad_fn, tensor.output_nr)

    def links(self, item):
        kind, thing, _ = item
        if kind == "made":
            return [Link(Item("node", thing), "forward")]
        if kind != "node":
            return []
        constants = tuple(getattr(thing, "constants", None) or ())
        found = []
        for position, (function, index) in enumerate(thing.next_functions):
            if function is None:
                operand = self.constant_item(thing, constants, position)
            elif is_accumulator(function):
                operand = Item("tensor", function.variable)
            else:
                operand = Item("made", function, index)
            found.append(operand)
        if operation(thing) == "rsub":  # 2 - x is rsub(x, 2), where the 2 needs no place in the graph
            found = [self.constant_item(thing, constants, 1), *found[:1]]
        return [Link(operand, "forward", position) for position, operand in enumerate(found)]

    def constant_item(self, node, constants, position) -> Item:
        constant = constants[position] if position < len(constants) else None
        if isinstance(constant, weakref.ref):
            constant = constant()
        if constant is None:
            return Item("lost", node, position)
        return Item("tensor", constant) if is_tensor(constant) else Item("number", node, position)

    def record(self, item, id):
        kind, thing, index = item
        if kind == "tensor":
            return self.tensor_record(id, thing)
        if kind == "made":
            held = self.names.output(thing, index)
            if held is not None:
                return self.made_record(id, held)
            shape, dtype = getattr(thing, "shape", None), getattr(thing, "dtype", None)
            if shape and isinstance(shape[0], tuple):  # a node with several outputs
                shape = shape[index]
            shape = None if shape is None else tuple(shape)
            return NodeRecord(id, "intermediate", shape=shape, dtype=dtype_text(dtype))
        if kind == "number":
            return NodeRecord(id, "number", value=value_text(thing.constants[index]))
        if kind == "lost":
            return NodeRecord(id, "number", name="constant")
        op = operation(thing).replace("rsub", "sub")
        return NodeRecord(id, "op", name=_with_number(op, thing), op=op)


def _with_number(op: str, node) -> str:
    """`pow 2` for x ** 2: a Python number there is an option of the operation, not an input."""
    if op != "pow":
        return op
    saved = {entry[0]: entry[1] for entry in saved_state(node)}
    name = "self" if type(node).__name__ == "PowBackward2" else "exponent"
    number = saved.get(name) or ((getattr(node, "constants", None) or ()) + (None, None))[1]
    if not isinstance(number, int | float):
        return op
    return f"{value_text(number)} **" if name == "self" else f"pow {value_text(number)}"


def is_accumulator(node) -> bool:
    """Whether the node is the AccumulateGrad of a leaf."""
    return type(node).__name__ == "AccumulateGrad"


def operation(node) -> str:
    """mul for MulBackward0; a Function's own name for the node that it made."""
    return getattr(node, "op_name", "") or re.sub(r"Backward\d*$", "", type(node).__name__).lower()


def saved_state(node) -> list[tuple]:
    """(name, value, version when saved, version now) of what a node saved; value None once freed."""
    if hasattr(node, "saved_state"):
        return node.saved_state()
    found = [(name[7:], peek(node, name)) for name in dir(node) if name.startswith("_saved_")]
    return [(n, None if v is FREED else v, None, None) for n, v in found if v is not None]


FREED = object()


def peek(node, attribute: str):
    """What a node saved under that name; FREED where PyTorch refuses because a backward freed it."""
    try:
        return getattr(node, attribute)
    except RuntimeError:
        return FREED


def collect(tensors, view="kept", names=None, ids=None, values=True, saved=False, unused=False):
    """The GraphRecord of one view of what `tensors` were made from."""
    names = Names(tensors) if names is None else names
    if view == "kept":
        return Kept(tensors, names, values, saved, unused).graph(ids)
    return Written(tensors, names, values).graph(ids)
