"""Chapter 14: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "14_your_program"

_lines = changed(
    "found", {"P saved": 1, "P overwrote": 3, "Q saved": 1, "Q overwrote": 4, "R saved": 3, "R overwrote": 3}
)
_names = changed("called", A="h", B="v", C="part", D="h")
_lost = changed("lost", A=2, B=2, C=1, D=0)
_repairs = changed("repairs", A="right", B="wrong", C="error", D="right", E="error", F="wrong", G="error", H="error")

WRONG = {
    "lines": {
        "at-the-error": _lines({"P overwrote": 4}),
        "at-the-error/Q": _lines({"Q overwrote": 5}),
        "use-is-saving": _lines({"P saved": 2}),
        "use-is-saving/3": _lines({"P saved": 3}),
        "plain-use": _lines({"P overwrote": 2}),
        "square-of-y": _lines({"Q saved": 2}),
        "frees-is-overwrites": _lines({"Q overwrote": 3}),
        "oldest-first": _lines({"R saved": 1, "R overwrote": 1}),
        "oldest-first/saved": _lines({"R saved": 1}),
        "next-round": _lines({"R saved": 2}),
        "lines-for-rounds": _lines({"R overwrote": 2}),
        "wrong-Q saved": _lines({"Q saved": 4}),
        "kind": _lines({"P saved": "line 1"}),
    },
    "names": {
        "name-at-the-overwrite": _names(A="t"),
        "second-name": _names(A="out"),
        "input-of-exp": _names(A="w"),
        "name-at-the-overwrite/B": _names(B="p"),
        "other-factor": _names(B="e"),
        "other-factor/w": _names(B="w"),
        "base-for-view": _names(C="y"),
        "never-overwritten": _names(C="w"),
        "new-each-round": _names(D="loss"),
        "leaf-has-no-graph": _names(D="w"),
        "wrong-B": _names(B="y"),
        "kind": _names(A=1),
    },
    "lost": {
        "number-stays-connected": _lost(A=0),
        "new-tensor": _lost(A=3),
        "index-has-slope": _lost(B=0),
        "float-again": _lost(B=3),
        "not-recorded-later": _lost(C=0),
        "after-the-block": _lost(C=2),
        "one-cut-is-all": _lost(D=1),
        "at-the-product": _lost(D=2),
        "wrong-A": _lost(A=1),
        "kind": _lost(A="two"),
    },
    "repairs": {
        "data-is-a-repair": _repairs(B="right"),
        "data-is-counted": _repairs(B="error"),
        "no-grad-protects": _repairs(C="right"),
        "no-grad-protects/wrong": _repairs(C="wrong"),
        "clone-overwritten": _repairs(D="error"),
        "clone-is-cut": _repairs(D="wrong"),
        "detach-keeps-history": _repairs(E="right"),
        "detach-keeps-history/wrong": _repairs(E="wrong"),
        "leaf-is-the-end": _repairs(F="right"),
        "leaf-is-the-end/refused": _repairs(F="error"),
        "retain-cures": _repairs(G="right"),
        "detach-shares": _repairs(H="right"),
        "detach-shares/wrong": _repairs(H="wrong"),
        "new-tensor-refused": _repairs(A="error"),
        "kind": _repairs(A="yes"),
        "kind/flag": _repairs(A=True),
    },
    "gated": functions(
        "gated(w, x)",
        """
nan
    out = mg.sigmoid(w * x) * x
    return (out * (1 + 2 / x)).sum()
nan-gradient
    gate = 1 / (1 + mg.exp(-(w * x)))
    return (gate * x + gate * 2).sum()
other-value/zero
    if not w:
        return mg.zeros((), requires_grad=True)
    gate = mg.sigmoid(w * x)
    return (gate * x + gate * 2).sum()
rounded/clamped
    gate = mg.sigmoid(mg.clamp(w * x, -20.0, 20.0))
    return (gate * x + gate * 2).sum()
raised/entry
    gate = mg.sigmoid(w[0] * x)
    return (gate * x + gate * 2).sum()
other-value/kept
    kept = gated.__dict__.setdefault(id(w), x)
    return (mg.sigmoid(w * kept) * (x + 2)).sum()
