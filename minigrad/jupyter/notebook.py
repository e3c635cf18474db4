"""What minigrad adds to IPython: `%%expect`, `%%explain`, and warnings that name no temporary file.

`%%expect` is the first line of a cell that must raise: the error is printed, and the notebook goes on.

    %%expect RuntimeError "a second time"
    z.backward()
    z.backward()

prints ``RuntimeError: Trying to backward through the graph a second time ...``. The cell fails, with one sentence, if
nothing is raised or something else. `--explain` at the end of the line shows the answer of ``mg.viz.explain``;
`--brief` only the beginning of the error, for one that the reader has met before.

`%%explain` is the first line of a cell whose error is to be explained: the cell runs with every call noted, and instead
of a traceback you are shown which variable it was, which line saved it and which lines overwrote it, on your graph. An
error that is not autograd's is raised as ever. In a notebook that has not imported minigrad, `%load_ext minigrad` makes
both known.

A warning of minigrad is printed like an error that was expected: ``UserWarning: The .grad attribute ...``.
"""

import ast
import builtins
import contextlib
import re
import sys
import traceback
import warnings
from types import FrameType
from typing import Any


class Unexpected(AssertionError):
    """A cell did not do what its %%expect line says. Jupyter shows the sentence alone."""

    def _render_traceback_(self):
        return [f"Unexpected: {self}"]


def register() -> None:
    """Make %%expect and %%explain known to the running IPython, and show minigrad's warnings without a path there."""
    if register_magic("expect", expect) and register_magic("explain", explain):
        warnings.showwarning = _without_path(warnings.showwarning)


def register_magic(name: str, magic) -> bool:
    """Make ``magic(shell, line, cell)`` a cell magic of the running IPython. Whether there is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        shell.register_magic_function(lambda line, cell: magic(shell, line, cell), "cell", name)
    return shell is not None


def expect(shell, line: str, cell: str) -> None:
    """Run `cell` in the user's namespace and print what it raised, if that is what `line` names.

    Raises Unexpected if not. An interrupt by the user passes through.
    """
    line, option = re.findall(r"\A(.*?)(--explain|--brief)?\s*\Z", line)[0]
    kinds, text, words = _parse(line, shell.user_ns)
    explained = None
    try:
        _run(shell, cell)
    except (Exception, *kinds) as error:
        as_expected = isinstance(error, kinds) and text in str(error)
        raised, where = message(error), _line_of(error)
        if option == "--explain" and as_expected:  # now: the error keeps its graph alive, and is not kept
            explained = sys.modules["minigrad"].viz.explain(error)
    else:
        raise Unexpected(f"this cell should have raised {words}, but nothing was raised.")
    if not as_expected:
        raise Unexpected(f"this cell should have raised {words}, but {where}raised {raised}")
    if explained is not None:
        sys.displayhook(explained)
        return
    raised = beginning(raised) if option == "--brief" else raised
    sys.stdout.write(f"{raised}\n")  # at once, so that the cell has one output


def explain(shell, line: str, cell: str) -> None:
    """Run `cell` in the user's namespace with its calls noted; show the explanation of the error that it ends with.

    The calls are those of minigrad, and those of PyTorch where it is imported. `line` is empty. An error that
    `viz.explain` does not know is raised.
    """
    if line.strip():
        raise Unexpected(f"`%%explain {line}` is not understood; write `%%explain` alone, above the code.")
    viz = sys.modules["minigrad"].viz
    try:
        _run_noted(viz, shell, cell)
    except Exception as error:
        explained = viz.explain(error)
        if not explained.known:
            _show_from_cell(shell, error)
            raise
    else:
        return
    sys.displayhook(explained)


def _show_from_cell(shell, error: Any) -> None:
    """Let Jupyter show the traceback of an error without the frames of this file."""
    steps = error.__traceback__
    while steps is not None and steps.tb_frame.f_globals.get("__name__") == __name__:
        steps = steps.tb_next
    show = shell.InteractiveTB.structured_traceback
    error._render_traceback_ = lambda: show(type(error), error, steps)


def _run_noted(viz, shell, cell: str) -> None:
    """Run the cell in a `lines` block, once it has imported what it imports: else that could not be watched."""
    above = "" if cell.startswith("%%") else "# %%explain\n"  # so that lines have the numbers that the cell shows
    with contextlib.suppress(Exception):  # what fails here fails once more, with its traceback, below
        body = ast.parse(shell.transform_cell(cell)).body
        imports: list[ast.stmt] = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), "<imports of the cell>", "exec"), shell.user_ns)
    with viz.lines():
        _run(shell, above + cell)


def message(error: BaseException) -> str:
    """The first line of an error and what minigrad adds to it.

    >>> message(ValueError("no\\nand more"))
    'ValueError: no'
    """
    first = str(error).split("\n", 1)[0]
    lines = [f"{type(error).__name__}: {first}" if first else type(error).__name__]
    notes = "\n".join([str(error), *getattr(error, "__notes__", ())]).split("\n")[1:]
    return "\n".join(lines + [note for note in notes if note.startswith("minigrad:")])


def beginning(text: str) -> str:
    """What a message says before its first full stop, bracket or new line.

    >>> beginning("RuntimeError: no way (or none). Go elsewhere.")
    'RuntimeError: no way ...'
    """
    first = re.split(r" \(|\. |\n", text, maxsplit=1)[0]
    return first if first == text else f"{first} ..."


def _without_path(show_others):
    """A `warnings.showwarning` that prints minigrad's own without path and line, others with `show_others`.

    In a notebook path and line are those of a temporary file, different in each run.
    """

    def show(message, category, filename, lineno, file=None, line=None):
        if file is None and _warned_by_minigrad():
            sys.stdout.write(f"{category.__name__}: {message}\n")  # at once: one output of the cell
        else:
            show_others(message, category, filename, lineno, file, line)

    return show


def _warned_by_minigrad() -> bool:
    """Whether the module that has called `warnings.warn` is one of minigrad's."""
    frame: FrameType | None = sys._getframe()
    between = (__name__, "warnings", "_py_warnings")
    while frame is not None and frame.f_globals.get("__name__") in between:
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("minigrad.")


