"""Operations of your own: subclass Function, write forward and backward.

PyTorch counterpart: ``torch/autograd/function.py``. The node of a Function *is* the ``ctx`` of its forward
and backward, as in PyTorch, and is named after it: ``Square`` makes ``<SquareBackward>``.
"""

import inspect
import warnings
import weakref
from sys import getrefcount
from types import SimpleNamespace

import numpy as np

from ..dispatch import constant
from ..messages import DIRTY_NO_INPUT, INSTANTIATED, refusal
from ..ops.inplace import check_recordable, rebase_history
from ..ops.shape import whole
from ..tensor import Tensor, wrap
from ..views import ModifiedView
from .dual import SavingForForward, dual_levels
from .grad_mode import mode, no_grad
from .graph import Kind, Packed, Record, freed_error, op_order, output_edge, own_counter, stale_error, watch, watchers
from .node import Face, face_of
from .once import once_differentiable
from .saved_tensors import SavedTensor

__all__ = ["Function", "once_differentiable"]


class FunctionRecord(Record):
    """One application of a Function, as the engine walks it. It keeps the ctx, which only knows where it is."""

    __slots__ = ("attributes", "function", "likes", "node", "output_edges", "outputs", "tensor_arguments")

    def __del__(self):
        if self.node is not None and getrefcount(self.node) > ALONE:  # somebody holds it: so it keeps the record now
            self.node._kept, self.node = self, None

    def entry(self, position: int) -> tuple:
        if isinstance(self.saved[position], Packed):
            return self.saved[position].open(self), None, None
        origin, value, counter, version = self.saved[position]
        if origin == "output":
            index, array = value
            value = wrap(array, counter)
            FunctionNode.attach(self, value, index)
            if dual_levels:
                dual_levels[0].recall(self, index, value)
        elif origin == "input":
            counter = value._counter
        return value, version, counter and counter[0]

    def output_edge(self, index: int) -> Record:
        """The edge to one of several outputs; the same one for as long as anybody holds it."""
        edge = self.output_edges[index] and self.output_edges[index]()
        if edge is None:
            edge = output_edge(self, index, *self.likes[index])
            self.output_edges[index] = weakref.ref(edge)  # it points here: not to be kept
        return edge

    def keep(self, tensors: tuple, outputs: list) -> None:
        """Turn what save_for_backward was given into what the record holds."""
        entries = []
        for position, tensor in enumerate(tensors):
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
        self.kind = Kind(self.function.__name__, self.function._backward_cls, names)
        self.kind.vjp, self.kind.vjp_recorded = raw_gradients, gradients
        if watchers:
            watch(self)


# What getrefcount says of a node that nobody but its record holds.
ALONE = (lambda record: (setattr(record, "node", object()), getrefcount(record.node))[1])(SimpleNamespace())


class FunctionNode(SavingForForward, Face):
    """The node of a Function, and the ``ctx`` that its forward and backward are given.

    Its attributes are the user's, so they live on with the record. What is the engine's is on the record itself.
    """

    # What forward may change, by the methods below.
    to_save: tuple = ()
    non_differentiable: tuple = ()
    dirty_tensors: tuple = ()
    materialize_grads = True
    _unpacks_itself = True  # where the user's backward asks, not before it

    __slots__ = ("__dict__", "_held", "_kept")

    def __init__(self, record: FunctionRecord):
        self._held, self._kept = weakref.ref(record), None
        self.__dict__, record.node = record.attributes, self

    @property
    def record(self) -> FunctionRecord:
        return self._kept or self._held()

    def save_for_backward(self, *tensors) -> None:
        """Keep tensors for backward; their versions are checked where it reads them. None is allowed."""
        self.to_save = tensors

    def mark_dirty(self, *inputs) -> None:
        """Say that forward changed these inputs in place; it has to return them."""
        self.dirty_tensors = inputs

    def mark_non_differentiable(self, *outputs) -> None:
        """Say that these outputs have no gradient."""
        self.non_differentiable = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (True, the start) or None for outputs that nothing came from."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """What forward saved. RuntimeError once a backward has freed it, or if it was overwritten since."""
        return tuple(self._unpack(position) for position in range(self._count()))

    @property
    def _raw_saved_tensors(self) -> tuple:
        return tuple(SavedTensor(self.record, position) for position in range(self._count()))

    def _count(self) -> int:
        if self.record.saved is None:
            raise freed_error()
        return len(self.record.saved)

    @property
    def saved_variables(self) -> tuple:
        """The name of saved_tensors until PyTorch 0.4."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def _unpack(self, position: int):
        value, expected, current = self.record.entry(position)
        if expected is not None and current != expected:
            raise stale_error(self.record, self.record.kind.saved_names[position], current, expected)
        return value

    @staticmethod
    def attach(record: FunctionRecord, tensor: Tensor, index: int) -> None:
        """Make `tensor` output number `index` of a record."""
        tensor._edge = record if record.outputs == 1 else record.output_edge(index)
        if index:
            tensor.meta().output_nr = index

    def apply(self, *grads):
        """Run this node's backward by hand."""
        return backward_of(self.record.function)(self, *grads)


