"""How a row of the table becomes code: source written out for its arguments, compiled at the first call.

`mg.mul` unwraps its operands, computes with NumPy, wraps the result and records a node. That is the same for every
operation, but a loop over arguments that asks each row what it needs takes three times as long as code written out
for it. Read assembled_mul.txt first: it has what is written for `mul`, the operation and its vector-Jacobian product on
arrays (`vjp`) and on Tensors (`vjp_recorded`). This file produces it; ``print(source_of(mg.tanh))`` shows another row.

PyTorch counterpart: the code that ``tools/autograd`` generates from derivatives.yaml.
"""

import functools
import linecache
import textwrap
import warnings
import weakref
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import numpy as np

from .arguments import with_numpy_names
from .autograd.dual import Dual, dual_levels
from .autograd.grad_mode import mode, threads_in_inference, threads_without_grad
from .autograd.node import AutogradMeta, Node, call_creation_hooks, creation_hooks, op_order
from .autograd.versions import FRESH, UNCOUNTED, freed, stale_error
from .layout import laid_out
from .messages import shapes_refused
from .numpy_warnings import NO_FILTER, SILENT, silence_numpy
from .operands import NUMBERS, in_one_dtype, number, unwrap
from .results import mark_as_inference, rebuild_result, with_zeros, wrap_outputs
from .tensor import Tensor
from .views import MANY_VIEWS, drop_dead, unrecorded


def operation(row, write_out: Callable | None = None, operator: bool = False) -> FunctionType:
    """The operation of a row. With `write_out` its first argument is ``input``, and calls with ``out=`` go there.

    `operator`: an operand that is neither tensor nor number is left to Python, which asks it and then refuses.
    """

    def namespace() -> dict:
        defaults = {f"default_{p}": default for p, default in row.defaults.items()}
        return dict(
            _TOOLS, operation=function, forward=row.forward, row=row, kind=row.kind, write_out=write_out, **defaults
        )

    name = f"<operation {row.name}{', with out' if write_out else ', operator' if operator else ''}>"
    source = functools.partial(_operation_source, row, write_out is not None, operator)
    function: Any = _assembled_when_called(row, row.name, name, source, namespace)
    function.__doc__ = row.definition.__doc__
    function.__qualname__ = row.name  # which Python's own refusals mention
    function.__wrapped__ = row.definition  # whose signature and source help() and ?? show
    function.row = row
    return function


def vjp(row, name: str) -> FunctionType:
    """`vjp` (on arrays) or `vjp_recorded` (on Tensors) of a row."""

    def namespace() -> dict:
        rules = {f"rule_{n}": on_arrays(rule) if name == "vjp" else rule for n, rule in row.rules.items()}
        return dict(_TOOLS, kind=row.kind, **rules)

    source = functools.partial(_vjp_source, row, name)
    return _assembled_when_called(row, name, f"<operation {row.name}, {name}>", source, namespace)


def source_of(operation) -> str:
    """The source that is assembled for an operation and its derivatives: ``print(source_of(mg.mul))``."""
    row = operation.row
    parts = [_operation_source(row)] + [_vjp_source(row, name) for name in ("vjp", "vjp_recorded") if row.rules]
    return "\n\n".join(parts)


def _assembled_when_called(row, name: str, file: str, source: Callable, namespace: Callable) -> FunctionType:
    """A function that is compiled at its first call: all of them at once would take as long as importing NumPy."""
    own: dict = {"__name__": row.definition.__module__}

    def assemble():
        own.update(namespace())
        text, made = source(), {}
        exec(compile(text, file, "exec"), own, made)
        linecache.cache[file] = len(text), None, text.splitlines(True), file  # tracebacks and debuggers show it
        compiled = made[name]
        function.__defaults__, function.__kwdefaults__ = compiled.__defaults__, compiled.__kwdefaults__
        # The code is put in the place of the stub's, because by now the function is bound in many places: as mg.mul, as
        # Tensor.__mul__, in the derivatives of others. So a call costs nothing more than one of a plain function.
        function.__code__ = compiled.__code__
        return function

    own["assemble"] = assemble
    function = FunctionType(_first_call.__code__, own, name)
    return function


