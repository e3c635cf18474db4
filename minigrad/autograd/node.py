"""What autograd keeps: a node for each recorded operation, and one for each leaf.

    y = x * w        x, w leaves          y._node: mul ─┬─► x._node: a leaf, adds to x.grad
                                                        └─► w._node: a leaf, adds to w.grad

A node is made when an operation is recorded. It points at the nodes of the operation's inputs and never at its
own output: so deleting the last reference to an output frees the whole graph behind it, at once.

Four things have to do with an operation. Its Row (dispatch.py) has the forward and the derivatives; there is one per
operation. Its Kind is what all nodes of the operation have in common. A Node is made at each recorded call: it is what
the engine walks. A GradFn (grad_fn.py) shows a node under its PyTorch name, and is created on first access.

PyTorch counterparts: ``torch/csrc/autograd/{function,variable}.h``.
"""

import itertools
import weakref
from collections import deque
from typing import Any

# The numbers of operations are negative and count down, so that a heap gives out the newest first. Those of leaves are
# positive: leaves are not in the heap, and their numbers only identify them.
op_order = itertools.count(-1, -1)
_leaf_order = itertools.count(1)

# For pictures (viz/live.py): (first, last) node number of each backward with create_graph=True. Nodes numbered
# in between were recorded by that backward, all others by your code. Bounded: each step of a training may add a pair.
recorded_walks: deque = deque(maxlen=100_000)

# Called with each new node: anomaly mode notes where it was made, saved-tensor hooks pack what it saves.
creation_hooks: list = []


def call_creation_hooks(node: "Node") -> None:
    """Call the creation hooks with a new node."""
    for hook in list(creation_hooks):
        hook(node)


class Kind:
    """What all nodes of one operation have in common: its derivatives, and the names of what they save."""

    __slots__ = (
        "_grad_fn_class", "frees", "name", "needs", "option_names", "packed", "saved_names", "vjp", "vjp_recorded",
    )  # fmt: skip

    def __init__(self, name: str, grad_fn_class: Any, saved_names=(), option_names=(), needs: tuple = ()):
        self.name = name
        self._grad_fn_class = grad_fn_class  # the class, or a function that makes it
        self.saved_names = saved_names  # of the entries of `_saved`; "" for a version or a counter
        self.option_names = option_names  # of the entries of `_options`
        self.needs = needs  # per input, the parameters of its derivative: saved only if the input needs a gradient
        self.frees = bool(saved_names)  # whether a backward has anything to free
        self.packed: Kind | None = None  # the same kind, for nodes with packed saved tensors
        # The vector-Jacobian product, vjp(node, grad, next_nodes), returns one gradient per input. `next_nodes` are the
        # node's, but for those that need no gradient in this walk. On arrays:
        self.vjp: Any = None
        # and on Tensors, so that the gradients have a history of their own (create_graph):
        self.vjp_recorded: Any = None

    @property
    def grad_fn_class(self) -> type[Any]:
        """The class of `grad_fn`, made on first access: most programs never ask for it."""
        if not isinstance(made := self._grad_fn_class, type):  # read once: another thread may be making it
            made = self._grad_fn_class = made()
        return made


class Node:
    """One recorded operation, or a leaf, as the engine walks it.

    `_next_nodes` has one entry per input: the node that the input came from, None where no gradient is needed.

    `_saved` holds the tensors that the derivatives need, None once a backward has freed them. An input has two entries:
    the tensor, and its version when it was saved. A result has three: its array, its version counter and its version;
    the Tensor itself points at this node, which would be a reference cycle. `Kind.saved_names` has a name for each
    entry, "" for a counter or a version. (The node of a Function has a tuple per tensor, see function.py.)
    `_options` has what else the derivatives need: a dim, an exponent, a shape; in an OUTPUT node, its output_nr.

    The names start with an underscore because the node of a Function is the ``ctx`` that its author writes on:
    all other names there are the author's.
    """

    __slots__ = (
        "__weakref__", "_constants", "_dtype", "_fits", "_grad_fn", "_hooks", "_kind", "_leaf", "_next_nodes",
        "_options", "_order", "_saved", "_shape",
    )  # fmt: skip

    _kind: Kind
    _order: int  # its place in the walk, see op_order; PyTorch: sequence_nr
    _next_nodes: tuple
    _saved: Any  # a tuple; None once freed
    _options: tuple
    _shape: tuple
    _dtype: Any  # of the result, as its shape
    _fits: bool  # whether every gradient already has its input's shape and dtype, so that `fit` is not called
    _hooks: "NodeHooks | None"  # None for nearly all
    _leaf: "AutogradMeta"  # of a leaf's node
    _grad_fn: weakref.ref | None  # the GradFn that shows this node, once it was accessed
    _constants: tuple | None  # for pictures: per input without a node the Python number, or a weakref to the tensor

    def _materialize_hooks(self) -> "NodeHooks":
        """Hooks and metadata, made when first needed."""
        if self._hooks is None:
            self._hooks = NodeHooks()
        return self._hooks

    def _entry(self, position: int) -> tuple:
        """Value, version when saved and version now of one entry of `_saved`."""
        value, names = self._saved[position], self._kind.saved_names
        if isinstance(value, Packed):
            return value.open(self), None, None
        if names[position] == "result":
            counter, version = self._saved[position + 1 : position + 3]
            return self._kind.grad_fn_class.rebuild(self, value, counter), version, counter[0]
        if hasattr(value, "_version_counter"):
            return value, self._saved[position + 1], value._version_counter[0]
        return value, None, None


