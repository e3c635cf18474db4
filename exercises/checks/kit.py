"""What the checks of all chapters share: exercises, verdicts, safe judging, score and progress.

A chapter's module makes one `Chapter`, registers one function an exercise, and locks itself:

    chapter = Chapter(__name__, "01", "Who gets tracked?")

    @chapter.exercise("Follow the flag", kind="predict", points=2, beliefs=("M02",),
                      hints=("...", "...", "..."), idea="...")
    def spread(answer):
        flags = predicted(answer, {"a": True, "b": False}, [...])
        return "One sentence that says why this is right."

    chapter.lock()

The function judges the learner's own object. It raises `Wrong` with a diagnosis, or returns a
sentence (or a sentence and a picture). Whatever else happens, the learner gets a card and never a
traceback.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import importlib
import inspect
import linecache
import math
import numbers
import os
import re
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg

from . import adversaries, cards, progress, review, sandbox
from .beliefs import BELIEFS
from .notebook import LockedModule, Missing, watch_cells
from .sandbox import show
from .warm_ups import WarmUp

KINDS = ("predict", "write", "fix", "build", "cut", "rebuild")


class CheckFailed(AssertionError):
    """A failed check under nbgrader, nbval or pytest: a short exception makes the cell fail."""

    def _render_traceback_(self) -> list[str]:
        return [f"CheckFailed: {self}"]


class Wrong(Exception):
    """A diagnosis. `code` is its name in the tests; `belief` is the id of the belief behind it.

    `message` is that of the error that became one, without the learner's line.
    """

    def __init__(self, code, expected="", got="", *, belief="", why="", look="", picture=None):
        super().__init__(code)
        self.verdict = Verdict("wrong", code, expected, got, belief, why, look, picture)
        self.message = ""


class Unanswered(Exception):
    """There is no answer yet; the message says what to do."""


@dataclass
class Verdict:
    """What a check found. `status` is passed, wrong, unanswered or unjudged."""

    status: str
    code: str
    expected: str = ""
    got: str = ""
    belief: str = ""
    why: str = ""
    look: str = ""
    picture: Any = None
    printed: str = ""
    given: str = ""  # what the answer, a function, was called with

    @property
    def belief_text(self) -> str:
        return BELIEFS.get(self.belief, "")


@dataclass(frozen=True)
class Exercise:
    """One exercise: its place, its worth, what it can diagnose, how it helps, and how it judges."""

    id: str
    title: str
    kind: str
    points: int
    beliefs: tuple[str, ...]
    hints: tuple[str, str, str]
    idea: str
    judge: Callable[[Any], Any]
    off: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.id.partition(".")[2]


class _Session:
    """What this kernel knows: the last verdict on each exercise, hints shown, and the mode."""

    def __init__(self) -> None:
        graded = "NBGRADER_EXECUTION" in os.environ or "NBGRADER_VALIDATING" in os.environ
        self.strict = graded or "PYTEST_VERSION" in os.environ
        self.verdicts: dict[str, Verdict] = {}
        self.hints_shown: dict[str, int] = {}
        self.warm_up: WarmUp | None = None
        self.last_notice = ""

    def note(self, exercise: Exercise, verdict: Verdict) -> None:
        self.verdicts[exercise.id] = verdict
        if verdict.status != "unanswered":
            self.keep(exercise.id, verdict.status == "passed", belief=verdict.belief)

    @property
    def without_learner(self) -> bool:
        """Whether no learner's progress is kept: under nbgrader, in tests, and in the solutions, wherever they run."""
        return self.strict or Path.cwd().name == "solutions" or (_watch is not None and _watch.is_solution)

    def keep(self, id: str, passed: bool, **beliefs: str) -> None:
        """Add a try to the learner's record; say it once when that cannot be done."""
        if self.without_learner:
            return
        notice = progress.record(id, passed, **beliefs)
        if notice and notice != self.last_notice:
            cards.display(cards.notice_card(notice))
        self.last_notice = notice


session = _Session()
_chapters: dict[str, Chapter] = {}


# --- Judging -------------------------------------------------------------------------------------


