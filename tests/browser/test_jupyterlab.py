"""Chapters and exercises in a real JupyterLab, as a learner who has just cloned them sees them."""

import importlib.util
import os
from pathlib import Path

import nbformat
import pytest

REQUIRED = bool(os.environ.get("MINIGRAD_REQUIRE_BROWSER"))

if importlib.util.find_spec("playwright") is None:
    if REQUIRED:
        raise ModuleNotFoundError("MINIGRAD_REQUIRE_BROWSER is set and playwright is not installed")
    pytest.skip("playwright is not installed: no browser to drive", allow_module_level=True)

import lab as jupyter

from tools import environment

if jupyter.CHROMIUM is None:
    if REQUIRED:
        raise FileNotFoundError("MINIGRAD_REQUIRE_BROWSER is set and there is no chromium on PATH")
    pytest.skip("there is no chromium on PATH", allow_module_level=True)

pytestmark = pytest.mark.browser

LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
CHAPTERS = sorted(path.name for path in (jupyter.ROOT / "notebooks").glob("*.ipynb"))
EXERCISES = sorted(path.name for path in (jupyter.ROOT / "exercises").glob("*.ipynb"))
NOTEBOOKS = [f"notebooks/{name}" for name in CHAPTERS] + [f"exercises/{name}" for name in EXERCISES]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jupyterlab")
    course = jupyter.copy_of_the_course(folder / "course")
    environment.Environment(folder / "environment").set_up_jupyter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder / "environment" / "share" / "jupyter"))
        with jupyter.browser_on(course, folder / "private") as lab:
            lab.course = course
            yield lab


@pytest.fixture
def screenshots(lab):
    """Take pictures of the notebook from top to bottom, if MINIGRAD_SCREENSHOTS names a folder for them."""
    folder = os.environ.get("MINIGRAD_SCREENSHOTS")
    return lambda name: lab.screenshots(Path(folder), name) if folder else None


def stored_graphs(path):
    """How many pictures of graphs are stored in a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    html = [output.get("data", {}).get("text/html", "") for output in outputs]
    return sum(text.count('src="data:image/svg+xml') for text in html)


def assert_on_screen(lab, count):
    """There are `count` pictures, and each can be seen and has a text for who cannot see it."""
    graphs = lab.graphs(expected=count)
    assert len(graphs) == count
    for graph in graphs:
        assert min(graph["natural"]) > 0 and min(graph["client"]) > 0, graph
        assert graph["seen"], f"covered or outside the window: {graph}"
        assert graph["alt"], graph


def short(path, theme):
    return f"{Path(path).parts[0]}-{Path(path).stem}-{'dark' if theme == DARK else 'light'}"


def test_there_is_something_to_look_at():
    assert {"notebooks/00_start_here.ipynb", "notebooks/01_requires_grad.ipynb"} <= set(NOTEBOOKS)
    assert "exercises/01_requires_grad.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("path", ["notebooks/01_requires_grad.ipynb", "exercises/01_requires_grad.ipynb"])
def test_opening_a_notebook_does_not_mark_it_as_unsaved(lab, path):
    lab.open(path)
    assert not lab.is_unsaved()
    lab.close_notebook()  # which saves it
    assert (lab.course / path).read_bytes() == (jupyter.ROOT / path).read_bytes()


@pytest.mark.parametrize("path", [name for name in NOTEBOOKS if name.startswith("notebooks")])
def test_a_fresh_clone_shows_its_graphs_before_anything_runs(lab, path, screenshots):
    stored = stored_graphs(jupyter.ROOT / path)
    assert stored > 0
    lab.open(path)
    assert not all(lab.trusted()), "the notebook is trusted: this would show nothing new"
    for theme in (LIGHT, DARK):
        lab.use_theme(theme)
        assert_on_screen(lab, stored)
        screenshots("untrusted-" + short(path, theme))


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_run_all_reaches_the_end_and_draws_the_graphs(lab, path, screenshots):
    lab.open(path)
    lab.use_theme(LIGHT)
    counts = lab.run_all()
    assert counts == list(range(1, len(counts) + 1)), "Run All stopped early"
    assert all(lab.trusted())
    lab.save()
    expected, stored = stored_graphs(lab.course / path), stored_graphs(jupyter.ROOT / path)
    # Exercises are stored without outputs, and what they ask for need not be a graph.
    assert expected == stored > 0 or path.startswith("exercises")
    for theme in (LIGHT, DARK):
        lab.use_theme(theme)
        assert_on_screen(lab, expected)
        screenshots("run-" + short(path, theme))
    lab.close_notebook()
    assert stored_graphs(lab.course / path) == expected