class NodeHooks:
    """What few nodes have: hooks and metadata. Kept apart so that all other nodes stay small."""

    __slots__ = ("metadata", "post_hooks", "pre_hooks", "retained", "tensor_hooks")

    def __init__(self):
        self.metadata: dict = {}
        self.pre_hooks: dict = {}  # register_prehook and register_hook of grad_fn: before and after its derivatives
        self.post_hooks: dict = {}
        self.tensor_hooks: dict = {}  # output index -> {handle id: hook}
        self.retained: dict = {}  # output index -> weakref of the tensor whose .grad is kept


class Packed:
    """A saved tensor that a hook has packed: what the hook returned, and how to get a Tensor from it again."""

    __slots__ = ("box", "open")

    def __init__(self, box, open):
        self.box, self.open = box, open


# -- leaves --------------------------------------------------------------------------------------

LEAF = Kind("", None)


class AutogradMeta:
    """What few tensors have: gradient, hooks, what they are a view of. PyTorch has a struct of this name.

    Leaves that require grad, views, hooked tensors and the outputs of a node with several have one; a plain
    intermediate result has None in its place.
    """

    # Defaults are class attributes, so that making a view, which needs an AutogradMeta, stays fast.
    grad: Any = None
    hooks: Any = None
    post_hooks: Any = None
    tensor: weakref.ref | None = None  # of a leaf: the tensor
    array: Any  # of a leaf: with its type, what `AccumulateGrad.variable` needs to rebuild a tensor that is gone
    type: Any
    untracked_node: Node | None = None  # of a leaf whose requires_grad was set to False: its node until then
    retains_grad, output_nr = False, 0  # of a result
    # Of a view: the tensor whose memory it shows, why it may not be modified in place (PyTorch's CreationMeta), and
    # whether the base was modified while nothing was recorded, so that its history has to be rebuilt.
    base: Any = None
    creation_meta, outdated = "", False


def track(tensor) -> None:
    """Give a leaf its node: from now on it requires grad.

    The node holds the leaf's array and .grad, and the tensor itself only weakly: deleting its last reference frees a
    leaf at once. A graph that outlives it can rebuild the tensor, on the same memory and with the same .grad.
    """
    meta = tensor.materialize_meta()
    meta.tensor, meta.type, meta.array = weakref.ref(tensor), type(tensor), tensor._array
    tensor._node = leaf_node(tensor, meta, meta.untracked_node)
    meta.untracked_node = None


def leaf_node(tensor, meta: AutogradMeta, node: Node | None = None) -> Node:
    """The node of a leaf, `node` itself if given; gradients that reach it are accumulated into `meta.grad`."""
    if node is None:
        node = Node()
        node._kind, node._order, node._next_nodes, node._saved = LEAF, next(_leaf_order), (), ()
        node._hooks = node._constants = node._grad_fn = None
    node._leaf, node._shape, node._dtype = meta, tensor._array.shape, tensor._dtype
    return node


def untrack(node: Node) -> None:
    """For ``requires_grad_(False)``: graphs recorded before accumulate into a separate meta, no longer into .grad."""
    leaf, node._leaf = node._leaf, AutogradMeta()
    for kept in ("tensor", "type", "array", "hooks", "post_hooks"):
        setattr(node._leaf, kept, getattr(leaf, kept))
    leaf.untracked_node = node


def sink_node(tensor) -> Node:
    """The node of a view that was not recorded: like its base it requires grad, but its gradient is dropped."""
    return leaf_node(tensor, AutogradMeta())


def is_sink(node: Node) -> bool:
    """Whether this is a sink_node."""
    return node._kind is LEAF and node._leaf.tensor is None
