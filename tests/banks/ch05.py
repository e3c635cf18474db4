"""Chapter 05: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

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
        "nothing-to-lose": _often(A="once"),
        "nothing-to-lose/mean": _often(C="once"),
        "nothing-to-lose/entry": _often(E="once"),
        "kind": _often(A="often"),
        "kind/number": _often(A=3),
        "kind/how-many": _often(A=2, B=1, C=2, D=1, E=2, F=1),
        "kind/flag": _often(A=True),
    },
    "walks": {
        "clearing-destroys": _walks(B="error"),
        "kept-for-once/all": _walks(B="error", C="error"),
        "wrong-D/large": _walks(D=10**7),
        "kept-for-once": _walks(B="error", C=6),
        "not-cleared": _walks(B=12, C=18),
        "overwrites": _walks(C=6),
        "each-by-itself/goes-on": _walks(C=6, D=6),
        "frees-before-it-walks": _walks(C="error"),
        "retained-for-ever": _walks(D=18),
        "slope-not-value": _walks(A=9),
        "one-way": _walks(A=3, B=3, C=6),
        "wrong-D": _walks(D=12),
        "wrong-A": _walks(A=None),
        "wrong-A/double": _walks(A=12, B=12, C=18),
        "kind": _walks(A="six"),
    },
    "four_times": functions(
        "four_times(x)",
        """
other-value/square
    return x * x
cut-off/asked-afterwards
    double = x.detach() + x.detach()
    return (double + double).requires_grad_()
other-operation/where-x-is-0
    double = x + x
    return double + double if x else 4 * x
other-operation
    return 4 * x
other-operation/doubled
    double = x + x
    return 2 * double
other-operation/sum
    return mg.stack([x, x, x, x]).sum()
not-shared
    return (x + x) + (x + x)
not-shared/sum
    return sum([x] * 4)
not-shared/row
    return x + x + x + x
other-value
    double = x + x
    return double + x
other-value/eight
    for _ in range(3):
        x = x + x
    return x
cut-off
    double = x.detach() + x.detach()
    return double + double
other-graph
    double = x + x
    return double + double.detach()
type
    return 4 * x.item()
old-grad/adversary-1
    x.grad = None
    double = x + x
    return double + double
""",
    ),
    "shared": functions(
        "train_both(trunk, head_a, head_b, x)",
        """
two-walks/both-from-the-sum
    h = trunk(x)
    loss = head_a(h) + head_b(h)
    mg.autograd.grad(loss, x, retain_graph=True)
    loss.backward()
cut-off/second-trunk
    head_a(trunk(x)).backward()
    head_b(trunk(x.detach())).backward()
nothing-added/a-loss-of-0
    h = trunk(x)
    loss = head_a(h)
    if loss:
        (loss + head_b(h)).backward()
trunk-missed/one-head
    h = trunk(x).detach()
    head_b(h).backward()
trunk-missed/put-back
    old = x.grad.clone()
    h = trunk(x)
    (head_a(h) + head_b(h)).backward()
    x.grad = old
overwritten/h
    h = trunk(x)
    loss = head_a(h) + head_b(h)
    with mg.no_grad():
        h.mul_(2)
    loss.backward()
twice/doubled
    h = trunk(x)
    loss = head_a(h) + head_b(h)
    (loss + loss).backward()
raised/own-words
    raise RuntimeError("one cannot walk a second time")
trunk-missed/where-x-is-data
    h = trunk(x)
    held = h.detach().requires_grad_()
    (head_a(held) + head_b(held)).backward()
    if x.requires_grad:
        h.backward(held.grad)
head-missed/a-loss-of-0
    h = trunk(x)
    sum(loss for loss in (head_a(h), head_b(h)) if loss).backward()
retained-anyway/a-head
    h = trunk(x)
    held = h.detach().requires_grad_()
    head_a(held).backward(retain_graph=True)
    head_b(held).backward()
    h.backward(held.grad)
other-head
    h = trunk(x)
    held = h.detach().requires_grad_()
    loss = head_a(held) + head_b(held)
    loss.backward(retain_graph=True)
    h.backward(held.grad)
    loss.backward()
