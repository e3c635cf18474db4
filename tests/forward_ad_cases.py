"""Small programs in forward mode that have to come out as PyTorch's do (`m` is either of the two).

They say values, flags and versions; the names of nodes only where the programs are not about tangents, whose history
PyTorch records by formulas of their own. `python -m tools.record_torch` writes down what PyTorch says.
"""

import importlib

CASES = {}


def case(program):
    """A program of the library, its module forward_ad, what says things, and a dual tensor in a level."""

    def run(m, say):
        fw = importlib.import_module(m.__name__ + ".autograd.forward_ad")

        def tell(*tensors):
            say(*[seen(t) for t in tensors])

        tell.refused = say.refused
        try:
            program(m, fw, tell)
        finally:
            while fw._current_level >= 0:
                fw.exit_dual_level()

    CASES[program.__name__.replace("_", " ")] = run
    return program


def seen(thing):
    """A tensor as values, dtype, version and whether it requires grad and is a view; lists of them; the rest as is."""
    if isinstance(thing, (list, tuple)):
        return [seen(t) for t in thing]
    if not hasattr(thing, "requires_grad"):
        return thing
    values = [float(f"{v:.5g}") for v in thing.reshape(-1).tolist()]
    version = None if thing.is_inference() else thing._version
    return [values, list(thing.shape), str(thing.dtype), version, thing.requires_grad, thing._is_view()]


def pair(m, **options):
    return m.tensor([1.0, 2.0], **options), m.tensor([3.0, 4.0])


def function(m, forward, jvp):
    """A Function named MyFn with a forward and a jvp."""
    methods = {"forward": forward, "jvp": jvp, "backward": lambda ctx, *grads: grads}
    return type("MyFn", (m.autograd.Function,), {n: staticmethod(f) for n, f in methods.items()}).apply


# -- levels, packing and unpacking -----------------------------------------------------------------


@case
def a_dual_tensor_is_an_alias_with_a_tangent(m, fw, say):
    x, v = pair(m)
    with fw.dual_level() as level:
        dual = fw.make_dual(x, v)
        primal, tangent = fw.unpack_dual(dual)
        say(level, dual, primal, tangent, tangent is v, fw.unpack_dual(x).tangent)
        x.add_(1)
        say(dual, primal)
    say(fw.unpack_dual(dual).tangent, fw.unpack_dual(dual).primal is dual)


@case
def an_alias_of_what_requires_grad(m, fw, say):
    x, v = pair(m, requires_grad=True)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        say(dual, dual.grad_fn.name(), *fw.unpack_dual(dual))


@case
def a_pair_has_names(m, fw, say):
    with fw.dual_level():
        say(repr(fw.unpack_dual(fw.make_dual(*pair(m)))), repr(fw.make_dual(*pair(m))))
        say(repr(fw.make_dual(m.tensor(1.0), m.tensor(2.0)) * 3))


@case
def levels_are_entered_once_and_left_once(m, fw, say):
    say(fw._current_level)
    with say.refused():
        fw.exit_dual_level(level=3)
    say(fw.enter_dual_level(), fw._current_level)
    with say.refused():
        fw.enter_dual_level()
    with say.refused():
        fw.exit_dual_level(level=1)
    say(fw._current_level)
    fw.exit_dual_level(level=0)
    say(fw._current_level)


@case
def a_level_that_was_not_entered_is_left(m, fw, say):
    fw.exit_dual_level()


@case
def a_level_decorates_a_function(m, fw, say):
    @fw.dual_level()
    def jvp(f, x, v):
        return fw.unpack_dual(f(fw.make_dual(x, v))).tangent

    say(jvp(lambda x: x * x, *pair(m)), jvp(lambda x: x.sum(), *pair(m)))


@case
def what_make_dual_refuses(m, fw, say):
    x, v = pair(m)
    for level in (None, 0):
        with say.refused():
            fw.make_dual(x, v, level=level)
    with fw.dual_level():
        for arguments in ((x.long(), v), (x, v.long()), (x, v.sum()), (x, v[:1]), (1.0, v), (x, None)):
            with say.refused():
                fw.make_dual(*arguments)
        with say.refused():
            fw.make_dual(x, v, level=1)
        dual = fw.make_dual(x, v)
        with say.refused():
            fw.make_dual(dual, v)
        with say.refused():
            fw.make_dual(x, dual)


@case
def what_unpack_dual_takes(m, fw, say):
    x, _ = pair(m)
    say(fw.unpack_dual(1.0).primal, fw.unpack_dual(x).primal is x, fw.unpack_dual(x, level=0).tangent)
    with fw.dual_level():
        dual = fw.make_dual(*pair(m))
        say(fw.unpack_dual(x).primal is x, *fw.unpack_dual(dual, level=1))
        with say.refused():
            fw.unpack_dual(1.0)


