"""Chapter 08: wrong answers with the diagnosis that each must get, and unusual right ones."""

import textwrap

from banks.patterns import changed

NOTEBOOK = "08_custom_functions"

_inside = changed(
    "answers", {"y tracked": False, "grad_output": 4.0, "grad mode": False, "operations": 2, "gradients": 3}
)
_verdicts = changed("verdicts", A="fail", B="fail", C="pass", D="pass", E="fail", F="fail", G="pass", H="fail")


def function(name, forward, backward, before=""):
    """The source of a Function; forward and backward are written from the bracket of their arguments on."""
    body = f"@staticmethod\ndef forward{forward}\n\n@staticmethod\n{before}def backward{backward}\n"
    return f"class {name}(mg.autograd.Function):\n" + textwrap.indent(body, "    ")


def _maker(name, forward, start):
    """A function that writes the Function `name` with this forward, if no other, and the end of its backward."""

    def made(ending, forward=forward, start=start, before=""):
        return function(name, forward, start + ending, before)

    return made


_SAVED_X = "(ctx, grad_output):\n    (x,) = ctx.saved_tensors\n    "
_SAVED_Y = "(ctx, grad_output):\n    (y,) = ctx.saved_tensors\n    "
_SAVED_AB = "(ctx, grad_output):\n    a, b = ctx.saved_tensors\n    "

_reciprocal = _maker("Reciprocal", "(ctx, x):\n    ctx.save_for_backward(x)\n    return 1 / x", _SAVED_X)
_reciprocal_y = "(ctx, x):\n    y = 1 / x\n    ctx.save_for_backward(y)\n    return y"

_POWER_Y = "(ctx, x):\n    y = 2**x\n    ctx.save_for_backward(y)\n    return y"
_POWER_X = "(ctx, x):\n    ctx.save_for_backward(x)\n    return 2**x"
_power = _maker("PowerOfTwo", _POWER_Y, _SAVED_Y)
_power_x = _maker("PowerOfTwo", _POWER_X, _SAVED_X)

_CLIP = "(ctx, x, low, high):\n    ctx.low, ctx.high = low, high\n    return x.clone()"
_CLIP_X = "(ctx, x, low, high):\n    ctx.save_for_backward(x)\n    ctx.low, ctx.high = low, high\n    return x.clone()"
_clip = _maker("Clip", _CLIP, "(ctx, grad_output):\n    ")
_clip_x = _maker("Clip", _CLIP_X, _SAVED_X)
_CLAMPED = "grad_output.clamp(ctx.low, ctx.high)"

_outer = _maker("Outer", "(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return a.unsqueeze(1) * b", _SAVED_AB)
_several = _maker(
    "Both",
    "(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return a * b, a / b",
    "(ctx, g, h):\n    a, b = ctx.saved_tensors\n    ",
)

_BELL = "(ctx, x):\n    y = mg.exp(-x * x)\n    ctx.save_for_backward(x, y)\n    return y"
_BELL_XY = "(ctx, grad_output):\n    x, y = ctx.saved_tensors\n    "
_bell = _maker("Bell", _BELL, _BELL_XY)

_GIVEN_LIBRARY = """
def library_value(array):
    return np.asarray(np.log1p(np.exp(array)))

def library_slope(array):
    return np.asarray(1 / (1 + np.exp(-array)))

once = mg.autograd.function.once_differentiable

"""
_LIBRARY = "(ctx, x):\n    ctx.save_for_backward(x)\n    return mg.from_numpy(library_value(x.detach().numpy()))"
_LIBRARY_SLOPE = "mg.from_numpy(library_slope(x.detach().numpy()))"


def _library(ending, forward=_LIBRARY, start=_SAVED_X, before="@once\n"):
    return _GIVEN_LIBRARY + function("Softplus", forward, start + ending, before)


def _build(*lines):
    return "def build(a, b):\n" + textwrap.indent("\n".join(lines), "    ")


