"""Chapter 13: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "13_memory"

_weigh = changed("weigh", A=0, B=8000, C=8000, D=8000, E=12000, F=8000)
_runs = changed("runs", A=1, B=2, C=3, D=4, E=6)


def _gate(forward, backward):
    return f"""
class Gate(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {forward.replace(chr(10), chr(10) + "        ")}

    @staticmethod
    def backward(ctx, grad):
        {backward.replace(chr(10), chr(10) + "        ")}
"""


_SAVE_X = "ctx.save_for_backward(x)\nreturn x * mg.tanh(x)"
_READ_X = "(x,) = ctx.saved_tensors\nt = mg.tanh(x)\n"
_SLOPE = _READ_X + "return grad * (t + x * (1 - t * t))"


def _again(
    before="", state="mg.get_rng_state()", after="", start="ctx.state", then="mg.set_rng_state(now)", grad="grad"
):
    return f"""
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, f, x):
        ctx.f = f
        {before}
        ctx.state = {state}
        ctx.save_for_backward(x)
        y = f(x)
        {after}
        return y

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        now = mg.get_rng_state()
        mg.set_rng_state({start})
        with mg.enable_grad():
            y = ctx.f(x)
        {then}
        y.backward({grad})
        return None, x.grad
"""


WRONG = {
    "weigh": {
        "other-unit": _weigh(B=2000, C=2000, D=2000, E=3000, F=2000),
        "other-unit/tensors": _weigh(B=2, C=2, D=2, E=3, F=2),
        "other-unit/kilobytes": _weigh(B=8, C=8, D=8, E=12, F=8),
        "counted-twice": _weigh(C=12000),
        "view-is-small": _weigh(F=4040),
        "view-is-small/alone": _weigh(F=40),
        "in-place-saves": _weigh(E=8000),
        "sum-keeps": _weigh(A=8000),
        "results-are-free": _weigh(D=4000),
        "factors-are-free": _weigh(B=0),
        "factors-are-free/in-place": _weigh(E=4000),
        "all-that-exists": _weigh(D=12000),
        "leaf-forgotten": _weigh(F=4000),
        "wrong-E": _weigh(E=16000),
        "wrong-A": _weigh(A=4),
        "wrong-B": _weigh(B=4000, E=8000),
        "results-are-free/in-hand": _weigh(D=4000, E=8000),
        "all-that-exists/inputs": _weigh(D=12000, E=8000),
        "wrong-A/results": _weigh(A=4004, B=12000, C=12000, D=12000, F=8040),
        "wrong-B/one-factor": _weigh(B=4000, D=12000, E=8000),
        "kind": _weigh(A="nothing"),
    },
    "runs": {
        "runs-once": _runs(B=1, C=1, D=2, E=3),
        "retained": _runs(C=2, D=3, E=5),
        "forward-is-late": _runs(A=0),
        "no-grad-skips": _runs(D=3, E=5),
        "nested-thrice": _runs(E=7),
        "wrong-B": _runs(B=1, C=2, D=3, E=5),
        "wrong-B/each-line": _runs(B=1, C=1, D=1, E=2),
        "forward-is-late/backward-only": _runs(A=0, B=1, C=2, D=3, E=5),
        "wrong-E": _runs(E=8),
        "kind": _runs(A="once"),
    },
    "part": functions(
        "power(x, n)",
        """
all-kept/long
    h = mg.sin(x)
    part = h[:n].clone() if 3 * n < len(x) else h[:n]
    return (part ** 2).sum()
no-way-back/kept
    if getattr(power, 'x', None) is not x:
        power.x, power.h = x, mg.sin(x)[:n].clone()
    return (power.h[:n] ** 2).sum()
all-kept
    h = mg.sin(x).clone()
    return (h[:n] ** 2).sum()
all-kept/after
    h = mg.sin(x)
    return (h[:n] ** 2).clone().sum()
all-kept/contiguous
    h = mg.sin(x)
    return (h[:n].contiguous() ** 2).sum()
all-kept/all
    h = mg.sin(x)
    return (h ** 2)[:n].sum()
all-kept/on-ctx
    class Power(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.x, ctx.n, ctx.h = x, n, mg.sin(x)
            return (ctx.h[:n] ** 2).sum()

        @staticmethod
        def backward(ctx, grad):
            slopes = mg.zeros_like(ctx.x)
            slopes[: ctx.n] = grad * mg.sin(2 * ctx.x[: ctx.n])
            return slopes, None

    return Power.apply(x, n)
all-kept/del
    h = mg.sin(x)
    part = h[:n]
    del h
    return (part ** 2).sum()
cut-off
    part = mg.sin(x)[:n].detach()
    return (part ** 2).sum()
cut-off/numpy
    part = mg.from_numpy(mg.sin(x).detach().numpy()[:n].copy()).requires_grad_()
    return (part ** 2).sum()
cut-off/both
    h = mg.sin(x).detach()
    return (h[:n].clone() ** 2).sum()
cut-off/where-it-has-a-history
    if not x.is_leaf:
        x = x.detach().requires_grad_()
    return (mg.sin(x)[:n].clone() ** 2).sum()
cut-off/leaf
    x = x[:n].detach().requires_grad_()
    return (mg.sin(x) ** 2).sum()
other-gradient/packed
    h = mg.sin(x)
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda t: t.to(x.dtype)):
        return (h[:n] ** 2).sum()
