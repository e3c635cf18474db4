"""The checks of chapter 13, "What does a graph cost?"."""

from __future__ import annotations

import functools
import gc
import re
import warnings
import weakref
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, functions, graphs, kit, tools
from exercises.checks.functions import Suspect, elementwise
from exercises.checks.kit import Wrong, show
from minigrad.viz.live import saved_state, storage
from minigrad.viz.memory import storage_bytes

chapter = kit.Chapter(__name__, "13", "What does a graph cost?")


# --- What several exercises share ----------------------------------------------------------------


def _kept(y: mg.Tensor) -> list:
    """The tensors and arrays that the nodes behind `y` keep, also on a `ctx` and inside of what hooks have packed."""
    values = [entry.value for node in graphs.nodes(y) for entry in saved_state(node)]
    values += [one for node in graphs.nodes(y) for one in getattr(node, "__dict__", {}).values() if mg.is_tensor(one)]
    return [found for value in values for found in _inside(getattr(value, "box", value))]


def _inside(value: Any, depth: int = 3) -> list:
    if isinstance(value, mg.Tensor | np.ndarray | bytes):
        return [np.frombuffer(value, np.uint8) if isinstance(value, bytes) else value]
    slots = [getattr(value, name, None) for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    parts = [*adversaries.parts(value), *getattr(value, "__dict__", {}).values(), *slots]
    parts += getattr(value, "__defaults__", None) or ()
    parts += [*value.args, value.keywords] if isinstance(value, functools.partial) else []
    return [found for part in parts for found in _inside(part, depth - 1)] if depth else []


def _bytes_kept(y: mg.Tensor, *beside: mg.Tensor) -> int:
    """The bytes that the graph of `y` keeps, each memory once, without the memory of these tensors."""
    memories = {storage(each): storage_bytes(each) for each in _kept(y)}
    return sum(size for place, size in memories.items() if place not in set(map(storage, beside)))


def _gradient(y: mg.Tensor, x: mg.Tensor, expected: str, look: str, start=1.0, code="no-way-back", **options):
    """The gradient that comes back to `x`, or a diagnosis."""
    try:
        (came,) = mg.autograd.grad(y, x, mg.full_like(y, start), retain_graph=True, **options)
    except Exception as error:
        raise Wrong(code, expected, kit.sandbox.describe_error(error), look=look) from None
    return tools.array(came)


def _with_a_history(values: Any) -> mg.Tensor:
    """A result with these numbers: a view that begins one row behind the beginning of its memory."""
    return tools.leaf(np.concatenate([values[:1], values]))[1:]


_RAND, _RANDN = mg.rand, mg.randn  # before any answer can replace them
_AS_RESULT = ", where `x` is itself a result"
_DATA = mg.tensor([2.0], dtype=mg.float64)
_WEIGHT = mg.tensor([0.5], dtype=mg.float64, requires_grad=True)


def _functions(*sources: str) -> dict:
    """Functions of `x` by their source, as a card shows it: with data and a weight of their own."""
    names = {"mg": mg, "data": _DATA, "weight": _WEIGHT}
    return {source: eval(compile(f"lambda x: {source}", __file__, "eval"), names) for source in sources}


def _drawn(t: mg.Tensor) -> mg.Tensor:
    """Random numbers of two kinds in the shape and dtype of `t`."""
    return (_RAND(t.shape, dtype=mg.float64) + _RANDN(t.shape, dtype=mg.float64)).to(t.dtype)


def _names_in(*functions: Any) -> set[str]:
    """The attributes and global names that functions, or those in them, read."""
    return {name for function in functions for code in kit._codes(function) for name in code.co_names}


# --- 1 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "How many bytes?",
    kind="predict",
    points=2,
    beliefs=("M39", "M40", "M44"),
    hints=(
        "For each operation: does its slope need the input, the result, both, nothing?",
        "Two nodes that save the same tensor hold one memory. And in place or not, a node saves what its rule needs.",
        "A: 0. In C the result of `exp` is a factor of the product. In F `sin` saves `a`, and `**` a view.",
    ),
    idea="A: nothing. B: both factors. C: the result of exp, which is also a factor, and b. D: two results. E: both "
    "factors and the result of relu. F: a, and the whole memory of the sines.",
)
def weigh(answer):
    truth = {"A": 0, "B": 8000, "C": 8000, "D": 8000, "E": 12000, "F": 8000}
    looks = {name: f"what each operation of {name} saves, and which of these are one memory" for name in truth}
    kit.predicted(answer, truth, _WEIGH, "a number of bytes", looks)
    return "Each memory once: what two nodes save together costs no more, and a view costs what it is a view of."


_WEIGH = kit.patterns("""
other-unit: B=2000, C=2000, D=2000 or B=2, C=2, D=2 or B=16000, C=16000, D=16000 or B=8, C=8, D=8
    These are not bytes of float32: a number has four of them, and a tensor here has 1,000 numbers.
    look: the comment behind the first line
counted-twice: C=12000, B=8000 (M44)
    exp saves its result, not `a`. And `*` saves its factors, of which that result is one: both hold the same memory.
    look: `exp(a) ** 2` in the chapter's table
view-is-small: F=4040 or F=40 (M40)
    The view has ten numbers, but its memory has a thousand, and it lives as long as the view.
    look: the picture of the chapter with `mg.sin(a)[:1] ** 2`
in-place-saves: B=8000, D=8000, E=8000 (M39)
    relu saves its result, in place or not: the numbers are written over a · b, and kept there.
    look: the last section of the chapter: what `relu` and `relu_` keep
sum-keeps: A=4000 or A=8000 or A=12000
    The slopes of + and of a mean depend on no number, so nothing has to be remembered.
    look: the first two lines of the chapter's table
results-are-free: D=4000
    Each tanh saves its own result, and these are two tensors with different numbers.
    look: which values the two slopes of D need
factors-are-free: B=0 or E=4000
    A product needs both factors for its slopes. That they are leaves changes nothing: saved they are.
    look: the line of `a * b` in the chapter's table
all-that-exists: B=8000, D=12000
    `a` is not needed: the slope of tanh is made of its result.
    look: whether the inner tanh needs `a` for its slope
leaf-forgotten: F=4000
    Two memories of 4,000 bytes are kept: that of `a`, which `sin` needs, and that of the sines, which the view is on.
    look: the line of `sin(a)` in the chapter's table, and what `**` saves
""")


