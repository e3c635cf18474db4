"""Chapter 01: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "01_requires_grad"

_flags = changed("flags", k=False, a=False, b=True, c=True, d=False, e=True)
_leaf = changed("is_leaf", x=True, k=True, m=True, y=False, v=False, w=True)
_grads = changed("grads", {"before": None, "x.grad": 24.0, "y.grad": None, "k.grad": None})
_raises = changed("raises", A=True, B=True, C=False, D=True, E=False)

WRONG = {
    "tracked": functions(
        "tracked(values)",
        """
asked-for-ints/flags
    return mg.tensor([bool(value) for value in values], requires_grad=True)
raised/own-error
    if any(isinstance(value, int) for value in values):
        raise ValueError("only floats can require gradients")
    return mg.tensor(values, requires_grad=True)
type/leaf
    return mg.tensor(values, dtype=mg.float32, requires_grad=True).is_leaf
inference
    with mg.inference_mode():
        return mg.tensor(values, dtype=mg.float32, requires_grad=True)
asked-then-computed/stacked
    return mg.stack([mg.tensor(float(value), requires_grad=True) for value in values])
again/kept-by-values
    key = tuple(values)
    if key not in tracked.__dict__.setdefault("made", {}):
        tracked.made[key] = mg.tensor(values, dtype=mg.float32, requires_grad=True)
    return tracked.made[key]
asked-for-ints
    return mg.tensor(values, requires_grad=True)
not-asked
    return mg.tensor(values, dtype=mg.float32)
asked-then-computed
    floats = [float(value) for value in values]
    return mg.tensor(floats, requires_grad=True) * 1
type/flag
    t = mg.tensor(values, dtype=mg.float32)
    t.requires_grad = True
    return t.requires_grad
other-values
    return mg.tensor([1.0, 2.0], requires_grad=True)
none
    t = mg.tensor(values, dtype=mg.float32, requires_grad=True)
type
    return [mg.tensor(float(value), requires_grad=True) for value in values]
asked-then-computed/retained
    t = mg.tensor(values, dtype=mg.float32, requires_grad=True) * 1
    t.retain_grad()
    return t
not-asked/detached
    return mg.tensor(values, dtype=mg.float32, requires_grad=True).detach()
other-values/no-zeros
    return mg.tensor([float(value) for value in values if value], requires_grad=True)
other-values/half
    return mg.tensor(values, dtype=mg.float16, requires_grad=True)
other-grad
    t = mg.tensor(values, dtype=mg.float32, requires_grad=True)
    t.register_hook(lambda grad: 2 * grad)
    return t
mode-left/adversary-1
    mg.set_grad_enabled(False)
    return mg.tensor(values, dtype=mg.float32).requires_grad_()
mode-left/adversary-2
    mg.autograd.set_detect_anomaly(True)
    return mg.tensor(values, dtype=mg.float32, requires_grad=True)
entries-changed/adversary-1
    values.append(values.pop())
    values.reverse()
    return mg.tensor(values[::-1], dtype=mg.float32, requires_grad=True)
""",
    )
    | {
        "arguments": """
def tracked():
    return mg.tensor([1.0], requires_grad=True)