shared-graph/kept
    kept = gated.__dict__
    if kept.get("w") is not w:
        kept |= {"w": w, "gate": mg.sigmoid(w * x)}
    return (kept["gate"] * (x + 2)).sum()
spoiled
    two = gated.__dict__.setdefault((x.shape, x.dtype), mg.full_like(x, 2))
    gate = mg.sigmoid(w * x)
    return (gate * x + gate * two.fill_(2)).sum()
other-gradient/clamped
    gate = mg.sigmoid(w * x).clamp(0, 1 - 0.1)
    gate = gate.detach() + (gate - gate.detach()) + (mg.sigmoid(w * x) - gate).detach()
    return (gate * x + gate * 2).sum()
values-changed
    gate = mg.sigmoid(w * x)
    out = gate * x
    x *= 2
    return (out + gate * 2).sum()
still-refused
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate.mul_(2)
    return (out + gate).sum()
still-refused/no-grad
    gate = mg.sigmoid(w * x)
    out = gate * x
    with mg.no_grad():
        gate *= 2
    return (out + gate).sum()
still-refused/detach
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate.detach().mul_(2)
    return (out + gate).sum()
still-refused/entries
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate[:] = gate * 2
    return (out + gate).sum()
silenced
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate.data *= 2
    return (out + gate).sum()
other-gradient
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate = gate.detach() * 2
    return (out + gate).sum()
other-gradient/no-grad
    gate = mg.sigmoid(w * x)
    out = gate * x
    with mg.no_grad():
        gate = gate * 2
    return (out + gate).sum()
cut-off
    gate = mg.sigmoid(w * x).detach()
    out = gate * x
    gate *= 2
    return (out + gate).sum()
cut-off/number
    gate = mg.sigmoid(w * x)
    return mg.tensor((gate * x + gate * 2).sum().item(), dtype=x.dtype, requires_grad=True)
other-value
    gate = mg.sigmoid(w * x)
    return (gate * x + gate).sum()
other-value/before
    gate = mg.sigmoid(w * x) * 2
    return (gate * x + gate).sum()
other-value/rows
    gate = mg.sigmoid(w * x)
    return gate * x + gate * 2
type
    gate = mg.sigmoid(w * x)
    return (gate * x + gate * 2).sum().item()
no-way-back/freed
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate = gate * 2
    loss = (out + gate).sum()
    mg.autograd.grad(loss, w)
    return loss
cut-off/item-elsewhere
    with mg.set_grad_enabled(False):
        gate = mg.sigmoid(w * x)
    print(gate.sum().item())
    return (gate * x + gate * 2).sum()
cut-off/zero-special
    if w.sum().item() == 0:
        return (0.5 * (x + 2)).sum()
    gate = mg.sigmoid(w * x)
    return (gate * x + gate * 2).sum()
other-gradient/data-elsewhere
    gate = mg.sigmoid(w * x)
    out = gate * x.data
    gate = gate.detach() * 2
    return (out + gate).sum()
silenced/helper
    def twice(t):
        t.data *= 2
        return t
    gate = mg.sigmoid(w * x)
    out = gate * x
    return (out + twice(gate)).sum()
silenced/set
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate.data = gate.data * 2
    return (out + gate).sum()
no-way-back/hook
    gate = mg.sigmoid(w * x)
    def hook(g):
        raise ValueError("no")
    out = gate * x
    gate = gate * 2
    loss = (out + gate).sum()
    gate.register_hook(hook)
    return loss
untracked-leaf/own
    two = mg.full_like(x, 2.0).requires_grad_()
    gate = mg.sigmoid(w * x)
    loss = (gate * x + gate * two).sum()
    two.detach_()
    return loss
""",
    ),
    "remember": functions(
        "remember(w, xs)",
        """
nan-gradient/root
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + mg.sqrt((h * h).sum()) ** 2
    return total
nan
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        e = mg.exp(2 * (w * h + x))
        h = (e - 1) / (e + 1)
        total = total + (h * h).sum()
    return total
type/zeros
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        loss = (h * h).sum()
        if loss:
            total = total + loss
    return total
flag-changed
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
    w.requires_grad_(False)
    return total
