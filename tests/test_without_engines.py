"""With nothing that lays out pictures, every notebook still runs to its end and shows listings."""

import html
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import minigrad as mg

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(
    path for folder in ("notebooks", "solutions", "exercises") for path in (ROOT / folder).glob("*.ipynb")
)


@pytest.fixture
def no_engine(tmp_path, monkeypatch):
    """An environment for kernels: no `dot` on the path, and a pygraphviz that cannot be imported."""
    (tmp_path / "pygraphviz.py").write_text("raise ImportError('not installed')\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.delenv("MINIGRAD_VIZ", raising=False)
    monkeypatch.delenv("PYTEST_VERSION", raising=False)  # as a learner: a failed check fails no cell


def draws(path):
    """Whether a notebook has pictures of graphs where there is an engine: its stored outputs tell.

    Exercises are stored without outputs, and what their solutions' answers draw is not in them.
    """
    stored = nbformat.read(path.parent.with_name(path.parent.name.replace("exercises", "solutions")) / path.name, 4)
    here = [cell for cell in stored.cells if path.parent.name != "exercises" or not cell.id.startswith("answer-")]
    return any("image/svg+xml" in o.get("data", {}) for cell in here for o in cell.get("outputs", []))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_runs_to_the_end_and_says_how_to_get_pictures(path, no_engine):
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    assert not [o for o in outputs if o.output_type == "error"]
    shown = [o.data for o in outputs if "data" in o]
    assert not any("image/svg+xml" in data for data in shown)
    everything = "\n".join(text for data in shown for kind, text in data.items() if kind.startswith("text/"))
    if not draws(path):
        return
    assert "what you wrote" in everything or "what autograd keeps" in everything
    assert mg.viz.HELP in html.unescape(everything)
