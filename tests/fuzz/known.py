"""The differences from PyTorch that random programs avoid, each with its reason.

A line is left out of a program if PyTorch refuses it in words that match (the table), or if minigrad does otherwise
what it does to the tensors that there are (the functions).
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
        "forward AD with aten::(bitwise|floor_divide)",
    ],
    "Memory that overlaps in part: PyTorch leaves the result open and refuses some of it.": [
        "some elements of the input tensor and the written-to tensor refer to",
    ],
    "Values that PyTorch writes before it refuses.": [
        "Inplace update to inference tensor outside InferenceMode",
        "\\]\\]=.*\n.*is out of bounds for dimension",
    ],
    "Which argument of a loss or a layer is refused first, and in which words.": [
        "(cross_entropy|nll_loss|linear|conv2d|conv_transpose2d)\\(.*\n.*Error",
    ],
    "What a refused operation would have saved: PyTorch shows it to hooks first.": [
        "saved_tensors_hooks.*\n.*Error:",
    ],
    "What PyTorch itself reports as a bug of its own.": [
        "INTERNAL ASSERT FAILED",
        "(backward|grad)\\(.*\n.*(doesn't match the broadcast shape|functions with out=)",
        "data pointer of Tensor that doesn't have storage",
        "Batching rule not implemented|inside torch.vmap",
        "register_multi_grad_hook.*\n.*has no attribute",
    ],
    "A backward that stops at the result of `//`: PyTorch asks for its derivative all the same.": [
        "inputs=.*\n.*floor_divide is not implemented",
    ],
    "Of two mistakes in one line, which is reported.": [
        "forward_ad.*\n.*(can't be cast|without overflow)",
        "masked_fill.*\n.*without overflow",
        "rsub.*\n.*must match the size",
        "einsum.*\n.*expected scalar type",
        "@.*\n.*expected scalar type",
        "alpha=True.*\n.*(must match the size|broadcast shape)",
        "[%/*]=.*\n.*(can't be cast|negative integer powers)",
        "NoneType",
        "[&|^]=.*\n.*(broadcast shape|must match the size|can't be cast)",
        "(\\.(mv|dot|mm|bmm)\\(|@).*\n.*Inference tensors cannot be saved",
        "[&|].*\n.*is a view",
        "@.*\n.*(first two dimensions|shapes cannot be multiplied)",
        "index -?1 is out of bounds for dimension 0 with size [01]$",
    ],
    "Arguments of operations on shapes, where NumPy refuses in its own words.": [
        "narrow\\(\\) cannot",
        "maximum size for tensor",
        "multiple times in the list of dims",
        "vector \\+ matrix",
        "index out of range in self",
        "Dimension specified as",
        "has no dimensions",
        "t_\\(\\) expects",
        "aten::floor_divide_ is not",
        "broadcast_to\\(",
        "sum\\(\\) received",
        "select\\(\\)",
        "gather",
        "scatter_add",
        "unfold",
        "index_select",
        "in the tensor .* CPU|CPUBoolType",
    ],
}


def unlike(line: str, side) -> bool:
    """Whether a line does what minigrad does otherwise, to judge by the tensors that there are."""
    line = line.removesuffix("; failing(0)")
    tensors = [side.names.get(name) for name in re.findall(r"\b[a-h]\b", line.partition(" = ")[2] or line)]
    tensors = [tensor for tensor in tensors if hasattr(tensor, "requires_grad")]
    try:
        return bool(tensors) and any(does(line, tensors, side) for does in _UNLIKE)
    except RuntimeError:  # a view that refuses to be looked at
        return False


def _has_tangents(line, tensors, side) -> bool:
    """Tangents at steps, poles and ties: PyTorch has formulas of its own, of which some change what they need for
    backward. And what becomes of tangents in place and in inference mode, as of gradients."""
    if "forward_ad" in line:
        each = {id(tensor): tensor.detach().double().flatten() for tensor in tensors}.values()
        numbers = [number for flat in each for number in flat.tolist()]
        smooth = len(set(numbers)) == len(numbers) and all(len(n) > 1 and n.isfinite().all() and n.all() for n in each)
        ties = r"make_dual\((\w),.*(clamp\(|max|min).*\b\1\b"  # of a tensor with itself
        return (
            not smooth
            or bool(re.search(rf"log_softmax|norm\(|inference|{ties}", line))
            or any(map(is_inference, tensors))
        )
    return id(tensors[0]) in side.tangents and " = " not in line


def _shows_derivatives(line, tensors, side) -> bool:
    """What the history of a gradient saves; and products by letters of two types, or of lengths 1."""
    if "einsum" in line:
        return len({tensor.dtype for tensor in tensors}) > 1 or any(1 in tensor.shape for tensor in tensors)
    if "autograd.functional" in line and not all(tensor.numel() for tensor in tensors):
        return True
    if "autograd.functional" in line and any(map(is_inference, tensors)):
        return True
    return "saved_tensors_hooks" in line and bool(re.search("create_graph|forward-mode", line))


def _cuts_inference(line, tensors, side) -> bool:
    """`detach()` and `.data` of an inference tensor: PyTorch counts the versions of what they give."""
    return bool(re.search(r"\.(detach\(\)|data\b(?!=))", line)) and any(map(is_inference, tensors))


def _reshapes(line, tensors, side) -> bool:
    """`.data` of another shape or type for a tensor that requires grad: graphs that it is in keep the old ones."""
    given = re.search(r"\b([a-h])\.data=(.*)", line)
    if not given or not tensors[0].requires_grad:
        return False
    try:
        new = eval(given[2], side.names)
        return (
            new.shape != tensors[0].shape or new.dtype != tensors[0].dtype or "inference" in line or is_inference(new)
        )
    except Exception:
        return False


def _overwrites(line, tensors, side) -> bool:
    """Changes in place, of three kinds.

    Operands that share memory: PyTorch computes one element after the other. Gradients that autograd made: PyTorch's
    may be views of memory that repeats. Integers that take a value with a history: PyTorch lets them require grad.
    """
    if not re.search(r"_\(|[^=!<>(]=[^=]", line.partition(" = ")[2] or line) or ".data=" in line or ".grad=" in line:
        return False
    x, *others = tensors
    if 0 in x.stride() and x.requires_grad:
        return True
    if id(x) in side.made and (x._is_view() or 0 in x.stride() or re.search(r"[])]\.\w+_\(", line)):
        return True
    if not x.is_floating_point() and any(y.requires_grad for y in others):
        return True
    return any(y is not x and y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for y in others)


def _torch_fails(line, tensors, side) -> bool:
    """The median of memory that repeats: PyTorch's is wrong. Shares of integers, which it has not."""
    if "@" in line and any(t.ndim > 2 and 0 in t.stride() for t in tensors):
        return True  # which product it computes depends on its memory
    if "conv_transpose2d" in line and 1 in (*tensors[0].shape, 1 - tensors[0].ndim):
        return True  # of one row or column it lets nothing come, or refuses that
    if "conv" in line and not all(t.isfinite().all() for t in tensors):
        return True  # which zeros of a padding meet an infinity
    if re.search(r"\[(:,|\.\.\.,|None,)?\[", line) and any(0 in t.stride() for t in tensors):
        return True  # how its copy lies in memory
    if "inference" in line and "deepcopy" in line:
        return True
    if "Viewed" in line and (not tensors[0].requires_grad or re.search("no_grad|False|inference", line)):
        return True  # it refuses to show the view
    return (".median(" in line and (0 in tensors[0].stride() or not tensors[0].numel())) or (
        re.search(r"softmax\(|cross_entropy\(", line) and not all(t.is_floating_point() for t in tensors)
    )


