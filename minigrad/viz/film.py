"""The steps of a backward as pictures: one drawing of the graph, in which the gradients add up.

The graph is laid out once, with room for the longest text that each node and edge has in any step. A frame is that
drawing with other colours and texts: nothing moves from one frame to the next.
"""

import os
import re
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path

import graphviz

from . import layout
from .dot import EDGE, EDGES, GRAPH, NODE, STYLES
from .palette import BROKEN, CARD, CARD_LINE, INK, SOFT_INK, themed
from .picture import MAX_NODES, html_image
from .player import SCRIPT
from .records import EdgeRecord, GraphRecord, ends
from .steps import Ledger, Step, first_and_last
from .text import head

MAX_FRAMES = 40
MAX_DRAWN = 3000  # nodes in all frames together: some 2 MB
MAX_IN_STRIP = 12
STRIP_WIDTH = 700
GAP = 10
STRIP_HEIGHT = 900
SVG = "{http://www.w3.org/2000/svg}"
LEGEND = "Yellow: the node whose turn it is. Dashed: still gathering. Grey: not reached yet."

# How a node looks in each phase: fill, line, width of the line, dashes, text. An edge has no fill.
NOW = ("#FFE08A", INK, "3", "", INK)
FAILED = ("#FBD5C0", BROKEN, "3.5", "", INK)
IDLE = ("#F3F3EF", "#A9A9A2", "1", "", "#66665F")
EDGE_LOOKS = {
    "idle": ("#B5B5AE", "1", "", "#66665F"),
    "past": (SOFT_INK, "1.3", "", SOFT_INK),
    "now": (INK, "2.8", "", INK),
    "failed": (BROKEN, "2.8", "5,3", BROKEN),
}


@dataclass
class Scene:
    """What one frame shows, as words and phases; nothing about colours."""

    title: str
    alt: str
    phases: dict[str, str] = field(default_factory=dict)  # node -> idle, waiting, now, done, failed
    lines: dict[str, list[str]] = field(default_factory=dict)
    edges: dict[int, tuple[str, str]] = field(default_factory=dict)  # number -> phase, label


class GraphState:
    """The state of the graph while the steps are applied one by one."""

    def __init__(self, graph: GraphRecord, ledger: Ledger):
        self.graph, self.words = graph, ledger.words
        self.grads = {node.id: node.grad for node in graph.nodes}
        self.freed = {node.id for node in graph.nodes if "freed" in node.marks}
        self.edge = {(e.source, e.position): i for i, e in enumerate(graph.edges) if e.role == "next"}
        self.start = {e.target: i for i, e in enumerate(graph.edges) if e.role == "grad_fn"}
        self.end = {e.source: i for i, e in enumerate(graph.edges) if e.role == "accumulate"}

    def reset(self) -> None:
        """Remove what an earlier backward left on the nodes."""
        self.phases = {node.id: "idle" for node in self.graph.nodes}
        self.now: set[str] = set()
        self.sums: dict[str, dict[int, str]] = {}
        self.labels: dict[int | None, str] = {}

    def apply(self, step: Step) -> None:
        """Apply the events of one step. An event of kind "add" is handled by `_add`, and so on."""
        if step.number == 1 or step.events[0].kind == "seed":
            self.reset()
        self.highlighted: dict[int, str] = {}
        for id in self.now:
            self.phases[id] = "done"
        self.now = set()
        for event in step.events:
            getattr(self, f"_{event.kind}", self._no_change)(event)

    def _no_change(self, event) -> None:
        """A hook, or a backward inside a hook: its effect is seen in the events that follow."""

    def _add_gradient(self, event, total: str, edge: int | None) -> None:
        self.sums.setdefault(event.node, {})[event.output] = total
        if self.phases[event.node] in ("idle", "done"):
            self.phases[event.node] = "waiting"
        self._highlight(edge, event.value)

    def _activate(self, id: str) -> None:
        self.phases[id] = "now"
        self.now.add(id)

    def _highlight(self, edge: int | None, label: str, phase: str = "now") -> None:
        if edge is not None:
            self.labels[edge], self.highlighted[edge] = label, phase

    def _seed(self, event) -> None:
        self._add_gradient(event, event.value, self.start.get(event.node))

    def _add(self, event) -> None:
        self._add_gradient(event, event.before, self.edge[event.source, event.position])

    def _refuse(self, event) -> None:
        self._highlight(self.edge[event.source, event.position], event.value, "failed")

    def _ready(self, event) -> None:
        self.sums.setdefault(event.node, {})[event.output] = event.value
        self._activate(event.node)

    def _rule(self, event) -> None:
        """The gradient that the derivatives are called with, which a hook may have changed."""
        self.sums[event.node] = {0: event.value}

    def _free(self, event) -> None:
        self.freed.add(event.node)

    def _accumulate(self, event) -> None:
        leaf = self.words.leaves.get(event.node, event.node)
        self._activate(event.node)
        self._activate(leaf)
        self.grads[leaf] = event.value
        self._highlight(self.end.get(event.node), self.labels.get(self.end.get(event.node)) or self._sum(event.node))

    def _keep(self, event) -> None:
        tensor = self.words.made.get(event.node)
        if tensor is not None:
            self.grads[tensor] = event.value
            self._activate(tensor)

    def _capture(self, event) -> None:
        self._activate(event.node)

    def _stop(self, event) -> None:
        if event.node:
            self.phases[event.node] = "failed"
            self.now.discard(event.node)

    def _sum(self, id: str) -> str:
        return ", ".join(value for _, value in sorted(self.sums.get(id, {}).items()))

    def scene(self, title: str, alt: str) -> Scene:
        """The state as it is now."""
        scene = Scene(title, alt, dict(self.phases))
        scene.lines = {node.id: self._lines(node) for node in self.graph.nodes}
        for number in range(len(self.graph.edges)):
            phase = self.highlighted.get(number, "past" if number in self.labels else "idle")
            scene.edges[number] = (phase, self.labels.get(number, ""))
        return scene

    def _lines(self, node) -> list[str]:
        """The lines in a node, the same number in every frame; "" where there is nothing to say yet."""
        if node.role not in ("function", "accumulate"):
            return [head(node), f".grad {self.grads[node.id]}" if self.grads[node.id] else ""]
        total, phase = self._sum(node.id), self.phases[node.id]
        said = {"waiting": f"so far {total}", "failed": f"stopped at {total}"}.get(phase, f"gradient {total}")
        return [node.name, node.note, said if total else "", "buffers freed" if node.id in self.freed else ""]