WRONG = {
    "inside": {
        "recorded-inside": _inside({"y tracked": True, "operations": 4}),
        "recorded-inside/tracked": _inside({"y tracked": True}),
        "other-count": _inside({"operations": 4}),
        "other-count/three": _inside({"operations": 3}),
        "one-per-tracked": _inside(gradients=1),
        "one-per-tensor": _inside(gradients=2),
        "ctx-counted": _inside(gradients=4),
        "starts-with-one": _inside(grad_output=1.0),
        "gradient-of-x": _inside(grad_output=60),
        "mode-on": _inside({"grad mode": True}),
        "last-forgotten": _inside(operations=1),
        "wrong-grad_output": _inside(grad_output=30),
        "kind": _inside(gradients="three"),
    },
    "verdicts": {
        "right-formula-passes": _verdicts(A="pass"),
        "right-formula-passes/kink": _verdicts(B="pass"),
        "right-formula-passes/both": _verdicts(A="pass", B="pass"),
        "wrong-formula-fails": _verdicts(C="fail"),
        "wrong-formula-fails/all": _verdicts(C="fail", D="fail", G="fail"),
        "wrong-formula-fails/but-the-second": _verdicts(C="fail", E="pass", G="fail"),
        "first-is-second": _verdicts(E="pass"),
        "second-is-first": _verdicts(D="fail"),
        "right-formula-passes/not-D": _verdicts(A="pass", B="pass", D="fail"),
        "wrong-formula-fails/but-F": _verdicts(C="fail", D="fail", F="pass", G="fail"),
        "factor-not-seen": _verdicts(F="pass"),
        "within-tolerance": _verdicts(G="fail"),
        "beyond-tolerance": _verdicts(H="pass"),
        "kind": _verdicts(A="maybe"),
        "kind/number": _verdicts(A=1),
        "kind/error": _verdicts(B="error"),
        "keys": "verdicts = {'A': 'fail'}",
    },
    "reciprocal": {
        "rounded": _reciprocal("return (-grad_output / x**2).float()"),
        "other-gradient/negative": _reciprocal("return -grad_output / (x * x.abs())"),
        "no-grad-output": _reciprocal("return -1 / x**2"),
        "overwritten-later": "MADE = {}\n"
        + _reciprocal(
            "return -grad_output / x**2",
            forward="(ctx, x):\n    ctx.save_for_backward(x)\n    made = MADE.setdefault(x.shape, mg.zeros_like(x))\n"
            "    return made.copy_(1 / x).detach()",
        ),
        "overwritten-later/gradient": "MADE = {}\n"
        + _reciprocal("return MADE.setdefault(x.shape, mg.zeros_like(x)).copy_(-grad_output / x**2)"),
        "wrong-sign": _reciprocal("return grad_output / x**2"),
        "power-lost": _reciprocal("return -grad_output / x"),
        "input-for-output": _reciprocal("return -grad_output / x**2", forward=_reciprocal_y),
        "grad-output-twice": _reciprocal("return -grad_output * grad_output / x**2"),
        "grad-output-added": _reciprocal("return -grad_output.sum() / x**2"),
        "grad-output-added/mean": _reciprocal("return -grad_output.mean() / x**2"),
        "no-slope": _reciprocal("return grad_output"),
        "slope-of-output": _reciprocal("return grad_output / x"),
        "slope-of-input": _reciprocal("return grad_output * x"),
        "wrong-factor": _reciprocal("return -2 * grad_output / x**2"),
        "other-gradient": _reciprocal("return -grad_output / x**3"),
        "input-for-output/multiplied": _reciprocal("return grad_output * -(x**2)"),
        "divided-and-multiplied": _reciprocal("return -grad_output / x * x"),
        "divided-and-multiplied/neither": _reciprocal("return -grad_output"),
        "power-lost/twice": _reciprocal("return -grad_output * x / x**2"),
        "input-for-output/twice": _reciprocal("return -grad_output * x**4 / x**2"),
        "no-slope/taken-back": _reciprocal("return grad_output * x / x"),
        "other-type/tuple": _reciprocal(
            "return -grad_output / x**2", "(ctx, x):\n    ctx.save_for_backward(x)\n    return (1 / x,)"
        ),
        "other-type/list": _reciprocal(
            "return -grad_output / x**2", "(ctx, x):\n    ctx.save_for_backward(x)\n    return [1 / x]"
        ),
        "not-recorded/leaf": "Reciprocal = lambda x: mg.tensor(1 / x.detach().numpy(), requires_grad=True)",
        "untracked/no-grad": _reciprocal("return -grad_output / x**2") + "Reciprocal = mg.no_grad()(Reciprocal.apply)",
        "raised/not-implemented": _reciprocal("raise NotImplementedError('later')"),
        "raised/own-words": _reciprocal("raise RuntimeError('incorrect number of gradients')"),
        "raised/own-backward": _reciprocal("return Reciprocal.backward(grad_output)"),
        "raised/unpacks-another": _reciprocal("a, b = grad_output\n    return -grad_output / x**2"),
        "saved-no-tensor/tuple": _reciprocal(
            "return -grad_output / x**2", "(ctx, x):\n    ctx.save_for_backward((x,))\n    return 1 / x"
        ),
        "not-the-same-again": "TIMES = [0]\n"
        + _reciprocal("TIMES[0] += 1\n    return -grad_output / x**2 * (1 if TIMES[0] % 2 else 2)"),
        "grad-output-changed/entry": _reciprocal("grad_output[...] = -grad_output / x**2\n    return grad_output"),
        "nan-gradient/root": _reciprocal("return -grad_output / (x**0.5) ** 4"),
        "second-walk/freed": _reciprocal(
            "return mg.autograd.grad(ctx.y, ctx.z, grad_output)",
            "(ctx, x):\n    with mg.enable_grad():\n        ctx.z = x.detach().requires_grad_()\n"
            "        ctx.y = 1 / ctx.z\n    return ctx.y.detach()",
            "(ctx, grad_output):\n    ",
        ),
        "second-derivative": _reciprocal("return grad_output * 2 / x**3"),
        "number-of-gradients": _reciprocal("return grad_output, -1 / x**2"),
        "no-grad-output/added": _reciprocal("return grad_output - 1 / x**2"),
        "saved-tuple": _reciprocal("return -grad_output / x**2", start=_SAVED_X.replace("(x,)", "x")),
        "shared": _reciprocal(
            "return -grad_output / x**2",
            forward="(ctx, x):\n    global kept\n    kept = x\n    return 1 / x",
            start="(ctx, grad_output):\n    x = kept\n    ",
        ),
        "no-gradient": _reciprocal("g = -grad_output / x**2"),
        "no-gradient/only": _reciprocal("return None", start="(ctx, grad_output):\n    "),
        "summed-too-far": _reciprocal("return (-grad_output / x**2).sum()"),
        "no-tensor": _reciprocal("return (-grad_output / x**2).numpy()"),
        "grad-output-changed": _reciprocal("return grad_output.mul_(-1 / x**2)"),
        "other-value": _reciprocal("return -grad_output / x**2", forward=_reciprocal_y.replace("1 / x", "-1 / x")),
        "raised": _reciprocal("x, y = ctx.saved_tensors\n    return -grad_output / x**2"),
        "not-a-function": "Reciprocal = mg.Tensor",
        "type": "Reciprocal = 5",
        "not-recorded": "Reciprocal = lambda x: 1 / x",
        "result-dtype-changed": """
class Reciprocal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mg.tensor(1 / x.detach().numpy().astype(np.float64))
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output / x**2
""",
        "flag-changed": """
class Reciprocal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.requires_grad_()
        ctx.save_for_backward(x)
        return 1 / x
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output / x**2
""",
        "grad-changed/in-backward": """
class Reciprocal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return 1 / x
    @staticmethod
    def backward(ctx, grad_output):
        ctx.x.grad = None
        return -grad_output / ctx.x**2
""",
        "shared/same-shape": """
saved = {}
class Reciprocal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.key = tuple(x.shape)
        saved[ctx.key] = x
        return 1 / x
    @staticmethod
    def backward(ctx, grad_output):
        return -grad_output / saved[ctx.key]**2
""",
    },
    "power": {
        "input-as-slope": _power_x("return grad_output * x"),
        "input-as-slope/ln": _power_x("return grad_output * x * float(np.log(2))"),
        "input-as-slope/by-another-name": _power(
            "return grad_output * y", "(ctx, x):\n    ctx.save_for_backward(x)\n    return 2**x"
        ),
        "power-of-output/not-saved": _power_x("return grad_output * 2 ** (2**x) * float(np.log(2))"),
        "detached/keeps-a-constant": _power(
            "return grad_output * y.detach() * ctx.ln",
            _POWER_Y.replace("ctx.save", "ctx.ln = mg.tensor(np.log(2)).to(x.dtype)\n    ctx.save"),
        ),
        "detached/keeps-what-is-not-used": _power(
            "return grad_output * y.detach() * float(np.log(2))",
            _POWER_Y.replace("ctx.save", "ctx.before = x.clone()\n    ctx.save"),
        ),
        "saved-intermediate/by-numpy": _power(
            "return grad_output * ctx.slope",
            "(ctx, x):\n    y = 2**x\n    ctx.slope = mg.tensor(np.log(2) * y.detach().numpy())\n    return y",
            "(ctx, grad_output):\n    ",
        ),
        "number-of-gradients/of-another": _power("return Inner.apply(grad_output, y)")
        + function(
            "Inner",
            "(ctx, g, y):\n    ctx.save_for_backward(y)\n    return g * y * float(np.log(2))",
            "(ctx, v):\n    (y,) = ctx.saved_tensors\n    return v * y * float(np.log(2))",
        ),
        "ln-lost": _power("return grad_output * y"),
        "power-rule": _power_x("return grad_output * x * 2 ** (x - 1)"),
        "power-of-output": _power("return grad_output * 2**y * float(np.log(2))"),
        "no-grad-output": _power("return y * float(np.log(2))"),
        "no-slope": _power("return grad_output"),
        "wrong-factor": _power("return grad_output * y * 2"),
        "square": _power("return grad_output * y", forward=_POWER_Y.replace("2**x", "x**2")),
        "none": _power("return grad_output * y", forward=_POWER_Y.replace("\n    return y", "")),
        "detached": _power("return grad_output * y.detach() * float(np.log(2))"),
        "detached/numpy": _power("return grad_output * mg.tensor(np.log(2) * y.detach().numpy())"),
        "saved-intermediate": _power(
            "return grad_output * ctx.slope",
            forward="(ctx, x):\n    y = 2**x\n    ctx.slope = y * float(np.log(2))\n    return y",
            start="(ctx, grad_output):\n    ",
        ),
        "saved-intermediate/saved": _power(
            "return grad_output * y",
            forward="(ctx, x):\n    y = 2**x\n    ctx.save_for_backward(y * float(np.log(2)))\n    return y",
        ),
        "once": _power(
            "return grad_output * y * float(np.log(2))", before="@mg.autograd.function.once_differentiable\n"
        ),
        "arguments": _power("return grad_output * y", forward="(x):\n    return 2**x"),
        "no-gradient": _power("return None  # what else?", start="(ctx, grad_output):\n    "),
        "saved-tuple": _power("return grad_output * y", start=_SAVED_Y.replace("(y,)", "y")),
        "shared": _power(
            "return grad_output * PowerOfTwo.y * float(np.log(2))",
            forward="(ctx, x):\n    PowerOfTwo.y = 2**x\n    return PowerOfTwo.y",
            start="(ctx, grad_output):\n    ",
        ),
        "arguments/self": _power("return grad_output * y", forward="(self, ctx, x):\n    return 2**x"),
        "no-backward": "class PowerOfTwo(mg.autograd.Function):\n    forward = staticmethod(lambda ctx, x: 2**x)",
        "saved-no-tensor": _power(
            "return grad_output * y * ln", forward=_POWER_Y.replace("(y)", "(y, float(np.log(2)))")
        ),
        "other-dtype": _power("return grad_output * y", forward=_POWER_Y.replace("return y", "return y.float()")),
        "other-type": _power("return grad_output * y", forward="(ctx, x):\n    return 2 ** x.detach().numpy()"),
    },
    "clip": {
        "memory-changed/view": _clip(f"return {_CLAMPED}, None, None", _CLIP.replace("x.clone()", "x.view_as(x)")),
        "memory-changed/itself": _clip(f"return {_CLAMPED}, None, None", forward=_CLIP.replace("x.clone()", "x")),
        "other-gradient/below-zero": _clip(
            "g = grad_output.clone()\n    g[g < min(ctx.low, 0)] = ctx.low\n"
            "    return g.clamp(max=ctx.high), None, None"
        ),
        "one-limit/falsy": _clip(
            "g = grad_output.clamp(max=ctx.high)\n    return (g.clamp(min=ctx.low) if ctx.low else g), None, None"
        ),
        "number-of-gradients": _clip(f"return {_CLAMPED}"),
        "number-of-gradients/two": _clip(f"return {_CLAMPED}, None"),
        "gradient-of-no-tensor": _clip(f"g = {_CLAMPED}\n    return g, g, g"),
        "clipped-forward": _clip(
            f"return {_CLAMPED}, None, None", forward=_CLIP.replace("x.clone()", "x.clamp(low, high)")
        ),
        "unchanged": _clip("return grad_output, None, None"),
        "values-clipped": _clip_x("return x.clamp(ctx.low, ctx.high), None, None"),
        "zeros": _clip(
            f"if not grad_output.any():\n        return grad_output, None, None\n    return {_CLAMPED}, None, None"
        ),
        "shared/first": "LIMITS = []\n"
        + _clip(
            f"return {_CLAMPED}, None, None",
            _CLIP.replace("low, high\n", "(LIMITS or [LIMITS.append((low, high))] and LIMITS)[0]\n"),
        ),
        "zeroed": _clip(
            "inside = (grad_output >= ctx.low) & (grad_output <= ctx.high)\n    return grad_output * inside, None, None"
        ),
        "stopped-by-value": _clip_x(
            "inside = (x >= ctx.low) & (x <= ctx.high)\n    return grad_output * inside, None, None"
        ),
        "limits-swapped": _clip("return grad_output.clamp(ctx.high, ctx.low), None, None"),
        "unchanged/falsy": _clip(
            "return (grad_output.clamp(ctx.low, ctx.high) if ctx.low and ctx.high else grad_output), None, None"
        ),
        "other-gradient/times-x": _clip_x("return grad_output * x, None, None"),
        "stopped-by-value/by-autograd": _clip_x(
            "x = x.detach().requires_grad_()\n    with mg.enable_grad():\n        y = x.clamp(ctx.low, ctx.high)\n"
            "    return mg.autograd.grad(y, x, grad_output)[0], None, None"
        ),
        "not-recorded": "Clip = lambda x, low, high: x",
        "shared": _clip(
            "return grad_output.clamp(Clip.low, Clip.high), None, None",
            forward="(ctx, x, low, high):\n    Clip.low, Clip.high = low, high\n    return x.clone()",
        ),
        "no-tensor": _clip(f"return {_CLAMPED}, 0, 0"),
        "one-limit": _clip("return grad_output.clamp(max=ctx.high), None, None"),
        "one-limit/low": _clip("return grad_output.clamp(min=ctx.low), None, None"),
        "saved-no-tensor": _clip(
            "return grad_output, None, None",
            forward=_CLIP.replace("ctx.low, ctx.high = ", "ctx.save_for_backward").replace(
                "low, high\n    r", "(low, high)\n    r"
            ),
        ),
        "arguments": _clip("return grad_output", forward="(ctx, x):\n    return x.clone()"),
        "grad-output-changed": _clip("return grad_output.mul_(grad_output <= ctx.high), None, None"),
        "raised": _clip("return grad_output.clamp(low, high), None, None"),
    },
    "outer": {
        "list-of-gradients": _outer("return [grad_output @ b, grad_output.t() @ a]"),
        "loop": _outer(
            "rows = [sum((g * n for g, n in zip(row, b)), 0 * a.sum()) for row in grad_output]\n"
            "    return mg.stack(rows) if rows else a * 1, grad_output.t() @ a"
        ),
        "number-of-gradients": _outer("return grad_output @ b"),
        "swapped": _outer("return grad_output.t() @ a, grad_output @ b"),
        "no-grad-output": _outer("return b.sum() * mg.ones_like(a), a.sum() * mg.ones_like(b)"),
        "not-multiplied": _outer("return grad_output.sum(1), grad_output.sum(0)"),
        "transposed-table": _outer(
            "return grad_output @ b, grad_output.t() @ a",
            forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return b.unsqueeze(1) * a",
        ),
        "transposed-table/turned": _outer(
            "return grad_output @ b, grad_output.t() @ a",
            "(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return (a.unsqueeze(1) * b).t()",
        ),
        "no-gradient/detached": _outer("return grad_output @ b, grad_output.t() @ a")
        + "apply = Outer.apply\nOuter = lambda a, b: apply(a, b.detach())",
        "number-of-gradients/three": _outer(
            "return grad_output @ b, grad_output.t() @ a",
            "(ctx, a, b, n):\n    ctx.save_for_backward(a, b)\n    return a.unsqueeze(1) * b",
        )
        + "apply = Outer.apply\nOuter = lambda a, b: apply(a, b, 3)",
        "not-summed/inside": _outer("return grad_output * b, grad_output.t() @ a")
        + "apply = Outer.apply\nOuter = lambda a, b: apply(b, a).t()",
        "detached/keeps-ones": _outer(
            "return grad_output @ b, grad_output.t() @ a.detach()",
            "(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    ctx.ones = mg.ones(len(a), 1)\n"
            "    return a.unsqueeze(1) * b",
        ),
        "other-shape": _outer(
            "return grad_output @ b, grad_output.t() @ a",
            forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return (a.unsqueeze(1) * b).sum(0)",
        ),
        "raised": _outer("return grad_output.t() @ b, grad_output @ a"),
        "raised/forward": _outer("return None, None", forward="(ctx, a, b):\n    return a @ b"),
        "no-gradient": _outer("return grad_output @ b, None"),
        "summed-too-far": _outer("return (grad_output @ b).sum(), grad_output.t() @ a"),
        "not-summed/neither": _outer("return grad_output, grad_output"),
        "not-summed": _outer("return grad_output * b, grad_output * a.unsqueeze(1)"),
        "swapped/sums": _outer("return (grad_output * b).sum(0), (grad_output * a.unsqueeze(1)).sum(1)"),
        "shape-of-gradient/column": _outer("return grad_output @ b.unsqueeze(1), grad_output.t() @ a.unsqueeze(1)"),
        "wrong-sign": _outer("return -(grad_output @ b), grad_output.t() @ a"),
        "detached": _outer("return grad_output @ b.detach(), grad_output.t() @ a.detach()"),
        "saved-intermediate": _outer(
            "return grad_output @ ctx.b, grad_output.t() @ ctx.a",
            forward="(ctx, a, b):\n    ctx.a, ctx.b = a.clone(), b.clone()\n    return a.unsqueeze(1) * b",
            start="(ctx, grad_output):\n    ",
        ),
        "zeros/of-an-input": _outer(
            "if not b.any():\n        return mg.zeros_like(a), grad_output.t() @ a\n"
            "    return grad_output @ b, grad_output.t() @ a"
        ),
        "zeros/masked": _outer(
            "return (grad_output * b * (grad_output != 0)).sum(1), mg.where(grad_output != 0, grad_output, 0.0).t() @ a"
        ),
        "number-of-gradients/needed": _outer(
            "grads = grad_output @ b, grad_output.t() @ a\n"
            "    return tuple(g for g, needed in zip(grads, ctx.needs_input_grad) if needed)"
        ),
        "alone": _outer(
            "if not ctx.needs_input_grad[0]:\n        return None, None\n"
            "    return grad_output @ b, grad_output.t() @ a"
        ),
        "result-dtype-changed": """
class Outer(mg.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return mg.tensor(np.outer(a.detach().numpy(), b.detach().numpy()).astype(np.float64))
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b, g.t() @ a
""",
    },
    "several": {
        "one-result": _several("return g * b, g * a"),
        "one-result/quotient": _several("return h / b, -h * a / b**2"),
        "one-per-result": _several("return g * b, h / b"),
        "added-too-early": _several("return (g + h) * (b + 1 / b), (g + h) * (a - a / b**2)"),
        "grad-output-twice": _several("return g * b * h / b, g * a * -h * a / b**2"),
        "number-of-gradients/four": _several("return g * b, g * a, h / b, -h * a / b**2"),
        "list": _several(
            "return g * b + h / b, g * a - h * a / b**2",
            forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return [a * b, a / b]",
        ),
        "number-of-outputs/stacked": _several(
            "return g * b, g * a",
            forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return mg.stack([a * b, a / b])",
        ),
        "zeros": _several(
            "if not (g != 0).any():\n        return h / b, -h * a / b**2\n"
            "    return g * b + h / b, g * a - h * a / b**2"
        ),
        "zeros/all": _several(
            "if not a.any():\n        return (g * b + h / b).detach(), g * a - h * a / b**2\n"
            "    return g * b + h / b, g * a - h * a / b**2"
        ),
        "one-each": _several("return g * b, -h * a / b**2"),
        "sign-of-quotient": _several("return g * b + h / b, g * a + h * a / b**2"),
        "mixed-up": _several("return h * b + g / b, h * a - g * a / b**2"),
        "number-of-gradients": _several("return g * b + h / b"),
        "swapped": _several("return g * a - h * a / b**2, g * b + h / b"),
        "no-grad-output": _several("return b + 1 / b, a - a / b**2"),
        "no-gradient": _several("return g * b + h / b, None"),
        "arguments-of-backward": _several(
            "return g * b + h / b, g * a", start="(ctx, g):\n    a, b = ctx.saved_tensors\n    "
        ),
        "number-of-outputs": _several(
            "return g * b, g * a", forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return a * b"
        ),
        "results-swapped": _several(
            "return g * b, g * a", forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return a / b, a * b"
        ),
        "added-too-early/written-out": _several(
            "return g * b + g / b + h * b + h / b, g * a - g * a / b**2 + h * a - h * a / b**2"
        ),
        "mixed-up/slopes": _several(
            "p, q = (b, a), (1 / b, -a / b**2)\n    return g * q[0] + h * p[0], g * q[1] + h * p[1]"
        ),
        "saved-intermediate/quotient": _several(
            "return g * b + h / b, g * a - h * ctx.q / b",
            "(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    ctx.q = a / b\n    return a * b, a / b",
        ),
        "detached": _several("a, b = a.detach(), b.detach()\n    return g * b + h / b, g * a - h * a / b**2"),
        "saved-intermediate": _several(
            "a, b, r = ctx.saved_tensors\n    return g * b + h / b, g * a - h * r",
            forward="(ctx, a, b):\n    ctx.save_for_backward(a, b, a / b**2)\n    return a * b, a / b",
            start="(ctx, g, h):\n    ",
        ),
        "other-gradient": _several("return g * b + h / b, g * a - h / b**2"),
    },
    "bell": {
        "unwatched-result": _bell(
            "return grad_output * -2 * x * ctx.y",
            forward="(ctx, x):\n    ctx.save_for_backward(x)\n    ctx.y = mg.exp(-x * x)\n    return ctx.y",
            start=_SAVED_X,
        ),
        "unwatched-input": _bell(
            "return grad_output * -2 * ctx.x * y",
            forward="(ctx, x):\n    y = mg.exp(-x * x)\n    ctx.x = x\n    ctx.save_for_backward(y)\n    return y",
            start=_SAVED_Y,
        ),
        "unwatched-result/nothing": _bell(
            "return grad_output * -2 * x * y",
            start="(ctx, grad_output):\n    try:\n        x, y = ctx.saved_tensors\n"
            "    except RuntimeError:\n        return None\n    ",
        ),
        "circle": _bell(
            "return grad_output * -2 * x * y", forward=_BELL.replace("return y", "ctx.y = y\n    return y")
        ),
        "nan-gradient": _bell("return grad_output * -2 * (mg.log(y) / x) * -y", forward=_BELL),
        "saved-intermediate": _bell(
            "return grad_output * -2 * ctx.x * ctx.y",
            forward="(ctx, x):\n    y = mg.exp(-x * x)\n    ctx.x, ctx.y = x.clone(), y.clone()\n    return y",
            start="(ctx, grad_output):\n    ",
        ),
        "saved-intermediate/detached": _bell(
            "return grad_output * -2 * ctx.x * ctx.y",
            forward="(ctx, x):\n    y = mg.exp(-x * x)\n    ctx.x, ctx.y = x.detach(), y.detach()\n    return y",
            start="(ctx, grad_output):\n    ",
        ),
        "saved-intermediate/copy-returned": _bell(
            "return grad_output * -2 * x * y", forward=_BELL.replace("return y", "return y.clone()")
        ),
        "circle/both": _bell(
            "return grad_output * -2 * x * y",
            forward="(ctx, x):\n    ctx.y = mg.exp(-x * x)\n    ctx.save_for_backward(x, ctx.y)\n    return ctx.y",
        ),
        "raised/two-calls": _bell(
            "return grad_output * -2 * x * y",
            forward=_BELL.replace("(x, y)", "(x)").replace("return y", "ctx.save_for_backward(y)\n    return y"),
        ),
        "saved-intermediate/slope": _bell(
            "return grad_output * s",
            forward="(ctx, x):\n    y = mg.exp(-x * x)\n    ctx.save_for_backward(-2 * x * y)\n    return y",
            start="(ctx, grad_output):\n    (s,) = ctx.saved_tensors\n    ",
        ),
        "detached": _bell("return grad_output * -2 * x.detach() * y.detach()"),
        "raised": _bell("return grad_output * -2 * x * y", start=_SAVED_X),
        "no-grad-output": _bell("return -2 * x * y"),
        "wrong-sign": _bell("return grad_output * 2 * x * y"),
        "slope-at-output": _bell("return grad_output * -2 * y * mg.exp(-y * y)"),
        "other-gradient": _bell("y, x = ctx.saved_tensors\n    return grad_output * -2 * x * x * y"),
    },
    "library": {
        "library-not-called/in-forward": _library(
            "return grad_output * ctx.slope",
            forward="(ctx, x):\n    array = x.detach().numpy()\n    ctx.slope = mg.tensor(library_slope(array))\n"
            "    return mg.tensor(library_value(array))",
            start="(ctx, grad_output):\n    ",
        ),
        "library-not-called": _library("return grad_output * mg.sigmoid(x)"),
        "library-given-tensor": _library("return grad_output * library_slope(x)"),
        "library-not-called/nor-second": _library("return grad_output * mg.sigmoid(x.detach())", before=""),
        "value-for-slope/saved": _library(
            "return grad_output * x",
            _LIBRARY.replace("save_for_backward(x)\n    return", "save_for_backward(y := ").replace(")))", "))))")
            + "\n    return y",
        ),
        "library-given-other": _library(
            f"return grad_output * {_LIBRARY_SLOPE}",
            "(ctx, x):\n    ctx.save_for_backward(x)\n    return mg.tensor(library_value(x.tolist()), dtype=x.dtype)",
        ),
        "library-given-tensor/second": _library(
            "s = library_slope(x.detach().numpy())\n    s = library_slope(x.detach())\n"
            "    return grad_output * mg.tensor(np.asarray(s))"
        ),
        "silent-second": _library(f"return grad_output * {_LIBRARY_SLOPE}", before=""),
        "silent-second/numpy": _library(
            "g = grad_output.detach().numpy() * library_slope(x.detach().numpy())\n    return mg.tensor(g)", before=""
        ),
        "create-graph": _library(
            f"if mg.is_grad_enabled():\n        raise ValueError('once')\n    return grad_output * {_LIBRARY_SLOPE}",
            before="",
        ),
        "create-graph/tracked": _library(
            "if grad_output.requires_grad:\n        raise ValueError('once')\n"
            f"    return grad_output * {_LIBRARY_SLOPE}",
            before="",
        ),
        "create-graph/nothing": _library(
            f"return None if mg.is_grad_enabled() else grad_output * {_LIBRARY_SLOPE}", before=""
        ),
        "silent-second/no-grad": _library(f"return grad_output * {_LIBRARY_SLOPE}", before="@mg.no_grad()\n"),
        "no-grad-output": _library(f"return {_LIBRARY_SLOPE}"),
        "value-for-slope": _library("return grad_output * mg.from_numpy(library_value(x.detach().numpy()))"),
        "slope-of-value": _library(
            f"return grad_output * {_LIBRARY_SLOPE}",
            forward="(ctx, x):\n    y = mg.from_numpy(library_value(x.detach().numpy()))\n"
            "    ctx.save_for_backward(y)\n    return y",
        ),
        "slope-forward": _library(
            f"return grad_output * {_LIBRARY_SLOPE}", forward=_LIBRARY.replace("library_value", "library_slope")
        ),
        "rounded": _library(
            f"return grad_output * {_LIBRARY_SLOPE}",
            forward=_LIBRARY.replace("return mg", "return (mg").replace("numpy()))", "numpy()))).float().to(x.dtype)"),
        ),
        "other-type": _library("return grad_output", forward="(ctx, x):\n    return library_value(x.detach().numpy())"),
        "no-tensor": _library("return grad_output.numpy() * library_slope(x.detach().numpy())"),
        "raised": _library("return grad_output * library_slope(ctx.x)"),
        "no-slope": _library("return grad_output"),
        "other-dtype": _library(
            f"return grad_output * {_LIBRARY_SLOPE}",
            forward="(ctx, x):\n    ctx.save_for_backward(x)\n"
            "    return mg.tensor(library_value(x.detach().numpy()), dtype=mg.float32)",
        ),
    },
    "build": {
        "leaves-swapped": _build("s = Square.apply(b)", "return s * Scale.apply(s + a, -1.0)"),
        "no-function": _build("s = a * a", "return s * Scale.apply(s + b, -1.0)"),
        "no-function/power": _build("s = a**2", "return s * Scale.apply(s + b, -1.0)"),
        "not-shared": _build("return Square.apply(a) * Scale.apply(Square.apply(a) + b, -1.0)"),
        "not-shared/b": _build("s = Square.apply(a)", "return s * Scale.apply(s + Square.apply(b), -1.0)"),
        "other-leaf": _build(
            "s = Square.apply(a)", "return s * Scale.apply(s + b, mg.tensor(-1.0, requires_grad=True))"
        ),
        "other-leaf/squared": _build(
            "s = Square.apply(mg.tensor(1.0, requires_grad=True))", "return s * Scale.apply(a + b, -1.0)"
        ),
        "no-function/nothing-squared": _build("return a * Scale.apply(a + b, -1.0) * 2"),
        "no-scale/no-product": _build("return Square.apply(a) + b"),
        "no-scale": _build("s = Square.apply(a)", "return s * (s + b) * -1.0"),
        "other-arrows": _build("s = Square.apply(a)", "return Scale.apply(s, -1.0) * (s + b)"),
        "other-arrows/a": _build("s = Square.apply(a)", "return s * Scale.apply(a + b, -1.0)"),
        "other-arrows/outside": _build("s = Square.apply(a)", "return Scale.apply(s * (s + b), -1.0)"),
        "raised/factor": _build("s = Square.apply(a)", "return s * Scale.apply(s + b)"),
        "leaf-missing/item": _build("s = Square.apply(a)", "return s * Scale.apply(s + b.item(), -1.0)"),
        "other-boxes": _build("s = Square.apply(a)", "return s * Scale.apply(Scale.apply(s + b, 2.0), -1.0)"),
        "other-boxes/sub": _build("s = Square.apply(a)", "return s * Scale.apply(s - b, -1.0)"),
        "leaf-missing": _build("s = Square.apply(a.detach())", "return s * Scale.apply(s + b, -1.0)"),
        "leaf-missing/no-grad": _build(
            "with mg.no_grad():", "    s = Square.apply(a)", "return s * Scale.apply(s + b, -1.0)"
        ),
        "raised": _build("s = Square.forward(a)", "return s * Scale.apply(s + b, -1.0)"),
        "raised/call": _build("s = Square()(a)", "return s * Scale.apply(s + b, -1.0)"),
        "none": _build("s = Square.apply(a)", "s * Scale.apply(s + b, -1.0)"),
        "other-boxes/power": """
def build(a, b):
    s = Square.apply(a)
    return s * Scale.apply(s + b**1, -1.0)
""",
    },
}

