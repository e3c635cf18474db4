"""Operations that work on each element by itself, besides those of arithmetic.py."""

import math

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import mode
from ..dispatch import op
from ..layout import laid_out
from ..messages import C_NAMES, bool_not_subtracted, refusal, type_name
from ..operands import as_element, cast, number, promote
from ..tensor import Tensor, wrap
from .arithmetic import minus, plus, quotient


def scaled(array, alpha):
    """An array, or a number, times a Python number: in the array's own dtype."""
    kind = getattr(array, "dtype", np.dtype(float)).kind
    if isinstance(alpha, bool) and kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and kind != "f":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if alpha == 1:
        return array
    return array * (np.asarray(alpha).astype(array.dtype) if isinstance(array, np.ndarray) else alpha)


@op(name="add", self=lambda grad: grad, other=lambda grad, alpha: grad * alpha)
def plus_scaled(self, other, alpha):
    """The sum ``self + alpha * other``."""
    return np.add(self, scaled(other, alpha))


def add(self, other, alpha=1):
    """The sum ``self + alpha * other``. PyTorch counterpart: ``torch.add``."""
    return plus(self, other) if alpha.__class__ is int and alpha == 1 else plus_scaled(self, other, alpha)


@op(name="sub", self=lambda grad: grad, other=lambda grad, alpha: -grad * alpha)
def minus_scaled(self, other, alpha):
    """The difference ``self - alpha * other``."""
    return np.subtract(self, scaled(other, alpha))


def sub(self, other, alpha=1):
    """The difference ``self - alpha * other``. PyTorch counterpart: ``torch.sub``."""
    return minus(self, other) if alpha.__class__ is int and alpha == 1 else minus_scaled(self, other, alpha)


@op(node="RsubBackward1", name="rsub", number="other", self=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha)
def number_minus(self, other, alpha=1):
    """The difference the other way round, ``other - self``: what ``1 - x`` calls."""
    if self.dtype.kind == "f" and alpha == 1:
        return np.subtract(other, self)
    if self.dtype.kind == "b":
        raise bool_not_subtracted()
    kind = self.dtype if self.dtype.kind == "f" else promote(self, other)
    return np.subtract(np.asarray(other).astype(kind), scaled(cast(self, kind), alpha))


@op(
    name="rsub",
    layout="",  # it lies as `other - self`, not as `self` first
    self=lambda grad, alpha: -grad if alpha == 1 else -grad * alpha,
    other=lambda grad: grad,
)
def tensor_minus(self, other, alpha=1):
    """The difference the other way round, ``other - self``, of two tensors."""
    return laid_out(np.asarray(np.subtract(other, scaled(self, alpha))), other, self)


def rsub(self, other, alpha=1):
    """The difference the other way round, ``other - alpha * self``. PyTorch counterpart: ``torch.rsub``."""
    return (tensor_minus if isinstance(other, Tensor) else number_minus)(self, other, alpha)


def zero_gradient(grad):
    """The gradient of what a result does not change with: zeros, without a history of their own."""
    return wrap(np.zeros_like(grad._array)) if isinstance(grad, Tensor) else np.zeros_like(grad)


SMALL_MASK = 1024  # elements: of fewer np.where is as fast as a product

# The integers whose bits a float of so many bytes can be masked with.
_BITS = {2: np.int16, 4: np.int32, 8: np.int64}


def masked(array, mask):
    """The array where the mask is True, else 0, even for inf and nan.

    Of large arrays its bits and those of the mask: as fast as a product, which would be nan there, and ten times as
    fast as np.where.
    """
    dtype = array.dtype
    if mask.size < SMALL_MASK or dtype.kind != "f" or array.shape != mask.shape:
        return np.where(mask, array, number(0, dtype))
    kept = mask.astype(_BITS[dtype.itemsize])  # 0 or 1, of which the negative has no bits set, or all
    np.negative(kept, kept)
    return np.bitwise_and(kept, array.view(kept.dtype), kept).view(dtype)


