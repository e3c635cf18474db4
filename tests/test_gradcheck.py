"""gradcheck passes and fails as PyTorch's does, and where it fails it says why."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from gradcheck_cases import CASES, answer, check, check_second, function, leaf

import minigrad as mg
from minigrad.autograd import Function, GradcheckError, gradcheck, gradgradcheck

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_gradcheck.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_that_of_pytorch(name):
    assert answer(mg, CASES[name]) == RECORDED[name]


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert {name: answer(torch, case) for name, case in CASES.items()} == RECORDED


@pytest.mark.parametrize("shape", [(0,), (0, 2), (3, 0, 2)])
def test_a_tensor_without_elements_passes(shape):
    x = mg.zeros(*shape, dtype=mg.float64, requires_grad=True)
    assert gradcheck(mg.sin, (x,)) and gradgradcheck(mg.sin, (x,))


# -- why it fails --------------------------------------------------------------------------------


def lines_of(checker, func, *inputs, **options):
    """The lines that a failed check adds to PyTorch's sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(GradcheckError) as caught:
            checker(func, inputs, **options)
    assert all(line.startswith("minigrad: ") and "\n" not in line for line in caught.value.__notes__)
    return [line.removeprefix("minigrad: ") for line in caught.value.__notes__]


def double(*values):
    return leaf(mg, *values)


def matrix(rows, columns):
    return mg.arange(rows * columns, dtype=mg.float64).reshape(rows, columns).detach().requires_grad_()


def saving(forward, backward):
    """A Function that saves its input."""

    def save_and_compute(ctx, x):
        ctx.save_for_backward(x)
        return forward(x)

    return function(mg, save_and_compute, lambda ctx, g: backward(ctx.saved_tensors[0], g)).apply


def test_the_entry_that_differs_most():
    first, _ = lines_of(gradcheck, saving(lambda x: x * x, lambda x, g: 3 * x * g), double(1, 2))
    assert first == (
        "entry (1, 1) differs most: 4 by finite differences, 6 by backward (how output 0[1] moves with input 0[1])."
    )


def test_the_entry_by_its_indices():
    x = matrix(2, 3)
    first, _ = lines_of(gradcheck, lambda w, x: (w * 1, (x * 2 - x.detach()) * mg.arange(3)), double(1), x)
    assert first == (
        "entry (2, 2) differs most: 2 by finite differences, 4 by backward "
        "(how output 1[0, 2] moves with input 1[0, 2])."
    )


@pytest.mark.parametrize(
    ("backward", "says"),
    [
        (lambda x, g: 3 * x * g, "analytical is 1.5 x numerical: a factor is wrong, or a term is missing in backward."),
        (lambda x, g: x * g, "analytical is 0.5 x numerical: a factor is wrong, or a term is missing in backward."),
        (lambda x, g: -2 * x * g, "analytical is -1 x numerical: the sign is wrong in backward."),
        (lambda x, g: 0 * g, "analytical is 0 everywhere: backward gives nothing although the output moves."),
    ],
)
def test_a_factor(backward, says):
    assert lines_of(gradcheck, saving(lambda x: x * x, backward), double(1, 2))[1:] == [says]


def test_no_factor_where_there_is_none():
    assert lines_of(gradcheck, saving(lambda x: x * x, lambda x, g: g * (2 * x + 1)), double(1, 2))[1:] == []


def test_a_single_entry_shows_only_a_simple_factor():
    def off_by(factor):
        return lines_of(gradcheck, saving(lambda x: x * x, lambda x, g: factor * g), double(1))[1:]

    assert off_by(4.0) == ["analytical is 2 x numerical: a factor is wrong, or a term is missing in backward."]
    assert off_by(2.7) == []


def test_a_transposed_jacobian():
    w = mg.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=mg.float64)
    wrong = function(mg, lambda ctx, x: w @ x, lambda ctx, g: w @ g).apply
    says = "analytical is the transpose of numerical: backward has to multiply with the transposed matrix."
    assert lines_of(gradcheck, wrong, double(1, 2))[1:] == [says]


def test_a_transposed_gradient():
    scale = mg.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=mg.float64)
    wrong = function(mg, lambda ctx, x: (x * scale).sum(), lambda ctx, g: g * scale.t()).apply
    says = "the gradient of input 0 is transposed: the right one is what .t() makes of it."
    assert lines_of(gradcheck, wrong, matrix(2, 2))[1:] == [says]


def test_single_precision():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    says = "with a step of 0.02 the two agree: float32 is too coarse for small steps, and the gradient may be right. "
    assert lines_of(gradcheck, mg.sin, x)[1:] == [says + "Check with double()."]


def test_single_precision_inside_the_function():
    (says,) = lines_of(gradcheck, lambda x: x.float() ** 2, double(1, 2))[1:]
    assert says.startswith("with a step of 0.02 the two agree: float32 is too coarse")


