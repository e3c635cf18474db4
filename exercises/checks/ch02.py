"""The checks of chapter 02, "Who gets a .grad?"."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, graphs, kit, observe, tools
from exercises.checks.kit import Wrong, call, show
from exercises.checks.targets import Targets

chapter = kit.Chapter(__name__, "02", "Who gets a .grad?")


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Leaf or not?",
    kind="predict",
    points=2,
    beliefs=("M02",),
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
other-way-round: a=False, b=True, c=True, d=False, e=False, f=True
    All six are the other way round. Here True stands where a `grad_fn` is. A leaf has none.
    look: `d.grad_fn` and `d.is_leaf`
trail-goes-on: d=False, e=False
    In the text `w` is behind `d` and `e`, but not in the graph: `w.detach()` is not tracked, and inside `no_grad()`
    nothing is recorded.
    look: `d.grad_fn` and `e.grad_fn`
looks-like-no-operation: b=True, c=True
    `double()` converts and `w[0]` picks. In the text `w` is tracked, so both were recorded.
    look: `w.requires_grad`, and `b.grad_fn` and `c.grad_fn`
asked-so-leaf: f=True
    The flag was set on `mg.ones(2)`. `f` is the result of reshaping it, and that was recorded.
    look: `f.grad_fn`
untracked-result: a=False
    Integers are not tracked, so `float()` was not recorded. `a` has no history.
    look: `a.grad_fn`
detached-result: d=False
    `w.detach()` is not tracked, so the multiplication was not recorded. `d` has no history.
    look: `w.detach().requires_grad`
unrecorded-result: e=False
    In the text `e` is made inside `no_grad()`. Nothing is recorded there, whatever the inputs are.
    look: the line that makes `e`, and `e.grad_fn` after it
conversion: b=True
    `w` is `float32`, so `double()` has to convert. That is an operation on a tracked tensor.
    look: `w.double().grad_fn`
pick: c=True
    `w[0]` is the result of picking: an operation on a tracked tensor, and it was recorded.
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
everything-on-the-way: v=6, p=1, w=8, h=4 (M03)
    These are the slopes. In the text `v` and `p` are results, nobody called their `retain_grad()`, and no `.grad`
    keeps them.
    look: `v.is_leaf` and `p.is_leaf`
root-keeps: p=1
    1 is what `backward()` starts with. But `p` is a result, and nobody called `p.retain_grad()`.
    look: `p.is_leaf` and `p.retains_grad`
retain-ignored: h=None (M04)
    In the text `h.retain_grad()` is called on a tracked result, and before `backward()`. So its gradient is kept.
    look: the order of the lines in the text, and `h.retains_grad`
retained-instead: w=None
    `h` keeps its gradient and passes it on all the same. Looking takes nothing away from `w`.
    look: `w.is_leaf` and `w.requires_grad`
asked-then-divided: v=6 (M01)
    In the text the flag was set on the tensor that holds 8. `v` is the result of a division, and keeps nothing.
    look: the line that makes `v`, and `v.is_leaf` after it
gradient-of-the-8: v=3
    3 is the gradient of the leaf that holds 8, and it is kept there. `v` is the result of a division.
    look: which tensor the name `v` belongs to
not-halved: w=16, h=8
    16 and 8 would be right if `v` held 8. It is divided.
    look: the line that makes `v`
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
    said, truth = {}, {}
    for name, make in _STATES.items():
        t = make()
        loss = (t * mg.tensor(2.0, requires_grad=True)).sum()
        before = _looks_of(t)
        said[name] = _flag_from(answer, t, name)
        after = _looks_of(t)
        if after != before:
            other = next(one for one in before if before[one] != after[one])
            why = "Your function is asked before `backward()`, and should only look."
            look = "each line of your function that does something to `t`"
            raise Wrong("tensor-changed", "`t` as it was", f"another `{other}`, for {name}", why=why, look=look)
        loss.backward()
        truth[name] = _looks_of(t)["grad"] != before["grad"]
    if said != truth:
        raise _wrong_rule(answer, said, truth)
    for name, right in truth.items():
        _refuse_mode_asked(answer, name, right)
    t = tools.constant(2.0)
    call(answer, t)
    again = call(answer, t.requires_grad_())
    if not again:
        expected = "True for a leaf that is tracked by now; it was untracked when your function was called before"
        raise Wrong("remembered", expected, show(again), look="what your function keeps from call to call")
    return f"Tracked, and either a leaf or retained. The engine was asked about {len(truth)} tensors, and agrees."


def _flag_from(answer: Callable, t: mg.Tensor, name: str) -> bool:
    given = call(answer, t)
    if given is None:
        raise Wrong("none", f"True or False, for {name}", "None", look="what each `return` gives, if there is one")
    if type(given) is not bool and not isinstance(given, np.bool_):
        raise Wrong("kind", f"True or False, for {name}", show(given), look="what `return` gives back")
    return bool(given)


def _refuse_mode_asked(answer: Callable, name: str, right: bool) -> None:
    """The flags of `t` say it, whether something is recorded at the moment or not."""
    t = _STATES[name]()
    with mg.no_grad():
        said = tools.called(answer, (t,), f"{right} for {name}, in a `no_grad` block too", *_IN_NO_GRAD)
    if bool(said) != right:
        why = "Nothing is recorded in there. But `backward()` from a loss that was made before walks all the same."
        look = "what your function asks beside the flags of `t`"
        raise Wrong("asks-the-mode", f"{right} for {name}, in a `no_grad` block too", show(said), why=why, look=look)


_IN_NO_GRAD = tools.reasons("""
tried-in-no-grad: does not require grad
    This call is inside of `no_grad()`: what your function computes from `t` is not recorded. It should only look.
    look: each line that computes something from `t`