# --- 2 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "How often does it run?",
    kind="predict",
    points=2,
    beliefs=("M45",),
    hints=(
        "A checkpoint runs `f` at once, and once more in each backward that needs what was saved.",
        "`retain_graph=True` keeps the boxes, and they are empty. In `no_grad` nothing will ever go backward.",
        "E: forward runs `f` once. In backward the inner checkpoint runs `f` again, and for its input the outer "
        "function. A second run ends when all that was saved is there. Does the outer one come to `f`?",
    ),
    idea="1, then one more in each backward: 2 and 3. D is an ordinary call: 4. E: once forward, and once when the "
    "inner checkpoint opens its boxes: 6. For that it needs its input, so the outer function runs again, up to there.",
)
def runs(answer):
    truth = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 6}
    looks = {name: f"which calls of `f` are new at {name}, and how many there are in all" for name in truth}
    kit.predicted(answer, truth, _RUNS, "a number of calls", looks)
    return "A box is filled anew in each backward, whatever is retained. A second run goes as far as it has to."


_RUNS = kit.patterns("""
runs-once: A=1, B=1, C=1, D=2 (M45)
    Then nothing would be there for backward: what `f` saved was thrown away. It has to run again.
    look: the two numbers in the chapter that are printed before and after `backward()`
retained: A=1, B=2, C=2
    Retained are the boxes, and they are empty. What is computed again is given out once, and let go of.
    look: what is in the box of a checkpoint
forward-is-late: A=0
    A result is there at once, so `f` has run.
    look: whether `y` has a value right after A
no-grad-skips: C=3, D=3
    Without recording the function runs as ever: somebody asks for its value.
    look: what `keep(f, x)` returns in `no_grad`
nested-thrice: D=4, E=7
    The outer function runs again, too, but its second run ends before `f`: what it had saved is there by then.
    look: what the outer checkpoint has saved: more than the input of the inner one?
nested-forward: D=4, E=5
    What `f` has saved is in boxes of the inner checkpoint, and they are empty: `f` has to run again.
    look: who fills the boxes of the inner checkpoint
""")


# --- 3 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Keep a part",
    kind="fix",
    points=2,
    beliefs=("M17", "M40"),
    hints=(
        "Which tensor does `**` save? On whose memory is it?",
        "A view keeps the whole memory. What gives the part a memory of its own?",
        "`h[:n].clone()`. Or take the part before the sines are computed: `mg.sin(x[:n])`.",
    ),
    idea="`(h[:n].clone() ** 2).sum()`: the clone has n numbers, and nobody keeps `h`.",
)
def part(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_PART)
    for start, end, size, n in (0.1, 2, 40, 3), (-1, 1, 30, 20), (0, 1, 8, 8), (1, 1, 5, 0):
        values = np.linspace(start, end, size)
        for x in tools.leaf(values), _with_a_history(values):
            _check_part(answer, x, n)
    return "The memory of all sines goes as soon as the part has been copied out of it."


_GIVEN_PART = """
def power(x, n):
    h = mg.sin(x)
    return (h[:n] ** 2).sum()
"""


def _check_part(answer, x, n):
    y = tools.result(tools.called(answer, (x, n), "one number, a sum of squares"))
    sines, look = np.sin(tools.array(x)), "what is left out, what is added up, and in which precision"
    tools.refuse_other_values(y, (sines[:n] ** 2).sum(), "the sum of the squares", look)
    if not graphs.reaches(y, graphs.leaves(x)[0]):
        others = "clone", "copy", "item", "numpy", "tensor", "no_grad", "requires_grad_"
        copies = kit.uses(answer, "detach") and not kit.uses(answer, *others)
        why = "Your result has no history that leads to `x`."
        why += " `detach()` leaves no way back, and copies nothing." * copies
        expected = f"a result with a way back to `x`{'' if x.is_leaf else _AS_RESULT}"
        look = "each `detach`, `.data`, `.item()`, `no_grad` or `mg.tensor`"
        raise Wrong("cut-off", expected, show(y), belief="M17" * copies, why=why, look=look)
    expected = "2 · sin · cos for the first n entries, and 0 for the others"
    right = np.where(np.arange(len(sines)) < n, np.sin(2 * tools.array(x)), 0.0)
    look = "which operations are between `x` and what you return, and what comes back of the numbers that they save"
    came = _gradient(y, x, expected, look)
    if not tools.same(came, right):
        raise Wrong("other-gradient", tools.text(right), tools.text(came), look=look)
    kept, room = _bytes_kept(y, x), n * x.element_size()
    if kept > room:
        views = any(t.nbytes < storage_bytes(t) > room for t in _kept(y) if storage(t) != storage(x))
        copies = kit.uses(
            answer, "clone", "contiguous", "reshape", "to", "double", "float"
        )  # which may be taken for such
        belief, why = "M40" * (views and not copies), "More is kept than n numbers."
        if views:
            why = "What is kept shows fewer numbers than its memory has. A view keeps all of its memory."
        look = "which tensor each node saves, and on whose memory that is: `mg.draw(power(x, 3), memory=True)`"
        raise Wrong("all-kept", f"{room} bytes besides x", f"{kept} bytes", belief=belief, why=why, look=look)
    mg.autograd.grad(y, x)
    again = tools.result(tools.called(answer, (x, n), "one number, after a walk has freed the first graph"))
    _gradient(again, x, expected, "what your function keeps from one call to the next")


