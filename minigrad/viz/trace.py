"""What one backward did, step by step, as plain data and as a listing.

trace(loss.backward)             runs it and lists its steps
trace(loss.backward).replay()    the same as a film over one drawing of the graph
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

from ..autograd.grad_fn import grad_fn_of
from ..autograd.node import Node
from . import pytorch
from .collect import Kept
from .film import Film
from .lines_torch import torch_module
from .records import GraphRecord, Names, Options, is_tensor
from .steps import Event, Ledger, Step, listing_of, steps_of
from .watch import Note, Place, Watch
from .watch_pytorch import TorchWatch

MAX_STEPS = 40  # more are counted, not listed
WHOLE_WORDS = "white-space:pre-wrap;word-break:normal"  # JupyterLab would break lines inside words


@dataclass(frozen=True)
class Trace:
    """What a call made the engine do. The last line of a cell lists it; `replay()` shows it.

    ``graph`` is the graph as it was before, ``events`` what happened, ``steps`` the same a node at a
    time, ``ledger`` what each gradient was added up from, ``result`` what the call returned, and
    ``error`` the exception that stopped it, or None.
    """

    graph: GraphRecord
    events: tuple[Event, ...]
    result: object = None
    error: Exception | None = None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The events, a node's turn at a time."""
        return steps_of(self.graph, self.events)

    @cached_property
    def ledger(self) -> Ledger:
        """For each gradient the contributions that it is the sum of."""
        return Ledger(self.graph, self.events)

    @cached_property
    def text(self) -> str:
        """The listing: the steps, then the ledger."""
        return listing_of(self.graph, self.steps, self.ledger, MAX_STEPS)

    def replay(self, width: int | None = None) -> Film:
        """The steps as a film: one drawing of the graph, in which the gradients add up.

        `width` is the most pixels it may take. Shown in a notebook it is a strip of small pictures and, below,
        one picture a step to unfold; where the page lets scripts run, buttons and a slider play it.

        >>> import minigrad as mg
        >>> x = mg.tensor(3.0, requires_grad=True)
        >>> film = mg.viz.trace((x * x).backward).replay()
        >>> len(film.frames)
        3
        """
        return Film(self.graph, self.steps, self.ledger, self.text, width)

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.text, "text/html": f'<pre style="{WHOLE_WORDS}">{escape(self.text)}</pre>'}


def trace(call: Callable, *arguments, params: dict | None = None, **options) -> Trace:
    """Run ``call(*arguments, **options)`` and note what the engine does. There is no PyTorch counterpart.

    It may be any call that goes backward: ``loss.backward``, ``mg.autograd.grad``, a function of your own.
    Its effects are those that it always has. An exception ends the trace and is kept as ``.error``. Names
    come from `params`, a dict of name to tensor, then from your variables.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> trace(y.backward)
    backward from y in 3 steps
      1  y starts with the gradient 1.
      2  MulBackward0 (y.grad_fn): the whole gradient is there, 1.
           its derivatives are called with 1.
           what it saved is freed
           3. goes to x, as input 0
           3. goes to x, as input 1: 6. so far
      3  x: the whole gradient is there, 6.
           x.grad: None -> 6.
    what each gradient is made of
      y: 1. = 1. to start with
      x: 6. = 3. from MulBackward0 (y.grad_fn) input 0 + 3. from MulBackward0 (y.grad_fn) input 1
    """
    if not callable(call):
        raise TypeError(f"trace() takes a function to call, as in trace(loss.backward), not {type(call).__name__}")
    subject = getattr(call, "__self__", None)
    tensors = (subject,) if is_tensor(subject) else ()
    names, torch = Names(tensors, params, sys._getframe(1)), torch_module()
    watch, result, problem = Watch() if torch is None else TorchWatch(torch, names), None, None
    try:
        with watch:
            result = call(*arguments, **options)
    except Exception as error:
        problem = error
    view = _GraphBehind(watch.roots, Names(tensors, params, sys._getframe(1)), tensors)
    graph, ids = view.graph(), view.ids
    events = tuple(_event(note, ids) for note in watch.notes)
    return Trace(_as_it_was(graph, events), events, result, problem)


class _GraphBehind(Kept):
    """The graph behind the nodes where the engine started; it remembers the ids of the nodes."""

    def __init__(self, places: list[Place], names: Names, tensors: tuple):
        made = [(_shown(place.node), place.index) for place in dict.fromkeys(places)]
        found = [(names.output(shown, index), shown) for shown, index in made]
        roots = [shown if tensor is None else tensor for tensor, shown in found]
        super().__init__(roots or tensors, names, Options(generations=False))
        self.ids: dict = {}  # by the engine's node

    def record(self, item, id):
        if item.kind == "node":
            self.ids[getattr(item.thing, "_node", item.thing)] = id
        elif item.kind == "tensor" and item.thing.grad_fn is None and item.thing.requires_grad:
            theirs = pytorch.is_theirs(item.thing)
            node = pytorch.edge_of(item.thing)[0] if theirs else item.thing._node
            self.ids.setdefault(node, id)  # a leaf without a graph: its AccumulateGrad is not drawn
        return super().record(item, id)


def _shown(node: Any) -> Any:
    """The node as a graph shows it; PyTorch's are so already."""
    return grad_fn_of(node) if isinstance(node, Node) else node


def _event(note: Note, ids: dict) -> Event:
    place = note.place
    return Event(
        note.kind,
        "" if place is None else ids[place.node],
        0 if place is None else place.index,
        note.value,
        note.before,
        "" if note.source is None else ids[note.source],
        note.position,
        note.words,
    )


def _as_it_was(graph: GraphRecord, events: tuple[Event, ...]) -> GraphRecord:
    """The graph before the first event, from one collected after the last."""
    owner = {edge.source: edge.target for edge in graph.edges if edge.role == "accumulate"}
    owner |= {edge.target: edge.source for edge in graph.edges if edge.role == "grad_fn"}
    before: dict[str, str] = {}
    freed = set()
    for event in events:
        if event.kind in ("accumulate", "keep"):
            before.setdefault(owner.get(event.node, event.node), event.before)
        elif event.kind == "free":
            freed.add(event.node)
    nodes = tuple(
        replace(
            node,
            grad=before.get(node.id, node.grad),
            marks=tuple(mark for mark in node.marks if mark != "freed" or node.id not in freed),
        )
        for node in graph.nodes
    )
    return replace(graph, nodes=nodes)