""")


def _after(t: mg.Tensor, do: Callable[[mg.Tensor], Any]) -> mg.Tensor:
    """A tensor after something was done to it."""
    do(t)
    return t


_tracked = functools.partial(mg.tensor, requires_grad=True)
_retain = mg.Tensor.retain_grad
_STATES: dict[str, Callable[[], mg.Tensor]] = {
    "an untracked leaf": lambda: mg.tensor(2.0),
    "an untracked result": lambda: tools.constant(2.0) * 3,
    "a tracked leaf": lambda: _tracked(4.0),
    "a tracked leaf with several numbers": lambda: _tracked([1.0, 3.0]),
    "a tracked leaf of float64": lambda: _tracked(3.0, dtype=mg.float64),
    "a tracked leaf that has a gradient already": lambda: tools.with_gradient(_tracked([1.0, 3.0])),
    "a tracked leaf after `retain_grad()`": lambda: _after(_tracked(4.0), _retain),
    "a tracked result": lambda: _tracked(4.0) * 3,
    "a result of a tracked result": lambda: _tracked(4.0) * 3 + 1,
    "a tracked result after `retain_grad()`": lambda: _after(_tracked([1.0, 2.0]) * 3, _retain),
    "a frozen leaf that has an old gradient": lambda: tools.with_gradient(_tracked([1.0, 3.0])).requires_grad_(False),
    "the detached number of a result": lambda: (_tracked(4.0) * 3).detach(),
    "an untracked tensor of whole numbers": lambda: mg.tensor([1, 2]),
    "a tracked leaf that was overwritten in `no_grad`": lambda: _after(_tracked(4.0), mg.no_grad()(mg.Tensor.zero_)),
    "a tracked view of a leaf": lambda: _tracked([[0.0, -2.0], [1.0, 5.0]]).reshape(4),
    "a tracked view after `retain_grad()`": lambda: _after(_tracked([[0.0, -2.0], [1.0, 5.0]]).reshape(4), _retain),
    "a tracked result after `retain_grad()` that has a gradient already": lambda: tools.with_gradient(
        _tracked(4.0) * 3
    ),
    "a result whose `.grad` was set by hand": lambda: _after(_tracked(4.0) * 3, lambda t: setattr(t, "grad", t.data)),
    "a tracked leaf without elements": lambda: _tracked(np.zeros((0, 2))),
}


def _looks_of(t: mg.Tensor) -> dict[str, Any]:
    grad = None if t.grad is None else t.grad.tolist()
    return {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")} | {"grad": grad}


_RULES = tools.reasons(
    """
flag-is-enough: is_leaf|retain|grad_fn|backward|^grad$ (M01)
    The flag says that a gradient is computed. It is kept by leaves, and by results that were asked.
    look: a result of a tracked tensor: what does the warning say?
retained-forgotten: retain|hook|next_functions (M04)
    Of leaves your rule is right. But a tracked result gets its `.grad`, too, if `retain_grad()` was called on it.
    look: `retains_grad`
leaf-is-enough: is_leaf
    Every untracked tensor is a leaf, and for these nothing is computed.
    look: `is_leaf` of `mg.tensor(2.0)`
flag-forgotten: is_leaf or retains_grad
    Every untracked tensor is a leaf, too, and for these nothing is computed. Retained results you have right.
    look: what all tensors that get a `.grad` have in common
leaves-forgotten: retains_grad
    `retains_grad` is about results. A tracked leaf has no need to ask.
    look: `retains_grad` of a leaf, after `retain_grad()`
looks-at-grad: is_leaf|retain|requires_grad|backward (M35)
    Before `backward()` there may be no gradient yet, or one that an earlier pass has left behind.
    look: the three flags, instead of `.grad`
