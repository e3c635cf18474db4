"""A class of simulated learners, honest and hostile, graded in one run: each gets exactly what it deserves."""

import contextlib
import copy
import csv
import html.parser
import importlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

pytest.importorskip("IPython")

from banks.classroom import ROOT, Classroom

from tools.grading import material, processes, submissions, tables, walls, worker
from tools.grading.__main__ import Grading, grade_all
from tools.grading.journal import Graded, Journal
from tools.grading.submissions import Handed
from tools.grading.supervisor import Limits, NotStarted, Result, _Messages

BANKS = {name: importlib.import_module(f"banks.{name}") for name in ("ch01", "ch02")}
NOTEBOOKS = {name: bank.NOTEBOOK for name, bank in BANKS.items()}
SHEETS = material.read_sheets()
POSSIBLE = sum(task.points for task in SHEETS[NOTEBOOKS["ch01"]].tasks)  # in the notebook that most tests hand in
MARKER = "minigrad-left-behind"
TASK_SECONDS, SECONDS = 4, 90


def solved(chapter="ch01"):
    """The solved notebook of a chapter, as a learner would hand it in."""
    return copy.deepcopy(read(ROOT / "solutions" / f"{NOTEBOOKS[chapter]}.ipynb"))


def untouched(chapter="ch01"):
    return copy.deepcopy(read(ROOT / "exercises" / f"{NOTEBOOKS[chapter]}.ipynb"))


@cache
def read(path):
    return json.loads(json.dumps(nbformat.read(path, as_version=4)))  # each source as one text


def cell(notebook, id):
    return next(one for one in notebook["cells"] if one["id"] == id)


def with_answers(answers, chapter="ch01"):
    """A solved notebook with other code in some answer cells."""
    notebook = solved(chapter)
    for exercise, source in answers.items():
        cell(notebook, f"answer-{exercise}")["source"] = source
    return notebook


def code(source, id="added"):
    return {"cell_type": "code", "id": id, "metadata": {}, "source": source, "outputs": [], "execution_count": None}


@dataclass
class Learner:
    """What is handed in, and what has to come of it: every exercise passes but those in `but`."""

    name: str
    content: bytes
    chapter: str | None = "ch01"
    but: dict = field(default_factory=dict)  # exercise -> (status, diagnosis or '')
    notes: dict = field(default_factory=dict)  # exercise -> what its notes say
    file: str = ""
    odd: str = ""  # what is worth a look

    @property
    def path(self):
        return self.file or f"{self.name}/{NOTEBOOKS[self.chapter or 'ch01']}.ipynb"

    def expected(self):
        """By exercise id: status and diagnosis."""
        if self.chapter is None:
            return {}
        ids = [task.id for task in SHEETS[NOTEBOOKS[self.chapter]].tasks]
        plain = {id: self.but.get(id.partition(".")[2], ("passed", "passed")) for id in ids}
        return plain


def learner(name, notebook, **options):
    content = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
    return Learner(name, content, **options)


NOT_ANSWERED = ("unanswered", "unanswered")
NOT_GRADED = ("not graded", "not-graded")


def everywhere(result, chapter="ch01"):
    return {task.id.partition(".")[2]: result for task in SHEETS[NOTEBOOKS[chapter]].tasks}


# --- Honest learners -----------------------------------------------------------------------------


def believers():
    """For each belief that the checks of these chapters diagnose, a learner who holds it throughout a chapter."""
    found = {}
    for chapter, bank in BANKS.items():
        room = Classroom(ROOT / "solutions" / f"{bank.NOTEBOOK}.ipynb")
        for exercise, answers in bank.WRONG.items():
            for name, source in answers.items():
                verdict, _ = room.check(exercise, source)
                mine = found.setdefault(verdict.belief, (chapter, {}))
                if mine[0] == chapter:
                    mine[1].setdefault(exercise, (name.partition("/")[0], source))
    found.pop("", None)
    for belief, (chapter, answers) in sorted(found.items()):
        notebook = with_answers({exercise: source for exercise, (_, source) in answers.items()}, chapter)
        but = {exercise: ("wrong", code) for exercise, (code, _) in answers.items()}
        yield learner(f"believes-{belief}", notebook, chapter=chapter, but=but)


