"""Chapter 02: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "02_leaf_nodes"

_leaf = changed("is_leaf", a=True, b=False, c=False, d=True, e=True, f=False)
_grads = changed("grads", x=None, w=8.0, v=None, h=4.0, p=None)
_numbers = changed("numbers", a=4.0, b=10.0, c=10.0, d=5.0, e=6.0)

WRONG = {
    "kinds": {
        "result-never-leaf": _leaf(a=False, d=False, e=False),
        "trail-goes-on": _leaf(d=False, e=False),
        "looks-like-no-operation": _leaf(b=True, c=True),
        "looks-like-no-operation/tracked-is-leaf": _leaf(b=True, c=True, f=True),
        "asked-so-leaf": _leaf(f=True),
        "untracked-result": _leaf(a=False),
        "detached-result": _leaf(d=False),
        "unrecorded-result": _leaf(e=False),
        "conversion": _leaf(b=True),
        "pick": _leaf(c=True),
        "kind": _leaf(a="leaf"),
    },
    "who": {
        "everything-on-the-way": _grads(v=6, p=1),
        "everything-on-the-way/untracked-too": _grads(x=12, v=6, p=1),
        "asked-then-divided": _grads(v=6),
        "gradient-of-the-8": _grads(v=3),
        "root-keeps": _grads(p=1),
        "retain-ignored": _grads(h=None),
        "root-keeps/all-but-h": _grads(v=6, h=None, p=1),
        "retained-instead/v-has-one": _grads(w=None, v=6),
        "retained-instead": _grads(w=None),
        "stops-at-h": _grads(w=4),
        "untracked-has-grad": _grads(x=12),
        "untracked-has-zero": _grads(x=0),
        "wrong-h": _grads(h=6),
        "wrong-p": _grads(p=24),
    },
    "gets_grad": functions(
        "gets_grad(t)",
        """
remembered/memo
    memo = gets_grad.__dict__
    if t not in memo:
        memo[t] = t.requires_grad and (t.is_leaf or t.retains_grad)
    return memo[t]
raised/flag-set-and-put-back
    was = t.requires_grad
    if t.is_leaf:
        t.requires_grad_(True).requires_grad_(was)
    return was and (t.is_leaf or t.retains_grad)
other-rule/not-zero
    return bool((t != 0).all()) and t.requires_grad and (t.is_leaf or t.retains_grad)
other-rule/no-gradient-yet
    return t.requires_grad and (t.is_leaf or t.retains_grad and t.grad is None)
asks-the-mode/no-mode
    if not mg.is_grad_enabled():
        return t.is_leaf
    return t.requires_grad and (t.is_leaf or t.retains_grad)
asks-the-mode
    return mg.is_grad_enabled() and t.requires_grad and (t.is_leaf or t.retains_grad)
flag-is-enough
    return t.requires_grad
retained-forgotten
    return t.is_leaf and t.requires_grad
leaf-is-enough
    return t.is_leaf
leaf-is-enough/node
    return t.grad_fn is None
flag-forgotten
    return t.is_leaf or t.retains_grad
leaves-forgotten
    return t.retains_grad
looks-at-grad
    return t.grad is not None
always
    return True
other-rule/always-by-flags
    return t.is_leaf or t.requires_grad
other-rule/retain-not-called
    if t.requires_grad and (t.is_leaf or t.retain_grad):
        return True
    return False
other-rule/retained-misspelt
    return t.requires_grad and (t.is_leaf or getattr(t, "retained", False))
other-rule/retained-in-a-helper
    def retained(u):
        return u.retains_grad and u.is_leaf

    return t.requires_grad and (t.is_leaf or retained(t))
other-rule/tried-on-a-copy
    if not t.requires_grad:
        return False
    u = t.detach().clone().requires_grad_()
    (u * 2).sum().backward()
    return u.grad is not None
none/grad
    return t.grad
tensor-changed
    if t.requires_grad:
        t.sum().backward()
    return t.grad is not None
tensor-changed/asks
    if t.requires_grad:
        t.retain_grad()
    return t.requires_grad
other-rule
    return t.requires_grad and not t.is_leaf
other-rule/views
    return t.requires_grad and (t.is_leaf or t.retains_grad or "View" in type(t.grad_fn).__name__)
none
    if t.requires_grad and t.is_leaf:
        return True
kind
    return "yes" if t.requires_grad else "no"
kind/tensor
    return t
