"""`%%versus`: the cell under minigrad and under PyTorch, side by side.

    %%versus half
    w = mg.tensor(3.0, requires_grad=True)
    half = w / 2
    half.grad

shows a row for each line with an output: what it prints, its warnings, its value, or the type and the first line
of its error. The names after `%%versus` are described at the end: value, flags, graph, `.grad`.

The cell stands alone. In it `mg` is minigrad on one side and PyTorch on the other; names of other cells are
refused, and names that it makes are gone afterwards. So what PyTorch says depends on nothing but the cell's
text, and where PyTorch is not installed a recording of it is shown: `transcripts.json`, one entry a cell.
A cell that was changed has no recording, and says so. With the variable MINIGRAD_VERSUS=recorded the recording
is shown in any case: what is stored in a notebook must not depend on who ran it.
"""

import ast
import builtins
import io
import json
import os
import re
import symtable
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from types import ModuleType

from .notebook import message, register_magic
from .predictions import LINE

TRANSCRIPTS = Path(__file__).with_name("transcripts.json")
HEAD = "%%versus"

# The output of each line: "" for none, None for a line that was not reached.
Rows = list[str | None]


class CannotCompare(Exception):
    """The cell cannot run on both sides. Jupyter shows the sentence alone."""

    def _render_traceback_(self):
        return [f"{HEAD}: {self}"]


def register() -> None:
    """Make %%versus known to the running IPython."""
    register_magic("versus", versus)


def versus(shell, line: str, cell: str) -> "Comparison":
    """Run the cell on both sides and compare their outputs.

    Raises CannotCompare if it uses a name that another cell of the notebook made.
    """
    parsed = Cell.of(f"{HEAD} {line}\n{cell}")
    not_made_here = sorted(parsed.needs & set(shell.user_ns) - set(vars(builtins)) - {"mg"})
    if not_made_here:
        names = ", ".join(f"`{name}`" for name in not_made_here)
        raise CannotCompare(f"this cell uses {names} of another cell; it has to stand alone, so make that here, too.")
    return compare(parsed)


# ---------------------------------------------------------------------- the cell


@dataclass(frozen=True)
class Cell:
    """A %%versus cell: the statements to run, the names to describe, the names it needs from elsewhere."""

    source: str
    statements: tuple[ast.stmt, ...]
    names: tuple[str, ...]
    needs: frozenset[str]

    @classmethod
    def of(cls, source: str) -> "Cell":
        """The cell with this text, its %%versus line included.

        >>> Cell.of("%%versus y\\ny = mg.sin(x)  ").needs == {"mg", "x"}
        True
        """
        lines = [line.rstrip() for line in source.strip().splitlines() if not line.startswith(LINE)]
        names = tuple(lines[0].removeprefix(HEAD).split())
        if not all(name.isidentifier() for name in names):
            raise CannotCompare(f"`{lines[0]}` is not understood; write `{HEAD}`, or `{HEAD} x y` with names.")
        code = "\n".join(lines[1:])
        try:
            tree = ast.parse(code)
            compile(tree, HEAD, "exec")  # finds what parsing lets pass, as `return` outside a function
        except SyntaxError as error:
            raise CannotCompare(f"line {(error.lineno or 0) + 1} is not Python: {error.msg}.") from None
        _refuse_imports(tree)
        return cls("\n".join(lines), tuple(tree.body), names, _names_from_elsewhere(code))

    @property
    def labels(self) -> list[str]:
        """The first column of the table: a statement as it was typed, or a fact about a name."""
        code = "\n".join(self.source.split("\n")[1:])
        typed = [ast.get_source_segment(code, statement) or "" for statement in self.statements]
        return typed + [label.format(name) for name in self.names for label in FACTS]