_LIBRARY = {
    name: (module, {key: one for key, one in vars(module).items() if callable(one)})
    for name, module in (("mg", mg), ("mg.autograd", mg.autograd))
}


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """Judge one answer. Never raises, always ends, and only a judged answer can pass."""
    replaced = _put_back()
    verdict = _judged_in_time(exercise, answer)
    replaced = replaced or _put_back()
    if not replaced:
        return verdict
    return Verdict(
        "wrong",
        "library-replaced",
        f"`{replaced}` is minigrad's own",
        "something else, which the notebook has put in its place",
        why="Whatever uses it gets another one, also other exercises. From now on it is minigrad's again.",
        look=f"each assignment to `{replaced}`, in this cell or an earlier one: a name of your own does no harm",
    )


def _put_back() -> str:
    """Put back what was replaced in minigrad, but not by itself (`mg.viz.lines()`); give the name of the last of it."""
    found = ""
    for prefix, (module, own) in _LIBRARY.items():
        for name in [name for name, one in own.items() if vars(module).get(name) is not one]:
            if str(getattr(vars(module).get(name), "__module__", "")).startswith("minigrad"):
                continue
            setattr(module, name, own[name])
            found = f"{prefix}.{name}"
    return found


def _judged_in_time(exercise: Exercise, answer: Any) -> Verdict:
    outcome = sandbox.run(functools.partial(_judged, exercise, answer), sandbox.SECONDS)
    if outcome.timed_out:
        verdict = Verdict(
            "wrong",
            "endless",
            f"an answer within {sandbox.SECONDS:.0f} seconds",
            "no answer: your code was still running and was stopped",
            look="what takes so long: a loop that does not end, or work that is done again and again",
        )
    elif isinstance(outcome.value, Verdict):
        verdict = outcome.value
    else:
        verdict = _verdict_of_error(outcome.error)
    verdict.printed = sandbox.clip(outcome.printed.strip(), 400) if verdict.status == "wrong" else ""
    return verdict


def _judged(exercise: Exercise, answer: Any) -> Verdict:
    try:
        _refuse_unanswered(answer)
        work = lambda: (_asked(exercise, answer), _found_around(exercise, answer))  # noqa: E731
        said, found = adversaries.watch(exercise.off, work)
        if found:
            raise found
    except Wrong as wrong:
        wrong.verdict.given = wrong.verdict.given or adversaries.trial.given()
        kept = wrong.verdict.code != "type" and _keeps_something(answer)
        if kept and not re.search("keep|kept|earlier|(each|one|next) call", wrong.verdict.look):
            also = "what is kept from one call to the next"
            joint = " And " if wrong.verdict.look.endswith("?") else "; " if wrong.verdict.look else ""
            wrong.verdict.look += joint + also
        return wrong.verdict
    except Unanswered as nothing_yet:
        return Verdict("unanswered", "unanswered", look=str(nothing_yet))
    sentence, picture = said if isinstance(said, tuple) else (said, None)
    if type(sentence) is not str:
        raise TypeError("the check returned no sentence")
    return Verdict("passed", "passed", why=sentence, picture=picture)


def _asked(exercise: Exercise, answer: Any) -> Any:
    """Run the check. If the answer has changed global state (see `adversaries`), that may be the better diagnosis.

    It is, if the check itself fails, or names no belief: what it expects may be computed from what was overwritten.
    """
    try:
        return exercise.judge(answer)
    except Unanswered:
        raise
    except Wrong as wrong:
        found = adversaries.trial.found
        if found is None or not found.misleads or found.is_told_by(wrong.verdict) or wrong.verdict.belief:
            raise
        raise _told(found) from None
    except Exception:
        found = adversaries.trial.found
        if found is None:
            raise
        raise _told(found) from None


def _told(found: adversaries.Found) -> Wrong:
    wrong = Wrong(**found.parts)
    wrong.verdict.given = found.given
    return wrong


def _found_around(exercise: Exercise, answer: Any) -> Wrong | None:
    """What is wrong around an answer that its check takes for right (see `adversaries`)."""
    found = adversaries.trial.found
    if found is None and callable(answer):
        found = adversaries.circumstances(answer, exercise.judge, Wrong)
    return _told(found) if found else None


