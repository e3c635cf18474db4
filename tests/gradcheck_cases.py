"""Calls of gradcheck and gradgradcheck, written once for minigrad and PyTorch (`m` is either of them).

`python -m tools.record_torch` writes down what PyTorch answers to each: the result, or the type and text of the
refusal, and the warnings. minigrad has to answer the same.
"""

import warnings
from itertools import count

from misuse_cases import function


def leaf(m, *values):
    return m.tensor(list(values), dtype=m.float64, requires_grad=True)


def number(m, value=1.5):
    return m.tensor(value, dtype=m.float64, requires_grad=True)


def check(m, func, *inputs, **options):
    return m.autograd.gradcheck(func, inputs, **options)


def check_second(m, func, *inputs, **options):
    return m.autograd.gradgradcheck(func, inputs, **options)


def square(x):
    return x * x


def doubling(m, backward, materialize=True):
    """A Function that doubles, with this backward."""

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return x * 2

    return function(m, forward, backward).apply


def undefined(m, backward):
    return doubling(m, backward, materialize=False)


def refuses_none(ctx, g):
    if g is None:
        raise RuntimeError("no gradient")
    return g * 2


def pair(m, backward):
    """A Function with two outputs, 2x and 3x, that is given None where there is no gradient."""

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    return function(m, forward, backward).apply


def either(ctx, g, h):
    parts = [] if g is None else [g * 2]
    parts += [] if h is None else [h * 3]
    return sum(parts) if parts else None


def constant_without_second(ctx, g, h):
    if g is None and h is None:
        return None
    return (0 if g is None else g * 2 + (1e-7 if h is None else 0)) + (0 if h is None else h * 3)


def needs_both(ctx, g, h):
    if (g is None) != (h is None):
        raise RuntimeError("one is missing")
    return None if g is None else g * 2 + h * 3


def noisy(m):
    runs = count()  # and not random numbers: two of them may be the same
    return doubling(m, lambda ctx, g: g * 2 * (1 + 1e-6 * next(runs)))


def changes(what):
    """An output whose shape or dtype hangs on the input."""

    def func(x):
        if what == "dtype":
            return square(x).float() if x > 1.5 else square(x)
        return square(x)[None] if x > 1.5 else square(x)

    return func


def second_element_decides(x):
    return x * x if x[1, 0] > 1.5 else (x * x)[:1]


def captured(m):
    """The function knows its input from elsewhere."""
    x = leaf(m, 1, 2)
    return check(m, lambda _: x * x, x)


def in_no_grad(m, checker):
    with m.no_grad():
        return checker(m, square, leaf(m, 1, 2))


def restored(m):
    """The input has its numbers back after a check, passed or not."""
    x = leaf(m, 1, 2)
    check(m, square, x)
    check(m, doubling(m, lambda ctx, g: g), x, raise_exception=False)
    return x.tolist(), x._version, x.grad is None


def raises(x):
    raise ZeroDivisionError("of the function")


def wrong(m):
    return doubling(m, lambda ctx, g: g * 3)


def saved_cube(m, saves_detached):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * (x.detach() if saves_detached else x) ** 2

    return function(m, forward, backward).apply


