"""What every function of a learner is tried under, beside the inputs that its own check thought of.

All checks call a learner's function through `kit.call`, and so through `Trial.call` below. It looks at all tensors
that the function can reach, before and after. Whatever was changed is told as what it is, once the check itself has
found nothing. Then the whole check runs again in other circumstances, in all of them at once; where that fails, in each
alone, to tell which it is:

    again       each call is made twice, and the second result is judged
    old grad    every leaf that has no `.grad` has an old one, and keeps it
    added grad  the same where a task adds to it, `off={"old grad": ADDED}`: the check sees what was added
    dtype       float64 is float32, and the other way round
    gaps        the numbers of `tools.leaf` are apart in memory
    modes       the first call is made once more where modes are not the usual ones: they are the same afterwards
    errors      the first call is made with functions that raise: their error comes out
    untracked   the first call is made with untracked copies: they are untracked afterwards
    large       the first call is made with larger numbers: what is given is left as it is for these, too
    views       the first call is made with functions that return views: they are as good as other results
    own leaf    the first call is made with functions that use a tracked leaf of their own: it keeps its `.grad`
    kept        what the first call is given comes once more with one other part: the same function with another tensor,
                or with other numbers in the same one, and another function. What comes is what comes for new ones
    next call   the first call is followed by another one before its result is used: that stays what it is

All are on unless the exercise names one in `off`, with the reason: `off={"grad": "the task is to fill it"}`. What is
looked at is called values, entries, flag, history, grad, grad between, hooks, memory, result grad, result hooks, result
dtype and digits;
"values 0" is about the first argument alone. A mode that is left otherwise has no name: no task asks for it. The class
of a Function is called in many ways and on many kinds of tensors by `functions.check`, so it meets "old grad" and
"dtype" alone; its backward is looked at by `Trial.walk`.
"""

from __future__ import annotations

import contextlib
import inspect
import operator
import re
import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.autograd import saved_tensors
from minigrad.autograd.anomaly_mode import set_detect_anomaly
from minigrad.autograd.dual import dual_levels
from minigrad.autograd.forward_ad import exit_dual_level
from minigrad.viz.lines import last_log

from . import graphs
from .sandbox import TimeUp, clip, describe_error, show

CIRCUMSTANCES = {
    "again": "It is right when it is called once. Called a second time, it is not.",
    "old grad": "It is right where no leaf has a `.grad`. Here each leaf had an old one, of an earlier backward.",
    "added grad": "It is right where no leaf has a `.grad`. Here each had one, of ones, before the call. Where the "
    "`.grad` of a leaf is shown, expected or came, 1 is taken off.",
    "dtype": "It is right for other float types. Here what was float64 is float32, and the other way round.",
    "gaps": "It is right for a tensor that is in one piece. Here the numbers of the leaves are apart in memory.",
}
_LOOKS = {
    "again": "what is left from the first call: a default argument, a global name, a hook, a `.grad`, a freed graph",
    "old grad": "each `backward()`, and each line that reads, sets or clears a `.grad`",
    "added grad": "each line that reads, sets or clears a `.grad`",
    "dtype": "each tensor that your function makes: which dtype it has",
    "gaps": "each line that relies on the layout in memory",
}
_AT_ONCE = {
    "again": "a second call",
    "old grad": "an old `.grad` on each leaf",
    "added grad": "a `.grad` on each leaf",
    "dtype": "the other float type",
    "gaps": "leaves that are apart in memory",
}
_TENSOR: Any = mg.Tensor
_GRAD: Any = vars(mg.Tensor)["grad"]
ADDED = "the gradient is added to what is in `.grad`"
_MOST_NODES, _MOST_NUMBERS = 300, 10_000  # a larger graph or tensor is not looked at: checks have to stay quick


class Found(Exception):
    """Something that a function changed; `kit` makes a diagnosis of it."""

    def __init__(self, code: str, expected: str, got: str, why: str, look: str) -> None:
        super().__init__(code)
        self.parts = {"code": code, "expected": expected, "got": got, "why": why, "look": look}
        self.given = ""  # what the function was called with when this was found

    @property
    def misleads(self) -> bool:
        """Whether what a check expects may be computed from numbers, a flag or hooks that this has changed."""
        code = self.parts["code"]
        return code in ("flag-changed", "hooks-changed") or (
            code == "values-changed" and "keeps its numbers" in self.parts["expected"]
        )

    def is_told_by(self, verdict: Any) -> bool:
        """Whether a check's own diagnosis speaks of such a change."""
        said = " ".join((verdict.expected, verdict.got, verdict.why))
        of_a_flag = re.search(r"requires_grad|requires grad|track|leaf|history", said)
        of_hooks = self.parts["code"] == "hooks-changed" and re.search("hook|retain", said) is not None
        of_values = self.parts["code"] == "values-changed" and "has written into your caller's" in said
        told = "changed" in verdict.code or of_values or of_hooks
        return told or (self.parts["code"] == "flag-changed" and of_a_flag is not None)


class Called(BaseException):
    """The one call that was of interest is over; no `except Exception` of a check stops it."""


# --- Modes ---------------------------------------------------------------------------------------

_SAVED_HOOKS = "the number of saved-tensor hooks"
_DUAL_LEVEL = "the level of forward mode"
_DTYPE = "the default dtype"
_LINES = "what notes lines, `mg.viz.lines()`,"
_MODES = {
    "recording": mg.is_grad_enabled,
    "inference mode": mg.is_inference_mode_enabled,
    _DTYPE: mg.get_default_dtype,
    "anomaly mode": mg.is_anomaly_enabled,
    _SAVED_HOOKS: lambda: len(saved_tensors._active.hooks),
    _DUAL_LEVEL: lambda: bool(dual_levels),
    _LINES: lambda: _open_log() is not None,
}


