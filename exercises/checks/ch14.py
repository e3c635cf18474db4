"""The checks of chapter 14, "What does your own program do?"."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, graphs, kit, observe, tools
from exercises.checks.kit import Wrong, show

chapter = kit.Chapter(__name__, "14", "What does your own program do?")


# --- What several exercises share ----------------------------------------------------------------

_GIVEN = """
def gated(w, x):
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate *= 2
    return (out + gate).sum()

def remember(w, xs):
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        loss = (h * h).sum()
        total += loss.item()
    return mg.tensor(total)

def carry(w, xs):
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
        loss = (h * h).sum()
        loss.backward()

def play(g, d, rate):
    fake = g * 2
    score = d * fake
    loss_d, loss_g = 1 + score * score, 1 - score
    loss_d.backward(retain_graph=True)
    with mg.no_grad():
        d -= rate * d.grad
    d.grad = None
    loss_g.backward()

def rows(w, data):
    buffer, losses = mg.zeros_like(data[0]), []
    for row in data:
        buffer.copy_(row)
        losses.append(((w * buffer) ** 2).sum())
    return losses
"""
_LEAF, _NO_WAY, _OVERWRITTEN, _WALKED, _NO_STORY, _NOT_CAUGHT = tools.reasons("""
recorded-step: leaf Variable that requires grad is being used (M07)
    Autograd refuses to overwrite a tracked leaf while it records.
    look: the line that overwrites it: whether it should, and whether that is to be recorded
cut-off: does not require grad and does not have a grad_fn
    This backward starts from something that has no history.
    look: what it is made of, and what cuts the way: `detach`, `no_grad`, `.item()`, a new tensor made of numbers
old-graph: has been modified by an inplace operation
    This backward needs a value that was saved, and was overwritten since.
    look: `%%explain` above a call of your function: which line saved it, and which one (a step?) overwrote it
second-time: Trying to backward through the graph a second time
    An earlier backward had freed what this one comes to.
    look: what both of them walk through: which result is used again?
no-story: 'NoneType' object has no attribute 'variable'
    `story` is None. It is there for the error itself, if `program` ran in a `mg.viz.lines()` of the same thread.
    look: what `explain` is given, and whether `program()` is called inside of a `with mg.viz.lines():`
not-caught: has been modified by an inplace operation
    This is the error that `program` ends with, and it has come out of your function.
    look: which errors your `except` is for, and whether it raises them again
""")

_wrong = tools.texts("""
cut-off: a result that leads back to `w`
    No way leads from what came to `w`, so no gradient can come there.
    look: whether `w` is used, and what cuts the way: `detach`, `no_grad`, `.item()`, a new tensor made of numbers
untracked-leaf: a graph that ends at `w`
    A backward puts a gradient into the `.grad` of each leaf at which a graph ends.
    look: each line that changes a `requires_grad`, and each `detach_()`
no-way-back: a result whose backward runs
    look: what your function does with the graph of its result: each backward, hook, `Function` and `with` block
still-refused: a result whose backward runs
    What a node has saved, or something that shares its counter, was overwritten since, and that was counted.
    look: `mg.viz.lines()` around the call, then `mg.viz.explain(error)`: which line is named as overwriting?
spoiled: a backward from a result, also after a second call
    Without a second call it ran.
    look: what is kept from one call to the next: a default argument, a global name, an attribute
shared-graph: a backward from each loss, in any order
    What several losses share is freed by the first backward, if something was saved there.
    look: what is computed once, and used by several losses
given-again: new losses from each call
    A backward frees the graph of a loss, so the same loss does not serve twice.
    look: what is kept from one call to the next: a default argument, a global name
silenced: the gradient {right} for `w`
    Through `.data` a value was changed that a node had saved. That is not counted, so nothing is refused.
    look: what a new tensor would change
other-gradient: the gradient {right} for `w`
    That no error comes out does not make a gradient right.
    look: each line that you changed or left out: what it does to the gradient of `w`
nan-gradient: the gradient {right} for `w`
    Forward or on the way back, something like 0 / 0, 0 * inf or inf - inf was computed.
    look: each operation that the given function does not have: its value and its slope, at 0 and for large numbers
rounds-cut: the gradient {right} for `w`
    So much comes if each round is alone, and nothing flows through the state to the rounds before.
    look: what cuts a state off from the round before: `detach`, `.data`, `no_grad`, a new tensor made of numbers
last-only: the gradient {right} for `w`
    So much comes from the last round's loss, if the losses of the other rounds are only numbers in the sum.
    look: how each loss comes into the sum
