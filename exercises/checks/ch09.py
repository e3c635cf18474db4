"""The checks of chapter 09, "How do I differentiate a derivative?"."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, functions, graphs, kit, observe, tools
from exercises.checks.functions import elementwise, tensors
from exercises.checks.kit import Wrong, call, show
from exercises.checks.targets import Targets
from minigrad.autograd.function import FunctionNode

chapter = kit.Chapter(__name__, "09", "How do I differentiate a derivative?")


# --- What several exercises share ----------------------------------------------------------------


_NO_HISTORY = "does not require grad and does not have a grad_fn"
_RETAINED, *_ERRORS = tools.reasons(f"""
retained: {_NO_HISTORY} (M14)
    What you go backward from has no history: `retain_graph=True` keeps a graph, and does not record the walk back.
    look: the options of each `grad` and `backward`
no-history: {_NO_HISTORY}
    What you go backward from has no history: no recorded operation has made it.
    look: how it was made: the options of each walk, each `no_grad`, `detach` and `item`, and from which tensors
second-time: a second time
    A walk has freed a graph that is still needed.
    look: the options of each `grad` and `backward`, and how often you walk
not-used: not have been used
    No way leads from what you differentiate to the tensor that you ask for.
    look: what you differentiate: was it made from the tensor itself that you ask for, and no copy, and was it recorded?
""")
_TUPLE = "A tuple came where none fits. `grad` returns one, with a gradient for each input."
_UNPACKED = "where the tuple comes from, and how the chapter unpacks what `grad` returns: `(slope,) = ...`"
_TUPLES = tuple(
    tools.Reason(message, "tuple-of-grad", _TUPLE, _UNPACKED)
    for message in ("'tuple' and", "not tuple", "can be converted to an index")
)


def _called(function: Callable, inputs: tuple, expected: str, *reasons: tools.Reason) -> Any:
    """The learner's function on our inputs, with the errors that any derivative of a derivative may raise."""
    again = observe.anew(inputs)
    try:
        return kit.call(function, *inputs)
    except Wrong as wrong:
        is_tuple = "tuple" in wrong.message or observe.has_tuple(wrong.__context__)
        known = (*reasons, *_ERRORS, *_TUPLES * is_tuple)
        if _NO_HISTORY in wrong.message and _NO_HISTORY not in str(observe.with_recorded_walks(function, *again)):
            known = (_RETAINED,)
        reason = next((one for one in known if one.message in wrong.message), None)
        raise reason.wrong(expected, wrong.verdict.got) if reason else wrong from None


def _word(value: Any) -> str | None:
    """A predicted number, "error" or None as a word, so that all can stand in one prediction; None for all else."""
    value = kit.plain(value)
    try:
        return None if isinstance(value, bool) else f"{float(value):.4g}"
    except (TypeError, ValueError, OverflowError):
        said = value if isinstance(value, str) else "none" if value is None else ""
        return {"error": "error", "raises": "error", "runtimeerror": "error", "none": "None"}.get(said.strip().lower())


def _predicted(answer: Any, truth: dict[str, str], patterns: tuple, looks: dict[str, str]) -> None:
    """Compare predictions that are numbers or "error"."""
    given = {name: _word(value) for name, value in kit.a_dict(answer, truth).items()}
    for name, word in given.items():
        if word is None:
            raise Wrong("kind", f'`{name}` is a number or "error"', show(answer[name]), look=f"the value of `{name}`")
    try:
        kit.predicted(given, truth, patterns, 'a number or "error"', looks)
    except Wrong as wrong:
        wrong.verdict.got = wrong.verdict.got.replace("'", "")  # a number was made a word, to be compared
        raise


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Does the second walk work?",
    kind="predict",
    points=2,
    beliefs=("M14", "M15"),
    hints=(
        "Ask of each line: does the inner `first` return a tensor with a `grad_fn`?",
        "Only `create_graph=True` gives one, and only if the slope moves with `x`.",
        "In D and E the first graph is freed. 3x² was made from `x`, the slope of `exp` from the result of `exp`.",
    ),
    idea="A and B raise: nothing was recorded. C is 6 · 3. D is the same, since its new graph leads to `x` directly. "
    "E leads through the node of `exp`, which has been freed. F raises: the slope 5 has no history.",
)
def twice(answer):
    truth = {"A": "error", "B": "error", "C": "18", "D": "18", "E": "error", "F": "error"}
    looks = {name: f"line {name}: what the inner `first` returns, and what the outer one makes of it" for name in truth}
    _predicted(answer, truth, _TWICE, looks)
    return "create_graph records the walk. What the second walk needs of the first graph must not have been freed."