always: is_leaf|retain|grad (M03)
    For some of the tensors nothing is kept.
    look: an untracked tensor
""",
    flag_is_enough=lambda t: t.requires_grad,
    retained_forgotten=lambda t: t.requires_grad and t.is_leaf,
    leaf_is_enough=lambda t: t.is_leaf,
    flag_forgotten=lambda t: t.is_leaf or t.retains_grad,
    leaves_forgotten=lambda t: t.retains_grad,
    looks_at_grad=lambda t: t.grad is not None,
)


def _wrong_rule(answer: Callable, said: dict[str, bool], truth: dict[str, bool]) -> Wrong:
    first = next(name for name in truth if said[name] != truth[name])
    call(answer, _STATES[first]())  # once more, so that the card shows this tensor
    expected, came = f"{truth[first]} for {first}", f"{said[first]}"
    for rule in _RULES:
        knows_better = rule.belief and observe.mentions(answer, rule.message)
        if not knows_better and all(rule.when(make()) == said[name] for name, make in _STATES.items()):
            return rule.wrong(expected, came)
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
    w, seen, passed = tools.leaf(start), [], []  # by which tensors a gradient has passed

    def watched(t):
        seen.append(t)
        if isinstance(t, mg.Tensor) and not t.is_leaf:
            t.register_hook(lambda grad: passed.append(t))
        return f(t)

    h = tools.result(tools.called(answer, (w, watched), "`w.grad` and `h.grad` filled", *_KEPT_ERRORS))
    if not seen:
        raise Wrong("f-not-used", "a loss from `f(h)`", "no call of `f`, in this call", look="where a loss is made")
    right = slope(2 * start)
    if all(h is not t for t in seen):
        raise _another_tensor(h, right)
    tools.refuse_other_values(h, 2 * start, "the value of `2 * w`", "each line that makes or changes `h`")
    if h.grad is None:
        facts = {"walked": w.grad is not None, "passed": any(t is h for t in passed), "retained": h.retains_grad}
        facts |= {"asks": observe.mentions(answer, "^retain_grad$"), "sets_flag": observe.sets_flag(answer)}
        raise tools.told(_NOTHING_KEPT, facts, "`h.grad` filled", "`h.grad` is None")
    if not graphs.reaches(h, w):
        why = "No way leads from `h` to `w`: none was recorded, or it was cut off since."
        look = "`h.is_leaf`: it should be False" if h.is_leaf else "what `h` is computed from"
        raise Wrong("way-to-w-cut", "an `h` that leads back to `w`", show(h), why=why, look=look)
    if w.grad is None:
        why = "A way leads from `h` to `w`, and nothing is left there."
        look = "each line that clears a `.grad`, and for whom you go backward"
        raise Wrong("w-missed", "`w.grad` and `h.grad` filled", "`w.grad` is None", why=why, look=look)
    for name, grad, wanted in (("h", h.grad, right), ("w", w.grad, 2 * right)):
        _check_gradient(name, grad, wanted)


def _check_gradient(name: str, grad: mg.Tensor, right: np.ndarray) -> None:
    came = tools.array(grad)
    if grad.requires_grad:
        look = "each `create_graph=True`, and what you put into a `.grad`"
        raise Wrong("recorded-walk", "gradients that are not tracked", f"`{name}.grad` is {show(grad)}", look=look)
    if not tools.same(came, right):
        twice = "went-twice", "That is twice the gradient."
        code, why = twice if tools.same(came, 2 * right) else ("other-gradient", "")
        expected = f"`{name}.grad` is {tools.text(right)}"
        look = "what you go backward from, and how often; each hook, and each line that sets a `.grad`"
        raise Wrong(code, expected, tools.text(came), why=why, look=look)


_KEPT_ERRORS = tools.reasons("""
asked-untracked: can't retain_grad (M04)
    No gradient comes by a tensor that is not tracked, so there is none to keep.
    look: `requires_grad` of the tensor you call `retain_grad()` on
""")


def _another_tensor(h: mg.Tensor, right: np.ndarray) -> Wrong:
    expected = "the tensor `h` that went into `f`"
    if h.grad_fn is None and any(tools.same(tools.array(h), grad) for grad in (right, 2 * right)):
        why = "These are the numbers of a gradient. What is asked for is the tensor `h`, with one in its `.grad`."
        return Wrong("gradient-returned", expected, show(h), why=why, look="what `return` gives back")
    why = "What you return is another tensor than what `f` was called with."
    return Wrong("another-tensor", expected, show(h), why=why, look="what `f` is called with, and what is returned")


_NOTHING_KEPT = kit.patterns("""
no-backward: walked=False
    `w.grad` is None as well. Has `backward()` run, from the loss?
    look: what fills a `.grad` here, and what clears one
