"""Where in a program a call stands: its frames, the line, and what the line calls its operands.

A frame is noted as its code and the place of the instruction, which costs little; line, expression and names are looked
up in the source on demand.
"""

import ast
import builtins
import io
import linecache
import sysconfig
import tokenize
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_PACKAGE = str(Path(__file__).parents[1])
_LIBRARIES = [_PACKAGE, *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))]
MAX_FRAMES = 8  # of yours that are noted for a call


def is_yours(file: str) -> bool:
    """Whether a file of source is the user's: no installed package, no standard library, nothing of minigrad."""
    if file.startswith(("<frozen", "<operation ")) or "site-packages" in file or "dist-packages" in file:
        return False
    return not any(file.startswith(str(Path(folder)) + ("/" if "/" in file else "\\")) for folder in _LIBRARIES)


def _is_noted(file: str) -> tuple[bool, bool]:
    """Whether a file's frames are noted; and whether the innermost one is, as those of other packages are."""
    parts = Path(file).parts
    installed = [parts[i + 1] for i, part in enumerate(parts[:-1]) if part in ("site-packages", "dist-packages")]
    return is_yours(file), bool(installed) and installed[-1] not in ("torch", Path(_PACKAGE).name)


_known: dict[str, tuple[bool, bool]] = {}  # by file: to look up a code itself would take as long as the call


def place_of(frame: FrameType | None, base: FrameType | None = None) -> tuple[tuple, FrameType | None]:
    """The user's frames from the innermost one out to `base`: (code, instruction, code, instruction ...).

    Where another package calls the framework, its line comes first, before the user's line that called it. Beside them
    the frame that the user's innermost one called, None if it called the framework itself.
    """
    found: list = []
    inner = through = None
    outside = True  # no frame of the user's was met so far
    while frame is not None:
        code = frame.f_code
        known = _known.get(code.co_filename)
        if known is None:
            known = _known[code.co_filename] = _is_noted(code.co_filename)
        yours, if_innermost = known
        if yours:
            if outside:
                through, outside = inner, False
            found.append(code)
            found.append(frame.f_lasti)
            if len(found) == 2 * MAX_FRAMES:
                break
        elif if_innermost and not found:
            found += (code, frame.f_lasti)
        if frame is base:
            break
        inner, frame = frame, frame.f_back
    return tuple(found), through


@dataclass(frozen=True)
class Line:
    """A line of the user's: ``file``, ``number`` and ``text``; ``function`` that it stands in, "" at the top.

    ``times`` is how often it had run when the call was noted, of ``total`` times: the round of a loop.
    ``callers`` are the lines through which it was called.
    """

    file: str
    number: int
    text: str
    function: str = ""
    times: int = 1
    total: int = 1
    callers: tuple["Line", ...] = ()

    def __str__(self):
        """`line 4` with what it says, its round, the function that it stands in, and the line that called that."""
        words = f"{self.place}, `{self.text}`"
        rounds = f", the {ordinal(self.times)} of {self.total} times that it ran" if self.total > 1 else ""
        caller = f", called by line {self.callers[0].number}" if self.callers else ""
        if not is_yours(self.file):  # of your own line it is known how often it ran
            caller, rounds = caller + rounds, ""
        return words + rounds + (f" (in {self.function}(){caller})" if self.function else "")

    @property
    def place(self) -> str:
        """`line 4`, and of which file where it is no cell of a notebook."""
        in_cell = self.file.startswith("<") or "ipykernel_" in self.file
        return f"line {self.number}" + ("" if in_cell else f" of {Path(self.file).name}")


def ordinal(number: int) -> str:
    """The number as a place in a row.

    >>> ordinal(1), ordinal(2), ordinal(11), ordinal(23)
    ('1st', '2nd', '11th', '23rd')
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def line_of(place: tuple, times: int = 1, total: int = 1) -> Line | None:
    """The line of a place, with those that called it; None where no frame is the user's."""
    lines = []
    for code, instruction in frames_of(place):
        text = code_of(code.co_filename, number := line_number(code, instruction))
        names = code.co_qualname.split(".") if code.co_name in _PARTS else [code.co_name]
        function = next((name for name in reversed(names) if name[0] != "<" or name == "<lambda>"), "")
        lines.append(Line(code.co_filename, number, text, function))
    if not lines:
        return None
    first = lines[0]
    return Line(first.file, first.number, first.text, first.function, times, total, tuple(lines[1:]))


_PARTS = ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")  # code of its own that is a part of a function's line


def frames_of(place: tuple) -> list[tuple[CodeType, int]]:
    """The frames of a place, without that of a function whose comprehension is there already."""
    found: list[tuple[CodeType, int]] = []
    for code, instruction in zip(place[::2], place[1::2], strict=True):
        inner = found[-1][0] if found else None
        if inner is None or inner.co_name not in _PARTS or inner not in code.co_consts:
            found.append((code, instruction))
    return found


def called_at(place: tuple) -> tuple:
    """What tells the user's line from others: its instruction, and the line that called its function."""
    frames = [frame for frame in frames_of(place) if is_yours(frame[0].co_filename)][:2]
    return tuple(
        (id(code), line_number(code, instruction) if i else instruction) for i, (code, instruction) in enumerate(frames)
    )


def line_number(code: CodeType, instruction: int) -> int:
    """The number of the line that an instruction stands in."""
    return position(code, instruction)[0] or code.co_firstlineno


