"""The checks of Functions name what is wrong, and let pass whatever is right."""

import linecache
import textwrap

import numpy as np
import pytest

pytest.importorskip("IPython")

import minigrad as mg
from exercises.checks import functions, kit
from exercises.checks.functions import Suspect, elementwise, tensors
from minigrad.autograd.function import once_differentiable

HEAD = "class F(mg.autograd.Function):\n    @staticmethod\n    def forward"


def learners(forward, backward, before=""):
    """A Function, compiled as the learner's code is: not from a file of ours."""
    space = {"mg": mg, "np": np, "once_differentiable": once_differentiable}
    body = f"@staticmethod\ndef forward{forward}\n@staticmethod\n{before}def backward{backward}\n"
    source = "class F(mg.autograd.Function):\n" + textwrap.indent(body, "    ")
    linecache.cache["<class>"] = len(source), None, source.splitlines(True), "<class>"
    exec(compile(source, "<class>", "exec"), space)
    return space["F"]


def diagnosis(answer, reference, cases, **options):
    with pytest.raises(kit.Wrong) as found:
        functions.check(answer, reference, cases, **options)
    verdict = found.value.verdict
    assert verdict.got and verdict.look
    assert "0x" not in verdict.got + verdict.expected
    return verdict


def cube(x):
    return x**3


SAVE = "(ctx, x):\n    ctx.save_for_backward(x)\n    return x**3"
READ = "(ctx, grad_output):\n    x, = ctx.saved_tensors\n    return "

RIGHT_CUBES = {
    "plain": (SAVE, READ + "3 * x**2 * grad_output"),
    "other names": (
        "(c, *args):\n    c.save_for_backward(*args)\n    return args[0] * args[0] * args[0]",
        "(c, *g):\n    return g[0] * c.saved_tensors[0] * c.saved_tensors[0] * 3,",
    ),
    "trailing None": (SAVE, READ + "grad_output * 3 * x * x, None"),
    "ctx holds the input": ("(ctx, x):\n    ctx.x = x\n    return x**3", "(ctx, g): return 3 * ctx.x**2 * g"),
    "output used": (
        "(ctx, x):\n    y = x**3\n    ctx.save_for_backward(x, y)\n    return y",
        "(ctx, g):\n    x, y = ctx.saved_tensors\n    return g * 3 * x * x",
    ),
    "loop": (SAVE, "(ctx, g):\n    (x,) = ctx.saved_tensors\n    for _ in range(2): g = g * x\n    return 3 * g"),
    "conditional": (
        "(ctx, x):\n    if ctx.needs_input_grad[0]: ctx.save_for_backward(x)\n    return x**3",
        "(ctx, g):\n    if ctx.needs_input_grad[0]: return 3 * ctx.saved_tensors[0] ** 2 * g",
    ),
}


@pytest.mark.parametrize("name", RIGHT_CUBES)
def test_what_is_right_passes_however_it_is_written(name):
    function = learners(*RIGHT_CUBES[name])
    functions.check(function, cube, elementwise(), second=True)
    functions.check(function.apply, cube, elementwise(), second=True)
    functions.check(lambda x: function.apply(x), cube, elementwise(), second=True)


def test_setup_context_and_plain_methods_pass():
    class Cube(mg.autograd.Function):
        def forward(x):
            return x**3

        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        def backward(ctx, grad):
            return 3 * ctx.saved_tensors[0] ** 2 * grad

    functions.check(Cube, cube, elementwise(), second=True)