_TWICE = kit.patterns("""
retain-is-enough: A=error, B="18" (M14)
    `retain_graph=True` keeps the graph of x³. The walk that computes 3x² is not recorded.
    look: what the inner `first` returns in line B: does it have a `grad_fn`?
always-recorded: A="18"
    Without `create_graph=True` nothing of the walk back is recorded.
    look: what the inner `first` returns in line A: does it have a `grad_fn`?
freed-breaks: C="18", D=error, E=error (M15)
    The first graph is freed. But the second one has kept `x` for itself, and leads to it directly.
    look: the picture of x³ and its slope: where does the thick arrow end?
first-not-second: C="27" or D="27"
    27 is the first derivative, 3x². Lines C and D differentiate it once more.
    look: how often `first` is called in the line
first-not-second: F="5"
    5 is the first derivative. Line F asks for its slope.
    look: how often `first` is called in line F, and whether a 5 has a history
third: C="6"
    6 is the third derivative. Line C differentiates twice.
    look: how often `first` is called in line C
result-freed: E="20.09"
    That is e³, and the formula is right. But the slope was made from the result of `exp`, whose node has been freed.
    look: the picture of `exp` and its slope: where does the thick arrow end?
zero-without-history: F="0"
    The second derivative of 5x is 0. But the slope 5 was made from nothing tracked, and `grad` refuses it.
    look: the derivatives of x⁴ in the chapter, and where they end
none-without-history: F="None"
    `grad` gives None only where you allow it. Asked to start from a 5 that has no history, it refuses.
    look: what `grad` said of a plain slope in section 1
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "What is in `.grad`?",
    kind="predict",
    points=2,
    beliefs=("M08", "M16"),
    hints=(
        "The derivatives of x³ at 3 are 27 and 18. Which calls put something into `.grad`?",
        "`backward` adds to `.grad`, whatever it differentiates. `grad` returns, and stores nothing.",
        "Before F, `.grad` was cleared: what is added to it starts anew.",
    ),
    idea="27, then 27 + 18. `grad` stores nothing: None. Then 18, and 18 + 27. In the last program the first "
    "derivative is taken out before the second is added: 18.",
)
def both(answer):
    truth = {"A": 27.0, "B": 45.0, "C": None, "D": 18.0, "E": 45.0, "F": 18.0}
    looks = {name: f"what `.grad` holds before line {name}, what it computes, and where that goes" for name in truth}
    kit.predicted(answer, truth, _BOTH, "a number or None", looks)
    return "backward() adds first and second derivatives into one `.grad`; autograd.grad keeps them apart."


_BOTH = kit.patterns("""
second-alone: A=27, B=18 (M16)
    The second derivative is 18. But `backward()` adds it to what is there, and there is the first one.
    look: what `x.grad` holds before line B
unchanged: A=27, B=27
    `x.grad` has a history, so it can go backward, and what comes arrives in `x.grad` itself.
    look: which leaf the history of `x.grad` leads to
grad-stores: C=27
    `autograd.grad` returns the 27, and leaves `.grad` alone.
    look: where line C puts its result
zero-for-none: C=0
    0 would be a gradient. Into `w.grad` nobody has put any yet.
    look: where line C puts its result
first-in-d: D=27
    Line D goes backward from the slope, not from w³: it computes the second derivative.
    look: what line D goes backward from
sum-in-d: D=45
    Nothing was in `w.grad` before line D: `autograd.grad` does not fill it.
    look: what line D goes backward from, and what it is added to
overwritten: D=18, E=27 (M08)
    `backward()` adds its 27 to the 18 of line D.
    look: what `w.grad` holds before line E
not-cleared: F=45
    `v.grad` was cleared before. What line F adds is all that is there.
    look: the line above F
cleared-for-good: F=None
    To clear `v.grad` does not touch the graph of `slope`. Line F goes backward through it, and fills `v.grad` again.
    look: what still holds the first derivative, with its history
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The first n derivatives",
    kind="write",
    points=2,
    beliefs=("M14", "M16"),
    hints=(
        "Each derivative is made from the one before: a loop, as in section 2 of the chapter.",
        "`(y,) = mg.autograd.grad(y, x, create_graph=True)`, n times. What if `y` has no history?",
        "`y.requires_grad` says whether it has one. Without, all further derivatives are `mg.zeros_like(x)`.",
    ),
    idea="Start with `y = f(x)`. In each turn `y` becomes `grad(y, x, create_graph=True)[0]`, or `mg.zeros_like(x)` "
    "if `y.requires_grad` is False. Append it.",
)
def derivatives(answer):
    kit.a_function(answer)
    for f, value, right in _DERIVATIVES:
        _check_derivatives(answer, f, value, right)
    return "Each derivative is the gradient of the one before, and a constant has a gradient of zero."


_DERIVATIVES: tuple[tuple[Callable, Any, list[float]], ...] = (
    (lambda x: x**4, 1.5, [4 * 1.5**3, 12 * 1.5**2, 24 * 1.5]),
    (lambda x: mg.exp(2 * x) * x, 0.5, [np.e * 2 ** (k - 1) * (k + 1) for k in range(1, 7)]),
    (lambda x: x**3 * 1.5, [2.0], [18.0, 18.0, 9.0, 0.0, 0.0]),
    (lambda x: 3 * x, 1e30, [3.0, 0.0, 0.0]),
    (lambda x: mg.sin(x), 0.3, [np.cos(0.3)]),
    (lambda x: mg.sin(x), 0.0, [1.0, 0.0, -1.0]),
    (lambda x: -x, 2.0, [-1.0, *[0.0] * 149]),
    (lambda x: x, 3.0, [1.0, 0.0]),
    (lambda x: (3 * x).sum(), [4.0], [3.0, 0.0, 0.0]),
    (lambda x: x * x, 3.0, []),
)


def _check_derivatives(answer, f, value, right):
    x = tools.leaf(value)
    expected = f"{len(right)} derivatives"
    given = _called(answer, (f, x, len(right)), expected, *_ENDS_EARLY * (right[-1:] == [0]))
    if not isinstance(given, list | tuple) or len(given) != len(right):
        got = f"one of {len(given)}" if isinstance(given, list | tuple) else show(given)
        raise Wrong("type", f"a list of {expected}", got, look="what you return: what kind, and how much is in it")
    if any(one is None for one in given):
        raise Wrong("none", "a tensor for each derivative", show(given), look="where each None comes from")
    came = [float(tools.array(kit.a_tensor(one, "each derivative", "what is in the list")).sum()) for one in given]
    if not all(map(kit.close, came, right)):
        start = f(tools.constant(value)).item()
        wrong = tools.of_value(_OTHER_DERIVATIVES, came, tools.text(right), tools.text(came), right=right, start=start)
        raise tools.if_seen(kit.uses(answer, "backward") and not tools.same(came, np.cumsum(right)), wrong)
    if any(one.shape != x.shape for one in given):
        got = ", ".join(str(tuple(one.shape)) for one in given[:4])
        look = "what is in the list: a derivative has the shape of `x`"
        raise Wrong("other-shape", f"tensors of shape {tuple(x.shape)}, as `x`", f"shapes {got}", look=look)


_ENDS_EARLY = tools.reasons(f"""
ends-in-error: {_NO_HISTORY}
    A derivative that is a constant may have no history, and `grad` refuses it. All that follow are 0.
    look: how to find out, before you ask `grad`, whether there is a history
""")
_OTHER_DERIVATIVES = """
value-first: [start, *right[:-1]]
    The list begins with the value of `f`. It is to begin with the first derivative.
    look: what the list begins with
constant-again: came == right[:1] * len(right) and right[1:2] == [0.0]
    The first derivative is a constant here, and comes again and again. All that follow are 0.
    look: what is put into the list where there is no history
first-again: right[:1] * len(right)
    Each entry is the first derivative. The second is the gradient of the first.
    look: how often you walk, and what each walk starts from
added-up: right[1] and [right[0], right[0] + right[1], *came[2:]] (M16)
    The second entry is the first and the second derivative together.
    look: from what each walk starts, and what is added up: by your code, or in a `.grad`
backwards: right[::-1]
    The order is the other way round.
    look: the order of the list
other-derivatives: came
    look: how a derivative is made from the one before, and which one is the first in the list
"""


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Build this second generation",
    kind="build",
    points=2,
    beliefs=("M14",),
    hints=(
        "The slope of `exp` is made from the result of `exp`. So a part of the graph of `slope` is the graph of `y`.",
        "Follow the picture from the top: two multiplications, then `ExpBackward0`, then what `exp` was given.",
        "`exp` was given a · b. So y = exp(a · b), and its slope is 1 · y, times `b`.",
    ),
    idea="`y = mg.exp(a * b)`, and `return mg.autograd.grad(y, a, create_graph=True)[0]`.",
)
def slope(answer):
    kit.a_function(answer)
    for a, b in ((0.6, 2.1), (0.0, 3.0), (2.0, 0.0)):
        _check_slope(answer, a, b)
    return "The slope of exp is made from its result, so the second generation leads through the first."


