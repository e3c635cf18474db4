"""What ``grad_fn`` shows of a node: its name, its neighbours, what it saves, its hooks.

A GradFn (``MulBackward0``, ``AccumulateGrad`` ...) is created on first access: the engine walks nodes of one class,
because Python reads the attributes of one class several times faster than those of fifty. Only a Function's node is
both, as its author writes on it (function.py).

PyTorch counterparts: ``Node`` and ``GradientEdge`` in ``torch/autograd/graph.py``, ``torch/utils/hooks.py``.
"""

import itertools
import weakref
from typing import Any, ClassVar, NamedTuple

from .node import LEAF, Node, is_sink
from .outputs import operation_of, output_nr
from .versions import FRESH


class GradientEdge(NamedTuple):
    """An edge of the graph: an output of a node. PyTorch counterpart: ``torch.autograd.graph.GradientEdge``.

    `ownership_token` is the engine's node of the edge, which it keeps alive.
    """

    node: "GradFn"
    output_nr: int
    ownership_token: Any = None


class GradFn:
    """What ``grad_fn`` shows of a node. PyTorch counterpart: ``torch.autograd.graph.Node``.

    Every operation has a subclass of its own, named as in PyTorch.
    """

    __slots__ = ()
    op_name = ""
    _node: Node

    def name(self) -> str:
        """The node's name: for recorded operations that of its class."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple:
        """Pairs (grad_fn, index of its output), one per input; (None, 0) where no gradient is needed."""
        return tuple(next_function(node) for node in self._node._next_nodes)

    @property
    def metadata(self) -> dict:
        """A dictionary for notes of your own. PyTorch counterpart: ``Node.metadata``."""
        return self._node._materialize_hooks().metadata

    def register_prehook(self, hook) -> "RemovableHandle":
        """Call ``hook(grad_outputs)`` before the node's derivatives run; what it returns replaces them.

        PyTorch counterpart: ``Node.register_prehook``.
        """
        return RemovableHandle(self._node._materialize_hooks().pre_hooks, hook, self._node._kind is LEAF)

    def register_hook(self, hook) -> "RemovableHandle":
        """Call ``hook(grad_inputs, grad_outputs)`` after the node's derivatives; what it returns replaces the first.

        PyTorch counterpart: ``Node.register_hook``.
        """
        return RemovableHandle(self._node._materialize_hooks().post_hooks, hook, self._node._kind is LEAF)

    def __repr__(self):
        return f"<{type(self).__name__}>"


class NodeGradFn(GradFn):
    """A GradFn apart from its node: every one except a Function's."""

    __slots__ = ("__weakref__", "_node")

    def __init__(self, node: Node):
        self._node = node


class AccumulateGrad(NodeGradFn):
    """Accumulates a leaf's gradient into ``variable.grad``. One per leaf."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self):
        """The leaf."""
        tensor = self._node._leaf.tensor()
        return rebuild_leaf(self._node) if tensor is None else tensor


LEAF._grad_fn_class = AccumulateGrad


def grad_fn_of(node: Node) -> GradFn:
    """The GradFn that shows a node: the same object for as long as it is referenced."""
    if isinstance(node, GradFn):
        return node
    shown = None if node._grad_fn is None else node._grad_fn()
    if shown is None:
        shown = node._kind.grad_fn_class(node)
        node._grad_fn = weakref.ref(shown)
    return shown


def next_function(node: Node | None) -> tuple[Any, int]:
    """A node as `next_functions` shows it: (grad_fn, index of its output)."""
    if node is None or is_sink(node):
        return (None, 0)
    return (grad_fn_of(operation_of(node)), output_nr(node))


def rebuild_leaf(node: Node):
    """A leaf whose tensor is gone, rebuilt on the same memory and with the same .grad: its graph may outlive it."""
    meta = node._leaf
    tensor = object.__new__(meta.type)
    tensor._array, tensor._dtype, tensor._version_counter = meta.array, meta.array.dtype, FRESH
    tensor._node, tensor._meta = node, meta
    meta.tensor = weakref.ref(tensor)
    return tensor


class RemovableHandle:
    """Removes a hook: call ``remove()``, or use it as a context manager."""

    on_leaves: ClassVar[set] = set()  # the ids of hooks on leaves: while there are none, backward looks for no such
    _next_id = itertools.count().__next__

    def __init__(self, hooks: dict, hook, leaf: bool = False):
        self.id = RemovableHandle._next_id()
        if leaf:
            self.on_leaves.add(self.id)
        self._hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        self._hooks.pop(self.id, None)
        self.on_leaves.discard(self.id)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()
