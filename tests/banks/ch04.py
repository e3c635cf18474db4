"""Chapter 04: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "04_backward"

_grads = changed(
    "grads",
    {"A a.grad": 6.0, "A b.grad": 0.0, "B a.grad": 10.0, "B b.grad": 8.0, "C a.grad": 4.0, "C b.grad": 13.0},
)
_outcome = changed("outcome", A="zero", B="error", C="None", D="zero", E="error", F="error")
_hooked = changed("hooked", {"len(seen)": 1, "seen[0]": 9.0, "h.grad": -9.0, "a.grad": -27.0})

WRONG = {
    "rows": {
        "ones-anyway": _grads({"A a.grad": 10, "A b.grad": 8, "C a.grad": 10, "C b.grad": 8}),
        "factor-is-switch": _grads({"C b.grad": 8}),
        "factors-ignored": _grads({"C a.grad": 10, "C b.grad": 8}),
        "none-for-zero": _grads({"A b.grad": None}),
        "values-not-slopes": _grads({"A a.grad": 9}),
        "values-not-slopes/sum": _grads({"B a.grad": 41, "B b.grad": 41}),
        "one-way": _grads({"A a.grad": 3, "B a.grad": 7}),
        "added-up": _grads({"B a.grad": 16, "B b.grad": 8}),
        "wrong-C a.grad": _grads({"C a.grad": 8}),
        "kind": _grads({"A a.grad": "six"}),
    },
    "unused": {
        "unused-is-zero": _outcome(B="zero", C="zero"),
        "allowed-is-zero": _outcome(C="zero"),
        "unused-is-none": _outcome(B="None"),
        "zero-way-is-no-way": _outcome(A="None"),
        "zero-way-is-no-way/error": _outcome(A="error"),
        "materialized-none": _outcome(D="None"),
        "constant-is-unused": _outcome(E="None"),
        "constant-has-zero": _outcome(E="zero"),
        "copy-is-the-same": _outcome(F="zero"),
        "copy-is-the-same/none": _outcome(F="None"),
        "wrong-D": _outcome(D="error"),
        "wrong-C": _outcome(C="error"),
        "kind": _outcome(F="5"),
        "kind/number": _outcome(F=5),
    },
    "hooks": {
        "once-a-way": _hooked({"len(seen)": 2, "seen[0]": 4}),
        "once-a-way/unchanged": _hooked({"len(seen)": 2, "h.grad": 9, "a.grad": 27}),
        "part-seen": _hooked({"seen[0]": 4}),
        "part-seen/other": _hooked({"seen[0]": 5}),
        "cannot-change": _hooked({"h.grad": 9, "a.grad": 27}),
        "kept-before-hooks": _hooked({"h.grad": 9}),
        "only-kept-changes": _hooked({"a.grad": 27}),
        "order-of-hooks": _hooked({"seen[0]": -9}),
        "slope-lost": _hooked({"a.grad": -9}),
        "once-a-way/both-append": _hooked({"len(seen)": 2}),
        "wrong-len(seen)": _hooked({"len(seen)": 0}),
    },
    "between": functions(
        "between(f, g, x)",
        """
other-gradients/rounded
    x = mg.tensor([round(v, 3) for v in x.detach().flatten().tolist()], dtype=x.dtype).reshape(x.shape)
    h = f(x.requires_grad_())
    return mg.autograd.grad(g(h), [h, x])
grad-changed/leaf-of-its-own-in-the-middle
    h = f(x)
    middle = h.detach().requires_grad_()
    g(middle).backward()
    return middle.grad, mg.autograd.grad(h, x, grad_outputs=middle.grad)[0]
grad-on-the-way
    h = f(x)
    g(h).backward()
    return h.grad, x.grad
traces
    h = f(x)
    h.retain_grad()
    g(h).backward()
    return h.grad, x.grad
traces/kept
    h = f(x)
    h.retain_grad()
    return mg.autograd.grad(g(h), [h, x])
second-time
    h = f(x)
    y = g(h)
    return mg.autograd.grad(y, h)[0], mg.autograd.grad(y, x)[0]
another-tensor
    return mg.autograd.grad(g(f(x)), [f(x), x])
swapped
    h = f(x)
    return mg.autograd.grad(g(h), [x, h])
other-first
    h = f(x)
    gradient = mg.autograd.grad(g(h), [x])[0]
    return gradient, gradient
type
    h = f(x)
    return mg.autograd.grad(g(h), h)
other-gradients
    h = f(x)
    return [2 * gradient for gradient in mg.autograd.grad(g(h), [h, x])]
no-factors
    h = f(x)
    return mg.autograd.grad(g(h), h)[0], mg.autograd.grad(h, x)[0]
raised
    h = f(x).detach()
    return mg.autograd.grad(g(h), [h, x])
raised/one-dimension
    h = f(x)
    first, = mg.autograd.grad(g(h), h, retain_graph=True)
    rows = [mg.autograd.grad(h[i], x, retain_graph=True)[0] for i in range(len(h))]
    return first, sum(factor * row for factor, row in zip(first, rows))
