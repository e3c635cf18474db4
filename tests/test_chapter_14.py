"""What chapter 14 says of its programs holds for minigrad and, where it is installed, for PyTorch."""

import linecache
from functools import cache
from pathlib import Path

import nbformat
import pytest

import minigrad as mg

CHAPTER = Path(__file__).resolve().parents[1] / "notebooks" / "14_your_program.ipynb"
# What the prose says: the variable, the line that saved it (or lost the history, or made the node), with its round,
# and the line that overwrote or freed it.
SAID = {
    "residual-explain": ("h", (2, 1), (3, 1)),
    "gan-explain": ("d", (3, 1), (4, 1)),
    "carry-explain": ("h", (3, 1), (5, 1)),
    "carry-retained": ("w", (4, 2), (4, 2)),
    "lost-explain": ("total", (5, 2), None),
    "lost-accuracy": ("accuracy", (3, 1), None),
    "leaf-explain": ("b[:, 1]", None, None),
    "buffer-explain": ("buffer", (5, 2), (4, 3)),
}


def place(line):
    return None if line is None else (line.number, line.times)


def told(source: str, space: dict) -> tuple:
    """Variable and lines of the explanation of a %%explain cell."""
    with pytest.raises(RuntimeError) as caught, mg.viz.lines():
        run(source.replace("%%explain", "# %%explain"), space)
    story = mg.viz.explain(caught.value).story
    other = story.freed or next(iter(story.overwritten), None)
    return story.variable, place(story.saved or story.made), place(other)


def run(source: str, space: dict) -> None:
    file = f"<cell {len(linecache.cache)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    exec(compile(source, file, "exec"), space)


@cache
def stories(m) -> dict[str, tuple]:
    """The chapter's code run with `m` for minigrad, without its pictures: what each explanation tells."""
    space, found = {"mg": m}, {}
    for cell in nbformat.read(CHAPTER, as_version=4).cells:
        source = cell.source
        if cell.cell_type != "code" or source.startswith(("%%versus", "import")) or "mg.viz" in source:
            continue
        if source.startswith("%%explain"):
            found[cell.id] = told(source, space)
        elif source.startswith("%%expect"):
            with pytest.raises(RuntimeError):
                run(source.partition("\n")[2], space)
        elif "mg.draw" not in source:
            run(source, space)
    return found


def test_every_explanation_tells_what_the_prose_says():
    assert stories(mg) == SAID


@pytest.mark.torch
def test_the_explanations_are_the_same_of_pytorch():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert stories(torch) == SAID
