"""How an operation is applied: unwrap the arrays, compute with NumPy, wrap the result, record a node.

An operation is one table row (``ops/*.py``): the forward on arrays, and one derivative per input:

    @op(self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self)
    def mul(self, other):
        return np.multiply(self, other)

The parameter names of a derivative say what it needs, and only that is saved: ``grad``, any argument of
the forward, ``result``, or ``self_shape``. A derivative is called with arrays in a plain backward
and with Tensors under ``create_graph=True``, so it uses operators and minigrad's own operations only. It
need not care about broadcasting, dtypes, versions or inputs that need no gradient: the engine does.

From each row ``@op`` assembles, once, the source of three functions written out for its arguments: the
operation itself, and the node's ``vjp`` and ``vjp_recorded``. Print ``mul.source`` to read them. Writing
them out instead of looping over arguments is what makes small graphs fast.

PyTorch counterparts: ``tools/autograd/derivatives.yaml`` and the code that it generates.
"""

import functools
import inspect
import weakref

import numpy as np

from . import dtypes
from .autograd.grad_mode import mode
from .autograd.graph import (
    FRESH,
    AutogradMeta,
    Node,
    OutputEdge,
    freed_error,
    gradient_edge,
    next_op_order,
    own_counter,
    stale_error,
)
from .messages import refuse
from .tensor import Tensor, wrap

NUMBERS = (int, float, np.generic)


class Row:
    """One table row, taken apart: which arguments are tensors, what each derivative mentions."""

    def __init__(self, forward, rules, *, node, op_name, floating, view, constant):
        self.forward, self.rules, self.floating, self.view = forward, rules, floating, view
        self.name = forward.__name__
        self.signature = inspect.signature(forward)
        self.parameters = list(self.signature.parameters)
        self.inputs = [p for p in self.parameters if p in rules or p in constant]
        self.tracked = [p for p in self.inputs if p in rules]
        self.options = [p for p in self.parameters if p not in self.inputs]
        self.needs = {p: inspect.getfullargspec(rule).args for p, rule in rules.items()}
        self.many = any("grads" in names for names in self.needs.values())
        self.node = type(
            (node or "".join(map(str.capitalize, self.name.split("_"))) + "Backward0"),
            (RecordedOp,),
            {"__slots__": (), "op_name": op_name or self.name, "saved_names": self.saved_names(), "row": self},
        )
        # Plain options (a dim, an alpha) cost nothing to keep; only tensors and numbers operated on are freed.
        self.node.frees = any(f == "result" or f in self.inputs for f in self.saved_fields())

    def saved_fields(self) -> list[str]:
        """What the derivatives mention besides the gradient, each once, in order of the forward's arguments."""
        mentioned = [name for names in self.needs.values() for name in names if name not in ("grad", "grads")]
        order = [*self.parameters, "result"]
        return sorted(set(mentioned), key=lambda f: (order.index(f) if f in order else 99, f))

    def saved_names(self) -> tuple:
        """Names for the entries of a node's `saved`; a tensor is followed by its version, a result by two."""
        names = []
        for field in self.saved_fields():
            names.append(field)
            names += ["", ""] if field == "result" else [""] if field in self.inputs else []
        return tuple(names)


class RecordedOp(Node):
    """The node of a table row; `@op` gives each row a subclass of its own, named as PyTorch names it."""

    __slots__ = ()

    def rebuild_result(self, array, counter):
        """The output, without keeping it: a kept Tensor would point back here and never be freed."""
        result = wrap(array, counter)
        result._requires_grad = True
        result._grad_fn = self
        return result

    def __getattr__(self, name):
        if name.startswith("_saved_") and name[7:] in self.saved_names:
            if self.saved is None:
                raise freed_error()
            return self._entry(self.saved_names.index(name[7:]))[0]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __call__(self, *grads):
        """Apply the derivatives to a gradient by hand, as in PyTorch."""
        if len(grads) != self.outputs:
            raise TypeError(f"expected {self.outputs} arguments, got {len(grads)} instead")
        edges = tuple(edge or None for edge in self.edges)
        results = self.vjp_recorded(grads if self.outputs > 1 else grads[0], edges)
        return results[0] if len(results) == 1 else results


