"""backward: the walk from the outputs to the leaves.

    1. each output's node is given its gradient (a scalar's is 1);
    2. the newest node with a gradient is taken: everything that used its output was made later, so
       its gradient is complete;
    3. its derivatives turn that gradient into one for each input, which is added to what the input's
       node has gathered; step 2 again, until no node is waiting;
    4. leaves come last: AccumulateGrad adds to ``.grad``. (One that has hooks takes its turn as soon as its
       gradient is complete, as all do in PyTorch; without hooks nobody can tell the difference.)

Nothing recurses, so a graph may be a million nodes deep. PyTorch counterparts: ``torch/autograd/__init__.py``
and ``torch/csrc/autograd/engine.cpp``.
"""

from heapq import heappop, heappush, heappushpop
from sys import getrefcount
from threading import RLock, get_ident

import numpy as np
from numpy import ndarray

from ..messages import CREATE_GRAPH_CYCLE, refusal, silence, warn_once
from ..ops.inplace import copy_
from ..ops.pointwise import to_copy
from ..ops.shape import column_sums, expandable, stack, sum_to
from ..tensor import Tensor, wrap
from .ahead import hooked_leaves, on_the_way, reachable
from .grad_mode import ON, is_inference_mode_enabled, set_state
from .graph import (
    HANDS_OVER,
    LEAF,
    OUTPUT,
    AutogradMeta,
    Record,
    anomaly,
    goes_nowhere,
    op_order,
    own_counter,
    recorded_walks,
)
from .hooks import between_hooks, called_with, hooked, run_hooks, run_post_accumulate
from .node import RemovableHandle
from .reentry import DEEPEST, OPEN, in_a_thread_of_its_own, stand_ins
from .seeds import as_tuple, check_options, edge_of, seed_of_scalar, seeds_of, under_either_name

# -- the public functions ------------------------------------------------------------------------


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
        raise refusal("backward of no inputs")
    seeds = seeds_of(as_tuple(tensors), grad_tensors, create_graph)
    retain_graph = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn_once(CREATE_GRAPH_CYCLE)
    if inputs is None:
        walk(seeds, retain_graph, create_graph)
        return
    wanted = {}
    for tensor in as_tuple(inputs):
        edge = edge_of(tensor)
        wanted[edge.edges[0] if edge and edge.kind is OUTPUT else edge] = None
        if isinstance(tensor, Tensor):
            tensor.retain_grad()  # what is no leaf gets a .grad too
    walk(seeds, retain_graph, create_graph, wanted, capture=False)


def tensor_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None) -> None:
    """Compute the gradients of this tensor and add them to the ``.grad`` of the leaves it depends on.

    A scalar needs no `gradient`; anything else does. The graph's saved values are freed on the way,
    unless `retain_graph`. PyTorch counterpart: ``torch.Tensor.backward``.

    >>> import minigrad as mg
    >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """
    plain = gradient is None and inputs is None and not create_graph  # as nearly always: straight to the walk
    if plain and (seed := seed_of_scalar(self)) is not None:
        walk([(self._edge, seed)], retain_graph, False)
    else:
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
) -> tuple:
    """Return the gradients of `outputs` with respect to `inputs`; no ``.grad`` changes.

    PyTorch counterpart: ``torch.autograd.grad``.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> (slope,) = mg.autograd.grad(x ** 2, x, create_graph=True)
    >>> mg.autograd.grad(slope, x)
    (tensor(2.),)
    """
    check_options(only_inputs, allow_unused, materialize_grads)
    if is_grads_batched:
        return batched(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)
    inputs = as_tuple(inputs)
    if not inputs:
        raise refusal("grad of no inputs")
    seeds = seeds_of(as_tuple(outputs), grad_outputs, create_graph)
    nodes = [edge_of(thing) for thing in inputs]
    if None in nodes:
        raise refusal("grad of a constant")
    retain_graph = create_graph if retain_graph is None else retain_graph
    captured = walk(seeds, retain_graph, create_graph, dict.fromkeys(nodes))
    arrived = [None if goes_nowhere(node) else captured.get(node) for node in nodes]
    each = zip(range(len(nodes)), inputs, arrived, strict=True)
    return tuple([result_for(i, t, grad, create_graph, allow_unused, materialize_grads) for i, t, grad in each])


