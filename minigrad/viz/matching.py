"""Do two graphs have the same structure, and if not, where do they differ?

Two graphs are the same if their nodes can be paired so that operations, leaf flags and edges agree:
the order of arguments counts where it matters, and a tensor used twice is not two tensors.
"""

import itertools
from collections import Counter
from dataclasses import dataclass, replace

from .collect import collect
from .picture import Picture
from .records import EdgeRecord, GraphRecord, Names, NodeRecord, ends, is_tensor
from .text import COMMUTATIVE, head, operation_text

MAX_CAPTIONS = 3  # below a picture; a Difference says everything
ELSEWHERE = "the same operations and leaves, joined by other arrows"


@dataclass(frozen=True)
class Difference:
    """The result of `difference`: both graphs with their nodes marked, and what differs in words."""

    same: bool
    expected: GraphRecord
    got: GraphRecord
    missing: tuple[NodeRecord, ...]
    unexpected: tuple[NodeRecord, ...]
    sentences: tuple[str, ...]


def difference(expected, got, *, view="written", constants=False, names=False, params=None):
    """Compare two graphs; each is an output tensor, a tuple of them, or a GraphRecord.

    Names of leaves and values of constants count only if `names` or `constants` says so.
    """
    ids = itertools.count()
    panels = [numbered(_panel(graph, view, params), ids) for graph in (expected, got)]
    ours, theirs = (_Graph(panel, constants, names) for panel in panels)
    if isomorphism(ours, theirs) is not None:
        return Difference(True, *panels, (), (), ())
    pairs = Pairing(ours, theirs).pairs
    reverse = {other: id for id, other in pairs.items()}
    marked = _marked(ours, theirs, pairs, "missing"), _marked(theirs, ours, reverse, "unexpected")
    swapped = _swapped(ours, theirs, pairs)
    sentences = [f"the operands of {head(ours.panel.by_id[id])} are swapped" for id in swapped]
    both = [Counter(_arrow(panel, edge) for edge in panel.edges) for panel in marked]
    sides = (
        (marked[0], "missing", swapped, both[0] - both[1]),
        (marked[1], "unexpected", {pairs[id] for id in swapped}, both[1] - both[0]),
    )
    sentences += [sentence for side in sides for sentence in _sentences(*side)]
    sentences = sentences or [sentence for side in sides for sentence in _sentences(*side, of_results=True)]
    unpaired = (tuple(n for n in panel.nodes if "same" not in n.marks) for panel in marked)
    differing = any(
        mark in edge.marks for panel in marked for edge in panel.edges for mark in ("missing", "unexpected")
    )
    reported = tuple(dict.fromkeys(sentences)) or (ELSEWHERE if differing else "the outputs are in another order",)
    return Difference(False, *marked, *unpaired, reported)


def draw_difference(expected, got, *, width: int | None = None, **options) -> Picture:
    """Both graphs side by side: what agrees is grey, what is missing or extra is marked and named.

    `options` are those of `difference`.
    """
    found = difference(expected, got, **options)
    captions = found.sentences[:MAX_CAPTIONS] or ("the same graph",)
    if (more := len(found.sentences) - MAX_CAPTIONS) > 0:
        captions = (*captions, f"and {more} more difference{'s' * (more > 1)}")
    left = replace(found.expected, title="the graph to build")
    return Picture((left, replace(found.got, title="your graph", captions=captions)), width)


def _panel(graph, view: str, params) -> GraphRecord:
    if isinstance(graph, GraphRecord):
        return graph
    tensors = (graph,) if is_tensor(graph) else tuple(graph)
    return collect(tensors, view, Names(tensors, params))


def numbered(panel: GraphRecord, ids) -> GraphRecord:
    """The same panel with the next free ids, so that two can stand in one picture."""
    new = {node.id: f"n{next(ids)}" for node in panel.nodes}
    return replace(
        panel,
        nodes=tuple(replace(node, id=new[node.id]) for node in panel.nodes),
        edges=tuple(replace(e, source=new[e.source], target=new[e.target]) for e in panel.edges),
        roots=tuple(new[root] for root in panel.roots),
    )