def _first_call(*args, **options):
    """The stub: compiles the operation, then calls it."""
    return assemble()(*args, **options)  # noqa: F821 (in the namespace that this code is run in)


def on_arrays(rule) -> FunctionType:
    """A derivative for the plain backward: the operations that it calls are their forwards, a call less each."""
    found = [(name, getattr(rule.__globals__.get(name), "row", None)) for name in rule.__code__.co_names]
    forwards = {name: row.forward for name, row in found if row}
    if not forwards or not rule.__module__.startswith(f"{__package__}."):  # a notebook may redefine its names
        return rule
    space = {**rule.__globals__, **forwards}
    return FunctionType(rule.__code__, space, rule.__name__, rule.__defaults__, rule.__closure__)


# -- the operation -------------------------------------------------------------------------------


def _operation_source(row, public: bool = False, operator: bool = False) -> str:
    arrays = ", ".join(f"{p}_array" if p in row.inputs else p for p in row.parameters)
    no_tensors = "".join(f" and {n}.__class__ is not Tensor" for n in row.inputs[1:])
    operands = "".join(f"({n}, {n}_array, {n}_node), " for n in row.inputs)
    return f"""\
def {row.name}({_signature(row, public)}):
{_block(_other_arguments_source(row, public) + _silence_source(row) + _usual_operands_source(row))}
    elif dual_levels and dual_levels[0].concerns(({", ".join(row.inputs)},)):
        return dual_levels[0].apply(operation, ({", ".join(row.parameters)},))
    elif {row.inputs[0]}.__class__ is ndarray{no_tensors}:
        return forward({", ".join(row.parameters)})  # a derivative that runs on arrays
    else:
        {f"if not isinstance({row.parameters[1]}, OPERANDS): return NotImplemented" if operator else ""}
        operands = unwrap(row, ({", ".join(row.inputs)},))
        if operands is None:
            return forward({", ".join(row.parameters)})
        {operands}= operands
        same = False
    try:
        out = forward({arrays})
    except (ValueError, TypeError) as error:
        raise shapes_refused(row.op_name, error, {", ".join(n + "_array" for n in row.inputs)}) from None
{_block(_outputs_source(row) if row.several_outputs else _result_source(row))}
"""


def _block(source: str, depth: int = 1) -> str:
    return textwrap.indent(source.strip("\n"), "    " * depth)


def _signature(row, public: bool) -> str:
    names = [p + (f"=default_{p}" if p in row.defaults else "") for p in row.parameters]
    if public:
        names = ["input", *names[1:], "*", "out=None"]
    return ", ".join(names + ["**others"] * ("dim" in row.defaults))


def _other_arguments_source(row, public: bool) -> str:
    """``out=``; and where a ``dim`` may be left out, NumPy's names ``axis`` and ``keepdims``."""
    if public:
        first, *rest = row.parameters
        others = "out=out" + ", **others" * ("dim" in row.defaults)
        start = f"if out is not None: return write_out({', '.join(['input', *rest])}, {others})\n{first} = input\n"
        return start + _other_arguments_source(row, public=False)
    if "dim" not in row.defaults:
        return ""
    given = ", ".join(f"{p!r}: {p}" for p in row.options)
    return f"if others: return with_numpy_names(operation, {row.inputs[0]}, {{{given}}}, others)\n"


def _silence_source(row) -> str:
    return "if (warnings.filters or NO_FILTER)[0] is not SILENT: silence_numpy()\n" if row.warns else ""


