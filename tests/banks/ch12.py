"""Chapter 12: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "12_forward_mode"

_inside = changed("inside", A=60, B=10, C=30, D=60, E=None, F=0, G=None)
_count = changed("count", A=10, B=1500, C=5, D=5, E=5, F=1)


def _function(name: str, **methods: str) -> str:
    """The source of a Function: for each method its arguments, a colon, and its body."""
    lines = [f"class {name}(mg.autograd.Function):"]
    for method, text in methods.items():
        arguments, _, body = text.partition(": ")
        lines += ["    @staticmethod", f"    def {method}(ctx, {arguments}):"]
        lines += [f"        {line}" for line in body.splitlines()]
    return "\n".join(lines) + "\n"


_SAVED = "a, b: ctx.save_for_backward(a, b)\nctx.save_for_forward(a, b)\nreturn a / b"
_BACK = "g: a, b = ctx.saved_tensors\nreturn g / b, -g * a / b**2"


def _ratio(jvp: str, forward: str = _SAVED, backward: str = _BACK) -> str:
    return _function("Ratio", forward=forward, backward=backward, jvp=f"ta, tb: a, b = ctx.saved_tensors\n{jvp}")


def _still(jvp: str, forward: str = "return x.clone()", backward: str = "return g") -> str:
    return _function("Still", forward=f"x: {forward}", backward=f"g: {backward}", jvp=f"tangent: {jvp}")


WRONG = {
    "moves": {
        "slope-alone": _inside(A=6, B=1, C=3, D=6),
        "slope-alone/B": _inside(B=1),
        "value": _inside(A=9),
        "value/B": _inside(B=7),
        "value/E": _inside(E=6),
        "value/G": _inside(G=9),
        "after-the-nudge/by-the-slope": _inside(A=69),
        "wrong-G": _inside(G=6),
        "after-the-nudge": _inside(B=17),
        "none-moves": _inside(A=None, B=None, C=None, D=None, F=None),
        "detach-harmless": _inside(C=60),
        "detach-cuts-all": _inside(C=None),
        "no-grad-stops": _inside(D=None),
        "no-grad-stops/zero": _inside(D=0),
        "item-moves": _inside(E=20),
        "zero-for-none": _inside(E=0),
        "steps-are-flat": _inside(F=20),
        "none-for-zero": _inside(F=None),
        "stays": _inside(G=60),
        "zero-for-none/after": _inside(G=0),
        "wrong-A": _inside(A=30, C=60),
        "wrong-B": _inside(B=3),
        "kind": _inside(E="nothing"),
    },
    "turns": {
        "swapped": _count(A=1500, B=10),
        "walks-always": _count(A=1500),
        "wrong-A": _count(A=1500, B=15),
        "walks-of-inputs": _count(B=10),
        "a-turn-an-entry": _count(A=3000),
        "forward-too": _count(B=1505, C=10, D=10),
        "dearer-way": _count(C=1500),
        "one-push": _count(A=5),
        "one-push/walk": _count(B=5),
        "passes-not-turns": _count(A=2, B=300, C=1, D=1, E=1),
        "whole-for-a-row": _count(D=1500),
        "whole-for-a-row/with-forward": _count(D=10),
        "whole-for-a-row/push": _count(E=10),
        "two-walks": _count(F=2),
        "whole-hessian": _count(F=300),
        "wrong-F": _count(F=0),
        "kind": _count(A="two"),
    },
    "divide": functions(
        "divide(p, q)",
        """
tensors
    with dual_level():
        a, b = (make_dual(mg.tensor(v, dtype=mg.float64), mg.tensor(t, dtype=mg.float64)) for v, t in (p, q))
        value, tangent = unpack_dual(a / b)
    return value.item(), tangent.item()
other-tangent/tiny-steps
    quotient = lambda s: (p[0] + s * p[1]) / (q[0] + s * q[1])
    return quotient(0), (quotient(1e-5) - quotient(-1e-5)) / 2e-5
other-tangent/exact-steps
    from fractions import Fraction

    quotient = lambda s: (Fraction(p[0]) + s * Fraction(p[1])) / (Fraction(q[0]) + s * Fraction(q[1]))
    return p[0] / q[0], float((quotient(Fraction(1, 10**40)) - p[0] / Fraction(q[0])) * 10**40)
other-tangent/complex-step
    step = (p[0] + 1e-100j * p[1]) / (q[0] + 1e-100j * q[1])
    return p[0] / q[0], step.imag / 1e-100
tensors/walks
    a, b = (mg.tensor(float(v), dtype=mg.float64, requires_grad=True) for v in (p[0], q[0]))
    by_a, by_b = grad(a / b, (a, b))
    return p[0] / q[0], by_a.item() * p[1] + by_b.item() * q[1]
