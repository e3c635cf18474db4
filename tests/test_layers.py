"""The architecture, kept: imports point down, functions stay short, files come in sets."""

import ast
import inspect
from functools import cache
from pathlib import Path

import pytest

import minigrad as mg

ROOT = Path(__file__).resolve().parents[1]

# From the bottom up: a module imports only from those above it in this list.
ORDER = """
    small_engine
    autograd
    messages
    numpy_warnings
    arguments
    decorators
    autograd.grad_mode
    autograd.node
    autograd.outputs
    autograd.versions
    autograd.grad_fn
    dtypes
    layout
    conversions
    size
    tensor
    views
    autograd.dual
    printing
    autograd.saved_tensors
    autograd.anomaly_mode
    operands
    results
    autograd.operation_grad_fn
    assemble
    dispatch
    ops.arithmetic
    ops.pointwise
    ops.shape
    ops.linalg
    ops.index
    ops.reduce
    ops.inplace
    ops
    tensor_new
    factories
    random
    ops.methods
    autograd.reentry
    autograd.seeds
    autograd.gradients
    autograd.hooks
    autograd.evaluate
    autograd.reachability
    autograd.engine
    autograd.backward
    autograd.grad
    autograd.graph
    autograd.once
    autograd.function
    autograd.tangents
    autograd.forward_ad
    autograd.gradcheck
    autograd.functional
    nn.convolution
    nn.functional
    nn
    utils.checkpoint
    utils
    viz.palette
    viz.records
    viz.source
    viz.pytorch
    viz.lines
    viz.live
    viz.memory
    viz.lines_minigrad
    viz.lines_torch
    viz.text
    viz.fold
    viz.dot
    viz.layout
    viz.browser
    viz.picture
    viz.figures
    viz.collect
    viz.matching
    viz.changes
    viz.torchviz
    viz.watch
    viz.watch_pytorch
    viz.steps
    viz.player
    viz.film
    viz.trace
    viz.own
    viz.misuses
    viz.story
    viz.explain
    viz
    jupyter
    jupyter.notebook
    jupyter.predictions
    jupyter.versus
    compat
""".split()
ORDER = [f"minigrad.{name}" for name in ORDER] + ["minigrad"]

# What may be imported late, inside a function, and why.
LATE_IMPORTS = {
    # Pictures cost more to import than all the rest: they come when the first one is asked for.
    ("minigrad/__init__.py", "__getattr__"),
    # What is Jupyter's is for notebooks only.
    ("minigrad/__init__.py", "load_ipython_extension"),
    # An optional package: without it another layout engine is tried.
    ("minigrad/viz/layout.py", "_pygraphviz"),
    # Modules of Pyodide, which are there in a browser only.
    ("minigrad/viz/browser.py", "load"),
    # Pictures of graphs need no matplotlib.
    ("minigrad/viz/palette.py", "style"),
    # The checks also run in plain Python, where there is no IPython.
    ("exercises/checks/cards.py", "display"),
    # The limits of the process come first; the notebook's own process then imports IPython, NumPy and the checks.
    ("tools/grading/worker.py", "main"),
    # What is measured there is the import itself, or a process that must not have imported more.
    ("benchmarks/fresh.py", "grown"),
}

LONGEST_FUNCTION = 40
FOLDERS = ("minigrad", "exercises", "tools", "benchmarks")
SOURCES = [ROOT / "course.py"]
SOURCES += sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def name_in_repository(path):
    return path.relative_to(ROOT).as_posix()


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(p): p for p in SOURCES if p.is_relative_to(ROOT / "minigrad")}


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path):
    """The names of minigrad's modules that the file imports, relative imports resolved."""
    module = module_name(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            yield from modules_in(node, package)


def modules_in(node, package):
    """The modules that `from x import a, b` needs: x.a where that is a module, else x."""
    above = package.split(".")[: len(package.split(".")) - node.level + 1]
    start = ".".join([*above, node.module] if node.module else above) if node.level else node.module
    for alias in node.names:
        for name in (f"{start}.{alias.name}", start):
            if name in MODULES:
                yield name
                break


def functions(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree(path)) if isinstance(node, kinds)]


