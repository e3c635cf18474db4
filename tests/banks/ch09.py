"""Chapter 09: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "09_double_backward"

_second = changed("second", A="error", B="error", C=18.0, D=18.0, E="error", F="error")
_held = changed("held", A=27.0, B=45.0, C=None, D=18.0, E=45.0, F=18.0)
_curvature = changed(
    "curvature", {"A": 12, "B": "error", "C": 6, "D": "error", "E": 12, "F": "error", "pass gradcheck": 6}
)


def _swish(forward: str, backward: str) -> str:
    return _function("Swish", "ctx, x", forward, "ctx, g", backward)


def _hypotenuse(backward: str, forward: str = "", start: str = "ctx, g") -> str:
    forward = forward or "r = mg.sqrt(a * a + b * b)\nctx.save_for_backward(a, b, r)\nreturn r"
    return _function("Hypotenuse", "ctx, a, b", forward, start, f"a, b, r = ctx.saved_tensors\n{backward}")


def _cube_slope(backward: str, saved: str = "g, x") -> str:
    forward = f"ctx.save_for_backward({saved})\nreturn mg.tensor(g.detach().numpy() * 3 * x.detach().numpy() ** 2)"
    return _function("CubeSlope", "ctx, g, x", forward, "ctx, gg", f"{saved}, = ctx.saved_tensors\n{backward}")


def _again(backward: str, forward: str = "ctx.f = f\nctx.save_for_backward(x)\nreturn f(x)") -> str:
    return _function("Again", "ctx, x, f", forward, "ctx, g", backward)


def _function(name: str, given: str, forward: str, start: str, backward: str) -> str:
    """The source of a Function with these two bodies."""
    lines = [f"class {name}(mg.autograd.Function):"]
    for method, arguments, body in (("forward", given, forward), ("backward", start, backward)):
        lines += ["    @staticmethod", f"    def {method}({arguments}):"]
        lines += [f"        {line}" for line in body.splitlines()]
    return "\n".join(lines) + "\n"


WRONG = {
    "twice": {
        "retain-is-enough": _second(B=18),
        "always-recorded/and-retained": _second(A=18, B=18),
        "always-recorded": _second(A=18),
        "freed-breaks": _second(D="error"),
        "first-not-second": _second(C=27, D=27),
        "third": _second(C=6),
        "result-freed": _second(E=20.0855),
        "zero-without-history": _second(F=0),
        "first-not-second/D": _second(D=27),
        "first-not-second/F": _second(F=5),
        "none-without-history": "second = dict(A='error', B='error', C=18, D=18, E='error', F=None)",
        "wrong-F": _second(F=25),
        "wrong-D": _second(D=6),
        "wrong-C": _second(C="error"),
        "kind": _second(C="eighteen"),
        "kind/list": _second(C=[18]),
    },
    "both": {
        "second-alone": _held(B=18),
        "second-alone/tensor": "held = {'A': 27, 'B': mg.tensor(18.0), 'C': None, 'D': 18, 'E': 45, 'F': 18}",
        "unchanged": _held(B=27),
        "grad-stores": _held(C=27, D=45),
        "first-in-d": _held(D=27),
        "sum-in-d": _held(D=45),
        "overwritten": _held(E=27),
        "not-cleared": _held(F=45),
        "cleared-for-good": _held(F=None),
        "zero-for-none": _held(C=0),
        "wrong-A": _held(A=9),
        "wrong-E": _held(E=72),
        "kind": _held(C="nothing"),
    },
    "derivatives": functions(
        "derivatives(f, x, n)",
        """
type/one-at-least
    out = list(mg.autograd.grad(f(x), x, create_graph=True))
    while len(out) < n:
        y = out[-1]
        out.append(mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x))
    return out
other-shape/zeros-as-f
    y = f(x)
    zero, out = mg.zeros_like(y), []
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else zero
        out.append(y)
    return out
other-derivatives/one-comes-twice
    found, y = [], f(x)
    for _ in range(n):
        d = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
        y = mg.zeros_like(x) if found and d.item() == found[-1].item() else d
        found.append(y)
    return found
other-derivatives/of-more-than-three
    out, y = [], f(x)
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
        out.append(y)
    return out[:3] + out[3:][::-1]
other-shape/of-zeros
    out, y = [], f(x)
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.tensor(0.0, dtype=x.dtype)
        out.append(y)
    return out
no-history
    found, y = [], f(x)
    for _ in range(n):
        (y,) = mg.autograd.grad(y, x)
        found.append(y)
    return found
retained
    found, y = [], f(x)
    for _ in range(n):
        (y,) = mg.autograd.grad(y, x, retain_graph=True)
        found.append(y)
    return found
ends-in-error
    found, y = [], f(x)
    for _ in range(n):
        (y,) = mg.autograd.grad(y, x, create_graph=True)
        found.append(y)
    return found
other-derivatives
    found, y = [], f(x)
    for _ in range(n):
        if y.requires_grad:
            (y,) = mg.autograd.grad(y, x, retain_graph=True)
        else:
            y = mg.zeros_like(x)
        found.append(y)
    return found
other-derivatives/factorials
    found, y = [], f(x)
    for i in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] / (i + 1) if y.requires_grad else mg.zeros_like(x)
        found.append(y)
    return found
other-shape
    found, y = [], f(x)
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
        found.append(y.reshape(1))
    return found
tuple-of-grad/not-of-grad
    found, y = (), f(x)
    while found < n:
        (y,) = mg.autograd.grad(y, x, create_graph=True)
        found += (y,)
    return found
value-first
    y = f(x)
    found = [y]
    for _ in range(n - 1):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
        found.append(y)
    return found
first-again
    return [mg.autograd.grad(f(x), x, create_graph=True)[0] for _ in range(n)]
grad-changed
    found, y = [], f(x)
    for _ in range(n):
        if y.requires_grad:
            x.grad = None
            y.backward(create_graph=True)
            y = x.grad
        else:
            y = mg.zeros_like(x)
        found.append(y)
    return found
added-up
    found, y = [], f(x)
    for _ in range(n):
        y.backward(create_graph=True)
        y = x.grad
        found.append(y)
    x.grad = None
    return found
added-up/sum
    found, y, total = [], f(x), 0
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
        total = total + y
        found.append(total)
    return found
backwards
    found, y = [], f(x)
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
        found.insert(0, y)
    return found
type
    y = f(x)
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
    return y
type/numbers
    found, y = [], f(x)
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
        found.append(y.item())
    return found
