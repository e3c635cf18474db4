"""Big graphs made readable: a block that repeats is drawn once, with a count; what is still too large is cut short.

An unrolled loop records the same operations in every round, each time on the results of the round before. So in
the order in which they were recorded, the names of the operations and the distances to their inputs are periodic,
and every period is a copy of the same subgraph. The last copy is drawn for all of them.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .records import EdgeRecord, GraphRecord, NodeRecord, ends
from .text import OPERATIONS

MIN_NODES_TO_FOLD = 40  # nodes; smaller graphs are drawn as they are
FEW_NODES = 24  # with Modules as nodes; of more also the Modules that they are parts of
MAX_NODES = 300  # that a picture can show
KEPT_NODES = 15  # of a graph that is too large even when folded
MIN_TIMES = 3  # fewer rounds are not folded
MAX_BLOCK = 64  # operations
RESULTS = {"intermediate", "output"}
MAX_GENERATIONS = 4  # a loop, and the loops that backward, backward of backward ... recorded from it
COLUMNS = 3  # inputs that are compared one by one; the rest of a long list as one


def readable(graph: GraphRecord, fold: bool | None = None) -> GraphRecord:
    """The graph as it is shown: folded where it is large or `fold` says so, and cut short if need be."""
    if not fold and (fold is not None or len(graph.nodes) <= MIN_NODES_TO_FOLD):
        return graph
    folded = folded_graph(folded_by_module(graph))
    if len(folded.nodes) > MAX_NODES:
        folded = cut_short(folded, len(graph.nodes))
    if len(graph.nodes) <= MAX_NODES:
        return folded
    return replace(folded, captions=(*folded.captions, summary(graph)))


def summary(graph: GraphRecord) -> str:
    """A large graph in one sentence.

    >>> nodes = [NodeRecord(f"n{i}", "function", "MulBackward0") for i in range(3)]
    >>> summary(GraphRecord("what autograd keeps", "kept", tuple(nodes), (), ()))
    '3 operations: 3 MulBackward0'
    """
    operations = Counter(node.name for node in graph.nodes if node.role in OPERATIONS)
    leaves = sum(node.role == "leaf" for node in graph.nodes)
    return f"{operations.total():,} operations: {counted(operations, leaves)}"


def counted(operations: Counter[str], leaves: int) -> str:
    """How many there are of the commonest operations, of the others, and of the leaves."""
    parts = [f"{count:,} {name}" for name, count in operations.most_common(4)]
    if len(operations) > 4:
        parts.append(f"{sum(count for _, count in operations.most_common()[4:]):,} others")
    if leaves:
        parts.append(f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}")
    return ", ".join(parts)


# -- finding what repeats ------------------------------------------------------------------------


class _Operations:
    """The operations of a graph in the order in which they were recorded, and where their inputs come from."""

    def __init__(self, graph: GraphRecord):
        found = [id for id in graph.inputs_first if graph.by_id[id].role in OPERATIONS]
        numbers = {id: number for id in found if (number := _record_number(graph.by_id[id])) is not None}
        if len(numbers) == len(found):
            found.sort(key=numbers.__getitem__)
        self.graph, self.ids = graph, found
        self.place = {id: index for index, id in enumerate(found)}

    def source(self, id: str) -> str:
        """The operation that made a result; any other node is its own source."""
        node = self.graph.by_id[id]
        if node.role in RESULTS and self.graph.inputs[id]:
            return ends(self.graph.inputs[id][0])[1]
        return id

    def inputs(self, id: str) -> list[str]:
        return [ends(edge)[1] for edge in self.graph.inputs[id]]

    def columns(self, runs: list) -> list[tuple[np.ndarray, ...]]:
        """Signatures as integers, in columns: the kind of the operation, then the source of each of its inputs.

        A source is written in three ways, and two rounds are equal if one of them agrees: the distance to it, its
        place, or its place in the rounds of an earlier run. The nodes that a backward recorded refer to the loop that
        it went back through in the third way.
        """
        folded = {
            self.ids[start + i]: (start, i % period) for start, period, times in runs for i in range(period * times)
        }
        rows = [self._row(index, id, folded) for index, id in enumerate(self.ids)]
        return [tuple(_as_integers([row[c][way] for row in rows]) for way in range(3)) for c in range(COLUMNS + 2)]

    def _row(self, index: int, id: str, folded: dict) -> list[tuple]:
        node = self.graph.by_id[id]
        kind = (node.role, node.op, node.name, node.marks, node.groups)
        own, cells = folded.get(id, (index,))[0], []
        for operand in self.inputs(id):
            source = self.source(operand)
            role = self.graph.by_id[source].role
            distance = index - self.place[source] if source in self.place else role
            earlier = folded.get(source, (own,))
            cells.append(((role, distance), source, earlier if earlier[0] != own else index))
        first = [*cells[:COLUMNS], *[((), (), ())] * (COLUMNS - len(cells))]
        rest = tuple(tuple(cell[way] for cell in cells[COLUMNS:]) for way in range(3))
        return [(kind, kind, kind), *first, rest]

    def runs(self) -> list[tuple[int, int, int]]:
        """The runs of equal blocks: first those that refer to themselves, then those that refer to other runs."""
        runs: list = []
        for _ in range(MAX_GENERATIONS):
            found = repeats(self.columns(runs), len(self.ids))
            left = len(self.ids) - sum(period * times for _, period, times in found)
            if found == runs or left <= MIN_NODES_TO_FOLD:  # so few can be drawn as they are
                return found
            runs = found
        return runs


def _record_number(node: NodeRecord) -> int | None:
    return next((-key[1] for key in node.identity if isinstance(key, tuple) and key[0] == "node"), None)


def _as_integers(values: list) -> np.ndarray:
    palette: dict = {}
    return np.array([palette.setdefault(value, len(palette)) for value in values], dtype=np.int64)


def repeats(columns: list, count: int) -> list[tuple[int, int, int]]:
    """(start, length of a block, times) of the runs of equal blocks, from the first operation on."""
    longest = min(MAX_BLOCK, count // MIN_TIMES)
    runs = np.zeros((longest + 1, count), dtype=np.int64)
    for period in range(1, longest + 1):
        equal_rounds = np.full(count - period, count)
        for ways in columns:
            rounds = [_equal_rounds(way[:-period] == way[period:], period) for way in ways]
            equal_rounds = np.minimum(equal_rounds, np.max(rounds, axis=0))
        complete = _sliding_minimum(np.append(equal_rounds, np.zeros(period, dtype=np.int64)), period)
        runs[period, : len(complete)] = complete + 1
    periods = np.arange(longest + 1)[:, None]
    covered = np.where(runs >= MIN_TIMES, runs * periods, 0)
    return _best_cover(covered.argmax(axis=0).tolist(), covered.max(axis=0).tolist()) if count else []


def _best_cover(periods: list[int], covered: list[int]) -> list[tuple[int, int, int]]:
    """The runs that together cover most operations; where several choices cover as many, the one that starts latest.

    So the round of a loop that is left over is the first one, which differs: it starts from something else.
    """
    count = len(covered)
    most = [0] * (count + 1)
    for start in range(count - 1, -1, -1):
        most[start] = max(most[start + 1], covered[start] + most[start + covered[start]])
    found, start = [], 0
    while start < count:
        if covered[start] and most[start] > most[start + 1]:
            found.append((start, periods[start], covered[start] // periods[start]))
            start += covered[start]
        else:
            start += 1
    return found


def _equal_rounds(same: np.ndarray, period: int) -> np.ndarray:
    """For each place, the number of consecutive rounds in which the operation there equals that of the next round."""
    rows = -(-len(same) // period)
    table = np.zeros(rows * period, dtype=bool)
    table[: len(same)] = same
    row = np.arange(rows)[:, None]
    differs = np.where(table.reshape(rows, period), rows, row)
    return (np.minimum.accumulate(differs[::-1])[::-1] - row).reshape(-1)[: len(same)]


def _sliding_minimum(values: np.ndarray, window: int) -> np.ndarray:
    """The minimum of each `window` neighbours."""
    covered = 1
    while covered < window:
        step = min(covered, window - covered)
        values = np.minimum(values[:-step], values[step:])
        covered += step
    return values


# -- folding -------------------------------------------------------------------------------------


class _Folding:
    """Which node is drawn for which others, and in which round of which run each node is."""

    def __init__(self, operations: _Operations):
        self.graph, self.operations = operations.graph, operations
        self.representative: dict[str, str] = {}
        self.round: dict[str, tuple[int, int]] = {}
        self.runs = operations.runs()
        for run, (start, period, times) in enumerate(self.runs):
            ids = operations.ids[start : start + period * times]
            for index, id in enumerate(ids):
                for node, other in self.with_owned_nodes(id, ids[index % period - period]):
                    self.representative[node], self.round[node] = other, (run, index // period)

    def with_owned_nodes(self, id: str, other: str) -> Iterator[tuple[str, str]]:
        """An operation and the nodes that only it uses, each with its counterpart in the last round."""
        stack = [(id, other)]
        while stack:
            pair = stack.pop()
            yield pair
            inputs = zip(*(self.operations.inputs(node) for node in pair), strict=False)
            stack.extend(below for below in inputs if all(map(self.owned, below, pair)))
        yield from zip(*(self.results_of(node) for node in (id, other)), strict=False)

    def owned(self, id: str, user: str) -> bool:
        """Whether a node that is no result has no other user."""
        role = self.graph.by_id[id].role
        return role not in OPERATIONS | RESULTS and all(u == user for u in self.graph.users[id])

    def results_of(self, id: str) -> list[str]:
        return [user for user in self.graph.users[id] if self.graph.by_id[user].role in RESULTS]

    def node(self, node: NodeRecord, count: int) -> NodeRecord:
        """A node as it is shown: with the number of nodes that it stands for, in the box of its block."""
        if node.id not in self.round or self.runs[self.round[node.id][0]][1] == 1:
            return replace(node, count=count)
        return replace(node, count=count, groups=(*node.groups, f"block {self.round[node.id][0]}"))

    def edge(self, edge: EdgeRecord) -> EdgeRecord:
        """An edge as it is shown: one from a round to the round before is drawn inside the block, as a repetition."""
        ends = (edge.source, edge.target)
        rounds = [self.round.get(end, (-1, 0)) for end in ends]
        again = rounds[0][0] == rounds[1][0] and rounds[0] != rounds[1]
        source, target = (self.representative.get(end, end) for end in ends)
        return replace(edge, source=source, target=target, role="repeat" if again else edge.role)


def folded_graph(graph: GraphRecord) -> GraphRecord:
    """The graph with each run of equal blocks drawn as its last block, with a count."""
    folding = _Folding(_Operations(graph))
    if not folding.runs:
        return graph
    counts = Counter(folding.representative.values())
    stays = [node for node in graph.nodes if folding.representative.get(node.id, node.id) == node.id]
    nodes = tuple(folding.node(node, max(1, counts[node.id])) for node in stays)
    edges: dict[tuple, EdgeRecord] = {}
    for edge in map(folding.edge, graph.edges):
        if edge.source != edge.target:
            edges.setdefault((edge.source, edge.target, edge.role, edge.position), edge)
    titles = {f"block {run}": f"{times:,} times" for run, (_, _, times) in enumerate(folding.runs)}
    roots = tuple(dict.fromkeys(folding.representative.get(root, root) for root in graph.roots))
    return replace(
        graph, nodes=nodes, edges=tuple(edges.values()), roots=roots, titles=(*graph.titles, *titles.items())
    )


def cut_short(graph: GraphRecord, total: int | None = None) -> GraphRecord:
    """The part of a graph next to its outputs and to what is pointed at, with a stub where it goes on.

    `total` is the number of nodes of the graph before it was folded, for the text of the stub.
    """
    pointed_at = [node.id for node in graph.nodes if {"guilty", "noted"} & {*node.marks}]
    kept = list(dict.fromkeys((*graph.roots, *pointed_at)))[:KEPT_NODES]
    for id in kept:  # grows while it is walked
        for operand in (ends(edge)[1] for edge in graph.inputs[id]):
            if len(kept) < KEPT_NODES and operand not in kept:
                kept.append(operand)
    shown = set(kept)
    nodes = [node for node in graph.nodes if node.id in shown]
    more = "and so on" if total is None else f"{total - len(nodes):,} more nodes"
    stub = NodeRecord("more", "none", name=f"... {more}")
    edges: dict[tuple, EdgeRecord] = {}
    for edge in graph.edges:
        result, operand = ends(edge)
        if result in shown:
            there = (
                edge
                if operand in shown
                else replace(edge, **{_input_end(edge): "more"}, position=99, marks=(), note="")
            )
            edges.setdefault((there.source, there.target, there.role, there.position), there)
    roots = tuple(root for root in graph.roots if root in shown)
    return replace(graph, nodes=(*nodes, stub), edges=tuple(edges.values()), roots=roots)


def _input_end(edge: EdgeRecord) -> str:
    """The name of the end that an edge's input is at."""
    return "source" if edge.role == "forward" else "target"