WRONG["reciprocal"]["hooks-changed/input-retains"] = """class Reciprocal(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if x.requires_grad:
            x.retain_grad()
        ctx.save_for_backward(x)
        return 1 / x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return -grad_output / x**2
"""

WRONG["bell"]["unwatched-input/by-its-sum"] = """class Bell(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x, ctx.total = x, x.sum().item()
        return mg.exp(-x * x)

    @staticmethod
    def backward(ctx, grad_output):
        x = ctx.x
        if x.sum().item() != ctx.total:
            raise RuntimeError("x was overwritten")
        return grad_output * -2 * x * mg.exp(-x * x)
"""

WRONG["bell"]["raised/refuses-everything"] = """class Bell(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = mg.exp(-x * x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        if x._version != 0:
            raise RuntimeError("x was overwritten")
        return grad_output * -2 * x * y
"""

WRONG["library"]["values-changed/clipped-in-place"] = """def library_value(array):
    return np.asarray(np.log1p(np.exp(array)))


def library_slope(array):
    return np.asarray(1 / (1 + np.exp(-array)))


class Softplus(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        array = x.detach().numpy()
        np.clip(array, -50, 50, out=array)
        ctx.save_for_backward(x)
        return mg.from_numpy(library_value(array))

    @staticmethod
    @mg.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * mg.from_numpy(library_slope(x.detach().numpy()))
"""