def _check_slope(answer, *values):
    a, b = map(tools.leaf, values)
    right, for_b = (one * np.exp(np.prod(values)) for one in reversed(values))
    given = tools.result(_called(answer, (a, b), "a slope with the graph in the picture"))
    by_walk = bool(mg.viz.record(given).titles)
    wrong = _wrong_slope(answer, given, np.exp(np.prod(values)), walks=by_walk)
    if given.is_leaf:
        raise wrong
    _targets.refuse_other(given, "slope", wrong)
    if not by_walk:
        got, look = "the same boxes, made by operations of yours", "the frame in the picture, `built by backward`"
        raise Wrong("by-hand", "a graph that a walk back has made", got, look=look)
    if kit.close(given.item(), for_b):  # the graph is the same, with `a` and `b` in each other's place
        why = "The boxes and arrows are right. But this is the slope for `b`: `a` and `b` have changed places."
        look = "the order of the arguments, and for which of the two you ask `grad`"
        raise Wrong("for-b", "the slope for `a`", show(given), why=why, look=look)
    if not (graphs.reaches(given, a) and graphs.reaches(given, b)):
        look = "whether you go on with the two arguments themselves, or with copies"
        raise Wrong("other-leaves", "a graph that ends in the `a` and `b` of the call", show(given), look=look)
    if not kit.close(given.item(), right):
        look = "which operations make `y`, and with what the walk back starts: a 1?"
        raise Wrong("other-slope", f"the slope of exp(a · b) for `a`, {right:.7g}", show(given), look=look)
    try:
        mg.autograd.grad(given, (a, b), retain_graph=True)
    except Exception as error:
        got, look = kit.sandbox.describe_error(error), "each option of `grad`: what frees the graph of `y`?"
        look = look if "a second time" in got else "what is changed after it was used: each operation in place"
        raise Wrong("freed", "a slope that one can go backward from", got, look=look) from None


def _exp_slope():
    a, b = mg.tensor(0.5, requires_grad=True), mg.tensor(2.0, requires_grad=True)
    return mg.autograd.grad(mg.exp(a * b), a, create_graph=True)[0], {"a": a, "b": b}


_targets = Targets(slope=_exp_slope)


def show_target(name):
    """Show the picture that an exercise asks for: show_target("slope")."""
    _targets.show(name)


def _wrong_slope(answer, given, value, walks):
    made_of, leaves = graphs.operations(given), (tools.leaf(0.6), tools.leaf(2.1))
    recorded = observe.with_recorded_walks(answer, *leaves) if given.is_leaf else None
    facts = {"leaf": given.is_leaf, "retains": not getattr(recorded, "is_leaf", True), "exp": "exp" in made_of}
    facts |= {"is_y": made_of == ["exp", "mul"] and kit.close(given.item(), value), "copy": "copy" in made_of}
    facts |= {"two_leaves": len(graphs.leaves(given)) > 1, "walks": walks}
    return tools.told(_OTHER_SLOPE, facts, "a slope with the graph in the picture", show(given))


_OTHER_SLOPE = kit.patterns("""
retained: leaf=True, retains=True (M14)
    `retain_graph=True` keeps the graph of `y`. It does not record the walk back.
    look: the options of `grad`
not-recorded: leaf=True
    No recorded operation has made what you return: it was not recorded or cut off, or it is a constant or a leaf.
    look: the options of `grad`, each `detach` and `no_grad`, and what `y` is
y-returned: is_y=True
    This is the graph of exp(a · b). The picture shows the graph of its slope.
    look: what you return: `y`, or its gradient?
no-exp: exp=False
    There is no `ExpBackward0` in your graph.
    look: which operation this box is of, and whether a way leads to it from what you return
one-leaf: two_leaves=False
    The picture has two leaves.
    look: how `a` and `b` take part in `y`, and each `detach`
copied: copy=True
    What `backward()` puts into `.grad` is a copy, and has a node of its own, `CopyBackwards`.
    look: which function returns the gradient itself
by-hand: walks=False
    In the picture a walk back has made the slope, and it starts with a 1. No box of yours was made by a walk.
    look: who built the purple box
other-graph: walks=True
    Your graph is another one, by its boxes, its arrows, or its leaves: `y` or the walks back may be others.
    look: from the top: the first place where your graph and the picture differ
""")


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Six ways to write one backward",
    kind="predict",
    points=3,
    beliefs=("M19", "M25", "M29", "M30", "M33"),
    hints=(
        "Ask of each: which of the numbers in the returned product have a history that leads to the input?",
        "`ctx.square` was made in forward, and forward is not recorded. `x.detach()` is a constant, too.",
        "In C one of two factors has a history: the derivative of 3 · 2 · x is 6. E and F differ in what `grad` walks "
        "back to: the input, or a copy of it.",
    ),
    idea="A: 12. B and D return a plain number: error. C: half of it, 6, and no error. E: 12, it walks back to the "
    "input. F: an error, its history ends in the copy. All six return 3x², so `gradcheck` passes six times.",
)
def trusted(answer):
    truth = {"A": "12", "B": "error", "C": "6", "D": "error", "E": "12", "F": "error", "pass gradcheck": "6"}
    looks = {name: f"which factors of line {name} have a history that leads to the input" for name in "ABCD"}
    looks |= {name: f"line {name}: to which tensor the inner `grad` walks back, and is it recorded?" for name in "EF"}
    looks["pass gradcheck"] = "which derivative `gradcheck` checks"
    _predicted(answer, truth, _TRUSTED, looks)
    return "All six have the right slope. Only a history that leads to the input, whole, gives the right curvature."


