"""Is a gradient right? Compare it with finite differences, and say what is likely wrong where they differ.

Two Jacobians are compared, with a row per input element and a column per output element. The numerical one is
computed row by row: perturb one input element by plus and minus eps, and take the difference of the outputs. The
analytical one is computed column by column: one backward per output element.

PyTorch counterpart: ``torch/autograd/gradcheck.py``, in its slow mode.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from ..factories import ones, zeros, zeros_like
from ..messages import UNDEFINED_WARNING, refusal, refuse
from ..tensor import Tensor, wrap
from .forward_ad import dual_level, make_dual, unpack_dual
from .function import FunctionNode
from .grad import grad
from .grad_mode import enable_grad, is_grad_enabled, no_grad


class GradcheckError(RuntimeError):
    """Raised when an analytical gradient differs from the numerical one."""


def gradcheck(
    func,
    inputs,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    check_grad_dtypes: bool = False,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients that autograd gives for `func` with central differences of width 2 `eps`.

    Inputs should be float64. Returns True, or raises GradcheckError with both Jacobians and a likely cause
    (False with ``raise_exception=False``). `check_grad_dtypes` and `fast_mode` change nothing: the engine gives
    every gradient its input's dtype, and the whole check is always made. `masked` allows small gradients for a
    zero grad_output. PyTorch counterpart: ``torch.autograd.gradcheck``.

    >>> import minigrad as mg
    >>> x = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    >>> gradcheck(mg.sin, (x,))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    refuse_batches(check_batched_forward_grad or check_batched_grad)
    modes = (check_forward_ad, check_backward_ad)
    check = Check(func, as_tuple(inputs), eps, atol, rtol, nondet_tol, check_undefined_grad, bool(masked), *modes)
    return run_check(check, raise_exception)


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """The same for second derivatives: gradcheck of the function that computes the gradient of `func`.

    Its inputs are those of `func` and the gradients to start from, random ones if `grad_outputs` has none.
    Options as for `gradcheck`. PyTorch counterpart: ``torch.autograd.gradgradcheck``.

    >>> import minigrad as mg
    >>> x = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    >>> gradgradcheck(mg.sin, (x,))
    True
    """
    modes = (check_fwd_over_rev, check_rev_over_rev)
    refuse_modes(*modes, check_undefined_grad)
    refuse_batches(check_batched_grad)
    check = Check(func, as_tuple(inputs), eps, atol, rtol, nondet_tol, check_undefined_grad, masked, *modes)
    outputs = differentiable(check.outputs())
    if not outputs:  # there are no gradients to check, if the outputs are constant indeed
        return run_check(check, raise_exception)
    if grad_outputs is None:
        grad_outputs = random_like(outputs, gen_non_contig_grad_outputs)
    return run_check(check.of_gradients(as_tuple(grad_outputs)), raise_exception)


def refuse_modes(forward_over_reverse: bool, reverse_over_reverse: bool, undefined: bool) -> None:
    if not (forward_over_reverse or reverse_over_reverse):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if undefined and not reverse_over_reverse:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")


def refuse_batches(batched: bool) -> None:
    if batched:
        raise NotImplementedError("minigrad: there are no batched gradients; check them one at a time.")


class Check(NamedTuple):
    """What is checked, with which tolerances, in which modes."""

    func: Callable
    inputs: tuple
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    undefined: bool
    masked: bool
    forward: bool
    backward: bool
    first: "Check | None" = None  # of a gradgradcheck: the check whose gradients `func` computes

    @property
    def checked(self) -> list:
        """The inputs whose gradients are checked."""
        return [x for x in self.inputs if isinstance(x, Tensor) and x.requires_grad]

    def outputs(self) -> tuple:
        return as_tuple(self.func(*self.inputs))

    def agree(self, analytical, numerical) -> bool:
        return np.allclose(analytical, numerical, self.rtol, self.atol)

    def of_gradients(self, grad_outputs: tuple) -> "Check":
        """The check of the gradients, as a function of the inputs and of the gradients to start from."""
        needed = [i for i, x in enumerate(self.inputs) if isinstance(x, Tensor) and x.requires_grad]

        def gradients(*arguments):
            arguments, seeds = arguments[: len(self.inputs)], arguments[len(self.inputs) :]
            outputs = differentiable(as_tuple(self.func(*arguments)))
            found = grad(outputs, [arguments[i] for i in needed], seeds, create_graph=True, allow_unused=True)
            return tuple(g for g in found if g is not None)

        return self._replace(func=gradients, inputs=(*self.inputs, *grad_outputs), first=self)


def as_tuple(tensors) -> tuple:
    return tuple(tensors) if isinstance(tensors, (tuple, list)) else (tensors,)


def differentiable(outputs: tuple) -> tuple:
    return tuple(o for o in outputs if o.requires_grad)


def random_like(outputs: tuple, non_contiguous: bool) -> tuple:
    """Numbers between -1 and 1 in the outputs' shapes; in memory with gaps if `non_contiguous`."""
    generator = np.random.default_rng(0)
    arrays = [generator.uniform(-1, 1, (*o.shape, 2)).astype(o._dtype)[..., 0] for o in outputs]
    return tuple(wrap(a if non_contiguous else np.array(a)).requires_grad_() for a in arrays)