def chosen(mask, array, other):
    """``np.where``, and for large arrays by their bits: several times as fast, as no branch depends on the mask."""
    if mask.size < SMALL_MASK:
        return np.where(mask, array, other)
    dtype = getattr(array, "dtype", None)
    if getattr(other, "dtype", 0) != dtype or dtype.kind != "f":
        return np.where(mask, array, other)
    if not mask.shape == array.shape == other.shape:
        return np.where(mask, array, other)
    kept = mask.astype(_BITS[dtype.itemsize])
    np.negative(kept, kept)
    one, two = array.view(kept.dtype), other.view(kept.dtype)
    np.bitwise_and(kept, one ^ two, kept)
    return np.bitwise_xor(kept, two, kept).view(dtype)


def _pow_backward(grad, self, exponent):
    # x ** 0 is the constant 1: its derivative is 0 even where x ** -1 is infinite.
    return zero_gradient(grad) if exponent == 0 else grad * (exponent * power(self, exponent - 1))


# Products instead of a power function, as in PyTorch: its digits, and x ** 3 hundreds of times as fast. Not for
# float16, whose cube PyTorch rounds once and a product twice.
_PRODUCTS = {
    **{1: np.positive, 2: np.square, 3: lambda array: array * array * array, 0.5: np.sqrt, -1: np.reciprocal},
    -0.5: lambda array: np.reciprocal(np.sqrt(array)),
    -2: lambda array: np.reciprocal(array * array),
}


@op(node="PowBackward0", name="pow", self=_pow_backward)
def power(self, exponent):
    """``self ** exponent`` with a Python number as exponent."""
    if self.dtype.char in "fd" and (product := _PRODUCTS.get(exponent)):
        return product(self)
    if self.dtype.kind == "b" and isinstance(exponent, bool):
        return self | (not exponent)
    if self.dtype.kind == "u" and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if isinstance(exponent, float) and self.dtype.kind != "f":
        self = cast(self, dtypes.get_default_dtype().numpy)
    return np.power(self, exponent)


def _pow_backward_exponent(grad, base, exponent, result):
    """The derivative by the exponent. Powers of 0 are constant but for negative exponents."""
    slope = result * (math.log(base) if base > 0 else math.nan if base < 0 else -math.inf)
    return grad * (where(exponent >= 0, 0.0, slope) if base == 0 else slope)


@op(
    np.power,
    node="PowBackward1",
    name="pow",
    self=lambda grad, self, exponent: where(exponent == 0, 0.0, grad * (exponent * self ** (exponent - 1))),
    exponent=lambda grad, self, exponent, result: grad * where((self == 0) & (exponent >= 0), 0.0, result * log(self)),
)
def power_of_tensor(self, exponent):
    """``self ** exponent`` with a tensor as exponent."""


@op(
    node="PowBackward2",
    name="pow",
    layout="rows",
    exponent=lambda grad, self, exponent, result: _pow_backward_exponent(grad, self, exponent, result),
)
def power_of_number(exponent, self):
    """``self ** exponent`` with a Python number as base."""
    if exponent.dtype.kind in "iu":
        return _whole_power(np.asarray(int(self)).astype(exponent.dtype), exponent)
    return np.power(self, exponent)


def pow(self, exponent):
    """``self ** exponent``, for tensors and Python numbers. PyTorch counterpart: ``torch.pow``."""
    if exponent.__class__ is int and self.__class__ is Tensor:  # as nearly always
        return power(self, exponent)
    if not isinstance(exponent, Tensor):
        number = exponent.item() if isinstance(exponent, np.generic) else exponent
        return power(self, number)
    if not isinstance(self, Tensor):
        number = self.item() if isinstance(self, np.generic) else self
        return power_of_number(_promoted_beside(self, exponent), number)
    kinds = self._dtype.kind, exponent._dtype.kind
    integers = "f" not in kinds and kinds != ("b", "b")
    return (power_of_integers if integers else power_of_tensor)(self, exponent)


@op(name="pow", constant=("self", "exponent"))
def power_of_integers(self, exponent):
    """``self ** exponent`` of integers. Negative powers are 0, but for those of 1 and -1."""
    return _whole_power(self, exponent)