# --- 4 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A rule that saves its input",
    kind="write",
    points=3,
    beliefs=("M33",),
    hints=(
        "`forward` saves `x`, and nothing else: tanh is computed again in `backward`.",
        "`t = mg.tanh(x)` in `backward`. Then the slope is t + x · (1 − t · t).",
        "And the slope is only a factor: what arrives is `grad`.",
    ),
    idea="Save `x`. In backward `t = mg.tanh(x)`, and return `grad * (t + x * (1 - t * t))`.",
)
def gate(answer):
    cases = [*elementwise(), functions.given("a zero among them", [0.0, 1.5])]
    check = functools.partial(functions.check, answer, lambda x: x * mg.tanh(x), second=True)
    check(cases, suspects=_GATE)
    _check_large(check)
    adversaries.trial.forget_last()  # what follows is not about the last of its inputs
    x = tools.leaf([0.5, -1.0, 2.0])
    y = functions.apply_of(answer)(x)
    held = {f"`{name}` of ctx": value for name, value in vars(y.grad_fn).items() if name != "to_save"}
    held |= {f"`{name}` of the class": value for name, value in getattr(answer, "__dict__", {}).items()}
    hung = [name for name, value in held.items() if not isinstance(value, staticmethod) and _inside(value)]
    if hung:
        why = "What hangs there is not watched, and not freed by backward. And `save_for_backward` is made for it."
        look = "what forward leaves on `ctx`, or on the class"
        got = f"{hung[0]} holds a tensor or an array"
        raise Wrong("on-ctx", "`x`, saved by `save_for_backward`", got, why=why, look=look)
    kept = _kept(y)
    if {storage(each) for each in kept} != {storage(x)}:
        why = "The gradient is right. But the point of the exercise is that nothing but `x` is kept."
        got = f"{len(kept)} tensors, {sum(each.numel() for each in kept)} numbers"
        raise Wrong("more-kept", "`x` alone", got, why=why, look="what `save_for_backward` is given")
    return "One tensor, which is there anyway, for one more tanh on the way back. Its second derivative is right, too."


def _check_large(check):
    """Whether value and slopes are numbers where `exp` and `cosh` are infinite, in each of both dtypes."""
    try:
        check([functions.given("large numbers", [30.0, -60.0, 100.0, -400.0, 800.0, -2000.0])], numerical=False)
    except Wrong as wrong:
        said = wrong.verdict
        why = "It is right for small numbers, and not for large ones."
        if "nan" in said.got or "inf" in said.got:
            why += " There `exp` and `cosh` are infinite, and `tanh` is not."
        look = "what is computed from large numbers, " + ("in forward" if said.code == "other-value" else "in backward")
        look += " or on the way back through its operations" * ("how the gradient moves" in said.expected)
        raise Wrong("large", said.expected, said.got, why=why, look=look) from None


_PRODUCT = "That is one half of the product rule: x · tanh(x) changes through both factors.", "the slope's two terms"
_SQUARE = "The slope of tanh is 1 minus the square of its result.", "the bracket in the second term"
_GATE = (
    Suspect("product-rule", *_PRODUCT, backward=lambda x, g: g * mg.tanh(x)),
    Suspect("product-rule", *_PRODUCT, backward=lambda x, g: g * x * (1 - mg.tanh(x) ** 2)),
    Suspect("slope-of-tanh", *_SQUARE, backward=lambda x, g: g * (mg.tanh(x) + x * (1 - x * x))),
    Suspect("slope-of-tanh", *_SQUARE, backward=lambda x, g: g * (mg.tanh(x) + x * (1 - mg.tanh(x)))),
    Suspect("tanh-forgotten", "The value is that of tanh(x) alone.", "the `return` of forward", forward=mg.tanh),
)


# --- 5 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "What comes on top",
    kind="write",
    points=3,
    beliefs=("M40", "M44"),
    hints=(
        "`kept` of the chapter is nearly it: a dict from the address of a memory to its bytes.",
        "The memory of `x` has an address, too. Take that one out at the end, if it is there.",
        "`found.pop(x.untyped_storage().data_ptr(), None)`, then the sum of what is left.",
    ),
    idea="A `pack` that notes `untyped_storage()`, address and bytes, in a dict, and returns the tensor; `f(x)` in the "
    "block; without the address of x; the sum.",
)
def extra(answer):
    kit.a_function(answer)
    for source, f in _EXTRA.items():
        _check_extra(answer, source, f)
    expected = "0, for an `x` that is not tracked"
    given = kit.a_number(tools.called(answer, (_EXTRA["mg.exp(x) ** 2"], tools.constant([1.0, 2.0])), expected))
    if given:
        raise Wrong("untracked-counted", expected, show(given), look="what you do to `x`")
    return "Each memory once and whole, without that of x: this is what the graph costs on top."


_EXTRA = _functions(
    *("x * x", "(h := x + 1) * h", "mg.exp(x) ** 2", "mg.exp(x)[:1] ** 2", "mg.exp(x)[1:] ** 2", "mg.tanh(mg.sin(x))"),
    *("mg.tanh(mg.tanh(x * 2))", "x + 1", "mg.exp(x.sum()) * x", "x[:2] * x[1:3]", "mg.sin(x).t() @ x"),
    *("mg.exp(x) ** 2 * mg.ones_like(x)", "mg.exp(x) * weight", "mg.where(x > 1, x, 0.0)"),
)


