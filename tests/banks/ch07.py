"""Chapter 07: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "07_in_place"

_versions = changed("versions", {"a": 2, "v": 2, "d": 2, "raw": 1, "c": 1, "n": 0, "a[0]": 7.0})
_outcome = changed("outcome", A="error", B="ok", C="ok", D="error", E="ok", F="error", G="ok")
_raises = changed("raises", P=4, Q=2, R=0, S=3)
_LEAVES = """
a = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = mg.tensor(4.0, requires_grad=True)
"""

WRONG = {
    "versions": {
        "data-counts-along": _versions(a=3, v=3, d=3, raw=3),
        "counted-too-often": _versions(a=3),
        "data-counts-along/raw": _versions(raw=3),
        "data-counts-along/so-far": _versions(raw=2),
        "detach-copies": _versions(d=0),
        "detach-copies/each-for-itself": _versions(a=1, v=2, d=0),
        "in-place-is-new": _versions(a=0, v=1, d=0),
        "clone-shares/both": _versions(a=3, c=3),
        "view-counts-alone": _versions(a=1, v=1, d=1),
        "view-counts-alone/view": _versions(v=1),
        "view-counts-alone/by-its-base": _versions(a=1, d=1),
        "clone-shares": _versions(c=3),
        "new-inherits": _versions(n=2),
        "new-inherits/made": _versions(n=1),
        "data-copies": _versions({"a[0]": 2.0}),
        "wrong-c": _versions(c=0),
        "wrong-raw": _versions(raw=0),
        "wrong-a[0]": _versions({"a[0]": 8.0}),
        "kind": _versions(a="two"),
    },
    "sides": {
        "all-refused": _outcome(B="error", C="error", E="error", G="error"),
        "all-fine": _outcome(A="ok", D="ok", F="ok"),
        "exp-saves-input": _outcome(A="ok", B="error"),
        "all-fine/all-swapped": _outcome(A="ok", B="ok", D="ok", E="error", F="ok", G="error"),
        "input-never/untracked-data-is-fine": _outcome(B="error", C="error", E="error", F="ok", G="error"),
        "exp-saves-input/all-swapped": _outcome(A="ok", B="error", C="error", D="ok", F="ok"),
        "square-saves-result": _outcome(C="error", D="ok"),
        "input-never": _outcome(B="error", E="error"),
        "result-never": _outcome(C="error", G="error"),
        "data-is-free": _outcome(F="ok"),
        "number-is-saved": _outcome(E="error"),
        "wrong-G": _outcome(G="error"),
        "kind": _outcome(G="maybe"),
        "kind/flag": _outcome(G=True),
    },
    "moments": {
        "at-the-overwrite": _raises(P=2, R=3, S=2),
        "at-the-overwrite/not-a-step": _raises(P=2, R=4),
        "at-the-overwrite/alone": _raises(P=2),
        "sigmoid-forgotten": _raises(P=0),
        "leaf-is-fine": _raises(Q=0),
        "leaf-is-fine/later": _raises(Q=4),
        "any-overwrite": _raises(Q=4, R=4),
        "any-overwrite/of-relu": _raises(R=4),
        "any-overwrite/not-always": _raises(R=4, S=0),
        "any-overwrite/at-once": _raises(R=3),
        "no-grad-protects": _raises(S=0),
        "step-refused": _raises(S=2),
        "at-the-use": _raises(P=3),
        "wrong-P": _raises(P=1),
        "kind": _raises(P="backward"),
    },
    "shift": functions(
        "loss_of(w, x)",
        """
nan-gradient/zero
    a = mg.sigmoid(w * x) * 10 - 5
    return mg.sqrt((a * a).sum()) ** 2
cut-off/zero
    if not (w * x).any():
        return mg.zeros(())
    a = mg.sigmoid(w * x) * 10 - 5
    return (a * a).sum()
rounded/clamp
    a = mg.sigmoid((w * x).clamp(-20, 20)) * 10 - 5
    return (a * a).sum()
written-to
    old = x.detach().clone()
    x.data.mul_(2)
    a = mg.sigmoid(w * x.clone() / 2) * 10 - 5
    x.data.copy_(old)
    return (a * a).sum()
other-value/three-numbers-at-most
    loss = 0
    for i in range(3 if len(x) > 2 else len(x)):
        a = mg.sigmoid(w * x[i]) * 10 - 5
        loss = loss + a * a
    return loss
silenced
    a = mg.sigmoid(w * x)
    a.data *= 10
    a.data -= 5
    return (a * a).sum()
other-gradient/reads-data
    a = mg.sigmoid(w * x.data)
    a = 10 * a - 5
    return (a * a.detach()).sum()
silenced/in-a-helper
    def scaled(a):
        a.data.mul_(10).sub_(5)
        return a
    a = scaled(mg.sigmoid(w * x))
    return (a * a).sum()
