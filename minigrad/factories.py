"""Making tensors from data. PyTorch counterparts: the functions of the same names in ``torch``."""

import numpy as np

from . import dtypes
from .autograd.graph import track
from .messages import refusal
from .tensor import Tensor, wrap


def finish(array: np.ndarray, requires_grad: bool) -> Tensor:
    """Wrap a fresh array; integers cannot require gradients."""
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
    return finish(_array_of(data, dtype), requires_grad)


def _array_of(data, dtype) -> np.ndarray:
    plain = not isinstance(data, (np.ndarray, np.generic, Tensor))
    try:
        array = np.array(_without_tensors(data))
    except ValueError:
        raise ValueError("expected sequences of equal length at every dimension") from None
    if array.dtype.kind not in "biuf":
        kind = type(data).__name__
        raise TypeError(f"minigrad: a tensor holds numbers; cannot make one of {kind} with these elements.")
    if dtype is not None:
        return array.astype(dtype.numpy)
    if plain and (array.dtype.kind == "f" or array.size == 0):
        return array.astype(dtypes.get_default_dtype().numpy)
    native = array.dtype.newbyteorder("=")
    dtypes.from_numpy_dtype(native)
    return array.astype(native, copy=False)


def _without_tensors(data):
    """The same nested lists, with numbers in the place of tensors."""
    if isinstance(data, Tensor):
        return data._array
    return [_without_tensors(entry) for entry in data] if isinstance(data, (list, tuple)) else data


def as_tensor(data, dtype: dtypes.dtype | None = None) -> Tensor:
    """A tensor of `data`, the same one if it is a tensor of that type already."""
    return data if isinstance(data, Tensor) and dtype in (None, data.dtype) else tensor(data, dtype)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on the memory of an array: changes of one show in the other.

    >>> from_numpy(np.array([1.0]))
    tensor([1.], dtype=torch.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.from_numpy_dtype(array.dtype)
    return wrap(array)


def _shape(size) -> tuple:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _numpy(dtype) -> np.dtype:
    return (dtype or dtypes.get_default_dtype()).numpy


def ones(*size, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Ones of a shape, given as numbers or as one tuple."""
    return finish(np.ones(_shape(size), _numpy(dtype)), requires_grad)


def zeros(*size, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Zeros of a shape, given as numbers or as one tuple."""
    return finish(np.zeros(_shape(size), _numpy(dtype)), requires_grad)


def full(size, fill_value, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """One value in a shape; its type decides the dtype."""
    kind = dtype.numpy if dtype else dtypes._number_dtype(fill_value)
    return finish(np.full(size, fill_value, kind), requires_grad)


def ones_like(input: Tensor, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Ones of another tensor's shape and dtype."""
    return finish(np.ones(input._array.shape, (dtype or input.dtype).numpy), requires_grad)


def zeros_like(input: Tensor, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Zeros of another tensor's shape and dtype."""
    return finish(np.zeros(input._array.shape, (dtype or input.dtype).numpy), requires_grad)


def full_like(input: Tensor, fill_value, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """One value in another tensor's shape and dtype."""
    return finish(np.full(input._array.shape, fill_value, (dtype or input.dtype).numpy), requires_grad)


def arange(*bounds, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Evenly spaced numbers: ``arange(end)``, ``arange(start, end)`` or ``arange(start, end, step)``."""
    whole = all(isinstance(b, int) for b in bounds)
    kind = dtype.numpy if dtype else dtypes.int64.numpy if whole else dtypes.get_default_dtype().numpy
    return finish(np.arange(*bounds).astype(kind), requires_grad)


def linspace(start, end, steps: int, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from start to end, both included."""
    return finish(np.linspace(start, end, steps).astype(_numpy(dtype)), requires_grad)


def eye(n: int, m: int | None = None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """The identity matrix."""
    return finish(np.eye(n, m, dtype=_numpy(dtype)), requires_grad)


def empty(*size, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A shape whose values are not set yet."""
    return finish(np.empty(_shape(size), _numpy(dtype)), requires_grad)