def _verdict_of_error(error: BaseException | None) -> Verdict:
    """An error that no check expected: the learner's object threw it, or we are at fault."""
    if isinstance(error, KeyboardInterrupt):
        return Verdict("unjudged", "interrupted", why="You stopped the check. It is not counted.")
    if error is not None and sandbox.came_through_learner(error):
        return _raised(error).verdict
    fault = sandbox.describe_error(error) if error is not None else "it came to no end"
    why = f"This check could not judge your answer ({fault}); it is not counted."
    return Verdict("unjudged", "unjudged", why=why)


def _raised(error: BaseException) -> Wrong:
    got = sandbox.describe_error(error)
    is_known, look = "(your line: " in got, "the call of your function: run it in a cell of its own"
    look = "the line named above: what each name in it holds there" if is_known else look
    wrong = Wrong("raised", "your code runs without an error", got, look=look)
    wrong.message = sandbox.message_of(error)
    return wrong


def _refuse_unanswered(answer: Any) -> None:
    if type(answer) is Missing:
        why = "run the cell above this one first."
        why = f"its cell ended with {answer.error.rstrip('.')}." if answer.error else why
        raise Unanswered(f"There is no `{answer.name}` yet: {why}")
    if _has_dots(answer):
        raise Unanswered("Replace the three dots `...` in the cell above, run it, then run this cell.")
    if type(answer) is types.FunctionType and is_stub(answer):
        raise Unanswered("Write the body of the function in the cell above, and run both cells.")
    if answer is None:
        raise Wrong("none", "an answer", "None", look="what the right side of its `=` gives: some calls give None")


def _has_dots(answer: Any, depth: int = 4) -> bool:
    if isinstance(answer, dict):
        answer = list(dict.values(answer))
    if type(answer) not in (list, tuple, set, frozenset) or not depth:
        return answer is ...
    # Chosen before any is asked: a call for each of 100,000 numbers would take a tenth of a second under the trace.
    parts = [item for item in answer if item is ... or type(item) in (dict, list, tuple, set, frozenset)]
    return any(_has_dots(item, depth - 1) for item in parts)


def _stubs() -> Iterable[Any]:
    def nothing(): ...

    def dots():
        return ...

    def documented():
        """A stub with a docstring."""

    return nothing, dots, documented


_STUB_CODES = frozenset(stub.__code__.co_code for stub in _stubs())


def is_stub(function: types.FunctionType) -> bool:
    """Whether the body of a function is still `...`."""
    code = function.__code__
    only_dots = all(item is None or item is ... or item == function.__doc__ for item in code.co_consts)
    return code.co_code in _STUB_CODES and only_dots and not _says_return(code)


def _says_return(code: types.CodeType) -> bool:
    """Whether the last line is `return` or `return None`: an answer, though compiled it looks like an empty body."""
    last = max(line for *_, line in code.co_lines() if line)
    return bool(re.search(r"\breturn(\s+None)?\s*(#.*)?$", linecache.getline(code.co_filename, last)))


def refuse_given(answer: Any, given: str) -> None:
    """A function that is still the one of the exercise, comments and layout aside, is no answer yet."""
    scope: dict[str, Any] = {}
    exec(compile(given, "<given>", "exec"), scope)  # not from a module of ours: imports change the code
    (function,) = (value for value in scope.values() if type(value) is types.FunctionType)
    if type(answer) is types.FunctionType and _words(answer.__code__) == _words(function.__code__):
        raise Unanswered("Change the function in the cell above, and run both cells.")


def _words(code: types.CodeType) -> tuple:
    """The bytecode of a function and of those inside it, without line numbers: equal for equal source."""
    constants = tuple(_words(one) if type(one) is types.CodeType else one for one in code.co_consts)
    return code.co_code, constants, code.co_names, code.co_varnames


# --- Tools for checks ----------------------------------------------------------------------------


_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def _codes(function: Any) -> list[types.CodeType]:
    """The code of a Python function, and of what is defined in it."""
    codes = [function.__code__] if type(function) is types.FunctionType else []
    for code in codes:
        codes += [one for one in code.co_consts if type(one) is types.CodeType]
    return codes


