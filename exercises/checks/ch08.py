"""The checks of chapter 08, "How do I teach autograd a new operation?"."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, functions, graphs, kit, observe, tools
from exercises.checks.functions import Case, changed_by, elementwise, given, suspects, tensors
from exercises.checks.kit import Wrong, show
from exercises.checks.targets import Targets
from minigrad.autograd import Function

chapter = kit.Chapter(__name__, "08", "How do I teach autograd a new operation?")


def _check(answer: Any, reference: Any, cases: Any, **options: Any) -> None:
    """`functions.check`, with a last case of the first one's shapes, and two calls on which the adversaries look."""
    cases, apply = list(cases), functions.apply_of(answer)
    if cases[-1].make()[0].shape != cases[0].make()[0].shape:
        make = lambda: changed_by(cases[0], lambda a: 0.75 * a.detach().flip(0))  # noqa: E731
        cases.append(Case(f"others for {cases[0].what}", make))
    functions.check(answer, reference, cases, **options)
    _check_kept(apply, cases)
    kit.call(apply, *(a.detach().float() if isinstance(a, mg.Tensor) else a for a in cases[0].make()))
    tracked = changed_by(cases[0], lambda a: a.detach())
    for leaf in (a for a in tracked if isinstance(a, mg.Tensor)):
        leaf.grad = mg.ones_like(leaf.detach())
    kit.call(lambda *given: _there_and_back(apply, given), *tracked)


def _there_and_back(apply: Any, given: tuple) -> tuple:
    """Forward and backward in one call: what backward changes, or leaves behind, is found as well."""
    results = apply(*given)
    results = results if isinstance(results, tuple) else (results,)
    total = sum((one * one).sum() for one in results)
    return (*results, *mg.autograd.grad(total, [a for a in given if isinstance(a, mg.Tensor)]))


def _check_kept(apply: Any, cases: list[Case]) -> None:
    """What came from one `apply`, and the gradients through it, keep their numbers when the next one is made."""
    came: tuple = ()
    before: list[mg.Tensor] = []
    for case in (cases[0], cases[-1]):
        made = kit.call(lambda *given: _there_and_back(apply, given), *case.make())
        came = came or made
        before = before or [one.detach().clone() for one in came]
    adversaries.trial.forget_last()
    for one, kept in zip(came, before, strict=True):
        if not kit.same_values(one, kept.numpy()):
            expected = f"a result or a gradient of the first `apply` as it was, {show(kept)}, after a second one"
            look = "which tensors are made once for all calls, and written to in each"
            raise Wrong("overwritten-later", expected, show(one.detach()), look=look)


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Inside a Function",
    kind="predict",
    points=2,
    beliefs=("M32", "M33"),
    hints=(
        "What does autograd record while `forward` runs? The cells with `Spy` in the chapter print it.",
        "`grad_output` is how much `z` moves when the result of `Mix` does. Nobody asked for a graph of the gradient.",
        "A Function is one operation, whatever it computes inside. And `apply` has three arguments here.",
    ),
    idea="Inside `forward` nothing is recorded, so `y` is not tracked yet. `z` is 4 times the result, so 4 comes in. "
    "Grad mode is off in a plain `backward()`. Two operations: `Mix`, and the multiplication by 4. Three arguments, "
    "so three gradients, two of them `None`.",
)
def inside(answer):
    truth = {"y tracked": False, "grad_output": 4.0, "grad mode": False, "operations": 2, "gradients": 3}
    looks = {
        "grad_output": "what happens to the result of `Mix` in the last but one line",
        "operations": "the picture of the three sigmoids in the chapter",
        "gradients": "the arguments of `forward` after `ctx`",
    }
    kit.predicted(answer, truth, _INSIDE, "a number", looks)
    return "One box, unrecorded inside; what comes in is the gradient of its result, and each argument gets an answer."


