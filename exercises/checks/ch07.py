"""The checks of chapter 07, "What may I overwrite?"."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import graphs, kit, observe, tools
from exercises.checks.kit import Wrong, show
from exercises.checks.targets import Targets

chapter = kit.Chapter(__name__, "07", "What may I overwrite?")


# --- What several exercises share ----------------------------------------------------------------

(_LEAF,) = tools.reasons("""
leaf-overwritten: leaf Variable that requires grad (M07)
    A tracked leaf, and a view of it (as a slice is), cannot be overwritten while autograd records: it would be no leaf
    any more.
    look: the line that the error names: do you want to move the leaf, or to compute with changed numbers?
""")
_SPOILED = "modified by an inplace operation"


def _same(tensor: mg.Tensor | None, numbers: Any) -> bool:
    return tensor is not None and kit.same_values(tensor, numbers)


def _text(tensor: mg.Tensor | None) -> str:
    return "None" if tensor is None else tools.text(tools.array(tensor))


_NAN = kit.patterns("""
nan-gradient: nan=True
    The value is right, but on the way back something is no number, as infinity times 0, or 0 divided by 0, are none.
    look: each step that may have no finite slope at these numbers, as a division, a root or an exponential
""")


def _go_backward(answer: Any, name: str, inputs: tuple, right: Any, factors: Any, patterns: Any) -> None:
    """Call a function and go backward from its result, which has to be `right`, to its first input, called `name`.

    The diagnosis for a saved value that was overwritten is that of the patterns with `refused`.
    """
    leaf, before = inputs[0], tools.array(inputs[0])
    expected = f"a result that leads back to `{name}`, and `{name}` as it was"
    try:
        y = tools.result(tools.called(answer, inputs, expected, _LEAF, *tools.FLAG_OF_A_RESULT))
    except Wrong as wrong:  # a view may be taken for a copy
        at_leaf = wrong.verdict.code != "leaf-overwritten" or f"(your line: {name}" in wrong.verdict.got
        raise tools.if_seen(at_leaf, wrong) from None
    if not _same(leaf, before):
        look = f"what writes into the memory of `{name}`, and each assignment to a `.data`"
        got = f"`{name}` is {_text(leaf)}, and was {tools.text(before)}"
        raise Wrong("input-changed", f"`{name}` as it was", got, why=f"`{name}` itself has changed.", look=look)
    look = "what each line of your function computes, and where it puts that"
    tools.refuse_other_values(y, right, "the value that the task asks for", look)
    if leaf.grad is not None:
        raise tools.filled(f"`{name}.grad` as it was", f"it is {show(leaf.grad)} when your function returns")
    if not graphs.reaches(y, leaf):
        why = f"From your result no way leads back to `{name}`."
        look = f"what cuts the way: `detach`, `no_grad`, `.data`, a flag, numbers, or what is not made of `{name}`"
        raise Wrong("cut-off", f"a result that leads back to `{name}`", show(y), why=why, look=look)
    try:
        y.backward(gradient=mg.tensor(factors, dtype=y.dtype), retain_graph=True)  # a picture shows what is saved
    except Exception as error:
        raise _stopped(y, kit.sandbox.describe_error(error), patterns) from None


def _stopped(y: mg.Tensor, got: str, patterns: Any) -> Wrong:
    if _SPOILED not in got:
        look = "what your function does to the graph of its result"
        return Wrong("no-way-back", "a result that backward() can start from", got, look=look)
    wrong = tools.told(patterns, {"refused": True}, "a result whose backward() runs", got)
    picture = mg.draw(y, saved=True, params={"your result": y}) if len(graphs.operations(y)) <= 12 else None
    if picture is not None and "would fail" in picture.text:
        wrong.verdict.why, wrong.verdict.picture = f"{wrong.verdict.why} In the picture such a node is red.", picture
    return wrong


def _refuse_gradient(answer: Any, inputs: tuple, leaf: Any, what: str, right: Any, patterns: Any, known: Any = None):
    """Raise what these patterns say of a gradient that is not right; `known` is a wrong one that they tell apart."""
    if _same(leaf.grad, right):
        return
    expected, got = f"{what}, is {tools.text(right)}", f"it is {_text(leaf.grad)}"
    new, way = observe.anew(inputs), observe.uncounted(answer, *observe.anew(inputs))
    facts = {"lost": leaf.grad is None and leaf is not inputs[0], "bypassed": bool(way)}
    facts["known"] = known is not None and _same(leaf.grad, known)
    facts["nan"] = leaf.grad is not None and np.isnan(tools.array(leaf.grad)).any()
    calls = observe.calls_of(answer, new, new[-1])
    signs = {"v_lost": bool(calls & {"item", "tolist", "numpy", "__float__"}) and "detach" not in calls}
    raise tools.told((*_NAN, *patterns), facts, expected, got, **signs)


def _shown_by_the_first(patterns: tuple[kit.Pattern, ...]) -> tuple[kit.Pattern, ...]:
    """Patterns, where of several with one text only the first shows its belief."""
    texts = [one.why for one in patterns]
    return tuple(replace(one, belief=one.belief * (texts.index(one.why) == i)) for i, one in enumerate(patterns))


def _predict_words(answer: Any, truth: dict, patterns: Any, words: tuple[str, ...], kinds: str, looks: dict) -> None:
    """`kit.predicted` for values that are one of these words, in capitals or not."""
    plain = lambda value: value.strip().lower() if isinstance(value, str) else show(value)  # noqa: E731
    given = {name: plain(value) for name, value in kit.a_dict(answer, truth).items()}
    for name, value in given.items():
        if value not in words:
            raise Wrong("kind", f"`{name}` is {kinds}", show(answer[name]), look=f"the value of `{name}`")
    kit.predicted(given, truth, patterns, kinds, looks)


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Count the overwrites",
    kind="predict",
    points=2,
    beliefs=("M18",),
    hints=(
        "First sort the tensors by memory: which of them lie on the memory of `a`?",
        "Then by counter: a view and `detach()` share that of `a`. `.data` has a counter of its own.",
        "`a += 1` and `v *= 2` count for `a`, `v` and `d`. `raw[0] = 7.0` writes into the memory of `a` untold.",
    ),
    idea="`a`, `v` and `d` share one counter: 2. `raw` counts its own overwrite: 1. `c` is a memory of its own: 1. `n` "
    "is new: 0. `raw[0] = 7.0` wrote into the memory of `a`, so `a[0]` is 7.",
)
def versions(answer):
    truth = {"a": 2, "v": 2, "d": 2, "raw": 1, "c": 1, "n": 0, "a[0]": 7.0}
    looks = {name: f"on which memory `{name}` lies, and who counts there" for name in truth}
    looks["c"] = "the overwrites that go through the name `c`"
    looks["raw"] = "the overwrites that go through the name `raw`"
    looks["a[0]"] = "each line that writes at place 0 of the memory of `a`, in their order"
    kit.predicted(answer, truth, _VERSIONS, "a number", looks)
    return "One memory, one counter, except for `.data`: it writes into the same memory and counts for itself."


_VERSIONS = kit.patterns("""
data-counts-along: a=3, d=3, raw=3 (M18)
    3 would be right if `raw[0] = 7.0` counted for `a`. But `.data` shares the memory, not the counter.
    look: the picture of the chapter with `d`, `raw` and `array`