asked-too-late: retained=True
    `h` was asked, and there is nothing in it: no gradient has come by since, or it was cleared.
    look: the order of `retain_grad()`, `backward()` and what clears a `.grad`, and what you go backward from
nothing-came-by: passed=False
    No gradient came by this `h`: what you go backward from does not lead to it, or it is not tracked.
    look: what you go backward from, and `h.requires_grad`
asked-elsewhere: asks=True
    Your function has a `retain_grad`, and `h` was not asked. It is a call, and asks the tensor it is called on.
    look: whether `retain_grad()` is called, and on which tensor
flag-on-a-result: sets_flag=True (M01)
    `h` is tracked anyway. The flag says that a gradient is computed, and a result does not keep it.
    look: `h.is_leaf`
not-asked: else (M03)
    The gradient came by, and nobody had asked `h` to keep it.
    look: `h.retains_grad`
""")


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
clearing-destroys: d=0 or d=None (M09)
    The graph of `loss` holds what `backward()` needs, and `w.grad` is not part of it.
    look: `mg.draw(loss, saved=True)`, right before `loss.backward()`
not-cleared: d=15
    `w.grad = None` took the 10 away. The next `backward()` starts from nothing.
    look: the line above `loss.backward()`, and the slope of `5 * w`
inside-adds: e=9 (M10)
    Inside the graph nothing is kept from the first pass. The second one brings 3 again, not 6.
    look: `mg.viz.trace(y.backward)` in place of the second `y.backward()`
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
    _targets.refuse_other(y, "second_loss", tools.other_graph(y, "second_loss", _RECORDED, **_factors_of(y)))
    if y.grad_fn.next_functions[0][0].next_functions[0][0] is None:
        why = "Your `w` is taken from something else. In an update the step is taken from `w`."
        look = "the order in the line that makes `w`"
        raise Wrong("taken-from", "`w` minus a step", "a subtraction the other way round", why=why, look=look)
    return "This is what a recorded step leaves behind. The gradient goes to the old leaf, not to your new `w`."


def _factors_of(y):
    """Whether the loss is made of the leaf itself, or of subtractions alone, and whether the step has a way back."""
    factors = [node for node, _ in getattr(y.grad_fn, "next_functions", ()) if node is not None]
    steps = [node for node in factors if node.name() == "SubBackward0"]
    of_leaf, of_steps = any(hasattr(node, "variable") for node in factors), 0 < len(steps) == len(factors)
    way, flags = bool(steps and steps[0].next_functions[1][0]), all(leaf.requires_grad for leaf in graphs.leaves(y))
    return {"of_leaf": of_leaf, "of_steps": of_steps, "twice": len(steps) == 2, "way": way, "flags": flags}


_RECORDED = kit.patterns("""
step-tracked: one_leaf=False
    Your graph has {leaves} leaves, and the picture has one.
    look: each leaf of your graph, and its `requires_grad`
flag-taken-back: flags=False
    The leaf of your graph is not tracked any more: its flag was cleared after it was used.
    look: `requires_grad` of the leaf
step-not-recorded: operations=mul
    In your graph there is no subtraction: no recorded step leads to your loss.
    look: whether a step comes before your loss, is recorded, and keeps its history
other-order: operations=mul sub, root=sub or operations=mul mul sub, root=sub
    The last operation of your graph is the subtraction. In the picture it is the multiplication.
    look: which of the operations touches the leaf
old-and-new: operations=mul sub, of_leaf=True
    Your multiplication takes the leaf itself, too: the old `w` beside the new one.
    look: both factors of the loss
two-steps: operations=mul sub sub
    Your graph has two subtractions. In the picture there is one.
    look: each subtraction in your program: the picture has one, and both arrows of the loss go to its result
multiplied-again: operations=mul mul sub, of_steps=False or operations=mul mul sub, way=False
    Your graph has two multiplications. In the picture there is one: the new `w` times itself.
    look: each multiplication in your program: which of them is the loss?
step-computed: operations=mul mul sub or operations=mul sub, twice=True or root=mul, of_steps=True, way=True
    What you subtract leads back to the leaf, too. In the picture the step has no way back.
    look: what you subtract: is it tracked?
used-once: operations=mul sub
    In the picture two arrows go from the multiplication to the subtraction, in your graph one.
    look: both factors of the loss
other-operations: else
    The picture shows one mul and one sub, and no other operation.
    look: the name in each box of the picture