def _whole_power(base, exponent):
    negative = exponent < 0
    ones = np.where(np.abs(base) == 1, np.where(exponent % 2 == 1, base, 1), 0)
    return np.where(negative, ones, np.power(base, np.where(negative, 0, exponent)))


def _promoted_beside(number, tensor):
    """The tensor; integers beside a fractional number become floats."""
    if isinstance(number, float) and tensor._dtype.kind != "f":
        return to_copy(tensor, dtypes.get_default_dtype().numpy)
    return tensor


@op(np.exp, floating=True, self=lambda grad, result: grad * result)
def exp(self):
    """e to the power of each element."""


@op(np.log, floating=True, self=lambda grad, self: grad / self)
def log(self):
    """The natural logarithm of each element."""


@op(np.sqrt, floating=True, self=lambda grad, result: grad / (2 * result))
def sqrt(self):
    """The square root of each element."""


@op(floating=True, self=lambda grad, result: -0.5 * grad * result**3)
def rsqrt(self):
    """``1 / sqrt(self)`` of each element."""
    return 1 / np.sqrt(self)


def square(self):
    """``self ** 2``. PyTorch counterpart: ``torch.square``."""
    return power(self, 2)


@op(np.log1p, floating=True, node="Log1PBackward0", self=lambda grad, self: grad / (self + 1))
def log1p(self):
    """``log(1 + self)``, exact for small elements."""


@op(np.log2, floating=True, self=lambda grad, self: grad / (self * math.log(2)))
def log2(self):
    """The logarithm to base 2 of each element."""


@op(np.log10, floating=True, self=lambda grad, self: grad / (self * math.log(10)))
def log10(self):
    """The logarithm to base 10 of each element."""


@op(np.expm1, floating=True, self=lambda grad, result: grad * (result + 1))
def expm1(self):
    """``exp(self) - 1``, exact for small elements."""


@op(floating=True, layout="first", self=lambda grad, self: 2 / math.sqrt(math.pi) * exp(-(self**2)) * grad)
def erf(self):
    """The error function of each element."""
    return np.vectorize(math.erf, otypes=[self.dtype])(self)


@op(np.sin, floating=True, self=lambda grad, self: grad * cos(self))
def sin(self):
    """The sine of each element, in radians."""


@op(np.cos, floating=True, self=lambda grad, self: grad * -sin(self))
def cos(self):
    """The cosine of each element, in radians."""


@op(np.tan, floating=True, self=lambda grad, result: grad * (1 + result**2))
def tan(self):
    """The tangent of each element, in radians."""


@op(np.arcsin, floating=True, self=lambda grad, self: grad * rsqrt(-self * self + 1))
def asin(self):
    """The angle in radians whose sine is the element."""


@op(np.arccos, floating=True, self=lambda grad, self: grad * -rsqrt(-self * self + 1))
def acos(self):
    """The angle in radians whose cosine is the element."""


@op(np.arctan, floating=True, self=lambda grad, self: grad / (self * self + 1))
def atan(self):
    """The angle in radians whose tangent is the element."""


@op(np.sinh, floating=True, self=lambda grad, self: grad * cosh(self))
def sinh(self):
    """The hyperbolic sine of each element."""


@op(np.cosh, floating=True, self=lambda grad, self: grad * sinh(self))
def cosh(self):
    """The hyperbolic cosine of each element."""


@op(np.tanh, floating=True, self=lambda grad, result: tanh_backward(grad, result))
def tanh(self):
    """The hyperbolic tangent of each element."""


@op(
    node="TanhBackwardBackward0",
    fits=True,
    grad_output=lambda grad, output: tanh_backward(grad, output),
    output=lambda grad, grad_output, output: grad * (-2 * (grad_output * output)),
)
def tanh_backward(grad_output, output):
    """The derivative of tanh from its output: PyTorch makes it an operation of its own."""
    return grad_output * (number(1, output.dtype) - output * output)