clone-shares: a=3, c=3 or c=3
    `clone()` has a memory and a counter of its own: `c.zero_()` counts for `c`, and nothing else does.
    look: the overwrites that go through the name `c`
counted-too-often: a=3
    A new tensor starts at 0, and two of the four overwrites count for `a`: one through `a`, one through `v`.
    look: for each overwrite, by which name it is made
data-counts-along: raw=3 or raw=2
    `.data` shares the memory of `a`, not its counter: it has its own, which starts at 0.
    look: the overwrites that go through the name `raw`
in-place-is-new: a=0
    `a += 1` makes no new tensor: it overwrites `a`, and so do all who overwrite a view of it.
    look: what the first rule of the chapter counts
detach-copies: d=0
    `d` is no copy, and has no counter of its own: it lies on the memory of `a`, and shares its counter.
    look: which of the four in the second line has a memory of its own
view-counts-alone: a=1, v=1 or v=1 or a=1
    A view has no counter of its own: `a += 1` and `v *= 2` overwrite the same memory, and both count for both.
    look: what a view shares with its base
new-inherits: n=2 or n=1
    `a * 10` makes a new tensor, and to be made is not to be overwritten. Nobody has overwritten it yet.
    look: the first rule of the chapter, and whether `n` is on the memory of `a`
data-copies: a[0]=2.0
    `.data` lies on the memory of `a`. What is written there is in `a`, counted or not.
    look: what `.data` shares, and what it does not
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Fine or refused?",
    kind="predict",
    points=2,
    beliefs=("M22",),
    hints=(
        "Write down the slope of each first operation. Does it need the input, the result, or neither?",
        "What the slope needs was saved, and only that has to stay as it was.",
        "The slope of `w * data` for `w` is `data`. That of `log` is 1 divided by the input.",
    ),
    idea="exp saves its result (A error, B ok), the square its input (C ok, D error), 7 · h no tensor of yours (E ok), "
    "a product with data the data (F error), log its input (G ok).",
)
def sides(answer):
    truth = {"A": "error", "B": "ok", "C": "ok", "D": "error", "E": "ok", "F": "error", "G": "ok"}
    looks = {name: f"the slope of the first operation in line {name}: what does it need?" for name in truth}
    _predict_words(answer, truth, _SIDES, ("ok", "error"), '"ok" or "error"', looks)
    return "The slope says what was saved, and only what was saved has to stay."


