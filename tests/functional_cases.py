"""Calls of autograd.functional, written once for minigrad and PyTorch (`m` is either of them).

`python -m tools.record_torch` writes down what PyTorch answers to each; minigrad has to answer the same: values,
shapes, dtypes, flags, how results are nested, or the type and text of the refusal.
"""

import warnings


def inputs(m, *shapes, requires_grad=False):
    """Small different numbers, one tensor per shape."""
    tensors = []
    for number, shape in enumerate(shapes):
        size = 1
        for length in shape:
            size *= length
        tensors.append(((m.arange(size, dtype=m.float64) + number + 1) / 2).reshape(shape))
    tensors = tuple(t.requires_grad_() if requires_grad else t for t in tensors)
    return tensors if len(tensors) > 1 else tensors[0]


def leaves(m, *shapes):
    return inputs(m, *shapes, requires_grad=True)


def shown(value):
    """A result as JSON has it: nesting, and all that can be asked of a tensor."""
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(shown, value)]
    if not hasattr(value, "requires_grad"):
        return value
    numbers = value.detach().double().reshape(-1).tolist()
    return {
        "shape": list(value.shape),
        "dtype": str(value.dtype),
        "values": [float(f"{number:.12g}") for number in numbers],
        "requires_grad": value.requires_grad,
        "is_leaf": value.is_leaf,
    }


