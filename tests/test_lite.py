"""The edition for the browser, as far as it goes without Pyodide's distribution: its files, pictures, and checks."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import nbformat
import pytest

import minigrad as mg
from minigrad.viz import browser, layout
from tools import desk, lite

ROOT = Path(__file__).resolve().parents[1]
REQUIRED = bool(os.environ.get("MINIGRAD_REQUIRE_LITE"))
PACKAGES = os.environ.get("MINIGRAD_NODE_MODULES")  # a folder with pyodide and @viz-js/viz, from npm


@pytest.fixture
def engines(monkeypatch):
    """What is registered as an engine is forgotten after the test."""
    monkeypatch.setattr(layout, "ENGINES", dict(layout.ENGINES))
    return layout.ENGINES


class Viz:
    """In the place of viz.js: draws with a system's `dot`, or fails."""

    def renderString(self, source, format):
        if "broken" in source:
            raise ValueError("syntax error in line 1")
        return f'<svg width="8pt" height="8pt"><text>{format}</text></svg>'


def test_where_nothing_else_draws_viz_js_does(no_engine, engines):
    assert layout.engine() == "text"
    browser.use(Viz())
    assert layout.engine() == "viz.js"
    assert b"<text>svg</text>" in layout.render("digraph { a }")
    with pytest.raises(layout.NoPicture, match=r"viz\.js failed \(ValueError\)"):
        layout.render("broken")
    with pytest.raises(layout.NoPicture, match=r"in a browser a picture is saved as \.svg or \.dot"):
        layout.render("digraph { a }", "png")


def test_what_is_served_is_the_desk_with_a_cell_that_installs_the_course(tmp_path):
    lite.contents(tmp_path)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")) == sorted(desk.names())
    for path in tmp_path.rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        first = next(cell for cell in notebook.cells if cell.cell_type == "code")
        assert first.source == lite.SET_UP and "SOLUTION" not in str(notebook)
        assert not any(cell.get("outputs") for cell in notebook.cells)


needs_build = pytest.mark.skipif(bool(lite.missing()) and not REQUIRED, reason="JupyterLite or npm is not installed")
needs_node = pytest.mark.skipif(not PACKAGES and not REQUIRED, reason="MINIGRAD_NODE_MODULES names no folder")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLite, made."""
    folder = tmp_path_factory.mktemp("lite") / "lab"
    assert not lite.missing(), lite.missing()
    lite.make(folder)
    return folder


@needs_build
def test_jupyterlite_has_the_notebooks_and_the_kernel_finds_the_wheels_at_home(lab):
    listed = json.loads((lab / "api" / "contents" / "notebooks" / "all.json").read_text(encoding="utf-8"))
    assert {f"notebooks/{one['name']}" for one in listed["content"]} == {
        name for name in desk.names() if name.startswith("notebooks/")
    }
    settings = json.loads((lab / "jupyter-lite.json").read_text(encoding="utf-8"))["jupyter-config-data"]
    kernel = settings["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    assert all(url.startswith("./") for url in kernel["pipliteUrls"])
    index = json.loads((lab / "pypi" / "all.json").read_text(encoding="utf-8"))
    assert set(index) == {"comm", "graphviz", "minigrad"}
    (wheel,) = (lab / "pypi").glob("minigrad-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"minigrad/viz/viz-global.js", "minigrad/viz/browser.py", "exercises/checks/kit.py"} <= set(names)
    assert not [name for name in names if name.startswith("tests") or name.endswith(".ipynb")]
    assert sum(path.stat().st_size for path in lab.rglob("*") if path.is_file()) < 25e6


@needs_node
def test_in_pyodide_viz_js_draws_the_sandbox_stops_loops_and_numpy_alone_is_missing(tmp_path):
    """Python of the browser, run by Node. NumPy has no wheel for it on PyPI: what needs it is not tried."""
    assert PACKAGES, "MINIGRAD_NODE_MODULES names no folder with pyodide and @viz-js/viz"
    tests, w = Path(__file__).parent, mg.tensor([2.0, 3.0], requires_grad=True)
    dot = mg.draw((w * w).sum(), view="both", saved=True).source
    (tmp_path / "graph.dot").write_text(dot, encoding="utf-8")
    command = ["node", tests / "pyodide.mjs", tests / "in_pyodide.py", PACKAGES, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    assert seen["python"].startswith("3.") and seen["gone"] == []
    assert set(seen["missed"].values()) == {"numpy", "graphviz"}
    assert {"exercises.checks.sandbox", "exercises.checks.cards", "exercises.checks.progress"} <= set(seen["imported"])
    assert seen["judged"] == {"value": 42, "error": "ZeroDivisionError('division by zero')", "timed_out": True}
    drawn = seen["drawn"]
    assert (drawn["before"], drawn["engine"]) == ("text", "viz.js") and drawn["refused"].endswith(
        "viz.js failed (JsException)"
    )
    words = re.findall(r"<text[^>]*>([^<]*)</text>", drawn["svg"])
    assert "what autograd keeps" in words and "MulBackward0" in words and "prefers-color-scheme" in drawn["svg"]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(layout.SETTING, raising=False)
        if layout.engine() != "text":
            here = re.findall(r"<text[^>]*>([^<]*)</text>", layout.render(dot).decode())
            assert sorted(words) == sorted(here), "the same words as another engine writes"


def test_what_is_not_there_is_said_in_a_sentence(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert re.fullmatch(
        r"jupyterlite_core is not installed: `.* -m pip install -e '\.\[lite\]'` does it\.", lite.missing()
    )
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "Node.js" in lite.missing()
