"""From the live graph to records: the two views.

"what you wrote" shows tensors and operations, arrows forward; "what autograd keeps" shows grad_fn
and next_functions, arrows backward. Both are walked from the outputs with a stack, never recursively.
"""

import itertools
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from ..autograd.node import Packed
from . import pytorch
from .fold import KEPT_NODES, counted, cut_short
from .lines import last_log
from .live import (
    RELATIONS,
    built_by,
    constants_of,
    count_kinds,
    cut_by,
    engine_node,
    has_history,
    hooks_text,
    identity,
    output_like,
    relation,
    saved_state,
    state_marks,
    storage,
    tangent_of,
    unrecorded,
)
from .memory import tensors_in, with_bytes
from .records import (
    ANNOTATIONS,
    MAX_ELEMENTS,
    EdgeRecord,
    GraphRecord,
    Names,
    NodeRecord,
    Options,
    dtype_text,
    ends,
    error_note,
    gradient_of,
    is_tensor,
    join_notes,
    value_text,
)
from .text import COMPUTED

MAX_RECORDED = 12_000  # operations and leaves; of more only those next to the outputs
MAX_LINE = 40  # characters of a line beside its node
TITLES = {"written": "what you wrote", "kept": "what autograd keeps"}


class Item(NamedTuple):
    """What is drawn as one node: a tensor, a graph node, output `index` of a node, its constant ..."""

    kind: str
    thing: Any
    index: int = 0  # type: ignore[assignment]  # hides tuple.index, which nobody asks for

    @property
    def key(self) -> tuple:
        return (self.kind, id(self.thing), self.index)


class Link(NamedTuple):
    """An edge from an item to one of its inputs."""

    item: Item
    role: str
    position: int = 0


def walk(roots: Iterable[Item], links: Callable[[Item], list[Link]]) -> dict[tuple, tuple]:
    """Every item that can be reached, depth first, each once: key -> (item, its links)."""
    reached: dict[tuple, tuple] = {}
    stack = list(roots)[::-1]
    while stack:
        item = stack.pop()
        if item.key not in reached:
            found = links(item)
            reached[item.key] = (item, found)
            stack.extend(link.item for link in reversed(found))
    return reached


def nearest(roots: Iterable[Item], links: Callable[[Item], list[Link]], most: int) -> dict[tuple, tuple]:
    """`most` items, breadth first, and those that they lead to, without the links of those."""
    reached: dict[tuple, tuple] = {}
    queue = list(roots)
    for item in queue:  # grows while it is walked
        if item.key not in reached:
            found = links(item) if len(reached) < most else []
            reached[item.key] = (item, found)
            queue.extend(link.item for link in found)
    return reached


