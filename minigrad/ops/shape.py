"""Operations that rearrange elements: views where NumPy can give one, and joins.

A view shares its base's memory and version counter. PyTorch counterparts: the methods of the same names.
"""

import functools
import itertools
import math
import operator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .. import dtypes
from ..autograd.dual import dual_levels
from ..autograd.grad_mode import mode
from ..autograd.node import Kind
from ..autograd.versions import FRESH, own_counter
from ..dispatch import camel, make_grad_fn_class, op, record_node
from ..messages import (
    TRANSPOSED,
    TRANSPOSED_NUMBER,
    dim_refused,
    expand_refused,
    join_refused,
    refusal,
    shapes_refused,
    type_name,
    view_refused,
    warn_once,
)
from ..operands import constant, promote
from ..tensor import Tensor, wrap
from .pointwise import clone, masked

SMALL = 4096  # elements: what is kept for positions in as many is worth its memory
_OF_A_MATRIX = (0, 1, -1, -2)  # its dimensions


@functools.lru_cache(maxsize=64)
def _ones(length, dtype):
    return np.ones(length, dtype)


def column_sums(array):
    """The sum of a matrix's rows: as a product, which is several times as fast as ``array.sum(0)``."""
    return _ones(len(array), array.dtype).dot(array)


def sums(array, dim=None, keepdim=False, dtype=None):
    """``array.sum(dim)``. Along a dimension of a matrix as a product too, if no line is long: in half of the time.

    (A product adds up with less care than NumPy does. In lines of four thousand numbers it makes no difference.)
    """
    if array.ndim != 2 or array.dtype.char not in "fd":
        return np.add.reduce(array, dim, dtype, None, keepdim)  # np.sum does the same, after a microsecond
    if dim is None and array.size > SMALL and not keepdim:
        return np.add.reduce(sums(array, 1))
    if dim not in _OF_A_MATRIX or array.shape[dim] > SMALL:
        return np.add.reduce(array, dim, None, None, keepdim)
    ones = _ones(array.shape[dim], array.dtype)
    found = array.dot(ones) if dim % 2 else ones.dot(array)
    return found.reshape((-1, 1) if dim % 2 else (1, -1)) if keepdim else found


def sums_of_squares(array, dim=None, keepdim=False):
    """The squares, added up. Those of all elements of a small array as one product: in half of the time."""
    if dim is None and not keepdim and array.size <= SMALL and array.dtype.char in "fd":
        return np.vdot(array, array)
    return sums(array * array, dim, keepdim)


def sum_to(self, shape):
    """Sum the dimensions that broadcasting added or stretched, back to ``shape``."""
    lengths = (self._array if isinstance(self, Tensor) else self).shape
    extra = len(lengths) - len(shape)
    axes = (*range(extra), *[i for i, n in enumerate(shape, extra) if n == 1 and lengths[i] != 1])
    if axes and isinstance(self, Tensor):
        self = self.sum(axes, True) if shape else self.sum()
    elif axes:
        self = np.add.reduce(self, axes, None, None, True)
    return view(self, shape) if extra and self.ndim else self


def expandable(shape: tuple, larger: tuple) -> bool:
    """Whether broadcasting can stretch `shape` to `larger`."""
    extra = len(larger) - len(shape)
    return larger[extra:] == shape or (
        extra >= 0 and all([a in (1, b) for a, b in zip(shape, larger[extra:], strict=True)])
    )


@op(view=True, self=lambda grad, self_shape: sum_to(grad, self_shape))
def expand(self, sizes):
    """Repeat dimensions of length 1 without copying: a view with stride 0."""
    shape, asked = self.shape, sizes
    added = len(sizes) - len(shape)
    if sizes == shape:
        return self[...]
    if sizes and min(sizes) < 0:
        if min(sizes) < -1 and expandable(shape, tuple(abs(n) for n in sizes)):
            raise RuntimeError("numel: integer multiplication overflow")
        sizes = tuple(shape[i - added] if n == -1 and i >= added else n for i, n in enumerate(sizes))
        strides = _expanded_strides(sizes, self)
    elif sizes[added:] == shape and (not shape or 1 not in sizes[:added]):  # as the derivative of a sum asks
        strides = [*(0,) * added, *self.strides]
    else:
        strides = _expanded_strides(sizes, self)
    if strides is None:
        raise expand_refused(shape, asked, dtypes.from_numpy_dtype(self.dtype).tensor_type)
    if self.flags.c_contiguous and self.size:
        return np.ndarray(sizes, self.dtype, self, 0, strides)  # in a tenth of the time that as_strided takes
    return as_strided(self, sizes, strides, writeable=self.flags.writeable)