@op(floating=True, self=lambda grad, result: sigmoid_backward(grad, result))
def sigmoid(self):
    """The logistic function of each element, 1 / (1 + exp(-x)), without overflow for large negative x."""
    powers = np.exp(-self if self.itemsize > 2 else -self.astype(np.float32))  # in float16 they overflow early
    powers += number(1, powers.dtype)
    return np.reciprocal(powers).astype(self.dtype, copy=False)


@op(
    node="SigmoidBackwardBackward0",
    fits=True,
    grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (1 - 2 * output),
)
def sigmoid_backward(grad_output, output):
    """The derivative of sigmoid from its output."""
    return grad_output * (number(1, output.dtype) - output) * output


@op(self=lambda grad, result: threshold_backward(grad, result))
def relu(self):
    """Each element where it is positive, else 0. The derivative at 0 is 0, as in PyTorch."""
    return np.maximum(self, number(0, self.dtype))


@op(
    node="ThresholdBackwardBackward0",
    fits=True,
    grad_output=lambda grad, output: threshold_backward(grad, output),
    output=zero_gradient,
)
def threshold_backward(grad_output, output):
    """The derivative of relu from its output; its own derivative by the result is 0."""
    return masked(grad_output, output != 0)  # it is positive, 0 or nan, which lets the gradient through as in PyTorch


@op(self=zero_gradient)
def sign(self):
    """-1, 0 or 1 by the sign of each element."""
    return np.subtract(self > 0, self < 0, dtype=self.dtype) if self.dtype.kind != "b" else self.copy(order="K")


@op(np.floor, self=zero_gradient)
def floor(self):
    """The largest integer that is not above each element."""


@op(np.ceil, self=zero_gradient)
def ceil(self):
    """The smallest integer that is not below each element."""


@op(np.round, layout="first", self=zero_gradient)
def round(self):
    """The nearest integer to each element; of two, the even one."""


@op(np.trunc, self=zero_gradient)
def trunc(self):
    """Each element without its fraction."""


@op(
    name="div",
    node="DivBackward2",
    self=lambda grad, other, rounding_mode: zero_gradient(grad) if rounding_mode else grad / other,
    other=lambda grad, self, other, rounding_mode: (
        zero_gradient(grad) if rounding_mode else -grad * ((self / other) / other)
    ),
)
def rounded_quotient(self, other, rounding_mode):
    """The quotient ``self / other``, rounded down ("floor"), towards 0 ("trunc") or not at all (None)."""
    if rounding_mode not in _ROUNDINGS:
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    kind = np.result_type(self, other)
    if rounding_mode is None and kind.kind != "f":
        kind = dtypes.get_default_dtype().numpy
    if rounding_mode == "floor" and kind.kind == "f":
        return np.floor_divide(self, other)  # the quotient itself may be rounded up
    return _ROUNDINGS[rounding_mode](np.true_divide(self, other)).astype(kind, copy=False)


_ROUNDINGS = {"trunc": np.trunc, "floor": np.floor, None: np.positive}


def div(self, other, rounding_mode=...):
    """The quotient ``self / other``; rounded, if a mode is given: ``"floor"`` or ``"trunc"``.

    PyTorch counterpart: ``torch.div``.
    """
    return quotient(self, other) if rounding_mode is ... else rounded_quotient(self, other, rounding_mode)


def _not_implemented(grad, node):
    raise refusal("no derivative", node._kind.name, about=node)


@op(node="NotImplemented", name="floor_divide", self=_not_implemented, other=_not_implemented)
def floor_divide_by_tensor(self, other):
    """``self // other``, rounded down. PyTorch has no derivative of it either."""
    _refuse_zero(self, other)
    return np.floor_divide(self, other)


@op(node="NotImplemented", name="floor_divide", self=_not_implemented)
def floor_divide_by_number(self, other):
    """``self // other`` with a Python number as divisor."""
    return floor_divide_by_tensor.row.forward(*_both(self, other))


def floor_divide(self, other):
    """``self // other``, rounded down. PyTorch counterpart: ``torch.floor_divide``."""
    if isinstance(other, Tensor) or not isinstance(self, Tensor):
        return floor_divide_by_tensor(self, other)
    return floor_divide_by_number(_promoted_beside(other, self), other)