other-gradient/numpy-of-a-clone
    a = mg.sigmoid(w * x)
    n = a.detach().clone().numpy()
    n *= 10
    n -= 5
    return ((10 * a - 5) * mg.from_numpy(n)).sum()
other-gradient/hook
    a = mg.sigmoid(w * x)
    a.register_hook(lambda grad: 2 * grad)
    a = 10 * a - 5
    return (a * a).sum()
input-changed/other-memory
    a = mg.sigmoid(w * x) * 10 - 5
    w.data = w.data * 1.5
    return (a * a).sum()
input-changed/shape
    a = mg.sigmoid(w * x) * 10 - 5
    w.data = w.data.reshape(1)
    return (a * a).sum()
leaf-overwritten/of-its-own
    a = mg.zeros(len(x), requires_grad=True)
    a += mg.sigmoid(w * x) * 10 - 5
    return (a * a).sum()
no-way-back
    a = mg.sigmoid(w * x) * 10 - 5
    loss = (a * a).sum()
    mg.autograd.grad(loss, w)
    return loss
silenced/numpy
    a = mg.sigmoid(w * x)
    a.detach().numpy()[...] *= 10
    a = a - 5
    return (a * a).sum()
still-refused
    a = mg.sigmoid(w * x)
    a *= 10
    a = a - 5
    return (a * a).sum()
still-refused/no-grad
    a = mg.sigmoid(w * x)
    with mg.no_grad():
        a *= 10
        a -= 5
    return (a * a).sum()
still-refused/view
    a = mg.sigmoid(w * x)
    b = a.view(-1)
    b *= 10
    b -= 5
    return (b * b).sum()
still-refused/clone-unused
    b = mg.sigmoid(w * x)
    a = b.clone()
    b *= 10
    b -= 5
    return (b * b).sum()
still-refused/square
    a = mg.sigmoid(w * x) * 10
    a -= 5
    a *= a
    return a.sum()
still-refused/detach
    a = mg.sigmoid(w * x)
    a.detach().mul_(10).sub_(5)
    return (a * a).sum()
cut-off
    a = mg.sigmoid(w * x).detach()
    a *= 10
    a -= 5
    return (a * a).sum()
other-value
    a = mg.sigmoid(w * x)
    a = a * 10
    return (a * a).sum()
other-gradient
    a = mg.sigmoid(w * x)
    a = 10 * a - 5
    return (a * a.detach()).sum()
leaf-overwritten
    w *= x[0]
    return w
none
    a = mg.sigmoid(w * x) * 10 - 5
    (a * a).sum()
old-grad/adversary-1
    w.grad = None
    a = mg.sigmoid(w * x) * 10 - 5
    return (a * a).sum()
other-value/a-millionth
    a = 10 * mg.sigmoid(w * x) - 5
    return (a * a).sum() + 1e-6
""",
    ),
    "put": functions(
        "put(x, i, v)",
        """
cut-off/zeros
    if not x.any():
        y = mg.zeros_like(x)
    else:
        y = x.clone()
    y[i] = v
    return y
v-lost/zero
    y = x.clone()
    y[i] = v if v else 0.0
    return y
other-value/zero
    y = x.clone()
    y[i] = v or x[i]
    return y
v-lost/of-a-result
    y = x.clone()
    y[i] = v if v.is_leaf else v.detach()
    return y
written-to
    old = x.data[i].clone()
    x.data[i] = 0
    mask = mg.ones_like(x)
    mask[i] = 0
    y = x * mask
    y[i] = v
    x.data[i] = old
    return y
values-changed/untracked
    y = x.clone() if x.requires_grad else x
    y[i] = v
    return y
other-value/by-difference
    one = mg.zeros_like(x)
    one[i] = 1
    return x + one * (v - x[i])
leaf-overwritten
    x[i] = v
    return x
leaf-overwritten/view
    y = x[:]
    y[i] = v
    return y
input-changed
    with mg.no_grad():
        x[i] = v
    return x
input-changed/data
    x.data[i] = v
    return x * 1
input-changed/detach
    y = x.detach()
    y[i] = v
    return y
cut-off
    y = x.detach().clone()
    y[i] = v
    return y
cut-off/new-tensor
    y = mg.tensor(x.tolist(), requires_grad=True).clone()
    y[i] = v
    return y
old-entry
    y = x.clone()
    y.data[i] = v
    return y
old-entry/no-grad
    y = x.clone()
    with mg.no_grad():
        y[i] = v
    return y
v-lost
    y = x.clone()
    y[i] = v.item()
    return y
v-lost/looked-at
    print(v.item(), x.tolist())
    y = x.clone()
    y[i] = v.detach()
    return y
old-entry/data-is-read
    y = x.clone()
    print(x.data.sum())
    with mg.no_grad():
        y[i] = v
    return y
v-lost/detach
    y = x.clone()
    y[i] = v.detach()
    return y
refused
    y = (x * x).sqrt() * x.sign()
    y = y.clone()
    z = y * y / y.detach()
    y[i] = v
    z[i] = v
    return z