""")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Cut: start anew from a number",
    kind="cut",
    points=2,
    off={
        "untracked": "the text has `t` tracked",
        "memory": "the same numbers are asked for, not a copy of them",
    },
    beliefs=("M05",),
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
        t = w * 1.7
        _check_as_leaf(answer, w, tools.with_gradient(t) if dtype is mg.float16 else t)
    return "A leaf starts a trail of its own. `t` still has the old one, and `backward()` from it still finds the way."


def _check_as_leaf(answer, w, t):
    node, before, expected = t.grad_fn, tools.array(t), "a tracked leaf with the numbers of `t`"
    retained = t.retains_grad
    y = tools.result(tools.called(answer, (t,), expected, *_AS_LEAF_ERRORS))
    if t.grad_fn is not node or not tools.same(tools.array(t), before):
        why = "You changed `t` itself. Others may still need it as it was."
        look = "each call on `t` itself, and on what shares its memory, as `t.detach()` does"
        raise Wrong("input-changed", "`t` as it was", f"`t` is {show(t)}", why=why, look=look)
    if not y.requires_grad:
        why = "No history, and no flag: what is computed from it alone is not recorded."
        raise Wrong("untracked", expected, show(y), why=why, look="`requires_grad` of your result")
    if not y.is_leaf:
        raise _no_leaf(answer, w, t.retains_grad and not retained, y, expected)
    if y.is_inference():
        why = "What `inference_mode` makes can never be saved in a graph: a backward from `y * y`, say, is refused."
        raise Wrong("inference", expected, "an inference tensor", why=why, look="the block in which the leaf is made")
    tools.refuse_other_values(y, before, "the numbers of `t`", "the numbers and the shape of your result")
    if y.dtype is not t.dtype:
        why = "With the same dtype no digit is lost, and none is added."
        look = "`dtype` of your result, and the call that chooses it"
        raise Wrong("other-dtype", f"the dtype {t.dtype}", f"{y.dtype}", why=why, look=look)
    if not np.array_equal(tools.array(y), before):
        got = f"numbers that are off by up to {np.abs(tools.array(y) - before).max():.1g}"
        look = "what rounds or computes: a shorter dtype on the way, a text, `round`, `/`"
        raise Wrong("rounded", "the numbers of `t`, to the last digit", got, look=look)


_AS_LEAF_ERRORS = tools.reasons("""
flag-of-a-result: use var_no_grad (M05)
    The flag of a result follows from its inputs. What can be cut off is a tensor that you take from it.
    look: what the message proposes at its end
one-number-only: converted to Scalar
    `item()` is for one number. `t` may hold several.
    look: a call that takes all numbers of `t`
array: Can't call numpy()
    `numpy()` refuses a tracked tensor, for an array has no history.
    look: a call that gives you a tensor without the history
""")
_AS_LEAF_ERRORS += tools.FLAG_OF_A_RESULT


def _no_leaf(answer: Any, w: mg.Tensor, retained: bool, y: mg.Tensor, expected: str) -> Wrong:
    if not graphs.reaches(y, w):
        why = "Your result comes from another leaf, and is none itself: it was computed after the flag was set."
        look = "the operation after the flag was set"
        return Wrong("asked-then-computed", expected, show(y), why=why, look=look)
    if retained:
        why = "`retain_grad()` lets a result keep its gradient. It stays a result, and the way back stays, too."
        return Wrong("retained", expected, show(y), why=why, look="`is_leaf` of your result")
    cuts = observe.mentions(answer, "^detach|^data$|tensor|numpy|list|_mode|no_grad")
    if observe.sets_flag(answer) and not cuts and not observe.mentions(answer, "^clone$|^copy_$"):
        why = "Setting the flag makes no leaf of a result. It is tracked anyway."
        return Wrong("flag-on-a-result", expected, show(y), why=why, look="`is_leaf` of your result")
    why = "The history came along: your result leads back to what `t` was computed from."
    return Wrong(
        "history-kept", expected, show(y), why=why, look="`grad_fn` of your result, beside that of `t`: is it the same?"
    )


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
        w = tools.leaf(start)
        for factor in (1, 1, 0):
            _check_step(answer, w, size, factor)
    _check_step(answer, tools.leaf(0.0), 0.25, 1e-4)
    return "The same leaf with another number: the caller's loop can go on with it."


_GIVEN_STEP = """
def step(w, size):
    w = w - size * w.grad
    w.grad = None
"""


def _check_step(answer, w, size, factor):
    start = tools.array(w)
    (factor * (w * w * w - 5 * w)).sum().backward()
    slope = factor * (3 * start**2 - 5)
    before = f"it was {tools.text(start)}, its gradient {tools.text(slope)}, and `size` {size}"
    expected = f"`w` is {tools.text(start - size * slope)} afterwards ({before})"
    version = w._version
    given = tools.called(answer, (w, size), expected, *_STEP_ERRORS)
    if not tools.same(tools.array(w), start - size * slope):
        raise _wrong_step(answer, given, w, start, size * slope, slope, expected, w._version != version)
    if not w.requires_grad or not w.is_leaf:
        why = "The number is right, but `w` is no tracked leaf any more: no later gradient stays in it."
        raise Wrong("left-frozen", "`w` is a tracked leaf", f"`w` is {show(w)}", why=why, look="`w`, and its flag")
    if w.grad is not None and tools.array(w.grad).any():
        expected, got = "`w.grad` cleared", f"`w.grad` is {tools.text(tools.array(w.grad))}"
        why = "The next `backward()` adds to what is there."
        look = "`w.grad` at the end of your function"
        raise Wrong("not-cleared", expected, got, why=why, look=look)


_STEP_ERRORS = tools.GRAD_OF_ANOTHER_TYPE + tools.reasons(
    """