def _refuse_zero(self, other):
    """Integers have no infinity: PyTorch refuses to divide them by zero."""
    if np.result_type(self, other).kind != "f" and np.size(self) and not np.all(other):
        raise RuntimeError("ZeroDivisionError")


@op(node="RemainderBackward0", name="remainder", self=lambda grad: grad)
def remainder_by_number(self, other):
    """``self % other`` with a Python number as divisor."""
    return _remainder(*_both(self, other))


def _both(self, number):
    """An array and a Python number in the dtype that they have together."""
    kind = promote(self, number)
    return cast(self, kind), np.asarray(number).astype(kind)


@op(
    node="RemainderBackward1",
    name="remainder",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * floor(self / other),
)
def remainder_by_tensor(self, other):
    """``self % other`` with a tensor as divisor."""
    return _remainder(self, other)


def _remainder(array, divisor):
    """The remainder with the divisor's sign; a zero keeps the dividend's sign, as in PyTorch."""
    _refuse_zero(array, divisor)
    left = np.remainder(array, divisor)
    return np.where(left == 0, np.copysign(left, array), left) if left.dtype.kind == "f" else left


@op(node="NotImplemented", name="remainder", number="self", other=lambda grad, node: _not_implemented(grad, node))
def number_remainder(other, self):
    """What is left of a Python number. PyTorch has no derivative of it by the divisor either."""
    divisor, number = _both(other, self)
    return _remainder(number, divisor)


def remainder(self, other):
    """What is left of ``self / other``, with the sign of ``other``. PyTorch counterpart: ``torch.remainder``."""
    if not isinstance(self, Tensor):
        return number_remainder(_promoted_beside(self, other), self)
    if isinstance(other, Tensor):
        return remainder_by_tensor(self, other)
    return remainder_by_number(_promoted_beside(other, self), other)


@op(np.absolute, self=lambda grad, self: grad * sign(self))
def abs(self):
    """The absolute value of each element. The derivative at 0 is 0, as in PyTorch."""


@op(layout="first", self=lambda grad: grad)
def clone(self):
    """A copy on memory of its own, still part of the graph."""
    return np.array(self)


@op(
    constant=("condition",),
    self=lambda grad, condition: where(condition, grad, 0.0),
    other=lambda grad, condition: where(~condition, grad, 0.0),
)
def where(condition, self, other):
    """``self`` where the condition holds, ``other`` elsewhere."""
    if condition.dtype.kind != "b":
        kind = dtypes.from_numpy_dtype(condition.dtype).tensor_type.removesuffix("Tensor")
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind}")
    if other.__class__ is float and other == 0 and isinstance(self, np.ndarray):
        return masked(self, condition)  # as derivatives are
    if not isinstance(self, (np.ndarray, np.generic)) and not isinstance(other, (np.ndarray, np.generic)):
        self = np.asarray(self, promote(self, other))
    return chosen(condition, self, other)


def _maximum_backward(grad, lost, tied):
    """The gradient of the larger or smaller of two goes to it; where they are equal, to each one half."""
    if isinstance(tied, np.ndarray) and not tied.any():
        return masked(grad, ~lost)
    return where(tied, grad / 2, where(~lost, grad, 0.0))


@op(
    np.maximum,
    numbers=False,
    self=lambda grad, self, other: _maximum_backward(grad, self < other, self == other),
    other=lambda grad, self, other: _maximum_backward(grad, other < self, self == other),
)
def maximum(self, other):
    """The larger element of each pair. A tie shares the gradient equally, as in PyTorch."""


@op(
    np.minimum,
    numbers=False,
    self=lambda grad, self, other: _maximum_backward(grad, self > other, self == other),
    other=lambda grad, self, other: _maximum_backward(grad, other > self, self == other),
)
def minimum(self, other):
    """The smaller element of each pair. A tie shares the gradient equally, as in PyTorch."""


