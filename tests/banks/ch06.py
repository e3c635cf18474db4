"""Chapter 06: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "06_detach_no_grad"

_arrives = changed(
    "grads", {"A a": 6.0, "A b": 4.0, "B a": None, "B b": 6.0, "C a": 1.0, "C b": 2.0, "D a": 6.0, "D b": None}
)
_inside = changed(
    "seen",
    {
        "product": False,
        "fresh": True,
        "same": True,
        "again": True,
        "later": False,
        "product.is_leaf": True,
        "w.grad": 4.0,
    },
)
_frozen = changed(
    "grads",
    {"A w1": 60.0, "A w2": None, "A w3": 30.0, "B w1": None, "B w2": None}
    | {"C w1": None, "C w2": 24.0, "D w1": 60.0, "D w2": 24.0},
)


def _layers(line: str, w1: bool = True, w2: bool = False, w3: bool = True) -> str:
    """The answer to the graph of three layers: which weights are tracked, and how `layers` is made."""
    return f"""
x = mg.tensor(2.0)
w1 = mg.tensor(2.0, requires_grad={w1})
w2 = mg.tensor(3.0, requires_grad={w2})
w3 = mg.tensor(5.0, requires_grad={w3})
{line}
"""


WRONG = {
    "arrives": {
        "all-ways-stopped": _arrives({"A a": None}),
        "all-ways-stopped/b": _arrives({"B b": None}),
        "nothing-stopped": _arrives({"A a": 12}),
        "nothing-stopped/b": _arrives({"B a": 9, "B b": 12}),
        "value-lost": _arrives({"A a": 3, "A b": 2}),
        "item-connected": _arrives({"C a": 4}),
        "item-disconnects": _arrives({"C a": None}),
        "item-disconnects/zero": _arrives({"C a": 0}),
        "block-untracks": _arrives({"D a": None}),
        "block-ignored": _arrives({"D a": 12, "D b": 4}),
        "block-ignored/b": _arrives({"D b": 4}),
        "zero-for-none": _arrives({"B a": 0}),
        "zero-for-none/d": _arrives({"D b": 0}),
        "zero-for-none/both": _arrives({"B a": 0, "D b": 0}),
        "nothing-stopped/a": _arrives({"B a": 9}),
        "all-ways-stopped/all": _arrives(dict.fromkeys(["A a", "A b", "B a", "B b", "C a", "C b", "D a", "D b"])),
        "block-untracks/swapped": _arrives({"D a": None, "D b": 6}),
        "wrong-A b": _arrives({"A b": None}),
        "kind": _arrives({"B a": "nothing"}),
    },
    "inside": {
        "leaf-untracked": _inside(fresh=False),
        "leaf-untracked/all": _inside({"fresh": False, "same": False, "again": False, "w.grad": None}),
        "history-gone": _inside(same=False),
        "backward-blocked": _inside({"w.grad": None}),
        "backward-blocked/zero": _inside({"w.grad": 0}),
        "product-tracked": _inside(product=True, later=True),
        "enable-ignored": _inside(again=False),
        "later-tracked": _inside(later=True),
        "computed-no-leaf": _inside({"product.is_leaf": False}),
        "slope-not-product": _inside({"w.grad": 2}),
        "wrong-w.grad": _inside({"w.grad": 6}),
        "kind": _inside(fresh="tracked"),
    },
    "frozen": {
        "frozen-is-a-wall": _frozen({"A w1": None}),
        "frozen-is-a-wall/top": _frozen({"D w1": None, "D w2": None}),
        "frozen-is-a-wall/below": _frozen({"D w2": None}),
        "frozen-is-a-wall/zero": _frozen({"A w1": 0}),
        "frozen-is-a-wall/zeros": _frozen({"D w1": 0, "D w2": 0}),
        "factor-lost": _frozen({"A w1": 12}),
        "factor-lost/top": _frozen({"D w1": 15, "D w2": 6}),
        "frozen-gets-one": _frozen({"A w2": 24}),
        "block-freezes": _frozen({"B w1": 60}),
        "block-ignored": _frozen({"B w2": 24}),
        "cut-too-high": _frozen({"C w2": None}),
        "cut-ignored": _frozen({"C w1": 60}),
        "zero-for-none": _frozen({"A w2": 0}),
        "zero-for-none/b": _frozen({"B w1": 0, "B w2": 0}),
        "zero-for-none/c": _frozen({"C w1": 0}),
        "zero-for-none/all": _frozen({"B w1": 0, "B w2": 0, "C w1": 0}),
        "frozen-is-a-wall/other-weight": _frozen({"A w1": None, "A w2": 24}),
        "neighbour-frozen": _frozen({"A w3": None}),
        "wrong-A w3": _frozen({"A w3": 150}),
        "kind": _frozen({"A w2": True}),
    },
    "layers": {
        "leaves-swapped": _layers("layers = w1 * (w2 * (w3 * x))"),
        "layer-missing/block": _layers("with mg.no_grad():\n    h = w2 * (w1 * x)\nlayers = w3 * h", w2=True),
        "layer-missing/cut": _layers("layers = w3 * (w2 * (w1 * x)).detach()", w2=True),
        "layer-missing/data": _layers("layers = w3 * (w2 * w1 * x).data"),
        "none-frozen": _layers("layers = w3 * (w2 * (w1 * x))", w2=True),
        "layer-missing/no-layer": _layers("layers = w3 * 6.0"),
        "none-frozen/late": _layers("layers = w3 * (w2 * (w1 * x))\nw2.requires_grad_(False)", w2=True),
        "other-frozen/diamond": _layers("layers = w3 * ((h := w1 * x) * h)"),
        "layer-missing": _layers("layers = w3 * (w2 * (w1 * x))", w1=False, w2=True),
        "layer-missing/two": _layers("layers = w3 * (w1 * x)"),
        "layer-missing/below": _layers("layers = w3 * (w2 * (w1 * x).detach())", w2=True),
        "layer-missing/one": _layers("layers = w1 * w3"),
        "layer-added": _layers("layers = w3 * (w2 * (w1 * x) * x)"),
        "other-frozen": _layers("layers = w3 * (w2 * (w1 * x))", w2=True, w3=False),
        "one-leaf": _layers("layers = w3 * (w2 * (w1 * x))", w3=False),
        "one-leaf/same": _layers("layers = w1 * (w2 * (w1 * x))"),
        "no-node": _layers("with mg.no_grad():\n    layers = w3 * (w2 * (w1 * x))"),
        "no-node/numbers": "layers = mg.tensor(2.0) * 3.0 * 5.0",
        "other-operations": _layers("layers = w3 + (w2 + (w1 * x))"),
        "other-operations/clone": _layers("layers = w3 * (w2 * (w1 * x)).clone()"),
        "type": "layers = 60.0",
        "other-leaf": """
