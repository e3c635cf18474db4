"""The checks of chapter 10, "Could you have written it?"."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import count, product
from types import FunctionType
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import engines, kit, tools
from exercises.checks.engines import Scalar, all_close, keeping, once, unlike, without_recursion, wrong_walk
from exercises.checks.kit import Unanswered, Wrong, call, show
from minigrad import small_engine as small
from minigrad.autograd import engine as minigrads
from minigrad.ops.shape import sum_to
from minigrad.small_engine import Node
from minigrad.viz.matching import numbered
from minigrad.viz.records import value_text

chapter = kit.Chapter(__name__, "10", "Could you have written it?")

_DEEP = 1_200  # operations in a row: more than the calls that may wait
_ONE_DTYPE = dict.fromkeys(("dtype", "digits"), "the engine under the answer has one dtype")
_USED_UP = {"again": "the engine under the answer has a graph that is used up, or sums that go on"}


# --- What several exercises share ----------------------------------------------------------------


def _true_slopes(program: Callable, values: tuple) -> list[float]:
    """What minigrad says of the same program."""
    leaves = [tools.leaf(value) for value in values]
    program(*leaves).backward()
    return [0.0 if leaf.grad is None else leaf.grad.item() for leaf in leaves]


_SCALAR_PROGRAMS: dict[str, Callable] = {
    "x * x + z": lambda x, z: x * x + z,
    "z * (h + h * h), with h = x * z": lambda x, z: z * engines.diamond(x, z),
    "h * x + h, with h = x + z": lambda x, z: (lambda h: h * x + h)(x + z),
    "(h + z) * h, with h = x * x": lambda x, z: (lambda h: (h + z) * h)(x * x),
    "(h * x + h * z) + (h + x), with h = x * x": lambda x, z: (lambda h: (h * x + h * z) + (h + x))(x * x),
}
_MANY_DIGITS = (2e-5 / 3, 1e-5 / 7), (2e5 / 3, -1e5 / 7)
_WITH_ZEROS = (-2.0, 0.0), (0.5, -2.0)  # a leaf is 0; h + h * h is


def _grads(leaves: list[Scalar]) -> list[float]:
    for came in (getattr(leaf, "grad", ...) for leaf in leaves):
        if came is None or came is ...:
            expected, got = "the `.grad` of a leaf is a number", "None" if came is None else "it has none any more"
            raise Wrong("none", expected, got, look="each line that sets or deletes a `.grad`")
    return [kit.a_number(leaf.grad, "the `.grad` of a leaf") for leaf in leaves]


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Read the rows",
    kind="predict",
    points=2,
    beliefs=("M12",),
    hints=(
        "For each line: which inputs have a node? Only their derivatives are needed.",
        "Then read the names of the parameters of these derivatives, without `grad`. Each name is one saved value.",
        "A second walk fails where something was saved and freed. Where nothing was saved, nothing was freed.",
    ),
    idea="A saves both operands, because both are x. B saves nothing: no name but `grad`. C saves its result. D needs "
    "the derivative for self only, which names `other`. E needs that for other, which names both.",
)
def sources(answer):
    truth = {"A": 2, "B": 0, "C": 1, "D": 1, "E": 2, "B twice": True, "D twice": False}
    looks = {name: f"the row of line {name[0]}, and which of its inputs has a node" for name in truth}
    kit.predicted(answer, truth, _SOURCES, "a whole number", looks)
    return "A row says what is saved, and what is saved says whether a second walk is possible."


_SOURCES = kit.patterns("""
sub-saves: B=2 or B=1
    The derivatives of `sub` name `grad` alone. That arrives in the walk, and is not saved.
    look: what both derivatives of `sub` name besides `grad`
second-fails: B twice=False, D twice=False (M12)
    A walk frees what was saved. `sub` saved nothing, so a second walk finds all that it needs.
    look: what the second walk would miss
second-fails: B twice=False
    A walk frees what was saved. `sub` saved nothing, so a second walk finds all that it needs.
    look: what the second walk would miss
one-x: A=1
    Both inputs of `x * x` have a node, so both derivatives are needed. One names other, one names self: two entries,
    though both hold `x`.
    look: the derivatives of `mul`, one by one
each-twice: A=4, C=2, D=2, E=4
    Each of these is twice what it should be. A version that is noted beside a value is not counted.
    look: what you count for each name
result-forgotten: C=0
    The derivative of `exp` names `result`. That is kept like an operand.
    look: the parameters of the derivative of `exp`
operand-too: C=2
    The derivative of `exp` names `result` alone. So the operand is not kept.
    look: the parameters of the derivative of `exp`
whole-row: D=3
    Both derivatives together name three. `k` has no node, so the derivative for `other` is not needed.
    look: which input of `x / k` has a node, and what its derivative names
whole-row: E=3
    Both derivatives together name three. Here it is `self` that has no node, and a value is saved once under one name.
    look: which input of `k / x` has a node, and what its derivative names
unneeded-saved: D=2
    `k` has no node, so the derivative for `other` is not needed, and what it names is not saved for it.
    look: which input of `x / k` has a node
constant-not-saved: D=0
    `k` gets no gradient, but the derivative for `self` needs its value.
    look: what the derivative of `div` for `self` names
one-of-two: E=1
    The derivative for `other` names `self` and `other`, and both are saved, with a node or without.
    look: the parameters of the second derivative of `div`
constants-stay: D twice=True
    A constant that was saved is freed like anything else that was saved.
    look: the line of `run` that sets `node._saved` to None
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Five walks",
    kind="predict",
    points=3,
    beliefs=("M08", "M10", "M11"),
    hints=(
        "Write the slopes on the edges first: `h` has two edges to x, with 3 each. `m` has one to h, with 3, and one "
        "to x, with 9.",
        "A walk that overwrites leaves what came last; `m` is the second input of `y`. A walk with a turn as soon as "
        "found gives `h` its turn before `m`.",
        "In the second walk of E the old numbers are still there: h had 4 and gets 1 and then 2 · 3 more.",
    ),
    idea="The slope is 2x + 3x² = 33. A ends with m's edge to x: 9. B is right, and comes to x five times. C loses "
    "the 3 that m sends to h: 6 + 9. D is right. E: 33 + 18 + 11 · 6 = 117. minigrad keeps nothing inside: 66.",
)
def walks(answer):
    truth = {"A": 9.0, "B": 33.0, "B visits": 5, "C": 15.0, "D": 33.0, "E": 117.0, "minigrad": 66.0}
    looks = {name: f"the walk of line {name[0]}, edge by edge" for name in truth}
    looks["minigrad"] = "where minigrad keeps what is on the way"
    kit.predicted(answer, truth, _WALKS, "a number", looks)
    return "One program, five walks, four answers. Only a walk that keeps an order, and nothing inside, is right twice."


