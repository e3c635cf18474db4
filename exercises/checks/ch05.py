"""The checks of chapter 05, "Why can't I go backward twice?"."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, graphs, kit, observe, tools
from exercises.checks.kit import Wrong, show
from exercises.checks.targets import Targets

chapter = kit.Chapter(__name__, "05", "Why can't I go backward twice?")


# --- What several exercises share ----------------------------------------------------------------

_ADDS = {"again": "the gradients are added up", "old grad": adversaries.ADDED}
_EXACT = {"result dtype": "float64 is right for a float32, too"}


def _predicted(answer: Any, truth: dict, words: dict, kinds: str, patterns: tuple, looks: dict) -> None:
    """kit.predicted for `words`, and numbers where "none" is one; what is shown as wrong is what the learner wrote."""
    answer = kit.a_dict(answer, truth)
    given = {name: _word(value, words) for name, value in answer.items()}
    for name, word in given.items():
        if word is None:
            raise Wrong("kind", f"`{name}` is {kinds}", show(answer[name]), look=f"the value of `{name}`")
    try:
        kit.predicted(given, truth, patterns, "text", looks)
    except Wrong as wrong:
        name = wrong.verdict.got.split("`")[1]
        wrong.verdict.got = f"`{name}`: {show(answer[name])}"
        raise


def _word(value: Any, words: dict) -> str | None:
    """The text that stands for a predicted value, or None if it is no such value."""
    value = kit.plain(value)
    if type(value) in (int, float) and value == value and "none" in words:
        return f"{value:g}"
    return words.get(str(value).strip().lower()) if value is None or type(value) is str else None


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Once or twice?",
    kind="predict",
    points=2,
    beliefs=("M12",),
    hints=(
        "Ask of each operation: does its slope depend on a number that it has to remember?",
        "A number counts, too: `x * 3` remembers its 3. And a walk goes on to the leaves, through each operation.",
        "`+`, `-`, `sum`, `mean`, the minus sign and `x[0]` have no number to lose. `*` and `exp` have.",
    ),
    idea="A, C and E save nothing: twice. B keeps its 3, D its result, and F the factors behind its `+`: once.",
)
def often(answer):
    truth = {"A": "twice", "B": "once", "C": "twice", "D": "once", "E": "twice", "F": "once"}
    looks = {name: f"what each operation of {name} saves" for name in truth}
    _predicted(answer, truth, {"once": "once", "twice": "twice"}, '"once" or "twice"', _OFTEN, looks)
    return "A second walk fails where something was saved and freed. What saves nothing can be walked again."


_OFTEN = kit.patterns("""
the-other-way-round: A=once, B=twice, C=once, D=twice, E=once, F=twice
    Each of the six is the other one.
    look: which of the two words says that a second walk raises; if you computed it, which one you note after an error
always-once: A=once, B=once, C=once, D=once, E=once, F=once (M12)
    It fails only at a node that has lost what it saved. Here no node has anything to lose.
    look: the cell of the chapter that goes backward twice from `x + 3`; if you computed it: a size or an index is
    noted under a `_saved_` name, too, but not freed
never-freed: B=twice, D=twice, F=twice
    A walk frees what the nodes on its way have saved, and B, D and F save something.
    look: the first error of the chapter; if you computed it: does the first walk retain, and does the second start
    from the same result?
number-is-saved: B=twice
    The slope is 3 wherever `x` is, but the 3 itself is saved by the node, and freed.
    look: the picture of the chapter with `x + 3` and `x * 3`
result-is-saved: D=twice
    exp is its own slope, so it keeps its result. A walk frees that.
    look: the row of `exp` in the chapter's table
last-operation-only: F=twice
    The `+` could go again. But the walk goes on, and comes to a multiplication that lost its factors.
    look: all operations of F, not only its last
nothing-to-lose: A=once or C=once or E=once
    It fails only at a node that has lost what it saved. Here no node has anything to lose.
    look: what the slope depends on: of a sum, of a mean, of taking out one entry
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Four walks",
    kind="predict",
    points=2,
    beliefs=("M08", "M09"),
    hints=(
        "Keep two books: what is in `x.grad`, and whether the node still has what it saved.",
        "Clearing `x.grad` changes the first book only. A walk adds 6 to it, if it can.",
        "C does not say `retain_graph`. Does that matter for C, or for the walk after it?",
    ),
    idea="A brings 6. Cleared, B brings 6 again. C finds what B retained, and adds 6: 12. C frees it, so D raises.",
)
def walks(answer):
    truth = {"A": "6", "B": "6", "C": "12", "D": "error"}
    looks = {name: f"what is in `x.grad` before {name}, and what {name} adds: the slope at 3" for name in truth}
    looks["D"] = 'whether C left anything for D; a line that raises is "error" here'
    _predicted(answer, truth, _ERROR_WORDS, 'a number or "error"', _WALKS, looks)
    return "Clearing concerns .grad, retaining what the nodes saved. And it is each walk that says whether it frees."


