"""The learner's desk: what lies there, what a new version of the course does to it, and predictions in its chapters."""

import copy
import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from exercises.checks.beliefs import BELIEFS
from minigrad.jupyter import predictions as given
from tools import desk, files, predictions

ROOT = Path(__file__).resolve().parents[1]
CHAPTER, EXERCISE = "notebooks/01_small.ipynb", "exercises/01_small.ipynb"


def chapter(*sources, **changed):
    """A chapter whose cells are called a, b, c ...: text where the source begins with a #, else code with an output."""
    cells = []
    for name, source in zip("abcdefgh", sources, strict=False):
        make = new_markdown_cell if source.startswith("#") else new_code_cell
        cells.append(make(changed.get(name, source), id=name))
        if make is new_code_cell:
            cells[-1].outputs = [nbformat.v4.new_output("stream", text="an answer\n")]
    return new_notebook(cells=cells)


FIRST = ("# Title", "x = 1", "# **Predict.** What is x?", "print(x)")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with one chapter and its exercises, in a folder of its own; and its desk."""
    for folder in ("notebooks", "exercises", "solutions"):
        (tmp_path / folder).mkdir()
    nbformat.write(chapter(*FIRST), tmp_path / CHAPTER)
    for page in desk.PAGES:
        (tmp_path / "notebooks" / page).write_text("a page", encoding="utf-8")
    solution = new_notebook(
        cells=[
            new_markdown_cell("# Exercises", id="title"),
            new_code_cell("answer = ...\n### BEGIN SOLUTION\nanswer = 42\n### END SOLUTION", id="answer"),
        ]
    )
    nbformat.write(solution, tmp_path / "solutions" / "01_small.ipynb")
    (tmp_path / EXERCISE).write_text(desk.text_of(desk.generate.exercise_notebook(copy.deepcopy(solution))))
    monkeypatch.setattr(desk, "ROOT", tmp_path)
    monkeypatch.delenv("MINIGRAD_DESK", raising=False)
    return tmp_path


def sources(path):
    return {cell.id: cell.source for cell in nbformat.read(path, 4).cells}


def change(path, **cells):
    """Put other sources into cells; None takes one out, an unknown name adds one at the end."""
    notebook = nbformat.read(path, 4)
    notebook.cells = [cell for cell in notebook.cells if cells.get(cell.id, "") is not None]
    for cell in notebook.cells:
        cell.source = cells.get(cell.id, cell.source)
    known = {cell.id for cell in notebook.cells}
    notebook.cells += [new_code_cell(source, id=id) for id, source in cells.items() if source and id not in known]
    nbformat.write(notebook, path)
    return path.read_bytes()


# --- What lies there -------------------------------------------------------------------------------


def test_a_new_desk_has_chapters_without_outputs_and_nothing_that_is_not_the_learners(course, capsys):
    folder = desk.prepared()
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert found == sorted([desk.STATE, CHAPTER, EXERCISE, *(f"notebooks/{page}" for page in desk.PAGES)])
    assert "an answer" not in (folder / CHAPTER).read_text(encoding="utf-8")
    assert sources(folder / CHAPTER)["d"] == f"{given.LINE} \nprint(x)" and "42" not in (folder / EXERCISE).read_text()
    assert str(folder) in capsys.readouterr().out
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    desk.prepared()
    assert capsys.readouterr().out == "" and before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_every_link_of_the_course_works_on_the_desk():
    names = desk.names()
    for name in (name for name in names if name.endswith(".ipynb")):
        for cell in desk.as_new(name).cells:
            for link in re.findall(r"\]\(([^)#]+)", cell.source):
                target = (Path("/") / Path(name).parent / link).resolve().relative_to("/").as_posix()
                assert link.startswith("https://") or target in names, f"{name}, cell {cell.id}: {link}"
            leaves = re.search(r"""["']\.\.["'/]""", cell.source)
            assert cell.cell_type != "code" or not leaves, f"{name}, cell {cell.id}, reads what is not on the desk"


def test_answers_and_progress_from_before_the_desk_are_taken_along(course, capsys):
    content = change(course / EXERCISE, answer="answer = 41")
    (course / "exercises" / desk.PROGRESS).write_text('{"version": 1}')
    folder = desk.prepared()
    assert (folder / EXERCISE).read_bytes() == content == (course / EXERCISE).read_bytes()
    assert (folder / desk.PROGRESS).read_text() == '{"version": 1}' and "taken along" in capsys.readouterr().out
    (folder / desk.PROGRESS).write_text("newer")
    desk.prepared()
    assert (folder / desk.PROGRESS).read_text() == "newer"


# --- A new version of the course --------------------------------------------------------------------

MINE, NEWER = "x = 1  # mine", "x = 1  # newer"
UPDATES = {  # what the learner did, what the course did, and what stands there then (* is a note of the course)
    "nothing": ({}, {}, {"b": "x = 1"}),
    "it changed a cell": ({}, {"b": NEWER}, {"b": NEWER}),
    "I changed a cell": ({"b": MINE}, {}, {"b": MINE}),
    "I changed one, it another": ({"b": MINE}, {"a": "# Other"}, {"a": "# Other", "b": MINE}),
    "both changed it": ({"b": MINE}, {"b": NEWER}, {"b": MINE, "note-1": desk.NOTE, "new-1": NEWER}),
    "both, to the same": ({"b": NEWER}, {"b": NEWER}, {"b": NEWER}),
    "it has a new cell": ({"mine": "y"}, {"e": "y = 2"}, {"e": "y = 2", "mine": "y"}),
    "I took one out": ({"b": None}, {"a": "# Other"}, {"a": "# Other", "b": None}),
    "I took one out, it changed it": ({"b": None}, {"b": NEWER}, {"b": NEWER}),
    "it took one out": ({}, {"b": None}, {"b": None}),
    "it took one out that I changed": ({"b": MINE}, {"b": None}, {"b": MINE}),
    "I predicted": ({"d": f"{given.LINE} 1\nprint(x)"}, {"b": NEWER}, {"b": NEWER, "d": f"{given.LINE} 1\nprint(x)"}),
}


@pytest.mark.parametrize("case", UPDATES)
def test_a_new_version_brings_what_is_new_and_leaves_what_is_mine(course, capsys, case):
    mine, theirs, then = UPDATES[case]
    folder = desk.prepared()
    before = change(folder / CHAPTER, **mine)
    change(course / CHAPTER, **theirs)
    capsys.readouterr()
    desk.prepared()
    found = sources(folder / CHAPTER)
    assert {id: found.get(id) for id in then} == then
    assert len(found) == len(FIRST) + 2 + sum((text is not None) - (id in "abcd") for id, text in then.items())
    written = (folder / CHAPTER).read_bytes()
    assert (CHAPTER in capsys.readouterr().out) == (written != before), "it says what it did"
    desk.prepared()
    assert (folder / CHAPTER).read_bytes() == written, "the next start has nothing to do"


def test_what_is_known_of_a_question_is_brought_to_a_cell_that_is_mine(course, monkeypatch):
    folder = desk.prepared()
    change(folder / CHAPTER, d=f"{given.LINE} 1\nprint(x)")
    monkeypatch.setattr(predictions, "answers", lambda: {"01.d": ("1", "M08")})
    monkeypatch.setattr(desk, "mark", lambda name: "another")
    desk.prepared()
    cell = nbformat.read(folder / CHAPTER, 4).cells[3]
    assert cell.source == f"{given.LINE} 1\nprint(x)" and cell.metadata.prediction.belief == BELIEFS["M08"]


def test_new_cells_stand_where_the_course_has_them_and_outputs_stay(course):
    folder = desk.prepared()
    notebook = nbformat.read(folder / CHAPTER, 4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="kept")]
    notebook.cells.insert(2, new_code_cell("my own", id="mine"))
    nbformat.write(notebook, folder / CHAPTER)
    newer = chapter(*FIRST)
    newer.cells.insert(2, new_markdown_cell("# Between", id="between"))
    nbformat.write(newer, course / CHAPTER)
    desk.prepared()
    cells = nbformat.read(folder / CHAPTER, 4).cells
    assert [cell.id for cell in cells][:6] == ["a", "b", "between", "mine", "c", "d"]
    assert cells[1].outputs[0].text == "kept"


