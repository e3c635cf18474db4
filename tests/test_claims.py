"""What chapters 00 to 05, their recaps and the glossary claim, where it could break: on minigrad and on PyTorch.

A claim is a function named after its chapter and what it says; `m` is either framework. The last test runs the
chapters' own lines, which are said to run in PyTorch as they stand.
"""

import contextlib
import gc
import io
import re
import warnings
import weakref
from pathlib import Path

import nbformat
import pytest

import minigrad as mg

CLAIMS = {}
FRAMEWORKS = [pytest.param("minigrad", id="minigrad"), pytest.param("torch", marks=pytest.mark.torch, id="torch")]


def claim(function):
    CLAIMS[function.__name__] = function
    return function


def framework(name):
    return mg if name == "minigrad" else pytest.importorskip("torch", reason="compares with PyTorch itself")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("which", FRAMEWORKS)
def test_a_claim_holds(which, name):
    CLAIMS[name](framework(which))


def leaf(m, values, **options):
    return m.tensor(values, requires_grad=True, **options)


def value(tensor):
    return None if tensor is None else tensor.tolist()


# --- 01 ------------------------------------------------------------------------------------------


@claim
def ch01_the_flag_counts_when_an_operation_runs_and_when_backward_arrives(m):
    def grad(first, then, between=None):
        w, b = m.tensor(3.0, requires_grad=first), leaf(m, 1.0)
        y = w * w + b
        if between is not None:
            w.requires_grad_(between)
        w.requires_grad_(then)
        y.backward()
        assert value(b.grad) == 1.0
        return value(w.grad)

    found = [grad(*flags) for flags in ((True, True), (True, False), (False, True), (False, False))]
    assert found == [6.0, None, None, None] and grad(True, True, between=False) == 6.0


@claim
def ch01_a_result_is_tracked_when_tracked_numbers_go_in_and_floats_come_out(m):
    t = leaf(m, [2.0, 5.0, 3.0])
    tracked = (t + 1, t[1], m.round(t), m.sign(t), t.double(), m.stack([t[0], t[2]]), t.max(0)[0])
    lost = (t > 2, t.argmax(), t.long(), t.max(0)[1], m.zeros_like(t), (t > 2).float(), t.long() * 1.0, t.data * 2)
    lost += (m.tensor([t[0] * 2, t[1] * 3]), m.tensor(t * 2), t[0].detach() * float(t[1]))
    assert all(one.requires_grad for one in tracked)
    assert not any(one.requires_grad or one.grad_fn for one in lost)
    assert all(one.is_leaf for one in lost)


@claim
def ch01_what_is_written_into_a_buffer_keeps_its_history(m):
    t = leaf(m, [2.0, 5.0, 3.0])
    buffer = m.zeros(3)
    buffer[0], buffer[1] = 2 * t[0], (5 * t[1]).clone()
    assert not buffer.is_leaf  # changed by a recorded operation, so the glossary's leaf speaks of that, too
    buffer.sum().backward()
    assert value(t.grad) == [2.0, 5.0, 0.0]


@claim
def ch01_numpy_refuses_whatever_asks_it(m):
    import numpy as np

    t = leaf(m, [2.0, 5.0])
    for ask in (t.numpy, lambda: np.array(t), lambda: np.array([t[0], t[1]]), lambda: np.exp(t)):
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
            ask()


# --- 02 ------------------------------------------------------------------------------------------


@claim
def ch02_a_leaf_is_added_to_in_place_and_a_retained_result_is_not(m):
    w = leaf(m, 3.0)
    h = w + 0
    h.retain_grad()
    (h + h).backward()
    of_w, of_h = w.grad, h.grad
    (h + h).backward()
    assert (value(of_w), value(w.grad), of_w is w.grad) == (4.0, 4.0, True)
    assert (value(of_h), value(h.grad), of_h is h.grad) == (2.0, 4.0, False)


@claim
def ch02_with_create_graph_the_sum_is_a_new_tensor(m):
    w = leaf(m, 2.0)
    y = w * w
    y.backward(retain_graph=True)
    before = w.grad
    y.backward(create_graph=True)
    assert (value(before), value(w.grad)) == (4.0, 8.0)
    w.grad = None  # the gradient leads back to w, and w holds it


@claim
def ch02_a_graph_needs_grad_only_where_it_was_computed_with(m):
    w = leaf(m, 2.0)
    (w * w).backward()
    y = w.grad * w
    w.grad = None
    y.backward()
    assert value(w.grad) == 4.0
    y = w.grad * w
    w.grad.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@claim
