"""Honest notebooks through the real grader: every right answer of every chapter, and a hundred idioms around one."""

import copy
import csv
import importlib
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("IPython")

from banks import idioms
from banks.classroom import ROOT

from tools.grading import material

BANKS = [importlib.import_module(f"banks.{path.stem}") for path in sorted((ROOT / "tests/banks").glob("ch??.py"))]
IDIOMS = {name: source for name, source in idioms.IDIOMS.items() if find_spec(idioms.NEEDS.get(name, "json"))}
LINUX_ONLY = {"shell", "shell-result", "shell-variable", "bash", "sh", "python-cell", "processes", "tmp", "os-system"}
if os.name == "nt":
    IDIOMS = {name: source for name, source in IDIOMS.items() if name not in LINUX_ONLY}


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def with_answers(notebook, answers):
    """A copy of a notebook with other code in some answer cells; what begins with %% stands in a cell of its own."""
    notebook = copy.deepcopy(notebook)
    cells = []
    for cell in notebook["cells"]:
        source = answers.get(cell["id"].removeprefix("answer-")) if cell["id"].startswith("answer-") else None
        if source is not None and source.startswith("%%"):
            cells.append({"cell_type": "code", "id": f"added-{cell['id']}", "metadata": {}, "source": source})
        elif source is not None:
            cell["source"] = source
        cells.append(cell)
    return notebook | {"cells": cells}


def right_answers():
    """Notebooks by learner: the solutions of a chapter; then the next right one to each exercise that has another."""
    for bank in BANKS:
        solved = read(ROOT / "solutions" / f"{bank.NOTEBOOK}.ipynb")
        yield f"right-{bank.__name__[-4:]}", bank.NOTEBOOK, solved
        for number in range(max(map(len, bank.RIGHT.values()))):
            answers = {name: right[number] if number < len(right) else "" for name, right in bank.RIGHT.items()}
            yield f"right-{bank.__name__[-4:]}-{number}", bank.NOTEBOOK, with_answers(solved, answers)


def idiomatic(names):
    """The solutions of chapter 01, each answer below an idiom."""
    solved = read(ROOT / "solutions" / "01_requires_grad.ipynb")
    cells = {cell["id"].removeprefix("answer-"): "".join(cell["source"]) for cell in solved["cells"]}
    exercises = [cell["id"].removeprefix("answer-") for cell in solved["cells"] if cell["id"].startswith("answer-")]
    answers = {}
    for exercise, name in zip(exercises, names, strict=False):
        idiom = IDIOMS[name].replace("{exercise}", exercise)
        answers[exercise] = idiom if idiom.startswith("%%") else f"{idiom}\n{cells[exercise]}"
    return with_answers(solved, answers)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What the grader says of all of them, by learner."""
    folder = tmp_path_factory.mktemp("honest") / "class"
    books = list(right_answers())
    names = list(IDIOMS)
    for start in range(0, len(names), 10):
        books.append((f"idioms-{start // 10}", "01_requires_grad", idiomatic(names[start : start + 10])))
    for learner, stem, notebook in books:
        (folder / learner).mkdir(parents=True)
        (folder / learner / f"{stem}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        if learner.startswith("idioms"):
            for name, content in idioms.BESIDE.items():
                (folder / learner / name).parent.mkdir(exist_ok=True)
                (folder / learner / name).write_text(content)
    command = [sys.executable, "-m", "tools.grading", str(folder), "--out", str(folder.with_name("grades"))]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "worth a look" not in ended.stdout
    with Path(folder.with_name("grades"), "answers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lost(rows):
    return [row for row in rows if row["result"] != "passed" or row["points"] != row["possible"]]


def test_every_right_answer_gets_all_its_points(answers, capsys):
    rows = [row for row in answers if row["learner"].startswith("right-") and row["result"] != "unanswered"]
    assert not lost(rows)
    exercises = sum(len(bank.RIGHT) for bank in BANKS)
    assert len({row["exercise"] for row in rows}) == exercises >= 111
    unusual = sum(len(right) for bank in BANKS for right in bank.RIGHT.values())
    assert len(rows) == exercises + unusual
    with capsys.disabled():
        print(f"\n{exercises} solutions and {unusual} unusual right answers: all points")


def test_an_honest_idiom_costs_nothing(answers, capsys):
    rows = [row for row in answers if row["learner"].startswith("idioms-") and "helper" not in row["file"]]
    assert not lost(rows)
    assert len(IDIOMS) >= 100
    # It ran: what stands above the answer has raised nothing, but where that is the idiom.
    assert [row["notes"] for row in rows if row["notes"] and "Unexpected" not in row["notes"]] == []
    with capsys.disabled():
        print(f"\n{len(IDIOMS)} idioms: all points")


def test_the_judge_of_every_exercise_can_be_tried_out():
    """There is a right and a wrong answer to each."""
    for stem, sheet in material.read_sheets().items():
        assert material.known_answers(stem).keys() == {task.id for task in sheet.tasks}