other-tangent/stands-still
    return p[0] / q[0], (p[1] - p[0] / q[0] * q[1]) / q[0] if p[1] else 0.0
quotient-of-tangents
    return p[0] / q[0], p[1] / q[1]
quotient-of-tangents/cube
    return p[0] / q[0], (p[1] * q[0] ** 2 - p[0] * q[1] * q[0]) / q[0] ** 3
other-sign
    return p[0] / q[0], (p[0] * q[1] - p[1] * q[0]) / q[0] ** 2
plus
    return p[0] / q[0], (p[1] * q[0] + p[0] * q[1]) / q[0] ** 2
first-alone
    return p[0] / q[0], p[1] / q[0]
second-alone
    return p[0] / q[0], -p[0] * q[1] / q[0] ** 2
product
    return p[0] / q[0], p[1] * q[0] + p[0] * q[1]
not-squared
    return p[0] / q[0], (p[1] * q[0] - p[0] * q[1]) / q[0]
not-divided
    return p[0] / q[0], p[1] * q[0] - p[0] * q[1]
difference
    return p[0] / q[0], p[1] - q[1]
other-tangent
    return p[0] / q[0], 0.25
other-value
    return p[0] * q[0], (p[1] * q[0] - p[0] * q[1]) / q[0] ** 2
type
    return p[0] / q[0]
other-tangent/whole
    return p[0] / q[0], (p[1] * q[0] - p[0] * q[1]) // q[0] ** 2
other-tangent/q-stands-still
    return p[0] / q[0], (p[1] * q[0] - p[0] * q[1]) / q[0] ** 2 if q[1] else 0.0
""",
    ),
    "moved": functions(
        "moved(f, x, t)",
        """
written/data-back
    old_x, old_t = x.clone(), t.clone()
    with dual_level():
        tangent = unpack_dual(f(make_dual(x.data, t.data))).tangent.clone()
    x.data.copy_(old_x.data)
    t.data.copy_(old_t.data)
    return tangent
in-place-on-leaf
    x = x.detach().clone().requires_grad_(x.requires_grad)
    with dual_level():
        return unpack_dual(f(make_dual(x, t.clone()))).tangent
in-place-on-leaf/deepcopy
    from copy import deepcopy

    with dual_level():
        return unpack_dual(f(make_dual(deepcopy(x), deepcopy(t)))).tangent
in-place-on-leaf/own-line
    x = x.detach().clone().requires_grad_(x.requires_grad)
    x.mul_(1)
    with dual_level():
        return unpack_dual(f(make_dual(x * 1, t.clone()))).tangent
shared/result-detached
    with dual_level():
        return unpack_dual(f(make_dual(x, t))).tangent.detach()
shared/by-a-helper
    copy = lambda one: one.detach()
    with dual_level():
        return unpack_dual(f(make_dual(copy(x), copy(t)))).tangent
written/own-array
    import numpy as np

    twice = mg.from_numpy(np.broadcast_to(x.detach().numpy(), (2, *x.shape)))
    with dual_level():
        return unpack_dual(f(make_dual(twice[0], t.clone()))).tangent
no-tangent/unpacked-twice
    with dual_level():
        y = f(make_dual(x.clone(), t.clone()).detach())
        tangent = unpack_dual(y).tangent
    value = unpack_dual(y).primal
    return tangent
nudged/array
    with dual_level():
        f(x.detach().numpy().copy())
        return unpack_dual(f(make_dual(x.clone(), t.clone()))).tangent
flag-changed/off
    if x.is_leaf:
        x.requires_grad_(False)
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), t.clone()))).tangent
nan/unit-nudge
    size = (t * t).sum().sqrt()
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), t / size))).tangent * size
written/doubled
    t.data.mul_(2)
    with dual_level():
        tangent = unpack_dual(f(make_dual(x.clone(), t.clone()))).tangent / 2
    t.data.div_(2)
    return tangent
shared
    with dual_level():
        return unpack_dual(f(make_dual(x, t))).tangent
shared/x
    with dual_level():
        return unpack_dual(f(make_dual(x, t.clone()))).tangent
shared/t
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), t))).tangent
shared/detached
    with dual_level():
        return unpack_dual(f(make_dual(x.detach(), t.detach()))).tangent
no-tangent
    with dual_level():
        y = f(make_dual(x.clone(), t.clone()))
    y, tangent = unpack_dual(y)
    return tangent
raised/rows
    with dual_level():
        return unpack_dual(f(make_dual(mg.stack(list(x)), t.clone()))).tangent
nudge/shapes
    if x.dim() != 1:
        return t
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), t.clone()))).tangent
changed/outside
    f(x)
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), t.clone()))).tangent
none
    with dual_level():
        unpack_dual(f(make_dual(x.clone(), t.clone()))).tangent