class Film:
    """A backward, played back. Shown it is a strip of small pictures and a picture a step to unfold.

    ``frames`` are the pictures as SVG, ``text`` the listing, ``svg`` the strip. ``save("film.html")``
    writes a page that plays it, ``save("film.svg")`` the strip.
    """

    def __init__(self, graph: GraphRecord, steps: tuple[Step, ...], ledger: Ledger, text: str, width=None):
        self.graph, self.steps, self.ledger, self.text = graph, steps, ledger, text
        self._width = width

    @cached_property
    def scenes(self) -> tuple[Scene, ...]:
        """What each frame shows, one frame a step; of very many steps the first and the last."""
        nodes = len(self.graph.nodes)
        room = min(MAX_FRAMES, MAX_DRAWN // nodes) if 0 < nodes <= MAX_NODES else 0
        if not room:
            return ()
        chosen, state, words = (
            set(first_and_last(len(self.steps), room)),
            GraphState(self.graph, self.ledger),
            self.ledger.words,
        )
        scenes = []
        for index, step in enumerate(self.steps):
            state.apply(step)
            if index in chosen:
                title = f"step {step.number} of {len(self.steps)}"
                alt = "; ".join(words.sentence(event) for event in step.events)
                scenes.append(state.scene(title, f"{title}: {alt}"))
        return tuple(scenes)

    @property
    def frames(self) -> tuple[str, ...]:
        """The pictures, or () if they cannot be drawn here."""
        return self._drawn[0]

    @cached_property
    def _drawn(self) -> tuple[tuple[str, ...], str]:
        """The frames and, if there are none, the sentence that says why."""
        if not self.scenes:
            too_many = f"{len(self.graph.nodes)} nodes are too many for a film."
            return (), too_many if self.graph.nodes and self.steps else "There is nothing to show."
        try:
            return tuple(draw_frames(self.graph, self.scenes, self._width)), ""
        except layout.NoPicture as reason:
            return (), f"No picture: {reason}. {layout.HELP}"

    @cached_property
    def svg(self) -> str:
        """The strip: all frames small, in rows; of many frames the first and the last."""
        if not self.frames:
            return ""
        return filmstrip(
            [self.frames[i] for i in first_and_last(len(self.frames), MAX_IN_STRIP)], self.alt, self._width
        )

    @cached_property
    def alt(self) -> str:
        """The film in words."""
        return re.sub(r"\s+", " ", self.text.split("\nwhat each", 1)[0])

    @cached_property
    def html(self) -> str:
        """The strip, a folded picture a step, the ledger; and a script that plays them, where scripts run."""
        if not self.frames:
            return f"<pre>{escape(self.text)}</pre><p>{escape(self._drawn[1])}</p>"
        parts = [f'<div class="minigrad-film"><p>{escape(self.text.split(chr(10), 1)[0])}. {LEGEND}</p>']
        parts.append(f"<p>{html_image(self.svg, self.alt)}</p>")
        parts += self._folds()
        ledger = "\n".join(self.text.split("\nwhat each gradient is made of\n", 1)[1:])
        parts.append(f"<details><summary>What each gradient is made of</summary><pre>{escape(ledger)}</pre></details>")
        return "".join([*parts, f"</div><script>{SCRIPT}</script>"])

    def _folds(self) -> Iterator[str]:
        by_title = {f"step {step.number} of {len(self.steps)}": step for step in self.steps}
        last = 0
        for scene, frame in zip(self.scenes, self.frames, strict=True):
            step, words = by_title[scene.title], self.ledger.words
            if step.number > last + 1:
                yield f"<p>... {step.number - last - 1} steps are not shown ...</p>"
            last = step.number
            first, *rest = (escape(words.sentence(event)) for event in step.events)
            more = "".join(f"<li>{sentence}</li>" for sentence in rest)
            more = f"<ul>{more}</ul>" if more else ""
            yield f"<details><summary>{step.number}. {first}</summary>{html_image(frame, scene.alt)}{more}</details>"

    def save(self, path: str | os.PathLike) -> None:
        """Write the film to a file: a page (.html) or the strip (.svg)."""
        path = Path(path)
        content = {".html": self.html, ".svg": self.svg}.get(path.suffix.lower(), "")
        if content:
            page = '<!doctype html><meta charset="utf-8"><body style="font-family:sans-serif">'
            path.write_text((page if path.suffix.lower() == ".html" else "") + content, encoding="utf-8")
        else:
            print(f"{path.name} was not saved: {self._drawn[1] or 'the name must end in .html or .svg.'}")

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": self.text, "text/html": self.html}
        return bundle | ({"image/svg+xml": self.svg} if self.svg else {})


# -- one layout, many frames -----------------------------------------------------------------------


def draw_frames(graph: GraphRecord, scenes: tuple[Scene, ...], width: int | None) -> Iterator[str]:
    """The frames as SVG: laid out once, then given each scene's colours and words."""
    source, rows = layout_source(graph, scenes)
    root = widen_card(xml.fromstring(layout.render(source)))
    groups = {group.get("id"): group for group in root.iter(f"{SVG}g")}
    xml.register_namespace("", SVG[1:-1])
    title = next(iter(groups["card"].iter(f"{SVG}text")))
    for scene in scenes:
        title.text = scene.title
        for node in graph.nodes:
            style_node(
                groups[node.id], node.role, scene.phases[node.id], [scene.lines[node.id][r] for r in rows[node.id]]
            )
        for number, (phase, label) in scene.edges.items():
            style_edge(groups[f"e{number}"], phase, label)
        svg = layout.normalised(xml.tostring(root), width)
        yield themed(svg.replace("<svg", f'<svg role="img" aria-label="{escape(scene.alt)}"', 1))


def widen_card(root: xml.Element) -> xml.Element:
    """The drawing with a card that encloses the labels of its edges, too: Graphviz does not count them in."""
    across, down = map(float, root.attrib["viewBox"].split()[2:])
    card = next(group for group in root.iter(f"{SVG}g") if group.get("id") == "card")
    path, (title, *_) = next(card.iter(f"{SVG}path")), card.iter(f"{SVG}text")
    places = [float(x) for x in re.findall(r"(-?[\d.]+),", path.attrib["d"])]
    left, right, end = min(places), max(places), across + GAP  # the browser's font may be wider
    if across - right > left + 4:  # a label reaches further than the card
        middle, more = (left + right) / 2, end - right
        moved = re.sub(r"(-?[\d.]+),", lambda x: f"{float(x[1]) + more * (float(x[1]) > middle)},", path.attrib["d"])
        path.set("d", moved)
        title.set("x", str(float(title.attrib["x"]) + more / 2))
        root.set("viewBox", f"0 0 {end + left} {down}")
        root.set("width", f"{end + left}pt")
    return root


def layout_source(graph: GraphRecord, scenes: tuple[Scene, ...]) -> tuple[str, dict[str, list[int]]]:
    """The DOT with the longest text that each line has in any frame, and which lines each node has."""
    dot = graphviz.Digraph(graph_attr=GRAPH | {"rankdir": "TB"}, node_attr=NODE, edge_attr=EDGE)
    rows: dict[str, list[int]] = {}
    with dot.subgraph(name="cluster_0") as card:
        title = max((scene.title for scene in scenes), key=len)
        card.attr(id="card", label=f"<<b>{escape(title)}</b>>", style="rounded,filled", fillcolor=CARD, color=CARD_LINE)
        card.attr(margin="10")
        for node in graph.nodes:
            widest = [max(lines, key=len) for lines in zip(*(s.lines[node.id] for s in scenes), strict=True)]
            rows[node.id] = [row for row, line in enumerate(widest) if line]
            look = STYLES[node.role]
            lines = [f'<font point-size="{10 if row else 11}">{escape(widest[row])}</font>' for row in rows[node.id]]
            attributes = {"shape": look.shape, "style": look.style, "ordering": "in"}
            card.node(node.id, id=node.id, label=f"<{'<br/>'.join(lines)}>", **attributes)
        for number, edge in enumerate(graph.edges):
            add_edge(card, number, edge, max((scene.edges[number][1] for scene in scenes), key=len))
    return dot.source, rows


def add_edge(card: graphviz.Digraph, number: int, edge: EdgeRecord, label: str) -> None:
    """An arrow back to the input, which stands above, as in every picture of what autograd keeps."""
    result, operand = ends(edge)
    words = {"label": f" {label} "} if label else {}
    card.edge(operand, result, id=f"e{number}", dir="back", **EDGES[edge.role], **words)


def style_node(group: xml.Element, role: str, phase: str, lines: list[str]) -> None:
    style = STYLES[role]
    fill, line, width, dashes, ink = style.fill, style.line, "1", "", style.text
    if phase in ("now", "failed"):
        fill, line, width, dashes, ink = NOW if phase == "now" else FAILED
    elif phase == "waiting":
        width, dashes = "2", "5,3"
    elif phase == "idle" and role in ("function", "accumulate"):
        fill, line, width, dashes, ink = IDLE
    shape = next(e for e in group.iter() if e.tag in (f"{SVG}polygon", f"{SVG}ellipse", f"{SVG}path"))
    set_stroke(shape, line, width, dashes)
    shape.set("fill", fill)
    for text, words in zip(group.iter(f"{SVG}text"), lines, strict=True):
        text.text = words
        text.set("fill", ink)


def style_edge(group: xml.Element, phase: str, label: str) -> None:
    line, width, dashes, ink = EDGE_LOOKS[phase]
    for path in group.iter(f"{SVG}path"):
        set_stroke(path, line, width, dashes)
    for arrow_head in group.iter(f"{SVG}polygon"):
        set_stroke(arrow_head, line, "1", "")
        arrow_head.set("fill", line)
    for text in group.iter(f"{SVG}text"):
        text.text = label
        text.set("fill", ink)
        text.set("font-weight", "bold" if phase == "now" else "normal")


def set_stroke(element: xml.Element, line: str, width: str, dashes: str) -> None:
    element.set("stroke", line)
    element.set("stroke-width", width)
    element.set("stroke-dasharray", dashes or "none")


def filmstrip(frames: list[str], alt: str, width: int | None) -> str:
    """The frames side by side, in rows, made smaller where they do not fit."""
    across, down = (float(re.findall(rf'{side}="([\d.]+)"', frames[0])[0]) for side in ("width", "height"))
    max_width = width or STRIP_WIDTH
    columns = columns_for(len(frames), across, down, max_width)
    scale = min(1.0, (max_width / columns - GAP) / across)
    wide, high = across * scale, down * scale
    parts = []
    for index, frame in enumerate(frames):
        x, y = (index % columns) * (wide + GAP), (index // columns) * (high + GAP)
        size = f'x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"'
        frame = re.sub(r' role="img" aria-label="[^"]*"', "", frame, count=1)
        parts.append(re.sub(r'width="[\d.]+" height="[\d.]+"', size, frame, count=1))
    whole = (columns * (wide + GAP) - GAP, -(-len(frames) // columns) * (high + GAP) - GAP)
    size = f'width="{whole[0]:.0f}" height="{whole[1]:.0f}" viewBox="0 0 {whole[0]:.1f} {whole[1]:.1f}"'
    inside = "".join(parts)
    return f'<svg role="img" aria-label="{escape(alt)}" {size} xmlns="{SVG[1:-1]}">{inside}</svg>'


def columns_for(count: int, across: float, down: float, max_width: float) -> int:
    """The fewest columns that keep the strip on one screen; five at most, so that it can be read."""
    for columns in range(1, min(5, count)):
        scale = min(1.0, (max_width / columns - GAP) / across)
        if -(-count // columns) * (down * scale + GAP) <= STRIP_HEIGHT:
            return columns
    return min(5, count)
