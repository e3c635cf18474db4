"""The Tensor: an array that remembers how it was made.

Storage, version counter and leaf rules are here; arithmetic is not. Operations are bound to this class in
``ops/__init__.py``, ``backward`` and printing in ``minigrad/__init__.py``; ``conversions.py`` leads back to NumPy.

PyTorch counterparts: ``torch/_tensor.py`` and ``c10/core/TensorImpl.h``.
"""

import warnings
from sys import getrefcount

import numpy as np

from . import dtypes
from .arguments import read_only
from .autograd.grad_mode import inferring, mode
from .autograd.graph import (
    FRESH,
    LEAF,
    UNCOUNTED,
    AutogradMeta,
    DetachedVersion,
    freeze,
    goes_nowhere,
    nowhere_edge,
    own_counter,
    track,
)
from .autograd.node import pair_of
from .conversions import Conversions
from .messages import C_NAMES, NON_LEAF_GRAD, dim_refused, refusal, type_name

# What getrefcount says of a leaf's edge that no graph leads to.
EDGE_ONLY_HERE = 2


class Size(tuple):
    """A shape. PyTorch counterpart: ``torch.Size``.

    >>> Size((2, 3)).numel()
    6
    """

    __slots__ = ()

    def numel(self) -> int:
        count = 1
        for length in self:
            count *= length
        return count

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other):
        return Size(tuple.__add__(self, other))