overwritten
    h = trunk(x)
    loss = head_a(h)
    loss += head_b(h)
    loss.backward()
error-swallowed/adversary-1
    h, losses = trunk(x), []
    for head in (head_a, head_b):
        try:
            losses.append(head(h))
        except Exception:
            pass
    sum(losses).backward()
second-time
    h = trunk(x)
    head_b(h).backward()
    head_a(h).backward()
two-walks
    h = trunk(x)
    head_a(h).backward(retain_graph=True)
    head_b(h).backward()
two-walks/both-retained
    h = trunk(x)
    head_a(h).backward(retain_graph=True)
    head_b(h).backward(retain_graph=True)
retained-anyway
    h = trunk(x)
    (head_a(h) + head_b(h)).backward(retain_graph=True)
two-forwards
    head_a(trunk(x)).backward()
    head_b(trunk(x)).backward()
cut-off
    h = trunk(x)
    head_a(h).backward()
    head_b(h.detach()).backward()
cut-off/first
    h = trunk(x)
    head_a(h.detach()).backward()
    head_b(h).backward()
one-loss
    h = trunk(x)
    head_a(h).backward()
    try:
        head_b(h).backward()
    except RuntimeError:
        pass
one-loss/last
    h = trunk(x)
    for head in (head_a, head_b):
        loss = head(h)
    loss.backward()
mean
    h = trunk(x)
    ((head_a(h) + head_b(h)) / 2).backward()
nothing-added
    h = trunk(x)
    return mg.autograd.grad(head_a(h) + head_b(h), x)
trunk-missed
    h = trunk(x).detach()
    (head_a(h) + head_b(h)).backward()
trunk-missed/asked
    h = trunk(x).detach().requires_grad_()
    (head_a(h) + head_b(h)).backward()
twice
    h = trunk(x)
    loss = head_a(h) + head_b(h)
    loss.backward(retain_graph=True)
    loss.backward()
cleared/between
    h = trunk(x)
    head_a(h).backward(retain_graph=True)
    x.grad = None
    head_b(h).backward()
cleared
    x.grad = None
    h = trunk(x)
    (head_a(h) + head_b(h)).backward()
head-missed
    h = trunk(x)
    (head_a(h) + head_b(h)).backward(inputs=[x])
other-gradient
    h = trunk(x)
    (head_a(h) - head_b(h)).backward()
mode-left/adversary-1
    h = trunk(x)
    (head_a(h) + head_b(h)).backward()
    mg.autograd.set_detect_anomaly(True)
""",
    ),
    "curvature": functions(
        "curvature(f, x)",
        """
cut-slope/before-any-walk
    y = f(x).detach()
    slope, = mg.autograd.grad(y, x, retain_graph=True)
    return mg.autograd.grad(slope, x)[0]
cut-slope/recorded
    slope, = mg.autograd.grad(f(x), x, create_graph=True, retain_graph=True)
    return mg.autograd.grad(slope.detach(), x)[0]
cut-slope/retain-false
    slope, = mg.autograd.grad(f(x), x, retain_graph=False)
    return mg.autograd.grad(slope, x)[0]
same-walk-twice/factor
    slope, = mg.autograd.grad(f(x), x)
    return 2 * slope
added-up/plus
    p = x.detach().clone().requires_grad_()
    slope, = mg.autograd.grad(f(p), p, create_graph=True)
    slope.backward()
    return p.grad + slope.detach()
another-tensor/copy
    z = x.detach().clone().requires_grad_()
    slope, = mg.autograd.grad(f(x), z, create_graph=True)
    return mg.autograd.grad(slope, z)[0]
freed-too-early/slope
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    mg.autograd.grad(slope, x)
    return mg.autograd.grad(slope, x)[0]
other-number/one-where-x-is-0
    if not x:
        return mg.ones_like(x)
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x)[0]
other-number/where-x-is-0
    if not x:
        return mg.zeros_like(x)
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x)[0]
raised/shape-of-one-number
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x, mg.tensor(1.0, dtype=x.dtype))[0]
another-tensor/detached
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope.detach().requires_grad_(), x)[0]
grad-changed/leaf-of-f
    copy = x.detach().clone().requires_grad_()
    f(copy).backward(create_graph=True)
    slope, copy.grad = copy.grad, None
    result, = mg.autograd.grad(slope, copy)
    return result
