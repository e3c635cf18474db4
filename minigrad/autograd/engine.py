"""The engine: the walk from the outputs of a graph to its leaves.

    1. each output's node is given its gradient (a scalar's is 1);
    2. the newest node that has a gradient is evaluated: everything that used its output was made later, so
       its gradient is complete;
    3. its derivatives turn that gradient into one for each input, which is added to the gradient of the input's
       node; step 2 again, until no node is waiting;
    4. leaves come last: their gradients are added to ``.grad``.

A leaf that has hooks is evaluated as soon as its gradient is complete, as all are in PyTorch; without hooks nobody can
tell the difference. A gradient is an array, or a Tensor under create_graph; at a node with several outputs it is an
OutputGrads (outputs.py).

What a walk knows is in its GraphTask, and nothing of it on the nodes: so walks can run inside each other and in
several threads on one graph, and fail half way. Nothing recurses: a graph may be a million nodes deep. The engine
stands above the operations (ops/), which it uses to sum and to copy gradients.

PyTorch counterparts: ``torch/csrc/autograd/{engine.cpp,graph_task.h}``.
"""

from heapq import heappop, heappush

from numpy import ndarray

from ..numpy_warnings import silence_numpy
from .anomaly_mode import refuse_nan_seeds
from .evaluate import add_undefined_gradient, evaluate_leaf, evaluate_node
from .grad_fn import RemovableHandle
from .grad_mode import anomaly, mode, set_mode
from .gradients import accumulate, fit
from .node import Node, op_order, recorded_walks
from .reachability import dependencies_of_hooked_leaves, nodes_towards
from .reentry import MAX_DEPTH, in_a_new_thread, running


class GraphTask:
    """One walk: the gradients so far, and the nodes that wait for their evaluation."""

    __slots__ = (
        "__weakref__", "capture", "captured", "create_graph", "dependencies", "fast_path", "grads", "heap", "leaves",
        "needed", "requested", "retain_graph", "seeds",
    )  # fmt: skip

    def __init__(self, seeds: list, retain_graph: bool, create_graph: bool, requested: dict | None, capture: bool):
        self.seeds, self.retain_graph, self.create_graph = seeds, retain_graph, create_graph
        self.grads: dict = {}  # node -> the sum of the gradients that it has got so far
        self.heap: list = []  # the operations that wait, as (order, node)
        self.leaves: list = []  # the leaves that wait
        self.requested = requested  # the nodes of `inputs`, as the keys of a dict; None for all leaves
        self.capture = capture  # whether their gradients are returned, in `captured`, or added to their .grad
        self.captured: dict = {}
        self.needed: set | None = None  # the nodes from which a requested one can be reached; None for all nodes
        self.dependencies: dict | None = None  # how many gradients each leaf with hooks still waits for
        self.fast_path = not anomaly.enabled  # whether only nodes with hooks need `evaluate_node`

    def add_gradient(self, node: Node, grad) -> None:
        """Add to the gradient of a node. With the first one the node begins to wait for its evaluation."""
        if node in self.grads:
            self.grads[node] = self.grads[node] + grad
            return
        self.grads[node] = grad
        if node._order > 0:
            self.leaves.append(node)
        else:
            heappush(self.heap, (node._order, node))

    def start(self) -> None:
        """Find the nodes that are needed, and give the outputs their gradients."""
        requested = self.requested
        if requested is not None:
            self.needed = nodes_towards(self.seeds, requested)
            self.fast_path &= self.needed is None and all([node._order > 0 for node in requested])
            if self.needed is not None and not self.capture:
                self.needed.update(requested)  # those that are no leaves are evaluated too, for their hooks
        if RemovableHandle.on_leaves:
            self.dependencies = dependencies_of_hooked_leaves(self.seeds, self.needed)
        seeds = self.seeds
        if self.needed is not None and len(seeds) > 1:
            # PyTorch evaluates a single output in any case, and so runs its hooks, even if it leads to no input.
            seeds = [(node, grad) for node, grad in seeds if node in self.needed or node in (requested or ())]
        if anomaly.enabled and len(self.seeds) > 1 and seeds:
            refuse_nan_seeds(self.seeds)
        for node, grad in seeds:
            self.add_gradient(node, grad if self.create_graph or grad.__class__ is ndarray else grad._array)
        if self.dependencies:
            self.evaluate_complete_leaves([node for node, _ in self.seeds], self.dependencies)

    def evaluate_complete_leaves(self, nodes, dependencies: dict) -> None:
        """These nodes have got a gradient: evaluate the leaves with hooks that wait for no other."""
        for leaf in nodes:
            if leaf in dependencies:
                dependencies[leaf] -= 1
                if dependencies[leaf] == 0 and leaf in self.grads:
                    self.leaves.remove(leaf)
                    evaluate_leaf(self, leaf, self.grads.pop(leaf))


def walk(seeds: list, retain_graph: bool, create_graph: bool, requested: dict | None = None, capture=True) -> dict:
    """Walk a graph from `seeds`, pairs (node, gradient), and add the gradients of leaves to their ``.grad``.

    With `requested`, a dict of nodes, go only where one of them can be reached, and return their gradients
    instead; unless `capture` is False, which adds them to their ``.grad``.
    """
    silence_numpy()
    tasks = running.tasks
    if len(tasks) >= MAX_DEPTH:
        return in_a_new_thread(walk, seeds, retain_graph, create_graph, requested, capture)
    task = GraphTask(seeds, retain_graph, create_graph, requested, capture)
    tasks.append(task)
    # Without create_graph the derivatives run on arrays, so the mode does not matter; hooks and Functions set theirs.
    records = create_graph and not mode.inference
    if records:
        previous_mode, first = set_mode(True), -next(op_order)
    try:
        task.start()
        run(task)
        return task.captured
    finally:
        tasks.pop()
        if records:
            set_mode(*previous_mode)
            recorded_walks.append((first, -next(op_order)))  # for pictures


def run(task: GraphTask) -> None:
    """Evaluate the newest node, add the results to the gradients of its inputs; until no node waits."""
    grads, heap, leaves, fast_path = task.grads, task.heap, task.leaves, task.fast_path
    create_graph, frees, dependencies = task.create_graph, not task.retain_graph, task.dependencies
    while heap:
        node = heappop(heap)[1]
        kind, grad = node._kind, grads.pop(node)
        if not fast_path or node._hooks is not None:
            results = evaluate_node(task, node, grad)
            if results is None:
                continue
        else:
            results = (kind.vjp_recorded if create_graph else kind.vjp)(node, grad, node._next_nodes)
        if frees and kind.frees:
            node._saved = None
        for next_node, grad in zip(node._next_nodes, results):
            if grad is None:
                if next_node is not None and add_undefined_gradient(task, next_node):
                    fast_path = False
                continue
            if not node._fits:
                grad = fit(grad, next_node, node)
            if next_node in grads:  # `task.add_gradient`, written out in this innermost loop
                grads[next_node] = grads[next_node] + grad
                continue
            grads[next_node] = grad
            if (order := next_node._order) > 0:
                leaves.append(next_node)
            else:
                heappush(heap, (order, next_node))
        if dependencies is not None:
            task.evaluate_complete_leaves(node._next_nodes, dependencies)
    for leaf in leaves:
        grad, meta = grads.pop(leaf), leaf._leaf
        if task.requested is None and leaf._hooks is None and meta.hooks is None and meta.post_hooks is None:
            accumulate(meta, grad, create_graph)
        else:
            evaluate_leaf(task, leaf, grad)
