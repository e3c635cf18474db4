"""Small changes to an answer, one at a time: the slips and misuses that a check has to notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from types import CodeType

# Names that stand for one another in a slip, as `object.name` and alone.
OTHER_NAMES = {
    "sum": ["mean"],
    "mean": ["sum"],
    "max": ["min"],
    "min": ["max"],
    "any": ["all"],
    "all": ["any"],
    "zeros": ["ones"],
    "ones": ["zeros"],
    "zeros_like": ["ones_like"],
    "ones_like": ["zeros_like"],
    "exp": ["log"],
    "log": ["exp"],
    "add_": ["sub_"],
    "sub_": ["add_"],
    "no_grad": ["enable_grad"],
    "enable_grad": ["no_grad"],
    "is_leaf": ["requires_grad"],
    "requires_grad": ["is_leaf"],
    "retains_grad": ["requires_grad"],
    "extend": ["append"],
    "append": ["extend"],
}
OTHER_OPERATORS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div, ast.Add],
    ast.Div: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.FloorDiv: [ast.Div],
    ast.Mod: [ast.FloorDiv],
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
}
IN_PLACE = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
PLAIN_VALUES = (ast.Constant, ast.List, ast.Dict)
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
VALUES = (ast.Name, ast.Call, ast.BinOp, ast.Subscript, ast.UnaryOp)
DRAWINGS = ("mg.draw(", "mg.viz.")
NO_HISTORY = (".detach(", ".item(", ".data", ".numpy(", ".grad", "_like(", ".numel(", ".tolist(", "len(")
PLAIN = (
    "set",
    "tuple",
    "list",
    "dict",
    "len",
    "range",
    "float",
    "int",
    "zip",
    "enumerate",
    "sorted",
    "mg.tensor",
    "mg.eye",
)
AGAIN_THE_SAME = (
    ".zero_(",
    "set_rng_state(",
    ".pop(",
    ".add(",
    "save_for_backward(",
    "set_grad_enabled(",
    ".retain_grad(",
    ".requires_grad_(",
    ".detach_(",
)
TWICE_THE_SAME = (".mark_dirty(", ".update(", " |= ")
EVEN = ("2", "2.0")
HOOK = "p.register_hook(lambda grad: grad)"
OFF = "mg.set_grad_enabled(False)"


@dataclass(frozen=True)
class Mutant:
    """A changed answer. `change` says what was changed, in the answer's own words: "before => after"."""

    change: str
    source: str
    equal: bool = False  # by construction: not judged, but in the sample, so that no other mutant moves up


@dataclass(frozen=True)
class Task:
    """What an exercise asks for, as far as it says what is worth changing: not what the text leaves free."""

    name: str  # of the answer
    kind: str = "write"
    returns: bool = True
    graphs: bool = False  # its chapter is about what keeps a graph
    second: bool = True  # it asks for derivatives of derivatives, if it is a Function
    given: frozenset[str] = frozenset()  # functions that are there already
    typed: bool = True  # its result has the dtype of what is given
    tracked: bool = True  # what is given has, or may get, a history
    data: frozenset[str] = frozenset()  # names of what has none all the same


def mutants(source: str, task: Task, habits: bool = True) -> Iterator[Mutant]:
    """Every small change to an answer that leaves other bytecode, each once.

    Of a prediction only the values are changed, for how they were found is free; so are the numbers of a graph that is
    to be built. `habits`: also what a function does besides its work, which is the same for every way to write it.
    """
    tree, first, last = parsed(source, task.name)
    if task.kind == "predict":
        first, last = _lines_of_the_dict(tree, task.name)
    answer = next(statement for statement in reversed(tree.body) if task.name in _made(statement))
    if not isinstance(answer, ast.FunctionDef | ast.ClassDef) and "while " in source:
        return  # a search: changed, it may never end, and no sandbox runs what a cell does by itself
    parts = _Parts(tree)
    codes = {parts.whole()[1]}
    times: dict[str, int] = {}
    for title, equal, owner in _edits(tree, task, first, last, habits):
        try:
            after, code = parts.whole(owner)
        except (SyntaxError, ValueError):
            continue
        if code not in codes:
            codes.add(code)
            change = title.replace("\n", " ")
            times[change] = times.get(change, 0) + 1
            yield Mutant(f"{change} #{times[change]}" if times[change] > 1 else change, after, equal)


