"""JupyterLite beside the site: the course in a browser, with nothing installed (`python3 course.py site --lite`).

It needs the packages of `pip install -e ".[lite]"`, and `npm`. What is served are the desk's copies of chapters and
exercises, and as wheels minigrad, with the checks and a Graphviz in JavaScript, and graphviz. A cell at the top of each
notebook installs them. Python itself, NumPy and Matplotlib the reader's browser fetches from Pyodide's distribution.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from nbformat import v4

from tools import desk

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("graphviz>=0.21,<1", "comm>=0.2.3,<1")  # comm: the kernel would ask PyPI for it
VIZ = "@viz-js/viz@3.31.0"
SET_UP = """# In the browser this installs the course: run it first. It takes a minute the first time.
%pip install -q numpy matplotlib
%pip install -q --no-deps graphviz minigrad
from minigrad.viz import browser
await browser.load()"""
SETTINGS = {"jupyter-lite-schema-version": 0, "jupyter-config-data": {"appName": "minigrad"}}


def missing() -> str:
    """The sentence for what is not there; "" if all is."""
    modules = [
        name for name in ("jupyterlite_core", "jupyterlite_pyodide_kernel") if not importlib.util.find_spec(name)
    ]
    if modules:
        return f"{modules[0]} is not installed: `{sys.executable} -m pip install -e '.[lite]'` does it."
    return "" if shutil.which("npm") else "There is no npm, which brings the Graphviz for the browser: install Node.js."


def make(folder: Path) -> None:
    """Make JupyterLite in a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        contents(here / "files")
        wheels = build_wheels(here)
        (here / "jupyter-lite.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
        options = ["--contents=files", *(f"--piplite-wheels={wheel}" for wheel in wheels), "--apps=lab"]
        options += [f"--output-dir={folder}", "--no-sourcemaps", "--no-unused-shared-packages", "--no-libarchive"]
        run([sys.executable, "-m", "jupyterlite_core", "build", *options], here)


def contents(folder: Path) -> None:
    """The desk's copies, each with a cell that installs the course."""
    for name in desk.names():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix != ".ipynb":
            shutil.copyfile(ROOT / name, place)
            continue
        notebook = desk.as_new(name)
        notebook.metadata.kernelspec = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
        notebook.cells.insert(1, v4.new_code_cell(SET_UP, id="in-the-browser"))
        desk.write(place, notebook)


def build_wheels(scratch: Path) -> list[Path]:
    """The wheels of minigrad and of what it needs there: in minigrad's lies the file of viz.js, too."""
    source = scratch / "source"  # not where the course is: that would leave things behind there
    for name in ("minigrad", "exercises"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", ".*", "*.ipynb"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", "wheels", "./source", *BESIDE],
        scratch,
    )
    run(["npm", "install", "--silent", "--no-save", "--prefix", str(scratch), VIZ], scratch)
    wheels = sorted((scratch / "wheels").glob("*.whl"))
    (minigrad,) = (wheel for wheel in wheels if wheel.name.startswith("minigrad-"))
    viz = scratch / "node_modules" / "@viz-js" / "viz" / "dist" / "viz-global.js"
    with zipfile.ZipFile(minigrad, "a") as archive:
        archive.write(viz, "minigrad/viz/viz-global.js")
        for path in sorted((source / "exercises").rglob("*.py")):
            name = path.relative_to(source).as_posix()
            if name not in archive.namelist():
                archive.write(path, name)
    return wheels


def run(command: Sequence[str], folder: Path) -> None:
    """Run a program in a folder; what it says is shown only if it fails."""
    program = shutil.which(command[0]) or command[0]  # on Windows npm is npm.cmd
    said = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600"}  # the same files, the same bytes: 2026
    with said:
        if subprocess.run([program, *command[1:]], cwd=folder, env=environment, stdout=said, stderr=said).returncode:
            said.seek(0)
            sys.exit(f"{' '.join(command[:4])} failed:\n{said.read()[-3000:]}")
