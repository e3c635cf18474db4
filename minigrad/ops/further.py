"""Further names that PyTorch has: other names of the operations, small operations, views in place.

PyTorch counterparts: the functions and methods of the same names.
"""

import numpy as np

from ..autograd.grad_mode import mode
from ..autograd.graph import UNCOUNTED, Kind
from ..dispatch import face_class, op
from ..factories import finish, numpy_of
from ..factories import tensor as tensor_of
from ..messages import refusal, type_name
from ..tensor import Tensor, wrap
from .inplace import check_recordable, in_place, raise_version, renew_views
from .pointwise import clamp_to_numbers, clone, masked_fill_number, masked_fill_tensor, tan
from .reduce import _chosen, _dims, _with_ones, sum_dim
from .shape import expand, sizes_of, squeeze, t, transpose, unsqueeze, view


def _share_of_reached(grad, self, result, dim, keepdim):
    """The gradient of an extreme along dimensions, in equal shares to the elements that reach it."""
    if not keepdim:
        shape = _with_ones(tuple(self.shape), dim)
        grad, result = view(grad, shape), view(result, shape)
    reached = self == result
    return reached * grad / sum_dim(reached, dim, True)


def _extreme(function, node):
    @op(node=node, name=function.__name__, self=_share_of_reached)
    def along(self, dim, keepdim):
        return function(self, _dims(self, dim), keepdims=keepdim)

    def extreme(self, dim=(), keepdim=False):
        return along(self, _chosen(self, (dim,) if isinstance(dim, int) else dim), keepdim)

    extreme.__name__ = function.__name__
    return extreme


amax, amin = _extreme(np.amax, "AmaxBackward0"), _extreme(np.amin, "AminBackward0")
amax.__doc__ = "The largest elements along one or more dimensions. Ties share the gradient equally."
amin.__doc__ = "The smallest elements along one or more dimensions. Ties share the gradient equally."


@op(np.isinf, constant=("self",))
def isinf(self):
    """Whether each element is infinite."""


@op(np.isfinite, constant=("self",))
def isfinite(self):
    """Whether each element is neither infinite nor nan."""


@op(constant=("self", "other"))
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether each pair is equal but for ``atol + rtol * |other|``."""
    return np.isclose(self, other, rtol, atol, equal_nan)


def allclose(input: Tensor, other: Tensor, rtol=1e-05, atol=1e-08, equal_nan=False) -> bool:
    """Whether all pairs are equal but for ``atol + rtol * |other|``. PyTorch counterpart: ``torch.allclose``."""
    if input.dtype is not other.dtype:
        kinds = (each.dtype.tensor_type.removesuffix("Tensor") for each in (input, other))
        raise RuntimeError("{} did not match {}".format(*kinds))
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements. PyTorch counterpart: ``torch.equal``."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 1) must be Tensor, not {type_name(other)}")
    return np.array_equal(input._array, other._array)


def empty_like(input: Tensor, dtype=None, requires_grad: bool = False) -> Tensor:
    """Another tensor's shape and dtype, with values that are not set yet. PyTorch: ``torch.empty_like``."""
    return finish(np.empty_like(input._array, numpy_of(dtype) if dtype else None), requires_grad)


def broadcast_to(input: Tensor, size) -> Tensor:
    """Repeat dimensions of length 1, without a copy. PyTorch counterpart: ``torch.broadcast_to``."""
    return expand(input, tuple(size))


def contiguous(self: Tensor) -> Tensor:
    """The tensor itself if its elements lie in order, else a copy. PyTorch counterpart: ``Tensor.contiguous``."""
    return self if self._array.flags.c_contiguous else clone(self)


def is_contiguous(self: Tensor) -> bool:
    """Whether the elements lie in memory in order. PyTorch counterpart: ``Tensor.is_contiguous``."""
    return self._array.flags.c_contiguous