class _Graph:
    """A panel as the comparison needs it: what each node is, its inputs and its users."""

    def __init__(self, panel: GraphRecord, constants: bool, names: bool):
        self.panel = panel
        self.inputs = {id: [ends(edge)[1] for edge in edges] for id, edges in panel.inputs.items()}
        self.commutative = {node.id for node in panel.nodes if node.op in COMMUTATIVE}
        self.kinds = {node.id: _kind(node, constants, names) for node in panel.nodes}
        self.users: dict[str, list[tuple]] = {id: [] for id in self.inputs}
        for id, inputs in self.inputs.items():
            for position, operand in enumerate(inputs):
                self.users[operand].append((id, 0 if id in self.commutative else position))
        self.order = panel.inputs_first

    def input_colours(self, id: str, colours: dict) -> tuple:
        """The colours of the inputs, in order where the order counts."""
        found = [colours[operand] for operand in self.inputs[id]]
        return tuple(sorted(found) if id in self.commutative else found)


def _kind(node: NodeRecord, constants: bool, names: bool) -> tuple:
    if node.role in ("op", "function"):
        return (node.role, node.op, node.name if constants and node.role == "op" else "")
    if node.role in ("output", "intermediate"):
        return ("result",)
    name = node.name if names and node.role == "leaf" else ""
    if node.role in ("constant", "number"):
        return ("constant", node.value if constants else "")
    return (node.role, name)


def _refine_colours(graphs, start: dict) -> dict:
    """Colour refinement (Weisfeiler-Leman): nodes of equal colour have inputs and users of equal colours.

    A colour is a number and means the same in both graphs. Each round passes colours on from the inputs to the
    results and back, until no class of equal colours is split any more.
    """
    colours, classes = start, 0
    while len(set(colours.values())) > classes:
        classes = len(set(colours.values()))
        palette: dict[tuple, int] = {}
        colours = dict(colours)
        for graph in graphs:
            for id in graph.order:
                key = ("below", colours[id], graph.input_colours(id, colours))
                colours[id] = palette.setdefault(key, len(palette))
        for graph in graphs:
            for id in reversed(graph.order):
                above = tuple(sorted((colours[user], i) for user, i in graph.users[id]))
                key = ("above", colours[id], above)
                colours[id] = palette.setdefault(key, len(palette))
    return colours


def isomorphism(ours: _Graph, theirs: _Graph) -> dict[str, str] | None:
    """A pairing of the nodes that keeps kinds, roots and edges, or None. Exact, without recursion."""
    graphs = (ours, theirs)
    kinds = {
        id: (kind, tuple(i for i, root in enumerate(graph.panel.roots) if root == id))
        for graph in graphs
        for id, kind in graph.kinds.items()
    }
    palette: dict[tuple, int] = {}
    stack = [{id: palette.setdefault(kind, len(palette)) for id, kind in kinds.items()}]
    while stack:
        colours = _refine_colours(graphs, stack.pop())
        classes: dict[int, tuple[list, list]] = {}
        for side, graph in enumerate(graphs):
            for id in graph.order:
                classes.setdefault(colours[id], ([], []))[side].append(id)
        if any(len(a) != len(b) for a, b in classes.values()):
            continue
        tied = [pair for pair in classes.values() if len(pair[0]) > 1]
        if not tied:
            return {a[0]: b[0] for a, b in classes.values()}
        first, candidates = min(tied, key=lambda pair: len(pair[0]))
        fresh = max(colours.values()) + 1
        stack.extend(colours | {first[0]: fresh, other: fresh} for other in reversed(candidates))
    return None


