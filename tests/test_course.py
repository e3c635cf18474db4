"""course.py in scratch copies of the course: environments made in a moment, a pip that only pretends, no network."""

import ast
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

from tools import environment, lab

ROOT = Path(__file__).resolve().parents[1]
POSIX = pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal or has a POSIX name")
PACKAGES = "Lib/site-packages" if os.name == "nt" else f"lib/python3.{sys.version_info[1]}/site-packages"
# Stands in for pytest and the tools: shows which Python it got, and which arguments.
ECHO = '"""What it is for."""\nimport sys; print(sys.prefix, sys.argv[1:]); sys.exit(7 if "fail" in sys.argv else 0)\n'
TOOLS = ("lab", "desk", "site", "generate", "pages", "refresh_outputs", "record_transcripts", "new")
LEARNERS = (["--no-browser"], ["fresh", "05"], ["test"], ["grade", "collected"], ["site"])
AUTHORS = [["author", word] for word in ("new", "transcripts", "outputs", "pages", "exercises")]
# Builds what `pip install -e .` asks for, with no package from the network: it needs what the file `needs` says.
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
BACKEND = """
import zipfile


def build_editable(folder, *_):
    wheel, parts = "scratch-0-py3-none-any.whl", ("course", "test")
    needs = "".join(f"Provides-Extra: {part}\\nRequires-Dist: {n}; extra == '{part}'\\n"
                    for part in parts for n in open(f"needs-{part}").read().split())
    with zipfile.ZipFile(f"{folder}/{wheel}", "w") as file:
        file.writestr("scratch-0.dist-info/METADATA", f"Metadata-Version: 2.1\\nName: scratch\\nVersion: 0\\n{needs}")
        file.writestr("scratch-0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        file.writestr("scratch-0.dist-info/RECORD", "")
    return wheel
"""