def uses(function: Any, *names: str) -> bool:
    """Whether a function's own code, comprehensions included, reads one of these attributes or global names."""
    own = [c for c in _codes(function) if c is function.__code__ or c.co_name in _COMPREHENSIONS]
    return any(not set(names).isdisjoint(code.co_names) for code in own)


def rebinds(function: Any, parameter: int | None = None) -> bool:
    """Whether a function gives the name of a parameter, of any or of this one, to something else: `w = ...`.

    Among any are the names that loops give: `for p in params: p = ...`.
    """
    if type(function) is not types.FunctionType:
        return False
    named, looped, put_back = _stores(function)
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    asked = {*parameters, *looped} if parameter is None else parameters[parameter : parameter + 1]
    return any(named.count(name) > 2 * put_back.count(name) for name in asked)


def _stores(function: types.FunctionType) -> tuple[list[str], list[str], list[str]]:
    """The names that a function gives by `=`, those that a loop gives, and those that a comprehension puts back."""
    named: list[str] = []
    looped: list[str] = []
    put_back: list[str] = []
    by_loop, before, grown, made = 0, "", False, ""
    for step in dis.get_instructions(function):
        if step.opname == "LOAD_FAST_AND_CLEAR":  # from Python 3.12 on; a STORE at either end follows
            put_back.append(step.argval)
        by_loop += step.opname == "FOR_ITER"
        by_loop += step.argval - 1 if step.opname == "UNPACK_SEQUENCE" and by_loop else 0
        if step.opname.startswith("STORE_"):
            stored = step.argval if isinstance(step.argval, tuple) else (step.argval,)  # one step may store and load
            for name in stored[: step.opname.count("STORE_")]:
                if by_loop:
                    looped.append(name)
                elif not before.endswith("=") and not grown:  # `w -= 1` stores too; `ws = ws + [w]` is no tensor
                    named.append(name)
                by_loop = max(by_loop - 1, 0)
        before = step.argrepr if step.opname == "BINARY_OP" else ""
        grown, made = before == "+" and made in ("BUILD_LIST", "BUILD_TUPLE"), step.opname
    return named, looped, put_back


def _keeps_something(answer: Any, is_method: bool = False) -> bool:
    """Whether something of a function, or of a class, is there from one call to the next, and can be written into.

    Attributes of a method are not meant: they are what a decorator has noted of it.
    """
    if isinstance(answer, type):
        own = list(vars(answer).values())
        functions = [getattr(one, "__func__", one) for one in own if not isinstance(one, type)]
        return any(map(_can_be_written, own)) or any(_keeps_something(one, is_method=True) for one in functions)
    if hasattr(answer, "cache_info"):
        return True
    answer = inspect.unwrap(answer) if callable(answer) else answer  # of `no_grad` and its like
    if type(answer) is not types.FunctionType:
        return False
    steps = [(step.opname, step.argval) for code in _codes(answer) for step in dis.get_instructions(code)]
    reached = [answer.__globals__.get(name) for operation, name in steps if operation == "LOAD_GLOBAL"]
    defaults = [*(answer.__defaults__ or ()), *(answer.__kwdefaults__ or {}).values()]
    sets = any(operation == "STORE_GLOBAL" for operation, _ in steps) or (bool(vars(answer)) and not is_method)
    return sets or any(map(_can_be_written, [*defaults, *adversaries.parts(answer), *reached]))


def _can_be_written(value: Any) -> bool:
    return isinstance(value, list | dict | set | mg.Tensor) or hasattr(value, "cache_info")


def says(function: Any, option: str) -> bool:
    """Whether a function, or one inside it, gives an option of this name in a call."""
    return any(type(one) is tuple and option in one for code in _codes(function) for one in code.co_consts)


def clears(function: Any) -> bool:
    """Whether a function sets a `.grad`, or fills something with zeros."""
    steps = dis.get_instructions(function) if type(function) is types.FunctionType else ()
    sets = any(step.opname == "STORE_ATTR" and step.argval == "grad" for step in steps)
    return sets or uses(function, "zero_", "zeros_like")


