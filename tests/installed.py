"""Is what was released whole? `bash .ci/run release` runs this with the Python of an environment that has the wheel.

python tests/installed.py            minigrad and its pictures
python tests/installed.py magics     the same, and the magics, where IPython is
python tests/installed.py colab URL  the first cell of the course, as on Google Colab, for a repository at URL
"""

import json
import subprocess
import sys
import tempfile
import types
from importlib.metadata import files, version
from importlib.util import find_spec
from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]


def package():
    """The wheel holds minigrad alone, and draws."""
    import minigrad as mg

    held = {Path(file).parts[0] for file in files("minigrad")} - {"__pycache__"}
    assert held == {"minigrad", f"minigrad-{version('minigrad')}.dist-info"}, held
    assert not [file for file in files("minigrad") if "test" in Path(file).name.lower().split("_")], "tests"
    assert not Path(mg.__file__).is_relative_to(COURSE / "minigrad"), "that is the source"
    for course in ("exercises", "tests", "matplotlib", "jupyterlab", "pytest"):
        assert find_spec(course) is None, f"{course} is here: the environment has more than the wheel needs"
    w = mg.tensor(3.0, requires_grad=True)
    picture = mg.viz.draw(w * 2 + w)
    assert "AddBackward0" in str(picture) and "MulBackward0" in str(picture)
    picture.save("graph.svg")
    assert Path("graph.svg").read_text(encoding="utf-8").count("<svg") == 1, f"drawn by {mg.viz.engine()}"
    print(f"minigrad {mg.__version__}: {len(files('minigrad'))} files, pictures by {mg.viz.engine()}")


def magics():
    """`%load_ext minigrad` in a session of IPython brings the magics, with minigrad not imported before."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    for source in (
        "%load_ext minigrad",
        "import minigrad as mg\nw = mg.tensor(3.0, requires_grad=True)\nloss = w * w\nloss.backward()",
        "%%expect RuntimeError\nloss.backward()",
        "shown = mg.draw(loss)._repr_mimebundle_()\nassert 'image/svg+xml' in shown and 'alt=' in shown['text/html']",
    ):
        assert shell.run_cell(source).success, source
    print("%load_ext minigrad: done")


def colab(url):
    """The cell that sets Colab up, with the real pip, in a Python that believes to be Colab's."""
    from IPython.core.interactiveshell import InteractiveShell

    sys.modules["google.colab"] = types.ModuleType("google.colab")
    cells = json.loads((COURSE / "notebooks" / "00_start_here.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = {cell["id"]: "".join(cell["source"]) for cell in cells}
    shell = InteractiveShell.instance()
    shell.user_ns["input"] = lambda question: url
    for name in ("colab", "ready-check", "set-up"):
        assert shell.run_cell(sources[name]).success, name
    assert Path(shell.user_ns["check"].__file__).is_relative_to(Path.cwd() / "src"), "not what was fetched"
    print("Colab's cell: the course is there")


if __name__ == "__main__":
    COMMANDS = {"magics": magics, "colab": colab}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-I", __file__, "here", *sys.argv[1:]]
        if sys.argv[1:2] != ["here"]:  # in a folder of its own, so that nothing of the course is found by chance
            sys.exit(subprocess.run(command, cwd=folder).returncode)
    words = sys.argv[2:]
    if words[:1] != ["colab"]:
        package()
    if words:
        COMMANDS[words[0]](*words[1:])
