"""Operations that overwrite: the row's forward, written into the tensor's own memory.

An in-place operation is refused on a leaf that requires grad, raises the version that saved values are
checked against, and gives the tensor a new grad_fn where it is recorded. Where the tensor is a view, its base
gets the new grad_fn, and every view of that base is from then on made of what the base is now:

    y = x * 1; v = y[:2]; v.mul_(5)

    before:  y ──► MulBackward0          v ──► SliceBackward0 ──► MulBackward0
    after:   y ──► CopySlices ──► MulBackward0          v ──► AsStridedBackward0 ──► CopySlices

PyTorch counterparts: ``rebase_history`` in ``torch/csrc/autograd/variable.cpp``, ``CopySlices`` in
``torch/csrc/autograd/functions/tensor.cpp``.
"""

import functools
import itertools
import warnings
import weakref

import numpy as np

from .. import dtypes
from ..autograd.dual import dual_levels
from ..autograd.grad_mode import mode
from ..autograd.node import Kind, Node, Packed, sink_node
from ..autograd.versions import UNCOUNTED, bump_version, freed_error, maker_of
from ..dispatch import make_grad_fn_class, record_node, with_input_and_out
from ..layout import empty_as
from ..messages import OUT_RESIZED, indices_refused, refusal, shapes_refused, type_name, view_refusal
from ..numpy_warnings import silence_numpy
from ..operands import as_element, level, number
from ..tensor import Tensor, wrap
from ..views import ModifiedView
from . import pointwise
from .index import as_strided, geometry_in, index, positions_of, put_strided, sliced
from .shape import expand, view


def in_place(operation, casts: bool = False, fills: bool = False):
    """The in-place form of a row: ``mul`` gives ``mul_``.

    `casts`: its operand may be of any dtype; `fills`: it may write to memory that repeats.
    """
    ufunc, name = operation.row.ufunc, operation.row.name + "_"

    def general(self, *args, **options):
        if dual_levels and dual_levels[0].concerns((self, *args)):
            return dual_levels[0].change(general, operation, (self, *args), options)
        return change(self, operation, args, options, casts, fills)

    def of_two(self, other):
        """The usual case, ``p -= step``, of one dtype and with nothing recorded: without a temporary."""
        if other.__class__ is Tensor:
            if other._dtype is not self._dtype or (other._node is not None and mode.recording):
                return general(self, other)
            array = other._array
        else:
            array = np.asarray(other, self._dtype) if _is_usual(other, self._dtype) else None
        if array is None or not is_plain(self):
            return general(self, other)
        try:
            ufunc(self._array, array, self._array)
        except TypeError:  # the result has a dtype that cannot be written here: refused there, in PyTorch's words
            return general(self, other)
        except ValueError as error:
            raise shapes_refused(operation.row.op_name, error, self._array, array) from None
        return has_changed(self)

    method = of_two if ufunc and ufunc.nin == 2 and not operation.row.warns else general
    method.__name__ = name
    method.__doc__ = f"In place: {operation.__doc__}"
    return method


def is_plain(self: Tensor) -> bool:
    """Whether memory may simply be overwritten: nothing is recorded, it is no inference tensor, nor expanded."""
    array = self._array
    return (
        (self.__class__ is Tensor or not isinstance(self, ModifiedView))
        and (self._node is None or not mode.recording)
        and self._version_counter is not UNCOUNTED
        and not dual_levels
        and array.flags.writeable
        and (array.base is None or 0 not in array.strides)
    )


def has_changed(self: Tensor) -> Tensor:
    """Raise the version after memory that `is_plain` was overwritten, and rebuild its views."""
    counter = self._version_counter
    if counter.__class__ is tuple:  # FRESH
        self._version_counter = [1]
        return self
    counter[0] += 1
    if len(counter) > 1:
        rebuild_views(counter)
    return self


def change(self: Tensor, operation, args, options, casts: bool, fills: bool) -> Tensor:
    """Apply an operation in place, recorded or not."""
    silence_numpy()
    floating = self._dtype.kind == "f"
    if self.__class__ is ModifiedView and mode.recording:
        raise self.refused(indirect=False)
    if mode.recording and floating and (self._node or any(getattr(a, "_node", None) for a in args)):
        return recorded(self, operation, args, options, fills)
    if floating or casts:
        arrays = [a._array if isinstance(a, Tensor) else a for a in args]
        try:
            values = operation.row.forward(self._array, *arrays, **options)
        except (ValueError, TypeError) as error:
            raise shapes_refused(operation.row.op_name, error, self._array, *arrays) from None
    else:  # in the dtype that PyTorch's promotion gives, which may be refused
        values = operation(wrap(self._array), *args, **options)._array
    write(self, values, fills=fills)
    return self