def make_scratch(folder):
    """The least that course.py needs: its files, nothing to install, and echoes to launch."""
    for name in ("notebooks", "tools/grading", "tests", "minigrad"):
        (folder / name).mkdir(parents=True)
    for name in ("course.py", "tools/__init__.py", "tools/environment.py", "minigrad/__init__.py"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("needs-course", "needs-test", "notebooks/00_start_here.ipynb", "tools/grading/__init__.py"):
        (folder / name).write_text("", encoding="utf-8")
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (folder / "backend.py").write_text(BACKEND, encoding="utf-8")
    for name in ("pytest.py", "tools/grading/__main__.py", *(f"tools/{tool}.py" for tool in TOOLS)):
        (folder / name).write_text(ECHO, encoding="utf-8")
    return folder


@pytest.fixture
def scratch(tmp_path):
    return make_scratch(tmp_path / "a course")


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A scratch copy whose environment is complete, made by course.py with the real venv and the real pip."""
    folder = make_scratch(tmp_path_factory.mktemp("ready") / "course")
    first = run(folder, "test")
    assert first.returncode == 0, first.stderr
    assert "Making a virtual environment" in first.stdout
    assert "Installing the packages" in first.stdout
    return folder


def make_environment(folder, pip='print("nothing to do")'):
    """A virtual environment in a moment: without the real pip, which takes seconds to install, but with this one."""
    venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(folder)
    (folder / PACKAGES / "pip").mkdir()
    (folder / PACKAGES / "pip" / "__init__.py").touch()
    (folder / PACKAGES / "pip" / "__main__.py").write_text(pip, encoding="utf-8")


def clean_environment(**variables):
    """This process's environment without what pytest, CI or a user may have set."""
    mine = ("PYTHONPATH", "MINIGRAD_VENV", "VIRTUAL_ENV")
    return {k: v for k, v in os.environ.items() if k not in mine} | variables


def run(folder, *words, cwd=None, **variables):
    return subprocess.run(
        [sys.executable, str(folder / "course.py"), *words],
        cwd=cwd,
        env=clean_environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
    )


def start(folder, word="test"):
    """course.py in a session of its own, not waited for."""
    return subprocess.Popen(
        [sys.executable, str(folder / "course.py"), word],
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(path):
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"there is no {path}"
        time.sleep(0.02)


def assert_one_sentence(result, *parts):
    """The run ended with one line on stderr that holds `parts`, and with a failure's code."""
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1, result.stderr
    for part in parts:
        assert part in result.stderr


def load_course(folder):
    """course.py of this folder as a module, with the `tools.environment` that the tests import."""
    specification = importlib.util.spec_from_file_location("course", folder / "course.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def here(scratch, monkeypatch):
    """course.py in this process; environments are made in a moment, and what would run in them is noted."""
    monkeypatch.syspath_prepend(str(ROOT))  # restores sys.path, which course.py extends
    monkeypatch.setattr(environment, "ROOT", scratch)
    monkeypatch.delenv("MINIGRAD_VENV", raising=False)
    course = load_course(scratch)
    course.made, course.ran = [], []

    def make(self):
        course.made.append(self.folder)
        self.clear()
        make_environment(self.folder)

    monkeypatch.setattr(environment.Environment, "make", make)
    monkeypatch.setattr(environment.Environment, "run", lambda self, arguments: course.ran.append(arguments) or 0)
    monkeypatch.setattr(course.signal, "signal", lambda *_: None)
    return course


# --- Which Python --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["course.py", "tools/__init__.py", "tools/environment.py"])
def test_python_3_6_can_read_it(name):
    ast.parse((ROOT / name).read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize(
    ("which", "release", "sentence"),
    [
        ("python3.12", "", r"needs Python 3\.11 or newer and this is Python 3\.8: type `python3\.12 course\.py`\."),
        (
            "",
            'ID=ubuntu\nID_LIKE="debian"\n',
            r"install a newer one \(sudo apt install python3\.11 python3\.11-venv, or",
        ),
        ("", 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', r"\(sudo dnf install python3\.11, or"),
        (
            "",
            "ID=void\nVERSION_ID=debian\n",
            r"\(by the package manager of your system, or https://docs.astral.sh/uv\)",
        ),
        ("", None, r"\(https://www\.python\.org/downloads\)"),
    ],
)
def test_an_old_python_is_told_what_to_type(here, tmp_path, monkeypatch, which, release, sentence):
    if release is not None:
        (tmp_path / "os-release").write_text(release, encoding="utf-8")
    monkeypatch.setattr(environment, "open", lambda _, **how: (tmp_path / "os-release").open(**how), raising=False)
    monkeypatch.setattr(environment.shutil, "which", lambda name: name)
    monkeypatch.setattr(environment.subprocess, "call", lambda command, **_: int(command[0] != which))
    monkeypatch.setattr(here.sys, "version_info", (3, 8, 18))
    with pytest.raises(here.Problem, match=sentence):
        here.main(["test"])
    assert not (here.ROOT / ".venv").exists()


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_is_told_what_to_install(scratch, monkeypatch, missing):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        environment.importlib.util, "find_spec", lambda name: None if name == missing else find_spec(name)
    )
    with pytest.raises(environment.Problem, match="sudo apt install python3-venv"):
        environment.Environment(scratch / ".venv").make()


# --- Commands ------------------------------------------------------------------------------------


def test_the_second_run_is_quick_and_makes_nothing(ready):
    begin = time.perf_counter()
    second = run(ready, "test", "-k", "leaf")
    # Not a benchmark: making the environment again takes many times as long.
    assert time.perf_counter() - begin < 5
    assert second.stdout.count("\n") == 1
    assert str(ready / ".venv") in second.stdout
    assert "'-k', 'leaf'" in second.stdout


def test_one_pytest_runs_tests_and_notebooks(ready):
    printed = run(ready, "test").stdout
    assert "'--nbval'" in printed and "'--dist=loadfile'" in printed


def test_the_exit_code_is_passed_on(ready):
    assert run(ready, "test", "fail").returncode == 7


@pytest.mark.parametrize("words", [*LEARNERS, *AUTHORS, ["new", "exercise", "05", "name"]], ids=" ".join)
def test_a_command_runs_in_the_environment(ready, words):
    takes_nothing_more = words[-1] in ("pages", "transcripts")
    printed = run(ready, *words, *([] if takes_nothing_more else ["--check"])).stdout
    assert str(ready / ".venv") in printed and ("'--check']" in printed or takes_nothing_more)


@pytest.mark.parametrize("words", [["author", "new"], ["new"]], ids=" ".join)
def test_new_is_short_for_author_new(here, words):
    here.main([*words, "exercise", "05", "name"])
    assert here.ran == [["-m", "tools.new", "exercise", "05", "name"]]


def test_grading_knows_where_it_was_typed(ready):
    printed = run(ready, "grade", "collected", "--jobs", "2").stdout
    assert f"['--base', {str(Path.cwd())!r}, 'collected', '--jobs', '2']" in printed


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["tset"], ["'tset'", "course.py test`", "Nothing was run"]),
        (["graed", "folder"], ["course.py grade`"]),
        (["help"], ["course.py --help`"]),
        (["open", "03"], ["'open'", "course.py` alone opens the course", "course.py --help`"]),
        (["exercise"], ["'exercise'", "--help` says what there is"]),
        (["exercises"], ["'exercises'", "--help` says what there is"]),
        (["outputs", "--help"], ["'outputs'", "--help` says what there is"]),
        (["author", "excercises"], ["'excercises'", "course.py author exercises`"]),
        (["reset", "05"], ["'reset'", "--help` says what there is"]),
        (["--hlep"], ["'--hlep'", "course.py --help`"]),
        (["--no-browser", "--versoin"], ["'--versoin'", "course.py --version`"]),
        (["author", "pages", "--hlep"], ["takes nothing more", "'--hlep'"]),
    ],
    ids=lambda part: " ".join(part),
)
def test_a_mistyped_command_gets_the_nearest_one_and_runs_nothing(scratch, words, parts):
    result = run(scratch, *words)
    assert_one_sentence(result, *parts)
    assert result.stdout == "" and not (scratch / ".venv").exists()
    assert words[0] == "author" or "author" not in result.stderr, "learners are not sent there"


@pytest.mark.parametrize(
    "words", [["--no-browser"], ["fresh"], ["test"], ["grade"], ["site"], ["author"], *AUTHORS, ["new"]], ids=" ".join
)
@pytest.mark.parametrize("more", [["--help"], ["-h"], ["--help", "03"], ["03", "--help"]], ids=" ".join)
def test_help_only_helps(here, capfd, words, more):
    assert here.main([*words, *more]) == 0
    assert not here.ran and not (here.ROOT / ".venv").exists()
    expected = {
        "test": "What follows is passed on to pytest",
        "grade": "What it is for.",
        "fresh": "What it is for.",
        "site": "What it is for.",
        "--no-browser": "On Windows type",
    }
    one = "What it is for." if words in [*AUTHORS, ["new"]] else "for those who write it"
    assert expected.get(words[0], one) in capfd.readouterr().out


def test_every_command_has_a_help_and_no_help_for_learners_names_those_of_authors(here):
    assert set(here.COMMANDS) == {"fresh", "test", "grade", "site"} and set(here.AUTHOR) == {
        words[1] for words in AUTHORS
    }
    assert all(f"python3 course.py {word}" in here.__doc__ for word in here.COMMANDS)
    assert all(f"python3 course.py author {word}" in here.AUTHOR_HELP for word in here.AUTHOR)
    assert not any(word in here.__doc__ + here.TEST_HELP for word in ("author", "course.py new", "course.py exercises"))


def test_the_help_of_grading_needs_no_environment_and_lists_the_options_where_there_is_one(ready):
    result = run(ROOT, "grade", "--help", MINIGRAD_VENV=os.devnull)
    assert result.returncode == 0 and "course.py grade FOLDER" in result.stdout
    assert "['--help']" in run(ready, "grade", "--help").stdout


def test_the_version_is_said_and_nothing_is_made(scratch):
    result = run(scratch, "--version")
    assert result.returncode == 0 and not (scratch / ".venv").exists()
    assert "minigrad 0." in result.stdout and "not made yet" in result.stdout


def test_the_version_knows_a_complete_environment(ready):
    assert "(complete)" in run(ready, "--version").stdout


@pytest.mark.parametrize("name", ["notebooks/00_start_here.ipynb", "pyproject.toml", "tools/lab.py"])
def test_a_missing_file_is_named(scratch, name):
    (scratch / name).unlink()
    assert_one_sentence(run(scratch), Path(name).name, "is missing")


def test_course_py_alone_says_what_is_missing(tmp_path):
    shutil.copy(ROOT / "course.py", tmp_path)
    assert_one_sentence(run(tmp_path), "folder tools is missing")


# --- Nothing that a learner wrote is lost --------------------------------------------------------

ANSWER = "flags = {'mine': True}  # forty minutes of work"
TINY = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])


