"""Operations of your own: subclass Function, write forward and backward.

PyTorch counterpart: ``torch/autograd/function.py``. The node of a Function *is* the ``ctx`` of its forward
and backward, as in PyTorch, and is named after it: ``Square`` makes ``<SquareBackward>``.
"""

import functools
import weakref

import numpy as np

from ..dispatch import constant, face_class, record
from ..messages import refusal
from ..ops.index import view_of_all
from ..tensor import Tensor, wrap
from .grad_mode import mode, no_grad
from .graph import (
    Kind,
    Node,
    Packed,
    Record,
    freed_error,
    op_order,
    output_edge,
    own_counter,
    stale_error,
    watch,
    watchers,
)


class FunctionNode(Record, Node):
    """The node of a Function, and the ``ctx`` that its forward and backward are given.

    It is its own record: there is nothing to gain from two objects where the user's code runs in between.
    """

    # What forward may change, by the methods below.
    to_save: tuple = ()
    non_differentiable: tuple = ()
    materialize_grads = True

    def __init__(self):
        pass

    @property
    def record(self) -> "FunctionNode":
        return self

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
        value, expected, current = self.entry(position)
        if expected is not None and expected != current:
            raise stale_error(self, self.kind.saved_names[position], current, expected)
        return value

    def entry(self, position: int) -> tuple:
        if isinstance(self.saved[position], Packed):
            return self.saved[position].open(self), None, None
        origin, value, counter, version = self.saved[position]
        if origin == "output":
            index, array = value
            value = wrap(array, counter)
            self.attach(value, index)
        elif origin == "input":
            counter = value._counter
        return value, version, counter and counter[0]

    def attach(self, tensor: Tensor, index: int) -> None:
        """Make `tensor` output number `index` of this node."""
        tensor._edge = self if self.outputs == 1 else self.output_edge(index)
        if index:
            tensor.meta().output_nr = index

    def output_edge(self, index: int) -> Record:
        """The edge to one of several outputs; the same one for as long as anybody holds it."""
        edge = self.output_edges[index] and self.output_edges[index]()
        if edge is None:
            edge = output_edge(self, index, self.shapes[index], self.dtype)
            self.output_edges[index] = weakref.ref(edge)  # it points here: not to be kept
        return edge

    def keep(self, outputs: list) -> None:
        """Turn what save_for_backward was given into what the node holds."""
        entries = []
        for position, tensor in enumerate(self.to_save):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise refusal("saved is no tensor", position, type(tensor).__name__)
            index = next((i for i, o in enumerate(outputs) if o is tensor), None)
            if tensor is None:
                entries.append(("none", None, None, None))
            elif index is None:
                entries.append(("input", tensor, None, tensor._version))
            else:
                counter = own_counter(tensor)
                entries.append(("output", (index, tensor._array), counter, counter[0]))
        self.saved = tuple(entries)
        names = tuple(f"saved_tensors[{i}]" for i in range(len(entries)))
        function = self.function
        self.kind = Kind(function.__name__, type(self), names)
        self.kind.vjp, self.kind.vjp_recorded = raw_gradients, gradients
        self.to_save = ()
        if watchers:
            watch(self)

    def apply(self, *grads):
        """Run this node's backward by hand."""
        return backward_of(self.function)(self, *grads)

    __call__ = apply


def raw_gradients(node: FunctionNode, grad, edges) -> list:
    """Gradients as arrays: the user's backward gets Tensors all the same."""
    grads = grad if node.outputs > 1 else {0: grad}
    with no_grad():
        results = gradients(node, {i: wrap(np.asarray(g)) for i, g in grads.items()}, edges)
    return [None if r is None else r._array for r in results]


def gradients(node: FunctionNode, grad, edges) -> list:
    """Call the user's backward; one result per tensor that forward was given."""
    grads = grad if isinstance(grad, dict) else {0: grad}
    missing = (lambda shape: wrap(np.zeros(shape, node.dtype))) if node.materialize_grads else lambda shape: None
    arguments = [grads[i] if i in grads else missing(shape) for i, shape in enumerate(node.shapes)]
    results = backward_of(node.function)(node, *arguments)
    results = results if isinstance(results, tuple) else (results,)
    expected = len(node.needs_input_grad)
    if len(results) < expected or any(r is not None for r in results[expected:]):
        raise refusal("number of gradients", node.name(), expected, len(results))
    for result in results:
        if result is not None and not isinstance(result, Tensor):
            raise refusal("gradient is no tensor", type(result).__name__)
    chosen = [results[position] for position in node.tensor_arguments]
    return [r if edge is not None else None for r, edge in zip(chosen, edges, strict=True)]


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
        """Compute the result; write this. It is given ctx, then what apply() was given."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save for backward here instead of in forward, which then gets no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Turn one gradient per output into one per input; write this."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it "
            "with backward mode AD."
        )

    @staticmethod
    def vjp(ctx, *grad_outputs):
        """Another name for backward; write one of the two."""
        raise NotImplementedError

    @classmethod
    def apply(cls, *args):
        """Run forward, and record one node for it if an input requires grad."""
        node = object.__new__(cls._backward_cls)
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        tracked = mode.state > 0 and any(node.needs_input_grad)
        with no_grad():
            if cls.setup_context is not Function.setup_context:
                results = cls.forward(*args)
                cls.setup_context(node, args, results)
            else:
                results = cls.forward(node, *args)
        outputs = list(results) if isinstance(results, tuple) else [results]
        outputs = [_fresh(o, args) for o in outputs]
        for output in outputs:
            if isinstance(output, Tensor) and output._is_view():
                output._meta.born = "several" if len(outputs) > 1 else "function"
        if tracked:
            _record(node, args, outputs)
        return tuple(outputs) if isinstance(results, tuple) else outputs[0]


def _fresh(output, args):
    """An input that forward returned as it came is given back as a view of itself."""
    if any(output is a for a in args) and isinstance(output, Tensor):
        with no_grad():
            return view_of_all(output)
    return output


def _record(node: FunctionNode, args: tuple, outputs: list) -> None:
    node.order = next(op_order)
    node.pending = node.extra = None
    node.face, node.fits = weakref.ref(node), False
    node.tensor_arguments = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    inputs = [args[i] for i in node.tensor_arguments]
    node.edges = tuple(a._edge for a in inputs)
    node.constants = tuple(None if a.requires_grad else constant(a) for a in inputs)
    tensors = [o for o in outputs if isinstance(o, Tensor)]
    node.outputs = len(tensors)
    node.shapes = [o._array.shape for o in tensors]
    node.output_edges = [None] * node.outputs
    node.shape, node.dtype = (tensors[0]._array.shape, tensors[0]._array.dtype) if tensors else ((), None)
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
        if not recording or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return results
        refused = [_refuse_second(r) for r in (results if isinstance(results, tuple) else (results,))]
        return tuple(refused) if isinstance(results, tuple) else refused[0]

    return wrapper


def _refuse(record, grad, edges):
    raise refusal("differentiable once")


# The node that stands where the history of a once-differentiable gradient would be.
REFUSAL = Kind("once_differentiable", face_class("Error", "once_differentiable"))
REFUSAL.vjp = REFUSAL.vjp_recorded = _refuse


def _refuse_second(result):
    if not isinstance(result, Tensor):
        return result
    result = result.detach()
    record(result, REFUSAL, (), None, ())
    return result
