"""Operations of your own: subclass Function, write forward and backward.

The node of a Function is the ``ctx`` of its forward and backward, as in PyTorch, and is named after it: ``Square``
makes ``<SquareBackward>``. PyTorch counterpart: ``torch/autograd/function.py``.
"""

import inspect
import warnings
import weakref
from collections.abc import Iterable

import numpy as np

from ..messages import DIRTY_NO_INPUT, INSTANTIATED, refusal
from ..operands import constant
from ..ops.inplace import check_recordable, rebase_history
from ..ops.shape import full_view
from ..tensor import Tensor, wrap
from ..views import ModifiedView
from .dual import SavingForForward, dual_levels
from .grad_fn import GradFn
from .grad_mode import mode, no_grad, set_mode
from .gradients import fit
from .node import Kind, Node, Packed, call_creation_hooks, creation_hooks, op_order
from .once import once_differentiable
from .outputs import OutputGrads, output_node
from .saved_tensors import SavedTensor
from .versions import freed_error, own_counter, stale_error

__all__ = ["Function", "once_differentiable"]


# What a Function's node keeps of a tensor that was given to save_for_backward: the tensor, whether it is an output, the
# counter of an output, and the version. In an output's place (its index, its array): the tensor would be a cycle.
NOTHING_SAVED = None, False, None, None


class FunctionNode(SavingForForward, GradFn, Node):
    """The node of one application of a Function, and the ``ctx`` that its forward and backward are given.

    What the engine needs is in slots whose names start with an underscore; every other name is the author's.
    """

    __slots__ = ("__dict__", "_function", "_likes", "_output_nodes", "_outputs", "_tensor_arguments")

    _likes: list  # per output its shape and dtype, None for what is no tensor
    _output_nodes: list  # per output, where there are several, a weakref to its node
    _tensor_arguments: list[int]  # where the tensors stand among the arguments
    needs_input_grad: tuple  # per argument whether it is a tensor that requires grad
    kinds: dict  # what the nodes of this class have in common, by how many tensors they save

    # What forward sets with the methods below.
    to_save: tuple = ()
    non_differentiable: tuple = ()
    dirty_tensors: tuple = ()
    materialize_grads = True
    _unpacks_on_access = True  # where the author's backward asks, not before it

    def __init__(self, function: "type[Function]"):
        self._function, self._saved, self._hooks, self._outputs = function, (), None, 1
        self._kind = self.kind_for(0)

    @classmethod
    def kind_for(cls, count: int) -> Kind:
        """The kind of the nodes of one Function that save so many tensors."""
        kind = cls.kinds.get(count)
        if kind is None:
            kind = cls.kinds[count] = Kind(cls.op_name, cls, names_of_saved(count))
            kind.vjp, kind.vjp_recorded = raw_gradients, gradients
        return kind

    @property
    def _node(self) -> Node:  # type: ignore[override]  # only a NodeGradFn's is ever set
        return self

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
        return tuple(SavedTensor(self, position) for position in range(self._count()))

    def _count(self) -> int:
        if self._saved is None:
            raise freed_error(self)
        return len(self._saved)

    @property
    def saved_variables(self) -> tuple:
        """The name of saved_tensors until PyTorch 0.4."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def _unpack(self, position: int):
        value, expected, current = self._entry(position)
        if expected is not None and current != expected:
            raise stale_error(self, self._kind.saved_names[position], current, expected)
        return value

    def _entry(self, position: int) -> tuple:
        if isinstance(self._saved[position], Packed):
            return self._saved[position].open(self), None, None
        value, is_output, counter, version = self._saved[position]
        if is_output:
            index, array = value
            value = wrap(array, counter)
            self.attach(self, value, index)
            if dual_levels:
                dual_levels[0].recall(self, index, value)
        return value, version, None if value is None else value._version_counter[0]

    def _keep(self, tensors: tuple, outputs: list) -> None:
        """Turn what save_for_backward was given into what the node holds: no output, which would be a cycle."""
        entries: list[tuple] = []
        identities = [*map(id, outputs)]
        for position, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise refusal("saved is no tensor", position, type(tensor).__name__)
            # An output without a derivative does not lead back here, so it can be kept as inputs are.
            if tensor is None:
                entries.append(NOTHING_SAVED)
            elif tensor._node is None or id(tensor) not in identities:
                entries.append((tensor, False, None, tensor._version))
            else:
                index, counter = identities.index(id(tensor)), own_counter(tensor)
                entries.append(((index, tensor._array), True, counter, counter[0]))
        self._saved = tuple(entries)
        self._kind = self.kind_for(len(entries))
        if creation_hooks:
            call_creation_hooks(self)

    def _output_node(self, index: int) -> Node:
        """The node of one of several outputs; the same one for as long as anybody holds it."""
        node = self._output_nodes[index] and self._output_nodes[index]()
        if node is None:
            node = output_node(self, index, *self._likes[index])
            self._output_nodes[index] = weakref.ref(node)  # it points here: to keep it would be a cycle
        return node

    @staticmethod
    def attach(node: "FunctionNode", tensor: Tensor, index: int) -> None:
        """Make `tensor` output number `index` of a node."""
        tensor._node = node if node._outputs == 1 else node._output_node(index)
        if index:
            tensor.materialize_meta().output_nr = index

    def apply(self, *grads):
        """Run this node's backward by hand."""
        return backward_of(self._function)(self, *grads)


