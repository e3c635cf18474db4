"""A small question on each belief, to be answered from the head: what an exercise missed comes back as one.

A row is a program and an expression; the answer is what the expression gives after the program has run, so
it is never written down here. A program that raises has the answer "error".
"""

from __future__ import annotations

import re
import textwrap
import warnings
from dataclasses import dataclass
from typing import Any

import minigrad as mg

ERROR = "error"


@dataclass(frozen=True)
class WarmUp:
    """One question: the program that is shown, and the expression that is asked for."""

    belief: str
    program: str
    asked: str

    def answer(self, framework: Any = mg) -> Any:
        """What minigrad (or PyTorch) says: a Python value, or "error" where the program or the expression raises."""
        names: dict[str, Any] = {"mg": framework}
        with warnings.catch_warnings(), framework.enable_grad():
            warnings.simplefilter("ignore")
            try:
                exec(compile(self.program, "<warm-up>", "exec"), names)
                found = eval(compile(self.asked, "<warm-up>", "eval"), names)
            except (RuntimeError, TypeError, ValueError):
                return ERROR
        return found.item() if isinstance(found, framework.Tensor) else found


def _rows(table: str) -> dict[str, WarmUp]:
    """The questions by belief. An entry is a line `# belief: expression` and the program below it."""
    _, *pieces = re.split(r"(?m)^# (M\w+): (.*)\n", textwrap.dedent(table))
    entries = zip(pieces[0::3], pieces[1::3], pieces[2::3], strict=True)
    return {belief: WarmUp(belief, program.strip(), asked) for belief, asked, program in entries}


