"""The checks of chapter 03, "What does autograd remember?"."""

from __future__ import annotations

import sys
import weakref

import numpy as np

import minigrad as mg
from exercises.checks import graphs, kit, tools
from exercises.checks.adversaries import trial
from exercises.checks.kit import Wrong, call, show
from exercises.checks.targets import Targets, side_by_side

chapter = kit.Chapter(__name__, "03", "What does autograd remember?")

_TURNS = 100_000  # more looks at `next_functions` than that, in graphs of a hundred nodes: every way is walked


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Count the nodes",
    kind="predict",
    points=1,
    hints=(
        "Each of these operations makes one node. Each tracked leaf has one end, its `AccumulateGrad`.",
        "`p` is used twice. Is it computed twice?",
        "Draw it on paper: three boxes for operations, one for the end of `x`, and an arrow for each tracked input.",
    ),
    idea="Behind `z` are the addition, the exponential, the multiplication and the end of `x`: 4. The node of "
    "`p` is there once, with two arrows to it. The constant `k` has none.",
)
def follow(answer):
    truth = {"nodes": 4, "edges_of_z": 2, "z_to_p": True, "p_to_k": False}
    looks = {"nodes": "each line that computes, and each tracked leaf", "edges_of_z": "the inputs of the addition"}
    kit.predicted(answer, truth, _FOLLOW, "a number", looks)
    return "One node for an operation, however often its result is used; constants have none."


_FOLLOW = kit.patterns("""
constant-has-node: p_to_k=True
    In the text `k` is not tracked, so nothing is sent to it. Its entry is the empty `(None, 0)`.
    look: the line that makes `k`, and `p.grad_fn.next_functions[1]`
other-edges: edges_of_z=1, z_to_p=False
    Each tracked input of the addition has an edge, although one of them was made from the other.
    look: the right-hand side of the line that makes `z`
copied: z_to_p=False
    `p` was computed once, so it has one node. Whoever uses `p` points at that very node.
    look: `z.grad_fn.next_functions[1][0] is p.grad_fn`, and how often the line `p = x * k` runs
each-way: nodes=6
    6 is what one counts along each way. Two ways lead through the node of `p`, but it is one node.
    look: the boxes of a picture: is the multiplication drawn twice?
end-forgotten: nodes=3
    3 is too few. The node of `z` counts, and so does the end of the leaf, the `AccumulateGrad` that fills `x.grad`.
    look: `z.grad_fn`, and `p.grad_fn.next_functions[0]`
one-too-many: nodes=5
    Three operations and the end of one tracked leaf. A constant has no node, and `p` has one.
    look: whether you counted `k`, or the node of `p` twice
other-edges: edges_of_z=1 or edges_of_z=3
    `next_functions` holds the edges of one node: one for each input of that operation, and here it is an addition.
    look: the right-hand side of the line that makes `z`
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Read the chain rule off",
    kind="predict",
    points=2,
    beliefs=("M35", "M36"),
    hints=(
        "A local derivative asks: how much does this result move when that input moves?",
        "exp is its own derivative. At `p = 0`, what is `exp(p)`?",
        "Along a way, multiply the local derivatives. Before backward() there is no `.grad` at all.",
    ),
    idea="`dz/de = 5`, `de/dp = exp(0) = 1`, `dp/dv = 3`. Their product, 15, is in `v.grad` after backward(); "
    "before, it is None.",
)
def chain(answer):
    truth = {"before": None, "dz/de": 5.0, "de/dp": 1.0, "dp/dv": 3.0, "v.grad": 15.0}
    looks = {
        "before": "the order of the lines: when does backward() run?",
        "dz/de": "how much `z` moves when `e` moves by 1",
        "de/dp": "the slope of exp where `p` is",
        "dp/dv": "how much `p` moves when `v` moves by 1",
        "v.grad": "the product of the three local derivatives",
    }
    kit.predicted(answer, truth, _CHAIN, "a number or None", looks)
    return "Along a way the local derivatives are multiplied, and exp brings its own result."


_CHAIN = kit.patterns("""
grad-before: before=15
    15 comes with backward(). In the text `before` is set one line earlier, when there is no gradient.
    look: the order of the lines in the text; if you computed it, also in your program
grad-before: before=0 (M35)
    The forward pass leaves a graph and no gradient, not even a zero: `.grad` is None until backward() has run.
    look: the order of the lines, and `v.grad` of a new tensor
so-far: dz/de=5, de/dp=5, dp/dv=15
    5 and 15 are products: what has arrived by then. Asked is each factor alone.
    look: how much `e` moves when `p` moves, whatever comes after it
exp-input: de/dp=0 (M36)
    The derivative of exp is exp itself: the local derivative is the result, `exp(0) = 1`, not the input 0.
    look: `e.grad_fn._saved_result` before backward()
value-of-e: dz/de=1
    1 is the value of `e`. When `e` moves by a little, `e * 5` moves five times as much.
    look: what `z` is for `e = 1` and for `e = 2`
value-of-v: dp/dv=0
    0 is the value of `v`, and of `p`. When `v` moves by a little, `v * 3` moves three times as much.
    look: what `p` is for `v = 0` and for `v = 1`
zero-product: dz/de=5, de/dp=1, dp/dv=3, v.grad=0
    None of its three factors is 0.
    look: the three factors of `v.grad`
added-along: dz/de=5, de/dp=1, dp/dv=3, v.grad=9
    9 is the sum of the local derivatives. Along one way they are multiplied; only what different ways bring is
    added.
    look: how many ways lead from `z` to `v`
factor-lost: dz/de=5, de/dp=1, dp/dv=3, v.grad=5 or dz/de=5, de/dp=1, dp/dv=3, v.grad=3
    That is one of the three local derivatives. On the way from `z` to `v` each of them is multiplied with the others.
    look: each node between `z` and `v`
still-none: v.grad=None
    backward() has run by then, and `v` is a tracked leaf behind `z`.
    look: the order of the lines: which of them fills `v.grad`?
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Who will be reached?",
    kind="write",
    points=2,
    off={
        "untracked": "the text has the result tracked",
        "memory": "the leaves themselves are asked for",
        "next call": "the leaves come in any order, and another one in each call",
    },
    hints=(
        "Keep a list of nodes that you still have to look at. It starts with `result.grad_fn`.",
        "Look at one node at a time: is it None? Have you seen it? Is it an end, with a `.variable`?",
        "Everything else has edges: put the nodes of its `next_functions` on the list.",
    ),
    idea="A list `waiting`, and a set `seen`: take a node out; skip None and what is in `seen`; if it has a "
    "`variable`, that is a leaf; put the nodes of its edges on the list.",
)
def leaves_behind(answer):
    kit.a_function(answer)
    for make in (_neuron, _wide, _alike, _ladder, _two_results, _doubled):
        result, names = make()
        _check_leaves(answer, _walked(answer, result, make.__doc__), names, make.__doc__)
    result, names = _alike()
    _check_unheld(answer, result, lambda given: _check_leaves(answer, given, names, _alike.__doc__))
    return "Your walk finds every leaf that backward() would reach, and each once."


