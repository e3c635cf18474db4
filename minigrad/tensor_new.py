"""Tensors of data: numbers, nested lists, arrays. PyTorch counterpart: ``torch/csrc/utils/tensor_new.cpp``."""

import sys
import warnings

import numpy as np

from . import dtypes
from .autograd.node import track
from .messages import COPY_OF_TENSOR, SCALAR_OF_TRACKED, no_number, ragged, refusal, type_name, warn_once
from .operands import numbers_as
from .tensor import Tensor, wrap


def finish(array: np.ndarray, requires_grad: bool) -> Tensor:
    """A new leaf around an array that nobody else has. RuntimeError if integers are to require grad."""
    if not isinstance(requires_grad, bool):
        name = sys._getframe(1).f_code.co_name
        raise TypeError(f"{name}(): argument 'requires_grad' must be bool, not {type_name(requires_grad)}")
    tensor = wrap(dtypes.native(np.asarray(array)))
    if requires_grad and array.dtype.kind != "f":
        raise refusal("factory of integers")
    if requires_grad:
        track(tensor)
    return tensor


def tensor(data, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf with a copy of `data`: a number, nested lists, an array or a tensor.

    Python floats become float32, integers int64, arrays keep their dtype. TypeError for other data, ValueError for
    ragged lists, RuntimeError for integers that require grad. PyTorch counterpart: ``torch.tensor``.

    >>> tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    if isinstance(data, Tensor):
        warnings.warn(COPY_OF_TENSOR, UserWarning, stacklevel=2)
    return finish(_array_of(data, dtype), requires_grad)


def _array_of(data, dtype) -> np.ndarray:
    from_python = not isinstance(data, (np.ndarray, np.generic, Tensor))
    nested_dtypes: list = []
    try:
        array = np.array(_without_tensors(data, nested_dtypes))
    except ValueError:
        raise ragged(data) from None
    if from_python and array.dtype.kind not in "biuf":
        raise no_number(data)
    if dtype is not None:
        return numbers_as(array, dtypes.as_dtype(dtype).numpy, from_python)
    if from_python and (array.dtype.kind == "f" or array.size == 0):
        kind = dtypes.get_default_dtype().numpy
        for nested in nested_dtypes:
            kind = np.promote_types(kind, nested) if nested.kind == "f" else kind
        return array.astype(kind)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _without_tensors(data, nested_dtypes: list):
    """The same nested lists with arrays in place of tensors; the dtypes of tensors and arrays go to `nested_dtypes`."""
    if isinstance(data, (list, tuple)):
        numbers = {float, int, bool}.issuperset(map(type, data))
        return data if numbers else [_without_tensors(entry, nested_dtypes) for entry in data]
    if isinstance(data, Tensor):
        if data._node is not None and not data.ndim and data.dtype.is_floating_point:
            warn_once(SCALAR_OF_TRACKED, stacklevel=2)
        data = data._array
    if isinstance(data, (np.ndarray, np.generic)):
        nested_dtypes.append(data.dtype)
    return data


def as_tensor(data, dtype: dtypes.dtype | None = None) -> Tensor:
    """`data` as a tensor: a tensor of that dtype itself, an array without a copy of its memory; else as `tensor`.

    PyTorch counterpart: ``torch.as_tensor``.
    """
    if isinstance(data, np.ndarray) and dtype in (None, dtypes.by_numpy_dtype.get(data.dtype)):
        return from_numpy(data)
    return data if isinstance(data, Tensor) and dtype in (None, data.dtype) else finish(_array_of(data, dtype), False)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on the memory of an array: changes of one show in the other. TypeError for anything else.

    PyTorch counterpart: ``torch.from_numpy``.

    >>> from_numpy(np.array([1.0]))
    tensor([1.], dtype=torch.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type_name(array)})")
    return wrap(dtypes.native(array))