class _Parts:
    """The source and the bytecode of a tree, made anew only for the statement of the module that was changed."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.home = {node: statement for statement in tree.body for node in ast.walk(statement)}
        self.known = {statement: _unparsed(statement) for statement in tree.body}

    def sources(self, changed: ast.AST | None) -> list[str]:
        """The source of each statement, after a change to the node `changed`."""
        anew = self.home.get(changed)
        return [self.known[s] if s in self.known and s is not anew else _unparsed(s) for s in self.tree.body]

    def whole(self, changed: ast.AST | None = None) -> tuple[str, tuple]:
        """What `ast.unparse` makes of the tree, an empty line above each definition; what it does, by statement."""
        sources = self.sources(changed)
        lines = zip(self.tree.body, sources, strict=True)
        text = "\n".join(f"\n{text}" if isinstance(one, DEFINITIONS) else text for one, text in lines)
        return text.lstrip("\n"), tuple(map(_words_of, sources))


@cache
def _words_of(source: str) -> tuple:
    return words(compile(source, "", "exec"))


def _unparsed(node: ast.AST) -> str:
    try:
        return ast.unparse(node)
    except AttributeError:  # a new statement has no line yet; to look at all nodes takes as long as to unparse them
        return ast.unparse(ast.fix_missing_locations(node))


def parsed(source: str, name: str) -> tuple[ast.Module, int, int]:
    """The statements that make the answer `name`, and the lines between which they may be changed."""
    lines = source.splitlines()
    marks = [i for i, line in enumerate(lines, 1) if line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION")]
    first, last = marks or (0, len(lines))
    tree = ast.parse(source)
    made = max(i for i, statement in enumerate(tree.body) if name in _made(statement))
    defines = isinstance(tree.body[made], ast.FunctionDef | ast.ClassDef)
    made = max(i for i, statement in enumerate(tree.body) if i <= made or (defines and not _is_shown(statement, name)))
    kept = [
        statement
        for i, statement in enumerate(tree.body)
        if i <= made or not (marks or defines) or not _is_shown(statement, name)
    ]
    kept = [one for one in kept if not ast.unparse(one).startswith(DRAWINGS)]
    tree.body = _without_what_is_made_anew(kept) if marks else kept
    return tree, first, last


def _lines_of_the_dict(tree: ast.Module, name: str) -> tuple[int, int]:
    for statement in tree.body:
        if name in _made(statement) and isinstance(getattr(statement, "value", None), ast.Dict):
            return statement.lineno, statement.end_lineno or 0
    return 1, 0


def _made(statement: ast.stmt) -> set[str]:
    """The names that a statement binds."""
    stored = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {getattr(statement, "name", "")} | {a.asname or a.name for a in getattr(statement, "names", ())}


def _is_shown(statement: ast.stmt, name: str) -> bool:
    """Whether a statement after the answer is no part of it: draws it, calls it, or makes what it is called with."""
    if isinstance(statement, ast.Expr | ast.AugAssign | ast.For | ast.With):
        return name not in _names(statement) or ast.unparse(statement).startswith((*DRAWINGS, f"{name}("))
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name | ast.Tuple)


def _without_what_is_made_anew(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Without a function, a class or a dict that a later statement of the cell replaces."""

    def made(statement: ast.stmt) -> str:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict | ast.Constant):
            return ast.unparse(statement.targets[0])
        return getattr(statement, "name", "")

    last = {ast.unparse(s.targets[0]) if isinstance(s, ast.Assign) else made(s): i for i, s in enumerate(statements)}
    return [s for i, s in enumerate(statements) if not made(s) or last[made(s)] == i]