def scaled(plain, with_alpha):
    """An in-place sum or difference, which may multiply its operand first: ``w.add_(w.grad, alpha=-0.1)``."""

    def method(self, other, alpha=1):
        if alpha.__class__ is int and alpha == 1:
            return plain(self, other)
        usual = alpha.__class__ is float and other.__class__ is Tensor and other._dtype is self._dtype
        usual = usual and (other._node is None or not mode.recording)
        if usual and self._dtype.kind == "f" and is_plain(self):  # as an update has it
            return plain(self, wrap(other._array * number(alpha, self._dtype) if alpha else other._array * alpha))
        if isinstance(other, Tensor) and self._dtype.kind == "f" != other._dtype.kind:
            other = pointwise.to_copy(other, self._dtype)
        return with_alpha(self, other, alpha)

    method.__name__, method.__doc__ = plain.__name__, plain.__doc__
    return method


def rounding(plain, rounded):
    """An in-place division, whose quotient may be rounded: ``x.div_(2, rounding_mode="floor")``."""

    def method(self, other, rounding_mode=...):
        return plain(self, other) if rounding_mode is ... else rounded(self, other, rounding_mode=rounding_mode)

    method.__name__, method.__doc__ = "div_", plain.__doc__
    return method


def either(with_number, with_tensor):
    """An in-place operation with one row for numbers and one for tensors."""

    def method(self, other):
        return (with_tensor if isinstance(other, Tensor) else with_number)(self, other)

    method.__name__, method.__doc__ = with_number.__name__, with_number.__doc__
    return method


def with_out(operation):
    """An operation that can write its result into a tensor that is there: ``mg.mul(x, y, out=z)``. Not recorded.

    Its first argument may be named ``input``, as PyTorch has it.
    """

    @functools.wraps(operation)
    def function(*args, **options):
        if not options:
            return operation(*args)
        out = options.pop("out", None)
        if "input" in options:
            args = (options.pop("input"), *args)
        if out is None:
            return operation(*args, **options)
        if mode.recording and any(isinstance(a, Tensor) and a.requires_grad for a in (*args, out)):
            raise refusal("out of a tracked tensor", function.__name__)
        if dual_levels and dual_levels[0].concerns((*args, out)):
            raise refusal("out in forward mode", function.__name__)
        result = operation(*args, **options)
        if out.numel() and out.shape != result.shape:
            level = 3 if hasattr(operation, "row") else 2
            warnings.warn(OUT_RESIZED.format(list(out.shape), list(result.shape)), UserWarning, stacklevel=level)
        values = result._array
        if out.shape != result.shape:
            out.data = wrap(empty_as([values], values.shape, out._dtype), [0])
        write(out, values)
        return out

    return with_input_and_out(operation, function) if hasattr(operation, "row") else function


def recorded(self: Tensor, operation, args, options, fills: bool = False) -> Tensor:
    """Apply and record the operation on what the tensor was, then make the tensor its result."""
    check_recordable(self)
    before = wrap(self._array, self._version_counter)
    if "self" in operation.row.saved_tensors:  # saved: it must outlive the change
        before = wrap(self._array.copy())
    before._node, before._meta = self._node, self._meta
    after = operation(before, *args, **options)
    write(self, after._array, renew=False, fills=fills)
    node = after._node
    node._dtype = self._dtype
    at = node._kind.saved_names.index("result") if "result" in node._kind.saved_names else None
    if at is not None and not isinstance(node._saved[at], Packed):
        kept = (self._array, self._version_counter, self._version)
        node._saved = (*node._saved[:at], *kept, *node._saved[at + 3 :])
    rebase_history(self, node)
    return self