def honest():
    for chapter in BANKS:
        yield learner(f"perfect-{chapter}", solved(chapter), chapter=chapter)
    yield learner("empty", untouched(), but=everywhere(NOT_ANSWERED))
    yield learner("syntax-error", with_answers({"spread": "flags = {'k': "}), but={"spread": NOT_ANSWERED})
    shuffled = solved()
    shuffled["cells"].reverse()
    yield learner("reversed", shuffled)
    answers_only = solved()
    answers_only["cells"] = [one for one in answers_only["cells"] if one["id"].startswith("answer-")]
    yield learner("only-answers", answers_only)
    gone = solved()
    gone["cells"] = [one for one in gone["cells"] if one["id"] not in ("answer-cut", "setup", "test-spread")]
    yield learner("deleted-cells", gone, but={"cut": NOT_ANSWERED})
    yield learner("wrong-kernel", solved() | {"metadata": {"kernelspec": {"name": "julia-1.9", "display_name": "J"}}})
    yield learner("no-metadata", without_metadata(solved()))
    copied = solved()
    copied["cells"].append(copy.deepcopy(cell(copied, "answer-spread")))
    cell(copied, "answer-spread")["source"] = "flags = None"
    yield learner("duplicate-ids", copied)
    split = solved()
    where = split["cells"].index(cell(split, "answer-spread"))
    split["cells"][where]["source"] = "one = True"
    split["cells"].insert(where + 1, code("flags = dict(k=not one, a=not one, b=one, c=one, d=not one, e=one)"))
    yield learner("split-cell", split)
    yield learner("renamed", solved(), file="renamed/My homework (final) (2).ipynb")
    yield learner("no-folder", solved(), file="no-folder_01_requires_grad.ipynb")
    yield learner("utf-16", json.dumps(solved()).encode("utf-16"))
    accents = with_answers({"spread": "# déjà vu\n" + cell(solved(), "answer-spread")["source"]})
    yield learner("latin-1", json.dumps(accents, ensure_ascii=False).encode("latin-1", "replace"))
    if os.name != "nt":  # where a file may have such a name
        yield learner("<b>1+1&'", solved(), file="<b>1+1&'_01_requires_grad.ipynb")
    yield learner("=cmd", untouched("ch02"), chapter="ch02", but=everywhere(("", None), "ch02"))


def without_metadata(notebook):
    return notebook | {"cells": [one | {"metadata": {}} for one in notebook["cells"]]}