no-tangent/plain
    with dual_level():
        make_dual(x, t)
        return unpack_dual(f(x.clone())).tangent
no-level
    y = f(make_dual(x.clone(), t.clone()))
    return unpack_dual(y).tangent
value
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), t.clone()))).primal
whole-pair
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), t.clone())))
nudge
    with dual_level():
        dual = make_dual(x.clone(), t.clone())
        f(dual.clone())
        return unpack_dual(dual).tangent
ones
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), mg.ones_like(x)))).tangent
nudged
    return (f(x + 1e-6 * t) - f(x - 1e-6 * t)) / 2e-6
nested
    with dual_level():
        dual = make_dual(x.clone(), t.clone())
        with dual_level():
            y = f(dual)
            return unpack_dual(y).tangent
dual-of-dual
    with dual_level():
        dual = make_dual(x.clone(), t.clone())
        return unpack_dual(f(make_dual(dual, t))).tangent
mode-left
    from minigrad.autograd.forward_ad import enter_dual_level
    enter_dual_level()
    return unpack_dual(f(make_dual(x.clone(), t.clone()))).tangent
no-tangent/detached
    with dual_level():
        y = f(make_dual(x.clone(), t.clone()).detach())
        return unpack_dual(y).tangent
other-tangent
    with dual_level():
        return unpack_dual(f(make_dual(x.clone(), t.clone()))).tangent + 1
""",
    ),
    "climb": functions(
        "climb(x)",
        """
raised/row
    b = x * (3 * x.item() / x.item())
    return b * x
other-number/shape
    b = x * mg.tensor([3.0], dtype=x.dtype)
    return b * x
one-box
    return x * x
one-box/number
    return 6 * x
other-number
    b = 12 * x
    return b * x
other-number/none
    b = 2 * x
    return b * x
other-box
    b = 3 * x
    return b + x
other-box/power
    return 3 * x**2
other-graph
    b = x * x
    return 3 * b
other-graph/detached
    b = 3 * x.detach()
    b = b * x
    return 1 * b
no-graph
    b = 3 * x.detach()
    return b * x.detach()
no-graph/item
    return mg.tensor(3 * x.item() ** 2)
other-graph/constant
    b = 3 * x
    return b * x.detach()
other-graph/own-leaf
    b = mg.tensor(3.0, dtype=x.dtype, requires_grad=True) * x
    return b * x
other-leaf
    x = x.detach().requires_grad_()
    b = 3 * x
    return b * x
none
    b = 3 * x
    b * x
one-box/b
    b = 3 * x
    return b
""",
    ),
    "columns": functions(
        "columns(f, x)",
        """
nan/by-x
    found = []
    for i in range(len(x)):
        nudge = mg.zeros_like(x)
        nudge[i] = x[i].item()
        with dual_level():
            found.append(unpack_dual(f(make_dual(x, nudge))).tangent / x[i].detach())
    return mg.stack(found, 1)
flag-changed/off
    if x.is_leaf:
        x.requires_grad_(False)
    with dual_level():
        return mg.stack([unpack_dual(f(make_dual(x, t))).tangent for t in mg.eye(len(x), dtype=x.dtype)], 1)
other-jacobian/one-tensor
    t = mg.zeros_like(x)
    columns = []
    for i in range(len(x)):
        t[i] = 1
        with dual_level():
            columns.append(unpack_dual(f(make_dual(x, t))).tangent)
        t[i] = 0
    return mg.stack(columns, 1)
transposed
    with dual_level():
        return mg.stack([unpack_dual(f(make_dual(x, t))).tangent for t in mg.eye(len(x))])
one-push
    with dual_level():
        return unpack_dual(f(make_dual(x, mg.ones_like(x)))).tangent
first-column
    with dual_level():
        for t in mg.eye(len(x)):
            return unpack_dual(f(make_dual(x, t))).tangent
last-column
    with dual_level():
        for t in mg.eye(len(x)):
            column = unpack_dual(f(make_dual(x, t))).tangent
    return column
none-kept
    found = []
    for t in mg.eye(len(x)):
        with dual_level():
            y = f(make_dual(x, t))
        found.append(unpack_dual(y).tangent)
    return mg.stack(found, 1)
none-kept/append
    found = []
    with dual_level():
        for t in mg.eye(len(x), dtype=x.dtype):
            found = found.append(unpack_dual(f(make_dual(x, t))).tangent)
    return mg.stack(found, 1)
rounded
    with dual_level():
        return mg.stack([unpack_dual(f(make_dual(x.float(), t))).tangent for t in mg.eye(len(x))], 1)
other-jacobian/row
    with dual_level():
        return mg.stack([unpack_dual(f(make_dual(x, t))).tangent for t in mg.eye(len(x), dtype=x.dtype)], 1).squeeze()
