"""What changed between two graphs: before and after a backward, a detach, an overwrite.

A graph changes in place, so `before` is a snapshot: plain records. Two nodes are paired if they show the same tensor
or the same recorded operation. If no operation is the same, because the program ran again, they are paired by the
structure of the two graphs.
"""

import itertools
import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from .collect import collect, shortened
from .matching import Pairing, numbered
from .picture import Picture
from .records import GraphRecord, NodeRecord, Options, ends, is_tensor
from .text import TENSORS, head, operation_text

MAX_CAPTIONS = 4
MAX_LETTERS = 72


class Comparison(Picture):
    """Two graphs side by side, and what differs: a Picture with lists.

    ``added``, ``gone``, ``freed`` and ``changed`` are tuples of NodeRecords, ``cut`` of EdgeRecords;
    ``sentences`` say all of it in words, ``same`` that there is nothing to say.
    """

    def __init__(self, before: GraphRecord, after: GraphRecord, pairs: dict[str, str], **options):
        reverse = {other: id for id, other in pairs.items()}
        changes = dict(_changes(before, after, pairs))
        self.added = tuple(node for node in after.nodes if node.id not in reverse)
        self.gone = tuple(node for node in before.nodes if node.id not in pairs)
        self.freed = tuple(after.by_id[id] for id, change in changes.items() if change == "freed")
        self.changed = tuple(after.by_id[id] for id, change in changes.items() if change != "freed")
        left = _marked(before, after, pairs, "gone", {reverse[id] for id in changes})
        right = _marked(after, before, reverse, "added", set(changes), {n.id for n in self.changed})
        self.cut = tuple(edge for edge in left.edges if "cut" in edge.marks)
        self.sentences = tuple(self._describe(before, after, changes, right))
        self.same = not self.sentences
        captions = tuple(shortened(sentence, MAX_LETTERS) for sentence in self.sentences[:MAX_CAPTIONS]) or (
            "nothing changed",
        )
        if len(self.sentences) > MAX_CAPTIONS:
            captions = (*captions, f"and {len(self.sentences) - MAX_CAPTIONS} more changes")
        titles = [f"{word}: {panel.title}" for word, panel in (("before", before), ("after", after))]
        panels = (replace(left, title=titles[0]), replace(right, title=titles[1], captions=captions))
        super().__init__(panels, **options)

    def _describe(self, before, after, changes: dict[str, str], right: GraphRecord) -> Iterator[str]:
        yield from _with_counts("added: {}", map(operation_text, filter(_is_reported, self.added)))
        yield from _with_counts("gone: {}", map(operation_text, filter(_is_reported, self.gone)))
        yield from _with_counts("freed: what {} saved", (head(node) for node in self.freed if node.role != "saved"))
        for edge in self.cut:
            yield f"cut: the arrow from {_name_of(before, edge.source)} to {_name_of(before, edge.target)}"
        new = {node.id for node in self.added}
        for edge in right.edges:
            if "added" in edge.marks and not new & {edge.source, edge.target}:
                yield f"added: the arrow from {_name_of(after, edge.source)} to {_name_of(after, edge.target)}"
        yield from (change for change in changes.values() if change != "freed")


def panels_of(before, after, view: str, names_of, options: dict) -> list[GraphRecord]:
    """Both sides as records with ids of their own. Tensors are recorded with the options of the other side."""
    recorded = [side.records[0] if isinstance(side, Picture) else side for side in (before, after)]
    like = next((side for side in recorded if isinstance(side, GraphRecord)), None)
    show = Options.of(options) if like is None or options else like.options
    view = view or (like.view if like is not None else "kept")
    panels = []
    for side in recorded:
        if not isinstance(side, GraphRecord):
            tensors = (side,) if is_tensor(side) else tuple(side)
            side = collect(tensors, view, names_of(tensors), None, show)
        panels.append(side)
    if panels[0].view != panels[1].view:
        raise ValueError(f"one graph is of view {panels[0].view!r}, the other of view {panels[1].view!r}")
    ids = itertools.count()
    return [numbered(panel, ids) for panel in panels]


