"""Operations with several outputs: each output has a node, which passes its gradient on to the operation's.

    a, b = x.unbind(0)        a._node: output 0 ─┐
                                                 ├─► unbind ─► x._node
                              b._node: output 1 ─┘

The operation's node is newer than its inputs and older than its outputs, so it is evaluated when the gradients of
all outputs are complete. PyTorch counterpart: the pair (function, input_nr) in ``torch/csrc/autograd/edge.h``.
"""

from .node import Kind, Node, op_order


class OutputGrads(dict):
    """Output index -> gradient: the gradient of a node with several outputs."""

    __slots__ = ()

    def __add__(self, other: dict) -> "OutputGrads":
        return OutputGrads(self | {i: self[i] + grad if i in self else grad for i, grad in other.items()})


class _NoGradient(OutputGrads):
    """An undefined gradient, for which a Function or a hook returned None: the node is evaluated all the same."""

    __slots__ = ()

    def __add__(self, other):
        return other


NO_GRADIENT = _NoGradient()


def _pass_on(node: Node, grad, next_nodes: tuple) -> tuple:
    return (OutputGrads({output_nr(node): grad}),)


OUTPUT = Kind("", None)
OUTPUT.vjp = OUTPUT.vjp_recorded = _pass_on


def output_node(operation: Node, index: int, shape: tuple, dtype) -> Node:
    """The node of one output of an operation that has several."""
    node = Node()
    node._kind, node._next_nodes, node._shape, node._dtype = OUTPUT, (operation,), shape, dtype
    node._constants = node._grad_fn = node._hooks = None
    node._order, node._saved, node._options, node._fits = next(op_order), (), (index,), True
    return node


def output_nr(node: Node) -> int:
    """Which output of its operation a tensor with this node is."""
    return node._options[0] if node._kind is OUTPUT else 0


def operation_of(node: Node) -> Node:
    """The node of the operation that made a tensor with this node."""
    return node._next_nodes[0] if node._kind is OUTPUT else node
