"""Operations that make fewer elements of many. PyTorch counterparts: the methods of the same names."""

import math
import warnings
from collections import namedtuple

import numpy as np

from ..arguments import with_numpy_names
from ..dispatch import op
from ..messages import NO_FREEDOM, type_name
from ..operands import number
from ..tensor import Tensor, wrap
from .index import array_of, put_along
from .pointwise import abs, exp, masked, maximum, minimum, power, sign, to_copy, where
from .shape import (
    SMALL,
    distinct,
    expand,
    place,
    reverse,
    sums,
    sums_of_squares,
    take_along,
    take_from_lines,
    transpose,
    unsqueeze,
    view,
)


def _keepdim_shape(shape, dim):
    """The result's shape with the reduced dimensions kept as 1, so that it broadcasts against the input."""
    if dim.__class__ is int and shape:
        dim %= len(shape)
        return (*shape[:dim], 1, *shape[dim + 1 :])
    dims = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = {d % len(shape) for d in dims} if shape else set()
    return tuple(1 if i in dims else n for i, n in enumerate(shape))


def _normalized_dims(self, dim):
    """The dimensions for NumPy, to which a 0-d array has none."""
    if dim is None or (isinstance(dim, int) and self.ndim):
        return dim
    if self.ndim:
        return distinct(dim, self.ndim)
    for each in (dim,) if isinstance(dim, int) else dim:
        place(each, 0)
    return ()


def _given_dims(self, dim):
    """The dimensions that a reduction was given, none of them meaning all."""
    if isinstance(dim, (list, tuple)):
        distinct(dim, self.ndim)
        return tuple(dim) or tuple(range(self.ndim))
    return dim


def _sum_backward(grad, shape, dim, keepdim):
    """Repeat a reduced gradient over the elements that were reduced."""
    return expand(grad if keepdim else view(grad, _keepdim_shape(shape, dim)), shape)


def _count(shape, dim):
    """How many elements go into each element of the result."""
    if dim is None:
        return math.prod(shape)
    if dim.__class__ is int and shape and 0 not in shape:
        return shape[dim]
    return math.prod(shape) // (math.prod(_keepdim_shape(shape, dim)) or 1)


# Ufuncs themselves and not np.sum, np.prod and np.cumsum: those compute in NumPy's own files, where its warnings of
# infinities are not silenced (numpy_warnings.py).
def _running(ufunc, self, dim):
    """The running sums or products along a dimension."""
    kind = self.dtype if self.dtype.kind == "f" else np.int64
    return ufunc.accumulate(self, dim, kind) if self.ndim else ufunc.accumulate(self.reshape(1), dim, kind).reshape(())


def _total_dtype(self):
    """What NumPy is to add up in: its own choice, but for uint8 the int64 that PyTorch has."""
    return np.int64 if self.dtype.kind == "u" else None


def _repeated(grad, shape):
    """The gradient of a sum of all, at each element. On arrays without the questions that `expand` asks."""
    if isinstance(grad, Tensor):
        return expand(grad, shape)
    return np.ndarray(shape, grad.dtype, grad, 0, (0,) * len(shape))


@op(node="SumBackward0", name="sum", self=lambda grad, self_shape: _repeated(grad, self_shape))
def sum_all(self):
    """The sum of all elements."""
    dtype = np.int64 if self.dtype.kind == "u" else None  # see _total_dtype
    return np.add.reduce(self, None, dtype) if self.size <= SMALL else sums(self, None, False, dtype)


@op(
    node="SumBackward1",
    name="sum",
    self=lambda grad, self_shape, dim, keepdim: _sum_backward(grad, self_shape, dim, keepdim),
)
def sum_dim(self, dim, keepdim=False):
    """The sums along one or more dimensions."""
    dim = dim if self.shape else _normalized_dims(self, dim)
    return sums(self, dim, keepdim, _total_dtype(self))


def sum(self, dim=None, keepdim=False, **others):
    """The sum of all elements, or along ``dim``; of elements made ``dtype`` first, if one is given.

    PyTorch counterpart: ``torch.sum``.
    """
    if others:
        return with_numpy_names(sum, self, {"dim": dim, "keepdim": keepdim}, others)
    return sum_all(self) if dim is None else sum_dim(self, _given_dims(self, dim), keepdim)


