"""The checks of chapter 03, "What does autograd remember?"."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import graphs, kit, tools
from exercises.checks.adversaries import trial
from exercises.checks.kit import Pattern, Wrong, call, show
from exercises.checks.targets import Targets, side_by_side

chapter = kit.Chapter(__name__, "03", "What does autograd remember?")

_TURNS = 100_000  # more looks at next_functions than that, in a graph of 41 nodes: every way is walked
_DRAWN = 30  # a larger graph is no near miss, and no picture to learn from


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
    kit.predicted(answer, truth, _FOLLOW, "a number", _FOLLOW_LOOKS)
    return "One node for an operation, however often its result is used; constants have none."


_FOLLOW_LOOKS = {
    "nodes": "each line that computes something, and each tracked leaf",
    "edges_of_z": "the inputs of the addition",
}
_FOLLOW = kit.patterns("""
constant-has-node: p_to_k=True
    `k` is not tracked, so nothing is sent to it. Its entry is the empty `(None, 0)`.
    look: `p.grad_fn.next_functions[1]`
copied: z_to_p=False
    `p` was computed once, so it has one node. Whoever uses `p` points at that very node.
    look: how often the line `p = x * k` runs
each-way: nodes=6
    6 is what one counts along each way. Two ways lead through the node of `p`, but it is one node.
    look: the boxes of a picture: is the multiplication drawn twice?
end-forgotten: nodes=3
    The end of the leaf is a node, too: the `AccumulateGrad` that fills `x.grad`.
    look: `p.grad_fn.next_functions[0]`
one-too-many: nodes=5
    Three operations and the end of one tracked leaf. A constant has no node, and `p` has one.
    look: whether you counted `k`, or the node of `p` twice
one-edge: edges_of_z=1
    There is one entry for each input of the addition, and it has two: `q` and `p`.
    look: the right-hand side of the line that makes `z`
all-edges: edges_of_z=3
    `next_functions` holds the edges of one node only: one for each input of that operation.
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


