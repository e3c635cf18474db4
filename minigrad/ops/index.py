"""Reading parts of a tensor. PyTorch counterparts: ``Tensor.__getitem__``, ``select``, ``narrow``."""

import operator
import sys
import warnings

import numpy as np

from ..dispatch import op
from ..messages import BYTE_MASK, LIST_OF_KEYS, indices_refused, key_refused, too_many_refused
from ..tensor import Tensor, wrap
from .shape import full_view, movedim, place, positions_along, put, take_along, unsqueeze

_ALL = slice(None)


@op(
    view=True,
    self=lambda grad, dim, index, self_shape: put(grad, (*_all(dim), index), self_shape),
)
def select(self, dim, index):
    """One position of a dimension, which disappears."""
    return self[(*(_ALL,) * dim, index, ...)] if dim else self[index, ...]


@op(
    view=True,
    name="slice",
    self=lambda grad, dim, start, end, step, self_shape: put(grad, (*_all(dim), slice(start, end, step)), self_shape),
)
def slice_(self, dim, start, end, step):
    """A range of positions of a dimension."""
    return self[(*(_ALL,) * dim, slice(start, end, step))] if dim else self[start:end:step]


@op(frees=("indices",), self=lambda grad, indices, self_shape: put(grad, indices, self_shape))
def index(self, indices):
    """The elements that lists or masks pick, copied."""
    try:
        return self[indices]
    except IndexError as error:
        refused = indices_refused(self.shape, indices, error)
        if self.size or "dimension with" in str(refused) or " with size " not in str(refused):
            raise refused from None
        return self[tuple(i * 0 if not isinstance(i, slice) and i.dtype.kind != "b" else i for i in indices)]


def _all(count: int) -> tuple:
    return (_ALL,) * count


@op(
    constant=("index",),
    shown={"sparse_grad": False},
    self=lambda grad, self, dim, index: put_along(grad, array_of(index), dim, tuple(self.shape)),
)
def gather(self, dim, index):
    """For dim 0: ``out[i][j] = self[index[i][j]][j]``; the result has the shape of ``index``."""
    _check_positions("gather", self, dim, index)
    if index.shape == self.shape:
        return take_along(self, index, dim)
    for other, (length, most) in enumerate(zip(index.shape, self.shape, strict=True)):
        if length > most and other != dim % self.ndim:
            raise RuntimeError(
                f"Size does not match at dimension {other} expected index {list(index.shape)} to be no larger than "
                f"self {list(self.shape)} apart from dimension {dim}"
            )
    return take_along(self, index, dim)


@op(node="PutBackward0", name="put", self=lambda grad, index, dim: gather(grad, dim, index))
def put_along(self, index, dim, shape):
    """Zeros of ``shape`` with this tensor added in at the positions along ``dim`` that an array holds."""
    full = np.zeros(shape, self.dtype)
    np.add.at(full.reshape(-1), positions_along(shape, index, dim).reshape(-1), self.reshape(-1))
    return full


def array_of(index):
    """The positions as an array."""
    return getattr(index, "_array", index)


def _greatest(index) -> int:
    """The largest index; viewed as unsigned, a negative one exceeds any length."""
    unsigned = index.view(_UNSIGNED[index.itemsize])
    return unsigned.item(unsigned.argmax())  # in half of the time that max() takes


_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def _check_positions(name, self, dim, index) -> None:
    """Refuse an index of another kind, of another number of dimensions, or beyond what there is along ``dim``."""
    place(dim, self.ndim)
    if index.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if index.ndim != self.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    length = self.shape[dim] if self.ndim else 1
    if not index.size or _greatest(index) < length:
        return
    for position in index[(index < 0) | (index >= length)].flat:
        raise RuntimeError(f"index {position} is out of bounds for dimension {dim} with size {length}")


@op(
    constant=("index",),
    self=lambda grad: grad,
    src=lambda grad, index, dim: gather(grad, dim, index),
)
def scatter_add(self, dim, index, src):
    """``self`` with each element of ``src`` added at the position along ``dim`` that ``index`` holds for it."""
    _check_positions("scatter", self, dim, index)
    out = self.copy()
    if src.shape != index.shape:
        src = src[tuple(slice(length) for length in index.shape)]
    np.add.at(out.reshape(-1), positions_along(out.shape, index, dim).reshape(-1), src.reshape(-1))
    return out


def _whole(index, dim, shape) -> tuple:
    return (*_all(dim % len(shape)), array_of(index).reshape(-1))


