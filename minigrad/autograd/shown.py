"""What ``grad_fn`` shows of the values that its record keeps: ``_saved_self``, ``_saved_dim``, ``_raw_saved_result``.

PyTorch counterpart: the getters that ``tools/autograd/gen_autograd_functions.py`` writes.
"""

import numpy as np

from ..tensor import wrap
from .graph import freed_error, stale_error
from .saved_tensors import SavedTensor

# Integers that C++ keeps as 64 bits without a sign: -1 shows as 2 ** 64 - 1.
UNSIGNED = {"dim", "dim0", "dim1", "dim2", "dims", "dimension", "index", "start", "end", "diagonal", "offset", "shifts"}
# Operations that take several dimensions, and show one as several too.
OF_SEVERAL = {"sum", "mean", "std", "var", "linalg_vector_norm", "logsumexp"}
REDUCTIONS = ("none", "mean", "sum")


def public(name: str) -> str:
    """PyTorch's name for a shape that is kept: ``self_shape`` is ``self_sym_sizes``."""
    return name.replace("_shape", "_sym_sizes")


def option(position: int, name: str, op_name: str) -> property:
    """What is kept beside the tensors: a dim, an exponent, a shape."""
    return property(lambda node: _as_in_c(name, node.record.options[position], op_name))


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


def saved(position: int) -> property:
    """A tensor that is saved; a number as a tensor; of a key's indices, None for those of everything.

    RuntimeError once it is freed, or was overwritten since.
    """

    def value(node):
        record = node.record
        if record.saved is None:
            raise freed_error()
        kept, version, now = record.entry(position)
        if version is not None and now > version:
            raise stale_error(record, record.kind.saved_names[position], now, version)
        if isinstance(kept, tuple):
            return tuple(None if isinstance(each, slice) else wrap(np.asarray(each)) for each in kept)
        return wrap(np.asarray(kept)) if isinstance(kept, (int, float)) else kept

    return property(value)


def raw(position: int) -> property:
    """A saved value as it is kept, which takes hooks; of a key's indices, one each."""

    def value(node):
        kept = node.record.saved and node.record.saved[position]
        if isinstance(kept, tuple):
            return tuple(SavedTensor(node.record, position, part) for part in range(len(kept)))
        return SavedTensor(node.record, position)

    return property(value)