_ERROR_WORDS = {"error": "error", "an error": "error", "raises": "error", "none": "None"}
_WALKS = kit.patterns("""
clearing-destroys: B=error, C="12" (M09)
    `x.grad` is where a walk puts its result. What it reads is saved in the nodes, and A has retained that.
    look: the cell of the chapter that clears `x.grad` before `backward()`
kept-for-once: B=error
    What B reads is saved in the node, and A has retained that. Clearing `x.grad` in between does not touch it.
    look: what the line of A leaves to the walk after it
not-cleared: A="6", B="12"
    Between A and B `x.grad` was cleared. So B starts from nothing.
    look: the line between A and B; if you noted `x.grad` itself, C has added to that very tensor
each-by-itself: B="6", C="6", D="6"
    The lines are one program, with one `x` and one `y`: C finds 6 in `x.grad` and adds 6, and frees what D needs.
    look: what each line finds in `x.grad` and in the node of `y`
overwrites: B="6", C="6", D=error (M08)
    C finds 6 in `x.grad` and adds 6.
    look: what backward does to a `.grad` that is there already
overwrites: B="6", C="6"
    C finds 6 in `x.grad` and adds 6.
    look: what is cleared between B and C, and what C leaves to D
frees-before-it-walks: C=error
    B has retained what the node saved, so C can use it. That C does not retain concerns the walk after C.
    look: the rule about `retain_graph=True`: about which walk is it?
retained-for-ever: D="18"
    `retain_graph=True` holds for the walk that says it. C did not say it, so C has freed what D needs.
    look: the third walk in the chapter's section 3
slope-not-value: A="9"
    9 is `y`. What arrives in `x.grad` is its slope.
    look: the slope of `x * x` at 3
one-way: A="3"
    In `x * x` two ways lead to `x`, and each brings 3.
    look: both factors
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Four times, as often as you like",
    kind="build",
    points=2,
    hints=(
        "Which operation is in the boxes of the picture? Does it save anything?",
        "Count the boxes, and count the arrows that leave each of them.",
        "The last box has two arrows, both to the same box: one result, used twice.",
    ),
    idea="`double = x + x`, then `return double + double`. Two additions, which save nothing; the first is used twice.",
)
def four_times(answer):
    kit.a_function(answer)
    for number in (1.6, -2.0, 0.0):
        x = tools.leaf(number)
        y = tools.result(tools.called(answer, (x,), "a tensor, 4 times `x`"))
        tools.refuse_other_values(y, 4 * number, "4 times `x`", "what your function makes of `x`, step by step")
        if not graphs.reaches(y, x):
            expected, look = "a result with a way back to `x`", "where `x` itself goes in, and whether that is recorded"
            raise Wrong("cut-off", expected, show(y), look=look)
        _targets.refuse_other(y, "four_times", _why_not_four_times(graphs.operations(y)))
    return "Additions save nothing, so this graph can be walked any number of times. 4 * x could be walked once."


def _why_not_four_times(made_of):
    if set(made_of) - {"add"}:
        why = "There is another operation than additions in your graph."
        if not {"mul", "matmul", "pow"}.isdisjoint(made_of):
            why = "A product or a power saves what its slope depends on, and a walk frees that: you can go once."
        return Wrong("other-operation", why=why, look="the boxes of the picture")
    if len(made_of) > 2:
        why = f"{len(made_of)} additions. In the picture there are two: one of them is used twice."
        return Wrong("not-shared", why=why, look="which box the picture does not have, and how many arrows end in each")
    return Wrong("other-graph", look="the number of additions, and where their arrows end")


def _four_times():
    x = mg.tensor(1.0, requires_grad=True)
    double = x + x
    return double + double, {"x": x}


_targets = Targets(four_times=_four_times)
show_target = _targets.show


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "One trunk, one walk",
    kind="fix",
    points=3,
    off={"grad": "the task is to fill it", **_ADDS},
    beliefs=("M13",),
    hints=(
        "Which nodes do the two walks have in common? What does the first do to them?",
        "Nobody asks for the two gradients apart: they are added in `.grad` anyway.",
        "The gradient of a sum is the sum of the gradients. So go backward from one number.",
    ),
    idea="`(head_a(h) + head_b(h)).backward()`. Or `mg.autograd.backward` with a list of both losses: also one walk.",
)
def shared(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_SHARED)
    _check_shared(answer, tools.leaf([0.5, 2.0, -1.0]), 0.5)
    _check_shared(answer, tools.leaf([1.5, 0.25]), 0.0)
    _check_shared(answer, tools.constant([0.5, 2.0]), 0.5)
    return "One walk from both losses: each node of the trunk had its turn once, with the sum of what came to it."


_GIVEN_SHARED = """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    head_a(h).backward()
    head_b(h).backward()
"""
_SHARED_ERRORS = tools.reasons("""
second-time: through the graph a second time
    A walk came to a node that an earlier walk had freed.
    look: how many walks your function makes, and what they have in common
overwritten: has been modified by an inplace operation
    Something was overwritten after a node had saved it. Here a loss is saved by its node, and `h` by a head.
    look: each `+=` and each operation that ends in `_`: what do they write into?
""")


def _trunk_and_heads(p, a, b):
    """A trunk and two heads, each with a parameter; and the turns in the trunk."""
    turns = []

    def trunk(t):
        inner = p * t * t
        if inner.requires_grad:
            inner.register_hook(turns.append)
        return mg.sin(inner)

    return observe.watched(trunk), lambda h: mg.tanh((a * h).sum()), lambda h: mg.tanh((b * h * h).sum()), turns


def _check_shared(answer, x, in_a):
    """The loss of `head_a` is 0 where its parameter `in_a` is."""
    p, a, b = map(tools.leaf, (1.0, in_a, -0.3))
    leaves = {"`x`": x, "a parameter of `trunk`": p, "a parameter of `head_a`": a, "a parameter of `head_b`": b}
    leaves = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    trunk, head_a, head_b, turns = _trunk_and_heads(p, a, b)
    ways = [mg.autograd.grad(head(trunk(x)), leaves.values(), materialize_grads=True) for head in (head_a, head_b)]
    del turns[:], trunk.results[:]
    first = next(iter(leaves))
    leaves[first].grad = mg.ones_like(leaves[first])
    right = tools.text(1 + tools.array(ways[0][0] + ways[1][0]))
    expected = f"{right} in the `.grad` of {first}: 1 was there, and both losses add to it"
    observe.called_noting(trunk.walks, answer, (trunk, head_a, head_b, x), expected, *_SHARED_ERRORS)
    for (name, leaf), *both in zip(leaves.items(), *ways, strict=True):
        from_a, from_b = map(tools.array, both)
        added = None if leaf.grad is None else tools.array(leaf.grad) - (name == first)
        if added is not None and tools.same(added, from_a + from_b):
            continue
        if name == first:
            raise _wrong_shared(added, a, b, from_a, from_b, expected)
        if added is None:
            look = "from what you go backward, and for whom: `inputs=` leaves out all others"
            raise Wrong("head-missed", "a gradient for each leaf", f"None for {name}", look=look)
        expected = f"{tools.text(from_a + from_b)} in the `.grad` of {name}"
        raise Wrong("other-head", expected, tools.text(added), look="which losses reach it, and through what")
    _check_the_walk(turns, trunk.results, trunk.walks)


def _check_the_walk(turns, runs, walks):
    """Whether the trunk, whose results are `runs`, was computed once and walked once, and nothing was retained."""
    if len(runs) > 1:
        why = "The gradients are right. But the trunk was computed more than once, and a trunk is most of the work."
        raise Wrong("two-forwards", "one call of `trunk`", f"{len(runs)} calls", why=why, look="each call of `trunk`")
    if len(turns) > 1:
        why = "The gradients are right. But more than one walk went through the trunk. For a sum one is enough."
        belief, expected = "M13" if tools.RETAINS in walks else "", "one turn for each node of the trunk"
        look = "how often your function goes backward"
        raise Wrong("two-walks", expected, f"{len(turns)} turns", belief=belief, why=why, look=look)
    tools.refuse_retained(walks, "The gradients are right, and each node of the trunk had its turn once.")


_SHARED = """
cleared: came is None or any(np.allclose(came + 1, one) for one in (a + b, a, b, 0 * a))
    What was in `.grad` before, the 1 or the gradient of the first loss, is gone.
    look: each line that clears or sets a `.grad`
trunk-missed: not came.any() and (to_a or to_b)
    A gradient came to the parameter of a head. But nothing was added to this `.grad`.
    look: what `trunk` and the heads are called with, whether all of that is recorded, and whether a walk goes on from
    `h`, also where `x` is data
nothing-added: not came.any()
    Nothing was added to this `.grad`. `autograd.grad` returns gradients, `backward` adds them to `.grad`.
    look: whether a `backward` runs for each input, from what, and for whom
cut-off: to_b and np.allclose(came, a) or to_a and np.allclose(came, b)
    What was added is the gradient of one loss alone, of `{head}`. That of the other one came to its own parameter.
    look: what each head is called with: does a way lead back from there? And each line that clears or sets a `.grad`
one-loss: np.allclose(came, a) or np.allclose(came, b)
    What was added is the gradient of one loss alone, of `{head}`.
    look: whether both go into a walk, to all leaves, and each error that is caught
one-loss-twice: np.allclose(came, 2 * a + b) or np.allclose(came, a + 2 * b)
    The gradient of one loss is in it twice.
    look: what each walk starts with, and what an earlier walk had added by then, also one that failed
mean: (a + b) / 2
    Half of what should arrive, as from a mean.
    look: what the losses are divided by or multiplied with, and from what a walk starts
twice: 2 * (a + b)
    Twice what should arrive.
    look: how often each loss goes into a walk, and by what it is multiplied
other-gradient: -
    look: from what you go backward, what each walk starts with, how often it runs, and what clears or sets a `.grad`
"""


def _wrong_shared(added, a, b, from_a, from_b, expected):
    got = "None" if added is None else tools.text(added + 1)
    to_a, to_b = (one.grad is not None and bool(tools.array(one.grad).any()) for one in (a, b))
    head = "head_a" if added is not None and tools.same(added, from_a) else "head_b"
    text = _SHARED.replace("{head}", head)
    return tools.of_value(text, added, expected, got, a=from_a, b=from_b, to_a=to_a, to_b=to_b)


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The slope of the slope",
    kind="fix",
    points=2,
    off=_EXACT,
    beliefs=("M08", "M14"),
    hints=(
        "Print `slope`: is there a `grad_fn`? What could a walk from it follow?",
        "To keep the graph of `f(x)` does not give the slope a graph.",
        "One option of `grad` keeps a graph, another makes one for the gradient.",
    ),
    idea="`create_graph=True` in the first `grad`: that walk is recorded, so the slope has a graph that leads to `x`.",
)
def curvature(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_CURVATURE)
    for f, number, first, second in _CURVATURES:
        _check_curvature(answer, f, number, first, second)
    return "The first walk was recorded, so the slope has a graph of its own, and the second walk can follow it."


_GIVEN_CURVATURE = """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x, retain_graph=True)
    result, = mg.autograd.grad(slope, x)
    return result