_TRUSTED = kit.patterns("""
gradcheck-sees-all: pass gradcheck="2" (M29)
    All six return 3x², and `gradcheck` asks for no more. What is wrong with some of them it cannot see.
    look: the value that each backward returns at x = 2
gradcheck-sees-some: pass gradcheck="1" or pass gradcheck="3" or pass gradcheck="4" or pass gradcheck="5"
    All six return 3x². `gradcheck` compares this number with a nudge, and knows nothing of histories.
    look: the value that each backward returns at x = 2
intermediate-has-history: B="12" (M33)
    `ctx.square` was made in forward, where nothing is recorded. For autograd it is a constant.
    look: what `ctx.square.requires_grad` is
copy-is-the-input: F="12" (M30)
    `grad` inside backward is recorded, but back to `copy`. No way leads from there to the input.
    look: the picture of `Copied` in the chapter
grad-inside-never: E=error
    Here `grad` walks back to the saved input itself, and `create_graph=True` records the walk.
    look: what differs between E and F
detach-harmless: C="12"
    One of the two factors is a constant, so one of the two terms of the derivative is missing.
    look: the derivative of 3 · c · x, with c = 2
detach-cuts-all: C=error (M19)
    `x.detach()` is a constant. But the other factor is `x`, and through it a way leads to the input.
    look: the derivative of 3 · c · x, with c = 2
create-graph-beats-no-grad: D="12"
    `create_graph=True` turns recording on for backward. `no_grad` inside turns it off again.
    look: what is recorded between `with mg.no_grad():` and the return
zero-for-constant: B="0" or D="0"
    A slope without history has no slope of 0: there is nothing to start from, and `grad` raises.
    look: what `grad` said of a plain slope in section 1
zero-for-constant: F="0" (M25)
    The slope has a history that leads elsewhere. Asked for a tensor that was not used, `grad` raises.
    look: what chapter 04 says of None, 0 and the error
""")


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The penalty that does nothing",
    kind="fix",
    points=2,
    beliefs=("M14",),
    hints=(
        "Print `slope`. Is there a `grad_fn`?",
        "`retain_graph=True` keeps the graph of `y`, for another walk. What records the walk itself?",
        "`create_graph=True`. It keeps the graph of `y`, too.",
    ),
    idea="`create_graph=True` instead of `retain_graph=True`: then `slope` has a history, which leads to `w`.",
)
def penalty(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_PENALTY)
    for f, x, w in _PENALTIES:
        _check_penalty(answer, f, x, w)
    return "The slope has a history now, so the penalty has a gradient for `w`."


_GIVEN_PENALTY = """
def penalized(f, x, w):
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, retain_graph=True)
    return y + (slope - 1) ** 2
"""
_PENALTIES = (
    (lambda x, w: w * x * x, 2.5, 1.0),
    (lambda x, w: mg.exp(w * x), [0.5], [2.0]),
    (lambda x, w: 3 * x + w, 0.5, 2.0),
    (lambda x, w: mg.sin(w * x) - x, 0.75, 1.25),
    (lambda x, w: w * x * x, [0.0], 1.0),  # a slope of 0
    (lambda x, w: (w * x).sum(), 2.0, [1.0]),  # a slope of 1
)
_NO_WAY_BACK = tools.reasons("""
freed-too-early: a second time
    Your function returns, but going backward from the loss needs a graph that a walk of yours has freed.
    look: each walk of yours and its options: which frees a graph, and what keeps it?
no-way-back: Error
    look: each line that writes in place, or changes `requires_grad` or the graph of your result
""")


def _check_penalty(answer, f, *values):
    (x, w), leaves = map(tools.leaf, values), [*map(tools.leaf, values)]
    watched = observe.Watched(f, values[0])
    loss = tools.result(_called(answer, (watched, x, w), "the loss"))
    y = f(*leaves)
    (slope,) = mg.autograd.grad(y, leaves[0], create_graph=True)
    right_loss = y + (slope - 1) ** 2
    value, slope, wanted = y.item(), slope.item(), right_loss.item()
    watched.refuse_steps(f"{wanted:.6g}, from `f(x, w)` alone", show(loss))
    if loss.numel() != 1:
        got, look = f"a tensor of shape {tuple(loss.shape)}", "the sum of `f(x, w)` and the square, and what you return"
        raise Wrong("other-shape", "a loss that is one number", got, look=look)
    came = loss.item()
    if not kit.close(came, wanted):
        expected = f"{wanted:.6g}, which is {value:.6g} plus ({slope:.6g} - 1) squared"
        raise tools.of_value(_OTHER_LOSS, came, expected, f"{came:.6g}", value=value, slope=slope)
    for name, leaf, ours in (("w", w, leaves[1]), ("x", x, leaves[0])):
        right, came = mg.autograd.grad(right_loss, ours, retain_graph=True)[0].item(), _gradient_for(loss, leaf)
        if came is None or not kit.close(came, right):
            expected, got = f"{right:.6g} as the gradient of the loss for `{name}`", came and f"{came:.6g}"
            facts = {"right": right, "by_f": mg.autograd.grad(y, ours, retain_graph=True)[0].item(), "name": name}
            facts |= {"retains": came is not None and _is_right_if_recorded(answer, f, values, right, name)}
            raise tools.of_value(_OTHER_PENALTY.format(name=name), came, expected, str(got), **facts)


def _is_right_if_recorded(answer, f, values, right, name):
    """Whether the gradient would be right if each walk with `retain_graph=True` was recorded."""
    x, w = map(tools.leaf, values)
    loss = observe.with_recorded_walks(answer, f, x, w)
    found = observe.with_recorded_walks(_gradient_for, loss, {"x": x, "w": w}[name])
    return isinstance(found, float) and kit.close(found, right)


def _gradient_for(loss, leaf):
    """The gradient of the learner's loss, as a caller would ask for it."""
    try:
        (found,) = mg.autograd.grad(loss, leaf, allow_unused=True, retain_graph=True)
    except RuntimeError as error:
        got = kit.sandbox.describe_error(error)
        if _NO_HISTORY in got:
            return None
        reason = next(one for one in _NO_WAY_BACK if one.message in got)
        raise reason.wrong("a loss to go backward from", got) from None
    return None if found is None else float(tools.array(found).sum())