WARM_UPS = _rows(
    """
    # M01: w.grad
    w = mg.tensor(2.0, requires_grad=True) * 3
    (w * w).backward()

    # M02: b.is_leaf
    a = mg.tensor(2.0)
    b = a * 3

    # M03: h.grad
    x = mg.tensor(3.0, requires_grad=True)
    h = x * 2
    (h * h).backward()

    # M04: x.retains_grad
    x = mg.tensor(3.0, requires_grad=True)
    x.retain_grad()

    # M05: h.requires_grad
    x = mg.tensor(3.0, requires_grad=True)
    h = x * 2
    h.requires_grad = False

    # M06: w.is_leaf
    w = mg.tensor(2.0, requires_grad=True)
    (w * w).backward()
    w = w - 0.1 * w.grad

    # M07: w[0]
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    w[0] = 5.0

    # M08: x.grad
    x = mg.tensor(3.0, requires_grad=True)
    (2 * x).backward()
    (2 * x).backward()

    # M09: x.grad
    x = mg.tensor(3.0, requires_grad=True)
    y = x * x
    x.grad = None
    y.backward()

    # M10: x.grad
    x = mg.tensor(3.0, requires_grad=True)
    h = x * x
    y = 2 * h
    y.backward(retain_graph=True)
    y.backward()

    # M11: a.grad
    a = mg.tensor(1.0, requires_grad=True)
    b = a + a
    c = b + b
    c.backward()

    # M12: x.grad
    x = mg.tensor(3.0, requires_grad=True)
    y = x + 4
    y.backward()
    y.backward()

    # M13: x.grad
    x = mg.tensor(3.0, requires_grad=True)
    trunk = x * x
    a = 2 * trunk
    b = 3 * trunk
    (a + b).backward()

    # M14: h
    x = mg.tensor(2.0, requires_grad=True)
    y = x ** 3
    g, = mg.autograd.grad(y, x, retain_graph=True)
    h, = mg.autograd.grad(g, x)

    # M15: h
    x = mg.tensor(2.0, requires_grad=True)
    y = x ** 3
    g, = mg.autograd.grad(y, x, create_graph=True, retain_graph=False)
    h, = mg.autograd.grad(g, x)

    # M16: x.grad
    x = mg.tensor(2.0, requires_grad=True)
    y = x ** 3
    y.backward(create_graph=True)
    x.grad.backward()

    # M17: a[0]
    a = mg.tensor([1.0, 2.0], requires_grad=True)
    b = a.detach()
    b[0] = 7.0

    # M18: x.grad
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x
    x.data *= 10
    y.backward()

    # M19: x.grad
    x = mg.tensor(3.0, requires_grad=True)
    y = x.detach() * x
    y.backward()

    # M20: w.requires_grad
    with mg.no_grad():
        w = mg.tensor(2.0, requires_grad=True)

    # M21: w1.grad
    w1 = mg.tensor(2.0, requires_grad=True)
    w2 = mg.tensor(3.0, requires_grad=False)
    y = w2 * (w1 * 5)
    y.backward()

    # M22: x.grad
    x = mg.tensor(2.0, requires_grad=True)
    h = x * 1
    y = 10 * h
    h.add_(1)
    y.backward()

    # M23: h
    x = mg.tensor(2.0, requires_grad=True)
    h = x * 1
    y = h * h
    h.add_(1)

    # M24: x.grad[1]
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = 2 * x
    y.backward(gradient=mg.tensor([1.0, 10.0]))

    # M25: found[0]
    x = mg.tensor(3.0, requires_grad=True)
    u = mg.tensor(4.0, requires_grad=True)
    found = mg.autograd.grad(2 * x, u, allow_unused=True)

    # M26: mg.isnan(x.grad).item()
    x = mg.tensor(0.0, requires_grad=True)
    y = mg.where(x > 0, mg.sqrt(x), 3 * x)
    y.backward()

    # M27: x.grad
    x = mg.tensor(3.0, requires_grad=True)
    y = (x * x).item() * x
    y.backward()

    # M27b: n.requires_grad
    n = mg.tensor(3, requires_grad=True)

    # M28: total.requires_grad
    x = mg.tensor(3.0, requires_grad=True)
    total = 0.0
    for step in range(4):
        total += x * x

    # M29: g.requires_grad
    class Cube(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.square = x * x
            return x * ctx.square

        @staticmethod
        def backward(ctx, grad_output):
            return 3 * ctx.square * grad_output

    x = mg.tensor(2.0, requires_grad=True)
    g, = mg.autograd.grad(Cube.apply(x), x, create_graph=True)

    # M30: g.requires_grad
    class Square(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with mg.enable_grad():
                slope, = mg.autograd.grad(x * x, x)
            return slope * grad_output

    x = mg.tensor(2.0, requires_grad=True)
    g, = mg.autograd.grad(Square.apply(x), x, create_graph=True)

    # M31: passed
    x = mg.tensor([0.5, 1.5], requires_grad=True)   # float32
    passed = mg.autograd.gradcheck(mg.sin, x, raise_exception=False)

    # M32: x.grad
    class Times(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.n = n
            return x * n

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * ctx.n

    x = mg.tensor(3.0, requires_grad=True)
    Times.apply(x, 2).backward()

    # M33: seen[0]
    seen = []

    class Double(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((x * 1).requires_grad)
            return 2 * x

    x = mg.tensor(3.0, requires_grad=True)
    y = Double.apply(x)

    # M34: x.grad
    x = mg.tensor(1.0, requires_grad=True)
    h = x * 1
    h.register_hook(lambda g: 10 * g)
    (3 * h + 4 * h).backward()

    # M35: x.grad
    x = mg.tensor(3.0, requires_grad=True)
    y = x * x

    # M36: x.grad
    x = mg.tensor(0.0, requires_grad=True)
    mg.exp(x).backward()

    # M37: b.grad[0]
    b = mg.tensor([0.0], requires_grad=True)
    (mg.ones(4, 3) + b).sum().backward()

    # M38: x.grad
    x = mg.tensor(0.0, requires_grad=True)
    mg.relu(x).backward()

    # M39: y.grad_fn._saved_result.numel()
    x = mg.ones(10, requires_grad=True)
    y = (x * 1).relu_()

    # M40: y.grad_fn._saved_self.untyped_storage().nbytes()
    x = mg.ones(100, requires_grad=True)     # 400 bytes
    y = mg.sin(x)[:1] ** 2

    # M41: bool((first == second).any())
    mg.manual_seed(0)
    first = mg.rand(3)
    second = mg.rand(3)

    # M42: y.requires_grad
    class Unrecorded(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * w

    w = mg.tensor(2.0, requires_grad=True)
    y = Unrecorded.apply(mg.tensor(3.0))

    # M43: alive
    import gc, weakref

    def make():
        x = mg.tensor(2.0, requires_grad=True)
        y = x * x
        y.register_hook(lambda grad: grad * y)
        return weakref.ref(y)

    gc.disable()
    alive = make()() is not None
    gc.enable()

    # M44: len(memories)
    x = mg.ones(100, requires_grad=True)
    memories = set()

    def pack(t):
        memories.add(t.untyped_storage().data_ptr())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = mg.exp(x) ** 2

    # M45: len(runs)
    runs = []
    x = mg.ones(3, requires_grad=True)
    y = mg.utils.checkpoint.checkpoint(
        lambda t: runs.append(1) or mg.tanh(t), x, use_reentrant=False)
    y.sum().backward()

    # M46: most < n
    n, k = 100, 1                            # layers, checkpoints
    most = k + n // k                        # results alive at once
    # M51: moved
    fw = mg.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(mg.tensor(3.0), mg.tensor(1.0))
        with mg.no_grad():
            y = x * x
        moved = fw.unpack_dual(y).tangent

    # M52: fw.unpack_dual(y).tangent
    fw = mg.autograd.forward_ad

    class Double(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with fw.dual_level():
        y = Double.apply(fw.make_dual(mg.tensor(3.0), mg.tensor(1.0)))

    # M53: len(one_push)
    fw = mg.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(mg.tensor(3.0), mg.tensor(1.0))
        y = x * mg.arange(300.0)
        one_push = fw.unpack_dual(y).tangent

    # M54: moved
    fw = mg.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(mg.tensor(3.0), mg.tensor(1.0))
        moved = fw.unpack_dual(x * x.detach()).tangent

    # M55: fw.unpack_dual(y).tangent
    fw = mg.autograd.forward_ad
    with fw.dual_level():
        x = fw.make_dual(mg.tensor(3.0), mg.tensor(1.0))
        y = x * x

    # M56: t
    fw = mg.autograd.forward_ad
    t = mg.tensor(1.0)
    with fw.dual_level():
        fw.make_dual(mg.tensor(3.0), t).mul_(5)

    # M57: moved
    fw = mg.autograd.forward_ad
    p = mg.tensor(2.0, requires_grad=True)
    with fw.dual_level():
        y = fw.make_dual(p, mg.tensor(1.0)) ** 3
        (slope,) = mg.autograd.grad(y, p)
        moved = fw.unpack_dual(slope).tangent

    # M58: moved
    fw = mg.autograd.forward_ad

    class Triple(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def jvp(ctx, tangent):
            return mg.tensor(3.0)

    with fw.dual_level():
        x = fw.make_dual(mg.tensor(2.0), mg.tensor(10.0))
        moved = fw.unpack_dual(Triple.apply(x)).tangent
    """
)