def _usual_operands_source(row) -> str:
    """The usual operands: every input a Tensor; or a floating Tensor and a Python number. An `elif` comes after it."""
    names, arrays = row.inputs, ", ".join(f"{n}_array" for n in row.inputs)
    given = {n: f"None if {n} is None else " if row.defaults.get(n, 0) is None else "" for n in names}
    lines = ["if " + " and ".join(f"{n}.__class__ {'in OPTIONAL' if given[n] else 'is Tensor'}" for n in names) + ":"]
    for n in names:
        lines += [
            f"    {n}_array = {given[n]}{n}._array; {n}_node = {f'{given[n]}{n}._node' if n in row.rules else None}"
        ]
    meeting = [n for n in names if n in row.rules or not row.rules]
    first, *others = names if len(names) == 2 else meeting
    if others:
        same = [f"({n} is None or dtype is {n}._dtype)" if given[n] else f"dtype is {n}._dtype" for n in others]
        lines += [f"    dtype = {first}._dtype; same = {' and '.join(same)}"]
        lines += [f"    if not same: {arrays} = in_one_dtype(row, {arrays})"] * (len(meeting) > 1)
    if row.floating:
        needed = " or ".join(f"{n}_node is not None" for n in names)
        single = f"{names[0]}._dtype is not float32"  # is asked first: five times as fast as asking for the kind
        integer = f"not ({needed}) and {single} and {names[0]}._dtype.kind != 'f'"
        lines += [f"    if {integer}: {arrays}, = in_one_dtype(row, {arrays})"]
    if len(names) == 2 and row.numbers:
        a, b = names
        lines += [
            f"elif ({b}.__class__ is float or {b}.__class__ is int) and {a}.__class__ is Tensor "
            f"and ({a}._dtype is float32 or {a}._dtype.kind == 'f'):",
            f"    {a}_array = {a}._array; {a}_node = {a}._node; dtype = {a}._dtype; same = True",
            # `number` keeps the arrays of numbers it was given; 0 and -0 are one key, so these are made each time.
            f"    {b}_array = number({b}, dtype) if {b} else asarray({b}, dtype); {b}_node = None",
        ]
    return "\n".join(lines)


def _result_source(row) -> str:
    share = _view_source(row.inputs[0]) if row.view else "result._version_counter = FRESH; result._meta = None"
    not_recorded = f"unrecorded(result, {row.inputs[0]})" if row.view else "result._node = None"
    arithmetic = len(row.inputs) == 2 and row.ufunc and row.rules and not row.floating  # it stays in one dtype
    # Asking the array takes longer.
    dtype = f"{row.inputs[0]}._dtype" if row.view else "dtype if same else out.dtype" if arithmetic else "out.dtype"
    not_recorded += "\nif threads_in_inference and mode.inference: mark_as_inference(result)"
    operands, ordered = ", ".join(f"{n}_array" for n in row.inputs), f"{row.inputs[0]}_array.flags.c_contiguous"
    tensor = f"{row.inputs[-1]}.__class__ is Tensor"
    layout = {
        "rows": "elif out.ndim > 1 and not out.flags.c_contiguous: out = ascontiguousarray(out)",
        "first": f"elif out.ndim > 1 and {tensor} and not {ordered}: out = laid_out(out, {operands})",
    }
    start = f"""
if out.__class__ is not ndarray: out = asarray(out)  # NumPy gives scalars for 0-d
{layout.get(row.layout, "")}
result = new(Tensor)
result._array = out
dtype = result._dtype = {dtype}
{share}
"""
    if not row.rules:
        return f"{start}{not_recorded}\nreturn result"
    return f"""{start}\
if {_is_recorded(row)}{" and counter is not UNCOUNTED" * row.view}:
{_block(_node_source(row))}
{_block(_shape_source(row))}
    node._dtype = dtype
    result._node = node
    if creation_hooks: call_creation_hooks(node)
else:
{_block(not_recorded)}
return result
"""


