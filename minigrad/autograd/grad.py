"""grad(): the gradients of some tensors with respect to others, returned instead of added to ``.grad``.

PyTorch counterpart: ``torch.autograd.grad``.
"""

import numpy as np

from ..messages import refusal
from ..ops.shape import stack
from ..tensor import Tensor, wrap
from . import engine
from .dual import Dual, dual_levels
from .node import is_sink
from .seeds import as_tuple, check_options, gradient_tensor, node_of, seeds_of


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
) -> tuple:
    """Return the gradients of `outputs` with respect to `inputs`, one for each input; no ``.grad`` changes.

    `grad_outputs` has a tensor of the same shape per non-scalar output. RuntimeError for an unused input: it gets None
    with `allow_unused`, zeros with `materialize_grads`. PyTorch counterpart: ``torch.autograd.grad``.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> (slope,) = mg.autograd.grad(x ** 2, x, create_graph=True)
    >>> mg.autograd.grad(slope, x)
    (tensor(2.),)
    """
    check_options(only_inputs, allow_unused, materialize_grads)
    if is_grads_batched:
        return batched(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)
    inputs = as_tuple(inputs)
    if not inputs:
        raise refusal("grad of no inputs", about=as_tuple(outputs))
    seeds = seeds_of(as_tuple(outputs), grad_outputs)
    nodes: list = [node_of(thing) for thing in inputs]
    if None in nodes:
        raise refusal("grad of a constant", about=(inputs[nodes.index(None)], *as_tuple(outputs)))
    retain_graph = create_graph if retain_graph is None else retain_graph
    dual = bool(dual_levels) and any(isinstance(o, Dual) for o in as_tuple(outputs))  # the gradients have tangents, too
    wanted = dict.fromkeys([n for n in nodes if not is_sink(n)])
    captured = engine.walk(seeds, retain_graph, create_graph or dual, wanted)
    grads = [g if g is None or isinstance(g, Tensor) else gradient_tensor(seeds, g) for g in map(captured.get, nodes)]
    if dual and not create_graph:
        grads = [g if g is None else without_history(g) for g in grads]
    return completed(inputs, grads, outputs, create_graph, allow_unused, materialize_grads)


def without_history(gradient: Tensor) -> Tensor:
    """The gradient and its tangent, detached: the walk was recorded only because tangents need that."""
    found = gradient.detach()
    if isinstance(gradient, Dual):
        dual_levels[0].carry(found, dual_levels[0].tangent(gradient).detach())
    return found


def batched(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads) -> tuple:
    """One gradient per row of `grad_outputs`, stacked: so many backwards, where PyTorch does all rows in one."""
    outputs, gradients = as_tuple(outputs), as_tuple((None,) if grad_outputs is None else grad_outputs)
    for index, (output, gradient) in enumerate(zip(outputs, gradients, strict=False)):
        if gradient is None:
            raise refusal("backward of several", about=output)
        if gradient.shape[1:] != output.shape:
            shapes = index, gradient.shape[2:], index, output.shape  # as PyTorch says it
            raise refusal("rows of another shape", *shapes, about=output)
    slopes, last = [], len(gradients[0]) - 1
    for row in range(last + 1):
        rows, retain = [gradient[row] for gradient in gradients], retain_graph if row == last else True
        slopes.append(grad(outputs, inputs, rows, retain, create_graph, allow_unused=True))
    found = [None if each[0] is None else stack(each) for each in zip(*slopes, strict=True)]
    return completed(as_tuple(inputs), found, outputs, create_graph, allow_unused, materialize_grads)


def completed(inputs: tuple, grads: list, outputs, *options) -> tuple:
    """The gradients, with `missing` in the place of those that are None."""
    if all([g is not None for g in grads]):
        return tuple(grads)
    each = enumerate(zip(inputs, grads, strict=True))
    return tuple([missing(i, x, outputs, *options) if g is None else g for i, (x, g) in each])


def missing(index: int, tensor, outputs, create_graph, allow_unused, materialize_grads) -> Tensor | None:
    """What an unused input gets: zeros, None, or RuntimeError."""
    if materialize_grads:
        if not isinstance(tensor, Tensor):
            raise refusal("zeros of an edge")
        zeros = wrap(np.zeros(tensor.shape, tensor._dtype))
        return zeros.requires_grad_(create_graph)
    if not allow_unused:
        raise refusal("grad of an unused input", index, about=(tensor, *as_tuple(outputs)))
    return None
