"""The events of a backward in words: a step for each node, and the terms that each gradient is the sum of."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from .records import GraphRecord, NodeRecord


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that the engine did.

    ``kind`` is seed (a walk starts here), ready (the gradient is complete), hook (one is called), rule
    (the derivatives are called), free (what was saved is gone), add (a contribution from
    ``source``, whose input ``position`` this is), refuse (a contribution of another shape), keep (retain_grad),
    accumulate (a leaf's .grad), capture (for the caller of grad()), inside (another backward runs in a
    hook) or stop (an exception). ``value`` is the gradient in words, ``before`` what was there.
    """

    kind: str
    node: str
    output: int = 0
    value: str = ""
    before: str = ""
    source: str = ""
    position: int = 0
    words: str = ""


class Step(NamedTuple):
    """What happens while the engine is at one node. ``node`` is "" for events of no node."""

    number: int
    node: str
    events: tuple[Event, ...]

    @property
    def failed(self) -> bool:
        return self.events[-1].kind == "stop"


class Entry(NamedTuple):
    """One contribution to a gradient: from input `position` of `source`, or "" for what it started with."""

    value: str
    source: str = ""
    position: int = 0


class Words:
    """The names of a graph's nodes in sentences."""

    def __init__(self, graph: GraphRecord):
        self.leaves = {edge.source: edge.target for edge in graph.edges if edge.role == "accumulate"}
        self.made = {edge.target: edge.source for edge in graph.edges if edge.role == "grad_fn"}
        self.nodes = graph.by_id
        self.count = Counter(node.name for node in graph.nodes)

    def name(self, id: str, output: int = 0) -> str:
        """`x` for a leaf and its AccumulateGrad, `MulBackward0 (y.grad_fn)` for a function."""
        node = self.tensor(id) or self.nodes[id]
        if node.role == "leaf":
            return node.name or f"a leaf [{id}]"
        note = f" ({node.note})" if node.note else f" [{id}]" if self.count[node.name] > 1 else ""
        return node.name + note + (f" output {output}" if output else "")

    def result(self, id: str, output: int = 0) -> str:
        """`y` for a function whose result has a name, else as `name`."""
        named = not output and self.nodes[id].note.removesuffix(".grad_fn")
        return named or self.name(id, output)

    def tensor(self, id: str) -> NodeRecord | None:
        """The leaf that an AccumulateGrad belongs to, or None."""
        return self.nodes[self.leaves[id]] if id in self.leaves else None

    def sentence(self, event: Event) -> str:
        """What happened, in words; the subject is the node that the engine is at."""
        kind, value, before = event.kind, event.value, event.before
        name = self.name(event.node, event.output) if event.node else ""
        result = self.result(event.node, event.output) if event.node else ""
        if kind == "hook":
            changes = before and before != value
            return f"hook {event.words} is called" + (f" and makes {value} of {before}" if changes else "")
        if kind == "add":
            total = f": {before} so far" if before != value else ""
            return f"{value} goes to {name}, as input {event.position}{total}"
        sentences = {
            "seed": f"{result} starts with the gradient {value}",
            "ready": f"{name}: {event.words or 'the whole gradient is there,'} {value}",
            "rule": f"its derivatives are called with {value}",
            "free": "what it saved is freed",
            "refuse": f"{value} cannot go to {name}, as input {event.position}",
            "keep": f"{result}.grad: {before} -> {value} (retained)",
            "accumulate": f"{result}.grad: {before} -> {value}",
            "capture": f"{result}: {value} is kept for the caller",
            "inside": "another backward runs in here; it is not shown",
            "stop": f"stopped by {event.words}",
        }
        return sentences[kind]


def steps_of(graph: GraphRecord, events: tuple[Event, ...]) -> tuple[Step, ...]:
    """The events grouped: the start, each node's turn, what comes after the walk."""
    groups: list[tuple[str, list[Event]]] = []
    for event in events:
        if not groups or _begins(event, *groups[-1]):
            groups.append((event.node, []))
        groups[-1][1].append(event)
    return tuple(Step(number, node, tuple(found)) for number, (node, found) in enumerate(groups, 1))


