"""The checks of chapter 06, "How do I stop a gradient?"."""

from __future__ import annotations

import gc
import itertools
import weakref
from dataclasses import replace

import numpy as np

import minigrad as mg
from exercises.checks import graphs, kit, observe, tools
from exercises.checks.kit import Wrong, show
from exercises.checks.targets import Targets

chapter = kit.Chapter(__name__, "06", "How do I stop a gradient?")


# --- What several exercises share ----------------------------------------------------------------


_NO_HISTORY, _LEAF_IN_PLACE, _CAUGHT, _CAUGHT_ALIAS, _SECOND_TIME, _FLAG, _NUMPY = tools.reasons("""
all-cut: element 0 of tensors does not require grad
    Where the walk starts there is no history: it was cut off, or nothing was recorded.
    look: what the walk starts from, and how that was made: what is tracked on the way, and where it ends to be
leaf-in-place: a leaf Variable that requires grad (M07)
    A tracked leaf is changed in place while recording is on. Updates belong inside of `no_grad`.
    look: the line that is named above, and the grad mode there
caught: modified by an inplace operation
    The alarm works: a number that `backward()` needs was changed first. But there should be nothing to catch.
    look: what is changed in place, and which `backward()` runs after that
caught-alias: modified by an inplace operation
    `detach()` copies nothing: a change of what it gives is one of `w`, and counted. So it is caught, as it should be.
    Repair the order, not only the spelling.
    look: what runs between `f(w)` and `backward()`
second-time: a second time
    A walk gets into a graph that an earlier walk has used up.
    look: what goes from one walk into the next, the state or a loss, and whether it has a history then
flag-of-a-result: flags of leaf variables (M05)
    The flag of a result follows from its inputs. What has no history is another tensor, which you take from it.
    look: what the message proposes at its end
numpy-refused: call numpy()
    NumPy records nothing, so it takes no tracked tensor. Whatever you compute there has no slopes.
    look: for what you need an array: values alone can be detached, slopes need tensors all the way
""")
_WAYS = "is there a way from y back to `{}`, or more than one, and what is multiplied on it?"
_NEW_W = {"again": "`w` moves twice", "old grad": "the text takes `w` as new"}


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "What still arrives?",
    kind="predict",
    points=2,
    beliefs=("M19", "M20", "M25", "M27"),
    hints=(
        "Write each y with plain numbers for what is constant. The number stays, only the gradient is stopped.",
        "A is 2 · a · b, with a constant 2. What are B, C and D?",
        "B is 6 · b, C is 2 · b + a, and D is 6 · a. A leaf that is not in it any more gets nothing.",
    ),
    idea="A is 2 · a · b, B is 6 · b, C is 2 · b + a and D is 6 · a. Take their slopes at a = 2 and b = 3; "
    "`None` where no way leads.",
)
def arrives(answer):
    truth = {"A a": 6.0, "A b": 4.0, "B a": None, "B b": 6.0, "C a": 1.0, "C b": 2.0, "D a": 6.0, "D b": None}
    looks = {name: f"{name[0]}: {_WAYS.format(name[2:])}" for name in truth}
    kit.predicted(answer, truth, _ARRIVES, "a number or None", looks)
    return "What is cut off goes on as a number. The gradient takes the ways that are left, and no other."


_ARRIVES = tools.patterns("""
all-ways-stopped: A a=None, A b=4 (M19)
    `a.detach()` is a new tensor. The other factor is `a` itself, and by this way a gradient comes.
    look: how often `a` is used in line A, and which of the uses is detached
all-ways-stopped: B b=None
    `b` is used twice in line B. The second time it is not inside the parentheses that are detached.
    look: the last factor of line B
nothing-stopped: A a=12
    12 is the slope of a · a · b. One of its two factors `a` is detached, and sends nothing back.
    look: which numbers are constants in line A
nothing-stopped: B b=12 or B a=9
    12 for `b` and 9 for `a` are slopes of a · b · b. The product in the parentheses is detached: a constant 6.
    look: which numbers are constants in line B
value-lost: A a=3
    3 is the slope of a · b, as if the detached factor were gone. Its number is still there: a 2.
    look: the value of `a.detach()`
item-connected: C a=4 (M27)
    `a.item()` is the Python number 2. By `2 * b` no way leads to `a`, only by `+ a`.
    look: the type of `a.item()`
item-disconnects: C a=None or C a=0
    `a.item()` takes a number out of `a` and leaves `a` as it is. By `+ a` a gradient comes.
    look: the second term of line C
block-untracks: D a=None, D b=None (M20)
    `no_grad` has stopped the recording of `a * b`. `a` itself is as tracked as before.
    look: the line after the block
block-ignored: D a=12 or D b=4
    12 for `a` and 4 for `b` are slopes of a · b · a. But `h` was not recorded: it is a constant 6.
    look: what `h` is after the block
zero-for-none: B a=0, D b=0 or D b=0, B a=0 (M25)
    No way leads from y to `a` in line B, nor to `b` in line D: nobody writes to their `.grad`, not even a zero.
    look: what `.grad` is before any backward
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Inside the block",
    kind="predict",
    points=2,
    beliefs=("M02", "M20"),
    hints=(
        "Ask of each line: does an operation run here? And is the grad mode on at this moment?",
        "`same = old` computes nothing, and neither does making a leaf. `old.backward()` records nothing anyway.",
        "Only `product` is computed while the mode is off. `later` is computed with the mode on, but from what?",
    ),
    idea="`product` is an untracked leaf, so `later` has no tracked input. `fresh` is a leaf that was asked for, "
    "`same` is `old`, `again` has the tracked input `w` and the mode on. And `backward()` works: 2 · 2.",
)
def inside(answer):
    truth = {"product": False, "fresh": True, "same": True, "again": True, "later": False}
    truth |= {"product.is_leaf": True, "w.grad": 4.0}
    looks = {"w.grad": "the slope of w · w at 2, and for which tensor a `backward()` runs"}
    kit.predicted(answer, truth, _INSIDE, "a number or None", looks)
    return "The block decides about one thing: whether the operations that run in it are recorded."


_INSIDE = tools.patterns("""
leaf-untracked: fresh=False, same=False, again=False, w.grad=None (M20)
    You ask for `fresh`, so it is tracked. The block is about operations, and none made `fresh`.
    look: the cell of the chapter with `leaf` in it
history-gone: same=False
    `same` is another name for `old`. No operation runs, and `old` was recorded before the block.
    look: what the line `same = old` computes
backward-blocked: w.grad=None or w.grad=0
    `backward()` walks what was recorded before. It needs no recording to do so.
    look: when the graph of `old` was made
product-tracked: product=True
    `w` is tracked, but the multiplication runs inside of the block: it is not recorded.
    look: the grad mode at that line
enable-ignored: again=False
    Inside of `enable_grad` the mode is on, and one factor, `w`, is tracked.
    look: the inputs of `again`, and the grad mode at that line
later-tracked: later=True
    The mode is on again, but what goes in is `product`: a constant with no way to `w`.
    look: the inputs of `later`
computed-no-leaf: product.is_leaf=False (M02)
    A leaf is what no recorded operation made. Nobody recorded this one.
    look: the definition of a leaf in chapter 01
slope-not-product: w.grad=2
    `w` goes into `w * w` twice, and each way brings 2.
    look: the derivative of w · w
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Frozen or cut?",
    kind="predict",
    points=2,
    beliefs=("M21", "M25"),
    hints=(
        "Draw the chain: x, then w1, w2, w3. Mark what is frozen and where it is cut. Then go back from y.",
        "Behind a frozen weight the way goes on. Behind a cut it does not.",
        "Uncut, the gradients are 60, 24 and 30. Strike out what is frozen, and what lies behind a cut.",
    ),
    idea="Uncut: 60, 24, 30. A strikes out w2 only. B cuts at the middle layer: w1 and w2 get nothing. C cuts below "
    "w2: only w1 gets nothing. D strikes out w3 only.",
)
def frozen(answer):
    truth = {"A w1": 60.0, "A w2": None, "A w3": 30.0, "B w1": None, "B w2": None}
    truth |= {"C w1": None, "C w2": 24.0, "D w1": 60.0, "D w2": 24.0}
    looks = {name: f"{name[0]}: {_WAYS.format(name[2:])}" for name in truth}
    kit.predicted(answer, truth, _FROZEN, "a number or None", looks)
    return "To freeze is to take one leaf out of the graph. To cut is to take everything behind away."


