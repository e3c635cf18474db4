"""Functions that networks are made of. PyTorch counterpart: ``torch.nn.functional``."""

import functools
import math
import warnings

import numpy as np

from .. import ops
from ..messages import C_NAMES, OTHER_SIZE, refuse
from ..ops import masked_fill, sigmoid, tanh
from ..ops.index import put
from ..ops.linalg import addmm, matmul
from ..ops.pointwise import chosen, op, where, zero_gradient
from ..ops.shape import SMALL, broadcast_shape, expand, permute, reshape, squeeze, t, unsqueeze, view
from ..tensor import Tensor, wrap
from .convolution import convolved, input_gradient, weight_gradient

__all__ = [
    "conv2d", "conv_transpose2d", "cross_entropy", "leaky_relu", "linear", "log_softmax", "mse_loss", "nll_loss",
    "relu", "sigmoid", "softmax", "softplus", "tanh",
]  # fmt: skip


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element where it is positive, else 0. PyTorch counterpart: ``torch.nn.functional.relu``."""
    return input.relu_() if inplace else ops.relu(input)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype=None) -> Tensor:
    """``softmax`` along ``dim``; see there. PyTorch counterpart: ``torch.nn.functional.softmax``."""
    return ops.softmax(input, _classes_dim("softmax", input, _stacklevel) if dim is None else dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype=None) -> Tensor:
    """``log_softmax`` along ``dim``; see there. PyTorch counterpart: ``torch.nn.functional.log_softmax``."""
    return ops.log_softmax(input, _classes_dim("log_softmax", input, _stacklevel) if dim is None else dim, dtype)


def _classes_dim(name: str, input: Tensor, stacklevel: int) -> int:
    """The dimension that old programs mean, which name none."""
    text = f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument."
    warnings.warn(text, stacklevel=stacklevel)
    return 0 if input.ndim in (0, 1, 3) else 1


def _mse_gradient(grad, self, target, reduction):
    slope = grad * (2.0 * (self - target))
    return slope / math.prod(self.shape) if reduction == "mean" else slope


@op(
    node="MseLossBackward0",
    self=lambda grad, self, target, reduction: _mse_gradient(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: -_mse_gradient(grad, self, target, reduction),
    name="mse_loss",
)
def squared_error(self, target, reduction):
    """The squared differences of two tensors of the same shape: their mean, their sum, or each."""
    return _reduced(np.square(self - target), reduction)


def _reduced(losses, reduction):
    """The mean of the losses, their sum, or each."""
    if reduction == "none":
        return losses
    return np.add.reduce(losses, None) / losses.dtype.type(losses.size if reduction == "mean" else 1)


def _check_reduction(reduction) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def mse_loss(input, target, reduction="mean"):
    """The squared differences: their mean, their sum, or each (``reduction="none"``).

    PyTorch counterpart: ``torch.nn.functional.mse_loss``.

    >>> import minigrad as mg
    >>> mse_loss(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
    tensor(2.)
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
    scaled = self * negative_slope
    return np.maximum(self, scaled) if 0 < negative_slope <= 1 else chosen(self > 0, self, scaled)


@op(
    node="LeakyReluBackwardBackward0",
    fits=True,
    grad_output=lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope),
    self=lambda grad: grad * 0,
)
def leaky_relu_backward(grad_output, self, negative_slope):
    """The derivative of leaky_relu; its own derivative by the input is 0."""
    return chosen(self > 0, grad_output, grad_output * negative_slope)


@op(
    floating=True,
    self=lambda grad, self, beta, threshold: grad * _softplus_slope(self, beta, threshold),
)
def softplus(self, beta=1, threshold=20):
    """A smooth relu, ``log(1 + exp(beta * self)) / beta``; the element itself where that is the same to float32."""
    scaled = self if beta == 1 else self * beta
    smooth = np.log1p(np.exp(scaled)) if self.itemsize > 2 else np.logaddexp(0, scaled)  # float16 overflows early
    smooth = smooth if beta == 1 else smooth / beta
    return np.where(scaled > threshold, self, smooth) if _some_above(scaled, threshold) else smooth


def _some_above(array, threshold) -> bool:
    return array.size > 0 and not array.item(array.argmax()) <= threshold


def _softplus_slope(self, beta, threshold):
    scaled = self if beta == 1 else self * beta
    if isinstance(self, np.ndarray) and not _some_above(scaled, threshold):
        return sigmoid(scaled)
    return where(scaled > threshold, 1.0, sigmoid(scaled))