def ch02_backward_fills_only_what_it_reaches(m):
    w, u = leaf(m, 2.0), leaf(m, 3.0)
    h = u * 1
    h.retain_grad()
    (w * 2).backward()
    assert (value(w.grad), u.grad, h.grad) == (2.0, None, None)


@claim
def ch02_detach_makes_a_fifth_state_of_a_retained_result(m):
    h = leaf(m, 2.0) * 1
    h.retain_grad()
    h.detach_()
    assert (h.is_leaf, h.requires_grad, h.retains_grad) == (True, False, True)


# --- 03 ------------------------------------------------------------------------------------------


@claim
def ch03_the_newest_node_goes_first_and_leaves_as_soon_as_they_are_complete(m):
    turns, w, b = [], leaf(m, 2.0), leaf(m, 3.0)
    y, q = w * 2, m.exp(w)
    z = b * q
    for name, tensor in (("w", w), ("b", b), ("y", y), ("q", q), ("z", z)):
        tensor.register_hook(lambda grad, name=name: turns.append(name))
    (z + y).backward()
    assert turns == ["z", "b", "q", "y", "w"]


@claim
def ch03_arrows_of_other_results_are_not_waited_for(m):
    w, b = leaf(m, 3.0), leaf(m, 5.0)
    y = w * 2
    z = y + b
    other = y + 1
    z.backward()
    assert (value(w.grad), value(b.grad), other.grad_fn is not None) == (2.0, 1.0, True)


@claim
def ch03_what_another_result_leads_to_outlives_the_first(m):
    w = leaf(m, 3.0)
    a = w * 2
    y, z = a * a, a + 1
    watch = weakref.ref(a)
    gc.disable()
    try:
        del a
        assert watch() is not None
        del y
        assert watch() is None and value(z) == 7.0
    finally:
        gc.enable()
    z.backward()
    assert value(w.grad) == 2.0


@claim
def ch03_at_a_kink_the_slope_is_between_those_of_the_sides(m):
    def slope(f, values):
        x = leaf(m, values)
        f(x).backward()
        return value(x.grad)

    assert [slope(f, 0.0) for f in (m.relu, m.abs, lambda x: x.clamp(0.0, 1.0))] == [0.0, 0.0, 1.0]
    assert slope(lambda x: m.maximum(x, m.tensor(0.0)), 0.0) == 0.5
    assert slope(lambda x: x.max(), [5.0, 5.0]) == [0.5, 0.5] and slope(lambda x: x.max(0)[0], [5.0, 5.0]) == [1.0, 0.0]
    assert slope(m.sqrt, 0.0) == float("inf") and slope(lambda x: x.norm(), [0.0, 0.0]) == [0.0, 0.0]


@claim
def ch03_edges_are_for_inputs_that_may_have_a_gradient(m):
    x, y = leaf(m, [1.0, 2.0]), leaf(m, [3.0, 4.0])
    edges = [len(one.grad_fn.next_functions) for one in (m.where(x > 1, x, y), x[m.tensor([0, 1])], x * 5, x**2)]
    assert edges == [2, 1, 2, 1] and (x * 5).grad_fn.next_functions[1] == (None, 0)


# --- 04 ------------------------------------------------------------------------------------------


@claim
def ch04_grad_leaves_leaves_alone_but_retained_results_note_what_passes(m):
    w = leaf(m, 2.0)
    h = w * 3
    h.retain_grad()
    assert value(m.autograd.grad(h * h, w)[0]) == 36.0
    assert (w.grad, value(h.grad)) == (None, 12.0)