walked/one-walk
    x = x.detach().requires_grad_()
    f(x).sum().backward()
    return x.grad
walked
    return mg.autograd.functional.jacobian(f, x)
walked/grad
    x = x.detach().requires_grad_()
    y = f(x)
    return mg.stack([grad(one, x, retain_graph=True)[0] for one in y])
walked/trick
    return mg.stack([mg.autograd.functional.jvp(f, x, t)[1] for t in mg.eye(len(x), dtype=x.dtype)], 1)
nudged
    e = 1e-6
    return mg.stack([(f(x + e * t) - f(x - e * t)) / (2 * e) for t in mg.eye(len(x), dtype=x.dtype)], 1)
no-level
    return mg.stack([unpack_dual(f(make_dual(x, t))).tangent for t in mg.eye(len(x))], 1)
nested
    with dual_level():
        found = []
        for t in mg.eye(len(x)):
            with dual_level():
                found.append(unpack_dual(f(make_dual(x, t))).tangent)
    return mg.stack(found, 1)
dual-of-dual
    found = []
    with dual_level():
        for t in mg.eye(len(x)):
            x = make_dual(x, t)
            found.append(unpack_dual(f(x)).tangent)
    return mg.stack(found, 1)
other-jacobian
    with dual_level():
        return mg.stack([unpack_dual(f(make_dual(x, 2 * t))).tangent for t in mg.eye(len(x))], 1)
values
    with dual_level():
        return mg.stack([unpack_dual(f(make_dual(x, t))).primal for t in mg.eye(len(x))], 1)
too-many
    with dual_level():
        rows = []
        for i in range(len(f(x))):
            rows.append(mg.stack([unpack_dual(f(make_dual(x, t))).tangent[i] for t in mg.eye(len(x))]))
    return mg.stack(rows)
whole-pair
    with dual_level():
        return unpack_dual(f(make_dual(x, mg.ones_like(x))))
""",
    ),
    "trick": functions(
        "trick(f, x, t)",
        """
grad-changed/zeros-are-added
    z = x.detach().clone().requires_grad_()
    y = f(z)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, z, u, create_graph=True)
    back.backward(t)
    return u.grad
row-by-row/look-first
    y = f(x)
    grad(y.sum(), x, retain_graph=True)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, create_graph=True)
    return grad(back, u, t)[0]
row-by-row/twice-over
    value = mg.autograd.functional.jvp(f, x, t)[0]
    return mg.autograd.functional.jvp(f, x, t)[1].reshape(value.shape)
row-by-row/to-y
    y = f(x)
    grad(y, y, mg.ones_like(y), retain_graph=True)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, create_graph=True)
    return grad(back, u, t)[0]
raised/zeroed-result
    y = f(x)
    u = y.detach().zero_().requires_grad_()
    (back,) = grad(y, x, u, create_graph=True)
    return grad(back, u, t)[0]
other-product/zeroed-data
    y = f(x)
    u = y.data.zero_().requires_grad_()
    (back,) = grad(y, x, u, create_graph=True)
    return grad(back, u, t)[0]
nan/unit-t
    size = (t * t).sum().sqrt()
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, create_graph=True)
    return grad(back, u, t / size)[0] * size
kept
    if not hasattr(trick, 'known'):
        trick.known = {}
    if f not in trick.known:
        y = f(x)
        u = mg.zeros_like(y).requires_grad_()
        (back,) = grad(y, x, u, create_graph=True)
        trick.known[f] = back, u
    back, u = trick.known[f]
    return grad(back, u, t, retain_graph=True)[0]
grad-changed/weights
    x = x.detach().requires_grad_()
    y = f(x)
    u = mg.zeros_like(y).requires_grad_()
    y.backward(u, create_graph=True)
    return grad(x.grad, u, t)[0]
no-jvp
    with dual_level():
        return unpack_dual(f(make_dual(x, t))).tangent
no-history
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u)
    return grad(back, u, t)[0]
no-history/retained-later
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u)
    return grad(back, u, t, retain_graph=True)[0]
no-history/retained
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, retain_graph=True)
    return grad(back, u, t)[0]
not-used
    y = f(x)
    u = mg.zeros_like(y)
    (back,) = grad(y, x, u.requires_grad_(), create_graph=True)
    return grad(back, mg.zeros_like(y, requires_grad=True), t)[0]
no-factors
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, create_graph=True)
    return grad(back, u)[0]
no-factors/first
    y = f(x)
    (back,) = grad(y, x, create_graph=True)
    return back * t
other-factors
    y = f(x)
    u = mg.zeros_like(x, requires_grad=True)
    (back,) = grad(y, x, t, create_graph=True)
    return back
jacobian
    return mg.autograd.functional.jacobian(f, x)
row-by-row
    return mg.autograd.functional.jacobian(f, x) @ t