nothing-added: the sum of the gradients of each round alone, in `w.grad`
    look: what puts a gradient into `w.grad`, whether a way leads from there to `w`, and whether it is cleared later
through-all: the gradient {right} for `w` (M13)
    This is the gradient through all rounds, as if each round flowed back into those before it.
    look: what a round uses of the one before, and where it is cut
last-round: the gradient {right} for `w`
    So much comes from the last round's loss alone.
    look: how often your function goes backward, and what sets or clears `w.grad`
state-lost: the gradient {right} for `w`
    So much comes of a round that begins with the state 0, as the first one does.
    look: what a round begins with, what cuts `w` off, which rounds go backward, and what sets or clears `w.grad`
tracked-grad: a `{leaf}.grad` that does not require grad
    look: each `create_graph`, and each line that sets a `.grad` or its flag
""")


def _refuse_given(answer: Any, name: str) -> None:
    kit.a_function(answer)
    (given,) = (one for one in _GIVEN.split("\n\n") if f"def {name}(" in one)
    kit.refuse_given(answer, given)


def _slope(loss: mg.Tensor, leaf: mg.Tensor) -> mg.Tensor:
    return mg.autograd.grad(loss, leaf, retain_graph=True)[0]


def _slope_of_answer(answer: Any, loss: mg.Tensor, inputs: tuple) -> mg.Tensor:
    """The gradient through the learner's graph, or the diagnosis for what is in its way."""
    w = inputs[0]
    if not graphs.reaches(loss, w):
        by_numbers = observe.made_of_numbers(lambda: [tools.array(one) for one in _several(answer(*inputs))])
        raise _believed(
            _wrong("cut-off", show(loss)),
            "M27",
            by_numbers and not loss.requires_grad and kit.uses(answer, "item", "tolist"),
        )
    for other in graphs.leaves(loss):
        if not other.requires_grad and other is not w:
            raise _wrong("untracked-leaf", f"one that ends at {tools.text(tools.array(other))}, too, untracked by now")
    return _walked("no-way-back", _slope, loss, w)


def _walked(code: str, go_backward: Callable, *inputs: Any) -> Any:
    """Go backward through the learner's graph; what stops that gets this diagnosis, or that of a known message."""
    try:
        return go_backward(*inputs)
    except Exception as error:
        got = kit.sandbox.describe_error(error)
        code = "still-refused" if code == "no-way-back" and _OVERWRITTEN.message in got else code
        raise _wrong("shared-graph" if code == "spoiled" and _WALKED.message in got else code, got) from None


def _believed(wrong: Wrong, belief: str, is_behind: bool) -> Wrong:
    """A diagnosis that names a belief if that is behind it."""
    wrong.verdict.belief = belief if is_behind else ""
    return wrong


def _check_loss(answer, loss, right, inputs, what, look, **known):
    """A loss of the learner's: its value, then its gradient."""
    tools.refuse_other_values(loss, tools.array(right), what, look)
    _check_slope(answer, _slope(right, inputs[0]), _slope_of_answer(answer, loss, inputs), inputs, **known)


def _check_slope(answer: Any, right: mg.Tensor, came: mg.Tensor, inputs: tuple, **known: mg.Tensor) -> None:
    """The diagnosis for a gradient that is not right: one of the known, by name, or that of any other."""
    got, wanted = tools.array(came), tools.array(right)  # copies: what is tried out below may add to a `.grad`
    if tools.same(got, wanted):
        return
    other = "nan-gradient" if np.isnan(got).any() else "other-gradient"
    name = next((name for name, one in known.items() if tools.same(got, tools.array(one))), other)
    if name == other and observe.writes_by_data(lambda: [_slope(one, inputs[0]) for one in _several(answer(*inputs))]):
        name = "silenced"
    wrong = _wrong(name.partition("/")[0], tools.text(got), right=tools.text(wanted))
    is_seen = name != "through-all" or observe.needs_retain(lambda: answer(*inputs))
    raise _believed(wrong, wrong.verdict.belief, is_seen)


def _several(made: Any) -> list | tuple:
    return made if isinstance(made, list | tuple) else [made]


