"""Every operation, five ways: value, derivatives raw and recorded, gradcheck, gradgradcheck, and as PyTorch."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from op_cases import CASES, SINGLE, function_of, leaves, report

import minigrad as mg
from minigrad import assemble, ops
from minigrad.nn import functional

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torch_ops.json").read_text())

# PyTorch computes these derivatives in one fused node; minigrad's are made of several.
FUSED = {name for name in CASES if name.startswith(("conv", "mse_loss", "log_softmax", "cross_entropy"))}
FUSED |= {"softmax", "softplus", "softplus sharp"}
# Beside a zero factor PyTorch fills the gradient of cumprod in place; minigrad computes it whole.
FUSED |= {"cumprod zero"}
# PyTorch multiplies by `alpha` in C++, which is another overload of mul with a node of its own.
FUSED |= {"addmm scaled"}


def close(actual, expected):
    """Nested lists of equal shape and value; None only beside None."""
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        assert (a is None) == (e is None)
        if a is not None:
            assert np.shape(a) == np.shape(e)
            np.testing.assert_allclose(a, e, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_value_and_first_derivatives_are_those_of_pytorch(name):
    mine, theirs = report(mg, CASES[name]), RECORDED[name]
    close([mine["value"]], [theirs["value"]])
    assert (mine["shape"], mine["dtype"]) == (theirs["shape"], theirs["dtype"])
    close(mine["first"], theirs["first"])


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_are_those_of_pytorch(name):
    close(report(mg, CASES[name])["second"], RECORDED[name]["second"])


@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith("einsum")])  # made of other operations
def test_node_and_saved_names_are_those_of_pytorch(name):
    mine, theirs = report(mg, CASES[name]), RECORDED[name]
    assert mine["node"] == theirs["node"]
    # Sizes and strides that PyTorch keeps as integers are an implementation's matter.
    kept = [name for name in mine["saved"] if "_sym_" not in name]
    expected = [name for name in theirs["saved"] if "_sym_" not in name]
    assert kept == expected
    if name not in FUSED:
        assert mine["names"] == theirs["names"]


@pytest.mark.parametrize("name", CASES)
def test_raw_and_recorded_derivatives_agree(name):
    """Arrays in a plain backward, Tensors under create_graph: the same row has to serve both."""
    expression = CASES[name]
    inputs = leaves(mg, expression)
    out = function_of(mg, expression)(*inputs)
    seed = mg.from_numpy(np.random.default_rng(0).standard_normal(out.shape).astype(out.dtype.name))
    raw = mg.autograd.grad(out, inputs, seed, retain_graph=True)
    recorded = mg.autograd.grad(out, inputs, seed, create_graph=True)
    for a, b, x in zip(raw, recorded, inputs, strict=True):
        assert a.grad_fn is None and a.shape == b.shape == x.shape
        assert a.dtype == b.dtype == x.dtype
        # The exception has two ways, as in PyTorch: that of plain gradients is quicker, and has no derivative.
        digits = 1e-12 if name == "cumprod zero" else 0
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=digits, atol=0)


@pytest.mark.parametrize("name", [n for n in CASES if n not in SINGLE])
def test_gradcheck(name):
    assert mg.autograd.gradcheck(function_of(mg, CASES[name]), leaves(mg, CASES[name]))


@pytest.mark.parametrize("name", [n for n in CASES if n not in SINGLE])
def test_gradgradcheck(name):
    function, inputs = function_of(mg, CASES[name]), leaves(mg, CASES[name])
    assert mg.autograd.gradgradcheck(function, inputs)


def test_every_row_has_a_case():
    """Adding a row without a case fails here."""
    modules = [ops.arithmetic, ops.pointwise, ops.reduce, ops.shape, ops.linalg, ops.index, ops.inplace, functional]
    rows = {v.row for module in modules for v in vars(module).values() if hasattr(v, "row")}
    kinds = {row.kind for row in rows if row.rules and row.grad_fn_name != "NotImplemented"}
    reached = set().union(*(kinds_of(expression) for expression in CASES.values()))
    assert sorted(kind.grad_fn_class.__name__ for kind in kinds - reached) == []


def kinds_of(expression) -> set:
    """What an expression's graph is made of, and that of its gradients."""
    inputs = leaves(mg, expression)
    out = function_of(mg, expression)(*inputs)
    seed = mg.ones_like(out, requires_grad=True)
    first = mg.autograd.grad(out, inputs, seed, create_graph=True)
    seen, stack = set(), [t._node for t in (out, *first)]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += node._next_nodes
            stack += node._saved if node._kind is ops.inplace.COPY_SLICES else ()
    return {node._kind for node in seen}


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")  # slow there; values count
def test_the_recorded_file_is_still_what_torch_says():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    for name, expression in CASES.items():
        said = report(torch, expression)
        assert {k: said[k] for k in ("node", "saved", "names")} == {
            k: RECORDED[name][k] for k in ("node", "saved", "names")
        }
        close(said["first"], RECORDED[name]["first"])
        close(said["second"], RECORDED[name]["second"])