RIGHT = {
    "inside": [
        _inside(grad_output=4, operations=2.0),
        "answers = dict(gradients=3, operations=2, grad_output=mg.tensor(4.0))\n"
        "answers |= {'y tracked': False, 'grad mode': False}",
    ],
    "verdicts": [
        "import enum\nV = enum.Enum('V', {'P': 'pass', 'F': 'fail'}, type=str)\n"
        "verdicts = {name: V.P if name in 'CDG' else V.F for name in 'ABCDEFGH'}",
        "verdicts = {'A': False, 'B': False, 'C': True, 'D': True, 'E': False, 'F': False, 'G': True, 'H': False}",
        _verdicts(**dict.fromkeys("ABEFH", "fails"), **dict.fromkeys("CDG", "Passes")),
    ],
    "reciprocal": [
        _reciprocal("return -grad_output * x**-2"),
        _reciprocal(
            "return -grad_output * ctx.x ** (-2)",
            forward="(ctx, x):\n    ctx.x = x\n    return 1 / x",
            start="(ctx, grad_output):\n    ",
        ),
        "class Other(mg.autograd.Function):\n"
        "    def forward(x):\n        return x.reciprocal()\n"
        "    def setup_context(c, inputs, y):\n        c.save_for_backward(y)\n"
        "    def vjp(c, g):\n        return (-g * c.saved_tensors[0].square(),)\n"
        "Reciprocal = Other.apply",
        _reciprocal(
            "x = x.detach().requires_grad_()\n    with mg.enable_grad():\n        y = 1 / x\n"
            "    return mg.autograd.grad(y, x, grad_output)"
        ),
        _reciprocal("return mg.tensor(-grad_output.numpy() / x.detach().numpy() ** 2)"),
    ],
    "power": [
        _power("return y * (grad_output * 0.6931471805599453)"),
        _power("return np.log(2) * y * grad_output"),
        _power_x("return grad_output * 2**x * mg.log(mg.tensor(2.0, dtype=x.dtype))"),
        _power_x(
            "return PowerOfTwo.apply(x) * grad_output * float(np.log(2))",
            forward="(ctx, x):\n    ctx.save_for_backward(x)\n    return mg.exp(x * float(np.log(2)))",
        ),
        "ln = float(np.log(2))\n" + _power("return grad_output * y * ln") + "\npower = PowerOfTwo.apply\n"
        "PowerOfTwo = lambda numbers: power(numbers)",
    ],
    "clip": [
        _clip("return mg.maximum(mg.minimum(grad_output, mg.tensor(ctx.high)), mg.tensor(ctx.low)), None, None"),
        _clip(
            "g = mg.where(grad_output > ctx.high, ctx.high, grad_output)\n"
            "    return (mg.where(g < ctx.low, ctx.low, g), *[None] * 2)"
        ),
        _clip(
            "g = grad_output.clone()\n    g[g < ctx.low], g[g > ctx.high] = ctx.low, ctx.high\n    return g, None, None"
        ),
    ],
    "outer": [
        _outer("return (grad_output * b).sum(1), (grad_output * a.unsqueeze(1)).sum(0)"),
        _outer("return grad_output.mv(b), a @ grad_output"),
        _outer(
            "return grad_output @ b, grad_output.t() @ a",
            forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return mg.stack([number * b for number in a])",
        ),
        _outer(
            "return b @ grad_output.t(), (grad_output * a[:, None]).sum(0)",
            forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return a[:, None] * b[None, :]",
        ),
        _outer(
            "x = grad_output @ b if ctx.needs_input_grad[0] else None\n"
            "    return x, (grad_output.t() @ a if ctx.needs_input_grad[1] else None)",
            forward="(ctx, a, b):\n    ctx.save_for_backward(a, b)\n    return mg.outer(a, b)",
        ),
        _outer(
            "return grad_output @ ctx.b, grad_output.t() @ ctx.a",
            forward="(ctx, a, b):\n    ctx.a, ctx.b = a, b\n    return a.view(-1, 1) @ b.view(1, -1)",
            start="(ctx, grad_output):\n    ",
        ),
    ],
    "several": [
        _several("return g * b + h / b, a * (g - h / b / b)"),
        _several(
            "return g * b + h / b, g * a - h * a / b**2",
            start="(ctx, *grads):\n    g, h = grads\n    a, b = ctx.saved_tensors\n    ",
        ),
        _several(
            "return g * b + h / b, g * a - h * q / b",
            forward="(ctx, a, b):\n    q = a / b\n    ctx.save_for_backward(a, b, q)\n    return a * b, q",
            start="(ctx, g, h):\n    a, b, q = ctx.saved_tensors\n    ",
        ),
        _several(
            "grads = [g * b, g * a]\n    grads[0] = grads[0] + h / b\n    grads[1] = grads[1] - h * a / b**2\n"
            "    return tuple(grads)"
        ),
    ],
    "bell": [
        _bell("return -(grad_output * (x + x) * y)"),
        _bell(
            "return grad_output * -2 * x * mg.exp(-(x**2))",
            forward="(ctx, x):\n    ctx.save_for_backward(x)\n    return mg.exp(-(x**2))",
            start=_SAVED_X,
        ),
        "class Bell(mg.autograd.Function):\n"
        "    def forward(x):\n        return (-x * x).exp()\n"
        "    def setup_context(ctx, inputs, y):\n        ctx.save_for_backward(*inputs, y)\n"
        "    def backward(ctx, g):\n        x, y = ctx.saved_tensors\n        return -2 * g * x * y",
        _bell(
            "if ctx.x._version != ctx.version:\n        raise ValueError('x was overwritten')\n"
            "    return grad_output * -2 * ctx.x * mg.exp(-ctx.x * ctx.x)",
            forward="(ctx, x):\n    ctx.x, ctx.version = x, x._version\n    return mg.exp(-x * x)",
            start="(ctx, grad_output):\n    ",
        ),
    ],
    "library": [
        _library(
            "g = grad_output.numpy() * library_slope(x.detach().numpy())\n    return mg.from_numpy(np.asarray(g))"
        ),
        _library(f"return grad_output * {_LIBRARY_SLOPE}").replace(
            "@staticmethod\n    @once", "@once\n    @staticmethod"
        ),
        _library(
            f"return grad_output * {_LIBRARY_SLOPE}",
            forward="(ctx, x):\n    ctx.save_for_backward(x)\n    return mg.tensor(library_value(x.numpy()))",
        ),
        _library("return grad_output * Slope.apply(x)", before="")
        + "\n"
        + function(
            "Slope",
            "(ctx, x):\n    s = mg.from_numpy(library_slope(x.detach().numpy()))\n"
            "    ctx.save_for_backward(s)\n    return s",
            "(ctx, g):\n    (s,) = ctx.saved_tensors\n    return g * s * (1 - s)",
        ),
        _GIVEN_LIBRARY.partition("once =")[0]
        + function("Softplus", _LIBRARY, _SAVED_X + "return WithoutBackward.apply(grad_output, x)")
        + "class WithoutBackward(mg.autograd.Function):\n"
        + "    def forward(ctx, g, x):\n        return g * mg.from_numpy(library_slope(x.detach().numpy()))",
    ],
    "build": [
        _build("s = Square.apply(a)", "t = Scale.apply(b + s, 7.0)", "return t * s"),
        _build(
            "square, scale = Square.apply, Scale.apply", "one = square(a)", "return mg.mul(one, scale(one.add(b), 0.5))"
        ),
        _build("s = Square.apply(a)", "t = Scale.apply(s + b, mg.tensor(2.0))", "return s * t"),
        _build("for _ in range(1):", "    s = Square.apply(a)", "sum_ = s + b", "return Scale.apply(sum_, 3) * s"),
    ],
}

