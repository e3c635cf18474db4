"""The checks of chapter 05, "Why can't I go backward twice?"."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, graphs, kit, tools
from exercises.checks.kit import Wrong, show
from exercises.checks.targets import Targets

chapter = kit.Chapter(__name__, "05", "Why can't I go backward twice?")


# --- What several exercises share ----------------------------------------------------------------

_ADDS = {"again": "the gradients are added up", "old grad": adversaries.ADDED}
_EXACT = {"result dtype": "float64 is right for a float32, too"}


def _watched(function):
    """The function, which notes its `results`."""

    def watched(t):
        watched.results.append(function(t))
        return watched.results[-1]

    watched.results = []
    return watched


def _keeps(y: mg.Tensor) -> bool:
    """Whether a node behind `y` still has what it saved. Of a graph that saves nothing, nothing can be kept."""
    return any(getattr(getattr(node, "_node", None), "_saved", None) for node in graphs.nodes(y))


def _retained(answer: Any, why: str, what: str) -> Wrong:
    """The diagnosis for a graph, `what`, that is still there; `retain_graph=True` is named where it is written."""
    belief = "M13" if kit.says(answer, "retain_graph") else ""
    why = f"{why} {'`retain_graph=True`' if belief else 'What is kept'} does nothing but cost memory."
    got = f"{what} is still there, with all that it saved"
    look = "what keeps the graph: an option, or a result that no walk goes through?"
    return Wrong("retained-anyway", "nothing is retained", got, belief=belief, why=why, look=look)


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
    if type(value) in (int, float) and abs(value) < 1e6 and "none" in words:
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
always-once: A=once, B=once, C=once, D=once, E=once, F=once (M12)
    It fails only at a node that has lost what it saved. Here no node has anything to lose.
    look: the cell of the chapter that goes backward twice from `x + 3`
never-freed: B=twice, D=twice, F=twice
    A walk frees what the nodes on its way have saved, and B, D and F save something.
    look: the first error of the chapter
number-is-saved: B=twice
    The slope is 3 wherever `x` is, but the 3 itself is saved by the node, and freed.
    look: the picture of the chapter with `x + 3` and `x * 3`
result-is-saved: D=twice
    exp is its own slope, so it keeps its result. A walk frees that.
    look: the row of `exp` in the chapter's table
last-operation-only: F=twice
    The `+` could go again. But the walk goes on, and comes to a multiplication that lost its factors.
    look: all operations of F, not only its last
sum-goes-again: A=once
    It fails only at a node that has lost what it saved. Here no node has anything to lose.
    look: what the slope of a sum depends on
mean-goes-again: C=once
    It fails only at a node that has lost what it saved. Here no node has anything to lose.
    look: the slope of a mean of two numbers
moving-goes-again: E=once
    It fails only at a node that has lost what it saved. Here no node has anything to lose.
    look: the slope of taking out one entry
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
    looks["D"] = "whether C left anything for D"
    _predicted(answer, truth, _ERROR_WORDS, 'a number or "error"', _WALKS, looks)
    return "Clearing concerns .grad, retaining what the nodes saved. And it is each walk that says whether it frees."


_ERROR_WORDS = {"error": "error", "an error": "error", "raises": "error", "none": "None"}
_WALKS = kit.patterns("""
clearing-destroys: B=error, C="12" or B=error, C=error (M09)
    `x.grad` is where a walk puts its result. What it reads is saved in the nodes, and A has retained that.
    look: the cell of the chapter that clears `x.grad` before `backward()`
kept-for-once: B=error
    What B reads is saved in the node, and A has retained that. Clearing `x.grad` in between does not touch it.
    look: what the line of A leaves to the walk after it
not-cleared: A="6", B="12"
    Between A and B `x.grad` was cleared. So B starts from nothing.
    look: the line between A and B; if you noted `x.grad` itself, C has added to that very tensor
overwrites: B="6", C="6" (M08)
    C finds 6 in `x.grad` and adds 6.
    look: what backward does to a `.grad` that is there already
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
    for number in (1.5, -2.0, 0.0):
        x = tools.leaf(number)
        y = tools.result(tools.called(answer, (x,), "a tensor, 4 times `x`"))
        tools.refuse_other_values(y, 4 * number, "4 times `x`", "what you add to what")
        if not graphs.reaches(y, x):
            why = "No way leads from your result to `x`."
            raise Wrong("cut-off", "a result that was made from `x`", show(y), why=why, look="where `x` goes in")
        _targets.refuse_other(y, "four_times", _why_not_four_times(graphs.operations(y)))
    return "Additions save nothing, so this graph can be walked any number of times. 4 * x could be walked once."