# Each docstring stands in a card.
def _neuron():
    """`w * x + b`, where `x` is not tracked, `w` is 0, and `b` has the shape (1,)."""
    w, x, b = (mg.tensor(n, requires_grad=True) for n in (0.0, 2.0, [5.0]))
    return w * x.detach() + b, {"w": w, "b": b}


def _wide():
    """`((2 - a.exp()) * (b / c) + (b - d).exp()).sum()`, where `b` has a `.grad` already."""
    a, b, c, d = (mg.tensor([n, 1.0], requires_grad=True) for n in (1.0, 2.0, 3.0, 4.0))
    b.grad = mg.ones(2)
    return ((2 - a.exp()) * (b / c) + (b - d).exp()).sum(), {"a": a, "b": b, "c": c, "d": d}


def _alike():
    """`mg.stack([a, b, c]).sum() + h.sum()`: `h` is `far` after a hundred additions of 1, and all four leaves are 1."""
    a, b, c, far = (mg.tensor(1.0, requires_grad=True) for _ in range(4))
    h = far
    for _ in range(100):
        h = h + 1
    return mg.stack([a, b, c]).sum() + h.sum(), {"a": a, "b": b, "c": c, "far": far}


def _two_results():
    """`k * u.sum() + two * alone + one * two`: `k` is not tracked, two `unbind()` made `one, two` and `_, alone`."""
    u, x, v = (mg.tensor([n, 3.0], requires_grad=True) for n in (1.0, 2.0, 5.0))
    (one, two), (_, alone) = (x * 1).unbind(), v.exp().unbind()
    return mg.tensor(7.0) * u.sum() + two * alone + one * two, {"u": u, "x": x, "v": v}


_WALK_ERRORS = tools.reasons("""
empty-entry-followed: 'NoneType' object has no attribute 'next_functions'
    None was asked for edges. A constant has the empty entry `(None, 0)`: there is no node in it.
    look: what your walk does with an entry whose node is None
pair-not-node: 'tuple' object has no attribute 'next_functions'
    A tuple was asked for edges. `next_functions` is one, and so is each entry, a pair: a node and a number. Ask a node.
    look: how your walk takes the node out of its pair
variable-everywhere: Backward0' object has no attribute 'variable'
    Only the end of a leaf has a `.variable`. The node of an operation has edges instead.
    look: `hasattr(node, "variable")`
compared-by-value: Boolean value of Tensor
    `in`, `==`, `if` and their like ask for the numbers of a tensor. `is` asks whether it is the same tensor.
    look: what asks for more than which tensor it is; or remember the nodes that you have seen, not the leaves
""")


def _walked(answer, start, graph):
    """What an answer gives for a graph; known errors, and too many looks at the edges, are diagnoses."""
    looks, root = 0, getattr(start, "grad_fn", start)

    def count(frame, event, argument):
        nonlocal looks
        looks += event == "call" and frame.f_code.co_name == "next_functions"
        if looks > _TURNS:
            expected, got = f"a few looks at each node, for {graph}", f"more than {_TURNS:,} looks, and not done yet"
            nodes, ways = len(graphs.nodes_behind(root)), graphs.ways(root)
            why = f"Nodes are looked at again and again. There are {nodes}, and {ways:,} ways through them to a leaf."
            look = "where your function remembers which nodes it has seen, and when its loop ends"
            raise Wrong("every-way", expected, got, why=why, look=look)

    sys.setprofile(count)
    try:
        return tools.called(answer, (start,), "a walk over the whole graph", *_WALK_ERRORS)
    except Wrong as wrong:
        if wrong.verdict.code == "empty-entry-followed":  # if it is so in a graph without constants, too, it is another
            wrong.verdict.given = trial.given()
            tracked = tools.leaf(2.0) * tools.leaf(3.0)
            call(answer, tracked if start is not root else tracked.grad_fn)
        raise
    finally:
        sys.setprofile(None)