# -- the check -----------------------------------------------------------------------------------


def run_check(check: Check, raise_exception: bool) -> bool:
    check_inputs(check)
    try:
        compare(check)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def check_inputs(check: Check) -> None:
    """Refuse inputs of which none requires grad, or one is expanded; warn of one that is not float64."""
    for index, x in enumerate(check.inputs):
        if not (isinstance(x, Tensor) and x.requires_grad):
            continue
        if x._array.dtype != np.float64:
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=4,
            )
        # (NumPy gives an array without elements strides of 0.)
        if x.numel() and any(step == 0 and size > 1 for step, size in zip(x._array.strides, x.shape, strict=True)):
            raise refusal("gradcheck of an expanded input", index)
    if not check.checked:
        raise refusal("gradcheck of no input")


def compare(check: Check) -> None:
    """Compare the Jacobians of every output by every input, then check linearity and undefined gradients."""
    outputs = check.outputs()
    tracked = [number for number, output in enumerate(outputs) if output.requires_grad]
    numerical = [numerical_jacobians(check, x, outputs) for x in check.checked]
    if not tracked:
        check_constant(numerical, "output" if check.first is None else "gradient")
        return
    if check.backward:
        compare_backward(check, outputs, tracked, numerical)
    if check.forward:
        compare_forward(check, outputs, tracked, numerical)
    if check.backward:
        check_linear(check, outputs)
    if check.backward and check.undefined:
        check_undefined(check)


def compare_backward(check: Check, outputs: tuple, tracked: list, numerical: list) -> None:
    """The Jacobians that backward gives, row after row, against the numerical ones."""
    for number, column in enumerate(tracked):
        analytical = reproducible_jacobians(check, outputs[column])
        for position, (jacobian, reached) in enumerate(analytical):
            pair = JacobianPair(check, number, column, position, numerical[position][column], jacobian, reached)
            if not pair.agrees():
                raise mismatch(pair)


def compare_forward(check: Check, outputs: tuple, tracked: list, numerical: list) -> None:
    """The Jacobians that forward mode gives, column after column, against the numerical ones."""
    for position, x in enumerate(check.checked):
        jacobians = forward_jacobians(check, x, outputs)
        for number, column in enumerate(tracked):
            expected, found = numerical[position][column], jacobians[column]
            if not check.agree(found, expected):
                raise refuse(
                    GradcheckError,
                    f"Jacobian computed with forward mode mismatch for output {number} with respect to input "
                    f"{position},\nnumerical:{wrap(expected)}\nanalytical:{wrap(found)}\n",
                    "backward does not matter here: look at the jvp of the Functions in it, and for what cuts tangents "
                    "off (detach, item, numpy).",
                )


def forward_jacobians(check: Check, x: Tensor, outputs: tuple) -> list:
    """The Jacobian of each output by `x`: one run of the function per element of `x`."""
    jacobians = [np.zeros((x.numel(), o.numel()), o._dtype) for o in outputs]
    for row, index in enumerate(np.ndindex(x._array.shape)):
        with dual_level():
            arguments = [as_dual(check, i, index if i is x else None) for i in check.inputs]
            for jacobian, output in zip(jacobians, as_tuple(check.func(*arguments)), strict=True):
                tangent = unpack_dual(output).tangent
                if tangent is not None:
                    jacobian[row] = tangent._array.ravel()
    return jacobians


