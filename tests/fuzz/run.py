"""Runs a program, a list of lines of Python that call PyTorch `torch`, and says all that can be seen after each.

The same lines run on PyTorch and on minigrad; what is seen has to be the same: values, dtypes, shapes, flags,
versions, views, gradients, the structure of the graph, and the type and first line of every error.
"""

import contextlib
import functools
import importlib
import itertools
import math
import re
import warnings

from .known import is_inference, known

# What programs may use beside `torch`: Functions of their own, and hooks that leave a trace.
PRELUDE = '''\
import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

log = []
inf, nan = float("inf"), float("nan")


def seen(grad):
    """A hook that only looks."""
    log.append((str(grad.dtype), grad.tolist(), grad.requires_grad))


def turned(grad):
    """A hook whose result is zeros."""
    return grad * 0


def several(grads):
    """A hook on several tensors."""
    log.append([None if g is None else g.tolist() for g in grads])


def packed(tensor):
    """What saves a tensor."""
    log.append(("packed", tuple(tensor.shape), str(tensor.dtype)))
    return tensor


def unpacked(tensor):
    log.append("unpacked")
    return tensor


def edges(x):
    """A gradient with what masks and quotients go wrong at."""
    values = [inf, 0.0, nan, 1.0, -inf, 2.0]
    return torch.tensor([values[i % 6] for i in range(x.numel())], dtype=x.dtype).reshape(x.shape)


def cubes(x):
    """What has a Hessian."""
    return (x * x * x).sum()


def look(at):
    """Write down what a call gives."""
    found = at()
    found = found.detach().tolist() if isinstance(found, torch.Tensor) else found
    log.append(found if isinstance(found, (int, float, str, list, dict, type(None))) else str(found))


def saved(node):
    """What a node shows of what it has saved."""
    names = [name for name in sorted(dir(node)) if name.startswith("_saved_") and "sym_sizes" not in name]
    found = {name: getattr(node, name) for name in names}
    return {name: v.tolist() if isinstance(v, torch.Tensor) else str(v) for name, v in found.items()}


def threaded(call):
    """What another thread computes."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def doubled(grad):
    """A hook that replaces the gradient."""
    log.append("doubled")
    return grad * 2


def edgy(grad):
    """A hook that brings infinities."""
    return grad / 0


def kept(grad):
    """A hook that changes what it is shown."""
    grad.mul_(2)


def backward_again(grad):
    """A hook that goes back on its own."""
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    log.append(x.grad.tolist())


def full(leaf):
    """A hook that runs after accumulation."""
    log.append(("full", leaf.grad.tolist()))


def emptied(leaf):
    """A hook that uses the gradient up."""
    leaf.grad = None


def failing(grad):
    """A hook that fails."""
    raise ValueError("a hook failed")


def node_seen(*grads):
    """A hook of a node: gradients go in, or in and out."""
    log.append([[None if g is None else g.tolist() for g in each] for each in grads])


def node_doubled(*grads):
    """A hook of a node whose result takes the gradients' place."""
    return tuple(None if g is None else g * 2 for g in grads[0])


def failing_node(*grads):
    raise ValueError("a hook of a node failed")


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


class SumAndDifference(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y, x - y

    @staticmethod
    def backward(ctx, plus, minus):
        log.append(("needs", ctx.needs_input_grad))
        return plus + minus, plus - minus


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Part(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.whole = x.shape
        return x[:1]

    @staticmethod
    def backward(ctx, grad):
        return grad.expand(ctx.whole)


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


class Steps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        steps = x.floor()
        ctx.mark_non_differentiable(steps)
        ctx.set_materialize_grads(False)
        return steps, x * 2

    @staticmethod
    def backward(ctx, nothing, grad):
        log.append(nothing is None)
        return None if grad is None else grad * 2


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


class Product(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y, grad * x


class Cut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return None


class Masked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, grad, nothing):
        (mask,) = ctx.saved_tensors
        log.append((str(mask.dtype), mask.requires_grad))
        return grad * mask


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("a backward failed")


class Returned(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


class Misfit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad):
        return grad, grad.new_ones(7)


class Kept(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


class Viewed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x[...], x

    @staticmethod
    def backward(ctx, *grads):
        return (grads[0] + grads[1]) * 2


class Mixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, other):
        ctx.set_materialize_grads(False)
        ctx.other = other
        return x.sin(), other, x.cos()

    @staticmethod
    def backward(ctx, *grads):
        log.append([None if g is None else g.tolist() for g in grads])
        return grads[0], None


class Slope(torch.autograd.Function):
    """Has a rule for forward mode."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 2 * ctx.saved_tensors[0]


class Middle(torch.autograd.Function):
    """Fails in its forward, after a change."""

    @staticmethod
    def forward(ctx, x):
        log.append(torch.is_grad_enabled())
        raise ValueError("a forward failed")


class Inner(torch.autograd.Function):
    """Goes back inside its forward."""

    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            ctx.slope = torch.autograd.grad((y * y).sum(), y)[0]
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.slope


class Handed(torch.autograd.Function):
    """Hands its gradients on as they are."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_non_differentiable(y)
        return x, y

    @staticmethod
    def backward(ctx, grad, other):
        return grad, other


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad, grad
'''
PRELUDE_CODE = compile(PRELUDE, "<prelude>", "exec")