# -- Modules -------------------------------------------------------------------------------------


def folded_by_module(graph: GraphRecord) -> GraphRecord:
    """The graph with each Module as one node, as the names of its parameters tell: `net.fc.weight` is one of `net.fc`.

    The innermost Modules first; of a graph that is still large those that they are parts of.
    """
    paths = {n.id: n.name.split(".")[:-1] for n in graph.nodes if n.role == "leaf" and not n.name.endswith(".grad")}
    folded = graph
    for depth in range(max(map(len, paths.values()), default=0), 0, -1):
        modules = {id: ".".join(path[:depth]) for id, path in paths.items() if path}
        groups = _Modules(graph, modules).groups
        candidate = _with_groups(graph, groups) if groups else graph
        is_graph = len(candidate.inputs_first) == len(candidate.nodes)  # else two Modules lie inside each other
        if len(groups) > 1 and is_graph:
            folded = candidate
        if len(folded.nodes) <= FEW_NODES:
            break
    return folded


class _Modules:
    """Which nodes belong to which Module: ``groups`` has the ids by the Module's path."""

    def __init__(self, graph: GraphRecord, modules: dict[str, str]):
        self.graph = graph
        self.inputs = {id: [ends(edge)[1] for edge in edges] for id, edges in graph.inputs.items()}
        self.of_weights = self.made_of_weights(modules)
        owners: dict[str, set[str]] = {}
        uses: Counter[str] = Counter()
        for id in modules:
            users = self.users_of(id)
            uses[modules[id]] = max(uses[modules[id]], len(users))
            for user in users:
                owners.setdefault(modules[id], set()).add(user)
        self.owner = {id: path for path, ids in owners.items() for id in ids}
        self.groups: dict[str, set[str]] = {}
        for path, ids in owners.items():
            members = self.between(path, ids)
            marks = {mark for id in members for mark in graph.by_id[id].marks}
            if uses[path] == 1 and not marks & {"guilty", "noted", "fails"}:  # called once, nothing to point at
                members |= self.weights_below(members)
                self.groups[path] = members
        self.take_in()

    def made_of_weights(self, modules: dict[str, str]) -> set[str]:
        """The leaves, and what is made of one leaf alone: its AccumulateGrad, its transpose."""
        found = set(modules)
        for id in self.graph.inputs_first:
            if self.inputs[id] and all(below in found for below in self.inputs[id]) and len(self.inputs[id]) == 1:
                found.add(id)
        return found

    def users_of(self, leaf: str) -> set[str]:
        """The operations that a weight goes into together with something else."""
        found: set[str] = set()
        stack = [leaf]
        while stack:
            for user in self.graph.users[stack.pop()]:
                (stack.append if user in self.of_weights else found.add)(user)
        return found

    def between(self, path: str, ids: set[str]) -> set[str]:
        """The operations of a Module, and those that lie between two of them."""
        if len(ids) == 1:
            return set(ids)
        below = self.closure(path, ids, self.inputs)
        return ids | (below & self.closure(path, ids, self.graph.users))

    def closure(self, path: str, ids: set[str], towards: dict) -> set[str]:
        """What is reached from some nodes without passing through another Module."""
        found: set[str] = set()
        stack = list(ids)
        while stack:
            for other in towards[stack.pop()]:
                if other not in found and self.owner.get(other, path) == path and other not in self.of_weights:
                    found.add(other)
                    stack.append(other)
        return found

    def weights_below(self, members: set[str]) -> set[str]:
        found: set[str] = set()
        stack = list(members)
        while stack:
            for below in self.inputs[stack.pop()]:
                if below in self.of_weights and below not in found:
                    found.add(below)
                    stack.append(below)
        return found

    def take_in(self) -> None:
        """What only brings the input or the output of a Module into shape, and the results between, go with it."""
        group = {id: path for path, members in self.groups.items() for id in members}
        order = self.graph.inputs_first
        for id in (*reversed(order), *order):
            node = self.graph.by_id[id]
            known = id in group or id in self.graph.roots or not self.inputs[id] or id in self.of_weights
            if known or not (node.role in RESULTS or node.op in _SHAPES):
                continue
            users = {group.get(user, "") for user in self.graph.users[id]}
            sources = {group.get(below, "") for below in self.inputs[id]}
            if users != {""} and len(users) == 1:
                path = users.pop()
            elif sources != {""} and len(sources) == 1 and self.is_only_user(id):
                path = sources.pop()
            else:
                continue
            group[id] = path
            self.groups[path].add(id)

    def is_only_user(self, id: str) -> bool:
        """Whether nothing else uses what a node is made from."""
        return all(set(self.graph.users[below]) == {id} for below in self.inputs[id])