def unreadable():
    whole = json.dumps(solved()).encode()
    yield learner("half-a-file", whole[: len(whole) // 2], chapter=None)
    yield learner("empty-file", b"", chapter=None)
    yield learner("a-picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), chapter=None)
    yield learner("json-but-no-notebook", b'{"cells": 3}', chapter=None)
    yield learner("another-notebook", json.dumps(solved() | {"cells": [code("1")]}).encode(), chapter=None)
    yield learner("deep", b"[" * 200_000, chapter=None)


# --- Hostile learners ----------------------------------------------------------------------------

# What stands above the right answer of an exercise and ends its process: that exercise is not graded, and why.
# All the others must still pass.
ENDS_IT = {
    "endless-loop": ("while True: pass", "stopped after"),
    "os-exit": ("import os; os._exit(0)", "ended the process (exit code 0)"),
    "aborts": ("import os; os.abort()", "ended the process (signal 6)"),
    "kills-itself": ("import os; os.kill(os.getpid(), 9)", "ended the process (signal 9)"),
    "no-builtins": ("import builtins\nfor name in list(vars(builtins)): delattr(builtins, name)", "ended the process"),
    "closes-files": ("import os; os.closerange(0, 64)", "ended the process"),
    "endless-swallower": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "stopped after",
    ),
}
# What costs nothing, for the judge is not reached by it.
HARMLESS = {
    "prints-much": "for _ in range(2000): print('x' * 100_000)",
    "print-replaced": "print = lambda *a, **k: None\nimport sys; sys.stdout = sys.stderr = None",
    "sys-exit": "import sys; sys.exit(1)",
    "raises-everything": "raise BaseException('no')",
    "interrupts": "raise KeyboardInterrupt",
    "endless-thread": "import threading, time\n"
    "threading.Thread(target=lambda: [time.sleep(1) for _ in iter(int, 1)]).start()",
    "recursion": "def f(): return f()\nf()",
    "check-replaced": "check = type('check', (), dict(spread=print, tracked=print))",
    "check-in-the-module": "check.spread = check.tracked = lambda answer: None",
    "shell-replaced": "get_ipython().run_cell = None",
    "modules-replaced": "import sys\nfor name in [n for n in sys.modules if 'exercises' in n]: del sys.modules[name]",
    "memory-in-a-cell": "import numpy; hoard = numpy.ones(1 << 40)",
    "syntax": "def broken(:",
    "deep-folders": "import os\nfor _ in range(3000):\n    os.mkdir('deep'); os.chdir('deep')",
    "closed-folder": "import os; os.makedirs('a/b'); os.chmod('a', 0)",
    "another-builtin": "import builtins; builtins.sorted = lambda items, **options: list(items)",
}
NONSENSE = """
import os, json
for fd in range(3, 64):
    for one in ([], {}, 3, {"event": "verdict", "task": 99}, {"event": "verdict", "task": 1, "status": 7}, "a" * 10**6):
        try: os.write(fd, json.dumps(one).encode() + b"\\n")
        except OSError: pass
"""
# It fills what the judge reads, says itself what the judge would say, and waits.
FILLS_ITS_PIPES = """
import fcntl, json, os, stat, time
if os.fork():
    time.sleep(1000)
said = [{"event": one, "task": n, "status": "wrong", "memory": 0} for n in range(TASKS) for one in ("begin", "verdict")]
said = "".join(json.dumps(one) + "\\n" for one in [*said, {"event": "end"}]).encode()
fds = [fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISFIFO(os.stat(fd).st_mode)]
reads = [fd for fd in fds if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY]
for fd in [os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK) for fd in reads]:
    try:
        while True:
            os.write(fd, b"x" * 4096)
    except OSError:
        pass
for fd in set(fds) - set(reads):
    os.write(fd, said)
""".replace("TASKS", str(len(SHEETS[NOTEBOOKS["ch01"]].tasks)))
PARENT = "import os, time; os.kill(os.getppid(), 9); time.sleep(0.5)"
PATCH = """
from exercises.checks import ch01
for one in ch01.chapter.exercises.values():
    object.__setattr__(one, "judge", lambda answer: "fine")
"""
# The process leaves its group, twice.
LEAVES_PROCESSES = f"""
import subprocess, sys
child = "import os, time\\nif not os.fork():\\n    os.setsid()\\n    os.fork()\\n    time.sleep(600)\\ntime.sleep(600)"
subprocess.Popen([sys.executable, "-c", child, "{MARKER}"])
import time; time.sleep(0.5)
"""


def hostile():
    yield from packed("ends", {name: prelude for name, (prelude, _) in ENDS_IT.items()}, ENDS_IT)
    yield from packed("harmless", HARMLESS)
    yield after("nonsense", NONSENSE, odd="lines of its own")
    yield after("patches-the-judge", PATCH, odd="its code changed the judge")
    yield endless_function()
    yield from hoarders()
    yield from cheats()
    if sys.platform.startswith("linux"):
        yield after("leaves-processes-behind", LEAVES_PROCESSES)
        yield after("fills-its-pipes", FILLS_ITS_PIPES, but=everywhere(("wrong", None)), odd="could not be tried out")


def packed(name, preludes, said=()):
    """A few learners with each of these in a cell of its own above the right answer to another exercise."""
    exercises = [task.id.partition(".")[2] for task in SHEETS[NOTEBOOKS["ch01"]].tasks]
    waiting = list(preludes.items())
    while waiting:
        notebook, but, notes = solved(), {}, {}
        for exercise, (which, prelude) in zip(exercises, waiting, strict=False):
            where = notebook["cells"].index(cell(notebook, f"answer-{exercise}"))
            notebook["cells"].insert(where, code(prelude))
            if which in said:
                but[exercise], notes[exercise] = NOT_GRADED, said[which][1]
        yield learner(f"{name}-{len(waiting)}", notebook, but=but, notes=notes)
        waiting = waiting[len(exercises) :]


def after(name, prelude, **expected):
    """The right answer to the first exercise, below something else in the same cell."""
    notebook = solved()
    answer = cell(notebook, "answer-tracked")
    answer["source"] = prelude + "\n" + answer["source"]
    return learner(name, notebook, **expected)


def hoarders():
    """Where memory can be limited, asking for too much of it costs the exercise, and ends nothing else."""
    if sys.platform.startswith("linux"):
        expected = {"but": {"tracked": NOT_GRADED}, "notes": {"tracked": "MB of memory"}}
        yield after("allocates-4-GB", "hoard = bytearray(4 << 30)", **expected)
        yield after("array-of-4-GB", "import numpy; hoard = numpy.ones(1 << 29)", **expected)
        expected.pop("notes")  # the limit of time may come first, where zeroing memory is slow
        yield after("allocates-for-ever", "hoard = []\nwhile True: hoard.append(bytearray(10**8))", **expected)


def endless_function():
    answers = {
        "slope": "def slope(f, x):\n    while True:\n        try:\n            while True: pass\n        except: pass"
    }
    return learner("endless-function", with_answers(answers), but={"slope": ("wrong", "endless")})


def cheats():
    """Nothing answered, but the checks replaced in the notebook, or its points, or its outputs."""
    notebook = untouched()
    for one in notebook["cells"]:
        if one["id"].startswith("test-"):
            one["source"] = "print('Right.')"
            one["metadata"]["nbgrader"]["points"] = 1000
    but = everywhere(NOT_ANSWERED)
    yield learner("cheats-in-the-notebook", notebook, but=but)
    unlocked = untouched()
    for one in unlocked["cells"]:
        if one["id"].startswith("test-"):
            one["metadata"]["nbgrader"] |= {"solution": True, "grade": False, "locked": False}
    yield learner("cheats-in-the-metadata", unlocked, but=but)


# --- The class -----------------------------------------------------------------------------------


@dataclass
class Done:
    """What one run of the grader on all of them left behind."""

    learners: list
    folder: Path
    out: Path
    before: dict
    printed: str
    seconds: float
    answers: list

    def rows(self, name):
        return [row for row in self.answers if row["learner"].lstrip("'") == name]


def run_grader(*words, **options):
    plain = ["--plain"] if os.environ.get("MINIGRAD_WITHOUT_WALLS") else []
    command = [sys.executable, "-m", "tools.grading", *map(str, words), *plain]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400, **options)


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    home = tmp_path_factory.mktemp("class")
    folder, out = home / "collected", home / "grades"
    learners = [*honest(), *believers(), *unreadable(), *hostile()]
    for one in learners:
        path = folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.content)
    begin = time.monotonic()
    limits = ["--exercise-seconds", TASK_SECONDS, "--seconds", SECONDS, "--memory", 600, "--jobs", 2]
    ended = run_grader(folder, "--out", out, *limits)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    before = {one.path: one.content for one in learners}
    seconds = time.monotonic() - begin
    return Done(learners, folder, out, before, ended.stdout, seconds, table(out / "answers.csv"))


