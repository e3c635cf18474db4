"""Chapters and exercises in a real JupyterLab, as a learner who has just cloned them sees them."""

import importlib.util
import io
import os
import re
from pathlib import Path

import matplotlib.image
import nbformat
import pytest

REQUIRED = bool(os.environ.get("MINIGRAD_REQUIRE_BROWSER"))

if importlib.util.find_spec("playwright") is None:
    if REQUIRED:
        raise ModuleNotFoundError("MINIGRAD_REQUIRE_BROWSER is set and playwright is not installed")
    pytest.skip("playwright is not installed: no browser to drive", allow_module_level=True)

import lab as jupyter

from tools import desk, environment

if jupyter.CHROMIUM is None:
    if REQUIRED:
        raise FileNotFoundError("MINIGRAD_REQUIRE_BROWSER is set and there is no chromium on PATH")
    pytest.skip("there is no chromium on PATH", allow_module_level=True)

pytestmark = pytest.mark.browser

LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"
CHAPTERS = sorted(path.name for path in (jupyter.ROOT / "notebooks").glob("*.ipynb"))
EXERCISES = sorted(path.name for path in (jupyter.ROOT / "exercises").glob("*.ipynb"))
NOTEBOOKS = [f"notebooks/{name}" for name in CHAPTERS] + [f"exercises/{name}" for name in EXERCISES]
TAKEN = "notebooks/02_leaf_nodes.ipynb"  # the chapter that is taken as a learner takes it
# The cursor goes to the end of the first line of a cell, where a prediction is typed.
TYPE = """async (id) => {
    const notebook = jupyterapp.shell.currentWidget.content;
    const cell = notebook.widgets.find((cell) => cell.model.id === id);
    notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    await notebook.scrollToItem(notebook.activeCellIndex);
    await cell.ready;
    notebook.mode = 'edit';
    cell.editor.setCursorPosition({line: 0, column: cell.editor.getLine(0).length});
    cell.editor.focus();
}"""
SHOW = """async (id) => {
    const notebook = jupyterapp.shell.currentWidget.content;
    const at = notebook.widgets.findIndex((cell) => cell.model.id === id);
    await notebook.scrollToItem(at);
    const cell = notebook.widgets[at].node;
    cell.scrollIntoView();
    cell.setAttribute('data-shown', id);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jupyterlab")
    course = jupyter.copy_of_the_course(folder / "course")
    environment.Environment(folder / "environment").set_up_jupyter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder / "environment" / "share" / "jupyter"))
        patch.setenv("MINIGRAD_DESK", str(course / "desk"))
        desk.prepared()
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
    return sum(len(re.findall(r'<img alt="(?!A plot)[^>]* src="data:image/svg', text)) for text in html)


def assert_on_screen(lab, count):
    """There are `count` pictures, and each can be seen and has a text for who cannot see it."""
    graphs = lab.graphs(expected=count)
    assert len(graphs) == count
    for graph in graphs:
        assert min(graph["natural"]) > 0 and min(graph["client"]) > 0, graph
        assert graph["seen"], f"covered or outside the window: {graph}"
        assert graph["alt"], graph


def brightness(picture):
    """How bright a PNG is, from 0 to 1."""
    return float(matplotlib.image.imread(io.BytesIO(picture))[..., :3].mean())


def short(path, theme):
    return f"{Path(path).parts[0]}-{Path(path).stem}-{'dark' if theme == DARK else 'light'}"


def test_there_is_something_to_look_at():
    assert {"notebooks/00_start_here.ipynb", "notebooks/01_requires_grad.ipynb"} <= set(NOTEBOOKS)
    assert "exercises/01_requires_grad.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("path", ["notebooks/01_requires_grad.ipynb", "desk/exercises/01_requires_grad.ipynb"])
def test_opening_a_notebook_does_not_mark_it_as_unsaved(lab, path):
    before = (lab.course / path).read_bytes()
    lab.open(path)
    assert not lab.is_unsaved()
    lab.close_notebook()  # which saves it
    assert (lab.course / path).read_bytes() == before


def test_on_the_desk_a_prediction_is_compared_and_a_film_is_gone_through(lab):
    """One chapter, as a new user takes it: type, run, read, step through the film, look at the end."""
    lab.open(f"desk/{TAKEN}")
    page = lab.page
    lab.use_theme(DARK)
    for id, said in (("leaf-four", "yes, yes, no, yes"), ("adds-three", "2 2 2")):
        page.evaluate(TYPE, id)
        page.keyboard.type(said)
    counts = lab.run_all()
    assert counts == list(range(1, len(counts) + 1)), "Run All stopped early"
    page.evaluate(SHOW, "leaf-four")
    page.get_by_text("You predicted “yes, yes, no, yes”. It came so.").wait_for()
    page.evaluate(SHOW, "passes-film")
    film = page.locator("[data-shown=passes-film] .minigrad-film")
    film.get_by_role("button", name="Next", exact=True).click()
    assert "step 1 of 4" in film.inner_text() and "loss starts with the gradient 1." in film.inner_text()
    height = film.bounding_box()["height"]
    for step in (2, 3, 4):
        page.keyboard.press("ArrowRight")
        assert f"step {step} of 4" in film.inner_text() and film.bounding_box()["height"] == height, "nothing jumps"
    assert film.get_by_role("button", name="Next", exact=True).is_disabled()
    dark = brightness(film.locator("img").first.screenshot())
    lab.use_theme(LIGHT)
    assert dark < 0.4 and brightness(film.locator("img").first.screenshot()) > 0.6, "a drawing is as dark as its page"
    page.evaluate(SHOW, "predictions-shown")
    page.get_by_text("You predicted 2 times: 1 came so, 1 came otherwise.").wait_for()
    page.get_by_text("backward() overwrites .grad").wait_for()
    lab.close_notebook()


@pytest.mark.parametrize("path", [name for name in NOTEBOOKS if name.startswith("notebooks")])
def test_a_fresh_clone_shows_its_graphs_before_anything_runs(lab, path, screenshots):
    stored = stored_graphs(jupyter.ROOT / path)
    assert stored > 0
    lab.open(path, kernel=False)
    assert not all(lab.trusted()), "the notebook is trusted: this would show nothing new"
    lab.use_theme(DARK)
    assert_on_screen(lab, stored)
    screenshots("untrusted-" + short(path, DARK))


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path != TAKEN])
def test_run_all_on_the_desk_reaches_the_end_and_draws_the_graphs(lab, path, screenshots):
    desk.main([path])
    on_desk = f"desk/{path}"
    lab.open(on_desk)
    lab.use_theme(LIGHT)
    counts = lab.run_all()
    assert counts == list(range(1, len(counts) + 1)), "Run All stopped early"
    assert all(lab.trusted())
    lab.save()
    expected, stored = stored_graphs(lab.course / on_desk), stored_graphs(jupyter.ROOT / path)
    # Exercises are stored without outputs, and what they ask for need not be a graph.
    assert expected == stored > 0 or path.startswith("exercises")
    assert_on_screen(lab, expected)
    screenshots("run-" + short(path, LIGHT))
    lab.close_notebook()
    assert stored_graphs(lab.course / on_desk) == expected