recorded-in-place: used in an in-place operation (M07)
    If this were recorded, the leaf itself would turn into a result, and no leaf would be left.
    look: the update: is autograd recording while it runs?
grad-of-another: 'NoneType'
    The caller's `w` still has its gradient. What is None is something else: the `.grad` of a new tensor?
    look: what is None in that line, and which tensor you take `.grad` of
cleared-first: 'NoneType'
    `w.grad` is None by now. Is that what the line uses? Then it was cleared before.
    look: the order of your lines: what clears `w.grad`, and what uses it
""",
    grad_of_another=lambda w, size: w.grad is not None,
)


def _wrong_step(answer, given, w, start, step, slope, expected, written):
    came = tools.array(w)
    got = f"`w` is {tools.text(came)}"
    if tools.same(came, start):
        belief = "M06" if kit.rebinds(answer, 0) and observe.only_names(answer) else ""
        if type(given) is mg.Tensor and tools.same(tools.array(given), start - step):
            why = "The number is right in a new tensor, which you return. The caller's `w` is where it was."
            return Wrong("new-tensor", expected, got, belief=belief, why=why, look="an update that overwrites")
        if written:
            why = "`w` was written to, and has the number that it had. Was the step zero, or the gradient by then?"
            look = "each line that changes `w`, or clears its `.grad`"
            return Wrong("cleared-first", expected, got, why=why, look=look)
        why = "A line gives the name `w` to something else, and that moves nothing. The caller's `w` is where it was."
        if kit.rebinds(answer, 0):
            return Wrong("rebound", expected, got, belief=belief, why=why, look="an update that overwrites")
        look = "what each line overwrites: is it the `w` that is given?"
        return Wrong("not-moved", expected, got, why="The caller's `w` is where it was.", look=look)
    if tools.same(came, start + step):
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
        raise Wrong("b-slope", expected, show(b.grad), look="what your result is made of, and each hook")


_FREEZE_ERRORS = tools.GRAD_OF_ANOTHER_TYPE + tools.reasons("""
result-frozen: use var_no_grad (M05)
    The flag of a result follows from its inputs: it is tracked because one of them is. What can be frozen is a leaf.
    look: the tensor whose flag you set
nothing-to-clear: 'NoneType' object has no attribute 'zero_'
    A `.grad` is None until a backward() fills it, and after `= None`: there is nothing to fill with zeros.
    look: a clearing that always works