hooks-changed/adversary-1
    answer = t.requires_grad and (t.is_leaf or t.retains_grad)
    if t.requires_grad:
        t.register_hook(lambda g: None)
    return answer
other-rule/hears-no-warning
    import warnings

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        t.grad
    return t.requires_grad and not heard
other-rule/or-has-one
    return t.requires_grad and (t.is_leaf or t.retains_grad or t.grad is not None)
""",
    ),
    "kept": functions(
        "kept(w, f)",
        """
raised/two-entries
    h = 2 * w if w.dim() == 0 else mg.stack([2 * w[0], 2 * w[1]])
    h.retain_grad()
    f(h).backward()
    return h
not-asked
    h = 2 * w
    f(h).backward()
    return h
not-asked/flag-looked-at
    h = 2 * w
    assert h.requires_grad
    f(h).backward()
    return h
asked-elsewhere/not-called
    h = 2 * w
    h.retain_grad
    f(h).backward()
    return h
asked-elsewhere/not-run
    h = 2 * w
    if not h.requires_grad:
        h.retain_grad()
    f(h).backward()
    return h
asked-too-late/another-loss
    h = 2 * w
    h.retain_grad()
    f(h)
    f(2 * w).backward()
    return h
nothing-came-by
    h = 2 * w
    print(f(h).item())
    f(2 * w).backward()
    return h
nothing-came-by/untracked
    with mg.no_grad():
        h = 2 * w
    f(h)
    f(2 * w).backward()
    return h
f-not-used/own-loss
    h = 2 * w
    h.retain_grad()
    (h * h).sum().backward()
    return h
another-tensor/with-the-number-of-a-gradient
    h = 2 * w
    h.retain_grad()
    f(h).backward()
    return 2 * h
way-to-w-cut/since
    h = 2 * w
    h.retain_grad()
    f(h).backward()
    h.detach_()
    return h
recorded-walk/flag-of-a-gradient
    h = 2 * w
    h.retain_grad()
    f(h).backward()
    h.grad.requires_grad_()
    return h
went-twice/by-a-hook
    h = 2 * w
    h.register_hook(lambda g: 2 * g)
    h.retain_grad()
    f(h).backward()
    return h
other-value/overwritten
    h = 2 * w
    h.retain_grad()
    f(h).backward()
    h.data.zero_()
    return h
asked-too-late
    h = 2 * w
    f(h).backward()
    h.retain_grad()
    return h
asked-elsewhere
    w.retain_grad()
    h = 2 * w
    f(h).backward()
    return h
asked-elsewhere/loss
    h = 2 * w
    loss = f(h)
    loss.retain_grad()
    loss.backward()
    return h
flag-on-a-result
    h = 2 * w
    h.requires_grad_()
    f(h).backward()
    return h
w-missed
    h = 2 * w
    h.retain_grad()
    f(h).backward(inputs=[h])
    return h
way-to-w-cut/by-hand
    h = (2 * w).detach().requires_grad_()
    f(h).backward()
    w.grad = 2 * h.grad
    return h
way-to-w-cut
    h = (2 * w).detach().requires_grad_()
    f(h).backward()
    return h
asked-untracked
    h = 2 * w.detach()
    h.retain_grad()
    f(h).backward()
    return h
gradient-returned
    h = 2 * w
    h.retain_grad()
    f(h).backward()
    return h.grad
gradient-returned/of-w
    h = 2 * w
    f(h).backward()
    return w.grad
another-tensor
    h = 2 * w
    h.retain_grad()
    f(2 * w).backward()
    return h
other-value
    h = w * 1
    h.retain_grad()
    f(h).backward()
    return h
no-backward
    h = 2 * w
    h.retain_grad()
    loss = f(h)
    return h
f-not-used
    h = 2 * w
    h.retain_grad()
    h.backward(mg.ones_like(h))
    return h
went-twice
    h = 2 * w
    h.retain_grad()
    loss = f(h) + f(h)
    loss.backward()
    return h
other-gradient
    h = 2 * w
    h.retain_grad()
    (5 * f(h)).backward()
    return h
none
    h = 2 * w
    h.retain_grad()
    f(h).backward()
hooks-changed/adversary-1
    h = 2 * w
    h.retain_grad()
    f(h).backward()
    w.register_hook(lambda g: g * 2)
    return h