def check_recordable(self: Tensor) -> None:
    """Refuse what would make a leaf's gradient meaningless, and views whose base cannot take the change."""
    base = self._base
    if self.__class__ is ModifiedView:
        raise self.refused(indirect=False)
    if base is not None:
        if self._meta.creation_meta:
            raise view_refusal(self._meta.creation_meta, self.output_nr, maker_of(self._node), indirect=False)
        if self.requires_grad and base.is_leaf:
            raise refusal("in place", "a view of a leaf Variable", about=self)
    if self.requires_grad and self.is_leaf:
        raise refusal("in place", "a leaf Variable", about=self)


def repeats(array: np.ndarray) -> bool:
    """Whether the array shows the same memory several times, as an expanded one does."""
    return array.size > 0 and any(n > 1 and not step for n, step in zip(array.shape, array.strides, strict=True))


def write(self: Tensor, values, renew: bool = True, fills: bool = False) -> None:
    """Overwrite the memory, raise the version of everything that shares it, renew the history of its views."""
    if not fills and repeats(self._array):
        if values is self._array:
            return raise_version(self, renew)
        raise refusal("in place, overlapping", about=self)
    if not self._array.flags.writeable:
        raise refusal("in place, read-only", about=self)
    values = np.asarray(values)
    if values.shape != self._array.shape:
        shapes = (list(self._array.shape), list(values.shape))
        raise RuntimeError("output with shape {} doesn't match the broadcast shape {}".format(*shapes))
    if level(values.dtype) > level(self._dtype):
        names = [dtypes.from_numpy_dtype(d).tensor_type.removesuffix("Tensor") for d in (values.dtype, self._dtype)]
        raise RuntimeError("result type {} can't be cast to the desired output type {}".format(*names))
    if self._version_counter is UNCOUNTED and not mode.inference:
        raise refusal("in place, inference tensor", about=self)
    if fills and repeats(self._array):
        changed = values != self._array
        self._array[changed] = values[changed]  # only these: in overlapping memory an old value may overwrite a new
    else:
        self._array[...] = values
    if self._version_counter is not UNCOUNTED:
        raise_version(self, renew)


def raise_version(self: Tensor, renew: bool = True) -> None:
    """Note that the memory has changed: its version goes up, and views of it are made anew."""
    bump_version(self)
    if renew and len(self._version_counter) > 1:
        rebuild_views(self._version_counter)


# -- history after a change ----------------------------------------------------------------------


def rebase_history(self: Tensor, node: Node) -> None:
    """Make `node` the grad_fn of the tensor; of a view, that of its base, through CopySlices."""
    base = self._base
    if base is None:
        set_history(self, node)
    else:
        set_history(base, copy_slices(self, base, node))
    if len(self._version_counter) > 1:
        rebuild_views(self._version_counter)


def set_history(tensor: Tensor, node: Node) -> None:
    """Give a tensor another history. Its hooks stay with the old one; retain_grad() comes along."""
    if tensor.retains_grad:
        tensor.grad_fn._node._materialize_hooks().retained.pop(tensor.output_nr)
        node._materialize_hooks().retained[0] = weakref.ref(tensor)
    if tensor._meta is not None:
        tensor._meta.output_nr = 0
    tensor._node = node


def rebuild_views(counter: list) -> None:
    """Give every view of a modified base a grad_fn that starts from the base as it is now."""
    counter[1:] = [reference for reference in counter[1:] if reference() is not None]  # so the next change is quicker
    for reference in counter[1:]:
        part = reference()
        if part is None or isinstance(part, ModifiedView):
            continue
        base = part._base
        if base._node is None and part.is_leaf:
            part._meta.outdated = True
        else:
            rebuild_view(part)


def rebuild_view(part: Tensor) -> None:
    """Make a view of what its base is now; where it may not be changed, refuse all further use."""
    base = part._base
    part._meta.outdated = False
    if part._meta.creation_meta:
        part.__class__ = ModifiedView
        return
    renewed = wrap(part._array)
    record_node(
        renewed,
        as_strided.row.kind,
        (base._node or sink_node(base),),
        None,
        (geometry_in(base, part), base._array.shape),
    )
    set_history(part, renewed._node)


def copy_slices(part: Tensor, base: Tensor, node: Node) -> Node:
    """The node of a base that was modified through a view: the gradient of that part goes through `node`."""
    changed = wrap(base._array)
    constants = None if node._constants is None else (None, *node._constants[1:])
    next_nodes = (base._node, *node._next_nodes[1:])
    record_node(changed, COPY_SLICES, next_nodes, constants, (geometry_in(base, part),), saved=(node,))
    return changed._node


