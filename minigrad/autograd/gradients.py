"""Gradients: the 1 that backward starts with, undoing broadcasting, and accumulation into ``.grad``.

PyTorch counterparts: ``validate_outputs`` in ``torch/csrc/autograd/engine.cpp``,
``torch/csrc/autograd/functions/accumulate_grad.h``.
"""

import os
from sys import getrefcount
from threading import Lock

import numpy as np
from numpy import ndarray

from ..messages import refusal
from ..ops.inplace import copy_
from ..ops.pointwise import clone, to_copy
from ..ops.shape import column_sums, expandable, sum_to
from ..tensor import Tensor, wrap
from .node import AutogradMeta, Node, is_sink
from .versions import bump_version


def ones_of_scalar(output) -> np.ndarray | None:
    """The gradient 1 for a scalar tensor, from which a walk can start as it is; None for anything else."""
    if not isinstance(output, Tensor) or output._array.size != 1 or output._node is None:
        return None
    if output._meta is not None and is_sink(output._node):
        return None
    ones = output._array.copy()
    ones.fill(1)
    return ones


def fit(grad, next_node: Node, node: Node, index: int | None = None):
    """Undo broadcasting: sum a gradient to the shape of the input that it is for, in that input's dtype."""
    array = grad if grad.__class__ is ndarray else getattr(grad, "_array", grad)
    shape, wanted = array.shape, next_node._shape
    if shape != wanted:
        if array is grad and len(shape) == 2 and shape[1:] == wanted:  # a bias: by far the most frequent
            grad = array = column_sums(grad)
        elif expandable(wanted, shape):
            grad = sum_to(grad, wanted)
        else:
            name = node._kind.grad_fn_class.__name__
            index = node._next_nodes.index(next_node) if index is None else index
            raise refusal("gradient does not fit", name, index, list(shape), list(wanted), about=node)
    if array.dtype is not next_node._dtype and array.dtype != next_node._dtype:
        grad = to_copy(grad, next_node._dtype) if isinstance(grad, Tensor) else grad.astype(next_node._dtype)
    return grad


def _references_in(array) -> int:
    return getrefcount(array)


def _references_of_caller() -> int:
    """What `getrefcount` says in a function of an array that only a variable of its caller holds."""
    array = np.empty(())
    return _references_in(array)


# An array that nobody else refers to becomes .grad as it is, as in PyTorch's AccumulateGrad. Any other is copied.
STEALABLE_REFERENCES = _references_of_caller()

# Held while a gradient is added to a ``.grad``: two threads may have a leaf in common. No user code runs while it
# is held. After a fork the child gets a new lock, because another thread of the parent may hold the old one.
_grad_lock = Lock()


def _new_lock() -> None:
    global _grad_lock
    _grad_lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def accumulate(meta: AutogradMeta, grad, create_graph: bool) -> None:
    """Add a gradient to a tensor's ``.grad``: in place, unless `create_graph`."""
    if create_graph:
        return _accumulate_recorded(meta, grad)
    with _grad_lock:
        if meta.grad is not None:
            bump_version(meta.grad)
            np.add(meta.grad._array, grad, meta.grad._array)
        elif grad.__class__ is ndarray and grad.base is None and getrefcount(grad) <= STEALABLE_REFERENCES:
            meta.grad = wrap(grad)
        else:  # a read-only expanded view, or shared with another leaf
            meta.grad = wrap(np.array(grad))


def retain(meta: AutogradMeta, grad) -> None:
    """Add a gradient to the ``.grad`` of a non-leaf with retain_grad(): out of place, as in PyTorch."""
    if isinstance(grad, Tensor):
        meta.grad = clone(grad) if meta.grad is None else meta.grad + grad
        return
    with _grad_lock:
        meta.grad = wrap(np.array(grad) if meta.grad is None else meta.grad._array + grad)


def _accumulate_recorded(meta: AutogradMeta, grad: Tensor) -> None:
    """Add with history: outside the lock, as recording may run user hooks; again, if another thread was faster."""
    while True:
        before = meta.grad
        # copy_ and not clone: then the node of .grad is CopyBackwards, as in PyTorch.
        total = copy_(wrap(np.empty_like(grad._array)), grad) if before is None else before + grad
        with _grad_lock:
            if meta.grad is before:
                meta.grad = total
                return
