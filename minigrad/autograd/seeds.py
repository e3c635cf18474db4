"""The seeds of a walk: each output's node with the gradient that backward() or grad() was given for it.

For a scalar it may be left out: it is 1.

PyTorch counterpart: ``_make_grads`` in ``torch/autograd/__init__.py``.
"""

import warnings

import numpy as np

from ..messages import ONLY_INPUTS, refusal, type_name
from ..ops.pointwise import to_copy
from ..ops.shape import expandable, sum_to
from ..size import Size
from ..tensor import Tensor, wrap
from .grad_fn import GradFn, GradientEdge
from .node import Node, is_sink


def as_tuple(tensors) -> tuple:
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge, GradFn)) else tuple(tensors)


def node_of(thing) -> Node | None:
    """The node that gets the gradient of a Tensor or a GradientEdge; of a GradFn, that of its first output."""
    if isinstance(thing, Tensor):
        return thing._node
    if isinstance(thing, GradientEdge):
        return thing.ownership_token or node_of(thing.node)
    if not isinstance(thing, GradFn):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type_name(thing)}")
    return thing._node


def seeds_of(outputs: tuple, gradients) -> list:
    """Pairs (node, gradient) to start from, after the checks that PyTorch makes in this order."""
    gradients = (None,) * len(outputs) if gradients is None else as_tuple(gradients)
    seeds = []
    pairs = zip(outputs, gradients, strict=False)  # gradients without an output are ignored, as in PyTorch
    gradients = [seed_for(o, g, outputs, gradients) for o, g in pairs]
    if len(gradients) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    for index, output in enumerate(outputs):
        node = node_of(output)
        if node is None or is_sink(node):
            raise refusal("no history", index, about=(output, *outputs))
        gradient = gradients[index]
        if gradient._array.shape != node._shape:
            gradient = summed_to(gradient, node._shape, index, output)
        if gradient._dtype is not node._dtype and gradient._dtype != node._dtype:
            gradient = to_copy(gradient, node._dtype)
        seeds.append((node, gradient))
    return seeds


def gradient_tensor(seeds: list, array) -> Tensor:
    """A gradient as a Tensor for the user: the very one that was given to backward(), if it came through unchanged."""
    for _, seed in seeds:
        if isinstance(seed, Tensor) and seed._array is array:
            return seed
    return wrap(np.asarray(array))


def summed_to(gradient: Tensor, shape: tuple, index: int, output) -> Tensor:
    """The seed summed to the shape that the output had when it was recorded: ``.data`` may have changed it since."""
    if not expandable(shape, gradient._array.shape):
        raise refusal("start does not fit", index, list(gradient.shape), list(shape), about=output)
    return sum_to(gradient, shape)


def seed_for(output: Tensor, gradient, outputs: tuple, gradients: tuple) -> Tensor:
    """The gradient of an output: what was given, or 1 for a scalar."""
    if gradient is None and output.__class__ is Tensor and output._array.size == 1:
        ones = output._array.copy()  # as in `ones_of_scalar`; np.ones takes four times as long
        ones.fill(1)
        return wrap(ones)
    if not isinstance(output, (Tensor, GradFn, GradientEdge)):
        raise AssertionError("Expected output to be a torch.Tensor")
    shape = output.shape if isinstance(output, Tensor) else Size(node_of(output)._shape)
    if gradient is None:
        if shape.numel() != 1 and (not isinstance(output, Tensor) or output.requires_grad):
            raise refusal("backward of several", about=output)
        return wrap(np.ones(shape, output._dtype if isinstance(output, Tensor) else node_of(output)._dtype))
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if gradient._array.shape != shape:
        # As PyTorch does it: with several tensors the comparison itself may be what is refused.
        pair = gradients.index(gradient), gradient.shape, outputs.index(output), shape
        raise refusal("start of another shape", *pair, about=output)
    return gradient


def under_either_name(grad_tensors, grad_variables):
    """`grad_tensors` of backward(), which may come under its deprecated name."""
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
