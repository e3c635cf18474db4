"""What the chapters, their recaps and the glossary claim, where it could break: on minigrad and on PyTorch.

A claim is a function named after its chapter and what it says; `m` is either framework. The last test runs the
chapters' own lines, which are said to run in PyTorch as they stand.
"""

import ast
import contextlib
import gc
import importlib
import io
import re
import threading
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


# --- 06 ------------------------------------------------------------------------------------------


@claim
def ch06_what_no_grad_computes_is_a_constant_and_an_alias_made_there_says_true(m):
    w = leaf(m, [2.0, 3.0])
    with m.no_grad():
        computed, asked, alias = w[:1] * 2, m.zeros(1, requires_grad=True), w[:1]
    assert (computed.requires_grad, asked.requires_grad) == (False, True)
    computed *= 5
    assert value(computed * w) == [40.0, 60.0]
    assert (alias.requires_grad, alias.is_leaf, alias.grad_fn) == (True, True, None)
    (alias * 2).sum().backward()
    assert (w.grad, alias.grad) == (None, None)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        alias *= 5
    with m.no_grad():
        alias *= 5
    assert value(w) == [10.0, 3.0]


@claim
def ch06_what_inference_mode_computes_cannot_be_saved_and_an_alias_can(m):
    w = leaf(m, [2.0, 3.0])
    with m.inference_mode():
        computed, view = w * 2, w[:1]
        with m.enable_grad():
            inside = w * 2
    assert not computed.requires_grad and not inside.requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        computed * w
    for fine in (computed + w, computed.clone() * w, view * w, computed * 2):
        assert len(value(fine)) == 2


@claim
def ch06_create_graph_says_whether_a_walk_is_recorded(m):
    w = leaf(m, 2.0)
    y = w**3
    for create in (True, False):
        for mode in (m.no_grad(), m.enable_grad()):
            with mode:
                (slope,) = m.autograd.grad(y, w, create_graph=create, retain_graph=True)
            assert slope.requires_grad == create


@claim
def ch06_each_switch_is_a_decorator(m):
    w = leaf(m, 2.0)
    for switch, tracked in ((m.no_grad, False), (m.enable_grad, True), (lambda: m.set_grad_enabled(False), False)):
        double = switch()(lambda: w * 2)
        assert m.is_grad_enabled()
        with m.no_grad():
            assert double().requires_grad == tracked


@claim
def ch06_the_mode_is_put_back_after_an_error_and_each_thread_has_its_own(m):
    found = []
    with pytest.raises(KeyError), m.no_grad():
        thread = threading.Thread(target=lambda: found.append(m.is_grad_enabled()))
        thread.start()
        thread.join()
        raise KeyError
    assert found == [True] and m.is_grad_enabled()