""",
    ),
    "sums": {
        "overwrites": _numbers(b=6, c=4, e=3),
        "overwritten": _numbers(b=6),
        "note-is-a-copy": _numbers(c=4),
        "clearing-destroys": _numbers(d=0),
        "clearing-destroys/none": _numbers(d=None),
        "not-cleared": _numbers(d=15),
        "inside-adds": _numbers(e=9),
        "second-pass-lost": _numbers(e=3),
        "value-not-slope": _numbers(a=12),
        "wrong-a": _numbers(a=3),
        "wrong-c": _numbers(c=6),
        "kind": _numbers(d="an error"),
    },
    "recorded": {
        "multiplied-again/before-the-step": """
w = mg.tensor(3.0, requires_grad=True)
v = w * 1
v -= 0.5
second_loss = v * v
""",
        "taken-from/reversed": """
w = mg.tensor(3.0, requires_grad=True)
w = mg.tensor(0.5) - w
second_loss = w * w
""",
        "step-not-recorded": """
w = mg.tensor(3.0, requires_grad=True)
with mg.no_grad():
    w -= 0.5
second_loss = w * w
""",
        "step-not-recorded/anew": """
w = mg.tensor(3.0, requires_grad=True)
w = (w - 0.5).detach().requires_grad_()
second_loss = w * w
""",
        "step-tracked": """
w = mg.tensor(3.0, requires_grad=True)
size = mg.tensor(0.5, requires_grad=True)
w = w - size
second_loss = w * w
""",
        "asked-at-the-end/a-number": """
second_loss = mg.tensor(9.0, requires_grad=True)
""",
        "nothing-tracked/a-gradient": """
w = mg.tensor(3.0, requires_grad=True)
(w * w).backward()
second_loss = w.grad
""",
        "step-tracked/flags-taken-back": """
w = mg.tensor(3.0, requires_grad=True)
v = mg.tensor(0.5, requires_grad=True)
second_loss = (w - v) * (w - v)
v.requires_grad_(False)
w.requires_grad_(False)
""",
        "flag-taken-back": """
w = mg.tensor(3.0, requires_grad=True)
v = w - 0.5
second_loss = v * v
w.requires_grad_(False)
""",
        "step-computed/itself": """
w = mg.tensor(3.0, requires_grad=True)
w = w - w
second_loss = w * w
""",
        "step-computed/from-twice": """
w = mg.tensor(3.0, requires_grad=True)
w = 2 * w - w
second_loss = w * w
""",
        "two-steps/one-after-the-loss": """
w = mg.tensor(3.0, requires_grad=True)
w = w - 0.5
second_loss = w * w - 1
""",
        "two-steps": """
w = mg.tensor(3.0, requires_grad=True)
for _ in range(2):
    w = w - 0.5
second_loss = w * w
""",
        "step-computed": """
w = mg.tensor(3.0, requires_grad=True)
w = w - 0.25 * w
second_loss = w * w
""",
        "multiplied-again": """
w = mg.tensor(3.0, requires_grad=True)
second_loss = (w * w - 1) * w
""",
        "multiplied-again/cube": """
w = mg.tensor(3.0, requires_grad=True)
w = w - 1
second_loss = w * w * w
""",
        "other-order": """
w = mg.tensor(3.0, requires_grad=True)
second_loss = w * w - 0.5
""",
        "old-and-new": """
old_w = mg.tensor(3.0, requires_grad=True)
w = old_w - 0.5
second_loss = w * old_w
""",
        "used-once": """
w = mg.tensor(3.0, requires_grad=True)
w = w - 0.5
second_loss = 2 * w
""",
        "other-operations": """
w = mg.tensor(3.0, requires_grad=True)
w = w - 0.5
second_loss = w ** 2
""",
        "asked-at-the-end": """
w = mg.tensor(3.0)
w = w - 0.5
second_loss = (w * w).requires_grad_()
""",
        "nothing-tracked": """
w = mg.tensor(3.0)
w = w - 0.5
second_loss = w * w
""",
        "nothing-tracked/all-unrecorded": """
w = mg.tensor(3.0, requires_grad=True)
with mg.no_grad():
    w = w - 0.5
second_loss = w * w
""",
        "other-order/two-products": """
w = mg.tensor(3.0, requires_grad=True)
second_loss = w * w - 0.5 * w
""",
    },
    "as_leaf": functions(
        "as_leaf(t)",
        """
rounded
    return t.detach().float().to(t.dtype).requires_grad_()