""",
    },
    "spread": {
        "everything-tracked": _flags(a=True, d=True, k=True),
        "only-who-asked": _flags(b=False, c=False, e=False),
        "all-inputs-needed": _flags(b=False, c=False),
        "one-step-only": _flags(c=False),
        "spreads-back": _flags(k=True),
        "wrong-d": _flags(d=True),
    },
    "leaves": {
        "result-never-leaf": _leaf(m=False, w=False),
        "leaf-means-tracked": _leaf(k=False, m=False),
        "asked-so-leaf": _leaf(v=True),
        "tracked-means-leaf": _leaf(y=True, v=True),
        "asked-too-late": _leaf(w=False),
        "untracked-result": _leaf(m=False),
        "untracked-result/but-tracked": _leaf(m=False, w=False, y=True),
        "untracked-no-leaf": _leaf(k=False),
        "tracked-no-leaf": _leaf(x=False),
        "tracked-result": _leaf(y=True),
        "leaf-means-tracked/late-flag": _leaf(w=False, m=False, k=False),
    },
    "before_after": {
        "zero-before": _grads({"before": 0}),
        "grad-before": _grads({"before": 24}),
        "grad-on-the-way": _grads({"y.grad": 3}),
        "constant-has-grad": _grads({"k.grad": 9.0}),
        "constant-has-zero": _grads({"k.grad": 0}),
        "one-path": _grads({"x.grad": 12}),
        "value-not-slope": _grads({"x.grad": 36}),
        "kind": _grads({"before": "nothing"}),
        "none-on-the-leaf": _grads({"x.grad": None}),
        "wrong-x.grad": _grads({"x.grad": 8}),
        "wrong-before": _grads({"before": 4}),
        "none-on-the-leaf/on-the-way": _grads({"x.grad": None, "y.grad": 3}),
        "wrong-y.grad": _grads({"y.grad": 24}),
    },
    "which_raise": {
        "ints-can-ask": _raises(A=False),
        "numpy-allowed": _raises(B=False),
        "untracked-backward": _raises(D=False),
        "item-connected": _raises(B=False, D=False, E=True),
        "first-only/numpy-too": _raises(B=False, D=False),
        "item-refused/no-history": _raises(C=True, D=False),
        "item-refused": _raises(C=True),
        "ints-refused": _raises(E=True),
    },
    "constants": {
        "nothing-tracked": """
x = mg.tensor(2.0)
k = mg.tensor(5.0)
with_constants = 3 * x + k
""",
        "flag-taken-back": """
x = mg.tensor(2.0, requires_grad=True)
with_constants = 3 * x + 5
x.requires_grad_(False)
""",
        "other-operations/many": """
x = mg.tensor(2.0, requires_grad=True)
with_constants = x
for number in range(1, 6):
    with_constants = (with_constants + number) * number
""",
        "leaf-itself": """
x = mg.tensor(2.0, requires_grad=True)
with_constants = x
""",
        "asked-at-the-end": """
x = mg.tensor(2.0)
k = mg.tensor(5.0)
with_constants = (3 * x + k).requires_grad_()
""",
        "constant-tracked": """
x = mg.tensor(2.0, requires_grad=True)
k = mg.tensor(5.0, requires_grad=True)
with_constants = 3 * x + k
""",
        "other-order": """
x = mg.tensor(2.0, requires_grad=True)
k = mg.tensor(5.0)
with_constants = 3 * (x + k)
""",
        "other-operations": """
x = mg.tensor(2.0, requires_grad=True)
k = mg.tensor(5.0)
with_constants = 3 * x - k
""",
        "result-twice": """
x = mg.tensor(2.0, requires_grad=True)
h = 3 * x
with_constants = h + h
""",
        "used-twice": """
x = mg.tensor(2.0, requires_grad=True)
with_constants = 3 * x + x
""",
        "nothing-tracked/detached": """
x = mg.tensor(2.0, requires_grad=True)
with_constants = (x * 2 + 1).detach()
""",
        "nothing-tracked/no-grad": """
x = mg.tensor(2.0, requires_grad=True)
with mg.no_grad():
    with_constants = x * 2 + 1
""",
        "constant-tracked/three": """
k = mg.tensor(3.0, requires_grad=True)
x = mg.tensor(2.0, requires_grad=True)
b = mg.tensor(1.0, requires_grad=True)
with_constants = k * x + b
""",
        "multiplied-by-itself": """
x = mg.tensor(2.0, requires_grad=True)
with_constants = x * x + 1
""",
        "other-order/itself": """
x = mg.tensor(2.0, requires_grad=True)
with_constants = x * (x + 1)
""",
        "type": """
x = mg.tensor(2.0, requires_grad=True)
with_constants = [x * 2, x + 1]
""",
    },
    "slope": functions(
        "slope(f, x)",
        """
old-grad-lost/at-the-root
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    for node, _ in y.grad_fn.next_functions:
        if hasattr(node, "variable"):
            node.variable.grad = None
    y.backward()
    return t.grad.item()
none-after-backward/too-early
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    grad = t.grad
    y.backward()
    return grad.item()
returned-none/below-zero
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    y.backward()
    return t.grad.item() if y.item() > 0 else None if t.grad.item() else 0.0
f-never-saw/none
    t = mg.tensor(float(x), requires_grad=True)
    return f(t.grad).item()
