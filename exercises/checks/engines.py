"""What the checks of chapter 10 ask of any engine, a learner's or the small one: its calls counted, its graph drawn.

`Scalar` is half an engine: the learner writes the walk. `walk` is one, with bugs if one wants. `once`, `keeping` and
`without_recursion` call a learner's function, and look at what becomes of what it is given.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import count
from operator import attrgetter, itemgetter
from types import FunctionType
from typing import Any

import numpy as np

from exercises.checks import kit, tools
from exercises.checks.kit import Wrong, call, show
from minigrad import small_engine
from minigrad.autograd import engine
from minigrad.viz import EdgeRecord, GraphRecord, NodeRecord

_numbers = count()


class Scalar:
    """A number that notes where it came from, and with which slopes."""

    def __init__(self, value, name="leaf", next_nodes=(), slopes=()):
        self.value, self.name, self.grad = value, name, 0.0
        self.next_nodes, self.slopes = next_nodes, slopes
        self.number = next(_numbers)

    def __add__(self, other):
        return Scalar(self.value + other.value, "add", (self, other), (1.0, 1.0))

    def __mul__(self, other):
        return Scalar(self.value * other.value, "mul", (self, other), (other.value, self.value))

    def __repr__(self):
        return f"Scalar({self.value:g}, grad={self.grad:g})"


def doubled(x: Any, times: int = 25) -> Any:
    """A graph with few nodes and many ways."""
    for _ in range(times):
        x = x + x
    return x


def chain(x: Any, z: Any, times: int) -> Any:
    """So many operations in a row."""
    for _ in range(times):
        x = x + z
    return x


def diamond(x: Any, z: Any) -> Any:
    """A result that is used twice, by nodes of different age."""
    h = x * z
    return h + h * h


def behind(root: Scalar) -> list[Scalar]:
    """A node and all that it was made from."""
    found, seen = [root], {root}
    for node in found:
        new = [next_node for next_node in dict.fromkeys(node.next_nodes) if next_node not in seen]
        seen |= set(new)
        found += new
    return found


_newest, _oldest = partial(max, key=attrgetter("number")), partial(min, key=attrgetter("number"))


def walk(
    root: Scalar, pick: Callable = _newest, again: str = "never", adds: bool = True, edges: Callable = list
) -> dict[Scalar, float]:
    """The gradients of a walk, which has the bugs that it is told.

    `pick` says which of those that wait goes next, `again` whether a node may wait once more when it has met it, and
    `edges` which edges of a node are walked.
    """
    grads, waiting, met = {root: 1.0}, [root], {root}
    known: Any = {"never": met, "later": waiting, "always": ()}[again]
    while waiting:
        node = pick(waiting)
        waiting.remove(node)
        for next_node, slope in edges(zip(node.next_nodes, node.slopes, strict=True)):
            grads[next_node] = grads.get(next_node, 0.0) * adds + grads[node] * slope
            if next_node not in known:
                met.add(next_node)
                waiting.append(next_node)
    return grads


_FOUND = itemgetter(0), itemgetter(-1)
BUGS: tuple[tuple[str, dict[str, Any]], ...] = (  # the name of a diagnosis, and what `walk` is told
    ("overwrites", {"adds": False}),
    ("overwrites/of-one-node", {"edges": lambda pairs: dict(pairs).items()}),
    *(("two-turns", {"pick": pick, "again": "always"}) for pick in (_newest, *_FOUND)),
    *(("too-early/oldest", {"pick": _oldest, "again": again}) for again in ("never", "later")),
    *(("too-early", {"pick": pick, "again": again}) for pick in _FOUND for again in ("never", "later")),
)


# --- What walks do wrong -------------------------------------------------------------------------


def all_close(came: list, true: list) -> bool:
    """Whether gradients are those that they should be."""
    return len(came) == len(true) and all(kit.close(one, other) for one, other in zip(came, true, strict=True))


def _in_words(values: list[float]) -> str:
    return " and ".join(f"{value:.12g}" for value in values)


def unlike(came: list, true: list, name: str) -> Wrong:
    """The diagnosis for gradients of which no known bug is told."""
    if not any(came):
        return wrong_walk("nothing", came, true, name=name)
    times = next((one / other for one, other in zip(came, true, strict=True) if other), 1.0)
    other = math.isfinite(times) and not kit.close(times, 1.0)
    if sum(map(bool, true)) > 1 and other and all_close(came, [times * one for one in true]):
        return wrong_walk("other-start", came, true, name=name, times=f"{times:.10g}")
    return wrong_walk("other-gradient", came, true, name=name)


def wrong_walk(code: str, came: list, true: list, **left_open: Any) -> Wrong:
    """A diagnosis of `_of_walks`, by its name."""
    return _of_walks(code, _in_words(came), true=_in_words(true), s="s" * (len(true) > 1), **left_open)


_of_walks = tools.texts(
    """
