"""backward(): add the gradients of a scalar, or of a vector-Jacobian product, to the ``.grad`` of the leaves.

PyTorch counterparts: ``torch.autograd.backward``, ``torch.Tensor.backward``.
"""

from ..messages import CREATE_GRAPH_CYCLE, refusal, warn_once
from ..tensor import Tensor
from . import engine
from .gradients import ones_of_scalar
from .outputs import operation_of
from .seeds import as_tuple, node_of, seeds_of, under_either_name


def tensor_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None) -> None:
    """Compute the gradients of this tensor and add them to the ``.grad`` of the leaves it depends on.

    A scalar needs no `gradient`; any other tensor needs one of its own shape. Saved tensors are freed on the way,
    unless `retain_graph`: a second backward then raises RuntimeError. PyTorch counterpart: ``torch.Tensor.backward``.

    >>> import minigrad as mg
    >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """
    plain = gradient is None and inputs is None and not create_graph  # nearly always
    if plain and (ones := ones_of_scalar(self)) is not None:
        engine.walk([(self._node, ones)], retain_graph, False)
    else:
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def backward(
    tensors,
    grad_tensors=None,
    retain_graph=None,
    create_graph=False,
    grad_variables=None,
    inputs=None,
) -> None:
    """Add the gradients of `tensors` to the ``.grad`` of the leaves (or of `inputs` only).

    `grad_tensors` has one tensor of the same shape per non-scalar in `tensors`: the vector of the
    vector-Jacobian product. PyTorch counterpart: ``torch.autograd.backward``.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> mg.autograd.backward(x * x)
    >>> x.grad
    tensor(6.)
    """
    grad_tensors = under_either_name(grad_tensors, grad_variables)
    if inputs is not None and len(as_tuple(inputs)) == 0:
        raise refusal("backward of no inputs", about=as_tuple(tensors))
    seeds = seeds_of(as_tuple(tensors), grad_tensors)
    retain_graph = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn_once(CREATE_GRAPH_CYCLE)
    if inputs is None:
        engine.walk(seeds, retain_graph, create_graph)
        return
    nodes: dict = {}
    for tensor in as_tuple(inputs):
        node = node_of(tensor)
        nodes[node and operation_of(node)] = None
        if isinstance(tensor, Tensor):
            tensor.retain_grad()  # a non-leaf gets a .grad too
    engine.walk(seeds, retain_graph, create_graph, nodes, capture=False)
