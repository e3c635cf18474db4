"""Is a learner's own Function right, and if not, what is wrong with it? Shared by the chapters on Functions.

    functions.check(answer, reference, functions.elementwise(), second=True, suspects=(...))

`answer`     the class of a Function, or anything that is called as its `apply` is.
`reference`  computes the same with minigrad's own operations: values and gradients are compared with its.
`cases`      the arguments to try, the most telling first: `tensors(what, shape, shape, ...)` makes one case,
             `elementwise(number_of_inputs)` the usual ones (a vector, 0-d, empty, gaps in memory, broadcast).
`second`     compare second derivatives, too, and run gradgradcheck.
`numerical`  False for a backward that is not meant to be the slope of its forward: gradcheck is left out.
`suspects`   mistakes that only this exercise knows, tried before the usual ones.

Nothing is returned for a Function that is right, however it is written. Everything else raises `kit.Wrong`, or
`kit.Unanswered` for a stub.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import math
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

import minigrad as mg
from exercises.checks import adversaries, graphs, kit
from exercises.checks.kit import Unanswered, Wrong
from exercises.checks.sandbox import clip, describe_error, is_learners, learners_line, show
from minigrad.autograd import Function
from minigrad.autograd.function import FunctionNode

_METHODS = ("forward", "setup_context", "backward", "vjp")


@dataclass(frozen=True)
class Case:
    """One set of arguments: `make` makes them anew, always with the same numbers; `what` names them in a diagnosis."""

    what: str
    make: Callable[[], tuple]


@dataclass(frozen=True)
class Suspect:
    """A mistake with its diagnosis, known by what it computes: a `forward` with other values, or a `backward`.

    `forward(*arguments)` and `backward(*arguments, *grad_outputs)` get untracked tensors, and give what the mistake
    does: a tensor, or a tuple with one for each output or for each input that is differentiated.
    """

    code: str
    why: str
    look: str
    belief: str = ""
    forward: Callable | None = None
    backward: Callable | None = None


def suspects(text: str) -> tuple[Suspect, ...]:
    """Suspects as text: code, what the mistake gives and belief at the margin, then why, then what to look at.

        x; g
        square: forward x**2
            x² is x to the power of 2. Asked for is 2 to the power of x.
            look: the `return` of forward
        input-as-slope: g * x (M36)
            ...

    The first line has the arguments of forward and, after the semicolon, what arrives in backward. What is not said to
    be of forward is what backward gives.
    """
    arguments, text = text.strip().split("\n", 1)
    given = arguments.partition(";")[0]

    def mistake(formula: str) -> dict[str, Callable]:
        method, inputs = ("forward", given) if formula.startswith("forward ") else ("backward", arguments)
        source = f"lambda {inputs.replace(';', ',')}: ({formula.removeprefix('forward ')})"
        return {method: eval(source, {"mg": mg, "math": math})}

    return tuple(
        Suspect(code, why, look, belief, **mistake(formula)) for code, formula, belief, why, look in kit.diagnoses(text)
    )


def tensors(what: str, *shapes: tuple, low=-2.0, high=2.0, signed=False, rest=(), gaps=False, constants=()) -> Case:
    """A case of float64 tensors of these shapes, numbers from `low` to `high`, and the arguments of `rest` after them.

    `signed` makes every other number negative, `gaps` puts them apart in memory. `constants` are the positions of the
    tensors that need no gradient. Under the adversaries all of it is float32, too.
    """

    def make() -> tuple:
        random = np.random.default_rng([len(what), *(sum(shape) for shape in shapes)])
        arrays = [random.uniform(low, high, (*shape, 2)) for shape in shapes]
        arrays = [_every_other_negative(a) for a in arrays] if signed else arrays
        arrays = [a.astype(np.float32) for a in arrays] if "dtype" in adversaries.trial.circumstances else arrays
        made = [mg.tensor(a)[..., 0] if gaps else mg.tensor(a[..., 0].copy()) for a in arrays]
        made = [one.mul_(1) for one in made]  # as an update does: the version of a leaf need not be 0
        return (*(t if i in constants else t.requires_grad_() for i, t in enumerate(made)), *rest)

    return Case(what, make)


def given(what: str, *values: Any) -> Case:
    """A case of these very numbers, where they matter: a zero, something large."""

    def make() -> tuple:
        dtype = mg.float32 if "dtype" in adversaries.trial.circumstances else mg.float64
        return tuple(mg.tensor(value, dtype=dtype, requires_grad=True) for value in values)

    return Case(what, make)


def changed_by(case: Case, change: Callable) -> tuple:
    """The arguments of a case, in which each tensor is what `change` makes of it, and requires grad."""
    return tuple(change(a).requires_grad_() if isinstance(a, mg.Tensor) else a for a in case.make())


def _every_other_negative(array: np.ndarray) -> np.ndarray:
    """Every other pair along the last axis negated: both of its numbers, so that either may be chosen."""
    signs = np.resize([1.0, -1.0], array.size // array.shape[-1])
    return array * signs.reshape(array.shape[:-1])[..., None]


def elementwise(inputs: int = 1, **options: Any) -> list[Case]:
    """The cases for an operation on each element: options as for `tensors`."""
    cases = [
        tensors("a vector", *[(4,)] * inputs, **options),
        tensors("a matrix with gaps in memory", *[(2, 3)] * inputs, **{**options, "gaps": True}),
        tensors("a single number", *[()] * inputs, **options),
        tensors("an empty tensor", *[(0,)] * inputs, **options),
    ]
    if inputs > 1:
        wide, narrow = [(2, 3)] * (inputs - 1), [(2, 1)] * (inputs - 1)
        cases[1:1] = [
            tensors("inputs that are broadcast", *wide, (3,), **options),
            tensors("inputs that are both broadcast", *narrow, (3,), **options),
        ]
    return cases


def check(
    answer: Any,
    reference: Callable,
    cases: Iterable[Case],
    *,
    second: bool = False,
    numerical: bool = True,
    suspects: tuple[Suspect, ...] = (),
) -> None:
    """Raise a diagnosis unless `answer` computes what `reference` does, forward and backward, in every case."""
    apply = apply_of(answer)
    trials = [Trial(apply, reference, case, suspects, names_of(answer, case), numerical) for case in cases]
    for trial in trials:
        check_values(trial)
    for trial in trials:
        check_gradients(trial)
    for trial in trials:
        check_each_alone(trial)
        check_left_alone(trial)
    if len(trials) > 1:
        check_apart(trials[0], trials[-1])
    for start in ("leaf", "constant") if second else ():
        for trial in trials:
            check_second(trial, start)
    for trial in trials:
        check_second_walk(trial)
    for trial in trials[0], *trials[1:][-1:]:
        check_zeros(trial, second)
    for trial in trials if second else ():
        check_second(trial, "result")
    for trial in trials:
        check_create_graph(trial)
    # Not once more under an adversary: an old `.grad` changes nothing that these look at, and they take the longest.
    for trial in trials if numerical and not adversaries.trial.circumstances else ():
        check_numerically(trial, "gradcheck")
        if second:
            check_numerically(trial, "gradgradcheck")


# --- The answer ----------------------------------------------------------------------------------


def apply_of(answer: Any) -> Callable:
    """What to call: the `apply` of a class, which must be a Function with something written in it."""
    if isinstance(answer, type):
        if not issubclass(answer, Function):
            look = "the `class` line: `class Name(mg.autograd.Function):`"
            raise Wrong("not-a-function", "a subclass of `mg.autograd.Function`", show(answer), look=look)
        _refuse_stub(answer)
        return answer.apply
    if not callable(answer):
        look = "the name that you give to the check: the class itself, or its `apply`"
        raise Wrong("type", "the class of a Function, or its `apply`", show(answer), look=look)
    return answer


def refuse_given(answer: Any, given: str) -> None:
    """A class whose methods are still those of the exercise is no answer yet."""
    scope: dict[str, Any] = {"mg": mg}
    exec(compile(given, "<given>", "exec"), scope)
    (original,) = (value for value in scope.values() if isinstance(value, type))
    if isinstance(answer, type) and issubclass(answer, Function) and _words(answer) == _words(original):
        raise Unanswered("Change the class in the cell above, and run both cells.")


def _refuse_stub(answer: type) -> None:
    written = _written(answer)
    if all(getattr(answer, name) is getattr(Function, name) for name in ("forward", "backward", "vjp")):
        raise Unanswered("Write `forward` and `backward` in the class above, and run both cells.")
    for name, method in written.items():
        if name != "setup_context" and kit.is_stub(method):
            raise Unanswered(f"Write the body of `{name}` in the class above, and run both cells.")


def _written(answer: type) -> dict[str, types.FunctionType]:
    """The methods of a Function that the learner wrote, by name."""
    found = {name: getattr(answer, name) for name in _METHODS}
    return {n: f for n, f in found.items() if type(f) is types.FunctionType and f is not getattr(Function, n)}


def _words(answer: type) -> dict:
    written = {name: (method, inspect.unwrap(method)) for name, method in _written(answer).items()}
    return {
        name: (one is plain, plain.__code__.co_code, plain.__code__.co_consts, plain.__code__.co_names)
        for name, (one, plain) in written.items()
    }


def names_of(answer: Any, case: Case) -> list[str]:
    """What to call the arguments of forward in a diagnosis; also refuses a forward that does not take them."""
    arguments = case.make()
    numbered = [f"argument {position + 1}" for position in range(len(arguments))]
    written = _written(answer) if isinstance(answer, type) else {}
    if "forward" not in written:
        plain = answer if type(answer) is types.FunctionType else None
        names = [f"`{name}`" for name in plain.__code__.co_varnames[: plain.__code__.co_argcount]] if plain else []
        return [*names, *numbered[len(names) :]]
    given = arguments if "setup_context" in written else ("ctx", *arguments)
    signature = inspect.signature(written["forward"])
    try:
        signature.bind(*given)
    except TypeError:
        header = f"`forward({', '.join(signature.parameters)})`"
        wanted = "`ctx` and " * (given is not arguments) + f"{len(arguments)} argument{'s' * (len(arguments) > 1)}"
        look = "the `def forward` line"
        raise Wrong("arguments", f"a forward that takes {wanted}", header, look=look) from None
    names = [name for name, p in signature.parameters.items() if p.kind is not p.VAR_POSITIONAL]
    names = [f"`{name}`" for name in names[len(given) - len(arguments) :]]
    return [*names, *numbered[len(names) :]]


# --- One case ------------------------------------------------------------------------------------


class Run(NamedTuple):
    """One run of a function: the inputs that are differentiated, and the outputs."""

    arguments: tuple
    inputs: list
    outputs: tuple
    came_as: type


@dataclass
class Trial:
    """The learner's function and the reference on the same numbers."""

    apply: Callable
    reference: Callable
    case: Case
    suspects: tuple
    names: list[str]
    numerical: bool = True

    def run(self, function: Callable, only: int | None = None) -> Run:
        """Call a function on fresh arguments; `only` is the one input that is to require grad."""
        arguments = self.case.make()
        inputs = [a for a in arguments if isinstance(a, mg.Tensor) and a.requires_grad]
        if only is not None:
            for number, one in enumerate(inputs):
                one.requires_grad_(number == only)
            inputs = [inputs[only]]
        given = kit.call(function, *arguments)
        outputs = tuple(given) if type(given) in (tuple, list) else (given,)
        return Run(arguments, inputs, outputs, type(given))

    def learners(self, only: int | None = None) -> Run:
        """A run of the learner's function; errors that are known become their diagnosis."""
        try:
            return self.run(self.apply, only)
        except Wrong as wrong:
            if "save_for_backward can only save" in wrong.verdict.got:
                why = "`save_for_backward` is for tensors, one by one. Anything else becomes an attribute: `ctx.n = n`."
                look = "what you give to `save_for_backward`"
                raise Wrong("saved-no-tensor", "tensors to save", wrong.verdict.got, why=why, look=look) from None
            raise

    def name(self, run: Run, position: int) -> str:
        """The name of a differentiated input."""
        return next(n for n, a in zip(self.names, run.arguments, strict=False) if a is run.inputs[position])

    def inputs_in_words(self) -> str:
        shown = [f"{n} = {_in_words(a)}" for n, a in zip(self.names, self.case.make(), strict=False)]
        return clip(f"{self.case.what}: {', '.join(shown)}", 160)