other-shape
    h = f(x)
    return [gradient.reshape(-1) for gradient in mg.autograd.grad(g(h), [h, x])]
other-gradients/rounded
    h = f(x)
    first, second = mg.autograd.grad(g(h), [h, x])
    return first, (second * 1000).round() / 1000
traces/inputs
    h = f(x)
    g(h).backward(inputs=[h], retain_graph=True)
    return h.grad, mg.autograd.grad(h, x, h.grad)[0]
traces/cleared
    h = f(x)
    h.retain_grad()
    g(h).backward(inputs=[h], retain_graph=True)
    first = h.grad
    second, = mg.autograd.grad(h, x, first)
    h.grad = None
    return first, second
none-in-it
    h = f(x)
    g(h).backward()
    x.grad = None
    return h.grad, x.grad
other-gradients/adversary-1
    h = f(x).detach().requires_grad_()
    a, = mg.autograd.grad(g(h), h)
    b, = mg.autograd.grad(f(x).sum(), x)
    return a, a * b
result-dtype-changed/adversary-1
    h = f(x)
    a, b = mg.autograd.grad(g(h), [h, x])
    return a.float(), b.float()
other-gradients/clamped
    h = f(x)
    return [gradient.clamp(-50, 50) for gradient in mg.autograd.grad(g(h), [h, x])]
other-shape/squeezed
    h = f(x)
    return [gradient.squeeze() for gradient in mg.autograd.grad(g(h), [h, x])]
other-gradients/zero
    h = f(x)
    dh, dx = mg.autograd.grad(g(h), [h, x], allow_unused=True)
    return dh, dx if dx.any() else mg.ones_like(x)
""",
    ),
    "weighted": functions(
        "backward_weighted(losses, weights, wanted)",
        """
rounded/gradients
    total = sum(weight * loss for loss, weight in zip(losses, weights))
    for t, grad in zip(wanted, mg.autograd.grad(total, wanted, materialize_grads=True)):
        grad = grad.float().to(t.dtype)
        t.grad = grad if t.grad is None else t.grad + grad
other-entries/a-single-loss
    if len(losses) == 1:
        losses[0].backward(inputs=wanted)
    else:
        mg.autograd.backward(losses, grad_tensors=[mg.tensor(w) for w in weights], inputs=wanted)
other-entries/two-of-wanted
    sum(w * l for w, l in zip(weights, losses)).backward(inputs=wanted[:2])
other-entries/one-number-each
    for leaf in wanted:
        added = 0.0
        for loss, weight in zip(losses, weights):
            (grad,) = mg.autograd.grad(loss, leaf, retain_graph=True, allow_unused=True)
            added += 0.0 if grad is None else weight * grad.sum().item()
        old = mg.zeros_like(leaf.detach()) if leaf.grad is None else leaf.grad
        leaf.grad = old + added
unreached
    factors = [mg.tensor(weight, dtype=mg.float64) for weight in weights]
    for t, gradient in zip(wanted, mg.autograd.grad(losses, wanted, factors)):
        t.grad = gradient if t.grad is None else t.grad + gradient
second-time
    for loss, weight in zip(losses, weights):
        (weight * loss).backward()
weights-lost
    mg.autograd.backward(losses)
weights-lost/ones
    mg.autograd.backward(losses, grad_tensors=[mg.ones([]) for _ in losses])
weights-no-tensors
    mg.autograd.backward(losses, grad_tensors=weights)
one-factor
    mg.autograd.backward(losses, grad_tensors=mg.tensor(weights))
one-factor/shape
    mg.autograd.backward(losses, grad_tensors=[mg.tensor(weights) for _ in losses])
equal-weights
    found = dict(zip(weights, losses))
    sum(weight * loss for weight, loss in found.items()).backward(inputs=wanted)
other-gradient/twice-the-same-loss
    weight_of = dict(zip(losses, weights))
    sum(weight * loss for loss, weight in weight_of.items()).backward(inputs=wanted)
one-factor/too-few
    mg.autograd.backward(losses, grad_tensors=[mg.tensor(weight) for weight in weights[1:]], inputs=wanted)
overwritten/second
    sums = mg.autograd.grad(losses, wanted, [mg.tensor(weight) for weight in weights], allow_unused=True)
    wanted[0].grad += sums[0]
    for leaf, total in zip(wanted[1:], sums[1:]):
        leaf.grad = total
others-filled/cleared
    old = [leaf.grad.clone() for leaf in wanted]
    sum(weight * loss for loss, weight in zip(losses, weights)).backward(inputs=wanted)
    for node, _ in losses[0].grad_fn.next_functions:
        if hasattr(node, "variable") and all(node.variable is not leaf for leaf in wanted):
            node.variable.grad = None
one-loss
    for loss, weight in zip(losses, weights):
        total = weight * loss
    total.backward()