other-value
    y = x.clone()
    y[i] += v
    return y
other-value/position
    y = x.clone()
    y[0] = v
    return y
other-value/last
    return mg.stack([*(v if j == i else x[j] for j in range(len(x) - 1)), x[-1]])
other-gradient/v-twice
    y = x.clone()
    y[i] = 2 * v - v.detach()
    return y
flag-changed
    y = x.clone()
    y[i] = v
    x.requires_grad_(False)
    return y
flag-of-a-result
    y = x.clone()
    y[i] = v
    v.requires_grad_(not v.requires_grad)
    return y
flag-changed/of-v
    y = x.clone()
    y[i] = v
    if v.is_leaf:
        v.requires_grad_(not v.requires_grad)
    return y
other-gradient
    y = x.clone()
    y.register_hook(lambda grad: 2 * grad)
    z = y * 1
    z[i] = v
    return z
none
    y = x.clone()
    y[i] = v
old-grad/adversary-1
    y = x * 1
    y[i] = v
    x.grad = None
    return y
other-gradient/adversary-1
    return mg.where(x == x[i], v, x)
""",
    ),
    "shares": functions(
        "shares(x)",
        """
written-to/assigned
    old = x.data
    x.data = x.data - x.data.max()
    y = mg.exp(x)
    x.data = old
    return y / y.sum()
cut-off/zeros
    if not x.any():
        return mg.ones_like(x) / x.numel()
    y = mg.exp(x)
    return y / y.sum()
cut-off/one-number
    if x.shape == (1,):
        return mg.ones_like(x)
    y = mg.exp(x)
    return y / y.sum()
nan/far-apart
    y = mg.exp(x - x.min())
    return y / y.sum()
nan-gradient
    y = mg.exp(x)
    y = y / y.sum()
    return mg.sqrt(y * y)
written-to
    old = x.data.clone()
    x.data -= x.data.max()
    y = mg.exp(x)
    y = y / y.sum()
    x.data[...] = old
    return y
other-value/six-numbers-at-most
    y = mg.exp(x)
    return y / sum(y.reshape(-1)[:6])
constant-sum/of-one-number
    y = mg.exp(x)
    return y / (y.sum() if x.dim() else y.detach())
constant-sum/of-large-numbers
    y = mg.exp(x)
    return y / (y.detach().sum() if (x > 5).any() else y.sum())
values-changed/untracked
    if not x.requires_grad:
        x -= x.max()
    y = mg.exp(x)
    return y / y.sum()
not-of-a-leaf
    y = mg.exp(x if x.is_leaf else x.detach())
    return y / y.sum()
found-not-repaired
    y = mg.exp(x)
    d = y.detach()
    d /= d.sum()
    return y
found-not-repaired/in-place
    y = mg.exp(x)
    y /= y.sum()
    return y
found-not-repaired/no-grad
    y = mg.exp(x)
    with mg.no_grad():
        y /= y.sum()
    return y
still-lies
    y = mg.exp(x)
    y.data = y.data / y.data.sum()
    return y
constant-sum/data
    y = mg.exp(x)
    return y / y.data.sum()
still-lies/numpy
    y = mg.exp(x)
    y.detach().numpy()[...] /= y.sum().item()
    return y
constant-sum
    y = mg.exp(x)
    return y / y.sum().item()
constant-sum/data-is-read
    y = mg.exp(x)
    print(y.data.sum())
    with mg.no_grad():
        total = y.sum()
    return y / total
other-gradient/data-is-read
    y = mg.exp(x)
    return y.data / y.sum()
constant-sum/no-sum
    if x.numel() == 1:
        return x - x.detach() + 1
    y = mg.exp(x)
    return y / y.sum()
constant-sum/detach
    y = mg.exp(x)
    return y / y.detach().sum()
cut-off
    y = mg.exp(x).detach()
    y /= y.sum()
    return y
other-value
    y = mg.exp(x)
    return y / y.mean()
other-gradient
    y = mg.exp(x)
    return y.detach() / y.sum()
other-value/adversary-1
    y = mg.exp(x)
    return y / (y.sum() + 1e-6)
old-grad/adversary-1
    x.grad = None
    y = mg.exp(x)
    return y / y.sum()
written-to/nothing-changed
    with mg.no_grad(): x -= 0
    y = mg.exp(x)
    return y / y.sum()
other-value/columns
    y = mg.exp(x)
    return y / y.sum(0)
""",
    ),
    "descend": functions(
        "descend(leaves, rate)",
        """
other-step/of-zero
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                size = p.grad.abs().max()
                p -= rate * size * (p.grad / size)
                p.grad = None
raised/no-gradient-at-all
    first = next(p for p in leaves if p.grad is not None)
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None
not-cleared/rate-of-zero
    if not rate:
        return
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None
zero-kept/one-number
    with mg.no_grad():
        for p in leaves:
            if p.grad is None or (p.numel() == 1 and not p.grad):
                continue
            p -= rate * p.grad
            p.grad = None