def words(code: CodeType) -> tuple:
    """What a program does, wherever it stands; the type tells 1 from 1.0 and True."""
    constants = tuple(words(one) if isinstance(one, CodeType) else (type(one), repr(one)) for one in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable


# --- Where something is changed -------------------------------------------------------------------


def _edits(tree: ast.Module, task: Task, first: int, last: int, habits: bool) -> Iterator[tuple[str, bool, ast.AST]]:
    """Change the tree in place, yield what was changed, whether it means the same, and where; and change it back."""
    callers = _callers_names(tree)
    value = task.kind == "build" and not [*_functions(tree, task.name)]
    given = {n for one in tree.body if getattr(one, "name", "") in task.given for n in ast.walk(one)}
    places = [place for place in _places(tree, first, last, task) if _is_asked_for(place, task, tree)]
    blocks = [*_blocks(tree)] if task.kind != "predict" else []
    for owner, field, block in blocks:
        for i, statement in enumerate(block):
            if not first <= statement.lineno <= last or statement in given:
                continue
            for title, new in [*_other_statements(block, i, owner, task)]:
                setattr(owner, field, new)
                ends = title == "twice" and isinstance(owner, ast.Try) and field == "body" and statement is block[-1]
                same = ends or _does_the_same(title, statement, block[i + 1 :], task)
                yield f"{title} {_head(statement)}", same, owner
            setattr(owner, field, block)
    for owner, field, index, node in [place for place in places if place[3] not in given]:
        shown = owner if isinstance(node, ast.Name | ast.Constant) and not isinstance(owner, ast.Dict) else node
        old = f"{_key(owner, index)}{_head(shown)}"
        for new in [*_other_nodes(owner, field, node)]:
            _put(owner, field, index, new)
            if (
                not task.graphs
                and isinstance(new, ast.Call)
                and "_graph=True" in _head(new)
                and "_graph=True" not in old
            ):
                continue
            same = _means_the_same(owner, node, new, callers, task) or (value and _is_of_no_picture(owner, node, new))
            yield f"{old} => {_head(shown if shown is owner else new)}", same, owner
        _put(owner, field, index, node)
    for function in [*_functions(tree, task.name)] if habits else ():
        kept = function.body, function.args
        for title, body, arguments in [*_other_functions(function)]:
            other_dtype, cut = title.endswith("another dtype"), title.endswith((".detach()", ".grad = None", "grad_()"))
            done = cut and (not task.tracked or _is_done_anyway(title, function, task))
            function.body, function.args = body, arguments
            yield title, (other_dtype and not task.typed) or done, function
            function.body, function.args = kept


def _is_done_anyway(title: str, function: ast.FunctionDef, task: Task) -> bool:
    """Whether a function clears the same `.grad` itself, or something is done to data, which has none."""
    what = title.removeprefix("before all: ")
    name = what.removeprefix("for p in ").partition(":")[0].partition(".")[0].partition(" ")[0]
    cleared = "p.grad = None" if what.startswith("for ") else f"{name}.grad = None"
    source = ast.unparse(function)
    return name in task.data or (title.endswith(cleared) and cleared in source and "backward(" in source)


def _callers_names(tree: ast.Module) -> set[str]:
    """The names of what an answer is given, and of what it takes out of that one by one."""
    found = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    loops = [one.target for one in ast.walk(tree) if isinstance(one, ast.For | ast.comprehension)]
    return found | {one.id for target in loops for one in ast.walk(target) if isinstance(one, ast.Name)}


def _does_the_same(title: str, statement: ast.stmt, after: list[ast.stmt], task: Task) -> bool:
    """A statement without history, whether it is recorded or not; one moved over another that it has no part in."""
    if title == "one line later":
        return not _depend(statement, after[0])
    if title == "twice":
        head = _head(statement)
        return head.startswith("mg.autograd.grad(") or any(word in head for word in TWICE_THE_SAME)
    if title != "under no_grad:":
        return False
    into = statement.targets[0] if isinstance(statement, ast.Assign) else None
    says_yes_or_no = isinstance(getattr(statement, "value", None), ast.Compare | ast.BoolOp)
    plain = says_yes_or_no or _gives_numbers(ast.unparse(statement)) or isinstance(into, ast.Subscript)
    return plain or not task.tracked


def _gives_numbers(source: str) -> bool:
    """Whether something gives what has no history, whatever it is given."""
    derived = "functional." in source and "create_graph" not in source
    return derived or any(word in source for word in ("np.", ".name()", "__name__", ".explain(", ".text"))


def _depend(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether one of two statements writes what the other reads or writes."""
    leaves = ast.Return | ast.Break | ast.Continue | ast.Raise | ast.Yield | ast.With | ast.Try
    if any(isinstance(node, leaves) for part in (one, other) for node in ast.walk(part)):
        return True
    (wrote, used), (wrote_too, used_too) = map(_touched, (one, other))
    return bool(wrote & (wrote_too | used_too) or wrote_too & used)


def _touched(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a statement writes, and those that it uses; of an attribute its own name, with a dot."""
    nodes = [*ast.walk(statement)]
    used = {one.id for one in nodes if isinstance(one, ast.Name)}
    used |= {f".{one.attr}" for one in nodes if isinstance(one, ast.Attribute)}
    wrote = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    wrote |= {statement.name} if isinstance(statement, ast.FunctionDef | ast.ClassDef) else set()
    for one in nodes:
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store):
            wrote.add(f".{one.attr}")
        elif isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store):
            wrote |= {inner.id for inner in ast.walk(one.value) if isinstance(inner, ast.Name)}
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
            method, base = one.func.attr, one.func.value
            walks = method in ("backward", "step")
            wrote |= {".grad"} if walks else set()
            stands_alone = any(isinstance(part, ast.Expr) and part.value is one for part in nodes)
            changes = not walks and (stands_alone or method.endswith("_") or method.startswith("pop"))
            wrote |= {getattr(base, "id", f".{getattr(base, 'attr', '')}")} if changes else set()
    frees = any(isinstance(one, ast.Call) and getattr(one.func, "id", "") == "heappop" for one in nodes)
    return wrote | (used if frees else set()), used | ({".grad"} if ".backward" in used else set())