class View:
    """What the two views share. A view adds `links(item)`, the links to its inputs, and `record(item, id)`.

    `things` are the tensors or nodes to start from. With `most` it shows that many items, and those they link to.
    """

    view = ""
    forward = False
    links: Callable
    record: Callable
    tensors_of: Callable  # that an item shows

    def __init__(self, things, names: Names, options: Options, most: int | None = None):
        self.tensors, self.names, self.show, self.most = list(filter(is_tensor, things)), names, options, most
        self.extra: list[Item] = []
        starts = [self.tensor_item(thing) if is_tensor(thing) else Item("node", thing) for thing in things]
        self.roots = list({item.key: item for item in starts}.values())
        self.marks = Marks(self, options)
        self.log = last_log() if options.lines else None
        self.views = {id(t._node): t for t in (*self.tensors, *names.things) if is_tensor(t) and unrecorded(t)}
        self.tracked = self.storages_with_history() if options.cuts else {}

    def tensor_item(self, tensor) -> Item:
        return Item("tensor", tensor)

    def reached(self, *starts: Item) -> dict[tuple, tuple]:
        """What can be reached from there: key -> (item, its links)."""
        return walk(starts, self.links) if self.most is None else nearest(starts, self.links, self.most)

    def graph(self, ids=None) -> GraphRecord:
        """The records of this view, with ids from the given counter."""
        ids = itertools.count() if ids is None else ids
        reached = self.reached(*self.roots, *self.extra)
        shared: list[SharedMemory] = []
        if self.show.cuts or self.show.aliases:
            shared = shared_memory(self, reached)
            more = [item for pair in shared for item in (pair.item, pair.other) if item.key not in reached]
            reached = self.reached(*self.roots, *self.extra, *more)
        named = {key: f"n{next(ids)}" for key in reached}
        nodes = [self.marks.on(key, self.record(item, named[key])) for key, (item, _) in reached.items()]
        edges = [EdgeRecord(named[pair.item.key], named[pair.other.key], pair.role, note=pair.note) for pair in shared]
        edges[:0] = self.edges(reached, named)
        roots = tuple(named[root.key] for root in self.roots)
        found = GraphRecord(TITLES[self.view], self.view, tuple(nodes), tuple(edges), roots, self.captions())
        if self.show.memory:
            found = with_bytes(found, [tensors_in(self.values_of(item)) for item, _ in reached.values()])
        return replace(self.with_generations(found, reached), options=self.show)

    def values_of(self, item: Item) -> list:
        """What an item keeps in memory: a tensor, or the values that a node saved, if these are not drawn beside it."""
        if item.kind == "saved":
            return [saved_state(item.thing)[item.index].value]
        if item.kind in ("tensor", "array"):
            return [item.thing]
        if item.kind == "made":
            return [self.names.output(item.thing, item.index)]
        keeps = item.kind == "node" and not (self.forward or self.show.saved or is_accumulator(item.thing))
        return [entry.value for entry in saved_state(item.thing)] if keeps else []

    def edges(self, reached: dict, named: dict) -> list[EdgeRecord]:
        edges = []
        for key, (_, links) in reached.items():
            for link in links:
                pair = (named[key], named[link.item.key])
                source, target = pair[::-1] if self.forward else pair
                edge = EdgeRecord(source, target, link.role, link.position)
                edges.append(self.marks.on_edge(key, edge))
        return edges

    def with_generations(self, graph: GraphRecord, reached: dict) -> GraphRecord:
        """The graph with the nodes that each backward recorded in a box of their own."""
        nodes = {id(node): node for item, _ in reached.values() if (node := node_of(item)) is not None}
        built = built_by(nodes.values()) if self.show.generations else {}
        if not built:
            return graph
        of_item = {}
        for record, (item, _) in zip(graph.nodes, reached.values(), strict=True):
            node = node_of(item)
            of_item[record.id] = None if node is None else built.get(id(node), 0)
        return group_by_generation(graph, of_item)

    def line_note(self, node: Any) -> str:
        """`line 4: h = w * 2` for a node that a call of yours made."""
        index = None if self.log is None else self.log.call_of(node)
        line = None if self.log is None or index is None else self.log.line(index)
        return "" if line is None else shortened(f"{line.place}: {line.text}", MAX_LINE)

    def unnoticed(self, node: Any, saved: Any) -> str:
        """The line that overwrote what a node saved without raising its version, as through `.data`."""
        index = None if self.log is None else self.log.call_of(node)
        memory = None if index is None or not is_tensor(saved) else storage(saved)
        if self.log is None or index is None or memory is None:
            return ""
        lines = (self.log.line(at) for at, _ in self.log.changes_of(memory, index))
        line = next((line for line in lines if line is not None), None)
        return "" if line is None else "overwritten unnoticed\n" + shortened(f"{line.place}: {line.text}", MAX_LINE)

    def name_in_line(self, node: Any, position: int | None = None) -> str:
        """What the line that made a node calls its result, or one of its inputs."""
        index = None if self.log is None else self.log.call_of(node)
        if self.log is None or index is None:
            return ""
        call, spot = self.log.calls[index], self.log.spot(index)
        return spot.target if position is None else spot.operand(call.op, position, call.count)

    def captions(self) -> tuple[str, ...]:
        """A sentence for each tensor without history: its picture is a single node."""
        sentences = []
        for tensor in self.tensors:
            name = self.names.of(tensor) or "this tensor"
            if tensor.grad_fn is None and tensor.requires_grad:
                sentences.append(f"{name} is a leaf: no grad_fn")
            elif tensor.grad_fn is None:
                kept = f"autograd keeps nothing for {name}: it needs no gradient"
                sentences.append(kept if self.view == "kept" else f"nothing was recorded: {name} needs no gradient")
        return tuple(dict.fromkeys(sentences))

    def tensor_record(self, id: str, tensor, role: str = "") -> NodeRecord:
        """A tensor with its name, value and gradient. A leaf's role follows from its flag."""
        gradient = gradient_of(tensor)
        retained = tensor.grad_fn is not None and tensor.retains_grad
        tangent = tangent_of(tensor) if self.show.tangents else None
        shown = self.show.grads and tensor.requires_grad and (tensor.grad_fn is None or retained)
        shape, dtype = tuple(tensor.shape), dtype_text(tensor.dtype)
        return NodeRecord(
            id,
            role or ("leaf" if tensor.requires_grad else "constant"),
            name=self.names.of(tensor),
            value=value_text(tensor) if self.show.values else "",
            shape=shape,
            dtype=dtype,
            grad=_gradient_text(gradient) if shown else "",
            tangent=_gradient_text(tangent) if tangent is not None else "",
            note=join_notes(
                f"shape {shape} {dtype}" if self.show.shapes else "",
                hooks_text(tensor) if self.show.hooks else "",
            ),
            marks=("retained",) if retained else self.dead_end(tensor),
            identity=identity(tensor),
        )

    def dead_end(self, tensor) -> tuple[str, ...]:
        """A tensor without history that requires grad, or that was passed to `draw` beside one with a history."""
        if unrecorded(tensor):
            return ("dead_end",)
        if tensor.requires_grad or all(root.grad_fn is None for root in self.tensors):
            return ()
        return ("dead_end",) if any(tensor is root for root in self.tensors) else ()

    def made_record(self, id: str, tensor) -> NodeRecord:
        """A tensor that an operation made: an output if it was passed to `draw`, else an intermediate."""
        drawn = any(tensor is root for root in self.tensors)
        return self.tensor_record(id, tensor, "output" if drawn else "intermediate")

    def unrecorded_input(self, node, position: int):
        """The variable that holds the unrecorded view which was a node's input, if one does."""
        own = engine_node(node)
        input_node = None if own is None else own._next_nodes[position]
        return None if input_node is None else self.views.get(id(input_node))

    def array_record(self, id: str, array) -> NodeRecord:
        """A NumPy array on the memory of a tensor."""
        value = value_text(array.tolist()) if array.size <= MAX_ELEMENTS and self.show.values else ""
        shape, name = array.shape, self.names.of(array)
        return NodeRecord(id, "alias", name, value=value, shape=shape, dtype=str(array.dtype))

    def storages_with_history(self) -> dict[int | None, Any]:
        """For each memory the first tensor on it that needs a gradient."""
        known: dict[int | None, Any] = {}
        for thing in (*self.tensors, *self.names.things):
            if is_tensor(thing) and has_history(thing):
                known.setdefault(storage(thing), thing)
        known.pop(None, None)
        return known