""")


def _check_frozen(answer: Any, w: mg.Tensor, reached: bool) -> None:
    if reached and w.requires_grad:
        expected, got = "a result with no way to `w`", "a way to `w`, which is tracked now"
        why = "`w` is tracked, so what you compute from it is recorded."
        raise Wrong("not-frozen", expected, got, why=why, look="`w.requires_grad`")
    if reached:
        expected, got = "a result with no way to `w`", "a way to `w`, which is frozen now"
        why = "The flag is read when an operation runs. When one on `w` ran, it was still set."
        raise Wrong("frozen-too-late", expected, got, why=why, look="the order of your lines")
    if w.requires_grad:
        expected, got = "`w.requires_grad` is False", "`w.requires_grad` is True"
        why = "Your result has no way to `w`. But the caller's `w` is tracked: the next computation trains it again."
        look = "the flag of the caller's `w`, when your function is over"
        belief = "M19" if kit.uses(answer, "detach", "detach_") and not kit.uses(answer, "no_grad") else ""
        belief = "" if kit.rebinds(answer, 0) else belief
        raise Wrong("cut-not-frozen", expected, got, belief=belief, why=why, look=look)
    if w.grad is not None and tools.array(w.grad).any():
        expected, got = "`w.grad` is None, or zeros", f"`w.grad` is {tools.text(tools.array(w.grad))}"
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
    two, goals = [2.0, [1.1, -3.0]], [5.0, [0.5, 1.0]]
    for steps, size in ((4, 0.1), (3, 0.25), (1, 0.1), (4, 0.75), (12, 1.2), (210, 0.01), (0, 0.1)):
        _check_train(answer, _Course(two, goals, steps, size))
    _check_train(answer, _Course(two, goals, 60, 0.1, level=-5e9))
    four, goals = [1.0, [2.0, -1.0], [[4.0]], 1.0], [3.0, [0.5, 1.0], [[-2.0]], -5.0]
    _check_train(answer, _Course(four, goals, 3, 0.1, fresh=True))
    return "Compute, go backward, update, clear: this is the loop that every training has at its heart."


@dataclass
class _Course:
    """Parameters, the minimum of their loss, and what becomes of the parameters under `train`."""

    starts: list
    goals: list
    steps: int
    size: float
    level: float = 0.0  # what is added to the loss: it may be below 0 from the start
    fresh: bool = False  # whether each loss is another one, as that of new data is
    calls: int = 0
    last: mg.Tensor | None = None  # the last loss
    unrecorded: bool = False  # whether a loss was computed where nothing is recorded
    params: list = field(init=False)

    def __post_init__(self) -> None:
        self.params = [tools.leaf(start) for start in self.starts]

    def loss_of(self) -> mg.Tensor:
        self.calls, self.unrecorded = self.calls + 1, self.unrecorded or not mg.is_grad_enabled()
        away = [p - tools.constant(goal) for p, goal in zip(self.params, self.goals, strict=True)]
        loss = sum((one**2).sum() for one in away) + 0.5 * away[0] * away[1].sum() + self.level
        self.last = loss * self.calls if self.fresh else loss
        return self.last

    def ends(self, sign: int = -1, uncleared: Iterable[int] = ()) -> list[np.ndarray]:
        """Where the parameters are at the end, downhill or up, without clearing some of them."""
        other = _Course(self.starts, self.goals, self.steps, self.size, self.level, self.fresh)
        for _ in range(self.steps):
            other.loss_of().backward()
            for i, p in enumerate(other.params):
                p.data += sign * self.size * p.grad
                if i not in uncleared:
                    p.grad = None
        return list(map(tools.array, other.params))

    def is_at(self, places: Iterable) -> bool:
        return all(tools.same(tools.array(p), place) for p, place in zip(self.params, places, strict=True))

    def end(self) -> str:
        """Which known end the parameters have come to."""
        several = range(len(self.params))
        ends = [("start", self.starts), ("added", self.ends(uncleared=several)), ("up", self.ends(sign=1))]
        ends += [("added-for-one", self.ends(uncleared=[i])) for i in several]
        return next((name for name, places in ends if self.is_at(places)), "")


def _check_train(answer, course):
    given, right = list(course.params), course.ends()
    expected = f"after {course.steps} steps {' and '.join(map(tools.text, right))}"

    def loss_of():
        return course.loss_of()

    loss_of.__qualname__ = "loss_of"  # for errors that name it
    try:
        call(answer, given, loss_of, course.steps, course.size)
    except Wrong as wrong:
        got, said = wrong.verdict.got, wrong.verdict.got.partition("  (your line: ")[0]
        error = next((one.strip("'") for one in _TRAIN_ERRORS if one in said), "")
        fills = "no attribute 'zero_'" in said
        if not error or (error == "NoneType" and "no attribute" in said and not fills):
            raise  # of None it may be what a call returned
        raise _wrong_train(answer, course, given, expected, got, error=error, fills=fills) from None
    got = " and ".join(tools.text(tools.array(p)) for p in course.params)
    if not course.is_at(right):
        raise _wrong_train(answer, course, given, expected, got, end=course.end())
    if course.calls != course.steps:
        expected, why = f"{course.steps} calls of `loss_of()` in {course.steps} steps", "Each call may take other data."
        raise Wrong("loss-calls", expected, f"{course.calls} calls", why=why, look="each `loss_of()`")
    if not all(p.requires_grad and p.is_leaf for p in course.params):
        why, got = "The numbers are right, but a parameter is no tracked leaf any more.", show(course.params)
        look = "`requires_grad` and `is_leaf` of the parameters at the end"
        raise Wrong("left-frozen", "parameters that are tracked leaves", got, why=why, look=look)


def _wrong_train(answer: Any, course: _Course, given: list, expected: str, got: str, **facts: Any) -> Wrong:
    replaced = len(given) != len(course.params) or any(a is not b for a, b in zip(given, course.params, strict=True))
    rebinds = kit.rebinds(answer) and not any(kit.rebinds(answer, i) for i in (1, 2, 3))  # not `size = float(size)`
    stay = [tools.same(tools.array(p), start) for p, start in zip(course.params, course.starts, strict=True)]
    filled = [p.grad is not None for p in course.params]
    walked = any(filled) or kit.uses(answer, "backward", "autograd") or graphs.is_freed(course.last)
    facts |= {"steps": course.steps, "calls": course.calls, "counted": course.calls == course.steps}
    facts |= {"unrecorded": course.unrecorded, "walked": walked, "filled": all(filled), "moved": not any(stay)}
    facts |= {"replaced": replaced, "others": replaced or rebinds, "written": all(p._version for p in course.params)}
    by_name = kit.rebinds(answer) and not kit.rebinds(answer, 0) and observe.only_names(answer)  # not `params = ...`
    left = all(filled) and not kit.clears(answer)
    return tools.told(_TRAIN, facts, expected, got, new_tensors=by_name, never_cleared=left)


_TRAIN_ERRORS = "used in an in-place", "tensors does not require grad", "a second time", "loss_of() takes", "'NoneType'"
_TRAIN = kit.patterns("""
recorded-in-place: error=used in an in-place (M07)
    If this were recorded, the leaf itself would turn into a result, and no leaf would be left.
    look: the update: is autograd recording while it runs?
