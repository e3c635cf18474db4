"""The checks of chapter 12, "Which way round?"."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import cards, functions, graphs, kit, observe, tools
from exercises.checks.adversaries import text, trial
from exercises.checks.functions import elementwise
from exercises.checks.kit import Wrong, call, show
from exercises.checks.sandbox import clip
from minigrad.autograd import Function
from minigrad.autograd.dual import dual_levels
from minigrad.autograd.engine import GraphTask
from minigrad.autograd.forward_ad import dual_level, make_dual, unpack_dual

chapter = kit.Chapter(__name__, "12", "Which way round?")
_AFTERWARDS = {"grad between": "the text asks how `.grad` is afterwards"}


# --- What several exercises share ----------------------------------------------------------------

_FORWARD = tools.reasons("""
no-level: no level exists
    `make_dual` needs a level to put the tangent in.
    look: each `make_dual`: is it needed here, and does it stand inside of `with dual_level():`?
nested: Nested forward mode
    A level was entered inside of another one. There is one level at a time.
    look: each `dual_level()`, and what is called inside of it
no-jvp: implement the jvp function (M52)
    A tangent came to a Function that has no `jvp`. Its `backward` is of no use there: the way forward is another one.
    look: the methods of the Function, or, if it is not yours, the other way round
dual-of-dual: already has a forward gradient
    A tensor that has a tangent was given another one.
    look: each `make_dual`: what is given to it?
no-history: does not require grad and does not have a grad_fn
    A walk starts from something that has no history.
    look: what each walk starts from, the options and factors of the one before it, and the modes around them
not-used: not have been used
    No way leads from what you differentiate to the tensor that you ask for.
    look: what each walk starts from, and for which tensor it asks: a copy may have no part in it
""")


def _called(function: Callable, inputs: tuple, expected: str, *reasons: tools.Reason) -> Any:
    """The learner's function on our inputs, with the errors that any push may raise."""
    walks: list = []
    try:
        return observe.called_noting(walks, function, inputs, expected, *reasons, *_FORWARD)
    except Wrong as wrong:
        if wrong.verdict.code == "no-history" and walks and walks[-1] == tools.RETAINS:
            wrong.verdict.belief = "M14"
        raise


def _calls(function: Callable, inputs: tuple) -> list:
    """The calls that a function makes when it runs once more, as (name, first argument)."""
    with contextlib.suppress(Exception), kit.sandbox.quiet():
        return observe.calls_in(lambda: function(*inputs))
    return []


def _named(rows: tuple, came: Any, expected: str, got: str = "", look: str = "") -> Wrong:
    """The diagnosis of the first row whose value came, None for any: code (belief), value, why, a look of its own."""
    row = next(row for row in rows if row[1] is None or tools.same(came, row[1]))
    code, _, belief = row[0].rstrip(")").partition(" (")
    return Wrong(code, expected, got or _shown(came), belief=belief, why=row[2], look=(*row[3:], look)[0])


def _shown(values: Any, right: Any = ()) -> str:
    off = f", off by up to {np.abs(values - right).max():.2g}" if np.shape(values) == np.shape(right) else ""
    return text(values) if np.size(values) <= 9 else f"a tensor of shape {np.shape(values)}{off}"


def _pushed(f: Callable, inputs: tuple, tangents: tuple) -> np.ndarray:
    """The tangent of a result, zeros if it has none: what an answer is compared with."""
    with dual_level():
        pairs = zip(inputs, tangents, strict=True)
        result = f(*[x if t is None else make_dual(x.detach().clone(), t.detach().clone()) for x, t in pairs])
        tangent = unpack_dual(result).tangent
        return np.zeros(result.shape) if tangent is None else tools.array(tangent)


def _jacobian(f: Callable, values: Any) -> np.ndarray:
    """J by pushes: a column for each input."""
    x = mg.tensor(values, dtype=mg.float64)
    return np.stack([_pushed(f, (x,), (t,)) for t in mg.eye(len(x), dtype=mg.float64)], 1)


def _no_tangent(function: Callable, inputs: tuple, expected: str, got: str) -> Wrong:
    """The diagnosis for None where a tangent belongs: `unpack_dual` stands nowhere, inside of a level, or too late."""
    inside, places = False, set()
    for name, _ in _calls(function, inputs):
        inside = name == "enter_dual_level" or (inside and name != "exit_dual_level")
        places |= {inside} if name == "unpack_dual" else set()
    if not places or kit.returns_nothing(inspect.unwrap(function)):
        look = "whether a `return` is missing, and what it gives back" if got == "None" else "what that is made from"
        return Wrong("none", expected, got, look=look)
    if places == {False}:
        why = "`unpack_dual` stands where the level is over: it gives None there, whatever it is given."
        return Wrong("no-tangent", expected, got, belief="M55", why=why, look="where `unpack_dual` stands")
    why = "If it comes from `unpack_dual`, what was unpacked has no tangent there."
    look = "what goes into `f`, the modes around it, what is unpacked, and where, and the `return`"
    return Wrong("no-tangent", expected, got, why=why, look=look)