def names_of_saved(count: int) -> tuple:
    """The names of the saved tensors."""
    return tuple(f"saved_tensors[{i}]" for i in range(count))


def raw_gradients(node: FunctionNode, grad, next_nodes) -> list:
    """Gradients as arrays: the author's backward gets Tensors all the same."""
    grads = grad if isinstance(grad, OutputGrads) else {0: grad}
    with no_grad():
        results = gradients(node, OutputGrads({i: wrap(np.asarray(g)) for i, g in grads.items()}), next_nodes)
    return [None if r is None else r._array for r in results]


def gradients(node: FunctionNode, grad, next_nodes) -> list:
    """Call the author's backward; one result per tensor that forward was given."""
    grads = grad if isinstance(grad, OutputGrads) else {0: grad}
    arguments = [grads[i] if i in grads else missing(node, like) for i, like in enumerate(node._likes)]
    results = backward_of(node._function)(node, *arguments)
    results = results if isinstance(results, tuple) else (results,)
    expected = len(node.needs_input_grad)
    if len(results) < expected or any(r is not None for r in results[expected:]):
        raise refusal("number of gradients", type(node).__name__, expected, len(results), about=node)
    for position, result in enumerate(results):
        if result is not None and not isinstance(result, Tensor):
            raise refusal("gradient is no tensor", type(result).__name__, about=node)
        if result is not None and position not in node._tensor_arguments:
            raise refusal("gradient of no tensor", type(node).__name__, position + 1, about=node)
    chosen = [results[position] for position in node._tensor_arguments]
    for index, (grad, own) in enumerate(zip(chosen, node._next_nodes, strict=True)):
        # What is asked for is fitted by the engine, which knows the input by its node: the first of two alike.
        if grad is not None and own is not None and (next_nodes[index] is None or own in node._next_nodes[:index]):
            chosen[index] = fit(grad, own, node, index)
    return [None if n is None else grad for grad, n in zip(chosen, next_nodes, strict=True)]


def missing(node: FunctionNode, like: tuple | None) -> Tensor | None:
    """The gradient of an output that none came from: zeros, or None without materialize_grads."""
    return wrap(np.zeros(*like)) if like is not None and node.materialize_grads else None


def backward_of(function: "type[Function]"):
    """The author's backward, under either of its names."""
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

    _backward_cls: type[FunctionNode]

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
        node = cls._backward_cls(cls)
        run = dual_levels[0].apply_function if dual_levels else cls._run
        return run(node, args, kwargs)[0]

    @classmethod
    def _run(cls, node, args: tuple, kwargs: dict) -> tuple:
        """The results, and the arguments in their places."""
        apart = cls.setup_context is not Function.setup_context  # then forward is not given ctx
        if kwargs or apart:
            args = bound_arguments(cls.forward, args if apart else (node, *args), kwargs)[0 if apart else 1 :]
        places, nodes, needed = [], [], []  # before forward changes any
        for place, argument in enumerate(args):
            needed.append(isinstance(argument, Tensor) and argument.requires_grad)
            if isinstance(argument, Tensor):
                places.append(place)
                nodes.append(argument._node)
        node._tensor_arguments, node._next_nodes, node.needs_input_grad = places, tuple(nodes), tuple(needed)
        previous = set_mode(False, mode.inference)
        try:
            results = cls.forward(*args) if apart else cls.forward(node, *args)
            if apart:
                cls.setup_context(node, args, results)
        finally:
            set_mode(*previous)
        outputs = list(results) if isinstance(results, tuple) else [results]
        if apart:
            check_saved_inputs(node, args, outputs)
        if mode.recording and True in node.needs_input_grad:
            record_function(node, args, outputs)
        else:
            check_marks(node, outputs)
            outputs = [unrecorded(node, output, args) for output in outputs]
        forbid_changes(node, outputs)
        return tuple(outputs) if isinstance(results, tuple) else outputs[0], args