def _refuse_imports(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for module in modules:
            if module.split(".")[0] in ("torch", "minigrad"):
                raise CannotCompare(
                    f"leave out the import of `{module}`; `mg` is there, minigrad on one side and PyTorch on the other."
                )


def _names_from_elsewhere(code: str) -> frozenset[str]:
    """The global names that the code reads and never makes."""
    module = symtable.symtable(code, HEAD, "exec")
    read: set[str] = set()
    made: set[str] = set()
    scopes = [module]
    for scope in scopes:
        scopes += scope.get_children()
        for symbol in scope.get_symbols():
            if scope is module or symbol.is_global():
                (made if symbol.is_assigned() or symbol.is_imported() else read).add(symbol.get_name())
    return frozenset(read - made)


# ---------------------------------------------------------------------- one side


def run(cell: Cell, library: ModuleType) -> Rows:
    """The outputs of the cell with `library` as its `mg`: a text for each of its labels."""
    namespace = {"__name__": "__main__", "mg": library}
    rows, failed = [], False
    with _default_modes(library):
        for statement in cell.statements:
            text, failed = (None, True) if failed else _run_statement(statement, namespace)
            rows.append(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in cell.names:
                rows += _describe(name, namespace)
    return [text if text is None else _without_addresses(text) for text in rows]


@contextmanager
def _default_modes(library: ModuleType) -> Iterator[None]:
    """In this context grad mode, default dtype and warnings are as PyTorch starts; then they are as before."""
    dtype = library.get_default_dtype()
    # PyTorch gives some of its warnings once in a process: then they would depend on the cells before.
    warned = library.is_warn_always_enabled() if hasattr(library, "set_warn_always") else None
    with library.enable_grad():
        try:
            library.set_default_dtype(library.float32)
            if warned is not None:
                library.set_warn_always(True)
            yield
        finally:
            library.set_default_dtype(dtype)
            if warned is not None:
                library.set_warn_always(warned)


def _run_statement(statement: ast.stmt, namespace: dict) -> tuple[str, bool]:
    """Run one statement: what it prints, its warnings, its value or its error; whether it failed."""
    printed, last, failed = io.StringIO(), "", False
    with redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)  # PyTorch's own use of what it will drop
        try:
            value = _evaluate(statement, namespace)
            last = "" if value is None else repr(value)
        except Exception as error:
            last, failed = _first_line(error), True
    heard = [_first_line(each.message) for each in warned if isinstance(each.message, Warning)]
    texts = [printed.getvalue().rstrip("\n"), *heard, last]
    return "\n".join(text for text in texts if text), failed


def _evaluate(statement: ast.stmt, namespace: dict) -> object:
    if isinstance(statement, ast.Expr):
        return eval(compile(ast.Expression(statement.value), HEAD, "eval"), namespace)
    exec(compile(ast.Module([statement], []), HEAD, "exec"), namespace)
    return None


def _first_line(error: BaseException) -> str:
    """Type and first line, without the place in PyTorch's source that some of its warnings name."""
    return message(error).split("\n")[0].partition(" (Triggered internally at")[0]


def _without_addresses(text: str) -> str:
    """The text without addresses: PyTorch prints its nodes as `<MulBackward0 object at 0x7f...>`."""
    return re.sub(r"( object)? at 0x[0-9a-fA-F]+", "", text)


# ---------------------------------------------------------------------- facts about a tensor


def _graph_nodes(tensor) -> str:
    """The names of the nodes behind a tensor, depth first, each once."""
    found, seen, waiting = [], {id(None)}, [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            found.append(node)  # kept, so that no other gets its id
            waiting += [following for following, _ in reversed(node.next_functions)]
    return ", ".join(type(node).__name__ for node in found)


def _grad_fn_name(tensor) -> str:
    return "None" if tensor.grad_fn is None else type(tensor.grad_fn).__name__


FACTS = {
    "{}": repr,
    "{}.dtype": lambda tensor: str(tensor.dtype),
    "{}.requires_grad": lambda tensor: str(tensor.requires_grad),
    "{}.is_leaf": lambda tensor: str(tensor.is_leaf),
    "{}.grad_fn": _grad_fn_name,
    "nodes behind {}": _graph_nodes,
    "{}._version": lambda tensor: str(tensor._version),
    "{}.grad": lambda tensor: repr(tensor.grad),
}


def _describe(name: str, namespace: dict) -> Rows:
    """Every fact about a tensor; of anything else its value alone."""
    value = namespace.get(name)
    if isinstance(value, namespace["mg"].Tensor):
        return [_fact(read, value) for read in FACTS.values()]
    return [repr(value) if name in namespace else "not made", *[""] * (len(FACTS) - 1)]


def _fact(read, tensor) -> str:
    try:
        return read(tensor)
    except Exception as error:
        return _first_line(error)


# ---------------------------------------------------------------------- both sides


def compare(cell: Cell) -> "Comparison":
    """Both sides of the cell: PyTorch itself where it is installed, else what was recorded of it."""
    ours = run(cell, sys.modules["minigrad"])
    torch = None if os.environ.get("MINIGRAD_VERSUS") == "recorded" else installed_pytorch()
    if torch is not None:
        return Comparison(cell, ours, run(cell, torch), f"run with PyTorch {version(torch)}")
    recorded = stored()
    if cell.source in recorded["cells"]:
        return Comparison(cell, ours, recorded["cells"][cell.source], f"recorded from PyTorch {recorded['pytorch']}")
    return Comparison(cell, ours, None, "no recording of this cell; it runs where PyTorch is installed")


def installed_pytorch() -> ModuleType | None:
    """PyTorch, or None where it is not installed or where minigrad stands in its place."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch = import_module("torch")
    except (ImportError, OSError):  # OSError: one of its libraries does not load
        return None
    return torch if torch.__name__ == "torch" and hasattr(torch, "Tensor") else None


def version(torch: ModuleType) -> str:
    """`2.13.0`, whatever it was built for."""
    return torch.__version__.split("+")[0]


def stored() -> dict:
    """The recording: PyTorch's version, and for the text of each cell its rows."""
    return json.loads(TRANSCRIPTS.read_text(encoding="utf-8"))


def record(torch: ModuleType, sources: Iterable[str]) -> dict:
    """What `stored()` should be for cells with these texts."""
    cells = [Cell.of(source) for source in sources]
    return {"pytorch": version(torch), "cells": {cell.source: run(cell, torch) for cell in cells}}


@dataclass(frozen=True)
class Comparison:
    """The outputs of both sides. The text is the same whether PyTorch ran or was recorded; the table says which."""

    cell: Cell
    ours: Rows
    theirs: Rows | None
    origin: str

    @property
    def rows(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Label and outputs of each line that has any.

        The outputs are pairs (side, text); the side is `both`, or `minigrad` and `PyTorch`; `minigrad` alone where
        there is no recording.
        """
        if self.theirs is None:
            pairs = zip(self.cell.labels, self.ours, strict=True)
            return [(label, [("minigrad", text)]) for label, text in pairs if text]
        triples = zip(self.cell.labels, self.ours, self.theirs, strict=True)
        return [(label, _answers(ours, theirs)) for label, ours, theirs in triples if ours or theirs]

    @property
    def summary(self) -> str:
        """The outcome in a sentence."""
        if not self.rows:
            return f"Nothing was said. End the cell with a value, or name tensors: {HEAD} x y."
        if self.theirs is None:
            return "minigrad alone."
        same = sum(len(answers) == 1 for _, answers in self.rows)
        if same == len(self.rows):
            return "minigrad and PyTorch say the same."
        return f"minigrad and PyTorch say the same in {same} of {len(self.rows)} rows."

    def __repr__(self):
        lines = [self.summary]
        if self.theirs is None:
            lines.append(f"PyTorch: {self.origin}.")
        for label, answers in self.rows:
            lines.append(_indented("  ", label))
            lines += [_indented(f"    {who:10}", text) for who, text in answers]
        return "\n".join(lines)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        heads = ["line", "minigrad", *([] if self.theirs is None else ["PyTorch", "verdict"])]
        head = "".join(f'<th scope="col" style="{_CELL}">{text}</th>' for text in heads)
        body = "".join(_html_row(label, answers, self.theirs is not None) for label, answers in self.rows)
        caption = f"<b>{escape(self.summary)}</b> PyTorch: {escape(self.origin)}."
        return (
            f'<table style="{_TABLE}"><caption style="{_CAPTION}">{caption}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _answers(ours: str | None, theirs: str | None) -> list[tuple[str, str]]:
    if ours == theirs:
        return [("both", ours or "")]
    return [("minigrad", _heard(ours)), ("PyTorch", _heard(theirs))]


def _heard(said: str | None) -> str:
    return "(not reached)" if said is None else said or "(nothing)"


def _indented(start: str, text: str) -> str:
    """The text after `start`, its further lines below its first."""
    return start + text.replace("\n", "\n" + " " * len(start))


# No ground and no ink of its own: a notebook's page is light or dark.
_CELL = "text-align:left;vertical-align:top;padding:4px 10px;border:1px solid #8c8c8c"
_TABLE = "border-collapse:collapse;max-width:700px;margin:0"
_CAPTION = "caption-side:top;text-align:left;padding:4px 10px"
_MARK = "background-color:rgba(213,94,0,0.25)"
_CODE = "font-family:monospace;font-size:13px;margin:0;padding:0"
_CODE += ";white-space:pre-wrap;word-break:normal;overflow-wrap:break-word"  # JupyterLab would break inside words


def _html_row(label: str, answers: list[tuple[str, str]], judged: bool) -> str:
    same = len(answers) == 1
    span = ' colspan="2"' if same and judged else ""
    texts = "".join(f'<td{span} style="{_CELL}">{_code(text)}</td>' for _, text in answers)
    verdict = f'<td style="{_CELL}">{"same" if same else "<b>differs</b>"}</td>' if judged else ""
    head = f'<th scope="row" style="{_CELL};font-weight:normal">{_code(label)}</th>'
    return f'<tr style="{"" if same else _MARK}">{head}{texts}{verdict}</tr>'


def _code(text: str) -> str:
    return f'<pre style="{_CODE};background-color:rgba(0,0,0,0)">{escape(text)}</pre>'