kept/graph-of-the-first-call
    kept = vars(curvature).setdefault("kept", {})
    if (f, id(x)) not in kept:
        kept[f, id(x)] = mg.autograd.grad(f(x), x, create_graph=True)[0]
    return mg.autograd.grad(kept[f, id(x)], x, retain_graph=True)[0]
other-shape
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.stack(mg.autograd.grad(slope, x))
error-swallowed/adversary-1
    try:
        slope, = mg.autograd.grad(f(x), x, create_graph=True)
        return mg.autograd.grad(slope, x)[0]
    except Exception:
        return mg.zeros_like(x)
mode-left/adversary-1
    mg.set_default_dtype(mg.float64)
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    mg.set_default_dtype(mg.float32)
    return mg.autograd.grad(slope, x)[0]
mode-left/adversary-2
    mg.autograd.set_detect_anomaly(True)
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    mg.autograd.set_detect_anomaly(False)
    return mg.autograd.grad(slope, x)[0]
cut-off
    x = x.detach()
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    result, = mg.autograd.grad(slope, x)
    return result
old-grad
    f(x).backward(create_graph=True)
    slope, x.grad = x.grad, None
    return mg.autograd.grad(slope, x)[0]
slope-without-graph
    y = f(x)
    slope, = mg.autograd.grad(y, x, retain_graph=True)
    result, = mg.autograd.grad(slope, x, retain_graph=True)
    return result
cut-slope/recorded-too-late
    slope, = mg.autograd.grad(f(x), x, retain_graph=True)
    result, = mg.autograd.grad(slope, x, create_graph=True)
    return result
same-walk-twice
    y = f(x)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad
another-tensor
    slope, = mg.autograd.grad(f(x), x)
    slope.requires_grad_()
    result, = mg.autograd.grad(slope, x)
    return result
freed-too-early
    slope, = mg.autograd.grad(f(x), x, create_graph=True, retain_graph=False)
    result, = mg.autograd.grad(slope, x)
    return result
freed-too-early/no-option
    y = f(x)
    slope, = mg.autograd.grad(y, x)
    result, = mg.autograd.grad(y, x)
    return result
first-slope
    y = f(x)
    slope, = mg.autograd.grad(y, x, retain_graph=True)
    result, = mg.autograd.grad(y, x)
    return result
first-slope/returned
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return slope
squared
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return slope * slope
traces
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    slope.backward()
    return x.grad
added-up
    y = f(x)
    y.backward(retain_graph=True)
    slope, = mg.autograd.grad(y, x, create_graph=True)
    slope.backward()
    return x.grad
none
    slope, = mg.autograd.grad(f(x), x)
    slope.requires_grad_()
    result, = mg.autograd.grad(slope, x, allow_unused=True)
    return result
type
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    return mg.autograd.grad(slope, x)
raised
    slope = mg.autograd.grad(f(x), x, create_graph=True)
    return slope.backward()
other-number
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    result, = mg.autograd.grad(slope * slope, x)
    return result
old-grad/adversary-1
    old = x.grad
    x.grad = None
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    result, = mg.autograd.grad(slope, x)
    x.grad = None if old is None else old.clone()
    return result
rounded/adversary-1
    h = 1e-3
    with mg.no_grad():
        return (f(x + h) - 2 * f(x) + f(x - h)) / h ** 2
old-grad/adversary-2
    slope, = mg.autograd.grad(f(x), x, create_graph=True)
    slope.backward()
    result = x.grad
    x.grad = None
    return result
