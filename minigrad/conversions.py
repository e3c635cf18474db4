"""Conversions of a tensor to Python numbers, lists and NumPy arrays, which have no history.

PyTorch counterparts: the methods of the same names in ``torch/_tensor.py``.
"""

from typing import TYPE_CHECKING

import numpy as np

from .autograd.grad_mode import mode
from .messages import SCALAR_OF_TRACKED, refusal, warn_once

if TYPE_CHECKING:
    from .bound import Bound  # bound.pyi: the methods that are bound to Tensor from outside
else:
    Bound = object


class Conversions(Bound):
    """The methods of Tensor that give numbers, lists and arrays."""

    __slots__ = ()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The values as a NumPy array on the same memory: a change of one shows in the other.

        RuntimeError if the tensor requires grad, unless `force`. PyTorch counterpart: ``torch.Tensor.numpy``.

        >>> import minigrad as mg
        >>> mg.tensor([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        if self._node is not None and mode.recording and not force:
            raise refusal("numpy of a tracked tensor", about=self)
        return self._array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numpy(), dtype, copy=copy)

    def tolist(self):
        """The values as nested lists of Python numbers. PyTorch counterpart: ``torch.Tensor.tolist``.

        >>> import minigrad as mg
        >>> mg.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self._array.tolist()

    def item(self):
        """The only element as a Python number, without history. RuntimeError unless there is exactly one.

        PyTorch counterpart: ``torch.Tensor.item``.

        >>> import minigrad as mg
        >>> mg.tensor([2.5]).item()
        2.5
        """
        if self._array.size != 1:
            raise refusal("item of several", self._array.size, about=self)
        return self._array.item()

    def __bool__(self):
        if self._array.size != 1:
            raise refusal("bool of several" if self._array.size else "bool of none", about=self)
        return bool(self._array)

    def _number(self):
        """The only element, for float() and the like: the history is lost, of which they warn once."""
        if self.requires_grad and mode.recording:
            warn_once(SCALAR_OF_TRACKED, stacklevel=4)
        if self._array.size != 1:
            raise refusal("number of several", about=self)
        return self._array.item()

    def __float__(self):
        return float(self._number())

    def __int__(self):
        if self._array.size != 1:
            raise refusal("number of several", about=self)
        return int(self._array.item())  # unlike float(), PyTorch's int() does not warn of the history

    def __complex__(self):
        return complex(self._number())

    def __index__(self):
        if self._dtype.kind not in "iub" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._array.item())

    def __format__(self, form):
        return format(self._array.item(), form) if not self._array.ndim else object.__format__(self, form)

    def __iter__(self):
        if not self._array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, value):
        if not isinstance(value, (int, float, np.generic, Conversions)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
            )
        return bool((self._array == value).any())