def returns_nothing(function: Any) -> bool:
    """Whether a function has no `return` with a value in it."""
    if type(function) is not types.FunctionType or function.__name__ == "<lambda>":
        return False
    ends, last = [], ("", None)
    for step in dis.get_instructions(function):
        if step.opname == "RETURN_CONST":
            ends.append((step.opname, step.argval))
        if step.opname == "RETURN_VALUE":  # as a jump's target it has several values
            ends.append(("", None) if step.is_jump_target else last)
        last = step.opname, step.argval
    return all(name in ("LOAD_CONST", "RETURN_CONST") and value is None for name, value in ends)


def notebook_tensors() -> dict[str, mg.Tensor]:
    """The tensors that the notebook has names for, so that a picture can use these names."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    names = dict(shell.user_ns) if shell is not None else {}
    return {name: value for name, value in names.items() if type(value) is mg.Tensor and name[:1] != "_"}


def call(function: Callable, *inputs: Any) -> Any:
    """The learner's function on our inputs. Its error becomes a diagnosis, never a traceback."""
    _refuse_other_arguments(function, inputs)
    try:
        result = adversaries.trial.call(function, inputs, lambda: function(*inputs))
    except (Wrong, Unanswered, sandbox.TimeUp, adversaries.Called):
        raise
    except adversaries.Found as found:
        raise Wrong(**found.parts) from None
    except NotImplementedError as error:
        if not sandbox.came_from_learner(error):
            raise _raised(error) from None
        raise Unanswered("Write the body of the function in the cell above.") from None
    except BaseException as error:
        raise _raised(error) from None
    if result is ...:
        raise Unanswered("Replace the three dots `...` in the function above.")
    return result


def _refuse_other_arguments(function: Callable, inputs: tuple) -> None:
    if type(function) is not types.FunctionType:
        return
    code = function.__code__
    most, least = code.co_argcount, code.co_argcount - len(function.__defaults__ or ())
    if least <= len(inputs) <= most and not code.co_kwonlyargcount:
        return  # the usual case; a signature takes long
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        signature.bind(*inputs)
    except TypeError:
        number = {1: "one argument", 2: "two arguments", 3: "three arguments"}.get(
            len(inputs), f"{len(inputs)} arguments"
        )
        header = f"`{function.__name__}({', '.join(signature.parameters)})`"
        look = f"the `def` line: your function has to take {number}"
        raise Wrong("arguments", f"a function that takes {number}", header, look=look) from None


def a_function(answer: Any, look: str = "the `def` line of the cell above") -> Callable:
    """The answer, which must be a function of the learner's (or a lambda, partial, class, ...)."""
    if type(answer) is type or not callable(answer):
        raise Wrong("type", "a function, not called yet", show(answer), look=look)
    return answer


def a_tensor(answer: Any, what: str = "your answer", look: str = "") -> mg.Tensor:
    """The answer, which must be a minigrad tensor without NaN."""
    if answer is None:
        raise Wrong("none", f"{what} is a tensor", "None", look="what each `return` gives, if there is one")
    if type(answer) is not mg.Tensor:
        many = type(answer) in (list, tuple) and any(type(item) is mg.Tensor for item in answer)
        verb = "return" if what == "the result" else "make"
        one = f"{verb} one tensor, not a {type(answer).__name__} of tensors"
        look = one if many else look or "what you assign to it"
        raise Wrong("type", f"{what} is a tensor", show(answer), look=look)
    values = answer.detach().numpy()
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise Wrong("nan", f"{what} holds numbers", show(answer), look="where the nan comes from")
    return answer


_REAL = numbers.Real, Decimal  # which is no Real, for it cannot be added to a float


def a_number(answer: Any, what: str = "your answer") -> float:
    """The answer as a float: a real number (Fraction, Decimal, NumPy's too), an array or a tensor with one element."""
    if answer is None:
        raise Wrong("none", f"{what} is a number", "None", look="what each `return` gives, if there is one")
    if type(answer) is mg.Tensor and answer.numel() == 1:
        answer = answer.detach().item()
    if type(answer) is np.ndarray and answer.ndim == 0 and answer.dtype.kind in "iuf":
        answer = answer.item()
    if isinstance(answer, bool) or not isinstance(answer, _REAL):
        raise Wrong("type", f"{what} is a number", show(answer), look="what kind of thing it is")
    try:
        number = float(answer)
    except (OverflowError, ValueError):  # a Decimal that signals nan is no number either
        raise Wrong("type", f"{what} is a number that fits a float", show(answer), look="how large it is") from None
    if math.isnan(number):
        raise Wrong("nan", f"{what} is a number", "nan, which is not a number", look="where it comes from")
    return number