def _target_weights(target, weight, ignore_index, dtype):
    """The weight of each target: that of its class, 0 where it is to be ignored."""
    kept = target != ignore_index
    if weight is None:
        return kept.astype(dtype)
    for wrong in target[kept & ((target < 0) | (target >= len(weight)))].flat:
        raise IndexError(f"Target {wrong} is out of bounds.")
    return np.where(kept, weight[np.where(kept, target, 0)], 0)


def _nll_gradient(grad, self, target, weight, total_weight, ignore_index, reduction):
    if weight is None and reduction == "mean" and self.ndim == 2 and total_weight == len(target):
        if isinstance(grad, np.ndarray):  # every target counts: nothing else has to be looked at
            slopes = np.zeros(self.shape, grad.dtype)
            slopes[np.arange(len(target)), target] = -grad / total_weight
            return slopes
    return _recorded_for(self, _rows_gradient(grad, target, weight, ignore_index, reduction, tuple(self.shape)))


def _recorded_for(self, slopes):
    """The gradient for an input that it does not depend on: PyTorch records it as depending on it, with slope 0."""
    return _constant_in(slopes, self) if isinstance(slopes, Tensor) else slopes


@op(node="NllLossBackwardBackward0", self=lambda grad: grad, other=lambda other: zero_gradient(other))
def _constant_in(self, other):
    return self.copy()


def _rows_gradient(grad, target, weight, ignore_index, reduction, self_shape):
    target, weight = (each._array if isinstance(each, Tensor) else each for each in (target, weight))
    dtype = grad._dtype if isinstance(grad, Tensor) else grad.dtype
    if not self_shape[-1]:  # of no class: every target was one to ignore
        nothing = np.zeros(self_shape, dtype)
        return wrap(nothing) if isinstance(grad, Tensor) else nothing
    weights = -_target_weights(target, weight, ignore_index, dtype)
    if reduction == "mean":
        weights = weights / abs(weights.sum() or 1)
    target = np.where(target == ignore_index, 0, target)
    places = (np.arange(len(target)), target) if len(self_shape) > 1 else target.item()
    return put(where(np.asarray(weights != 0), grad * weights, 0.0), places, self_shape)


_arange = functools.lru_cache(maxsize=64)(np.arange)


@op(
    node="NllLossBackward0",
    name="nll_loss",
    constant=("target", "weight", "total_weight"),
    fits=True,
    self=_nll_gradient,
)
def nll_loss_of_rows(self, target, total_weight, ignore_index, reduction, weight=None):
    """Minus the log-probability at each target. Shapes: self (n, classes), target (n,); or without the n."""
    if weight is None and reduction == "mean" and self.ndim == 2 and 0 < len(target) == total_weight.item():
        try:
            if target.item(target.argmin()) >= 0:  # as nearly always
                rows = (_arange if len(target) <= SMALL else np.arange)(len(target))
                return np.add.reduce(self[rows, target]) / -len(target)
        except IndexError:
            pass  # refused below
    known = target != ignore_index
    for wrong in target[known & ((target < 0) | (target >= self.shape[-1]))].flat:
        raise IndexError(f"Target {wrong} is out of bounds.")
    position = np.where(known, target, 0)
    if not self.shape[-1]:  # no class, and no target that is not to be ignored
        found = np.zeros(target.shape, self.dtype)
    else:
        found = self[position] if self.ndim == 1 else self[np.arange(len(target)), position]
    weights = _target_weights(target, weight, ignore_index, self.dtype)
    losses = np.where(known, -found * weights, 0)
    if reduction != "mean":
        return _reduced(losses, reduction)
    return np.add.reduce(losses, None) / total_weight


def _nll_2d_gradient(grad, self, target, weight, total_weight, ignore_index, reduction):
    count, classes, height, width = self.shape
    target = (target._array if isinstance(target, Tensor) else target).reshape(-1)
    grad = view(grad, target.shape) if reduction == "none" else grad
    rows = _rows_gradient(grad, target, weight, ignore_index, reduction, (len(target), classes))
    return _recorded_for(self, permute(view(rows, (count, height, width, classes)), (0, 3, 1, 2)))