def _refuse_spoiled(answer: Any, inputs: tuple) -> None:
    """The diagnosis for results that were right, and that another call spoils, or that share what a backward frees."""
    if adversaries.trial.found:  # something that was changed is told as what it is
        return
    try:
        results = [kit.call(answer, *inputs) for _ in range(2)]
    except Wrong as wrong:
        wrong.verdict.why = wrong.verdict.why or "The call before this one, with the same inputs, ran."
        raise
    if any(one is two for one in _several(results[0]) for two in _several(results[1])):
        raise _wrong("given-again", "a loss from the first call came from the second one, too")
    for loss in reversed([loss for made in results for loss in _several(made)]):
        if (
            type(loss) is mg.Tensor and loss.requires_grad
        ):  # what a later call gives is judged again (see `adversaries`)
            _walked("spoiled", mg.autograd.grad, loss, inputs[0])


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Which two lines?",
    kind="predict",
    points=2,
    beliefs=("M23",),
    hints=(
        "Which tensor is overwritten, by `relu_`, by `-=`, by `+=`? Who has saved it by then?",
        "What a node saves follows from its slopes: sigmoid saves its result, a product its factors (chapter 07).",
        "In R each round saves and overwrites. A backward comes to the newest node first.",
    ),
    idea="P: sigmoid saves its result in line 1, `relu_` overwrites it in line 3. Q: the product saves `b` in line 1, "
    "the step overwrites it in line 4. R: round 3 comes first on the way back; it saved `h`, and its own `+=` came "
    "after that.",
)
def lines(answer):
    truth = {"P saved": 1, "P overwrote": 3, "Q saved": 1, "Q overwrote": 4, "R saved": 3, "R overwrote": 3}
    looks = {name: f"program {name[0]} in a cell of its own, under `%%explain`" for name in truth}
    kit.predicted(answer, truth, _LINES, "a number", looks)
    return "One line saves, a later one overwrites; and in a loop the round belongs to the answer."


_LINES = kit.patterns("""
from-zero: P saved=0 or Q saved=0
    Lines are numbered from 1, as behind each `#`, and rounds from 1.
    look: the numbers in the text
lines-of-the-cell: P saved=3, P overwrote=5 or Q saved=4, Q overwrote=8
    The numbers that count stand behind the lines in the text: 1 to 4 in P, 1 to 5 in Q.
    look: the number behind the line that you mean
rounds-not-lines: R saved=5, R overwrote=6 or R saved=4, R overwrote=5
    Of R the rounds are asked for, 1 to 3.
    look: which time it is that the line runs
at-the-error: P overwrote=4
    Line 4 only adds up. Nothing is written into `gate` there.
    look: which of the lines has an operation that ends in `_`
at-the-error: Q overwrote=5 (M23)
    Line 5 is where the error comes up. A backward overwrites no value that was saved.
    look: which of the lines writes into something that exists
use-is-saving: P saved=2
    For the slope of `gate` the product in line 2 keeps `x`. `x` asks for no gradient, so `gate` is not kept there.
    look: which operation needs `gate` itself for its slope
use-is-saving: P saved=3
    What line 3 has saved was saved after the overwrite, and is still there.
    look: the operation that needs the old `gate` for its slope
plain-use: P overwrote=2
    `gate * x` makes a new tensor.
    look: which of the lines has an operation that ends in `_`
square-of-y: Q saved=2
    `y * y` has saved `y`, and nobody has overwritten `y`.
    look: who has saved what line 4 overwrites
frees-is-overwrites: Q overwrote=3
    A backward frees, or with `retain_graph=True` leaves, what is saved. It overwrites none of it.
    look: which of the lines writes into something that exists
oldest-first: R saved=1
    What round 1 saved was overwritten, too. But a backward comes to newer nodes first, and stops there.
    look: the versions that the error names
next-round: R saved=2, R overwrote=3
    What round 2 saved was overwritten, too. But the node of round 3 comes first, and its `h` was overwritten as well.
    look: what stands below the saving line in the same round
lines-for-rounds: R saved=3, R overwrote=2 or R saved=3, R overwrote=1
    What was saved in round 3 cannot have been overwritten before that.
    look: what stands below the saving line in the same round
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "What is it called?",
    kind="predict",
    points=2,
    beliefs=(),
    hints=(
        "Ask for the tensor that a backward misses, and for its name in the line where it was saved.",
        "One tensor may have several names: in the function that changes it, in a loop, as a view.",
        "In D nothing was overwritten: which name leads from the second round to the graph of the first?",
    ),
    idea="A: exp saved what is called `h` there; in `scale` it is `t`. B: the product saved `v`; in the step it is "
    "`p`. C: the product saved `part`, a view of `y`. D: `h` carries the old graph into the next round.",
)
def names(answer):
    truth = {"A": "h", "B": "v", "C": "part", "D": "h"}
    looks = {name: f"program {name} in a cell of its own, under `%%explain`" for name in truth}
    given = kit.a_dict(answer, truth)
    given = {name: value.strip(" `") if isinstance(value, str) else value for name, value in given.items()}
    kit.predicted(given, truth, _NAMES, "a name, as text", looks)
    return "A name belongs to a place. The one that helps is that of the line which saved it."


_NAMES = kit.patterns("""
base-for-view: C=y[:2]
    `y[:2]` makes the view. The line that saved it has a name for it.
    look: what `part * part` saves
never-overwritten: C=loss
    `loss` is made in that line, and is not overwritten.
    look: what `part * part` saves
number-has-no-graph: D=x
    `x` is a plain number: no graph lies behind it.
    look: what the second round uses of the first
name-at-the-overwrite: A=t
    `t` is its name inside `scale`, where it is overwritten. In the line that saved it, it has another one.
    look: the line with `mg.exp`
second-name: A=out
    `out` is a second name, given after the overwrite. The line that saved it says another one.
    look: the line with `mg.exp`
input-of-exp: A=w
    The slope of exp is its result, so it saves that, and not `w`.
    look: what the node of exp has saved
name-at-the-overwrite: B=p
    `p` is its name in the loop, where it is overwritten. In the line that saved it, it has another one.
    look: what the loop runs over
other-factor: B=e or B=w
    Nobody has overwritten it, whether it was saved or not.
    look: what the loop runs over
base-for-view: C=y
    `y` was overwritten, but no node has saved `y`. What was saved is a view of it.
    look: what `part * part` saves
never-overwritten: C=w
    `w` is not overwritten: `y` is a new tensor.
    look: what `part * part` saves
new-each-round: D=loss
    `loss` is new in each round: the old one is not used again.
    look: what the second round uses of the first
leaf-has-no-graph: D=w
    `w` is a leaf: it is used in both rounds, but no graph lies behind it.
    look: what the second round uses of the first
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Where was it lost?",
    kind="predict",
    points=2,
    beliefs=("M19", "M27"),
    hints=(
        "Which lines give something without history, though they were given something with one?",
        "`.item()` gives a number, `argmax()` an index, `detach()` the value alone; in `no_grad` nothing is recorded.",
        "In D ask also: is there another way from `loss` to `w`?",
    ),
    idea="A: `.item()` in line 2. B: `argmax()` in line 2. C: line 1 stands in `no_grad`. D: 0, for `loss` is made of "
    "`w` itself, too.",
)
def lost(answer):
    truth = {"A": 2, "B": 2, "C": 1, "D": 0}
    looks = {
        name: f"what each line of program {name} gives: its type, and `requires_grad` if it has one" for name in truth
    }
    kit.predicted(answer, truth, _LOST, "the number of a line, or 0", looks)
    return "The error comes only if every way is lost. The line is where a history goes in and none out."