def _means_the_same(owner: ast.AST, node: ast.AST, new: ast.AST, callers: set[str], task: Task) -> bool:
    """What changes nothing in nearly every answer: a cut where nothing comes back, an update of a name of one's own."""
    if isinstance(new, ast.Call) and isinstance(new.func, ast.Attribute) and new.func.value is node:
        backward = isinstance(owner, ast.Call) and ast.unparse(owner.func).endswith("backward")
        of_gradients = backward or getattr(owner, "arg", "") in ("gradient", "grad_outputs", "grad_tensors")
        if new.func.attr == "item":  # the update of a leaf with one number
            return (isinstance(owner, ast.AugAssign) and node.unrecorded) or "np." in ast.unparse(node)
        of_data = isinstance(node, ast.Name) and node.id in task.data
        derived = isinstance(owner, ast.Call) and _gives_numbers(ast.unparse(owner))
        plain = of_data or derived or _gives_numbers(ast.unparse(node))
        return new.func.attr == "detach" and (node.cut or of_gradients or plain or not task.tracked)
    if isinstance(node, ast.Call) and _is_of_no_weight(owner, node, new):
        return True
    if isinstance(node, ast.Constant) and isinstance(new, ast.Constant):
        return _is_another_word(owner, node.value, new.value)
    if isinstance(node, ast.BinOp) and isinstance(new, ast.BinOp) and isinstance(node.op, ast.Sub):
        squared = isinstance(owner, ast.BinOp) and isinstance(owner.op, ast.Pow) and ast.unparse(owner.right) in EVEN
        return squared and new.left is node.right
    if isinstance(node, ast.BinOp) and isinstance(new, ast.Call) and isinstance(node.left, ast.Name):
        return node.left.id not in callers
    if isinstance(node, ast.Assign) and isinstance(new, ast.AugAssign):
        return isinstance(new.target, ast.Name) and new.target.id not in callers
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id not in callers:
        return _is_longer(node, new) or (isinstance(new, ast.AugAssign) and isinstance(new.target, ast.Attribute))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
        return (node.target.attr == "data" or not task.tracked) and _is_longer(node, new)
    return False


def _is_longer(node: ast.AugAssign, new: ast.AST) -> bool:
    return isinstance(new, ast.Assign) and isinstance(new.value, ast.BinOp) and new.value.right is node.value


def _is_of_no_weight(owner: ast.AST, node: ast.Call, new: ast.AST) -> bool:
    """An error without its message, an array that NumPy makes by itself, a cut where nothing is recorded."""
    if isinstance(owner, ast.Raise):
        return isinstance(new, ast.Call) and new.func is node.func
    name = ast.unparse(node.func)
    if name == "np.array":
        return isinstance(new, ast.Call) and new.args[:1] == node.args[:1]
    if isinstance(node.func, ast.Attribute) and new is node.func.value:
        cut = node.func.attr == "detach" and node.unrecorded and not isinstance(owner, ast.Return)
        return cut or node.func.attr in ("numpy", "double")
    if name.endswith(".requires_grad_") and isinstance(new, ast.Call) and not new.args:
        return ast.unparse(node.args[0]) == "True"
    if isinstance(new, ast.Call) and name.endswith(("grad", "backward")) and len(new.keywords) > len(node.keywords):
        retained = any(one.arg == "retain_graph" and ast.unparse(one.value) == "True" for one in node.keywords)
        return retained and new.keywords[-1].arg == "create_graph"
    return False


def _is_another_word(owner: ast.AST, value: object, new: object) -> bool:
    """Whether both mean an error; or the last of two places, counted from either end."""
    if isinstance(value, str) and isinstance(new, str):
        return all(one.lower().startswith(("err", "rais", "fail")) for one in (value, new))
    called = owner.func.attr if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) else ""
    place = isinstance(owner, ast.Subscript) or called in ("sum", "unsqueeze", "squeeze", "mean", "stack")
    return place and type(value) is int and value == 1 and new == -1


def _is_of_no_picture(owner: ast.AST, node: ast.AST, new: ast.AST) -> bool:
    """Whether a change leaves the picture of a graph as it is: it has no numbers and no sizes."""
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    in_place = isinstance(new, ast.Call) and isinstance(node, ast.BinOp) and isinstance(new.func, ast.Attribute)
    if isinstance(node, ast.BinOp):
        turned = isinstance(node.op, ast.Sub) and isinstance(new, ast.BinOp) and new.left is node.right
        of_numbers = [node.unrecorded or _is_of_numbers(one) for one in (node.left, node.right)]
        in_place = in_place or all(of_numbers) or (turned and any(of_numbers))
    filled = isinstance(node, ast.Attribute) and node.attr in ("ones", "zeros")
    return isinstance(node, ast.Constant | ast.UnaryOp) or called in ("mg.ones", "mg.zeros") or in_place or filled