NAMES = [one.name for one in [*honest(), *unreadable(), *hostile()]]


def test_there_are_enough_of_them():
    assert len(NAMES) == len(set(NAMES)) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_each_gets_what_it_deserves(done, name):
    (one,) = (each for each in done.learners if each.name == name)
    assert_deserved(done, one)


def test_whoever_holds_a_belief_is_told_so(done):
    holders = [one for one in done.learners if one.name.startswith("believes-")]
    assert len(holders) >= 8
    for one in holders:
        assert_deserved(done, one)


def assert_deserved(done, one):
    """Every exercise of this learner has the result, the diagnosis, the points and the notes that it should."""
    rows = done.rows(one.name)
    if one.chapter is None:
        (row,) = rows
        assert (row["result"], row["points"]) == ("not graded", "0") and row["notes"]
        return
    points = {task.id: task.points for task in SHEETS[NOTEBOOKS[one.chapter]].tasks}
    assert [row["exercise"] for row in rows] == list(points)
    for row in rows:
        status, diagnosis = one.expected()[row["exercise"]]
        assert row["result"] == status or not status, row
        assert row["diagnosis"] == diagnosis or diagnosis is None, row
        assert int(row["points"]) == (points[row["exercise"]] if row["result"] == "passed" else 0)
        assert one.notes.get(row["exercise"].partition(".")[2], "") in row["notes"], row
    points_row = next(row for row in table(done.out / "points.csv") if row["learner"].lstrip("'") == one.name)
    assert one.odd in points_row["worth a look"] and bool(one.odd) == bool(points_row["worth a look"])


def test_nothing_is_left_running(done):
    if not Path("/proc").is_dir():
        pytest.skip("looks for processes in /proc")
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if MARKER.encode() in line]


def test_nobody_has_changed_what_others_handed_in(done):
    assert {name: (done.folder / name).read_bytes() for name in done.before} == done.before
    names = [path.relative_to(done.folder).as_posix() for path in done.folder.rglob("*") if path.is_file()]
    assert sorted(names) == sorted(done.before)


