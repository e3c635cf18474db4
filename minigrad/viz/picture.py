"""The Picture that `draw` returns: records that draw themselves when they are shown or saved."""

import base64
import os
from functools import cached_property
from html import escape
from pathlib import Path

from . import layout
from .dot import to_dot
from .records import GraphRecord
from .text import alt, listing

MAX_NODES = 300


def html_image(svg: str, alt: str) -> str:
    """An image with the SVG in it: all that JupyterLab shows of a notebook it does not trust yet."""
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

    def __init__(self, records: tuple[GraphRecord, ...], width: int | None = None, direction=None):
        self.records = tuple(records)
        self._width, self._direction = width, direction

    @cached_property
    def source(self) -> str:
        """The DOT text."""
        return to_dot(self.records, self._direction).source

    @cached_property
    def text(self) -> str:
        """The listing, which is the same whichever engine draws."""
        return "\n\n".join(listing(panel) for panel in self.records)

    @cached_property
    def alt(self) -> str:
        """The graph in words."""
        return " ".join(alt(panel) for panel in self.records)

    @property
    def svg(self) -> str:
        """The drawing, or "" if it cannot be drawn here."""
        return self._drawn[0]

    @cached_property
    def _drawn(self) -> tuple[str, str]:
        """The SVG and, if there is none, the sentence that says why and what to do."""
        nodes = sum(len(panel.nodes) for panel in self.records)
        if nodes > MAX_NODES:
            return "", f"{nodes} nodes are too many for a picture that can be read."
        try:
            drawn = layout.normalised(layout.render(self.source), self._width)
        except layout.NoPicture as reason:
            return "", f"No picture: {reason}. {layout.HELP}"
        return drawn.replace("<svg", f'<svg role="img" aria-label="{escape(self.alt)}"', 1), ""

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