def as_dual(check: Check, x, index: tuple | None):
    """An input with the tangent 0, or 1 at one place; as it is, if it is not to be checked."""
    if not any(x is each for each in check.checked):
        return x
    tangent, primal = zeros_like(x), x.detach()
    if index is not None:
        tangent._array[index] = 1
    return make_dual(primal if check.first is None else primal.requires_grad_(), tangent)


def numerical_jacobians(check: Check, x: Tensor, outputs: tuple) -> list:
    """The numerical Jacobian of each output by `x`; None for an output of integers."""
    jacobians = [np.zeros((x.numel(), o.numel()), o._dtype) if o.is_floating_point() else None for o in outputs]
    for row, index in enumerate(np.ndindex(x._array.shape)):
        low, high = perturbed_outputs(check, x, index, -check.eps), perturbed_outputs(check, x, index, check.eps)
        for jacobian, a, b in zip(jacobians, low, high, strict=True):
            for what in ("shape", "dtype"):
                if getattr(a, what) != getattr(b, what):
                    kinds = getattr(a, what), getattr(b, what)
                    raise refusal("output changes under gradcheck", what, index, check.eps, what, *kinds)
            if jacobian is not None:
                with np.errstate(all="ignore"):
                    jacobian[row] = ((b._array - a._array) / (2 * check.eps)).ravel()
    return jacobians


def perturbed_outputs(check: Check, x: Tensor, index: tuple, step: float) -> list:
    """The outputs of the function with one element of `x` perturbed by `step`."""
    return with_perturbed(x, index, step, lambda: [wrap(o._array.copy()) for o in check.outputs()])


def with_perturbed(x: Tensor, index: tuple, step: float, compute: Callable):
    """The result of `compute` while one element of `x` is perturbed by `step`; then the element is restored.

    The memory itself is changed, as in PyTorch: the function may have `x` from elsewhere than its arguments.
    """
    array = x._array
    x._array = writable = array if array.flags.writeable else array.copy()
    before = writable[index]
    try:
        writable[index] = before + step
        return compute()
    finally:
        writable[index] = before
        x._array = array


def reproducible_jacobians(check: Check, output: Tensor) -> list:
    """What `backward_jacobians` returns, after the check that a second run gives the same."""
    first, second = backward_jacobians(output, check.checked), backward_jacobians(output, check.checked)
    for position, ((a, reached), (b, _)) in enumerate(zip(first, second, strict=True)):
        gap = np.abs(a - b)
        if reached and gap.size and gap.max() > check.nondet_tol:
            raise refuse(
                GradcheckError,
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                "gives different values, although analytical gradient matches numerical gradient.The tolerance for "
                f"nondeterminism was {check.nondet_tol}.",
                f"two runs of backward differ by up to {gap.max():.6g} in the gradient of input {position}. "
                "Something in backward is random, or remembers earlier runs; nondet_tol allows for a small difference.",
            )
    return first


def backward_jacobians(output: Tensor, inputs: list) -> list:
    """Pairs (Jacobian, whether the input got a gradient), one per input: one backward per output element."""
    jacobians = [np.zeros((x.numel(), output.numel()), x._dtype) for x in inputs]
    reached = [False] * len(inputs)
    for column, index in enumerate(np.ndindex(output._array.shape)):
        seed = zeros_like(output)
        seed._array[index] = 1
        for number, gradient in enumerate(grad(output, inputs, seed, retain_graph=True, allow_unused=True)):
            if gradient is not None:
                jacobians[number][:, column] = gradient._array.ravel()
                reached[number] = True
    return list(zip(jacobians, reached, strict=True))


def check_constant(numerical: list, what: str) -> None:
    """If no output requires grad, the numerical Jacobians have to be zero."""
    for position, jacobians in enumerate(numerical):
        for number, jacobian in enumerate(jacobians):
            if jacobian is not None and jacobian.any():
                why = "the graph was cut (detach, no_grad, item, numpy)" if is_grad_enabled() else "grad mode is off"
                raise refuse(
                    GradcheckError,
                    "Numerical gradient for function expected to be zero",
                    f"{what} {number} moves with input {position}, but it does not require grad: {why}.",
                )