other-value/rounded
    rounded = (t.detach() * 1000).round() / 1000
    return rounded.requires_grad_()
flag-on-a-result
    return t.requires_grad_()
history-kept/copy-with-flag
    return t.clone().requires_grad_()
history-kept
    return t.clone()
history-kept/itself
    return t
retained
    t.retain_grad()
    return t
history-kept/where-it-has-a-gradient
    return t.clone() if t.retains_grad else t.detach().requires_grad_()
history-kept/flag-of-what-is-not-returned
    t.data.requires_grad_()
    return t
history-kept/flag-looked-at
    assert t.requires_grad
    return t
rounded/by-a-division
    u = t.detach() / 3 * 3
    return u.requires_grad_()
untracked
    return t.detach()
untracked/no-grad
    with mg.no_grad():
        return t * 1
flag-of-a-result
    t.requires_grad_(False)
    return t.requires_grad_()
input-changed
    return t.detach_().requires_grad_()
asked-then-computed
    return t.detach().requires_grad_() * 1
array
    return mg.tensor(t.numpy(), requires_grad=True)
one-number-only
    return mg.tensor(t.item(), requires_grad=True)
other-dtype
    return mg.tensor(t.tolist(), requires_grad=True)
other-value
    return mg.ones_like(t).requires_grad_()
mode-left/adversary-1
    mg.set_grad_enabled(False)
    return t.detach().clone().requires_grad_()
other-value/adversary-1
    return (t.detach() + 1e-6).requires_grad_()
hooks-changed/adversary-1
    t.retain_grad()
    return t.detach().clone().requires_grad_()
grad-changed/of-t
    t.grad = None
    return t.detach().clone().requires_grad_()
other-dtype/no-half
    dtype = mg.float64 if t.dtype is mg.float64 else mg.float32
    return t.detach().to(dtype).requires_grad_()
inference
    with mg.inference_mode():
        return mg.tensor(t.tolist(), dtype=t.dtype, requires_grad=True)
""",
    ),
    "step": functions(
        "step(w, size)",
        """
dtype-changed
    w.data = (w.data - size * w.grad).float()
    w.grad = None
other-step/part-of-itself
    with mg.no_grad():
        w *= 1 - size * w.grad / w
    w.grad = None
not-moved/small-slope
    with mg.no_grad():
        if w.grad.abs().max() > 1e-3:
            w -= size * w.grad
    w.grad = None
other-step/clipped
    with mg.no_grad():
        w -= size * w.grad.clamp(-100, 100)
    w.grad = None
recorded-in-place
    w -= size * w.grad
    w.grad = None
recorded-in-place/another-leaf
    new = w.detach().requires_grad_()
    new -= size * w.grad
    w.grad = None
not-moved/only-above-zero
    with mg.no_grad():
        if w.max() > 0:
            w -= size * w.grad
    w.grad = None
cleared-first/after-the-update
    with mg.no_grad():
        w -= size * w.grad
    w.grad = None
    w.grad.zero_()
cleared-first/says-in-place
    w.grad = None
    with mg.no_grad():
        w -= size * w.grad  # an in-place operation
grad-of-another/none-of-a-call
    with mg.no_grad():
        w -= size * print("a step")
    w.grad = None
rebound/a-copy-is-overwritten
    grad = w.grad
    w.grad = None
    w = w.detach().clone()
    w -= size * grad
rebound/not-run
    if w.grad is None:
        w = w * 1
    w.grad = None
new-tensor
    w = w - size * w.grad
    return w
new-tensor/asked-last
    return (w - size * w.grad).detach().requires_grad_()
new-tensor/retained
    w = w - size * w.grad
    w.retain_grad()
    return w
rebound
    with mg.no_grad():
        w = w - size * w.grad
    w.grad = None
rebound/detached
    w = (w - size * w.grad).detach().requires_grad_()
    w.grad = None
not-moved
    moved = w.detach().clone()
    moved.sub_(size * w.grad)
    w.grad = None
left-frozen
    w.requires_grad_(False)
    w -= size * w.grad
    w.grad = None
not-cleared
    with mg.no_grad():
        w -= size * w.grad
cleared-first
    w.grad = None
    with mg.no_grad():
        w -= size * w.grad
grad-of-another
    w = w.detach()
    w -= size * w.grad
    w.grad = None
cleared-first/zeros
    w.grad.zero_()
    with mg.no_grad():
        w -= size * w.grad