_FROZEN = tools.patterns("""
frozen-is-a-wall: A w1=None, A w2=None, A w3=30 or A w1=0, A w2=0, A w3=30 (M21)
    `w2` gets no gradient, but it lets it pass: multiplied by 5, it goes on to `w1`.
    look: the comparison of the two graphs in section 5: is the middle multiplication gone?
frozen-is-a-wall: D w1=None or D w2=None or D w1=0 or D w2=0
    In D the last layer is frozen, and still the gradient passes through it, to all that are behind.
    look: whether y has a node in D, and what it leads to
factor-lost: A w1=12 or D w1=15 or D w2=6
    A factor is missing, that of the frozen weight. Its number takes part in the product as before.
    look: what the frozen layer multiplies by
neighbour-frozen: A w3=None
    `w2` is frozen in A, and no other weight. The gradient of `w3` does not come through `w2`.
    look: which leaf is taken out in A
frozen-gets-one: A w2=24
    24 would be its gradient. But `w2` is not tracked in A: nobody writes to its `.grad`.
    look: `w2.requires_grad` in A
block-freezes: B w1=60
    In B the whole product `w2 * ...` is not recorded. So there is no way through it either.
    look: `h.requires_grad` after the block
block-ignored: B w2=24
    The multiplication by `w2` is not recorded in B, so no way leads to `w2`.
    look: `h.requires_grad` after the block
cut-too-high: C w2=None
    The cut of line C is below `w2`: what is detached is `w1 * x`, and `w2` is multiplied afterwards.
    look: the parentheses in line C
cut-ignored: C w1=60
    In line C the product `w1 * x` is detached. What lies behind it is `w1`.
    look: the parentheses in line C
zero-for-none: B w1=0, B w2=0, C w1=0 (M25)
    No way leads to `w1` in B and C, nor to `w2` in B: nobody writes to their `.grad`, not even a zero.
    look: what `.grad` is before any backward
zero-for-none: A w2=0 or B w1=0 or B w2=0 or C w1=0
    No way leads to this weight: it is frozen, or lies behind a cut. Nobody writes to its `.grad`, not even a zero.
    look: what `.grad` is before any backward
""")


# --- 4 -------------------------------------------------------------------------------------------


def _three_layers():
    w1, w3 = mg.tensor(2.0, requires_grad=True), mg.tensor(5.0, requires_grad=True)
    return w3 * (mg.tensor(3.0) * (w1 * mg.tensor(2.0))), {"w1": w1, "w3": w3}


@chapter.exercise(
    "Build this graph: three layers",
    kind="build",
    points=2,
    hints=(
        "Count boxes first: how many multiplications, and how many leaves that are tracked?",
        "Each layer multiplies by its weight. One multiplication has an arrow to the one behind, and to no leaf.",
        "The weight in the middle takes part as a constant, and the multiplication by it is recorded all the same.",
    ),
    idea="`w1` and `w3` with `requires_grad=True`, `w2` and `x` without, and `layers = w3 * (w2 * (w1 * x))`. All "
    "three multiplications are recorded, because each has a tracked input.",
)
def layers(answer):
    y = kit.a_tensor(answer, "`layers`")
    _targets.refuse_other(y, "layers", _why_not_layers(y))
    names = kit.notebook_tensors()
    if any(getattr(node, "variable", None) is names.get("w1", y) for node, _ in y.grad_fn.next_functions):
        why = "Boxes and arrows are right. But the third layer multiplies by `w3`, and yours by `w1`."
        look = "by which weight the result of each layer is multiplied"
        raise Wrong("leaves-swapped", "`w3` below the box of the root", "`w1` below it", why=why, look=look)
    for name in ("x", "w2"):
        if name in names and graphs.reaches(y, names[name]):
            raise Wrong("other-leaf", "the leaves `w1` and `w3`", f"`{name}` is one of them", look="what is tracked")
    return "The layer in the middle is frozen: it has no leaf in the graph, and the way leads through it."


def _why_not_layers(y):
    made_of, found = graphs.operations(y), len(graphs.leaves(y))
    facts = {"boxes": len(made_of), "leaves": found, "others": set(made_of) != {"mul"}, "more_leaves": found > 2}
    return tools.told(_OTHER_LAYERS, facts | {"more_boxes": len(made_of) > 3})