@claim
def ch04_none_means_that_nothing_came(m):
    class Nothing(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    x = leaf(m, 2.0)
    assert m.autograd.grad(Nothing.apply(x), x, allow_unused=True) == (None,)
    Nothing.apply(x).backward()
    assert x.grad is None
    assert value(m.autograd.grad(x * 0, x)[0]) == 0.0


@claim
def ch04_a_hook_runs_once_in_each_walk_that_reaches_its_tensor(m):
    seen, w, u = [], leaf(m, 2.0), leaf(m, 3.0)
    h = w + 0
    h.register_hook(lambda grad: seen.append(value(grad)))
    (u * 2).backward()
    assert seen == []
    (3 * h + 4 * h).backward()
    (h * 2).backward()
    assert seen == [7.0, 2.0]


@claim
def ch04_retain_grad_keeps_what_comes_out_of_the_last_hook(m):
    h = leaf(m, 2.0) * 3
    h.retain_grad()
    h.register_hook(lambda grad: 10 * grad)
    h.backward()
    assert value(h.grad) == 10.0


@claim
def ch04_the_inner_where_drops_nan_for_x_and_the_safe_number_matters_for_w(m):
    for number, safe in ((1.0, True), (0.0, False), (-5.0, False)):
        x, w = leaf(m, [4.0, 0.0]), leaf(m, 1.0)
        m.where(x > 0, m.sqrt(m.where(x > 0, x, number) * w), 0.0).sum().backward()
        assert value(x.grad) == [0.25, 0.0] and (value(w.grad) == 1.0) == safe


@claim
def ch04_where_meets_infinity_in_both_float_types(m):
    for dtype in (m.float32, m.float64):
        x = leaf(m, 1000.0, dtype=dtype)
        m.where(x < 50, m.exp(x), x).backward()
        assert value(x.grad) != value(x.grad)


@claim
def ch04_a_factor_may_be_left_out_for_one_number_only(m):
    a = leaf(m, [1.0, 2.0])
    m.autograd.backward([a[0] * 3, a * 2], grad_tensors=[None, m.ones(2)])
    assert value(a.grad) == [5.0, 2.0]
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        m.autograd.backward([a * 2], grad_tensors=[None])


# --- 05 ------------------------------------------------------------------------------------------


@claim
def ch05_a_created_graph_leads_into_the_old_one_where_a_result_was_saved(m):
    def second(f):
        x = leaf(m, 2.0)
        (slope,) = m.autograd.grad(f(x), x, create_graph=True, retain_graph=False)
        return value(m.autograd.grad(slope, x)[0])

    assert second(lambda x: x**3) == 12.0
    for f in (m.exp, lambda x: (2 * x) ** 3):
        with pytest.raises(RuntimeError, match="a second time"):
            second(f)


@claim
def ch05_create_graph_makes_a_graph_where_the_gradient_is_computed_from_tracked_tensors(m):
    x = leaf(m, 2.0)
    slopes = [m.autograd.grad(y, x, create_graph=True)[0] for y in (x * x, x**3, x * 3, x + 1)]
    assert [slope.requires_grad for slope in slopes] == [True, True, False, False]


@claim
def ch05_a_walk_that_fails_has_freed_what_it_came_through(m):
    w = leaf(m, 2.0)
    h = w * w
    (h * 3).backward()
    q = (h * 4) * 5
    with pytest.raises(RuntimeError, match="a second time"):
        q.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        q.grad_fn._saved_other  # noqa: B018


@claim
def ch05_a_second_walk_fails_only_on_its_way(m):
    w, u = leaf(m, 2.0), leaf(m, 3.0)
    p = u * u + w
    m.autograd.grad(p, w)  # does not come by u * u
    p.backward()
    assert (value(w.grad), value(u.grad)) == (1.0, 6.0)


# --- The chapters' own lines ---------------------------------------------------------------------

OURS = re.compile(r"\bmg\.(draw|viz)\b|^%%versus|\bbefore\b|\bturns(_by_round)?\b", re.M)
CHAPTERS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("0[1-5]_*.ipynb"))


def run(source, names):
    """What a cell prints, its last value included, and the sentence of an error."""
    *lines, last = source.strip().split("\n")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(action="ignore"):
        try:
            try:
                code = compile(last, "<cell>", "eval")
            except SyntaxError:
                exec(source, names)
            else:
                exec("\n".join(lines), names)
                found = names["_"] = eval(code, names)  # as Jupyter keeps it
                if found is not None:
                    print(repr(found))
        except Exception as error:
            print(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return re.sub(r" object at 0x\w+|\s+", "", printed.getvalue())


def stored(cell):
    said = "".join(one.get("text", "") or one.get("data", {}).get("text/plain", "") for one in cell.outputs)
    return re.sub(r"\s+", "", re.sub(r"(?m)^\w*Warning: .*$|^Consider using .*$|^minigrad: .*$", "", said))


@pytest.mark.torch
@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_in_pytorch(path, monkeypatch):
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    names, compared = {"mg": torch, "plt": plt, "weakref": weakref}, 0
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type != "code" or cell.id == "set-up":
            continue
        kept = cell.source if not OURS.search(cell.source) else without_ours(cell.source)
        said, expected = run(re.sub(r"^%%.*\n", "", kept), names), stored(cell)
        if kept == cell.source and not re.search(r"plt\.show|--brief|--explain", kept):
            assert said == expected, cell.id
            compared += 1
    assert compared >= 15


def without_ours(source):
    """The lines of a cell that do not speak of what is minigrad's own; "" where these are more than single lines."""
    kept = "\n".join(line for line in source.split("\n") if not OURS.search(line))
    try:
        compile(kept, "<cell>", "exec")
    except SyntaxError:
        return ""
    return kept
