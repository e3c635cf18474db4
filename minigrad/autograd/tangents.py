"""How tangents are computed: the forward-mode derivative of each operation, made from its backward rule.

Each row has a rule that turns a gradient into the input's gradient, g -> g @ J. It is linear in g, so its own
derivative with respect to g, applied to a tangent t, is J @ t: two backward rules make one forward rule, and there is
no second table of derivatives. A view's tangent is the same view of the tangent, so that changes in place are seen.

PyTorch counterparts: ``torch/csrc/autograd/{forward_grad,autograd_meta,custom_function}.cpp``, and the formulas for
forward mode that ``tools/autograd`` generates.
"""

import contextlib
import weakref

import numpy as np

from ..messages import refusal, type_name
from ..ops.inplace import COPY_SLICES, copy_
from ..ops.pointwise import clone, where
from ..tensor import Tensor, wrap
from ..views import make_views
from .dual import Dual
from .function import NOTHING_SAVED, FunctionNode, names_of_saved
from .grad import grad
from .grad_mode import enable_grad, mode
from .node import Kind, Node, sink_node
from .outputs import OutputGrads, operation_of
from .versions import FRESH, UNCOUNTED, own_counter


class Level:
    """The tangents of all tensors that have one, and how they are made."""

    def __init__(self):
        self.tangents: dict = {}  # id of a tensor -> (weakref to it, tangent)
        self.of_results: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # node -> {output index: tangent}

    # -- who has a tangent -----------------------------------------------------------------------

    def concerns(self, operands) -> bool:
        """Whether one of these is a dual tensor."""
        return any(isinstance(operand, Dual) for operand in operands)

    def tangent(self, thing) -> Tensor | None:
        """The tangent of a tensor; None if it has none."""
        found = self.tangents.get(id(thing))
        return None if found is None else found[1]

    def carry(self, tensor: Tensor, tangent: Tensor) -> None:
        """Give a tensor a tangent, which makes it a Dual."""
        if tangent.shape != tensor.shape:
            raise refusal("tangent of another shape", list(tensor.shape), list(tangent.shape))
        key, tangents = id(tensor), self.tangents
        tangents[key] = (weakref.ref(tensor, lambda _: tangents.pop(key, None)), tangent)
        tensor.__class__ = Dual

    def drop(self, tensor: Tensor) -> None:
        """Take a tensor's tangent away."""
        del self.tangents[id(tensor)]
        tensor.__class__ = Tensor

    def leave(self) -> None:
        """The level ends, and all tangents with it."""
        for tensor in [reference() for reference, _ in self.tangents.values()]:
            if isinstance(tensor, Dual):
                self.drop(tensor)
        self.tangents.clear()
        self.of_results.clear()

    def recall(self, node: Node, index: int, result: Tensor) -> None:
        """Give a rebuilt result the tangent that it had when it was saved: tangents of gradients need it."""
        tangent = self.of_results.get(node, {}).get(index)
        if tangent is not None:
            self.carry(result, tangent)

    @contextlib.contextmanager
    def hidden(self, operands):
        """Inside the block these are plain tensors: what is computed there is computed without tangents."""
        duals = [operand for operand in operands if isinstance(operand, Dual)]
        for dual in duals:
            dual.__class__ = Tensor
        try:
            yield
        finally:
            for dual in duals:
                if dual.__class__ is Tensor and id(dual) in self.tangents:
                    dual.__class__ = Dual

    # -- operations ------------------------------------------------------------------------------

    def apply(self, operation, arguments: tuple):
        """The result of an operation, with its tangents."""
        with self.hidden(tensors_in(arguments)):
            result = operation(*arguments)
        if not mode.inference:  # inference mode is for results that are never differentiated
            outputs = result if isinstance(result, tuple) else (result,)
            tangents = self.pushed(operation, arguments, {})
            for index, (output, tangent) in enumerate(zip(outputs, tangents, strict=False)):
                if tangent is not None:
                    self.carry(output, tangent)
                    if output.requires_grad:
                        self.note(output._node, index, tangent)
        return result

    def note(self, node: Node, index: int, tangent: Tensor, before: Tensor | None = None) -> None:
        """Keep the tangents of what a node has saved: a result, which is only an array; and what was there `before`."""
        node = node._saved[0] if node._kind is COPY_SLICES else node
        names = node._kind.saved_names
        if "result" in names:
            self.of_results[node] = {index: tangent}
        if before is not None and "self" in names and isinstance(node._saved[names.index("self")], Tensor):
            self.carry(node._saved[names.index("self")], before)

    def change(self, method, operation, arguments: tuple, options: dict) -> Tensor:
        """An operation in place: the tangent is changed in place too, so views of it see the change."""
        target = arguments[0]
        tangents = self.pushed(operation, arguments, options, in_place=True) if not mode.inference else ()
        with self.hidden(arguments):
            method(*arguments, **options)
        if mode.inference:
            return target
        if self.tangent(target) is None:
            self.begin(target)
        tangent = self.tangents[id(target)][1]
        before = clone(tangent)
        copy_(tangent, tangents[0] if tangents else zeros_for(target))
        if target.requires_grad:
            own = target if target._base is None else target._base
            self.note(own._node, 0, tangent, before)
        return target

    def begin(self, target: Tensor) -> None:
        """A tensor that had no tangent gets zeros; if it is a view, then its base and all other views do."""
        base = target if target._base is None else target._base
        whole = zeros_for(base)
        self.carry(base, whole)
        for part in [reference() for reference in base._version_counter[1:]]:
            if part is not None and part._base is base and self.tangent(part) is None:
                self.carry(part, same_part(base, whole, part))

    def pushed(self, operation, arguments: tuple, options: dict, in_place=False) -> list:
        """The tangent J @ t of each output, for the tangents t of the inputs. Empty for a constant."""
        row = getattr(operation, "row", None)
        if row is None:  # cat and stack: linear in a list of tensors
            tensors, *rest = arguments
            return [operation([self.tangent_or_zeros(t) for t in tensors], *rest)]
        if row.view and not in_place:  # a view of the tangent, so that changes in place are seen by both
            views = operation(self.tangent(arguments[0]), *arguments[1:], **options)
            return list(views) if isinstance(views, tuple) else [views]
        given = dict(zip(row.parameters, arguments, strict=False))
        tangents = [self.tangent(given[name]) for name in row.tracked]
        if all(tangent is None for tangent in tangents):
            return []
        differentiable = mode.recording and any(t.requires_grad for t in tensors_in((*arguments, *tangents)))
        with enable_grad():
            copies = {id(arguments[0])} if in_place else ()  # what it was, for derivatives of the tangent
            stand_ins = [stand_in(a, id(a) in copies) if isinstance(a, Dual) else a for a in arguments]
            found = tangents_of(operation, stand_ins, options, arguments, tangents, differentiable)
            if differentiable and not in_place and not all(t is None or t.requires_grad for t in found):
                found = with_history(found, operation, stand_ins, options, arguments, tangents)
            return found

    def tangent_or_zeros(self, thing):
        """The tangent of a tensor, zeros if it has none; None for what can have none."""
        tangent = self.tangent(thing)
        possible = isinstance(thing, Tensor) and thing._dtype.kind == "f"
        return zeros_for(thing) if tangent is None and possible else tangent

    # -- Functions -------------------------------------------------------------------------------

    def apply_function(self, node: FunctionNode, arguments: tuple, options: dict) -> tuple:
        """Run a Function's forward, and then its jvp if there are tangents: neither sees that the tensors are dual."""
        with self.hidden((*arguments, *options.values())):
            results, arguments = node._function._run(node, arguments, options)
            if mode.inference or all(self.tangent(a) is None for a in arguments):
                node.saved_for_forward = ()  # which may be its own outputs
                return results, arguments
            given = [self.tangent_or_zeros(a) for a in arguments]
            if not node.materialize_grads:
                given = [None if self.tangent(a) is None else t for a, t in zip(arguments, given, strict=True)]
            versions = [None if t is None else t._version for t in given]
            tangents = jvp_of(node, given)
        outputs = results if isinstance(results, tuple) else (results,)
        if len(tangents) != len(outputs):
            raise refusal("number of tangents", len(outputs), len(tangents))
        for index, (output, tangent) in enumerate(zip(outputs, tangents, strict=True)):
            if accepted(node, index, output, tangent):
                for each in zip(arguments, given, versions, strict=True):
                    check_sharing(output, tangent, *each)
                self.carry(output, tangent)
                if output._node is not None:
                    self.of_results.setdefault(node, {})[index] = tangent
        return results, arguments


