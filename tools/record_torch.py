"""Write down what PyTorch says of every case: `python -m tools.record_torch`.

Needs torch 2.13 and torchviz. The tests compare minigrad with the files it writes; where torch is installed they also
check that the files are still what torch says.
"""

import json
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

import behaviour_cases
import checkpoint_cases
import difference_cases
import forward_ad_cases
import functional_cases
import gradcheck_cases
import line_cases
import misuse_cases
import op_cases
import print_cases
import torchviz_cases
from fuzz.found import FOUND
from fuzz.run import plain, trace

FOLDER = TESTS / "fixtures"


def record(torch) -> dict:
    """The contents of each file, by name."""
    return {
        "torch_ops.json": {n: op_cases.report(torch, e) for n, e in op_cases.CASES.items()},
        "torch_misuse.json": {n: misuse_cases.said(torch, case) for n, case in misuse_cases.CASES.items()},
        "torch_behaviour.json": {n: behaviour_cases.report(torch, p) for n, p in behaviour_cases.CASES.items()},
        "torch_checkpoint.json": {n: behaviour_cases.report(torch, p) for n, p in checkpoint_cases.CASES.items()},
        "torch_differences.json": {n: difference_cases.answer(torch, p) for n, p in difference_cases.CASES.items()},
        "torch_functional.json": {
            n: functional_cases.answer(torch, case) for n, case in functional_cases.CASES.items()
        },
        "torch_forward_ad.json": {n: behaviour_cases.report(torch, p) for n, p in forward_ad_cases.CASES.items()},
        "torch_gradcheck.json": {n: gradcheck_cases.answer(torch, case) for n, case in gradcheck_cases.CASES.items()},
        "torch_lines.json": {line: line_cases.answer(torch, line) for line in line_cases.CASES},
        "torch_prints.json": print_cases.printed(torch),
        "torch_found.json": {n: plain(trace(torch, program.splitlines()), None) for n, program in FOUND.items()},
        "torchviz.json": torchviz_cases.recorded(torch),
    }


if __name__ == "__main__":
    import torch

    for name, content in record(torch).items():
        (FOLDER / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
