"""What holds whatever the program: depth, size, threads, interruptions, odd numbers and odd arrays."""

import gc
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import minigrad as mg


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf(*values):
    return mg.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


# -- depth and growth ------------------------------------------------------------------------------


def test_a_million_operations_deep():
    """Built, listed, walked both ways and freed, in a process of its own that gives the memory back."""
    program = """
        import minigrad as mg
        x = mg.tensor([1.0], requires_grad=True)
        y = x
        for _ in range(1_000_000):
            y = -y
        print(len(str(mg.draw(y).text)) > 0)
        (g,) = mg.autograd.grad(y, x, create_graph=True, retain_graph=True)
        y.backward()
        print(x.grad.item(), g.item())
        del y, g
        print("freed")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert (done.stdout.split(), done.returncode) == (["True", "1.0", "1.0", "freed"], 0), done.stderr[-2000:]


@pytest.mark.parametrize("create_graph", [False, True])
def test_each_node_is_visited_once(create_graph):
    """Sixty levels of h = h + h have 2**60 paths and 60 nodes."""
    visits = []
    x = leaf(1.0)
    h = x
    for _ in range(60):
        h = h + h
        h.grad_fn.register_hook(lambda grads, outputs: visits.append(1))
    (g,) = mg.autograd.grad(h, x, create_graph=create_graph)
    assert (g.item(), len(visits)) == (2.0**60, 60)


# -- what is freed, without the garbage collector ----------------------------------------------------


PROGRAMS = {
    "in place": lambda x: (x * 1).mul_(2).add_(1),
    "a changed view": lambda x: changed(x * 1),
    "a view of a changed base": lambda x: seen(x * 1),
    "setitem": lambda x: assigned(x * 1),
    "retain_grad": lambda x: retained(x * 2),
    "a hook": lambda x: hooked(x * 2),
    "saved and packed": lambda x: packed(x),
    "several outputs": lambda x: (x * 1).unbind()[0],
    "max with indices": lambda x: (x * 1).max(0)[0],
    "anomaly mode": lambda x: noted(x),
    "second order": lambda x: mg.autograd.grad((x**3).sum(), x, create_graph=True)[0],
}


def changed(y):
    y[:2].mul_(3)
    return y


def seen(y):
    part = y[1:]
    y.exp_()
    return part


def assigned(y):
    y[0] = y[1]
    return y


def retained(y):
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    return y


def hooked(y):
    y.register_hook(lambda grad: grad)
    return y


def packed(x):
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), mg.tensor):
        return x.exp() * x


@pytest.mark.filterwarnings("ignore:Anomaly")
def noted(x):
    with mg.autograd.set_detect_anomaly(True):
        return (x * x).sum()


@pytest.mark.parametrize("name", PROGRAMS)
def test_dropping_the_last_name_frees_the_graph(no_collector, name):
    x = leaf()
    y = PROGRAMS[name](x)
    nodes = [weakref.ref(node) for node in operations_of(y)]
    assert nodes
    del y
    assert [node()._kind.name for node in nodes if node() is not None] == []


def operations_of(tensor):
    found, stack = [], [tensor._node]
    while stack:
        node = stack.pop()
        if node is not None and node._order < 0:
            found.append(node)
            stack += node._next_nodes
    return found


# -- what is interrupted -----------------------------------------------------------------------------


class Interrupted(mg.autograd.Function):
    """Its backward fails, as often as it is told to."""

    failing = True

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        if Interrupted.failing:
            raise KeyboardInterrupt
        return grad * 2


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.filterwarnings("ignore:Using backward")
def test_an_interrupted_backward_can_be_done_again(create_graph):
    x, w = leaf(), leaf()
    y = (Interrupted.apply(x * w) * w).sum()
    Interrupted.failing = True
    with pytest.raises(KeyboardInterrupt):
        y.backward(retain_graph=True, create_graph=create_graph)
    assert mg.is_grad_enabled() and x.grad is None and w.grad is None
    Interrupted.failing = False
    y.backward(create_graph=create_graph)
    assert x.grad.tolist() == [2.0, 8.0, 18.0] and w.grad.tolist() == [4.0, 16.0, 36.0]


def test_an_interrupted_no_grad_block_is_left():
    with pytest.raises(KeyboardInterrupt), mg.no_grad():
        raise KeyboardInterrupt
    assert mg.is_grad_enabled()


def test_threads_have_modes_and_graphs_of_their_own():
    wrong = []

    def work(seed):
        x = mg.tensor([float(seed)], requires_grad=True)
        for _ in range(50):
            with mg.no_grad():
                quiet = x * 3
            y = x
            for _ in range(20):
                y = y * 1 + x
            (g,) = mg.autograd.grad((y * y).sum(), x, create_graph=True)
            (h,) = mg.autograd.grad(g.sum(), x)
            if quiet.requires_grad or h.item() != 2 * 21**2 or g.item() != 2 * 21**2 * seed:
                wrong.append((seed, g, h))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert wrong == []


# -- odd numbers ---------------------------------------------------------------------------------------


def test_nan_and_inf_travel():
    x = leaf(0.0, -1.0, float("inf"), float("nan"))
    with np.errstate(all="ignore"):
        y = x.log() * 0 + x.sqrt() + 1 / x
        y.sum().backward()
    assert str(y.tolist()) == "[nan, nan, nan, nan]"
    assert str(x.grad.tolist()) == "[nan, nan, 0.0, nan]"


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0, 2), (), (1,), (1, 1)])
def test_empty_and_0d_tensors_are_differentiated(shape):
    x = mg.ones(shape, requires_grad=True)
    y = (x.exp() * x + x.mean() if x.numel() else x.exp() * x).sum()
    (g,) = mg.autograd.grad(y, x, create_graph=True)
    (h,) = mg.autograd.grad(g.sum(), x)
    assert g.shape == h.shape == x.shape
    z = mg.zeros(shape) + x
    z[...] = 2.0
    z.sum().backward()
    assert x.grad.shape == x.shape and not x.grad.numpy().any()


# -- odd arrays ----------------------------------------------------------------------------------------

ARRAYS = {
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "strided": np.arange(12.0).reshape(3, 4)[:, ::2],
    "reversed": np.arange(6.0).reshape(3, 2)[::-1],
    "fortran": np.asfortranarray(np.arange(6.0).reshape(3, 2)),
    "read-only": np.broadcast_to(np.arange(2.0), (3, 2)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_any_layout_are_differentiated(name):
    array = ARRAYS[name]
    x = mg.from_numpy(array).requires_grad_()
    y = x * 2
    y[0].mul_(3)
    y.t()[0].exp_()
    expected = np.array(array * 2)
    expected[0] *= 3
    expected[:, 0] = np.exp(expected[:, 0])
    np.testing.assert_allclose(y.detach().numpy(), expected)
    y.sum().backward()
    slopes = np.full(array.shape, 2.0)
    slopes[0] *= 3
    slopes[:, 0] *= expected[:, 0]
    np.testing.assert_allclose(x.grad.numpy(), slopes)


def test_a_read_only_array_is_not_written_to():
    x = mg.from_numpy(ARRAYS["read-only"])
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1)
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only") as caught:
        mg.from_numpy(fixed).add_(1)
    assert caught.value.__notes__
    assert fixed.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("kind", ["longdouble", "complex128", "U1", "O", "M8[D]", "uint16"])
def test_types_that_are_not_there_are_refused(kind):
    array = np.zeros(2, kind)
    for make in (mg.from_numpy, mg.tensor, mg.as_tensor):
        with pytest.raises(
            TypeError, match=r"can't convert np.ndarray of type numpy\.\w+\. The only supported types are"
        ):
            make(array)


def test_the_other_byte_order_is_copied_or_refused():
    array = np.arange(3, dtype=np.dtype("f8").newbyteorder())
    assert (mg.tensor(array) * 2).tolist() == [0.0, 2.0, 4.0]
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        mg.from_numpy(array)


@pytest.mark.parametrize(
    ("data", "kind", "sentence"),
    [
        ("a", TypeError, "new(): invalid data type 'str'"),
        ([1, "a"], TypeError, "new(): invalid data type 'str'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([1.0, None], RuntimeError, "Could not infer dtype of NoneType"),
        ({}, RuntimeError, "Could not infer dtype of dict"),
        (10**30, ValueError, "Overflow when unpacking long long"),
        ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
    ],
)
def test_what_is_no_number_is_refused(data, kind, sentence):
    with pytest.raises(kind) as caught:
        mg.tensor(data)
    assert str(caught.value) == sentence


class Nested(mg.autograd.Function):
    """A backward that runs another one inside it, as often as its input is above 0."""

    @staticmethod
    def forward(ctx, x):
        with mg.enable_grad():
            ctx.inner = x.detach().requires_grad_() - 1
        return ctx.inner.detach()

    @staticmethod
    def backward(ctx, grad):
        if ctx.inner <= 0:
            if ctx.inner < 0:
                raise ValueError("too deep")
            return grad
        with mg.enable_grad():
            Nested.apply(ctx.inner).sum().backward()
        return grad


def test_a_backward_inside_a_backward_goes_as_deep_as_it_likes():
    x = mg.tensor(1500.0, requires_grad=True)
    threads = threading.active_count()
    Nested.apply(x).backward()
    assert x.grad.item() == 1.0
    assert threading.active_count() == threads


def test_an_error_comes_up_from_any_depth_and_leaves_the_engine_usable():
    x = mg.tensor(300.5, requires_grad=True)
    with pytest.raises(ValueError, match="too deep"):
        Nested.apply(x).backward()
    assert x.grad is None and mg.is_grad_enabled()
    (x * x).backward()
    assert x.grad.item() == 601.0


def test_a_hook_may_run_a_backward_at_any_depth():
    deepest = 0

    def again(x, depth):
        nonlocal deepest
        deepest = max(deepest, depth)
        with mg.enable_grad():
            y = x * 1
        if depth < 400:
            y.register_hook(lambda grad: again(x, depth + 1))
        y.backward()

    x = mg.tensor(1.0, requires_grad=True)
    again(x, 1)
    assert (deepest, x.grad.item()) == (400, 400.0)


def test_deep_backwards_of_two_threads_do_not_mix():
    leaves = [mg.tensor(200.0, requires_grad=True) for _ in range(3)]
    threads = [threading.Thread(target=lambda x=x: Nested.apply(x).backward()) for x in leaves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [x.grad.item() for x in leaves] == [1.0, 1.0, 1.0]