def batched(outputs, inputs, grad_outputs, retain_graph, create_graph, *options) -> tuple:
    """One gradient per row of `grad_outputs`, stacked: so many backwards, where PyTorch does all rows in one."""
    outputs, gradients = as_tuple(outputs), as_tuple((None,) if grad_outputs is None else grad_outputs)
    for index, (output, gradient) in enumerate(zip(outputs, gradients, strict=False)):
        if gradient is None:
            raise refusal("backward of several")
        if gradient.shape[1:] != output.shape:
            raise refusal("rows of another shape", index, gradient.shape[2:], index, output.shape)  # as PyTorch says it
    slopes, last = [], len(gradients[0]) - 1
    for row in range(last + 1):
        rows, retain = [gradient[row] for gradient in gradients], retain_graph if row == last else True
        slopes.append(grad(outputs, inputs, rows, retain, create_graph, True, options[0], False, options[1]))
    return tuple([None if each[0] is None else stack(each) for each in zip(*slopes, strict=True)])


def result_for(index: int, tensor: Tensor, grad, create_graph, allow_unused, materialize_grads):
    """One entry of what grad() returns."""
    if grad is not None:
        return grad if isinstance(grad, Tensor) else wrap(np.asarray(grad))
    if materialize_grads:
        if not isinstance(tensor, Tensor):
            raise refusal("zeros of an edge")
        zeros = wrap(np.zeros(tensor.shape, edge_of(tensor).dtype))
        return zeros.requires_grad_(create_graph)
    if not allow_unused:
        raise refusal("grad of an unused input", index)
    return None


# -- the walk ------------------------------------------------------------------------------------

# One backward at a time: gradients in progress are kept on the nodes. The same thread may come in again
# (a hook or a Function that calls backward); `_waiting` holds what the walks that it interrupted wait for.
_lock = RLock()
_waiting: list = []


def walk(seeds: list, retain_graph: bool, create_graph: bool, wanted: dict | None = None, capture=True) -> dict:
    """Run the graph from `seeds`, pairs (node, gradient).

    With `wanted`, a dict of nodes, go only where one of them can be reached, and return the gradients that
    arrive there instead of accumulating them in leaves; unless `capture` is False, which accumulates in these.
    """
    silence()
    before = stand_ins.get(get_ident(), 0) if stand_ins else 0
    with OPEN if before else _lock:
        if len(_waiting) - before >= DEEPEST:
            return in_a_thread_of_its_own(len(_waiting), walk, seeds, retain_graph, create_graph, wanted, capture)
        interrupted = _interrupt() if _waiting else ()
        waiting = Waiting(seeds, wanted, capture)
        _waiting.append(waiting)
        # Arrays record nothing, whatever the mode: only Tensors, and code that is not ours, need it set.
        records = create_graph and not is_inference_mode_enabled()
        state, first = (set_state(ON), -next(op_order)) if records else (None, 0)
        try:
            route = None if wanted is None else reachable(seeds, wanted)
            if route is not None and not capture:
                route.update(wanted)  # the wanted nodes run too, with their hooks
            for node, grad in seeds:
                if route is None or node in route or node in wanted or len(seeds) == 1:
                    waiting.add(node, grad)
            # Where the walk goes everywhere and only leaves are wanted, nothing is to be noted on the way.
            noted = None if wanted is None or (route is None and all([node.order > 0 for node in wanted])) else wanted
            captured: dict = {}
            waiting.hurried = hooked_leaves(seeds, route) if RemovableHandle.on_a_leaf else None
            run(waiting, retain_graph, create_graph, noted, route, captured)
            finish(waiting.leaves, waiting, create_graph, captured)
            return captured
        finally:
            if state is not None:
                set_state(state)
                recorded_walks.append((first, -next(op_order)))
            _waiting.pop()
            for node in waiting.nodes():
                node.pending = None
            for node, pending in interrupted:
                node.pending = pending


