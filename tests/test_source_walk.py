"""The walk through the source names files and functions that are there, and its program does what it says."""

import re
from pathlib import Path

from test_spine import BUDGET

import minigrad as mg

ROOT = Path(__file__).resolve().parent.parent / "minigrad"
WALK = (ROOT / "README.md").read_text(encoding="utf-8")
PROSE = re.sub(r"```.*?```|^PyTorch: .*?\n\n", "", WALK, flags=re.S | re.M)  # PyTorch's files are not here
OF_THE_PROGRAM = {"x", "w", "y", "grad", "requires_grad"}


def sections():
    """Pairs of a section of the walk, or a row of its last table, and the source of all files that it names."""
    walk, _, table = PROSE.partition("## Where is")
    for part in [*re.split(r"^(?=## )", walk, flags=re.M), *re.split(r"^(?=\| )", table, flags=re.M)]:
        yield part, "\n".join(source_of(file) for file in re.findall(r"`([\w/]+\.py)`", part))


def source_of(file):
    return next(path for path in (ROOT / file, ROOT.parent / file) if path.exists()).read_text(encoding="utf-8")


def test_the_program_does_what_the_page_says():
    program = re.search(r"```python\n(import minigrad.*?)```", WALK, re.S)[1]
    space: dict = {}
    exec(program, space)
    assert repr((space["x"].grad, space["w"].grad)) == re.search(r"# (\(.*\))", program)[1]


def test_every_function_beside_a_file_is_defined_there():
    places = re.findall(r"`([\w/]+\.py)`, `(\w+)`", PROSE)
    assert len(places) > 40
    missing = [place for place in places if not re.search(rf"(def|class) {place[1]}\b", source_of(place[0]))]
    assert not missing


def test_every_name_is_in_a_file_that_its_section_names():
    known, missing = 0, []
    for part, source in sections():
        for name in re.findall(r"`[.]?([A-Za-z_]\w*)`", part):
            found = name in OF_THE_PROGRAM or re.search(rf"\b{name}\b", source)
            known += bool(found)
            missing += [] if found else [(name, part.splitlines()[0])]
    assert not missing and known > 80


def test_the_spine_is_as_short_as_the_walk_says():
    assert f"fewer than {BUDGET:,} lines" in PROSE.replace("\n", " ")


def test_the_row_is_the_real_one():
    row = re.search(r"@op\(np\.multiply.*?\n.*?\n.*?\"\"\"\n", WALK)[0]
    table = (ROOT / "ops" / "arithmetic.py").read_text(encoding="utf-8")
    assert " ".join(row.split()) in " ".join(table.split())
    assert mg.mul.row.ufunc.__name__ == "multiply"