"""
_CURVATURES: tuple = (
    (lambda t: t**4, 0.8, 4 * 0.8**3, 12 * 0.8**2),
    (lambda t: mg.exp(1.5 * t), 0.5, 1.5 * np.exp(0.75), 2.25 * np.exp(0.75)),
    (lambda t: t * mg.sin(t), [2.0], np.sin(2) + 2 * np.cos(2), 2 * np.cos(2) - 2 * np.sin(2)),
    (lambda t: t * (0.3 * mg.exp(t) + 0.4), 0.0, 0.7, 0.6),
)
_CURVATURE_ERRORS = tools.reasons(
    """
cut-off: does not require grad
    What `f` returned has no history.
    look: what you call `f` with, and whether recording is on there
slope-without-graph: and does not have a grad_fn (M14)
    A walk starts from something without a history. What `retain_graph=True` keeps is the graph of `f(x)`.
    look: the option of `grad` that makes a graph for the gradient: in which of the walks it has to stand
cut-slope: and does not have a grad_fn
    A walk starts from something without a history.
    look: how it was made: each `detach`, and if it is a gradient, the option of `grad` that makes a graph for it, and
    in which walk it stands
another-tensor: not have been used
    No way leads from what a walk starts from to what it asks for. `requires_grad` gives a tensor no history afterwards.
    look: the tensor that each `grad` asks for, and how the one was made that it starts from: is that recorded?
