"""What ``grad_fn`` shows of a record: its name, its neighbours, what it saves, its hooks.

A Node (``MulBackward0``, ``AccumulateGrad`` ...) is made when somebody looks. The engine walks records only.

PyTorch counterparts: ``Node`` and ``GradientEdge`` in ``torch/autograd/graph.py``, ``torch/utils/hooks.py``.
"""

import itertools
import weakref
from typing import Any, NamedTuple

from .graph import FRESH, LEAF, OUTPUT, Packed, Record, goes_nowhere


class GradientEdge(NamedTuple):
    """An edge of the graph: an output of a node. PyTorch counterpart: ``torch.autograd.graph.GradientEdge``.

    `ownership_token` keeps alive what the engine knows the edge by.
    """

    node: "Node"
    output_nr: int
    ownership_token: Any = None


class Saved(NamedTuple):
    """One saved value of a node, as pictures show it."""

    name: str
    value: Any
    expected_version: int | None
    current_version: int | None


class Node:
    """One recorded operation, as ``grad_fn`` shows it. PyTorch counterpart: ``torch.autograd.graph.Node``.

    Every operation has a subclass of its own, named as in PyTorch.
    """

    __slots__ = ()
    op_name = ""
    record: Record

    def name(self) -> str:
        """The node's name: for recorded operations that of its class."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple:
        """Pairs (node, index of that node's output), one per input; (None, 0) where none is needed."""
        return tuple(pair_of(edge) for edge in self.record.edges)

    @property
    def metadata(self) -> dict:
        """A dictionary for notes of your own. PyTorch counterpart: ``Node.metadata``."""
        return self.record.extras().metadata

    def register_prehook(self, hook) -> "RemovableHandle":
        """Call ``hook(grad_outputs)`` before the node's derivatives run; what it returns replaces them.

        PyTorch counterpart: ``Node.register_prehook``.
        """
        return RemovableHandle(self.record.extras().pre_hooks, hook, self.record.order > 0)

    def register_hook(self, hook) -> "RemovableHandle":
        """Call ``hook(grad_inputs, grad_outputs)`` after the node's derivatives; what it returns replaces the first.

        PyTorch counterpart: ``Node.register_hook``.
        """
        return RemovableHandle(self.record.extras().post_hooks, hook, self.record.order > 0)

    @property
    def _shape(self) -> tuple:
        """The shape of the operation's result."""
        return self.record.shape

    @property
    def _dtype(self):
        """NumPy's dtype of the operation's result."""
        return self.record.dtype

    @property
    def _constants(self) -> tuple:
        """Per input: None where it has an edge, else the Python number or a weakref to the tensor."""
        return self.record.constants or (None,) * len(self.record.edges)

    @property
    def freed(self) -> bool:
        """Whether a backward has freed values that were saved here."""
        return self.record.saved is None

    def saved_state(self) -> list[Saved]:
        """What is saved, with its version then and now. Never raises: broken graphs are drawn too."""
        record, kind = self.record, self.record.kind
        options = [
            Saved(name, value, None, None)
            for name, value in zip(kind.option_names, record.options if kind.option_names else (), strict=True)
            if name[0] != "_"
        ]
        if record.saved is None:
            return [*(Saved(name, None, None, None) for name in kind.saved_names if name), *options]
        kept = [i for i, name in enumerate(kind.saved_names) if name and record.saved[i] is not None]
        shown = [(i, record.saved[i]) for i in kept]
        return [
            *(
                Saved(kind.saved_names[i], *((v, None, None) if isinstance(v, Packed) else record.entry(i)))
                for i, v in shown
            ),
            *options,
        ]

    def __repr__(self):
        return f"<{type(self).__name__}>"


class Face(Node):
    """A Node that is made when somebody looks at a record. (A Function's node is its own record.)"""

    __slots__ = ("__weakref__", "record")

    def __init__(self, record: Record):
        self.record = record


class AccumulateGrad(Face):
    """The end of the walk at a leaf: adds the gradient to ``variable.grad``. One per leaf."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self):
        """The leaf."""
        tensor = self.record.leaf.tensor()
        return revived(self.record) if tensor is None else tensor


LEAF.face, OUTPUT.face = AccumulateGrad, Face


def face_of(record: Record) -> Node:
    """The Node that shows a record: the same one for as long as anybody holds it."""
    face = record.face and record.face()
    if face is None:
        face = record.kind.face(record)
        record.face = weakref.ref(face)
    return face


def pair_of(edge: Record | None) -> tuple:
    """An edge as `next_functions` shows it."""
    if edge is None:
        return (None, 0)
    if edge.kind is OUTPUT:
        return (face_of(edge.edges[0]), edge.saved)
    if goes_nowhere(edge):
        return (None, 0)
    return (face_of(edge), 0)


def revived(record: Record):
    """A leaf that nobody names any more, for those who look at a graph that it is in."""
    meta = record.leaf
    tensor = object.__new__(meta.type)
    tensor._array, tensor._dtype, tensor._counter = meta.array, meta.array.dtype, FRESH
    tensor._edge, tensor._meta = record, meta
    meta.tensor = weakref.ref(tensor)
    return tensor


class RemovableHandle:
    """Takes a hook back: call ``remove()``, or use it as a context manager."""

    on_a_leaf = False  # whether a leaf has ever been given one: then backward looks for those that have
    _next_id = itertools.count().__next__

    def __init__(self, hooks: dict, hook, leaf: bool = False):
        RemovableHandle.on_a_leaf |= leaf
        self.id = RemovableHandle._next_id()
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()