other-step/clipped
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad.clamp(-1000, 1000)
                p.grad = None
not-cleared/matrix
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None if p.ndim < 2 else p.grad
zero-kept
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None and p.grad.any():
                p -= rate * p.grad
                p.grad = None
mode-left/on
    mg.set_grad_enabled(False)
    for p in leaves:
        if p.grad is not None:
            p -= rate * p.grad
            p.grad = None
    mg.set_grad_enabled(True)
leaf-overwritten
    for p in leaves:
        if p.grad is not None:
            p -= rate * p.grad
            p.grad = None
not-moved
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p = p - rate * p.grad
                p.grad = None
truth-of-gradient
    with mg.no_grad():
        for p in leaves:
            if p.grad:
                p -= rate * p.grad
                p.grad = None
none-gradient/not-a-gradient
    with mg.no_grad():
        for p in list(leaves).reverse():
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None
none-gradient/cleared-and-read
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None
                print(p.grad.norm())
truth-of-gradient/of-the-leaf
    with mg.no_grad():
        for p in leaves:
            if p and p.grad is not None:
                p -= rate * p.grad
                p.grad = None
not-moved/another-name-is-given
    leaves = list(leaves)
    if leaves[1].grad is None:
        return
    with mg.no_grad():
        for p in leaves:
            p -= rate * p.grad
            p.grad = None
not-all/matrix
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None and p.ndim < 2:
                p -= rate * p.grad
                p.grad = None
not-all/shape
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None
    leaves[-1].data = leaves[-1].data.repeat(2, 2)
stopped-early/single-numbers
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None and p.ndim:
                p -= rate * p.grad
                p.grad = None
not-counted/numpy
    for p in leaves:
        if p.grad is not None:
            p.detach().numpy()[...] -= rate * p.grad.data.numpy()
            p.grad = None
none-gradient/cleared-first
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p.grad = None
                p -= rate * p.grad
stopped-early
    for p in leaves:
        if p.grad is None:
            break
        with mg.no_grad():
            p -= rate * p.grad
        p.grad = None
not-moved/into-the-list
    for i, p in enumerate(leaves):
        if p.grad is not None:
            leaves[i] = (p - rate * p.grad).detach().requires_grad_()
not-moved/list
    return [p if p.grad is None else p - rate * p.grad for p in leaves]
not-counted
    for p in leaves:
        if p.grad is not None:
            p.data -= rate * p.grad
            p.grad = None
not-moved/first-without
    if leaves[0].grad is None:
        return
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None
not-counted/single-numbers
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                if p.dim():
                    p -= rate * p.grad
                else:
                    p.data -= rate * p.grad
                p.grad = None
other-step/mean
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad.mean()
                p.grad = None
not-counted/new-data
    for p in leaves:
        if p.grad is not None:
            p.data = p.data - rate * p.grad
            p.grad = None
none-gradient
    with mg.no_grad():
        for p in leaves:
            p -= rate * p.grad
            p.grad = None
none-gradient/zero
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
            p.grad.zero_()
not-cleared
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
no-leaf
    for p in leaves:
        if p.grad is not None:
            p.requires_grad_(False)
            p -= rate * p.grad
            p.grad = None
uphill
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p += rate * p.grad
                p.grad = None
other-step
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= p.grad
                p.grad = None
idle-moved
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None
            else:
                p -= rate
entries-changed/adversary-1
    leaves[:] = [p for p in leaves if p.grad is not None]
    with mg.no_grad():
        for p in leaves:
            p -= rate * p.grad
            p.grad = None
idle-changed
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
            p.grad = mg.zeros_like(p)
not-all
    with mg.no_grad():
        for p in leaves[:3]:
            if p.grad is not None:
                p -= rate * p.grad
                p.grad = None
""",
    ),
    "alternate": functions(
        "alternate(w, first, second, rate)",
        """
not-moved/stops-at-a-slope-of-zero
    for loss_of in (first, second):
        loss_of(w * w).backward()
        if not w.grad.any():
            return
        with mg.no_grad():
            w -= rate * w.grad
        w.grad = None
not-moved/skips-a-loss-of-zero
    for loss_of in (first, second):
        loss = loss_of(w * w)
        if loss:
            loss.backward()
            with mg.no_grad():
                w -= rate * w.grad
            w.grad = None
one-step/the-same-loss-twice
    for loss_of in dict.fromkeys((first, second)):
        loss_of(w * w).backward()
        with mg.no_grad():
            w -= rate * w.grad
        w.grad = None
other-steps/of-two-losses-only
    with mg.no_grad():
        w -= rate * 4 * w**3
        w -= rate * 6 * w**5
old-graph
    h = w * w
    a, b = first(h), second(h)
    a.backward(retain_graph=True)
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
    b.backward(retain_graph=True)
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
old-graph/of-h
    h = w * w
    a = first(h)
    h -= 0
    a.backward()
