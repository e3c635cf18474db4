"""How the elements of results lie in memory: what ``stride()`` shows and ``view()`` depends on.

NumPy and PyTorch agree on most. Where they do not, the results of operations along a dimension (sum, softmax, cat) are
contiguous, and others take the stride order of the first operand that has one (an expanded dimension has stride 0).

PyTorch counterpart: ``TensorIteratorBase::reorder_dimensions`` in ``aten/src/ATen/TensorIterator.cpp``.
"""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def dimensions_inwards(shape: tuple, arrays) -> list:
    """The dimensions from the outermost (largest stride) to the innermost, in the stride order of the operands."""
    steps = [_strides_in(shape, array) for array in arrays]

    def inside(dim: int, other: int) -> int:
        """Above 0 if the first operand with strides for both has `dim` inside of `other`, below 0 if outside of it."""
        for step in steps:
            if step[dim] and step[other]:
                if step[dim] != step[other]:
                    return step[other] - step[dim]
                if shape[dim] < shape[other]:
                    return 1
        return 0

    order = list(range(len(shape)))[::-1]  # from the innermost; sorted by insertion, as not all can be compared
    for dim in range(1, len(order)):
        for place in range(dim - 1, -1, -1):
            sign = inside(order[dim], order[place])
            if sign < 0:
                break
            if sign > 0:
                order[place], order[dim], dim = order[dim], order[place], place
    return order[::-1]


def _strides_in(shape: tuple, array: np.ndarray) -> list:
    """An array's strides, broadcast to a shape: 0 where it is repeated. ``np.broadcast_to`` loses those of length 1."""
    missing = len(shape) - array.ndim
    lengths = zip(array.strides, array.shape, shape[missing:], strict=True)
    return [0] * missing + [step if own == length else 0 for step, own, length in lengths]


def empty_as(arrays, shape: tuple, dtype) -> np.ndarray:
    """An uninitialized array in the stride order of the operands."""
    order = dimensions_inwards(shape, arrays)
    return np.empty([shape[dim] for dim in order], dtype).transpose(np.argsort(order))


def laid_out(result: np.ndarray, *operands) -> np.ndarray:
    """An elementwise result in the stride order that PyTorch gives it; copied only if an operand is not contiguous."""
    if result.ndim < 2:
        return result
    arrays = [each for each in operands if isinstance(each, np.ndarray) and each.ndim]
    if result.flags.c_contiguous and all([a.flags.c_contiguous or _row_by_row(a.strides) for a in arrays]):
        return result
    found = empty_as(arrays, result.shape, result.dtype)
    if found.strides == result.strides:
        return result
    found[...] = result
    return found


def _row_by_row(strides: tuple) -> bool:
    """Whether strides never grow from one dimension to the next; expanded ones, of stride 0, do not count."""
    steps = [step for step in strides if step]
    return not steps or steps == sorted(steps, reverse=True)


def full_as(array: np.ndarray, value, dtype) -> np.ndarray:
    """One value in another array's shape and layout."""
    shape = array.shape
    filled = np.empty(shape, dtype) if array.flags.c_contiguous else empty_as([array], shape, dtype)
    filled.fill(value)
    return filled


def memory_of(array: np.ndarray) -> np.ndarray:
    """A copy of the memory from an array's first element to its last, gaps included."""
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    reach = sum(steps) // array.itemsize + 1 if array.size else 0
    return as_strided(array, (reach,), (array.itemsize,)).copy()


def spread(memory: np.ndarray, shape: tuple, strides: tuple) -> np.ndarray:
    """The array of this shape and strides on a memory: undoes `memory_of`."""
    return as_strided(memory, shape, strides)
