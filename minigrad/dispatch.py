"""How an operation is applied: unwrap the arrays, compute with NumPy, wrap the result, record a node.

An operation is one table row (``ops/*.py``): the forward on arrays, and one derivative per input:

    @op(self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self)
    def mul(self, other):
        return np.multiply(self, other)

The parameter names of a derivative say what it needs, and only that is saved: ``grad``, any argument of the
forward, ``result``, ``NAME_shape`` of an input, or ``grads`` where there are several outputs. A derivative is called
with arrays in a plain backward and with Tensors under ``create_graph=True``, so it uses operators and minigrad's own
operations only. It need not care about versions or inputs that need no gradient, which the assembled source
does, nor about broadcasting and dtypes, which the engine does (`fit`).

From each row ``@op`` assembles, once, the source of three functions written out for its arguments: the
operation itself, and the node's ``vjp`` and ``vjp_recorded``; ``source_of(mul)`` shows them. Writing
them out instead of looping over arguments is what makes small graphs fast.

PyTorch counterparts: ``tools/autograd/derivatives.yaml`` and the code that it generates.
"""

import functools
import linecache
import textwrap
import warnings
import weakref
from types import FunctionType

import numpy as np

from . import dtypes
from .arguments import again
from .autograd.dual import Dual, dual_levels
from .autograd.grad_mode import inferring, mode, switched_off
from .autograd.graph import (
    FRESH,
    PREFIX,
    PREFIXED,
    UNCOUNTED,
    Kind,
    Record,
    freed_error,
    op_order,
    output_edge,
    stale_error,
    watch,
    watchers,
)
from .autograd.node import Face
from .autograd.shown import option, public, raw, saved
from .messages import NO_FILTER, SILENT, bool_not_subtracted, shapes_refused, silence
from .tensor import Tensor, wrap
from .views import alias, unrecorded

NUMBERS = (int, float, np.generic)


class Row:
    """One table row, taken apart: which arguments are tensors, what each derivative mentions."""

    def __init__(
        self, forward, function, /, *, node=None, name=None, floating=False, view=False, constant=(), fits=None,
        number=None, shown=(), frees=(), **rules,
    ):  # fmt: skip
        self.forward, self.rules, self.floating, self.view = function or forward, rules, floating, view
        self.ufunc = function if isinstance(function, np.ufunc) else None
        self.name, self.op_name = forward.__name__, name or forward.__name__
        self.number, self.shown, self.constant, self.frees = number, shown, constant, frees
        self.node = node or camel(self.op_name) + "Backward0"
        self.loud = not view and self.ufunc not in (np.add, np.subtract, np.multiply)
        self.fits = len(rules) == 1 if fits is None else fits
        self.body = forward

    def __getattr__(self, attribute: str):
        """The rest is found out when it is first asked for: at once, for every row, would make the import slow."""
        if "kind" in vars(self):
            raise AttributeError(attribute)
        self.take_apart()
        return getattr(self, attribute)

    def take_apart(self) -> None:
        """What each argument is and what a node keeps. Of ``sum_dim(self, dim, keepdim)``: inputs and tracked ["self"],
        options ["dim", "keepdim"], buffers [], plain ["dim", "keepdim", "self_shape"]; of tanh: buffers ["result"].
        """
        self.parameters = arguments(self.body)
        self.defaults = dict(zip(reversed(self.parameters), reversed(self.body.__defaults__ or ()), strict=False))
        self.inputs = [p for p in self.parameters if p in self.rules or p in self.constant]
        self.tracked = [p for p in self.inputs if p in self.rules]
        self.options = [p for p in self.parameters if p not in self.inputs]
        self.needs = {p: arguments(rule) for p, rule in self.rules.items()}
        self.many = any("grads" in names for names in self.needs.values())
        # A dim or a shape costs nothing to keep; only the tensors that were operated on are freed.
        mentioned = self.mentioned()
        self.buffers = [f for f in mentioned if f == "result" or f in self.inputs or f in self.frees]
        self.plain = [field for field in mentioned if field not in self.buffers]
        self.kind = Kind(self.op_name, None, self.saved_names(), tuple(self.plain))

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
    _unpacks_itself = False

    def name(self) -> str:
        name = type(self).__name__
        return PREFIX + name if name in PREFIXED else name

    @staticmethod
    def rebuild(record: Record, array: np.ndarray, counter: list) -> Tensor:
        """A saved result as a Tensor again. Keeping the Tensor would be a cycle: it points at its record."""
        result = wrap(array, counter)
        result._edge = record
        if dual_levels:
            dual_levels[0].recall(record, 0, result)
        return result

    @staticmethod
    def attach(record: Record, tensor: Tensor, index: int) -> None:
        """Make a tensor the output of a record."""
        tensor._edge = record

    def __call__(self, *grads):
        """Apply the derivatives to a gradient by hand, as in PyTorch."""
        if len(grads) != 1:
            raise TypeError(f"expected 1 arguments, got {len(grads)} instead")
        if not isinstance(grads[0], Tensor):
            raise TypeError("argument 0 is not a Variable")
        results = self.record.kind.vjp_recorded(self.record, grads[0], self.record.edges)
        return results[0] if len(results) == 1 else tuple(results)


