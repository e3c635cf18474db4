"""What a picture says, as plain data: nodes with roles, edges with roles, nothing about colours.

Every record can be compared, printed and tested without drawing anything. Ids are n0, n1 ... in the
order of the visit, so that the same program gives the same records in every run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

# Larger tensors show their shape instead of their values.
MAX_ELEMENTS = 6


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node of a picture.

    ``role`` is leaf, output, intermediate, constant or number (tensors and values), op, function or
    accumulate (operations), saved, none or alias. ``marks`` are states: freed, stale, fails, retained,
    dead_end, guilty, noted, added, gone, changed, same, missing, unexpected. ``grad`` is the text of
    ``.grad``, ``tangent`` that of its tangent in forward mode, "" where the tensor has none to show. ``groups`` are
    the boxes that it stands in, from the outside in; ``count`` is how many nodes it stands for. ``identity`` says
    which thing it shows, and counts in no comparison.
    """

    id: str
    role: str
    name: str = ""
    op: str = ""
    value: str = ""
    shape: tuple | None = None
    dtype: str = ""
    grad: str = ""
    tangent: str = ""
    note: str = ""
    marks: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    count: int = 1
    identity: tuple = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """One arrow, from ``source`` to ``target`` as it is drawn.

    ``role`` is forward, grad_fn, next, accumulate, saved or none (inputs), alias, cut or repeat (beside the
    graph: nothing was made along them); ``position`` is that of the input. ``marks`` are guilty, noted, bridge,
    added, gone, cut, same, missing, unexpected.
    """

    source: str
    target: str
    role: str
    position: int = 0
    marks: tuple[str, ...] = ()
    note: str = ""


# Roles of edges that are no part of the graph: neither end was made from the other.
ANNOTATIONS = {"alias", "cut", "repeat"}


@dataclass(frozen=True)
class Options:
    """What a picture shows besides nodes and edges. Each is a keyword of `draw`."""

    values: bool = True  # of small tensors; without it shapes
    grads: bool = True  # .grad of leaves and of retained tensors
    tangents: bool = True  # of tensors that have one, inside of dual_level()
    shapes: bool = False  # shape and dtype of every tensor
    saved: bool = False  # what each function saved, freed or overwritten
    memory: bool = False  # bytes of tensors and of what is saved, each memory once
    unused: bool = False  # the (None, 0) entries of next_functions
    hooks: bool = False  # how many hooks hang where
    aliases: bool = False  # variables on the same memory: views, detach(), .data, NumPy arrays
    cuts: bool = False  # where detach() or no_grad cut a history off
    lines: bool = False  # the line that made each node, where a `lines` block has seen it
    generations: bool = True  # what a backward with create_graph=True built, apart from the rest
    marks: Mapping | None = None  # what is wrong: {tensor, node, (node, position) or (node, saved name): note}
    notes: Mapping | None = None  # what is worth saying, by the same keys

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Options":
        """The options by name. Raises TypeError, and says what there is, for another name."""
        known = [option.name for option in fields(cls)]
        for name in given:
            if name not in known:
                raise TypeError(f"draw() has no option '{name}'; it has {', '.join(known)}")
        return cls(**given)


@dataclass(frozen=True)
class GraphRecord:
    """One panel of a picture: a titled graph. ``view`` is "written" or "kept".

    ``titles`` has the title of each group that nodes stand in.
    """

    title: str
    view: str
    nodes: tuple[NodeRecord, ...]
    edges: tuple[EdgeRecord, ...]
    roots: tuple[str, ...]
    captions: tuple[str, ...] = ()
    titles: tuple[tuple[str, str], ...] = ()
    options: Options = field(default=Options(), compare=False, repr=False)

    @cached_property
    def by_id(self) -> dict[str, NodeRecord]:
        """The nodes by their ids."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def inputs(self) -> dict[str, list[EdgeRecord]]:
        """For each node the edges to what it was made from, in the order of the arguments."""
        result: dict[str, list[EdgeRecord]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            if edge.role not in ANNOTATIONS:
                result[ends(edge)[0]].append(edge)
        return {id: sorted(edges, key=lambda edge: edge.position) for id, edges in result.items()}

    @cached_property
    def users(self) -> dict[str, list[str]]:
        """For each node what was made from it, once for each time that it was used."""
        result: dict[str, list[str]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            if edge.role not in ANNOTATIONS:
                made, operand = ends(edge)
                result[operand].append(made)
        return result

    @cached_property
    def inputs_first(self) -> list[str]:
        """The ids in an order in which every node comes after what it was made from."""
        waiting = {id: len(edges) for id, edges in self.inputs.items()}
        order = [id for id, count in waiting.items() if not count]
        for id in order:  # grows while it is walked
            for user in self.users[id]:
                waiting[user] -= 1
                if not waiting[user]:
                    order.append(user)
        return order


def ends(edge: EdgeRecord) -> tuple[str, str]:
    """The edge's ends as (result, input), whichever way its arrow points."""
    forward = edge.role == "forward"
    return (edge.target, edge.source) if forward else (edge.source, edge.target)


