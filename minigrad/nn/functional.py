"""Functions that networks are made of. PyTorch counterpart: ``torch.nn.functional``."""

import functools
import math
import warnings

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .. import ops
from ..messages import C_NAMES, OTHER_SIZE, refuse
from ..ops import log_softmax, masked_fill, sigmoid, softmax, tanh
from ..ops.index import put
from ..ops.linalg import addmm, matmul
from ..ops.pointwise import op, where
from ..ops.shape import broadcast_shape, expand, permute, reshape, squeeze, t, unsqueeze, view
from ..tensor import Tensor

__all__ = [
    "conv2d", "conv_transpose2d", "cross_entropy", "leaky_relu", "linear", "log_softmax", "mse_loss", "nll_loss",
    "relu", "sigmoid", "softmax", "softplus", "tanh",
]  # fmt: skip


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element where it is positive, else 0. PyTorch counterpart: ``torch.nn.functional.relu``."""
    return input.relu_() if inplace else ops.relu(input)


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
    return _reduced(np.square(self - target), reduction)


def _reduced(losses, reduction):
    """The mean of the losses, their sum, or each."""
    return losses if reduction == "none" else losses.mean(dtype=losses.dtype) if reduction == "mean" else losses.sum()


def _check_reduction(reduction) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def mse_loss(input, target, reduction="mean"):
    """The squared differences: their mean, their sum, or each (``reduction="none"``).

    PyTorch counterpart: ``torch.nn.functional.mse_loss``.
    """
    _check_reduction(reduction)
    if input.shape != target.shape:
        warnings.warn(OTHER_SIZE.format(target.shape, input.shape), UserWarning, stacklevel=2)
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


def _shares(target, weight, ignore_index, dtype):
    """How much each target counts: as much as its class, and not at all where it is to be ignored."""
    kept = target != ignore_index
    return kept.astype(dtype) if weight is None else np.where(kept, weight[np.where(kept, target, 0)], 0)


def _nll_slope(grad, target, weight, ignore_index, reduction, self_shape):
    target = target._array if isinstance(target, Tensor) else target
    shares = -_shares(target, weight, ignore_index, grad._dtype if isinstance(grad, Tensor) else grad.dtype)
    if reduction == "mean":
        shares = shares / abs(shares.sum() or 1)
    target = np.where(target == ignore_index, 0, target)
    places = (np.arange(len(target)), target) if len(self_shape) > 1 else target.item()
    return put(grad * shares, places, self_shape)


@op(
    node="NllLossBackward0",
    name="nll_loss",
    constant=("target",),
    fits=True,
    self=_nll_slope,
)
def picked(self, target, weight, ignore_index, reduction):
    """Minus the log-probability at each target. Shapes: self (n, classes), target (n,); or without the n."""
    known = target != ignore_index
    for wrong in target[known & ((target < 0) | (target >= self.shape[-1]))].flat:
        raise IndexError(f"Target {wrong} is out of bounds.")
    position = np.where(known, target, 0)
    found = self[position] if self.ndim == 1 else self[np.arange(len(target)), position]
    shares = _shares(target, weight, ignore_index, self.dtype)
    losses = np.where(known, -found * shares, 0)
    if reduction != "mean":
        return _reduced(losses, reduction)
    return losses.sum() / shares.sum() if shares.any() else np.full((), np.nan, self.dtype)


def _plane_slope(grad, target, weight, ignore_index, reduction, self_shape):
    count, classes, height, width = self_shape
    target = (target._array if isinstance(target, Tensor) else target).reshape(-1)
    grad = view(grad, target.shape) if reduction == "none" else grad
    rows = _nll_slope(grad, target, weight, ignore_index, reduction, (len(target), classes))
    return permute(view(rows, (count, height, width, classes)), (0, 3, 1, 2))


@op(
    node="NllLoss2DBackward0",
    name="nll_loss2d",
    constant=("target",),
    fits=True,
    self=_plane_slope,
)
def picked_in_planes(self, target, weight, ignore_index, reduction):
    """Minus the log-probability at each target. Shapes: self (n, classes, h, w), target (n, h, w)."""
    rows = self.transpose(0, 2, 3, 1).reshape(-1, self.shape[1])
    losses = picked.row.forward(rows, target.reshape(-1), weight, ignore_index, reduction)
    return losses.reshape(target.shape) if reduction == "none" else losses


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """Minus the log-probability at each target, times the weight of its class.

    Shapes: input (n, classes, ...), target (n, ...), of integers; or without the n. Targets that are `ignore_index`
    do not count. PyTorch counterpart: ``torch.nn.functional.nll_loss``.
    """
    _check_reduction(reduction)
    if target._dtype.kind == "f":
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.tensor_type[:-6]}")
    if input.ndim > 1 and input.shape[0] != target.shape[0]:
        batches = f"({input.shape[0]}) to match target batch_size ({target.shape[0]})"
        raise ValueError(f"Expected input batch_size {batches}.")
    classes = input.shape[min(1, input.ndim - 1)]
    _check_weight(weight, classes)
    if input.ndim > 2:
        planes, shape = (input, target), tuple(target.shape)
        if input.ndim != 4:
            planes = reshape(input, (len(input), classes, 1, -1)), reshape(target, (len(input), 1, -1))
        losses = picked_in_planes(*planes, weight if weight is None else weight._array, ignore_index, reduction)
        return view(losses, shape) if reduction == "none" and input.ndim != 4 else losses
    return picked(input, target, None if weight is None else weight._array, ignore_index, reduction)


def _check_weight(weight: Tensor | None, classes: int) -> None:
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of class scores. Shapes: input (n, classes, ...), target (n, ...) of integers; or without n.

    A target of the input's shape holds the probability of each class instead. With `label_smoothing`, so much of the
    target is spread over all classes. PyTorch counterpart: ``torch.nn.functional.cross_entropy``.
    """
    _check_reduction(reduction)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    dim = min(1, input.ndim - 1)
    logs, classes = log_softmax(input, dim), input.shape[dim]
    _check_weight(weight, classes)
    weights = None if weight is None else view(weight, (classes, *(1,) * (input.ndim - 1 - dim)))
    if target.shape == input.shape and target._dtype.kind == "f":
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        products = logs * target if weights is None else logs * target * weights
        losses = -(products.sum(dim) if reduction == "none" else products.sum())
        return losses / (input.numel() / classes) if reduction == "mean" else losses
    losses = nll_loss(logs, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return losses
    ignored = target == ignore_index
    smooth = masked_fill(-(logs if weights is None else logs * weights).sum(dim), ignored, 0.0)
    if reduction == "mean":
        shares = _shares(target._array, None if weight is None else weight._array, ignore_index, logs._dtype)
        smooth = smooth.sum() / shares.sum().item()
    elif reduction == "sum":
        smooth = smooth.sum()
    return losses * (1 - label_smoothing) + smooth * (label_smoothing / classes)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``. Shapes: input (..., in), weight (out, in), bias (out,)."""
    if bias is not None and input.ndim == 2:
        return addmm(bias, input, t(weight))
    if not (input.ndim and weight.ndim):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and {weight.ndim}D"
        )
    if bias is None or weight.ndim == 1:
        return matmul(input, t(weight)) if bias is None else matmul(input, weight) + bias
    rows = addmm(bias, reshape(input, (-1, input.shape[-1])), t(weight))
    return view(rows, (*input.shape[:-1], weight.shape[0]))


# Convolution, its transpose and the gradient of its weight are each other's derivatives: three rows (and two
# with a bias), and every higher derivative is there. Each is one matrix product (of each group) with the patches that
# the kernel meets, a column each: large products are what the processor does best, and worth the copy. Strides,
# paddings and dilations are pairs: rows, columns.


def _sum_of_positions(grad):
    return grad.sum((0, 2, 3))


def _convolution(shown, with_bias, name, input, weight):
    """A row of ConvolutionBackward0, which has a bias or has not, from the derivatives of the other two."""
    rules = {"input": input, "weight": weight} | ({"bias": _sum_of_positions} if with_bias else {})
    shown = {"output_padding": (0, 0)} | shown
    return op(node="ConvolutionBackward0", name=name, fits=True, shown=shown, **rules)


_direct = functools.partial(
    _convolution,
    {"transposed": False},
    name="conv2d",
    input=lambda grad, weight, stride, padding, dilation, groups, input_shape: spread(
        grad, weight, stride, padding, dilation, groups, input_shape
    ),
    weight=lambda grad, input, stride, padding, dilation, groups, weight_shape: correlate(
        input, grad, stride, padding, dilation, groups, weight_shape
    ),
)
_transposed = functools.partial(
    _convolution,
    {"transposed": True},
    name="conv_transpose2d",
    input=lambda grad, weight, stride, padding, dilation, groups, input_shape: _cropped(
        convolve(grad, weight, stride, padding, dilation, groups), input_shape
    ),
    weight=lambda grad, input, stride, padding, dilation, groups, weight_shape: correlate(
        grad, input, stride, padding, dilation, groups, weight_shape
    ),
)


@_direct(False)
def convolve(input, weight, stride, padding, dilation, groups):
    """Slide the kernels over the input. Shapes: input (n, c, h, w), weight (o, c / groups, i, j)."""
    return _slide(input, weight, stride, padding, dilation, groups)


@_direct(True)
def convolve_with_bias(input, weight, bias, stride, padding, dilation, groups):
    """Slide the kernels over the input, and add a number per kernel."""
    return _slide(input, weight, stride, padding, dilation, groups) + bias.reshape(-1, 1, 1)


def _slide(input, weight, stride, padding, dilation, groups):
    columns, sides = _patches(input, weight.shape[2:], stride, padding, dilation, groups)
    kernels = weight.reshape(groups, len(weight) // groups, -1)
    return (kernels @ columns).reshape(len(input), len(weight), *sides)


@_transposed(False)
def spread(input, weight, stride, padding, dilation, groups, shape):
    """Add each input element's multiple of the kernels into zeros of ``shape``: convolution's derivative."""
    return _scatter(input, weight, stride, padding, dilation, groups, shape)


@_transposed(True)
def spread_with_bias(input, weight, bias, stride, padding, dilation, groups, shape):
    """Add each input element's multiple of the kernels, and a number per channel."""
    return _scatter(input, weight, stride, padding, dilation, groups, shape) + bias.reshape(-1, 1, 1)


def _scatter(input, weight, stride, padding, dilation, groups, shape):
    sides = (n + 2 * pad for n, pad in zip(shape[2:], padding, strict=True))
    padded = np.zeros((*shape[:2], *sides), np.result_type(input, weight))
    (count, filters, height, width), (rows, columns) = input.shape, weight.shape[2:]
    kernels = weight.reshape(groups, filters // groups, -1).transpose(0, 2, 1)
    patches = kernels @ input.reshape(count, groups, filters // groups, -1)
    patches = patches.reshape(count, shape[1], rows, columns, height, width)
    (down, right), (below, beside) = stride, dilation
    for i, j in np.ndindex(rows, columns):
        top, left = i * below, j * beside
        padded[:, :, top : top + down * height : down, left : left + right * width : right] += patches[:, :, i, j]
    (top, left), (height, width) = padding, shape[2:]
    return padded[:, :, top : top + height, left : left + width]


@op(
    node="ConvolutionBackward0",
    name="conv2d_weight",
    fits=True,
    input=lambda grad, slope, stride, padding, dilation, groups, input_shape: spread(
        slope, grad, stride, padding, dilation, groups, input_shape
    ),
    slope=lambda grad, input, stride, padding, dilation, groups, slope_shape: _cropped(
        convolve(input, grad, stride, padding, dilation, groups), slope_shape
    ),
)
def correlate(input, slope, stride, padding, dilation, groups, shape):
    """How the kernels of ``shape`` share in a gradient `slope` of the output: convolution's other derivative."""
    columns, _ = _patches(input, shape[2:], stride, padding, dilation, groups, slope.shape[2:])
    slope = slope.reshape(len(slope), groups, slope.shape[1] // groups, -1)
    return (slope @ columns.transpose(0, 1, 3, 2)).sum(0).reshape(shape)


def _cropped(image, shape):
    """Without the positions that only an output_padding has made."""
    return image if tuple(image.shape) == shape else image[:, :, : shape[2], : shape[3]]


def _patches(array, kernel, stride, padding, dilation, groups, at_most=(None, None)):
    """What the kernel meets at each output position, a column each (n, groups, c * i * j, h * w); the output's sides.

    (c is the number of channels in a group.)
    """
    (top, left), (down, right), (below, beside) = padding, stride, dilation
    if top or left:
        array = np.pad(array, ((0, 0), (0, 0), (top, top), (left, left)))
    sizes = array.shape[2:]
    reach = [(length - 1) * step + 1 for length, step in zip(kernel, dilation, strict=True)]
    if reach[0] > sizes[0] or reach[1] > sizes[1]:
        raise RuntimeError(
            f"Calculated padded input size per channel: ({sizes[0]} x {sizes[1]}). Kernel size: ({reach[0]} x "
            f"{reach[1]}). Kernel size can't be greater than actual input size"
        )
    windows = sliding_window_view(array, reach, (2, 3))[:, :, ::down, ::right, ::below, ::beside]
    windows = windows[:, :, : at_most[0], : at_most[1]]
    count, channels, height, width = windows.shape[:4]
    columns = windows.transpose(0, 1, 4, 5, 2, 3)
    return columns.reshape(count, groups, channels // groups * math.prod(kernel), height * width), (height, width)


def _pair(number) -> tuple:
    return (number, number) if isinstance(number, int) else tuple(number)


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride=1, padding=0, dilation=1, groups: int = 1
) -> Tensor:
    """2-d convolution. Shapes: input (n, c, h, w) or (c, h, w), weight (o, c / groups, i, j), bias (o,).

    `stride`, `padding` and `dilation` are numbers, or pairs for rows and columns; `padding` may be "valid", and
    "same". PyTorch counterpart: ``torch.nn.functional.conv2d``.
    """
    if input.ndim == 3:
        return squeeze(conv2d(unsqueeze(input, 0), weight, bias, stride, padding, dilation, groups), 0)
    stride, dilation = _pair(stride), _pair(dilation)
    if isinstance(padding, str):
        input, padding = _named_padding(padding, input, weight, stride, dilation)
    padding = _pair(padding)
    _check_steps(stride, padding)
    _check_channels("conv2d", weight, input, weight.shape[1] * groups if weight.ndim == 4 else 0, groups)
    _check_operands(input, weight, bias, weight.shape[0])
    if bias is None:
        return convolve(input, weight, stride, padding, dilation, groups)
    return convolve_with_bias(input, weight, bias, stride, padding, dilation, groups)


def _named_padding(name: str, input: Tensor, weight: Tensor, stride: tuple, dilation: tuple) -> tuple:
    """The input and the padding that leave its sides as they are ("same"), or none ("valid")."""
    if name not in ("same", "valid"):
        raise RuntimeError(f"Invalid padding string: '{name}'")
    if name == "valid":
        return input, 0
    if stride != (1, 1):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    added = [(length - 1) * step for length, step in zip(weight.shape[2:], dilation, strict=True)]
    odd = tuple(each % 2 for each in added)
    if any(odd):
        input = pad_after(input, odd)
    return input, tuple(each // 2 for each in added)


@op(node="ConstantPadNdBackward0", self=lambda grad, self_shape: grad[:, :, : self_shape[2], : self_shape[3]])
def pad_after(self, added):
    """Zeros after the last rows and columns, so many of each."""
    return np.pad(self, ((0, 0), (0, 0), (0, added[0]), (0, added[1])))


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride=1, padding=0, output_padding=0, groups: int = 1,
    dilation=1,
) -> Tensor:  # fmt: skip
    """The transpose of conv2d. Shapes: input (n, o, h, w) or (o, h, w), weight (o, c / groups, i, j), bias (c,).

    PyTorch counterpart: ``torch.nn.functional.conv_transpose2d``.
    """
    if input.ndim == 3:
        options = stride, padding, output_padding, groups, dilation
        return squeeze(conv_transpose2d(unsqueeze(input, 0), weight, bias, *options), 0)
    pairs = stride, padding, dilation, more = [_pair(each) for each in (stride, padding, dilation, output_padding)]
    _check_steps(stride, padding)
    _check_channels("conv_transpose2d", weight, input, weight.shape[0], groups)
    _check_operands(input, weight, bias, weight.shape[1] * groups, transposed=True)
    if any(m >= max(pair) for m, *pair in zip(more, stride, dilation, strict=True)):
        named = zip(("output_padding", "stride", "dilation"), (more, stride, dilation), strict=True)
        each = (f"{name}_height: {down} {name}_width: {right}" for name, (down, right) in named)
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {' '.join(each)}")
    lengths = zip(input.shape[2:], weight.shape[2:], *pairs, strict=True)
    sides = [(n - 1) * step - 2 * pad + (k - 1) * spacing + 1 + extra for n, k, step, pad, spacing, extra in lengths]
    shape = (input.shape[0], weight.shape[1] * groups, *sides)
    if bias is None:
        return spread(input, weight, stride, padding, dilation, groups, shape)
    return spread_with_bias(input, weight, bias, stride, padding, dilation, groups, shape)


def _check_steps(stride: tuple, padding: tuple) -> None:
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(stride) < 1:
        raise RuntimeError("non-positive stride is not supported")


def _check_operands(input: Tensor, weight: Tensor, bias: Tensor | None, channels: int, transposed=False) -> None:
    """Refuse operands of several dtypes, and a bias that has not one number for each channel."""
    if bias is not None and bias.shape != (channels,):
        raise RuntimeError(
            f"Given {'transposed=1, ' * transposed}weight of size {list(weight.shape)}, expected bias to be "
            f"1-dimensional with {channels} elements, but got bias of size {list(bias.shape)} instead"
        )
    if bias is not None and bias._dtype is not input._dtype and not transposed:
        one, other = (C_NAMES.get(t._dtype.name, t._dtype.name) for t in (input, bias))
        raise RuntimeError(f"Input type ({one}) and bias type ({other}) should be the same")
    if weight._dtype is not input._dtype:
        one, other = (t.dtype.tensor_type.removesuffix("Tensor") for t in (input, weight))
        sentence = f"expected scalar type {one} but found {other}"
        raise refuse(RuntimeError, sentence, "make them of one dtype, with Tensor.to().")


def _check_channels(name: str, weight: Tensor, input: Tensor, channels: int, groups: int) -> None:
    """Refuse an input that has other channels than the kernels, or no place for them."""
    if input.ndim != 4:
        raise RuntimeError(
            f"Expected 3D (unbatched) or 4D (batched) input to {name}, but got input of size: {list(input.shape)}"
        )
    if weight.ndim == 4 and input.shape[1] == channels:
        return
    raise RuntimeError(
        f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
        f"{channels} channels, but got {input.shape[1]} channels instead"
    )