_OTHER_LAYERS = kit.patterns("""
no-node: boxes=0
    Your tensor has no node: nothing was recorded for it, or it was cut off from what was.
    look: which weights are tracked when it is made, with recording on, and whether a later step takes the history away
other-operations: others=True
    Your graph has other operations than the picture.
    look: the boxes in the picture: three multiplications, and nothing else
none-frozen: more_leaves=True
    Your graph ends in {leaves} leaves, the picture in two: `w1` and `w3`.
    look: how many blue ovals there are, and which leaves are tracked when a layer uses them
one-leaf: boxes=2, leaves=1 or leaves=1, more_boxes=True or boxes=3, leaves=1
    Your graph ends in one leaf, the picture in two.
    look: which weights are tracked, and whether a way leads from the root to each of them
layer-missing: boxes=1 or boxes=2
    Your graph has {boxes} of three multiplications. What is missing has no tracked input, was cut off, or is not there.
    look: the ways from the root: where does each end, and why? (A frozen weight cuts nothing.)
layer-added: more_boxes=True
    Your graph has {boxes} multiplications, the picture three.
    look: what each layer multiplies
other-frozen: boxes=3
    Boxes and leaves are right in number. But some of the arrows between them are others.
    look: the boxes of the picture one by one, from the root on: where their arrows lead, and where yours do
""")
_targets = Targets(layers=_three_layers)


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut: a target that stands still",
    kind="cut",
    points=2,
    hints=(
        "`value` is called twice, with the same weights. By which of the two calls should a gradient come?",
        "The number of the target is right. It is its history that has to go.",
        "Write `detach()` after what makes the target, once, and leave the guess as it is.",
    ),
    idea="`target = (reward + 0.5 * value(later)).detach()`, or make it inside of `no_grad`. Then the gradient comes "
    "by `value(now)` alone.",
)
def target(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_TARGET)
    for numbers in _TARGETS:
        _check_target(answer, *numbers)
    _check_trained(answer)
    return "The guess moves towards the target, and the target stands still. The loss has the same value as before."


_GIVEN_TARGET = """
def surprise(value, now, later, reward):
    guess = value(now)
    target = reward + 0.5 * value(later)
    return (target - guess) ** 2
"""
_TARGETS: tuple = ((2.1, 3.1, 4.2, 1.0), (-0.5, 8.0, -1.0, -3.14159265), (1.0, 0.5, 4.0, -1.499), (2.0, 3.0, 3.0, 1.0))
_TARGETS += (2.0, 3.0, 0.0, 1.0), (1.5, 0.0, -2000.0, 0.0)  # a state or a reward of 0
_TARGETS += (2.0, 3.0, -1.5, 1.25), (1.0, 2.0, 1.5, 1.0)  # a target of 0, and an error of 0


def _check_target(answer, weight, now, later, reward):
    w, other = tools.leaf(weight), tools.leaf(0.5)  # a weight that `value` needs for `later` alone
    expected = "a loss with the value as before, that leads back to the weights"
    kept = w * now  # where both states are one, `value` gives this out both times
    value = (lambda state: kept) if now == later else lambda state: w * state + (other if state == later else 0.0)
    y = tools.result(tools.called(answer, (value, now, later, reward), expected))
    error = reward + 0.5 * (weight * later + (0.0 if now == later else 0.5)) - weight * now
    look = "the formula of the loss: only a way back should go, no number"
    tools.refuse_other_values(y, error**2, "the loss as before", look)
    if not kept.requires_grad:
        why = "Here `value` gives out a tensor that it keeps, twice the same. You cut off that very tensor, in place."
        got, look = "what `value` keeps has lost its history", "each operation that ends in `_`"
        raise Wrong("cut-in-place", "what `value` gives out, as it was", got, why=why, look=look)
    if not y.requires_grad or not graphs.reaches(y, w):
        why = "No way leads back to the weights any more, so the guess does not learn either."
        raise Wrong("all-cut", expected, show(y), why=why, look="what is cut off: the target alone?")
    if w.grad is not None:
        why = "A backward ran in your function. It only makes the loss; to go backward is left to whoever trains."
        got = f"{w.grad.item():.7g} in the `.grad` of the weight"
        raise Wrong("walked", "a loss that nobody has gone backward from", got, why=why, look="each `backward`")
    connected = now == later or graphs.reaches(y, other)
    tools.walk(y.backward)
    by_guess, by_target = 0.0 - 2 * error * now, error * later
    came = np.nan if w.grad is None else w.grad.item()
    if not kit.close(came, by_guess):
        raise _wrong_target(came, by_guess, by_target, connected)
    if graphs.reaches(y, other):
        got = "there is one, though the gradient of the weight is right"
        look = "what cuts a way, and what changes gradients on it"
        raise Wrong("way-left", "no way from the loss through the target", got, look=look)


def _check_trained(answer):
    """The same states once more, with the weight as it is then."""
    w = tools.leaf(2.0)
    value = lambda state: w * state  # noqa: E731
    for weight in (2.0, 2.5):
        y = tools.result(tools.called(answer, (value, 3.0, 4.0, 1.0), "a loss"))
        what = f"the loss where `value` has the weight {weight}, after a call where it had another"
        tools.refuse_other_values(y, (1.0 - weight) ** 2, what, "what is left from an earlier call")
        with mg.no_grad():
            w += 0.5


def _wrong_target(came, by_guess, by_target, connected):
    expected = f"{by_guess:.7g} for the weight, by the guess alone"
    got = "no gradient" if np.isnan(came) else f"{came:.7g}"
    if connected and kit.close(came, by_guess + by_target):
        why = "A gradient comes by the target as well as by the guess. So the target moves, too."
        return Wrong("not-cut", expected, got, why=why, look="what the target is made from, and whether it is tracked")
    if connected and kit.close(came, by_target):
        why = "The gradient comes by the target. What is cut off is the guess: the wrong one of the two."
        return Wrong("guess-cut", expected, got, why=why, look="which of the two is to be reached")
    return Wrong("other-gradient", expected, got, look="the formula, each use of `value`, and what you detach")


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The path of a weight",
    kind="fix",
    points=2,
    off=_NEW_W | {"values 0": "the task is to train `w`", "grad 0": "each step fills and clears it"},
    beliefs=("M06", "M07", "M08", "M17"),
    hints=(
        "Run it and print the list at the end. What do its entries have in common?",
        "Each entry is a tensor of its own. But which numbers does it look at?",
        "After `detach()` something has to copy the numbers. Section 3 has the word for it.",
    ),
    idea="`seen.append(w.detach().clone())`. `detach()` drops the history and shares the memory; `clone()` copies it. "
    "`w.tolist()` copies the numbers, too.",
)
def path(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_PATH)
    runs = (([3.0, -1.0], [5.0, 1.0], 4), ([0.6], [-2.0], 1), ([0.5, 9.0], [1.0, -2.0], 120))
    runs += (-1.0, 1.0, 3), ([[2.0, -1.0], [0.5, 4.0]], [[1.0, 1.0], [0.5, 3.0]], 2)
    lists = [_check_path(answer, *run) for run in runs]
    if len(set(map(id, lists))) < len(lists):
        look = "where the list is made: in the function, or once for all calls?"
        raise Wrong("first-result-changed", "a new list from each call", "the same list, filled again", look=look)
    return "Each entry has memory of its own, so it keeps the numbers of its step."


