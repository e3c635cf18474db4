"""Is anything recorded? One state per thread, and the context managers that set it.

PyTorch counterpart: ``torch/autograd/grad_mode.py``.
"""

import threading
from threading import get_ident

from ..decorators import DecoratorContextManager, NoParamDecoratorContextManager

OFF, ON, INFERENCE = 0, 1, -1


class _Mode(threading.local):
    """`state` is ON, OFF or INFERENCE. A class attribute gives every new thread its start value.

    A threading.local and not a ContextVar: what one notebook cell sets has to last into the next.
    """

    state = ON


mode = _Mode()

# The threads in which grad mode is not simply on. While it is empty, which is most of the time, an
# operation need not look up its thread's state, and that look-up takes as long as three ordinary ones.
switched_off: set = set()
# Those of them that are in inference mode: what they make has no version counter.
inferring: set = set()


def set_state(state: int) -> int:
    """Set this thread's state and return the one that it had."""
    previous = mode.state
    if state != previous:
        mode.state = state
        (switched_off.discard if state == ON else switched_off.add)(get_ident())
        if INFERENCE in (state, previous):
            (inferring.add if state == INFERENCE else inferring.discard)(get_ident())
    return previous


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread.

    >>> is_grad_enabled()
    True
    """
    return mode.state > 0


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode()``."""
    return mode.state < 0


class _GradMode(DecoratorContextManager):
    """Subclasses say which state they ask for."""

    def __enter__(self):
        self.previous = set_state(self.wanted())

    def __exit__(self, *exception):
        set_state(self.previous)

    def wanted(self) -> int:
        raise NotImplementedError


class no_grad(NoParamDecoratorContextManager, _GradMode):
    """Nothing inside is recorded: results have ``requires_grad=False`` and no ``grad_fn``.

    Context manager or decorator. PyTorch counterpart: ``torch.no_grad``.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """

    def wanted(self) -> int:
        return INFERENCE if mode.state < 0 else OFF

    def __enter__(self):  # what the class it inherits from does, in half the time: every training step does it
        self.previous = state = mode.state
        if state > 0:
            mode.state = OFF
            switched_off.add(get_ident())


class enable_grad(NoParamDecoratorContextManager, _GradMode):
    """Record again inside a ``no_grad`` block. PyTorch counterpart: ``torch.enable_grad``."""

    def wanted(self) -> int:
        return INFERENCE if mode.state < 0 else ON


class set_grad_enabled(_GradMode):
    """Switch recording on or off: at once when called, for the block when used with ``with``.

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
        self.previous = set_state(self.wanted())

    def __enter__(self):
        set_state(self.wanted())

    def wanted(self) -> int:
        return INFERENCE if mode.state < 0 else ON if self.mode else OFF

    def clone(self):
        return set_grad_enabled(self.mode)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def __call__(self, function):
        set_state(self.previous)
        return super().__call__(function)


class inference_mode(_GradMode):
    """``no_grad`` for good: what is made inside can never be recorded later.

    PyTorch counterpart: ``torch.inference_mode``.
    """

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if callable(mode):
            self.mode = True
            return self(mode)
        return self

    def __init__(self, mode: bool = True):
        self.mode = mode

    def wanted(self) -> int:
        return INFERENCE if self.mode else ON

    def clone(self):
        return inference_mode(self.mode)