overwrites: {name}
    Where several edges lead to one node, it has only what one of them brought.
    look: the line in which a gradient arrives, `=` or `+=`
overwrites/of-one-node: {name}
    Where two edges lead from one node to one other, as in `x * x`, only one of them counts.
    look: how your code goes over the edges of a node, and where two of them could become one
two-turns: {name}
    A node that is used more than once has more than one turn, and passes on all it has each time.
    look: what becomes of a node that is met again while it waits
too-early: {name} (M11)
    A node has had its turn before one that used its result: its gradient was not complete.
    look: which node goes first, of those that have no turn yet
too-early/oldest: {name}
    A node has had its turn before one that used its result: its gradient was not complete.
    look: which node goes first, of those that have no turn yet
one-part: {name}
    Of two parts that reach a node only one counts: the other is not added, or comes when the node has had its turn.
    look: which node goes first, and how a gradient is added to one that is there
nothing: {name}
    What should have arrived is not in `.grad`: that is 0.
    look: the gradient that the walk starts with, the edges that lead to a leaf, and every line that sets a `.grad`
other-start: {name}
    All of them are {times} times what they should be.
    look: with which gradient the walk starts, how often the root has a turn, and what else every gradient meets
other-gradient: {name}
    look: of the nodes whose gradient is another, the one made last: what was passed on to it, when, by what slope?
again: {name}, walked again,
    The first walk was right. Then all `.grad` were set to 0, and it was called again.
    look: what your function keeps from call to call: a global name, a default argument, a mark on a node
zero-is-not-new: {name}
    With z = -2.5 your walk was right. Here the parts 1 and -1 reach `h`, so its gradient can be 0 for a while.
    look: how your walk knows that a node is waiting already: its numbers do not tell that
equal-values: {name}
    Your walk was right before. Here `h` and `h * (z * z)` are two nodes with one and the same value.
    look: how your walk tells one node from another
at-zero: {name}
    With other numbers your walk was right. Here a slope, or a gradient on the way, is 0.
    look: what your walk does where a value, a slope or a gradient is 0
at-zero/not: {name}
    With other numbers your walk was right.
    look: what depends on the numbers
rounded: {name}
    With other numbers your walk was right. These are small or large, and have many digits.
    look: whatever rounds a gradient, cuts it off, or leaves one out
late-leaf: {name}
    Your walk was right where all leaves are older than all results. Here `z` is newer than `h`.
    look: what your walk does when a leaf comes before a result
leaf-as-root: {name}
    The slope of x by x is 1. Here the root is a leaf: it has no next nodes, and was made by no operation.
    look: what the root gets, if it is a leaf
leaf-as-root/again: {name}
    After one walk it was 1. The next has to add 1 to what is there, also where the root is a leaf.
    look: the line that sets the `.grad` of the root
leaves-cleared: {name}, after {times} walks, (M08)
    The leaves have what a single walk gives. From walk to walk theirs have to add up.
    look: which `.grad` you clear, or set with `=`
leaves-cleared/no-walk: {name}, after {times} walks,
    The leaves have what a single walk gives: another walk over the same nodes changes nothing.
    look: what stays after a walk, and what the next one does with it: a mark, a `.grad`, a set
leaves-cleared/now-and-then: {name}, after {times} walks,
    The leaves have what a single walk gives. A walk that finds other numbers there does add to them.
    look: what your walk does at a leaf that has a `.grad`, and what stays after a walk
leaf-of-two-walks: {name}, after {times} walks,
    One more walk brings what it should if the `.grad` of each leaf is set to 0 before, and not as it is here.
    look: what is added at a leaf that has a `.grad`