def _check_leaves(answer, given, names, graph):
    expected = f"a list of the leaves {tools.listed([f'`{name}`' for name in names])}, each once: those behind {graph}"
    items = _listed(answer, given, expected, (list, tuple, set, frozenset))
    strange = [item for item in items if type(item) is not mg.Tensor]
    found = [name for item in items for name, leaf in names.items() if item is leaf]
    missing = [name for name in names if name not in found]
    if not missing and len(items) == len(names):
        return
    other = ["another tensor"] * (len(found) < len(items))
    got = tools.listed([f"`{name}`" for name in found] + other) or "no leaf of the graph"
    got = f"{show(strange[0])} among them" if strange else got
    facts = {"nodes": hasattr(type(strange[0]), "next_functions") if strange else None, "strange": bool(strange)}
    facts |= {"other": bool(other), "complete": not missing, "missing": "".join(missing[:1])}
    facts["old"] = " It has an old `.grad`." if missing and names[missing[0]].grad is not None else ""
    raise tools.told(_NOT_LEAVES, facts, expected, got)


def _listed(answer, given, expected, kinds):
    if not isinstance(tools.something(given, answer, expected), kinds):
        raise Wrong("type", expected, show(given), look="what kind of thing your function gives back")
    return list(given)


_NOT_LEAVES = kit.patterns("""
node-not-leaf: nodes=True
    That is a node. The end of a leaf is a node, too; the leaf itself is its `.variable`.
    look: `.variable`
no-tensor: strange=True
    look: what your function collects
other-tensor: other=True
    look: each tensor that you give back: is it itself a leaf that this graph ends in?
leaf-missing: complete=False
    A way leads to `{missing}`, which is not among them.{old}
    look: whether every edge of every node is followed, and what keeps a leaf out
leaf-twice: else
    However many ways lead to it, the end of a leaf is one node, and one leaf.
    look: when a leaf is collected, and which nodes your function remembers
""")


def _check_unheld(answer, start, judge):
    """A graph that was walked above, but not as an argument: the nodes of arguments are held by the check."""
    try:
        judge(call(lambda: answer(start)))
    except Wrong as wrong:
        judge(_walked(answer, start, "a graph that you were given before."))  # where that is wrong now, it is told
        expected, got = "the same where nothing else refers to a node", wrong.verdict.got
        why = "A node that nothing refers to is gone, and the next one that Python makes may get its `id`."
        look = "what your function remembers of a node: the node itself?"
        raise Wrong("node-not-kept", expected, got, why=why, look=look) from None


def _doubled():
    """`left + h + right`, where `h` is `start` after forty doublings."""
    left, start, right = (mg.tensor(1.0, requires_grad=True) for _ in range(3))  # one of them comes after all the ways
    h = start
    for _ in range(40):
        h = h + h
    return left + h + right, {"left": left, "start": start, "right": right}


# --- 4 -------------------------------------------------------------------------------------------


def _shrink(x):
    while x > 1:
        x = x - 3 if x > 4 else x / 2
    return x


def _shrunk():
    x = mg.tensor(8.0, requires_grad=True)
    return _shrink(x), {"x": x}


@chapter.exercise(
    "Which input leaves this graph?",
    kind="build",
    points=2,
    hints=(
        "Read the picture from the leaf on top, downwards: that is the order in which the operations ran.",
        "Two subtractions, then one division, then the loop ended. What does that say about `x` each time?",
        "After the second subtraction `x` was above 1, and half of it was not: go back from there.",
    ),
    idea="Any number above 7 and up to 8 does it: `8 → 5 → 2 → 1`. The picture shows the operations that "
    "ran, so it tells which branch each round took.",
)
def which_input(answer):
    number = kit.a_number(answer, "`start`")
    if getattr(answer, "shape", ()) != ():
        raise Wrong("other-shape", "a number", show(answer), look="the shape of `x` in the picture")
    if number > 1000:
        raise Wrong("far-off", "a number like those in the code", show(answer), look="how many boxes the picture has")
    x = mg.tensor(number, requires_grad=True)
    y = _shrink(x)
    ran = graphs.operations(y)
    minus, half = ran.count("sub"), ran.count("div")
    runs = ("never runs", "runs once")[minus] if minus < 2 else f"runs {minus} times"
    facts = {"number": f"{number:.9g}", "ran": bool(ran), "minus": minus, "half": half, "runs": runs}
    try:
        _targets.refuse_other(y, "shrunk", tools.told(_NOT_SHRUNK, facts))
    except Wrong as wrong:
        target, names = _shrunk()
        wrong.verdict.picture = side_by_side(y, target, {"shrunk": target, **names}, {"x": x}, values=False)
        raise
    return "The picture shows what ran, so it says which branch each round of the loop took."