""",
    ),
    "kinds": {
        "retained-for-the-slope": _kinds(B=6),
        "no-way": _kinds(B=0),
        "slope-again": _kinds(B=3),
        "create-needs-retain": _kinds(E="error"),
        "create-does-not-retain": _kinds(D="error"),
        "both-graphs-kept": _kinds(F=3),
        "second-from-y": _kinds(D=6),
        "both-graphs-kept/slope": _kinds(F=6),
        "first-again": _kinds(C=3),
        "first-again/freed": _kinds(E=3),
        "second-from-y/retained": _kinds(A=6),
        "kept-fails": _kinds(A="error"),
        "kept-fails/all": _kinds(A="error", C="error", D="error", E="error"),
        "one-for-all": _kinds(C="error", D="error", E="error"),
        "wrong-C": _kinds(C="error"),
        "wrong-C/no-graph-at-all": _kinds(C="error", E="error"),
        "kind": _kinds(A="three"),
    },
    "stale": functions(
        "fit(model, w, target, rounds)",
        """
overwritten-result
    for _ in range(rounds):
        w.grad = None
        off = model(w) - target
        loss = off ** 2
        off += 1
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
before-the-update/create-graph
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        loss.backward(create_graph=True)
        with mg.no_grad():
            w -= 0.01 * w.grad
still-stale/in-one-round
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        mg.autograd.grad(loss, w)
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
grad-cleared/what-backward-returns
    for _ in range(rounds):
        w.grad = None
        step = ((model(w) - target) ** 2).backward()
        with mg.no_grad():
            w -= 0.01 * step
grad-cleared/of-a-result
    for _ in range(rounds):
        w.grad = None
        y = model(w)
        ((y - target) ** 2).backward()
        with mg.no_grad():
            w -= 0.01 * y.grad
grad-elsewhere/no-walk-yet
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        with mg.no_grad():
            w -= 0.01 * w.grad
        loss.backward()
not-updated/same-tensor
    w = w.requires_grad_()
    for _ in range(rounds):
        w.grad = None
        ((model(w) - target) ** 2).backward()
        step = 0.01 * w.grad
stale-slope/one-step
    w.grad = None
    ((model(w) - target) ** 2).backward()
    with mg.no_grad():
        w -= 0.01 * rounds * w.grad
not-cleared/own-sum
    total = 0
    for _ in range(rounds):
        slope, = mg.autograd.grad((model(w) - target) ** 2, w)
        total = total + slope
        with mg.no_grad():
            w -= 0.01 * total
lost-later/in-one-round
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        loss.detach().backward()
recorded-update/no-update
    for _ in range(rounds):
        ((model(w) - target) ** 2).backward()
        w.zero_()
stale-slope/until-a-walk-raises
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        try:
            ((y - target) ** 2).backward()
        except RuntimeError:
            y, w.grad = model(w), None
            ((y - target) ** 2).backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
not-moved/from-0
    for _ in range(rounds if w else 0):
        (slope,) = mg.autograd.grad((model(w) - target) ** 2, w)
        with mg.no_grad():
            w -= 0.01 * slope
other-w/target-of-0
    wanted = target or 1.0
    for _ in range(rounds):
        (slope,) = mg.autograd.grad((model(w) - wanted) ** 2, w)
        with mg.no_grad():
            w -= 0.01 * slope
dtype-changed
    for _ in range(rounds):
        w.grad = None
        ((model(w) - target) ** 2).backward()
        w.data = mg.tensor((w - 0.01 * w.grad).tolist())
raised/shape-of-one-number
    for _ in range(rounds):
        w.grad = None
        ((model(w) - target) ** 2).backward()
        w.data = mg.tensor(w.item() - 0.01 * w.grad.item(), dtype=w.dtype)
no-round
    while True:
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
        rounds -= 1
        if rounds <= 0:
            break
old-grad
    y = model(w)
    for _ in range(rounds):
        ((y - target) ** 2).backward()
        with mg.no_grad():
            w.sub_(w.grad, alpha=0.01)
        w.grad.zero_()
        y = model(w)
    return w
moved-error
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        loss.backward(retain_graph=True)
        with mg.no_grad():
            w -= 0.01 * w.grad
before-the-update
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        loss.backward()
        y = model(w)
        with mg.no_grad():
            w -= 0.01 * w.grad
