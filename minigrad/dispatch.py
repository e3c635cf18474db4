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
operation itself, and the node's ``vjp`` and ``vjp_recorded``; ``source_of(mul)`` shows them. Writing
them out instead of looping over arguments is what makes small graphs fast.

PyTorch counterparts: ``tools/autograd/derivatives.yaml`` and the code that it generates.
"""

import functools
import inspect
import weakref
from types import FunctionType

import numpy as np

from . import dtypes
from .autograd.grad_mode import mode, switched_off
from .autograd.graph import (
    FRESH,
    AutogradMeta,
    Face,
    Kind,
    Record,
    freed_error,
    gradient_edge,
    op_order,
    output_edge,
    own_counter,
    stale_error,
)
from .messages import refuse
from .tensor import Tensor, wrap

NUMBERS = (int, float, np.generic)


class Row:
    """One table row, taken apart: which arguments are tensors, what each derivative mentions."""

    def __init__(self, forward, function, rules, *, node, op_name, floating, view, constant, fits):
        self.forward, self.rules, self.floating, self.view = function or forward, rules, floating, view
        self.ufunc = function if isinstance(function, np.ufunc) else None
        self.fits = len(rules) == 1 if fits is None else fits
        self.name = forward.__name__
        self.signature = inspect.signature(forward)
        self.parameters = list(self.signature.parameters)
        self.inputs = [p for p in self.parameters if p in rules or p in constant]
        self.tracked = [p for p in self.inputs if p in rules]
        self.options = [p for p in self.parameters if p not in self.inputs]
        self.needs = {p: inspect.getfullargspec(rule).args for p, rule in rules.items()}
        self.many = any("grads" in names for names in self.needs.values())
        self.op_name = op_name or self.name
        # A dim or a shape costs nothing to keep; only the tensors that were operated on are freed.
        self.kept = self.mentioned()
        self.buffers = [field for field in self.kept if field == "result" or field in self.inputs]
        self.plain = [field for field in self.kept if field not in self.buffers]
        face = face_class(
            node or camel(self.op_name) + "Backward0", self.op_name, self.saved_names(), tuple(self.plain)
        )
        self.kind = Kind(self.op_name, face, self.saved_names(), tuple(self.plain))

    def mentioned(self) -> list[str]:
        """What the derivatives mention besides the gradient, each once, in order of the forward's arguments."""
        mentioned = [name for names in self.needs.values() for name in names if name not in ("grad", "grads")]
        order = [*self.parameters, "result"]
        return sorted(set(mentioned), key=lambda f: (order.index(f) if f in order else 99, f))

    def saved_names(self) -> tuple:
        """Names for the entries of a node's `saved`; a tensor is followed by its version, a result by two."""
        names = []
        for field in self.buffers:
            names += [field, "", ""] if field == "result" else [field, ""]
        return tuple(names)


class RecordedOp(Face):
    """The node of a table row; each row has a subclass of its own, named as PyTorch names it."""

    __slots__ = ()

    @staticmethod
    def rebuild(record: Record, array: np.ndarray, counter: list) -> Tensor:
        """A saved result as a Tensor again. Keeping the Tensor would be a cycle: it points at its record."""
        result = wrap(array, counter)
        result._requires_grad = True
        result._edge = record
        return result

    def __call__(self, *grads):
        """Apply the derivatives to a gradient by hand, as in PyTorch."""
        if len(grads) != 1:
            raise TypeError(f"expected 1 arguments, got {len(grads)} instead")
        results = self.record.kind.vjp_recorded(self.record, grads[0], self.record.edges)
        return results[0] if len(results) == 1 else tuple(results)


def face_class(name: str, op_name: str, saved_names: tuple = (), option_names: tuple = ()) -> type:
    """The class of an operation's `grad_fn`, with a property `_saved_NAME` for each value that it keeps."""
    shown = {f"_saved_{n}": _saved_property(i) for i, n in enumerate(saved_names) if n}
    shown |= {f"_saved_{n}": _option_property(i) for i, n in enumerate(option_names) if n[0] != "_"}
    return type(name, (RecordedOp,), {"__slots__": (), "op_name": op_name} | shown)


def _option_property(position: int) -> property:
    return property(lambda self: self.record.options[position])


def _saved_property(position: int) -> property:
    def value(self):
        if self.record.saved is None:
            raise freed_error()
        return self.record.entry(position)[0]

    return property(value)


def camel(name: str) -> str:
    """``mse_loss`` as PyTorch's node names have it: ``MseLoss``."""
    return "".join(part.capitalize() for part in name.split("_"))


