"""Every operation under its public name, and the one block that makes them Tensor's methods."""

import numpy as np

from .. import dtypes
from ..dispatch import as_operator
from ..tensor import Tensor
from . import inplace
from .arithmetic import (
    minus,
    mul,
    neg,
    plus,
    quotient,
    reciprocal,
)
from .index import (
    gather,
    getitem,
    index_select,
    narrow,
    pick,
    scatter_add,
    unfold,
)
from .inplace import in_place
from .linalg import (
    addmm,
    bmm,
    dot,
    einsum,
    matmul,
    mm,
    mv,
    outer,
)
from .pointwise import (
    abs,
    acos,
    add,
    asin,
    atan,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    ceil,
    clamp,
    clone,
    cos,
    cosh,
    div,
    eq,
    erf,
    exp,
    expm1,
    floor,
    floor_divide,
    floor_divide_by_number,
    floor_divide_by_tensor,
    ge,
    gt,
    isnan,
    le,
    lerp,
    log,
    log1p,
    log2,
    log10,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    lt,
    masked_fill,
    maximum,
    minimum,
    minus_scaled,
    ne,
    number_minus,
    plus_scaled,
    pow,
    power,
    power_of_tensor,
    relu,
    remainder,
    remainder_by_number,
    remainder_by_tensor,
    round,
    rounded_quotient,
    rsqrt,
    rsub,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    sub,
    tan,
    tanh,
    to_copy,
    to_integer,
    trunc,
    where,
)
from .reduce import (
    all,
    any,
    argmax,
    argmin,
    argsort,
    cumprod,
    cumsum,
    log_softmax,
    logsumexp,
    max,
    mean,
    median,
    min,
    norm,
    prod,
    softmax,
    sort,
    std,
    sum,
    var,
)
from .shape import (
    cat,
    chunk,
    diag,
    diagonal,
    expand,
    flatten,
    flip,
    matrix_transpose,
    movedim,
    permute,
    repeat,
    reshape,
    reversed_dims,
    roll,
    sizes_of,
    split,
    squeeze,
    stack,
    t,
    trace,
    transpose,
    tril,
    triu,
    unbind,
    unsqueeze,
    view_of,
)

__all__ = [
    "abs", "acos", "add", "addmm", "all", "any", "argmax", "argmin", "argsort", "asin", "atan", "bitwise_and",
    "bitwise_not", "bitwise_or", "bitwise_xor", "bmm", "cat", "ceil", "chunk", "clamp", "clone", "cos", "cosh",
    "cumprod", "cumsum", "diag", "diagonal", "div", "dot", "einsum", "eq", "erf", "exp", "expm1", "flatten", "flip",
    "floor", "floor_divide", "gather", "ge", "gt", "index_select", "isnan", "le", "lerp", "log", "log1p", "log2",
    "log10", "log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "lt",
    "masked_fill", "matmul", "max", "maximum", "mean", "median", "min", "minimum", "mm", "movedim", "mul", "mv",
    "narrow", "ne", "neg", "norm", "outer", "permute", "pow", "prod", "reciprocal", "relu", "remainder", "reshape",
    "roll", "round", "rsqrt", "rsub", "scatter_add", "sigmoid", "sign", "sin", "sinh", "softmax", "sort", "split",
    "sqrt", "square", "squeeze", "stack", "std", "sub", "sum", "t", "tan", "tanh", "trace", "transpose", "tril",
    "triu", "trunc", "unbind", "unsqueeze", "var", "where",
]  # fmt: skip


def _method(function, documentation: str):
    """A method that is not an operation by itself; ``help`` has something to say of it all the same."""
    function.__doc__ = documentation
    return function


def to(self, target=None, *more, dtype=None, device=None, copy=False):
    """This tensor in another dtype, or in that of another tensor; itself if it has that one already, or a `copy`.

    A device may be named, as in PyTorch; there is one, "cpu". PyTorch counterpart: ``Tensor.to``.
    """
    if isinstance(target, str):
        device, target = target, more[0] if more else None
    if device not in (None, "cpu"):
        raise RuntimeError(f"minigrad: there is no device {device!r}, only 'cpu'.")
    target = target.dtype if isinstance(target, Tensor) else target
    dtype = dtypes.as_dtype(dtype or target or self.dtype)
    if dtype.numpy == self._array.dtype and not copy:
        return self
    return (to_copy if dtype.is_floating_point else to_integer)(self, dtype.numpy)