_WALKS = kit.patterns("""
overwriting-adds: A=33
    33 is the sum of all that arrives. This walk has `=`, so what came before is lost.
    look: which edge to x is walked last
first-not-last: A=3
    3 arrives first. Each later one overwrites it.
    look: which edge to x is walked last
no-order-needed: C=33, D=33 (M11)
    `h` is found before `m` and passes on the 1 that it has. What `m` sends it comes too late.
    look: the turns in the picture of the chapter, and what has arrived at `h` in its own
no-order-needed: C=33
    `h` is found before `m` and passes on the 1 that it has. What `m` sends it comes too late.
    look: the turns in the picture of the chapter, and what has arrived at `h` in its own
one-visit: B visits=1
    The walk calls itself for each edge, and five ways lead from y to x.
    look: each way from y down to x
edges-not-ways: B visits=3
    Three edges end in x. But h is visited twice, and each time both of its edges are walked.
    look: how often h is visited
inside-is-clean: E=66
    66 is what it ought to be. This walk keeps 4 at `h` and 1 at `m`, and the second walk adds to them.
    look: what `h.grad` is when the second walk starts
minigrad-keeps: minigrad=117 (M10)
    In minigrad what is on the way belongs to the walk, and goes with it. Nothing is left inside to clear.
    look: the line of `run` that takes a gradient out of `grads`
cleared-between: minigrad=33 (M08)
    Nobody clears `x.grad` between the walks, and leaves add up.
    look: the words “twice, without clearing”
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The slope of x · x is not x",
    kind="fix",
    points=2,
    off=_ONE_DTYPE | _USED_UP,
    beliefs=("M11",),
    hints=(
        "Try it on `x * x` at 3. Two things arrive at `x`. Which line handles an arrival?",
        "Then try `h + h * h`. How often does `h` come out of `waiting`, and what does it pass on each time?",
        "`+=` for `=`. And put a node into `waiting` only if it is not there yet.",
    ),
    idea="`next_node.grad += node.grad * slope`, and `if next_node not in waiting: "
    "waiting.append(next_node)`. The newest node goes first, so a node is complete when its only turn comes.",
)
def square(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_SQUARE)
    for name, program in _SCALAR_PROGRAMS.items():
        _check_walk(answer, name, program, (1.5, -2.5))
    _check_other_walks(answer, 1)
    _check_large(answer, without_recursion, _DEEP)
    return "What arrives is added, and each node has one turn, when all has arrived. That is a correct walk."


_GIVEN_SQUARE = """
def backward(root):
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad = node.grad * slope
            waiting.append(next_node)
"""


def _check_walk(answer, name, program, values):
    leaves, true = list(map(Scalar, values)), _true_slopes(program, values)
    root = program(*leaves)
    _walked(answer, root, where=name)
    if not _exactly(_grads(leaves), true):
        raise _with_picture(_diagnosed(answer, leaves, true, name), root, leaves, true)
    for node in engines.behind(root):
        node.grad = 0.0
    _expect_walk(answer, root, leaves, true, "again", name)


_walked = partial(once, may=("grad",))


def _exactly(came: list, true: list) -> bool:
    return np.allclose(came, true, 1e-9, 0.0)


def _expect_walk(answer, root, leaves, true, code, name, walks=1, **left_open):
    """One more walk over the graph of `root`, the last of so many: if the gradients are others, that is `code`."""
    _walked(answer, root, where=name)
    came = _grads(leaves)
    if not _exactly(came, true):
        raise _with_picture(wrong_walk(code, came, true, name=name, **left_open), root, leaves, true, walks)


def _check_other_walks(answer, walks):
    """Gradients that are 0 on the way, numbers of all kinds, and graphs of other forms."""
    leaves, (*_, (name, program)) = [Scalar(1.5), Scalar(-1.0)], _SCALAR_PROGRAMS.items()
    _expect_walk(answer, program(*leaves), leaves, [7.75, 2.25], "zero-is-not-new", name + ", z = -1")
    x, z = Scalar(1.5), Scalar(-1.0)
    h = x * x
    name = "(h * (z * z) + h * x) + h, with h = x * x, z = -1"
    _expect_walk(answer, (h * (z * z) + h * x) + h, [x, z], [12.75, -4.5], "equal-values", name)
    for values, (name, program) in product(_MANY_DIGITS + _WITH_ZEROS, _SCALAR_PROGRAMS.items()):
        leaves = list(map(Scalar, values))
        root = program(*leaves)
        zero = any(0.0 in node.slopes for node in engines.behind(root)) or 0.0 in engines.walk(root).values()
        code = "rounded" if values in _MANY_DIGITS else "at-zero" if zero else "at-zero/not"
        where = "{}, x = {:.6g} and z = {:.6g},".format(name, *values)
        _expect_walk(answer, root, leaves, _true_slopes(program, values), code, where)
    x = Scalar(1.5)
    h, z = x * x, Scalar(-2.0)
    name = "h * z + h, with h = x * x, and z made after h,"
    _expect_walk(answer, h * z + h, [x, z], [-3.0, 2.25], "late-leaf", name)
    x = Scalar(2.0)
    for times in range(1, walks + 1):
        name = "a root x that is a leaf" + f", after {times} walks," * (times > 1)
        _expect_walk(answer, x, [x], [float(times)], "leaf-as-root" + "/again" * (times > 1), name)


def _check_large(answer, walk, times):
    """As many ways as nobody can walk, and many operations in a row."""
    leaves = [Scalar(1.0), Scalar(2.0)]
    _walked(answer, engines.doubled(leaves[0]))
    for true, name in (([2.0**25, 0.0], "25 times h = h + h"), ([1.0, times], f"{times:,} additions in a row")):
        came = _grads(leaves)
        if not all_close(came, true):
            raise unlike(came, true, name)
        leaves = [Scalar(1.0), Scalar(2.0)]
        walk(answer, engines.chain(*leaves, times))


def _diagnosed(answer, leaves, true, name):
    """What is wrong with the gradients of one walk: the known bug that gives the same numbers for all programs."""
    came, runs = _grads(leaves), []
    for program in _SCALAR_PROGRAMS.values():
        others = [Scalar(1.5), Scalar(-2.5)]
        root = program(*others)
        with contextlib.suppress(Wrong):  # what is missing is no evidence
            _walked(answer, root, where=name)
            runs.append((root, others, _grads(others)))
    for known, bug in engines.BUGS:
        walks = [(engines.walk(root, **bug), others, grads) for root, others, grads in runs]
        alike = [all_close(grads, [walk.get(leaf, 0.0) for leaf in others]) for walk, others, grads in walks]
        if all(alike) and len(alike) == len(_SCALAR_PROGRAMS):
            wrong = wrong_walk(known, came, true, name=name)
            makes_an_order = kit.uses(answer, "sorted", "sort", "max", "min", "heappush")
            return tools.if_seen(not makes_an_order, wrong)
    return unlike(came, true, name)


def _with_picture(wrong: Wrong, root: Scalar, leaves: list[Scalar], true: list, walks: int = 1) -> Wrong:
    """The same diagnosis with the gradients of minigrad and of the learner's walk, node by node.

    After more than one walk minigrad has gradients on leaves alone. A 0 is not shown where all that is on the way is
    kept elsewhere, and the 1 of a root is no fault.
    """
    right = (engines.walk(root) if walks == 1 else {}) | dict(zip(leaves, true, strict=True))
    right = {node: _text(grad) for node, grad in right.items()}
    mine = {node: _text(getattr(node, "grad", None)) for node in engines.behind(root)}
    if all(grad == "0" for node, grad in mine.items() if node.next_nodes and node is not root):
        mine = {node: grad for node, grad in mine.items() if grad != "0" or not node.next_nodes}
    unlike = {node for node, grad in mine.items() if grad != right.get(node, "0") and (node, grad) != (root, "1")}
    names = dict(zip(leaves, "xz", strict=False))
    expected = engines.graph_of(root, names, "minigrad", right)
    came = engines.graph_of(root, names, "your walk, at its end", mine, unlike)
    wrong.verdict.picture = mg.viz.Picture((expected, numbered(came, count(len(expected.nodes)))))
    return wrong


def _text(grad: Any) -> str:
    return f"{grad:.12g}" if type(grad) in (int, float) else show(grad, 20)


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Ninety for sixty",
    kind="fix",
    points=2,
    off=_ONE_DTYPE | _USED_UP,
    beliefs=("M08", "M11"),
    hints=(
        "After one walk, look at the `.grad` of a node in the middle. What does the second walk do with it?",
        "Only the `.grad` of leaves (nodes without next nodes) may outlive a walk. Where else could the rest be kept?",
        "A dict of this call, `grads = {root: 1.0}`, takes the place of `.grad` on the way. At a leaf, add what has "
        "arrived to `.grad`.",
    ),
    idea="Keep what is on the way in a dict that the call makes, and add to `.grad` only at nodes without next "
    "nodes. Or begin with `root.grad += 1.0`, and set `node.grad = 0.0` at the end of the turn of each node that has "
    "next nodes.",
)
def twice(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_TWICE)
    for values, (name, program) in product(((0.75, 3.0), (-2.0, 0.0)), _SCALAR_PROGRAMS.items()):
        leaves, true = list(map(Scalar, values)), _true_slopes(program, values)
        root = program(*leaves)
        for times in range(1, 7):
            _walked(answer, root, where=name)
            _check_times(answer, root, leaves, true, times, name, partial(_one_more, answer, program, values, times))
        for old in (0.0, 7.0):
            for leaf in leaves:
                leaf.grad = old
            total = [old + one for one in true]
            _expect_walk(answer, root, leaves, total, "cleared-comes-back", name, walks=7, old=f"{old:g}")
    _check_large(answer, call, 300)
    x = Scalar(2.0)
    h, name = x * x, "h, then h + h + h, then (h + h) + (h + h), with h = x * x,"
    for root in (h, h + h + h):
        _walked(answer, root, where=name)
    _expect_walk(answer, (h + h) + (h + h), [x], [32.0], "kept-inside/trunk", name, walks=3)
    _check_other_walks(answer, 2)
    return "What is on the way belongs to one walk. So nothing inside of a graph ever needs clearing."


_GIVEN_TWICE = """
def backward_twice(root):
    root.grad = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            waiting.add(next_node)
"""


def _check_times(answer, root, leaves, true, times, name, one_more):
    came, wanted = _grads(leaves), [times * one for one in true]
    if all_close(came, wanted):
        return
    if times == 1:
        raise _with_picture(_diagnosed(answer, leaves, true, name), root, leaves, true)
    if all_close(came, true):
        more = one_more(7.0)
        code = "leaves-cleared" if all_close(more, true) else "leaves-cleared/now-and-then"
        code = "leaves-cleared/no-walk" if more == [7.0, 7.0] else code
        raise wrong_walk(code, came, wanted, name=name, times=times)
    code = "leaf-of-two-walks" if all_close(one_more(0.0), true) else "kept-inside"
    wrong = wrong_walk(code, came, wanted, name=name, times=times)
    if any(came) and (code != "kept-inside" or sum(map(abs, came)) > sum(map(abs, wanted))):
        raise _with_picture(wrong, root, leaves, wanted, times)
    raise unlike(came, wanted, f"{name}, after {times} walks,")


def _one_more(answer, program, values, times, old):
    """What a walk leaves after so many others over the same graph, if it finds this in the `.grad` of each leaf."""
    leaves = list(map(Scalar, values))
    root = program(*leaves)
    for i in range(times + 1):
        for leaf in leaves:
            leaf.grad = old if i == times else leaf.grad
        _walked(answer, root, where="a walk once more")
    return _grads(leaves)


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Whose turn is it?",
    kind="rebuild",
    points=2,
    off=_ONE_DTYPE,
    beliefs=("M11",),
    hints=(
        "First collect every node once. A list that grows while you go through it needs no recursion.",
        "Then an order: who used a result was made after it, and `number` says when a node was made.",
        "`sorted(found, key=attrgetter('number'), reverse=True)`. Use a set to know quickly who was found.",
    ),
    idea="Collect all nodes with a list and a set, then sort them by `number`, the largest first.",
)
def turns(answer):
    kit.a_function(answer)
    graphs = {name: program(Scalar(1.5), Scalar(-2.5)) for name, program in _SCALAR_PROGRAMS.items()}
    x = graphs["a root that is a leaf"] = Scalar(1.5)
    h = x * x
    graphs["h * z + h, with h = x * x, and z made after h,"] = h * Scalar(2.0) + h
    x = Scalar(1.5)
    h = x * x
    graphs["h * h + h * x * x * x, with h = x * x,"] = h * h + h * x * x * x
    for name, root in graphs.items():
        _check_turns(once(answer, root, where=name), root, name)
    root = engines.doubled(Scalar(1.0))
    _check_turns(once(answer, root), root, "25 times h = h + h")
    root = engines.chain(Scalar(1.0), Scalar(2.0), _DEEP)
    _check_turns(without_recursion(answer, root), root, "a long chain")
    return "Each node once, users first, in a loop: with these turns every gradient is complete in time."


def _check_turns(given, root, name):
    expected = f"for {name} a list of its nodes, each once, those that used a result before the node that made it"
    if not isinstance(given, list | tuple):
        raise Wrong("type", expected, show(given), look="what your function gives back: a list of nodes, all at once")
    if any(type(one) is not Scalar for one in given):
        raise Wrong("type", expected, "a list with other things in it", look="what you put into the list")
    nodes, place = engines.behind(root), {node: i for i, node in enumerate(given)}
    if len(place) < len(given):
        got = f"{len(given)} entries for {len(place)} nodes"
        raise Wrong("twice", expected, got, why="A node has more than one turn.", look="how you know who was found")
    missing = [node for node in nodes if node not in place]
    if missing:
        ends = all(node is root or not node.next_nodes for node in missing)
        some = root not in missing and any(node in place for node in nodes if not node.next_nodes)
        why = "A leaf is left out, and another leaf is there." if some else "Leaves and the root have a turn, too."
        why *= ends
        others = len(place) - len(nodes) + len(missing)
        got = f"{len(nodes) - len(missing)} of {len(nodes)} nodes" + f", and {others} other objects" * bool(others)
        raise Wrong("missing", expected, got, why=why, look="who is left out")
    if len(place) != len(nodes):
        look = "what is there from another graph, or an earlier call"
        raise Wrong("missing", expected, "nodes, too, that are not behind the root", look=look)
    pairs = [(place[node], place[next_node]) for node in nodes for next_node in node.next_nodes]
    got = "a list in which a node comes before one that used its result"
    if pairs and all(one > other for one, other in pairs):
        why = "In such an order the forward pass goes."
        raise Wrong("inputs-first", expected, got, why=why, look="who comes first on the way back: the root")
    if any(one > other for one, other in pairs):
        why = "When such a node has its turn, a part of its gradient is still to come."
        belief = "M11" * (list(given) == nodes)  # as they were found, without another order
        raise Wrong("too-early", expected, got, belief=belief, why=why, look="the numbers of your nodes, in your order")


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A part arrives",
    kind="rebuild",
    points=3,
    off=_ONE_DTYPE | _USED_UP,
    beliefs=("M37",),
    hints=(
        "Two jobs: give the part the shape `next_node.shape`, then put it into the dict, or add it to what is there.",
        "Sum away the leading dimensions that the shape has not. Then sum, with `keepdims=True`, where it has 1.",
        "`grads[next_node] + part` makes a new array. `+=` would write into one that somebody else may hold.",
    ),
    idea="`while part.ndim > len(next_node.shape): part = part.sum(0)`, then `part.sum(i, keepdims=True)` for each `i` "
    "where the shape has 1, then `grads[next_node] = grads[next_node] + part if next_node in grads else part`.",
)
def arrive(answer):
    kit.a_function(answer)
    rng = np.random.default_rng(10)
    for of_part, shapes in _BROADCAST.items():
        for shape in shapes:
            _check_arrival(answer, shape, rng.integers(-5, 6, (2, *of_part)) / 2)
    _check_arrival(answer, (3,), rng.integers(1, 6, (2, 4, 3)) / 3e9)  # small, with many digits
    _check_shared(answer)
    _check_programs(engines.small_with(arrive=_on_tensors(answer)))
    return "What was broadcast is summed, and what arrives is added, without touching arrays that others hold."


_BROADCAST: dict[tuple, tuple] = {  # the shape of a part, and those of nodes where it may arrive
    (4, 3): ((4, 3), (3,), (4, 1), (1, 3), (), (1, 1)),
    (3, 3): ((3,), (3, 1), (1, 3)),
    (2, 4, 3): ((4, 1),),
    (5, 2, 4, 3): ((2, 1, 3),),
    (2, 3, 4): ((2, 3, 1),),
    (2, 1, 4, 3): ((3,),),
    (1, 3): ((3,),),
    (0, 3): ((3,),),
}
_MEAN = "That is a mean. What the forward pass repeats, the backward pass adds up."


def _check_arrival(answer, shape, parts):
    next_node, grads, fitted = Node("leaf", shape), {}, [sum_to(part, shape) for part in parts]
    for arrived, part in enumerate(parts):
        once(answer, grads, next_node, part.copy(), where=f"a part for the shape {shape}")
        if list(grads) != [next_node]:
            look = "the line that puts the part into `grads`, under the key `next_node`"
            got, why = "one with another key, or more than one" if grads else "`grads` is empty", ""
            if not grads and not part.size:
                why = f"Other parts did arrive. This one, of shape {part.shape}, has no entries: zeros should arrive."
                look = "on which condition your function leaves a part out"
            raise Wrong("nothing-stored", "one entry in `grads`, for `next_node`", got, why=why, look=look)
        _check_array(grads[next_node], shape, part.shape, kit.uses(answer, "sum"))
        _check_sum(grads[next_node], fitted[: arrived + 1], f"for a node of shape {shape}", part.size)


def _check_sum(came, parts, where, size):
    """What is there when one part, or two, of so many numbers have arrived: the parts are given as they should fit."""
    right, (*before, last) = sum(parts), parts
    close = lambda other: np.allclose(came, other, 1e-9, 1e-18, equal_nan=True)  # noqa: E731
    if close(right):
        return
    where += ", when a second part has arrived" if before else ", when one part has arrived"
    if np.allclose(came, right, 1e-4, 1e-6):
        expected, got = _worst(came, right)
        raise Wrong("rounded", f"{expected} {where}", got, look="whatever rounds a part, or leaves out a small one")
    expected, got = _entry(came, right, where, 1e-9, 1e-18)
    if came.dtype.kind == "i":
        look = "each array that your function makes"
        raise Wrong("other-dtype", "an array of float64, as the part", f"one of {came.dtype}", look=look)
    if not before:
        mean = close(right * came.size / max(size, 1))
        look = "what you do where `next_node` is not in `grads` yet: what is summed, and what is put there"
        look = "what is done with a part: a mean, a division?" if mean else look
        raise Wrong("mean" if mean else "other-gradient", expected, got, why=_MEAN * mean, look=look)
    only = [code for code, wrong in (("overwrites", last), ("first-only", before[0])) if close(wrong)]
    why = {"overwrites": "only the second is there.", "first-only": "it is still all that is there."}
    code = (*only, "other-gradient")[0]
    why = "The first part had arrived well. Now " + why.get(code, "something else is there than the sum of both.")
    raise Wrong(code, expected, got, why=why, look="what you do when `next_node in grads`")


def _check_array(came, shape, of_part, sums=False):
    expected = f"an array of shape {shape}, as `next_node.shape` says, from a part of shape {of_part}"
    if not isinstance(came, np.ndarray | np.generic) or came.dtype.kind not in "fi":
        why = "A Python number has no shape, and what comes next asks for it." if type(came) in (int, float) else ""
        raise Wrong("type", expected, show(came), why=why, look="what you put into `grads`")
    if came.dtype.kind == "f" and came.dtype != np.float64:
        look = "each array that your function makes"
        raise Wrong("other-dtype", "an array of float64, as the part", f"one of {came.dtype}", look=look)
    if came.shape == of_part != shape:
        why = "That is the shape of the part. A gradient has the shape of its tensor."
        look = "how a part gets the shape of its node"
        belief = "M37" * (
            shape == (3,) and of_part == (4, 3) and not sums
        )  # what is asked for later was summed in part
        raise Wrong("unbroadcast", expected, f"one of shape {came.shape}", belief=belief, why=why, look=look)
    if came.shape != shape:
        look = "which dimensions you sum, and which you keep"
        raise Wrong("other-shape", expected, f"one of shape {came.shape}", look=look)


def _entry(came, right, where, *tolerances):
    """Expected and got, entry by entry: all that come are small."""
    came, right = np.asarray(came, float), np.asarray(right, float)
    wrong = np.count_nonzero(~np.isclose(came, right, *(tolerances or (1e-4, 1e-6))))
    how_many = f" ({wrong} of {right.size} entries differ)" if right.size > 1 else ""
    return f"{_entries(right)} {where}", f"{_entries(came)}{how_many}"


def _worst(came: np.ndarray, right: np.ndarray) -> tuple[str, str]:
    """The entry that is off most, with all digits."""
    place = np.unravel_index(np.abs(came - right).argmax(), right.shape)
    return f"an entry {right[place]:.12g}", f"{came[place]:.12g}"


def _entries(array: np.ndarray) -> str:
    """All entries of an array, in at most four digits each."""
    return f"[{', '.join(map(_entries, array))}]" if array.shape else f"{array:.4g}"


def _check_shared(answer):
    one, other = Node("leaf", (3,)), Node("leaf", (3,))
    grads = dict.fromkeys((one, other), np.array([1.0, 2.0, 3.0]))
    once(answer, grads, one, np.array([10.0, 10.0, 10.0]), where="a part for a node that has one")
    if other not in grads or not _is(grads[other], [1, 2, 3]):
        got, look = show(grads.get(other, "it is gone")), "each line that takes something out of `grads`, or sets it"
        raise Wrong("entry-lost", "the entry of another node in `grads`, as before", got, look=look)


def _on_tensors(answer):
    """The learner's function, which is for arrays, in an engine of tensors."""

    def arrive(grads, next_node, part):
        arrays = {key: value.data for key, value in grads.items()}
        answer(arrays, next_node, part.data)
        grads[next_node] = type(part)(arrays[next_node])

    return arrive


# --- Programs that run on a learner's engine and on minigrad -------------------------------------


_PROGRAMS: dict[str, Callable] = {
    "a * a": lambda a, b: (a * a).sum(),
    "h + h * h, with h = a * b": lambda a, b: engines.diamond(a, b).sum(),
    "tanh of a + b": lambda a, b: (a + b).tanh().sum(),
    "a @ a.t() - b": lambda a, b: (a @ a.t() - b).sum(),
    "c - c * a * b, with a constant c": lambda a, b: (_constant(a) - _constant(a) * a * b).sum(),
    "exp of a * c + 3, with a constant c": lambda a, b: (a * np.array([2.0, 5.0]) + 3.0).exp().sum(),
    "1 / log of a * a + 2": lambda a, b: ((a * a + 2.0).log() ** -1.0).sum(),
    "a ** 3 - a ** 2": lambda a, b: (a**3.0 - a**2.0).sum(),
    "a * b * 0": lambda a, b: (a * b * 0.0).sum(),
    "a * b + b": lambda a, b: (a * b + b).sum(),
}


def _constant(like: Any) -> Any:
    """A constant of the kind of another tensor."""
    return mg.tensor([2.0, 5.0], dtype=mg.float64) if type(like) is mg.Tensor else type(like)([2.0, 5.0])


_VALUES = ([[0.5, -1.0], [0.0, 1.5]], [0.75, -0.5])


def _on_minigrad(program: Callable) -> tuple[list[mg.Tensor], mg.Tensor]:
    """minigrad's leaves, and what a program makes of them."""
    leaves = list(map(tools.leaf, _VALUES))
    return leaves, program(*leaves)


def _check_programs(kind: type) -> None:
    for name, program in _PROGRAMS.items():
        mine, (leaves, true) = [_leaf(kind, values) for values in _VALUES], _on_minigrad(program)
        look = "what your code does in this program"
        runs = partial(without_recursion, where=name, small=name)
        result = _ours(f"a value for {name}", partial(runs, partial(program, *mine)), look)
        _check_graph(result, true, mine, leaves, name)
        _ours(f"a walk over {name}", lambda runs=runs, result=result: runs(result.backward), look)
        for leaf, values in zip(mine, _VALUES, strict=True):
            if _array(leaf, "a leaf is").tolist() != values:
                look = "what writes into an array: the forward, a rule, or the walk"
                raise Wrong("given-changed", f"{values} in a leaf, as before {name}", show(leaf.data), look=look)
        true.backward(retain_graph=True)
        try:
            for letter, one, other in zip("ab", mine, leaves, strict=True):
                _check_grad(one, other, letter, name)
        except Wrong as wrong:
            wrong.verdict.picture = _beside(result, true, mine, leaves)
            raise


def _beside(result, true, mine, leaves, names="ab"):
    """Both graphs with the gradients of their leaves; None where a learner's tensor has no such thing."""
    expected = mg.viz.record(true, view="kept", params=dict(zip(names, leaves, strict=True)))
    try:
        names = {leaf.node: letter for letter, leaf in zip(names, mine, strict=True)}
        grads = {leaf.node: value_text(leaf.grad.data.tolist()) for leaf in mine if leaf.grad is not None}
        unlike = {leaf.node for leaf, right in zip(mine, leaves, strict=True) if not _same_grad(leaf, right)}
        came = engines.graph_of(result.node, names, "your engine", grads, unlike)
    except Exception:
        return None
    return mg.viz.Picture((replace(expected, title="minigrad"), numbered(came, count(len(expected.nodes)))))


def _same_grad(leaf, right):
    if leaf.grad is None or right.grad is None:
        return leaf.grad is right.grad
    came, true = np.asarray(leaf.grad.data), right.grad.numpy()
    return came.shape == true.shape and np.allclose(came, true, 1e-4, 1e-6)


def _check_grad(one, other, letter, name):
    """The gradient of a leaf, entry by entry."""
    if other.grad is not None:
        came = _array(one.grad, f"`{letter}.grad`, for {name}, is")
        look = f"what happens in the walk of {name}, node by node"
        _check_numbers(came, other.grad.numpy(), f"in `{letter}.grad`, for {name}", look)
    elif one.grad is not None:
        look = "what `.grad` is at the start, and who gets one"
        raise Wrong("grad-unreached", f"`{letter}.grad` None, for {name}", show(one.grad), look=look)


def _check_numbers(came: np.ndarray, right: np.ndarray, where: str, look: str) -> None:
    if came.shape != right.shape:
        code = "unbroadcast" if came.shape == (2, 2) else "other-shape"
        belief = "M37" * (code == "unbroadcast" and right.shape == (2,))  # what is asked for later was summed in part
        why = "A gradient has the shape of its tensor: what was broadcast is summed."
        look = "where a part arrives at a node of another shape, and over which dimensions it is summed"
        expected = f"the shape {right.shape} {where}"
        raise Wrong(code, expected, f"the shape {came.shape}", belief=belief, why=why, look=look)
    if not np.allclose(came, right, 1e-4, 1e-6):
        expected, got = _entry(came, right, where)
        raise Wrong("other-gradient", expected, got, look=look)


def _array(tensor: Any, what: str) -> np.ndarray:
    """The numbers of a tensor of the learner's engine."""
    if tensor is None:
        raise Wrong("no-gradient", f"{what} a tensor", "None", look="the leaves: who adds to their `.grad`?")
    data = tensor.tolist() if isinstance(tensor, np.ndarray | np.generic) else call(lambda: tensor.data)
    if not isinstance(data, np.ndarray | np.generic) or data.dtype.kind != "f":
        look = "what is put into it: a tensor of your engine, with an array in `.data`"
        look = "which dtype the array in `.data` has" if isinstance(data, np.ndarray) else look
        raise Wrong("type", f"{what} a tensor with an array of floats in `.data`", show(data), look=look)
    return np.array(data)


def _one(tensor: Any, what: str) -> float:
    """The number of a tensor that has one."""
    values = _array(tensor, what)
    if values.shape != ():
        look = "the shape of what arrives, and of what is added"
        raise Wrong("other-shape", f"{what} a tensor of shape ()", f"one of shape {values.shape}", look=look)
    return float(values)


def _is(came: Any, right: list[float]) -> bool:
    return isinstance(came, np.ndarray) and came.shape == (len(right),) and np.allclose(came, right)


def _check_graph(result, true, mine, leaves, name):
    """The learner's graph beside minigrad's."""
    names = dict(zip([call(lambda leaf=leaf: leaf.node) for leaf in mine], "ab", strict=True))
    node = call(lambda: result.node)
    expected = mg.viz.record(true, view="kept", params=dict(zip("ab", leaves, strict=True)), values=False)
    look = "`name` and `next_nodes` of the nodes, which should be as in the graph of minigrad"
    if node is None:
        raise _of_engines("not-recorded", "None", name=f"the sum of {name}")
    try:
        came = engines.graph_of(node, names)
        same = mg.viz.difference(expected, came, view="kept").same
    except Exception as error:
        got = kit.sandbox.describe_error(error)
        raise Wrong("no-graph", f"a graph of nodes for {name}", got, look=look) from None
    if not same:
        picture = mg.viz.draw_difference(expected, came, view="kept")
        raise Wrong("other-graph", f"the graph of minigrad, for {name}", "another graph", look=look, picture=picture)


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Write the node",
    kind="build",
    points=3,
    off=_ONE_DTYPE | _USED_UP,
    hints=(
        "The next node of an input is its `.node`, None for a constant. When is there nothing to record?",
        "Match the names of `op.rules` with the inputs: `dict(zip(op.rules, inputs))`. Which names are asked for, by "
        "the rules of inputs with a node?",
        "`saved[name] = (tensor, tensor.version)` for each of those names. Then "
        "`small.Node(op.name, shape, next_nodes, list(op.rules.values()), saved)`.",
    ),
    idea="`next_nodes = [one.node for one in inputs]`; return None unless any of them is a node. Collect in "
    "`saved` what the rules of inputs with a node ask for, with its version, and return the node.",
)
def record(answer):
    kit.a_function(answer)
    tensors = {"x": small.Tensor([2.0, 3.0], requires_grad=True), "k": small.Tensor([5.0, 7.0])}
    tensors["k"].sub_(1.0)
    for tensor in tensors.values():
        tensor.grad = small.Tensor([9.0, 9.0])
    tensors |= {"h": tensors["x"] * tensors["x"], "m": small.Tensor([[1.0, 2.0]] * 3)}
    mul = small.op("mul", np.multiply, a=lambda grad, b: grad * b, b=lambda grad, a: grad * a)
    nothing = keeping(answer, mul, [tensors["k"]] * 2, (2,))
    if nothing is not None:
        why, made = "No input has a node, so nobody will ask for a gradient.", type(nothing) is Node
        look = (
            "the condition on which you make a node" if made else "what `return` gives back where nothing is recorded"
        )
        raise Wrong("constant-recorded", "None for two constants", show(nothing), why=why * made, look=look)
    first = _check_node(answer, mul, "xk", tensors)
    for op, letters in ((mul, "kx"), (mul, "xx"), (_three_inputs(), "hkx")):
        _check_node(answer, op, letters, tensors)
    if _check_node(answer, mul, "xk", tensors) is first:
        look = "what your function keeps from call to call"
        raise Wrong("same-node", "a node of its own for a second x * k", "the node of the first", look=look)
    _check_node(answer, mul, "xm", tensors, (3, 2))
    _check_programs(engines.small_with(record=answer))
    return "Next nodes where a gradient is needed, saved values for their rules, and nothing else: that is a node."