_EXP = "The derivative of exp is exp itself: the local derivative is the result, `exp(0) = 1`, not the input 0."
_CHAIN = kit.patterns("""
grad-before: before=15 (M35)
    The forward pass leaves a graph, not a gradient. `.grad` is None until backward() has run.
    look: the order of the lines
zero-before: before=0 (M35)
    Before backward() nothing has been computed, not even a zero: `.grad` is None.
    look: `v.grad` of a new tensor
exp-input: de/dp=0 (M36)
    The derivative of exp is exp itself: the local derivative is the result, `exp(0) = 1`, not the input 0.
    look: `e.grad_fn._saved_result` before backward()
value-of-e: dz/de=1
    1 is the value of `e`. When `e` moves by a little, `e * 5` moves five times as much.
    look: what `z` is for `e = 1` and for `e = 2`
value-of-v: dp/dv=0
    0 is the value of `v`, and of `p`. When `v` moves by a little, `v * 3` moves three times as much.
    look: what `p` is for `v = 0` and for `v = 1`
zero-product: v.grad=0
    None of its three factors is 0.
    look: the three factors of `v.grad`
added-along: v.grad=9
    9 is the sum of the local derivatives. Along one way they are multiplied; only what different ways bring is
    added.
    look: how many ways lead from `z` to `v`
factor-lost: v.grad=5
    The way goes on: through exp, and through the multiplication by 3.
    look: each node between `z` and `v`
one-step: v.grad=3
    That is the last step alone. What arrives at it is multiplied with it.
    look: what arrives at the node of `p`
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
    for make in (_neuron, _diamond, _wide, _alike, _ladder, _two_results):
        result, names = make()
        _check_leaves(_walked(answer, result), names)
    counted, leaves = _doubled_tensor(40)
    _check_leaves(_walked(answer, counted), leaves)
    _check_unheld(answer)
    return "Your walk finds every leaf that backward() would reach, and each once."


def _neuron():
    w, x, b = (mg.tensor(n, requires_grad=True) for n in (0.0, 2.0, [5.0]))
    return w * x.detach() + b, {"w": w, "b": b}


def _diamond():
    x = mg.tensor(2.0, requires_grad=True)
    return (x + 1) * (x * 4), {"x": x}


def _wide():
    a, b, c, d = (mg.tensor([n, 1.0], requires_grad=True) for n in (1.0, 2.0, 3.0, 4.0))
    b.grad = mg.ones(2)
    return ((2 - a.exp()) * (b / c) + (b - d).exp()).sum(), {"a": a, "b": b, "c": c, "d": d}


def _alike():
    """Leaves with equal numbers, three of them behind one node, and one a long way off."""
    a, b, c, far = (mg.tensor(1.0, requires_grad=True) for _ in range(4))
    h = far
    for _ in range(100):
        h = h + 1
    return mg.stack([a, b, c]).sum() + h.sum(), {"a": a, "b": b, "c": c, "far": far}


def _two_results():
    """A constant before a tracked factor, and nodes with two results: of one both meet, of the other one is unused."""
    u, x, v = (mg.tensor([n, 3.0], requires_grad=True) for n in (1.0, 2.0, 5.0))
    (one, two), (_, alone) = (x * 1).unbind(), v.exp().unbind()
    return mg.tensor(7.0) * u.sum() + two * alone + one * two, {"u": u, "x": x, "v": v}


_WALK_ERRORS = tools.reasons("""
empty-entry-followed: 'NoneType' object has no attribute
    Something is None here. A constant has the empty entry `(None, 0)`: there is no node to ask for edges.
    look: what your walk does with an entry whose node is None
pair-not-node: 'tuple' object has no attribute
    Each entry of `next_functions` is a pair: a node and a number. You can only ask the node.
    look: how your walk takes the node out of its pair
variable-everywhere: object has no attribute 'variable'
    Only the end of a leaf has a `.variable`. The node of an operation has edges instead.
    look: `hasattr(node, "variable")`
compared-by-value: Boolean value of Tensor
    `in` and `==` compare the numbers of two tensors. You want to know whether it is the same tensor.
    look: `is`; or remember the nodes that you have seen, not the leaves
""")


def _walked(answer, start):
    """What the learner's walk gives; the errors that a walk meets become diagnoses of their own."""
    return tools.called(answer, (start,), "a walk over the whole graph", *_WALK_ERRORS)


def _check_leaves(given, names):
    expected = f"a list of the leaves {tools.listed([f'`{name}`' for name in names])}"
    if given is None:
        raise Wrong("none", expected, "None", look="whether a `return` is missing")
    if type(given) not in (list, tuple, set, frozenset):
        raise Wrong("type", expected, show(given), look="what `return` gives back")
    items = list(given)
    others = [item for item in items if type(item) is not mg.Tensor]
    if others:
        raise _no_leaf(others[0], expected)
    found = [name for item in items for name, leaf in names.items() if item is leaf]
    came = tools.listed([f"`{name}`" for name in found]) or "no leaf of the graph"
    if len(found) < len(items):
        look = "each tensor in the list: is it itself a leaf that this graph ends in?"
        came = f"{came}, and another tensor" if found else "another tensor"
        raise Wrong("other-tensor", expected, came, look=look)
    missing = [name for name in names if name not in found]
    if missing:
        has_old = names[missing[0]].grad is not None
        raise Wrong(
            "leaf-missing",
            expected,
            came,
            why=f"A way leads to `{missing[0]}`, which is not in your list." + " It has an old `.grad`." * has_old,
            look="whether every edge of every node is followed, and what keeps a leaf out of your list",
        )
    if len(found) > len(names):
        why = "However many ways lead to it, the end of a leaf is one node, and one leaf."
        look = "when a leaf is put into the list, and which nodes your function remembers"
        raise Wrong("leaf-twice", expected, came, why=why, look=look)


def _check_unheld(answer):
    """A graph that was walked above, but not as an argument: the nodes of arguments are held by the check."""
    result, names = _alike()
    if len(call(lambda: answer(result))) < len(names):
        expected, got = "the same leaves where nothing else refers to a node", "fewer of them"
        why = "A node that nothing refers to is gone, and the next one that Python makes may get its `id`."
        look = "what your function remembers of a node: the node itself?"
        raise Wrong("node-not-kept", expected, got, why=why, look=look)


def _no_leaf(item, expected):
    if hasattr(type(item), "next_functions"):
        why = "Those are nodes. The end of a leaf is a node, too; the leaf itself is its `.variable`."
        return Wrong("node-not-leaf", expected, f"a list with {show(item)} in it", why=why, look="`.variable`")
    look = "what your function puts into the list"
    return Wrong("no-tensor", expected, f"a list with {show(item)} in it", look=look)


# --- Graphs that count how often one looks at them ------------------------------------------------


class _Looks:
    """How often anyone looked at the edges of a graph; too often is a diagnosis."""

    def __init__(self) -> None:
        self.count = 0
        self.shown: dict = {}

    def at(self, node: Any) -> Any:
        """The stand-in of a node: always the same one, of a class with the node's own name."""
        if id(node) not in self.shown:
            kind = type(type(node).__name__, (_CountedNode,), {})
            self.shown[id(node)] = kind(node, self)
        return self.shown[id(node)]

    def take(self) -> None:
        self.count += 1
        if self.count > _TURNS:
            expected = "a look at each of some forty nodes, after forty doublings `h = h + h`"
            got = f"more than {_TURNS:,} looks, and not done yet"
            why = "The same nodes are looked at again and again. There are a million million ways through them."
            look = "where your function remembers which nodes it has seen"
            raise Wrong("every-way", expected, got, why=why, look=look)


class _CountedNode:
    """A node that counts the looks at its edges, and is otherwise the node that it stands for."""

    __class__: Any = mg.autograd.graph.Node  # for `isinstance`

    def __init__(self, node: Any, looks: _Looks) -> None:
        self._node, self._looks = node, looks

    @property
    def next_functions(self) -> tuple:
        self._looks.take()
        return tuple((node and self._looks.at(node), number) for node, number in self._node.next_functions)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def __repr__(self) -> str:
        return repr(self._node)


class _CountedTensor:
    """A tensor whose graph counts the looks at it."""

    __class__: Any = mg.Tensor

    def __init__(self, tensor: mg.Tensor) -> None:
        self._tensor, self.grad_fn = tensor, _Looks().at(tensor.grad_fn)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tensor, name)