def _over(total, count):
    """A sum by a count. It is quicker to divide by an array, unless the sum is one number."""
    return total / (number(count, total.dtype) if total.__class__ is np.ndarray else count)


def _mean_backward(grad, shape):
    """The gradient of a mean of all: each element's share. In the plain backward, divided before it is repeated."""
    if isinstance(grad, Tensor):
        return expand(grad, shape) / math.prod(shape)
    shares = np.empty(shape, grad.dtype)
    shares.fill(grad.item() / (math.prod(shape) or 1))
    return shares


@op(
    node="MeanBackward0",
    name="mean",
    self=lambda grad, self_shape: _mean_backward(grad, self_shape),
)
def mean_all(self):
    """The mean of all elements."""
    size = self.size
    return (np.add.reduce(self, None) if size <= SMALL else sums(self)) / size


@op(
    node="MeanBackward1",
    name="mean",
    shown={"self_sym_numel": property(lambda grad_fn: math.prod(grad_fn._saved_self_sym_sizes))},
    self=lambda grad, self_shape, dim, keepdim: _sum_backward(grad, self_shape, dim, keepdim) / _count(self_shape, dim),
)
def mean_dim(self, dim, keepdim=False):
    """The means along one or more dimensions."""
    return _over(sums(self, _normalized_dims(self, dim), keepdim), _count(self.shape, dim))


def mean(self, dim=None, keepdim=False, **others):
    """The mean of all elements, or along ``dim``; of elements made ``dtype`` first, if one is given.

    PyTorch counterpart: ``torch.mean``.
    """
    if others:
        return with_numpy_names(mean, self, {"dim": dim, "keepdim": keepdim}, others)
    if self._dtype.kind != "f":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {self.dtype.tensor_type.removesuffix('Tensor')}"
        )
    return mean_all(self) if dim is None else mean_dim(self, _given_dims(self, dim), keepdim)


def _check_is_dim(name, dim):
    if not isinstance(dim, int) or isinstance(dim, bool):
        kind = type_name(dim)
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got (Tensor, {kind}), but expected one of:"
        )


def _check_not_empty(name, self, dim):
    """There is no largest of no elements."""
    if dim is None and not self.size:
        raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    if dim is not None and self.ndim and not self.shape[place(dim, self.ndim)]:
        named = dim if name in ("amax", "amin") else place(dim, self.ndim)  # as PyTorch does
        raise IndexError(f"{name}(): Expected reduction dim {named} to have non-zero size.")


@op(constant=("self",))
def argmax(self, dim=None, keepdim=False):
    """The index of the largest element. The result is an integer: it has no gradient."""
    _check_not_empty("argmax", self, dim)
    return self.argmax(dim, keepdims=keepdim)


@op(constant=("self",))
def argmin(self, dim=None, keepdim=False):
    """The index of the smallest element. The result is an integer: it has no gradient."""
    _check_not_empty("argmin", self, dim)
    return self.argmin(dim, keepdims=keepdim)


@op(constant=("self",))
def all(self, dim=None, keepdim=False):
    """Whether all elements are other than 0. The result is bool (of uint8: uint8) and has no gradient."""
    return _truth(np.logical_and.reduce(self, _normalized_dims(self, dim), keepdims=keepdim), self)


@op(constant=("self",))
def any(self, dim=None, keepdim=False):
    """Whether some element is other than 0. The result is bool (of uint8: uint8) and has no gradient."""
    return _truth(np.logical_or.reduce(self, _normalized_dims(self, dim), keepdims=keepdim), self)


def _truth(found, self):
    """PyTorch had no bool once: what asks uint8 still answers in uint8."""
    return found.astype(self.dtype) if self.dtype.kind == "u" else found


@op(
    node="VarBackward0",
    name="var",
    self=lambda grad, self, dim, correction, keepdim: _var_backward(grad, self, dim, correction, keepdim),
)
def variance(self, dim, correction, keepdim):
    """The mean squared distance from the mean, divided by ``n - correction``; None is 1."""
    return _in_dtype(_variance(self, dim, correction, keepdim), self.dtype)


def _in_dtype(found, dtype):
    """In that dtype, which it mostly has: of one number, ``astype`` takes as long to find out as to compute it."""
    return found if found.dtype == dtype else found.astype(dtype)