ends-in-error/allowed
    found, y = [], f(x)
    for _ in range(n):
        (y,) = mg.autograd.grad(y, x, create_graph=True, allow_unused=True)
        y = mg.zeros_like(x) if y is None else y
        found.append(y)
    return found
type/tuple-each
    return [mg.autograd.grad(f(x), x) for _ in range(n)]
type/too-many
    found = [f(x)]
    for _ in range(n):
        y = found[-1]
        found.append(mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x))
    return found
not-used
    found, copy = [], x.detach().requires_grad_()
    y = f(copy)
    for _ in range(n):
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
        found.append(y)
    return found
constant-again
    out, y = [], f(x)
    for _ in range(n):
        if y.requires_grad:
            (y,) = mg.autograd.grad(y, x, create_graph=True)
        out.append(y)
    return out
first-again/one-walk
    (d,) = mg.autograd.grad(f(x), x, create_graph=True)
    return [d] * n
no-history/retained-and-cut
    out, y = [], f(x).detach()
    for _ in range(n):
        (y,) = mg.autograd.grad(y, x, retain_graph=True)
        out.append(y)
    return out
no-history/freed
    out, y = [], f(x)
    for _ in range(n):
        (y,) = mg.autograd.grad(y, x, retain_graph=False)
        out.append(y)
    return out
retained/not-recorded-by-name
    out, y = [], f(x)
    for _ in range(n):
        (y,) = mg.autograd.grad(y, x, retain_graph=True, **{"create_graph": False})
        out.append(y)
    return out
raised/a-list-repeated
    out = [0] * f(x)
    return out
not-used/flag-of-a-gradient
    out, y = [], f(x)
    for _ in range(n):
        (y,) = mg.autograd.grad(y, x)
        y.requires_grad_()
        out.append(y)
    return out
no-history/of-a-number
    out, y = [], f(x)
    for _ in range(n):
        y = mg.autograd.grad(mg.tensor(y.item()), x, create_graph=True)[0]
        out.append(y)
    return out
added-up/of-an-own-sum
    f(x).backward(create_graph=True)
    y, x.grad = x.grad, None
    out, total = [], 0
    for _ in range(n):
        total = total + y
        out.append(total)
        y = mg.autograd.grad(y, x, create_graph=True)[0] if y.requires_grad else mg.zeros_like(x)
    return out
""",
    ),
    "slope": functions(
        "slope(a, b)",
        """
freed
    return mg.autograd.grad(mg.exp(a * b), a, create_graph=True, retain_graph=False)[0]
by-hand/the-same-boxes
    return 1 * mg.exp(a * b) * b
other-slope/of-twice-exp
    return mg.autograd.grad(2 * mg.exp(a * b), a, create_graph=True)[0]
other-slope
    two = mg.tensor(2.0, dtype=a.dtype)
    return mg.autograd.grad(mg.exp(a * b), a, grad_outputs=two, create_graph=True)[0]
flag-changed
    y = mg.exp(a * b)
    (found,) = mg.autograd.grad(y, a, create_graph=True)
    a.requires_grad_(False)
    return found
y-returned/named
    y = mg.exp(a * b)
    y.backward(create_graph=True)
    return y
not-recorded/detached
    return mg.autograd.grad(mg.exp(a * b), a, create_graph=True)[0].detach()
copied
    y = mg.exp(a * b)
    y.backward(create_graph=True)
    return a.grad
other-leaves
    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
    return mg.autograd.grad(mg.exp(a * b), a, create_graph=True)[0]
none
    mg.exp(a * b).backward(create_graph=True)
not-recorded/retained-and-cut
    return mg.autograd.grad(mg.exp(a * b), a, create_graph=True, retain_graph=True)[0].detach()
not-recorded/an-input
    return a
not-recorded/freed
    return mg.autograd.grad(mg.exp(a * b), a, retain_graph=False)[0]
by-hand/for-b
    return 1 * mg.exp(a * b) * a
freed/in-place
    y = mg.exp(a * b)
    (s,) = mg.autograd.grad(y, a, create_graph=True)
    y.mul_(1)
    return s
""",
    )
    | {
        "old-grad": """
def slope(one, other):
    one.grad = None
    y = (one * other).exp()
    slopes = mg.autograd.grad([y], [other, one], create_graph=True)
    return slopes[1]
""",
        "y-returned": "def slope(a, b):\n    return mg.exp(a * b)\n",
        "not-recorded": "def slope(a, b):\n    return mg.autograd.grad(mg.exp(a * b), a)[0]\n",
        "not-recorded/made-a-leaf": """
def slope(a, b):
    return mg.autograd.grad(mg.exp(a * b), a, create_graph=True)[0].detach().requires_grad_()
""",
        "one-leaf/b": "def slope(a, b):\n    return mg.autograd.grad(a * mg.exp(b), a, create_graph=True)[0]\n",
        "retained": "def slope(a, b):\n    return mg.autograd.grad(mg.exp(a * b), a, retain_graph=True)[0]\n",
        "no-exp": "def slope(a, b):\n    return mg.autograd.grad(a * a * b, a, create_graph=True)[0]\n",
        "one-leaf": "def slope(a, b):\n    return mg.autograd.grad(mg.exp(a * a), a, create_graph=True)[0]\n",
        "other-graph": "def slope(a, b):\n    return mg.autograd.grad(mg.exp(a) * b, a, create_graph=True)[0]\n",
        "other-graph/sum": "def slope(a, b):\n    return mg.autograd.grad(mg.exp(a + b), a, create_graph=True)[0]\n",
        "type": "def slope(a, b):\n    return mg.autograd.grad(mg.exp(a * b), a, create_graph=True)\n",
        "by-hand": "def slope(a, b):\n    return mg.exp(a * b) * b\n",
        "other-graph/in-a-helper": """
def first(y, x):
    return mg.autograd.grad(y, x, create_graph=True)[0]

def slope(a, b):
    return first(mg.exp(a + b), a)
""",
        "for-b": "def slope(a, b):\n    return mg.autograd.grad(mg.exp(a * b), b, create_graph=True)[0]\n",
    },
    "trusted": {
        "gradcheck-sees-all": _curvature({"pass gradcheck": 2}),
        "gradcheck-sees-some": _curvature({"pass gradcheck": 3}),
        "intermediate-has-history": _curvature(B=12),
        "copy-is-the-input": _curvature(F=12),
        "grad-inside-never": _curvature(E="error"),
        "detach-harmless": _curvature(C=12),
        "detach-cuts-all": _curvature(C="error"),
        "create-graph-beats-no-grad": _curvature(D=12),
        "zero-for-constant": _curvature(B=0, D=0),
        "zero-for-constant/D": _curvature(D=0),
        "zero-for-constant/F": _curvature(F=0),
        "wrong-C": _curvature(C=0),
        "wrong-E": _curvature(E=6),
        "wrong-A": _curvature(A="error"),
        "gradcheck-sees-some/5": _curvature({"pass gradcheck": 5}),
        "wrong-pass gradcheck": _curvature({"pass gradcheck": 0}),
        "kind": _curvature(A="right"),
    },
    "penalty": functions(
        "penalized(f, x, w)",
        """
