"""Views: how they are made, and how they follow the requires_grad of their base.

What an in-place change does to them is in ``ops/inplace.py``. PyTorch counterparts: ``as_view`` in
``torch/csrc/autograd/VariableTypeUtils.h``, ``DifferentiableViewMeta`` in ``torch/csrc/autograd/variable.h``.
"""

from weakref import ref

from .autograd.grad_mode import mode, threads_without_grad
from .autograd.node import LEAF, AutogradMeta, is_sink, sink_node
from .autograd.versions import UNCOUNTED, maker_of, own_counter
from .messages import refusal, view_refusal
from .tensor import Tensor

MANY_VIEWS = 15


def make_views(results, source: Tensor) -> None:
    """Make results views of `source`: with the same version counter, which refers to its views, and with a base.

    An operation with one result has this written out in its code (``assemble.py``).
    """
    counter, of_source = own_counter(source), source._meta
    if counter is UNCOUNTED:
        for result in results:
            result._version_counter, result._meta = counter, None
        return
    first = of_source is None or of_source.base is None
    base, creation_meta = (source, "") if first else (of_source.base, of_source.creation_meta)
    if threads_without_grad and not mode.recording:
        creation_meta = "inference" if mode.inference else "no_grad"
    for result in results:
        meta = AutogradMeta()
        meta.base, meta.creation_meta = base, creation_meta
        result._version_counter, result._meta = counter, meta
        counter.append(ref(result))
        if len(counter) > MANY_VIEWS:
            drop_dead(counter)


def drop_dead(counter: list) -> None:
    """Drop a counter's references to views that are gone, whenever it is as long as a power of two."""
    size = len(counter)
    if not size & (size - 1):
        counter[1:] = [view for view in counter[1:] if view() is not None]


def unrecorded(result: Tensor, source: Tensor) -> None:
    """Set the node of a view that is not recorded: it requires grad if its base does, but has no history."""
    result._node = None
    if result._meta is not None and result._dtype.kind == "f" and result._meta.base.requires_grad:
        result._node = sink_node(result)


def inherit_requires_grad(self: Tensor) -> None:
    """Let a view without a history or a flag of its own require grad when its base does."""
    base = self._base
    if not self.is_leaf:
        return
    if base._node is not None and self._meta.outdated:
        self._rebuild_view()
    elif self._node is None or is_sink(self._node):
        self._node = None if base._node is None else sink_node(self)


class ModifiedView(Tensor):
    """The class of a view that must not be modified in place, after its memory was: any further use raises."""

    __slots__ = ()

    @property
    def requires_grad(self):
        return True

    @requires_grad.setter
    def requires_grad(self, flag):
        self.requires_grad_(flag)

    @property
    def _node(self):
        raise self.refused(indirect=True)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """It does already; what has a history cannot do otherwise."""
        if not requires_grad and not self.was_leaf():
            raise refusal("flag of a result", about=self)
        return self

    @property
    def grad(self):
        return self._meta.grad

    @grad.setter
    def grad(self, new):
        Tensor.grad.fset(self, new)

    def _inherit_requires_grad(self) -> None:
        if self._base._node is None and self.was_leaf():  # no history is left: it can be used again
            self.__class__ = Tensor
            self._node, self._meta.outdated = None, True
            self._inherit_requires_grad()

    def was_leaf(self) -> bool:
        """Whether it had no history of its own."""
        node = Tensor._node.__get__(self)
        return node is None or node._kind is LEAF

    def refused(self, indirect: bool) -> Exception:
        """The exception for any further use."""
        return view_refusal(
            self._meta.creation_meta, self._meta.output_nr, maker_of(Tensor._node.__get__(self)), indirect
        )


Tensor._inherit_requires_grad = inherit_requires_grad
