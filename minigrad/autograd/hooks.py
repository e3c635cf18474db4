"""Hooks: what yours are shown during a backward, and what they may change.

The order, for a tensor that is an output of a node: its tensor hooks, ``retain_grad``, the node's pre-hooks, the
derivatives, the node's post-hooks. For a leaf: its tensor hooks, pre-hooks, the addition to ``.grad``, its
post-accumulate hooks, post-hooks.

PyTorch counterparts: ``torch/csrc/autograd/{function_hook,python_hook}.cpp``.
"""

import weakref
from typing import Any

import numpy as np

from ..messages import refusal, type_name
from ..tensor import Tensor, wrap
from .grad_fn import AccumulateGrad, RemovableHandle, grad_fn_of
from .grad_mode import enable_grad, mode, no_grad
from .gradients import accumulate, retain
from .node import Node
from .outputs import OutputGrads
from .reentry import running
from .seeds import shown_as

# -- methods of Tensor ---------------------------------------------------------------------------


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this non-leaf in ``.grad`` too. Call it before backward; on a leaf it does nothing."""
    if self._node is None:
        raise refusal("retain_grad of a constant", about=self)
    if self.is_leaf or self.retains_grad:
        return
    self.materialize_meta().retains_grad = True
    self.grad_fn._node._materialize_hooks().retained[self.output_nr] = weakref.ref(self)


def register_hook(self: Tensor, hook) -> RemovableHandle:
    """Call ``hook(grad)`` when this tensor's gradient is complete; what it returns replaces it."""
    if self._node is None:
        raise refusal("hook on a constant", about=self)
    if self.is_leaf:
        meta = self.materialize_meta()
        meta.hooks = {} if meta.hooks is None else meta.hooks
        return RemovableHandle(meta.hooks, hook, leaf=True)
    hooks = self.grad_fn._node._materialize_hooks().tensor_hooks.setdefault(self.output_nr, {})
    return RemovableHandle(hooks, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook) -> RemovableHandle:
    """Call ``hook(leaf)`` each time that a backward has added to this leaf's ``.grad``."""
    if self._node is None:
        raise refusal("hook on a constant", about=self)
    if not self.is_leaf:
        raise refusal("post-accumulate hook of a result", about=self)
    meta = self.materialize_meta()
    meta.post_hooks = {} if meta.post_hooks is None else meta.post_hooks
    return RemovableHandle(meta.post_hooks, hook, leaf=True)


# -- what the engine calls -----------------------------------------------------------------------


def run_tensor_hooks(node: Node, grad):
    """Tensor hooks, then keep the gradient of a tensor that asked with retain_grad()."""
    grads = grad if isinstance(grad, OutputGrads) else {0: grad}
    for index, hooks in list(node._materialize_hooks().tensor_hooks.items()):  # a hook may register another
        if index in grads:
            grads[index] = run_gradient_hooks(hooks, grads[index], node)
        else:  # no gradient has come to this output of several: its hooks are given None, as in PyTorch
            for hook in list(hooks.values()):
                hook(None)
    for index, reference in list(node._materialize_hooks().retained.items()):
        tensor = reference()
        if tensor is not None and index in grads:
            retain(tensor.materialize_meta(), grads[index])
    return grad if isinstance(grad, OutputGrads) else grads[0]


def run_gradient_hooks(hooks: dict, grad, node: Node):
    """Show a gradient to hooks; what one returns takes its place."""
    raw = not isinstance(grad, Tensor)
    shown = shown_as(running.tasks[-1].seeds, grad) if raw else grad
    with no_grad() if raw else enable_grad():
        for hook in list(hooks.values()):
            answer = hook(shown)
            shown = shown if answer is None else check_replacement(hook, answer, shown, node)
    return shown._array if raw else shown


def check_replacement(hook, answer, before: Tensor, node: Node) -> Tensor:
    """What a hook returned, if it can take the place of the gradient that it was given."""
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(answer, Tensor):
        raise refusal("hook returns no tensor", type_name(answer), about=node)
    if answer._array.shape != before._array.shape:
        raise refusal("hook changes the shape", name, about=node)
    if answer._dtype is not before._dtype:
        dtypes = before.dtype.tensor_type, answer.dtype.tensor_type
        raise refusal("hook changes the dtype", name, *dtypes, about=node)
    return answer


def check_replacements(hook, answers, before: tuple, node: Node) -> tuple:
    """What a node's hook returned, if it can take the place of the gradients that it was given."""
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(answers, tuple):
        raise refusal("node hook returns no tuple", type_name(answers), about=node)
    if len(answers) != len(before):
        raise refusal("number of hooked gradients", name, len(answers), len(before), about=node)
    for answer, grad in zip(answers, before, strict=True):
        if answer is not None and grad is None:
            raise refusal("hook makes a gradient", about=node)
        if answer is not None:
            check_replacement(hook, answer, grad, node)
    return answers


def run_node_hooks(node: Node, hooks: dict, grads: tuple, *others) -> tuple:
    """Show a node's gradients to its hooks, as Tensors; what one returns takes the place of the first."""
    if not hooks:
        return grads
    raw = not any(isinstance(g, Tensor) for g in (*grads, *(others[0] if others else ())))
    seeds = running.tasks[-1].seeds
    shown = [tuple(g if g is None or not raw else shown_as(seeds, g) for g in group) for group in (grads, *others)]
    with no_grad() if raw else enable_grad():
        for hook in list(hooks.values()):
            answer = hook(*shown)
            if answer is not None:
                shown[0] = check_replacements(hook, answer, shown[0], node)
    return tuple(g if g is None or not raw else g._array for g in shown[0])


def add_by_hand(self: AccumulateGrad, grad: Tensor | None) -> tuple:
    """Call a leaf's node: what a backward does with the gradient that arrives there, after the leaf's own hooks."""
    if grad is None:
        return ()
    if grad._array.shape != self._node._shape:
        grad = wrap(np.zeros(self._node._shape, grad._dtype)).add_(grad)  # it may broadcast, or is refused
    accumulate(self._node._leaf, grad if mode.recording else grad._array, mode.recording)
    run_post_accumulate(self._node, self._node._leaf.post_hooks or {})
    return ()


AccumulateGrad.__call__ = add_by_hand  # type: ignore[method-assign]  # here, because gradients.py is above grad_fn.py


def run_post_accumulate(node: Node, hooks: dict) -> None:
    """Show the leaf, its ``.grad`` complete, to the hooks that wait for that."""
    accumulator: Any = grad_fn_of(node)
    leaf = accumulator.variable
    with no_grad():
        for hook in list(hooks.values()):
            answer = hook(leaf)
            if answer is not None and not isinstance(answer, Tensor):
                raise refusal("hook returns no tensor", type_name(answer), about=node)
            if answer is not None and answer is not leaf:
                raise refusal("post-accumulate hook returns", about=node)