class Pairing:
    """A greedy pairing of the nodes of two graphs that differ: equal subgraphs first, then from the roots.

    A leaf is paired by its name if both graphs have that, by its shape if both have that, else by its place.
    """

    def __init__(self, ours: _Graph, theirs: _Graph):
        self.ours, self.theirs = ours, theirs
        self.pairs: dict[str, str] = {}
        self.taken: set[str] = set()
        kinds = ours.kinds | theirs.kinds
        self.kinds = kinds | _kinds_of_leaves(ours, theirs)
        self.subgraphs = self.labels(kinds)  # equal for equal subgraphs; shared nodes count as copies
        self.same_leaves = self.labels(self.kinds)  # and with the same leaves below
        roots = list(zip(ours.panel.roots, theirs.panel.roots, strict=False))
        self.pair_downwards(*(pair for pair in roots if self.subgraphs[pair[0]] == self.subgraphs[pair[1]]))
        for id, other in self.candidates(self.same_leaves):  # results before operands: largest part first
            if ours.inputs[id] and ours.panel.by_id[id].role != "accumulate":
                self.pair_downwards((id, other))
        self.pair_downwards(*roots)
        for same in (self.same_leaves, self.kinds):  # of those that are left only the edges differ
            for id, other in self.candidates(same):
                self.pair(id, other)
        self.kinds = kinds
        for id, other in self.candidates(kinds):  # and the leaves that have neither name nor shape in common
            self.pair_downwards((id, other))

    @classmethod
    def of(cls, before: GraphRecord, after: GraphRecord) -> "Pairing":
        """The pairing of two panels, by structure and names of leaves."""
        return cls(_Graph(before, False, False), _Graph(after, False, False))

    def labels(self, kinds: dict) -> dict[str, int]:
        """A number for each node: equal where kinds agree, here and all the way below."""
        found: dict[str, int] = {}
        palette: dict[tuple, int] = {}
        for graph in (self.ours, self.theirs):
            for id in graph.order:
                key = (kinds[id], graph.input_colours(id, found))
                found[id] = palette.setdefault(key, len(palette))
        return found

    def candidates(self, label: dict):
        """Pairs of nodes with the same label that are still free when their turn comes."""
        free: dict = {}
        for id in self.theirs.order:
            free.setdefault(label[id], []).append(id)
        for id in reversed(self.ours.order):
            others = [other for other in free.get(label[id], ()) if other not in self.taken]
            if id not in self.pairs and others:
                yield id, others[-1]

    def pair(self, id: str, other: str) -> None:
        if id not in self.pairs and other not in self.taken:
            if self.kinds[id] == self.kinds[other]:
                self.pairs[id] = other
                self.taken.add(other)

    def pair_downwards(self, *start: tuple[str, str]) -> None:
        """Pair the nodes of `start` and what is below them, as far as their kinds agree."""
        stack, tried = list(start)[::-1], set()
        while stack:
            id, other = stack.pop()
            if (id, other) in tried or self.pairs.get(id, other) != other:
                continue
            tried.add((id, other))
            self.pair(id, other)
            if self.pairs.get(id) != other:
                continue
            left, right = self.ours.inputs[id], self.theirs.inputs[other]
            pairs = zip(left, right, strict=False)
            stack.extend(reversed(self.align_operands(left, right) if id in self.ours.commutative else list(pairs)))

    def align_operands(self, left: list[str], right: list[str]) -> list[tuple[str, str]]:
        """The operands of a sum or product in pairs: equal ones first, then those of one kind."""
        left, right, pairs = list(left), list(right), []
        for label in (self.same_leaves, self.subgraphs, self.kinds, dict.fromkeys([*left, *right])):
            for id in tuple(left):
                equal = [other for other in right if label[other] == label[id]]
                if equal:
                    pairs.append((id, equal[0]))
                    left.remove(id)
                    right.remove(equal[0])
        return pairs