def _in_words(value: Any, digits: int = 4) -> str:
    """A small tensor as a list, a large one by its shape, anything else as it is."""
    if value is None or not isinstance(value, mg.Tensor | np.ndarray):
        return show(value, 40)
    values = _array(value)
    if values.size > 6 or not values.size:
        return f"a tensor of shape {values.shape}"
    return str(np.round(values.astype(float) if values.dtype.kind == "f" else values, digits).tolist())


def _told_apart(wanted: Any, came: Any) -> tuple[str, str]:
    """Both in words, with as many digits as it takes to see a difference."""
    for digits in (4, 8, 12):
        words = _in_words(wanted, digits), _in_words(came, digits)
        if words[0] != words[1]:
            break
    return words


def _array(tensor: Any) -> np.ndarray:
    return tensor.detach().numpy() if isinstance(tensor, mg.Tensor) else np.asarray(tensor)


def _same(one: Any, other: Any) -> bool:
    """Whether two gradients agree; None counts as zero."""
    if one is None or other is None:
        given = one if other is None else other
        return given is None or not _array(given).any()
    a, b = _array(one), _array(other)
    return kit.same_arrays(a, b)


# --- Values --------------------------------------------------------------------------------------


def check_values(trial: Trial) -> None:
    """The outputs of forward: their number, kind, shape and values, and that autograd knows of them."""
    before = trial.case.make()
    mine, right = trial.learners(), trial.run(trial.reference)
    if len(mine.outputs) != len(right.outputs):
        wanted = f"{len(right.outputs)} result{'s' * (len(right.outputs) > 1)}"
        got = f"{len(mine.outputs)}: {', '.join(map(_in_words, mine.outputs))}"
        raise Wrong("number-of-outputs", wanted, got, look="the `return` of forward")
    if mine.came_as in (tuple, list) and right.came_as is mg.Tensor:
        look = "the `return` of forward: its brackets, or a comma at its end"
        raise Wrong("other-type", "a tensor as the result", f"a {mine.came_as.__name__} with one in it", look=look)
    if not any(one.forward for one in trial.suspects):
        _refuse_swapped(mine.outputs, right.outputs)
    for given, expected in zip(mine.outputs, right.outputs, strict=True):
        _check_value(trial, given, expected)
    for name, argument, kept in zip(trial.names, mine.arguments, before, strict=False):
        if isinstance(kept, mg.Tensor) and not _same(argument, kept):
            look = "each line of forward that writes: a `+=`, an assignment to an entry, an operation that ends in `_`"
            raise Wrong("input-changed", f"{name} as it was", _in_words(argument), look=look)
    if mine.came_as is list and not any(output.requires_grad for output in mine.outputs):
        why = "The results came in a list, and none of them requires grad. Autograd looks for them in a tuple only."
        raise Wrong("list", "a tuple of results", "a list", why=why, look="the `return` of forward")
    for given, expected in zip(mine.outputs, right.outputs, strict=True):
        _check_recorded(given, expected)