_GIVEN_PATH = """
def path(w, loss_of, steps):
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach())
    return seen
"""


def _check_path(answer, start, goal, steps, as_it_is=True):
    w, goal, trained = tools.leaf(start), np.array(goal), []

    def loss_of(t):
        trained.append(t is w)
        return ((t - mg.tensor(goal)) ** 2).sum()

    expected = f"a list of length {steps}: the numbers of `w` after each step"
    given = tools.called(answer, (w, loss_of, steps), expected, _LEAF_IN_PLACE)
    if not isinstance(given, list | tuple) or len(given) != steps:
        got = f"one of length {len(given)}" if isinstance(given, list | tuple) else show(given)
        look = "how many turns there are, and what is appended in each" if "length" in got else "what you return"
        raise Wrong("type", expected, got, look=look)
    tracked = [entry for entry in given if type(entry) is mg.Tensor and entry.requires_grad]
    if tracked:
        why = "An entry is a result: its history keeps a graph. A copy of a tracked tensor is recorded, too."
        why = "An entry is a tracked leaf: `w` itself, or another." if tracked[0].is_leaf else why
        look = "what you append: what takes its history away, and whether it is tracked again"
        raise Wrong("history-kept", "entries that are not tracked", show(tracked[0]), why=why, look=look)
    right = [goal + (np.array(start) - goal) * 0.5 ** (step + 1) for step in range(steps)]
    if not tools.same(tools.array(w), right[-1]):
        rebinds = any(trained) and kit.rebinds(answer, 0) and observe.only_names(answer)
        raise _wrong_walk(w, start, goal, steps, right[-1], rebinds, kit.clears(answer))
    with mg.no_grad():
        w += 100.0  # whoever looks at the memory of w sees it
    came = [_as_numbers(entry, w.shape) for entry in given]
    if not all(tools.same(entry, step) for entry, step in zip(came, right, strict=True)):
        alike = as_it_is and observe.where_detach_copies(lambda: _check_path(answer, start, goal, steps, False))
        trusts = bool(alike) and not kit.uses(answer, "numpy")
        raise _wrong_path(came, right, tools.array(w), start, expected, trusts)
    return given


def _as_numbers(entry, shape):
    """The numbers of an entry: a tensor, an array, or numbers alone, of which no shape is asked."""
    if type(entry) is mg.Tensor:
        return tools.array(entry)
    try:
        numbers = np.array(entry)
    except (TypeError, ValueError, RuntimeError):
        numbers = np.array(None)
    if numbers.dtype.kind not in "iuf":
        raise Wrong("type", "entries that hold numbers", show(entry), look="what is appended")
    alone = type(entry) is not np.ndarray and numbers.size == np.prod(shape, dtype=int)
    return numbers.reshape(shape).astype(float) if alone else numbers.astype(float)


def _never_cleared(start, goal, steps):
    """Where the weight goes if the slopes of all steps so far add up, and their sum."""
    w, slope = np.array(start), 0.0
    for _ in range(steps):
        slope = slope + 2 * (w - goal)
        w = w - 0.25 * slope
    return w, slope


def _wrong_walk(w, start, goal, steps, right, rebinds, clears):
    expected, got = f"{right.tolist()} in `w` at the end", f"{tools.array(w).tolist()}"
    if tools.same(tools.array(w), np.array(start)):
        why = "At the end the `w` that came in has the numbers that it had."
        why += " An assignment such as `w = ...` moves nothing: it gives the name to something else." if rebinds else ""
        look = "each line that moves `w`, or makes another tensor of it"
        return Wrong("not-moved", expected, got, belief="M06" if rebinds else "", why=why, look=look)
    led, slope = _never_cleared(start, goal, steps)
    if tools.same(tools.array(w), led):
        in_grad = w.grad is not None and tools.same(tools.array(w.grad), slope)
        why = f"The slopes of all steps so far add up{' in `w.grad`' if in_grad else ''}: each step takes their sum."
        look = "what is left of the slopes, in `w.grad` or elsewhere, when the next step begins"
        return Wrong("not-cleared", expected, got, belief="M08" if in_grad and not clears else "", why=why, look=look)
    look = "each step: the loss of `w` as it is then, its walk, and a quarter of the slope"
    return Wrong("other-walk", expected, got, look=look)


def _wrong_path(came, right, moved, start, expected, detached):
    got = show([entry.tolist() for entry in came])
    if any(tools.same(entry, moved) for entry in came):
        got = f"{got}, after `w` was changed once more"
        why = "At least one entry looks at the memory of `w`. Each later change of `w` changes it, too."
        look = "what copies numbers, and what only gives them another name"
        return Wrong("shares-memory", expected, got, belief="M17" if detached else "", why=why, look=look)
    if all(tools.same(entry, step) for entry, step in zip(came, [np.array(start), *right[:-1]], strict=True)):
        why = "These are the numbers before each step."
        return Wrong("one-early", expected, got, why=why, look="when in the loop you append, and what")
    if all(tools.same(entry, right[-1]) for entry in came):
        why = "All entries hold the numbers of the end, as copies made after the loop do, or one that is refilled."
        look = "when the copy is made, and whether each entry is one of its own"
        return Wrong("copied-late", expected, got, why=why, look=look)
    return Wrong("other-numbers", expected, got, look="what you append in each turn: its numbers, in the shape of `w`")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "No alarm",
    kind="fix",
    points=2,
    off=_NEW_W | {"values 1": "the task is to move `w`", "grad 1": "the task is to fill it"},
    beliefs=("M06", "M07", "M18"),
    hints=(
        "Call it with f = lambda w: w * w, at w = 2, with the step 1. Which slope do you expect, and which one comes?",
        "`backward()` needs what the forward pass has seen. Between the two nothing may change it.",
        "Three lines, in another order. And write the step so that a mistake would raise the alarm.",
    ),
    idea="`y = f(w)`, `y.backward()`, and only then the step, inside of `no_grad`. Nothing changes between the forward "
    "and the backward pass.",
)
def step(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_STEP)
    for function, slope, start, size in _STEPS:
        _check_step(answer, function, slope, start, size)
    return "The slope belongs to the numbers that the forward pass has seen, and `w` has moved after that."