WRONG_CUBES = {
    "no-grad-output": (SAVE, READ + "3 * x**2"),
    "no-grad-output/in one term": (SAVE, READ + "3 * x**2 * grad_output + x"),
    "grad-output-twice": (SAVE, READ + "3 * x**2 * grad_output**2"),
    "grad-output-changed": (SAVE, READ + "grad_output.mul_(3 * x**2)"),
    "wrong-sign": (SAVE, READ + "-3 * x**2 * grad_output"),
    "wrong-factor": (SAVE, READ + "x**2 * grad_output"),
    "slope-of-input": (SAVE, READ + "x * grad_output"),
    "slope-of-output": (SAVE, READ + "x**3 * grad_output"),
    "slope-at-output": (
        "(ctx, x):\n    y = x**3\n    ctx.save_for_backward(y)\n    return y",
        READ + "3 * x**2 * grad_output",
    ),
    "no-slope": (SAVE, READ + "grad_output"),
    "other-gradient": (SAVE, READ + "3 * x * grad_output"),
    "no-gradient": (SAVE, READ + "None"),
    "nan-gradient": (SAVE, READ + "grad_output * (x - x) / (x - x)"),
    "number-of-gradients": (SAVE, "(ctx, grad_output): return ()"),
    "number-of-gradients/two": (SAVE, READ + "3 * x**2 * grad_output, grad_output"),
    "no-tensor": (SAVE, READ + "(3 * x**2 * grad_output).numpy()"),
    "summed-too-far": (SAVE, READ + "(3 * x**2 * grad_output).sum()"),
    "no-backward": (SAVE, None),
    "raised": (SAVE, READ + "undefined"),
    "raised/other tuple": (SAVE, READ + "3 * x**2 * grad_output * (1.0, 2.0)"),
    "saved-tuple/by name": (SAVE, "(ctx, grad_output):\n    x = ctx.saved_tensors\n    return grad_output * x"),
    "saved-tuple": (SAVE, "(ctx, grad_output): return grad_output * ctx.saved_tensors"),
    "raised/forward": ("(ctx, x): return x.cube()", READ + "x"),
    "arguments": ("(x): return x**3", READ + "x"),
    "none": ("(ctx, x): x**3", READ + "x"),
    "other-type": ("(ctx, x): return x.numpy() ** 3", READ + "x"),
    "other-value": ("(ctx, x): return x * 3", READ + "x"),
    "second-walk": (
        "(ctx, x):\n    ctx.x = [x]\n    return x**3",
        "(ctx, grad_output): return 3 * ctx.x.pop() ** 2 * grad_output",
    ),
    "second-walk/other": (
        "(ctx, x):\n    ctx.save_for_backward(x)\n    ctx.factor = 3\n    return x**3",
        READ + "ctx.__dict__.update(factor=0) or 3 * x**2 * grad_output if ctx.factor else 0 * x",
    ),
    "other-shape": ("(ctx, x): return (x**3).sum()", READ + "x"),
    "other-dtype": ("(ctx, x): return (x**3).float()", READ + "x"),
    "number-of-outputs": ("(ctx, x): return x**3, x", READ + "x"),
    "untracked": ("(ctx, x):\n    y = x**3\n    ctx.mark_non_differentiable(y)\n    return y", READ + "x"),
    "input-changed": (
        "(ctx, x):\n    ctx.save_for_backward(x.clone())\n    y = x**3\n    x.zero_()\n    return y",
        READ + "x",
    ),
    "saved-no-tensor": ("(ctx, x):\n    ctx.save_for_backward(3)\n    return x**3", READ + "x"),
    "detached": (SAVE, READ + "3 * x.detach()**2 * grad_output"),
    "detached/where grad_output requires no grad": (
        SAVE,
        READ + "3 * (x if grad_output.requires_grad else x.detach())**2 * grad_output",
    ),
    "detached/numpy": (SAVE, READ + "mg.tensor(3 * x.detach().numpy()**2 * grad_output.detach().numpy())"),
    "saved-intermediate": (
        "(ctx, x):\n    s = x * x\n    ctx.save_for_backward(s)\n    return s * x",
        READ + "3 * x * grad_output",
    ),
    "saved-intermediate/attribute": (
        "(ctx, x):\n    ctx.s = x * x\n    return ctx.s * x",
        "(ctx, grad_output): return 3 * ctx.s * grad_output",
    ),
    "saved-intermediate/array": (
        "(ctx, x):\n    ctx.s = x.numpy() ** 2\n    return x**3",
        "(ctx, grad_output): return mg.tensor(3 * ctx.s) * grad_output",
    ),
}


@pytest.mark.parametrize("name", WRONG_CUBES)
def test_what_is_wrong_is_named(name):
    forward, backward = WRONG_CUBES[name]
    function = learners(forward, backward or READ + "x")
    if backward is None:
        del function.backward
    verdict = diagnosis(function, cube, elementwise(), second=True)
    assert verdict.code == name.partition("/")[0], verdict


def test_once_differentiable_is_right_unless_second_derivatives_are_asked_for():
    function = learners(SAVE, READ + "3 * x**2 * grad_output", before="@once_differentiable\n")
    functions.check(function, cube, elementwise())
    assert diagnosis(function, cube, elementwise(), second=True).code == "once"


def product(x, b):
    return x * b