_OTHER_LOSS = """
penalty-alone: (slope - 1) ** 2
    That is the penalty alone.
    look: what you return: `f(x, w)` plus the square
no-penalty: value
    That is `f(x, w)` alone.
    look: what you return: `f(x, w)` plus the square
other-loss: came
    look: the slope in `x`, the square, and the sum, each alone
"""
_OTHER_PENALTY = """
x-lost: name == "x" and came is None
    The gradient for `w` is right. But a caller may go back to `x`, too.
    look: what `f` is called with
cut-off: came is None
    No way leads from the loss to `{name}`.
    look: each `detach`, `item` and `no_grad`, and what `f` is called with
still-constant: retains and by_f (M14)
    That is the gradient of `f` alone. `retain_graph=True` keeps a graph; it does not record the walk back.
    look: whether the slope has a `grad_fn`
constant: by_f
    That is the gradient of `f` alone: for `{name}` the penalty counts as a constant.
    look: each way from the loss to `{name}`: what it leads through, and what may cut it
cut-y: right - by_f
    That is the gradient of the penalty alone, as if `f(x, w)` itself was a constant in the sum.
    look: how `f(x, w)` comes into the sum, and whether it has a history there
nan-gradient: came != came
    look: each division, root, logarithm and power on the ways from the loss to `{name}`
other-gradient: came
    look: each way from the loss to `{name}`: what it leads through, how often, and what may cut it
"""


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Half a history",
    kind="fix",
    points=3,
    beliefs=("M33",),
    hints=(
        "Which of the two saved tensors is neither an input nor an output of forward?",
        "`s` was made while nothing was recorded: in backward it is a constant. `x` has its history.",
        "Compute `s` again in backward, from the saved `x`. There it is recorded.",
    ),
    idea="Save `x` alone. In backward, `s = mg.sigmoid(x)`, and the same formula as before.",
)
def swish(answer):
    functions.refuse_given(answer, _GIVEN_SWISH)
    large, far_below = functions.given("a large number", [800.0]), functions.given("a number far below 0", [-800.0])
    functions.check(answer, lambda x: x * mg.sigmoid(x), [*elementwise(), large], second=True)
    functions.check(answer, lambda x: x * mg.sigmoid(x), [far_below])
    return "Everything that backward uses leads back to the input, so the slope has a whole history."


_GIVEN_SWISH = """
class Swish(mg.autograd.Function):
    def forward(ctx, x):
        s = mg.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * (s + x * s * (1 - s))
"""


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "From the output",
    kind="write",
    points=3,
    beliefs=("M32", "M33"),
    hints=(
        "forward has two inputs, so backward returns two gradients: g · a / r and g · b / r.",
        "Which three tensors does backward need? Each of them is an input or the output.",
        "`r = mg.sqrt(a * a + b * b)`, `ctx.save_for_backward(a, b, r)`, and return exactly this `r`.",
    ),
    idea="forward saves `a`, `b` and the `r` that it returns. backward returns `g * a / r, g * b / r`. All have a "
    "history.",
)
def hypotenuse(answer):
    wide = tensors("two that broadcast to (2, 3, 4)", (3, 1), (2, 1, 4), low=0.5, high=3.0, signed=True)
    cases = [*elementwise(2, low=0.5, high=3.0, signed=True), wide]
    functions.check(answer, lambda a, b: mg.sqrt(a * a + b * b), cases, second=True, suspects=_HYPOTENUSE)
    sides, apply = (tools.leaf([0.5, 2.0]), tools.leaf([1.5, 1.0])), functions.apply_of(answer)
    if again := _computed_again(answer, apply, sides, _ROOTS):
        why = "backward takes a root, or what can stand for one. The output of forward is the only one that it needs."
        look = "the line of backward with it, and whether the output of forward is saved"
        raise Wrong("root-again", "a backward without a root", f"`{again}` in backward", why=why, look=look)
    return "The inputs and the output have their history in backward, and no second root is needed."


def _computed_again(answer: Any, compute: Callable, inputs: tuple, names: tuple[str, ...]) -> str:
    """The first of these operations, also of NumPy, of powers but whole ones, and of "apply" itself, in backward."""
    first, second = call(compute, *inputs), call(compute, *inputs)
    slopes = mg.autograd.grad(first.sum(), inputs, create_graph=True)
    again, written = [], [getattr(answer, "backward", None)]
    for node in graphs.nodes_behind(*(slope.grad_fn for slope in slopes)):
        whole = node.name() == "PowBackward0" and node._saved_exponent % 1 == 0
        if node.op_name in names or (node.op_name == "pow" and not whole):
            again.append(node.op_name)
        if isinstance(node, FunctionNode) and node is not first.grad_fn:
            again += ["apply"] * (node.name() == first.grad_fn.name())
            written.append(node._function.forward)
    run = {name for name, _ in observe.calls_in(lambda: mg.autograd.grad(second.sum(), inputs))}
    named = {name for name in names if name in run or any(kit.uses(one, name) for one in written)}
    own = getattr(written[0], "__globals__", {})  # a function of the learner's may have such a name
    harmless = (name for name in named if isinstance(own.get(name), types.FunctionType))
    named -= {name for name in harmless if not observe.mentions(own[name], f"^({'|'.join(names)})$")}
    return next(iter([*again, *sorted(named)]), "")


_ROOTS = ("sqrt", "rsqrt", "hypot", "norm", "vector_norm", "exp", "log")  # and what can be used for one
_HYPOTENUSE = functions.suspects("""
a, b; g
no-root: forward a * a + b * b
    That is a² + b², without the root.
    look: what forward returns
not-divided: g * a, g * b
    The slopes are a / r and b / r. What comes are a and b, times what comes to backward.
    look: what backward divides by, and what was saved as that
slope-upside-down: g * mg.sqrt(a * a + b * b) / a, g * mg.sqrt(a * a + b * b) / b
    Your slopes are r / a and r / b: upside down.
    look: what is divided by what in backward
""")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Right at 2",
    kind="fix",
    points=3,
    beliefs=("M32",),
    hints=(
        "CubeSlope computes b(g, x) = g · 3x². What are its two derivatives, for g and for x?",
        "3x² for g, and g · 6x for x, each times gg. At x = 2 and g = 1 both are 12. What does backward lack for that?",
        "forward has to save `g`, too. And the gradients come back in the order of the arguments: first that of `g`.",
    ),
    idea="`ctx.save_for_backward(g, x)`, and `return gg * 3 * x**2, gg * g * 6 * x`. Two mistakes: order and factor.",
)
def cube(answer):
    functions.refuse_given(answer, _GIVEN_CUBE)
    cases = [case for case in elementwise(2) if "broadcast" not in case.what]  # `g` has the shape of `x`
    functions.check(answer, lambda g, x: g * 3 * x**2, cases, suspects=_CUBE)
    functions.check(_cube_with(functions.apply_of(answer)), lambda x: x**3, elementwise(), second=True)
    return "The derivative of g · 3x² is 3x² for g, and g · 6x for x, in this order."