def _refuse_swapped(came: tuple, wanted: tuple) -> None:
    """The right results in the other order are told as such."""
    tensors = all(type(one) is mg.Tensor for one in came) and not all(map(_same, came, wanted))
    if tensors and all(map(_same, came, wanted[::-1])):
        expected, got = (", then ".join(map(_in_words, several)) for several in (wanted, came))
        why = "The numbers are right, and they come in the other order."
        raise Wrong("results-swapped", expected, got, why=why, look="the order in which forward returns its results")


def _check_value(trial: Trial, given: Any, expected: mg.Tensor) -> None:
    shown, got = _told_apart(expected, given)
    wanted = f"{shown} for {trial.inputs_in_words()}"
    if type(given) is not mg.Tensor:
        look = "what the `return` of forward gives back: it has to be a tensor"
        raise Wrong("none" if given is None else "other-type", "a tensor as the result", show(given), look=look)
    suspect = next((s for s in trial.suspects if s.forward and _computes(trial, s.forward, [given])), None)
    if suspect and not _same(given, expected):
        raise _of_suspect(suspect, wanted, got)
    if given.shape != expected.shape:
        wanted = f"a result of shape {tuple(expected.shape)} for {trial.inputs_in_words()}"
        raise Wrong("other-shape", wanted, f"shape {tuple(given.shape)}", look="the `return` of forward")
    if not _same(given, expected):
        raise Wrong("other-value", wanted, got, look="what forward computes")
    if given.dtype is not expected.dtype:
        why = "What is given has one dtype, and the result has another."
        look = "where forward makes a new tensor: it needs the dtype of its input"
        raise Wrong("other-dtype", f"a result of {expected.dtype}", f"{given.dtype}", why=why, look=look)
    _refuse_rounded("a result", given, expected)


def _check_recorded(given: mg.Tensor, expected: mg.Tensor) -> None:
    if expected.requires_grad and not given.requires_grad:
        why = "This result does not require grad: for autograd there is no way from it to the input."
        look = "whether you call `apply` (not `forward`), what you mark or detach, and each `no_grad`"
        raise Wrong("untracked", "a result that requires grad", show(given), why=why, look=look)
    if given.requires_grad and not expected.requires_grad:
        why = "This output has no gradient, and autograd has to be told so."
        look = "`ctx.mark_non_differentiable`"
        raise Wrong("tracked", "an output that does not require grad", show(given), why=why, look=look)
    if given.requires_grad and not any(isinstance(node, FunctionNode) for node in graphs.nodes(given)):
        got = ", ".join(graphs.operations(given)) or "no operation at all"
        why = "No Function is in the graph behind this result."
        look = "whether the result comes from the `apply` of your class"
        raise Wrong("not-recorded", "a graph with your Function in it", got, why=why, look=look)


def _computes(trial: Trial, mistake: Callable, given: Iterable, grad_outputs: tuple = ()) -> bool:
    """Whether this mistake, made on purpose, gives the same values."""
    arguments = [a.detach() if isinstance(a, mg.Tensor) else a for a in trial.case.make()]
    try:
        with mg.no_grad(), np.errstate(all="ignore"):
            made = mistake(*arguments, *grad_outputs)
    except Exception:
        return False
    made = made if isinstance(made, tuple) else (made,)
    given = list(given)
    return len(made) == len(given) and all(map(_same, made, given))


def _of_suspect(suspect: Suspect, expected: str, got: str) -> Wrong:
    return Wrong(suspect.code, expected, got, belief=suspect.belief, why=suspect.why, look=suspect.look)


# --- Gradients -----------------------------------------------------------------------------------


class Gradients(NamedTuple):
    """What one backward gave: the run, what it started from, and a gradient or None for each input."""

    run: Run
    starts: list
    came: tuple


def start_of(output: mg.Tensor, number: int, factor: float = 1.0) -> mg.Tensor:
    """A grad_output for output `number`: no two entries or outputs have the same, none is 1, and some are negative."""
    numbers = np.random.default_rng([output.numel(), number]).uniform(0.5, 1.5, (*output.shape, 1))
    return mg.tensor(np.asarray(factor * _every_other_negative(numbers)[..., 0]), dtype=output.dtype)