def a_dict(answer: Any, names: Iterable[str]) -> dict:
    """The answer, which must be a dict with exactly these names."""
    names = list(names)
    if not isinstance(answer, dict):
        look = "the cell above: a dict, as it was given, with your values for the dots"
        raise Wrong("type", f"a dict with the keys {', '.join(names)}", show(answer), look=look)
    given = {plain(key): value for key, value in dict.items(answer)}
    if set(given) != set(names):
        look = "the cell above: change the values only, and keep the keys"
        raise Wrong("keys", f"the keys {', '.join(names)}", show(list(answer)), look=look)
    return given


_TOLERANCE = 1e-6


def close(one: float, other: float, tolerance: float = _TOLERANCE) -> bool:
    """Whether two numbers agree, relative to their size. Of float32 less is asked."""
    return same_arrays(np.array(one, float), np.array(other, float), tolerance)


def same_values(tensor: mg.Tensor, numbers: Any, tolerance: float = _TOLERANCE) -> bool:
    """Whether a tensor has the shape and the values of these numbers."""
    return same_arrays(tensor.detach().numpy(), np.asarray(numbers), tolerance)


def same_arrays(values: np.ndarray, wanted: np.ndarray, tolerance: float = _TOLERANCE) -> bool:
    """Whether two arrays have the same shape and, up to rounding, the same numbers."""
    tolerance = max(tolerance, 1e-4) if "dtype" in adversaries.trial.circumstances else tolerance
    if values.shape != wanted.shape or not np.allclose(values, wanted, tolerance, tolerance / 2):
        return False
    adversaries.trial.note_rounded(values, wanted)
    return True


@dataclass(frozen=True)
class Pattern:
    """Wrong predictions that belong together: all of `gives` must be in the answer."""

    code: str
    gives: dict[str, Any] = field(repr=False)
    belief: str = ""
    why: str = ""
    look: str = ""


_HEADER = re.compile(r"(?P<code>\S+): (?P<when>.+?)(?: \((?P<belief>M\w+)\))?")


def diagnoses(text: str) -> Iterable[tuple[str, str, str, str, str]]:
    """Diagnoses as text: code, when it is made, belief, why, and what to look at."""
    for block in re.split(r"\n(?=\S)", text.strip("\n")):
        header, *lines = block.split("\n")
        said = _HEADER.fullmatch(header)
        if said is None:
            raise ValueError(f"no diagnosis: {header}")
        why, _, look = " ".join(line.strip() for line in lines).partition("look: ")
        yield said["code"], said["when"], said["belief"] or "", why.strip(), look


def patterns(text: str) -> tuple[Pattern, ...]:
    """Patterns as text: code, wrong values and belief at the margin, then why, then what to look at.

        overwrites: b=6, e=3 or b=6, e=0 (M08)
            6 is right for `w * w` alone. It is added to what was there.
            look: `w.grad` before and after the second `backward()`

    A value is what Python reads in it, or else a text: 6, None, error, "6".
    """
    return tuple(
        Pattern(code, dict(map(_value, gives.split(", "))), belief, why, look)
        for code, several, belief, why, look in diagnoses(text)
        for gives in several.split(" or ")
    )


def _value(pair: str) -> tuple[str, Any]:
    name, _, value = pair.rpartition("=")
    with contextlib.suppress(ValueError, SyntaxError):
        return name, ast.literal_eval(value)
    return name, value