def tensors_in(arguments) -> list:
    """The tensors among an operation's arguments; the first may be a list of them."""
    first = arguments[0] if isinstance(arguments[0], (list, tuple)) else ()
    return [a for a in (*first, *arguments) if isinstance(a, Tensor)]


def zeros_for(tensor: Tensor) -> Tensor:
    """Zeros in the layout of a tensor."""
    return wrap(np.zeros_like(tensor._array))


def stand_in(dual: Tensor, copied: bool) -> Tensor:
    """A plain tensor in place of a dual one, which requires grad, so that operations on it are recorded."""
    shared = copied or dual._version_counter is UNCOUNTED
    other = wrap(dual._array.copy() if copied else dual._array, FRESH if shared else own_counter(dual))
    other._node = dual._node or sink_node(dual)
    return other


def tangents_of(operation, stand_ins: list, options: dict, arguments, tangents: list, differentiable: bool) -> list:
    """The tangents of an operation's results, from a graph that is recorded for the purpose."""
    marked = operation(*stand_ins, **options)
    for dual, other in zip(arguments, stand_ins, strict=True):
        if isinstance(dual, Dual):
            other._node = dual._node
    outputs = marked if isinstance(marked, tuple) else (marked,)
    return forward_rule(operation.row, outputs, tangents, differentiable)