def _doubled(times):
    leaf = mg.tensor(1.0, requires_grad=True)
    h = leaf
    for _ in range(times):
        h = h + h
    return h, leaf


def _doubled_tensor(times):
    h, leaf = _doubled(times)
    left, right = (mg.tensor(1.0, requires_grad=True) for _ in range(2))  # one of them comes after all the ways
    return _CountedTensor(left + h + right), {"left": left, "start": leaf, "right": right}


# --- 4 -------------------------------------------------------------------------------------------


def _shrink(x):
    while x > 1:
        if x > 4:
            x = x - 3
        else:
            x = x / 2
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
    if abs(number) > 1000:
        raise Wrong(
            "far-off", "a number of the size of those in the code", show(answer), look="how many boxes the picture has"
        )
    x = mg.tensor(number, requires_grad=True)
    y = _shrink(x)
    try:
        _targets.refuse_other(y, "shrunk", _why_not_shrunk(y, number))
    except Wrong as wrong:
        wrong.verdict.picture = _both_graphs(x, y)
        raise
    return "The picture shows what ran, so it says which branch each round of the loop took."


def _both_graphs(x, y):
    """The graph to build beside the learner's, without our number: it is the answer."""
    if len(graphs.operations(y)) > _DRAWN:
        return None
    target, names = _shrunk()
    expected = mg.viz.record(target, params={"shrunk": target, **names}, values=False)
    return mg.viz.draw_difference(expected, mg.viz.record(y, params={"x": x}))


def _why_not_shrunk(y, number):
    ran = graphs.operations(y)
    subtractions, divisions = ran.count("sub"), ran.count("div")
    if not ran:
        why = f"{number:.7g} is not more than 1, so the loop did not run once. Nothing was recorded."
        return Wrong("nothing-ran", why=why, look="the condition after `while`")
    if subtractions != 2:
        code = "too-few-subtractions" if subtractions < 2 else "too-many-subtractions"
        why = f"From {number:.7g} the branch `x > 4` {_runs(subtractions)}. In the picture it ran twice."
        return Wrong(code, why=why, look="the value of `x` after each round")
    why = f"From {number:.7g} the two subtractions run, and then {divisions} divisions. In the picture it is one."
    return Wrong("too-many-divisions", why=why, look="what is left after the second subtraction")


