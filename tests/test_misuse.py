"""Each misuse is refused as PyTorch refuses it, word for word, and says what to do."""

import json
import warnings
from pathlib import Path

import pytest
from misuse_cases import CASES, said

import minigrad as mg

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_misuse.json").read_text())

# PyTorch and Python say these; they speak of the call, not of autograd, and there is nothing to add.
WITHOUT_ADVICE = {
    "too few gradients",
    "gradient is a float",
    "materialize without allow",
    "grad_tensors under both names",
    "Function: no forward",
    "Function: no backward",
    "Function: the base class",
    "index of several",
    "size of no dimension",
    "set_grad_enabled of a number",
    "set_warn_always of a number",
    "index out of range",
    "dimension out of range",
    "negative dimension out of range",
    "condition of numbers",
    "mask of numbers",
    "several values to fill",
    "integers divided by zero",
    "the rest of a division by zero",
    "floats inverted",
    "floats and floats",
    "norm of integers",
    "softmax of integers",
    "log_softmax of integers",
    "outer of a matrix",
    "addmm of shapes that do not fit",
    "einsum of unequal lengths",
    "einsum of too few",
    "einsum of too many dimensions",
    "less than no elements",
    "size of a float",
    "arange the wrong way",
    "arange without a step",
    "random integers",
    "random integers, normal",
    "ragged lists",
    "narrow beyond the end",
    "narrow from beyond the end",
    "narrow to less than nothing",
    "select beyond the end",
    "select of no dimension",
    "select of a number",
    "loss of a strange reduction",
    "class out of range",
    "kernel larger than the image",
    "transpose of a batch",
    "permute too few",
    "permute twice the same",
    "squeeze of no dimension",
    "flatten backwards",
    "diag of a batch",
    "trace of a vector",
    "cat of different dimensions",
    "cat of different lengths",
    "cat of numbers",
    "cat along no dimension",
    "stack of different shapes",
    "stack along no dimension",
    "split of no length",
    "split of less than none",
    "split that leaves some",
    "chunk into none",
    "unbind of a number",
    "gather out of range",
    "gather from the end",
    "gather of another dimension",
    "gather of more than there is",
    "gather at floats",
    "gather along no dimension",
    "index_select out of range",
    "index_select by a matrix",
    "index_select at floats",
    "scatter_add out of range",
    "view with two unknown",
    "view with a strange length",
    "reshape of nothing",
    "mean of integers",
}


# One line says what differs, another why: see test_gradcheck.py.
WITH_TWO_LINES = {"gradcheck finds a wrong slope"}


@pytest.mark.parametrize("name", CASES)
def test_refused_with_the_sentence_of_pytorch(name):
    assert said(mg, CASES[name]) == RECORDED[name]


@pytest.mark.parametrize("name", sorted(CASES.keys() - WITHOUT_ADVICE))
def test_one_line_of_advice_follows(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as caught:
            CASES[name](mg)
    lines = caught.value.__notes__
    assert len(lines) == (2 if name in WITH_TWO_LINES else 1)
    assert all(line.startswith("minigrad: ") and "\n" not in line for line in lines)


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert {name: said(torch, case) for name, case in CASES.items()} == RECORDED
