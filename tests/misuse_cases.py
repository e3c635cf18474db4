"""Misuses that PyTorch refuses, written once for minigrad and PyTorch (`m` is either of them).

`python -m tools.record_torch` writes down what PyTorch says to each; minigrad has to say the same.
"""

import copy
import warnings


def leaf(m, *shape):
    """Ones that require grad, three of them if no shape is given."""
    return m.ones(shape or (3,), requires_grad=True)


def function(m, forward, backward):
    """A Function named MyFn."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("MyFn", (m.autograd.Function,), methods)


def backward_twice(m):
    x = leaf(m)
    y = (x * x).sum()
    y.backward()
    y.backward()


def saved_after_backward(m):
    x = leaf(m)
    y = x * x
    y.sum().backward()
    return y.grad_fn._saved_self


def saved_after_an_overwrite(m):
    x = leaf(m)
    y = x * x
    with m.no_grad():
        x.add_(1)
    return y.grad_fn._saved_self


def saved_result_after_an_overwrite(m):
    y = leaf(m).exp()
    node = y.grad_fn
    y.add_(1)
    return node._saved_result


def ctx_saved_after_backward(m):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]

    y = function(m, forward, backward).apply(leaf(m))
    y.sum().backward()
    return y.grad_fn.saved_tensors


def modified_intermediate(m):
    x = leaf(m)
    y = x + 0
    z = y * y
    y.add_(1)
    z.sum().backward()


def modified_leaf(m):
    x = leaf(m)
    z = (x * x).sum()
    with m.no_grad():
        x *= 2
    z.backward()


def modified_result(m):
    y = leaf(m).exp()
    y.add_(1)
    y.sum().backward()


def modified_twice_in_double(m):
    x = m.ones(2, 2, dtype=m.double, requires_grad=True)
    y = x * 1
    z = y * y
    y.add_(1).mul_(2)
    z.sum().backward()


def modified_through_detach(m):
    x = leaf(m)
    z = (x * x).sum()
    x.detach().zero_()
    z.backward()


def saved_input_modified_in_function(m):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    x = leaf(m) * 1
    y = function(m, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0]).apply(x)
    x.add_(1)
    y.sum().backward()


def flag_of_result(m):
    (leaf(m) * 2).requires_grad_(False)


def set_flag_of_result(m):
    y = leaf(m) * 2
    y.requires_grad = False


def set_flag_of_integers(m):
    m.tensor([1, 2]).requires_grad = True


def item_assignment(m):
    leaf(m)[0] = 1.0


def assign_grad(m, value):
    leaf(m).grad = value


def grad_is_itself(m):
    x = leaf(m)
    x.grad = x


def data_of_integers(m):
    leaf(m).data = m.tensor([1, 2, 3])


def data_of_none(m):
    leaf(m).data = None


def no_grad_result(m):
    with m.no_grad():
        y = leaf(m) * 2
    y.sum().backward()


def second_of_linear(m):
    x = leaf(m, 1)
    (g,) = m.autograd.grad(x * 5, x, create_graph=True)
    m.autograd.grad(g, x)


def materialize_and_refuse_unused(m):
    x = leaf(m)
    m.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)


def both_names(m):
    one = m.tensor(1.0)
    m.autograd.backward(leaf(m).sum(), one, grad_variables=one)


def hook_that(m, answer):
    def shrink(grad):
        return answer(m, grad)

    y = leaf(m) * 2
    y.register_hook(shrink)
    y.sum().backward()


def post_hook_returns(m):
    x = leaf(m)
    x.register_post_accumulate_grad_hook(lambda t: t.grad)
    x.sum().backward()


def once_twice(m):
    if m.__name__ == "torch":
        from torch.autograd.function import once_differentiable
    else:
        from minigrad.autograd.function import once_differentiable

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    backward = once_differentiable(lambda ctx, g: 2 * g * ctx.saved_tensors[0])
    x = leaf(m)
    y = function(m, forward, backward).apply(x)
    (g,) = m.autograd.grad((y**2).sum(), x, create_graph=True)
    g.sum().backward()


def saves_a_number(m):
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 2

    function(m, forward, lambda ctx, g: g).apply(leaf(m))


def doubled(m, backward, *shape):
    return function(m, lambda ctx, x: x * 2, backward).apply(leaf(m, *shape)).sum().backward()


def too_few(m):
    f = function(m, lambda ctx, x, y: x * y, lambda ctx, g: g)
    f.apply(leaf(m), leaf(m)).sum().backward()


def no_forward(m):
    type("MyFn", (m.autograd.Function,), {}).apply(leaf(m))


def no_backward(m):
    f = type("MyFn", (m.autograd.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    f.apply(leaf(m)).sum().backward()


def marked(m, mark, work):
    """A Function whose forward does `work`, which says what to return and what to mark."""

    def forward(ctx, x):
        returned, named = work(x)
        getattr(ctx, mark)(*named)
        return returned

    return function(m, forward, lambda ctx, *g: g[0])


def dirty_leaf(m):
    marked(m, "mark_dirty", lambda x: (x, (x,))).apply(leaf(m))


def dirty_and_not_returned(m):
    marked(m, "mark_dirty", lambda x: (x * 1, (x,))).apply(leaf(m) * 1)


def dirty_number(m):
    marked(m, "mark_dirty", lambda x: (x * 1, (5,))).apply(leaf(m) * 1)


def dirty_view_and_another(m):
    marked(m, "mark_dirty", lambda x: ((x, x * 1), (x,))).apply((leaf(m) * 1).view(3))


def constant_number(m):
    marked(m, "mark_non_differentiable", lambda x: (x * 1, (5,))).apply(leaf(m))


def gradient_of_a_number(m):
    f = function(m, lambda ctx, x, n: x * n, lambda ctx, g: (g, g))
    f.apply(leaf(m), 3).sum().backward()


def called(m):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(m, lambda ctx, x: x, lambda ctx, g: g)()(leaf(m))


def delete(m, name):
    delattr(leaf(m), name)


def wrong_slope(m):
    x = m.ones(2, dtype=m.double, requires_grad=True)
    m.autograd.gradcheck(function(m, lambda ctx, x: x * 2, lambda ctx, g: g * 3).apply, (x,))


def not_multiplied(m):
    def f(x):
        y = x * 1
        y.register_hook(lambda g: g + 1e-2)
        return y

    m.autograd.gradcheck(f, (m.ones(1, dtype=m.double, requires_grad=True),), atol=1e-1)


def constant_output(m):
    x = m.ones(1, dtype=m.double, requires_grad=True)
    m.autograd.gradcheck(lambda x: m.tensor([x.item()], dtype=m.double), (x,))


CASES = {
    "backward on a vector": lambda m: (leaf(m) * 2).backward(),
    "backward without history": lambda m: m.ones(1).backward(),
    "second root without history": lambda m: m.autograd.backward(
        [leaf(m).sum(), m.ones(3)], [m.tensor(1.0), m.ones(3)]
    ),
    "gradient of another shape": lambda m: (leaf(m) * 2).backward(m.ones(2)),
    "0-d gradient of one element": lambda m: (leaf(m, 1) * 2).backward(m.tensor(1.0)),
    "too few gradients": lambda m: m.autograd.backward([leaf(m).sum(), leaf(m).sum()], [m.tensor(1.0)]),
    "gradient is a float": lambda m: (leaf(m, 1) * 2).backward(1.0),
    "backward of no inputs": lambda m: leaf(m).sum().backward(inputs=[]),
    "grad of no inputs": lambda m: m.autograd.grad(leaf(m).sum(), []),
    "grad without history": lambda m: m.autograd.grad(m.ones(1), leaf(m)),
    "grad of a constant": lambda m: m.autograd.grad((leaf(m) * 2).sum(), m.ones(3)),
    "grad of an unused input": lambda m: m.autograd.grad((leaf(m) * 2).sum(), leaf(m)),
    "materialize without allow": materialize_and_refuse_unused,
    "grad_tensors under both names": both_names,
    "second derivative of a line": second_of_linear,
    "backward twice": backward_twice,
    "_saved_self after backward": saved_after_backward,
    "_saved_self after an overwrite": saved_after_an_overwrite,
    "_saved_result after an overwrite": saved_result_after_an_overwrite,
    "saved_tensors after backward": ctx_saved_after_backward,
    "in place on a leaf": lambda m: leaf(m).add_(1),
    "in place on a leaf, operator": lambda m: leaf(m).__iadd__(1),
    "in place on a view of a leaf": lambda m: leaf(m)[:1].mul_(2),
    "item assignment on a leaf": item_assignment,
    "saved intermediate modified": modified_intermediate,
    "saved leaf modified": modified_leaf,
    "saved result modified": modified_result,
    "saved double modified twice": modified_twice_in_double,
    "saved leaf modified through detach": modified_through_detach,
    "saved by a Function, modified": saved_input_modified_in_function,
    "integer factory": lambda m: m.tensor([1, 2], requires_grad=True),
    "integer arange": lambda m: m.arange(3, requires_grad=True),
    "integer requires_grad_": lambda m: m.tensor([1, 2]).requires_grad_(),
    "integer attribute": set_flag_of_integers,
    "requires_grad_(False) on a result": flag_of_result,
    "requires_grad = False on a result": set_flag_of_result,
    "numpy of a leaf": lambda m: leaf(m).numpy(),
    "retain_grad of a constant": lambda m: m.ones(3).retain_grad(),
    "item of several": lambda m: leaf(m).item(),
    "bool of several": lambda m: bool(leaf(m)),
    "deepcopy of a result": lambda m: copy.deepcopy(leaf(m) * 2),
    "grad is a number": lambda m: assign_grad(m, 0),
    "grad of another shape": lambda m: assign_grad(m, m.ones(2)),
    "grad of another dtype": lambda m: assign_grad(m, m.ones(3, dtype=m.long)),
    "grad is itself": grad_is_itself,
    "data of integers": data_of_integers,
    "data of None": data_of_none,
    "hook on a constant": lambda m: m.ones(3).register_hook(lambda g: g),
    "hook changes the shape": lambda m: hook_that(m, lambda m, g: g[:1]),
    "hook changes the dtype": lambda m: hook_that(m, lambda m, g: g.double()),
    "hook returns a number": lambda m: hook_that(m, lambda m, g: 1),
    "post-accumulate hook of a result": lambda m: (leaf(m) * 2).register_post_accumulate_grad_hook(print),
    "post-accumulate hook returns": post_hook_returns,
    "Function: gradient of another shape": lambda m: doubled(m, lambda ctx, g: m.ones(10), 5, 5),
    "Function: too few gradients": too_few,
    "Function: too many gradients": lambda m: doubled(m, lambda ctx, g: (g, g)),
    "Function: gradient is a float": lambda m: doubled(m, lambda ctx, g: 3.0),
    "Function: no forward": no_forward,
    "Function: no backward": no_backward,
    "Function: saves a number": saves_a_number,
    "Function: once, twice": once_twice,
    "Function: dirty leaf": dirty_leaf,
    "Function: dirty, not returned": dirty_and_not_returned,
    "Function: dirty number": dirty_number,
    "Function: dirty view": dirty_view_and_another,
    "Function: number without derivative": constant_number,
    "Function: gradient of a number": gradient_of_a_number,
    "Function: called": called,
    "Function: the base class": lambda m: m.autograd.Function.apply(leaf(m)),
    "float of several": lambda m: float(leaf(m)),
    "int of several": lambda m: int(leaf(m)),
    "index of several": lambda m: m.ones(3, dtype=m.long).__index__(),
    "bool of none": lambda m: bool(m.ones(0)),
    "size of no dimension": lambda m: leaf(m).size(1),
    "del data": lambda m: delete(m, "data"),
    "del requires_grad": lambda m: delete(m, "requires_grad"),
    "set_grad_enabled of a number": lambda m: m.set_grad_enabled(1),
    "set_warn_always of a number": lambda m: m.set_warn_always(1),
    "gradcheck without requires_grad": lambda m: m.autograd.gradcheck(lambda x: x, (m.rand(3, dtype=m.double),)),
    "gradcheck finds a wrong slope": wrong_slope,
    "gradcheck finds a constant added": not_multiplied,
    "gradcheck of a cut graph": constant_output,
    "backward of a no_grad result": no_grad_result,
    "shapes that do not broadcast": lambda m: leaf(m) + leaf(m, 2),
    "matrices that do not fit": lambda m: leaf(m, 2, 3) @ leaf(m, 2, 3),
    "cat of nothing": lambda m: m.cat([]),
    "stack of nothing": lambda m: m.stack([]),
    "index out of range": lambda m: leaf(m)[3],
    "dimension out of range": lambda m: leaf(m).sum(2),
    "negative dimension out of range": lambda m: leaf(m, 2, 3).mean(-3),
    "condition of numbers": lambda m: m.where(leaf(m), leaf(m), leaf(m)),
    "mask of numbers": lambda m: leaf(m).masked_fill(m.tensor([1, 0, 1]), 2.0),
    "several values to fill": lambda m: leaf(m).masked_fill(leaf(m) > 0, leaf(m)),
    "integers divided by zero": lambda m: m.tensor([1, 2]) // 0,
    "the rest of a division by zero": lambda m: m.tensor([1, 2]) % 0,
    "derivative of floor_divide": lambda m: (leaf(m) // 2).sum().backward(),
    "bools subtracted": lambda m: (leaf(m) > 0) - (leaf(m) > 0),
    "bools negated": lambda m: -(leaf(m) > 0),
    "floats inverted": lambda m: ~leaf(m),
    "floats and floats": lambda m: leaf(m) & leaf(m),
    "norm of integers": lambda m: m.tensor([1, 2]).norm(),
    "softmax of integers": lambda m: m.tensor([[1, 2]]).softmax(1),
    "log_softmax of integers": lambda m: m.tensor([[1, 2]]).log_softmax(0),
    "outer of a matrix": lambda m: m.outer(leaf(m, 2, 3), leaf(m)),
    "addmm of shapes that do not fit": lambda m: m.addmm(leaf(m), leaf(m, 2, 3), leaf(m, 2, 3)),
    "einsum of unequal lengths": lambda m: m.einsum("ij,jk", leaf(m, 2, 3), leaf(m, 2, 3)),
    "einsum of too few": lambda m: m.einsum("ij,jk", leaf(m, 2, 3)),
    "einsum of too many dimensions": lambda m: m.einsum("i,jk", leaf(m, 2, 3), leaf(m, 2, 3)),
    "view of too many": lambda m: leaf(m, 2, 3).view(4),
    "view with two unknown": lambda m: leaf(m, 2, 3).view(-1, -1),
    "view with a strange length": lambda m: leaf(m, 2, 3).view(4, -2),
    "view that cannot be": lambda m: leaf(m, 2, 3).t().view(6),
    "view of an expanded tensor": lambda m: leaf(m, 3).expand(2, 3).view(-1),
    "view of a part": lambda m: leaf(m, 2, 3)[:, :2].view(4),
    "reshape of too many": lambda m: leaf(m, 2, 3).reshape(-1, 5),
    "reshape of nothing": lambda m: m.zeros(0).reshape(-1, 0),
    "transpose of a batch": lambda m: leaf(m, 2, 2, 2).t(),
    "permute too few": lambda m: leaf(m, 2, 3).permute(0),
    "permute twice the same": lambda m: leaf(m, 2, 3).permute(0, 0),
    "squeeze of no dimension": lambda m: leaf(m, 2, 3).squeeze(3),
    "flatten backwards": lambda m: leaf(m, 2, 3).flatten(1, 0),
    "diag of a batch": lambda m: m.diag(leaf(m, 2, 2, 2)),
    "trace of a vector": lambda m: leaf(m).trace(),
    "cat of different dimensions": lambda m: m.cat([leaf(m, 2, 3), leaf(m)]),
    "cat of different lengths": lambda m: m.cat([leaf(m, 2, 3), leaf(m, 3, 2)]),
    "cat of numbers": lambda m: m.cat([leaf(m).sum(), leaf(m).sum()]),
    "cat along no dimension": lambda m: m.cat([leaf(m, 2, 3), leaf(m, 2, 3)], 2),
    "stack of different shapes": lambda m: m.stack([leaf(m, 2, 3), leaf(m)]),
    "stack along no dimension": lambda m: m.stack([leaf(m), leaf(m)], 3),
    "split of no length": lambda m: leaf(m, 2, 3).split(0),
    "split of less than none": lambda m: leaf(m, 2, 3).split(-1),
    "split that leaves some": lambda m: leaf(m, 2, 3).split([1, 1], 1),
    "chunk into none": lambda m: leaf(m, 2, 3).chunk(0),
    "unbind of a number": lambda m: leaf(m).sum().unbind(),
    "gather out of range": lambda m: leaf(m, 2, 3).gather(1, m.tensor([[0, 5], [1, 1]])),
    "gather from the end": lambda m: leaf(m, 2, 3).gather(1, m.tensor([[0, -1]])),
    "gather of another dimension": lambda m: leaf(m, 2, 3).gather(1, m.tensor([0, 1])),
    "gather of more than there is": lambda m: leaf(m, 2, 3).gather(0, m.tensor([[0, 1, 1, 1]])),
    "gather at floats": lambda m: leaf(m, 2, 3).gather(1, m.tensor([[0.0, 1.0]])),
    "gather along no dimension": lambda m: leaf(m, 2, 3).gather(3, m.tensor([[0, 1]])),
    "index_select out of range": lambda m: leaf(m, 2, 3).index_select(0, m.tensor([5])),
    "index_select by a matrix": lambda m: leaf(m, 2, 3).index_select(0, m.tensor([[0]])),
    "index_select at floats": lambda m: leaf(m, 2, 3).index_select(0, m.tensor([0.0])),
    "scatter_add out of range": lambda m: leaf(m, 2, 3).scatter_add(1, m.tensor([[0, 5]]), leaf(m, 2, 3)),
    "loss of a strange reduction": lambda m: m.nn.functional.mse_loss(leaf(m), leaf(m), reduction="max"),
    "class out of range": lambda m: m.nn.functional.cross_entropy(leaf(m, 1, 3), m.tensor([3])),
    "kernel larger than the image": lambda m: m.nn.functional.conv2d(leaf(m, 1, 1, 1, 1), leaf(m, 1, 1, 2, 2)),
    "out with a leaf": lambda m: m.mul(leaf(m), leaf(m), out=m.zeros(3)),
    "out that is a leaf": lambda m: m.add(m.ones(3), 1, out=leaf(m)),
    "less than no elements": lambda m: m.ones(-1),
    "size of a float": lambda m: m.ones(2.5),
    "arange the wrong way": lambda m: m.arange(5, 0),
    "arange without a step": lambda m: m.arange(1, 2, 0),
    "random integers": lambda m: m.rand(3, dtype=m.int64),
    "random integers, normal": lambda m: m.randn_like(m.tensor([1])),
    "ragged lists": lambda m: m.tensor([[1, 2], [3]]),
    "narrow beyond the end": lambda m: leaf(m, 2, 3).narrow(0, 1, 5),
    "narrow from beyond the end": lambda m: leaf(m, 2, 3).narrow(0, 3, 1),
    "narrow to less than nothing": lambda m: leaf(m, 2, 3).narrow(0, 0, -1),
    "select beyond the end": lambda m: leaf(m, 2, 3).select(0, 5),
    "select of no dimension": lambda m: leaf(m, 2, 3).select(3, 0),
    "select of a number": lambda m: leaf(m).sum().select(0, 0),
    "mean of integers": lambda m: m.tensor([1, 2]).mean(),
}


def said(m, case) -> dict:
    """The type and text of the refusal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case(m)
    except Exception as error:
        return {"type": type(error).__name__, "text": str(error)}
    return {"type": "nothing", "text": ""}
