"""Chapter 05: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed

NOTEBOOK = "05_retain_graph"

_often = changed("often", A="twice", B="once", C="twice", D="once", E="twice", F="once")
_walks = changed("walks", A=6, B=6, C=12, D="error")
_kinds = changed("kinds", A=3, B="error", C=6, D=3, E=6, F="error")

WRONG = {
    "often": {
        "always-once": _often(A="once", C="once", E="once"),
        "never-freed": _often(B="twice", D="twice", F="twice"),
        "number-is-saved": _often(B="twice"),
        "result-is-saved": _often(D="twice"),
        "last-operation-only": _often(F="twice"),
        "sum-goes-again": _often(A="once"),
        "mean-goes-again": _often(C="once"),
        "moving-goes-again": _often(E="once"),
        "kind": _often(A="often"),
        "kind/number": _often(A=3),
        "kind/flag": _often(A=True),
    },
    "walks": {
        "clearing-destroys": _walks(B="error"),
        "clearing-destroys/all": _walks(B="error", C="error"),
        "not-cleared": _walks(B=12, C=18),
        "overwrites": _walks(C=6),
        "overwrites/goes-on": _walks(C=6, D=6),
        "frees-before-it-walks": _walks(C="error"),
        "retained-for-ever": _walks(D=18),
        "slope-not-value": _walks(A=9),
        "one-way": _walks(A=3, B=3, C=6),
        "wrong-D": _walks(D=12),
        "wrong-A": _walks(A=None),
        "kind": _walks(A="six"),
    },
    "four_times": {
        "other-operation": """
def four_times(x):
    return 4 * x
""",
        "other-operation/doubled": """
def four_times(x):
    double = x + x
    return 2 * double
""",
        "other-operation/sum": """
def four_times(x):
    return mg.stack([x, x, x, x]).sum()
""",
        "not-shared": """
def four_times(x):
    return (x + x) + (x + x)
""",
        "not-shared/sum": """
def four_times(x):
    return sum([x] * 4)
""",
        "not-shared/row": """
def four_times(x):
    return x + x + x + x
""",
        "other-value": """
def four_times(x):
    double = x + x
    return double + x
""",
        "other-value/eight": """
def four_times(x):
    for _ in range(3):
        x = x + x
    return x
""",
        "cut-off": """
def four_times(x):
    double = x.detach() + x.detach()
    return double + double
""",
        "other-graph": """
def four_times(x):
    double = x + x
    return double + double.detach()
""",
        "type": """
def four_times(x):
    return 4 * x.item()
""",
    },
    "shared": {
        "second-time": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    head_b(h).backward()
    head_a(h).backward()
""",
        "two-walks": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    head_a(h).backward(retain_graph=True)
    head_b(h).backward()
""",
        "two-walks/both-retained": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    head_a(h).backward(retain_graph=True)
    head_b(h).backward(retain_graph=True)
""",
        "retained-anyway": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    (head_a(h) + head_b(h)).backward(retain_graph=True)
""",
        "two-forwards": """
def train_both(trunk, head_a, head_b, x):
    head_a(trunk(x)).backward()
    head_b(trunk(x)).backward()
""",
        "cut-off": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    head_a(h).backward()
    head_b(h.detach()).backward()
""",
        "cut-off/first": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    head_a(h.detach()).backward()
    head_b(h).backward()
""",
        "one-loss": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    head_a(h).backward()
    try:
        head_b(h).backward()
    except RuntimeError:
        pass
""",
        "one-loss/last": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    for head in (head_a, head_b):
        loss = head(h)
    loss.backward()
""",
        "mean": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    ((head_a(h) + head_b(h)) / 2).backward()
""",
        "nothing-added": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    return mg.autograd.grad(head_a(h) + head_b(h), x)
""",
        "trunk-missed": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x).detach()
    (head_a(h) + head_b(h)).backward()
""",
        "trunk-missed/asked": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x).detach().requires_grad_()
    (head_a(h) + head_b(h)).backward()
