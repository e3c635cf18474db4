"""One-line programs that answer as under PyTorch."""

import json
from pathlib import Path

import pytest
from line_cases import CASES, answer

import minigrad as mg

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_lines.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("line", CASES)
def test_a_line_answers_as_under_pytorch(line):
    assert answer(mg, line) == RECORDED[line]


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert {line: answer(torch, line) for line in CASES} == RECORDED