def _open_log() -> Any:
    """What notes lines because of a block that the learner's code has opened, and has not left."""
    log = last_log()
    return log if log is not None and log is not trial.log and log._base is not None and not log.busy else None


def _modes() -> dict[str, Any]:
    return {name: ask() for name, ask in _MODES.items()}


def _set_modes(modes: dict[str, Any]) -> None:
    mg.autograd.grad_mode.set_mode(modes["recording"], modes["inference mode"])
    if mg.get_default_dtype() is not modes[_DTYPE]:
        mg.set_default_dtype(modes[_DTYPE])
    if mg.is_anomaly_enabled() != modes["anomaly mode"]:
        set_detect_anomaly(modes["anomaly mode"])
    while len(saved_tensors._active.hooks) > modes[_SAVED_HOOKS]:
        mg.autograd.graph.saved_tensors_hooks(None, None).__exit__()
    if dual_levels and not modes[_DUAL_LEVEL]:
        exit_dual_level()
    if not modes[_LINES] and (log := _open_log()) is not None:
        log.close()


_NEUTRAL = {
    "recording": True,
    "inference mode": False,
    _DTYPE: mg.float32,
    "anomaly mode": False,
    _DUAL_LEVEL: False,
    _LINES: False,
}


def _refuse_left_modes(before: dict[str, Any], after: dict[str, Any], what: str = "your function") -> None:
    """Say which mode a learner's function, or the backward of a Function, has left behind."""
    for name, was in before.items():
        if after[name] != was:
            was, now = ({True: "on", False: "off"}[one] if type(one) is bool else one for one in (was, after[name]))
            raise Found(
                "mode-left",
                f"{name} is {was} when {what} is over, as it was before",
                f"{name} is {now} from then on",
                f"Whatever comes after {what} finds {name} changed.",
                "where it is set" if name == _DTYPE else "what switches it: a `with` block puts it back",
            )


# --- What a function can reach -------------------------------------------------------------------


def _within(value: Any, name: str, depth: int = 4) -> Iterator[tuple[str, mg.Tensor]]:
    """The tensors in an argument: itself, in a collection, or used by a function."""
    if isinstance(value, mg.Tensor):
        yield name, value
    if depth == 0 or isinstance(value, mg.Tensor):
        return
    for part in parts(value):
        inside = name if " " in name else f"a tensor of {name}"
        yield from _within(part, inside, depth - 1)


def parts(value: Any) -> list:
    """What is in a collection, and what a function uses from outside."""
    if isinstance(value, list | tuple):
        return list(value)
    if type(value) is dict:
        return list(value.values())
    if inspect.ismethod(value):
        return [value.__self__]
    cells = getattr(value, "__closure__", None) if inspect.isfunction(value) else None
    with contextlib.suppress(ValueError):  # a cell that is still empty
        return [cell.cell_contents for cell in cells or ()]
    return []


def _names(function: Callable, count: int) -> list[str]:
    known: list[str] = []
    if type(function) is types.FunctionType:  # much quicker than its signature
        known = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    else:
        with contextlib.suppress(TypeError, ValueError):
            known = [name for name, p in inspect.signature(function).parameters.items() if p.kind < 2]
    return [f"`{name}`" for name in known[:count]] + [f"argument {i + 1}" for i in range(len(known), count)]


@dataclass
class State:
    """One tensor that a function can reach, and what it was before the call."""

    name: str
    position: int
    tensor: mg.Tensor
    values: np.ndarray | None = None
    version: int | None = None
    flag: bool = False
    grad: mg.Tensor | None = None
    grad_values: np.ndarray | None = None
    hooks: int = 0
    dtype: Any = None
    shape: Any = None
    node: Any = None
    address: int = 0

    def __post_init__(self) -> None:
        tensor = self.tensor
        self.address = _address(tensor)
        small = tensor.numel() <= _MOST_NUMBERS
        self.values = tensor.detach().numpy().copy() if small else None
        self.version = None if tensor.is_inference() else tensor._version
        self.flag, self.grad, self.hooks = tensor.requires_grad, _grad(tensor), hooks(tensor)
        self.dtype, self.shape, self.node = tensor.dtype, tensor.shape, tensor._node
        self.grad_values = self.grad.detach().numpy().copy() if self.grad is not None and small else None

    def changed(self) -> Iterator[tuple[str, str, str]]:
        """What is no longer as it was: what was looked at, what was expected, what came."""
        tensor, name = self.tensor, self.name
        overwritten = self.values is not None and not _same(tensor, self.values)
        if overwritten:
            now = f"it holds {_short(tensor)}"
            if _short(self.values) == _short(tensor):
                same_type = self.values is not None and tensor.detach().numpy().dtype == self.values.dtype
                now += ", with a difference that is not shown here" if same_type else f", as {tensor.dtype}"
            yield "values", f"{name} keeps its numbers, {_short(self.values)}", now
        if tensor.requires_grad != self.flag:
            yield "flag", f"`requires_grad` of {name} is {self.flag}, as before", f"it is {tensor.requires_grad}"
        elif not overwritten and tensor._node is not self.node:
            yield "history", f"{name} keeps its `grad_fn`", f"it is {'a leaf now' if tensor.is_leaf else 'another one'}"
        elif not overwritten and self.version is not None and tensor._version != self.version:
            yield (
                "values",
                f"no operation in place on {name}, or on what shares its memory",
                "there was one, after which the numbers are the same",
            )
        elif not overwritten and _address(tensor) != self.address:
            yield "values", f"{name} keeps its memory", "the same numbers in other memory"
        grad = _grad(tensor)
        if grad is not self.grad:
            same = grad is not None and self.grad_values is not None and _same(grad, self.grad_values)
            now = "another tensor with the same numbers" if same else _short(grad)
            was = _short(self.grad if self.grad_values is None else self.grad_values)  # it may be overwritten by now
            yield "grad", f"`.grad` of {name} is left alone", f"it was {was}, and is {now}"
        elif grad is not None and self.grad_values is not None and not _same(grad, self.grad_values):
            now = f"it was {_short(self.grad_values)}, and is {_short(grad)}"
            yield "grad", f"`.grad` of {name} is left alone", now
        if (tensor.dtype, tensor.shape) != (self.dtype, self.shape):
            expected = f"{name} is a tensor of {self.dtype} and shape {tuple(self.shape)}, as before"
            yield "dtype", expected, f"it is one of {tensor.dtype} and shape {tuple(tensor.shape)}"
        if hooks(tensor) > self.hooks:
            yield "hooks", f"no hook stays on {name}, and no `retain_grad()`", "your function has put one there"