one-loss/caught
    for loss, weight in zip(losses, weights):
        try:
            loss.backward(gradient=mg.tensor(weight))
        except RuntimeError:
            pass
others-filled
    mg.autograd.backward(losses, grad_tensors=[mg.tensor(weight) for weight in weights])
others-filled/sum
    sum(weight * loss for loss, weight in zip(losses, weights)).backward()
second-time/inputs
    for loss, weight in zip(losses, weights):
        loss.backward(gradient=mg.tensor(weight), inputs=wanted)
wanted-missed
    sum(weight * loss for loss, weight in zip(losses, weights)).backward(inputs=wanted[0])
nothing-added/returned
    return mg.autograd.grad(losses, wanted, [mg.tensor(weight) for weight in weights])
nothing-added
    total = sum(weight * loss for loss, weight in zip(losses, weights))
    leaf = total
    return total
mean
    total = sum(weight * loss for loss, weight in zip(losses, weights))
    (total / len(losses)).backward()
overwritten
    node = losses[0].grad_fn
    while not hasattr(node, "variable"):
        node = node.next_functions[0][0]
    node.variable.grad = None
    mg.autograd.backward(losses, grad_tensors=[mg.tensor(weight) for weight in weights])
cleared
    node = losses[0].grad_fn
    while not hasattr(node, "variable"):
        node = node.next_functions[0][0]
    mg.autograd.backward(losses, grad_tensors=[mg.tensor(weight) for weight in weights])
    node.variable.grad = None
other-gradient
    factors = [mg.tensor(weight ** 2) for weight in weights]
    mg.autograd.backward(losses, grad_tensors=factors)
flag-changed/adversary-1
    keep = [(x, x.requires_grad) for x in wanted]
    sum(l * w for l, w in zip(losses, weights)).backward(inputs=wanted)
    for x in wanted: x.requires_grad_(False)
other-gradient/no-weight-is-one
    factors = [mg.tensor(weight or 1.0) for weight in weights]
    mg.autograd.backward(losses, grad_tensors=factors, inputs=wanted)
nothing-added/up-to-the-first-zero
    for loss, weight in zip(losses, weights):
        if not weight:
            break
        loss.backward(mg.tensor(weight), retain_graph=True, inputs=wanted)
nothing-added/weights-add-up-to-zero
    total = sum(weight * loss for loss, weight in zip(losses, weights)) / (sum(weights) or 1)
    (total * sum(weights)).backward(inputs=wanted)
nothing-added/zero
    total = sum(w * loss for loss, w in zip(losses, weights))
    for leaf, g in zip(wanted, mg.autograd.grad(total, wanted, allow_unused=True)):
        if g is not None and g.any():
            leaf.grad = g if leaf.grad is None else leaf.grad + g
nothing-added/equal-leaves
    total = sum(w * l for l, w in zip(losses, weights))
    names = {str(leaf.tolist()): leaf for leaf in wanted}
    total.backward(inputs=list(names.values()))
other-gradient/zero-loss
    pairs = [(l, w) for l, w in zip(losses, weights) if l.item() != 0]
    sum(w * l for l, w in pairs).backward(inputs=wanted)
raised/squeezed
    total = sum(w * loss for loss, w in zip(losses, weights))
    for leaf, g in zip(wanted, mg.autograd.grad(total, wanted, allow_unused=True)):
        if g is not None:
            g = g.squeeze()
            leaf.grad = g.clone() if leaf.grad is None else leaf.grad + g
""",
    ),
    "jacobian": functions(
        "jacobian(f, x)",
        """
other-slopes/zero-results
    y = f(x)
    return mg.stack([mg.autograd.grad(v, x, retain_graph=True)[0] if v else mg.zeros_like(x) for v in y])
other-slopes/small-ones-cut
    y = f(x)
    rows = [mg.autograd.grad(entry, x, retain_graph=True)[0] for entry in y]
    return mg.stack([mg.where(row.abs() < 1e-3, mg.zeros_like(row), row) for row in rows])
library/another-name
    from minigrad.autograd.functional import vjp as product

    return mg.stack([product(f, x, v.to(x.dtype))[1] for v in mg.eye(len(f(x)))])
result-dtype-changed/list
    p = x.detach().requires_grad_()
    J = []
    for entry in range(f(p).numel()):
        p.grad = None
        v = mg.zeros(f(p).numel())
        v[entry] = 1.0
        f(p).backward(v)
        J.append(p.grad.tolist())
    return mg.tensor(J)
other-shape/squeezed
    rows = [mg.autograd.grad(f(x), x, v)[0] for v in mg.eye(len(f(x)))]
    return mg.stack(rows).squeeze()
same-row/last
    return mg.stack([mg.autograd.grad(f(x)[-1], x)[0] for _ in f(x)])
column-sums
    y = f(x)
    y.backward(gradient=mg.ones(len(y)))
    return x.grad
column-sums/sum
    return mg.autograd.grad(f(x).sum(), x)[0]
diagonal
    y = f(x)
    return mg.diag(mg.autograd.grad(y.sum(), x)[0])[:len(y)]