loss-not-recorded: error=tensors does not require grad, unrecorded=True
    A loss was computed while recording was off. Was it the one that you go backward from?
    look: what switches it off, and for which lines
no-way: error=tensors does not require grad
    No way leads from what you go backward from to a tracked tensor.
    look: what you do with the loss, and the flags of the parameters
one-loss: error=a second time
    One loss was walked twice, and the first walk has used it up. Each step needs one new loss, and one walk.
    look: what you go backward from, and where `loss_of()` is called
loss-with-arguments: error=loss_of() takes
    `loss_of` knows the parameters already. It is called without arguments.
    look: the call of `loss_of`
new-tensors: error=NoneType, filled=True, replaced=False (M06)
    The parameters have their gradients. What is None is something else. It may be the `.grad` of a new tensor, and a
    step on that moves no parameter.
    look: what is None in that line, and an update that overwrites
nothing-to-clear: error=NoneType, fills=True, replaced=False
    A `.grad` is None until a backward() fills it, and after `= None`: there is nothing to fill with zeros.
    look: a clearing that always works
loss-not-used: end=start, calls=0 or end=, calls=0
    In this call your function did not call `loss_of()`.
    look: where the loss is computed
no-backward: walked=False, error=NoneType, replaced=False or walked=False, end=start
    Has `backward()` run? Until then each `.grad` is None.
    look: what you do with the loss
cleared-too-early: error=NoneType, replaced=False
    A parameter has no gradient by now. If the line uses it: it was cleared before, or none has come.
    look: what is None in that line, and the order of the four parts of a step
cleared-too-early: end=start, written=True
    The parameters were written to, and have the numbers of the start. Each step may have been zero, as with cleared
    gradients, or the old numbers put back.
    look: each line that writes to a parameter, or clears its `.grad`
new-tensors: error=NoneType or end=start, others=True (M06)
    Your steps may make or move other tensors. `loss_of()` never sees them: it uses the parameters.
    look: what is overwritten in a step: the parameters themselves?
not-moved: end=start
    The parameters have the numbers that they had.
    look: the line that moves a parameter: does it run?
never-cleared: end=added (M08)
    That is where sums of the gradients of all steps so far lead, as when they are not cleared in between.
    look: `p.grad` at the end of a step
some-cleared: end=added-for-one
    That is where it leads if the gradients of one parameter add up from step to step, and no others.
    look: for whom `.grad` is cleared
uphill: end=up
    A gradient points uphill. A step goes the other way.
    look: the sign of the step
other-count: counted=False
    Steps asked for: {steps}. Each needs one new loss. Losses computed: {calls}.
    look: where `loss_of()` is called, and how often
not-all: moved=False
    One of the parameters has moved, and another has not.
    look: which parameters are changed, and in which loop
other-numbers: replaced=True
    look: what is in `params` after the first step
other-numbers: else
    look: one step after the other: the loss, what is taken from each parameter, and what is cleared
""")


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
not-retained: b=0.0, h.grad=0.0 or b=None, h.grad=None
    In the text `h.retain_grad()` is called before the first backward(): `h` keeps its gradient.
    look: `h.retains_grad`
cleared-with-w: h.grad=1.0, b=5.0
    `w.grad.zero_()` and `w.grad = None` are about the gradient of `w`. Nobody has cleared that of `h`.
    look: each line that speaks of `h.grad`
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
    look: `c is w.grad`, right after the line that makes `c`
note-follows-the-name: d=1.0
    In the text `w.grad = None` stands before the last backward(), which then makes another tensor. `d` names the old
    one.
    look: the line above the last backward(), and `d is w.grad` after it
cleared-with-w: h.grad=6.0
    `w.grad.zero_()` clears the gradient of `w`. Nobody has cleared that of `h`.
    look: each line that speaks of `h.grad`
""")


# --- Pictures ------------------------------------------------------------------------------------

_targets = Targets(second_loss=_second_loss)
show_target = _targets.show

chapter.lock()