def _variance(self, dim, correction, keepdim):
    """In a wider dtype where that is needed: squares of float32 overflow early. (PyTorch takes float64 always.)"""
    found = _variance_in(self if self.itemsize > 2 else self.astype(np.float32), dim, correction, keepdim)
    size = found if not found.ndim else found.dot(found) if found.ndim == 1 else np.vdot(found, found)
    if self.itemsize < 8 and not math.isfinite(size):
        found = _variance_in(self.astype(np.float64), dim, correction, keepdim)
    return found


def _variance_in(self, dim, correction, keepdim):
    dim = None if dim == () else dim
    dim, count = _normalized_dims(self, dim), _count(self.shape, dim)
    distance = self - _over(sums(self, dim, dim is not None), count)
    squares = sums_of_squares(distance, dim, keepdim)
    freedom = count - (1 if correction is None else correction)
    if freedom > 0:
        return _over(squares, freedom)
    with np.errstate(all="ignore"):  # 0 / 0 is nan, silently
        return squares / 0


def _var_backward(grad, self, dim, correction, keepdim):
    correction = 1 if correction is None else correction
    count = _count(tuple(self.shape), dim) - correction  # of no dimensions: 1, as in PyTorch, though all are meant
    whole = dim is None or not self.ndim
    dim = None if dim == () else dim
    grad = grad if keepdim else view(grad, _keepdim_shape(self.shape, dim))
    distance = self - _mean_keeping(self, dim)
    if whole and count <= 0:
        return grad * where(distance == 0, math.nan, math.inf)
    return (2.0 / count if count else math.inf) * grad * distance


def _mean_keeping(self, dim):
    """The mean with the reduced dimensions kept as 1."""
    if dim is None and isinstance(self, Tensor):
        return view(mean_all(self), (1,) * self.ndim)
    return mean_dim(self, _normalized_dims(self, dim), True)


def var(self, dim=None, unbiased=None, keepdim=False, *, correction=None, **others):
    """The variance of all elements, or along ``dim``, divided by ``n - 1``, or by ``n`` if ``unbiased=False``.

    PyTorch counterpart: ``torch.var``.
    """
    if others:
        given = {"dim": dim, "unbiased": unbiased, "keepdim": keepdim, "correction": correction}
        return with_numpy_names(var, self, given, others)
    return variance(self, *_spread_options("var", self, dim, unbiased, correction), keepdim)


def _spread_options(name, self, dim, unbiased, correction):
    """The dimensions and the correction that var() and std() were given, in whichever way."""
    if self._dtype.kind != "f":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    dim = tuple(dim) if isinstance(dim, list) else dim
    if dim is not None:  # or it warns, and then refuses
        distinct(dim, self.ndim) if isinstance(dim, tuple) else place(dim, self.ndim)
    if correction is None and (dim, unbiased) != (None, None):  # `var()` alone notes None
        correction = 1 if unbiased is None else int(unbiased)
    if _count(self._array.shape, None if dim == () else dim) <= (1 if correction is None else correction):
        warnings.warn(NO_FREEDOM.format(name), UserWarning, stacklevel=3)
    return dim, correction


@op(
    node="StdBackward0",
    name="std",
    self=lambda grad, self, result, dim, correction, keepdim: _var_backward(
        where(result == 0, 0.0, grad / (2.0 * result)), self, dim, correction, keepdim
    ),
)
def deviation(self, dim, correction, keepdim):
    """The square root of the variance."""
    return _in_dtype(np.sqrt(_variance(self, dim, correction, keepdim)), self.dtype)


def std(self, dim=None, unbiased=None, keepdim=False, *, correction=None, **others):
    """The standard deviation of all elements, or along ``dim``: the root of ``var``. PyTorch: ``torch.std``."""
    if others:
        given = {"dim": dim, "unbiased": unbiased, "keepdim": keepdim, "correction": correction}
        return with_numpy_names(std, self, given, others)
    return deviation(self, *_spread_options("std", self, dim, unbiased, correction), keepdim)


def _shared_backward(grad, self, result):
    """The gradient of an extreme value, in equal shares to the elements that reach it. A nan is reached by nans."""
    reached = self == result if result == result else self != self
    return where(reached, grad / (int(reached.sum()) or 1), 0.0)


def _check_some(name, self):
    if not self.size:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
            "the 'dim' argument."
        )