def _address(tensor: mg.Tensor) -> int:
    return tensor._array.__array_interface__["data"][0]


def _grad(tensor: mg.Tensor) -> mg.Tensor | None:
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def _same(tensor: mg.Tensor, values: np.ndarray) -> bool:
    now = tensor.detach().numpy()
    return now.shape == values.shape and now.dtype == values.dtype and np.array_equal(now, values, equal_nan=True)


def _short(value: Any) -> str:
    if value is None:
        return "None"
    return clip(text(value.detach().numpy() if isinstance(value, mg.Tensor) else value), 70)


def text(values: Any) -> str:
    """Numbers as a learner would write them."""
    return str(np.vectorize(lambda number: float(f"{number:.7g}"), otypes=[float])(values).tolist())


def hooks(tensor: mg.Tensor) -> int:
    """How many hooks a leaf has, and whether a result has been asked to keep its gradient."""
    meta = tensor._meta
    return 0 if meta is None else tensor.retains_grad + sum(len(one) for one in (meta.hooks, meta.post_hooks) if one)


def _marks(node: Any) -> int:
    """How many hooks and marks a node has; of what a learner sees as a node, and of one that is a node itself."""
    hooks = getattr(getattr(node, "_node", node), "_hooks", None)
    if hooks is None:
        return 0
    several = sum(len(one) for one in hooks.tensor_hooks.values())
    marks = hooks.metadata.keys() - {"traceback_", "parent_"}  # which anomaly mode leaves on each node
    return several + sum(map(len, (hooks.retained, hooks.pre_hooks, hooks.post_hooks, marks)))


@dataclass
class Collection:
    """A list or dict that a function is given, and what was in it before the call."""

    name: str
    position: int
    given: list | dict
    entries: list = field(default_factory=list)
    shown: str = ""

    def __post_init__(self) -> None:
        self.entries = self._now()
        self.shown = show(self.given, 70)

    def _now(self) -> list:
        pairs = self.given.items() if isinstance(self.given, dict) else zip(self.given, strict=True)
        return [part for pair in pairs for part in pair]

    def changed(self) -> Iterator[tuple[str, str, str]]:
        now = self._now()
        places = [i for i, (one, other) in enumerate(zip(now, self.entries, strict=False)) if one is not other]
        if len(now) != len(self.entries) or places:
            other = "another number of them" if len(now) != len(self.entries) else "another object among them"
            same = f", with {other}" if show(self.given, 70) == self.shown else ""
            yield "entries", f"{self.name} keeps its entries, in their order: {self.shown}", show(self.given, 70) + same


@dataclass
class Graph:
    """The nodes behind what a function is given, and how many hooks and marks each had."""

    name: str
    position: int
    nodes: list
    marks: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes = self.nodes[:_MOST_NODES]
        self.marks = list(map(_marks, self.nodes))

    def changed(self) -> Iterator[tuple[str, str, str]]:
        if any(map(operator.gt, map(_marks, self.nodes), self.marks)):
            yield (
                "hooks",
                f"no hook and no mark stays on the graph behind {self.name}",
                "your function has put one there",
            )


def _others(named: list[tuple[str, Any]]) -> list[Collection | Graph]:
    """The collections and the graphs among the arguments."""
    found: list[Collection | Graph] = []
    for position, (name, value) in enumerate(named):
        if type(value) in (list, dict):
            found.append(Collection(name, position, value))
        roots = [value] if isinstance(value, mg.autograd.graph.Node) else []
        roots += [tensor.grad_fn for _, tensor in _within(value, name) if tensor.grad_fn is not None]
        if roots:
            found.append(Graph(name, position, graphs.nodes_behind(*roots)))
    return found


def _states(named: list[tuple[str, Any]]) -> list[State]:
    """The tensors among the arguments and in them, and the leaves behind these."""
    found: dict[int, State] = {}
    for position, (name, value) in enumerate(named):
        for inside, tensor in _within(value, name):
            state = found.setdefault(id(tensor), State(inside, position, tensor))
            state.name = name if tensor is value else state.name
            behind = graphs.leaves(tensor) if tensor.grad_fn is not None else ()
            for leaf in behind:
                found.setdefault(id(leaf), State(f"a leaf behind {inside}", position, leaf))
    return list(found.values())


# --- One check -----------------------------------------------------------------------------------