freed-too-early: through the graph a second time
    A walk came to a node that was freed. A new graph may lead back into the old one: the slope of exp does.
    look: what each walk frees, and what a later one still needs of that
""",
    cut_off=lambda f, x: bool(f.tracked) and not any(f.tracked),
    slope_without_graph=lambda f, x: (
        not f.asks_to_record and tools.RETAINS in f.walks and not any(records for _, records in f.walks)
    ),
)


def _check_curvature(answer, f, number, first, second):
    x = tools.leaf(number)
    expected = f"the second derivative at {x.item():g}, {second:.7g}"
    watched = observe.watched(f)
    watched.asks_to_record = kit.says(answer, "create_graph")
    y = observe.called_noting(watched.walks, answer, (watched, x), expected, *_CURVATURE_ERRORS)
    if y is None:
        raise Wrong("none", expected, "None", look="whether a `return` is missing, or a `grad` may return None")
    y = tools.result(y)
    if y.numel() != 1 or y.ndim > x.ndim == 0:
        got, look = f"one of shape {tuple(y.shape)}", "what you return, and what you do with what `grad` returns"
        raise Wrong("other-shape", f"a tensor of the shape of `x`, {tuple(x.shape)}", got, look=look)
    if not kit.close(y.item(), second):
        raise _wrong_curvature(answer, y, first, second, expected, watched)
    if x.grad is not None:
        why = "`backward` adds to `.grad`. `autograd.grad` returns the gradient and adds nothing."
        look = "each `backward`, and each line that sets a `.grad`"
        raise Wrong("traces", "`x.grad` as it was", f"`x.grad` is {show(x.grad)}", why=why, look=look)


_CURVED = """
added-up: first + second (M08)
    That is the first derivative and the second, added up.
    look: what is added to the second derivative: where the second walk starts, and what a `.grad` still holds
same-walk-twice: 2 * first (M14)
    That is the first derivative twice.
    look: from what each walk starts, and what is added up or multiplied
first-slope: first
    That is the first derivative.
    look: whether a second walk runs, and from what
squared: first * first
    That is the slope times itself, not its slope.
    look: what you do with the slope
other-number: -
    look: whether two walks run, from what each starts, for whom it asks, and what you make of the slopes
"""


def _wrong_curvature(answer, y, first, second, expected, watched):
    wrong = tools.of_value(_CURVED, y.item(), expected, show(y), first=first, second=second)
    grads = [tools.array(t.grad) for t in watched.given if getattr(t, "is_leaf", False) and t.grad is not None]
    sign = tools.RETAINS in watched.walks if wrong.verdict.code == "same-walk-twice" else not kit.clears(answer)
    return tools.if_seen(sign and any(tools.same(grad, tools.array(y)) for grad in grads), wrong)


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Kept or made?",
    kind="predict",
    points=2,
    beliefs=("M14", "M15"),
    hints=(
        "Ask of each second `grad`: does it walk the graph of `y`, or the graph of `g`? Is that one there?",
        "`g` has a graph only with `create_graph=True`. The graph of `y` is used up, unless it was retained.",
        "`create_graph=True` retains the graph of `y`, too, unless told otherwise. For x³ that of `g` saves its own.",
    ),
    idea="A 3: kept. B error: `g` has no graph. C 6. D 3: kept with it. E 6: the graph of `g` is there. F error.",
)
def kinds(answer):
    truth = {"A": "3", "B": "error", "C": "6", "D": "3", "E": "6", "F": "error"}
    look = "from what the second `grad` of {} starts, whether that graph is there, and its slope where `x` is 1"
    looks = {name: look.format(name) for name in truth}
    _predicted(answer, truth, _ERROR_WORDS, 'a number or "error"', _KINDS, looks)
    return "Two graphs, two questions: is the old one kept, and is there a new one for the gradient?"


_KINDS = kit.patterns("""
kept-fails: A=error
    The first `grad` of A has retained what the second one needs.
    look: what `retain_graph=True` leaves behind
retained-for-the-slope: B="6" (M14)
    `retain_graph=True` keeps the graph of `y`. `g` is a plain 3: it has no graph, and nothing to walk.
    look: whether line B makes a graph for `g`
no-way: B="0"
    No way leads from `g` to `x`, not even one that brings 0: `g` has no graph.
    look: whether line B makes a graph for `g`
slope-again: B="3"
    The second `grad` of B starts from `g`, not from `y`. And `g` has no graph.
    look: from what the second `grad` starts
create-needs-retain: C="6", E=error (M15)
    What is freed is the graph of `y`. The graph of `g` was made in that walk, and has numbers of its own.
    look: the cell of the chapter with `create_graph=True, retain_graph=False` and x ** 3