uphill
    with mg.no_grad():
        w += size * w.grad
    w.grad = None
grad-of-another-type
    with mg.no_grad():
        w -= size * w.grad
    w.grad = mg.zeros(w.shape)
size-ignored
    with mg.no_grad():
        w -= w.grad
    w.grad = None
other-step
    with mg.no_grad():
        w -= size
    w.grad = None
other-step/adversary-1
    with mg.no_grad():
        w -= size * w.grad + 1e-6
    w.grad = None
other-step/adversary-2
    with mg.no_grad():
        w -= size * w.grad.abs()
    w.grad = None
""",
    )
    | {
        "other-step/momentum": """
v = {}
def step(w, size):
    with mg.no_grad():
        v[id(w)] = 0.9 * v.get(id(w), 0) + w.grad
        w -= size * v[id(w)]
    w.grad = None
""",
    },
    "freeze": functions(
        "freeze_w(w, b, x)",
        """
old-gradient/negative
    if w.grad is not None and w.grad > 0:
        w.grad = None
    w.requires_grad_(False)
    return w * x + b
b-slope/half-for-b
    w.requires_grad_(False)
    w.grad = None
    y = w * x + b
    y.register_hook(lambda grad: grad / 2)
    return y
result-frozen
    h = w * x
    h.requires_grad = False
    return h + b
result-frozen/cleared
    w.grad = None
    h = w * x
    h.requires_grad_(False)
    return h + b
cut-not-frozen
    h = (w * x).detach()
    w.grad = None
    return h + b
cut-not-frozen/no-grad
    with mg.no_grad():
        h = w * x
    return h + b
frozen-too-late
    h = w * x
    w.requires_grad_(False)
    w.grad = None
    return h + b
not-frozen
    w.grad = None
    return w * x + b
old-gradient
    w.requires_grad_(False)
    return w * x + b
raised/no-such-clearing
    w.requires_grad_(False)
    w.zero_grad()
    return w * x + b
nothing-to-clear/let-go-of
    w.requires_grad_(False)
    w.grad = None
    w.grad.zero_()
    return w * x + b
result-frozen/and-w-too
    w.requires_grad_(False)
    w.grad = None
    y = w * x + b
    y.requires_grad_(False)
    return y
cut-not-frozen/gradient-detached
    with mg.no_grad():
        h = w * x
    if w.grad is not None:
        w.grad.detach_()
        w.grad.zero_()
    return h + b
not-frozen/another-way
    w.grad = None
    return w.detach() * x + b + (w - w)
nothing-to-clear
    w.requires_grad_(False)
    w.grad.zero_()
    return w * x + b
b-frozen
    w.requires_grad_(False)
    w.grad = None
    return (w * x + b).detach()
flag-changed/both
    for p in (w, b):
        p.requires_grad_(False)
        p.grad = None
    return w * x + b
other-value
    w.requires_grad_(False)
    w.grad = None
    return w * x
none
    w.requires_grad_(False)
    w.grad = None
grad-changed/adversary-1
    w.requires_grad_(False)
    w.grad = None
    b.grad = None
    return w * x + b
flag-changed/adversary-1
    w.requires_grad_(False)
    w.grad = None
    mg.set_grad_enabled(True)
    x.requires_grad_(True)
    y = w * x + b
    return y
other-value/adversary-1
    w.requires_grad_(False)
    w.grad = None
    return w.detach() * x + b + 1e-6
raised/one-number
    w.requires_grad_(False)
    w.grad = None
    return w.item() * x.item() + b
grad-of-another-type
    w.requires_grad_(False)
    w.grad = mg.tensor(0.0)
    return w * x + b
old-gradient/kept-alone
    w.requires_grad_(False)
    if w.grad is not None and b.grad is not None:
        w.grad = None
    return w * x + b
old-gradient/kept-with-b
    w.requires_grad_(False)
    if b.grad is None:
        w.grad = None
    return w * x + b
grad-changed/where-w-has-none
    w.requires_grad_(False)
    if w.grad is None:
        b.grad = None
    w.grad = None
    return w * x + b
rounded/there-and-back
    w.requires_grad_(False)
    w.grad = None
    return (w * x).float().to(b.dtype) + b
""",
    ),
    "train": functions(
        "train(params, loss_of, steps, size)",
        """
