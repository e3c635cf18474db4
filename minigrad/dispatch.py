"""Operations as rows of a table, which is ops/: the forward on arrays, and one derivative per input.

    @op(self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self)
    def mul(self, other):
        return np.multiply(self, other)

The parameter names of a derivative say what it needs, and only that is saved: ``grad``, any argument of the
forward, ``result``, ``NAME_shape`` of an input, or ``grads`` where there are several outputs. A derivative is called
with arrays in a plain backward and with Tensors under ``create_graph=True``, so it uses operators and minigrad's own
operations only. It need not care about versions or inputs that need no gradient, which the assembled code does
(assemble.py), nor about broadcasting and dtypes, which the engine does (`fit`).

PyTorch counterpart: ``tools/autograd/derivatives.yaml``.
"""

import functools
from collections.abc import Callable
from functools import cached_property

import numpy as np

from . import assemble
from .autograd.node import Kind, Node, call_creation_hooks, creation_hooks, op_order
from .autograd.operation_grad_fn import make_grad_fn_class
from .tensor import Tensor


class Row:
    """One table row, taken apart: which arguments are tensors, what each derivative uses.

    Of ``sum_dim(self, dim, keepdim)``: `inputs` and `tracked` are ["self"], `options` ["dim", "keepdim"],
    `saved_tensors` [], `saved_options` ["dim", "keepdim", "self_shape"]; of tanh: `saved_tensors` ["result"].
    """

    def __init__(
        self, definition, numpy_function, /, *, node=None, name=None, floating=False, view=False, constant=(),
        fits=None, number=None, shown=(), frees=(), casts=False, layout=None, numbers=True, **rules,
    ):  # fmt: skip
        self.definition, self.forward, self.rules = definition, numpy_function or definition, rules
        self.floating, self.view = floating, view
        self.ufunc = numpy_function if isinstance(numpy_function, np.ufunc) else None
        self.name, self.op_name = definition.__name__, name or definition.__name__
        self.number, self.shown, self.constant, self.frees = number, shown, constant, frees
        self.casts, self._layout, self.numbers = casts, layout, numbers
        self.grad_fn_name = node or camel(self.op_name) + "Backward0"
        # Whether NumPy may warn of what it computes, as of a division by zero.
        self.warns = not view and self.ufunc not in (np.add, np.subtract, np.multiply)
        # With one derivative there is one input that can have been broadcast, and nothing to broadcast it with.
        self.fits = len(rules) == 1 if fits is None else fits

    # The rest is computed on first access: for all rows at once, the import would be slow.

    @cached_property
    def parameters(self) -> list[str]:
        return arguments(self.definition)

    @cached_property
    def defaults(self) -> dict:
        return dict(zip(reversed(self.parameters), reversed(self.definition.__defaults__ or ()), strict=False))

    @cached_property
    def inputs(self) -> list[str]:
        """The arguments that are tensors."""
        return [p for p in self.parameters if p in self.rules or p in self.constant]

    @cached_property
    def tracked(self) -> list[str]:
        """The inputs that have a derivative."""
        return [p for p in self.inputs if p in self.rules]

    @cached_property
    def layout(self) -> str:
        """How a result lies in memory: "rows", "first" (as the first operand) or "" (as NumPy has it)."""
        if self._layout is None and not self.view:
            return "rows" if "dim" in self.options else "first" if len(self.inputs) > 1 and not self.fits else ""
        return self._layout or ""

    @cached_property
    def options(self) -> list[str]:
        return [p for p in self.parameters if p not in self.inputs]

    @cached_property
    def needs(self) -> dict[str, list[str]]:
        """The arguments of each derivative."""
        return {p: arguments(rule) for p, rule in self.rules.items()}

    @cached_property
    def several_outputs(self) -> bool:
        return any("grads" in names for names in self.needs.values())

    @cached_property
    def used(self) -> list[str]:
        """What the derivatives use besides gradient and node, each once, in order of the forward's arguments."""
        used = {name for names in self.needs.values() for name in names} - {"grad", "grads", "node"}
        order = [*self.parameters, "result"]
        return sorted(used, key=lambda f: (order.index(f) if f in order else len(order), f))  # shapes come last

    @cached_property
    def saved_tensors(self) -> list[str]:
        """What a backward frees: the tensors. (A dim or a shape costs nothing to keep.)"""
        return [f for f in self.used if f == "result" or f in self.inputs or f in self.frees]

    @cached_property
    def saved_options(self) -> list[str]:
        """What no backward frees."""
        return [field for field in self.used if field not in self.saved_tensors]

    @cached_property
    def saved_names(self) -> tuple:
        """Names for the entries of a node's `_saved`; a tensor is followed by its version, a result by two."""
        names = []
        for field in self.saved_tensors:
            names += [field, "", ""] if field == "result" else [field, ""]
        return tuple(names)

    @cached_property
    def kind(self) -> Kind:
        """What all nodes of this row have in common."""
        names = self.saved_names, tuple(self.saved_options)
        kind = Kind(
            self.op_name,
            functools.partial(make_grad_fn_class, self.grad_fn_name, self.op_name, *names, self.shown),
            *names,
            tuple(self.needs[name] for name in self.tracked),
        )
        if self.rules:
            kind.vjp, kind.vjp_recorded = assemble.vjp(self, "vjp"), assemble.vjp(self, "vjp_recorded")
        return kind


def arguments(function) -> list[str]:
    """The names of a function's arguments (``inspect`` takes a hundred times as long to say so)."""
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])


def camel(name: str) -> str:
    """``mse_loss`` as PyTorch's node names have it: ``MseLoss``."""
    return "".join(part.capitalize() for part in name.split("_"))


def op(function=None, /, **details):
    """Make an operation of a forward on arrays. The keywords are its derivatives, one per input; and:

    `function`: the forward, where it is a NumPy function as it stands (the body below is left empty);
    `node`: the node's name, where it is not NameBackward0; `name`: the operation's, where it is not the function's;
    `number`: the option that is a Python number operated on; `floating`: it turns integers into floats;
    `numbers`: whether an operand may be a Python number;
    `casts`: the other operands are taken in the first one's dtype, which the result has;
    `view`: the result shares its input's memory; `layout`: how it lies in memory, see Row.layout;
    `constant`: names of inputs without a derivative; `frees`: options that are freed as tensors are;
    `shown`: what the node shows as ``_saved_...`` besides;
    `fits`: each gradient has its input's shape and dtype, so that nothing needs to be summed or cast.
    """

    def decorate(forward):
        return assemble.operation(Row(forward, function, **details))

    return decorate


def as_operator(operation) -> Callable:
    """The operation for ``x + y``: what it cannot operate on is left to Python."""
    return assemble.operation(operation.row, operator=True)


def with_input_and_out(operation, write_out) -> Callable:
    """The operation as a function whose first argument is named ``input``; calls with ``out=`` go to `write_out`."""
    return functools.update_wrapper(assemble.operation(operation.row, write_out), operation)


def record_node(result: Tensor, kind: Kind, next_nodes: tuple, constants, options: tuple, saved: tuple = ()) -> None:
    """Give `result` a new node: what the assembled code does inline, for operations that are no rows."""
    node = Node()
    node._kind, node._order, node._next_nodes = kind, next(op_order), next_nodes
    node._constants, node._saved, node._options = constants, saved, options
    node._hooks = node._grad_fn = None
    node._shape, node._dtype, node._fits = result._array.shape, result._dtype, False
    result._node = node
    if creation_hooks:
        call_creation_hooks(node)