_LOST = kit.patterns("""
no-line: D=None or D=-1
    What counts is the number of a line, or 0 if the backward runs.
    look: how the text wants it written
from-zero: A=1, B=1, C=0, D=0
    Lines are numbered from 1, as behind each `#`. 0 stands for a backward that runs.
    look: the numbers in the text
number-stays-connected: A=0 (M27)
    `n` is a plain number. A tensor that is made of it starts anew.
    look: `type(n)`
new-tensor: A=3
    Line 3 makes a new tensor of a plain number. The history was gone before that.
    look: `type(n)`
index-has-slope: B=0
    `best` is a whole number, the place of the largest entry. It has no slope.
    look: `best.dtype`
float-again: B=3
    Line 3 makes floats of whole numbers. The history was gone before that.
    look: `best.requires_grad`
not-recorded-later: C=0
    What was computed in `no_grad` has no history afterwards either. Only new leaves, or `w` itself, could bring one.
    look: `h.requires_grad`, after the block
after-the-block: C=2
    Line 2 stands outside of `no_grad`. But what it is made of has no history.
    look: `h.requires_grad`, after the block
one-cut-is-all: D=1 (M19)
    `h` has no history. But `loss` is made of `h` and of `w`, and `w` is tracked.
    look: `loss.requires_grad`
at-the-product: D=2
    A product is recorded if one of its factors requires grad, and `w` does.
    look: `loss.requires_grad`
""")


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Which repair is right?",
    kind="predict",
    points=3,
    beliefs=("M18",),
    hints=(
        "Three questions for each: is the saved value still overwritten? Is that counted? Is there still a way to `w`?",
        "`.data` overwrites without counting. `no_grad` and `detach()` share the counter, and so does the error.",
        "A new leaf has no way back to `w`: the backward runs, and ends there.",
    ),
    idea="A and D compute with new tensors: right. B overwrites and is not counted: wrong. C is counted: refused. E "
    "has no history: refused. F ends at a new leaf: wrong. G: nothing was freed, nothing is to be retained: refused. "
    "H: `detach()` shares memory and counter: refused.",
)
def repairs(answer):
    truth = dict(zip("ABCDEFGH", "right wrong error right error wrong error error".split(), strict=True))
    given = kit.a_dict(answer, truth)
    given = {name: value.strip().lower() if isinstance(value, str) else show(value) for name, value in given.items()}
    kinds = '"right", "wrong" or "error"'
    for name, value in given.items():
        if value not in ("right", "wrong", "error"):
            raise Wrong("kind", f"`{name}` is {kinds}", show(answer[name]), look=f"the value of `{name}`")
    kit.predicted(given, truth, _REPAIRS, kinds)
    return "A repair is right if the saved value and the way to the leaf stay. That the error is gone is not enough."