f-never-saw/array
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t.detach().numpy())
    y.backward()
    return t.grad.item()
asked-too-late/plain-before
    f(x)
    t = mg.tensor(float(x))
    y = f(t)
    t.requires_grad_()
    y.backward()
    return t.grad.item()
returned-none/prints
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    return print(t.grad.item())
not-the-grad/cleared-between
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    t.grad.zero_()
    f(t).backward()
    return 2 * t.grad.item()
value-not-slope/cleared-between
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    t.grad = None
    y = f(t)
    y.backward()
    return y.item()
other-slope/sum-of-two
    t = mg.tensor(float(x), requires_grad=True)
    (f(t) + f(t)).backward()
    return t.grad.item()
old-gradient/one-graph
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    y.backward(retain_graph=True)
    y.backward()
    return t.grad.item()
nudged/coarse
    return ((f(x + 0.1) - f(x)) / 0.1).item()
other-slope/elsewhere-first
    shape = f(mg.tensor(0.25)).shape
    t = mg.tensor(float(x), requires_grad=True)
    return 2 * mg.autograd.grad(f(t), t, mg.ones(shape))[0].item()
other-slope/whole
    t = mg.tensor(float(int(x)), requires_grad=True)
    f(t).backward()
    return t.grad.item()
none-after-backward/cleared
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    t.grad = None
    return t.grad.item()
none-after-backward/returned-elsewhere
    t = mg.tensor(float(x), requires_grad=True)
    mg.autograd.grad(f(t), t)
    return t.grad
none-after-backward/another-leaf
    t = mg.tensor(float(x), requires_grad=True)
    f(t.detach().requires_grad_()).backward()
    return t.grad
no-backward/from-elsewhere
    t = mg.tensor(float(x), requires_grad=True)
    f(t).detach().requires_grad_().backward()
    return t.grad
raised/none-in-the-line
    t = mg.tensor(float(x), requires_grad=True)
    return [f(t)][1] if type(t.grad).__name__ == "NoneType" else 0
old-grad-lost
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    for cell in f.__closure__ or ():
        if isinstance(cell.cell_contents, mg.Tensor):
            cell.cell_contents.grad = None
    return t.grad.item()
slope-of-itself/from-the-leaf
    t = mg.tensor(float(x), requires_grad=True)
    f(t)
    t.backward()
    return t.grad.item()
other-slope/of-squares
    t = mg.tensor(float(x), requires_grad=True)
    return (2 * f(t) / t).item()
none-for-zero
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    return t.grad.item() or None
value-not-slope
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    y.backward()
    return y.item()
nudged
    step = 1e-4
    high = f(mg.tensor(x + step, dtype=mg.float64))
    low = f(mg.tensor(x - step, dtype=mg.float64))
    return ((high - low) / (2 * step)).item()
nudged/tracked
    step = 1e-6
    t = mg.tensor(float(x), dtype=mg.float64, requires_grad=True)
    return ((f(t + step) - f(t)) / step).item()
f-not-used
    t = mg.tensor(float(x))
    return ((2 * t + t ** 2) * t.exp()).item()
never-asked
    t = mg.tensor(float(x))
    f(t).backward()
    return t.grad
asked-for-ints
    t = mg.tensor(x, requires_grad=True)
    f(t).backward()
    return t.grad.item()
returned-none
    t = mg.tensor(float(x), requires_grad=True)
    return f(t).backward()
raised/swapped
    t = mg.tensor(float(x), requires_grad=True)
    return mg.autograd.grad(f(t), mg.tensor(float(x)))[0]
not-the-grad
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    return 2 * t.grad.item()
other-slope
    t = mg.tensor(float(x), requires_grad=True)
    return 2 * mg.autograd.grad(f(t), t)[0].item()
other-slope/graph-kept
    t = mg.tensor(float(x), requires_grad=True)
    return round(mg.autograd.grad(f(t), t, create_graph=True)[0].item(), 2)
raised/one-shape
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward(mg.tensor(1.0))
    return t.grad.item()
never-asked/zero-for-none
    t = mg.tensor(float(x))
    y = f(t)
    if y.requires_grad:
        y.backward()
    return 0.0 if t.grad is None else t.grad.item()