def _check_extra(answer, source, f):
    results, numbers = [], np.array([0.6, 2.0, 4.0, 1.0, 3.0])

    def watched(t):
        results.append(f(t))
        return results[-1]

    for x, said in ((tools.leaf(numbers), ""), (_with_a_history(numbers[:4].reshape(2, 2)), _AS_RESULT)):
        results.clear()
        right = _bytes_kept(f(x), x)
        expected = f"{right} bytes for `{source}` and an `x` with {x.numel()} numbers of {x.element_size()} bytes{said}"
        came = kit.a_number(tools.called(answer, (watched, x), expected), "the result")
        if not results and not said:
            raise Wrong("not-called", "a call of `f(x)`", "none", look="whether your function calls `f`")
        if not kit.close(came, right):
            raise _wrong_extra(answer, came, f, x, expected, len(results))
        _refuse_several_calls(len(results))
        wanted = _gradient(f(x), x, "", "")
        for y in results:
            look = "what `f` is given, what your `pack` and `unpack` return, and whether you go backward yourself"
            _gradient(y, x, "a result that one can go backward from", look)
            slope = _gradient(y, x, "a result that one can go backward from twice, with `retain_graph=True`", look)
            if not tools.same(slope, wanted):
                why = "The number is right. But backward gets other numbers than were saved."
                look = "what your `pack` returns, and what your `unpack` makes of it"
                raise Wrong("other-kept", tools.text(wanted), tools.text(slope), why=why, look=look)


def _refuse_several_calls(calls):
    if calls > 1 and not adversaries.trial.circumstances:
        look = "how often your function calls `f`: it may draw numbers, or note what it is given"
        raise Wrong("several-calls", "one call of `f`", f"{calls} calls", look=look)


_COUNTS = tools.reasons("""
kept-by-f: one function
    One and the same `f` was given, with another `x` than before. Of a new `f` the number is right.
    look: what your function keeps from call to call
counted-before: more and more
    The same call once more gives more: your function still holds what it has counted before.
    look: what is left from the first call
several-calls: several calls
    `f(x)` was computed more than once. What each call saves is a memory of its own.
    look: how often you call `f`, and what you count
leaf-counted: with x
    That is as much as with the memory of `x`, or with another one of that size, such as a copy or the result.
    look: which memories you count, by their addresses: is that of `x` among them, or one that nobody saved?
counted-twice: each tensor (M44)
    That is as much as each saved tensor by itself. What is saved twice is there once: it is one memory.
    look: how you tell one memory from another
view-counted: what is shown (M40)
    That is as much as saved tensors show of a memory. But a view keeps all of its memory.
    look: `untyped_storage().nbytes()`
numbers-counted: numbers
    That is as many as there are numbers. Asked for are bytes.
    look: what you note of each memory
nothing-seen: nothing
    That is 0, as where nothing is noted or all is taken off. Hooks see what is saved inside of their block.
    look: where `f(x)` is computed, what `pack` notes, and what you leave out, or take off
other-count: other
    look: what you add up, and for which memories
""")


def _wrong_extra(answer, came, f, x, expected, calls):
    y, more = f(x), [kit.a_number(kit.call(answer, again, x)) for again in (f, lambda t: f(t))]
    saved = [each for each in _kept(y) if isinstance(each, mg.Tensor)]
    others = [each for each in saved if storage(each) != storage(x)]
    each = [sum(map(storage_bytes, some)) for some in (others, saved)]
    shown = [sum(each.nbytes for each in some) for some in (others, saved)]
    shown += [sum({storage(each): each.nbytes for each in some}.values()) for some in (others, others[::-1])]
    right = _bytes_kept(y, x)
    guesses = {
        "one function": [came] * (expected.endswith(_AS_RESULT) and kit.close(more[1], right)),
        "more and more": [came] * (more[0] > came),
        "several calls": [came] * (calls > 1),
        "with x": [_bytes_kept(y)],
        "each tensor": each,
        "what is shown": shown,
        "numbers": [right / x.element_size()],
        "nothing": [0],
        "other": [came],
    }
    reason = next(one for one in _COUNTS if any(kit.close(came, guess) for guess in guesses[one.message]))
    wrong = reason.wrong(expected, f"{came:g}")
    if wrong.verdict.belief == "M44" and len(set(map(id, others))) == len(others):
        wrong.verdict.belief = ""  # it may tell them apart, by a wrong key
    return wrong


# --- 6 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "Half of it",
    kind="write",
    points=3,
    off={"result dtype": "it is that of `f(x)`, which the check compares"},
    hints=(
        "`saved_tensors_hooks(pack, unpack)` around `f(x)`. What `pack` returns is kept; it may be a tuple.",
        "`t.is_leaf` says whether a tensor has no history. `unpack` has to know the dtype: put it into the box.",
        "`pack` returns `t.dtype, t if t.is_leaf else t.detach().half()`, and `unpack` makes `kept.to(dtype)` of it.",
    ),
    idea="A box with the dtype and either the leaf itself or a detached copy in half precision; unpack gives the "
    "tensor back in that dtype.",
)
def half(answer):
    kit.a_function(answer)
    flat, square = np.array([0.3, 0.7, 0.1, 0.9]), np.array([[0.25, 0.5], [0.6, 0.2]])
    for said, make in ("", lambda: tools.leaf(flat)), (_AS_RESULT, lambda: _with_a_history(square).clone()):
        for source, f in _HALF.items():
            _check_half(answer, f"`{source}`{said}", f, make())
    return "Two bytes a number for what only backward needs. What is there anyway is not copied."


_HALF = _functions(
    *("mg.tanh(mg.sin(x))", "mg.exp(mg.sin(x)) * x", "mg.exp(mg.sin(x).sum()) * x", "mg.sin(x)[..., 1:] ** 2"),
    *("(mg.sin(x) * 200) ** 2", "mg.sin(x.double()) * x", "mg.exp(x) * mg.sin(x.float())"),
    *("mg.sin(x.float()) * x.double() * data", "mg.exp(x) * weight"),
)