def arguments(function) -> list[str]:
    """The names of a function's arguments (``inspect`` takes a hundred times as long to say so)."""
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])


def face_class(name: str, op_name: str, saved_names: tuple = (), option_names: tuple = (), shown=()) -> type:
    """The class of an operation's `grad_fn`, with a property `_saved_NAME` for each value that it keeps."""
    shown = {f"_saved_{n}": value for n, value in dict(shown).items()}
    shown |= {f"_saved_{n}": saved(i) for i, n in enumerate(saved_names) if n}
    shown |= {f"_raw_saved_{n}": raw(i) for i, n in enumerate(saved_names) if n}
    shown |= {f"_saved_{public(n)}": option(i, n, op_name) for i, n in enumerate(option_names) if n[0] != "_"}
    return type(name, (RecordedOp,), {"__slots__": (), "op_name": op_name} | shown)


def camel(name: str) -> str:
    """``mse_loss`` as PyTorch's node names have it: ``MseLoss``."""
    return "".join(part.capitalize() for part in name.split("_"))


def op(function=None, /, **details):
    """Make an operation of a forward on arrays. The keywords are its derivatives, one per input; and:

    `function`: the forward, where it is a NumPy function as it stands (the body below is left empty);
    `node`: the node's name, where it is not NameBackward0; `name`: the operation's, where it is not the function's;
    `number`: the option that is a Python number operated on; `floating`: it turns integers into floats;
    `view`: the result shares its input's memory;
    `constant`: names of inputs without a derivative; `frees`: options that are freed as tensors are;
    `shown`: what the node shows as ``_saved_...`` besides;
    `fits`: each gradient has its input's shape and dtype, so that nothing needs to be summed or cast.
    """

    def decorate(forward):
        row = Row(forward, function, **details)
        space = {"__name__": forward.__module__}
        operation = FunctionType(_unbuilt.__code__, space, row.name)
        space["build"] = functools.partial(build, operation)
        operation.__doc__, operation.__module__ = forward.__doc__, forward.__module__
        operation.__qualname__ = row.name  # which Python's own refusals mention
        operation.row = row
        return operation

    return decorate


def _unbuilt(*args, **options):
    return build()(*args, **options)


def build(operation) -> FunctionType:
    """Assemble an operation and its derivatives, at its first call: all at once would make the import slow."""
    row, space = operation.row, operation.__globals__
    space |= dict(_TOOLS, operation=operation, forward=row.forward, row=row, kind=row.kind)
    space |= {f"default_{p}": default for p, default in row.defaults.items()}
    for name, rule in row.rules.items():
        space |= {f"rule_{name}": rule, f"raw_rule_{name}": on_arrays(rule)}
    assembled = assemble(row.name, source_of(operation), space)
    operation.__code__, operation.__defaults__ = assembled.__code__, assembled.__defaults__
    kind = row.kind
    kind.face = face_class(row.node, row.op_name, kind.saved_names, kind.option_names, row.shown)
    kind.vjp, kind.vjp_recorded = space.pop("vjp"), space.pop("vjp_recorded")
    return operation


def assemble(name: str, source: str, space: dict, kind: str = "") -> FunctionType:
    """Run a source that defines functions, for `space`, and take the one of that name out of it."""
    file = f"<operation {name}{kind}>"
    exec(compile(source, file, "exec"), space)
    linecache.cache[file] = len(source), None, source.splitlines(True), file  # tracebacks and debuggers show it
    return space.pop(name)