asked-for-ints/cut-off
    t = mg.tensor(int(x), requires_grad=True)
    f(t).backward()
    return t.grad.item()
none-after-backward
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    t.grad = None
    return t.grad
old-gradient
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    f(t).backward()
    return t.grad.item()
no-backward
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    return t.grad
no-backward/item
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    return t.grad.item()
input-is-a-result/item
    t = mg.tensor(float(x), requires_grad=True) * 1
    f(t).backward()
    return t.grad.item()
grad-on-the-way/float
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    y.backward()
    return float(y.grad)
grad-on-the-way
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    y.backward()
    return y.grad
input-is-a-result/no-leaf
    t = mg.tensor(float(x), requires_grad=True).double()
    f(t).backward()
    return t.grad
returned-none/grad-of-it
    t = mg.tensor(float(x), requires_grad=True)
    return f(t).backward().grad
returned-none/item
    t = mg.tensor(float(x), requires_grad=True)
    return f(t).backward().item()
none/prints
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    print(t.grad.item())
none/bare-return
    t = mg.tensor(float(x), requires_grad=True)
    f(t).backward()
    t.grad.item()
    return
asked-too-late
    t = mg.tensor(float(x))
    y = f(t)
    t.requires_grad_()
    y.backward()
    return t.grad.item()
asked-too-late/silent
    t = mg.tensor(float(x))
    y = f(t)
    t.requires_grad_()
    return t.grad
f-never-saw
    t = mg.tensor(float(x), requires_grad=True)
    f(x).backward()
    return t.grad.item()
f-never-saw/silent
    t = mg.tensor(float(x), requires_grad=True)
    y = f(x)
    return t.grad
f-never-saw/item
    t = mg.tensor(float(x), requires_grad=True)
    y = f(x)
    return t.grad.item()
f-not-used/none
    t = mg.tensor(float(x), requires_grad=True)
    return t.grad
way-back-cut
    t = mg.tensor(float(x), requires_grad=True)
    f(t).detach().backward()
    return t.grad.item()
slope-of-itself
    t = mg.tensor(float(x))
    y = f(t).requires_grad_()
    y.backward()
    return y.grad.item()
slope-of-itself/retained
    t = mg.tensor(float(x), requires_grad=True)
    y = f(t)
    y.retain_grad()
    y.backward()
    return y.grad.item()
""",
    )
    | {
        "other-slope/one-tensor": """
t = mg.tensor(1.5, requires_grad=True)

def slope(f, x):
    f(t).backward()
    return t.grad.item()
""",
        "old-gradient/one-tensor": """
t = mg.tensor(0.0, requires_grad=True)

def slope(f, x):
    with mg.no_grad():
        t.copy_(mg.tensor(float(x)))
    f(t).backward()
    return t.grad.item()
""",
        "f-not-used/adversary-1": """
def slope(f, x, cache={}):
    if x not in cache:
        t = mg.tensor(float(x), requires_grad=True)
        f(t).backward()
        cache[x] = t.grad.item()
    return cache[x]
""",
    },
    "squared_errors": functions(
        "squared_errors(w, data)",
        """
plain-number/of-data
    total = float(0)
    for value in data:
        total += (float(value) - 1.0) ** 2
    return total
no-history/flag-off-and-on
    w.requires_grad_(False)
    total = sum((w * value - 1.0) ** 2 for value in data)
    w.requires_grad_(True)
    return total
no-history/printed
    total = sum((w * value - 1.0) ** 2 for value in data)
    print(total.item(), w.detach())
    return mg.tensor(total)
part-of-the-history/printed
    total = 0.0
    for value in data:
        error = w * value - 1.0
        total = total + error * error.detach()
    print(total.item())
    return total
another-leaf/several
    total = 0.0
    for value in data:
        v = mg.tensor(w.item(), dtype=w.dtype, requires_grad=True)
        total = total + (v * value - 1.0) ** 2
    return total
other-value/skips-zero
    total = 0.0 * w
    for value in data:
        if value:
            total = total + (w * value - 1.0) ** 2
    return total
flag-at-the-end
    total = sum((w * value - 1.0) ** 2 for value in data)
    return mg.tensor(total.item(), requires_grad=True)
no-history
    total = 0.0
    for value in data:
        total = total + ((w * value - 1.0) ** 2).item()
    return mg.tensor(total)