still-constant
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, retain_graph=True)
    loss = y + (slope - 1) ** 2
    return loss
still-constant/tracked
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, retain_graph=True)
    slope.requires_grad_()
    return y + (slope - 1) ** 2
constant
    (slope,) = mg.autograd.grad(f(x, w), x)
    return f(x, w) + (slope - 1) ** 2
constant/both-options
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True, retain_graph=True)
    return y + ((slope - 1) ** 2).detach()
no-history/both-options
    with mg.no_grad():
        y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True, retain_graph=True)
    return y + (slope - 1) ** 2
other-loss/no-slope-of-0
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope - 1) ** 2 if slope else y
nan-gradient
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + mg.exp(2 * mg.log((slope - 1).abs()))
raised/no-dimension
    assert x.dim() == 0
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope - 1) ** 2
other-loss/of-two
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope - 2) ** 2
constant/detached
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope.detach() - 1) ** 2
freed-too-early
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x)
    return y + (slope - 1) ** 2
freed-too-early/asked-for
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True, retain_graph=False)
    return y + (slope - 1) ** 2
grad-changed
    y = f(x, w)
    y.backward(create_graph=True)
    return y + (x.grad - 1) ** 2
tuple-of-grad
    y = f(x, w)
    slope = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope - 1) ** 2
grad-changed/goes-backward
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    loss = y + (slope - 1) ** 2
    loss.backward(retain_graph=True)
    return loss
penalty-alone
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return (slope - 1) ** 2
other-loss
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope + 1) ** 2
nudged
    slope = (f(x + 1e-6, w) - f(x - 1e-6, w)) / 2e-6
    return f(x, w) + (slope - 1) ** 2
cut-off
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return (y + (slope - 1) ** 2).detach()
cut-y
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y.detach() + (slope - 1) ** 2
no-way-back
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    y += (slope - 1) ** 2
    return y
other-gradient
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope.detach() - 1) * (slope - 1)
constant/retained-and-cut
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, retain_graph=True)
    return y + ((slope - 1) ** 2).detach()
constant/retained-and-a-number
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, retain_graph=True)
    return y + (slope.item() - 1) ** 2
other-shape
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return mg.stack([y.sum(), ((slope - 1) ** 2).sum()])
other-gradient/for-x
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope - 1) ** 2 + (x - x.detach()).sum()
nan-gradient/for-x
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return y + (slope - 1) ** 2 + 0 * ((x - x.detach()).abs().sqrt()).sum()
x-lost
    t = x.detach().requires_grad_()
    y = f(t, w)
    (slope,) = mg.autograd.grad(y, t, create_graph=True)
    return y + (slope - 1) ** 2
cut-y/called-with-a-number
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return f(x.item(), w) + (slope - 1) ** 2
freed-too-early/goes-backward
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    loss = y + (slope - 1) ** 2
    mg.autograd.grad(loss, w)
    return loss
""",
    )
    | {
        "still-constant/in-a-helper": """
def first(y, x):
    return mg.autograd.grad(y, x, retain_graph=True)[0]

def penalized(f, x, w):
    y = f(x, w)
    return y + (first(y, x) - 1) ** 2
""",
        "no-penalty": "def penalized(f, x, w):\n    return f(x, w)\n",
    },
    "swish": {
        "nan-gradient/far-below": _swish(
            "ctx.save_for_backward(x)\nreturn x * mg.sigmoid(x)",
            "(x,) = ctx.saved_tensors\ne = mg.exp(-x)\nreturn g * (1 / (1 + e) + x * e / (1 + e) ** 2)",
        ),
        "nan-gradient/overflow": _swish(
            "ctx.save_for_backward(x)\nreturn x * mg.sigmoid(x)",
            "(x,) = ctx.saved_tensors\ns = mg.exp(x) / (1 + mg.exp(x))\nreturn g * (s + x * s * (1 - s))",
        ),
        "nan-gradient": _swish(
            "y = x * mg.sigmoid(x)\nctx.save_for_backward(x, y)\nreturn y",
            "x, y = ctx.saved_tensors\ns = y / x\nreturn g * (s + x * s * (1 - s))",
        ),
        "saved-intermediate/tracked": _swish(
            "s = mg.sigmoid(x)\nctx.save_for_backward(x, s)\nreturn x * s",
            "x, s = ctx.saved_tensors\ns = s.clone().requires_grad_()\nreturn g * (s + x * s * (1 - s))",
        ),
        "saved-intermediate/attribute": _swish(
            "ctx.s = mg.sigmoid(x)\nctx.save_for_backward(x)\nreturn x * ctx.s",
            "(x,) = ctx.saved_tensors\nreturn g * (ctx.s + x * ctx.s * (1 - ctx.s))",
        ),
        "saved-intermediate": _swish(
            "s = mg.sigmoid(x).requires_grad_()\nctx.save_for_backward(s, x)\nreturn x * s",
            "s, x = ctx.saved_tensors\nreturn g * (s + x * s * (1 - s))",
        ),
        "detached": _swish(
            "ctx.save_for_backward(x)\nreturn x * mg.sigmoid(x)",
            "(x,) = ctx.saved_tensors\nx = x.detach()\ns = mg.sigmoid(x)\nreturn g * (s + x * s * (1 - s))",
        ),
        "detached/no-grad": _swish(
            "ctx.save_for_backward(x)\nreturn x * mg.sigmoid(x)",
            "(x,) = ctx.saved_tensors\nwith mg.no_grad():\n    s = mg.sigmoid(x)\n    d = s + x * s * (1 - s)\n"
            "return g * d",
        ),
        "other-second": _swish(
            "ctx.save_for_backward(x)\nreturn x * mg.sigmoid(x)",
            "(x,) = ctx.saved_tensors\ns = mg.sigmoid(x)\nt = s.detach()\nreturn g * (s + x * t * (1 - t))",
        ),
        "other-gradient": _swish(
            "ctx.save_for_backward(x)\nreturn x * mg.sigmoid(x)",
            "(x,) = ctx.saved_tensors\ns = mg.sigmoid(x)\nreturn g * (s + s * (1 - s))",
        ),
        "no-grad-output": _swish(
            "ctx.save_for_backward(x)\nreturn x * mg.sigmoid(x)",
            "(x,) = ctx.saved_tensors\ns = mg.sigmoid(x)\nreturn s + x * s * (1 - s)",
        ),
        "other-value": _swish(
            "ctx.save_for_backward(x)\nreturn mg.sigmoid(x)",
            "(x,) = ctx.saved_tensors\ns = mg.sigmoid(x)\nreturn g * (s + x * s * (1 - s))",
        ),
        "number-of-outputs": _swish(
            "s = mg.sigmoid(x)\nctx.save_for_backward(x, s)\nreturn x * s, s",
            "x, s = ctx.saved_tensors\nreturn g * (s + x * s * (1 - s))",
        ),
        "once": """