def with_keywords(operation, otherwise) -> FunctionType:
    """The operation as a function whose first argument is ``input``, and which leaves ``out=`` to `otherwise`.

    It is written out like the operation itself: a wrapper around that takes a third of its time.
    """
    space = {"__name__": operation.__module__}
    function = FunctionType(_unbuilt.__code__, space, operation.__name__)

    def build_function():
        if operation.__code__ is _unbuilt.__code__:
            build(operation)
        space.update(operation.__globals__, otherwise=otherwise)
        source = _operation_source(operation.row, public=True)
        assembled = assemble(operation.__name__, source, space, ", with out")
        function.__code__, function.__defaults__ = assembled.__code__, assembled.__defaults__
        function.__kwdefaults__ = assembled.__kwdefaults__
        return function

    space["build"] = build_function
    return functools.update_wrapper(function, operation)


def on_arrays(rule) -> FunctionType:
    """A derivative for the plain backward: the operations that it mentions are their forwards, a call less each."""
    found = [(name, getattr(rule.__globals__.get(name), "row", None)) for name in rule.__code__.co_names]
    forwards = {name: row.forward for name, row in found if row}
    if not forwards or not rule.__module__.startswith(f"{__package__}."):  # a notebook may redefine its names
        return rule
    space = {**rule.__globals__, **forwards}
    return FunctionType(rule.__code__, space, rule.__name__, rule.__defaults__, rule.__closure__)


def source_of(operation) -> str:
    """The source that is assembled for an operation: ``print(source_of(mg.mul))``."""
    row = operation.row
    parts = [_operation_source(row)]
    parts += [_vjp_source(row, kind) if row.rules else f"{kind} = None" for kind in ("vjp", "vjp_recorded")]
    return "\n\n".join(parts) + "\n"


def record(result: Tensor, kind: Kind, edges: tuple, constants, options: tuple) -> None:
    """Give `result` a new node. What the assembled source does inline, for the places that are not hurried."""
    node = Record()
    node.kind, node.order = kind, next(op_order)
    node.edges, node.constants, node.saved, node.options = edges, constants, (), options
    node.pending = node.extra = node.face = None
    node.shape, node.dtype, node.fits = result._array.shape, result._dtype, False
    result._edge = node
    if watchers:
        watch(node)


# -- the source that is assembled ----------------------------------------------------------------


def _operation_source(row: Row, public: bool = False) -> str:
    arrays = ", ".join(f"{p}_array" if p in row.inputs else p for p in row.parameters)
    rest = "".join(f" and {n}.__class__ is not Tensor" for n in row.inputs[1:])
    operands = "".join(f"({n}, {n}_array, {n}_edge), " for n in row.inputs)
    return f"""\
def {row.name}({_signature(row, public)}):
{_block(_others_source(row, public) + _quiet_source(row) + _unwrap_source(row))}
    elif dual_levels and dual_levels[0].concerns(({", ".join(row.inputs)},)):
        return dual_levels[0].apply(operation, ({", ".join(row.parameters)},))
    elif {row.inputs[0]}.__class__ is ndarray{rest}:
        return forward({", ".join(row.parameters)})  # a derivative that runs on arrays
    else:
        operands = unwrap(row, ({", ".join(row.inputs)},))
        if operands is None:
            return forward({", ".join(row.parameters)})
        {operands}= operands
        same = False
    try:
        out = forward({arrays})
    except (ValueError, TypeError) as error:
        raise shapes_refused(row.op_name, error, {", ".join(n + "_array" for n in row.inputs)}) from None
{_block(_many_source(row) if row.many else _result_source(row))}
"""


def _quiet_source(row: Row) -> str:
    """NumPy keeps quiet about what division, logarithms and their like cannot compute, whoever has set a filter."""
    return "if (warnings.filters or NO_FILTER)[0] is not SILENT: silence()\n" if row.loud else ""


def _block(source: str, depth: int = 1) -> str:
    return textwrap.indent(source.strip("\n"), "    " * depth)


def _signature(row: Row, public: bool) -> str:
    names = [p + (f"=default_{p}" if p in row.defaults else "") for p in row.parameters]
    if public:
        names = ["input", *names[1:], "*", "out=None"]
    return ", ".join(names + ["**others"] * ("dim" in row.defaults))


