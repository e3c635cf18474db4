"""The checks of chapter 12, "Which way round?"."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import cards, functions, graphs, kit, tools
from exercises.checks.adversaries import trial
from exercises.checks.functions import elementwise, tensors
from exercises.checks.kit import Wrong, call, show
from exercises.checks.sandbox import clip
from minigrad.autograd.dual import dual_levels
from minigrad.autograd.forward_ad import dual_level, make_dual, unpack_dual

chapter = kit.Chapter(__name__, "12", "Which way round?")
_AFTERWARDS = {"grad between": "the text asks how `.grad` is afterwards"}


# --- What several exercises share ----------------------------------------------------------------


_NO_LEVEL, _NESTED, _NO_JVP, _SAME_DUAL = tools.reasons("""
no-level: no level exists
    `make_dual` needs a level to put the tangent in.
    look: what stands inside of `with dual_level():`
nested: Nested forward mode
    A level was entered inside of another one. There is one level at a time.
    look: each `dual_level()`, and what is called inside of it
no-jvp: implement the jvp function (M52)
    A tangent came to a Function that has no `jvp`. Its `backward` is of no use there: the way forward is another one.
    look: the methods of the Function, or, if it is not yours, the other way round
dual-of-dual: already has a forward gradient
    A tensor that has a tangent was given another one.
    look: each `make_dual`: what is given to it?
""")
_FORWARD = (_NO_LEVEL, _NESTED, _NO_JVP, _SAME_DUAL)
_NO_HISTORY = "does not require grad and does not have a grad_fn"


def _called(function: Callable, inputs: tuple, expected: str, *reasons: tools.Reason) -> Any:
    """The learner's function on our inputs, with the errors that any push may raise."""
    if kit.says(function, "retain_graph"):
        reasons = tuple(replace(one, belief="M14") if one.message == _NO_HISTORY else one for one in reasons)
    return tools.called(function, inputs, expected, *reasons, *_FORWARD)


def _pushed(f: Callable, inputs: tuple, tangents: tuple) -> np.ndarray:
    """The tangent of a result, zeros if it has none: what an answer is compared with."""
    with dual_level():
        pairs = zip(inputs, tangents, strict=True)
        result = f(*[x if t is None else make_dual(x.detach().clone(), t.clone()) for x, t in pairs])
        tangent = unpack_dual(result).tangent
        return np.zeros(result.shape) if tangent is None else tools.array(tangent)


def _jacobian(f: Callable, values: Any) -> np.ndarray:
    """J by pushes: a column for each input."""
    x = mg.tensor(values, dtype=mg.float64)
    return np.stack([_pushed(f, (x,), (t,)) for t in mg.eye(len(x), dtype=mg.float64)], 1)


def _unpacked(function: Callable, inputs: tuple) -> str:
    """Where a function calls `unpack_dual`: "nowhere", "inside" of a level, or "late", where none is entered."""
    inside, where = False, "nowhere"
    with contextlib.suppress(Exception):
        for name, _ in tools.calls_in(lambda: function(*inputs)):
            inside = name == "enter_dual_level" or (inside and name != "exit_dual_level")
            where = ("inside" if inside else "late") if name == "unpack_dual" else where
    return where


def _no_tangent(function: Callable, inputs: tuple, expected: str, got: str) -> Wrong:
    """The diagnosis for None where a tangent belongs."""
    where = _unpacked(function, inputs)
    if where == "nowhere" or kit.returns_nothing(inspect.unwrap(function)):
        return Wrong("none", expected, got, look="whether a `return` is missing, and what it gives back")
    if where == "late":
        why = "`unpack_dual` stands where the level is over: it gives None there, whatever it is given."
        return Wrong("no-tangent", expected, got, belief="M55", why=why, look="where `unpack_dual` stands")
    why = "If it comes from `unpack_dual`, what was unpacked has no tangent."
    look = "what goes into `f`, the modes around it, what is unpacked, and the `return`"
    return Wrong("no-tangent", expected, got, why=why, look=look)


def _tensor(given: Any, expected: str, function: Callable, inputs: tuple) -> np.ndarray:
    """The numbers of a result that has to be a tensor."""
    if isinstance(given, tuple) and hasattr(given, "tangent"):
        why = "`unpack_dual` returns a pair. Asked for is the tangent in it."
        raise Wrong("whole-pair", expected, show(given), why=why, look="what you return: `.primal` or `.tangent`?")
    if given is None:
        raise _no_tangent(function, inputs, expected, "None")
    return tools.array(kit.a_tensor(given, "the result", "what `return` gives back"))


class _Watched:
    """A function that notes its calls: how many, where, with what, and which of the caller's tensors it wrote into."""

    def __init__(self, f: Callable, place: Any, *owned: mg.Tensor) -> None:
        self.f, self.place, self.owned = f, np.asarray(place, float), owned
        self.calls, self.elsewhere, self.was_plain = 0, "", True
        self.wrote: list[tuple[mg.Tensor, bool]] = []

    def __call__(self, one: Any) -> Any:
        self.calls += 1
        values = tools.array(one) if isinstance(one, mg.Tensor) else np.empty(0)
        if values.shape != self.place.shape or not np.allclose(values, self.place, 1e-7, 1e-12):
            self.elsewhere = self.elsewhere or clip(str(values.tolist()), 70)
        is_dual = bool(dual_levels) and dual_levels[0].tangent(one) is not None
        self.was_plain &= not is_dual
        before = [tools.array(tensor) for tensor in self.owned]
        result = self.f(one)
        pairs = zip(self.owned, before, strict=True)
        self.wrote += [(tensor, is_dual) for tensor, was in pairs if not np.array_equal(tools.array(tensor), was)]
        return result

    def refuse_steps(self, name: str = "x") -> None:
        """Say that the function was called elsewhere, if it was."""
        if self.elsewhere:
            expected, got = f"`f` is called at `{name}` alone: {self.place.tolist()}", f"a call at {self.elsewhere}"
            why = f"What is asked for is exact, and about the place `{name}`."
            raise Wrong("nudged", expected, got, why=why, look="what you call `f` with")


def _times() -> int:
    """How often each call of the learner's function is made: under one of the adversaries, twice."""
    return 2 if "again" in trial.circumstances else 1