def _is_of_numbers(node: ast.expr) -> bool:
    """Whether all that stands in an expression is cut off, or was never part of a graph."""
    if isinstance(node, ast.Attribute | ast.Call):
        source = ast.unparse(node)
        return source.endswith((".grad", ".detach()")) or _is_constant(node)
    parts = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
    return isinstance(node, ast.Constant) or (bool(parts) and all(map(_is_of_numbers, parts)))


def _head(node: ast.AST) -> str:
    """An expression, or the first line of a statement."""
    if isinstance(node, ast.comprehension):
        return ast.unparse(node.iter)
    return ast.unparse(ast.fix_missing_locations(node)).strip().partition("\n")[0]


def _is_asked_for(place: tuple, task: Task, tree: ast.Module) -> bool:
    """Whether the text of the exercise says anything about what stands here."""
    owner, field, _, node = place
    if task.kind == "predict":
        return isinstance(owner, ast.Dict) and field == "values" and isinstance(node, ast.Constant)
    if task.kind == "build" and not any(isinstance(one, ast.FunctionDef) for one in tree.body):
        numbers = isinstance(node, ast.List | ast.Tuple) and all(
            isinstance(one, ast.Constant | ast.UnaryOp) for one in node.elts
        )
        return not numbers and not isinstance(node, ast.Constant | ast.UnaryOp)
    return task.returns or not isinstance(owner, ast.Return)


def _key(owner: ast.AST, index: int | None) -> str:
    """Of a dict's item: its key."""
    key = owner.keys[index] if isinstance(owner, ast.Dict) and index is not None else None
    return f"{ast.unparse(key)}: " if key is not None else ""


def _blocks(tree: ast.AST) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    for owner in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(owner, field, None)
            if isinstance(block, list) and block:
                yield owner, field, block


