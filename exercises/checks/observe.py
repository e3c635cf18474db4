"""What a learner's function does, seen while it runs or read in its code: no diagnosis says more than was seen."""

from __future__ import annotations

import contextlib
import dis
import re
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import kit, tools
from exercises.checks.adversaries import parts
from minigrad.autograd import engine

# What is put in place of these for a while is taken out by these very ones: a learner's code may be stopped in between,
# and whatever stands there at the moment may be another observer's.
_TENSOR: Any = mg.Tensor
_ENGINE: Any = engine
_WALK = engine.walk
_OWN = {name: vars(mg.Tensor).get(name) for name in ("backward", "data", "detach", "grad", "item", "numpy", "tolist")}
_OWN["__float__"] = vars(mg.Tensor).get("__float__")  # None: it is inherited
_METHODS = {name: getattr(mg.Tensor, name) for name in _OWN}
_DATA: Any = _OWN["data"]
_GRAD: Any = _OWN["grad"]


def _put_back(*names: str) -> None:
    for name in names:
        if _OWN[name] is not None:
            setattr(_TENSOR, name, _OWN[name])
        elif name in vars(_TENSOR):
            with contextlib.suppress(AttributeError):  # another thread has just done it
                delattr(_TENSOR, name)


def _put_all_back() -> None:
    _ENGINE.walk = _WALK
    _put_back(*_OWN)


kit.sandbox.after_a_stop.append(_put_all_back)


def calls_in(function: Callable) -> list[tuple[str, Any]]:
    """The calls that a function makes, as (name, first argument); of what is written in C no argument."""
    found: list[tuple[str, Any]] = []

    def watch(frame, event, called):
        if event == "call":
            code = frame.f_code
            found.append((code.co_name, frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None))
        elif event == "c_call":
            found.append((getattr(called, "__name__", ""), None))

    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


def _run_quietly(function: Callable, *inputs: Any) -> Any:
    """What a function returns, or None where it raises; what it prints is not shown a second time."""
    with contextlib.suppress(Exception), kit.sandbox.quiet():
        return function(*inputs)


def none_read(function: Callable, *inputs: Any) -> str:
    """Whose `.grad` was None, of a "leaf" or a "result", when a function read one for the last time; or ""."""
    found = [""]

    def read(tensor: mg.Tensor) -> Any:
        grad = _GRAD.fget(tensor)
        if kit.sandbox.is_learners(sys._getframe(1).f_code.co_filename):
            found.append("" if grad is not None else "leaf" if tensor.is_leaf else "result")
        return grad

    _TENSOR.grad = property(read, _GRAD.fset, _GRAD.fdel)
    try:
        _run_quietly(function, *inputs)
    finally:
        _put_back("grad")
    return found[-1]


def _with_numbers_off(work: Callable[[], Any]) -> Any:
    """What `work` gives if each number that the learner takes out of a tracked tensor, `x.item()`, is off a bit."""
    takes = ("item", "tolist", "__float__")

    def off(take: Callable) -> Callable:
        def taken(tensor: mg.Tensor) -> Any:
            ours = tensor.requires_grad and kit.sandbox.is_learners(sys._getframe(1).f_code.co_filename)
            return (np.asarray(take(tensor)) * 1.25).tolist() if ours else take(tensor)

        return taken

    for name in takes:
        setattr(_TENSOR, name, off(_METHODS[name]))
    try:
        return work()
    finally:
        _put_back(*takes)


def made_of_numbers(run: Callable[[], list]) -> bool:
    """Whether the numbers that `run` gives change with those that the learner takes out of tracked tensors."""
    with contextlib.suppress(Exception), kit.sandbox.quiet():
        return not all(map(tools.same, run(), _with_numbers_off(run)))
    return False


def takes_numbers(function: Callable, *inputs: Any) -> bool:
    """Whether the one number that a function returns changes with those that it takes out of tracked tensors."""
    return made_of_numbers(lambda: [kit.a_number(function(*inputs))])


def called_noting(walks: list[tuple[bool, bool]], *call: Any) -> Any:
    """`tools.called`, which notes of each walk whether it retains the graph, and whether it is recorded."""

    def walk(seeds, retain_graph, create_graph, *more, **options):
        walks.append((bool(retain_graph), bool(create_graph)))
        return _WALK(seeds, retain_graph, create_graph, *more, **options)

    _ENGINE.walk = walk
    try:
        return tools.called(*call)
    finally:
        _ENGINE.walk = _WALK


def watched(function):
    """The function, which notes what it is `given`, its `results`, and which of them were `tracked`, one by one.

    `walks` is for `called_noting`.
    """

    def noting(value):
        result = function(value)
        noting.given.append(value)
        noting.results.append(result)
        noting.tracked.append(getattr(result, "requires_grad", False))
        return result

    noting.given, noting.results, noting.tracked, noting.walks = [], [], [], []
    return noting