_GIVEN_STEP = """
def slope_then_step(f, w, size):
    y = f(w)
    w.data.add_(size)
    y.backward()
    return y
"""
_STEPS = (
    (lambda w: w * w, lambda w: 2 * w, 2.0, 1.0),
    (lambda w: w * w * w, lambda w: 3 * w * w, -1.1, 0.3),
    (lambda w: 3 * w, lambda w: 3 + 0 * w, -3.0, -0.25),
    (lambda w: w * w, lambda w: 2 * w, 0.1, 1e9),  # too far to come back exactly
    (lambda w: (w * w).sum(), lambda w: 2 * w, [2.0, -1.0, 0.5], 0.125),
    (lambda w: w * w, lambda w: 2 * w, 0.0, 0.31415926),  # a slope of 0
    (lambda w: w * w, lambda w: 2 * w, [-0.5], 0.0),
)


def _check_step(answer, function, slope, start, size):
    w, start, met = tools.leaf(start), np.array(start), []
    alias = w.detach()

    def f(t):
        met.append(np.array(t.detach().numpy()))
        return function(t)

    alone = lambda *_: observe.where_detach_copies(lambda: answer(function, tools.leaf(start), size) is not None)  # noqa: E731
    reasons = replace(_CAUGHT_ALIAS, when=alone), _CAUGHT, _LEAF_IN_PLACE, _NO_HISTORY
    expected = f"{tools.text(slope(start))} in `w.grad`, and {tools.text(start + size)} in `w`"
    y = tools.result(tools.called(answer, (f, w, size), expected, *reasons))
    came, moved = None if w.grad is None else tools.array(w.grad), tools.array(w)
    got = f"{None if came is None else tools.text(came)} in `w.grad`, and {tools.text(moved)} in `w`"
    if not w.requires_grad:
        look = "each line that changes `requires_grad` of `w`, and each `detach_()`"
        raise Wrong("untracked", "a `w` that is still tracked", "`w.requires_grad` is False", look=look)
    if came is None or not tools.same(came, slope(start)):
        late = ["" if tools.same(one, start) else "late" for one in met]
        by_data = observe.uncounted(answer, function, tools.leaf(start), size) == "data"
        raise _wrong_slope(came, slope, start, size, late, by_data, expected, got)
    if w.grad is not None and w.grad.requires_grad:
        look = "what sets a flag of `w.grad`, and what your backward is told: `create_graph` makes a graph of it"
        raise Wrong("slope-tracked", "an untracked slope in `w.grad`", show(w.grad), look=look)
    if not tools.same(moved, start + size):
        if not tools.same(moved, start):
            look = "by how much `w` is moved, how often, and whether all of it"
            raise Wrong("other-step", expected, got, why="The slope is right. The step is another one.", look=look)
        rebinds = kit.rebinds(answer, 1) and observe.only_names(answer)
        why = "The slope is right. But at the end the `w` that came in holds its old numbers."
        why += " An assignment such as `w = ...` gives the name to something else." if rebinds else ""
        look = "each line that writes into `w`, or makes another tensor of it"
        raise Wrong("not-moved", expected, got, belief="M06" if rebinds else "", why=why, look=look)
    if not tools.same(tools.array(alias), moved):
        why = "`w` has other memory now. Who shares the memory that it had, by a view or `detach()`, misses the step."
        raise Wrong("not-in-place", "the step in the memory of `w`", "new memory", why=why, look="the line of the step")
    right = tools.array(function(tools.leaf(start)))
    tools.refuse_other_values(y, right, "the value of `f` at the old `w`", "where you compute what you return")


def _wrong_slope(came, slope, start, size, late, by_data, expected, got):
    if came is None:
        look = "whether a backward runs, at which leaf its way ends, and what clears a `.grad`"
        return Wrong("no-slope", expected, got, why="There is no gradient in `w` at the end.", look=look)
    if tools.same(came, slope(start + size)):
        why = "This is the slope at the new `w`" + (", with which `f` was called." if all(late) else ".")
        why += "" if any(late) else " The numbers changed before `backward()` had read the old ones."
        belief = "M18" if by_data and not any(late) else ""
        why += " A change through `.data` raises no alarm." if belief else ""
        look = "what changes numbers before `backward()`, and to which call of `f` that belongs"
        return Wrong("slope-of-the-new", expected, got, belief=belief, why=why, look=look)
    return Wrong("other-slope", expected, got, look="each backward, and what changes `w` before it, or `w.grad` at all")


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Only the numbers, please",
    kind="write",
    points=3,
    off={"memory": "the text asks for a constant, not for a copy"},
    beliefs=("M05", "M20"),
    hints=(
        "Two things have to be stopped: the recording while `f` runs, and the history of what it may give you.",
        "A block puts back the mode that was there, also when `f` raises. And `f` may return what was tracked before.",
        "Call `f(x)` inside of `with mg.no_grad():`, and return the result without its history.",
    ),
    idea="`with mg.no_grad():` and in it `return f(x).detach()`. The block stops the recording and puts the mode back; "
    "`detach()` is for an `f` that returns an old tensor, or switches recording on itself.",
)
def values_of(answer):
    kit.a_function(answer)
    for on in (True, False):
        with mg.set_grad_enabled(on):
            for name, f, *more in _functions():
                _check_values(answer, name + ("" if on else ", with recording off"), f, *more)
            _check_error(answer, on)
    _check_values(answer, "a new tensor, for an `x` that is a result", lambda t: t * 2, tools.leaf(3.0) * 1)
    return "Nothing was recorded, nothing tracked comes out, and the grad mode is as you found it."


class _Probe(RuntimeError, ValueError, TypeError, AttributeError, IndexError, KeyError, ZeroDivisionError):
    """What our f raises, to see where the grad mode is left."""


