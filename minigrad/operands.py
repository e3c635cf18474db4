"""Operands that are not all Tensors of one dtype: numbers, arrays, subclasses, mixed types.

PyTorch counterparts: ``torch/csrc/utils/python_arg_parser.cpp``, ``torch.result_type``.
"""

import functools
import math
import weakref
from typing import Any

import numpy as np

from . import dtypes
from .autograd.grad_mode import mode
from .layout import laid_out
from .messages import bool_not_subtracted, type_name
from .numpy_warnings import silence_numpy
from .tensor import Tensor, wrap

NUMBERS = (int, float, np.generic)


def unwrap(row, operands: tuple | list):
    """(operand, array, node) of each operand, in one dtype.

    None if they are arrays without any Tensor: a derivative is running on arrays.
    """
    if not any(isinstance(o, Tensor) for o in operands):
        if any(isinstance(o, (np.ndarray, np.generic)) for o in operands):
            return None
    operands = [_operand(row, position, o) for position, o in enumerate(operands)]
    arrays = in_one_dtype(row, *(o._array if isinstance(o, Tensor) else o for o in operands))
    results = []
    for operand, array, name in zip(operands, arrays, row.inputs, strict=True):
        # Where nothing is recorded `_node` is not read: that of a ModifiedView raises.
        tracked = mode.recording and name in row.rules and isinstance(operand, Tensor)
        results.append((operand, array, operand._node if tracked else None))
    return results


def _operand(row, position: int, operand):
    if isinstance(operand, Tensor) or (operand is None and row.defaults.get(row.inputs[position], 0) is None):
        return operand
    if isinstance(operand, np.ndarray):
        return wrap(dtypes.native(operand))
    if isinstance(operand, NUMBERS) and len(row.inputs) > 1 and row.numbers:
        return operand.item() if isinstance(operand, np.generic) else operand
    name = "input" if position == 0 else row.inputs[position]
    place = max(position, 1)  # counted as for a method, where `self` has no position
    raise TypeError(f"{row.op_name}(): argument '{name}' (position {place}) must be Tensor, not {type_name(operand)}")


def in_one_dtype(row, *arrays) -> list:
    """The same operands in the one dtype that PyTorch's promotion gives; or in the first one's, if the row `casts`."""
    met = [a is not None and (name in row.rules or not row.rules) for a, name in zip(arrays, row.inputs, strict=True)]
    values = [a for a, meets in zip(arrays, met, strict=True) if meets]
    if row.op_name == "sub" and any(isinstance(a, np.ndarray) and a.dtype.kind == "b" for a in values):
        raise bool_not_subtracted()
    common = values[0].dtype if row.casts else promote(*values)
    if row.floating and common.kind != "f":
        common = dtypes.get_default_dtype().numpy
    return [cast(np.asarray(a), common) if meets else a for a, meets in zip(arrays, met, strict=True)]


def cast(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array in another dtype, and in its layout."""
    if array.dtype == dtype:
        return array
    return array.astype(dtype) if array.flags.c_contiguous else laid_out(array.astype(dtype), array)


def promote(*operands) -> np.dtype:
    """The NumPy dtype that mixed operands are promoted to.

    Arrays with dimensions outrank 0-d arrays, and those outrank Python numbers, unless the lower rank is
    of a higher kind (bool < integer < float). PyTorch counterpart: ``torch.result_type``.

    >>> promote(np.zeros(2, "float32"), np.array(1.0)), promote(np.array([1]), 2.5)
    (dtype('float32'), dtype('float32'))
    """
    ranks: list = [None, None, None]
    for operand in operands:
        if isinstance(operand, np.ndarray):
            rank, dtype = (0 if operand.ndim else 1), operand.dtype
        else:
            rank, dtype = 2, dtypes.dtype_of_number(operand)
        ranks[rank] = dtype if ranks[rank] is None else _larger(ranks[rank], dtype)
    best: Any = None
    for dtype in ranks:
        if dtype is not None and (best is None or level(dtype) > level(best)):
            best = dtype
    return best


def _larger(a: np.dtype, b: np.dtype) -> np.dtype:
    """The dtype for two of one rank: float32 with int64 stays float32, where NumPy would take float64."""
    if (a.kind == "f") == (b.kind == "f"):
        return np.promote_types(a, b)
    return a if a.kind == "f" else b


def level(dtype: np.dtype) -> int:
    """The category of a dtype, bool < integer < float: the highest wins, and in place it cannot be cast down."""
    return "biuf".index(dtype.kind) if dtype.kind != "u" else 1


def constant(operand):
    """What a node keeps of an operand without gradient, for pictures: a number, or a weak reference."""
    return weakref.ref(operand) if isinstance(operand, Tensor) else operand


@functools.lru_cache(maxsize=256)
def number(value, dtype):
    """A Python number as an array, cached: NumPy takes twice as long to convert it. (Not for 0 and -0: one key.)"""
    return np.array(value, dtype)


@functools.cache
def limits_of(kind: np.dtype) -> tuple:
    """The least and the largest number of a dtype, as Python numbers."""
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    return np.asarray([limits.min, limits.max], kind).tolist()


def numbers_as(array: np.ndarray, kind: np.dtype, checked: bool = False) -> np.ndarray:
    """The array in a dtype. `checked`: RuntimeError where an integer dtype overflows (negatives may wrap around)."""
    silence_numpy()  # an overflow gives inf
    if checked and kind.kind in "iu":
        least, most = limits_of(kind)
        least = -most if kind.kind == "u" and array.dtype.kind != "f" else least
        if not np.all((array >= least) & (array <= most)):
            raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")
    return array.astype(kind)


def as_element(value, kind: np.dtype):
    """A Python number for an array of a dtype; RuntimeError where it overflows (a negative may wrap, in uint8)."""
    if kind.kind == "b" or isinstance(value, np.ndarray) or (kind.kind == "f" and not abs(value) < math.inf):
        return value
    least, most = limits_of(kind)
    if not (-most if kind.kind == "u" and isinstance(value, int) else least) <= value <= most:
        name = C_NUMBERS.get(kind.name, f"{kind.name}_t")
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return np.asarray(value).astype(kind) if kind.kind == "u" else value  # else the number itself: pictures show it


C_NUMBERS = {"float16": "at::Half", "float32": "float", "float64": "double", "int32": "int"}
