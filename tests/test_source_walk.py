"""The walk through the source names files and functions that are there, and its program does what it says."""

import re
from pathlib import Path

import minigrad as mg

ROOT = Path(__file__).resolve().parent.parent / "minigrad"
WALK = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_program_does_what_the_page_says():
    program = re.search(r"```python\n(import minigrad.*?)```", WALK, re.S)[1]
    space: dict = {}
    exec(program, space)
    assert repr((space["x"].grad, space["w"].grad)) == re.search(r"# (\(.*\))", program)[1]


def test_every_place_that_is_named_exists():
    places = re.findall(r"\| `([\w/]+\.py)`, `([\w.]+)`", WALK) + re.findall(r"it \w+ `(\w+)` of `([\w/]+\.py)`", WALK)
    assert len(places) >= 7
    for file, name in (pair if pair[0].endswith(".py") else pair[::-1] for pair in places):
        assert re.search(rf"def {name.split('.')[-1]}\b", (ROOT / file).read_text(encoding="utf-8")), (file, name)
    for file in set(re.findall(r"`((?:\w+/)?\w+\.py)`", WALK)) - {"torch/autograd/__init__.py"}:
        assert (ROOT / file).exists() or (ROOT.parent / file).exists(), file


def test_the_row_is_the_real_one():
    row = re.search(r"@op\(np\.multiply.*?\n.*?\n.*?\"\"\"\n", WALK)[0]
    table = (ROOT / "ops" / "pointwise.py").read_text(encoding="utf-8")
    assert " ".join(row.split()) in " ".join(table.split())
    assert mg.mul.row.ufunc.__name__ == "multiply"