loss-calls
    for _ in range(steps):
        print(loss_of().item())
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
other-numbers/looked-up-by-shape
    for _ in range(steps):
        loss_of().backward()
        grads = {tuple(p.shape): p.grad for p in params}
        with mg.no_grad():
            for p in params:
                p -= size * grads[tuple(p.shape)]
                p.grad = None
not-moved/another-name-bound
    size = float(size)
    for _ in range(steps):
        loss_of().backward()
        for p in params:
            p.grad = None
not-moved/backward-in-a-helper
    def one():
        loss_of().backward()
        for p in params:
            p.grad.zero_()

    for _ in range(steps):
        one()
other-count/stops-at-equal-losses
    before = None
    for _ in range(steps):
        loss = loss_of()
        if loss.item() == before:
            break
        before = loss.item()
        loss.backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
other-count/stops-when-flat
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            if all(p.grad.abs().max() < 1e-3 for p in params):
                break
            for p in params:
                p -= size * p.grad
                p.grad = None
other-numbers/clipped
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad.clamp(-20, 20)
                p.grad = None
not-all/two
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params[:2]:
                p -= size * p.grad
                p.grad = None
not-moved/small-loss
    for _ in range(steps):
        loss = loss_of()
        if loss.item() < 1e-3:
            break
        loss.backward()
        for p in params:
            p.detach().sub_(size * p.grad)
            p.grad = None
some-cleared
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
        p.grad = None
no-way
    for _ in range(steps):
        loss_of().detach().backward()
never-cleared
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
recorded-in-place
    for _ in range(steps):
        loss_of().backward()
        for p in params:
            p -= size * p.grad
            p.grad = None
new-tensors
    for _ in range(steps):
        loss_of().backward()
        for p in params:
            p = p - size * p.grad
            p.grad = None
new-tensors/in-the-list
    for _ in range(steps):
        loss_of().backward()
        for i in range(len(params)):
            params[i] = params[i] - size * params[i].grad
new-tensors/no-grad
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p = p - size * p.grad
        for p in params:
            p.grad = None
new-tensors/list-of-its-own
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            params = [p - size * p.grad for p in params]
one-loss
    loss = loss_of()
    for _ in range(steps):
        loss.backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
one-loss/added-up
    total = 0
    for _ in range(steps):
        total = total + loss_of()
        total.backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
raised/of-frozen-parameters
    for _ in range(steps):
        loss = loss_of()
        for p in params:
            p.requires_grad_(False)
        grads = mg.autograd.grad(loss, params)
no-backward/says-a-second-time
    for _ in range(steps):
        loss = loss_of()
        for p in params:
            p -= size * p.grad  # a second time
no-backward/clears-on-the-same-line
    for _ in range(steps):
        loss = loss_of()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad; p.grad.zero_()
nothing-to-clear/let-go-of
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
                p.grad.zero_()
never-cleared/sums-of-its-own
    sums = [mg.zeros_like(p) for p in params]
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p, s in zip(params, sums):
                s += p.grad
                p -= size * s
                p.grad = None
never-cleared/zero-not-called
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad.zero_
cleared-too-early/none-of-backward
    total = 0.0
    for _ in range(steps):
        none = loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
        total = total + none
new-tensors/copies-overwritten
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                grad = p.grad
                p.grad = None
                p = p.clone()
                p -= size * grad
recorded-in-place/another-leaf
    for _ in range(steps):
        loss_of().backward()
        for p in params:
            q = p.detach().requires_grad_()
            q -= size * p.grad
            p.grad = None
one-loss/twice-in-a-step
    for _ in range(steps):
        loss = loss_of()
        for p in params:
            loss.backward()
            with mg.no_grad():
                p -= size * p.grad
            p.grad = None
loss-with-arguments
    for _ in range(steps):
        loss_of(params).backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
new-tensors/anew
    for _ in range(steps):
        loss_of().backward()
        params[:] = [(p - size * p.grad).detach().requires_grad_() for p in params]
loss-not-recorded
    with mg.no_grad():
        for _ in range(steps):
            loss_of().backward()
            for p in params:
                p -= size * p.grad
                p.grad = None
nothing-to-clear
    for _ in range(steps):
        for p in params:
            p.grad.zero_()
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
cleared-too-early
    for _ in range(steps):
        loss_of().backward()
        for p in params:
            p.grad = None
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
cleared-too-early/zeros
    for _ in range(steps):
        loss_of().backward()
        for p in params:
            p.grad.zero_()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