def _check_half(answer, what, f, x):
    expected = f"the result of {what}"
    calls: list = []
    y = tools.result(tools.called(answer, (lambda t: calls.append(t) or f(t), x), expected))
    _refuse_several_calls(len(calls))
    look, hooks = "what `f` is given, and what you return: `f(x)` itself", mg.autograd.graph.saved_tensors_hooks
    plain = f(x)
    with hooks(lambda t: (t.dtype, t if t.is_leaf else t.detach().half()), lambda box: box[1].to(box[0])):
        packed = f(x)
    if y.dtype != plain.dtype:
        raise Wrong("result-dtype", f"{expected}, {plain.dtype}", str(y.dtype), look=look)
    tools.refuse_other_values(y, tools.array(plain), expected, look)
    beside = *graphs.leaves(x), _DATA, _WEIGHT
    if not graphs.reaches(y, beside[0]):
        look = "what `f` is given, and each `detach` and `no_grad`"
        raise Wrong("cut-off", f"{expected}, with a way back to `x`", show(y), look=look)
    _check_packed(y, plain, packed, beside, what)
    look = "your `unpack`: what it is given, what it takes away, and what it returns, of which shape and dtype"
    for walk in "", ", from a second walk with `retain_graph=True`":
        came = _gradient(y, x, "a gradient for `x`" + walk, look, code="not-unpacked")
    _check_packed(y, plain, packed, beside, f"{what}, after a walk with `retain_graph=True`")
    wanted = _gradient(packed, x, "", "")
    if not kit.same_arrays(came, wanted, 1e-6):
        why = "Backward gets other numbers than were saved, or the same in another dtype."
        look = "what your `unpack` returns: the same numbers, in the dtype of before"
        raise Wrong("other-gradient", tools.text(wanted), tools.text(came), why=why, look=look)
    _check_dtypes(y, plain, what)


def _check_packed(y, plain, packed, beside, what):
    right, kept, before = (_bytes_kept(each, *beside) for each in (packed, y, plain))
    expected = f"{right} bytes beside leaves and data for {what}"
    if kept == right:
        return
    numbers = [getattr(each, "_array", each) for each in _kept(y) if storage(each) not in map(storage, beside)]
    if any(np.array_equal(each, one.detach().half().numpy()) for each in numbers for one in beside):
        why = "A leaf, or data, was packed. It is there anyway: the copy costs more than it saves."
        raise Wrong("leaf-copied", expected, f"{kept}", why=why, look="which tensors `pack` leaves as they are")
    if kept < right:
        why = "The graph itself keeps less than half precision needs: where is the rest, and who lets go of it?"
        look = "what your `pack` returns and leaves elsewhere, what `unpack` takes away, and whether you go backward"
        raise Wrong("elsewhere", expected, f"{kept}", why=why, look=look)
    why = "The graph keeps more than half precision would need."
    why = "The graph keeps as many bytes as it does without hooks." if kept == before else why
    look = "what your `pack` returns, which tensors it leaves as they are, and which `f(x)` it sees"
    raise Wrong("not-halved", expected, f"{kept}", why=why, look=look)


def _check_dtypes(y, plain, what):
    """Each saved tensor comes back in its dtype: a slope in another would be converted in silence."""
    right, own = graphs.nodes(plain), graphs.nodes(y)
    for mine, theirs in zip(own[len(own) - len(right) :], right, strict=False):  # there may be more behind `f(x)`
        for entry, other in zip(saved_state(mine), saved_state(theirs), strict=False):
            if hasattr(entry.value, "open") and isinstance(other.value, mg.Tensor):
                came = entry.value.open(mine._node)
                if came.dtype != other.value.dtype or came.shape != other.value.shape:
                    expected = f"{other.value.dtype} for what `{theirs.name()}` saved in {what}"
                    got = f"{came.dtype}, shape {tuple(came.shape)}"
                    why = "In backward each tensor has the dtype that it was saved with, which need not be that of `x`."
                    raise Wrong("other-dtype", expected, got, why=why, look="how `unpack` knows the dtype")


# --- 7 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "A hook that lets go",
    kind="cut",
    points=2,
    off={"hooks": "the task is one", "again": "each call adds one more", "entries": "the hook writes into the list"},
    beliefs=("M43",),
    hints=(
        "Who holds whom? `y` its node, the node its hooks, the hook what it uses.",
        "The hook needs the numbers of `y`, not its history.",
        "`values = y.detach()` before the hook, and `values` inside of it.",
    ),
    idea="Take `values = y.detach()` outside of the hook and use that: its numbers are those of `y`, and no way leads "
    "from it to the node.",
)
def watch(answer):
    kit.a_function(answer)
    kit.refuse_given(answer, _GIVEN_WATCH)
    for values in ([0.5, 2.0, -1.0], [[1.5, 0.25]]):
        _check_watch(answer, np.array(values))
    return "The hook holds numbers, the node holds the hook, and nothing leads back: the graph goes with its last name."


_GIVEN_WATCH = """
def watch(y, notes):
    def hook(grad):
        notes.append(0.01 * (grad * y).sum().item())

    y.register_hook(hook)
"""


def _check_watch(answer, values):
    made = []
    for factor in (2, 1):  # two that are there at the same time have a hook each; the last is looked at first
        x = tools.leaf(factor * values)
        made.append((x, mg.sin(x), []))
        tools.called(answer, made[-1][1:], "nothing that is returned: a hook on `y`")
    for x, y, notes in reversed(made):
        _check_notes_of_two_walks(x, y, notes, is_last=notes is made[-1][-1])
    _check_other_walks(answer, values)
    _check_lets_go(answer, values)
    _check_without_the_name(answer, values)