class _NoWayBack(mg.autograd.Function):
    """Three times the input; a nudge passes, a walk does not."""

    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad_output):
        raise RuntimeError("this operation has no way back")

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 3


class _NoWayForth(mg.autograd.Function):
    """Twice the input; a walk passes, and is noted, a nudge does not."""

    @staticmethod
    def forward(ctx, x, walks):
        ctx.walks = walks
        return x * 2

    @staticmethod
    def backward(ctx, grad_output):
        ctx.walks.append(grad_output)
        return grad_output * 2, None


class _BothWays(_NoWayForth):
    """The same, and a nudge passes, too."""

    @staticmethod
    def jvp(ctx, tangent, walks):
        return tangent * 2


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "What moves, and by how much?",
    kind="predict",
    points=2,
    beliefs=("M27", "M51", "M54", "M55"),
    hints=(
        "The tangent of a result is the slope of the operation, times what `x` moves by: 10.",
        "What has no tangent counts as a constant. `no_grad` is about recording for a walk back.",
        "`item()` gives a plain number. `round` is flat between its steps. G stands outside of the block.",
    ),
    idea="A: 6 · 10. B: 10. C: 3 · 10, the second factor is a constant. D: 60, no_grad does not stop it. E: None, a "
    "plain number has no tangent. F: 0, the steps are flat. G: None, the level is over.",
)
def moves(answer):
    truth = {"A": 60.0, "B": 10.0, "C": 30.0, "D": 60.0, "E": None, "F": 0.0, "G": None}
    looks = {name: f"what of line {name} has a tangent, and what the operation makes of it" for name in truth}
    kit.predicted(answer, truth, _MOVES, "a number or None", looks)
    return "A tangent goes wherever a dual tensor goes, and is gone where the value alone goes on, or the level ends."


_MOVES = kit.patterns("""
slope-alone: A=6, D=6
    6 is the slope of x · x at 3. But `x` moves by 10, and the result by 10 times the slope.
    look: the second argument of `make_dual`
slope-alone: B=1 or C=3
    That is the slope. But `x` moves by 10, and the result by 10 times the slope.
    look: the second argument of `make_dual`
value: A=9 or B=7 or C=9 or D=9 or F=6
    That is the value of the result. Asked for is how much it moves.
    look: which part of the pair `.tangent` is
after-the-nudge: B=17 or A=69 or A=169
    That is where the value would be after the nudge. The tangent is by how much it moves.
    look: which part of the pair `.tangent` is
none-moves: A=None or A=0
    `x` moves by 10, whether it requires grad or not: `make_dual` has given it a tangent.
    look: what each operation on `x` makes of its tangent
detach-harmless: C=60, A=60 (M54)
    `detach()` leaves the value, and takes the tangent away: the second factor counts as a constant.
    look: what `x.detach()` prints inside of the level
detach-cuts-all: C=0 or C=None
    Only the second factor is cut. The first one is `x`, and it moves.
    look: each of the two factors of line C
no-grad-stops: D=None or D=0 (M51)
    `no_grad()` turns recording off, which a walk back would need. A tangent is computed at once, recorded or not.
    look: the cell with `no_grad` in section 2
item-moves: E=20 (M27)
    `item()` gives a plain number, without a tangent. The new tensor knows nothing of `x`.
    look: what `x.item()` returns
zero-for-none: E=0
    0 would be a tangent. The new tensor has none at all.
    look: what `x.item()` returns
steps-are-flat: F=20
    20 is the tangent of 2 · x. Between its steps `round` is flat: its slope is 0.
    look: the curve of `round`
none-for-zero: F=None
    `round` is an operation like others: its slope is 0, and 0 · 20 is a tangent.
    look: the curve of `round`, and what a slope of 0 makes of a tangent
stays: G=60 (M55)
    The tangent was there inside of the block. When the level ends, all of its tangents are gone.
    look: on which side of the block line G stands
zero-after: G=0
    0 would be a tangent. When the level ends, there is none.
    look: on which side of the block line G stands
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Count the turns",
    kind="predict",
    points=2,
    beliefs=("M53", "M57"),
    hints=(
        "A push gives a column of J, a walk gives a row. How many columns and rows does J have?",
        "Columns are as many as inputs, rows as many as results. Each push or walk takes five turns.",
        "C: one result, so one walk does it. D and E ask for one product. F: no walk over a walk is needed.",
    ),
    idea="A: 2 pushes of 5 turns. B: 300 walks of 5. C: one walk. D and E: one walk and one push. F: a nudge is pushed "
    "through one walk.",
)
def turns(answer):
    truth = {"A": 10, "B": 1500, "C": 5, "D": 5, "E": 5, "F": 1}
    looks = {name: f"line {name}: how many pushes or walks, and five turns in each" for name in truth}
    looks["F"] = "how section 6 gets H · v, and how often it walks"
    kit.predicted(answer, truth, _TURNS, "a number", looks)
    return "A push for each column, a walk for each row: whoever wants all of J counts inputs and results first."


_TURNS = kit.patterns("""
swapped: A=1500, B=10
    A push gives a column, one for each input. A walk gives a row, one for each result.
    look: the two functions `by_columns` and `by_rows`
walks-always: A=1500 (M53)
    1500 turns are 300 walks, a row each. Pushes give columns, and there are two.
    look: what one push gives
walks-of-inputs: B=10
    A walk gives one row of J: all slopes of one result. There are 300 results.
    look: what one walk gives
a-turn-an-entry: A=3000 or B=3000
    That is as much as five turns for each entry of J. But one push gives a whole column, one walk a whole row.
    look: what one push gives, and one walk, and the turns in each
dearer-way: C=1500
    1500 turns are 300 pushes, a column each. J has one row, and a walk gives all of it.
    look: the numbers of columns and rows in line C
one-push: A=5 or B=5
    5 are the turns of one push or walk. It gives one column, or one row, and J has more.
    look: how many columns and rows J has
passes-not-turns: A=2 or B=300 or C=1 or D=1 or E=1
    That is a number of pushes or walks. In each of them every one of the five operations has a turn.
    look: the question: it asks for turns
whole-for-a-row: D=10 or D=1500 or E=1500 or E=10
    That is for all of J. For one product it never has to be built.
    look: what one push gives, and what one walk
two-walks: F=2 (M57)
    Two walks do it, too, but the second is not needed: push a nudge through the first one.
    look: section 6, forward over reverse
whole-hessian: F=300 or F=90000
    H has a row for each input, but H · v does not need H.
    look: section 6, forward over reverse
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Divide two dual numbers",
    kind="rebuild",
    points=2,
    hints=(
        "The value is one number divided by the other. For the tangent, nudge each of the two alone, and add up.",
        "If only p moves, the quotient moves by dp / q. If only q moves, it moves by −p · dq / q².",
        "`(p[0] / q[0], (p[1] * q[0] - p[0] * q[1]) / q[0] ** 2)`",
    ),
    idea="The pair of `p[0] / q[0]` and `(p[1] * q[0] - p[0] * q[1]) / q[0] ** 2`: the quotient rule.",
    off={"dtype": "there are no tensors here", "result dtype": "there are no tensors here"},
)
def divide(answer):
    kit.a_function(answer)
    for p, q in _PAIRS:
        right = (p[0] / q[0], (p[1] * q[0] - p[0] * q[1]) / q[0] ** 2)
        given = tools.called(answer, (p, q), f"{_in_words(right)}", _BY_ZERO)
        came = _pair(given, right)
        if any(isinstance(first, mg.Tensor) for _, first in tools.calls_in(lambda p=p, q=q: answer(p, q))):
            look = "what you compute with: the two numbers of a pair as they are"
            raise Wrong("tensors", "plain numbers alone", "tensors on the way", look=look)
        if not kit.close(came[0], right[0], 1e-12):
            look = "the first of the two numbers that you return"
            raise Wrong("other-value", f"the value {right[0]:.4g}", f"{came[0]:.4g} for {p} and {q}", look=look)
        if not kit.close(came[1], right[1], 1e-12):
            raise _wrong_quotient(came[1], right[1], p, q)
    return "Value and tangent in one step: what every operation of forward mode does."