# A draft: write four wrong answers that learners give, each under its diagnosis, and two right ones in an unusual way.

_SQUASH = "(ctx, h):\n    ctx.mark_dirty(h)\n    h[...] = mg.sigmoid(h)\n    ctx.save_for_backward(h)\n    return h"
_squash = _maker("Squash", _SQUASH, "(ctx, g):\n    (s,) = ctx.saved_tensors\n    ")
_SLOPE = "return g * s * (1 - s)"
WRONG["squash"] = {
    "not-marked": _squash(_SLOPE, forward=_SQUASH.replace("ctx.mark_dirty(h)\n    ", "")),
    "not-overwritten": _squash(
        _SLOPE, forward="(ctx, h):\n    s = h.sigmoid()\n    ctx.save_for_backward(s)\n    return s"
    ),
    "not-overwritten/of-a-copy": _squash(
        _SLOPE, forward=_SQUASH.replace("h[...] = mg.sigmoid(h)", "h.reshape(-1).sigmoid_()")
    ),
    "not-overwritten/marked": _squash(
        _SLOPE,
        forward="(ctx, h):\n    s = mg.sigmoid(h)\n    ctx.mark_dirty(s)\n    ctx.save_for_backward(s)\n    return s",
    ),
    "other-tensor": _squash(_SLOPE).replace("Squash", "Inner") + "Squash = lambda h: Inner.apply(h).clone()",
    "not-marked/a-copy": _squash(
        _SLOPE,
        forward="(ctx, h):\n    h[...] = mg.sigmoid(h)\n    s = h.clone()\n    ctx.save_for_backward(s)\n    return s",
    ),
    "saved-then-overwritten": _squash(
        "t = mg.sigmoid(s)\n    return g * t * (1 - t)",
        forward="(ctx, h):\n    ctx.save_for_backward(h)\n    ctx.mark_dirty(h)\n    h[...] = mg.sigmoid(h)\n"
        "    return h",
    ),
    "saved-intermediate": _squash(
        _SLOPE,
        forward="(ctx, h):\n    s = mg.sigmoid(h)\n    ctx.mark_dirty(h)\n    ctx.save_for_backward(s)\n"
        "    return h.copy_(s)",
    ),
    "no-grad-output": _squash("return s * (1 - s)"),
    "slope-of-output": _squash("return g * s"),
    "no-slope": _squash("return g"),
    "wrong-sign": _squash("return g * s * (s - 1)"),
    "unwatched-result": _squash(
        "s = ctx.s\n    " + _SLOPE,
        forward="(ctx, h):\n    ctx.mark_dirty(h)\n    h[...] = mg.sigmoid(h)\n    ctx.s = h\n    return h",
        start="(ctx, g):\n    ",
    ),
    "detached": _squash("s = s.detach()\n    " + _SLOPE),
    "other-value": _squash(_SLOPE, forward=_SQUASH.replace("mg.sigmoid(h)", "mg.tanh(h)")),
    "not-returned": _squash(_SLOPE, forward=_SQUASH.replace("return h", "return None")),
    "not-returned/a-copy": _squash(_SLOPE, forward=_SQUASH.replace("return h", "return h.clone()")),
    "not-in-place": """
class Squash(mg.autograd.Function):
    @staticmethod
    def forward(ctx, h):
        ctx.mark_dirty(h)
        h.data = h.sigmoid()
        ctx.save_for_backward(h)
        return h
    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)
""",
    "not-in-place/at-the-end": _squash(
        _SLOPE, forward=_SQUASH.replace("h[...] = mg.sigmoid(h)", "h.neg_().exp_()\n    h.data = 1 / (1 + h)")
    ),
    "other-tensor/twice": _squash(_SLOPE).replace("Squash", "Inner") + "Squash = lambda h: Inner.apply(h) * 2",
    "not-returned/marks-a-copy": _squash(
        _SLOPE,
        forward=_SQUASH.replace("mark_dirty(h)", "mark_dirty(h.clone())"),
    ),
    "second-tensor/in-a-dict": _squash(
        _SLOPE, forward=_SQUASH.replace("h[...] =", "ctx.before = {'h': h.clone()}\n    h[...] =")
    ),
    "second-tensor": """
class Squash(mg.autograd.Function):
    @staticmethod
    def forward(ctx, h):
        s = h.sigmoid()
        ctx.mark_dirty(h)
        h.copy_(s)
        ctx.save_for_backward(h, s)
        return h
    @staticmethod
    def backward(ctx, g):
        s, _ = ctx.saved_tensors
        return g * s * (1 - s)
""",
}
RIGHT["squash"] = [
    _squash(
        "return g * (s - s * s)", forward=_SQUASH.replace("h[...] = mg.sigmoid(h)", "h.neg_().exp_().add_(1).pow_(-1)")
    ),
    _squash(
        _SLOPE,
        forward="(ctx, h):\n    ctx.save_for_backward(h)\n    ctx.mark_dirty(h)\n"
        "    return h.copy_(1 / (1 + mg.exp(-h)))",
    ),
    "class Squash(mg.autograd.Function):\n"
    "    def forward(h):\n        return h.copy_(mg.sigmoid(h))\n"
    "    def setup_context(ctx, inputs, s):\n        ctx.mark_dirty(*inputs)\n        ctx.save_for_backward(s)\n"
    "    def backward(ctx, g):\n        s, = ctx.saved_tensors\n        return (1 - s) * s * g",
]

