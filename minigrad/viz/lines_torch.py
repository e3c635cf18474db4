"""What watches PyTorch's calls inside a `lines` block: a TorchFunctionMode, where PyTorch is imported already."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .lines import MAX_VALUES, Log
from .pytorch import memory

# Attributes of a tensor that are other tensors on its memory. (Asking for any attribute is a call, too.)
_SHOWN = {"data", "T", "mT", "H", "mH", "real", "imag"}
# Methods that make no tensor and lose none: Modules ask for them often.
_PLAIN = {"size", "dim", "numel", "stride", "is_floating_point", "is_contiguous", "element_size", "__len__"}


def torch_module() -> Any:
    """PyTorch, if the user has imported it; None otherwise, and where minigrad stands in its place."""
    torch = sys.modules.get("torch")
    return torch if hasattr(sys.modules.get("torch.overrides"), "TorchFunctionMode") else None


class Theirs:
    """PyTorch, as a log sees it."""

    name = "torch"

    def __init__(self, torch: Any):
        self.kind = torch.Tensor
        self.recording: Callable[[], bool] = torch.is_grad_enabled
        self.newest: Callable[[], int] = torch._C._autograd._get_sequence_nr

    def see(self, tensors: list) -> list[tuple]:
        try:
            return [(at, id(t), t.untyped_storage().data_ptr(), t._version, t.requires_grad) for at, t in tensors]
        except (RuntimeError, NotImplementedError):  # one has no memory or no version
            return [(at, id(t), memory(t) or 0, self.version(t), t.requires_grad) for at, t in tensors]

    def is_changed(self, tensors: list, inputs: list[tuple]) -> bool:
        try:
            return [tensor._version for _, tensor in tensors] != [seen[3] for seen in inputs]
        except RuntimeError:  # one has no version
            return [self.version(tensor) for _, tensor in tensors] != [seen[3] for seen in inputs]

    def version(self, tensor: Any) -> int:
        try:
            return tensor._version
        except RuntimeError:  # an inference tensor
            return -1

    def value(self, tensor: Any) -> Any:
        small = tensor.device.type == "cpu" and tensor.numel() <= MAX_VALUES
        return tensor.tolist() if small else None


_names: dict[Any, str] = {}


def name_of(function: Any) -> str:
    """`add_` for Tensor.add_; for an attribute its name, with `=` where it is set, "" for what is of no interest."""
    name = getattr(function, "__name__", "")
    if name in ("__get__", "__set__", "__delete__"):
        attribute = getattr(function.__self__, "__name__", "")
        if name == "__set__":
            return attribute + "="
        return attribute if attribute in _SHOWN else ""
    return "" if name in _PLAIN else name


@contextmanager
def watch_torch(log: Log) -> Iterator[None]:
    """Note PyTorch's calls for as long as the block lasts."""
    torch = torch_module()
    if torch is None:
        yield
        return
    face = Theirs(torch)

    kind: Any = torch.overrides.TorchFunctionMode

    class Mode(kind):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            name = _names.get(function)
            if name is None:
                name = _names[function] = name_of(function)
            if not name or name == "backward":  # the latter is noted below
                return function(*args, **(kwargs or {}))
            return log.watch(face, name, function, args, kwargs or {})

    with Mode(), _wrapped(torch, log, face):
        yield


@contextmanager
def _wrapped(torch: Any, log: Log, face: Theirs) -> Iterator[None]:
    """What the mode does not see: torch.autograd.backward, torch.from_numpy, and the apply of a Function."""
    Function, backward, from_numpy = torch.autograd.Function, torch.autograd.backward, torch.from_numpy
    apply = vars(Function)["apply"]

    def noted(name, function):
        def call(*args, **kwargs):
            if log.is_ignored():  # in another thread
                return function(*args, **kwargs)
            return log.watch(face, name, function, args, kwargs)

        return call

    def noted_apply(cls, *args, **kwargs):
        def call(*args, **kwargs):
            return apply.__get__(None, cls)(*args, **kwargs)

        return call(*args, **kwargs) if log.is_ignored() else log.watch(face, "apply", call, args, kwargs)

    torch.autograd.backward, Function.apply = noted("backward", backward), classmethod(noted_apply)
    torch.from_numpy = noted("from_numpy", from_numpy)
    try:
        yield
    finally:
        torch.autograd.backward, Function.apply, torch.from_numpy = backward, apply, from_numpy
