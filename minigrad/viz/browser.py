"""Pictures where Python itself runs in a browser (Pyodide, JupyterLite): there Graphviz is a piece of JavaScript.

It is viz.js, whose file lies beside this one in the wheel that `course.py site --lite` makes, and nowhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import layout

FILE = Path(__file__).with_name("viz-global.js")


async def load(source: Path = FILE) -> None:
    """Make viz.js the engine that draws. Raises ImportError where Python runs in no browser."""
    import js
    from pyodide.code import run_js

    run_js(source.read_text(encoding="utf-8"))
    use(await js.Viz.instance())


def use(viz: Any) -> None:
    """Let an instance of viz.js draw."""

    def draw(source: str, format: str) -> bytes:
        if format != "svg":
            raise layout.NoPicture("in a browser a picture is saved as .svg or .dot")
        try:
            return viz.renderString(source, format=format).encode()
        except Exception as error:  # a JsException, which only Pyodide has
            raise layout.NoPicture(f"viz.js failed ({type(error).__name__})") from error

    layout.ENGINES["viz.js"] = draw