_NOT_SHRUNK = kit.patterns("""
nothing-ran: ran=False
    {number} is not more than 1, so the loop did not run once. Nothing was recorded.
    look: the condition after `while`
too-many-divisions: minus=2
    From {number} the two subtractions run, and then {half} divisions. In the picture it is one.
    look: what is left after the second subtraction
other-subtractions: else
    From {number} the branch `x > 4` {runs}. In the picture it ran twice.
    look: the value of `x` after each round
""")
_targets = Targets(shrunk=_shrunk)
show_target = _targets.show


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut one of two ways",
    kind="cut",
    off={"untracked": "the text has `x` tracked"},
    points=2,
    hints=(
        "Which tensor stands for the first way alone? Its value has to stay.",
        "What has no history brings nothing back: use the value of `x + 1` without its history.",
        "`(x + 1).detach()` is that value.",
    ),
    idea="`(x + 1).detach() * (x * 4)`. The product is the same, but its first edge is empty: only what comes "
    "through `x * 4` arrives.",
)
def one_way(answer):
    kit.a_function(answer)
    numbers = (2.0, -3.0, 250.0, 0.5, 0.0, -1.0, 1.0, 1e-3, -1e15, 0.1234567)
    leaves = [mg.tensor(number, requires_grad=True) for number in numbers]
    leaves += [mg.tensor(0.123456789, dtype=mg.float64, requires_grad=True), mg.tensor([0.3], requires_grad=True)]
    for x in leaves:
        _check_one_way(answer, x, x)
    _check_one_way(answer, x, x * 1)  # a tensor that requires grad, too
    return "One way is left, so one contribution arrives: 4 times the value of `x + 1`."


def _check_one_way(answer, x, given):
    y = tools.called(answer, (given,), "one way to `x`, through `x * 4`", *tools.FLAG_OF_A_RESULT)
    if not graphs.reaches(given, x):
        got = "`x.requires_grad` is False now" if given is x else "it was a result, and has no history any more"
        why = "From now on no gradient comes to it." if given is x else "No gradient goes on to what it was made from."
        look = "how to use the value of `x + 1`, and leave `x` alone"
        raise Wrong("input-changed", "`x` as it was", got, why=why, look=look)
    if x.grad is not None:
        raise tools.filled("the product, before any backward()", f"{show(y)}, and `x.grad` is filled already")
    y, numbers = tools.result(tools.something(y, answer, "the result is a tensor")), tools.array(x)
    look = "the value and its shape: only one way should go"
    tools.refuse_other_values(y, (numbers + 1) * numbers * 4, "the value of `(x + 1) * (x * 4)`", look)
    if y.dtype is not x.dtype:
        raise Wrong("other-dtype", f"a result of {x.dtype}, as `x`", str(y.dtype), look="what changes the dtype")
    _check_ways(y, x, given)


def _check_ways(y, x, given):
    number, place = x.item(), "" if given is x else ", where `x` is the result of an operation"
    found = graphs.leaves(y)
    new_leaf = any(leaf is not x for leaf in found)
    # It leaves `y` as it is, to be drawn.
    walked = tools.walk(lambda: mg.autograd.grad(y, x, retain_graph=True)) if found and not new_leaf else ()
    came = walked[0].item() if walked else None
    first, second, ways = 4 * number, 4 * (number + 1), graphs.ways(y.grad_fn) if walked else 0
    brings = {"second": second, "both": first + second, "first": first}
    known = [name for name, slope in brings.items() if came is not None and kit.close(came, slope)]
    if known[:1] == ["second"] and ways == 1:
        return
    facts = {"new_leaf": new_leaf, "brings": "nothing" if came is None else "".join(known[:1]), "first": first}
    adds = "AddBackward0" in [node.name() for node in graphs.nodes(y)]
    facts |= {"second": second, "several": ways > 1, "adds": adds}
    got = "a leaf that is not `x`, nor behind it" if new_leaf else "no way to `x` at all"
    got = got if came is None else f"{came:.7g}, by {ways} way{'s' * (ways > 1)}"
    wrong = tools.told(_NOT_ONE_WAY, facts, f"`x.grad` is {second:.7g} at x = {number:.7g}{place}, by one way", got)
    right = (given + 1).detach() * (given * 4)
    wrong.verdict.picture = side_by_side(y, right, {"x": x}, {"x": x}, names=True)
    raise wrong


_NOT_ONE_WAY = kit.patterns("""
new-leaf: new_leaf=True
    A backward from your result comes to a leaf that does not belong to `x`.
    look: each flag that is set: on which tensor?
all-cut: brings=nothing
    Nothing leads back to `x`. The way through `x * 4` has to stay.
    look: which parts of the product lose their history
cancelled: brings=second
    The number is right. But there are several ways in the graph, and one was asked for.
    look: what each of the ways brings
both-ways: brings=both, several=True
    That is what the two ways bring, added: {first:.7g} + {second:.7g}.
    look: what still has a history
other-way: brings=first, adds=True
    That is what the way through `x + 1` brings. The one to keep goes through `x * 4`, and brings 4 times the value of
    `x + 1`.
    look: which factor you cut
other-gradient: else
    What arrives is not what the way through `x * 4` brings.
    look: each operation on the way to `x`
""")


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Who is still alive?",
    kind="predict",
    points=2,
    beliefs=("M28",),
    hints=(
        "For each line ask: who still refers to this tensor? A name, or a node that saved it?",
        "`a * a` saves `a`. `error ** 2` saves `error`. `total` keeps its node, and that keeps all before it.",
        "backward() frees what the nodes behind `y` saved. `del total` lets its whole graph go.",
    ),
    idea="A: yes, the node of `y` saved it. B: yes, through `total`. C: no, backward() freed what was saved. "
    "D: no, nothing keeps that round any more. E: yes, by the name `error`.",
)
def alive(answer):
    truth = {"A": True, "B": True, "C": False, "D": False, "E": True}
    kit.predicted(answer, truth, _ALIVE, "True (alive) or False (gone)")
    return "A name keeps a result, a result its node, a node what it saved and the nodes before it."