_REPAIRS = kit.patterns("""
data-is-a-repair: B=right
    The error is gone, because `.data` does not count. The node of sigmoid computes with the tripled numbers.
    look: `w.grad` after A, and after B
data-is-counted: B=error, F=wrong, H=error (M18)
    `.data` has a counter of its own, so nobody notices.
    look: `h._version` after B
data-is-counted: B=error
    `.data` has a counter of its own, so nobody notices.
    look: `h._version` after B
no-grad-protects: C=right or C=wrong
    `no_grad` means that the overwrite is not recorded. It is counted all the same.
    look: `h._version` after C
clone-overwritten: D=error
    What is overwritten is the clone. The node of sigmoid has the other one.
    look: whether `h` before and after `clone()` is one memory
clone-is-cut: D=wrong
    `clone()` is recorded: gradients pass it.
    look: `h.grad_fn` after D
detach-keeps-history: E=right or E=wrong
    `h.detach() * 3` has no history, and nothing else leads to `w`.
    look: `h.requires_grad` after E
leaf-is-the-end: F=right or F=error
    The new leaf is tracked, so the backward runs. But it ends there, and `w.grad` stays None.
    look: `w.grad` after F
retain-cures: G=right or G=wrong
    Nothing was freed here: a saved value was overwritten. `retain_graph=True` does nothing about that.
    look: what the error says, and what it does not say
detach-shares: H=right or H=wrong
    `detach()` gives the same memory, and the same counter.
    look: `h._version` after H
new-tensor-refused: A=error or A=wrong
    `h * 3` is a new tensor. What sigmoid saved stays as it was, and the product is recorded.
    look: what is in the node of sigmoid after A
""")


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A gate",
    kind="fix",
    points=2,
    hints=(
        "Run it under `%%explain`. Which line saved `gate`, which overwrote it?",
        "The repair is at the line that overwrote.",
        "A new tensor of twice the numbers: how do you write that without `=` right behind `*`?",
    ),
    idea="`gate = gate * 2`. The node of sigmoid keeps the old tensor, and the new one has the name.",
)
def gated(answer):
    _refuse_given(answer, "gated")
    first, far = tools.leaf(0.5), [0.0, 1.0, -500.0, 500.0]  # of which a sigmoid by hand may make nan
    cases = (first, [1.0, -1.0]), (first, [2.0, 0.5]), (tools.leaf([-1.5]), [0.25, 3.0, -3.0])
    for w, numbers in (*cases, (tools.leaf(0.0), [1.0, 0.0, -3.0]), (tools.leaf([2.0]), far)):
        x = tools.constant(numbers)
        loss = tools.result(tools.called(answer, (w, x), "a loss", _LEAF))
        look = "each line that you changed: what it computes has to stay the same"
        _check_loss(answer, loss, (mg.sigmoid(w * x) * (x + 2)).sum(), (w, x), "as the given function has it", look)
        _refuse_spoiled(answer, (w, x))
    return "What sigmoid has saved is what it computed, and both uses of the gate lead back."


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A loss over all rounds",
    kind="fix",
    points=2,
    hints=(
        "Run it under `%%explain`, with a backward. Where is the history lost?",
        "Add up the tensors, not their numbers.",
        "`total = total + loss` and `return total`. What else stands in the way of a tensor?",
    ),
    idea="`total = total + (h * h).sum()`, and `return total`. Nothing is cut, so gradients flow through all rounds.",
)
def remember(answer):
    _refuse_given(answer, "remember")
    for weight, rows in _ROUNDS:
        w, xs = tools.leaf(weight), [tools.constant(row) for row in rows]
        total = tools.result(tools.called(answer, (w, xs), "a loss", _LEAF))
        losses, alone = (_losses(w, [tools.constant(row) for row in rows], cut) for cut in (False, True))
        known = {"rounds-cut": _slope(sum(alone), w), "last-only": _slope(losses[-1], w)}
        _check_loss(
            answer,
            total,
            sum(losses),
            (w, xs),
            "the sum over all rounds",
            "what each round begins with, and what is added up",
            **known,
        )
        _refuse_spoiled(answer, (w, xs))
    return "Every round's loss is in it, and the way through the states to the first round is whole."