@claim
def ch06_data_counts_for_itself_alone(m):
    w, u = leaf(m, 2.0), leaf(m, 3.0)
    raw = w.data
    y, z = w * u, raw * u
    raw.mul_(5)
    assert (raw._version, w._version) == (1, 0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    y.backward()
    assert value(u.grad) == 10.0  # wrong, and nobody says so


@claim
def ch06_behind_a_frozen_first_layer_somebody_asks_only_if_the_data_is_tracked(m):
    frozen, w = m.tensor(3.0), leaf(m, 5.0)
    for tracked in (False, True):
        x = m.tensor(2.0, requires_grad=tracked)
        (w * (frozen * x)).backward()
        assert value(x.grad) == (15.0 if tracked else None)


# --- 07 ------------------------------------------------------------------------------------------


@claim
def ch07_each_in_place_operation_counts_one(m):
    def versions(*programs):
        for program in programs:
            b = m.tensor([1.0, 2.0, 3.0])
            exec(program, {"b": b, "m": m})
            yield b._version

    once = ("b += 0", "b[:] = 1.0", "b[0] = b[1]", "b[[0, 1]] = 0.0", "b[b > 1] += 1", "b.t().mul_(2)", "b.copy_(b)")
    assert list(versions(*once)) == [1] * len(once)
    assert list(versions("b[0] += 1", "b[:0] += 1", "b[0], b[1] = 1.0, 2.0")) == [2, 2, 2]
    assert list(versions("b = b + 1", "b.requires_grad_()", "b.detach_()", "b.data += 1")) == [0, 0, 0, 0]


@claim
def ch07_a_side_that_was_saved_may_not_be_overwritten(m):
    def may(op, side):
        def gradient(overwrite):
            x = leaf(m, [0.25, 0.5])
            sides = {"input": x, "result": op(x)}
            with m.no_grad():
                if overwrite:
                    sides[side].fill_(9.0)
            sides["result"].sum().backward()
            return value(x.grad)

        try:
            assert gradient(True) == gradient(False)
        except RuntimeError:
            return False
        return True

    ops = {
        "both": (m.prod, lambda x: x.norm(), lambda x: x.std(), lambda x: 2**x, lambda x: x.logsumexp(0)),
        "input": (lambda x: x**1, lambda x: x**0, lambda x: x.clamp(0.3, 1.0)),
        "result": (lambda x: x.softmax(0),),
        "neither": (lambda x: x.max(0)[0], m.mean, lambda x: x / 2, lambda x: x * 0, lambda x: m.where(x > 0, x, 0.0)),
    }
    for saved, group in ops.items():
        for op in group:
            assert [may(op, side) for side in ("input", "result")] == [
                saved in ("result", "neither"),
                saved in ("input", "neither"),
            ]


@claim
def ch07_a_saved_side_is_free_after_backward_and_may_be_saved_by_others_too(m):
    w = leaf(m, 2.0)
    (w * w).backward()
    with m.no_grad():
        w.mul_(3)
    h = m.exp(w)
    t = m.tanh(h)  # saves t; but exp has saved h
    h.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        t.backward()


@claim
def ch07_which_error_is_this(m):
    w = leaf(m, [1.0, 2.0, 3.0])
    with m.no_grad():
        hidden = w[:1]
    pieces = [(w * 2).split([1, 2]), (w * 2).split(3), (w * 2).chunk(2), (w * 2).unbind(), w.unbind(), [*(w * 2)]]
    told = [(w, "^a leaf Variable"), (w[:2], "^a view of a leaf Variable"), (hidden, "created in no_grad mode")]
    told += [(piece[0], "a function that returns multiple views") for piece in pieces]
    for tensor, message in told:
        with pytest.raises(RuntimeError, match=message):
            tensor *= 5
    assert (w._version, value(w)) == (0, [1.0, 2.0, 3.0])
    view = w[:2]
    with m.no_grad():
        view *= 5
    assert (w._version, value(w), view.requires_grad) == (1, [5.0, 10.0, 3.0], True)
    untracked = m.zeros(3)
    for piece in untracked.unbind():
        piece += 1
    assert (value(untracked), untracked._version) == ([1.0, 1.0, 1.0], 3)


@claim
def ch07_to_overwrite_a_view_is_to_overwrite_its_base(m):
    w, buffer = leaf(m, [1.0, 2.0, 3.0]), m.zeros(3)
    buffer[:2].copy_(w[:2] * 5)
    buffer.sum().backward()
    assert (buffer._version, value(w.grad)) == (1, [5.0, 5.0, 0.0])
    y = w * 2
    with m.no_grad():
        y[:2].mul_(3)
    assert (y._version, value(y), value(m.autograd.grad(y.sum(), w)[0])) == (1, [6.0, 12.0, 6.0], [2.0] * 3)


@claim
def ch07_what_is_overwritten_with_zeros_has_gradient_zero(m):
    w = leaf(m, [2.0])
    y = w * 2
    y.zero_()
    y.sum().backward()
    assert value(w.grad) == [0.0]


@claim
def ch07_three_for_one_may_be_one_line(m):
    b, w = m.zeros(2), leaf(m, [1.0, 2.0])
    b += 1
    y = b * w
    b[0] += 1
    with pytest.raises(RuntimeError, match="is at version 3; expected version 1"):
        y.sum().backward()


# --- 08 ------------------------------------------------------------------------------------------


def function(m, forward, backward):
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Own", (m.autograd.Function,), methods).apply


def keeping(m, keep, backward):
    """x * x, which saves what `keep` says of x."""

    def forward(ctx, x):
        ctx.save_for_backward(keep(x))
        return x * x

    return function(m, forward, backward)


@claim
def ch08_tensors_are_saved_and_freed_whatever_they_are(m):
    for keep in (lambda x: x, lambda x: 2 * x):
        y = keeping(m, keep, lambda ctx, grad: grad * ctx.saved_tensors[0])(leaf(m, 3.0))
        node = y.grad_fn
        y.backward()
        with pytest.raises(RuntimeError, match="a second time"):
            node.saved_tensors  # noqa: B018
    with pytest.raises(TypeError, match="save_for_backward can only save variables"):
        keeping(m, lambda x: 3, None)(leaf(m, 3.0))
    between = []
    y = keeping(m, lambda x: between.append(2 * x) or between[0], lambda ctx, grad: ctx.saved_tensors[0])(leaf(m, 3.0))
    between[0].mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@claim
def ch08_one_gradient_for_each_argument_and_more_of_none(m):
    def call(*gradients):
        x = leaf(m, 3.0)
        function(m, lambda ctx, x, n: x * n, lambda ctx, grad: tuple(gradients))(x, 2).backward()
        return value(x.grad)

    one = m.tensor(1.0)
    assert [call(one, *[None] * extra) for extra in (1, 2, 4)] == [1.0, 1.0, 1.0]
    for wrong in ((one,), (one, None, one)):
        with pytest.raises(RuntimeError, match="incorrect number of gradients"):
            call(*wrong)


@claim
def ch08_one_gradient_for_each_result(m):
    came = []

    def backward(ctx, *gradients):
        came.extend(gradients)
        return gradients[0]

    x = leaf(m, [1.0, 2.0])
    y, positive, number = function(m, lambda ctx, x: (x * 1, x > 0, 5), backward)(x)
    y.sum().backward()
    assert (positive.requires_grad, number, len(came), came[2]) == (False, 5, 3, None)
    assert value(came[1]) == [0, 0]


@claim
def ch08_what_is_marked_dirty_is_returned_and_no_leaf(m):
    def doubled(returned, h):
        def forward(ctx, h):
            ctx.mark_dirty(h)
            h.mul_(2)
            return h if returned else h.clone()

        return function(m, forward, lambda ctx, grad: grad * 2)(h)

    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        doubled(True, leaf(m, 3.0))
    with pytest.raises(RuntimeError, match="marked as dirty"):
        doubled(False, leaf(m, 3.0) * 1)


@claim
def ch08_inside_a_function_recording_is_off_until_somebody_turns_it_on(m):
    seen = []

    def forward(ctx, x):
        seen.append((x * 2).requires_grad)
        with m.enable_grad():
            seen.append((x * 2).requires_grad)
        return x * 2

    function(m, forward, lambda ctx, grad: grad * 2)(leaf(m, 3.0))
    assert seen == [False, True]


@claim
def ch08_gradcheck_sees_its_points_up_to_a_tolerance(m):
    careless = keeping(m, lambda x: x, lambda ctx, grad: 2 * ctx.saved_tensors[0])
    steep = function(m, lambda ctx, x: abs(x), lambda ctx, grad: 1.00001 * grad)

    def passes(f, values, **options):
        return m.autograd.gradcheck(f, (leaf(m, values, dtype=m.float64),), raise_exception=False, **options)

    assert [passes(careless, values) for values in ([0.0], [1.0], 3.0, [1.0, 2.0])] == [True, False, False, False]
    assert [passes(steep, values) for values in ([1.0, 2.0], [1.0, -2.0])] == [True, False]
    assert not passes(steep, [1.0], atol=1e-6, rtol=0)
    assert [passes(m.relu, values) for values in ([0.0], [1.0], [-1.0])] == [False, True, True]


# --- 09 ------------------------------------------------------------------------------------------


@claim
def ch09_a_slope_made_from_nothing_tracked_has_no_history(m):
    def tracked(f):
        x = leaf(m, 2.0)
        return m.autograd.grad(f(x), x, create_graph=True)[0].requires_grad

    assert not any(map(tracked, (lambda x: x * 3, lambda x: x + 1, lambda x: -x, lambda x: x / 2, m.sign, m.sum)))
    assert not tracked(lambda x: x**0)
    assert all(map(tracked, (lambda x: x**1, lambda x: x * x, m.relu, m.abs)))  # whether it moves with x or not


@claim
def ch09_gradgradcheck_says_nothing_about_the_slope_itself(m):
    wrong = keeping(m, lambda x: x, lambda ctx, grad: grad * 5 * ctx.saved_tensors[0] ** 2)
    inputs = (leaf(m, [2.0], dtype=m.float64),)
    assert not m.autograd.gradcheck(wrong, inputs, raise_exception=False)
    assert m.autograd.gradgradcheck(wrong, inputs)


@claim
def ch09_once_differentiable_is_silent_where_no_history_arrives(m):
    backward = m.autograd.function.once_differentiable(lambda ctx, grad: grad * 2 * ctx.saved_tensors[0])
    once, x = keeping(m, lambda x: x, backward), leaf(m, 2.0)
    y = once(x)
    (slope,) = m.autograd.grad(y, x, create_graph=True)
    (y + slope**2).backward()
    assert (slope.requires_grad, value(x.grad)) == (False, 4.0)  # 4 + 2 · 4 · 2 would be right
    (slope,) = m.autograd.grad(once(x) ** 2, x, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        slope.backward()


@claim
def ch09_one_more_walk_gives_hessian_times_vector_where_the_slope_has_a_history(m):
    def times(f, *v):
        p = leaf(m, [1.0, 2.0])
        (slope,) = m.autograd.grad(f(p), p, create_graph=True)
        return value(m.autograd.grad(slope, p, m.tensor(v))[0])

    assert times(lambda p: p[0] ** 2 * p[1] + p[1] ** 3, 1.0, 10.0) == [24.0, 122.0]
    assert times(lambda p: 3 * p[0] + p[1] ** 2, 1.0, 10.0) == [0.0, 20.0]
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        times(lambda p: (3 * p).sum(), 1.0, 10.0)


@claim
def ch09_from_a_saddle_the_loss_rises_and_falls(m):
    def loss(a, b):
        return (a * b - 1) ** 2

    zero = leaf(m, 0.0)
    assert [value(slope) for slope in m.autograd.grad(loss(zero, leaf(m, 0.0)), zero)] == [0.0]
    assert loss(0.1, 0.1) < loss(0.0, 0.0) < loss(0.1, -0.1)


# --- 10 ------------------------------------------------------------------------------------------


@claim
def ch10_what_no_rule_needs_is_not_saved_and_a_node_without_is_never_used_up(m):
    x, k = leaf(m, 2.0), m.tensor(3.0)
    assert (x * k).grad_fn._saved_self is None and value((x * k).grad_fn._saved_other) == 3.0
    for y in (x + k, -x, function(m, lambda ctx, x: x * 2, lambda ctx, grad: grad * 2)(x)):
        y.backward()
        y.backward()
    assert value(x.grad) == 2.0 - 2.0 + 4.0
    with pytest.raises(RuntimeError, match="a second time"):
        y = x * k
        y.backward()
        y.backward()


# --- 11 ------------------------------------------------------------------------------------------


@claim
def ch11_a_second_time_in_a_loop_is_a_graph_of_an_earlier_round(m):
    w = leaf(m, 2.0)
    before, state, buffer = w * w, w * w, m.zeros(2)

    def with_state():
        nonlocal state
        state = w * state
        return state

    def with_buffer():
        buffer[0] = w * 2
        return buffer.sum()

    for loss_of in (lambda: before * 3, with_state, with_buffer):
        loss_of().backward()
        with pytest.raises(RuntimeError, match="a second time"):
            loss_of().backward()


@claim
def ch11_the_largest_curvature_sets_the_rate_of_a_quadratic(m):
    def descend(rate, f, steps=50):
        x = leaf(m, 1.0)
        for _ in range(steps):
            x.grad = None
            f(x).backward()
            with m.no_grad():
                x -= rate * x.grad
        return abs(x.item())

    assert descend(0.24, lambda x: 4 * x * x) < 1 < descend(0.26, lambda x: 4 * x * x)  # curvature 8, 2 / 8 = 0.25
    assert descend(0.25, lambda x: 4 * x * x) == 1


@claim
def ch11_cleared_anywhere_before_backward(m):
    w = leaf(m, 3.0)
    (w * w).backward()
    loss = w * w
    w.grad = None
    loss.backward()
    assert value(w.grad) == 6.0


# --- 12 ------------------------------------------------------------------------------------------


def push(m, f, x, t):
    forward_ad = importlib.import_module(m.__name__ + ".autograd.forward_ad")
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, t))).tangent