PASSED = {
    "square": lambda m: check(m, square, leaf(m, 1, 2)),
    "one Tensor": lambda m: m.autograd.gradcheck(square, leaf(m, 1, 2)),
    "a list of inputs": lambda m: m.autograd.gradcheck(lambda x, y: x * y, [leaf(m, 1, 2), leaf(m, 3, 4)]),
    "a list of outputs": lambda m: check(m, lambda x: [x * x, x], leaf(m, 1, 2)),
    "two inputs, two outputs": lambda m: check(m, lambda x, y: (x * y, x.sum()), leaf(m, 1, 2), leaf(m, 3, 4)),
    "an input that is no tensor": lambda m: check(m, lambda x, n: x**n, leaf(m, 1, 2), 3),
    "an input of integers": lambda m: check(m, lambda x, n: x * n, leaf(m, 1, 2), m.tensor([2, 3])),
    "a constant input": lambda m: check(m, lambda x, y: x * y, leaf(m, 1, 2), leaf(m, 3, 4).detach()),
    "a number": lambda m: check(m, square, number(m)),
    "a matrix": lambda m: check(m, lambda x: x @ x, leaf(m, 1, 2, 3, 4).detach().reshape(2, 2).requires_grad_()),
    "a result": lambda m: check(m, square, leaf(m, 1, 2) * 2),
    "an unused input": lambda m: check(m, lambda x, y: square(x), leaf(m, 1), leaf(m, 2)),
    "integers come last": lambda m: check(m, lambda x: (x * x, x.long()), leaf(m, 1.5, 2.5)),
    "a constant output": lambda m: check(m, lambda x: m.ones(2, dtype=m.float64), leaf(m, 1, 2)),
    "a second output that is cut": lambda m: check(m, lambda x: (x * x, x.detach() * 3), leaf(m, 1, 2)),
    "a first output that is cut": lambda m: check(m, lambda x: (x.detach() * 3, x * x), leaf(m, 1, 2)),
    "an empty input": lambda m: check(m, square, m.zeros(0, dtype=m.float64, requires_grad=True)),
    "an empty output": lambda m: check(m, lambda x: x[:0], leaf(m, 1, 2)),
    "a view as output": lambda m: check(m, lambda x: x[1:], leaf(m, 1, 2)),
    "transposed memory": lambda m: check(
        m, square, leaf(m, 1, 2, 3, 4, 5, 6).detach().reshape(2, 3).t().requires_grad_()
    ),
    "captured": captured,
    "restored": restored,
    "noise within nondet_tol": lambda m: check(m, noisy(m), leaf(m, 1, 2), nondet_tol=1e-3),
    "fast mode": lambda m: check(m, square, leaf(m, 1, 2), fast_mode=True),
    "grad dtypes": lambda m: check(m, square, leaf(m, 1, 2), check_grad_dtypes=True),
    "masked": lambda m: check(m, square, leaf(m, 1, 2), masked=True),
    "a small constant, masked": lambda m: check(m, doubling(m, lambda ctx, g: g * 2 + 1e-9), leaf(m, 1), masked=True),
    "gradients may be None": lambda m: check(
        m, undefined(m, lambda ctx, g: None if g is None else g * 2), leaf(m, 1, 2)
    ),
    "None of two": lambda m: check(m, pair(m, either), leaf(m, 1, 2)),
    "zeros in front of None": lambda m: check(
        m, lambda x: doubling(m, lambda ctx, g: g * 2)(undefined(m, lambda ctx, g: g * 2)(x)), leaf(m, 1)
    ),
    "None, unchecked": lambda m: check(m, undefined(m, refuses_none), leaf(m, 1), check_undefined_grad=False),
    "single precision, coarse": lambda m: check(
        m, square, m.ones(1, requires_grad=True), eps=1e-2, atol=1e-2, rtol=1e-2
    ),
    "second": lambda m: check_second(m, lambda x: x**3, leaf(m, 1, 2)),
    "second of two": lambda m: check_second(m, lambda x, y: (x * y, x.sum()), leaf(m, 1, 2), leaf(m, 3, 4)),
    "second of a line": lambda m: check_second(m, lambda x: x * 2, leaf(m, 1, 2)),
    "second, unused input": lambda m: check_second(m, lambda x, y: x * x, leaf(m, 1), leaf(m, 2)),
    "second, gaps": lambda m: check_second(m, square, leaf(m, 1, 2), gen_non_contig_grad_outputs=True),
    "second, one Tensor": lambda m: m.autograd.gradgradcheck(square, leaf(m, 1, 2), leaf(m, 3, 4)),
    "second, constant grad_outputs": lambda m: m.autograd.gradgradcheck(square, leaf(m, 1), leaf(m, 3).detach()),
    "second, line and constant": lambda m: m.autograd.gradgradcheck(lambda x: x * 2, leaf(m, 1), leaf(m, 3).detach()),
    "second of a Function": lambda m: check_second(m, saved_cube(m, False), leaf(m, 1, 2)),
    "a wrong but consistent backward": lambda m: check_second(m, wrong(m), leaf(m, 1, 2)),
}

