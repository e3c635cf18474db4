"""With nothing that lays out pictures, every notebook still runs to its end and shows listings."""

import html
import os
from pathlib import Path

import nbformat
import pytest
from fresh_shell import run_notebook

import minigrad as mg

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(
    path for folder in ("notebooks", "solutions", "exercises") for path in (ROOT / folder).glob("*.ipynb")
)


def draws(path):
    """Whether a notebook has pictures of graphs where there is an engine: its stored outputs tell.

    Exercises are stored without outputs, and what their solutions' answers draw is not in them.
    """
    stored = nbformat.read(path.parent.with_name(path.parent.name.replace("exercises", "solutions")) / path.name, 4)
    here = [cell for cell in stored.cells if path.parent.name != "exercises" or not cell.id.startswith("answer-")]
    return any("image/svg+xml" in o.get("data", {}) for cell in here for o in cell.get("outputs", []))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_runs_to_the_end_and_says_how_to_get_pictures(path, tmp_path):
    # No `dot` on the path and no pygraphviz; and as a learner, for whom a failed check fails no cell.
    environment = {k: v for k, v in os.environ.items() if k not in ("MINIGRAD_VIZ", "PYTEST_VERSION")}
    cells = run_notebook(path, environment | {"PATH": str(tmp_path)}, without=["pygraphviz"])
    outputs = [output for cell in cells.values() for output in cell]
    assert not [output for output in outputs if output["output_type"] == "error"]
    shown = [output["data"] for output in outputs if "data" in output]
    assert not any("image/svg+xml" in data for data in shown)
    everything = "\n".join(text for data in shown for kind, text in data.items() if kind.startswith("text/"))
    if not draws(path):
        return
    assert "what you wrote" in everything or "what autograd keeps" in everything
    assert mg.viz.HELP in html.unescape(everything)