def _cube_with(slope: Callable) -> type:
    """The given Cube, with this Function for its slope."""

    class Cube(mg.autograd.Function):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return mg.tensor(x.detach().numpy() ** 3, dtype=x.dtype)

        def backward(ctx, g):
            return slope(g, *ctx.saved_tensors)

    return Cube


_GIVEN_CUBE = """
class CubeSlope(mg.autograd.Function):
    def forward(ctx, g, x):
        ctx.save_for_backward(x)
        return mg.tensor(g.detach().numpy() * 3 * x.detach().numpy() ** 2)

    def backward(ctx, gg):
        (x,) = ctx.saved_tensors
        return gg * 6 * x, gg * 3 * x**2
"""
_CUBE = functions.suspects("""
g, x; gg
order-and-factor: gg * 6 * x, gg * 3 * x**2
    Both mistakes are still there: 3x² is the gradient of g and not of x, and the other one lacks g.
    look: which argument of forward each of the two gradients belongs to
order: gg * g * 6 * x, gg * 3 * x**2
    Both formulas are right, and each stands in the place of the other.
    look: which argument of forward each of the two gradients belongs to
factor-lost: gg * 3 * x**2, gg * 6 * x
    The order is right. But the derivative of g · 3x² for x is g · 6x, and your g is missing. It is 1 where the walk
    starts at Cube itself, and another number in 5 · Cube(x).
    look: what forward saves, and the second gradient
wrong-g: gg * 3 * x**2, gg * gg * 6 * x
    What comes to backward, gg, is a factor twice. The one that is missing is g, the first argument of forward.
    look: which gradient comes to backward now, and which one was an argument of forward
g-gets-nothing: 0 * g, gg * g * 6 * x
    The gradient for x is right. g gets none, or 0: it needs one where it has a history, as in Cube(x)².
    look: the first of the two gradients
""")


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Recorded again",
    kind="fix",
    points=3,
    beliefs=("M30", "M32"),
    hints=(
        "Draw `slope` for `Again.apply(x, lambda x: x**3)`, as the chapter does. Where does its history lead?",
        "Two things cut the way: the walk is not recorded, and what it walks back to is a copy.",
        "Run `f` on the saved `x` itself, inside `enable_grad`, and give `grad` the option `create_graph=True`.",
    ),
    idea="`y = ctx.f(x)` inside `mg.enable_grad()`, return `mg.autograd.grad(y, x, g, create_graph=True)[0]`, None.",
)
def recorded(answer):
    functions.refuse_given(answer, _GIVEN_RECORDED)
    rows = [tensors(f"a row, and {what}", (4,), rest=(f,)) for what, f in _FUNCTIONS.items()]
    cases = [*elementwise(rest=(_FUNCTIONS["x**3"],)), *rows]
    try:
        functions.check(answer, lambda x, f: f(x), cases, second=True)
    except Wrong as wrong:
        raise _of_recorded(answer, wrong) from None
    _check_runs(functions.apply_of(answer))
    _check_rest_of_walk(functions.apply_of(answer))
    return "f is recorded again from the saved input itself, and the walk through it is recorded, too."


_GIVEN_RECORDED = """
class Again(mg.autograd.Function):
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        copy = x.detach().requires_grad_()
        with mg.enable_grad():
            y = ctx.f(copy)
        return mg.autograd.grad(y, copy, g)[0], None
"""
_NO_FACTORS = "only for scalar outputs"
_INSIDE = (_NO_HISTORY, _NO_FACTORS, "a second time", "not have been used")  # errors of the inner walk
_OF_FACTORS = ("other-gradient", "wrong-factor", "no-grad-output", "grad-output-twice", "grad-output-added", "no-slope")
_FUNCTIONS: dict[str, Callable] = {
    "x**3": lambda x: x**3,
    "sin(2 * x)": lambda x: mg.sin(2 * x),
    "x * x.sum()": lambda x: x * x.sum(),
    "(x**3).sum()": lambda x: (x**3).sum(),
    "two rows": lambda x: mg.stack([x * x, x**3]),
}


def _check_runs(apply):
    """Whether backward runs `f` once more, at the place where forward has run it."""
    x = tools.leaf([0.5, -1.0])
    watched = observe.Watched(_FUNCTIONS["x**3"], [0.5, -1.0])
    y = call(apply, x, watched)
    held = [*y.grad_fn.saved_tensors, *vars(y.grad_fn).values()]
    kept = [one for value in held for one in (value, *adversaries.parts(value))]
    others = [one for one in kept if isinstance(one, mg.Tensor | np.ndarray) and one.tolist() != [0.5, -1.0]]
    before, was_recorded = watched.calls, watched.was_recorded
    mg.autograd.grad(y.sum(), x)
    watched.refuse_steps("`f(x)` only", "`f` called elsewhere")
    runs = watched.calls - before
    if runs != 1 or others or was_recorded:
        facts = {"runs": min(runs, 2), "kept": bool(others)}
        got = [f"runs of `f` in one backward: {runs}", *(f"{show(one)} is kept" for one in others[:1])]
        expected = "a forward that records nothing and keeps `x` alone, and a backward that runs `f` once"
        raise tools.told(_RUNS, facts, expected, "; ".join(got + ["`f` was recorded in forward"] * was_recorded))


_RUNS = kit.patterns("""
not-run-again: runs=0
    The derivatives are right. But what backward goes through was kept from forward, so no memory is saved.
    look: what forward keeps, and where `f` runs
more-kept: kept=True
    look: what `save_for_backward` gets, and what else forward puts on `ctx`
run-too-often: runs=2
    look: each line of backward that runs `f`
forward-recorded: runs=1
    The derivatives are right. But in forward `f` was recorded, too, so its whole graph was made there.
    look: what turns recording on in forward
""")


