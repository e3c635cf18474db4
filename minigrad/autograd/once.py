"""`once_differentiable`: a backward that cannot be differentiated again.

PyTorch counterpart: ``once_differentiable`` in ``torch/autograd/function.py``.
"""

import functools

from ..dispatch import make_grad_fn_class, record_node
from ..messages import refusal
from ..tensor import Tensor
from .grad_mode import mode, no_grad
from .node import Kind


def once_differentiable(backward):
    """Decorator for a backward that NumPy or another library computes: it cannot be differentiated again.

    PyTorch counterpart: ``torch.autograd.function.once_differentiable``.
    """

    @functools.wraps(backward)
    def wrapper(ctx, *grads):
        recording = mode.recording
        with no_grad():
            results = backward(ctx, *grads)
        if not recording or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return results
        return _refuse_second(results)

    return wrapper


def _refuse(node, grad, next_nodes):
    raise refusal("differentiable once", about=node)


# The history of once-differentiable gradients: a node whose derivative raises.
REFUSAL = Kind("once_differentiable", make_grad_fn_class("Error", "once_differentiable"))
REFUSAL.vjp = REFUSAL.vjp_recorded = _refuse


def _refuse_second(results):
    """The same gradients, with a grad_fn that raises when it is differentiated."""
    several = results if isinstance(results, tuple) else (results,)
    fresh = [r.detach() if isinstance(r, Tensor) else r for r in several]
    next_nodes = tuple(r.detach().requires_grad_()._node if isinstance(r, Tensor) else None for r in several)
    for result in fresh:
        if isinstance(result, Tensor):
            record_node(result, REFUSAL, next_nodes, None, ())
    return tuple(fresh) if isinstance(results, tuple) else fresh[0]
