"""Hooks: when each kind is called during a backward, and what it may replace.

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
from .seeds import gradient_tensor

# -- methods of Tensor ---------------------------------------------------------------------------


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this non-leaf in ``.grad`` too. Call it before backward; on a leaf it does nothing.

    RuntimeError if the tensor does not require grad. PyTorch counterpart: ``torch.Tensor.retain_grad``.
    """
    if self._node is None:
        raise refusal("retain_grad of a constant", about=self)
    if self.is_leaf or self.retains_grad:
        return
    self.materialize_meta().retains_grad = True
    self.grad_fn._node._materialize_hooks().retained[self.output_nr] = weakref.ref(self)


def register_hook(self: Tensor, hook) -> RemovableHandle:
    """Call ``hook(grad)`` when this tensor's gradient is complete; a tensor that it returns replaces it.

    RuntimeError if the tensor does not require grad. PyTorch counterpart: ``torch.Tensor.register_hook``.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> handle = x.register_hook(lambda grad: grad * 2)
    >>> (x * x).backward(); x.grad
    tensor(12.)
    >>> handle.remove()
    """
    if self._node is None:
        raise refusal("hook on a constant", about=self)
    if self.is_leaf:
        meta = self.materialize_meta()
        meta.hooks = {} if meta.hooks is None else meta.hooks
        return RemovableHandle(meta.hooks, hook, leaf=True)
    hooks = self.grad_fn._node._materialize_hooks().tensor_hooks.setdefault(self.output_nr, {})
    return RemovableHandle(hooks, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook) -> RemovableHandle:
    """Call ``hook(leaf)`` each time that a backward has added to this leaf's ``.grad``.

    RuntimeError for a non-leaf. PyTorch counterpart: ``torch.Tensor.register_post_accumulate_grad_hook``.
    """
    if self._node is None:
        raise refusal("hook on a constant", about=self)
    if not self.is_leaf:
        raise refusal("post-accumulate hook of a result", about=self)
    meta = self.materialize_meta()
    meta.post_hooks = {} if meta.post_hooks is None else meta.post_hooks
    return RemovableHandle(meta.post_hooks, hook, leaf=True)


# -- what the engine calls -----------------------------------------------------------------------


def run_tensor_hooks(node: Node, grad):
    """Call the tensor hooks of a node's outputs, then fill the .grad of outputs with retain_grad()."""
    grads = grad if isinstance(grad, OutputGrads) else {0: grad}
    for index, hooks in list(node._materialize_hooks().tensor_hooks.items()):  # a hook may register another
        if index in grads:
            grads[index] = run_gradient_hooks(hooks, grads[index], node)
        else:  # this output of several has no gradient: its hooks are given None, as in PyTorch
            for hook in list(hooks.values()):
                hook(None)
    for index, reference in list(node._materialize_hooks().retained.items()):
        tensor = reference()
        if tensor is not None and index in grads:
            retain(tensor.materialize_meta(), grads[index])
    return grad if isinstance(grad, OutputGrads) else grads[0]


def run_gradient_hooks(hooks: dict, grad, node: Node):
    """Call hooks with a gradient; a tensor that one returns replaces it."""
    raw = not isinstance(grad, Tensor)
    shown = gradient_tensor(running.tasks[-1].seeds, grad) if raw else grad
    with no_grad() if raw else enable_grad():
        for hook in list(hooks.values()):
            answer = hook(shown)
            shown = shown if answer is None else check_replacement(hook, answer, shown, node)
    return shown._array if raw else shown


def check_replacement(hook, answer, before: Tensor, node: Node) -> Tensor:
    """What a hook returned, if it can replace the gradient that it was given; else RuntimeError."""
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
    """What a node's hook returned, if it can replace the gradients that it was given; else RuntimeError."""
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
    """Call a node's hooks with its gradients, as Tensors; what one returns replaces `grads`."""
    if not hooks:
        return grads
    raw = not any(isinstance(g, Tensor) for g in (*grads, *(others[0] if others else ())))
    seeds = running.tasks[-1].seeds
    shown = [tuple(gradient_tensor(seeds, g) if raw and g is not None else g for g in gs) for gs in (grads, *others)]
    with no_grad() if raw else enable_grad():
        for hook in list(hooks.values()):
            answer = hook(*shown)
            if answer is not None:
                shown[0] = check_replacements(hook, answer, shown[0], node)
    return tuple(g if g is None or not raw else g._array for g in shown[0])


def call_accumulate_grad(self: AccumulateGrad, grad: Tensor | None) -> tuple:
    """``accumulate_grad(grad)`` by hand: what a backward does with a leaf's gradient, its tensor hooks left out."""
    if grad is None:
        return ()
    if grad._array.shape != self._node._shape:
        grad = wrap(np.zeros(self._node._shape, grad._dtype)).add_(grad)  # it may broadcast, or is refused
    accumulate(self._node._leaf, grad if mode.recording else grad._array, mode.recording)
    run_post_accumulate(self._node, self._node._leaf.post_hooks or {})
    return ()


AccumulateGrad.__call__ = call_accumulate_grad  # type: ignore[method-assign]  # grad_fn.py cannot import gradients.py


def run_post_accumulate(node: Node, hooks: dict) -> None:
    """Call the post-accumulate hooks of a leaf, whose ``.grad`` is complete."""
    accumulator: Any = grad_fn_of(node)
    leaf = accumulator.variable
    with no_grad():
        for hook in list(hooks.values()):
            answer = hook(leaf)
            if answer is not None and not isinstance(answer, Tensor):
                raise refusal("hook returns no tensor", type_name(answer), about=node)
            if answer is not None and answer is not leaf:
                raise refusal("post-accumulate hook returns", about=node)