class Trial(threading.local):
    """What is going on in this thread: the exercise's `off`, the circumstances, and what was found so far."""

    def __init__(self) -> None:
        self.running = False
        self.circumstances: frozenset[str] = frozenset()
        self.off: dict[str, str] = {}
        self.found: Found | None = None
        self.last: tuple[list[tuple[str, Any]], list[State]] = [], []  # what the last call was given
        self.made_leaf = False  # whether the check has made one by `tools.leaf`
        self.modes: dict[str, Any] = {}  # what they were when the check began
        self.log = last_log()  # of the block of `mg.viz.lines()` that the check may stand in
        self.met: set[str] = set()  # which circumstances can make a difference to what the function was given

    def call(self, function: Callable, inputs: tuple, run: Callable[[], Any]) -> Any:
        """`run()`, which calls a learner's function, and a look at what it has changed."""
        if not self.running:
            return run()
        for name in self.circumstances & _ALONE.keys():
            _ALONE[name](function, inputs)
        named = list(zip(_names(function, len(inputs)), inputs, strict=True))
        states, others, before = _states(named), _others(named), _modes()
        if not self.circumstances:
            self.met |= {"again", *(["dtype"] if states else ()), *(["old grad"] if _lendable(states) else ())}
        self.last = [(name, list(one) if type(one) is list else one) for name, one in named], states
        lent: list[tuple] = []
        added_to: list[tuple[mg.Tensor, mg.Tensor]] = []
        if "dtype" in self.circumstances:  # the default is float64 where a check makes its tensors, and not here
            mg.set_default_dtype(mg.float32)
        modes = _modes()
        try:
            first = run() if "again" in self.circumstances else None
            lent = _lend(states) if "old grad" in self.circumstances else []  # after the first call, which may clear it
            added_to = _add_to(states) if "added grad" in self.circumstances else []
            _TENSOR.grad = _noting(lent) if lent else _GRAD
            result = run()
        finally:
            _TENSOR.grad = _GRAD
            changed, after = _take_back(lent), _modes()
            _subtract(added_to)
            _set_modes(before)
            if not isinstance(sys.exc_info()[1], TimeUp):
                _refuse_left_modes(modes, after)
        if changed and self._asked("grad", changed[0]):
            raise _of_change(*changed[1])
        if _is_same_again(first, result, inputs, states):
            got = "something that the second call returned is the same object, or in the same memory"
            raise _of_change("first result", "a new result from each call", got)
        if self.found is None or not self.found.misleads:
            found = self._first_change([*states, *others], result)
            if found and (self.found is None or found.misleads):
                self.found, found.given = found, self.given()
        return result

    def walk(self, names: list[str], inputs: tuple, go_backward: Callable[[], Any]) -> Any:
        """`go_backward()`, which runs the backward of a learner's Function, and a look at what it has changed."""
        if not self.running:
            return go_backward()
        named, before = list(zip(names, inputs, strict=False)), _modes()
        states = _states(named)
        lent = _lend(states) if "old grad" in self.circumstances else []
        try:
            result = go_backward()
        finally:
            changed, after = _take_back(lent), _modes()
            _set_modes(before)
        self.last = (named, states) if named else self.last
        _refuse_left_modes(before, after, "your backward")
        found = _of_change(*changed[1]) if changed else self._first_change(states, None)
        if found and found.misleads:
            raise found
        if found and self.found is None:
            self.found, found.given = found, self.given()
        return result

    def changed_by(self, names: list[str], inputs: tuple, call: Callable[[], Any]) -> Found | None:
        """The first change that a call makes to what it is given, whether it raises or not."""
        states = _states(list(zip(names, inputs, strict=False)))
        with contextlib.suppress(Exception):
            call()
        return self._first_change(states, None)

    def note_rounded(self, came: np.ndarray, wanted: np.ndarray) -> None:
        """Note numbers that a check takes for right, and that have fewer digits than float64 has."""
        if not self.running or self.found or "digits" in self.off:
            return
        if all(state.tensor.dtype is not mg.float64 for state in self.last[1]):
            return
        if came.dtype == np.float64 and not np.allclose(came, wanted, 1e-9, 1e-12):
            off = np.abs(came - wanted).max()
            self.found = Found(
                "rounded", "numbers as exact as float64 has them", f"some are off, by {off:.1g}", *ROUNDED
            )
            self.found.given = self.given()

    def forget_last(self) -> None:
        """Say nothing of the last call: what is found now is about an earlier one."""
        self.last = [], []

    def given(self) -> str:
        """What the last call was given, as it was before the call, and small enough to read."""
        named, states = self.last
        before = {id(state.tensor): state.values for state in states if state.values is not None}

        def shown(value: Any) -> str:
            if type(value) in (list, tuple) and any(isinstance(one, mg.Tensor) for one in value):
                return clip(f"[{', '.join(map(shown, value[:20]))}]", 70)
            return _short(before[id(value)]) if id(value) in before else show(value, 70)

        ours = "exercises."  # a stand-in of a check, which says nothing to a learner
        known = [pair for pair in named if not (callable(pair[1]) or type(pair[1]).__module__.startswith(ours))]
        return clip(", ".join(f"{name} = {shown(value)}" for name, value in known), 160)

    def _first_change(self, states: list, result: Any) -> Found | None:
        changes = [(state, change) for state in states for change in state.changed()]
        found = [_of_change(*change) for state, change in changes if self._asked(change[0], state)]
        if found:
            return next((one for one in found if one.misleads), found[0])
        for _, made in _within(result, "the result"):
            fault = self._fault_of_result(made, states)
            if fault:
                return fault
        return None

    def _asked(self, what: str, state: Any) -> bool:
        return what not in self.off and f"{what} {state.position}" not in self.off

    def _fault_of_result(self, made: mg.Tensor, states: list[State]) -> Found | None:
        array = made.detach().numpy()
        for state in (one for one in states if isinstance(one, State)):
            if "memory" in self.off or made is state.tensor or not array.size:
                continue
            if np.shares_memory(array, state.tensor.detach().numpy()):
                return _of_change("memory", f"a result in memory of its own, not in that of {state.name}", show(made))
        tensors = [one.tensor for one in states if isinstance(one, State)]
        is_new = made.is_leaf and all(made is not tensor for tensor in tensors)
        if is_new and made.grad is not None and not self.circumstances and "result grad" not in self.off:
            got = f"one whose `.grad` is {_short(made.grad)}"
            return _of_change("result grad", "a new leaf, without a `.grad`", got)
        is_made = all(made is not tensor for tensor in tensors) and not self.circumstances
        if is_made and "result hooks" not in self.off and (hooks(made) or _marks(made.grad_fn)):
            return _of_change(
                "result hooks", "a result without hooks and `retain_grad()`", "your function has put one there"
            )
        types = {tensor.dtype for tensor in tensors if tensor.is_floating_point()}
        if "result dtype" not in self.off and len(types) == 1 and made.is_floating_point() and made.dtype not in types:
            return _of_change("result dtype", f"a result of {next(iter(types))}, as what is given", f"{made.dtype}")
        return None