def op(*, node=None, name=None, floating=False, view=False, constant=(), **rules):
    """Make an operation of a forward on arrays. The keywords are its derivatives, one per input.

    `node` names the node where PyTorch's name is not NameBackward0, `name` the operation where the function's
    name is not PyTorch's; `floating` operations turn integers into floats; `view` results share their input's memory; `constant` names inputs without a derivative.
    """

    def decorate(forward):
        row = Row(
            forward, rules, node=node, op_name=name, floating=floating, view=view, constant=constant
        )
        source = _factory_source(row)
        space = {f"rule_{name}": rule for name, rule in rules.items()}
        space |= {f"default_{p}": row.signature.parameters[p].default for p in row.options}
        space |= dict(_TOOLS, forward=forward, row=row, NodeClass=row.node)
        names = sorted(space)
        code = compile(f"def make({', '.join(names)}):\n{source}", f"<operation {row.name}>", "exec")
        made: dict = {}
        exec(code, forward.__globals__, made)
        function, row.node.vjp, row.node.vjp_recorded = made["make"](**space)
        function.__doc__, function.__module__ = forward.__doc__, forward.__module__
        function.row, function.source = row, source
        return function

    return decorate


def op_of_many(*, tensors, keep):
    """Like `@op`, for a forward whose first argument is a list of tensors (``cat``, ``stack``).

    `tensors` is the derivative: it returns one gradient per tensor, and is given the gradient and what
    `keep(arrays, dim)` returned in the forward.
    """

    def decorate(forward):
        name = forward.__name__
        node_class = type(name.capitalize() + "Backward0", (JoinOp,), {"__slots__": (), "op_name": name})
        node_class.rule = staticmethod(tensors)

        @functools.wraps(forward)
        def function(tensors, dim=0):
            if not any(isinstance(t, Tensor) for t in tensors):
                return forward(tensors, dim)
            arrays = [t._array for t in tensors]
            common = dtypes.promote(*arrays)
            result = wrap(forward([a.astype(common, copy=False) for a in arrays], dim))
            if mode.state > 0 and any(t._requires_grad for t in tensors):
                edges = tuple(gradient_edge(t) if t._requires_grad else None for t in tensors)
                constants = tuple(None if t._requires_grad else constant(t) for t in tensors)
                record(result, node_class, edges, constants, keep(arrays, dim))
            return result

        return function

    return decorate


class JoinOp(Node):
    """The node of an operation on a list of tensors."""

    __slots__ = ()
    saved_names = ("", "dim")

    @property
    def _saved_dim(self):
        return self.saved[-1]

    def vjp(self, grad, edges):
        return self.rule(grad, *self.saved)

    vjp_recorded = vjp


def record(result: Tensor, node_class, edges: tuple, constants, saved: tuple) -> None:
    """Give `result` a new node. What the assembled source does inline, for the places that are not hurried."""
    node = object.__new__(node_class)
    node.order = next_op_order()
    node.edges, node.constants, node.saved = edges, constants, saved
    node.pending = node.extra = None
    node.shape, node.dtype = result._array.shape, result._array.dtype
    result._requires_grad, result._grad_fn = True, node


# -- the source that `@op` assembles -------------------------------------------------------------


def _factory_source(row: Row) -> str:
    parts = [_operation_source(row)]
    parts += [_vjp_source(row, kind) if row.rules else f"{kind} = None" for kind in ("vjp", "vjp_recorded")]
    body = "\n".join(parts) + f"\nreturn {row.name}, vjp, vjp_recorded"
    return _indent(body)