def check_linear(check: Check, outputs: tuple) -> None:
    """A gradient is linear in grad_output, so a zero grad_output must give zero."""
    for position, gradient in enumerate(gradients_for_zeros(differentiable(outputs), check.checked)):
        if not is_zero(gradient, check.masked):
            raise refuse(
                GradcheckError,
                "backward not multiplied by grad_output",
                f"for grad_output 0 the gradient of input {position} is {largest_entry(gradient._array):.6g}, not 0: "
                "every gradient that backward returns has grad_output as a factor.",
            )


def gradients_for_zeros(outputs: tuple, inputs: list) -> tuple:
    """The gradients for a zero grad_output."""
    return grad(outputs, inputs, [zeros_like(o) for o in outputs], retain_graph=True, allow_unused=True)


def is_zero(gradient, approximately: bool = False) -> bool:
    if gradient is None:
        return True
    return np.allclose(gradient._array, 0) if approximately else not gradient._array.any()


def largest_entry(array: np.ndarray) -> float:
    """The entry farthest from zero; NaN if there is one."""
    return array.flat[np.abs(array).argmax()]


def check_undefined(check: Check) -> None:
    """An undefined gradient of an output has to count as zero, whether a Function is given zeros or None for it."""
    for node in functions_behind(differentiable(check.outputs()), lambda node: not node.materialize_grads):
        seeds = [
            zeros(like[0], dtype=check.checked[0].dtype) if like and node.materialize_grads else None
            for like in node._likes
        ]
        with no_grad():
            check_zero(partial(gradients_of, node, seeds), node.name())
    for output in differentiable(check.outputs()):
        for hook in hooks_of(output):
            check_zero(partial(call_with_none, hook), "a hook")
    count = len(differentiable(check.outputs()))
    for missing in range(count if count > 1 else 0):
        outputs = differentiable(check.outputs())
        others = outputs[:missing] + outputs[missing + 1 :]
        check_zero(partial(gradients_for_zeros, others, check.checked), f"a backward without output {missing}")


def hooks_of(output: Tensor) -> list:
    """The tensor hooks of an output."""
    hooks = None if output.is_leaf else output.grad_fn._node._hooks
    return [] if hooks is None else list(hooks.tensor_hooks.get(output.output_nr, {}).values())


def call_with_none(hook: Callable) -> tuple:
    """Call a hook as for an output without a gradient: with None. It has no results to check."""
    hook(None)
    return ()


def check_zero(gradients: Callable, name: str) -> None:
    try:
        found = gradients()
    except RuntimeError as error:
        warnings.warn(UNDEFINED_WARNING, UserWarning, stacklevel=6)
        raise refuse(
            GradcheckError,
            'Expected backward function to handle undefined output grads. Please look at "Notes about undefined output '
            'gradients" in "tools/autograd/derivatives.yaml"',
            f"{name} fails where a grad_output is None, as set_materialize_grads(False) has it.",
        ) from error
    if not all(map(is_zero, found)):
        warnings.warn(UNDEFINED_WARNING, UserWarning, stacklevel=6)
        raise refuse(
            GradcheckError,
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please look "
            'at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"',
            f"{name} gives a gradient where every grad_output is None or 0; None or 0 is right.",
        )


def gradients_of(node: FunctionNode, grad_outputs: list) -> tuple:
    """What a Function's backward returns."""
    gradients = as_tuple(node.apply(*grad_outputs))
    for gradient in gradients:
        if gradient is not None and not isinstance(gradient, Tensor):
            raise refusal("gradient is no tensor", type(gradient).__name__)
    return gradients


def functions_behind(outputs: tuple, go_on: Callable = lambda node: True) -> Iterator:
    """The nodes of Functions in the graph of `outputs`; past a node only where `go_on` says so."""
    waiting = [o._node for o in outputs]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        if isinstance(node, FunctionNode):
            yield node
            if not go_on(node):
                continue
        new = [n for n in node._next_nodes if n is not None and n not in seen]
        seen.update(new)
        waiting += new


# -- what is likely wrong ------------------------------------------------------------------------


