"""What a walk has to know before it starts: where it will come, and which way leads to what is wanted.

PyTorch counterpart: ``GraphTask::init_to_execute`` and ``compute_dependencies`` in ``torch/csrc/autograd/engine.cpp``.
"""

from .graph import LEAF


def on_the_way(seeds: list) -> set:
    """All records that a walk from these seeds comes to."""
    found = {record for record, _ in seeds}
    ahead = list(found)
    found.add(None)  # where no gradient is needed
    for record in ahead:  # which grows meanwhile
        for edge in record.edges:
            if edge not in found:
                found.add(edge)
                ahead.append(edge)
    found.discard(None)
    return found


def reachable(seeds: list, wanted: dict) -> set | None:
    """The records from which a wanted one can be reached; None if all can, because every leaf is wanted."""
    found = on_the_way(seeds)
    if all([record in wanted for record in found if record.order > 0]):
        return None
    route: set = set()
    for record in sorted(found, key=lambda r: r.order, reverse=True):  # oldest first
        if any(edge in route or edge in wanted for edge in record.edges):
            route.add(record)
    return route


def hooked_leaves(seeds: list, route: set | None) -> dict:
    """How many contributions are to come to each leaf that has hooks."""
    expected: dict = {}
    for record in on_the_way(seeds):
        for edge in record.edges if route is None or record in route else ():
            if edge is not None and edge.kind is LEAF and (edge.extra or edge.leaf.hooks or edge.leaf.post_hooks):
                expected[edge] = expected.get(edge, 0) + 1
    return expected
