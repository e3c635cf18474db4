"""Sums, differences, products and quotients of each element by itself. The first rows to read: see ``dispatch.py``.

The derivatives are written as PyTorch's derivatives.yaml has them, so that the graph of a second derivative ends in
the same node.
"""

import numpy as np

from ..dispatch import op


@op(np.add, name="add", shown={"alpha": 1}, self=lambda grad: grad, other=lambda grad: grad)
def plus(self, other):
    """The sum ``self + other``."""


@op(np.subtract, name="sub", shown={"alpha": 1}, self=lambda grad: grad, other=lambda grad: -grad)
def minus(self, other):
    """The difference ``self - other``."""


@op(np.multiply, self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
def mul(self, other):
    """The product ``self * other``."""


@op(
    np.true_divide,
    name="div",
    floating=True,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)
def quotient(self, other):
    """The quotient ``self / other``."""


@op(floating=True, self=lambda grad, result: -grad * (result * result))
def reciprocal(self):
    """``1 / self``."""
    return np.true_divide(1, self)


@op(np.negative, self=lambda grad: -grad)
def neg(self):
    """The negative, ``-self``."""
