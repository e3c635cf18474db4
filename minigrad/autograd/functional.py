"""Derivatives of functions: Jacobians, Hessians, and their products with a vector.

All but ``strategy="forward-mode"`` is computed with ``grad()``, which is reverse mode. So a vector-Jacobian product
(vjp) takes one backward, and a Jacobian-vector product (jvp) two: the vjp is linear in v, and its derivative by v,
multiplied by u, is J u. That is the double-backward trick.

PyTorch counterpart: ``torch/autograd/functional.py``.
"""

from itertools import accumulate
from typing import NamedTuple

from ..factories import eye, zeros, zeros_like
from ..messages import refusal
from ..ops.shape import stack, view
from ..tensor import Tensor
from .forward_ad import dual_level, make_dual, unpack_dual
from .grad import grad
from .grad_mode import enable_grad


class Group(NamedTuple):
    """Tensors that were given alone or in a tuple: results are returned in the same form."""

    tensors: tuple
    is_tuple: bool

    def like(self, results):
        """`results`, one per tensor, in a tuple if the tensors came in one."""
        return tuple(results) if self.is_tuple else results[0]

    def is_one_number(self) -> bool:
        return len(self.tensors) == 1 and self.tensors[0].numel() == 1


def vjp(func, inputs, v=None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The outputs of `func`, and `v` times its Jacobian: one gradient per input.

    `v` has the outputs' shapes; a single number needs none. With `create_graph` both results have a history;
    with `strict` a result that depends on nothing is a RuntimeError instead of zeros.
    PyTorch counterpart: ``torch.autograd.functional.vjp``.

    >>> import minigrad as mg
    >>> vjp(lambda x: x * x, mg.tensor([1.0, 2.0]), mg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        inputs = fresh_inputs(inputs, "vjp", create_graph)
        outputs = call_checked(func, inputs, "vjp", strict)
        v = vector(v, outputs, "vjp", create_graph, "v for several outputs")
        grads = gradients(outputs.tensors, inputs.tensors, v, create_graph=create_graph)
        if strict:
            check_dependent(grads, create_graph, "strict: output independent", "strict: jacobian constant")
        return in_form_of(outputs, outputs.tensors, create_graph), in_form_of(inputs, grads, create_graph)


def jvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The outputs of `func`, and its Jacobian times `v`: one tangent per output.

    `v` has the inputs' shapes; a single number needs none. Options as for `vjp`.
    PyTorch counterpart: ``torch.autograd.functional.jvp``.

    >>> import minigrad as mg
    >>> jvp(lambda x: x.sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 10.0]))
    (tensor(3.), tensor(11.))
    """
    with enable_grad():
        inputs = fresh_inputs(inputs, "jvp", create_graph)
        v = vector(v, inputs, "jvp", create_graph, "v for several inputs")
        outputs = call_checked(func, inputs, "jvp", strict)
        # Any value serves: the gradients are linear in these, so their derivative does not mention them.
        seeds = tuple(zeros_like(o, requires_grad=True) for o in outputs.tensors)
        grads = gradients(outputs.tensors, inputs.tensors, seeds, create_graph=True)
        if strict:
            check_tracked(grads, "strict: gradient without graph")
        tangents = gradients(grads, seeds, v, create_graph=create_graph)
        if strict:
            check_dependent(tangents, create_graph, "strict: gradient independent", "strict: jacobian constant")
        return in_form_of(outputs, outputs.tensors, create_graph), in_form_of(outputs, tangents, create_graph)


def jacobian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
):
    """The derivative of every output element by every input element.

    Its shape is the output's followed by the input's; with several outputs or inputs, a tuple of them.
    `vectorize` changes nothing (PyTorch computes all rows at once). 'forward-mode' computes columns instead of rows:
    it calls `func` once for each input element, and needs no backward.
    PyTorch counterpart: ``torch.autograd.functional.jacobian``.

    >>> import minigrad as mg
    >>> jacobian(lambda x: x * x, mg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    forward = strategy == "forward-mode"
    check_strategy(strategy, create_graph, strict)
    given = group(inputs, "inputs", "jacobian")
    if forward:
        check_primals(given.tensors, vectorize)
        return jacobian_by_columns(func, given)
    with enable_grad():
        inputs = fresh_inputs(inputs, "jacobian", create_graph)
        outputs = call_checked(func, inputs, "jacobian", strict)
        if vectorize and strict:
            raise refusal("strict and vectorize")
        blocks = []
        for number, output in enumerate(outputs.tensors):
            found = jacobian_block(number, output, inputs.tensors, create_graph, strict, vectorize)
            blocks.append(in_form_of(inputs, found, create_graph))
    return outputs.like(blocks)


def hessian(
    func,
    inputs,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
):
    """The second derivatives of a function with one number as its output.

    Its shape is the input's twice; for a tuple of inputs, a tuple of tuples. Options as for `jacobian`.
    PyTorch counterpart: ``torch.autograd.functional.hessian``.

    >>> import minigrad as mg
    >>> hessian(lambda x: (x ** 3).sum(), mg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    given = group(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in STRATEGIES:
        raise refusal("strategy of hessian")

    def scalar(*arguments):
        outputs = group(func(*arguments), "outputs of the user-provided function", "hessian")
        if strict:
            check_tracked(outputs.tensors, "strict: output without graph")
        return single_number(outputs, "hessian").squeeze()

    def gradient(*arguments):
        if outer_jacobian_strategy == "forward-mode":
            arguments = tuple(x.requires_grad_() for x in arguments)
        found = jacobian(scalar, arguments, create_graph=True)
        if strict:
            check_tracked(found, "strict: jacobian constant in hessian")
        return found

    found = jacobian(gradient, given.tensors, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if given.is_tuple else found[0][0]


def vhp(func, inputs, v=None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The output of `func`, one number, and `v` times its Hessian: one tensor per input.

    `v` has the inputs' shapes; a single number needs none. Options as for `vjp`.
    PyTorch counterpart: ``torch.autograd.functional.vhp``.

    >>> import minigrad as mg
    >>> vhp(lambda x: (x ** 3).sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        inputs, v, outputs, grads = first_derivative(func, inputs, v, create_graph, strict, "vhp")
        seconds = gradients(grads, inputs.tensors, v, create_graph=create_graph)
        if strict:
            check_dependent(seconds, create_graph, "strict: jacobian independent", "strict: hessian constant")
        return in_form_of(outputs, outputs.tensors, create_graph), in_form_of(inputs, seconds, create_graph)


def hvp(func, inputs, v=None, create_graph: bool = False, strict: bool = False) -> tuple:
    """The output of `func`, one number, and its Hessian times `v`: one tensor per input.

    The same as `vhp`, which costs less, wherever the second derivatives are continuous.
    PyTorch counterpart: ``torch.autograd.functional.hvp``.

    >>> import minigrad as mg
    >>> hvp(lambda x: (x ** 3).sum(), mg.tensor([1.0, 2.0]), mg.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        inputs, v, outputs, grads = first_derivative(func, inputs, v, create_graph, strict, "hvp")
        seeds = tuple(zeros_like(x, requires_grad=True) for x in inputs.tensors)
        seconds = gradients(grads, inputs.tensors, seeds, create_graph=True)
        found = gradients(seconds, seeds, v, create_graph=create_graph)
        if strict:
            check_dependent(found, create_graph, "strict: hessian independent", "strict: hessian constant")
        return in_form_of(outputs, outputs.tensors, create_graph), in_form_of(inputs, found, create_graph)


# -- the steps they share ------------------------------------------------------------------------


def group(value, what: str, name: str) -> Group:
    """A Tensor or a tuple of Tensors as a Group; anything else is a TypeError that says where it was given."""
    if not isinstance(value, tuple):
        if not isinstance(value, Tensor):
            raise refusal("no tensor", what, name, what, type(value))
        return Group((value,), False)
    for index, tensor in enumerate(value):
        if not isinstance(tensor, Tensor):
            raise refusal("no tensor in a tuple", what, name, index, type(tensor))
    return Group(value, True)


def fresh_inputs(inputs, name: str, create_graph: bool) -> Group:
    """New tensors on the inputs' memory to differentiate by, so that only their uses as arguments of `func` count."""
    given = group(inputs, "inputs", name)
    return Group(same_memory(given.tensors, create_graph, True), given.is_tuple)


def same_memory(tensors: tuple, create_graph: bool, requires_grad: bool) -> tuple:
    """Tensors on the same memory; with the same history where the results are to have one."""
    return tuple(
        t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_(requires_grad) for t in tensors
    )


def call_checked(func, inputs: Group, name: str, strict: bool) -> Group:
    """The outputs of `func`."""
    outputs = group(func(*inputs.tensors), "outputs of the user-provided function", name)
    if strict:
        check_tracked(outputs.tensors, "strict: output without graph")
    return outputs


def vector(v, like: Group, name: str, create_graph: bool, missing_key: str) -> tuple | None:
    """The vector `v` of a product; refused if its shapes are not those of `like`."""
    if v is None:
        if not like.is_one_number():
            raise refusal(missing_key)
        return None
    tensors = same_memory(group(v, "v", name).tensors, create_graph, False)
    if len(tensors) != len(like.tensors):
        raise (
            refusal("v too short or long", len(like.tensors), len(tensors))
            if like.is_tuple
            else refusal("v is several")
        )
    for index, (tensor, other) in enumerate(zip(tensors, like.tensors, strict=True)):
        if tensor.shape != other.shape:
            entry = f"Entry {index} in " if like.is_tuple else ""
            raise refusal("v of another shape", entry, other.shape, tensor.shape)
    return tensors


def single_number(outputs: Group, name: str) -> Tensor:
    """The output of a function for vhp, hvp or hessian: a tensor with one element, else RuntimeError."""
    if outputs.is_tuple:
        raise refusal("second derivative of several tensors", name)
    if not outputs.is_one_number():
        raise refusal("second derivative of several numbers", name)
    return outputs.tensors[0]


def first_derivative(func, inputs, v, create_graph: bool, strict: bool, name: str) -> tuple:
    """What vhp and hvp have in common: inputs, vector, output, and gradients with a history."""
    inputs = fresh_inputs(inputs, name, create_graph)
    v = vector(v, inputs, name, create_graph, "v for several inputs")
    outputs = call_checked(func, inputs, name, strict)
    single_number(outputs, name)
    grads = gradients(outputs.tensors, inputs.tensors, create_graph=True)
    if strict:
        check_tracked(grads, "strict: jacobian constant in hessian")
    return inputs, v, outputs, grads


def gradients(outputs: tuple, inputs: tuple, grad_outputs: tuple | None = None, **options) -> tuple:
    """grad() that leaves out outputs which are None or constant; None for an input without gradient."""
    seeds = grad_outputs or (None,) * len(outputs)
    pairs = [(o, seed) for o, seed in zip(outputs, seeds, strict=True) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    tracked, seeds = zip(*pairs, strict=True)
    return grad(tracked, inputs, seeds, allow_unused=True, **options)


def jacobian_by_columns(func, given: Group):
    """The Jacobian in forward mode: a run of `func` per input element. Lists for a tuple of inputs, as in PyTorch."""
    sizes = [x.numel() for x in given.tensors]
    tangents = eye(sum(sizes)) if sum(sizes) else zeros(1, 0)
    pushes = [pushed(func, given, tangent.split(sizes)) for tangent in tangents]
    outputs = pushes[0][0]
    blocks = []
    for columns in zip(*(tangents for _, tangents in pushes), strict=True):
        ends = list(accumulate(sizes))
        parts = [columns[end - n : end] for end, n in zip(ends, sizes, strict=True)]
        shapes = [columns[0].shape + x.shape for x in given.tensors]
        blocks.append([view(stack(part, -1), s) if part else zeros(s) for part, s in zip(parts, shapes, strict=True)])
    if given.is_tuple:
        return blocks if outputs.is_tuple else blocks[0]
    return outputs.like([block[0] for block in blocks])


def pushed(func, given: Group, tangents) -> tuple[Group, list]:
    """The outputs of `func`, and their tangents for these tangents of its inputs."""
    with dual_level():
        pairs = zip(given.tensors, tangents, strict=True)
        duals = [make_dual(x, view(t, x.shape).to(x.dtype)) for x, t in pairs]
        outputs = group(func(*duals), "outputs of the user-provided function", "jacobian")
        found = [unpack_dual(output) for output in outputs.tensors]
        return outputs, [zeros_like(one.primal) if one.tangent is None else one.tangent for one in found]


def jacobian_block(number: int, output: Tensor, inputs: tuple, create_graph: bool, strict: bool, vectorize) -> list:
    """The part of a Jacobian that belongs to one output: one backward for each of its elements."""
    if vectorize and not output.numel():
        raise IndexError("index 0 is out of bounds for dimension 0 with size 0")
    rows = []
    for element in output.reshape(-1).unbind(0):
        grads = gradients((element,), inputs, retain_graph=True, create_graph=create_graph)
        if strict:
            check_row(number, grads, create_graph)
        rows.append([zeros_like(x) if g is None else g for g, x in zip(grads, inputs, strict=True)])
    columns = zip(*rows, strict=True) if rows else ((),) * len(inputs)
    return [view(stack(c), output.shape + x.shape) for c, x in zip(columns, inputs, strict=True)]


def in_form_of(like: Group, found, create_graph: bool):
    """The results in the form of `like`: zeros where there is no gradient, detached unless `create_graph`."""
    filled = [zeros_like(t) if f is None else f for f, t in zip(found, like.tensors, strict=True)]
    return like.like(filled if create_graph else [f.detach() for f in filled])


# -- what is refused -----------------------------------------------------------------------------

STRATEGIES = ("forward-mode", "reverse-mode")


def check_strategy(strategy: str, create_graph: bool, strict: bool) -> None:
    """Refuse what PyTorch cannot combine with forward mode."""
    if strategy not in STRATEGIES:
        raise refusal("strategy of jacobian")
    if strategy == "forward-mode" and create_graph:
        raise refusal("forward mode and create_graph")
    if strategy == "forward-mode" and strict:
        raise refusal("forward mode and strict")


def check_primals(tensors, vectorize: bool) -> None:
    """Forward mode goes with `vectorize` only, and only floats have tangents."""
    if not vectorize:
        raise refusal("forward mode by rows")
    for tensor in tensors:
        if not tensor.is_floating_point():
            raise ValueError(f"Expected primal to be floating point or complex, but got: torch.{tensor.dtype.name}")


def check_tracked(tensors, key: str) -> None:
    """strict: each tensor has to depend on the inputs."""
    for index, tensor in enumerate(tensors):
        if tensor is None:
            raise refusal("strict: output independent", index)
        if not tensor.requires_grad:
            raise refusal(key, index)


def check_dependent(grads, create_graph: bool, missing_key: str, constant_key: str) -> None:
    """strict: there has to be a gradient, and under create_graph it has to have a history."""
    for index, gradient in enumerate(grads):
        if gradient is None:
            raise refusal(missing_key, index)
        if create_graph and not gradient.requires_grad:
            raise refusal(constant_key, index)


def check_row(number: int, grads, create_graph: bool) -> None:
    """strict, for one row of a Jacobian. (PyTorch names the output in the first sentence where it says input.)"""
    for index, gradient in enumerate(grads):
        if gradient is None:
            raise refusal("strict: output independent of input", number, index)
        if create_graph and not gradient.requires_grad:
            raise refusal("strict: jacobian constant", number)