sources = pytest.mark.parametrize("path", SOURCES, ids=name_in_repository)


def test_relative_imports_are_resolved():
    node = ast.parse("from ..tensor import Tensor").body[0]
    assert list(modules_in(node, "minigrad.ops")) == ["minigrad.tensor"]
    node = ast.parse("from . import dtypes").body[0]
    assert list(modules_in(node, "minigrad")) == ["minigrad.dtypes"]
    assert "minigrad.tensor" in imported(MODULES["minigrad.dispatch"])


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    assert module in ORDER, f"{module} has no place in ORDER yet"
    below = ORDER[: ORDER.index(module)]
    upward = sorted({name for name in imported(MODULES[module]) if name not in below})
    assert not upward, f"{module} imports {', '.join(upward)}, which is not below it"


@pytest.mark.parametrize("module", MODULES)
def test_minigrad_knows_nothing_of_what_is_built_on_it(module):
    imports = [node for node in ast.walk(tree(MODULES[module])) if isinstance(node, ast.Import)]
    used = {alias.name for node in imports for alias in node.names}
    used |= {getattr(node, "module", None) or "" for node in ast.walk(tree(MODULES[module]))}
    assert not {name.split(".")[0] for name in used} & {"exercises", "benchmarks", "torch"}


@sources
def test_imports_are_at_the_top(path):
    late = {
        function.name
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    allowed = {name for file, name in LATE_IMPORTS if file == name_in_repository(path)}
    assert late <= allowed, f"imports inside {sorted(late - allowed)}"


@sources
def test_nothing_is_imported_by_star(path):
    stars = [
        node.lineno for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]
    assert not stars, f"`import *` in line {stars}"


@sources
def test_functions_are_short(path):
    lengths = [(node.end_lineno - node.lineno + 1, node.name) for node in functions(path)]
    long = [(lines, name) for lines, name in lengths if lines > LONGEST_FUNCTION]
    assert not long, f"more than {LONGEST_FUNCTION} lines: {long}"


PUBLIC = {
    "mg": mg,
    "mg.Tensor": mg.Tensor,
    "mg.autograd": mg.autograd,
    "mg.autograd.Function": mg.autograd.Function,
    "mg.nn.functional": mg.nn.functional,
}


@pytest.mark.parametrize("owner", PUBLIC)
def test_public_names_are_documented(owner):
    """Whatever a learner can reach and ask `?` about answers with a docstring."""
    silent = [
        name
        for name, value in vars(PUBLIC[owner]).items()
        if not name.startswith("_") and is_ours(value) and not inspect.getdoc(value)
    ]
    assert not silent, f"no docstring: {', '.join(f'{owner}.{name}' for name in silent)}"


def is_ours(value):
    if isinstance(value, (property, staticmethod, classmethod)):
        return True
    described = inspect.isclass(value) or inspect.isroutine(value)
    return described and (value.__module__ or "").startswith("minigrad")


def names(folder):
    return {path.stem for path in (ROOT / folder).glob("[0-9][0-9]_*.ipynb")}


def test_notebooks_come_in_sets():
    """A chapter, its exercises, their solutions and their checks exist together.

    00 has no exercises; its one warm-up is in the notebook itself and may have a check.
    """
    chapters = {name for name in names("notebooks") if not name.startswith("00")}
    assert chapters, "no chapter yet"
    assert names("exercises") == chapters
    assert names("solutions") == chapters
    checks = {path.stem for path in (ROOT / "exercises" / "checks").glob("ch[0-9][0-9].py")}
    assert checks - {"ch00"} == {f"ch{name[:2]}" for name in chapters}
