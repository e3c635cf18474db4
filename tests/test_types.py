"""What type checkers are told is true: the stubs agree with what is there, and a program of yours is checked."""

import ast
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad as mg

PACKAGE = Path(mg.__file__).parent
(BOUND,) = (
    node for node in ast.parse((PACKAGE / "bound.pyi").read_text("utf-8")).body if isinstance(node, ast.ClassDef)
)
METHODS = {node.name: node for node in BOUND.body if isinstance(node, ast.FunctionDef)}
METHODS = {name: node for name, node in METHODS.items() if name.startswith("__") or not name.startswith("_")}
for _line in BOUND.body:  # `exp = log = abs`: all are like `abs`
    if isinstance(_line, ast.Assign):
        METHODS |= {target.id: METHODS[_line.value.id] for target in _line.targets}


def bound_from_outside():
    """The names of Tensor that its own file does not mention."""
    (own,) = (
        node
        for node in ast.parse((PACKAGE / "tensor.py").read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == "Tensor"
    )
    inside = {node.name for node in own.body if isinstance(node, ast.FunctionDef)}
    here = {name for name, value in vars(mg.Tensor).items() if callable(value) or isinstance(value, property)}
    return {name for name in here - inside if name.startswith("__") or not name.startswith("_")}


def test_every_method_that_is_bound_is_declared_and_the_other_way_round():
    bound, of_every_object = bound_from_outside(), set(dir(object))
    assert bound - of_every_object <= set(METHODS) <= bound


def parameters(name):
    """The parameters of a method; None for a property, and where it passes on what it is given."""
    method = getattr(mg.Tensor, name)
    found = [] if isinstance(method, property) else list(inspect.signature(method).parameters.values())
    return found if found and "args" not in [one.name for one in found] else None


@pytest.mark.parametrize("name", list(filter(parameters, METHODS)))
def test_a_method_is_declared_with_its_parameters(name):
    declared = METHODS[name].args
    names = [argument.arg for argument in (*declared.args[1:], *filter(None, [declared.vararg]), *declared.kwonlyargs)]
    given = [one for one in parameters(name)[1:] if one.kind != inspect.Parameter.VAR_KEYWORD]
    if name.startswith("__"):  # Python calls it, by position and without options
        assert len([one for one in given if one.default is one.empty]) == len(names)
    else:
        assert [one.name for one in given] == names


def test_the_names_of_autograd_are_those_that_are_declared():
    stub = ast.parse((PACKAGE / "autograd" / "__init__.pyi").read_text("utf-8"))
    declared = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert not [name for name in declared if not hasattr(mg.autograd, name)]
    put_there = {name for name, value in vars(mg.autograd).items() if not inspect.ismodule(value) and name[0] != "_"}
    assert put_there <= declared


PROGRAM = """
import minigrad as mg

class Cube(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

x: mg.Tensor = mg.tensor([1.0, 2.0], requires_grad=True)
y = (2 * x + x / 3 - x**2 @ x).sum(dim=0, keepdim=True)
(y[0] > 1).item()
y.backward(retain_graph=True)
slope, = mg.autograd.grad(mg.exp(x).mean(), x, create_graph=True)
with mg.no_grad():
    x -= 0.1 * x.grad
x.detach().numpy().mean()
Cube.apply(x).register_hook(lambda grad: 2 * grad)
mg.draw(y, view="both")

x.bakcward()  # wrong
x.exp(2)  # wrong
x.backward(retain_graf=True)  # wrong
mg.tensor(1.0, requires_grad="yes")  # wrong
mg.autograd.gard(y, x)  # wrong
x + None  # wrong
"""


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is installed by those who change the course")
def test_a_program_is_checked(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", "", "--follow-imports", "silent", "--check-untyped-defs"]
    command += ["--cache-dir", str(tmp_path / "cache"), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PACKAGE.parent, timeout=300)
    complaints = [line for line in done.stdout.splitlines() if ": error:" in line]
    found = [int(line.split(".py:")[1].split(":")[0]) for line in complaints]
    wrong = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")]
    assert sorted(set(found)) == wrong, done.stdout + done.stderr
