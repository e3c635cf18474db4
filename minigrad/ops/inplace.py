"""Operations that overwrite: the row's forward, written into the tensor's own memory.

An in-place operation is refused on a leaf that requires grad, raises the version that saved values are
checked against, and gives the tensor a new grad_fn where it is recorded.
"""

import numpy as np

from .. import dtypes
from ..autograd.grad_mode import mode
from ..autograd.graph import FRESH, own_counter
from ..messages import refusal, shapes_refused
from ..tensor import Tensor, wrap
from . import pointwise


def in_place(operation):
    """The in-place form of a row: ``mul`` gives ``mul_``."""
    forward, ufunc, name = operation.row.forward, operation.row.ufunc, operation.row.name + "_"

    def method(self, *args, **options):
        if (self._edge or any(getattr(a, "_edge", None) for a in args)) and mode.state > 0:
            return recorded(self, operation, args, options)
        if ufunc and len(args) == 1 and args[0].__class__ is Tensor and args[0]._dtype is self._dtype:
            try:
                ufunc(self._array, args[0]._array, self._array)  # without a temporary
            except ValueError as error:
                raise shapes_refused(operation.row.op_name, error, self._array, args[0]._array) from None
            if self._counter is FRESH:
                self._counter = [0]
            self._counter[0] += 1
            return self
        write(self, forward(self._array, *(a._array if isinstance(a, Tensor) else a for a in args), **options))
        return self

    method.__name__ = name
    method.__doc__ = f"In place: {operation.__doc__}"
    return method


def recorded(self: Tensor, operation, args, options) -> Tensor:
    """Record the operation on what the tensor was, then make the tensor its result."""
    check_recordable(self)
    before = wrap(self._array.copy() if "self" in operation.row.buffers else self._array, self._counter)
    before._edge, before._meta = self._edge, self._meta
    after = operation(before, *args, **options)
    write(self, after._array)
    node = after._edge
    if "result" in node.kind.saved_names:
        at, kept = node.kind.saved_names.index("result"), (self._array, self._counter, self._version)
        node.saved = (*node.saved[:at], *kept, *node.saved[at + 3 :])
    self._edge = node
    return self


def check_recordable(self: Tensor) -> None:
    """Refuse what would make a leaf's gradient meaningless."""
    base = self._meta.base if self._meta is not None else None
    if self.requires_grad and self.is_leaf:
        what = "a leaf Variable"
    elif base is not None and base.requires_grad and base.is_leaf:
        what = "a view of a leaf Variable"
    elif base is not None:
        raise NotImplementedError(
            "minigrad: an in-place change of a view is not recorded yet; use no_grad() or clone()."
        )
    else:
        return
    raise refusal("in place", what)


def write(self: Tensor, values) -> None:
    """Overwrite the memory and raise the version of everything that shares it."""
    values = np.asarray(values)
    if not np.can_cast(values.dtype, self._dtype, "same_kind"):
        names = [dtypes.from_numpy_dtype(d).tensor_type.removesuffix("Tensor") for d in (values.dtype, self._dtype)]
        raise RuntimeError("result type {} can't be cast to the desired output type {}".format(*names))
    if values.shape != self._array.shape:
        shapes = (list(self._array.shape), list(values.shape))
        raise RuntimeError("output with shape {} doesn't match the broadcast shape {}".format(*shapes))
    self._array[...] = values
    own_counter(self)[0] += 1


@pointwise.op(node="ZeroBackward0", self=lambda grad: grad * 0)
def zero(self):
    """Zeros."""
    return np.zeros_like(self)


@pointwise.op(node="FillBackward0", self=lambda grad: grad * 0)
def fill(self, value):
    """One value everywhere."""
    return np.full_like(self, value)


@pointwise.op(node="CopyBackwards", self=lambda grad: grad * 0, src=lambda grad: grad)
def copy(self, src):
    """The values of another tensor."""
    return np.broadcast_to(src, self.shape).astype(self.dtype)


def setitem(self: Tensor, key, value) -> None:
    """``self[key] = value``, refused where it would have to be recorded."""
    values = value._array if isinstance(value, Tensor) else value
    if mode.state > 0 and (self._edge or getattr(value, "requires_grad", False)):
        if self.requires_grad and self.is_leaf:
            check_recordable(self[...])
        raise NotImplementedError(
            "minigrad: an in-place change of a view is not recorded yet; use no_grad() or clone()."
        )
    keys = key if isinstance(key, tuple) else (key,)
    self._array[tuple(k._array if isinstance(k, Tensor) else k for k in keys)] = values
    own_counter(self)[0] += 1