class SharedMemory(NamedTuple):
    """Two items on the same memory: an alias, or a cut in the history."""

    item: Item
    other: Item
    role: str
    note: str


def shared_memory(view: View, reached: dict) -> list[SharedMemory]:
    """The cuts and aliases among the tensors that are drawn and the caller's variables."""
    shown = list({id(thing): thing for item, _ in reached.values() for thing in view.tensors_of(item)}.values())
    found, tied = [], set()
    for constant in shown if view.show.cuts else ():
        source = None if has_history(constant) else view.tracked.get(storage(constant))
        if source is not None:
            tied.add(frozenset((id(source), id(constant))))
            items = view.tensor_item(source), view.tensor_item(constant)
            found.append(SharedMemory(*items, "cut", f"cut by {cut_by(constant, source)}"))
    if view.show.aliases:
        for owner, other in _aliases(shown, view.names.things):
            if frozenset((id(owner), id(other))) not in tied:
                item = view.tensor_item(other) if is_tensor(other) else Item("array", other)
                found.append(SharedMemory(view.tensor_item(owner), item, "alias", RELATIONS[relation(owner, other)]))
    return found


def _aliases(shown: list, things: list) -> list[tuple]:
    """Pairs (owner, other) on one memory: the owner is no view, and has a history if one of them has."""

    def rank(tensor) -> tuple:
        return (getattr(tensor, "_base", None) is not None, not has_history(tensor))

    groups: dict[int | None, list] = {}
    for tensor in sorted(shown, key=rank):
        groups.setdefault(storage(tensor), []).append(tensor)
    groups.pop(None, None)
    for thing in things:
        group = groups.get(storage(thing), ())
        if group and not any(thing is member for member in group):
            group.append(thing)
    return [(owner, other) for owner, *others in groups.values() for other in others]