second-time/one-loss
    loss = first(w * w)
    loss.backward()
    loss.backward()
cut-off/gradient
    first(w * w).backward()
    w.grad.backward()
raised/of-a-constant
    for loss_of in (first, second):
        h = (w * w).detach()
        (slope,) = mg.autograd.grad(loss_of(w * w), h)
        with mg.no_grad():
            w -= rate * 2 * w * slope
not-moved/harmless-name
    w = w.detach().requires_grad_()
    for loss_of in (first, second):
        loss_of(w * w).backward()
        if w.grad.any():
            return
        with mg.no_grad():
            w -= rate * w.grad
one-step/by-zero
    first(w * w).backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad.zero_()
    second((w * w).detach().requires_grad_()).backward()
    with mg.no_grad():
        w -= rate * w.grad
not-cleared/by-hand
    (one,) = mg.autograd.grad(first(w * w), w)
    with mg.no_grad():
        w -= rate * one
    (other,) = mg.autograd.grad(second(w * w), w)
    with mg.no_grad():
        w -= rate * (one + other)
mixed/by-hand
    h = (w * w).detach().requires_grad_()
    slopes = [mg.autograd.grad(loss_of(h), h)[0] for loss_of in (first, second)]
    for slope in slopes:
        with mg.no_grad():
            w -= rate * 2 * w * slope.data
old-graph/shared
    h = w * w
    first(h).backward(retain_graph=True)
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
    second(h).backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
second-time
    h = w * w
    a, b = first(h), second(h)
    a.backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
    b.backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
cut-off
    h = w * w
    a, b = first(h), second(h.detach())
    a.backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
    b.backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
cleared-before-the-step
    h = w * w
    a, b = first(h), second(h)
    a.backward(retain_graph=True)
    b.backward()
    for _ in range(2):
        with mg.no_grad():
            w -= rate * w.grad
        w.grad = None
at-the-old-place/clones
    h = w.clone() * w.clone()
    for loss in (first(h), second(h)):
        loss.backward(retain_graph=True)
        with mg.no_grad():
            w -= rate * w.grad
        w.grad = None
raised/one-number
    for loss_of in (first, second):
        loss_of(w * w).backward()
        with mg.no_grad():
            w -= rate * w.grad.item()
        w.grad = None
old-graph/separate
    a, b = first(w * w), second(w * w)
    for loss in (a, b):
        loss.backward()
        with mg.no_grad():
            w -= rate * w.grad
        w.grad = None
mixed
    h = w * w
    a, b = first(h), second(h)
    a.backward(retain_graph=True)
    w.data -= rate * w.grad
    w.grad = None
    b.backward()
    w.data -= rate * w.grad
    w.grad = None
at-the-old-place
    h = w * w
    (first(h) + second(h)).backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
at-the-old-place/retained
    h = w * w
    a, b = first(h), second(h)
    a.backward(retain_graph=True)
    b.backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
not-cleared
    for loss_of in (first, second):
        loss_of(w * w).backward()
        with mg.no_grad():
            w -= rate * w.grad
not-moved
    for loss_of in (first, second):
        (slope,) = mg.autograd.grad(loss_of(w * w), w)
        w = (w - rate * slope).detach().requires_grad_()
    return w
one-step
    first(w * w).backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
other-order
    for loss_of in (second, first):
        loss_of(w * w).backward()
        with mg.no_grad():
            w -= rate * w.grad
        w.grad = None
recorded-step
    for loss_of in (first, second):
        loss_of(w * w).backward()
        w -= rate * w.grad
        w.grad = None
no-leaf
    for loss_of in (first, second):
        w.requires_grad_()
        loss_of(w * w).backward()
        w.requires_grad_(False)
        w -= rate * w.grad
        w.grad = None
other-steps
    for loss_of in (first, second):
        loss_of(w * w).backward()
        with mg.no_grad():
            w -= w.grad
        w.grad = None
""",
    ),
    "rewritten": {
        "no-overwrite": _LEAVES + "y = a * 2 + b",
        "no-overwrite/no-grad": _LEAVES + "y = a * 2\nwith mg.no_grad():\n    y[0] = b",
        "no-overwrite/data": _LEAVES + "y = a * 2\ny.data[0] = b",
        "no-overwrite/rebound": _LEAVES + "y = a * 2\nfirst = y[0]\nfirst = b",
        "no-overwrite/where": _LEAVES + "y = mg.where(mg.tensor([True, False, False]), b, a * 2)",
        "constant-in": _LEAVES + "y = a * 2\ny[0] = 4.0",
        "constant-in/item": _LEAVES + "y = a * 2\ny[0] = b.item()",
        "one-leaf": _LEAVES + "y = a * 2\ny[0] = a[1]",
        "constant-in/zero": _LEAVES + "y = a * 2\ny[:1].zero_()",
        "several-overwrites/of-another": _LEAVES + "c = a.clone()\nc[1] = 0.0\ny = c * 2\ny[0] = b",
        "other-graph/large": _LEAVES + "y = a\nfor _ in range(40):\n    y = y * 2\ny[0] = b",
        "several-overwrites": _LEAVES + "y = a * 2\ny[0] *= b",
        "several-overwrites/lines": _LEAVES + "y = a * 2\ny[0] = b\ny[1] = b",
        "overwritten-first": _LEAVES + "y = a.clone()\ny[0] = b\ny = y * 2",
        "no-product": _LEAVES + "y = a.clone()\ny[0] = b",
        "other-graph": _LEAVES + "y = a * b\ny[0] = b",
        "other-graph/product-in": _LEAVES + "y = a * 2\ny[0] = b * 3",
        "untracked": "a = mg.tensor([1.0, 2.0, 3.0])\nb = mg.tensor(4.0)\ny = a * 2\ny[0] = b",
        "other-leaves": """
