"""A class of simulated learners, honest and hostile, graded in one run: each gets exactly what it deserves."""

import copy
import csv
import html.parser
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("IPython")

from banks.classroom import ROOT, Classroom
from banks.forgeries import FORGERIES

from tools.grading import material, submissions, tables
from tools.grading.supervisor import Limits, Result

BANKS = {name: importlib.import_module(f"banks.{name}") for name in ("ch01", "ch02", "ch03", "ch04")}
NOTEBOOKS = {name: bank.NOTEBOOK for name, bank in BANKS.items()}
SHEETS = material.read_sheets()
MARKER = "minigrad-left-behind"
TASK_SECONDS, SECONDS = 8, 90


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
TAMPERED = ("not graded", "tampered")


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

# What stands above the right answer of the first exercise, `tracked`, and what becomes of that exercise.
# All the others must still pass.
PRELUDES = {
    "endless-loop": ("while True: pass", NOT_GRADED, "stopped after"),
    "os-exit": ("import os; os._exit(0)", NOT_GRADED, "ended the process (exit code 0)"),
    "aborts": ("import os; os.abort()", NOT_GRADED, "ended the process"),
    "stops-itself": ("import signal; signal.raise_signal(signal.SIGSTOP)", NOT_GRADED, "stopped after"),
    "closes-files": ("import os; os.closerange(0, 64)", NOT_GRADED, "ended the process"),
    "no-builtins": (
        "import builtins\nfor name in list(vars(builtins)):\n    delattr(builtins, name)",
        NOT_GRADED,
        "ended the process",
    ),
    "another-builtin": ("import builtins; builtins.sorted = lambda *a: []", TAMPERED, "builtins.sorted"),
    "judge-in-memory": (
        "from exercises.checks import kit\nvars(kit)['judge'] = lambda *a: kit.Verdict('passed', 'passed')",
        TAMPERED,
        "kit.judge",
    ),
    "code-of-a-check": (
        "from exercises.checks import kit\nkit.same_values.__code__ = (lambda *a: True).__code__",
        TAMPERED,
        "kit.same_values",
    ),
    "hides-a-builtin": ("from exercises.checks import kit\nvars(kit)['len'] = lambda x: 1", TAMPERED, "kit.len"),
    "numpy-in-memory": ("import numpy\nnumpy.allclose = lambda *a, **k: True", TAMPERED, "numpy.allclose"),
    "tensor-in-memory": ("mg.Tensor.__eq__ = lambda *a: True", TAMPERED, "Tensor.__eq__"),
    "writes-the-report": (
        "import os, json\nfor fd in range(3, 64):\n"
        "    try: os.write(fd, b'0 ' + json.dumps(dict(event='verdict', task=1, status='passed')).encode() + b'\\n')\n"
        "    except OSError: pass",
        NOT_GRADED,
        "wrote into the report",
    ),
}
# What stands in a cell of its own above a right answer, which passes; the notes say what was tried.
REFUSED = {
    "starts-a-program": (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'pass'])",
        "start or end another process",
    ),
    "forks": ("import os; os.fork()", "start or end another process"),
    "kills-the-grader": ("import os; os.kill(os.getppid(), 9)", "start or end another process"),
    "looks-for-the-key": ("import gc; gc.get_objects()", "look into running code"),
    "looks-up-the-stack": ("import inspect; inspect.currentframe()", "look into running code"),
    "shell": ("!echo hello > there", "start or end another process"),
    "network": ("import socket; socket.create_connection(('127.0.0.1', 9))", "use the network"),
    "checks-on-disk": ("from exercises.checks import kit; open(kit.__file__, 'a')", "write outside its own folder"),
    "reads-another": (
        "open({folder!r} + '/perfect-ch01/01_requires_grad.ipynb').read()",
        "read what belongs to others",
    ),
    "lists-others": ("import os; os.listdir({folder!r})", "read what belongs to others"),
    "writes-another": (
        "open({folder!r} + '/perfect-ch01/01_requires_grad.ipynb', 'w')",
        "write outside its own folder",
    ),
    "removes-another": (
        "import os; os.remove({folder!r} + '/perfect-ch01/01_requires_grad.ipynb')",
        "write outside its own folder",
    ),
    "writes-the-results": ("open({out!r} + '/points.csv', 'w').write('mine,100')", "write outside its own folder"),
    "reads-the-solutions": ("open({solutions!r} + '/01_requires_grad.ipynb').read()", "read what belongs to others"),
}
# The same, above the answer to `tracked`, where nothing has to be said.
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
}