def _functions():
    """What `f` may be: what it returns, in words, then `f`, an `x` for it, and the modes that it notes, if it does."""
    x, weight, modes = tools.leaf([2.0, -3.0]), tools.leaf([0.5]), []
    with mg.enable_grad():
        old = x * 2

    def square(t):
        modes.append(mg.is_grad_enabled())
        return t * t

    def recording(t):
        with mg.enable_grad():
            return t * 3

    def leaving_it_on(t):
        mg.set_grad_enabled(True)
        return t * 3

    yield "a new tensor", square, x, modes
    yield "a new tensor", square, tools.leaf([1e-3, 0.0, np.inf]), modes
    yield "no numbers", square, tools.leaf([]), modes
    yield "a tensor of shape ()", lambda t: t.sum(), x
    yield "a tensor of shape (1,)", lambda t: t * 2, tools.leaf([0.0])
    yield "its own `x`", lambda t: t, x
    yield "an old result", lambda t: old, x
    yield "a weight of its own", lambda t: weight, x
    yield "what it records", recording, x
    yield "what it records, with recording left on", leaving_it_on, x
    yield "an old result", lambda t: old, tools.constant([2.0, -3.0])


def _check_values(answer, name, f, x, modes=(False, False)):
    """One call; `modes` are those that `f` has met, in a call of ours first."""
    with mg.no_grad():
        own = f(x)  # which may be the same tensor each time
    right, what = tools.array(own), f"an `f` that returns {name}"
    tracked = [one for one in (x, own) if one.requires_grad]
    given = tools.result(tools.called(answer, (f, x), "the values of `f(x)`", _FLAG))
    tools.refuse_other_values(
        given, right, f"the values of `f(x)`, for {what}", "what goes into `f`, and what becomes of its result", 1e-8
    )
    if len(modes) < 2:
        look = "the call of `f`: it may be any function"
        raise Wrong("not-called", "a call of `f`", "`f` was never called", look=look)
    if not all(one.requires_grad for one in tracked):
        why = "`x`, and what `f` returns, may belong to others, who go backward from it. Nobody asked to change it."
        which = "`x`" if any(one is x and not x.requires_grad for one in tracked) else "what `f` returned"
        got, look = f"{which} is not tracked any more, for {what}", "each line that changes a tensor itself"
        raise Wrong("input-changed", "the tensors of others as they were", got, why=why, look=look)
    if any(modes):
        why = "Whatever `f` computes from tracked tensors is recorded then, be it from weights of its own."
        look = "where the grad mode is switched off: before `f` is called?"
        raise Wrong("recorded", "recording is off while `f` runs", "`f` ran with it on", why=why, look=look)
    if given.is_inference():
        why = "What `inference_mode` makes can never be saved in a graph. Your result may be needed in one."
        look = "the milder of the two blocks"
        raise Wrong("inference-result", "a constant for later graphs", "an inference tensor", why=why, look=look)
    if given.requires_grad:
        expected, got = "a result that is not tracked", f"{show(given)}, for {what}"
        why = "Recording that is off takes no history away, and `f` may switch it on. What was tracked, still is."
        look = "what takes the history away, and whether each result of `f`, as it was returned, comes by there"
        others = "detach|data|numpy|tolist|item|tensor|clone|copy|requires_grad|leaf|grad_fn|^enable_grad$"
        trusts = name.startswith(("its own", "an old", "a weight")) and not observe.mentions(answer, others)
        raise Wrong("still-tracked", expected, got, belief="M20" if trusts else "", why=why, look=look)


def _check_error(answer, on):
    def failing(t):
        raise _Probe("f has failed")

    x = tools.leaf([2.0, -3.0])  # the numbers of the call before, which a card shows as given
    code, got = "swallowed", "no error"
    try:
        answer(failing, x)
    except _Probe:
        code = ""
    except Exception as error:
        code, got = "other-error", kit.sandbox.describe_error(error)
    if code:
        look = "what stops an error, or replaces it: `except`, `return` in a `finally`, `suppress`"
        raise Wrong(code, "the error of `f`, for the caller to see", got, look=look)
    left = mg.is_grad_enabled()
    if left != on:
        why = "An error leaves a function at once. A block puts the mode back on this way out, too."
        got = f"recording was {'on' if on else 'off'}, and is {'on' if left else 'off'}"
        look = "what switches the mode: is it a `with`, or a call that nobody takes back on the way out?"
        raise Wrong("left-off", "the mode as it was, also after an error of `f`", got, why=why, look=look)
    if not x.requires_grad:
        expected, got = "`x` as it was, also after an error of `f`", "`x.requires_grad` is False"
        raise Wrong("input-changed", expected, got, look="each line that changes `x` itself")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A long run, in pieces",
    kind="fix",
    points=3,
    off=dict.fromkeys(("grad", "again", "old grad"), "each piece goes backward, and adds to `.grad`"),
    beliefs=("M13", "M28"),
    hints=(
        "Two things are wrong. The first raises in the second piece: by which tensor does the walk get into the first?",
        "Between two pieces the state should keep its number and lose its history.",
        "The second is for your eyes only: `total` should not hold on to the graphs of all pieces.",
    ),
    idea="`state = state.detach()` at the start of each piece, and `total = total + loss.item()`. The number of the "
    "state goes on; the gradient, and the memory, end with the piece.",
)
def pieces(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_PIECES)
    for weight, start, inputs, every in _RUNS:
        _check_pieces(answer, weight, start, inputs, every)
    return "The number of the state goes from piece to piece, the gradient does not, and no graph is held."


_GIVEN_PIECES = """
def run(cell, state, inputs, every):
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss
    return total
"""
_RUNS = (
    (0.5, 1.0, [1.0, 2.0, -1.0, 0.5, 3.0, 1.5, 2.0, -2.0], 2),
    (-0.8, 0.3, [2.0, 1.0, 1.0, -1.0, 0.6, 2.5, 1.0], 3),
    (0.5, 2.0, [1.0, -1.5], 5),
    (0.5, 0.0, [0.0, 0.0, 1.0, -0.5, 2.0, 1.0], 2),  # a loss of 0, and a piece that begins with 0
)


