"""What autograd keeps: a node for each recorded operation, and one for each leaf.

    y = x * w        x, w leaves          y._node: mul ─┬─► x._node: a leaf, adds to x.grad
                                                        └─► w._node: a leaf, adds to w.grad

A node is made when an operation is recorded. It points at the nodes of the operation's inputs and never at its
own output: so dropping the last name of an output frees the whole graph behind it, at once.

Four things have to do with an operation. Its Row (dispatch.py) has the forward and the derivatives; there is one per
operation. Its Kind is what all nodes of the operation have in common. A Node is made at each recorded call: it is what
the engine walks. A GradFn (grad_fn.py) shows a node under its PyTorch name, and is made when somebody looks.

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

# For pictures (viz/live.py): the numbers between which each backward with create_graph=True ran, which tell what it
# recorded from what you did. The oldest are forgotten: there may be one in every step of a training.
recorded_walks: deque = deque(maxlen=100_000)

# Called with each new node: anomaly mode notes where it was made, saved-tensor hooks pack what it saves.
creation_hooks: list = []


def call_creation_hooks(node: "Node") -> None:
    """Show a new node to whoever asked to see it."""
    for hook in list(creation_hooks):
        hook(node)


class Kind:
    """What all nodes of one operation have in common: its derivatives, and the names of what they save."""

    __slots__ = ("frees", "name", "needs", "option_names", "packed", "saved_names", "shown_as", "vjp", "vjp_recorded")

    def __init__(self, name: str, shown_as: Any, saved_names: tuple = (), option_names: tuple = (), needs: tuple = ()):
        self.name = name
        self.shown_as = shown_as  # the class of `grad_fn`, or a function that makes it
        self.saved_names = saved_names  # of the entries of `_saved`; "" for a version or a counter
        self.option_names = option_names  # of the entries of `_options`
        self.needs = needs  # per input, what its derivative mentions: only that is saved, if the input needs a gradient
        self.frees = bool(saved_names)  # whether there is anything that a backward frees
        self.packed: Kind | None = None  # the same kind, for nodes whose saved tensors a hook has packed
        # The vector-Jacobian product, vjp(node, grad, next_nodes), returns one gradient per input. `next_nodes` are the
        # node's, but for those that need no gradient in this walk. On arrays:
        self.vjp: Any = None
        # and on Tensors, so that the gradients have a history of their own (create_graph):
        self.vjp_recorded: Any = None

    @property
    def grad_fn_class(self) -> type[Any]:
        """The class of `grad_fn`, made when somebody looks: most nodes are never looked at."""
        shown_as = self.shown_as
        if not isinstance(shown_as, type):
            shown_as = self.shown_as = shown_as()
        return shown_as


class Node:
    """One recorded operation, or a leaf, as the engine walks it.

    `_next_nodes` has one entry per input: the node that the input came from, None where no gradient is needed.

    `_saved` holds the tensors that the derivatives mention, None once a backward has freed them. An input stands there
    as the tensor and its version then; a result as its array, its counter and its version, because the tensor points at
    this node. The names in `Kind.saved_names` have the same places, "" for a version or a counter. (The node of a
    Function has a SavedEntry per tensor, see function.py.) `_options` has what else the derivatives mention: a dim, an
    exponent, a shape; of one output of several, its index.

    The names start with an underscore because the node of a Function is the ``ctx`` that its author writes on:
    all other names there are the author's.
    """

    __slots__ = (
        "__weakref__", "_constants", "_dtype", "_fits", "_grad_fn", "_hooks", "_kind", "_leaf", "_next_nodes",
        "_options", "_order", "_saved", "_shape",
    )  # fmt: skip

    _kind: Kind
    _order: int  # its place in the walk, see op_order
    _next_nodes: tuple
    _saved: Any  # a tuple; None once freed
    _options: tuple
    _shape: tuple
    _dtype: Any  # of the result, as its shape
    _fits: bool  # whether each gradient comes in its input's shape and dtype, so that `fit` has nothing to do
    _hooks: "NodeHooks | None"  # None for nearly all
    _leaf: "AutogradMeta"  # of a leaf's node
    _grad_fn: weakref.ref | None  # the GradFn that shows this node, once somebody has looked
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
        self.pre_hooks: dict = {}  # of the node, run before and after its derivatives
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

    # What each starts with: in the class, because every view has one, and is made faster then.
    grad: Any = None
    hooks: Any = None
    post_hooks: Any = None
    tensor: weakref.ref | None = None  # of a leaf: the tensor
    array: Any  # of a leaf, which can be made anew with it and its type for those who look at a graph
    type: Any
    untracked_node: Node | None = None  # of a leaf whose requires_grad was set to False: its node until then
    retains_grad, output_nr = False, 0  # of a result
    # Of a view: the tensor whose memory it shows, why it may not be modified in place (PyTorch's CreationMeta), and
    # whether the base was modified while nothing was recorded, so that its history has to be rebuilt.
    base: Any = None
    creation_meta, outdated = "", False


def track(tensor) -> None:
    """Give a leaf its node: from now on it requires grad.

    The node holds what the leaf is made of, and the tensor itself only weakly: dropping its last name frees a
    leaf at once. A graph that outlives it can make the tensor anew, from the same memory and the same .grad.
    """
    meta = tensor.materialize_meta()
    meta.tensor, meta.type, meta.array = weakref.ref(tensor), type(tensor), tensor._array
    tensor._node = leaf_node(tensor, meta, meta.untracked_node)
    meta.untracked_node = None


def leaf_node(tensor, meta: AutogradMeta, node: Node | None = None) -> Node:
    """A node, a new one or that of before, that adds the gradients that arrive to `meta.grad`."""
    if node is None:
        node = Node()
        node._kind, node._order, node._next_nodes, node._saved = LEAF, next(_leaf_order), (), ()
        node._hooks = node._constants = node._grad_fn = None
    node._leaf, node._shape, node._dtype = meta, tensor._array.shape, tensor._dtype
    return node


def untrack(node: Node) -> None:
    """A leaf needs no gradient for now: older graphs bring theirs to a meta that nobody sees."""
    leaf, node._leaf = node._leaf, AutogradMeta()
    for kept in ("tensor", "type", "array", "hooks", "post_hooks"):
        setattr(node._leaf, kept, getattr(leaf, kept))
    leaf.untracked_node = node


def sink_node(tensor) -> Node:
    """For a view that was not recorded: like its base it requires grad, but a gradient that arrives is lost."""
    return leaf_node(tensor, AutogradMeta())


def is_sink(node: Node) -> bool:
    """Whether this is a sink_node."""
    return node._kind is LEAF and node._leaf.tensor is None