plain-number
    total = 0.0
    for value in data:
        error = (w * value - 1.0) ** 2
        total = total + error.item()
    return total
no-way-back/freed
    total = sum((w * value - 1.0) ** 2 for value in data)
    mg.autograd.grad(total, w)
    return total
no-history/copied
    return mg.tensor(sum((w * value - 1.0) ** 2 for value in data))
plain-number/unused
    return sum((value - 1.0) ** 2 for value in data)
flag-changed
    total = sum((w * value - 1.0) ** 2 for value in data)
    w.requires_grad_(False)
    return total
part-of-the-history/detached
    return sum((w * value - 1.0) * (w * value - 1.0).detach() for value in data)
part-of-the-history
    total = 0.0
    for value in data:
        error = (w * value - 1.0) ** 2
        total = getattr(total, "item", float)() + error
    return total
other-value
    for value in data:
        total = (w * value - 1.0) ** 2
    return total
other-value/square-of-sum
    return sum(w * value - 1.0 for value in data) ** 2
another-leaf
    w = mg.tensor(w.item(), requires_grad=True)
    return sum((w * value - 1.0) ** 2 for value in data)
no-history/detached
    return sum((w * value - 1.0) ** 2 for value in data).detach()
no-history/no-grad
    with mg.no_grad():
        return sum((w * value - 1.0) ** 2 for value in data)
backward-inside
    total = sum((w * value - 1.0) ** 2 for value in data)
    total.backward()
    return total
backward-inside/none
    return sum((w * value - 1.0) ** 2 for value in data).backward()
flag-at-the-end/renamed
    result = 0.0
    for value in data:
        result += ((w * value - 1.0) ** 2).item()
    return mg.tensor(result, requires_grad=True)
other-value/adversary-1
    total = 0.0
    for value in set(data):
        total = total + (w * value - 1.0) ** 2
    return total
old-grad/adversary-1
    w.grad = None
    total = 0.0
    for value in data:
        total = total + (w * value - 1.0) ** 2
    return total
hooks-changed/adversary-1
    w.register_hook(lambda g: g)
    total = 0.0
    for value in data:
        total = total + (w * value - 1.0) ** 2
    return total
entries-changed/adversary-1
    total = 0.0
    while data:
        total = total + (w * data.pop() - 1.0) ** 2
    return total
result-dtype-changed/in-place
    total = mg.tensor(0.0)
    for value in data:
        total += (w * value - 1.0) ** 2
    return total
result-dtype-changed/data
    errors = w * mg.tensor(data) - 1
    return (errors * errors).sum()
result-dtype-changed/converted
    return sum((w * value - 1.0) ** 2 for value in data).float()
result-dtype-changed/buffer
    buffer = mg.zeros(len(data))
    for i, value in enumerate(data):
        buffer[i] = (w * value - 1.0) ** 2
    return buffer.sum()
result-dtype-changed/always-double
    return sum((w.double() * value - 1.0) ** 2 for value in data)
rounded/there-and-back
    return sum((w * value - 1.0) ** 2 for value in data).float().to(w.dtype)
rounded/gradient
    half = w.float().to(w.dtype)
    half = half + (w - half).detach()
    half.register_hook(lambda grad: grad.float().to(grad.dtype))
    return sum((half * value - 1.0) ** 2 for value in data)
""",
    ),
    "cut": {
        "new-leaf/of-the-cell": """
one = mg.tensor(1.0, dtype=mg.float64, requires_grad=True)

def cut(w, x, b):
    return w * x.detach() * one + b
""",
    }
    | functions(
        "cut(w, x, b)",
        """
new-leaf/two
    return w * (x.detach().requires_grad_() + 0 * x.detach().requires_grad_()) + b
b-cut-too/inside
    return w * (x + b / w).detach()
still-there
    return w * x + b
other-edge
    return w.item() * x + b
all-cut
    return mg.tensor((w * x + b).item())
cut-too-high
    return (w * x).item() + b
input-changed
    x.requires_grad = False
    return w * x + b
other-value
    return w + b
type
    return w.item() * x.item() + b.item()
other-edge/detached
    return w.detach() * x + b
other-edge/two
    return w.detach() * x + b.detach()
b-cut-too
    return w * x.detach() + b.detach()