no-backward
    for _ in range(steps):
        loss = loss_of()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
uphill
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p += size * p.grad
                p.grad = None
other-count
    loss_of().backward()
    with mg.no_grad():
        for p in params:
            p -= size * p.grad
            p.grad = None
not-all
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            p = params[0]
            p -= size * p.grad
            p.grad = None
loss-not-used
    for _ in range(steps):
        with mg.no_grad():
            for p in params:
                p -= size * p
left-frozen
    for i in range(steps):
        loss_of().backward()
        for p in params:
            p.requires_grad_(False)
            p -= size * p.grad
            p.grad = None
            p.requires_grad_(i < steps - 1)
other-numbers
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p
                p.grad = None
mode-left/adversary-1
    for _ in range(steps):
        mg.set_grad_enabled(True)
        loss_of().backward()
        mg.set_grad_enabled(False)
        for p in params:
            p -= size * p.grad
            p.grad = None
other-count/adversary-1
    for _ in range(steps):
        for p in params:
            g, = mg.autograd.grad(loss_of(), p)
            with mg.no_grad():
                p -= size * g
other-count/adversary-2
    for _ in range(steps):
        for p in params:
            loss_of().backward()
            with mg.no_grad():
                p -= size * p.grad
            for q in params: q.grad = None
other-count/adversary-3
    for _ in range(min(steps, 100)):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
other-numbers/adversary-1
    last = None
    for _ in range(steps):
        loss = loss_of()
        if last is not None and loss.item() >= last: break
        last = loss.item()
        loss.backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
entries-changed/adversary-1
    params.sort(key=lambda p: p.sum().item())
    for _ in range(steps):
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
other-count/no-steps
    i = 0
    while True:
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
        i += 1
        if i >= steps:
            break
raised/of-backward
    for _ in range(steps):
        loss = loss_of().backward().item()
        with mg.no_grad():
            for p in params:
                p -= size * p.grad
                p.grad = None
""",
    ),
}

RIGHT = {
    "kinds": [
        'is_leaf = {name: name in "ade" for name in "abcdef"}',
        """
w = mg.tensor([2.0, 3.0], requires_grad=True)
with mg.no_grad():
    e = w * 2
made = dict(
    a=mg.tensor([1, 2]).float(),
    b=w.double(),
    c=w[0],
    d=w.detach() * 2,
    e=e,
    f=mg.ones(2, requires_grad=True).reshape(2, 1),
)
is_leaf = {name: t.is_leaf for name, t in made.items()}
""",
    ],
    "who": [
        """
import warnings

x = mg.tensor(2.0)
w = mg.tensor(3.0, requires_grad=True)
v = mg.tensor(8.0, requires_grad=True) / 2
h = w * x
h.retain_grad()
p = h * v
p.backward()
tensors = {"x": x, "w": w, "v": v, "h": h, "p": p}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    grads = {name: tensor.grad for name, tensor in tensors.items()}
""",
        "grads = dict(p=None, h=4, v=None, w=8, x=None)",
    ],
    "gets_grad": [
        """
def gets_grad(t):
    if not t.requires_grad:
        return False
    return t.retains_grad or t.grad_fn is None
""",
        "gets_grad = lambda tensor: tensor.retains_grad or (tensor.is_leaf and tensor.requires_grad)",
        """
import numpy as np

def gets_grad(t):
    return np.bool_(t.requires_grad) & (t.is_leaf | t.retains_grad)
""",
    ],
    "kept": [
        """
def kept(weight, loss_from):
    middle = weight + weight
    loss = loss_from(middle)
    middle.retain_grad()
    loss.backward()
    return middle
""",
        """
def kept(w, f):
    h = mg.mul(w, mg.tensor(2.0))
    for t in (w, h):
        t.retain_grad()
    f(h).backward()
    return h
""",
        """
def kept(w, f):
    h = w * 2
    h.retain_grad()
    mg.autograd.backward(f(h))
    return h
""",
    ],
    "sums": [
        "numbers = dict(e=6, d=5, c=10, b=10, a=4)",
        """
w = mg.tensor(3.0, requires_grad=True)
(4 * w).backward()
a = w.grad.clone()
(w * w).backward()
b = c = w.grad
numbers = {"a": a, "b": b, "c": c, "d": mg.tensor(5.0, dtype=mg.float64), "e": 6}
""",
    ],
    "recorded": [
        """