def _others_source(row: Row, public: bool) -> str:
    """Where a ``dim`` may be left out, NumPy's name of it is known too."""
    if public:
        first, *rest = row.parameters
        others = "out=out" + ", **others" * ("dim" in row.defaults)
        start = f"if out is not None: return otherwise({', '.join(['input', *rest])}, {others})\n{first} = input\n"
        return start + _others_source(row, public=False)
    if "dim" not in row.defaults:
        return ""
    given = ", ".join(f"{p!r}: {p}" for p in row.options)
    return f"if others: return again(operation, {row.inputs[0]}, {{{given}}}, others)\n"


def _unwrap_source(row: Row) -> str:
    """The quick ways in: every input a Tensor; or a floating Tensor and a Python number."""
    names, arrays = row.inputs, ", ".join(f"{n}_array" for n in row.inputs)
    lines = ["if " + " and ".join(f"{n}.__class__ is Tensor" for n in names) + ":"]
    lines += [f"    {n}_array = {n}._array; {n}_edge = " + (f"{n}._edge" if n in row.rules else "None") for n in names]
    if len(names) == 2:
        lines += [f"    dtype = {names[0]}._dtype; same = dtype is {names[1]}._dtype"]
        lines += [f"    if not same: {arrays} = meet(row, {arrays})"]
    elif len(names) > 2:
        lines += [f"    {arrays} = meet(row, {arrays})"]
    if row.floating:
        needed = " or ".join(f"{n}_edge is not None" for n in names)
        single = f"{names[0]}._dtype is not float32"  # is asked first: five times as fast as asking for the kind
        lines += [
            f"    if not ({needed}) and {single} and {names[0]}._dtype.kind != 'f': {arrays}, = meet(row, {arrays})"
        ]
    if len(names) == 2:
        a, b = names
        lines += [
            f"elif ({b}.__class__ is float or {b}.__class__ is int) and {a}.__class__ is Tensor "
            f"and ({a}._dtype is float32 or {a}._dtype.kind == 'f'):",
            f"    {a}_array = {a}._array; {a}_edge = {a}._edge; dtype = {a}._dtype; same = True",
            f"    {b}_array = number({b}, dtype) if {b} else {b}; {b}_edge = None",
        ]
    return "\n".join(lines)


def _result_source(row: Row) -> str:
    share = f"alias(result, {row.inputs[0]})" if row.view else "result._counter = FRESH; result._meta = None"
    unrecorded = f"unrecorded(result, {row.inputs[0]})" if row.view else "result._edge = None"
    arithmetic = len(row.inputs) == 2 and row.ufunc and row.rules and not row.floating  # it stays in one dtype
    dtype = "dtype if same else out.dtype" if arithmetic else "out.dtype"  # asking the array takes longer
    unrecorded += "\nif inferring and mode.state < 0: uncounted(result)"
    start = f"""
if out.__class__ is not ndarray: out = asarray(out)  # NumPy gives scalars for 0-d
result = new(Tensor)
result._array = out
dtype = result._dtype = {dtype}
{share}
"""
    if not row.rules:
        return f"{start}{unrecorded}\nreturn result"
    return f"""{start}\
if ({_any_needs(row)}) and (not switched_off or mode.state > 0){" and result._counter is not UNCOUNTED" * row.view}:
{_block(_node_source(row))}
{_block(_shape_source(row))}
    node.dtype = dtype
    result._edge = node
    if watchers: watch(node)
else:
{_block(unrecorded)}
return result
"""


def _many_source(row: Row) -> str:
    return f"""
if ({_any_needs(row)}) and (not switched_off or mode.state > 0):
{_block(_node_source(row))}
    if watchers: watch(node)
    return outputs_of(node, out, {row.inputs[0]}, {row.view})
return outputs_of(None, out, {row.inputs[0]}, {row.view})
"""


def _any_needs(row: Row) -> str:
    return " or ".join(f"{n}_edge is not None" for n in row.tracked)


