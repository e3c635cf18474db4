"""Operations that make fewer elements of many. PyTorch counterparts: the methods of the same names."""

import math

import numpy as np

from ..dispatch import op
from .pointwise import where
from .shape import expand, view


def _with_ones(shape, dim):
    """The result's shape with the reduced dimensions kept as 1, so that it broadcasts against the input."""
    dims = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = {d % len(shape) for d in dims} if shape else set()
    return tuple(1 if i in dims else n for i, n in enumerate(shape))


def _spread(grad, shape, dim, keepdim):
    """Repeat a reduced gradient over the elements that were reduced."""
    return expand(grad if keepdim else view(grad, _with_ones(shape, dim)), shape)


def _count(shape, dim):
    """How many elements go into each element of the result."""
    return math.prod(shape) // max(1, math.prod(_with_ones(shape, dim)))


@op(node="SumBackward0", name="sum", self=lambda grad, self_shape: expand(grad, self_shape))
def sum_all(self):
    """The sum of all elements."""
    return np.add.reduce(self, None)


@op(
    node="SumBackward1",
    name="sum",
    self=lambda grad, self_shape, dim, keepdim: _spread(grad, self_shape, dim, keepdim),
)
def sum_dim(self, dim, keepdim=False):
    """The sums along one or more dimensions."""
    return np.sum(self, dim, keepdims=keepdim)


def sum(self, dim=None, keepdim=False):
    """The sum of all elements, or along ``dim``. PyTorch counterpart: ``torch.sum``."""
    if dim is None or dim == () or dim == []:
        return sum_all(self)
    return sum_dim(self, tuple(dim) if isinstance(dim, list) else dim, keepdim)


@op(
    node="MeanBackward0",
    name="mean",
    self=lambda grad, self_shape: expand(grad, self_shape) / math.prod(self_shape),
)
def mean_all(self):
    """The mean of all elements."""
    return np.add.reduce(self, None) / self.size


@op(
    node="MeanBackward1",
    name="mean",
    self=lambda grad, self_shape, dim, keepdim: _spread(grad, self_shape, dim, keepdim) / _count(self_shape, dim),
)
def mean_dim(self, dim, keepdim=False):
    """The means along one or more dimensions."""
    return np.mean(self, dim, keepdims=keepdim)


def mean(self, dim=None, keepdim=False):
    """The mean of all elements, or along ``dim``. PyTorch counterpart: ``torch.mean``."""
    if self._dtype.kind != "f":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {self.dtype.tensor_type.removesuffix('Tensor')}"
        )
    return mean_all(self) if dim is None else mean_dim(self, tuple(dim) if isinstance(dim, list) else dim, keepdim)


@op(constant=("self",))
def argmax(self, dim=None):
    """The index of the largest element. The result is an integer: it has no gradient."""
    return np.argmax(self, dim)


@op(constant=("self",))
def argmin(self, dim=None):
    """The index of the smallest element. The result is an integer: it has no gradient."""
    return np.argmin(self, dim)


@op(
    node="VarBackward0",
    name="var",
    self=lambda grad, self, dim, correction, keepdim: _var_slope(grad, self, dim, correction, keepdim),
)
def variance(self, dim, correction, keepdim):
    """The mean squared distance from the mean, divided by ``n - correction``."""
    return np.var(self, dim, ddof=correction, keepdims=keepdim)


def _var_slope(grad, self, dim, correction, keepdim):
    grad = grad if keepdim else view(grad, _with_ones(self.shape, dim))
    count = _count(tuple(self.shape), dim) - correction
    return (2.0 / count) * grad * (self - _mean_of(self, dim))


def _mean_of(self, dim):
    return self.mean(dim, keepdims=True) if isinstance(self, np.ndarray) else mean_keeping(self, dim)


def mean_keeping(self, dim):
    """The mean with the reduced dimensions kept as 1."""
    return view(mean_all(self), (1,) * self.ndim) if dim is None else mean_dim(self, dim, True)


def var(self, dim=None, correction=1, keepdim=False):
    """The variance of all elements, or along ``dim``. PyTorch counterpart: ``torch.var``."""
    return variance(self, tuple(dim) if isinstance(dim, list) else dim, correction, keepdim)


@op(
    node="StdBackward0",
    name="std",
    self=lambda grad, self, result, dim, correction, keepdim: _var_slope(
        where(result == 0, 0.0, grad / (2.0 * result)), self, dim, correction, keepdim
    ),
)
def deviation(self, dim, correction, keepdim):
    """The square root of the variance."""
    return np.std(self, dim, ddof=correction, keepdims=keepdim)


def std(self, dim=None, correction=1, keepdim=False):
    """The standard deviation of all elements, or along ``dim``. PyTorch counterpart: ``torch.std``."""
    return deviation(self, tuple(dim) if isinstance(dim, list) else dim, correction, keepdim)


def _share(grad, self, result):
    """The gradient of an extreme value, in equal shares to the elements that reach it."""
    reached = self == result
    return reached * (grad / reached.sum())


@op(node="MaxBackward1", name="max", self=lambda grad, self, result: _share(grad, self, result))
def max_all(self):
    """The largest of all elements. Ties share the gradient equally, as in PyTorch."""
    return np.max(self)


@op(node="MinBackward1", name="min", self=lambda grad, self, result: _share(grad, self, result))
def min_all(self):
    """The smallest of all elements. Ties share the gradient equally, as in PyTorch."""
    return np.min(self)