def _why_not_four_times(made_of):
    if set(made_of) != {"add"}:
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
second-time: a second time
    A walk came to a node that an earlier walk had freed.
    look: how many walks your function makes, and what they have in common
overwritten: modified by an inplace operation
    Here each loss is the result of `tanh`, whose node has saved it. Something has overwritten it since.
    look: each `+=` and each operation that ends in `_`: what do they write into?
""")


def _trunk_and_heads(p, a, b):
    """A trunk and two heads, each with a parameter; and what is seen: turns in the trunk, its results, the losses."""
    turns = []

    def trunk(t):
        inner = p * t * t
        if inner.requires_grad:
            inner.register_hook(turns.append)
        return mg.sin(inner)

    trunk, loss = _watched(trunk), _watched(lambda t: mg.tanh(t.sum()))
    return trunk, lambda h: loss(a * h), lambda h: loss(b * h * h), (turns, trunk.results, loss.results)


def _check_shared(answer, x, in_a):
    """The loss of `head_a` is 0 where its parameter `in_a` is."""
    p, a, b = map(tools.leaf, (1.0, in_a, -0.3))
    leaves = {"`x`": x, "a parameter of `trunk`": p, "a parameter of `head_a`": a, "a parameter of `head_b`": b}
    leaves = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    trunk, head_a, head_b, seen = _trunk_and_heads(p, a, b)
    ways = [mg.autograd.grad(head(trunk(x)), leaves.values(), materialize_grads=True) for head in (head_a, head_b)]
    for one in seen:
        one.clear()
    first = next(iter(leaves))
    leaves[first].grad = mg.ones_like(leaves[first])
    right = tools.text(1 + tools.array(ways[0][0] + ways[1][0]))
    expected = f"{right} in the `.grad` of {first}: 1 was there, and both losses add to it"
    tools.called(answer, (trunk, head_a, head_b, x), expected, *_SHARED_ERRORS)
    for (name, leaf), *both in zip(leaves.items(), *ways, strict=True):
        from_a, from_b = map(tools.array, both)
        added = None if leaf.grad is None else tools.array(leaf.grad) - (name == first)
        if added is not None and tools.same(added, from_a + from_b):
            continue
        if name == first:
            raise _wrong_shared(added, name, a, b, from_a, from_b, expected)
        if added is None:
            look = "from what you go backward, and for whom: `inputs=` leaves out all others"
            raise Wrong("head-missed", "a gradient for each leaf", f"None for {name}", look=look)
        expected = f"{tools.text(from_a + from_b)} in the `.grad` of {name}"
        raise Wrong("other-head", expected, tools.text(added), look="which losses reach it, and through what")
    _check_the_walk(answer, *seen)


def _check_the_walk(answer, turns, runs, losses):
    """Whether the trunk, whose results are `runs`, was computed once, walked once, and all of it freed."""
    if len(runs) > 1:
        why = "The gradients are right. But the trunk was computed more than once, and a trunk is most of the work."
        raise Wrong("two-forwards", "one call of `trunk`", f"{len(runs)} calls", why=why, look="each `trunk(x)`")
    if len(turns) > 1:
        why = "The gradients are right. But the trunk is kept, and walked for each loss. For a sum one walk is enough."
        belief, look = "M13" if kit.says(answer, "retain_graph") else "", "how often your function goes backward"
        expected, got = "one turn for each node of the trunk", f"{len(turns)} turns"
        raise Wrong("two-walks", expected, got, belief=belief, why=why, look=look)
    for made, what in ((runs, "the graph of the trunk"), (losses, "the graph of a head")):
        if any(map(_keeps, made)):
            why = "The gradients are right, and each node of the trunk had its turn once."
            raise _retained(answer, why, what)


def _wrong_shared(added, name, a, b, from_a, from_b, expected):
    wrong = partial(Wrong, expected=expected, got="None" if added is None else tools.text(added + 1))
    came = lambda wanted: added is not None and tools.same(added, wanted)  # noqa: E731
    if added is None or any(came(one - 1) for one in (from_a + from_b, from_a, from_b)):
        why = "What was in `.grad` before, the 1 or the gradient of the first loss, is gone."
        return wrong("cleared", why=why, look="each line that clears or sets a `.grad`")
    for one, head, other in ((from_a, "head_a", b), (from_b, "head_b", a)):
        if came(one) and other.grad is not None and tools.array(other.grad).any():
            why = f"Only the loss of `{head}` reaches {name}. The other one trains its head alone."
            look = "each `detach` or `no_grad` before the heads, and each line that clears a `.grad`"
            return wrong("cut-off", why=why, look=look)
        if came(one):
            return wrong("one-loss", why=f"Only the loss of `{head}` arrives.", look="whether both go into the walk")
    if came((from_a + from_b) / 2):
        return wrong("mean", why="Half of what should arrive, as from a mean.", look="what the losses are divided by")
    if came(2 * (from_a + from_b)):
        return wrong("twice", why="Twice what should arrive.", look="how often each loss goes backward")
    if came(0 * added) and a.grad is not None:
        heads = "`head_a`" + " and `head_b`" * (b.grad is not None)
        why = f"Gradients came to the parameters of {heads}. But nothing went on to {name}."
        look = "what `trunk` and the heads are called with, and whether a walk goes on from `h`, also where `x` is data"
        return wrong("trunk-missed", why=why, look=look)
    if came(0 * added):
        why = "Nothing arrived. `autograd.grad` returns gradients, `backward` adds them to `.grad`."
        return wrong("nothing-added", why=why, look="whether a `backward` runs, and from what")
    return wrong("other-gradient", look="from what you go backward, what each walk starts with, and how often it runs")


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
    (mg.exp, 0.5, np.exp(0.5), np.exp(0.5)),
    (lambda t: t * mg.sin(t), [2.0], np.sin(2) + 2 * np.cos(2), 2 * np.cos(2) - 2 * np.sin(2)),
    (lambda t: t * mg.exp(t), 0.0, 1.0, 2.0),
)
_CURVATURE_ERRORS = tools.reasons(
    """
