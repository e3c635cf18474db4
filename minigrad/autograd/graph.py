"""What autograd keeps: nodes, the edges between them, and the values saved for backward.

    y = x * w        x, w leaves          y.grad_fn ──► MulBackward0
                                                         ├─ edges[0] ──► AccumulateGrad ──► x
                                                         └─ edges[1] ──► AccumulateGrad ──► w

A node is made when an operation is recorded and points at the nodes of its inputs, never at its own
output: so dropping the last name of an output frees the whole graph behind it.

A node has two sides, as in PyTorch. The Record is what the engine walks: one class for every kind of node,
because Python reads the attributes of one class several times faster than those of fifty. The Node (node.py)
is what ``grad_fn`` shows of it.

PyTorch counterparts: ``torch/csrc/autograd/{function,saved_variable,variable}.h``.
"""

import itertools
import weakref
from collections import deque
from typing import Any

from ..messages import refusal

# Numbers count down so that the newest node is the smallest and a heap pops it first. An op's number is
# negative and a leaf's positive: leaves come last, when all their contributions are there.
op_order = itertools.count(-1, -1)
_leaf_order = itertools.count(1)

# The numbers between which each backward with create_graph=True ran, so that a picture can tell what it recorded
# from what you did. The oldest are forgotten: there may be one in every step of a training.
recorded_walks: deque = deque(maxlen=100_000)

# The version counter of every tensor that nobody has modified, saved as a result or aliased yet; see Tensor._counter.
FRESH = (0,)

# Called with each new record: anomaly mode notes where it was made, saved-tensor hooks pack what it saves.
watchers: list = []


class _Anomaly:
    """Whether anomaly mode is on, and the nodes whose derivatives are running in it."""

    def __init__(self):
        self.enabled, self.check_nan = False, True
        self.evaluating: list = []


anomaly = _Anomaly()


def watch(record: "Record") -> None:
    """Show a record that has just been made to all who asked to see it."""
    for watcher in list(watchers):
        watcher(record)


class DetachedVersion(int):
    """The version of a tensor after ``detach_()``: unlike any that was noted before."""

    __slots__ = ()
    __hash__ = int.__hash__

    def __ne__(self, noted):
        return noted is not self


class _Uncounted:
    """In the place of an inference tensor's version counter: there is no version to ask for."""

    def __getitem__(self, index):
        raise refusal("inference tensor saved")


UNCOUNTED = _Uncounted()


class Kind:
    """What all nodes of one operation have in common: its derivatives, and how it is shown."""

    __slots__ = ("face", "frees", "name", "option_names", "packed", "saved_names", "vjp", "vjp_recorded")

    def __init__(self, name: str, face: type | None, saved_names: tuple = (), option_names: tuple = ()):
        self.name = name
        self.face = face  # the class of `grad_fn`
        self.saved_names = saved_names  # of the entries of `saved`; "" for a version or a counter
        self.option_names = option_names  # of the entries of `options`
        self.frees = bool(saved_names)  # whether there is anything that a backward frees
        self.packed = None  # the same, for records whose saved tensors a hook has packed
        # Gradients of the inputs from that of the output: called as vjp(record, grad, edges), on arrays ...
        self.vjp: Any = None
        # ... or on Tensors, so that the gradients have a history of their own (create_graph).
        self.vjp_recorded: Any = None


class Record:
    """One recorded operation (or a leaf's end of the graph), as the engine walks it.

    ``edges`` has one entry per input: the record that the input came from, or None where no gradient is
    needed: an edge is the record that it leads to. ``saved`` holds the tensors that the derivatives mention, each
    followed by its version then (a result as an array, its counter, its version), None once they have been freed;
    of one output of several, its index. ``options`` has the rest of what they mention: a dim, an exponent, a shape.
    """

    __slots__ = (
        "__weakref__",
        "constants",  # per input without an edge: the Python number, or a weakref to the tensor
        "dtype",  # of the result, as its shape
        "edges",
        "extra",  # hooks and metadata, an Extra; None for nearly all
        "face",  # weakref to the Node that shows this record, once somebody has looked
        # Whether each gradient comes in its input's shape and dtype. True: `fit` has nothing to do; False: it has to
        # look; None: the dtype is right, only the shapes are to be compared.
        "fits",
        "kind",
        "leaf",  # of a leaf's end: the leaf's AutogradMeta
        "options",
        "order",  # its place in the walk, see op_order
        "pending",  # the gradient gathered so far, during a backward
        "saved",
        "shape",
    )

    def extras(self) -> "Extra":
        """Hooks and metadata, made when first needed."""
        if self.extra is None:
            self.extra = Extra()
        return self.extra

    def entry(self, position: int) -> tuple:
        """Value, version when saved and version now of one entry of `saved`."""
        value, names = self.saved[position], self.kind.saved_names
        if isinstance(value, Packed):
            return value.open(self), None, None
        if names[position] == "result":
            counter, version = self.saved[position + 1 : position + 3]
            return self.kind.face.rebuild(self, value, counter), version, counter[0]
        if hasattr(value, "_counter"):
            return value, self.saved[position + 1], value._counter[0]
        return value, None, None


class Extra:
    """What few nodes have: hooks and metadata. Kept apart so that all other records stay small."""

    __slots__ = ("metadata", "post_hooks", "pre_hooks", "retained", "tensor_hooks")

    def __init__(self):
        self.metadata: dict = {}
        self.pre_hooks: dict = {}  # of the node, run before and after its derivatives
        self.post_hooks: dict = {}
        self.tensor_hooks: dict = {}  # output index -> {handle id: hook}
        self.retained: dict = {}  # output index -> weakref of the tensor whose .grad is kept