def _runs(count):
    return {0: "never runs", 1: "runs once"}.get(count, f"runs {count} times")


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
    for number in (2.0, -3.0, 250.0, 0.5, 0.0, -1.0, 1.0, 1e-3, -1e15, 0.1234567, 0.3):
        x = mg.tensor(number, requires_grad=True)
        _check_one_way(call(answer, x), x, number)
    for x in (mg.tensor(0.3, dtype=mg.float64, requires_grad=True), mg.tensor([0.3], requires_grad=True)):
        _check_one_way(call(answer, x), x, number)
    result = x * 1  # a tensor that requires grad, too
    given = tools.called(answer, (result,), "one way to `x`, through `x * 4`", *tools.FLAG_OF_A_RESULT)
    if not graphs.reaches(result, x):
        look = "how to use the value of `x + 1`, and leave `x` alone"
        raise Wrong("input-changed", "`x` as it was: a result", "`x` has no history any more", look=look)
    _check_one_way(given, x, number)
    return "One way is left, so one contribution arrives: 4 times the value of `x + 1`."


def _check_one_way(given, x, number):
    if not x.requires_grad:
        why = "The flag is off on `x` itself. From now on it gets no gradient anywhere."
        look = "how to use the value of `x + 1`, and leave `x` alone"
        raise Wrong("input-changed", "`x` as it was", "`x.requires_grad` is False now", why=why, look=look)
    if x.grad is not None:
        raise tools.filled("the product, before any backward()", f"{show(given)}, and `x.grad` is filled already")
    y = tools.result(given)
    value = np.full(tuple(x.shape), (number + 1) * number * 4)
    look = "the value and its shape: only one way should go"
    tools.refuse_other_values(y, value, "the value of `(x + 1) * (x * 4)`", look)
    if y.dtype is not x.dtype:
        look = "what changes the dtype on the way"
        raise Wrong("other-dtype", f"a result of {x.dtype}, as what is given", str(y.dtype), look=look)
    _check_ways(y, x, number)


def _check_ways(y, x, number):
    first, second = 4 * number, 4 * (number + 1)
    found = graphs.leaves(y)
    if any(leaf is not x for leaf in found):
        raise _wrong_way("new-leaf", y, x, "a leaf that is not `x`", "each flag that your function sets")
    # It leaves `y` as it is, to be drawn.
    came = tools.walk(lambda: mg.autograd.grad(y, x, retain_graph=True))[0].item() if found else None
    expected = f"`x.grad` is {second:.7g} at x = {number:.7g}"
    if came is None:
        wrong = _wrong_way("all-cut", y, x, "no way to `x` at all", "how much of the product you took out")
    elif kit.close(came, second) and _ways(y.grad_fn) == 1:
        return
    elif kit.close(came, second):
        wrong = _wrong_way(
            "cancelled", y, x, "that number, and several ways in the graph", "what each of the ways brings"
        )
    elif kit.close(came, first + second):
        wrong = _wrong_way("both-ways", y, x, f"both ways: {first:.7g} + {second:.7g}", "what still has a history")
    elif kit.close(came, first) and "AddBackward0" in [node.name() for node in graphs.nodes(y)]:
        came = f"{came:.7g}, which is what the way through `x + 1` brings"
        wrong = _wrong_way("other-way", y, x, came, "which factor you cut")
    else:
        wrong = _wrong_way("other-gradient", y, x, f"a gradient of {came:.7g}", "each operation on the way to `x`")
    wrong.verdict.expected = expected
    raise wrong


def _ways(node):
    """How many ways lead from a node to the ends of leaves."""
    return hasattr(node, "variable") or sum(_ways(following) for following, _ in node.next_functions if following)


_WHY_NOT_ONE_WAY = {
    "new-leaf": "There is an edge to a leaf that your function makes and asks for.",
    "all-cut": "Nothing leads back to `x`. The way through `x * 4` has to stay.",
    "both-ways": "That is what the two ways bring, added.",
    "other-way": "The right way to keep is the one through `x * 4`; it brings 4 times the value of `x + 1`.",
    "cancelled": "The number is right. But there are several ways in the graph, and one was asked for.",
    "other-gradient": "What arrives is not what the way through `x * 4` brings.",
}


