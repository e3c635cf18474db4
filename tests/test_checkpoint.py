"""Checkpoints: programs that end as under PyTorch, and what is minigrad's own."""

import gc
import json
import weakref
from pathlib import Path

import pytest
from behaviour_cases import report
from checkpoint_cases import CASES, kept

import minigrad as mg
from minigrad.utils.checkpoint import CheckpointError, checkpoint

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_checkpoint.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_program_ends_as_under_pytorch(name):
    assert json.loads(json.dumps(report(mg, CASES[name]))) == RECORDED[name]


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert {name: report(torch, program) for name, program in CASES.items()} == RECORDED


def test_without_the_option_it_warns_and_with_true_it_is_refused():
    x = mg.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(mg.exp, x)
    with pytest.raises(ValueError, match="use_reentrant=True"):
        checkpoint(mg.exp, x, use_reentrant=True)


def test_a_part_dies_with_its_result():
    gc.disable()
    try:
        x = mg.ones(2, requires_grad=True)
        held = mg.ones(2)
        ref = weakref.ref(held)
        y = checkpoint(lambda t, u=held: (t * u).exp(), x, use_reentrant=False)
        del held
        assert ref() is not None
        y.sum().backward()
        del y
        assert ref() is None
    finally:
        gc.enable()


def test_after_an_error_the_hooks_are_off_and_the_generator_is_where_it_was():
    rounds = []

    def breaks(t):
        rounds.append(1)
        mg.rand(3)
        if len(rounds) > 1:
            raise ValueError("second run")
        return t.exp()

    y = checkpoint(breaks, mg.ones(2, requires_grad=True), use_reentrant=False)
    state = mg.get_rng_state()
    with pytest.raises(ValueError, match="second run"):
        y.sum().backward()
    assert mg.get_rng_state() == state
    x = mg.tensor(2.0, requires_grad=True)
    (x * x).backward()
    assert x.grad == 4


def test_the_error_is_a_checkpoint_error_with_advice():
    runs = []
    y = kept(
        mg, lambda t: runs.append(1) or (t.exp() if len(runs) > 1 else t.exp().sin()), mg.ones(2, requires_grad=True)
    )
    with pytest.raises(CheckpointError, match="A different number of tensors") as caught:
        y.sum().backward()
    assert "second time" in caught.value.__notes__[0]