def test_single_precision_is_not_blamed_for_a_wrong_factor():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    says = lines_of(gradcheck, saving(lambda x: x * x, lambda x, g: -2 * x * g), x)[1:]
    assert says == ["analytical is -1 x numerical: the sign is wrong in backward."]


def test_single_precision_and_a_strong_curve_make_no_kink():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    says = lines_of(gradcheck, saving(lambda x: x * x * 500, lambda x, g: g * (x + 900)), x)[1:]
    assert says == []


def test_a_random_function():
    (says,) = lines_of(gradcheck, lambda x: x * mg.rand(2, dtype=mg.float64), double(1, 2))[1:]
    assert (
        says == "two runs of the function give different outputs: something in it is random, or remembers earlier runs."
    )


def test_a_random_backward():
    wrong = function(mg, lambda ctx, x: x * 2, lambda ctx, g: g * (2 + mg.rand(2, dtype=mg.float64))).apply
    (says,) = lines_of(gradcheck, wrong, double(1, 2))
    assert says.startswith("two runs of backward differ by up to 0.") and "gradient of input 0" in says


def test_a_backward_that_counts():
    runs = []
    wrong = function(mg, lambda ctx, x: x * 2, lambda ctx, g: (runs.append(1), g * (2 + 1e-3 * len(runs)))[1]).apply
    (says,) = lines_of(gradcheck, wrong, double(1))
    assert says.startswith("two runs of backward differ by up to 0.001 in the gradient of input 0.")


def test_a_backward_without_grad_output():
    says = "for grad_output 0 the gradient is not 0: every gradient that backward returns has grad_output as a factor."
    assert lines_of(gradcheck, saving(lambda x: x * x, lambda x, g: 2 * x), double(1, 2))[1:] == [says]


def test_a_backward_without_grad_output_of_one_element():
    """Here the Jacobians agree: only a grad_output of zero tells."""
    (says,) = lines_of(gradcheck, saving(lambda x: x * x, lambda x, g: 2 * x), double(3))
    assert says.startswith("for grad_output 0 the gradient of input 0 is 6, not 0:")


def test_a_kink():
    says = "the function has a kink or a jump there: its slope is 0 to the left and 1 to the right."
    assert lines_of(gradcheck, mg.relu, double(1, 0))[1:] == [says + " Check at another point."]


def test_a_curve_is_no_kink():
    """At the bottom of a parabola the slopes differ too, but less with a smaller step."""
    steep = saving(lambda x: x * x * 1e4, lambda x, g: g * (x * 2e4 + 7))
    assert lines_of(gradcheck, steep, double(0, 1))[1:] == []


def test_nan():
    assert lines_of(gradcheck, lambda x: x * float("nan"), double(1))[1:] == ["the function gives nan or inf there."]
    wrong = saving(lambda x: x * x, lambda x, g: g * 2 * x * float("inf"))
    assert lines_of(gradcheck, wrong, double(1, 2))[1:] == ["backward gives nan or inf where the function is smooth."]


def test_a_cut_path():
    (says,) = lines_of(gradcheck, lambda x, y: x * y.detach(), double(1, 2), double(3, 4))[1:]
    assert says == (
        "no gradient comes to input 1: output 0 depends on it, but the graph between them was cut "
        "(detach, no_grad, item, numpy), or a backward returns None for it."
    )


def test_an_output_without_graph():
    cut = "output 1 moves with input 0, but it does not require grad: "
    func = lambda x: (mg.ones(1), x.detach() * 3)  # noqa: E731
    assert lines_of(gradcheck, func, double(1)) == [cut + "the graph was cut (detach, no_grad, item, numpy)."]
    with mg.no_grad():
        assert lines_of(gradcheck, func, double(1)) == [cut + "grad mode is off."]


def sinh_that_keeps(ctx, x):
    """The intermediate results are computed in forward, where nothing is recorded."""
    ctx.rises, ctx.falls = x.exp(), (-x).exp()
    return (ctx.rises - ctx.falls) / 2


LOST = (
    "what {} returns changes with the input, but for autograd it depends on grad_output alone. It uses something "
    "without history: a value that forward kept, detach(), .data or NumPy. Save inputs and outputs with "
    "save_for_backward, and compute the rest from them in backward."
)


def test_a_saved_intermediate_without_history():
    sinh = function(mg, sinh_that_keeps, lambda ctx, g: g * (ctx.rises + ctx.falls) / 2).apply
    assert gradcheck(sinh, (double(1, 2),))
    first, second = lines_of(gradgradcheck, sinh, double(1, 2))
    assert first.endswith("by finite differences, 0 by backward (how gradient 0[1] moves with input 0[1]).")
    assert second == LOST.format("MyFnBackward")


