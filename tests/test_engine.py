"""What the engine promises: right sums, right moments, nothing left behind, no recursion, no cycles."""

import gc
import itertools
import linecache
import os
import subprocess
import sys
import textwrap
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd.reentry import running
from minigrad.viz.live import saved_values


def leaf(*values):
    return mg.tensor(list(values), requires_grad=True)


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


# -- what is recorded ----------------------------------------------------------------------------


def test_a_result_requires_grad_if_any_input_does():
    w, c = leaf(2.0), mg.tensor([3.0])
    assert (w * c).requires_grad and (c * w).requires_grad
    assert not (c * c).requires_grad and (c * c).is_leaf


def test_nothing_is_recorded_without_grad_mode():
    w = leaf(2.0)
    with mg.no_grad():
        y = w * w
    assert not y.requires_grad and y.grad_fn is None
    assert (w * w).requires_grad


@pytest.mark.parametrize("off", [mg.no_grad, lambda: mg.set_grad_enabled(False), mg.inference_mode])
def test_grad_mode_is_restored_after_an_exception(off):
    with pytest.raises(ZeroDivisionError), off():
        _ = 1 / 0
    assert mg.is_grad_enabled() and (leaf(1.0) * 2).requires_grad


def test_no_grad_decorates_functions_generators_and_coroutines():
    @mg.no_grad()
    def plain():
        return mg.is_grad_enabled()

    @mg.no_grad
    def generator():
        while True:
            yield mg.is_grad_enabled()

    @mg.enable_grad()
    async def coroutine():
        return mg.is_grad_enabled()

    steps = generator()
    assert not plain() and not next(steps) and mg.is_grad_enabled() and not next(steps)
    with mg.no_grad():
        with pytest.raises(StopIteration) as done:
            coroutine().send(None)
    assert done.value.value is True


def test_grad_mode_is_per_thread():
    seen = []
    with mg.no_grad():
        thread = threading.Thread(target=lambda: seen.append((leaf(1.0) * 2).requires_grad))
        thread.start()
        thread.join()
    assert seen == [True]


def test_set_grad_enabled_lasts():
    mg.set_grad_enabled(False)
    try:
        assert not (leaf(1.0) * 2).requires_grad
    finally:
        mg.set_grad_enabled(True)


def test_a_class_is_decorated_with_a_warning():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated and will be disabled"):

        @mg.no_grad()
        class Model:
            def __init__(self):
                self.recorded = mg.is_grad_enabled()

    assert not Model().recorded


def test_set_grad_enabled_says_its_mode():
    assert repr(mg.set_grad_enabled(mode=True)) == "torch.autograd.grad_mode.set_grad_enabled(mode=True)"


def test_grad_modes_are_in_autograd_too():
    assert mg.autograd.no_grad is mg.no_grad and mg.autograd.enable_grad is mg.enable_grad
    assert mg.autograd.set_grad_enabled is mg.set_grad_enabled and mg.autograd.inference_mode is mg.inference_mode


@pytest.fixture
def always():
    mg.set_warn_always(True)
    yield
    mg.set_warn_always(False)


def test_a_tracked_tensor_as_a_number_warns(always):
    x = mg.tensor(1.75, requires_grad=True)
    assert int(x) == 1  # without a word, as in PyTorch
    for convert, number in ((float, 1.75), (complex, 1.75)):
        with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
            assert convert(x) == number
    assert x.item() == 1.75 and f"{x:.1f}" == "1.8" and f"{x.detach()}" == "1.75"


def test_some_warnings_are_given_once(recwarn):
    x = mg.tensor(1.0, requires_grad=True)
    float(x)
    recwarn.clear()
    float(x)
    assert not recwarn.list and not mg.is_warn_always_enabled()


def test_next_functions_lead_from_the_result_to_the_leaves():
    w, x, b = leaf(2.0), mg.tensor([3.0]), leaf(1.0)
    y = w * x
    z = y + b
    assert type(z.grad_fn).__name__ == "AddBackward0" and z.grad_fn.name() == "AddBackward0"
    assert z.grad_fn.next_functions[0] == (y.grad_fn, 0)
    accumulate = z.grad_fn.next_functions[1][0]
    assert accumulate.name() == "torch::autograd::AccumulateGrad" and accumulate.variable is b
    assert y.grad_fn.next_functions[1] == (None, 0)
    assert (w * 1).grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0]