def _expanded_strides(sizes: tuple, array: np.ndarray) -> list | None:
    """PyTorch's strides, which differ from those of NumPy where a length is 1. None if the sizes do not fit."""
    added = len(sizes) - array.ndim
    if added < 0:
        return None
    strides = []
    for step, old, new in zip(array.strides, array.shape, sizes[added:], strict=True):
        if old != new and (old != 1 or new < 0):
            return None
        strides.append(step if old == new else 0)
    for length in sizes[:added][::-1]:
        if length < 0:
            return None
        strides.insert(0, sizes[-len(strides)] * strides[0] if length == 1 and strides else 0)
    return strides


@op(view=True, self=lambda grad, self_shape: view(grad, self_shape))
def view(self, shape):
    """The same elements in another shape."""
    try:
        if shape and min(shape) < -1:  # which NumPy takes for -1
            raise ValueError
        return self.reshape(shape)
    except ValueError:
        raise view_refused(self.size, shape) from None


@op(view=True, self=lambda grad, self_shape: view(grad, self_shape))
def reshape_alias(self, shape):
    """The same elements in another shape, where their order in memory is another too."""
    return view.row.forward(self, shape)


def view_of(self, *shape, size=None):
    """The same elements in another shape, refused where they would have to be copied. PyTorch: ``Tensor.view``."""
    shape = sizes_of(shape, size)
    if not self._array.flags.c_contiguous and not _fits_in_place(self._array, shape):
        raise refusal("view of strides", about=self)
    return view(self, shape)


def _fits_in_place(array, shape):
    try:
        np.reshape(array, shape, copy=False)
    except ValueError as error:
        return "copy" not in str(error)  # another shape than the elements fill: that is refused elsewhere
    return True


@op(np.ndarray.reshape, node="UnsafeViewBackward0", self=lambda grad, self_shape: view(grad, self_shape))
def unsafe_view(self, shape):
    """Another shape for a fresh result that nothing else refers to: not a view of anything."""


def reshape(self, *sizes, shape=None):
    """The same elements in another shape: a view where one is possible, else a copy. PyTorch: ``torch.reshape``."""
    return reshaped(self, sizes_of(sizes, shape))


def reshaped(self, shape):
    """`reshape`, for a shape that is a tuple."""
    if self._array.flags.c_contiguous:
        return view(self, shape)
    if _fits_in_place(self._array, shape) or min(shape) < -1:  # which is refused there
        return reshape_alias(self, shape)
    return unsafe_view(clone(self), shape)


@op(np.ndarray.transpose, view=True, name="t", self=lambda grad: transposed(grad) if grad.ndim else grad)
def transposed(self):
    """The transpose of a matrix."""