class JacobianPair(NamedTuple):
    """The two Jacobians of one output by one input."""

    check: Check
    output: int  # counts the outputs that require grad, as PyTorch's message does
    column: int  # counts all outputs
    position: int  # counts the inputs that require grad
    numerical: np.ndarray
    analytical: np.ndarray
    reached: bool  # whether the input got a gradient

    @property
    def input(self) -> Tensor:
        return self.check.checked[self.position]

    def agrees(self) -> bool:
        return self.check.agree(self.analytical, self.numerical)

    def worst(self) -> tuple:
        """Input and output element of the entry that differs most; NaN differs more than anything."""
        with np.errstate(invalid="ignore"):
            gap = np.abs(self.numerical - self.analytical)
        return tuple(int(i) for i in np.unravel_index(gap.argmax(), gap.shape))

    def element(self) -> tuple:
        """The index of the input element of that entry."""
        return tuple(int(i) for i in np.unravel_index(self.worst()[0], self.input._array.shape))

    def describe_worst(self) -> str:
        """That entry in words: how output 0[1] moves with input 0[1]."""
        check, first = self.check, self.check.first
        what, source = "output", f"input {self.position}"
        if first is not None:
            what = "gradient"
            number = next(i for i, x in enumerate(check.inputs) if x is self.input) - len(first.inputs)
            source = source if number < 0 else f"grad_outputs[{number}]"
        element = np.unravel_index(self.worst()[1], check.outputs()[self.column]._array.shape)
        return f"how {what} {self.output}{bracketed(element)} moves with {source}{bracketed(self.element())}"

    def with_larger_step(self) -> "JacobianPair":
        """The same with a step and tolerances for single precision: 0.01 times the input's size, and 0.01."""
        size = max(1.0, float(np.abs(self.input._array).max()))
        check = self.check._replace(eps=0.01 * size, atol=0.01, rtol=0.01)
        numerical = numerical_jacobians(check, self.input, check.outputs())[self.column]
        return self._replace(check=check, numerical=numerical)


def bracketed(index: tuple) -> str:
    return f"[{', '.join(str(int(i)) for i in index)}]" if index else ""


def mismatch(pair: JacobianPair) -> Exception:
    """PyTorch's sentence; then, as notes, the entry that differs most and the likely cause."""
    row, column = pair.worst()
    error = refuse(
        GradcheckError,
        f"Jacobian mismatch for output {pair.output} with respect to input {pair.position},\n"
        f"numerical:{wrap(pair.numerical)}\nanalytical:{wrap(pair.analytical)}\n",
        f"entry ({row}, {column}) differs most: {pair.numerical[row, column]:.6g} by finite differences, "
        f"{pair.analytical[row, column]:.6g} by backward ({pair.describe_worst()}).",
    )
    cause = likely_cause(pair)
    if cause:
        error.add_note("minigrad: " + cause)
    return error


def likely_cause(pair: JacobianPair) -> str | None:
    """The first known cause that there is evidence for."""
    if is_nondeterministic(pair):
        return "two runs of the function give different outputs: something in it is random, or remembers earlier runs."
    kinds = {pair.input._dtype.name, pair.numerical.dtype.name} - {"float64"}
    if kinds:
        pair = pair.with_larger_step()
        if pair.agrees():
            return (
                f"with a step of {pair.check.eps:g} the two agree: {kinds.pop()} is too coarse for small steps, and "
                "the gradient may be right. Check with double()."
            )
    return next(filter(None, (cause(pair) for cause in CAUSES)), None)


def is_nondeterministic(pair: JacobianPair) -> bool:
    one, other = pair.check.outputs(), pair.check.outputs()
    return not all(np.array_equal(a._array, b._array, equal_nan=True) for a, b in zip(one, other, strict=True))


def not_finite(pair: JacobianPair) -> str | None:
    if not np.isfinite(pair.numerical).all():
        return "the function gives nan or inf there."
    if not np.isfinite(pair.analytical).all():
        return "backward gives nan or inf where the function is smooth."
    return None


def not_linear(pair: JacobianPair) -> str | None:
    outputs = differentiable(pair.check.outputs())
    if is_zero(gradients_for_zeros(outputs, pair.check.checked)[pair.position]):
        return None
    return "for grad_output 0 the gradient is not 0: every gradient that backward returns has grad_output as a factor."


def kink(pair: JacobianPair) -> str | None:
    """The slopes to the left and to the right differ, and stay apart with a smaller step."""
    (left, right), (left_nearer, right_nearer) = (one_sided_slopes(pair, pair.check.eps / part) for part in (1, 4))
    if pair.check.agree(left, right) or abs(left_nearer - right_nearer) < abs(left - right) / 2:
        return None
    return (
        f"the function has a kink or a jump there: its slope is {left:.6g} to the left and {right:.6g} to the right. "
        "Check at another point."
    )