def test_a_lost_history_that_another_path_hides():
    """The second derivative is not zero but too small: the belief that no error means no mistake."""
    sinh = function(mg, sinh_that_keeps, lambda ctx, g: g * (ctx.rises + ctx.falls) / 2).apply
    _, says = lines_of(gradgradcheck, lambda x: sinh(x * x) * x, double(1, 0.5))
    assert says == LOST.format("MyFnBackward")


def test_a_detached_backward():
    cube = saving(lambda x: x**3, lambda x, g: g * 3 * x.detach() ** 2)
    assert lines_of(gradgradcheck, cube, double(1, 2))[1:] == [LOST.format("MyFnBackward")]


def test_a_linear_function_is_not_blamed():
    """Its backward depends on grad_output alone too, and rightly so."""
    twice = function(mg, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply
    cube = saving(lambda x: x**3, lambda x, g: g * 3 * x * x.detach())
    assert lines_of(gradgradcheck, lambda x: cube(twice(x)), double(1, 2))[1:] == [
        "analytical is 0.5 x numerical: a factor is wrong, or a term is missing in backward."
    ]


def test_the_gradients_to_start_from_are_inputs_too():
    class Odd(Function):
        @staticmethod
        def forward(ctx, g):
            return g * 2

        @staticmethod
        def backward(ctx, h):
            return h * 6

    once = function(mg, lambda ctx, x: x * 2, lambda ctx, g: Odd.apply(g)).apply
    first, second = lines_of(gradgradcheck, once, double(1))
    assert first == (
        "entry (0, 0) differs most: 2 by finite differences, 6 by backward "
        "(how gradient 0[0] moves with grad_outputs[0][0])."
    )
    assert second == "analytical is 3 x numerical: a factor is wrong, or a term is missing in backward."


def test_a_constant_gradient_to_start_from_keeps_its_number():
    tripled = function(mg, lambda ctx, g: g * 2, lambda ctx, h: h * 6).apply
    once = function(mg, lambda ctx, x: x * 2, lambda ctx, g: tripled(g)).apply
    with pytest.raises(GradcheckError) as caught:
        gradgradcheck(lambda x: (x * 1, once(x)), (double(1),), (double(1).detach(), double(1)))
    assert "how gradient 0[0] moves with grad_outputs[1][0]" in caught.value.__notes__[0]


def test_a_cut_output_fails_the_second_check_too():
    (says,) = lines_of(gradgradcheck, lambda x: x.detach() * 3, double(1))
    assert says.startswith("output 0 moves with input 0, but it does not require grad")


@pytest.mark.parametrize("gaps", [False, True])
def test_the_memory_of_random_grad_outputs(gaps):
    contiguous = []

    def backward(ctx, g):
        contiguous.append(g._array.flags.c_contiguous)
        return g * 2

    twice = function(mg, lambda ctx, x: x * 2, backward).apply
    assert gradgradcheck(twice, (double(1, 2),), gen_non_contig_grad_outputs=gaps)
    assert contiguous and all(flag is not gaps for flag in contiguous)


def test_a_backward_that_cuts_the_graph():
    square = saving(lambda x: x * x, lambda x, g: (2 * x * g).detach())
    assert lines_of(gradgradcheck, square, double(1)) == [
        "gradient 0 moves with input 0, but it does not require grad: the graph was cut (detach, no_grad, item, numpy)."
    ]


# -- what it leaves alone ------------------------------------------------------------------------


def test_an_exception_leaves_the_input_as_it_was():
    x, calls = double(1, 2), []

    def fails_when_moved(x):
        calls.append(x.tolist())
        if len(calls) > 1:
            raise ZeroDivisionError
        return x * x

    with pytest.raises(ZeroDivisionError):
        gradcheck(fails_when_moved, (x,))
    assert len(calls) == 2 and calls[1] != calls[0] and x.tolist() == [1, 2]


def test_memory_that_numpy_protects():
    array = np.array([1.0, 2.0])
    array.flags.writeable = False
    x = mg.from_numpy(array).requires_grad_()
    assert gradcheck(lambda x: x * x, (x,))
    assert x._array is array and array.tolist() == [1, 2]


def test_no_batches():
    for options in ({"check_batched_forward_grad": True}, {"check_batched_grad": True}):
        with pytest.raises(NotImplementedError, match="minigrad: there "):
            check(mg, mg.sin, double(1), **options)
    with pytest.raises(NotImplementedError, match="minigrad: there "):
        check_second(mg, mg.sin, double(1), check_batched_grad=True)


def test_warnings_point_at_the_caller():
    x = mg.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="not a double precision") as caught:
        gradcheck(lambda x: x * 1, (x,), eps=1e-2, atol=1e-2)
    assert caught[0].filename == __file__