""",
        "twice": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    loss = head_a(h) + head_b(h)
    loss.backward(retain_graph=True)
    loss.backward()
""",
        "cleared/between": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    head_a(h).backward(retain_graph=True)
    x.grad = None
    head_b(h).backward()
""",
        "cleared": """
def train_both(trunk, head_a, head_b, x):
    x.grad = None
    h = trunk(x)
    (head_a(h) + head_b(h)).backward()
""",
        "head-missed": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    (head_a(h) + head_b(h)).backward(inputs=[x])
""",
        "other-gradient": """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    (head_a(h) - head_b(h)).backward()
""",
    },
    "curvature": {
        "slope-without-graph": """
def curvature(f, x):
    y = f(x)
    slope, = mg.autograd.grad(y, x, retain_graph=True)
    result, = mg.autograd.grad(slope, x, retain_graph=True)
    return result
""",
        "slope-without-graph/late": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x, retain_graph=True)
    result, = mg.autograd.grad(slope, x, create_graph=True)
    return result
""",
        "same-walk-twice": """
def curvature(f, x):
    y = f(x)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad
""",
        "another-tensor": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x)
    slope.requires_grad_()
    result, = mg.autograd.grad(slope, x)
    return result
""",
        "freed-too-early": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x, create_graph=True, retain_graph=False)
    result, = mg.autograd.grad(slope, x)
    return result
""",
        "freed-too-early/no-option": """
def curvature(f, x):
    y = f(x)
    slope, = mg.autograd.grad(y, x)
    result, = mg.autograd.grad(y, x)
    return result
""",
        "first-slope": """
def curvature(f, x):
    y = f(x)
    slope, = mg.autograd.grad(y, x, retain_graph=True)
    result, = mg.autograd.grad(y, x)
    return result
""",
        "first-slope/returned": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return slope
""",
        "squared": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return slope * slope
""",
        "traces": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    slope.backward()
    return x.grad
""",
        "added-up": """
def curvature(f, x):
    y = f(x)
    y.backward(retain_graph=True)
    slope, = mg.autograd.grad(y, x, create_graph=True)
    slope.backward()
    return x.grad
""",
        "none": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x)
    slope.requires_grad_()
    result, = mg.autograd.grad(slope, x, allow_unused=True)
    return result