trial = Trial()


ROUNDED = (
    "What is given has float64, with sixteen digits. Some are lost, or made up, on the way.",
    "each number that is rounded or added, each difference in place of a derivative, and each tensor or array that may "
    "be float32, as one that is made without a dtype",
)
_KEPT = (
    "Your function was called before, with part of what is given here. For what is all new it gives another result.",
    "what is kept from one call to the next, and for what: a dict, a cache, a graph, an `id`",
)
_NEXT_CALL = (
    "Your function is called once more before its result is used. After that the first result, or a backward from it, "
    "is not what it was without that call.",
    "what the next call sets anew, and a result or a hook still uses: a global name, a tensor that is made once",
)
_VIEWS = (
    "A function may return a view, as `reshape` and an index do. Some operations refuse one.",
    "each operation that ends in `_`, on what it returns",
)
_SWALLOWED = (
    "Whoever called your function does not hear of the error.",
    "each `except`: which errors it is for, and whether it raises them again",
)
_WHY = {
    "entries": "The task does not ask to change what is given, and this is the caller's own list or dict.",
    "first result": "What happens to the result of one call happens to that of the other, too.",
    "values": "The task does not ask to change these numbers. Whoever holds them sees other ones from now on.",
    "flag": "The task does not ask to change this `requires_grad`: from now on operations on this tensor are recorded "
    "otherwise.",
    "history": "The task does not ask to change the history of what is given: backward goes another way from now on.",
    "grad": "The task does not ask to touch this `.grad`, which belongs to whoever called your function.",
    "hooks": "The task does not ask for it, and it stays there when your function is over.",
    "dtype": "The task may change its numbers. Whoever holds it goes on with another kind of tensor.",
    "memory": "The result shares its numbers with what is given: writing into one of them changes the other.",
    "result grad": "The task does not ask for it. Whoever goes backward later adds to what is there.",
    "result hooks": "The task does not ask for it. It stays on the result, and runs in each backward of the caller.",
    "result dtype": "What is given has one dtype, and the result has another.",
}
_CHANGES = {f"{what.replace(' ', '-')}-changed" for what in _WHY}
_COUNTED = "The task does not ask for it, and it is counted: a graph that has saved this tensor refuses its backward."
_MOVED = (
    "The task does not ask for it. What shared memory with it, as a view does, no longer sees what is written to it."
)
_LOOK_AT = {
    "entries": "each `append`, `pop`, `sort`, `reverse` and each assignment to an entry: of which list?",
    "first result": "where it is made: in the function, or once for all calls?",
    "values": "each operation that ends in `_`, each `+=` and its like, and each assignment to `.data` or an entry",
    "flag": "each `requires_grad_`, each assignment to `requires_grad`, and each `detach_()`",
    "history": "each `detach_()`, and each operation that ends in `_`",
    "grad": "each `backward()`, and each line that sets or clears a `.grad`",
    "hooks": "each `register_hook`, `retain_grad` and mark: what takes it back?",
    "dtype": "each assignment to `.data`, and what is assigned",
    "memory": "what the result is made from: a view, `detach()` and `.data` share memory, `clone()` does not",
    "result grad": "each `backward()`, and each line that sets a `.grad`",
    "result hooks": "each `register_hook`, `retain_grad` and mark",
    "result dtype": "each tensor that your function makes itself, and each `.float()` or `.double()`",
}


def _of_change(what: str, expected: str, got: str) -> Found:
    counted, moved = expected.startswith("no operation in place"), expected.endswith("keeps its memory")
    why = _COUNTED if counted else _MOVED if moved else _WHY[what]
    return Found(f"{what.replace(' ', '-')}-changed", expected, got, why, _LOOK_AT[what])


def _is_same_again(first: Any, result: Any, inputs: tuple, states: list[State]) -> bool:
    """Whether a second call returned what the first one did, and not what is given; of a tuple, a constant in it."""
    if type(first) is tuple and type(result) is tuple:
        pairs = [pair for pair in zip(first, result, strict=False) if not getattr(pair[0], "requires_grad", True)]
        return any(_is_same_again(*pair, inputs, states) for pair in pairs)
    if _is_given(result, inputs, states) or not isinstance(result, list | dict | mg.Tensor):
        return False
    return first is result or _share(first, result)


def _is_given(result: Any, inputs: tuple, states: list[State]) -> bool:
    """Whether a result is one of what was given, or in its memory."""
    tensors = [state.tensor for state in states]
    return any(result is one for one in (*inputs, *tensors)) or any(_share(result, one) for one in tensors)


def _share(one: Any, other: Any) -> bool:
    both = isinstance(one, mg.Tensor) and isinstance(other, mg.Tensor)
    return both and np.shares_memory(one.detach().numpy(), other.detach().numpy())


def _call_in_other_modes(function: Callable, inputs: tuple) -> None:
    """Call a function where modes are not the usual ones. It may raise, as many do in `no_grad`, and leaves them so."""
    before = _modes()
    unusual: dict[str, dict[str, Any]] = {
        "a call inside of `no_grad`": {"recording": False},
        "a call where the default dtype is float64, in anomaly mode": {_DTYPE: mg.float64, "anomaly mode": True},
    }
    for said, modes in unusual.items():
        try:
            _set_modes(before | modes)
            with contextlib.suppress(Exception):
                function(*inputs)
            _refuse_left_modes(modes, _modes())
        except Found as found:
            trial.found, found.given = found, said
            raise Called from None
        finally:
            _set_modes(before)
    raise Called


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, mg.autograd.graph.Node)