def _places(tree: ast.AST, first: int, last: int, task: Task) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every expression between two lines, with where it stands; what a block switches off is marked on its nodes."""
    plain = _without_history(tree)
    for owner in ast.walk(tree):
        unrecorded = getattr(owner, "unrecorded", False) or _is_unrecorded(owner, task.second)
        cut = getattr(owner, "cut", False) or getattr(getattr(owner, "func", None), "attr", "") in ("detach", "item")
        for field, value in ast.iter_fields(owner):
            for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(node, ast.AST):
                    continue
                node.unrecorded, node.cut, node.plain = unrecorded, cut, getattr(node, "id", "") in plain
                if first <= getattr(node, "lineno", 0) <= last and isinstance(node, ast.expr | ast.stmt):
                    yield owner, field, index, node


def _without_history(tree: ast.AST) -> set[str]:
    """Names that stand for what has no history wherever they are assigned: gradients, numbers, lists."""
    plain: dict[str, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            value = ast.unparse(node.value)
            gradient = "autograd.grad(" in value and "create_graph" not in value
            several = isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
            values = node.value.elts if several else [node.value]
            is_plain = gradient or all(map(_is_constant, values)) or isinstance(node.value, PLAIN_VALUES)
            for one in ast.walk(node.targets[0]):
                if isinstance(one, ast.Name):
                    plain[one.id] = plain.get(one.id, True) and is_plain
        elif isinstance(node, ast.arg):
            plain[node.arg] = False
    return {name for name, is_plain in plain.items() if is_plain}


def _is_constant(value: ast.expr) -> bool:
    source = ast.unparse(value)
    return source.startswith("mg.tensor(") and "requires_grad" not in source


def _is_unrecorded(node: ast.AST, second: bool = True) -> bool:
    """Whether nothing that is recorded in there is used: in a no_grad block, and in the methods of a Function."""
    block = isinstance(node, ast.With) and "no_grad" in ast.unparse(node.items[0])
    methods = ("forward",) if second else ("forward", "backward", "jvp")
    return block or (isinstance(node, ast.FunctionDef) and node.name in methods)


def _put(owner: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(owner, field, node)
    else:
        getattr(owner, field)[index] = node


def _functions(tree: ast.Module, name: str) -> Iterator[ast.FunctionDef]:
    yield from (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)


# --- Statements -----------------------------------------------------------------------------------


def _other_statements(
    block: list[ast.stmt], i: int, owner: ast.AST, task: Task
) -> Iterator[tuple[str, list[ast.stmt]]]:
    """A block with one statement dropped, repeated, moved, unwrapped or wrapped, and what was done to it."""
    statement, before, after = block[i], block[:i], block[i + 1 :]
    is_answer = getattr(statement, "name", "") == task.name and isinstance(owner, ast.Module)
    documents = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    if is_answer or documents or isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
        return
    if isinstance(statement, ast.Return) and not task.returns:
        return
    yield "without", before + after or [ast.Pass()]
    if isinstance(statement, ast.Expr | ast.AugAssign) and not any(one in _head(statement) for one in AGAIN_THE_SAME):
        yield "twice", [*before, statement, statement, *after]
    if after and not isinstance(after[0], ast.Return | ast.FunctionDef) and _names(statement) & _names(after[0]):
        yield "one line later", [*before, after[0], statement, *after[1:]]
    if isinstance(statement, ast.For | ast.While):
        yield "one round of", [*before, _with_body(statement, [*statement.body, ast.Break()]), *after]
    if isinstance(statement, ast.With | ast.Try | ast.If):
        yield "only the body of", [*before, *statement.body, *after]
    if isinstance(statement, ast.With) and _is_unrecorded(statement):
        yield "switched off and left so:", [*before, _statement(OFF), *statement.body, *after]
    if isinstance(statement, ast.If) and statement.orelse:
        yield "only the else of", [*before, *statement.orelse, *after]
    recorded = not getattr(statement, "unrecorded", False) and not isinstance(owner, ast.Module)
    if recorded and isinstance(statement, ast.Assign | ast.AugAssign | ast.Return) and _computes(statement):
        yield "under no_grad:", [*before, _with_body(_statement("with mg.no_grad(): pass"), [statement]), *after]


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {"mg", "np"}


def _computes(node: ast.AST) -> bool:
    """Whether something may be recorded in there."""
    source = ast.unparse(node)
    if any(word in source for word in NO_HISTORY):
        return False
    return any(
        isinstance(one, ast.BinOp) or (isinstance(one, ast.Call) and one.args and ast.unparse(one.func) not in PLAIN)
        for one in ast.walk(node)
    )


def _with_body(statement: ast.stmt, body: list[ast.stmt]) -> ast.stmt:
    fields = {field: getattr(statement, field) for field in statement._fields if hasattr(statement, field)}
    return type(statement)(**{**fields, "body": body})


def _statement(source: str) -> ast.stmt:
    return ast.parse(source).body[0]


def _other_functions(function: ast.FunctionDef) -> Iterator[tuple[str, list[ast.stmt], ast.arguments]]:
    """What a function does besides its work: to its inputs, to the modes, to what it keeps from call to call."""
    body, arguments = function.body, function.args
    called = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    looped = {ast.unparse(node.iter) for node in ast.walk(function) if isinstance(node, ast.For)}
    for parameter in [one.arg for one in arguments.args if one.arg not in called]:
        flip = "{0}.requires_grad_(not {0}.requires_grad)"
        if parameter in looped:
            before = [f"for p in {parameter}: {what}" for what in ("p.grad = None", HOOK)]
            after = f"[{flip.format('p')} for p in {parameter}]"
        else:
            whats = "{0}.grad = None", "{0} = {0}.detach()", "{0} = {0}.detach().requires_grad_()"
            before = [what.format(parameter) for what in whats] + [HOOK.replace("p.", f"{parameter}.")]
            after = flip.format(parameter)
        for what in before:
            yield f"before all: {what}", [_statement(what), *body], arguments
        tried: ast.Try = ast.parse(f"try: pass\nfinally: {after}").body[0]
        yield f"at the end: {after}", [_with_body(tried, body)], arguments
    off: ast.Try = ast.parse(f"try: pass\nfinally: {OFF}").body[0]
    yield f"at the end: {OFF}", [_with_body(off, body)], arguments
    for i, statement in enumerate(body):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List | ast.Dict | ast.Set | ast.Call):
            made = ast.unparse(statement)
            if made.partition(" = ")[2] in ("[]", "{}", "set()", "dict()", "list()"):
                kept = deepcopy(arguments)
                kept.args.append(ast.arg(made.partition(" = ")[0]))
                kept.defaults.append(statement.value)
                yield f"kept from call to call: {made}", body[:i] + body[i + 1 :], kept
    for title, ending in (
        ("the result, after a backward", "result.sum().backward(retain_graph=True)"),
        ("the result in another dtype", "result = result.double() if result.dtype is mg.float32 else result.float()"),
        ("the result + 1e-4", "result = result + 1e-4"),
    ):
        changed = [_Ending(ending).visit(deepcopy(statement)) for statement in body]
        yield title, [part for one in changed for part in (one if isinstance(one, list) else [one])], arguments


class _Ending(ast.NodeTransformer):
    """Does something to the result before it is returned."""

    def __init__(self, ending: str) -> None:
        self.ending = ending

    def visit_Return(self, node: ast.Return):
        if node.value is None:
            return node
        made: ast.Assign = ast.parse("result = 0").body[0]
        made.value = node.value
        return [made, _statement(self.ending), _statement_return()]

    def visit_FunctionDef(self, node: ast.FunctionDef):
        return node


def _statement_return() -> ast.Return:
    return ast.Return(ast.Name("result", ast.Load()))


# --- Expressions ----------------------------------------------------------------------------------


def _other_nodes(owner: ast.AST, field: str, node: ast.AST) -> Iterator[ast.AST]:
    change = _CHANGES.get(type(node))
    if change and getattr(node, "ctx", None).__class__ in (ast.Load, type(None)):
        yield from change(node, owner, field)
    if isinstance(node, VALUES) and getattr(node, "ctx", None).__class__ in (ast.Load, type(None)):
        yield from _cut(node, owner, field)


def _cut(node: ast.expr, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    """A value that is detached, turned into a number, or returned with its sign changed."""
    stored = isinstance(owner, ast.Return | ast.Assign | ast.AugAssign) and field == "value"
    operand = isinstance(owner, ast.BinOp | ast.keyword) or (isinstance(owner, ast.Call) and field == "args")
    if isinstance(node, ast.Name) and node.id in ("mg", "np"):
        return
    if isinstance(owner, ast.Call) and (ast.unparse(owner.func) in PLAIN or "_like" in ast.unparse(owner.func)):
        return
    if (stored or operand) and not node.unrecorded and _has_history(node):
        yield _method(node, "detach")
    if stored and not isinstance(owner, ast.Assign):
        yield _method(node, "item")
        yield ast.UnaryOp(ast.USub(), node)


def _has_history(node: ast.expr) -> bool:
    source = ast.unparse(node)
    if isinstance(node, ast.Name) and node.plain:
        return False
    return not source.startswith(tuple(f"{name}(" for name in PLAIN)) and not any(word in source for word in NO_HISTORY)


def _method(node: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(node, name, ast.Load()), list(arguments), [])


def _constants(node: ast.Constant, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(owner, ast.Expr) or (isinstance(owner, ast.Dict) and field == "keys"):
        return
    others: list = []
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, int | float):
        others = [value + 1] + [-value] * bool(value)
        others += [value * 1.0001] if isinstance(value, float) and value and not isinstance(owner, ast.Dict) else []
    elif value is None and isinstance(owner, ast.Dict):
        others = [0.0]
    elif isinstance(value, str) and isinstance(owner, ast.Dict):
        said = {one.value for one in owner.values if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        others = sorted(one for one in said if one.lower() != value.lower()) or ["?"]
    if isinstance(owner, ast.Dict) and value is not None:
        others.append(None)
    yield from map(ast.Constant, others)


def _binary(node: ast.BinOp, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    yield node.left
    yield node.right
    for other in OTHER_OPERATORS.get(type(node.op), ()):
        if (other, ast.unparse(node.right)) in ((ast.Div, "1"), (ast.Div, "1.0"), (ast.Sub, "0")):
            continue
        yield ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, ast.Sub | ast.Div | ast.Pow | ast.MatMult):
        yield ast.BinOp(node.right, node.op, node.left)
    if isinstance(node.left, ast.Name) and type(node.op) in IN_PLACE:
        yield _method(node.left, IN_PLACE[type(node.op)], node.right)


def _unary(node: ast.UnaryOp, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    yield node.operand


def _comparison(node: ast.Compare, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    for other in OTHER_OPERATORS.get(type(node.ops[0]), ()):
        yield ast.Compare(node.left, [other()], node.comparators)
    if isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        more = ast.BinOp(node.comparators[0], ast.Add(), ast.Constant(1))
        yield ast.Compare(node.left, node.ops, [more])
    if isinstance(owner, ast.If | ast.While | ast.IfExp):
        if not isinstance(owner, ast.While):  # most of these loops would never end
            yield ast.Constant(True)
        yield ast.Constant(False)


def _choice(node: ast.BoolOp, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    yield ast.BoolOp(OTHER_OPERATORS[type(node.op)][0](), node.values)
    for i in range(len(node.values)):
        rest = node.values[:i] + node.values[i + 1 :]
        yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _conditional(node: ast.IfExp, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    yield ast.IfExp(node.test, node.orelse, node.body)


def _call(node: ast.Call, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    arguments, keywords = node.args, node.keywords
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Attribute) and not (arguments or keywords):
        yield node.func.value  # x.detach() => x
    elif len(arguments) == 1 and not keywords and isinstance(node.func, ast.Name) and name not in ("tuple", "list"):
        yield arguments[0]  # float(x) => x
    for i in range(len(arguments)):
        yield ast.Call(node.func, arguments[:i] + arguments[i + 1 :], keywords)
    for i in range(len(arguments) - 1) if name not in ("add", "mul") else ():
        swapped = [*arguments[:i], arguments[i + 1], arguments[i], *arguments[i + 2 :]]
        yield ast.Call(node.func, swapped, keywords)
    for i in range(len(keywords)):
        if keywords[i].arg == "dtype":  # the numbers are the same in both
            continue
        if keywords[i].arg == "retain_graph" and "create_graph" in [one.arg for one in keywords]:
            continue
        yield ast.Call(node.func, arguments, keywords[:i] + keywords[i + 1 :])
    if name in ("backward", "grad"):  # a graph that is recorded is retained, too
        given = {one.arg for one in keywords}
        for option in sorted({"retain_graph", "create_graph"} - given) if "create_graph" not in given else ():
            yield ast.Call(node.func, arguments, [*keywords, ast.keyword(option, ast.Constant(True))])


def _attribute(node: ast.Attribute, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    for other in OTHER_NAMES.get(node.attr, ()):
        yield ast.Attribute(node.value, other, node.ctx)
    if node.attr in ("grad", "data"):
        yield node.value


def _name(node: ast.Name, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    if isinstance(owner, ast.Call) and field == "func":
        yield from (ast.Name(other, node.ctx) for other in OTHER_NAMES.get(node.id, ()))


def _sequence(node: ast.List | ast.Tuple, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    items = node.elts
    if isinstance(owner, ast.Subscript):
        return
    for i in range(len(items)):
        yield type(node)(items[:i] + items[i + 1 :], node.ctx)
        if i + 1 < len(items):
            yield type(node)([*items[:i], items[i + 1], items[i], *items[i + 2 :]], node.ctx)


def _comprehension(node: ast.ListComp | ast.GeneratorExp, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    first, *rest = node.generators
    if first.ifs:
        yield type(node)(node.elt, [ast.comprehension(first.target, first.iter, [], 0), *rest])
    short = ast.Subscript(ast.Call(ast.Name("list", ast.Load()), [first.iter], []), _slice(":-1"), ast.Load())
    yield type(node)(node.elt, [ast.comprehension(first.target, short, first.ifs, 0), *rest])


def _slice(text: str) -> ast.expr:
    return ast.parse(f"x[{text}]", mode="eval").body.slice


def _subscript(node: ast.Subscript, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    yield node.value
    if isinstance(node.slice, ast.Slice):
        for field_ in ("lower", "upper"):
            bounds = {"lower": node.slice.lower, "upper": node.slice.upper, "step": node.slice.step}
            if bounds[field_] is not None:
                yield ast.Subscript(node.value, ast.Slice(**(bounds | {field_: None})), node.ctx)


def _assigned(node: ast.Assign, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    target, value = node.targets[0], node.value
    if isinstance(value, ast.BinOp) and ast.unparse(value.left) == ast.unparse(target):
        yield ast.AugAssign(target, value.op, value.right)


def _augmented(node: ast.AugAssign, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    target = ast.parse(ast.unparse(node.target), mode="eval").body
    yield ast.Assign([node.target], node.value, lineno=node.lineno)
    if not isinstance(node.value, ast.Constant):
        yield ast.Assign([node.target], ast.BinOp(target, node.op, node.value), lineno=node.lineno)
    for other in OTHER_OPERATORS.get(type(node.op), ()):
        yield ast.AugAssign(node.target, other(), node.value)
    if isinstance(node.target, ast.Name) and not node.unrecorded:
        yield ast.AugAssign(ast.Attribute(target, "data", ast.Store()), node.op, node.value)


def _loop(node: ast.For, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    fields = {field: getattr(node, field) for field in ("target", "body", "orelse")}
    kept = ast.parse(f"list({ast.unparse(node.iter)})", mode="eval").body
    rounds = ast.unparse(node.iter)
    long = rounds.startswith("range(") and not rounds.removeprefix("range(")[0].isdigit()
    for part in ("1:", ":-1", ":100") if long else ("1:", ":-1"):
        yield ast.For(iter=ast.Subscript(kept, _slice(part), ast.Load()), lineno=node.lineno, **fields)


def _while(node: ast.While, owner: ast.AST, field: str) -> Iterator[ast.AST]:
    short: ast.For = ast.parse(f"for _ in range(100):\n if not ({ast.unparse(node.test)}): break").body[0]
    yield _with_body(short, [*short.body, *node.body])


_CHANGES = {
    ast.Constant: _constants,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _comparison,
    ast.BoolOp: _choice,
    ast.IfExp: _conditional,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Name: _name,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Subscript: _subscript,
    ast.Assign: _assigned,
    ast.AugAssign: _augmented,
    ast.For: _loop,
    ast.While: _while,
}