def _wrong_way(code, y, x, came, look):
    picture = side_by_side(y, (x + 1).detach() * (x * 4), {"x": x}, {"x": x}, names=True)
    return Wrong(code, "one way to `x`, through `x * 4`", came, why=_WHY_NOT_ONE_WAY[code], look=look, picture=picture)


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
only-names-keep: A=False, B=False (M28)
    Names are not the only thing that keeps a tensor. The node of a result keeps what it saved, and `y` and `total`
    are results.
    look: `saved=True` in a picture of `y`, and of `total`
total-is-a-number: B=False (M28)
    `total` is a tensor with a history: every round so far hangs on it, with what its nodes saved.
    look: `total.grad_fn`
saved-forgotten: A=False
    The name is gone, but the multiplication saved `a`: it needs it for the way back.
    look: `y.grad_fn._saved_self`
backward-keeps: C=True
    backward() frees what the nodes saved. Nothing else referred to `a`.
    look: who refers to `a` after the line `y.backward()`
kept-for-ever: D=True
    Only the graph behind `total` kept the first `error`. With the last name of `total`, all of it goes.
    look: who refers to the first `error` after `del total`
name-forgotten: E=False
    The graph is gone, but the name `error` still refers to the last of the three tensors.
    look: which names there are at the end
""")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A report that keeps everything",
    kind="fix",
    points=2,
    off={
        "grad": "each round goes backward",
        "again": "the gradients are added up",
        "old grad": "the gradients are added up",
    },
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
    many = [0.5 + number / 100 for number in range(305)]
    for start, batches, noise in (
        (2.0, [1.0, 3.0, 0.5], 0.0),
        (-1.0, [2.0, 1.5, 4.0, 1.0], 0.0),
        (3.0, [0.1], 0.0),
        (0.1234567, [1, 1, 2], 0.0),
        (1.5, [3.0, 1.0, 1.1], 0.0),  # the second loss is 0, its slope is not
        (2.0, many, 0.0),
        (1.0, [1.0, 0.7], 0.125),
    ):
        _check_mean_loss(answer, start, batches, noise)
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
    """Squared errors of one weight, and noise that grows with each call, as dropout gives other losses in each.

    It watches whether the graphs of earlier rounds are still there.
    """

    def __init__(self, start, noise):
        self.w, self.noise = tools.leaf(start), noise
        self.w.grad = tools.constant(7.0)
        self.rounds, self.losses, self.held = [], [], 0

    def __call__(self, batch):
        self.held = max(self.held, self.alive(self.rounds[:-1]))
        loss = (self.w * batch - 1) ** 2 - 0.25 + self.noise * len(self.losses)
        self.losses.append((loss.detach(), loss.item()))
        if loss._node is not None:
            self.rounds.append(weakref.ref(loss._node))
        return loss

    @staticmethod
    def alive(rounds):
        return sum(graph() is not None for graph in rounds)


def _check_mean_loss(answer, start, batches, noise):
    model = _Model(start, noise)

    def watched(batch):
        return model(batch)

    given = tools.called(answer, (watched, list(batches)), "backward() on the loss, then its number", *_LOSS_ERRORS)
    errors = [start * batch - 1 for batch in batches]
    number = kit.a_number(given, "the mean")
    _refuse_history(given, model, "" if kit.uses(answer, "detach", "detach_") else "M28")
    if any(not kit.close(now.item(), was) for now, was in model.losses):
        expected, got = "each loss as `model` returned it", "one that holds another number now"
        look = "what is changed in place: `detach()` shares its memory"
        raise Wrong("loss-overwritten", expected, got, look=look)
    mean = sum(error**2 for error in errors) / len(batches) - 0.25 + noise * (len(batches) - 1) / 2
    if not kit.close(number, mean):
        expected, look = f"the mean of the losses, {mean:.7g}", "what is added up, and what it is divided by"
        calls, why = len(model.losses), ""
        if noise and calls > len(batches):
            why = f"`model` was called {calls} times for {len(batches)} batches, and here each call gives another loss,"
            why, look = why + " as with dropout.", "how often each round computes its loss"
        raise Wrong("other-value", expected, f"{number:.7g}", why=why, look=look)
    if "dtype" not in trial.circumstances and not np.isclose(number, mean, 1e-10, 1e-12):
        why = "The losses have float64 here, with sixteen digits. Some are lost, or made up, on the way."
        expected, look = "a mean as exact as the losses", "what rounds, and each tensor that is made without a dtype"
        raise Wrong("rounded", expected, f"it is off by {abs(number - mean):.1g}", why=why, look=look)
    slope = 7.0 + sum(2 * batch * error for batch, error in zip(batches, errors, strict=True))
    came = None if model.w.grad is None else model.w.grad.item()
    if came is None or not kit.close(came, slope):
        why = "In each round one `backward()`, from the loss of that round, has to add to the weight's `.grad`."
        expected = f"the weight's `.grad` is {slope:.7g}: 7 from before, and what a backward() in each round brings"
        look = "from what each round goes backward, and how often"
        raise Wrong("backward-changed", expected, f"`.grad` is {show(came)}", why=why, look=look)
    if model.w.grad.requires_grad:
        look = "the options of `backward`"
        raise Wrong("grad-recorded", "a `.grad` without history", "it has a graph of its own", look=look)
    if model.held:
        raise _held(model.held)
    if model.alive(model.rounds):
        look = "what has a name outside of your function"
        raise Wrong("kept-after", "no graph is left after the call", "that of a round is still there", look=look)


def _refuse_history(given, model, belief):
    kept = model.alive(model.rounds)
    if type(given) is mg.Tensor and given.grad_fn is not None and kept:
        expected = "a number, or a tensor without history"
        got = f"{show(given)}, which keeps {kept} round{'s' * (kept != 1)}"
        why = "A result keeps its node, and that keeps the nodes behind it: the graphs of these rounds."
        look = "what is added up in each round"
        raise Wrong("graph-kept", expected, got, belief=belief, why=why, look=look)


def _held(rounds):
    expected = "the graph of a round is gone when the next but one begins"
    got = f"{rounds} older {'graph is' if rounds == 1 else 'graphs are'} still there"
    why = "What you return keeps no graph. But while the rounds run, graphs of older ones stay in memory."
    look = "what refers to a loss, or to its node, after its round"
    return Wrong("kept-until-the-end", expected, got, why=why, look=look)


_CUT_TOO_EARLY = """
    There is no history when backward() needs it. Backward first, then take the number.
    look: from what you go backward, and when the number is taken
