"""What checks of several chapters do: make leaves, read numbers, run a learner's function, explain its errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import minigrad as mg
from exercises.checks import graphs, kit
from exercises.checks.adversaries import Found, text, trial
from exercises.checks.kit import Wrong
from exercises.checks.targets import no_node


@dataclass(frozen=True)
class Reason:
    """What an error of the learner's code means here: the diagnosis for a part of its message, where `when` holds."""

    message: str
    code: str
    why: str
    look: str
    belief: str = ""
    when: Callable[..., bool] = lambda *inputs: True

    def wrong(self, expected: str, got: str) -> Wrong:
        """The diagnosis."""
        return Wrong(self.code, expected, got, belief=self.belief, why=self.why, look=self.look)


def reasons(text: str, **when: Callable[..., bool]) -> tuple[Reason, ...]:
    """Reasons as text: code, a part of the error's message and belief at the margin, then why, then what to look at.

        second-time: a second time (M13)
            A walk came to a node that an earlier walk had freed.
            look: how many walks your function makes

    `when` has a condition by code, written with "_" for "-".
    """
    always: Callable[..., bool] = lambda *inputs: True  # noqa: E731
    return tuple(
        Reason(message, code, why, look, belief, when.get(code.replace("-", "_"), always))
        for code, message, belief, why, look in kit.diagnoses(text)
    )


FLAG_OF_A_RESULT = reasons("""
flag-of-a-result: only change requires_grad flags of leaf
    A tensor that requires grad may be a leaf or a result, and here it is a result: its flag follows from its inputs.
    look: how to use its value, and leave it alone
""")


def called(function: Callable, inputs: tuple, expected: str, *reasons: Reason) -> Any:
    """The learner's function on our inputs; errors that are known become their diagnosis."""
    try:
        return kit.call(function, *inputs)
    except Wrong as wrong:
        for reason in reasons:
            if reason.message in wrong.message and reason.when(*inputs):
                raise reason.wrong(expected, wrong.verdict.got) from None
        raise


def constant(values: Any) -> mg.Tensor:
    """An untracked tensor of float64; under the adversaries also of float32."""
    return mg.tensor(values, dtype=mg.float32 if "dtype" in trial.circumstances else mg.float64)


def leaf(values: Any) -> mg.Tensor:
    """A tracked leaf of the same dtype; under the adversaries also with gaps in memory."""
    trial.made_leaf = True
    made = constant(values)
    if "gaps" in trial.circumstances:
        made = mg.stack([made, made], -1)[..., 0]
    return made.requires_grad_()


def result(given: Any) -> mg.Tensor:
    """What a learner's function returned, which must be a tensor."""
    return kit.a_tensor(given, "the result", "what `return` gives back")


def array(tensor: mg.Tensor) -> np.ndarray:
    """A copy of a tensor's numbers, as float64."""
    return tensor.detach().numpy().astype(float)


def same(one: Any, other: Any) -> bool:
    """Whether two arrays have the same shape and, up to rounding, the same numbers."""
    return kit.same_arrays(np.asarray(one, dtype=float), np.asarray(other, dtype=float))


FACTORS = "`x.grad` divided by what the walk starts from, -2, 3, 0.5 and so on"


def slopes(y: mg.Tensor, x: mg.Tensor) -> np.ndarray | None:
    """The slope of each entry of `y` by that of `x`, from one walk in which each entry of `y` has another factor.

    That is no `.grad`: where it is shown, `FACTORS` says what it is.
    """
    factors = np.resize([-2.0, 3.0, 0.5], y.shape)
    walk(y.backward, mg.tensor(factors, dtype=y.dtype))
    return None if x.grad is None else array(x.grad) / factors


def refuse_other_values(tensor: mg.Tensor, right: Any, what: str, look: str, tolerance: float = 1e-6) -> None:
    """The diagnosis for a tensor with another shape or other values than `right`, which are those of `what`."""
    if not kit.same_values(tensor, right, tolerance):
        shape = f" of shape {tuple(tensor.shape)}" if tensor.shape != np.shape(right) else ""
        raise Wrong("other-value", f"{text(right)}, {what}", text(array(tensor)) + shape, look=look)


