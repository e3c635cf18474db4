"""Programs that end in the same tensors, the same graphs and the same refusals as under PyTorch."""

import json
from pathlib import Path

import pytest
from behaviour_cases import CASES, report

import minigrad as mg

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_behaviour.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_program_ends_as_under_pytorch(name):
    mine, theirs = report(mg, CASES[name]), RECORDED[name]
    for position, (ours, expected) in enumerate(zip(mine, theirs, strict=False)):
        assert json.loads(json.dumps(ours)) == expected, f"number {position} of what is said"
    assert len(mine) == len(theirs)


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert {name: report(torch, program) for name, program in CASES.items()} == RECORDED
