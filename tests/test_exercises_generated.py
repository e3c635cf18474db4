"""exercises/ is what generate.py makes of solutions/, and nbgrader can use both."""

import copy
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from fresh_shell import run_notebook
from nbclient import NotebookClient

from tools import generate

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = sorted((ROOT / "solutions").glob("[0-9][0-9]_*.ipynb"))
by_notebook = pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda path: path.stem)


def test_exercises_are_generated(tmp_path):
    generate.generate(ROOT / "solutions", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in SOLUTIONS]
    for path in tmp_path.iterdir():
        committed = (ROOT / "exercises" / path.name).read_bytes()
        assert path.read_bytes() == committed, f"{path.name}: run `python3 course.py author exercises`"


def test_nothing_but_the_answers_is_taken_out():
    kept = generate.without_solution("a = ...\n### BEGIN SOLUTION\na = 2\n### END SOLUTION\nb = 3")
    assert kept == "a = ...\nb = 3"
    with pytest.raises(ValueError, match="without its"):
        generate.without_solution("### BEGIN SOLUTION\na = 2")


@by_notebook
def test_no_solution_is_left_in_the_exercise(solution):
    cells = nbformat.read(ROOT / "exercises" / solution.name, as_version=4).cells
    for cell, full in zip(cells, nbformat.read(solution, as_version=4).cells, strict=True):
        assert cell.id == full.id
        assert cell.metadata.get("nbgrader") == full.metadata.get("nbgrader")
        assert "SOLUTION" not in cell.source
        assert not cell.get("outputs")


@by_notebook
def test_cells_carry_nbgraders_metadata(solution):
    """Schema 3: an open solution cell and a locked test cell with points for each exercise."""
    cells = nbformat.read(solution, as_version=4).cells
    free = [cell for cell in cells if cell.cell_type == "code" and cell.id == "again"]  # a question, worth no points
    assert not any("nbgrader" in cell.metadata for cell in free)
    marked = [cell for cell in cells if cell.cell_type == "code" and cell not in free]
    assert all(cell.metadata.nbgrader.schema_version == 3 for cell in marked)
    grade_ids = [cell.metadata.nbgrader.grade_id for cell in marked]
    assert len(grade_ids) == len(set(grade_ids))
    for cell in marked:
        flags = cell.metadata.nbgrader
        assert flags.solution == ("BEGIN SOLUTION" in cell.source)
        assert flags.locked != flags.solution
        assert flags.grade == cell.id.startswith("test-")
        assert not flags.grade or flags.points > 0


@by_notebook
def test_title_and_points_are_those_of_the_check(solution):
    """One place for both: the check. `author exercises` writes the notebook's."""
    chapter = importlib.import_module(f"exercises.checks.ch{solution.name[:2]}").chapter
    notebook = nbformat.read(solution, as_version=4)
    tests = [cell.id.removeprefix("test-") for cell in notebook.cells if cell.id.startswith("test-")]
    assert tests == list(chapter.exercises)
    headed = generate.with_headings(copy.deepcopy(notebook), chapter.exercises)
    assert headed == notebook, "run `python3 course.py author exercises`"


