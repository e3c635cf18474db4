"""Records into DOT. The colour says the role, the shape the kind: tensors are ellipses, operations are boxes."""

from html import escape
from typing import NamedTuple

import graphviz

from .palette import BRIDGE, BROKEN, BUILT, CARD, CARD_LINE, FONT, INK, SOFT_INK
from .records import ANNOTATIONS, EdgeRecord, GraphRecord, NodeRecord, ends
from .text import COMMUTATIVE, COMPUTED, LEGEND, details, head

GRAPH = {"bgcolor": "transparent", "nodesep": "0.25", "ranksep": "0.28", "pad": "0.02"}
GRAPH |= {"fontname": FONT, "fontsize": "12", "fontcolor": INK}
# The margins leave room for a browser whose font is wider than the one that was measured.
NODE = {"fontname": FONT, "fontsize": "11", "margin": "0.18,0.06", "width": "0.4", "height": "0.3"}
EDGE = {"fontname": FONT, "fontsize": "9", "fontcolor": SOFT_INK, "color": SOFT_INK}
EDGE |= {"arrowsize": "0.7"}


class Style(NamedTuple):
    """How one role looks."""

    shape: str
    fill: str
    line: str
    text: str = INK
    style: str = "filled"


STYLES = {
    "leaf": Style("ellipse", "#CBE6F7", "#0072B2"),
    "output": Style("ellipse", "#C5EBDD", "#00734F"),
    "intermediate": Style("ellipse", "#FFFFFF", "#6B6B6B"),
    "constant": Style("ellipse", "#EFEFEC", "#8A8A8A", "#585858", "filled,dashed"),
    "number": Style("ellipse", "#EFEFEC", "#8A8A8A", "#585858", "filled,dashed"),
    "op": Style("box", "#FDF3C4", "#8A7400"),
    "function": Style("box", "#E6E6E3", "#4A4A4A"),
    "accumulate": Style("box", "#E9F4FB", "#0072B2"),
    "saved": Style("note", "#FBE0B0", "#A66A00"),
    "alias": Style("ellipse", "#FFFFFF", "#6B6B6B", "#585858", "filled,dotted"),
    "none": Style("plaintext", CARD, CARD, "#585858"),
}
# How a mark changes the look of a node, whatever its role: never by colour alone.
FREED = {"style": "filled,dashed", "color": "#A83C00", "penwidth": "1.5"}
GUILTY = {"fillcolor": "#FBD9CC", "style": "filled", "color": BROKEN, "penwidth": "3"}
MARKED = {
    "freed": FREED,
    "stale": {"color": BROKEN, "penwidth": "3"},
    "fails": GUILTY,
    "guilty": GUILTY,
    "dead_end": {"fillcolor": "#FFFFFF", "fontcolor": INK, "style": "filled", "color": BROKEN, "peripheries": "2"},
    "added": {"color": "#00734F", "penwidth": "3"},
    "gone": {"fillcolor": "#FFFFFF", "style": "filled,dashed", "color": "#9C2F6F", "penwidth": "2"},
    "changed": {"penwidth": "3"},
    "same": {"fillcolor": "#EFEFEC", "color": "#8A8A8A", "fontcolor": "#585858"},
    "missing": FREED | {"fillcolor": "#FFFFFF", "color": "#C04A00", "penwidth": "2.5"},
    "unexpected": {"fillcolor": "#F6DCEB", "color": "#9C2F6F", "peripheries": "2", "penwidth": "2"},
}
EDGES = {
    "forward": {},
    "next": {},
    "grad_fn": {},
    "accumulate": {"style": "dashed", "color": "#0072B2"},
    "saved": {"style": "dotted", "arrowhead": "none", "arrowtail": "none"},
    "none": {"color": "#8A8A8A"},
    "alias": {"style": "dotted", "penwidth": "1.8", "arrowhead": "none"},
    "cut": {"style": "dashed", "penwidth": "2", "color": BROKEN, "fontcolor": BROKEN, "arrowhead": "tee"},
    "repeat": {"style": "dashed", "constraint": "false"},
}
MARKED_EDGES = {
    "bridge": {"color": BRIDGE, "penwidth": "2.5"},
    "guilty": {"color": BROKEN, "fontcolor": BROKEN, "penwidth": "3.5"},
    "added": {"color": "#00734F", "fontcolor": "#00734F", "penwidth": "3", "label": "added"},
    "gone": {"color": "#9C2F6F", "fontcolor": "#9C2F6F", "style": "dashed", "penwidth": "1.5"},
    "cut": {"color": BROKEN, "fontcolor": BROKEN, "style": "dashed", "penwidth": "3", "label": "cut"},
    "same": {"color": "#8A8A8A"},
    "missing": {"color": "#C04A00", "style": "dashed", "penwidth": "2.5", "label": "missing"},
    "unexpected": {"color": "#9C2F6F", "penwidth": "2.5", "label": "extra"},
}
SYMBOLS = {"add": "+", "sub": "\N{MINUS SIGN}", "neg": "\N{MINUS SIGN}"}
SYMBOLS |= {
    "mul": "\N{MULTIPLICATION SIGN}",
    "div": "÷",
    "mm": "@",
    "matmul": "@",
    "mv": "@",
    "dot": "@",
    "bmm": "@",
}
MAX_ROW = 9  # a longer path runs from top to bottom