def gradients(run: Run, factor: float = 1.0, start: str = "constant", zeros: tuple = (), **options: Any) -> Gradients:
    """One backward from all outputs that require grad, where each grad_output is a "constant", a "leaf" that requires
    grad, or a "result" that is made from the output itself. `zeros` are the positions of those that are all 0."""
    outputs = [o for o in run.outputs if isinstance(o, mg.Tensor) and o.requires_grad]
    starts = [start_of(o, i, 0.0 if i in zeros else factor) for i, o in enumerate(outputs)]
    starts = [one.requires_grad_(start == "leaf") for one in starts]
    starts = [o * one for o, one in zip(outputs, starts, strict=True)] if start == "result" else starts
    came = mg.autograd.grad(outputs, run.inputs, starts, allow_unused=True, **options)
    return Gradients(run, starts, came)


def learners_gradients(trial: Trial, only: int | None = None, factor: float = 1.0, **options: Any) -> Gradients:
    """The same for the learner's function; errors that are known become their diagnosis."""
    run = trial.learners(only)
    try:
        return adversaries.trial.walk(trial.names, run.arguments, lambda: gradients(run, factor, **options))
    except adversaries.Found as found:
        raise Wrong(**found.parts) from None
    except Exception as error:
        if isinstance(error, NotImplementedError) and not learners_line(error):
            got, look = describe_error(error), "the class: it needs a `backward(ctx, grad_output)`"
            raise Wrong("no-backward", "a Function with a backward", got, look=look) from None
        raise _of_error(trial, run, error, only is not None) from None


def _of_error(trial: Trial, run: Run, error: Exception, alone: bool, what: str = "gradients") -> Wrong:
    got = describe_error(error)
    expected = f"{what} for {trial.inputs_in_words()}"
    if numbers := re.search(r"incorrect number of gradients \(expected (\d+), got (\d+)\)", got):
        return _of_number(run, got, *map(int, numbers.groups()))
    if "different than None at position" in got:
        why = "This argument of forward is no tensor, so it has no gradient: None belongs in its place."
        look = "what backward returns for each argument, and in which order"
        return Wrong("gradient-of-no-tensor", expected, got, why=why, look=look)
    if re.search(r"(backward|vjp)\(\) .*positional argument", got) and not learners_line(error):
        why = "backward gets `ctx`, and one gradient for each result of forward."
        return Wrong("arguments-of-backward", expected, got, why=why, look="the line with its `def`")
    if "expected Variable or None" in got:
        why = "backward returned something that is no tensor. It returns tensors, or None."
        return Wrong("no-tensor", expected, got, why=why, look="the type of what backward returns")
    if shapes := re.search(r"invalid gradient at index \d+ - got \[(.*)\] but .* with \[(.*)\]", str(error)):
        return _of_shape(trial, run, got, *(tuple(map(int, re.findall(r"\d+", one))) for one in shapes.groups()))
    # A tensor leaves a tuple beside it to Python, which wants to repeat the tuple and asks the tensor how often.
    of_a_tuple = isinstance(error, TypeError) and ("tuple" in got or "can be converted to an index" in got)
    if of_a_tuple and _reads_saved_tuple(error):
        why = "A tuple came where a tensor is needed. `ctx.saved_tensors` is a tuple, even if only one was saved."
        look = "how the tensors come out of it: `(x,) = ctx.saved_tensors`, with the comma"
        return Wrong("saved-tuple", expected, got, why=why, look=look)
    if "marked with @once_differentiable" in got:
        why = "The walk came to a backward that is marked so, and asked for is a Function with a second derivative."
        return Wrong(
            "once",
            "second derivatives",
            got,
            why=why,
            look="the decorator above each `def backward`, and what that computes with",
        )
    if alone:
        why = "Only one of the inputs requires grad here. The gradient of the others is not needed, and may be None."
        return Wrong("alone", expected, got, why=why, look="what backward does when an input needs no gradient")
    look = "backward" + ", at the line named above" * ("your line" in got)
    look = "what is changed in place, and in which walk" if "modified by an inplace operation" in got else look
    if "values to unpack" in got and "saved_tensors" in got:
        look += ", and what forward saves: the last call of `save_for_backward` counts"
    return Wrong("raised", expected, got, look=look)


def _reads_saved_tuple(error: Exception) -> bool:
    """Whether the line of a backward that failed reads all of `ctx.saved_tensors` as one thing, also by a name."""
    frame = None
    for one, _ in traceback.walk_tb(error.__traceback__):
        frame = one if is_learners(one.f_code.co_filename) else frame
    if frame is None:
        return False
    saved = next((v.saved_tensors for v in frame.f_locals.values() if isinstance(v, FunctionNode)), ())
    names = [name for name, value in frame.f_locals.items() if type(value) is tuple and _are_these(value, saved)]
    return re.search(rf"\b({'|'.join([*names, 'saved_tensors'])})\b(?!\s*\[)", learners_line(error)) is not None


def _are_these(values: tuple, tensors: tuple) -> bool:
    """Whether these are the tensors; a saved output comes as a new one each time, in the same memory."""
    pairs = zip(values, tensors, strict=False)
    return len(values) == len(tensors) and all(np.shares_memory(_array(a), _array(b)) for a, b in pairs)


def _of_number(run: Run, got: str, count: int, came: int) -> Wrong:
    """An error that says how many gradients came."""
    returned = _returned(run) if came == 1 else []
    if list in returned:
        why = "backward returned a list, which counts as one thing. Several gradients come in a tuple."
        look = "the `return` of backward"
        return Wrong("list-of-gradients", f"a tuple of {count} gradients", got, why=why, look=look)
    rule = "backward returns one gradient for each argument of forward, whether it needs one or not"
    of_this = count == len(run.arguments)  # and not of another Function that is called inside
    why, belief = f"{rule}; None is allowed.", "M32" if of_this and came == len(run.inputs) else ""
    if type(None) in returned:
        why, belief = f"backward returned None, and nothing else: {rule}.", ""
    if came > count:
        belief, why = "", f"{rule}, and no more. If two belong to the same argument, what is returned is their sum."
    look = "how many arguments forward has after `ctx`, and what backward returns"
    number = f"{count} gradient{'s' * (count > 1)}, for {count} argument{'s' * (count > 1)} of forward"
    return Wrong("number-of-gradients", number, got, belief=belief, why=why, look=look)


def _returned(run: Run) -> list[type]:
    """What kinds of things the learner's backward, run once more, returns."""
    seen: list[type] = []
    nodes = [node for output in run.outputs for node in graphs.nodes(output) if isinstance(node, FunctionNode)]
    codes = {inspect.unwrap(node._function.backward).__code__ for node in nodes}

    def watch(frame, event, returned):
        if event == "return" and frame.f_code in codes:
            seen.append(type(returned))

    sys.setprofile(watch)
    try:
        with contextlib.suppress(Exception):
            gradients(run)
    finally:
        sys.setprofile(None)
    return seen