@claim
def ch12_what_takes_the_value_alone_leaves_the_tangent(m):
    x, t = m.tensor([5.0, 2.0]), m.tensor([1.0, 1.0])
    assert value(push(m, lambda x: x * x, x, t)) == [10.0, 4.0]
    cuts = (
        lambda x: x.detach(),
        lambda x: x.data,
        lambda x: m.tensor([x[0].item(), x[1].item()]),
        lambda x: m.tensor(x.detach().numpy()),
    )
    for cut in cuts:
        assert value(push(m, lambda x, cut=cut: x * cut(x), x, t)) == [5.0, 2.0]
        assert push(m, cut, x, t) is None


@claim
def ch12_no_grad_lets_tangents_pass_and_inference_mode_does_not(m):
    x, t = m.tensor(5.0), m.tensor(10.0)
    with m.no_grad():
        assert value(push(m, lambda x: x * x, x, t)) == 100.0
    with m.inference_mode():
        assert push(m, lambda x: x * x, x, t) is None


@claim
def ch12_tangent_times_gradient_is_the_same_on_every_cut(m):
    forward_ad = importlib.import_module(m.__name__ + ".autograd.forward_ad")
    with forward_ad.dual_level():
        x = forward_ad.make_dual(m.tensor(1.5), m.tensor(2.0)).requires_grad_()
        a, b = m.exp(x), m.sin(x)
        c, d = a * b, a / b
        y = c * d
        for tensor in (a, b, c, d, y):
            tensor.retain_grad()
        y.backward()
        a, b, c, d, x, y = ((forward_ad.unpack_dual(t).tangent * t.grad).item() for t in (a, b, c, d, x, y))
    assert abs(y) > 1
    assert all(abs(cut - y) < 1e-3 for cut in (x, a + b, c + d))


