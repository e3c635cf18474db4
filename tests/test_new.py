"""`course.py new` makes drafts that pass the tests and say that they are drafts, or it changes nothing."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("IPython")

from exercises.checks import kit
from tools import new, pages

ROOT = Path(__file__).resolve().parents[1]
# What the tests of a draft read.
FOLDERS = ("benchmarks", "exercises", "minigrad", "notebooks", "solutions", "tests", "tools")
FILES = ("README.md", "conftest.py", "course.py", "pyproject.toml")
LONG = "the_name_that_is_longest_of_30"
JUDGES = ("graders", "notebooks", "pages", "layers", "exercises_generated", "new")


def all_drafts():
    chapters = [path for path in pages.chapters(ROOT / "notebooks") if new.is_draft(path.path)]
    exercises = [f"{path.stem}: {name}" for path in new.solutions() for name in new.drafts(path)]
    return [chapter.path.stem for chapter in chapters] + exercises


def test_drafts_are_listed_and_no_release_has_one(capsys):
    with capsys.disabled():
        print(f"\ndrafts: {', '.join(all_drafts()) or 'none'}")
    assert os.environ.get("GITHUB_REF_TYPE") != "tag" or not all_drafts()


def test_what_is_a_draft_says_so_everywhere():
    known = dict(kit.all_chapters())
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        chapter, solution = known[path.name[:2]], ROOT / "solutions" / path.name
        said = {chapter.title.startswith(new.DRAFT), pages.ABOUT[chapter.number].startswith(new.DRAFT)}
        if solution.exists():
            said.add(f": {new.DRAFT}" in nbformat.read(solution, as_version=4).cells[0].source)
            titles = [one.name for one in chapter.exercises.values() if one.title.startswith(new.DRAFT)]
            assert new.drafts(solution) == titles
        assert said == {new.is_draft(path)}, path.name


# --- Making them, in a copy of the course ----------------------------------------------------------


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the course, in which only notebook 00 counts exercises, for chapter 11 takes long to run."""
    folder = tmp_path_factory.mktemp("course")
    ignore = shutil.ignore_patterns(".*", "fuzz", "browser", "fixtures")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    last = folder / "notebooks" / "11_training.ipynb"
    last.write_text(last.read_text(encoding="utf-8").replace("_panel()", "_panel"), encoding="utf-8")
    return folder


@pytest.fixture
def at_copy(copy, monkeypatch):
    monkeypatch.setattr(new, "ROOT", copy)
    return copy


def run(folder, *command):
    variables = {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")} | variables,
        capture_output=True,
        text=True,
        timeout=300,
    )


def judged(folder, expression):
    tests = [f"tests/test_{name}.py" for name in JUDGES]
    return run(folder, "pytest", "-q", "-p", "no:cacheprovider", "-n0", *tests, "-k", expression)


@pytest.fixture(scope="module")
def made(copy):
    """The copy with a draft of a chapter, and a draft of one more exercise in a chapter that was there."""
    for words in (("chapter", "15", "sparse_grads"), ("exercise", "3", LONG)):
        done = run(copy, "tools.new", *words)
        assert done.returncode == 0, done.stderr
        assert "Made a draft of" in done.stdout
    return copy


def test_a_draft_passes_the_tests_and_is_listed(made):
    drafts = f"ch15 or 15_sparse or {LONG} or drafts_are_listed or says_so"
    done = judged(made, f"{drafts} or (large_enough and ch03) or out_of_date or readme or are_generated or in_sets")
    assert done.returncode == 0, done.stdout[-3000:]
    assert f"drafts: 15_sparse_grads, 03_the_graph: {LONG}, 15_sparse_grads: first" in done.stdout
    assert "ch15: killed 1 / total 1" in done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 60


def test_its_stored_outputs_are_those_of_a_run(made):
    notebooks = (
        "notebooks/15_sparse_grads.ipynb",
        "solutions/15_sparse_grads.ipynb",
        "solutions/03_the_graph.ipynb",
    )
    done = run(made, "pytest", "-q", "-p", "no:cacheprovider", "-n0", "--nbval", "--nbval-current-env", *notebooks)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="ruff is installed by those who change the course")
@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_ruff_has_nothing_to_say_to_a_draft(made, command):
    done = run(made, "ruff", *command, "--no-cache", ".")
    assert done.returncode == 0, done.stdout


def test_what_is_no_draft_any_more_has_to_be_whole(made):
    """Without "Draft: " in its title, the exercise has too few wrong answers, and the check's title disagrees."""
    solution = made / "solutions" / "03_the_graph.ipynb"
    text = solution.read_text(encoding="utf-8")
    solution.write_text(text.replace("11. Draft: ", "11. "), encoding="utf-8")
    done = judged(made, "(large_enough and ch03) or says_so")
    solution.write_text(text, encoding="utf-8")
    assert re.search(r"FAILED \S+::test_the_bank_is_large_enough\[ch03\]", done.stdout)
    assert re.search(r"FAILED \S+::test_what_is_a_draft_says_so_everywhere", done.stdout)
    assert "2 failed" in done.stdout


# --- Refusing, and leaving everything as it was ------------------------------------------------------