@op(
    constant=("index",),
    self=lambda grad, index, dim, self_shape: (
        put(grad, _whole(index, dim, self_shape), self_shape) if self_shape else grad
    ),
)
def index_select(self, dim, index):
    """The slices along ``dim`` whose positions a vector of integers holds, copied."""
    place(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype.kind not in "iu":
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    most = self.shape[dim] if self.ndim else 1
    if index.size and _greatest(index) >= most:
        if self.ndim > 1 and dim % self.ndim == 1:  # PyTorch has a kernel of its own for columns
            wrong = index[(index < 0) | (index >= most)].flat[0]
            raise RuntimeError(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={most}")
        raise IndexError("index out of range in self")
    if not self.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    return self.take(index.reshape(-1), dim) if self.ndim else self.copy()


def _windows_key(dimension, size, step, shape) -> tuple:
    starts = np.arange(0, shape[dimension] - size + 1, step)
    return (*_all(dimension % len(shape)), starts[:, None] + np.arange(size))


@op(
    view=True,
    self=lambda grad, dimension, size, step, self_shape: (
        put(
            movedim(grad, -1, dimension % len(self_shape) + 1),
            _windows_key(dimension, size, step, self_shape),
            self_shape,
        )
        if self_shape
        else grad.sum()
    ),
)
def unfold(self, dimension, size, step):
    """Windows of ``size`` positions along a dimension, one each ``step``; the last dimension is the window's."""
    place(dimension, self.ndim)
    most = self.shape[dimension] if self.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > most:
        raise RuntimeError(f"maximum size for tensor at dimension {dimension} is {most} but size is {size}")
    if step < 1:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not self.ndim:
        return self.reshape(1)[:size]
    windows = np.lib.stride_tricks.sliding_window_view(self, size, dimension, writeable=self.flags.writeable)
    return windows[(*_all(dimension % self.ndim), slice(None, None, step))]


def narrow(self, dim, start, length):
    """``length`` positions of a dimension from ``start`` on: a view. PyTorch counterpart: ``Tensor.narrow``."""
    if not self.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    dim = place(dim, self.ndim)
    most = self.shape[dim]
    if isinstance(start, Tensor):
        if start.ndim or start._dtype.kind not in "iu":
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = start.item()
    if not -most <= start <= most:
        raise IndexError(f"start out of range (expected to be in range of [{-most}, {most}], but got {start})")
    start += most if start < 0 else 0
    if start + length > most:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({most}).")
    return slice_(self, dim, start, start + length, 1)


def pick(self, dim, index):
    """One position of a dimension, which disappears: a view. PyTorch counterpart: ``Tensor.select``."""
    if not self.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = place(dim, self.ndim)
    if not -self.shape[dim] <= index < self.shape[dim]:
        size = list(self.shape)
        raise IndexError(f"select(): index {index} out of range for tensor of size {size} at dimension {dim}")
    return select(self, dim, int(index))


_PLAIN = {int, slice}


def getitem(self, key):
    """``self[key]``: views for numbers, slices and None, as one operation each; a copy for lists and masks."""
    if key.__class__ is int and self._array.ndim:  # as `for row in x` asks
        return _selected(self, 0, key, 0)
    if key is None:
        return unsqueeze(self, 0)
    if isinstance(key, slice):
        return _sliced(self, 0, key)
    if key.__class__ is Tensor and key._dtype.kind in "ib" and 0 < key._array.ndim <= self._array.ndim:
        return index(self, (key._array,))
    if key.__class__ is tuple and _PLAIN.issuperset(map(type, key)) and len(key) <= self._array.ndim:
        result, dim = self, 0
        for at, k in enumerate(key):
            if k.__class__ is int:
                result = _selected(result, dim, k, at)
                continue
            if k != _ALL and not _covers(k, result._array.shape[dim]):
                result = _sliced(result, dim, k)
            dim += 1
        return result if result is not self else full_view(self)
    if key.__class__ is tuple and all([k.__class__ is Tensor and k._dtype.kind == "i" and k._array.ndim for k in key]):
        if 0 < len(key) <= self._array.ndim:
            return index(self, tuple([k._array for k in key]))
    result, indices = sliced(self, key)
    if indices:
        return index(result, indices)
    return result if result is not self else full_view(self)


def sliced(tensor, key) -> tuple:
    """The view that the numbers, slices and Nones of a key pick, and what lists and masks then point at in it.

    A slice of everything is left out: it makes no node.
    """
    keys: list = [
        k if k.__class__ is int or k is None else _plain(k)
        for k in (key if isinstance(key, tuple) or _stands_for_tuple(key) else (key,))
    ]
    count = sum(
        [1 if k.__class__ is int else 0 if k is None or k is ... else k.ndim if _is_mask(k) else 1 for k in keys]
    )
    if count > tensor.ndim:
        raise too_many_refused(key, tensor.ndim)
    dim, free, indices, covered = 0, tensor.ndim - count, [], 0
    for at, k in enumerate(keys):
        if k.__class__ is int:
            tensor = _selected(tensor, dim, k, at)
            continue
        if k is Ellipsis:
            dim, free = dim + free, 0
            continue
        if _is_mask(k) and not k.ndim:  # True or False: a dimension more, of which all or nothing is taken
            tensor, k = unsqueeze(tensor, dim), np.flatnonzero(k)
        if isinstance(k, np.ndarray):
            indices += [*_all(dim - covered), k]
            dim = covered = dim + (k.ndim if _is_mask(k) else 1)
        elif k is None:
            tensor, dim = unsqueeze(tensor, dim), dim + 1
        else:
            tensor, dim = tensor if _covers(k, tensor._array.shape[dim]) else _sliced(tensor, dim, k), dim + 1
    return tensor, tuple(indices)


def _stands_for_tuple(key) -> bool:
    """Whether a key is a list of keys, as old programs wrote them: ``x[[[0, 1], [1]]]`` is ``x[[0, 1], [1]]``."""
    if not isinstance(key, list) or len(key) >= 32:
        return False
    if not any(each is None or each is ... or isinstance(each, (list, tuple, slice, Tensor)) for each in key):
        return False
    warnings.warn(LIST_OF_KEYS, UserWarning, stacklevel=4)
    return True


def _plain(key):
    """One entry of a key: an int, a slice, None or an Ellipsis; or an array of positions, or a mask."""
    if key is None or key is Ellipsis or isinstance(key, slice):
        return key
    if isinstance(key, Tensor):
        key = key._array
    if isinstance(key, (list, tuple, range, bool, np.bool_)):
        key = np.asarray(key)
    if isinstance(key, np.ndarray) and key.dtype == np.uint8:
        warnings.warn(BYTE_MASK, UserWarning, stacklevel=5)
        key = key.astype(bool)
    if isinstance(key, float):
        raise key_refused(key)
    if isinstance(key, np.ndarray) and key.dtype.kind == "f" and key.size == 0:
        key = key.astype(np.intp)
    if isinstance(key, np.ndarray) and (key.ndim or key.dtype.kind == "b"):
        return key
    return operator.index(key)


def _is_mask(key) -> bool:
    return isinstance(key, np.ndarray) and key.dtype.kind == "b"


def _covers(key: slice, length: int) -> bool:
    """Whether a slice plainly takes everything."""
    return not key.start and key.step in (None, 1) and (key.stop is None or key.stop >= length)


def _sliced(tensor, dim: int, key: slice):
    """The part of a dimension that a slice picks."""
    if not tensor.ndim:
        raise too_many_refused(key, 0)
    step = key.indices(tensor._array.shape[dim])[2]
    if step < 1:
        raise ValueError("step must be greater than zero")
    start = 0 if key.start is None else operator.index(key.start)
    return slice_(tensor, dim, start, sys.maxsize if key.stop is None else operator.index(key.stop), step)


def _selected(tensor, dim: int, position: int, at: int):
    """One position of a dimension; `at` is what PyTorch calls the dimension where there is no such position."""
    length = tensor._array.shape[dim]
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of bounds for dimension {at} with size {length}")
    return select(tensor, dim, position)


# -- a view, found again in its base -------------------------------------------------------------


def geometry_in(base: Tensor, view: Tensor) -> tuple:
    """Where a view lies in its base: shape and strides of both, and the view's offset, counted in elements."""
    whole, part = base._array, view._array
    size = whole.itemsize
    offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    strides = (tuple(step // size for step in array.strides) for array in (whole, part))
    return whole.shape, next(strides), offset // size, part.shape, next(strides)


def positions_of(geometry: tuple) -> np.ndarray:
    """For each element of the view its position in the base, counted row by row."""
    shape, strides, offset, part_shape, part_strides = geometry
    if 0 in part_shape:
        return np.zeros(part_shape, np.intp)
    reach = [(length - 1) * step for length, step in zip(shape, strides, strict=True)]
    start = -sum(r for r in reach if r < 0)
    memory = np.zeros(start + sum(r for r in reach if r > 0) + 1, np.intp)
    whole = np.ndarray(shape, np.intp, memory, start * memory.itemsize, [s * memory.itemsize for s in strides])
    whole[...] = np.arange(whole.size).reshape(shape)
    part_strides = [s * memory.itemsize for s in part_strides]
    return np.ndarray(part_shape, np.intp, memory, (start + offset) * memory.itemsize, part_strides)


def _of_view(entry: int) -> property:
    """A part of the view's geometry, as its node shows it."""
    return property(lambda grad_fn: grad_fn._node._options[0][entry])


@op(
    shown={"storage_offset": _of_view(2), "size": _of_view(3), "stride": _of_view(4)},
    self=lambda grad, _geometry, self_shape: _into_base(grad, _geometry, self_shape),
)
def as_strided(self, _geometry):
    """The elements of a base that a view of it shows."""
    return self.reshape(-1)[positions_of(_geometry)]


def _into_base(grad, geometry, shape):
    if isinstance(grad, Tensor) and not grad.numel():  # zeros without a history
        return wrap(np.zeros(shape, grad._dtype))
    return put_strided(grad, geometry, shape)


@op(self=lambda grad, _geometry: as_strided(grad, _geometry))
def put_strided(self, _geometry, shape):
    """Zeros of ``shape`` with the elements of a view added in where they are in the base."""
    full = np.zeros(shape, self.dtype)
    np.add.at(full.reshape(-1), positions_of(_geometry).reshape(-1), self.reshape(-1))
    return full