def to_dot(panels: tuple[GraphRecord, ...], direction: str | None = None, legend=()) -> graphviz.Digraph:
    """The DOT of one or more panels, each a titled card. `direction` is "LR" or "TB".

    `legend` has what is to be explained below them, entries of `text.LEGEND`.
    """
    if direction is None:
        row = len(panels) == 1 and panels[0].view == "written" and levels(panels[0]) <= MAX_ROW
        direction = "LR" if row else "TB"
    dot = graphviz.Digraph(graph_attr=GRAPH | {"rankdir": direction}, node_attr=NODE, edge_attr=EDGE)
    if legend:
        dot.attr(label=_legend(legend), labelloc="b")
    for number, panel in enumerate(panels):
        with dot.subgraph(name=f"cluster_{number}") as card:
            card.attr(label=_title(panel), style="rounded,filled", fillcolor=CARD, color=CARD_LINE)
            card.attr(margin="10", labelloc="t")
            _add_nodes(card, panel, direction)
            for edges in panel.inputs.values():
                for edge in edges if direction == "TB" else reversed(edges):
                    _add_edge(card, panel, edge)
            for edge in panel.edges:
                if edge.role in ANNOTATIONS:
                    _add_annotation(card, edge)
    return dot


def _add_nodes(card: graphviz.Digraph, panel: GraphRecord, direction: str) -> None:
    """The nodes, each inside the boxes of its groups."""
    titles = dict(panel.titles)
    members: dict[tuple, list[NodeRecord]] = {(group,): [] for group in titles if group.startswith("generation")}
    for node in panel.nodes:
        for depth in range(len(node.groups) + 1):
            members.setdefault(node.groups[:depth], [])
        members[node.groups].append(node)

    def fill(box: graphviz.Digraph, path: tuple) -> None:
        for node in members.get(path, ()):
            attributes = node_attributes(node)
            if _operand_order_matters(panel, node):
                attributes |= _ports(node, len(panel.inputs[node.id]), direction)
            box.node(node.id, **attributes)
        for inner in members:
            if len(inner) == len(path) + 1 and inner[: len(path)] == path:
                with box.subgraph(name=f"{card.name}_{'_'.join(inner)}".replace(" ", "_")) as cluster:
                    cluster.attr(label=f"<{escape(titles[inner[-1]])}>", **_box_style(inner[-1]))
                    fill(cluster, inner)

    fill(card, ())


def _box_style(group: str) -> dict[str, str]:
    """How the box of a group looks: that of nodes which a backward recorded is tinted.

    The edges between such a box and the nodes that you computed are at its top: its title stands at the bottom.
    """
    if group == COMPUTED:
        return {"style": "rounded,filled", "fillcolor": "#FFFFFF", "color": CARD_LINE, "margin": "8", "labelloc": "t"}
    if group.startswith("generation"):
        return {"style": "rounded,filled,dashed", "fillcolor": BUILT, "color": BRIDGE, "margin": "8", "labelloc": "b"}
    return {"style": "rounded,dashed", "color": SOFT_INK, "margin": "10", "labelloc": "b", "labeljust": "l"}


def _add_annotation(card: graphviz.Digraph, edge: EdgeRecord) -> None:
    """An edge that is no part of the graph: between two on the same memory, or back to the start of a folded block."""
    attributes = dict(EDGES[edge.role])
    for mark in edge.marks:
        attributes |= MARKED_EDGES.get(mark, {})
    _connect(card, edge.source, edge.target, edge.note, attributes)


def _connect(card: graphviz.Digraph, tail: str, head: str, words: str, attributes: dict[str, str]) -> None:
    """An edge with a text on it. The text is a node of its own: an edge's label may reach beyond the card."""
    if not words:
        card.edge(tail, head, **attributes)
        return
    middle = f"{tail}_{head}".replace(":", "_")
    look = {"shape": "plaintext", "fontsize": EDGE["fontsize"], "margin": "0.05,0.03", "height": "0"}
    card.node(middle, words, fontcolor=attributes.get("fontcolor", SOFT_INK), **look)
    card.edge(tail, middle, **attributes | {"arrowhead": "none"})
    card.edge(middle, head, **attributes | {"arrowtail": "none"})


def _legend(entries) -> str:
    """A table of samples and words, two entries a row."""
    room = "&#160;" * 3
    words = (f'<td align="left"><font point-size="10">{escape(LEGEND[entry])}{room}</font></td>' for entry in entries)
    cells = [_legend_sample(entry) + text for entry, text in zip(entries, words, strict=True)]
    rows = "".join(f"<tr>{''.join(cells[i : i + 2])}</tr>" for i in range(0, len(cells), 2))
    table = f'<table border="1" color="{CARD_LINE}" bgcolor="{CARD}" style="rounded" cellborder="0" cellspacing="3">'
    return f"<{table}{rows}</table>>"