def raw_gradients(record: FunctionRecord, grad, edges) -> list:
    """Gradients as arrays: the user's backward gets Tensors all the same."""
    grads = grad if record.outputs > 1 else {0: grad}
    with no_grad():
        results = gradients(record, {i: wrap(np.asarray(g)) for i, g in grads.items()}, edges)
    return [None if r is None else r._array for r in results]


def gradients(record: FunctionRecord, grad, edges) -> list:
    """Call the user's backward; one result per tensor that forward was given."""
    node = face_of(record)
    grads = grad if isinstance(grad, dict) else {0: grad}
    arguments = [grads[i] if i in grads else missing(node, like) for i, like in enumerate(record.likes)]
    results = backward_of(record.function)(node, *arguments)
    results = results if isinstance(results, tuple) else (results,)
    expected = len(node.needs_input_grad)
    if len(results) < expected or any(r is not None for r in results[expected:]):
        raise refusal("number of gradients", record.kind.face.__name__, expected, len(results))
    for position, result in enumerate(results):
        if result is not None and not isinstance(result, Tensor):
            raise refusal("gradient is no tensor", type(result).__name__)
        if result is not None and position not in record.tensor_arguments:
            raise refusal("gradient of no tensor", record.kind.face.__name__, position + 1)
    chosen = [results[position] for position in record.tensor_arguments]
    return [r if edge is not None else None for r, edge in zip(chosen, edges, strict=True)]


def missing(node: FunctionNode, like: tuple | None) -> Tensor | None:
    """What backward is given for an output that no gradient came from."""
    return wrap(np.zeros(*like)) if like is not None and node.materialize_grads else None


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
        cls._backward_cls = node_class(cls)

    def __init__(self, *args, **kwargs):
        warnings.warn(INSTANTIATED.format(self.__class__), DeprecationWarning, stacklevel=2)

    def __call__(self, *args, **kwargs):
        """Refused: a Function is used through ``apply``."""
        raise refusal("legacy function")

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

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """Turn one tangent per input into one per output, right after forward; write this for forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run forward, and record one node for it if an input requires grad."""
        record = FunctionRecord()
        record.attributes, record.function, record.saved = {}, cls, ()
        node = cls._backward_cls(record)
        record.face = weakref.ref(node)
        run = dual_levels[0].apply_function if dual_levels else cls._run
        return run(node, args, kwargs)[0]

    @classmethod
    def _run(cls, node, args: tuple, kwargs: dict) -> tuple:
        """The results, and the arguments in their places."""
        apart = cls.setup_context is not Function.setup_context
        if apart or kwargs:
            args = in_order(cls.forward, args if apart else (node, *args), kwargs)[0 if apart else 1 :]
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        node.record.edges = tuple(a._edge for a in args if isinstance(a, Tensor))  # before forward changes any
        with no_grad():
            results = cls.forward(*args) if apart else cls.forward(node, *args)
            if apart:
                cls.setup_context(node, args, results)
        outputs = list(results) if isinstance(results, tuple) else [results]
        if mode.state > 0 and any(node.needs_input_grad):
            record_function(node, args, outputs)
        else:
            check_marks(node, outputs)
            outputs = [unrecorded(node, output, args) for output in outputs]
        forbid_changes(node, outputs)
        return tuple(outputs) if isinstance(results, tuple) else outputs[0], args


