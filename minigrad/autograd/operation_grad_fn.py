"""The GradFn class of each operation, with properties for what its nodes keep: ``_saved_self``, ``_saved_dim`` ...

PyTorch counterpart: the classes and getters that ``tools/autograd/gen_autograd_functions.py`` writes.
"""

import numpy as np

from ..results import rebuild_result
from ..tensor import Tensor, wrap
from .grad_fn import NodeGradFn
from .node import Node
from .saved_tensors import SavedTensor
from .versions import PREFIX, PREFIXED, freed_error, stale_error, was_saved

# Options that PyTorch keeps as unsigned 64-bit integers: -1 shows as 2 ** 64 - 1.
UNSIGNED = {"dim", "dim0", "dim1", "dim2", "dims", "dimension", "index", "start", "end", "diagonal", "offset", "shifts"}
UNSIGNED |= {"ignore_index"}
# Operations whose `dim` is a list in PyTorch: a single one shows as a tuple.
OF_SEVERAL = {"sum", "mean", "std", "var", "linalg_vector_norm", "logsumexp"}
REDUCTIONS = ("none", "mean", "sum")


class OperationGradFn(NodeGradFn):
    """The GradFn of a table row; each row has a subclass of its own, named as PyTorch names it."""

    __slots__ = ()
    _unpacks_on_access = False

    def name(self) -> str:
        name = type(self).__name__
        return PREFIX + name if name in PREFIXED else name

    @property
    def next_functions(self) -> tuple:
        edges = zip(super().next_functions, self._node._next_nodes, strict=True)  # as in PyTorch, no (None, 0):
        return tuple(edge for edge, node in edges if node or type(self).__name__ != "NotImplemented")

    rebuild = staticmethod(rebuild_result)

    @staticmethod
    def attach(node: Node, tensor: Tensor, index: int) -> None:
        """Make a tensor the output of a node."""
        tensor._node = node

    def __call__(self, *grads):
        """Apply the derivatives to a gradient by hand, as in PyTorch."""
        shape = self._node._shape
        several = len(shape) > 0 and isinstance(shape[0], tuple)
        if len(grads) != (len(shape) if several else 1):
            raise TypeError(f"expected {len(shape) if several else 1} arguments, got {len(grads)} instead")
        if not isinstance(grads[0], Tensor):
            raise TypeError("argument 0 is not a Variable")
        given = dict(enumerate(grads)) if several else grads[0]
        results = self._node._kind.vjp_recorded(self._node, given, self._node._next_nodes)
        return results[0] if len(results) == 1 else tuple(results)


def make_grad_fn_class(
    name: str, op_name: str, saved_names: tuple = (), option_names: tuple = (), constants=()
) -> type[OperationGradFn]:
    """The class of an operation's `grad_fn`, with a property `_saved_NAME` for each value that it keeps."""
    shown = {f"_saved_{n}": value for n, value in dict(constants).items()}
    shown |= {f"_saved_{n}": _saved(i) for i, n in enumerate(saved_names) if n}
    shown |= {f"_raw_saved_{n}": _raw(i) for i, n in enumerate(saved_names) if n}
    shown |= {f"_saved_{_public(n)}": _option(i, n, op_name) for i, n in enumerate(option_names) if n[0] != "_"}
    return type(name, (OperationGradFn,), {"__slots__": (), "op_name": op_name} | shown)


def _public(name: str) -> str:
    """PyTorch's name for a shape that is kept: ``self_shape`` is ``self_sym_sizes``."""
    return name.replace("_shape", "_sym_sizes")


def _option(position: int, name: str, op_name: str) -> property:
    """``_saved_NAME`` of an option: a dim, an exponent, a shape."""
    return property(lambda grad_fn: _as_in_c(name, grad_fn._node._options[position], op_name))


def _as_in_c(name: str, value, op_name: str):
    if name == "reduction":
        return REDUCTIONS.index(value)
    if name == "dim" and op_name in OF_SEVERAL and isinstance(value, int):
        value = (value,)
    if name not in UNSIGNED:
        return value
    return tuple(map(_unsigned, value)) if isinstance(value, (tuple, list)) else _unsigned(value)


def _unsigned(value):
    return value % 2**64 if isinstance(value, int) else value


def _saved(position: int) -> property:
    """``_saved_NAME``: a tensor (a number as one, too); of indices a tuple, with None for a full slice.

    RuntimeError once it was freed or overwritten.
    """

    def value(grad_fn):
        node = grad_fn._node
        if node._saved is None and not was_saved(node, node._kind.saved_names[position]):
            return None
        if node._saved is None:
            raise freed_error(node)
        kept, version, now = node._entry(position)
        if version is not None and now > version:
            raise stale_error(node, node._kind.saved_names[position], now, version)
        if isinstance(kept, tuple):
            return tuple(None if isinstance(each, slice) else wrap(np.asarray(each)) for each in kept)
        return wrap(np.asarray(kept)) if isinstance(kept, (int, float)) else kept

    return property(value)


def _raw(position: int) -> property:
    """``_raw_saved_NAME``: the SavedTensor, which takes hooks; of indices a tuple of them."""

    def value(grad_fn):
        node = grad_fn._node
        kept = node._saved and node._saved[position]
        if isinstance(kept, tuple):
            return tuple(SavedTensor(node, position, part) for part in range(len(kept)))
        return SavedTensor(node, position)

    return property(value)
