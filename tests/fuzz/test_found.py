"""What random programs once found stays as PyTorch has it; these run without torch."""

import json
import warnings
from pathlib import Path

import pytest

import minigrad

from .found import FOUND
from .run import plain, trace

RECORDED = json.loads((Path(__file__).parents[1] / "fixtures" / "torch_found.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FOUND)
def test_still_as_pytorch(name):
    lines = FOUND[name].splitlines()
    for line, seen, recorded in zip(lines, trace(minigrad, lines), RECORDED[name], strict=True):
        assert plain(seen, recorded) == recorded, line


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    for name, program in FOUND.items():
        for seen, recorded in zip(trace(torch, program.splitlines()), RECORDED[name], strict=True):
            assert plain(seen, recorded) == recorded, name


def test_a_difference_is_noticed():
    """The comparison itself: a wrong digit and a wrong flag do not pass."""
    (seen,) = trace(minigrad, ["a = minigrad_tensor"])
    assert seen["error"].startswith("NameError")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (seen,) = trace(minigrad, ["a = torch.tensor([1.0, 2.0], requires_grad=True)"])
    for key, wrong in (("value", [1.0, 2.1]), ("requires_grad", False), ("_version", 1)):
        changed = json.loads(json.dumps(seen))
        changed["a"][key] = wrong
        assert plain(seen, changed) != changed
    assert plain(seen, json.loads(json.dumps(seen))) == json.loads(json.dumps(seen))