x = mg.tensor(1.0, requires_grad=True)
w1, w2, w3 = mg.tensor(2.0), mg.tensor(3.0), mg.tensor(5.0, requires_grad=True)
layers = w3 * (w2 * (w1 * x))
""",
        "other-frozen/at-the-root": """
w1, w3 = mg.tensor(2.0, requires_grad=True), mg.tensor(5.0, requires_grad=True)
layers = (w1 * w3) * 2.0 * 3.0
""",
    },
    "target": functions(
        "surprise(value, now, later, reward)",
        """
no-way-back/used-up
    guess = value(now)
    target = (reward + 0.5 * value(later)).detach()
    loss = (target - guess) ** 2
    mg.autograd.grad(loss, guess)
    return loss
other-gradient/as-if-uncut
    guess = value(now)
    target = (reward + 0.5 * value(later)).detach()
    guess.register_hook(lambda g: g * (1 - 0.5 * later / now) if now else g)
    return (target - guess) ** 2
other-value/rounded
    target = round((reward + 0.5 * value(later)).item(), 3)
    return (target - value(now)) ** 2
other-value/clamped
    target = (reward + 0.5 * value(later)).detach().clamp(min=0)
    return (target - value(now)) ** 2
other-value/kept-from-a-call
    kept = surprise.__dict__.setdefault("kept", {})
    if (value, later) not in kept:
        kept[value, later] = value(later).detach()
    return (reward + 0.5 * kept[value, later] - value(now)) ** 2
mode-left/on
    mg.set_grad_enabled(False)
    target = reward + 0.5 * value(later)
    mg.set_grad_enabled(True)
    return (target - value(now)) ** 2
cut-in-place
    guess = value(now)
    target = reward + 0.5 * value(later).detach_()
    return (target - guess) ** 2
not-cut
    target = reward + 0.5 * value(later)
    guess = value(now)
    return (guess - target) ** 2
not-cut/other-tensor
    guess = value(now)
    target = reward + 0.5 * value(later)
    target.detach()
    return (target - guess) ** 2
not-cut/clone
    guess = value(now)
    target = (reward + 0.5 * value(later)).clone()
    return (target - guess) ** 2
not-cut/enabled
    guess = value(now)
    with mg.no_grad():
        with mg.enable_grad():
            target = reward + 0.5 * value(later)
    return (target - guess) ** 2
walked
    guess = value(now)
    target = (reward + 0.5 * value(later)).detach()
    loss = (target - guess) ** 2
    loss.backward()
    return loss
guess-cut
    guess = value(now).detach()
    target = reward + 0.5 * value(later)
    return (target - guess) ** 2
all-cut
    with mg.no_grad():
        guess = value(now)
        target = reward + 0.5 * value(later)
    return (target - guess) ** 2
all-cut/loss
    guess = value(now)
    target = reward + 0.5 * value(later)
    return ((target - guess) ** 2).detach()
all-cut/new-leaf
    guess = value(now).item()
    target = reward + 0.5 * value(later).item()
    return mg.tensor((target - guess) ** 2, requires_grad=True)
mode-left
    guess = value(now)
    mg.set_grad_enabled(False)
    target = reward + 0.5 * value(later)
    return (target - guess) ** 2
other-value
    return (reward - value(now)) ** 2
other-gradient
    guess = value(now)
    target = (reward + 0.5 * value(later)).detach()
    return 0.5 * (target - guess) ** 2 + 0.5 * ((target - guess) ** 2).detach()
raised
    guess = value(now)
    target = reward + 0.5 * value(later)
    target.requires_grad = False
    return (target - guess) ** 2
other-value/adversary-1
    guess = value(now)
    target = (reward + 0.5 * value(later)).item()
    return (target - guess).abs() ** 2 + 1e-6
way-left
    guess = value(now)
    target = reward + 0.5 * value(later)
    target.register_hook(lambda g: g * 0)
    return (target - guess) ** 2