_ALIVE = kit.patterns("""
the-other-way-round: A=False, B=False, C=True, D=True, E=False
    Each of the five is the other one.
    look: what `is not None` says of a reference to a tensor that is gone
only-names-keep: A=False, B=False
    Not only names keep a tensor. The node of a result keeps what it saved, and `y` and `total` are results.
    look: `saved=True` in a picture of `y`, and of `total`, just after the lines of A and B
back-again: A=False, C=True or B=False, D=True
    What is gone does not come back, and by your answer a tensor does. It is alive at first: a node has saved it.
    look: `saved=True` in a picture of `y`, and of `total`, just after the lines of A and B
watch-keeps: A=True, B=True, C=True, D=True, E=True
    A weak reference keeps nothing, backward() frees what was saved, and `del total` lets its graph go.
    look: who else refers to `a` after backward(), and to the first `error` after `del total`
total-is-a-number: B=False (M28)
    In the text `total` is a tensor with a history: every round so far hangs on it, with what its nodes saved.
    look: the line `total += error**2`, and `total.grad_fn` after it
saved-forgotten: A=False
    The name is gone, but `a * a` saved `a`: it needs it for the way back.
    look: the line `y = a * a`, and `y.grad_fn._saved_self` before backward()
backward-keeps: C=True
    backward() frees what the nodes saved. Nothing else referred to `a`.
    look: who refers to `a` after the line `y.backward()`
kept-for-ever: D=True
    Only the graph behind `total` kept the first `error`. With the last name of `total`, all of it goes.
    look: who refers to the first `error` after `del total`
name-forgotten: E=False
    The graph behind `total` is gone. But `del total` deletes no other name: `error` still refers to the last tensor.
    look: which names the text deletes, and which are left
""")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A report that keeps everything",
    kind="fix",
    points=2,
    off={"grad": "each round goes backward"} | dict.fromkeys(("again", "old grad"), "the gradients are added up"),
    beliefs=("M27", "M28"),
    hints=(
        "What is `total` after the first round: a number, or a tensor with a `grad_fn`?",
        "Take the number out of each loss, in the round in which it is computed.",
        "`total += loss.item()`; the `backward()` before it stays.",
    ),
    idea="`total += loss.item()` in the loop. The number has no history, so nothing of a round survives the "
    "next one. `loss.detach()` does it, too.",
)
def mean_loss(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_MEAN_LOSS)
    for start, batches in (
        (2.0, [1, 3, 2]),  # no floats: where a float is asked for its backward, it is no batch
        (3.0, [0.1]),
        (-0.1234567, [1, 1, 2, 4]),
        (1.5, [3.0, 1.0, 1.1]),  # the second loss is 0, its slope is not
        (2.0, [0.5 + number / 100 for number in range(305)]),
    ):
        _check_mean_loss(answer, start, batches)
    _check_mean_loss(answer, 1.0, [1.0, 0.7], noise=0.125)
    return "You kept a number of each round, and no graph older than the last round's stayed in memory."


_GIVEN_MEAN_LOSS = """
def mean_loss(model, batches):
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss
    return total / len(batches)
"""


class _Model:
    """Squared errors of one weight, with `noise` that grows in each call. It watches the graphs of earlier rounds."""

    def __init__(self, start, noise):
        self.w, self.noise = tools.leaf(start), noise
        self.w.grad = tools.constant(7.0)
        self.rounds, self.losses, self.held, self.recorded = [], [], 0, None
        self.arrived, self.added = [], []
        self.w.register_hook(lambda grad: self.arrived.append(grad.item()))
        self.w.register_post_accumulate_grad_hook(lambda _: self.added.append(self.arrived[-1]))

    def loss(self, batch):
        self.held = max(self.held, self.alive(1))
        loss = (self.w * batch - 1) ** 2 - 0.25 + self.noise * len(self.losses)
        self.losses.append((loss.detach(), loss.item()))
        self.recorded = loss.requires_grad
        if loss._node is not None:
            self.rounds.append(weakref.ref(loss._node))
        return loss

    def alive(self, but_last=0):
        return sum(graph() is not None for graph in self.rounds[: len(self.rounds) - but_last])


def _check_mean_loss(answer, start, batches, noise=0.0):
    model, expected = _Model(start, noise), "backward() on the loss, then its number"
    given = tools.called(answer, (model.loss, list(batches)), expected, *_LOSS_ERRORS)
    number = kit.a_number(tools.something(given, answer, "the mean is a number"), "the mean")
    _refuse_history(answer, given, model)
    if any(not kit.close(now.item(), was) for now, was in model.losses):
        look = "each `+=` and its like: `detach()` and `.data` have the memory of the loss"
        raise Wrong("loss-overwritten", "each loss as `model` returned it", "one with another number now", look=look)
    errors = [start * batch - 1 for batch in batches]
    mean = sum(error**2 for error in errors) / len(batches) - 0.25 + noise * (len(batches) - 1) / 2
    zero = "One of the losses is 0. " * any(was == 0 for _, was in model.losses)
    below = sum(was < 0 for _, was in model.losses)
    if not kit.close(number, mean):
        zero = f"Losses below 0: {below} of {len(model.losses)}." if below else zero
        why, look, calls = zero, "what is added up, and what it is divided by", len(model.losses)
        if noise and calls > len(batches):
            why = f"`model` was called {calls} times for {len(batches)} batches. As with dropout, each loss is another."
            look = "how often each round computes its loss"
        raise Wrong("other-value", f"the mean of the losses, {mean:.7g}", f"{number:.7g}", why=why.strip(), look=look)
    if "dtype" not in trial.circumstances and not np.isclose(number, mean, 1e-10, 1e-12):
        why = "The losses have float64 here, with sixteen digits. Some are lost, or made up, on the way."
        expected, look = "a mean as exact as the losses", "what rounds, and each tensor that is made without a dtype"
        raise Wrong("rounded", expected, f"it is off by {abs(number - mean):.1g}", why=why, look=look)
    _check_walks(model, 7.0 + sum(2 * batch * error for batch, error in zip(batches, errors, strict=True)), zero)
    if model.held:
        expected = "the graph of a round is gone when the next but one begins"
        why = "What you return keeps none of these. But while the rounds run, graphs of older ones stay in memory."
        look = "what refers to a loss, or to its node, after its round"
        raise Wrong("kept-until-the-end", expected, f"older graphs there: {model.held}", why=why, look=look)
    if model.alive():
        look = "what refers to a loss, or to its node, when your function is over"
        raise Wrong("kept-after", "no graph is left after the call", "that of a round is still there", look=look)