def _interrupt() -> list:
    """Lay aside what the walk around this one has gathered (as that did before): it may be on the same nodes."""
    interrupted = [(node, node.pending) for node in _waiting[-1].nodes()]
    for node, _ in interrupted:
        node.pending = None
    return interrupted


class Waiting:
    """The records that have a gradient and wait for their turn.

    Most graphs are mostly one node after the other. Such a node is held beside the heap, which is let alone then.
    """

    __slots__ = ("beside", "capture", "coming", "heap", "hurried", "leaves", "seeds", "wanted")

    def __init__(self, seeds: list, wanted: dict | None, capture: bool):
        self.heap: list = []
        self.leaves: list = []
        self.beside: Record | None = None
        self.seeds, self.wanted, self.capture, self.coming = seeds, wanted, capture, None
        self.hurried: dict | None = None  # how many contributions are still to come to leaves with hooks

    def will_come_to(self, records: list) -> list[bool]:
        """Whether a gradient arrives at each of these during this walk: for hooks that wait for several."""
        if self.coming is None:
            self.coming = on_the_way(self.seeds)
        wanted = self.wanted
        return [r in self.coming and (wanted is None or r.kind is not LEAF or r in wanted) for r in records]

    def add(self, node: Record, grad) -> None:
        """Let a gradient arrive: the first one makes the record wait, further ones are added."""
        if node.pending is not None:
            node.pending = node.pending + grad
            return
        node.pending = grad
        if node.order > 0:
            self.leaves.append(node)
        else:
            heappush(self.heap, (node.order, node))

    def nodes(self) -> list:
        """All that wait, in no order."""
        if not self.heap and self.beside is None:
            return self.leaves
        return [*(node for _, node in self.heap), *self.leaves, *([self.beside] if self.beside else [])]


def run(waiting: Waiting, retain_graph, create_graph, wanted, route, captured: dict) -> None:
    """Take the newest node, apply its derivatives, let the results arrive at its inputs; until none waits."""
    heap, leaves, careful, hurried = waiting.heap, waiting.leaves, anomaly.enabled, waiting.hurried
    while heap or waiting.beside is not None:
        node, waiting.beside = waiting.beside, None
        if heap:
            node = (heappop(heap) if node is None else heappushpop(heap, (node.order, node)))[1]
        grad, edges, kind = node.pending, node.edges, node.kind
        node.pending = None
        if node.extra is not None:
            grad = run_hooks(node, grad)
        if wanted is not None:
            edges = restricted(node, grad, wanted, route, captured, retain_graph, create_graph)
        if node.extra is HANDS_OVER or edges is None:
            hand_over(waiting, node, grad, edges)
            continue
        if node.extra is None and not careful:
            grads = (kind.vjp_recorded if create_graph else kind.vjp)(node, grad, edges)
        else:
            grads = between_hooks(node, grad, edges, create_graph, fit)
        if kind.frees and not retain_graph:
            node.saved = None
        for edge, grad in zip(edges, grads):  # noqa: B905 (as long as each other, always)
            if grad is None:
                continue
            if not node.fits and (node.fits is not None or grad.shape != edge.shape):
                grad = fit(grad, edge, node)
            if edge.pending is not None:
                edge.pending = edge.pending + grad
                continue
            edge.pending = grad
            if edge.order > 0:
                leaves.append(edge)
            elif waiting.beside is None:
                waiting.beside = edge
            else:
                heappush(heap, (edge.order, edge))
        if hurried is not None:
            finish_complete(node, waiting, create_graph, captured)


def restricted(
    node: Record, grad, wanted: dict, route: set | None, captured: dict, retain_graph, create_graph
) -> tuple | None:
    """Note what arrives where it is wanted. The edges that lead on to another wanted record, None if none does."""
    if node.kind is OUTPUT and route is not None and node not in route and node.edges[0].extra:  # which will not run
        grad = run_hooks(node.edges[0], {node.saved: grad})[node.saved]
    if node in wanted:
        captured[node] = grad
    if route is None:
        return node.edges
    if node not in route:
        return None
    edges = tuple([edge if edge in route or edge in wanted else None for edge in node.edges])
    if any(edges):
        return edges
    between_hooks(node, grad, edges, create_graph, fit)  # one of backward's `inputs`: it runs for the sake of its hooks
    if node.kind.frees and not retain_graph:
        node.saved = None
    return None