def node_class(function: type) -> type:
    """The class of a Function's nodes: of Square it is SquareBackward."""
    return type(function.__name__ + "Backward", (FunctionNode,), {"op_name": function.__name__, "kinds": {}})


Function._backward_cls = node_class(Function)


def bound_arguments(forward, args: tuple, kwargs: dict) -> tuple:
    """The arguments of forward in their places, those with defaults too."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def check_saved_inputs(node: FunctionNode, args: tuple, outputs: list) -> None:
    """With setup_context, an input that forward returned as it came cannot be saved: another tensor is returned."""
    returned = [id(a) for a in args if any(a is o for o in outputs) and not any(a is t for t in node.dirty_tensors)]
    returned = [id(a) for a in args if id(a) in returned and (mode.recording or not getattr(a, "requires_grad", True))]
    if any(id(tensor) in returned for tensor in node.to_save):
        raise refusal("returned input saved")


def check_marks(node: FunctionNode, outputs: list) -> None:
    """Refuse marks on what is no tensor or no output; raise the versions of what was changed in place."""
    for position, tensor in enumerate(node.dirty_tensors):
        if not isinstance(tensor, Tensor):
            raise refusal("dirty is no tensor", position, type(tensor).__name__)
        own_counter(tensor)[0] += 1
    if node.dirty_tensors and not all(any(tensor is output for output in outputs) for tensor in node.dirty_tensors):
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
    """A view of an input that forward returned unchanged: it can get a grad_fn."""
    with no_grad():
        return full_view(tensor)


def record_function(node: FunctionNode, args: tuple, outputs: list) -> None:
    """Make `node` the history of `outputs`; where forward returned an input, another tensor takes its place."""
    constants, dirty = [*map(id, node.non_differentiable)], [*map(id, node.dirty_tensors)]
    if node.dirty_tensors or node.non_differentiable:
        check_marks(node, outputs)
    node._order, node._fits = next(op_order), False
    node._constants = None
    if None in node._next_nodes:
        inputs = [args[i] for i in node._tensor_arguments]
        node._constants = tuple([None if a.requires_grad else constant(a) for a in inputs])
    node._outputs = len(outputs)
    node._likes = [(o._array.shape, o._dtype) if isinstance(o, Tensor) else None for o in outputs]
    node._output_nodes = [None] * node._outputs
    node._shape, node._dtype = next(filter(None, node._likes), ((), None))
    order: Iterable[int] = range(len(outputs))
    if dirty:  # what was changed goes first: its other views, which are made anew then, may be outputs too
        order = sorted(order, key=lambda i: id(outputs[i]) not in dirty)
    for index in order:
        output = outputs[index]
        if not isinstance(output, Tensor) or id(output) in constants or output._dtype.kind != "f":
            outputs[index] = unrecorded(node, output, args)
            continue
        if id(output) in dirty:
            check_changed(output, args, node._likes)
            rebase_history(output, node if node._outputs == 1 else node._output_node(index))
            output.materialize_meta().output_nr = index
            continue
        if id(output) in map(id, args):
            output = outputs[index] = view_of_input(output)
        if output.__class__ is ModifiedView:
            output.__class__ = Tensor  # type: ignore[assignment]  # from its subclass
        node.attach(node, output, index)
    node.non_differentiable = ()
    node._keep(node.to_save, outputs)
    node.to_save = ()


def forbid_changes(node: FunctionNode, outputs: list) -> None:
    """An in-place change of a view that forward made would put another history in the place of the Function's."""
    for output in outputs:
        if not isinstance(output, Tensor) or output._meta is None or output._meta.base is None:
            continue  # no view
        if not any(output is t for t in node.dirty_tensors):
            several = len([o for o in outputs if isinstance(o, Tensor) and o.requires_grad]) > 1
            output._meta.creation_meta = "several" if several else "function"
    node.dirty_tensors = ()


def check_changed(output: Tensor, args: tuple, likes: list) -> None:
    """RuntimeError for mark_dirty of a leaf, or of a view among several outputs."""
    if output.was_leaf() if isinstance(output, ModifiedView) else output.is_leaf and output.requires_grad:
        raise refusal("dirty leaf")
    if output._is_view() and len([like for like in likes if like is not None]) > 1:
        raise refusal("dirty view")
    if isinstance(output, ModifiedView):
        raise output.refused(indirect=False)
    drop_grad_and_hooks(output)
    if output._is_view():
        check_recordable(output)
    if not any(output is a for a in args):
        warnings.warn(DIRTY_NO_INPUT, UserWarning, stacklevel=4)


def drop_grad_and_hooks(changed: Tensor) -> None:
    """What was changed in place loses its gradient and its hooks."""
    meta = changed.materialize_meta()
    meta.grad = meta.hooks = meta.post_hooks = None