@op(node="MaxBackward1", name="max", self=lambda grad, self, result: _shared_backward(grad, self, result))
def max_all(self):
    """The largest of all elements. Ties share the gradient equally, as in PyTorch."""
    _check_some("max", self)
    return np.maximum.reduce(self, None)


@op(node="MinBackward1", name="min", self=lambda grad, self, result: _shared_backward(grad, self, result))
def min_all(self):
    """The smallest of all elements. Ties share the gradient equally, as in PyTorch."""
    _check_some("min", self)
    return np.minimum.reduce(self, None)


@op(
    node="MedianBackward0",
    name="median",
    self=lambda grad, self, result: _shared_backward(grad, self, result),
)
def median_all(self):
    """The middle of all elements; the lower one of two. Ties share the gradient equally, as in PyTorch."""
    if not self.size or math.isnan(self.item(self.argmax())):  # which is where a nan is
        return self.dtype.type(math.nan)
    middle, elements = (self.size - 1) // 2, self.flatten()
    elements.partition(middle)
    return elements[middle]


def _select_backward(grad, indices, dim, keepdim, shape):
    """The gradient of elements picked along a dimension, each at its place in zeros of ``shape``."""
    if not keepdim and shape:
        grad, indices = unsqueeze(grad, dim), unsqueeze(indices, dim)
    return put_along(grad, array_of(indices), dim, shape)


def _picker(name, node):
    """A row whose forward takes from ``self``, along ``dim``, the elements at ``indices``."""

    @op(
        node=node,
        name=name,
        constant=("indices",),
        self=lambda grad, indices, dim, keepdim, self_shape: _select_backward(grad, indices, dim, keepdim, self_shape),
    )
    def picked(self, indices, dim, keepdim):
        return (take_along if keepdim or not self.ndim else take_from_lines)(self, indices, dim)

    return picked


max_along = _picker("max", "MaxBackward0")
min_along = _picker("min", "MinBackward0")
median_along = _picker("median", "MedianBackward1")


def _sorter(node):
    """A row that puts ``self``, along ``dim``, in the order that ``indices`` holds."""

    @op(
        node=node,
        name="sort",
        layout="first",
        constant=("indices",),
        self=lambda grad, indices, dim, self_shape: put_along(grad, array_of(indices), dim, self_shape),
    )
    def ordered(self, indices, dim):
        return take_along(self, indices, dim)

    return ordered


sort_along = _sorter("SortBackward0")
stable_sort_along = _sorter("SortBackward1")


def _values_and_indices(name):
    """The pair of tensors that an operation returns, as PyTorch names and prints it."""
    pair = namedtuple(name, ("values", "indices"))
    pair.__repr__ = lambda self: f"torch.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"
    return pair


_Max, _Min, _Median, _Sort = map(_values_and_indices, ("max", "min", "median", "sort"))


def max(self, dim=None, keepdim=False, **others):
    """The largest element; along ``dim``, a pair of values and indices; with a tensor, the larger of each pair.

    PyTorch counterpart: ``torch.max``.
    """
    if others:
        return with_numpy_names(max, self, {"dim": dim, "keepdim": keepdim}, others)
    if dim is None:
        return max_all(self)
    if isinstance(dim, Tensor):
        return maximum(self, dim)
    _check_is_dim("max", dim)
    _check_not_empty("max", self._array, dim)
    indices = argmax(self, dim, keepdim)
    return _Max(max_along(self, indices, dim, keepdim), indices)


def min(self, dim=None, keepdim=False, **others):
    """The smallest element; along ``dim``, a pair of values and indices; with a tensor, the smaller of each pair.

    PyTorch counterpart: ``torch.min``.
    """
    if others:
        return with_numpy_names(min, self, {"dim": dim, "keepdim": keepdim}, others)
    if dim is None:
        return min_all(self)
    if isinstance(dim, Tensor):
        return minimum(self, dim)
    _check_is_dim("min", dim)
    _check_not_empty("min", self._array, dim)
    indices = argmin(self, dim, keepdim)
    return _Min(min_along(self, indices, dim, keepdim), indices)


def argsort(self, dim=-1, descending=False, stable=False):
    """The indices that sort along a dimension. PyTorch counterpart: ``torch.argsort``."""
    return sort(self, dim, descending, True if stable else None).indices


