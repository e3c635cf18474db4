"""Operations that rearrange elements: views where NumPy can give one, and joins.

A view shares its base's memory and version counter. PyTorch counterparts: the methods of the same names.
"""

import functools
import itertools

import numpy as np

from .. import dtypes
from ..dispatch import op, op_of_many
from ..messages import expand_refused, refusal
from ..tensor import Tensor
from .pointwise import clone


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
    if axes and not shape and isinstance(self, Tensor):
        return self.sum()
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
    try:
        return np.broadcast_to(self, sizes)
    except ValueError:
        raise expand_refused(self.shape, sizes, dtypes.from_numpy_dtype(self.dtype).tensor_type) from None


@op(view=True, self=lambda grad, self_shape: view(grad, self_shape))
def view(self, shape):
    """The same elements in another shape."""
    return np.reshape(self, shape)


@op(node="UnsafeViewBackward0", self=lambda grad, self_shape: view(grad, self_shape))
def unsafe_view(self, shape):
    """Another shape for a fresh result that nothing else refers to: not a view of anything."""
    return np.reshape(self, shape)


def reshape(self, *shape):
    """The same elements in another shape: a view where one is possible, else a copy. PyTorch: ``torch.reshape``."""
    shape = sizes_of(shape)
    if not self._array.flags.c_contiguous:
        try:
            np.reshape(self._array, shape, copy=False)
        except ValueError:
            return unsafe_view(clone(self), shape)
    return view(self, shape)


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


def flatten(self, start_dim=0, end_dim=-1):
    """The dimensions from ``start_dim`` to ``end_dim`` as one. PyTorch counterpart: ``torch.flatten``."""
    start, end = start_dim % (self.ndim or 1), end_dim % (self.ndim or 1)
    return reshape(self, (*self.shape[:start], -1, *self.shape[end + 1 :]))


def movedim(self, source, destination):
    """Move a dimension to another place; the rest keep their order. PyTorch counterpart: ``torch.movedim``."""
    order = list(range(self.ndim))
    order.insert(destination % self.ndim, order.pop(source % self.ndim))
    return permute(self, tuple(order))


def _repeat_back(grad, repeats, shape):
    """Sum over the copies: each dimension becomes a pair, how many copies and how long."""
    added = len(repeats) - len(shape)
    pairs = zip(repeats, (1,) * added + shape, strict=True)
    copies = (*range(2 * added), *range(2 * added, 2 * len(repeats), 2))
    return view(grad, tuple(itertools.chain(*pairs))).sum(copies)


@op(self=lambda grad, repeats, self_shape: _repeat_back(grad, repeats, self_shape))
def repeat(self, repeats):
    """Copies of the tensor side by side, ``repeats`` of them per dimension."""
    if len(repeats) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    return np.tile(self, repeats)


@op(name="flip", self=lambda grad, dims: reverse(grad, dims))
def reverse(self, dims):
    """The elements in reverse order along dimensions, copied."""
    return np.flip(self, dims).copy()


def flip(self, *dims):
    """The elements in reverse order along ``dims``, copied. PyTorch counterpart: ``torch.flip``."""
    return reverse(self, sizes_of(dims))


@op(name="roll", self=lambda grad, shifts, dims: rotate(grad, tuple(-n for n in shifts), dims))
def rotate(self, shifts, dims):
    """Shift the elements along dimensions, or flat if there are none: out at one end, in at the other."""
    return np.roll(self, shifts, dims or None)


def roll(self, shifts, dims=()):
    """Shift the elements along ``dims``, or flat: out at one end, in at the other. PyTorch: ``torch.roll``."""
    return rotate(self, *((n,) if isinstance(n, int) else tuple(n) for n in (shifts, dims)))


def sizes_of(args):
    """The numbers that a method was given, be it one by one or as a tuple."""
    return tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args


@op(self=lambda grad, diagonal: tril(grad, diagonal))
def tril(self, diagonal=0):
    """The elements on and below a diagonal of matrices, zeros above."""
    return np.tril(self, diagonal)


@op(self=lambda grad, diagonal: triu(grad, diagonal))
def triu(self, diagonal=0):
    """The elements on and above a diagonal of matrices, zeros below."""
    return np.triu(self, diagonal)


@op(
    view=True,
    self=lambda grad, offset, dim1, dim2, self_shape: embed_diagonal(grad, offset, dim1, dim2, self_shape),
)
def diagonal(self, offset=0, dim1=0, dim2=1):
    """The diagonal of matrices, ``offset`` above the main one, as the last dimension: a view."""
    line = np.diagonal(self, offset, dim1, dim2)
    line.flags.writeable = self.flags.writeable
    return line