_ROUNDS: tuple[tuple[Any, list], ...] = (
    ([-1.5], [[0.5], [1.0], [-0.25], [0.75]]),
    (0.75, [[2.0]]),
    (0.5, [[1.0, -2.0], [0.25, 0.5], [-1.0, 0.125]]),
    (0.0, [0.0, 1.0, -0.5]),
    ([0.5], [[0.0, 0.0], [0.0, 0.0]]),
    (0.75, [[0.5, 0.0], [-1.0, 1000.0], [0.0, 0.25]]),  # what a tanh by hand makes of it may be nan
    (0.75, [[[0.5, -0.25], [0.125 * i, 0.375], [1.0, -1.0]] for i in range(33)]),  # longer than the example, and tables
)


def _losses(w: mg.Tensor, xs: list, cut: bool) -> list[mg.Tensor]:
    """The losses of all rounds; with `cut`, each state is made of the number of the one before."""
    h, found = mg.zeros_like(xs[0]), []
    for x in xs:
        h = mg.tanh(w * (h.detach() if cut else h) + x)
        found.append((h * h).sum())
    return found


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Each round alone",
    kind="fix",
    points=3,
    off={"grad 0": "the task is to fill `w.grad`", "again": "a second call adds", "old grad": adversaries.ADDED},
    beliefs=("M13",),
    hints=(
        "Run it under `%%explain`. Through which variable is the old graph reached?",
        "A state that came from before is a number for this round: cut it where the round uses it.",
        "`h.detach()`. In the product, or as the last line of the round?",
    ),
    idea="`h = mg.tanh(w * h.detach() + x)`, or `h = h.detach()` at the end of the round.",
)
def carry(answer):
    _refuse_given(answer, "carry")
    for weight, rows in _ROUNDS:
        w, xs = tools.leaf(weight), [tools.constant(row) for row in rows]
        tools.called(answer, (w, xs), "gradients of all rounds in `w.grad`", _OVERWRITTEN, _WALKED, _NO_WAY, _LEAF)
        if w.grad is None and "added grad" not in adversaries.trial.circumstances:
            raise _wrong("nothing-added", "`w.grad` is None")
        came = mg.zeros_like(w) if w.grad is None else w.grad  # it is None if an old one and 0 became a new tensor
        whole, alone = (_losses(w, [tools.constant(row) for row in rows], cut) for cut in (False, True))
        slopes = [_slope(loss, w) for loss in alone]
        known = {"through-all": _slope(sum(whole), w), "last-round": slopes[-1]}
        known |= {"last-round/whole": _slope(whole[-1], w), "state-lost": mg.zeros_like(w)}
        _check_slope(answer, sum(slopes), came, (w, xs), **known)
        if came.requires_grad:
            raise _wrong("tracked-grad", show(came), leaf="w")
    return "Each backward walks through one round, and the state goes on as a number."


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Two players",
    kind="fix",
    points=3,
    off={
        "values 1": "the task is to move `d`",
        "grad 0": "the task is to fill `g.grad`",
        "grad 1": "what is in `d.grad` does not matter",
        "again": "a second step goes on from the first",
        "old grad": "the text takes both as new",
        "untracked": "the text has both tracked",
    },
    beliefs=("M06", "M07"),
    hints=(
        "Run it under `%%explain`: which line saved `d`, and which overwrote it?",
        "The loss of `g` is asked for the new `d`. So its score has to be computed after the step.",
        "`loss_d` is no business of `g`: give it `fake.detach()`.",
    ),
    idea="`score = d * fake.detach()` for `loss_d`; after the step `loss_g = 1 - d * fake`. No graph waits then.",
)
def play(answer):
    _refuse_given(answer, "play")
    cases = (2.0, 0.5, 0.05), ([-3.0], [-1.5], 0.01), (0.0, 1.5, 0.1), (3.0, 0.0, 0.1), ([0.5], [2.0], 0.0)
    for of_g, start, rate in cases:
        g, d = tools.leaf(of_g), tools.leaf(start)
        tools.called(
            answer, (g, d, rate), "a step of `d`, then a gradient for `g`", _OVERWRITTEN, _WALKED, _LEAF, _NO_WAY
        )
        _check_played(answer, g, d, *np.ravel([of_g, start]), rate)
    return "`d` moved by its own loss, and `g` was judged by the new `d`, and by its own loss alone."