def _of_shape(trial: Trial, run: Run, got: str, came: tuple, shape: tuple) -> Wrong:
    """An error that says that a gradient has a shape that does not fit."""
    expected = f"a gradient of shape {shape}"
    if len(shape) > 1 and came == shape[::-1]:
        why = "A gradient has the shape of its input. This one has it the other way round."
        return Wrong("transposed", expected, got, why=why, look="each `@` and `.t()` in backward")
    others = [n for n, a in zip(trial.names, run.arguments, strict=False) if getattr(a, "shape", None) == came]
    if others:
        why = f"A gradient has the shape of its input. This one has the shape of {others[0]}."
        look = "the order of what backward returns, and over which dimension it sums"
        return Wrong("swapped", expected, got, why=why, look=look)
    if np.prod(came) > np.prod(shape):
        of_a_result = any(getattr(one, "shape", None) == came for one in run.outputs)
        why = "A gradient has the shape of its input. Yours has more entries" + ", as many as the result" * of_a_result
        why += ": what several results bring is added up."
        look = "whether backward sums, and over which dimension"
        return Wrong("not-summed", expected, got, belief="M37" * of_a_result, why=why, look=look)
    if np.prod(came) < np.prod(shape):
        why = "A gradient has the shape of its input. Here too much was added up, or too little came."
        return Wrong("summed-too-far", expected, got, why=why, look="each `sum`, `mean`, `@` and index in backward")
    look = "the shape of each gradient that backward returns"
    return Wrong("shape-of-gradient", expected, got, why="A gradient has the shape of its input.", look=look)


def check_gradients(trial: Trial, zeros: tuple = ()) -> None:
    """One backward, compared with the reference's; what differs is explained as well as the evidence allows."""
    mine = learners_gradients(trial, zeros=zeros, retain_graph=True)
    right = gradients(trial.run(trial.reference), zeros=zeros)
    for number, (start, fresh) in enumerate(zip(mine.starts, right.starts, strict=True), 1):
        if not _same(start, fresh):
            name = "`grad_output`" if len(mine.starts) == 1 else f"the gradient of result {number}"
            why = "backward changed its argument. Others may hold the same tensor."
            look = "each operation of backward that ends in `_`, each `*=` and each assignment to an entry"
            raise Wrong("grad-output-changed", f"{name} as it was", _in_words(start), why=why, look=look)
    if not all(map(_same, mine.came, right.came)):
        raise _of_gradients(trial, mine, right)
    for position, pair in enumerate(zip(mine.came, right.came, strict=True)):
        _refuse_rounded(f"gradient of {trial.name(mine.run, position)}", *pair)


def _refuse_rounded(what: str, came: Any, wanted: Any) -> None:
    """Right to six digits is right in float32 only."""
    came, wanted = (_array(0.0 if one is None else one) for one in (came, wanted))
    if came.shape == wanted.shape and not kit.same_arrays(came, wanted, 1e-9):
        got = f"one that is off by {np.abs(came - wanted).max():.1g}"
        raise Wrong("rounded", f"{what}: as exact as float64 is", got, look=adversaries.ROUNDED[1])


def _of_gradients(trial: Trial, mine: Gradients, right: Gradients) -> Wrong:
    position = next(i for i, pair in enumerate(zip(mine.came, right.came, strict=True)) if not _same(*pair))
    name, came = trial.name(mine.run, position), mine.came[position]
    starts = " and ".join(map(_in_words, right.starts))
    wanted, got = _told_apart(right.came[position], came)
    expected = f"gradient of {name}: {wanted} (grad_output {starts}, {trial.inputs_in_words()})"
    for suspect in trial.suspects:
        if suspect.backward and _computes(trial, suspect.backward, mine.came, tuple(right.starts)):
            return _of_suspect(suspect, expected, got)
    if came is None:
        why = f"No gradient comes back to {name}, although the result moves with it."
        return Wrong("no-gradient", expected, got, why=why, look="what backward returns, and for which argument")
    if np.isnan(_array(came)).any():
        return Wrong("nan-gradient", expected, got, look="what backward divides by, and each logarithm, root and power")
    cause = _factor_of_start(trial, position, came, right.came[position])
    code, why, look, belief = cause or _cause(trial, right, position, mine.came)
    return Wrong(code, expected, got, belief=belief, why=why, look=look)


def _factor_of_start(trial: Trial, position: int, came: mg.Tensor, wanted: Any) -> tuple | None:
    """The diagnosis if a gradient is not proportional to grad_output, while that of the reference is."""
    doubled = gradients(trial.run(trial.reference), factor=2.0).came[position]
    if not _same(doubled, None if wanted is None else 2 * wanted):
        return None
    again, zero, twice = (learners_gradients(trial, factor=f).came[position] for f in (1.0, 0.0, 2.0))
    if not _same(came, again):
        why = f"With the same numbers once more, another gradient came: {_in_words(again)}."
        return "not-the-same-again", why, "what is kept from one call to the next", ""
    if zero is not None and (np.abs(_array(zero)) > 1e-9).any():  # which nan is not
        why = (
            "For grad_output 0 your gradient is not 0. A gradient is the slope times grad_output, in each of its terms."
        )
        return "no-grad-output", why, "whether grad_output stands in what backward returns, and where", ""
    if twice is not None and not _same(_array(twice), 2 * _array(came)):
        why = "When grad_output doubles, the gradient has to double. Yours does not."
        return "grad-output-twice", why, "what backward does to grad_output: it is a factor, once", ""
    return None


def _cause(trial: Trial, right: Gradients, position: int, all_came: tuple) -> tuple:
    """The first of the usual mistakes that gives what came: its code, why, where to look, the belief."""
    came = _array(all_came[position])
    wanted = np.zeros_like(came) if right.came[position] is None else _array(right.came[position])
    if _same(came, -wanted):
        look = "the signs in backward: a minus too many, one that is missing, or one inside a square"
        return "wrong-sign", "The size is right, and the sign is the other one.", look, ""
    for other, gradient in enumerate(right.came):
        if other != position and gradient is not None and _same(came, gradient):
            why = f"That is the gradient of {trial.name(right.run, other)}."
            return "swapped", why, "the order of what backward returns, and of what forward saves", ""
    if wanted.ndim == 2 and wanted.shape[0] == wanted.shape[1] and _same(came, wanted.T):
        return "transposed", "The right one is what `.t()` makes of it.", "each `@` and `.t()` in backward", ""
    for code, slope, why, look, belief in _other_slopes(trial, right, position):
        if _same(came, slope):
            return code, why, look, belief
    factor = _one_factor(came, wanted)
    if factor is not None:
        why = f"Every entry is {factor:.4g} times what it should be."
        return "wrong-factor", why, "each factor, term, sum and mean in backward", ""
    look = "one entry: the slope of what forward computes, on paper, and what backward makes of it"
    return "other-gradient", "", look if trial.numerical else "what is to become of one entry of `grad_output`", ""


