"""Version counters: how backward notices that a saved value was overwritten.

Each in-place operation raises the counter of its tensor. A node keeps the version with what it saves, and compares it
when it needs the value. Views and ``detach()`` share the counter; ``.data`` and ``.numpy()`` do not, so what they
overwrite goes unnoticed.

PyTorch counterparts: ``VariableVersion`` in ``c10/core/TensorImpl.h``, ``torch/csrc/autograd/saved_variable.cpp``.
"""

from ..messages import refusal
from .grad_mode import anomaly
from .node import LEAF, Node
from .outputs import operation_of

# The three forms of a tensor's counter:
# FRESH, one object for all tensors that were never modified, saved as a result or viewed;
# a list [n, weakref to a view, ...] that a tensor shares with its views and with what detach() returned;
# UNCOUNTED for inference tensors, which have no version.
FRESH = (0,)


class DetachedVersion(int):
    """The version of a tensor after ``detach_()``: unequal to every version that was saved before."""

    __slots__ = ()
    __hash__ = int.__hash__

    def __ne__(self, saved):
        return saved is not self


class _Uncounted:
    """An inference tensor's version counter: it has no version, and reading it raises."""

    def __getitem__(self, index):
        raise refusal("inference tensor saved")


UNCOUNTED = _Uncounted()


def own_counter(tensor) -> list:
    """The tensor's version counter as a list, which views can share and in-place operations raise: no longer FRESH."""
    if tensor._version_counter is FRESH:
        tensor._version_counter = [0]
    return tensor._version_counter


def bump_version(tensor) -> None:
    """Count a change of the tensor's memory. Inference tensors have no version."""
    counter = own_counter(tensor)
    if counter is not UNCOUNTED:
        counter[0] += 1


def freed_error(node: Node) -> Exception:
    """The exception for a second backward: what the node saved has been freed."""
    return refusal("second time", about=node)


def was_saved(node: Node, name: str) -> bool:
    """Whether a node saved this field: one that a single derivative uses, only if that input needs a gradient."""
    users = [n for n, names in zip(node._next_nodes, node._kind.needs, strict=False) if name in names]
    return len(users) != 1 or users[0] is not None


def freed(node: Node) -> tuple:
    """In place of `_saved` that was freed: an error if a tensor was in it, else a None for each entry."""
    if any(name and was_saved(node, name) for name in node._kind.saved_names):
        raise freed_error(node)
    return (None,) * len(node._kind.saved_names)


def stale_error(node: Node, name: str, current: int, expected: int) -> Exception:
    """The exception for a saved tensor that was overwritten, or detached in place, since it was saved."""
    if isinstance(current, DetachedVersion):
        return refusal("saved and detached", about=node)
    value = node._entry(node._kind.saved_names.index(name))[0]
    array = value._array
    maker = maker_of(value._node)
    origin = f", which is output {value.output_nr} of {maker}," if maker else ""
    hint = "modified, anomaly mode" if anomaly.enabled else "modified"
    return refusal(hint, value.dtype.tensor_type, list(array.shape), origin, current, expected, about=node)


# The nodes whose names PyTorch gives with their namespace.
PREFIX, PREFIXED = "torch::autograd::", ("CopySlices", "CopyBackwards", "Error", "Identity", "NotImplemented")


def maker_of(node: Node | None) -> str | None:
    """What PyTorch's sentences call the operation that made a tensor; None for a leaf."""
    if node is None or node._kind is LEAF:
        return None
    name = operation_of(node)._kind.grad_fn_class.__name__
    return PREFIX + name if name in PREFIXED else name.replace("Backward", "").removesuffix("0")
