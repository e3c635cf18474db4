"""course.py in a scratch copy of the course: real environments, no packages, no network."""

import ast
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
POSIX = pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal or runs a shell script")
# Stands in for jupyterlab, pytest and generate.py: shows which Python it got, and which arguments.
ECHO = "import sys; print(sys.prefix, sys.argv[1:]); sys.exit(7 if 'fail' in sys.argv else 0)"


def make_scratch(folder):
    """The least that course.py needs: its files, nothing to install, and echoes to launch."""
    for name in ("notebooks", "tools", "tests"):
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "course.py", folder)
    for name in ("requirements.txt", "pyproject.toml", "notebooks/00_start_here.ipynb"):
        (folder / name).write_text("", encoding="utf-8")
    for name in (
        "jupyterlab.py",
        "pytest.py",
        "tools/generate.py",
        "tools/pages.py",
        "tools/record_transcripts.py",
    ):
        (folder / name).write_text(ECHO, encoding="utf-8")
    return folder


@pytest.fixture
def scratch(tmp_path):
    return make_scratch(tmp_path / "a course")


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A scratch copy whose environment is complete."""
    folder = make_scratch(tmp_path_factory.mktemp("ready") / "course")
    first = run(folder, "test")
    assert first.returncode == 0, first.stderr
    assert "Making a virtual environment" in first.stdout
    assert "Installing the packages" in first.stdout
    return folder


def clean_environment(**variables):
    """This process's environment without what pytest, CI or a user may have set."""
    mine = ("PYTHONPATH", "MINIGRAD_VENV", "VIRTUAL_ENV")
    return {k: v for k, v in os.environ.items() if k not in mine} | variables