cut-off: does not require grad
    No history leads from `f` to `x`: that is so before any walk.
    look: what you call `f` with, and whether recording is on there
slope-without-graph: does not require grad (M14)
    What the second walk starts from has no history. What `retain_graph=True` keeps is the graph of `f(x)`.
    look: the option of `grad` that makes a graph for the gradient: in which of the walks it has to stand
cut-slope: does not require grad
    What the second walk starts from has no history.
    look: the option of `grad` that makes a graph for the gradient, and each `detach`
another-tensor: not have been used
    No way leads to `x` from what a walk starts from. To ask for `requires_grad` afterwards gives it no history.
    look: how the slope is computed: is that recorded, and is it the slope itself that goes on?
freed-too-early: a second time
    A walk came to a node that was freed. A new graph may lead back into the old one: the slope of exp does.
    look: what frees the graph of `f(x)` in your function
""",
    cut_off=lambda f, x: bool(f.results) and not any(y.requires_grad for y in f.results),
    slope_without_graph=lambda f, x: f.retains,
)


def _check_curvature(answer, f, number, first, second):
    x = tools.leaf(number)
    expected = f"the second derivative at {x.item():g}, {second:.7g}"
    watched = _watched(f)
    watched.retains = kit.says(answer, "retain_graph")
    y = tools.called(answer, (watched, x), expected, *_CURVATURE_ERRORS)
    if y is None:
        raise Wrong("none", expected, "None", look="whether a `return` is missing, or a `grad` may return None")
    y = tools.result(y)
    if y.numel() != 1 or y.ndim > x.ndim == 0:
        got, look = f"one of shape {tuple(y.shape)}", "what you return, and what you do with what `grad` returns"
        raise Wrong("other-shape", f"a tensor of the shape of `x`, {tuple(x.shape)}", got, look=look)
    if not kit.close(y.item(), second):
        raise _wrong_curvature(y, first, second, expected, kit.uses(answer, "backward"))
    if x.grad is not None:
        why = "`backward` adds to `.grad`. `autograd.grad` returns the gradient and adds nothing."
        raise Wrong("traces", "`x.grad` as it was", f"`x.grad` is {show(x.grad)}", why=why, look="each `backward`")


def _wrong_curvature(y, first, second, expected, by_backward):
    came, wrong = y.item(), partial(Wrong, expected=expected, got=show(y))
    if kit.close(came, first + second):
        why = "That is the first derivative and the second, added up."
        look = "what is added to the second derivative: where the second walk starts, and what a `.grad` still holds"
        return wrong("added-up", belief="M08" if by_backward else "", why=why, look=look)
    if kit.close(came, 2 * first):
        why = "That is the first derivative twice, as two walks from the same result leave it."
        return wrong("same-walk-twice", belief="M14", why=why, look="from what the second walk starts")
    if kit.close(came, first):
        return wrong("first-slope", why="That is the first derivative.", look="whether a second walk runs, from what")
    if kit.close(came, first * first):
        return wrong("squared", why="That is the slope times itself, not its slope.", look="what you do with the slope")
    look = "whether two walks run, from what each starts, for whom it asks, and what you make of the slopes"
    return wrong("other-number", look=look)


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
    Each marked program is alone, with a new `y`: what another one has freed is not missing in C, D and E.
    look: the sentence below the programs, and what `create_graph=True` leaves behind
create-does-not-retain: D=error
    Unless you say otherwise, `create_graph=True` retains the graph of `y`, too.
    look: what differs between lines D and F
both-graphs-kept: F="3"
    Line F says `retain_graph=False`. The graph of `g` is there, but that of `y` is used up.
    look: from what the second `grad` of F starts
second-from-y: A="6" or D="6"
    In A and in D the second `grad` starts from `y`. It returns the slope of `y` once more, and adds it to nothing.
    look: from what the second `grad` starts
second-from-y: F="6"
    The second `grad` of F starts from `y`. So 6, the slope of `g`, is not what it looks for.
    look: from what the second `grad` of F starts, and whether that graph is there
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
    (lambda w: w * w * 0.1, lambda w: 0.2 * w, -2.0, 0.5, 305),
    (lambda w: 3 * w + 1, lambda w: 3.0, [2.0], 1300.0, 4),
    (lambda w: 2 * w, lambda w: 2.0, 1.0, 2.001, 1),
    (lambda w: 2 * w, lambda w: 2.0, 1.0, 4.0, 0),
)
# `model.walks` holds the gradients that came to `w`.
_STALE_ERRORS = tools.reasons(
    """