def _rounds(line, tensors, side) -> bool:
    """A remainder that is nearly nothing or nearly the divisor: rounding decides."""
    if "%" not in line or len(tensors) < 2:
        return False
    try:
        left = (tensors[-2] % tensors[-1]).abs()
        near = ((left < 1e-3) & (left > 0)) | ((tensors[-1].abs() - left).abs() < 1e-3) | (tensors[-2].abs() > 99)
        return bool(near.any())
    except Exception:
        return False


def _is_sunk(line, tensors, side) -> bool:
    """A view that requires grad as its base does, but was made unrecorded: its gradient is computed and dropped."""
    return "hooks(" in line and any(t.requires_grad and t.is_leaf and t._is_view() for t in tensors)


def _is_set(line, tensors, side) -> bool:
    """Inference tensors that require grad: PyTorch records no operation that has only such."""
    return all(is_inference(tensor) for tensor in tensors) and any(tensor.requires_grad for tensor in tensors)


_UNLIKE = (
    _has_tangents, _shows_derivatives, _cuts_inference, _reshapes, _overwrites, _torch_fails, _rounds, _is_sunk,
    _is_set,
)  # fmt: skip


def is_inference(tensor) -> bool:
    """Whether this is an inference tensor."""
    return getattr(tensor, "is_inference", bool)()


PATTERNS = [re.compile(pattern) for each in DIFFERENCES.values() for pattern in each]


def known(line: str, error: str | None) -> bool:
    """Whether what PyTorch says to a line is among the known differences."""
    return error is not None and any(pattern.search(f"{line}\n{error}") for pattern in PATTERNS)
