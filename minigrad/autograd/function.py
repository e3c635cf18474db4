"""Operations of your own: subclass Function, write forward and backward.

PyTorch counterpart: ``torch/autograd/function.py``. The node of a Function *is* the ``ctx`` of its forward
and backward, as in PyTorch, and is named after it: ``Square`` makes ``<SquareBackward>``.
"""

import functools

import numpy as np

from ..dispatch import constant
from ..messages import refuse
from ..tensor import Tensor, wrap
from .grad_mode import OFF, mode, no_grad
from .graph import (
    Node,
    OutputEdge,
    Saved,
    freed_error,
    gradient_edge,
    next_op_order,
    own_counter,
    stale_error,
)


class FunctionNode(Node):
    """The node of a Function, and the ``ctx`` that its forward and backward are given."""

    frees = True
    function: type
    # What forward may change, by the methods below.
    to_save: tuple = ()
    non_differentiable: tuple = ()
    materialize_grads = True

    def save_for_backward(self, *tensors) -> None:
        """Keep inputs or outputs for backward; their versions are checked then. None is allowed."""
        self.to_save = tensors

    def mark_non_differentiable(self, *outputs) -> None:
        """Say that these outputs have no gradient."""
        self.non_differentiable = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (True, the start) or None for outputs that nothing came from."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """What forward saved. RuntimeError once a backward has freed it, or if it was overwritten since."""
        if self.saved is None:
            raise freed_error()
        return tuple(self._unpack(position) for position in range(len(self.saved)))

    def _unpack(self, position: int):
        value, expected, current = self._entry(position)
        if expected is not None and expected != current:
            raise stale_error(self, self.saved_names[position], current, expected)
        return value

    def _entry(self, position: int) -> tuple:
        kind, value, counter, version = self.saved[position]
        if kind == "output":
            index, array = value
            value = wrap(array, counter)
            self.attach(value, index)
        elif kind == "input":
            counter = value._counter
        return value, version, counter and counter[0]

    def attach(self, tensor: Tensor, index: int) -> None:
        """Make `tensor` output number `index` of this node."""
        tensor._requires_grad, tensor._grad_fn = True, self
        if self.outputs > 1:
            meta = tensor.meta()
            meta.output_nr, meta.edge = index, self.output_edges[index]

    def saved_state(self) -> list[Saved]:
        if self.saved is None:
            return [Saved(name, None, None, None) for name in self.saved_names]
        return [Saved(name, *self._entry(position)) for position, name in enumerate(self.saved_names)]

    def keep(self, outputs: list) -> None:
        """Turn what save_for_backward was given into what the node holds."""
        entries, names = [], []
        for position, tensor in enumerate(self.to_save):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise refuse(
                    TypeError,
                    "save_for_backward can only save variables, but argument "
                    f"{position} is of type {type(tensor).__name__}",
                    "keep other things as attributes: ctx.name = value.",
                )
            names.append(f"saved_tensors[{position}]")
            index = next((i for i, o in enumerate(outputs) if o is tensor), None)
            if tensor is None:
                entries.append(("none", None, None, None))
            elif index is None:
                entries.append(("input", tensor, None, tensor._version))
            else:
                counter = own_counter(tensor)
                entries.append(("output", (index, tensor._array), counter, counter[0]))
        self.saved, self.saved_names = tuple(entries), tuple(names)
        del self.to_save

    # -- backward --------------------------------------------------------------------------------

    def vjp(self, grad, edges):
        grads = grad if self.outputs > 1 else [grad]
        tensors = [None if g is None else wrap(np.asarray(g)) for g in grads]
        results = self._gradients(tensors)
        return [r if r is None else r._array for r in results]

    def vjp_recorded(self, grad, edges):
        return self._gradients(list(grad) if self.outputs > 1 else [grad])

    def _gradients(self, grads: list) -> list:
        """Call the user's backward; one result per tensor argument of forward."""
        if self.materialize_grads:
            grads = [
                wrap(np.zeros(shape, self.dtype)) if g is None else g
                for g, shape in zip(grads, self.shapes, strict=True)
            ]
        results = backward_of(self.function)(self, *grads)
        results = results if isinstance(results, tuple) else (results,)
        expected = len(self.needs_input_grad)
        if len(results) > expected and any(r is not None for r in results[expected:]) or len(results) < expected:
            raise refuse(
                RuntimeError,
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got "
                f"{len(results)})",
                "return one gradient per argument of forward, None for those that have none.",
            )
        for result in results:
            if result is not None and not isinstance(result, Tensor):
                raise refuse(
                    RuntimeError,
                    f"expected Variable or None (got {type(result).__name__})",
                    "backward returns Tensors, or None for an argument without gradient.",
                )
        return [results[position] for position in self.tensor_arguments]

    def apply(self, *grads):
        """Run this node's backward by hand."""
        results = backward_of(self.function)(self, *grads)
        return results

    __call__ = apply


