"""as_torch(): each test in a Python of its own, because what is imported there stays imported."""

import subprocess
import sys
import textwrap
from importlib.util import find_spec

import pytest


def run(code, *flags):
    """Run a program; what it printed. Its warnings are errors, if the flags do not say otherwise."""
    command = [sys.executable, *(flags or ("-W", "error")), "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


SEED_EXAMPLE = """
    import torch
    import torch.nn.functional as F
    import torchviz
    from torch.autograd import Function, Variable
    from torch.autograd.function import once_differentiable

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = torch.exp(x)
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad_out):
            result, = ctx.saved_tensors
            return result * grad_out

    x = torch.tensor(1., requires_grad=True, dtype=torch.double).clone()
    torch.autograd.gradcheck(Exp.apply, x)
    out = Exp.apply(x)
    grad_x, = torch.autograd.grad(out, x, create_graph=True)
    print(torchviz.make_dot((grad_x, x, out), {"grad_x": grad_x, "x": x, "out": out}).source.count("Backward"))
    print(F.relu(-x).item(), Function is torch.autograd.Function, isinstance(x, Variable), once_differentiable.__name__)
"""


PRINTED = "3\n0.0 True True once_differentiable\n"


def test_pytorchs_examples_run_unchanged():
    assert run("from minigrad.compat import as_torch\nas_torch()\n" + textwrap.dedent(SEED_EXAMPLE)) == PRINTED


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torchviz") is None, reason="torchviz is not installed")
def test_pytorch_prints_the_same():
    assert run(SEED_EXAMPLE, "-W", "ignore") == PRINTED


def test_no_module_is_loaded_twice():
    assert (
        run("""
        import sys
        import minigrad as mg
        from minigrad.compat import as_torch
        as_torch()
        import torch, torch.random, torch.autograd.graph, torch.viz, torch.nn
        ours = {n: m for n, m in sys.modules.items() if n.split(".")[0] == "torch"}
        print(torch is mg, all(m is sys.modules["minigrad" + n[5:]] for n, m in ours.items()))
        try:
            import torch.optim
        except ModuleNotFoundError as error:
            print(error)
        """)
        == "True True\nNo module named 'torch.optim'\n"
    )


def test_it_can_be_undone():
    assert (
        run("""
        import sys
        from minigrad.compat import as_torch
        def names():
            return {n for n in sys.modules if n.split(".")[0] in ("torch", "torchviz")}
        with as_torch():
            import torch
            inside = bool(names())
            with as_torch():  # a second call undoes nothing
                pass
            print(inside, names() != set())
        print(names())
        undo = as_torch()
        undo.close()
        print(names())
        try:
            with as_torch():
                1 / 0
        except ZeroDivisionError:
            print(names())
        """)
        == "True True\nset()\nset()\nset()\n"
    )


@pytest.mark.parametrize("name", ["torch", "torchviz"])
def test_it_refuses_when_the_real_one_is_there(name):
    assert (
        run(f"""
        import sys, types
        real = sys.modules["{name}"] = types.ModuleType("{name}")
        from minigrad.compat import as_torch
        try:
            as_torch()
        except RuntimeError as error:
            print(error)
        print([n for n in sys.modules if n.split(".")[0] in ("torch", "torchviz")], sys.modules["{name}"] is real)
        """)
        == f"as_torch() has to come before the first `import {name}`: {name} itself is imported already. "
        "Restart Python (in Jupyter: Kernel, Restart Kernel) and call as_torch() first.\n"
        f"['{name}'] True\n"
    )


def test_importing_minigrad_takes_no_name():
    assert run("import sys, minigrad, minigrad.compat; print('torch' in sys.modules)") == "False\n"


@pytest.mark.torch
def test_the_real_torch_is_found_after_undoing():
    assert (
        run("""
        import warnings
        import minigrad as mg
        from minigrad.compat import as_torch
        with as_torch():
            import torch
            assert torch is mg
        warnings.simplefilter("ignore")
        import torch
        print(torch is mg, hasattr(torch, "optim"))
        try:
            as_torch()
        except RuntimeError:
            print("refused")
        """)
        == "False True\nrefused\n"
    )