other-value/zero-state
    guess = value(now)
    target = reward + (0.5 * value(later).detach() if later else 0.0)
    return (target - guess) ** 2
other-value/zero-reward
    guess = value(now)
    target = (reward + 0.5 * value(later).detach()) if reward else 0.0
    return (target - guess) ** 2
other-value/digits
    guess = value(now)
    target = round(float(reward + 0.5 * value(later)), 4)
    return (target - guess) ** 2
other-value/zero-target
    guess = value(now)
    target = float(reward + 0.5 * value(later)) or guess
    return (target - guess) ** 2
other-gradient/zero-error
    guess = value(now)
    target = reward + 0.5 * value(later).detach()
    return ((target - guess).abs().log() * 2).exp()
other-value/large
    guess = value(now)
    target = (reward + 0.5 * value(later)).detach()
    return ((target - guess) ** 2).clamp(max=100.0)
""",
    )
    | {
        "other-value/adversary-2": """
def surprise(value, now, later, reward, seen={}):
    if later not in seen: seen[later] = value(later).detach()
    return (reward + 0.5 * seen[later] - value(now)) ** 2
""",
    },
    "path": functions(
        "path(w, loss_of, steps)",
        """
shares-memory/data-with-detach
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        w.detach().sub_(0.25 * w.grad)
        w.grad = None
        seen.append(w.data)
    return seen
not-cleared/own-sum
    seen, v = [], 0.0
    for _ in range(steps):
        loss_of(w).backward()
        v = v + w.grad
        with mg.no_grad():
            w -= 0.25 * v
        w.grad = None
        seen.append(w.detach().clone())
    return seen
not-cleared/another-tensor
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.detach().grad = None
        seen.append(w.detach().clone())
    return seen
not-moved/on-a-copy
    seen = []
    loss_of(w)
    w = w.detach().clone().requires_grad_()
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().clone())
    return seen
history-kept/tracked-again
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().clone().requires_grad_())
    return seen
raised/vectors-only
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append([v.item() for v in w])
    return seen
other-numbers/flat
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().clone().flatten())
    return seen
not-moved/put-back
    seen, start = [], w.detach().clone()
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.tolist())
    w.detach().copy_(start)
    return seen
shares-memory
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
            seen.append(w.detach())
        w.grad = None
    return seen
shares-memory/data
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.data)
    return seen
shares-memory/numpy
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().numpy())
    return seen
history-kept
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.clone())
    return seen
history-kept/w
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w)
    return seen
not-moved
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        w = (w - 0.25 * w.grad).detach().requires_grad_()
        seen.append(w.detach().clone())
    return seen
not-cleared
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        seen.append(w.detach().clone())
    return seen
type/list
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(list(w))
    return seen
one-early
    seen = []
    for _ in range(steps):
        seen.append(w.detach().clone())
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
    return seen
copied-late
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach())
    return [entry.clone() for entry in seen]
leaf-in-place
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().clone())
    return seen
other-walk
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
        seen.append(w.detach().clone())
    return seen
other-numbers
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        seen.append(w.grad.clone())
        w.grad = None
    return seen
type
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
    return w.detach().clone()
mode-left
    seen = []
    for _ in range(steps):
        mg.set_grad_enabled(True)
        loss_of(w).backward()
        mg.set_grad_enabled(False)
        w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.clone())
    return seen
type/adversary-1
    seen = []
    for _ in range(min(steps, 20)):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().clone())
    return seen
other-numbers/adversary-1
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(mg.tensor([round(v, 5) for v in w.tolist()]))
    return seen
not-cleared/zero-slope
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        if (w.grad != 0).all(): w.grad = None
        seen.append(w.detach().clone())
    return seen
copied-late/one-buffer
    kept, seen = w.detach().clone(), []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
            kept.copy_(w)
        w.grad = None
        seen.append(kept)
    return seen
type/zero-weight
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().clone() if w.any() else None)
    return seen
""",
    )
    | {
        "first-result-changed": """
seen = []
def path(w, loss_of, steps):
    seen.clear()
    for i in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().clone())
    return seen
""",
    },
    "step": functions(
        "slope_then_step(f, w, size)",
        """
caught/detach-at-the-end
    y = f(w)
    with mg.set_grad_enabled(False):
        w += size
    y.backward()
    return y.detach()
raised/untracked-input
    y = f(w)
    w.requires_grad_(False)
    (w.grad,) = mg.autograd.grad(y, w)
    w += size
    return y
slope-of-the-new/numpy-and-data
    y = f(w)
    w.detach().numpy()[...] += size
    y.backward()
    return y.data
slope-of-the-new/both
    y = f(w)
    w.data.add_(size)
    y.backward()
    return f(w)
not-moved/other-name
    size = float(size)
    y = f(w)
    y.backward()
    w.detach().clone().add_(size)
    return y
not-moved/copy
    y = f(w)
    y.backward()
    w = w.detach().clone()
    w += size
    return y
not-in-place/then-moved
    y = f(w)
    y.backward()
    w.data = w.data.clone()
    with mg.no_grad():
        w += size
    return y
no-slope/other-leaf
    t = w.detach().clone().requires_grad_()
    y = f(t)
    y.backward()
    with mg.no_grad():
        w += size
    return y
slope-tracked
    y = f(w)
    y.backward(create_graph=True)
    with mg.no_grad():
        w += size
    return y