class _Cell:
    """One step of a run, w * state + x; notes what came in, and which graphs of older pieces are held."""

    def __init__(self, weight, every):
        self.w, self.every = tools.leaf(weight), every
        self.seen, self.inputs, self.nodes, self.walks, self.held, self.other = [], [], [], [], 0, ""
        self.w.register_hook(lambda grad: self.walks.append(len(self.seen)))

    def __call__(self, state, x):
        if type(kit.plain(state)) not in (float, int):
            look = "what you give to `cell`, and what has made it"
            raise Wrong("other-state", "a state that is a tensor of shape ()", show(state), look=look)
        self.seen.append(kit.a_number(state, "the state"))
        self.inputs.append(kit.plain(x))
        if type(state) is not mg.Tensor or (state.dtype, state.shape) != (self.w.dtype, ()):
            self.other = show(state)
        finished, step = divmod(len(self.seen) - 1, self.every)
        older = self.every * max(0, finished - (step == 0))  # at first a name may stand for the last one
        self.held = max(self.held, sum(node() is not None for node in self.nodes[:older]))
        after = self.w * state + x
        self.nodes += [weakref.ref(after._node)] if after._node is not None else []
        return after


def _check_pieces(answer, weight, start, inputs, every):
    cell = _Cell(weight, every)
    watched = lambda state, x: cell(state, x)  # noqa: E731
    expected = "the gradient of each piece by itself, in the `.grad` of the weights"
    first = tools.leaf(start) * 1 if every > 2 else tools.constant(start)  # another run may have made it
    kinds: list[tuple[bool, bool]] = []  # of the walks
    call = answer, (watched, first, list(inputs), every), expected, _NO_HISTORY, _SECOND_TIME
    given = observe.called_noting(kinds, *call)
    states = list(itertools.accumulate(inputs, lambda state, x: weight * state + x, initial=start))
    if not tools.same(np.array(cell.seen), np.array(states[:-1])):
        raise _wrong_states(cell, states, inputs)
    if cell.other:
        look = "how the history is taken away, and what is left then: a tensor, of which dtype and shape?"
        expected = f"a state that is a tensor of shape (), of {cell.w.dtype} here"
        raise Wrong("other-state", expected, cell.other, look=look)
    came = None if cell.w.grad is None else cell.w.grad.item()
    if came is None or not kit.close(came, _slope(weight, states, every)):
        raise _wrong_pieces(came, cell, states, expected, kinds)
    total, walks = sum(state**2 for state in states[1:]), len(range(0, len(inputs), every))
    _refuse_held_graphs(given, cell, total)
    if len(cell.walks) != walks:
        look = "where `backward` stands: once for each piece?"
        raise Wrong("other-walks", f"{walks} walks, one in each piece", f"{len(cell.walks)} for the weights", look=look)
    number = kit.a_number(given, "the total")
    if not kit.close(number, total):
        look = "what is added up, and when, and what you return"
        raise Wrong("other-total", f"the sum of all losses, {total:.7g}", f"{number:.7g}", look=look)
    if any(node() is not None for node in cell.nodes):
        gc.collect()  # what only a circle holds is no concern of this exercise
    if left := sum(node() is not None for node in cell.nodes):
        got, look = f"nodes of {left} steps are still there", "what else keeps them: a global name, an attribute?"
        raise Wrong("history-held", "no graph that is held when the run is over", got, look=look)


def _slope(weight, states, every):
    """The slope of the sum of squares for the weight, if the gradient ends after `every` steps."""
    slope, whole = 0.0, 0.0
    for i, state in enumerate(states[:-1]):
        slope = state + weight * (slope if i % every else 0.0)
        whole += 2 * states[i + 1] * slope
    return whole


def _wrong_states(cell, states, inputs):
    if len(cell.seen) != len(inputs):
        return Wrong("other-steps", f"{len(inputs)} calls", f"{len(cell.seen)}", look="how often `cell` is called")
    if cell.inputs != inputs:
        look = "what you give to `cell` beside the state: the inputs, in their order"
        return Wrong("other-inputs", f"the inputs {show(inputs)}", show(cell.inputs), look=look)
    why = "Each step goes on with the number that the step before has made. Only its history should end."
    look = "what you give to `cell`, and what becomes of the number of the state between two steps"
    return Wrong("state-lost", f"the states {tools.text(states[:-1])}", tools.text(cell.seen), why=why, look=look)


def _wrong_pieces(came, cell, states, expected, kinds):
    weight = cell.w.item()
    got = f"{came if came is None else format(came, '.7g')} instead of {_slope(weight, states, cell.every):.7g}"
    if came is None:
        look = "whether there are walks, where they start, and whether a way leads from there to the weights"
        return Wrong("no-gradient", expected, got, why="No gradient has arrived at the weights.", look=look)
    if kit.close(came, _slope(weight, states, len(states))):
        why = "This is the gradient through all pieces, back to the first step."
        kept = len(cell.walks) > 1 and tools.RETAINS in kinds
        why += " Later walks go back to the start, and the graphs have to be kept for it." if kept else ""
        look = "by which tensor a piece is connected to the one before"
        return Wrong("not-cut", expected, got, belief="M13" if kept else "", why=why, look=look)
    if kit.close(came, _slope(weight, states, 1)):
        why = "Every step is cut off from the one before, also inside of a piece."
        look = "how often the history ends: with each step, or with each piece"
        return Wrong("cut-everywhere", expected, got, why=why, look=look)
    look = "which losses go backward, how often, and through which steps: those of their own piece?"
    return Wrong("other-gradient", expected, got, look=look)