_SIDES = kit.patterns("""
all-refused: A=error, B=error, C=error, D=error, E=error, F=error, G=error (M22)
    Not every overwrite is refused: only one of a value that the way back needs.
    look: the table of the chapter: how many of its entries are errors?
all-fine: A=ok, B=ok, C=ok, D=ok, F=ok
    What was saved has to stay. In some of these lines a saved value is overwritten.
    look: the table of the chapter, row `exp`
inverted: A=ok, B=error, C=error, D=ok, E=error, F=ok, G=error
    Each of the seven is the other word.
    look: which word the text has for what runs, and which for what is refused
one-after-the-other: B=ok, C=error, D=error, E=error, F=error, G=error
    Each line starts from new tensors: what line B overwrote is not overwritten in the others.
    look: the sentence below the program
exp-saves-input: A=ok, B=error
    The slope of exp is its result, not its input.
    look: row `exp` of the table
square-saves-result: C=error, D=ok
    The slope of h · h is 2h: that needs the input.
    look: row `x * x` of the table
input-never: B=error, E=error
    Neither exp nor 7 · h needs its input on the way back, so it may be overwritten.
    look: rows `exp` and `10 * x` of the table
result-never: C=error, G=error
    Neither the square nor log needs its result on the way back, so it may be overwritten.
    look: rows `x * x` and `log` of the table
data-is-free: F=ok
    `data` asks for no gradient, but the slope for `w` is `data`: it was saved.
    look: what the node of `w * data` has to keep for `w`
number-is-saved: E=error
    The slope of 7 · h is 7, whatever `h` is or becomes.
    look: row `10 * x` of the table
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Which line raises?",
    kind="predict",
    points=2,
    beliefs=("M07", "M22", "M23"),
    hints=(
        "There are two moments: an overwrite of a leaf is refused at once, one of a saved value by `backward()`.",
        "In R: does `relu` need its input or its result? Does the multiplication by 5 need `h`?",
        "In S the step is permitted, because of `no_grad`. But what has the node of `w * w` saved?",
    ),
    idea="P: sigmoid has saved `s`, and `backward()` finds out: line 4. Q: a view of a tracked leaf, refused at once: "
    "line 2. R: nobody saved `h`: 0. S: the step is allowed, but spoils the saved `w`: line 3.",
)
def moments(answer):
    truth = {"P": 4, "Q": 2, "R": 0, "S": 3}
    question = "what is overwritten in which line, who has saved it, and is it a leaf?"
    looks = {name: f"in program {name}: {question}" for name in truth}
    for name, line in kit.a_dict(answer, truth).items():
        last, line = 3 if name == "S" else 4, kit.plain(line)
        if line is None or (isinstance(line, int | float) and line not in range(last + 1)):
            expected, look = (
                f"`{name}` is one of the numbers 1 to {last} in its comments, or 0",
                "the numbers behind `#`",
            )
            raise Wrong("no-such-line", expected, f"`{name}`: {show(line)}", look=f"{look} in program {name}")
    kit.predicted(answer, truth, _MOMENTS, "the number of a line, or 0", looks)
    return "Leaves are guarded at once; saved values when `backward()` needs them; the rest is free."


_MOMENTS = _shown_by_the_first(
    kit.patterns("""
at-the-overwrite: P=2, Q=2, R=3, S=2 or P=2 (M23)
    Line 2 runs: nothing is wrong until somebody needs what was saved. `backward()` does.
    look: which line raised the error in section 2 of the chapter
at-the-use: P=3
    Line 3 reads `s` as it is now, and that is allowed. Nobody asks for the old `s` before the way back.
    look: which line raised the error in section 2 of the chapter
any-overwrite: R=4, P=4, Q=4, S=3 or R=4 or R=3 (M22)
    `h` is no leaf, and nobody has saved it: `relu` has saved its result, and the multiplication the 5.
    look: row `relu` of the table: which side is saved?
sigmoid-forgotten: P=0
    The slope of sigmoid follows from its result, `s`, and line 2 overwrites that.
    look: row `sigmoid` of the table
leaf-is-fine: Q=0 or Q=4 (M07)
    `w` is a tracked leaf, and `w[0] = 0.0` overwrites a view of it: refused at once, whether somebody saved it or not.
    look: section 5 of the chapter: when did the error come?
no-grad-protects: S=0
    `no_grad` permits the step. It does not protect what was saved: the node of `w * w` still needs the 2.
    look: section 5 of the chapter: a step between two backwards
step-refused: S=2
    Inside `no_grad` a leaf may be overwritten. The version rises, and that is noticed later.
    look: the rule for tracked leaves in section 5
""")
)


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Too early",
    kind="fix",
    points=2,
    beliefs=("M07",),
    hints=(
        "Draw the result with `saved=True`. Which node is red, and what has it saved?",
        "Two lines overwrite `a`. Which of them overwrites what `sigmoid` has saved?",
        "Make a new tensor in that line. What the other one overwrites then is saved by nobody.",
    ),
    idea="`a = a * 10` instead of `a *= 10`: now `a` is a new tensor, saved by nobody, and `a -= 5` may stay.",
)
def shift(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_SHIFT)
    for weight, numbers in (
        (0.5, [1.0, -2.0]),
        (0.01, [0.03, -0.02]),
        (-1.5, [2.0, -1.0, 0.5, -0.25, 1.0]),
        (0.0, [1.0, -2.0]),
        (30.0, [1.0, -2.0, 0.02]),
    ):
        _check_shift(answer, weight, numbers)
    tools.refuse_writing(answer, tools.leaf(0.5), tools.constant([1.0, -2.0]))
    return "The result of sigmoid stays as it was saved; what nobody has saved may be overwritten."


_GIVEN_SHIFT = """
def loss_of(w, x):
    a = mg.sigmoid(w * x)
    a *= 10
    a -= 5
    return (a * a).sum()
"""
_NOT_SHIFTED = kit.patterns("""
still-refused: refused=True
    A value that a node has saved is overwritten. (In `no_grad`, too, an overwrite is counted.)
    look: each line that overwrites something: who has saved it by then?
silenced: bypassed=True
    A tensor with a history is overwritten through `.data` or NumPy, which is neither recorded nor counted.
    look: what a new tensor would change
other-gradient: else
    The value is right and backward() runs, but the gradient is another one.
    look: what of your formula is recorded, how often, and what changes a gradient on its way
""")


def _check_shift(answer, weight, numbers):
    w, x = tools.leaf(weight), tools.constant(numbers)
    s = (1 + np.tanh(weight * np.array(numbers) / 2)) / 2
    a = 10 * s - 5
    _go_backward(answer, "w", (w, x), (a * a).sum(), 1.0, _NOT_SHIFTED)
    slope = (2 * a * 10 * s * (1 - s) * numbers).sum()
    _refuse_gradient(answer, (w, x), w, f"`w.grad`, for w = {weight}", slope, _NOT_SHIFTED)


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "One entry replaced",
    kind="write",
    points=2,
    beliefs=("M07", "M27"),
    hints=(
        "`x` is a tracked leaf, so it must not be overwritten. What else has its numbers, and lets gradients pass?",
        "Overwrite an entry of a `clone()`.",
        "`y = x.clone()`, `y[i] = v`, `return y`. Put in the tensor `v` itself, not its number.",
    ),
    idea="`y = x.clone()`, `y[i] = v`, `return y`. Both are recorded: the old entry is out, and a way leads to `v`.",
)
def put(answer):
    kit.a_function(answer)
    for values, i, number, kind in (
        ([1.5, -2.0, 3.0, 0.5], 2, 7.0, "tracked"),
        ([4.1, 5.1], 0, -1.0, "untracked"),
        ([0.1 * n for n in range(9)], 8, 0.3, "tracked"),
        ([2.0, 2.0, 2.0], 1, 2.0, "tracked"),
        ([1e16, 3.0], 0, 1.0, "tracked"),
        ([5.0, 0.0, 3.0], 0, 0.0, "tracked"),
        ([0.0, 0.0], 1, 4.0, "computed"),
    ):
        _check_put(answer, values, i, number, kind)
    tools.refuse_writing(answer, tools.leaf([1.5, -2.0, 3.0]), 1, tools.leaf(7.0))
    return "The clone has a memory of its own, and the assignment was recorded: the old entry out, `v` in."


_NOT_PUT = kit.patterns("""
refused: refused=True
    A value that a node has saved was overwritten.
    look: what you overwrite, and who has saved it
old-entry: known=True
    A gradient still comes to the entry of `x` whose number is not in the result any more.
    look: by which ways that entry still comes in, and whether the line that puts `v` in is recorded
v-lost: lost=True (M27)
    The number is in the result, and no gradient comes from there to `v`.
    look: what you put in: the tensor `v`, or what was taken or detached from it
other-gradient: else
    look: which entries of `x`, and where `v`, are in the result, how, and what changes a gradient on its way
""")


def _check_put(answer, values, i, number, kind):
    x, leaf = tools.leaf(values), tools.constant(number).requires_grad_(kind != "untracked")
    v = leaf * 1 if kind == "computed" else leaf
    right, factors = np.array(values), np.arange(2.0, 2 + len(values))
    right[i] = number
    _go_backward(answer, "x", (x, i, v), right, factors, _NOT_PUT)
    walk = f"after a backward with the factors {factors.tolist()}"
    slopes = np.where(factors == factors[i], 0, factors)
    _refuse_gradient(answer, (x, i, v), x, f"`x.grad`, {walk}", slopes, _NOT_PUT, factors)
    if kind != "untracked" and leaf.requires_grad:
        name = "`v.grad`" if kind == "tracked" else "`.grad` of the leaf that `v` is computed from"
        _refuse_gradient(answer, (x, i, v), leaf, f"{name}, {walk}", factors[i], _NOT_PUT)


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "It runs, and it lies",
    kind="fix",
    points=2,
    off={"result hooks": "a hook on the result is one way to mend the gradient"},
    hints=(
        "Which value has `exp` saved, and which line overwrites it unseen?",
        "Write `.detach()` for `.data` to see the error that `.data` hides. Then make a new tensor instead.",
        "`y / y.sum()` is a new tensor, and both the numbers and their sum are recorded.",
    ),
    idea="`return y / y.sum()`. Division and sum are recorded: a number that grows makes the others smaller.",
)
def shares(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_SHARES)
    for values, v in (
        ([0.0, 1.0, -0.5], [1.0, 10.0, 100.0]),
        ([-12.0, -13.0], [1.0, -1.0]),
        ([[0.5, -1.0, 0.0], [1.5, 0.25, -0.5]], [[1.0, -2.0, 3.0], [5.0, 0.5, 1.0]]),
        (np.linspace(4.0, 8.0, 9), np.arange(9.0) - 3),
        (0.5, 3.0),
        ([0.0, 0.0], [3.0, -1.0]),
        ([0.7], [2.0]),
        ([-800.0, 0.0, 1.0], [1.0, 2.0, -1.0]),
    ):
        _check_shares(answer, values, np.array(v))
    tools.refuse_writing(answer, tools.leaf([0.5, -1.0]))
    x = tools.leaf([0.5, -1.0])
    y = tools.result(tools.called(answer, (x * 1,), "a tensor of shares", _LEAF))
    if not graphs.reaches(y, x):
        why, look = "For a leaf a way leads back. Here `x` is itself a result.", "what your function does with `x`"
        raise Wrong("not-of-a-leaf", "a way back through `x`, which is no leaf here", show(y), why=why, look=look)
    return "Every part of the formula is recorded, and what `exp` has saved is what it computed."


_GIVEN_SHARES = """
def shares(x):
    y = mg.exp(x)
    y.data /= y.data.sum()
    return y
"""
_NO_SHARES = kit.patterns("""
found-not-repaired: refused=True
    A saved value was overwritten. Here the overwrite is counted, so that backward() is refused.
    look: how to get the shares without overwriting
still-lies: bypassed=True
    A tensor with a history is overwritten through `.data` or NumPy, which is neither recorded nor counted.
    look: each `.data` and `.numpy()` that is left
constant-sum: known=True
    Such a gradient comes where the sum is a constant. But it moves with every number, and with it all shares.
    look: how the sum comes into the result, and whether a way leads from there back to `x`
other-gradient: else
    look: what of the formula is recorded, how often, and what changes a gradient on its way
""")


def _check_shares(answer, values, v):
    x, right = tools.leaf(values), np.exp(values) / np.exp(values).sum()
    _go_backward(answer, "x", (x,), right, v, _NO_SHARES)
    what = f"`x.grad`, after a backward with the factors {v.tolist()}"
    _refuse_gradient(answer, (x,), x, what, right * (v - (v * right).sum()), _NO_SHARES, right * v)


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A step for all parameters",
    kind="fix",
    points=3,
    off={
        "untracked": "the text has the leaves tracked",
        "values": "the task is to move the leaves",
        "grad": "the task is to clear it",
        "again": "a second step needs gradients of its own",
        "old grad": "the gradients are inputs here",
    },
    beliefs=("M01", "M06", "M07"),
    hints=(
        "`p = p - ...` gives the name `p` to a new tensor. Who still has the old one?",
        "Overwrite `p`, and say that this is no computation.",
        "`with mg.no_grad():` around the loop, `if p.grad is not None:`, `p -= rate * p.grad`, `p.grad = None`.",
    ),
    idea="In `no_grad`, for each `p` whose `.grad` is not None: `p -= rate * p.grad`, and `p.grad = None` after that.",
)
def descend(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_DESCEND)
    for values, rate, first in (([1.1, -2.0, 3.0], 0.25, 0), ([0.5], 0.1, 1), ([30170.0, -10030.0], 1e-3, 0)):
        _check_descend(answer, values, rate, first)
    p = _with_gradient()
    tools.called(answer, ([p], 0.0), "a gradient that is cleared, whatever the rate is", _LEAF)
    _check_left(p)
    tools.called(answer, ([tools.leaf(3.0)], 0.5), "a leaf without a gradient, as it was", _LEAF, _NONE_GRADIENT)
    return "The leaves have moved, are still leaves, and every graph that waits for the old numbers knows."


_GIVEN_DESCEND = """
def descend(leaves, rate):
    for p in leaves:
        p = p - rate * p.grad
        p.grad = None
"""
_NONE_GRADIENT, _TRUTH_OF_GRADIENT = tools.reasons("""
none-gradient: NoneType
    Something that your function uses is None. A `.grad` is, before a backward fills it, and where it was cleared.
    look: what is None in the line that the error names: a `.grad`, of which leaf, or something else
truth-of-gradient: Boolean value of Tensor with more than one value
    A tensor of several numbers is neither true nor false. Whether there is a gradient at all is another question.
    look: which tensor your line asks (`if`, `not`, `and`, `or`, `in`), and how Python asks whether something is None
""")


def _check_descend(answer, values, rate, first):
    a, idle, c, last = (tools.leaf(one) for one in (values, [5.0, 6.0], 2.0, [[1.0]]))
    more = [*(tools.leaf(1.0) for _ in range(119)), last]
    flat = [tools.leaf(one) for one in ([1.0, 2.0], [1.0], 1.0)]
    waiting = [(one * one).sum() for one in (a, c, last)]
    losses = [*(one.sum() for one in more), *((one * 0).sum() for one in flat)]
    sum(losses, (a * mg.arange(1, 1 + len(values))).sum() * c * c).backward()
    steps = [rate * tools.array(one.grad) for one in (a, c)]
    zeros = [(one, one.grad, one.grad._version) for one in flat]
    gradients = [(one.grad, tools.array(one.grad)) for one in (a, c)]
    expected = f"each leaf that has a gradient, moved by {rate} times its gradient"
    why = "A leaf among them has no gradient: its `.grad` is None."
    at_idle = replace(_NONE_GRADIENT, belief="M01", why=why, when=lambda *_: _is_right_where_all_have_one(answer))
    leaves = [*[a, idle, c][first:], *[a][:first], *flat, *more]
    why = (
        "Autograd records in the line that the error names. `no_grad()` switches that off only inside its `with` block."
    )
    at_leaf = replace(_LEAF, belief="", why=why, look="which lines stand inside the block")
    at_leaf = at_leaf if kit.uses(answer, "no_grad") else _LEAF
    tools.called(answer, (leaves, rate), expected, at_leaf, at_idle, _NONE_GRADIENT, _TRUTH_OF_GRADIENT)
    _check_moved(answer, a, np.array(values), steps[0], rate)
    if _same(c, 2.0):
        why = "One leaf has moved. Another one, which has a gradient, too, has not."
        look = "to which leaves your loop comes, and for which of them it makes no step"
        raise Wrong("stopped-early", expected, "a leaf holds its old number", why=why, look=look)
    _check_moved(answer, c, np.array(2.0), steps[1], rate)
    _check_moved(answer, flat[0], np.array([1.0, 2.0]), np.zeros(2), rate)
    if not _same(last, [[1 - rate]]):
        got, look = f"the last one is at {_text(last)}", "how many rounds your loop has, and what it does with a matrix"
        raise Wrong("not-all", f"the last of {len(leaves)} leaves moved by the rate, from [[1.0]]", got, look=look)
    _check_idle(idle)
    _check_left(a, c, last)
    kept = next((g for one, g, version in zeros if one.grad is g and g._version == version and a.grad is None), None)
    if kept is not None:
        got, look = f"one is still {_text(kept)}", "how your function finds out whether a leaf has a gradient"
        raise Wrong("zero-kept", "a gradient of zeros cleared as others are", got, look=look)
    _check_kept(gradients)
    _check_counted(answer, waiting)


def _check_kept(gradients):
    """Whoever kept a gradient finds its numbers, or zeros, as clearing may leave."""
    for gradient, numbers in gradients:
        if tools.array(gradient).any() and not tools.same(tools.array(gradient), numbers):
            expected, got = f"what was in a `.grad`, {tools.text(numbers)}, as it was or zeros", _text(gradient)
            why = "Who kept this gradient under a name sees other numbers in it now."
            look = "each operation in place on a `.grad`"
            raise Wrong("gradient-overwritten", expected, got, why=why, look=look)


def _with_gradient():
    p = tools.leaf([1.0, -2.0])
    (p * p).sum().backward()
    return p


def _is_right_where_all_have_one(answer):
    both = [_with_gradient(), _with_gradient()]
    with contextlib.suppress(Exception), kit.sandbox.quiet():
        answer(both, 0.25)
    return all(_same(p, [0.5, -1.0]) for p in both)


def _check_left(*leaves, cleared=True):
    for p in leaves:
        if not (p.is_leaf and p.requires_grad):
            got = f"is_leaf {p.is_leaf}, requires_grad {p.requires_grad}"
            raise Wrong("no-leaf", "tracked leaves", got, look="whether you clear a flag, and set it again")
        if cleared and p.grad is not None and tools.array(p.grad).any():
            got, look = f"a `.grad` is {show(p.grad)}", "which line clears, when, and for whom"
            raise Wrong("not-cleared", "cleared gradients", got, look=look)


def _check_idle(idle):
    for code, is_so, got in (
        ("idle-moved", not _same(idle, [5.0, 6.0]), f"it was [5., 6.], and is {_text(idle)}"),
        ("idle-overwritten", idle._version, "it was overwritten, with the numbers that it had"),
        ("idle-changed", idle.grad is not None, f"its `.grad` is {show(idle.grad)}"),
    ):
        if is_so:
            expected, look = "a leaf without a gradient stays as it is", "what you do with a leaf whose `.grad` is None"
            raise Wrong(code, expected, got, look=look)


def _check_moved(answer, p, before, step, rate):
    if _same(p, before - step):
        return
    expected = f"{tools.text(before - step)}, from {before.tolist()} with the gradient {tools.text(step / rate)}"
    got = f"the leaf holds {_text(p)}"
    if _same(p, before):
        one = _with_gradient()
        is_new = kit.rebinds(answer) and "minus" in observe.calls_of(answer, ([one], 0.25), one)
        why = "The leaf holds its old numbers."
        why += " `p - ...` makes a new tensor, and `=` gives that a name or a place." if is_new else ""
        look = "whether the line of the step runs, and whether it overwrites the leaf itself"
        raise Wrong("not-moved", expected, got, belief="M06" if is_new else "", why=why, look=look)
    if _same(p, before + step):
        raise Wrong("uphill", expected, got, why="The step went up: the gradient was added.", look="the sign")
    raise Wrong("other-step", expected, got, look="what you subtract: the rate times the gradient, once")


def _check_counted(answer, waiting):
    expected = "a graph that has saved the old numbers is refused"
    for loss in waiting:
        try:
            loss.backward()
        except RuntimeError as error:
            if _SPOILED in str(error):
                continue
            raise Wrong("no-way-back", expected, kit.sandbox.describe_error(error), look="what you do to `p`") from None
        got = "its backward() ran, with the new numbers: a wrong gradient without an error"
        why, look = "A leaf has moved, and nobody counted it.", "how the new numbers get into `p`: are they counted?"
        raise Wrong("not-counted", expected, got, why=why, look=look)


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Two losses, two steps",
    kind="fix",
    points=3,
    off={
        "values 0": "the task is to move `w`",
        "grad 0": "each step fills and clears it",
        "again": "twice the steps",
        "old grad": "the text takes `w` as new",
    },
    beliefs=("M06", "M08"),
    hints=(
        "The second loss was computed at the old `w`. Which number does its graph need, and where is that now?",
        "The second step starts from where the first has led. So its loss has to be computed there.",
        "Compute `w * w` anew before each backward. Then no graph is walked twice, and none has to be retained.",
    ),
    idea="For each of the two: `loss_of(w * w).backward()`, a step in `no_grad`, `w.grad = None`: a graph for each.",
)
def alternate(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_ALTERNATE)
    for value, rate, *losses in (
        (1.5, 0.0625, _SQUARE, _CUBE),
        (-2.1, 0.03, _SQUARE, _CUBE),
        ([0.5, -1.25, 0.0], 0.05, _SQUARE, _CUBE),
        ([0.75, -0.5], 0.125, _TRIPLE, _SQUARE),
        ([1.0, -1.0], 0.0625, _BOWL, _LEVEL),
        ([-2.0], 0.03, _SQUARE, _SQUARE),
    ):
        _check_alternate(answer, np.array(value), rate, losses)
    return "Each loss is computed where its step starts. No graph waits while `w` moves."


# A function and its slope, each by h.
_SQUARE = (lambda h: (h * h).sum(), lambda h: 2 * h)
_CUBE = (lambda h: (h**3).sum(), lambda h: 3 * h**2)
_TRIPLE = (lambda h: (3 * h).sum(), lambda h: 3 + 0 * h)
_BOWL = (lambda h: ((h - 1) ** 2).sum(), lambda h: 2 * (h - 1))  # where h is 1, it and its slope are 0
_LEVEL = (lambda h: (3 * (h - 1)).sum(), lambda h: 3 + 0 * h)  # where h is 1, it is 0, and its slope is not
_GIVEN_ALTERNATE = """
def alternate(w, first, second, rate):
    h = w * w
    a, b = first(h), second(h)
    a.backward(retain_graph=True)
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
    b.backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
"""
_OLD_GRAPHS = tools.reasons(f"""
old-graph: {_SPOILED}
    This backward needs a number that was saved, and overwritten since. A step overwrites `w`.
    look: what of this loss is computed before something is overwritten, as before the first step
second-time: a second time
    This backward comes to a part of a graph that an earlier one has used up.
    look: which backward comes there first, and whether the second loss can have a graph of its own
recorded-step: leaf Variable that requires grad
    Autograd recorded here, and a tracked leaf cannot be the result of a recorded operation.
    look: the line that the error names, and around which lines `no_grad` has to stand
cut-off: of tensors does not require grad
    What this backward starts from requires no grad: no way leads from there to `w`.
    look: what that is, of which `w` it is made, and what cuts it off: `detach`, `no_grad`, a flag
cleared-before-the-step: NoneType
    Something that your function uses is None. `w.grad` is, until a backward fills it; that of a result stays so.
    look: what comes before the line that the error names: a backward, what clears `.grad`, and is `w` still the leaf?
""")
_OTHER_STEPS = kit.patterns("""
not-moved: place=start (M06)
    The leaf that came in holds its old number.
    look: the lines that step, when they run, and what they overwrite
one-step: place=one
    This is where the first step leads. Nothing has moved `w` from there.
    look: what comes after the first step: a second loss, its backward to `w`, and a step that runs?
at-the-old-place: place=old
    Both slopes at the old `w`, together, lead here. The second should be the slope at the new one.
    look: of which `h` the second loss is made, and when that was computed
not-cleared: place=added (M08)
    The second step has used the first gradient once more: backward adds to `.grad`.
    look: what the second step subtracts, and what is in `.grad` before the second backward
mixed: place=mixed
    The second slope is mixed from the old and the new `w`: it belongs to no place, without an error.
    look: of which `w` each part of the second slope is made, and who counts the line that moves `w`
other-order: place=swapped
    This is where the two steps lead if the second loss goes first.
    look: the order of the two steps
other-steps: place=other
    look: each of the two steps alone: from where, and with which slope
""")


def _check_alternate(answer, value, rate, losses):
    w = tools.leaf(value)
    (f, f_slope), (g, g_slope) = losses
    tools.called(answer, (w, f, g, rate), "two steps", *_OLD_GRAPHS)
    first, second = (lambda w, slope=slope: rate * slope(w * w) * 2 * w for slope in (f_slope, g_slope))
    once = value - first(value)
    right = once - second(once)
    if not _same(w, right):
        places = {"start": value, "one": once, "old": once - second(value), "added": right - first(value)}
        places["mixed"] = once - rate * g_slope(value * value) * 2 * once
        places["swapped"] = value - second(value) - first(value - second(value))
        came = tools.array(w)
        facts = {"place": next((name for name, one in places.items() if tools.same(came, one)), "other")}
        expected = f"w goes from {value.tolist()} to {tools.text(once)} and then to {tools.text(right)}"
        expected += ", where both losses are one function" if f is g else ""
        one = tools.leaf(value)
        is_new = kit.rebinds(answer, 0) and "minus" in observe.calls_of(answer, (one, f, g, rate), one)
        signs = {"not_moved": is_new, "not_cleared": kit.uses(answer, "backward")}
        raise tools.told(_OTHER_STEPS, facts, expected, f"`w` is {tools.text(came)}", **signs)
    _check_left(w, cleared=False)


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Build this history",
    kind="build",
    points=2,
    hints=(
        "Read from `y` backward. What does `CopySlices` say about the last line?",
        "An overwrite of a part of `y` is the last line. Before it, `y` was the result of a multiplication.",
        "`y = a * 2`, and then an entry of `y` becomes `b`.",
    ),
    idea="`y = a * 2`, then `y[0] = b`. From `CopySlices` one edge leads to the old history, one to `b`.",
)
def rewritten(answer):
    y = kit.a_tensor(answer, "`y`", "what you assign to `y`")
    _targets.refuse_other(y, "rewritten", _why_not_rewritten(y))
    (product, _), (put_in, _) = y.grad_fn.next_functions
    behind = [node.variable for node, _ in product.next_functions if hasattr(node, "variable")]
    sizes = [one.numel() for one in (y, *behind, put_in.variable)]
    if sizes != [3, 3, 1]:
        expected = "three numbers in `y`, three in the leaf behind the product, one in the leaf that is put in"
        got = f"{tools.listed(list(map(str, sizes)))} numbers"
        raise Wrong("other-leaves", expected, got, look="what you make each of")
    return "Two edges leave `CopySlices`: to what `y` was before, and to what was put into a part of it."


_OTHER_HISTORIES = kit.patterns("""
untracked: tracked=False
    No graph is behind `y`: nothing was recorded, or `y` was cut off.
    look: which leaves ask for gradients, and what cuts `y` off (`detach`, `no_grad`)
no-overwrite: overwrites=0
    There is no `CopySlices` in your graph. A recorded assignment to one place (not to a list of
    places) leaves it.
    look: whether you make a new tensor, overwrite all of it or a list of places, or write where nobody records
several-overwrites: several=True
    More than one overwrite was recorded. (`y[0] *= b` leaves two: of the view, and by the assignment.)
    look: how often a part is overwritten, of `y` or of what it is made of
constant-in: leaves=1, constant=True
    Only one leaf is behind `y`. What was there before, or what was put in, is a constant.
    look: what you make `y` of, and what you put into it: no number, nothing detached or untracked
one-leaf: leaves=1
    Only one leaf is behind `y`. In the picture there are two.
    look: what you make `y` of, and what you put into it
overwritten-first: comes_last=False
    In the picture the overwrite comes last. In your graph something follows it.
    look: what your lines after the overwrite make, or whether `y` is a view of something
no-product: products=0
    There is no multiplication.
    look: what makes `y` before it is overwritten
other-graph: else
    The boxes or the arrows differ.
    look: where your graph and the one to build part
""")


def _why_not_rewritten(y):
    made_of, overwrites = graphs.operations(y), [one for one in graphs.nodes(y) if "CopySlices" in one.name()]
    facts = {"tracked": y.requires_grad, "overwrites": len(overwrites), "several": len(overwrites) > 1}
    facts |= {"leaves": len(graphs.leaves(y)), "products": sum("mul" in name for name in made_of)}
    facts["constant"] = any(len(one.next_functions) < 2 or (None, 0) in one.next_functions for one in overwrites)
    facts["comes_last"] = y.grad_fn in overwrites
    return tools.told(_OTHER_HISTORIES, facts)


def _rewritten():
    a = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = mg.tensor(4.0, requires_grad=True)
    y = a * 2
    y[0] = b
    return y, {"a": a, "b": b, "y": y}


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Refused or not?",
    kind="write",
    points=3,
    beliefs=("M12", "M22"),
    hints=(
        "Who compares versions? Nobody but a backward. So try one.",
        "`mg.autograd.grad` stores nothing in `.grad`. One of its options leaves the graph usable.",
        "`try:` and `mg.autograd.grad(y.sum(), x, retain_graph=True)`, `except RuntimeError:` and `return True`.",
    ),
    idea="`try: mg.autograd.grad(y.sum(), x, retain_graph=True)`, `except RuntimeError: return True`, `return False`.",
)
def spoiled(answer):
    kit.a_function(answer)
    for line in _PROGRAMS.strip().split("\n"):
        refused, _, program = line.partition(": ")
        names, program = _names(), program.replace(" | ", "\n")
        names["spoiled"] = lambda y, x: tools.called(answer, (y, x), "an answer")
        exec(program, names)
        _check_spoiled(answer, program, names["y"], names["x"], refused == "True")
    x = tools.leaf(_NUMBERS)
    tools.refuse_writing(answer, x * x, x)
    return "What counts is what a backward needs, and your function left no trace."


_NUMBERS = [0.5, 2.0, 0.0, -1.0, 3.0]
_PROGRAMS = """
False: y = x * x
False: y = x * u
False: y = 0 * x
True: y = x * x | with mg.no_grad(): x -= 1
False: y = x * x | y *= 10
True: e = mg.exp(x) | y = e * 3 | e += 1
False: h = x * 1 | y = mg.exp(h) | h += 1
False: y = 10 * x | with mg.no_grad(): x -= 1
True: h = x * 2 | y = (h * h).sum() | h[:1] = 0
True: y = 0 * (x * x) | with mg.no_grad(): x -= 1
True: y = x * data | data += 1
False: y = x * x | x.data *= 2
True: y = x * x | spoiled(y, x) | with mg.no_grad(): x -= 1
True: y = x * x | y.sum().backward()
True: e = mg.exp(x) | y = e * 3 | e.sum().backward()
True: y = x.clone() | y[:1] = 5 | y.sum().backward()
False: y = x + 1 | y.sum().backward()
"""  # whether a backward is refused, after these lines
_REFUSED, _NO_SUM = tools.reasons(f"""
error-uncaught: {_SPOILED}
    Here a backward is refused. That is the answer True, and the error must not come out of your function.
    look: `try` and `except RuntimeError`: which errors come out all the same
no-sum: only for scalar outputs
    `y` may have several entries. Start from `y.sum()`.
    look: from what you go backward
""")
_UNCAUGHT = (_REFUSED, replace(_REFUSED, message="a second time"))
_OTHER_ANSWERS = kit.patterns("""
used-up-not-noticed: refused=True, walked=True
    An earlier backward has freed a part of the graph, so the next one is refused. The version is not to blame.
    look: which refusals your function counts, how far back it looks, and whether it looks at all that a backward needs
healthy-refused: at_once=True
    Your function says True without the last of these lines, too. There nothing was overwritten, and a backward runs.
    look: what your function takes for a sign that a backward is refused, and which errors it counts
any-walk: refused=False, walked=True (M12)
    A backward came by here before. But nothing that the next one needs was freed or overwritten, so it runs.
    look: what your function takes for a sign that a backward is refused
not-noticed: refused=True
    A saved value was overwritten. It is found out by a backward that comes to the node that saved it.
    look: what your function tries here: from where to where it goes backward, if it does, and which errors it counts
healthy-refused: healthy=True
    Here nothing was overwritten at all, and a backward runs.
    look: what your function takes for a sign that a backward is refused, and what it answers then
uncounted: uncounted=True
    What goes through `.data` is not counted. So a backward runs, to a wrong gradient, and is not refused.
    look: what your function takes for a sign that a backward is refused
any-overwrite: else (M22)
    Something was overwritten, but nothing that the way back needs. So it runs.
    look: the table of the chapter: which side does this operation save?
""")


def _names():
    names = {name: tools.leaf(_NUMBERS) for name in "xu"}
    return names | {"data": tools.constant(_NUMBERS), "mg": mg}


def _says_so_at_once(answer, program):
    """Whether the answer is True for a program without its last line, too."""
    names, (*lines, _) = _names(), program.split("\n")
    with contextlib.suppress(Exception), kit.sandbox.quiet():
        exec("\n".join(lines), names)
        return bool(answer(names["y"], names["x"]))
    return False


def _check_spoiled(answer, program, y, x, refused):
    before, grad = (y._version, x._version), x.grad
    expected = f"{refused} for: {program}".replace("\n", "; ")
    given = tools.called(answer, (y, x), expected, *(_UNCAUGHT if refused else ()), _NO_SUM)
    given = bool(given) if isinstance(given, np.bool_) else given
    if type(given) is not bool:
        raise Wrong("type", "True or False", show(given), look="what each `return` gives back")
    if given != refused:
        facts = {"refused": refused, "walked": "backward()" in program, "healthy": "\n" not in program}
        facts |= {"uncounted": ".data" in program, "at_once": given and _says_so_at_once(answer, program)}
        raise tools.told(_OTHER_ANSWERS, facts, expected, str(given), any_overwrite=kit.uses(answer, "_version"))
    if grad is None and x.grad is not None:
        why = "`backward()` stores what it computes. Your function should only ask."
        look = "each `backward()`, and each line that sets a `.grad`: which function returns gradients instead"
        raise Wrong("traces", "`x.grad` as it was", f"`x.grad` is {show(x.grad)}", why=why, look=look)
    if (y._version, x._version) != before:
        raise Wrong("overwrote", "the tensors as they were", "a higher version", look="what your function overwrites")
    try:
        mg.autograd.grad(y.sum(), x)
    except RuntimeError as error:
        if not refused:
            got = kit.sandbox.describe_error(error)
            look = "what your function frees or changes, and which option keeps it"
            raise Wrong("used-up", "a graph that whoever comes next can use", got, look=look) from None


# --- 11 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Which error, and when?",
    kind="predict",
    points=3,
    beliefs=("M07", "M18", "M22", "M23"),
    hints=(
        "Ask of each line what is overwritten: a leaf, one view, one of several views, a saved value, a buffer?",
        "The table of section 8 has a row for each error. A line that is in no row of it is fine.",
        "`unbind` makes three views at once, and `buffer` is the only tensor that one round leaves to the next.",
    ),
    idea="At once: one of several views (A), a leaf's view (G). In backward: a saved value (D). In the second round: "
    "the buffer (E), with its history. `.data` tells nobody: wrong (C). One view (B) and a new buffer (F) are fine.",
)
def rounds(answer):
    outcomes = ("at once", "fine", "wrong", "backward", "second round", "fine", "at once")
    truth = dict(zip("ABCDEFG", outcomes, strict=True))
    looks = {name: f"what line {name} overwrites, and its row in the table of section 8" for name in truth}
    words = ("at once", "backward", "second round", "wrong", "fine")
    _predict_words(answer, truth, _ROUNDS, words, f"one of the five: {', '.join(words)}", looks)
    return "Views of one operation and leaves are guarded at once, saved values in backward, `.data` never."


_ROUNDS = _shown_by_the_first(
    kit.patterns("""
views-like-one-view: A=fine
    One operation made all three views. If one of them is overwritten, its node cannot be made anew. That of a single
    view can.
    look: `split` in section 4, and what it said
views-told-late: A=backward or A=second round or A=wrong
    The overwrite itself is refused, before any backward: one operation made all three views.
    look: `split` in section 4, and which line was refused there
one-view-refused: B=at once
    `y[:1]` is one view, and `y` is no leaf: the overwrite is recorded, for the view and for its base.
    look: `v *= 5` in section 4
one-view-breaks: B=backward, C=backward, D=backward, F=backward or B=backward or B=second round (M22)
    `h * h` saved `h`, and not its result: nobody saved `y`, and `v` is a part of `y`. Both rounds begin with new ones.
    look: row `x * x` of the table in section 3: which side is saved?
base-not-told: B=wrong
    To overwrite a view is to overwrite its base: the 5 is in the history of `y`, too.
    look: what `CopySlices` does to the gradient in section 4
data-is-watched: B=fine, C=backward, D=backward, F=fine or C=backward or C=at once or C=second round (M18)
    `.data` shares the memory of `h`, not its counter. Nobody notices.
    look: the three ways to overwrite in section 6
data-is-harmless: C=fine
    No error comes. But `h * h` needs the old `h`, and finds other numbers in its memory.
    look: what the slope of `h * h` is made of, after `.data` was overwritten
entry-not-counted: D=fine or D=wrong
    `h * h` saved `h`, and `h[0] = 5.0` is counted: one overwritten entry counts for all of them.
    look: `y[0] = 7.0` after `z = y * y` in section 4
blamed-line: B=fine, C=wrong, D=at once, F=fine or D=at once (M23)
    The line itself may overwrite: `h` is no leaf. Only backward finds out that `h` was saved.
    look: which line was refused in section 2
saved-in-first-round: D=second round
    `h` was saved and overwritten in the same round, so the first backward is refused already.
    look: `y[0] = 7.0` after `z = y * y` in section 4
buffer-starts-anew: E=fine
    The second round begins with the buffer of the first one, and with its history, which is freed.
    look: `buffer` in section 4, and what its second round said
buffer-too-early: E=backward
    In the first round the buffer has no history but this one, and nothing in it is freed. So that backward runs.
    look: what `buffer` is before the first round, and before the second one
buffer-is-a-tracked-leaf: E=at once
    Only a leaf that requires grad is guarded. `mg.zeros(3)` requires none.
    look: `buffer` in section 4, and which lines ran there
buffer-silent: E=wrong
    The first gradient is right, and the second backward does not run at all.
    look: `buffer` in section 4, and what its second round said
new-buffer-remembers: F=second round
    Each round makes a new tensor of zeros: nothing leads from it to the round before.
    look: the repair of `buffer` in section 4
new-buffer-refused: F=at once or F=backward
    `mg.zeros(3)` is no tracked leaf, and nobody has saved it. The assignment is recorded, like any other operation.
    look: the first round of `buffer` in section 4
new-buffer-wrong: F=wrong
    The assignment is recorded: 2 goes to the first entry of `w`, and the zeros do not move with the others.
    look: `y[0] = new` in section 4
leaf-view-allowed: G=fine or G=backward or G=second round or G=wrong (M07)
    `w[:2]` lies on a leaf that requires grad. To overwrite it is to overwrite the leaf, which is guarded at once.
    look: `w[0] = 5.0` in section 5
""")
)


# --- Pictures ------------------------------------------------------------------------------------

_targets = Targets(rewritten=_rewritten)
show_target = _targets.show
chapter.lock()