"""
_LOSS_ERRORS = tools.reasons(
    f"cut-too-early: does not require grad{_CUT_TOO_EARLY}"
    f"cut-too-early: 'float' object has no attribute 'backward' (M27){_CUT_TOO_EARLY}"
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
    looks = {letter: f"line {letter} in a cell of its own" for letter in truth}
    kit.predicted(answer, truth, (*_ERRORS, *_KINKS), "a number, or None for an error", looks)
    return "The answer at a kink belongs to the operation that ran, not to the function it computes."


_ERRORS = tuple(
    Pattern(
        f"error-{letter}",
        {letter: None},
        belief="M38",
        why="Nothing is raised, at no kink and at no tie: each operation has a fixed answer.",
        look=f"line {letter} in a cell of its own",
    )
    for letter in "ABCDE"
)
_KINKS = kit.patterns("""
relu-right-side: A=1
    That is the slope on the right of 0. At 0 itself, `relu` answers with the one on the left.
    look: `mg.relu` at 0 in chapter 03, section 7
halfway: A=0.5
    Halfway between 0 and 1 would be a possible choice, but `relu` has made another one.
    look: `mg.relu` at 0 in chapter 03, section 7
abs-one-side: B=1
    That is the slope on the right of 0, and -1 is the one on the left. `abs` takes neither.
    look: `mg.abs` at 0 in chapter 03, section 7
abs-other-side: B=-1
    That is the slope on the left of 0, and 1 is the one on the right. `abs` takes neither.
    look: `mg.abs` at 0 in chapter 03, section 7
tie-not-shared: C=1
    Two entries are the largest, and together they get 1. `max()` shares it evenly.
    look: how many entries of the tensor are the largest
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
    look: the two ways to `x`, one after the other
