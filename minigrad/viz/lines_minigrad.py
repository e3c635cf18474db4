"""What watches minigrad's calls inside a `lines` block: wrappers around its operations, put on and taken off."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from .. import autograd, nn
from ..autograd.function import Function
from ..autograd.grad_mode import mode
from ..autograd.node import Node, creation_hooks
from ..autograd.versions import UNCOUNTED
from ..conversions import Conversions
from ..tensor import Tensor
from .lines import MAX_VALUES, WALKS, Log
from .live import storage

# Methods of Tensor that make no tensor and lose none.
_PLAIN = {"size", "dim", "numel", "is_floating_point", "is_contiguous", "stride", "element_size", "meta", "type"}
_OPERATORS = (
    "add radd sub rsub mul rmul truediv rtruediv pow rpow neg matmul rmatmul abs mod rmod floordiv rfloordiv and "
)
_OPERATORS += "or xor invert eq ne lt le gt ge getitem setitem float int bool index array complex iadd isub imul "
_OPERATORS += "itruediv ipow imod ifloordiv"
_DUNDERS = {f"__{name}__" for name in _OPERATORS.split()}
_PROPERTIES = ("requires_grad", "data", "T", "mT")


class Ours:
    """minigrad, as a log sees it."""

    name = "minigrad"
    kind = Tensor

    def __init__(self):
        self.last = 0

    def see(self, where: Any, tensor: Tensor) -> tuple:
        return where, id(tensor), storage(tensor) or 0, self.version(tensor), tracked(tensor)

    def is_changed(self, tensors: list, inputs: list[tuple]) -> bool:
        return any(self.version(tensor) != seen[3] for tensor, seen in zip(tensors, inputs, strict=True))

    def version(self, tensor: Tensor) -> int:
        return -1 if tensor._version_counter is UNCOUNTED else int(tensor._version_counter[0])

    def value(self, tensor: Tensor) -> Any:
        return tensor._array.tolist() if tensor._array.size <= MAX_VALUES else None

    def recording(self) -> bool:
        return mode.recording

    def newest(self) -> int:
        return self.last


def tracked(tensor: Tensor) -> bool:
    """Whether a tensor requires grad; of a view that may no longer be used it is not asked."""
    try:
        return tensor._node is not None
    except RuntimeError:
        return True


@contextmanager
def watch_minigrad(log: Log) -> Iterator[None]:
    """Note minigrad's calls for as long as the block lasts."""
    face, undo = Ours(), []

    def count(node: Node) -> None:
        face.last = max(face.last, -node._order)

    def put(owner: Any, name: str, value: Any) -> None:
        undo.append((owner, name, vars(owner)[name]))
        setattr(owner, name, value)

    creation_hooks.append(count)
    try:
        for owner, name in _watched():
            put(owner, name, _wrapped(log, face, name, vars(owner)[name]))
        yield
    finally:
        creation_hooks.remove(count)
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)


def _watched() -> Iterator[tuple[Any, str]]:
    """(owner, name) of all that is wrapped."""
    for owner in (Tensor, Conversions):
        for name, value in list(vars(owner).items()):
            method = isinstance(value, FunctionType) and (name[0] != "_" or name in _DUNDERS) and name not in _PLAIN
            if method or name in _PROPERTIES:
                yield owner, name
    for module in (import_module(__package__.partition(".")[0]), nn.functional, autograd):
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and name[0] != "_" and _is_operation(module, name):
                yield module, name
    yield Function, "apply"


def _is_operation(module: ModuleType, name: str) -> bool:
    return name in WALKS if module is autograd else name not in ("draw", "make_dot", "is_tensor")


def _wrapped(log: Log, face: Ours, name: str, original: Any) -> Any:
    """The same method, function or property, noted in the log."""
    if isinstance(original, property):
        get, set, delete = (part and _noted(log, face, name + end, part) for part, end in _parts(original))
        return property(original.fget if name == "requires_grad" else get, set, delete)
    if isinstance(original, classmethod):
        return classmethod(_noted(log, face, "apply", original.__func__, open=True))
    return _noted(log, face, name, original, open=name in WALKS)


def _parts(original: property) -> tuple:
    return (original.fget, ""), (original.fset, "="), (original.fdel, "")


def _noted(log: Log, face: Ours, name: str, function: Callable, open: bool = False) -> Callable:
    """A function whose calls are noted; of one that is `open` those that it makes, too: they may be the user's."""

    def noted(*args, **kwargs):
        if log.is_ignored():
            return function(*args, **kwargs)
        log.busy = not open
        try:
            return log.watch(face, name, function, args, kwargs)
        finally:
            log.busy = False

    # functools.wraps does the same; for the hundreds of functions of a block it takes a third longer.
    noted.__module__, noted.__name__, noted.__qualname__ = function.__module__, function.__name__, function.__qualname__
    noted.__doc__, noted.__dict__ = function.__doc__, {**function.__dict__, "__wrapped__": function}
    return noted
