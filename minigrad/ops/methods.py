"""Further names that PyTorch has: other names of the operations, small operations, views in place.

PyTorch counterparts: the functions and methods of the same names.
"""

import math
import warnings

import numpy as np

from ..autograd.grad_mode import mode
from ..autograd.node import Kind
from ..autograd.versions import UNCOUNTED, own_counter
from ..dispatch import make_grad_fn_class, op
from ..dtypes import from_numpy_dtype, get_default_dtype
from ..factories import numpy_of
from ..layout import full_as, memory_of, spread
from ..messages import C_NAMES, FILL_OF_EXPANDED, refusal, type_name
from ..operands import level, promote
from ..tensor import Tensor, wrap
from ..tensor_new import finish
from ..tensor_new import tensor as tensor_of
from .inplace import check_recordable, in_place, raise_version, rebuild_views, repeats
from .pointwise import abs, clamp_to_numbers, masked_fill_number, masked_fill_tensor, tan
from .reduce import _check_not_empty, _check_some, _given_dims, _keepdim_shape, _normalized_dims, _number_of, extremes
from .shape import expand, sizes_of, squeeze, t, transpose, unsqueeze, view


def _amax_backward(grad, self, result, dim, keepdim):
    """The gradient of an extreme along dimensions, in equal shares to the elements that reach it."""
    if not keepdim:
        shape = _keepdim_shape(tuple(self.shape), dim)
        grad, result = view(grad, shape), view(result, shape)
    reached = self == result
    return reached * grad / _number_of(reached, dim, grad)


def _amax_or_amin(name, ufunc, node):
    @op(node=node, name=name, self=_amax_backward)
    def along(self, dim, keepdim):
        return extremes(self, ufunc, _normalized_dims(self, dim[0] if len(dim) == 1 else dim), keepdim)

    def extreme(self, dim=(), keepdim=False):
        if isinstance(dim, int):
            _check_not_empty(name, self._array, dim)
            return along(self, (dim,), keepdim)
        if not dim:
            _check_some(name, self._array)
        for each in dim or ():
            _check_not_empty(name, self._array, each)
        return along(self, _given_dims(self, dim), keepdim)

    extreme.__name__ = name
    return extreme


amax, amin = _amax_or_amin("amax", np.maximum, "AmaxBackward0"), _amax_or_amin("amin", np.minimum, "AminBackward0")
amax.__doc__ = "The largest elements along one or more dimensions. Ties share the gradient equally."
amin.__doc__ = "The smallest elements along one or more dimensions. Ties share the gradient equally."


@op(np.isinf, constant=("self",))
def isinf(self):
    """Whether each element is infinite."""


def isfinite(self):
    """Whether each element is neither infinite nor nan. PyTorch counterpart: ``torch.isfinite``."""
    return (self == self) & (abs(self) != math.inf)


def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether each pair is equal but for ``atol + rtol * |other|``. PyTorch counterpart: ``torch.isclose``."""
    if self.dtype is not other.dtype:
        kinds = (each.dtype.tensor_type.removesuffix("Tensor") for each in (self, other))
        raise RuntimeError("{} did not match {}".format(*kinds))
    close = self == other
    other = other if other.is_floating_point() else other.to(get_default_dtype())
    allowed = atol + abs(rtol * other)
    error = abs(self.to(other.dtype) - other)
    near = isfinite(error) & (error <= allowed)
    close = close | near | (self != self) & (other != other) if equal_nan else close | near
    return _at_version_1(close)  # as in PyTorch, which changes it in place


def _at_version_1(tensor: Tensor) -> Tensor:
    if tensor._version_counter is not UNCOUNTED:
        own_counter(tensor)[0] = 1
    return tensor


def allclose(input: Tensor, other: Tensor, rtol=1e-05, atol=1e-08, equal_nan=False) -> bool:
    """Whether all pairs are equal but for ``atol + rtol * |other|``. PyTorch counterpart: ``torch.allclose``."""
    return bool(isclose(input.detach(), other.detach(), rtol, atol, equal_nan).all())


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements. PyTorch counterpart: ``torch.equal``."""
    if not isinstance(other, Tensor):
        raise TypeError(f"equal(): argument 'other' (position 1) must be Tensor, not {type_name(other)}")
    return np.array_equal(input._array, other._array)


def empty_like(input: Tensor, dtype=None, requires_grad: bool = False) -> Tensor:
    """Another tensor's shape and dtype, with values that are not set yet. PyTorch: ``torch.empty_like``."""
    return finish(full_as(input._array, 0, numpy_of(dtype or input.dtype)), requires_grad)


def broadcast_to(input: Tensor, size) -> Tensor:
    """Repeat dimensions of length 1, without a copy. PyTorch counterpart: ``torch.broadcast_to``."""
    return expand(input, tuple(size))


def contiguous(self: Tensor) -> Tensor:
    """The tensor itself if its elements lie in order, else a copy. PyTorch counterpart: ``Tensor.contiguous``."""
    return self if self._array.flags.c_contiguous else clone_by_rows(self)


@op(name="clone", layout="rows", self=lambda grad: grad)
def clone_by_rows(self):
    """A copy whose elements lie in order."""
    return np.array(self, order="C")


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
    array = self._array
    return unpickled, (memory_of(array), array.shape, array.strides, self.requires_grad)