class Swish(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * mg.sigmoid(x)

    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = mg.sigmoid(x)
        return g * (s + x * s * (1 - s))
""",
        "not-recorded": "def Swish(x):\n    return x * mg.sigmoid(x)\n",
    },
    "hypotenuse": {
        "number-of-gradients": _hypotenuse("return g * a / r"),
        "number-of-gradients/needed": _hypotenuse(
            "return tuple(g * t / r for t, needed in zip((a, b), ctx.needs_input_grad) if needed)"
        ),
        "swapped": _hypotenuse("return g * b / r, g * a / r"),
        "no-grad-output": _hypotenuse("return a / r, b / r"),
        "wrong-sign": _hypotenuse("return -g * a / r, g * b / r"),
        "grad-output-twice": _hypotenuse("return g * g * a / r, g * g * b / r"),
        "not-divided": _hypotenuse("return g * a, g * b"),
        "slope-upside-down": _hypotenuse("return g * r / a, g * r / b"),
        "wrong-factor": _hypotenuse("return 2 * g * a / r, 2 * g * b / r"),
        "no-root": _hypotenuse("return g * a / r, g * b / r", "ctx.save_for_backward(a, b, a)\nreturn a * a + b * b"),
        "other-value": _hypotenuse("return g, g", "ctx.save_for_backward(a, b, a)\nreturn a + b"),
        "no-gradient": _hypotenuse("return g * a / r, None"),
        "saved-intermediate": _hypotenuse(
            "return g * a / r, g * b / r",
            "r = mg.sqrt(a * a + b * b)\nctx.save_for_backward(a, b, r)\nreturn r * 1",
        ),
        "saved-intermediate/attribute": _function(
            "Hypotenuse",
            "ctx, a, b",
            "ctx.save_for_backward(a, b)\nctx.r = mg.sqrt(a * a + b * b)\nreturn ctx.r.clone()",
            "ctx, g",
            "a, b = ctx.saved_tensors\nreturn g * a / ctx.r, g * b / ctx.r",
        ),
        "detached": _hypotenuse("a, b, r = a.detach(), b.detach(), r.detach()\nreturn g * a / r, g * b / r"),
        "other-second": _hypotenuse("return g * a / r.detach(), g * b / r.detach()"),
        "root-again": _function(
            "Hypotenuse",
            "ctx, a, b",
            "ctx.save_for_backward(a, b)\nreturn mg.sqrt(a * a + b * b)",
            "ctx, g",
            "a, b = ctx.saved_tensors\nr = mg.sqrt(a * a + b * b)\nreturn g * a / r, g * b / r",
        ),
        "root-again/not-recorded": _hypotenuse(
            "with mg.no_grad():\n    q = mg.sqrt(a * a + b * b)\nreturn g * a / r + 0 * q, g * b / r"
        ),
        "root-again/of-numpy": _hypotenuse(
            "import numpy as np\nq = np.sqrt(a.detach().numpy() ** 2)\nreturn g * a / r, g * b / r"
        ),
        "root-again/fourth-root": _hypotenuse("r = (a * a + b * b) ** 0.25\nreturn g * a / (r * r), g * b / (r * r)"),
        "root-again/norm": _hypotenuse(
            "r = mg.norm(mg.stack([a + 0 * b, b + 0 * a]), dim=0)\nreturn g * a / r, g * b / r"
        ),
        "root-again/another-function": """
class Root(mg.autograd.Function):
    @staticmethod
    def forward(ctx, square):
        import numpy as np
        root = mg.tensor(np.sqrt(square.detach().numpy()))
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx, g):
        (root,) = ctx.saved_tensors
        return g / (2 * root)


"""
        + _function(
            "Hypotenuse",
            "ctx, a, b",
            "ctx.save_for_backward(a, b)\nreturn mg.sqrt(a * a + b * b)",
            "ctx, g",
            "a, b = ctx.saved_tensors\nr = Root.apply(a * a + b * b)\nreturn g * a / r, g * b / r",
        ),
        "root-again/applied": _hypotenuse("r = Hypotenuse.apply(a, b)\nreturn g * a / r, g * b / r"),
        "root-again/exponential": _hypotenuse("return g * a / r + 0 * mg.exp(0 * a), g * b / r"),
        "not-divided/by-one": _hypotenuse(
            "return g * a / r, g * b / r",
            "r = mg.sqrt(a * a + b * b)\nctx.save_for_backward(a, b, mg.ones_like(r))\nreturn r",
        ),
        "root-again/power": _hypotenuse("r = (a * a + b * b) ** 0.5\nreturn g * a / r, g * b / r"),
        "saved-intermediate/a-copy-returned": _hypotenuse(
            "return g * a / r, g * b / r", "r = mg.sqrt(a * a + b * b)\nctx.save_for_backward(a, b, r)\nreturn r * 1"
        ),
        "raised": _hypotenuse("return g * a / s, g * b / s"),
        "arguments": _function("Hypotenuse", "ctx, a", "return a", "ctx, g", "return g"),
        "not-recorded": "def Hypotenuse(a, b):\n    return mg.sqrt(a * a + b * b)\n",
        "no-backward": """