def answer(m, case):
    """The result, or the type and text of the refusal."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return shown(case(m, m.autograd.functional))
    except Exception as error:
        return {"type": type(error).__name__, "text": str(error)}


def flat(value):
    """All tensors of a nested result."""
    return [t for v in value for t in flat(v)] if isinstance(value, tuple) else [value]


def again(m, result, leaves):
    """The result, and the gradients of the sum of all its entries."""
    total = sum(t.sum() for t in flat(result) if t.requires_grad)
    return result, m.autograd.grad(total, leaves, allow_unused=True)


def exp_reducer(x):
    return x.exp().sum(1)


def cubes(x):
    return (x**3).sum()


def adder(x, y):
    return 2 * x + 3 * y


def mixed(x, y):
    return x * y.sum(), (x * x).sum()


def quartic(x, y):
    return (x**3).sum() * (y * y).sum()


def detached(x):
    return x.detach() * 2


def relabelled(x):
    """An output that requires grad, but not because of the input."""
    return (x.detach() * 1).requires_grad_().clone()


def half_used(x, y):
    return x * x


def leaf_or_not(x):
    return x * (2 if x.is_leaf else 3)


def grad_mode_inside(m):
    """Something is in the result only if grad mode is on while the function runs."""
    return lambda x: x * (2 if m.is_grad_enabled() else 3)


def in_no_grad(m, call):
    with m.no_grad():
        return call()


def captured(m, F):
    """What the function knows of itself is not an input, even if it is the same tensor."""
    x = leaves(m, (3,))
    return F.jacobian(lambda a: a * x, x)


def captured_with_graph(m, F):
    x = leaves(m, (3,))
    return again(m, F.jacobian(lambda a: a * a * x, x, create_graph=True), (x,))


def penalty(m, F):
    """Differentiate a Jacobian once more."""
    x = leaves(m, (3,))
    return again(m, F.jacobian(lambda a: a**3, x, create_graph=True), (x,))


def shares_memory(m, F):
    """Changing what the function gave back changes the input it passed through."""
    x = inputs(m, (2,))
    output, _ = F.vjp(lambda a: a, x, m.ones(2, dtype=m.float64))
    output.add_(10)
    return x


def leaves_no_grad(m, F):
    x = leaves(m, (2,))
    F.jacobian(lambda a: a**2, x)
    F.hessian(cubes, x)
    return x.grad is None


def with_create_graph(m, F, name, function, v_of, shapes):
    """A product under create_graph, differentiated by its inputs and its vector."""
    xs = leaves(m, *shapes)
    xs = xs if isinstance(xs, tuple) else (xs,)
    v = v_of(*xs)
    vs = tuple(ones(m, *t.shape).requires_grad_() for t in (v if isinstance(v, tuple) else (v,)))
    given = vs if isinstance(v, tuple) else vs[0]
    result = getattr(F, name)(function, xs if len(xs) > 1 else xs[0], given, create_graph=True)
    return again(m, result, (*xs, *vs))


def ones(m, *shape):
    return m.ones(shape, dtype=m.float64)


VALUES = {
    "vjp": lambda m, F: F.vjp(exp_reducer, inputs(m, (2, 3)), inputs(m, (2,))),
    "vjp of a leaf": lambda m, F: F.vjp(exp_reducer, leaves(m, (2, 3)), inputs(m, (2,))),
    "vjp of two inputs": lambda m, F: F.vjp(adder, inputs(m, (2,), (2,)), inputs(m, (2,))),
    "vjp of two outputs": lambda m, F: F.vjp(mixed, inputs(m, (2,), (3,)), (ones(m, 2), ones(m))),
    "vjp of a tuple of one": lambda m, F: F.vjp(lambda x: (x * x,), (inputs(m, (2,)),), (ones(m, 2),)),
    "vjp of one in a tuple, v alone": lambda m, F: F.vjp(lambda x: (x * x,), (inputs(m, (2,)),), ones(m, 2)),
    "vjp of a number": lambda m, F: F.vjp(cubes, inputs(m, (3,))),
    "vjp, one number to one number": lambda m, F: F.vjp(lambda x: x * 3, inputs(m, ())),
    "vjp, unused input": lambda m, F: F.vjp(half_used, inputs(m, (2,), (3,)), ones(m, 2)),
    "vjp, cut": lambda m, F: F.vjp(detached, inputs(m, (2,)), ones(m, 2)),
    "vjp, identity": lambda m, F: F.vjp(lambda x: x, inputs(m, (2,)), ones(m, 2)),
    "vjp, empty": lambda m, F: F.vjp(lambda x: x * 2, inputs(m, (0,)), ones(m, 0)),
    "vjp in no_grad": lambda m, F: in_no_grad(m, lambda: F.vjp(exp_reducer, leaves(m, (2, 3)), ones(m, 2))),
    "vjp in no_grad, create_graph": lambda m, F: in_no_grad(
        m, lambda: F.vjp(exp_reducer, leaves(m, (2, 3)), ones(m, 2), create_graph=True)
    ),
    "vjp sees grad mode on": lambda m, F: in_no_grad(
        m, lambda: F.vjp(grad_mode_inside(m), inputs(m, (2,)), ones(m, 2))
    ),
    "vjp, create_graph without leaves": lambda m, F: F.vjp(
        exp_reducer, inputs(m, (2, 3)), ones(m, 2), create_graph=True
    ),
    "vjp, create_graph": lambda m, F: with_create_graph(m, F, "vjp", exp_reducer, lambda x: x[:, 0], [(2, 3)]),
    "vjp, create_graph, several": lambda m, F: with_create_graph(
        m, F, "vjp", mixed, lambda x, y: (x, x.sum()), [(2,), (3,)]
    ),
    "vjp, create_graph, linear": lambda m, F: F.vjp(adder, leaves(m, (2,), (2,)), ones(m, 2), create_graph=True),
    "vjp of a leaf to one that asks": lambda m, F: F.vjp(leaf_or_not, leaves(m, (2,)), ones(m, 2)),
    "vjp of a leaf to one that asks, create_graph": lambda m, F: F.vjp(
        leaf_or_not, leaves(m, (2,)), ones(m, 2), create_graph=True
    ),
    "vjp, v requires grad": lambda m, F: F.vjp(lambda x: x * x, leaves(m, (2,)), leaves(m, (2,))),
    "vjp, v of integers": lambda m, F: F.vjp(lambda x: x * x, inputs(m, (2,)), m.arange(2)),
    "vjp, identity, create_graph, v a leaf": lambda m, F: F.vjp(lambda x: x, inputs(m, (2,)), leaves(m, (2,)), True),
    "vjp, strict": lambda m, F: F.vjp(exp_reducer, inputs(m, (2, 3)), ones(m, 2), strict=True),
    "jvp": lambda m, F: F.jvp(exp_reducer, inputs(m, (2, 3)), inputs(m, (2, 3))),
    "jvp of a leaf": lambda m, F: F.jvp(exp_reducer, leaves(m, (2, 3)), inputs(m, (2, 3))),
    "jvp of two inputs": lambda m, F: F.jvp(adder, inputs(m, (2,), (2,)), (ones(m, 2), ones(m, 2))),
    "jvp of two outputs": lambda m, F: F.jvp(mixed, inputs(m, (2,), (3,)), inputs(m, (2,), (3,))),
    "jvp of a tuple of one": lambda m, F: F.jvp(lambda x: (x * x,), (inputs(m, (2,)),), (ones(m, 2),)),
    "jvp, one number to one number": lambda m, F: F.jvp(lambda x: x**3, inputs(m, ())),
    "jvp, one number to several": lambda m, F: F.jvp(lambda x: x * ones(m, 3), inputs(m, (1,))),
    "jvp, unused input": lambda m, F: F.jvp(half_used, inputs(m, (2,), (3,)), inputs(m, (2,), (3,))),
    "jvp, cut": lambda m, F: F.jvp(detached, inputs(m, (2,)), ones(m, 2)),
    "jvp, one output cut": lambda m, F: F.jvp(lambda x: (x * x, x.detach()), inputs(m, (2,)), ones(m, 2)),
    "jvp in no_grad": lambda m, F: in_no_grad(m, lambda: F.jvp(exp_reducer, leaves(m, (2, 3)), ones(m, 2, 3))),
    "jvp in no_grad, create_graph": lambda m, F: in_no_grad(
        m, lambda: F.jvp(exp_reducer, leaves(m, (2, 3)), ones(m, 2, 3), create_graph=True)
    ),
    "jvp, create_graph without leaves": lambda m, F: F.jvp(cubes, inputs(m, (3,)), ones(m, 3), create_graph=True),
    "jvp, create_graph": lambda m, F: with_create_graph(m, F, "jvp", exp_reducer, lambda x: x, [(2, 3)]),
    "jvp, create_graph, several": lambda m, F: with_create_graph(m, F, "jvp", mixed, lambda x, y: (x, y), [(2,), (3,)]),
    "jvp, create_graph, linear": lambda m, F: F.jvp(
        adder, leaves(m, (2,), (2,)), (ones(m, 2), ones(m, 2)), create_graph=True
    ),
    "jvp, strict": lambda m, F: F.jvp(exp_reducer, inputs(m, (2, 3)), ones(m, 2, 3), strict=True),
    "jacobian": lambda m, F: F.jacobian(exp_reducer, inputs(m, (2, 2))),
    "jacobian of a leaf": lambda m, F: F.jacobian(exp_reducer, leaves(m, (2, 2))),
    "jacobian of two inputs": lambda m, F: F.jacobian(adder, inputs(m, (2,), (2,))),
    "jacobian of two outputs": lambda m, F: F.jacobian(lambda x: (x * x, x.sum()), inputs(m, (2,))),
    "jacobian of both": lambda m, F: F.jacobian(mixed, inputs(m, (2,), (3,))),
    "jacobian of tuples of one": lambda m, F: F.jacobian(lambda x: (x * x,), (inputs(m, (2,)),)),
    "jacobian, one number to one number": lambda m, F: F.jacobian(lambda x: x**2, inputs(m, ())),
    "jacobian, several to one number": lambda m, F: F.jacobian(cubes, inputs(m, (2, 2))),
    "jacobian, one number to several": lambda m, F: F.jacobian(lambda x: x * ones(m, 2, 2), inputs(m, ())),
    "jacobian, one element": lambda m, F: F.jacobian(lambda x: x**2, inputs(m, (1, 1))),
    "jacobian, unused input": lambda m, F: F.jacobian(half_used, inputs(m, (2,), (3,))),
    "jacobian, one output cut": lambda m, F: F.jacobian(lambda x: (x * x, x.detach()), inputs(m, (2,))),
    "jacobian, integer output": lambda m, F: F.jacobian(lambda x: x.long(), inputs(m, (2,))),
    "jacobian, output in another dtype": lambda m, F: F.jacobian(lambda x: x.float() ** 2, inputs(m, (2,))),
    "jacobian, identity": lambda m, F: F.jacobian(lambda x: x, inputs(m, (2,))),
    "jacobian of a captured tensor": captured,
    "jacobian of a captured tensor, create_graph": captured_with_graph,
    "jacobian, differentiated": penalty,
    "jacobian in no_grad": lambda m, F: in_no_grad(m, lambda: F.jacobian(exp_reducer, leaves(m, (2, 2)))),
    "jacobian in no_grad, create_graph": lambda m, F: in_no_grad(
        m, lambda: F.jacobian(exp_reducer, leaves(m, (2, 2)), create_graph=True)
    ),
    "jacobian, create_graph, linear": lambda m, F: F.jacobian(adder, leaves(m, (2,), (2,)), create_graph=True),
    "jacobian, create_graph, one leaf": lambda m, F: F.jacobian(
        mixed, (inputs(m, (2,)), leaves(m, (3,))), create_graph=True
    ),
    "jacobian, strict": lambda m, F: F.jacobian(exp_reducer, inputs(m, (2, 2)), strict=True),
    "jacobian, strict, create_graph": lambda m, F: F.jacobian(exp_reducer, leaves(m, (2, 2)), True, True),
    "jacobian, vectorize": lambda m, F: F.jacobian(mixed, inputs(m, (2,), (3,)), vectorize=True),
    "jacobian, vectorize, create_graph": lambda m, F: F.jacobian(
        lambda x, y: (x * y.sum(), (x * x).sum() * y), leaves(m, (2,), (3,)), create_graph=True, vectorize=True
    ),
    "jacobian, vectorize, linear": lambda m, F: F.jacobian(
        adder, leaves(m, (2,), (2,)), create_graph=True, vectorize=True
    ),
    "jacobian, forward mode": lambda m, F: F.jacobian(
        exp_reducer, inputs(m, (2, 2)), vectorize=True, strategy="forward-mode"
    ),
    "jacobian, forward mode, leaf": lambda m, F: F.jacobian(
        lambda x: x**3, leaves(m, (2,)), vectorize=True, strategy="forward-mode"
    ),
    "jacobian, forward mode, leaf outside": lambda m, F: [
        F.jacobian(lambda x, w=w: x * w, inputs(m, (2,)), vectorize=True, strategy="forward-mode")
        for w in [leaves(m, (2,))]
    ],
    "jacobian, forward mode, several": lambda m, F: F.jacobian(
        lambda x, y: (x * y.sum(), y.detach()), inputs(m, (2,), (3,)), vectorize=True, strategy="forward-mode"
    ),
    "jacobian, forward mode, dtype": lambda m, F: F.jacobian(
        lambda x: x.float() ** 2, inputs(m, (2,)), vectorize=True, strategy="forward-mode"
    ),
    "hessian": lambda m, F: F.hessian(cubes, inputs(m, (2, 2))),
    "hessian of a leaf": lambda m, F: F.hessian(cubes, leaves(m, (2,))),
    "hessian of two inputs": lambda m, F: F.hessian(quartic, inputs(m, (2,), (3,))),
    "hessian of a tuple of one": lambda m, F: F.hessian(cubes, (inputs(m, (2,)),)),
    "hessian, one number": lambda m, F: F.hessian(lambda x: x**3, inputs(m, ())),
    "hessian, output of one element": lambda m, F: F.hessian(lambda x: (x**3).sum(0).reshape(1, 1), inputs(m, (2,))),
    "hessian, unused input": lambda m, F: F.hessian(lambda x, y: (x**3).sum(), inputs(m, (2,), (3,))),
    "hessian, linear": lambda m, F: F.hessian(lambda x: x.sum(), inputs(m, (2,))),
    "hessian, cut": lambda m, F: F.hessian(lambda x: x.detach().sum(), inputs(m, (2,))),
    "hessian in no_grad": lambda m, F: in_no_grad(m, lambda: F.hessian(cubes, leaves(m, (2,)))),
    "hessian, create_graph": lambda m, F: (lambda x: again(m, F.hessian(cubes, x, create_graph=True), (x,)))(
        leaves(m, (2,))
    ),
    "hessian, create_graph, several": lambda m, F: (lambda xs: again(m, F.hessian(quartic, xs, create_graph=True), xs))(
        leaves(m, (2,), (3,))
    ),
    "hessian, strict": lambda m, F: F.hessian(cubes, inputs(m, (2,)), strict=True),
    "hessian, strict, create_graph": lambda m, F: F.hessian(cubes, leaves(m, (2,)), create_graph=True, strict=True),
    "hessian, vectorize": lambda m, F: F.hessian(quartic, inputs(m, (2,), (3,)), vectorize=True),
    "hessian, forward mode": lambda m, F: F.hessian(
        cubes, leaves(m, (2,)), vectorize=True, outer_jacobian_strategy="forward-mode"
    ),
    "hessian, forward mode, two inputs": lambda m, F: F.hessian(
        quartic, inputs(m, (2,), (3,)), vectorize=True, outer_jacobian_strategy="forward-mode"
    ),
    "vhp": lambda m, F: F.vhp(cubes, inputs(m, (2, 2)), inputs(m, (2, 2))),
    "vhp of two inputs": lambda m, F: F.vhp(quartic, inputs(m, (2,), (3,)), inputs(m, (2,), (3,))),
    "vhp, one number": lambda m, F: F.vhp(lambda x: x**3, inputs(m, ())),
    "vhp of a tuple of one": lambda m, F: F.vhp(cubes, (inputs(m, (2,)),), (ones(m, 2),)),
    "vhp, linear": lambda m, F: F.vhp(lambda x: x.sum(), inputs(m, (2,)), ones(m, 2)),
    "vhp, unused input": lambda m, F: F.vhp(lambda x, y: cubes(x), inputs(m, (2,), (2,)), inputs(m, (2,), (2,))),
    "vhp, cut": lambda m, F: F.vhp(lambda x: x.detach().sum(), inputs(m, (2,)), ones(m, 2)),
    "vhp in no_grad": lambda m, F: in_no_grad(m, lambda: F.vhp(cubes, leaves(m, (2,)), ones(m, 2))),
    "vhp in no_grad, create_graph": lambda m, F: in_no_grad(
        m, lambda: F.vhp(cubes, leaves(m, (2,)), ones(m, 2), create_graph=True)
    ),
    "vhp, create_graph": lambda m, F: with_create_graph(m, F, "vhp", quartic, lambda x, y: (x, y), [(2,), (3,)]),
    "vhp, strict": lambda m, F: F.vhp(cubes, inputs(m, (2,)), ones(m, 2), strict=True),
    "hvp": lambda m, F: F.hvp(cubes, inputs(m, (2, 2)), inputs(m, (2, 2))),
    "hvp of two inputs": lambda m, F: F.hvp(quartic, inputs(m, (2,), (3,)), inputs(m, (2,), (3,))),
    "hvp, one number": lambda m, F: F.hvp(lambda x: x**3, inputs(m, ())),
    "hvp of a tuple of one": lambda m, F: F.hvp(cubes, (inputs(m, (2,)),), (ones(m, 2),)),
    "hvp, linear": lambda m, F: F.hvp(lambda x: x.sum(), inputs(m, (2,)), ones(m, 2)),
    "hvp, unused input": lambda m, F: F.hvp(lambda x, y: cubes(x), inputs(m, (2,), (2,)), inputs(m, (2,), (2,))),
    "hvp, cut": lambda m, F: F.hvp(lambda x: x.detach().sum(), inputs(m, (2,)), ones(m, 2)),
    "hvp in no_grad": lambda m, F: in_no_grad(m, lambda: F.hvp(cubes, leaves(m, (2,)), ones(m, 2))),
    "hvp in no_grad, create_graph": lambda m, F: in_no_grad(
        m, lambda: F.hvp(cubes, leaves(m, (2,)), ones(m, 2), create_graph=True)
    ),
    "hvp, create_graph": lambda m, F: with_create_graph(m, F, "hvp", quartic, lambda x, y: (x, y), [(2,), (3,)]),
    "hvp, strict": lambda m, F: F.hvp(cubes, inputs(m, (2,)), ones(m, 2), strict=True),
    "the output shares the input's memory": shares_memory,
    "nothing is left in .grad": leaves_no_grad,
}

PRODUCTS = ("vjp", "jvp", "vhp", "hvp")


def refused_everywhere() -> dict:
    """What is wrong for each function in the same way."""
    cases = {}
    for name in (*PRODUCTS, "jacobian", "hessian"):
        cases |= {
            f"{name}: a number in the inputs": lambda m, F, n=name: getattr(F, n)(cubes, (leaves(m, (2,)), 2)),
            f"{name}: a list of inputs": lambda m, F, n=name: getattr(F, n)(cubes, [leaves(m, (2,))]),
            f"{name}: integers": lambda m, F, n=name: getattr(F, n)(cubes, m.arange(2)),
            f"{name}: a string in the outputs": lambda m, F, n=name: getattr(F, n)(lambda x: (x, "x"), leaves(m, (1,))),
            f"{name}: a list of outputs": lambda m, F, n=name: getattr(F, n)(lambda x: [x], leaves(m, (1,))),
            f"{name}: None as output": lambda m, F, n=name: getattr(F, n)(lambda x: None, leaves(m, (1,))),
            f"{name}: strict, cut": lambda m, F, n=name: getattr(F, n)(
                lambda x: x.detach().sum(), inputs(m, (1,)), strict=True
            ),
            f"{name}: strict, relabelled": lambda m, F, n=name: getattr(F, n)(
                lambda x: relabelled(x).sum(), inputs(m, (1,)), strict=True
            ),
            f"{name}: strict, linear": lambda m, F, n=name: getattr(F, n)(
                lambda x: x.sum(), inputs(m, (1,)), strict=True
            ),
            f"{name}: strict, linear, create_graph": lambda m, F, n=name: getattr(F, n)(
                lambda x: x.sum(), leaves(m, (1,)), strict=True, create_graph=True
            ),
            f"{name}: strict, quadratic, create_graph": lambda m, F, n=name: getattr(F, n)(
                lambda x: (x * x).sum(), leaves(m, (1,)), strict=True, create_graph=True
            ),
            f"{name}: strict, create_graph without leaf": lambda m, F, n=name: getattr(F, n)(
                cubes, inputs(m, (1,)), strict=True, create_graph=True
            ),
        }
    for name in PRODUCTS:
        cases |= {
            f"{name}: no v": lambda m, F, n=name: getattr(F, n)(lambda x: x * 2, leaves(m, (3,))),
            f"{name}: no v for two": lambda m, F, n=name: getattr(F, n)(mixed, leaves(m, (3,), (3,))),
            f"{name}: v of another shape": lambda m, F, n=name: getattr(F, n)(
                lambda x: x * 2, leaves(m, (3,)), ones(m, 2)
            ),
            f"{name}: v of another shape in a tuple": lambda m, F, n=name: getattr(F, n)(
                mixed, leaves(m, (3,), (3,)), (ones(m, 3), ones(m, 2))
            ),
            f"{name}: too many v": lambda m, F, n=name: getattr(F, n)(
                lambda x: x * 2, leaves(m, (3,)), (ones(m, 3), ones(m, 3))
            ),
            f"{name}: too few v": lambda m, F, n=name: getattr(F, n)(mixed, leaves(m, (3,), (3,)), (ones(m, 3),)),
            f"{name}: v is a number": lambda m, F, n=name: getattr(F, n)(lambda x: x * 2, leaves(m, (3,)), 1.0),
            f"{name}: a number in v": lambda m, F, n=name: getattr(F, n)(mixed, leaves(m, (3,), (3,)), (ones(m, 3), 1)),
            f"{name}: strict, unused input": lambda m, F, n=name: getattr(F, n)(
                lambda x, y: cubes(x), inputs(m, (), ()), (ones(m), ones(m)) if n != "vjp" else None, strict=True
            ),
        }
    for name in ("hessian", "vhp", "hvp"):
        v = (lambda m: ()) if name == "hessian" else (lambda m: (ones(m, 3),))
        cases |= {
            f"{name}: several numbers": lambda m, F, n=name, v=v: getattr(F, n)(
                lambda x: x * 2, leaves(m, (3,)), *v(m)
            ),
            f"{name}: a tuple": lambda m, F, n=name, v=v: getattr(F, n)(lambda x: (x.sum(),), leaves(m, (3,)), *v(m)),
        }
    return cases


REFUSED = refused_everywhere() | {
    "jacobian: strict, output independent": lambda m, F: F.jacobian(relabelled, leaves(m, (3,)), strict=True),
    "jacobian: strict, output without graph": lambda m, F: F.jacobian(detached, leaves(m, (3,)), strict=True),
    "jacobian: strict, second output cut": lambda m, F: F.jacobian(
        lambda x: (x * x, x.detach()), leaves(m, (3,)), strict=True
    ),
    "jacobian: strict, unused input": lambda m, F: F.jacobian(half_used, leaves(m, (3,), (3,)), strict=True),
    "jacobian: strict, second output linear": lambda m, F: F.jacobian(
        lambda x: (x * x, x * 2), leaves(m, (3,)), strict=True, create_graph=True
    ),
    "jacobian: strict, vectorize": lambda m, F: F.jacobian(cubes, leaves(m, (3,)), strict=True, vectorize=True),
    "jacobian: unknown strategy": lambda m, F: F.jacobian(cubes, leaves(m, (3,)), strategy="sideways"),
    "jacobian: forward mode by rows": lambda m, F: F.jacobian(cubes, leaves(m, (3,)), strategy="forward-mode"),
    "jacobian: forward mode, create_graph": lambda m, F: F.jacobian(
        cubes, leaves(m, (3,)), create_graph=True, strategy="forward-mode"
    ),
    "jacobian: forward mode, strict": lambda m, F: F.jacobian(
        cubes, leaves(m, (3,)), strict=True, strategy="forward-mode"
    ),
    "jacobian: forward mode, list": lambda m, F: F.jacobian(cubes, [leaves(m, (3,))], strategy="forward-mode"),
    "hessian: unknown strategy": lambda m, F: F.hessian(cubes, leaves(m, (3,)), outer_jacobian_strategy="sideways"),
    "hessian: forward mode by rows": lambda m, F: F.hessian(
        cubes, leaves(m, (3,)), outer_jacobian_strategy="forward-mode"
    ),
    "hessian: forward mode, create_graph": lambda m, F: F.hessian(
        cubes, leaves(m, (3,)), create_graph=True, outer_jacobian_strategy="forward-mode"
    ),
    "hessian: strict, vectorize": lambda m, F: F.hessian(cubes, leaves(m, (3,)), strict=True, vectorize=True),
    "jacobian: output without elements": lambda m, F: F.jacobian(lambda x: x * 2, leaves(m, (0,))),
    "no inputs": lambda m, F: F.vjp(lambda: leaves(m, (1,)) * 2, ()),
}

CASES = VALUES | REFUSED