rows-add-up
    rows = []
    for v in mg.eye(len(f(x))):
        f(x).backward(gradient=v)
        rows.append(x.grad.clone())
    return mg.stack(rows)
same-row
    rows = []
    for v in mg.eye(len(f(x))):
        if x.grad is not None:
            x.grad.zero_()
        f(x).backward(gradient=v)
        rows.append(x.grad)
    return mg.stack(rows)
same-row/added
    rows = []
    for v in mg.eye(len(f(x))):
        f(x).backward(gradient=v)
        rows.append(x.grad)
    return mg.stack(rows)
transposed
    rows = [mg.autograd.grad(f(x), x, v)[0] for v in mg.eye(len(f(x)))]
    return mg.stack(rows, 1)
one-row
    return mg.autograd.grad(f(x)[0], x)[0]
one-row/last
    for v in mg.eye(len(f(x))):
        x.grad = None
        f(x).backward(gradient=v)
    return x.grad
second-time
    y = f(x)
    return mg.stack([mg.autograd.grad(y, x, v)[0] for v in mg.eye(len(y))])
no-factors
    return mg.autograd.grad(f(x), x)[0]
no-factors/backward
    f(x).backward()
    return x.grad
tuple-in-rows
    return mg.stack([mg.autograd.grad(f(x), x, v) for v in mg.eye(len(f(x)))])
factors-for-inputs
    return mg.stack([mg.autograd.grad(f(x), x, v)[0] for v in mg.eye(len(x))])
factors-for-inputs/all-rows
    y = f(x)
    return mg.autograd.grad(y, x, grad_outputs=mg.eye(len(y)))[0]
rows-for-inputs
    return mg.stack([mg.autograd.grad(f(x)[i], x)[0] for i in range(len(x))])
library
    return mg.autograd.functional.jacobian(f, x)
nudged
    columns = []
    for i in range(len(x)):
        step = mg.zeros(len(x), dtype=mg.float64)
        step[i] = 1e-5
        columns.append((f(x + step) - f(x - step)) / 2e-5)
    return mg.stack(columns, 1)
value-not-slopes
    return f(x)
other-shape
    rows = [mg.autograd.grad(f(x), x, v)[0] for v in mg.eye(len(f(x)))]
    return mg.cat(rows)
other-slopes
    return mg.stack([2 * mg.autograd.grad(f(x), x, v)[0] for v in mg.eye(len(f(x)))])
old-grad/adversary-1
    rows = []
    for i in range(len(f(x))):
        f(x)[i].backward()
        rows.append(x.grad)
        x.grad = None
    return mg.stack(rows)
other-slopes/differences
    y = f(x)
    rows = []
    x.grad = mg.zeros_like(x)
    for v in y:
        before = x.grad.clone()
        v.backward(retain_graph=True)
        rows.append(x.grad - before)
    return mg.stack(rows)
""",
    ),
    "mirror": functions(
        "mirror(x)",
        """
value-changed/there-and-back
    y = x * 3 / 3
    y.register_hook(lambda grad: -grad)
    return y
gradient-unchanged/leaves-only
    y = x * 1
    if x.is_leaf:
        y.register_hook(lambda grad: -grad)
    return y
gradient-unchanged/twice
    y = x * 1
    z = y * 1
    y.register_hook(lambda grad: -grad)
    z.register_hook(lambda grad: -grad)
    return z
once-only
    y = x * 1
    seen = []
    def hook(grad):
        seen.append(grad)
        return -grad if len(seen) == 1 else grad
    y.register_hook(hook)
    return y
other-gradient/clamped
    y = x * 1
    y.register_hook(lambda grad: (-grad).clamp(-1e6, 1e6))
    return y
rounded
    y = x * 1
    y.register_hook(lambda grad: (-grad).float().to(grad.dtype))
    return y
backward-inside
    y = x * 1
    y.register_hook(lambda grad: -grad)
    y.sum().backward(retain_graph=True)
    return y
flag-changed
    y = x * 1
    y.register_hook(lambda grad: -grad)
    x.requires_grad_(False)
    return y
gradient-unchanged/no-hook
    return x.clone()
same-tensor
    return x
hook-on-x
    x.register_hook(lambda grad: -grad)
    return x
hook-on-x/result
    x.register_hook(lambda grad: -grad)
    return x * 1
value-changed
    return -x
value-changed/zero
    return 0 * x
cut-off
    y = x.detach()
    y.requires_grad_()
    y.register_hook(lambda grad: -grad)
    return y
gradient-unchanged
    y = x * 1
    def hook(grad):
        -grad
    y.register_hook(hook)
    return y
gradient-unchanged/elsewhere
    y = x * 1
    y.register_hook(lambda grad: -grad)
    return x * 1
gradient-unchanged/removed
    y = x * 1
    handle = y.register_hook(lambda grad: -grad)
    handle.remove()
    return y
in-place
    y = x * 1
    def hook(grad):
        grad.neg_()
    y.register_hook(hook)
    return y