def _three_inputs() -> Any:
    """An operation with three inputs and other names. Two of its rules need two values, each in its own order."""
    return small.op(
        "three",
        lambda a, b, c: a * b + c,
        left=lambda grad, more, left: grad * more + left,
        right=lambda grad: grad * 3.0,
        more=lambda grad, right, left: grad * right + left,
    )


def _check_node(answer, op, letters, tensors, shape=(2,)):
    """The node that is recorded when an operation has run on the tensors with these letters."""
    name = " * ".join(letters) if op.name == "mul" else "`three(left=h, right=k, more=x)`"
    inputs = [tensors[letter] for letter in letters]
    node = keeping(answer, op, inputs, shape)
    if node is None and not kit.returns_nothing(answer):
        why = "One input with a node is enough, whichever it is: its gradient has to find the way."
        with_one = tools.listed(sorted({letter for letter in letters if tensors[letter].node}))
        expected, look = f"a node for {name}: there is one behind {with_one}", "the condition on which you make no node"
        raise Wrong("one-is-enough", expected, "None", why=why, look=look)
    if type(node) is not Node:
        raise Wrong("type", "a `small.Node`", show(node), look="what `return` gives back")
    if not isinstance(node.next_nodes, list | tuple):
        raise Wrong(
            "type", "a list of next nodes", show(node.next_nodes), look="how `next_nodes` is made; " + _ARGUMENTS
        )
    _check_next_nodes(node.next_nodes, letters, inputs, name)
    _check_saved(node.saved, op, letters, inputs, name)
    _check_arguments(node, op, shape)
    return node