""")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A ramp of your own",
    kind="write",
    points=2,
    off={
        "memory": "above 0 the result may be `x` itself",
    },
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
    several = [(tools.leaf([number]), number) for number in (2.1234567890123, -1.0, 0.0)]
    made = [(tools.leaf(number), number) for number in (0.0, -2.0)]  # what is given is a result of these
    given = [_ramp_at(answer, *one) for one in several]  # called again before any backward
    given += [_ramp_at(answer, x * 1, number) for x, number in made]
    trial.forget_last()
    for y, (x, number) in zip(given, several + made, strict=True):
        _check_ramp(y, x, number)
    return "At a kink the slope is that of what ran there, and you chose what runs."


def _ramp_at(answer, x, number):
    try:
        return call(answer, x)
    except Wrong as wrong:
        if wrong.verdict.code == "raised" and number == 0 and "(your line: raise " in wrong.verdict.got:
            expected, got = "the value 0 at x = 0, and no error", wrong.verdict.got
            why = "There is no need to refuse: at a kink, too, some operation runs, and it has a slope."
            look = "what your function does at 0"
            raise Wrong("error-at-kink", expected, got, belief="M38", why=why, look=look) from None
        raise


def _check_ramp(given, x, number):
    slope = float(number >= 0)
    at = f"at x = {number:.7g}"
    if type(given) in (int, float):
        raise _no_way_back(given, number, at)
    y = tools.result(given)
    if x.grad is not None:
        raise tools.filled("the value alone", f"`x.grad` is filled {at}")
    if y.shape != x.shape or y.item() != max(x.item(), 0.0):
        shape = "" if y.shape == x.shape else f", of shape {tuple(x.shape)},"
        came = f"{y.item():.8g}" if y.shape == x.shape else show(y)
        raise Wrong("other-value", f"{max(x.item(), 0.0):.8g}{shape} {at}", came, look="what your function does there")
    sign = -1.0 if x.dim() else 1.0  # of the gradient that arrives
    slopes = tools.slopes(sign * y, x) if graphs.reaches(y, x) else None
    if slopes is None:
        raise _no_way_back(y, number if x.requires_grad else 0.0, at)
    came = sign * slopes.item() + 0.0  # no -0
    if not kit.close(came, slope):
        raise _wrong_ramp(came, slope, at, number, graphs.operations(y))


def _no_way_back(given, number, at):
    expected = f"a tensor from which backward() leaves a number in `x.grad` {at}"
    if number >= 0:
        return Wrong("no-way-back", expected, show(given), look="what your result is made from")
    why = "From this result backward() leaves nothing in `x.grad`, and a slope of 0 is a number, too."
    look = "how to make 0 out of `x`, and keep the way to it"
    return Wrong("no-way-back", expected, show(given), belief="M25", why=why, look=look)


def _wrong_ramp(came, slope, at, number, ran):
    expected, got = f"the slope {slope:.7g} {at}", f"the slope {came:.7g} {at}"
    if number == 0 and came == 0:
        why = "At 0 your function has the slope of what ran there, and that is 0, as for `relu`. It should be 1."
        return Wrong("slope-of-relu", expected, got, why=why, look="what runs at 0")
    if number == 0 and kit.close(came, 0.5) and "maximum" in ran:
        why = "At 0 two numbers are the largest, and the tie is shared: half for each."
        return Wrong("tie-shared", expected, got, why=why, look="the operation that runs at 0")
    if number == 0 and kit.close(came, 0.5):
        why = "That is halfway between the slopes of the two sides. The formula is a ramp; what ran answers otherwise."
        return Wrong("halfway", expected, got, why=why, look="the slope of each operation that runs at 0")
    return Wrong("other-slope", expected, got, look="the operations that run there")


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Put the nodes in order",
    kind="write",
    points=3,
    beliefs=("M11",),
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
    for make in (_neuron, _ladder, _braid, _alike, _two_results, _three_times):
        root = make()[0].grad_fn
        _check_order(_walked(answer, root), root)
    (end, _), *_ = root.next_functions[0][0].next_functions[0][0].next_functions[0][0].next_functions
    _check_order(_walked(answer, end), end)
    root = _Looks().at(_doubled(40)[0].grad_fn)
    _check_order(_walked(answer, root), root)
    root = _alike()[0].grad_fn  # once more, with nodes that only the answer can hold, as in `_check_unheld`
    _check_order(call(lambda: answer(root)), root)
    return "Each node comes after everything that sends to it, so its sum is complete when its turn comes."


def _ladder():
    """Each rung sends to the one below it by a short way and by a long one, the short one first or last."""
    x = mg.tensor(0.01, requires_grad=True)
    h = x
    for rung in range(12):
        h = h + h.exp().log() if rung % 2 else h.exp().log() + h
    return h, {"x": x}


def _three_times():
    """Two nodes send twice to the same one, and a third has the longest way to it."""
    x = mg.tensor(2.0, requires_grad=True)
    h = x * 3
    return (h + h) * (h + h) + h.exp().exp().exp(), {"x": x}


def _braid():
    x, w = (mg.tensor(n, requires_grad=True) for n in (2.0, 3.0))
    a = x * w
    b = a + x
    c = b * a
    return b / (c.exp() + a) - w, {"x": x, "w": w}


def _check_order(given, root):
    nodes = graphs.nodes_behind(root)
    known = set(map(id, nodes))
    all_of_them = f"of the {len(nodes)} nodes behind the root" if len(nodes) > 1 else "with the root alone"
    expected = f"a list {all_of_them}, in an order for backward()"
    if given is None:
        raise Wrong("none", expected, "None", look="whether a `return` is missing")
    if not isinstance(given, list | tuple):
        raise Wrong("type", expected, show(given), look="what `return` gives back")
    strange = [item for item in given if id(item) not in known]
    if strange:
        raise _no_node_of_it(strange[0], expected)
    places = {id(node): place for place, node in enumerate(given)}
    if len(places) < len(given):
        why = "Each node has one turn: it waits until all has arrived, then it passes the sum on, once."
        got = f"{len(given)} entries for {len(places)} nodes"
        raise Wrong("node-twice", expected, got, why=why, look="when a node is put into the list")
    missing = [node for node in nodes if id(node) not in places]
    if missing:
        why = "Every node needs a turn, the root and the ends of the leaves, too."
        got = f"{len(places)} of {len(nodes)}; one that is missing is {_name(missing[0])}"
        look = "where your walk begins, what it skips, and where it stops"
        raise Wrong("node-missing", expected, got, why=why, look=look)
    _check_turns(nodes, places, expected)


def _no_node_of_it(item, expected):
    if item is None:
        why = "An empty entry `(None, 0)` leads nowhere: nothing is sent to a constant."
        return Wrong("empty-entry", expected, "a list with None in it", why=why, look="each edge before you follow it")
    why = "The list should hold the nodes themselves, not what they are called." if type(item) is str else ""
    why = "That is a node of another graph." if hasattr(type(item), "next_functions") else why
    return Wrong("no-node", expected, f"a list with {show(item)} in it", why=why, look="what you append, and to what")


def _check_turns(nodes, places, expected):
    edges = [(node, after) for node in nodes for after, _ in node.next_functions if after is not None]
    early = [(node, after) for node, after in edges if places[id(after)] < places[id(node)]]
    if early and len(early) == len(edges):
        why = "This is an order in which values are computed. Gradients come from the other end."
        got = f"{_name(nodes[0])}, the root, stands last"
        raise Wrong("way-forward", expected, got, why=why, look="which node comes first: the root, or a leaf?")
    if early:
        node, after = early[0]
        got = f"{_name(after)} has its turn before {_name(node)}, which still has something for it"
        why = "A node that goes too early passes on an incomplete sum. Its turn comes when every arrow into it has"
        why += " delivered."
        look = "when a node is put into the list: is all in it that sends to this node?"
        unordered = any(list(places) == walk for walk in _plain_walks(nodes[0]))
        raise Wrong("too-early", expected, got, belief="M11" if unordered else "", why=why, look=look)


def _plain_walks(root):
    """The ids in the order of walks that take a node when they first meet it: breadth first, depth first either way."""
    for next_one, step in ((0, 1), (-1, 1), (-1, -1)):
        met, waiting = {}, [root]
        while waiting:
            node = waiting.pop(next_one)
            if id(node) not in met:
                met[id(node)] = node
                waiting += [after for after, _ in node.next_functions[::step] if after is not None]
        yield list(met)


def _name(node):
    """A node as the learner knows it: the end of a leaf by its short name."""
    return f"`{type(node).__name__}`"


chapter.lock()
