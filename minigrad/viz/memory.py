"""Bytes beside the nodes of a picture: what each keeps in memory. What is on one memory is counted once."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from .live import storage
from .records import GraphRecord, NodeRecord, is_tensor, join_notes

_KEPT = ("saved", "function")  # these own a memory only if no tensor that is drawn does
_WHOSE = {"leaf": "in leaves", "constant": "in constants", "output": "in results", "intermediate": "in results"}
_WHOSE |= {"alias": "in arrays", "saved": "saved for backward", "function": "saved for backward"}


def storage_bytes(thing: Any) -> int:
    """The bytes of the memory that a tensor or an array is on, which may be a part of it."""
    array: Any = thing if isinstance(thing, np.ndarray) else getattr(thing, "_array", None)
    if array is None:
        return thing.untyped_storage().nbytes()
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.nbytes


def with_bytes(graph: GraphRecord, things: list[list]) -> GraphRecord:
    """The graph with a note of bytes at each node, and the sum as a caption. `things` are the tensors of each node."""
    owners: dict[int, NodeRecord] = {}
    totals: Counter[str] = Counter()
    notes = {}
    pairs = list(zip(graph.nodes, things, strict=True))
    order = {id: position for position, id in enumerate(graph.inputs_first)}

    def place_of(node: NodeRecord) -> tuple:  # the node that made a result comes before those that save it as an input
        keeper = graph.users[node.id][0] if node.role == "saved" else node.id
        return node.role in _KEPT, order[keeper]

    for node, tensors in sorted(pairs, key=lambda pair: place_of(pair[0])):
        own = 0
        for tensor in tensors:
            place = storage(tensor)
            if place is not None and place not in owners:
                owners[place] = node
                own += storage_bytes(tensor)
        if own:
            totals[_WHOSE[node.role]] += own
            notes[node.id] = f"keeps {own:,} bytes" if node.role == "function" else f"{own:,} bytes"
        elif node.role != "function" and tensors and storage(tensors[0]) is not None:
            owner = owners[storage(tensors[0])].name  # type: ignore[index]
            notes[node.id] = f"on the memory of {owner}" if owner and owner != node.name else "memory counted above"
    nodes = tuple(replace(node, note=join_notes(node.note, notes.get(node.id, ""))) for node in graph.nodes)
    parts = ", ".join(f"{totals[whose]:,} {whose}" for whose in dict.fromkeys(_WHOSE.values()) if whose in totals)
    caption = f"{totals.total():,} bytes: {parts}" if parts else "0 bytes"
    return replace(graph, nodes=nodes, captions=(*graph.captions, caption))


def tensors_in(values: list) -> list:
    """The tensors and arrays among saved values, and in what a hook has packed them into."""
    opened = [getattr(value, "box", value) for value in values]
    return [value for value in opened if is_tensor(value) or isinstance(value, np.ndarray)]