_played = tools.texts("""
no-step: `d` moves to {moved}
    In the end your caller's `d` is where it was. Another tensor may have moved, or the step was 0.
    look: the step: of which tensor, and by which `.grad`
other-step: `d` moves to {moved}
    look: how often `d` moves, how far, in which direction, and what was in `d.grad` then
nothing-for-g: `g.grad` is {slope}, the slope of `1 - score` for the new `d`
    look: what leads from the second loss to `g`, and what becomes of `g.grad`
before-the-step: `g.grad` is {slope}, the slope of `1 - score` for the new `d`
    So much is the slope for the old `d`.
    look: where the second loss is computed, and with which `d`
both-losses: `g.grad` is {slope}, the slope of `1 - score` for the new `d`
    So much comes with the slope of the first loss in it.
    look: how the first loss depends on `g`
both-losses/before: `g.grad` is {slope}, the slope of `1 - score` for the new `d`
    So much comes with the slope of the first loss in it, and with that of the second for the old `d`.
    look: how the first loss depends on `g`, and with which `d` the second is computed
other-gradient: `g.grad` is {slope}, the slope of `1 - score` for the new `d`
    look: each backward, and what leads from it to `g`
""")


def _check_played(answer, g, d, of_g, start, rate):
    moved, now = start - rate * 8 * start * of_g * of_g, kit.a_number(d, "`d`")
    expected = {"moved": f"{moved:.7g}", "slope": f"{-2 * moved:.7g}"}
    if not kit.close(now, moved):
        stays = kit.close(now, start)
        wrong = _played("no-step" if stays else "other-step", f"{now:.7g}", **expected)
        copies = kit.uses(answer, "clone", "copy", "deepcopy", "tensor", "copy_")  # which take the steps then
        raise _believed(wrong, "M06", stays and kit.rebinds(answer, 1) and not copies)
    if g.grad is None:
        raise _played("nothing-for-g", "None", **expected)
    came, first = kit.a_number(g.grad, "`g.grad`"), 8 * start * start * of_g  # the slope of the first loss
    slopes = (-2 * moved, ""), (-2 * start, "before-the-step")
    slopes += (first - 2 * moved, "both-losses"), (first - 2 * start, "both-losses/before")
    name = next((name for slope, name in slopes if kit.close(came, slope)), "other-gradient")
    if name:
        raise _played(name, f"{came:.7g}", **expected)
    if g.grad.requires_grad:
        raise _wrong("tracked-grad", show(g.grad), leaf="g")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A buffer for each round",
    kind="fix",
    points=2,
    hints=(
        "Run it under `%%explain`, with a backward from the first loss. Which round saved, which overwrote?",
        "As long as a loss waits, what it saved needs memory of its own.",
        "Use `row` itself, or a `clone()` of it, for each round.",
    ),
    idea="`losses.append(((w * row) ** 2).sum())`: no buffer, and so nothing to overwrite.",
)
def rows(answer):
    _refuse_given(answer, "rows")
    for weights, numbers in _TABLES:
        w, given = tools.leaf(weights), [tools.constant(row) for row in numbers]
        given.append(given[0])  # one row twice: two losses, each with a graph of its own
        losses = tools.called(answer, (w, list(given)), "a list of losses", _LEAF)
        if not isinstance(losses, list | tuple) or len(losses) != len(given) or any(one is None for one in losses):
            expected = f"a list of {len(given)} losses, one for each row"
            got = f"{len(losses)} of them: {show(losses)}" if isinstance(losses, list | tuple) else show(losses)
            raise Wrong("no-list", expected, got, look="what `return` gives back, and what is appended")
        for loss, row in zip(losses, given, strict=True):
            kit.a_tensor(loss, "each loss", "what is appended")
            right, look = ((w * row) ** 2).sum(), "what each loss is made of"
            _check_loss(answer, loss, right, (w, list(given)), "the loss of its row", look)
        _refuse_spoiled(answer, (w, list(given)))
    return "Each loss has its own data, for as long as it waits."