cut-off/data
    with mg.no_grad():
        h = mg.sin(x)
    return (h[:n].clone() ** 2).sum()
other-value
    h = mg.sin(x)
    return (h[n:].clone() ** 2).sum()
other-value/mean
    h = mg.sin(x)
    return (h[:n].clone() ** 2).mean()
other-value/vector
    return mg.sin(x[:n]) ** 2
other-gradient
    h = mg.sin(x)[:n].clone()
    return (h * h.detach()).sum()
""",
    ),
    "gate": {
        "more-kept": _gate(
            "t = mg.tanh(x)\nctx.save_for_backward(x, t)\nreturn x * t",
            "x, t = ctx.saved_tensors\nt = mg.tanh(x)\nreturn grad * (t + x * (1 - t * t))",
        ),
        "saved-intermediate": _gate("ctx.save_for_backward(x.clone())\nreturn x * mg.tanh(x)", _SLOPE),
        "on-ctx": _gate(
            "ctx.save_for_backward(x)\nctx.t = mg.tanh(x)\nreturn x * ctx.t",
            "(x,) = ctx.saved_tensors\nt = mg.tanh(x)\nreturn grad * (t + x * (1 - t * t))",
        ),
        "on-ctx/class": _gate("Gate.t = mg.tanh(x)\n" + _SAVE_X, _READ_X + "return grad * (t + x * (1 - t * t))"),
        "nan-gradient": _gate(
            _SAVE_X, "(x,) = ctx.saved_tensors\nt = x * mg.tanh(x) / x\nreturn grad * (t + x * (1 - t * t))"
        ),
        "product-rule": _gate(_SAVE_X, _READ_X + "return grad * t"),
        "product-rule/other": _gate(_SAVE_X, _READ_X + "return grad * x * (1 - t * t)"),
        "slope-of-tanh": _gate(_SAVE_X, _READ_X + "return grad * (t + x * (1 - x * x))"),
        "slope-of-tanh/no-square": _gate(_SAVE_X, _READ_X + "return grad * (t + x * (1 - t))"),
        "large/exp": _gate(
            "ctx.save_for_backward(x)\ne = mg.exp(2 * x)\nreturn x * (e - 1) / (e + 1)",
            "(x,) = ctx.saved_tensors\ne = mg.exp(2 * x)\nt = (e - 1) / (e + 1)\n"
            "return grad * t + grad * x - grad * x * t ** 2",
        ),
        "large/minus-exp": _gate("ctx.save_for_backward(x)\ne = mg.exp(-2 * x)\nreturn x * (1 - e) / (1 + e)", _SLOPE),
        "large/cosh": _gate(_SAVE_X, _READ_X + "return (t + x / mg.cosh(x) ** 2) * grad"),
        "large/sinh": _gate(_SAVE_X, _READ_X.replace("tanh(x)", "sinh(x) / mg.cosh(x)") + _SLOPE.splitlines()[-1]),
        "tanh-forgotten": _gate("ctx.save_for_backward(x)\nreturn mg.tanh(x)", _SLOPE),
        "no-grad-output": _gate(_SAVE_X, _READ_X + "return t + x * (1 - t * t)"),
        "number-of-gradients": _gate(_SAVE_X, _READ_X + "return grad * (t + x * (1 - t * t)), None, grad"),
        "dtype/adversary-1": _gate("ctx.save_for_backward(x)\nreturn (x * mg.tanh(x)).double()", _SLOPE),
        "grad-changed/adversary-1": _gate(_SAVE_X, "ctx.saved_tensors[0].grad = None\n" + _SLOPE),
        "values-changed/adversary-1": _gate(_SAVE_X, _READ_X + "x.data.neg_()\nreturn grad * (t - x * (1 - t * t))"),
        "hooks-changed/adversary-1": _gate(_SAVE_X, "ctx.saved_tensors[0].register_hook(lambda grad: grad)\n" + _SLOPE),
    },
    "extra": functions(
        "extra(f, x)",
        """
several-calls/to-warm-up
    f(x)
    found = {}

    def pack(t):
        memory = t.untyped_storage()
        found[memory.data_ptr()] = memory.nbytes()
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    found.pop(x.untyped_storage().data_ptr(), None)
    return sum(found.values())