def _check_notes_of_two_walks(x, y, notes, is_last):
    if y.retains_grad:
        why = "The task does not ask for it. Each backward then leaves a `.grad` there."
        raise Wrong("retained", "a hook on `y`", "`y.retains_grad` is True", why=why, look="each `retain_grad()`")
    if notes:
        why = "Something was noted before any backward."
        raise Wrong("too-early", "an empty list before backward", show(notes), why=why, look="where `append` stands")
    for factor in (3.0, -2.0):
        came = _gradient((y * y * factor).sum(), x, "a backward through the hook", "your hook, and what you do to `y`")
        right = factor * np.sin(2 * tools.array(x))
        if not tools.same(came, right):
            why = "The gradient that arrives at `x` is another one than without your hook."
            look = "what your hook returns, and what it changes in place"
            raise Wrong("changes-gradient", tools.text(right), tools.text(came), why=why, look=look)
    wanted = [0.02 * factor * (tools.array(y) ** 2).sum() for factor in (3.0, -2.0)]
    if is_last:
        look = "what `append` is given, how often, and on which tensor your hook hangs"
        _check_notes(notes, wanted, "two notes", look, "" if notes else "Nothing was noted.")
    why = "Your function was called for two results before any backward. Each hook notes what is about its own."
    look = "what your hook uses that the next call sets anew, such as a global name"
    _check_notes(notes, wanted, "two notes for each of two results", look, why, "next-call")
    if any(isinstance(note, mg.Tensor) for note in notes):
        why = "A note that is a tensor may hold a graph."
        raise Wrong("tensor-noted", "plain numbers", show(notes), why=why, look="`.item()` in the hook")


def _check_notes(notes, wanted, what, look, why="", code="other-notes"):
    if not tools.same([kit.a_number(note, "each note") for note in notes], wanted):
        raise Wrong(code, f"{what}: {tools.text(wanted)}", show(notes), why=why, look=look)


def _check_other_walks(answer, values):
    """Where `y` is a leaf, and where the walk is recorded."""
    for what, make in (("a leaf", lambda x: x), ("a result, and the walk has create_graph=True", mg.sin)):
        x, notes = tools.leaf(values), []
        y, expected, look = make(x), f"one note, where `y` is {what}", "your hook: what it hangs on, and computes with"
        tools.called(answer, (y, notes), f"a hook on `y`, {what}")
        _gradient((y * y).sum(), x, expected, look, code="hook-raised", create_graph=y is not x)
        _check_notes(notes, [0.02 * (tools.array(y) ** 2).sum()], expected, look)


def _check_lets_go(answer, values):
    """Whether a result, its graph, goes with its last name. (Called directly: `kit.call` would hold it.)"""
    thresholds = gc.get_threshold()
    gc.set_threshold(0)  # from here on the collector does not come by itself
    try:
        y = mg.sin(tools.leaf(values)) * 1
        answer(y, [])
        watched = weakref.ref(y), weakref.ref(y.grad_fn._node)
        del y
        alive = any(one() is not None for one in watched)
        if alive:
            gc.collect()
    finally:
        gc.set_threshold(*thresholds)
    if alive:
        circle = all(one() is None for one in watched)
        why = "It goes only when the garbage collector comes: a circle. The node of `y` holds your hook, and from what "
        why += "the hook holds a way leads back."
        why = why if circle else "Something else still leads to `y` or to its node, such as a global name."
        look = "each name that your hook uses from outside, its defaults and attributes, and what else keeps `y`"
        expected, got = "`y` and its graph are gone when their last name is", "they are still there"
        raise Wrong(
            "circle", expected, got, belief="M43" * (circle and not kit.uses(answer, "collect")), why=why, look=look
        )


def _check_without_the_name(answer, values):
    """Whether the hook notes where `y` has lost its name, and a later result keeps the graph."""
    x, notes = tools.leaf(values), []
    y = mg.sin(x) * 1
    answer(y, notes)
    z = 3 * y
    del y
    _gradient(z, x, "a backward through the hook, after `del y`", "your hook, at the line named above")
    why = "Here `y` has lost its last name, and its graph lives on: a later result needs it. The hook has to note."
    look = "what your hook keeps of `y`: its numbers, or a reference that does not keep them?"
    _check_notes(notes, [0.03 * np.sin(values).sum()], "one note", look, why, "gone-with-y")


# --- 8 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "The same dice",
    kind="fix",
    points=3,
    off={"again": "a second call draws other numbers"},
    beliefs=("M41",),
    hints=(
        "Before `f` runs in forward, the generator is somewhere: leave that on `ctx`.",
        "In backward: note where it is now, put it to where it was, run `f`, put it back.",
        "`ctx.state = mg.get_rng_state()` before `f(x)`; `now = ...`, `set_rng_state(ctx.state)`, run, "
        "`set_rng_state(now)`.",
    ),
    idea="forward notes the state before it runs `f`; backward notes the state of now, sets that of forward, runs `f`, "
    "and sets the state of now again.",
)
def dice(answer):
    apply = functions.apply_of(answer)
    functions.refuse_given(answer, _GIVEN_DICE)
    methods = [getattr(one, "__func__", one) for one in vars(answer).values()] if isinstance(answer, type) else [answer]
    belief = "" if re.search("rand|rng|seed|state|checkpoint", " ".join(_names_in(*methods))) else "M41"
    for x in tools.leaf([0.3, 2.0, -1.0, 1.0]), _with_a_history(np.array([[1.5, 0.25, 0.75]])):
        with mg.random.fork_rng():
            _check_dice(apply, x, belief)
    return "Two runs, the same numbers: the gradient is that of the mask that was used, and nobody notices the second."


_GIVEN_DICE = """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, f, x):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with mg.enable_grad():
            y = ctx.f(x)
        y.backward(grad)
        return None, x.grad
"""


def _check_dice(apply, x, belief):
    dice, made = [], []

    def f(t):
        dice.append(_drawn(t))
        return mg.sin(t) * dice[-1]

    for seed in (3, 4):
        mg.manual_seed(seed)
        with mg.random.fork_rng():
            _drawn(x)
            after = mg.get_rng_state()
        y = tools.result(tools.called(apply, (f, x), "what `f(x)` gives"))
        _check_forward(y, dice, x, after)
        made.append((y, dice[-1]))
    mg.rand(5)
    for y, numbers in reversed(made):
        _check_second_run(y, x, numbers, dice, belief)


