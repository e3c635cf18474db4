"""Making tensors from data. PyTorch counterparts: the functions of the same names in ``torch``."""

import functools
import sys
import warnings

import numpy as np

from . import dtypes
from .autograd.graph import track
from .messages import COPY_OF_TENSOR, SCALAR_OF_TRACKED, refusal, refuse, type_name, warn_once
from .tensor import Tensor, wrap


def finish(array: np.ndarray, requires_grad: bool) -> Tensor:
    """Wrap a fresh array; integers cannot require gradients."""
    if not isinstance(requires_grad, bool):
        name = sys._getframe(1).f_code.co_name
        raise TypeError(f"{name}(): argument 'requires_grad' must be bool, not {type_name(requires_grad)}")
    tensor = wrap(np.asarray(array))
    if requires_grad and array.dtype.kind != "f":
        raise refusal("factory of integers")
    if requires_grad:
        track(tensor)
    return tensor


def tensor(data, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf with a copy of `data`: a number, nested lists, an array or a tensor.

    Python floats become float32, integers int64, arrays keep their type. TypeError for other data.

    >>> tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    if isinstance(data, Tensor):
        warnings.warn(COPY_OF_TENSOR, UserWarning, stacklevel=2)
    return finish(_array_of(data, dtype), requires_grad)


def _array_of(data, dtype) -> np.ndarray:
    plain = not isinstance(data, (np.ndarray, np.generic, Tensor))
    typed: list = []
    try:
        array = np.array(_without_tensors(data, typed))
    except ValueError:
        raise ragged(data) from None
    if plain and array.dtype.kind not in "biuf":
        raise no_number(data)
    if dtype is not None:
        return array.astype(dtypes.as_dtype(dtype).numpy)
    if plain and (array.dtype.kind == "f" or array.size == 0):
        default = dtypes.get_default_dtype().numpy
        return array.astype(functools.reduce(np.promote_types, [t for t in typed if t.kind == "f"], default))
    native = array.dtype.newbyteorder("=")
    dtypes.from_numpy_dtype(native)
    return array.astype(native, copy=False)


def no_number(data) -> Exception:
    """The error for what is no number, or lists of such."""
    while isinstance(data, (list, tuple)):
        data = next((e for e in data if isinstance(e, (list, tuple)) or not isinstance(e, (int, float))), data[0])
    kind = type(data).__name__
    if isinstance(data, (str, bytes)):
        return TypeError(f"new(): invalid data type '{kind}'")
    if isinstance(data, int):
        return ValueError("Overflow when unpacking long long")
    return refuse(
        RuntimeError, f"Could not infer dtype of {kind}", "a tensor holds numbers: give one, or nested lists."
    )


def ragged(data) -> ValueError:
    """The error for nested lists of unequal lengths, with the first place where they differ."""
    dim, level = 0, [data]
    while True:
        lists = [isinstance(entry, (list, tuple)) for entry in level]
        if not all(lists):
            return ValueError("expected sequences of equal length at every dimension")
        lengths = [len(entry) for entry in level]
        for length in lengths:
            if length != lengths[0]:
                return ValueError(f"expected sequence of length {lengths[0]} at dim {dim} (got {length})")
        dim, level = dim + 1, [part for entry in level for part in entry]


def _without_tensors(data, typed: list):
    """The same nested lists, with numbers in the place of tensors. Types of those, and of NumPy's, go to `typed`."""
    if isinstance(data, (list, tuple)):
        return [_without_tensors(entry, typed) for entry in data]
    if isinstance(data, Tensor):
        if data._edge is not None and not data.ndim and data.dtype.is_floating_point:
            warn_once(SCALAR_OF_TRACKED, stacklevel=2)
        data = data._array
    if isinstance(data, (np.ndarray, np.generic)):
        typed.append(data.dtype)
    return data


def as_tensor(data, dtype: dtypes.dtype | None = None) -> Tensor:
    """A tensor of `data`, the same one if it is a tensor of that type already."""
    return data if isinstance(data, Tensor) and dtype in (None, data.dtype) else finish(_array_of(data, dtype), False)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on the memory of an array: changes of one show in the other.

    >>> from_numpy(np.array([1.0]))
    tensor([1.], dtype=torch.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(array)})")
    dtypes.from_numpy_dtype(array.dtype)
    return wrap(array)


def shape_of(name: str, args: tuple, size=None) -> tuple:
    """The lengths that a factory was given: as numbers, as one tuple, or by the name `size`."""
    if size is None and not args:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    args = args or (size,)
    lengths = tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    for length in lengths:
        if not isinstance(length, (int, np.integer)):
            kind = type(length).__name__
            raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {kind}")
        if length < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {length}: {list(lengths)}")
    return lengths


def numpy_of(dtype) -> np.dtype:
    """NumPy's name of a type, or of the default one."""
    return (dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)).numpy


def _like(input: Tensor, dtype) -> np.dtype:
    return (input.dtype if dtype is None else dtypes.as_dtype(dtype)).numpy


def ones(*args, size=None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Ones of a shape, given as numbers or as one tuple."""
    return finish(np.ones(shape_of("ones", args, size), numpy_of(dtype)), requires_grad)


def zeros(*args, size=None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Zeros of a shape, given as numbers or as one tuple."""
    return finish(np.zeros(shape_of("zeros", args, size), numpy_of(dtype)), requires_grad)


def full(size, fill_value, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """One value in a shape; its type decides the dtype."""
    kind = numpy_of(dtype) if dtype else dtypes._number_dtype(fill_value)
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    return finish(np.full(shape_of("full", (size,)), fill_value, kind), requires_grad)


def ones_like(input: Tensor, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Ones of another tensor's shape and dtype."""
    return finish(np.ones(input._array.shape, _like(input, dtype)), requires_grad)


def zeros_like(input: Tensor, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Zeros of another tensor's shape and dtype."""
    return finish(np.zeros(input._array.shape, _like(input, dtype)), requires_grad)


def full_like(input: Tensor, fill_value, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """One value in another tensor's shape and dtype."""
    return finish(np.full(input._array.shape, fill_value, _like(input, dtype)), requires_grad)


def arange(
    *bounds, start=0, end=None, step=1, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """Evenly spaced numbers: ``arange(end)``, ``arange(start, end)`` or ``arange(start, end, step)``."""
    if len(bounds) == 1 and end is None:
        bounds = (start, *bounds)
    start, end, step = (*bounds, *(start, end, step)[len(bounds) :])
    if not step:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(b, int) for b in (start, end, step))
    kind = numpy_of(dtype) if dtype else dtypes.int64.numpy if whole else dtypes.get_default_dtype().numpy
    return finish(np.arange(start, end, step).astype(kind), requires_grad)


def linspace(start, end, steps: int, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from start to end, both included."""
    return finish(np.linspace(start, end, steps).astype(numpy_of(dtype)), requires_grad)


def eye(n: int, m: int | None = None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """The identity matrix."""
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    return finish(np.eye(n, m, dtype=numpy_of(dtype)), requires_grad)


def empty(*args, size=None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A shape whose values are not set yet."""
    return finish(np.empty(shape_of("empty", args, size), numpy_of(dtype)), requires_grad)
