"""How a tensor prints: its values, then what is not the default about it.

    tensor([5.], grad_fn=<MulBackward0>)

PyTorch counterpart: ``torch/_tensor_str.py``, with its defaults: 4 digits, 80 columns, summaries over 1000.
"""

import math

import numpy as np

from . import dtypes
from .autograd.dual import Dual, dual_levels
from .tensor import Tensor
from .views import ModifiedView

PRECISION, WIDTH, THRESHOLD, EDGE_ITEMS = 4, 80, 1000, 3


def tensor_repr(tensor: Tensor) -> str:
    """The text of ``print(tensor)``."""
    prefix = "tensor("
    array = tensor._array
    suffixes = _suffixes(tensor)
    if array.size == 0:
        body = "[]"
        if array.ndim != 1:
            suffixes.insert(0, f"size={tuple(array.shape)}")
    else:
        body = _body(array, len(prefix))
    return _with_suffixes(prefix + body, suffixes, len(prefix)) + ")"


def _suffixes(tensor: Tensor) -> list[str]:
    suffixes = []
    implied = (dtypes.int64, dtypes.bool) if tensor.numel() else ()  # their values show it
    if tensor.dtype not in (dtypes.get_default_dtype(), *implied):
        suffixes.append(f"dtype={tensor.dtype}")
    if isinstance(tensor, ModifiedView):
        suffixes.append("grad_fn=<Invalid>")
    elif not tensor.is_leaf:
        suffixes.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    if isinstance(tensor, Dual):
        suffixes.append(f"tangent={dual_levels[0].tangent(tensor)}")
    return suffixes


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """Append the suffixes, each on a new line where it would pass the last column."""
    column = len(text) - text.rfind("\n") + 1  # two too many, as in PyTorch
    for suffix in suffixes:
        if column + len(suffix) + 2 > WIDTH:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text


def _body(array: np.ndarray, indent: int) -> str:
    summarize = array.size > THRESHOLD
    shown = _summarized(array) if summarize else array
    return _rows(array, indent, _formatter(shown), summarize)


def _summarized(array: np.ndarray) -> np.ndarray:
    for axis, length in enumerate(array.shape):
        if length > 2 * EDGE_ITEMS:
            array = np.take(array, [*range(EDGE_ITEMS), *range(length - EDGE_ITEMS, length)], axis)
    return array


def _formatter(array: np.ndarray):
    """A function from a number to its text. All have the width of the widest finite one."""
    if array.dtype.kind != "f":
        width = max(len(str(v)) for v in array.ravel().tolist())
        return lambda value: str(value).rjust(width)
    finite = array[np.isfinite(array) & (array != 0)].astype(np.float64)
    spec = _format_spec(np.abs(finite))

    def write(value):
        return format(value, spec) + ("." if spec == ".0f" and math.isfinite(value) else "")

    width = max((len(write(v)) for v in finite.tolist()), default=0)
    return lambda value: write(value).rjust(width)


def _format_spec(magnitudes: np.ndarray) -> str:
    """Whole numbers as `2.`, others with 4 digits; very large or small ones, or both at once, with an exponent."""
    if magnitudes.size == 0:
        return ".0f"
    low, high = magnitudes.min(), magnitudes.max()
    whole = (magnitudes == np.ceil(magnitudes)).all()
    if high / low > 1000.0 or high > 1.0e8 or (low < 1.0e-4 and not whole):
        return f".{PRECISION}e"
    return ".0f" if whole else f".{PRECISION}f"


def _rows(array: np.ndarray, indent: int, write, summarize: bool) -> str:
    if array.ndim == 0:
        return write(array.item())
    if array.ndim == 1:
        return _line(array, indent, write, summarize)
    indices: list[int | None] = list(range(len(array)))
    if summarize and len(array) > 2 * EDGE_ITEMS:
        indices = [*range(EDGE_ITEMS), None, *range(len(array) - EDGE_ITEMS, len(array))]
    parts = ["..." if i is None else _rows(array[i], indent + 1, write, summarize) for i in indices]
    joint = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + joint.join(parts) + "]"


def _line(array: np.ndarray, indent: int, write, summarize: bool) -> str:
    values = [write(v) for v in array.tolist()]
    if summarize and len(values) > 2 * EDGE_ITEMS:
        values = [*values[:EDGE_ITEMS], " ...", *values[-EDGE_ITEMS:]]
    per_line = max(1, (WIDTH - indent) // (len(values[0]) + 2))
    lines = [", ".join(values[i : i + per_line]) for i in range(0, len(values), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