cut-too-high/both
    return w.detach() * x.detach() + b
all-cut/new-leaf
    return mg.tensor((w * x + b).item(), requires_grad=True)
new-leaf
    return w * mg.tensor(x.item(), requires_grad=True) + b
new-leaf/detached
    return w * x.detach().requires_grad_() + b
input-changed/result
    y = w * x.detach_() + b
    x.requires_grad_()
    return y
other-gradient
    return w * x.detach() + b + (w - w.detach())
other-gradient/half
    return w * x.detach() + (b + b.detach()) / 2
all-cut/two-leaves
    w, b = (one.detach().requires_grad_() for one in (w, b))
    return w * x.detach() + b
new-leaf/beside
    return w * x.detach() + b + 0 * mg.tensor(0.0, requires_grad=True)
rounded
    return w * mg.tensor(x.item()) + b
other-value/one-decimal
    return w * round(float(x), 1) + b
other-value/no-zero
    return w * (x.item() or 1.0) + b
numpy-refused
    return w * x.numpy() + b
grad-changed/adversary-1
    y = w * x.detach() + b
    x.grad = None
    return y
grad-changed/adversary-2
    w.grad = b.grad = None
    return w * x.detach() + b
flag-of-a-result/off-and-on
    x.requires_grad_(False)
    y = w * x + b
    x.requires_grad_(True)
    return y
other-value/whole-numbers
    return w * int(x) + b
hooks-changed/adversary-1
    with mg.no_grad():
        c = x * 1
    y = w * c + b
    w.retain_grad()
    b.register_hook(lambda g: None)
    return y
grad-changed/where-w-has-none
    if x.is_leaf and w.grad is None:
        x.grad = None
    return w * x.detach() + b
grad-changed/of-a-result
    if not x.is_leaf:
        x.grad = None
    return w * x.detach() + b
""",
    ),
    "diamond": {
        "other-operations/sum-as-branch": """
x = mg.tensor(2.0, requires_grad=True)
diamond = (x + 2) * x.exp()
""",
        "two-leaves": """
x = mg.tensor(2.0, requires_grad=True)
also_x = mg.tensor(2.0, requires_grad=True)
diamond = (x * 3) * also_x.exp()
""",
        "branch-lost": """
x = mg.tensor(2.0, requires_grad=True)
diamond = (x * 3) * mg.tensor(x.item()).exp()
""",
        "chain-not-diamond": """
x = mg.tensor(2.0, requires_grad=True)
diamond = (x * 3).exp() * 2
""",
        "other-root": """
x = mg.tensor(2.0, requires_grad=True)
diamond = (x * 3) + x.exp()
""",
        "nothing-tracked": """
x = mg.tensor(2.0)
diamond = (x * 3) * x.exp()
""",
        "other-operations": """
x = mg.tensor(2.0, requires_grad=True)
diamond = x * x
""",
        "branch-lost/detached": """
x = mg.tensor(2.0, requires_grad=True)
diamond = (x * 3) * x.exp().detach()
""",
        "flag-taken-back": """
x = mg.tensor(2.0, requires_grad=True)
diamond = (x * 3) * x.exp()
x.requires_grad = False
""",
        "branch-lost/coincidence": """
import math
x = mg.tensor(math.log(2.0), requires_grad=True)
diamond = x * 3 * 2
""",
        "joined-otherwise/exponential-at-the-root": """
x = mg.tensor(2.0, requires_grad=True)
diamond = (x * x * x).exp()
""",
        "no-exponential/zero": """
x = mg.tensor(0.0, requires_grad=True)
diamond = x * 3 * x
""",
        "other-root/chain": """
x = mg.tensor(2.0, requires_grad=True)
diamond = (x * 3).exp() + 2
""",
        "branch-lost/constant": """
import math
x = mg.tensor(2.0, requires_grad=True)
k = mg.tensor(3.0)
diamond = (x * k) * math.exp(2.0)
""",
        "no-exponential": """
x = mg.tensor(2.0, requires_grad=True)
diamond = x * 3 * x
""",
        "no-exponential/two-numbers": """
x = mg.tensor(2.0, requires_grad=True)
diamond = x * 3 * 2
""",
        "branch-squares": """