@op(
    node="NllLoss2DBackward0",
    name="nll_loss2d",
    constant=("target", "weight", "total_weight"),
    fits=True,
    self=_nll_2d_gradient,
)
def nll_loss2d(self, target, total_weight, ignore_index, reduction, weight=None):
    """Minus the log-probability at each target. Shapes: self (n, classes, h, w), target (n, h, w)."""
    rows = self.transpose(0, 2, 3, 1).reshape(-1, self.shape[1])
    losses = nll_loss_of_rows.row.forward(rows, target.reshape(-1), total_weight, ignore_index, reduction, weight)
    return losses.reshape(target.shape) if reduction == "none" else losses


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """Minus the log-probability at each target, times the weight of its class.

    Shapes: input (n, classes, ...), target (n, ...), of integers; or without the n. Targets that are `ignore_index`
    do not count. PyTorch counterpart: ``torch.nn.functional.nll_loss``.
    """
    _check_reduction(reduction)
    _check_targets(input, target)
    if weight is None:
        total = wrap(np.array(_count(target._array, ignore_index), input._dtype))
    else:
        _check_weight(weight, input._array.shape[:2][-1])
        total = wrap(np.asarray(_target_weights(target._array, weight._array, ignore_index, input._dtype).sum()))
    if input._array.ndim > 2:
        planes, shape = (input, target), tuple(target.shape)
        if input.ndim != 4:
            planes = reshape(input, (*input.shape[:2], 1, -1)), reshape(target, (len(input), 1, -1))
        losses = nll_loss2d(*planes, total, ignore_index, reduction, weight)
        return view(losses, shape) if reduction == "none" and input.ndim != 4 else losses
    return nll_loss_of_rows(input, target, total, ignore_index, reduction, weight)


def _count(target, ignore_index) -> int:
    """How many targets are not to be ignored."""
    if ignore_index < 0 < target.size and target.item(target.argmin()) >= 0:  # as nearly always
        return target.size
    return int(np.count_nonzero(target != ignore_index))