def t(self):
    """The transpose of a matrix; a vector or a number as it is. PyTorch counterpart: ``torch.t``."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return transposed(self)


@op(view=True, self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1))
def transpose(self, dim0, dim1):
    """Swap two dimensions."""
    if self.ndim == 0:
        place(dim0, 0), place(dim1, 0)
        return self[...]
    return self.swapaxes(dim0, dim1)


def matrix_transpose(self):
    """The last two dimensions swapped. PyTorch counterpart: ``Tensor.mT``."""
    if self.ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not self.ndim:
        warn_once(TRANSPOSED_NUMBER.format("mT"), stacklevel=3)
        return self
    return transpose(self, -2, -1)


@op(view=True, self=lambda grad, dims: permute(grad, tuple(np.argsort([d % len(dims) for d in dims]).tolist())))
def permute(self, dims):
    """Put the dimensions in another order."""
    try:
        return self.transpose(dims)
    except ValueError:
        if len(dims) == self.ndim:
            for dim in dims:
                place(dim, self.ndim)  # which refuses one that is not there
            raise RuntimeError("permute(): duplicate dims are not allowed.") from None
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(dims)}"
        ) from None


def reversed_dims(self):
    """The dimensions in reverse order; the transpose of a matrix. PyTorch counterpart: ``Tensor.T``."""
    ndim = self._array.ndim
    if ndim == 2:
        return permute(self, (1, 0))
    warn_once(TRANSPOSED if ndim else TRANSPOSED_NUMBER.format("T"), stacklevel=3)
    return permute(self, tuple(range(ndim - 1, -1, -1)))


@op(view=True, self=lambda grad, dim: squeeze_dim(grad, dim))
def unsqueeze(self, dim):
    """Add a dimension of length 1 at ``dim``."""
    shape = self.shape
    if dim == 0:
        return self.reshape((1, *shape))
    place = dim if dim > 0 else dim + len(shape) + 1
    if not 0 <= place <= len(shape):
        return np.expand_dims(self, dim)  # which refuses
    return self.reshape((*shape[:place], 1, *shape[place:]))


def place(dim, ndim):
    """A dimension counted from the front. A 0-d tensor has the dimensions 0 and -1, as in PyTorch."""
    most = ndim or 1
    if not -most <= dim < most:
        raise dim_refused(dim, ndim)
    return dim % most


def distinct(dims, ndim) -> tuple:
    """Several dimensions counted from the front, none of them given twice."""
    places = tuple([place(dim, ndim) for dim in dims])
    for dim in places:
        if places.count(dim) > 1:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return places


def broadcast_shape(*tensors):
    """The shape in which tensors meet."""
    arrays = [tensor._array for tensor in tensors]
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError as error:
        raise shapes_refused("broadcast", error, *arrays) from None


def _squeeze_backward(grad, dim, shape):
    return unsqueeze(grad, dim) if shape and shape[dim] == 1 else grad


@op(
    view=True,
    node="SqueezeBackward1",
    name="squeeze",
    self=lambda grad, dim, self_shape: _squeeze_backward(grad, dim, self_shape),
)
def squeeze_dim(self, dim):
    """Drop dimension ``dim`` if its length is 1."""
    try:
        return self.squeeze(dim)
    except ValueError:
        place(dim, self.ndim)  # which refuses one that is not there
        return self[...]


@op(node="SqueezeBackward4", name="squeeze", self=lambda grad, dim: unsqueeze(grad, dim))
def squeeze_copy(self, dim):
    """The tensor without a dimension of length 1."""
    return np.squeeze(self, dim)


def squeeze_product(self, dim):
    """Drop the dimension that vector @ matrix added for the product: in place in PyTorch, which counts as a change."""
    result = squeeze_copy(self, dim)
    if result._version_counter is FRESH:
        own_counter(result)[0] = 1
    return result


@op(view=True, name="squeeze", self=lambda grad, self_shape: view(grad, self_shape))
def squeeze_all(self):
    """Drop every dimension of length 1."""
    return np.squeeze(self)


@op(view=True, name="squeeze", node="SqueezeBackward2", self=lambda grad, dim, self_shape: view(grad, self_shape))
def squeeze_dims(self, dim):
    """Drop those of the dimensions whose length is 1."""
    return np.squeeze(self, tuple(d for d in distinct(dim, self.ndim) if self.ndim and self.shape[d] == 1))


def squeeze(self, dim=None):
    """Drop every dimension of length 1, or those of ``dim`` only. PyTorch counterpart: ``torch.squeeze``."""
    if dim is None:
        return squeeze_all(self)
    if isinstance(dim, (tuple, list)):
        return squeeze_dims(self, tuple(dim))
    return squeeze_dim(self, dim)


def flatten(self, start_dim=0, end_dim=-1):
    """The dimensions from ``start_dim`` to ``end_dim`` as one. PyTorch counterpart: ``torch.flatten``."""
    shape = self._array.shape
    start, end = place(start_dim, len(shape)), place(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end and shape:
        return self
    return reshaped(self, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


def movedim(self, source, destination):
    """Move dimensions to other places; the rest keep their order. PyTorch counterpart: ``torch.movedim``."""
    sources, places = ([place(d, self.ndim) for d in sizes_of((dims,))] for dims in (source, destination))
    if not self.ndim:
        return full_view(self)
    order = [dim for dim in range(self.ndim) if dim not in sources]
    for position, dim in sorted(zip(places, sources, strict=True)):
        order.insert(position, dim)
    return permute(self, tuple(order))


@op(view=True, name="alias", self=lambda grad: grad)
def full_view(self):
    """A view of everything: what ``x[...]`` gives."""
    return self[...]


def _repeat_backward(grad, repeats, shape):
    """Sum over the copies: each dimension becomes a pair, how many copies and how long."""
    added = len(repeats) - len(shape)
    pairs = zip(repeats, (1,) * added + shape, strict=True)
    copies = (*range(2 * added), *range(2 * added, 2 * len(repeats), 2))
    return view(grad, tuple(itertools.chain(*pairs))).sum(copies)


@op(self=lambda grad, repeats, self_shape: _repeat_backward(grad, repeats, self_shape))
def repeat(self, repeats):
    """Copies of the tensor side by side, ``repeats`` of them per dimension."""
    if len(repeats) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    return np.tile(self, repeats)


@op(name="flip", layout="first", self=lambda grad, dims: reverse(grad, dims))
def reverse(self, dims):
    """The elements in reverse order along dimensions, copied."""
    key = [slice(None)] * self.ndim
    for dim in dims if key else ():  # a number has a dimension 0, too
        key[dim] = slice(None, None, -1)
    return self[tuple(key)].copy()


def flip(self, *each, dims=None):
    """The elements in reverse order along ``dims``, copied. PyTorch counterpart: ``torch.flip``."""
    dims = sizes_of(each, dims)
    distinct(dims, self._array.ndim)
    return reverse(self, dims)


@op(name="roll", layout="rows", self=lambda grad, shifts, dims: rotate(grad, tuple(-n for n in shifts), dims))
def rotate(self, shifts, dims):
    """Shift the elements along dimensions, or flat if there are none: out at one end, in at the other."""
    if self.size and self.ndim and len(dims) == 1 and dims[0] >= 0:  # a third of the time that np.roll takes
        before, cut = (slice(None),) * place(dims[0], self.ndim), -shifts[0] % self.shape[dims[0]]
        return np.concatenate((self[(*before, slice(cut, None))], self[(*before, slice(cut))]), dims[0])
    return np.roll(self, shifts, dims or None) if self.size else self.copy()


def roll(self, shifts, dims=()):
    """Shift the elements along ``dims``, or flat: out at one end, in at the other. PyTorch: ``torch.roll``."""
    shifts, dims = ((n,) if isinstance(n, int) else tuple(n) for n in (shifts, dims))
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    return rotate(self, shifts, dims)


def sizes_of(args, named=None):
    """The numbers that a method was given, be it one by one, as a tuple, or by name."""
    if named is not None:
        args = (named,)
    if len(args) != 1 or args[0].__class__ is int:
        return args
    return tuple(args[0]) if isinstance(args[0], (tuple, list)) else args


def _matrix(name, self):
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    return self


def _below(array, diagonal):
    """Which elements of matrices are on or below a diagonal."""
    height, width = array.shape[-2:]
    return (_tri if height * width <= SMALL else np.tri)(height, width, diagonal, np.bool_)


_tri = functools.lru_cache(maxsize=64)(np.tri)


@op(layout="rows", self=lambda grad, diagonal: tril(grad, diagonal))
def tril(self, diagonal=0):
    """The elements on and below a diagonal of matrices, zeros above."""
    return masked(_matrix("tril", self), _below(self, diagonal))


@op(layout="rows", self=lambda grad, diagonal: triu(grad, diagonal))
def triu(self, diagonal=0):
    """The elements on and above a diagonal of matrices, zeros below."""
    return masked(_matrix("triu", self), ~_below(self, diagonal - 1))


@op(
    view=True,
    self=lambda grad, offset, dim1, dim2, self_shape: embed_diagonal(grad, offset, dim1, dim2, self_shape),
)
def diagonal(self, offset=0, dim1=0, dim2=1):
    """The diagonal of matrices, ``offset`` above the main one, as the last dimension: a view."""
    try:
        line = self.diagonal(offset, dim1, dim2)
    except ValueError:
        if place(dim1, self.ndim) != place(dim2, self.ndim):
            raise
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}") from None
    line.setflags(write=self.flags.writeable)
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
    if self.ndim != 1:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")
    length = self.numel() + (diagonal if diagonal > 0 else -diagonal)
    return embed_diagonal(self, diagonal, -2, -1, (length, length))


def _trace_backward(grad, shape):
    return embed_diagonal(expand(grad, (min(shape),)), 0, 0, 1, shape)


@op(self=lambda grad, self_shape: _trace_backward(grad, self_shape))
def trace(self):
    """The sum of a matrix's diagonal."""
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return np.add.reduce(self.diagonal(), None, self.dtype if self.dtype.kind == "f" else np.int64)