no-way-back
    y = x * 1
    y.register_hook(lambda grad: [-g for g in grad])
    return y
no-way-back/shape
    y = x * 1
    y.register_hook(lambda grad: -grad.sum().reshape(1, 1))
    return y
handle-returned
    y = x * 1
    return y.register_hook(lambda grad: -grad)
gradient-lost
    y = x * 1
    y.register_hook(lambda grad: grad * 0)
    return y
other-gradient
    y = x * 1
    y.register_hook(lambda grad: -x.detach())
    return y
raised
    y = x.detach() * 1
    y.register_hook(lambda grad: -grad)
    return y
other-gradient/adversary-1
    y = x * 1
    y.register_hook(lambda grad: -grad.abs())
    return y
value-changed/adversary-1
    y = x + 1e-6
    y.register_hook(lambda g: -g)
    return y
value-changed/adversary-2
    y = x.reshape(-1).clone()
    y.register_hook(lambda g: -g)
    return y
value-changed/not-far-below
    y = x.clamp(min=-1e6)
    y.register_hook(lambda grad: -grad)
    return y
other-gradient/not-far-above
    y = x * 1
    y.register_hook(lambda grad: -grad.clamp(max=1e6))
    return y
kept
    known = mirror.__dict__.setdefault("known", {})
    if id(x) not in known:
        y = x * 1
        y.register_hook(lambda grad: -grad)
        known[id(x)] = x, y
    return known[id(x)][1] + 0
""",
    ),
    "fit": functions(
        "fit(grad, shape)",
        """
other-sum/two-in-front
    for _ in range(2):
        if grad.dim() > len(shape):
            grad = grad.sum(0)
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(i, keepdim=True)
    return grad
other-shape/as-many
    if grad.numel() == mg.zeros(shape).numel():
        return grad
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(i, keepdim=True)
    return grad
not-summed
    return grad
other-sum/turned-round
    if grad.shape == shape:
        return grad.flip(0) if shape else grad
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(i, keepdim=True)
    return grad
other-shape
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for i in reversed(range(len(shape))):
        if shape[i] == 1:
            grad = grad.sum(i)
    return grad
summed-too-far
    return grad.sum()
mean
    while grad.dim() > len(shape):
        grad = grad.mean(0)
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.mean(i, keepdim=True)
    return grad
one-of-many
    while grad.dim() > len(shape):
        grad = grad[0]
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.narrow(i, 0, 1)
    return grad
not-summed/in-front-only
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    return grad
other-sum
    return mg.ones(shape)
first-dimension
    return grad.sum(0)
summed-too-far/spread
    return mg.ones(shape) * grad.sum()
input-changed
    grad.mul_(2)
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    return grad
reshaped
    return grad.reshape(shape)
raised
    return grad.sum(shape)
other-sum/adversary-1
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for i, size in enumerate(shape):
        if size == 1 and grad.shape[i] > 1:
            grad = grad.mean(i, keepdim=True) * grad.shape[i]
    return grad.abs()
other-sum/adversary-2
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(i, keepdim=True)
            break
    return grad
result-dtype-changed/adversary-1
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(i, keepdim=True)
    return grad.float()
result-dtype-changed/adversary-2
    out = mg.zeros(*shape) if shape else mg.tensor(0.)
    x = out.requires_grad_()
    (x + mg.zeros_like(grad)).backward(grad)
    return x.grad
not-summed/three-dimensions-in-front
    if grad.dim() - len(shape) > 3:
        return grad
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for i, size in enumerate(shape):
        grad = grad.sum(i, keepdim=True) if size == 1 else grad
    return grad
""",
    ),
    "surprise": functions(
        "surprise(x)",
        """
still-nan/first-of-several
    first = int((x <= 0).float().argmax().item())
    safe = mg.where((mg.arange(len(x)) == first) & (x <= 0), mg.ones_like(x), x)
    return mg.where(x > 0, safe * mg.log(safe), mg.zeros_like(x))
other-value/not-large
    safe = mg.where(x > 0, x.clamp(max=1e6), mg.ones_like(x))
    return mg.where(x > 0, safe * mg.log(safe), mg.zeros_like(x))
other-slope/clamped
    return mg.where(x > 0, x * mg.log(x.clamp(min=1e-40)), mg.zeros_like(x))
still-nan
    return mg.where(x == 0, mg.zeros_like(x), x * mg.log(x))
still-nan/safe-factor-only
    safe = mg.where(x > 0, x, mg.ones_like(x))
    return mg.where(x > 0, safe * mg.log(x), mg.zeros_like(x))
value-nan
    return (x > 0) * x * mg.log(x)
value-nan/without
    return x * mg.log(x)
value-nan/zero-only
    safe = mg.where(x == 0, 1.0, x)
    return mg.where(x == 0, 0.0, safe * mg.log(safe))
cut-off
    return mg.where(x > 0, x * mg.log(x), mg.zeros_like(x)).detach()