def _check_next_nodes(next_nodes, letters, inputs, name):
    edges = [one.node for one in inputs]
    words = [
        "None" if one.node is None else f"the node of {letter}" for letter, one in zip(letters, inputs, strict=True)
    ]
    expected, look = f"the next nodes of {name}: {tools.listed(words)}", "how `next_nodes` is made"
    if any(isinstance(one, small.Tensor) for one in next_nodes):
        why = "What comes next is a node, not a tensor: so results that nobody holds can go."
        raise Wrong("tensor-as-edge", expected, "a tensor", why=why, look=look)
    others = [one for one in next_nodes if one is not None and type(one) is not Node]
    if others:
        raise Wrong("type", expected, f"{show(others[0])} among them", look=f"{look}; {_ARGUMENTS}")
    if len(next_nodes) != len(edges):
        why = "Each input has its place among the next nodes, also one that gets nothing, or that is there twice."
        raise Wrong("edge-lost", expected, f"{len(next_nodes)} of them", why=why, look=look)
    for letter, came, right in zip(letters, next_nodes, edges, strict=True):
        if right is None and came is not None:
            why, look = f"`{letter}` needs no gradient: send nothing there.", "the entry of an input without a node"
            raise Wrong("edge-for-constant", expected, f"{next_nodes}", why=why, look=look)
        if came is not right:
            raise Wrong("other-edge", expected, f"{next_nodes}", look=f"the node of {letter}, `{letter}.node`")


def _check_saved(saved, op, letters, inputs, name):
    letter_of, input_of = dict(zip(op.rules, letters, strict=True)), dict(zip(op.rules, inputs, strict=True))
    needs = {rule: small.needs(function) for rule, function in op.rules.items()}
    needed = {one: rule for rule, names in needs.items() if input_of[rule].node for one in names}
    expected = f"for {name} only {tools.listed([f'`{one}`' for one in sorted(needed)])} saved, each with its version"
    if type(saved) is not dict:
        raise Wrong("type", "a dict of what is saved", show(saved), look="the last argument of `small.Node`")
    if any(type(one) is not str for one in saved):
        raise Wrong("type", expected, show(list(saved)), look="the keys of `saved`: each is a name")
    for one, rule in needed.items():
        if one not in saved:
            why = f"`{letter_of[rule]}` has a node, so the rule for `{rule}` is needed, and it asks for `{one}`."
            look = "what `small.needs(rule)` says of each rule"
            raise Wrong("not-saved", expected, show(list(saved)), why=why, look=look)
    for one in saved.keys() - needed.keys():
        asking = next((rule for rule, names in needs.items() if one in names), "")
        why, look = f"For no rule of {name} does `small.needs` list {show(one)}.", "which names you save"
        if asking:
            look = "for each name that you save: which rule asks for it, and is that rule needed?"
            why = f"The rule for `{asking}` is not needed, because `{letter_of[asking]}` has no node. So {show(one)}, "
            why += "which it asks for, is not to be kept."
        raise Wrong("saves-all", expected, show(list(saved)), why=why, look=look)
    for one, entry in saved.items():
        letter, tensor = letter_of[one], input_of[one]
        if type(entry) not in (tuple, list) or len(entry) != 2 or entry[0] is not tensor:
            look = f"the pair that you save for `{one}`: {letter} itself, and a number"
            raise Wrong("not-a-pair", expected, show(entry), look=look)
        if entry[1] != tensor.version:
            why = f"`{letter}.version` was {tensor.version} when the operation ran. The node notes that."
            got = f"the version {show(entry[1])} for `{one}`"
            raise Wrong("other-version", expected, got, why=why, look="`tensor.version`")


_ARGUMENTS = "the arguments of `small.Node`, in order: name, shape, next_nodes, rules, saved"


def _check_arguments(node, op, shape):
    made = isinstance(node.rules, Iterable)
    rules, again = call(lambda: (list(node.rules), list(node.rules))) if made else (node.rules, node.rules)
    if rules != again:
        look = "how `rules` is made: an iterator is used up by the first walk"
        raise Wrong("rules-used-up", "rules that can be read more than once", show(node.rules), look=look)
    for what, right, came, words in (
        ("name", op.name, node.name, show(op.name)),
        ("shape", shape, node.shape, f"{shape}, the shape of the result"),
        ("rules", list(op.rules.values()), rules, "all rules, in a list"),
    ):
        if type(came) is not type(right) or came != right:
            got = show(node.rules if what == "rules" else came)
            raise Wrong("arguments-of-node", f"`{what}`: {words}", f"`{what}`: {got}", look=_ARGUMENTS)
    if node.leaf is not None:
        raise Wrong("other-leaf", "a node whose `leaf` is None", show(node.leaf), look="who sets `leaf`")


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "One turn",
    kind="rebuild",
    points=3,
    off=_ONE_DTYPE | _USED_UP,
    beliefs=("M12",),
    hints=(
        "In this order: was it freed? Was something overwritten? Then the rules. Then free, unless it is retained.",
        "`node.saved` is a dict of pairs (tensor, version), or None when it was freed. Compare the version of each "
        "pair with `tensor.version`.",
        "A rule gets the gradient and then the tensors that `small.needs(rule)` names. In an empty dict there is "
        "nothing to free.",
    ),
    idea="Raise RuntimeError if `node.saved is None`, and if a `tensor.version != version`. Call each rule whose next "
    "node is no None. Then `if node.saved and not retain_graph: node.saved = None`.",
)
def turn(answer):
    kit.a_function(answer)
    _check_rules(answer)
    _check_errors(answer)
    _check_release(answer)
    _check_versions(answer)
    _check_programs(engines.small_with(turn=answer))
    return "Freed, overwritten, rules, release: everything that chapters 05 and 07 told you is in these few lines."


