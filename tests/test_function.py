"""Functions of one's own, and the small print of making tensors."""

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function, gradcheck, gradgradcheck
from minigrad.autograd.function import once_differentiable
from minigrad.viz.live import saved_values


def leaf(*values, dtype=mg.float64):
    return mg.tensor(list(values), dtype=dtype, requires_grad=True)


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.mode_in_forward = mg.is_grad_enabled()
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        ctx.mode_in_backward = mg.is_grad_enabled()
        return 2 * x * grad_output


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


class Sinh(Function):
    """Gives its intermediates back as outputs, so that the second derivative knows of them."""

    @staticmethod
    def forward(ctx, x):
        up, down = x.exp(), (-x).exp()
        ctx.save_for_backward(up, down)
        return (up - down) / 2, up, down

    @staticmethod
    def backward(ctx, grad, grad_up, grad_down):
        up, down = ctx.saved_tensors
        return grad * (up + down) / 2 + grad_up * up - grad_down * down


class SinhCut(Function):
    """Keeps its intermediates on ctx, without history: the first derivative is right, the second is lost."""

    @staticmethod
    def forward(ctx, x):
        ctx.up, ctx.down = x.exp(), (-x).exp()
        return (ctx.up - ctx.down) / 2

    @staticmethod
    def backward(ctx, grad):
        return grad * (ctx.up + ctx.down) / 2


@pytest.mark.parametrize("function", [Square.apply, Exp.apply, lambda x: Sinh.apply(x)[0]])
def test_first_and_second_derivatives(function):
    x = leaf(0.3, -1.2)
    assert gradcheck(function, (x,)) and gradgradcheck(function, (x,))


