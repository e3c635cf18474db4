"""``torch.autograd.graph``: gradient edges, hooks on several tensors, version counters, saved-tensor hooks.

PyTorch counterparts: the functions of the same names in ``torch/autograd/graph.py``.
"""

from collections.abc import Iterable

from ..messages import refusal
from ..ops.inplace import raise_version
from ..tensor import Tensor
from .grad_fn import GradFn as Node
from .grad_fn import GradientEdge, RemovableHandle, next_function
from .node import is_sink
from .reachability import number_to_be_reached
from .reentry import running
from .saved_tensors import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge to a tensor's grad_fn; it can stand for the tensor in ``grad()`` and ``backward()``.

    RuntimeError if the tensor does not require grad. PyTorch counterpart: ``torch.autograd.graph.get_gradient_edge``.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> mg.autograd.grad(y, get_gradient_edge(x))
    (tensor(6.),)
    """
    if not tensor.requires_grad:
        raise refusal("edge of a constant")
    if is_sink(tensor._node):
        raise refusal("edge of no node")
    return GradientEdge(*next_function(tensor._node), tensor._node)


def increment_version(tensor) -> None:
    """Raise the version of a tensor, or of several, after a change of its memory that autograd could not see.

    PyTorch counterpart: ``torch.autograd.graph.increment_version``.

    >>> import minigrad as mg
    >>> x = mg.tensor([1.0])
    >>> x.numpy()[0] = 2.0
    >>> increment_version(x); x._version
    1
    """
    several = isinstance(tensor, Iterable) and not isinstance(tensor, Tensor)
    tensors = tuple(tensor) if several else (tensor,)
    if not all(isinstance(each, Tensor) for each in tensors):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in tensors:
        if not each.is_inference():  # which has no version
            raise_version(each)


class _MultiHandle(RemovableHandle):
    """Removes the hooks of all the tensors."""

    def __init__(self, handles: tuple):
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors, fn, *, mode: str = "all") -> _MultiHandle:
    """Call `fn` once in each backward, when the gradients of several tensors are complete.

    With mode "all", ``fn(grads)`` waits for every tensor that this backward reaches, and gets None for the others;
    with "any", ``fn(grad)`` gets the first. PyTorch counterpart: ``torch.autograd.graph.register_multi_grad_hook``.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    if mode == "any":
        tensors = tuple(tensor for tensor in tensors if tensor.requires_grad)
    if any(not tensor.requires_grad or (mode == "all" and is_sink(tensor._node)) for tensor in tensors):
        raise refusal("edge of no node")
    nodes = [tensor._node for tensor in tensors]
    so_far: dict = {}  # walk -> the gradients so far, how many calls are still to come

    def note(position: int, grad) -> None:
        walk = running.tasks[-1]
        if mode == "any":
            if walk not in so_far:
                so_far.clear()
                so_far[walk] = None
                fn(grad)
            return
        if walk not in so_far:
            so_far[walk] = [[None] * len(tensors), number_to_be_reached(walk, nodes)]
        grads, _ = so_far[walk]
        grads[position] = grad
        so_far[walk][1] -= 1
        if not so_far[walk][1]:
            del so_far[walk]
            fn(grads)

    def hook_of(position: int):
        return lambda grad: note(position, grad)

    return _MultiHandle(tuple(tensor.register_hook(hook_of(i)) for i, tensor in enumerate(tensors)))
