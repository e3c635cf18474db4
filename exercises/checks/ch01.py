"""The checks of chapter 01, "Who gets tracked?"."""

from __future__ import annotations

import itertools
import math

import numpy as np

import minigrad as mg
from exercises.checks import graphs, kit, observe, tools
from exercises.checks.adversaries import hooks, text
from exercises.checks.kit import Wrong, call, show
from exercises.checks.targets import Targets, side_by_side

chapter = kit.Chapter(__name__, "01", "Who gets tracked?")


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Ask for gradients",
    kind="write",
    points=1,
    beliefs=("M01", "M27b"),
    hints=(
        "Three ways to ask: `requires_grad=True` when it is made, `.requires_grad_()`, or setting `.requires_grad`.",
        "Call your function with `[1, 2]`. What is the dtype of `mg.tensor([1, 2])`?",
        "`mg.tensor(values, dtype=mg.float32)` makes floats of whole numbers, too.",
    ),
    idea="`mg.tensor(values, dtype=mg.float32, requires_grad=True)`: floats first, then the flag, "
    "and no operation after it, because the result of an operation is another tensor.",
)
def tracked(answer):
    kit.a_function(answer)
    for values in ([0.5, -2.0], [3, 1, 4], [7], [2, 0, 0.1234567, 2]):
        _check_tracked(answer, values)
    return "Only floats can change a little, so only they can have a gradient. You asked on the leaf."


_INTS = tools.reasons("""
asked-for-ints: dtype can require gradients (M27b)
    What is no float, as a whole number, cannot change a little and has no gradient. Make a float of it first.
    look: the dtype at the moment when the flag is set
""")


def _check_tracked(answer, values):
    given = tools.called(answer, (list(values),), f"a tracked tensor for `{values}`", *_INTS)
    tools.result(given)
    if not given.requires_grad:
        why = "What you return is not tracked, whatever was asked on the way."
        look = "`requires_grad` of your result"
        raise Wrong("not-asked", "a tensor with `requires_grad` True", show(given), why=why, look=look)
    if not given.is_leaf:
        why = "What you return is the result of an operation on a tensor that required grad, and so no leaf."
        belief, look = "" if given.retains_grad else "M01", "each operation after the flag was set"
        raise Wrong("asked-then-computed", "a leaf, `is_leaf` True", show(given), belief=belief, why=why, look=look)
    if not kit.same_values(given, values):
        look = "what your function does with its argument: the numbers, their shape and their dtype"
        raise Wrong("other-values", f"the values {values}", text(tools.array(given)), look=look)
    if given.is_inference():
        expected, look = "one that may be saved for backward()", "in which mode it is made"
        why = "An operation that has to save it for backward(), as `t * t`, refuses it."
        raise Wrong("inference", expected, "an inference tensor", why=why, look=look)
    if given.grad is not None:
        return  # which is told as what it is (see `adversaries`)
    tools.walk(lambda: (given * given).sum().backward())
    if given.grad is None or not kit.same_values(given.grad, 2 * np.array(values)):
        expected = "twice its values in `.grad` after `(t * t).sum().backward()`, for a result `t`"
        look = "what your function leaves on the tensor, such as a hook"
        raise Wrong("other-grad", expected, show(given.grad), look=look)


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Follow the flag",
    kind="predict",
    points=2,
    hints=(
        "Only `x` was asked for. Mark every tensor that has `x` somewhere behind it.",
        "One tracked input is enough. It does not matter how many others are not tracked.",
        "The flag goes from inputs to results, never back: using `k` does not change `k`.",
    ),
    idea="A result requires grad if at least one of its inputs does. `b`, `c` and `e` come from "
    "`x`; `k`, `a` and `d` do not.",
)
def spread(answer):
    truth = {"k": False, "a": False, "b": True, "c": True, "d": False, "e": True}
    kit.predicted(answer, truth, _SPREAD, "True or False")
    return "In arithmetic a result requires grad when at least one of its inputs does; nothing spreads backwards."