def _view_source(source: str) -> str:
    """What `make_views` does, for one result: a call of it would be a twentieth of a view's time."""
    return f"""\
counter = {source}._version_counter
if counter is FRESH: counter = {source}._version_counter = [0]
result._version_counter = counter
if counter is UNCOUNTED: result._meta = None
else:
    meta = result._meta = AutogradMeta(); of_source = {source}._meta
    if of_source is None or of_source.base is None: meta.base = {source}
    else: meta.base, meta.creation_meta = of_source.base, of_source.creation_meta
    if threads_without_grad and not mode.recording: meta.creation_meta = "inference" if mode.inference else "no_grad"
    counter.append(ref(result))
    if len(counter) > MANY_VIEWS: drop_dead(counter)
"""


def _outputs_source(row) -> str:
    return f"""
if {_is_recorded(row)}:
{_block(_node_source(row))}
    if creation_hooks: call_creation_hooks(node)
    return wrap_outputs(node, out, {row.inputs[0]})
return wrap_outputs(None, out, {row.inputs[0]})
"""


def _is_recorded(row) -> str:
    needs_gradient = " or ".join(f"{n}_node is not None" for n in row.tracked)
    return f"({needs_gradient}) and (not threads_without_grad or mode.recording)"


def _node_source(row) -> str:
    next_nodes = " ".join(f"{n}_node," for n in row.tracked)
    lines = [
        "node = Node()",
        "node._kind = kind; node._order = next(op_order)",
        f"node._next_nodes = ({next_nodes})",
        "node._hooks = node._grad_fn = None",
        f"node._constants = {_constants(row)}",
    ]
    if "result" in row.saved_tensors:
        lines += ["counter = result._version_counter = [0]"]
    lines += [f"node._saved = {_tuple(_saved(row, field) for field in row.saved_tensors)}"]
    if row.saved_options:
        lines += [f"node._options = ({' '.join(_saved(row, field) for field in row.saved_options)})"]
    return "\n".join(lines)


def _constants(row) -> str:
    """What pictures show of the inputs that have no node."""
    if row.number:
        return f"(None, {row.number})"
    if len(row.tracked) == 1:
        return "None"
    each = (f"None if {n}_node is not None else ref({n}) if {n}.__class__ is Tensor else {n}," for n in row.tracked)
    return f"None if {' and '.join(f'{n}_node is not None' for n in row.tracked)} else {_tuple(each)}"


def _tuple(entries: Iterable[str]) -> str:
    """A tuple with a line for each entry, if there are several."""
    entries = list(entries)
    return "(" + "".join(f"\n    {entry}" for entry in entries) + "\n)" if len(entries) > 1 else f"({''.join(entries)})"


def _saved(row, field: str) -> str:
    """What a node keeps of a field: a tensor with its version, a result with its counter, else the value alone.

    A tensor that only one derivative uses is None where that derivative is not needed, as in PyTorch.
    """
    if field == "result":
        return "out, counter, 0,"
    if field.endswith("_shape"):
        return f"{field.removesuffix('_shape')}_array.shape,"
    if field in row.frees:
        return f"{field}, 0,"
    if field not in row.inputs:
        return f"{field},"
    users = [f"{n}_node is not None" for n, names in row.needs.items() if field in names]
    if len(users) > 1 or len(row.tracked) == 1:
        return f"{field}, {field}._version_counter[0] if {field}.__class__ is Tensor else 0,"
    (needed,) = users
    version = f"{field}._version_counter[0] if {needed} and {field}.__class__ is Tensor else 0"
    return f"{field} if {needed} else None, {version},"


def _shape_source(row) -> str:
    """Keep the result's shape, and whether a gradient of that shape fits the inputs as it is."""
    if len(row.inputs) != 2:
        return f"node._shape = out.shape; node._fits = {row.fits}"
    if not row.ufunc:
        return f"node._shape = out.shape; node._fits = same and {row.fits}"
    # A node knows its shape, and asking it is several times as fast as asking an array.
    fitting = " and ".join(f"({n}_node is None or {n}_node._shape == shape)" for n in row.tracked)
    return f"shape = node._shape = out.shape\nnode._fits = same and {fitting}"


# -- its vector-Jacobian product -----------------------------------------------------------------


