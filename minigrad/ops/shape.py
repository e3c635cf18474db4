"""Operations that rearrange elements: views where NumPy can give one, and joins.

A view shares its base's memory and version counter. PyTorch counterparts: the methods of the same names.
"""

import functools
import itertools

import numpy as np

from ..dispatch import op, op_of_many
from ..tensor import Tensor


@functools.lru_cache(maxsize=64)
def _ones(length, dtype):
    return np.ones(length, dtype)


def sum_to(self, shape):
    """Sum the dimensions that broadcasting added or stretched, back to ``shape``."""
    extra = self.ndim - len(shape)
    if extra == 1 == len(shape) and self.__class__ is np.ndarray and self.shape[1:] == shape:
        return _ones(len(self), self.dtype).dot(self)  # a bias: several times as fast as summing the rows
    axes = [
        *range(extra),
        *(i + extra for i, n in enumerate(shape) if n == 1 and self.shape[i + extra] != 1),
    ]
    if axes:
        self = self.sum(tuple(axes), keepdims=True) if not isinstance(self, Tensor) else self.sum(axes, True)
    return self if self.shape == tuple(shape) else view(self, tuple(shape))


@op(view=True, self=lambda grad, self_shape: sum_to(grad, self_shape))
def expand(self, sizes):
    """Repeat dimensions of length 1 without copying: a read-only view with stride 0."""
    if -1 in sizes:
        sizes = tuple(self.shape[i - len(sizes)] if n == -1 else n for i, n in enumerate(sizes))
    if self.shape == () and self.flags.c_contiguous:  # what sum's derivative asks; broadcast_to takes 10 times longer
        return np.ndarray(sizes, self.dtype, self, strides=(0,) * len(sizes))
    return np.broadcast_to(self, sizes)


@op(view=True, self=lambda grad, self_shape: view(grad, self_shape))
def view(self, shape):
    """The same elements in another shape."""
    return np.reshape(self, shape)


@op(np.ndarray.transpose, view=True, self=lambda grad: t(grad))
def t(self):
    """The transpose of a matrix."""


@op(view=True, self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1))
def transpose(self, dim0, dim1):
    """Swap two dimensions."""
    return np.swapaxes(self, dim0, dim1)


@op(view=True, self=lambda grad, dims: permute(grad, tuple(np.argsort(dims).tolist())))
def permute(self, dims):
    """Put the dimensions in another order."""
    return np.transpose(self, dims)


@op(view=True, self=lambda grad, dim: squeeze_dim(grad, dim))
def unsqueeze(self, dim):
    """Add a dimension of length 1 at ``dim``."""
    return np.expand_dims(self, dim)


def _put_back(grad, dim, shape):
    return unsqueeze(grad, dim) if shape[dim] == 1 else grad


@op(
    view=True,
    node="SqueezeBackward1",
    name="squeeze",
    self=lambda grad, dim, self_shape: _put_back(grad, dim, self_shape),
)
def squeeze_dim(self, dim):
    """Drop dimension ``dim`` if its length is 1."""
    return np.squeeze(self, dim) if self.shape[dim] == 1 else self[...]


@op(view=True, node="SqueezeBackward4", name="squeeze", self=lambda grad, dim: unsqueeze(grad, dim))
def squeeze_product(self, dim):
    """Drop the dimension that vector @ matrix added for the product."""
    return np.squeeze(self, dim)


@op(view=True, self=lambda grad, self_shape: view(grad, self_shape))
def squeeze(self):
    """Drop every dimension of length 1."""
    return np.squeeze(self)


def _split_back(grad, dim, sizes):
    """The parts of a joined gradient that belong to each input."""
    before = (slice(None),) * (dim % grad.ndim)
    ends = list(itertools.accumulate(sizes))
    return tuple(grad[(*before, slice(end - n, end))] for n, end in zip(sizes, ends, strict=True))


@op_of_many(tensors=_split_back, keep=lambda arrays, dim: (dim, [a.shape[dim] for a in arrays]))
def cat(tensors, dim=0):
    """Join tensors along an existing dimension."""
    return np.concatenate(tensors, dim)


def _take_apart(grad, dim, count):
    before = (slice(None),) * (dim % grad.ndim)
    return tuple(grad[(*before, i)] for i in range(count))


@op_of_many(tensors=_take_apart, keep=lambda arrays, dim: (dim, len(arrays)))
def stack(tensors, dim=0):
    """Join tensors of one shape along a new dimension."""
    return np.stack(tensors, dim)


@op(view=True, self=lambda grads, dim: stack(grads, dim))
def unbind(self, dim=0):
    """All slices along a dimension, as a tuple."""
    slices = np.moveaxis(self, dim, 0)
    return tuple(slices[i, ...] for i in range(len(slices)))