def predicted(
    answer: Any,
    truth: dict[str, Any],
    patterns: Iterable[Pattern],
    kinds: str,
    looks: dict[str, str] | None = None,
) -> None:
    """Compare predictions, by name, with the truth; raise the first pattern that fits, if any.

    `kinds` says in words what the values may be; a flag among numbers is True or False. The name that is
    shown as wrong is the first of the pattern that differs from the truth, so that example and diagnosis agree.
    Where no pattern fits, `looks` says by name what to look at.
    """
    answer = a_dict(answer, truth)
    given = {name: plain(value) for name, value in answer.items()}
    for name, right in truth.items():
        if type(right) is bool and type(given[name]) in (int, float) and given[name] in (0, 1):
            given[name] = bool(given[name])  # they are equal in Python
        if type(given[name]) not in _comparable(right):
            is_flag = type(right) is bool and not kinds.startswith("True")
            kinds = "True or False" if is_flag else kinds
            raise Wrong("kind", f"`{name}` is {kinds}", show(answer[name]), look=f"the value of `{name}`")
    wrong = [name for name in truth if not _agree(given[name], truth[name])]
    if not wrong:
        return
    for pattern in patterns:
        fits = all(_agree(given[name], value) for name, value in pattern.gives.items())
        first = next((name for name in pattern.gives if name in wrong), None)
        if fits and first:
            if isinstance(answer[first], mg.Tensor):  # read in a run, and not believed
                pattern = replace(pattern, belief="")
            raise _mispredicted(first, given, truth, pattern)
    look = (looks or {}).get(wrong[0], f"the line that makes `{wrong[0]}`")
    raise _mispredicted(wrong[0], given, truth, Pattern(f"wrong-{wrong[0]}", {}, look=look))


def _mispredicted(name: str, given: dict, truth: dict, pattern: Pattern) -> Wrong:
    return Wrong(
        pattern.code,
        f"`{name}`: {_hidden(truth[name], given[name])}, for the program in the text",
        f"`{name}`: {show(given[name])}",
        belief=pattern.belief,
        why=pattern.why,
        look=pattern.look,
    )


def _hidden(right: Any, given: Any) -> str:
    """What is expected, without the answer: only of two flags the other one is no secret."""
    if type(right) is bool:
        return show(right)
    if right is None or given is None or type(right) is str:
        return "something else"
    return "another number"


def plain(value: Any) -> Any:
    """The Python value of a tensor or an array with one element, of a NumPy number, of any real number, or of a str."""
    if type(value) is mg.Tensor:
        value = value.detach().numpy()
    one = type(value) is np.ndarray and value.size == 1
    value = value.item() if one or isinstance(value, np.generic) else value
    if isinstance(value, str):
        return str.__str__(value)
    if type(value) in (int, float, bool) or not isinstance(value, _REAL):
        return value
    with contextlib.suppress(OverflowError, ValueError):  # too large for a float; a Decimal that signals nan
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    return value


def _comparable(right: Any) -> tuple[type, ...]:
    if type(right) is bool:
        return (bool,)
    return (int, float, type(None)) if type(right) in (int, float, type(None)) else (type(right),)


def _agree(one: Any, other: Any) -> bool:
    if type(one) in (int, float) and type(other) in (int, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=5e-7)
    return (one is None) == (other is None) and bool(one == other)


# --- Chapters ------------------------------------------------------------------------------------