def _other_slopes(trial: Trial, right: Gradients, position: int) -> Iterable[tuple]:
    """What some usual mistakes give for this input, where they can be made: the reference may refuse other inputs."""
    with contextlib.suppress(RuntimeError, TypeError, ValueError, IndexError, AttributeError):
        yield from _slopes_of_mistakes(trial, right, position)


def _slopes_of_mistakes(trial: Trial, right: Gradients, position: int) -> Iterable[tuple]:
    run, look = right.run, "the slope of what forward computes, and what of it was saved"
    x, y, start = _array(run.inputs[position]), _array(run.outputs[0]), _array(right.starts[0])
    for row in _single_rows(trial, position, y.shape):
        why = "The input is used for several results, and each use brings a gradient: they are added up. One is left."
        yield "not-summed", row, why, "whether backward sums, and over which dimensions", ""
    if len(run.outputs) > 1 or x.shape != y.shape or not trial.numerical:
        return
    yield "no-slope", start, "What comes is grad_output itself, without a slope.", look, ""
    yield "slope-of-output", start * y, "That is grad_output times the result, not times the slope.", look, ""
    why = "That is grad_output times the input. What is needed is the slope at the input."
    yield "slope-of-input", start * x, why, look, ""
    at_output = _slope_at(trial, position, y, start)
    why, saved = "That is the slope at the result. The slope is needed at the input.", "what was saved, in which order"
    yield "slope-at-output", at_output, why, f"what the slope is computed from: {saved}", ""
    slope = _array(right.came[position]) / start
    why = "Each entry of grad_output belongs to one entry of the result. In your gradient all of them are added up"
    for added, how in ((start.sum(), "."), (start.mean(), ", and divided by their number.")):
        yield "grad-output-added", slope * added, why + how, "each sum and mean in backward", ""


def _slope_at(trial: Trial, position: int, point: np.ndarray, start: np.ndarray) -> Any:
    """The reference's gradient at another point."""
    arguments, place = _moved(trial, position)
    arguments[place] = x = mg.tensor(point, requires_grad=True)
    with np.errstate(all="ignore"):
        output = trial.reference(*arguments)
        return mg.autograd.grad(output, x, mg.tensor(start), allow_unused=True)[0]


def _moved(trial: Trial, position: int) -> tuple[list, int]:
    """Fresh arguments, and the place among them of a differentiated input."""
    arguments = list(trial.case.make())
    tracked = [i for i, a in enumerate(arguments) if isinstance(a, mg.Tensor) and a.requires_grad]
    return arguments, tracked[position]


def _single_rows(trial: Trial, position: int, shape: tuple) -> Iterable[np.ndarray]:
    """For an input that is broadcast: the gradients of its first and of its last use, not added up."""
    arguments, place = _moved(trial, position)
    x = arguments[place].detach()
    if x.shape == shape or not x.numel() or not _broadcasts(x.shape, shape):
        return
    arguments[place] = wide = x.expand(*shape).clone().requires_grad_()
    output = trial.reference(*arguments)
    each = _array(mg.autograd.grad(output, wide, start_of(output, 0))[0])
    for end in (0, -1):
        row = each
        for _ in range(each.ndim - x.dim()):
            row = row[end]
        for axis, size in enumerate(x.shape):
            row = row if size == row.shape[axis] else np.take(row, [end], axis)
        yield row


def _broadcasts(narrow: tuple, wide: tuple) -> bool:
    padded = (1,) * (len(wide) - len(narrow)) + tuple(narrow)
    return len(padded) == len(wide) and all(a in (1, b) for a, b in zip(padded, wide, strict=True))


def _one_factor(came: np.ndarray, wanted: np.ndarray) -> float | None:
    """The one factor between the two, if there is one; of a single number only a simple one tells anything."""
    if came.shape != wanted.shape or not came.any() or not wanted.any():
        return None
    factor = float((came * wanted).sum() / (wanted**2).sum())
    simple = factor and min(abs(f - round(f)) for f in (factor, 1 / factor) if round(f)) < 1e-6
    several = np.count_nonzero(wanted) > 1
    exact = 1e-9 if came.dtype == np.float64 else 1e-5
    told = f"{factor:.4g}" not in ("0", "1") and (several or simple)  # a factor that near 1 is rather an added number
    return factor if told and np.allclose(came, factor * wanted, exact, 0) else None


def _other_gradients(wanted: tuple, walk: Callable[[], Gradients]) -> str:
    """What comes in place of these gradients, in words; nothing where it is they."""
    try:
        came = walk().came
    except Exception as error:
        return describe_error(error)
    return "" if all(map(_same, came, wanted)) else ", ".join(map(_in_words, came))


def check_second_walk(trial: Trial) -> None:
    """The same gradients from a second walk over the same graph."""
    first = learners_gradients(trial, retain_graph=True)
    expected = f"the same gradients from a second walk over the graph ({trial.inputs_in_words()})"
    got = _other_gradients(first.came, lambda: gradients(first.run))
    if not got:
        return
    look = "what backward changes on `ctx`, in a global name or in place, and each walk in it: it frees a graph"
    raise Wrong("second-walk", expected, got, look=look)


def check_create_graph(trial: Trial) -> None:
    """The same gradients from a walk that is recorded: it is a first walk, whatever may come of a second one."""
    right = gradients(trial.run(trial.reference)).came
    mine = trial.learners()
    got = _other_gradients(right, lambda: gradients(mine, create_graph=True))
    if not got:
        return
    expected = f"with `create_graph=True` the same gradients as without it ({trial.inputs_in_words()})"
    why = "In a first walk with `create_graph=True` grad mode is on in backward. The gradients have to be the same."
    look = "what backward does where grad mode is on"
    raise Wrong("create-graph", expected, got, why=why, look=look)