def test_only_what_a_derivative_needs_is_saved():
    a, c = leaf(2.0), mg.tensor([3.0])
    node = (a * c).grad_fn
    assert node._saved_other is c and node._saved_self is None
    assert saved_values((a + c)._node) == []


def test_a_python_number_is_kept_for_pictures():
    w, c = leaf(2.0), mg.tensor([3.0])
    assert (w + 5)._node._constants == (None, 5)
    assert (w + c)._node._constants[1]() is c


# -- gradients -----------------------------------------------------------------------------------


def test_contributions_of_all_paths_are_summed():
    h = x = leaf(1.0)
    for _ in range(60):
        h = h + h
    h.backward()
    assert x.grad.item() == 2.0**60


def test_gradients_accumulate_into_the_same_tensor():
    x = leaf(2.0)
    (x * 3).backward()
    first = x.grad
    (x * 4).backward()
    assert x.grad is first and x.grad.tolist() == [7.0]


def test_two_leaves_never_share_a_gradient():
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (a + b).sum().backward()
    a.grad.zero_()
    assert b.grad.tolist() == [1.0, 1.0]
    b.grad += 1  # owned and writable, though sum's gradient is an expanded view
    assert a.grad.tolist() == [0.0, 0.0]


def test_broadcasting_is_undone():
    bias, scale = leaf(1.0, 2.0), mg.tensor(3.0, requires_grad=True)
    (mg.ones(4, 2) * scale + bias).sum().backward()
    assert bias.grad.tolist() == [4.0, 4.0] and scale.grad.tolist() == 8.0


def test_a_gradient_has_the_dtype_of_its_leaf():
    x = leaf(1.0)
    (x * mg.tensor([2.0], dtype=mg.float64)).sum().backward()
    assert x.grad.dtype is mg.float32


def test_grad_leaves_grad_alone_and_inputs_restrict_backward():
    x, y = leaf(2.0), leaf(3.0)
    assert mg.autograd.grad(x * y, (x, y))[0].tolist() == [3.0]
    assert x.grad is None
    (x * y).backward(inputs=[x])
    assert x.grad.tolist() == [3.0] and y.grad is None


def test_grad_of_an_intermediate_stops_there():
    x = leaf(2.0)
    y = x * 3
    seen = []
    x.register_hook(seen.append)
    assert mg.autograd.grad((y * y).sum(), y)[0].tolist() == [12.0] and seen == []


def test_unused_inputs():
    x, unused = leaf(2.0), leaf(1.0, 2.0)
    y = (x * 3).sum()
    grads = mg.autograd.grad(y, (x, unused), allow_unused=True, retain_graph=True)
    assert grads[1] is None
    assert mg.autograd.grad(y, unused, materialize_grads=True)[0].tolist() == [0.0, 0.0]


def test_an_option_that_is_ignored_is_not_ignored_in_silence():
    x = leaf(2.0)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        assert mg.autograd.grad(x * 2, x, only_inputs=False)[0].tolist() == [2.0]


def test_third_derivative():
    x = mg.tensor(2.0, dtype=mg.float64, requires_grad=True)
    y = x**4
    for expected in (32.0, 48.0, 48.0):
        (y,) = mg.autograd.grad(y, x, create_graph=True)
        assert y.item() == expected


def test_create_graph_does_not_need_retain_graph():
    x = leaf(2.0)
    (g,) = mg.autograd.grad(x**3, x, create_graph=True, retain_graph=False)
    assert mg.autograd.grad(g, x)[0].tolist() == [12.0]


# -- freeing -------------------------------------------------------------------------------------


def test_saved_values_are_freed_unless_retained():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    assert y._node._saved is not None
    y.backward()
    assert y._node._saved is None and [s.value for s in saved_values(y._node)] == [None, None]
    assert x.grad.tolist() == [8.0]


@pytest.mark.parametrize("make", [lambda x: x + 3, lambda x: -x, lambda x: x.sum(), lambda x: x.view(1)])
def test_what_saves_nothing_can_be_walked_again(make):
    x = leaf(2.0)
    y = make(x).sum()
    y.backward()
    y.backward()
    assert abs(x.grad.item()) == 2.0


