"""What backward() and grad() are given, and where they start.

A start is each output's node, with the gradient that was given for it, or 1 for a scalar.

PyTorch counterpart: ``_make_grads`` in ``torch/autograd/__init__.py``.
"""

import warnings

import numpy as np

from ..messages import ONLY_INPUTS, refusal, type_name
from ..ops.pointwise import to_copy
from ..ops.shape import expandable, sum_to
from ..tensor import Size, Tensor, wrap
from .graph import Record, goes_nowhere
from .node import GradientEdge, Node


def as_tuple(tensors) -> tuple:
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge, Node)) else tuple(tensors)


def edge_of(thing) -> Record | None:
    """Where a gradient of a tensor, of an output of a node, or of a node's first output arrives."""
    if isinstance(thing, Tensor):
        return thing._edge
    if isinstance(thing, GradientEdge):
        return thing.ownership_token or edge_of(thing.node)
    if not isinstance(thing, Node):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type_name(thing)}")
    return thing.record


def seeds_of(outputs: tuple, gradients, create_graph: bool) -> list:
    """Pairs (node, gradient) to start from, after the checks that PyTorch makes in this order."""
    if gradients is None and len(outputs) == 1 and (seed := seed_of_scalar(outputs[0])) is not None:
        return [(outputs[0]._edge, wrap(seed) if create_graph else seed)]
    gradients = (None,) * len(outputs) if gradients is None else as_tuple(gradients)
    seeds = []
    gradients = [seed_for(o, g) for o, g in zip(outputs, gradients, strict=False)]  # more of them are not looked at
    if len(gradients) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    for index, output in enumerate(outputs):
        edge = edge_of(output)
        if edge is None or goes_nowhere(edge):
            raise refusal("no history", index)
        gradient = gradients[index]
        if gradient._array.shape != edge.shape:
            gradient = at_start(gradient, edge.shape, index)
        if gradient._dtype is not edge.dtype and gradient._dtype != edge.dtype:
            gradient = to_copy(gradient, edge.dtype)
        seeds.append((edge, gradient if create_graph else gradient._array))
    return seeds


def at_start(gradient: Tensor, shape: tuple, index: int) -> Tensor:
    """A gradient to start from, in the shape that the output had when it was computed."""
    if not expandable(shape, gradient._array.shape):
        raise refusal("start does not fit", index, list(gradient.shape), list(shape))
    return sum_to(gradient, shape)


def seed_of_scalar(output) -> np.ndarray | None:
    """The gradient 1 for a scalar tensor, from which a backward can start as it is; None for anything else."""
    if not isinstance(output, Tensor) or output._array.size != 1 or output._edge is None:
        return None
    if output._meta is not None and goes_nowhere(output._edge):
        return None
    seed = output._array.copy()
    seed.fill(1)
    return seed


def seed_for(output: Tensor, gradient) -> Tensor:
    """The gradient to start an output with: what was given, or 1 for a scalar."""
    shape = output.shape if isinstance(output, Tensor) else Size(edge_of(output).shape)
    if gradient is None:
        if shape.numel() != 1 and (not isinstance(output, Tensor) or output.requires_grad):
            raise refusal("backward of several")
        return wrap(np.ones(shape, output._dtype if isinstance(output, Tensor) else edge_of(output).dtype))
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if gradient._array.shape != shape:
        raise refusal("start of another shape", gradient.shape, shape)
    return gradient


def under_either_name(grad_tensors, grad_variables):
    """What backward() was given to start from, under its name or its old one."""
    if grad_variables is None:
        return grad_tensors
    warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=3)
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
            "Please only use `grad_tensors`."
        )
    return grad_variables


def check_options(only_inputs, allow_unused, materialize_grads) -> None:
    """Refuse options of grad() that contradict each other."""
    if not only_inputs:
        warnings.warn(ONLY_INPUTS, FutureWarning, stacklevel=3)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
