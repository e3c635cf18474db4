"""The checks of chapter 11, "What is it all for?"."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import graphs, kit, observe, tools
from exercises.checks.kit import Wrong, call, show
from exercises.checks.targets import Targets

chapter = kit.Chapter(__name__, "11", "What is it all for?")
_AFTERWARDS = {"grad between": "the text asks how `.grad` is afterwards"}
_TRAINS = {"grad 0": "training fills and clears it", "again": "twice the steps"}
_MOVES_W = {"values 0": "the task is to move `w`", **_TRAINS}


# --- What several exercises share ----------------------------------------------------------------


@dataclass(frozen=True)
class Mistake:
    """A way to do it wrong: what comes out of it for the numbers of a case, and its diagnosis."""

    code: str
    gives: Callable[..., Any]
    why: str
    look: str
    belief: str = ""


def _mistakes(text: str) -> tuple[Mistake, ...]:
    """Mistakes as text: names of numbers; then code, what comes out as formulas of them, belief, why, and the look."""
    names, _, table = text.strip("\n").partition("\n")
    return tuple(
        Mistake(code, eval(f"lambda {names.strip('()')}: {formula}"), why, look, belief)
        for code, formulas, belief, why, look in kit.diagnoses(table)
        for formula in formulas.split("; ")
    )


_RECORDED_UPDATE, _NEW_TENSOR, _NO_HISTORY, _SECOND_TIME, _RECURSION, _OLD_GRAPH = tools.reasons("""
recorded-update: in-place operation (M07)
    An operation in place is recorded, like any other. A tracked leaf may be overwritten only where nothing is recorded.
    look: what stands inside `no_grad()`
new-tensor: does not require grad and does not have a grad_fn
    The first loss was that of the caller's leaf. The last one is that of another tensor, which is not tracked: such as
    `w = w - ...` makes inside `no_grad()`.
    look: what each `loss_of` is given, and the line that makes it
no-history: does not require grad and does not have a grad_fn
    What you go backward from has no history.
    look: what it is made of, and what cuts that off: each `no_grad()`, `detach` and `item`, each flag that is set
second-time: a second time
    A walk leads into a graph that an earlier walk has used up.
    look: what is made only once, and walked back more often
recursion: maximum recursion depth
    A function calls itself, directly or through others, more often than Python allows.
    look: which function calls itself, and whether a loop can stand there
old-graph: modified by an inplace operation
    A walk goes into a graph that has saved a tensor, such as an earlier parameter, which was overwritten since.
    Retaining keeps such a graph, and does not make it fit.
    look: what is overwritten between the way forward and the walk, and what is computed before the loop
""")


def _refuse_other(came: Any, case: tuple, right: Callable, mistakes: tuple, what: str, look: str) -> None:
    """Raise the diagnosis of the first mistake that gives what came, unless it is what is right."""
    wanted = right(*case)
    if tools.same(came, wanted):
        return
    expected, got = (f"{what} {tools.text(one)}" for one in (wanted, came))
    for mistake in mistakes:
        if tools.same(came, mistake.gives(*case)):
            raise Wrong(mistake.code, expected, got, belief=mistake.belief, why=mistake.why, look=mistake.look)
    raise Wrong("other-numbers", expected, got, look=look)


def _refuse_frozen(leaves: dict[str, mg.Tensor]) -> None:
    for name, leaf in leaves.items():
        if not (leaf.requires_grad and leaf.is_leaf):
            why = "The numbers are right, but the next `backward()` will not fill its `.grad`."
            look = f"`{name}.requires_grad` at the end"
            raise Wrong("left-frozen", f"`{name}` is a tracked leaf, as before", show(leaf), why=why, look=look)


class _Asked:
    """A loss function that remembers of which tensors it was asked: of the caller's leaf, or of others?"""

    def __init__(self, loss_of: Callable, leaf: mg.Tensor) -> None:
        self.loss_of, self.leaf = loss_of, leaf
        self.of_the_leaf: list = []
        self.found_empty: list = []  # whether there was nothing in `.grad`, when each loss was asked for
        self.tracked = True  # whether the last loss was asked of a tracked tensor
        self.of: list = []  # of which half each was asked
        self.last: Callable[[], mg.Tensor | None] = lambda: None
        self.was_waiting = False  # whether the graph of a loss was whole when the next one was asked for
        self.version, self.filled = leaf._version, _watch_filling([leaf])

    def __call__(self, *inputs: Any, **named: Any) -> mg.Tensor:
        w, *self.of = [*inputs, *named.values()] or [None]
        self.of_the_leaf.append(w is self.leaf)
        self.tracked = getattr(w, "requires_grad", False)
        self.found_empty.append(self.leaf.grad is None or not tools.array(self.leaf.grad).any())
        self.was_waiting |= graphs.is_waiting(self.last())
        loss = self.loss_of(*inputs, **named)
        self.last = weakref.ref(loss)
        return loss

    @property
    def lost_the_leaf(self) -> bool:
        """Whether the first loss is that of the leaf, and the last is that of another tensor."""
        return bool(self.of_the_leaf) and self.of_the_leaf[0] and not self.of_the_leaf[-1]


def _watch_filling(leaves: list[mg.Tensor]) -> list:
    """A list that grows with each gradient that a walk brings to one of the leaves."""
    filled: list = []
    for leaf in leaves:
        leaf.register_post_accumulate_grad_hook(lambda _: filled.append(True))
    return filled


def _move(answer: Any, w: mg.Tensor, asked: _Asked, others: tuple, expected: str, *reasons: tools.Reason) -> None:
    """Call a loop that is to move `w`, and raise what explains one that leaves it where it was."""
    start = tools.array(w)
    is_new = lambda *_: asked.lost_the_leaf and not asked.tracked  # noqa: E731
    new = replace(_NEW_TENSOR, belief=observe.renames(answer), when=is_new)
    known = (*reasons, _RECORDED_UPDATE, new, _NO_HISTORY, _SECOND_TIME)
    _called(answer, (w, asked, *others), expected, [w], asked.filled, *known)
    if not tools.same(tools.array(w), start):
        return
    got = f"`w` at {tools.text(start)}, where it was"
    if asked.lost_the_leaf:
        why = "The last loss is that of another tensor, as after a `w = w - ...`. The caller's `w` stays."
        raise _new_tensor(answer, expected, got, why)
    if w._version > asked.version and w.grad is not None and not tools.array(w.grad).any():
        raise _cleared_too_late(answer, expected, got)
    look = "which tensor the update overwrites, and what is in the `.grad` that it reads"
    raise Wrong("not-moved", expected, got, look=look)


def _called(answer: Any, inputs: tuple, expected: str, leaves: list, filled: list, *reasons: tools.Reason) -> Any:
    """What a training loop returns. If it reads a `.grad` of None: cleared, never filled, or that of another tensor?"""
    versions = [leaf._version for leaf in leaves]
    try:
        return tools.called(answer, inputs, expected, *reasons)
    except Wrong as wrong:
        got = wrong.verdict.got
        if "NoneType" not in got or ".grad" not in got:
            raise
    if all(leaf.grad is not None for leaf in leaves):
        why = "Each leaf has a `.grad`. What is None is something else, such as the `.grad` of a tensor that an "
        raise _new_tensor(answer, expected, got, why + "update has made.")
    if "zero_" in got:
        why = "A `.grad` may be None, as before the first `backward()`: then there is nothing to fill with zeros."
        raise Wrong("nothing-to-clear", expected, got, why=why, look="a clearing that always works")
    if not filled:
        why = "Nothing had come to the `.grad` of a leaf by then: it is a `backward()` from its loss that fills it."
        look = "what you do with each loss before the line named above"
        raise Wrong("no-backward", expected, got, why=why, look=look)
    why = "A `.grad` is None where your function reads it. That of a leaf was filled by `backward()`, then cleared."
    raise _cleared_too_late(answer, expected, got, why, any(map(int.__ne__, versions, [p._version for p in leaves])))


_IS_ZERO = "Each `.grad` is 0 in the end, and nothing has moved: as if cleared between `backward()` and the update."


def _cleared_too_late(answer: Any, expected: str, got: str, why: str = _IS_ZERO, later: bool = False) -> Wrong:
    """With the belief behind it, if the code names first a `backward()`, then a clearing, and then the update."""
    belief = "M09" if observe.clears_between(answer) and not later else ""
    if belief:
        why += " To clear before `backward()` destroys nothing, because the graph keeps values, and no `.grad`."
    look = "each line that clears, and each `backward()`: which comes last before the update?"
    return Wrong("cleared-too-late", expected, got, belief=belief, why=why, look=look)


def _new_tensor(answer: Any, expected: str, got: str, why: str) -> Wrong:
    look = "which tensor each line reads and writes: is it the caller's, and does the update overwrite it?"
    return Wrong("new-tensor", expected, got, belief=observe.renames(answer), why=why, look=look)


def _refuse_other_count(calls: int, number: int) -> None:
    if calls != number:
        expected, got = f"{tools.count(number, 'call')} of `step()`", tools.count(calls, "call")
        raise Wrong("other-count", expected, got, look="how often `step()` is called")