def _kinds_of_leaves(ours: _Graph, theirs: _Graph) -> dict[str, tuple]:
    """The kinds of leaves, and of what adds to them, with the name or else the shape that both graphs have."""
    left = [[node for node in graph.panel.nodes if node.role == "leaf"] for graph in (ours, theirs)]
    found: dict[str, tuple] = {}
    for what in ("name", "shape"):
        in_both = {getattr(node, what) for node in left[0]} & {getattr(node, what) for node in left[1]} - {"", None}
        for graph, nodes in zip((ours, theirs), left, strict=True):
            known = [(node.id, getattr(node, what)) for node in nodes if getattr(node, what) in in_both]
            found |= {id: (*graph.kinds[id], what, value) for id, value in known}
        left = [[node for node in nodes if node.id not in found] for nodes in left]
    for graph in (ours, theirs):
        for node in graph.panel.nodes:
            if node.role == "accumulate" and (kind := found.get(graph.inputs[node.id][0])):
                found[node.id] = ("accumulate", *kind)
    return found


def _marked(graph: _Graph, other: _Graph, pairs: dict[str, str], mark: str) -> GraphRecord:
    """The panel with `mark` on each node and edge that has no partner, and "same" on the others."""
    panel = graph.panel
    nodes = tuple(replace(node, marks=(*node.marks, "same" if node.id in pairs else mark)) for node in panel.nodes)
    edges: list[EdgeRecord] = []
    for id, outgoing in panel.inputs.items():
        theirs = list(other.inputs[pairs[id]]) if id in pairs else []
        partners = [pairs.get(ends(edge)[1], "") for edge in outgoing]
        same = [position < len(theirs) and theirs[position] == partner for position, partner in enumerate(partners)]
        if id in graph.commutative or sorted(partners) != sorted(theirs):  # else the operands are swapped
            unused = Counter(theirs) - Counter(partner for partner, known in zip(partners, same, strict=True) if known)
            for position, partner in enumerate(partners):
                if not same[position] and unused[partner] > 0:
                    unused[partner] -= 1
                    same[position] = True
        edges += [replace(edge, marks=("same" if known else mark,)) for edge, known in zip(outgoing, same, strict=True)]
    return replace(panel, nodes=nodes, edges=tuple(edges))


def _swapped(ours: _Graph, theirs: _Graph, pairs: dict[str, str]) -> set[str]:
    """The operations whose operands are the right ones in the wrong order."""
    found = set()
    for id, other in pairs.items():
        expected = [pairs.get(operand, "") for operand in ours.inputs[id]]
        got = theirs.inputs[other]
        if id not in ours.commutative and expected != got and sorted(expected) == sorted(got):
            found.add(id)
    return found


def _arrow(panel: GraphRecord, edge: EdgeRecord) -> str:
    return f"the arrow from {head(panel.by_id[edge.source])} to {head(panel.by_id[edge.target])}"


def _sentences(panel: GraphRecord, mark: str, swapped: set[str], more: Counter, of_results=False) -> list[str]:
    """Sentences on the nodes without a partner, and on the edges between nodes that have one.

    An arrow is named by its ends: it is missing only if the other panel has fewer that read like it (`more`).
    The arrow from a tensor to its grad_fn follows from the rest: it has its turn if nothing else differs.
    """
    verb = "missing" if mark == "missing" else "extra"
    unpaired = [node for node in panel.nodes if mark in node.marks]
    reported = [node for node in unpaired if node.role not in ("output", "intermediate", "accumulate")] or unpaired
    sentences = [f"{verb}: {operation_text(node)}" for node in reported]
    unpaired_ids = {node.id for node in unpaired}
    for edge in panel.edges:
        if (edge.role == "grad_fn") != of_results:
            continue
        ends_known = unpaired_ids.isdisjoint((edge.source, edge.target))
        if mark in edge.marks and ends_known and ends(edge)[0] not in swapped:
            result = edge.role == "forward" and panel.by_id[edge.source].role == "op"
            if more[arrow := _arrow(panel, edge)] and not (unpaired and result):
                sentences.append(f"{verb}: {arrow}")
    return sentences
