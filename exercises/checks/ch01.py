"""The checks of chapter 01, "Who gets tracked?"."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

import minigrad as mg
from exercises.checks import cards, graphs, kit
from exercises.checks.kit import Pattern, Wrong, call, show

chapter = kit.Chapter(__name__, "01", "Who gets tracked?")


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Ask for gradients",
    kind="write",
    points=1,
    beliefs=("M01", "M27"),
    hints=(
        "There are three ways to ask: `requires_grad=True` when the tensor is made, "
        "`.requires_grad_()` after, or setting `.requires_grad`.",
        "Call your function with `[1, 2]`. What is the dtype of `mg.tensor([1, 2])`?",
        "`mg.tensor(values, dtype=mg.float32)` makes floats of whole numbers, too.",
    ),
    idea="`mg.tensor(values, dtype=mg.float32, requires_grad=True)`: floats first, then the flag, "
    "and no operation after it, because the result of an operation is another tensor.",
)
def tracked(answer):
    kit.a_function(answer)
    for values in ([0.5, -2.0], [3, 1, 4], [7]):
        _check_tracked(answer, values)
    return (
        "Only floats can change a little, so only they can have a gradient. You asked on the leaf."
    )


def _check_tracked(answer, values):
    came = f"for `{values}`"
    try:
        given = call(answer, list(values))
    except Wrong as wrong:
        if "floating point" in wrong.verdict.got:
            raise _ints_asked(values, wrong.verdict.got) from None
        raise
    if type(given) is bool:
        expected, look = "a tensor", "what `return` gives back: the flag, or the tensor that has it"
        raise Wrong("flag-for-tensor", expected, f"{given} {came}", look=look)
    kit.a_tensor(given, "the result")
    if not given.requires_grad:
        why = "A tensor is only tracked if somebody asks. This one holds numbers and nothing else."
        look = "`requires_grad` of your result"
        expected = "a tensor with `requires_grad` True"
        raise Wrong("not-asked", expected, f"{show(given)} {came}", why=why, look=look)
    if not given.is_leaf:
        raise Wrong(
            "asked-then-computed",
            "a leaf, `is_leaf` True",
            f"{show(given)} {came}",
            belief="M01",
            why="The tensor you asked on is another one. This one is the result of an operation, "
            "and backward() puts no `.grad` on it.",
            look="the operation after the flag was set",
        )
    if not kit.same_values(given, values):
        look = "whether your function uses its argument"
        raise Wrong("other-values", f"the values {values}", f"{show(given)} {came}", look=look)


def _ints_asked(values, got):
    return Wrong(
        "asked-for-ints",
        f"a tracked tensor for `{values}`",
        got,
        belief="M27",
        why="A whole number cannot change a little, so it has no gradient. Make it a float first.",
        look="the dtype at the moment when the flag is set",
    )


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
    return "A result requires grad when at least one of its inputs does; nothing spreads backwards."


_SPREAD = (
    Pattern(
        "everything-tracked",
        {"a": True, "d": True},
        why="Behind `a` and `d` there is only `k`, and nobody asked for its gradient.",
        look="whether `x` is somewhere behind `a`",
    ),
    Pattern(
        "only-who-asked",
        {"b": False, "c": False, "e": False},
        why="You ask once, on `x`. What is computed from it is tracked without being asked.",
        look="`(x * k).requires_grad` in a cell of its own",
    ),
    Pattern(
        "all-inputs-needed",
        {"b": False, "e": True},
        why="One tracked input is enough: if `x` moves, `x * k` moves, whatever `k` is.",
        look="`b` and `e`: what differs in their inputs?",
    ),
    Pattern(
        "one-step-only",
        {"b": True, "c": False},
        why="The flag does not fade. `c` comes from `b`, and `b` requires grad.",
        look="the inputs of `c`, one by one",
    ),
    Pattern(
        "spreads-back",
        {"k": True},
        why="The flag goes from inputs to results. Being multiplied by `x` does not change `k`.",
        look="`k.requires_grad` after the line that makes `b`",
    ),
)


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Find the leaves",
    kind="predict",
    points=2,
    beliefs=("M01", "M02"),
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


_LEAVES = (
    Pattern(
        "result-never-leaf",
        {"m": False, "w": False, "k": True},
        belief="M02",
        why="`k * 2` is not recorded, because `k` is not tracked. So `m` has no history: it is a "
        "leaf.",
        look="`m.grad_fn`",
    ),
    Pattern(
        "leaf-means-tracked",
        {"k": False, "m": False},
        why="Leaf says nothing about tracking. A tensor that is not tracked has no history: a "
        "leaf.",
        look="`k.is_leaf` and `k.requires_grad`, one after the other",
    ),
    Pattern(
        "asked-so-leaf",
        {"v": True, "y": False},
        belief="M01",
        why="The flag was set on `mg.ones(2)`. `v` is the result of multiplying that by 2, and "
        "this operation was recorded.",
        look="`v.grad_fn`",
    ),
    Pattern(
        "tracked-means-leaf",
        {"y": True, "v": True},
        why="`y` and `v` are tracked because they were computed from tracked tensors. They have a "
        "history, so they are no leaves.",
        look="`y.grad_fn` and `x.grad_fn`",
    ),
    Pattern(
        "asked-too-late",
        {"w": False, "m": True},
        why="When `* 2` ran, nothing was tracked, so nothing was recorded. The flag came after.",
        look="which of the two calls in the line of `w` runs first",
    ),
)


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Before and after backward()",
    kind="predict",
    points=2,
    beliefs=("M03", "M25", "M35"),
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
    kit.predicted(answer, truth, _BEFORE_AFTER, "a number or None")
    return "backward() fills `.grad` of the leaves that were asked for. Elsewhere it stays None."


_BEFORE_AFTER = (
    Pattern(
        "zero-before",
        {"before": 0},
        belief="M35",
        why="Before backward() there is no gradient at all, not even a zero: `.grad` is None.",
        look="`x.grad` of a new tensor",
    ),
    Pattern(
        "grad-before",
        {"before": 24},
        belief="M35",
        why="The forward pass only records what to do. Gradients are computed by backward().",
        look="the order of the lines",
    ),
    Pattern(
        "grad-on-the-way",
        {"y.grad": 3},
        belief="M03",
        why="3 is indeed dz/dy, and it passes through `y`. But it is kept on leaves only.",
        look="`y.is_leaf`",
    ),
    Pattern(
        "constant-has-grad",
        {"k.grad": 9},
        why="Nobody asked for the gradient of `k`, so there is no edge that leads to it.",
        look="`k.requires_grad`",
    ),
    Pattern(
        "constant-has-zero",
        {"k.grad": 0},
        belief="M25",
        why="Not asked for and zero are two things. What was not asked for is None.",
        look="`k.requires_grad`",
    ),
    Pattern(
        "one-path",
        {"x.grad": 12},
        why="`x` reaches `z` twice: directly, and through `y`. Both ways count, 12 each.",
        look="each `x` on the right-hand sides",
    ),
    Pattern(
        "value-not-slope",
        {"x.grad": 36},
        why="36 is `z` itself. The gradient says how fast `z` grows with `x`.",
        look="the derivative of `4 * x * x`",
    ),
)


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Which lines raise?",
    kind="predict",
    points=2,
    beliefs=("M27",),
    hints=(
        "Two things have no gradient: whole numbers, and numbers that have left the graph.",
        "`.item()` always works: it gives a plain Python number. But the number knows nothing of "
        "`x`.",
        "Whole numbers may take part as constants. They only cannot be asked for a gradient.",
    ),
    idea="`A`, `B` and `D` raise. `A`: integers cannot require grad. `B`: NumPy would lose the "
    "history, so you must detach first. `D`: the new tensor has no history for backward() to "
    "follow.",
)
def which_raise(answer):
    truth = {"A": True, "B": True, "C": False, "D": True, "E": False}
    kit.predicted(answer, truth, _RAISE, "True (it raises) or False (it does not)")
    return "The graph ends where a number leaves it: in `.item()`, in NumPy, in an integer."


_RAISE = (
    Pattern(
        "ints-can-ask",
        {"A": False},
        belief="M27",
        why="`n` holds integers. They cannot change a little, so they cannot require grad.",
        look="`n.dtype`",
    ),
    Pattern(
        "numpy-connected",
        {"B": False},
        belief="M27",
        why="NumPy records nothing, so the history would be lost without a word. It is refused "
        "instead.",
        look="`x.requires_grad`, and what the message of `x.numpy()` proposes",
    ),
    Pattern(
        "item-connected",
        {"D": False},
        belief="M27",
        why="`.item()` gives a plain number. The tensor made from it is new and has no history.",
        look="`mg.tensor(x.sum().item()).requires_grad`",
    ),
    Pattern(
        "item-refused",
        {"C": True},
        why="Taking the number out is allowed. It is only a number after that.",
        look="what `x.sum().item()` gives, in a cell of its own",
    ),
    Pattern(
        "ints-refused",
        {"E": True},
        why="`n` is a constant here. Nobody asks for its gradient, so integers are fine.",
        look="the dtype of `x * n`",
    ),
)


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
        "Read the picture from the leaf upwards: which operation comes first?",
        "There is one leaf that requires grad. Everything else leads nowhere: numbers and "
        "constants.",
        "First multiply `x` by a number, then add a tensor that is not tracked.",
    ),
    idea="`x = mg.tensor(2.0, requires_grad=True)`, `k = mg.tensor(5.0)`, `y = 3 * x + k`. A "
    "constant takes part in the value and has no edge.",
)
def constants(answer):
    y = kit.a_tensor(answer, "`y`")
    _same_as_target(y, "constants", _why_not_constants(y))
    return "`3` and `k` changed the value and got no edge: nobody asked for their gradients."


def _why_not_constants(y):
    if not y.requires_grad:
        return Wrong(
            "nothing-tracked",
            why="Nothing was asked for, so nothing was recorded. `y` has no history.",
            look="`x.requires_grad`",
        )
    if y.grad_fn is None:
        return Wrong(
            "asked-at-the-end",
            belief="M01",
            why="You asked on `y`, after it was computed. The flag does not go back: `y` is a new "
            "leaf.",
            look="`y.grad_fn`, and on which tensor you set the flag",
        )
    found, made_of = len(graphs.leaves(y)), graphs.operations(y)
    if found > 1:
        return Wrong(
            "constant-tracked",
            why=f"Your graph has {found} leaves that require grad, and the picture has one. A "
            f"constant "
            "does not have to be asked for to take part.",
            look="which tensors you asked for gradients",
        )
    if made_of == ["add", "mul"] and graphs.ways_to_leaves(y) > 1:
        return Wrong(
            "used-twice",
            why="Two arrows of your graph lead to the leaf, and one does in the picture.",
            look="what is added to the product: a tensor that is not tracked has no arrow",
        )
    if made_of == ["add", "mul"]:
        return Wrong(
            "other-order",
            why="The operations are right and their order is not. The last one is at the root.",
            look="which of the two operations touches `x` first",
        )
    return _other_operations(made_of, "add and mul")


def _other_operations(made_of, wanted):
    return Wrong(
        "other-operations",
        why=f"Your graph records {', '.join(made_of[:6])}; the picture shows {wanted}.",
        look="the name in each box of the picture",
    )


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A slope machine",
    kind="write",
    points=3,
    beliefs=("M03", "M27"),
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
    return (
        "One recipe for every function: ask, compute, backward, read. `x² eˣ` was among the tests."
    )


_SLOPES = (
    (lambda x: x * x * x.exp(), 1.5, 1.5**2 * math.exp(1.5), (2 * 1.5 + 1.5**2) * math.exp(1.5)),
    (lambda x: x.exp() - 5 * x, -0.5, math.exp(-0.5) + 2.5, math.exp(-0.5) - 5),
    (lambda x: x * x * x, 2, 8.0, 12.0),
)


def _check_slope(answer, f, x, value, right):
    asked, elsewhere = [], []

    def recording(t):
        t = t if type(t) is mg.Tensor else mg.tensor(float(t), dtype=mg.float64)
        asked.append(t.requires_grad)
        elsewhere.append(not kit.same_values(t.sum(), x, 1e-12))
        return f(t)

    try:
        given = call(answer, recording, x)
    except Wrong as wrong:
        raise _slope_error(wrong, x) from None
    if given is None:
        raise Wrong(
            "returned-none",
            f"a number, the slope at {x}",
            "None",
            belief="M03" if any(asked) else "",
            why="backward() returns nothing, and a result on the way keeps no `.grad`. The slope "
            "is in `.grad` of the leaf.",
            look="which object you read, and `return`",
        )
    number = kit.a_number(given)
    if any(asked) and not any(elsewhere) and kit.close(number, right, 1e-4):
        return
    nudged = any(elsewhere) or not any(asked)
    raise _slope_diagnosis(number, asked, nudged, x, value, right)


def _slope_error(wrong, x):
    got = wrong.verdict.got
    if "floating point" in got:
        return Wrong(
            "asked-for-ints",
            f"a number, the slope at the int {x}",
            got,
            belief="M27",
            why="`x` was an int, and a tensor of integers cannot require grad.",
            look="the dtype of the tensor you make",
        )
    if "does not require grad" in got:
        return Wrong(
            "never-asked",
            "a tensor that backward() can follow back",
            got,
            why="Nobody asked for a gradient, so `f` was computed and nothing was recorded.",
            look="the line that makes the tensor",
        )
    return wrong


def _slope_diagnosis(number, asked, nudged, x, value, right):
    expected, came = f"the slope {right:.6g} at {x}", f"{number:.6g}"
    if not asked:
        why = "Your function never called `f`. It can only be right for one function."
        return Wrong("f-not-used", expected, came, why=why, look="where `f` is used")
    if nudged and kit.close(number, right, 1e-2):
        return Wrong(
            "nudged",
            "a slope from autograd",
            f"{came}, from values of `f` only",
            why="A small step gives the slope nearly. Autograd gives it exactly, with one call of "
            "`f`.",
            look="`backward()` instead of a second call of `f`",
        )
    if kit.close(number, value, 1e-4):
        why = "That is `f(x)` itself, not how fast it grows."
        return Wrong("value-not-slope", expected, came, why=why, look="what you return")
    return Wrong("other-slope", expected, came, look="what you return, for `f = lambda x: x * x`")


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
    for start, data in ((0.5, [1.0, 2.0]), (-1.0, [3.0, 0.5, 1.5])):
        _check_squared_errors(answer, start, data)
    return "The sum stayed a tensor all the way, so backward() found the way from the loss to `w`."


def _check_squared_errors(answer, start, data):
    w = mg.tensor(start, requires_grad=True)
    given = call(answer, w, list(data))
    right = sum((start * value - 1) ** 2 for value in data)
    if type(given) in (int, float) or isinstance(given, np.generic):
        raise Wrong(
            "plain-number",
            "a tensor that leads back to `w`",
            show(given),
            belief="M27",
            why="A plain number has no history. There is nothing that backward() could follow.",
            look="each `.item()` in your function",
        )
    total = kit.a_tensor(given, "the result")
    if not kit.same_values(total, right, 1e-4):
        look = "`total` after the loop: are all errors in it?"
        raise Wrong("other-value", f"the value {right:.6g}", show(total), look=look)
    if not graphs.reaches(total, w):
        raise _no_way_to_w(total)
    total.backward()
    slope = sum(2 * value * (start * value - 1) for value in data)
    if w.grad is None or not kit.close(w.grad.item(), slope, 1e-4):
        raise Wrong(
            "part-of-the-history",
            f"`w.grad` is {slope:.6g} after backward()",
            f"`w.grad` is {None if w.grad is None else w.grad.item()}",
            belief="M27",
            why="Some of the errors went into the sum as plain numbers. Their part of the "
            "gradient is missing, and nothing says so.",
            look="what `total` is before the last round of the loop",
        )


def _no_way_to_w(total):
    if total.requires_grad and total.grad_fn is None:
        return Wrong(
            "flag-at-the-end",
            "a result that leads back to `w`",
            show(total),
            belief="M01",
            why="The flag makes the result a new leaf. backward() runs, and `w.grad` stays None.",
            look="`grad_fn` of the result",
        )
    return Wrong(
        "no-history",
        "a result that leads back to `w`",
        show(total),
        belief="M27",
        why="The result is a tensor, made from plain numbers. It has no history.",
        look="where the tensors turn into numbers",
    )


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut this edge",
    kind="cut",
    points=2,
    hints=(
        "An edge leads to a tensor only if that tensor requires grad when the operation runs.",
        "You need a tensor with the value of `x` that nobody asked for, or a plain number.",
        "`x.item()` is the number in `x`. Leave `x` itself as it is.",
    ),
    idea="`w * x.item() + b`: a number has no edge. `x.detach()` does the same for tensors of any "
    "size. The value is the same; the way back to `x` is gone.",
)
def cut(answer):
    kit.a_function(answer)
    for numbers in ((3.0, 2.0, 1.0), (-0.5, 4.0, 7.0)):
        w, x, b = (mg.tensor(number, requires_grad=True) for number in numbers)
        y = kit.a_tensor(call(answer, w, x, b), "the result")
        _check_cut(y, w, x, b)
    return "The value is the same, and backward() finds no way to `x`: it was used as a number."


def _check_cut(y, w, x, b):
    names = {"w": w, "x": x, "b": b}
    unasked = [name for name, tensor in names.items() if not tensor.requires_grad]
    if unasked:
        raise Wrong(
            "input-changed",
            "`w`, `x` and `b` as they were",
            f"`{unasked[0]}.requires_grad` is False now",
            why="You switched the flag off on the tensor itself. From now on it gets no gradient "
            "anywhere, not only here.",
            look="how to use the value of `x` and leave `x` alone",
        )
    values = {name: tensor.detach().item() for name, tensor in names.items()}
    if not kit.same_values(y, values["w"] * values["x"] + values["b"], 1e-4):
        right = f"{values['w'] * values['x'] + values['b']:.6g}, the value of `w * x + b`"
        raise Wrong("other-value", right, show(y), look="the value: only the edge should go")
    reached = [name for name, tensor in names.items() if graphs.reaches(y, tensor)]
    if reached != ["w", "b"]:
        raise _wrong_cut(y, reached, names)


def _wrong_cut(y, reached, names):
    w, x, b = names.values()
    picture = _difference(y, w * x.detach() + b, names)
    expected, came = (
        "ways to `w` and `b`, none to `x`",
        f"ways to {', '.join(reached) or 'nothing'}",
    )
    if not reached:
        why = "The whole result was made a constant. Only the edge to `x` should go."
        return Wrong(
            "all-cut", expected, came, why=why, look="what leaves the graph", picture=picture
        )
    if reached == ["w", "x", "b"]:
        why = "`x` still takes part as a tracked tensor, so its edge was recorded."
        look = "`requires_grad` of what you multiply `w` by"
        return Wrong("still-there", expected, came, why=why, look=look, picture=picture)
    if "x" in reached:
        why = "An edge is gone, but another one. The edge to cut is the one to `x`."
        look = "which tensor you turned into a number"
        return Wrong("other-edge", expected, came, why=why, look=look, picture=picture)
    return Wrong(
        "cut-too-high",
        expected,
        came,
        why="Taking the number out of `w * x` cuts everything below it, `w` too.",
        look="where the number is taken out: before the multiplication, or after it",
        picture=picture,
    )


# --- 10 ------------------------------------------------------------------------------------------


def _diamond():
    x = mg.tensor(2.0, requires_grad=True)
    return (x * 3) * x.exp(), {"x": x}


@chapter.exercise(
    "Build this graph: the diamond",
    kind="build",
    points=2,
    beliefs=("M27",),
    hints=(
        "Count the leaves first: how many boxes at the end of the arrows?",
        "Two operations use the same `x`. Give each result a name, then join them.",
        "One branch multiplies `x` by a number, the other is `x.exp()`. The root is a "
        "multiplication.",
    ),
    idea="`a = x * 3`, `b = x.exp()`, `y = a * b`, with one `x`. Both branches end in the same "
    "leaf, and its gradient is the sum of what comes down the two.",
)
def diamond(answer):
    y = kit.a_tensor(answer, "`y`")
    _same_as_target(y, "diamond", _why_not_diamond(y))
    return "One leaf, two ways to it. In backward(), what arrives by both ways is added."


def _why_not_diamond(y):
    if not graphs.leaves(y):
        return Wrong("nothing-tracked", why="Nothing was recorded.", look="`x.requires_grad`")
    made_of, found = graphs.operations(y), len(graphs.leaves(y))
    if found > 1:
        return Wrong(
            "two-leaves",
            why=f"Your graph ends in {found} leaves. Equal values do not make them one: each "
            f"would get "
            "its own `.grad`, with a part of the gradient only.",
            look="how many tensors you made with `requires_grad=True`",
        )
    if made_of == ["mul", "mul"]:
        return Wrong(
            "branch-lost",
            belief="M27",
            why="The exponential was computed with a plain number, so it was not recorded.",
            look="what goes into the exponential",
        )
    if made_of == ["exp", "mul", "mul"]:
        return Wrong(
            "chain-not-diamond",
            why="The operations are right. But one result goes into the next in a row, where the "
            "picture has two branches that start at `x` and meet at the root.",
            look="what is multiplied at the root",
        )
    if made_of == ["add", "exp", "mul"]:
        why = "Your root adds the two branches, and the picture multiplies them."
        return Wrong("other-root", why=why, look="the box at the root")
    return _other_operations(made_of, "exp, mul and mul")


# --- Pictures ------------------------------------------------------------------------------------

_DRAWN = 30  # a larger graph is no near miss, and no picture to learn from
_TARGETS = {"constants": _constants, "diamond": _diamond}


def show_target(name):
    """Show the picture that an exercise asks for: show_target("diamond")."""
    if name not in _TARGETS:
        names = " or ".join(f'"{known}"' for known in _TARGETS)
        cards.display(cards.notice_card(f"There is a picture for {names}."))
        return
    target, names = _TARGETS[name]()
    cards.display(mg.draw(target, params={name: target, **names}, values=False))


def _same_as_target(y, name, diagnosis):
    target, names = _TARGETS[name]()
    if y.requires_grad and mg.viz.difference(target, y, view="kept").same:
        return
    diagnosis.verdict.expected = "the graph in the picture above"
    diagnosis.verdict.got = f"a graph of {_in_words(y)}"
    diagnosis.verdict.picture = _difference(y, target, names)
    raise diagnosis


def _in_words(y):
    made_of, count = Counter(graphs.operations(y)), len(graphs.leaves(y))
    boxes = [name if times == 1 else f"{times} {name}" for name, times in made_of.items()]
    leaves_text = "1 leaf that requires" if count == 1 else f"{count} leaves that require"
    return f"{', '.join(boxes) or 'no operation'}, and {leaves_text} grad"


def _difference(y, target, names):
    if len(graphs.operations(y)) > _DRAWN:
        return None
    return mg.viz.draw_difference(target, y, view="kept", params=names)


chapter.lock()
