"""What watches PyTorch's calls inside a `lines` block: a TorchFunctionMode, where PyTorch is imported already."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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

    def see(self, where: Any, tensor: Any) -> tuple:
        try:
            memory_of = tensor.untyped_storage().data_ptr()
            return where, id(tensor), memory_of, tensor._version, tensor.requires_grad
        except (RuntimeError, NotImplementedError):  # it has no memory or no version
            return where, id(tensor), memory(tensor) or 0, self.version(tensor), tensor.requires_grad

    def is_changed(self, tensors: list, inputs: list[tuple]) -> bool:
        try:
            return [tensor._version for tensor in tensors] != [seen[3] for seen in inputs]
        except RuntimeError:  # one has no version
            return [self.version(tensor) for tensor in tensors] != [seen[3] for seen in inputs]

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

    with Mode() as mode, _wrapped(torch, log, face, mode):
        yield


@contextmanager
def _wrapped(torch: Any, log: Log, face: Theirs, mode: Any) -> Iterator[None]:
    """What the mode does not see: torch.autograd.backward, torch.from_numpy, a Function's apply. And attention."""
    Function, functional = torch.autograd.Function, torch.nn.functional
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

    attention = _noted_attention(torch.overrides, functional.multi_head_attention_forward, log, face, mode)
    wrappers = (
        (torch.autograd, "backward", noted("backward", torch.autograd.backward)),
        (torch, "from_numpy", noted("from_numpy", torch.from_numpy)),
        (Function, "apply", classmethod(noted_apply)),
        (functional, "multi_head_attention_forward", attention),
    )
    with ExitStack() as undo:
        for owner, name, wrapper in wrappers:
            undo.callback(setattr, owner, name, vars(owner)[name])
            setattr(owner, name, wrapper)
        yield


def _noted_attention(overrides: Any, attention: Callable, log: Log, face: Theirs, mode: Any) -> Callable:
    """The attention of nn.functional, noted without its asking the mode.

    It is written in Python, with 25 arguments: PyTorch takes longer to ask a mode about it than we do to note it.
    """

    def noted(*args, **kwargs):
        if log.is_ignored() or overrides._get_current_function_mode() is not mode:  # another mode comes first
            return attention(*args, **kwargs)
        overrides._pop_mode()
        try:
            return log.watch(face, attention.__name__, attention, args, kwargs)
        finally:
            overrides._push_mode(mode)

    return noted