def _indent(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def _operation_source(row: Row) -> str:
    signature = ", ".join(
        f"{p}=default_{p}" if p in row.options and parameter.default is not parameter.empty else p
        for p, parameter in row.signature.parameters.items()
    )
    plain = ", ".join(row.parameters)
    arrays = ", ".join(f"{p}_array" if p in row.inputs else p for p in row.parameters)
    triples = ", ".join(f"({n}, {n}_array, {n}_needs)" for n in row.inputs)
    lines = [
        f"def {row.name}({signature}):",
        *_indent(_unwrap_source(row)).splitlines(),
        "    else:",
        f"        operands = unwrap(row, ({', '.join(row.inputs)},))",
        "        if operands is None:",
        f"            return forward({plain})",
        f"        {triples}, = operands",
        "    try:",
        f"        out = forward({arrays})",
        "    except ValueError as error:",
        f"        raise explain(row, error, {', '.join(n + '_array' for n in row.inputs)}) from None",
        *_indent(_record_source(row)).splitlines(),
    ]
    return "\n".join(lines)


def _unwrap_source(row: Row) -> str:
    """The quick way in: every input a Tensor, or a floating Tensor and a Python number."""
    names = row.inputs
    raw = " and ".join(f"{n}.__class__ is not Tensor" for n in names[1:])
    lines = [f"if {names[0]}.__class__ is ndarray{raw and ' and ' + raw}:"]
    lines += [f"    return forward({', '.join(row.parameters)})  # a derivative that runs on arrays"]
    lines += ["if " + " and ".join(f"{n}.__class__ is Tensor" for n in names) + ":"]
    lines += [f"    {n}_array = {n}._array; {n}_needs = {n}._requires_grad" for n in names]
    arrays = ", ".join(f"{n}_array" for n in names)
    if len(names) == 2:
        lines += [
            f"    if {names[0]}_array.dtype is not {names[1]}_array.dtype:",
            f"        {arrays} = meet(row, {arrays})",
        ]
    elif len(names) > 2:
        lines += [f"    {arrays} = meet(row, {arrays})"]
    if row.floating:
        untracked = " or ".join(f"{n}_needs" for n in names)
        lines += [
            f"    if not ({untracked}) and {names[0]}_array.dtype.kind != 'f':",
            f"        {arrays}, = meet(row, {arrays})",
        ]
    if len(names) == 2:
        first, second = names
        lines += [
            f"elif ({second}.__class__ is float or {second}.__class__ is int) "
            f"and {first}.__class__ is Tensor and {first}._array.dtype.kind == 'f':",
            f"    {first}_array = {first}._array; {first}_needs = {first}._requires_grad",
            f"    {second}_array = {second}; {second}_needs = False",
        ]
    return "\n".join(lines)


def _record_source(row: Row) -> str:
    wanted = " or ".join(f"{n}_needs" for n in row.tracked)
    lines = []
    if not row.many:
        lines += ["if out.__class__ is not ndarray:  # NumPy gives scalars for 0-d", "    out = asarray(out)"]
        lines += ["result = new(Tensor)", "result._array = out"]
        lines += _alias_lines(row)
    if not row.rules:
        return "\n".join([*lines, "result._requires_grad = False", "result._grad_fn = None", "return result"])
    lines += [
        f"if mode.state > 0 and ({wanted}):",
        "    node = new(NodeClass)",
        "    node.order = next_op_order()",
        f"    node.edges = ({' '.join(_edge(n) for n in row.tracked)})",
        "    node.pending = node.extra = None",
        f"    node.constants = {_constants(row)}",
    ]
    if "result" in row.saved_fields():
        lines += ["    counter = result._counter = [0]"]
    lines += [f"    node.saved = ({' '.join(_saved(row, field) for field in row.saved_fields())})"]
    if row.many:
        source = row.inputs[0]
        return "\n".join([*lines, f"    return outputs_of(node, out, {source}, {row.view})"]) + (
            f"\nreturn outputs_of(None, out, {source}, {row.view})"
        )
    lines += [
        "    node.shape = out.shape; node.dtype = out.dtype",
        "    result._requires_grad = True",
        "    result._grad_fn = node",
        "else:",
        "    result._requires_grad = False",
        "    result._grad_fn = None",
        "return result",
    ]
    return "\n".join(lines)


def _alias_lines(row: Row) -> list[str]:
    if not row.view:
        return ["result._counter = FRESH", "result._meta = None"]
    source = row.inputs[0]
    return [f"alias(result, {source})"]


def _edge(name: str) -> str:
    plain = f"{name}._grad_fn if {name}._meta is None and {name}._grad_fn is not None"
    return f"({plain} else gradient_edge({name})) if {name}_needs else None,"


def _constants(row: Row) -> str:
    if len(row.tracked) == 1:
        return "None"
    all_needed = " and ".join(f"{n}_needs" for n in row.tracked)
    each = ", ".join(f"None if {n}_needs else constant({n})" for n in row.tracked)
    return f"None if {all_needed} else ({each})"


def _saved(row: Row, field: str) -> str:
    if field == "result":
        return "out, counter, 0,"
    if field in row.inputs:
        users = [f"{n}_needs" for n, names in row.needs.items() if field in names]
        everyone = len(users) == len(row.tracked)
        value = field if everyone else f"{field} if {' or '.join(users)} else None"
        return f"{value}, {field}._counter[0] if {field}.__class__ is Tensor else 0,"
    if field.endswith("_shape"):
        return f"{field.removesuffix('_shape')}_array.shape,"
    return f"{field},"


def _vjp_source(row: Row, kind: str) -> str:
    """`vjp` (arrays) or `vjp_recorded` (Tensors): check the versions, unpack, apply the derivatives."""
    fields = row.saved_fields()
    gradient = "grads" if row.many else "grad"
    lines = [f"def {kind}(node, {gradient}, edges):"]
    if fields:
        lines += ["    saved = node.saved", "    if saved is None:", "        raise freed_error()"]
        lines += [f"    {' '.join(_unpack_names(row, field) for field in fields)} = saved"]
    for field in fields:
        if field == "result":
            lines += [
                "    if counter[0] != result_version:",
                "        raise stale_error(node, 'result', counter[0], result_version)",
            ]
            lines += ["    result = node.rebuild_result(result, counter)"] if kind != "vjp" else []
        elif field in row.inputs:
            lines += [
                f"    if {field}.__class__ is Tensor:",
                f"        if {field}._counter[0] != {field}_version:",
                f"            raise stale_error(node, '{field}', {field}._counter[0], {field}_version)",
            ]
            lines += [f"        {field} = {field}._array"] if kind == "vjp" else []
    if row.many:
        lines += [f"    grads = filled(node, grads, {kind == 'vjp'})"]
    calls = []
    for position, name in enumerate(row.tracked):
        call = f"rule_{name}({', '.join(row.needs[name])})"
        calls.append(call if len(row.tracked) == 1 else f"None if edges[{position}] is None else {call}")
    return "\n".join([*lines, f"    return ({', '.join(calls)},)"])


def _unpack_names(row: Row, field: str) -> str:
    if field == "result":
        return "result, counter, result_version,"
    return f"{field}, {field}_version," if field in row.inputs else f"{field},"


# -- the slower ways in, and tools of the assembled source ---------------------------------------


def unwrap(row: Row, operands: tuple):
    """For operands that are not all Tensors: (operand, array, needs gradient) each, in one dtype.

    None if they are arrays without any Tensor: a derivative is running raw.
    """
    if not any(isinstance(o, Tensor) for o in operands):
        if any(isinstance(o, (np.ndarray, np.generic)) for o in operands):
            return None
    operands = [_operand(row, position, o) for position, o in enumerate(operands)]
    arrays = meet(row, *(o._array if isinstance(o, Tensor) else o for o in operands))
    return [
        (o, array, isinstance(o, Tensor) and o._requires_grad)
        for o, array in zip(operands, arrays, strict=True)
    ]


def _operand(row: Row, position: int, operand):
    if isinstance(operand, Tensor):
        return operand
    if isinstance(operand, np.ndarray):
        return wrap(operand)
    if isinstance(operand, NUMBERS) and len(row.inputs) > 1:
        return operand.item() if isinstance(operand, np.generic) else operand
    name = "input" if position == 0 else row.inputs[position]
    kinds = "Tensor" if len(row.inputs) == 1 else "Tensor or Number"
    raise TypeError(
        f"{row.name}(): argument '{name}' (position {position + 1}) must be {kinds}, not {type(operand).__name__}"
    )


def meet(row: Row, *arrays) -> list:
    """The same operands in the one dtype that PyTorch's promotion gives; Python numbers stay numbers."""
    values = [a for a, name in zip(arrays, row.inputs, strict=True) if name in row.rules or not row.rules]
    common = dtypes.promote(*values)
    if row.floating and common.kind != "f":
        common = dtypes.get_default_dtype().numpy
    return [
        a.astype(common) if isinstance(a, np.ndarray) and name in row.rules and a.dtype != common else a
        for a, name in zip(arrays, row.inputs, strict=True)
    ]


def constant(operand):
    """What a node remembers of an operand without gradient, for pictures: a number, or a weak reference."""
    return weakref.ref(operand) if isinstance(operand, Tensor) else operand


def alias(result: Tensor, source: Tensor) -> None:
    """Make `result` a view: it shares the version counter, and knows its base."""
    result._counter = own_counter(source)
    meta = result._meta = AutogradMeta()
    meta.base = source if source._meta is None or source._meta.base is None else source._meta.base


def outputs_of(node, arrays, source: Tensor, view: bool) -> tuple:
    """Wrap the several outputs of one node; each gets an edge that gathers its gradient."""
    results = []
    if node is not None:
        node.shape = tuple(a.shape for a in arrays)
        node.dtype = arrays[0].dtype
    for index, array in enumerate(arrays):
        result = wrap(np.asarray(array))
        if view:
            alias(result, source)
        if node is not None and result._array.dtype.kind == "f":
            meta = result.meta()
            meta.output_nr = index
            meta.edge = OutputEdge(node, index, result._array.shape, result._array.dtype)
            result._requires_grad = True
            result._grad_fn = node
        results.append(result)
    return tuple(results)


def filled(node, grads, raw: bool):
    """The gradients of all outputs of a node, zeros for the outputs that nothing came from."""
    full = []
    for grad, shape in zip(grads, node.shape, strict=True):
        if grad is None:
            grad = np.zeros(shape, node.dtype)
            grad = grad if raw else wrap(grad)
        full.append(grad)
    return full


def explain(row: Row, error: ValueError, *arrays) -> Exception:
    """PyTorch's sentence for shapes that do not fit, in place of NumPy's."""
    shapes = [np.shape(a) for a in arrays]
    if "broadcast" not in str(error) or len(shapes) != 2:
        return RuntimeError(f"{row.name}(): {error}")
    a, b = shapes
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            dim = max(len(a), len(b)) - back
            return refuse(
                RuntimeError,
                f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at "
                f"non-singleton dimension {dim}",
                f"{row.name}() got shapes {a} and {b}; dimensions must be equal, or one of them 1.",
            )
    return RuntimeError(str(error))


_TOOLS = {
    "FRESH": FRESH,
    "Tensor": Tensor,
    "alias": alias,
    "asarray": np.asarray,
    "constant": constant,
    "explain": explain,
    "filled": filled,
    "freed_error": freed_error,
    "gradient_edge": gradient_edge,
    "meet": meet,
    "mode": mode,
    "ndarray": np.ndarray,
    "new": object.__new__,
    "next_op_order": next_op_order,
    "outputs_of": outputs_of,
    "stale_error": stale_error,
    "unwrap": unwrap,
}
