"""What autograd keeps: nodes, the edges between them, and the values saved for backward.

    y = x * w        x, w leaves          y.grad_fn ──► MulBackward0
                                                         ├─ edges[0] ──► AccumulateGrad ──► x
                                                         └─ edges[1] ──► AccumulateGrad ──► w

A node is made when an operation is recorded and points at the nodes of its inputs, never at its own
output: so dropping the last name of an output frees the whole graph behind it.

PyTorch counterpart: ``torch/autograd/graph.py`` and ``torch/csrc/autograd/{function,saved_variable}.h``.
"""

import itertools
import weakref
from typing import Any, NamedTuple

from ..messages import MODIFIED, SECOND_TIME, refuse

# Numbers count down so that the newest node is the smallest and a heap pops it first. An op's number is
# negative and a leaf's positive: leaves come last, when all their contributions are there.
_op_order = itertools.count(-1, -1)
next_op_order = _op_order.__next__
_next_leaf_order = itertools.count(1).__next__

# The version counter of every tensor that nobody has modified or aliased yet; see Tensor._counter.
FRESH = (0,)


class Saved(NamedTuple):
    """One saved value of a node, as pictures show it."""

    name: str
    value: Any
    expected_version: int | None
    current_version: int | None


class NodeExtra:
    """What few nodes have: hooks and metadata. Kept apart so that all other nodes stay small."""

    __slots__ = ("metadata", "post_hooks", "pre_hooks", "retained", "tensor_hooks")

    def __init__(self):
        self.metadata = {}
        self.tensor_hooks: dict = {}  # output index -> {handle id: hook}
        self.retained: dict = {}  # output index -> weakref of the tensor whose .grad is kept
        self.pre_hooks: dict = {}
        self.post_hooks: dict = {}


