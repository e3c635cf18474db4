"""PyTorch's graph, as far as it shows itself: what `live` reads from minigrad's, read from PyTorch's tensors and nodes.

minigrad never imports PyTorch; this works on the objects that it is given.
"""

import re
import sys
import traceback
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from ..autograd.node import Packed

# What the inputs of an operation are called among its saved values, by their positions.
_INPUTS = (("self", "input", "mat1", "tensors"), ("other", "mat2", "exponent", "weight", "batch2", "target"))
FREED = object()
LEAF_NUMBER = 2**64 - 1


class Overwritten(NamedTuple):
    """In the place of a saved value that PyTorch no longer shows: what its sentence says of it."""

    words: str
    expected: int
    current: int


@cache
def _saved_names(kind: Any) -> tuple[str, ...]:
    """The names under which nodes of a class show what they saved."""
    return tuple(name for name in dir(kind) if name.startswith("_saved_"))


def saved_names(node: Any) -> tuple[str, ...]:
    """The names under which a node shows what it saved."""
    kind: Any = type(node)
    return _saved_names(kind)


def is_theirs(thing: Any) -> bool:
    """Whether a tensor or a node is PyTorch's: minigrad's have the engine's node."""
    return not hasattr(thing, "_node")


def saved_values(node: Any) -> list[tuple]:
    """(name, value, version when saved, version now) of what a node saved; the value is None once freed."""
    found: list[tuple] = []
    for name, value in sorted(saved(node), key=lambda entry: [entry[0] not in names for names in _INPUTS]):
        if isinstance(value, Overwritten):
            found.append((name, value, value.expected, value.current))
        elif name not in _OPTIONS:
            found.append((name, None if value is FREED else value, None, None))
    return found


_OPTIONS = ("alpha", "self_sym_sizes")  # say nothing that is worth a node


def constants(node: Any) -> tuple:
    """Per input: None where a gradient goes, else the number or the tensor that was saved of it; ... if it was not."""
    kept = dict(saved(node))
    found: list = []
    for position, (following, _) in enumerate(node.next_functions):
        names = _INPUTS[position] if position < len(_INPUTS) else ()
        value = next((kept[name] for name in names if name in kept), None)
        unknown = value is None or value is FREED or isinstance(value, Overwritten | Packed | tuple)
        found.append(None if following is not None or unknown else _plain(value))
    return tuple(found)


def _plain(value: Any) -> Any:
    """A Python number in an operation is saved as a tensor without dimensions: the number again."""
    is_number = hasattr(value, "dim") and value.dim() == 0 and not value.requires_grad
    return value.item() if is_number and value.device.type == "cpu" else value


def has_buffers(node: Any) -> bool:
    """Whether a node has saved tensors, which a backward frees."""
    return any(name.startswith("_raw_saved_") for name in dir(node)) or hasattr(type(node), "saved_tensors")


def edge_of(tensor: Any) -> tuple[Any, int]:
    """The node that a tensor's gradient goes to, and at which of its outputs."""
    if tensor.grad_fn is not None:
        return tensor.grad_fn, tensor.output_nr
    module = sys.modules[type(tensor).__mro__[-3].__module__.partition(".")[0]]
    return module.autograd.graph.get_gradient_edge(tensor).node, 0


def output_like(node: Any, index: int) -> tuple:
    """Shape and dtype of one of a node's outputs, (None, None) where PyTorch does not say."""
    try:
        like = node._input_metadata[index]
        return tuple(like.shape), like.dtype
    except (AttributeError, IndexError, RuntimeError):
        return None, None


def memory(tensor: Any) -> int | None:
    """Where the tensor's memory begins; None where it has none."""
    try:
        return tensor.untyped_storage().data_ptr() or None
    except (RuntimeError, NotImplementedError):
        return None


def shares_version(one: Any, other: Any) -> bool:
    """Whether two tensors have one version counter: a detach() has its source's, .data one of its own.

    PyTorch tells it only by changing one of them: its version is raised, looked at from the other, and set back.
    """
    module = sys.modules[type(one).__module__.partition(".")[0]]
    set_version = module._C._autograd._unsafe_set_version_counter
    version = one._version
    if version != other._version:
        return False
    set_version((one,), (version + 1,))
    shared = other._version != version
    set_version((one,), (version,))
    return shared


