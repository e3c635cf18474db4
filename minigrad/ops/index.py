"""Reading parts of a tensor. PyTorch counterparts: ``Tensor.__getitem__``, ``select``, ``narrow``."""

import numpy as np

from ..dispatch import op
from ..tensor import Tensor
from .shape import along, movedim, put, unsqueeze, view


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


def _all(count: int) -> tuple:
    return (slice(None),) * count


@op(
    constant=("index",),
    shown={"sparse_grad": False},
    self=lambda grad, index, dim, self_shape: put(grad, along(index, dim), self_shape),
)
def gather(self, dim, index):
    """At each place the element that ``index`` holds the position of along ``dim``. The result: of index's shape."""
    if index.ndim != self.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    return self[along(index, dim)]


@op(
    constant=("index",),
    self=lambda grad: grad,
    src=lambda grad, index, dim: gather(grad, dim, index),
)
def scatter_add(self, dim, index, src):
    """``self`` with each element of ``src`` added at the position along ``dim`` that ``index`` holds for it."""
    out = self.copy()
    np.add.at(out, along(index, dim), src)
    return out


def _whole(index, dim, shape) -> tuple:
    return (*_all(dim % len(shape)), index._array if isinstance(index, Tensor) else index)


@op(
    constant=("index",),
    self=lambda grad, index, dim, self_shape: put(grad, _whole(index, dim, self_shape), self_shape),
)
def index_select(self, dim, index):
    """The slices along ``dim`` whose positions a vector of integers holds, copied."""
    return np.take(self, index, dim)


def _windows_key(dimension, size, step, shape) -> tuple:
    starts = np.arange(0, shape[dimension] - size + 1, step)
    return (*_all(dimension % len(shape)), starts[:, None] + np.arange(size))


@op(
    view=True,
    self=lambda grad, dimension, size, step, self_shape: put(
        movedim(grad, -1, dimension % len(self_shape) + 1), _windows_key(dimension, size, step, self_shape), self_shape
    ),
)
def unfold(self, dimension, size, step):
    """Windows of ``size`` positions along a dimension, one each ``step``; the last dimension is the window's."""
    windows = np.lib.stride_tricks.sliding_window_view(self, size, dimension)
    return windows[(*_all(dimension % self.ndim), slice(None, None, step))]


def narrow(self, dim, start, length):
    """``length`` positions of a dimension from ``start`` on: a view. PyTorch counterpart: ``Tensor.narrow``."""
    if start + length > self.shape[dim]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({self.shape[dim]}).")
    return _one_key(self, dim % self.ndim, slice(start, start + length))[0]


def pick(self, dim, index):
    """One position of a dimension, which disappears: a view. PyTorch counterpart: ``Tensor.select``."""
    return _one_key(self, dim % self.ndim, index)[0]


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