def stride(self: Tensor, dim: int | None = None):
    """How many elements further the next one of each dimension is. PyTorch counterpart: ``Tensor.stride``."""
    steps = tuple(step // self._array.itemsize for step in self._array.strides)
    return steps if dim is None else steps[dim]


def new_zeros(self: Tensor, *size, dtype=None, requires_grad: bool = False) -> Tensor:
    """Zeros of a shape, in this tensor's dtype. PyTorch counterpart: ``Tensor.new_zeros``."""
    return finish(np.zeros(sizes_of(size), numpy_of(dtype or self.dtype)), requires_grad)


def new_ones(self: Tensor, *size, dtype=None, requires_grad: bool = False) -> Tensor:
    """Ones of a shape, in this tensor's dtype. PyTorch counterpart: ``Tensor.new_ones``."""
    return finish(np.ones(sizes_of(size), numpy_of(dtype or self.dtype)), requires_grad)


def new_tensor(self: Tensor, data, dtype=None, requires_grad: bool = False) -> Tensor:
    """A leaf with a copy of `data`, in this tensor's dtype. PyTorch counterpart: ``Tensor.new_tensor``."""
    return tensor_of(data, dtype or self.dtype, requires_grad)


def pickled(self: Tensor, protocol) -> tuple:
    """What pickle and ``copy.copy`` keep: the values, and whether the tensor requires grad. The copy is a leaf."""
    return unpickled, (self._array, self.requires_grad)


def unpickled(array: np.ndarray, requires_grad: bool) -> Tensor:
    """A leaf again, of what pickle has kept."""
    return finish(array, requires_grad)


Tensor.__reduce_ex__ = pickled


# -- in place ------------------------------------------------------------------------------------

_clamp_, tan_ = in_place(clamp_to_numbers), in_place(tan)
_fill_number_, _fill_tensor_ = in_place(masked_fill_number), in_place(masked_fill_tensor)


def clamp_(self: Tensor, min=None, max=None) -> Tensor:
    """In place: each element moved into the range from ``min`` to ``max``, numbers or None."""
    return _clamp_(self, min, max)


def masked_fill_(self: Tensor, mask: Tensor, value) -> Tensor:
    """In place: ``value``, a number or a 0-d tensor, where the mask holds."""
    return (_fill_tensor_ if isinstance(value, Tensor) else _fill_number_)(self, mask, value)


def square_(self: Tensor) -> Tensor:
    """In place: each element times itself."""
    return self.pow_(2)


# The nodes of views in place have names of their own.
_NODES = {"TBackward0": "TBackward1", "TransposeBackward0": "TransposeBackward1"}
_NODES |= {"UnsqueezeBackward0": "UnsqueezeBackward1"}
_NODES |= {f"SqueezeBackward{i}": f"SqueezeBackward{i + 3}" for i in range(3)}
_kinds: dict = {}


def _view_in_place(operation, name: str):
    """The in-place form of a view: the tensor becomes it, on the same memory, at another version."""

    def method(self, *args, **options):
        recording = mode.state > 0 and self.requires_grad
        if recording:
            check_recordable(self)
        if self._counter is UNCOUNTED and mode.state >= 0:
            raise refusal("in place, inference tensor")
        before = self.detach()
        before._edge = self._edge if recording else None
        after = operation(before, *args, **options)
        array, node = after._array, after._edge
        del after  # which is a view that nobody has
        if self._counter is not UNCOUNTED:
            raise_version(self, renew=False)
        if recording:
            self._array = array
            node.kind = _renamed(node.kind)
            self._edge = node  # hooks and retain_grad() stay with what it was
            self.meta().output_nr = 0
        else:
            self.data = wrap(array, self._counter)
        if self._counter is not UNCOUNTED:
            renew_views([0, *(each for each in self._counter[1:] if each() is not self)])
        return self

    method.__name__, method.__doc__ = name, f"In place: {operation.__doc__}"
    return method


def _renamed(kind: Kind) -> Kind:
    """The same kind of node under the name that it has in place."""
    name = _NODES[kind.face.__name__]
    if name not in _kinds:
        face = face_class(name, kind.name, kind.saved_names, kind.option_names)
        twin = _kinds[name] = Kind(kind.name, face, kind.saved_names, kind.option_names)
        twin.vjp, twin.vjp_recorded = kind.vjp, kind.vjp_recorded
    return _kinds[name]


t_, transpose_ = _view_in_place(t, "t_"), _view_in_place(transpose, "transpose_")
squeeze_, unsqueeze_ = _view_in_place(squeeze, "squeeze_"), _view_in_place(unsqueeze, "unsqueeze_")

for _function in (
    allclose, amax, amin, clamp_, contiguous, equal, is_contiguous, isclose, isfinite, isinf, masked_fill_, new_ones,
    new_tensor, new_zeros, square_, squeeze_, stride, t_, tan_, transpose_, unsqueeze_,
):  # fmt: skip
    setattr(Tensor, _function.__name__, _function)
Tensor.swapaxes_ = Tensor.swapdims_ = transpose_
for _name, _other in (
    ("absolute", "abs"), ("clip", "clamp"), ("divide", "div"), ("moveaxis", "movedim"), ("multiply", "mul"),
    ("ndimension", "dim"), ("negative", "neg"), ("nelement", "numel"), ("subtract", "sub"), ("swapdims", "transpose"),
    ("true_divide", "div"),
):  # fmt: skip
    setattr(Tensor, _name, getattr(Tensor, _other))