_of_turns = tools.texts("""
too-strict: no error: {what}
    What counts is whether a tensor that was saved has changed since it was saved.
    look: which two numbers you compare
too-strict/at-once: a first turn of {what}, without an error
    Nothing was freed here, and nothing was overwritten. What its rules need is saved, if they need anything.
    look: on which condition you raise this error
too-strict/again: two turns of {what}, without an error
    `node.saved` is an empty dict, in the second turn, too: nothing was saved, and nothing was freed.
    look: on which condition you raise this error
frees-all: two turns of {what} (M12)
    An addition saves nothing, so there is nothing to free, and a second walk may come.
    look: what happens to an empty dict
frees-anyway: what was saved, after a turn with retain_graph=True
    With `retain_graph=True` the next walk still needs it.
    look: the condition on which you free
no-release: `node.saved` is None after a turn
    The node keeps tensors alive that nobody needs.
    look: the end of your function
no-release/gone: `node.saved` is None after a turn
    Nothing tells now that the node was used up.
    look: the end of your function
rule-again: one call of the rule
    Each next node gets its part once a turn.
    look: where you call a rule
not-the-tensor: a rule called with {what} itself
    It is another object. An array has no history, and a tensor that is made of one has none.
    look: what you take out of the pair (tensor, version), and what you hand on as `grad`
dead-end: {what}, with a history
    The numbers are right. But all that the rules are made for requires grad here, so a node belongs to each.
    look: what a rule is called with, what becomes of its result, and what is switched off
error-swallowed: a {what} of a rule goes on to the caller
    Whoever walks does not hear of the error.
    look: each `except`: which errors it is for
unneeded: {what}
    Where no node comes next, nobody needs a gradient.
    look: what your list has where no node comes next
rules-first: an error before a rule is called
    A number that a rule was made for is lost. Before any rule is called, the turn is refused.
    look: what comes first: the versions, or the rules
frees-first: `node.saved` as before, after the error
    A turn that is refused should change nothing. Here what was saved is gone all the same.
    look: the line that frees: when does it run?
""")


def _made(operation: Callable) -> tuple[Node, Any, Any]:
    x, k = small.Tensor([2.0, 3.0], requires_grad=True), small.Tensor([5.0, 7.0])
    x.grad = k.grad = small.Tensor([9.0, 9.0])
    return operation(x, k).node, x, k


def _take_turn(answer, node, retain_graph=False):
    grad = small.Tensor([1.0, 10.0], requires_grad=True)
    grad.grad = small.Tensor([9.0, 9.0])
    return keeping(answer, node, grad, retain_graph, may=("saved",))


def _on_purpose(wrong: Wrong) -> bool:
    """Whether the learner's code ended with an error that it raises itself."""
    own_line = re.search(r"your line: .*\b(raise|assert)\b", wrong.verdict.got)
    return wrong.verdict.code == "raised" and own_line is not None


def _goes(answer, node, code, what):
    """The parts of a turn that is not to be refused: an error that is raised on purpose is the diagnosis `code`."""
    try:
        return _take_turn(answer, node)
    except Wrong as wrong:
        if not _on_purpose(wrong) and (wrong.verdict.code, code) != ("raised", "frees-all"):
            raise
        raise _of_turns(code, wrong.verdict.got, what=what) from None


def _check_rules(answer):
    for name, operation, right in (
        ("k - x", lambda x, k: k - x, (None, [-1, -10])),
        ("k * x", lambda x, k: k * x, (None, [5, 70])),
        ("x * x", lambda x, k: x * x, ([2, 30], [2, 30])),
    ):
        expected = f"for {name} a list with an entry for each next node: {right[0]} and {right[1]}"
        given = _goes(answer, _made(operation)[0], "too-strict/at-once", name)
        _check_parts(given, right, expected)
    heard, node, k = _overheard()
    grad = small.Tensor([1.0, 10.0])
    keeping(answer, node, grad, False, may=("saved",))
    if len(heard) != 1:
        raise _of_turns("rule-again", f"{len(heard)} calls")
    for what, came, one in (("the gradient", heard[0][0], grad), ("the saved tensor", heard[0][1], k)):
        if came is not one:
            raise _of_turns("not-the-tensor", show(came), what=what)
    inputs = [small.Tensor(values, requires_grad=True) for values in ([2.0, 3.0], [5.0, 7.0], [1.0, 1.0])]
    given = _take_turn(answer, _three_inputs()(*inputs).node)
    expected = "[3, 13] from a rule (grad, more, left), [3, 30] from one (grad), [7, 73] from one (grad, right, left)"
    _check_parts(given, ([3, 13], [3, 30], [7, 73]), expected)
    if any(getattr(came, "node", None) is None for came in given):
        raise _of_turns("dead-end", "not all of them have one", what=expected)


def _check_parts(given, right, expected):
    if not isinstance(given, list | tuple) or len(given) != len(right):
        raise Wrong("type", expected, show(given), look="what `return` gives back, and over what you loop")
    for came, wanted in zip(given, right, strict=True):
        if wanted is None and came is not None:
            raise _of_turns("unneeded", f"{show(came)} where None comes next", what=expected)
        if wanted is not None and not isinstance(came, small.Tensor):
            raise Wrong("type", expected, show(came), look="what your list has where a node comes next")
        if wanted is not None and (np.shape(came.data) != (2,) or not np.allclose(came.data, wanted)):
            look = "what each rule is called with: the gradient, then the tensors"
            raise Wrong("other-gradient", expected, f"{show(came)} where {wanted} should be", look=look)


def _check_errors(answer):
    def fail(grad):
        raise kind("this is an error")

    for kind in (ValueError, RuntimeError):
        node = small.op("fail", np.negative, a=fail)(small.Tensor([2.0, 3.0], requires_grad=True)).node
        try:
            given = _take_turn(answer, node)
        except Wrong:
            continue
        raise _of_turns("error-swallowed", show(given), what=kind.__name__)


def _overheard():
    """What the rule of a product is called with, its node and the constant in it."""
    heard, x, k = [], small.Tensor([2.0, 3.0], requires_grad=True), small.Tensor([5.0, 7.0])
    rules = {"a": lambda grad, b: heard.append((grad, b)) or grad * b, "b": lambda grad: grad}
    return heard, small.op("mul", np.multiply, **rules)(x, k).node, k


def _check_release(answer):
    node = _made(lambda x, k: x * k)[0]
    _take_turn(answer, node, True)
    if not getattr(node, "saved", None):
        raise _of_turns("frees-anyway", "nothing")
    _take_turn(answer, node)
    saved = getattr(node, "saved", ...)
    if saved is not None:
        got = "what was saved is still there" if saved else "an empty dict"
        raise _of_turns(
            "no-release" + "/gone" * (saved is ... or not saved),
            "the node has no `saved` any more" if saved is ... else got,
        )
    _expect_refusal(answer, node, "no-second-time", "a freed node")
    empty = _made(lambda x, k: x + k)[0]
    for _ in range(2):
        _goes(answer, empty, "frees-all" if empty.saved is None else "too-strict/again", "x + k")


def _expect_refusal(answer, node, code, what):
    """A RuntimeError, each time, and whatever `retain_graph` is."""
    for where in ("", ", in a second turn, after the first was refused", ", in a turn with retain_graph=True"):
        expected, look = f"a RuntimeError for {what}{where}", "what you check before the rules are called"
        try:
            _take_turn(answer, node, "retain" in where)
        except Wrong as wrong:
            if wrong.verdict.code != "raised":
                raise
            if isinstance(wrong.__context__, RuntimeError):
                continue
            why = "Your function should raise a RuntimeError itself, before any rule is called."
            if _on_purpose(wrong):
                why, look = "Another error came. Asked for is a RuntimeError.", "the line named above: what it raises"
            raise Wrong(code, expected, wrong.verdict.got, why=why, look=look) from None
        raise Wrong(code, expected, "no error", look=look)


def _check_versions(answer):
    heard, node, k = _overheard()
    k.sub_(1.0)
    _expect_refusal(answer, node, "no-version", "a saved tensor that was overwritten")
    x = small.Tensor([2.0, 3.0], requires_grad=True)
    rules = {"a": lambda grad: heard.append(grad) or grad, "b": lambda grad, a: grad * a}
    second = small.op("mul", np.multiply, **rules)(x, x * x).node
    x.sub_(1.0)
    _expect_refusal(answer, second, "no-version", "a tensor for the second rule that was overwritten")
    kit.adversaries.trial.forget_last()  # what follows is about any of these turns
    if heard:
        raise _of_turns("rules-first", "a call of a rule")
    if not getattr(node, "saved", None):
        raise _of_turns("frees-first", show(getattr(node, "saved", "it is gone")))
    for which, made in product((0, 1), ("", ", itself the result of an operation,")):
        factors = [small.Tensor([2.0, 3.0], requires_grad=True) for _ in range(2)]
        factors = [factor * factor for factor in factors] if made else factors
        node = (factors[0] * factors[1]).node
        factors[which].sub_(1.0)
        what = f"x * y, where {'xy'[which]}{made} was overwritten, and both were saved"
        _expect_refusal(answer, node, "no-version", what)
    late, _, k = _made(lambda x, k: (k.sub_(1.0), x * k)[1])
    other, x, _ = _made(lambda x, k: x * k)
    x.sub_(1.0)
    _goes(answer, late, "too-strict", "k was overwritten before x * k saved it")
    _goes(answer, other, "too-strict", "x was overwritten after x * k, which saved k alone")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A rule that records itself",
    kind="write",
    points=2,
    off=_ONE_DTYPE | _USED_UP,
    beliefs=("M27",),
    hints=(
        "The slope of σ is σ(a) · (1 - σ(a)), times the gradient that arrives. How do you write σ with `exp` and `**`?",
        "Stay with tensors: `(a * -1.0).exp()` has a history, `np.exp(-a.data)` has none.",
        "`s = ((a * -1.0).exp() + 1.0) ** -1.0`, then `grad * s - grad * s * s`.",
    ),
    idea="`s = ((a * -1.0).exp() + 1.0) ** -1.0` and `return grad * s - grad * s * s`. All of it is recorded when "
    "recording is on.",
)
def rule(answer):
    kit.a_function(answer)
    leaves_graph = kit.uses(answer, "data", "np", "numpy") and not kit.uses(answer, "recording", "shape", "node")
    belief = "M27" * leaves_graph
    op = small.op("sigmoid", lambda a: 1 / (1 + np.exp(-a)), a=lambda grad, a: _ruled(answer, grad, a))
    for values in ([0.5, -1.0, 2.0], [[0.0, -20.5, 1.5], [0.25, 20.5, -0.75]], -1.5):
        mine, true = small.Tensor(values, requires_grad=True), tools.leaf(values)
        factors = np.resize([1.0, 10.0, -2.0], mine.data.shape)
        came, right = (op(mine) * factors).sum(), (mg.sigmoid(true) * mg.tensor(factors)).sum()
        for order in ("first", "second", "third"):
            came, right = _next_slopes(belief, came, mine, right, true)
            _check_slope(belief, came, right.detach().numpy(), order, factors, mine.data)
            came, right = came.sum(), right.sum()
    once, right = op(mine), mg.sigmoid(true)
    came, right = (once * once).sum(), (right * right).sum()
    for order in ("first", "second"):  # here the gradient that arrives has a history of its own
        came, right = _next_slopes(belief, came, mine, right, true)
        if not np.allclose(came.data, right.detach().numpy(), 1e-4, 1e-6):
            expected, got = _entry(came.data, right.detach().numpy(), f"as the {order} derivative of σ(a) · σ(a)")
            why = "With σ alone your rule is right. Here `grad` depends on a, too, and its history may have got lost."
            raise Wrong("grad-without-history", expected, got, why=why, look="what you do with `grad`")
        came, right = came.sum(), right.sum()
    mine.sub_(0.5)
    true = tools.leaf(-2.0)
    came, right = _next_slopes(belief, op(mine), mine, mg.sigmoid(true), true)
    if not _exact(came.data, right.detach().numpy()):
        why = "Your rule was right before. Then `a` was overwritten by `a.sub_(0.5)`, and a new σ(a) was made."
        look = "what your function keeps from call to call"
        raise Wrong("again", "the slope of σ at -2, 0.105", f"{came.data:.3g}", why=why, look=look)
    _check_switched_off(answer)
    _check_far_out(answer)
    return "Three derivatives from one rule, because the rule is written in what the engine can record."


