"""The evaluation of a node where something is out of the ordinary: hooks, requested inputs, anomaly mode.

The usual case is written out in ``engine.run``. PyTorch counterparts: ``evaluate_function`` and ``call_function`` in
``torch/csrc/autograd/engine.cpp``.
"""

import functools

from .anomaly_mode import refuse_nan, report_failure
from .grad_fn import GradFn
from .grad_mode import anomaly
from .gradients import accumulate, fit
from .hooks import run_gradient_hooks, run_node_hooks, run_post_accumulate, run_tensor_hooks
from .node import LEAF, Node, NodeHooks
from .outputs import NO_GRADIENT, OUTPUT, OutputGrads, output_nr


def reported(evaluate):
    """Let anomaly mode report where a node was recorded whose evaluation fails."""

    @functools.wraps(evaluate)
    def evaluate_reported(task, node: Node, grad):
        if not anomaly.enabled:
            return evaluate(task, node, grad)
        with report_failure(node):
            return evaluate(task, node, grad)

    return evaluate_reported


@reported
def evaluate_node(task, node: Node, grad) -> tuple | None:
    """The gradients of a node's inputs; None where the walk need not go on from here."""
    if task.requested is not None and node in task.requested and grad is not NO_GRADIENT:
        # At a node that the walk passes through, capture the gradient before hooks change it, as in PyTorch.
        if task.needed is None or node in task.needed:
            task.captured[node] = grad
    if node._hooks is not None:
        grad = run_tensor_hooks(node, grad)
    if task.requested is None:
        return apply(node, grad, node._next_nodes, task.create_graph)
    next_nodes = capture_gradient(task, node, grad)
    if next_nodes is None:
        return None
    grads = apply(node, grad, next_nodes, task.create_graph)
    return grads if any(next_nodes) else (None,) * len(grads)  # one of backward's `inputs`: run for its hooks only


def capture_gradient(task, node: Node, grad) -> tuple | None:
    """Capture the gradient if it is requested; return the nodes to go on to.

    That is one entry per input, None where none is needed; or None if the node need not be evaluated.
    """
    needed, requested = task.needed, task.requested
    only_captured = node._kind is OUTPUT and needed is not None and node not in needed and grad is not NO_GRADIENT
    if only_captured and node._next_nodes[0]._hooks:
        # The operation itself will not be evaluated, so the tensor hooks of this output are called here.
        grad = run_tensor_hooks(node._next_nodes[0], OutputGrads({output_nr(node): grad}))[output_nr(node)]
    if node in requested and grad is not NO_GRADIENT:
        task.captured.setdefault(node, grad)
    if needed is None:
        return node._next_nodes
    if node not in needed:
        return None
    return tuple([n if n in needed or n in requested else None for n in node._next_nodes])


@reported
def evaluate_leaf(task, node: Node, grad) -> None:
    """Capture the gradient of a leaf, or add it to ``.grad``, with the leaf's hooks before and after."""
    meta, requested, hooks = node._leaf, task.requested, node._hooks
    if grad is NO_GRADIENT:
        for hook in list((meta.hooks or {}).values()):
            hook(None)
        if meta.post_hooks and requested is None:
            run_post_accumulate(node, meta.post_hooks)
        return
    if meta.hooks:
        grad = run_gradient_hooks(meta.hooks, grad, node)
    if requested is not None and (task.capture or node not in requested):
        if node in requested:
            task.captured[node] = grad
        return
    if hooks is not None:
        grad = run_node_hooks(node, hooks.pre_hooks, (grad,))[0]
    first = meta.grad is None
    accumulate(meta, grad, task.create_graph)
    if hooks is not None and first:
        # The first gradient is .grad itself: post-hooks see what a hook has done to that.
        grad = meta.grad if task.create_graph else meta.grad._array
    if meta.post_hooks:
        run_post_accumulate(node, meta.post_hooks)
    if hooks is not None:
        run_node_hooks(node, hooks.post_hooks, (), (grad,))


def add_undefined_gradient(task, node: Node) -> bool:
    """Let a node wait for its evaluation though it got None for a gradient, as in PyTorch. Whether it is needed."""
    if task.needed is not None and node not in task.needed and node not in task.requested:
        return False
    if node not in task.grads and (node._kind is not LEAF or node._leaf.hooks or node._leaf.post_hooks):
        task.add_gradient(node, NO_GRADIENT)
    return True


def apply(node: Node, grad, next_nodes: tuple, create_graph: bool):
    """Apply the derivatives of a node, with its hooks; in anomaly mode, look for nan in what comes out."""
    if node._hooks is None:
        grads = apply_vjp(node, grad, next_nodes, create_graph)
    else:
        grads = apply_between_hooks(node, node._hooks, grad, next_nodes, create_graph)
    if anomaly.enabled and node._kind is not OUTPUT:
        grads = fitted(node, grads, next_nodes)
        refuse_nan(node, grads)
    return grads


def fitted(node: Node, grads: tuple, next_nodes: tuple) -> tuple:
    """The gradients in the shapes and dtypes of the inputs; None for an input without a node."""
    pairs = zip(next_nodes, grads, strict=True)
    return tuple(None if n is None or grad is None else fit(grad, n, node) for n, grad in pairs)


def apply_between_hooks(node: Node, hooks: NodeHooks, grad, next_nodes: tuple, create_graph: bool):
    """Apply the derivatives of a node, with the hooks of its own before and after them."""
    if hooks.pre_hooks:
        shown = run_node_hooks(node, hooks.pre_hooks, grad_outputs_of(node, grad))
        several = isinstance(grad, OutputGrads)
        if grad is not NO_GRADIENT:
            grad = OutputGrads({i: g for i, g in enumerate(shown) if g is not None}) if several else shown[0]
    if grad is None:  # a pre-hook has returned None for the only gradient
        return (None,) * len(next_nodes)
    grad_outputs = grad_outputs_of(node, grad)
    grads = apply_vjp(node, grad, next_nodes, create_graph)
    if not hooks.post_hooks:
        return grads
    return run_node_hooks(node, hooks.post_hooks, fitted(node, grads, next_nodes), grad_outputs)


def grad_outputs_of(node: Node, grad) -> tuple:
    """The gradients of all outputs of a node, None for those without one."""
    if not isinstance(grad, OutputGrads) or grad is NO_GRADIENT:
        return (None if grad is NO_GRADIENT else grad,)
    return tuple(grad.get(i) for i in range(getattr(node, "_outputs", None) or len(node._shape)))


def apply_vjp(node: Node, grad, next_nodes: tuple, create_graph: bool):
    """Apply the derivatives alone."""
    if grad is NO_GRADIENT and not isinstance(node, GradFn):  # a Function is given zeros, or None
        return (None,) * len(next_nodes)
    return (node._kind.vjp_recorded if create_graph else node._kind.vjp)(node, grad, next_nodes)
