"""Runs a notebook's own cells in this process, with any answer in place of the solution."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from unittest import mock

import nbformat
from fresh_shell import plain_shell
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import CapturedIO, capture_output

from exercises.checks import kit, notebook
from minigrad.viz import layout

ROOT = Path(__file__).resolve().parents[2]
# Hundreds of answers show the same target: each picture is drawn once.
DRAWN_ONCE = {name: cache(draw) for name, draw in layout.ENGINES.items()}


class Classroom:
    """One notebook and one IPython shell. Each `check` starts with what the set-up cell, and a cell `beside`, made."""

    def __init__(self, path: Path, beside: str = "") -> None:
        self.cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        self.setup = next(cell.source for cell in self.cells if cell.id == "setup")
        self.shell = _shell()
        self.last: CapturedIO | None = None
        empty = dict(self.shell.user_ns)
        assert self.run(self.setup) is None and self.run(beside) is None
        self.ready = dict(self.shell.user_ns)
        self._names(empty)

    @property
    def exercises(self) -> list[str]:
        """The names of the exercises, in order."""
        return [cell.id.removeprefix("test-") for cell in self.cells if cell.id.startswith("test-")]

    def source(self, id: str) -> str:
        """The source of the cell with this id."""
        return next(cell.source for cell in self.cells if cell.id == id)

    def given(self, exercise: str) -> list[str]:
        """The sources of the cells that define something for this exercise, right above its answer."""
        ids = [cell.id for cell in self.cells]
        first = last = ids.index(f"answer-{exercise}")
        while ids[first - 1].startswith("given-"):
            first -= 1
        return [cell.source for cell in self.cells[first:last]]

    def check(self, exercise: str, answer: str, test: str = "") -> tuple[kit.Verdict, Exception | None]:
        """Run what is given, this answer and the test cell: the verdict, and what the test cell raised."""
        kit.session.verdicts.clear()
        self._names(self.ready)
        for source in self.given(exercise):
            self.run(source)
        self.run(answer)
        error = self.run(test or self.source(f"test-{exercise}"))
        (verdict,) = kit.session.verdicts.values()
        return verdict, error

    def _names(self, names: dict[str, object]) -> None:
        self.shell.user_ns.clear()
        self.shell.user_ns.update(names)

    def run(self, source: str) -> Exception | None:
        """Run one cell; what it showed is in `last`."""
        with mock.patch.dict(layout.ENGINES, DRAWN_ONCE), capture_output() as self.last:
            result = self.shell.run_cell(source)
        return result.error_before_exec or result.error_in_exec

    @property
    def card(self) -> dict[str, str]:
        """The last card that was shown, by MIME type."""
        return self.last.outputs[-1].data


def _shell() -> InteractiveShell:
    if not InteractiveShell.initialized():
        plain_shell(tempfile.mkdtemp(prefix="ipython-"))
        notebook.watch_cells(kit._chapters)
        shell = InteractiveShell.instance()
        shell.transform_cell = cache(shell.transform_cell)  # the same cells, thousands of times
    return InteractiveShell.instance()