def _refuse_history(answer, given, model):
    nodes = graphs.nodes(given) if type(given) is mg.Tensor else []
    if len(nodes) > len(model.rounds) > 100:
        got, look = f"a result with {len(nodes)} nodes behind it", "the flag of what is added up, in each round"
        why = f"After {len(model.rounds)} rounds there are that many. With each round more memory is taken."
        raise Wrong("graph-grows", "a number, or a tensor without history", got, why=why, look=look)
    kept = len({id(getattr(node, "_node", node)) for node in nodes} & {id(graph()) for graph in model.rounds})
    if kept:
        # Each loss has one addition itself.
        added_up = graphs.operations(given).count("add") > kept == len(model.rounds)
        belief = "M28" if added_up and not kit.uses(answer, "detach", "detach_", "clone") else ""
        got = f"{show(given)}, which keeps {kept} round{'s' * (kept != 1)}"
        why = "A result keeps its node, and that keeps the nodes behind it: the graphs of these rounds."
        look, expected = "what the result is made of: losses or numbers?", "a number, or a tensor without history"
        raise Wrong("graph-kept", expected, got, belief=belief, why=why, look=look)


def _check_walks(model, slope, zero):
    came, added = None if model.w.grad is None else model.w.grad.item(), sum(model.added)
    if came is None or not kit.close(came, slope):
        why = zero + "In each round one `backward()`, from the loss of that round, has to add to the weight's `.grad`. "
        walks, calls = len(model.added), len(model.losses)
        why += f"Here backward() added {added:.7g}. Walks that came to it: {walks}; calls of `model`: {calls}."
        expected = f"the weight's `.grad` is {slope:.7g}: 7 from before, and what a backward() in each round brings"
        other = came is None or not kit.close(came, 7.0 + added)
        look = "what sets or clears a `.grad`" if other else "from what each round goes backward, and how often"
        raise Wrong("backward-changed", expected, f"`.grad` is {show(came)}", why=why, look=look)
    if model.w.grad.requires_grad:
        look = "the options of `backward`, and what is put into a `.grad`"
        raise Wrong("grad-recorded", "a `.grad` without history", "it has a graph of its own", look=look)


_LOSS_ERRORS = tools.reasons(
    """
mode-left: recording is off from then on
    When your function is over, recording is to be on, as it was. Where it is off, `model` records nothing.
    look: what switches it off: `item()` and `detach()` need no switch, and a `with` block puts it back
not-recorded: element 0 of tensors does not require grad
    The last call of `model` was not recorded, so its loss has no history. backward() needs one.
    look: what is inside `no_grad()` and its like
cut-too-early: element 0 of tensors does not require grad
    The loss had a history, and what you go backward from has none. Backward first, then take the number.
    look: from what you go backward, and when the number is taken
cut-too-early: 'float' object has no attribute 'backward' (M27)
    A number has no history, and no `backward`. Backward first, then take the number.
    look: from what you go backward, and when the number is taken
""",
    not_recorded=lambda loss, _: loss.__self__.recorded is False,
    cut_too_early=lambda loss, _: loss.__self__.recorded is not None,
)


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Slopes at a kink",
    kind="predict",
    points=2,
    beliefs=("M38",),
    hints=(
        "There is an answer in every one of them, and no error.",
        "C: the two largest share one slope. D: which branch runs at 0? Look at the `>=`.",
        "E: go along both ways, and use what `relu` answers at 0. The formula is not what ran.",
    ),
    idea="A and B: 0, the fixed answer of `relu` and of `abs`. C: 0.5, half of 1 for each of the two. D: 1, because "
    "`x` itself was returned. E: 0 from each way, although the function is just `x`.",
)
def kinks(answer):
    truth = {"A": 0.0, "B": 0.0, "C": 0.5, "D": 1.0, "E": 0.0}
    looks = {letter: f"line {letter} alone, with a new `{'t' if letter == 'C' else 'x'}`" for letter in truth}
    kit.predicted(answer, truth, _KINKS, "a number, or None for an error", looks)
    return "The answer at a kink belongs to the operation that ran, not to the function it computes."