one-for-all: A="3", C=error, D=error, E=error
    Each marked program is alone, with a new `y`. And `create_graph=True` needs no `retain_graph=True` beside it.
    look: the sentence below the programs, and what `create_graph=True` makes and leaves behind
create-does-not-retain: D=error
    Unless you say otherwise, `create_graph=True` retains the graph of `y`, too.
    look: what differs between lines D and F
both-graphs-kept: F="3" or F="6"
    Line F says `retain_graph=False`. The graph of `g` is there, but that of `y` is used up.
    look: from what the second `grad` of F starts
second-from-y: A="6" or D="6"
    In A and in D the second `grad` starts from `y`. It returns the slope of `y` once more, and adds it to nothing.
    look: from what the second `grad` starts
first-again: C="3" or E="3"
    3 is `g` itself. The second `grad` of C and of E starts from `g`, and returns its slope.
    look: `g` as a function of `x`, for the `y` of the text, and the slope of that where `x` is 1
""")

# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "It fails in the second round",
    kind="fix",
    points=3,
    off={"values 1": "the task is to move `w`", "grad 1": "each round sets it", "again": "twice the rounds"},
    beliefs=("M06", "M07", "M08", "M13"),
    hints=(
        "Draw `loss` in the second round, before its walk. Which node was made before the loop?",
        "After an update `model(w)` is another number. Where is it computed?",
        "Each round needs a forward of its own. Move one line.",
    ),
    idea="Move `y = model(w)` into the loop. Then each round has a graph of its own, made from the `w` of that round.",
)
def stale(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_STALE)
    for numbers in _MODELS:
        _check_stale(answer, *numbers)
    return "Each round computes model(w) anew, from the w of that round. So nothing old is in its graph."


_GIVEN_STALE = """
def fit(model, w, target, rounds):
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
"""
_MODELS = (
    (lambda w: w * w, lambda w: 2 * w, 1.5, 4.0, 3),
    (lambda w: w - 1, lambda w: 1.0, 0.0, 0.0, 3),  # saves nothing, so that it can be walked again
    (lambda w: w * w * 0.1, lambda w: 0.2 * w, -2.1, 0.5, 305),
    (lambda w: 3 * w + 1, lambda w: 3.0, [2.0], 1300.0, 4),
    (lambda w: 2 * w, lambda w: 2.0, 1.0, 2.001, 1),
    (lambda w: 2 * w, lambda w: 2.0, 1.0, 4.0, 0),
)
# `model.came` holds the gradients that came to `w`.
_STALE_ERRORS = tools.reasons(
    """
moved-error: ] is at version (M13)
    `model(w)` was computed once, and has saved a `w` that was overwritten later: a version does not fit.
    look: where `model(w)` is computed, and how often
before-the-update: ] is at version
    A leaf was overwritten after an operation had saved it, as `model(w)` saves `w`, and before a walk that needs it.
    look: where `model(w)` is computed, and where `w` is overwritten: before or after the walk
overwritten-result: has been modified by an inplace operation
    A result was overwritten after an operation had saved it, and before the walk.
    look: each `+=` and its like, and each operation that ends in `_`: what do they write into?
still-stale: through the graph a second time
    A walk goes back into a graph that an earlier walk has used up.
    look: what was computed before the loop or in an earlier round, and how many walks start from each result
lost-later: and does not have a grad_fn
    A gradient came to `w` before. Here no way leads from what a walk starts from to a tensor that asks for one.
    look: what goes into the loss: is `w` still the same tensor, and tracked, and is all of it recorded?
no-way: and does not have a grad_fn
    No way leads from what a walk starts from to a tensor that asks for a gradient.
    look: each `detach` or `no_grad` around what `w` goes into
grad-none: unsupported operand type(s) for * (M06)
    A `.grad` that is None? `w = w - ...` makes a result of `w`, which gets no `.grad`; the caller's `w` stays.
    look: the line that updates `w`
grad-cleared: unsupported operand type(s) for *
    A factor is no number. A gradient came to the caller's `w`.
    look: that factor: a `.grad` that was cleared, that of a result, one that was never filled, what `backward` returns?
grad-elsewhere: unsupported operand type(s) for *
    A factor is no number: a `.grad` that is None? No gradient came to the caller's `w`.
    look: whether a walk runs before the update, and what goes into the loss: `w` itself, or another, as of `detach`?
recorded-update: a leaf Variable that requires grad is being used in an in-place operation (M07)
    An operation in place would be recorded, like any other. A leaf may be overwritten only where nothing is recorded.
    look: each line that overwrites a leaf, and whether recording is off there
""",
    moved_error=lambda model, *_: len(model.results) == 1 and model.came and tools.RETAINS in model.walks,
    lost_later=lambda model, *_: model.came,
    grad_none=lambda model, *_: model.rebinds and len(model.came) > 1,
    grad_cleared=lambda model, *_: model.came,
)


def _check_stale(answer, model, slope, start, target, rounds):
    w, watched = tools.leaf(start), observe.watched(model)
    start, watched.came, watched.rebinds = w.item(), [], kit.rebinds(answer, 1)
    w.register_hook(lambda grad: watched.came.append(grad.item()))
    path = lambda **how: _path(model, slope, start, target, **{"rounds": rounds, **how})  # noqa: E731
    expected = f"`w` at {path():.7g} after {rounds} rounds, from {start:g}"
    observe.called_noting(watched.walks, answer, (watched, w, target, rounds), expected, *_STALE_ERRORS)
    if not kit.close(w.item(), path()):
        raise _wrong_stale(answer, w, start, rounds, path, expected, watched)
    tools.refuse_retained(watched.walks, "`w` is right.")


def _path(model, slope, w, target, rounds, stale=False, adds=False, slope_at=None):
    """Where plain numbers go: with the y of the first round (stale), or with gradients that add up (adds)."""
    y, total = float(model(w)), 0.0
    for _ in range(rounds):
        y = y if stale else float(model(w))
        total = total * adds + 2 * (y - target) * slope(w if slope_at is None else slope_at)
        w -= 0.01 * total
    return w


_STALE = """
no-round: rounds == 0
    `w` has moved.
    look: how often your loop runs if `rounds` is 0