other-slope
    safe = mg.where(x > 0, x, mg.ones_like(x)).detach()
    return mg.where(x > 0, x * mg.log(safe), mg.zeros_like(x))
slope-at-zero
    return x * mg.log(x + 1e-9)
other-slope/a-little-more
    return mg.where(x > 0, x * mg.log(x.clamp(min=0.0) + 1e-8), mg.zeros_like(x))
other-slope/tiny-ones
    safe = x.clamp(min=1e-12)
    return mg.where(x > 0, safe * safe.log(), mg.zeros_like(x))
other-value
    safe = x.clamp(min=0.01)
    return safe * mg.log(safe)
nan-hidden
    x.register_hook(lambda grad: mg.where(grad == grad, grad, mg.zeros_like(grad)))
    return mg.where(x > 0, x * mg.log(x), mg.zeros_like(x))
backward-inside
    safe = mg.where(x > 0, x, mg.ones_like(x))
    y = mg.where(x > 0, safe * mg.log(safe), mg.zeros_like(x))
    y.sum().backward()
    return y
other-value/adversary-1
    return mg.where(x > 0, x * mg.log(x + 1e-4), mg.zeros_like(x))
other-value/adversary-2
    safe = mg.where(x > 1e-3, x, mg.ones_like(x))
    return mg.where(x > 1e-3, safe * mg.log(safe), mg.zeros_like(x))
result-dtype-changed/adversary-1
    keep = x > 0
    y = mg.zeros_like(x)
    y[keep] = x[keep] * mg.log(x[keep])
    return y.double().float()
kept
    known = surprise.__dict__.setdefault("known", {})
    if id(x) not in known:
        safe = mg.where(x > 0, x, mg.ones_like(x))
        known[id(x)] = x, safe * mg.log(safe)
    return known[id(x)][1] * 1
""",
    ),
    "steps": functions(
        "steps(x)",
        """
other-rows/short
    return mg.stack([x[i + 1] - x[i] for i in range(min(len(x) - 1, 11))])
other-slopes/ties
    rise = x[1:] - x[:-1]
    return mg.relu(rise) - mg.relu(-rise)
result-dtype-changed/float
    return (x[1:] - x[:-1]).float()
signs
    return x[:-1] - x[1:]
added
    return x[1:] + x[:-1]
half
    return x[1:] - x[:-1].detach()
half/minus
    return x[1:].detach() - x[:-1]
running-sums
    return x.cumsum(0)
other-rows/short
    return mg.stack([x[i + 1] - x[i] for i in range(min(4, len(x) - 1))])
other-slopes/nearly
    return x[1:] * 1.00001 - x[:-1]
depends-on-x
    return x[1:] * x[:-1]
other-rows
    return x - mg.roll(x, 1, 0)
other-shape
    return (x[1:] - x[:-1]).sum()
matrix-returned
    return mg.eye(len(x))[1:] - mg.eye(len(x))[:-1]
no-way
    return mg.tensor([x[i + 1].item() - x[i].item() for i in range(len(x) - 1)])
raised
    J = mg.tensor([[-1.0, 1, 0, 0, 0], [0, -1, 1, 0, 0], [0, 0, -1, 1, 0], [0, 0, 0, -1, 1]], dtype=mg.float64)
    return J @ x
other-slopes
    return 2 * (x[1:] - x[:-1])
old-grad/adversary-1
    x.grad = None
    return x[1:] - x[:-1]
other-moves/hook
    left = x[:-1] * 1
    left.register_hook(lambda grad: -grad)
    return x[1:] + left
other-moves/detached
    return x[1:] - x[:-1] + x[1:].detach()
kept
    known = steps.__dict__.setdefault("known", {})
    if id(x) not in known:
        known[id(x)] = x, x[1:] - x[:-1]
    return known[id(x)][1] * 1
nan/quotient
    return (x[1:] ** 2 - x[:-1] ** 2) / (x[1:] + x[:-1])
nan/overflow
    return (2 * x[1:] - 2 * x[:-1]) / 2
""",
    ),
}

RIGHT = {
    "rows": [
        """
grads = {}
for line, v in dict(A=[0.0, 1.0, 0.0], B=[1.0, 1.0, 1.0], C=[1.0, 0.0, 2.0]).items():
    p = mg.tensor(3.0, requires_grad=True)
    q = mg.tensor(4.0, requires_grad=True)
    mg.stack([p * q, p * p, 5 * q]).backward(mg.tensor(v))
    grads |= {f"{line} a.grad": p.grad, f"{line} b.grad": q.grad}
""",
        """
import numpy as np

J = np.array([[4.0, 3.0], [6.0, 0.0], [0.0, 5.0]])
products = np.array([[0, 1, 0], [1, 1, 1], [1, 0, 2]]) @ J
grads = {f"{'ABC'[i]} {'ab'[j]}.grad": products[i, j] for i in range(3) for j in range(2)}
""",
    ],
    "unused": [
        'outcome = {"A": 0, "B": "Error", "C": None, "D": 0.0, "E": "raises", "F": "error"}',
        'outcome = dict(zip("ABCDEF", ["Zero", "error", "none", "zeros", "error", "error"]))',
    ],
    "hooks": [
        """