@claim
def ch12_all_ways_to_a_hessian_give_the_same(m):
    functional = m.autograd.functional
    f, p, v = lambda p: (p[0] * p[1]).exp() + (p**3).sum(), leaf(m, [0.5, -1.0]), m.tensor([1.0, 10.0])
    over_reverse = push(m, lambda p: m.autograd.grad(f(p), p)[0], p, v)
    over_forward = m.autograd.grad(push(m, f, p, v), p)[0]
    right = functional.hessian(f, p) @ v
    for found in (over_reverse, over_forward, functional.hvp(f, p, v)[1], functional.vhp(f, p, v)[1]):
        assert m.allclose(found, right)


# --- 13 ------------------------------------------------------------------------------------------


def bytes_saved(m, f):
    found = {}

    def pack(t):
        memory = t.untyped_storage()
        found[memory.data_ptr()] = memory.nbytes()
        return t

    with m.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f()
    return sum(found.values()), y


@claim
def ch13_activations_grow_with_the_data_and_weights_do_not(m):
    w = m.ones(10, 10, requires_grad=True)
    small, large = (bytes_saved(m, lambda n=n: m.tanh(m.ones(n, 10) @ w))[0] for n in (10, 20))
    assert (small, large) == (800, 1600)


@claim
def ch13_what_two_nodes_share_is_packed_twice(m):
    boxes, x = [], m.ones(3, requires_grad=True)
    with m.autograd.graph.saved_tensors_hooks(lambda t: boxes.append(t) or t, lambda t: t):
        m.exp(x) ** 2
    assert len(boxes) == 2 and len({t.untyped_storage().data_ptr() for t in boxes}) == 1