def slope(function, *inputs):
    """The derivatives of a function by float64 leaves with these elements."""
    tensors = [mg.tensor(values, dtype=mg.float64, requires_grad=True) for values in inputs]
    return [g.tolist() for g in mg.autograd.grad(function(*tensors).sum(), tensors)]


def test_powers_of_zero_change_with_negative_exponents_only():
    inf = float("inf")
    assert slope(lambda p: 0**p, [0.0, 1.0, -1.0]) == [[0.0, 0.0, -inf]]
    assert slope(lambda x, p: x**p, [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]) == [[-inf, 0.0, 1.0], [-inf, 0.0, 0.0]]


def test_a_clamp_hands_a_tie_to_the_element():
    assert slope(lambda x, low: x.clamp(low), [1.0, 2.0], [1.0, 3.0]) == [[1.0, 0.0], [0.0, 1.0]]
    assert mg.tensor([3, 1]).clamp(1.5).dtype is mg.float32


def test_floor_division_has_no_derivative():
    x = mg.tensor([5.0, -5.0], requires_grad=True)
    assert (x // 2).tolist() == [2.0, -3.0] and (2 // x.detach()).tolist() == [0.0, -1.0]
    assert type((x // 2).grad_fn).__name__ == "NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (x // 2).sum().backward()


def test_nothing_is_left_to_divide_by():
    with pytest.warns(UserWarning, match=r"std\(\): degrees of freedom is <= 0"):
        assert np.isnan(mg.ones(1).std().item())
    with pytest.warns(UserWarning, match=r"var\(\): degrees of freedom is <= 0"):
        assert mg.tensor([[1.0, 3.0]]).var(1, correction=2).tolist() == [float("inf")]


def test_the_zeroth_norm_counts_and_has_no_derivative():
    x = mg.tensor([0.0, 2.0, 3.0], requires_grad=True)
    assert x.norm(0).tolist() == 2.0
    assert mg.autograd.grad(x.norm(0), x, allow_unused=True) == (None,)


def test_norms_at_zero():
    assert slope(lambda x: x.norm(1.5), [0.0, 1.0]) == [[0.0, 1.0]]
    assert slope(lambda x: x.norm(3), [0.0, 0.0]) == [[0.0, 0.0]]
    assert slope(lambda x: x.norm(0.5), [0.0, 4.0]) == [[0.0, 1.0]]


def test_nan_is_the_largest_and_the_median():
    x = mg.tensor([1.0, float("nan"), 0.0])
    assert x.sort().indices.tolist() == [2, 0, 1] and x.sort(descending=True).indices.tolist() == [1, 0, 2]
    assert np.isnan(x.median().item()) and np.isnan(mg.zeros(0).median().item())
    assert mg.tensor([1, 2, 1], dtype=mg.uint8).argsort(descending=True).tolist() == [1, 0, 2]


def test_sums_of_exponentials_of_infinities():
    inf = float("inf")
    assert mg.tensor([-inf, -inf]).logsumexp(0).item() == -inf and mg.tensor([inf, 1.0]).logsumexp(0).item() == inf


def test_numbers_of_dimension_none():
    x = mg.tensor(2.0, requires_grad=True)
    assert x.sort().values.item() == x.median(0).values.item() == 2.0
    assert mg.softmax(mg.ones(2), 0, dtype=mg.float64).dtype is mg.float64


def test_a_tensor_is_not_equal_to_what_is_no_number():
    x = mg.ones(2)
    assert x != None and not x == "a" and (x == 1.0).all()  # noqa: E711


def test_a_result_may_go_into_a_tensor_that_is_there():
    out, empty = mg.zeros(2), mg.zeros(0)
    assert mg.mul(mg.ones(2), 3, out=out) is out and out.tolist() == [3.0, 3.0] and out._version == 1
    assert mg.exp(mg.zeros(2), out=empty).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["pow_", "remainder_", "neg_", "sqrt_", "abs_", "reciprocal_", "cos_"])
def test_in_place_forms(name):
    x = mg.tensor([4.0, 9.0], dtype=mg.float64, requires_grad=True)
    arguments = (2.5,) if name in ("pow_", "remainder_") else ()
    changed, fresh = x * 1, getattr(x, name[:-1])(*arguments)
    assert getattr(changed, name)(*arguments) is changed
    assert changed.tolist() == fresh.tolist() and changed._version == 1
    assert type(changed.grad_fn) is type(fresh.grad_fn)


def test_augmented_assignment_changes_the_tensor():
    x = before = mg.tensor([5.0, 7.0])
    x **= 2
    x //= 2
    x %= 5
    assert x is before and x.tolist() == [2.0, 4.0] and x._version == 3


def test_a_scaled_update_in_place():
    x = mg.ones(2)
    x.add_(mg.ones(2), alpha=-0.5).sub_(1, alpha=2)
    assert x.tolist() == [-1.5, -1.5] and x._version == 2


def test_the_assembled_source_can_be_read():
    source = assemble.source_of(mg.mul)
    assert "def mul(self, other):" in source and "def vjp(node, grad, next_nodes, saved=None):" in source
    compile(source, "<mul>", "exec")


def test_an_operation_looks_the_same_before_and_after_its_first_call():
    """It is compiled at its first call. Whoever looks at it before sees the same signature, help and source."""
    program = """
        import inspect
        import minigrad as mg

        def look():
            return [(str(inspect.signature(f)), inspect.getdoc(f), inspect.getsource(f)) for f in (mg.tan, mg.cumsum)]

        before = look()
        mg.tan(mg.ones(2)), mg.cumsum(mg.ones(2), 0)
        assert look() == before, (before, look())
        print(before[0][0], "self=lambda grad, result" in before[0][2])
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.stdout.split() == ["(self)", "True"], found.stderr


FULL = (4, 3, 5)
KEYS = {
    "rows": ([2, 0, 2, -1],),
    "rows of rows": (np.array([[1, 1], [3, 0]]),),
    "columns": (slice(None), [2, 0, 2]),
    "both": ([0, 0, 3], [1, 1, -1]),
    "all": ([0, 0, -4], [1, 1, 1], [4, -1, 4]),
    "part of the others": ([1, 1], slice(0, 2)),
    "apart": ([1, 1], slice(None), [0, 0]),
    "mask and list": (np.array([True, False, True, False]), [1, 1]),
    "mask": (np.arange(12).reshape(4, 3) % 2 == 0,),
    "slice": (slice(1, 3), slice(None), slice(0, 4, 2)),
    "none": (np.zeros(0, int),),
}


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", KEYS)
def test_gradients_of_what_was_picked_are_added_up(name, large):
    shape = (*FULL[:2], 800) if large else FULL
    keys = tuple(np.asarray(key) if isinstance(key, list) else key for key in KEYS[name])
    expected = np.zeros(shape)
    values = np.random.default_rng(0).standard_normal(expected[keys].shape)
    np.add.at(expected, keys, values)
    np.testing.assert_allclose(mg.ops.shape.put.row.forward(values, keys, shape), expected)


def test_positions_in_small_integers_reach_all_of_a_large_tensor():
    x = mg.arange(300).reshape(3, 100)
    assert x.gather(0, mg.tensor(np.array([[2]], np.uint8))).tolist() == [[200]]
    y, far = mg.zeros(300, 2, requires_grad=True), mg.tensor(np.array([100, 1], np.int8))
    y[far, far * 0 + 1].sum().backward()
    assert y.grad[100, 1] == y.grad[1, 1] == 1 and y.grad.sum() == 2