# Values that two libraries round differently: the last digits may differ. Beyond LARGE, all digits may, soon.
TOLERANCE = {"torch.float64": 1e-7, "torch.float32": 2e-4, "torch.float16": 2e-2}
LARGE = 1e4


def said(error: Exception) -> str:
    """An error's type and first line."""
    sentence = re.sub(r"\(position \d\)", "(position)", str(error).partition(chr(10))[0])
    return f"{type(error).__name__}: {sentence}"


@functools.cache
def prelude_of(module) -> dict:
    """What programs may use, made of one of the two libraries: once, for making classes takes longer than programs."""
    names = {"torch": module, "forward_ad": importlib.import_module(f"{module.__name__}.autograd.forward_ad")}
    exec(PRELUDE_CODE, names)
    return names


@functools.lru_cache(4096)
def compiled(line: str):
    """The code of a line, which runs on both sides and is written on one of them."""
    return compile(line, "<program>", "exec")


heard: list = []  # the warnings since a line began, while somebody listens


@contextlib.contextmanager
def listening(*modules):
    """Warnings in the block go to `heard`, each time they are given."""
    global heard
    for module in modules:
        module.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            # PyTorch's own, once in a process: the first reciprocal in forward mode scripts its decompositions.
            warnings.filterwarnings("ignore", r"`torch\.jit\.script` is deprecated", DeprecationWarning)
            yield
    finally:
        for module in modules:
            module.set_warn_always(False)


class Side:
    """A program running on one of the two libraries; one program at a time, for `log` is shared."""

    def __init__(self, module):
        module.set_grad_enabled(True)
        self.modes = module.is_grad_enabled, module.is_inference_mode_enabled, module.is_anomaly_enabled
        self.names = dict(prelude_of(module))
        self.names["log"].clear()
        self.shared = len(self.names)
        self.tensor = module.Tensor
        # The gradients that autograd made, each with the version that it had when it was first seen.
        self.made = {}
        self.tangents = {}  # those of them that forward mode made
        # The last nodes of their recorded derivatives: a derivative has the name that PyTorch's has, not all its steps.
        self.ends = {}

    def step(self, line: str) -> str | None:
        """Run a line; the error's type and first line, if there is one."""
        before = self.tensors()
        heard.clear()
        try:
            exec(compiled(line), self.names)
        except Exception as error:
            return said(error)
        finally:
            said_here = [(each.category.__name__, str(each.message)[:40]) for each in heard]
            self.names["log"] += [each for each in said_here if not each[1].startswith("backward hook <")]  # an address
            self.note_results(line, before)
        return None

    def note_results(self, line: str, before: dict) -> None:
        """Remember what a line has given a name to, where autograd made it."""
        made = re.search(r"autograd\.(grad|functional\.\w+)\(|forward_ad\.unpack_dual\(", line)
        name = re.search(r"(\w+) = (?!forward_ad\.make_dual)", line)
        result = self.names.get(name[1]) if name else None
        if not isinstance(result, self.tensor) or any(result is tensor for tensor in before.values()):
            return
        if not made:
            self.note_made_of(line, result, before)
            return
        self.note(result)
        if "forward_ad" in line:
            self.tangents[id(result)] = result

    def note(self, grad) -> None:
        """Remember a gradient that autograd made: its version counts from here, for how it was made is not said."""
        if grad is not None:
            if id(grad) not in self.made and grad.grad_fn is not None:
                self.ends[id(grad.grad_fn)] = grad.grad_fn
            self.made.setdefault(id(grad), (grad, None if is_inference(grad) else grad._version))

    def note_made_of(self, line: str, result, before: dict) -> None:
        """A result's version counts from here, too, where one of its operands' did; or is not counted at all.

        What PyTorch makes of an inference tensor has, here and there, a version above 0.
        """
        operands = [before[other] for other in re.findall(r"\b[a-h]\b", line.partition(" = ")[2]) if other in before]
        if any(id(operand) in self.made or is_inference(operand) for operand in operands):
            self.made[id(result)] = (result, None if is_inference(result) else result._version)

    def tensors(self) -> dict:
        """The program's tensors, by name."""
        own = itertools.islice(self.names.items(), self.shared, None)
        return {name: value for name, value in own if isinstance(value, self.tensor)}

    def seen(self) -> dict:
        """All that can be seen of the program's state."""
        tensors, looked = self.tensors(), Nodes(self)
        names = {}
        for name, tensor in tensors.items():
            names.setdefault(id(tensor), name)
        looked.names = names
        state = {name: looked.at(tensor) for name, tensor in tensors.items()}
        state["graph"] = looked.graph
        state["log"] = list(self.names["log"])
        modes = [mode() for mode in self.modes]
        return state | ({"modes": modes} if modes != [True, False, False] else {})