@case
def a_tangent_of_another_dtype_or_layout(m, fw, say):
    x, v = pair(m)
    with fw.dual_level():
        say(fw.unpack_dual(fw.make_dual(x, v.double())).tangent)
        square = m.tensor([[1.0, 2.0], [3.0, 4.0]])
        say(fw.unpack_dual(fw.make_dual(square, square.t())).tangent)


@case
def what_keeps_a_tangent_and_what_does_not(m, fw, say):
    with fw.dual_level():
        dual = fw.make_dual(*pair(m))
        for other in (
            dual.clone(),
            dual.view(2, 1),
            dual[0],
            dual.double(),
            dual.detach(),
            dual.data,
            dual > 1,
            dual.long(),
        ):
            say(fw.unpack_dual(other).tangent)
        copy = dual.clone()
        copy.detach_()
        say(fw.unpack_dual(copy * 2).tangent, fw.unpack_dual(m.zeros_like(dual)).tangent)
        with say.refused():
            dual.detach_()


@case
def modes(m, fw, say):
    x, v = pair(m, requires_grad=True)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        with m.no_grad():
            say(*fw.unpack_dual(dual * dual))
        with m.inference_mode():
            say(*fw.unpack_dual(dual * dual))
        say(*fw.unpack_dual(dual * dual))


# -- tangents of results ---------------------------------------------------------------------------


@case
def a_product_of_several(m, fw, say):
    x, v = pair(m)
    w = m.tensor([[1.0, -1.0], [0.5, 2.0]])
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        for result in (dual * x, dual * dual, x / dual, w @ dual, 2 - dual, dual.exp().sum(), m.cat([dual, x])):
            say(*fw.unpack_dual(result))


@case
def broadcasting_and_dtypes(m, fw, say):
    x, v = pair(m)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        say(*fw.unpack_dual(dual + m.ones(3, 2)))
        say(*fw.unpack_dual(dual * m.ones(2, dtype=m.float64)))


@case
def several_results(m, fw, say):
    x, v = pair(m)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        values, indices = dual.max(0)
        say(fw.unpack_dual(values).tangent.item(), fw.unpack_dual(indices).tangent)
        say([fw.unpack_dual(part).tangent.item() for part in dual.unbind()])
        say(fw.unpack_dual(dual.sort(0, descending=True)[0]).tangent.tolist())


@case
def flat_functions_have_the_tangent_zero(m, fw, say):
    with fw.dual_level():
        dual = fw.make_dual(*pair(m))
        for result in (dual.floor(), dual.sign(), dual.clone().zero_(), dual.round()):
            say(fw.unpack_dual(result).tangent)


@case
def out_is_refused(m, fw, say):
    x, v = pair(m)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        with say.refused():
            m.mul(dual, x, out=m.empty(2))
        with say.refused():
            m.mul(m.ones(2), m.ones(2), out=dual)


# -- in place, and views ---------------------------------------------------------------------------


@case
def in_place_the_given_tangent_is_changed(m, fw, say):
    for change in (lambda t: t.mul_(2), lambda t: t.exp_(), lambda t: t.add_(t), lambda t: t.fill_(5.0)):
        x, v = pair(m)
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            change(dual)
            say(x, v, dual, *fw.unpack_dual(dual), fw.unpack_dual(x).tangent)


@case
def a_part_is_overwritten(m, fw, say):
    x, v = pair(m)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        dual[0] = 7.0
        say(x, v, fw.unpack_dual(dual).tangent)
        view = dual[1:]
        view *= 10
        say(fw.unpack_dual(dual).tangent, fw.unpack_dual(view).tangent.tolist())


@case
def an_ordinary_tensor_gets_a_tangent(m, fw, say):
    x, v = pair(m)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        for change in (lambda t: t.copy_(dual), lambda t: t.mul_(dual), lambda t: t.add_(dual)):
            target = m.ones(2)
            change(target)
            say(target, fw.unpack_dual(target).tangent.tolist())


@case
def a_base_gets_a_tangent_from_its_view_and_other_views_see_it(m, fw, say):
    x, v = pair(m)
    with fw.dual_level():
        dual, base = fw.make_dual(x, v), m.zeros(2, 3)
        column, row, apart = base[:, 1], base[0], base.detach()
        column += dual
        for tensor in (base, column, row, base[1]):
            say(fw.unpack_dual(tensor).tangent.tolist())
        say(fw.unpack_dual(apart).tangent)
        row.mul_(2)
        say(fw.unpack_dual(base).tangent.tolist())


