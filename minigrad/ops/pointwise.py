"""Operations that work on each element by itself.

Each row is a forward on arrays and one derivative per input; see ``dispatch.py``. The derivatives are written
as PyTorch's derivatives.yaml has them, so that the graph of a second derivative ends in the same node.
"""

import numpy as np

from ..dispatch import op
from ..tensor import Tensor


@op(np.add, shown={"alpha": 1}, self=lambda grad: grad, other=lambda grad: grad)
def add(self, other):
    """The sum ``self + other``."""


@op(np.subtract, shown={"alpha": 1}, self=lambda grad: grad, other=lambda grad: -grad)
def sub(self, other):
    """The difference ``self - other``."""


@op(node="RsubBackward1", number="other", shown={"alpha": 1}, self=lambda grad: -grad)
def rsub(self, other):
    """The difference the other way round, ``other - self``: what ``1 - x`` calls."""
    return np.subtract(other, self)


@op(np.multiply, self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
def mul(self, other):
    """The product ``self * other``."""


@op(
    np.true_divide,
    floating=True,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)
def div(self, other):
    """The quotient ``self / other``."""


@op(floating=True, self=lambda grad, result: -grad * (result * result))
def reciprocal(self):
    """``1 / self``."""
    return np.true_divide(1, self)


@op(np.negative, self=lambda grad: -grad)
def neg(self):
    """The negative, ``-self``."""


def _power_slope(grad, self, exponent):
    # x ** 0 is the constant 1: its derivative is 0 even where x ** -1 is infinite.
    return grad * 0 if exponent == 0 else grad * (exponent * self ** (exponent - 1))


@op(np.power, node="PowBackward0", name="pow", self=_power_slope)
def power(self, exponent):
    """``self ** exponent`` with a Python number as exponent."""


def _log_of_base(base):
    return np.log(base) if not isinstance(base, Tensor) else log(base)


@op(
    np.power,
    node="PowBackward1",
    name="pow",
    self=lambda grad, self, exponent: where(exponent == 0, 0.0, grad * (exponent * self ** (exponent - 1))),
    exponent=lambda grad, self, result: grad * (result * _log_of_base(self)),
)
def power_of_tensor(self, exponent):
    """``self ** exponent`` with a tensor as exponent."""


@op(
    node="PowBackward2",
    name="pow",
    exponent=lambda grad, self, exponent, result: grad * (result * float(np.log(self))),
)
def power_of_number(exponent, self):
    """``self ** exponent`` with a Python number as base."""
    return np.power(self, exponent)


def pow(self, exponent):
    """``self ** exponent``, for tensors and Python numbers. PyTorch counterpart: ``torch.pow``."""
    if not isinstance(exponent, Tensor):
        return power(self, exponent)
    return power_of_tensor(self, exponent) if isinstance(self, Tensor) else power_of_number(exponent, self)


@op(np.exp, floating=True, self=lambda grad, result: grad * result)
def exp(self):
    """e to the power of each element."""


@op(np.log, floating=True, self=lambda grad, self: grad / self)
def log(self):
    """The natural logarithm of each element."""


@op(np.sqrt, floating=True, self=lambda grad, result: grad / (2 * result))
def sqrt(self):
    """The square root of each element."""


@op(np.sin, floating=True, self=lambda grad, self: grad * cos(self))
def sin(self):
    """The sine of each element, in radians."""


@op(np.cos, floating=True, self=lambda grad, self: grad * -sin(self))
def cos(self):
    """The cosine of each element, in radians."""


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
    slope = grad_output * output
    slope *= output
    return grad_output - slope


@op(floating=True, self=lambda grad, result: sigmoid_backward(grad, result))
def sigmoid(self):
    """The logistic function of each element, 1 / (1 + exp(-x)), without overflow for large negative x."""
    return 0.5 * (np.tanh(0.5 * self) + 1)


@op(
    node="SigmoidBackwardBackward0",
    fits=True,
    grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, grad_output, output: grad * grad_output * (1 - 2 * output),
)
def sigmoid_backward(grad_output, output):
    """The derivative of sigmoid from its output."""
    return grad_output * (1 - output) * output


@op(self=lambda grad, result: threshold_backward(grad, result))
def relu(self):
    """Each element where it is positive, else 0. The derivative at 0 is 0, as in PyTorch."""
    return np.maximum(self, 0)


@op(
    node="ThresholdBackwardBackward0",
    fits=True,
    grad_output=lambda grad, output: threshold_backward(grad, output),
    output=lambda grad: grad * 0,
)
def threshold_backward(grad_output, output):
    """The derivative of relu from its output; its own derivative by the result is 0."""
    return grad_output * (output > 0)


@op(np.sign, self=lambda grad: grad * 0)
def sign(self):
    """-1, 0 or 1 by the sign of each element."""


@op(np.absolute, self=lambda grad, self: grad * sign(self))
def abs(self):
    """The absolute value of each element. The derivative at 0 is 0, as in PyTorch."""


@op(self=lambda grad: grad)
def clone(self):
    """A copy on memory of its own, still part of the graph."""
    return np.array(self)


@op(
    constant=("condition",),
    self=lambda grad, condition: where(condition, grad, 0.0),
    other=lambda grad, condition: where(condition, 0.0, grad),
)
def where(condition, self, other):
    """``self`` where the condition holds, ``other`` elsewhere."""
    return np.where(condition, self, other)


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


@op(node="ToCopyBackward0", name="to", fits=False, self=lambda grad: grad)
def to_copy(self, dtype):
    """A copy in another dtype; the gradient comes back in this one."""
    return self.astype(dtype)


@op(constant=("self",))
def to_integer(self, dtype):
    """A copy in an integer or bool dtype. It has no gradient."""
    return self.astype(dtype)