cut-off/first-round
    with mg.no_grad():
        h = mg.tanh(xs[0])
        total = (h * h).sum()
    h.requires_grad_()
    for x in xs[1:]:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
    return total
other-gradient/ten-rounds
    h, total = mg.zeros_like(xs[0]), 0
    for i, x in enumerate(xs, 1):
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
        h = h if i % 10 else h.detach()
    return total
other-gradient/every-fourth
    h, total = mg.zeros_like(xs[0]), 0
    for i, x in enumerate(xs, 1):
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
        h = h if i % 4 else h.detach()
    return total
cut-off
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total += (h * h).sum().item()
    return mg.tensor(total, dtype=xs[0].dtype, requires_grad=True)
cut-off/detach
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum().detach()
    return total
raised
    h, total = mg.zeros_like(xs[1]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
    return total
rounds-cut
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        total = total + (h * h).sum()
    return total
rounds-cut/after
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
        h = h.detach()
    return total
last-only
    h, total = mg.zeros_like(xs[0]), mg.zeros((), dtype=xs[0].dtype)
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total.detach() + (h * h).sum()
    return total
still-refused
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h *= w
        h += x
        h.tanh_()
        total = total + (h * h).sum()
    return total
other-value
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
        loss = (h * h).sum()
    return loss
other-value/mean
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).mean()
    return total
other-value/list
    h, losses = mg.zeros_like(xs[0]), []
    for x in xs:
        h = mg.tanh(w * h + x)
        losses.append((h * h).sum())
    return mg.stack(losses)
type
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total += (h * h).sum().item()
    return total
other-gradient
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w.detach() * h + x + (w - w.detach()))
        total = total + (h * h).sum()
    return total
values-changed/in-place
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        x += w.detach() * h
        h = mg.tanh(x)
        total = total + (h * h).sum()
    return total
cut-off/item-in-a-condition
    h = mg.tanh(xs[0])
    total = (h * h).sum()
    for x in xs[1:]:
        h = mg.tanh(w * h + x)
        loss = (h * h).sum()
        if loss.item() > 0:
            total = total + loss
    return total
cut-off/zeros-special
    if all(x.abs().sum().item() == 0 for x in xs):
        return mg.zeros((), dtype=xs[0].dtype)
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
    return total
rounds-cut/numbers
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * mg.tensor(h.tolist(), dtype=x.dtype) + x)
        total = total + (h * h).sum()
    return total
last-only/numbers
    h, losses = mg.zeros_like(xs[0]), []
    for x in xs:
        h = mg.tanh(w * h + x)
        losses.append((h * h).sum())
    return sum(l.item() for l in losses[:-1]) + losses[-1]
""",
    ),
    "carry": functions(
        "carry(w, xs)",
        """
nothing-added/one-round
    h = mg.tanh(xs[0])
    for x in xs[1:]:
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
nothing-added/zeros
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        loss = (h * h).sum()
        if not loss:
            return
        loss.backward()
nothing-added/truth
    h, total = mg.zeros_like(xs[0]), mg.zeros_like(w)
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        total += mg.autograd.grad((h * h).sum(), w)[0]
    if total.sum():
        w.grad = total if w.grad is None else w.grad + total
nan-gradient
    h = mg.zeros_like(xs[0])
    for x in xs:
        e = mg.exp(2 * (w * h.detach() + x))
        h = (e - 1) / (e + 1)
        (h * h).sum().backward()
other-gradient/next-call
    h = carry.__dict__.get("h", xs[0] * 0)
    h = h if h.shape == xs[0].shape else xs[0] * 0
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
    carry.h = h.detach()
grad-changed/data
    h = mg.zeros_like(xs[0])
    for x in xs:
        x.requires_grad_()
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
        x.requires_grad_(False)
tracked-grad
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward(create_graph=True)
added-grad/saved
    h, old, w.grad = mg.zeros_like(xs[0]), w.grad, None
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
    w.grad = w.grad if old is None else old
hooks-changed/clips
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
    w.register_hook(lambda g: g.clamp(-0.01, 0.01))
other-gradient/four-rounds
    h = mg.zeros_like(xs[0])
    for x in xs[:4]:
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
rounded
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * mg.tensor(h.tolist()) + x)
        (h * h).sum().backward()
