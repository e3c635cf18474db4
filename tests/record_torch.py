"""Write down what PyTorch says of every case of op_cases.py: `python tests/record_torch.py`.

Needs torch 2.13. The tests compare with the file it writes; where torch is installed they also check that the
file is still what torch says.
"""

import json
from pathlib import Path

from op_cases import CASES, report

FIXTURE = Path(__file__).with_name("fixtures") / "torch_ops.json"


def record() -> dict:
    """The report of PyTorch on every case."""
    import torch

    return {name: report(torch, expression) for name, expression in CASES.items()}


if __name__ == "__main__":
    FIXTURE.write_text(json.dumps(record(), indent=1) + "\n")