def backward_of(function: type):
    """The user's backward, under either of its names."""
    has_backward = function.backward is not Function.backward
    has_vjp = function.vjp is not Function.vjp
    if has_backward and has_vjp:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
            "implement one of them."
        )
    return function.vjp if has_vjp else function.backward


class Function:
    """Base class of your own operations. Use it with ``apply``, never by making an instance.

    `forward` runs unrecorded; `backward` is given one gradient per output and returns one per input.
    PyTorch counterpart: ``torch.autograd.Function``.

    >>> import minigrad as mg
    >>> class Double(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         return grad_output * 2
    >>> Double.apply(mg.tensor(3.0, requires_grad=True))
    tensor(6., grad_fn=<DoubleBackward>)
    """

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls._backward_cls = type(cls.__name__ + "Backward", (FunctionNode,), {"function": cls, "op_name": cls.__name__})

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save for backward here instead of in forward, which then gets no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it "
            "with backward mode AD."
        )

    vjp = staticmethod(lambda ctx, *grad_outputs: None)

    @classmethod
    def apply(cls, *args):
        """Run forward, and record one node for it if an input requires grad."""
        node = object.__new__(cls._backward_cls)
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a._requires_grad for a in args)
        tracked = mode.state > 0 and any(node.needs_input_grad)
        with no_grad():
            if cls.setup_context is not Function.setup_context:
                results = cls.forward(*args)
                cls.setup_context(node, args, results)
            else:
                results = cls.forward(node, *args)
        outputs = list(results) if isinstance(results, tuple) else [results]
        outputs = [_fresh(o, args) for o in outputs]
        if tracked:
            _record(node, args, outputs)
        return tuple(outputs) if isinstance(results, tuple) else outputs[0]


def _fresh(output, args):
    """An input that forward returned as it came is given back as a new tensor on the same memory."""
    if any(output is a for a in args) and isinstance(output, Tensor):
        return output.detach()
    return output


def _record(node: FunctionNode, args: tuple, outputs: list) -> None:
    node.order = next_op_order()
    node.pending = node.extra = None
    node.tensor_arguments = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    inputs = [args[i] for i in node.tensor_arguments]
    node.edges = tuple(gradient_edge(a) if a._requires_grad else None for a in inputs)
    node.constants = tuple(None if a._requires_grad else constant(a) for a in inputs)
    tensors = [o for o in outputs if isinstance(o, Tensor)]
    node.outputs = len(tensors)
    node.shapes = [o._array.shape for o in tensors]
    node.shape, node.dtype = (tensors[0]._array.shape, tensors[0]._array.dtype) if tensors else ((), None)
    if node.outputs > 1:
        node.output_edges = [
            OutputEdge(node, i, o._array.shape, o._array.dtype) for i, o in enumerate(tensors)
        ]
    skipped = [id(o) for o in node.non_differentiable]
    for index, output in enumerate(tensors):
        if id(output) not in skipped and output._array.dtype.kind == "f":
            node.attach(output, index)
    node.non_differentiable = ()
    node.keep(tensors)


def once_differentiable(backward):
    """Decorator for a backward that NumPy or another library computes: it cannot be differentiated again.

    PyTorch counterpart: ``torch.autograd.function.once_differentiable``.
    """

    @functools.wraps(backward)
    def wrapper(ctx, *grads):
        recording = mode.state > 0
        with no_grad():
            results = backward(ctx, *grads)
        if not recording or not any(isinstance(g, Tensor) and g._requires_grad for g in grads):
            return results
        refused = [_refuse_second(r) for r in (results if isinstance(results, tuple) else (results,))]
        return tuple(refused) if isinstance(results, tuple) else refused[0]

    return wrapper


class _Refusal(FunctionNode):
    """Stands where the history of a once-differentiable gradient would be."""

    def vjp(self, grad, edges):
        raise refuse(
            RuntimeError,
            "trying to differentiate twice a function that was marked with @once_differentiable",
            "write its backward with minigrad operations and drop the decorator.",
        )

    vjp_recorded = vjp


def _refuse_second(result):
    if not isinstance(result, Tensor):
        return result
    node = object.__new__(_Refusal)
    node.order, node.edges, node.constants = next_op_order(), (), ()
    node.pending = node.extra = None
    node.shape, node.dtype = result._array.shape, result._array.dtype
    node.saved, node.saved_names = (), ()
    result = result.detach()
    result._requires_grad, result._grad_fn = True, node
    return result
