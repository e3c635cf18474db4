"""The cheat sheet, one printed page: `python -m tools.cheat_sheet` (a part of `python3 course.py author pages`).

Its tables are read off minigrad's own: the rows of the operations with their derivatives, and the refusals.
"""

from __future__ import annotations

import ast
import re
from html import escape
from pathlib import Path

from minigrad.messages import REFUSALS

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 46  # characters of a derivative that a column has room for

# The refusals that learners meet most, by their names in minigrad/messages.py.
COMMON = (
    "second time",
    "modified",
    "in place",
    "no history",
    "backward of several",
    "grad of an unused input",
    "flag of a result",
    "flag of integers, method",
    "retain_grad of a constant",
    "numpy of a tracked tensor",
    "number of gradients",
)

# Names that nobody types, and those for which the page has no room.
LEFT_OUT = {"reshape_alias", "unsafe_view", "alias", "put", "split_with_sizes", "rsub", "diag_embed", "lerp", "to"}
LEFT_OUT |= {"remainder", "log2", "log10", "asin", "acos", "rsqrt"}

# Derivatives whose rows call helpers of their files, as one would write them by hand.
BY_HAND = {
    "Element by element": {
        "pow": [
            ("self", "where(exponent == 0, 0.0, grad * exponent * self ** (exponent - 1))"),
            ("exponent", "grad * where((self == 0) & (exponent >= 0), 0.0, result * log(self))"),
        ]
    },
    "Products of matrices": {
        "mm": [("self", "matrix_matrix(grad, transposed(mat2))"), ("mat2", "matrix_matrix(transposed(self), grad)")]
    },
    "Sums and the like": {
        "sum": [("self", "expand(grad, self_shape)")],
        "mean": [("self", "expand(grad, self_shape) / count")],
        "max": [("self", "where(self == result, grad / ties, 0.0)")],
    },
}

ENDS = (
    ("x.detach()", "the same memory; other ways to x stay"),
    ("with no_grad():", "nothing inside is recorded"),
    ("x.requires_grad_(False)", "a leaf gets no .grad from now on"),
    ("x.item(), float(x), tensor(x), x.data", "numbers without a history, and no error"),
    ("x > 0, x.argmax(), x.long()", "no floats, so no gradient"),
)

STYLE = """
@page { size: A4 landscape; margin: 8mm }
body { font: 8.4pt/1.28 system-ui, "Segoe UI", Roboto, sans-serif; color: #1a1a1a; background: #fff; margin: 8px }
h1 { font-size: 13pt; margin: 0 0 3px } h2 { font-size: 10pt; margin: 5px 0 2px; color: #005a8d }
main { columns: 3; column-gap: 14px } section { break-inside: auto }
/* inherit: JupyterLab shows the page in the browser's quirks mode, where a table has a font of its own */
table { border-collapse: collapse; width: 100%; font: inherit; color: inherit } tr { break-inside: avoid }
td { padding: 0 4px 0 0; vertical-align: top; border-bottom: 0.5px solid #dcd8cc }
code { font: 7.6pt/1.25 ui-monospace, Menlo, Consolas, monospace } .q { color: #5d6570 } p { margin: 1px 0 3px }
"""