class _OnPurpose(Exception):
    """The error of a function that a learner's function is given."""


def _call_with_errors(function: Callable, inputs: tuple) -> None:
    """Call a function with one that raises in place of each that it is given in turn: the error has to come out.

    It raises at its first call, then at its second: by then a mode may be another one.
    """
    calls = [0]

    def fails(given: Any, at: int) -> Callable:
        def called(*arguments, **options):
            calls[0] += 1
            if calls[0] == at:
                raise _OnPurpose("this is an error")
            return given(*arguments, **options)

        return called

    for i, (name, given) in enumerate(zip(_names(function, len(inputs)), inputs, strict=True)):
        several = given if type(given) is list else [given]
        if not several or not all(map(_is_function, several)):
            continue
        for at, said in ((1, "an error"), (2, "an error when it is called again")):
            said = f"a function for {name} that raises {said}"
            calls[0] = 0
            failing = [fails(one, at) for one in several]
            before = _modes()
            try:
                result = function(*inputs[:i], failing if several is given else failing[0], *inputs[i + 1 :])
            except Exception:
                if _left_after_an_error(before, said):
                    raise Called from None
                continue
            if calls[0] < at:
                break
            expected, got = f"an error that comes from {name} goes on to the caller", f"no error, but {show(result)}"
            trial.found = Found("error-swallowed", expected, got, *_SWALLOWED)
            trial.found.given = said
            raise Called
    raise Called


def _left_after_an_error(before: dict[str, Any], said: str) -> bool:
    """Whether a function that ended in an error of the function it was given has left a mode behind; it is noted."""
    try:
        _refuse_left_modes(before, _modes())
    except Found as found:
        trial.found, found.given = found, said
        _set_modes(before)
        return True
    return False


def _untracked(value: Any) -> Any:
    """An untracked copy of a tensor, or of a list of tensors; anything else as it is."""
    if type(value) in (list, tuple):
        return type(value)(map(_untracked, value))
    return value.detach().clone() if isinstance(value, mg.Tensor) else value


def _large(value: Any) -> Any:
    """A copy of a tensor with numbers a thousand times as large; anything else as it is."""
    if not isinstance(value, mg.Tensor) or not value.is_floating_point():
        return value
    made = _copied(value, 1e3)
    made.grad = None if value.grad is None else _copied(value.grad, 1e3)
    return made


def _call_untracked(function: Callable, inputs: tuple) -> None:
    """Call a function with untracked copies: they are untracked afterwards, and have their numbers."""
    _refuse_changed_copies(function, tuple(map(_untracked, inputs)), ("flag", "values"), "an untracked tensor for {}")


def _call_with_large(function: Callable, inputs: tuple) -> None:
    """Call a function with larger numbers: what it is given is left as it is for these, too."""
    if any(map(_is_function, inputs)):  # it may go on until they are small
        raise Called
    _refuse_changed_copies(function, tuple(map(_large, inputs)), (), "a thousand times as much for {}", tuple(_WHY))


def _refuse_changed_copies(function: Callable, copies: tuple, looked_at: tuple, said: str, also: tuple = ()) -> None:
    """Call a function with copies, and look at these changes of them; `also` counts where it raises nothing."""
    named = enumerate(zip(_names(function, len(copies)), copies, strict=True))
    depths = [0 if callable(one) else 1 for one in copies]  # what a function holds is no copy
    states = [State(name, i, one) for i, (given, all) in named for name, one in _within(all, given, depths[i])]
    with contextlib.suppress(Exception), np.errstate(all="ignore"):
        function(*copies)
        looked_at += also
    for state in states:
        for what, expected, got in state.changed():
            if what in looked_at and trial._asked(what, state):
                trial.found = _of_change(what, expected, got)
                trial.found.given = said.format(state.name)
                raise Called
    raise Called


def _call_with_views(function: Callable, inputs: tuple) -> None:
    """Call a function with functions that return views: it raises nothing, for it raises nothing for others."""
    if not any(map(_is_function, inputs)):
        raise Called

    def viewing(given: Callable) -> Callable:
        def called(*arguments, **options):
            made = given(*arguments, **options)
            return made[...] if isinstance(made, mg.Tensor) else made

        return called

    try:
        function(*(viewing(one) if _is_function(one) else one for one in inputs))
    except Exception as error:
        if "view" in str(error):  # others come from what is looked at, such as the name of the function
            trial.found = Found("views", "a result, as where it is no view", describe_error(error), *_VIEWS)
            trial.found.given = "a function that returns a view"
    raise Called


def _call_with_own_leaves(function: Callable, inputs: tuple) -> None:
    """Call a function with functions that use a leaf which it is not given: that one's `.grad` is left alone, too."""
    if any(re.match("grad(?! between)|old grad", what) for what in trial.off):  # for that, the task may use `backward`
        raise Called
    states: list[State] = []

    def with_a_leaf(given: Callable, i: int, name: str) -> Callable:
        leaf = mg.tensor(1.0, requires_grad=True)
        states.append(State(f"a leaf that {name} uses, and that is not given,", i, leaf))

        def scaled(*arguments, **options):
            made = given(*arguments, **options)
            return made * leaf if isinstance(made, mg.Tensor) else made

        return scaled

    named = enumerate(zip(_names(function, len(inputs)), inputs, strict=True))
    others = [with_a_leaf(one, i, name) if _is_function(one) else one for i, (name, one) in named]
    lent = _lend(states)
    with contextlib.suppress(Exception):
        function(*others)
    changed = _take_back(lent)
    if changed:
        trial.found = _of_change(*changed[1])
        trial.found.given = "a function that uses such a leaf"
    raise Called


