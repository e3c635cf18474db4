"""Functions that networks are made of. PyTorch counterpart: ``torch.nn.functional``."""

import math

import numpy as np

from ..ops import relu, sigmoid, tanh
from ..ops.linalg import matmul
from ..ops.pointwise import op
from ..ops.shape import t
from ..tensor import Tensor

__all__ = ["linear", "mse_loss", "relu", "sigmoid", "tanh"]


def _mse_slope(grad, self, target, reduction):
    slope = grad * (2.0 * (self - target))
    return slope / math.prod(self.shape) if reduction == "mean" else slope


@op(
    node="MseLossBackward0",
    self=lambda grad, self, target, reduction: _mse_slope(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: -_mse_slope(grad, self, target, reduction),
)
def mse_loss(self, target, reduction="mean"):
    """The squared differences: their mean, their sum, or each (``reduction="none"``)."""
    squares = np.square(self - target)
    return (
        squares.mean(dtype=squares.dtype) if reduction == "mean" else squares.sum() if reduction == "sum" else squares
    )


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``. Shapes: input (n, in), weight (out, in), bias (out,)."""
    product = matmul(input, t(weight))
    return product if bias is None else product + bias