not-updated: rebinds and np.allclose(came, start, 1e-6, 5e-7)
    `w` is where it was. Where `w = ...` gives the name to another tensor, the `w` of the caller stays.
    look: the line that updates `w`: which tensor does it overwrite, and by how much?
not-moved: np.allclose(came, start, 1e-6, 5e-7)
    `w` is where it was.
    look: the line that updates `w`: does it run in each round, which tensor does it overwrite, and by how much?
stale-slope: any(np.allclose(came, path(stale=True, slope_at=at), 1e-6) for at in (None, start)) (M13)
    This is where `w` comes to with the `model(w)` of the first `w` in each step.
    look: where `model(w)` and its slope are computed, and how often
not-cleared: path(adds=True) (M08)
    This is where `w` comes to if the gradients of all rounds so far add up.
    look: what adds them up, as a `.grad` does, and where that is cleared
one-round: path(rounds=1)
    `w` is where one round alone brings it.
    look: what each later round does
other-w: -
    look: how many rounds run, and in each the loss, its slope and the step of 0.01
"""


def _wrong_stale(answer, w, start, rounds, path, expected, watched):
    came, facts = w.item(), {"start": start, "rounds": rounds, "path": path, "rebinds": watched.rebinds}
    wrong = tools.of_value(_STALE, came, expected, f"`w` is {came:.7g}", **facts)
    adds = w.grad is not None and kit.close(w.grad.item(), sum(watched.came)) and not kit.clears(answer)
    return tools.if_seen(tools.RETAINS in watched.walks if wrong.verdict.code == "stale-slope" else adds, wrong)


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A state without a past",
    kind="cut",
    points=3,
    off={"grad 0": "each round goes backward", **_ADDS, **_EXACT},
    beliefs=("M13",),
    hints=(
        "Draw the loss of the second round, before its walk. Where does the graph of the first round begin?",
        "Round by round, what comes in is a number. It may forget how it was made.",
        "`state.detach()` has the value of the state and no history. Where does the old state go in?",
    ),
    idea="`state = w * state.detach() + number`. The old state goes in as a number, and `w` by this round's product.",
)
def memory(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_MEMORY)
    many, with_zeros = [0.123, 1.0] * 153, [1.5, 2.0, 0.0, 3.0, 11.25]  # also the last state is 0
    for start, inputs in ((0.5, [1.0, 2.0, -1.0]), (0.7, [20.0, -30.0]), (0.3, many), (-1.5, with_zeros)):
        _check_memory(answer, start, inputs)
    return "Each round starts from a number. Its walk ends in its own multiplication, and nothing old is needed."


_GIVEN_MEMORY = """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state + number
        loss = state * state
        loss.backward()
    return state
"""
_MEMORY_ERRORS = tools.reasons("""
second-time: through the graph a second time
    A walk goes back into a graph that an earlier walk has freed.
    look: which tensor of the round before goes into each round, and how many walks start from each loss
overwritten: has been modified by an inplace operation
    Something was overwritten after a node had saved it, and before the walk that reads it.
    look: each `+=` and each operation that ends in `_`: what does it write into, and before or after the walk?
cut-too-far: and does not have a grad_fn
    No way leads from what a walk starts from to any leaf.
    look: what you cut: the old state alone has to be, and neither `w` nor the new state
""")


def _check_memory(answer, start, inputs):
    w, came, walks = tools.leaf(start), [], []
    w.register_hook(came.append)
    states = list(accumulate(inputs, lambda state, number: start * state + number, initial=1.0))
    right = sum(2 * new * old for old, new in pairwise(states))
    expected = f"{right:.7g} in `w.grad`: from each round 2 · its state · the state before it"
    state = tools.result(observe.called_noting(walks, answer, (w, list(inputs)), expected, *_MEMORY_ERRORS))
    if not tools.same(tools.array(state).ravel(), states[-1:]):
        why = "That is another number than the last state of the given code. A cut leaves all values as they are."
        look, got = (
            "how each state is computed, what goes from round to round, and what you return",
            tools.text(tools.array(state)),
        )
        raise Wrong("state-lost", f"the last state, {states[-1]:.7g}", got, why=why, look=look)
    if w.grad is None or not kit.close(w.grad.item(), right):
        raise _wrong_memory(w, states, len(came), walks, expected)
    if len(came) != len(inputs):
        expected, got = f"{len(inputs)} walks that come to `w`, one in each round", f"{len(came)}"
        look = "where and from what each walk starts: does one run in each round, and come to `w`?"
        raise Wrong("other-walks", expected, got, look=look)
    tools.refuse_retained(walks, "`w.grad` is right.")


_MEMORY = """
nothing-arrives: came is None
    look: whether a walk runs in each round, whether it comes to `w`, and each line that clears a `.grad`
one-walk: walks == 1 and np.allclose(came, full, 1e-6)
    One walk came to `w`, through all rounds: the gradient holds ways from each round into earlier ones.
    look: where the old state goes into the next round, and whether each round goes backward
