"""Operations that make fewer elements of many. PyTorch counterparts: the methods of the same names."""

import math

import numpy as np

from ..dispatch import op
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
    if self.dtype.numpy.kind != "f":
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