_SHAPES = set("view unsafeview reshapealias transpose t permute unsqueeze squeeze expand clone".split())


def _with_groups(graph: GraphRecord, groups: dict[str, set[str]]) -> GraphRecord:
    """The graph with one node for each group: the last operation of the group stands for all of it."""
    place = {id: index for index, id in enumerate(graph.inputs_first)}
    stands: dict[str, str] = {}
    nodes: dict[str, NodeRecord] = {}
    for path, members in groups.items():
        operations = [id for id in members if graph.by_id[id].role in OPERATIONS]
        last = max(operations, key=lambda id: place.get(id, 0))
        weights = sum(graph.by_id[id].role == "leaf" for id in members)
        words = f"{len(operations)} operation{'s' * (len(operations) > 1)}, {weights} parameter{'s' * (weights > 1)}"
        known = graph.by_id[last]
        freed = tuple(mark for mark in known.marks if mark == "freed")
        nodes[last] = replace(known, name=path, op=path.rpartition(".")[2], note=words, marks=freed)
        stands |= dict.fromkeys(members, last)
    shown = tuple(nodes.get(node.id, node) for node in graph.nodes if stands.get(node.id, node.id) == node.id)
    edges: dict[tuple, EdgeRecord] = {}
    for edge in graph.edges:
        source, target = stands.get(edge.source, edge.source), stands.get(edge.target, edge.target)
        if source != target:
            moved = replace(edge, source=source, target=target)
            edges.setdefault((source, target, edge.role), moved)
    return replace(graph, nodes=shown, edges=tuple(edges.values()))