BOTH = "(ctx, x, b):\n    ctx.save_for_backward(x, b)\n    return x * b"
X_AND_B = "(ctx, g):\n    x, b = ctx.saved_tensors\n    return "
PRODUCTS = {
    "right": X_AND_B + "g * b, g * x",
    "right/summed": X_AND_B + "g * b, (g * x) if b.shape == g.shape else (g * x).reshape(-1, *b.shape).sum(0)",
    "right/as needed": X_AND_B + "tuple(g * t if n else None for t, n in zip((b, x), ctx.needs_input_grad))",
    "swapped": X_AND_B + "g * x, g * b",
    "number-of-gradients": X_AND_B + "g * b",
    "alone": X_AND_B + "(None, None) if not all(ctx.needs_input_grad) else (g * b, g * x)",
    "number-of-gradients/needed": X_AND_B + "tuple(g * t for t, n in zip((b, x), ctx.needs_input_grad) if n)",
    "no-gradient": X_AND_B + "g * b, None",
    "not-summed": X_AND_B + "g * b, (g * x)[0] if b.dim() < g.dim() else g * x",
    "wrong-factor": X_AND_B + "g * b, (g * x).mean(0) if b.dim() < g.dim() else g * x",
    "summed-too-far": X_AND_B + "g * b, (g * x).sum()",
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_two_inputs_that_are_broadcast(name):
    function, cases = learners(BOTH, PRODUCTS[name]), elementwise(2)
    if name.startswith("right"):
        cases = cases if name != "right/summed" else [c for c in cases if "both" not in c.what]
        functions.check(function, product, cases, second=True)
    else:
        assert diagnosis(function, product, cases).code == name.partition("/")[0]


MATRICES = [tensors("two matrices", (2, 3), (3, 2)), tensors("square matrices", (2, 2), (2, 2))]
MATMUL = "(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return a @ b"
A_AND_B = "(ctx, g):\n    a, b = ctx.saved_tensors\n    return "


@pytest.mark.parametrize(
    "backward,cases,code",
    [
        ("g @ b.t(), a.t() @ g", MATRICES, None),
        ("(b @ g.t()).t(), (g.t() @ a).t()", MATRICES, None),
        ("b @ g.t(), a.t() @ g", MATRICES, "transposed"),
        ("b @ g.t(), a.t() @ g", MATRICES[1:], "transposed"),
        ("g @ b, a.t() @ g", MATRICES[1:], "other-gradient"),
        ("g @ b, a.t() @ g", MATRICES, "raised"),
        ("g @ b.t() + a, a.t() @ g", MATRICES, "no-grad-output"),
        ("g @ b.t() * a, a.t() @ g", MATRICES, "other-gradient"),
        ("b.t(), a.t()", MATRICES[1:], "no-grad-output"),
    ],
)
def test_matrices(backward, cases, code):
    function = learners(MATMUL, A_AND_B + backward)
    if code is None:
        functions.check(function, lambda a, b: a @ b, cases, second=True)
    else:
        assert diagnosis(function, lambda a, b: a @ b, cases).code == code


def test_arguments_that_are_no_tensors_and_constants():
    forward = "(ctx, x, k, n):\n    ctx.save_for_backward(k)\n    ctx.n = n\n    return x * k * n"
    cases = [tensors("a vector", (3,), (3,), rest=(2.0,), constants=(1,))]
    right = learners(forward, "(ctx, g): return g * ctx.saved_tensors[0] * ctx.n, None, None")
    functions.check(right, lambda x, k, n: x * k * n, cases, second=True)
    one = learners(forward, "(ctx, g): return g * ctx.saved_tensors[0] * ctx.n")
    verdict = diagnosis(one, lambda x, k, n: x * k * n, cases)
    assert (verdict.code, verdict.belief) == ("number-of-gradients", "M32")
    none = diagnosis(learners(forward, "(ctx, g): g * ctx.n"), lambda x, k, n: x * k * n, cases)
    assert (none.code, none.belief) == ("number-of-gradients", "") and "returned None" in none.why
    third = learners(forward, "(ctx, g): return g * ctx.saved_tensors[0] * ctx.n, None, g")
    assert diagnosis(third, lambda x, k, n: x * k * n, cases).code == "gradient-of-no-tensor"


def test_several_outputs():
    forward = "(ctx, x):\n    ctx.save_for_backward(x)\n    return x * x, x * 3"
    reference = lambda x: (x * x, x * 3)  # noqa: E731
    right = learners(forward, "(ctx, g, h): return 2 * ctx.saved_tensors[0] * g + 3 * h")
    functions.check(right, reference, elementwise(), second=True)
    half = learners(forward, "(ctx, g, h): return 2 * ctx.saved_tensors[0] * g")
    assert diagnosis(half, reference, elementwise()).code == "other-gradient"


def test_a_constant_output_has_to_be_marked():
    reference = lambda x: (x * x, (x * 2).detach())  # noqa: E731
    backward = "(ctx, g, h): return 2 * ctx.saved_tensors[0] * g"
    forward = "(ctx, x):\n    ctx.save_for_backward(x)\n    y = x * 2\n    {}\n    return x * x, y"
    functions.check(learners(forward.format("ctx.mark_non_differentiable(y)"), backward), reference, elementwise())
    assert diagnosis(learners(forward.format("pass"), backward), reference, elementwise()).code == "tracked"


def test_a_backward_that_is_not_the_slope_is_compared_without_gradcheck():
    class Doubled(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    right = learners("(ctx, x): return x.clone()", "(ctx, g): return g + g")
    functions.check(right, Doubled.apply, elementwise(), second=True, numerical=False)
    assert diagnosis(right, Doubled.apply, elementwise()).code == "gradcheck"


def test_what_a_check_suspects_comes_first():
    square = Suspect("squared", "why", "look", "M36", forward=lambda x: x * x)
    slope = Suspect("forgot", "why", "look", backward=lambda x, g: x * x * g)
    options = {"suspects": (square, slope)}
    wrong = learners("(ctx, x): return x * x", READ + "x")
    assert diagnosis(wrong, cube, elementwise(), **options).code == "squared"
    assert diagnosis(learners(*WRONG_CUBES["wrong-factor"]), cube, elementwise(), **options).code == "forgot"


def test_suspects_are_written_as_text():
    squared, forgot = functions.suspects("""
x; g
squared: forward x * x
    Why it is
    wrong.
    look: here
forgot: (g * x if math.e > 2 else g) * x (M36)
    Another.
    look: there
""")
    assert (squared.code, squared.why, squared.look, squared.belief) == ("squared", "Why it is wrong.", "here", "")
    assert (squared.forward(3), squared.backward) == (9, None)
    assert (forgot.backward(3, 2), forgot.forward, forgot.belief) == (18, None, "M36")


@pytest.mark.parametrize(
    "code,ending,second",
    [
        ("zeros", "3 * x**2 * (grad_output if grad_output.any() else grad_output.detach())", True),
        ("zeros", "3 * x**2 * mg.where(grad_output != 0, grad_output, 0.0)", True),
        ("zeros", "3 * (x if x.any() else x + 1) ** 2 * grad_output", False),
        ("create-graph", "3 * x**2 * grad_output * (2 if mg.is_grad_enabled() else 1)", False),
        ("create-graph", "3 * x**2 * grad_output / (not mg.is_grad_enabled())", False),
        ("grad-output-added", "3 * x**2 * grad_output.sum()", False),
        ("grad-output-added", "3 * x**2 * grad_output.mean()", False),
        ("rounded", "(3 * x**2 * grad_output).float().double()", False),
        (None, "3 * x**2 * (grad_output if grad_output.any() else grad_output.detach())", False),
        (None, "mg.tensor(3 * x.detach().numpy() ** 2 * grad_output.numpy(), dtype=x.dtype)", False),
    ],
)
def test_a_backward_meets_zeros_and_a_walk_that_is_recorded(code, ending, second):
    function = learners(SAVE, READ + ending)
    if code is None:
        functions.check(function, cube, elementwise(), second=second)
    else:
        assert diagnosis(function, cube, elementwise(), second=second).code == code


def test_a_gradient_for_an_input_that_is_not_used():
    forward = "(ctx, x, y): return x.clone()"
    right, wrong = (learners(forward, f"(ctx, g): return g, {second}") for second in ("None", "g"))
    functions.check(right, lambda x, y: x.clone(), elementwise(2), numerical=False)
    assert diagnosis(wrong, lambda x, y: x.clone(), elementwise(2)).code == "swapped"


def test_a_backward_that_is_not_linear_is_no_mistake_where_the_reference_is_not():
    class Clip(mg.autograd.Function):
        forward = staticmethod(lambda ctx, x: x.clone())
        backward = staticmethod(lambda ctx, grad: grad.clamp(-1.0, 1.0))

    other = learners("(ctx, x): return x.clone()", "(ctx, g): return g.clamp(-1.2, 1.2)")
    assert diagnosis(other, Clip.apply, elementwise(), numerical=False).code == "other-gradient"


def test_stubs_and_what_was_given_are_unanswered():
    given = HEAD + "(ctx, x):\n        return x\n"
    stub = learners("(ctx, x): ...", "(ctx, g): ...")
    for answer in (type("F", (mg.autograd.Function,), {}), stub):
        with pytest.raises(kit.Unanswered):
            functions.check(answer, cube, elementwise())
    space = {"mg": mg}
    exec(compile("# a comment\n" + given, "<cell>", "exec"), space)
    with pytest.raises(kit.Unanswered):
        functions.refuse_given(space["F"], given)
    functions.refuse_given(learners("(ctx, x): return x * 2", READ + "x"), given)


def test_what_forward_leaves_belongs_to_one_apply():
    kept = learners("(ctx, x): F.x = x; return x**3", "(ctx, g): return g * 3 * F.x**2")
    kept.forward.__globals__["F"] = kept
    assert diagnosis(kept, cube, elementwise()).code == "shared"
    functions.check(kept, cube, elementwise()[:1])


def test_results_in_a_list_are_seen_if_autograd_does_not():
    def both(x):
        return x * 2, x * 3

    in_a_list = learners("(ctx, x): return [x * 2, x * 3]", "(ctx, g, h): return g * 2 + h * 3")
    assert diagnosis(in_a_list, both, elementwise()).code == "list"
    in_a_tuple = learners("(ctx, x): return x * 2, x * 3", "(ctx, g, h): return g * 2 + h * 3")
    functions.check(lambda x: list(in_a_tuple.apply(x)), both, elementwise())


@pytest.mark.parametrize("answer", [3, None, int, mg.Tensor, "text"])
def test_what_is_no_function_is_refused(answer):
    assert diagnosis(answer, cube, elementwise()).code in ("type", "not-a-function")


def test_a_node_that_keeps_its_input_keeps_something_with_a_history():
    cut = learners("(ctx, x):\n    ctx.x = x\n    return x**3", "(ctx, g): return 3 * ctx.x.detach() ** 2 * g")
    assert diagnosis(cut, cube, elementwise(), second=True).code == "detached"


def test_a_small_number_that_is_added_is_no_factor():
    added = learners(SAVE, READ + "grad_output * (3 * x**2 + 1e-5)")
    assert diagnosis(added, cube, elementwise()[:1]).code == "other-gradient"
    double = learners(SAVE, READ + "grad_output * 6 * x**2")
    assert diagnosis(double, cube, elementwise()).code == "wrong-factor"


def test_a_gradient_of_another_shape_is_told_where_there_are_two_results():
    wrong = learners("(ctx, x, b): return x * b, x + b", "(ctx, g, h): return g + h, (g + h).sum(0)")
    cases = [tensors("broadcast", (2, 3), (3,))]
    verdict = diagnosis(wrong, lambda x, b: (x * b, x + b), cases)
    assert verdict.code == "other-gradient", verdict


def test_operations_without_a_function_are_refused():
    assert diagnosis(cube, lambda x: x**3, elementwise()).code == "not-recorded"


def test_an_input_that_is_given_back_is_no_function():
    assert diagnosis(lambda x: x, lambda x: x.clone(), elementwise()).code == "not-recorded"


@pytest.mark.parametrize(
    "saved, words, belief", [("x.detach()", "the numbers of an input", ""), ("x.clone()", "a copy", "M33")]
)
def test_what_is_saved_without_a_history_is_told_as_what_it_is(saved, words, belief):
    answer = learners(f"(ctx, x):\n    ctx.x = {saved}\n    return x**3", "(ctx, g): return 3 * ctx.x**2 * g")
    verdict = diagnosis(answer, cube, elementwise(), second=True)
    assert (verdict.code, verdict.belief) == ("saved-intermediate", belief) and words in verdict.why


def test_a_first_derivative_is_called_right_only_where_it_is():
    backward = READ + "3 * x.detach()**2 * grad_output"
    verdict = diagnosis(learners(SAVE, backward), cube, elementwise(), second=True)
    assert verdict.why.startswith("The first derivative is right")
    backward += " * (1 + mg.is_grad_enabled())"
    verdict = diagnosis(learners(SAVE, backward), cube, elementwise(), second=True)
    assert verdict.why.startswith("With `create_graph=True` the first one is wrong already")


def test_nan_for_a_grad_output_of_0_is_not_called_a_number_that_is_left():
    backward = READ + "5 * x**2 * grad_output * (grad_output / grad_output)"
    assert diagnosis(learners(SAVE, backward), cube, elementwise()).code != "no-grad-output"


def test_two_numbers_that_differ_are_shown_with_different_digits():
    near = "(ctx, x):\n    ctx.save_for_backward(x)\n    return x**3 + 0.00002"
    verdict = diagnosis(learners(near, READ + "3 * x**2 * grad_output"), cube, elementwise())
    assert verdict.code == "other-value" and not verdict.expected.startswith(verdict.got)
