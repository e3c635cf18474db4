"""Records in words: the lines inside a node, the indented listing, the alt text of a picture."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .records import ANNOTATIONS, GraphRecord, NodeRecord, ends

# Where swapping the operands changes nothing, nobody need say which is which.
COMMUTATIVE = {"add", "mul", "maximum", "minimum"}
# The box of what you computed yourself, beside those of what backwards built.
COMPUTED = "generation 0"
MAX_LINES = 100  # of a listing
MAX_SENTENCES = 40  # of an alt text

TENSORS = {"leaf", "output", "intermediate", "constant", "number", "saved", "alias"}
OPERATIONS = {"op", "function"}
_WORDS = {"leaf": "leaf", "constant": "needs no grad", "output": "output"}
_MARKS = {
    "freed": "buffers freed",
    "stale": "changed since",
    "fails": "backward would fail here",
    "retained": "retained",
    "dead_end": "no history: a dead end",
    "added": "added",
    "gone": "gone",
    "changed": "changed",
    "missing": "missing",
    "unexpected": "extra",
}


# What the colours and lines mean, in the order in which a legend says it.
LEGEND = {
    ("role", "leaf"): "leaf that requires grad: gets a .grad",
    ("role", "output"): "tensor that was drawn",
    ("role", "intermediate"): "result of an operation",
    ("role", "constant"): "needs no gradient",
    ("role", "op"): "operation",
    ("role", "function"): "grad_fn: how to go backward",
    ("role", "accumulate"): "adds to the leaf's .grad",
    ("role", "saved"): "saved for backward",
    ("role", "alias"): "on the memory of a tensor",
    ("mark", "freed"): "buffers freed: no second backward",
    ("mark", "stale"): "saved, and overwritten since",
    ("mark", "fails"): "a backward would fail here",
    ("mark", "dead_end"): "no history: no gradient gets past",
    ("mark", "guilty"): "!: look here",
    ("mark", "added"): "added",
    ("mark", "gone"): "gone",
    ("mark", "changed"): "changed",
    ("mark", "same"): "as it was",
    ("mark", "missing"): "missing",
    ("mark", "unexpected"): "extra",
    ("edge", "bridge"): "from what backward built to what it was built from",
    ("edge", "alias"): "the same memory",
    ("edge", "cut"): "history cut off",
    ("edge", "repeat"): "the next of several rounds",
}


def legend_of(panels: Iterable[GraphRecord]) -> list[tuple[str, str]]:
    """The entries of the legend that these panels need."""
    found = set()
    for panel in panels:
        for node in panel.nodes:
            found |= {("role", "constant" if node.role == "number" else node.role)}
            found |= {("mark", mark) for mark in node.marks}
        for edge in panel.edges:
            found |= {("edge", edge.role), *(("edge", mark) for mark in edge.marks)}
    return [entry for entry in LEGEND if entry in found]


def head(node: NodeRecord) -> str:
    """The first line of a node: its name and, for a tensor, its value.

    >>> head(NodeRecord("n0", "leaf", name="x", value="3."))
    'x = 3.'
    """
    if node.role in TENSORS:
        return " = ".join(filter(None, (node.name, node.value))) or shape_text(node)
    return node.name


def operation_text(node: NodeRecord) -> str:
    """A node as a sentence names it: `operation mul`, `leaf x`, `constant 2`."""
    kinds = {"op": "operation", "leaf": "leaf", "constant": "constant", "number": "constant"}
    first = head(node)
    kind = kinds.get(node.role, "")
    return first if first.startswith(kind) else f"{kind} {first}"


def shape_text(node: NodeRecord) -> str:
    """The shape, and the dtype where it is not the usual one."""
    if node.shape is None:
        return "tensor"
    return f"shape {node.shape}" + ("" if node.dtype in ("", "float32") else f" {node.dtype}")


def details(node: NodeRecord) -> list[str]:
    """The small lines below the first one: shape, gradient, notes and states."""
    lines = []
    if node.role in TENSORS and node.name and not node.value and node.shape is not None:
        lines.append(shape_text(node))
    if node.tangent:
        lines.append(f"tangent {node.tangent}")
    if node.grad:
        lines.append(f".grad {node.grad}")
    if node.note:
        lines.extend(node.note.split("\n"))
    if (
        node.count > 1
        and node.role not in ("output", "intermediate")
        and not any(group.startswith("block") for group in node.groups)
    ):
        lines.append(f"{node.count:,} times")
    freed = {"freed": "freed"} if node.role == "saved" else {}
    return lines + [(freed or _MARKS)[mark] for mark in node.marks if mark in (freed or _MARKS)]


def described(node: NodeRecord, titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """A node in one line, as the listing shows it: `x = 3. (leaf, .grad None)`."""
    words = [_WORDS[node.role]] if node.role in _WORDS else []
    boxes = [titles[group] for group in node.groups if group != COMPUTED] if node.role in OPERATIONS else []
    facts = ", ".join(words + details(node) + boxes)
    return f"{head(node)} ({facts})" if facts else head(node)


def listing(graph: GraphRecord) -> str:
    """The graph as an indented tree, outputs first, each node below what was made from it.

    A node that is used again is named by its id. The text depends on the records only: it is the
    same with every picture engine.
    """
    times_used = Counter(ends(edge)[1] for edge in graph.edges if edge.role not in ANNOTATIONS)
    titles = dict(graph.titles)
    lines = [graph.title, *(f"  {caption}" for caption in graph.captions)]
    shown: set[str] = set()
    starts = [*graph.roots, *(id for id in graph.by_id if not times_used[id])]
    stack = [(id, 1) for id in reversed(dict.fromkeys(starts))]
    while stack and len(lines) <= MAX_LINES:
        id, depth = stack.pop()
        node = graph.by_id[id]
        tag = f" [{id}]" if times_used[id] > 1 else ""
        if id in shown:
            lines.append("  " * depth + head(node) + f" [{id}] again")
            continue
        line = "  " * depth + described(node, titles) + tag
        shown.add(id)
        while (only := _only_input(graph, id)) and only not in shown and times_used[only] == 1:
            id = only
            shown.add(id)
            line += f" {_arrow(graph)} {described(graph.by_id[id], titles)}"
        lines.append(line)
        stack.extend((ends(edge)[1], depth + 1) for edge in reversed(graph.inputs[id]))
    if stack:
        lines.append(f"  ... and {len(graph.nodes) - len(shown)} more nodes")
    lines.extend(f"  {sentence}" for sentence in annotation_sentences(graph))
    return "\n".join(lines)


def annotation_sentences(graph: GraphRecord) -> list[str]:
    """A sentence for each edge with a note: an alias, a cut, a mark."""
    sentences = []
    for edge in graph.edges:
        if edge.note:
            joint = "--" if edge.role in ANNOTATIONS else "->"
            sentences.append(f"{head(graph.by_id[edge.source])} {joint} {head(graph.by_id[edge.target])}: {edge.note}")
    return sentences


def _arrow(graph: GraphRecord) -> str:
    return "<-" if graph.view == "written" else "->"


def _only_input(graph: GraphRecord, id: str) -> str | None:
    """The next node of a line: a tensor's operation, or an AccumulateGrad's leaf."""
    if graph.by_id[id].role not in ("output", "intermediate", "accumulate"):
        return None
    edges = graph.inputs[id]
    return ends(edges[0])[1] if len(edges) == 1 else None


def alt(graph: GraphRecord) -> str:
    """The graph in words, for those who cannot see the picture."""
    roots = ", ".join(head(graph.by_id[root]) for root in graph.roots)
    names = Counter(head(node) for node in graph.nodes)

    def call(id: str) -> str:
        node = graph.by_id[id]
        first = head(node) + (f" ({id})" if names[head(node)] > 1 else "")
        return first if node.role not in _WORDS else f"{_WORDS[node.role]} {first}"

    sentences = list(graph.captions)
    verb = "is made from" if graph.view == "written" else "passes gradients to"
    for id, edges in graph.inputs.items():
        if edges:
            inputs = " and ".join(call(ends(edge)[1]) for edge in edges)
            sentences.append(f"{call(id)} {verb} {inputs}")
    for node in graph.nodes:
        sentences.extend(f"{call(node.id)}: {', '.join(details(node))}" for _ in details(node)[:1])
    sentences.extend(annotation_sentences(graph))
    if len(sentences) > MAX_SENTENCES:
        more = len(sentences) - MAX_SENTENCES
        sentences[MAX_SENTENCES:] = [f"and {more} more sentences"]
    return f"Graph of {roots}, {graph.title}: {'; '.join(sentences)}."
