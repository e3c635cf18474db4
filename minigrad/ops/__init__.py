"""Every operation under its public name, and the one block that makes them Tensor's methods."""

from .. import dtypes
from ..tensor import Tensor
from . import inplace
from .index import getitem
from .inplace import in_place
from .linalg import dot, matmul, mm, mv
from .pointwise import (
    abs,
    add,
    clone,
    cos,
    div,
    eq,
    exp,
    ge,
    gt,
    le,
    log,
    lt,
    mul,
    ne,
    neg,
    pow,
    reciprocal,
    relu,
    rsub,
    sigmoid,
    sign,
    sin,
    sqrt,
    sub,
    tanh,
    to_copy,
    to_integer,
    where,
)
from .reduce import argmax, argmin, max_all, mean, min_all, std, sum, var
from .shape import (
    cat,
    expand,
    permute,
    squeeze,
    squeeze_dim,
    stack,
    t,
    transpose,
    unbind,
    unsqueeze,
    view,
)

__all__ = [
    "abs", "add", "argmax", "argmin", "cat", "clone", "cos", "div", "dot", "eq", "exp", "ge", "gt", "le", "log",
    "lt", "matmul", "mean", "mm", "mul", "mv", "ne", "neg", "pow", "reciprocal", "relu", "rsub", "sigmoid", "sign",
    "sin", "sqrt", "stack", "sub", "sum", "t", "tanh", "unbind", "where",
]  # fmt: skip


def _sizes(args):
    return tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args


def _method(function, documentation: str):
    """A method that is not an operation by itself; ``help`` has something to say of it all the same."""
    function.__doc__ = documentation
    return function


def to(self, dtype):
    """This tensor in another dtype; itself if it has that one already. PyTorch counterpart: ``Tensor.to``."""
    if dtype.numpy == self._array.dtype:
        return self
    return (to_copy if dtype.is_floating_point else to_integer)(self, dtype.numpy)


# Operators
Tensor.__add__ = Tensor.__radd__ = Tensor.add = add
Tensor.__sub__ = Tensor.sub = sub
Tensor.__rsub__ = rsub
Tensor.__mul__ = Tensor.__rmul__ = Tensor.mul = mul
Tensor.__truediv__ = Tensor.div = div
Tensor.__rtruediv__ = lambda self, other: mul(reciprocal(self), other)
Tensor.__pow__ = Tensor.pow = pow
Tensor.__rpow__ = lambda self, base: pow(base, self)
Tensor.__neg__ = Tensor.neg = neg
Tensor.__matmul__ = Tensor.matmul = matmul
Tensor.__abs__ = Tensor.abs = abs
Tensor.__eq__ = Tensor.eq = eq
Tensor.__ne__ = Tensor.ne = ne
Tensor.__lt__ = Tensor.lt = lt
Tensor.__le__ = Tensor.le = le
Tensor.__gt__ = Tensor.gt = gt
Tensor.__ge__ = Tensor.ge = ge
Tensor.__getitem__ = getitem
Tensor.__setitem__ = inplace.setitem

# Pointwise methods
Tensor.exp = exp
Tensor.log = log
Tensor.sqrt = sqrt
Tensor.sin = sin
Tensor.cos = cos
Tensor.tanh = tanh
Tensor.sigmoid = sigmoid
Tensor.relu = relu
Tensor.sign = sign
Tensor.reciprocal = reciprocal
Tensor.clone = clone
Tensor.to = Tensor.type = to
Tensor.float = _method(lambda self: to(self, dtypes.float32), "This tensor in float32.")
Tensor.double = _method(lambda self: to(self, dtypes.float64), "This tensor in float64.")
Tensor.int = _method(lambda self: to(self, dtypes.int32), "This tensor in int32: no gradient.")
Tensor.long = _method(lambda self: to(self, dtypes.int64), "This tensor in int64: no gradient.")
Tensor.bool = _method(lambda self: to(self, dtypes.bool), "This tensor in bool: no gradient.")

# Reductions and products
Tensor.sum = sum
Tensor.mean = mean
Tensor.std = std
Tensor.var = var
Tensor.max = max_all
Tensor.min = min_all
Tensor.argmax = argmax
Tensor.argmin = argmin
Tensor.mm = mm
Tensor.mv = mv
Tensor.dot = dot

# Shapes
Tensor.view = _method(lambda self, *shape: view(self, _sizes(shape)), "The same elements in another shape.")
Tensor.reshape = Tensor.view
Tensor.view_as = _method(lambda self, other: view(self, tuple(other.shape)), "In the shape of another tensor.")
Tensor.expand = _method(
    lambda self, *sizes: expand(self, _sizes(sizes)), "Repeat dimensions of length 1, without a copy."
)
Tensor.expand_as = _method(lambda self, other: expand(self, tuple(other.shape)), "Expand to another tensor's shape.")
Tensor.flatten = _method(lambda self: view(self, (-1,)), "All elements in one dimension.")
Tensor.permute = _method(lambda self, *dims: permute(self, _sizes(dims)), "The dimensions in another order.")
Tensor.T = property(lambda self: permute(self, tuple(reversed(range(self.ndim)))), doc="The dimensions reversed.")
Tensor.t = t
Tensor.transpose = transpose
Tensor.unsqueeze = unsqueeze
Tensor.squeeze = _method(
    lambda self, dim=None: squeeze(self) if dim is None else squeeze_dim(self, dim), "Drop dimensions of length 1."
)
Tensor.unbind = unbind

# In place
Tensor.add_ = Tensor.__iadd__ = in_place(add)
Tensor.sub_ = Tensor.__isub__ = in_place(sub)
Tensor.mul_ = Tensor.__imul__ = in_place(mul)
Tensor.div_ = Tensor.__itruediv__ = in_place(div)
Tensor.exp_ = in_place(exp)
Tensor.sigmoid_ = in_place(sigmoid)
Tensor.relu_ = in_place(relu)
Tensor.zero_ = in_place(inplace.zero)
Tensor.fill_ = in_place(inplace.fill)
Tensor.copy_ = in_place(inplace.copy)