def _check_rest_of_walk(apply):
    """Where `x` is no leaf the walk goes on, recorded or not as before."""
    for recorded, history, other in ((True, "with a history", "not recorded"), (False, "without one", "recorded, too")):
        x = tools.leaf([0.5, -1.0])
        y = call(apply, x * x, _FUNCTIONS["x**3"]).sum()
        (slope,) = mg.autograd.grad(y, x, create_graph=recorded, allow_unused=True)
        if slope is None:
            why = "What `Again` is given here is no leaf, and then no gradient comes back from your backward."
            look = "where the gradient comes from that you return"
            raise Wrong("not-of-a-leaf", "the slope of `Again.apply(x * x, f)`", "None", why=why, look=look)
        if slope.requires_grad != recorded:
            expected = f"`Again.apply(x * x, f)` differentiated with `create_graph={recorded}`: a slope {history}"
            why = f"After your backward the rest of the walk is {other}."
            look = "what your backward turns on or off, and leaves so"
            raise Wrong("mode-left", expected, show(slope), why=why, look=look)
        if recorded and not kit.same_values(came := tools.walk(mg.autograd.grad, slope.sum(), x)[0], [1.875, 30.0]):
            why = "What `Again` is given here is no leaf. For a leaf the second derivative is right."
            expected = "the second derivative of `Again.apply(x * x, f)`, [1.875, 30]"
            look = "what backward asks of `x`"
            raise Wrong("second-of-a-result", expected, show(came), why=why, look=look)


def _of_recorded(answer, wrong):
    """The diagnosis of `functions`, in the words of this exercise where a copy or a walk is behind it."""
    verdict = wrong.verdict
    facts = {"error": next((said for said in _INSIDE if said in verdict.got), None)}
    facts |= {"inside": kit.uses(getattr(answer, "backward", None), "backward")}
    if verdict.code in ("detached", "saved-intermediate", "other-second"):
        source = tools.leaf(2.0)
        result = functions.apply_of(answer)(source, _FUNCTIONS["x**3"])
        (slope,) = mg.autograd.grad(result, source, create_graph=True)
        facts |= {"tracked": not slope.is_leaf, "reaches": slope.is_leaf or graphs.reaches(slope, source)}
        again = observe.with_recorded_walks(lambda: mg.autograd.grad(result, source), all_of_them=True)
        facts |= {"cut": isinstance(again, tuple) and again[0].is_leaf}
    elif verdict.code in _OF_FACTORS:
        verdict.look = "with which factors a walk goes back through `f`, and what is done with what it gives"
        return wrong
    elif verdict.code != "raised" or not facts["error"]:
        return wrong
    found = tools.told(_RECORDED, facts, verdict.expected, verdict.got)
    if found.verdict.belief:
        found.verdict.picture = mg.draw(result, slope, params={"x": source, "slope": slope}, grads=False)
    return wrong if found.verdict.code == "other-second" else found


_RECORDED = kit.patterns(f"""
f-not-recorded: error={_NO_HISTORY}
    What the inner walk starts from has no history. In a plain backward nothing is recorded unless you turn it on.
    look: where `f` makes it: what turns recording on there, does what `f` is given require grad, and each `detach`
no-factors: error={_NO_FACTORS}
    What `f` makes may have several entries, so the inner walk needs a factor for each: the `g` that came.
    look: what the inner walk is given besides what it starts from
freed-inside: error=a second time
    A walk has freed a graph that is still needed.
    look: the options of the inner walk, and how often you walk
not-used-inside: error=not have been used
    No way leads from what the inner walk starts from to the tensor that it is asked for.
    look: for which tensor the inner walk is asked, and what `f` was given
backward-inside: inside=True
    `backward()` inside backward adds to the `.grad` of a leaf. In that of `x` the gradients of the caller arrive, too,
    and from that of a copy no way leads to `x`.
    look: which function returns gradients, and adds to nothing: for which tensor, and with which options
leads-to-copy: tracked=True, reaches=False (M30)
    What backward returns is tracked, but its history begins at another leaf. No way leads to `x`.
    look: for which tensor the inner walk is asked, and where this tensor was made
history-cut: tracked=False, cut=True
    What backward returns has no history, and has none either if each walk is recorded: it is cut off.
    look: each `no_grad` and `detach`, each number or array on the way, and the options of what goes backward there
walk-not-recorded: tracked=False (M30)
    What backward returns has no history. It has one if the inner walk is recorded.
    look: the options of the inner walk
other-second: reaches=True
    look: what backward computes from
""")


# --- 11 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Hessian times vector",
    kind="write",
    points=3,
    beliefs=("M14", "M16", "M24"),
    hints=(
        "The Hessian is the Jacobian of the gradient. Which call of `grad` gives a product of a vector and a Jacobian?",
        "First the gradient of `f(x)`, with a history. It has several entries, and `grad` needs a factor for each.",
        "`(slope,) = mg.autograd.grad(f(x), x, create_graph=True)`. Then `grad` from `slope`, with `grad_outputs=v`.",
    ),
    idea="`mg.autograd.grad(slope, x, grad_outputs=v)[0]`, where `slope` is the gradient of `f(x)` with "
    "`create_graph=True`. Or go backward from `(slope * v).sum()`.",
)
def hvp(answer):
    kit.a_function(answer)
    for f, x, v in _HVPS:
        _check_hvp(answer, f, x, v)
    if not adversaries.trial.circumstances:  # some make each call twice
        _refuse_many_walks(answer)
    return "Two walks, one product, and no Hessian, however long x is."


_HVPS = (
    (lambda x: (x[1:] * x[:-1]).sum() + (x**3).sum(), [1.0, -2.0, 0.5], [0.1, 1.3, 100.7]),
    (lambda x: mg.exp(x[0] * x[1]) + x[1] ** 2, [0.5, 1.0], [-1.0, 3.0]),
    (lambda x: (x**4).sum() / 12, [2.0], [5.0]),
    (lambda x: x.sum() ** 3, [1.0, 0.5, 0.25], [2.0, 0.0, -1.0]),
    (lambda x: (x**3).sum(), [0.5, 1.0], [0.0, 0.0]),
    (lambda x: x[0] * x[1], [0.0, 0.0], [2e20, -1e20]),
)
_NO_FACTORS_GIVEN = tools.reasons(f"""
no-factors: {_NO_FACTORS}
    From several entries a walk needs a factor for each. Where they are the gradient of `f`, `v` has these factors.
    look: how a walk is given factors: `grad_outputs=` of `grad`
""")