def node_class(function: type) -> type:
    """The class of a Function's nodes: of Square it is SquareBackward."""
    return type(function.__name__ + "Backward", (FunctionNode,), {"op_name": function.__name__})


Function._backward_cls = node_class(Function)


def in_order(forward, args: tuple, kwargs: dict) -> tuple:
    """The arguments of forward in their places, those with defaults too."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def check_marks(node: FunctionNode, outputs: list) -> None:
    """Refuse marks on what is no tensor or no output; raise the versions of what was changed in place."""
    for position, tensor in enumerate(node.dirty_tensors):
        if not isinstance(tensor, Tensor):
            raise refusal("dirty is no tensor", position, type(tensor).__name__)
        own_counter(tensor)[0] += 1
    if not all(any(tensor is output for output in outputs) for tensor in node.dirty_tensors):
        raise refusal("dirty is no output")
    for output in node.non_differentiable:
        if not isinstance(output, Tensor):
            raise refusal("constant is no tensor", type(output).__name__)


def unrecorded(node: FunctionNode, output, args: tuple):
    """An output that needs no gradient. An input that was not changed is given back as another tensor."""
    if not isinstance(output, Tensor):
        return output
    given = any(output is a for a in args)
    if output.requires_grad and (given or not output._is_view()):
        return output.detach()
    changed = any(output is tensor for tensor in node.dirty_tensors)
    return view_of_input(output) if given and not changed else output


def view_of_input(tensor: Tensor) -> Tensor:
    """A new tensor for an input that forward returned as it came, to hang the history on."""
    with no_grad():
        return whole(tensor)


def record_function(node: FunctionNode, args: tuple, outputs: list) -> None:
    """Make `node` the history of `outputs`; where forward returned an input, another tensor takes its place."""
    check_marks(node, outputs)
    record = node.record
    record.order = next(op_order)
    record.pending = record.extra = None
    record.fits = False
    record.tensor_arguments = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    inputs = [args[i] for i in record.tensor_arguments]
    record.constants = tuple(None if a.requires_grad else constant(a) for a in inputs)
    record.outputs = len(outputs)
    record.likes = [(o._array.shape, o._dtype) if isinstance(o, Tensor) else None for o in outputs]
    record.output_edges = [None] * record.outputs
    record.shape, record.dtype = next((like for like in record.likes if like is not None), ((), None))
    constants = [id(o) for o in node.non_differentiable]
    for index, output in enumerate(outputs):
        if not isinstance(output, Tensor) or id(output) in constants or output._dtype.kind != "f":
            outputs[index] = unrecorded(node, output, args)
            continue
        if any(output is tensor for tensor in node.dirty_tensors):
            check_changed(output, args, record.likes)
            rebase_history(output, record if record.outputs == 1 else record.output_edge(index))
            output.meta().output_nr = index
            continue
        if any(output is a for a in args):
            output = outputs[index] = view_of_input(output)
        node.attach(record, output, index)
    node.non_differentiable = ()
    record.keep(node.to_save, outputs)
    node.to_save = ()


def forbid_changes(node: FunctionNode, outputs: list) -> None:
    """An in-place change of a view that forward made would put another history in the place of the Function's."""
    several = len([o for o in outputs if isinstance(o, Tensor) and o.requires_grad]) > 1
    for output in outputs:
        if isinstance(output, Tensor) and output._is_view() and not any(output is t for t in node.dirty_tensors):
            output._meta.born = "several" if several else "function"
    node.dirty_tensors = ()


def check_changed(output: Tensor, args: tuple, likes: list) -> None:
    """Refuse to hang a new history on a leaf, or, where there are several outputs, on a view."""
    if isinstance(output, ModifiedView):
        raise refusal("dirty leaf") if output.was_leaf() else output.refused(indirect=False)
    if output.is_leaf and output.requires_grad:
        raise refusal("dirty leaf")
    forget(output)
    if output._is_view():
        check_recordable(output)
    if not any(output is a for a in args):
        warnings.warn(DIRTY_NO_INPUT, UserWarning, stacklevel=4)
    if output._base is not None and len([like for like in likes if like is not None]) > 1:
        raise refusal("dirty view")


def forget(changed: Tensor) -> None:
    """What was changed in place loses its gradient and its hooks."""
    meta = changed.meta()
    meta.grad = meta.hooks = meta.post_hooks = None
