"""How the elements of results lie in memory: what ``stride()`` shows and ``view()`` depends on.

NumPy and PyTorch agree on most. Where they do not, results that have a dimension of their own (a sum along one, a
softmax, a join) lie row by row, and others as the first of their operands that says which dimension is the outer one.

PyTorch counterpart: ``TensorIteratorBase::reorder_dimensions`` in ``aten/src/ATen/TensorIterator.cpp``.
"""

import numpy as np
from numpy.lib.stride_tricks import as_strided


def dimensions_inwards(shape: tuple, arrays) -> list:
    """The dimensions from the outermost to the innermost, as operands of a shape lie in memory."""
    steps = [np.broadcast_to(array, shape).strides for array in arrays]
    order: list = []
    for dim in range(len(shape)):
        at = len(order)
        for place in range(len(order) - 1, -1, -1):
            outer = next((s[dim] - s[order[place]] for s in steps if s[dim] and s[order[place]]), 0)
            if outer < 0 or (outer == 0 and shape[dim] == 1):
                break
            at = place if outer > 0 else at
        order.insert(at, dim)
    return order


def empty_as(arrays, shape: tuple, dtype) -> np.ndarray:
    """A new array that lies in memory as operands do."""
    order = dimensions_inwards(shape, arrays)
    return np.empty([shape[dim] for dim in order], dtype).transpose(np.argsort(order))


def laid_out(result: np.ndarray, *operands) -> np.ndarray:
    """A result of operands of which one does not lie row by row, as PyTorch's lies."""
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
    """Whether no later dimension is an outer one. Expanded dimensions, of stride 0, do not say."""
    steps = [step for step in strides if step]
    return not steps or steps == sorted(steps, reverse=True)


def full_as(array: np.ndarray, value, dtype) -> np.ndarray:
    """One value in another array's shape and layout."""
    shape = array.shape
    filled = np.empty(shape, dtype) if array.flags.c_contiguous else empty_as([array], shape, dtype)
    filled.fill(value)
    return filled


def memory_of(array: np.ndarray) -> np.ndarray:
    """A copy of the memory that an array's elements are spread over, from the first to the last."""
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    reach = sum(steps) // array.itemsize + 1 if array.size else 0
    return as_strided(array, (reach,), (array.itemsize,)).copy()


def spread(memory: np.ndarray, shape: tuple, strides: tuple) -> np.ndarray:
    """The array that was spread over a memory."""
    return as_strided(memory, shape, strides)