FAILED = {
    "no input requires grad": lambda m: check(m, square, leaf(m, 1, 2).detach()),
    "no input requires grad, no exception": lambda m: check(m, square, leaf(m, 1, 2).detach(), raise_exception=False),
    "second, no input requires grad": lambda m: m.autograd.gradgradcheck(
        lambda x: x * 2, leaf(m, 1).detach(), leaf(m, 1).detach()
    ),
    "expanded": lambda m: check(m, square, leaf(m, 1).expand(3)),
    "wrong slope": lambda m: check(m, wrong(m), leaf(m, 1, 2)),
    "wrong slope, no exception": lambda m: check(m, wrong(m), leaf(m, 1, 2), raise_exception=False),
    "wrong second input": lambda m: check(m, lambda x, y: x * y.detach(), leaf(m, 1, 2), leaf(m, 3, 4)),
    "wrong second output": lambda m: check(m, lambda x: (x * x, x * x.detach()), leaf(m, 1, 2)),
    "a cut output before a wrong one": lambda m: check(m, lambda x: (x.detach(), x * x.detach()), leaf(m, 1, 2)),
    "a kink": lambda m: check(m, m.relu, leaf(m, 0, 2)),
    "nan": lambda m: check(m, lambda x: x * float("nan"), leaf(m, 1, 2)),
    "not reentrant": lambda m: check(m, noisy(m), leaf(m, 1, 2)),
    "not multiplied": lambda m: check(m, doubling(m, lambda ctx, g: g * 2 + 1e-7), leaf(m, 1)),
    "output without graph": lambda m: check(m, lambda x: x.detach() * 3, leaf(m, 1, 2)),
    "output without graph, no exception": lambda m: check(
        m, lambda x: x.detach() * 3, leaf(m, 1, 2), raise_exception=False
    ),
    "in no_grad": lambda m: in_no_grad(m, check),
    "shape changes": lambda m: check(m, changes("shape"), number(m)),
    "shape changes in a matrix": lambda m: check(
        m, second_element_decides, leaf(m, 1, 1, 1.5, 1).detach().reshape(2, 2).requires_grad_()
    ),
    "dtype changes": lambda m: check(m, changes("dtype"), number(m)),
    "the function fails": lambda m: check(m, raises, leaf(m, 1), raise_exception=False),
    "an output that is no tensor": lambda m: check(m, lambda x: (x, 3), leaf(m, 1)),
    "None is refused": lambda m: check(m, undefined(m, refuses_none), leaf(m, 1)),
    "None is refused further back": lambda m: check(m, lambda x: undefined(m, refuses_none)(x * 1) * 2, leaf(m, 1)),
    "None is multiplied": lambda m: check(m, undefined(m, lambda ctx, g: g * 2), leaf(m, 1)),
    "None becomes ones": lambda m: check(
        m, undefined(m, lambda ctx, g: m.ones(1, dtype=m.float64) if g is None else g * 2), leaf(m, 1)
    ),
    "None becomes a number": lambda m: check(m, undefined(m, lambda ctx, g: 0 if g is None else g * 2), leaf(m, 1)),
    "one None of two is refused": lambda m: check(m, pair(m, needs_both), leaf(m, 1), atol=10.0),
    "a small constant without the second": lambda m: check(m, pair(m, constant_without_second), leaf(m, 1, 2)),
    "no mode": lambda m: check(m, square, leaf(m, 1), check_backward_ad=False),
    "no mode, second": lambda m: check_second(m, square, leaf(m, 1), check_rev_over_rev=False),
    "second, cut": lambda m: m.autograd.gradgradcheck(saved_cube(m, True), leaf(m, 1, 2), leaf(m, 0.5, 0.25)),
    "second, single precision": lambda m: m.autograd.gradgradcheck(
        lambda x: x**3, m.ones(1, requires_grad=True), m.ones(1, requires_grad=True)
    ),
}

CASES = PASSED | FAILED


def answer(m, case) -> dict:
    """The result or the type and text of the refusal, and the warnings on the way.

    The text is taken to its first blank line: what PyTorch adds below speaks of its own tests.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = case(m)
            said = {"result": list(result) if isinstance(result, tuple) else result}
        except Exception as error:
            said = {"type": type(error).__name__, "text": str(error).split("\n\n")[0]}
    return said | {"warnings": [f"{w.category.__name__}: {w.message}" for w in caught]}