class Marks:
    """The options `marks` and `notes` of a view: for each item or edge, the note to write and the marks to set."""

    def __init__(self, view: View, options: Options):
        self.nodes: dict[tuple, tuple[str, tuple]] = {}
        self.edges: dict[tuple, tuple[str, tuple]] = {}
        said = {thing: (note, ("noted",)) for thing, note in (options.notes or {}).items()}
        said |= {thing: (error_note(note), ("guilty",)) for thing, note in (options.marks or {}).items()}
        for thing, note in said.items():
            node, place = thing if isinstance(thing, tuple) else (thing, None)
            if is_tensor(node):
                item = view.tensor_item(node)
                view.extra.append(item)
                self.nodes[item.key] = note
            elif isinstance(place, int):
                self.edges[Item("node", node).key, place] = note
            elif place is None:
                self.nodes[Item("node", node).key] = note
                view.extra += [Item("node", node)] if view.most else []  # else it may not be among the nearest
            else:
                names = [entry[0] for entry in saved_state(node)]
                if place not in names:
                    raise ValueError(
                        f"{type(node).__name__} saved no {place!r}; it saved {', '.join(names) or 'nothing'}"
                    )
                self.nodes[Item("saved", node, names.index(place)).key] = note

    def on_edge(self, key: tuple, edge: EdgeRecord) -> EdgeRecord:
        if (key, edge.position) not in self.edges:
            return edge
        note, marks = self.edges[key, edge.position]
        return replace(edge, note=note, marks=(*edge.marks, *marks))

    def on(self, key: tuple, record: NodeRecord) -> NodeRecord:
        if key not in self.nodes:
            return record
        note, marks = self.nodes[key]
        return replace(record, note=join_notes(record.note, note), marks=(*record.marks, *marks))


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def node_of(item: Item):
    """The node that an item belongs to; None for a leaf, a constant and an AccumulateGrad."""
    if item.kind == "tensor":
        return item.thing.grad_fn
    return None if item.kind == "array" or is_accumulator(item.thing) else item.thing


def group_by_generation(graph: GraphRecord, generations: dict[str, int | None]) -> GraphRecord:
    """The graph with each generation in a box, and the edges from one to an older one marked as bridges."""
    numbers = sorted({number for number in generations.values() if number})
    titles = {COMPUTED: "computed by you"}
    titles |= {
        f"generation {n}": f"built by backward {n}" if len(numbers) > 1 else "built by backward" for n in numbers
    }
    place = {id: 0 if number is None else number for id, number in generations.items()}
    nodes = tuple(replace(node, groups=(f"generation {place[node.id]}",)) for node in graph.nodes)
    edges = tuple(
        replace(edge, marks=(*edge.marks, "bridge"))
        if edge.role not in ANNOTATIONS and place[ends(edge)[0]] > place[ends(edge)[1]]
        else edge
        for edge in graph.edges
    )
    return replace(graph, nodes=nodes, edges=edges, titles=tuple(titles.items()))


def _gradient_text(gradient) -> str:
    if gradient is None:
        return "None"
    return value_text(gradient) or f"shape {tuple(gradient.shape)}"