@pytest.mark.parametrize(
    "lost", ["the note", "half of the note", "the notebook is none", "it is gone", "the course's is none"]
)
def test_where_something_is_broken_nothing_of_the_learners_is_replaced(course, capsys, lost):
    folder = desk.prepared()
    content = change(folder / CHAPTER, b=MINE)
    if lost == "the note":
        (folder / desk.STATE).unlink()
    elif lost == "half of the note":
        (folder / desk.STATE).write_text('{"notebooks/01')
    elif lost == "the notebook is none":
        (folder / CHAPTER).write_bytes(content[:300])
    elif lost == "it is gone":
        (folder / CHAPTER).unlink()
    change(course / CHAPTER, a="# Newer")
    if lost == "the course's is none":
        (course / CHAPTER).write_text("<<<<<<< a conflict")
    capsys.readouterr()
    desk.prepared()
    if lost == "the notebook is none":
        assert (folder / CHAPTER).read_bytes() == content[:300] and "course.py fresh" in capsys.readouterr().out
        desk.main(["01"])
        assert (folder / "notebooks" / "01_small.kept-1.ipynb").read_bytes() == content[:300]
    elif lost == "the course's is none":
        assert sources(folder / CHAPTER)["b"] == MINE and "cannot be read (NotJSONError)" in capsys.readouterr().out
    elif lost == "it is gone":
        assert sources(folder / CHAPTER)["a"] == "# Newer"
    else:
        assert sources(folder / CHAPTER)["b"] == MINE