p = mg.tensor([1.0, -1.0], dtype=mg.float64, requires_grad=True)
p = p - mg.tensor([0.5, 0.5], dtype=mg.float64)
second_loss = mg.mul(p, p)
""",
        """
w = mg.tensor(3.0, requires_grad=True)
for _ in range(2):
    loss = w * w
    if w.is_leaf:
        loss.backward()
        w = w - 0.1 * w.grad
second_loss = loss
""",
        """
def once(w):
    w = w - w.detach() / 4
    return w * w

second_loss = once(mg.tensor(2.0, requires_grad=True))
""",
    ],
    "as_leaf": [
        """
def as_leaf(t):
    return t.detach().requires_grad_()
""",
        """
def as_leaf(t):
    with mg.no_grad():
        copy = t.clone()
    copy.requires_grad = True
    return copy
""",
        """
def as_leaf(t):
    return mg.tensor(t.tolist(), dtype=t.dtype, requires_grad=True)
""",
        """
def as_leaf(t):
    return t.data.requires_grad_()
""",
    ],
    "step": [
        """
def step(w, size):
    w.data -= size * w.grad
    w.grad = None
""",
        """
def step(w, size):
    with mg.no_grad():
        w.copy_(w - size * w.grad)
    w.grad.zero_()
""",
        """
def step(w, size):
    w.requires_grad_(False)
    w -= size * w.grad
    w.grad = None
    w.requires_grad_()
""",
        """
def step(w, size):
    w.detach().sub_(size * w.grad)
    del w.grad
    return w
""",
        """
def step(w, size):
    w.requires_grad_(False)
    try:
        w -= size * w.grad
    finally:
        w.requires_grad_()
    w.grad = None
""",
    ],
    "freeze": [
        """
def freeze_w(w, b, x):
    w.grad, w.requires_grad = None, False
    return b + x * w
""",
        """
def freeze_w(w, b, x):
    w.detach_()
    if w.grad is not None:
        w.grad.zero_()
    h = w * x
    return h + b
""",
    ],
    "train": [
        """
def train(weights, compute, number, rate):
    while number:
        for w in weights:
            w.grad = None
        compute().backward()
        for w in weights:
            w.data -= rate * w.grad
        number -= 1
""",
        """
def train(params, loss_of, steps, size):
    for _ in range(steps):
        grads = mg.autograd.grad(loss_of(), params)
        with mg.no_grad():
            for p, grad in zip(params, grads):
                p.sub_(grad, alpha=size)
""",
        """
def train(params, loss_of, steps, size):
    def one():
        loss_of().backward()
        with mg.no_grad():
            for p in params:
                p.add_(p.grad * -size)
                p.grad.zero_()

    for _ in range(steps):
        one()
    return params
""",
    ],
}

_notes = changed("notes", {"a": 5.0, "b": 2.0, "c": 2.0, "d": 5.0, "w.grad": 1.0, "h.grad": 10.0})

WRONG |= {
    "notes": {
        "overwrites": _notes({"a": 2.0, "h.grad": 1.0}),
        "note-is-a-copy": _notes(a=2.0),
        "none-writes": _notes(a=0.0, d=0.0),
        "zero-makes-another": _notes(a=4.0),
        "result-in-place": _notes(b=10.0),
        "clone-changes": _notes(c=5.0),
        "note-follows-the-name": _notes(d=1.0),
        "cleared-with-w": _notes({"h.grad": 6.0}),
        "wrong-w.grad": _notes({"w.grad": 10.0}),
        "kind": _notes(c="two"),
    },
}

RIGHT |= {
    "notes": [
        """
notes = {"h.grad": 10, "w.grad": 1, "d": 5, "c": 2, "b": 2, "a": 5}
""",
        """
w = mg.tensor([3.0], requires_grad=True)
h = w.clone()
h.retain_grad()
for slope in (2, 2, 5, 1):
    (h * slope).backward(retain_graph=True)
    if slope == 1:
        last = 1
notes = {"a": mg.tensor([5.0]), "b": mg.tensor(2), "c": 2.0, "d": 5, "w.grad": last, "h.grad": h.grad}
""",
        """
import numpy as np
notes = dict(zip(["a", "b", "c", "d", "w.grad", "h.grad"], np.array([5.0, 2.0, 2.0, 5.0, 1.0, 10.0])))
""",
    ],
}