@by_notebook
@pytest.mark.parametrize("state", ["untouched", "deleted"])
def test_run_all_without_answers_reaches_the_end(solution, state, tmp_path):
    path = ROOT / "exercises" / solution.name
    ids = [cell.id for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    gone = {id: "" for id in ids if id.startswith("answer-")} if state == "deleted" else {}
    outputs = run_notebook(path, environment_of_a_learner(tmp_path), gone)
    assert ": 0 of " in outputs["score"][0]["data"]["text/plain"]
    assert list(outputs) == ids
    assert all(out["output_type"] == "display_data" for cell in outputs.values() for out in cell)


@by_notebook
def test_a_failed_check_is_a_failed_cell_where_cells_are_graded(solution, tmp_path):
    path = ROOT / "exercises" / solution.name
    outputs = run_notebook(path, environment_of_a_learner(tmp_path) | {"PYTEST_VERSION": "9"})
    for id, shown in outputs.items():
        errors = [out["ename"] for out in shown if out["output_type"] == "error"]
        assert errors == ["CheckFailed"] * id.startswith("test-")
    assert not (tmp_path / "progress.json").exists()


def test_a_failed_check_is_one_line_in_a_kernel(tmp_path):
    notebook = nbformat.read(ROOT / "exercises" / SOLUTIONS[0].name, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": ROOT / "exercises"}},
    )
    client.execute(env=environment_of_a_learner(tmp_path) | {"PYTEST_VERSION": "9"})
    errors = [out for cell in notebook.cells for out in cell.get("outputs", []) if out["output_type"] == "error"]
    assert errors and all(out.ename == "CheckFailed" and len(out.traceback) == 1 for out in errors)


def environment_of_a_learner(tmp_path):
    """Variables for a notebook where a failed check fails no cell, with progress of its own."""
    own = {key: value for key, value in os.environ.items() if key != "PYTEST_VERSION"}
    return own | {"MINIGRAD_PROGRESS": str(tmp_path / "progress.json")}


def answered(notebook, answers):
    """A copy of a notebook with these sources in the cells of these ids."""
    changed = copy.deepcopy(notebook)
    for cell in changed.cells:
        cell.source = answers.get(cell.id, cell.source)
    return changed


nbgrader = pytest.mark.skipif(importlib.util.find_spec("nbgrader") is None, reason="nbgrader is not installed")


# Several commands in one process, which starts once; and sooner where `tools` is imported first.
NBGRADER = """
import sys, tools
from nbgrader import apps
for words in map(str.split, sys.argv[1:]):
    apps.NbGraderApp.launch_instance(words)
    for app in vars(apps).values():
        getattr(app, "clear_instance", str)()
"""


def nbgrader_run(course, *commands):
    """nbgrader commands in a course directory."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTEST_VERSION"}
    environment["PYTHONPATH"] = str(ROOT)
    environment["PATH"] = str(Path(sys.executable).parent) + os.pathsep + environment["PATH"]
    done = subprocess.run(
        [sys.executable, "-c", NBGRADER, *commands],
        cwd=course,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def empty_gradebook(tmp_path_factory):
    """nbgrader's database without entries: to make it takes longer than to grade a chapter."""
    course = tmp_path_factory.mktemp("course")
    nbgrader_run(course, "db upgrade")
    return course / "gradebook.db"


@nbgrader
@by_notebook
def test_nbgrader_generates_grades_and_exports(solution, empty_gradebook, tmp_path):
    name = solution.stem
    shutil.copy(empty_gradebook, tmp_path)
    full = nbformat.read(solution, as_version=4)
    source = tmp_path / "source" / name
    source.mkdir(parents=True)
    nbformat.write(full, source / solution.name)
    nbgrader_run(tmp_path, f"generate_assignment {name} --create")
    release = nbformat.read(tmp_path / "release" / name / solution.name, as_version=4)
    ours = nbformat.read(ROOT / "exercises" / solution.name, as_version=4)
    solved = {cell.id: cell.source for cell in full.cells if cell.id.startswith("answer-")}
    first = next(iter(solved))
    replaced = {cell.id: "None" for cell in full.cells if cell.id.startswith("test-")}
    students = {
        "untouched": release,
        "untouched_ours": answered(release, {c.id: c.source for c in ours.cells}),
        "full": answered(release, solved),
        "one_wrong": answered(release, solved | {first: "tracked = len"}),
        "cheat": answered(release, {first: "check.tracked = len"} | replaced),
    }
    for student, notebook in students.items():
        folder = tmp_path / "submitted" / student / name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / solution.name)
    nbgrader_run(tmp_path, f"autograde {name} --create", "export")
    rows = (tmp_path / "grades.csv").read_text().splitlines()
    header = rows[0].split(",")
    scores = {}
    for row in rows[1:]:
        entry = dict(zip(header, row.split(","), strict=True))
        scores[entry["student_id"]] = (float(entry["score"]), float(entry["max_score"]))
    points = {c.id: c.metadata.nbgrader.points for c in full.cells if c.id.startswith("test-")}
    total = sum(points.values())
    lost = points[first.replace("answer-", "test-")]
    assert scores == {
        "untouched": (0, total),
        "untouched_ours": (0, total),
        "full": (total, total),
        "one_wrong": (total - lost, total),
        "cheat": (0, total),
    }