class Chapter:
    """The exercises of one chapter. Its module becomes read-only with `lock()`."""

    def __init__(self, module: str, number: str, title: str) -> None:
        self.module: Any = sys.modules[module]
        self.number, self.title = number, title
        self.exercises: dict[str, Exercise] = {}
        self.functions: dict[str, Callable] = {}
        _chapters[number] = self

    def exercise(self, title, *, kind, hints, idea, points=1, beliefs=(), off=None) -> Callable:
        """Register the decorated function as a check, and replace it by what the learner calls.

        `off` says which adversaries do not apply to the exercise, and why (see `adversaries`).
        """
        if kind not in KINDS or len(hints) != 3 or not set(beliefs) <= set(BELIEFS):
            raise ValueError(f"{title}: unknown kind or belief, or not three hints")

        def register(function: Callable) -> Callable:
            id = f"ch{self.number}.{function.__name__}"
            one = Exercise(id, title, kind, points, tuple(beliefs), tuple(hints), idea, function, off or {})
            self.exercises[one.name] = one
            return self._checker(one)

        return register

    def _checker(self, exercise: Exercise) -> Callable:
        @functools.wraps(exercise.judge, assigned=("__name__", "__qualname__", "__module__", "__doc__"))
        def check(answer: Any = ..., *, show_only: bool = False) -> None:
            verdict = judge(exercise, answer)
            cards.display(cards.verdict_card(verdict, exercise))
            if show_only:
                return
            session.note(exercise, verdict)
            if session.strict and exercise.points and verdict.status != "passed":
                got = verdict.got or verdict.look or verdict.why
                raise CheckFailed(f"{exercise.id}: {verdict.code} ({got})")

        del check.__wrapped__  # the bare judge is no way around the card
        return check

    def score(self) -> None:
        """Show N of M exercises and the points, by the last run of each check in this session."""
        entries, _ = ({}, "") if session.without_learner else progress.read()
        before = {id: "solved" for id, entry in entries.items() if entry.get("solved")}
        cards.display(cards.score_card(self, before | {id: found.status for id, found in session.verdicts.items()}))

    def hint(self, name: str) -> None:
        """Show the next hint of an exercise: three hints, then the idea of the solution."""
        exercise = self.exercises.get(name) if type(name) is str else None
        if exercise is None:
            names = ", ".join(f'"{known}"' for known in self.exercises)
            cards.display(cards.notice_card(f"Ask for a hint by one of these names: {names}."))
            return
        number = session.hints_shown.get(name, 0) % 4
        session.hints_shown[name] = number + 1
        cards.display(cards.hint_card(number, (*exercise.hints, exercise.idea)[number], exercise))

    def again(self, answer: Any = ...) -> None:
        """Ask again about a belief that an earlier chapter's exercises found (any, in 00); with an answer, judge it."""
        entries, _ = ({}, "") if session.without_learner else progress.read()
        question = session.warm_up = session.warm_up or review.due(entries, self.number)
        if question is None:
            where = "" if self.number == review.FIRST else " from an earlier chapter"
            cards.display(cards.notice_card(f"No warm-up: nothing{where} is open."))
        elif answer is ...:
            cards.display(cards.warm_up_card(question))
        else:
            right = review.is_right(question, answer)
            if right:
                session.warm_up = None
            session.keep(review.WARM_UP + question.belief, right, **{"mended" if right else "belief": question.belief})
            more = right and review.due(progress.read()[0], self.number) is not None
            cards.display(cards.warm_up_card(question, right, show(answer), more))

    def lock(self) -> None:
        """Add `score`, `hint` and `again` to the module, and make it refuse every later assignment."""
        self.module.score, self.module.hint, self.module.again = self.score, self.hint, self.again
        self.functions = {name: value for name, value in vars(self.module).items() if callable(value)}
        self.module.__class__ = LockedModule

    def mend(self) -> None:
        """Put back what was replaced in the module behind its back."""
        vars(self.module).update(self.functions)


def progress_panel() -> cards.Card:
    """All chapters that have exercises: how many of each were ever solved, on this computer.

    Under nbgrader, nbval and pytest the learner's own progress is neither read nor written.
    """
    entries, notice = ({}, "") if session.strict else progress.read()
    rows = []
    for number, chapter in all_chapters():
        solved = [one for one in chapter.exercises.values() if entries.get(one.id, {}).get("solved")]
        rows.append((number, chapter.title, len(solved), len(chapter.exercises)))
    return cards.progress_card(rows, notice)


def belief_panel() -> cards.Card:
    """The beliefs that the learner's own exercises have met: missed, mended, or seen through."""
    entries, notice = ({}, "") if session.strict else progress.read()
    exercises = [one for _, chapter in all_chapters() for one in chapter.exercises.values()]
    titles = {one.id: one.title.replace("`", "") for one in exercises}
    places = {belief: [f"{titles.get(id, id)} ({id})" for id in ids] for belief, ids in review.places(entries).items()}
    return cards.belief_card(review.states(entries, exercises), places, notice)


def all_chapters() -> list[tuple[str, Chapter]]:
    """Every chapter that has exercises, by its number."""
    for file in sorted(Path(__file__).parent.glob("ch[0-9][0-9].py")):
        importlib.import_module(f"{__package__}.{file.stem}")
    return sorted(_chapters.items())


_watch = watch_cells(_chapters)
sys.modules[__name__].__class__ = LockedModule