def creation_meta(tensor: Any) -> str:
    """Why a view may not be recorded: "no_grad", "inference" or ""."""
    module = sys.modules[type(tensor).__module__.partition(".")[0]]
    if not tensor._is_view():
        return ""
    name = module._C._autograd._get_creation_meta(tensor).name
    return {"NO_GRAD_MODE": "no_grad", "INFERENCE_MODE": "inference"}.get(name, "")


def hook_counts(thing: Any) -> dict[str, int]:
    """How many hooks a tensor has, by kind. Of those of a node PyTorch says nothing."""
    counts = (("hook", "_backward_hooks"), ("post-accumulate hook", "_post_accumulate_grad_hooks"))
    return {kind: len(getattr(thing, attribute, None) or ()) for kind, attribute in counts}


def saved(node: Any) -> list[tuple[str, Any]]:
    """(name, value) of what a node saved; the value is FREED or Overwritten where PyTorch refuses to show it."""
    found = [(name[7:], peek(node, name)) for name in saved_names(node)]
    if not found and hasattr(type(node), "saved_tensors"):  # a Function's
        tensors = peek(node, "saved_tensors")
        several = tensors if isinstance(tensors, tuple) and not isinstance(tensors, Overwritten) else (tensors,)
        found = [(f"saved_tensors[{i}]", each) for i, each in enumerate(several)]
    return [(name, value) for name, value in found if value is not None]


def peek(node: Any, attribute: str) -> Any:
    """What a node saved under that name; FREED or Overwritten where PyTorch refuses.

    What a hook has packed stays packed: to unpack it is the user's code, which may compute the forward once more.
    """
    try:
        raw = getattr(
            node, f"_raw{attribute if attribute[0] == '_' else f'_{attribute}'}", None
        )  # of a list it refuses
        if any(getattr(each, "unpack_hook", None) is not None for each in (raw if isinstance(raw, tuple) else (raw,))):
            return Packed(None, None)
        return getattr(node, attribute)
    except RuntimeError as error:
        return overwritten(str(error)) or FREED


def overwritten(sentence: str) -> Overwritten | None:
    """What PyTorch's sentence says of a value that was overwritten; None if it is another sentence."""
    found = re.search(r"\[([\w.]*Tensor) (\[.*?\])\].* is at version (\d+); expected version (\d+)", sentence)
    if found is None:
        return None
    kind, shape, current, expected = found.groups()
    return Overwritten(f"{kind.removeprefix('torch.')} {shape}", int(expected), int(current))


def order(node: Any) -> int:
    """The number of a node: higher for what was recorded later; 0 for an AccumulateGrad."""
    number = getattr(node, "_sequence_nr", int)()
    return 0 if number == LEAF_NUMBER else number + 1


def reachable(nodes: Iterable[Any]) -> list[Any]:
    """The nodes of a graph, each once, the latest first: in the order of a backward."""
    found: dict[Any, None] = {}
    stack = [node for node in nodes if node is not None]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack.extend(following for following, _ in node.next_functions if following is not None)
    return sorted(found, key=order, reverse=True)


def culprits(roots: Iterable[Any], error: BaseException) -> list[Any]:
    """The nodes that refuse as the error says, in the order of a backward.

    Of a second backward these are all that are freed: those that this backward itself came by are freed, too.
    """
    sentence = str(error)
    stale, found = overwritten(sentence), []
    for node in reachable(root.grad_fn for root in roots):
        for _, value in saved(node):
            if stale is None and value is FREED:
                found.append(node)
                break
            if isinstance(value, Overwritten) and stale is not None and value[:3] == stale[:3]:
                return [node]
    return found


def subjects(error: BaseException) -> tuple:
    """What a call of PyTorch's that is written in Python was given: the tensors that a backward started from."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        known, name = frame.f_locals, frame.f_code.co_name
        if not str(frame.f_globals.get("__name__")).startswith("torch"):
            continue
        given = {"backward": ("tensors", "self"), "grad": ("inputs", "outputs")}.get(name, ("self",))
        found = [each for key in given for each in _listed(known.get(key)) if hasattr(each, "grad_fn")]
        if found:
            return tuple(found)
    return ()


def _listed(value: Any) -> tuple:
    return tuple(value) if isinstance(value, list | tuple) else () if value is None else (value,)