_INSIDE = kit.patterns("""
recorded-inside: y tracked=True, operations=4 (M33)
    While `forward` runs, nothing is recorded: `y` is not tracked there, and all of `Mix` is one box.
    look: what `Spy` prints in the chapter, and the picture of the three sigmoids
recorded-inside: y tracked=True
    While `forward` runs, nothing is recorded: `y` is not tracked there.
    look: what `Spy` prints in the chapter
other-count: operations=4 or operations=3
    Whatever `forward` computes inside is one box, `Mix`. `AccumulateGrad` is not counted.
    look: the picture of the three sigmoids in the chapter
one-per-tracked: gradients=1 (M32)
    Only `x` is tracked. But backward returns something for each argument: `k` and `w` get a None each.
    look: the error of `Scale` in the chapter
one-per-tensor: gradients=2
    Two of the arguments are tensors. But backward returns something for each argument, for `k` a None.
    look: the error of `Scale` in the chapter
ctx-counted: gradients=4
    `ctx` is no argument of `apply`. Only what you give to `apply` gets a gradient.
    look: the line with `Mix.apply`
starts-with-one: grad_output=1
    `z` starts with 1. On the way to `Mix` lies the multiplication by 4.
    look: the trace of the loss 5 · y in the chapter
gradient-of-x: grad_output=60
    60 is what `backward` makes of it, the gradient of `x`. What comes in is the gradient of its result.
    look: the trace of the loss 5 · y in the chapter
mode-on: grad mode=True
    In a plain `backward()` nothing is recorded. Grad mode is on only with `create_graph=True`.
    look: the four words that `Spy` prints in the chapter
last-forgotten: operations=1
    `Mix` is one. `4 * ...` is another.
    look: the last but one line
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "What will gradcheck say?",
    kind="predict",
    points=2,
    beliefs=("M29", "M31"),
    hints=(
        "gradcheck knows nothing of your formula. It compares backward with what nudging finds, at these points only.",
        "Two of the lines have a right formula and fail, for two different reasons.",
        "Ask of C: are there negative numbers in `x`? Ask of D and E: for which of the two has `ctx.slope` to move? "
        "And gradcheck also starts with other gradients than 1.",
    ),
    idea="A fails, float32 is too coarse. B fails at the kink. C passes: both points are positive. D passes, its first "
    "derivative is right; E fails, since `ctx.slope` has no history. F has no `grad_output`. G is "
    "wrong by a twenty-thousandth of the slope, and `rtol` lets a thousandth pass; H lets a millionth pass.",
)
def verdicts(answer):
    truth = dict(zip("ABCDEFGH", "fail fail pass pass fail fail pass fail".split(), strict=True))
    given = {name: _verdict(value) for name, value in kit.a_dict(answer, truth).items()}
    for name, value in given.items():
        if value not in ("pass", "fail"):
            raise Wrong("kind", f'`{name}` is "pass" or "fail"', show(answer[name]), look=f"the value of `{name}`")
    kit.predicted(given, truth, _VERDICTS, '"pass" or "fail"')
    return "gradcheck compares numbers: at your points, with its tolerance, for the first derivative. No more, no less."


def _verdict(value: Any) -> Any:
    known = {"pass": "pass", "passes": "pass", "true": "pass", "fail": "fail", "fails": "fail", "false": "fail"}
    value = kit.plain(value)
    return known.get(str(value).strip().lower(), "") if isinstance(value, str | bool) else ""


_VERDICTS = kit.patterns("""
right-formula-passes: A=pass, B=pass, D=pass, F=fail (M31)
    Both formulas are right, and gradcheck fails all the same: for A float32 leaves one or two digits of the
    difference, and for B nudging to both sides of the kink finds one half.
    look: the errors about x · x · x and `relu` in the chapter
right-formula-passes: A=pass
    The formula is right, and gradcheck fails all the same: in float32 a nudge of a millionth leaves one or two digits
    of the difference.
    look: the figure of nudges in the chapter
right-formula-passes: B=pass
    The slope that `relu` gives at 0 is as good as any from 0 to 1. But nudging to both sides finds one half there.
    look: the error about `relu` in the chapter
wrong-formula-fails: C=fail, D=pass, F=fail, G=fail, H=fail (M29)
    C is wrong for negative numbers, and G by a twenty-thousandth. gradcheck tries only the points that you give it,
    1 and 2, and lets pass what differs by less than a thousandth of the slope.
    look: what True says, and what it does not
wrong-formula-fails: C=fail
    The rule is wrong for negative numbers, and gradcheck tries only those that you give it: 1 and 2.
    look: what True says, and what it does not
first-is-second: E=pass
    D passes, so the first derivative is right. The second asks how `ctx.slope` moves with `x`, and it was computed
    where nothing is recorded.
    look: the picture of `slope` in the chapter
second-is-first: D=fail
    Its first derivative is right: `ctx.slope` is 2 · x, times grad_output. gradcheck asks no more.
    look: the two Functions that pass in the chapter
factor-not-seen: F=pass
    Without `grad_output` the gradient is right only if 1 comes in. gradcheck starts a backward from each result alone,
    and then 0 comes to the others.
    look: the two numbers of `Careless` in the chapter
within-tolerance: G=fail
    The slope is too steep by a twenty-thousandth. gradcheck lets pass what differs by less than a thousandth of it.
    look: what is said of `atol` and `rtol` in the chapter
beyond-tolerance: H=pass
    Now a millionth of the slope is let pass, and 0.00001 beside it. At 1 and 2 the slope is off by 0.0001 and 0.0002.
    look: the error about `Abs` in the chapter
""")


# --- 3 -------------------------------------------------------------------------------------------

_GIVEN_RECIPROCAL = """
class Reciprocal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 1 / x**2
"""


@chapter.exercise(
    "Repair a slope",
    kind="fix",
    points=2,
    hints=(
        "Two things are wrong. For the first, compare the slope in the text with what `backward` returns.",
        "For the second, try a loss of 5 times the result.",
        "`backward` returns `grad_output`, times the slope: a minus, and a factor.",
    ),
    idea="`return -grad_output / x**2`. Saving the output works as well: `-grad_output * y * y`.",
)
def reciprocal(answer):
    functions.refuse_given(answer, _GIVEN_RECIPROCAL)
    cases = [given("small and large numbers", [0.01, -0.02, 50.0]), *elementwise(low=0.5, high=2.0, signed=True)]
    _check(answer, lambda x: 1 / x, cases, suspects=_RECIPROCAL)
    return "The sign is right, and grad_output is a factor: gradcheck agrees, at numbers that you have not seen."


_RECIPROCAL = suspects("""
x; g
power-lost: -g / x
    The slope is -1 / x². What comes is -grad_output / x.
    look: which power of x is left of all that `backward` multiplies and divides by
input-for-output: -g * x * x
    What comes is -grad_output · x². So it is if x² multiplies, or if the square of the result divides.
    look: what `backward` multiplies or divides by: the input, or what was saved in its place
divided-and-multiplied: -g
    What comes is -grad_output, with nothing of x: no x² divides, or the division is taken back, as in `/ u * u`.
    look: what `backward` divides by, and the brackets around it
second-derivative: 2 * g / x**3
    2 / x³ is the slope of the slope. Asked for is the slope itself.
    look: the slope in the text of the exercise
""")


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Two to the power of x",
    kind="write",
    points=2,
    beliefs=("M33", "M36"),
    hints=(
        "What does the slope contain: the input, the output, or both?",
        "The slope is the result, times a number. So save the result; the number needs no saving.",
        "In `backward`: `(y,) = ctx.saved_tensors`, and then `grad_output`, times `y`, times `float(np.log(2))`.",
    ),
    idea="Save the output `y = 2**x`, and return `grad_output * y * float(np.log(2))`.",
)
def power(answer):
    code = getattr(getattr(answer, "backward", None), "__code__", None)
    names_x = code is not None and "x" in code.co_varnames  # or else the wrong tensor was saved under another name
    known = _POWER if names_x else [replace(one, belief="") for one in _POWER]
    _check(answer, lambda x: 2**x, elementwise(), second=True, suspects=known)
    return (
        "The slope is made of the result, which is there anyway. And from what you use a way leads back to the input: "
        "so the second derivative is right, too."
    )


_POWER = suspects("""
x; g
input-as-slope: g * x (M36)
    What comes is grad_output · x. The slope of an exponential function is made of its result.
    look: what is saved: input or output?
input-as-slope: g * x * math.log(2)
    What comes is grad_output · x · ln 2. In the place of x belongs the result, 2ˣ.
    look: what is saved: input or output?
ln-lost: g * 2**x
    What comes is grad_output · 2ˣ. For eˣ the slope is the result itself; that of 2ˣ has one more factor.
    look: the slope in the text of the exercise
power-rule: g * x * 2 ** (x - 1)
    x · 2ˣ⁻¹ comes from the rule for a power of x. Here x is the exponent.
    look: the slope in the text of the exercise
power-of-output: g * 2 ** (2**x) * math.log(2)
    What comes has 2 to the power of the result in it, and the result is 2ˣ already.
    look: what was saved, and what the formula takes it for
square: forward x**2
    x² is x to the power of 2. Asked for is 2 to the power of x.
    look: which is the base and which the exponent in forward
""")


# --- 5 -------------------------------------------------------------------------------------------


class _Clip(Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.limits = low, high
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clamp(*ctx.limits), None, None


@chapter.exercise(
    "A gradient within limits",
    kind="write",
    points=2,
    beliefs=("M32",),
    hints=(
        "Where do the two limits stay between `forward` and `backward`? They are plain numbers, no tensors.",
        "Chapter 04 clipped a gradient in a hook, with `clamp`.",
        "`apply` has three arguments, so `backward` returns three things. Two of them have no gradient.",
    ),
    idea="`ctx.limits = low, high` and `return x.clone()`; then `return grad_output.clamp(*ctx.limits), None, None`.",
)
def clip(answer):
    cases = elementwise(low=0.5, high=1.5, rest=(0.75, 1.25))  # limits that are the same in float32
    for limits in (-1.0, 0.625), (1.453125, 9.0), (0.0, 1.0), (-1.0, 0.0), (-9.0, -0.625):
        cases.append(tensors(f"a vector, for the limits {limits}", (4,), low=0.5, high=1.5, rest=limits))
    cases.insert(5, cases.pop(3))  # the empty one after two limits, of which one clips on one side only
    _check(answer, _Clip.apply, cases, numerical=False, suspects=_CLIP)
    return "Nothing changes forward, the gradient keeps to its limits, and each of the three arguments has an answer."


_CLIP = suspects("""
x, low, high; g
clipped-forward: forward x.clamp(low, high)
    The values were clipped. Going forward nothing is to change.
    look: what forward returns
limits-swapped: g.clamp(high, low)
    Wherever the gradient was, it has become `low`.
    look: what is held to the limits, and the order of the two
unchanged: g
    Here the gradient passes as it came, and some of it is beyond a limit.
    look: what backward does to `grad_output`
values-clipped: x.clamp(low, high)
    Those are the values of `x` within the limits. Asked for is the gradient within the limits.
    look: what `clamp` is called on
zeroed: g * ((g >= low) & (g <= high))
    Where the gradient was beyond a limit, it is 0 now. It is to become the limit.
    look: entries beyond the limits
stopped-by-value: g * ((x >= low) & (x <= high))
    The gradient is 0 where `x` is beyond the limits, and else as it came. They are limits for the gradient.
    look: what is held to `low` and `high`
one-limit: g.clamp(max=high)
    For these limits the gradient keeps to the upper one, and not to the lower one.
    look: what becomes of an entry below `low`, and of one above `high`
one-limit: g.clamp(min=low)
    For these limits the gradient keeps to the lower one, and not to the upper one.
    look: what becomes of an entry below `low`, and of one above `high`
shared: g.clamp(0.75, 1.25)
    Those are the limits of an earlier `apply`, 0.75 and 1.25.
    look: what is left from the first call: a name of the class, a default argument, a global name
""")


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A table of products",
    kind="write",
    points=3,
    beliefs=("M32", "M33", "M37"),
    hints=(
        "`a[0]` stands in the whole first row of the table. How much does the loss move with it?",
        "The gradient of `a[0]` is the first row of `grad_output`, times `b`, added up. That is a product of matrices.",
        "For 2 and 3 numbers `grad_output` has shape (2, 3). Which product of it and `b` has shape (2,)?",
    ),
    idea="Save both. Then `return grad_output @ b, grad_output.t() @ a`.",
)
def outer(answer):
    _check(answer, lambda a, b: a.unsqueeze(1) * b, _OUTER_CASES, second=True, suspects=_OUTER)
    _refuse_loop(functions.apply_of(answer))
    return "Each number is used in a whole row or column of the table, so its gradient adds up a row or a column."


def _refuse_loop(apply):
    """Backward makes as many calls for long rows as for short ones."""
    calls = {}
    for number in (2, 40):
        a, b = tools.leaf(np.ones(number)), tools.leaf(np.ones(number))
        total = kit.call(apply, a, b).sum()
        calls[number] = len(observe.calls_in(lambda total=total, a=a, b=b: mg.autograd.grad(total, (a, b))))
    if calls[40] > calls[2] + 30:
        why = "The gradients are right. But the longer the rows, the more calls it takes to compute them."
        got = f"{calls[2]} calls for 2 numbers in each row, and {calls[40]} for 40"
        look = "each loop in backward, also inside brackets: a product of matrices takes its place"
        raise Wrong("loop", "as many calls for long rows as for short ones", got, why=why, look=look)


_OUTER_CASES = (
    tensors("2 and 3 numbers", (2,), (3,)),
    given("numbers with a zero", [0.0, 2.0], [1.5, 0.0, -1.0]),
    tensors("3 and 3 numbers", (3,), (3,)),
    tensors("numbers with gaps in memory", (4,), (2,), gaps=True),
    tensors("one number and four", (1,), (4,)),
)
_OUTER = suspects("""
a, b; g
transposed-table: forward b.unsqueeze(1) * a
    Rows and columns are swapped: row i belongs to `a[i]`.
    look: which of the two becomes a column, and what turns the table
not-multiplied: g.sum(1), g.sum(0)
    The rows and columns of grad_output were added up, but not multiplied with the other input.
    look: the slope of `a[i] * b[j]`
""")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Two results at once",
    kind="write",
    points=3,
    beliefs=("M33",),
    hints=(
        "`backward` gets two gradients, one for each result, and returns two, one for each argument.",
        "`a` moves both results. What comes back to it through the one and through the other is added up.",
        "The slopes of a · b are b and a. Those of a / b are 1 / b and -a / b².",
    ),
    idea="`grad_a = grad_product * b + grad_quotient / b` and `grad_b = grad_product * a - grad_quotient * a / b**2`.",
)
def several(answer):
    zero = given("an `a` with a zero", [0.0, 1.5], [0.5, -2.0])
    cases = [*elementwise(2, low=0.5, high=2.0, signed=True), zero]
    _check(answer, lambda a, b: (a * b, a / b), cases, second=True, suspects=_SEVERAL)
    return "Each argument adds up what comes back through both results; if one of them is unused, it brings zeros."


_SEVERAL = suspects("""
a, b; g, h
one-result: g * b, g * a
    These are the gradients through the product alone. The quotient moves, too.
    look: the second gradient that backward gets
one-result: h / b, -h * a / b**2
    These are the gradients through the quotient alone. The product moves, too.
    look: the first gradient that backward gets
one-each: g * b, -h * a / b**2
    These are the gradient of `a` through the product and that of `b` through the quotient. Both move both.
    look: how many slopes there are: two results, two arguments
one-per-result: g * b, h / b
    The first gradient is that of the product by `a`, the second that of the quotient by `a`. What is returned belongs
    to the arguments: one for `a`, one for `b`.
    look: what backward gets (for each result), and what it returns (for each argument)
added-too-early: (g + h) * (b + 1 / b), (g + h) * (a - a / b**2)
    What comes is the sum of the two gradients that come in, times the sum of both slopes. Each has its own slope.
    look: which slope each of the two is multiplied by
sign-of-quotient: g * b + h / b, g * a + h * a / b**2
    The slope of a / b with respect to b is -a / b²: this part has the other sign.
    look: the slope of a / b with respect to b
mixed-up: h * b + g / b, h * a - g * a / b**2
    Each of the two gradients that come in is multiplied by the slope of the other result.
    look: which of them belongs to which result: they come in the order of forward's results
""")


# --- 8 -------------------------------------------------------------------------------------------

_GIVEN_BELL = """
class Bell(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        ctx.y = mg.exp(-x * x)
        return ctx.y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * -2 * ctx.x * ctx.y
"""


@chapter.exercise(
    "Nobody is watching",
    kind="fix",
    points=3,
    beliefs=("M33",),
    hints=(
        "What does autograd watch: what hangs on `ctx`, or what was saved?",
        "Both things are saved in one call. `ctx.saved_tensors` gives them back in the same order.",
        "Give `mg.exp(-x * x)` a name of its own: it is saved, and it is returned.",
    ),
    idea="`y = mg.exp(-x * x)`, `ctx.save_for_backward(x, y)`, and in `backward` `x, y = ctx.saved_tensors`.",
)
def bell(answer):
    functions.refuse_given(answer, _GIVEN_BELL)
    _check(answer, _bell, [*elementwise(), given("numbers with a zero", [0.0, 1.5])], second=True)
    apply = functions.apply_of(answer)
    _check_overwritten(apply, _bell, "result")
    _check_overwritten(apply, _bell, "input")
    _check_freed(apply)
    return "What was saved is watched, and nothing holds itself: overwritten is noticed, out of use is gone."


def _bell(x: mg.Tensor) -> mg.Tensor:
    return mg.exp(-x * x)


def _check_overwritten(apply, reference, what):
    """The gradient after the result, or else the input, is overwritten in place: it must be right, or refused."""
    for order, other in ("their last two swapped", [0, 2, 1]), ("all of them tripled", None):
        leaf, factors = tools.leaf([0.5, -1.5, 2.0]), tools.constant([1.0, 2.0, 3.0])
        right = mg.autograd.grad(reference(leaf), leaf, factors)[0]
        x = leaf * 1
        y = kit.call(apply, x)
        total, target = (y * factors).sum(), y if what == "result" else x
        with mg.no_grad():
            target.copy_(target[other] if other else target * 3)
        try:
            came = mg.autograd.grad(total, leaf, allow_unused=True)[0]
        except Exception:  # whoever refuses: autograd, or a line of backward
            continue
        if came is None or not kit.same_values(came, right.numpy()):
            why = f"The numbers of the {what} were overwritten in place, {order}, and no error came out of backward. "
            why += "What comes from `ctx.saved_tensors` is watched: it raises then."
            expected = f"after an overwrite of the {what}: the right gradient, or an error"
            look = f"how the {what} gets from forward to backward, and each `except`"
            got = "no gradient" if came is None else f"the wrong gradient {show(came)}"
            raise Wrong(f"unwatched-{what}", expected, got, why=why, look=look)


def _check_freed(apply):
    """A result that nobody needs is gone at once, and its node with it."""
    x = tools.leaf(0.5)
    was_on = gc.isenabled()
    gc.disable()
    try:
        y = kit.call(apply, x)
        watched = [weakref.ref(node) for node in graphs.nodes(y) if not hasattr(node, "variable")]
        del y
        alive = any(node() is not None for node in watched)
    finally:
        if was_on:
            gc.enable()
    if alive:
        why = "Something holds on to the node. It may be what the node itself holds, such as a result on `ctx`."
        got, look = "it is still in memory", "each `ctx.name = ...` in forward, and what you keep elsewhere"
        raise Wrong("circle", "a node that goes with its result", got, why=why, look=look)


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Somebody else's library",
    kind="write",
    points=3,
    hints=(
        "`x.detach().numpy()` goes to NumPy, `mg.from_numpy(array)` comes back.",
        "Save the input, and call `library_slope` in `backward`. Do not forget what comes in.",
        "A decorator above `def backward` makes a second derivative an error: the black box of the chapter has it, "
        "below `@staticmethod`.",
    ),
    idea="`forward` saves `x` and returns `mg.from_numpy(library_value(x.detach().numpy()))`. `backward` returns "
    "`grad_output * mg.from_numpy(library_slope(x.detach().numpy()))`, under "
    "`@mg.autograd.function.once_differentiable`.",
)
def library(answer):
    cases = elementwise()
    _check(answer, _softplus, cases, suspects=_LIBRARY)
    _check_library_is_called(functions.apply_of(answer))
    _check_second_is_no_lie(answer, cases[0])
    return "NumPy computes, autograd goes back through your rule, and where it cannot go, it says so."


def _softplus(x: mg.Tensor) -> mg.Tensor:
    return mg.log(1 + mg.exp(x))


_LIBRARY = suspects("""
x; g
value-for-slope: g * mg.log(1 + mg.exp(x))
    grad_output was multiplied by the value, not by the slope.
    look: what `backward` multiplies by, and which function of the library it comes from
slope-of-value: g * mg.sigmoid(mg.log(1 + mg.exp(x)))
    That is the slope at the result. It is needed at the input.
    look: what you save, and what the slope is computed of
slope-forward: forward mg.sigmoid(x)
    `forward` returns the slope.
    look: which function of the library is for the value, and which for the slope
""")


def _check_library_is_called(apply):
    """Who calls the library, and with what; the values say nothing of that."""
    x = tools.leaf([0.5, -1.0])
    made = []
    forward = observe.calls_in(lambda: made.append(kit.call(apply, x).sum()))
    backward = observe.calls_in(lambda: mg.autograd.grad(made[0], x))
    for calls, method, name in ((forward, "forward", "library_value"), (backward, "backward", "library_slope")):
        given = [argument for called, argument in calls if called == name]
        if not given:
            look = f"what `{method}` computes with"
            raise Wrong("library-not-called", f"`{method}` calls `{name}`", "no call of it", look=look)
        for one in (one for one in given if not isinstance(one, np.ndarray)):
            a_tensor, wanted = isinstance(one, mg.Tensor), f"`{name}` is called with an array"
            why = "Here NumPy takes the tensor for an array. PyTorch refuses that for a tracked one while it records."
            why, look = why * a_tensor, f"what `{name}` is called with, and what makes an array of a tensor"
            raise Wrong(f"library-given-{'tensor' if a_tensor else 'other'}", wanted, show(one), why=why, look=look)


def _check_second_is_no_lie(answer, case):
    """Where something else in the loss has a second derivative, the first is right, and the second right or refused."""
    adversaries.trial.forget_last()
    wanted = [one.numpy() for one in _two_walks(_softplus, *case.make())]
    came, got = [], ""
    try:
        for one in _two_walks(functions.apply_of(answer), *case.make()):
            came.append(one)
    except Exception as error:  # whoever refuses: autograd, or a line of backward
        got = kit.sandbox.describe_error(error)
    if not came or not kit.same_values(came[0], wanted[0]):
        expected = f"as the gradient of y² + x³ with `create_graph=True` {_rounded(wanted[0])}"
        why = "A first walk with `create_graph=True` differentiates once. Only a second one has to be an error."
        got, look = _rounded(came[0].numpy()) if came else got, "what backward does with a grad_output that is tracked"
        raise Wrong("create-graph", expected, got, why=why, look=look)
    if got or (came[1] is not None and kit.same_values(came[1], wanted[1])):
        return
    expected = f"as the second derivative of y² + x³ an error, or {_rounded(wanted[1])}"
    got = "None" if came[1] is None else _rounded(came[1].numpy())
    why = "The first derivative is right, and the second is neither right nor an error. Autograd does not see how NumPy"
    why += " computes the slope: where a second walk comes to it, there has to be an error, or a rule of yours that is "
    why += "right."
    look = "each `def backward`: the decorator above it (the black box of the chapter has one), and what it returns"
    raise Wrong("silent-second", expected, got, why=why, look=look)


def _two_walks(apply, x):
    """The gradient of y² + x³, and then that of its sum."""
    y = apply(x)
    (first,) = mg.autograd.grad((y * y).sum() + (x**3).sum(), x, create_graph=True)
    yield first.detach()
    first.sum().backward()
    yield x.grad


def _rounded(numbers: np.ndarray) -> str:
    return show(np.round(numbers, 4).tolist())


# --- 10 ------------------------------------------------------------------------------------------


class Square(Function):
    """As in the exercise."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2 * ctx.saved_tensors[0]


class Scale(Function):
    """As in the exercise."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.factor, None


def _target() -> tuple[mg.Tensor, dict[str, mg.Tensor]]:
    a, b = _leaf(3.0), _leaf(2.0)
    square = Square.apply(a)
    return square * Scale.apply(square + b, -1.0), {"a": a, "b": b}


def _leaf(number: float) -> mg.Tensor:
    return mg.tensor(number, requires_grad=True)


_targets = Targets(build=_target)
show_target = _targets.show


@chapter.exercise(
    "Build this graph",
    kind="build",
    points=2,
    hints=(
        "Start at the result, and follow the arrows. Which operation made it, and from what?",
        "Two arrows end in the box of `Square`. So its result is used twice.",
        "Name the square, add `b` to it, scale the sum, and multiply by the square.",
    ),
    idea="`square = Square.apply(a)` and `return square * Scale.apply(square + b, -1.0)`.",
)
def build(answer):
    kit.a_function(answer)
    a, b = _leaf(5.0), _leaf(-2.0)
    y = kit.a_tensor(kit.call(answer, a, b), "the result", "what `return` gives back")
    found = graphs.leaves(y) if y.requires_grad else []
    for name, one in {"a": a, "b": b}.items():
        if not any(leaf is one for leaf in found):
            why = f"No way leads from your result to `{name}`."
            look = f"whether `{name}` itself goes into the result, through `apply`, and each `no_grad` or `detach`"
            raise Wrong("leaf-missing", "a graph that ends in `a` and `b`", f"no way to `{name}`", why=why, look=look)
    for leaf in (leaf for leaf in found if leaf is not a and leaf is not b):
        look = "each other tensor that goes into the result, and its `requires_grad`"
        raise Wrong("other-leaf", "a graph that ends in `a` and `b` alone", f"it also ends in {show(leaf)}", look=look)
    squares, scales, *others = map((found := graphs.operations(y)).count, ("Square", "Scale", "mul", "pow"))
    if squares > 1:
        look = "each call of `Square.apply`, and what it gets"
        raise Wrong("not-shared", "one box of `Square`, with two arrows to it", f"{squares} boxes of it", look=look)
    facts = {"squares": squares, "scales": scales, "several": scales > 1, "known": others[0] > 1 or others[1] > 0}
    _targets.refuse_other(y, "build", tools.told(_OTHER_BOXES, facts | {"operations": " ".join(found)}))
    square = next(node for node in graphs.nodes(y) if node.op_name == "Square")
    if square.next_functions[0][0].variable is not a:
        why = "Boxes and arrows are right. But in the picture `a` is squared, and here it is `b`."
        raise Wrong("leaves-swapped", "`a` below the box of `Square`", "`b` below it", why=why, look="what is squared")
    return "Each Function is one box, and a result that is used twice has two arrows to it."


_OTHER_BOXES = kit.patterns("""
no-function: squares=0, known=True
    There is no box of `Square`. An operation that autograd knows by itself has a box of its own.
    look: what `Square.apply` is to do: the square that is used twice
no-scale: scales=0
    There is no box of `Scale` in it.
    look: where the picture has `Scale`, and what is there in yours
other-boxes: squares=0 or several=True
    The picture has one box of each Function.
    look: how often each `apply` is called, and of which class
other-arrows: operations=Scale Square add mul
    The boxes are those of the picture. What differs are arrows: see what is marked below.
    look: what each box gets, from the result on
other-boxes: operations=others
    The boxes are not those of the picture.
    look: each operation of your function, and its box
""")


# --- 11 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Overwrite the input",
    kind="write",
    points=3,
    off={"values": "the task is to overwrite the input"},
    beliefs=("M33",),
    hints=(
        "Section 3 has a Function that overwrites its input. Which line tells autograd so?",
        "After `forward` the numbers of `h` are the result. What is the slope s · (1 − s) made of?",
        "`ctx.mark_dirty(h)`, then an overwrite such as `h.sigmoid_()`, `ctx.save_for_backward(h)`, and `return h`.",
    ),
    idea="`ctx.mark_dirty(h)`, `h.sigmoid_()`, `ctx.save_for_backward(h)`, `return h`. What is saved holds the result, "
    "and `backward` returns `grad_output * s * (1 - s)`.",
)
def squash(answer):
    apply = functions.apply_of(answer)
    _check_is_overwritten(apply)
    cases = [*elementwise(), given("large numbers", [-800.0, 0.0, 800.0])]
    functions.check(lambda h: apply(h * 1), lambda h: mg.sigmoid(h), cases, second=True, suspects=_SQUASH)
    _check_overwritten(apply, mg.sigmoid, "result")
    _check_no_second_tensor(apply)
    return "The input is the result now: marked, so that autograd knows, and saved, so that it is watched."


_SQUASH = suspects("""
h; g
saved-then-overwritten: g * mg.sigmoid(mg.sigmoid(h)) * (1 - mg.sigmoid(mg.sigmoid(h)))
    That is the slope at the result, and not at the `h` that came in. Whether `h` is saved before or
    after it is overwritten: in `backward` it has the numbers of the result.
    look: which numbers are in what you saved, when `backward` runs
""")


(_NOT_RETURNED,) = tools.reasons("""
not-returned: Some elements marked as dirty
    What is marked as overwritten is a result of forward: it has to be returned, itself and not a copy of it.
    look: the `return` of forward, and what `ctx.mark_dirty` is given
""")


def _check_is_overwritten(apply):
    """`h` holds the result, is what `apply` returns, and leads back through the Function; tracked or not."""
    rows = tools.leaf([[0.5, -1.5, 2.0], [1.0, 0.0, -0.5]])
    for x in (tools.leaf([0.5, -1.5, 2.0]), tools.constant([0.5, -1.5, 2.0]), rows.t()):
        h = x * 1  # of `rows.t()`: its rows are columns in memory
        alias, before, node, right = h.detach(), h.detach().clone(), h.grad_fn, mg.sigmoid(x)
        y = tools.result(tools.called(apply, (h,), "`h` as the result", _NOT_RETURNED))
        if kit.same_values(h, before.numpy()):
            why, look = "`h` has its old numbers.", "what ends in `_`, or assigns to `h[...]`, in forward"
            raise Wrong("not-overwritten", f"`h` is {show(right.detach())} after `apply`", show(h), why=why, look=look)
        if h.grad_fn is node and node is not None:
            why = "The numbers of `h` are new, and its node is the old one: a backward from `h` is wrong in silence."
            expected, got = "a backward from `h` that goes through your Function", "it goes past it"
            raise Wrong("not-marked", expected, got, why=why, look="`ctx.mark_dirty`, and what it is given")
        if y is not h:
            why, look = (
                "`h` is overwritten, and what is returned is another tensor.",
                "what is done after the overwrite",
            )
            raise Wrong("other-tensor", "`h` itself as the result", show(y), why=why, look=look)
        if not kit.same_values(alias, h.detach().numpy()):
            why = "`h` has other memory now. Who shares the memory that it had does not see the result."
            expected, look = "the result in the memory of `h`", "each assignment to `.data` in forward"
            raise Wrong("not-in-place", expected, "new memory", why=why, look=look)


def _check_no_second_tensor(apply):
    """What the node keeps has the memory of `h`."""
    h = tools.leaf([0.5, -1.5, 2.0]) * 1
    node = kit.call(apply, h).grad_fn
    for kept in _flat([*node.saved_tensors, *vars(node).values()]):
        if isinstance(kept, mg.Tensor | np.ndarray) and not np.shares_memory(_numbers(kept), _numbers(h)):
            look = "what you save, and each `ctx.name = ...`"
            raise Wrong("second-tensor", "nothing kept but `h`", f"the node keeps {show(kept)}", look=look)


def _flat(kept: Any) -> list:
    """What is in a collection, and in the collections in it."""
    inside = kept.values() if type(kept) is dict else kept if type(kept) in (list, tuple) else None
    return [kept] if inside is None else [one for part in inside for one in _flat(part)]


def _numbers(kept: Any) -> np.ndarray:
    return kept.detach().numpy() if isinstance(kept, mg.Tensor) else kept


# --- 12 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Shares of a whole",
    kind="write",
    points=3,
    beliefs=("M33",),
    hints=(
        "Nudge y · s = x: dy · s + y · ds = dx, and ds is the sum of dx.",
        "Multiply by v, and add up: (v · dx − (v · y) · sum(dx)) / s. What is each nudge of x multiplied by?",
        "The nudge of x[i] is in dx and in the sum: v[i] − (v · y), divided by s.",
    ),
    idea="With s = x.sum() and y = x / s: `return (grad_output - (grad_output * y).sum()) / s`.",
)
def shares(answer):
    _check(answer, lambda x: x / x.sum(), _SHARES_CASES, second=True, suspects=_SHARES)
    return "Each number moves its own share up and, through the sum, all of them down."


_SHARES_CASES = (
    tensors("3 positive numbers", (3,), low=0.5),
    tensors("5 positive numbers with gaps in memory", (5,), low=0.5, gaps=True),
    tensors("one number", (1,), low=0.5),
)
_SHARES = suspects("""
x; g
sum-is-constant: g / x.sum()
    Your gradient is what arrives, divided by the sum: as if the sum stayed as it is. But each number moves it.
    look: the nudge of s in y · s = x
own-share-only: g * (1 - x / x.sum()) / x.sum()
    Your gradient has what each number does to its own share. It also moves the others, for it moves the sum.
    look: what v · y is: one number for all, or one for each
column-for-row: (g - x / x.sum() * g.sum()) / x.sum()
    That is J · v, in which what arrives is added up, and each number gets its share of that. backward returns v · J.
    look: which of the two is inside the sum, grad_output or y, or on which side of a table grad_output stands
not-weighted: (g - g.sum()) / x.sum()
    What arrives was added up as it is. In the sum each entry is multiplied by its share.
    look: v · y in the second step
other-sign: (g + (g * x).sum() / x.sum()) / x.sum()
    What comes through the sum was added. A larger sum makes every share smaller.
    look: the sign of y · ds when dy stands alone
sum-forgotten: g - (g * x).sum() / x.sum()
    All but the last division by s is there.
    look: dy in the first step
""")


chapter.lock()