@claim
def ch13_save_on_cpu_changes_no_gradient(m):
    x = leaf(m, [0.5, 2.0])
    with m.autograd.graph.save_on_cpu():
        y = m.tanh(m.sin(x)).sum()
    (kept,) = m.autograd.grad(y, x)
    assert value(kept) == value(m.autograd.grad(m.tanh(m.sin(x)).sum(), x)[0])


@claim
def ch13_one_checkpoint_around_everything_runs_all_again_before_the_second_node_has_its_turn(m):
    runs, when = [], []

    def chain(t):
        for _ in range(5):
            t = m.tanh(t)
            runs.append(1)
            if t.requires_grad:
                t.register_hook(lambda grad: when.append(len(runs)))
        return t

    m.utils.checkpoint.checkpoint(chain, m.ones(3, requires_grad=True), use_reentrant=False).sum().backward()
    assert when == [5, 9, 9, 9, 9]  # the tenth has saved all that was wanted: the second run ends inside of it


@claim
def ch13_in_place_saves_what_a_variable_holds(m):
    a, b = leaf(m, [1.0, 2.0]), leaf(m, [3.0, 4.0])
    held = a * b
    place = held.untyped_storage().data_ptr()
    assert m.relu(held).untyped_storage().data_ptr() != place
    assert held.relu_().untyped_storage().data_ptr() == place
    assert bytes_saved(m, lambda: m.relu(a * b))[0] == bytes_saved(m, lambda: (a * b).relu_())[0]