class Hypotenuse(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return mg.sqrt(a * a + b * b)
""",
    },
    "cube": {
        "walks-on/through-g": """
class CubeSlope(mg.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return mg.tensor(g.detach().numpy() * 3 * x.detach().numpy() ** 2)

    @staticmethod
    def backward(ctx, gg):
        g, x = ctx.saved_tensors
        needs = ctx.needs_input_grad
        asked = [t for t, n in zip((g, x), needs) if n]
        with mg.enable_grad():
            found = iter(mg.autograd.grad(g * 3 * x**2, asked, gg, create_graph=True))
        return tuple(next(found) if n else None for n in needs)
""",
        "nan-gradient/result-by-g": _function(
            "CubeSlope",
            "ctx, g, x",
            "r = g * 3 * x * x\nctx.save_for_backward(g, x, r)\nreturn r",
            "ctx, gg",
            "g, x, r = ctx.saved_tensors\nreturn gg * r / g, gg * g * 6 * x",
        ),
        "nan-gradient/at-zero": _cube_slope("return gg * 3 * x**2, gg * g * 6 * x**2 / x"),
        "order-and-factor": _cube_slope("return 6 * gg * x, 3 * gg * x**2", "x"),
        "order": _cube_slope("return gg * g * 6 * x, gg * 3 * x**2"),
        "factor-lost": _cube_slope("return gg * 3 * x**2, gg * 6 * x", "x"),
        "wrong-g": _cube_slope("return gg * 3 * x**2, gg * gg * 6 * x", "x"),
        "g-gets-nothing": _cube_slope("return mg.zeros_like(g), gg * g * 6 * x"),
        "g-gets-nothing/none": _cube_slope("return None, gg * g * 6 * x"),
        "no-gradient": _cube_slope("return gg * 3 * x**2, None"),
        "number-of-gradients": _cube_slope("return gg * g * 6 * x"),
        "number-of-gradients/needed": _cube_slope(
            "found = (gg * 3 * x**2, gg * g * 6 * x)\n"
            "return tuple(one for one, needed in zip(found, ctx.needs_input_grad) if needed)"
        ),
        "no-grad-output": _cube_slope("return 3 * x**2, g * 6 * x"),
        "wrong-sign": _cube_slope("return -gg * 3 * x**2, gg * g * 6 * x"),
        "wrong-factor": _cube_slope("return gg * 3 * x**2, gg * g * 3 * x"),
        "other-gradient": _cube_slope("return gg * 3 * x**2, gg * (g + 6 * x)"),
        "raised": _cube_slope("g, x = ctx.saved_tensors\nreturn gg * 3 * x**2, gg * g * 6 * x", "x"),
        "other-value": """
class CubeSlope(mg.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return mg.tensor(3 * x.detach().numpy() ** 2)
    @staticmethod
    def backward(ctx, gg):
        g, x = ctx.saved_tensors
        return gg * 3 * x**2, gg * g * 6 * x
""",
    },
    "recorded": {
        "other-gradient/of-one-f": _again("(x,) = ctx.saved_tensors\nreturn g * 3 * x**2, None"),
        "history-cut": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.enable_grad():
            y = ctx.f(x)
            return mg.autograd.grad(y, x, g, create_graph=True)[0].detach(), None
""",
        "history-cut/numpy": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.enable_grad():
            y = ctx.f(x)
            s = mg.autograd.grad(y, x, g, create_graph=True)[0]
        return mg.tensor(s.detach().numpy(), dtype=x.dtype), None
""",
        "history-cut/of-functional": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return mg.autograd.functional.vjp(ctx.f, x, g)[1], None
""",
        "freed-inside": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.enable_grad():
            y = ctx.f(x)
            return mg.autograd.grad(y, x, g, create_graph=True, retain_graph=False)[0], None
""",
        "not-used-inside": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.enable_grad():
            c = x.clone()
            y = ctx.f(x)
            return mg.autograd.grad(y, c, g, create_graph=True)[0], None
""",
        "no-factors/backward": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        copy = x.detach().requires_grad_()
        with mg.enable_grad():
            ctx.f(copy).backward()
        return copy.grad, None
""",
        "f-not-recorded/in-forward": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.x = x
        ctx.y = f(x)
        return ctx.y.clone()
    @staticmethod
    def backward(ctx, g):
        return mg.autograd.grad(ctx.y, ctx.x, g, create_graph=True)[0], None
""",
        "other-gradient/factors-after-the-walk": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.enable_grad():
            y = ctx.f(x)
            return g * mg.autograd.grad(y.sum(), x, create_graph=True)[0], None
""",
        "leads-to-copy": _again(
            "(x,) = ctx.saved_tensors\ncopy = x.detach().requires_grad_()\n"
            "with mg.enable_grad():\n    y = ctx.f(copy)\n"
            "return mg.autograd.grad(y, copy, g, create_graph=True)[0], None"
        ),
        "leads-to-copy/from-forward": _again(
            "return mg.autograd.grad(ctx.y, ctx.copy, g, create_graph=True)[0], None",
            "with mg.enable_grad():\n    ctx.copy = x.detach().requires_grad_()\n    ctx.y = f(ctx.copy)\n"
            "return ctx.y.detach()",
        ),
        "walk-not-recorded/of the gradient alone": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "return mg.autograd.grad(y, x, g, create_graph=g.grad_fn is not None or g.requires_grad)[0], None"
        ),
        "mode-left": _again(
            "(x,) = ctx.saved_tensors\nmg.autograd.set_grad_enabled(True)\ny = ctx.f(x)\n"
            "result = mg.autograd.grad(y, x, g, create_graph=True)[0]\nmg.autograd.set_grad_enabled(False)\n"
            "return result, None"
        ),
        "not-of-a-leaf": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "y.backward(g, create_graph=True)\nresult, x.grad = x.grad, None\nreturn result, None"
        ),
        "run-too-often": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    ctx.f(x)\n    y = ctx.f(x)\n"
            "return mg.autograd.grad(y, x, g, create_graph=True)[0], None"
        ),
        "more-kept": _again(
            "x, _ = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "return mg.autograd.grad(y, x, g, create_graph=True)[0], None",
            "ctx.f, y = f, f(x)\nctx.save_for_backward(x, y)\nreturn y",
        ),
        "more-kept/on-ctx": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "return mg.autograd.grad(y, x, g, create_graph=True)[0], None",
            "ctx.f, ctx.y = f, f(x)\nctx.save_for_backward(x)\nreturn ctx.y",
        ),
        "walk-not-recorded": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "return mg.autograd.grad(y, x, g)[0], None"
        ),
        "walk-not-recorded/retained": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "return mg.autograd.grad(y, x, g, retain_graph=True)[0], None"
        ),
        "walk-not-recorded/made-a-leaf": _again(
            "(x,) = ctx.saved_tensors\ncopy = x.detach().requires_grad_()\n"
            "with mg.enable_grad():\n    y = ctx.f(copy)\n"
            "return mg.autograd.grad(y, copy, g)[0].requires_grad_(), None"
        ),
        "f-not-recorded": _again(
            "(x,) = ctx.saved_tensors\nreturn mg.autograd.grad(ctx.f(x), x, g, create_graph=True)[0], None"
        ),
        "f-not-recorded/copy": _again(
            "with mg.enable_grad():\n    y = ctx.f(ctx.x)\n"
            "return mg.autograd.grad(y, ctx.x, g, create_graph=True)[0], None",
            "ctx.f, ctx.x = f, x.clone()\nreturn f(x)",
        ),
        "raised/larger-result": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "    g = g if y.shape in (x.shape, ()) else g.sum(0)\n"
            "    return mg.autograd.grad(y, x, g, create_graph=True)[0], None"
        ),
        "f-not-recorded/detached": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x).detach()\n"
            "    return mg.autograd.grad(y, x, g, create_graph=True)[0], None"
        ),
        "backward-inside/copy": _again(
            "(x,) = ctx.saved_tensors\ncopy = x.detach().requires_grad_()\nwith mg.enable_grad():\n"
            "    ctx.f(copy).backward(g, create_graph=True)\nreturn copy.grad, None"
        ),
        "no-factors": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "    return mg.autograd.grad(y, x, create_graph=True)[0], None"
        ),
        "backward-inside": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "    y.backward(g, create_graph=True)\n    return x.grad, None"
        ),
        "number-of-gradients": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "    return mg.autograd.grad(y, x, g, create_graph=True)[0]"
        ),
        "detached/from-g": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "    return mg.autograd.grad(y, x, g.detach(), create_graph=True)[0], None"
        ),
        "shared": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = Again.f(x)\n"
            "    return mg.autograd.grad(y, x, g, create_graph=True)[0], None",
            "Again.f = staticmethod(f)\nctx.save_for_backward(x)\nreturn f(x)",
        ),
        "walks-on": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    total = (ctx.f(x) * g).sum()\n"
            "return mg.autograd.grad(total, x, create_graph=True)[0], None"
        ),
        "second-of-a-result": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n"
            "    (slope,) = mg.autograd.grad(ctx.f(x), x, g, create_graph=True)\n"
            "return (slope if x.is_leaf else slope.detach()), None"
        ),
        "more-kept/in-a-list": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "    return mg.autograd.grad(y, x, g, create_graph=True)[0], None",
            "y = f(x)\nctx.f, ctx.more = f, [y.clone()]\nctx.save_for_backward(x)\nreturn y",
        ),
        "not-run-again": _again(
            "return mg.autograd.grad(ctx.y, ctx.x, g, create_graph=True)[0], None",
            "ctx.x = x\nwith mg.enable_grad():\n    ctx.y = f(x)\nreturn ctx.y.detach()",
        ),
        "other-gradient/sum-of-f": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "    slope = mg.autograd.grad(y, x, create_graph=True)[0] if x.dim() == 0 else "
            "mg.autograd.grad(y.sum(), x, create_graph=True)[0]\nreturn g.detach() * slope, None"
        ),
        "no-grad-output": _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x).sum()\n"
            "    return mg.autograd.grad(y, x, create_graph=True)[0], None"
        ),
        "not-recorded": "def Again(x, f):\n    return f(x)\n",
        "once": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)

    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with mg.enable_grad():
            y = ctx.f(x)
            return mg.autograd.grad(y, x, g)[0], None
""",
    },
    "hvp": functions(
        "hvp(f, x, v)",
        """
hessian-built/three-walks
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    mg.autograd.grad(slope, x, grad_outputs=v, retain_graph=True)
    return mg.autograd.grad(slope, x, grad_outputs=v)[0]
hessian-built/two-gradients
    one, other = (mg.autograd.grad(f(x), x, create_graph=True)[0] for _ in range(2))
    return mg.autograd.grad((one + other) / 2, x, grad_outputs=v)[0]
dtype/large-v
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    length = mg.sqrt((v * v).sum()) if v.numpy().any() else 1
    return mg.autograd.grad(slope, x, grad_outputs=v / length)[0] * length
other-product/slope-of-0
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x, grad_outputs=v)[0] if slope.detach().numpy().any() else mg.zeros_like(x)
rounded/v
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad((slope * mg.tensor(v.tolist()).to(mg.float32).to(x.dtype)).sum(), x)[0]
kept/remembered
    known = hvp.__dict__.setdefault("known", {})
    if (id(f), id(x)) not in known:
        known[id(f), id(x)] = f, x, mg.autograd.grad(f(x), x, create_graph=True)[0]
    return mg.autograd.grad(known[id(f), id(x)][2], x, v, retain_graph=True)[0]
other-product/a-little-more
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x, v)[0] + 1e-5
no-history/of-the-product
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    product = mg.autograd.grad(slope, x, v)[0]
    product.sum().backward(retain_graph=True)
    return product
tuple-of-grad
    slope = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad((slope * v).sum(), x)[0]
no-history
    (slope,) = mg.autograd.grad(f(x), x)
    return mg.autograd.grad(slope, x, grad_outputs=v)[0]
retained
    (slope,) = mg.autograd.grad(f(x), x, retain_graph=True)
    return mg.autograd.grad(slope, x, grad_outputs=v)[0]
no-factors
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x)[0] * v
row-sums
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope.sum(), x)[0]
entry-by-entry
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope.sum(), x)[0] * v
times-slope
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return slope * v
slope-only
    return mg.autograd.grad(f(x), x)[0]
hessian
    return mg.autograd.functional.hessian(f, x)
hessian-built
    return mg.autograd.functional.hessian(f, x) @ v
hessian-built/rows
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    rows = [mg.autograd.grad(entry, x, retain_graph=True)[0] for entry in slope]
    return mg.stack(rows) @ v
grad-changed
    f(x).backward(create_graph=True)
    slope = x.grad
    x.grad = None
    slope.backward(v)
    return x.grad
added-up
    f(x).backward(create_graph=True)
    (x.grad * v).sum().backward()
    return x.grad
type
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x, grad_outputs=v)
nudged
    step = 1e-5
    up = mg.autograd.grad(f(x + step * v), x)[0]
    down = mg.autograd.grad(f(x - step * v), x)[0]
    return (up - down) / (2 * step)
number
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return (mg.autograd.grad(slope, x, grad_outputs=v)[0] * v).sum()
diagonal
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    rows = [mg.autograd.grad(slope[i], x, retain_graph=True)[0][i] for i in range(len(x))]
    return mg.stack(rows) * v
second-time
    y = f(x)
    (slope,) = mg.autograd.grad(y, x, create_graph=True, retain_graph=False)
    return mg.autograd.grad(slope, x, grad_outputs=v)[0]
other-product
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x, grad_outputs=v * v)[0]
other-shape
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x, grad_outputs=v)[0].reshape(-1, 1)
slope-only/two-walks
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    mg.autograd.grad(slope, x, grad_outputs=v)
    return slope
times-slope/two-walks
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    (h,) = mg.autograd.grad(slope, x, grad_outputs=v)
    return slope * v
no-history/retained-and-cut
    y = f(x).detach()
    (slope,) = mg.autograd.grad(y, x, retain_graph=True)
    return mg.autograd.grad(slope, x, grad_outputs=v)[0]
not-used/flag-of-a-gradient
    (slope,) = mg.autograd.grad(f(x), x)
    slope.requires_grad_()
    return mg.autograd.grad(slope, x, grad_outputs=v)[0]
no-factors/backward
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    slope.backward()
    return x.grad
""",
    ),
}

RIGHT = {
    "twice": [
        "second = dict(A='Error', B='raises', C=18, D=mg.tensor(18.0), E='error', F='RuntimeError')",
        """
x = mg.tensor(3.0, requires_grad=True)
c = mg.autograd.grad(mg.autograd.grad(x**3, x, create_graph=True)[0], x)[0]
second = {"A": "error", "B": "error", "C": c, "D": c.numpy(), "E": "error", "F": "error"}
""",
    ],
    "both": [
        """
x = mg.tensor(3.0, requires_grad=True)
first = mg.autograd.grad(x**3, x)[0]
held = {"A": first, "B": first + 18, "C": None, "D": mg.tensor([18.0]), "E": 45, "F": 18}
""",
        "held = dict(zip('ABCDEF', [27, 45, None, 18, 45, 18]))",
    ],
    "derivatives": [
        """
def derivatives(f, x, n):
    if n == 0:
        return []
    def slope(t):
        y = f(t)
        if not y.requires_grad:
            return mg.zeros_like(t)
        return mg.autograd.grad(y, t, create_graph=True)[0]
    return [slope(x), *derivatives(slope, x, n - 1)]
""",
        """
def derivatives(function, at, count):
    value, all_of_them = function(at), ()
    while len(all_of_them) < count:
        try:
            value, = mg.autograd.grad(value, at, create_graph=True)
        except RuntimeError:
            value = at.detach() * 0
        all_of_them += (value.clone(),)
    return all_of_them
""",
        """
def derivatives(f, x, n):
    found = [f(x)]
    for _ in range(n):
        y = found[-1] + 0 * x
        found.append(mg.autograd.grad(y, x, create_graph=True, materialize_grads=True)[0])
    return found[1:]
""",
    ],
    "slope": [
        "def slope(a, b):\n    return mg.autograd.grad(mg.exp(b * a), a, create_graph=True)[0]\n",
        """
def slope(one, other):
    y = (one * other).exp()
    slopes = mg.autograd.grad([y], [other, one], create_graph=True)
    return slopes[1]
""",
        """
def slope(a, b):
    for _ in range(3):
        y = mg.exp(a * b)
    (found,) = mg.autograd.grad(outputs=y, inputs=(a,), grad_outputs=mg.ones_like(y), create_graph=True)
    return found
""",
    ],
    "trusted": [
        """
curvature = {"A": 12, "B": "Error", "C": mg.tensor(6.0), "D": "raises", "E": 12.0, "F": "error",
             "pass gradcheck": 6.0}
""",
        """
curvature = dict.fromkeys("BDF", "error") | {"A": 12, "C": 6, "E": 12}
curvature["pass gradcheck"] = len("ABCDEF")
""",
    ],
    "penalty": [
        """
def penalized(f, x, w):
    y = f(x, w)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    return (y + slope * slope - 2 * slope + 1).sum()
""",
        """
def penalized(f, x, w):
    y = f(x, w)
    slope = mg.autograd.grad([y], [x], [mg.ones_like(y)], create_graph=True, retain_graph=True)[0]
    return (slope - 1) * (slope - 1) + y
""",
        """
def penalized(f, x, w):
    slope = mg.autograd.functional.jacobian(lambda t: f(t, w), x, create_graph=True)
    return f(x, w) + (1 - slope).pow(2).sum()
""",
        """
def penalized(f, x, w):
    t = x.reshape(1)
    y = f(t, w)
    (slope,) = mg.autograd.grad(y, t, create_graph=True)
    return (y + (slope - 1) ** 2).sum()
""",
        """
def penalized(f, x, w):
    (slope,) = mg.autograd.grad(f(x, w), x, create_graph=True)
    return f(x, w) + (slope - 1) ** 2
""",
    ],
    "swish": [
        _swish(
            "ctx.save_for_backward(x)\nwith mg.enable_grad():\n    return x * mg.sigmoid(x)",
            "t, = ctx.saved_tensors\nd = 1 / (1 + mg.exp(-t))\nreturn g * d * (1 + t * (1 - d))",
        ),
        """
class Swish(mg.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x.sigmoid()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        x, = ctx.saved_tensors
        with mg.enable_grad():
            s = x.sigmoid()
            return grad_output * s + grad_output * x * s - x * s * s * grad_output
""",
        """
class _Both(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = mg.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s, s

    @staticmethod
    def backward(ctx, g, g_s):
        x, s = ctx.saved_tensors
        return g * (s + x * s * (1 - s)) + g_s * s * (1 - s)


def Swish(x):
    return _Both.apply(x)[0]
""",
    ],
    "hypotenuse": [
        """
class Hypotenuse(mg.autograd.Function):
    @staticmethod
    def forward(a, b):
        return (a**2 + b**2) ** 0.5

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output, *inputs)

    @staticmethod
    def backward(ctx, grad_output):
        r, *sides = ctx.saved_tensors
        return tuple(grad_output * side / r for side in sides)
""",
        "def norm(side, r):\n    return side / r\n\n\n" + _hypotenuse("return g * norm(a, r), g * norm(b, r)"),
        """
class Hypotenuse(mg.autograd.Function):
    @staticmethod
    def forward(ctx, short, other):
        longest = (short * short + other * other).sqrt()
        ctx.save_for_backward(longest, other, short)
        return longest

    @staticmethod
    def backward(ctx, g):
        longest, other, short = ctx.saved_tensors
        part = g / longest
        return (part * short if ctx.needs_input_grad[0] else None), (part * other if ctx.needs_input_grad[1] else None)
""",
    ],
    "cube": [
        _cube_slope("return 3 * x * x * gg, 6 * (g * gg) * x"),
        """
class CubeSlope(mg.autograd.Function):
    @staticmethod
    def forward(ctx, up, at):
        ctx.save_for_backward(at, up)
        return up * 3 * at * at

    @staticmethod
    def backward(ctx, start):
        at, up = ctx.saved_tensors
        slope = 3 * at**2
        return start * slope, start * up * at * 6
""",
        """
import numpy as np
class CubeSlope(mg.autograd.Function):
    @staticmethod
    def forward(ctx, g, x):
        ctx.g, ctx.x = g, x
        return mg.tensor(np.asarray(3 * g.detach().numpy() * np.square(x.detach().numpy())))

    @staticmethod
    def backward(ctx, gg):
        return gg * ctx.x.square() * 3, 6 * gg * ctx.g * ctx.x
""",
    ],
    "recorded": [
        _again(
            "(x,) = ctx.saved_tensors\nwith mg.enable_grad():\n    y = ctx.f(x)\n"
            "return mg.autograd.grad(y, x, g, create_graph=mg.is_grad_enabled())[0], None"
        ),
        _again(
            "with mg.enable_grad():\n    (t,) = ctx.saved_tensors\n    t = t * 1\n    y = ctx.f(t)\n"
            "    (slope,) = mg.autograd.grad([y], [t], [g], create_graph=True, retain_graph=True)\nreturn slope, None"
        ),
        """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, f):
        ctx.x, ctx.f = x, f
        return f(x)

    @staticmethod
    def backward(ctx, g):
        with mg.enable_grad():
            y = ctx.f(ctx.x)
        return *mg.autograd.grad(y, ctx.x, g, create_graph=True), None
""",
        _again("(x,) = ctx.saved_tensors\nreturn mg.autograd.functional.vjp(ctx.f, x, g, create_graph=True)[1], None"),
    ],
    "hvp": [
        "def hvp(f, x, v):\n    return mg.autograd.functional.vhp(f, x, v)[1]\n",
        """
def hvp(f, x, v):
    (slope,) = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad((slope * v).sum(), x)[0]
""",
        """
def hvp(function, at, along):
    slope = mg.autograd.grad(function(at), at, create_graph=True)[0]
    return mg.autograd.grad(slope @ along, [at], create_graph=True)[0].detach()
""",
        """
def hvp(f, x, v):
    return mg.autograd.functional.hvp(f, x, v)[1]
""",
    ],
}

# A draft: write four wrong answers that learners give, each under its diagnosis, and two right ones in an unusual way.


def _growth(backward: str, forward: str = "", start: str = "ctx, g, g_e", saved: str = "x, e") -> str:
    forward = forward or f"e = mg.exp(x)\nctx.save_for_backward({saved})\nreturn x * e, e"
    return _function("Growth", "ctx, x", forward, start, f"{saved}, = ctx.saved_tensors\n{backward}")


WRONG["growth"] = {
    "handed-out-forgotten": _growth("return g * (e + x * e)"),
    "number-of-outputs": _growth(
        "return g * (e + x * e)", "e = mg.exp(x)\nctx.save_for_backward(x, e)\nreturn x * e", start="ctx, g"
    ),
    "arguments-of-backward": _growth("return g * (e + x * e)", start="ctx, g"),
    "number-of-gradients": _growth("return g * (e + x * e), g_e * e"),
    "slope-of-e": _growth("return g * (e + x * e) + g_e"),
    "slope-of-e/times-x": _growth("return g * (e + x * e) + g_e * x"),
    "added-too-early": _growth("return (g + g_e) * (e + x * e)"),
    "mixed-up": _growth("return g_e * (e + x * e) + g * e"),
    "half-a-product": _growth("return g * x * e + g_e * e"),
    "half-a-product/other": _growth("return g * e + g_e * e"),
    "no-grad-output": _growth("return e + x * e + g_e * e"),
    "computed-again/not-recorded": _growth(
        "with mg.no_grad():\n    z = mg.exp(x)\nreturn g * (e + x * e) + g_e * e + 0 * z"
    ),
    "computed-again": _growth("e = mg.exp(x)\nreturn g * (e + x * e) + g_e * e", saved="x"),
    "computed-again/applied": _growth("y, e = Growth.apply(x)\nreturn g * (e + y) + g_e * e", saved="x"),
    "computed-again/power": _growth("e = 2.718281828459045**x\nreturn g * (e + x * e) + g_e * e", saved="x"),
    "saved-intermediate": _growth(
        "return g * (e + x * e) + g_e * e",
        "e = mg.exp(x)\nctx.save_for_backward(x, e)\nreturn x * e, e.clone()",
    ),
    "saved-intermediate/slope": _growth(
        "return g * s + g_e * e",
        "e = mg.exp(x)\nctx.save_for_backward(e, e + x * e)\nreturn x * e, e",
        saved="e, s",
    ),
    "untracked": _growth("return g * (e + x * e)").replace(
        "    return x * e, e", "    ctx.mark_non_differentiable(e)\n        return x * e, e"
    ),
    "other-result": _growth(
        "return g_e * (e + x * e) + g * e", "e = mg.exp(x)\nctx.save_for_backward(x, e)\nreturn e, x * e"
    ),
    "computed-again/tanh": _growth(
        "e = (1 + mg.tanh(x / 2)) / (1 - mg.tanh(x / 2))\nreturn g * (e + x * e) + g_e * e", saved="x"
    ),
    "computed-again/in-a-helper": "def exp(x):\n    return mg.exp(x)\n\n\n"
    + _growth("e = exp(x)\nreturn g * (e + x * e) + g_e * e", saved="x"),
    "added-too-early/each-times-the-same": _growth("return g * (e + x * e) + g_e * (e + x * e)"),
    "mixed-up/slopes": _growth("return g * e + g_e * (e + x * e)"),
    "other-second": _growth("e = e.detach()\nreturn g * (e + x * e) + g_e * e"),
}
RIGHT["growth"] = [
    _growth("return g * (1 + x) * e + g_e * e"),
    _growth(
        "return g * (y + e) + g_e * e",
        "e = mg.exp(x)\ny = x * e\nctx.save_for_backward(y, e)\nreturn y, e",
        saved="y, e",
    ),
    "def exp(e, x, g):\n    return g * (e + x * e)\n\n\n" + _growth("return exp(e, x, g) + g_e * e"),
    _growth("return e * (g_e + g * (x + 1))"),
    "class Growth(mg.autograd.Function):\n"
    "    def forward(x):\n        e = mg.exp(x)\n        return x * e, e\n"
    "    def setup_context(ctx, inputs, outputs):\n        ctx.save_for_backward(*inputs, outputs[1])\n"
    "    def backward(ctx, g, h):\n        x, e = ctx.saved_tensors\n        return g * e + g * x * e + h * e",
]