def test_beliefs_are_counted(done):
    rows = table(done.out / "beliefs.csv")
    shown = {(row["learner"], row["belief"]): int(row["wrong answers that show it"]) for row in rows}
    for one in done.learners:
        if one.name.startswith("believes-"):
            belief = one.name.partition("-")[2]
            found = Counter(row["belief"] for row in done.rows(one.name) if row["belief"])
            assert found == {belief: len(one.but)}
            assert shown[one.name, belief] == len(one.but)
    for row in rows:
        if row["learner"] == "perfect-ch02":
            tasks = [task for task in SHEETS[NOTEBOOKS["ch02"]].tasks if row["belief"] in task.beliefs]
            assert int(row["points"]) == sum(task.points for task in tasks)


def test_points_add_up(done):
    for row in table(done.out / "points.csv"):
        by_exercise = [int(value) for id, value in row.items() if id.startswith("ch") and value]
        assert int(row["points"]) == sum(by_exercise)
        assert int(row["possible"]) == sum(SHEETS[name].points for name in NOTEBOOKS.values())


def test_a_name_is_no_formula(done):
    names = {row["learner"] for row in table(done.out / "points.csv")}
    assert "'=cmd" in names and "=cmd" not in names


class Page(html.parser.HTMLParser):
    """Tags, and the text in them."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self.open = Counter(), "", []

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attributes)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_is_whole_and_says_what_it_is_not(done):
    page = Page()
    page.feed((done.out / "grades.html").read_text(encoding="utf-8"))
    assert page.open == []
    assert page.tags["script"] == page.tags["b"] == page.tags["img"] == page.tags["link"] == 0
    assert page.tags["caption"] == page.tags["table"]
    assert "wall" in page.text and "shares a process with the checks" in page.text
    for one in done.learners:
        assert one.name in page.text


def test_the_terminal_has_a_line_for_each(done):
    lines = done.printed.splitlines()
    assert sum(f" of {len(done.learners)}" in line for line in lines) == len(done.learners)
    assert "wall" in done.printed


def test_it_takes_about_a_minute(done, capsys):
    with capsys.disabled():
        print(f"\n{len(done.learners)} notebooks graded in {done.seconds:.0f} s")


# --- Parts ---------------------------------------------------------------------------------------


def test_whose_a_notebook_is(tmp_path):
    for name in (
        "submitted/ada/hw1/01_requires_grad.ipynb",
        "submitted/bob/hw1/.ipynb_checkpoints/x.ipynb",
        "release/hw1/01_requires_grad.ipynb",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = submissions.find(tmp_path, SHEETS)
    assert [(one.learner, one.name) for one in found] == [("ada", "ada/hw1/01_requires_grad.ipynb"), ("bob", "bob/")]
    assert found[1].why == "there is no notebook (.ipynb) in this folder"
    flat = tmp_path / "flat"
    flat.mkdir()
    for name in ("eve_01_requires_grad.ipynb", "02_leaf_nodes-max.IPYNB", "zoe.ipynb", "notes.txt"):
        (flat / name).write_text("")
    assert [one.learner for one in submissions.find(flat, SHEETS)] == ["eve", "max", "zoe"]


ODD_NAMES = (
    "submitted",
    "release",
    "Ada",
    "ada",
    "a b",
    "dot.",
    ".hidden",
    "=cmd",
    "👩‍🔬",
    "n" * 200,
    "日本",
    "-x",
    "'",
)


def test_nobody_is_left_out_whatever_their_name(tmp_path):
    kept = [name for name in ODD_NAMES if os.name != "nt" or name not in ("dot.", "ada")]
    for name in kept:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "01_requires_grad.ipynb").write_text("")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "two" / "submitted" / "hw1").mkdir(parents=True)
    (tmp_path / "two" / "submitted" / "hw1" / "01_requires_grad.ipynb").write_text("")
    (tmp_path / "grades").mkdir()
    for member in ("eve", "max"):
        (tmp_path / "group" / member).mkdir(parents=True)
        (tmp_path / "group" / member / "01_requires_grad.ipynb").write_text("")
    (tmp_path / "group" / "zoe").mkdir()
    (tmp_path / "deep" / "/".join("d" * 40)).mkdir(parents=True)
    found = {one.learner: one.why for one in submissions.find(tmp_path, SHEETS, tmp_path / "grades")}
    nowhere = "there is no notebook (.ipynb) in this folder"
    assert {name for name, why in found.items() if not why} == {*kept, "two", "group/eve", "group/max"}
    assert {name for name, why in found.items() if why == nowhere} == {"nothing", "group/zoe", "deep"}


def test_a_folder_that_nobody_may_read_is_named(tmp_path, monkeypatch):
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "01_requires_grad.ipynb").write_text("")
    read = Path.iterdir
    closed = {tmp_path / "submitted": PermissionError(13, "Permission denied")}
    monkeypatch.setattr(Path, "iterdir", lambda self: refused(closed[self]) if self in closed else read(self))
    found = {one.learner: one.why for one in submissions.find(tmp_path, SHEETS)}
    assert found == {"bob": "", "submitted": "there is no notebook (.ipynb) in this folder"}


def refused(error):
    raise error


@pytest.mark.skipif(os.name == "nt", reason="makes links and a pipe")
def test_only_real_files_are_read_and_the_others_are_named(tmp_path):
    (tmp_path / "ada.ipynb").write_text("")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "ada.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    found = submissions.find(tmp_path, SHEETS)
    assert [(one.learner, bool(one.path)) for one in found] == [("ada", True), ("link", False), ("pipe", False)]
    assert {one.why for one in found[1:]} == {"no file but a link or a device, which is not read"}


def test_a_changed_setup_cell_counts(tmp_path):
    notebook = with_answers({"slope": "def slope(f, x):\n    return mine(f, x)"})
    cell(notebook, "setup")["source"] += "\nimport math as m"
    cell(notebook, "given-constants")["source"] = "mine = 3"
    path = tmp_path / "ada" / "01_requires_grad.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps(notebook))
    handed = submissions.read(submissions.Submission("ada", "ada/x.ipynb", path), SHEETS, "")
    assert handed.answers[0][0].endswith("import math as m")
    given = SHEETS["01_requires_grad"].tasks[5].given
    assert handed.answers[5][:2] == ["mine = 3", *given]


def test_the_best_of_several_counts():
    sheet = SHEETS["01_requires_grad"]
    results = tuple(Result(task, "passed") for task in sheet.tasks)
    none = tuple(Result(task, "unanswered") for task in sheet.tasks)
    graded = [Graded("ada", f"{n}.ipynb", sheet, each) for n, each in enumerate((none, results, none))]
    room = tables.Class([*graded, Graded("ada", "3.ipynb", sheet, why="empty")], Limits())
    assert room.points("ada") == sheet.points


BAD = "<img src=x onerror=alert(1)>\"'&\x1b[2J\x00"


def test_every_field_of_the_page_is_escaped():
    task = SHEETS["01_requires_grad"].tasks[0]
    result = Result(task, "wrong", BAD, "M01", got=BAD, notes=(BAD,))
    graded = [Graded(BAD, BAD, SHEETS["01_requires_grad"], (result,), odd=BAD), Graded(BAD, BAD, None, why=BAD)]
    html = tables.page(tables.Class(graded, Limits()))
    assert "<img" not in html and "\x1b" not in html and "\x00" not in html and "&lt;img" in html
    page = Page()
    page.feed(html)
    assert page.open == []


FORMULAS = ("=1+1", "+1", "-1", "@x", "a;=1+1", "a; @x", "a\t=1", "\t=1", "\r\n=1", " =1", "＝1+1", '";=1', "'=1")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_field_of_a_table_is_a_formula(text):
    task = SHEETS["01_requires_grad"].tasks[0]
    graded = Graded(text, text, SHEETS["01_requires_grad"], (Result(task, "wrong", text, got=text, notes=(text,)),))
    room = tables.Class([graded, Graded(text, "other", None, why=text)], Limits())
    for make in (tables.points_table, tables.beliefs_table, tables.answers_table):
        content = tables._csv(make(room))
        assert not [one for one in content if one < " " and one not in "\r\n"]
        for row in csv.reader(content.splitlines()):
            for field_ in row:
                for part in field_.split(";"):
                    assert part.strip()[:1] not in tuple("=+-@＝＋－＠"), (text, field_)


@pytest.mark.parametrize("words, said", [(["nowhere"], "There is no folder"), (["."], "There is no notebook")])
def test_nothing_to_grade_is_one_sentence(tmp_path, words, said):
    ended = run_grader("--base", tmp_path, *words)
    assert ended.returncode == 1 and said in ended.stderr and len(ended.stderr.splitlines()) == 1


def test_help_says_what_the_wall_is():
    printed = run_grader("--help").stdout
    for part in ("bubblewrap", "plain process", "the same command goes on", "--exercise-seconds", "--fresh", "--plain"):
        assert part in printed


# --- What is finished stays ----------------------------------------------------------------------


def class_of(folder, notebooks):
    for name, notebook in notebooks.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "01_requires_grad.ipynb").write_text(json.dumps(notebook))
    return folder


def contents(out):
    return {path.name: path.read_bytes() for path in out.iterdir() if path.suffix == ".csv"}


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_a_stopped_grading_goes_on_where_it_was(tmp_path):
    slow = with_answers({"tracked": "import time; time.sleep(0.5); tracked = {}"})
    folder = class_of(tmp_path / "c", {"ada": solved(), **dict.fromkeys(("bob", "eve", "max", "zoe"), slow)})
    done = 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        command = [sys.executable, "-m", "tools.grading", str(folder), "--jobs", "1"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout.readline().startswith(f"grading {5 - done} notebook")
        assert any(f" of {POSSIBLE} " in line for line in process.stdout), "a notebook is graded"
        workers = waited_for(partial(workers_of, process.pid)) if Path("/proc").is_dir() else ()
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors
        assert_ended(workers)
        if number == signal.SIGKILL:
            break
        assert process.returncode == 1
        kept = int(re.search(r"Stopped. (\d) of 5 notebooks are graded and kept", errors)[1])
        assert done < kept < 5  # one more; where the machine is busy, the next was graded before the signal came
        done = kept
        rows = table(tmp_path / "c-grades" / "answers.csv")
        assert sum("goes on from there" in row["notes"] for row in rows) == 5 - done
    ended = run_grader(folder, "--jobs", 1)
    left = int(re.match(r"grading (\d) notebook", ended.stdout)[1])
    assert left < 5 - done
    assert f"{5 - left} of 5 were graded before and are as they were; to begin afresh, add --fresh" in ended.stdout
    gone_on = contents(tmp_path / "c-grades")
    ended = run_grader(folder, "--fresh")
    assert "grading 5 notebooks" in ended.stdout
    assert contents(tmp_path / "c-grades") == gone_on


def workers_of(grader):
    """The processes that a grader has started, and those that they have."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
    found = {grader}
    for _ in range(5):
        found |= {pid for pid, parent in parents.items() if parent in found}
    return found - {grader}