class Nodes:
    """Numbers the nodes of the graph in the order of a walk from the tensors looked at."""

    def __init__(self, side):
        self.side, self.numbers, self.alive, self.graph, self.names = side, {}, [], [], {}

    def at(self, tensor) -> dict:
        """What can be seen of a tensor; the error where looking is refused."""
        try:
            return self.tensor(tensor)
        except RuntimeError as error:
            return {"refused": said(error)}

    def tensor(self, tensor) -> dict:
        """What can be seen of a tensor. Nothing here changes it."""
        inference = is_inference(tensor)
        leaf, retains, base = tensor.is_leaf, tensor.retains_grad, tensor._base
        grad = tensor.grad if leaf or retains else None
        if grad is not None and id(grad) not in self.names:
            self.side.note(grad)
        made = self.side.made.get(id(tensor))
        node = tensor.grad_fn
        return {
            "is": self.names.get(id(tensor)),
            "dtype": str(tensor.dtype),
            "shape": tuple(tensor.shape),
            "stride": None if made else steps_of(tensor),
            "value": tensor.tolist(),
            "requires_grad": tensor.requires_grad,
            "is_leaf": leaf,
            "retains_grad": retains,
            "_version": "untracked" if inference else tensor._version - (made[1] or 0 if made else 0),
            "_is_view": made is None and tensor._is_view(),
            "_base": None if made or base is None else self.names.get(id(base), "unnamed"),
            "is_inference": inference,
            "output_nr": tensor.output_nr,
            "grad_fn": None if node is None else self.number(node),
            "grad": None if grad is None else self.names.get(id(grad)) or self.tensor(grad),
        }

    def number(self, node) -> str:
        """The node's name and number, after a walk through what is behind it."""
        if id(node) not in self.numbers:
            self.walk(node)
        return self.numbers[id(node)]

    def walk(self, root) -> None:
        """Give every node behind the root a number, and write down its edges."""
        found, waiting = [], [root]
        while waiting:
            node = waiting.pop()
            if id(node) in self.numbers:
                continue
            self.numbers[id(node)] = f"{self.label(node)} {len(self.alive)}"
            self.alive.append(node)  # or its id would be another's
            found.append((node, () if id(node) in self.side.ends else node.next_functions))
            waiting += [after for after, _ in reversed(found[-1][1]) if after is not None]
        for node, edges in found:
            self.alive.append(edges)
            behind = [None if after is None else (self.numbers[id(after)], nr) for after, nr in edges]
            self.graph.append((self.numbers[id(node)], behind))

    def label(self, node) -> str:
        """The node's name; of an end of the graph also the leaf's. What derivatives are made of is not said."""
        if id(node) in self.side.ends:
            return "derivative"
        if not hasattr(node, "variable"):
            return node.name()
        return f"{node.name()} of {self.names.get(id(node.variable), 'unnamed')}"


def steps_of(tensor):
    """The strides of the dimensions that have any."""
    return [n > 1 and step for n, step in zip(tensor.shape, tensor.stride(), strict=True)] if tensor.numel() else None


def same(a, b, tolerance: float) -> bool:
    """Whether two nested structures are equal, numbers up to rounding."""
    if a == b and type(a) is type(b):
        return True
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (a != a and b != b)
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        return all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return all(same(a[k], b[k], tolerance) for k in a)
    return False