through-the-past: full (M13)
    The gradient holds ways from each round into those before it: the way into the past was not cut.
    look: where the old state goes into the next round, and what keeps the old graphs
last-round: last
    That is as much as the last round brings alone.
    look: whether each round goes backward, and what becomes of what the earlier ones have added
other-gradient: -
    look: which rounds go backward, from what, what you cut off, and each line that clears or sets a `.grad`
"""


def _wrong_memory(w, states, walks_to_w, walks, expected):
    came, slope, full = None if w.grad is None else w.grad.item(), 0.0, 0.0
    for old, new in pairwise(states):
        slope = old + w.item() * slope
        full += 2 * new * slope
    got, last = f"`w.grad` is {came if came is None else f'{came:.7g}'}", 2 * states[-1] * states[-2]
    wrong = tools.of_value(_MEMORY, came, expected, got, full=full, last=last, walks=walks_to_w)
    return tools.if_seen(tools.RETAINS in walks, wrong)


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A gradient for each loss",
    kind="write",
    points=3,
    off={"again": "the text has the last walk free the graph"},
    beliefs=("M08",),
    hints=(
        "`mg.autograd.grad` returns a gradient, and touches no `.grad`. One call for each loss.",
        "The second call finds what the first one left: say that it has to leave something.",
        "`retain_graph=True` for all losses but the last. The last walk may free.",
    ),
    idea="`mg.autograd.grad(loss, x, retain_graph=...)[0]` for each loss. The option is True for all but the last one.",
)
def apart(answer):
    kit.a_function(answer)
    for values, count in (([0.5, -2.0], 3), ([1.5], 1), ([0.3, 1.0, 2.0], 2), ([3.0], 5), ([0.0], 3)):
        _check_apart(answer, values, count)
    return "This is what retain_graph=True is for: one graph, walked for each loss, and freed by the last walk."


_APART_ERRORS = tools.reasons("""
second-time: through the graph a second time
    A walk has freed what a later one needs.
    look: which of the walks retain the graph: all but the last have to
""")


def _check_apart(answer, values, count):
    x = tools.leaf(values)
    h = x * x
    losses = [(3 * h).sum(), h.exp().sum(), (h * x).sum(), (-1e3 * h).sum()]
    losses = [*losses, losses[0]][:count]  # the first once more, at the end
    numbers = np.array(values)
    right = [6 * numbers, 2 * numbers * np.exp(numbers**2), 3 * numbers**2, -2e3 * numbers, 6 * numbers][:count]
    expected = f"a list or a tuple of {count} {'gradients' if count > 1 else 'gradient'}, each in the shape of `x`"
    given = tools.called(answer, (list(losses), x), expected, *_APART_ERRORS)
    look = "what you collect for each loss, and what you return"
    entries = list(given) if isinstance(given, list | tuple) and len(given) == count else [None]
    if any(type(one) is tuple and len(one) == 1 for one in entries):
        why = "`autograd.grad` returns a tuple, also if you ask for one tensor."
        raise Wrong("tuples", expected, show(given), why=why, look="how to take the first entry of a tuple")
    if any(type(one) is not mg.Tensor for one in entries):
        raise Wrong("type", expected, show(given), look=look)
    arrays = [tools.array(kit.a_tensor(one, "each entry", look)) for one in given]
    if not all(map(tools.same, arrays, right)):
        raise _wrong_apart(given, arrays, right, None if kit.clears(answer) else x.grad)
    if x.grad is not None:
        why = "`backward` stores in `.grad`. `autograd.grad` returns the gradient and stores nothing."
        look = "each `backward`, and each line that sets a `.grad`"
        raise Wrong("traces", "`x.grad` as it was: None", show(x.grad), why=why, look=look)
    if not graphs.is_freed(h):
        expected, got = "what the losses share is freed in the end", "one can still go backward from what they share"
        why = "After the last walk, what they share still has all that it saved, as long as a loss lives."
        look = "which walk is the last one that runs, what it keeps, and by which option"
        raise Wrong("kept-to-the-end", expected, got, why=why, look=look)


_APART = """
same-tensor: twice is not None (M08)
    One and the same tensor stands in several entries. If it is a `.grad`, each walk has added to it.
    look: whether each loss has a walk and a tensor of its own
added-up: np.cumsum(right, 0) (M08)
    Each entry holds those before it, too, as a `.grad` does that nobody clears.
    look: from what each walk starts, and to what its gradient is added: a `.grad`, a sum?
summed: np.array([np.sum(right, 0)] * len(right))
    Each entry is the gradient of the sum of all losses.
    look: from what each walk starts, and what you collect after it
other-order: right[::-1]
    These are the gradients in another order.
    look: in which order the losses have their walks, and their gradients are collected
other-gradients: -
    look: each walk: from which loss it starts, for whom it asks, and what you do with its result or its error