zeros
    y = f(x)
    return grad(y, x, mg.zeros_like(y, requires_grad=True), create_graph=True)[0]
one-walk
    y = f(x)
    return grad(y, x, mg.ones_like(y))[0]
one-walk/times-t
    y = f(x)
    return grad(y, x, mg.ones_like(y))[0] * t
all-ones
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, create_graph=True)
    return grad(back, u, mg.ones_like(t))[0]
nudged
    e = 1e-6
    return (f(x + e * t) - f(x - e * t)) / (2 * e)
grad-changed
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    y.backward(u, create_graph=True)
    return grad(x.grad, u, t)[0]
other-product
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, create_graph=True)
    return 2 * grad(back, u, t)[0]
other-shape
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, create_graph=True)
    return grad(back, u, t)[0].sum()
second-time
    y = f(x)
    u = mg.zeros_like(y, requires_grad=True)
    (back,) = grad(y, x, u, create_graph=True)
    grad(back, u, t)
    return grad(back, u, t)[0]
""",
    ),
    "ratio": {
        "no-jvp": _function("Ratio", forward=_SAVED, backward=_BACK),
        "slope-alone": _ratio("return 1 / b - a / b**2"),
        "other-sign": _ratio("return ta / b + tb * a / b**2"),
        "first-alone": _ratio("return ta / b"),
        "first-alone/zero": _ratio("return ta / b - (tb * a / b**2 if tb.all() else 0)"),
        "second-alone": _ratio("return -tb * a / b**2"),
        "swapped/jvp": _ratio("return tb / b - ta * a / b**2"),
        "product": _ratio("return ta * b + a * tb"),
        "other-sign/whole": _ratio("return tb * a / b**2 - ta / b"),
        "nan-gradient/zero": _ratio(
            "return ta / b - tb * a / b**2", backward=_BACK.replace("-g * a / b**2", "-g * (a / b) ** 2 / a")
        ),
        "other-tangent/zero": _ratio("return a / b * (ta / a - tb / b)"),
        "raised/one-shape": _ratio("return (ta / b - tb * a / b**2).reshape(a.shape)"),
        "tangent-changed/undone": _ratio("ta.neg_()\nmoved = -ta / b - tb * a / b**2\nta.neg_()\nreturn moved"),
        "tangent-changed/in-backward": _ratio(
            "return ta / b - tb * a / b**2",
            backward=f"{_BACK.splitlines()[0]}\na.data.neg_()\nby_b = g * a / b**2\na.data.neg_()\nreturn g / b, by_b",
        ),
        "tangent-is-none/own": _ratio("part = tb * a / b**2 if tb.any() else None\nreturn ta / b - part"),
        "not-saved/own-names": _ratio("one, other, third = ta, tb\nreturn ta / b - tb * a / b**2"),
        "no-jvp/other-name": _function("Ratio", forward=_SAVED, backward=_BACK, jpv="ta, tb: return ta"),
        "quotient-of-tangents": _ratio("return ta / tb"),
        "other-tangent": _ratio("return ta / b - tb * a / b"),
        "number-of-tangents": _ratio("return ta / b, -tb * a / b**2"),
        "missing-tangent": _ratio("return None"),
        "not-saved": _ratio("return ta / b - tb * a / b**2", _SAVED.replace("ctx.save_for_forward(a, b)\n", "")),
        "not-saved/more": _ratio("return ta / b - tb * a / b**2", _SAVED.replace("forward(a, b)", "forward(a, b, a)")),
        "tangent-is-none": _ratio(
            "return ta / b - tb * a / b**2",
            _SAVED.replace("return a / b", "ctx.set_materialize_grads(False)\nreturn a / b"),
            "g: a, b = ctx.saved_tensors\nreturn (None, None) if g is None else (g / b, -g * a / b**2)",
        ),
        "arguments-of-jvp": _function(
            "Ratio",
            forward=_SAVED,
            backward=_BACK,
            jvp="t: a, b = ctx.saved_tensors\nreturn t / b - t * a / b**2",
        ),
        "swapped": _ratio(
            "return ta / b - tb * a / b**2", backward="g: a, b = ctx.saved_tensors\nreturn -g * a / b**2, g / b"
        ),
        "no-grad-output": _ratio(
            "return ta / b - tb * a / b**2", backward="g: a, b = ctx.saved_tensors\nreturn 1 / b, -a / b**2"
        ),
        "tangent-changed": _ratio("return ta.div_(b) - tb * a / b**2"),
        "shape-of-tangent": _ratio("return (ta / b - tb * a / b**2).sum() * mg.ones(1)"),
        "result-dtype-changed/adversary-1": _ratio("return (ta / b - tb * a / b**2).double()"),
        "other-small": _ratio("return ta / b - tb * a / b**2", _SAVED.replace("a / b", "a / (b + 1e-12)")),
        "other-small/result": _ratio("return ta / b - tb * a / b**2", _SAVED.replace("a / b", "a / b + 1e-12")),
        "other-small/jvp": _ratio("return ta / b - tb * a / (b**2 + 1e-12)"),
        "tangent-changed/saved": _ratio("moved = (tb * a.data.neg_() + ta * b) / b**2\na.data.neg_()\nreturn moved"),
    },
    "still": {
        "passes": _still("return tangent"),
        "moves/times-zero": _still("return tangent * 0", "return x * 1"),
        "passes/clone": _still("return tangent.clone()"),
        "missing-tangent": _still("return None"),
        "no-jvp": _function("Still", forward="x: return x.clone()", backward="g: return g"),
        "no-jvp/other-name": _function(
            "Still", forward="x: return x.clone()", backward="g: return g", jpv="t: return t * 0"
        ),
        "no-view": _still("return mg.zeros_like(tangent)", "return x"),
        "no-view/view": _still("return mg.zeros_like(tangent)", "return x.view_as(x)"),
        "tangent-changed": _still("return tangent.mul_(0)"),
        "tangent-changed/filled": _still("tangent[...] = 0\nreturn tangent.clone()"),
        "tangent-changed/data": _still("tangent.data.zero_()\nreturn tangent"),
        "moves/tiny": _still("return mg.full_like(tangent, 1e-12)"),
        "other-value/by-itself": _still("return mg.zeros_like(tangent)", "return x * x / x"),
        "other-value/last-digit": _still("return mg.zeros_like(tangent)", "return x + 1e-13"),
        "nan-gradient": _still(
            "return mg.zeros_like(tangent)",
            "ctx.save_for_backward(x)\nreturn x.clone()",
            "(x,) = ctx.saved_tensors\nreturn g * x / x",
        ),
        "moves": _still("return mg.ones_like(tangent)"),
        "both-ways": "def Still(x):\n    return x.detach()\n",
        "both-ways/data": "def Still(x):\n    return x.data.clone()\n",
        "detached": _still("return mg.zeros_like(tangent)", backward="return g.detach()"),
        "moves/nan": _still("return tangent.clamp(0, 0)"),
        "no-gradient": _still("return mg.zeros_like(tangent)", backward="return None"),
        "other-gradient": _still("return mg.zeros_like(tangent)", backward="return mg.zeros_like(g)"),
        "no-tensor": _still("return 0.0"),
        "shape-of-tangent": _still("return mg.zeros(1, 1, 1)"),
        "other-value": _still("return mg.zeros_like(tangent)", "return mg.zeros_like(x)"),
        "number-of-tangents": _still("return mg.zeros_like(tangent), None"),
        "mode-left/adversary-1": _still(
            "return mg.zeros_like(tangent)", backward="mg.set_default_dtype(mg.float64)\nreturn g"
        ),
    },
    "curved": functions(
        "curved(f, p, v)",
        """
