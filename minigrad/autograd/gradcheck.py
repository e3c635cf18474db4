"""Is a gradient right? Compare it with finite differences.

PyTorch counterparts: ``torch.autograd.gradcheck`` and ``gradgradcheck``.
"""

import warnings

import numpy as np

from ..factories import zeros_like
from ..messages import refuse
from ..tensor import Tensor, wrap
from .engine import as_tuple, grad
from .grad_mode import enable_grad


class GradcheckError(RuntimeError):
    """Raised when an analytical gradient differs from the numerical one."""


def gradcheck(func, inputs, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0) -> bool:
    """Compare the gradients that autograd gives for `func` with central differences.

    Inputs should be float64: the differences are about 1e-6. Returns True, or raises GradcheckError with
    both Jacobians (False with ``raise_exception=False``).

    >>> import minigrad as mg
    >>> x = mg.tensor([1.0, 2.0], dtype=mg.float64, requires_grad=True)
    >>> gradcheck(mg.sin, (x,))
    True
    """
    try:
        _compare(func, as_tuple(inputs), eps, atol, rtol, nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True) -> bool:
    """The same for second derivatives: checks the gradient of `func` as a function of its own."""
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        outputs = tensors_of(func(*inputs))
        grad_outputs = [wrap(generator.random(o._array.shape).astype(o._array.dtype)) for o in outputs]
        for g in grad_outputs:
            g.requires_grad_()
    grad_outputs = as_tuple(grad_outputs)
    count = len(grad_outputs)

    def first_gradients(*arguments):
        arguments, seeds = arguments[:-count], arguments[-count:]
        needed = tuple(a for a in arguments if isinstance(a, Tensor) and a.requires_grad)
        with enable_grad():
            outputs = [o for o in tensors_of(func(*arguments)) if o.requires_grad]
            return grad(outputs, needed, seeds[: len(outputs)], create_graph=True, materialize_grads=True)

    return gradcheck(first_gradients, (*inputs, *grad_outputs), eps, atol, rtol, raise_exception)


def tensors_of(outputs) -> list:
    """The floating outputs of a function, as a list."""
    return [o for o in as_tuple(outputs) if isinstance(o, Tensor) and o._array.dtype.kind == "f"]


def _compare(func, inputs, eps, atol, rtol, nondet_tol) -> None:
    checked = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i in checked:
        if inputs[i]._array.dtype != np.float64:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=4,
            )
    outputs = tensors_of(func(*inputs))
    for position, index in enumerate(checked):
        numerical = _numerical(func, inputs, index, eps)
        for number, output in enumerate(outputs):
            if not output.requires_grad:
                if not np.allclose(numerical[number], 0, atol=atol):
                    raise GradcheckError("Numerical gradient for function expected to be zero")
                continue
            analytical = _analytical(output, inputs[index])
            again = _analytical(output, inputs[index])
            if not np.allclose(analytical, numerical[number], rtol, atol):
                raise _mismatch(number, position, numerical[number], analytical, inputs[index])
            if np.abs(analytical - again).max(initial=0) > nondet_tol:
                raise GradcheckError(NOT_REENTRANT % nondet_tol)
    _check_multiplied(outputs, [inputs[i] for i in checked])


NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
    "different values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism "
    "was %s."
)


def _numerical(func, inputs, index, eps) -> list:
    """Jacobians (input element × output element) by central differences, one per output."""
    array = inputs[index]._array
    columns = []
    for position in np.ndindex(array.shape):
        ends = []
        for step in (eps, -eps):
            moved = array.copy()
            moved[position] += step
            stand_in = wrap(moved)
            stand_in.requires_grad_()
            arguments = [stand_in if i == index else x for i, x in enumerate(inputs)]
            with enable_grad():
                ends.append([o._array.copy() for o in tensors_of(func(*arguments))])
        columns.append([(high - low).ravel() / (2 * eps) for high, low in zip(*ends, strict=True)])
    count = len(columns[0]) if columns else 0
    return [np.stack([column[n] for column in columns]) for n in range(count)]


def _analytical(output, input) -> np.ndarray:
    """The Jacobian by one backward per output element."""
    columns = []
    for position in np.ndindex(output._array.shape):
        seed = zeros_like(output)
        seed._array[position] = 1
        (gradient,) = grad(output, input, seed, retain_graph=True, allow_unused=True)
        columns.append(np.zeros(input._array.size) if gradient is None else gradient._array.ravel())
    return np.stack(columns, axis=1) if columns else np.zeros((input._array.size, 0))


def _check_multiplied(outputs, inputs) -> None:
    """A gradient is linear in grad_output, so a zero grad_output must give zero."""
    outputs = [o for o in outputs if o.requires_grad]
    if not outputs:
        return
    seeds = [zeros_like(o) for o in outputs]
    for gradient in grad(outputs, inputs, seeds, retain_graph=True, allow_unused=True):
        if gradient is not None and gradient._array.any():
            raise GradcheckError("backward not multiplied by grad_output")


def _mismatch(output: int, input: int, numerical, analytical, tensor) -> Exception:
    worst = np.unravel_index(np.abs(numerical - analytical).argmax(), numerical.shape)
    single = tensor._array.dtype != np.float64
    return refuse(
        GradcheckError,
        f"Jacobian mismatch for output {output} with respect to input {input},\n"
        f"numerical:{wrap(numerical)}\nanalytical:{wrap(np.asarray(analytical))}\n",
        f"entry {tuple(int(i) for i in worst)} differs most: {numerical[worst]:.6g} by finite differences, "
        f"{analytical[worst]:.6g} by backward."
        + (" The input is not float64, which alone can cause this." if single else ""),
    )
