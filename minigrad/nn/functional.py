"""Functions that networks are made of. PyTorch counterpart: ``torch.nn.functional``."""

import math

import numpy as np

from ..ops import log_softmax, relu, sigmoid, softmax, tanh
from ..ops.index import put
from ..ops.linalg import addmm, matmul
from ..ops.pointwise import op, where
from ..ops.shape import broadcast_shape, expand, t, view
from ..tensor import Tensor

__all__ = [
    "conv2d", "conv_transpose2d", "cross_entropy", "leaky_relu", "linear", "log_softmax", "mse_loss", "nll_loss",
    "relu", "sigmoid", "softmax", "softplus", "tanh",
]  # fmt: skip


def _mse_slope(grad, self, target, reduction):
    slope = grad * (2.0 * (self - target))
    return slope / math.prod(self.shape) if reduction == "mean" else slope


@op(
    node="MseLossBackward0",
    self=lambda grad, self, target, reduction: _mse_slope(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: -_mse_slope(grad, self, target, reduction),
    name="mse_loss",
)
def squared_error(self, target, reduction):
    """The squared differences of tensors of one shape: their mean, their sum, or each."""
    squares = np.square(self - target)
    return (
        squares.mean(dtype=squares.dtype) if reduction == "mean" else squares.sum() if reduction == "sum" else squares
    )


def mse_loss(input, target, reduction="mean"):
    """The squared differences: their mean, their sum, or each (``reduction="none"``).

    PyTorch counterpart: ``torch.nn.functional.mse_loss``.
    """
    if input.shape != target.shape:
        shape = broadcast_shape(input, target)
        input, target = (x if x.shape == shape else expand(x, shape) for x in (input, target))
    return squared_error(input, target, reduction)


@op(
    name="leaky_relu",
    self=lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope),
)
def leaky_relu(self, negative_slope=0.01):
    """Each element where it is positive, else ``negative_slope`` times the element."""
    return np.where(self > 0, self, self * negative_slope)


@op(
    node="LeakyReluBackwardBackward0",
    fits=True,
    grad_output=lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope),
    self=lambda grad: grad * 0,
)
def leaky_relu_backward(grad_output, self, negative_slope):
    """The derivative of leaky_relu; its own derivative by the input is 0."""
    return np.where(self > 0, grad_output, grad_output * negative_slope)


@op(
    floating=True,
    self=lambda grad, self, beta, threshold: grad * where(beta * self > threshold, 1.0, sigmoid(beta * self)),
)
def softplus(self, beta=1, threshold=20):
    """A smooth relu, ``log(1 + exp(beta * self)) / beta``; the element itself where that is the same to float32."""
    return np.where(beta * self > threshold, self, np.logaddexp(0, beta * self) / beta)


def _row_index(target):
    return np.arange(len(target)), target


@op(
    node="NllLossBackward0",
    constant=("target",),
    fits=True,
    self=lambda grad, target, reduction, self_shape: _nll_slope(grad, target, reduction, self_shape),
)
def nll_loss(self, target, reduction="mean"):
    """Minus the log-probability at each target. Shapes: self (n, classes), target (n,), of integers."""
    losses = -self[_row_index(target)]
    return losses.mean(dtype=losses.dtype) if reduction == "mean" else losses.sum() if reduction == "sum" else losses


def _nll_slope(grad, target, reduction, shape):
    target = target._array if isinstance(target, Tensor) else target
    share = grad / shape[0] if reduction == "mean" else grad
    if reduction != "none":
        share = expand(share, (shape[0],))
    return put(-share, _row_index(target), shape)


def cross_entropy(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The cross entropy of class scores. Shapes: input (n, classes), target (n,), of integers.

    PyTorch counterpart: ``torch.nn.functional.cross_entropy``.
    """
    return nll_loss(log_softmax(input, 1), target, reduction)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``. Shapes: input (n, in), weight (out, in), bias (out,)."""
    if bias is not None and input.ndim == 2:
        return addmm(bias, input, t(weight))
    if not (input.ndim and weight.ndim):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and {weight.ndim}D"
        )
    product = matmul(input, t(weight))
    return product if bias is None else product + bias


# Convolution, its transpose and the gradient of its weight are each other's derivatives: three rows, and
# every higher derivative is there. Each is a sum over the kernel's positions of products with a shifted
# input, which needs no copy of the input's patches.