def hostile(folder, out):
    paths = {"folder": str(folder), "out": str(out), "solutions": str(ROOT / "solutions")}
    for name, (prelude, result, said) in PRELUDES.items():
        yield after(name, prelude, but={"tracked": result}, notes={"tracked": said})
    yield from refused({name: (prelude.format(**paths), said) for name, (prelude, said) in REFUSED.items()})
    for name, prelude in HARMLESS.items():
        yield after(name, prelude, raises=True)
    yield endless_function()
    yield from hoarders()
    yield from cheats()
    if sys.platform.startswith("linux"):
        yield after("leaves-processes-behind", LEAVES_PROCESSES)


def refused(tries):
    """A few learners who try all of these, each above the answer to another exercise."""
    exercises = [task.id.partition(".")[2] for task in SHEETS[NOTEBOOKS["ch01"]].tasks]
    waiting = list(tries.values())
    while waiting:
        notebook, notes = solved(), {}
        for exercise, (prelude, said) in zip(exercises, waiting, strict=False):
            where = notebook["cells"].index(cell(notebook, f"answer-{exercise}"))
            notebook["cells"].insert(where, code(prelude))
            notes[exercise] = f"tried to {said}: refused"
        yield learner(f"refused-{len(waiting)}", notebook, notes=notes)
        waiting = waiting[len(exercises) :]


def after(name, prelude, raises=False, **expected):
    """The right answer to the first exercise, below something that may raise: an added cell stands above it."""
    notebook = solved()
    where = notebook["cells"].index(cell(notebook, "answer-tracked"))
    if raises:
        notebook["cells"].insert(where, code(prelude))
    else:
        notebook["cells"][where]["source"] = prelude + "\n" + notebook["cells"][where]["source"]
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
    for name, (exercise, result, source) in FORGERIES.items():
        given = cell(untouched(), f"answer-{exercise}")["source"]
        notebook = with_answers({exercise: source.replace("{untouched}", given)})
        yield learner(f"forges-{name}", notebook, but={exercise: result})


# Around the audit hook: it is told of Popen, not of what Popen uses. The process leaves its group, twice.
LEAVES_PROCESSES = f"""
import os, sys, _posixsubprocess
child = "import os, time\\nif not os.fork():\\n    os.setsid()\\n    os.fork()\\n    time.sleep(600)\\ntime.sleep(600)"
words = [os.fsencode(word) for word in (sys.executable, "-c", child, "{MARKER}")]
_posixsubprocess.fork_exec(words, [words[0]], True, (), None, None, -1, -1, -1, -1, -1, -1, *os.pipe(),
                           True, True, -1, None, None, None, -1, None, False)
import time; time.sleep(0.5)
"""


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
    command = [sys.executable, "-m", "tools.grading", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400, **options)


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    home = tmp_path_factory.mktemp("class")
    folder, out = home / "collected", home / "grades"
    learners = [*honest(), *believers(), *unreadable(), *hostile(folder, out)]
    for one in learners:
        path = folder / one.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.content)
    begin = time.monotonic()
    limits = ["--exercise-seconds", TASK_SECONDS, "--seconds", SECONDS, "--memory", 600, "--jobs", 4]
    ended = run_grader(folder, "--out", out, *limits)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    before = {one.path: one.content for one in learners}
    seconds = time.monotonic() - begin
    return Done(learners, folder, out, before, ended.stdout, seconds, table(out / "answers.csv"))


NAMES = [one.name for one in [*honest(), *unreadable(), *hostile(Path("a"), Path("b"))]]