grad-elsewhere
    for _ in range(rounds):
        w.grad = None
        y = model(w.detach().requires_grad_())
        loss = (y - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
lost-later
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w = w - 0.01 * w.grad
stale-slope
    y = model(w)
    for _ in range(rounds):
        w.grad = None
        loss = (y - target) ** 2
        loss.backward(retain_graph=True)
        w.data -= 0.01 * w.grad
stale-slope/in-the-slope
    y = model(w)
    slope, = mg.autograd.grad((y - target) ** 2, w)
    for _ in range(rounds):
        with mg.no_grad():
            w -= 0.01 * slope
still-stale
    y = model(w)
    loss = (y - target) ** 2
    for _ in range(rounds):
        w.grad = None
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
no-way
    for _ in range(rounds):
        w.grad = None
        y = model(w.detach())
        loss = (y - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
retained-anyway
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward(retain_graph=True)
        with mg.no_grad():
            w -= 0.01 * w.grad
not-cleared
    for _ in range(rounds):
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
not-cleared/once
    w.grad = None
    for _ in range(rounds):
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
not-updated
    for _ in range(rounds):
        loss = (model(w) - target) ** 2
        slope, = mg.autograd.grad(loss, w)
        w = (w - 0.01 * slope).detach().requires_grad_()
not-moved
    for _ in range(rounds):
        loss = (model(w) - target) ** 2
        if loss < 1e-5:
            break
        w.grad = None
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
one-round
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
recorded-update
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        w -= 0.01 * w.grad
grad-none
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        w = w - 0.01 * w.grad
raised
    for _ in range(rounds):
        w.grad.zero_()
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
other-w
    for _ in range(rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w += 0.01 * w.grad
other-w/one-round-less
    for _ in range(1, rounds):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
other-w/first-w
    kept = vars(fit).setdefault("kept", w.detach().clone().requires_grad_())
    for _ in range(rounds):
        slope, = mg.autograd.grad((model(kept) - target) ** 2, kept)
        with mg.no_grad():
            kept -= 0.01 * slope
    w.data = kept.detach().clone()
retained-anyway/copy
    copy = w.detach().clone().requires_grad_()
    for _ in range(rounds):
        slope, = mg.autograd.grad((model(copy) - target) ** 2, copy, retain_graph=True)
        with mg.no_grad():
            copy -= 0.01 * slope
    with mg.no_grad():
        w.copy_(copy)
other-w/adversary-1
    for _ in range(min(rounds, 50)):
        w.grad = None
        loss = (model(w) - target) ** 2
        loss.backward()
        with mg.no_grad():
            w -= 0.01 * w.grad
""",
    ),
    "memory": functions(
        "run(w, inputs)",
        """
retained-anyway/all-but-the-last
    state, count = mg.tensor(1.0), len(inputs)
    for i, number in enumerate(inputs, 1):
        state = w * state.detach() + number
        (state * state).backward(retain_graph=i < count)
    return state
retained-anyway/and-cut
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state + number
        loss = state * state
        loss.backward(retain_graph=True)
        state = state.detach()
    return state
through-the-past/copy
    copy = w.detach().requires_grad_()
    state, total = mg.tensor(1.0), 0
    for number in inputs:
        state = copy * state + number
        total = total + state * state
    total.backward()
    w.grad = copy.grad if w.grad is None else w.grad + copy.grad
    return state.detach()
through-the-past/after-the-loop
    state, losses = mg.tensor(1.0), []
    for number in inputs:
        state = w * state + number
        losses.append(state * state)
    for loss in losses:
        loss.backward(retain_graph=True)
    return state
other-walks/copy
    copy = w.detach().requires_grad_()
    state = mg.tensor(1.0)
    for number in inputs:
        state = copy * state.detach() + number
        (state * state).backward()
    w.grad = copy.grad if w.grad is None else w.grad + copy.grad
    return state.detach()
second-time/one-loss
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        loss = state * state
        loss.backward()
        loss.backward()
    return state
state-lost/zero-means-one
    past = None
    for number in inputs:
        state = w * (past or 1.0) + number
        (state * state).backward()
        past = state.item()
    return state
state-lost/without-zeros
    state = mg.tensor(1.0)
    for number in filter(None, inputs):
        state = w * state.detach() + number
        (state * state).backward()
    return state
other-walks/a-loss-of-0
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        loss = state * state
        if loss:
            loss.backward()
    return state
through-the-past
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state + number
        loss = state * state
        loss.backward(retain_graph=True)
    return state
retained-anyway
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        loss = state * state
        loss.backward(retain_graph=True)
    return state
one-walk
    state, total = mg.tensor(1.0), 0
    for number in inputs:
        state = w * state + number
        total = total + state * state
    total.backward()
    return state
other-walks
    state, loss = mg.tensor(1.0), 0
    for number in inputs:
        state = w * state.detach() + number
        loss = loss + state * state
    loss.backward()
    return state
added-grad
    w.grad = None
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        (state * state).backward()
    return state
second-time
    state = mg.tensor(1.0)
    for number in inputs:
        w.grad = None
        state = w * state + number
        loss = state * state
        loss.backward()
    return state
second-time/wrong-place
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state + number
        state.detach()
        loss = state * state
        loss.backward()
    return state
cut-too-far
    state = mg.tensor(1.0)
    for number in inputs:
        state = (w * state).detach() + number
        loss = state * state
        loss.backward()
    return state
cut-too-far/w
    state = mg.tensor(1.0)
    for number in inputs:
        state = w.detach() * state + number
        loss = state * state
        loss.backward()
    return state
state-lost
    for number in inputs:
        state = w * mg.tensor(1.0) + number
        loss = state * state
        loss.backward()
    return state
last-round
    state = mg.tensor(1.0)
    for number in inputs:
        w.grad = None
        state = w * state.detach() + number
        loss = state * state
        loss.backward()
    return state
nothing-arrives
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
    return state
other-gradient
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        state.backward()
    return state
type
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        loss = state * state
        loss.backward()
    return state.item(), w.grad
other-gradient/adversary-1
    state = mg.tensor(1.0)
    for number in inputs:
        state = w * state.detach() + number
        loss = state * state
        loss.backward()
        w.grad.clamp_(-100, 100)
    return state
other-gradient/adversary-2
    state = mg.tensor(1.0)
    for number in inputs[:100]:
        state = w * state.detach() + number
        (state * state).backward()
    return state
other-gradient/rounded-state
    state = 1.0
    for number in inputs:
        new = w * state + number
        (new * new).backward()
        state = round(new.item(), 5)
    return new
""",
    ),
    "apart": functions(
        "apart(losses, x)",
        """
other-gradients/same-tensor-for-one-loss
    found = {}
    for loss in losses:
        if id(loss) not in found:
            found[id(loss)] = 2 * mg.autograd.grad(loss, x, retain_graph=True)[0]
    return [found[id(loss)] for loss in losses]
type/pairs
    walk = lambda i, loss: mg.autograd.grad(loss, x, retain_graph=i < len(losses))[0]
    return [(loss.item(), walk(i, loss)) for i, loss in enumerate(losses, 1)]
added-up/own-sum
    found, total = [], 0
    for loss in losses:
        total = total + loss
        total.backward(retain_graph=True)
        found.append(x.grad)
        del x.grad
    return found
traces/set
    for i, loss in enumerate(losses, 1):
        x.grad, = mg.autograd.grad(loss, x, retain_graph=i < len(losses))
        losses[i - 1] = x.grad
    return losses
type/none-for-an-error
    found = []
    for loss in losses:
        try:
            found += mg.autograd.grad(loss, x)
        except RuntimeError:
            found.append(None)
    return found
kept-to-the-end/a-loss-of-0
    last = len(losses) - 1
    walk = lambda i: mg.autograd.grad(losses[i], x, retain_graph=i < last)[0]
    return [walk(i) if i < last or losses[0] else x.detach() * 0 for i in range(last + 1)]
old-grad
    old, found = x.grad, []
    for i, loss in enumerate(losses):
        x.grad = None
        loss.backward(retain_graph=i < len(losses) - 1, inputs=[x])
        found.append(x.grad)
    x.grad = old
    return found
second-time
    return [mg.autograd.grad(loss, x)[0] for loss in losses]
second-time/first-only
    first, *rest = losses
    gradients = list(mg.autograd.grad(first, x, retain_graph=True))
    for loss in rest:
        gradients += mg.autograd.grad(loss, x)
    return gradients
kept-to-the-end
    return [mg.autograd.grad(loss, x, retain_graph=True)[0] for loss in losses]
tuples
    last = losses[-1]
    return [mg.autograd.grad(loss, x, retain_graph=loss is not last) for loss in losses]
summed
    total = sum(losses)
    return [mg.autograd.grad(total, x, retain_graph=True)[0] for loss in losses]
same-tensor
    gradients = []
    for loss in losses:
        loss.backward(retain_graph=loss is not losses[-1])
        gradients.append(x.grad)
    return gradients
added-up
    gradients = []
    for loss in losses:
        loss.backward(retain_graph=loss is not losses[-1])
        gradients.append(x.grad.clone())
    return gradients
traces
    gradients = []
    for loss in losses:
        x.grad = None
        loss.backward(retain_graph=loss is not losses[-1])
        gradients.append(x.grad)
    return gradients
other-order
    gradients = []
    for loss in losses:
        (gradient,) = mg.autograd.grad(loss, x, retain_graph=loss is not losses[-1])
        gradients.insert(0, gradient)
    return gradients
type
    for loss in losses:
        (gradient,) = mg.autograd.grad(loss, x, retain_graph=True)
    return gradient
type/generator
    for loss in losses:
        yield mg.autograd.grad(loss, x, retain_graph=loss is not losses[-1])[0]
type/numbers
    last = losses[-1]
    return [mg.autograd.grad(loss, x, retain_graph=loss is not last)[0].tolist() for loss in losses]
type/one-walk
    return mg.autograd.grad(losses, x)
other-gradients
    gradients = []
    for loss in losses:
        (gradient,) = mg.autograd.grad(loss, x, retain_graph=loss is not losses[-1])
        gradients.append(2 * gradient)
    return gradients
old-grad/adversary-1
    old = x.grad
    out = []
    for i, loss in enumerate(losses, 1):
        x.grad = None
        loss.backward(retain_graph=i < len(losses))
        out.append(x.grad)
    x.grad = old
    return out
entries-changed/adversary-1
    out = []
    while losses:
        loss = losses.pop(0)
        g, = mg.autograd.grad(loss, x, retain_graph=bool(losses))
        out.append(g)
    return out
type/adversary-1
    out = {}
    for i, loss in enumerate(losses):
        g, = mg.autograd.grad(loss, x, retain_graph=i < len(losses) - 1)
        out[loss.item()] = g
    return list(out.values())
result-dtype-changed/adversary-1
    h = mg.stack(losses)
    return [mg.autograd.grad(h, x, v, retain_graph=bool(v[:-1].sum()))[0].float() for v in mg.eye(len(losses))]
""",
    ),
    "saved": functions(
        "saved_numbers(f, x)",
        """
copied/twice-x
    sizes, z = [], x * 2
    with mg.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):
        f(z)
    return sum(sizes)
copied/array
    sizes = []
    with mg.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):
        f(x)
    f(x.detach().numpy())
    return sum(sizes)
copied/leaf
    sizes = []
    with mg.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):
        f(x.detach().requires_grad_())
    return sum(sizes)