@op(name="argsort", layout="first", constant=("self",))
def order_along(self, dim, descending):
    """The indices that sort along a dimension. Equal elements keep their order."""
    if not self.ndim:
        place(dim, 0)
        return np.zeros((), np.int64)
    if not descending:
        return self.argsort(dim, kind="stable")
    # Backwards twice: equal elements keep their order, and nan is the largest.
    backwards = np.argsort(np.flip(self, dim), dim, kind="stable")
    return self.shape[dim] - 1 - np.flip(backwards, dim)


def sort(self, dim=-1, descending=False, stable=None):
    """The elements in order along ``dim``: a pair of values and indices. PyTorch counterpart: ``torch.sort``."""
    indices = order_along(self, dim, descending)
    return _Sort((sort_along if stable is None else stable_sort_along)(self, indices, dim), indices)


@op(constant=("self",))
def middle_along(self, dim, keepdim):
    """The positions of the medians along a dimension: where there is a nan, its own."""
    middle = np.take(np.argsort(self, dim, kind="stable"), [(self.shape[dim] - 1) // 2], dim)
    missing = np.isnan(self)
    middle = np.where(missing.any(dim, keepdims=True), missing.argmax(dim, keepdims=True), middle)
    return middle if keepdim else np.squeeze(middle, dim)


def median(self, dim=None, keepdim=False, **others):
    """The middle element, the lower of two; along ``dim``, a pair of values and indices. PyTorch: ``torch.median``."""
    if others:
        return with_numpy_names(median, self, {"dim": dim, "keepdim": keepdim}, others)
    if dim is None:
        return median_all(self)
    _check_not_empty("median", self._array, dim)
    if not self.ndim:
        place(dim, 0)
        indices = order_along(self, 0, False)
        return _Median(median_along(self, indices, dim, keepdim), indices)
    indices = middle_along(self, dim, keepdim)
    return _Median(median_along(self, indices, dim, keepdim), indices)


# -- products and running totals -----------------------------------------------------------------


def _products_of_others(self):
    """Copies of each row, in a new dimension, the i-th with a 1 in place of its i-th element. Shape: (..., n, n)."""
    length = self.shape[-1]
    square = expand(unsqueeze(self, -2), (*self.shape[:-1], length, length))
    return where(np.eye(length, dtype=np.bool_), 1.0, square)


def _zeros_of(self):
    return getattr(self, "_array", self) == 0


def _prod_backward(grad, self, result, dim, keepdim):
    """Each element's derivative is the product of the others: by division, where nothing is zero."""
    zeros = _zeros_of(self)
    if not self.ndim:
        return grad
    if not zeros.any():
        if not keepdim:
            kept = _keepdim_shape(self.shape, dim)
            grad, result = view(grad, kept), view(result, kept)
        return grad * (result / self)
    if dim is None:
        if np.count_nonzero(zeros) > 1 and not isinstance(grad, Tensor):
            return np.zeros_like(self)  # even of an infinite gradient
        return view(_prod_backward(grad, view(self, (-1,)), result, 0, False), tuple(self.shape))
    grad = grad if keepdim else unsqueeze(grad, dim)
    if self.shape[dim] == 1:
        return grad
    return transpose(prod_dim(_products_of_others(transpose(self, dim, -1)), -1, False), dim, -1) * grad


@op(
    node="ProdBackward0",
    name="prod",
    self=lambda grad, self, result: _prod_backward(grad, self, result, None, False),
)
def prod_all(self):
    """The product of all elements."""
    if self.ndim > 1 and self.size > SMALL:  # row by row first: in a fifth of the time
        self = np.multiply.reduce(self, 0, _total_dtype(self))
    return np.multiply.reduce(self, None, _total_dtype(self))


@op(
    node="ProdBackward1",
    name="prod",
    self=lambda grad, self, result, dim, keepdim: _prod_backward(grad, self, result, dim, keepdim),
)
def prod_dim(self, dim, keepdim):
    """The products along a dimension."""
    return np.multiply.reduce(self, _normalized_dims(self, dim), _total_dtype(self), None, keepdim)


def prod(self, dim=None, keepdim=False, **others):
    """The product of all elements, or along ``dim``; of elements made ``dtype`` first, if one is given.

    PyTorch counterpart: ``torch.prod``.
    """
    if others:
        return with_numpy_names(prod, self, {"dim": dim, "keepdim": keepdim}, others)
    return prod_all(self) if dim is None else prod_dim(self, dim, keepdim)


def _reversed_cumsum(grad, dim):
    """At each place the sum of the gradients from there on."""
    return reverse(cumsum(reverse(grad, (dim,)), dim), (dim,))


@op(self=lambda grad, dim: _reversed_cumsum(grad, dim))
def cumsum(self, dim):
    """The running sums along a dimension."""
    return _running(np.add, self, dim)


def _cumprod_backward(grad, self, result, dim):
    if math.prod(self.shape) <= 1 or self.shape[dim] == 1:
        return grad
    zeros = _zeros_of(self)
    if not zeros.any():
        return _reversed_cumsum(grad * result, dim) / self
    if not isinstance(grad, Tensor):
        return _cumprod_backward_with_zeros(grad, self, result, dim, np.cumsum(zeros, dim))
    # Entry (i, k) is the k-th running product without the i-th factor, which is in it from k = i on.
    running = cumprod(_products_of_others(transpose(self, dim, -1)), -1)
    running = where(np.triu(np.ones(running.shape[-2:], np.bool_)), running, 0.0)
    return transpose(sum_dim(running * unsqueeze(transpose(grad, dim, -1), -2), -1, False), dim, -1)


def _cumprod_backward_with_zeros(grad, self, result, dim, passed):
    """The same on arrays, where `passed` counts the zeros up to each place.

    Before the first zero a quotient is enough. The first itself is in every product up to the second. What comes
    later is a factor of zeros only: it has no gradient, not even where there is a nan.
    """
    until_first = _reversed_cumsum(masked(grad * result, passed == 0), dim) / self
    before = np.take(np.concatenate([np.ones_like(self.take([0], dim)), result], dim), range(self.shape[dim]), dim)
    first = (passed == 1) & (self == 0)
    between = _running(np.multiply, np.where((passed == 1) & ~first, self, 1), dim)
    of_first = before * np.add.reduce(masked(between * grad, passed == 1), dim, None, None, True)
    return np.where(first, of_first, masked(until_first, passed == 0))


@op(self=lambda grad, self, result, dim: _cumprod_backward(grad, self, result, dim))
def cumprod(self, dim):
    """The running products along a dimension."""
    return _running(np.multiply, self, dim)


# -- lengths, and shares in a sum of exponentials ------------------------------------------------


def _number_of(reached, dim, grad):
    """How many of a mask hold, along dimensions kept as 1, in the dtype of a gradient."""
    recorded = isinstance(grad, Tensor)
    dim = _normalized_dims(reached, dim)
    count = np.sum(reached._array if recorded else reached, dim, grad._dtype if recorded else grad.dtype, keepdims=True)
    return wrap(count) if recorded else count


def _norm_backward(grad, self, result, ord, dim, keepdim):
    if not keepdim:
        kept = _keepdim_shape(self.shape, dim)
        grad, result = view(grad, kept), view(result, kept)
    if ord == 0:
        return None  # how many elements are not 0: a constant
    if ord == 1:
        return grad * sign(self)
    if ord == 2:
        return grad * where(result == 0, 0.0, self / result)
    if math.fabs(ord) == math.inf:
        reached = (abs(self) == result) | (self != self)
        return sign(self) * (reached * (grad / _number_of(reached, dim, grad)))
    if ord < 1:
        return sign(self) * where(self == 0, 0.0, power(abs(self), ord - 1)) * grad * power(result, 1 - ord)
    share = where(result == 0, 0.0, grad / result ** (ord - 1))
    return (sign(self) * power(abs(self), ord - 1) if ord < 2 else self * power(abs(self), ord - 2)) * share


@op(
    node="LinalgVectorNormBackward0",
    name="linalg_vector_norm",
    floating=True,
    fits=False,
    self=lambda grad, self, result, ord, dim, keepdim: _norm_backward(grad, self, result, ord, dim, keepdim),
)
def vector_norm(self, ord, dim, keepdim):
    """The root of order ``ord`` of the sum of that power of the absolute values."""
    dim = _normalized_dims(self, dim)
    if math.fabs(ord) == math.inf:
        return (np.max if ord > 0 else np.min)(np.abs(self), dim, keepdims=keepdim)
    if ord == 0:
        return np.sum(self != 0, dim, keepdims=keepdim, dtype=self.dtype)
    if ord == 2:
        return np.sqrt(sums_of_squares(self, dim, keepdim))
    return np.add.reduce(np.abs(self) ** ord, dim, None, None, keepdim) ** (1 / ord)


def norm(self, p=2, dim=None, keepdim=False):
    """The length of the vector of all elements, or of those along ``dim``; ``p=1``: the sum of absolute values.

    ``p=0`` counts the elements that are not 0. PyTorch counterpart: ``torch.norm``.
    """
    p = 2 if p in ("fro", None) else p
    if not self.numel() and (p < 0 or p == math.inf):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {p:g} norm on an empty tensor because the operation does not have "
            "an identity"
        )
    if self._dtype.kind != "f":
        kind = self.dtype.tensor_type.removesuffix("Tensor")
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {kind}")
    return vector_norm(self, p, _given_dims(self, dim), keepdim)


@op(
    floating=True,
    self=lambda grad, self, result, dim, keepdim: _logsumexp_backward(grad, self, result, dim, keepdim),
)
def logsumexp(self, dim, keepdim=False):
    """The logarithm of the sum of the exponentials along ``dim``, without overflow."""
    dim = _normalized_dims(self, dim)
    most = _most(self, dim)
    most = most if math.isfinite(np.vdot(most, most)) else np.where(np.isinf(most), 0, most)
    found = np.log(sums(np.exp(self - most), dim, True)) + most
    return found if keepdim else found.squeeze(dim)


def _logsumexp_backward(grad, self, result, dim, keepdim):
    if not keepdim:
        kept = _keepdim_shape(self.shape, dim)
        grad, result = view(grad, kept), view(result, kept)
    return grad * exp(self - result)


@op(name="softmax", self=lambda grad, result, dim: (grad - sum_dim(grad * result, dim, True)) * result)
def softmax_along(self, dim):
    """Each element's share in the sum of the exponentials along ``dim``, without overflow."""
    exact = self.astype(np.float32) if self.dtype.char == "e" else self
    shares = np.asarray(exact - _most(exact, dim))
    np.exp(shares, shares)
    shares /= sums(shares, dim, True)
    return shares.astype(self.dtype, copy=False)


def _most(self, dim):
    """The largest elements along ``dim``, which is kept as 1; of none minus infinity."""
    return extremes(self, np.maximum, dim, True) if self.size else self.max(dim, None, True, -np.inf)


def extremes(self, ufunc, dim, keepdim):
    """The largest or smallest elements along ``dim``. Along the last one it is quicker to find where they are."""
    if not self.size or self.ndim < 2 or dim not in (-1, self.ndim - 1):
        return ufunc.reduce(self, dim, None, None, keepdim)
    positions = (self.argmax if ufunc is np.maximum else self.argmin)(-1, keepdims=keepdim)
    return take_from_lines(self, positions, -1)


@op(name="log_softmax", self=lambda grad, result, dim: grad - exp(result) * sum_dim(grad, dim, True))
def log_softmax_along(self, dim):
    """The logarithm of each element's share in the exponentials along ``dim``, without overflow."""
    exact = self.astype(np.float32) if self.dtype.char == "e" else self
    shifted = np.asarray(exact - _most(exact, dim))
    shifted -= np.log(sums(np.exp(shifted), dim, True))
    return shifted.astype(self.dtype, copy=False)


def softmax(self, dim, dtype=None):
    """Each element's share in the sum of the exponentials along ``dim``. PyTorch counterpart: ``torch.softmax``."""
    return softmax_along(_floating("softmax", self, dim, dtype), dim)


def log_softmax(self, dim, dtype=None):
    """The logarithm of ``softmax``, exact for small shares too. PyTorch counterpart: ``torch.log_softmax``."""
    return log_softmax_along(_floating("log_softmax", self, dim, dtype), dim)


def _floating(name, self, dim, dtype):
    """The tensor in another dtype, if one is given. Integers have no softmax."""
    if dtype is not None and dtype is not self.dtype:
        return to_copy(self, dtype.numpy)
    if self._dtype.kind != "f":
        last = "lastdim_" if dim in (-1, self.ndim - 1) or not self.ndim else ""
        kind = self.dtype.tensor_type.removesuffix("Tensor")
        raise NotImplementedError(f"\"{name}_{last}kernel_impl\" not implemented for '{kind}'")
    return self