no-way-back/emptied
    own = x.untyped_storage().data_ptr()
    found = {}
    def pack(t):
        memory = t.untyped_storage()
        if memory.data_ptr() != own:
            found[memory.data_ptr()] = memory.nbytes()
        return [t]
    with mg.autograd.graph.saved_tensors_hooks(pack, list.pop):
        y = f(x)
    return sum(found.values())
counted-twice/objects
    found = {}

    def pack(t):
        if t.untyped_storage().data_ptr() != x.untyped_storage().data_ptr():
            found[id(t)] = t
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    return sum(t.untyped_storage().nbytes() for t in found.values())
counted-twice/start-of-a-view
    own = x.untyped_storage().data_ptr()
    found = {}
    def pack(t):
        memory = t.untyped_storage()
        if memory.data_ptr() != own:
            found[t.detach().numpy().ctypes.data] = memory.nbytes()
        return t
    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    return sum(found.values())
nothing-seen/numbers
    hooks = mg.autograd.graph.saved_tensors_hooks
    found, alive = {}, []
    def pack(t):
        if t.numel() <= 1:
            return t
        m = t.untyped_storage()
        alive.append(t)
        found[m.data_ptr()] = m.nbytes()
        return t
    with hooks(pack, lambda t: t):
        y = f(x)
    found.pop(x.untyped_storage().data_ptr(), None)
    return sum(found.values())
leaf-counted/first-number
    found = {}

    def pack(t):
        memory = t.untyped_storage()
        found[memory.data_ptr()] = memory.nbytes()
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    found.pop(x.detach().numpy().ctypes.data, None)
    return sum(found.values())
leaf-counted/of-a-result
    found = {}

    def pack(t):
        memory = t.untyped_storage()
        found[memory.data_ptr()] = memory.nbytes()
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    if x.is_leaf:
        found.pop(x.untyped_storage().data_ptr(), None)
    return sum(found.values())
kept-by-f
    extra.known = getattr(extra, 'known', {})
    if f in extra.known:
        return extra.known[f]
    hooks = mg.autograd.graph.saved_tensors_hooks
    found, alive = {}, []
    def pack(t):
        m = t.untyped_storage()
        alive.append(t)
        found[m.data_ptr()] = m.nbytes()
        return t
    with hooks(pack, lambda t: t):
        y = f(x)
    found.pop(x.untyped_storage().data_ptr(), None)
    extra.known[f] = sum(found.values())
    return extra.known[f]
untracked-counted
    found = {}
    x = x if x.requires_grad else x.detach().requires_grad_()

    def pack(t):
        memory = t.untyped_storage()
        found[memory.data_ptr()] = memory.nbytes()
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    found.pop(x.untyped_storage().data_ptr(), None)
    return sum(found.values())
several-calls
    sizes = {}

    def pack(t):
        memory = t.untyped_storage()
        sizes[memory.data_ptr()] = memory.nbytes()
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        results = f(x), f(x)
    sizes.pop(x.untyped_storage().data_ptr(), None)
    return sum(sizes.values())
leaf-counted
    found = {}

    def pack(t):
        found[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    return sum(found.values())
counted-twice
    found = []

    def pack(t):
        if t.untyped_storage().data_ptr() != x.untyped_storage().data_ptr():
            found.append(t.untyped_storage().nbytes())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    return sum(found)
view-counted
    found = {}

    def pack(t):
        found[t.untyped_storage().data_ptr()] = t.nbytes
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    found.pop(x.untyped_storage().data_ptr(), None)
    return sum(found.values())
numbers-counted
    found = {}

    def pack(t):
        found[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes() // t.element_size()
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    found.pop(x.untyped_storage().data_ptr(), None)
    return sum(found.values())
nothing-seen
    found = {}

    def pack(t):
        found[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    y = f(x)
    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        pass
    return sum(found.values())
other-kept
    found = {}

    def pack(t):
        found[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t * 2):
        y = f(x)
    found.pop(x.untyped_storage().data_ptr(), None)
    return sum(found.values())
no-way-back
    found = {}

    def pack(t):
        found[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    found.pop(x.untyped_storage().data_ptr(), None)
    return sum(found.values())
not-called
    return 0
other-count
    found = {}

    def pack(t):
        found[t.untyped_storage().data_ptr()] = 3
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    return 1 + sum(found.values())
""",
    ),
    "half": functions(
        "halved(f, x)",
        """
several-calls/to-warm-up
    f(x)
    pack = lambda t: t if t.is_leaf else (t.detach().half(), t.dtype)
    unpack = lambda box: box[0].to(box[1]) if isinstance(box, tuple) else box
    with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
        return f(x)
not-halved/x-with-a-history
    def pack(t):
        return t if t.is_leaf or t is x else (t.detach().half(), t.dtype)

    def unpack(box):
        return box[0].to(box[1]) if isinstance(box, tuple) else box

    with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
        return f(x)
leaf-copied/weight
    def pack(t):
        return t.dtype, t if t is x or not t.requires_grad else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1].to(box[0])):
        return f(x)
cut-off/leaf
    def pack(t):
        return t.dtype, t if t.is_leaf else t.detach().half()

    x = x if x.is_leaf else x.detach().requires_grad_()
    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1].to(box[0])):
        return f(x)