def marked(graph: GraphRecord, notes: Mapping, mark: str = "guilty") -> GraphRecord:
    """The same graph with a mark, and a note beside it, on some of its nodes and edges.

    The keys of `notes` are ids of nodes, or pairs (source, target) of edges.
    """
    nodes = tuple(
        replace(node, marks=(*node.marks, mark), note=join_notes(node.note, error_note(notes[node.id])))
        if node.id in notes
        else node
        for node in graph.nodes
    )
    edges = tuple(
        replace(edge, marks=(*edge.marks, mark), note=error_note(notes[edge.source, edge.target]))
        if (edge.source, edge.target) in notes
        else edge
        for edge in graph.edges
    )
    return replace(graph, nodes=nodes, edges=edges)


def error_note(note: str) -> str:
    """The note on what is marked: a `!` says without colour that something is wrong."""
    return f"! {note or 'here'}"


def join_notes(*notes: str) -> str:
    """The notes that are not empty, a line each."""
    return "\n".join(filter(None, notes))


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor, minigrad's or PyTorch's: its attributes are all a picture needs."""
    return hasattr(type(value), "grad_fn") and hasattr(type(value), "requires_grad")


def value_text(value: Any) -> str:
    """A short, deterministic text of a number or a small tensor; "" for a large tensor.

    >>> value_text(2.0), value_text(0.123456), value_text([1, True])
    ('2.', '0.1235', '[1, True]')
    """
    if is_tensor(value):
        return value_text(value.detach().tolist()) if prod(value.shape) <= MAX_ELEMENTS else ""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return _float_text(value) if isinstance(value, float) else str(value)


def _float_text(number: float) -> str:
    if number == 0 or 1e-3 <= abs(number) < 1e6:
        digits = f"{number:.4f}".rstrip("0")
        return digits if digits != "-0." else "0."
    return f"{number:.4g}"  # large and small ones, inf and nan


def dtype_text(dtype: Any) -> str:
    """float32, for minigrad's, PyTorch's and NumPy's dtype objects alike."""
    return "" if dtype is None else str(dtype).rpartition(".")[2]


class Names:
    """What the caller calls the tensors: `params` first, then variables of the frame, first one wins.

    It also remembers which tensor is the output of which node, because a node does not.
    """

    def __init__(self, tensors, params: Mapping[str, Any] | None = None, frame=None):
        self._names: dict[int, str] = {}
        self.things: list = []  # all that have a name: tensors and NumPy arrays
        self._held: dict[
            tuple[int, int], tuple
        ] = {}  # (node, tensor); the node is held: PyTorch would make another one, with another id
        named = getattr(params, "named_parameters", None)  # of a Module of PyTorch
        for name, tensor in (dict(named()) if named else params or {}).items():
            self._add(name, tensor)
        for name, tensor in _variables(frame):
            self._add(name, tensor)
        for tensor in tensors:
            self._hold(tensor)

    def _add(self, name: str, tensor) -> None:
        self._names.setdefault(id(tensor), name)
        self.things.append(tensor)
        if not is_tensor(tensor):
            return
        self._hold(tensor)
        gradient = gradient_of(tensor)
        if gradient is not None:
            self._names.setdefault(id(gradient), f"{name}.grad")
            self._hold(gradient)

    def _hold(self, tensor) -> None:
        if tensor.grad_fn is not None:
            node = tensor.grad_fn
            self._held.setdefault((id(node), tensor.output_nr), (node, tensor))

    def of(self, tensor) -> str:
        """The tensor's name, or "" if it has none."""
        return self.by_id(id(tensor))

    def by_id(self, id: int) -> str:
        """The name of the tensor with this id, or "" if none has it."""
        return self._names.get(id, "")

    def output(self, node, index: int = 0):
        """The tensor that a variable holds of what `node` made, or None."""
        return self._held.get((id(node), index), (None, None))[1]

    def held(self) -> list:
        """All tensors with a grad_fn that a variable holds."""
        return [tensor for _, tensor in self._held.values()]


def _variables(frame) -> Iterator[tuple[str, Any]]:
    """The tensors among the frame's local, then global variables, also inside short lists and Modules."""
    if frame is None:
        return
    for scope in (frame.f_locals, frame.f_globals):
        shown = {n: v for n, v in list(scope.items()) if n.isidentifier() and n[0] != "_"}
        yield from ((name, value) for name, value in shown.items() if _is_shown(value))
        for name, value in shown.items():
            if isinstance(value, list | tuple) and len(value) <= 50:
                yield from ((f"{name}[{i}]", v) for i, v in enumerate(value) if is_tensor(v) and _is_shown(v))
            elif callable(getattr(type(value), "named_parameters", None)):  # a Module
                yield from ((f"{name}.{path}", v) for path, v in _parameters(value))


def _parameters(module: Any) -> list[tuple[str, Any]]:
    """A Module's parameters with their paths; none of one that is not ready to be asked."""
    try:
        return list(module.named_parameters())
    except Exception:  # the user's code, or a Module whose __init__ has not come to its end
        return []


def _is_shown(value: Any) -> bool:
    return _answers(value) if is_tensor(value) else isinstance(value, np.ndarray)


def _answers(tensor) -> bool:
    """Whether reading a tensor's grad_fn works: it raises for a view that was modified in place against the rules."""
    try:
        tensor.grad_fn  # noqa: B018  asking is the test
    except RuntimeError:
        return False
    return True


def gradient_of(tensor):
    """`tensor.grad`, asked only where asking does not warn."""
    return tensor.grad if tensor.grad_fn is None or tensor.retains_grad else None