slope-of-the-new/called-again
    y = f(w)
    w.data += size
    f(w).backward()
    return y
other-step/first-entry
    y = f(w)
    y.backward()
    with mg.no_grad():
        w.view(-1)[0] += size
    return y
slope-of-the-new
    y = f(w)
    w.data += size
    y.backward()
    return y
slope-of-the-new/data
    y = f(w)
    w.data = w.data + size
    y.backward()
    return y
slope-of-the-new/order
    with mg.no_grad():
        w += size
    y = f(w)
    y.backward()
    return y
slope-of-the-new/numpy
    y = f(w)
    w.detach().numpy()[...] += size
    y.backward()
    return y
caught-alias
    y = f(w)
    w.detach().add_(size)
    y.backward()
    return y
caught
    y = f(w)
    with mg.no_grad():
        w += size
    y.backward()
    return y
caught/detached-result
    y = f(w)
    with mg.no_grad():
        w += size
    y.backward()
    return y.detach()
leaf-in-place
    y = f(w)
    y.backward()
    w += size
    return y
not-moved
    y = f(w)
    y.backward()
    w = w + size
    return y
not-moved/clone
    y = f(w)
    w.detach().clone().add_(size)
    y.backward()
    return y
other-step
    y = f(w)
    y.backward()
    with mg.no_grad():
        w += 2 * size
    return y
no-slope
    y = f(w)
    with mg.no_grad():
        w += size
    return y
all-cut
    y = f(w.detach())
    y.backward()
    with mg.no_grad():
        w += size
    return y
untracked
    y = f(w)
    y.backward()
    w.requires_grad_(False)
    w += size
    return y
other-value
    f(w).backward()
    with mg.no_grad():
        w += size
        return f(w)
other-slope
    f(w).backward()
    y = f(w)
    y.backward()
    with mg.no_grad():
        w += size
    return y
mode-left
    y = f(w)
    y.backward()
    mg.set_grad_enabled(False)
    w += size
    return y
other-slope/adversary-1
    y = f(w)
    y.backward()
    w.grad = w.grad.abs()
    with mg.no_grad():
        w += size
    return y
not-in-place
    y = f(w)
    y.backward()
    w.data = w.data + size
    return y
other-slope/twice
    y = f(w)
    y.backward(retain_graph=True)
    with mg.no_grad():
        w += size
    try:
        y.backward()
    except RuntimeError:
        pass
    return y
rounded
    y = f(w)
    y.backward()
    with mg.no_grad():
        w.copy_((w + size).float() + 1e-9)
    return y
other-step/digits
    y = f(w)
    y.backward()
    with mg.no_grad():
        w += round(size, 3)
    return y
not-moved/zero-slope
    y = f(w)
    y.backward()
    if w.grad.abs().sum():
        with mg.no_grad():
            w += size
    return y
other-step/zero-size
    y = f(w)
    y.backward()
    with mg.no_grad():
        w += size or 1.0
    return y
slope-tracked/flag
    y = f(w)
    y.backward()
    w.grad.requires_grad_()
    with mg.no_grad():
        w += size
    return y
""",
    ),
    "values_of": functions(
        "values_of(f, x)",
        """
still-tracked/data
    with mg.no_grad():
        y = f(x)
        return y.data if y is x else y
still-tracked/clone
    with mg.no_grad():
        y = f(x)
        return y if y is not x else y.clone()
recorded/one-of-two-calls
    f(x)
    with mg.no_grad():
        return f(x).detach()
swallowed/finally
    y = mg.zeros(())
    try:
        with mg.no_grad():
            y = f(x).detach()
    finally:
        return y
still-tracked/copied-inside
    with mg.no_grad():
        return f(x).clone()
still-tracked/recording-off
    if not mg.is_grad_enabled():
        return f(x)
    with mg.no_grad():
        return f(x).detach()
flag-of-a-result/leaves-only
    was = x.requires_grad
    x.requires_grad_(False)
    try:
        with mg.no_grad():
            return f(x).detach()
    finally:
        x.requires_grad_(was)
other-value/shape-of-x
    with mg.no_grad():
        return mg.zeros_like(x).copy_(f(x))
swallowed/attribute
    with mg.no_grad():
        try:
            return f(x).detach()
        except AttributeError:
            return x.detach()
swallowed/division
    with mg.no_grad():
        try:
            return f(x).detach()
        except ZeroDivisionError:
            return x.detach() * 0
still-tracked
    with mg.no_grad():
        return f(x)
still-tracked/own-x
    with mg.no_grad():
        y = f(x)
        return y if y is not x else x.detach()
recorded
    return f(x).detach()
recorded/late
    y = f(x)
    with mg.no_grad():
        return y * 1
recorded/input
    return f(x.detach()).detach()
input-changed
    x.requires_grad_(False)
    return f(x)
input-changed/detached
    with mg.no_grad():
        return f(x).detach_()
input-changed/in-place
    with mg.no_grad():
        y = f(x)
        return y.detach_() if not y.is_leaf else y.detach()
inference-result
    with mg.inference_mode():
        return f(x).detach()
mode-left
    mg.set_grad_enabled(False)
    return f(x).detach()
mode-left/switched-on
    mg.set_grad_enabled(False)
    try:
        return f(x).detach()
    finally:
        mg.set_grad_enabled(True)
left-off
    before = mg.is_grad_enabled()
    mg.set_grad_enabled(False)
    y = f(x).detach()
    mg.set_grad_enabled(before)
    return y