def op(function=None, *, node=None, name=None, floating=False, view=False, constant=(), fits=None, shown=(), **rules):
    """Make an operation of a forward on arrays. The keywords are its derivatives, one per input.

    A forward that is a NumPy function as it stands is given as `function`, and the body below it left empty.
    `node` names the node where PyTorch's name is not NameBackward0, `name` the operation where the function's
    name is not PyTorch's; `floating` operations turn integers into floats; `view` results share their input's memory; `constant` names inputs without a derivative;
    `fits` says that each gradient has its input's shape and dtype, so that nothing needs to be summed or cast.
    """

    def decorate(forward):
        row = Row(
            forward, function, rules, node=node, op_name=name, floating=floating, view=view, constant=constant, fits=fits
        )
        for attribute, value in dict(shown).items():
            setattr(row.kind.face, f"_saved_{attribute}", value)
        space = {f"rule_{name}": rule for name, rule in rules.items()}
        space |= {f"default_{p}": row.signature.parameters[p].default for p in row.options}
        space |= dict(_TOOLS, __name__=forward.__module__, forward=row.forward, row=row, kind=row.kind)
        operation = FunctionType(_unbuilt.__code__, space, row.name)
        space["build"] = functools.partial(build, operation)
        operation.__doc__, operation.__module__ = forward.__doc__, forward.__module__
        operation.row = row
        return operation

    return decorate


def _unbuilt(*args, **options):
    return build()(*args, **options)


def build(operation) -> FunctionType:
    """Assemble an operation and its derivatives, at its first call: all at once would make the import slow."""
    row, space = operation.row, operation.__globals__
    exec(compile(source_of(operation), f"<operation {row.name}>", "exec"), space)
    assembled = space.pop(row.name)
    operation.__code__, operation.__defaults__ = assembled.__code__, assembled.__defaults__
    row.kind.vjp, row.kind.vjp_recorded = space.pop("vjp"), space.pop("vjp_recorded")
    return operation


def source_of(operation) -> str:
    """The source that is assembled for an operation: ``print(source_of(mg.mul))``."""
    row = operation.row
    parts = [_operation_source(row)]
    parts += [_vjp_source(row, kind) if row.rules else f"{kind} = None" for kind in ("vjp", "vjp_recorded")]
    return "\n\n".join(parts) + "\n"


def op_of_many(*, tensors, keep):
    """Like `@op`, for a forward whose first argument is a list of tensors (``cat``, ``stack``).

    `tensors` is the derivative: it returns one gradient per tensor, and is given the gradient and what
    `keep(arrays, dim)` returned in the forward.
    """

    def decorate(forward):
        name = forward.__name__
        names = ("dim", "_lengths")
        kind = Kind(name, face_class(camel(name) + "Backward0", name, (), names), (), names)

        def vjp(record, grad, edges):
            grads = tensors(grad, *record.options)
            return [g if edge is not None else None for g, edge in zip(grads, edges, strict=True)]

        kind.vjp = kind.vjp_recorded = vjp

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
                record(result, kind, edges, constants, keep(arrays, dim))
            return result

        return function

    return decorate


def record(result: Tensor, kind: Kind, edges: tuple, constants, options: tuple) -> None:
    """Give `result` a new node. What the assembled source does inline, for the places that are not hurried."""
    node = Record()
    node.kind, node.order = kind, next(op_order)
    node.edges, node.constants, node.saved, node.options = edges, constants, (), options
    node.pending = node.extra = node.face = None
    node.shape, node.dtype, node.fits = result._array.shape, result._dtype, False
    result._requires_grad, result._edge = True, node


# -- the source that `@op` assembles -------------------------------------------------------------


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
        "        same = False",
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
            f"    same = {names[0]}._dtype is {names[1]}._dtype",
            f"    if not same: {arrays} = meet(row, {arrays})",
        ]
    elif len(names) > 2:
        lines += [f"    {arrays} = meet(row, {arrays})"]
    if row.floating:
        untracked = " or ".join(f"{n}_needs" for n in names)
        lines += [
            f"    if not ({untracked}) and {names[0]}._dtype.kind != 'f':",
            f"        {arrays}, = meet(row, {arrays})",
        ]
    if len(names) == 2:
        first, second = names
        lines += [
            f"elif ({second}.__class__ is float or {second}.__class__ is int) "
            f"and {first}.__class__ is Tensor and {first}._dtype.kind == 'f':",
            f"    {first}_array = {first}._array; {first}_needs = {first}._requires_grad",
            f"    {second}_array = {second}; {second}_needs = same = False",
        ]
    return "\n".join(lines)


def _record_source(row: Row) -> str:
    wanted = " or ".join(f"{n}_needs" for n in row.tracked)
    lines = []
    if not row.many:
        lines += ["if out.__class__ is not ndarray:  # NumPy gives scalars for 0-d", "    out = asarray(out)"]
        lines += ["result = new(Tensor)", "result._array = out", "dtype = result._dtype = out.dtype"]
        lines += _alias_lines(row)
    if not row.rules:
        return "\n".join([*lines, "result._requires_grad = False", "result._edge = None", "return result"])
    lines += [
        f"if ({wanted}) and (not switched_off or mode.state > 0):",
        "    node = Record()",
        "    node.kind = kind",
        "    node.order = next(op_order)",
        f"    node.edges = ({' '.join(_edge(n) for n in row.tracked)})",
        "    node.pending = node.extra = node.face = None",
        f"    node.constants = {_constants(row)}",
    ]
    if "result" in row.buffers:
        lines += ["    counter = result._counter = [0]"]
    lines += [f"    node.saved = ({' '.join(_saved(row, field) for field in row.buffers)})"]
    if row.plain:
        lines += [f"    node.options = ({' '.join(_saved(row, field) for field in row.plain)})"]
    if row.many:
        source = row.inputs[0]
        return "\n".join([*lines, f"    return outputs_of(node, out, {source}, {row.view})"]) + (
            f"\nreturn outputs_of(None, out, {source}, {row.view})"
        )
    lines += [
        *_indent(_shape_source(row)).splitlines(),
        "    node.dtype = dtype",
        "    result._requires_grad = True",
        "    result._edge = node",
        "else:",
        "    result._requires_grad = False",
        "    result._edge = None",
        "return result",
    ]
    return "\n".join(lines)