class AddOne(Function):
    """Changes its input in place, and says so."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad * 5


def test_what_is_marked_dirty_comes_back_with_a_new_history():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = AddOne.apply(y)
    assert z is y and y.grad_fn.name() == "AddOneBackward" and y.tolist() == [2.0, 3.0]
    assert y._version == 2  # one for add_, one for the mark
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_what_is_marked_dirty_and_needs_no_gradient_is_only_changed():
    x = mg.ones(2)
    assert AddOne.apply(x) is x and x.tolist() == [2.0, 2.0] and not x.requires_grad


def test_a_mark_on_what_is_no_input_warns():
    class Fresh(Function):
        @staticmethod
        def forward(ctx, x):
            result = x * 1
            ctx.mark_dirty(result)
            return result

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.warns(UserWarning, match="Only input Tensors should be given to ctx.mark_dirty"):
        Fresh.apply(leaf(1.0))


def test_an_input_returned_as_it_came_is_a_view_of_it():
    x = leaf(1.0, 2.0)
    y = function_of(lambda ctx, x: x, lambda ctx, grad: grad * 3).apply(x)
    assert y is not x and y._base is x and y.grad_fn.name() == "MyFnBackward"
    constant = function_of(lambda ctx, x: (ctx.mark_non_differentiable(x), x)[1], lambda ctx, grad: grad).apply(x)
    assert constant is not x and not constant.requires_grad


def test_a_view_made_in_an_unrecorded_forward_is_as_one_made_outside():
    x = leaf(1.0, 2.0)
    with mg.no_grad():
        inside, outside = function_of(lambda ctx, x: x[:], lambda ctx, grad: grad).apply(x), x[:]
    assert inside.requires_grad == outside.requires_grad and inside._base is x


def function_of(forward, backward):
    return type("MyFn", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def test_backward_gets_one_gradient_per_output_none_for_what_is_no_tensor():
    seen = []

    def backward(ctx, *grads):
        seen.extend(grads)
        return grads[1]

    x = leaf(1.0, 2.0)
    number, y, nothing, whole = function_of(lambda ctx, x: (7, x * 2, None, x.long()), backward).apply(x)
    assert (number, nothing) == (7, None) and not whole.requires_grad and y.output_nr == 1
    y.sum().backward()
    assert seen[0] is None and seen[2] is None and seen[3].dtype is mg.int64 and x.grad.tolist() == [1.0, 1.0]


def test_arguments_of_forward_may_have_names_and_defaults():
    class Power(Function):
        @staticmethod
        def forward(x, y=3):
            return x**y

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.y = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.y * ctx.saved_tensors[0] ** (ctx.y - 1), None

    x = leaf(2.0)
    assert Power.apply(x).tolist() == [8.0] and Power.apply(x, y=2).tolist() == [4.0]
    Power.apply(x=x).backward()
    assert x.grad.tolist() == [12.0]
    named = function_of(lambda ctx, a, b: a * b, lambda ctx, grad: (grad, None)).apply(b=2, a=x)
    assert named.grad_fn.needs_input_grad == (True, False)


def test_a_function_is_not_made_but_applied():
    with pytest.warns(DeprecationWarning, match="should not be instantiated. Methods on autograd functions are all"):
        made = Square()
    assert made.apply(leaf(3.0)).tolist() == [9.0]


def test_names_of_old_and_of_forward_mode():
    x = leaf(1.0)
    node = Square.apply(x).grad_fn
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
        assert node.saved_variables == node.saved_tensors
    forward = function_of(lambda ctx, x: (ctx.save_for_forward(x), x * 2)[1], lambda ctx, grad: grad)
    assert forward.apply(x).tolist() == [2.0]
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        Square.jvp(None, x)


def test_a_lost_history_is_found_by_gradgradcheck_only():
    x = leaf(0.3, -1.2)
    assert gradcheck(SinhCut.apply, (x,))
    with pytest.raises(mg.autograd.GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradgradcheck(SinhCut.apply, (x,))
    (slope,) = mg.autograd.grad(SinhCut.apply(x).sum(), x, create_graph=True)
    assert slope.grad_fn is None


def test_the_node_is_the_ctx_and_is_named_after_the_function():
    y = Square.apply(leaf(3.0))
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "SquareBackward"
    assert y.grad_fn.saved_tensors[0].tolist() == [3.0]
    assert y.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert [s.name for s in saved_values(y._node)] == ["saved_tensors[0]"]
    assert y.grad_fn.apply(mg.ones(1, dtype=mg.float64)).tolist() == [6.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_forward_is_not_recorded_and_backward_only_under_create_graph(create_graph):
    x = leaf(3.0)
    y = Square.apply(x)
    mg.autograd.grad(y, x, create_graph=create_graph, retain_graph=True)
    assert y.grad_fn.mode_in_forward is False
    assert y.grad_fn.mode_in_backward is create_graph


def test_arguments_without_gradient():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor, c):
            ctx.factor = factor
            ctx.needed = ctx.needs_input_grad
            return x * factor + c

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None, g

    x, c = leaf(2.0), mg.tensor([1.0], dtype=mg.float64)
    y = Scale.apply(x, 5, c)
    y.backward()
    assert y.grad_fn.needed == (True, False, False)
    assert x.grad.tolist() == [5.0] and c.grad is None
    assert y.grad_fn.next_functions[1] == (None, 0)


def test_outputs_that_nothing_came_from_get_zeros_or_none():
    seen = []

    class Two(Function):
        materialize = True

        @classmethod
        def forward(cls, ctx, x):
            ctx.set_materialize_grads(cls.materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            seen.append(None if b is None else b.tolist())
            return a * 2

    x = leaf(1.0)
    Two.apply(x)[0].backward()
    Two.materialize = False
    first, second = Two.apply(x)
    assert (first.output_nr, second.output_nr) == (0, 1) and first.grad_fn is second.grad_fn
    first.backward()
    assert seen == [[0.0], None]


def test_marked_outputs_and_integers_have_no_gradient():
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            order = mg.tensor(np.argsort(x.numpy()))
            parts = x * 1
            ctx.mark_non_differentiable(parts)
            return x * 2, order, parts

        @staticmethod
        def backward(ctx, g, *rest):
            return g * 2

    x = leaf(3.0, 1.0)
    doubled, order, parts = Sorted.apply(x)
    assert doubled.requires_grad and not order.requires_grad and not parts.requires_grad


def test_setup_context_and_vjp_are_the_other_way_to_write_it():
    class Cube(Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def vjp(ctx, g):
            return 3 * ctx.saved_tensors[0] ** 2 * g

    assert gradcheck(Cube.apply, (leaf(2.0),)) and gradgradcheck(Cube.apply, (leaf(2.0),))


def test_numpy_is_fine_in_a_backward_that_is_differentiated_once():
    class NumpySquare(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return mg.from_numpy(np.square(x.numpy()))

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return mg.from_numpy(2 * ctx.saved_tensors[0].detach().numpy() * g.numpy())

    assert gradcheck(NumpySquare.apply, (leaf(2.0),))


def test_an_input_given_back_unchanged_is_a_new_tensor_with_a_node():
    class Identity(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 10

    x = leaf(2.0)
    y = Identity.apply(x)
    assert y is not x and y.grad_fn.name() == "IdentityBackward"
    y.backward()
    assert x.grad.tolist() == [10.0]


# -- making tensors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1.5, mg.float32),
        (2, mg.int64),
        (True, mg.bool),
        ([[1, 2.5], [3, 4]], mg.float32),
        (np.float32(1), mg.float32),
        (np.ones(2), mg.float64),
        (np.ones(2, ">f8"), mg.float64),
        (np.ones((2, 3))[:, ::2], mg.float64),
        ([], mg.float32),
    ],
)
def test_data_decides_the_dtype(data, dtype):
    tensor = mg.tensor(data)
    assert tensor.dtype is dtype and tensor.tolist() == np.asarray(data).tolist()


@pytest.mark.parametrize(
    ("data", "kind", "said"),
    [
        ("text", TypeError, "'str'"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray of type numpy.str"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([object()], RuntimeError, "Could not infer dtype of object"),
        (1j, RuntimeError, "Could not infer dtype of complex"),
    ],
)
def test_what_is_no_number_is_refused_in_a_sentence(data, kind, said):
    with pytest.raises(kind, match=said):
        mg.tensor(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([[1.0], [1.0, 2.0]], r"expected sequence of length 1 at dim 1 \(got 2\)"),
        ([[[1], [2]], [[1, 2], [3]]], r"expected sequence of length 1 at dim 2 \(got 2\)"),
        ([[1.0], 2.0], "expected sequences of equal length at every dimension"),
    ],
)
def test_ragged_lists_are_refused(data, said):
    with pytest.raises(ValueError, match=said):
        mg.tensor(data)


def test_sizes_and_bounds_may_be_named():
    assert mg.ones(size=(2, 3)).shape == mg.zeros([2, 3]).shape == mg.randn(size=(2, 3)).shape == (2, 3)
    assert mg.arange(start=1, end=3).tolist() == [1, 2] and mg.arange(1.0, 2.0, step=0.5).tolist() == [1.0, 1.5]


def test_a_dtype_may_be_pythons_or_another_tensors():
    x = mg.ones(2)
    assert mg.zeros(1, dtype=float).dtype is x.to(float).dtype is mg.float64
    assert x.to(mg.tensor(1)).dtype is mg.int64 and x.to("cpu") is x and x.to(dtype=mg.float32) is x
    assert x.type() == "torch.FloatTensor" and x.half().dtype is mg.float16 and mg.float is mg.float32
    assert mg.rand_like(x, dtype=mg.float64).dtype is mg.float64
    with pytest.raises(RuntimeError, match="there is no device 'cuda'"):
        x.to("cuda")


def test_memory_is_shared_only_where_it_is_said():
    array = np.ones(2)
    shared, copied = mg.from_numpy(array), mg.tensor(array)
    array[0] = 5.0
    assert shared.tolist() == [5.0, 1.0] and copied.tolist() == [1.0, 1.0]


def test_numbers_take_the_tensors_dtype_and_mixed_tensors_the_larger_kind():
    half, whole = mg.tensor([1.5]), mg.tensor([2])
    assert (half * 2).dtype is mg.float32 and (whole * 2).dtype is mg.int64
    assert (whole * 2.5).dtype is mg.float32 and (whole / 2).dtype is mg.float32
    assert (half * mg.tensor(2.0, dtype=mg.float64)).dtype is mg.float32
    assert (half * mg.tensor([2.0], dtype=mg.float64)).dtype is mg.float64
    assert (whole * half).dtype is mg.float32 and mg.exp(whole).dtype is mg.float32


def test_seeded_random_numbers_repeat():
    mg.manual_seed(1)
    first = mg.randn(3)
    mg.manual_seed(1)
    assert mg.randn(3).tolist() == first.tolist() and mg.rand(2, 3).shape == (2, 3)


def test_an_array_on_the_left_gives_way_to_the_tensor():
    x = leaf(2.0)
    y = np.array([3.0]) * x
    assert isinstance(y, mg.Tensor) and y.grad_fn.name() == "MulBackward0"


def test_infinities_and_nans_travel_silently():
    x = leaf(0.0)
    assert (1 / x).tolist() == [float("inf")] and np.isnan((0 / x).item())
    x.log().backward()
    assert x.grad.tolist() == [float("inf")]


def test_empty_tensors():
    x = mg.zeros(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.shape == (0, 3)