def _check_switched_off(answer):
    """A walk without create_graph calls the rule where recording is off."""
    before, Node.recording = Node.recording, False
    try:
        a = small.Tensor([0.5], requires_grad=True)
        a.grad = small.Tensor([9.0])
        came = _ruled(answer, small.Tensor([1.0]), a)
    finally:
        Node.recording = before
    if came.node is not None:
        why = "Recording was off. A walk without create_graph asks for no history, and would keep it alive."
        look = "where your rule switches recording on, or gives a tensor a node"
        raise Wrong("always-recorded", "a result without a node", "one with a node", why=why, look=look)


def _check_far_out(answer):
    """At -1000 `exp(-a)` is infinite, and `exp(a)` at 1000: it may be divided by, and not be multiplied."""
    for values, right in (([-1000.0], [0.0]), ([1000.0], [0.0]), ([0.0, -1000.0, 1000.0], [0.25, 0.0, 0.0])):
        with np.errstate(all="ignore"):
            came = _ruled(answer, small.Tensor(np.ones(len(values))), small.Tensor(values)).data
        if not np.allclose(came, right):
            large, small_one = (
                ("exp(a)", "exp(-a)") if np.isnan(came[np.array(values) > 0]).any() else ("exp(-a)", "exp(a)")
            )
            no_number = bool(np.isnan(came).any())
            why = f"There `{large}` is infinite, and `{small_one}` is 0. Infinity times 0 is no number." * no_number
            look = "what your formula multiplies: each factor should be a number for every a"
            look = look if no_number else "what your formula gives far out"
            expected = f"{right} as the slope of σ at a = {values}"
            raise Wrong("overflow", expected, show(came.tolist()), why=why, look=look)


def _ruled(answer, grad, a):
    given = keeping(answer, grad, a)
    if type(given) is not small.Tensor:
        raise Wrong("type", "a rule that returns a tensor", show(given), look="what `return` gives back")
    if given.data.shape != a.data.shape:
        look = "the shape of what you return: that of `a`"
        raise Wrong("other-shape", f"the shape {a.data.shape}", f"{given.data.shape}", look=look)
    return given


def _next_slopes(belief, came, mine, right, true):
    """The gradients of both leaves, with a history; a dead end where none arrives at the learner's."""
    mine.grad = None
    if came.node is not None:
        call(lambda: came.backward(create_graph=True))
    if mine.grad is None:
        why = "What your rule has returned is not connected to `a`, so its own slope does not arrive there."
        look = "each tensor that your rule makes: what it is made from"
        raise Wrong("dead-end", "a gradient of `a`", "None", belief=belief, why=why, look=look)
    return mine.grad, mg.autograd.grad(right, true, create_graph=True)[0]


def _check_slope(belief, came, right, order, factors, values):
    if not _exact(came.data, right):
        raise _wrong_slope(belief, came.data, right, order, factors, 1 / (1 + np.exp(-values)))
    if came.node is None and order != "third":
        why = "The number is right, but it has no history: a dead end."
        expected = f"a {order} derivative with a history"
        raise Wrong("dead-end", expected, "one without", belief=belief, why=why, look=_NO_HISTORY)


_NO_HISTORY = "each tensor that your rule makes: of `.data`, of an array, or where recording is off, it has no history"


def _exact(came: np.ndarray, right: np.ndarray) -> bool:
    return np.allclose(came, right, 1e-9, 1e-10)


def _wrong_slope(belief, came, right, order, factors, sigma):
    expected, got = _entry(came, right, f"as the {order} derivative", 1e-9, 1e-10)
    if order != "first":
        why = "The derivative before it is right, and its own slope is not. Something in it may have had no history."
        return Wrong("dead-end", expected, got, belief=belief, why=why, look=_NO_HISTORY)
    if np.allclose(came, right, 1e-4, 1e-6):
        why = f"Some are off, by {np.abs(came - right).max():.1g}. float64 has more digits than that."
        expected, got = _worst(came, right)
        look = "each number that is made up or rounded, and each difference"
        if got == "0":
            why, look = "The slope is small there, and not 0.", "what sets a result to 0, or leaves one out"
        return Wrong("rounded", f"{expected} in the first derivative", got, why=why, look=look)
    alone = "This is the slope alone. A rule multiplies it with the gradient that arrives."
    value = "This is the value of σ, times the gradient. A rule needs its slope."
    for code, wrong, why, look in (
        ("grad-forgotten", sigma * (1 - sigma), alone, "where your rule uses `grad`"),
        ("value-not-slope", factors * sigma, value, "the derivative of σ"),
    ):
        if np.allclose(came, wrong):
            return Wrong(code, expected, got, why=why, look=look)
    return Wrong(
        "other-gradient",
        expected,
        got,
        look="what your rule takes for σ(a); then its slope, which has two factors, times `grad`",
    )


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "The whole engine",
    kind="rebuild",
    points=5,
    off=_ONE_DTYPE | _USED_UP,
    beliefs=("M08", "M11", "M12", "M37"),
    hints=(
        "Copy what you have: `record`, `turns`, `turn`, `arrive`. What is missing is the class around them, the table, "
        "and the walk. The chapter has all three.",
        "Start with the class, `op`, and the rows of + and * and `sum`: the check names what is missing next. With "
        "`turns` the walk is a short loop: take out what has arrived, give it to a leaf, take the turn, let the parts "
        "arrive.",
        "For `create_graph` let a switch decide whether operations record, and set it during the walk. The sum at a "
        "leaf is an operation of yours, too.",
    ),
    idea="Section 6 of the chapter, in one cell: `Tensor`, `op`, the table and `sum_to`, and `backward` with `try` and "
    "`finally`. Your own four parts take the place of what does their work there.",
)
def engine(answer):
    if type(answer) is not type:
        raise Wrong("type", "a class `Tensor`", show(answer), look="the name of your class")
    if issubclass(answer, small.Tensor | mg.Tensor):
        raise _of_engines("given-engine", show(answer))
    _check_own(answer)
    for stage in STAGES:  # what fails in it fails in what the learner's tensors do
        look = "what the error names: an attribute, a method or an option of your `Tensor`, or of its nodes"
        said = _ours("your engine runs without an error", lambda stage=stage: call(stage, answer), look)
    return said  # by the last one, which trains


_of_engines = tools.texts("""
leaf-without-node: a node for `Tensor(3.0, requires_grad=True)`
    Its node is where a walk ends, and where it finds the leaf.
    look: `__init__` of your `Tensor`
given-engine: a class of yours
    That engine was given. This exercise is about one of your own.
    look: what `Tensor` stands for
given-engine/made: a tensor of your class
    What your class makes is of another class.
    look: what `Tensor(3.0)` returns
shares-memory: the caller's array as it was
    `Tensor(array)` lies on the memory of `array`: whoever overwrites the one overwrites the other.
    look: your `__init__`
sub: {what}
    look: your `sub_`: does it overwrite `.data`?
not-recorded: a node for {name}
    An input has a node, so the result needs a node.
    look: on which condition no node is made, and who puts it there
constant-recorded: no node for constants
    No input requires a gradient, so there is nothing to record.
    look: when a node is made
always-recorded: an `x.grad` without a node, after {walk}
    Nobody asked for a graph of the gradient, and it keeps alive all that it was made from.
    look: what gives a tensor a node in a walk where `create_graph` is False: recording that is on, a new leaf
edge-lost: two next nodes for a * 3.0: a node, and None
    Each input has its place among the next nodes, also one that gets nothing.
    look: how `next_nodes` is made
second-turn: a first walk over {name}
    Nobody has walked there before, and nothing was overwritten.
    look: on which condition you raise this error, and how often each node has its turn in one walk
no-release: a RuntimeError at the second backward of x * x
    The first walk has to free what the node saved, and the second to notice it.
    look: what is done after a node's turn, and what is checked before it
no-release/inside: a RuntimeError at a backward of h, after one of h * 5, with h = x * x
    The first walk has to free what each node on its way saved.
    look: what is done after each node's turn, and with which `retain_graph`
no-release/third: a RuntimeError at the third backward of 5 · x · x
    The first walk had retain_graph=True, and the second had not.
    look: what frees in the second walk, and what is kept of `retain_graph` from walk to walk
frees-all: two backwards of x + 3 (M12)
    An addition needs nothing saved, so nothing should be used up.
    look: what is saved for an addition, and on which condition you free
frees-all/leaf: a backward of x + x
    This graph is new, only its leaf was reached before. A leaf has nothing saved, so nothing is used up.
    look: on which condition you free
frees-all/saved: two backwards of x + 3
    An addition needs nothing saved. Here something was.
    look: what is saved for an addition
frees-anyway: two backwards of 5 · x · x, the first with retain_graph=True
    look: on which condition you free, and whether `retain_graph` gets there
no-version: a RuntimeError: {what}
    What was saved is needed as it was then.
    look: what `sub_` counts, which version you save, and where you compare it
too-strict: no error in a backward of x + k, and in one of a new x * k
    x + k needs neither, and the later x * k needs `k` as it is now, and not `x`.
    look: what is saved, and which two numbers you compare
switch-left: a node for x + 3.0
    A walk before has ended with an error. What it had switched off has stayed off.
    look: `try` and `finally` in `backward`
create-fails: the {what}, with create_graph=True
    With `create_graph=True` a new graph is made, which may lead into the old one.
    look: what is recorded, and what is freed, in a walk with `create_graph=True`
second-derivative: 4 as the slope of the {what}
    look: the line that adds to the `.grad` of a leaf: with your own `+`, or in an array?
""")


