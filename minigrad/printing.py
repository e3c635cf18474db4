"""How a tensor prints: values, then what is special about it.

    tensor([5.], grad_fn=<MulBackward0>)

PyTorch counterpart: ``torch/_tensor_str.py``, with its defaults: 4 digits, 80 columns, summaries over 1000.
"""

import math

import numpy as np

from . import dtypes
from .autograd.dual import Dual, dual_levels
from .tensor import Tensor
from .views import ModifiedView

PRECISION, WIDTH, THRESHOLD, EDGE = 4, 80, 1000, 3


def tensor_repr(tensor: Tensor) -> str:
    """The text of ``print(tensor)``."""
    prefix = "tensor("
    array = tensor._array
    notes = _notes(tensor)
    if array.size == 0:
        body = "[]"
        if array.ndim != 1:
            notes.insert(0, f"size={tuple(array.shape)}")
    else:
        body = _body(array, len(prefix))
    return _with_notes(prefix + body, notes, len(prefix)) + ")"


def _notes(tensor: Tensor) -> list[str]:
    notes = []
    understood = (dtypes.int64, dtypes.bool) if tensor.numel() else ()  # by the values
    if tensor.dtype not in (dtypes.get_default_dtype(), *understood):
        notes.append(f"dtype={tensor.dtype}")
    if isinstance(tensor, ModifiedView):
        notes.append("grad_fn=<Invalid>")
    elif not tensor.is_leaf:
        notes.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    if isinstance(tensor, Dual):
        notes.append(f"tangent={dual_levels[0].tangent(tensor)}")
    return notes


def _with_notes(text: str, notes: list[str], indent: int) -> str:
    """Append the notes, on a line of their own where they would pass the last column."""
    column = len(text) - text.rfind("\n") + 1  # two more than there are, as PyTorch counts them
    for note in notes:
        if column + len(note) + 2 > WIDTH:
            text += ",\n" + " " * indent + note
            column = indent + len(note)
        else:
            text += ", " + note
            column += len(note) + 2
    return text


def _body(array: np.ndarray, indent: int) -> str:
    summarize = array.size > THRESHOLD
    shown = _edges_only(array) if summarize else array
    return _rows(array, indent, _formatter(shown), summarize)


def _edges_only(array: np.ndarray) -> np.ndarray:
    for axis, length in enumerate(array.shape):
        if length > 2 * EDGE:
            array = np.take(array, [*range(EDGE), *range(length - EDGE, length)], axis)
    return array


def _formatter(array: np.ndarray):
    """A function from a number to its text. All have the width of the widest finite one."""
    if array.dtype.kind != "f":
        width = max(len(str(v)) for v in array.ravel().tolist())
        return lambda value: str(value).rjust(width)
    counted = array[np.isfinite(array) & (array != 0)].astype(np.float64)
    style = _number_style(np.abs(counted))

    def write(value):
        return format(value, style) + ("." if style == ".0f" and math.isfinite(value) else "")

    width = max((len(write(v)) for v in counted.tolist()), default=0)
    return lambda value: write(value).rjust(width)


def _number_style(sizes: np.ndarray) -> str:
    """Whole numbers as `2.`, others with 4 digits; very large or small ones, or both at once, with an exponent."""
    if sizes.size == 0:
        return ".0f"
    low, high = sizes.min(), sizes.max()
    whole = (sizes == np.ceil(sizes)).all()
    if high / low > 1000.0 or high > 1.0e8 or (low < 1.0e-4 and not whole):
        return f".{PRECISION}e"
    return ".0f" if whole else f".{PRECISION}f"


def _rows(array: np.ndarray, indent: int, write, summarize: bool) -> str:
    if array.ndim == 0:
        return write(array.item())
    if array.ndim == 1:
        return _line(array, indent, write, summarize)
    indices = list(range(len(array)))
    if summarize and len(array) > 2 * EDGE:
        indices = [*range(EDGE), None, *range(len(array) - EDGE, len(array))]
    parts = ["..." if i is None else _rows(array[i], indent + 1, write, summarize) for i in indices]
    joint = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + joint.join(parts) + "]"


def _line(array: np.ndarray, indent: int, write, summarize: bool) -> str:
    values = [write(v) for v in array.tolist()]
    if summarize and len(values) > 2 * EDGE:
        values = [*values[:EDGE], " ...", *values[-EDGE:]]
    per_line = max(1, (WIDTH - indent) // (len(values[0]) + 2))
    lines = [", ".join(values[i : i + per_line]) for i in range(0, len(values), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