moved-error: modified by an inplace operation (M13)
    `model(w)` is kept from the first round, and has saved a `w` that has been overwritten: a version does not fit.
    look: where `model(w)` is computed, and how often
before-the-update: modified by an inplace operation
    What `model(w)` has saved was overwritten by an update before the walk, so a version does not fit.
    look: where `model(w)` is computed: before or after the update
still-stale: a second time
    A round goes back into a graph that an earlier round has used up.
    look: what was computed before the loop, or in an earlier round
lost-later: does not require grad
    In the first round a gradient came to `w`. Later no way leads from the loss to a tensor that asks for one.
    look: what goes into the later loss: is `w` still the same tensor, and tracked, and is `model(w)` recorded?
no-way: does not require grad
    No way leads from the loss to a tensor that asks for a gradient.
    look: each `detach` or `no_grad` around what `w` goes into
grad-none: unsupported operand type(s) for * (M06)
    A `.grad` that is None? `w = w - ...` makes a result of `w`, which gets no `.grad`; the caller's `w` stays.
    look: the line that updates `w`
grad-cleared: unsupported operand type(s) for *
    A factor is no number: a `.grad` that is None? A gradient came to `w`, and its `.grad` is None now.
    look: each line that clears: before or after the `backward()` that the update needs?
grad-elsewhere: unsupported operand type(s) for *
    A factor is no number: a `.grad` that is None? No gradient came to the caller's `w`.
    look: what goes into `model`, and into the loss: `w` and `model(w)` themselves, or others, as `detach` makes them?
recorded-update: a leaf Variable that requires grad is being used in an in-place operation (M07)
    The update would be recorded, like any operation. A leaf may be overwritten only where nothing is recorded.
    look: the `with` line around the update