@op(
    node="ConvolutionBackward0",
    name="conv2d",
    fits=True,
    shown={"dilation": (1, 1), "groups": 1, "output_padding": (0, 0), "transposed": False},
    input=lambda grad, weight, stride, padding, input_shape: spread(grad, weight, stride, padding, input_shape),
    weight=lambda grad, input, stride, padding, weight_shape: correlate(input, grad, stride, padding, weight_shape),
)
def convolve(input, weight, stride, padding):
    """Slide the kernels over the input. Shapes: input (n, c, h, w), weight (o, c, i, j)."""
    padded = _padded(input, padding)
    height, width = ((n - k) // stride + 1 for n, k in zip(padded.shape[2:], weight.shape[2:], strict=True))
    out = np.zeros((len(input), len(weight), height * width), np.result_type(input, weight))
    for i, j in np.ndindex(weight.shape[2:]):
        patch = _shifted(padded, i, j, stride, height, width)
        out += weight[:, :, i, j] @ patch.reshape(*patch.shape[:2], -1)
    return out.reshape(len(input), len(weight), height, width)


@op(
    node="ConvolutionBackward0",
    name="conv_transpose2d",
    fits=True,
    shown={"dilation": (1, 1), "groups": 1, "output_padding": (0, 0), "transposed": True},
    input=lambda grad, weight, stride, padding: convolve(grad, weight, stride, padding),
    weight=lambda grad, input, stride, padding, weight_shape: correlate(grad, input, stride, padding, weight_shape),
)
def spread(input, weight, stride, padding, shape):
    """Add each input element's multiple of the kernels into zeros of ``shape``: convolution's derivative."""
    padded = np.zeros((*shape[:2], *(n + 2 * padding for n in shape[2:])), np.result_type(input, weight))
    height, width = input.shape[2:]
    columns = input.reshape(*input.shape[:2], -1)
    for i, j in np.ndindex(weight.shape[2:]):
        patch = _shifted(padded, i, j, stride, height, width)
        patch += (weight[:, :, i, j].T @ columns).reshape(patch.shape)
    return padded[:, :, padding : padding + shape[2], padding : padding + shape[3]]


@op(
    node="ConvolutionBackward0",
    name="conv2d_weight",
    fits=True,
    input=lambda grad, slope, stride, padding, input_shape: spread(slope, grad, stride, padding, input_shape),
    slope=lambda grad, input, stride, padding: convolve(input, grad, stride, padding),
)
def correlate(input, slope, stride, padding, shape):
    """How the kernels of ``shape`` share in a gradient `slope` of the output: convolution's other derivative."""
    padded, (height, width) = _padded(input, padding), slope.shape[2:]
    out = np.empty(shape, np.result_type(input, slope))
    for i, j in np.ndindex(*shape[2:]):
        patch = _shifted(padded, i, j, stride, height, width)
        out[:, :, i, j] = np.tensordot(slope, patch, ((0, 2, 3), (0, 2, 3)))
    return out


def _padded(array, padding):
    return np.pad(array, ((0, 0), (0, 0), (padding, padding), (padding, padding))) if padding else array


def _shifted(array, i, j, stride, height, width):
    """The elements that kernel position (i, j) meets, one per output position: a view."""
    return array[:, :, i : i + stride * height : stride, j : j + stride * width : stride]


def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int = 1, padding: int = 0) -> Tensor:
    """2-d convolution. Shapes: input (n, c, h, w), weight (o, c, i, j), bias (o,), result (n, o, ...).

    PyTorch counterpart: ``torch.nn.functional.conv2d``, with one stride and one padding for both directions.
    """
    if input.ndim != 4 or weight.ndim != 4 or input.shape[1] != weight.shape[1]:
        raise _channels_refused(weight, input, weight.shape[1])
    out = convolve(input, weight, stride, padding)
    return out if bias is None else out + view(bias, (1, -1, 1, 1))


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int = 1, padding: int = 0
) -> Tensor:
    """The transpose of conv2d. Shapes: input (n, o, h, w), weight (o, c, i, j), bias (c,), result (n, c, ...).

    PyTorch counterpart: ``torch.nn.functional.conv_transpose2d``.
    """
    if input.ndim != 4 or weight.ndim != 4 or input.shape[1] != weight.shape[0]:
        raise _channels_refused(weight, input, weight.shape[0])
    sides = ((n - 1) * stride - 2 * padding + k for n, k in zip(input.shape[2:], weight.shape[2:], strict=True))
    out = spread(input, weight, stride, padding, (input.shape[0], weight.shape[1], *sides))
    return out if bias is None else out + view(bias, (1, -1, 1, 1))


def _channels_refused(weight: Tensor, input: Tensor, channels: int) -> Exception:
    return RuntimeError(
        f"Given groups=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have {channels} "
        f"channels, but got {input.shape[1] if input.ndim > 1 else 0} channels instead"
    )