def waited_for(ask):
    """What `ask` gives as soon as it is true."""
    until = time.monotonic() + 10
    while not (found := ask()):
        assert time.monotonic() < until
        time.sleep(0.1)
    return found


def assert_ended(pids):
    """They are gone, or soon: a worker finds out within a second that its grader was killed."""
    waited_for(lambda: not any(Path("/proc", str(pid)).exists() for pid in pids))


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_a_killed_grading_leaves_no_folder_behind(tmp_path):
    """A full one would take the room that the same command needs to go on."""
    (rooms := tmp_path / "rooms").mkdir()
    slow = with_answers({"tracked": "open('here', 'w').close()\nimport time; time.sleep(60)"})
    command = [sys.executable, "-m", "tools.grading", str(class_of(tmp_path / "c", {"ada": slow})), "--plain"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, env=os.environ | {"TMPDIR": str(rooms)})
    waited_for(lambda: list(rooms.glob("*/here")))
    process.kill()
    process.wait()
    waited_for(lambda: not list(rooms.iterdir()))


def test_what_was_changed_is_graded_again_and_what_was_our_fault_too(tmp_path):
    one = submissions.Submission("ada", "ada/x.ipynb", None)
    sheet = SHEETS["01_requires_grad"]
    path = tmp_path / "journal.jsonl"
    graded = Graded(
        "ada", "ada/x.ipynb", sheet, (Result(sheet.tasks[0], "wrong", "c", "M01", "came", ("n",)),), odd="o"
    )
    Journal(path).add(graded, "print")
    path.write_bytes(path.read_bytes() + b'{"name": "ada/x.ipynb", "cut of')
    assert Journal(path).before(one, Handed("print"), SHEETS) == graded
    assert Journal(path).before(one, Handed("another"), SHEETS) is None
    Journal(path).add(replace(graded, ours=True), "print")
    assert Journal(path).before(one, Handed("print"), SHEETS) is None