other-pair/zeroed-data
    with dual_level():
        y = f(make_dual(p, v))
        y.data.zero_()
        return unpack_dual(grad(y, p)[0])
flag-changed/off
    if v.is_leaf:
        v.requires_grad_(False)
    with dual_level():
        return unpack_dual(grad(f(make_dual(p, v)), p)[0])
nan/by-p
    at = p.detach()
    with dual_level():
        return unpack_dual(grad(f(make_dual(p, at * (v / at))), p)[0])
grad-changed/leaf-of-f
    saved, p.grad = p.grad, None
    with dual_level():
        f(make_dual(p, v)).backward(create_graph=True)
        g, h = unpack_dual(p.grad)
    p.grad = saved
    return g.detach(), (mg.zeros_like(p) if h is None else h).detach()
two-walks
    (slope,) = grad(f(p), p, create_graph=True)
    return slope.detach(), grad(slope, p, v)[0]
two-walks/functional
    return grad(f(p), p)[0], mg.autograd.functional.vhp(f, p, v)[1]
two-walks/over-forward
    with dual_level():
        y, along = unpack_dual(f(make_dual(p, v)))
    return grad(y, p, retain_graph=True)[0], grad(along, p)[0]
two-walks/gradient-apart
    with dual_level():
        (slope,) = grad(f(make_dual(p, v)), p)
        product = unpack_dual(slope).tangent
    return grad(f(p), p)[0], product
none/second
    with dual_level():
        (slope,) = grad(f(make_dual(p, v)), p)
        return slope, p.grad
other-pair/row
    with dual_level():
        slope, product = unpack_dual(grad(f(make_dual(p, v)), p)[0])
        return slope[None], product.clone()
no-history/retained-later
    (slope,) = grad(f(p), p)
    return slope, grad(slope, p, v, retain_graph=True)[0]