_PAIRS = (
    ((6.0, 2.0), (4.0, 0.7)),
    ((5.0, 1.0), (-2.0, 4.0)),
    ((0.0, 3.0), (4.0, 7.0)),
    ((7.0, 0.0), (2.0, 0.0)),
    ((7.0, 0.0), (2.0, 3.0)),
    ((1.5, 0.3), (3e3, 0.7)),
    ((1.0, 2.0), (1e-150, 1.0)),
    ((7, 2), (-3, 5)),
)
_BY_ZERO = tools.Reason(
    "division by zero",
    "quotient-of-tangents",
    "You divide by something that is 0 here. Tangents may be 0, and so may the value of p.",
    "what you divide by: the value of q itself is never 0",
)


def _in_words(pair: tuple) -> str:
    return f"({float(pair[0]):.4g}, {float(pair[1]):.4g})"


def _pair(given: Any, right: tuple) -> tuple[float, float]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        look = "what you return: the value, and the tangent"
        raise Wrong("type", f"a pair, such as {_in_words(right)}", show(given), look=look)
    if any(isinstance(one, mg.Tensor) for one in given):
        raise Wrong("tensors", "two plain numbers", show(given), look="what you compute with")
    return kit.a_number(given[0], "the value"), kit.a_number(given[1], "the tangent")


def _wrong_quotient(came, right, p, q):
    (a, da), (b, db) = p, q
    digits = 4 if f"{came:.4g}" != f"{right:.4g}" else 17
    expected, got = f"the tangent {right:.{digits}g}", f"{came:.{digits}g} for {p} and {q}"
    is_near = math.isclose(came, right, rel_tol=1e-2)
    for code, found, why in (
        ("other-sign", -right, "The size is right, and the sign is the other one."),
        ("plus", (da * b + a * db) / b**2, "The two parts are added. A larger divisor makes the quotient smaller."),
        ("first-alone", da / b, "That is right only if the divisor stands still."),
        ("second-alone", -a * db / b**2, "That is right only if the first number stands still."),
        ("product", da * b + a * db, "That is the tangent of the product."),
        (
            "not-squared",
            (da * b - a * db) / b,
            "That is the right one times the value of q: it has to be divided once more.",
        ),
        ("not-divided", da * b - a * db, "That is the upper part of the rule, not yet divided by the square of q."),
        ("quotient-of-tangents", da / db if db else np.nan, "The tangent of a quotient is no quotient of tangents."),
        ("difference", da - db, "That is the tangent of a difference."),
    ):
        if not is_near and math.isclose(came, found, rel_tol=1e-6, abs_tol=1e-12):
            return Wrong(code, expected, got, why=why, look="what the quotient does if only one of the two moves")
    look = "the tangent: nudge each of the two alone, add up, and round nothing"
    return Wrong("other-tangent", expected, got, look=look)


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The tangent that gets lost",
    kind="fix",
    points=2,
    beliefs=("M55", "M56"),
    hints=(
        "What does `unpack_dual(y)` return at the place where it stands? See section 7.",
        "The level ends with the block. And `make_dual` copies nothing: `f` may write into `x` and `t`.",
        "Call `unpack_dual` inside of the block, and give `make_dual` a clone of each.",
    ),
    idea="`make_dual(x.clone(), t.clone())`, and `return unpack_dual(y).tangent` inside of the block.",
)
def moved(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_MOVED)
    for f, values, nudge in _MOVED:
        x, t = tools.constant(values), tools.constant(nudge)
        right = _pushed(f, (tools.constant(values),), (tools.constant(nudge),))
        expected, watched = f"{np.round(right, 4).tolist()}", _Watched(f, values, x, t)
        given = _called(answer, (watched, x, t), expected)
        came = _tensor(given, expected, answer, (watched, x, t))
        _refuse_shared(watched, x, values, "x")
        _refuse_shared(watched, t, nudge, "t")
        watched.refuse_steps()
        if not tools.same(came, right):
            raise _wrong_moved(came, right, f, values, nudge)
    return "It is unpacked while the level lasts, and what `f` overwrites are clones."


