"""The Tensor: an array that remembers how it was made.

Storage, version counter and leaf rules are here; arithmetic is not. Operations are bound to this class in
``ops/__init__.py``, ``backward``, hooks and printing in ``minigrad/__init__.py``, what a view takes over from its base
in ``views.py``; ``conversions.py`` leads back to NumPy.

PyTorch counterparts: ``torch/_tensor.py`` and ``c10/core/TensorImpl.h``.
"""

import warnings
import weakref

import numpy as np

from . import dtypes
from .arguments import read_only
from .autograd.grad_fn import grad_fn_of
from .autograd.grad_mode import mode, threads_in_inference
from .autograd.node import LEAF, AutogradMeta, is_sink, sink_node, track, untrack
from .autograd.outputs import operation_of
from .autograd.versions import FRESH, UNCOUNTED, DetachedVersion, own_counter
from .conversions import Conversions
from .messages import C_NAMES, NON_LEAF_GRAD, dim_refused, refusal, type_name
from .size import Size


class Tensor(Conversions):
    """An n-dimensional array, with the record of how it was computed. PyTorch counterpart: ``torch.Tensor``."""

    __slots__ = (
        "__weakref__",
        "_array",
        "_dtype",  # NumPy's, kept beside the array because asking the array takes five times as long
        "_meta",
        # The node that this tensor's gradient goes to: that of the operation that made it, or a leaf's own, which adds
        # it to .grad. None if it needs no gradient: that is all there is to requires_grad.
        "_node",
        "_version_counter",  # its version: see autograd/versions.py for the three forms
    )
    __array_priority__ = 1000  # so that `ndarray * tensor` asks the tensor

    def __new__(cls, data=(), *size, requires_grad=False):  # the last for Variable(data, requires_grad=True)
        if isinstance(data, Tensor):
            return data.detach().requires_grad_(requires_grad)
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
        return dtypes.by_numpy_dtype[self._dtype]

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
        """Whether the elements are floats. Only floats can require gradients."""
        return self._array.dtype.kind == "f"

    def __len__(self):
        if not self._array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self._array)

    # -- what autograd knows of it ---------------------------------------------------------------

    @property
    def grad_fn(self):
        """The node that made this tensor; None for a leaf."""
        return None if self.is_leaf else grad_fn_of(operation_of(self._node))

    @property
    def is_leaf(self) -> bool:
        """True for a tensor that no recorded operation made, also for every tensor that requires no gradient."""
        return self._node is None or self._node._kind is LEAF

    @property
    def output_nr(self) -> int:
        """The index of this tensor among the outputs of its node; 0 for a leaf."""
        return 0 if self._meta is None else self._meta.output_nr

    @property
    def _base(self):
        """The tensor that this one is a view of; None if it is none."""
        return None if self._meta is None else self._meta.base

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def _version(self) -> int:
        if self._version_counter is UNCOUNTED:
            raise refusal("version of an inference tensor", about=self)
        return self._version_counter[0]

    def is_inference(self) -> bool:
        """Whether this tensor was made in ``inference_mode()`` and can never be recorded."""
        return self._version_counter is UNCOUNTED

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded. Only a leaf's flag can be set."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, flag: bool):
        if flag and not self.is_leaf:
            raise refusal("flag of a result, set", about=self)
        self._set_requires_grad(flag, "flag of integers, attribute")

    @requires_grad.deleter
    def requires_grad(self):
        raise refusal("deleted flag", about=self)

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Set ``requires_grad`` in place and return the tensor.

        RuntimeError for integers, and for False on a non-leaf. PyTorch counterpart: ``torch.Tensor.requires_grad_``.
        """
        if requires_grad is not True or self._node is None or is_sink(self._node):  # else nothing changes
            self._set_requires_grad(requires_grad, "flag of integers, method")
        return self

    def _set_requires_grad(self, flag: bool, key: str) -> None:
        if not isinstance(flag, bool):
            raise refusal(f"{key}, not a bool", type_name(flag), about=self)
        if not flag and not self.is_leaf:
            raise refusal("flag of a result", about=self)
        if flag and self._array.dtype.kind != "f":
            raise refusal(key, about=self)
        if flag and self._version_counter is UNCOUNTED and not mode.inference:
            raise refusal("flag of an inference tensor", about=self)
        if flag and (self._node is None or is_sink(self._node)):
            track(self)
        elif not flag and self._node is not None and not is_sink(self._node):
            untrack(self._node)
            self._node = None
        self._update_views()

    @property
    def grad(self):
        """The gradient that backward has accumulated; None before, and for a non-leaf without retain_grad()."""
        meta, node = self._meta, self._node
        if meta is not None and meta.grad is not None:
            return meta.grad
        if node is not None and node._kind is not LEAF and not self.retains_grad:
            warnings.warn(NON_LEAF_GRAD, UserWarning, stacklevel=2)
        return None

    @grad.setter
    def grad(self, new):
        if new is not None:
            self._check_grad(new)
        meta = self._meta or self.materialize_meta()
        meta.grad = new

    @grad.deleter
    def grad(self):
        self.materialize_meta().grad = None

    def _check_grad(self, new) -> None:
        if not isinstance(new, Tensor):
            raise refusal("grad is no tensor", type_name(new), about=self)
        if new is self:
            raise refusal("grad is itself", about=self)
        if new._dtype is not self._dtype:
            kinds = (
                C_NAMES.get(new.dtype.name, new.dtype.name),
                self.dtype.tensor_type.removesuffix("Tensor"),
            )
            raise refusal("grad of another dtype", *kinds, about=self)
        if new.shape != self.shape:
            raise refusal("grad of another shape", list(new.shape), list(self.shape), about=self)

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad() was called on this non-leaf."""
        return self._meta is not None and self._meta.retains_grad

    def _update_views(self) -> None:
        """Let the views of this tensor require grad as it does, after that changed."""
        for reference in () if self._version_counter is UNCOUNTED else self._version_counter[1:]:
            view = reference()
            if view is not None and view._base is self:
                view._inherit_requires_grad()

    def materialize_meta(self) -> AutogradMeta:
        """The AutogradMeta of this tensor, created on first use, as few tensors need one."""
        if self._meta is None:
            self._meta = AutogradMeta()
        return self._meta

    # -- other tensors on the same memory --------------------------------------------------------

    def detach(self) -> "Tensor":
        """A tensor on the same memory, without the history; with the same version counter: backward notices changes.

        PyTorch counterpart: ``torch.Tensor.detach``.

        >>> import minigrad as mg
        >>> x = mg.tensor(2.0, requires_grad=True)
        >>> (x * x).detach()
        tensor(4.)
        """
        return wrap(self._array, own_counter(self))

    def detach_(self) -> "Tensor":
        """Cut this tensor from its history, in place: it becomes a leaf that needs no gradient."""
        if mode.inference:  # as in PyTorch, which does nothing then
            return self
        if self._is_view():
            raise refusal("detach_ of a view", about=self)
        if not self.is_leaf and len(self._version_counter) == 1:  # no view shares the counter
            counter = own_counter(self)
            counter[0] = DetachedVersion(counter[0])
        if self._node is not None and self._node._kind is LEAF:
            untrack(self._node)
        self._node = None
        if self._meta is not None:
            self._meta.output_nr = 0
        self._update_views()
        return self

    @property
    def data(self) -> "Tensor":
        """A tensor on the same memory, without the history; with its own version counter: changes go unnoticed."""
        if self._version_counter is UNCOUNTED:
            return wrap(self._array, UNCOUNTED)
        return wrap(self._array, [0] if threads_in_inference else FRESH)  # in inference mode FRESH becomes UNCOUNTED

    @data.setter
    def data(self, new: "Tensor"):
        if not isinstance(new, Tensor):
            raise refusal("data is no tensor", type(new).__name__, about=self)
        if self._node is not None and new._array.dtype.kind != "f":
            raise refusal("data of integers", about=self)
        if new._version_counter is UNCOUNTED:
            self._version_counter = UNCOUNTED
        another_type = new._dtype != self._dtype
        self._array, self._dtype = new._array, new._dtype
        if self._node is None or not self.is_leaf:
            return
        self._meta.array = new._array
        if is_sink(self._node):
            self._node = sink_node(self)
            return
        # Keep the node if an older graph still holds it, else give the leaf a new one: PyTorch holds it weakly, too.
        node, self._node = weakref.ref(self._node), None
        self._node = None if another_type else node()
        if self._node is None:
            track(self)

    @data.deleter
    def data(self):
        raise refusal("deleted data", about=self)

    # -- identity ---------------------------------------------------------------------------------

    def __hash__(self):
        return id(self)


read_only(Tensor, "_base", "_version", "dtype", "grad_fn", "is_leaf", "ndim", "output_nr", "retains_grad", "shape")


def is_tensor(value) -> bool:
    """Whether `value` is a Tensor. PyTorch counterpart: ``torch.is_tensor``."""
    return isinstance(value, Tensor)


def is_inference(value: Tensor) -> bool:
    """Whether a tensor was made in inference mode. PyTorch counterpart: ``torch.is_inference``."""
    return value.is_inference()


def wrap(array: np.ndarray, counter=FRESH) -> Tensor:
    """A tensor without history around an array (not copied)."""
    if threads_in_inference and counter is FRESH and mode.inference:
        counter = UNCOUNTED
    tensor = object.__new__(Tensor)
    tensor._array = array
    tensor._dtype = array.dtype
    tensor._version_counter = counter
    tensor._node = tensor._meta = None
    return tensor
