"""The Picture that `draw` returns: records that draw themselves when they are shown or saved."""

import base64
import os
from collections.abc import Iterable
from functools import cached_property
from html import escape
from pathlib import Path

from . import layout
from .dot import to_dot
from .fold import MAX_NODES, readable
from .palette import themed
from .records import GraphRecord
from .text import LEGEND, alt, legend_of, listing


def html_image(svg: str, alt: str) -> str:
    """An <img> with the SVG as a data URI: the only form that JupyterLab shows in a notebook that is not trusted."""
    width, height = (svg.split(f'{side}="', 1)[1].split('"', 1)[0] for side in ("width", "height"))
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<img alt="{escape(alt)}" width="{width}" height="{height}" '
        f'style="max-width:100%;height:auto" src="data:image/svg+xml;base64,{data}">'
    )


class Picture:
    """A drawn graph. The last line of a cell shows it; `print(picture)` lists it.

    ``records`` are its panels, ``text`` the listing, ``alt`` the graph in words, ``source`` its
    DOT, ``svg`` the drawing. ``save("graph.svg")`` writes svg, png, pdf or dot.
    """

    def __init__(self, records, width=None, direction=None, fold: bool | None = None, legend: Iterable | bool = False):
        self.records = tuple(records)
        self._width, self._direction, self._fold, self._legend = width, direction, fold, legend

    @cached_property
    def shown(self) -> tuple[GraphRecord, ...]:
        """The panels as they are drawn: what repeats in a large one is folded."""
        return tuple(readable(panel, self._fold) for panel in self.records)

    @cached_property
    def source(self) -> str:
        """The DOT text."""
        return to_dot(self.shown, self._direction, self.legend).source

    @cached_property
    def legend(self) -> tuple:
        """What is explained below the picture: entries of `text.LEGEND`."""
        return tuple(legend_of(self.shown) if self._legend is True else self._legend or ())

    @cached_property
    def text(self) -> str:
        """The listing, which is the same whichever engine draws."""
        words = "; ".join(f"{name}: {LEGEND[kind, name]}" for kind, name in self.legend)
        return "\n\n".join([*map(listing, self.shown), *([f"Legend: {words}"] if words else [])])

    @cached_property
    def alt(self) -> str:
        """The graph in words."""
        return " ".join(alt(panel) for panel in self.shown)

    @property
    def svg(self) -> str:
        """The drawing, or "" if it cannot be drawn here."""
        return self._drawn[0]

    @cached_property
    def _drawn(self) -> tuple[str, str]:
        """The SVG and, if there is none, the sentence that says why and what to do."""
        problem = self._too_large()
        if problem:
            return "", problem
        try:
            drawn = layout.normalised(layout.render(self.source), self._width)
        except layout.NoPicture as reason:
            return "", f"No picture: {reason}. {layout.HELP}"
        drawn = drawn.replace("<svg", f'<svg role="img" aria-label="{escape(self.alt)}"', 1)
        return themed(drawn), ""

    def _too_large(self) -> str:
        nodes = max((len(panel.nodes) for panel in self.shown), default=0)
        return f"{nodes:,} nodes are too many for a picture that can be read." if nodes > MAX_NODES else ""

    def save(self, path: str | os.PathLike) -> None:
        """Write the picture to a file; its ending says how: .svg, .png, .pdf or .dot."""
        path = Path(path)
        format = path.suffix.lower().lstrip(".")
        if format not in ("svg", "png", "pdf", "dot"):
            print(f"{path.name} was not saved: the name must end in .svg, .png, .pdf or .dot.")
            return
        try:
            path.write_bytes(self._bytes(format))
        except layout.NoPicture as reason:
            print(f"{path.name} was not saved: {reason}. {layout.HELP}")

    def _bytes(self, format: str) -> bytes:
        if format == "dot":
            return self.source.encode()
        if self._too_large():
            raise layout.NoPicture(self._too_large().rstrip("."))
        if format == "svg" and self.svg:
            return self.svg.encode()
        return layout.render(self.source, format)

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        svg, problem = self._drawn
        if not svg:
            html = f"<pre>{escape(self.text)}</pre><p>{escape(problem)}</p>"
            return {"text/plain": self.text, "text/html": html}
        html = html_image(svg, self.alt)
        return {"text/plain": self.text, "text/html": html, "image/svg+xml": svg}