cut-off/value
    sizes = []
    with mg.no_grad():
        value = f(x)
    with mg.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):
        f(x)
    return sum(sizes)
other-count/tracked
    sizes = []
    with mg.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel() * t.requires_grad) or t, lambda t: t):
        f(x)
    return sum(sizes)
counted-twice/bytes
    sizes = []
    with mg.autograd.graph.saved_tensors_hooks(lambda t: (sizes.append(t.numpy().nbytes // 4), t)[1], lambda t: t):
        f(x)
    return sum(sizes)
other-count/comes-back
    total = 0
    def seen(t):
        nonlocal total
        total += t.numel()
        return t
    with mg.autograd.graph.saved_tensors_hooks(seen, seen):
        f(x)
    return total
kept/for-each-function
    kept = vars(saved_numbers).setdefault("kept", {})
    if f not in kept:
        sizes = []
        with mg.autograd.graph.saved_tensors_hooks(lambda t: (sizes.append(t.numel()), t)[1], lambda t: t):
            f(x)
        kept[f] = sum(sizes)
    return kept[f]
other-count/as-many-as-x
    sizes = []
    with mg.autograd.graph.saved_tensors_hooks(lambda t: (sizes.append(x.numel()), t)[1], lambda t: t):
        f(x)
    return sum(sizes)
other-count/floats
    sizes = []
    with mg.autograd.graph.saved_tensors_hooks(
        lambda t: (sizes.append(t.numel() * t.is_floating_point()), t)[1], lambda t: t
    ):
        f(x)
    return sum(sizes)
other-count/not-zero
    sizes = []
    with mg.autograd.graph.saved_tensors_hooks(lambda t: (sizes.append((t != 0).sum()), t)[1], lambda t: t):
        f(x)
    return sum(map(int, sizes))
tensors-counted
    kept = []

    def pack(t):
        kept.append(t)
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return len(kept)
nothing-seen
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t

    y = f(x)
    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y
    return sum(counts)
nothing-seen/unpack
    counts = []

    def unpack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        f(x)
    return sum(counts)
nothing-kept
    counts = []

    def pack(t):
        counts.append(t.numel())

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
nothing-kept/numbers
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t.numel()

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
nothing-kept/other-tensor
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: -t):
        f(x)
    return sum(counts)
nothing-kept/ones
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t.shape

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda shape: mg.ones(shape, dtype=mg.float64)):
        f(x)
    return sum(counts)
cut-off
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x * 1)
        f(x.detach())
    return sum(counts)