@case
def a_detached_alias_gets_a_tangent_alone(m, fw, say):
    with fw.dual_level():
        base = m.ones(2)
        view = base.detach()
        view += fw.make_dual(*pair(m))
        say(base, fw.unpack_dual(base).tangent, fw.unpack_dual(view).tangent.tolist())


@case
def a_leaf_stays_refused_in_place(m, fw, say):
    x, v = pair(m, requires_grad=True)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        with say.refused():
            dual.mul_(2)
        say(fw.unpack_dual(dual).tangent.tolist())


# -- together with backward ------------------------------------------------------------------------


@case
def reverse_over_forward(m, fw, say):
    x, v = pair(m, requires_grad=True)
    with fw.dual_level():
        tangent = fw.unpack_dual((fw.make_dual(x, v) ** 3).sum()).tangent
        say(tangent)
        say(m.autograd.grad(tangent, x)[0].tolist())


@case
def reverse_over_forward_to_the_tangent(m, fw, say):
    x, v = pair(m)
    v.requires_grad_()
    with fw.dual_level():
        result = fw.make_dual(x, v) * m.tensor([5.0, 6.0])
        say(result.requires_grad)
        (gradient,) = m.autograd.grad(fw.unpack_dual(result).tangent.sum(), v)
        say(gradient.tolist())


@case
def forward_over_reverse(m, fw, say):
    for f in (lambda t: t**3, lambda t: t.exp(), lambda t: t.tanh() * t, lambda t: t.clone().mul_(t).exp_()):
        x, v = pair(m, requires_grad=True)
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            for wanted in (dual, x):
                (gradient,) = m.autograd.grad(f(dual).sum(), wanted, create_graph=True)
                say(gradient.tolist(), fw.unpack_dual(gradient).tangent.tolist())


@case
def forward_over_reverse_without_a_history(m, fw, say):
    for f in (lambda t: t**3, lambda t: t.exp(), lambda t: 2 * t):
        x, v = pair(m, requires_grad=True)
        with fw.dual_level():
            result = f(fw.make_dual(x, v)).sum()
            (gradient,) = m.autograd.grad(result, x)
            found = fw.unpack_dual(gradient)
            moves = found.tangent
            say(found.primal, None if moves is None else [moves.tolist(), moves.requires_grad])
            with say.refused():
                m.autograd.grad(result, x)


@case
def backward_comes_after_the_tangent(m, fw, say):
    x, v = pair(m, requires_grad=True)
    with fw.dual_level():
        result = (fw.make_dual(x, v) ** 2).sum()
        result.backward()
        say(x.grad.tolist(), fw.unpack_dual(result).tangent.item())


@case
def a_dual_tensor_of_a_constant_needs_no_gradient(m, fw, say):
    with fw.dual_level():
        result = fw.make_dual(*pair(m)).sum()
        say(result)
        with say.refused():
            result.backward()


# -- Functions -------------------------------------------------------------------------------------


@case
def jvp_is_given_zeros_for_tensors_and_none_for_the_rest(m, fw, say):
    def jvp(ctx, *tangents):
        say(list(tangents))
        return tangents[0] * 2

    def without_zeros(ctx, *inputs):
        ctx.set_materialize_grads(False)
        return inputs[0] * 2

    x, v = pair(m)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        for others in ((), (m.ones(3),), (m.tensor([1]),), (3, None)):
            say(*fw.unpack_dual(function(m, lambda ctx, *inputs: inputs[0] * 2, jvp)(dual, *others)))
        say(*fw.unpack_dual(function(m, without_zeros, jvp)(dual, m.ones(3))))


@case
def jvp_is_not_called_without_tangents(m, fw, say):
    apply = function(m, lambda ctx, x: x * 2, None)
    with fw.dual_level():
        say(apply(m.ones(2)))


@case
def jvp_runs_in_the_mode_of_the_caller(m, fw, say):
    def jvp(ctx, tangent):
        say(m.is_grad_enabled(), ctx.note)
        return tangent * 2

    def forward(ctx, x):
        ctx.note = fw.unpack_dual(x).tangent
        return x * 2

    x, v = pair(m, requires_grad=True)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        say(*fw.unpack_dual(function(m, forward, jvp)(dual)))
        with m.no_grad():
            say(*fw.unpack_dual(function(m, forward, jvp)(dual)))