def _leaf(kind, value):
    where = "`Tensor(..., requires_grad=True)`"
    return without_recursion(lambda: kind(value, requires_grad=True), where=where, small=where)


def _check_own(kind):
    """Whether the class makes tensors of its own, and walks without an engine that was given."""
    if type(kind.__init__) is FunctionType and kit.is_stub(kind.__init__):
        raise Unanswered("Fill in the parts of the engine in the cell above, and run both cells.")
    x = _ours("a leaf, `Tensor(3.0, requires_grad=True)`", lambda: _leaf(kind, 3.0), "`__init__` of your `Tensor`")
    if type(x) is not kind:
        raise _of_engines("given-engine/made", show(x))
    given = (minigrads.walk, small.walk, small.record, small.turn, small.arrive)
    _fails(lambda: once(lambda: (x * x).sum().backward(), where="x * x", never=given), tell="given-engine")
    if getattr(x, "node", ...) is None:
        raise _of_engines("leaf-without-node", "None")


def _ours(what: str, function: Callable, look: str) -> Any:
    """Call a program of ours on a learner's tensors: where it fails in our line, say what it is."""
    try:
        return call(function)
    except Wrong as wrong:
        if wrong.verdict.code == "raised" and wrong.verdict.look.startswith("the call of your function"):
            raise Wrong("raised", what, wrong.verdict.got, look=look) from None
        raise


def _fails(function: Callable, tell: str = "") -> str:
    """What the learner's engine says: the error in one line, "" for none. The diagnosis `tell` is raised."""
    try:
        call(lambda: [function(), 0][1])
    except Wrong as wrong:
        if wrong.verdict.code == tell:
            raise
        said = wrong.verdict.got
        of_its_own = isinstance(wrong.__context__, RuntimeError) and not said.startswith("RuntimeError")
        return f"RuntimeError, as {said}" if of_its_own else said
    return ""


def _goes_on(code: str, walk: Callable, **left_open: str) -> None:
    """A walk that is not to be refused: a RuntimeError is the diagnosis `code`."""
    said = _fails(walk)
    if said:
        wrong = _of_engines(code, said, **left_open)
        if said.startswith("RuntimeError"):
            raise wrong
        look = "the line named above, and what leads to it" if "(your line: " in said else "what the error names"
        raise Wrong("raised", f"{wrong.verdict.expected} without an error", said, look=look)


def _is_refused(code: str, walk: Callable, **left_open: str) -> None:
    """A walk that is to be refused: without a RuntimeError it is the diagnosis `code`."""
    said = _fails(walk)
    if not said.startswith("RuntimeError"):
        wrong = _of_engines(code, said or "no error", **left_open)
        if said:  # what is missing is told where no error came
            wrong.verdict.why = "Another error came. Asked for is a RuntimeError, which your engine raises itself."
            if "(your line: raise " in said:
                wrong.verdict.look = "the line named above: which error it raises"
        raise wrong


def _first_walk(name: str, walk: Callable, *leaves_and_grads: Any) -> None:
    """A walk where nobody has walked before, and what it brings (see `_expect_grads`)."""
    try:
        once(walk, where=name)
    except Wrong as wrong:
        if not _on_purpose(wrong):
            raise
        raise _of_engines("second-turn", wrong.verdict.got, name=name) from None
    if leaves_and_grads:
        _expect_grads(name, *leaves_and_grads)


def _expect_grads(name: str, leaves: list, right: list[float], known: dict[str, list] | None = None) -> None:
    """The gradients of leaves with one number each. `known` has diagnoses by wrong gradients, None for any."""
    came = [_one(leaf.grad, f"`.grad` of a leaf, for {name}, is") for leaf in leaves]
    if all_close(came, right):
        return
    for code, values in (known or {}).items():
        if all_close(came, [one if value is None else value for one, value in zip(came, values, strict=True)]):
            raise wrong_walk(code, came, right, name=name)
    raise unlike(came, right, name)


def _stage_values(kind):
    _array(kind([1, 2]), "`Tensor([1, 2])` is")
    callers = np.array([5.0, 7.0])
    kind(callers).sub_(np.array([1.0, 1.0]))
    if not _is(callers, [5.0, 7.0]):
        raise _of_engines("shares-memory", show(callers))
    for name, program in _PROGRAMS.items():
        look = "the table, and which operators and methods your `Tensor` has"
        mine = [_leaf(kind, values) for values in _VALUES]
        result = _ours(f"a value for {name}", lambda mine=mine, program=program: program(*mine), look)
        came, right = _array(result, f"the result of {name} is"), _on_minigrad(program)[1].detach().numpy()
        _compare(came, right, "value", f"for {name}", "the forward of these operations")


_OPERANDS: dict[str, tuple[Callable, list, list]] = {  # for x = [[4, 9]] and an array [[2, 5]]: value and gradient
    "2.0 + x": (lambda x, array: 2.0 + x, [[6, 11]], [[1, 1]]),
    "2.0 * x": (lambda x, array: 2.0 * x, [[8, 18]], [[2, 2]]),
    "array + x": (lambda x, array: array + x, [[6, 14]], [[1, 1]]),
    "array * x": (lambda x, array: array * x, [[8, 45]], [[2, 5]]),
    "x - 2.0": (lambda x, array: x - 2.0, [[2, 7]], [[1, 1]]),
    "x - array": (lambda x, array: x - array, [[2, 4]], [[1, 1]]),
    "x @ array.T": (lambda x, array: x @ array.T, [[53]], [[2, 5]]),
    "x ** 1.5": (lambda x, array: x**1.5, [[8, 27]], [[3, 4.5]]),
    "x.sum((1, 1))": (lambda x, array: x.sum((1, 1)), [[13]], [[1, 1]]),
}


def _stage_operands(kind):
    """Numbers and arrays on either side, and what the programs have not."""
    for name, (program, value, slope) in _OPERANDS.items():
        x, array = _leaf(kind, [[4.0, 9.0]]), np.array([[2.0, 5.0]])
        of_sum = "your `.sum`, and what it does with a shape" if "sum" in name else ""
        look = "the method of this operator: `__add__`, `__radd__` and so on, and `__array_priority__` for arrays"
        look = of_sum or look
        result = _ours(f"a value for {name}", lambda x=x, a=array, program=program: program(x, a), look)
        where = f"{name}, with x = [[4, 9]]" + " and array = [[2, 5]]" * ("array" in name)
        if not isinstance(result, kind):
            got = f"an object of type {type(result).__name__}"
            raise Wrong("left-operand", f"a tensor for {where}", got, look=look)
        forward = of_sum or "the forward of this operation"
        _compare(_array(result, f"{name} is"), value, "value", f"for {where}", forward)
        array[...] = 0.0
        result.sum().backward()
        came, where = _array(x.grad, f"`x.grad`, for {name}, is"), f"in `x.grad`, for {where}"
        if "array" in name and slope != [[1, 1]] and not came.any():  # else the numbers of the array do not matter
            why = "After the operation the caller overwrote the array. A tensor made of it needs memory of its own."
            _compare(came, slope, "shares-memory", where, "the tensor that is made of an array: does it copy?", why)
        _compare(came, slope, "other-gradient", where, "the rule of this operation")
    for name, value in (("exp", 30.0), ("log", 1e-20), ("tanh", -50.0)):
        came, right = _array(getattr(kind(value), name)(), f"{name} of {value:g} is"), getattr(np, name)(value)
        _compare(came, right, "value", f"for {name} of {value:g}", "the forward of this operation")


def _compare(came, right, code, where, look, why=""):
    right = np.array(right, float)
    if came.shape != right.shape or not np.allclose(came, right, 1e-4, 1e-6):
        raise Wrong(code, f"{_entries(right)} {where}", _entries(came), why=why, look=look)


def _stage_order(kind):
    for name, program, right, known in (
        ("x * z", lambda x, z: x * z, [2.0, 3.0], {}),
        ("x * z + x", lambda x, z: x * z + x, [3.0, 3.0], {"overwrites": [2.0, 3.0], "one-part": [1.0, 3.0]}),
        ("x * x + z", lambda x, z: x * x + z, [6.0, 1.0], {"overwrites/of-one-node": [3.0, 1.0]}),
    ):
        x, z = _leaf(kind, 3.0), _leaf(kind, 2.0)
        result = program(x, z)
        if result.node is None:
            raise _of_engines("not-recorded", "None", name=name)
        _first_walk(name, result.backward, [x, z], right, known)
    if result.grad is not None:
        expected, look = "None as the `.grad` of x * x + z, which is no leaf", "who gets a `.grad`: only a leaf does"
        raise Wrong("grad-of-result", expected, show(result.grad), look=look)
    _check_diamond(kind)
    x = _leaf(kind, 3.0)
    h, z = x * x, _leaf(kind, 2.0)
    _first_walk("h * z + h, with h = x * x, and z made after h,", (h * z + h).backward, [x, z], [18.0, 9.0])
    x = _leaf(kind, 3.0)
    (x * 52.0).backward()
    _goes_on("frees-all/leaf", lambda: (x + x).backward())
    _expect_grads(
        "x + x, where `x.grad` was 52,", [x], [54.0], {"leaf-overwritten": [2.0], "leaf-overwritten/kept": [52.0]}
    )


def _check_diamond(kind):
    """The learner's graph and gradients beside minigrad's, where a result is used twice."""
    mine, leaves = [_leaf(kind, 3.0), _leaf(kind, 2.0)], [tools.leaf(3.0), tools.leaf(2.0)]
    result, true = (z * engines.diamond(x, z) for x, z in (mine, leaves))
    true.backward(retain_graph=True)
    try:  # 4: h passed on what had come from the sum alone; 42: z, too, had its turn before that came
        known = {"too-early": [4.0, 42.0], "one-part": [4.0, None]}
        _first_walk("z * (h + h * h), with h = x * z", result.backward, mine, [52.0, 120.0], known)
    except Wrong as wrong:
        wrong.verdict.picture = _beside(result, true, mine, leaves, "xz")
        x, z = _leaf(kind, 3.0), _leaf(kind, 2.0)
        h = x * z  # as nodes are found, h * h comes before h here
        if wrong.verdict.belief and (_fails((h * h + h).backward) or not kit.close(_one(x.grad, "`x.grad` is"), 26.0)):
            wrong.verdict.belief = ""
        raise


def _stage_shared(kind):
    """An addition hands one gradient to both of its inputs: what happens to one may not happen to the other.

    A leaf's .grad is its own, and the only place where its gradient is kept.
    """
    x, z = _leaf(kind, 3.0), _leaf(kind, 2.0)
    _first_walk("(x + z) + x", ((x + z) + x).backward, [x, z], [2.0, 1.0], {"grad-shared": [2.0, 2.0]})
    x, z = _leaf(kind, 3.0), _leaf(kind, 2.0)
    _first_walk("x + z", (x + z).backward, [x, z], [1.0, 1.0])
    x.grad.sub_(np.array(1.0))
    came = _one(x.grad, "`x.grad` is")
    if not kit.close(came, 0.0):
        raise _of_engines("sub", f"{came:.4g}", what="0 in `x.grad`, after `x.grad.sub_(1)` where it was 1")
    _expect_grads("x + z, and then `x.grad.sub_(1)`,", [x, z], [0.0, 1.0], {"grad-shared/leaf": [None, None]})
    _first_walk("x + x, where `x.grad` was 0,", (x + x).backward, [x], [2.0], {"grad-elsewhere": [None]})