def _tensor(function: Callable, inputs: tuple, expected: str, *reasons: tools.Reason) -> np.ndarray:
    """The numbers of the tensor that the learner's function returns."""
    given = _called(function, inputs, expected, *reasons)
    if isinstance(given, tuple) and hasattr(given, "tangent"):
        why = "`unpack_dual` returns a pair: the value, and its tangent."
        raise Wrong("whole-pair", expected, show(given), why=why, look="what you return: which part of the pair?")
    if given is None:
        raise _no_tangent(function, inputs, expected, "None")
    return tools.array(tools.result(given))


def _identical(came: np.ndarray, right: mg.Tensor) -> bool:
    return np.array_equal(came, tools.array(right), equal_nan=True)


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
            at = f"at {values.tolist()}" if isinstance(one, mg.Tensor) else f"with {show(one, 60)}"
            self.elsewhere = self.elsewhere or clip(at, 70)
        is_dual = bool(dual_levels) and dual_levels[0].tangent(one) is not None
        self.was_plain &= not is_dual
        before = [tools.array(tensor) for tensor in self.owned]
        result = self.f(one)
        self.wrote += [(one, is_dual) for one, was in zip(self.owned, before, strict=True) if not _identical(was, one)]
        return result

    def refuse_steps(self, name: str = "x") -> None:
        """Say that the function was called elsewhere, if it was."""
        if self.elsewhere:
            expected = f"each call of `f` is with a tensor that holds the numbers of `{name}`, {self.place.tolist()}"
            why = f"What is asked for is about the place `{name}`, and exact."
            raise Wrong("nudged", expected, f"a call {self.elsewhere}", why=why, look="what `f` is given, each time")


def _doubling(**ways: Callable) -> Callable:
    """A Function that doubles, with these ways back and forth."""
    methods = {name: staticmethod(way) for name, way in ways.items()}
    double: Any = type("Double", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2), **methods})
    return double.apply


_double = lambda ctx, moved: moved * 2  # noqa: E731
_no_way_back, _no_way_forth = _doubling(jvp=_double), _doubling(backward=_double)


def _locked(tensor: mg.Tensor) -> mg.Tensor:
    """A copy that nobody can write into."""
    copy = tensor.detach().clone()
    copy._array.flags.writeable = False
    return copy


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
    looks = {name: f"the slope of what line {name} computes, and what moves in it, by how much" for name in truth}
    looks |= {"E": "what `x.item()` returns", "G": "on which side of the block line G stands"}
    kit.predicted(answer, truth, _MOVES, "a number or None", looks)
    return "A tangent goes wherever a dual tensor goes, and is gone where the value alone goes on, or the level ends."


