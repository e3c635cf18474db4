"""What chapter 11 says that its own cells cannot show: where PyTorch is installed, its two programs are run."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "11_training.ipynb"
STEPS = 40


@pytest.fixture(scope="module")
def cells():
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in stored}


def ours(cells):
    """The chapter's network: its names after some steps of training, as its own cells make them."""
    names = {}
    exec("import numpy as np\nimport minigrad as mg\n" + cells["net-data"] + "\n" + cells["net-model"], names)
    names["start"] = [p.detach().clone().numpy() for p in names["parameters"]]
    exec(cells["net-train"][cells["net-train"].index("def train_step") :], names)
    names["losses"] = [names["train_step"](rate=1.0) for _ in range(STEPS)]
    return names


@pytest.mark.torch
def test_the_program_that_most_people_write_gives_the_same_losses(cells):
    torch = pytest.importorskip("torch")
    rows = re.findall(r"(?m)^\| `.*\| `(.*)` \|$", cells["torch"])
    mine = ours(cells)
    names = {"nn": torch.nn, "optim": torch.optim, "cross_entropy": torch.nn.functional.cross_entropy, "losses": []}
    names |= {name: torch.from_numpy(mine[name].numpy()) for name in ("points", "label")}
    network, optimizer, *each_round = rows
    exec(network, names)
    with torch.no_grad():
        for p, start in zip(names["net"].parameters(), mine["start"], strict=True):
            p.copy_(torch.from_numpy(start.T))
    exec(optimizer, names)
    for _ in range(STEPS):
        exec("\n".join(each_round), names)
    assert len(each_round) == 5
    assert names["losses"] == pytest.approx(mine["losses"], rel=1e-4)
    assert mine["losses"][-1] < mine["losses"][0] / 2