def _alive(graphs: list) -> int:
    """How many of the graphs are alive; the others are taken out of the list."""
    graphs[:] = [graph for graph in graphs if graph() is not None]
    return len(graphs)


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Two rounds in your head",
    kind="predict",
    points=2,
    beliefs=("M08",),
    hints=(
        "With e = 2w − b the loss is e². Its slope in w is 2e · 2, and its slope in b is 2e · (−1).",
        "In round 1, e is 5. A step goes against the slope: which way does `b` go?",
        "In round 2, e is 0, so `backward()` brings zeros. What do they meet in `w.grad`, and what in `b.grad`?",
    ),
    idea="e = 5: the slopes are 20 and −10, so `w` goes to 1 and `b` to 2. Then e = 0, and the loss is 0. `w.grad` was "
    "cleared, so `w` stays. `b.grad` is −10 + 0, so `b` goes on to 3, away from the bottom.",
)
def rounds(answer):
    truth = {"w.grad 1": 20.0, "w 1": 1.0, "b 1": 2.0, "loss 2": 0.0, "w 2": 1.0, "b 2": 3.0}
    looks = {name: f"what round {name[-1]} computes, line by line" for name in truth}
    kit.predicted(answer, truth, _ROUNDS, "a number", looks)
    return "The bottom was reached after one round. `b` left it again, because nobody cleared `b.grad`."