_KINKS = kit.patterns("""
error: C=None
    Nothing is raised: at a tie, too, `max()` has a fixed answer. It arrives in `t.grad`.
    look: `t.grad` after line C, in a cell
error: A=None or B=None (M38)
    Nothing is raised, at no kink and at no tie: each operation has a fixed answer.
    look: that line in a cell, below the lines above
error: D=None
    Nothing is raised. At 0 the function returned `x` itself, and `backward()` from a leaf fills its `.grad`, too.
    look: which branch runs for `x >= 0`, and what it returns
error: E=None
    Nothing is raised: each of the operations that ran has a fixed answer at 0.
    look: that line in a cell, below the lines above
same-everywhere: A=1, B=1, D=1, E=1
    All four are 1, but not each of these lines alone leaves 1 in a new `x.grad`.
    look: each line alone, with a new `x`; and whether your entries are four numbers, or one tensor four times
value-not-slope: C=3
    3 is the value of `t.max()`. The question is what arrives in `t.grad`.
    look: what each line leaves in `.grad`, not what it computes
relu-other-answer: A=1 or A=0.5
    1 is the slope on the right of 0, and 0.5 is halfway. At 0 itself, `relu` answers with the slope on the left.
    look: `mg.relu` at 0 in chapter 03, section 7
abs-one-side: B=1 or B=-1
    1 is the slope on the right of 0, and -1 is the one on the left. `abs` takes neither.
    look: `mg.abs` at 0 in chapter 03, section 7
tie-not-shared: C=1
    Two entries are the largest, and together they get 1. `max()` shares it evenly.
    look: how many entries are the largest, and the difference between `max()` and `max(dim=0)`
tie-lost: C=0
    The first entry is one of the two largest. `max()` without `dim=` leaves none of them out.
    look: the difference between `max()` and `max(dim=0)`
if-like-abs: D=0
    0 is what `mg.abs` answers. Here no `abs` ran: at 0 the function returned `x` itself.
    look: which branch runs for `x >= 0`
other-branch: D=-1
    At 0, `x >= 0` is True, so the other branch ran.
    look: the sign in the condition
formula-not-operations: E=1
    As a formula it is `x`, with slope 1. But two `relu`s ran, and each answers 0 at 0.
    look: line E alone, with a new `x`: the two ways to it, one after the other
""")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A ramp of your own",
    kind="write",
    points=2,
    off={"memory": "above 0 the result may be `x` itself"},
    beliefs=("M25", "M38"),
    hints=(
        "Which branch should run at 0: the one of the positive numbers, or the other?",
        "The other branch has to lead back to `x`, too: a slope of 0 is not the same as no history.",
        "`x * 0` has the value 0, the slope 0, and an edge to `x`.",
    ),
    idea="`return x if x >= 0 else x * 0`. At 0 the first branch runs, so the slope there is 1. Below, `x * 0` "
    "gives 0 and leads back to `x`.",
)
def ramp(answer):
    kit.a_function(answer)
    for number in (2.0, -3.0, 0.0, -0.0, 0.25, 1e-30, -1e-30, 3e38, -3e38):
        x = mg.tensor(number, requires_grad=True)
        _check_ramp(_ramp_at(answer, x, number), x, number)
    leaves = [tools.leaf([number]) for number in (2.1234567890123, -1.0, 0.0)] + [tools.leaf(-2.0), tools.leaf(0.0)]
    # Called again before any backward, at last with results.
    given = [_ramp_at(answer, x if x.dim() else x * 1, x.item()) for x in leaves]
    trial.forget_last()
    for y, x in zip(given, leaves, strict=True):
        _check_ramp(y, x, x.item(), "" if x.dim() else ", where `x` is the result of an operation")
    return "At a kink the slope is that of what ran there, and you chose what runs."


def _ramp_at(answer, x, number):
    given = tools.called(answer, (x,), "the value 0 at x = 0, and no error", *(_AT_KINK if number == 0 else ()))
    return tools.something(given, answer, f"a tensor at x = {number:.7g}")


_AT_KINK = tools.reasons("""
error-at-kink: (raised by your code) (M38)
    There is no need to refuse: at a kink, too, some operation runs, and it has a slope.
    look: what your function does at 0
""")


def _check_ramp(given, x, number, place=""):
    y = given if type(given) in (int, float) else tools.result(given)
    slope, at = float(number >= 0), f"at x = {number:.7g}{place}"
    if x.grad is not None:
        raise tools.filled("the value alone", f"`x.grad` is filled {at}")
    if type(y) is mg.Tensor and (y.shape != x.shape or y.item() != max(x.item(), 0.0)):
        shape, came = ("", f"{y.item():.8g}") if y.shape == x.shape else (f", of shape {tuple(x.shape)},", show(y))
        raise Wrong("other-value", f"{max(x.item(), 0.0):.8g}{shape} {at}", came, look="what your function does there")
    arrives = 2.0 if x.dim() else -2.0
    if type(y) is mg.Tensor and graphs.reaches(y, x):
        tools.walk(y.backward, mg.full_like(y.detach(), arrives))
    came = None if x.grad is None else x.grad.item() / arrives + 0.0  # no -0
    if came is not None and kit.close(came, slope):
        return
    facts = {"at_0": number == 0, "came": came, "below": number < 0 and x.requires_grad}
    if came is None:
        got = show(given)
    else:
        facts |= {"half": kit.close(came, 0.5), "maximum": "maximum" in graphs.operations(y)}
        got = f"the slope {came:.7g} {at}: where {arrives:.7g} arrives, `x.grad` is {x.grad.item():.7g}"
    expected = f"a way back to `x`, with the slope {slope:.7g} {at}"
    raise tools.told(_NOT_RAMP, facts, expected, got, no_way_back=type(y) is mg.Tensor and not y.requires_grad)