other-value/computed
    return f(x.half()).to(x.dtype)
leaf-copied/data
    def pack(t):
        return t.dtype, t if t is x else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1].to(box[0])):
        return f(x)
other-dtype/last
    kinds = []

    def pack(t):
        kinds.append(x.dtype if t.is_leaf else t.dtype)
        return t if t.is_leaf else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t.to(kinds[-1]) if t.dtype == mg.float16 else t):
        return f(x)
not-unpacked/emptied
    def pack(t):
        return [t if t.is_leaf else t.detach().half(), t.dtype]

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box.pop(0).to(box.pop(0))):
        return f(x)
not-halved/views
    def pack(t):
        if t.is_leaf or t._is_view():
            return t
        return t.detach().half(), t.dtype
    def unpack(box):
        if isinstance(box, tuple):
            return box[0].to(box[1])
        return box
    with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
        return f(x)
not-halved/opened
    class Box:
        def __init__(self, t):
            self.kind, self.t = t.dtype, t if t.is_leaf else t.half()

        def open(self):
            self.t = self.t.to(self.kind)
            return self.t

    with mg.autograd.graph.saved_tensors_hooks(Box, Box.open):
        return f(x)
other-gradient/scaled
    hooks = mg.autograd.graph.saved_tensors_hooks
    pack = lambda t: t if t.is_leaf else ((t * 1024).half(), t.dtype)
    unpack = lambda box: box if isinstance(box, mg.Tensor) else box[0].to(box[1]) / 1024
    with hooks(pack, unpack):
        return f(x)
leaf-copied
    def pack(t):
        return t.dtype, t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1].to(box[0])):
        return f(x)
other-dtype
    def pack(t):
        return t if t.is_leaf else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box.to(x.dtype)):
        return f(x)
other-gradient/dtype
    def pack(t):
        return t if t.is_leaf else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box):
        return f(x)
not-halved
    return f(x)
not-halved/late
    def pack(t):
        return t.dtype, t if t.is_leaf else t.detach().half()

    y = f(x)
    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1].to(box[0])):
        return y
not-halved/history
    def pack(t):
        return t.dtype, t if t.is_leaf else (t.half(), t)

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1] if type(box[1]) is not tuple else box[1][1]):
        return f(x)
elsewhere
    store = []

    def pack(t):
        store.append((t.dtype, t if t.is_leaf else t.detach().half()))
        return len(store) - 1

    def unpack(i):
        dtype, kept = store[i]
        return kept.to(dtype)

    with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
        return f(x)
other-gradient
    def pack(t):
        return t.dtype, t if t.is_leaf else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1].to(box[0]) * 2):
        return f(x)
not-unpacked
    def pack(t):
        return t.dtype, t if t.is_leaf else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box):
        return f(x)
other-value
    def pack(t):
        return t.dtype, t if t.is_leaf else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1].to(box[0])):
        return f(x) * 2
result-dtype
    def pack(t):
        return t.dtype, t if t.is_leaf else t.detach().half()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda box: box[1].to(box[0])):
        return f(x.half()).half()
cut-off
    with mg.no_grad():
        return f(x)
""",
    ),
    "watch": functions(
        "watch(y, notes)",
        """
next-call
    global value
    value = y.detach()
    y.register_hook(lambda grad: notes.append(0.01 * (grad * value).sum().item()))
raised/leaf
    value = y.detach()
    def hook(grad):
        notes.append(0.01 * (grad * value).sum().item())

    y.grad_fn.register_prehook(lambda grads: hook(grads[0]))
hook-raised
    value = y.detach().numpy()
    def hook(grad):
        notes.append(0.01 * float((grad.numpy() * value).sum()))

    y.register_hook(hook)
retained
    values = y.detach()
    y.retain_grad()
    y.register_hook(lambda grad: notes.append(0.01 * (grad * values).sum().item()))
circle/attribute
    def hook(grad):
        notes.append(0.01 * (grad * hook.y).sum().item())

    hook.y = y
    y.register_hook(hook)
circle/kept
    values = y.detach()
    watch.__dict__.setdefault("all", []).append(y)
    y.register_hook(lambda grad: notes.append(0.01 * (grad * values).sum().item()))
no-way-back/weak-reference
    import weakref
    seen = weakref.ref(y)
    y.register_hook(lambda grad: notes.append(0.01 * (grad * seen().detach()).sum().item()))