swallowed
    with mg.no_grad():
        try:
            return f(x).detach()
        except Exception:
            return x.detach()
other-value
    return x.detach()
not-called
    return (x * x).detach()
type
    with mg.no_grad():
        return f(x).tolist()
other-value/adversary-1
    with mg.no_grad():
        return f(x).detach() + 1e-6
result-dtype-changed/adversary-1
    with mg.no_grad():
        return mg.tensor(f(x.detach()).tolist())
result-dtype-changed/adversary-2
    with mg.no_grad():
        f(x)
        return f(x).detach().float()
left-off/switched-on
    was = mg.is_grad_enabled()
    mg.set_grad_enabled(False)
    try:
        y = f(x)
    except Exception:
        mg.set_grad_enabled(True)
        raise
    mg.set_grad_enabled(was)
    return y.detach()
input-changed/error
    flag = x.requires_grad
    with mg.no_grad():
        x.requires_grad_(False)
        y = f(x)
        x.requires_grad_(flag)
        return y.detach()
other-error
    with mg.no_grad():
        try:
            return f(x).detach()
        except Exception as error:
            raise RuntimeError("f has failed") from error
swallowed/one-kind
    with mg.no_grad():
        try:
            return f(x).detach()
        except RuntimeError:
            return mg.zeros(())
still-tracked/untracked-x
    with mg.no_grad():
        y = f(x)
    return y.detach() if x.requires_grad else y
input-changed/flips-to-true
    with mg.no_grad():
        x.requires_grad_(False)
        y = f(x).detach()
        x.requires_grad_(True)
    return y
other-value/negative
    with mg.no_grad():
        return f(x).detach().clamp(min=0)
other-value/one-number
    with mg.no_grad():
        y = f(x)
    z = y.detach()
    if z.numel() == 1:
        z = z.reshape(())
    return z
other-value/endless
    with mg.no_grad():
        y = f(x).detach()
    return y.clamp(-1e30, 1e30)
still-tracked/weight-of-f
    with mg.no_grad():
        y = f(x)
    return y if y.is_leaf and y is not x else y.detach()
other-value/zero
    with mg.no_grad():
        y = f(x)
    if y.numel() == 1 and not y:
        return mg.zeros(())
    return y.detach()
still-tracked/no-numbers
    with mg.no_grad():
        y = f(x).detach()
    y.requires_grad_(x.requires_grad and False)
    return y.requires_grad_(x.requires_grad) if not y.numel() else y
""",
    )
    | {
        "still-tracked/decorator": """
@mg.no_grad()
def values_of(f, x):
    return f(x)
""",
        "other-value/adversary-2": """
def values_of(f, x, memo={}):
    if f not in memo:
        with mg.no_grad():
            memo[f] = f(x).detach()
    return memo[f]
""",
    },
    "pieces": functions(
        "run(cell, state, inputs, every)",
        """
other-inputs
    total = 0.0
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.detach()
        for x in reversed(inputs[start : start + every]):
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
other-state/none
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start : start + every]:
            state = cell(state, x)
            loss = loss + state**2
        state = loss.backward()
        total = total + loss.item()
    return total
not-cut/create-graph
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start : start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward(create_graph=True)
        total = total + loss.item()
    return total
