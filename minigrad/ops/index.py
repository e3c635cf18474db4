"""Reading parts of a tensor. PyTorch counterparts: ``Tensor.__getitem__``, ``select``, ``narrow``."""

import numpy as np

from ..dispatch import op
from ..tensor import Tensor
from .shape import unsqueeze, view


@op(
    view=True,
    self=lambda grad, dim, index, self_shape: put(grad, (*_all(dim), index), self_shape),
)
def select(self, dim, index):
    """One position of a dimension, which disappears."""
    return self[(*_all(dim), index, ...)]


@op(
    view=True,
    name="slice",
    self=lambda grad, dim, start, end, step, self_shape: put(grad, (*_all(dim), slice(start, end, step)), self_shape),
)
def slice_(self, dim, start, end, step):
    """A range of positions of a dimension."""
    return self[(*_all(dim), slice(start, end, step), ...)]


@op(name="index", self=lambda grad, indices, self_shape: put(grad, indices, self_shape))
def index(self, indices):
    """The elements that lists or masks pick, copied."""
    return self[indices]


@op(node="PutBackward0", self=lambda grad, indices: grad[indices])
def put(self, indices, shape):
    """Zeros of ``shape`` with this tensor added in at ``indices``: the derivative of reading there."""
    full = np.zeros(shape, self.dtype)
    np.add.at(full, indices, self)
    return full


def _all(count: int) -> tuple:
    return (slice(None),) * count


def getitem(self, key):
    """``self[key]``: views for numbers, slices and None, as one operation each; a copy for lists and masks."""
    keys = key if isinstance(key, tuple) else (key,)
    if Ellipsis in [k for k in keys if not isinstance(k, (Tensor, np.ndarray))]:
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        used = sum(1 for k in keys if k is not None) - 1
        keys = (*keys[:at], *_all(self.ndim - used), *keys[at + 1 :])
    if not all(k is None or isinstance(k, (int, slice, np.integer)) for k in keys):
        return index(self, tuple(k._array if isinstance(k, Tensor) else k for k in keys))
    dim, result = 0, self
    for k in keys:
        result, kept = _one_key(result, dim, k)
        dim += kept
    return result if result is not self else view_of_all(self)


def _one_key(tensor, dim: int, key) -> tuple:
    """Apply one key; returns the result and how many dimensions it leaves in that place."""
    if key is None:
        return unsqueeze(tensor, dim), 1
    if dim >= tensor.ndim:
        raise IndexError(f"too many indices for tensor of dimension {tensor.ndim}")
    length = tensor._array.shape[dim]
    if isinstance(key, slice):
        if key == slice(None):
            return tensor, 1
        start, end, step = key.indices(length)
        if step < 1:
            raise ValueError("step must be greater than zero")
        return slice_(tensor, dim, start, max(start, end), step), 1
    if not -length <= key < length:
        raise IndexError(f"index {key} is out of bounds for dimension {dim} with size {length}")
    return select(tensor, dim, int(key)), 0


def view_of_all(tensor):
    """What ``x[:]`` and ``x[...]`` give: a view of everything."""
    return view(tensor, tuple(tensor.shape))