class Tensor(Conversions):
    """An n-dimensional array, with the record of how it was computed. PyTorch counterpart: ``torch.Tensor``."""

    __slots__ = (
        "__weakref__",
        "_array",
        # A list [n] once something shares, saves or modifies the memory; until then FRESH, which reads as 0; and
        # UNCOUNTED for what was made in inference mode.
        # Views and detach() share the list, .data and .numpy() do not: that is all there is to versions.
        # Behind n are weak references to the views, whose history changes when the memory does.
        "_counter",
        "_dtype",  # NumPy's, kept beside the array because asking the array takes five times as long
        # Where this tensor's gradient goes: to its grad_fn, or, if it is a leaf, to the end that adds it to
        # .grad. None if it needs no gradient: that is all there is to requires_grad.
        "_edge",
        "_meta",
    )
    __array_priority__ = 1000  # so that `ndarray * tensor` asks the tensor

    def __new__(cls, data=(), *size):
        if isinstance(data, Tensor):
            return data.detach()
        shape = (data, *size) if isinstance(data, int) else data if isinstance(data, Size) else None
        if isinstance(data, float):
            raise TypeError("new(): data must be a sequence (got float)")
        array = np.asarray(data) if shape is None else np.zeros(shape)
        return wrap(array.astype(dtypes.get_default_dtype().numpy))

    # -- what it holds ---------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The length of each dimension."""
        return Size(self._array.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return dtypes._known[self._dtype]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def numel(self) -> int:
        """The number of elements."""
        return self._array.size

    def size(self, dim: int | None = None):
        """The shape, or the length of one dimension."""
        if dim is None:
            return self.shape
        if not -self._array.ndim <= dim < self._array.ndim:
            raise dim_refused(dim, self._array.ndim)
        return self._array.shape[dim]

    def is_floating_point(self) -> bool:
        """Whether the elements are floats, which only can require gradients."""
        return self._array.dtype.kind == "f"

    def __len__(self):
        if not self._array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    # -- what autograd knows of it ---------------------------------------------------------------

    @property
    def grad_fn(self):
        """The node that made this tensor; None for a leaf."""
        return None if self.is_leaf else pair_of(self._edge)[0]

    @property
    def is_leaf(self) -> bool:
        """True for what you made yourself, and for every result that needs no gradient."""
        return self._edge is None or self._edge.kind is LEAF

    @property
    def output_nr(self) -> int:
        """Which of its node's outputs this tensor is."""
        return 0 if self._meta is None else self._meta.output_nr

    @property
    def _base(self):
        """The tensor that this one is a view of; None if it is none."""
        return None if self._meta is None else self._meta.base

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def _version(self) -> int:
        if self._counter is UNCOUNTED:
            raise refusal("version of an inference tensor")
        return self._counter[0]

    def is_inference(self) -> bool:
        """Whether this tensor was made in ``inference_mode()`` and can never be recorded."""
        return self._counter is UNCOUNTED

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded. Only a leaf's flag can be set."""
        return self._edge is not None

    @requires_grad.setter
    def requires_grad(self, flag: bool):
        if flag and not self.is_leaf:
            raise refusal("flag of a result, set")
        self._set_requires_grad(flag, "flag of integers, attribute")

    @requires_grad.deleter
    def requires_grad(self):
        raise refusal("deleted flag")

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Set ``requires_grad`` in place and return the tensor."""
        self._set_requires_grad(requires_grad, "flag of integers, method")
        return self

    def _set_requires_grad(self, flag: bool, key: str) -> None:
        if not isinstance(flag, bool):
            raise refusal(f"{key}, not a bool", type_name(flag))
        if not flag and not self.is_leaf:
            raise refusal("flag of a result")
        if flag and self._array.dtype.kind != "f":
            raise refusal(key)
        if flag and self._counter is UNCOUNTED and mode.state >= 0:
            raise refusal("flag of an inference tensor")
        if flag and (self._edge is None or goes_nowhere(self._edge)):
            track(self)
        elif not flag and self._edge is not None and not goes_nowhere(self._edge):
            freeze(self._edge)
            self._edge = None
        self._lead_views()

    @property
    def grad(self):
        """The gradient that backward has added up here: None until then, and for results without retain_grad()."""
        meta, edge = self._meta, self._edge
        if meta is not None and meta.grad is not None:
            return meta.grad
        if edge is not None and edge.kind is not LEAF and not self.retains_grad:
            warnings.warn(NON_LEAF_GRAD, UserWarning, stacklevel=2)
        return None

    @grad.setter
    def grad(self, new):
        if new is not None:
            self._check_grad(new)
        meta = self._meta or self.meta()
        meta.grad = new

    @grad.deleter
    def grad(self):
        self.meta().grad = None

    def _check_grad(self, new) -> None:
        if not isinstance(new, Tensor):
            raise refusal("grad is no tensor", type_name(new))
        if new is self:
            raise refusal("grad is itself")
        if new._dtype is not self._dtype:
            kinds = (
                C_NAMES.get(new.dtype.name, new.dtype.name),
                self.dtype.tensor_type.removesuffix("Tensor"),
            )
            raise refusal("grad of another dtype", *kinds)
        if new.shape != self.shape:
            raise refusal("grad of another shape", list(new.shape), list(self.shape))

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad() was called on this non-leaf."""
        return self._meta is not None and self._meta.retains_grad

    def _lead_views(self) -> None:
        """Let the views of this tensor follow it, after its flag changed."""
        for reference in () if self._counter is UNCOUNTED else self._counter[1:]:
            view = reference()
            if view is not None and view._base is self:
                view._follow()

    def meta(self) -> AutogradMeta:
        """What few tensors have, made when it is first needed."""
        if self._meta is None:
            self._meta = AutogradMeta()
        return self._meta

    # -- other tensors on the same memory --------------------------------------------------------

    def detach(self) -> "Tensor":
        """The same memory without the history. In-place changes are seen by both, and noticed by backward."""
        return wrap(self._array, own_counter(self))

    def detach_(self) -> "Tensor":
        """Cut this tensor from its history, in place: it becomes a leaf that needs no gradient."""
        if mode.state < 0:  # as in PyTorch, where inference mode knows nothing of histories
            return self
        if self._is_view():
            raise refusal("detach_ of a view")
        if not self.is_leaf and len(self._counter) == 1:  # nothing shares it that is still attached
            counter = own_counter(self)
            counter[0] = DetachedVersion(counter[0])
        if self._edge is not None and self._edge.kind is LEAF:
            freeze(self._edge)
        self._edge = None
        if self._meta is not None:
            self._meta.output_nr = 0
        self._lead_views()
        return self

    @property
    def data(self) -> "Tensor":
        """The same memory without the history and with a version counter of its own: changes go unnoticed."""
        return wrap(self._array, UNCOUNTED if self._counter is UNCOUNTED else [0] if inferring else FRESH)

    @data.setter
    def data(self, new: "Tensor"):
        if not isinstance(new, Tensor):
            raise refusal("data is no tensor", type(new).__name__)
        if self._edge is not None and new._array.dtype.kind != "f":
            raise refusal("data of integers")
        if new._counter is UNCOUNTED:
            self._counter = UNCOUNTED
        another_type = new._dtype != self._dtype
        self._array, self._dtype = new._array, new._dtype
        if self._edge is None or not self.is_leaf:
            return
        self._meta.array = new._array
        if goes_nowhere(self._edge):
            self._edge = nowhere_edge(self)
        elif another_type or getrefcount(self._edge) <= EDGE_ONLY_HERE:  # a graph that was made goes on as it was
            track(self)

    @data.deleter
    def data(self):
        raise refusal("deleted data")

    # -- identity ---------------------------------------------------------------------------------

    def __hash__(self):
        return id(self)

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise refusal("deepcopy of a result")
        copy = wrap(self._array.copy())
        copy.requires_grad = self.requires_grad
        memo[id(self)] = copy
        if self._meta is not None and self._meta.grad is not None:
            copy.meta().grad = self._meta.grad.__deepcopy__(memo)
        return copy


read_only(Tensor, "_base", "_version", "dtype", "grad_fn", "is_leaf", "ndim", "output_nr", "retains_grad", "shape")


def is_tensor(value) -> bool:
    """Whether `value` is a Tensor. PyTorch counterpart: ``torch.is_tensor``."""
    return isinstance(value, Tensor)


def is_inference(value: Tensor) -> bool:
    """Whether a tensor was made in inference mode. PyTorch counterpart: ``torch.is_inference``."""
    return value.is_inference()


def wrap(array: np.ndarray, counter=FRESH) -> Tensor:
    """A tensor without history around an array (not copied)."""
    if inferring and counter is FRESH and mode.state < 0:
        counter = UNCOUNTED
    tensor = object.__new__(Tensor)
    tensor._array = array
    tensor._dtype = array.dtype
    tensor._counter = counter
    tensor._edge = tensor._meta = None
    return tensor