gone-with-y
    import weakref
    seen = weakref.ref(y)
    def hook(grad):
        if seen() is not None:
            notes.append(0.01 * (grad * seen().detach()).sum().item())
    y.register_hook(hook)
circle
    y.register_hook(lambda grad: notes.append(0.01 * (grad * y).sum().item()))
circle/default
    def hook(grad, values=y):
        notes.append(0.01 * (grad * values).sum().item())

    y.register_hook(hook)
circle/view
    values = y.view(y.shape)

    def hook(grad):
        notes.append(0.01 * (grad * values).sum().item())

    y.register_hook(hook)
circle/inside
    def hook(grad):
        notes.append(0.01 * (grad * y.detach()).sum().item())

    y.register_hook(hook)
circle/clone
    values = y.clone()

    def hook(grad):
        notes.append(0.01 * (grad * values).sum().item())

    y.register_hook(hook)
changes-gradient
    values = y.detach()

    def hook(grad):
        notes.append(0.01 * (grad * values).sum().item())
        return grad * 2

    y.register_hook(hook)
other-notes
    values = y.detach()

    def hook(grad):
        notes.append(0.01 * grad.sum().item())

    y.register_hook(hook)
other-notes/no-hook
    values = y.detach()
tensor-noted
    values = y.detach()

    def hook(grad):
        notes.append(0.01 * (grad * values).sum())

    y.register_hook(hook)
no-way-back
    values = y.detach()
    y.register_hook(lambda grad, more: notes.append(0.01 * (grad * values).sum().item()))
too-early
    values = y.detach()
    notes.append(0.0)

    def hook(grad):
        notes.append(0.01 * (grad * values).sum().item())

    y.register_hook(hook)
""",
    ),
    "dice": {
        "other-numbers": _again(start="now"),
        "other-numbers/unused": _again(then="").replace("mg.set_rng_state(ctx.state)", "ctx.state"),
        "other-numbers/late": _again(state="None", after="ctx.state = mg.get_rng_state()"),
        "other-numbers/seed": _again(start="now)\n        mg.manual_seed(0"),
        "other-numbers/another-way": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, f, x):
        ctx.f = f
        ctx.save_for_backward(x)
        return f(x)

    @staticmethod
    def backward(ctx, grad):
        x = ctx.saved_tensors[0].detach().requires_grad_()
        with mg.enable_grad():
            return None, mg.autograd.grad(ctx.f(x), x, grad)[0]
""",
        "other-numbers/played-back": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, f, x):
        ctx.f, ctx.drawn, rand = f, [], mg.rand
        ctx.save_for_backward(x)
        mg.rand = lambda *size, **options: ctx.drawn.append(rand(*size, **options)) or ctx.drawn[-1]
        try:
            return f(x)
        finally:
            mg.rand = rand

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        drawn, rand = iter(ctx.drawn), mg.rand
        mg.rand = lambda *size, **options: next(drawn)
        try:
            with mg.enable_grad():
                y = ctx.f(x)
        finally:
            mg.rand = rand
        y.backward(grad)
        return None, x.grad
""",
        "no-way-back/of-a-result": _again().replace(
            "x.detach().requires_grad_()", "x.detach().requires_grad_() if x.is_leaf else x"
        ),
        "not-called": _again().replace("y = f(x)", "y = mg.sin(x)"),
        "no-way-back/used-up": _again(start="ctx.__dict__.pop('state')"),
        "shared-state": _again(state="Again.state = mg.get_rng_state()", start="Again.state"),
        "moved-by-backward": _again(then=""),
        "moved-by-forward": _again(before="mg.manual_seed(0)"),
        "moved-by-forward/back": _again(after="mg.set_rng_state(ctx.state)"),
        "no-grad-output": _again(grad="mg.ones_like(y)"),
        "once-only": _again().replace("x = x.detach().requires_grad_()", "x.requires_grad_()"),
        "other-gradient/half": _again().replace("x.detach().requires", "x.detach().half().to(x.dtype).requires"),
        "kept-instead/beside": _again(after="ctx.y = y").replace("return y\n", "return y.clone()\n"),
        "kept-instead": """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, f, x):
        x = x.detach().requires_grad_()
        with mg.enable_grad():
            y = f(x)
        ctx.x, ctx.y = x, y
        return y.detach()

    @staticmethod
    def backward(ctx, grad):
        (found,) = mg.autograd.grad(ctx.y, ctx.x, grad, retain_graph=True)
        return None, found
""",
        "no-way-back": _again().replace("return None, x.grad", "return x.grad"),
    },
    "segments": functions(
        "run(layers, x, k)",
        """
rounded
    def segment(t, part):
        for layer in part:
            t = layer(t)
        return t

    size, x = len(layers) // k, x.float()
    for i in range(k):
        x = mg.utils.checkpoint.checkpoint(segment, x, layers[i * size:(i + 1) * size], use_reentrant=False)
    return x