def _within(self, min, max):
    return (self <= max) if min is None else (self >= min) if max is None else (self >= min) & (self <= max)


@op(
    node="ClampBackward1",
    name="clamp",
    self=lambda grad, self, min, max: where(_within(self, min, max), grad, 0.0),
)
def clamp_to_numbers(self, min, max):
    """Each element moved into the range from ``min`` to ``max``, Python numbers or None."""
    if self.dtype.kind != "f":
        kind = promote(self, *[bound for bound in (min, max) if bound is not None])
        if kind.kind == "u":  # negative bounds are taken for large ones, as in PyTorch
            min, max = (bound if bound is None else np.asarray(as_element(bound, kind)) for bound in (min, max))
        self = cast(self, kind)
    else:
        min = number(min, self.dtype) if min or min.__class__ is int else min  # as it is: None, 0.0 and -0.0
        max = number(max, self.dtype) if max or max.__class__ is int else max
    if self.size > 2048 and min is not None and max is not None:
        return np.clip(self, min, max)
    raised = self if min is None else np.maximum(self, min)  # takes less time than to call np.clip
    return raised if max is None else np.minimum(raised, max)


@op(
    node="ClampBackward0",
    name="clamp",
    fits=False,
    layout="",  # laid out below, for the last operand may be None
    self=lambda grad, self, min, max: where(_within(self, min, max), grad, 0.0),
    min=lambda grad, self, min, max: where(self < min if max is None else (min < max) & (self < min), grad, 0.0),
    max=lambda grad, self, min, max: where(self > max if min is None else (self > max) | (max < min), grad, 0.0),
)
def clamp_to_tensors(self, min=None, max=None):
    """Each element moved into the range from ``min`` to ``max``, tensors or None. A tie's gradient is the element's."""
    raised = self if min is None else np.maximum(self, min)
    return laid_out(np.asarray(raised if max is None else np.minimum(raised, max)), self, min, max)