def _places(inputs: tuple) -> tuple[int, int] | None:
    """Where a function, and a leaf or a number that it may be called with, stand among the inputs."""
    functions = [i for i, one in enumerate(inputs) if _is_function(one)]
    numbers = [i for i, one in enumerate(inputs) if type(one) is float or (isinstance(one, mg.Tensor) and _fits(one))]
    return (functions[0], numbers[0]) if functions and numbers else None


def _fits(tensor: mg.Tensor) -> bool:
    return tensor.is_leaf and tensor.is_floating_point() and 0 < tensor.numel() <= _MOST_NUMBERS


def _call_with_others(function: Callable, inputs: tuple) -> None:
    """Call a function with what it knows from an earlier call, but for one part: what comes is as for new ones."""
    places = _places(inputs)
    if places is None or "again" in trial.off:
        raise Called
    names = [_names(function, len(inputs))[place] for place in places]
    given, start = (inputs[place] for place in places)
    for power in (1, 3):
        f = lambda *x, power=power: given(*x) ** power  # noqa: E731
        other = lambda *x, f=f: f(*x) * f(*x) + f(*x)  # noqa: E731
        known = _copied(start)
        _numbers_of(function, inputs, places, f, known)
        longer = _copied(start, 0.5, longer=True)
        changed = f"{names[1]} with other numbers than before, and the same {names[0]}"
        for said, g, x in (
            (f"another {names[1]} than before, and the same {names[0]}", f, longer),
            (f"another {names[0]} than before, and the same {names[1]}", other, known),
            (changed, f, known),
        ):
            if said is changed and isinstance(x, mg.Tensor):
                x.detach().numpy()[...] *= 0.5
            wanted = _numbers_of(function, inputs, places, lambda *x, g=g: g(*x), _copied(x))
            came = _numbers_of(function, inputs, places, g, x)
            if wanted is not None and (came is None or not _alike(came, wanted)):
                got = "an error" if came is None else _short(came)
                trial.found = Found("kept", f"{_short(wanted)}, as when both are new", got, *_KEPT)
                trial.found.given = f"{names[1]} = {_short(x)}: {said}"
                raise Called
    raise Called


def _call_twice_before_backward(function: Callable, inputs: tuple) -> None:
    """Call a function twice, and use the first result then: it is as if there had been no second call."""
    if "again" in trial.off:
        raise Called

    def again(factor: float) -> tuple:
        return tuple(_copied(one, factor) if isinstance(one, mg.Tensor) and _fits(one) else one for one in inputs)

    def numbers(result: Any, sources: tuple) -> list[np.ndarray]:
        """What is in a result, and the gradients that come back from it."""
        made = [tensor for _, tensor in _within(result, "the result")]
        roots = [tensor for tensor in made if tensor.requires_grad and tensor.is_floating_point()]
        leaves = [one for one in sources if isinstance(one, mg.Tensor) and one.requires_grad]
        starts = [mg.ones_like(root) for root in roots]
        came = mg.autograd.grad(roots, leaves, starts, allow_unused=True) if roots and leaves else ()
        return [tensor.detach().numpy().copy() for tensor in (*made, *came) if tensor is not None]

    with contextlib.suppress(Exception):
        alone, first, other = again(1.0), again(1.0), again(0.5)
        wanted = numbers(function(*alone), alone)
        result = function(*first)
        function(*other)
        try:
            came = numbers(result, first)
        except Exception as error:
            came, got = [], describe_error(error)
        else:
            got = ", ".join(map(_short, came))
        if len(came) != len(wanted) or not all(map(_alike, came, wanted)):
            trial.found = Found("next-call", ", ".join(map(_short, wanted)), got, *_NEXT_CALL)
    raise Called


def _copied(x: Any, factor: float = 1.0, longer: bool = False) -> Any:
    """A new leaf with the numbers of this one times a factor, and with twice as many; or such a number."""
    if not isinstance(x, mg.Tensor):
        return x * factor
    values = x.detach().numpy() * x.detach().numpy().dtype.type(factor)
    values = np.concatenate([values, values], -1) if longer and values.ndim else values.copy()
    return mg.tensor(values).requires_grad_(x.requires_grad)


def _numbers_of(function: Callable, inputs: tuple, places: tuple[int, int], *others: Any) -> np.ndarray | None:
    """The numbers that a function returns for inputs of which two are others; None where it raises, or gives none."""
    before, given = _modes(), dict(zip(places, others, strict=True))
    try:
        result = function(*(given.get(i, one) for i, one in enumerate(inputs)))
        several = result if type(result) in (list, tuple) else [result]
        return np.concatenate(
            [np.ravel(one.detach().numpy() if isinstance(one, mg.Tensor) else one) for one in several]
        )
    except Exception:
        return None
    finally:
        _set_modes(before)


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and np.allclose(one, other, 1e-4, 1e-6, equal_nan=True)


# What is asked of the first call, and of no more of the check.
_ALONE = {
    "modes": _call_in_other_modes,
    "errors": _call_with_errors,
    "untracked": _call_untracked,
    "large": _call_with_large,
    "views": _call_with_views,
    "own leaf": _call_with_own_leaves,
    "kept": _call_with_others,
    "next call": _call_twice_before_backward,
}


def _lend(states: list[State]) -> list[tuple]:
    """Give every leaf without a `.grad` an old one, on loan."""
    lent = []
    for state in _lendable(states):
        old = mg.full_like(state.tensor.detach(), 1234.5)
        state.tensor.grad = state.grad = old
        state.grad_values = old.numpy().copy()
        touched: list = []
        hook = state.tensor.register_post_accumulate_grad_hook(touched.append)
        lent.append((state, old, touched, hook))
    return lent