def _check_hvp(answer, f, values, vector):
    x, point, v, watched = tools.leaf(values), tools.leaf(values), tools.constant(vector), observe.Watched(f, values)
    hessian = tools.array(mg.autograd.functional.hessian(f, point))
    right = hessian @ np.array(vector)
    expected = f"{tools.text(right)} at {values}, for v = {vector}"
    given = tools.result(_called(answer, (watched, x, v), expected, *_NO_FACTORS_GIVEN))
    watched.refuse_steps(f"{expected}, from `f(x)` alone", show(given))
    came = tools.array(given)
    if not tools.same(came, right):
        got = tools.text(came) if came.size <= 9 else f"a tensor of shape {came.shape}"
        slope = tools.array(mg.autograd.grad(f(point), point)[0])
        facts = {"right": right, "hessian": hessian, "slope": slope, "v": np.array(vector)}
        wrong = tools.of_value(_OTHER_PRODUCTS, came, expected, got, **facts)
        raise tools.if_seen(wrong.verdict.code != "added-up" or x.grad is not None, wrong)


def _refuse_many_walks(answer):
    """For 30 inputs two walks are enough; a Hessian takes one for each row."""
    walks = []

    def f(x):
        x = x * 1
        if isinstance(x, mg.Tensor) and x.requires_grad:
            x.register_hook(walks.append)  # which each walk comes by
        return (x**3).sum()

    call(answer, f, tools.leaf(np.linspace(0.1, 3.0, 30)), tools.constant(np.ones(30)))
    if len(walks) > 2:
        why = "The product is right. But after the walk for the slopes, one more is enough for all rows of H."
        look = "what each walk is for: the second one takes a factor for each entry of the gradient"
        raise Wrong("hessian-built", "two walks, however long `x` is", f"{len(walks)} walks for 30", why=why, look=look)


_OTHER_PRODUCTS = """
hessian: hessian
    This is the Hessian itself. Asked for is its product with `v`.
    look: what you return
row-sums: hessian.sum(0) (M24)
    These are all rows of H added up, as with ones for factors. Yours are in `v`.
    look: with which factors the second walk starts: `grad_outputs=`
slope-only: slope
    This is the gradient of `f`, as the first walk gives it.
    look: how often you go backward, and what you return
added-up: right + slope (M16)
    This is the gradient of `f` and the product together, as they would add up in one `.grad`.
    look: what is added to the product
times-slope: slope * v
    It is the gradient times `v`, entry by entry.
    look: how often you walk, and what you return
diagonal: np.diag(hessian) * v
    Only the diagonal of H took part.
    look: the second walk
entry-by-entry: hessian.sum(0) * v (M24)
    The rows of H were added up, and then multiplied by `v`. Each row has a factor of its own.
    look: where `v` comes in: before the second walk, or after it
number: right @ v
    This is v · H · v, one number.
    look: what is done with the product that a second walk gives
other-shape: came.shape != right.shape
    look: the shape of what you return: that of `x`
other-product: came
    look: how often you walk, each time from where, to where and with which factors, and what is done with the result
"""


# --- 12 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Hand it out",
    kind="write",
    points=3,
    beliefs=("M33",),
    hints=(
        "`Sinh` in section 4 has two intermediates that it hands out. Yours has one: e = eˣ.",
        "`backward` gets two gradients, `g` for x · e and `g_e` for e. Both results move with `x`.",
        "The slope of x · eˣ is e + x · e, and that of eˣ is e. Each is multiplied by its own gradient.",
    ),
    idea="`forward` saves `x` and `e`, and returns `x * e, e`. `backward` returns `g * (e + x * e) + g_e * e`: as an "
    "output `e` has a history, and what comes to it in the second walk goes on to `x`.",
)
def growth(answer):
    functions.check(answer, lambda x: (x * mg.exp(x), mg.exp(x)), elementwise(), second=True, suspects=_GROWTH)
    apply = functions.apply_of(answer)
    if again := _computed_again(answer, lambda x: apply(x)[0], (tools.leaf([0.5, -1.0]),), _EXPONENTIALS):
        why = "backward computes an exponential, or what can stand for one. You hand `e` out: it is there."
        look = "the line of backward with it, and whether `e` is saved"
        raise Wrong("computed-again", "a backward without eˣ", f"`{again}` in backward", why=why, look=look)
    return "What is handed out is an output: it has a history, and a gradient of its own."


_EXPONENTIALS = ("exp", "exp2", "expm1", "sigmoid", "tanh", "sinh", "cosh", "softmax")
_GROWTH = functions.suspects("""
x; g, h
other-result: forward mg.exp(x)
    That is eˣ. The first result is x · eˣ, and eˣ is the second.
    look: the `return` of forward: what stands first?
handed-out-forgotten: g * (1 + x) * mg.exp(x)
    That is the gradient through x · eˣ alone. What comes to `e` is lost: that is where the second walk arrives.
    look: the second gradient that `backward` gets, and where it stands in what you return
slope-of-e: g * (1 + x) * mg.exp(x) + h
    What comes to `e` was passed on as it came. The slope of eˣ is e.
    look: what the second gradient that comes to `backward` is multiplied by
slope-of-e: g * (1 + x) * mg.exp(x) + h * x
    What comes to `e` was multiplied by x. That would be its part in x · e; but `e` itself moves by e.
    look: what the second gradient that comes to `backward` is multiplied by
added-too-early: (g + h) * (1 + x) * mg.exp(x)
    Both gradients that came in are multiplied by the slope of x · eˣ. Each belongs to its own slope.
    look: which slope each of the two is multiplied by
mixed-up: h * (1 + x) * mg.exp(x) + g * mg.exp(x)
    The two gradients that come in are swapped: each is multiplied by the slope of the other result.
    look: the order of the arguments of backward, that of forward's results, and what each is multiplied by
half-a-product: g * x * mg.exp(x) + h * mg.exp(x)
    Both factors of x · eˣ move with `x`, so its slope has two terms. One of them is missing.
    look: the slope of a product, e + x · e
half-a-product: g * mg.exp(x) + h * mg.exp(x)
    Both factors of x · eˣ move with `x`, so its slope has two terms. One of them is missing.
    look: the slope of a product, e + x · e
""")


chapter.lock()