_ROUNDS = kit.patterns("""
overwritten: b 1=2, w 2=1, b 2=2 (M08)
    The second `backward()` brings 0 for `b`, and adds it to what is in `b.grad`.
    look: what `b.grad` holds before the second `backward()`, and which line clears it
square-lost: b 1=1.5, w.grad 1=10 or b 1=1.5, w 1=1
    `b` has moved by a tenth of 5, which is e itself. The slope of e² is 2e times that of e.
    look: the slope of e², for e = 5
inner-slope-lost: w.grad 1=10
    10 has one factor 2 only. The slope has two: that of the square, and that in front of `w`.
    look: the slope of e² for e = 5, and by how much e = 2w − b moves, when `w` moves
square-lost: w.grad 1=2, w 1=2.8
    That is the slope of 2w − b. The loss is its square.
    look: the slope of e², for e = 5
uphill: w 1=5 or b 1=0
    It goes as far as it should, and the wrong way. Two signs decide: that of its slope, and that of `-=`.
    look: its line `-= ...`, and the sign of its `.grad`
not-moved: w 1=3, b 1=1
    `-=` moves both, also inside `no_grad()`: it overwrites as ever, and is not recorded.
    look: the last two lines of the loop
no-rate: w 1=-17
    That is a step by the whole gradient. The learning rate makes it a tenth.
    look: the line `w -= ...`
old-loss: loss 2=25
    In round 2 the loss is computed anew, from the `w` and `b` that round 1 has left.
    look: where the loss is computed: inside the loop, or before it?
kept-itself: b 1=3, b 2=3
    That is `b` at the end of round 2. Did you run it? Then it was read too late, or `b` itself was kept.
    look: what round 1 computes; where you run it, `b.item()` is a number of its own
both-added-up: w 1=1, w 2=-1
    `w.grad` is cleared at the start of each round. In round 2 only the new slope is in it.
    look: the first line of the loop
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Build this loss",
    kind="build",
    points=2,
    hints=(
        "Read from the end: the last operation adds two numbers. What is each of them?",
        "One way is the loss of section 1. The other goes through a square and a product, and reaches one leaf only.",
        "Its leaf is `w`: the other way is a number times `w ** 2`.",
    ),
    idea="`((w * x + b - y) ** 2).mean() + 0.1 * w ** 2`: the error of a line, and a penalty on its slope.",
)
def step_loss(answer):
    loss = kit.a_tensor(answer, "`loss`")
    if not loss.requires_grad:
        look = "which tensors require grad, and each `item`, `detach` and `no_grad`"
        raise Wrong("no-graph", "a loss with the graph in the picture", show(loss), look=look)
    _targets.refuse_other(loss, "loss", _wrong_loss(loss))
    others = {node.name() for node in graphs.nodes(loss) if node.op_name == "pow"} - {"PowBackward0"}
    if others:
        why = "An exponent is a tensor. In the picture each is a plain number."
        expected, look = "boxes `PowBackward0` alone", "each `**`: what is on its left, and what on its right"
        raise Wrong("power-of-leaf", expected, f"a box {', '.join(others)}", why=why, look=look)
    if loss.numel() != 1:
        why = "The graph is that of the picture. But a loss is one number, so that `loss.backward()` can start."
        got = f"a tensor of shape {tuple(loss.shape)}"
        look = "the shapes of `w` and of `b`, and what the mean is taken of"
        raise Wrong("several-numbers", "a loss, which is one number", got, why=why, look=look)
    return "Two ways lead back to `w`, so two slopes are added up in `w.grad`: one makes it fit, one keeps it small."


def _penalized_line():
    x, y = mg.tensor([0.0, 1.0, 2.0]), mg.tensor([1.0, 3.0, 5.0])
    w, b = mg.tensor(1.0, requires_grad=True), mg.tensor(0.0, requires_grad=True)
    return ((w * x + b - y) ** 2).mean() + 0.1 * w**2, {"w": w, "b": b}


_targets = Targets(loss=_penalized_line)


def show_target(name):
    """Show the picture that an exercise asks for: show_target("loss")."""
    _targets.show(name)


def _wrong_loss(loss):
    picture, _ = _penalized_line()
    made_of, wanted = Counter(graphs.operations(loss)), Counter(graphs.operations(picture))
    if made_of["pow"] < 2:
        why = "The picture has two boxes `PowBackward0`, on two ways that end in `w`."
        look = "where each of the two comes from, and whether something cuts the way to it"
        return Wrong("one-square", why=why, look=look)
    if not made_of["mean"]:
        why = "The picture has a `MeanBackward0`."
        return Wrong("no-mean", why=why, look="what makes one number of the squares")
    if made_of != wanted:
        more, less = (", ".join(sorted(rest.elements())) or "nothing" for rest in (made_of - wanted, wanted - made_of))
        why = f"More than in the picture: {more}. Fewer: {less}."
        return Wrong("other-graph", why=why, look="the boxes of the picture, from the end to the leaves")
    if (number := len(graphs.leaves(loss))) != 2:
        why = f"The picture ends in two leaves, `w` and `b`. In your graph the ways back end in {number}."
        look = "which tensors require grad: each `requires_grad`, `requires_grad_` and `detach`"
        return Wrong("other-leaves", why=why, look=look)
    if not all(leaf.requires_grad for leaf in graphs.leaves(loss)):
        why = "The boxes are those of the picture. But a leaf does not require grad any more."
        return Wrong("other-leaves", why=why, look="each line that sets `requires_grad`, or calls `requires_grad_`")
    why = "The boxes are those of the picture, but they are connected otherwise."
    look = "what each addition adds, and what each `pow` squares: which leaf, or more than a leaf?"
    return Wrong("other-ways", why=why, look=look)


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Two halves of a batch",
    kind="fix",
    points=2,
    off=_MOVES_W,
    beliefs=("M06", "M07", "M08", "M09"),
    hints=(
        "Go through one round: which slopes are in `w.grad` when the update reads it?",
        "`backward()` adds, and here that is what you want, inside a round. What has to be gone when a round begins?",
        "Clear as the first thing in a round, in a way that works where `.grad` is still None.",
    ),
    idea="Clear once a round, as its first line. `backward()` needs nothing of what is in `.grad`: the graph keeps "
    "values. Then both halves add up, and nothing else does.",
)
def halves(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_HALVES)
    for case in _BATCHES:
        _check_halves(answer, *case)
    return "Cleared before each round, and never inside one: the slopes of both halves add up, and no others."


_GIVEN_HALVES = """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        loss_of(w, one).backward()
        w.grad.zero_()
        loss_of(w, other).backward()
        with mg.no_grad():
            w -= rate * w.grad
"""
# Where w starts, what is in w.grad before (None: nothing), the batches of two halves (x, y), and the rate.
_BATCHES = (
    ([0.6, 2.0], [10.0, -10.0], [((2.1, 1.0), (1.0, -1.0)), ((1.0, 2.0), (0.5, 0.5))], 0.05),
    ([1.0, -2.0], None, [((1.0, 3.0), (2.0, 1.0)), ((0.5, 2.0), (-1.0, 4.0)), ((1.5, 0.0), (1.0, 2.0))], 0.1),
    (0.5, 3.0, [((1.0, 3.0), (2.0, 1.0)), ((0.5, 2.0), (-1.0, 4.0))], 0.1),
    ([300.0, -40.0], None, [((1.0, 3.0), (2.0, 1.0))] * 105, 0.01),
    # Both slopes are 0, then that of one half, and then the two cancel.
    ([1.0], None, [((2, 2), (1, 1)), ((3, 3), (1, 2)), ((1, 2.1), (1, 0.1)), ((1, 3), (2, 0.5))], 0.05),
)


def _half_loss(w, half):
    x, y = half
    return ((w * x - y) ** 2).sum()


_half_loss.__qualname__ = "loss_of"  # as Python's errors name it


def _halves_end(start, old, batches, rate, *, parts=(0, 1), clears=True, forgets_old=True):
    """Where plain numbers go: with these parts of each batch; with or without clearing."""
    w = np.array(start)
    total = 0.0 if old is None or forgets_old else np.array(old)
    for number, batch in enumerate(batches):
        total = 0.0 if clears and (number or forgets_old) else total
        total = total + sum(2 * x * (w * x - y) for x, y in (batch[part] for part in parts))
        w = w - rate * total
    return w


_HALVES = _mistakes("""
(start, old, batches, rate)
first-half-lost: _halves_end(start, old, batches, rate, parts=(1,))
    `w` moves by the slope of the second half alone.
    look: what is in `w.grad` when the update reads it, and each line that clears
second-half-lost: _halves_end(start, old, batches, rate, parts=(0,))
    `w` moves by the slope of the first half alone.
    look: what is in `w.grad` when the update reads it
never-cleared: _halves_end(start, old, batches, rate, clears=False)
    `w` moves by the slopes of all rounds so far, added up.
    look: what is in `w.grad`, or in a sum of yours, when a round begins
never-cleared: _halves_end(start, old, batches, rate, clears=False, forgets_old=False) (M08)
    `w` moves by the slopes of all rounds so far, added up, and by what was in `w.grad` before your function was called.
    look: what is in `w.grad` when a round begins
old-gradient: _halves_end(start, old, batches, rate, forgets_old=False)
    `w.grad` was not empty when your function was called, and what was in it counts in your first step.
    look: what is in `w.grad` when the first round begins
no-backward: np.array(start) - rate * len(batches) * np.array(old or 0.0)
    `w` moves by what was in `w.grad` before your function was called, in every round.
    look: which `backward()` fills the `.grad` that the update reads
second-half-twice: _halves_end(start, old, batches, rate, parts=(1, 1))
    `w` moves by twice the slope of the second half. One way to get this: another name for `w.grad`, which is no copy.
    What is cleared under one name is cleared under both.
    look: what the first slopes are kept in, and what happens to it when you clear
both-twice: _halves_end(start, old, batches, 2 * rate)
    `w` moves by twice the slopes of both halves. One way to get this: another name for `w.grad`, which is no copy. What
    `backward()` adds is added under both.
    look: what is added up in `w.grad`, and what your function adds to that
mean-of-halves: _halves_end(start, old, batches, rate / 2)
    `w` moves by the mean of both slopes. They are to be added up.
    look: what is halved: a loss, a slope, or the step
two-steps: _halves_end(start, old, [(half,) for batch in batches for half in batch], rate, parts=(0,))
    It goes as with a step after each half: the second slope is that of a `w` that has moved already.
    look: how many updates there are in a round, and of which `w` each loss is asked
uphill: _halves_end(start, old, batches, -rate)
    A step goes against the slope.
    look: the sign of the step
one-round: _halves_end(start, old, batches[:1], rate)
    `w` is where one round takes it.
    look: how many rounds reach their update, and what it reads there
""")


def _first_was_gone(left: list, halves: list, batches: list) -> bool:
    """Whether each half in its turn had a walk of its own, and each second walk left its own slope alone."""
    in_turn = [half for batch in halves for half in batch]
    if len(left) != len(in_turn) or any(half is not one for (half, *_), one in zip(left, in_turn, strict=True)):
        return False
    ends = zip(left[1::2], batches, strict=True)
    return all(tools.same(grad, 2 * x * (w * x - y)) for (_, grad, w), (_, (x, y)) in ends)


def _check_halves(answer, start, old, batches, rate):
    w = tools.leaf(start)
    w.grad = None if old is None else tools.constant(old)
    halves = [tuple(tuple(map(tools.constant, half)) for half in batch) for batch in batches]
    case, asked, left = (start, old, batches, rate), _Asked(_half_loss, w), []
    w.register_post_accumulate_grad_hook(lambda _: left.append((*asked.of, tools.array(w.grad), tools.array(w))))
    _move(answer, w, asked, (halves, rate), f"`w` at {tools.text(_halves_end(*case))} after {len(batches)} rounds")
    what, look = f"{len(batches)} batches, and at the end `w` at", "how many rounds there are, and each line of one"
    lost, *others = _HALVES
    if _first_was_gone(left, halves, batches):
        lost = replace(lost, why=f"{lost.why} That of the first had come to `w.grad`, and was gone.")
        if not any(asked.found_empty[2::2]):
            why = f"{lost.why} To clear before the first `backward()` of a round would cost nothing: its graph keeps "
            lost = replace(lost, why=f"{why}values, and no `.grad`.", belief="M09")
    others = [one if observe.names_once(answer, "grad") else replace(one, belief="") for one in others]
    _refuse_other(tools.array(w), case, _halves_end, (lost, *others), what, look)
    if asked.was_waiting:
        why = "`w` is right. But all of the graph of one half was still there when the next half went forward."
        expected, got = "each half goes back, and is used up, before the next goes forward", "two graphs at once"
        look = "what comes between two calls of `loss_of`, and the options of each walk"
        raise Wrong("both-at-once", expected, got, why=why, look=look)
    _refuse_frozen({"w": w})


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The best so far",
    kind="fix",
    points=2,
    off={
        "values 0": "the steps move the parameters",
        "result grad": "a deep copy of a parameter has a copy of its `.grad`",
        "again": "twice the steps",
    },
    beliefs=("M17",),
    hints=(
        "Run it with a `step` that makes things worse in its last round. Whose numbers come back?",
        "`step()` overwrites the parameters. On which memory do the tensors in `best` lie?",
        "Keep a copy of each, made in the round in which it is the best.",
    ),
    idea="`[p.detach().clone() for p in parameters]`: without history, and on a memory of its own.",
)
def best(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_BEST)
    earlier = None  # what the call before has returned, and a copy of its numbers
    for losses in (
        [5.0, 2.0, 3.0, 1.5, 4.0],
        [1.0, 6.0, 2.0],
        [3.0, 1.0, 1.0, 2.0],
        [0.0, 1.0, 2.0],
        [7.0],
        [-1.0, -3.0, 2.0],
        [5e30, 4.125e30, 4.1875e30],
        [3.0, *[9.0] * 150, 1.0, *[2.0] * 150],
        [1.0, 1.0 - 1e-6, 1.0 - 1.1e-6, 1.0 - 1.1001e-6, 1.25],
        [float(305 - n) for n in range(305)],
    ):
        kept = _check_best(answer, losses)
        if earlier is not None and not all(map(tools.same, map(tools.array, earlier[0]), earlier[1])):
            why = "What an earlier call returned holds other numbers since your function was called again."
            expected, got = "the tensors of an earlier call as they were", _texts(map(tools.array, earlier[0]))
            look = "what both calls write to: a global name, a default argument"
            raise Wrong("earlier-changed", expected, got, why=why, look=look)
        earlier = kept, [tools.array(one).copy() for one in kept]
    return "Copies of the best round, which later steps cannot reach."


_GIVEN_BEST = """
def best_of(parameters, step, rounds):
    best, lowest = None, float("inf")
    for _ in range(rounds):
        loss = step()
        if loss < lowest:
            lowest = loss
            best = [p.detach() for p in parameters]
    return best
"""


class _Stepping:
    """Three parameters which each step overwrites, and the loss that it says."""

    def __init__(self, losses: list[float]) -> None:
        self.losses, self.calls, self.recorded = losses, 0, True
        self.parameters = list(map(tools.leaf, self.place(0)))

    def place(self, number: int) -> list[np.ndarray]:
        """The parameters after so many steps."""
        return [np.array([1.5, -2.0]) * number**2 + 0.0, np.array(number + 0.25), np.array([[0.1 * number]])]

    def are_at(self, tensors: Any, number: int) -> bool:
        """Whether tensors hold the numbers of the parameters after so many steps."""
        return all(map(tools.same, map(tools.array, tensors), self.place(number)))

    def step(self) -> float:
        self.calls += 1
        self.recorded &= mg.is_grad_enabled()
        with mg.no_grad():
            for p, numbers in zip(self.parameters, self.place(self.calls), strict=True):
                p.copy_(tools.constant(numbers))
        return self.losses[(self.calls - 1) % len(self.losses)]


def _check_best(answer, losses):
    run, number = _Stepping(losses), len(losses)
    after = " or ".join(str(n) for n, loss in enumerate(losses, 1) if loss == min(losses))  # any of them is right
    steps = f"{number} steps, with the losses {show(losses)}"
    expected = f"{steps}: the parameters after step {after}"
    kept = call(answer, list(run.parameters), lambda: run.step(), number)
    if not run.recorded:
        why = "A training step goes forward and back. Where the way forward is not recorded, there is none to go back."
        look = "each block in which nothing is recorded: is `step()` called inside it?"
        wanted = "`step()` called where autograd records"
        raise Wrong("unrecorded-step", wanted, "it does not record there", why=why, look=look)
    one_each = isinstance(kept, list | tuple) and len(kept) == len(run.parameters)
    if not one_each or any(isinstance(one, list | tuple) for one in kept):
        look = "what is put into `best`, and when; and what is returned with it"
        raise Wrong("type", f"{steps}: a list of {len(run.parameters)} tensors, no more", show(kept), look=look)
    for p, one in zip(run.parameters, kept, strict=True):
        _refuse_shared(answer, kit.a_tensor(one, "each entry", "what is put into `best`"), p, expected)
    _refuse_other_count(run.calls, number)
    if not run.are_at(run.parameters, number):
        why = "Your function has changed the parameters. Only `step()` does that."
        expected = f"the parameters where the last `step()` has left them: {_texts(run.place(number))}"
        got = _texts(map(tools.array, run.parameters))
        raise Wrong("parameters-changed", expected, got, why=why, look="each line that overwrites a parameter")
    _refuse_other_moment(run, kept, expected)
    return kept


# A name that has to do with more than `detach()`, a list and a loop.
_NOT_OF_DETACH = "^(?!(detach|append|requires_grad_?|item|float|inf|range|enumerate|zip|list|tuple|len|min|math|mg)$)"


def _refuse_shared(answer, one, p, expected):
    if one is p:
        why = "An entry of what you return is the parameter itself. It moves on with the next step."
        raise Wrong("parameter-itself", expected, show(one), why=why, look="what is put into `best`: a copy?")
    if np.shares_memory(one.detach().numpy(), p.detach().numpy()):
        other = one.requires_grad or observe.mentions(answer, _NOT_OF_DETACH)  # by something else
        belief = "M17" if kit.uses(answer, "detach") and not other else ""
        why = "An entry of what you return lies on the memory of a parameter: the next step overwrites it."
        why += " To cut the history copies nothing." if belief else ""
        got = f"{show(one)}, on the memory of a parameter"
        raise Wrong("shared", expected, got, belief=belief, why=why, look="what would make a copy")
    if one.grad_fn is not None:
        why = "It is the result of an operation that was recorded: a graph is kept that nobody needs."
        raise Wrong("with-history", "tensors without history", show(one), why=why, look="`grad_fn` of what you keep")


def _refuse_other_moment(run, kept, expected):
    after = next((n for n in range(len(run.losses) + 1) if run.are_at(kept, n)), None)
    if after is None:
        look = "what is put into `best`: a tensor for each parameter, in their order and shapes, all of one round"
        raise Wrong("other-numbers", expected, _texts(map(tools.array, kept)), look=look)
    if after == 0 or run.losses[after - 1] != min(run.losses):
        got = f"the parameters after step {after}" if after else "the parameters before the first step"
        why, look = "These are the numbers of another moment.", "when the copy is made, and what is compared"
        raise Wrong("other-moment", expected, got, why=why, look=look)


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut: a smooth report",
    kind="cut",
    points=2,
    off={"again": "twice the steps", "digits": "the number may be kept in the usual float"},
    beliefs=("M28",),
    hints=(
        "What is `smooth` after the second round: a number, or a tensor with a `grad_fn`? How long is its history?",
        "No gradient is ever asked of `smooth`. Which of the tensors that it is made of has a history?",
        "Cut at the source, in each round: the loss that `step()` returns is only read.",
    ),
    idea="`step().item()`, both times. A number goes into `smooth`, and the graph of the round is freed.",
)
def smooth(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_SMOOTH)
    for start, number in ((3.0, 12), (-2.0, 5), (1.0, 1), (0.5, 4), (300.0, 3), (3.0, 1105)):
        _check_smooth(answer, start, number)
    return "The same number, and however long it runs, no graph is kept for it."


_GIVEN_SMOOTH = """
def smoothed(step, rounds):
    smooth = step()
    for _ in range(rounds - 1):
        smooth = 0.9 * smooth + 0.1 * step()
    return smooth
"""


class _Watched:
    """Training steps of one weight. It watches how many graphs of earlier rounds are alive."""

    def __init__(self, start: float) -> None:
        self.w, self.held, self.recorded = tools.leaf(start), 0, True
        self.losses: list[float] = []
        self.returned: list[mg.Tensor] = []
        self.graphs: list[weakref.ref] = []

    def step(self) -> mg.Tensor:
        self.held = max(self.held, _alive(self.graphs))
        self.recorded &= mg.is_grad_enabled()
        self.w.grad = None
        loss = (self.w * 2 - 1 - 0.1 * len(self.losses)) ** 2 - 3  # the goal moves, also away from the lowest loss
        loss.backward()
        with mg.no_grad():
            self.w -= 0.05 * self.w.grad
        self.losses.append(loss.item())
        self.returned.append(loss.detach())
        self.graphs.append(weakref.ref(loss._node))
        return loss


def _check_smooth(answer, start, number):
    run = _Watched(start)
    unrecorded = replace(_STEP_NOT_RECORDED, when=lambda *_: not run.recorded)
    known = (unrecorded, _NO_HISTORY, _SECOND_TIME, _RECURSION)
    given = tools.called(answer, (lambda: run.step(), number), "the smoothed loss", *known)
    came = kit.a_number(given, "the smoothed loss")
    if not run.recorded:
        raise _STEP_NOT_RECORDED.wrong("`step()` called where autograd records", "a call where it does not")
    _refuse_other_count(len(run.losses), number)
    look = "the factors, the start, how often each loss counts, and what rounds"
    _refuse_other(came, (np.array(run.losses),), _smooth_of, _SMOOTHS, "the smoothed loss", look)
    tracked = type(given) is mg.Tensor and given.requires_grad  # else it is cut, though it may be too late
    if run.held > 1:
        got = f"{run.held} graphs of earlier rounds are alive when a round begins"
        why = "Something holds them: a `smooth` that leads back to those before it, or losses that are kept with their "
        why += "graphs. What is cut at the end alone is freed too late."
        look = "what holds a loss, or leads back to one, while the loop runs"
        others = kit.uses(answer, "detach", "detach_", "append", "extend") or observe.makes_a_list(answer)
        belief = "M28" if tracked and not others else ""
        raise Wrong("graphs-kept", "not more than one at any time", got, belief=belief, why=why, look=look)
    if [loss.item() for loss in run.returned] != run.losses:
        why = "A loss that `step()` has returned holds another number now. `detach()` does not copy it."
        look = "each operation that ends in `_`, each `*=` and `+=`, and what is written through NumPy"
        raise Wrong("loss-overwritten", "the losses as `step()` made them", "one was overwritten", why=why, look=look)
    if tracked:
        why = f"The number is right. But what you return is tracked{'.' if given.is_leaf else ', and keeps a graph.'}"
        look = "what `smooth` starts from, what goes into it, and what is returned"
        raise Wrong("last-graph", "a number, or a tensor that is not tracked", show(given), why=why, look=look)


def _smooth_of(losses, old=0.9, new=0.1, start=None):
    value = losses[0] if start is None else start
    for loss in losses[1:] if start is None else losses:
        value = old * value + new * loss
    return value


(_STEP_NOT_RECORDED,) = tools.reasons("""
step-not-recorded: does not require grad and does not have a grad_fn
    `step()` trains: it goes backward itself, and needs its graph until then. You may cut what it returns.
    look: what stands inside `no_grad()`
""")
_SMOOTHS = _mistakes("""
(losses)
factors-swapped: _smooth_of(losses, 0.1, 0.9)
    The old value counts 0.9, and the new loss 0.1. Yours is the other way round.
    look: the two factors
starts-at-zero: _smooth_of(losses, start=0.0)
    It goes as one that starts at 0. It is to start at the first loss.
    look: the line before the loop
nothing-forgotten: _smooth_of(losses, old=1.0)
    Your old value counts whole. It is to count 0.9.
    look: the two factors
plain-mean: losses.mean()
    That is the mean of all losses: each counts the same.
    look: the line that makes the new value from the old one
last-loss: losses[-1]
    That is the last loss alone.
    look: the line that makes the new value from the old one
""")


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cured, and still ill",
    kind="fix",
    points=3,
    off=_MOVES_W,
    beliefs=("M06", "M07", "M08", "M09", "M13"),
    hints=(
        "Which node of the loss of round 2 was made before the loop? Which `w` has it saved?",
        "The penalty depends on `w`, and `w` moves.",
        "One line goes into the loop. Then one option has nothing left to do.",
    ),
    idea="`penalty = 0.5 * (w * w).sum()` goes into the loop, and `retain_graph=True` goes away. Each round has a "
    "graph of its own, from end to end.",
)
def penalized(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_PENALIZED)
    for case in _PENALTIES:
        _check_penalized(answer, *case)
    return "Loss and penalty are made anew in each round, from the `w` of that round, and nothing is retained."


_GIVEN_PENALIZED = """
def train_small(w, loss_of, rate, rounds):
    penalty = 0.5 * (w * w).sum()
    for _ in range(rounds):
        w.grad = None
        loss = loss_of(w) + penalty
        loss.backward(retain_graph=True)
        with mg.no_grad():
            w -= rate * w.grad
"""
# Where w starts, the goal of the loss, the rate, and the number of rounds.
_PENALTIES = (
    ([1.0, -2.0], [3.0, 0.5], 0.1, 3),
    ([0.5, 4.0, 1.0], [2.0, 1.0, -1.0], 0.2, 4),
    ([1.0, -200.0], [3.0, -1.0], 0.001, 305),
    ([2.1, 0.3], [3.0, 0.5], 0.1, 3),  # near the bottom
    ([2.0008, 0.5], [3.0, 0.75], 0.1, 6),  # still nearer
    ([[1.0, -2.0], [0.5, 4.0]], [[3.0, 0.5], [2.0, -1.0]], 0.1, 2),
    (1.0, 3.0, 0.1, 2),
)


def _penalized_end(start, goal, rate, rounds, *, penalty="new", loss="new", clears=True):
    """Where plain numbers go: with the slopes at the "new" `w`; at the "old" start, without the half, or "none"."""
    first, goal, total = np.array(start), np.array(goal), 0.0
    w = first
    for _ in range(rounds):
        total = 0.0 if clears else total
        total = total + {"new": 2 * (w - goal), "none": 0.0}[loss]
        total = total + {"new": w, "old": first, "unhalved": 2 * w, "none": 0.0}[penalty]
        w = w - rate * total
    return w


_PENALIZED = _mistakes("""
(start, goal, rate, rounds)
penalty-without-slope: _penalized_end(start, goal, rate, rounds, penalty="none")
    It runs, but `w` moves as if there were no penalty.
    look: each `detach`, `item` and `no_grad`, what is added to the loss, each line that clears, and the update
old-penalty: _penalized_end(start, goal, rate, rounds, penalty="old") (M13)
    No error, but the slope of the penalty is that of the first `w`, in every round.
    look: from which `w` the penalty is computed, and how often
never-cleared: _penalized_end(start, goal, rate, rounds, clears=False) (M08)
    `w` moves by the slopes of all rounds so far, added up.
    look: what is in `w.grad`, or in a sum of yours, when a round begins
one-round: _penalized_end(start, goal, rate, 1)
    `w` is where one step takes it.
    look: how many rounds reach their update, and what it reads there
loss-without-slope: _penalized_end(start, goal, rate, rounds, loss="none")
    `w` moves as if there were only the penalty.
    look: what you go backward from, each line that clears, and what the update reads
penalty-too-large: _penalized_end(start, goal, rate, rounds, penalty="unhalved")
    `w` moves as if the slope of the penalty were twice as large.
    look: the factor of the penalty, and whether anything else counts it
""")
(_SEVERAL_NUMBERS,) = tools.reasons("""
several-numbers: only for scalar outputs
    What you go backward from has several numbers. `loss_of(w)` is one number, and so has to be the penalty.
    look: what makes one number of the squares, for a `w` of any shape
""")


def _check_penalized(answer, start, goal, rate, rounds):
    w, goals, walked = tools.leaf(start), tools.constant(goal), []

    def loss_of(w):
        loss = ((w - goals) ** 2).sum()
        if loss.requires_grad:
            loss.register_hook(lambda _: walked.append(loss))
        return loss

    loss_of.__qualname__ = "loss_of"  # as Python's errors name it
    case, asked = (start, goal, rate, rounds), _Asked(loss_of, w)
    expected = f"`w` at {tools.text(_penalized_end(*case))} after {rounds} rounds"
    belief = "M13" if kit.says(answer, "retain_graph") else ""
    _move(answer, w, asked, (rate, rounds), expected, replace(_OLD_GRAPH, belief=belief), _SEVERAL_NUMBERS)
    signs = {"M13": belief, "M08": "M08" if observe.names_once(answer, "grad") else ""}
    mistakes = tuple(replace(one, belief=signs.get(one.belief, "")) for one in _PENALIZED)
    look = "what each round makes: the loss, the penalty, the step; and how many rounds there are"
    _refuse_other(tools.array(w), case, _penalized_end, mistakes, "`w` at the end:", look)
    _refuse_frozen({"w": w})
    if any(map(graphs.is_waiting, walked)):
        got = "after the last round there is still a graph with all that it saved"
        why = "`w` is right, but graphs are kept. Where loss and penalty are made anew in each round, there is nothing "
        why += "that has to be kept."
        look = "the options of each walk, each call of `loss_of`, and where the penalty is made"
        raise Wrong("retained", "each graph is used up", got, belief=belief, why=why, look=look)


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A step with momentum",
    kind="fix",
    points=3,
    off={
        "values": "the task is to move the parameters and change the speeds",
        "entries 1": "a speed may be another tensor",
        "grad 0": "the task is to clear it",
        "again": "a second step needs gradients of its own",
        "old grad": "the gradients are inputs here",
    },
    beliefs=("M06", "M07", "M08"),
    hints=(
        "Print `parameters` before and after a call. Has anything moved?",
        "Inside the loop, `p` and `v` are names. `p = ...` gives the name to another tensor; the list keeps the old.",
        "Overwrite both: `*=` and `+=` for the speed, `-=` for the parameter. The last line is right.",
    ),
    idea="Inside `no_grad`: `v *= 0.9`, `v += p.grad`, `p -= rate * v`, `p.grad = None`. The lists hold the same "
    "tensors as before, with other numbers.",
)
def momentum(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_MOMENTUM)
    for starts, rate in (
        ([2.0, [1.0, -3.0], 0.7], 0.2),
        ([[[0.5], [-0.5]], -1.0, 0.0, [3e5, 0.0], [0.25], -4.0], 0.05),
    ):
        _check_momentum(answer, starts, rate)
    return "Parameters and speeds are the same tensors as before, with other numbers, so the next step finds them."


_GIVEN_MOMENTUM = """
def momentum_step(parameters, speeds, rate):
    with mg.no_grad():
        for p, v in zip(parameters, speeds):
            v = 0.9 * v + p.grad
            p = p - rate * v
            p.grad = None
"""


(_CLEARED_FIRST,) = tools.reasons("""
cleared-too-early: NoneType
    Something is None where your function reads it, such as a `.grad` that was cleared before it was used, or that of
    a tensor that is no leaf of the loss.
    look: what is None in that line; whose `.grad` is read, and what was cleared before
""")
# Of an old speed, a slope and the rate: new speeds that are wrong.
_PACES = _mistakes("""
(old, slope, rate)
no-friction: old + slope
    All of the old speed is in the new one. Nine tenths of it are to stay.
    look: each line that makes or changes a speed
added-twice: 1.9 * old + slope
    The old speed is in the new one 1.9 times. Nine tenths of it are to stay.
    look: each line that makes or changes a speed
slope-too-small: 0.9 * old + 0.1 * slope; 0.9 * old + rate * slope
    A tenth of the slope goes into your speed, or `rate` times the slope. It is to go in whole.
    look: each line that makes or changes a speed
""")


def _check_momentum(answer, starts, rate):
    leaves = [tools.leaf(start) for start in starts]
    parameters, speeds = list(leaves), [mg.zeros_like(leaf).detach() for leaf in leaves]
    places, pace = [np.array(start) for start in starts], [np.zeros(leaf.shape) for leaf in leaves]
    for number in (1, 2, 3):
        steep = [0.0 if number == 3 else 3.0, *[3.0] * (len(leaves) - 1)]  # where a slope is 0, the speed goes on
        sum(0.5 * s * (p * p).sum() for s, p in zip(steep, leaves, strict=True)).backward()
        slopes = [s * place for s, place in zip(steep, places, strict=True)]
        before, old, versions = places, pace, [leaf._version for leaf in leaves]
        pace = [0.9 * v + slope for v, slope in zip(pace, slopes, strict=True)]
        places = [place - rate * v for place, v in zip(places, pace, strict=True)]
        expected = f"after call {number} the parameters {_texts(places)} and the speeds {_texts(pace)}"
        tools.called(answer, (parameters, speeds, rate), expected, _RECORDED_UPDATE, _CLEARED_FIRST)
        _refuse_other_lists(leaves, parameters, speeds, expected)
        _refuse_stayed(leaves, before, versions, expected, observe.renames(answer))
        _refuse_other_pace(
            leaves, speeds, places, pace, (before, old, slopes, rate), expected, observe.renames(answer, "+")
        )
        _refuse_not_cleared(leaves, observe.names_once(answer, "grad"))
    _refuse_frozen({f"parameters[{i}]": leaf for i, leaf in enumerate(leaves)})


def _texts(arrays: Any) -> str:
    return " and ".join(map(tools.text, arrays))


def _refuse_other_lists(leaves, parameters, speeds, expected):
    for name, entries in (("parameters", parameters), ("speeds", speeds)):
        if len(entries) != len(leaves):
            got, look = f"{len(entries)} entries in `{name}`", "each line that adds to the list, or takes from it"
            raise Wrong("list-changed", f"{len(leaves)} entries, as before", got, look=look)
    if any(a is not b for a, b in zip(parameters, leaves, strict=True)):
        why = "The list holds other tensors now, or has another order. The caller goes on with those that were in it."
        got = f"the parameters {_texts(map(tools.array, leaves))}"
        raise Wrong("list-changed", expected, got, why=why, look="each line that changes the list")
    for v in speeds:
        if kit.a_tensor(v, "each speed").requires_grad:
            why = "A speed needs no gradient. One with a history keeps the graphs of all earlier steps."
            look = "what makes the speeds tracked"
            raise Wrong("speed-tracked", "speeds that are not tracked, as before", show(v), why=why, look=look)


def _refuse_stayed(leaves, before, versions, expected, belief):
    came = list(map(tools.array, leaves))
    if not all(map(tools.same, came, before)):
        return
    got = f"the parameters {_texts(came)}"
    if any(leaf._version > version for leaf, version in zip(leaves, versions, strict=True)):
        why = "What was overwritten has the numbers that it had: as with a step by a speed that is still 0."
        look = "which speed a step uses, what it is made of, and what is in each `.grad` by then"
        raise Wrong("old-speed", expected, got, why=why, look=look)
    why = "The parameters are where they were."
    why += " One way to get this: `p = p - ...` makes a new tensor, and gives it the name `p`." if belief else ""
    look = "the line that moves a parameter: is it reached, and does it overwrite?"
    raise Wrong("not-moved", expected, got, belief=belief, why=why, look=look)


def _refuse_other_pace(leaves, speeds, places, pace, earlier, expected, belief):
    before, old, slopes, rate = earlier
    came, paces = list(map(tools.array, leaves)), [tools.array(kit.a_tensor(v, "each speed")) for v in speeds]
    got = f"the parameters {_texts(came)} and the speeds {_texts(paces)}"
    right = list(map(tools.same, came, places))
    moved, sped = all(right), all(map(tools.same, paces, pace))
    if moved and sped:
        return
    if moved and all(map(tools.same, paces, old)):
        why = "The parameters are right, but the speeds in the list are as before."
        why += " One way to get this: `v = ...` makes a new tensor, and the list holds the old one." if belief else ""
        look = "each line that makes or changes a speed: does it overwrite?"
        raise Wrong("speed-forgotten", expected, got, belief=belief, why=why, look=look)
    if all(tools.same(p, q + rate * v) for p, q, v in zip(came, before, pace, strict=True)):
        raise Wrong("uphill", expected, got, why="A step goes against the slope.", look="each sign, up to the step")
    stayed = list(map(tools.same, came, before))
    if not moved and any(stayed) and all(a or b for a, b in zip(stayed, right, strict=True)):
        why = "Some of the parameters are where they were, and the others are right."
        raise Wrong("not-all", expected, got, why=why, look="what is done with each of the parameters")
    if sped and all(tools.same(p, q - rate * v) for p, q, v in zip(came, before, slopes, strict=True)):
        why = "The parameters move by the slope alone. They are to move by the new speed."
        raise Wrong("plain-step", expected, got, why=why, look="the line that moves the parameter")
    for one in _PACES:
        wrong = [one.gives(v, slope, rate) for v, slope in zip(old, slopes, strict=True)]
        if not sped and all(map(tools.same, paces, wrong)):
            raise Wrong(one.code, expected, got, why=one.why, look=one.look)
    raise Wrong("other-numbers", expected, got, look="the three numbers of one call: speed, slope, step")


def _refuse_not_cleared(leaves, names_once):
    left = [leaf.grad for leaf in leaves if leaf.grad is not None and tools.array(leaf.grad).any()]
    if left:
        why, got = "The next `backward()` adds to what is there.", f"a `.grad` is {tools.text(tools.array(left[0]))}"
        look = "which tensor's `.grad` is cleared, and in each turn of the loop?"
        belief = "M08" if names_once and len(left) == len(leaves) else ""
        raise Wrong("not-cleared", "each `.grad` cleared", got, belief=belief, why=why, look=look)


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Newton's step",
    kind="write",
    points=3,
    off={"result dtype": "the text asks for two numbers", **_AFTERWARDS},
    beliefs=("M14", "M25"),
    hints=(
        "You need the two slopes and the four second derivatives at (w, b). Which functions of the chapter give them?",
        "`H = mg.autograd.functional.hessian(f, (w, b))`, and `mg.autograd.grad(f(w, b), (w, b))` for the slopes.",
        "`np.linalg.solve` gives the s with H · s = the slopes, all made plain numbers by `item()`. Which way do you "
        "go from (w, b)?",
    ),
    idea="`s = np.linalg.solve([[h.item() for h in row] for row in H], [slope.item() for slope in slopes])`, then "
    "`return w.item() - s[0], b.item() - s[1]`.",
)
def newton(answer):
    kit.a_function(answer)
    for shape in ((), (1,)):
        for case in _QUADRATICS:
            _check_newton(answer, shape, *case)
    return "One step from anywhere, and both slopes are 0: gradient and Hessian know the whole of a quadratic."


def _line_loss(w, b):
    return ((w * tools.constant([-1.0, 0.0, 2.0, 3.0]) + b - tools.constant([0.5, 2.0, 1.0, 4.0])) ** 2).mean()


# The factors of w², wb, b², w and b, and where to start; a formula, if it is another than the sum of these terms.
_QUADRATICS = (
    ((2.0, 3.0, 4.0, -11.0, -14.0), (1.0, -2.0)),
    ((1.0, -1.0, 0.5, 2.0, 3.0), (0.0, 0.0)),
    ((3.1, 0.7, 1.3, -7.0, 0.2), (-4.1, 2.5)),
    ((1.0, 0.0, 2.0, -2.0, 4.0), (3.0, 1.0)),
    ((0.01, 0.005, 0.02, -1.0, 2.0), (3.0, 1.0)),  # flat, and far from the bottom
    # Their slopes in w and b share nodes.
    ((2.0, 2.0, 1.0, -2.0, 0.0), (3.0, 2.0), lambda w, b: (w - 1) ** 2 + (w + b) ** 2),
    ((3.5, 2.0, 1.0, -6.75, -3.75), (0.5, 1.0), _line_loss),
)
_NEWTONS = _mistakes("""
(place, step, slopes, H)
wrong-way: place + step
    The step has the right size, and goes the wrong way: the slopes are to become 0.
    look: the sign of the step
step-alone: step; -step
    That is the solution of H · s = slopes, or minus it. It says how to move, and not where you arrive.
    look: what you do with the step
no-curvature: place - slopes
    You move by the slopes themselves. The second derivatives say how far.
    look: where the Hessian goes into the step
each-alone: place - slopes / H.diagonal()
    Each slope is divided by its own curvature. But when `w` moves, the slope in `b` moves, too.
    look: the two entries of H that are not on its diagonal
times-curvature: place - H @ slopes
    The slopes are multiplied by H. You look for the s with H · s = slopes.
    look: how the step comes from H and the slopes
slopes-swapped: place - np.linalg.solve(H, slopes[::-1])
    The step is that of the two slopes in the wrong order.
    look: the order of the slopes, and that of the rows of H
swapped: (place - step)[::-1]
    The two numbers are in the wrong order.
    look: the order of what you return
""")
_NO_SECOND, _RETAINED_SECOND, _UNUSED, _NONE_FOR_UNUSED, _SHAPE_OF_ONE = tools.reasons("""
gradient-without-history: does not require grad and does not have a grad_fn
    What is to be differentiated here has no history. A gradient has one only if the walk that made it was recorded.
    look: the options of each `grad`, and each `detach` and `item`
retained-is-not-recorded: does not require grad and does not have a grad_fn (M14)
    What is to be differentiated here has no history. `retain_graph=True` keeps the graph of f. It does not record the
    walk back, so the slopes have none.
    look: the options of each `grad`
no-mixed-term: not have been used (M25)
    A quadratic may have no term with both. Then the slope in one of them does not depend on the other, and `grad`
    refuses to differentiate it.
    look: each `grad` of a slope: what it does where a tensor was not used
none-for-unused: NoneType
    A quadratic may have no term with both. Then the slope in one of them does not depend on the other. For this one
    `allow_unused=True` gives None, where the second derivative is 0.
    look: what each `grad` of a slope returns here, and what you make of it
shape-of-one: Error
    For leaves of shape () it is right. These have shape (1,): so have their slopes, and the entries of `hessian` have
    shape (1, 1).
    look: the shape of each array that you make of them
""")
_ENOUGH = 20  # calls of f, for one Newton step in whatever way it is written


def _check_newton(answer, shape, factors, place, formula=None):
    tracked = []
    ww, wb, bb, w1, b1 = factors
    terms = formula or (lambda w, b: ww * w * w + bb * b * b + w1 * w + b1 * b + (wb * w * b if wb else 0))

    def f(w, b):
        y = terms(w, b)
        tracked.append(type(y) is not mg.Tensor or y.requires_grad)  # plain numbers give a plain number
        return y

    f.__qualname__ = "f"  # as Python's errors name it
    w, b = (tools.leaf(np.full(shape, number)) for number in place)
    walks: list[tuple[bool, bool]] = []
    retained = replace(_RETAINED_SECOND, when=lambda *_: all(tracked) and {*walks} == {tools.RETAINS})
    second = replace(_NO_SECOND, when=lambda *_: all(tracked))
    none = replace(_NONE_FOR_UNUSED, when=lambda *_: not wb and kit.says(answer, "allow_unused"))
    in_an_array = replace(none, message="dtype('O')")
    unused, shape_of_one = replace(_UNUSED, when=lambda *_: not wb), replace(_SHAPE_OF_ONE, when=lambda *_: bool(shape))
    known = (retained, second, unused, _NO_HISTORY, _SECOND_TIME, _RECORDED_UPDATE, none, in_an_array, shape_of_one)
    came = _pair(observe.called_noting(walks, answer, (f, w, b), "w and b at the bottom", *known))
    H = np.array([[2 * ww, wb], [wb, 2 * bb]])
    slopes = H @ place + (w1, b1)
    case = np.array(place), np.linalg.solve(H, slopes), slopes, H
    what = f"from w = {place[0]:g}, b = {place[1]:g} to"
    look = "the slopes, H, the step, and what is returned, each alone"
    _refuse_other(came, case, lambda place, step, *_: place - step, _NEWTONS, what, look)
    if len(tracked) > _ENOUGH and not tools.trial.circumstances:  # in these each call may be made twice
        why = "The bottom is right. But Newton's method takes one step, and needs no more than the slopes and H for it."
        expected, got = "the slopes and H at one place, and one step", f"{len(tracked)} calls of `f`"
        raise Wrong("many-steps", expected, got, why=why, look="what calls `f` again and again")


def _pair(found: Any) -> np.ndarray:
    """Two numbers, however they come: a tuple, a list, an array or a tensor, with numbers or arrays of one number."""
    if type(found) in (np.ndarray, mg.Tensor):
        found = list(found.reshape(-1))
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise Wrong("type", "two numbers, w and b", show(found), look="what `return` gives back")
    return np.array([kit.a_number(kit.plain(one), "each of the two") for one in found])


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "How large a step?",
    kind="write",
    points=3,
    off={"result dtype": "the text asks for a number", **_AFTERWARDS},
    hints=(
        "Which numbers of the Hessian say how steep the valley is, in the direction in which it is steepest?",
        "`mg.autograd.functional.hessian(f, x)` is one tensor here, with a row for each entry of `x`.",
        "`np.linalg.eigvalsh` gives the curvatures. Along which of them does a step overshoot first?",
    ),
    idea="`2 / np.linalg.eigvalsh(H).max()`, with H as an array. The steepest direction decides.",
)
def rate(answer):
    kit.a_function(answer)
    for H, place in _VALLEYS:
        _check_rate(answer, np.array(H), place)
    return "The steepest direction decides: there a larger step lands higher than it began."


_VALLEYS = (
    ([[14.0, 2.0], [2.0, 11.0]], [5.0, -1.0]),
    ([[4.0, 1.0, 0.5], [1.0, 2.0, -1.0], [0.5, -1.0, 6.0]], [0.0, 1.0, 2.0]),
    ([[0.5, -0.4], [-0.4, 0.5]], [1.0, 1.0]),
    ([[1.0, 0.5], [0.5, 1.0]], [4.0, -2.0]),  # at the bottom
    ([[3.0]], [2.0]),
    ([[2.0, 0.0], [0.0, 2.0]], [1.0, -2.0]),
    ([[300.0, 100.0], [100.0, 200.0]], [0.5, 2.0]),
    # Flat, and the first entry has no part in the steepest direction.
    ([[0.02, 0, 0, 0], [0, 0.01, 0.01, 0], [0, 0.01, 0.05, 0.02], [0, 0, 0.02, 0.03]], [1.0, 2.0, 0.5, -1.0]),
)
# Of a Hessian and its curvatures, in the order of their size: rates that are wrong.
_RATES = _mistakes("""
(H, curvatures)
flattest: 2 / curvatures[0]
    That rate fits the flattest direction. In the steepest one it is too large.
    look: which of the curvatures you take
one-over: 1 / curvatures[-1]
    With that rate one step reaches the bottom of the steepest direction. It may be larger: up to where a step lands as
    high on the other side.
    look: the picture of the two rates in section 2, and what 2 stands for in the cell below it
diagonal: 2 / H.diagonal().max()
    That is 2 divided by the largest entry of H, which is on its diagonal. The steepest direction need not lie along one
    of the entries of `x`.
    look: the entries beside the diagonal, and what they do to the curvature
sum-of-curvatures: 2 / curvatures.sum(); 2 / curvatures.mean()
    That is 2 divided by the sum of all curvatures, or by their mean. Only the largest one decides.
    look: which of the curvatures you take
upside-down: curvatures[-1] / 2
    That is one divided by the rate.
    look: what is divided by what
curvature-itself: curvatures[-1]; 2 * curvatures[-1]
    That is the largest curvature, or twice as much. The steeper it is, the smaller the rate has to be.
    look: how the rate comes from the curvature
one-row: 2 / np.linalg.norm(H[0])
    That is as much as 2 divided by the length of one row of H. The steepest direction need not lie along one of the
    entries of `x`.
    look: how the curvature comes from H, and in which direction it is measured
""")


def _check_rate(answer, H, place):
    x, steep = tools.leaf(place), tools.constant(H)

    def f(x):
        return 0.5 * (x * (steep @ x)).sum() - 3 * x[0] + 1

    f.__qualname__ = "f"  # as Python's errors name it
    given = tools.called(answer, (f, x), "one rate", _NO_SECOND, _SECOND_TIME, _RECORDED_UPDATE)
    came, case = kit.a_number(given, "the rate"), (H, np.linalg.eigvalsh(H))
    look = "the curvature in the steepest direction, and how the rate comes from it"
    _refuse_other(came, case, lambda H, c: 2 / c[-1], _RATES, f"for the Hessian {tools.text(H)}", look)


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Train until it is good",
    kind="write",
    points=4,
    off={"values 0": "the task is to move the parameters", **_TRAINS},
    beliefs=("M06", "M07", "M08", "M09", "M13", "M28"),
    hints=(
        "Write one round first, as in section 3: clear, compute, go back, update. How can it know that it is the last?",
        "The loop ends in its middle: after a loss is computed and noted, and before the step.",
        "`while True:`, and after `losses.append(loss.item())` comes `if losses[-1] <= bound: return losses`.",
    ),
    idea="In a `while True` loop: `p.grad = None` for each parameter, `loss = loss_of()`, append `loss.item()`, return "
    "if it is at most `bound`, `loss.backward()`, and in `no_grad` `p -= rate * p.grad` for each.",
)
def train(answer):
    kit.a_function(answer)
    network, *others = _PROBLEMS
    trained = _check_train(answer, network)
    for problem in others:
        _check_train(answer, problem)
    points, labels = _quarters(np.random.default_rng(11))
    right = (_scores(points, *trained).argmax(1) == labels).sum().item()
    return f"One loop for a line and for a network, which puts {right} of {len(labels)} new points on the right side."


def _scores(points, W1, b1, W2, b2):
    return mg.tanh(tools.constant(points) @ W1 + b1) @ W2 + b2


def _quarters(numbers):
    """Points in two opposite quarters, and in the two others."""
    points = numbers.uniform(0.2, 1.5, (80, 2)) * numbers.choice([-1.0, 1.0], (80, 2))
    return points, mg.tensor((points[:, 0] * points[:, 1] > 0).astype(np.int64))


def _two_classes():
    """A network for points in two opposite quarters, or in the two others."""
    numbers = np.random.default_rng(3)
    starts = [numbers.normal(size=(2, 8)), np.zeros(8), 0.5 * numbers.normal(size=(8, 2)), np.zeros(2)]
    points, labels = _quarters(numbers)
    return starts, lambda *p: mg.nn.functional.cross_entropy(_scores(points, *p), labels), 0.5, 0.2


def _line(w, b):
    """How far a line is from points on y = 3x - 2."""
    x = tools.constant([-1.0, 0.0, 1.0, 2.0])
    return ((w * x + b - 3 * x + 2) ** 2).mean()


# Where the parameters start, their loss, the rate, the bound, and whether there is a `.grad` before.
_PROBLEMS = (
    _two_classes(),
    ([[0.0], 0.0], _line, 0.1, 0.05, False),
    ([1.4], lambda w: (w * w - 1) ** 2, 0.24, 0.012),  # a loss that rises in its second round
    ([1.0], lambda w: w * w, 0.0013, 0.002),  # more rounds than anybody writes down
    ([1.0], lambda w: mg.where(w > 0, w * w, -1.25 * w), 0.9, 0.2),  # twice the same loss, on either side of the bottom
    ([3e4], lambda w: w * w - 5, 0.4, -4.5),  # large slopes, and a bound below 0
    ([0.5], lambda w: w * w, 0.1, 0.24999),  # a loss that is a little above its bound at the start
    ([0.5], lambda w: w * w, 0.1, 0.25),  # one that is at its bound from the start
)


class _Problem:
    """Parameters, their loss, and what can be seen of a training from the calls of `loss_of`."""

    def __init__(self, starts: list, loss: Callable, rate: float, bound: float, holds_grad: bool = True) -> None:
        self.starts, self.loss, self.rate, self.bound = starts, loss, rate, bound
        self.parameters = [tools.leaf(start) for start in starts]
        self.given = list(self.parameters)  # the list that the learner's function gets, and may change
        for p in self.parameters:
            p.grad = mg.ones_like(p).detach() * 5 if holds_grad else None  # of an earlier training: to be cleared
        self.losses: list[float] = []
        self.graphs: list[weakref.ref] = []
        self.last: mg.Tensor | None = None  # held until the next is asked for, to see whether its graph was used up
        self.held, self.was_waiting, self.filled = 0, False, _watch_filling(self.parameters)

    def loss_of(self) -> mg.Tensor:
        self.was_waiting |= graphs.is_waiting(self.last)
        self.last = None
        self.held = max(self.held, _alive(self.graphs))
        self.last = loss = self.loss(*self.parameters)
        self.losses.append(loss.item())
        if loss._node is not None:
            self.graphs.append(weakref.ref(loss._node))
        return loss

    def run(self, most: int, sign: int = -1, clears: bool = True, forgets_old: bool = True) -> None:
        """What the loop of the solution does, or does wrong, for so many losses."""
        for number in range(most):
            for p in self.parameters:
                p.grad = None if (clears if number else forgets_old) else p.grad
            loss = self.loss_of()
            if self.losses[-1] <= self.bound:
                return
            loss.backward()
            with mg.no_grad():
                for p in self.parameters:
                    p += sign * self.rate * p.grad

    def moved(self) -> list[bool]:
        """Of each parameter, whether it has moved."""
        return [not tools.same(tools.array(p), start) for p, start in zip(self.parameters, self.starts, strict=True)]


def _course(losses: list[float]) -> str:
    return f"{tools.count(len(losses), 'loss')}, from {losses[0]:.4g} to {losses[-1]:.4g}"


_SPARE = 30  # rounds more than are needed, before the check says that the training leads nowhere


def _check_train(answer, problem):
    run, right = _Problem(*problem), _Problem(*problem)
    right.run(5000)
    expected = f"{_course(right.losses)} (at most {run.bound})"

    def loss_of():
        if len(run.losses) >= len(right.losses) + _SPARE:
            raise _leads_nowhere(answer, run, right, problem, expected)
        return run.loss_of()

    loss_of.__qualname__ = "loss_of"  # as Python's errors name it
    old = replace(_OLD_GRAPH, belief="M13" if kit.says(answer, "retain_graph") else "")
    known = (old, _RECORDED_UPDATE, _NO_HISTORY, _SECOND_TIME, _RECURSION)
    inputs = run.given, loss_of, run.rate, run.bound
    losses = _called(answer, inputs, expected, run.parameters, run.filled, *known)
    if not run.losses:
        raise Wrong("loss-not-used", expected, "no call of `loss_of()`", look="where the loss is computed")
    _refuse_kept_graphs(run, losses)
    _refuse_other_course(answer, run, right, problem, expected)
    _refuse_other_list(losses, run, right, expected)
    _refuse_other_end(answer, run, right)
    return [p.detach() for p in run.parameters]


def _leads_nowhere(answer, run, right, problem, expected):
    got = f"after call {len(run.losses)} of `loss_of()` it is {run.losses[-1]:.4g}, and your loop goes on"
    if min(run.losses) <= run.bound:
        why = f"A loss was at most {run.bound}, and your function did not stop."
        return Wrong("does-not-stop", expected, got, why=why, look="the condition that should end your loop")
    if not any(run.moved()):
        return _not_moved(answer, run, expected, got)
    if run.losses[0::2][: len(run.losses) // 2] == run.losses[1::2]:
        why = "Each loss comes twice: as with two calls of `loss_of()` a round, or with a step in every second round."
        look = "each call of `loss_of()`, and what moves the parameters before the next"
        return Wrong("computed-twice", expected, got, why=why, look=look)
    if not all(run.moved()):
        still = [f"`parameters[{number}]`" for number, moved in enumerate(run.moved()) if not moved]
        why, look = f"These are where they were: {', '.join(still)}.", "what your loop does with each of the parameters"
        return Wrong("not-all", expected, got, why=why, look=look)
    why = f"With one call a round, and a step of `rate` times the slope for each parameter, {len(right.losses)} do."
    look = "in each round: the calls, what is in each `.grad`, and the step"
    nowhere = Wrong("leads-nowhere", expected, got, why=why, look=look)
    return _mistaken_course(answer, run, problem, expected, got) or nowhere


def _not_moved(answer, run, expected, got):
    why, look = "No parameter has moved", "what is in each `.grad` when the update reads it, and whether it overwrites"
    if not kit.uses(answer, "backward", "autograd"):
        why += ", and your function itself names neither `backward` nor `autograd`."
        return Wrong("no-backward", expected, got, why=why, look="what comes after the loss is computed")
    if all(p._version and p.grad is not None and not tools.array(p.grad).any() for p in run.parameters):
        return _cleared_too_late(answer, expected, got)
    if kit.rebinds(answer):
        why += ". One way to get this: `p - ...` makes a new tensor, of which `loss_of()` knows nothing."
        return _new_tensor(answer, expected, got, why)
    if any(one is not p for one, p in zip(run.given, run.parameters, strict=False)):
        why, look = f"{why}: `loss_of()` does not know what is in the list now", "an update that overwrites"
    return Wrong("not-moved", expected, got, why=f"{why}.", look=look)


def _mistaken_course(answer, run, problem, expected, got):
    """The diagnosis of a course of losses that a usual mistake takes, or None."""
    for mistake in _COURSES:
        other = _Problem(*problem)
        other.run(min(len(run.losses), 6), **mistake.gives())
        if len(other.losses) > 2 and tools.same(run.losses[: len(other.losses)], other.losses):
            belief = mistake.belief if observe.names_once(answer, "grad") else ""
            return Wrong(mistake.code, expected, got, belief=belief, why=mistake.why, look=mistake.look)
    return None


_COURSES = _mistakes("""
()
never-cleared: dict(clears=False, forgets_old=False) (M08)
    The losses go as they do when the slopes of all rounds add up, and what was in each `.grad` before.
    look: what is in each `.grad` when a round begins
never-cleared: dict(clears=False)
    The losses go as they do when the slopes of all rounds add up.
    look: what is in each `.grad` when a round begins
old-gradient: dict(forgets_old=False)
    The losses go as they do when what was in each `.grad` before your function was called counts in its first step.
    look: what is in each `.grad` when the first round begins
uphill: dict(sign=1)
    A step goes against the slope.
    look: the sign of the step
""")


def _refuse_kept_graphs(run, losses):
    if isinstance(losses, list | tuple) and any(
        type(loss) is mg.Tensor and loss.grad_fn is not None for loss in losses
    ):
        why = "A loss with its history keeps the graph of its round, for as long as the list lives."
        expected, look = "a list of plain numbers", "what you append to the list"
        raise Wrong("graphs-kept", expected, show(losses), belief="M28", why=why, look=look)
    if run.held > 1:
        got = f"{run.held} graphs of earlier rounds are alive when a round begins"
        why = "Something holds them, such as a list of losses, or a sum with a history."
        look = "each list, each sum and each name that outlives a round"
        raise Wrong("graphs-kept", "not more than one at any time", got, why=why, look=look)


def _refuse_other_course(answer, run, right, problem, expected):
    """The losses that were computed, whatever is in the list."""
    got = f"{_course(run.losses)}, by the calls of `loss_of()`"
    number = len(right.losses)
    if tools.same(run.losses, right.losses):
        return
    if tools.same(run.losses[:number], right.losses):
        why = f"After a loss of at most {run.bound} there are to be no more."
        raise Wrong(
            "stops-too-late",
            expected,
            got,
            why=why,
            look="the condition that ends your loop, and each call of `loss_of()`",
        )
    if tools.same(run.losses, right.losses[: len(run.losses)]):
        why = f"The last loss is still above {run.bound}."
        look = "each way out of your loop, with the number that it looks at, and each call of `loss_of()`"
        raise Wrong("stops-too-early", expected, got, why=why, look=look)
    if len(run.losses) > 1 and not any(run.moved()):
        raise _not_moved(answer, run, expected, got)
    other = Wrong("other-course", expected, got, look="one round alone: each slope, and each step")
    raise _mistaken_course(answer, run, problem, expected, got) or other


def _refuse_other_list(losses, run, right, expected):
    if not isinstance(losses, list | tuple):
        raise Wrong("type", "a list of losses", show(losses), look="what is returned")
    for loss in losses:
        if isinstance(loss, mg.Tensor | np.ndarray):
            raise Wrong("type", "plain numbers in the list", show(loss), look="what you append to the list")
    came = [kit.a_number(loss, "each loss") for loss in losses]
    if tools.same(came, right.losses):
        return
    got = f"{tools.count(len(came), 'number')} in the list, which begins with {show(came[:4])}"
    for which, most in (("last", right.losses[:-1]), ("first", right.losses[1:])):
        if tools.same(came, most):
            why = f"One loss is missing in the list, as when the {which} is not appended."
            raise Wrong("loss-missing", expected, got, why=why, look="when a loss is appended")
    raise Wrong("other-list", expected, got, look="what the list begins with, what is appended to it, and when")


def _refuse_other_end(answer, run, right):
    if not all(map(tools.same, map(tools.array, run.parameters), map(tools.array, right.parameters))):
        why = "The losses are right, and the parameters at the end are not: as with a step more, after the last loss."
        expected, got = "at the end the parameters of the last loss", "other ones"
        raise Wrong("one-step-more", expected, got, why=why, look="what your loop does before it looks at the loss")
    _refuse_frozen({f"parameters[{i}]": p for i, p in enumerate(run.parameters)})
    if run.was_waiting:
        why = "One walk through its graph brings a round all of its slopes. What is retained only keeps memory."
        got = "when a round begins, the graph of the one before is still there, with all that it saved"
        belief, look = "M13" if kit.says(answer, "retain_graph") else "", "the options of each `backward` and `grad`"
        raise Wrong("retained", "each graph is used up", got, belief=belief, why=why, look=look)


chapter.lock()