def one_sided_slopes(pair: JacobianPair, step: float) -> tuple:
    """The one-sided differences at the entry that differs most."""
    index, column = pair.element(), pair.worst()[1]
    points = [perturbed_outputs(pair.check, pair.input, index, s)[pair.column] for s in (-step, 0.0, step)]
    left, here, right = (float(value._array.flat[column]) for value in points)
    return (here - left) / step, (right - here) / step


def unrecorded_dependence(pair: JacobianPair) -> str | None:
    """For second derivatives: a Function's backward depends on the input, but that dependence was not recorded."""
    first = pair.check.first
    if first is None or pair.position >= len(first.checked):
        return None
    here, there = (
        gradients_of_functions(first),
        with_perturbed(pair.input, pair.element(), pair.check.eps, partial(gradients_of_functions, first)),
    )
    for (node, tracked, gradients), (_, _, changed) in zip(here, there, strict=True):
        if not tracked and not all(map(np.array_equal, gradients, changed)):
            return (
                f"what {node.name()} returns changes with the input, but for autograd it depends on grad_output alone. "
                "It uses something without history: a value that forward kept, detach(), .data or NumPy. Save inputs "
                "and outputs with save_for_backward, and compute the rest from them in backward."
            )
    return None


def gradients_of_functions(check: Check) -> list:
    """Per Function in the graph: its node, whether its gradients depend on more than grad_output, and the gradients."""
    found = []
    for node in functions_behind(differentiable(check.outputs())):
        kind = check.checked[0].dtype
        seeds = [ones(like[0], dtype=kind, requires_grad=True) if like else None for like in node._likes]
        with enable_grad():
            gradients = [g for g in gradients_of(node, seeds) if g is not None]
        tracked = bool(leaves_behind(gradients) - {seed._node for seed in seeds if seed is not None})
        found.append((node, tracked, [g._array for g in gradients]))
    return found


def leaves_behind(tensors: list) -> set:
    """The ends of the graph of `tensors`."""
    waiting = [t._node for t in tensors if t.requires_grad]
    seen = set(waiting)
    while waiting:
        new = {node for node in waiting.pop()._next_nodes if node is not None} - seen
        seen |= new
        waiting += new
    return {node for node in seen if not node._next_nodes}


def graph_was_cut(pair: JacobianPair) -> str | None:
    if pair.reached:
        return None
    what = f"output {pair.output}" if pair.check.first is None else "the first gradient"
    return (
        f"no gradient comes to input {pair.position}: {what} depends on it, but the graph between them was cut "
        "(detach, no_grad, item, numpy), or a backward returns None for it."
    )


def transposed(pair: JacobianPair) -> str | None:
    numerical, analytical, shape = pair.numerical, pair.analytical, pair.input.shape
    if numerical.shape == analytical.T.shape and pair.check.agree(analytical.T, numerical):
        return "analytical is the transpose of numerical: backward has to multiply with the transposed matrix."
    if len(shape) == 2 and shape[0] == shape[1]:
        swapped = analytical.reshape(*shape, -1).swapaxes(0, 1).reshape(analytical.shape)
        if pair.check.agree(swapped, numerical):
            return f"the gradient of input {pair.position} is transposed: the right one is what .t() makes of it."
    return None


def scaled(pair: JacobianPair) -> str | None:
    """One is a multiple of the other. If a single entry is not zero, only a simple factor counts: -1, 2, 1/2."""
    numerical, analytical = pair.numerical.astype(np.float64), pair.analytical.astype(np.float64)
    if not analytical.any():
        return "analytical is 0 everywhere: backward gives nothing although the output moves."
    factor = (analytical * numerical).sum() / (numerical**2).sum() if numerical.any() else 0.0
    if factor == 0 or not pair.check.agree(analytical, factor * numerical):
        return None
    simple = min(abs(f - round(f)) for f in (factor, 1 / factor) if round(f)) < 1e-3
    if not simple and np.count_nonzero(np.abs(numerical) > pair.check.atol) < 2:
        return None
    why = "the sign is wrong" if abs(factor + 1) < 1e-3 else "a factor is wrong, or a term is missing"
    return f"analytical is {factor:.6g} x numerical: {why} in backward."


CAUSES = (not_finite, not_linear, kink, unrecorded_dependence, graph_was_cut, transposed, scaled)