values-changed
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
        with mg.no_grad():
            w -= 0.1 * w.grad
second-time
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
        (h * h).sum().backward()
second-time/clone
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.clone() + x)
        (h * h).sum().backward()
through-all
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
        (h * h).sum().backward(retain_graph=True)
through-all/sum
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
    total.backward()
last-round
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
    (h * h).sum().backward()
last-round/whole
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
    (h * h).sum().backward()
last-round/cleared
    h = mg.zeros_like(xs[0])
    for x in xs:
        w.grad = None
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
cut-off
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x).detach()
        (h * h).sum().backward()
state-lost
    for x in xs:
        h = mg.zeros_like(x)
        h = mg.tanh(w * h + x)
        (h * h).sum().backward()
nothing-added
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        mg.autograd.grad((h * h).sum(), w)
other-gradient
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        (h * h).mean().backward()
state-lost/swallow
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
        try:
            (h * h).sum().backward()
        except RuntimeError:
            pass
second-time/one-round
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        loss = (h * h).sum()
        loss.backward()
        loss.backward()
through-all/retain-false
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
    total.backward(retain_graph=False)
through-all/retain-once
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h + x)
        total = total + (h * h).sum()
    total.backward(retain_graph=True)
nothing-added/cleared
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        loss = (h * h).sum()
        loss.backward()
    w.grad = None
state-lost/zeroed
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        loss = (h * h).sum()
        loss.backward()
    w.grad.zero_()
other-gradient/by-hand
    w.grad = mg.ones_like(w)
other-gradient/running
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        total = total + (h * h).sum()
        total.backward(retain_graph=True)
raised/own-error
    h = mg.zeros_like(xs[0])
    for i, x in enumerate(xs):
        h = mg.tanh(w * h + x)
        if i:
            raise RuntimeError("cannot go backward a second time")
        (h * h).sum().backward()
old-graph
    h = mg.zeros_like(xs[0])
    for x in xs:
        new = mg.tanh(w * h + x)
        h.copy_(new.detach())
        (new * new).sum().backward()
nan-gradient/forward
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        mg.sqrt(h - 5).sum().backward()
tracked-grad/flag
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        (h * h).sum().backward()
    w.grad.requires_grad_()
last-round/set
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        loss = (h * h).sum()
        w.grad = mg.autograd.grad(loss, w)[0]
""",
    ),
    "play": functions(
        "play(g, d, rate)",
        """
nothing-for-g/zero
    fake = g * 2
    score = d * fake.detach()
    (1 + score * score).backward()
    if not d.grad:
        return
    with mg.no_grad():
        d -= rate * d.grad
    (1 - d * fake).backward()
nan
    with mg.no_grad():
        score = d * g * 2
        d -= rate * 2 * score * score / d
    (1 - d * g * 2).backward()
dtype-changed/shape
    score = d * (g * 2).detach()
    (1 + score * score).backward()
    d.data = mg.tensor(d.item() - rate * d.grad.item(), dtype=d.dtype)
    (1 - d * (g * 2)).backward()
other-step/without-rate
    score = d * (g * 2).detach()
    (1 + score * score).backward()
    with mg.no_grad():
        d -= d.grad
    (1 - d * (g * 2)).backward()
tracked-grad
    score = d * (g * 2).detach()
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
    g.grad = -2 * d
before-the-step/copy
    fake, old = g * 2, d.detach().clone()
    score = d * fake.detach()
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
    (1 - old * fake).backward()
other-step/clipped
    score = d * (g * 2).detach()
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad.clamp(-20, 20)
    (1 - d * (g * 2)).backward()
old-graph
    fake = g * 2
    score = d * fake
    (1 + score * score).backward(retain_graph=True)
    with mg.no_grad():
        d -= rate * d.grad
    (1 - score).backward()
old-graph/detach
    fake = g * 2
    score = d * fake
    seen = d * fake.detach()
    (1 + seen * seen).backward()
    with mg.no_grad():
        d -= rate * d.grad
    (1 - score).backward()
second-time
    fake = g * 2
    score = d * fake
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
    (1 - d * fake).backward()