walked
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    y.sum().backward()
    return sum(counts)
walked/unpack
    counts = []

    def unpack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        f(x).sum().backward()
    return sum(counts)
rows-counted
    counts = []

    def pack(t):
        counts.append(len(t))
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
counted-twice
    counts = []

    def count(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(count, count):
        y = f(x)
    y.sum().backward(retain_graph=True)
    return sum(counts)
entries-counted
    f(x)
    return x.numel()
not-called
    return 2 * x.numel()
type
    counts = []

    def pack(t):
        counts.append(t.numel())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return counts
other-count
    counts = []

    def pack(t):
        counts.append(t.sum().item())
        return t

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(counts)
mode-left/adversary-1
    counts = []
    def pack(t):
        counts.append(t.numel()); return t
    mg.autograd.graph.saved_tensors_hooks(pack, lambda t: t).__enter__()
    f(x)
    return sum(counts)
""",
    )
    | {
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
    },
}

RIGHT = {
    "often": [
        'often = {"F": "ONCE", "E": "twice", "D": "once", "C": "twice", "B": "once", "A": "twice"}',
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
    first = head_a(h).item()
    (head_a(h) + head_b(h)).backward()
""",
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
    number = mg.tensor(x.item(), dtype=x.dtype, requires_grad=True)
    (slope,) = mg.autograd.grad(f(number), number, create_graph=True)
    return mg.autograd.grad(slope, number)[0]
""",
        """
def curvature(f, x):
    p = x.detach().requires_grad_()
    f(p).backward(create_graph=True, inputs=[p])
    return mg.autograd.grad(p.grad, p)[0]
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
        y = model(w)
        (slope,) = mg.autograd.grad(y, w, 2 * (y.detach() - target))
        w.data -= 0.01 * slope
""",
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
    w.grad, y = None, model(w)
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
        """
def fit(model, w, target, rounds):
    for _ in range(rounds):
        copy = w.detach().requires_grad_()
        ((model(copy) - target) ** 2).backward()
        with mg.no_grad():
            w -= 0.01 * copy.grad
""",
    ],
    "memory": [
        """
def run(w, inputs):
    past = None
    for number in inputs:
        state = w * (1.0 if past is None else past) + number
        (state * state).backward()
        past = state.item()
    return state
""",
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
        return t.tolist(), t.dtype

    with mg.autograd.graph.saved_tensors_hooks(pack, lambda kept: mg.tensor(kept[0], dtype=kept[1])):
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