@op(
    node="DiagonalBackward0_copy",
    name="diagonal",
    self=lambda grad, offset, dim1, dim2, self_shape: embed_diagonal(grad, offset, dim1, dim2, self_shape),
)
def copy_diagonal(self, offset, dim1, dim2):
    """The diagonal of a matrix, copied."""
    return np.diagonal(self, offset, dim1, dim2).copy()


@op(
    node="DiagEmbedBackward0",
    name="diag_embed",
    self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)
def embed_diagonal(self, offset, dim1, dim2, shape):
    """Zeros of ``shape`` with this tensor on a diagonal."""
    full = np.zeros(shape, self.dtype)
    line = np.diagonal(full, offset, dim1, dim2)
    line.setflags(write=True)
    line[...] = self
    return full


def diag(self, diagonal=0):
    """The diagonal of a matrix, copied; or the matrix with a vector on its diagonal. PyTorch: ``torch.diag``."""
    if self.ndim == 2:
        return copy_diagonal(self, diagonal, 0, 1)
    length = self.numel() + (diagonal if diagonal > 0 else -diagonal)
    return embed_diagonal(self, diagonal, 0, 1, (length, length))


def _trace_back(grad, shape):
    return embed_diagonal(expand(grad, (min(shape),)), 0, 0, 1, shape)


@op(self=lambda grad, self_shape: _trace_back(grad, self_shape))
def trace(self):
    """The sum of a matrix's diagonal."""
    return np.trace(self)


@op(view=True, name="split", self=lambda grads, split_size, dim: cat(grads, dim))
def split_evenly(self, split_size, dim):
    """Views of ``split_size`` positions each along a dimension, the last of what is left."""
    return np.split(self, range(split_size, self.shape[dim], split_size), dim)


@op(view=True, self=lambda grads, split_sizes, dim: cat(grads, dim))
def split_with_sizes(self, split_sizes, dim):
    """Views of the sizes given along a dimension."""
    return np.split(self, tuple(itertools.accumulate(split_sizes))[:-1], dim)


def split(self, split_size_or_sections, dim=0):
    """Views along ``dim`` of so many positions each, or of the sizes in a list. PyTorch: ``torch.split``."""
    if isinstance(split_size_or_sections, int):
        return split_evenly(self, split_size_or_sections, dim)
    return split_with_sizes(self, tuple(split_size_or_sections), dim)


def chunk(self, chunks, dim=0):
    """At most ``chunks`` views of equal length along ``dim``, the last maybe shorter. PyTorch: ``torch.chunk``."""
    return split_evenly(self, -(-self.shape[dim] // chunks), dim)


def _split_back(grad, dim, sizes):
    """The parts of a joined gradient that belong to each input."""
    before = (slice(None),) * (dim % grad.ndim)
    ends = list(itertools.accumulate(sizes))
    return tuple(grad[(*before, slice(end - n, end))] for n, end in zip(sizes, ends, strict=True))


@op_of_many(tensors=_split_back, keep=lambda arrays, dim: (dim, [a.shape[dim] for a in arrays]))
def cat(tensors, dim=0):
    """Join tensors along an existing dimension."""
    if not tensors:
        raise refusal("cat of nothing")
    return np.concatenate(tensors, dim)


def _take_apart(grad, dim, count):
    before = (slice(None),) * (dim % grad.ndim)
    return tuple(grad[(*before, i)] for i in range(count))


@op_of_many(tensors=_take_apart, keep=lambda arrays, dim: (dim, len(arrays)))
def stack(tensors, dim=0):
    """Join tensors of one shape along a new dimension."""
    if not tensors:
        raise refusal("stack of nothing")
    return np.stack(tensors, dim)


@op(view=True, self=lambda grads, dim: stack(grads, dim))
def unbind(self, dim=0):
    """All slices along a dimension, as a tuple."""
    slices = np.moveaxis(self, dim, 0)
    return tuple(slices[i, ...] for i in range(len(slices)))


@op(node="PutBackward0", self=lambda grad, indices: grad[indices])
def put(self, indices, shape):
    """Zeros of ``shape`` with this tensor added in at ``indices``: the derivative of reading there."""
    full = np.zeros(shape, self.dtype)
    np.add.at(full, indices, self)
    return full


def along(index, dim) -> tuple:
    """What picks, at each place of ``index``, the position that it holds along ``dim``: NumPy's key for that."""
    index = index._array if isinstance(index, Tensor) else index
    key = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    if key:
        key[dim] = index
    return tuple(key)