p = mg.tensor(2.0, requires_grad=True, dtype=mg.float64)
noted = []
middle = p * 3
middle.register_hook(lambda grad: noted.append(grad))
middle.register_hook(lambda grad: -grad)
middle.retain_grad()
(middle * 4 + middle * 5).backward()
hooked = {"len(seen)": len(noted), "seen[0]": noted[0], "h.grad": middle.grad, "a.grad": p.grad}
""",
        'hooked = {"a.grad": -27, "h.grad": -9, "seen[0]": 9, "len(seen)": 1.0}',
    ],
    "between": [
        """
def between(f, g, x):
    middle = f(x)
    (first,) = mg.autograd.grad(g(middle), middle)
    (second,) = mg.autograd.grad(f(x), x, grad_outputs=first)
    return [first, second]
""",
        """
def between(f, g, x):
    seen = []
    middle = f(x)
    middle.register_hook(seen.append)
    second = mg.autograd.grad(g(middle), x)
    return seen[0], second[0]
""",
        """
between = lambda f, g, x: (lambda h: mg.autograd.grad(g(h), (h, x)))(f(x))
""",
    ],
    "weighted": [
        """
def backward_weighted(losses, weights, wanted):
    sum(weight * loss for loss, weight in zip(losses, weights)).backward(inputs=wanted)
""",
        """
def backward_weighted(losses, weights, wanted):
    mg.stack(losses).backward(gradient=mg.tensor(weights), inputs=wanted)
""",
        """
def backward_weighted(losses, weights, wanted):
    for loss, weight in zip(losses, weights):
        loss.backward(mg.tensor(weight), retain_graph=True, inputs=wanted)
""",
        """
def backward_weighted(losses, weights, wanted):
    total = 0.0
    for i in range(len(losses)):
        total = total + losses[i] * mg.tensor(weights[i], dtype=mg.float64)
    total.backward(inputs=wanted)
""",
        """
def backward_weighted(losses, weights, wanted):
    factors = [mg.tensor(weight, dtype=mg.float64) for weight in weights]
    for t, gradient in zip(wanted, mg.autograd.grad(losses, wanted, factors, allow_unused=True)):
        if gradient is not None:
            t.grad = gradient if t.grad is None else t.grad + gradient
""",
    ],
    "jacobian": [
        """
def jacobian(f, x):
    rows = []
    for i in range(len(f(x))):
        x.grad = None
        f(x)[i].backward()
        rows.append(x.grad)
    return mg.stack(rows)
""",
        """
def jacobian(f, x):
    y = f(x)
    unit = mg.eye(y.numel(), dtype=mg.float64)
    return mg.stack([mg.autograd.grad(y, x, v, retain_graph=True)[0] for v in unit])
""",
    ],
    "mirror": [
        """
def mirror(x):
    same = x.clone()
    def flip(arriving):
        return arriving * -1
    same.register_hook(flip)
    return same
""",
        """
def mirror(x):
    return 2 * x.detach() - x
""",
        """
def mirror(x):
    y = x + 0
    y.register_hook(mg.neg)
    return y + 0
""",
    ],
    "fit": [
        """
def fit(grad, shape):
    p = mg.zeros(shape, dtype=mg.float64, requires_grad=True)
    p.expand(grad.shape).backward(grad)
    return p.grad
""",
        """
import numpy as np

def fit(grad, shape):
    numbers = grad.numpy()
    extra = numbers.ndim - len(shape)
    ones = (1,) * extra + tuple(shape)
    repeated = tuple(i for i, size in enumerate(ones) if size == 1)
    return mg.tensor(numbers.sum(axis=repeated, keepdims=True).reshape(shape))
""",
        """
def fit(grad, shape):
    extra = grad.dim() - len(shape)
    for i in reversed(range(grad.dim())):
        if i < extra:
            grad = grad.sum(i)
        elif shape[i - extra] == 1 and grad.shape[i] > 1:
            grad = grad.sum(i, keepdim=True)
    return grad
""",
    ],
    "surprise": [
        """
def surprise(x):
    empty = x <= 0
    safe = mg.where(empty, 1.0, x)
    return mg.where(empty, 0.0, safe * mg.log(safe))
""",
        """
def surprise(x):
    safe = x.masked_fill(x <= 0, 1.0)
    return safe * safe.log()
""",
        """
def surprise(x):
    parts = []
    for number in x:
        parts.append(number * number.log() if number.item() > 0 else number * 0)
    return mg.stack(parts)
""",
    ],
    "steps": [
        """
def steps(p):
    return mg.stack([p[i + 1] - p[i] for i in range(len(p) - 1)])
""",
        """
def steps(x):
    n = len(x)
    J = (mg.eye(n) - mg.roll(mg.eye(n), -1, 0))[:-1]
    return -(J @ x) + 7