def copy_of_the_course(folder):
    """The course with its first exercises, and an environment that has what the tests have."""
    for name in ("minigrad", "tools", "notebooks", "exercises/checks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    (folder / "solutions").mkdir()
    for name in ("course.py", "README.md", "requirements.txt", "pyproject.toml", "solutions/01_requires_grad.ipynb"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("exercises/__init__.py", "exercises/01_requires_grad.ipynb"):
        shutil.copy(ROOT / name, folder / name)
    make_environment(folder / ".venv")
    (folder / ".venv" / PACKAGES / "those.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder


def answer(exercise):
    """Put an answer into an exercise notebook, as a learner who works there does."""
    notebook = nbformat.read(exercise, as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id.startswith("answer-"))
    cell.source = ANSWER
    nbformat.write(notebook, exercise)
    return exercise.read_bytes()


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A copy of the course with an answer in its exercises and on its desk, and the answer's bytes."""
    folder = copy_of_the_course(tmp_path_factory.mktemp("answered") / "course")
    content = answer(folder / "exercises" / "01_requires_grad.ipynb")
    # The first start takes it along.
    open_desk = [sys.executable, "-c", "from tools import desk; desk.prepared()"]
    subprocess.run(open_desk, cwd=folder, env=clean_environment(), check=True)
    return folder, content


def assert_nothing_is_lost(folder, content):
    """The answer is where it was or, after `fresh`, beside that: in exercises/ and on the desk."""
    assert (folder / "exercises" / "01_requires_grad.ipynb").read_bytes() == content
    on_desk = (folder / "desk" / "exercises").glob("01_requires_grad*.ipynb")
    assert content in [path.read_bytes() for path in on_desk]


# What each command says if it did its work. Running the chapters is for other tests, opening the course for the last.
COMMANDS = {
    "test": (["test", "-n", "0", "--co", "-q", "exercises/01_requires_grad.ipynb"], "tests collected"),
    "grade": (["grade", "exercises", "--jobs", "1"], "grades.html"),
    "fresh": (["fresh", "01", "exercises/01"], "01_requires_grad.kept-1.ipynb"),
    "site": (["site"], " pages, "),
    "exercises": (["author", "exercises"], "left 01_requires_grad.ipynb, for something is written in it"),
    "pages": (["author", "pages"], ""),
    "new": (["new", "exercise", "01", "trial"], ""),
    "outputs": (["author", "outputs"], "solutions/tiny.ipynb: stored"),
    "transcripts": (["author", "transcripts"], "PyTorch"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_answer_survives_every_command(answered, command):
    folder, content = answered
    words, said = COMMANDS[command]
    if command == "outputs":  # and those after it: the notebooks of the course take minutes
        for path in [*folder.glob("notebooks/*.ipynb"), *folder.glob("solutions/*.ipynb")]:
            path.unlink()
        for name in ("solutions/tiny.ipynb", "notebooks/00_start_here.ipynb"):
            nbformat.write(TINY, folder / name)
    result = run(folder, *words, cwd=folder)
    assert said in result.stdout + result.stderr and "Traceback" not in result.stderr, result.stderr
    assert_nothing_is_lost(folder, content)


def test_every_command_is_among_those_that_an_answer_survives(here):
    assert set(COMMANDS) == {*here.COMMANDS, *here.AUTHOR}


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """Folders with the solutions and the exercises of one chapter, in a git repository where there is git."""
    from tools import generate

    for folder in ("solutions", "exercises"):
        (tmp_path / folder).mkdir()
        shutil.copy(ROOT / folder / "01_requires_grad.ipynb", tmp_path / folder)
    monkeypatch.setattr(generate, "_ROOT", tmp_path)
    generate.exercise = tmp_path / "exercises" / "01_requires_grad.ipynb"
    return generate


def change_the_solution(workshop, text="A text that the author has changed."):
    path = workshop._ROOT / "solutions" / "01_requires_grad.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = text
    nbformat.write(notebook, path)


def test_exercises_that_are_named_are_made_and_the_answers_kept(workshop, capsys):
    untouched, answered = workshop.exercise.read_bytes(), answer(workshop.exercise)
    assert workshop.main([]) == 1 and workshop.exercise.read_bytes() == answered
    assert "`exercises 01` makes it" in capsys.readouterr().out
    for number in (1, 2):
        answer(workshop.exercise)
        assert workshop.main(["01"]) == 0 and workshop.exercise.read_bytes() == untouched
        kept = workshop.exercise.with_name(f"01_requires_grad.ipynb.kept-{number}")
        assert kept.read_bytes() == answered and kept.name in capsys.readouterr().out


@pytest.mark.parametrize("what", ["an added cell", "a note in the text", "no notebook any more"])
def test_whatever_is_written_in_an_exercise_is_left(workshop, what):
    notebook = nbformat.read(workshop.exercise, as_version=4)
    if what == "an added cell":
        notebook.cells.append(nbformat.v4.new_code_cell("x = 3"))
    notebook.cells[0].source += "\n\nMy own note." if what == "a note in the text" else ""
    nbformat.write(notebook, workshop.exercise)
    if what == "no notebook any more":
        workshop.exercise.write_text("<<<<<<< a conflict", encoding="utf-8")
    content = workshop.exercise.read_bytes()
    assert workshop.main([]) == 1 and workshop.exercise.read_bytes() == content


def test_a_name_that_no_exercise_has_is_said(workshop):
    with pytest.raises(SystemExit, match="no exercises '7'"):
        workshop.main(["7"])


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed: it knows what the author has changed")
def test_an_author_who_changes_a_solution_is_not_asked(workshop):
    """The exercise is what the committed solution makes: nobody has written in it. A committed answer is still one."""
    git = [
        "git",
        "-C",
        str(workshop._ROOT),
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b.c",
        "-c",
        "commit.gpgsign=false",
    ]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "as it is"]):
        subprocess.run([*git, *words], check=True)
    change_the_solution(workshop)
    assert workshop.main([]) == 0 and "the author has changed" in workshop.exercise.read_text(encoding="utf-8")
    answered = answer(workshop.exercise)
    subprocess.run([*git, "commit", "-qam", "with an answer"], check=True)
    change_the_solution(workshop, "Changed again.")
    assert workshop.main([]) == 1 and workshop.exercise.read_bytes() == answered


@pytest.mark.parametrize("event", ["the disk is full", "it is saved meanwhile", "a cell fails"])
def test_outputs_are_stored_whole_or_not_at_all(tmp_path, monkeypatch, event):
    from tools import files, refresh_outputs

    path = tmp_path / "one.ipynb"
    nbformat.write(TINY, path)
    before = path.read_bytes()

    def execute(client):
        if event == "it is saved meanwhile":
            path.write_bytes(before + b"\n")
        if event == "a cell fails":
            raise refresh_outputs.CellExecutionError("", "NameError", "x")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(refresh_outputs.NotebookClient, "execute", execute)
    if event == "the disk is full":
        monkeypatch.setattr(files.os, "replace", full)
        with pytest.raises(OSError):
            refresh_outputs.refresh(path)
    else:
        assert refresh_outputs.refresh(path).startswith("left as it is")
    assert path.read_bytes().startswith(before) and list(tmp_path.iterdir()) == [path]


# --- The environment: found, mended, made anew ---------------------------------------------------


def test_new_requirements_are_installed(ready):
    with (ready / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("# one more\n")
    assert "Installing the packages" in run(ready, "test").stdout
    assert "Installing the packages" not in run(ready, "test").stdout


def test_a_learner_waits_for_the_course_alone_and_who_tests_for_the_rest(scratch):
    make_environment(scratch / ".venv", pip="import sys; print(*sys.argv)")
    log = scratch / ".venv" / "minigrad-install.log"
    assert "packages of the course" in run(scratch, "--no-browser").stdout
    assert log.read_text(encoding="utf-8").split()[-2:] == ["-e", ".[course]"]
    assert "Installing" not in run(scratch, "fresh", "05").stdout
    assert "packages of the tests" in run(scratch, "test").stdout
    assert log.read_text(encoding="utf-8").split()[-2:] == ["-e", ".[course,test]"]
    for words in (["test"], ["--no-browser"], ["author", "pages"]):
        assert "Installing" not in run(scratch, *words).stdout, "whoever has the tests has the course"


def test_a_course_that_is_not_there_yet_is_not_called_tests(scratch):
    make_environment(scratch / ".venv")
    assert "packages of the course" in run(scratch, "test").stdout


def test_another_place_for_the_environment(here, tmp_path, monkeypatch):
    monkeypatch.setenv("MINIGRAD_VENV", str(tmp_path / "else" / "where"))
    here.main(["test"])
    assert here.made == [tmp_path / "else" / "where"]


def test_a_relative_place_is_one_from_where_it_is_typed(scratch, tmp_path):
    make_environment(tmp_path / "work" / "here")
    result = run(scratch, "test", cwd=tmp_path / "work", MINIGRAD_VENV="here")
    assert result.returncode == 0, result.stderr
    assert str(tmp_path / "work" / "here") in result.stdout


def test_a_folder_that_is_no_environment_is_left_alone(ready, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    assert_one_sentence(run(ready, "test", MINIGRAD_VENV=str(tmp_path)), "no virtual environment: let MINIGRAD_VENV")
    assert (tmp_path / "thesis.txt").exists()


def test_a_link_that_leads_nowhere_is_said(scratch, tmp_path):
    (scratch / ".venv").symlink_to(tmp_path / "gone")
    assert_one_sentence(run(scratch, "test"), "in the way", "delete it")


def test_an_environment_of_the_users_own_that_is_broken_is_left_alone(ready, tmp_path):
    make_environment(tmp_path / "mine")
    shutil.rmtree(tmp_path / "mine" / PACKAGES / "pip")
    assert_one_sentence(run(ready, "test", MINIGRAD_VENV=str(tmp_path / "mine")), "in the way")
    assert list(tmp_path.iterdir()) == [tmp_path / "mine"]


def without_pyvenv_cfg(folder):
    """As Ctrl-C in pip and once more in the next start leave it. Its Python is the user's own."""
    (folder / "pyvenv.cfg").unlink()


def without_a_package(folder):
    shutil.rmtree(folder / PACKAGES / "pip")


def with_another_python(folder):
    """As after an upgrade of the system: the packages are in the folder of the version before."""
    shutil.move(folder / PACKAGES, folder / "lib-of-python-3.11")
    (folder / PACKAGES).mkdir()


def with_a_python_that_is_gone(folder):
    for python in (folder / ("Scripts" if os.name == "nt" else "bin")).glob("python*"):
        python.unlink()


def with_an_unfinished_installation(folder):
    (folder / "minigrad-unfinished").touch()
    (folder / "minigrad-installed").unlink()


BREAK = [without_pyvenv_cfg, without_a_package, with_another_python, with_a_python_that_is_gone]
BREAK += [with_an_unfinished_installation]


@pytest.mark.parametrize("break_it", BREAK, ids=lambda breaks: breaks.__name__)
def test_an_environment_that_is_none_is_made_anew(here, break_it):
    folder = here.ROOT / ".venv"
    here.main(["test"])
    here.main(["test"])
    assert here.made == [folder], "one that is complete is left as it is"
    (folder / "jupyter").mkdir()
    (folder / "jupyter" / "dark theme").touch()
    break_it(folder)
    here.main(["test"])
    assert here.made == [folder, folder] and environment.Environment(folder).is_complete()
    assert (folder / "jupyter" / "dark theme").exists(), "what the learner has set in JupyterLab stays"


def test_a_python_that_is_too_old_is_no_environment(here, monkeypatch):
    here.main(["test"])
    monkeypatch.setattr(environment, "OLDEST_PYTHON", (3, 99))
    assert not environment.Environment(here.ROOT / ".venv").is_whole()


def test_two_starts_at_once_install_once(scratch):
    slowly = "import time; open('installed', 'a').write('once '); time.sleep(1)"
    make_environment(scratch / ".venv", pip=slowly)
    both = [start(scratch), start(scratch)]
    printed = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], printed
    assert (scratch / "installed").read_text() == "once "
    assert sum("Another start is installing the packages" in out for out, _ in printed) == 1


INSTALLING = "import time; open('installing', 'w').close(); time.sleep({})"


@POSIX
def test_ctrl_c_while_installing_is_one_line_and_the_next_run_starts_afresh(scratch, here):
    make_environment(scratch / ".venv", pip=INSTALLING.format(60))
    process = start(scratch)
    wait_for(scratch / "installing")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to course.py and to pip
    printed, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")
    assert printed.splitlines()[-1] == "Stopped: run the same line again to go on."
    here.main(["test"])  # a pip that was stopped may have left half a package
    assert here.made == [scratch / ".venv"]


@POSIX
def test_a_pip_that_outlives_a_killed_start_is_waited_for(scratch):
    make_environment(scratch / ".venv", pip=INSTALLING.format(60))
    first = start(scratch)
    wait_for(scratch / "installing")
    first.kill()
    first.communicate(timeout=60)  # its pipes are its own: pip writes into its log
    second = start(scratch)
    try:
        assert "Another start is installing" in second.stdout.readline()
    finally:
        for process in (first, second):
            os.killpg(process.pid, signal.SIGKILL)
        second.communicate()


# --- What the user's machine is like -------------------------------------------------------------


def refuse_writing(monkeypatch, folder):
    """Whoever runs the tests may be root, who may write everywhere."""
    access = os.access
    monkeypatch.setattr(environment.os, "access", lambda path, mode: Path(path) != folder and access(path, mode))


def test_a_read_only_course_is_one_sentence(here, monkeypatch):
    refuse_writing(monkeypatch, here.ROOT)
    with pytest.raises(here.Problem, match="is read-only: copy it to a place where you may write"):
        here.main(["test"])


def test_an_environment_of_another_user_is_used_while_it_is_complete(here, monkeypatch):
    here.main(["test"])
    refuse_writing(monkeypatch, here.ROOT / ".venv")
    here.main(["test"])
    (here.ROOT / "pyproject.toml").write_text("# one more\n", encoding="utf-8")
    with pytest.raises(here.Problem, match=r"is not up to date and belongs to .*: delete it, or set .* MINIGRAD_VENV"):
        here.main(["test"])


def test_a_full_disk_is_said_before_anything_is_installed(scratch, monkeypatch):
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, 3 * 10**7))
    (scratch / ".venv").mkdir()
    with pytest.raises(environment.Problem, match=r"need about 700 MB and the disk of .* has 30 MB left"):
        environment.Environment(scratch / ".venv").make()


def test_a_disk_that_pip_fills_is_said_with_what_is_needed(scratch, monkeypatch):
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, 3 * 10**7))
    there = environment.Environment(scratch / ".venv")
    there.folder.mkdir()
    there.log.write_text("ERROR: [Errno 28] No space left on device", encoding="utf-8")
    assert "need about 700 MB" in there.why_pip_failed()