""",
    moved_error=lambda model, *_: len(model.results) == 1 and model.walks,
    lost_later=lambda model, *_: model.walks,
    grad_none=lambda model, w, *_: w.grad is not None,
    grad_cleared=lambda model, *_: model.walks,
)


def _check_stale(answer, model, slope, start, target, rounds):
    w, watched = tools.leaf(start), _watched(model)
    start, watched.walks = w.item(), []
    w.register_hook(watched.walks.append)
    path = lambda **how: _path(model, slope, start, target, **{"rounds": rounds, **how})  # noqa: E731
    expected = f"`w` at {path():.7g} after {rounds} rounds, from {start:g}"
    tools.called(answer, (watched, w, target, rounds), expected, *_STALE_ERRORS)
    if not kit.close(w.item(), path()):
        raise _wrong_stale(answer, w.item(), start, rounds, path, expected)
    if sum(map(_keeps, watched.results)) > len(watched.results) - rounds:
        raise _retained(answer, "`w` is right, for the forward runs in each round.", "the graph of a round")


def _path(model, slope, w, target, rounds, stale=False, adds=False, slope_at=None):
    """Where plain numbers go: with the y of the first round (stale), or with gradients that add up (adds)."""
    y, total = float(model(w)), 0.0
    for _ in range(rounds):
        y = y if stale else float(model(w))
        total = total * adds + 2 * (y - target) * slope(w if slope_at is None else slope_at)
        w -= 0.01 * total
    return w


def _wrong_stale(answer, came, start, rounds, path, expected):
    wrong = partial(Wrong, expected=expected, got=f"`w` is {came:.7g}")
    if not rounds:
        return wrong("no-round", why="`w` has moved.", look="how often your loop runs if `rounds` is 0")
    if kit.close(came, start) and kit.rebinds(answer, 1):
        why = "`w` is where it was. `w = ...` gives the name to another tensor, and the `w` of the caller stays."
        return wrong("not-updated", why=why, look="the line that updates `w`")
    if kit.close(came, start):
        look = "the line that updates `w`: does it run in each round, and which tensor does it overwrite?"
        return wrong("not-moved", why="`w` is where it was.", look=look)
    if any(kit.close(came, path(stale=True, slope_at=at)) for at in (None, start)):
        why = "No error, but `model(w)` is still that of the first `w`: the steps do not fit the `w` of their round."
        look = "where `model(w)` is computed, and how often"
        return wrong("stale-slope", belief="M13" if kit.says(answer, "retain_graph") else "", why=why, look=look)
    if kit.close(came, path(adds=True)):
        why = "The gradients of all rounds so far add up in `w.grad`."
        look = "where `w.grad` is cleared"
        return wrong("not-cleared", belief="" if kit.clears(answer) else "M08", why=why, look=look)
    if kit.close(came, path(rounds=1)):
        return wrong("one-round", why="`w` is where one round alone brings it.", look="what each later round does")
    look = "how many rounds run, and in each the loss, its slope and the step of 0.01"
    return wrong("other-w", look=look)


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
second-time: a second time
    A round goes back into a graph that an earlier walk has freed.
    look: which tensor of the round before goes into each round
cut-too-far: does not require grad
    The way to `w` is cut: no way leads from the loss to any leaf.
    look: what you cut: the old state alone has to be, and neither `w` nor the new state
""")


def _check_memory(answer, start, inputs):
    w, walks = tools.leaf(start), []
    w.register_hook(walks.append)
    states = list(accumulate(inputs, lambda state, number: start * state + number, initial=1.0))
    right = sum(2 * new * old for old, new in pairwise(states))
    expected = f"{right:.7g} in `w.grad`: from each round 2 · its state · the state before it"
    state = tools.result(tools.called(answer, (w, list(inputs)), expected, *_MEMORY_ERRORS))
    if not tools.same(tools.array(state).ravel(), states[-1:]):
        why = "That is not the value of the last state. A cut leaves all values as they are."
        look, got = "what goes from round to round, and what you return", tools.text(tools.array(state))
        raise Wrong("state-lost", f"the last state, {states[-1]:.7g}", got, why=why, look=look)
    if w.grad is None or not kit.close(w.grad.item(), right):
        raise _wrong_memory(answer, w, states, len(walks), expected)
    if len(walks) != len(inputs):
        expected = f"{len(inputs)} walks, one in each round"
        raise Wrong("other-walks", expected, str(len(walks)), look="where `backward` stands: is it run in each round?")
    if graphs.reaches(state, w) and _keeps(state):
        raise _retained(answer, "`w.grad` is right, for the past was cut.", "the graph of the last round")