def test_dropping_the_output_frees_the_graph_at_once(no_collector):
    x = leaf(2.0)
    y = x.exp() * x.tanh()
    alive = weakref.ref(y.grad_fn._node), weakref.ref(y)
    del y
    assert [reference() for reference in alive] == [None, None]
    z = (x * 2).sum()
    z.backward()
    alive = weakref.ref(z)
    del z
    assert alive() is None


def test_a_leaf_is_freed_at_once_and_keeps_no_graph(no_collector):
    x = leaf(2.0)
    y = x * x
    y.sum().backward()
    record, variable = weakref.ref(y.grad_fn._node), weakref.ref(x)
    del y
    assert record() is None and x.grad is not None
    del x
    assert variable() is None


def test_a_graph_outlives_the_names_of_its_leaves(no_collector):
    x = leaf(2.0)
    y = x * 3
    x.grad = mg.tensor([1.0])
    del x
    variable = y.grad_fn.next_functions[0][0].variable
    assert variable is y.grad_fn.next_functions[0][0].variable
    assert variable.is_leaf and variable.requires_grad and variable.tolist() == [2.0]
    y.backward()
    assert variable.grad.tolist() == [4.0]


def test_a_function_is_no_cycle(no_collector):
    class Exp(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result, result * 2

        @staticmethod
        def backward(ctx, g, h):
            (result,) = ctx.saved_tensors
            return g * result + h * 2 * result

    x = leaf(0.0)
    a, b = Exp.apply(x)
    (a + b).sum().backward()
    assert x.grad.tolist() == [3.0]
    node = weakref.ref(a.grad_fn)
    del a, b
    assert node() is None


# -- hooks ---------------------------------------------------------------------------------------


def test_a_hook_sees_the_sum_of_all_paths_and_may_replace_it():
    x = leaf(2.0)
    y = x * 1
    seen = []
    handle = y.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    (y * 3 + y * 4).backward(retain_graph=True)
    assert seen == [[7.0]] and x.grad.tolist() == [70.0]
    handle.remove()
    x.grad = None
    (y * 3).backward()
    assert x.grad.tolist() == [3.0]


def test_retain_grad_keeps_what_the_hooks_made_of_it():
    x = leaf(2.0)
    y = x * 1
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert y.grad.tolist() == [10.0] and y.retains_grad and not x.retains_grad


def test_reading_grad_of_a_result_warns():
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert (leaf(1.0) * 2).grad is None


def test_backward_inside_a_hook_does_not_disturb_the_one_around_it():
    x = leaf(3.0)
    y = x * x
    a, b = y * 2, y * 5
    inner = []
    b.register_hook(lambda g: inner.append(mg.autograd.grad(a, x, retain_graph=True)[0].tolist()))
    (a + b).backward()  # while the hook runs, a's gradient waits on the node that the inner walk needs
    assert inner == [[12.0]] and x.grad.tolist() == [42.0]


def test_options_outlive_the_freed_values():
    y = leaf(2.0) ** 3
    y.backward()
    assert y.grad_fn._saved_exponent == 3
    with pytest.raises(RuntimeError, match="second time"):
        _ = y.grad_fn._saved_self


def test_integers_are_never_recorded():
    t = leaf(2.7)
    assert t.long().grad_fn is None and not t.long().requires_grad and t.long().tolist() == [2]
    assert not (t > 1).requires_grad and not t.argmax().requires_grad
    assert t.double().requires_grad


def test_the_order_of_a_leafs_hooks():
    x = leaf(2.0)
    y = x * 3
    end = y.grad_fn.next_functions[0][0]
    order = []
    x.register_post_accumulate_grad_hook(lambda t: order.append(("post-accumulate", t.grad.tolist())))
    end.register_hook(lambda inputs, outputs: order.append(("node", inputs, outputs[0].tolist())))
    end.register_prehook(lambda outputs: order.append(("before node", outputs[0].tolist())))
    x.register_hook(lambda g: order.append(("tensor", g.tolist())))
    y.backward()
    assert order == [
        ("tensor", [3.0]),
        ("before node", [3.0]),
        ("post-accumulate", [3.0]),
        ("node", (), [3.0]),
    ]


def test_hooks_around_a_nodes_derivatives():
    x, w = leaf(2.0), leaf(5.0)
    y = x * w
    seen = []
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([g and g.tolist() for g in (*inputs, *outputs)]))
    handle = y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + 1, inputs[1]))
    y.backward(retain_graph=True)
    assert seen == [[[50.0], [20.0], [10.0]]]
    assert x.grad.tolist() == [51.0] and w.grad.tolist() == [20.0]
    handle.remove()
    (grad,) = mg.autograd.grad(y, x, create_graph=True)
    assert grad.tolist() == [50.0] and grad.requires_grad
    assert seen[-1] == [[50.0], None, [10.0]]  # nobody asked for w's