def test_a_page_that_was_written_in_is_kept(course, capsys):
    folder = desk.prepared()
    (folder / "notebooks" / "recap.md").write_text("a page with my notes")
    for page in desk.PAGES[:2]:
        (course / "notebooks" / page).write_text("a newer page")
    desk.prepared()
    assert (folder / "notebooks" / "recap.md").read_text() == "a newer page"
    assert (folder / "notebooks" / "recap.kept-1.md").read_text() == "a page with my notes"
    assert not list((folder / "notebooks").glob("glossary.kept*")) and "recap.kept-1.md" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["01", "notebooks/01", "01_small", "desk/notebooks/01_small.ipynb", "notebooks\\01"])
def test_fresh_gives_a_chapter_back_and_keeps_the_old_one(course, capsys, word):
    folder = desk.prepared()
    new = (folder / CHAPTER).read_bytes()
    for number in (1, 2):
        content = change(folder / CHAPTER, b=f"{MINE} {number}")
        desk.main([word])
        assert (folder / CHAPTER).read_bytes() == new
        kept = folder / "notebooks" / f"01_small.kept-{number}.ipynb"
        assert kept.read_bytes() == content and kept.name in capsys.readouterr().out
    desk.main([word])
    assert "nothing was done" in capsys.readouterr().out and "42" not in (folder / EXERCISE).read_text()


@pytest.mark.parametrize("words", [[], ["7"], ["12"], ["five"], ["01", "99"], ["solutions/01"]], ids=" ".join)
def test_fresh_without_a_chapter_does_nothing(course, words):
    folder = desk.prepared()
    content = change(folder / CHAPTER, b=MINE)
    with pytest.raises(SystemExit, match=r"course\.py fresh 05"):
        desk.main(words)
    assert (folder / CHAPTER).read_bytes() == content


@pytest.mark.parametrize("do", [desk.prepared, lambda: desk.main(["01"])], ids=["start", "fresh"])
def test_a_full_disk_is_one_sentence_and_nothing_is_lost(course, monkeypatch, do):
    folder = desk.prepared()
    content = change(folder / CHAPTER, b=MINE)
    change(course / CHAPTER, a="# Newer")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", full)
        with pytest.raises(SystemExit, match=r"cannot be written \(No space left on device\)"):
            do()
    assert content in [path.read_bytes() for path in (folder / "notebooks").glob("01_small*")]
    desk.prepared()
    assert sources(folder / CHAPTER)["a"] == "# Newer"


def test_the_desk_may_be_elsewhere(course, monkeypatch, tmp_path):
    monkeypatch.setenv("MINIGRAD_DESK", str(tmp_path / "my own"))
    assert desk.prepared() == tmp_path / "my own" and not (course / "desk").exists()


