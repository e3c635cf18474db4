"""The checks of chapter 02, "Who gets a .grad?"."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, graphs, kit, tools
from exercises.checks.kit import Wrong, call, show
from exercises.checks.targets import Targets, no_node

chapter = kit.Chapter(__name__, "02", "Who gets a .grad?")


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Leaf or not?",
    kind="predict",
    points=2,
    beliefs=("M01", "M02"),
    hints=(
        "Ask of each line: was an operation recorded? Only then is the result no leaf.",
        "Nothing is recorded if no input is tracked, and nothing inside `no_grad()`. What does `detach()` give you?",
        "To pick, to reshape and to convert are operations like any other.",
    ),
    idea="Recorded were `double()`, `w[0]` and `reshape()`, because their inputs are tracked: `b`, `c` and `f` are "
    "no leaves. `a` and `d` come from untracked tensors, `e` from inside `no_grad()`: three leaves.",
)
def kinds(answer):
    truth = {"a": True, "b": False, "c": False, "d": True, "e": True, "f": False}
    kit.predicted(answer, truth, _KINDS, "True or False")
    return "Not who made it counts, but whether an operation was recorded: the trail ends at a leaf."


_KINDS = kit.patterns("""
result-never-leaf: a=False, d=False, e=False, b=False, c=False, f=False (M02)
    `a`, `d` and `e` are results, but nobody recorded how they were made. As far as autograd knows, they came out of
    nowhere.
    look: `d.grad_fn`
trail-goes-on: d=False, e=False
    `w` is behind both in your program, but not in the graph: `w.detach()` is not tracked, and inside `no_grad()`
    nothing is recorded.
    look: `d.grad_fn` and `e.grad_fn`
looks-like-no-operation: b=True, c=True
    `double()` converts and `w[0]` picks. Both are operations on a tracked tensor, and both were recorded.
    look: `b.grad_fn` and `c.grad_fn`
asked-so-leaf: f=True (M01)
    The flag was set on `mg.ones(2)`. `f` is the result of reshaping it, and that was recorded.
    look: `f.grad_fn`
untracked-result: a=False
    Integers are not tracked, so `float()` was not recorded. `a` has no history.
    look: `a.grad_fn`
detached-result: d=False
    `w.detach()` is not tracked, so the multiplication was not recorded. `d` has no history.
    look: `w.detach().requires_grad`
unrecorded-result: e=False
    Inside `no_grad()` nothing is recorded, whatever the inputs are. `e` has no history.
    look: `e.grad_fn`
conversion: b=True
    `w` is `float32`, so `double()` has to convert. That is an operation on a tracked tensor.
    look: `w.double().grad_fn`
pick: c=True
    `w[0]` is no part of `w` that you take out, but the result of picking: an operation on a tracked tensor.
    look: `c.grad_fn`
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Who has a `.grad`?",
    kind="predict",
    points=2,
    beliefs=("M01", "M03", "M04"),
    hints=(
        "Sort the five first: which are tracked, and which of these are leaves?",
        "`backward()` fills tracked leaves, and results that were asked for with `retain_grad()`.",
        "`p` is `3 * 2 * 4`. If `h` moves, `p` moves 4 times as much. If `w` moves, `h` moves 2 times as much.",
    ),
    idea="`w` is a tracked leaf: `x * v = 8`. `h` is a retained result: `v = 4`. `x` is not tracked, `v` is the "
    "result of a division, and `p` is a result that nobody asked for: None.",
)
def who(answer):
    truth = {"x": None, "w": 8.0, "v": None, "h": 4.0, "p": None}
    looks = {
        "x": "`x.requires_grad`",
        "w": "how much `p` grows when `w` grows by 1",
        "v": "`v.is_leaf`",
        "h": "how much `p` grows when `h` grows by 1",
        "p": "`p.is_leaf` and `p.retains_grad`",
    }
    kit.predicted(answer, truth, _WHO, "a number or None", looks)
    return "Tracked leaves and retained results: these two get a `.grad`, and nobody else."


