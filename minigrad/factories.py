"""Tensors of a shape: ones, zeros, ranges. PyTorch counterparts: the functions of the same names in ``torch``."""

import numpy as np

from . import dtypes
from .layout import full_as
from .messages import type_name
from .operands import as_element
from .tensor import Tensor
from .tensor_new import finish


def shape_of(name: str, args: tuple, size=None) -> tuple:
    """The shape that a factory was given: as numbers, as one tuple, or as `size=`."""
    if size is None and not args:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    args = args or (size,)
    lengths = tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    for length in lengths:
        if length.__class__ is not int and not isinstance(length, (int, np.integer)):
            kind = type(length).__name__
            raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {kind}")
        if length < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {length}: {list(lengths)}")
    return lengths


def numpy_of(dtype) -> np.dtype:
    """The NumPy dtype of a dtype, or of the default one."""
    return (dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)).numpy


def _like(name: str, input: Tensor, dtype) -> np.dtype:
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type_name(input)}")
    return (input.dtype if dtype is None else dtypes.as_dtype(dtype)).numpy


def ones(*args, size=None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones; its shape is given as numbers or as one tuple.

    PyTorch counterpart: ``torch.ones``.

    >>> ones(2, 1)
    tensor([[1.],
            [1.]])
    """
    array = np.empty(shape_of("ones", args, size), numpy_of(dtype))
    array.fill(1)  # in half of the time that np.ones takes
    return finish(array, requires_grad)


def zeros(*args, size=None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros; its shape is given as numbers or as one tuple.

    PyTorch counterpart: ``torch.zeros``.

    >>> zeros(3)
    tensor([0., 0., 0.])
    """
    return finish(np.zeros(shape_of("zeros", args, size), numpy_of(dtype)), requires_grad)


def full(size, fill_value, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of a shape, filled with one value, whose type decides the dtype.

    RuntimeError where `dtype` is given and the value overflows it. PyTorch counterpart: ``torch.full``.

    >>> full((2,), 5)
    tensor([5, 5])
    """
    kind = numpy_of(dtype) if dtype else dtypes.dtype_of_number(fill_value)
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    return finish(np.full(shape_of("full", (size,)), as_element(fill_value, kind), kind), requires_grad)


def ones_like(input: Tensor, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Ones of another tensor's shape and dtype. PyTorch counterpart: ``torch.ones_like``."""
    kind = _like("ones_like", input, dtype)
    return finish(full_as(input._array, 1, kind), requires_grad)


def zeros_like(input: Tensor, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Zeros of another tensor's shape and dtype. PyTorch counterpart: ``torch.zeros_like``."""
    kind = _like("zeros_like", input, dtype)
    return finish(full_as(input._array, 0, kind), requires_grad)


def full_like(input: Tensor, fill_value, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of another's shape and dtype, filled with one value. PyTorch counterpart: ``torch.full_like``."""
    kind = _like("full_like", input, dtype)
    return finish(full_as(input._array, as_element(fill_value, kind), kind), requires_grad)


def arange(
    *bounds, start=0, end=None, step=1, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """Evenly spaced numbers: ``arange(end)``, ``arange(start, end)`` or ``arange(start, end, step)``.

    `end` is not included. int64 if all are integers. RuntimeError if `step` is 0 or leads away from `end`.
    PyTorch counterpart: ``torch.arange``.

    >>> arange(1, 7, 2)
    tensor([1, 3, 5])
    """
    if len(bounds) == 1 and end is None:
        bounds = (start, *bounds)
    start, end, step = (*bounds, *(start, end, step)[len(bounds) :])
    if not step:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    kind = numpy_of(dtype) if dtype else dtypes.int64.numpy if whole else dtypes.get_default_dtype().numpy
    return finish(np.arange(start, end, step).astype(kind, copy=False), requires_grad)


def linspace(start, end, steps: int, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from start to end, both included. PyTorch counterpart: ``torch.linspace``.

    >>> linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return finish(np.linspace(start, end, steps).astype(numpy_of(dtype)), requires_grad)


def eye(n: int, m: int | None = None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """The identity matrix, n by n or n by m. PyTorch counterpart: ``torch.eye``.

    >>> eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    return finish(np.eye(n, m, dtype=numpy_of(dtype)), requires_grad)


def empty(*args, size=None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of a shape, with whatever values its memory has. PyTorch counterpart: ``torch.empty``."""
    return finish(np.empty(shape_of("empty", args, size), numpy_of(dtype)), requires_grad)