def _legend_sample(entry: tuple[str, str]) -> str:
    """A sample of what an entry explains: a filled cell, or a dash in the colour of an edge."""
    kind, name = entry
    if kind == "edge":
        look = EDGES.get(name) or MARKED_EDGES[name]
        letter = "\N{HORIZONTAL ELLIPSIS}" if look.get("style") == "dotted" else "\N{EM DASH}"
        letter = "- -" if look.get("style") == "dashed" else letter
        return f'<td width="34"><font color="{look.get("color", SOFT_INK)}"><b>{letter}</b></font></td>'
    base = STYLES[name] if kind == "role" else STYLES["function"]
    look = {"fillcolor": base.fill, "color": base.line, "penwidth": "1"} | (MARKED[name] if kind == "mark" else {})
    styles = [word for word in ("dashed", "dotted") if word in look.get("style", base.style)]
    styles += ["rounded"] if base.shape == "ellipse" else []
    line = f'border="{round(float(look["penwidth"]))}" color="{look["color"]}" bgcolor="{look["fillcolor"]}"'
    line += f' style="{",".join(styles)}"' if styles else ""
    cell = '<tr><td width="26" height="12" fixedsize="true"></td></tr>'
    return f'<td width="36"><table {line} cellborder="0" cellspacing="0" cellpadding="0">{cell}</table></td>'


def _title(panel: GraphRecord) -> str:
    lines = [f"<b>{escape(panel.title)}</b>"]
    # A browser's font may be wider than the one that was measured: leave room on both sides.
    room = "&#160;" * 4
    lines += [f'<font point-size="10">{room}{escape(caption)}{room}</font>' for caption in panel.captions]
    return f"<{'<br/>'.join(lines)}>"


def node_attributes(node: NodeRecord) -> dict[str, str]:
    """The DOT attributes of one node."""
    look = STYLES[node.role]
    attributes = {"label": f"<{_label(node)}>", "shape": look.shape, "style": look.style}
    attributes |= {"fillcolor": look.fill, "color": look.line, "fontcolor": look.text}
    if look.shape == "ellipse":
        attributes["margin"] = "0.05,0.02"
    if look.shape == "box":
        attributes["ordering"] = "in"  # inputs side by side in the order of the arguments
    for mark in node.marks:
        attributes |= MARKED.get(mark, {})
    return attributes


def _label(node: NodeRecord) -> str:
    first = escape(SYMBOLS.get(node.op, node.name) if node.role == "op" else head(node))
    if STYLES[node.role].shape == "ellipse" and node.name:
        first = f"<b>{first}</b>"
    small = (f'<font point-size="10">{escape(line)}</font>' for line in details(node))
    return "<br/>".join([first, *small])


def _operand_order_matters(panel: GraphRecord, node: NodeRecord) -> bool:
    """Whether the picture must say which operand is which: of a - b, not of a + b."""
    return node.role == "op" and node.op not in COMMUTATIVE and len(panel.inputs[node.id]) > 1


def _ports(node: NodeRecord, count: int, direction: str) -> dict[str, str]:
    """A box with a port for each operand, so that each arrow ends at "1st" or "2nd"."""
    names = ["1st", "2nd", "3rd", *(f"{i}th" for i in range(4, count + 1))]
    cells = [f'<td port="i{i}"><font point-size="9">{names[i]}</font></td>' for i in range(count)]
    if direction == "TB":
        rows = f'<tr>{"".join(cells)}</tr><tr><td colspan="{count}">{_label(node)}</td></tr>'
    else:
        cells[0] += f'<td rowspan="{count}">{_label(node)}</td>'
        rows = "".join(f"<tr>{cell}</tr>" for cell in cells)
    table = f'<table border="0" cellborder="0" cellspacing="0" cellpadding="2">{rows}</table>'
    return {"label": f"<{table}>", "class": "sockets", "margin": "0.02,0.02"}


def _add_edge(card: graphviz.Digraph, panel: GraphRecord, edge: EdgeRecord) -> None:
    """Inputs are placed before results in both views; in what autograd keeps the arrows point back at them."""
    result, operand = ends(edge)
    attributes = dict(EDGES[edge.role])
    if (edge.source, edge.target) != (operand, result):
        attributes["dir"] = "back"
    if _operand_order_matters(panel, panel.by_id[result]):
        result = f"{result}:i{panel.inputs[result].index(edge)}"
    for mark in edge.marks:
        attributes |= MARKED_EDGES.get(mark, {})
    if "bridge" in edge.marks and panel.by_id[edge.target].role == "accumulate":
        attributes["constraint"] = "false"  # boxes of generations begin side by side, not below the leaves
    words = attributes.pop("label", "")
    if any(mark in panel.by_id[id].marks for mark in edge.marks for id in ends(edge) if mark != "same"):
        words = ""  # the node says it already
    _connect(card, operand, result, edge.note or words, attributes)


def levels(panel: GraphRecord) -> int:
    """The number of nodes on the longest path."""
    depth: dict[str, int] = {}
    for id in panel.inputs_first:
        depth[id] = 1 + max((depth[ends(edge)[1]] for edge in panel.inputs[id]), default=0)
    return max(depth.values(), default=0)