def refused(folder, *words):
    """What is said to these words; nothing may have changed."""
    before = new.contents()
    assert all(path.is_relative_to(folder) for path in before)
    with pytest.raises(SystemExit) as stop:
        new.main(list(words))
    assert new.contents() == before
    assert "\n" not in stop.value.code and stop.value.code.endswith(".")
    return stop.value.code


@pytest.mark.parametrize(
    "words,part",
    {
        "": "Type",
        "exercise": "Type",
        "exercise 05": "Type",
        "exercise 05 a b": "Type",
        "lesson 05 name": "Type",
        "exercise 00 name": "choose one of 01, 02",
        "exercise 17 name": "choose one of 01, 02",
        "exercise * name": "choose one of 01, 02",
        "exercise ../05 name": "choose one of 01, 02",
        "exercise 05 often": "is taken",
        "exercise 5 often": "is taken",
        "exercise 05 kit": "is taken",
        "exercise 05 chapter": "is taken",
        "exercise 05 score": "is taken",
        "exercise 05 mg": "is taken",
        "exercise 05 sum": "means something in Python",
        "exercise 05 lambda": "means something in Python",
        "exercise 05 display": "means something in Python or Jupyter",
        "exercise 05 Name": "no name for an exercise",
        "exercise 05 x": "no name for an exercise",
        "exercise 05 two-words": "no name for an exercise",
        "exercise 05 ../name": "no name for an exercise",
        "exercise 05 f\N{LATIN SMALL LETTER U WITH DIAERESIS}nf": "no name for an exercise",
        f"exercise 05 {'long' * 8}": "30 characters at most",
        "chapter": "Type",
        "chapter forward_mode": "no name for a chapter",
        "chapter 12": "no name for a chapter",
        "chapter forward mode": "no name for a chapter",
        "chapter 12 forward mode": "Type",
        "chapter 05 another": "is there already (notebooks/05_retain_graph.ipynb)",
        "chapter 16-memory": "no name for a chapter",
        "chapter 16_Memory": "no name for a chapter",
        "chapter ../16_memory": "no name for a chapter",
        f"chapter 13_{'long' * 8}": "30 characters at most",
        "chapter \N{ARABIC-INDIC DIGIT ONE}3_memory": "no name for a chapter",
        "chapter 05_retain_graph": "is there already (notebooks/05_retain_graph.ipynb)",
        "chapter 05_another": "is there already (notebooks/05_retain_graph.ipynb)",
        "chapter 00_before": "is there already",
    }.items(),
)
def test_what_cannot_be_made_is_refused_in_a_sentence(at_copy, words, part):
    assert part in refused(at_copy, *words.split())


def test_what_was_made_is_not_made_again(made, at_copy):
    assert "is there already" in refused(made, "chapter", "15_sparse_grads")
    assert "is taken" in refused(made, "exercise", "3", LONG)
    assert "is taken" in refused(made, "exercise", "15", "first")


def test_a_full_chapter_takes_no_more(at_copy, monkeypatch):
    monkeypatch.setattr(new, "MOST_EXERCISES", 10)
    assert "has 10 exercises, which is the most" in refused(at_copy, "exercise", "05", "one_more")


def test_answers_that_were_typed_into_an_exercise_are_not_lost(at_copy):
    exercise = at_copy / "exercises" / "03_the_graph.ipynb"
    text = exercise.read_text(encoding="utf-8")
    exercise.write_text(text.replace("...", "42", 1), encoding="utf-8")
    try:
        assert "03_the_graph.ipynb is not what solutions/" in refused(at_copy, "exercise", "05", "one_more")
        assert "03_the_graph.ipynb is not what solutions/" in refused(at_copy, "chapter", "16_memory")
    finally:
        exercise.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", ["exercises/checks/ch05.py", "solutions/05_retain_graph.ipynb"])
def test_a_file_with_a_conflict_is_a_sentence(at_copy, name):
    text = (at_copy / name).read_text(encoding="utf-8")
    (at_copy / name).write_text("<<<<<<< HEAD\n" + text, encoding="utf-8")
    try:
        assert "Nothing was made" in refused(at_copy, "exercise", "05", "one_more")
    finally:
        (at_copy / name).write_text(text, encoding="utf-8")


def test_a_full_disk_is_a_sentence(at_copy, monkeypatch):
    def full(path, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(new.files, "write", full)
    assert "No space left" in refused(at_copy, "exercise", "05", "one_more")


@pytest.mark.parametrize("step", ["tools.pages", "tools.refresh_outputs"])
def test_a_step_that_fails_leaves_everything_as_it_was(at_copy, monkeypatch, step):
    said = f"`python -m {step}` failed"
    monkeypatch.setattr(
        new.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, step in command)
    )
    assert said in refused(at_copy, "chapter", "16_memory")


def test_ctrl_c_leaves_everything_as_it_was(at_copy, monkeypatch):
    before = new.contents()

    def interrupted(command, **_):
        assert new.contents() != before
        raise KeyboardInterrupt

    monkeypatch.setattr(new.subprocess, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        new.main(["chapter", "16_memory"])
    assert new.contents() == before
