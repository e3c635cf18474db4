"""The checks of chapter 04, "What does backward() really compute?"."""

from __future__ import annotations

import contextlib
import functools
import traceback
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import cards, graphs, kit, tools
from exercises.checks.adversaries import trial
from exercises.checks.kit import Wrong, show

chapter = kit.Chapter(__name__, "04", "What does backward() really compute?")


# --- What several exercises share ----------------------------------------------------------------


_SECOND_TIME, _TUPLE_IN_ROWS, _RESHAPED = tools.reasons("""
second-time: a second time
    One backward frees what the graph behind a result has saved. Before the next one: a new graph, or one that the
    first was told to retain. Or both are one walk.
    look: how often you go backward through what is behind one result, and what each walk leaves of it
tuple-in-rows: got tuple
    `autograd.grad` returns a tuple, with one gradient for each input, also if there is one input only.
    look: how to take the first entry out of what `grad` returns
reshaped: is invalid for input of size
    To reshape keeps every number. You reshape to a shape with more or fewer of them.
    look: which dimensions were repeated: over these you sum, and over no others (an empty list may mean all)
""")


def _refuse_changed(leaf, name):
    if leaf.grad is not None:
        raise tools.filled(f"`{name}.grad` as it was", f"it is {show(leaf.grad)} when your function returns")


def _refuse_kept(answer, y, *inputs):
    """The same tensors come once more with other numbers: `y`, which came for those before, does not come again."""
    before = tools.array(y)
    with mg.no_grad():
        for one in inputs:
            one *= 0.5
    new = [one.detach().clone().requires_grad_() for one in inputs]
    came, wanted = (tools.array(tools.result(kit.call(answer, *given))) for given in (inputs, new))
    if tools.same(came, before) and not tools.same(came, wanted):
        why = "That came for the numbers before. Since then the tensor was overwritten, as by a step of a training."
        expected, got = f"{tools.text(wanted)}, from the numbers of now", tools.text(came)
        look = "what is kept from one call to the next, and for what: a dict, a cache, an `id`"
        raise Wrong("kept", expected, got, why=why, look=look)


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Which rows?",
    kind="predict",
    points=2,
    beliefs=("M24",),
    hints=(
        "Write the Jacobian first: a row for each of the three results, a column for `a` and one for `b`.",
        "The rows are (4, 3), (6, 0) and (0, 5). Each factor says how often its row counts.",
        "For C take the first row once and the third row twice, and add them up, column by column.",
    ),
    idea="J has the rows (4, 3), (6, 0), (0, 5). A is the second row, B the sum of all three, and C is "
    "1 · (4, 3) + 2 · (0, 5).",
)
def rows(answer):
    truth = {"A a.grad": 6.0, "A b.grad": 0.0, "B a.grad": 10.0, "B b.grad": 8.0, "C a.grad": 4.0, "C b.grad": 13.0}
    looks = {name: f"column `{name[2]}` of the Jacobian, and the factors of line {name[0]}" for name in truth}
    kit.predicted(answer, truth, _ROWS, "a number or None", looks)
    return "Each factor says how often its row of J counts; then the rows are added. That is v · J."