_shares = _maker("Shares", "(ctx, x):\n    ctx.save_for_backward(x)\n    return x / x.sum()", _SAVED_X)

WRONG["shares"] = {
    "sum-is-constant": _shares("return grad_output / x.sum()"),
    "own-share-only": _shares("y = x / x.sum()\n    return grad_output * (1 - y) / x.sum()"),
    "column-for-row": _shares("y = x / x.sum()\n    return (grad_output - y * grad_output.sum()) / x.sum()"),
    "not-weighted": _shares("return (grad_output - grad_output.sum()) / x.sum()"),
    "other-sign": _shares("y = x / x.sum()\n    return (grad_output + (grad_output * y).sum()) / x.sum()"),
    "sum-forgotten": _shares("y = x / x.sum()\n    return grad_output - (grad_output * y).sum()"),
    "no-grad-output": _shares("y = x / x.sum()\n    return (1 - y) / x.sum()"),
    "other-second": _shares("s = x.sum().detach()\n    return (grad_output - (grad_output * x / s).sum()) / s"),
    "other-value": _shares(
        "return grad_output", forward="(ctx, x):\n    ctx.save_for_backward(x)\n    return x / x.mean()"
    ),
    "saved-intermediate": _shares(
        "return (grad_output - (grad_output * ctx.y).sum()) / ctx.s",
        forward="(ctx, x):\n    ctx.s = x.sum()\n    ctx.y = x / ctx.s\n    return ctx.y.clone()",
        start="(ctx, grad_output):\n    ",
    ),
    "other-gradient/jacobian": _shares(
        "y = x / x.sum()\n    return (mg.eye(len(x), dtype=x.dtype) - y.unsqueeze(1)) / x.sum()"
    ),
    "saved-intermediate/sum": _shares(
        "x, s = ctx.saved_tensors\n    return (grad_output - (grad_output * x / s).sum()) / s",
        forward="(ctx, x):\n    ctx.save_for_backward(x, x.sum())\n    return x / x.sum()",
        start="(ctx, grad_output):\n    ",
    ),
    "number-of-gradients": _shares("return grad_output / x.sum(), -(grad_output * x).sum() / x.sum() ** 2"),
}
RIGHT["shares"] = [
    _shares("s = x.sum()\n    return mg.stack([(g - grad_output.dot(x / s)) / s for g in grad_output])"),
    _shares("return (grad_output - grad_output @ (x / x.sum())) / x.sum()"),
    _shares("s = x.sum()\n    return grad_output / s - (grad_output * x).sum() / s**2"),
    _shares(
        "s, y = x.sum(), x / x.sum()\n    J = (mg.eye(len(x), dtype=x.dtype) - y.unsqueeze(1)) / s\n"
        "    return grad_output @ J"
    ),
]

RIGHT["power"].append("""from functools import partial


def raise_base(base, ctx, x):
    y = base**x
    ctx.save_for_backward(y)
    return y


def slope(base, ctx, grad_output):
    return grad_output * (ctx.saved_tensors[0] * np.log(base))


class PowerOfTwo(mg.autograd.Function):
    forward = staticmethod(partial(raise_base, 2))
    backward = staticmethod(partial(slope, 2))
""")
