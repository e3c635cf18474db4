"""Programs with checkpoints, which have to end as PyTorch's do (`m` is either of the two); see behaviour_cases.py."""

import gc
import weakref

from misuse_cases import function, leaf

CASES = {}


def case(program):
    CASES[program.__name__.replace("_", " ")] = program
    return program


def kept(m, f, *args, **options):
    return m.utils.checkpoint.checkpoint(f, *args, use_reentrant=False, **options)


def first_line(say, call):
    """What an error of a checkpoint says first: the rest names tensors and options that differ."""
    try:
        call()
        say("not refused")
    except RuntimeError as error:
        say(type(error).__name__, str(error).splitlines()[0])


@case
def values_gradients_and_runs(m, say):
    runs = []

    def f(t):
        runs.append(m.is_grad_enabled())
        return (t.sin() * t).exp()

    x = leaf(m)
    y = kept(m, f, x * 2)
    say(y, runs)
    y.sum().backward()
    say(x.grad, runs)
    with say.refused():
        y.sum().backward()


@case
def a_second_walk_runs_again(m, say):
    runs = []
    x = leaf(m)
    y = kept(m, lambda t: runs.append(1) or t.exp().sin(), x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    say(x.grad, len(runs))


@case
def grad_and_higher_derivatives(m, say):
    x = leaf(m)
    y = kept(m, lambda t: (t**3).sin(), x)
    (g,) = m.autograd.grad(y.sum(), x, create_graph=True)
    say(g.tolist(), m.autograd.grad(g.sum(), x)[0].tolist())


@case
def it_stops_when_all_is_there(m, say):
    seen = []

    def f(t):
        u = t.exp()
        seen.append("exp")
        v = u * 2
        seen.append("mul")
        return v + 1

    x = leaf(m)
    kept(m, f, x).sum().backward()
    say(seen, x.grad)
    kept(m, f, x, early_stop=False).sum().backward()
    say(seen)


@case
def arguments_of_all_kinds(m, say):
    x, w = leaf(m), leaf(m) * 3
    y, number = kept(m, lambda t, n, scale, extra=None: ((t * extra).exp() * scale, n + 1), x, 4, 0.5, extra=w)
    say(y, number)
    y.sum().backward()
    say(x.grad)


@case
def several_outputs(m, say):
    x = leaf(m)
    a, b = kept(m, lambda t: (t.sin(), t.exp()), x)
    a.sum().backward()
    say(x.grad)
    b.sum().backward()
    say(x.grad)


@case
def one_inside_another(m, say):
    runs = []

    def inner(t):
        runs.append("inner")
        return t.sin().exp()

    def outer(t):
        runs.append("outer")
        return kept(m, inner, t.exp()) * t

    x = leaf(m)
    y = kept(m, outer, x)
    y.sum().backward()
    say(x.grad.tolist(), runs)


@case
def nothing_is_recorded(m, say):
    x, runs = leaf(m), []
    with m.no_grad():
        y = kept(m, lambda t: runs.append(1) or t.exp(), x)
    say(y, runs)
    z = kept(m, lambda t: t.exp(), m.ones(2))
    say(z)


@case
def random_numbers_are_those_of_the_first_run(m, say):
    def masked(t):
        return (t * t) * (m.rand(3) > 0.5)

    for preserve in (True, False):
        m.manual_seed(1)
        x = m.ones(3, requires_grad=True)
        y = kept(m, lambda t: (masked(t) + 1).exp(), x, preserve_rng_state=preserve)
        before = m.get_rng_state()
        y.sum().backward()
        following = m.rand(3).tolist()
        m.set_rng_state(before)
        say(
            preserve,
            following == m.rand(3).tolist(),
            bool(((x.grad != 0) == (y > 3)).all()) if preserve else "by chance",
        )


@case
def an_argument_is_changed(m, say):
    x = leaf(m) * 1
    y = kept(m, lambda t: t.exp().sin(), x)
    x.add_(1)
    with say.refused():
        y.sum().backward()


@case
def what_is_no_argument_is_not_watched(m, say):
    x, w = leaf(m), m.ones(3)
    y = kept(m, lambda t: t * w, x)
    w.mul_(5)
    y.sum().backward()
    say(x.grad)


@case
def it_is_changed_inside(m, say):
    x = leaf(m)
    y = kept(m, lambda t: (t * 1).exp().mul_(2).sin(), x)
    y.sum().backward()
    say(x.grad)


@case
def another_number_or_shape(m, say):
    rounds = [0]

    def fewer(t):
        rounds[0] += 1
        return t.exp().sin() if rounds[0] == 1 else t.exp()

    def other(t):
        rounds[0] += 1
        return (t if rounds[0] == 1 else m.cat([t, t])).exp().sum()

    for f in (fewer, other):
        rounds[0] = 0
        x = leaf(m)
        y = kept(m, f, x)
        first_line(say, y.sum().backward)
    rounds[0] = 0

    def more(t):
        rounds[0] += 1
        return t.exp() if rounds[0] == 1 else t.exp().sin().cos()

    y = kept(m, more, leaf(m), early_stop=False)
    first_line(say, y.sum().backward)
    rounds[0] = 0
    y = kept(m, more, leaf(m))
    first_line(say, y.sum().backward)


@case
def saved_tensors_are_asked_for_twice(m, say):
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * t

    def twice(ctx, g):
        ctx.saved_tensors  # noqa: B018
        return ctx.saved_tensors[0] * 2 * g

    square = function(m, forward, twice)
    y = kept(m, lambda t: square.apply(t * 1), leaf(m))
    first_line(say, y.sum().backward)


@case
def it_goes_backward_inside(m, say):
    def f(t):
        z = (t.sin() * t).exp()
        (g,) = m.autograd.grad(z.sum(), t, create_graph=True)
        return g * t

    x = leaf(m)
    kept(m, f, x).sum().backward()
    say(x.grad.tolist())


@case
def what_is_alive(m, say):
    inside = []

    def f(t):
        u = t.exp()
        inside.append(weakref.ref(u))
        return u * u

    x = leaf(m)
    y = kept(m, f, x)
    gc.collect()
    say([ref() is None for ref in inside])
    y.sum().backward()
    gc.collect()
    say(x.grad, [ref() is None for ref in inside])


@case
def it_refuses(m, say):
    with say.refused():
        m.utils.checkpoint.checkpoint(lambda t: t, leaf(m), use_reentrant=False, determinism_check="strict")
    x = leaf(m)
    say(m.utils.checkpoint.checkpoint(lambda t: t.exp(), x).tolist())