def test_there_are_enough_of_them():
    assert len(NAMES) == len(set(NAMES)) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_each_gets_what_it_deserves(done, name):
    (one,) = (each for each in done.learners if each.name == name)
    assert_deserved(done, one)


def test_whoever_holds_a_belief_is_told_so(done):
    holders = [one for one in done.learners if one.name.startswith("believes-")]
    assert len(holders) >= 15
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


def test_nothing_is_left_running(done):
    if not Path("/proc").is_dir():
        pytest.skip("looks for processes in /proc")
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if MARKER.encode() in line or b"tools.grading import worker" in line]


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
    assert "A limit is not a sandbox" in page.text
    for one in done.learners:
        assert one.name in page.text


def test_the_terminal_has_a_line_for_each(done):
    lines = done.printed.splitlines()
    assert sum(f" of {len(done.learners)}" in line for line in lines) == len(done.learners)
    assert "A limit is not a sandbox" in done.printed


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
    assert [(one.learner, one.name) for one in found] == [
        ("ada", "ada/hw1/01_requires_grad.ipynb"),
        ("bob", "bob/"),
    ]
    flat = tmp_path / "flat"
    flat.mkdir()
    for name in ("eve_01_requires_grad.ipynb", "02_leaf_nodes-max.IPYNB", "zoe.ipynb", "notes.txt"):
        (flat / name).write_text("")
    assert [one.learner for one in submissions.find(flat, SHEETS)] == ["eve", "max", "zoe"]


@pytest.mark.skipif(os.name == "nt", reason="makes links and a pipe")
def test_only_real_files_are_read(tmp_path):
    (tmp_path / "ada.ipynb").write_text("")
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "ada.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")
    assert [one.name for one in submissions.find(tmp_path, SHEETS)] == ["ada.ipynb"]


def test_the_best_of_several_counts():
    sheet = SHEETS["01_requires_grad"]
    results = tuple(Result(task, "passed") for task in sheet.tasks)
    none = tuple(Result(task, "unanswered") for task in sheet.tasks)
    graded = [tables.Graded("ada", f"{n}.ipynb", sheet, each) for n, each in enumerate((none, results, none))]
    room = tables.Class([*graded, tables.Graded("ada", "3.ipynb", sheet, why="empty")], Limits())
    assert room.points("ada") == sheet.points


def test_results_are_escaped():
    task = SHEETS["01_requires_grad"].tasks[0]
    bad = "<img src=x onerror=alert(1)>\x1b[2J"
    result = Result(task, "wrong", "type", "M01", got=bad, notes=(bad,))
    graded = tables.Graded(bad, bad, SHEETS["01_requires_grad"], (result,))
    page = tables.page(tables.Class([graded], Limits()))
    assert "<img" not in page and "\x1b" not in page and "&lt;img" in page


@pytest.mark.parametrize("words, said", [(["nowhere"], "There is no folder"), (["."], "There is no notebook")])
def test_nothing_to_grade_is_one_sentence(tmp_path, words, said):
    ended = run_grader("--base", tmp_path, *words)
    assert ended.returncode == 1 and said in ended.stderr and len(ended.stderr.splitlines()) == 1


def test_help_says_that_a_limit_is_not_a_sandbox():
    printed = run_grader("--help").stdout
    for part in ("A limit is not a sandbox", "docker run", "JupyterHub", "--exercise-seconds"):
        assert part in printed


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_grading_leaves_nothing_running(tmp_path, number):
    notebook = with_answers({"tracked": "while True: pass"})
    for name in ("ada", "bob"):
        (tmp_path / "c" / name).mkdir(parents=True)
        (tmp_path / "c" / name / "01_requires_grad.ipynb").write_text(json.dumps(notebook))
    command = [sys.executable, "-m", "tools.grading", str(tmp_path / "c"), "--jobs", "2"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("grading 2 notebooks")
    time.sleep(2)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and errors.splitlines()[-1].startswith("Stopped."), errors
    assert "Traceback" not in errors
    assert not (tmp_path / "c-grades" / "points.csv").exists()
    if Path("/proc").is_dir():
        time.sleep(0.2)
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        assert not [line for line in lines if b"tools.grading import worker" in line]