class Kept(View):
    """What autograd keeps: the root's grad_fn, next_functions, AccumulateGrad and its leaf."""

    view = "kept"

    def __init__(self, things, names, options, most=None):
        super().__init__(things, names, options, most)
        retained = [Item("tensor", tensor) for tensor in names.held() if tensor.retains_grad]
        reached = self.reached(*self.roots) if retained else {}
        for item in retained:  # their nodes are in the graph, but no node leads to the tensors
            if item.key not in reached and Item("node", item.thing.grad_fn).key in reached:
                self.extra.append(item)

    def links(self, item):
        kind, thing, _ = item
        if kind == "tensor":
            made = thing.grad_fn is not None
            return [Link(Item("node", thing.grad_fn), "grad_fn")] if made else []
        if kind != "node":
            return []
        if is_accumulator(thing):
            return [Link(Item("tensor", thing.variable), "accumulate")]
        found = []
        for position, (function, _) in enumerate(thing.next_functions):
            if function is not None:
                found.append(Link(Item("node", function), "next", position))
            elif (constant := self.cut_constant(thing, position)) is not None:
                found.append(Link(Item("tensor", constant), "none", position))
            elif self.show.unused:
                found.append(Link(Item("none", thing, position), "none", position))
        for i in range(len(saved_state(thing)) if self.show.saved or self.marks.nodes else 0):
            if self.show.saved or Item("saved", thing, i).key in self.marks.nodes:
                found.append(Link(Item("saved", thing, i), "saved", len(found)))
        return found

    def cut_constant(self, node, position: int):
        """The input without an edge, if it lives and is on the memory of a tensor that has a history."""
        constants = constants_of(node) if self.tracked else None
        constant = constants[position] if constants else None
        if isinstance(constant, weakref.ref):
            constant = constant()
        elif not is_tensor(constant):
            constant = self.unrecorded_input(node, position)
        return constant if storage(constant) in self.tracked else None

    def tensors_of(self, item: Item) -> list:
        """The tensors that an item shows, or whose grad_fn it shows."""
        if item.kind == "tensor":
            return [item.thing]
        return [tensor] if item.kind == "node" and (tensor := self.names.output(item.thing)) is not None else []

    def record(self, item, id):
        kind, thing, index = item
        if kind == "tensor":
            made = thing.grad_fn is not None
            return self.made_record(id, thing) if made else self.tensor_record(id, thing)
        if kind == "array":
            return self.array_record(id, thing)
        if kind == "none":
            return NodeRecord(id, "none", name="None", identity=identity(thing, index))
        if kind == "saved":
            return self.saved_record(id, thing, saved_state(thing)[index], identity(thing, f"saved {index}"))
        if is_accumulator(thing):
            return NodeRecord(id, "accumulate", name="AccumulateGrad", identity=identity(thing))
        held = self.names.output(thing)
        name = self.names.of(held) if held is not None else ""
        return NodeRecord(
            id,
            "function",
            name=type(thing).__name__,
            op=operation(type(thing)),
            note=join_notes(
                f"{name}.grad_fn" if name else "", hooks_text(thing) if self.show.hooks else "", self.line_note(thing)
            ),
            marks=state_marks(thing),
            identity=identity(thing),
        )

    def saved_record(self, id, node, entry, identity) -> NodeRecord:
        name, value, expected, current = entry
        note = f"saved at version {expected}, now {current}" if expected != current else self.unnoticed(node, value)
        marks = ("freed",) if value is None else ("stale",) if note else ()
        shape = tuple(value.shape) if is_tensor(value) else None
        text = value_text(value)[:24] if value is not None and self.show.values else ""
        if isinstance(value, pytorch.Overwritten):
            text = value.words
        if isinstance(value, Packed):  # never unpacked for a picture: that is the user's code
            text = "packed by a hook"
        note = note if marks == ("stale",) else ""
        return NodeRecord(id, "saved", name=name, value=text, shape=shape, note=note, marks=marks, identity=identity)


