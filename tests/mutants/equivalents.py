"""Answers that mean the same as a right one, written otherwise: a check has to pass them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .operators import parsed

OPERATIONS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
EITHER_WAY = """
def {name}(a, b):
    if isinstance(a, mg.Tensor) or isinstance(b, mg.Tensor):
        return mg.{name}(a, b)
    return a {sign} b
"""
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
WRAPPED = {
    "calls a helper": "def {name}({header}):\n    return helper({names})",
    "is a lambda": "{name} = lambda {header}: helper({names})",
    "takes what comes": "def {name}(*inputs):\n    return helper(*inputs)",
    "is a method": "class Answer:\n    def ask(self, {header}):\n        return helper({names})\n{name} = Answer().ask",
    "is an object": (
        "class Answer:\n    def __call__(self, {header}):\n        return helper({names})\n{name} = Answer()"
    ),
    "is a partial": "import functools\n{name} = functools.partial(helper)",
    "is decorated": (
        "import functools\n@functools.wraps(helper)\ndef {name}(*inputs, **options):\n"
        "    return helper(*inputs, **options)"
    ),
}
POSITIONS = {  # what positional arguments are called
    "tensor": ["data"],
    "grad": ["outputs", "inputs", "grad_outputs"],
    "backward": ["gradient"],
    "register_hook": ["hook"],
}
VALUES = {
    "as NumPy numbers": "__import__('numpy').asarray({0})[()]",
    "as Fractions": "__import__('fractions').Fraction({0})",
}


def equivalents(source: str, name: str) -> Iterator[tuple[str, str]]:
    """(what was done, source) of every way to write the answer called `name` otherwise."""
    for kind, change in _KINDS.items():
        tree, *_ = parsed(source, name)
        before = ast.unparse(tree)
        after = change(tree, name)
        if after is not None:
            text = ast.unparse(ast.fix_missing_locations(after))
            if text != before or kind == "laid out anew":
                yield kind, text
    tree, *_ = parsed(source, name)
    function = _function(tree, name)
    if function and not (function.args.defaults or function.args.vararg or function.args.kwonlyargs):
        names = [one.arg for one in function.args.args]
        function.name = "helper"
        helper = ast.unparse(tree)
        for kind, wrapper in WRAPPED.items():
            yield kind, f"{helper}\n{wrapper.format(name=name, header=', '.join(names), names=', '.join(names))}"


def _function(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    last = tree.body[-1]
    return last if isinstance(last, ast.FunctionDef) and last.name == name and not last.decorator_list else None


def _laid_out(tree: ast.Module, name: str) -> ast.Module:
    return tree


def _renamed(tree: ast.Module, name: str) -> ast.Module:
    """Every parameter and every local name, in functions; names that a method's caller knows stay."""
    if any(isinstance(node, ast.Nonlocal | ast.Global) for node in ast.walk(tree)):
        return tree
    for function in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        inner = [node for node in ast.walk(function) if isinstance(node, ast.arg | ast.Name)]
        own = {node.arg for node in inner if isinstance(node, ast.arg)}
        own |= {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        own |= {node.name for node in ast.walk(function) if isinstance(node, ast.FunctionDef)} - {function.name}
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                node.arg = f"my_{node.arg}"
            elif isinstance(node, ast.Name) and node.id in own:
                node.id = f"my_{node.id}"
            elif isinstance(node, ast.FunctionDef) and node is not function:
                node.name = f"my_{node.name}"
    return tree


def _body(make: Callable[[list[ast.stmt], ast.FunctionDef], list[ast.stmt]]) -> Callable:
    """A change of the body of the answer, where it is a function."""

    def change(tree: ast.Module, name: str) -> ast.Module | None:
        function = _function(tree, name)
        if function is None:
            return None
        function.body = make(function.body, function)
        return tree

    return change


def _inside_enable_grad(body: list[ast.stmt], function: ast.FunctionDef) -> list[ast.stmt]:
    block = ast.parse("with mg.enable_grad(): pass").body
    block[0].body = body
    return block


def _with_a_forward(body: list[ast.stmt], function: ast.FunctionDef) -> list[ast.stmt]:
    return [*ast.parse("(mg.tensor(2.0, requires_grad=True) * 3).exp()").body, *body]


def _with_documentation(body: list[ast.stmt], function: ast.FunctionDef) -> list[ast.stmt]:
    function.returns = ast.Constant("what is asked")
    return [*ast.parse("'''What is asked.'''").body, *body]


def _with_a_look(body: list[ast.stmt], function: ast.FunctionDef) -> list[ast.stmt]:
    """A print of what comes in changes nothing."""
    return [*ast.parse(f"print({', '.join(one.arg for one in function.args.args)})").body, *body]


def _by_functions(tree: ast.Module, name: str) -> ast.Module:
    """`a + b` as `mg.add(a, b)`, where one of them is a tensor."""
    changer = _ByFunctions()
    changed = changer.visit(tree)
    helpers = [EITHER_WAY.format(name=one, sign=SIGNS[one]) for one in sorted(changer.used)]
    changed.body[:0] = ast.parse("\n".join(helpers)).body
    return changed


class _ByFunctions(ast.NodeTransformer):
    def __init__(self) -> None:
        self.used: set[str] = set()

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        operation = OPERATIONS.get(type(node.op))
        if operation is None:
            return node
        self.used.add(operation)
        return ast.Call(ast.Name(operation, ast.Load()), [node.left, node.right], [])


class _Returns(ast.NodeTransformer):
    """Changes what the answer returns."""

    def __init__(self, make: Callable[[ast.expr], list[ast.stmt]]) -> None:
        self.make = make

    def visit_Return(self, node: ast.Return):
        return self.make(node.value) if node.value is not None else node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def _by_a_name(value: ast.expr) -> list[ast.stmt]:
    return [
        ast.Assign([ast.Name("outcome", ast.Store())], value, lineno=0),
        ast.Return(ast.Name("outcome", ast.Load())),
    ]


def _a_tuple(value: ast.expr) -> list[ast.stmt]:
    if isinstance(value, ast.List):
        value = ast.Tuple(value.elts, value.ctx)
    elif isinstance(value, ast.ListComp):
        value = ast.Call(ast.Name("tuple", ast.Load()), [value], [])
    return [ast.Return(value)]


def _returns(make: Callable[[ast.expr], list[ast.stmt]]) -> Callable:
    return lambda tree, name: _Returns(make).visit(tree)


def _tuples_in_calls(tree: ast.Module, name: str) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.args = [ast.Tuple(one.elts, one.ctx) if isinstance(one, ast.List) else one for one in node.args]
    return tree


def _by_keyword(tree: ast.Module, name: str) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names = POSITIONS.get(node.func.attr, [])
            whole = ast.unparse(node.func)
            known = whole.startswith("mg.") or node.func.attr in ("backward", "register_hook")
            if known and node.args and len(node.args) <= len(names) and "autograd.backward" not in whole:
                pairs = zip(names, node.args, strict=False)
                node.keywords = [ast.keyword(one, value) for one, value in pairs] + node.keywords
                node.args = []
    return tree


class _Methods(ast.NodeTransformer):
    """`mg.exp(x)` as `x.exp()`, and `x.exp()` as `mg.exp(x)`."""

    NAMES = ("exp", "log", "sigmoid", "sqrt", "sum", "mean", "abs", "tanh")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in self.NAMES or node.keywords:
            return node
        owner = ast.unparse(node.func.value)
        if owner == "mg" and len(node.args) == 1:
            return ast.Call(ast.Attribute(node.args[0], node.func.attr, ast.Load()), [], [])
        if owner != "mg" and owner != "np" and not node.args:
            return ast.Call(ast.parse(f"mg.{node.func.attr}", mode="eval").body, [node.func.value], [])
        return node


def _by_set_grad_enabled(tree: ast.Module, name: str) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node) in ("mg.no_grad()", "mg.enable_grad()"):
            node.args = [ast.Constant("enable" in ast.unparse(node.func))]
            node.func = ast.parse("mg.set_grad_enabled", mode="eval").body
    return tree