def check_each_alone(trial: Trial) -> None:
    """The same gradients where only one of several inputs requires grad."""
    right = gradients(trial.run(trial.reference))
    for position in range(len(right.came) if len(right.came) > 1 else 0):
        mine = learners_gradients(trial, only=position)
        if not _same(mine.came[0], right.came[position]):
            name = trial.name(mine.run, 0)
            wanted, got = _told_apart(right.came[position], mine.came[0])
            expected = f"gradient of {name}, where only {name} requires grad: {wanted}"
            why = f"If only {name} requires grad, its gradient is another one than if all inputs do."
            look = "each use of `ctx.needs_input_grad`, and the order of what backward returns"
            raise Wrong("alone", expected, got, why=why, look=look)


def check_left_alone(trial: Trial) -> None:
    """Results that are given, and numbers that are a thousand times as large, are left as they are, too."""
    for factor, what in ((1.0, "results of operations"), (1e3, "numbers a thousand times as large")):
        arguments = changed_by(trial.case, lambda a, factor=factor: a.detach() * factor)
        arguments = tuple(a * 1 if isinstance(a, mg.Tensor) else a for a in arguments)
        with np.errstate(all="ignore"):
            found = adversaries.trial.changed_by(trial.names, arguments, functools.partial(trial.apply, *arguments))
        if found is not None:
            wrong = Wrong(**found.parts)
            wrong.verdict.given = f"{what}, in place of {trial.inputs_in_words()}"
            raise wrong


def check_apart(trial: Trial, other: Trial) -> None:
    """The same gradients if the function is applied to something else before this one goes backward."""
    right = gradients(trial.run(trial.reference)).came
    mine = trial.learners()
    other.learners()
    adversaries.trial.forget_last()
    expected = f"the gradients for {trial.inputs_in_words()}, also if `apply` is called once more before `backward()`"
    got = _other_gradients(right, lambda: gradients(mine))
    if not got:
        return
    why = "With a second `apply` in between, something else comes. What each has for itself is its `ctx`."
    look = "what forward leaves on the class or in a global name, and not on `ctx`"
    raise Wrong("shared", expected, got, why=why, look=look)


# --- Second derivatives --------------------------------------------------------------------------


def check_second(trial: Trial, start: str, zeros: tuple = ()) -> None:
    """The gradient of the gradients, by the inputs and, where that is a leaf, by grad_output."""
    mine = learners_gradients(trial, start=start, zeros=zeros, create_graph=True)
    right = gradients(trial.run(trial.reference), start=start, zeros=zeros, create_graph=True)
    try:
        came, seen = second_derivatives(mine)
    except Exception as error:
        raise _of_error(trial, mine.run, error, False, "second derivatives") from None
    wanted, _ = second_derivatives(right)
    wrong = next((i for i, pair in enumerate(zip(came, wanted, strict=True)) if not _same(*pair)), None)
    if wrong is not None:
        is_right = all(map(_same, mine.came, right.came))
        first = (
            "The first derivative is right" if is_right else "With `create_graph=True` the first one is wrong already"
        )
        raise _of_second(trial, mine, wrong, came[wrong], wanted[wrong], seen, first)


def second_derivatives(first: Gradients) -> tuple[tuple, bool]:
    """Of the weighted sum of the gradients, by inputs and grad_outputs; and whether there was any history."""
    sources = [*first.run.inputs, *(start for start in first.starts if start.is_leaf)]
    tracked = [g for g in first.came if g is not None and g.requires_grad]
    if not tracked:
        return (None,) * len(sources), False
    total = sum((g * start_of(g, 10 + i)).sum() for i, g in enumerate(tracked))
    total.backward()  # and not grad(): what refuses to be differentiated twice is then come to, and says so
    return tuple(source.grad for source in sources), True


def _of_second(trial: Trial, mine: Gradients, place: int, came: Any, wanted: Any, seen: bool, first: str) -> Wrong:
    inputs = len(mine.run.inputs)
    source = trial.name(mine.run, place) if place < inputs else "grad_output"
    if place >= inputs and len(mine.starts) > 1:
        source += f" {place - inputs + 1} of {len(mine.starts)}"
    shown, got = _told_apart(wanted, came)
    expected = f"how the gradient moves with {source}: {shown} ({trial.inputs_in_words()})"
    got += f": no way back to {source}" if came is None else ""
    if not mine.starts[0].is_leaf:  # and it was right for a leaf
        why = "It is right where `grad_output` is a leaf. Here it was computed from the result, as in a square of it: "
        why += "its history leads to the inputs, too, and is no part of your Function."
        expected += ", where `grad_output` has a history"
        return Wrong(
            "walks-on", expected, got, why=why, look="each walk in backward: what it goes through, and to what"
        )
    start = "leaf" if mine.starts[0].requires_grad else "constant"
    expected += ", where `grad_output` requires no grad" * (start == "constant")
    details = dict(picture=_gradient_as_a_graph(trial, start) if seen and inputs == 1 else None)
    last = adversaries.trial.last
    kept, copied, by_operations = _kept_without_history(trial)
    adversaries.trial.last = last  # what is shown as given is this case
    if kept and place < inputs and not (came is not None and np.isnan(_array(came)).any()):
        why = (
            f"{first}. But the node keeps {kept}, {copied or 'neither an input nor a result,'} and without a history: "
            "for autograd it does not move with the input."
        )
        look = (
            "what you save: inputs and outputs have a history. What forward computes on the way has none, nor has what "
        )
        look += "`detach`, `.data` or `numpy` gives"
        belief = "M33" if by_operations and not copied.startswith(("the numbers", "an array")) else ""
        return Wrong("saved-intermediate", expected, got, belief=belief, why=why, look=look, **details)
    if came is None:
        why = f"{first}, but for autograd it does not depend on {source}: its history was cut, or not recorded."
        look = f"{_CUTS}; and each walk, `grad` or `backward()`, without `create_graph`"
        return Wrong("detached", expected, got, why=why, look=look, **details)
    why = f"{first}, and its own derivative is not what it should be."
    look = f"{_CUTS}; and the backward of each Function that it calls"
    return Wrong("other-second", expected, got, why=why, look=look, **details)


_CUTS = "what backward computes from: each `detach`, `.data`, `no_grad`, and number or array: `item`, `tolist`, `numpy`"


def _gradient_as_a_graph(trial: Trial, start: str) -> Any:
    """The graph of the first gradient that has one, before anything is done with it."""
    fresh = learners_gradients(trial, start=start, create_graph=True)
    names = {name.strip("`"): a for name, a in zip(trial.names, fresh.run.arguments, strict=False)}
    gradient = next(g for g in fresh.came if g is not None and g.requires_grad)
    names |= {"grad_output": fresh.starts[0], "gradient": gradient}
    return mg.draw(gradient, params={n: t for n, t in names.items() if isinstance(t, mg.Tensor)}, grads=False)