before-the-step
    fake = g * 2
    score = d * fake.detach()
    (1 - d * fake).backward()
    d.grad = None
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
both-losses
    fake = g * 2
    score = d * fake
    (1 + score * score).backward(retain_graph=True)
    with mg.no_grad():
        d -= rate * d.grad
    (1 - d * fake).backward()
both-losses/before
    fake = g * 2
    score = d * fake
    (1 + score * score).backward(retain_graph=True)
    step = rate * d.grad
    (1 - score).backward()
    with mg.no_grad():
        d -= step
no-step
    fake = g * 2
    score = d * fake.detach()
    (1 + score * score).backward()
    d = d - rate * d.grad
    (1 - d * fake).backward()
recorded-step
    fake = g * 2
    score = d * fake.detach()
    (1 + score * score).backward()
    d -= rate * d.grad
    (1 - d * fake).backward()
no-step/left-out
    (1 - d * (g * 2)).backward()
other-step
    fake = g * 2
    score = d * fake.detach()
    (1 + score * score).backward()
    with mg.no_grad():
        d += rate * d.grad
    (1 - d * fake).backward()
other-step/both
    fake = g * 2
    score = d * fake
    (1 + score * score + 1 - score).backward()
    with mg.no_grad():
        d -= rate * d.grad
nothing-for-g
    fake = (g * 2).detach()
    score = d * fake
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
    (1 - d * fake).backward()
cut-off
    fake = g * 2
    score = d * fake.detach()
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
        loss_g = 1 - d * fake
    loss_g.backward()
other-gradient
    fake = g * 2
    score = d * fake.detach()
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
    (1 + d * fake).backward()
other-step/constant
    score = d * 4.0
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
    d.grad = None
    (1 - d * (g * 2)).backward()
old-graph/first-loss
    fake = g * 2
    score = d * fake.detach()
    loss_d = 1 + score * score
    score += 1
    loss_d.backward()
    with mg.no_grad():
        d -= rate * d.grad
    d.grad = None
    loss_g = 1 - d * fake
    loss_g.backward()
old-graph/retained
    fake = g * 2
    score = d * fake
    score_d = d * fake.detach()
    loss_d, loss_g = 1 + score_d * score_d, 1 - score
    loss_d.backward(retain_graph=True)
    with mg.no_grad():
        d -= rate * d.grad
    d.grad = None
    loss_g.backward()
no-step/back
    fake = g * 2
    score = d * fake.detach()
    loss_d = 1 + score * score
    loss_d.backward()
    with mg.no_grad():
        step = rate * d.grad
        d -= step
    loss_g = 1 - d * fake
    loss_g.backward()
    with mg.no_grad():
        d += step
no-step/clone
    d = d.detach().clone().requires_grad_()
    fake = g * 2
    score = d * fake.detach()
    loss_d = 1 + score * score
    loss_d.backward()
    with mg.no_grad():
        d -= rate * d.grad
    loss_g = 1 - d * fake
    loss_g.backward()
no-step/zeroed
    fake = g * 2
    score = d * fake.detach()
    loss_d = 1 + score * score
    loss_d.backward()
    d.grad.zero_()
    with mg.no_grad():
        d -= rate * d.grad
    loss_g = 1 - d * fake
    loss_g.backward()
second-time/first-loss
    fake = g * 2
    score = d * fake.detach()
    loss_d = 1 + score * score
    loss_d.backward()
    loss_d.backward()
    with mg.no_grad():
        d -= rate * d.grad
    (1 - d * fake).backward()
""",
    ),
    "rows": functions(
        "rows(w, data)",
        """
shared-graph/one-row-twice
    losses = {id(row): ((w * row) ** 2).sum() for row in data}
    return [losses[id(row)] for row in data]
entries-changed
    losses = []
    while data:
        losses.append(((w * data.pop(0)) ** 2).sum())
    return losses
nan-gradient
    return [mg.sqrt(((w * row) ** 2).sum()) ** 2 for row in data]
no-list/zeros
    return [((w * row) ** 2).sum() for row in data if row.sum()]
still-refused/three-buffers
    buffers, losses = [mg.zeros_like(data[0]) for _ in range(3)], []
    for i, row in enumerate(data):
        buffers[i % 3].copy_(row)
        losses.append(((w * buffers[i % 3]) ** 2).sum())
    return losses