def type_(self, dtype=None):
    """The old name of this tensor's type, as "torch.FloatTensor"; or the tensor in another dtype.

    PyTorch counterpart: ``Tensor.type``.
    """
    return f"torch.{self.dtype.tensor_type}" if dtype is None else to(self, dtype)


def operands_only(function):
    """Make an operator return NotImplemented for what is neither tensor nor number."""

    def operator(self, other):
        return function(self, other) if isinstance(other, OPERANDS) else NotImplemented

    operator.__name__ = function.__name__
    return operator


OPERANDS = (Tensor, int, float, np.ndarray, np.generic)

# Operators
Tensor.__add__ = Tensor.__radd__ = as_operator(plus)
Tensor.__sub__ = as_operator(minus)
Tensor.__rsub__ = as_operator(number_minus)
Tensor.__mul__ = Tensor.__rmul__ = as_operator(mul)
Tensor.__truediv__ = as_operator(quotient)
Tensor.__rtruediv__ = operands_only(lambda self, other: mul(reciprocal(self), other))
Tensor.__pow__ = operands_only(pow)
Tensor.__rpow__ = operands_only(lambda self, base: pow(base, self))
Tensor.__neg__ = Tensor.neg = neg
Tensor.__matmul__ = Tensor.matmul = matmul
Tensor.__abs__ = Tensor.abs = abs
Tensor.__pos__ = lambda self: self
Tensor.__mod__ = operands_only(remainder)
Tensor.__rmod__ = operands_only(lambda self, other: remainder(other, self))
Tensor.__floordiv__ = operands_only(floor_divide)
Tensor.__rfloordiv__ = operands_only(lambda self, other: floor_divide(other, self))
Tensor.__and__ = Tensor.__rand__ = as_operator(bitwise_and)
Tensor.__or__ = Tensor.__ror__ = as_operator(bitwise_or)
Tensor.__xor__ = Tensor.__rxor__ = as_operator(bitwise_xor)
Tensor.__invert__ = Tensor.bitwise_not = bitwise_not
Tensor.__eq__, Tensor.__ne__, Tensor.__lt__, Tensor.__le__, Tensor.__gt__, Tensor.__ge__ = map(
    as_operator, (eq, ne, lt, le, gt, ge)
)
Tensor.mul, Tensor.div, Tensor.pow, Tensor.remainder, Tensor.floor_divide = mul, div, pow, remainder, floor_divide
Tensor.bitwise_and, Tensor.bitwise_or, Tensor.bitwise_xor = bitwise_and, bitwise_or, bitwise_xor
Tensor.eq, Tensor.ne, Tensor.lt, Tensor.le, Tensor.gt, Tensor.ge = eq, ne, lt, le, gt, ge
Tensor.__getitem__ = getitem
Tensor.__setitem__ = inplace.setitem

# Pointwise methods
for _operation in (
    acos, add, asin, atan, ceil, clamp, clone, cos, cosh, erf, exp, expm1, floor, isnan, lerp, log, log1p, log2, log10,
    logical_and, logical_not, logical_or, logical_xor, masked_fill, maximum, minimum, reciprocal, relu, round, rsqrt,
    sigmoid, sign, sin, sinh, sqrt, square, sub, tan, tanh, trunc,
):  # fmt: skip
    setattr(Tensor, _operation.__name__, _operation)
Tensor.to, Tensor.type = to, type_
Tensor.type_as = _method(lambda self, other: to(self, other.dtype), "This tensor in another tensor's dtype.")
Tensor.where = _method(lambda self, condition, other: where(condition, self, other), "See ``where``.")
Tensor.float = _method(lambda self: to(self, dtypes.float32), "This tensor in float32.")
Tensor.half = _method(lambda self: to(self, dtypes.float16), "This tensor in float16.")
Tensor.double = _method(lambda self: to(self, dtypes.float64), "This tensor in float64.")
Tensor.int = _method(lambda self: to(self, dtypes.int32), "This tensor in int32: no gradient.")
Tensor.long = _method(lambda self: to(self, dtypes.int64), "This tensor in int64: no gradient.")
Tensor.bool = _method(lambda self: to(self, dtypes.bool), "This tensor in bool: no gradient.")

