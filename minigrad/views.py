"""Tensors on the memory of another one: how they are made, and how they follow their base.

What an in-place change does to them is in ``ops/inplace.py``. PyTorch counterparts: ``as_view`` in
``torch/csrc/autograd/VariableTypeUtils.h``, ``DifferentiableViewMeta`` in ``torch/csrc/autograd/variable.h``.
"""

import weakref

from .autograd.grad_mode import OFF, mode, switched_off
from .autograd.graph import LEAF, UNCOUNTED, AutogradMeta, goes_nowhere, maker_of, nowhere_edge, own_counter
from .messages import view_refusal
from .tensor import Tensor


def alias(result: Tensor, source: Tensor) -> None:
    """Make `result` a view: it shares the version counter, which knows its views, and it knows its base."""
    counter = result._counter = own_counter(source)
    result._meta = None
    if counter is UNCOUNTED:
        return
    meta = result._meta = AutogradMeta()
    meta.base, of_source = source, source._meta
    if of_source is not None and of_source.base is not None:
        meta.base, meta.born = of_source.base, of_source.born
    if switched_off and mode.state <= 0:
        meta.born = "no_grad" if mode.state == OFF else "inference"
    counter.append(weakref.ref(result))
    size = len(counter)
    if size > 15 and not size & (size - 1):  # grown to a power of two: forget the views that are gone
        counter[1:] = [view for view in counter[1:] if view() is not None]


def unrecorded(result: Tensor, source: Tensor) -> None:
    """A view that is not recorded; yet one of a tensor that requires grad says that it requires grad too."""
    result._edge = None
    if result._meta is not None and result._dtype.kind == "f" and result._meta.base.requires_grad:
        result._edge = nowhere_edge(result)


def follow(self: Tensor) -> None:
    """Let a view without a history or a flag of its own require grad when its base does."""
    base = self._base
    if not self.is_leaf:
        return
    if base._edge is not None and self._meta.behind:
        self._renew()
    elif self._edge is None or goes_nowhere(self._edge):
        self._edge = None if base._edge is None else nowhere_edge(self)


class ModifiedView(Tensor):
    """What becomes of a view that may not be changed in place, when its memory was: any further use is refused."""

    __slots__ = ()
    requires_grad = property(lambda self: True, lambda self, flag: None)

    @property
    def _edge(self):
        raise self.refused(indirect=True)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """It does already."""
        return self

    @property
    def grad(self):
        return self._meta.grad

    @grad.setter
    def grad(self, new):
        Tensor.grad.fset(self, new)

    def _follow(self) -> None:
        if self._base._edge is None and self.was_leaf():  # nothing of it is recorded any more: it can be used again
            self.__class__ = Tensor
            self._edge, self._meta.behind = None, True
            self._follow()

    def was_leaf(self) -> bool:
        """Whether it had no history of its own."""
        edge = Tensor._edge.__get__(self)
        return edge is None or edge.kind is LEAF

    def refused(self, indirect: bool) -> Exception:
        """The exception for any further use."""
        return view_refusal(self._meta.born, self._meta.output_nr, maker_of(Tensor._edge.__get__(self)), indirect)


Tensor._follow = follow