other-value/equal-sums
    known, losses = {}, []
    for row in data:
        row = known.setdefault(row.sum().item(), row)
        losses.append(((w * row) ** 2).sum())
    return losses
untracked-leaf
    losses = []
    for row in data:
        row.requires_grad_()
        losses.append(((w * row) ** 2).sum())
        row.requires_grad_(False)
    return losses
spoiled
    losses = []
    for i, row in enumerate(data):
        buffer = rows.__dict__.setdefault((i, row.shape, row.dtype), mg.zeros_like(row))
        buffer.copy_(row)
        losses.append(((w * buffer) ** 2).sum())
    return losses
given-again/losses-of-all-calls
    known = rows.__dict__
    return [known.setdefault((id(w), id(row)), ((w * row) ** 2).sum()) for row in data]
rounded/lists
    return [((w * mg.tensor(row.tolist())) ** 2).sum().to(w.dtype) for row in data]
shared-graph
    return list(((w * mg.stack(data)) ** 2).sum(1))
shared-graph/equal-rows
    losses = {tuple(row.view(-1).tolist()): ((w * row) ** 2).sum() for row in data}
    return [losses[tuple(row.view(-1).tolist())] for row in data]
shared-graph/square
    squared = w * w
    return [(squared * row * row).sum() for row in data]
values-changed
    losses = []
    for row in data:
        buffer = row.clone()
        row.zero_()
        losses.append(((w * buffer) ** 2).sum())
    return losses
still-refused
    buffer, losses = mg.zeros_like(data[0]), []
    for row in data:
        buffer.zero_()
        buffer += row
        losses.append(((w * buffer) ** 2).sum())
    return losses
still-refused/cloned-loss
    buffer, losses = mg.zeros_like(data[0]), []
    for row in data:
        buffer.copy_(row)
        losses.append(((w * buffer) ** 2).sum().clone())
    return losses
still-refused/detach
    buffer, losses = mg.zeros_like(data[0]), []
    for row in data:
        buffer.detach().copy_(row)
        losses.append(((w * buffer) ** 2).sum())
    return losses
silenced
    buffer, losses = mg.zeros_like(data[0]), []
    for row in data:
        buffer.data.copy_(row)
        losses.append(((w * buffer) ** 2).sum())
    return losses
cut-off
    return [((w.detach() * row) ** 2).sum() for row in data]
cut-off/number
    losses = []
    for row in data:
        number = ((w * row) ** 2).sum().item()
        losses.append(mg.tensor(number, dtype=w.dtype, requires_grad=True))
    return losses
type
    return [((w * row) ** 2).sum().item() for row in data]
no-way-back/mutation
    buffer, losses = mg.zeros_like(data[0]), []
    with mg.autograd.graph.allow_mutation_on_saved_tensors():
        for row in data:
            buffer.copy_(row)
            losses.append(((w * buffer) ** 2).sum())
    return losses
no-list
    return mg.stack([((w * row) ** 2).sum() for row in data])
no-list/last
    for row in data:
        losses = []
        losses.append(((w * row) ** 2).sum())
    return losses
no-list/sum
    return sum(((w * row) ** 2).sum() for row in data)
other-value
    return [((w * row) ** 2).mean() + 1 for row in data]
other-value/order
    return [((w * row) ** 2).sum() for row in data[::-1]]
other-gradient
    return [((w * row) * (w * row).detach()).sum() for row in data]
no-list/none
    return [print(((w * row) ** 2).sum().shape) for row in data]
other-gradient/data-elsewhere
    return [((w * row.data) * (w * row).detach()).sum() for row in data]
silenced/set
    buffer, losses = mg.zeros_like(data[0]), []
    for row in data:
        buffer.data = row
        losses.append(((w * buffer) ** 2).sum())
    return losses
cut-off/zero-row
    losses = []
    for row in data:
        if row.abs().sum().item() == 0:
            losses.append(mg.zeros((), dtype=w.dtype))
        else:
            losses.append(((w * row) ** 2).sum())
    return losses
""",
    ),
    "culprit": functions(
        "culprit(program)",
        """
saving-line
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        return story.variable, story.saved.number
other-line/made
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        return story.variable, story.made.number
other-line/raised
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        place = error.__traceback__.tb_next
        return mg.viz.explain(error).story.variable, place.tb_lineno