def _check_targets(input: Tensor, target: Tensor) -> None:
    """Refuse targets that are not one integer for each row of scores."""
    if input._array.ndim == 2 and input._array.shape[:1] == target._array.shape and target._dtype.kind != "f":
        return  # as nearly always
    if not input.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if input.ndim == 1 and target.ndim == 1 and len(target) != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {len(target)}")
    if input.ndim > 1 and (not target.ndim or input.shape[0] != target.shape[0]):
        batch = target.shape[0] if target.ndim else 0
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({batch}).")
    expected = [input.shape[0], *input.shape[2:]]
    if input.ndim > 2 and list(target.shape) != expected:
        raise RuntimeError(f"Expected target size {expected}, got {list(target.shape)}")
    if target._dtype.kind == "f":
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.tensor_type[:-6]}")


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
    logs, classes = ops.log_softmax(input, dim), input._array.shape[dim]
    _check_weight(weight, classes)
    weights = None if weight is None else view(weight, (classes, *(1,) * (input.ndim - 1 - dim)))
    if target._dtype.kind == "f" and target.shape == input.shape:
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        products = logs * target if weights is None else logs * target * weights
        return _loss_of_shares(products, dim, reduction)
    losses = nll_loss(logs, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return losses
    ignored = target == ignore_index
    smooth = masked_fill(-(logs if weights is None else logs * weights).sum(dim), ignored, 0.0)
    if reduction == "mean":
        of_classes = None if weight is None else weight._array
        kind = np.dtype(np.int64) if weight is None else logs._dtype
        smooth = smooth.sum() / wrap(np.asarray(_target_weights(target._array, of_classes, ignore_index, kind).sum()))
    elif reduction == "sum":
        smooth = smooth.sum()
    return times_number(losses, 1 - label_smoothing) + times_number(smooth, label_smoothing / classes)


def _loss_of_shares(products: Tensor, dim: int, reduction: str) -> Tensor:
    if reduction == "none":
        return -products.sum(dim)
    if reduction == "sum":
        return -products.sum()
    if not products.numel():
        return -products.sum().fill_(math.nan)
    return quotient_by_number(-products.sum(), products.numel() / products.shape[dim])


# What PyTorch's own code calls where it multiplies or divides by a number: the nodes have other names.
@op(node="MulBackward1", name="mul", self=lambda grad, other: grad * other)
def times_number(self, other):
    """The product with a Python number."""
    return self * other


@op(node="DivBackward1", name="div", self=lambda grad, other: grad / other)
def quotient_by_number(self, other):
    """The quotient by a Python number."""
    return np.true_divide(self, self.dtype.type(other))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``. Shapes: input (..., in), weight (out, in), bias (out,).

    PyTorch counterpart: ``torch.nn.functional.linear``.

    >>> import minigrad as mg
    >>> linear(mg.tensor([1.0, 2.0]), mg.tensor([[1.0, 0.0], [1.0, 1.0]]))
    tensor([1., 3.])
    """
    if bias is not None and input.ndim == 2:
        return addmm(bias, input, t(weight))
    if not (input.ndim and weight.ndim):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {input.ndim}D and {weight.ndim}D"
        )
    if bias is None or weight.ndim == 1 or bias.ndim != 1:
        return matmul(input, t(weight)) if bias is None else matmul(input, t(weight)).add_(bias)
    rows = addmm(bias, reshape(input, (-1, input.shape[-1])), t(weight))
    return view(rows, (*input.shape[:-1], weight.shape[0]))


# Convolution, its transpose and the gradient of its weight are each other's derivatives: three rows have derivatives
# of every order. convolution.py computes them. Strides, paddings and dilations are pairs: rows, columns.


def _bias_gradient(grad):
    return grad.sum((0, 2, 3))


_convolution_row = functools.partial(op, node="ConvolutionBackward0", fits=True, bias=_bias_gradient)


@_convolution_row(
    name="conv2d",
    shown={"output_padding": (0, 0), "transposed": False},
    input=lambda grad, input, weight, stride, padding, dilation, groups, input_shape: convolve_transposed(
        grad, weight, stride, padding, dilation, groups, input_shape
    ),
    weight=lambda grad, input, weight, stride, padding, dilation, groups, weight_shape: convolution_weight_gradient(
        input, grad, stride, padding, dilation, groups, weight_shape
    ),
)
def convolve(input, weight, stride, padding, dilation, groups, bias=None):
    """Slide the kernels over the input, and add a number per kernel. Shapes: (n, c, h, w) and (o, c / groups, i, j)."""
    return _with_bias(convolved(input, weight, stride, padding, dilation, groups), bias)


def _with_bias(channels, bias):
    if bias is not None:
        channels += bias.reshape(-1, 1, 1)
    return channels


@_convolution_row(
    name="conv_transpose2d",
    layout="rows",
    shown={"output_padding": (0, 0), "transposed": True},
    input=lambda grad, input, weight, stride, padding, dilation, groups, input_shape: _cropped(
        convolve(grad, weight, stride, padding, dilation, groups), input_shape
    ),
    weight=lambda grad, input, weight, stride, padding, dilation, groups, weight_shape: convolution_weight_gradient(
        grad, input, stride, padding, dilation, groups, weight_shape
    ),
)
def convolve_transposed(input, weight, stride, padding, dilation, groups, shape, bias=None):
    """The transpose of convolve: its derivative by the input. ``shape`` is that of the result."""
    return _with_bias(input_gradient(input, weight, stride, padding, dilation, groups, shape), bias)


@op(
    node="ConvolutionBackward0",
    name="conv2d_weight",
    fits=True,
    input=lambda grad, slope, stride, padding, dilation, groups, input_shape: convolve_transposed(
        slope, grad, stride, padding, dilation, groups, input_shape
    ),
    slope=lambda grad, input, stride, padding, dilation, groups, slope_shape: _cropped(
        convolve(input, grad, stride, padding, dilation, groups), slope_shape
    ),
)
def convolution_weight_gradient(input, slope, stride, padding, dilation, groups, shape):
    """The derivative of convolve by its weight, of shape ``shape``, from the gradient `slope` of its output."""
    return weight_gradient(input, slope, stride, padding, dilation, groups, shape)


def _cropped(image, shape):
    """The image without the rows and columns that an output_padding has added."""
    return image if tuple(image.shape) == shape else image[:, :, : shape[2], : shape[3]]


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
        input, padding = _padding_by_name(padding, input, weight, stride, dilation)
    padding = _pair(padding)
    _check_steps(stride, padding)
    _check_channels("conv2d", weight, input, weight.shape[1] * groups if weight.ndim == 4 else 0, groups)
    _check_operands(input, weight, bias, weight.shape[0])
    return convolve(input, weight, stride, padding, dilation, groups, bias)


def _padding_by_name(name: str, input: Tensor, weight: Tensor, stride: tuple, dilation: tuple) -> tuple:
    """The input and the padding for an output as large as the input ("same"), or without padding ("valid")."""
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
    """Zeros after the last rows and columns: `added` is how many of each."""
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
    if min(sides) < 1:
        given, calculated = " x ".join(map(str, input.shape[2:])), " x ".join(map(str, sides))
        raise RuntimeError(
            f"Given input size per channel: ({given}). Calculated output size per channel: ({calculated}). Output size "
            "is too small"
        )
    return convolve_transposed(input, weight, stride, padding, dilation, groups, shape, bias)


def _check_steps(stride: tuple, padding: tuple) -> None:
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(stride) < 1:
        raise RuntimeError("non-positive stride is not supported")


def _check_operands(input: Tensor, weight: Tensor, bias: Tensor | None, channels: int, transposed=False) -> None:
    """Refuse operands of different dtypes, and a bias without one number for each channel."""
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
    """Refuse an input whose number of channels or dimensions does not fit the kernels."""
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