def _noting(lent: list[tuple]) -> property:
    """`Tensor.grad`, which also notes on loan what sets or deletes it."""
    touched = {id(state.tensor): touched for state, _, touched, _ in lent}

    def set_it(tensor: mg.Tensor, value: Any) -> None:
        touched.get(id(tensor), []).append(True)
        _GRAD.fset(tensor, value)

    def delete_it(tensor: mg.Tensor) -> None:
        touched.get(id(tensor), []).append(True)
        _GRAD.fdel(tensor)

    return property(_GRAD.fget, set_it, delete_it)


def _lendable(states: list[State]) -> list[State]:
    """The leaves that have no `.grad`."""
    leaves = [state for state in states if state.tensor.is_leaf and state.tensor.requires_grad]
    return [state for state in leaves if state.tensor.grad is None]


def _take_back(lent: list[tuple]) -> tuple[State, tuple[str, str, str]] | None:
    changed = None
    for state, old, touched, hook in lent:
        hook.remove()
        added = any(one is state.tensor for one in touched)
        between = f"in between {'a backward stored something in it' if added else 'it was set or cleared'}"
        put_back = "grad", f"`.grad` of {state.name} is left alone", between
        changed = changed or next(((state, one) for one in state.changed() if one[0] == "grad"), None)
        if added and old._version:  # in place: a leaf that had none would have one of zeros now
            changed = changed or (state, (*put_back[:2], "something was added to it, and its numbers are the same"))
        touched = touched and "grad between" not in trial.off
        changed = changed or ((state, put_back) if touched and state.tensor.grad is old else None)
        if state.tensor.grad is old:
            state.tensor.grad = state.grad = state.grad_values = None
    return changed


def _add_to(states: list[State]) -> list[tuple[mg.Tensor, mg.Tensor]]:
    """Give every leaf without a `.grad` one of ones; both of each."""
    added = [(state.tensor, mg.ones_like(state.tensor.detach())) for state in _lendable(states)]
    for leaf, ones in added:
        leaf.grad = ones
    return added


def _subtract(added: list[tuple[mg.Tensor, mg.Tensor]]) -> None:
    """Leave in `.grad` what was added to the ones, None where nothing was; minus one, if they were cleared first."""
    for leaf, ones in added:
        grad = mg.zeros_like(leaf.detach()) if leaf.grad is None else leaf.grad.detach()
        untouched = leaf.grad is ones and not ones._version and _same(ones, np.ones_like(ones.numpy()))
        leaf.grad = None if untouched else grad - 1


def circumstances(answer: Any, judge: Callable[[Any], Any], is_wrong: Any) -> Found | None:
    """Run a check that has passed once more, in all circumstances at once; what fails there, in each by itself."""
    try:
        _refuse_left_modes(trial.modes, _modes(), "your code")  # by a backward or a hook that the check itself ran
    except Found as found:
        return found
    met = trial.met | ({"gaps"} if trial.made_leaf else set())
    met &= {"old grad", "dtype"} if isinstance(answer, type) else met
    met |= {"added grad"} if "old grad" in met and trial.off.get("old grad") == ADDED else set()
    names = [name for name in CIRCUMSTANCES if name in met and name not in trial.off]
    together = _fault_in(names, answer, judge, is_wrong) if names else None
    called = "again" in trial.met and not isinstance(answer, type)
    for alone in _ALONE if called else ():
        if together is None and alone not in trial.off:
            together, names = _fault_in([alone], answer, judge, is_wrong), []
    if together is None:
        return None
    trial.found = None
    left = _fault_in([], answer, judge, is_wrong) if names else None  # it was right a moment ago
    if left is not None:
        left.parts |= {"code": "again", "why": CIRCUMSTANCES["again"], "look": _LOOKS["again"]}
        return left
    each = (_fault_in([name], answer, judge, is_wrong) for name in names) if len(names) > 1 else ()
    return next(filter(None, each), together)


def _fault_in(names: list[str], answer: Any, judge: Callable[[Any], Any], is_wrong: Any) -> Found | None:
    """What is wrong with an answer in these circumstances, told as what it is."""
    trial.circumstances = frozenset(names)
    mg.set_default_dtype(mg.float64 if "dtype" in names else mg.float32)
    try:
        judge(answer)
        return trial.found
    except Called:
        return trial.found
    except is_wrong as wrong:
        said, among = wrong.verdict, [name if name in CIRCUMSTANCES else "again" for name in names]
        together = ", ".join(_AT_ONCE[name] for name in among)
        why = f"It is right in each of these alone, and not in all at once: {together}."
        why = CIRCUMSTANCES[among[0]] if len(among) == 1 else why
        why = said.why if said.code in _CHANGES else why
        look = said.look if names == ["dtype"] and not said.got else "; ".join(_LOOKS[name] for name in among)
        found = Found("-".join(among).replace(" ", "-"), said.expected, said.got, why, look)
        found.given = trial.given()
        return found
    finally:
        trial.circumstances = frozenset()
        mg.set_default_dtype(mg.float32)


def watch(off: dict[str, str], check: Callable[[], Any]) -> Any:
    """Run a check and look at every call of a learner's function, in the modes that a check relies on.

    No context manager made of a generator: one that a stopped thread leaves behind is closed later, in another thread.
    """
    before = _modes()
    trial.running, trial.off, trial.found, trial.log = True, off, None, last_log()
    trial.circumstances, trial.made_leaf, trial.met, trial.last = frozenset(), False, set(), ([], [])
    try:
        _set_modes({**_NEUTRAL, _SAVED_HOOKS: before[_SAVED_HOOKS]})
        trial.modes = _modes()
        return check()
    finally:
        _set_modes(before)
        trial.running, trial.found = False, None