def _node_source(row: Row) -> str:
    edges = " ".join(f"{n}_edge," for n in row.tracked)
    each = ", ".join(
        f"None if {n}_edge is not None else ref({n}) if {n}.__class__ is Tensor else {n}" for n in row.tracked
    )
    all_needed = " and ".join(f"{n}_edge is not None" for n in row.tracked)
    constants = f"None if {all_needed} else ({each})" if len(row.tracked) > 1 else "None"
    if row.number:
        constants = f"(None, {row.number})"
    lines = [
        "node = Record()",
        "node.kind = kind; node.order = next(op_order)",
        f"node.edges = ({edges})",
        "node.pending = node.extra = node.face = None",
        f"node.constants = {constants}",
    ]
    if "result" in row.buffers:
        lines += ["counter = result._counter = [0]"]
    lines += [f"node.saved = ({' '.join(_saved(row, field) for field in row.buffers)})"]
    if row.plain:
        lines += [f"node.options = ({' '.join(_saved(row, field) for field in row.plain)})"]
    return "\n".join(lines)


def _saved(row: Row, field: str) -> str:
    """What a node keeps of a field: a tensor with its version, but only if a derivative that is needed mentions it."""
    if field == "result":
        return "out, counter, 0,"
    if field.endswith("_shape"):
        return f"{field.removesuffix('_shape')}_array.shape,"
    if field in row.frees:
        return f"{field}, 0,"
    if field not in row.inputs:
        return f"{field},"
    users = [f"{n}_edge is not None" for n, names in row.needs.items() if field in names]
    if len(users) == len(row.tracked):
        return f"{field}, {field}._counter[0] if {field}.__class__ is Tensor else 0,"
    needed = " or ".join(users)
    return f"{field} if {needed} else None, {field}._counter[0] if ({needed}) and {field}.__class__ is Tensor else 0,"


def _shape_source(row: Row) -> str:
    """Note the result's shape, and whether a gradient of that shape fits the inputs as it is (None: but for shapes)."""
    if len(row.inputs) != 2:
        return f"node.shape = out.shape; node.fits = {row.fits}"
    if not row.ufunc:
        return f"node.shape = out.shape; node.fits = same and {row.fits}"
    # A record knows its shape, and asking it is several times as fast as asking an array.
    fitting = " and ".join(f"({n}_edge is None or {n}_edge.shape == shape)" for n in row.tracked)
    return f"shape = node.shape = out.shape; node.fits = same and (({fitting}) or None)"


def hands_on(rule) -> bool:
    """Whether a derivative is the gradient as it comes, as those of a sum are: it needs no call."""
    return arguments(rule) == ["grad"] and rule.__code__.co_code == (lambda grad: grad).__code__.co_code


def _vjp_source(row: Row, kind: str) -> str:
    """`vjp` (arrays) or `vjp_recorded` (Tensors): check the versions, unpack, apply the derivatives."""
    lines = []
    if row.buffers:
        unpacked = " ".join(
            "result, counter, result_version," if field == "result" else f"{field}, {field}_version,"
            for field in row.buffers
        )
        lines += ["saved = node.saved", "if saved is None: raise freed_error()", f"{unpacked} = saved"]
    if row.plain:
        lines += [f"{' '.join(field + ',' for field in row.plain)} = node.options"]
    lines += [_check_source(field, raw=kind == "vjp").strip() for field in row.buffers]
    if row.many:
        lines += [f"grads = filled(node, grads, {kind == 'vjp'})"]
    rule = "raw_rule" if kind == "vjp" else "rule"
    calls = ["grad" if hands_on(row.rules[n]) else f"{rule}_{n}({', '.join(row.needs[n])})" for n in row.tracked]
    if len(calls) > 1:
        calls = [f"None if edges[{i}] is None else {call}" for i, call in enumerate(calls)]
    lines += [f"return ({', '.join(calls)},)"]
    return f"def {kind}(node, {'grads' if row.many else 'grad'}, edges):\n" + _block("\n".join(lines))


def _check_source(field: str, raw: bool) -> str:
    if field == "result":
        rebuild = "" if raw else "result = kind.face.rebuild(node, result, counter)"
        return f"""
if counter[0] > result_version: raise stale_error(node, 'result', counter[0], result_version)
{rebuild}
"""
    return f"""
if {field}.__class__ is Tensor or {field}.__class__ is Dual:
    if {field}._counter[0] != {field}_version:
        raise stale_error(node, '{field}', {field}._counter[0], {field}_version)
{f"    {field} = {field}._array" if raw else ""}
"""