_GIVEN_MOVED = """
def moved(f, x, t):
    with dual_level():
        y = f(make_dual(x, t))
    return unpack_dual(y).tangent
"""
_MOVED = (
    (lambda x: x * x.sum(), [2.0, 5.0], [1.0, 10.0]),
    (lambda x: mg.exp(x), [0.5, -1.0, 0.0], [3.0, 0.5, -2.0]),
    (lambda x: x.mul_(x).add_(1), [2.0, 5.0], [1.0, 10.0]),
    (lambda x: (x.mul_(3) ** 2).sum(), [1.0, -2.0, 0.5], [0.0, 1.0, 4.0]),
    (lambda x: mg.sin(x).mul_(x), 0.5, -2.0),
    (lambda x: mg.sin(x).sum(0), [[0.5, 1.0], [-1.0, 2.0]], [[1.0, 3.0], [0.5, -2.0]]),
)


def _refuse_shared(watched: _Watched, tensor: mg.Tensor, values: list, name: str) -> None:
    """`f` works in place: what was given to `make_dual` must not have been the caller's own."""
    if not tools.same(tools.array(tensor), values):
        expected, got = f"`{name}` = {values}, as before", f"`{name}` = {np.round(tools.array(tensor), 4).tolist()}"
        why, look = f"Your caller's `{name}` has changed.", f"each line of yours that changes `{name}`"
        by_f = [is_dual for one, is_dual in watched.wrote if one is tensor]
        if by_f:
            why = (
                f"`f` works in place, and has written into your caller's `{name}`: what it was given shares its memory."
            )
            look = f"what you give to `make_dual`, and to `f`: `{name}` itself?"
        code = "shared" if any(by_f) else "changed"
        raise Wrong(code, expected, got, belief="M56" * any(by_f), why=why, look=look)


def _wrong_moved(came, right, f, values, nudge):
    expected, got = f"{np.round(right, 4).tolist()}", f"{np.round(came, 4).tolist()}"
    value = tools.array(f(tools.constant(values)))
    ones = _pushed(f, (tools.constant(values),), (tools.constant(np.ones(np.shape(values))),))
    for code, found, why, look in (
        ("value", value, "This is the value. Asked for is how much it moves.", "which part of the pair you return"),
        ("nudge", np.array(nudge), "This is the tangent of `x`. Asked for is that of `f(x)`.", "what you unpack"),
        ("ones", ones, "This is for a nudge of ones. Yours is `t`.", "the second argument of `make_dual`"),
    ):
        if tools.same(came, found):
            return Wrong(code, expected, got, why=why, look=look)
    return Wrong("other-tangent", expected, got, look="where `t` goes in, what comes out, and what you make of it")


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Build what moves like this",
    kind="build",
    points=2,
    hints=(
        "The boxes say how it was made: two multiplications, one of which was given `x` alone.",
        "`b` was made from `x` and a number that is no node. `x` moves by 1, and `b` by 3: which number is it?",
        "b = 3 · x, and y = b · x. At 2 the tangent of y is 3 · 2 + 6 · 1 = 12, as in the picture.",
    ),
    idea="`b = 3 * x`, `return b * x`.",
)
def climb(answer):
    kit.a_function(answer)
    x = tools.leaf(2.0)
    y = kit.a_tensor(_called(answer, (x,), "a tensor"), "the result", "what `return` gives back")
    target, names = _climb()
    if not (y.requires_grad and mg.viz.difference(target, y, view="kept").same):
        raise _wrong_climb(y, target, names)
    if not graphs.reaches(y, x):
        look = "whether you go on with the argument itself, or with a copy"
        raise Wrong("other-leaf", "a graph that ends in the `x` of the call", show(y), look=look)
    for value in (2.0, -1.5, 0.5):
        came = _pushed(lambda t: answer(t.requires_grad_()), (tools.constant(value),), (tools.constant(1.0),))
        if not kit.close(float(came), 6 * value):
            why = "Boxes and arrows are those of the picture. But the tangent is another one."
            got = f"a tangent of {float(came):.4g} at x = {value}"
            look = "the number that `x` is multiplied by, for any `x`: how much does `b` move when `x` moves by 1?"
            raise Wrong("other-number", f"a tangent of {6 * value:.4g} at x = {value}", got, why=why, look=look)
    return "The boxes give the operations away, and the tangents the numbers in them."


def _climb() -> tuple[mg.Tensor, dict]:
    x = mg.tensor(2.0, requires_grad=True)
    b = 3 * x
    return b * x, {"x": x, "b": b}


def show_target(name):
    """Show the picture that an exercise asks for: show_target("climb")."""
    if name != "climb":
        cards.display(cards.notice_card('There is a picture for "climb".'))
        return
    with dual_level():
        x = make_dual(mg.tensor(2.0), mg.tensor(1.0)).requires_grad_()
        b = 3 * x
        b.retain_grad()
        y = b * x
        cards.display(mg.draw(y, params={"x": x, "b": b, "y": y}, values=False, grads=False))


