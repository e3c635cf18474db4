"""Matplotlib's figures in a notebook, as drawings that go with a light and with a dark page."""

from __future__ import annotations

import io
import sys
from typing import Any

from .layout import normalised
from .palette import themed
from .picture import html_image

LARGEST = 400_000  # characters: a larger drawing is left to its PNG


def html(figure: Any) -> str | None:
    """The figure as an <img>; None where it would be too large."""
    buffer = io.StringIO()
    with sys.modules["matplotlib"].rc_context({"svg.hashsalt": "minigrad"}):  # the same ids in every run
        figure.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight")
    svg = buffer.getvalue()
    if len(svg) > LARGEST:
        return None
    texts = ((ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes)
    words = [text for found in texts for text in found if text] or ["Its axes have no labels."]
    # Matplotlib does not write down that text is black: a dark page could not change it.
    svg = normalised(svg.encode()).replace("<svg ", '<svg style="fill: #000000" ', 1)
    return html_image(svg if any(map(_is_coloured_in, figure.axes)) else themed(svg), f"A plot. {'; '.join(words)}")


def _is_coloured_in(ax: Any) -> bool:
    """Whether there is an image in it, or filled contours: these keep their colours, as does what stands on them."""
    filled = (one for one in ax.collections if getattr(one, "filled", True))
    return bool(ax.images) or any(one.get_array() is not None for one in filled)


def register() -> None:
    """Show figures so in the running IPython, if there is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        # Not for Figure itself: what is registered for that, Matplotlib's own backend for notebooks takes away.
        formatter.for_type_by_name("matplotlib.figure", "FigureBase", html)
