"""Where the chapters ask for a prediction, and what comes: lines and facts for the copies on a learner's desk.

`predictions.txt` says what is asked for where the cell does not print just that, and which belief it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode, v4

from exercises.checks.beliefs import BELIEFS
from minigrad.jupyter.predictions import LINE

ANSWERS = Path(__file__).with_name("predictions.txt")
ROW = re.compile(r"(\d\d\.[\w-]+):\s*([^\[]*?)\s*(?:\[(\w+)\])?")
PREDICT = re.compile(r"\*\*Predict\.?\*\*\.?,?\s*")
HOW = (
    f"Below a **Predict** the cell has a line `{LINE}`. Type what you expect there, in a word or a number, and run the "
    "cell: below its output you are told whether it came so. If you leave the line empty, nothing happens."
)
AT_THE_END = "## Your predictions\n\nHow many came so, and what those that did not are about."


def answers() -> dict[str, tuple[str, str]]:
    """By chapter and cell, as in 05.second-break: the answer, and the id of the belief or ""."""
    found = map(ROW.fullmatch, ANSWERS.read_text(encoding="utf-8").splitlines())
    return {row[1]: (row[2], row[3] or "") for row in found if row}


def asked(chapter: NotebookNode, number: str) -> Iterator[tuple[NotebookNode, str]]:
    """Each cell that answers a "Predict" above it, with the question.

    It is the one that has an answer in the file, else the first that shows something, else the first.
    """
    known, cells = answers(), chapter.cells
    asking = [i for i, cell in enumerate(cells) if cell.cell_type == "markdown" and PREDICT.search(cell.source)]
    for i, end in zip(asking, [*asking[1:], len(cells)], strict=False):
        below = [cell for cell in cells[i:end] if cell.cell_type == "code"]
        below.sort(key=lambda cell: (f"{number}.{cell.id}" not in known, not cell.outputs))
        if below:
            *_, marker = PREDICT.finditer(cells[i].source)
            begins = "" if "." in marker[0] else marker[0].replace("*", "")  # as in "**Predict** the error."
            yield below[0], begins + cells[i].source[marker.end() :].split("\n\n")[0].strip()


def prepare(copy: NotebookNode, chapter: NotebookNode, number: str) -> None:
    """Give the copy of a chapter a line for each prediction, and at the end of the chapter a look at all of them."""
    known, cells = answers(), {cell.id: cell for cell in copy.cells}
    for cell, question in asked(chapter, number):
        answer, belief = known.get(f"{number}.{cell.id}", ("", ""))
        cells[cell.id].metadata["prediction"] = {
            "question": question,
            "answer": answer,
            "belief": BELIEFS.get(belief, ""),
        }
        # A cell magic has to stay in the first line.
        first, end, rest = cell.source.partition("\n") if cell.source.startswith("%%") else ("", "", cell.source)
        cells[cell.id].source = f"{first}{end}{LINE} \n{rest}"
    if number == "00":
        first = next((i for i, cell in enumerate(copy.cells) if PREDICT.search(cell.source)), 0)
        copy.cells.insert(first, v4.new_markdown_cell(HOW, id="predictions-how"))
    ids = [cell.id for cell in copy.cells]
    end = next((i for i, id in enumerate(ids) if id in ("recap", "map")), len(ids))
    summary = v4.new_code_cell(f"%predictions {number}", id="predictions-shown")
    copy.cells[end:end] = [v4.new_markdown_cell(AT_THE_END, id="predictions"), summary]