def test_a_line_that_finds_no_room_is_written_later(tmp_path):
    journal = Journal(tmp_path / "there" / "journal.jsonl")
    journal.add(Graded("ada", "ada/x.ipynb", None, why="empty"), "print")
    with pytest.raises(OSError):
        journal.flush()
    (tmp_path / "there").mkdir()
    journal.flush()
    assert Journal(journal.path).done["ada/x.ipynb"]["why"] == "empty"


@pytest.mark.parametrize("fault", [RuntimeError("a bug"), OSError(28, "No space left on device"), RecursionError()])
def test_a_fault_of_ours_is_one_notebooks_own(tmp_path, fault):
    """It is tried once more at the end, alone; and never reaches another."""
    found = [submissions.Submission(name, f"{name}/", None, "nothing there") for name in ("ada", "bob", "eve")]

    def read(one, *_):
        tried.append(one.learner)
        if one.learner == "bob":
            raise fault
        return Handed("print", why=one.why)

    tried = []
    grading = Grading(SHEETS, None, Journal(tmp_path / "journal.jsonl"), "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submissions, "read", read)
        patch.setattr(processes, "end_all", lambda: None)
        graded = {one.learner: one.why for one in grade_all(found, grading, 2)}
    assert graded.keys() == {"ada", "bob", "eve"} and tried[-1] == "bob" and len(tried) == 4
    assert graded["ada"] == "nothing there"
    assert re.search("the grader itself failed on it|this computer could not do its part", graded["bob"])


def test_a_process_that_does_not_begin_is_no_notebooks_fault(tmp_path, monkeypatch):
    """It began too late on a busy machine, or its files found no room, which somebody else's have taken."""
    read, write = os.pipe()
    process = SimpleNamespace(stdout=os.fdopen(read, "rb"))
    with os.fdopen(write, "wb"), pytest.raises(NotStarted, match="nothing came of it within"):
        _Messages(SimpleNamespace(process=process), 1).next("ready", 0.01)
    full = tmp_path / "full"
    monkeypatch.setattr(Path, "write_bytes", lambda self, content: refused(OSError(28, "No space left")))
    with pytest.raises(SystemExit, match="found no room"):
        worker._unpack({str(full): "x"})


# --- Walls ---------------------------------------------------------------------------------------

ATTEMPTS = {
    "tracked": ("import os; os.kill(os.getppid(), 9); raise OSError('still here')", "still here"),
    "spread": ("open({solutions!r} + '/01_requires_grad.ipynb')", "No such file or directory"),
    "leaves": ("open({folder!r} + '/ada/01_requires_grad.ipynb')", "No such file or directory"),
    "before_after": ("open({out!r} + '/points.csv', 'w')", "No such file or directory"),
    "which_raise": ("open(mg.__file__, 'a')", "Read-only file system"),
    "constants": ("open('/outside', 'w')", "Read-only file system"),
    "slope": ("import socket; socket.create_connection(('127.0.0.1', {port}), 2)", "Connection refused"),
    "squared_errors": ("import socket; socket.create_connection(('192.0.2.1', 80), 2)", "Network is unreachable"),
    "cut": ("import os; os.kill({pid}, 0)", "No such process"),
    "diamond": ("f = open('full', 'wb')\nfor n in range(99): open(str(n), 'wb').write(bytes(2**23))", "No space left"),
}


def test_the_wall_keeps_what_it_promises(tmp_path):
    folder = tmp_path / "c"
    why_not = walls.unfit([folder])
    if why_not and not os.environ.get("MINIGRAD_REQUIRE_WALLS"):
        pytest.skip(f"there is no wall to test: {why_not}")
    assert not why_not
    notebook = solved()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port, pid = server.getsockname()[1], os.getpid()
        places = {"solutions": str(ROOT / "solutions"), "folder": str(folder), "out": str(tmp_path / "c-grades")}
        for exercise, (source, _) in ATTEMPTS.items():
            where = notebook["cells"].index(cell(notebook, f"answer-{exercise}"))
            notebook["cells"].insert(where, code(source.format(**places, port=port, pid=pid)))
        ended = run_grader(class_of(folder, {"ada": notebook}))
    assert "behind the wall" in ended.stdout
    rows = {row["exercise"]: row for row in table(tmp_path / "c-grades" / "answers.csv")}
    for exercise, (_, said) in ATTEMPTS.items():
        row = rows[f"ch01.{exercise}"]
        assert row["result"] == "passed" and said in row["notes"], row
    assert "1 of 1 notebooks ran behind the wall of bubblewrap" in (tmp_path / "c-grades" / "grades.html").read_text()


def test_without_a_wall_a_notebook_that_ends_its_parent_ends_nobody_else(tmp_path):
    folder = class_of(tmp_path / "c", {"ada": json.loads(after("ada", PARENT).content), "bob": solved()})
    ended = run_grader(folder, "--plain")
    assert ended.returncode == 0 and "without a wall: --plain was typed" in ended.stdout
    assert [row["points"] for row in table(tmp_path / "c-grades" / "points.csv")] == [str(POSSIBLE)] * 2