kept-inside: {name}, after {times} walks,
    One more walk is wrong also if the `.grad` of each leaf is set to 0 before: something else of earlier walks matters.
    look: what is left after a walk, on nodes with next nodes or in what your function keeps
kept-inside/trunk: {name}
    Three walks share `h`. A later one may have met something that an earlier one left behind.
    look: what is left on nodes with next nodes after a walk
grad-shared: {name}
    An addition hands one and the same gradient to both inputs. What was added for `x` is in that of `z`, too.
    look: the line that adds what arrives: does it write into an array?
grad-shared/leaf: {name}
    An addition hands one and the same gradient to both inputs. A leaf that keeps it as it came shares it.
    look: what becomes the `.grad` of a leaf when there was none
grad-elsewhere: {name}
    `x.grad` was 0, because `sub_` had changed it, and 2 arrived.
    look: what you add to: the `.grad` of the leaf, or another place that keeps its gradient?
leaf-overwritten: {name} (M08)
    52 was there before. A leaf adds what arrives to what it has.
    look: each line that sets the `.grad` of a leaf, or clears it
leaf-overwritten/kept: {name}
    52 was there before, and is there still. A leaf adds what arrives to what it has.
    look: the line that sets the `.grad` of a leaf, and on which condition
kept-inside/passed-on: {name}
    The second walk has passed on what the first left behind. In PyTorch and minigrad a walk leaves nothing but the
    `.grad` of leaves.
    look: where you keep what is on the way
kept-inside/after-an-error: {name}
    The walk before ended with an error, as it should. Something of it may have been passed on by this one.
    look: where you keep what is on the way
cleared-comes-back: {name}, walked once more,
    After several walks every `.grad` of a leaf was set to {old}. A walk adds to that.
    look: what your function keeps beside `.grad`, and what it does with a `.grad` that is there
""",
    "for {when} the gradient{s} {true}, as in minigrad",
)


# --- Any engine ----------------------------------------------------------------------------------


def small_with(**steps: Callable) -> type:
    """The Tensor of the small engine, with other functions for some of `record`, `turn` and `arrive`."""
    return type("Tensor", (small_engine.Tensor,), {name: staticmethod(step) for name, step in steps.items()})


class _TooMany(BaseException):
    """More calls than any engine needs that walks a graph once."""


class _Forbidden(BaseException):
    """A call of a function that may not be called."""


def _within(calls: int, function: Callable, *inputs: Any, never: Collection[Callable] = ()) -> Any:
    """Call the function; raise when that takes more than so many calls, or when it calls one of `never`.

    Nothing is replaced meanwhile, so a thread that is left behind leaves nothing replaced.
    """
    left, forbidden = calls, {one.__code__ for one in never}

    def watch(frame, event, argument):
        nonlocal left
        left -= event in ("call", "c_call")
        if left < 0 or (event == "call" and frame.f_code in forbidden):
            sys.setprofile(None)
            raise _TooMany if left < 0 else _Forbidden

    sys.setprofile(watch)
    try:
        return function(*inputs)
    finally:
        sys.setprofile(None)


_SWITCHES: dict[str, Callable] = {
    "`small.Node.recording`": lambda: small_engine.Node.recording,
    "Python's recursion limit": sys.getrecursionlimit,
    "`np.geterr()`": np.geterr,
}
_WITH_FACTS = Scalar | small_engine.Node | small_engine.Tensor | np.ndarray | FunctionType


class _Before:
    """What a function is given, and what is in it, as it was before a call; and what is switched on and off."""

    def __init__(self, inputs: tuple) -> None:
        self.given = [one for one in _all_in(inputs) if isinstance(one, _WITH_FACTS)]
        self.facts = list(map(_facts, self.given))
        self.asked = {name: ask() for name, ask in _SWITCHES.items()}

    def left_switches(self) -> list[tuple[str, Any, Any]]:
        """What is switched otherwise now: its name, what it was, and what it is."""
        now = {name: ask() for name, ask in _SWITCHES.items()}
        return [(name, was, now[name]) for name, was in self.asked.items() if now[name] != was]

    def put_back(self) -> None:
        """Set what is switched as it was."""
        small_engine.Node.recording = self.asked["`small.Node.recording`"]
        np.seterr(**self.asked["`np.geterr()`"])

    def changes(self, may: Collection[str]) -> Iterator[tuple[Any, str, Any, Any]]:
        """What has changed, but for the attributes in `may`: an object, an attribute, what it was, and what it is.

        An attribute that is not there is `...`. A walk, which may set `grad`, may leave marks on a Scalar.
        """
        own = Scalar(0.0).__dict__ if "grad" in may else {}
        for one, was in zip(self.given, self.facts, strict=True):
            now = _facts(one)
            for name in [name for name in own or was | now if name not in may]:
                if was.get(name, ...) != now.get(name, ...):
                    yield one, name, was.get(name, ...), now.get(name, ...)


def _all_in(inputs: tuple) -> list:
    """What a function is given, and what is in it: Scalars, nodes, tensors, arrays, operations."""
    found, seen = list(inputs), set(map(id, inputs))
    for one in found:
        inside: list = []
        if isinstance(one, Scalar | small_engine.Node):
            inside = [*one.next_nodes, *[pair[0] for pair in (getattr(one, "saved", None) or {}).values()]]
        elif type(one) is small_engine.Tensor:
            inside = [one.node]
        elif type(one) in (dict, list):
            inside = list(one.values() if type(one) is dict else one)
        new = {id(other): other for other in inside if id(other) not in seen}
        seen |= new.keys()
        found += new.values()
    return found


def _facts(one: Any) -> dict[str, Any]:
    """The attributes of an object, and what is in them now."""
    if isinstance(one, np.ndarray):
        return {"data": one.tolist(), "shape": one.shape, "writeable": one.flags.writeable}
    return {name: _frozen(value) for name, value in vars(one).items()}


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.copy() if type(value) in (list, dict) else value


# --- How a learner's function is called ----------------------------------------------------------


_MAY_WAIT = 1_000  # Python's own limit, which others may have raised
_CALLS = 20_000  # an engine that walks a small graph once needs some hundred
_MANY = "many thousand calls for 25 additions `h = h + h`"
_texts = tools.texts("""
given-engine: work of your own code
    That engine was given. This exercise is about one of your own.
    look: where your code calls it
