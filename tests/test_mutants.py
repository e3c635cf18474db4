"""Right answers changed by machine: what is wrong then is refused, what means the same passes."""

import ast

import pytest

pytest.importorskip("IPython")

from mutants import judge, operators, report

SHARE = 30  # one of a solution's mutants in so many, always the same; `python -m tests.mutants` judges all


@pytest.mark.parametrize("chapter", judge.CHAPTERS)
def test_a_fixed_sample_of_mutants_is_refused_and_of_equivalents_passes(chapter, capsys):
    tallies = [judge.judge(chapter, exercise, SHARE) for exercise in judge.exercises(chapter)]
    with capsys.disabled():
        print(f"\n{report.summary(chapter, tallies)}")
    assert not report.faults(tallies, whole=False)


def test_mutants_are_the_same_in_every_run():
    task = operators.Task("step")
    source = "def step(w, size):\n    with mg.no_grad():\n        w -= size * w.grad\n    w.grad = None"
    made = [one.change for one in operators.mutants(source, task)]
    assert made == [one.change for one in operators.mutants(source, task)]
    beside = [*operators.mutants(f"import math\n\ndef other():\n    pass\n{source}\nlast = 1", task)]
    assert {*made} <= {one.change for one in beside}
    assert [one.source for one in beside] == [ast.unparse(ast.parse(one.source)) for one in beside]
    assert {"only the body of with mg.no_grad():", "w -= size * w.grad => w = w - size * w.grad"} <= {*made}
    assert {"one line later with mg.no_grad():", "without w.grad = None", "size * w.grad => size"} <= {*made}


def test_layout_does_not_change_the_name_of_a_mutant():
    one = "def f(x, y):\n    return (x*2 +\n            y)  # twice"
    other = "def f(x, y):\n    return x * 2 + y"
    changes = [[mutant.change for mutant in operators.mutants(source, operators.Task("f"))] for source in (one, other)]
    assert changes[0] == changes[1]


def test_every_exception_has_a_reason_and_is_listed_once():
    groups = judge.groups()
    lines = [line for found in groups.values() for group in found for line in group["what"]]
    assert set(groups) <= {"equal", "hole", "refused"}
    assert all(group["why"].strip() for found in groups.values() for group in found)
    assert len(lines) == len(set(lines))