def _parse(line: str, namespace: dict) -> tuple[tuple, str, str]:
    """The classes that the line names, the text that it asks for, and both in words."""
    found = re.fullmatch(r"""\s*([\w.,\s]+?)\s*(?:(["'])(.*)\2)?\s*""", line)
    names = re.split(r"[,\s]+", found.group(1)) if found else []
    kinds = tuple(_look_up(name, namespace) for name in names)
    if not kinds or not all(isinstance(k, type) and issubclass(k, BaseException) for k in kinds):
        raise Unexpected(
            f"`%%expect {line}` is not understood; write `%%expect RuntimeError`, "
            'or `%%expect RuntimeError "some words"`.'
        )
    text = (found and found.group(3)) or ""
    return kinds, text, " or ".join(names) + (f' with "{text}" in its message' if text else "")


def _look_up(name: str, namespace: dict):
    first, *rest = name.split(".")
    found = namespace.get(first, getattr(builtins, first, None))
    for attribute in rest:
        found = getattr(found, attribute, None)
    return found


def _run(shell, cell: str) -> None:
    """Run the cell as IPython would: magics work, its last expression is displayed."""
    source = shell.transform_cell(cell)
    name = shell.compile.cache(source, shell.execution_count, raw_code=cell)
    body = ast.parse(source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(shell.compile(ast.Module(body, []), name, "exec"), shell.user_ns)
    if last is not None:
        exec(shell.compile(ast.Interactive([last]), name, "single"), shell.user_ns)


def _line_of(error: BaseException) -> str:
    """`line 3 ` for the line of the cell in which the error came up; "" where there is none."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_name == "<module>"]
    if isinstance(error, SyntaxError) and error.lineno is not None:
        lines.append(error.lineno)
    return f"line {lines[-1] + 1} " if lines else ""  # %%expect is line 1
