"""Tensors print as PyTorch prints them."""

import json
from pathlib import Path

import pytest
from print_cases import CASES, printed

import minigrad as mg

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_prints.json").read_text())


@pytest.mark.parametrize("case", CASES)
def test_printed_as_pytorch_prints_it(case):
    assert repr(eval(case, {"m": mg})) == RECORDED[case]


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert printed(torch) == RECORDED
