"""What repo2docker (Binder) and Docker make of the course, as far as that goes without Docker."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import image
import pytest

ROOT = Path(__file__).resolve().parents[1]
MISSING = [name for name in ("repo2docker",) if importlib.util.find_spec(name) is None]
MISSING += [name for name in ("hadolint",) if shutil.which(name) is None]
if MISSING and os.environ.get("MINIGRAD_REQUIRE_IMAGE"):
    raise ModuleNotFoundError(f"MINIGRAD_REQUIRE_IMAGE is set and these are not installed: {', '.join(MISSING)}")
with_tools = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")

FIRST = "desk/notebooks/00_start_here.ipynb"
PYTHON = (ROOT / ".binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
# Of what repo2docker installs first and pins, what could be in the way of the course.
PINNED = "jupyterlab notebook jupyter_server jupyter_client ipykernel nbclient ipython jupyter-resource-usage"


def test_both_images_have_a_python_that_is_tested():
    tested = (ROOT / "README.md").read_text("utf-8").partition("Tested on Debian")[2]
    assert re.search(rf"\b{re.escape(PYTHON)}\.\d", tested)
    assert f"FROM python:{PYTHON}-" in image.DOCKERFILE.read_text("utf-8")


@with_tools
def test_the_dockerfile_is_clean():
    linted = subprocess.run(["hadolint", image.DOCKERFILE], capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout


def clone(folder):
    """The files that git tracks, as a service that builds images gets them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def build_steps(course):
    """What repo2docker would run in the image once the course is there, and what it has installed before, by name."""
    told = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(course)]
    done = subprocess.run(told, capture_output=True, text=True, timeout=120, check=True)
    said = done.stderr + done.stdout
    assert f"Building conda environment for python={PYTHON}" in said
    packs = Path(importlib.util.find_spec("repo2docker").origin).parent / "buildpacks"
    lock = packs / "conda" / f"environment.py-{PYTHON}-linux-64.lock"
    pinned = dict(re.findall(r"/([\w.-]+)-([\d.]+)-[\w.]+\.conda", lock.read_text("utf-8")))
    after = said.partition(" src/ ${REPO_DIR}/")[2]
    return [words for name, words in image.instructions(after) if name == "RUN"], pinned


def python_of_the_image():
    """That version, where it is installed; or else the one that runs the tests."""
    named = shutil.which(f"python{PYTHON}")
    works = named and subprocess.run([named, "-c", ""], capture_output=True, check=False).returncode == 0
    return named if works else sys.executable


def served(environment, course, python):
    """What a server answers that is started as the image starts it: the address that it opens, the first chapter."""
    with (environment / "server.log").open("wb") as log:
        words = [python, "-m", "notebook", "--ip=127.0.0.1", "--no-browser", "--allow-root", "--ServerApp.port=0"]
        server = subprocess.Popen(
            [*words, "--IdentityProvider.token=t"], cwd=course, env=own(environment, course), stdout=log, stderr=log
        )
        local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        deadline = time.monotonic() + 90
        try:
            while time.monotonic() < deadline and server.poll() is None:
                with suppress(OSError, ValueError):
                    (note,) = (environment / "runtime").glob("jpserver-*.json")
                    address = f"http://127.0.0.1:{json.loads(note.read_text())['port']}"
                    page = local.open(f"{address}/lab/tree/{FIRST}?token=t", timeout=30).read().decode()
                    chapter = json.load(local.open(f"{address}/api/contents/{FIRST}?token=t", timeout=30))
                    return page, chapter
                time.sleep(0.2)
        finally:
            server.terminate()
            server.wait(timeout=30)
    raise AssertionError((environment / "server.log").read_text(errors="replace")[-3000:])


def own(environment, course):
    """The variables of the image, and places of its own for what Jupyter writes."""
    others = ("PYTEST_", "JUPYTER", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    places = {"KERNEL_PYTHON_PREFIX": environment, "REPO_DIR": course, "HOME": environment / "home"}
    places |= {"JUPYTER_RUNTIME_DIR": environment / "runtime", "VIRTUAL_ENV": environment}
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return kept | {name: str(place) for name, place in places.items()} | {"PATH": path}


@with_tools
def test_repo2docker_makes_a_server_that_opens_the_course(tmp_path):
    course, environment = clone(tmp_path / "course"), tmp_path / "environment"
    steps, pinned = build_steps(course)
    last_words = [step.split()[-1].strip('"./') for step in steps]
    assert last_words == ["binder/requirements.txt", "binder/postBuild", "binder/postBuild"]
    subprocess.run([python_of_the_image(), "-m", "venv", environment], check=True)
    (environment / "home").mkdir()
    python, variables = str(environment / "bin" / "python"), own(environment, course)
    before = [f"{name}=={pinned[name]}" for name in PINNED.split()]
    subprocess.run([python, "-m", "pip", "install", "-q", *before], env=variables, check=True)
    for step in steps:
        subprocess.run(["bash", "-euc", step], cwd=course, env=variables, check=True)
    subprocess.run([python, "-m", "pip", "check"], env=variables, check=True)
    page, chapter = served(environment, course, python)
    assert "<title>JupyterLab</title>" in page
    cells = chapter["content"]["cells"]
    assert len(cells) > 20 and not any(cell.get("outputs") for cell in cells)
    subprocess.run([python, "-m", "jupyter", "execute", FIRST], cwd=course, env=variables, check=True, timeout=180)