@op(view=True, name="split", self=lambda grads, split_size, dim: cat(grads, dim))
def split_evenly(self, split_size, dim):
    """Views of ``split_size`` positions each along a dimension, the last of what is left."""
    before, length = (slice(None),) * place(dim, self.ndim), self.shape[dim]
    return [self[*before, at : at + split_size] for at in range(0, length, split_size or 1)] or [self]


@op(view=True, self=lambda grads, split_sizes, dim: cat(grads, dim))
def split_with_sizes(self, split_sizes, dim):
    """Views of the sizes given along a dimension."""
    return np.split(self, tuple(itertools.accumulate(split_sizes))[:-1], dim)


def split(self, split_size_or_sections, dim=0):
    """Views along ``dim`` of so many positions each, or of the sizes in a list. PyTorch: ``torch.split``."""
    _check_parts("split", self, dim)
    length = self._array.shape[dim]
    if not isinstance(split_size_or_sections, int):
        return split_with_sizes(self, _covering(split_size_or_sections, length, dim), dim)
    if split_size_or_sections < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size_or_sections}")
    if length and not split_size_or_sections:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}")
    return split_evenly(self, split_size_or_sections, dim)


def _covering(sizes, length, dim) -> tuple:
    """The sizes of the parts, if together they are the whole."""
    if functools.reduce(operator.add, sizes, 0) != length:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(sizes)}"
        )
    return tuple(sizes)