no-end: an answer for {where}
    There are a few nodes, or numbers, only. So your loop, or your recursion, seems not to come to an end.
    look: what ends your loop, or your recursion: in a walk, how often a node can be met
paths: as many turns as there are nodes
    A small graph was walked well. Here each addition doubles the ways, and your code seems to go each of them.
    look: what your code does at a node that it has met before
recursion: an answer for {where}
    Calls wait for calls, and Python lets only so many wait. A loop has no such limit.
    look: which function calls itself, or is called again by what it calls
mode-left: {name} as it was: {was}
    Whatever comes after your function finds it changed.
    look: where it is set, and set back
in-place: {was} in an array that was given
    Others may hold the same array.
    look: each line that changes an array: `+=`, or its entries or shape
given-changed: `{name}` of {whose} that your function was given, as it was
    The task does not ask to change it.
    look: each line that sets `{name}`, or writes into what is there
given-changed/version: `{name}` of {whose} that your function was given, as it was
    The task does not ask to overwrite it.
    look: each `sub_`, and each line that sets `version`
""")


def once(
    function: Callable, *inputs: Any, where: str = "", never: tuple = (engine.walk,), may: tuple[str, ...] = ()
) -> Any:
    """The learner's function on our inputs, stopped when it comes to no end, or calls what it may not.

    `where` names a small program. Without it, it is 25 additions, with millions of ways. `may`: see `keeping`.
    """

    def careful():
        try:
            return _within(_CALLS, function, *inputs, never=never)
        except _TooMany:
            known = ("no-end", f"none after {_CALLS:,} calls") if where else ("paths", _MANY)
            raise _texts(*known, where=where) from None
        except _Forbidden:
            raise _texts("given-engine", "a call of a given engine") from None

    kit._refuse_other_arguments(function, inputs)
    return without_recursion(careful, about=inputs, may=may, small=where, where=where or "25 additions `h = h + h`")


def without_recursion(
    function: Callable,
    *inputs: Any,
    about: tuple | None = None,
    may: tuple[str, ...] = ("grad",),
    where: str = "1,200 operations in a row",
    small: str = "",
) -> Any:
    """The learner's function on our inputs (see `keeping`), of which no more calls may wait than Python lets wait.

    `where` says what these are, and `small` is not empty where that is so small that a recursion has no end.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(min(before, _MAY_WAIT))
    try:
        return keeping(function, *inputs, about=about, may=may)
    except Wrong as wrong:
        if isinstance(wrong.__context__, RecursionError):
            raise _texts("no-end" if small else "recursion", wrong.verdict.got, where=where) from None
        raise
    finally:
        sys.setrecursionlimit(before)