_SPREAD = kit.patterns("""
leaf-for-flag: k=True, a=True, b=False, c=False, d=True, e=False
    For this program these six are what `is_leaf` says. Asked for is `requires_grad`.
    look: `b.is_leaf` and `b.requires_grad`, one after the other
everything-tracked: a=True, d=True
    Behind `a` and `d` there is only `k`, and the text does not ask for its gradient.
    look: whether `x` is somewhere behind `a`, and the line that makes `k`
only-who-asked: b=False, c=False, e=False
    You ask once, on `x`. What is computed from it while autograd is recording is tracked without being asked.
    look: `(x * k).requires_grad` in a cell of its own
all-inputs-needed: b=False, e=True
    One tracked input is enough. Whether `k` is tracked, too, makes no difference.
    look: `b` and `e`: what differs in their inputs?
one-step-only: b=True, c=False
    The flag does not fade. `c` comes from `b`, and `b` requires grad.
    look: the inputs of `c`, one by one
spreads-back: k=True
    The flag goes from inputs to results. Being multiplied by `x` does not change `k`.
    look: `k.requires_grad` after the line that makes `b`
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Find the leaves",
    kind="predict",
    points=2,
    beliefs=("M02",),
    hints=(
        "A leaf has no history: its `grad_fn` is None.",
        "Two kinds of tensor have no history: those you made, and all that are not tracked.",
        "Ask of each line: was an operation recorded to make this tensor?",
    ),
    idea="Only `y` and `v` were made by a recorded operation. Everything else has `grad_fn` None "
    "and is a leaf: `x`, `k`, `m`, and `w`, which was asked for after its operation.",
)
def leaves(answer):
    truth = {"x": True, "k": True, "m": True, "y": False, "v": False, "w": True}
    kit.predicted(answer, truth, _LEAVES, "True or False")
    return "A leaf is a tensor without history. Results that nobody tracks have none either."


_LEAVES = kit.patterns("""
other-way-round: x=False, k=False, m=False, y=True, v=True, w=False
    `True` stands for a leaf. No operation made `x`, so it is one.
    look: what `True` stands for here, and `x.is_leaf`
result-never-leaf: m=False, w=False, x=True, k=True, y=False, v=False (M02)
    `k * 2` is not recorded, because `k` is not tracked. So `m` has no history: it is a leaf.
    look: `m.grad_fn`
leaf-means-tracked: k=False, m=False
    Leaf says nothing about tracking. A tensor that is not tracked has no history: a leaf.
    look: `k.is_leaf` and `k.requires_grad`, one after the other
asked-so-leaf: v=True, y=False
    In the text the flag is set on `mg.ones(2)`, before `* 2` runs: so this operation is recorded, and `v` is its
    result.
    look: the line that makes `v`: what runs first?, and `v.grad_fn`
tracked-means-leaf: y=True, v=True
    In the text `y` and `v` are computed from tracked tensors while autograd is recording. They have a history, so they
    are no leaves.
    look: `y.grad_fn` and `x.grad_fn`, where the text runs as it stands
asked-too-late: w=False, m=True
    In the text `* 2` runs first, on a tensor that is not tracked, so it is not recorded. The flag of `w` comes after.
    look: the line of `w` in the text: what is inside the brackets, and what comes after them
untracked-result: m=False
    `k * 2` is not recorded, because `k` is not tracked. So `m` has no history: it is a leaf.
    look: `m.grad_fn`
untracked-no-leaf: k=False
    No operation made `k`, so it has no history. A leaf need not be tracked.
    look: `k.grad_fn`
tracked-no-leaf: x=False
    No operation made `x`, so it has no history. Being asked for a gradient changes nothing in that.
    look: `x.grad_fn`
tracked-result: y=True
    `x` is tracked, so the multiplication that made `y` was recorded. `y` has a history.
    look: `y.grad_fn`
tracked-product: v=True
    `v` is the result of multiplying a tracked tensor by 2. That was recorded.
    look: `v.grad_fn`
""")


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Before and after backward()",
    kind="predict",
    points=2,
    beliefs=("M03", "M35"),
    hints=(
        "`.grad` is None until a backward pass writes into it.",
        "backward() writes into leaves that were asked for. How many of those are there?",
        "`z` is `4 * x * x`. What is its slope at 3?",
    ),
    idea="`before` is None. After it, only the leaf `x` that requires grad has a `.grad`: `8 * 3 "
    "= 24`. `y` is no leaf and `k` was never asked for, so theirs are None.",
)
def before_after(answer):
    truth = {"before": None, "x.grad": 24.0, "y.grad": None, "k.grad": None}
    looks = {
        "before": "the order of the lines: when does backward() run? And what is a `.grad` before that?",
        "x.grad": "the derivative of `4 * x * x`, and how often the program goes backward",
        "y.grad": "`y.is_leaf`",
        "k.grad": "`k.requires_grad`",
    }
    kit.predicted(answer, truth, _BEFORE_AFTER, "a number or None", looks)
    return "backward() fills `.grad` of the tracked leaves that it reaches. Here it stays None elsewhere."


_BEFORE_AFTER = kit.patterns("""
zero-before: before=0 (M35)
    Before backward() there is no gradient at all, not even a zero: `.grad` is None.
    look: `x.grad` of a new tensor
grad-before: before=24
    `before` holds what `x.grad` was when its line ran. Gradients are computed by backward().
    look: the order of the lines
none-on-the-leaf: x.grad=None
    `x` was asked for, and `z` was made from it. backward() writes its slope into `x.grad`.
    look: the line `z.backward()`: where does it write?
grad-on-the-way: y.grad=3 (M03)
    3 is indeed dz/dy, and it passes through `y`. But a result keeps it only if it is asked to, and in the text
    `y` is not.
    look: `y.is_leaf`, and whether the text calls `y.retain_grad()`
constant-has-grad: k.grad=9
    Nobody asked for the gradient of `k`, so there is no edge that leads to it.
    look: `k.requires_grad`
constant-has-zero: k.grad=0
    Not asked for and zero are two things. What was not asked for is None.
    look: `k.requires_grad`
one-path: x.grad=12
    `x` reaches `z` twice: directly, and through `y`. Both ways count, 12 each.
    look: each `x` on the right-hand sides
value-not-slope: x.grad=36
    36 is `z` itself. The gradient says how fast `z` grows with `x`.
    look: the derivative of `4 * x * x`
""")


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Which lines raise?",
    kind="predict",
    points=2,
    beliefs=("M27", "M27b"),
    hints=(
        "Two things have no gradient: whole numbers, and numbers that have left the graph.",
        "`.item()` of one number always works: it gives a plain Python number, which knows nothing of `x`.",
        "Whole numbers may take part as constants. They just cannot be asked for a gradient.",
    ),
    idea="`A`, `B` and `D` raise. `A`: integers cannot require grad. `B`: NumPy would lose the history, so you must "
    "detach first. `D`: the new tensor has no history for backward() to follow.",
)
def which_raise(answer):
    truth = {"A": True, "B": True, "C": False, "D": True, "E": False}
    kit.predicted(answer, truth, _RAISE, "True (it raises) or False (it does not)")
    return "The graph ends where a number leaves it: in `.item()`, in NumPy, in an integer."


_RAISE = kit.patterns("""
other-way-round: A=False, B=False, C=True, D=False, E=True
    `True` stands for a line that raises. With A it is the case: integers cannot require grad.
    look: what `True` stands for here, and line A in a cell of its own
none-raises: A=False, B=False, C=False, D=False, E=False
    In the text `n` holds integers. They cannot change a little, so they cannot require grad.
    look: line A in a cell of its own
first-only: A=True, B=False, C=False, D=False, E=False
    Each line is thought of alone: an error in A says nothing about the others.
    look: line B in a cell of its own, right after the first two lines
ints-can-ask: A=False (M27b)
    In the text `n` holds integers. They cannot change a little, so they cannot require grad.
    look: the line that makes `n`, `n.dtype`, and what line A does in a cell of its own
item-connected: D=False, B=False, C=False (M27)
    `.item()` gives a plain number. The tensor made from it is new: it has no history that backward() could follow.
    look: `mg.tensor(x.sum().item()).requires_grad`
untracked-backward: D=False, C=False
    The tensor made from a plain number has no history and is not tracked. backward() from such a tensor raises.
    look: `mg.tensor(x.sum().item()).requires_grad`, and line D in a cell of its own
numpy-allowed: B=False
    NumPy records nothing, so the way back to `x` would be lost without a word. While autograd is recording, it is
    refused instead.
    look: `x.numpy()` in a cell of its own: what does its message propose?
item-refused: C=True
    Taking the number out is allowed. It is only a number after that.
    look: what `x.sum().item()` gives, in a cell of its own
ints-refused: E=True
    `n` is a constant here. Nobody asks for its gradient, so integers are fine.
    look: the dtype of `x * n`
""")


# --- 6 -------------------------------------------------------------------------------------------


def _constants():
    x = mg.tensor(2.0, requires_grad=True)
    k = mg.tensor(5.0)
    return 3 * x + k, {"x": x, "k": k}


@chapter.exercise(
    "Build this graph: constants",
    kind="build",
    points=2,
    beliefs=("M01",),
    hints=(
        "Start at the leaf, on top, and read downwards, against the arrows: which operation comes first?",
        "There is one leaf that requires grad. Everything else leads nowhere: numbers and constants.",
        "First multiply `x` by a number, then add a tensor that is not tracked.",
    ),
    idea="`x = mg.tensor(2.0, requires_grad=True)`, `k = mg.tensor(5.0)`, `with_constants = 3 * x + k`. A "
    "constant takes part in the value and has no edge.",
)
def constants(answer):
    y = kit.a_tensor(answer, "`with_constants`")
    asks = all(leaf.requires_grad for leaf in graphs.leaves(y))
    _targets.refuse_other(y, "with_constants", tools.other_graph(y, "with_constants", _CONSTANTS, asks=asks))
    return "The constants changed the value and got no edge: nobody asked for their gradients."


_CONSTANTS = kit.patterns("""
constant-tracked: one_leaf=False
    Your graph has {leaves} leaves, and the picture has one. A constant does not have to be asked for to take part.
    look: which tensors you asked for gradients
flag-taken-back: asks=False
    The operations were recorded, but the leaf that they lead to does not require grad any more.
    look: what becomes of `requires_grad` of the leaf after the first operation
other-order: operations=add mul, root=mul
    The operations are right and their order is not. The last one is at the root.
    look: which of the two operations comes first after the leaf
result-twice: operations=add mul, ways=1
    The operations are right, but they are joined in another way: a result is used twice.
    look: what the addition adds to the product
multiplied-by-itself: operations=add mul, squares=True
    In your graph {ways} arrows lead to the leaf, in the picture one.
    look: what `x` is multiplied by: a number, or a tensor that is not tracked, has no arrow
used-twice: operations=add mul
    In your graph {ways} arrows lead to the leaf, in the picture one.
    look: what is added to the product: a tensor that is not tracked has no arrow
other-operations: else
    Your graph has other operations than the picture, or another number of them. There it is one add and one mul.
    look: the name in each box of the picture
""")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A slope machine",
    kind="write",
    points=3,
    off={
        "digits": "a tensor of a Python number has the usual float",
        "result dtype": "`x` is a number",
        "grad": "a `backward()` also adds to that of the leaves that `f` uses",
    },
    beliefs=("M03", "M08", "M27b"),
    hints=(
        "Four steps: make a tensor that asks, put it into `f`, call backward(), read `.grad`.",
        "backward() returns None. The slope is on the tensor you made.",
        "`x` may be an int, such as 2. Make the tensor with a float dtype.",
    ),
    idea="`t = mg.tensor(float(x), requires_grad=True)`, then `f(t).backward()`, then "
    "`t.grad.item()`. The function `f` can be anything: autograd records what it does.",
)
def slope(answer):
    kit.a_function(answer)
    for f, x, value, right in _SLOPES:
        _check_slope(answer, f, x, value, right)
    _refuse_cleared(answer)
    return "One recipe for every function: ask, compute, backward, read. `x² eˣ` was among the tests."


_SLOPES = (
    (lambda x: x * x * x.exp(), 1.5, 1.5**2 * math.exp(1.5), (2 * 1.5 + 1.5**2) * math.exp(1.5)),
    (lambda x: x.exp() - 5 * x - 9, -0.5, math.exp(-0.5) - 6.5, math.exp(-0.5) - 5),
    (lambda x: (x * x * x).reshape(1), 2, 8.0, 12.0),
    (lambda x: 1e-3 * x * x, 2, 0.004, 0.004),
    (lambda x: x * x + x + 2, 0, 2.0, 1.0),
    (lambda x: x * x - x, 0.5, -0.25, 0.0),
)


def _refuse_cleared(answer):
    leaves = w, v = [mg.tensor(2.0, requires_grad=True) for _ in range(2)]
    for leaf in leaves:
        leaf.grad = mg.tensor(10_000.0)
    call(answer, lambda t: w * (v * t * t), 3)
    for leaf in leaves:
        if leaf.grad is None or leaf.grad.item() < 5000:  # backward() adds 18, or -18 where it starts at `-f(t)`
            expected = "a leaf that `f` uses has 10000 in its `.grad`, and keeps them: backward() may only add to it"
            look = "each line that sets or clears a `.grad`"
            raise Wrong("old-grad-lost", expected, show(leaf.grad), look=look)


def _watched(f, x, tensors, facts):
    """`f`, which notes what it is given, what is true of that at the moment, and the walks back to each call."""

    def watched(t):
        facts["called"] = True
        facts["plain"] |= not isinstance(t, mg.Tensor)
        t = t if isinstance(t, mg.Tensor) else tools.constant(float(t))
        tensors.append(t)
        facts["asked"] |= t.requires_grad or type(t) is not mg.Tensor  # a dual tensor is asked otherwise
        facts["here" if kit.same_values(t.sum(), x, 1e-12) else "elsewhere"] = True
        facts["old"] += [t.grad.sum().item()] if t.is_leaf and t.grad is not None else []
        y = f(t)
        if isinstance(y, mg.Tensor) and y.requires_grad:
            facts["walks"].append([])
            y.register_hook(facts["walks"][-1].append)  # backward() calls it, and so does grad()
        return y

    return watched


def _check_slope(answer, f, x, value, right):
    tensors, facts = [], dict.fromkeys(("called", "plain", "asked", "here", "elsewhere"), False)
    facts |= {"walks": [], "old": []}
    expected = f"a number, the slope at {x}"
    try:
        given = tools.called(answer, (_watched(f, x, tensors, facts), x), expected, *_INTS)
        came, got = "nothing" if given is None else "number", show(given)
    except Wrong as wrong:
        got = wrong.verdict.got
        error = got.partition("  (your line")[0]
        came = next((one for one in _SLOPE_ERRORS if one in error and error.startswith(_SLOPE_ERRORS[one])), "")
        if not came or (came == "does not require grad" and facts["asked"]):
            raise
    grads = [t.grad.sum().item() for t in tensors if t.is_leaf and t.grad is not None]
    facts |= {"through": any(facts["walks"]), "walked": any(facts["walks"]) or bool(grads)}
    if came == "number":
        number = kit.a_number(given)
        is_right = kit.close(number, right)
        if is_right and (facts["walked"] or (facts["called"] and not facts["elsewhere"])):  # forward mode has no walk
            return
        expected = f"the slope at {x}, by autograd" if is_right else f"another number, the slope at {x}"
        got = f"{number:.7g}"
        olds = facts["old"] + [right * (len(one) - 1) for one in facts["walks"]]
        added = any(not kit.close(old, 0) and kit.close(number, right + old) for old in olds)
        facts |= {"added": added and any(kit.close(number, grad) for grad in grads), "one": kit.close(number, 1)}
        facts |= {"in_grad": any(kit.close(grad, right) for grad in grads), "is_value": kit.close(number, value)}
    else:
        facts["read"] = observe.none_read(answer, f, x)
        facts["leaf_in"] = all(t.is_leaf for t in tensors)
    facts |= {"came": came, "zero": not right, "returns": not kit.returns_nothing(answer)}
    facts |= {"asked_since": any(t.requires_grad for t in tensors)}
    raise tools.told(_SLOPE, facts, expected, got)


_SLOPE_ERRORS = {"element 0": "Runtime", "does not require grad": "Runtime", "NoneType": ("Attribute", "Type")}
_SLOPE = kit.patterns("""
none-for-zero: came=nothing, zero=True
    It was a number for other functions. A slope of 0 is one, too: None would say that there is none.
    look: each `or` and `if` on the way to `return`
none: came=nothing, returns=False
    look: what each `return` gives back: is one missing?
f-not-used: called=False
    In this call your function did not call `f`, so what comes of it cannot depend on this one.
    look: where `f` is used, and what leads past it: an `if`, an `except`, a value that is kept
nudged: came=number, elsewhere=True, walked=False
    `f` was called at another number than `x`, and no backward pass came through it. A difference of values gives the
    slope nearly. Autograd gives it exactly, with one call.
    look: how you get from `f` to the slope
slope-of-itself: one=True
    1 is also the slope of a tensor with respect to itself, whatever `f` is.
    look: from which tensor you go backward, and whose `.grad` you return
f-never-saw: asked=False, asked_since=False, plain=True
    `f` was given something that is no tensor. If you asked on a tensor, it is one that `f` never saw.
    look: what stands between the brackets of `f(...)`
asked-too-late: asked=False, asked_since=True
    You asked after `f` had run. The flag is read when an operation runs.
    look: the order of the lines
never-asked: asked=False
    The tensor that went into `f` was not asked for, so nothing was recorded.
    look: the line that makes what goes into `f`
way-back-cut: came=element 0
    What went into `f` was asked for. But what you go backward from does not lead there.
    look: where `f` runs, and what you do between `f` and backward()
no-backward: through=False, read=leaf or through=False, read=result
    `.grad` is None until a backward pass writes into it, and none has come through `f`.
    look: whether backward() is called, on what, and before `.grad` is read
input-is-a-result: read=result, leaf_in=False
    What went into `f` is the result of an operation on a tensor that required grad. It keeps no `.grad`, unless it is
    told to.
    look: `is_leaf` of what goes into `f`, and each operation after the flag was set
grad-on-the-way: read=result (M03)
    The `.grad` of a result was read. It keeps none, unless it is told to. backward() writes into that of the leaf.
    look: `is_leaf` of the tensor whose `.grad` you read
none-after-backward: read=leaf
    A backward pass came through `f`. But the `.grad` that you read was None at that moment.
    look: whose `.grad` it is, when it is read, what clears it, and whether that pass writes into a `.grad` at all
returned-none: came=nothing or came=NoneType
    Something is None, as what backward() returns is. It leaves the slope in `.grad` of the leaf.
    look: what is None here, and which object holds the slope
old-gradient: added=True (M08)
    backward() adds to what is in `.grad`. Here it was not empty when the last pass came.
    look: whether each call makes a new tensor, and calls backward() once
value-not-slope: is_value=True
    That is `f(x)` itself, not how fast it grows.
    look: what you return
not-the-grad: in_grad=True
    `.grad` of the tensor that went into `f` holds the slope. What you return is another number.
    look: what you return
other-slope: here=False
    look: what `f` is given: is it `x`?
other-slope: else
    look: the dtype of what goes into `f`, and each step to what you return, for several `f`, such as
    `lambda x: x * x * x.exp()`
""")


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Repair the lost history",
    kind="fix",
    points=2,
    beliefs=("M01", "M27"),
    hints=(
        "Print `total` after each round. When does it stop being a tensor with a `grad_fn`?",
        "`.item()` gives a plain number. Nothing that is computed from it leads back to `w`.",
        "Keep `total` a tensor from the first addition on, and return it as it is.",
    ),
    idea="Leave out `.item()` and the new tensor at the end: `total = total + error` and `return "
    "total`. A flag set at the end makes a new leaf, not a way back to `w`.",
)
def squared_errors(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_SQUARED_ERRORS)
    for start, data in ((0.5, [1.0, 4.0]), (-1.0, [3.3, 0.5, 1.5]), (0.7, [2.1, 1.0, 0.0, -2.5, 1.0])):
        _check_squared_errors(answer, start, data)
    return "The sum stayed a tensor all the way, so backward() found the way from the loss to `w`."


_GIVEN_SQUARED_ERRORS = """
def squared_errors(w, data):
    total = 0.0
    for value in data:
        error = (w * value - 1.0) ** 2
        total = total + error.item()
    return mg.tensor(total, requires_grad=True)
"""


def _check_squared_errors(answer, start, data):
    w = tools.leaf(start)
    given = call(answer, w, list(data))
    right = sum((start * value - 1) ** 2 for value in data)
    belief = lambda: "M27" * observe.takes_numbers(answer, tools.leaf(start), list(data))  # noqa: E731
    if w.grad is not None:
        raise tools.filled("the sum, before any backward()", f"{show(given)}, and `w.grad` is filled already")
    if type(given) in (int, float) or isinstance(given, np.generic):
        expected, got = "a tensor that leads back to `w`", show(given)
        why = "A plain number has no history. There is nothing that backward() could follow."
        look = "where `w` goes: which results are tensors, and which are plain numbers"
        raise Wrong("plain-number", expected, got, belief=belief(), why=why, look=look)
    total, look = tools.result(given), "the result: is it one number, the sum of the squares of all errors?"
    tools.refuse_other_values(total, right, "the sum", look)
    if not graphs.reaches(total, w):
        raise _no_way_to_w(total, belief)
    tools.walk(total.backward)
    slope = sum(2 * value * (start * value - 1) for value in data)
    expected, got = f"`w.grad` is {slope:.7g} after backward()", f"`w.grad` is {show(w.grad)}"
    look = "each way from the result to `w`: what cuts it off, or changes gradients on it"
    if w.grad is None:
        raise Wrong("no-grad-after", expected, got, look=look)
    if not kit.close(w.grad.item(), slope):
        taken = observe.takes_numbers(answer, tools.leaf(start), list(data))
        seen = "numbers were taken out of tracked tensors, and from these no way leads back"
        why = (
            f"The value is right, and the gradient is not: {seen if taken else 'parts are missing, or others came in'}."
        )
        raise Wrong("part-of-the-history", expected, got, why=why, look=look)


def _no_way_to_w(total, belief):
    expected, came = "a result that leads back to `w`", show(total)
    if total.requires_grad and total.grad_fn is None:
        why = "The result is a leaf: the flag gives it no history. backward() from it finds no way to `w`."
        of_flags = "" if hooks(total) else "M01"
        return Wrong("flag-at-the-end", expected, came, belief=of_flags, why=why, look="`grad_fn` of the result")
    if graphs.leaves(total):
        look = "each tensor that you ask for gradients, and what it is made from"
        return Wrong("another-leaf", expected, came, why="It leads back, but not to `w`.", look=look)
    why = "The result has no history: it is detached, or made under no_grad, or of numbers and untracked tensors alone."
    look = "`grad_fn` of each result on the way: where does the history end?"
    return Wrong("no-history", expected, came, belief=belief(), why=why, look=look)


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut this edge",
    kind="cut",
    points=2,
    hints=(
        "An edge leads to a tensor only if that tensor requires grad when the operation runs.",
        "You need a tensor with the value of `x` that nobody asked for.",
        "`x.detach()` is such a tensor. Leave `x` itself as it is.",
    ),
    idea="`w * x.detach() + b`: the detached tensor has the value of `x` and no history. For one "
    "number, `x.item()` does the same. The value is the same; the way back to `x` is gone.",
)
def cut(answer):
    kit.a_function(answer)
    several = ((3.0, 2.0, 1.0), (-0.5, 4.0, 7.0), (1.1, 0.3456789, 0.7), (2.0, 0.0, 3.0))
    for numbers, with_grads in zip(several * 2, itertools.product((False, True), repeat=3), strict=True):
        leaves = [tools.leaf(number) for number in numbers]
        for inputs in (leaves, [leaf * 1 for leaf in leaves]):  # a result is a tensor that requires grad, too
            for tensor in itertools.compress(inputs, with_grads):
                tools.with_gradient(tensor)
            given = tools.called(answer, tuple(inputs), "a tensor with the value of `w * x + b`", *_CUT_ERRORS)
            _check_cut(tools.result(given), inputs, *leaves)
    return "The value is the same, and there is no way to `x`: what you multiplied `w` by is not tracked."


_CUT_ERRORS = tools.FLAG_OF_A_RESULT + tools.reasons("""
numpy-refused: numpy() on Tensor that requires grad
    NumPy records nothing, so a tensor that requires grad must be detached first. Then it is cut already.
    look: the last sentence of the message: what it proposes
""")


def _check_cut(y, inputs, w, x, b):
    names = {"w": w, "x": x, "b": b}
    for (name, leaf), given in zip(names.items(), inputs, strict=True):
        if not given.requires_grad or (given.is_leaf and given is not leaf):
            why = "Its flag or its history is gone for all who use the tensor, not only here."
            look = "how to use the value of a tensor, and leave the tensor alone"
            raise Wrong("input-changed", f"`{name}` as it was", f"`{name}` is {show(given)}", why=why, look=look)
    look = "the value and its shape: only the edge should go"
    tools.refuse_other_values(y, (w * x + b).item(), "the value of `w * x + b`", look)
    found = graphs.leaves(y)
    reached = [name for name, tensor in names.items() if any(leaf is tensor for leaf in found)]
    if reached != ["w", "b"] or len(found) > 2:
        raise _wrong_cut(y, reached, len(found) - len(reached), inputs, names)
    came = [gradient.item() for gradient in tools.walk(mg.autograd.grad, y, (w, b))]
    if not all(map(kit.close, came, (x.item(), 1.0))):
        expected, got = (f"slopes by `w` and `b` of {w:.7g} and {b:.7g}" for w, b in ((x.item(), 1), came))
        raise Wrong("other-gradient", expected, got, look="what `w` and `b` go into, and each hook")


def _wrong_cut(y, reached, new, inputs, names):
    w, x, b = inputs
    ways = [f"`{name}`" for name in reached] + ["another leaf" if new == 1 else f"{new} other leaves"] * bool(new)
    gone = tools.listed([f"the edge to `{name}`" for name in ("w", "b") if name not in reached])
    got = f"ways to {tools.listed(ways)}" if ways else "no way to any of them"
    wrong = tools.told(_CUT, {"reached": "".join(reached), "gone": gone}, "ways to `w` and `b`, none to `x`", got)
    wrong.verdict.picture = side_by_side(y, w * x.detach() + b, names, names, names=True)
    return wrong


_CUT = kit.patterns("""
new-leaf: reached=wb
    There is no edge to `x`. But there is a way to a leaf that is none of the three.
    look: the flag of each tensor that you make
still-there: reached=wxb
    `x` still takes part as a tracked tensor, so its edge was recorded.
    look: each operation that `x` goes into, by this name or another
b-cut-too: reached=w
    The edge to `b` is gone, too.
    look: what becomes of `b`: does it go in as it is?
cut-too-high: reached=b
    The edge to `w` is gone, too.
    look: what is cut off: is it `x` alone?
other-edge: reached=x or reached=wx or reached=xb
    What is gone is {gone}. The edge to cut is the one to `x`.
    look: which tensor you cut off
all-cut: else
    The edges to `w` and `b` are gone, too.
    look: what leaves the graph
""")


# --- 10 ------------------------------------------------------------------------------------------


def _diamond():
    x = mg.tensor(2.0, requires_grad=True)
    return (x * 3) * x.exp(), {"x": x}


@chapter.exercise(
    "Build this graph: the diamond",
    kind="build",
    points=2,
    beliefs=("M01",),
    hints=(
        "Count the leaves first: how many blue ovals? Start there, on top, and read downwards, against the arrows.",
        "Two operations use the same `x`. Give each result a name, then join them.",
        "One branch multiplies `x` by a number, the other is `x.exp()`. The root is a multiplication.",
    ),
    idea="`a = x * 3`, `b = x.exp()`, `diamond = a * b`, with one `x`. Both branches end in the same "
    "leaf, and its gradient is the sum of what comes down the two.",
)
def diamond(answer):
    y = kit.a_tensor(answer, "`diamond`")
    more = {"exponential": _exponential_in(y), "three_ways": graphs.ways_to_leaves(y) > 2}
    more["asks"] = all(leaf.requires_grad for leaf in graphs.leaves(y))
    _targets.refuse_other(y, "diamond", tools.other_graph(y, "diamond", _DIAMOND, **more))
    return "One leaf, two ways to it. In backward(), what arrives by both ways is added."


def _exponential_in(y):
    """Whether the value of two products, which have recorded no exponential, is what one gives."""
    if graphs.operations(y) != ["mul", "mul"] or len(graphs.leaves(y)) != 1:
        return False
    x, value, constants = graphs.leaves(y)[0].detach().numpy(), y.detach().numpy(), graphs.constants(y)
    factors = [1.0, *(one.detach().numpy() if type(one) is mg.Tensor else one for one in constants)]
    return value.any() and any(np.allclose(value, x * np.exp(x) * one) for one in factors)


_DIAMOND = kit.patterns("""
two-leaves: one_leaf=False
    Your graph ends in {leaves} leaves, and the picture in one.
    look: how many tensors you asked for gradients
flag-taken-back: asks=False
    The operations were recorded, but the leaf that they lead to does not require grad any more.
    look: what becomes of `requires_grad` of the leaf after the first operation
branch-lost: exponential=True
    The value is what a product with `exp(x)` gives. But the graph has no exponential.
    look: what goes into the exponential, where it runs, and what becomes of its result
no-exponential: operations=mul mul
    Your graph records two multiplications and no exponential.
    look: the branch that should be `x.exp()`
branch-squares: operations=exp mul mul, root=mul, three_ways=True, squares=True
    One of your branches multiplies `x` by itself, so two arrows go from it to the leaf. In the picture each branch
    sends one.
    look: what `x` is multiplied by in each branch
chain-not-diamond: operations=exp mul mul, ways=1
    The operations are right. But one arrow leads to the leaf, where the picture has two branches that start there and
    meet at the root.
    look: what is computed from the leaf itself, and what comes together at the root
joined-otherwise: operations=exp mul mul
    The operations are right, but they are joined in another way. In the picture each branch is one operation on `x`,
    and the root multiplies the two results.
    look: what goes into the root: is it two results, each of one operation on `x`?
other-root: operations=add exp mul, root=add
    Your root is an addition, and that of the picture a multiplication.
    look: the box at the root
other-operations: else
    Your graph has other operations than the picture, or another number of them. There it is one exp and two mul.
    look: the name in each box of the picture
""")


# --- 11 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Lost in silence",
    kind="predict",
    points=2,
    beliefs=("M01",),
    hints=(
        "Ask of each line: do tensors go into an operation, or are numbers taken out of them first?",
        "A result may have several inputs. One that leads back to `w` is enough.",
        "`mg.tensor(...)`, `float(...)`, `.data` and comparisons give numbers without a history. A flag that is set "
        "at the end makes a leaf, not a way.",
    ),
    idea="`A`, `E` and `G` are made of numbers that were taken out of `u`, so no way leads back. `B` joins tensors, "
    "`F` writes one into another. In `C` and `D` one factor is a plain number, and the other still leads to `w`.",
)
def silent(answer):
    truth = {"A": False, "B": True, "C": True, "D": True, "E": False, "F": True, "G": False}
    kit.predicted(answer, truth, _SILENT, "True (a way leads to `w`) or False (none does)")
    return "No error says where numbers are copied out of the graph. `grad_fn` of each result shows where it happened."


_SILENT = kit.patterns("""
numbers-copied: A=True
    `mg.tensor` reads the numbers of what it is given and makes a new tensor of them, without a history.
    look: `mg.tensor([u[0], u[1]]).requires_grad`
flag-at-the-end: A=False, B=True, C=True, D=True, E=True, F=True, G=True
    `mg.tensor` makes a new leaf. backward() from E fills the `.grad` of that, not that of `w`.
    look: the leaf that you reach from `E.grad_fn`, and `w.grad` where backward() ran from E alone
flag-at-the-end: E=True (M01)
    `mg.tensor` makes a new leaf, and the flag is that of the leaf. backward() fills its `.grad`, not that of `w`.
    look: the leaf that you reach from `E.grad_fn`, and `w.grad` where backward() ran from E alone
data-connected: G=True
    `.data` is the tensor without its past. What is computed from it alone is not recorded.
    look: `u.data.requires_grad`
joined-is-new: B=False
    `stack` is an operation on tensors. Unlike `mg.tensor` it is recorded.
    look: `mg.stack([u[0], u[1]])`, as it is printed
number-cuts-all: C=False
    `float(u[1])` is a plain number, but `u[0]` is not. One input that leads back is enough.
    look: the inputs of the multiplication, one by one
comparison-cuts-all: D=False
    The comparison leads nowhere. But it is multiplied by `w` itself, and that is recorded.
    look: the inputs of the multiplication, one by one
written-is-lost: F=False
    To write a tracked tensor into another one is recorded, too: `buffer` is a result from then on.
    look: `buffer`, as it is printed after that line
""")


# --- 12 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "When is the flag read?",
    kind="predict",
    points=2,
    hints=(
        "The flag is read twice: when `w * w` runs, and when `backward()` arrives at `w`.",
        "Both times it has to be True. What it was in between does not matter.",
        "Clearing the flag leaves `.grad` as it is: no line here sets it to `None`, and after `C` nothing is added.",
    ),
    idea="`A`: recorded, but the flag is off when backward() arrives. `B`: never recorded. `C`: on at both moments. "
    "`D` and `E`: the old number stays, and nothing is added to it.",
)
def when(answer):
    truth = {"A": None, "B": None, "C": 6.0, "D": 6.0, "E": 6.0}
    look = "`w.requires_grad` when `w * w` runs, and when `backward()` runs; and what an unfilled `.grad` is"
    looks = dict.fromkeys(truth, look) | {"E": "what is in `w.grad` before the last `backward()`, and what that adds"}
    looks |= {"C": "how much `w * w` grows when `w` grows", "D": "`w.grad` before and after `w.requires_grad_(False)`"}
    kit.predicted(answer, truth, _WHEN, "a number, or None", looks)
    return "An operation reads the flag when it runs, and backward() when it arrives at the leaf."


_WHEN = kit.patterns("""
read-once: A=6.0
    `w * w` was recorded. But backward() reads the flag, too, when it arrives at `w`. In the text it is off by then.
    look: the order of the lines, and `w.requires_grad` when `y.backward()` runs
read-afterwards: B=6.0
    When `w * w` ran, `w` was not tracked, so no edge leads to it. A later flag makes none.
    look: `w.requires_grad` when `w * w` runs
off-for-good: C=None
    The edge to `w` was made when `w * w` ran, and it stays. Only the two moments count.
    look: `w.requires_grad` when `y.backward()` runs
clearing-clears: D=None
    Clearing the flag says what happens from now on. It does not touch what is in `.grad`.
    look: `w.grad` before and after `w.requires_grad_(False)`
still-added: E=12.0, D=6.0
    Without the flag `w * w` is not recorded, and backward() finds no way to `w`.
    look: `w.requires_grad` when the last `w * w` runs
set-to-none: E=None
    backward() does not reach `w`. It does not clear what it does not reach, either.
    look: which line sets `w.grad`
added-twice: C=12.0
    12 is 6 twice. In the text, one `backward()` comes to this `w` while its flag is on.
    look: how many `backward()` come to this `w` before `C` is read, and whether its flag is on then
grad-of-b: A=1.0
    1 is the slope by `b`. What is asked for is in `w.grad`.
    look: whose `.grad` each line reads
value-not-slope: C=10.0
    10 is `y` itself. What is in `.grad` is how fast it grows with `w`.
    look: how much `w * w` grows when `w` grows
other-slope: C=9.0
    9 is w · w itself. Its slope is 2 · w.
    look: how much `w * w` grows when `w` grows
""")


# --- Pictures ------------------------------------------------------------------------------------

_targets = Targets(with_constants=_constants, diamond=_diamond)
show_target = _targets.show

chapter.lock()