def filled(expected: str, came: str) -> Wrong:
    """The diagnosis for a leaf that has a `.grad` before its caller's backward()."""
    why = "`.grad` is what the caller's backward() fills, and adds to."
    return Wrong("backward-inside", expected, came, why=why, look="each `backward()`, and each line that sets `.grad`")


def listed(words: list[str]) -> str:
    """Words as a sentence has them: a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def walk(go_backward: Callable, *arguments: Any) -> Any:
    """Go backward through the learner's graph; whatever stops that becomes a diagnosis."""
    try:
        return trial.walk([], (), lambda: go_backward(*arguments))
    except Found as found:
        raise Wrong(**found.parts) from None
    except Exception as error:
        got = kit.sandbox.describe_error(error)
        why = "Your function returns, but a backward from its result does not reach the end."
        look = (
            "what hooks and backwards of yours return, what is changed in place, and whether you go backward yourself"
        )
        raise Wrong("no-way-back", "a result that backward() can start from", got, why=why, look=look) from None


def with_gradient(tensor: mg.Tensor) -> mg.Tensor:
    """A tensor with an old `.grad`: a result keeps one if it was asked to."""
    tensor.retain_grad()
    tensor.grad = mg.ones_like(tensor.detach())
    return tensor


def told(
    patterns: tuple[kit.Pattern, ...], facts: dict[str, Any], expected: str = "", got: str = "", **signs: bool
) -> Wrong:
    """The first of these diagnoses whose facts hold, or the last one; `{name}` in a text stands for a fact.

    A code, written with "_" for "-", whose sign was not seen in the answer is told without its belief.
    """
    *known, other = patterns
    one = next((one for one in known if all(facts.get(name) == value for name, value in one.gives.items())), other)
    belief = one.belief if signs.get(one.code.replace("-", "_"), True) else ""
    why, look = one.why.format(**facts), one.look.format(**facts)
    return Wrong(one.code, expected, got, belief=belief, why=why, look=look)


def other_graph(y: mg.Tensor, name: str, patterns: tuple[kit.Pattern, ...], **more: Any) -> Wrong:
    """The diagnosis for a tensor, called `name`, that has another graph than that of the picture, which has one leaf.

    Facts are the sorted `operations`, the `root`, the number of `leaves`, how many `ways` end in one, and whether one
    is multiplied by itself (`squares`).
    """
    if y.grad_fn is None:
        return no_node(y, name)
    operations, leaves = graphs.operations(y), len(graphs.leaves(y))
    facts = {"operations": " ".join(operations), "records": ", ".join(operations[:6]), "root": y.grad_fn.op_name}
    facts |= {"leaves": leaves, "one_leaf": leaves == 1, "ways": graphs.ways_to_leaves(y)}
    return told(patterns, facts | {"squares": graphs.multiplies_by_itself(y)} | more)


GRAD_OF_ANOTHER_TYPE = reasons("""
grad-of-another-type: attempting to assign a gradient with dtype
    A `.grad` has the dtype of its tensor, which here is another one than that of what you put there.
    look: the dtype of each tensor that becomes a `.grad`: is it made for float64 as for float32?
""")


def of_value(text: str, came: Any, expected: str = "", got: str = "", **values: Any) -> Wrong:
    """The first of these diagnoses whose formula, made of `values`, is what came, or True; otherwise the last one.

        row-sums: hessian.sum(0) (M24)
            These are all rows of H added up, as with ones for factors.
            look: `grad_outputs=`
        other-product: came
            look: each walk

    Only zeros are no evidence: many a mistake gives them.
    """
    *known, other = kit.diagnoses(text)

    def gives(formula: str) -> bool:
        try:
            found = eval(formula, {"np": np, "came": came, **values})
        except IndexError:  # of more numbers than there are
            return False
        return found if isinstance(found, bool) else came is not None and bool(np.any(found)) and same(came, found)

    code, _, belief, why, look = next((one for one in known if gives(one[1])), other)
    return Wrong(code, expected, got, belief=belief, why=why, look=look)


