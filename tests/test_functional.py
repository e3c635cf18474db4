"""autograd.functional answers every call as PyTorch does."""

import json
from pathlib import Path

import pytest
from functional_cases import CASES, REFUSED, answer

import minigrad as mg

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_functional.json").read_text())
F = mg.autograd.functional


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_that_of_pytorch(name):
    assert answer(mg, CASES[name]) == RECORDED[name]


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert {name: answer(torch, case) for name, case in CASES.items()} == RECORDED


@pytest.mark.parametrize("name", [name for name in REFUSED if "text" in RECORDED[name]])
def test_one_line_of_advice_follows(name):
    with pytest.raises(Exception) as caught:
        REFUSED[name](mg, F)
    (advice,) = caught.value.__notes__
    assert advice.startswith("minigrad: ") and "\n" not in advice


def test_forward_mode_needs_a_jvp_and_no_backward():
    class Triple(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 3

    x = mg.tensor([1.0, 2.0])
    columns = {"vectorize": True, "strategy": "forward-mode"}
    assert F.jacobian(Triple.apply, x, **columns).tolist() == [[3.0, 0.0], [0.0, 3.0]]
    with pytest.raises(NotImplementedError, match="implement either the backward"):
        F.jacobian(Triple.apply, x)
    Triple.jvp = mg.autograd.Function.jvp
    with pytest.raises(NotImplementedError, match="implement the jvp function"):
        F.jacobian(Triple.apply, x, **columns)