_ROWS = kit.patterns("""
ones-anyway: A a.grad=10, A b.grad=8 (M24)
    (10, 8) is the sum of all rows, as ones give it. The factors 0, 1, 0 pick one row.
    look: the factor that each of the three results gets in line A
factors-ignored: C a.grad=10, C b.grad=8 (M24)
    (10, 8) is what ones give. Line C leaves the second row out and counts the third twice.
    look: the factor of each row in line C
factor-is-switch: C b.grad=8
    8 is 3 + 5, each row once. But the third row has the factor 2: it counts twice.
    look: the numbers in `gradient=` of line C, not only which of them are zero
none-for-zero: A b.grad=None
    A way leads from `y` to `b`, through `a * b`. What comes by it is 0 · 3: a zero, and not nothing.
    look: the graph of `y`: does an edge lead to `b`?
values-not-slopes: A a.grad=9
    9 is the second result itself. backward adds up slopes of the results, not the results.
    look: how much `a * a` moves when `a` does
values-not-slopes: B a.grad=41
    41 is the sum of the results. backward adds up their slopes.
    look: the slopes of the three results with respect to `a`
one-way: A a.grad=3
    In `a * a` two ways lead to `a`, and each brings 3.
    look: the derivative of `a * a`
added-up: B a.grad=16
    16 is 6 + 10: line A and then line B. Here each line is thought of alone.
    look: how the task says to think of each line
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Zero, None or an error?",
    kind="predict",
    points=2,
    beliefs=("M25",),
    hints=(
        "Ask of each line: does a way lead from the first tensor back to the second?",
        "A way that multiplies by 0 is a way: what comes by it is the number 0.",
        "Without a way `grad` raises, unless you told it what you want: None or zeros. `k` is no case of this: "
        "nobody ever asked for its gradient.",
    ),
    idea="A is zero: a way leads to `u`. B raises, C gives None and D zeros: no way. E raises whatever you allow, "
    "because `k` does not require grad. F raises: `copy` is another tensor than `a`, and `w` was not made from it.",
)
def unused(answer):
    truth = {"A": "zero", "B": "error", "C": "None", "D": "zero", "E": "error", "F": "error"}
    given = {name: _outcome(value) for name, value in kit.a_dict(answer, truth).items()}
    for name, value in given.items():
        if type(value) is not str or value not in ("zero", "None", "error"):
            wanted = f'`{name}` is "zero", "None" or "error"'
            raise Wrong("kind", wanted, show(value), look=f"the value of `{name}`")
    looks = {"D": "what the option `materialize_grads=True` asks for", "C": "what `allow_unused=True` allows"}
    kit.predicted(given, truth, _UNUSED, '"zero", "None" or "error"', looks)
    return "None says that nothing came; zero is a number that came by a way. Only you can make one the other."


def _outcome(value: Any) -> Any:
    """The word for a prediction, also if it was given as the value itself or in other letters."""
    value = kit.plain(value)
    if value is None:
        return "None"
    if type(value) in (int, float) and value == 0:
        return "zero"
    known = {"zero": "zero", "zeros": "zero", "0": "zero", "none": "None", "error": "error", "raises": "error"}
    return known.get(value.strip().lower(), value) if type(value) is str else value


_UNUSED = kit.patterns("""
unused-is-zero: B=zero (M25)
    `w` was made without `u`. There is no way, so there is no gradient, not even a zero: `grad` raises.
    look: the error of line B, and the two options that its message names
options-swapped: C=zero, D="None"
    `allow_unused=True` allows that there is no gradient: you get None. The other option asks for zeros.
    look: which option asks for zeros
allowed-is-zero: C=zero (M25)
    `allow_unused=True` allows that there is no gradient. It does not invent one: you get None.
    look: which option asks for zeros
unused-is-none: B="None"
    None is what you get if you allow it. Without `allow_unused=True` line B is taken for a mistake.
    look: what differs between lines B and C
zero-way-is-no-way: A="None" or A=error
    `u * 0` was recorded, so a way leads to `u`. The number that comes by it is 0.
    look: the graph of `z`: is there an `AccumulateGrad` for `u`?
materialized-none: D="None"
    To materialize is to make real: what would be None becomes zeros.
    look: the last two lines of the cell in the chapter that repairs the error
constant-is-unused: E="None"
    `k` does not require grad. That is refused before the question whether it was used.
    look: `k.requires_grad`
constant-has-zero: E=zero
    `k` does not require grad. Nothing was recorded for it, so there is nothing to return, not even zero.
    look: `k.requires_grad`
copy-is-the-same: F=zero
    `copy` is a new tensor, made from `a`. `w` was not made from `copy`: no way leads from `w` to `copy`.
    look: in which direction the edge between `copy` and `a` points
copy-is-the-same: F="None"
    No way leads from `w` to `copy`, and without `allow_unused=True` that is an error.
    look: what differs between lines C and F
""")
# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "What the hook sees",
    kind="predict",
    points=2,
    beliefs=("M34",),
    hints=(
        "Two ways lead from `y` back to `h`. When are the hooks called: for each, or when both have arrived?",
        "The hooks run in the order in which they were registered. The first returns None, so nothing changes.",
        "The second hook makes -9 of 9. That goes on: into `h.grad`, and times 3 into `a.grad`.",
    ),
    idea="The sum 4 + 5 arrives once. The first hook notes 9, the second makes it -9. `retain_grad` keeps -9, and "
    "`a` gets -9 · 3.",
)
def hooks(answer):
    truth = {"len(seen)": 1, "seen[0]": 9.0, "h.grad": -9.0, "a.grad": -27.0}
    looks = {
        "len(seen)": "how many hooks append, and how often each is called",
        "seen[0]": "the two slopes of `y` with respect to `h`",
        "h.grad": "what the last hook returns, and what `retain_grad()` keeps of it",
        "a.grad": "what comes out of the hooks, and the slope of `a * 3`",
    }
    kit.predicted(answer, truth, _HOOKS, "a number", looks)
    return "A hook runs once, on the sum. What it returns goes on: into `h.grad` and to everything behind."


_HOOKS = kit.patterns("""
once-a-way: len(seen)=2, h.grad=9, a.grad=27 (M34)
    The hooks wait until both contributions to `h` are added up. Then they run once, and what they return goes on.
    look: the cell of the chapter that lists `seen`
once-a-way: len(seen)=2
    One of the two hooks appends, and it runs once: when both contributions to `h` are added up.
    look: the cell of the chapter that lists `seen`
part-seen: seen[0]=4 or seen[0]=5
    That is what comes by one of the two ways. A hook sees their sum.
    look: what else is made from `h`
cannot-change: seen[0]=9, h.grad=9, a.grad=27
    The second hook returns `-grad`, and what a hook returns takes the place of the gradient.
    look: the second hook: does it return something?
kept-before-hooks: h.grad=9, a.grad=-27
    `retain_grad()` keeps what comes out of the hooks, not what went into them.
    look: the cell of the chapter in which a hook multiplies by 10
only-kept-changes: h.grad=-9, a.grad=27
    What the hook returns does not only stand in `h.grad`: it is what goes on to `a`.
    look: what the multiplication `a * 3` gets in backward
order-of-hooks: seen[0]=-9
    The hook that notes was registered first, so it runs first. The sign changes after it.
    look: the order of the two `register_hook` lines
slope-lost: a.grad=-9
    -9 leaves `h`. On the way to `a` it is multiplied by the slope of `a * 3`.
    look: the line that makes `h`
""")


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Two gradients, no traces",
    kind="write",
    points=2,
    beliefs=("M03",),
    hints=(
        "Give the result of `f` a name: you need that very tensor, once for `g` and once to ask.",
        "`mg.autograd.grad` takes a list of inputs, and any tensor on the way may be among them.",
        "`h = f(x)`, `y = g(h)`, and then one call: `mg.autograd.grad(y, [h, x])`.",
    ),
    idea="`h = f(x)` and `return mg.autograd.grad(g(h), [h, x])`. One walk gives both, and no `.grad` changes.",
)
def between(answer):
    kit.a_function(answer)
    for f, g, x, slopes in _BETWEEN:
        _check_between(answer, f, g, x, slopes)
    return "One call, one walk, two gradients. `h` needed no retain_grad(), and no `.grad` was touched."


_BETWEEN: tuple[tuple, ...] = (
    (lambda x: x * x, lambda h: (h / 7).sum(), [1.5, -2.0], ([1 / 7, 1 / 7], [3 / 7, -4 / 7])),
    (lambda x: x.sum() * x, lambda h: h[0] - 2 * h[1], [1.0, 3.0], ([1.0, -2.0], [-1.0, -13.0])),
    (lambda x: x * 3, lambda h: h * h, 2.0, (12.0, 36.0)),
    (lambda x: x * 3, lambda h: h * h, [0.0], ([0.0], [0.0])),
    (lambda x: x.sum(0), lambda h: h[0] * h[1], [[0.5, 3.0], [1.0, 2.0]], ([5.0, 1.5], [[5.0, 1.5]] * 2)),
    (lambda x: x * x, lambda h: (h * h).sum() / 2, [[400.0], [-300.0]], ([[1.6e5], [9e4]], [[1.28e8], [-5.4e7]])),
)
_BETWEEN_ERRORS = tools.reasons("""
second-time: a second time
    The first walk has used up the graph. `grad` takes several inputs, so one walk is enough.
    look: whether one call can ask for both
another-tensor: not have been used
    You asked for a tensor that the result was not made from.
    look: whether what goes into `f` and into `g` are the very tensors that you ask for, and no copies
no-factors: only for scalar outputs
    From a result with several entries, as `f(x)` is one, `grad` needs a factor for each. For `f(x)` these are the
    gradient of `g(h)` for `h`. Or ask for both in one call.
    look: where each call of `grad` starts, and `grad_outputs=`
""")


def _check_between(answer, f, g, values, slopes):
    x, other = tools.leaf(values), tools.leaf(0.0)  # f and g use a leaf of their own, whose `.grad` is looked at, too
    results = []
    inputs = lambda t: results.append(f(t) + other) or results[-1], lambda h: g(h) + other, x
    given = tools.called(answer, inputs, "two gradients", *_BETWEEN_ERRORS)
    first, second = _two(given, kit.uses(answer, "backward"))
    look = "each `backward()`, and each line that sets a `.grad`"
    if x.grad is not None:
        why = "`backward()` stores what it computes. `autograd.grad` returns it." * kit.uses(answer, "backward")
        raise Wrong("traces", "every `.grad` as it was", f"`x.grad` is {show(x.grad)}", why=why, look=look)
    if any(h.is_leaf is False and h.retains_grad for h in results):
        why = "`retain_grad()`, or a backward with `inputs=`, keeps the gradient of a result in its `.grad`."
        look = "each `retain_grad()` and each `backward()`: does `autograd.grad` need one of them?"
        raise Wrong("traces", "every `.grad` as it was", "the result of `f` keeps its gradient", why=why, look=look)
    for_h, for_x = map(np.array, slopes)
    if not tools.same(first, for_h) or not tools.same(second, for_x):
        code, why, look = _why_not_between(first, second, for_h, for_x)
        raise Wrong(code, "the gradients of `g(f(x))` for `f(x)` and for `x`", show(given), why=why, look=look)


def _two(given, by_backward):
    several = given if isinstance(given, list | tuple) else ()
    if any(one is None for one in several):
        code, belief, why = "none-in-it", "", "An entry is None."
        look = "for which tensors you ask, whether a way leads there, and what you return where a gradient is 0"
        if several[0] is None and several[-1] is not None and by_backward:
            why = "`backward()` leaves a `.grad` on leaves only. The one on the way was computed and let go."
            code, belief, look = "grad-on-the-way", "M03", "how `autograd.grad` asks for tensors on the way"
        raise Wrong(code, "two gradients", show(given), belief=belief, why=why, look=look)
    if len(several) != 2:
        look = "what you return: first the gradient for the result of `f`, then the one for `x`"
        raise Wrong("type", "two gradients, in a tuple or a list", show(given), look=look)
    if any(isinstance(one, list | tuple) for one in several):
        look = "what `grad` returns, also for one input, and what you make of the tensor in it"
        raise Wrong("type", "each of the two is a tensor", show(given), why="An entry is a tuple or a list.", look=look)
    look = "what you make of the two gradients"
    return [tools.array(kit.a_tensor(one, "each of the two", look)) for one in several]


def _why_not_between(first, second, for_h, for_x):
    if tools.same(first, for_x) and tools.same(second, for_h):
        look = "the order of the inputs in your call, and of what you return"
        return "swapped", "Both are right, in the other order.", look
    if tools.same(first.ravel(), for_h.ravel()) and tools.same(second.ravel(), for_x.ravel()):
        why = "The numbers are right, and a shape is not: a gradient has the shape of its tensor."
        return "other-shape", why, "what you do with the two gradients"
    if tools.same(second, for_x):
        look = "for which tensor you asked first, and what you do with what comes"
        return "other-first", "The second is right, the first is not.", look
    if tools.same(first, for_h):
        look = "how the second is made: is it right for any `f`, and for a gradient of 0?"
        return "other-gradients", "The first is right, the second is not.", look
    look = "how each of them is made, and from which tensor you go backward: `g` of it all?"
    return "other-gradients", "Neither of them is right.", look


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Several losses, some leaves",
    kind="fix",
    points=3,
    off={"grad": "the task is to add to it", "again": "the graph is used up", "old grad": "the check has old ones"},
    beliefs=("M08",),
    hints=(
        "Run it on two losses that share a tensor. Which turn of the loop raises, and why?",
        "`mg.autograd.backward` takes a list of roots and walks once. `inputs=` says who is filled, there as in "
        "`loss.backward`.",
        "The weights go into `grad_tensors`: a list with one tensor for each loss.",
    ),
    idea="`mg.autograd.backward(losses, grad_tensors=[mg.tensor(weight) for weight in weights], inputs=wanted)`. Or "
    "add up `weight * loss` and go backward once from the sum, also with `inputs=wanted`.",
)
def weighted(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_WEIGHTED)
    for value, weights, wanted, old in _WEIGHTED:
        _check_weighted(answer, value, weights, wanted, old)
    return "Each loss counted as often as its weight says, and only what was wanted is filled. One call can do it all."


_GIVEN_WEIGHTED = """
def backward_weighted(losses, weights, wanted):
    for loss, weight in zip(losses, weights):
        loss.backward(gradient=mg.tensor(weight))
"""
_OF_ENTRIES = [0.123046875, -60.0], [70.0]
# Weights that float32 holds exactly: a weight may become a tensor of the usual float.
_WEIGHTED: tuple[tuple, ...] = (
    (2.0, [1.0, 10.0], "a", {"a": 1.0, "b": 20.0}),
    (-1.5, [0.5, 2.0, -3.0], "ab", {"a": 1.0, "b": 20.0, "c": 300.0}),
    (0.5, [i / 128 + 0.5 for i in range(120)], "ba", {"a": 1.0}),
    (3.0, [2.0, 2.0], "ba", {}),
    (1.5, [0.0, -0.25, 0.25], "ab", {"a": 1.0, "b": 20.0}),
    (2.0, [1.0, 3.0], "da", {}),
    (2.0, [1.0, 3.0], "da", {"d": 7.0}),
    (0.5, [2.0, -3.0], "ac", {}),  # a gets 0, which is not nothing
    (-6.75, [0.5, 2.0], "ac", {"c": 20.0}),  # both hold the same number
    *(([1.1, -2.0, 0.5], weights, "abc", {}) for weights in _OF_ENTRIES),
)
_WEIGHTED_ERRORS = tools.reasons("""
weights-no-tensors: can be either Tensors or None
    Each entry of `grad_tensors` is a tensor, or None for a plain 1. Yours are Python numbers.
    look: how to make a tensor of each weight
one-factor: tensors and 1 gradients
    `grad_tensors` has one entry for each root. One tensor that holds all weights is a single entry.
    look: how many entries you pass, and whether in a list
one-factor: Mismatch in shape
    Each entry of `grad_tensors` is one factor, in the shape of its root: a single number here.
    look: what each root gets
unreached: appears to not have been used
    No loss was made from one leaf of `wanted` here. Nothing is added to its `.grad`, and that is no error.
    look: `allow_unused=`, and what you add where nothing came
""")


def _check_weighted(answer, value, weights, wanted, old):
    a, b, c, d = (tools.leaf(number) for number in (value, [-3.75], -6.75, 6.0))  # at 1.5 two losses are 0
    leaves, h = {"a": a, "b": b, "c": c, "d": d}, (a * a).sum()  # no loss is made from d
    for name, number in old.items():
        leaves[name].grad = mg.full_like(leaves[name].detach(), number)
    losses = [(lambda: h * 3 + c, lambda: h + a.sum() + b.sum(), lambda: h * h)[i % 3]() for i in range(len(weights))]
    losses[3:4] = losses[:1] if len(losses) > 3 else []  # one loss may be there twice
    slopes = {name: [_slope(loss, leaf) for loss in losses] for name, leaf in leaves.items()}
    parts = {name: [w * slope for w, slope in zip(weights, slopes[name], strict=True)] for name in leaves}
    reached = [name for name, leaf in leaves.items() if any(graphs.reaches(loss, leaf) for loss in losses)]
    inputs = list(losses), list(weights), [leaves[name] for name in wanted]
    expected = _expected_in("a", sum(parts["a"]), old.get("a"))
    tools.called(answer, inputs, expected, _SECOND_TIME, *_WEIGHTED_ERRORS)
    came = {name: None if leaf.grad is None else tools.array(leaf.grad).squeeze() for name, leaf in leaves.items()}
    for name in wanted:
        if came[name] is None and name not in old and name not in reached:
            continue
        if came[name] is None or not kit.close(came[name], old.get(name, 0.0) + sum(parts[name])):
            raise _wrong_weighted(answer, name, came[name], old.get(name), parts[name], weights, slopes[name])
    for name in sorted(set(leaves) - set(wanted)):
        if came[name] != old.get(name):
            got = f"`wanted` has {' and '.join(wanted)}, and `{name}.grad` was {old.get(name)} and is {came[name]}"
            why = "Without `inputs=` a backward fills every tracked leaf that it can reach."
            why = why if came[name] is not None else "It was cleared, and the leaf is not in `wanted`."
            look = "how `backward` is told for whom, and each line that sets a `.grad`"
            raise Wrong("others-filled", f"`{name}.grad` as it was", got, why=why, look=look)


def _slope(loss, leaf):
    return tools.array(mg.autograd.grad(loss, leaf, retain_graph=True, materialize_grads=True)[0]).squeeze()


def _expected_in(name, right, old):
    before = "None" if old is None else f"{old:g}"
    total, right = tools.text(right + (old or 0)), tools.text(right)
    return f"{total} in `{name}.grad`: {before} was there before, and {right} is the weighted sum"


def _wrong_weighted(answer, name, came, old, parts, weights, slopes):
    right, added = sum(parts), (0.0 if came is None else came) - (old or 0.0)
    expected, got = _expected_in(name, right, old), f"`{name}.grad` is {'None' if came is None else tools.text(came)}"
    if weights in _OF_ENTRIES:
        look = "what is added for a leaf with several entries, and for each"
        return Wrong("other-entries", expected, got, look=look)
    if came is None and old is not None:
        look = "whether you clear `.grad`, and whether a backward runs after that"
        return Wrong("cleared", expected, got, why="There was a gradient before your function ran.", look=look)
    if kit.close(added, 0) and right == 0:
        why, look = f"What comes to `{name}` is 0: a number, and not None.", "what becomes of a gradient of 0"
        return Wrong("nothing-added", expected, got, why=why, look=look)
    if kit.close(added, 0) and name == "a":
        look = "for which leaves of `wanted` something arrives, and where it is stored"
        return Wrong("nothing-added", expected, got, why=f"Nothing was added for `{name}`.", look=look)
    if kit.close(added, 0):
        why, look = f"Nothing was added for `{name}`, which is in `wanted`, too.", "for which leaves something is done"
        return Wrong("wanted-missed", expected, got, why=why, look=look)
    if old is not None and kit.close(came, right):
        why = "What was in `.grad` before is gone. backward adds to it, and so should your function."
        look = "each line that sets or clears a `.grad`"
        belief = "M08" if right and not kit.uses(answer, "backward") else ""
        return Wrong("overwritten", expected, got, belief=belief, why=why, look=look)
    if kit.close(added, sum(slopes)):
        why = "Every loss counted once, as without weights. A weight is the factor v of its root."
        return Wrong("weights-lost", expected, got, why=why, look="`grad_tensors=`, or what each weight multiplies")
    if len(set(weights)) < len(weights):
        why = "Some of these weights are equal. With weights that all differ your sum was right."
        return Wrong("equal-weights", expected, got, why=why, look="what your function looks up by a weight")
    if any(kit.close(added, piece) for piece in [*parts, *slopes] if piece):
        why = "What was added is what one of the losses brings alone."
        return Wrong("one-loss", expected, got, why=why, look="whether a backward goes through from every loss")
    if kit.close(added, right / len(weights)):
        why = "That is the mean of the weighted losses. The sum was asked for."
        return Wrong("mean", expected, got, why=why, look="what the losses are divided by")
    return Wrong("other-gradient", expected, got, look="which factor each loss gets")


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The Jacobian, a row at a time",
    kind="write",
    points=3,
    off={"grad 1": "the text allows `backward`"},
    beliefs=("M08", "M24"),
    hints=(
        "One backward gives one row: the factor 1 for one result and 0 for the others. `mg.eye(3)` has such rows.",
        "Compute `f(x)` anew for each row, because backward uses the graph up. And mind what `.grad` does.",
        "`mg.autograd.grad(f(x), x, grad_outputs=v)` returns a tuple with one row. `mg.stack(rows)` joins them.",
    ),
    idea="For each row `v` of `mg.eye(len(f(x)))` take `mg.autograd.grad(f(x), x, grad_outputs=v)[0]`, and "
    "`mg.stack` the rows. With `backward`, clear `x.grad` before each row.",
)
def jacobian(answer):
    kit.a_function(answer)
    for f, values in _JACOBIANS:
        _check_jacobian(answer, f, values)
    return "One walk for each row. That is why nobody builds J of a large result, and why a loss has one row."


_JACOBIANS = (
    (lambda x: x[1:] * x[:-1], [1.5, -2.0, 3.0, 0.5]),
    (lambda x: mg.stack([x[0] * x[1], x[0].exp(), 3 * x[1]]), [0.5, -2.0]),
    (lambda x: (x * x).sum().expand(101), [0.5, -2.0]),
    (lambda x: mg.stack([x[1] * 0, 1e17 * x[0], x[0] * 0, x[0] + 1e-4 * x[1]]), [3.0, 5.0]),
    (lambda x: x.exp(), [0.5]),
    (lambda x: mg.stack([x[0] * x[1], x[1]]), [0.0, 2.0]),
)
_JACOBIAN_ERRORS = tools.reasons("""
no-factors: only for scalar outputs
    The result has several entries, so backward needs a factor for each: one row, not all of them.
    look: `gradient=`, or `grad_outputs=` of `grad`
factors-for-inputs: Mismatch in shape
    There is a factor for each entry of what you go backward from: the two have one shape. Here they do not.
    look: the shape of `f(x)`, and of what you pass as factors
rows-for-inputs: out of bounds
    J has a row for each result, and there may be fewer results than inputs.
    look: over what your function counts: the entries of `x`, or those of `f(x)`
""")


@functools.cache  # by far the longest part of the check
def _jacobian(f, values):
    return tools.array(mg.autograd.functional.jacobian(f, tools.leaf(values)))


def _check_jacobian(answer, f, values):
    x, visits, callers = tools.leaf(values), [], []

    def watched(t):
        callers.extend(frame.f_globals.get("__name__") for frame, _ in traceback.walk_stack(None))
        visits.append(tools.array(t) if type(t) is mg.Tensor else t)
        return f(t)

    right = _jacobian(f, tuple(values))
    expected = f"a tensor of shape {right.shape}: a row for each result, a column for each input"
    try:
        given = tools.called(answer, (watched, x), expected, _SECOND_TIME, _TUPLE_IN_ROWS, *_JACOBIAN_ERRORS)
    finally:
        if mg.autograd.functional.__name__ in callers:
            why = "That is right in your own programs. Here you build it, so that you know what it does."
            look = "one row at a time, with `backward` or `autograd.grad`"
            expected, got = "rows that you ask for yourself", "`f` was called by `autograd.functional`"
            raise Wrong("library", expected, got, why=why, look=look)
    if type(given) is np.ndarray and given.ndim == right.ndim + 1:  # a stack of tuples
        raise _TUPLE_IN_ROWS.wrong(expected, f"an array of shape {given.shape}")
    given = tools.array(tools.result(given))
    if strange := [visit for visit in visits if not isinstance(visit, np.ndarray)]:
        got = f"`f` was called with an object of type {type(strange[0]).__name__}"
        why, look = "Here the rows come from walks, by `backward` or `autograd.grad`.", "what you call `f` with"
        raise Wrong("nudged", "`f` called with a plain tensor", got, why=why, look=look)
    moved = any(not np.array_equal(visit, values) for visit in visits)
    if moved or not visits:
        why = "Autograd needs `f` at the whole of `x`, and nowhere else."
        got = "`f` was called with something else than the numbers of `x`" if visits else "`f` was not called"
        raise Wrong("nudged", expected, got, why=why, look="what you call `f` with")
    if not tools.same(given, right):
        by_backward = kit.uses(answer, "backward")
        raise _wrong_jacobian(
            given, right, tools.array(f(x)), expected, by_backward, by_backward and not kit.clears(answer)
        )


def _wrong_jacobian(given, right, result, expected, by_backward, adds_up):
    came = f"{given.tolist()} of shape {given.shape}" if given.size <= 12 else f"a tensor of shape {given.shape}"
    sums = right.sum(0)
    mistakes = {
        "no zeros": [right[right.any(1)]],
        "sums": [sums, sums[None]],
        "diagonal": [np.diag(sums), np.diag(sums)[: len(right)]],
        "running": [right.cumsum(0)],
        "turned": [right.T],
        "one": [*right, *right[:, None]],
        "values": [result],
    }
    known = [name for name, arrays in mistakes.items() if any(tools.same(given, array) for array in arrays)]
    facts = {"is": known[0] if known and right.size > 1 else None}  # of a single number all are one
    facts |= {"shape": given.shape == right.shape, "backward": by_backward}
    facts["same"] = facts["shape"] and tools.same(given, np.broadcast_to(given[-1], given.shape))
    facts["adds"] = ": backward adds to `.grad`, it does not replace it" * adds_up
    wrong = tools.told(_NOT_JACOBIAN, facts, expected, came)
    if wrong.verdict.belief == "M08" and not adds_up and not (by_backward and tools.same(given[-1], sums)):
        wrong.verdict.belief = ""
    return wrong


_NOT_JACOBIAN = kit.patterns("""
other-shape: is=no zeros
    The rows in which all slopes are 0 are missing. J has a row for each result.
    look: what your function leaves out
column-sums: is=sums (M24)
    This is the sum of all rows, as ones bring it: the slope of the sum of the results.
    look: the factors that you start from
diagonal: is=diagonal (M24)
    On the diagonal are sums of columns, as ones bring them. That is J only if each input moves one result.
    look: the factors that you start from
rows-add-up: is=running (M08)
    Each row holds those before it as well{adds}.
    look: what each row starts from: the factors, and what is in `x.grad` by then
transposed: is=turned
    The numbers are right. But rows and columns are swapped: a row belongs to a result.
    look: how you join the rows
one-row: is=one
    This is a single row. There is one for each result.
    look: how often your function goes backward
value-not-slopes: is=values
    That is `f(x)` itself, not how it moves.
    look: what you return
same-row: same=True, backward=True (M08)
    All rows are the same, as when each is `x.grad` itself, one tensor that every backward changes.
    look: what you append, and what changes later
same-row: same=True
    All rows are the same.
    look: what each row is made of
other-shape: shape=False
    look: how many rows you ask for, and how you join them
other-slopes: else
    look: one row alone: the factors, and what comes
""")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A mirror for gradients",
    kind="write",
    points=3,
    off={"memory": "a view has the values of `x`, too", "result hooks": "a hook on the result is one way"},
    hints=(
        "Going forward nothing happens. Going backward a hook can change what passes.",
        "A hook on `x` itself would change what comes from everywhere. You need a tensor of its own.",
        "`y = x * 1`, a hook on `y` that returns `-grad`, and return `y`.",
    ),
    idea="`y = x * 1`, then `y.register_hook(lambda grad: -grad)`, and `return y`. The hook sits on this one way; "
    "what else is made from `x` does not pass it.",
)
def mirror(answer):
    kit.a_function(answer)
    for values in ([0.5, -2.0, 3.0, -3e8, 0.0], [4.0], 2.0, [], [[[1e-3, 0.1], [1e-20, 0.0]]]):
        _check_mirror(answer, values, values != [4.0])
    return "The value passes as it is, the gradient with the other sign, and only on this one way."


def _check_mirror(answer, values, as_leaf):
    x, z = tools.leaf(values), tools.leaf(np.ones(np.shape(values)))
    given = x if as_leaf else x * 1
    numbers = tools.array(given)
    y = tools.called(answer, (given,), "a tensor with the values of `x`")
    if isinstance(y, mg.autograd.graph.RemovableHandle):
        look = "what `register_hook` returns, and what your `return` gives back"
        raise Wrong("handle-returned", "a tensor with the values of `x`", "the handle of your hook", look=look)
    y = tools.result(y)
    if not np.array_equal(tools.array(y), numbers):
        why = "Your operation turns the sign on the way forward, too." if kit.same_values(-y, values) else ""
        look = "the operation that makes your result: it must change neither the values nor the shape"
        came = f"{tools.text(tools.array(y))}, of shape {tuple(y.shape)}"
        came += ", other in the last digits" if came.startswith(tools.text(numbers)) and y.shape == x.shape else ""
        raise Wrong("value-changed", f"the values {values}, of shape {tuple(x.shape)}", came, why=why, look=look)
    if not graphs.reaches(y, x):
        why = "Autograd knows no way from your result to `x`."
        raise Wrong("cut-off", "a result that leads back to `x`", show(y), why=why, look="what cuts the way back")
    v, u = np.resize([50.1, -7e9, 1e-3, 0.0, 8e9], x.shape), np.full(x.shape, 10.0)
    _refuse_changed(x, "x")
    loss = ((y + z) * mg.tensor(v)).sum() + (given * mg.tensor(u)).sum()
    expected = f"{(u - v).tolist()} for `x`: minus {v.tolist()} through your result, plus {u.tolist()} by another way"
    expected += "" if as_leaf else "; here `x` is the result of an operation"
    tools.walk(loss.backward, None, True)
    came = None if x.grad is None else tools.array(x.grad)
    if came is None or not tools.same(came, u - v):
        raise _wrong_mirror(came, u, v, y is given, expected, y)
    if not tools.same(tools.array(z.grad), v):
        why = "Another tensor got another gradient. The one that comes to you may be shared: change no entry."
        look = "each operation in place on a gradient that comes: return a new tensor"
        raise Wrong("in-place", "the gradients of others as they are", show(z.grad), why=why, look=look)
    x.grad = None
    tools.walk(loss.backward)
    if not tools.same(tools.array(x.grad), u - v):
        why = "The first walk was right. A second one, through what was retained, was not."
        raise Wrong("once-only", expected, show(x.grad), why=why, look="what your function keeps from walk to walk")
    _refuse_kept(answer, y, given)


def _wrong_mirror(came, u, v, same_tensor, expected, y):
    known = [getattr(getattr(node, "_node", node), "_hooks", None) for node in graphs.nodes(y)]
    hooks = sum(len(several) for one in known if one for several in one.tensor_hooks.values())
    got = f"{came.tolist()}" if came is not None else "None"
    if came is not None and tools.same(came, -(u + v)):
        why = "What comes by the other way has the other sign, too, as with a hook on `x` itself, where all ways end."
        return Wrong("hook-on-x", expected, got, why=why, look="on which tensor your hook sits")
    if same_tensor:
        why = "You return `x` itself. What comes by your result and what comes by other ways are one and the same then."
        return Wrong("same-tensor", expected, got, why=why, look="what your `return` gives back")
    if came is not None and tools.same(came, u + v):
        why = "The gradient came with the sign that it had: it was turned twice, or not at all."
        why += " A hook changes it by what it returns, and only on the way that it sits on." if hooks == 1 else ""
        why += " Several hooks sit on the way: each gets what the one before it returns." if hooks > 1 else ""
        look = "each hook: what it returns, and where it sits; and how often the sign is turned"
        look = look if hooks else "what turns the sign of a gradient, and of that on this way alone"
        return Wrong("gradient-unchanged", expected, got, why=why, look=look)
    if came is not None and tools.same(came, u):
        why = "Through your result came nothing, or only zeros. Minus the gradient was asked for."
        return Wrong("gradient-lost", expected, got, why=why, look="what becomes of it on its way to `x`")
    return Wrong("other-gradient", expected, got, look="what becomes of the gradient that arrives at your result")


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Undo broadcasting",
    kind="write",
    points=2,
    off={"memory": "where nothing was broadcast `grad` itself is right"},
    beliefs=("M37",),
    hints=(
        "Where the forward pass repeated a number, add up. Which dimensions were repeated?",
        "Two kinds: dimensions that the input did not have (in front), and those where it had 1.",
        "`grad.sum(0)` removes the first dimension. `grad.sum(i, keepdim=True)` leaves a 1 in its place.",
    ),
    idea="While `grad` has more dimensions than `shape`: `grad = grad.sum(0)`. Then, for each `i` with "
    "`shape[i] == 1`: `grad = grad.sum(i, keepdim=True)`.",
)
def fit(answer):
    kit.a_function(answer)
    for shape, several in {
        (3,): [(4, 3), (1, 3)],
        (4, 1): [(4, 3)],
        (): [(2, 3), ()],
        (1, 1, 1): [(2, 4, 3)],
        (2,): [(2, 2, 3, 2)],
        (3, 1, 2): [(2, 3, 4, 2)],
        (3, 1): [(2, 1, 2, 2, 3, 4)],
        (1, 3): [(1, 3)],
        (5,): [(5,), (0, 5)],
    }.items():
        for full in several:
            _check_fit(answer, full, shape)
    return "Repeated on the way forward, added up on the way back: the gradient has the shape of its tensor."


def _check_fit(answer, full, shape):
    numbers = np.sqrt(np.arange(2.0, 2.0 + np.prod(full))).reshape(full) - 2.53
    expected = f"a tensor of shape {shape} for a gradient of shape {full}"
    grad = mg.tensor(numbers)
    given = tools.result(tools.called(answer, (grad, shape), expected, _RESHAPED))
    if not tools.same(tools.array(grad), numbers):
        raise Wrong("input-changed", "`grad` as it was", show(grad), look="each in-place operation on `grad`")
    leaf = mg.zeros(shape, dtype=mg.float64, requires_grad=True)
    came, right = tools.array(given), tools.array(mg.autograd.grad(leaf.expand(full), leaf, grad)[0])
    if not tools.same(came, right):
        raise _wrong_fit(answer, came, numbers, right, shape, expected)


def _wrong_fit(answer, came, numbers, right, shape, expected):
    got = f"{tools.text(came)} of shape {came.shape}" if came.size <= 6 else f"shape {came.shape}"
    if came.shape == numbers.shape and came.size != right.size:
        why = "This is `grad` itself." if tools.same(came, numbers) else "This has the shape of `grad`."
        why += " The gradient of the input has the shape of the input: add up."
        look = "which dimensions were repeated"
        belief = "M37" if shape == (3,) and not kit.uses(answer, "sum") else ""  # elsewhere it added up before
        return Wrong("not-summed", expected, got, belief=belief, why=why, look=look)
    if came.shape != right.shape and came.size == right.size and np.allclose(came.ravel(), right.ravel(), 1e-4, 1e-4):
        why = "The numbers are right, and the shape is not: a gradient has exactly the shape of its tensor."
        look = "what makes the shape: `keepdim`, `squeeze`, `reshape`"
        return Wrong("other-shape", expected, got, why=why, look=look)
    if right.size != 1 and came.size and np.allclose(came, numbers.sum(), 1e-4):
        why = "Everything was added up. Only what was repeated is."
        return Wrong("summed-too-far", expected, got, why=why, look="over which dimensions you sum")
    if came.size == right.size and np.allclose(came.ravel() * numbers.size / right.size, right.ravel(), 1e-4):
        why = "That is the mean. A number that is used several times moves several results: what they send is added."
        return Wrong("mean", expected, got, why=why, look="the sum of what comes back by each use")
    single = np.isin(np.round(came, 6), np.round(numbers, 6)).all()
    if single and came.shape == right.shape and right.size < numbers.size:
        why = "These are single entries of the gradient. What comes back by the other uses is lost."
        return Wrong("one-of-many", expected, got, why=why, look="what happens to the other entries")
    if tools.same(came, numbers.sum(0)):
        why = "This is the sum over the first dimension alone. What was repeated is another one, or more than one."
        look = "the dimensions that are missing in front, and those where `shape` has a 1"
        return Wrong("first-dimension", expected, got, why=why, look=look)
    look = "which numbers of `grad`, and of nothing else, go into one of yours: what was repeated is added up"
    return Wrong("other-sum", expected, got, look=look)


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A NaN from nowhere",
    kind="fix",
    points=2,
    beliefs=("M26",),
    hints=(
        "Go backward from the given function at 0 and print `x.grad`. What does `log` do at 0?",
        "`where` sends a 0 into the branch that it did not take, and 0 times infinity is NaN.",
        "Choose before the logarithm, too: let it see a 1 where `x` is 0.",
    ),
    idea="`safe = mg.where(x > 0, x, 1.0)`, and then `mg.where(x > 0, safe * mg.log(safe), 0.0)`. The inner "
    "`where` drops what comes back for entries that it did not take from `x`; with a 1 there, it is no NaN either.",
)
def surprise(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_SURPRISE)
    for values in ([0.5, 0.0, 2.0], [0.0], [1.0, 0.25], [1e-3, 1e-36, 1e-300, 5e30], [-1.5, 0.5, 0.0, -2.0]):
        x = tools.leaf(values)
        numbers = tools.array(x)
        positive = np.where(numbers > 0, numbers, 1.0)
        slopes = np.where(numbers > 0, np.log(positive) + 1, 0.0)
        look = "`x * log(x)` where `x` is positive, and 0 elsewhere"
        _check_chosen(answer, {"x": x}, positive * np.log(positive), {"x": slopes}, "log", look)
        _check_nothing_hidden(x)
    return "The slopes are right, and no NaN arrives. A `where` before the logarithm sends back only what it took."


_GIVEN_SURPRISE = """
def surprise(x):
    return mg.where(x > 0, x * mg.log(x), mg.zeros_like(x))
"""


def _check_chosen(answer, inputs, right, slopes, steep, look):
    """The values of a repaired `where`, and what comes to its inputs, by name: to `x`, and to what it is used with."""
    x, *_ = inputs.values()
    y = tools.called(answer, tuple(inputs.values()), "a tensor of the shape of `x`")
    if type(y) is mg.Tensor and np.isnan(tools.array(y)).any():
        why = "The value is NaN, too. 0 · log(0) is NaN, and so is the logarithm or the root of a negative number."
        raise Wrong("value-nan", look, show(y), why=why, look="the entries that are NaN")
    y = tools.result(y)
    tools.refuse_other_values(y, right, "the values as before", look)
    for name, tensor in inputs.items():
        _refuse_changed(tensor, name)
        if not graphs.reaches(y, tensor) and (tensor is x or np.any(slopes[name])):
            why = f"No way leads back to `{name}` any more: without a gradient there is no NaN, but no slope either."
            raise Wrong("cut-off", f"a way back to `{name}`", show(y), why=why, look="what cuts the way back")
    factors, numbers = np.resize([1.0, -2.0, 3.0, 0.5], x.shape), tools.array(x)
    tools.walk(y.backward, mg.tensor(factors, dtype=y.dtype))
    for name, tensor in inputs.items():
        slope = factors * slopes[name] + 0.0 if tensor is x else (factors * slopes[name]).sum()  # no -0
        came = None if tensor.grad is None else tools.array(tensor.grad)
        if (came is None and np.any(slope)) or (came is not None and not tools.same(came, slope)):
            expected = f"`{name}.grad` is {tools.text(slope)} for x = {numbers.tolist()}"
            expected += f" and `backward(gradient=...)` with {factors.tolist()}"
            got = f"it is {'None' if came is None else tools.text(came)}"
            came = np.zeros(slope.shape) if came is None else came
            facts = {"nan": bool(np.isnan(came).any()), "inf": bool(np.isinf(came).any()), "steep": steep}
            facts["chosen"] = kit.uses(answer, "where")
            facts["right"] = tensor is x and tools.same(came[numbers > 0], slope[numbers > 0])
            raise tools.told(_NOT_CHOSEN, facts, expected, got)
    _refuse_kept(answer, y, *inputs.values())


_NOT_CHOSEN = kit.patterns("""
still-nan: nan=True, chosen=True (M26)
    What is left out is computed all the same, and gets a 0 back. If a slope is infinite there, as that of `{steep}` at
    0, or something is NaN, this makes NaN.
    look: what goes into `{steep}` where `x` is not positive, and how steep it is there
still-nan: nan=True
    Somewhere on the way back an infinite slope, as that of `{steep}` at 0, meets a 0, or something is NaN.
    look: what goes into `{steep}` where `x` is not positive, and how steep it is there
infinite: inf=True
    Something on the way back is infinitely steep, as `{steep}` is where a number is so small that it counts as 0.
    look: what goes into `{steep}` for the smallest of these numbers, and with which dtype
slope-at-zero: right=True
    The slopes are right where `x` is positive. Elsewhere they are to be 0.
    look: each way by which something comes back to `x` where it is not positive
other-slope: else
    This is another slope.
    look: each `detach`, hook and dtype, each number that you added or replaced, and each backward of your own
""")


def _check_nothing_hidden(x):
    """A hook that stays on x would hide every later NaN, a true one included."""
    x.grad = None
    (x * float("nan")).backward(gradient=mg.ones_like(x))
    if not np.isnan(tools.array(x.grad)).all():
        why = "A hook stays on `x` and removes every NaN from now on, also one that you should see."
        look = "where the NaN comes from, not where it arrives"
        raise Wrong("nan-hidden", "`x` as it was, without a hook", "NaN of others is hidden", why=why, look=look)


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Build this Jacobian",
    kind="build",
    points=2,
    off={"dtype": "a matrix of the usual floats is right, too"},
    hints=(
        "Read one row. Which two inputs does this result depend on, and how?",
        "Row 0 says: the result falls by 1 when input 0 rises by 1, and rises by 1 when input 1 does.",
        "Each result is an input minus the one before it. `x[1:]` leaves out the first, `x[:-1]` the last.",
    ),
    idea="`return x[1:] - x[:-1]`: the differences of neighbours. All slopes are 1 or -1, wherever `x` is.",
)
def steps(answer):
    kit.a_function(answer)
    long = [0.5 * i * i for i in range(30)]
    for values in ([1.0, 3.0, -2.0, 0.5, 4.0], [2.0, -1e9, -1e9], [3.0, -3.0], [0.0, 0.0, 3e38, 3e38], long):
        _check_steps(answer, values)
    with contextlib.suppress(Wrong):  # a matrix of the usual floats cannot be multiplied with it
        kit.call(answer, mg.tensor([3.0, 5.0], dtype=mg.float64, requires_grad=True))  # the result's dtype is looked at
    return "Differences of neighbours: each result has two inputs, one with the slope 1 and one with -1."


def _check_steps(answer, values):
    x, size = mg.tensor(values, requires_grad=True), len(values)
    right = _of_steps(size)
    expected = f"the Jacobian in the picture, with {size} columns"
    y = tools.result(tools.called(answer, (x,), expected))
    if y.dim() == 2 and tools.same(tools.array(y), right):
        why = "This is the Jacobian itself. Asked for is a function that has it."
        raise Wrong("matrix-returned", expected, show(y), why=why, look="what the function does to `x`")
    if not graphs.reaches(y, x):
        why = "No way leads from your result to `x`, so all its slopes are lost."
        look = "each `detach`, `item` and `no_grad`, and whether `x` itself goes in"
        raise Wrong("no-way", expected, show(y), why=why, look=look)
    if y.dim() != 1:
        look = "the number of dimensions of what you return: one entry for each row of the picture"
        raise Wrong("other-shape", expected, f"a result of shape {tuple(y.shape)}", look=look)
    given = _jacobian_of(y, x)
    if not tools.same(given, right):
        elsewhere = tools.constant([1 - 3 * value for value in values]).requires_grad_()
        raise _wrong_steps(given, right, lambda: _jacobian_of(answer(elsewhere), elsewhere))
    _refuse_other_moves(answer, y, x, right)
    _refuse_kept(answer, y, x)


def _refuse_other_moves(answer, y, x, right):
    """A hook or a `detach` can make autograd find slopes that the results do not have."""
    moves = np.resize([1.0, -2.0, 4.0], x.shape)
    there = mg.tensor(tools.array(x) + moves, dtype=x.dtype, requires_grad=True)
    came = tools.array(tools.result(kit.call(answer, there))) - tools.array(y)
    if not np.allclose(came, right @ moves, 1e-4, 1e-3 + 1e-6 * abs(tools.array(x)).max()):
        why = "Autograd finds the slopes of the picture, but your results move otherwise when `x` does."
        expected = f"results that move by {tools.text(right @ moves)} when `x` moves by {moves.tolist()}"
        look = "each `detach`, hook and backward of your own"
        raise Wrong("other-moves", expected, f"they move by {tools.text(came)}", why=why, look=look)


def _jacobian_of(y, x):
    return np.stack([tools.array(tools.walk(mg.autograd.grad, y, x, v, True)[0]) for v in mg.eye(len(y))])


def _of_steps(size):
    return np.eye(size)[1:] - np.eye(size)[:-1]


def _wrong_steps(given, right, elsewhere):
    code, why, look = _why_not_steps(given, right, elsewhere)
    picture = _matrix_card(given, "your Jacobian") if given.size <= 60 else None
    got = f"a Jacobian of shape {given.shape}"
    return Wrong(code, "the Jacobian in the picture", got, why=why, look=look, picture=picture)


def _why_not_steps(given, right, elsewhere):
    size = right.shape[1]
    if tools.same(given, -right):
        return "signs", "Every sign is the other one.", "which of the two neighbours is subtracted"
    if tools.same(given, abs(right)):
        return "added", "The right inputs, but both slopes are 1: you add the neighbours.", "the sign of the -1"
    if given.shape == right.shape and (
        tools.same(given, np.minimum(right, 0)) or tools.same(given, np.maximum(right, 0))
    ):
        return "half", "One of the two slopes is there, the other is 0.", "what else goes into each result, and how"
    if tools.same(given, np.tril(np.ones((size, size)))):
        return "running-sums", "These are running sums: each result depends on all inputs before it.", "one row"
    if given.shape[0] != right.shape[0]:
        rows = f"Your result has {given.shape[0]} entries for {size} inputs, so J has as many rows."
        return "other-rows", rows, "the number of rows and of columns in the picture"
    if not tools.same(given, elsewhere()):
        return "depends-on-x", "At another `x` your slopes are other ones. In the picture they are not.", "one row"
    return (
        "other-slopes",
        "The shape is right, the slopes are not.",
        "one row: which inputs it names, and the slope of each",
    )


# --- 11 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Safe for whom?",
    kind="fix",
    points=3,
    beliefs=("M26",),
    hints=(
        "Which number goes into the square root where `x` is 0 or less? How steep is the root there?",
        "The inner `where` sends nothing on to `x` for those entries. But `w` meets the slope of the root first.",
        "Put a number in the place of the 0 at which the root has a finite slope.",
    ),
    idea="`safe = mg.where(x > 0, x, mg.ones_like(x))`: the root of `1 * w` has a finite slope, and 0 times that is 0, "
    "for `w`, too. `x` was safe with any number, for the inner `where` drops what arrives there.",
)
def roots(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_ROOTS)
    nearly_0 = 1e-37 if "dtype" in trial.circumstances else 1e-307
    for values, factor in (
        ([4.0, 0.0, 1.0], 4.0),
        ([0.0], 2.0),
        ([3.0, 9e4, 1e-34, 1e-300], 4e3),
        ([-3.0, 2.0, 0.0], nearly_0),
    ):
        x, w = tools.leaf(values), tools.leaf([factor]).sum().detach().requires_grad_()
        numbers = tools.array(x)
        taken, positive = numbers > 0, np.where(numbers > 0, numbers, 1.0)
        by_x, by_w = np.sqrt(factor / positive) / 2, np.sqrt(positive / factor) / 2
        slopes = {"x": np.where(taken, by_x, 0.0), "w": np.where(taken, by_w, 0.0)}
        look = "the roots of `x * w` where `x` is positive, and 0 elsewhere"
        _check_chosen(answer, {"x": x, "w": w}, np.where(taken, np.sqrt(positive * factor), 0.0), slopes, "sqrt", look)
    return "Each slope that is multiplied by 0 is finite now, so no NaN reaches `x` or `w`."


_GIVEN_ROOTS = """
def roots(x, w):
    safe = mg.where(x > 0, x, mg.zeros_like(x))
    return mg.where(x > 0, mg.sqrt(safe * w), mg.zeros_like(x))
"""


# --- Pictures ------------------------------------------------------------------------------------


def show_target(name):
    """Show the Jacobian that an exercise asks for: show_target("steps")."""
    if name != "steps":
        cards.display(cards.notice_card('There is a picture for "steps".'))
        return
    cards.display(_matrix_card(_of_steps(5), "J for five inputs: a row for each result, a column for each input"))


# Thin, so that the page's own ink can be read on them.
_TINTS = {1: "rgba(0,114,178,0.3)", 0: "rgba(0,0,0,0)", -1: "rgba(213,94,0,0.3)"}


def _matrix_card(matrix, title):
    """A matrix as a table of tinted cells, and as text."""
    style = f"border:1px solid {cards.LINE};padding:4px 8px;text-align:right;background-color:"
    table_rows = [
        "".join(f'<td style="{style}{_TINTS.get(np.sign(number), _TINTS[0])}">{number:.7g}</td>' for number in row)
        for row in matrix + 0.0
    ]
    body = "".join(f"<tr>{cells}</tr>" for cells in table_rows)
    table = f'<table style="border-collapse:collapse">{body}</table>'
    html = f'<div style="padding:10px 14px;display:inline-block"><div>{title}</div>{table}</div>'
    lines = ["  " + " ".join(f"{number:5.7g}" for number in row) for row in matrix + 0.0]
    return cards.Card(html, "\n".join([title, *lines]))


chapter.lock()