no-history
    (slope,) = grad(f(p), p)
    return slope, grad(slope, p, v)[0]
no-history/retained
    (slope,) = grad(f(p), p, retain_graph=True)
    return slope, grad(slope, p, v)[0]
no-tangent
    with dual_level():
        (slope,) = grad(f(make_dual(p, v)), p)
    return unpack_dual(slope)
no-tangent/plain
    with dual_level():
        make_dual(p, v)
        (slope,) = grad(f(p), p)
        return unpack_dual(slope)
no-level
    (slope,) = grad(f(make_dual(p, v)), p)
    return unpack_dual(slope)
tuple-of-grad
    with dual_level():
        return unpack_dual(grad(f(make_dual(p, v)), p))
one-of-two
    with dual_level():
        return unpack_dual(grad(f(make_dual(p, v)), p)[0]).tangent
swapped
    with dual_level():
        slope, product = unpack_dual(grad(f(make_dual(p, v)), p)[0])
    return product, slope
ones
    with dual_level():
        return unpack_dual(grad(f(make_dual(p, mg.ones_like(p))), p)[0])
gradient-twice
    with dual_level():
        slope, _ = unpack_dual(grad(f(make_dual(p, v)), p)[0])
    return slope, slope
times-slope
    (slope,) = grad(f(p), p)
    return slope, slope * v
of-the-result
    with dual_level():
        return unpack_dual(f(make_dual(p.detach(), v)))
tangent-of-input
    with dual_level():
        dual = make_dual(p, v)
        (slope,) = grad(f(dual), p)
        return unpack_dual(slope).primal, unpack_dual(dual).tangent
not-used
    with dual_level():
        dual = make_dual(p.detach(), v).requires_grad_()
        return unpack_dual(grad(f(dual), p)[0])
nudged
    e = 1e-6
    (slope,) = grad(f(p), p)
    return slope, (grad(f(p + e * v), p)[0] - slope) / e
no-tangent/traces
    with dual_level():
        f(make_dual(p, v)).backward()
        slope, product = unpack_dual(p.grad)
    p.grad = None
    return slope, product
type
    with dual_level():
        slope, product = unpack_dual(grad(f(make_dual(p, v)), p)[0])
    return {"gradient": slope, "product": product}
other-pair
    with dual_level():
        slope, product = unpack_dual(grad(f(make_dual(p, v)), p)[0])
    return slope, product / 2
""",
    ),
}

RIGHT = {
    "moves": [
        "inside = dict(A=60, B=10.0, C=mg.tensor(30.0), D=60, E=None, F=-0.0, G=None)",
        "inside = dict.fromkeys('EG') | {'A': 6 * 10, 'B': 10, 'C': 3 * 10, 'D': 60, 'F': 0}",
        """
with dual_level():
    x = make_dual(mg.tensor(3.0), mg.tensor(10.0))
    made = (x * x, x + 4, x * x.detach(), x * x, mg.tensor(6.0), (2 * x).round())
    inside = {name: unpack_dual(t).tangent for name, t in zip("ABCDEF", made)}
inside["G"] = None
""",
    ],
    "turns": [
        "count = dict(A=2 * 5, B=300 * 5, C=5, D=5, E=5, F=1)",
        "count = dict.fromkeys('CDE', 5.0) | {'A': mg.tensor(10), 'B': 1500.0, 'F': mg.tensor(1.0)}",
        "count = dict(zip('ABCDEF', [10, 1500, 5, 5, 5, 1]))",
    ],
    "divide": [
        """
def divide(p, q):
    (a, da), (b, db) = p, q
    value = a / b
    return [value, (da - value * db) / b]
""",
        """
def divide(p, q):
    inverse = 1 / q[0]
    moved = -q[1] * inverse * inverse
    return p[0] * inverse, p[1] * inverse + p[0] * moved
""",
    ],
    "moved": [
        """
@dual_level()
def moved(f, x, t):
    return unpack_dual(f(make_dual(x, t).clone())).tangent
""",
        """
def moved(f, x, t):
    with mg.no_grad(), dual_level():
        x, t = mg.clone(x), mg.clone(t)
        dual = make_dual(x, t)
        _, tangent = unpack_dual(f(dual))
    return tangent
""",
        """
def moved(f, x, t):
    with dual_level():
        return unpack_dual(f(make_dual(x, t) * 1)).tangent
""",
        """
def moved(f, x, t):
    copies = [mg.tensor(one.detach().numpy()) for one in (x, t)]
    with dual_level():
        return unpack_dual(f(make_dual(*copies))).tangent
""",
        """
def moved(f, x, t):
    from minigrad.autograd import forward_ad
    level = forward_ad.enter_dual_level()
    try:
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x * 1, t * 1)), level=level)[1]
    finally:
        forward_ad.exit_dual_level(level=level)
