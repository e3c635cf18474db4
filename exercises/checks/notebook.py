"""The checks inside a notebook: `check` cannot be overwritten, and a missing answer raises no NameError."""

from __future__ import annotations

import ast
import builtins
import functools
import re
import sys
import types
from dataclasses import dataclass
from typing import Any

from . import cards, sandbox


@dataclass(frozen=True)
class Missing:
    """Stands for a name that does not exist in the notebook (see `CellWatch`)."""

    name: str
    error: str = ""  # with which the last cell ended, if that speaks of the name


class LockedModule(types.ModuleType):
    """A module that refuses, in one sentence, to have a name in it replaced."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):  # the import system's own
            return super().__setattr__(name, value)
        sentence = f"`{name}` belongs to the checks and stays as it is. Your score is not affected."
        cards.display(cards.notice_card(sentence))

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)


def watch_cells(chapters: dict[str, Any]) -> CellWatch | None:
    """Have IPython tell us before and after each cell; None where there is no IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        return None
    watch = CellWatch(shell, chapters)
    shell.events.register("pre_run_cell", watch.before)
    shell.events.register("post_run_cell", watch.after)
    return watch


class CellWatch:
    """Keeps `check` what it is, and lends a name to a check cell whose answer does not exist.

    Without it, `check.spread(flags)` is a NameError when `flags` was never made: a traceback that
    says nothing about the exercise, and Run All stops there.
    """

    def __init__(self, shell: Any, chapters: dict[str, Any]) -> None:
        self.shell, self.chapters = shell, chapters
        self.check: Any = None
        self.lent: list[str] = []
        self.failed = "", ""  # the source of the last cell that was no check, and the error that it ended with
        self.is_solution = False

    def before(self, info: Any) -> None:
        names = self.shell.user_ns
        self.is_solution |= "### BEGIN SOLUTION" in (info.raw_cell or "")
        for chapter in self.chapters.values():
            chapter.mend()
        used = _names_in_check_cell(info.raw_cell or "")
        if used is None:
            return
        if self.check is not None and type(names.get("check")) is not LockedModule:
            names["check"] = self.check
            cards.display(cards.notice_card("`check` was replaced in this notebook; it is back now."))
        self.lent = [name for name in used if name not in names and not hasattr(builtins, name)]
        source, error = self.failed
        names.update({n: Missing(n, error if re.search(rf"\b{n}\b", source) else "") for n in self.lent})

    def after(self, result: Any) -> None:
        source = result.info.raw_cell or ""
        if _names_in_check_cell(source) is None:
            error = result.error_before_exec or result.error_in_exec
            said = sandbox.describe_error(error).partition("  (your line")[0] if error else ""
            self.failed = source, re.sub(r" \(\S+, line \d+\)", "", said)
        for name in self.lent:
            self.shell.user_ns.pop(name, None)
        self.lent = []
        if type(self.shell.user_ns.get("check")) is LockedModule:
            self.check = self.shell.user_ns["check"]


@functools.lru_cache(maxsize=2)  # each cell is asked about before and after it runs
def _names_in_check_cell(source: str) -> list[str] | None:
    """The names that a cell like `check.spread(flags)` reads, or None for any other cell."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError):
        return None
    for statement in statements:
        function = getattr(getattr(statement, "value", None), "func", None)
        if not isinstance(function, ast.Attribute) or getattr(function.value, "id", "") != "check":
            return None
    found = [node.id for tree in statements for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return [name for name in dict.fromkeys(found) if name != "check"] if statements else None