def _shape_source(row: Row) -> str:
    """Note the result's shape, and whether a gradient of that shape fits the inputs as it is."""
    if len(row.inputs) != 2:
        return f"node.shape = out.shape\nnode.fits = {row.fits}"
    return "\n".join(
        [
            "if same:",
            f"    shape = {row.inputs[0]}_array.shape",
            f"    fits = node.fits = shape == {row.inputs[1]}_array.shape",
            "    node.shape = shape if fits else out.shape",
            "else:",
            "    node.shape = out.shape; node.fits = False",
        ]
        if row.ufunc
        else [f"node.shape = out.shape; node.fits = same and {row.fits}"]
    )


def _alias_lines(row: Row) -> list[str]:
    if not row.view:
        return ["result._counter = FRESH", "result._meta = None"]
    source = row.inputs[0]
    return [f"alias(result, {source})"]


def _edge(name: str) -> str:
    return f"({name}._edge or gradient_edge({name})) if {name}_needs else None,"


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
    gradient = "grads" if row.many else "grad"
    lines = [f"def {kind}(node, {gradient}, edges):"]
    if row.buffers:
        lines += ["    saved = node.saved", "    if saved is None:", "        raise freed_error()"]
        lines += [f"    {' '.join(_unpack_names(field) for field in row.buffers)} = saved"]
    if row.plain:
        lines += [f"    {' '.join(field + ',' for field in row.plain)} = node.options"]
    for field in row.buffers:
        if field == "result":
            lines += [
                "    if counter[0] != result_version:",
                "        raise stale_error(node, 'result', counter[0], result_version)",
            ]
            lines += ["    result = kind.face.rebuild(node, result, counter)"] if kind != "vjp" else []
        else:
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


def _unpack_names(field: str) -> str:
    return "result, counter, result_version," if field == "result" else f"{field}, {field}_version,"


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


def outputs_of(node: Record | None, arrays, source: Tensor, view: bool) -> tuple:
    """Wrap the several outputs of one operation; each gets an edge that gathers its gradient."""
    results = []
    if node is not None:
        node.shape, node.dtype, node.fits = tuple(a.shape for a in arrays), source._dtype, False
    for index, array in enumerate(arrays):
        result = wrap(np.asarray(array))
        if view:
            alias(result, source)
        if node is not None and result._dtype.kind == "f":
            result.meta().output_nr = index
            result._requires_grad = True
            result._edge = output_edge(node, index, result._array.shape, result._dtype)
        results.append(result)
    return tuple(results)


def filled(node: Record, grads: dict, raw: bool) -> list:
    """The gradients of all outputs of an operation, zeros for the outputs that nothing came from."""
    blank = (lambda shape: np.zeros(shape, node.dtype)) if raw else (lambda shape: wrap(np.zeros(shape, node.dtype)))
    return [grads[i] if i in grads else blank(shape) for i, shape in enumerate(node.shape)]


def explain(row: Row, error: ValueError, *arrays) -> Exception:
    """PyTorch's sentence for shapes that do not fit, in place of NumPy's."""
    shapes = [list(np.shape(a)) for a in arrays]
    a, b = shapes if len(shapes) == 2 else ((), ())
    sentence = str(error)
    if row.op_name == "mm":
        sentence = f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"
    elif row.op_name == "mv":
        sentence = f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})"
    elif row.op_name == "dot":
        sentence = (
            f"inconsistent tensor size, expected tensor {a} and src {b} to have the same number of elements, "
            f"but got {a[0]} and {b[0]} elements respectively"
        )
    elif "broadcast" in sentence:
        sentence = _broadcast_sentence(a, b)
    got = " and ".join(str(tuple(shape)) for shape in shapes)
    return refuse(RuntimeError, sentence, f"{row.op_name}() got shapes that do not go together: {got}.")


def _broadcast_sentence(a: list, b: list) -> str:
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return (
                f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at "
                f"non-singleton dimension {max(len(a), len(b)) - back}"
            )
    shape = list(np.broadcast_shapes(tuple(a), tuple(b)))  # they fit: it is the output that is too small
    return f"output with shape {a} doesn't match the broadcast shape {shape}"


_TOOLS = {
    "FRESH": FRESH,
    "Record": Record,
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
    "next": next,
    "op_order": op_order,
    "switched_off": switched_off,
    "outputs_of": outputs_of,
    "stale_error": stale_error,
    "unwrap": unwrap,
}
