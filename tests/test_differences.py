"""Programs on which minigrad once differed show what PyTorch's recorded answers say."""

import json
from pathlib import Path

import pytest
from difference_cases import CASES, answer

import minigrad as mg

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_differences.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_shows_what_pytorch_shows(name):
    assert answer(mg, CASES[name]) == RECORDED[name]


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert {name: answer(torch, source) for name, source in CASES.items()} == RECORDED


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 2)])
def test_a_column_out_of_range_is_refused_in_other_words_than_a_row(shape):
    x = mg.zeros(shape)
    for dim in range(len(shape)):
        refusal = (RuntimeError, "id=5 axis_dim=3$") if dim == 1 else (IndexError, "^index out of range in self$")
        with pytest.raises(refusal[0], match=refusal[1]):
            x.index_select(dim, mg.tensor([0, 5]))