def differences(a: dict, b: dict) -> list[str]:
    """Where two states differ, one line each."""
    if a == b:
        return []
    tolerance = max(TOLERANCE.get(s.get("dtype"), 1e-8) for s in [{}, *a.values()] if isinstance(s, dict))
    return list(_differences("", a, b, tolerance))


def _differences(path: str, a, b, tolerance: float):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a | b:
            yield from _differences(f"{path} {key}", a.get(key), b.get(key), tolerance)
    elif not same(a, b, tolerance):
        yield f"{path.strip()}: {a} | {b}"


def large(value) -> bool:
    """Whether there is a number so large that rounding decides what comes next."""
    if isinstance(value, dict):
        return large(value.get("value")) or large(value.get("grad"))
    if isinstance(value, (list, tuple)):
        return any(large(each) for each in value)
    return isinstance(value, float) and LARGE < abs(value) < math.inf


def unsaid(seen: dict) -> bool:
    """Whether what comes of a tensor says nothing: rounding decides it, or PyTorch has left it half made."""
    return large(seen) or re.search("do not track version counter|unallocated storage", seen.get("refused", ""))


def stale(error: str | None) -> str:
    """An error about a saved value without the operation that it comes from: derivatives save what they like."""
    error = re.sub(r", which is output \d+ of [\w:]+,", "", error or "")
    return re.sub(r"version \d+", "version", error)


def compare(lines: list[str], torch, minigrad, seen: list | None = None) -> str | None:
    """Run the program on both; the first difference as a runnable snippet with both answers, or None.

    `seen` is what the lines' `Writer` has seen on PyTorch's side, if that ran nothing else.
    """
    ours, graphed = Side(minigrad), False
    with listening(torch, minigrad):
        for at, (line, (theirs, expected)) in enumerate(zip(lines, seen or steps(torch, lines), strict=True)):
            error, state = ours.step(line), ours.seen()
            graphed = graphed or "grad(" in line or ".grad" in line or "create_graph" in line
            if known(line, theirs):
                return None  # a line that was left out of the program has made it one
            if error and theirs and re.search("Inference tensors cannot be saved|another view of its base has", theirs):
                return None  # the line may be wrong in another way too: which is said first is not said
            if theirs != error and not (graphed and stale(theirs) == stale(error)):
                return snippet(lines[: at + 1], [f"error: {theirs} | {error}"])
            found = differences(expected, state)
            if any(isinstance(each, dict) and unsaid(each) for each in expected.values()):
                return None
            if theirs and "backward(" in line and all(" grad" in each or each.startswith("graph") for each in found):
                return None  # half way: which leaves have their gradient by then is not said
            if found:
                return snippet(lines[: at + 1], found)
    return None


def steps(module, lines: list[str]):
    """After each line, its error and what can be seen."""
    side = Side(module)
    for line in lines:
        yield side.step(line), side.seen()


def trace(module, lines: list[str]) -> list[dict]:
    """After each line: the error, and what of the state that line has changed."""
    before, found = {}, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for error, after in steps(module, lines):
            changed = {key: value for key, value in after.items() if repr(before.get(key)) != repr(value)}
            found.append({"error": error, **changed})
            before = after
    return found


def plain(seen, recorded):
    """What was seen as JSON has it, and numbers as recorded where rounding alone tells them apart."""
    if isinstance(seen, dict):
        others = recorded if isinstance(recorded, dict) else {}
        return {key: plain(value, others.get(key)) for key, value in seen.items()}
    if isinstance(seen, (list, tuple)):
        others = recorded if isinstance(recorded, list) and len(recorded) == len(seen) else [None] * len(seen)
        return [plain(*pair) for pair in zip(seen, others, strict=True)]
    if isinstance(seen, float):
        if not math.isfinite(seen):
            return str(seen)
        return recorded if isinstance(recorded, float) and same(seen, recorded, 2e-4) else seen
    return seen


def snippet(lines: list[str], found: list[str]) -> str:
    """A program to paste below `from tests.fuzz.run import *`, and what the two libraries say after its last line."""
    return "\n".join([*lines, "# torch | minigrad", *(f"#   {each}" for each in found)])


def shrink(lines: list[str], fails) -> list[str]:
    """Drop lines as long as the program still fails."""
    at = len(lines) - 1
    while at >= 0:
        fewer = lines[:at] + lines[at + 1 :]
        if fails(fewer):
            lines = fewer
            at = min(at, len(lines))
        at -= 1
    return lines