def _vjp_source(row, name: str) -> str:
    """Check the versions, unpack what is saved, apply the derivative of each input that needs a gradient.

    `saved` is what hooks have unpacked, where there are such; else it is the node's own.
    """
    plain_backward = name == "vjp"
    lines = []
    if row.saved_tensors:
        unpacked = " ".join(
            "result, counter, result_version," if field == "result" else f"{field}, {field}_version,"
            for field in row.saved_tensors
        )
        lines += ["if saved is None: saved = node._saved", "if saved is None: saved = freed(node)"]
        lines += [f"{unpacked} = saved"]
    if row.saved_options:
        lines += [f"{' '.join(field + ',' for field in row.saved_options)} = node._options"]
    lines += [_check_source(field, plain_backward).strip() for field in row.saved_tensors]
    if row.several_outputs:
        lines += [f"grads = with_zeros(node, grads, {plain_backward})"]
    calls = ["grad" if returns_grad(row.rules[n]) else f"rule_{n}({', '.join(row.needs[n])})" for n in row.tracked]
    if len(calls) > 1:
        calls = [f"None if next_nodes[{i}] is None else {call}" for i, call in enumerate(calls)]
    lines += [f"return {_tuple(f'{call},' for call in calls)}"]
    grad, saved = "grads" if row.several_outputs else "grad", ", saved=None" if row.saved_tensors else ""
    return f"def {name}(node, {grad}, next_nodes{saved}):\n" + _block("\n".join(lines)) + "\n"


def returns_grad(rule) -> bool:
    """Whether a derivative only returns the gradient, as those of a sum do: it need not be called."""
    return rule.__code__.co_varnames == ("grad",) and rule.__code__.co_code == (lambda grad: grad).__code__.co_code


def _check_source(field: str, plain_backward: bool) -> str:
    # `!=` is true of a version after detach_(), `>` is not: an input that was detached has lost the history that its
    # gradient needs, while the history of a result is this node.
    if field == "result":
        rebuild = "" if plain_backward else "result = rebuild_result(node, result, counter)"
        return f"""
if counter[0] > result_version: raise stale_error(node, 'result', counter[0], result_version)
{rebuild}
"""
    return f"""
if {field}.__class__ is Tensor or {field}.__class__ is Dual:
    if {field}._version_counter[0] != {field}_version:
        raise stale_error(node, '{field}', {field}._version_counter[0], {field}_version)
{f"    {field} = {field}._array" if plain_backward else ""}
"""


# What the assembled code uses: as globals of its own, because those are found before Python's builtins.
_TOOLS = dict(
    AutogradMeta=AutogradMeta, Dual=Dual, FRESH=FRESH, MANY_VIEWS=MANY_VIEWS, NO_FILTER=NO_FILTER, Node=Node,
    OPERANDS=(*NUMBERS, Tensor, np.ndarray), OPTIONAL=(Tensor, type(None)), SILENT=SILENT, Tensor=Tensor,
    UNCOUNTED=UNCOUNTED, asarray=np.asarray, ascontiguousarray=np.ascontiguousarray,
    call_creation_hooks=call_creation_hooks, creation_hooks=creation_hooks, drop_dead=drop_dead,
    dual_levels=dual_levels, float32=np.dtype(np.float32), freed=freed, in_one_dtype=in_one_dtype, laid_out=laid_out,
    mark_as_inference=mark_as_inference, mode=mode, ndarray=np.ndarray, new=object.__new__, next=next, number=number,
    op_order=op_order, rebuild_result=rebuild_result, ref=weakref.ref, shapes_refused=shapes_refused,
    silence_numpy=silence_numpy, stale_error=stale_error, threads_in_inference=threads_in_inference,
    threads_without_grad=threads_without_grad, unrecorded=unrecorded, unwrap=unwrap, warnings=warnings,
    with_numpy_names=with_numpy_names, with_zeros=with_zeros, wrap_outputs=wrap_outputs,
)  # fmt: skip