# -- the slower ways in, and tools of the assembled source ---------------------------------------


def unwrap(row: Row, operands: tuple):
    """For operands that are not all Tensors: (operand, array, edge) each, in one dtype.

    None if they are arrays without any Tensor: a derivative is running raw.
    """
    if not any(isinstance(o, Tensor) for o in operands):
        if any(isinstance(o, (np.ndarray, np.generic)) for o in operands):
            return None
    operands = [_operand(row, position, o) for position, o in enumerate(operands)]
    arrays = meet(row, *(o._array if isinstance(o, Tensor) else o for o in operands))
    results, recording = [], mode.state > 0
    for operand, array, name in zip(operands, arrays, row.inputs, strict=True):
        asked = recording and name in row.rules and isinstance(operand, Tensor)  # or a view is not asked for its past
        results.append((operand, array, operand._edge if asked else None))
    return results


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
        f"{row.op_name}(): argument '{name}' (position {position + 1}) must be {kinds}, not {type(operand).__name__}"
    )


def meet(row: Row, *arrays) -> list:
    """The same operands in the one dtype that PyTorch's promotion gives; Python numbers stay numbers."""
    values = [a for a, name in zip(arrays, row.inputs, strict=True) if name in row.rules or not row.rules]
    if row.op_name == "sub" and any(isinstance(a, np.ndarray) and a.dtype.kind == "b" for a in values):
        raise bool_not_subtracted()
    common = dtypes.promote(*values)
    if row.floating and common.kind != "f":
        common = dtypes.get_default_dtype().numpy
    return [
        a.astype(common)
        if isinstance(a, np.ndarray) and (name in row.rules or not row.rules) and a.dtype != common
        else a
        for a, name in zip(arrays, row.inputs, strict=True)
    ]


def constant(operand):
    """What a node remembers of an operand without gradient, for pictures: a number, or a weak reference."""
    return weakref.ref(operand) if isinstance(operand, Tensor) else operand


def uncounted(result: Tensor) -> None:
    """Make a result of inference mode an inference tensor; a view of an ordinary tensor stays what it is."""
    if result._meta is None or result._meta.base is None:
        result._counter = UNCOUNTED


def outputs_of(node: Record | None, arrays, source: Tensor, view: bool) -> tuple:
    """Wrap the several outputs of one operation; each gets an edge that gathers its gradient."""
    results = []
    if node is not None:
        node.shape, node.dtype, node.fits = tuple(a.shape for a in arrays), source._dtype, False
    for index, array in enumerate(arrays):
        result = wrap(np.asarray(array))
        if view:
            alias(result, source)
            unrecorded(result, source)
            if result._meta is not None and mode.state > 0:
                result._meta.born = "several"
        if node is not None and result._dtype.kind == "f":
            result.meta().output_nr = index
            result._edge = output_edge(node, index, result._array.shape, result._dtype)
        results.append(result)
    return tuple(results)


def filled(node: Record, grads: dict, raw: bool) -> list:
    """The gradients of all outputs of an operation, zeros for the outputs that nothing came from."""
    blank = (lambda shape: np.zeros(shape, node.dtype)) if raw else (lambda shape: wrap(np.zeros(shape, node.dtype)))
    return [grads[i] if i in grads else blank(shape) for i, shape in enumerate(node.shape)]


@functools.lru_cache(maxsize=256)
def number(value, dtype):
    """A Python number as an array: NumPy takes twice as long to make one of it itself. (Not for 0 and -0, one key.)"""
    return np.array(value, dtype)


_TOOLS = {
    tool.__name__: tool
    for tool in (
        *(Record, Tensor, again, alias, filled, freed_error, meet, next, number, outputs_of, shapes_refused),
        *(Dual, silence, stale_error, uncounted, unrecorded, unwrap, watch, np.asarray, np.ndarray),
    )
}
_TOOLS |= dict(FRESH=FRESH, inferring=inferring, mode=mode, new=object.__new__, op_order=op_order)
_TOOLS |= dict(dual_levels=dual_levels, float32=np.dtype(np.float32), switched_off=switched_off, watchers=watchers)
_TOOLS |= dict(UNCOUNTED=UNCOUNTED, ref=weakref.ref, NO_FILTER=NO_FILTER, SILENT=SILENT, warnings=warnings)