def _through_part(rules: str, node: Node, grad, next_nodes) -> tuple:
    """The gradient of the changed part goes through the change; that of the rest to the base as it was."""
    if node._saved is None:
        raise freed_error(node)
    (change,), (geometry,) = node._saved, node._options
    grads = getattr(change._kind, rules)(change, as_strided(grad, geometry), next_nodes)
    if next_nodes[0] is None:
        return grads
    changed = np.zeros(node._shape, bool)
    changed.reshape(-1)[positions_of(geometry)] = True
    through = 0.0 if grads[0] is None else put_strided(grads[0], geometry, node._shape)
    return (pointwise.where(changed, through, grad), *grads[1:])


COPY_SLICES = Kind("copy_slices", make_grad_fn_class("CopySlices", "copy_slices"), ("",), ("_geometry",))
COPY_SLICES.vjp = functools.partial(_through_part, "vjp")
COPY_SLICES.vjp_recorded = functools.partial(_through_part, "vjp_recorded")


# -- overwriting with other values ---------------------------------------------------------------


@pointwise.op(self=pointwise.zero_gradient)
def zero(self):
    """Zeros."""
    return np.zeros_like(self)


@pointwise.op(node="FillBackward2", self=pointwise.zero_gradient)
def fill(self, value):
    """One value everywhere."""
    return np.full_like(self, as_element(value, self.dtype))


@pointwise.op(
    name="fill", node="FillBackward3", casts=True, self=pointwise.zero_gradient, value=lambda grad: grad.sum()
)
def fill_with(self, value):
    """One value everywhere, which may be a tensor of one."""
    if np.ndim(value):
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return np.full_like(self, np.asarray(as_element(value, self.dtype)).astype(self.dtype))


@pointwise.op(node="CopyBackwards", casts=True, self=pointwise.zero_gradient, src=lambda grad: grad)
def copy(self, src):
    """The values of another tensor."""
    if 0 in self.strides and getattr(src, "__array_interface__", None) == self.__array_interface__:
        return self  # its own, which may be written to memory that repeats
    try:
        met = np.broadcast_shapes(self.shape, np.shape(src))
    except ValueError as error:
        raise shapes_refused("copy", error, self, src) from None
    if met != self.shape:
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(met)}")
    return np.broadcast_to(src, self.shape).astype(self.dtype)


@pointwise.op(
    casts=True,
    frees=("indices",),
    shown={"accumulate": False},
    self=lambda grad, indices: index_put(grad, 0.0, indices),
    values=lambda grad, indices: index(grad, indices),
)
def index_put(self, values, indices):
    """The tensor with other values where lists or masks point."""
    changed = self.copy()
    try:
        changed[indices] = as_element(values, self.dtype)
    except IndexError as error:
        refused = indices_refused(self.shape, indices, error)
        if " with size " in str(refused) and self.size:  # PyTorch looks at the values' shape before the positions
            _check_fit(self, values, indices)
        if not self.size and " with size " in str(refused) and "dimension with" not in str(refused):
            return changed  # an empty tensor: PyTorch checks no position
        raise refused from None
    except (ValueError, TypeError):
        _check_fit(self, values, indices)
        raise
    return changed


def _check_fit(self, values, indices) -> None:
    """Refuse values of another shape than that of the places they are for, wherever those are."""
    indices = tuple(i if isinstance(i, slice) or i.dtype.kind == "b" else i * 0 for i in indices)
    shape = self[indices].shape
    try:
        np.broadcast_to(values, shape)
    except ValueError:
        shapes = f"value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape"
        raise RuntimeError(f"shape mismatch: {shapes} {list(shape)}") from None


_zero_ = in_place(zero, casts=True, fills=True)


def zero_(self: Tensor) -> Tensor:
    """In place: zeros."""
    if not is_plain(self):
        return _zero_(self)
    self._array.fill(0)
    return has_changed(self)


_copy_, index_put_ = in_place(copy, casts=True), in_place(index_put, casts=True, fills=True)
fill_with_ = in_place(fill_with, casts=True)


_fill_ = in_place(fill, casts=True, fills=True)