def _wrong_memory(answer, w, states, walks, expected):
    if w.grad is None:
        return Wrong("nothing-arrives", expected, "`w.grad` is None", look="whether each round walks, and to `w`")
    came, slope, full = w.grad.item(), 0.0, 0.0
    wrong = partial(Wrong, expected=expected, got=f"`w.grad` is {came:.7g}")
    for old, new in pairwise(states):
        slope = old + w.item() * slope
        full += 2 * new * slope
    if kit.close(came, full) and walks > 1:
        why = "Each round walks through all rounds before it, and its gradient holds their share. Nothing was cut."
        look = "what keeps the old graphs, and where they end"
        return wrong("through-the-past", belief="M13" if kit.says(answer, "retain_graph") else "", why=why, look=look)
    if kit.close(came, full):
        why = "You go backward once, through all rounds: the gradient holds ways from each round into earlier ones."
        return wrong("one-walk", why=why, look="where the old state goes into the next round")
    if kit.close(came, 2 * states[-1] * states[-2]):
        why = "That is the gradient of the last round alone."
        return wrong("last-round", why=why, look="whether each round goes backward, and adds up")
    return wrong("other-gradient", look="which rounds go backward, from what, and what you cut off")


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
    for values, count in (([0.5, -2.0], 3), ([1.5], 1), ([0.25, 1.0, 2.0], 2), ([3.0], 5), ([0.0], 3)):
        _check_apart(answer, values, count)
    return "This is what retain_graph=True is for: one graph, walked for each loss, and freed by the last walk."


_APART_ERRORS = tools.reasons("""
second-time: a second time
    A walk has freed what the losses share, and a later one needs it.
    look: which of the walks retain the graph: all but the last have to
""")


def _check_apart(answer, values, count):
    x = tools.leaf(values)
    h = x * x
    losses = [(3 * h).sum(), h.exp().sum(), (h * x).sum(), (-1e3 * h).sum()]
    losses = [*losses, losses[0]][:count]  # the first once more, at the end
    numbers = np.array(values)
    right = [6 * numbers, 2 * numbers * np.exp(numbers**2), 3 * numbers**2, -2e3 * numbers, 6 * numbers][:count]
    expected = f"a list of {count} {'gradients' if count > 1 else 'gradient'}, each in the shape of `x`"
    given = tools.called(answer, (list(losses), x), expected, *_APART_ERRORS)
    if not isinstance(given, list | tuple) or len(given) != count:
        raise Wrong("type", expected, show(given), look="what you append for each loss, and what you return")
    if any(type(one) is tuple for one in given):
        why = "`autograd.grad` returns a tuple, also if you ask for one tensor."
        raise Wrong("tuples", expected, show(given), why=why, look="how to take the first entry of a tuple")
    arrays = [tools.array(kit.a_tensor(one, "each entry", "what you append for each loss")) for one in given]
    if not all(map(tools.same, arrays, right)):
        belief = "M08" if kit.uses(answer, "backward") and not kit.clears(answer) else ""
        raise _wrong_apart(given, arrays, right, belief)
    if x.grad is not None:
        why = "`backward` stores in `.grad`. `autograd.grad` returns the gradient and stores nothing."
        raise Wrong("traces", "`x.grad` as it was: None", show(x.grad), why=why, look="each `backward`")
    if _keeps(h):
        expected, got = "what the losses share is freed in the end", "one can still go backward from what they share"
        why = "After the last walk all that was saved is still there, as long as a loss lives."
        raise Wrong("kept-to-the-end", expected, got, why=why, look="what the last walk keeps, and by which option")