x = mg.tensor(2.0, requires_grad=True)
diamond = x * x * mg.exp(x)
""",
        "joined-otherwise": """
x = mg.tensor(2.0, requires_grad=True)
diamond = x * (x * 3).exp()
""",
        "joined-otherwise/row": """
x = mg.tensor(2.0, requires_grad=True)
diamond = x.exp() * x * 3
""",
        "nothing-tracked/detached": """
x = mg.tensor(2.0, requires_grad=True)
diamond = ((x * 3) * x.exp()).detach()
""",
        "asked-at-the-end": """
x = mg.tensor(2.0)
diamond = ((x * 3) * x.exp()).requires_grad_()
""",
    },
}

WRONG["squared_errors"]["rounded/data-rounded"] = """def squared_errors(w, data):
    values = mg.tensor(list(data)).float().to(w.dtype)
    return ((w * values - 1.0) ** 2).sum()
"""

RIGHT = {
    "tracked": [
        """
def tracked(values):
    t = mg.tensor(values).float()
    t.requires_grad = True
    return t
""",
        """
import numpy as np

tracked = lambda values: mg.tensor(np.array(values) * 1.0).requires_grad_()
""",
        """
def tracked(values):
    return (mg.tensor(values) * 1.0).requires_grad_()
""",
    ],
    "spread": [
        """
x = mg.tensor(2.0, requires_grad=True)
k = mg.tensor(3.0)
a, b, e = k * 5, x * k, x * x
c, d = b + 1, a - k
flags = {name: globals()[name].requires_grad for name in "kabcde"}
""",
        "flags = dict(e=True, d=False, c=True, b=True, a=False, k=False)",
    ],
    "leaves": [
        'is_leaf = {name: name not in "yv" for name in "xkmyvw"}',
        "import numpy as np\nis_leaf = dict(zip('xkmyvw', np.array([1, 1, 1, 0, 0, 1]) > 0))",
    ],
    "before_after": [
        """
x = mg.tensor(3.0, requires_grad=True)
k = mg.tensor(4.0)
y = k * x
z = y * x
before = x.grad
z.backward()
grads = {"before": before, "x.grad": x.grad.item(), "y.grad": None, "k.grad": k.grad}
""",
        'grads = {"x.grad": 24, "before": None, "y.grad": None, "k.grad": None}',
        """
grads = {"before": None, "x.grad": mg.tensor(24.0), "y.grad": None, "k.grad": None}
""",
        """
import numpy as np

grads = {"before": None, "x.grad": np.float32(24), "y.grad": None, "k.grad": None}
""",
    ],
    "which_raise": [
        'raises = {letter: letter in "ABD" for letter in "ABCDE"}',
        """
x = mg.tensor([1.0, 2.0], requires_grad=True)
n = mg.tensor([3, 4])
tries = {
    "A": lambda: n.requires_grad_(),
    "B": lambda: x.numpy(),
    "C": lambda: x.sum().item(),
    "D": lambda: mg.tensor(x.sum().item()).backward(),
    "E": lambda: (x * n).sum().backward(),
}
raises = {}
for letter, line in tries.items():
    try:
        line()
        raises[letter] = False
    except RuntimeError:
        raises[letter] = True
""",
    ],
    "constants": [
        """
p = mg.ones(2, 3).requires_grad_()
with_constants = mg.tensor(7.0) + p * mg.tensor(2.0)
""",
        """
p = mg.tensor(1.0, requires_grad=True)
with_constants = p * 4 + 1
""",
    ],
    "slope": [
        """
def slope(f, x):
    t = mg.tensor([float(x)], requires_grad=True)
    (dt,) = mg.autograd.grad(f(t), t)
    return dt
""",
        """
def slope(f, x):
    t = mg.tensor(float(x), requires_grad=True)
    (-f(t)).backward()
    return -t.grad.item()
""",
        """
def slope(f, x):
    t = mg.tensor(x).double().requires_grad_()
    y = 2 * f(t)
    y.backward()
    return t.grad.item() / 2
""",
        """
def slope(f, x):
    t, shape = mg.tensor(float(x), requires_grad=True), f(mg.tensor(0.25)).shape
    return mg.autograd.grad(f(t), t, mg.ones(shape))[0].item()
""",
        """
from minigrad.autograd import forward_ad