@case
def what_is_saved_for_forward(m, fw, say):
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_forward(x, None, result)
        ctx.save_for_backward(result)
        return result

    def jvp(ctx, tangent):
        x, nothing, result = ctx.saved_tensors
        say(x.tolist(), nothing, fw.unpack_dual(x).tangent, result.requires_grad)
        return tangent * result

    for options in ({}, {"requires_grad": True}):
        x, v = pair(m, **options)
        with fw.dual_level():
            result = function(m, forward, jvp)(fw.make_dual(x, v))
            say(fw.unpack_dual(result).tangent)
            if result.requires_grad:
                say(len(result.grad_fn.saved_tensors))
                say(m.autograd.grad(fw.unpack_dual(result).tangent.sum(), v)[0] if v.requires_grad else None)


@case
def only_tensors_are_saved_for_forward(m, fw, say):
    function(m, lambda ctx, x: ctx.save_for_forward(x, 3), None)(m.ones(2))


@case
def a_setup_context_saves_for_forward(m, fw, say):
    class Cube(m.autograd.Function):
        @staticmethod
        def forward(x, power=3):
            return x**power

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def jvp(ctx, tangent, power):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * tangent

    with fw.dual_level():
        say(*fw.unpack_dual(Cube.apply(fw.make_dual(*pair(m)))))


@case
def what_jvp_may_return(m, fw, say):
    x, v = pair(m)

    def two(ctx, x):
        return x * 2, x.long()

    def constant(ctx, x):
        second = x * 3
        ctx.mark_non_differentiable(second)
        return x * 2, second

    with fw.dual_level():
        dual = fw.make_dual(x, v)
        for forward in (two, constant, lambda ctx, x: (x * 2, 5)):
            for second in (None, v):
                with say.refused():
                    results = function(m, forward, lambda ctx, t, second=second: (t * 2, second))(dual)
                    say([fw.unpack_dual(r).tangent for r in results if isinstance(r, m.Tensor)])
        for wrong in (lambda t: 3.0, lambda t: t.sum(), lambda t: (t, t), lambda t: t.double()):
            with say.refused():
                say(fw.unpack_dual(function(m, lambda ctx, x: x * 2, lambda ctx, t, w=wrong: w(t))(dual)).tangent)


@case
def there_is_no_jvp(m, fw, say):
    class NoJvp(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with fw.dual_level():
        NoJvp.apply(fw.make_dual(*pair(m)))


@case
def jvp_does_to_the_tangent_what_forward_does_to_the_input(m, fw, say):
    ways = {
        "as it is": (lambda ctx, x: x, [lambda t: t.view_as(t), lambda t: t, lambda t: t * 2]),
        "view": (lambda ctx, x: x[:1], [lambda t: t[:1], lambda t: t[:1].clone(), lambda t: t[:1].clone().view(1)]),
    }
    with fw.dual_level():
        for forward, jvps in ways.values():
            for jvp in jvps:
                with say.refused():
                    x, v = pair(m)
                    result = function(m, forward, lambda ctx, t, jvp=jvp: jvp(t))(fw.make_dual(x, v))
                    say(result, fw.unpack_dual(result).tangent)


@case
def jvp_changes_in_place_what_forward_changes_in_place(m, fw, say):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    with fw.dual_level():
        for jvp in (lambda t: t.mul_(2), lambda t: t * 2, lambda t: t):
            with say.refused():
                x, v = pair(m)
                dual = fw.make_dual(x, v)
                result = function(m, forward, lambda ctx, t, jvp=jvp: jvp(t))(dual)
                say(result is dual, fw.unpack_dual(result).tangent is v, v)


# -- gradcheck -------------------------------------------------------------------------------------


@case
def gradcheck_in_forward_mode(m, fw, say):
    def times(factor):
        apply = function(m, lambda ctx, x: x * 2, lambda ctx, t: t * factor)
        return lambda x: apply(x) + 0

    x = m.tensor([1.0, 2.0], dtype=m.float64, requires_grad=True)
    for factor in (2, 3):
        with say.refused():
            say(m.autograd.gradcheck(times(factor), (x,), check_forward_ad=True, check_backward_ad=False))
    say(m.autograd.gradcheck(lambda x: (x * 2, x.exp() * x[0], x.detach()), (x,), check_forward_ad=True))
    only = {"check_fwd_over_rev": True, "check_rev_over_rev": False}
    say(m.autograd.gradgradcheck(lambda x: x.exp() * x[0], (x,), **only, check_undefined_grad=False))
    with say.refused():
        m.autograd.gradgradcheck(m.exp, (x,), **only)
    with say.refused():
        m.autograd.gradcheck(m.exp, (x,), check_backward_ad=False)
