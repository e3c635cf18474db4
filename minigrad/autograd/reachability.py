"""What a walk has to know before it starts: which nodes it reaches, and from which the requested inputs are reachable.

PyTorch counterparts: ``compute_dependencies`` and ``GraphTask::init_to_execute`` in ``torch/csrc/autograd/engine.cpp``.
"""

from ..messages import refusal
from .node import LEAF, Node, is_sink
from .outputs import operation_of


def nodes_from(seeds: list) -> set:
    """All nodes that a walk from these seeds comes to."""
    found = {node for node, _ in seeds}
    waiting = list(found)
    found.add(None)  # where no gradient is needed
    for node in waiting:  # which grows meanwhile
        for next_node in node._next_nodes:
            if next_node not in found:
                found.add(next_node)
                waiting.append(next_node)
    found.discard(None)
    return found


def nodes_towards(seeds: list, requested: dict) -> set | None:
    """The nodes from which a requested one can be reached; None for all nodes, where every leaf is requested."""
    found = nodes_from(seeds)
    requested = {node: None for node in requested if node is None or not is_sink(node)}
    if requested and all([node in requested for node in found if node._order > 0]):
        return None
    needed: set = set()
    for node in sorted(found, key=lambda node: node._order, reverse=True):  # oldest first
        if any(next_node in needed or next_node in requested for next_node in node._next_nodes):
            needed.add(node)
    return needed


def dependencies_of_hooked_leaves(seeds: list, needed: set | None) -> dict:
    """For each leaf with hooks, how many gradients it will get: its hooks wait for the last."""
    expected: dict = {}
    receivers = [[node for node, _ in seeds]]
    receivers += [node._next_nodes for node in nodes_from(seeds) if needed is None or node in needed]
    for leaf in [leaf for nodes in receivers for leaf in nodes]:
        if leaf is not None and leaf._kind is LEAF and (leaf._hooks or leaf._leaf.hooks or leaf._leaf.post_hooks):
            expected[leaf] = expected.get(leaf, 0) + 1
    return expected


def number_to_be_reached(task, nodes: list[Node]) -> int:
    """How many of these nodes get a gradient in a walk: for a multi-grad hook, which waits for all of them.

    As in PyTorch, the only output that a walk starts from does not count, and a leaf requested by grad() is refused.
    """
    found = nodes_from(task.seeds)
    if len(task.seeds) == 1:
        found = {n for node in found for n in node._next_nodes}
    reached = [node for node in nodes if operation_of(node) in found]  # the hooks of its other outputs are given None
    if task.requested is None:
        return len(reached)
    if task.capture and any(node in task.requested and not any(node._next_nodes) for node in reached):
        raise refusal("multi-grad hook on a requested leaf")
    needed, requested = task.needed, task.requested
    evaluated = (needed is None or operation_of(node) in needed or node in requested for node in reached)
    return sum(evaluated)