_MOVES = kit.patterns("""
slope-alone: A=6, D=6 or B=1 or C=3
    That is the slope. But `x` moves by 10, and the result by 10 times the slope.
    look: the second argument of `make_dual`
value: A=9 or B=7 or C=9 or D=9 or E=6 or F=6 or G=9
    That is the value of the result. Asked for is how much it moves.
    look: which part of the pair `.tangent` is
after-the-nudge: A=69 or A=169 or B=17 or C=39 or D=69 or D=169
    That is the value after the nudge, exact or by the slope. The tangent is by how much it moves, by the slope.
    look: what section 2 calls a tangent
none-moves: A=None or A=0
    `x` moves by 10, whether it requires grad or not: `make_dual` has given it a tangent.
    look: what each operation on `x` makes of its tangent, and on which side of the block each result is unpacked
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
zero-for-none: E=0 or G=0
    0 would be a tangent, and here is none at all.
    look: what `x.item()` returns, and on which side of the block line G stands
steps-are-flat: F=20
    20 is the tangent of 2 · x. Between its steps `round` is flat: its slope is 0.
    look: the curve of `round`
none-for-zero: F=None
    `round` is an operation like others: its slope is 0, and 0 · 20 is a tangent.
    look: the curve of `round`, and what a slope of 0 makes of a tangent
stays: G=60 (M55)
    The tangent was there inside of the block. When the level ends, all of its tangents are gone.
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
    looks = dict.fromkeys(truth, "how many columns and rows J has in this line, and what one push gives, or one walk")
    looks["F"] = "how section 6 gets H · v, and how often it walks"
    kit.predicted(answer, truth, _TURNS, "a number", looks)
    return "A push for each column, a walk for each row: whoever wants all of J counts inputs and results first."


_TURNS = kit.patterns("""
swapped: A=1500, B=10
    A push gives a column, one for each input. A walk gives a row, one for each result.
    look: the two functions `by_columns` and `by_rows`
walks-always: A=1500, B=1500 (M53)
    1500 turns are 300 walks, a row each. Pushes give columns, and there are two.
    look: what one push gives
walks-of-inputs: B=10
    A walk gives one row of J: all slopes of one result. There are 300 results.
    look: what one walk gives
forward-too: C=10, D=10
    10 are two times five turns. One walk is enough, and it has five: those of the forward before it do not count.
    look: the question: it asks for the turns in a push, and in a walk
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
    That is twice five turns, or 300 times five. One product is one push, or one walk, and J need not be built.
    look: what one push gives, and what one walk, and which turns the question counts
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
        expected = "({:.4g}, {:.4g})".format(*right)
        given = tools.called(answer, (p, q), expected, *_BY_ZERO)
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise Wrong("type", f"a pair, such as {expected}", show(given), look="what you return: two numbers")
        used = [first for _, first in _calls(answer, (p, q))]
        if any(isinstance(one, mg.Tensor) for one in (*given, *used)):
            raise Wrong(
                "tensors", "plain numbers alone", "tensors on the way, or in the end", look="what you compute with"
            )
        came = kit.a_number(given[0], "the value"), kit.a_number(given[1], "the tangent")
        if not kit.close(came[0], right[0], 1e-12):
            raise Wrong("other-value", f"the value {right[0]}", f"{came[0]} for {p} and {q}", look="the first number")
        if not kit.close(came[1], right[1], 1e-12):
            raise _wrong_quotient(came[1], right[1], p, q)
    return "Value and tangent in one step: what every operation of forward mode does."


_PAIRS = (
    ((6.1, 2.0), (4.0, 0.7)),
    ((5.0, 1.0), (-2.0, 4.0)),
    ((0.0, 3.0), (4.0, 7.0)),
    ((7.0, 3.0), (2.0, 0.0)),
    ((7.0, 0.0), (2.0, 3.0)),
    ((1.0, 2.0), (1e-150, 1.0)),
    ((7, 2), (-3, 5)),
)
_BY_ZERO = tools.reasons("""
quotient-of-tangents: division by zero
    You divide by something that is 0 here. Tangents may be 0, the value of p too, and a power of a tiny number.
    look: what you divide by: the value of q itself is never 0
""")


def _wrong_quotient(came, right, p, q):
    (a, da), (b, db) = p, q
    digits = 4 if f"{came:.4g}" != f"{right:.4g}" else 17
    expected, got = f"the tangent {right:.{digits}g}", f"{came:.{digits}g} for {p} and {q}"
    rows = (
        ("other-sign", -right, "The size is right, and the sign is the other one."),
        ("plus", (da * b + a * db) / b**2, "That is the sum of two parts. A larger divisor makes a quotient smaller."),
        ("first-alone", da / b, "That is what the nudge of p does. What that of q does is missing here."),
        ("second-alone", -a * db / b**2, "That is what the nudge of q does. What that of p does is missing here."),
        ("product", da * b + a * db, "That is the tangent of the product."),
        ("not-squared", (da * b - a * db) / b, "That is the right one times the value of q: divide once more."),
        ("not-divided", da * b - a * db, "That is the upper part of the rule, not yet divided by the square of q."),
        ("quotient-of-tangents", da / (db or np.nan), "The tangent of a quotient is no quotient of tangents."),
        ("difference", da - db, "That is the tangent of a difference."),
        ("other-tangent", None, "", "what each nudge does alone, added up, with no rounding, no steps, no case for 0"),
    )
    if came == 0 or math.isclose(came, right, rel_tol=1e-2):  # it may be like one of these by chance
        rows = rows[-1:]
    return _named(rows, came, expected, got, "what the quotient does if only one of the two moves")


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The tangent that gets lost",
    kind="fix",
    points=2,
    beliefs=("M17", "M55", "M56"),
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
    for kind, (f, values, nudge) in itertools.product((_KINDS[0], _locked, *_KINDS[1:]), _MOVED):
        x, t = (kind(tools.constant(numbers)) for numbers in (values, nudge))
        right = _pushed(f, (x,), (t,))
        expected, watched = _shown(right), _Watched(f, values, x, t)
        came = _tensor(answer, (watched, x, t), expected, *_MOVED_ERRORS)
        _refuse_shared(answer, watched, "x", x, values)
        _refuse_shared(answer, watched, "t", t, nudge)
        watched.refuse_steps()
        if not tools.same(came, right):
            raise _wrong_moved(came, right, f, x, t)
    return "It is unpacked while the level lasts, and what `f` overwrites are clones."


# What is given may be untracked, a leaf, or a result; here also in memory that nobody can write into, and put back.
_KINDS = (lambda one: one, lambda one: one.requires_grad_(), lambda one: one.requires_grad_() * 1)
_SAME_MEMORY = "^(asarray|contiguous|data|detach|from_numpy|numpy|reshape|to|view|view_as)$"
_MOVED_ERRORS = tools.reasons("""
written: read-only
    Something writes into memory that is read-only. In some calls `x` and `t` are, so that what is undone is seen, too.
    look: what you give to `make_dual`, and to `f`, and each line of yours that writes
in-place-on-leaf: a leaf Variable that requires grad
    An operation in place, which may be one of `f`, came to a leaf that requires grad, or a view: autograd refuses that.
    look: the line named above, and what goes into `f`: a copy that requires grad has to be a result, as of `clone()`
""")
_GIVEN_MOVED = """
def moved(f, x, t):
    with dual_level():
        y = f(make_dual(x, t))
    return unpack_dual(y).tangent
"""
_MOVED = (
    (lambda x: x * x.sum(), [2.1, 5.0], [1.1, 10.0]),
    (lambda x: x.mul_(x).add_(1), [2.0, 5.0], [1.0, 10.0]),
    (lambda x: (x.mul_(3) ** 2).sum(), [1.0, -2.0, 0.5], [0.0, 1.0, 4.0]),
    (lambda x: mg.exp(x).mul_(x), 0.5, -2.0),
    (lambda x: mg.sin(x).sum(0), [[0.5, 1.0], [-1.0, 2.0]], [[1.0, 3.0], [0.5, -2.0]]),
    (lambda x: x.mul_(x), [0.0, 0.0], [0.0, 0.0]),
)


def _refuse_shared(answer: Callable, watched: _Watched, name: str, tensor: mg.Tensor, values: list) -> None:
    """`f` works in place: what was given to `make_dual` must not have been the caller's own."""
    if not tools.same(tools.array(tensor), values):
        expected, got = f"`{name}` = {values}, as before", f"`{name}` = {_shown(tools.array(tensor))}"
        by_f = [is_dual for one, is_dual in watched.wrote if one is tensor]
        why, look = f"Your caller's `{name}` has changed.", f"each line of yours that changes `{name}`"
        if by_f:
            why = f"`f` works in place, and has written into your caller's `{name}`: it was given the same memory."
            look = f"what you give to `make_dual`, and to `f`: `{name}` itself, or something on its memory?"
        code, belief = ("shared", "M56") if any(by_f) else ("changed", "")
        if belief and observe.mentions(inspect.unwrap(answer), _SAME_MEMORY):  # that was to copy, not `make_dual`
            calls = _calls(answer, (watched.f, *watched.owned))
            detaches = any(called == "detach" and one is tensor for called, one in calls)
            belief = "M17" * (detaches and not observe.mentions(inspect.unwrap(answer), "^clone$"))
        raise Wrong(code, expected, got, belief=belief, why=why, look=look)


def _wrong_moved(came, right, f, x, t):
    look, made = "what you return: which part of the pair?", "what you return, and what it is made from"
    rows = (
        ("value", tools.array(f(x.detach().clone())), "This is the value. Asked for is how much it moves.", look),
        ("nudge", tools.array(t), "This is `t`, which is the tangent of `x`. Asked for is that of `f(x)`.", made),
        ("ones", _pushed(f, (x,), (mg.ones_like(t),)), "This is for a nudge of ones. It is to be `t`.", "the nudge"),
        ("other-tangent", None, "", "where `t` goes in, what comes out, and what you make of it"),
    )
    return _named(rows, came, _shown(right))


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
    y = tools.result(_called(answer, (x,), "a tensor"))
    own = tools.leaf(2.0)
    if not (y.requires_grad and mg.viz.difference(3 * own * own, y, view="kept").same):
        raise _wrong_climb(y)
    if not graphs.reaches(y, x):
        raise Wrong("other-leaf", "a graph that ends in the `x` of the call", show(y), look="whether that is your `x`")
    for value in (2.0, -1.6, 0.0, [0.5, -3.0]):
        x = tools.constant(value)
        right = 6 * tools.array(x)
        came = _pushed(lambda x: answer(x.requires_grad_()), (x,), (mg.ones_like(x),))
        if not tools.same(came, right):
            why = "Boxes and arrows are those of the picture. But the tangent is another one."
            expected, got = (f"a tangent of {_shown(one)} at x = {value}" for one in (right, came))
            look = "the number in `b`: is it the same for any `x`, and by how much does `b` move if `x` does by 1?"
            look = look if came.shape == right.shape else "the shape of what `x` is multiplied by"
            trial.forget_last()
            raise Wrong("other-number", expected, got, why=why, look=look)
    return "The boxes give the operations away, and the tangents the numbers in them."


def show_target(name):
    """Show the picture that an exercise asks for: show_target("climb")."""
    if name != "climb":
        return cards.display(cards.notice_card('There is a picture for "climb".'))
    with dual_level():
        x = make_dual(mg.tensor(2.0), mg.tensor(1.0)).requires_grad_()
        b = 3 * x
        b.retain_grad()
        y = b * x
        cards.display(mg.draw(y, params={"x": x, "b": b, "y": y}, values=False, grads=False))


def _wrong_climb(y):
    made_of = graphs.operations(y) if y.requires_grad else []
    got = f"a graph with {tools.listed(made_of)}" if made_of else "a tensor without a graph"
    boxes = "each operation of yours on a tensor: the picture has a box for two of them"
    cut = "what you return, and each `detach`, `item`, `no_grad` and `mg.tensor` in your function"
    one = "There is one multiplication in your graph. In the picture there are two."
    other = "In the picture one box was given `x` and a number, the other what comes of that, and `x`."
    rows = (
        ("no-graph", not made_of, "Your result has no node.", cut),
        ("one-box", made_of == ["mul"], one, "what `b` and `y` are made from, and whether both steps are recorded"),
        ("other-box", set(made_of) != {"mul"}, "In the picture both boxes multiply, and no others are there.", boxes),
        ("other-graph", len(made_of) > 2, "In the picture there are two multiplications.", boxes),
        ("other-graph", len(graphs.leaves(y)) > 1, "In the picture there is one leaf.", "what of yours requires grad"),
        ("other-graph", None, other, "what each of the two boxes was given, and whether that is recorded"),
    )
    return _named(rows, True, "the graph in the picture above", got)


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
    pushes = observe.mentions(answer, "^jvp$") or kit.says(answer, "create_graph")  # each of them made of walks
    several = kit.says(answer, "retain_graph") or observe.mentions(answer, "^(jacobian|is_grads_batched)$")
    walked = _WALKED if several and not pushes else replace(_WALKED, belief="")
    for (f, values), kind in zip(_JACOBIANS, itertools.cycle(_KINDS)):
        x, watched = kind(tools.constant(values)), _Watched(f, values)
        right = _jacobian(f, values)
        expected = f"J, of shape {right.shape}" + f": {text(right)}" * (right.size <= 9)
        came = _tensor(answer, (watched, x), expected, walked, _NONE_KEPT)
        watched.refuse_steps()
        if not tools.same(came, right):
            raise _wrong_columns(came, right, expected, tools.array(f(x.detach().clone())))
        if watched.calls > len(values) + 2 and not trial.circumstances:
            why, got = "J is right. But one push gives a whole column.", f"{watched.calls} calls of `f`"
            raise Wrong("too-many", f"{len(values)} pushes", got, why=why, look="each call of `f`")
    return "A push for each input: two of them for a result of any length."


_JACOBIANS = (
    (lambda x: mg.stack([x[0] * x[1], _no_way_back(x[0]) + x[1], x[1] ** 3]), [2.0, 5.0]),
    (lambda x: mg.sin(_no_way_back(x) * mg.arange(1.0, 41.0, dtype=x.dtype)), [0.3]),
    (lambda x: _no_way_back(x).cumsum(0) * x.sum(), [1.0, -2.0, 0.0, 3.0]),
    (lambda x: (_no_way_back(x) ** 2).sum().reshape(1), [1.0, 0.0, 0.5]),
    (lambda x: x, [0.0, 0.0]),
)
_WALKED, _NONE_KEPT = tools.reasons("""
walked: implement either the backward (M53)
    Somewhere in your function a walk went back, and `f` has an operation that cannot. A push needs no way back.
    (`functional.jvp` walks, too, as does `functional.jacobian` if you do not tell it otherwise.)
    look: each `grad`, `backward` and `functional`
none-kept: NoneType
    None came where something else belongs. What has no tangent gives None in `unpack_dual`, as all does where the level
    is over; and a list's `append` returns None.
    look: the line named above: what in it is None, and where that was made
""")


def _wrong_columns(came, right, expected, values):
    kept, made = "how many pushes there are, and what of each you keep", "how the columns are put together"
    of_f = np.stack([values] * right.shape[1], 1) if values.any() else np.nan  # zeros are no evidence
    same, near = tools.same(came.ravel(), right.ravel()), came.shape == right.shape and np.allclose(came, right, 1e-3)
    other = "the nudge of each push, what comes out, whether it stays as it is until the end, and how J is made of it"
    rows = (
        ("transposed", right.T, "The right one is this with rows and columns exchanged.", made),
        ("one-push", right.sum(1), "These are the columns, added up.", "each nudge, and what becomes of each push"),
        ("first-column", right[:, 0], "That is the first column alone.", kept),
        ("last-column", right[:, -1], "That is the last column alone.", kept),
        ("rounded", came if near else np.nan, "It is right to some digits only.", "each rounding, and each dtype"),
        ("other-jacobian", came if same else np.nan, "The numbers are right, the shape is not.", made),
        ("values", of_f, "That is the value of `f(x)`, once for each input. A column is a tangent.", kept),
        ("other-jacobian", None, "", other),
    )
    return _named(rows if right.shape[1] > 1 else rows[-4:], came, expected, _shown(came, right))


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
    for (f, values, nudge), kind in zip(_TRICKS, itertools.cycle(_KINDS)):
        x, t = tools.leaf(values), kind(tools.constant(nudge))
        watched = _Watched(lambda x, f=f: f(_no_way_forth(x)), values)
        right = _jacobian(lambda x, f=f: f(2 * x), values) @ np.array(nudge)
        expected = f"J · t = {_shown(right)}"
        came = _tensor(answer, (watched, x, t), expected, *_TRICK_ERRORS)
        watched.refuse_steps()
        if not tools.same(came, right):
            raise _wrong_trick(came, right, f, values, nudge, expected)
        _refuse_more_walks(answer, (watched, x, t))
    return "A walk is linear in what it starts with, and its slopes are J: two walks make a push."


_TRICKS = (
    (lambda x: mg.stack([x[0] * x[1], x[0] + x[1] ** 2, 3 * x[1]]), [2.0, 5.0], [1.1, 10.0]),
    (lambda x: mg.exp(x).cumsum(0), [0.0, 0.0, 0.0], [3.0, 0.5, -2.0]),
    (lambda x: mg.exp(x), [0.5, -1.0, 0.0], [3.0, 0.5, -2.0]),
    (lambda x: mg.sin(x[0] * mg.arange(1.0, 21.0, dtype=x.dtype)), [0.3, 1.0], [2.0, -5.0]),
    (lambda x: x * x[0], [0.5, 0.0], [0.0, 0.0]),
)
_TRICK_ERRORS = tools.reasons("""
no-factors: only for scalar outputs
    A result with several numbers was walked back from without factors.
    look: the factors of each of the two walks
second-time: a second time
    A graph was walked twice, and the first walk has freed it.
    look: the options of each `grad`
other-factors: Mismatch in shape
    The factors of a walk have the shape of what it starts from: of `y` in the first, of `x` in the second.
    look: the factors of each of the two walks
""")


def _wrong_trick(came, right, f, values, nudge, expected):
    jacobian = _jacobian(lambda x: f(2 * x), values)
    rows, zeros = jacobian.sum(0), np.zeros(len(values)) if len(right) != len(values) else np.nan
    shape = "the shape, which is to be that of `f(x)`: what each walk starts from, and leads to"
    walks = "each of the two walks: from where, to where, by which factors; what is written into, and what you return"
    known = (
        ("jacobian", jacobian, "This is J itself. Asked for is its product with `t`.", "what you return"),
        ("zeros", zeros, "These are zeros, as many as inputs: what u · J of a first walk is for u = 0."),
        ("one-walk", rows, "These are the rows of J, added up, as one walk with ones gives them."),
        ("all-ones", jacobian.sum(1), "This is J · t for a `t` of ones.", "the factors of each walk: where is `t`?"),
        ("one-walk", rows * nudge, "These are the rows of J, added up, and multiplied by `t`."),
        ("other-product", None, "", walks) if came.shape == right.shape else ("other-shape", None, "", shape),
    )
    look = "how many walks there are, and what the second starts from, and leads to"
    return _named(known, came, expected, _shown(came, right), look)


def _refuse_more_walks(answer: Callable, inputs: tuple) -> None:
    """Two walks are enough, whatever the length of the result, and wherever a third one leads."""
    calls = [] if trial.circumstances else _calls(answer, inputs)
    walks = sum(name == "start" and type(first) is GraphTask for name, first in calls)
    if walks > 2:
        why = "The product is right. But it takes more than two walks: two are enough for all rows of J."
        raise Wrong("row-by-row", "two walks", f"{walks} walks", why=why, look="each `grad`, `backward`, `functional`")


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
    for shapes, moving in itertools.product((((4,), (4,)), ((2, 1), (3,)), ((), ())), ((1, 1), (1, 0), (0, 1))):
        _check_jvp(apply, shapes, moving)
    _check_small(apply)
    return "Two slopes, used both ways: one gradient becomes two in backward, two tangents become one in jvp."


def _check_jvp(apply: Callable, shapes: tuple, moving: tuple) -> None:
    random = np.random.default_rng([3, *shapes[0], *shapes[1]])
    numbers = [random.uniform(0.5, 2.0, s) * random.choice([-1.0, 1.0], s) for s in shapes * 2]
    numbers[0].flat[1:2] = 0.0
    numbers[3].flat[2:3] = 0.0
    a, b, ta, tb = map(tools.constant, numbers)
    tangents = (ta if moving[0] else None, tb if moving[1] else None)
    right = _pushed(lambda a, b: a / b, (a, b), tangents)
    moves = [f"{n} moves by {_shown(tools.array(t))}" for n, t in zip("ab", tangents, strict=True) if t is not None]
    expected = f"the tangent of a / b, {_shown(right)}, where {tools.listed(moves)}"
    reasons = _JVP_ERRORS if all(moving) else _JVP_ERRORS + _NONE_MOVES
    came = tools.array(_called(lambda a, b: _push_of(apply, (a, b), tangents), (a, b), expected, *reasons))
    if not tools.same(came, right):
        raise _wrong_jvp(came, right, [tools.array(one) for one in (a, b, ta, tb)], moving, expected)


def _push_of(apply: Callable, inputs: tuple, tangents: tuple) -> mg.Tensor:
    """The tangent of a Function's result, where nobody can write into its inputs and their tangents."""
    own = getattr(apply, "__self__", Function)
    if own.jvp is Function.jvp and (others := [name for name in vars(own) if not hasattr(Function, name)]):
        raise Wrong("no-jvp", "a Function with a `jvp`", tools.listed(others), look="the name of each method")
    with dual_level():
        pairs = zip(map(_locked, inputs), tangents, strict=True)
        found = unpack_dual(apply(*[x if t is None else make_dual(x, _locked(t)) for x, t in pairs])).tangent
    if found is None:
        raise Wrong("no-tangent", "a result with a tangent", "one without", look="each `detach`, `apply` and mode")
    return found


def _all_ways(apply: Callable, inputs: tuple, start: mg.Tensor, tangents: tuple) -> tuple:
    """The value, the gradient of each input, and the tangent."""
    tracked = [_locked(x).requires_grad_() for x in inputs]
    y = apply(*tracked)
    return y.detach(), *mg.autograd.grad(y, tracked, start), _push_of(apply, inputs, tangents)


def _check_small(apply: Callable) -> None:
    """Whatever is added to `a`, to `b` or to a result shows where these are small."""
    a, b, g, ta, tb = map(tools.constant, ([3e-18, -2e-18], [4e-9, -5e-9], [1.0, 0.5], [1e-9, 2e-9], [2.0, -1.0]))
    expected = f"value, gradients and tangent for a = {text(a.numpy())}, b = {text(b.numpy())}"
    came = _called(lambda a, b: _all_ways(apply, (a, b), g, (ta, tb)), (a, b), expected, *_JVP_ERRORS)
    for one, right in zip(came, _all_ways(lambda a, b: a / b, (a, b), g, (ta, tb)), strict=True):
        if not tools.same(tools.array(one / right), [1.0, 1.0]):
            why = "It is right where `a` and `b` are about as large as 1. Here they are small, and `b` is not 0."
            expected += f", one of which is {_shown(tools.array(right))}"
            look = "each number that is added to something, or that it is compared with"
            raise Wrong("other-small", expected, _shown(tools.array(one)), why=why, look=look)


_JVP_ERRORS = tools.reasons("""
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
tangent-changed: read-only
    Something writes into an input or its tangent, if only for a while. Here both are read-only, so this is noticed.
    look: the line named above, and each operation of yours that ends in `_`, each `+=` and `*=`, and each `.data`
not-saved: values to unpack
    In `jvp`, `ctx.saved_tensors` holds what `save_for_forward` was given, and nothing else.
    look: the line named above, and, if it reads `ctx.saved_tensors`, what your forward saves, and for which way
arguments-of-jvp: jvp()
    `jvp` gets `ctx`, and a tangent for each argument of forward.
    look: the `def jvp` line
no-view: is not returning a view
    Your forward returns the input itself, or a view of it, and then jvp would have to do the same with the tangent.
    look: what forward returns: make it a new tensor
""")
_NONE_MOVES = tools.reasons("""
tangent-is-none: NoneType
    It is right where both move. Here one of them does not, and something computes with None.
    look: the line named above: what in it is None? With `set_materialize_grads(False)` no zeros come instead
""")


def _wrong_jvp(came, right, numbers, moving, expected):
    a, b, ta, tb = numbers
    ta, tb = ta * moving[0], tb * moving[1]
    sign, order = "the sign of each part in your jvp", "the order of your jvp's arguments, and which slope meets which"
    with np.errstate(all="ignore"):
        quotient = ta / tb if moving[1] else np.nan
    rows = (
        ("slope-alone (M58)", 1 / b - a / b**2, "That is the sum of the slopes. Each has a tangent to go with it."),
        ("other-sign", tb * a / b**2 - ta / b, "The size is right, and the sign is the other one.", sign),
        ("other-sign", ta / b + tb * a / b**2, "The part of `b` has the other sign.", sign),
        ("first-alone", ta / b, "The part of `b` is missing here."),
        ("second-alone", -tb * a / b**2, "The part of `a` is missing here."),
        ("swapped", tb / b - ta * a / b**2, "That is the slope of each input, times the tangent of the other.", order),
        ("quotient-of-tangents", quotient, "That is one tangent divided by the other."),
        ("product", ta * b + a * tb, "That is the tangent of the product."),
        ("other-tangent", None, "", "each slope, the tangent that goes with it, and which saved tensor is which"),
    )
    return _named(rows, came, expected, look="what your jvp makes of each tangent, and how it joins the two parts")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut one way only",
    kind="cut",
    points=2,
    beliefs=("M52",),
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
    zero = functions.given("a zero among them", [0.0, -1.5])
    functions.check(answer, lambda x: x * 1, [*elementwise(), zero], second=True)
    apply = functions.apply_of(answer)
    for shape in ((), (6,), (2, 6)):
        _check_ways_of_still(apply, np.resize([3.0, 1e-20, -800.0, 0.0, math.inf, math.nan], shape))
    why = "The gradient passes, the nudge does not: the two ways are written apart, and nobody compares them."
    return why, _picture_of_still(apply)


def _check_ways_of_still(apply: Callable, numbers: np.ndarray) -> None:
    """Value, gradient and tangent to the last digit: nothing has to be computed."""
    x, g, t = (tools.constant(factor * numbers) for factor in (1, 2, -1))
    expected = f"a tangent of zeros, where that of `x` is {text(t.numpy())}"
    ways = _called(lambda x: _all_ways(apply, (x,), g, (t,)), (x,), expected, *_JVP_ERRORS)
    value, back, moved = map(tools.array, ways)
    for code, what, came, right in (("value", "values", value, x), ("gradient", "gradient", back, g)):
        if not _identical(came, right):
            expected, look = f"the same {what}, {text(right.numpy())}", "what is computed of it: nothing has to be"
            raise Wrong(f"other-{code}", expected, text(came), look=look)
    if not _identical(moved, mg.zeros_like(t)):
        passes = _identical(moved, t)
        why = "The tangent has passed as it came. The result is to stand still." * passes
        look = "the `return` of your jvp: a result that stands still has zeros"
        raise Wrong("passes" if passes else "moves", expected, text(moved), why=why, look=look)


def _picture_of_still(apply: Callable) -> Any:
    """x times itself, once through the learner's Function: both ways."""
    with dual_level():
        x = make_dual(mg.tensor(5.0), mg.tensor(1.0)).requires_grad_()
        s = apply(x)
        y = x * s
        s.retain_grad()
        y.backward()
        return mg.draw(y, view="written", params={"x": x, "s": s, "y": y})


def _refuse_detached(answer: Any) -> None:
    """A function that detaches cuts both ways."""
    result = None if isinstance(answer, type) else call(kit.a_function(answer), tools.leaf([1.0, 2.0]))
    if isinstance(result, mg.Tensor) and not result.requires_grad:
        why = "`detach()` cuts both ways. " * kit.uses(answer, "detach") + "Here the gradient is to pass."
        raise Wrong("both-ways", "a result with a history", show(result), why=why, look="the two ways of a Function")


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
    for (f, values, vector), kind in zip(_CURVED, itertools.cycle(_KINDS)):
        walks: list = []
        both_ways = _doubling(backward=lambda ctx, g, walks=walks: walks.append(g) or g * 2, jvp=_double)
        p, v = tools.leaf(values), kind(tools.constant(vector))
        watched = _Watched(lambda p, f=f, both_ways=both_ways: f(both_ways(p)), values)
        right, expected = _curvature(f, values, vector), "the gradient and H · v"
        came = _two(answer, (watched, p, v), expected, *_CURVED_ERRORS)
        watched.refuse_steps("p")
        if not all(map(tools.same, came, right)):
            raise _wrong_curved(came, right, f, values, vector)
        _refuse_second_walk(answer, len(walks), watched)
    return "One walk, with a nudge going through it: the gradient, and by how much it moves."


_CURVED = (
    (lambda p: p[0] ** 2 * p[1] + p[1] ** 3, [1.0, 2.0], [1.1, 10.0]),
    (lambda p: mg.exp(p[0] * p[1]) + mg.sin(p).sum(), [0.5, 1.0, -0.3], [-1.0, 3.0, 0.5]),
    (lambda p: (p**4).sum() / 12 + (p[1:] * p[:-1]).sum(), [2.0, -1.0, 0.0, 1.5], [5.0, 0.0, 1.0, -2.0]),
    (lambda p: mg.exp((p**2).sum()), [0.0, -0.5], [0.0, 0.0]),
)
_CURVED_ERRORS = tools.reasons("""
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


def _two(function: Callable, inputs: tuple, expected: str, *reasons: tools.Reason) -> list[np.ndarray]:
    """The numbers of the two tensors that the learner's function returns."""
    given = _called(function, inputs, expected, *reasons)
    if type(given) is mg.Tensor or given is None:
        raise Wrong("one-of-two", expected, show(given), look="what you return: the gradient, and H · v")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise Wrong("type", f"a pair: {expected}", show(given), look="what you return")
    if given[1] is None:
        raise _no_tangent(function, inputs, expected, "None for H · v")
    return [tools.array(kit.a_tensor(one, "each of the two", "the two things that you return")) for one in given]


def _refuse_second_walk(answer: Callable, walks: int, watched: _Watched) -> None:
    """Whether there was one walk, from one forward."""
    if trial.circumstances or (walks <= 1 == watched.calls and not watched.was_plain):
        return
    why, look = "Both are right. But `f` was called more often than once.", "each call of `f`"
    if watched.was_plain or walks > 1:
        look = "section 6, forward over reverse"
        why = "Both are right, by more than one walk. The gradient of a dual tensor's function has a tangent: H · v."
    walked = "a walk over the walk" if watched.was_plain else f"{walks} walk{'s' * (walks != 1)}"
    got = f"{walked}, from {watched.calls} call{'s' * (watched.calls != 1)} of `f`"
    belief = "M57" * (watched.was_plain and not kit.uses(answer, "hessian"))
    raise Wrong("two-walks", "one walk, from one call of `f`", got, belief=belief, why=why, look=look)


def _wrong_curved(came, right, f, values, vector):
    expected, got = (f"{_shown(one)} and {_shown(other)}" for one, other in (right, came))
    (slope, product), value = right, f(2 * mg.tensor(values, dtype=mg.float64)).item()
    times_v, along = _flat(slope, slope * vector), _flat(value, slope @ vector)
    ones, all_came = _flat(slope, _curvature(f, values, [1.0] * len(values))[1]), _flat(*came)
    is_right = [tools.same(one, other) for one, other in zip(came, right, strict=True)]
    of_f = "That is the result of `f`: its value, and v · gradient. Asked for is the same of its gradient."
    first, second = (f"what the {one} of the two is made from" for one in ("first", "second"))
    rows = (
        ("other-pair", _flat(*right), "The numbers are right, the shapes are not.", "what changes a shape in the end"),
        ("swapped", _flat(product, slope), "Gradient and H · v are in each other's place.", "the order of the two"),
        ("ones", ones, "The second one is H · v for a `v` of ones.", "where `v` goes in"),
        ("tangent-of-input", _flat(slope, vector), "The second one is `v` itself.", second),
        ("gradient-twice", _flat(slope, slope), "Both are the gradient.", second),
        ("times-slope", times_v, "The second one is the gradient times `v`, entry by entry.", second),
        ("of-the-result", along, of_f, "what you unpack"),
        ("other-pair", all_came if is_right[0] else np.nan, "The gradient is right, H · v is not.", second),
        ("other-pair", all_came if is_right[1] else np.nan, "H · v is right, the gradient is not.", first),
        ("other-pair", None, "", "where `p` and `v` go in, what you differentiate, what each of the two is made from"),
    )
    return _named(rows, all_came, expected, got)


def _flat(*parts: Any) -> np.ndarray:
    return np.concatenate([np.ravel(one) for one in parts])


chapter.lock()