def _dict(make: Callable[[ast.Dict], ast.expr]) -> Callable:
    """A change of an answer that is a dict."""

    def change(tree: ast.Module, name: str) -> ast.Module | None:
        last = next((s for s in reversed(tree.body) if isinstance(s, ast.Assign)), None)
        if last is None or ast.unparse(last.targets[0]) != name or not isinstance(last.value, ast.Dict):
            return None
        last.value = make(last.value)
        return tree

    return change


def _reversed(node: ast.Dict) -> ast.Dict:
    return ast.Dict(node.keys[::-1], node.values[::-1])


def _numbers(form: str) -> Callable[[ast.Dict], ast.Dict]:
    def other(value: ast.expr) -> ast.expr:
        number = isinstance(value, ast.Constant) and type(value.value) in (int, float)
        return ast.parse(form.format(ast.unparse(value)), mode="eval").body if number else value

    return lambda node: ast.Dict(node.keys, [other(value) for value in node.values])


def _ordered(node: ast.Dict) -> ast.expr:
    return ast.Call(ast.parse("__import__('collections').OrderedDict", mode="eval").body, [node], [])


_KINDS: dict[str, Callable] = {
    "laid out anew": _laid_out,
    "renamed": _renamed,
    "inside enable_grad": _body(_inside_enable_grad),
    "one more forward": _body(_with_a_forward),
    "documented": _body(_with_documentation),
    "prints its inputs": _body(_with_a_look),
    "functions for signs": _by_functions,
    "methods for functions": lambda tree, name: _Methods().visit(tree),
    "keywords": _by_keyword,
    "set_grad_enabled": _by_set_grad_enabled,
    "tuples given": _tuples_in_calls,
    "a tuple returned": _returns(_a_tuple),
    "returned by a name": _returns(_by_a_name),
    "keys reversed": _dict(_reversed),
    "an OrderedDict": _dict(_ordered),
    **{f"numbers {kind}": _dict(_numbers(form)) for kind, form in VALUES.items()},
}