class Written(View):
    """What you wrote: tensors and operations, rebuilt from the graph and the constants it remembers."""

    view = "written"
    forward = True

    def tensor_item(self, tensor):
        if tensor.grad_fn is None:
            return Item("tensor", tensor)
        return Item("made", tensor.grad_fn, tensor.output_nr)

    def links(self, item):
        kind, thing, _ = item
        if kind == "made":
            return [Link(Item("node", thing), "forward")]
        if kind != "node":
            return []
        constants = constants_of(thing)
        found = []
        for position, (function, index) in enumerate(thing.next_functions):
            if function is None:
                operand = self.constant_item(thing, constants, position)
            elif is_accumulator(function):
                operand = Item("tensor", function.variable)
            else:
                operand = Item("made", function, index)
            found.append(operand)
        if operation(type(thing)) == "rsub":  # 2 - x is rsub(x, 2), where the 2 needs no place in the graph
            found = [self.constant_item(thing, constants, 1), *found[:1]]
        return [Link(operand, "forward", position) for position, operand in enumerate(found)]

    def constant_item(self, node, constants, position) -> Item:
        constant = constants[position] if position < len(constants) else None
        if isinstance(constant, weakref.ref):
            constant = constant()
        if constant is None:
            constant = self.unrecorded_input(node, position)
        if constant is None:
            return Item("lost", node, position)
        return Item("tensor", constant) if is_tensor(constant) else Item("number", node, position)

    def record(self, item, id):
        kind, thing, index = item
        if kind == "tensor":
            return self.tensor_record(id, thing)
        if kind == "made":
            held = self.names.output(thing, index)
            if held is not None:
                return self.made_record(id, held)
            shape, dtype = output_like(thing, index)
            shape = None if shape is None else tuple(shape)
            name = self.name_in_line(thing)
            return NodeRecord(
                id, "intermediate", name, shape=shape, dtype=dtype_text(dtype), identity=identity(thing, index)
            )
        if kind == "array":
            return self.array_record(id, thing)
        if kind == "number":
            text, known = value_text(constants_of(thing)[index]), identity(thing, f"constant {index}")
            return NodeRecord(id, "number", value=text, identity=known)
        if kind == "lost":
            name = self.name_in_line(thing, index) or "constant"
            return NodeRecord(id, "number", name=name, identity=identity(thing, f"constant {index}"))
        op = operation(type(thing)).replace("rsub", "sub")
        note = join_notes(hooks_text(thing) if self.show.hooks else "", self.line_note(thing))
        return NodeRecord(id, "op", name=_with_number(op, thing), op=op, note=note, identity=identity(thing))

    def tensors_of(self, item):
        """The tensor that an item shows, if it still exists."""
        tensor = self.names.output(item.thing, item.index) if item.kind == "made" else item.thing
        return [tensor] if is_tensor(tensor) else []


def _with_number(op: str, node) -> str:
    """`pow 2` for x ** 2: a Python number there is an option of the operation, not an input."""
    if op != "pow":
        return op
    saved = {entry[0]: entry[1] for entry in saved_state(node)}
    name = "self" if type(node).__name__ == "PowBackward2" else "exponent"
    number = saved.get(name) or (*constants_of(node), None, None)[1]
    if not isinstance(number, int | float):
        return op
    return f"{value_text(number)} **" if name == "self" else f"pow {value_text(number)}"


def is_accumulator(node) -> bool:
    """Whether the node is the AccumulateGrad of a leaf."""
    return type(node).__name__ == "AccumulateGrad"


def operation(kind: type) -> str:
    """mul for the class MulBackward0; a Function's own name for that of the nodes that it makes."""
    return getattr(kind, "op_name", "") or re.sub(r"Backward\d*$", "", kind.__name__).lower()


VIEWS = {"kept": Kept, "written": Written}


def collect(tensors, view="kept", names=None, ids=None, options=None):
    """The GraphRecord of one view of what `tensors` were made from."""
    names = Names(tensors) if names is None else names
    return VIEWS[view](tensors, names, options or Options()).graph(ids)


def panel(tensors, view: str, names: Names, ids, options: Options) -> GraphRecord:
    """The same for a picture: of an enormous graph a summary, and the part next to the outputs."""
    kinds, leaves = count_kinds(tensors)
    if kinds.total() + leaves <= MAX_RECORDED:
        return collect(tensors, view, names, ids, options)
    operations: Counter[str] = Counter()
    for kind, count in kinds.items():
        operations[kind.__name__ if view == "kept" else operation(kind)] += count
    near = cut_short(VIEWS[view](tensors, names, options, KEPT_NODES).graph(ids))
    return replace(near, captions=(*near.captions, f"{operations.total():,} operations: {counted(operations, leaves)}"))