def _check_second_run(y, x, numbers, dice, belief):
    before, runs, slope = mg.get_rng_state(), len(dice), 2 * np.cos(tools.array(x))
    right = slope * tools.array(numbers)
    look = "your backward: the line that is named above, if one is, and what it returns, one for each argument"
    for walk in "", ", from a second walk over the graph":
        came = _gradient(y, x, f"a gradient for `x`{walk}", look, start=2.0)
        if not tools.same(came, right):
            facts = {
                "second walk": walk,
                "half": tools.same(came, right / 2),
                "same numbers": len(dice) > runs and dice[-1].equal(numbers),
                "no run": len(dice) == runs,
                "another call": any(tools.same(came, slope * tools.array(other)) for other in dice[:2]),
                "other numbers": True,
            }
            reason = next(one for one in _OTHER_GRADIENT if facts[one.message])
            wrong = reason.wrong(f"{tools.text(right)}, the gradient of `x`", tools.text(came))
            wrong.verdict.belief = belief * (reason.message == "other numbers")
            raise wrong
    if mg.get_rng_state() != before:
        expected, look = (
            "the generator where it was before backward",
            "where it is noted before it is set, and what is done after the second run of `f`",
        )
        why = "The gradient is right. But a backward has moved the generator: whoever draws next gets other numbers."
        raise Wrong("moved-by-backward", expected, "elsewhere", why=why, look=look)
    kept, runs = _bytes_kept(y, x), len(dice) - runs
    if not runs or kept:
        why = "The point of a checkpoint is that `x` alone is kept, and `f` runs again."
        look = "what forward saves, or leaves on `ctx`, and whether backward runs `f`"
        expected = "a run of `f` in each backward, and nothing kept beside `x`"
        got = f"{runs} runs in two of them, and {kept} bytes beside `x`"
        raise Wrong("kept-instead", expected, got, why=why, look=look)


_OTHER_GRADIENT = tools.reasons("""
once-only: second walk
    The first `autograd.grad` gave the right gradient. The graph was retained, and the second one does not.
    look: from which tensor `f` runs again, and what your backward takes away, or leaves on `ctx` or in a `.grad`
no-grad-output: half
    What arrives in `backward`, here 2, is a factor of the gradient.
    look: what `y.backward` is given
other-gradient: same numbers
    The second run has drawn the numbers of the first. But another gradient comes back.
    look: from which tensor `f` runs again, what is in its `.grad` before, and what you return
other-gradient: no run
    `f` did not run again.
    look: what your backward computes from, and whether it runs `f`
shared-state: another call
    That is the gradient for the numbers of another call: each call needs a state of its own.
    look: where forward leaves the state: on `ctx`?
other-numbers: other numbers
    The last run of `f` has drawn other numbers than the first.
    look: where the generator is when `f` runs the first time, and where when it runs again
""")


def _check_forward(y, dice, x, after):
    if not dice:
        raise Wrong("not-called", "a run of `f` in forward", "none", look="what forward calls, and what it returns")
    right = np.sin(tools.array(x)) * tools.array(dice[-1])
    tools.refuse_other_values(y, right, "the value of `f(x)`", "what forward returns")
    if y.grad_fn is None:
        raise Wrong("cut-off", "a result with a history", show(y), look="what forward does to `x`, and to its result")
    if mg.get_rng_state() != after:
        why = "After forward the generator is not where it is after `f` alone."
        look = "each `set_rng_state`, `manual_seed` and number that is drawn in forward"
        raise Wrong("moved-by-forward", "the generator where `f` alone leaves it", "elsewhere", why=why, look=look)


# --- 9 -------------------------------------------------------------------------------------------


@chapter.exercise(
    "In segments",
    kind="write",
    points=4,
    off={"again": "what is alive is counted, and a first result would be"},
    beliefs=("M42", "M46"),
    hints=(
        "n / k layers make a segment: a function that runs these layers on what it is given.",
        "`mg.utils.checkpoint.checkpoint(segment, x, use_reentrant=False)`, in a loop over the segments.",
        "A function made in a loop sees the loop's names as they are later, when it runs again: give it its layers as "
        "an argument, `checkpoint(segment, x, part, use_reentrant=False)`.",
    ),
    idea="A loop over slices of n // k layers, and a checkpoint for each; its function gets the slice as an argument.",
)
def segments(answer):
    kit.a_function(answer)
    for n, k in ((16, 4), (6, 2), (4, 1), (4, 4), (12, 3), (120, 10)):
        with mg.random.fork_rng():
            _check_segments(answer, n, k)
    return "k ends and one segment at a time: at k = √n that is the least, for one forward more."


class _Layers:
    """Layers with weights that may draw random numbers; they note which run, what they draw, and whose results live."""

    def __init__(self, count, draw):
        self.weights = [tools.leaf([0.5 + 0.1 * (i % 12), 1.5 - 0.05 * (i % 12)]) for i in range(count)]
        self.drawn, self.order, self.recorded = [[] for _ in self.weights], [], True
        self.arrays, self.most, self.draw = [], 0, draw

    def layer(self, i):
        def layer(t):
            self.order.append(i)
            self.recorded &= mg.is_grad_enabled()
            self.drawn[i].append(0.1 * self.draw(t))
            result = mg.tanh(t * self.weights[i] + self.drawn[i][-1])
            self.arrays.append(weakref.ref(result.detach().numpy()))
            self.most = max(self.most, self.alive())
            return result

        return layer

    def alive(self):
        return sum(array() is not None for array in self.arrays)


