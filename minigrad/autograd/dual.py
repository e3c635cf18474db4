"""The Dual tensor, by which operations know that a tensor has a tangent; tangents.py computes it."""

from ..messages import refusal
from ..tensor import Tensor

# The level of forward mode that is entered, if one is: operations on a Dual are left to it.
dual_levels: list = []


class Dual(Tensor):
    """A tensor with a tangent: a subclass, so that operations do not take their fast path for it."""

    __slots__ = ()

    def detach_(self) -> Tensor:
        """Cut this tensor from its history and its tangent, in place."""
        if self._is_view():
            raise refusal("detach_ of a view", about=self)
        dual_levels[0].drop(self)
        return self.detach_()


Dual.__name__ = Tensor.__name__  # as programs and error messages show it


class SavingForForward:
    """The part of a Function's ctx that is there for its jvp."""

    __slots__ = ()
    saved_for_forward: tuple = ()

    def save_for_forward(self, *tensors) -> None:
        """Keep tensors for jvp, which finds them in ``saved_tensors``. None is allowed."""
        if not all(tensor is None or isinstance(tensor, Tensor) for tensor in tensors):
            raise refusal("saved for forward is no tensor")
        self.saved_for_forward = tensors if dual_levels else ()  # type: ignore[misc]  # in the ctx's __dict__