def keeping(function: Callable, *inputs: Any, about: tuple | None = None, may: tuple[str, ...] = ()) -> Any:
    """The learner's function on our inputs, which are afterwards as before, but for the attributes in `may`.

    `about`: what it is given, where it is called by another function. Where it may set a `.grad`, it may put marks.
    """
    before = _Before(inputs if about is None else about)
    try:
        result = call(function, *inputs)
        left = before.left_switches()
    finally:
        before.put_back()
    for name, was, now in left:
        raise _texts("mode-left", show(now), name=name, was=show(was))
    for change in before.changes(may):
        kit.adversaries.trial.forget_last()  # it would be shown as it is by now
        raise _changed(*change)
    return result


def _changed(one: Any, name: str, was: Any, now: Any) -> Wrong:
    if isinstance(one, np.ndarray):
        return _texts("in-place", show(now), was=show(was) + f" as `{name}`" * (name != "data"))
    got = (
        f"{show(now)}, where it was {show(was)}" if show(now) != show(was) else "another object, or other values in it"
    )
    got = f"{show(now)}, and there was none before" if was is ... else "it is gone" if now is ... else got
    kinds = {Scalar: "a `Scalar`", small_engine.Node: "a node", small_engine.Tensor: "a tensor"}
    code = "given-changed/version" if name == "version" else "given-changed"
    return _texts(code, got, name=name, whose=kinds.get(type(one), "the operation"))


# --- Graphs --------------------------------------------------------------------------------------


def graph_of(
    root: Any,
    names: dict[Any, str],
    title: str = "your graph",
    grads: dict | None = None,
    unlike: Collection = (),
) -> GraphRecord:
    """The records of a graph of nodes that have `name` and `next_nodes`, in the form of "what autograd keeps".

    `names` has the nodes of leaves and what is to be written on these, `grads` the gradients of nodes, and `unlike`
    those whose gradient is marked as wrong. Raises AttributeError or TypeError where something else is in the graph.
    """
    ids, waiting = {id(root): "n1"}, [root]
    nodes, edges = [NodeRecord("n0", "output", "result")], [EdgeRecord("n0", "n1", "grad_fn")]
    for node in waiting:
        source, inputs = ids[id(node)], list(node.next_nodes)
        marks = ("guilty",) if node in unlike else ()
        nodes += _records(node, source, inputs, names, grads or {}, marks)
        if not inputs:
            edges.append(EdgeRecord(source, f"{source}leaf", "accumulate"))
        for position, next_node in enumerate(inputs):
            if next_node is None:
                continue
            if id(next_node) not in ids:
                ids[id(next_node)] = f"n{len(ids) + 1}"
                waiting.append(next_node)
            edges.append(EdgeRecord(source, ids[id(next_node)], "next", position))
    return GraphRecord(title, "kept", tuple(nodes), tuple(edges), ("n0",))


def _records(node: Any, source: str, inputs: list, names: dict, grads: dict, marks: tuple) -> list[NodeRecord]:
    if inputs:
        op, note = str(node.name), f"gradient {grads[node]}" if node in grads else ""
        shown = f"{op.capitalize()}Backward0" if op.islower() else f"named {op!r}"  # which could look like another's
        return [NodeRecord(source, "function", shown, op, note=note, marks=marks)]
    leaf = NodeRecord(f"{source}leaf", "leaf", names.get(node, "a leaf"), grad=grads.get(node, ""), marks=marks)
    return [NodeRecord(source, "accumulate", "AccumulateGrad"), leaf]
