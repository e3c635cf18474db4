"""Forward mode: what it computes, and what of it is as under PyTorch."""

import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pytest
from behaviour_cases import report
from forward_ad_cases import CASES
from op_cases import CASES as OPERATIONS
from op_cases import function_of, leaves

import minigrad as mg
from minigrad.autograd import grad
from minigrad.autograd.dual import Dual, dual_levels
from minigrad.autograd.forward_ad import dual_level, make_dual, unpack_dual

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_forward_ad.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def no_level_is_left():
    yield
    assert not dual_levels


@pytest.mark.parametrize("name", CASES)
def test_a_program_ends_as_under_pytorch(name):
    mine, theirs = json.loads(json.dumps(report(mg, CASES[name]))), RECORDED[name]
    for position, (ours, expected) in enumerate(zip(mine, theirs, strict=False)):
        assert ours == expected, f"number {position} of what is said"
    assert len(mine) == len(theirs)


@pytest.mark.torch
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert json.loads(json.dumps({name: report(torch, program) for name, program in CASES.items()})) == RECORDED


# -- every operation -------------------------------------------------------------------------------


def directions(inputs: list) -> list:
    """A tangent for each input."""
    generator = np.random.default_rng(1)
    return [mg.tensor(generator.uniform(-1, 1, x.shape), dtype=mg.float64) for x in inputs]


def weighted(function):
    """The function's result as one number, in which no element counts as another."""

    def scalar(*inputs):
        out = function(*inputs)
        return (out * mg.linspace(0.5, 1.5, out.numel(), dtype=mg.float64).reshape(out.shape)).sum()

    return scalar


def inner(these, those):
    return sum((a * b).sum() for a, b in zip(these, those, strict=True))


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_tangent_of_every_operation_is_the_gradient_times_the_direction(name):
    inputs = leaves(mg, OPERATIONS[name])
    function, tangents = weighted(function_of(mg, OPERATIONS[name])), directions(inputs)
    expected = inner(grad(function(*inputs), inputs), tangents)
    with dual_level():
        found = unpack_dual(function(*map(make_dual, [x.detach() for x in inputs], tangents))).tangent
    assert not found.requires_grad
    np.testing.assert_allclose(found._array, expected._array, rtol=1e-6)  # `to` is of single precision


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_hessian_times_a_direction_comes_out_alike_three_ways(name):
    inputs = leaves(mg, OPERATIONS[name])
    function, tangents = weighted(function_of(mg, OPERATIONS[name])), directions(inputs)
    slope = inner(grad(function(*inputs), inputs, create_graph=True), tangents)
    if not slope.requires_grad:
        return
    backward_twice = grad(slope, inputs, materialize_grads=True)
    with dual_level():
        duals = [make_dual(x, t) for x, t in zip(inputs, tangents, strict=True)]
        out = function(*duals)
        over_reverse = [unpack_dual(g).tangent for g in grad(out, inputs, create_graph=True)]
        slope = unpack_dual(out).tangent + 0 * inputs[0].sum()  # of a flat function it needs no gradient
        over_forward = grad(slope, inputs, materialize_grads=True)
    for expected, one, other in zip(backward_twice, over_forward, over_reverse, strict=True):
        np.testing.assert_allclose(one._array, expected._array, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            0 if other is None else other.detach()._array, expected._array, rtol=1e-9, atol=1e-12
        )


# -- what it costs, and what it leaves behind ------------------------------------------------------


def test_nothing_is_left_of_a_level():
    with dual_level():
        dual = make_dual(mg.ones(2), mg.ones(2))
        result = dual.exp() * dual
        assert type(dual) is Dual and type(result) is Dual
    assert type(dual) is mg.Tensor and type(result) is mg.Tensor
    assert unpack_dual(result).tangent is None


def test_an_error_ends_the_level():
    with pytest.raises(ValueError, match="floating point"), dual_level():
        make_dual(mg.tensor([1]), mg.ones(1))
    assert not dual_levels


def test_a_tangent_lives_as_long_as_its_dual_tensor():
    gc.disable()
    try:
        with dual_level():
            tangent = mg.ones(2, requires_grad=True)
            alive = weakref.ref(tangent)
            dual = make_dual(mg.ones(2), tangent)
            del tangent
            assert alive() is not None
            results = [dual * 2 for _ in range(100)]
            del dual, results
            assert alive() is None and not dual_levels[0].tangents
    finally:
        gc.enable()


def test_a_level_keeps_no_more_than_there_is():
    with dual_level():
        x = make_dual(mg.ones(2), mg.ones(2))
        for _ in range(300):
            x = x * 1.001
        assert len(dual_levels[0].tangents) == 1


def test_an_error_in_forward_leaves_the_inputs_dual():
    class Fails(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            raise KeyError("mine")

    with dual_level():
        dual = make_dual(mg.ones(2), mg.ones(2))
        with pytest.raises(KeyError, match="mine"):
            Fails.apply(dual)
        with pytest.raises(RuntimeError):
            dual @ mg.ones(3)
        assert unpack_dual(dual * 2).tangent.tolist() == [2, 2]


def test_a_long_chain_needs_no_recursion():
    with dual_level():
        x = make_dual(mg.ones(()), mg.ones(()))
        for _ in range(3000):
            x = x + 1
        assert unpack_dual(x).tangent.item() == 1


def test_a_tangent_that_was_saved_late_is_refused_when_it_was_overwritten():
    """The graph of a tangent checks versions as any other does."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with dual_level():
        y = make_dual(x, mg.ones(2)) * 1
        tangent = unpack_dual(y**3).tangent
        with mg.no_grad():
            y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            tangent.sum().backward()


def test_a_base_with_gaps_in_its_memory_is_refused_a_tangent():
    base = mg.from_numpy(np.zeros((3, 4))[:, ::2])
    part = base[0]
    with dual_level(), pytest.raises(NotImplementedError, match="array with gaps"):
        part += make_dual(mg.ones(2, dtype=mg.float64), mg.ones(2, dtype=mg.float64))


def test_what_backward_adds_to_a_grad_has_no_tangent():
    """Unlike what `grad` returns, in PyTorch, too."""
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with dual_level():
        (make_dual(x, mg.ones(2)) ** 3).sum().backward()
        assert unpack_dual(x.grad).tangent is None