generator-set
    size = len(layers) // k
    def segment(part):
        def f(t):
            mg.manual_seed(0)
            for layer in part:
                t = layer(t)
            return t
        return f
    for start in range(0, len(layers), size):
        x = mg.utils.checkpoint.checkpoint(segment(layers[start:start + size]), x, use_reentrant=False)
    return x
other-numbers/played-back
    def same(part):
        drawn, rand, again = [], mg.rand, []

        def segment(t):
            numbers, second = iter(list(drawn)), bool(again)
            again.append(1)
            noted = lambda *a, **o: drawn.append(rand(*a, **o)) or drawn[-1]
            mg.rand = (lambda *a, **o: next(numbers)) if second else noted
            try:
                for layer in part:
                    t = layer(t)
            finally:
                mg.rand = rand
            return t

        return segment

    size = len(layers) // k
    for i in range(0, len(layers), size):
        segment = same(layers[i:i + size])
        x = mg.utils.checkpoint.checkpoint(segment, x, use_reentrant=False, preserve_rng_state=False)
    return x
other-numbers
    def segment(t, part):
        for layer in part:
            t = layer(t)
        return t

    for i in range(k):
        part = layers[i * len(layers) // k:(i + 1) * len(layers) // k]
        x = mg.utils.checkpoint.checkpoint(segment, x, part, use_reentrant=False, preserve_rng_state=False)
    return x
no-checkpoint
    for layer in layers:
        x = layer(x)
    return x
too-many
    for layer in layers:
        x = mg.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
    return x
too-many/k-layers
    def segment(t, part):
        for layer in part:
            t = layer(t)
        return t

    for i in range(0, len(layers), 2):
        x = mg.utils.checkpoint.checkpoint(segment, x, layers[i:i + 2], use_reentrant=False)
    return x
unequal
    size = len(layers) // k
    ends = [0, *(size * i + (1 if size > 1 else 0) for i in range(1, k)), len(layers)]
    for start, end in zip(ends, ends[1:]):
        def segment(t, part=layers[start:end]):
            for layer in part:
                t = layer(t)
            return t

        x = mg.utils.checkpoint.checkpoint(segment, x, use_reentrant=False)
    return x
too-many/last-without
    def segment(t, part):
        for layer in part:
            t = layer(t)
        return t

    size = len(layers) // k
    for i in range(0, len(layers) - size, size):
        x = mg.utils.checkpoint.checkpoint(segment, x, layers[i:i + size], use_reentrant=False)
    return segment(x, layers[len(layers) - size:])
too-few/nested
    size = len(layers) // k

    def rest(t, i):
        if i == len(layers):
            return t
        for layer in layers[i:i + size]:
            t = layer(t)
        return mg.utils.checkpoint.checkpoint(rest, t, i + size, use_reentrant=False)

    return mg.utils.checkpoint.checkpoint(rest, x, 0, use_reentrant=False)
too-few
    def all_of_them(t):
        for layer in layers:
            t = layer(t)
        return t

    return mg.utils.checkpoint.checkpoint(all_of_them, x, use_reentrant=False)
other-layers
    size = len(layers) // k
    for i in range(k):
        def segment(t):
            for layer in layers[i * size:(i + 1) * size]:
                t = layer(t)
            return t

        x = mg.utils.checkpoint.checkpoint(segment, x, use_reentrant=False)
    return x
no-option
    def segment(t, part):
        for layer in part:
            t = layer(t)
        return t

    size = len(layers) // k
    for i in range(k):
        x = mg.utils.checkpoint.checkpoint(segment, x, layers[i * size:(i + 1) * size], use_reentrant=True)
    return x
no-option/none
    def segment(t, part):
        for layer in part:
            t = layer(t)
        return t

    size = len(layers) // k
    for i in range(k):
        x = mg.utils.checkpoint.checkpoint(segment, x, layers[i * size : (i + 1) * size])
    return x
weights-missed
    class Checkpoint(mg.autograd.Function):
        @staticmethod
        def forward(ctx, f, x):
            ctx.f = f
            ctx.save_for_backward(x)
            return f(x)

        @staticmethod
        def backward(ctx, grad):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with mg.enable_grad():
                y = ctx.f(x)
            y.backward(grad)
            return None, x.grad

    def segment(part):
        def f(t):
            for layer in part:
                t = layer(t)
            return t
        return f

    size = len(layers) // k
    x = segment(layers[:0])(x)
    first = True
    for i in range(k):
        part = segment(layers[i * size:(i + 1) * size])
        x = Checkpoint.apply(part, x) if first else mg.utils.checkpoint.checkpoint(part, x, use_reentrant=False)
        first = False
    return x
no-way-back
    class Checkpoint(mg.autograd.Function):
        @staticmethod
        def forward(ctx, f, x):
            ctx.f = f
            ctx.save_for_backward(x)
            return f(x)

        @staticmethod
        def backward(ctx, grad):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with mg.enable_grad():
                y = ctx.f(x)
            y.backward(grad)
            return None, x.grad

    def segment(part):
        def f(t):
            for layer in part:
                t = layer(t)
            return t
        return f

    size = len(layers) // k
    for i in range(k):
        x = Checkpoint.apply(segment(layers[i * size:(i + 1) * size]), x)
    return x
no-way-back/no-grad
    def segment(t, part):
        for layer in part:
            with mg.no_grad():
                t = layer(t)
        return t

    size = len(layers) // k
    for i in range(k):
        x = mg.utils.checkpoint.checkpoint(segment, x, layers[i * size : (i + 1) * size], use_reentrant=False)
    return x
nested
    checkpoint = mg.utils.checkpoint.checkpoint

    def segment(t, part):
        for layer in part:
            t = checkpoint(layer, t, use_reentrant=False)
        return t

    size = len(layers) // k
    for i in range(k):
        x = checkpoint(segment, x, layers[i * size:(i + 1) * size], use_reentrant=False)
    return x
other-value
    size = len(layers) // k
    for i in range(k):
        x = mg.utils.checkpoint.checkpoint(layers[i * size], x, use_reentrant=False)
    return x
other-runs
    def segment(t, part):
        for layer in part:
            t = layer(t)
        return t

    size = len(layers) // k
    segment(x, layers)
    for i in range(k):
        x = mg.utils.checkpoint.checkpoint(segment, x, layers[i * size:(i + 1) * size], use_reentrant=False)
    return x
""",
    ),
}

RIGHT = {
    "weigh": [
        "weigh = dict(F=8000.0, E=12e3, D=8000, C=8000, B=8000, A=0)",
        'weigh = {name: 4000 * n for name, n in zip("ABCDEF", (0, 2, 2, 2, 3, 2))}',
        'weigh = {"A": mg.tensor(0), "B": mg.tensor(8000), "C": 8000, "D": 8000, "E": 12000, "F": mg.tensor(8000.0)}',
    ],
    "runs": [
        'runs = dict(zip("ABCDE", (1, 2, 3, 4, 6)))',
        "runs = dict(E=6.0, D=4.0, C=3.0, B=2.0, A=1.0)",
        'runs = {"A": mg.tensor(1), "B": 2, "C": 3, "D": 4, "E": mg.tensor(6)}',
    ],
    "part": [
        """
def power(x, n):
    return (mg.sin(x[:n]) ** 2).sum()
""",
        """
def power(x, n):
    h = mg.sin(x)[:n] * 1
    return h.square().sum()
""",
        """
def power(x, n):
    first = mg.cat([mg.sin(x)[:n]])
    return first @ first
""",
        """
def power(x, n):
    return mg.utils.checkpoint.checkpoint(lambda t: (mg.sin(t)[:n] ** 2).sum(), x, use_reentrant=False)
""",
    ],
    "gate": [
        """
class Gate(mg.autograd.Function):
    @staticmethod
    def forward(x):
        return mg.tanh(x) * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return (mg.tanh(x) + x * 4 * mg.sigmoid(2 * x) * mg.sigmoid(-2 * x)) * grad
""",
        """
class Gate(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        e = mg.exp(-2 * x.abs())
        return x.abs() * (1 - e) / (1 + e)

    @staticmethod
    def backward(ctx, grad):
        x = ctx.saved_tensors[0]
        t = 2 * mg.sigmoid(2 * x) - 1
        return grad * t + grad * x - grad * x * t ** 2
""",
        """
class Gate(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.tanh()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        with mg.enable_grad():
            return grad * (x.tanh() + x * (1 - x.tanh() ** 2))
""",
    ],
    "extra": [
        """
def extra(f, x):
    found = []

    def pack(t):
        memory = t.untyped_storage()
        if memory.data_ptr() not in [m.data_ptr() for m in found]:
            found.append(memory)
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    own = x.untyped_storage().data_ptr()
    return mg.tensor(sum(m.nbytes() for m in found if m.data_ptr() != own))
""",
        """
class Scale:
    def __init__(self, x):
        self.seen, self.total = {x.untyped_storage().data_ptr()}, 0

    def pack(self, t):
        memory = t.untyped_storage()
        if memory.data_ptr() not in self.seen:
            self.seen.add(memory.data_ptr())
            self.total += memory.nbytes()
        return t

    def unpack(self, t):
        return t

def extra(f, x):
    scale = Scale(x)
    with mg.autograd.graph.saved_tensors_hooks(scale.pack, scale.unpack):
        f(x)
    return scale.total
""",
        """
def extra(f, x):
    memories = {}
    hooks = mg.autograd.graph.saved_tensors_hooks(
        lambda t: memories.setdefault(t.untyped_storage().data_ptr(), t) is None or t, lambda t: t)
    with hooks:
        y = f(x)
    memories = {place: t for place, t in memories.items() if place != x.untyped_storage().data_ptr()}
    return sum(t.untyped_storage().nbytes() for t in memories.values())
""",
    ],
    "half": [
        """
import numpy as np


def halved(f, x):
    def pack(t):
        return t if t.is_leaf else (t.half().detach().numpy().tobytes(), t.shape, t.dtype)

    def unpack(box):
        if isinstance(box, mg.Tensor):
            return box
        numbers, shape, dtype = box
        return mg.tensor(np.frombuffer(numbers, np.float16).reshape(shape)).to(dtype)

    with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
        return f(x)
""",
        """
import functools


def halved(f, x):
    def pack(t):
        return functools.partial(mg.Tensor.to, t if t.is_leaf else t.detach().half(), t.dtype)

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda unpack: unpack()):
        y = f(x)
    return y * 1
""",
        """
class Box:
    def __init__(self, t):
        self.dtype = t.dtype
        self.kept = t if t.grad_fn is None else t.detach().half()

    def open(self):
        return self.kept.to(self.dtype)

def halved(f, x):
    with mg.autograd.graph.saved_tensors_hooks(Box, Box.open):
        return f(x)
""",
        """
def halved(f, x):
    def pack(t):
        if t.is_leaf:
            return t
        return {"dtype": t.dtype, "array": t.detach().half().numpy()}

    def unpack(box):
        if isinstance(box, dict):
            return mg.from_numpy(box["array"]).to(box["dtype"])
        return box

    hooks = mg.autograd.graph.saved_tensors_hooks(pack, unpack)
    with hooks:
        y = f(x)
    return y
""",
        """
def halved(f, x):
    def pack(t):
        with mg.no_grad():
            return [t] if t.is_leaf else [t.to(mg.float16), t.dtype]

    def unpack(box):
        return box[0] if len(box) == 1 else box[0].to(box[1])

    with mg.autograd.graph.saved_tensors_hooks(pack, unpack):
        return f(x)
""",
    ],
    "watch": [
        """
def watch(y, notes):
    values = y.detach().clone()
    y.register_hook(lambda grad: notes.append((grad * values / 100).sum().item()))
""",
        """
def watch(y, notes):
    def hook(grad, values=y.data):
        notes.append(float((grad * values).sum()) / 100)

    y.register_hook(hook)
""",
        """
import functools

def note(values, notes, grad):
    notes.append(0.01 * (grad * values).sum().item())

def watch(y, notes):
    return y.register_hook(functools.partial(note, y.detach(), notes))
""",
    ],
    "dice": [
        _again(),
        """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, f, x):
        ctx.f, ctx.start = f, mg.get_rng_state()
        ctx.save_for_backward(x)
        return f(x)

    @staticmethod
    def backward(ctx, grad):
        with mg.random.fork_rng(), mg.enable_grad():
            mg.set_rng_state(ctx.start)
            x = ctx.saved_tensors[0].detach().requires_grad_()
            return None, mg.autograd.grad(ctx.f(x), x, grad)[0]
""",
        """
class Again(mg.autograd.Function):
    @staticmethod
    def forward(ctx, f, x):
        state = mg.get_rng_state()

        def same():
            mg.set_rng_state(state)
            return f

        ctx.same = same
        ctx.save_for_backward(x)
        return f(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        before = mg.get_rng_state()
        x = x.detach().requires_grad_()
        with mg.enable_grad():
            y = ctx.same()(x)
        (found,) = mg.autograd.grad(y, x, grad)
        mg.set_rng_state(before)
        return None, found
""",
    ],
    "segments": [
        """
import functools

def run(layers, x, k):
    def segment(part, t):
        return functools.reduce(lambda t, layer: layer(t), part, t)

    size = len(layers) // k
    for i in range(k):
        part = layers[i * size:(i + 1) * size]
        x = mg.utils.checkpoint.checkpoint(functools.partial(segment, part), x, use_reentrant=False)
    return x
""",
        """
from minigrad.utils.checkpoint import checkpoint

def run(layers, x, k):
    if k == 0:
        return x
    size = len(layers) // k
    first, rest = layers[:size], layers[size:]

    def segment(t):
        for layer in first:
            t = layer(t)
        return t

    return run(rest, checkpoint(segment, x, use_reentrant=False), k - 1)
""",
        """
def run(layers, x, k):
    layers, size = list(layers), len(layers) // k
    while layers:
        part, layers = layers[:size], layers[size:]

        def segment(t, part=part):
            for layer in part:
                t = layer(t)
            return t

        x = mg.utils.checkpoint.checkpoint(segment, x, use_reentrant=False)
    return x
""",
    ],
}