class Node:
    """One recorded operation: it turns the gradient of its output into gradients of its inputs.

    ``edges`` has one entry per input: the node that the input came from, or None where no gradient is
    needed. ``saved`` holds what the derivatives mention; None once it has been freed.
    PyTorch counterpart: ``torch.autograd.graph.Node``.
    """

    __slots__ = (
        "__weakref__",
        "constants",  # per input without an edge: the Python number, or a weakref to the tensor
        "dtype",
        "edges",
        "extra",
        "order",
        "pending",  # the gradient gathered so far, during a backward
        "saved",
        "shape",
    )
    op_name = ""
    saved_names: tuple = ()  # the names of `saved`'s entries; "" for a version or counter
    outputs = 1
    frees = False  # whether a backward frees `saved`; False where it holds options only

    def name(self) -> str:
        """The node's name; for recorded operations the name of its class."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple:
        """Pairs (node, index of that node's output), one per input; (None, 0) where none is needed."""
        return tuple((None, 0) if edge is None else edge.as_pair() for edge in self.edges)

    def as_pair(self) -> tuple:
        """This node as the target of an edge."""
        return (self, 0)

    @property
    def metadata(self) -> dict:
        """A dictionary for notes of your own. PyTorch counterpart: ``Node.metadata``."""
        return self.extras().metadata

    def extras(self) -> NodeExtra:
        if self.extra is None:
            self.extra = NodeExtra()
        return self.extra

    @property
    def sequence(self) -> int:
        """A number that grows with creation: a later operation has a larger one."""
        return -self.order

    def _sequence_nr(self) -> int:
        return self.sequence

    @property
    def freed(self) -> bool:
        """Whether a backward has freed values that were saved here."""
        return self.saved is None

    def saved_state(self) -> list[Saved]:
        """What is saved, with its version then and now. Never raises: pictures are drawn of broken graphs too."""
        if self.saved is None:
            return [Saved(name, None, None, None) for name in self.saved_names if name]
        entries = []
        for position, name in enumerate(self.saved_names):
            if not name or self.saved[position] is None:
                continue
            value, expected, current = self._entry(position)
            entries.append(Saved(name, value, expected, current))
        return entries

    def _entry(self, position: int) -> tuple:
        """Value, version when saved and version now of one entry of `saved`."""
        value = self.saved[position]
        if self.saved_names[position] == "result":
            counter, version = self.saved[position + 1 : position + 3]
            return self.rebuild_result(value, counter), version, counter[0]
        if hasattr(value, "_counter"):
            return value, self.saved[position + 1], value._counter[0]
        return value, None, None

    def rebuild_result(self, array, counter):
        """The saved output as a Tensor of this node; given by dispatch, which knows Tensors."""
        raise NotImplementedError

    def vjp(self, grad, edges):
        """Gradients of the inputs, one per edge, from the gradient of the output: arrays in, arrays out."""
        raise NotImplementedError

    def vjp_recorded(self, grad, edges):
        """The same with Tensors, so that the gradients have a history of their own (create_graph)."""
        raise NotImplementedError

    def release(self) -> None:
        """Free what is saved. A node that saved nothing can still be walked again."""
        if self.frees:
            self.saved = None

    def __repr__(self):
        return f"<{type(self).__name__}>"


class OutputEdge(Node):
    """One output of a node that has several (``unbind``, a Function with two results): gathers that output's
    gradient, and hands it to the node just before the node's own turn."""

    __slots__ = ("index",)

    def __init__(self, node: Node, index: int, shape: tuple, dtype):
        self.edges = (node,)
        self.index = index
        self.order = node.order - 0.5
        self.shape = shape
        self.dtype = dtype
        self.pending = self.extra = self.constants = None
        self.saved = ()

    def as_pair(self) -> tuple:
        return (self.edges[0], self.index)


class AccumulateGrad(Node):
    """The end of the walk at a leaf: adds the gradient to ``variable.grad``. One per leaf.

    The leaf knows its node only weakly, and the node holds the leaf: a graph keeps its leaves alive, a
    leaf does not keep graphs alive.
    """

    __slots__ = ("variable",)

    def __init__(self, variable):
        self.variable = variable
        self.order = _next_leaf_order()
        self.edges = self.saved = ()
        self.pending = self.extra = self.constants = None
        self.shape = variable._array.shape
        self.dtype = variable._array.dtype

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def sequence(self) -> int:
        return self.order


class AutogradMeta:
    """What few tensors have: gradient, hooks, what they are a view of. PyTorch has a struct of this name.

    Leaves, views, hooked tensors and the outputs of a node with several get one; a plain intermediate
    result has None in its place.
    """

    __slots__ = ("accumulator", "base", "edge", "grad", "hooks", "output_nr", "post_hooks", "retains_grad")

    def __init__(self):
        self.grad = self.accumulator = self.edge = self.base = self.hooks = self.post_hooks = None
        self.retains_grad = False
        self.output_nr = 0


def gradient_edge(tensor) -> Node:
    """The node to which the gradient of `tensor` goes: its grad_fn, or its AccumulateGrad if it is a leaf."""
    meta = tensor._meta
    if tensor._grad_fn is not None:
        return tensor._grad_fn if meta is None or meta.edge is None else meta.edge
    if meta is None:
        meta = tensor._meta = AutogradMeta()
    node = meta.accumulator and meta.accumulator()
    if node is None:
        node = AccumulateGrad(tensor)
        meta.accumulator = weakref.ref(node)
    return node


def own_counter(tensor) -> list:
    """The tensor's version counter, made its own: a list that aliases can share and in-place ops can raise."""
    if tensor._counter is FRESH:
        tensor._counter = [0]
    return tensor._counter


def freed_error() -> Exception:
    """A value was asked of a node whose saved values are gone."""
    return refuse(
        RuntimeError,
        SECOND_TIME,
        "an earlier backward freed this graph. Run the forward again, or add the losses and go backward "
        "once; retain_graph=True only where one graph really is walked twice.",
    )


def stale_error(node: Node, name: str, current: int, expected: int) -> Exception:
    """A saved value was overwritten after it was saved."""
    position = node.saved_names.index(name)
    value = node._entry(position)[0]
    array = value._array
    kind = {"float32": "Float", "float64": "Double", "int64": "Long", "bool": "Bool"}.get(
        array.dtype.name, array.dtype.name.capitalize()
    )
    maker = value._grad_fn
    origin = ""
    if maker is not None:
        index = value._meta.output_nr if value._meta is not None else 0
        origin = f", which is output {index} of {type(maker).__name__.removesuffix('0').removesuffix('Backward')},"
    return refuse(
        RuntimeError,
        MODIFIED % (kind + "Tensor", list(array.shape), origin, current, expected),
        f"{node.op_name}() saved `{name}` for its derivative, and it was changed in place since. "
        "Use the out-of-place operation, or change a clone().",
    )


class RemovableHandle:
    """Takes a hook back: call ``remove()``, or use it as a context manager."""

    _next_id = itertools.count().__next__

    def __init__(self, hooks: dict, hook):
        self.id = RemovableHandle._next_id()
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()