def chunk(self, chunks, dim=0):
    """At most ``chunks`` views of equal length along ``dim``, the last maybe shorter. PyTorch: ``torch.chunk``."""
    _check_parts("chunk", self, dim)
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = self._array.shape[dim]
    return split_evenly(self, -(-length // chunks), dim) if length else split_with_sizes(self, (0,) * chunks, dim)


def _check_parts(name, self, dim):
    if not self._array.ndim:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")
    place(dim, self._array.ndim)


def op_of_many(*, tensors, keep):
    """Like `@op`, for a forward whose first argument is a list of tensors (``cat``, ``stack``).

    `tensors` is the derivative: it returns one gradient per tensor, and is given the gradient and what
    `keep(arrays, dim)` returned in the forward.
    """

    def decorate(forward):
        name = forward.__name__
        names = ("dim", "_sizes")
        kind = Kind(name, make_grad_fn_class(camel(name) + "Backward0", name, (), names), (), names)

        def vjp(node, grad, next_nodes):
            grads = tensors(grad, *node._options)
            return [None if n is None else g for g, n in zip(grads, next_nodes, strict=True)]

        kind.vjp = kind.vjp_recorded = vjp

        @functools.wraps(forward)
        def function(tensors, dim=0, axis=None):
            dim = dim if axis is None else axis
            if not _are_tensors(name, tensors):
                return forward(tensors, dim)
            if dual_levels and dual_levels[0].concerns(tensors):
                return dual_levels[0].apply(function, (tensors, dim))
            arrays = originals = [t._array for t in tensors]
            if len({t._dtype for t in tensors}) > 1:
                common = promote(*arrays)
                arrays = [a.astype(common, copy=False) for a in arrays]
            result = forward(arrays, dim)
            result = wrap(result if result.flags.c_contiguous else np.ascontiguousarray(result))
            nodes = tuple([t._node for t in tensors]) if mode.recording else ()
            if (untracked := nodes.count(None)) < len(nodes):
                constants = [None if t._node is not None else constant(t) for t in tensors] if untracked else ()
                record_node(result, kind, nodes, tuple(constants) or None, keep(originals, dim))
            return result

        return function

    return decorate


_ONLY_TENSORS = {Tensor}


def _are_tensors(name, tensors) -> bool:
    """Whether these are Tensors; False if a derivative is running on arrays. Anything else is refused."""
    if not isinstance(tensors, (list, tuple)):
        kind = type_name(tensors)
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {kind}")
    if _ONLY_TENSORS.issuperset(map(type, tensors)):
        return True
    if all([isinstance(t, (np.ndarray, np.generic)) for t in tensors]):
        return False
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {index} in argument 0, but got {type_name(tensor)}")
    return True


def _cat_backward(grad, dim, shapes):
    """The parts of a joined gradient that belong to each input."""
    before = (slice(None),) * (dim % grad.ndim)
    sizes = [None if shape == (0,) else shape[dim] for shape in shapes]
    ends = list(itertools.accumulate(n or 0 for n in sizes))
    parts = zip(sizes, ends, strict=True)
    return tuple(_empty_gradient(grad) if n is None else grad[(*before, slice(end - n, end))] for n, end in parts)


def _empty_gradient(grad):
    """The gradient of a tensor that had no elements to join."""
    nothing = np.zeros(0, grad._dtype if isinstance(grad, Tensor) else grad.dtype)
    return wrap(nothing) if isinstance(grad, Tensor) else nothing


@op_of_many(tensors=_cat_backward, keep=lambda arrays, dim: (dim, [a.shape for a in arrays]))
def cat(tensors, dim=0):
    """Join tensors along an existing dimension."""
    if not tensors:
        raise refusal("cat of nothing")
    try:
        return np.concatenate(tensors, dim)
    except ValueError:
        filled = [a for a in tensors if a.shape != (0,)]  # which goes with any other shape, as in PyTorch
    try:
        return np.concatenate(filled, dim) if filled else np.concatenate(tensors)
    except ValueError:
        raise join_refused("cat", [a.shape for a in tensors], dim) from None


def _stack_backward(grad, dim, count):
    before = (slice(None),) * (dim % grad.ndim)
    return tuple(grad[(*before, i)] for i in range(count))


@op_of_many(tensors=_stack_backward, keep=lambda arrays, dim: (dim, len(arrays)))
def stack(tensors, dim=0):
    """Join tensors of one shape along a new dimension."""
    if not tensors:
        raise refusal("stack of nothing")
    try:
        return np.stack(tensors, dim) if dim else np.array(tensors)  # in a fifth of the time
    except ValueError:
        raise join_refused("stack", [a.shape for a in tensors], dim) from None


@op(view=True, self=lambda grads, dim: stack(grads, dim))
def unbind(self, dim=0):
    """All slices along a dimension, as a tuple."""
    if not self.ndim:
        place(dim, 0)
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    dim, dims = place(dim, self.ndim), range(self.ndim)
    slices = self.transpose((dim, *dims[:dim], *dims[dim + 1 :])) if dim else self
    return list(slices) if self.ndim > 1 else [slices[i, ...] for i in range(len(slices))]


@op(node="PutBackward0", self=lambda grad, indices: grad[indices])
def put(self, indices, shape):
    """Zeros of ``shape`` with this tensor added in at ``indices``: the derivative of reading there."""
    full = np.zeros(shape, self.dtype)
    add_at(full, indices if indices.__class__ is tuple else (indices,), self)
    return full


def add_at(full, indices: tuple, values) -> None:
    """Add values where `indices` point, also several in one place: ``np.add.at`` takes ten times as long."""
    lists = [i for i, key in enumerate(indices) if key.__class__ is np.ndarray and key.dtype.kind != "b"]
    if not lists:  # numbers, slices and masks: no place twice
        full[indices] += values
        return
    if values.size < 512:  # what follows takes as long
        np.add.at(full, indices, values)
        return
    first, last = lists[0], lists[-1] + 1
    if last - first > len(lists) or not all(
        key.__class__ is slice and key == slice(None) for key in (*indices[:first], *indices[last:])
    ):
        np.add.at(full, indices, values)
        return
    positions, before = flat_positions(indices[first:last], full.shape[first:last]), full.shape[:first]
    if full.ndim == last - first:
        np.add.at(full.reshape(-1), positions, values.reshape(-1))  # of one dimension it is fast
        return
    order = positions.argsort(kind="stable")
    ordered = positions[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(order)])
    rows = full.reshape(math.prod(before), math.prod(full.shape[first:last]), -1)
    values = values.reshape(len(rows), len(order), -1)
    if len(starts) == len(order):
        rows[:, positions] = values
    else:
        rows[:, ordered[starts]] = np.add.reduceat(values[:, order], starts, 1)


def flat_positions(lists, shape: tuple) -> np.ndarray:
    """Where lists of positions along each dimension of a shape point, counted row by row: a list of one dimension."""
    flat: Any = 0
    for positions, length in zip(lists, shape, strict=True):
        if positions.size and positions.item(positions.argmin()) < 0:
            positions = np.where(positions < 0, positions + length, positions)
        flat = flat * length + positions.astype(np.intp, copy=False)
    return flat.reshape(-1)


def take_along(array, index, dim):
    """The elements of an array at the positions that ``index`` holds along ``dim``: quickest as a flat list."""
    return array.take(positions_along(array.shape, index, dim))


def take_from_lines(array, index, dim):
    """Of each line of an array along ``dim`` the element at the position that ``index`` holds for it."""
    shapes = array.shape, index.shape
    starts, step = (_starts_of_lines if index.size <= SMALL else _starts_of_lines.__wrapped__)(*shapes, dim)
    return array.take(starts + index if step == 1 else starts + step * index)


@functools.lru_cache(maxsize=64)
def _starts_of_lines(shape: tuple, lengths: tuple, dim: int) -> tuple:
    """Where the lines along a dimension start, in that shape, and how far it is from one position to the next."""
    dim %= len(shape)
    starts, step = _positions_of_others.__wrapped__(shape, (*shape[:dim], 1, *shape[dim + 1 :]), dim)
    return starts.reshape(lengths), step


def positions_along(shape: tuple, index, dim):
    """The same positions, counted row by row in an array of a shape."""
    index = index.astype(np.intp, copy=False)
    others = _positions_of_others if index.size <= SMALL else _positions_of_others.__wrapped__
    offsets, step = others(shape, index.shape, dim % (index.ndim or 1))
    return offsets + index if step == 1 else offsets + step * index


@functools.lru_cache(maxsize=64)
def _positions_of_others(shape: tuple, lengths: tuple, dim: int) -> tuple:
    """What the other dimensions add to the positions, and how far it is from one position to the next."""
    steps = [math.prod(shape[d + 1 :]) for d in range(len(lengths))]
    places = [np.arange(length) * step for length, step in zip(lengths, steps, strict=True)]
    # What is kept has the shape of the index: short lines that are broadcast take three times as long to add.
    offsets = np.zeros(lengths if math.prod(lengths) <= SMALL else (), np.intp)
    for d in set(range(len(lengths))) - {dim}:
        offsets = offsets + places[d].reshape(-1, *(1,) * (len(lengths) - 1 - d))
    return offsets, steps[dim] if steps else 1