def _wrong_climb(y, target, names):
    made_of = graphs.operations(y) if y.requires_grad else []
    expected = "the graph in the picture above"
    got = f"a graph with {tools.listed(made_of)}" if made_of else "a tensor without a graph"
    if not made_of:
        look = "what you return, and each `detach`, `item`, `no_grad` and `mg.tensor` in your function"
        return Wrong("no-graph", expected, got, why="Your result has no node.", look=look)
    if made_of == ["mul"]:
        why = "There is one multiplication in your graph. In the picture there are two."
        return Wrong(
            "one-box", expected, got, why=why, look="what `b` and `y` are made from, and whether it is recorded"
        )
    if set(made_of) != {"mul"}:
        why = "In the picture both boxes are multiplications."
        return Wrong("other-box", expected, got, why=why, look="the name in each box")
    why = "In the picture one box was given `x` and a number, the other what comes of that, and `x`."
    return Wrong("other-graph", expected, got, why=why, look="which tensors each of the two boxes was given")


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The Jacobian, a column at a time",
    kind="write",
    points=3,
    beliefs=("M53",),
    hints=(
        "One push gives J · t. With which t is that the first column?",
        "The rows of `mg.eye(len(x))` nudge one input each. Push each of them, and keep the tangents.",
        "`mg.stack(columns, 1)` puts them side by side: along dimension 1 a column for each input.",
    ),
    idea="Inside of `dual_level()`: `unpack_dual(f(make_dual(x, t))).tangent` for each `t` in `mg.eye(len(x))`, and "
    "`mg.stack(columns, 1)`.",
)
def columns(answer):
    kit.a_function(answer)
    pushes = kit.uses(answer, "jvp") or kit.says(answer, "create_graph")  # each of them made of walks
    walked = replace(_WALKED, belief="") if pushes else _WALKED
    for f, values in _JACOBIANS:
        x, watched = tools.constant(values), _Watched(f, values)
        right = _jacobian(f, values)
        expected = f"J, of shape {right.shape}"
        given = _called(answer, (watched, x), expected, walked, _NONE_KEPT)
        came = _tensor(given, expected, answer, (watched, x))
        watched.refuse_steps()
        if not tools.same(came, right):
            raise _wrong_columns(came, right, expected)
        if watched.calls > (len(values) + 2) * _times():
            why = "J is right. But `f` ran for more than one nudge of each input."
            got = f"{watched.calls} calls of `f`"
            look = "how often you push: one push gives a whole column"
            raise Wrong("too-many", f"{len(values)} pushes", got, why=why, look=look)
    return "A push for each input: two of them for a result of any length."


_JACOBIANS = (
    (lambda x: mg.stack([x[0] * x[1], _NoWayBack.apply(x[0]) + x[1], x[1] ** 3]), [2.0, 5.0]),
    (lambda x: mg.sin(_NoWayBack.apply(x) * mg.arange(1.0, 41.0, dtype=x.dtype)), [0.3]),
    (lambda x: _NoWayBack.apply(x).cumsum(0) * x.sum(), [1.0, -2.0, 0.5, 3.0]),
    (lambda x: (_NoWayBack.apply(x) ** 2).sum().reshape(1), [1.0, -2.0, 0.5]),
    (lambda x: _NoWayBack.apply(x) * mg.tensor([1.0, 0.0, 2.0], dtype=x.dtype), [1.0, -2.0, 0.5]),
    (lambda x: x, [1.0, -2.0]),
)
_WALKED, _NONE_KEPT = tools.reasons("""
walked: has no way back (M53)
    Somewhere in your function a walk went back, and `f` has an operation that cannot. A push needs no way back.
    (`functional.jvp` walks, too, as does `functional.jacobian` if you do not tell it otherwise.)
    look: each `grad`, `backward` and `functional`
none-kept: NoneType
    None came where a tensor belongs. `unpack_dual` gives it for what has no tangent, and where the level is over.
    look: where each column comes from, and where `unpack_dual` stands
""")


def _wrong_columns(came, right, expected):
    got = f"a tensor of shape {came.shape}"
    for code, found, why, look in (
        ("transposed", right.T, "These are the columns, but each lies as a row.", "along which dimension you stack"),
        (
            "one-push",
            right.sum(1),
            "These are the columns, added up.",
            "the nudge of each push, and what you make of the columns",
        ),
        ("first-column", right[:, 0], "That is the first column alone.", "the loop, and where the `return` stands"),
        ("last-column", right[:, -1], "That is the last column alone.", "the loop, and what is kept of each turn"),
        (
            "one-push",
            right.sum(1, keepdims=True),
            "These are the columns, added up.",
            "the nudge of each push, and what you make of the columns",
        ),
    ):
        if tools.same(came, found) and right.shape[1] > 1:
            return Wrong(code, expected, got, why=why, look=look)
    return Wrong(
        "other-jacobian", expected, got, look="which nudge goes into each push, which column comes out, and its place"
    )


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A push made of two walks",
    kind="write",
    points=3,
    off=_AFTERWARDS,
    beliefs=("M14", "M52"),
    hints=(
        "A walk from y = f(x) with the factors u gives u · J. Section 5 differentiates that once more, by u.",
        "`u` has the shape of `y` and requires grad. The first walk needs `create_graph=True`.",
        "The second: `grad(back, u, t)`, where `back` is what the first has returned.",
    ),
    idea="`u = mg.zeros_like(y, requires_grad=True)`, `(back,) = grad(y, x, u, create_graph=True)`, and "
    "`return grad(back, u, t)[0]`.",
)
def trick(answer):
    kit.a_function(answer)
    for f, values, nudge in _TRICKS:
        walks: list = []
        x, t, weight = tools.leaf(values), tools.constant(nudge), tools.leaf(1.0)
        watched = _Watched(lambda x, f=f, walks=walks, w=weight: w * f(_NoWayForth.apply(x, walks)), values)
        right = _jacobian(lambda x, f=f: f(2 * x), values) @ np.array(nudge)
        expected = f"J · t = {np.round(right, 4).tolist()}"
        given = _called(answer, (watched, x, t), expected, *_TRICK_ERRORS)
        came = _tensor(given, expected, answer, (watched, x, t))
        watched.refuse_steps()
        if not tools.same(came, right):
            raise _wrong_trick(came, right, f, values, nudge, expected)
        if weight.grad is not None:
            look = "each `backward()`: it leaves a `.grad` on every leaf that it comes to"
            raise Wrong("grad-changed", "no `.grad` that changes", "that of a weight in `f` has changed", look=look)
        _refuse_rows(walks, expected)
    _check_one_function_twice(answer)
    return "A walk is linear in what it starts with, and its slopes are J: two walks make a push."


def _check_one_function_twice(answer):
    t = tools.constant([1.0, 10.0])

    def f(x):
        return 2 * x * x

    for values in ([3.0, 0.5], [-1.0, 2.0]):
        right = 4 * np.array(values) * tools.array(t)
        expected = f"J · t = {right.tolist()} for `f(x) = 2 * x * x`, at x = {values}"
        came = _tensor(
            _called(answer, (f, tools.leaf(values), t), expected), expected, answer, (f, tools.leaf(values), t)
        )
        if not tools.same(came, right):
            look = "what your function keeps from call to call, and what its two walks start from"
            raise Wrong("other-product", expected, f"{np.round(came, 4).tolist()}", look=look)