def clamp(self, min=None, max=None):
    """Each element moved into the range from ``min`` to ``max``: numbers, or tensors; None leaves that side open.

    PyTorch counterpart: ``torch.clamp``.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if not isinstance(min, Tensor) and not isinstance(max, Tensor):
        return clamp_to_numbers(self, min, max)
    if all(bound is None or isinstance(bound, Tensor) for bound in (min, max)):
        return clamp_to_tensors(self, min, max)
    return clamp_to_numbers(self, *(_as_number(bound, "clamp", (min, max)) for bound in (min, max)))


def _as_number(value, name, arguments):
    """A Python number; a tensor of no dimensions that needs no gradient may stand for one."""
    if not isinstance(value, Tensor):
        return value
    if value.ndim or value.requires_grad:
        kinds = ", ".join(type(each).__name__ for each in arguments)
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:")
    return value.item()


@op(
    node="LerpBackward0",
    name="lerp",
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
)
def lerp_by_number(self, end, weight):
    """Linear interpolation with a Python number as weight: from the nearer end, so that it arrives at both."""
    return self + weight * (end - self) if weight < 0.5 else end - (end - self) * (1 - weight)


@op(
    node="LerpBackward1",
    name="lerp",
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)
def lerp_by_tensor(self, end, weight):
    """Linear interpolation with a tensor of weights."""
    way = end - self
    return np.where(np.abs(weight) < 0.5, self + weight * way, end - way * (1 - weight))


def lerp(self, end, weight):
    """The way from ``self`` to ``end``, gone by the share ``weight``. PyTorch counterpart: ``torch.lerp``."""
    return (lerp_by_tensor if isinstance(weight, Tensor) else lerp_by_number)(self, end, weight)


@op(
    constant=("mask",),
    node="MaskedFillBackward0",
    name="masked_fill",
    layout="rows",
    self=lambda grad, mask: where(~mask, grad, 0.0),
)
def masked_fill_number(self, mask, value):
    """A Python number where the mask holds, ``self`` elsewhere."""
    kind = self.dtype.kind
    value = np.asarray(value, self.dtype) if kind == "f" else np.asarray(value).astype(self.dtype)  # which wraps around
    return np.where(mask, value, self) if mask.size < SMALL_MASK or any(value.tobytes()) else masked(self, ~mask)


@op(
    constant=("mask",),
    node="MaskedFillBackward1",
    name="masked_fill",
    layout="rows",
    casts=True,
    self=lambda grad, mask: where(~mask, grad, 0.0),
    value=lambda grad, mask: where(mask, grad, 0.0),
)
def masked_fill_tensor(self, mask, value):
    """The one element of ``value`` where the mask holds, ``self`` elsewhere."""
    return np.where(mask, value, self)


def masked_fill(self, mask, value):
    """``value``, a number or a 0-d tensor, where the mask holds. PyTorch counterpart: ``Tensor.masked_fill``."""
    if not isinstance(mask, Tensor):
        kinds = f"{type_name(mask)}, {type_name(value)}"
        raise TypeError(
            f"masked_fill() received an invalid combination of arguments - got ({kinds}), but expected one of:"
        )
    if mask.dtype is not dtypes.bool:
        name = C_NAMES.get(mask.dtype.name, mask.dtype.name)
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {name}")
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    if isinstance(value, Tensor) and value.requires_grad and self._dtype.kind != "f" and mode.recording:
        raise RuntimeError(f"Autograd not support dtype: {self.dtype.tensor_type.removesuffix('Tensor')}")
    return (masked_fill_tensor if isinstance(value, Tensor) else masked_fill_number)(self, mask, value)


@op(np.equal, constant=("self", "other"))
def eq(self, other):
    """Where the elements are equal. The result is bool: it has no gradient."""


@op(np.not_equal, constant=("self", "other"))
def ne(self, other):
    """Where the elements differ. The result is bool: it has no gradient."""


@op(np.less, constant=("self", "other"))
def lt(self, other):
    """Where ``self < other``. The result is bool: it has no gradient."""


@op(np.less_equal, constant=("self", "other"))
def le(self, other):
    """Where ``self <= other``. The result is bool: it has no gradient."""


@op(np.greater, constant=("self", "other"))
def gt(self, other):
    """Where ``self > other``. The result is bool: it has no gradient."""


@op(np.greater_equal, constant=("self", "other"))
def ge(self, other):
    """Where ``self >= other``. The result is bool: it has no gradient."""


@op(np.bitwise_and, constant=("self", "other"))
def bitwise_and(self, other):
    """``self & other`` of bools or integers. It has no gradient."""


@op(np.bitwise_or, constant=("self", "other"))
def bitwise_or(self, other):
    """``self | other`` of bools or integers. It has no gradient."""


@op(np.bitwise_xor, constant=("self", "other"))
def bitwise_xor(self, other):
    """``self ^ other`` of bools or integers. It has no gradient."""


@op(np.invert, constant=("self",))
def bitwise_not(self):
    """``~self`` of bools or integers. It has no gradient."""


@op(np.logical_and, constant=("self", "other"), numbers=False)
def logical_and(self, other):
    """Where both are other than 0. The result is bool: it has no gradient."""


@op(np.logical_or, constant=("self", "other"), numbers=False)
def logical_or(self, other):
    """Where at least one is other than 0. The result is bool: it has no gradient."""


@op(np.logical_xor, constant=("self", "other"), numbers=False)
def logical_xor(self, other):
    """Where exactly one is other than 0. The result is bool: it has no gradient."""


@op(np.logical_not, constant=("self",))
def logical_not(self):
    """Where the elements are 0. The result is bool: it has no gradient."""


@op(np.isnan, constant=("self",))
def isnan(self):
    """Where the elements are not a number. The result is bool: it has no gradient."""


@op(node="ToCopyBackward0", name="to", fits=False, layout="first", self=lambda grad: grad)
def to_copy(self, dtype):
    """A copy in another dtype; the gradient is cast back."""
    return self.astype(dtype)


@op(constant=("self",), layout="first")
def to_integer(self, dtype):
    """A copy in an integer or bool dtype. It has no gradient."""
    return self.astype(dtype)