def _refuse_held_graphs(given, cell, total):
    if type(given) is mg.Tensor and given.requires_grad:
        expected, got = "a number, or an untracked tensor", show(given)
        left = graphs.reaches(given, cell.w)
        why = f"What you return is a result: it has a node, and behind it is a graph{' of a piece' if left else ''}."
        why = "What you return is a tracked leaf." if given.is_leaf else why
        look = "what you return, and what it is made from: is it tracked?"
        is_total = left and given.grad_fn.op_name == "add" and kit.close(given.sum().item(), total)
        raise Wrong("history-returned", expected, got, belief="M28" if is_total else "", why=why, look=look)
    if cell.held:
        expected = "the graphs of finished pieces are gone"
        got = f"nodes of {cell.held} old steps were still there during the run"
        why = "Something in your function holds on to the graph of a piece while later ones run."
        look = "what goes from piece to piece: the total, a loss, a list, the old state by another name?"
        look = "what your backward is told: `create_graph` keeps graphs" if cell.w.grad.requires_grad else look
        raise Wrong("history-held", expected, got, why=why, look=look)


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "A switch that learns",
    kind="write",
    points=3,
    off={"result dtype": "the text asks for no less precision: more is right, and less is told below"},
    beliefs=("M18",),
    hints=(
        "Section 2 has a function with the values of one thing and the slopes of another.",
        "Make both first: the soft one has the slopes, the hard one has the values. `(x > 0).float()` is hard.",
        "The soft one stays in the graph. What has to be added to it, to get the value of the hard one, is a constant.",
    ),
    idea="`soft = x.sigmoid()`, `hard = (x > 0).float()`, and `return soft + (hard - soft).detach()`. In the value, "
    "`soft` cancels; for the gradient, the parentheses are a constant.",
)
def switch(answer):
    kit.a_function(answer)
    for values in _SWITCHED:
        _check_switch(answer, tools.leaf(values), "the values of the switch")
    why = "Here `x` is not tracked. The switch has the same values there, and no slopes to care for."
    raises = tools.Reason("Error: ", "untracked-input", why, "what needs an `x` with a history")
    x = tools.constant([2.0, -1.0])
    y = tools.result(tools.called(answer, (x,), "the values [1.0, 0.0]", raises))
    tools.refuse_other_values(y, [1.0, 0.0], "the values for an `x` that is not tracked", "what relies on a history")
    _refuse_less_precise(y, x)
    if y.requires_grad and not x.requires_grad:
        look = "each tensor that your function makes itself, and asks for gradients"
        raise Wrong("tracked", "a result that is not tracked, as `x` is not", show(y), look=look)
    x = tools.leaf([0.5, -1.0])
    for _ in range(2):
        _check_switch(answer, x, "the values for what is in `x` now, whatever was there in an earlier call")
        x.grad = None
        with mg.no_grad():
            x += 1.5
    return "A hard switch going forward, a soft one going back: a constant corrects the value."


_SWITCHED: tuple = ([1.5, -0.5, 0.25], [-3.0, 2.0], [5.0, -6.0], [0.0, 1e-9, -1e-9, 1e-30, -1e-30], 0.5, [], [-0.5])
_SWITCHED += ([[2.0, -1.0], [0.0, 30.0]], [800.0, -30.0, 9.0, -12.0, 1e30])


def _check_switch(answer, x, what):
    numbers = tools.array(x)
    hard, soft = (numbers > 0).astype(float), np.exp(-np.logaddexp(0, -numbers))
    given = x * 1 if x.shape == (1,) else x  # a result is tracked, too
    y = tools.result(tools.called(answer, (given,), "a tensor with the shape of `x`", _NUMPY))
    if not tools.same(hard, soft) and tools.same(tools.array(y), soft):
        why = "These are the values of the sigmoid. The slopes may be soft, the values are 0 and 1."
        look = "what has to be added to get the hard values"
        raise Wrong("soft-values", f"the values {hard.tolist()}", show(y), why=why, look=look)
    look = "the values alone, 1 where `x` is positive, else 0, and their shape: that of `x`"
    tools.refuse_other_values(y, hard, what, look)
    if not y.requires_grad or not graphs.reaches(y, x):
        expected = f"a result that leads back to `x`{'' if given is x else ', which is a result itself'}"
        why = "The values are right, and no way leads to `x`: no slope comes to it."
        look = "which part of the result is to have slopes, and where its way back ends: `detach()`, a block, numbers?"
        raise Wrong("no-way", expected, show(y), why=why, look=look)
    _refuse_less_precise(y, x)
    if x.grad is not None:
        raise tools.filled("an `x` that has no `.grad` yet", f"{tools.text(tools.array(x.grad))} in `x.grad`")
    came, slopes = tools.slopes(y, x), soft * (1 - soft)
    if not x.requires_grad:
        return  # which is told as what it is
    if came is None or not tools.same(came, slopes):
        if x.grad is not None and tools.same(tools.array(x.grad), slopes):
            expected, got = "the slopes, each times what comes in", f"{tools.text(slopes)}, whatever came in"
            look = "what your `backward`, or a hook, does with the gradient that it gets"
            raise Wrong("incoming-ignored", expected, got, look=look)
        if came is None:
            raise Wrong("no-slopes", "slopes in `x.grad`", "None", look="what each `backward` or hook gives")
        by_sigmoid = y.grad_fn.name() == "SigmoidBackward0"
        raise _wrong_slopes(came, slopes, observe.uncounted(answer, tools.leaf(numbers)) if by_sigmoid else "")


def _refuse_less_precise(y, x):
    if y.dtype not in (x.dtype, mg.float64):
        why = "The text asks for no less precision than `x` has, tracked or not."
        look = "the dtype of each tensor on the way: `.float()` gives float32, a comparison bool"
        raise Wrong("rounded", f"a result as exact as `x`, of {x.dtype}", f"one of {y.dtype}", why=why, look=look)


def _wrong_slopes(came, slopes, overwritten):
    expected, got = f"the slopes {tools.text(slopes)}: {tools.FACTORS}", f"{tools.text(came)}"
    if tools.same(came, -slopes):
        why = "The sign is the other one, as if the sigmoid that is left in the graph were the one with the minus."
        look = "which part is detached, and which is not; in a Function, the formula of its `backward`"
        return Wrong("sign", expected, got, why=why, look=look)
    if overwritten:
        way, belief = ("by `.data`", "M18") if overwritten == "data" else ("through NumPy", "")
        why = f"The sigmoid makes its slopes from the result that it has saved, and yours was overwritten {way}."
        look = "what is changed in place after the sigmoid"
        return Wrong("overwritten", expected, got, belief=belief, why=why, look=look)
    if np.abs(came).max() < 1e-9:
        why = "All slopes are 0, or nearly. Perhaps the sigmoid cancels out, is flat here, or was overwritten."
        look = "what is detached, and what is not; in a Function, the formula of its `backward`"
        return Wrong("zero-slopes", expected, got, why=why, look=look)
    if tools.same(came, np.ones_like(came)):
        why = "These are the slopes of `x` itself."
        look = "which tensor stays in the graph, for its slopes come; in a Function, the formula of its `backward`"
        return Wrong("slopes-of-x", expected, got, why=why, look=look)
    look = "what stays in the graph, and what it does with the gradient that comes in"
    return Wrong("other-slopes", expected, got, look=look)


show_target = _targets.show

chapter.lock()