class Packed:
    """A saved tensor that a hook has put away: what the hook gave back, and how to get a Tensor from it again."""

    __slots__ = ("box", "open")

    def __init__(self, box, open):
        self.box, self.open = box, open


LEAF, OUTPUT = Kind("", None), Kind("", None)


def track(tensor) -> None:
    """Give a leaf its end of the graph: from now on it requires grad.

    The record holds what the leaf is made of, and the tensor itself only weakly: dropping its last name frees a
    leaf at once. A graph that outlives it can make the tensor anew, from the same memory and the same .grad.
    """
    meta = tensor.meta()
    meta.tensor, meta.type, meta.array = weakref.ref(tensor), type(tensor), tensor._array
    tensor._edge = leaf_edge(tensor, meta) if meta.frozen is None else meta.frozen
    record, meta.frozen = tensor._edge, None
    record.leaf, record.shape, record.dtype = meta, tensor._array.shape, tensor._dtype


def leaf_edge(tensor, meta: "AutogradMeta") -> Record:
    """An end of the graph that adds what arrives to `meta`'s gradient."""
    record = Record()
    record.kind, record.edges, record.saved = LEAF, (), ()
    record.pending = record.extra = record.constants = record.face = None
    record.order, record.leaf = next(_leaf_order), meta
    record.shape, record.dtype = tensor._array.shape, tensor._dtype
    return record


def nowhere_edge(tensor) -> Record:
    """For a view that was made unrecorded: like its base it requires grad, but what arrives there is lost."""
    return leaf_edge(tensor, AutogradMeta())


def goes_nowhere(edge: Record) -> bool:
    """Whether this is a nowhere_edge."""
    return edge.kind is LEAF and edge.leaf.tensor is None


def freeze(record: Record) -> None:
    """A leaf needs no gradient for now: what older graphs bring to its end goes nowhere, until it is tracked again."""
    leaf, record.leaf = record.leaf, AutogradMeta()
    record.leaf.tensor, record.leaf.type, record.leaf.array = leaf.tensor, leaf.type, leaf.array
    leaf.frozen = record


# Makes the engine look twice at one output of several, without a question asked of every other record.
HANDS_OVER = Extra()


def output_edge(record: Record, index: int, shape: tuple, dtype) -> Record:
    """One output of an operation that has several: gathers its gradient, and hands it over just in time."""
    edge = Record()
    edge.kind, edge.edges, edge.shape, edge.dtype = OUTPUT, (record,), shape, dtype
    edge.pending = edge.constants = edge.face = None
    edge.order = record.order - 1 + 1 / (index + 2)  # just before the operation's own turn
    edge.saved = index
    edge.extra, edge.fits = HANDS_OVER, True
    return edge


class AutogradMeta:
    """What few tensors have: gradient, hooks, what they are a view of. PyTorch has a struct of this name.

    Leaves that require grad, views, hooked tensors and the outputs of a node with several have one; a plain
    intermediate result has None in its place.
    """

    __slots__ = (
        "array",
        "base",
        "behind",
        "born",
        "frozen",
        "grad",
        "hooks",
        "output_nr",
        "post_hooks",
        "retains_grad",
    )
    __slots__ += ("tensor", "type")  # of a leaf, weakly; with `array` all that is needed to make it anew

    def __init__(self):
        self.grad = self.base = self.hooks = self.post_hooks = self.tensor = self.frozen = None
        self.behind = False  # of a view: its memory was changed before it had a history that could show it
        self.born = ""  # of a view that cannot be changed in place: how it came about
        self.retains_grad = False
        self.output_nr = 0


def own_counter(tensor) -> list:
    """The tensor's version counter, made its own: a list that aliases can share and in-place operations raise."""
    if tensor._counter is FRESH:
        tensor._counter = [0]
    return tensor._counter


def freed_error() -> Exception:
    """A value was asked of a node whose saved values are gone."""
    return refusal("second time")


def stale_error(record: Record, name: str, current: int, expected: int) -> Exception:
    """A saved value was overwritten after it was saved; or it lost its history."""
    if isinstance(current, DetachedVersion):
        return refusal("saved and detached")
    value = record.entry(record.kind.saved_names.index(name))[0]
    array = value._array
    kind = {"float32": "Float", "float64": "Double", "int64": "Long", "bool": "Bool"}.get(
        array.dtype.name, array.dtype.name.capitalize()
    )
    maker = maker_of(value._edge)
    origin = f", which is output {value.output_nr} of {maker}," if maker else ""
    hint = "modified, anomaly mode" if anomaly.enabled else "modified"
    return refusal(hint, kind + "Tensor", list(array.shape), origin, current, expected)


def maker_of(edge: Record | None) -> str | None:
    """What PyTorch's sentences call the operation that an edge leads to; None for a leaf."""
    if edge is None or edge.kind is LEAF:
        return None
    record = edge.edges[0] if edge.kind is OUTPUT else edge
    name = record.kind.face.__name__
    return PREFIX + name if name in PREFIXED else name.replace("Backward", "").removesuffix("0")


# The nodes whose names PyTorch gives with their namespace.
PREFIX, PREFIXED = "torch::autograd::", ("CopySlices", "CopyBackwards", "Error")