def code_of(file: str, number: int) -> str:
    """A line of source, without the comment at its end."""
    line = linecache.getline(file, number).strip()
    with suppress(tokenize.TokenError, SyntaxError):  # the line may be a part of a statement
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            if token.type == tokenize.COMMENT:
                return line[: token.start[1]].rstrip() or line
    return line


def position(code: CodeType, instruction: int) -> tuple:
    """(line, end line, column, end column) of an instruction."""
    positions = list(code.co_positions())
    index = instruction // 2
    return positions[index] if 0 <= index < len(positions) else (None,) * 4


@cache
def _tree(file: str, source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


_REPEATERS = {*vars(builtins), "reduce", "accumulate", "starmap", "prod", "fsum", "array", "asarray"}


class Spot:
    """The expression of a call in its statement: what the operands and the result are called there."""

    def __init__(self, place: tuple):
        self.expression: Any = None
        self.around: list[ast.AST] = []  # the nodes that it stands in, from the outside in
        if not place:
            return
        code, instruction = place[:2]
        source = "".join(linecache.getlines(code.co_filename))
        tree, where = _tree(code.co_filename, source), position(code, instruction)
        if tree is not None and None not in where:
            self._find(tree, where)

    def _find(self, tree: ast.Module, where: tuple) -> None:
        first, last, *_ = where
        stack: list[tuple[ast.AST, list]] = [(tree, [])]
        while stack:
            node, around = stack.pop()
            parts = ("lineno", "end_lineno", "col_offset", "end_col_offset")
            if tuple(getattr(node, part, None) for part in parts) == where and not isinstance(node, ast.Expr):
                self.expression, self.around = node, around
                return
            inside = getattr(node, "lineno", first) <= first <= getattr(node, "end_lineno", last)
            if inside:
                stack.extend((child, [*around, node]) for child in ast.iter_child_nodes(node))

    @property
    def statement(self) -> ast.stmt | None:
        """The statement that the expression stands in, or is."""
        found = [node for node in (*self.around, self.expression) if isinstance(node, ast.stmt)]
        return found[-1] if found else None

    @property
    def target(self) -> str:
        """What the result is called: `y` in ``y = x * 2``; "" where it has no name."""
        statement = self.statement
        if isinstance(statement, ast.AugAssign):
            return ast.unparse(statement.target)
        if isinstance(statement, ast.Assign) and statement.value is self.expression and len(statement.targets) == 1:
            target = statement.targets[0]
            return ast.unparse(target) if isinstance(target, ast.Name | ast.Attribute | ast.Subscript) else ""
        if isinstance(statement, ast.AnnAssign) and statement.value is self.expression:
            return ast.unparse(statement.target)
        return ""

    def calls(self, op: str) -> bool:
        """Whether the expression is this operation, and no call of something that makes it."""
        function = getattr(self.expression, "func", None)
        called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return not isinstance(self.expression, ast.Call) or called.strip("_") == op.strip("_")

    def calls_several(self, op: str) -> bool:
        """Whether it calls what may do an operation several times: sum(...) adds and adds."""
        called = getattr(getattr(self.expression, "func", None), "attr", getattr(self.expression, "func", None))
        name = called.id if isinstance(called, ast.Name) else called
        return isinstance(name, str) and name in _REPEATERS and not self.calls(op)

    def operand(self, op: str, where: Any, count: int) -> str:
        """What an argument of the operation is called there; "" where the line does not say.

        `where` is its position, a pair (position, index in a list) or the name of a keyword, `count` how many
        positional arguments the operation was given.
        """
        part = ""
        if isinstance(where, tuple):
            where, part = where[0], f"[{where[1]}]"
        found = self._argument(op, where, count)
        if found is None:
            return ""
        if part and isinstance(found, ast.List | ast.Tuple):
            index = int(part[1:-1])
            return ast.unparse(found.elts[index]) if index < len(found.elts) else ""
        return ast.unparse(found) + part

    def _argument(self, op: str, where: Any, count: int) -> ast.expr | None:
        node = self.expression
        if isinstance(node, ast.Call):
            return self._argument_of_call(node, op, where, count)
        operands: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
            if op.startswith("__r") or op in ("rsub", "rpow"):
                operands.reverse()
        elif isinstance(node, ast.AugAssign):
            operands = [node.target, node.value]
        elif isinstance(node, ast.UnaryOp):
            operands = [node.operand]
        elif isinstance(node, ast.Subscript):
            operands = [node.value]
        elif isinstance(node, ast.Attribute):
            operands = [node.value]
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        return operands[where] if isinstance(where, int) and where < len(operands) else None

    def _argument_of_call(self, node: ast.Call, op: str, where: Any, count: int) -> ast.expr | None:
        if not self.calls(op) or any(isinstance(arg, ast.Starred) for arg in node.args):
            return None
        function, called = node.func, getattr(node.func, "attr", "")
        if isinstance(where, str):
            return next((keyword.value for keyword in node.keywords if keyword.arg == where), None)
        operands = list(node.args)
        is_method = not op.startswith("__") or called.startswith("__")  # copy.deepcopy(x) is a __deepcopy__ of x
        if len(operands) < count and isinstance(function, ast.Attribute) and is_method:
            operands.insert(0, function.value)
        return operands[where] if where < len(operands) else None

    def inside(self, kinds: Any) -> list:
        """The nodes of some kinds that the expression stands in, from the inside out."""
        return [node for node in reversed(self.around) if isinstance(node, kinds)]