class _Plain(Function):
    """Its node has the attributes that every node has."""

    forward = staticmethod(lambda ctx, x: x * 1)
    backward = staticmethod(lambda ctx, grad_output: grad_output)


def _kept_without_history(trial: Trial) -> tuple[str, str, bool]:
    """What the learner's node keeps that is neither an input nor an output, moves with the inputs, and is used.

    Its name, whether it is a copy, in words, and whether it may come from operations: forward does not go past them.
    """
    run = trial.learners()
    numbers = itertools.count(20)  # each input is multiplied by others: x / y and x / x.sum() move, too
    moved = functools.partial(changed_by, trial.case, lambda a: a.detach() * start_of(a.detach(), next(numbers)).abs())
    others = dict(_kept(replace(trial, case=Case("", moved)).learners())) if _kept(run) else {}
    for name, value in _kept(run):
        if name in others and not _same(value, others[name]) and _is_used(run, _array(value)):
            nodes = [
                node._function for one in run.outputs for node in graphs.nodes(one) if isinstance(node, FunctionNode)
            ]
            past = any(kit.uses(inspect.unwrap(f.forward), "detach", "data", "numpy", "no_grad") for f in nodes)
            return f"`{name}`", _copy_of(value, run), not past
    return "", "", False


def _kept(run: Run) -> list[tuple[str, Any]]:
    """The tensors and arrays of numbers without a history that the learner's nodes keep, by name."""
    given = *run.arguments, *run.outputs
    found: list[tuple[str, Any]] = []
    for node in (node for output in run.outputs for node in graphs.nodes(output) if isinstance(node, FunctionNode)):
        known = [(f"ctx.{name}", value) for name, value in vars(node).items() if name not in _OF_ALL]
        known += [(f"saved_tensors[{i}]", saved) for i, saved in enumerate(node.saved_tensors)]
        found += [(name, one) for name, one in known if getattr(one, "is_leaf", isinstance(one, np.ndarray))]
    return [(name, one) for name, one in found if not any(one is a for a in given) and _array(one).dtype.kind == "f"]


_OF_ALL = set(vars(_Plain.apply(mg.tensor(1.0, requires_grad=True)).grad_fn))


def _is_used(run: Run, kept: np.ndarray) -> bool:
    """Whether the gradients are others for other numbers in there."""
    before, old = gradients(run, retain_graph=True).came, kept.copy()
    try:
        kept[...] = 2 * kept + 1
        return not all(map(_same, gradients(run, retain_graph=True).came, before))
    except Exception:
        return True
    finally:
        kept[...] = old


def _copy_of(value: Any, run: Run) -> str:
    """Whether this is the numbers of an input or a result themselves, or the same numbers once more, in words."""
    if any(np.shares_memory(_array(value), _array(one)) for one in (*run.inputs, *run.outputs)):
        return "the numbers of an input or a result,"
    if isinstance(value, np.ndarray):
        return "an array of NumPy,"
    known = {"an input": run.inputs, "a result": run.outputs}
    found = (what for what, all_of in known.items() if any(np.array_equal(_array(value), _array(t)) for t in all_of))
    return next((f"another tensor with the numbers of {what}," for what in found), "")


# --- Zeros ---------------------------------------------------------------------------------------


def check_zeros(trial: Trial, second: bool) -> None:
    """The same where a grad_output, or an input, is zero in all places: it has a slope and a history all the same."""
    zero = [replace(trial, case=case) for case in _cases_of_zeros(trial)]
    results = range(len(trial.run(trial.reference).outputs))
    arriving = [tuple(results), *((one,) for one in results if len(results) > 1)]
    where = ""
    try:
        for one in [trial, *zero]:
            for zeros in arriving if one is trial else [(), *arriving]:
                where = " and ".join(["an input"] * (one is not trial) + ["a `grad_output`"] * bool(zeros))
                if not zeros:
                    check_values(one)
                check_gradients(one, zeros)
                if second:
                    check_second(one, "leaf", zeros)
    except Wrong as wrong:
        expected, got = wrong.verdict.expected, wrong.verdict.got
        if "nan" in got or "your line" in got:
            raise
        why = f"For other numbers it is right, and here there are only zeros in {where}. A zero is a number as any "
        why += "other: the same rule holds for it" + ", and what comes of it moves when it does" * second + "."
        look = "each `if`, `where`, sign, mask, division and `except` that depends on numbers"
        raise Wrong("zeros", expected, got, why=why, look=look) from None


def _cases_of_zeros(trial: Trial) -> list[Case]:
    """The case with zeros for each input, and for all, where the reference has two derivatives."""
    arguments = trial.case.make()
    places = [i for i, a in enumerate(arguments) if isinstance(a, mg.Tensor) and a.requires_grad]
    found = []
    for chosen in [*((i,) for i in places if len(places) > 1), tuple(places)]:
        names = " and ".join(trial.names[i] for i in chosen)
        case = Case(f"zeros for {names}", functools.partial(_zeroed, trial.case, chosen))
        if _has_two_derivatives(replace(trial, case=case)):
            found.append(case)
    return found


def _zeroed(case: Case, chosen: tuple) -> tuple:
    return tuple((0 * a.detach()).requires_grad_() if i in chosen else a for i, a in enumerate(case.make()))


def _has_two_derivatives(trial: Trial) -> bool:
    """Whether the reference, its gradients and theirs have numbers for this case."""
    with np.errstate(all="ignore"):
        first = gradients(trial.run(trial.reference), start="leaf", create_graph=True)
        second, _ = second_derivatives(first)
    made = [_array(one) for one in (*first.run.outputs, *first.came, *second) if one is not None]
    return all(np.isfinite(one).all() for one in made)


# --- Numbers -------------------------------------------------------------------------------------


def check_numerically(trial: Trial, which: str) -> None:
    """gradcheck or gradgradcheck, which need no reference."""
    arguments = trial.case.make()
    try:
        getattr(mg.autograd, which)(trial.apply, arguments)
    except Exception as error:
        adversaries.trial.forget_last()
        said = [note.removeprefix("minigrad: ") for note in getattr(error, "__notes__", ())]
        notes = " ".join(note for note in said if "kink" not in note)  # the values were compared: there is none
        expected = f"`{which}` passes for {trial.inputs_in_words()}"
        look = "what forward does with its inputs and their numbers, and what backward does with each `grad_output`: "
        look += "one of zeros, none at all, and the same one twice"
        raise Wrong(which, expected, describe_error(error), why=notes, look=look) from None