"""


def _wrong_apart(given, arrays, right, grad):
    """`grad` is `x.grad`, if nothing clears it."""
    expected, got = (", ".join(map(tools.text, gradients)) for gradients in (right, arrays))
    pairs = [(i, j) for i in range(len(given)) for j in range(i) if not tools.same(right[i], right[j])]
    twice = next((given[i] for i, j in pairs if given[i] is given[j]), None)
    came = arrays if len({array.shape for array in arrays}) == 1 else None
    wrong = tools.of_value(_APART, came, expected, got, right=right, twice=twice)
    in_grad = grad is not None and tools.same(tools.array(grad), arrays[-1])
    return tools.if_seen(in_grad if twice is None else twice is grad, wrong)


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "How much is saved?",
    kind="write",
    points=2,
    hints=(
        "Your `pack` is called with each tensor that is saved. How many numbers are in a tensor `t`?",
        "Note `t.numel()` in a list, and return `t` itself, so that it is kept. `unpack` gives back what it is given.",
        "`f(x)` has to be computed inside of the `with` block. Then add up the list.",
    ),
    idea="`f(x)` inside of the block, `pack` notes `t.numel()` and returns `t`, as `unpack` does; then add them up.",
)
def saved(answer):
    kit.a_function(answer)
    before = 0
    for f, values, numbers, tensors in _SAVING:
        _check_saved(answer, f, values, numbers, tensors, before)
        before += numbers
    tools.called(answer, (lambda x: x * x, tools.constant([1.0, 2.0])), "0, for an `x` that is not tracked")
    return "Each tensor was counted when it was saved, and kept, so one can still go backward."


_SAVING: tuple = (
    (lambda x: x * x, [0.5, 2.0, 4.0], 6, 2),
    (lambda x: (mg.exp(x) + x).sum(), [0.5, 1.0, 1.5, 2.0], 4, 1),
    (lambda x: (x + 1).mean(), [1.0, 2.0], 0, 0),
    (lambda x: mg.sin(x * x).sum() * 2, [0.5, -1.0], 6, 3),
    (lambda x: x * x, [[0.5, 2.0, 1.0], [3.0, -1.0, 4.0]], 12, 2),
    (lambda x: x.sum() * (x * x), [0.3, 0.0, -1.2], 10, 4),
    (lambda x: x * mg.ones_like(x.detach()), [0.3, 0.0], 2, 1),
    (lambda x: x * x, [], 0, 2),
    (lambda x: mg.where(x > 0, x, x * x), [0.5, -2.0, 1.0], 9, 3),  # one of them is a condition
    (lambda x: x * mg.autograd.grad((x * x).sum(), x)[0], [0.5, 2.0], 6, 3),  # with a walk on the way
)


def _check_saved(answer, f, values, numbers, tensors, before):
    x, watched = tools.leaf(values), observe.watched(f)
    expected = f"{numbers}, for an `x` with {x.numel()} entries"
    came = kit.a_number(tools.called(answer, (watched, x), expected), "the result")
    if not watched.results:
        raise Wrong("not-called", "a call of `f(x)`", "none", look="whether your function calls `f`")
    if not kit.close(came, numbers):
        facts = {"numbers": numbers, "tensors": tensors, "before": before, "x": x}
        raise tools.of_value(_SAVED, came, expected, f"{came:g}", **facts)
    is_x = [type(t) is mg.Tensor and tools.same(tools.array(t), tools.array(x)) for t in watched.given]
    if not all(is_x) or (any(watched.tracked) and not any(graphs.reaches(y, x) for y in watched.results)):
        raise Wrong("copied", "`f` of the `x` that is given", "`f` of another one", look="what `f` is called with")
    for y in watched.results:
        _check_can_go_back(f, x, y)


def _check_can_go_back(f, x, y):
    expected, was_freed = "a result of `f` that one can go backward from", False
    if not y.requires_grad:
        why, look = "A result of `f` has no history.", "what `f` is called with, each time, and whether recording is on"
        raise Wrong("cut-off", expected, show(y), why=why, look=look)
    try:
        for retains in True, False:  # also twice
            (came,) = mg.autograd.grad(y.sum(), graphs.leaves(y)[:1], retain_graph=retains)
        (right,) = mg.autograd.grad(f(x).sum(), x)
        if tools.same(tools.array(came), tools.array(right)):
            return
        got = f"the gradient {tools.text(tools.array(came))}, where it is {tools.text(tools.array(right))}"
    except Exception as error:
        got, was_freed = kit.sandbox.describe_error(error), "through the graph a second time" in str(error)
    if was_freed:
        why = "The number is right. But a walk in your function has freed what was saved."
        raise Wrong("walked", expected, got, why=why, look="each `backward` and `grad` in your function")
    why = "The number is right. But what `pack` returns is kept instead of the tensor: `unpack` has to make it of that."
    look = "what your `pack` returns, and what your `unpack` makes of it: also later, and more than once"
    raise Wrong("nothing-kept", expected, got, why=why, look=look)


# Some numbers tell what was done only in the first example, which comes `before` none that was right.
_SAVED = """
counted-before: before > 0 and came == before + numbers
    That is as much as in this call and in the earlier ones together. Each call has to start from 0.
    look: where the count is made: inside of the function?
tensors-counted: not before and came == tensors
    That is how many tensors were saved. Asked for are the numbers in them.
    look: what you note of each tensor
nothing-seen: not before and came == 0
    The hooks see what is saved inside of their block; `unpack` runs only in a walk.
    look: where `f` runs and with what, whether that is recorded, what you count where, and what you return
counted-twice: not before and came == 2 * numbers
    That is twice as much. `pack` runs when a node saves a tensor, `unpack` when a walk needs it.
    look: how often `f(x)` runs, where you count, and what: numbers, or their bytes?
rows-counted: x.ndim == 2 and came == tensors * len(x)
    It was right for a row of numbers. Of a table, `len(t)` or `t.shape[0]` is the number of its rows.
    look: how to count all numbers of a tensor
entries-counted: came == x.numel()
    That is as many as `x` has entries. How much is saved is up to the operations in `f`.
    look: what is counted of each tensor that `pack` is called with, and what you add up
other-count: -
    look: what you count: all numbers of each tensor that `pack` is called with, or something else?
"""


chapter.lock()