def run(folder, *words, python=sys.executable, **variables):
    return subprocess.run(
        [python, str(folder / "course.py"), *words],
        env=clean_environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def assert_one_sentence(result, *parts):
    """The run ended with one line on stderr that holds `parts`, and with a failure's code."""
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1, result.stderr
    for part in parts:
        assert part in result.stderr


def load_course(folder):
    specification = importlib.util.spec_from_file_location("course", folder / "course.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_python_3_6_can_read_it():
    ast.parse((ROOT / "course.py").read_text(encoding="utf-8"), feature_version=(3, 6))


def test_an_old_python_is_told_so(scratch, monkeypatch):
    course = load_course(scratch)
    monkeypatch.setattr(course.sys, "version_info", (3, 8, 18))
    with pytest.raises(course.Problem, match=r"needs Python 3\.11 or newer and this is Python 3\.8"):
        course.main(["test"])
    assert not (scratch / ".venv").exists()


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_is_told_what_to_install(scratch, monkeypatch, missing):
    course = load_course(scratch)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        course.importlib.util,
        "find_spec",
        lambda name: None if name == missing else find_spec(name),
    )
    with pytest.raises(course.Problem, match="sudo apt install python3-venv"):
        course.main(["test"])


def test_the_second_run_is_quick_and_makes_nothing(ready):
    start = time.perf_counter()
    second = run(ready, "test", "-k", "leaf")
    # Not a benchmark: making the environment again takes many times as long.
    assert time.perf_counter() - start < 5
    assert second.stdout.count("\n") == 1
    assert str(ready / ".venv") in second.stdout
    assert "'-k', 'leaf'" in second.stdout


def test_one_pytest_runs_tests_and_notebooks(ready):
    printed = run(ready, "test").stdout
    assert "'--nbval'" in printed and "'--dist=loadfile'" in printed


def test_the_exit_code_is_passed_on(ready):
    assert run(ready, "test", "fail").returncode == 7


def test_no_command_opens_the_first_notebook(ready):
    printed = run(ready, "--no-browser", "--port", "9999").stdout
    assert "00_start_here.ipynb" in printed
    assert "'--no-browser', '--port', '9999'" in printed
    assert f"--ServerApp.root_dir={ready}" in printed
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in printed


def test_jupyterlab_asks_nothing_and_shows_markdown_as_it_looks(ready):
    settings = json.loads((ready / ".venv/share/jupyter/lab/settings/overrides.json").read_text(encoding="utf-8"))
    assert settings["@jupyterlab/apputils-extension:notification"] == {"fetchNews": "false"}
    assert settings["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"] == {"markdown": "Markdown Preview"}


def test_exercises_are_generated_in_the_environment(ready):
    printed = run(ready, "exercises", "--check").stdout
    assert str(ready / ".venv") in printed and "['--check']" in printed


def test_pages_are_made_in_the_environment(ready):
    assert str(ready / ".venv") in run(ready, "pages").stdout


def test_grading_runs_in_the_environment_and_knows_where_it_was_typed(ready):
    (ready / "tools" / "grading").mkdir(exist_ok=True)
    (ready / "tools" / "grading" / "__main__.py").write_text(ECHO, encoding="utf-8")
    printed = run(ready, "grade", "collected", "--jobs", "2").stdout
    assert str(ready / ".venv") in printed
    assert f"['--base', {str(Path.cwd())!r}, 'collected', '--jobs', '2']" in printed


def test_transcripts_are_recorded_in_the_environment(ready):
    assert str(ready / ".venv") in run(ready, "transcripts").stdout


def test_an_unknown_command_names_those_there_are(ready):
    result = run(ready, "tset")
    assert_one_sentence(result, "'tset'", "`course.py test`")


def test_help_is_the_docstring(ready):
    result = run(ready, "--help")
    assert result.returncode == 0
    assert "python3 course.py test" in result.stdout


@pytest.mark.parametrize("name", ["notebooks/00_start_here.ipynb", "requirements.txt"])
def test_a_missing_file_is_named(scratch, name):
    (scratch / name).unlink()
    assert_one_sentence(run(scratch), Path(name).name, "is missing")


def test_new_requirements_are_installed(ready):
    (ready / "requirements.txt").write_text("# one more\n", encoding="utf-8")
    assert "Installing the packages" in run(ready, "test").stdout
    assert "Installing the packages" not in run(ready, "test").stdout


def test_another_place_for_the_environment(ready, tmp_path):
    result = run(ready, "test", MINIGRAD_VENV=str(tmp_path / "elsewhere"))
    assert str(tmp_path / "elsewhere") in result.stdout


def test_a_folder_that_is_no_environment_is_left_alone(ready, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    assert_one_sentence(run(ready, "test", MINIGRAD_VENV=str(tmp_path)), "no virtual environment")
    assert (tmp_path / "thesis.txt").exists()


def test_an_environment_without_pip_is_made_again(scratch):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", scratch / ".venv"], check=True)
    mended = run(scratch, "test")
    assert mended.returncode == 0, mended.stderr
    assert "Making a virtual environment" in mended.stdout


@POSIX
def test_a_python_that_does_not_start_is_replaced(ready):
    python = ready / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to(ready / "a Python that was uninstalled")
    mended = run(ready, "test")
    assert mended.returncode == 0, mended.stderr
    assert "Making a virtual environment" in mended.stdout


def unreachable_index():
    """An address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/simple"


def ask_for_a_package(folder):
    (folder / "requirements.txt").write_text("minigrad-needs-this==1.0\n", encoding="utf-8")


def pip_asks(index):
    """Variables that make pip ask `index` and nobody else."""
    alone = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
    return alone | {"PIP_INDEX_URL": index, "PIP_RETRIES": "1", "NO_PROXY": "127.0.0.1"}


def test_no_network_is_one_sentence_and_the_next_run_mends_it(scratch):
    ask_for_a_package(scratch)
    result = run(scratch, "test", **pip_asks(unreachable_index()))
    assert_one_sentence(result, "cannot reach the Python package index")
    (scratch / "requirements.txt").write_text("", encoding="utf-8")
    mended = run(scratch, "test")
    assert mended.returncode == 0, mended.stderr


def test_a_package_that_is_not_there_is_named(scratch):
    ask_for_a_package(scratch)
    result = run(scratch, "test", PIP_NO_INDEX="1")
    assert_one_sentence(result, "could not install", "minigrad-needs-this", "minigrad-install.log")


@POSIX
def test_ctrl_c_while_installing_is_one_line_and_the_next_run_mends_it(scratch):
    ask_for_a_package(scratch)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple"
        process = subprocess.Popen(
            [sys.executable, str(scratch / "course.py"), "test"],
            env=clean_environment(**pip_asks(index)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        silent.settimeout(60)
        connection, _ = silent.accept()  # pip is installing now
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to course.py and to pip
        printed, errors = process.communicate(timeout=60)
        connection.close()
    assert process.returncode == 130
    assert errors == ""
    assert printed.splitlines()[-1] == "Stopped: run the same line again to go on."
    (scratch / "requirements.txt").write_text("", encoding="utf-8")
    mended = run(scratch, "test")
    assert mended.returncode == 0, mended.stderr
    # Afresh: a pip that was stopped may have left half a package.
    assert "Making a virtual environment" in mended.stdout