def texts(text: str, expected: str = "{when}") -> Callable[..., Wrong]:
    """Diagnoses as text, in the form of `reasons`, with what is expected in the place of the error's message.

    What comes back makes one: from its name, of which the code is the part before "/", what came, and what is left open
    in the text.
    """
    known = {name: parts for name, *parts in kit.diagnoses(text)}

    def wrong(name: str, got: str, /, **left_open: Any) -> Wrong:
        when, belief, why, look = (part.format(**left_open) for part in known[name])
        wanted = expected.format(when=when, **left_open)
        return Wrong(name.partition("/")[0], wanted, got, belief=belief, why=why, look=look)

    return wrong


_WRITTEN_TO = reasons("""
written-to: read-only
    Your function writes into what it is given, if only for a while. Here that memory is read-only, so this is noticed.
    look: each assignment to `.data` or to an entry, each `+=` and its like, and what is written through NumPy
""")


_TENSOR: Any = mg.Tensor
_DATA: Any = vars(mg.Tensor)["data"]


def refuse_writing(function: Callable, *inputs: Any) -> None:
    """Call a function with tensors that cannot be written to: it may write, and put the old numbers back."""

    def set_data(tensor: mg.Tensor, value: Any) -> None:
        if any(tensor is one for one in inputs):
            raise RuntimeError("this tensor is read-only here: its `.data` cannot be set")
        _DATA.fset(tensor, value)

    for one in inputs:
        if isinstance(one, mg.Tensor):
            one._array.flags.writeable = False
    _TENSOR.data = property(_DATA.fget, set_data)
    try:
        called(function, inputs, "what is given keeps its numbers, all the time", *_WRITTEN_TO)
    finally:
        _TENSOR.data = _DATA


RETAINS = (True, False)  # a walk by `retain_graph=True`, and not by `create_graph=True`


def refuse_retained(walks: list[tuple[bool, bool]], why: str) -> None:
    """The diagnosis for walks that keep the graph, where what they are to give is right."""
    kept, belief = sum(retains for retains, _ in walks), "M13" if RETAINS in walks else ""
    if kept:
        why = f"{why} But nothing has to be kept for that, and what is kept costs memory."
        got, look = f"walks that keep the graph: {kept} of {len(walks)}", "the options of each walk: which keeps it?"
        raise Wrong("retained-anyway", "nothing is retained", got, belief=belief, why=why, look=look)


def if_seen(sign: Any, wrong: Wrong) -> Wrong:
    """The diagnosis, without its belief where no sign of that was seen."""
    wrong.verdict.belief = wrong.verdict.belief if sign else ""
    return wrong


def something(given: Any, function: Callable, expected: str) -> Any:
    """What a learner's function returned, which must not be None."""
    if given is None:
        look = "each way through your function: does it end in a `return`, and what of? `sort()`, say, gives None"
        look = "whether a `return` is missing" if kit.returns_nothing(function) else look
        raise Wrong("none", expected, "None", look=look)
    return given


def patterns(text: str) -> tuple[kit.Pattern, ...]:
    """`kit.patterns`, and after each that shows a belief by several values the same for the first alone, without it."""
    found = []
    for one in kit.patterns(text):
        first = dict([*one.gives.items()][:1])
        found += [one, *([replace(one, gives=first, belief="")] if one.belief and len(one.gives) > 1 else [])]
    return tuple(found)


def count(number: int, thing: str) -> str:
    """So many of a thing, in words: "1 call", "2 calls"."""
    return f"{number} {thing}{'es' if thing.endswith('s') else 's'}" if number != 1 else f"1 {thing}"
