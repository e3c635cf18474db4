"""Hooks: what yours are shown during a backward, and what they may change.

The order, for a tensor that is an output of a node: its tensor hooks, ``retain_grad``, the node's pre-hooks, the
derivatives, the node's post-hooks. For a leaf: its tensor hooks, pre-hooks, the addition to ``.grad``, its
post-accumulate hooks, post-hooks.

PyTorch counterparts: ``torch/csrc/autograd/{function_hook,python_hook}.cpp``.
"""

import weakref

import numpy as np

from ..messages import refusal, type_name
from ..ops.pointwise import clone
from ..tensor import Tensor, wrap
from .anomaly_mode import report_origin, returned_nan
from .grad_mode import enable_grad, no_grad
from .graph import AutogradMeta, Record, anomaly
from .node import RemovableHandle, face_of

# -- methods of Tensor ---------------------------------------------------------------------------


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of this non-leaf in ``.grad`` too. Call it before backward; on a leaf it does nothing."""
    if self._edge is None:
        raise refusal("retain_grad of a constant")
    if self.is_leaf or self.retains_grad:
        return
    self.meta().retains_grad = True
    self.grad_fn.record.extras().retained[self.output_nr] = weakref.ref(self)


def register_hook(self: Tensor, hook) -> RemovableHandle:
    """Call ``hook(grad)`` when this tensor's gradient is complete; what it returns replaces it."""
    if self._edge is None:
        raise refusal("hook on a constant")
    if self.is_leaf:
        meta = self.meta()
        meta.hooks = {} if meta.hooks is None else meta.hooks
        return RemovableHandle(meta.hooks, hook, leaf=True)
    hooks = self.grad_fn.record.extras().tensor_hooks.setdefault(self.output_nr, {})
    return RemovableHandle(hooks, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook) -> RemovableHandle:
    """Call ``hook(leaf)`` each time that a backward has added to this leaf's ``.grad``."""
    if self._edge is None:
        raise refusal("hook on a constant")
    if not self.is_leaf:
        raise refusal("post-accumulate hook of a result")
    meta = self.meta()
    meta.post_hooks = {} if meta.post_hooks is None else meta.post_hooks
    return RemovableHandle(meta.post_hooks, hook, leaf=True)


# -- what the engine calls -----------------------------------------------------------------------


def run_hooks(node: Record, grad):
    """Tensor hooks, then keep the gradient of a tensor that asked with retain_grad()."""
    extra = node.extra
    grads = grad if isinstance(grad, dict) else {0: grad}  # of a node with several outputs, by output
    for index, hooks in extra.tensor_hooks.items():
        if index in grads:
            grads[index] = hooked(hooks, grads[index])
        else:  # of several outputs, one that nothing came from
            for hook in list(hooks.values()):
                hook(None)
    for index, reference in extra.retained.items():
        tensor = reference()
        if tensor is not None and index in grads:
            retain(tensor.meta(), grads[index])
    return grad if isinstance(grad, dict) else grads[0]


def retain(meta: AutogradMeta, grad) -> None:
    """Add a gradient to the ``.grad`` of a tensor that asked with retain_grad()."""
    if isinstance(grad, Tensor):
        meta.grad = clone(grad) if meta.grad is None else meta.grad + grad
    else:
        meta.grad = wrap(np.array(grad) if meta.grad is None else meta.grad._array + grad)


def hooked(hooks: dict | None, grad):
    """Show a gradient to hooks; what one returns takes its place."""
    if not hooks:
        return grad
    raw = not isinstance(grad, Tensor)
    shown = wrap(np.asarray(grad)) if raw else grad
    with no_grad() if raw else enable_grad():
        for hook in list(hooks.values()):
            answer = hook(shown)
            shown = shown if answer is None else checked(hook, answer, shown)
    return shown._array if raw else shown


def checked(hook, answer, before: Tensor) -> Tensor:
    """What a hook returned, if it can take the place of the gradient that it was given."""
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(answer, Tensor):
        raise refusal("hook returns no tensor", type_name(answer))
    if answer._array.shape != before._array.shape:
        raise refusal("hook changes the shape", name)
    if answer._dtype is not before._dtype:
        raise refusal("hook changes the dtype", name, before.dtype.tensor_type, answer.dtype.tensor_type)
    return answer


def all_checked(hook, answers, before: tuple) -> tuple:
    """What a node's hook returned, if it can take the place of the gradients that it was given."""
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(answers, tuple):
        raise refusal("node hook returns no tuple", type_name(answers))
    if len(answers) != len(before):
        raise refusal("number of hooked gradients", name, len(answers), len(before))
    for answer, grad in zip(answers, before, strict=True):
        if answer is not None and grad is None:
            raise refusal("hook makes a gradient")
        if answer is not None:
            checked(hook, answer, grad)
    return answers


def between_hooks(node: Record, grad, edges: tuple, create_graph: bool, fit):
    """Apply the derivatives of a node that may have hooks of its own around them; `fit` is the engine's."""
    extra = node.extras()
    if extra.pre_hooks:
        shown = called_with(extra.pre_hooks, outputs_of(node, grad))
        grad = {i: g for i, g in enumerate(shown) if g is not None} if isinstance(grad, dict) else shown[0]
    if grad is None:  # a pre-hook took it away
        return (None,) * len(edges)
    outputs = outputs_of(node, grad)
    grads = apply_rules(node, grad, edges, create_graph)
    if not extra.post_hooks:
        return grads
    pairs = zip(edges, grads, strict=True)
    grads = tuple(None if edge is None or grad is None else fit(grad, edge, node) for edge, grad in pairs)
    return called_with(extra.post_hooks, grads, outputs)


def outputs_of(node: Record, grad) -> tuple:
    """The gradients of all outputs of a node, None for those that nothing came from."""
    if not isinstance(grad, dict):
        return (grad,)
    return tuple(grad.get(i) for i in range(getattr(node, "outputs", None) or len(node.shape)))


def apply_rules(node: Record, grad, edges: tuple, create_graph: bool):
    """Apply the derivatives; in anomaly mode, say where a node that fails was made, and look for nan."""
    rules = node.kind.vjp_recorded if create_graph else node.kind.vjp
    if not anomaly.enabled:
        return rules(node, grad, edges)
    anomaly.evaluating.append(node)
    try:
        grads = rules(node, grad, edges)
        returned_nan(node, grads)
        return grads
    except Exception:
        report_origin(node)
        raise
    finally:
        anomaly.evaluating.pop()


def called_with(hooks: dict, grads: tuple, *others) -> tuple:
    """Show a node's gradients to its hooks, as Tensors; what one returns takes the place of the first."""
    if not hooks:
        return grads
    raw = not any(isinstance(g, Tensor) for g in (*grads, *(others[0] if others else ())))
    shown = [tuple(g if g is None or not raw else wrap(np.asarray(g)) for g in group) for group in (grads, *others)]
    with no_grad() if raw else enable_grad():
        for hook in list(hooks.values()):
            answer = hook(*shown)
            if answer is not None:
                shown[0] = all_checked(hook, answer, shown[0])
    return tuple(g if g is None or not raw else g._array for g in shown[0])


def run_post_accumulate(node: Record, hooks: dict) -> None:
    """Show the leaf, its ``.grad`` complete, to the hooks that wait for that."""
    leaf = face_of(node).variable
    with no_grad():
        for hook in list(hooks.values()):
            answer = hook(leaf)
            if answer is not None and answer is not leaf:
                raise refusal("post-accumulate hook returns")