""",
        "type": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x)
""",
        "raised": """
def curvature(f, x):
    slope = mg.autograd.grad(f(x), x, create_graph=True)
    return slope.backward()
""",
        "other-number": """
def curvature(f, x):
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    result, = mg.autograd.grad(slope * slope, x)
    return result
""",
    },
    "kinds": {
        "retained-for-the-slope": _kinds(B=6),
        "retained-for-the-slope/zero": _kinds(B=0),
        "slope-again": _kinds(B=3),
        "create-needs-retain": _kinds(E="error"),
        "create-does-not-retain": _kinds(D="error"),
        "both-graphs-kept": _kinds(F=3),
        "second-from-y": _kinds(D=6),
        "second-from-y/freed": _kinds(F=6),
        "first-again": _kinds(C=3),
        "first-again/freed": _kinds(E=3),
        "grad-adds-up": _kinds(A=6),
        "kept-fails": _kinds(A="error"),
        "kept-fails/all": _kinds(A="error", C="error", D="error", E="error"),
        "wrong-C": _kinds(C="error"),
        "kind": _kinds(A="three"),
    },
    "stale": {
        "moved-error": """
def fit(model, w, target, rounds):
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        loss.backward(retain_graph=True)
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "before-the-update": """
def fit(model, w, target, rounds):
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        loss.backward()
        y = model(w)
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "grad-elsewhere": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        w.grad = None
        y = model(w.detach().requires_grad_())
        loss = (y - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "lost-later": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w = w - 0.01 * w.grad
""",
        "stale-slope": """
def fit(model, w, target, rounds):
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        loss.backward(retain_graph=True)
        w.data -= 0.01 * w.grad
""",
        "stale-slope/in-the-slope": """
def fit(model, w, target, rounds):
    y = model(w)
    slope, = mg.autograd.grad((y - target) ** 2, w)
    for _ in range(rounds):
        with mg.no_grad():
            w -= 0.01 * slope
""",
        "still-stale": """
def fit(model, w, target, rounds):
    y = model(w)
    loss = (y - target) ** 2
    for _ in range(rounds):
        w.grad = None
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "no-way": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        w.grad = None
        y = model(w.detach())
        loss = (y - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "retained-anyway": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward(retain_graph=True)
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "not-cleared": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "not-updated": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        loss = (model(w) - target) ** 2
        slope, = mg.autograd.grad(loss, w)
        w = (w - 0.01 * slope).detach().requires_grad_()
""",
        "one-round": """
def fit(model, w, target, rounds):
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        try:
            loss.backward()
        except RuntimeError:
            break
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "recorded-update": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        w -= 0.01 * w.grad
""",
        "grad-none": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        w = w - 0.01 * w.grad
""",
        "raised": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        w.grad.zero_()
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
        "other-w": """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w += 0.01 * w.grad
""",
    },
    "memory": {
        "through-the-past": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state + number
        loss = state * state
        loss.backward(retain_graph=True)
    return state
""",
        "retained-anyway": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        loss = state * state
        loss.backward(retain_graph=True)
    return state
""",
        "one-walk": """
def run(w, inputs):
    state, total = mg.tensor(1.0), 0
    for number in inputs:
        state = w * state + number
        total = total + state * state
    total.backward()
    return state
""",
        "second-time": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        w.grad = None
        state = w * state + number
        loss = state * state
        loss.backward()
    return state
""",
        "second-time/wrong-place": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state + number
        state.detach()
        loss = state * state
        loss.backward()
    return state
""",
        "cut-too-far": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = (w * state).detach() + number
        loss = state * state
        loss.backward()
    return state
""",
        "cut-too-far/w": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w.detach() * state + number
        loss = state * state
        loss.backward()
    return state
""",
        "state-lost": """
def run(w, inputs):
    for number in inputs:
        state = w * mg.tensor(1.0) + number
        loss = state * state
        loss.backward()
    return state
""",
        "last-round": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        w.grad = None
        state = w * state.detach() + number
        loss = state * state
        loss.backward()
    return state
""",
        "nothing-arrives": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
    return state
""",
        "other-gradient": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        state.backward()
    return state
""",
        "type": """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        loss = state * state
        loss.backward()
    return state.item(), w.grad
""",
    },
    "apart": {
        "second-time": """
def apart(losses, x):
    return [mg.autograd.grad(loss, x)[0] for loss in losses]
""",
        "second-time/first-only": """
def apart(losses, x):
    first, *rest = losses
    gradients = list(mg.autograd.grad(first, x, retain_graph=True))
    for loss in rest:
        gradients += mg.autograd.grad(loss, x)
    return gradients
""",
        "kept-to-the-end": """
def apart(losses, x):
    return [mg.autograd.grad(loss, x, retain_graph=True)[0] for loss in losses]
""",
        "tuples": """
def apart(losses, x):
    last = losses[-1]
    return [mg.autograd.grad(loss, x, retain_graph=loss is not last) for loss in losses]
""",
        "summed": """
def apart(losses, x):
    total = sum(losses)
    return [mg.autograd.grad(total, x, retain_graph=True)[0] for loss in losses]
""",
        "same-tensor": """
def apart(losses, x):
    gradients = []
    for loss in losses:
        loss.backward(retain_graph=loss is not losses[-1])
        gradients.append(x.grad)
    return gradients
""",
        "added-up": """
def apart(losses, x):
    gradients = []
    for loss in losses:
        loss.backward(retain_graph=loss is not losses[-1])
        gradients.append(x.grad.clone())
    return gradients
""",
        "traces": """
def apart(losses, x):
    gradients = []
    for loss in losses:
        x.grad = None
        loss.backward(retain_graph=loss is not losses[-1])
        gradients.append(x.grad)
    return gradients
""",
        "other-order": """
def apart(losses, x):
    gradients = []
    for loss in losses:
        (gradient,) = mg.autograd.grad(loss, x, retain_graph=loss is not losses[-1])
        gradients.insert(0, gradient)
    return gradients
""",
        "type": """
def apart(losses, x):
    for loss in losses:
        (gradient,) = mg.autograd.grad(loss, x, retain_graph=True)
    return gradient
""",
        "type/generator": """
def apart(losses, x):
    for loss in losses:
        yield mg.autograd.grad(loss, x, retain_graph=loss is not losses[-1])[0]
""",
        "type/numbers": """
def apart(losses, x):
    last = losses[-1]
    return [mg.autograd.grad(loss, x, retain_graph=loss is not last)[0].tolist() for loss in losses]
""",
        "type/one-walk": """
def apart(losses, x):
    return mg.autograd.grad(losses, x)
""",
        "other-gradients": """
def apart(losses, x):
    gradients = []
    for loss in losses:
        (gradient,) = mg.autograd.grad(loss, x, retain_graph=loss is not losses[-1])
        gradients.append(2 * gradient)
    return gradients
""",
    },
    "saved": {
        "tensors-counted": """
def saved_numbers(f, x):
    kept = []

    def pack(t):
        kept.append(t)
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return len(kept)
""",
        "nothing-seen": """
def saved_numbers(f, x):
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t

    y = f(x)
    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y
    return sum(counts)
""",
        "nothing-seen/unpack": """
def saved_numbers(f, x):
    counts = []

    def unpack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        f(x)
    return sum(counts)
""",
        "nothing-kept": """
def saved_numbers(f, x):
    counts = []

    def pack(t):
        counts.append(t.numel())

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
""",
        "nothing-kept/numbers": """
def saved_numbers(f, x):
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t.numel()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
""",
        "walked": """
def saved_numbers(f, x):
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    y.sum().backward()
    return sum(counts)
""",
        "walked/unpack": """
def saved_numbers(f, x):
    counts = []

    def unpack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        f(x).sum().backward()
    return sum(counts)
""",
        "counted-before": """
counts = []

def pack(t):
    counts.append(t.numel())
    return t

def saved_numbers(f, x):
    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
""",
        "rows-counted": """
def saved_numbers(f, x):
    counts = []

    def pack(t):
        counts.append(len(t))
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
""",
        "counted-twice": """
def saved_numbers(f, x):
    counts = []

    def count(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(count, count):
        y = f(x)
    y.sum().backward(retain_graph=True)
    return sum(counts)
""",
        "entries-counted": """
def saved_numbers(f, x):
    f(x)
    return x.numel()
""",
        "not-called": """
def saved_numbers(f, x):
    return 2 * x.numel()
""",
        "type": """
def saved_numbers(f, x):
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return counts
""",
        "other-count": """
def saved_numbers(f, x):
    counts = []

    def pack(t):
        counts.append(t.sum().item())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
""",
    },
}

RIGHT = {
    "often": [
        'often = {"F": 1, "E": 2, "D": 1, "C": 2, "B": 1, "A": 2}',
        'often = dict(A="Twice", B="Once", C="twice", D="once ", E="twice", F="once")',
    ],
    "walks": [
        'walks = {"A": mg.tensor(6.0), "B": 6.0, "C": mg.tensor(12.0), "D": "Error"}',
        'walks = dict(zip("ABCD", (6, 6, 12, "raises")))',
    ],
    "four_times": [
        """
def four_times(number):
    for _ in range(2):
        number = mg.add(number, number)
    return number
""",
        """
def twice(t):
    return t + t

four_times = lambda x: twice(twice(x))
""",
        """
def four_times(x):
    y = x + x
    y += y
    return y
""",
    ],
    "shared": [
        """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    mg.autograd.backward([head_a(h), head_b(h)])
""",
        """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    total = sum(head(h) for head in (head_b, head_a))
    total.backward()
    return total
""",
        """
def train_both(trunk, head_a, head_b, x):
    h = trunk(x)
    held = h.detach().requires_grad_()
    head_a(held).backward()
    head_b(held).backward()
    h.backward(held.grad)
""",
    ],
    "curvature": [
        """
def curvature(f, x):
    f(x).backward(create_graph=True)
    slope, x.grad = x.grad, None
    return mg.autograd.grad(slope, x)[0]
""",
        "curvature = mg.autograd.functional.hessian",
        """
def curvature(f, x):
    y = f(x)
    (slope,) = mg.autograd.grad(y, [x], create_graph=True, retain_graph=True)
    return mg.autograd.grad(slope, [x])[0]
""",
        """
def curvature(f, x):
    z = x.detach().double().requires_grad_()
    slope = mg.autograd.grad(f(z), z, create_graph=True)[0]
    slope_of_slope = mg.autograd.grad(slope.sum(), z, retain_graph=True)
    return slope_of_slope[0]
""",
    ],
    "kinds": [
        'kinds = {"A": 3.0, "B": "error", "C": 6.0, "D": 3.0, "E": 6.0, "F": "ERROR"}',
        'kinds = dict(zip("ABCDEF", (mg.tensor(3.0), "raises", mg.tensor([6.0]), 3, 6, "error")))',
    ],
    "stale": [
        """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        loss = (model(w) - target) ** 2
        (slope,) = mg.autograd.grad(loss, w)
        with mg.no_grad():
            w -= 0.01 * slope
""",
        """
def fit(model, w, target, rounds):
    y = model(w)
    for _ in range(rounds):
        ((y - target) ** 2).backward()
        with mg.no_grad():
            w.sub_(w.grad, alpha=0.01)
        w.grad.zero_()
        y = model(w)
    return w
""",
        """
def fit(model, w, target, rounds):
    left = rounds
    while left:
        w.grad = None
        loss = (target - model(w)) * (target - model(w))
        loss.backward()
        w.data = w.data - 0.01 * w.grad
        left -= 1
""",
    ],
    "memory": [
        """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state + number
        loss = state * state
        loss.backward()
        state.detach_()
    return state
""",
        """
def run(w, inputs):
    state = mg.tensor(1.0)
    for number in inputs:
        state = number + state * w
        (state ** 2).backward()
        state = state.detach()
    return state
""",
        """
def run(w, inputs):
    state = 1.0
    for number in inputs:
        new = w * state + number
        mg.autograd.backward(new * new)
        state = new.item()
    return new
""",
        """
def run(w, inputs):
    state = mg.tensor(1.0, dtype=mg.float64)
    for number in inputs:
        with mg.no_grad():
            old = state * 1
        state = mg.add(w * old, number)
        state.square().backward()
    return state
""",
    ],
    "apart": [
        """
def apart(losses, x):
    old, found = x.grad, []
    for i, loss in enumerate(losses):
        x.grad = None
        loss.backward(retain_graph=i < len(losses) - 1, inputs=[x])
        found.append(x.grad)
    x.grad = old
    return found
""",
        """
def apart(losses, x):
    gradients = []
    for left in range(len(losses) - 1, -1, -1):
        loss = losses[len(losses) - 1 - left]
        gradients.extend(mg.autograd.grad(loss, [x], retain_graph=left > 0))
    return tuple(gradients)
""",
        """
def apart(losses, x):
    *others, last = losses
    found = [mg.autograd.grad(loss, x, retain_graph=True)[0] for loss in others]
    return [*found, mg.autograd.grad(last, x)[0]]
""",
    ],
    "saved": [
        """
def saved_numbers(f, x):
    total = 0

    def pack(t):
        nonlocal total
        total += len(t.reshape(-1))
        return t.tolist()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda kept: mg.tensor(kept, dtype=mg.float64)):
        f(x)
    return total
""",
        """
class Counter:
    def __init__(self):
        self.count = 0

    def pack(self, t):
        self.count += t.numel()
        return t

    def unpack(self, t):
        return t

def saved_numbers(f, x):
    counter = Counter()
    with mg.autograd.graph.saved_tensors_hooks(counter.pack, counter.unpack):
        y = f(x)
    return mg.tensor(counter.count)
""",
    ],
}