_TABLES: tuple[tuple[Any, list], ...] = (
    ([0.5, -2.0], [[1.0, 2.0], [3.0, -1.0], [0.3, 4.0], [2.0, 1.0], [0.5, 2.5]]),
    ([0.0, 1.5], [[0.0, 0.0], [2.0, 0.0], [-3.0, 0.0]]),
    (1.5, [2.0, 0.0]),
    ([[0.5, 2.0], [-1.0, 3.0]], [[[1.0, 2.0], [0.5, -1.0]]]),
)


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Find the culprit",
    kind="write",
    points=3,
    off={"errors": "the task is to catch one"},
    beliefs=(),
    hints=(
        "Section 7 of the chapter has almost all of it: a `try`, a block, an `explain`.",
        "The story has `variable`, `saved` and `overwritten`. The last is a tuple of lines; a line has `number`.",
        "`story = mg.viz.explain(error).story`, then `return story.variable, story.overwritten[0].number`.",
    ),
    idea="Call `program()` in `with mg.viz.lines():`, catch the RuntimeError, and take both from its story.",
)
def culprit(answer):
    kit.a_function(answer)
    for head, source in (one.split("\n", 1) for one in _PROGRAMS.split("### ")[1:]):
        variable, saved, number = head.split()
        runs: list[bool] = []
        found = tools.called(answer, (_program(source, runs),), "a name and a number", _NO_STORY, _NOT_CAUGHT)
        pair = isinstance(found, list | tuple) and len(found) == 2
        if not pair or not isinstance(found[0], str) or type(kit.plain(found[1])) not in (int, float):
            look = "each `return`: whether it is reached, and what it gives back, in which order"
            raise Wrong("no-pair", 'a pair of a name and a number, as `("h", 3)`', show(found), look=look)
        found = found[0], kit.plain(found[1])
        if runs and not runs[0] and not adversaries.trial.circumstances:
            expected, look = "a call of `program` while recording is on", "what stands around `program()`"
            why = "Where nothing is recorded nothing is saved, and another error comes."
            raise Wrong("not-recorded", expected, "recording was off", why=why, look=look)
        _check_culprit(found, source, variable, int(saved), int(number))
        if len(runs) > 1 and not adversaries.trial.circumstances:
            why = "A program that changes something may fail otherwise the second time."
            raise Wrong("called-again", "one call of `program`", f"{len(runs)} calls", why=why, look="each `program()`")
    return "Your function finds, in any program, what the error does not say."


def _check_culprit(found, source, variable, saved, number):
    expected, got = f"{variable!r}, overwritten by line {number}", f"{found[0]!r} and line {found[1]}"
    got += ", with a backquote in the name" if "`" in found[0] else ""
    saves, overwrites = (f"line {one}, `{source.splitlines()[one - 1].strip()}`," for one in (saved, number))
    why = f"In the program that was given {overwrites} overwrites what {saves} has saved."
    for code, is_so, what in (
        ("saving-line", found[1] == saved, "the number: it is that of the line that saved"),
        ("other-line", found[1] != number, "the number"),
        ("other-name", found[0] != variable, "the name"),
    ):
        if is_so:
            raise Wrong(code, expected, got, why=why, look=f"from where your function has {what}")


# Each with the variable, the line that saves it, and the line that overwrites it.
_PROGRAMS = """
### h 4 6
def program():
    w = mg.tensor(3.0, requires_grad=True)
    h = w * 2
    loss = h * h
    note = loss.item()
    h += 1
    loss.backward()
### features 6 2
def halve(t):
    t.div_(2)

def program():
    v = mg.tensor([1.0, 2.0], requires_grad=True)
    features = mg.exp(v)
    halve(features)
    features.sum().backward()
### part 5 7
def program():
    w = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = w * 2
    part = y[:2]
    loss = (part * part).sum()
    y = y * 3
    part[0] = 5.0
    loss.backward()
### self.parts[1] 4 10
class Two:
    def loss(self, x):
        self.parts = [x.exp(), x * 2]
        return (self.parts[0] * self.parts[1]).sum()

def program():
    two, x, calls = Two(), mg.tensor([1.0, 2.0], requires_grad=True), 0
    calls += 1
    loss = two.loss(x)
    two.parts[1].mul_(3)
    loss.backward()
"""


def _program(source: str, runs: list[bool]) -> Callable:
    """The function `program` of a source, whose lines can be looked up; each of its runs is noted."""
    file = f"<program {len(source)}>"
    scope = dict[str, Any](mg=mg, _noted=lambda: runs.append(mg.is_grad_enabled()))
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    noting = source.replace("def program():\n    ", "def program():\n    _noted(); ")  # no line moves
    exec(compile(noting, file, "exec"), scope)
    return scope["program"]


chapter.lock()