def test_a_place_where_no_folder_can_be_made_is_one_sentence(ready, tmp_path):
    (tmp_path / "a file").touch()
    result = run(ready, "test", MINIGRAD_VENV=str(tmp_path / "a file" / "venv"))
    assert_one_sentence(result, "cannot be made", "a file")


def test_what_is_set_for_other_pythons_and_jupyters_is_left_out(scratch):
    noted = "import os, json; json.dump(dict(os.environ), open('noted', 'w'))"
    make_environment(scratch / ".venv", pip=noted)
    hidden = scratch / "hidden"
    hidden.mkdir()
    for name in ("json", "hashlib", "difflib", "ast"):
        (hidden / f"{name}.py").write_text("raise SystemError('not the real one')", encoding="utf-8")
    others = {"PYTHONPATH": str(hidden), "PIP_USER": "1", "JUPYTER_PATH": "/their/own", "JUPYTERLAB_DIR": "/their/own"}
    result = run(scratch, "test", **others)
    assert result.returncode == 0, result.stderr
    seen = json.loads((scratch / "noted").read_text(encoding="utf-8"))
    assert seen["PIP_USER"] == "0" and not {"PYTHONPATH", "JUPYTER_PATH", "JUPYTERLAB_DIR"} & set(seen)


def test_jupyter_keeps_its_files_in_the_environment(scratch):
    """The home folder may be read-only, or not be there."""
    make_environment(scratch / ".venv")
    (scratch / "pytest.py").write_text("import os; print(*sorted(k for k, v in os.environ.items() if '.venv' in v))")
    printed = run(scratch, "test", HOME=str(scratch / "nowhere")).stdout
    assert {"JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR"} <= set(
        printed.split()
    )