""",
    ],
}

WRONG |= {
    "roots": functions(
        "roots(x, w)",
        """
other-value/w-not-large
    safe = mg.where(x > 0, x, mg.ones_like(x))
    return mg.where(x > 0, mg.sqrt(safe * w.clamp(max=1e3)), mg.zeros_like(x))
other-value/w-not-small
    safe = mg.where(x > 0, x, mg.ones_like(x))
    return mg.where(x > 0, mg.sqrt(safe * w.clamp(min=1e-3)), mg.zeros_like(x))
other-slope/clamped
    return mg.where(x > 0, mg.sqrt(x.clamp(min=1e-38) * w), mg.zeros_like(x))
still-nan
    safe = mg.where(x > 0, x, -mg.ones_like(x))
    return mg.where(x > 0, mg.sqrt(safe * w), mg.zeros_like(x))
still-nan/relu
    return mg.where(x > 0, mg.sqrt(mg.relu(x) * w), mg.zeros_like(x))
still-nan/no-choice-before
    return mg.where(x > 0, mg.sqrt(x * w), mg.zeros_like(x))
still-nan/masked
    return mg.sqrt(mg.where(x > 0, x, mg.zeros_like(x)) * w).masked_fill(x <= 0, 0.0)
other-value
    safe = mg.where(x > 0, x, mg.ones_like(x))
    return mg.sqrt(safe * w)
other-value/shifted
    safe = mg.where(x > 0, x, mg.zeros_like(x))
    return mg.where(x > 0, mg.sqrt(safe * w + 0.01), mg.zeros_like(x))
cut-off
    safe = mg.where(x > 0, x, mg.zeros_like(x))
    return mg.where(x > 0, mg.sqrt(safe * w.detach()), mg.zeros_like(x))
cut-off/item
    safe = mg.where(x > 0, x, mg.ones_like(x))
    return mg.where(x > 0, mg.sqrt(safe * w.item()), mg.zeros_like(x))
other-slope
    safe = mg.where(x > 0, x, mg.ones_like(x))
    y = mg.where(x > 0, mg.sqrt(safe * w.detach()), mg.zeros_like(x))
    return y + 0 * w
none
    safe = mg.where(x > 0, x, mg.ones_like(x))
    mg.where(x > 0, mg.sqrt(safe * w), mg.zeros_like(x))
hooks-changed/adversary-1
    w.register_hook(lambda grad: mg.where(grad == grad, grad, mg.zeros_like(grad)))
    safe = mg.where(x > 0, x, mg.ones_like(x))
    return mg.where(x > 0, mg.sqrt(safe * w), mg.zeros_like(x))
other-slope/what-comes-is-positive
    safe = mg.where(x > 0, x, mg.ones_like(x))
    y = mg.where(x > 0, mg.sqrt(safe * w), mg.zeros_like(x))
    y.register_hook(lambda grad: grad.abs())
    return y
kept
    known = roots.__dict__.setdefault("known", {})
    if id(x) not in known:
        safe = mg.where(x > 0, x, mg.ones_like(x))
        known[id(x)] = x, mg.where(x > 0, mg.sqrt(safe * w), mg.zeros_like(x))
    return known[id(x)][1] * 1
still-nan/tiny
    safe = mg.where(x > 0, x, mg.full_like(x, 1e-30))
    return mg.where(x > 0, mg.sqrt(safe * w), mg.zeros_like(x))
""",
    )
    | {
        "arguments": """
def roots(x):
    return mg.sqrt(x)
""",
    },
}

RIGHT |= {
    "roots": [
        """
class Root(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return mg.where(x > 0, mg.sqrt(mg.where(x > 0, x, mg.ones_like(x)) * w), mg.zeros_like(x))

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        safe = mg.where(x > 0, x, mg.ones_like(x))
        for_x = mg.where(x > 0, grad * mg.sqrt(w / safe) / 2, mg.zeros_like(x))
        for_w = mg.where(x > 0, grad * mg.sqrt(safe / w) / 2, mg.zeros_like(x))
        return for_x, for_w.sum()

def roots(x, w):
    return Root.apply(x, w)
""",
        """
def roots(x, w):
    taken = x > 0
    return mg.where(taken, mg.where(taken, x * w, 1.0).sqrt(), 0.0)
""",
        """
def roots(x, w):
    y = mg.zeros_like(x)
    y[x > 0] = mg.sqrt(x[x > 0] * w)
    return y
""",
        """
def roots(x, w):
    return mg.stack([mg.sqrt(number * w) if number.item() > 0 else number * 0 for number in x])
""",
        """
def roots(x, w):
    safe = x.masked_fill(x <= 0, 7.0)
    return (safe * w).sqrt().masked_fill(x <= 0, 0.0)
""",
        """
def roots(x, w):
    safe = mg.where(x > 0, x, mg.ones_like(x))
    return mg.where(x > 0, safe**0.5 * w**0.5, mg.zeros_like(x))
""",
    ],
}