def _stage_deep(kind):
    """As many ways as nobody can walk, and more operations than calls may wait."""
    x, z = _leaf(kind, 3.0), _leaf(kind, 2.0)
    once(lambda: engines.doubled(x).backward())
    without_recursion(lambda: engines.chain(x, z, _DEEP).backward())
    _expect_grads("25 times h = h + h, then a long chain", [x], [2.0**25 + 1])


def _stage_programs(kind):
    _check_programs(kind)
    constant = (kind([1.0, 2.0]) * 3.0).node
    if constant is not None:
        raise _of_engines("constant-recorded", show(constant))


def _stage_shapes(kind):
    """Each way of broadcasting, to a leaf; and a root of each shape that has one number."""
    for shape, times in product(((), (1,), (1, 1)), (1, 2)):
        x = _leaf(kind, np.ones(shape))
        name = f"{'x + x' if times == 2 else 'x'}, with an x of shape {shape}"
        _first_walk(name, (x + x if times == 2 else x).backward)
        came = _array(x.grad, f"`x.grad`, after a walk over {name}, is")
        if came.shape != shape:
            look = "the gradient that the walk begins with: its shape is that of the root"
            look = "how a part gets the shape of its node, also where that has a length of 1" if times == 2 else look
            expected = f"`x.grad` of shape {shape}, after a walk over {name}"
            raise Wrong("other-shape", expected, f"one of shape {came.shape}", look=look)
        if not np.allclose(came, times):
            raise unlike([float(came.sum())], [float(times)], f"{name},")
    for shape in ((2,), (2, 1), (1, 2), ()):
        a, c = _leaf(kind, _VALUES[0]), _leaf(kind, np.full(shape, 0.5))
        _first_walk("a * c", (a * c).sum().backward)
        where = f"in `c.grad`, for a * c with a `c` of shape {shape} and an `a` of shape (2, 2)"
        look = "along which dimensions a part is summed"
        _check_numbers(_array(c.grad, "`c.grad` is"), sum_to(np.array(_VALUES[0]), shape), where, look)
    next_nodes = list((a * 3.0).node.next_nodes)
    if len(next_nodes) != 2 or next_nodes[1] is not None:
        raise _of_engines("edge-lost", show(next_nodes))


def _stage_switch(kind):
    """Without create_graph nothing is recorded; and a walk that begins where recording is off ends so."""
    x = _leaf(kind, 3.0)
    for options, said in (({}, "`backward()`"), ({"retain_graph": True}, "`backward(retain_graph=True)`")):
        (x * x).backward(**options)
        if x.grad.node is not None:
            raise _of_engines("always-recorded", "one with a node", walk=said)
    nodes = type(x.node)
    if getattr(nodes, "recording", None) is not True:
        return  # the switch of this engine is elsewhere
    result, nodes.recording = x * x, False
    try:
        result.backward()
        left_on = nodes.recording
    finally:
        nodes.recording = True
    if left_on:
        look = "what `backward` sets the switch to in the end"
        raise Wrong("switch-left", "`Node.recording` False after a walk, as before", "it is True", look=look)


def _stage_memory(kind):
    x = _leaf(kind, 3.0)
    once = x * x
    once.backward()
    _is_refused("no-release", once.backward)
    total = x + 3.0
    if total.node is None:
        raise _of_engines("switch-left", "None")
    h = x * x
    (h * 5.0).backward()
    _is_refused("no-release/inside", h.backward)
    _goes_on(
        "frees-all" + "/saved" * bool(getattr(total.node, "saved", None)), lambda: [total.backward(), total.backward()]
    )
    y, x.grad = (x * x) * 5.0, None
    _goes_on("frees-anyway", lambda: [y.backward(retain_graph=True), y.backward()])
    _expect_grads("5 · x · x at 3, after two walks,", [x], [60.0], {"kept-inside/passed-on": [90.0]})
    _is_refused("no-release/third", y.backward)


def _stage_versions(kind):
    x, k, one = _leaf(kind, [2.0, 3.0]), kind([5.0, 7.0]), np.array([1.0, 1.0])
    y, z = (x * k).sum(), (x + k).sum()
    k.sub_(one)
    if not _is(_array(k, "k is"), [4.0, 6.0]):
        raise _of_engines("sub", show(k.data), what="[4, 6] in `k` after `k.sub_`")
    _is_refused("no-version", y.backward, what="`k` was overwritten after x * k saved it")
    for which in (0, 1):
        factors = [_leaf(kind, [2.0, 3.0]) for _ in range(2)]
        both = (factors[0] * factors[1]).sum()
        factors[which].sub_(one)
        what = f"`{'xy'[which]}` was overwritten after x * y, which saved both"
        _is_refused("no-version", both.backward, what=what)
    h = x * 2.0
    both = (h * (x * 3.0)).sum()
    h.sub_(one)
    _is_refused("no-version", both.backward, what="h = x * 2 was overwritten after h * m saved it")
    later, third = (x * k).sum(), (x * k).sum()
    x.sub_(one)
    _goes_on("too-strict", lambda: [z.backward(), later.backward()])
    k.sub_(one)
    what = "`k` was overwritten once before x * k saved it, and once after"
    _is_refused("no-version", third.backward, what=what)


def _stage_errors(kind):
    """A walk that ends with an error leaves nothing behind."""
    x, k, one = _leaf(kind, 3.0), _leaf(kind, 5.0), np.array(1.0)
    total = x * k + x
    k.sub_(one)
    _is_refused("no-version", total.backward, what="`k` was overwritten after x * k + x saved it")
    x.grad = None
    (x + x).backward()
    _expect_grads("x + x, after a walk that was refused,", [x], [2.0], {"kept-inside/after-an-error": [None]})
    x.sub_(one)
    if x.grad is None:
        raise Wrong("grad-lost", "an `x.grad` after `x.sub_`, as before", "None", look="your `sub_`")
    x = _leaf(kind, 0.0)
    with np.errstate(all="ignore"):
        result = x.log()
    with np.errstate(all="raise"):
        said = _fails(result.backward)  # 1 / 0, if this engine computes it
    if said and (x + 3.0).node is None:
        raise _of_engines("switch-left", "None")


_RECORDED: dict[str, Callable] = {
    "x ** 3": lambda x: x**3.0,
    "tanh": lambda x: x.tanh(),
    "x * exp x": lambda x: x * x.exp(),
    "x * log of x * x + 2": lambda x: x * (x * x + 2.0).log(),
    "x @ x.t() @ x": lambda x: x @ x.t() @ x,
    "x * x * x.sum() - x": lambda x: x * x * x.sum() - x,
    "x * (x - x ** 3)": lambda x: x * (x - x**3.0),
}


def _stage_recorded(kind):
    values = [[0.5, -1.5], [1.0, 0.25]]
    for name, program in _RECORDED.items():
        x, true = _leaf(kind, values), tools.leaf(values)
        came, right = program(x).sum(), program(true).sum()
        for order in ("first", "second", "third"):
            x.grad = None
            _walk_recorded(came, f"{order} derivative of {name}")
            (slope,) = mg.autograd.grad(right, true, create_graph=True)
            _check_recorded(x.grad, slope, f"{order} derivative of {name}", order)
            came, right = x.grad.sum(), slope.sum()
    x, what = _leaf(kind, 3.0), "sum of two first derivatives of x ** 2 at 3"
    for _ in range(2):  # they add up, and so do their histories
        _walk_recorded(x**2.0, what)
    _expect_grads("two walks of x ** 2 at 3, with create_graph=True,", [x], [12.0])
    slope, x.grad = x.grad, None
    said = _fails(slope.backward) or f"{_one(x.grad, 'its own slope is'):.4g}"
    if said != "4":
        raise _of_engines("second-derivative", said, what=what)


def _walk_recorded(result, what):
    _goes_on("create-fails", lambda: result.backward(create_graph=True), what=what)


def _check_recorded(came, slope, what, order):
    values, right = _array(came, f"the {what} is"), slope.detach().numpy()
    look = "each rule, and what it is called with; how parts are fitted, and added, also at a leaf: with your own "
    look += "operations only? What is on in the walk?"
    if values.shape != right.shape:
        raise Wrong("other-shape", f"the {what} of shape {right.shape}", f"one of shape {values.shape}", look=look)
    if not np.allclose(values, right, 1e-4, 1e-6):
        expected, got = _entry(values, right, f"as {what}")
        if order == "first":
            raise Wrong("other-gradient", expected, got, look=f"the rules that {what.partition(' of ')[2]} needs")
        why = "The derivative before it is right, and its own slope is not. Something in it may have had no history."
        raise Wrong("second-derivative", expected, got, why=why, look=look)
    if order != "third" and came.node is None:
        why = "The number is right, but it has no history, so it has no slope of its own."
        code = "create-graph" if "x ** 3" in what else "dead-end"
        raise Wrong(code, f"a {what} with a node", "None", why=why, look=look)


def _trained(kind):
    """Train the network of chapter 11 with the learner's engine; the sentence and the picture of its graph."""
    rng = np.random.default_rng(11)
    radius, angle = np.r_[0.9 * rng.random(20), 1.3 + 0.7 * rng.random(20)], 2 * np.pi * rng.random(40)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    right, ones = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, 0), np.ones((2, 1))
    start = (rng.normal(size=(2, 8)), np.zeros(8), 0.5 * rng.normal(size=(8, 2)), np.zeros(2))
    W1, b1, W2, b2 = leaves = [_leaf(kind, values) for values in start]

    def loss():
        scores = (kind(points) @ W1 + b1).tanh() @ W2 + b2
        return ((scores.exp() @ ones).log() - (scores * right) @ ones).sum() * (1 / 40)

    for _ in range(40):
        for leaf in leaves:
            leaf.grad = None
        loss().backward()
        for leaf in leaves:
            leaf.sub_(leaf.grad.data)
    last = loss()
    reached = _one(last, "the loss is")
    if not reached < 0.35:
        look = "what a step does with your tensors: `.grad` is set to None, then a walk, then `sub_(leaf.grad.data)`"
        raise Wrong("not-trained", "a loss below 0.35 after 40 steps", f"{reached:.3g}", look=look)
    names = dict(zip([leaf.node for leaf in leaves], ("W1", "b1", "W2", "b2"), strict=True))
    graph = engines.graph_of(last.node, names, "the graph of your loss, in your engine")
    sentence = f"Your engine says what minigrad says, and it has trained a network to a loss of {reached:.2g}."
    return sentence, mg.viz.Picture([graph])


STAGES = (  # minigrad passes them, too: tests/test_rebuilt_engine.py
    _stage_values,
    _stage_order,
    _stage_shared,
    _stage_deep,
    _stage_programs,
    _stage_shapes,
    _stage_operands,
    _stage_memory,
    _stage_versions,
    _stage_errors,
    _stage_switch,
    _stage_recorded,
    _trained,
)
chapter.lock()