def mentions(function: Any, pattern: str) -> bool:
    """Whether the code of a function, or of one that it uses, has a name or a word in quotes that fits this pattern."""
    names: dict[str, Any] = getattr(function, "__globals__", {})
    waiting, seen = [function], set()
    while waiting:
        one = waiting.pop()
        waiting += parts(one) if isinstance(one, types.FunctionType) else ()
        code = getattr(one, "__code__", one)
        if not isinstance(code, types.CodeType) or code in seen or not kit.sandbox.is_learners(code.co_filename):
            continue
        seen.add(code)
        texts = [text for text in code.co_consts if isinstance(text, str) and text.isidentifier()]
        if any(re.search(pattern, word) for word in (*code.co_names, *texts)):
            return True
        waiting += [*code.co_consts, *map(names.get, code.co_names)]
    return False


def _steps(function: Any) -> list[dis.Instruction]:
    return list(dis.get_instructions(function)) if isinstance(function, types.FunctionType) else []


def sets_flag(function: Any) -> bool:
    """Whether a function sets a `requires_grad`, or calls `requires_grad_()`."""
    sets = any(step.opname == "STORE_ATTR" and step.argval == "requires_grad" for step in _steps(function))
    return sets or mentions(function, "^requires_grad_$")


def only_names(function: Any) -> bool:
    """Whether a function adds or subtracts, and writes into nothing: what it computes can only get a name."""
    computes = any(step.opname == "BINARY_OP" and step.argrepr in ("+", "-") for step in _steps(function))
    computes = computes or mentions(function, "^(add|sub)$")
    in_place = any(step.opname == "BINARY_OP" and step.argrepr.endswith("=") for step in _steps(function))
    sets = any((step.opname, step.argval) == ("STORE_ATTR", "data") for step in _steps(function))
    return computes and not (in_place or sets or mentions(function, "(?<!requires_grad)(?<!detach)(?<!zero)_$"))


def anew(inputs: tuple) -> tuple:
    """The same inputs, with a new leaf for each tensor."""
    copied = lambda one: mg.tensor(one.detach().numpy()).requires_grad_(one.requires_grad)  # noqa: E731
    return tuple(copied(one) if isinstance(one, mg.Tensor) else one for one in inputs)


def calls_of(function: Callable, inputs: tuple, tensor: mg.Tensor) -> set[str]:
    """The methods that a call of a function calls of this one among its inputs, or of others on its memory."""
    with contextlib.suppress(Exception), kit.sandbox.quiet():
        calls = [pair for pair in calls_in(lambda: function(*inputs)) if isinstance(pair[1], mg.Tensor)]
        return {name for name, one in calls if np.shares_memory(one._array, tensor._array)}
    return set()


def uncounted(function: Callable, *inputs: Any) -> str:
    """By what way a call overwrites a tracked tensor uncounted: "data", "numpy", or "" for none.

    What was taken by `.data` counts for itself. What else has other numbers, and the old version, is NumPy's doing.
    """
    taken: list[tuple] = []

    def noting(way: str, take: Callable) -> Callable:
        def noted(tensor: mg.Tensor, *rest: Any, **options: Any) -> Any:
            before = (tensor, tensor._array.copy(), tensor._version) if tensor.requires_grad else None
            alias = take(tensor, *rest, **options)
            taken.extend([(way, alias, *before)] if before else [])
            return alias

        return noted

    _TENSOR.detach, _TENSOR.numpy = (noting("", _METHODS[name]) for name in ("detach", "numpy"))
    _TENSOR.data = property(noting("data", _DATA.fget), noting("data", _DATA.fset))
    try:
        with kit.sandbox.quiet():
            function(*inputs)
        others = [one for one in taken if not np.array_equal(one[2]._array, one[3])]
        if any(way and (alias is None or alias._version) for way, alias, *_ in others):
            return "data"
        return "numpy" if any(tensor._version == version for *_, tensor, _, version in others) else ""
    except Exception:
        return ""
    finally:
        _put_back("data", "detach", "numpy")


def _error_with(name: str, other: Any, run: Callable) -> str:
    """The message of the error that `run` ends with while tensors have another attribute of this name; or nothing."""
    setattr(_TENSOR, name, other)
    try:
        run()
    except Exception as error:
        return str(error)
    finally:
        _put_back(name)
    return ""


def writes_by_data(run: Callable) -> bool:
    """Whether a backward is refused once what is written through `.data` is counted, as it is through `detach()`."""
    counted = property(_METHODS["detach"], lambda tensor, value: tensor.detach().copy_(value))
    return "has been modified by an inplace operation" in _error_with("data", counted, run)


def needs_retain(run: Callable) -> bool:
    """Whether a backward comes to what is freed once no `backward()` hears of `retain_graph`."""

    def without(tensor: mg.Tensor, *given: Any, retain_graph: Any = None, **options: Any) -> None:
        _METHODS["backward"](tensor, *given, **options)

    return "backward through the graph a second time" in _error_with("backward", without, run)