def rows(path: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """The operations of one file that have short derivatives: (name, [(input, derivative), ...])."""
    found: dict[str, list[tuple[str, str]]] = {}
    body = ast.parse(path.read_text(encoding="utf-8")).body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    for function in functions.values():
        for call in function.decorator_list:
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "op":
                name, rules = _row(function, call, functions)
                if rules and not name.endswith("_backward") and all(map(_is_plain, rules)):
                    found.setdefault(name, rules)
    return list(found.items())


def _is_plain(rule: tuple[str, str]) -> bool:
    """Whether a derivative is short, and says what it does without helpers of its file."""
    return len(rule[1]) <= LONGEST and not re.search(r"\b_\w+\(", rule[1])


class _Put(ast.NodeTransformer):
    """Replaces the parameters of a function by the arguments of a call."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.given.get(node.id, node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``number(1, dtype)`` is 1 for a reader."""
        is_number = getattr(node.func, "id", "") == "number"
        return node.args[0] if is_number else self.generic_visit(node)  # type: ignore[return-value]


def _written_out(rule: ast.expr, functions: dict[str, ast.FunctionDef]) -> ast.expr:
    """A derivative that only calls one of the `..._backward` operations: what that computes."""
    name = getattr(getattr(rule, "func", None), "id", "")
    if not isinstance(rule, ast.Call) or not name.endswith("_backward") or name[0] == "_" or name not in functions:
        return rule
    put = _Put(dict(zip((a.arg for a in functions[name].args.args), rule.args, strict=False)))
    for line in functions[name].body:
        if isinstance(line, ast.Return) and line.value:
            return put.visit(line.value)
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            put.given[line.targets[0].id] = put.visit(line.value)
        if isinstance(line, ast.AugAssign) and isinstance(line.target, ast.Name):
            put.given[line.target.id] = ast.BinOp(put.given[line.target.id], line.op, put.visit(line.value))
    return rule


def _row(function: ast.FunctionDef, call: ast.Call, functions: dict) -> tuple[str, list[tuple[str, str]]]:
    """The name of one row, and the derivatives that are written out in it."""
    words = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    name = str(given.value) if isinstance(given := words.get("name"), ast.Constant) else function.name
    rules = [
        (word, ast.unparse(_written_out(value.body, functions)))
        for word, value in words.items()
        if isinstance(value, ast.Lambda)
    ]
    return name, rules


def _operations(title: str, *files: str) -> str:
    made = [row for file in files for row in rows(ROOT / "minigrad" / file)]
    found: dict[str, list[tuple[str, str]]] = {}
    for name, rules in (*made, *BY_HAND.get(title, {}).items()):
        if name not in LEFT_OUT:
            found.setdefault(name, rules)  # of several of a name, the first is the common one
    lines = []
    for name, rules in found.items():
        shown = "<br>".join(
            f'<span class="q">{escape(argument)}:</span> <code>{escape(rule)}</code>' for argument, rule in rules
        )
        lines.append(f"<tr><td><code>{escape(name)}</code></td><td>{shown}</td></tr>")
    return f"<section><h2>{title}</h2><table>{''.join(lines)}</table></section>"


def _ends() -> str:
    lines = [f"<tr><td><code>{escape(call)}</code></td><td>{escape(what)}</td></tr>" for call, what in ENDS]
    return f"<section><h2>What ends a history</h2><table>{''.join(lines)}</table></section>"


def _refusals() -> str:
    lines = []
    for key in COMMON:
        kind, sentence, advice = REFUSALS[key]
        first = sentence.split(". ")[0].split(" (or ")[0].replace("{}", "…")
        said = f"<b>{kind.__name__}:</b> {escape(first)}"
        do = re.sub("`([^`]*)`", r"<code>\1</code>", escape(advice.replace("{}", "…")))
        lines.append(f"<tr><td>{said}<br><span class='q'>{do}</span></td></tr>")
    return f"<section><h2>What it refuses, and what to do</h2><table>{''.join(lines)}</table></section>"


def sheet() -> str:
    """The page as HTML: one side of A4, in three columns."""
    parts = [
        _operations("Element by element", "ops/arithmetic.py", "ops/pointwise.py"),
        _operations("Sums and the like", "ops/reduce.py"),
        _operations("Shapes", "ops/shape.py"),
        _operations("Products of matrices", "ops/linalg.py"),
        _ends(),
        _refusals(),
    ]
    intro = (
        "For each input the gradient that arrives there; <code>grad</code> is the gradient of the result. What the "
        "formulas of the inputs that need one mention besides <code>grad</code> is saved; operands and results among "
        "it are freed by a backward, so that a second one fails. Broadcasting is undone, and contributions are "
        "summed, by the engine."
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>minigrad: cheat sheet</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>minigrad, one page</h1><p>{intro}</p>\n<main>"
        + "\n".join(parts)
        + "</main></body></html>\n"
    )