# --- A day's work -----------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed: it knows whether a clone is clean")
def test_after_a_day_on_the_desk_a_clone_is_clean_and_predictions_were_compared(course, monkeypatch):
    """A chapter is run, an exercise solved, both saved, one given back as new: the kernel is a learner's."""
    shutil.copy(ROOT / ".gitignore", course)
    git = ["git", "-C", str(course), "-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    cells = ("# T", "import minigrad as mg", "# **Predict.** 1 + 1?", "1 + 1", "# **Predict.** And now?", "%%expect")
    newer = chapter(*cells, f="%%expect ZeroDivisionError\nprint(2)\n1 / 0")
    nbformat.write(newer, course / CHAPTER)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "as it is"]):
        subprocess.run([*git, *words], check=True)
    folder = desk.prepared()
    for name in ("MINIGRAD_PROGRESS", "PYTEST_VERSION", "PYTEST_CURRENT_TEST"):
        monkeypatch.delenv(name, raising=False)
    solve = "from exercises.checks import ch00 as check; check.warm_up(30)"
    mine = {"d": f"{given.LINE} three\n1 + 1", "mine": f"{given.LINE} 3\n1 + 2", "none": f"{given.LINE}\n5", "s": solve}
    magic, line, rest = sources(folder / CHAPTER)["f"].split("\n", 2)
    assert (magic, line) == ("%%expect ZeroDivisionError", f"{given.LINE} ")
    change(folder / CHAPTER, **mine, f=f"{magic}\n{line}an error\n{rest}", end="%predictions 01")
    notebook = nbformat.read(folder / CHAPTER, 4)
    NotebookClient(notebook, resources={"metadata": {"path": str(folder / "notebooks")}}, timeout=60).execute()
    nbformat.write(notebook, folder / CHAPTER)
    shown = {
        cell.id: [one.get("data", {}).get("text/plain") for one in cell.get("outputs", [])] for cell in notebook.cells
    }
    assert shown["d"] == ["2", "You predicted “three”. It came otherwise."]
    assert shown["f"] == [None, "You predicted “an error”. It came so."]
    assert shown["mine"] == ["3", "You predicted “3”. It came so."] and shown["none"] == ["5"]
    assert shown["end"][0].startswith(
        "You predicted 3 times: 2 came so, 1 came otherwise.\n· 1 + 1?\n  you: three\n  it: 2"
    )
    assert json.loads((folder / desk.PROGRESS).read_text())["exercises"]["ch00.warm_up"]["solved"]
    desk.main(["01"])
    assert not subprocess.run([*git, "status", "--porcelain"], capture_output=True, check=True).stdout


# --- What the chapters ask for -----------------------------------------------------------------------


def questions():
    """The cells that answer a "Predict", by chapter and cell, with what they show."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        for cell, question in predictions.asked(nbformat.read(path, 4), path.name[:2]):
            found[f"{path.name[:2]}.{cell.id}"] = (cell, question)
    return found


QUESTIONS = questions()


def test_every_answer_belongs_to_a_question_and_is_accepted():
    answers = predictions.answers()
    lines = [line for line in predictions.ANSWERS.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    assert len(answers) == len(lines), "a line is not understood, or there twice"
    assert set(answers) <= set(QUESTIONS) and len(QUESTIONS) > 250
    for name, (answer, belief) in answers.items():
        said = " ".join(group.split("|")[0] for group in answer.split() if group[0] != "!")
        assert given.compare(said, "", answer) == given.CAME_SO, name
        assert given.compare("No idea, perhaps", "", answer) == given.YOURS_TO_JUDGE, name
        assert belief in BELIEFS or not belief, name


# Counted or worked out by the reader, from what is printed or drawn.
NOT_PRINTED = {"02.retain-leaf", "02.table-eight", "03.order-doubling-grad", "06.steps-window", "09.penalty-define"}
NOT_PRINTED |= {"02.clear-break", "06.target-stands"}


@pytest.mark.parametrize("name", [name for name in predictions.answers() if name not in NOT_PRINTED])
def test_a_number_among_the_answers_is_what_the_cell_prints(name):
    answer, outputs = predictions.answers()[name][0], QUESTIONS[name][0].outputs
    shown = "".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in outputs)
    is_drawn = any({"text/html", "image/png"} & set(output.get("data", {})) for output in outputs)
    for group in answer.split() if shown and not is_drawn else []:
        numbers = [word for word in given.tokens(group.replace("|", " ")) if given.kind(word) == "number"]
        printed = [one for one in numbers for token in given.tokens(shown) if given.is_same(one, token)]
        assert printed or not numbers or group[0] == "!" or len(numbers) < len(group.split("|")), shown