# Reductions and products
for _operation in (
    addmm, all, any, argmax, argmin, argsort, bmm, cumprod, cumsum, dot, log_softmax, logsumexp, max, mean, median, min,
    mm, mv, norm, outer, prod, softmax, sort, std, sum, var,
):  # fmt: skip
    setattr(Tensor, _operation.__name__, _operation)

# Parts
Tensor.select = pick
for _operation in (gather, index_select, narrow, scatter_add, unfold):
    setattr(Tensor, _operation.__name__, _operation)

# Shapes
Tensor.view = view_of
Tensor.reshape = reshape
Tensor.reshape_as = _method(lambda self, other: reshape(self, other.shape), "In the shape of another tensor.")
Tensor.view_as = _method(lambda self, other: view_of(self, other.shape), "In the shape of another tensor.")
Tensor.expand = _method(
    lambda self, *sizes, size=None: expand(self, sizes_of(sizes, size)),
    "Repeat dimensions of length 1, without a copy.",
)
Tensor.expand_as = _method(lambda self, other: expand(self, tuple(other.shape)), "Expand to another tensor's shape.")
Tensor.permute = _method(
    lambda self, *order, dims=None: permute(self, sizes_of(order, dims)), "The dimensions in another order."
)
Tensor.T = property(reversed_dims)
Tensor.t = t
Tensor.transpose = transpose
Tensor.unsqueeze = unsqueeze
Tensor.squeeze = squeeze
Tensor.unbind = unbind
Tensor.swapaxes = transpose
Tensor.split = _method(lambda self, split_size, dim=0: split(self, split_size, dim), "See ``split``.")
Tensor.mT = property(matrix_transpose, doc="The last two dimensions swapped.")
Tensor.repeat = _method(
    lambda self, *counts, repeats=None: repeat(self, sizes_of(counts, repeats)),
    "Copies side by side, so many per dimension.",
)
for _operation in (chunk, diag, diagonal, flatten, flip, movedim, roll, trace, tril, triu):
    setattr(Tensor, _operation.__name__, _operation)

# In place
Tensor.__iadd__, Tensor.__isub__ = in_place(plus), in_place(minus)
Tensor.add_ = inplace.scaled(Tensor.__iadd__, in_place(plus_scaled))
Tensor.sub_ = inplace.scaled(Tensor.__isub__, in_place(minus_scaled))
Tensor.mul_ = Tensor.__imul__ = in_place(mul)
Tensor.__itruediv__ = in_place(quotient)
Tensor.div_ = inplace.rounding(Tensor.__itruediv__, in_place(rounded_quotient))
Tensor.pow_ = Tensor.__ipow__ = inplace.either(in_place(power), in_place(power_of_tensor))
Tensor.remainder_ = Tensor.__imod__ = inplace.either(in_place(remainder_by_number), in_place(remainder_by_tensor))
Tensor.bitwise_and_ = Tensor.__iand__ = in_place(bitwise_and)
Tensor.bitwise_or_ = Tensor.__ior__ = in_place(bitwise_or)
Tensor.bitwise_xor_ = Tensor.__ixor__ = in_place(bitwise_xor)
Tensor.__ifloordiv__ = inplace.either(in_place(floor_divide_by_number), in_place(floor_divide_by_tensor))
for _operation in (abs, ceil, cos, exp, floor, log, neg, reciprocal, relu, round, sigmoid, sign, sin, sqrt, tanh):
    setattr(Tensor, _operation.__name__ + "_", in_place(_operation))
Tensor.zero_ = inplace.zero_
Tensor.fill_ = inplace.fill_
Tensor.copy_ = inplace.copy_
Tensor._rebuild_view = inplace.rebuild_view