_TRICKS = (
    (lambda x: mg.stack([x[0] * x[1], x[0] + x[1] ** 2, 3 * x[1]]), [2.0, 5.0], [1.0, 10.0]),
    (lambda x: mg.exp(x).cumsum(0), [0.5, -1.0, 0.0], [3.0, 0.5, -2.0]),
    (lambda x: mg.exp(x), [0.5, -1.0, 0.0], [3.0, 0.5, -2.0]),
    (lambda x: mg.sin(x[0] * mg.arange(1.0, 21.0, dtype=x.dtype)), [0.3, 1.0], [2.0, -5.0]),
)
_TRICK_ERRORS = (
    *tools.reasons("""
not-recorded: does not require grad and does not have a grad_fn
    A walk starts from something that has no history.
    look: what each `grad` starts from: the options of the first, and whether `u` requires grad
not-to-u: not have been used
    No way leads from what you differentiate to the tensor that you ask for.
    look: what each `grad` asks for
no-factors: only for scalar outputs
    A result with several numbers was walked back from without factors.
    look: the factors of each of the two walks
second-time: a second time
    A graph was walked twice, and the first walk has freed it.
    look: the options of each `grad`
"""),
    tools.Reason(
        "Mismatch in shape",
        "other-factors",
        "The factors of a walk have the shape of what it starts from: of `y` in the first, of `x` in the second.",
        "the factors of each of the two walks",
    ),
)


def _wrong_trick(came, right, f, values, nudge, expected):
    got = f"{np.round(came, 4).tolist()}" if came.size <= 9 else f"a tensor of shape {came.shape}"
    jacobian = _jacobian(lambda x: f(2 * x), values)
    for code, found, why, look in (
        ("jacobian", jacobian, "This is J itself. Asked for is its product with `t`.", "what you return"),
        (
            "zeros",
            np.zeros(len(values)),
            "These are zeros, as many as inputs: what u · J of a first walk is for u = 0.",
            "the second walk",
        ),
        (
            "one-walk",
            jacobian.sum(0),
            "These are the rows of J, added up, as one walk with ones gives them.",
            "the second walk",
        ),
        ("all-ones", jacobian.sum(1), "This is J · t for a `t` of ones.", "the factors of the second walk"),
        (
            "one-walk",
            jacobian.sum(0) * nudge,
            "These are the rows of J, added up, and multiplied by `t`.",
            "the second walk",
        ),
    ):
        if tools.same(came, found):
            return Wrong(code, expected, got, why=why, look=look)
    if came.shape != right.shape:
        return Wrong(
            "other-shape",
            expected,
            got,
            look="the shape of what you return: that of `f(x)`, from two walks through `f`",
        )
    return Wrong(
        "other-product",
        expected,
        got,
        look="each of the two walks: from where, to where, with which factors, and what you return",
    )


def _refuse_rows(walks: list, expected: str) -> None:
    """Two walks, of which the second need not come by here, whatever the length of the result."""
    if len(walks) > 2 * _times():
        why = "The product is right. But more than two walks came by: two are enough for all rows of J."
        look = "how often you walk back"
        raise Wrong("row-by-row", expected, f"{len(walks)} walks", why=why, look=look)


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A Function that goes both ways",
    kind="write",
    points=3,
    beliefs=("M52", "M58"),
    hints=(
        "`backward` gets one gradient and returns two. `jvp` gets two tangents and returns one.",
        "Save `a` and `b` twice: `save_for_backward` is for backward, `save_for_forward` for jvp.",
        "The slopes are 1 / b and −a / b². In backward each is multiplied by `g`; in jvp each by its own tangent, and "
        "the two are added.",
    ),
    idea="forward saves `a` and `b` for both ways. backward: `g / b, -g * a / b**2`. jvp: `ta / b - tb * a / b**2`.",
)
def ratio(answer):
    cases = elementwise(2, low=0.5, high=2.0, signed=True)
    cases.append(functions.given("a zero among them", [0.0, -1.5], [2.0, -0.5]))
    functions.check(answer, lambda a, b: a / b, cases)
    apply = functions.apply_of(answer)
    for shape_a, shape_b in (((4,), (4,)), ((2, 1), (3,)), ((), ())):
        for moving in ((True, True), (True, False), (False, True)):
            _check_jvp(apply, shape_a, shape_b, moving)
    return "Two slopes, used both ways: one gradient becomes two in backward, two tangents become one in jvp."


def _check_jvp(apply: Callable, shape_a: tuple, shape_b: tuple, moving: tuple) -> None:
    random = np.random.default_rng([3, *shape_a, *shape_b])
    numbers = [random.uniform(0.5, 2.0, s) * random.choice([-1.0, 1.0], s) for s in (shape_a, shape_b) * 2]
    numbers[0].flat[1:2] = 0.0
    numbers[3].flat[2:3] = 0.0
    a, b, ta, tb = map(tools.constant, numbers)
    tangents = (ta if moving[0] else None, tb if moving[1] else None)
    expected = f"the tangent of a / b{'' if all(moving) else ', where only one of the two moves'}"
    right = _pushed(lambda a, b: a / b, (a, b), tangents)
    reasons = _JVP_ERRORS if all(moving) else (*_JVP_ERRORS, _NONE_MOVES)
    came = tools.array(_called(lambda a, b: _push_of(apply, (a, b), tangents), (a, b), expected, *reasons))
    if not tools.same(came, right):
        raise _wrong_jvp(came, right, [tools.array(one) for one in (a, b, ta, tb)], moving, expected)


def _push_of(apply: Callable, inputs: tuple, tangents: tuple) -> mg.Tensor:
    """The tangent of a Function's result; refused if its jvp has written into the tangents that it was given."""
    given = tuple(None if t is None else t.clone() for t in tangents)
    with dual_level():
        pairs = zip(inputs, given, strict=True)
        found = unpack_dual(apply(*[x if t is None else make_dual(x.clone(), t) for x, t in pairs])).tangent
    for before, after in zip(tangents, given, strict=True):
        if before is not None and after is not None and after._version:
            why = "The tangent that jvp is given is that of the input, and the input moves as before."
            look = "each operation in your jvp that ends in `_`, and each `+=` and `*=`"
            same = ", in which operations in place are undone" if before.equal(after) else " from now on"
            got = f"{np.round(after.numpy(), 4).tolist()}{same}"
            raise Wrong("tangent-changed", "the tangent of the input, as it was", got, why=why, look=look)
    if found is None:
        raise Wrong(
            "no-tangent", "a result with a tangent", "one without", look="whether `apply` is called on the input"
        )
    return found


