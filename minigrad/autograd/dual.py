"""What tells operations that a tensor has a tangent. What they do then is in forward_ad.py, far above them."""

from ..messages import refusal
from ..tensor import Tensor

# The level of forward mode that is entered, if one is: operations on a Dual are left to it.
dual_levels: list = []


class Dual(Tensor):
    """What a tensor is while it has a tangent. Operations look twice at what is no plain Tensor, and at that only."""

    __slots__ = ()

    def detach_(self) -> Tensor:
        """Cut this tensor from its history and its tangent, in place."""
        if self._is_view():
            raise refusal("detach_ of a view")
        dual_levels[0].drop(self)
        return self.detach_()
