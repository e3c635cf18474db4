"""Forward mode: each value is computed together with its tangent (a Jacobian-vector product), without a backward.

    with dual_level():
        x = make_dual(primal, tangent)      the direction to differentiate in
        y = x * x                           computed as always, and its tangent: 2 * primal * tangent
        unpack_dual(y)                      UnpackedDualTensor(primal=..., tangent=...)

A tensor that has a tangent is a Dual, which operations look for only if not all operands are plain Tensors: so
forward mode costs nothing where it is not used. How a tangent is made is in tangents.py.

A tangent can be differentiated (reverse over forward), and the gradients that ``grad()`` returns of a dual tensor
have tangents (forward over reverse).

PyTorch counterpart: ``torch/autograd/forward_ad.py``.
"""

from typing import NamedTuple

from ..dispatch import op
from ..messages import refusal, type_name
from ..ops.inplace import copy_
from ..ops.shape import view
from ..tensor import Tensor
from .dual import Dual, dual_levels
from .grad_mode import _GradMode
from .tangents import Level, zeros_for

# PyTorch's name for the innermost level: 0 inside of one, -1 outside.
_current_level = -1


class UnpackedDualTensor(NamedTuple):
    """What ``unpack_dual`` returns. PyTorch counterpart: ``torch.autograd.forward_ad.UnpackedDualTensor``."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Start forward mode, and return the level's number: 0, as there is only one. PyTorch: the same name.

    RuntimeError inside of another level. Better write ``with dual_level():``, which ends it too.
    """
    global _current_level
    if dual_levels:
        raise refusal("nested dual levels")
    dual_levels.append(Level())
    _current_level = 0
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """End forward mode: all tangents are gone. PyTorch counterpart: ``torch.autograd.forward_ad.exit_dual_level``.

    RuntimeError if no level has been entered, or another one.
    """
    global _current_level
    if level is not None and level != _current_level:
        raise refusal("exit of another level")
    if not dual_levels:
        raise refusal("exit of no level")
    dual_levels.pop().leave()
    _current_level = -1


class dual_level(_GradMode):
    """Tangents exist inside this block, or inside the function that it decorates.

    PyTorch counterpart: ``torch.autograd.forward_ad.dual_level``.

    >>> import minigrad as mg
    >>> with dual_level():
    ...     x = make_dual(mg.tensor(3.0), mg.tensor(1.0))
    ...     unpack_dual(x * x)
    UnpackedDualTensor(primal=tensor(9.), tangent=tensor(6.))
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception):
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that has `tangent`, a tensor of the same shape.

    RuntimeError outside of ``dual_level()`` or for another shape, ValueError for integers.
    PyTorch counterpart: ``torch.autograd.forward_ad.make_dual``.

    >>> import minigrad as mg
    >>> with dual_level():
    ...     make_dual(mg.tensor([1.0, 2.0]), mg.tensor([0.0, 1.0])).exp()
    tensor([2.7183, 7.3891], tangent=tensor([0.0000, 7.3891]))
    """
    level = _current_level if level is None else level
    if level < 0:
        raise refusal("no dual level")
    for name, each in (("primal", tensor), ("tangent", tangent)):
        if not each.is_floating_point():
            raise refusal("integers in forward mode", name, each.dtype)
    if level or not dual_levels:
        raise refusal("wrong dual level", "make_dual") if dual_levels else refusal("dual level is gone")
    if isinstance(tensor, Dual):
        raise refusal("dual of a dual")
    if isinstance(tangent, Dual):
        raise refusal("tangent is dual")
    dual = view(tensor, tensor._array.shape)
    if steps_of(tangent) != steps_of(tensor):
        tangent = copy_(zeros_for(tensor), tangent) if tangent.shape == tensor.shape else tangent
    dual_levels[0].carry(dual, tangent)
    return dual


@op(view=True, node="Identity", self=lambda grad: grad)
def fw_primal(self):
    """A view of everything: what ``unpack_dual`` gives as the primal."""
    return self[...]


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent of a tensor, None if it has none; as it always is outside of ``dual_level()``.

    PyTorch counterpart: ``torch.autograd.forward_ad.unpack_dual``.

    >>> import minigrad as mg
    >>> unpack_dual(mg.tensor(1.0))
    UnpackedDualTensor(primal=tensor(1.), tangent=None)
    """
    level = _current_level if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise refusal("unpack of no tensor", type_name(tensor))
    if not isinstance(tensor, Dual):
        return UnpackedDualTensor(fw_primal(tensor), None)
    if level:
        raise refusal("wrong dual level", "fw_primal")
    with dual_levels[0].hidden((tensor,)):
        return UnpackedDualTensor(fw_primal(tensor), dual_levels[0].tangent(tensor))


def steps_of(tensor: Tensor) -> list:
    """The strides of the dimensions longer than 1, counted in elements."""
    array = tensor._array
    return [step // array.itemsize for step, n in zip(array.strides, array.shape, strict=True) if n > 1]
