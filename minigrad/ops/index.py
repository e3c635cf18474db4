"""Reading parts of a tensor. PyTorch counterparts: ``Tensor.__getitem__``, ``select``, ``narrow``."""

import numpy as np

from ..dispatch import op
from ..tensor import Tensor


@op(name="put", self=lambda grad, index: take(grad, index))
def put(self, index, shape):
    """Zeros of ``shape`` with this tensor added in at ``index``: the derivative of reading there."""
    full = np.zeros(shape, self.dtype)
    np.add.at(full, index, self)
    return full


@op(view=True, node="SelectBackward0", name="select", self=lambda grad, index, self_shape: put(grad, index, self_shape))
def select(self, index):
    """The elements at one position of the leading dimensions."""
    return self[(*index, ...)]


@op(view=True, node="SliceBackward0", name="slice", self=lambda grad, index, self_shape: put(grad, index, self_shape))
def slice_(self, index):
    """A range of elements along the leading dimensions."""
    return self[index]


@op(node="IndexBackward0", name="index", self=lambda grad, index, self_shape: put(grad, index, self_shape))
def take(self, index):
    """The elements that a list or a mask picks, copied."""
    return self[index]


def getitem(self, key):
    """``self[key]``: a view for numbers and slices, a copy for lists and masks."""
    keys = key if isinstance(key, tuple) else (key,)
    keys = tuple(k._array if isinstance(k, Tensor) else k for k in keys)
    if all(isinstance(k, (int, np.integer)) for k in keys):
        for position, k in enumerate(keys):
            if not -self._array.shape[position] <= k < self._array.shape[position]:
                raise IndexError(
                    f"index {k} is out of bounds for dimension {position} with size {self._array.shape[position]}"
                )
        return select(self, keys)
    if all(isinstance(k, (int, slice, np.integer)) or k is None or k is Ellipsis for k in keys):
        return slice_(self, keys)
    return take(self, keys)