_JVP_RETURNS = tools.reasons("""
number-of-tangents: invalid number of forward gradients
    `jvp` returns one tangent for each result, and there is one result.
    look: the `return` of your jvp
missing-tangent: Expected both tensor and its forward grad
    What `jvp` returns is None. That a result stands still is said with zeros.
    look: the `return` of your jvp
no-tensor: expected Variable or None
    `jvp` returns a tensor, of the shape of the result.
    look: the `return` of your jvp
shape-of-tangent: has a different size
    The tangent has the shape of the result.
    look: the `return` of your jvp
""")
_JVP_ERRORS = (
    *tools.reasons("""
not-saved: ctx.saved_tensors)
    In `jvp`, `ctx.saved_tensors` holds what `save_for_forward` was given, and nothing else.
    look: `save_for_forward` in your forward
arguments-of-jvp: jvp()
    `jvp` gets `ctx`, and a tangent for each argument of forward.
    look: the `def jvp` line
"""),
    *_JVP_RETURNS,
)
_NONE_MOVES = tools.Reason(
    "NoneType",
    "tangent-is-none",
    "It is right where both move. An input that does not move may have no tangent, and your jvp computes with None.",
    "`set_materialize_grads`: without it zeros come instead of None",
)


def _wrong_jvp(came, right, numbers, moving, expected):
    a, b, ta, tb = numbers
    ta, tb = ta * moving[0], tb * moving[1]
    with np.errstate(all="ignore"):
        tangents_divided = ta / tb
    got = f"{np.round(came, 4).tolist()}" if came.size <= 6 else f"a tensor of shape {came.shape}"
    for code, found, belief, why in (
        (
            "slope-alone",
            1 / b - a / b**2,
            "M58",
            "That is the sum of the slopes. Each has to be multiplied by its tangent.",
        ),
        ("other-sign", tb * a / b**2 - ta / b, "", "The size is right, and the sign is the other one."),
        ("other-sign", ta / b + tb * a / b**2, "", "The part of `b` has the other sign."),
        ("first-alone", ta / b, "", "The part of `b` is missing here."),
        ("second-alone", -tb * a / b**2, "", "The part of `a` is missing here."),
        ("swapped", tb / b - ta * a / b**2, "", "Each tangent is multiplied by the slope of the other input."),
        ("quotient-of-tangents", tangents_divided if moving[1] else right + np.nan, "", "The tangents do not divide."),
        ("product", ta * b + a * tb, "", "That is the tangent of the product."),
    ):
        if tools.same(came, found):
            look = "your jvp, from its arguments to its `return`, and what is saved for it"
            return Wrong(code, expected, got, belief=belief, why=why, look=look)
    return Wrong("other-tangent", expected, got, look="the slope for each input, and which tangent it is multiplied by")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut one way only",
    kind="cut",
    points=2,
    beliefs=("M52", "M54"),
    hints=(
        "`detach()` cuts both ways. In a Function the two ways are written apart.",
        "`backward` passes on what comes. `jvp` says that the result does not move.",
        "That is a tangent of zeros, and not None: `mg.zeros_like(tangent)`.",
    ),
    idea="forward returns a new tensor, such as `x.clone()`, backward returns `g`, and jvp returns "
    "`mg.zeros_like(tangent)`.",
)
def still(answer):
    _refuse_detached(answer)
    functions.check(answer, lambda x: x * 1, elementwise(), second=True)
    apply = functions.apply_of(answer)
    numbers = {(4,): 3.0, (): -3.0, (2, 3): float("inf"), (3,): float("nan")}
    for shape, number in numbers.items():
        (x,) = tensors("numbers", shape).make()
        expected = f"a tangent of zeros, where that of `x` is {number}"
        pushed = lambda x, n=number: _push_of(apply, (x.detach(),), (mg.full_like(x.detach(), n),))  # noqa: E731
        came = tools.array(_called(pushed, (x,), expected, _NO_VIEW, *_JVP_RETURNS))
        if not tools.same(came, np.zeros(tuple(x.shape))):
            raise _wrong_still(came, expected)
    why = "The gradient passes, the nudge does not: the two ways are written apart, and nobody compares them."
    return why, _picture_of_still(apply)


def _picture_of_still(apply: Callable) -> Any:
    """x times itself, once through the learner's Function: both ways."""
    with dual_level():
        x = make_dual(mg.tensor(5.0), mg.tensor(1.0)).requires_grad_()
        s = apply(x)
        y = x * s
        s.retain_grad()
        y.backward()
        return mg.draw(y, view="written", params={"x": x, "s": s, "y": y})


(_NO_VIEW,) = tools.reasons("""
no-view: is not returning a view
    Your forward returns the input itself, or a view of it, and then jvp would have to do the same with the tangent.
    look: what forward returns: make it a new tensor
""")


def _refuse_detached(answer: Any) -> None:
    """A function that detaches cuts both ways."""
    if not isinstance(answer, type):
        x = tools.leaf([1.0, 2.0])
        result = call(kit.a_function(answer), x)
        if isinstance(result, mg.Tensor) and not result.requires_grad:
            detaches = kit.uses(answer, "detach")
            why = (
                "`detach()` cuts the way back as well as the way forward. " * detaches + "Here the gradient is to pass."
            )
            look = "how a Function of your own treats each of the two ways"
            belief = "M54" * detaches
            raise Wrong("both-ways", "a result with a history", show(result), belief=belief, why=why, look=look)