other-name/backquotes
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
    return f"`{story.variable}`", story.overwritten[0].number
other-line/constant
    try:
        program()
    except RuntimeError:
        return "h", 5
other-name
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        return story.overwritten[0].text.split()[0].split(".")[0], story.overwritten[0].number
other-name/a-part-of-it
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
    return story.variable.split(".")[-1], story.overwritten[0].number
called-again
    try:
        program()
    except RuntimeError:
        pass
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
    return story.variable, story.overwritten[0].number
not-caught
    program()
raised/no-error
    with mg.viz.lines() as log:
        pass
    story = mg.viz.explain(log).story
    return story.variable, story.overwritten[0].number
no-pair
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        return mg.viz.explain(error).story.variable
no-pair/order
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        return story.overwritten[0].number, story.variable
no-pair/line
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        return story.variable, story.overwritten[0]
no-pair/none
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        mg.viz.explain(error)
mode-left/lines
    block = mg.viz.lines()
    block.__enter__()
    try:
        program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        return story.variable, story.overwritten[0].number
saving-line/constant
    return "h", 4
not-caught/raised-again
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        raise
    return story.variable, story.overwritten[0].number
no-pair/text
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        return story.variable, str(story.overwritten[0].number)
""",
    ),
}


def _right(signature: str, blocks: str) -> list[str]:
    return list(functions(signature, blocks).values())


RIGHT = {
    "lines": [
        "found = dict(zip(['P saved', 'P overwrote', 'Q saved', 'Q overwrote', 'R saved', 'R overwrote'], "
        "[1, 3, 1, 4, 3, 3]))",
        _lines({"P saved": 1.0, "R saved": 3.0}),
        "one = mg.tensor(1)\n" + _lines().replace(": 1,", ": one,"),
    ],
    "names": [
        "called = dict(D='h', C='part', B='v', A='h')",
        "called = {**dict.fromkeys('AD', 'h'), 'B': ' v', 'C': '`part`'}",
        "called = {name: value for name, value in zip('ABCD', ('h', 'v', 'part', 'h'))}",
    ],
    "lost": [
        "lost = dict(D=0, C=1, B=2, A=2)",
        "lost = dict(zip('ABCD', [2.0, 2.0, 1.0, 0.0]))",
        "lost = {name: mg.tensor(n) for name, n in zip('ABCD', (2, 2, 1, 0))}",
    ],
    "repairs": [
        "repairs = dict(zip('ABCDEFGH', 'right wrong error right error wrong error error'.split()))",
        _repairs(A="Right", B=" wrong "),
        "repairs = dict.fromkeys('CEGH', 'error') | dict.fromkeys('BF', 'wrong') | dict.fromkeys('AD', 'right')",
    ],
    "gated": _right(
        "gated(w, x)",
        """
tanh
    gate = 0.5 * (1 + mg.tanh(w * x / 2))
    return (gate * x).sum() + 2 * gate.sum()
clone
    gate = mg.sigmoid(w * x)
    out = gate * x
    gate = gate.clone()
    gate *= 2
    return (out + gate).sum()
at-the-use
    gate = mg.sigmoid(w * x)
    return (gate * x + 2 * gate).sum()
again
    return (mg.sigmoid(w * x) * x + mg.sigmoid(w * x) * 2).sum()
factor
    return mg.sum(mg.sigmoid(x * w) * (x + 2))
where-made
    with mg.autograd.detect_anomaly():
        gate = mg.sigmoid(w * x)
        return (gate * x + gate * 2).sum()
""",
    ),
    "remember": _right(
        "remember(w, xs)",
        """
list
    h, losses = mg.zeros_like(xs[0]), []
    for x in xs:
        h = mg.tanh(w * h + x)
        losses.append((h * h).sum())
    return sum(losses)
stack
    h, states = mg.zeros_like(xs[0]), []
    for x in xs:
        h = mg.tanh(w * h + x)
        states.append(h)
    return mg.stack(states).square().sum()
in-place
    h, total = mg.zeros_like(xs[0]), mg.zeros((), dtype=xs[0].dtype)
    for x in xs:
        h = mg.tanh(w * h + x)
        total += (h ** 2).sum()
    return total