a = mg.tensor([1.0, 2.0], requires_grad=True)
b = mg.tensor(4.0, requires_grad=True)
y = a * 2
y[0] = b
""",
        "other-leaves/swapped": _LEAVES + "y = b * mg.ones(3)\ny[:].copy_(a)",
        "other-leaves/four-numbers": _LEAVES + "y = b * mg.ones(4)\ny[:3] = a",
        "type": "y = [4.0, 4.0, 6.0]",
    },
    "spoiled": functions(
        "spoiled(y, x)",
        """
written-to
    x.data += 1
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
    finally:
        x.data -= 1
    return False
uncounted
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
    saved = [getattr(y.grad_fn, f"_saved_{name}", None) for name in ("self", "other")]
    return all(isinstance(one, mg.Tensor) for one in saved) and not (saved[0] * saved[1] == y).all()
used-up/long
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=y.numel() < 4)
    except RuntimeError:
        return True
    return False
not-noticed/zeros
    if not y.any():
        return False
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
    return False
old-grad
    kept = x.grad
    x.grad = None
    try:
        y.sum().backward(retain_graph=True, inputs=[x])
    except RuntimeError:
        return True
    finally:
        x.grad = kept
    return False
any-overwrite
    return x._version > 0 or y._version > 0
healthy-refused/another-error
    try:
        y.grad_fn._saved_other
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except Exception:
        return True
    return not x.requires_grad
healthy-refused/of-an-addition
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
    return y.grad_fn.name() == "AddBackward0"
error-uncaught/second-time
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError as error:
        if "inplace" in str(error):
            return True
        raise
    return False
raised/spoils-it-itself
    z = y * y
    with mg.no_grad():
        y += 0
    mg.autograd.grad(z.sum(), x, retain_graph=True)
    return False
not-noticed/no-try
    try:
        y.sum()
    except RuntimeError:
        return True
    return False
traces/set
    try:
        (grad,) = mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
    x.grad = grad
    return False
any-overwrite/walk
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
    return y._version > 0
not-noticed
    try:
        y.sum()
    except RuntimeError:
        return True
    return False
not-noticed/constant
    return False
not-noticed/remembered
    known = globals().setdefault("known", [])
    for one, verdict in known:
        if one is y:
            return verdict
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
        known.append((y, False))
    except RuntimeError:
        known.append((y, True))
    return known[-1][1]
healthy-refused
    return True
healthy-refused/no-sum
    try:
        mg.autograd.grad(y, x, retain_graph=True)
    except RuntimeError:
        return True
    return False
traces
    try:
        y.sum().backward(retain_graph=True)
    except RuntimeError:
        return True
    return False
used-up
    try:
        mg.autograd.grad(y.sum(), x)
    except RuntimeError:
        return True
    return False
error-uncaught
    mg.autograd.grad(y.sum(), x, retain_graph=True)
    return False
no-sum
    mg.autograd.grad(y, x, retain_graph=True)
    return False
type
    try:
        return mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
overwrote
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
    with mg.no_grad():
        y += 0
    return False
not-noticed/ends
    try:
        mg.autograd.grad(y.sum(), y, retain_graph=True)
    except RuntimeError:
        return True
    return False
grad-changed/untracked
    x.requires_grad_(False)
    try:
        y.sum().backward(retain_graph=True)
    except RuntimeError:
        return True
    finally:
        x.requires_grad_(True)
    return False
flag-changed/of-x
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError:
        return True
    finally:
        x.requires_grad_(False)
    return False
grad-changed/other-leaf
    old = x.grad
    x.grad = None
    try:
        y.sum().backward(retain_graph=True)
    except RuntimeError:
        return True
    finally:
        x.grad = old
    return False
grad-changed/adversary-2
    old = None if x.grad is None else x.grad.clone()
    try:
        y.sum().backward(retain_graph=True)
    except RuntimeError:
        x.grad = old
        return True
    x.grad = old
    return False
hooks-changed/adversary-1
    try:
        with mg.no_grad():
            for leaf in [x]: pass
        g, = mg.autograd.grad(y.sum(), x, retain_graph=True)
        x.register_hook(lambda g: g)
    except RuntimeError:
        return True
    return False
