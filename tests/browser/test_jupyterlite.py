"""JupyterLite in Chromium, with what of Pyodide's distribution is on npm and PyPI: all but NumPy and Matplotlib."""

import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import lite

PACKAGES = os.environ.get("MINIGRAD_NODE_MODULES")
if not os.environ.get("MINIGRAD_REQUIRE_LITE"):
    if lite.missing() or not PACKAGES or importlib.util.find_spec("playwright") is None:
        pytest.skip("JupyterLite, playwright or Pyodide from npm is not installed", allow_module_level=True)

import web

pytestmark = pytest.mark.browser

NEEDED = ("ipython", "micropip", "packaging", "jedi")  # what the kernel asks for as it starts
TYPES = {".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json"}
# In the first cell. minigrad's own __init__ imports NumPy, so that of it only these two modules are tried.
PROBE = """%pip install -q --no-deps graphviz minigrad
import importlib.util, sys, types
place = importlib.util.find_spec("minigrad").submodule_search_locations[0]
for name, folder in {"minigrad": place, "minigrad.viz": place + "/viz"}.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from minigrad.viz import browser, layout
await browser.load()
print("drawn", "by", layout.engine(), layout.render("digraph { a -> b }").count(b"<text"))
"""


def distribution(folder):
    """Bring what can be had of Pyodide's distribution, with a list of packages that has its digests."""
    npm = Path(PACKAGES) / "pyodide"
    lock = json.loads((npm / "pyodide-lock.json").read_text(encoding="utf-8"))
    wanted, known = {}, lock["packages"]

    def want(name):
        if name not in wanted:
            wanted[name] = known[name]
            for other in known[name]["depends"]:
                want(other.replace("_", "-").lower())

    for name in NEEDED:
        want(name)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version=3.14"]
    named = [f"{name}=={package['version']}" for name, package in wanted.items()]
    subprocess.run([*pip, "-d", str(folder), *named], check=True, timeout=200)
    for wheel in folder.glob("*.whl"):
        name = re.sub("[-_.]+", "-", wheel.name.split("-")[0]).lower()
        wheel = wheel.rename(folder / wanted[name]["file_name"])
        wanted[name]["sha256"] = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    for path in (path for pattern in ("*.mjs", "*.wasm", "*.zip") for path in npm.glob(pattern)):
        (folder / path.name).write_bytes(path.read_bytes())


def test_a_notebook_opens_its_kernel_starts_finds_the_wheels_at_home_and_draws(tmp_path):
    lite.make(tmp_path / "lab")
    pyodide, away = tmp_path / "pyodide", []
    pyodide.mkdir()
    distribution(pyodide)

    def answer(route):
        found = re.fullmatch(r"https://cdn\.jsdelivr\.net/pyodide/v[\d.]+/full/([\w.-]+)", route.request.url)
        file = pyodide / found[1] if found else None
        if file is None or not file.exists():
            away.append(route.request.url)
            return route.abort()
        kind = TYPES.get(file.suffix, "application/octet-stream")
        route.fulfill(body=file.read_bytes(), headers={"Access-Control-Allow-Origin": "*", "Content-Type": kind})

    with web.served(tmp_path) as address, web.chromium() as browser:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        context.route(lambda url: not url.startswith(address), answer)
        page = context.new_page()
        page.goto(f"{address}lab/lab/index.html?path=notebooks/01_requires_grad.ipynb", timeout=60_000)
        page.get_by_role("heading", name="Who gets tracked?").wait_for(timeout=60_000)
        page.get_by_text("Python (Pyodide)").first.wait_for()  # the kernel, which nobody has to choose
        page.get_by_text("%pip install -q --no-deps graphviz minigrad").click()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.insert_text(PROBE)
        page.keyboard.press("Shift+Enter")
        page.get_by_text("drawn by viz.js 2").wait_for(timeout=200_000)
    assert away == [], "nothing but Pyodide's distribution is asked for"