def hand_over(waiting: Waiting, output: Record, grad, edges: tuple | None) -> None:
    """Give a node with several outputs the gradient of one of them; or stop, where no edge leads on."""
    if edges is None:
        return
    (node,) = output.edges
    if node.pending is None:
        node.pending = {}
        heappush(waiting.heap, (node.order, node))
    index = output.saved
    node.pending[index] = node.pending[index] + grad if index in node.pending else grad


def finish_complete(node: Record, waiting: Waiting, create_graph: bool, captured: dict) -> None:
    """A leaf with hooks takes its gradient as soon as it is complete, so that hooks run in PyTorch's order."""
    for edge in node.edges:
        if edge in waiting.hurried:
            waiting.hurried[edge] -= 1
            if waiting.hurried[edge] == 0 and edge in waiting.leaves:
                waiting.leaves.remove(edge)
                finish([edge], waiting, create_graph, captured)


def finish(leaves: list, waiting: Waiting, create_graph: bool, captured: dict) -> None:
    """The end of the walk: all contributions are there, so the leaves can take their gradients."""
    wanted = waiting.wanted
    for node in leaves:
        meta, grad, node.pending = node.leaf, node.pending, None
        if wanted is None and node.extra is None and meta.hooks is None and meta.post_hooks is None:
            accumulate(meta, grad, create_graph)
            continue
        if meta.hooks:
            grad = hooked(meta.hooks, grad)
        if wanted is not None and (waiting.capture or node not in wanted):
            if node in wanted:
                captured[node] = grad
            continue
        if node.extra is not None:
            grad = called_with(node.extra.pre_hooks, (grad,))[0]
        first = meta.grad is None
        accumulate(meta, grad, create_graph)
        if node.extra is not None and first:
            grad = meta.grad if create_graph else meta.grad._array  # what became .grad, with what is done to it
        if meta.post_hooks:
            run_post_accumulate(node, meta.post_hooks)
        if node.extra is not None:
            called_with(node.extra.post_hooks, (), (grad,))


def fit(grad, edge: Record, node: Record):
    """Undo broadcasting: sum a gradient to the shape of the input it belongs to, in that input's dtype."""
    array = grad if grad.__class__ is ndarray else getattr(grad, "_array", grad)
    shape = array.shape
    if shape != edge.shape:
        if array is grad and len(shape) == 2 and shape[1:] == edge.shape:  # a bias
            grad = column_sums(grad)
        elif expandable(edge.shape, shape):
            grad = sum_to(grad, edge.shape)
        else:
            name, index = node.kind.face.__name__, node.edges.index(edge)
            raise refusal("gradient does not fit", name, index, list(shape), list(edge.shape))
    if node.fits is not None and array.dtype is not edge.dtype and array.dtype != edge.dtype:
        grad = to_copy(grad, edge.dtype) if isinstance(grad, Tensor) else grad.astype(edge.dtype)
    return grad


# What getrefcount says of an array that only a caller's variable and an argument hold: it need not be copied.
ARRAY_ONLY_HERE = (lambda held: (lambda argument: getrefcount(argument))(held))(np.empty(()))


def accumulate(meta: AutogradMeta, grad, create_graph: bool) -> None:
    """Add a gradient to a tensor's ``.grad``: in place, unless a graph is asked for."""
    if create_graph:
        meta.grad = copy_(wrap(np.empty_like(grad._array)), grad) if meta.grad is None else meta.grad + grad
    elif meta.grad is None:
        if grad.__class__ is ndarray and grad.base is None and getrefcount(grad) <= ARRAY_ONLY_HERE:
            meta.grad = wrap(grad)
            return
        # It may be a read-only expanded view, or shared with another leaf: own a copy.
        meta.grad = wrap(grad.copy() if grad.__class__ is ndarray else np.array(grad))
    else:
        own_counter(meta.grad)[0] += 1
        np.add(meta.grad._array, grad, meta.grad._array)


def current_walk() -> Waiting:
    """The walk that is going on, for hooks."""
    return _waiting[-1]