_NOT_RAMP = kit.patterns("""
no-way-back: came=None, below=True (M25)
    From this result no gradient comes to `x`, and a slope of 0 is a number, too.
    look: how to make 0 out of `x`, and keep the way to it
no-way-back: came=None
    look: what your result is made from
slope-of-relu: at_0=True, came=0
    At 0 your function has the slope of what ran there, and that is 0, as for `relu`. It should be 1.
    look: what runs at 0
tie-shared: at_0=True, half=True, maximum=True
    `maximum` ran. Where its two inputs are equal, the tie is shared: half for each.
    look: each operation that runs at 0
halfway: at_0=True, half=True
    That is halfway between 0 and 1. The slope at 0 is that of the operations that ran there.
    look: the slope of each operation that runs at 0
other-slope: else
    look: the operations that run there, and what becomes of the gradient that arrives
""")


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Put the nodes in order",
    kind="write",
    points=3,
    hints=(
        "First count, for every node, how many edges lead to it. The root is the only one with none.",
        "A node whose edges have all been delivered is ready: put it into the result, and deliver along its own edges.",
        "Delivering takes one off the count of the node at the other end. When that count is 0, the node is ready.",
    ),
    idea="Walk once to count the edges into every node. Then start with `ready = [root]`; take a node from "
    "it, append it to the order, and take one off the count of each node its edges lead to. Whose count comes to "
    "0 is ready. (Or: depth first, append a node after all its edges, and reverse.)",
)
def backward_order(answer):
    kit.a_function(answer)
    for make in (_neuron, _two_results, _ladder, _doubled, _alike):
        root = make()[0].grad_fn
        _check_order(answer, _walked(answer, root, make.__doc__), root, make.__doc__)
    (end, _), *_ = _neuron()[0].grad_fn.next_functions[0][0].next_functions
    _check_order(answer, _walked(answer, end, "the end of a leaf."), end, "the end of a leaf.")
    root = _alike()[0].grad_fn
    _check_unheld(answer, root, lambda given: _check_order(answer, given, root, _alike.__doc__))
    return "Each node comes after everything that sends to it, so its sum is complete when its turn comes."


def _ladder():
    """`(x + x) * (x + x) + x.sin().sin().sin()` as `h`, then six times `h.sin().sin() + h` and `h + h.sin().sin()`."""
    x = mg.tensor(0.01, requires_grad=True)
    h = (x + x) * (x + x) + x.sin().sin().sin()
    for _ in range(6):
        h = h.sin().sin() + h
        h = h + h.sin().sin()
    return h, {"x": x}


def _check_order(answer, given, root, graph):
    nodes = graphs.nodes_behind(root)
    expected = f"a list of all nodes, {len(nodes)} of them, in an order for backward(), for {graph}"
    given = _listed(answer, given, expected, (list, tuple))
    strange = [item for item in given if not any(item is node for node in nodes)]
    places = {id(node): place for place, node in enumerate(given)}
    missing = [node for node in nodes if id(node) not in places]
    edges = [(node, after) for node in nodes for after, _ in node.next_functions if after is not None]
    early = [pair for pair in edges if not missing and places[id(pair[1])] < places[id(pair[0])]]
    if strange:
        raise tools.told(_NOT_IN_IT, {"none": strange[0] is None}, expected, f"{show(strange[0])} among them")
    if len(places) < len(given) or missing or early:
        got = f"{len(given)} entries for {len(places)} nodes"
        if missing and len(places) == len(given):
            got = f"{len(places)} of {len(nodes)}; one that is missing is {_name(missing[0])}"
        elif early and len(places) == len(given):
            late, first = map(_name, early[0])
            got = f"{first} has its turn before {late}, which still has something for it"
        facts = {"twice": len(places) < len(given), "missing": bool(missing), "forward": early == edges}
        facts |= {"no_root": missing == [root], "no_ends": bool(missing)}
        of_operations = [node for node in nodes if node.next_functions]
        facts["no_ends"] &= all(id(node) in places for node in of_operations)
        raise tools.told(_NOT_IN_ORDER, facts | {"root": _name(root)}, expected, got)


_NOT_IN_IT = kit.patterns("""
empty-entry: none=True
    None is no node. An empty entry `(None, 0)` leads nowhere: nothing is sent to a constant.
    look: each line that puts something into the list: may it be None?
no-node: else
    That is no node of this graph. The list should hold its nodes themselves.
    look: what you put into the list
""")
_NOT_IN_ORDER = kit.patterns("""
node-twice: twice=True
    Each node has one turn: it waits until all has arrived, then it passes the sum on, once.
    look: each line that puts a node into the list: may it be there already?
node-missing: no_root=True
    The root needs a turn, too, as each node behind it.
    look: where the root gets into the list, and whether it stays there
node-missing: no_ends=True
    The ends of leaves are nodes, too, and each needs a turn.
    look: what your walk does with a node that has no edges, and when one is ready
node-missing: missing=True
    Every node needs a turn.
    look: what your walk skips, where it stops, and whether each arrow that was counted is struck out
way-forward: forward=True
    This is an order in which values are computed: {root}, the root, stands last. Gradients come from the other end.
    look: which node comes first: the root, or a leaf?
too-early: else
    A node that goes too early has an incomplete sum. Its turn comes when every arrow into it has delivered.
    look: what decides the place of a node: does all that sends to it stand before it?
""")


def _name(node):
    return f"`{type(node).__name__}`"  # the end of a leaf by its short name


chapter.lock()