def _wrong_still(came, expected):
    got = f"{np.round(came, 4).tolist()}"
    if came.size and np.allclose(came, 3.0):
        why = "The tangent has passed as it came. The result is to stand still."
        return Wrong("passes", expected, got, why=why, look="the `return` of your jvp")
    return Wrong("moves", expected, got, look="the `return` of your jvp: a result that stands still has zeros")


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Gradient and curvature in one walk",
    kind="write",
    points=3,
    off=_AFTERWARDS,
    beliefs=("M14", "M55", "M57"),
    hints=(
        "Forward over reverse: what comes with the gradient, if the walk starts from a dual tensor's result?",
        "`make_dual(p, v)` goes into `f`, `grad` gives the gradient, and `unpack_dual` takes it apart.",
        "Inside of the level: `(slope,) = grad(f(make_dual(p, v)), p)`, then `unpack_dual(slope)` is the pair.",
    ),
    idea="Inside of `dual_level()`: `(slope,) = mg.autograd.grad(f(make_dual(p, v)), p)`, and return the two parts of "
    "`unpack_dual(slope)`.",
)
def curved(answer):
    kit.a_function(answer)
    for f, values, vector in _CURVED:
        walks: list = []
        p, v = tools.leaf(values), tools.constant(vector)
        watched = _Watched(lambda p, f=f, walks=walks: f(_BothWays.apply(p, walks)), values)
        right = _curvature(f, values, vector)
        expected = "the gradient and H · v"
        given = _called(answer, (watched, p, v), expected, *_CURVED_ERRORS)
        came = _two(given, expected, answer, (watched, p, v))
        watched.refuse_steps("p")
        if not (tools.same(came[0], right[0]) and tools.same(came[1], right[1])):
            raise _wrong_curved(came, right, f, values, vector)
        _refuse_second_walk(walks, watched)
    return "One walk, with a nudge going through it: the gradient, and by how much it moves."


_CURVED = (
    (lambda p: p[0] ** 2 * p[1] + p[1] ** 3, [1.0, 2.0], [1.0, 10.0]),
    (lambda p: mg.exp(p[0] * p[1]) + mg.sin(p).sum(), [0.5, 1.0, -0.3], [-1.0, 3.0, 0.5]),
    (lambda p: (p**4).sum() / 12 + (p[1:] * p[:-1]).sum(), [2.0, -1.0, 0.5, 1.5], [5.0, 0.0, 1.0, -2.0]),
    (lambda p: (p**3).sum(), [2.0, -1.0], [0.0, 0.0]),
)
_CURVED_ERRORS = tools.reasons("""
no-history: does not require grad and does not have a grad_fn
    A walk starts from something that has no history.
    look: what each `grad` starts from
not-used: not have been used
    No way leads from what you differentiate to the tensor that you ask for.
    look: for which tensor you ask `grad`: it has to be `p`, or the dual tensor made from it
tuple-of-grad: must be Tensor, not tuple
    `grad` returns a tuple, with one gradient for each input.
    look: what you give to `unpack_dual`
""")


def _curvature(f: Callable, values: list, vector: list) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and H · v by chapter 09's two walks, of the function that is given to the learner."""
    p = mg.tensor(values, dtype=mg.float64, requires_grad=True)
    (slope,) = mg.autograd.grad(f(2 * p), p, create_graph=True)
    (product,) = mg.autograd.grad(slope, p, mg.tensor(vector, dtype=mg.float64))
    return tools.array(slope), tools.array(product)


def _two(given: Any, expected: str, function: Callable, inputs: tuple) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        if type(given) is mg.Tensor or given is None:
            look = "what you return: the gradient, and H · v"
            raise Wrong("one-of-two", expected, show(given), look=look)
        raise Wrong("type", f"a pair: {expected}", show(given), look="what you return")
    if given[1] is None:
        raise _no_tangent(function, inputs, expected, "None for H · v")
    look = "the two things that you return"
    return tuple(tools.array(kit.a_tensor(one, "each of the two", look)) for one in given)  # type: ignore[return-value]


def _refuse_second_walk(walks: list, watched: _Watched) -> None:
    """Whether there was one walk, from one forward."""
    if watched.was_plain or len(walks) > _times() or watched.calls > _times():
        why = (
            "Both are right. But more than one walk was made: the gradient of a dual tensor's function has a tangent, "
        )
        why += "and that is H · v."
        several = watched.was_plain or len(walks) > _times()
        why = why if several else "Both are right. But `f` was called more often than once."
        walked = "a walk over the walk" if watched.was_plain else f"{len(walks)} walk{'s' * (len(walks) != 1)}"
        got = f"{walked}, from {watched.calls} call{'s' * (watched.calls != 1)} of `f`"
        belief, look = "M57" * watched.was_plain, "section 6, forward over reverse"
        raise Wrong("two-walks", "one walk, from one call of `f`", got, belief=belief, why=why, look=look)


def _wrong_curved(came, right, f, values, vector):
    expected = f"{np.round(right[0], 4).tolist()} and {np.round(right[1], 4).tolist()}"
    got = f"{np.round(came[0], 4).tolist()} and {np.round(came[1], 4).tolist()}"
    ones = _curvature(f, values, np.ones(len(values)).tolist())[1]
    for code, found, why, look in (
        ("swapped", right[::-1], "Gradient and H · v are there, in each other's place.", "the order of the two"),
        (
            "ones",
            (right[0], ones),
            "That is H · v for a `v` of ones.",
            "what goes into `make_dual`",
        ),
        ("tangent-of-input", (right[0], np.array(vector)), "That is `v`, the tangent of `p`.", "what you unpack"),
        ("gradient-twice", (right[0], right[0]), "Both are the gradient.", "which part of the pair is the second"),
        (
            "times-slope",
            (right[0], right[0] * vector),
            "That is the gradient times `v`, entry by entry.",
            "what the second of the two has to be",
        ),
    ):
        if tools.same(came[0], found[0]) and tools.same(came[1], found[1]):
            return Wrong(code, expected, got, why=why, look=look)
    value = f(2 * mg.tensor(values, dtype=mg.float64)).item()
    both = [float(one.sum()) for one in came if one.size == 1]
    if len(both) == 2 and kit.close(both[0], value) and kit.close(both[1], right[0] @ vector):
        why = "That is the result of `f`: its value, and v · gradient. Asked for is the same of its gradient."
        return Wrong("of-the-result", expected, got, why=why, look="what you give to `unpack_dual`")
    return Wrong("other-pair", expected, got, look="what goes into `make_dual`, into `grad`, and into `unpack_dual`")


chapter.lock()