@POSIX
@pytest.mark.parametrize("why", ["others can read it", "it is another user's", "it cannot be made"])
def test_jupyter_uses_the_home_folder_where_the_environment_is_not_private(tmp_path, monkeypatch, why):
    here = environment.Environment(tmp_path / ("not there" if why == "it cannot be made" else ""))
    if why == "others can read it":  # as on a disk without rights
        here.jupyter.mkdir()
        here.jupyter.chmod(0o755)
    if why == "it is another user's":
        monkeypatch.setattr(environment.os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert here.private_places() == {}


def test_a_terminal_that_cannot_show_the_path_is_no_error(tmp_path):
    folder = make_scratch(tmp_path / "课程")
    make_environment(folder / ".venv")
    result = run(folder, "test", PYTHONIOENCODING="cp1252")
    assert result.returncode == 0, result.stderr
    assert "??" in result.stdout, "what runs in the environment prints the path, too"
    assert "??" in run(folder, "--version", PYTHONIOENCODING="cp1252").stdout


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no file names that are no text")
def test_a_path_that_is_no_text_is_one_sentence(tmp_path):
    folder = make_scratch(tmp_path / os.fsdecode(b"caf\xe9"))
    assert_one_sentence(run(folder, "test"), "there are bytes in it that are no text")


# --- What pip says -------------------------------------------------------------------------------

SAID = {
    "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] ...')) Max retries exceeded": (
        "does not trust the certificate",
        "PIP_CERT",
    ),
    "WARNING: Retrying after connection broken by 'NewConnectionError(...)'": (
        "cannot reach the Python package index",
    ),
    # What a pip says for whom a process of its own speaks.
    "error: subprocess-exited-with-error\n      ERROR: No matching distribution found for x\n"
    "error: subprocess-exited-with-error": ("ERROR: No matching distribution found for x",),
    "  ERROR: Could not find a version that satisfies the requirement x (from versions: none)": (
        "finds nothing where it looks",
        "pip config debug",
    ),
    "Configuration file could not be loaded.\nFile contains no section headers.\n'user = true'": (
        "cannot read its settings",
    ),
}


@pytest.mark.parametrize("said", SAID)
def test_a_pip_that_fails_is_one_sentence_with_its_log(scratch, said):
    make_environment(scratch / ".venv", pip=f"print({said!r}); raise SystemExit(1)")
    assert_one_sentence(run(scratch, "test"), *SAID[said], "minigrad-install.log")


def test_a_pip_without_room_on_a_disk_that_has_some_names_the_temporary_files(scratch):
    said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    make_environment(scratch / ".venv", pip=f"print({said!r}); raise SystemExit(1)")
    assert_one_sentence(run(scratch, "test"), "a quota", "temporary files", "make room")


@pytest.mark.parametrize("place", ["variables", "file"])
def test_no_setting_of_pip_sends_the_packages_elsewhere(ready, tmp_path, place):
    """Those that would install elsewhere, or nothing; prefix and root are in no file that anybody has."""
    settings = {"target": tmp_path / "t", "dry-run": "true", "no-deps": "true", "user": "true"}
    if place == "variables":
        settings |= {"prefix": tmp_path / "p", "root": tmp_path / "r", "python": sys.executable}
        given = {f"PIP_{name.upper().replace('-', '_')}": str(value) for name, value in settings.items()}
    else:
        lines = [f"{name} = {value}\n" for name, value in settings.items()]
        (tmp_path / "pip.conf").write_text("[install]\n" + "".join(lines), encoding="utf-8")
        given = {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    want(ready, "")
    (ready / ".venv" / "minigrad-installed").unlink()
    for installed in (ready / ".venv" / PACKAGES).glob("*scratch*"):
        shutil.rmtree(installed) if installed.is_dir() else installed.unlink()
    result = run(ready, "test", **given)
    assert result.returncode == 0, result.stderr
    assert list((ready / ".venv" / PACKAGES).glob("scratch-*")), "it was installed elsewhere"
    assert {path.name for path in tmp_path.iterdir()} <= {"pip.conf"}


def want(scratch, package):
    """Let the tests need this package: what is written in the file makes the environment incomplete."""
    (scratch / "needs-test").write_text(package, encoding="utf-8")
    (scratch / "pyproject.toml").write_text(f"{PROJECT}# {package}\n", encoding="utf-8")


def unreachable_index():
    """An address where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/simple"


@pytest.mark.parametrize(
    ("variables", "parts"),
    [
        ({"PIP_INDEX_URL": unreachable_index()}, ["cannot reach the Python package index"]),
        ({"PIP_NO_INDEX": "1"}, ["finds nothing where it looks", "minigrad-needs-this"]),
    ],
    ids=["no network", "no such package"],
)
def test_the_real_pip_is_understood_and_the_next_run_mends_it(ready, variables, parts):
    want(ready, "minigrad-needs-this==1.0")
    alone = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
    result = run(ready, "test", PIP_RETRIES="1", NO_PROXY="127.0.0.1", **alone, **variables)
    assert_one_sentence(result, *parts, "minigrad-install.log")
    want(ready, "")
    mended = run(ready, "test")
    assert mended.returncode == 0, mended.stderr


# --- JupyterLab ----------------------------------------------------------------------------------


def test_jupyterlab_asks_nothing_and_shows_markdown_as_it_looks(ready):
    share = ready / ".venv" / "share" / "jupyter"
    settings = json.loads((share / "lab" / "settings" / "overrides.json").read_text(encoding="utf-8"))
    assert settings["@jupyterlab/apputils-extension:notification"] == {"fetchNews": "false"}
    assert settings["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"] == {"markdown": "Markdown Preview"}
    assert settings["@jupyterlab/notebook-extension:tracker"] == {"scrollPastEnd": False}


def test_the_kernel_says_what_is_stored_in_every_notebook():
    """Else JupyterLab changes a notebook when it opens it. tests/browser looks at JupyterLab itself."""
    for path in [path for folder in ("notebooks", "exercises") for path in (ROOT / folder).glob("[0-9]*.ipynb")]:
        metadata = nbformat.read(path, as_version=4).metadata
        assert metadata.kernelspec == {
            "name": "python3",
            "display_name": environment.KERNEL["display_name"],
            "language": environment.KERNEL["language"],
        }
        assert f"language_info = {dict(metadata.language_info)}" in environment.AS_STORED


def test_a_kernel_starts_in_silence(tmp_path):
    """What a kernel says of itself stands in the terminal, below the address of the course."""
    manager = KernelManager(connection_file=str(tmp_path / "kernel.json"))
    manager._kernel_spec = KernelSpec(**environment.KERNEL)
    with (tmp_path / "said").open("w+") as said:
        manager.start_kernel(stdout=said, stderr=said)
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert (tmp_path / "said").read_text() == ""


@pytest.mark.parametrize(("system", "file"), [("6.8.0-45-generic", True), ("5.15.90.1-microsoft-standard-WSL2", False)])
def test_a_windows_browser_gets_the_address_and_no_file(monkeypatch, system, file):
    monkeypatch.setattr(lab.platform, "release", lambda: system)
    assert ("--ServerApp.use_redirect_file=False" in lab.options(ROOT, [])) is not file


def test_what_is_typed_goes_before_what_the_course_sets():
    chosen = lab.options(ROOT, ["--ServerApp.root_dir=/else/where", "--port", "9999"])
    assert chosen[-3:] == ["--ServerApp.root_dir=/else/where", "--port", "9999"]
    assert [option for option in chosen if "root_dir" in option] == chosen[-3:-2]
    assert f"--ServerApp.root_dir={ROOT}" in lab.options(ROOT, [])


def test_the_last_line_says_where_the_course_is_and_how_to_stop_it(answered):
    folder, content = answered
    process = start(folder, "--no-browser")
    line = next((line for line in process.stdout if "The course is at" in line), None)
    assert line, process.stderr.read()
    assert "/lab/tree/notebooks/00_start_here.ipynb?token=" in line and "to stop it: Ctrl-C" in line
    port, token = re.search(r":(\d+)/.*token=(\w+)", line).groups()
    local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with local.open(f"http://localhost:{port}/custom/custom.css?token={token}", timeout=30) as style:
        assert b"word-break" in style.read(), "the course's style is served"
    time.sleep(1)  # JupyterLab looks for language servers meanwhile, and would say that there are none
    if os.name == "nt":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGTERM)
    rest, errors = process.communicate(timeout=60)
    assert "not recognized" not in errors, errors
    assert "Skipped" not in rest and len(rest.splitlines()) <= 1, rest  # that it was stopped
    assert_nothing_is_lost(folder, content)