def with_history(found: list, operation, stand_ins: list, options: dict, arguments, tangents: list) -> list:
    """Tangents with the history that they have if what has no tangent has one of zeros, as in PyTorch."""
    row = operation.row
    places = [row.parameters.index(name) for name in row.tracked]
    for at, tangent in zip(places, tangents, strict=True):
        if tangent is None and stand_ins[at] is not None:
            operand = stand_ins[at]
            other = operand if isinstance(operand, Tensor) else wrap(np.asarray(operand, found[0]._dtype))
            stand_ins[at] = stand_in(other, False)
        elif isinstance(arguments[at], Dual):
            stand_ins[at] = stand_in(arguments[at], False)
    pairs = [(stand_ins[at], tangent) for at, tangent in zip(places, tangents, strict=True)]
    zeros = [zeros_for(x) if t is None and x is not None else t for x, t in pairs]
    deep = tangents_of(operation, stand_ins, options, arguments, zeros, True)
    nowhere = wrap(np.zeros((), np.bool_))
    return [t if d is None or not d.requires_grad else where(nowhere, d, t) for t, d in zip(found, deep, strict=True)]


def forward_rule(row, outputs: tuple, tangents: list, differentiable: bool) -> list:
    """The derivative of a node's rule with respect to the gradient that it is given, times the tangents."""
    floating = [output if output._dtype.kind == "f" else None for output in outputs]
    node = next(output for output in floating if output is not None)._node
    if node is None:
        return []
    node = operation_of(node)
    seeds = {i: zeros_for(o).requires_grad_() for i, o in enumerate(floating) if o is not None}
    next_nodes = tuple(None if t is None else n for n, t in zip(node._next_nodes, tangents, strict=True))
    grads = node._kind.vjp_recorded(node, OutputGrads(seeds) if row.several_outputs else seeds[0], next_nodes)
    products = [(g * t).sum() for g, t in zip(grads, tangents, strict=True) if g is not None and t is not None]
    total = sum(products[1:], products[0]) if products else None
    if total is None or not total.requires_grad:  # the derivative is zero everywhere, as that of floor()
        return [None if o is None else zeros_for(o) for o in floating]
    wanted = list(seeds.values())
    results = grad(total, wanted, create_graph=differentiable, allow_unused=True, materialize_grads=True)
    found = iter(results)
    return [None if o is None else next(found) for o in floating]


def same_part(base: Tensor, whole: Tensor, part: Tensor) -> Tensor:
    """The part of a base's tangent that belongs to a view of the base, as a view."""
    if whole._array.strides != base._array.strides:
        raise refusal("tangent of a scattered base")
    offset = part._array.__array_interface__["data"][0] - base._array.__array_interface__["data"][0]
    tangent = wrap(np.ndarray(part._array.shape, part._dtype, whole._array, offset, part._array.strides))
    make_views([tangent], whole)
    return tangent


def shares(tensor: Tensor, other) -> bool:
    """Whether one tensor is a view of another, or of the same base."""
    base = tensor._base
    return base is not None and isinstance(other, Tensor) and (base is other or base is other._base)


def jvp_of(node: FunctionNode, given: list) -> tuple:
    """Call the user's jvp. ``ctx.saved_tensors`` is meanwhile what forward saved for it."""
    of_backward = node._saved, node._kind
    kept, node.saved_for_forward = node.saved_for_forward, ()
    node._saved = tuple(NOTHING_SAVED if t is None else (t, False, None, t._version) for t in kept)
    node._kind = Kind(node.name(), type(node), names_of_saved(len(kept)))
    try:
        tangents = node._function.jvp(node, *given)
    finally:
        node._saved, node._kind = of_backward
    return tangents if isinstance(tangents, tuple) else (tangents,)


def accepted(node: FunctionNode, index: int, output, tangent) -> bool:
    """Whether jvp returned a tangent for one output of a Function; refused where that is not what it has to do."""
    if tangent is not None and not isinstance(tangent, Tensor):
        raise refusal("tangent is no tensor", type_name(tangent), index)
    recorded = mode.recording and any(node.needs_input_grad)
    possible = isinstance(output, Tensor) and output._dtype.kind == "f"
    possible = possible and (output.requires_grad or not recorded)
    possible = possible and not any(output is t for t in node.non_differentiable)
    if possible and tangent is None:
        raise refusal("tangent is None")
    if isinstance(output, Tensor) and tangent is not None and not possible:
        raise refusal("tangent of a constant", index)
    return possible


def check_sharing(output: Tensor, tangent: Tensor, argument, before: Tensor | None, version: int | None) -> None:
    """What forward changed in place or gave a view of, jvp has to change or view alike."""
    if output is argument:
        if tangent is not before or (isinstance(argument, Dual) and tangent._version == version):
            raise refusal("tangent not in place")
    elif before is not None and shares(output, argument):
        if not tangent._is_view():
            raise refusal("tangent is no view")
        if not shares(tangent, before):
            raise refusal("tangent is another view", "same base as the " if before._is_view() else "")