def deep_copied(self: Tensor, memo: dict) -> Tensor:
    """What ``copy.deepcopy`` makes: a leaf on memory of its own, with a gradient of its own."""
    if not self.is_leaf:
        raise refusal("deepcopy of a result", about=self)
    array = self._array
    copy = _at_version_1(wrap(_copied_memory(array, memo)))
    copy.requires_grad = self.requires_grad
    memo[id(self)] = copy
    if self._meta is not None and self._meta.grad is not None:
        copy.materialize_meta().grad = deep_copied(self._meta.grad, memo)
    return copy


def _copied_memory(array: np.ndarray, memo: dict) -> np.ndarray:
    """An array on a copy of its memory; arrays that share memory share the copy, too."""
    whole = array if array.base is None else array.base
    if not isinstance(whole, np.ndarray) or not whole.size or not whole.flags.forc:
        return spread(memory_of(array), array.shape, array.strides)
    memory = memo.get((np.ndarray, id(whole)))
    if memory is None:
        memory = memo[np.ndarray, id(whole)] = memory_of(whole)
    offset = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def copied(self: Tensor) -> Tensor:
    """What ``copy.copy`` makes: another leaf on the same memory."""
    return _at_version_1(finish(self._array, self.requires_grad))


def unpickled(memory: np.ndarray, shape: tuple, strides: tuple, requires_grad: bool) -> Tensor:
    """A leaf again, of what pickle has kept."""
    # The version: as in PyTorch, where it is given its memory after it is made.
    return _at_version_1(finish(spread(memory, shape, strides), requires_grad))


Tensor.__reduce_ex__, Tensor.__copy__, Tensor.__deepcopy__ = pickled, copied, deep_copied


# -- in place ------------------------------------------------------------------------------------

_clamp_, tan_ = in_place(clamp_to_numbers), in_place(tan)
_fill_number_, _fill_tensor_ = in_place(masked_fill_number, fills=True), in_place(masked_fill_tensor, fills=True)


def clamp_(self: Tensor, min=None, max=None) -> Tensor:
    """In place: each element moved into the range from ``min`` to ``max``, numbers or None."""
    common = promote(self._array, *(bound for bound in (min, max) if bound is not None))
    if level(common) > level(self._dtype):
        kind = from_numpy_dtype(common).tensor_type.removesuffix("Tensor")
        name = C_NAMES[self.dtype.name]
        raise RuntimeError(f"result type {kind} can't be cast to the desired output type {name}")
    return _clamp_(self, min, max)


def masked_fill_(self: Tensor, mask: Tensor, value) -> Tensor:
    """In place: ``value``, a number or a 0-d tensor, where the mask holds."""
    if repeats(self._array):
        warnings.warn(FILL_OF_EXPANDED, UserWarning, stacklevel=2)
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
        recording = mode.recording and self.requires_grad
        if recording:
            check_recordable(self)
        before = self.detach()
        before._node = self._node if recording else None
        after = operation(before, *args, **options)
        if self._version_counter is UNCOUNTED and not mode.inference:
            raise refusal("in place, inference tensor", about=self)
        array, node = after._array, after._node
        del after  # a view that must not be rebuilt below
        if self._version_counter is not UNCOUNTED:
            raise_version(self, renew=False)
        if recording:
            self._array = array
            node._kind = _renamed(node._kind)
            self._node = node  # hooks and retain_grad() stay with what it was
            self.materialize_meta().output_nr = 0
        else:
            self.data = wrap(array, self._version_counter)
        if self._version_counter is not UNCOUNTED:
            rebuild_views([0, *(each for each in self._version_counter[1:] if not recording or each() is not self)])
        return self

    method.__name__, method.__doc__ = name, f"In place: {operation.__doc__}"
    return method


def _renamed(kind: Kind) -> Kind:
    """The same kind of node under the name that it has in place."""
    name = _NODES[kind.grad_fn_class.__name__]
    if name not in _kinds:
        shown = make_grad_fn_class(name, kind.name, kind.saved_names, kind.option_names)
        twin = _kinds[name] = Kind(kind.name, shown, kind.saved_names, kind.option_names, kind.needs)
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


# -- memory ----------------------------------------------------------------------------------------


class UntypedStorage:
    """The memory behind a tensor, which it may share with others. PyTorch counterpart: ``torch.UntypedStorage``."""

    def __init__(self, tensor: Tensor):
        self._array = tensor._array
        while isinstance(self._array.base, np.ndarray):
            self._array = self._array.base

    def nbytes(self) -> int:
        """Its bytes, however few of them the tensor shows."""
        return self._array.nbytes

    def data_ptr(self) -> int:
        """Its address: the same for all tensors on this memory, and for no others as long as one of them lives."""
        return self._array.ctypes.data


def untyped_storage(self) -> UntypedStorage:
    """The memory that this tensor is on.

    >>> from minigrad import zeros
    >>> x = zeros(100)
    >>> x[:2].untyped_storage().nbytes(), x[:2].nbytes
    (400, 8)
    """
    return UntypedStorage(self)


def element_size(self) -> int:
    """The bytes of one element."""
    return self._array.itemsize


def nbytes(self) -> int:
    """The bytes of all elements that this tensor shows."""
    return self._array.size * self._array.itemsize


Tensor.untyped_storage, Tensor.element_size = untyped_storage, element_size
Tensor.nbytes = property(nbytes, doc=nbytes.__doc__)
Tensor.itemsize = property(element_size, doc=element_size.__doc__)
