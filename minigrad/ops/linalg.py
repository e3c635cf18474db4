"""Products of vectors and matrices. PyTorch counterparts: ``torch.mm``, ``mv``, ``dot``, ``matmul``."""

import numpy as np

from ..dispatch import op
from .shape import t, unsqueeze


def _product(a, b, sentence):
    if a.shape[-1] != b.shape[0]:
        raise RuntimeError(sentence)
    return np.matmul(a, b)


@op(
    fits=True,
    self=lambda grad, mat2: mm(grad, t(mat2)),
    mat2=lambda grad, self: mm(t(self), grad),
)
def mm(self, mat2):
    """The product of two matrices."""
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError("self must be a matrix" if self.ndim != 2 else "mat2 must be a matrix")
    shapes = "x".join(map(str, self.shape)) + " and " + "x".join(map(str, mat2.shape))
    return _product(self, mat2, f"mat1 and mat2 shapes cannot be multiplied ({shapes})")


@op(
    fits=True,
    self=lambda grad, vec: unsqueeze(grad, 1) * vec,
    vec=lambda grad, self: mv(t(self), grad),
)
def mv(self, vec):
    """The product of a matrix and a vector."""
    sizes = f"size mismatch, got input ({len(self)}), mat ({self.shape[0]}x{self.shape[-1]}), vec ({len(vec)})"
    return _product(self, vec, sizes)


@op(
    fits=True,
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)
def dot(self, tensor):
    """The inner product of two vectors."""
    return _product(self, tensor, f"inconsistent tensor size, expected tensor {list(self.shape)} and src "
                    f"{list(tensor.shape)} to have the same number of elements, but got {len(self)} and "
                    f"{len(tensor)} elements respectively")


def matmul(self, other):
    """The matrix product ``self @ other`` of vectors and matrices."""
    kinds = (self.ndim, other.ndim)
    if kinds == (2, 2):
        return mm(self, other)
    if kinds == (2, 1):
        return mv(self, other)
    if kinds == (1, 1):
        return dot(self, other)
    if kinds == (1, 2):
        return mv(t(other), self)
    raise NotImplementedError("minigrad: @ is for vectors and matrices; there are no batches of matrices yet.")