_SEGMENTS_ERRORS = tools.reasons("""
no-option: use_reentrant
    Pass `use_reentrant=False`: PyTorch's other variant misses the weights of the first segment, and here there is none.
    look: the arguments of `checkpoint`
""")


def _check_segments(answer, n, k):
    draw = _drawn if n < 16 else mg.zeros_like  # an answer without end, which is stopped, may go on: it draws nothing
    layers, x = _Layers(n, draw), tools.constant([0.8, -0.3])
    functions, copies = list(map(layers.layer, range(n))), [one.detach().requires_grad_() for one in layers.weights]
    with mg.random.fork_rng():
        numbers = [0.1 * draw(x) for _ in functions]
    right = functools.reduce(lambda t, i: mg.tanh(t * copies[i] + numbers[i]), range(n), x)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*use_reentrant")
        expected = f"what {n} layers make of `x`, in {k} segments"
        y = tools.result(tools.called(answer, (functions, x, k), expected, *_SEGMENTS_ERRORS))
    if len(layers.order) > len(set(layers.order)):
        expected, got = "one run of each layer in forward", f"the layers {layers.order}, counted from 0"
        raise Wrong("other-runs", expected, got, look="how often a layer is called before backward")
    drawn = [mine[0] for mine in layers.drawn if mine]
    if layers.order == list(range(n)) and not all(map(tools.same, drawn, numbers)):
        why = "Without your function the layers draw other random numbers from where the generator is."
        expected, look = "what the layers draw one after the other", "each line that sets the generator"
        raise Wrong("generator-set", expected, "other numbers", why=why, look=look)
    tools.refuse_other_values(y, tools.array(right), "the result of all layers", "which layers run, and on what")
    held = layers.alive()
    _check_weights(answer, y, layers, mg.autograd.grad(right.sum(), copies))
    _check_lengths(layers, held, n, k)
    del y
    if layers.alive():
        why = "Results are kept somewhere after the last name of yours is gone."
        got, look = f"{layers.alive()} results are alive", "each list and name that outlives your function"
        raise Wrong("kept", "no result alive when it is not needed any more", got, why=why, look=look)


def _check_lengths(layers, held, n, k):
    """Whether there are k segments under checkpoints, and each is as long as the others."""
    runs, again, size = [layers.order.count(i) for i in range(n)], layers.order[n:], n // k
    starts = {now for before, now in zip([n, *again], again, strict=False) if now != before + 1}
    if held >= n and k < n and not again:
        why = "All results are still there after forward, and backward ran nothing again: no checkpoint at work."
        raise Wrong("no-checkpoint", f"{k} results after forward", f"{held}", why=why, look="each call of `checkpoint`")
    if max(runs) > 2:
        why = "A layer runs more than once in backward, as where its checkpoint is inside another one."
        look = "what each checkpoint runs"
        raise Wrong("nested", "two runs of each layer at most", f"{max(runs)}", why=why, look=look)
    if held > k:
        why = f"With k = {k} the end of each segment is alive after forward, and no more."
        why += f" Layer {runs.index(1)} did not run again in backward, as without a checkpoint." if 1 in runs else ""
        look = "which layers run under a checkpoint, how many layers a segment has, and what else keeps results"
        raise Wrong("too-many", f"results after forward: {k}", f"{held}", why=why, look=look)
    if layers.most > k + size:
        belief = "M46" if held == 1 and len(starts) == 1 else ""
        why = "In forward or in backward too many results are alive at once."
        got, look = f"{layers.most}", "how many layers each checkpoint runs again, and what else keeps results"
        raise Wrong("too-few", f"at most {k + size} results at once", got, belief=belief, why=why, look=look)
    if any(start % size for start in starts):
        got = f"backward begins to run layers again at {sorted(starts)}, counted from 0"
        look = "where each segment begins, and how many layers it has"
        raise Wrong("unequal", f"segments of {size} layers", got, look=look)


_UNRECORDED = "Layers ran unrecorded, as in a Function: it is recorded if an argument requires grad, and `x` is data."


def _check_weights(answer, y, layers, slopes):
    switches = _names_in(answer) & {"no_grad", "inference_mode", "set_grad_enabled"}
    unrecorded = not layers.recorded and not switches
    try:
        y.sum().backward()
    except Exception as error:
        got = kit.sandbox.describe_error(error)
        unrecorded &= "does not require grad" in got
        look = "whether a segment can run twice, what is cut, and whether the checkpoint records: `use_reentrant=False`"
        why, belief = _UNRECORDED * unrecorded, "M42" * unrecorded
        raise Wrong("no-way-back", "a gradient for each weight", got, belief=belief, why=why, look=look) from None
    for i, (weight, right) in enumerate(zip(layers.weights, slopes, strict=True)):
        if weight.grad is None:
            why = _UNRECORDED if unrecorded else "No way leads from the result to these weights."
            got, look = f"None for layer {i}", "what goes from one layer to the next, and what is recorded"
            belief = "M42" * unrecorded
            raise Wrong("weights-missed", "a gradient for each weight", got, belief=belief, why=why, look=look)
        wanted, came = tools.array(right), tools.array(weight.grad)
        if not kit.same_arrays(came, wanted, 1e-5):
            if all(len(both) == 2 for both in layers.drawn) and not all(one.equal(two) for one, two in layers.drawn):
                why = "Layers that draw random numbers drew others when they ran again."
                look = "the arguments of `checkpoint`, and what you do with the generator"
                raise Wrong("other-numbers", "the random numbers of the first run", "others", why=why, look=look)
            why = "The value is right. But backward does not compute with what forward had there."
            look = "what backward is given in place of what forward had"
            if len(layers.order) > len(layers.weights):
                look += ", and which layers a segment runs again: a name of the loop may have moved on"
            raise Wrong("other-layers", tools.text(wanted), f"{tools.text(came)}, layer {i}", why=why, look=look)


chapter.lock()