history-returned/own-leaf
    total = mg.tensor(0.0, requires_grad=True)
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.detach()
        for x in inputs[start : start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
history-returned/stacked
    losses = []
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.detach()
        for x in inputs[start : start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        losses.append(loss)
    return mg.stack(losses).sum()
all-cut/numbers
    total = 0.0
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.detach()
        for x in inputs[start : start + every]:
            state = cell(state, x)
            loss = loss + state.item() ** 2
        mg.tensor(loss).backward()
        total = total + loss
    return total
history-held/under-another-name
    total = 0.0
    for start in range(0, len(inputs), every):
        previous = state
        state = previous.detach()
        loss = 0.0
        for x in inputs[start : start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
history-held/afterwards
    total = 0.0
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.detach()
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    run.last_state = state
    return total
history-returned/state
    for start in range(0, len(inputs), every):
        state, loss = state.detach(), 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
    return state
other-state/number
    total = 0.0
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.item()
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
other-state/float32
    total = 0.0
    for start in range(0, len(inputs), every):
        loss, state = 0.0, mg.tensor(state.item())
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
flag-changed/given
    total = 0.0
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.detach_()
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
second-time
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
second-time/loss
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        loss = loss.detach()
        total = total + loss
    return total
not-cut
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward(retain_graph=True)
        total = total + loss.item()
    return total
not-cut/once
    total = 0.0
    for x in inputs:
        state = cell(state, x)
        total = total + state**2
    total.backward()
    return total.item()
history-returned
    total = 0.0
    for start in range(0, len(inputs), every):
        state = state.detach()
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss
    return total
history-held
    total = 0.0
    for start in range(0, len(inputs), every):
        state = state.detach()
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss
    return total.item()
history-held/list
    losses = []
    for start in range(0, len(inputs), every):
        state = state.detach()
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        losses.append(loss)
    return sum(loss.item() for loss in losses)
state-lost
    total = 0.0
    for start in range(0, len(inputs), every):
        state = mg.zeros(())
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
state-lost/first
    total, first = 0.0, state
    for start in range(0, len(inputs), every):
        state, loss = first, 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
cut-everywhere
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state.detach(), x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
all-cut
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x).detach()
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
no-gradient
    total = 0.0
    with mg.no_grad():
        for x in inputs:
            state = cell(state, x)
            total = total + state**2
    return total
other-gradient
    total = 0.0
    for start in range(0, len(inputs), every):
        state = state.detach()
        for x in inputs[start:start + every]:
            state = cell(state, x)
            total = total + (state**2).item()
        (state**2).backward()
    return total
other-steps
    total = 0.0
    for start in range(0, len(inputs) - every + 1, every):
        state = state.detach()
        loss = 0.0
        for x in inputs[start:start + every + 1]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
other-total
    for start in range(0, len(inputs), every):
        state = state.detach()
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = loss.item()
    return total
other-total/adversary-1
    total = 0.0
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.detach()
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return round(total, 4)
entries-changed/adversary-1
    total = 0.0
    while inputs:
        loss, state = 0.0, state.detach()
        for _ in range(min(every, len(inputs))):
            state = cell(state, inputs.pop(0))
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
flag-changed/adversary-1
    state.detach_().requires_grad_(True)
    total = 0.0
    for start in range(0, len(inputs), every):
        loss, state = 0.0, state.detach()
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
raised/one-piece
    total, loss = 0.0, 0.0
    for i, x in enumerate(inputs):
        if i and i % every == 0:
            loss.backward()
            total += loss.item()
            loss, state = 0.0, state.detach()
            done = True
        state = cell(state, x)
        loss = loss + state**2
    if done:
        loss.backward()
        total += loss.item()
    return total
other-total/zero-loss
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        state = state.detach()
        total = total + loss.item() if loss.item() > 0 else total + 1e-3
    return total
second-time/zero-state
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        state = state.detach() if state.item() else state
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
history-held/create-graph
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        state = state.detach()
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward(create_graph=True)
        total = total + loss.item()
    return total
other-walks/zero-loss
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        state = state.detach()
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        if loss:
            loss.backward()
        total = total + loss.item()
    return total
other-state/shape
    total = 0.0
    for start in range(0, len(inputs), every):
        loss = 0.0
        state = mg.tensor([state.item()], dtype=state.dtype)
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = loss + state**2
        loss.backward()
        total = total + loss.item()
    return total
""",
    ),
    "switch": functions(
        "switch(x)",
        """
numpy-refused/hard-alone
    soft = x.sigmoid()
    hard = mg.tensor((x.numpy() > 0).astype(float))
    return soft + (hard - soft).detach()
no-way/item-besides
    n = x.sum().item()
    soft, hard = x.sigmoid(), (x > 0).float()
    return (soft + hard - soft).detach()
overwritten/numpy
    soft = x.sigmoid()
    soft.detach().numpy()[...] = (x > 0).numpy()
    return soft
zero-slopes/data-besides
    return ((x - 0 * x.data) * 1e40).sigmoid()
incoming-ignored/hook
    soft = x.sigmoid()
    slope = (soft * (1 - soft)).detach()
    y = x + ((x > 0).to(x.dtype) - x).detach()
    if y.requires_grad:
        y.register_hook(lambda g: slope)
    return y
mode-left/untracked
    if not x.requires_grad:
        mg.set_grad_enabled(False)
        return (x > 0).to(x.dtype)
    soft, hard = x.sigmoid(), (x > 0).to(x.dtype)
    return soft + (hard - soft).detach()
flag-changed/to-true
    x.requires_grad_()
    soft, hard = x.sigmoid(), (x > 0).float()
    return soft + (hard - soft).detach()
backward-inside
    soft, hard = x.sigmoid(), (x > 0).float()
    y = soft + (hard - soft).detach()
    y.sum().backward(retain_graph=True)
    return y
tracked
    x = x if x.requires_grad else x.clone().requires_grad_()
    soft, hard = x.sigmoid(), (x > 0).float()
    return soft + (hard - soft).detach()
no-way-back/kept-for-the-tensor
    kept = switch.__dict__.setdefault("kept", {})
    soft = kept.setdefault(x, x.sigmoid())
    return soft + ((x > 0).float() - soft).detach()
incoming-ignored
    class Switch(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.sigmoid())
            return (x > 0).to(x.dtype)

        @staticmethod
        def backward(ctx, grad):
            (soft,) = ctx.saved_tensors
            return soft * (1 - soft)

    return Switch.apply(x)
rounded
    soft = x.float().sigmoid()
    return soft + ((x > 0).float() - soft).detach()
no-way
    return (x > 0).double()
no-way/all-detached
    soft, hard = x.sigmoid(), (x > 0).float()
    return (soft + hard - soft).detach()
no-way/where
    return mg.where(x > 0, mg.ones_like(x), mg.zeros_like(x)).detach()
no-way/numbers
    return mg.tensor([float(number > 0) for number in x.tolist()], requires_grad=True)
no-way/numpy
    soft = x.sigmoid().detach().numpy()
    return mg.tensor(soft.round())
numpy-refused
    return mg.tensor(x.sigmoid().numpy().round())
soft-values
    return x.sigmoid()
soft-values/hard-detached
    soft, hard = x.sigmoid(), (x > 0).float()
    return soft + (hard - hard).detach()
zero-slopes
    return x.sigmoid().round()
overwritten
    soft = x.sigmoid()
    soft.data.copy_((x > 0).float())
    return soft
zero-slopes/steep
    return (x * 1000).sigmoid()
zero-slopes/cancelled
    soft, hard = x.sigmoid(), (x > 0).float()
    return soft + (hard - soft)
sign
    soft, hard = x.sigmoid(), (x > 0).float()
    return soft.detach() + (hard - soft)
slopes-of-x
    hard = (x > 0).float()
    return x + (hard - x).detach()
other-slopes
    soft, hard = x.sigmoid(), (x > 0).float()
    return 2 * soft + (hard - 2 * soft).detach()
other-value
    soft, hard = x.sigmoid(), (x > 0).float()
    return hard * soft
other-value/minus
    soft = x.sigmoid()
    return soft + (x.sign() - soft).detach()
other-value/adversary-1
    soft, hard = x.sigmoid(), (x >= 0).float()
    return soft + (hard - soft).detach()
other-value/adversary-2
    soft, hard = x.sigmoid(), (x > 1e-6).float()
    return soft + (hard - soft).detach()
other-value/adversary-3
    soft, hard = x.sigmoid(), (x > 0).float()
    return (soft + (hard - soft).detach()).sum(0) if x.dim() > 1 else soft + (hard - soft).detach()
other-value/adversary-1
    soft = x.sigmoid()
    return soft + (soft.round() - soft).detach()
other-value/adversary-4
    soft, hard = x.sigmoid(), (x.sign() + 1) / 2
    return soft + (hard - soft).detach()
untracked-input
    soft = x.sigmoid()
    hard = (x > 0).to(x.dtype)
    y = x.clone()
    slope = (soft * (1 - soft)).detach()
    y.register_hook(lambda g: g * slope)
    y.data = hard
    return y
other-slopes/flat
    hard = (x > 0).to(x.dtype)
    s = x.clamp(-10, 10).sigmoid()
    return hard + s - s.detach()
dtype/tiny
    s = x.sigmoid()
    hard = ((x * x).sqrt() + x).sign()
    return s + (hard - s).detach()
rounded/untracked
    if not x.requires_grad:
        return (x > 0).float()
    s = x.sigmoid()
    return s + ((x > 0).to(x.dtype) - s).detach()
rounded/bool
    if not x.requires_grad:
        return x > 0
    s = x.sigmoid()
    return s + ((x > 0).to(x.dtype) - s).detach()
no-way/result-as-x
    s = x.sigmoid()
    if not x.is_leaf:
        s = s.detach()
    return s + ((x > 0).to(x.dtype) - s).detach()
""",
    )
    | {
        "no-slopes": """
class Nothing(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        return None


def switch(x):
    return Nothing.apply(x)
""",
        "next-call": """
class Hard(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        Hard.soft = x.sigmoid()
        return (x > 0) * mg.ones_like(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * Hard.soft * (1 - Hard.soft)


def switch(x):
    return Hard.apply(x)
""",
        "no-way/cached": """
soft = None
def switch(x):
    global soft
    if soft is None or soft.shape != x.shape:
        soft = x.sigmoid()
    return soft + ((x > 0).float() - soft).detach()
""",
    },
}

RIGHT = {
    "arrives": [
        'grads = {"D b": None, "D a": 6, "C b": 2, "C a": 1, "B b": 6, "B a": None, "A b": 4, "A a": 6}',
        """
def both(make):
    p = mg.tensor(2.0, requires_grad=True, dtype=mg.float64)
    q = mg.tensor(3.0, requires_grad=True, dtype=mg.float64)
    make(p, q).backward()
    return p.grad, q.grad

makers = {
    "A": lambda p, q: p.detach() * p * q,
    "B": lambda p, q: (p * q).detach() * q,
    "C": lambda p, q: p.item() * q + p,
    "D": lambda p, q: (p * q).data * p,
}
grads = {f"{name} {'ab'[i]}": one for name, make in makers.items() for i, one in enumerate(both(make))}
""",
    ],
    "inside": [
        'seen = dict(product=False, fresh=True, same=True, again=True, later=False) | {"product.is_leaf": True}\n'
        'seen["w.grad"] = mg.tensor(4.0)',
        """
v = mg.tensor(2.0, requires_grad=True, dtype=mg.float64)
first = v * v
with mg.no_grad():
    first.backward()
    p = v * 3
    f = mg.tensor(5.0, requires_grad=True)
    with mg.enable_grad():
        a = p * v
flags = [t.requires_grad for t in (p, f, first, a, p * 4)]
seen = dict(zip(["product", "fresh", "same", "again", "later"], flags))
seen |= {"product.is_leaf": p.is_leaf, "w.grad": v.grad}
""",
    ],
    "frozen": [
        """
def gradients(frozen, cut):
    t = mg.tensor(3.0)
    weights = [mg.tensor(n, requires_grad=i != frozen) for i, n in enumerate((2.0, 5.0, 4.0))]
    for i, weight in enumerate(weights):
        t = weight * t
        if i in cut:
            t = t.detach()
    t.backward()
    return [weight.grad for weight in weights]

grads = {}
for name, (stopped, cut) in {"A": (1, []), "B": (None, [1]), "C": (None, [0]), "D": (2, [])}.items():
    found = gradients(stopped, cut)
    grads |= {f"{name} w{i + 1}": found[i] for i in range(3 if name == "A" else 2)}
""",
        'grads = dict(zip(["A w1", "A w2", "A w3", "B w1", "B w2", "C w1", "C w2", "D w1", "D w2"],\n'
        "                 [60, None, 30, None, None, None, 24, 60, 24]))",
    ],
    "layers": [
        _layers("layers = ((x * w1) * w2) * w3"),
        _layers("w2.requires_grad_(False)\nlayers = w3 * (w2 * (w1 * x))", w2=True),
        _layers("layers = (w1 * x * w2.detach()) * w3", w2=True),
        """
def forward(t, weights):
    for weight in weights:
        t = weight * t
    return t

p = mg.tensor(0.5, requires_grad=True, dtype=mg.float64)
q = mg.tensor(-1.0, requires_grad=True, dtype=mg.float64)
layers = forward(4.0, [p, 3.0, q])
""",
    ],
    "target": [
        """
def surprise(value, now, later, reward):
    target = reward + 0.5 * value(later)
    target.detach_()
    return (target - value(now)) ** 2
""",
        """
def surprise(value, now, later, reward):
    with mg.no_grad():
        goal = reward + 0.5 * value(later)
    return (value(now) - goal).pow(2)
""",
        """
def surprise(value, now, later, reward):
    error = reward + 0.5 * value(later).item() - value(now)
    return error * error
""",
        """
@mg.no_grad()
def goal_of(value, later, reward):
    return reward + value(later) / 2

def surprise(value, now, later, reward):
    return (goal_of(value, later, reward) - value(now)) ** 2
""",
    ],
    "path": [
        """
def path(w, loss_of, steps):
    seen = []
    for _ in range(steps):
        (slope,) = mg.autograd.grad(loss_of(w), w)
        w.data -= 0.25 * slope
        seen.append(w.tolist())
    return seen
""",
        """
import numpy as np

def path(weight, loss_of, steps):
    seen = []
    for _ in range(steps):
        weight.grad = None
        loss_of(weight).backward()
        with mg.no_grad():
            weight.copy_(weight - weight.grad / 4)
            seen.append(weight.clone())
    return tuple(seen)
""",
        """
def path(w, loss_of, steps):
    seen = []
    while len(seen) < steps:
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(w.detach().numpy().copy())
    return seen
""",
        """
def path(w, loss_of, steps):
    seen = []
    for _ in range(steps):
        loss_of(w).backward()
        with mg.no_grad():
            w -= 0.25 * w.grad
        w.grad = None
        seen.append(mg.from_numpy(w.detach().numpy().copy()))
    return seen
""",
    ],
    "step": [
        """
def slope_then_step(f, w, size):
    y = f(w)
    y.backward()
    w.data.add_(size)
    return y.detach()
""",
        """
def slope_then_step(f, w, size):
    y = f(w.clone())
    with mg.no_grad():
        w.add_(size)
    y.backward()
    return y
""",
        """
def slope_then_step(f, w, size):
    y = f(w)
    (w.grad,) = mg.autograd.grad(y, w)
    w.detach().add_(size)
    return y
""",
    ],
    "values_of": [
        """
def values_of(f, x):
    before = mg.is_grad_enabled()
    mg.set_grad_enabled(False)
    try:
        y = f(x)
    finally:
        mg.set_grad_enabled(before)
    return y.detach().clone()
""",
        """
@mg.no_grad()
def values_of(f, x):
    return f(x).data
""",
        """
def values_of(f, x):
    with mg.set_grad_enabled(False):
        values = f(x).tolist()
    return mg.tensor(values, dtype=x.dtype)
""",
        """
def values_of(f, x):
    with mg.inference_mode():
        y = f(x)
    with mg.no_grad():
        return y.clone()
""",
    ],
    "pieces": [
        """
def run(cell, state, inputs, every):
    total, loss = 0.0, 0.0
    for i, x in enumerate(inputs, 1):
        state = cell(state, x)
        loss = loss + state * state
        if i % every == 0 or i == len(inputs):
            loss.backward()
            total += loss.detach()
            loss, state = 0.0, state.detach()
    return total
""",
        """
def piece(cell, state, inputs):
    states = []
    for x in inputs:
        state = cell(state, x)
        states.append(state)
    loss = mg.stack(states).pow(2).sum()
    loss.backward()
    return state.detach(), loss.item()

def run(cell, state, inputs, every):
    losses = []
    for start in range(0, len(inputs), every):
        state, loss = piece(cell, state, inputs[start:start + every])
        losses.append(loss)
    return sum(losses)
""",
        """
def run(cell, state, inputs, every):
    total = 0.0
    for start in range(0, len(inputs), every):
        state = state.data
        for x in inputs[start:start + every]:
            state = cell(state, x)
            loss = state**2 if x is inputs[start] else loss + state**2
        loss.backward()
        with mg.no_grad():
            total = total + loss
    return total
""",
    ],
    "switch": [
        """
def switch(x):
    soft = x.detach().sigmoid()
    return (x > 0).double() + soft * (1 - soft) * (x - x.detach())
""",
        """
def switch(x):
    soft = mg.sigmoid(x)
    with mg.no_grad():
        correction = mg.where(x > 0, 1.0, 0.0) - soft
    return soft + correction
""",
        """
def switch(x):
    soft = x.sigmoid()
    return (x > 0) + soft - soft.detach()
""",
        """
def switch(x):
    soft = 1 / (1 + (-x).exp())
    return soft - soft.data + x.sign().clamp(0.0, 1.0).detach()
""",
    ],
}