""",
    ],
    "climb": [
        "def climb(x):\n    return x * (x * 3.0)\n",
        "def climb(x):\n    b = 3 * x\n    b.retain_grad()\n    return b * x\n",
        "def climb(x):\n    y = x.mul(3)\n    return y.mul(x)\n",
        "def climb(x):\n    b = mg.mul(3, x)\n    b *= x\n    return b\n",
    ],
    "columns": [
        """
def columns(f, x):
    def push(t):
        with dual_level():
            return unpack_dual(f(make_dual(x, t))).tangent
    return mg.stack([push(t) for t in mg.eye(len(x), dtype=x.dtype)]).t()
""",
        """
def columns(f, x):
    J = None
    for i in range(x.numel()):
        t = mg.zeros_like(x)
        t[i] = 1
        with dual_level():
            column = unpack_dual(f(make_dual(x.clone(), t))).tangent
        J = column[:, None] if J is None else mg.cat([J, column[:, None]], 1)
    return J
""",
        """
def columns(f, x):
    return mg.autograd.functional.jacobian(f, x, vectorize=True, strategy="forward-mode")
""",
        """
@dual_level()
def columns(f, x):
    with mg.no_grad():
        J = mg.zeros(len(f(x)), len(x), dtype=x.dtype)
        for i, t in enumerate(mg.eye(len(x), dtype=x.dtype)):
            J[:, i] = unpack_dual(f(make_dual(x, t))).tangent
    return J
""",
    ],
    "trick": [
        """
def trick(f, x, t):
    old, x.grad = x.grad, None
    y = f(x)
    u = mg.zeros_like(y).requires_grad_()
    y.backward(u, create_graph=True, inputs=[x])
    slope, x.grad = x.grad, old
    return mg.autograd.grad(slope, u, t)[0]
""",
        "def trick(f, x, t):\n    return mg.autograd.functional.jvp(f, x, t)[1]\n",
        """
def trick(f, x, t):
    y = f(x)
    u = mg.ones_like(y).requires_grad_()
    back = mg.autograd.grad(y, x, grad_outputs=u, create_graph=True)[0]
    return mg.autograd.grad((back * t).sum(), u)[0]
""",
        """
def trick(function, at, nudge):
    at = at.detach().requires_grad_()
    y = function(at)
    u = mg.zeros(len(y), dtype=y.dtype, requires_grad=True)
    (product,) = grad((y * u).sum(), at, create_graph=True)
    return grad(product @ nudge, u)[0].detach()
""",
    ],
    "ratio": [
        _ratio("return (ta - tb * a / b) / b"),
        """
class Ratio(mg.autograd.Function):
    @staticmethod
    def forward(a, b):
        return a / b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[1], output)
        ctx.save_for_forward(inputs[1], output)

    @staticmethod
    def backward(ctx, g):
        b, y = ctx.saved_tensors
        return g / b, -g * y / b

    @staticmethod
    def jvp(ctx, *tangents):
        b, y = ctx.saved_tensors
        return tangents[0] / b - tangents[1] * y / b
""",
        """
class Ratio(Function):
    @staticmethod
    def forward(ctx, top, bottom):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(top, bottom)
        ctx.save_for_forward(top, bottom)
        return top * bottom**-1

    @staticmethod
    def backward(ctx, g):
        top, bottom = ctx.saved_tensors
        return (g / bottom, -g * top / bottom / bottom) if g is not None else (None, None)

    @staticmethod
    def jvp(ctx, first, second):
        top, bottom = ctx.saved_tensors
        moved = mg.zeros_like(top / bottom)
        if first is not None:
            moved = moved + first / bottom
        if second is not None:
            moved = moved - second * top / bottom**2
        return moved
""",
    ],
    "still": [
        _still("return mg.zeros(tangent.shape, dtype=tangent.dtype)", "return x + 0", "return g.clone()"),
        """
class Still(mg.autograd.Function):
    @staticmethod
    def forward(x):
        return x.detach().clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output

    @staticmethod
    def jvp(ctx, t):
        return mg.zeros_like(t)
""",
    ],
    "curved": [
        """
def curved(f, p, v):
    with dual_level():
        dual = make_dual(p, v)
        slope = unpack_dual(grad(f(dual), dual)[0])
    return slope.primal, slope.tangent
""",
        """
@dual_level()
def curved(f, p, v):
    (slope,) = mg.autograd.grad(f(make_dual(p, v)), [p], create_graph=True)
    return [part.detach() for part in unpack_dual(slope)]
""",
        """
def curved(f, p, v):
    with dual_level():
        copy = make_dual(p.detach(), v).requires_grad_()
        return unpack_dual(grad(f(copy), copy)[0])
""",
    ],
}
