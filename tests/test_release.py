"""What a release says and holds: requirements said once, the README's tables of wheels, the line that sets Colab up.

The wheel itself is built and tried by `bash .ci/run release`, which needs the network (tests/installed.py).
"""

import re
import sys
import tomllib
import types
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tools import wheels

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PARTS = {"minigrad": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}


def names(requirements):
    return [re.match(r"[\w-]+", requirement)[0] for requirement in requirements]


# ---------------------------------------------------------------------- requirements


def test_each_requirement_is_said_once():
    said = [name for part in PARTS.values() for name in names(part)]
    assert len(set(said)) == len(said)
    assert set(PARTS) == {"minigrad", "course", "test", "dev", "lite"}


def test_requirements_txt_gives_course_and_tests_and_no_version_of_its_own():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    *packages, editable = [line for line in lines if line and not line.startswith("#")]
    assert editable == "-e .[course,test]"
    assert packages == ["jupyterlab", "numpy", "matplotlib", "graphviz", "nbval"]
    assert set(packages) <= {name for part in ("minigrad", "course", "test") for name in names(PARTS[part])}


def test_pictures_need_no_package_of_the_course():
    needed = {"numpy", "graphviz", "pygraphviz"}
    assert set(names(PARTS["minigrad"])) == needed


# ---------------------------------------------------------------------- wheels


def test_the_readme_has_the_tables_of_what_the_index_said():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == wheels.with_tables(readme, wheels.stored())
    assert "| 3.14 | 4." in readme


def test_the_index_was_asked_for_each_system_python_and_requirement():
    stored = wheels.stored()
    assert set(stored) == set(wheels.PYTHONS)
    every = set(names(PARTS["minigrad"] + PARTS["course"] + PARTS["test"]))
    without = {system: every - {"pygraphviz"} if "Windows ARM" in system else every for system in wheels.SYSTEMS}
    for python, systems in stored.items():
        assert set(systems) == set(wheels.SYSTEMS)
        for system, versions in systems.items():
            assert all(versions.values()) is False or without[system] <= set(versions), (system, python)


def test_what_only_one_system_needs_was_asked_for_there():
    """The reason for asking with uv: pip takes such markers from the machine that it runs on."""
    latest = wheels.stored()["3.14"]
    assert "pywinpty" in latest["Windows x86-64"] and "pywinpty" not in latest["Linux x86-64, glibc 2.28"]
    assert "appnope" in latest["macOS 12, Intel"] and "pexpect" not in latest["Windows x86-64"]


ANSWER = {"3.11": {name: {"numpy": "2.4.6", "matplotlib": "3.11.2"} for name in wheels.SYSTEMS}}


def test_a_package_without_a_wheel_is_named_and_fails_the_check(monkeypatch, capsys):
    worse = {"3.11": ANSWER["3.11"] | {"Windows ARM64": {"pyyaml": ""}}}
    assert "| Windows ARM64 | pyyaml has none |" in wheels.tables(worse)
    assert "| Windows x86-64 | all 2 |" in wheels.tables(worse)
    asked = {wheels.SYSTEMS[name]: versions for name, versions in worse["3.11"].items()}
    monkeypatch.setattr(wheels, "PYTHONS", ("3.11",))
    monkeypatch.setattr(wheels, "ask", lambda platform, python: asked[platform])
    monkeypatch.setattr(wheels, "stored", lambda: ANSWER)
    assert wheels.main(["--check"]) == 1
    assert "Windows ARM64, Python 3.11: pyyaml has no wheel" in capsys.readouterr().out
    monkeypatch.setattr(wheels, "stored", lambda: worse)
    assert wheels.main(["--check"]) == 0, "the README says so already"


@pytest.mark.parametrize(
    ("code", "said", "answer"),
    [
        (0, "numpy==2.4.6\nnbval==0.11.0\n", {"numpy": "2.4.6", "nbval": "0.11.0"}),
        (1, "hint: Wheels are required for `pyyaml` because building is disabled", {"pyyaml": ""}),
    ],
    ids=["all wheels", "one to be built"],
)
def test_what_uv_says_is_understood(monkeypatch, code, said, answer):
    told = types.SimpleNamespace(returncode=code, stdout=said, stderr=said)
    monkeypatch.setattr(wheels.subprocess, "run", lambda *_, **__: told)
    assert wheels.ask("x86_64-apple-darwin", "3.12") == answer


def test_an_index_that_does_not_answer_is_no_missing_wheel(monkeypatch):
    told = types.SimpleNamespace(returncode=2, stdout="", stderr="error: could not connect")
    monkeypatch.setattr(wheels.subprocess, "run", lambda *_, **__: told)
    with pytest.raises(SystemExit, match="could not connect"):
        wheels.ask("x86_64-apple-darwin", "3.12")


# ---------------------------------------------------------------------- Colab


@pytest.fixture
def shell(monkeypatch):
    """An IPython of this test's own, whose %pip notes what it should install; nobody is there to be asked."""
    shell = InteractiveShell()
    shell.asked = []
    shell.register_magic_function(shell.asked.append, magic_name="pip")
    monkeypatch.setattr("builtins.input", lambda question: "https://example.org/course.git")
    monkeypatch.setattr(sys, "path", [*sys.path])
    return shell


def colab_cell():
    cells = nbformat.read(ROOT / "notebooks" / "00_start_here.ipynb", as_version=4).cells
    (first, *_) = [cell for cell in cells if cell.cell_type == "code"]
    assert first.id == "colab"
    return first.source


def test_the_first_cell_fetches_the_course_on_colab(shell, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    assert shell.run_cell(colab_cell()).success
    assert shell.asked == ["install -q --src src -e git+https://example.org/course.git#egg=minigrad"]
    assert sys.path[-1] == "src/minigrad"


def test_elsewhere_the_first_cell_does_nothing(shell):
    before = [*sys.path]
    assert shell.run_cell(colab_cell()).success
    assert shell.asked == [] and sys.path == before