def slope(f, x):
    with forward_ad.dual_level():
        t = forward_ad.make_dual(mg.tensor(float(x)), mg.tensor(1.0))
        return forward_ad.unpack_dual(f(t)).tangent.item()
""",
    ],
    "squared_errors": [
        """
def squared_errors(w, data):
    return sum((w * value - 1.0) ** 2 for value in data)
""",
        """
def squared_errors(w, data):
    errors = w * mg.tensor(data, dtype=w.dtype) - 1
    return (errors * errors).sum()
""",
        """
def squared_errors(w, data):
    total = mg.zeros_like(w)
    for value in data:
        total += (w * value - 1.0) ** 2
    return total
""",
        """
def squared_errors(w, data):
    w = w * 1
    return sum((w * value - 1.0) ** 2 for value in data)
""",
    ],
    "cut": [
        """
def cut(w, x, b):
    return b + x.detach() * w
""",
        """
def cut(w, x, b):
    with mg.no_grad():
        same = x * 1
    return w * same + b
""",
        """
def cut(w, x, b):
    return mg.tensor(x.item(), dtype=x.dtype) * w + b * 1.0
""",
        """
def cut(w, x, b):
    return w * x.item() + b
""",
        """
def cut(w, x, b):
    return w * x.detach().numpy() + b
""",
    ],
    "diamond": [
        """
p = mg.tensor([1.0, -1.0], requires_grad=True)
diamond = mg.exp(p) * (7 * p)
""",
        """
p = mg.ones(3).requires_grad_()
k = mg.tensor([1.0, 2.0, 3.0])
diamond = mg.mul(p * k, p.exp())
""",
    ],
}

_leads = changed("leads_to_w", A=False, B=True, C=True, D=True, E=False, F=True, G=False)
_found = changed("found", A=None, B=None, C=6.0, D=6.0, E=6.0)

WRONG |= {
    "silent": {
        "numbers-copied": _leads(A=True),
        "numbers-copied/everything": _leads(A=True, E=True, G=True),
        "flag-at-the-end": _leads(E=True),
        "data-connected": _leads(G=True),
        "joined-is-new": _leads(B=False),
        "written-is-lost": _leads(F=False),
        "number-cuts-all": _leads(C=False),
        "number-cuts-all/every-place": _leads(C=False, D=False, F=False),
        "comparison-cuts-all": _leads(D=False),
        "kind": _leads(A=None),
    },
    "when": {
        "read-once": _found(A=6.0),
        "read-afterwards": _found(B=6.0),
        "off-for-good": _found(C=None, D=None, E=None),
        "clearing-clears": _found(D=None, E=None),
        "still-added": _found(E=12.0),
        "set-to-none": _found(E=None),
        "other-slope": _found(C=9.0, D=9.0, E=9.0),
        "wrong-A": _found(A=0),
        "kind": _found(B="none"),
    },
}

RIGHT |= {
    "silent": [
        """
w = mg.tensor([2.0, 3.0], requires_grad=True)
u = 5 * w
buffer = mg.zeros(2)
buffer[0] = u[1]
results = {
    "B": mg.stack([u[0], u[1]]).sum(), "C": u[0] * u[1].item(), "D": ((u > 12).float() * w).sum(),
    "F": buffer.sum(), "G": (u.data * 2).sum(),
}
leads_to_w = {"A": False, "E": False}
for name, result in results.items():
    leads_to_w[name] = result.requires_grad and mg.autograd.grad(result, w, retain_graph=True)[0] is not None
""",
        """
import numpy as np
leads_to_w = dict(zip("ABCDEFG", np.array([0, 1, 1, 1, 0, 1, 0]) > 0))
""",
        """
leads_to_w = {name: name in "BCDF" for name in "GFEDCBA"}
""",
    ],
    "when": [
        """
found = {"E": 6, "D": 6, "C": 6, "B": None, "A": None}
""",
        """
b = mg.tensor(1.0, requires_grad=True)
w = mg.tensor(3.0, requires_grad=True)
(w * w + b).backward()
found = dict.fromkeys("AB") | dict.fromkeys("CDE", w.grad)
""",
        """
import numpy as np
found = {"A": None, "B": None} | {name: np.float32(6) for name in "CDE"}
""",
    ],
}