def pair_nodes(before: GraphRecord, after: GraphRecord) -> dict[str, str]:
    """Pairs of ids, from `before` to `after`: nodes with the same identity, else at the same place in the graph."""
    pairs: dict[str, str] = {}
    for kind in (weakref.ref, tuple):
        _pair_by_keys(
            before, after, pairs, lambda node, kind=kind: [key for key in node.identity if isinstance(key, kind)]
        )
    operations = {node.id for node in before.nodes if node.role in ("function", "op")}
    if operations and not operations & set(pairs):
        pairs = Pairing.of(before, after).pairs
    _pair_by_keys(before, after, pairs, lambda node: [node.name] if node.role in TENSORS and node.name else [])
    return pairs


def _pair_by_keys(before: GraphRecord, after: GraphRecord, pairs: dict[str, str], keys) -> None:
    """Add to `pairs` the nodes without a partner that have a key in common."""
    taken = set(pairs.values())
    free = {_hashable(key): node.id for node in reversed(after.nodes) if node.id not in taken for key in keys(node)}
    for node in before.nodes:
        for key in keys(node) if node.id not in pairs else ():
            other = free.get(_hashable(key))
            if other is not None and other not in taken and not _is_dead(key):
                pairs[node.id] = other
                taken.add(other)
                break


def _hashable(key):
    """A key for a dict. Of a weak reference its id: to compare two would compare the tensors' elements."""
    return ("object", id(key)) if isinstance(key, weakref.ref) else key


def _is_dead(key) -> bool:
    return isinstance(key, weakref.ref) and key() is None


def _changes(before: GraphRecord, after: GraphRecord, pairs: dict[str, str]) -> Iterator[tuple[str, str]]:
    """(id in after, "freed" or a sentence) for each pair of nodes that differ."""
    for id, other in pairs.items():
        old, new = before.by_id[id], after.by_id[other]
        name = new.name or old.name or head(new)
        sentences = []
        if "freed" in new.marks and "freed" not in old.marks:
            yield other, "freed"
            continue
        for mark in ("fails", "stale"):
            if mark in new.marks and mark not in old.marks:
                sentences.append(f"{name}: a backward would fail now")
        if old.value != new.value:
            sentences.append(f"{name}: {old.value} is now {new.value}")
        if old.tangent != new.tangent:
            sentences.append(f"tangent of {name}: {old.tangent or 'none'} is now {new.tangent or 'none'}")
        if old.grad != new.grad:
            owned = new.name or old.name
            whose = f"{owned}.grad" if owned else f".grad of {new.role} {head(new)}"
            sentences.append(f"{whose}: {old.grad or 'none'} is now {new.grad or 'none'}")
        if ("constant" in (old.role, new.role)) and old.role != new.role:
            sentences.append(f"{name} {'needs no gradient now' if new.role == 'constant' else 'requires grad now'}")
        if sentences:
            yield other, "; ".join(sentences)


def _marked(panel, other, pairs, mark: str, kept: set, changed: set | frozenset = frozenset()) -> GraphRecord:
    """The panel with `mark` on nodes and edges without a partner, and "same" on those that are unchanged."""

    def marks(node: NodeRecord) -> tuple:
        if node.id not in pairs:
            return (*node.marks, mark)
        if node.id in kept:
            return (*node.marks, "changed") if node.id in changed else node.marks
        return (*node.marks, "same")

    theirs = Counter((edge.source, edge.target, edge.role) for edge in other.edges)
    edges = []
    for edge in panel.edges:
        partner = (pairs.get(edge.source), pairs.get(edge.target), edge.role)
        same = theirs[partner] > 0
        theirs[partner] -= same
        missing = "cut" if mark == "gone" and ends(edge)[0] in pairs else mark
        edges.append(replace(edge, marks=(*edge.marks, "same" if same else missing)))
    return replace(panel, nodes=tuple(replace(node, marks=marks(node)) for node in panel.nodes), edges=tuple(edges))


def _name_of(panel: GraphRecord, id: str) -> str:
    """A node as a sentence calls it: MulBackward0 (y.grad_fn) tells one from another."""
    node = panel.by_id[id]
    maker = next((line for line in node.note.split("\n") if line.endswith(".grad_fn")), "")
    return f"{head(node)} ({maker})" if maker else head(node)


def _is_reported(node: NodeRecord) -> bool:
    """Whether a node that came or went is worth a sentence: operations, leaves, what has a name."""
    return node.role in ("op", "function", "leaf", "constant", "alias") or (node.role == "output" and bool(node.name))


def _with_counts(sentence: str, names) -> Iterator[str]:
    for name, times in Counter(names).items():
        yield sentence.format(name) + (f" ({times:,} times)" if times > 1 else "")