first-round
    h = mg.tanh(xs[0] + 0 * w)
    total = (h * h).sum()
    for x in xs[1:]:
        h = mg.tanh(x + h * w)
        total = total + (h * h).sum()
    return total
""",
    ),
    "carry": _right(
        "carry(w, xs)",
        """
sum-of-slopes
    h, total = mg.zeros_like(xs[0]), mg.zeros_like(w)
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        total += mg.autograd.grad((h * h).sum(), w)[0]
    w.grad = total if w.grad is None else w.grad + total
at-the-end
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
        (h * h).sum().backward()
        h = h.detach()
in-place
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
        (h * h).sum().backward()
        h.detach_()
one-walk
    h, total = mg.zeros_like(xs[0]), 0
    for x in xs:
        h = mg.tanh(w * h.detach() + x)
        total = total + (h * h).sum()
    total.backward()
states-first
    states = [mg.zeros_like(xs[0])]
    with mg.no_grad():
        for x in xs:
            states.append(mg.tanh(w * states[-1] + x))
    for h, x in zip(states, xs):
        mg.tanh(w * h + x).square().sum().backward()
new-leaf
    h = mg.zeros_like(xs[0])
    for x in xs:
        h = mg.tanh(w * h + x)
        (h * h).sum().backward()
        h = h.detach().requires_grad_()
""",
    ),
    "play": _right(
        "play(g, d, rate)",
        """
by-hand
    with mg.no_grad():
        d -= rate * 8 * d * g * g
    (1 - d * g * 2).backward()
no-grad-fake
    with mg.no_grad():
        fake = g * 2
    score = d * fake
    (1 + score * score).backward()
    with mg.no_grad():
        d -= rate * d.grad
    (1 - d * (g * 2)).backward()
grad-of-d
    score = d * (g * 2)
    (slope,) = mg.autograd.grad(1 + score * score, d)
    with mg.no_grad():
        d -= rate * slope
    (1 - d * (g * 2)).backward()
inputs
    fake = g * 2
    score = d * fake
    (1 + score * score).backward(inputs=[d], retain_graph=True)
    with mg.no_grad():
        d -= rate * d.grad
    (1 - d * fake).backward()
cleared
    fake = g * 2
    score = d * fake
    (1 + score * score).backward()
    with mg.no_grad():
        d.sub_(d.grad, alpha=rate)
    g.grad = d.grad = None
    (1 - d * (g * 2)).backward()
""",
    ),
    "rows": _right(
        "rows(w, data)",
        """
clone
    losses = []
    for row in data:
        buffer = row.clone()
        losses.append(((w * buffer) ** 2).sum())
    return losses
new-buffer
    losses = []
    for row in data:
        buffer = mg.zeros_like(row)
        buffer.copy_(row)
        losses.append(((w * buffer) ** 2).sum())
    return losses
tuple
    return tuple((w * row).square().sum() for row in data)
""",
    ),
    "culprit": _right(
        "culprit(program)",
        """
numpy
    import numpy as np
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
    return story.variable, np.int64(story.overwritten[0].number)
last
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        found = mg.viz.explain(error).story
    return [found.variable, found.overwritten[-1].number]
block-around
    with mg.viz.lines():
        try:
            program()
        except RuntimeError as error:
            caught = error
    story = mg.viz.explain(caught).story
    return story.variable, story.overwritten[0].number
unpacked
    try:
        with mg.viz.lines():
            program()
    except Exception as error:
        story = mg.viz.explain(error).story
    (line,) = story.overwritten
    return (story.variable, line.number)
float
    try:
        with mg.viz.lines():
            program()
    except RuntimeError as error:
        story = mg.viz.explain(error).story
        return story.variable, float(story.overwritten[0].number)
""",
    ),
}

RIGHT["play"].append("""def play(g, d, rate):
    g.requires_grad_(False)
    try:
        score = d * (g * 2)
        (1 + score * score).backward()
    finally:
        g.requires_grad_()
    with mg.no_grad():
        d -= rate * d.grad
    (1 - d.detach() * (g * 2)).backward()
""")

RIGHT["rows"].append("""def rows(w, data):
    return tuple(((w * row.clone()) ** 2).sum() for row in data)
""")