def test_grad_runs_no_hooks_of_the_nodes_it_stops_at():
    x = leaf(2.0)
    y = x * 3
    ran = []
    y.grad_fn.register_prehook(lambda outputs: ran.append("before"))
    y.register_hook(lambda g: ran.append("tensor"))
    mg.autograd.grad(y * 2, y)
    assert ran == ["tensor"]


# -- after something went wrong ------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_in_a_hook_leaves_no_half_gathered_gradient(error):
    x = leaf(2.0)
    y = x * 3

    def hook(grad):
        raise error

    handle = y.register_hook(hook)
    with pytest.raises(error):
        (y * y).backward(retain_graph=True)
    assert x.grad is None and running.tasks == []
    handle.remove()
    (y * y).backward()
    assert x.grad.tolist() == [36.0]


def test_an_exception_in_a_backward_restores_the_mode():
    class Fails(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("mine")

    x = leaf(1.0)
    for create_graph in (False, True):
        with pytest.raises(ValueError, match="mine"):
            mg.autograd.grad(Fails.apply(x), x, create_graph=create_graph)
        assert mg.is_grad_enabled() and running.tasks == []


def test_a_hook_may_wait_for_a_thread_that_calls_backward():
    x, other = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)
    finished = []

    def wait_for_another(grad):
        thread = threading.Thread(target=lambda: (other * other).backward(), daemon=True)
        thread.start()
        thread.join(10)
        finished.append(not thread.is_alive())

    y = x * x
    y.register_hook(wait_for_another)
    y.backward()
    assert finished == [True] and (x.grad.item(), other.grad.item()) == (4.0, 6.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_fork_while_another_thread_walks():
    """The child goes on with the thread that forked, and may call backward."""
    program = """
        import os, sys, threading, warnings
        import minigrad as mg
        from minigrad.autograd import gradients

        warnings.simplefilter("ignore")  # of threads and forks
        inside, done = threading.Event(), threading.Event()
        x = mg.tensor(2.0, requires_grad=True)
        y = x * x
        y.register_hook(lambda grad: (inside.set(), done.wait(20)) and None)
        walk = threading.Thread(target=y.backward)
        walk.start()
        inside.wait()
        with gradients._grad_lock:  # as if another thread were adding to a .grad
            child = os.fork()
        if not child:
            z = mg.tensor(3.0, requires_grad=True)
            (z * z).backward()
            os._exit(int(z.grad.item()))
        done.set()
        walk.join()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), x.grad.item())
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert found.stdout.split() == ["6", "4.0"], found.stderr


def in_threads(count, work):
    """Run the same work in several threads that take turns as often as they can; what they raised."""
    raised = []

    def guarded():
        try:
            work()
        except Exception as error:
            raised.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=guarded) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return raised


def test_threads_that_share_a_graph_each_unpack_what_it_saved():
    unpacked = []
    x = leaf(2.0, 3.0)
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(1) or t):
        loss = (x * x).sum()
    assert in_threads(4, lambda: [loss.backward(retain_graph=True) for _ in range(15)]) == []
    assert len(unpacked) == 4 * 15 * 2 and x.grad.tolist() == [240.0, 360.0]
    loss.backward()
    assert len(unpacked) == 4 * 15 * 2 + 2  # the hooks are still there


@pytest.mark.parametrize("attempt", range(5))
def test_the_first_call_of_an_operation_may_come_from_two_threads(attempt):
    program = """
        import sys, threading
        import minigrad as mg

        sys.setswitchinterval(1e-6)
        x, raised, ready = mg.tensor([2.0], requires_grad=True), [], threading.Barrier(4)

        def first_call():
            ready.wait()
            try:
                (y := mg.reciprocal(x)).sum().backward()
                assert y.grad_fn.name() == "ReciprocalBackward0" and y.item() == 0.5
            except Exception as error:
                raised.append(repr(error))

        threads = [threading.Thread(target=first_call) for _ in range(4)]
        [thread.start() for thread in threads], [thread.join() for thread in threads]
        print(raised)
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert found.stdout.strip() == "[]", found.stdout + found.stderr


def test_a_retained_gradient_is_added_up_by_threads():
    x = mg.zeros(50_000, requires_grad=True)
    h = x * 1.0
    h.retain_grad()
    loss = (h * 3.0).sum()
    assert in_threads(4, lambda: [loss.backward(retain_graph=True) for _ in range(10)]) == []
    assert set(h.grad.tolist()) == {120.0}


def test_a_hook_may_register_one_on_another_output():
    a, b = leaf(1.0, 2.0).unbind(0)
    seen = []
    a.register_hook(lambda grad: b.register_hook(lambda grad: seen.append(grad.item())) and None)
    (a * b).backward(retain_graph=True)
    (a * b).backward()
    assert seen[-1] == 1.0


def test_a_second_backward_in_inference_mode_adds_to_the_gradient():
    x = leaf(1.0, 2.0)
    loss = (2 * x).sum()
    with mg.inference_mode():
        loss.backward(retain_graph=True)
        loss.backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_threads_with_a_leaf_in_common_lose_no_gradient():
    x = mg.zeros(50_000, requires_grad=True)  # long enough for NumPy to let other threads run while it adds
    losses = [(x * float(n)).sum() for n in range(1, 5)]

    def walk(loss):
        for _ in range(20):
            loss.backward(retain_graph=True)

    threads = [threading.Thread(target=walk, args=(loss,)) for loss in losses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(x.grad.tolist()) == {20.0 * (1 + 2 + 3 + 4)}


def test_a_backward_in_a_backward_three_thousand_deep():
    class Deeper(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1.0

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth:
                with mg.enable_grad():
                    x = mg.tensor(1.0, requires_grad=True)
                    Deeper.apply(x, ctx.depth - 1).backward()
                return grad + x.grad, None
            return grad, None

    x = mg.tensor(1.0, requires_grad=True)
    Deeper.apply(x, 3000).backward()
    assert x.grad.item() == 3001.0


def test_threads_may_go_backward_through_one_graph():
    x = mg.ones(100, requires_grad=True)
    trunk = (x * 2).exp()
    losses = [(trunk * i).sum() for i in range(1, 9)]
    threads = [threading.Thread(target=loss.backward, kwargs={"retain_graph": True}) for loss in losses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(2.0) * sum(range(1, 9)), rtol=1e-5)


# -- size ----------------------------------------------------------------------------------------


def test_a_graph_200_000_deep_is_built_walked_and_freed():
    h = x = leaf(1.0)
    for _ in range(200_000):
        h = h * 1.0
    h.backward()
    assert x.grad.tolist() == [1.0]
    del h


def test_memory_of_a_training_loop_is_flat():
    w = mg.ones(10, requires_grad=True)

    def steps(count):
        for _ in range(count):
            ((w * 2).tanh().sum()).backward()
            with mg.no_grad():
                w.sub_(0.01 * w.grad)
            w.grad = None

    steps(50)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    steps(500)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 10_000


# -- versions and shared memory ------------------------------------------------------------------


def test_versions_are_shared_by_views_and_detach_but_not_by_data():
    x = mg.zeros(3)
    view, detached, data = x[:2], x.detach(), x.data
    view.add_(1)
    assert (x._version, detached._version, data._version) == (1, 1, 0)
    data.add_(1)
    assert x._version == 1 and x.tolist() == [2.0, 2.0, 1.0]


def test_data_goes_unnoticed_and_gives_a_wrong_gradient():
    x = leaf(2.0)
    y = x * x
    x.data.mul_(10)
    y.backward()
    assert x.grad.tolist() == [40.0]


@pytest.mark.parametrize(
    ("make", "change", "fine"),
    [
        (lambda u: u.exp(), "output", False),
        (lambda u: u.exp(), "input", True),
        (lambda u: u**2, "input", False),
        (lambda u: u**2, "output", True),
        (lambda u: 10 * u, "input", True),
        (lambda u: 10 * u, "output", True),
        (lambda u: u.relu(), "output", False),
        (lambda u: u.sigmoid(), "input", True),
    ],
)
def test_what_may_be_overwritten_depends_on_what_is_saved(make, change, fine):
    x = leaf(1.0, 2.0)
    u = x * 1
    y = make(u)
    z = y * 1
    (u if change == "input" else y).add_(1)
    if fine:
        z.sum().backward()
        assert x.grad is not None
    else:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()


def test_in_place_operations_are_recorded():
    x = leaf(2.0, 3.0)
    y = x * 1
    before = y
    y *= 4
    y.add_(x)
    assert y is before and type(y.grad_fn).__name__ == "AddBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_updating_a_parameter_keeps_it_a_leaf():
    w = leaf(2.0)
    with mg.no_grad():
        w -= 0.5
    assert w.is_leaf and w.requires_grad and w.tolist() == [1.5]


def test_a_leaf_owns_its_gradient():
    """It takes over an array only where nobody else has it: a start, a hook's sight of it and a second leaf do."""
    x, y, seen = leaf(1.0, 2.0), leaf(1.0, 2.0), []
    start = mg.tensor([1.0, 1.0])
    x.register_hook(seen.append)
    (x + y).backward(start)
    x.backward(start)
    for one, other in [(x.grad, start), (x.grad, seen[0]), (x.grad, y.grad), (y.grad, start), (y.grad, seen[0])]:
        assert not np.shares_memory(one.numpy(), other.numpy())
    assert start.tolist() == seen[0].tolist() == [1.0, 1.0] and x.grad.tolist() == [2.0, 2.0]


def test_numbers_keep_their_sign_and_dtype():
    """Python numbers are kept as arrays for the next time: 0.0, -0.0, 1 and True are equal keys, and not the same."""
    x = leaf(2.0)
    signs = [bool(np.signbit((x * zero).item())) for zero in (0.0, -0.0, 0, -0.0)]
    assert signs == [False, True, False, True]
    assert (mg.tensor([2.0], dtype=mg.float64) * 0.1).item() == 2 * 0.1
    assert (x * 0.1).dtype is mg.float32 and (x * 1).tolist() == (x * 1.0).tolist() == x.tolist()


@pytest.mark.parametrize("exponent", [1, 2, 3, 2.0, 4, 0.5])
def test_powers_have_memory_of_their_own(exponent):
    x = leaf(1.5, 3.0)
    y = x**exponent
    assert not np.shares_memory(y.detach().numpy(), x.detach().numpy())
    y.sum().backward()
    assert np.allclose(y.detach().numpy(), np.power([1.5, 3.0], exponent))
    assert np.allclose(x.grad.numpy(), exponent * np.power([1.5, 3.0], exponent - 1))


def test_a_cube_has_pytorchs_digits():
    """PyTorch multiplies in float32 and float64; in float16 it rounds once, as NumPy's power does."""
    values = np.random.default_rng(0).standard_normal(1000)
    for dtype in ("float32", "float64"):
        array = values.astype(dtype)
        assert ((mg.from_numpy(array) ** 3).numpy() == array * array * array).all()
    array = values.astype("float16")
    once = (array.astype("float64") ** 3).astype("float16")
    assert ((mg.from_numpy(array) ** 3).numpy() == once).all()


@pytest.mark.parametrize("block", [mg.no_grad, mg.enable_grad, mg.inference_mode, lambda: mg.set_grad_enabled(False)])
def test_an_interrupt_anywhere_in_a_grad_mode_leaves_the_mode_as_it_was(block):
    """Ctrl-C may come between any two lines, of entering and leaving too (once Python is in their first statement)."""

    def interrupted_at(count):
        lines = itertools.count(1)

        def trace(frame, event, argument):
            if not frame.f_code.co_filename.endswith("grad_mode.py") or frame.f_code.co_name == "__init__":
                return None
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            if event == "line" and line != "try:" and next(lines) == count:
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        try:
            with block():
                pass
            manager = block()
            sys.settrace(trace)
            with manager:
                pass
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    count = 1
    while interrupted_at(count):
        count += 1
        assert (mg.is_grad_enabled(), mg.is_inference_mode_enabled()) == (True, False)
        assert mg.tensor(1.0, requires_grad=True).exp().requires_grad
    assert count > 3