def fill_(self: Tensor, value) -> Tensor:
    """In place: one value everywhere, a number or a tensor of one."""
    if isinstance(value, Tensor):
        return fill_with_(self, value)
    if not is_plain(self) or not _is_usual(value, self._dtype):
        return _fill_(self, value)
    self._array.fill(value)
    return has_changed(self)


def _is_usual(value, dtype: np.dtype) -> bool:
    """Whether a number can be an element of a dtype without further questions."""
    return (value.__class__ is float or value.__class__ is int) and dtype.char in "fd" and -1e38 < value < 1e38


def copy_(self: Tensor, src) -> Tensor:
    """In place: the values of another tensor, which may broadcast; or a number everywhere."""
    usual = src.__class__ is Tensor and src._array.shape == self._array.shape and src._dtype is self._dtype
    if usual and is_plain(self) and (src._node is None or not mode.recording):
        np.copyto(self._array, src._array)
        return has_changed(self)
    return _copy_(self, src if isinstance(src, Tensor) else wrap(dtypes.native(np.asarray(src))))


def setitem(self: Tensor, key, value) -> None:
    """``self[key] = value``: overwrites the view that numbers and slices pick, or what lists and masks point at."""
    if not isinstance(value, (Tensor, int, float, np.generic)):
        raise TypeError(f"can't assign a {type_name(value)} to a torch.{self.dtype.tensor_type}")
    if is_plain(self) and _put_plainly(self._array, key, value):
        has_changed(self)
        return
    if not isinstance(value, Tensor):
        value = as_element(value, self._dtype)
    part, indices = sliced(self, key)
    if indices:
        value = _stripped(value)
        if isinstance(value, Tensor) and value._dtype != part._dtype:
            _check_put(part, value, indices, masks_fill=self.ndim > 0)
        index_put_(part, value, indices)
    elif part.ndim and not getattr(value, "ndim", 0):
        fill_with_(part, value)
    elif not isinstance(value, Tensor):
        _copy_(part, value)
    elif value._array.shape == part._array.shape:
        copy_(part, value)
    else:
        value = view(value, _lengths(value))
        copy_(part, value if value._array.shape == part._array.shape else expand(value, tuple(part.shape)))


def _put_plainly(array: np.ndarray, key, value) -> bool:
    """Assign as NumPy does, where that is all there is to do: one position, a slice or a mask. Else return False."""
    if key.__class__ is int and array.ndim:
        usual = -len(array) <= key < len(array)
    elif key.__class__ is Tensor:
        key = key._array
        usual = key.ndim > 0 and (key.shape == array.shape if key.dtype.kind == "b" else key.dtype.kind == "i")
    else:
        usual = key.__class__ is slice and key.step is None and array.ndim > 0
    if not usual:
        return False
    if _is_usual(value, array.dtype):
        try:
            array[key] = value
        except IndexError:  # refused elsewhere
            return False
        return True
    if value.__class__ is not Tensor or key.__class__ is np.ndarray or value._dtype != array.dtype or value._node:
        return False
    part = array[key]
    if part.__class__ is not np.ndarray or part.shape != value._array.shape:
        return False
    part[...] = value._array
    return True


def _check_put(part: Tensor, value: Tensor, indices: tuple, masks_fill: bool) -> None:
    """Refuse values of another dtype, unless it is one value at a mask; what else is wrong with them comes first."""
    if mode.recording and (part.requires_grad or value.requires_grad):
        check_recordable(part)
    if masks_fill and value.numel() == 1 and all(isinstance(i, slice) or i.dtype.kind == "b" for i in indices):
        as_element(value._array.item(), part._dtype)
        return
    try:
        index_put.row.forward(part._array, value._array, indices)
    except IndexError as error:
        if "is out of bounds for dimension with" in str(error) or "out of bounds" not in str(error):
            raise
    raise refusal("put of another dtype", *(t.dtype.tensor_type.removesuffix("Tensor") for t in (part, value)))


def _lengths(value) -> tuple:
    """A value's shape without the dimensions of length 1 in front."""
    return tuple(itertools.dropwhile(lambda length: length == 1, getattr(value, "shape", ())))


def _stripped(value):
    """A value without the dimensions of length 1 in front."""
    lengths = _lengths(value)
    return view(value, lengths) if len(lengths) < getattr(value, "ndim", 0) else value