def _wrong_apart(given, arrays, right, belief):
    expected, got = (", ".join(map(tools.text, gradients)) for gradients in (right, arrays))
    if len({id(one) for one in given}) < len(given):
        why = "One and the same tensor stands in several entries." + " A `.grad` is one that each walk adds to." * bool(
            belief
        )
        look = "whether each loss has a walk and a tensor of its own"
        return Wrong("same-tensor", expected, got, belief=belief, why=why, look=look)
    if all(map(tools.same, arrays, np.cumsum(right, 0))):
        why = "Each entry holds those before it, too, as a `.grad` does that nobody clears."
        look = "from what each walk starts, and to what its gradient is added: a `.grad`, a sum?"
        return Wrong("added-up", expected, got, belief=belief, why=why, look=look)
    if all(tools.same(one, np.sum(right, 0)) for one in arrays):
        why = "Each entry is the gradient of the sum of all losses."
        return Wrong("summed", expected, got, why=why, look="from what each walk starts, and what you append")
    if all(map(tools.same, arrays, right[::-1])):
        return Wrong("other-order", expected, got, why="These are the gradients in another order.", look="the loop")
    look = "each walk: from which loss it starts, for whom it asks, and what you do with its result or its error"
    return Wrong("other-gradients", expected, got, look=look)


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
    x, watched = tools.leaf(values), _watched(f)
    expected = f"{numbers}, for an `x` with {x.numel()} entries"
    came = kit.a_number(tools.called(answer, (watched, x), expected), "the result")
    if not watched.results:
        raise Wrong("not-called", "a call of `f(x)`", "none", look="whether your function calls `f`")
    if not kit.close(came, numbers):
        raise _wrong_saved(came, numbers, tensors, before, x, expected)
    for y in watched.results:
        _check_can_go_back(f, x, y)
    if not any(graphs.reaches(y, x) for y in watched.results):
        raise Wrong("copied", "`f` of the `x` that is given", "`f` of another tensor", look="what `f` is called with")


def _check_can_go_back(f, x, y):
    expected, was_freed = "a result that one can go backward from", False
    if not y.requires_grad:
        raise Wrong("cut-off", expected, show(y), why="The result of `f` was cut off.", look="what `f` is called with")
    try:
        for retains in True, False:  # also twice
            (came,) = mg.autograd.grad(y.sum(), graphs.leaves(y)[:1], retain_graph=retains)
        (right,) = mg.autograd.grad(f(x).sum(), x)
        if tools.same(tools.array(came), tools.array(right)):
            return
        got = f"the gradient {tools.text(tools.array(came))}, where it is {tools.text(tools.array(right))}"
    except Exception as error:
        got, was_freed = kit.sandbox.describe_error(error), "a second time" in str(error)
    if was_freed:
        why = "The number is right. But a walk in your function has freed what was saved."
        raise Wrong("walked", expected, got, why=why, look="each `backward` and `grad` in your function")
    why = "The number is right. But what `pack` returns is kept instead of the tensor: `unpack` has to make it of that."
    look = "what your `pack` returns, and what your `unpack` makes of it: also later, and more than once"
    raise Wrong("nothing-kept", expected, got, why=why, look=look)


def _wrong_saved(came, numbers, tensors, before, x, expected):
    """Some numbers tell what was done only in the first example, which comes `before` none that was right."""
    wrong = partial(Wrong, expected=expected, got=f"{came:g}")
    if before and kit.close(came, before + numbers):
        why = "That holds what your function counted in earlier calls, too. Each call has to start from 0."
        return wrong("counted-before", why=why, look="where the count is made: inside of the function?")
    if kit.close(came, tensors) and not before:
        why = "That is how many tensors were saved. Asked for are the numbers in them."
        return wrong("tensors-counted", why=why, look="what you note of each tensor")
    if kit.close(came, 0) and not before:
        why = "Nothing was counted. The hooks see what is saved inside of their block; `unpack` runs only in a walk."
        look = "where `f` runs and with what, whether that is recorded, and what you count where"
        return wrong("nothing-seen", why=why, look=look)
    if kit.close(came, 2 * numbers) and not before:
        why = "That is twice as much. `pack` runs when a node saves a tensor, `unpack` when a walk needs it."
        look = "how often `f(x)` runs, where you count, and what: numbers, or their bytes?"
        return wrong("counted-twice", why=why, look=look)
    if x.ndim == 2 and kit.close(came, tensors * len(x)):
        why = "Right for a row of numbers. For a table `len(t)` or `t.shape[0]` is the number of its rows."
        return wrong("rows-counted", why=why, look="how to count all numbers of a tensor")
    if kit.close(came, x.numel()):
        why = "That is as many as `x` has entries. How much is saved is up to the operations in `f`."
        look = "what your hook counts in each of its calls, and what you add up"
        return wrong("entries-counted", why=why, look=look)
    return wrong(
        "other-count", look="what you count: all numbers of each tensor that `pack` is called with, or something else?"
    )


chapter.lock()