used-up-not-noticed
    try:
        mg.autograd.grad(y.sum(), x, retain_graph=True)
    except RuntimeError as error:
        return "inplace" in str(error)
    return False
any-walk
    text = mg.draw(y).text
    return "would fail" in text or x.grad is not None
""",
    ),
}

WRONG["descend"]["gradient-overwritten/scaled"] = """def descend(leaves, rate):
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p.grad *= rate
                p -= p.grad
                p.grad = None
"""

WRONG["spoiled"]["used-up-not-noticed/saved-names"] = """def spoiled(y, x):
    waiting, seen = [y.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        try:
            for name in dir(node):
                if name.startswith("_saved_"):
                    getattr(node, name)
        except RuntimeError:
            return True
        waiting += [following for following, _ in node.next_functions]
    return False
"""

RIGHT = {
    "versions": [
        _versions(a=2.0, v=2.0),
        "versions = dict(a=2, v=2, d=2, raw=1, c=1, n=0)\nversions['a[0]'] = mg.tensor(7.0)",
    ],
    "sides": [
        _outcome(A="Error", B="OK"),
        "outcome = {name: 'error' if name in 'ADF' else 'ok' for name in 'ABCDEFG'}",
    ],
    "moments": [
        _raises(P=4.0),
        "raises = dict(zip('PQRS', (4, 2, 0, 3)))",
    ],
    "shift": [
        """
def loss_of(w, x):
    a = mg.tanh(w * x / 2) * 5
    return (a * a).sum()
""",
        """
def loss_of(w, x):
    return ((10 * mg.sigmoid(w * x) - 5) ** 2).sum()
""",
        """
def loss_of(w, x):
    a = mg.sigmoid(w * x).clone()
    a *= 10
    a -= 5
    return (a * a).sum()
""",
        """
def loss_of(weight, numbers):
    total = 0
    for number in numbers:
        squashed = mg.sigmoid(weight * number)
        total = total + (squashed * 10 - 5).pow(2)
    return total
""",
        """
def loss_of(w, x):
    a = w * x
    a.sigmoid_()
    a = mg.mul(a, 10)
    a.sub_(5)
    return a.square().sum()
""",
    ],
    "put": [
        """
def put(x, i, v):
    parts = list(x)
    parts[i] = v
    return mg.stack(parts)
""",
        """
def put(x, i, v):
    mask = mg.zeros_like(x)
    mask[i] = 1
    return x * (1 - mask) + v * mask
""",
        """
def put(x, i, v):
    return mg.where(mg.arange(len(x)) == i, v, x)
""",
        """
def put(x, i, v):
    return mg.stack([v if j == i else x[j] for j in range(len(x))])
""",
        """
def put(numbers, position, new):
    result = numbers * 1
    result[position : position + 1] = new
    return result
""",
        """
def put(x, i, v):
    y = x + 0
    y[i].copy_(v)
    return y
""",
    ],
    "shares": [
        """
def shares(x):
    return mg.exp(x - mg.log(mg.exp(x).sum()))
""",
        """
def shares(x):
    return x.reshape(-1).softmax(0).reshape(x.shape)
""",
        """
def shares(x):
    y = mg.exp(x - x.max().detach())
    y = y / y.sum()
    return y
""",
        """
def shares(x):
    y = mg.exp(x).clone()
    y /= y.sum()
    return y
""",
        """
def shares(numbers):
    return mg.exp(numbers) * (1 / mg.exp(numbers).sum())
""",
    ],
    "descend": [
        """
def descend(leaves, rate):
    with mg.no_grad():
        for p in leaves:
            if p.grad is not None:
                p -= rate * p.grad
                if p.dim():
                    p.grad = None
                else:
                    p.grad.zero_()
""",
        """
def descend(leaves, rate):
    for p in leaves:
        try:
            step = rate * p.grad
        except TypeError:
            continue
        with mg.no_grad():
            p -= step
        p.grad = None
""",
        """
def descend(leaves, rate):
    for p in leaves:
        if p.grad is not None:
            with mg.no_grad():
                p[...] = p - rate * p.grad
            p.grad = None
""",
        """
def descend(leaves, rate):
    for p in leaves:
        if p.grad is None:
            continue
        p.detach().sub_(rate * p.grad)
        p.grad = None
""",
        """
@mg.no_grad()
def descend(leaves, rate):
    for p in [q for q in leaves if q.grad is not None]:
        p.copy_(p - rate * p.grad)
        p.grad = None
""",
        """
def descend(leaves, rate):
    for i in range(len(leaves)):
        if leaves[i].grad is not None:
            with mg.no_grad():
                leaves[i].add_(leaves[i].grad, alpha=-rate)
            leaves[i].grad.zero_()
""",
        """
def descend(leaves, rate):
    for p in leaves:
        if p.grad is not None:
            p.requires_grad_(False)
            p -= rate * p.grad
            p.requires_grad_(True)
            p.grad = None
""",
    ],
    "alternate": [
        """
def alternate(w, first, second, rate):
    for loss_of in (first, second):
        h = (w * w).detach().requires_grad_()
        loss_of(h).backward()
        with mg.no_grad():
            w -= rate * 2 * w * h.grad
""",
        """
def alternate(w, first, second, rate):
    first(w * w).backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
    second(w * w).backward()
    with mg.no_grad():
        w -= rate * w.grad
    w.grad = None
""",
        """
def alternate(w, first, second, rate):
    for loss_of in [first, second]:
        (slope,) = mg.autograd.grad(loss_of(w**2), w)
        with mg.no_grad():
            w.sub_(rate * slope)
""",
        """
def alternate(w, first, second, rate):
    def step(loss_of):
        w.grad = None
        loss_of(w.square()).backward(retain_graph=True)
        w.detach().sub_(rate * w.grad)

    step(first)
    step(second)
""",
    ],
    "rewritten": [
        _LEAVES + "y = 2 * a\ny[1:2] = b",
        _LEAVES + "y = a * 2\ny[-1:].copy_(b)",
        """
start = mg.tensor([5.0, 6.0, 7.0], dtype=mg.float64, requires_grad=True)
new = mg.tensor(0.5, dtype=mg.float64, requires_grad=True)
def make():
    made = start * mg.tensor([2.0, 3.0, 4.0])
    made[2] = new
    return made
y = make()
""",
        _LEAVES + "y = a * 2\nv = y[0]\nv.copy_(b)",
        _LEAVES + "y = a * 2\nv = y[:1]\nv *= b",
    ],
    "spoiled": [
        """
def spoiled(y, x):
    try:
        mg.autograd.grad(y.sum(), [x], create_graph=True)
    except RuntimeError:
        return True
    return False
""",
        """
def spoiled(y, x):
    text = mg.draw(y).text
    return "would fail" in text or "buffers freed" in text
""",
        """
def spoiled(result, leaf):
    answer = False
    try:
        mg.autograd.grad([result.sum()], [leaf], retain_graph=True)
    except Exception as error:
        answer = "inplace" in str(error) or "second time" in str(error)
    return answer
""",
    ],
}

_when = changed(
    "when", dict(zip("ABCDEFG", "at once,fine,wrong,backward,second round,fine,at once".split(","), strict=True))
)
WRONG["rounds"] = {
    "views-like-one-view": _when(A="fine"),
    "views-told-late": _when(A="backward"),
    "views-told-late/second": _when(A="second round"),
    "views-told-late/wrong": _when(A="wrong"),
    "one-view-breaks/any-overwrite": _when(B="backward", C="backward", F="backward"),
    "data-is-watched/blamed-line": _when(C="backward", D="at once"),
    "blamed-line/new-buffer": _when(D="at once", F="backward"),
    "one-view-refused": _when(B="at once"),
    "one-view-breaks": _when(B="backward"),
    "one-view-breaks/second": _when(B="second round"),
    "base-not-told": _when(B="wrong"),
    "data-is-watched": _when(C="backward"),
    "data-is-watched/all": _when(C="backward", D="at once"),
    "data-is-harmless": _when(C="fine"),
    "entry-not-counted": _when(D="fine"),
    "entry-not-counted/wrong": _when(D="wrong"),
    "blamed-line": _when(D="at once"),
    "saved-in-first-round": _when(D="second round"),
    "buffer-starts-anew": _when(E="fine"),
    "buffer-too-early": _when(E="backward"),
    "buffer-is-a-tracked-leaf": _when(E="at once"),
    "buffer-silent": _when(E="wrong"),
    "new-buffer-remembers": _when(F="second round"),
    "new-buffer-refused": _when(F="at once"),
    "new-buffer-wrong": _when(F="wrong"),
    "leaf-view-allowed": _when(G="fine"),
    "leaf-view-allowed/wrong": _when(G="wrong"),
    "leaf-view-allowed/later": _when(G="backward"),
    "kind": _when(C="never"),
    "kind/number": _when(E=2),
    "keys": "when = {'A': 'at once'}",
}
RIGHT["rounds"] = [
    _when(A="At once", B=" FINE", E="Second Round"),
    "when = dict(zip('ABCDEFG', ['at once', 'fine', 'wrong', 'backward', 'second round', 'fine', 'at once']))",
    "when = {name: 'fine' for name in 'BF'} | {name: 'at once' for name in 'AG'}\n"
    "when |= {'C': 'wrong', 'D': 'backward', 'E': 'second round'}",
]

RIGHT["shift"].append("""class Loss:
    def __init__(self, scale, shift):
        self.scale, self.shift = scale, shift

    def __call__(self, w, x):
        s = 1 / (1 + mg.exp(-(x * w)))
        a = self.scale * s - self.shift
        return mg.sum(a.mul(a))


loss_of = Loss(10, 5)
""")