_WHO = kit.patterns("""
everything-on-the-way: v=6, p=1 (M03)
    These gradients do pass by, but they are not kept. `v` and `p` are results, and nobody asked.
    look: `v.is_leaf` and `p.is_leaf`
asked-then-divided: v=6 (M01)
    In the text the flag was set on the tensor that holds 8. `v` is the result of a division, and keeps nothing.
    look: the line that makes `v`, and `v.is_leaf` after it
gradient-of-the-8: v=3 (M01)
    3 is the gradient of the leaf that holds 8, and it is kept there. `v` is the result of a division.
    look: which tensor the name `v` belongs to
root-keeps: p=1
    1 is what `backward()` starts with. But `p` is a result, and nobody called `p.retain_grad()`.
    look: `p.is_leaf` and `p.retains_grad`
retain-ignored: h=None (M04)
    `h` is a tracked result, and `retain_grad()` was called before `backward()`. So its gradient is kept.
    look: `h.retains_grad`
retained-instead: w=None
    `h` keeps its gradient and passes it on all the same. Looking takes nothing away from `w`.
    look: `w.is_leaf` and `w.requires_grad`
stops-at-h: w=4
    4 is what arrives at `h`. On the way on to `w` it is multiplied by the other factor of `h`.
    look: the line that makes `h`
untracked-has-grad: x=12
    12 would be the slope, but nobody asked: `x` is not tracked, so nothing is computed for it.
    look: `x.requires_grad`
untracked-has-zero: x=0
    0 would say that `p` does not depend on `x`. Nobody asked, so there is no answer at all: None.
    look: `x.requires_grad`
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The rule as a function",
    kind="write",
    points=2,
    beliefs=("M01", "M03", "M04", "M35"),
    hints=(
        "Three flags of `t` decide: `requires_grad`, `is_leaf`, `retains_grad`.",
        "Without `requires_grad` there is nothing to keep. With it, there are two kinds of tensors that keep it.",
        "The rule at the end of section 7 has an *and* that is easily overlooked: *tracked* leaves.",
    ),
    idea="`return t.requires_grad and (t.is_leaf or t.retains_grad)`: tracked leaves and retained results.",
)
def gets_grad(answer):
    kit.a_function(answer)
    said, truth, names = [], [], []
    for name, make in _STATES.items():
        t, loss = make()
        before = _looks_of(t)
        given = call(answer, t)
        _refuse_no_flag(given, name)
        if _looks_of(t) != before:
            expected, got = "`t` as it was", f"another `{_difference_of(before, _looks_of(t))}`, for {name}"
            why = "Your function is asked before `backward()`, and should only look."
            look = "each call in your function that does something to `t`"
            raise Wrong("tensor-changed", expected, got, why=why, look=look)
        said.append(bool(given))
        truth.append(_is_filled(t, loss))
        names.append(name)
    if said != truth:
        raise _wrong_rule(answer, said, truth, names)
    for name, right in zip(names, truth, strict=True):
        _refuse_mode_asked(answer, name, right)
    _refuse_remembered(answer)
    return f"Tracked, and either a leaf or retained. The engine was asked about {len(names)} tensors, and agrees."


def _refuse_mode_asked(answer: Callable, name: str, right: bool) -> None:
    """The flags of `t` say it, whether something is recorded at the moment or not."""
    t, _ = _STATES[name]()
    with mg.no_grad():
        said = call(answer, t)
    if bool(said) != right:
        why = "Nothing is recorded in there, but `t` and its loss were made before: `backward()` walks all the same."
        look = "what your function asks for beside `t`"
        raise Wrong("asks-the-mode", f"{right} for {name}, in a `no_grad` block too", show(said), why=why, look=look)


def _refuse_remembered(answer: Callable) -> None:
    """Flags may change from call to call."""
    t = tools.constant(2.0)
    call(answer, t)
    said = call(answer, t.requires_grad_())
    if not said:
        expected = "True for a leaf that is tracked by now; it was untracked when your function was called before"
        raise Wrong("remembered", expected, show(said), look="what your function keeps from call to call")


def _used(t: mg.Tensor) -> tuple[mg.Tensor, mg.Tensor]:
    """The tensor, and a loss that was computed from it and from a tracked leaf."""
    return t, (t * mg.tensor(2.0, requires_grad=True)).sum()


def _leaf_with_gradient(tracked: bool) -> mg.Tensor:
    t = mg.tensor([1.0, 3.0], requires_grad=True)
    (t * t).sum().backward()
    return t.requires_grad_(tracked)


def _retaining(t: mg.Tensor) -> mg.Tensor:
    t.retain_grad()
    return t


def _result_with_gradient() -> mg.Tensor:
    t = _retaining(_tracked() * 3)
    (t * t).backward(retain_graph=True)
    return t


def _set_by_hand(t: mg.Tensor) -> mg.Tensor:
    t.grad = mg.ones_like(t.detach())
    return t


def _overwritten(t: mg.Tensor) -> mg.Tensor:
    with mg.no_grad():
        t += 1
    return t


def _tracked(value: Any = 4.0, dtype: Any = None) -> mg.Tensor:
    return mg.tensor(value, dtype=dtype, requires_grad=True)


_STATES: dict[str, Callable[[], tuple[mg.Tensor, mg.Tensor]]] = {
    "an untracked leaf": lambda: _used(mg.tensor(2.0)),
    "an untracked result": lambda: _used(tools.constant(2.0) * 3),
    "a tracked leaf": lambda: _used(_tracked()),
    "a tracked leaf of float64": lambda: _used(_tracked(3.0, mg.float64)),
    "a tracked leaf that has a gradient already": lambda: _used(_leaf_with_gradient(True)),
    "a tracked leaf after `retain_grad()`": lambda: _used(_retaining(_tracked())),
    "a tracked result": lambda: _used(_tracked() * 3),
    "a result of a tracked result": lambda: _used(_tracked() * 3 + 1),
    "a tracked result after `retain_grad()`": lambda: _used(_retaining(_tracked([1.0, 2.0]) * 3)),
    "a frozen leaf that has an old gradient": lambda: _used(_leaf_with_gradient(False)),
    "the detached number of a result": lambda: _used((_tracked() * 3).detach()),
    "an untracked tensor of whole numbers": lambda: _used(mg.tensor([1, 2])),
    "a tracked leaf that was overwritten in `no_grad`": lambda: _used(_overwritten(_tracked([0.0, -2.0, 1.0]))),
    "a tracked view of a leaf": lambda: _used(_tracked([[0.0, -2.0], [1.0, 5.0]]).reshape(4)),
    "a tracked view after `retain_grad()`": lambda: _used(_retaining(_tracked([[0.0, -2.0], [1.0, 5.0]]).reshape(4))),
    "a tracked result after `retain_grad()` that has a gradient already": lambda: _used(_result_with_gradient()),
    "a tracked result whose `.grad` was set by hand": lambda: _used(_set_by_hand(_tracked() * 3)),
    "a tracked leaf without elements": lambda: _used(_tracked(np.zeros((0, 2)))),
}


def _looks_of(t: mg.Tensor) -> dict[str, Any]:
    grad = None if t.grad is None else t.grad.tolist()
    return {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")} | {"grad": grad}


def _difference_of(before: dict, after: dict) -> str:
    return next(name for name in before if before[name] != after[name])


def _refuse_no_flag(given: Any, name: str) -> None:
    if given is None:
        raise Wrong("none", f"True or False, for {name}", "None", look="whether a `return` is missing")
    if type(given) is not bool and not isinstance(given, np.bool_):
        raise Wrong("kind", f"True or False, for {name}", show(given), look="what `return` gives back")


def _is_filled(t: mg.Tensor, loss: mg.Tensor) -> bool:
    before = _looks_of(t)["grad"]
    loss.backward()
    return _looks_of(t)["grad"] != before


@dataclass(frozen=True)
class _Rule:
    """A rule that somebody may hold, and what is wrong with it."""

    code: str
    holds: Callable[[mg.Tensor], Any]
    belief: str
    why: str
    look: str


_RULES = (
    _Rule(
        "flag-is-enough",
        lambda t: t.requires_grad,
        "M01",
        "The flag says that a gradient is computed. It is kept by leaves, and by results that were asked.",
        "a result of a tracked tensor: what does the warning say?",
    ),
    _Rule(
        "retained-forgotten",
        lambda t: t.requires_grad and t.is_leaf,
        "M04",
        "True of leaves. But a tracked result gets its `.grad`, too, if `retain_grad()` was called on it.",
        "`retains_grad`",
    ),
    _Rule(
        "leaf-is-enough",
        lambda t: t.is_leaf,
        "",
        "Every untracked tensor is a leaf, and for these nothing is computed.",
        "`is_leaf` of `mg.tensor(2.0)`",
    ),
    _Rule(
        "flag-forgotten",
        lambda t: t.is_leaf or t.retains_grad,
        "",
        "Every untracked tensor is a leaf, too, and for these nothing is computed. Retained results you have right.",
        "what all tensors that get a `.grad` have in common",
    ),
    _Rule(
        "leaves-forgotten",
        lambda t: t.retains_grad,
        "",
        "`retains_grad` is about results. A tracked leaf has no need to ask.",
        "`retains_grad` of a leaf, after `retain_grad()`",
    ),
    _Rule(
        "looks-at-grad",
        lambda t: t.grad is not None,
        "M35",
        "Before `backward()` there may be no gradient yet, or one that an earlier pass has left behind.",
        "the three flags, instead of `.grad`",
    ),
    _Rule("always", lambda t: True, "M03", "For some of the tensors nothing is kept.", "an untracked tensor"),
)


def _wrong_rule(answer: Callable, said: list[bool], truth: list[bool], names: list[str]) -> Wrong:
    at = next(i for i in range(len(said)) if said[i] != truth[i])
    call(answer, _STATES[names[at]]()[0])  # once more, so that the card shows this tensor
    expected, came = f"{truth[at]} for {names[at]}", f"{said[at]}"
    for rule in _RULES:
        if rule.code == "retained-forgotten" and kit.uses(answer, "retains_grad"):
            continue
        if [bool(rule.holds(make()[0])) for make in _STATES.values()] == said:
            return Wrong(rule.code, expected, came, belief=rule.belief, why=rule.why, look=rule.look)
    return Wrong("other-rule", expected, came, look="what decides the answer for this `t`")


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Keep a gradient on the way",
    kind="write",
    points=2,
    off={
        "untracked": "the text has `w` tracked",
        "grad": "the task is to fill it",
        "again": "a second backward adds to `w.grad`",
        "old grad": adversaries.ADDED,
        "result hooks": "the task is to keep the gradient of the result",
    },
    beliefs=("M01", "M03", "M04"),
    hints=(
        "Four lines: compute `h`, ask, compute the loss and go backward, return `h`.",
        "You ask with `retain_grad()`. On which tensor, and before which call?",
        "`h.retain_grad()` comes after `h = 2 * w` and before `backward()`.",
    ),
    idea="`h = 2 * w`, then `h.retain_grad()`, then `f(h).backward()`, then `return h`.",
)
def kept(answer):
    kit.a_function(answer)
    for start, f, slope in _LOSSES:
        _check_kept(answer, np.array(start), f, slope)
    return "You asked before the gradient came by. `w` has its own as always: looking takes nothing away."


_LOSSES = (
    (3.0, lambda h: h * h, lambda h: 2 * h),
    ([[1.0, -0.5, 0.3]], lambda h: (h.exp() * h).sum(), lambda h: (h + 1) * np.exp(h)),
)


def _check_kept(answer, start, f, slope):
    w, seen = tools.leaf(start), []

    def watched(t):
        seen.append(t)
        return f(t)

    h = tools.result(tools.called(answer, (w, watched), "`w.grad` and `h.grad` filled", *_KEPT_ERRORS))
    if not seen:
        why = "In this call your function did not call `f`, so there was no loss to go backward from."
        raise Wrong("f-not-used", "a loss from `f(h)`", show(h), why=why, look="where `f` is used")
    right = slope(2 * start)
    if all(h is not t for t in seen):
        raise _another_tensor(h, right)
    tools.refuse_other_values(h, 2 * start, "the value of `2 * w`", "the line that makes `h`")
    if h.grad is None:
        raise _nothing_kept(answer, w, h)
    if not graphs.reaches(h, w):
        why = "Your `h` was not computed from `w`, as autograd knows it: from `h` no gradient goes on to `w`."
        look = "`h.is_leaf`: it should be False" if h.is_leaf else "what `h` is computed from"
        raise Wrong("way-to-w-cut", "an `h` that leads back to `w`", show(h), why=why, look=look)
    if w.grad is None:
        why = "A way leads from `h` to `w`, and nothing is left there."
        look = "each line that clears a `.grad`, and for whom you go backward"
        raise Wrong("w-missed", "`w.grad` and `h.grad` filled", "`w.grad` is None", why=why, look=look)
    for name, grad in (("w", w.grad), ("h", h.grad)):
        if grad.requires_grad:
            look = "each `create_graph=True`, and what you put into a `.grad`"
            raise Wrong("recorded-walk", "gradients without history", f"`{name}.grad` is {show(grad)}", look=look)
    _check_kept_numbers(h.grad, right, w.grad, 2 * right)


_KEPT_ERRORS = tools.reasons("""
asked-untracked: can't retain_grad (M04)
    No gradient will ever come by a tensor that is not tracked, so there is none to keep.
    look: `requires_grad` of the tensor you call `retain_grad()` on
""")


def _another_tensor(h: mg.Tensor, right: np.ndarray) -> Wrong:
    expected = "the tensor `h` that went into `f`"
    if tools.same(tools.array(h), right) or tools.same(tools.array(h), 2 * right):
        why = "That is a gradient. What is asked for is the tensor `h` that has it in its `.grad`."
        return Wrong("gradient-returned", expected, show(h), why=why, look="what `return` gives back")
    why = "The tensor that went into `f` is another one than the one that you return."
    return Wrong("another-tensor", expected, show(h), why=why, look="what `f` is called with, and what is returned")


def _nothing_kept(answer: Any, w: mg.Tensor, h: mg.Tensor) -> Wrong:
    expected, came = "`h.grad` filled", "`h.grad` is None"
    if w.grad is None:
        why = "`w.grad` is None as well. Has `backward()` run?"
        return Wrong("no-backward", expected, came, why=why, look="the line that calls `backward()`")
    if h.retains_grad:
        why = "`h` was asked, and there is nothing in it: it was asked when the gradient had passed, or cleared since."
        look = "the order of `retain_grad()`, `backward()`, and what clears a `.grad`"
        return Wrong("asked-too-late", expected, came, why=why, look=look)
    if kit.uses(answer, "retain_grad"):
        why = "There is a `retain_grad()` in your function, and `h` was not asked. It asks one tensor, and no other."
        look = "the tensor you call `retain_grad()` on"
        return Wrong("asked-elsewhere", expected, came, why=why, look=look)
    if kit.uses(answer, "requires_grad_", "requires_grad"):
        why = "`h` is tracked anyway. The flag says that a gradient is computed, and a result does not keep it."
        return Wrong("flag-on-a-result", expected, came, belief="M01", why=why, look="`h.is_leaf`")
    why = "The gradient came by, and nobody had asked `h` to keep it."
    return Wrong("not-asked", expected, came, belief="M03", why=why, look="`h.retains_grad`")


def _check_kept_numbers(of_h: mg.Tensor, right_h: np.ndarray, of_w: mg.Tensor, right_w: np.ndarray) -> None:
    for name, came, right in (("h", of_h, right_h), ("w", of_w, right_w)):
        if not tools.same(tools.array(came), right):
            twice = tools.same(tools.array(came), 2 * right)
            why = "That is twice the gradient." if twice else ""
            code = "went-twice" if twice else "other-gradient"
            look = "each `backward()`, and each line that sets a `.grad`"
            raise Wrong(
                code, f"`{name}.grad` is {tools.text(right)}", tools.text(tools.array(came)), why=why, look=look
            )


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "What is in `.grad` by now?",
    kind="predict",
    points=2,
    beliefs=("M08", "M09", "M10"),
    hints=(
        "Go line by line and note what is in `w.grad`. `backward()` adds, `= None` clears.",
        "`g` is the tensor that stands in `w.grad`. Is it still the same tensor when `c` is read?",
        "`y` is `3 * (w + 1)`: one pass through it brings 3. What does a second pass find inside the graph?",
    ),
    idea="4, then 4 + 6 = 10. `g` is the tensor that was added to, so it is 10, too. Clearing before `backward()` "
    "only takes away the 10, and 5 comes. Two passes bring 3 each: nothing stays inside the graph.",
)
def sums(answer):
    truth = {"a": 4.0, "b": 10.0, "c": 10.0, "d": 5.0, "e": 6.0}
    looks = {
        "a": "the slope of `4 * w`, and when `a` is read",
        "b": "the slope of `w * w` at 3, and what was in `w.grad` before",
        "c": "`g is w.grad`, right before `c` is read",
        "d": "what `w.grad` was when `loss.backward()` ran",
        "e": "the slope of `y`, how often it is added, and what was in `w.grad` before",
    }
    kit.predicted(answer, truth, _SUMS, "a number", looks)
    return "Only `.grad` remembers, and it adds. The graph needs it neither full nor empty."


_SUMS = kit.patterns("""
value-not-slope: a=12
    12 is the value of `4 * w`. In `.grad` is its slope: how much it moves when `w` moves.
    look: how much `4 * w` grows when `w` grows by 1
overwrites: b=6, e=3 (M08)
    6 is right for `w * w` alone. It is added to the 4 that was there, and the same happens at the end.
    look: `w.grad` before and after the second `backward()`
overwritten: b=6
    6 is right for `w * w` alone. It is added to the 4 that was there.
    look: `w.grad` before and after the second `backward()`
note-is-a-copy: c=4
    In the text `g = w.grad` copies nothing: `g` is the tensor that stands in `w.grad`, and it was added to.
    look: the line that makes `g`, and `g is w.grad` after it
clearing-destroys: d=0 (M09)
    The graph of `loss` holds what `backward()` needs, and `w.grad` is not part of it.
    look: `mg.draw(loss, saved=True)`
clearing-stops: d=None (M09)
    The graph of `loss` holds what `backward()` needs, and `w.grad` is not part of it. So 5 arrives.
    look: `mg.draw(loss, saved=True)`
not-cleared: d=15
    `w.grad = None` took the 10 away. The next `backward()` starts from nothing.
    look: the line above `loss.backward()`, and the slope of `5 * w`
inside-adds: e=9 (M10)
    Inside the graph nothing is kept from the first pass. The second one brings 3 again, not 6.
    look: `mg.viz.trace(y.backward)`
second-pass-lost: e=3
    3 is right for one pass. The second one is added to it.
    look: the last two calls of `backward()`
""")


# --- 6 -------------------------------------------------------------------------------------------


def _second_loss():
    old_w = mg.tensor(3.0, requires_grad=True)
    w = old_w - 0.5
    return w * w, {"old_w": old_w}


@chapter.exercise(
    "Build this graph: a recorded step",
    kind="build",
    points=2,
    beliefs=("M01",),
    hints=(
        "Start at the leaf, on top, and read downwards, against the arrows. Which operation comes first?",
        "The step is a number, or a tensor that is not tracked: it has no arrow.",
        "Both arrows of the multiplication go to the same result: that of the subtraction.",
    ),
    idea="`w = mg.tensor(3.0, requires_grad=True)`, `w = w - 0.5`, `second_loss = w * w`. The step is part of the "
    "graph, and the leaf behind it has lost its name.",
)
def recorded(answer):
    y = kit.a_tensor(answer, "`second_loss`")
    _targets.refuse_other(y, "second_loss", _why_not_recorded(y))
    if y.grad_fn.next_functions[0][0].next_functions[0][0] is None:
        why = "Your `w` is taken from something else. In an update the step is taken from `w`."
        look = "the order in the line that makes `w`"
        raise Wrong("taken-from", "`w` minus a step", "a subtraction the other way round", why=why, look=look)
    return "This is what a recorded step leaves behind. The gradient goes to the old leaf, not to your new `w`."


def _why_not_recorded(y):
    if y.grad_fn is None:
        return no_node(y, "second_loss")
    made_of, found = graphs.operations(y), len(graphs.leaves(y))
    if found > 1:
        why = f"Your graph has {found} leaves that require grad, and the picture has one."
        return Wrong("step-tracked", why=why, look="each leaf of your graph, and its `requires_grad`")
    if made_of == ["mul"]:
        why = "In your graph there is no subtraction: no recorded step leads to your loss."
        return Wrong("step-not-recorded", why=why, look="what you do with `w` before the loss: is it recorded?")
    if made_of == ["mul", "sub"]:
        return _joined_otherwise(y)
    if made_of == ["mul", "sub", "sub"]:
        why = "Your graph has two subtractions. In the picture there is one."
        return Wrong("two-steps", why=why, look="how often a step is computed, or subtracted, before the loss")
    if made_of == ["mul", "mul", "sub"]:
        return _multiplied_twice(y)
    why = "The picture shows one mul and one sub, and no other operation."
    return Wrong("other-operations", why=why, look="the name in each box of the picture")


def _multiplied_twice(y):
    factors = {node.name() for node, _ in y.grad_fn.next_functions if node is not None}
    if y.grad_fn.op_name != "mul":
        why = "The last operation of your graph is the subtraction. In the picture it is the multiplication."
        return Wrong("other-order", why=why, look="which of the operations touches the leaf")
    if factors != {"SubBackward0"}:
        why = "Your graph has two multiplications. In the picture there is one: the new `w` times itself."
        return Wrong("multiplied-again", why=why, look="both factors of the loss")
    if y.grad_fn.next_functions[0][0].next_functions[1][0] is None:
        why = "Your graph has two multiplications, one of them before the subtraction. In the picture there is one."
        return Wrong("multiplied-again", why=why, look="what the step is subtracted from")
    why = "Your step was computed from the tracked `w`, and that was recorded, too. In the picture the step has no "
    return Wrong("step-computed", why=why + "way back.", look="what you subtract: a number, or `w.grad`")


def _joined_otherwise(y):
    if y.grad_fn.op_name == "sub":
        why = "You multiply first and subtract then. In the picture the step comes first."
        return Wrong("other-order", why=why, look="which of the two operations touches the leaf")
    if any(hasattr(node, "variable") for node, _ in y.grad_fn.next_functions):
        why = "Your multiplication takes the leaf itself, too: the old `w` beside the new one."
        return Wrong("old-and-new", why=why, look="both factors of the loss")
    why = "In the picture two arrows go from the multiplication to the subtraction, in your graph one."
    return Wrong("used-once", why=why, look="both factors of the loss")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut: start anew from a number",
    kind="cut",
    points=2,
    off={
        "untracked": "the text has `t` tracked",
        "memory": "the same numbers are asked for, not a copy of them",
    },
    beliefs=("M01", "M05"),
    hints=(
        "First the number without its history, then the flag.",
        "`detach()` gives you a tensor with the numbers of `t` and without its history. Is it tracked?",
        "Ask last: the call that sets the flag is the last one.",
    ),
    idea="`t.detach().requires_grad_()`: the numbers without their history, and asked last. With `.clone()` in between "
    "the leaf has memory of its own, so a later step on it does not change the numbers of `t`.",
)
def as_leaf(answer):
    kit.a_function(answer)
    several = ([1.0, -2.0, 0.123456], mg.float32), ([[0.1, 1e-9]], mg.float64), (4.0, mg.float32), ([7.1], mg.float16)
    for start, dtype in several:
        w = mg.tensor(start, dtype=dtype, requires_grad=True)
        t = w * 3
        _check_as_leaf(answer, w, tools.with_gradient(t) if dtype is mg.float16 else t)
    return "A leaf starts a trail of its own. `t` still has the old one, and `backward()` from it still finds the way."


def _check_as_leaf(answer, w, t):
    node, before, expected = t.grad_fn, tools.array(t), "a tracked leaf with the numbers of `t`"
    y = tools.result(tools.called(answer, (t,), expected, *_AS_LEAF_ERRORS))
    if t.grad_fn is not node or not tools.same(tools.array(t), before):
        why = "You changed `t` itself. Others may still need it as it was."
        raise Wrong("input-changed", "`t` as it was", f"`t` is {show(t)}", why=why, look="each call on `t` itself")
    if not y.requires_grad:
        why = "No history, and no flag: what you compute from it is not recorded."
        raise Wrong("untracked", expected, show(y), why=why, look="`requires_grad` of your result")
    if not y.is_leaf:
        raise _no_leaf(answer, w, t, y, expected)
    if y.is_inference():
        why = "What `inference_mode` makes can never be saved in a graph: a backward from `y * y`, say, is refused."
        raise Wrong("inference", expected, "an inference tensor", why=why, look="the block in which the leaf is made")
    tools.refuse_other_values(y, before, "the numbers of `t`", "the numbers and the shape of your result")
    if y.dtype is t.dtype and not np.array_equal(tools.array(y), before):
        got = f"numbers that are off by up to {np.abs(tools.array(y) - before).max():.1g}"
        look = "what rounds: a shorter dtype on the way, a text, `round`"
        raise Wrong("rounded", "the numbers of `t`, to the last digit", got, look=look)
    if y.dtype is not t.dtype:
        why = "With the same dtype no digit is lost, and none is added."
        raise Wrong(
            "other-dtype",
            f"the dtype {t.dtype}",
            f"{y.dtype}",
            why=why,
            look="`dtype` of your result, and the call that chooses it",
        )


_AS_LEAF_ERRORS = tools.reasons("""
flag-of-a-result: use var_no_grad (M05)
    The flag of a result follows from its inputs. What can be cut off is a tensor that you take from it.
    look: what the message proposes at its end
flag-of-a-result: flags of leaf variables
    The flag of a result follows from its inputs, and cannot be set.
    look: `is_leaf` of the tensor whose flag you set
one-number-only: converted to Scalar
    `item()` is for one number. `t` may hold several.
    look: a call that takes all numbers of `t`
array: Can't call numpy()
    `numpy()` refuses a tracked tensor. And an array is no tensor: it could not be tracked.
    look: a call that gives you a tensor without the history
""")


def _no_leaf(answer: Any, w: mg.Tensor, t: mg.Tensor, y: mg.Tensor, expected: str) -> Wrong:
    if not graphs.reaches(y, w):
        why = "You made a leaf and then computed something from it. What you return is the result."
        look = "the operation after the flag was set"
        return Wrong("asked-then-computed", expected, show(y), belief="M01", why=why, look=look)
    if t.retains_grad:
        why = "`retain_grad()` lets a result keep its gradient. It stays a result, and the way back stays, too."
        return Wrong("retained", expected, show(y), why=why, look="`is_leaf` of your result")
    asked = kit.uses(answer, "requires_grad_", "requires_grad")
    if asked and not kit.uses(answer, "detach", "tensor", "no_grad"):
        why = "Setting the flag makes no leaf of a result. It is tracked anyway."
        return Wrong("flag-on-a-result", expected, show(y), belief="M01", why=why, look="`is_leaf` of your result")
    why = "The history came along: your result leads back to what `t` was computed from."
    return Wrong("history-kept", expected, show(y), why=why, look="`grad_fn` of your result")


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Repair the step",
    kind="fix",
    points=2,
    off={
        "values 0": "the task is to move `w`",
        "grad 0": "the task is to clear it",
        "again": "a second step needs a gradient of its own",
        "old grad": "the gradient is an input here",
        "untracked": "the text has a gradient in `w`",
    },
    beliefs=("M06", "M07"),
    hints=(
        "Inside the function, the first line makes a new tensor and gives it the name `w`. The caller never sees it.",
        "`w -= ...` overwrites the numbers of the caller's tensor. Autograd refuses it while it is recording.",
        "`with mg.no_grad():` in front of the update. The clearing stays behind it.",
    ),
    idea="`with mg.no_grad(): w -= size * w.grad`, then `w.grad = None`. The same leaf, another number.",
)
def step(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_STEP)
    for start, size in ((3.0, 0.25), ([[1.0, -2.0], [0.0, 30.0]], 0.5), (0.01, 0.002)):
        _check_step(answer, np.array(start), size)
    _check_one_step(answer, tools.leaf(0.0), 0.25, 1e-4)
    return "The same leaf with another number: the caller's loop can go on with it."


_GIVEN_STEP = """
def step(w, size):
    w = w - size * w.grad
    w.grad = None
"""


def _check_step(answer, start, size):
    w = tools.leaf(start)
    for factor in (1, 1, 0):
        _check_one_step(answer, w, size, factor)


def _check_one_step(answer, w, size, factor):
    start = tools.array(w)
    (factor * (w * w * w - 5 * w)).sum().backward()
    slope = factor * (3 * start**2 - 5)
    given = tools.called(answer, (w, size), _expected_step(start, slope, size), *_STEP_ERRORS)
    if not tools.same(tools.array(w), start - size * slope):
        raise _wrong_step(answer, given, w, start, slope, size)
    if not w.requires_grad or not w.is_leaf:
        why = "The number is right, but `w` is no tracked leaf any more: no later gradient stays in it."
        raise Wrong("left-frozen", "`w` is a tracked leaf", f"`w` is {show(w)}", why=why, look="`w.requires_grad`")
    if w.grad is not None and tools.array(w.grad).any():
        expected, got = "`w.grad` cleared", f"`w.grad` is {tools.text(tools.array(w.grad))}"
        why = "The next `backward()` adds to what is there."
        look = "`w.grad` at the end of your function"
        raise Wrong("not-cleared", expected, got, why=why, look=look)


def _expected_step(start: np.ndarray, slope: np.ndarray, size: float) -> str:
    right = tools.text(start - size * slope)
    return (
        f"`w` is {right} afterwards (it was {tools.text(start)}, its gradient {tools.text(slope)}, and `size` {size})"
    )


_STEP_ERRORS = tools.reasons(
    """
recorded-in-place: in-place operation (M07)
    If this were recorded, `w` itself would turn into a result, and no leaf would be left.
    look: the update: is autograd recording while it runs?
grad-of-another: NoneType (M06)
    The caller's `w` still has its gradient. What is None is something else: the `.grad` of a new tensor?
    look: which tensor you take `.grad` of
cleared-first: NoneType
    `w.grad` is None by now. It may have been cleared before the update used it.
    look: the order of your lines
""",
    grad_of_another=lambda w, size: w.grad is not None,
)


def _wrong_step(answer: Any, given: Any, w: mg.Tensor, start: np.ndarray, slope: np.ndarray, size: float) -> Wrong:
    came, right = tools.array(w), start - size * slope
    expected, got = _expected_step(start, slope, size), f"`w` is {tools.text(came)}"
    if tools.same(came, start):
        if type(given) is mg.Tensor and tools.same(tools.array(given), right):
            why = "The number is right in a new tensor, which you return. The caller's `w` is where it was."
            belief = "M06" if kit.rebinds(answer, 0) else ""
            return Wrong("new-tensor", expected, got, belief=belief, why=why, look="an update that overwrites")
        if w._version:
            why = "`w` was overwritten, with the number that it had. Was the step zero, or the gradient by then?"
            look = "each line that changes `w`, or clears its `.grad`"
            return Wrong("cleared-first", expected, got, why=why, look=look)
        why = "What is computed got a name, and that moves nothing. The caller's `w` is where it was."
        if kit.rebinds(answer, 0):
            return Wrong("rebound", expected, got, belief="M06", why=why, look="an update that overwrites")
        return Wrong("not-moved", expected, got, why="`w` is where it was.", look="the line that moves `w`")
    if tools.same(came, start + size * slope):
        why = "A gradient points uphill. A step goes the other way."
        return Wrong("uphill", expected, got, why=why, look="the sign of the step")
    if tools.same(came, start - slope):
        why = "The step is the whole gradient. It should be `size` times the gradient."
        return Wrong("size-ignored", expected, got, why=why, look="where `size` is used")
    return Wrong("other-step", expected, got, look="each line that changes `w`, with these numbers")


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Repair the freezing",
    kind="fix",
    points=2,
    off={
        "untracked": "the text has `w` and `b` tracked",
        "flag 0": "the task is to freeze `w`",
        "grad 0": "the task is to clear it",
        "gaps": "`w` and `b` are one number each, and `detach_()` refuses a view",
    },
    beliefs=("M05", "M19"),
    hints=(
        "The error says which tensors have a flag of their own. Is `h` one of them?",
        "Freeze `w` itself. The flag is read when an operation runs, so it has to be cleared before that.",
        "Clearing the flag does not clear `.grad`. `w.grad = None` does, and never fails.",
    ),
    idea="`w.requires_grad_(False)`, `w.grad = None`, and only then `return w * x + b`.",
)
def freeze(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_FREEZE)
    for numbers in ((3.0, 5.0, 2.0), (-1.0, 0.5, 4.0), (2.0, -3.0, 1.0), (0.1, 0.02, [[-0.3, 2.0]])):
        for trained in itertools.product((True, False), repeat=2):
            _check_freeze(answer, numbers, trained)
    return "The leaf is frozen, before the operation ran, and nothing old is left on it. `b` is trained as before."


_GIVEN_FREEZE = """
def freeze_w(w, b, x):
    h = w * x
    h.requires_grad_(False)
    return h + b
"""


def _check_freeze(answer, numbers, trained):
    w, b = map(tools.leaf, numbers[:2])
    x = tools.constant(numbers[2])
    if any(trained):
        (w * b).backward(inputs=list(itertools.compress((w, b), trained)))
    y = tools.result(tools.called(answer, (w, b, x), "`w` frozen, and a result", *_FREEZE_ERRORS))
    right = numbers[0] * np.array(numbers[2]) + numbers[1]
    tools.refuse_other_values(y, right, "the value of `w * x + b`", "what is computed")
    if not graphs.reaches(y, b) or not b.requires_grad:
        why = "`b` should be trained. It is frozen now, or no way leads to it."
        raise Wrong("b-frozen", "a result that leads back to `b`", show(y), why=why, look="what is cut off or frozen")
    _check_frozen(answer, w, graphs.reaches(y, w))
    b.grad = None
    tools.walk(y.backward, mg.ones_like(y))
    if b.grad is None or not kit.close(b.grad.item(), y.numel()):
        expected = f"a backward from ones brings {y.numel()} to `b`, one for each entry"
        got = "nothing" if b.grad is None else f"{b.grad.item():.7g}"
        raise Wrong("b-slope", expected, got, look="what your result is made of, and each hook")


_FREEZE_ERRORS = tools.reasons("""
result-frozen: use var_no_grad (M05)
    The flag of a result follows from its inputs: it is tracked because one of them is. Freeze the input.
    look: the tensor whose flag you set
nothing-to-clear: zero_
    Where `backward()` has never run, `.grad` is None, and there is nothing to fill with zeros.
    look: a clearing that always works
""")


def _check_frozen(answer: Any, w: mg.Tensor, reached: bool) -> None:
    if reached:
        state = "frozen" if not w.requires_grad else "tracked"
        code = "frozen-too-late" if not w.requires_grad else "not-frozen"
        why = "The flag is read when an operation runs. When `w * x` ran, it was still set."
        raise Wrong(
            code,
            "a result with no way to `w`",
            f"a way to `w`, which is {state} now",
            why=why if code == "frozen-too-late" else "`w` is tracked, so the multiplication was recorded.",
            look="the order of your lines" if code == "frozen-too-late" else "`w.requires_grad`",
        )
    if w.requires_grad:
        expected, got = "`w.requires_grad` is False", "`w.requires_grad` is True"
        why = "Your result has no way to `w`. But `w` itself is tracked: in the next computation it is trained again."
        look = "the flag of `w` itself"
        belief = "M19" if kit.uses(answer, "detach", "detach_") else ""
        raise Wrong("cut-not-frozen", expected, got, belief=belief, why=why, look=look)
    if w.grad is not None and tools.array(w.grad).any():
        expected, got = "no old gradient left on `w`", f"`w.grad` is {tools.text(tools.array(w.grad))}"
        why = "Clearing the flag does not clear `.grad`. An update that uses it would still move `w`."
        look = "`w.grad` at the end of your function"
        raise Wrong("old-gradient", expected, got, why=why, look=look)


# --- 10 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Train",
    kind="write",
    points=3,
    off={
        "values": "the task is to move the parameters",
        "grad": "training fills and clears it",
        "again": "twice the steps",
        "old grad": "a text on old gradients has to come first",
    },
    beliefs=("M06", "M07", "M08"),
    hints=(
        "A step has four parts: compute the loss, go backward, update inside `no_grad()`, clear.",
        "`for p in params:` goes through the parameters. `p -= ...` overwrites one, `p = p - ...` does not.",
        "The loss has to be computed outside `no_grad()`, in every step anew. Clear `p.grad` after the update.",
    ),
    idea="In each step `loss_of().backward()`, then inside `with mg.no_grad():` for each `p` in `params` "
    "`p -= size * p.grad` and `p.grad = None`.",
)
def train(answer):
    kit.a_function(answer)
    for steps, size in ((4, 0.1), (3, 0.25), (1, 0.1), (4, 0.75), (12, 1.2), (210, 0.01), (0, 0.1)):
        _check_train(answer, _Course([2.0, [1.0, -3.0]], [5.0, [0.5, 1.0]], steps, size))
    _check_train(answer, _Course([2.0, [1.0, -3.0]], [5.0, [0.5, 1.0]], 60, 0.1, level=-5e9))
    _check_four(answer)
    return "Compute, go backward, update, clear: this is the loop that every training has at its heart."


def _check_four(answer):
    """Parameters may be any number: here four, of which each has a minimum of its own, and two start alike.

    The loss is another one in each call, as that of new data is.
    """
    starts = (1.0, [2.0, -1.0], [[4.0]], 1.0)
    params = [tools.leaf(start) for start in starts]
    goals = [tools.constant(goal) for goal in (3.0, [0.5, 1.0], [[-2.0]], -5.0)]
    left = 0.8 * 0.6 * 0.4  # of each distance, after three steps
    right = [tools.array(goal + left * (p.detach() - goal)) for p, goal in zip(params, goals, strict=True)]
    turns = itertools.count(1)

    def loss_of():
        return next(turns) * sum(((p - goal) ** 2).sum() for p, goal in zip(params, goals, strict=True))

    call(answer, list(params), loss_of, 3, 0.1)
    calls = next(turns) - 1
    if calls != 3:
        expected, why = "3 calls of `loss_of()` in 3 steps", "Each call may take other data."
        raise Wrong("loss-calls", expected, f"{calls} calls", why=why, look="each `loss_of()`")
    came = [tools.array(p) for p in params]
    if not all(map(tools.same, came, right)):
        expected = f"after 3 steps {', '.join(map(tools.text, right))}"
        reached = not any(map(tools.same, came, starts))
        look = _EACH_STEP if reached else "the loop over the parameters: how many does it reach?"
        raise Wrong("other-numbers" if reached else "not-all", expected, ", ".join(map(tools.text, came)), look=look)


_EACH_STEP = "one step after the other: the loss, what is taken from each parameter, and what is cleared"


@dataclass
class _Course:
    """Parameters, the minimum of their loss, and what becomes of the parameters under `train`."""

    starts: list
    goals: list
    steps: int
    size: float
    level: float = 0.0  # what is added to the loss: it may be below 0 from the start
    calls: int = 0
    last: mg.Tensor | None = None  # the last loss
    unrecorded: bool = False  # whether a loss was computed where nothing is recorded
    params: list = field(init=False)

    def __post_init__(self) -> None:
        self.params = [tools.leaf(start) for start in self.starts]

    def loss_of(self) -> mg.Tensor:
        self.calls, self.unrecorded = self.calls + 1, self.unrecorded or not mg.is_grad_enabled()
        goals = [tools.constant(goal) for goal in self.goals]
        one, other = (p - goal for p, goal in zip(self.params, goals, strict=True))
        self.last = (one**2).sum() + (other**2).sum() + 0.5 * one * other.sum() + self.level
        return self.last

    def loss_function(self) -> Callable[[], mg.Tensor]:
        """What `train` gets as `loss_of`: a function that errors call by that name."""

        def loss_of():
            return self.loss_of()

        loss_of.__qualname__ = "loss_of"
        return loss_of

    def ends(self, steps: int, sign: int = -1, clearing: tuple = (True, True)) -> list[np.ndarray]:
        """Where the parameters are after some steps, downhill or up, with or without clearing each of them."""
        places, goals = ([np.array(one) for one in many] for many in (self.starts, self.goals))
        sums = [np.zeros(place.shape) for place in places]
        for _ in range(steps):
            one, other = (place - goal for place, goal in zip(places, goals, strict=True))
            slopes = [2 * one + 0.5 * other.sum(), 2 * other + 0.5 * one]
            sums = [
                slope if clear else total + slope for total, slope, clear in zip(sums, slopes, clearing, strict=True)
            ]
            places = [place + sign * self.size * total for place, total in zip(places, sums, strict=True)]
        return places

    def is_at(self, places: list[np.ndarray]) -> bool:
        return all(tools.same(tools.array(p), place) for p, place in zip(self.params, places, strict=True))


def _check_train(answer, course):
    given, right = list(course.params), course.ends(course.steps)
    expected = f"after {course.steps} steps {' and '.join(map(tools.text, right))}"
    try:
        call(answer, given, course.loss_function(), course.steps, course.size)
    except Wrong as wrong:
        raise _train_error(wrong, answer, course, given, expected) from None
    got = " and ".join(tools.text(tools.array(p)) for p in course.params)
    if not course.is_at(right):
        raise _wrong_train(answer, course, given, expected, got)
    if not all(p.requires_grad and p.is_leaf for p in course.params):
        why = "The numbers are right, but a parameter is frozen now."
        look = "`requires_grad` of the parameters at the end"
        raise Wrong("left-frozen", "parameters that are tracked leaves", got, why=why, look=look)


def _train_error(wrong: Wrong, answer: Any, course: _Course, given: list, expected: str) -> Wrong:
    got = wrong.verdict.got
    if "in-place operation" in got:
        why = "If this were recorded, the parameter itself would turn into a result, and no leaf would be left."
        look = "the update: is autograd recording while it runs?"
        return Wrong("recorded-in-place", expected, got, belief="M07", why=why, look=look)
    if "does not require grad" in got and course.unrecorded:
        why = "A loss was computed while recording was off. Was it the one that you go backward from?"
        return Wrong("loss-not-recorded", expected, got, why=why, look="what switches it off, and for which lines")
    if "does not require grad" in got:
        why = "No way leads from what you go backward from to a tracked tensor."
        return Wrong(
            "no-way", expected, got, why=why, look="what you do with the loss, and the flags of the parameters"
        )
    if "a second time" in got:
        why = (
            "One loss was walked twice, and the first walk has used it up. Each step needs one new loss, and one walk."
        )
        return Wrong("one-loss", expected, got, why=why, look="how often `loss_of()` is called, and where")
    if "loss_of() takes 0" in got:
        why = "`loss_of` knows the parameters already. It is called without arguments."
        return Wrong("loss-with-arguments", expected, got, why=why, look="the call of `loss_of`")
    return _none_in_train(wrong, answer, course, given, expected) if "NoneType" in got else wrong


def _none_in_train(wrong: Wrong, answer: Any, course: _Course, given: list, expected: str) -> Wrong:
    got = wrong.verdict.got
    if "no attribute" in got and "zero_" not in got:
        return wrong  # it may be what a call returned
    if _replaced(given, course):
        return _new_tensors(answer, expected, got)
    if all(p.grad is not None for p in course.params):
        why = "The parameters have their gradients. What is None is something else. It may be the `.grad` of a new "
        why += "tensor, and a step on that moves no parameter."
        belief = "M06" if kit.rebinds(answer) and not kit.rebinds(answer, 0) else ""
        return Wrong("new-tensors", expected, got, belief=belief, why=why, look="an update that overwrites")
    if "zero_" in got:
        why = "Before the first `backward()` every `.grad` is None, and there is nothing to fill with zeros."
        return Wrong("nothing-to-clear", expected, got, why=why, look="a clearing that always works")
    if not kit.uses(answer, "backward") and not graphs.is_freed(course.last):
        why = "Has `backward()` run? Until then `.grad` is None."
        return Wrong("no-backward", expected, got, why=why, look="what you do with the loss")
    why = "A parameter has no gradient when the update uses it: it was cleared before, or none has come."
    return Wrong("cleared-too-early", expected, got, why=why, look="the order of the four parts of a step")


def _replaced(given: list, course: _Course) -> bool:
    return len(given) != len(course.params) or any(a is not b for a, b in zip(given, course.params, strict=True))


def _new_tensors(answer: Any, expected: str, got: str) -> Wrong:
    why = "Your steps may make or move other tensors. `loss_of()` never sees them: it uses the parameters."
    belief = "M06" if kit.rebinds(answer) and not kit.rebinds(answer, 0) else ""  # of `params` it says nothing
    look = "what is overwritten in a step: the parameters themselves?"
    return Wrong("new-tensors", expected, got, belief=belief, why=why, look=look)


def _wrong_train(answer: Any, course: _Course, given: list, expected: str, got: str) -> Wrong:
    if not course.calls:
        why = "In this call your function did not call `loss_of()`."
        return Wrong("loss-not-used", expected, got, why=why, look="where the loss is computed")
    if course.is_at(course.ends(0)):
        return _unmoved(answer, course, given, expected, got)
    if course.is_at(course.ends(course.steps, clearing=(False, False))):
        why = "Each `backward()` adds to the gradients of all steps before: they were not cleared in between."
        return Wrong("never-cleared", expected, got, belief="M08", why=why, look="`p.grad` at the end of a step")
    if any(course.is_at(course.ends(course.steps, clearing=one)) for one in ((True, False), (False, True))):
        why = "The gradients of one parameter add up from step to step, those of the other do not."
        return Wrong("some-cleared", expected, got, why=why, look="for whom `.grad` is cleared")
    if course.is_at(course.ends(course.steps, sign=1)):
        why = "A gradient points uphill. A step goes the other way."
        return Wrong("uphill", expected, got, why=why, look="the sign of the step")
    if course.calls != course.steps:
        why = f"There are {course.steps} steps, and each needs one new loss. Losses computed: {course.calls}."
        return Wrong("other-count", expected, got, why=why, look="where `loss_of()` is called, and how often")
    moved = [not tools.same(tools.array(p), start) for p, start in zip(course.params, course.starts, strict=True)]
    if not all(moved):
        why = "One of the parameters has moved, and another has not."
        return Wrong("not-all", expected, got, why=why, look="which parameters are changed, and in which loop")
    return Wrong("other-numbers", expected, got, look=_EACH_STEP)


def _unmoved(answer: Any, course: _Course, given: list, expected: str, got: str) -> Wrong:
    if not kit.uses(answer, "backward", "grad") and all(p.grad is None for p in course.params):
        why = "No parameter has moved, and none has a `.grad`. Has `backward()` run?"
        return Wrong("no-backward", expected, got, why=why, look="what you do with the loss")
    if all(p._version for p in course.params):
        why = "The parameters were written to, and have the numbers of the start. Each step may have been zero, as "
        why += "with cleared gradients, or the old numbers put back."
        look = "each line that writes to a parameter, or clears its `.grad`"
        return Wrong("cleared-too-early", expected, got, why=why, look=look)
    others = any(kit.rebinds(answer, i) for i in (1, 2, 3))  # `size = float(size)` makes no parameter
    if (kit.rebinds(answer) and not others) or _replaced(given, course):
        return _new_tensors(answer, expected, got)
    why = "The parameters have the numbers that they had."
    return Wrong("not-moved", expected, got, why=why, look="the line that moves a parameter: does it run?")


# --- 11 ------------------------------------------------------------------------------------------


@chapter.exercise(
    "Which notes change?",
    kind="predict",
    points=2,
    beliefs=("M08",),
    hints=(
        "A note is a name for a tensor. Ask of each line whether it writes into that tensor, or makes another one.",
        "backward() writes into the tensor in the `.grad` of a leaf, and so does `zero_()`. `w.grad = None` does not.",
        "For the retained result `h` each backward() makes a new tensor, the old one plus what came.",
    ),
    idea="`a` and `d` name one tensor: 2, 4, 0, 5, and then it is let go of. `b` and `c` stay 2: nobody writes into "
    "the old gradient of a retained result, or into a clone. `h.grad` is 2 + 2 + 5 + 1, for nobody cleared it.",
)
def notes(answer):
    truth = {"a": 5.0, "b": 2.0, "c": 2.0, "d": 5.0, "w.grad": 1.0, "h.grad": 10.0}
    looks = dict.fromkeys(truth, "each line in turn: does it write into this tensor, or put another one in its place?")
    looks["c"] = "the line that makes `c`"
    kit.predicted(answer, truth, _NOTES, "a number", looks)
    return "A leaf's gradient is one tensor that is written into; a retained result gets a new one each time."


_NOTES = kit.patterns("""
overwrites: h.grad=1.0 (M08)
    Each backward() adds to what is there, for a retained result, too, and `h.grad` was never cleared.
    look: what each of the four backward() brings to `h`
note-is-a-copy: a=2.0
    In the text `a` is another name of the tensor that was in `w.grad`. What is written into it shows in `a`.
    look: the line that makes `a`, and `a is w.grad` after it
none-writes: a=0.0, d=0.0
    `w.grad = None` lets go of the tensor. It does not write zeros into it.
    look: what `zero_()` does to a tensor, and what `w.grad = None` does
zero-makes-another: a=4.0
    `zero_()` overwrites the tensor that `a` names, and the next backward() adds to it.
    look: `a is w.grad`, right after `zero_()`
result-in-place: b=10.0
    For a retained result each backward() makes a new tensor. `b` names the first one.
    look: `b is h.grad`, at the end
clone-changes: c=5.0
    `clone()` copies: nothing that is written into `w.grad` later shows in the copy.
    look: `c is w.grad`
note-follows-the-name: d=1.0
    `d` names a tensor, not `w.grad`. After `w.grad = None` backward() makes another tensor.
    look: `d is w.grad`, at the end
cleared-with-w: h.grad=6.0
    `w.grad.zero_()` clears the gradient of `w`. Nobody has cleared that of `h`.
    look: each line that speaks of `h.grad`
""")


# --- Pictures ------------------------------------------------------------------------------------

_targets = Targets(second_loss=_second_loss)
show_target = _targets.show

chapter.lock()
