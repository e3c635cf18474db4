"""Results that are not simply one new tensor: several outputs, those of inference mode, and saved results."""

import numpy as np

from .autograd.dual import dual_levels
from .autograd.grad_mode import mode
from .autograd.node import Node
from .autograd.outputs import output_node
from .autograd.versions import UNCOUNTED
from .tensor import Tensor, wrap
from .views import make_views, unrecorded

new = object.__new__


def mark_as_inference(result: Tensor) -> None:
    """Make a result of inference mode an inference tensor; a view of an ordinary tensor stays what it is."""
    if result._meta is None or result._meta.base is None:
        result._version_counter = UNCOUNTED


def rebuild_result(node: Node, array: np.ndarray, counter: list) -> Tensor:
    """A saved result as a Tensor again: the node keeps only the array, as the Tensor points at the node."""
    result = wrap(array, counter)
    result._node = node
    if dual_levels:
        dual_levels[0].recall(node, 0, result)
    return result


def wrap_outputs(node: Node | None, arrays, source: Tensor) -> tuple:
    """Wrap the several views that one operation makes; each gets a node that passes its gradient on."""
    results, recording, dtype = [], mode.recording, source._dtype
    for array in arrays:
        result = new(Tensor)
        result._array, result._dtype = array, dtype
        results.append(result)
    make_views(results, source)
    if node is not None:
        node._shape, node._dtype, node._fits = tuple([a.shape for a in arrays]), dtype, False
    for index, result in enumerate(results):
        meta = result._meta
        if node is None:
            unrecorded(result, source)
        else:
            meta = meta or result.materialize_meta()
            meta.output_nr, result._node = index, output_node(node, index, arrays[index].shape, dtype)
        if recording and meta is not None:
            meta.creation_meta = "several"
    return tuple(results)


def with_zeros(node: Node, grads: dict, raw: bool) -> list:
    """The gradients of all outputs of an operation; for outputs without one zeros, the same for all of one shape."""
    zeros: dict = {shape: np.zeros(shape, node._dtype) for shape in {*node._shape}}
    if not raw:
        zeros = {shape: wrap(array) for shape, array in zeros.items()}
    return [grads[i] if i in grads else zeros[shape] for i, shape in enumerate(node._shape)]
