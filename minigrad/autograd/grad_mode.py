"""Grad mode and inference mode, a setting for each thread, and the context managers that change it.

PyTorch counterpart: ``torch/autograd/grad_mode.py``.
"""

import threading
from threading import get_ident

from ..decorators import DecoratorContextManager, NoParamDecoratorContextManager


class _Mode(threading.local):
    """Whether this thread records, and whether it is in inference mode (in which nothing is recorded).

    Class attributes give every new thread its start values. A threading.local and not a ContextVar: what one
    notebook cell sets has to last into the next.
    """

    recording = True
    inference = False
    enabled = False  # what is_grad_enabled() says in inference mode: True in an enable_grad() block there


mode = _Mode()

# The threads in which nothing is recorded. While it is empty, as most of the time, an operation need not read `mode`:
# an attribute of a threading.local takes three times as long as an ordinary one.
threads_without_grad: set = set()
# Those of them in inference mode: the tensors that they make have no version counter.
threads_in_inference: set = set()


def set_mode(recording: bool, inference: bool = False, enabled: bool = False) -> tuple[bool, bool, bool]:
    """Set this thread's mode and return the one that it had, as the arguments that set it again."""
    previous = mode.recording, mode.inference, mode.enabled
    mode.recording = recording
    (threads_without_grad.discard if recording else threads_without_grad.add)(get_ident())
    if inference or enabled or previous[1] or previous[2]:  # seldom, and to write them takes time
        mode.inference, mode.enabled = inference, enabled
        (threads_in_inference.add if inference else threads_in_inference.discard)(get_ident())
    return previous


class _AnomalyMode:
    """Whether anomaly mode is on, in all threads, and the nodes whose derivatives are running in it."""

    def __init__(self):
        self.enabled, self.check_nan = False, True
        self.evaluating: list = []


anomaly = _AnomalyMode()


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread. PyTorch counterpart: ``torch.is_grad_enabled``.

    >>> is_grad_enabled()
    True
    """
    return mode.recording or mode.enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode()``. PyTorch: ``torch.is_inference_mode_enabled``."""
    return mode.inference


class _GradMode(DecoratorContextManager):
    """The base class: subclasses say in `wanted` whether to record. In inference mode nothing is recorded anyway."""

    def __enter__(self):
        self.previous = mode.recording, mode.inference, mode.enabled
        try:  # an interrupt leaves the mode as it was
            set_mode(*self.modes())
        except BaseException:
            set_mode(*self.previous)
            raise

    def modes(self) -> tuple[bool, ...]:
        return self.wanted() and not mode.inference, mode.inference, self.wanted() and mode.inference

    def __exit__(self, *exception):
        try:
            set_mode(*self.previous)
        except BaseException:
            set_mode(*self.previous)
            raise

    def wanted(self) -> bool:
        raise NotImplementedError


class no_grad(NoParamDecoratorContextManager, _GradMode):
    """Nothing inside is recorded: results have ``requires_grad=False`` and no ``grad_fn``.

    Context manager or decorator. PyTorch counterpart: ``torch.no_grad``.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """

    def __enter__(self):  # as inherited, in half the time: every training step enters it
        if mode.recording:
            self.previous = (True, False, False)
            try:
                mode.recording = False
                threads_without_grad.add(get_ident())
            except BaseException:
                set_mode(True)
                raise
        else:
            self.previous = set_mode(False, mode.inference)


class enable_grad(NoParamDecoratorContextManager, _GradMode):
    """Operations inside a ``no_grad`` block are recorded again. PyTorch counterpart: ``torch.enable_grad``."""

    def wanted(self) -> bool:
        return True


class set_grad_enabled(_GradMode):
    """Switch recording on or off: at once when called, for the block when used with ``with``.

    TypeError if `mode` is not a bool. PyTorch counterpart: ``torch.set_grad_enabled``.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, mode: bool):
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode = mode
        super().__enter__()

    def __enter__(self):
        try:
            set_mode(*self.modes())
        except BaseException:
            set_mode(*self.previous)
            raise

    def wanted(self) -> bool:
        return self.mode

    def clone(self):
        return set_grad_enabled(self.mode)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def __call__(self, function):
        set_mode(*self.previous)
        return super().__call__(function)


class inference_mode(_GradMode):
    """Nothing inside is recorded, and no operation on the tensors made inside can be recorded later.

    PyTorch counterpart: ``torch.inference_mode``.

    >>> with inference_mode():
    ...     is_inference_mode_enabled()
    True
    """

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if callable(mode):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode: bool = True):
        self.mode = mode

    def modes(self) -> tuple[bool, ...]:
        return not self.mode, self.mode

    def clone(self):
        return inference_mode(self.mode)