def _begins(event: Event, node: str, found: list[Event]) -> bool:
    """Whether an event is the first of a step, after those that were `found`."""
    if event.kind == "ready":  # a node with several outputs has several gradients, all in one turn
        return (
            event.node != node
            or any(e.kind == "ready" and e.output == event.output for e in found)
            or found[0].kind != "ready"
        )
    return event.kind in ("seed", "capture") and found[0].kind != event.kind


class Ledger:
    """The contributions that each gradient is the sum of: ``entries[node, output]``, and in words."""

    def __init__(self, graph: GraphRecord, events: tuple[Event, ...]):
        self.words = Words(graph)
        self.entries: dict[tuple, list[Entry]] = defaultdict(list)
        self.totals: dict[tuple, str] = {}
        self.before: dict[tuple, str] = {}
        self.after: dict[tuple, str] = {}
        for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        """Enter one event."""
        place = (event.node, event.output)
        if event.kind in ("seed", "add"):
            self.entries[place].append(Entry(event.value, event.source, event.position))
        elif event.kind in ("ready", "capture"):
            self.totals.setdefault(place, event.value)
        elif event.kind in ("accumulate", "keep") and event.before != "None":
            self.before[place], self.after[place] = event.before, event.value

    def line(self, place: tuple) -> str:
        """`x: 5. = 2. from MulBackward0 input 0 + 3. from AddBackward0 input 1`."""
        parts = [self.part(entry) for entry in self.entries[place]]
        total = self.totals.get(place, "never complete")
        line = f"{self.words.result(*place)}: {total} = {' + '.join(parts)}"
        if place in self.before:
            line += f"; .grad {self.before[place]} -> {self.after[place]}"
        return line

    def part(self, entry: Entry) -> str:
        if not entry.source:
            return f"{entry.value} to start with"
        return f"{entry.value} from {self.words.name(entry.source)} input {entry.position}"


def first_and_last(count: int, most: int) -> list[int]:
    """The indices of `count` things, of more than `most` those of the first and the last ones."""
    if count <= most:
        return list(range(count))
    head = most - most // 2
    return [*range(head), *range(count - most // 2, count)]


def listing_of(graph: GraphRecord, steps: tuple[Step, ...], ledger: Ledger, most: int) -> str:
    """The listing of a trace: its steps and its ledger, of long ones the first and the last lines."""
    words = ledger.words
    starts = [e for step in steps for e in step.events if e.kind == "seed"]
    roots = ", ".join(dict.fromkeys(words.result(e.node, e.output) for e in starts))
    many = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    lines = [f"backward from {roots} in {many}" if starts else "no backward"]
    last = -1
    for index in first_and_last(len(steps), most):
        if index > last + 1:
            lines.append(skipped(steps[last + 1 : index], words))
        last, step = index, steps[index]
        first, *rest = (words.sentence(event) for event in step.events)
        lines += [f"{step.number:3}  {first}", *(f"       {sentence}" for sentence in rest)]
    return "\n".join([*lines, *_ledger_lines(ledger, most)])


def skipped(steps: tuple[Step, ...], words: Words) -> str:
    """`... 120 steps are not listed: 60 × MulBackward0, 60 × AddBackward0`."""
    kinds = Counter(words.nodes[step.node].name for step in steps if step.node)
    most = ", ".join(f"{count} × {name}" for name, count in kinds.most_common(4))
    return f"  ... {len(steps)} steps are not listed: {most}"


def _ledger_lines(ledger: Ledger, most: int) -> list[str]:
    places = list(ledger.entries)
    if not places:
        return []
    chosen = [places[index] for index in first_and_last(len(places), most)]
    more = len(places) - len(chosen)
    lines = ["what each gradient is made of", *(f"  {ledger.line(place)}" for place in chosen)]
    return lines + ([f"  ... and {more} more gradients"] if more else [])