@claim
def ch13_arguments_are_watched_and_variables_are_not(m):
    a, w = leaf(m, [1.0, 2.0]), m.ones(2)
    y = m.utils.checkpoint.checkpoint(lambda t: t * w, a, use_reentrant=False)
    w.mul_(5)
    assert value(m.autograd.grad(y.sum(), a)[0]) == [5.0, 5.0]
    u = a * 1
    y = m.utils.checkpoint.checkpoint(m.sin, u, use_reentrant=False)
    u.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# --- The chapters' own lines ---------------------------------------------------------------------

OURS = re.compile(r"\bmg\.(draw|viz)\b|\bbefore\b|\bturns(_by_round)?\b")
NOT_RUN = re.compile(
    r"^%%versus|timeit|tracemalloc|share_of_time|ratio\(|exercises\.checks|\bdisplay\(|show_frame", re.M
)
# pictures, what is ours alone, and a warning to which PyTorch adds a line
NOT_COMPARED = re.compile(r"plt\.show|--brief|--explain|^%%explain|ProgressBar\(|\bsaid\[")
CHAPTERS = [
    path
    for path in sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
    if path.stem[:2] not in ("00", "10")  # 10 reads minigrad's own source
]


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
        if cell.cell_type != "code" or NOT_RUN.search(cell.source):
            continue
        source = re.sub(r"^%%.*\n", "", cell.source).replace("minigrad", "torch")
        said, expected = run(without_ours(source), names), stored(cell)
        if not OURS.search(source) and not NOT_COMPARED.search(cell.source):
            assert said == expected, cell.id
            compared += 1
    assert compared >= 15


def without_ours(source):
    """A cell without the statements that speak of what is minigrad's own."""
    if not OURS.search(source):
        return source
    return "\n".join(text for text in map(ast.unparse, ast.parse(source).body) if not OURS.search(text))