def with_recorded_walks(function: Callable, *inputs: Any, all_of_them: bool = False) -> Any:
    """What a function returns if each walk that it keeps a graph of, or each at all, is recorded; its error if any.

    So a diagnosis can say that `retain_graph=True` in place of `create_graph=True` is what is wrong.
    """

    def walk(seeds: list, retain_graph: bool, create_graph: bool, *more: Any, **options: Any) -> Any:
        retain_graph = retain_graph or all_of_them
        return _WALK(seeds, retain_graph, create_graph or retain_graph, *more, **options)

    _ENGINE.walk = walk
    try:
        with kit.sandbox.quiet():  # what it prints is not shown a second time
            return function(*inputs)
    except Exception as error:
        return error
    finally:
        _ENGINE.walk = _WALK


def has_tuple(error: BaseException | None) -> bool:
    """Whether the learner's line with this error calls `grad`, or a name there stands for a tuple of tensors."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__ if error else None)]
    frames = [one for one in frames if kit.sandbox.is_learners(one.f_code.co_filename)]
    tuples = [value for one in frames[-1:] for value in one.f_locals.values() if type(value) is tuple and value]
    named = any(all(isinstance(one, mg.Tensor) for one in value) for value in tuples)
    return named or (error is not None and "grad(" in kit.sandbox.learners_line(error))


class Watched:
    """A function that remembers where it was called: autograd needs it at one place, and differences at others."""

    def __init__(self, f: Callable, place: Any) -> None:
        self.f, self.place = f, np.ravel(np.asarray(place, float))
        self.calls, self.was_elsewhere, self.was_recorded = 0, False, False

    def __call__(self, x: Any, *others: Any) -> Any:
        self.calls += 1
        numbers = tools.array(x) if isinstance(x, mg.Tensor) else np.asarray(x, float)
        self.was_elsewhere |= not np.array_equal(np.ravel(numbers), self.place)
        result = self.f(x, *others)
        self.was_recorded |= getattr(result, "requires_grad", False)
        return result

    def refuse_steps(self, expected: str, got: str) -> None:
        """Say that the function was called elsewhere, if it was."""
        if self.was_elsewhere:
            why = "`f` was called with other numbers than those of the given `x`. Autograd needs no other place."
            look = "what you call `f` with, and each line that changes `x`"
            raise kit.Wrong("nudged", expected, got, why=why, look=look)


def where_detach_copies(work: Callable[[], Any]) -> Any:
    """What `work` gives if the learner's `detach()` made a copy, as M17 has it; None where that raises."""

    def copying(tensor: mg.Tensor) -> mg.Tensor:
        alias = _METHODS["detach"](tensor)
        return alias.clone() if kit.sandbox.is_learners(sys._getframe(1).f_code.co_filename) else alias

    _TENSOR.detach = copying
    try:
        with contextlib.suppress(Exception), kit.sandbox.quiet():
            return work()
        return None
    finally:
        _put_back("detach")


def renames(function: Any, sign: str = "-") -> str:
    """The belief behind an update like `w = w - ...`: a line that computes with a name, and gives it to the result."""
    steps, start = _steps(function) if kit.rebinds(function) else [], 0
    for number, step in enumerate(steps):
        start = number if step.starts_line else start
        before, name = steps[max(number - 1, 0)], step.argrepr.split(", ")[0]
        if step.opname.startswith("STORE_FAST") and (before.opname, before.argrepr) == ("BINARY_OP", sign):
            if any(
                one.opname.startswith("LOAD_FAST") and name in one.argrepr.split(", ") for one in steps[start:number]
            ):
                return "M06"
    return ""


def names_once(function: Any, attribute: str) -> bool:
    """Whether a function names an attribute once, as an update does `.grad`: nothing there clears it, or fails to.

    The functions that it calls by a global name count, too.
    """
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    others = [one for one in map(getattr(function, "__globals__", {}).get, names) if one is not function]
    steps = [step for one in (function, *others) for step in _steps(one)]
    return sum(step.opname.endswith("_ATTR") and step.argval == attribute for step in steps) == 1


def clears_between(function: Any) -> bool:
    """Whether the code names first a `backward()`, then a clearing, and then an update."""
    order = []
    for step in _steps(function):
        is_clearing = step.argval == "zero_" or (step.opname, step.argval) == ("STORE_ATTR", "grad")
        is_update = step.opname == "BINARY_OP" and step.argrepr == "-="
        order += ["clears"] if is_clearing else ["moves"] if is_update else ["backward"] * (step.argval == "backward")
    return list(dict.fromkeys(order)) == ["backward", "clears", "moves"]


def makes_a_list(function: Any) -> bool:
    """Whether the code has a comprehension in it."""
    code = dis.Bytecode(function).dis() if hasattr(function, "__code__") else ""
    return any(sign in code for sign in ("LIST_APPEND", "<listcomp>", "<genexpr>"))
