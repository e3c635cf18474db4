"""Graders are graded: the right pass, the wrong get their own diagnosis, nothing crashes one."""

import importlib
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("IPython")

from banks.classroom import ROOT, Classroom

from exercises.checks import beliefs, kit, sandbox
from tools import new

BANKS = [
    importlib.import_module(f"banks.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("banks/ch[0-9][0-9].py"))
]
SOLUTIONS = {bank: Classroom(ROOT / "solutions" / f"{bank.NOTEBOOK}.ipynb") for bank in BANKS}
EXERCISES = {bank: Classroom(ROOT / "exercises" / f"{bank.NOTEBOOK}.ipynb") for bank in BANKS}


def cases(of_exercise):
    """(bank, exercise, one item of what `of_exercise(bank, exercise)` gives), with readable ids."""
    found = []
    for bank in BANKS:
        for exercise in SOLUTIONS[bank].exercises:
            for number, item in enumerate(of_exercise(bank, exercise)):
                label = item[0] if isinstance(item, tuple) else number
                name = f"{bank.__name__[-4:]}-{exercise}-{label}"
                found.append(pytest.param(bank, exercise, item, id=name))
    return found


every_exercise = pytest.mark.parametrize("bank,exercise,_", cases(lambda *_: [0]))


@every_exercise
def test_the_solution_passes(bank, exercise, _):
    room = SOLUTIONS[bank]
    verdict, error = room.check(exercise, room.source(f"answer-{exercise}"))
    assert (verdict.status, error) == ("passed", None), verdict
    assert verdict.why, "a passed check says why the answer is right"


@every_exercise
def test_the_untouched_cell_fails_kindly(bank, exercise, _):
    room = EXERCISES[bank]
    verdict, error = room.check(exercise, room.source(f"answer-{exercise}"))
    assert (verdict.status, verdict.belief) == ("unanswered", ""), verdict
    assert isinstance(error, kit.CheckFailed)
    assert verdict.look, "it says what to do"


@cache
def judged(bank, exercise, source):
    """What the check says to a wrong answer: verdict, error, and the card in plain text."""
    room = SOLUTIONS[bank]
    return *room.check(exercise, source), room.card["text/plain"]


@pytest.mark.parametrize("bank,exercise,wrong", cases(lambda bank, exercise: bank.WRONG[exercise].items()))
def test_a_wrong_answer_gets_its_own_diagnosis(bank, exercise, wrong):
    code, source = wrong[0].partition("/")[0], wrong[1]
    verdict, error, card = judged(bank, exercise, source)
    assert (verdict.status, verdict.code) == ("wrong", code), verdict
    assert isinstance(error, kit.CheckFailed)
    assert verdict.look and verdict.got, "it says what came and what to look at"
    assert verdict.look.replace("`", "") in card
    assert verdict.belief_text in card
    assert not verdict.belief or verdict.belief not in card, "ids are ours, not the learner's"
    assert "the same graph" not in card


@pytest.mark.parametrize("bank,exercise,source", cases(lambda bank, exercise: bank.RIGHT[exercise]))
def test_an_unusual_right_answer_passes(bank, exercise, source):
    verdict, error = SOLUTIONS[bank].check(exercise, source)
    assert (verdict.status, error) == ("passed", None), verdict


@pytest.mark.parametrize("bank", BANKS, ids=lambda bank: bank.__name__[-4:])
def test_killed_of_total(bank, capsys):
    """All wrong answers of a chapter in one number: each must fail, and by its own diagnosis."""
    killed = total = 0
    for exercise, answers in bank.WRONG.items():
        for code, source in answers.items():
            verdict, *_ = judged(bank, exercise, source)
            total += 1
            killed += verdict.status == "wrong" and verdict.code == code.partition("/")[0]
    with capsys.disabled():
        print(f"\n{bank.__name__[-4:]}: killed {killed} / total {total} wrong answers")
    assert killed == total


@pytest.mark.parametrize("bank", BANKS, ids=lambda bank: bank.__name__[-4:])
def test_the_bank_is_large_enough(bank):
    exercises, notebook = SOLUTIONS[bank].exercises, f"{bank.NOTEBOOK}.ipynb"
    drafts = new.drafts(ROOT / "solutions" / notebook)
    assert exercises == list(bank.WRONG) == list(bank.RIGHT)
    assert all(len(bank.WRONG[exercise]) >= (1 if exercise in drafts else 4) for exercise in exercises)
    assert all(len(bank.RIGHT[exercise]) >= (1 if exercise in drafts else 2) for exercise in exercises)
    assert (1 if new.is_draft(ROOT / "notebooks" / notebook) else 6) <= len(exercises) <= new.MOST_EXERCISES


@pytest.mark.parametrize("bank", BANKS, ids=lambda bank: bank.__name__[-4:])
def test_the_beliefs_that_exercises_announce_are_diagnosed(bank):
    for exercise, answers in bank.WRONG.items():
        found = {judged(bank, exercise, source)[0].belief for source in answers.values()} - {""}
        chapter = kit._chapters[bank.__name__[-2:]]
        assert found == set(chapter.exercises[exercise].beliefs), exercise
        assert found <= set(beliefs.BELIEFS)


HOSTILE_VALUES = {
    "none": "None",
    "int": "10**5000",
    "text": "'True'",
    "nan": "float('nan')",
    "nan-tensor": "mg.tensor(float('nan'), requires_grad=True) * 2",
    "nan-array": "mg.tensor([float('nan'), 1.0])",
    "empty-tensor": "mg.zeros(0, requires_grad=True)",
    "shape": "mg.zeros(2, 3, 4, requires_grad=True)",
    "ints": "mg.tensor([1, 2])",
    "empty-dict": "{}",
    "long-list": "list(range(10**5))",
    "nested": "nested",
    "hostile": "Hostile()",
    "hostile-dict": "{Hostile(): Hostile()}",
    "subclass": "Pretender()",
    "class": "Hostile",
    "module": "mg",
    "shared": "mg.tensor(1.0, requires_grad=True)",
    "long-chain": "__import__('functools').reduce(lambda y, _: y * 1, range(3000), mg.ones(1, requires_grad=True))",
}
HOSTILE_BODIES = {
    "returns-none": "return None",
    "returns-nan": "return float('nan')",
    "returns-nan-tensor": "return mg.tensor(float('nan'), requires_grad=True) * 2",
    "returns-shape": "return mg.zeros(2, 3, requires_grad=True)",
    "returns-text": "return 'tensor(1.)'",
    "returns-hostile": "return Hostile()",
    "returns-itself": "return answer",
    "returns-input": "return inputs[0]",
    "returns-dots": "return ...",
    "raises": "raise ValueError('mine')",
    "raises-hostile": "raise HostileError()",
    "raises-stop": "raise StopIteration",
    "not-implemented": "raise NotImplementedError",
    "interrupt": "raise KeyboardInterrupt",
    "exits": "import sys; sys.exit(0)",
    "quits": "quit()",
    "asks": "return input('?')",
    "recurses": "return answer(*inputs)",
    "yields": "yield 1",
    "prints": "print('x' * 10**6)",
    "warns": "import warnings; warnings.warn('mine')",
    "changes-inputs": "[value.clear() for value in inputs if type(value) is list]",
    "passes": "raise __import__('exercises.checks.kit').checks.kit.Unanswered('fine')",
}
HOSTILE_CLASSES = """
class Hostile:
    def __eq__(self, other): raise ValueError("eq")
    __repr__ = __str__ = __bool__ = __len__ = __iter__ = __call__ = __float__ = lambda self: 1 / 0
    __hash__ = object.__hash__
    def __getattr__(self, name): raise RuntimeError(name)
class HostileError(Exception):
    __str__ = __repr__ = lambda self: 1 / 0
class Pretender(mg.Tensor):
    requires_grad = is_leaf = True
    def __new__(cls): return object.__new__(cls)
    def __init__(self): pass
nested = []
nested.append(nested)
"""


def hostile_cell(room, exercise, value="", body=""):
    """The answer cell that gives an exercise a hostile value, or a function with a hostile body."""
    name = room.source(f"test-{exercise}").partition("(")[2].rstrip(")")
    made = f"answer = {value}" if value else f"def answer(*inputs):\n    {body}"
    return f"{made}\n{name} = answer"


@cache
def hostile_room(bank):
    """The solutions' notebook, where there are hostile classes besides."""
    return Classroom(ROOT / "solutions" / f"{bank.NOTEBOOK}.ipynb", HOSTILE_CLASSES)


@every_exercise
def test_hostile_answers_neither_crash_nor_pass(bank, exercise, _):
    room = hostile_room(bank)
    cells = {name: hostile_cell(room, exercise, value=v) for name, v in HOSTILE_VALUES.items()}
    cells |= {name: hostile_cell(room, exercise, body=b) for name, b in HOSTILE_BODIES.items()}
    for name, cell in cells.items():
        verdict, error = room.check(exercise, cell)
        assert verdict.status in ("wrong", "unanswered"), (name, verdict)
        assert isinstance(error, kit.CheckFailed), (name, error)
        assert len(room.card["text/plain"]) < 4_000, name
        assert "Traceback" not in room.card["text/plain"], name


@every_exercise
def test_a_deleted_name_is_not_a_name_error(bank, exercise, _):
    room = SOLUTIONS[bank]
    verdict, error = room.check(exercise, "pass")
    assert verdict.status == "unanswered"
    assert isinstance(error, kit.CheckFailed)
    name = room.source(f"test-{exercise}").partition("(")[2].rstrip(")")
    assert f"There is no {name} yet" in room.card["text/plain"]
    assert name not in room.shell.user_ns


def test_the_error_of_a_cell_that_made_no_name_is_told():
    room = next(room for bank, room in SOLUTIONS.items() if bank.__name__ == "banks.ch02")
    room.check("kept", "kept = 1 / 0")
    assert "There is no kept yet: its cell ended with ZeroDivisionError: division by zero" in room.card["text/plain"]
    room.check("kept", "kept = 1 +* 2")
    assert "its cell ended with SyntaxError: invalid syntax." in room.card["text/plain"]


ENDLESS = {
    "loop": "while True: pass",
    "deaf-loop": "while True:\n        try:\n            while True: pass\n        except: pass",
    "sleep": "__import__('time').sleep(3600)",  # it must not wake in the middle of another test
}


def endless(bank, exercise):
    """The kinds of endless answers, where the answer is a function."""
    return ENDLESS.items() if SOLUTIONS[bank].source(f"answer-{exercise}").startswith("def ") else ()


@pytest.mark.parametrize("bank,exercise,body", cases(endless))
def test_an_endless_answer_is_stopped(bank, exercise, body, monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 0.02)  # each test waits for the whole limit
    if body[0] == "sleep":  # the others do end, however busy the machine is
        monkeypatch.setattr(sandbox, "GRACE", 0.05)
    verdict, error = SOLUTIONS[bank].check(exercise, hostile_cell(SOLUTIONS[bank], exercise, body=body[1]))
    assert (verdict.status, verdict.code) == ("wrong", "endless")
    assert isinstance(error, kit.CheckFailed)


MONKEYPATCHES = (
    "check.{0} = lambda answer: None",
    "check.__dict__['{0}'] = lambda answer: None",
    "del check.{0}",
    "check = type('check', (), dict({0}=lambda answer: None))",
    "from exercises.checks import kit; kit.judge = lambda *a: kit.Verdict('passed', 'passed')",
    "check.chapter.lock = None",
)


@pytest.mark.parametrize("patch", MONKEYPATCHES)
@every_exercise
def test_a_replaced_check_still_judges(bank, exercise, _, patch):
    room = SOLUTIONS[bank]
    verdict, error = room.check(exercise, patch.format(exercise) + "\npass")
    assert verdict.status == "unanswered"
    assert isinstance(error, kit.CheckFailed)
    room.run("check.score()")
    assert f"0 of {len(room.exercises)} exercises" in room.card["text/plain"]
