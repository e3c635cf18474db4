"""Small programs whose tensors and graphs have to come out as PyTorch's do (`m` is either of the two).

A program calls `say` with what is to be compared: tensors are turned into value, flags, version and node names.
`python -m tools.record_torch` writes down what PyTorch says.
"""

import gc
import warnings
import weakref
from contextlib import contextmanager

from misuse_cases import function, leaf

CASES = {}


def case(program):
    CASES[program.__name__.replace("_", " ").strip()] = program
    return program


def name_of(node):
    return None if node is None else node.name()


def rounded(values):
    """To the digits that both compute alike."""
    return [rounded(v) for v in values] if isinstance(values, list) else float(f"{values:.5g}")


def facts(thing):
    """A tensor as what can be seen of it; other values as they are."""
    if isinstance(thing, (list, tuple)):
        return [facts(t) for t in thing]
    if not hasattr(thing, "requires_grad"):
        return rounded(thing) if isinstance(thing, float) else thing
    node = thing.grad_fn
    after = [] if node is None else [[name_of(n), index] for n, index in node.next_functions]
    flags = [word for word in ("requires_grad", "is_leaf", "retains_grad") if getattr(thing, word)]
    flags += ["view"] if thing._is_view() else []
    version = None if thing.is_inference() else thing._version
    return {"value": rounded(thing.tolist()), "flags": flags, "version": version, "node": name_of(node), "next": after}


def report(m, program) -> list:
    """All that a program says, and the sentence it ends with if it is refused."""
    said = []

    @contextmanager
    def refused():
        try:
            yield
            said.append("not refused")
        except Exception as error:
            said.append([type(error).__name__, str(error)])

    def say(*things):
        said.extend(facts(thing) for thing in things)

    say.refused = refused
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with refused():
            program(m, say)
    return said


# -- in place, and views ---------------------------------------------------------------------------


@case
def a_view_is_changed(m, say):
    x = leaf(m)
    y = x * 1
    v = y[:2]
    v.mul_(2)
    say(y, v, v.grad_fn is not None and v._base is y)
    y.sum().backward()
    say(x.grad)


@case
def a_base_is_changed(m, say):
    x = leaf(m)
    y = x * 1
    v = y[:2]
    y.mul_(2)
    say(y, v)
    v.sum().backward()
    say(x.grad)


@case
def a_base_is_changed_unrecorded(m, say):
    y = leaf(m) * 1
    v = y[:2]
    with m.no_grad():
        y.mul_(2)
    say(y, v)
    w = leaf(m)
    v, part = w[:2], w[1:]
    with m.no_grad():
        w.mul_(3)
        part.add_(1)
    say(w, v, part)


@case
def a_base_is_changed_through_detach(m, say):
    y = leaf(m) * 1
    v = y[:2]
    y.detach().add_(1)
    say(y, v)
    y.data.add_(1)
    say(y, v)


@case
def a_view_of_a_constant_is_changed(m, say):
    y = m.ones(3)
    v, w = y[:2], y[1:]
    z = leaf(m, 2)
    v.mul_(z)
    say(y, v, w)
    w.sum().backward()
    say(z.grad)


@case
def a_view_of_a_view_and_its_siblings(m, say):
    x = leaf(m, 2, 3)
    y = x * 1
    rows, column, flat = y[0], y.t()[0], y.view(6)
    column.mul_(5)
    say(y, rows, column, flat, column[1:], rows._base is y, column._base is y)
    flat.exp_()
    say(y, rows)
    (g,) = m.autograd.grad(rows.sum() + (y * y).sum(), x, create_graph=True)
    say(g.tolist(), m.autograd.grad(g.sum(), x))


@case
def in_place_twice(m, say):
    x = leaf(m)
    y = x * 1
    y[0].mul_(2)
    y[1:].add_(y[0])
    y.mul_(3)
    y[2] = 7
    say(y)
    y.sum().backward()
    say(x.grad)


@case
def retain_grad_moves_along(m, say):
    y = leaf(m) * 1
    y.retain_grad()
    y.mul_(2)
    say(y.retains_grad)
    y.sum().backward()
    say(y.grad)
    y = leaf(m) * 1
    v, w = y[:2], y.view(3)
    for t in (y, v, w):
        t.retain_grad()
    v.mul_(3)
    (y.sum() + w.sum()).backward()
    say(y.grad, v.grad, w.grad)


@case
def hooks_stay_with_the_old_version(m, say):
    seen = []
    y = leaf(m) * 1
    v = y[:2]
    y.register_hook(lambda g: seen.append(["y before", g.tolist()]))
    v.register_hook(lambda g: seen.append(["v before", g.tolist()]))
    v.mul_(3)
    y.register_hook(lambda g: seen.append(["y after", g.tolist()]))
    v.register_hook(lambda g: seen.append(["v after", g.tolist()]))
    (y.sum() + v.sum()).backward()
    say(seen)


@case
def setitem(m, say):
    for key, value in [
        (0, 5.0), (0, m.tensor(5.0)), (0, leaf(m, 1)), (slice(1, None), leaf(m, 1)), (slice(None), 2.0), (..., 2.0),
        (slice(None), leaf(m, 1, 3)), ([0, 1], leaf(m, 1)), ([0, 2], 4.0), (m.tensor(0), 2.0),
        (m.tensor([True, False, True]), 1.0), (-1, 3), (True, 2.0),
    ]:  # fmt: skip
        x = leaf(m)
        y = x * 1
        y[key] = value
        say(y)
        y.sum().backward()
        given = isinstance(value, m.Tensor) and value.requires_grad
        say(x.grad, value.grad.tolist() if given else None)


@case
def setitem_in_two_dimensions(m, say):
    for key in [(0, 1), (0, [0, 2]), (slice(None), 1), (slice(None), [0, 2]), (None, 0), (..., 1), ([1, 0], [0, 2])]:
        x = leaf(m, 2, 3)
        y = x * 1
        y[key] = 3.0
        say(y)
        y.sum().backward()
        say(x.grad)


@case
def setitem_of_constants(m, say):
    y = m.zeros(3, dtype=m.int64)
    y[0] = 2.7
    y[1:] = m.tensor([1.5])
    say(y)
    y = m.zeros(3)
    y[0] = leaf(m, 1)
    say(y)
    y = m.zeros(3)
    y[:2] = leaf(m, 1, 2)
    say(y)


@case
def setitem_refused(m, say):
    y = leaf(m) * 1
    wrong = [
        (5, 1.0), (0, m.ones(2)), (slice(None), m.ones(2)), ([0, 1], m.ones(3)), (0, "a"), ([0, 1], [4.0, 5.0]),
        ((0, 0), 1.0),
    ]  # fmt: skip
    for key, value in wrong:
        with say.refused():
            y[key] = value
    x = leaf(m)
    for key in (0, slice(None), [0, 1]):
        with say.refused():
            x[key] = 1.0
    say(x, y)


@case
def in_place_refused(m, say):
    x, y = leaf(m), leaf(m) * 1
    with say.refused():
        x.view(3).mul_(2)
    with say.refused():
        y.expand(2, 3).add_(1)
    with say.refused():
        y.unbind()[1].mul_(2)
    with say.refused():
        m.ones(3).unbind()[1].mul_(leaf(m)[0])
    with say.refused():
        y.split(2)[0].mul_(2)
    with say.refused():
        y[:2].detach_()
    with say.refused():
        m.ones(3)[:2].detach_()
    with m.no_grad():
        v = y[:2]
    with say.refused():
        v.add_(1)
    with m.inference_mode():
        v = y[:2]
    with say.refused():
        v.add_(1)
    w = m.ones(3)[:2]
    w.requires_grad_()
    with say.refused():
        w.mul_(2)
    say(x, y)


@case
def views_that_cannot_follow_their_base(m, say):
    y = leaf(m) * 1
    u = y.unbind()[0]
    say(u)
    y.mul_(2)
    say(repr(u))
    for use in (lambda: u * 2, lambda: u.grad_fn, lambda: u.is_leaf, lambda: u[None]):
        with say.refused():
            use()
    with m.no_grad():
        v = y[:2]
    say(v, v.requires_grad)
    y.mul_(2)
    with say.refused():
        v * 2
    u = y.split(2)[0]
    with m.no_grad():
        u.add_(1)
    with say.refused():
        u * 2


@case
def views_made_unrecorded(m, say):
    w = leaf(m)
    with m.no_grad():
        v = w[:2]
        part = v[:1]
    say(v, part, v[:1])
    y = v * 2
    say(y)
    y.sum().backward()
    say(w.grad, v.grad)
    base = m.ones(3)
    v = base[:2]
    base.requires_grad_()
    say(v, v * 2)
    base.requires_grad_(False)
    say(v)


@case
def views_out_of_a_function(m, say):
    y = leaf(m) * 1
    same = function(m, lambda ctx, x: x, lambda ctx, g: g).apply(y)
    part = function(m, lambda ctx, x: x[:2], lambda ctx, g: m.cat([g, m.zeros(1)])).apply(y)
    two = function(m, lambda ctx, x: (x[:2], x[2:]), lambda ctx, *g: m.cat(g)).apply(y)
    free = function(m, lambda ctx, x: x[:2], lambda ctx, g: None).apply(m.ones(3))
    for v in (same, part, two[0], free):
        say(v._is_view(), v)
    for v in (same, part, two[0]):
        with say.refused():
            v.add_(1)
    free.add_(1)
    with say.refused():
        free.add_(leaf(m, 2))
    y.mul_(2)
    with say.refused():
        part * 2


@case
def saved_and_then_changed(m, say):
    for change in (lambda y: y[2].zero_(), lambda y: y.mul_(2), lambda y: y[:1].fill_(0), lambda y: y.detach().zero_()):
        x = leaf(m)
        y = x * 1
        v = y[:2]
        z = v * v
        change(y)
        with say.refused():
            z.sum().backward()
    y = leaf(m).exp()
    y[0] = 1.0
    with say.refused():
        y.sum().backward()
    x = leaf(m)
    y = x * 1
    y.add_(1).mul_(leaf(m))
    y.sum().backward()
    say(x.grad)
    y.mul_(y)
    with say.refused():
        y.sum().backward()


@case
def a_changed_view_backward_twice(m, say):
    y = leaf(m, 2, 2) * 1
    y[0] = 7
    y.sum().backward()
    with say.refused():
        y.sum().backward()


@case
def detach_in_place(m, say):
    y = leaf(m) * 1
    v = y[:1]
    y.retain_grad()
    y.detach_()
    say(y, v)
    x = leaf(m)
    x.detach_()
    say(x)


@case
def what_is_a_view(m, say):
    x = leaf(m, 2, 2)
    y = x * 1
    for t in (
        x.detach(),
        x.data,
        y.t(),
        y.view(4),
        y.reshape(4),
        y.t().reshape(4),
        y[0],
        y[[0]],
        y.clone(),
        y.expand(3, 2, 2),
    ):
        say(t._is_view(), t._base is None)


@case
def double_backward_through_changes(m, say):
    x = leaf(m)
    y = x * 2
    y[0] = 1.0
    (g,) = m.autograd.grad((y * y).sum(), x, create_graph=True)
    say(g.tolist(), m.autograd.grad(g.sum(), x))
    y = x * 2
    y[:2].exp_()
    (g,) = m.autograd.grad(y.sum(), x, create_graph=True)
    say(g.tolist(), m.autograd.grad(g.sum(), x))


# -- inference mode ----------------------------------------------------------------------------------


@case
def inference_tensors(m, say):
    with m.inference_mode():
        c = m.ones(3)
        d = m.ones(3)  # PyTorch changes its values before it refuses
        say(m.is_inference_mode_enabled(), m.is_grad_enabled(), (c * 2).is_inference(), c[:1].is_inference())
        c.add_(1)
        with say.refused():
            say(c._version)
    say(m.is_inference_mode_enabled(), m.is_grad_enabled(), c, (c * 2).is_inference(), c.clone().is_inference())
    say(c[:1].is_inference(), c.detach().is_inference(), c.data.is_inference(), c._is_view(), c[:1]._is_view())
    for use in (
        lambda: c._version, lambda: d.add_(1), lambda: c.requires_grad_(), lambda: setattr(c, "requires_grad", True),
        lambda: d.__setitem__(0, 1.0), lambda: c * leaf(m), lambda: leaf(m) * c, lambda: leaf(m) / c,
        lambda: (leaf(m) * 1).mul_(c),
    ):  # fmt: skip
        with say.refused():
            use()
    y = leaf(m) * 1
    say(c + leaf(m), c.view(3) + leaf(m), m.cat([c, leaf(m)]), y.add_(c), y.copy_(c), c.clone() * leaf(m))


@case
def ordinary_tensors_in_inference_mode(m, say):
    x = leaf(m)
    y = x * 1
    with m.inference_mode():
        say((x * 2).is_inference(), (x * 2).requires_grad, x[:2].is_inference(), x[:2]._is_view())
        y.add_(1)
        x.add_(1)
        t = m.ones(2, requires_grad=True)
        say(t.is_inference(), t.requires_grad, (t * 2).requires_grad)
        with m.no_grad():
            say(m.ones(1).is_inference(), m.is_grad_enabled())
        with m.inference_mode(False):
            say(m.ones(1).is_inference(), m.is_grad_enabled())
    say(x, y, t, t + 2, t * 2)
    y.sum().backward()
    say(x.grad)


# -- saved tensors, edges, hooks -------------------------------------------------------------------


@case
def saved_tensors_are_packed(m, say):
    seen = []

    def pack(t):
        seen.append(["pack", t.tolist(), t.requires_grad, t.grad_fn is None])
        return t.tolist()

    def unpack(kept):
        seen.append("unpack")
        return m.tensor(kept)

    x = leaf(m)
    with m.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp()
        z = (y * 2).sin() + 1
    say(seen, y.grad_fn._saved_result, seen)
    x.detach().add_(5)
    y.detach().add_(5)
    z.sum().backward(retain_graph=True)
    (g,) = m.autograd.grad(z.sum(), x, create_graph=True)
    say(x.grad, g, m.autograd.grad(g.sum(), x), seen)


@case
def a_function_saves_packed(m, say):
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        say(x, y)
        return 2 * g * x

    with m.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
        x = leaf(m)
        y = function(m, forward, backward).apply(x)
    y.sum().backward()
    say(x.grad)


@case
def hooks_on_one_saved_tensor(m, say):
    x = leaf(m)
    y = x * x
    saved = y.grad_fn._raw_saved_self
    saved.register_hooks(lambda t: t * 2, lambda t: t)
    with say.refused():
        saved.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    say(type(saved).__name__, x.grad.tolist())
    with say.refused():
        saved.register_hooks(lambda t: t, lambda t: t)
    with say.refused():
        (x * x).grad_fn._raw_saved_other.register_hooks(lambda t: t.add_(1), lambda t: t)


@case
def saved_tensors_hooks_refused(m, say):
    hooks = m.autograd.graph.saved_tensors_hooks
    for made in (lambda t: t.numpy(), lambda t: 1):
        with hooks(made, lambda kept: kept):
            y = leaf(m) * m.ones(3)
        with say.refused():
            y.sum().backward()
    with say.refused(), m.autograd.graph.disable_saved_tensors_hooks("no hooks"), hooks(abs, abs):
        pass
    with say.refused(), hooks(abs, abs), m.autograd.graph.disable_saved_tensors_hooks("no hooks"):
        pass
    a = m.ones(1, requires_grad=True).clone()
    b = a.sin()
    a.detach_()
    with say.refused():
        b.backward()


@case
def mutation_allowed(m, say):
    allow = m.autograd.graph.allow_mutation_on_saved_tensors
    with allow() as context:
        x = leaf(m)
        y = x.exp()
        z = y * x
        with m.no_grad():
            x.mul_(5)
        y.mul_(3)
        say(type(context).__name__)
        z.sum().backward()
    say(x.grad)
    with say.refused(), allow(), allow():
        pass
    with allow():
        z = leaf(m).exp()
    with say.refused():
        z.sum().backward()


@case
def gradient_edges(m, say):
    edge_of = m.autograd.graph.get_gradient_edge
    x = leaf(m)
    y = x * 2
    edge = edge_of(y)
    say(type(edge).__name__, edge._fields, edge.output_nr, edge.node.name(), edge_of(x).node.name())
    for outputs, inputs in ((edge, x), (y, edge_of(x)), (y, [edge, x])):
        say([g.tolist() for g in m.autograd.grad(outputs, inputs, m.ones(3), retain_graph=True)])
    m.autograd.backward(edge_of(x.sum()))
    say(x.grad.tolist())
    with say.refused():
        edge_of(m.ones(3))


@case
def hooks_on_several_tensors(m, say):
    register = m.autograd.graph.register_multi_grad_hook
    x, y = leaf(m), leaf(m)
    z = x * 2
    handle = register((x, y, z), lambda grads: say([g if g is None else g.tolist() for g in grads]))
    (z.sum() + y.sum() * 0).backward()
    (x * 3).sum().backward()
    handle.remove()
    (x * 3).sum().backward()
    z = x * 2
    register((x, z), lambda grad: say(grad.tolist()), mode="any")
    z.sum().backward()
    for wrong in (lambda: register((x,), print, mode="foo"), lambda: register((x, m.ones(3)), print)):
        with say.refused():
            wrong()


@case
def versions_by_hand(m, say):
    x, y = m.ones(3), m.ones(3)
    m.autograd.graph.increment_version(x)
    m.autograd.graph.increment_version([x, y])
    say(x, y)


@case
def the_order_of_hooks(m, say):
    order = []
    x = leaf(m)
    x.register_hook(lambda g: order.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda t: order.append("post accumulate"))
    end = x.view(3).grad_fn.next_functions[0][0]
    end.register_prehook(lambda g: order.append("pre"))
    end.register_hook(lambda a, b: order.append(["node", len(a), len(b)]))
    (x * 2).sum().backward()
    say(order)
    order.clear()
    y = leaf(m) * 2
    y.register_hook(lambda g: order.append("tensor"))
    y.retain_grad()
    y.grad_fn.register_prehook(lambda g: (order.append("pre"), (g[0] * 2,))[1])
    y.register_hook(lambda g: (order.append("tensor 2"), g + 1)[1])
    y.grad_fn.register_hook(lambda a, b: order.append(["node", len(a), len(b), a[1]]))
    z = y * 3
    say(m.autograd.grad(z.sum(), y, retain_graph=True), order)
    z.sum().backward()
    say(order, y.grad)


@case
def hooks_of_leaves_and_inputs(m, say):
    order = []

    def noted(name, change=lambda g: None):
        return lambda g: (order.append(name), change(g))[1]

    a = m.tensor(1.0, requires_grad=True)
    b = a.clone()
    twice = lambda grads: tuple(g * 2 for g in grads)  # noqa: E731
    b.grad_fn.register_prehook(noted("node b", twice))
    b.register_hook(noted("b", lambda g: g * 3))
    b.grad_fn.register_hook(lambda before, after: order.append("after b"))
    end = b.grad_fn.next_functions[0][0]
    a.register_hook(noted("a", lambda g: g * 3))
    end.register_prehook(noted("end", twice))
    end.register_hook(lambda before, after: order.append(["after the end", len(before), len(after)]))
    out = b * 1
    for run in (
        lambda: out.backward(retain_graph=True),
        lambda: m.autograd.grad(out, a, retain_graph=True),
        lambda: m.autograd.grad(out, b, retain_graph=True),
        lambda: m.autograd.grad(out, (a, b), retain_graph=True),
        lambda: out.backward(inputs=[b], retain_graph=True),
        lambda: out.backward(inputs=[a], retain_graph=True),
        lambda: out.backward(inputs=[a, b], retain_graph=True),
    ):
        order.clear()
        run()
        say(list(order), a.grad.tolist(), None if b.grad is None else b.grad.tolist())


@case
def leaves_take_their_gradient_as_soon_as_it_is_complete(m, say):
    order = []
    x, w, b, c = leaf(m), leaf(m), leaf(m), leaf(m)
    h = x * w
    k = h * w + b
    out = (k * c).sum() + (b * 2).sum()
    for name, t in {"x": x, "w": w, "b": b, "c": c, "h": h, "k": k}.items():
        t.register_hook(lambda g, name=name: order.append(name))
    c.register_post_accumulate_grad_hook(lambda t: order.append("c has it"))
    out.backward(retain_graph=True)
    say(list(order))
    order.clear()
    m.autograd.grad(out, (b, h), retain_graph=True)
    say(list(order))
    order.clear()
    out.backward(inputs=[w, c])
    say(list(order))


@case
def the_gradient_after_it_was_added(m, say):
    x = leaf(m)
    end = x.view(3).grad_fn.next_functions[0][0]
    x.register_hook(lambda g: g - 2)
    end.register_prehook(lambda g: (g[0] / 5,))
    x.register_post_accumulate_grad_hook(lambda t: t.grad.add_(0.5) and None)
    end.register_hook(lambda before, after: say(after[0].tolist()))
    x.sum().backward()
    say(x.grad.tolist())
    x.sum().backward()
    say(x.grad.tolist())


@case
def hooks_on_one_of_several_outputs(m, say):
    seen = []
    x = leaf(m)
    parts = x.unbind()
    parts[0].register_hook(lambda g: seen.append(None if g is None else g.tolist()))
    for part in parts:
        part.backward()
    say(seen, x.grad.tolist())


@case
def backward_through_an_index_twice(m, say):
    for make in (lambda x: x[[0, 1]], lambda x: x[x > 0]):
        x = leaf(m)
        y = make(x)
        y.sum().backward()
        with say.refused():
            y.sum().backward()
    c = m.zeros(3)
    c[[1, 2]] = leaf(m)[[1, 1]]
    c.sum().backward()
    with say.refused():
        c.sum().backward()


@case
def writing_into_expanded_tensors(m, say):
    y = m.ones(1).expand(3)
    y[0] = 5
    say(y.tolist())
    z = m.ones(2, 1).expand(2, 3)
    with say.refused():
        z.add_(1)
    z = m.ones(2, 3).expand(1, 2, 3)
    z.add_(1)
    say(z.tolist())


@case
def backward_into_inputs(m, say):
    x, unused = leaf(m), leaf(m)
    y = x * 2
    z = y * 3
    z.sum().backward(inputs=[y, unused])
    say(x.grad, y.grad, y, unused.grad)
    with say.refused():
        z.sum().backward(inputs=[m.ones(2)])


@case
def a_leaf_is_frozen_after_the_forward(m, say):
    x, w = leaf(m), leaf(m)
    y = x * 2
    z = (y * x * w).sum()
    x.requires_grad = False
    say(z.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[1][0].variable is x)
    z.backward()
    say(x.grad, w.grad, x.requires_grad)
    x, w = leaf(m), leaf(m)
    z = (x * w).sum()
    for t in (x, w):
        t.requires_grad_(False)
    x.requires_grad_()
    say((x * 2).grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0].next_functions[0][0])
    z.backward()
    say(x.grad.tolist(), w.grad)


@case
def reading_the_gradient_of_a_result_warns(m, say):
    def warned(t):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            t.grad  # noqa: B018
        return len(caught)

    h = leaf(m) * 1
    say(warned(h))
    h.grad = m.ones(3)
    say(warned(h))
    h.grad = None
    h.retain_grad()
    say(warned(h))


@case
def gradients_keep_the_dtype(m, say):
    x = leaf(m)
    (x * 2).backward(m.ones(3, dtype=m.float64))
    say(str(x.grad.dtype), [str(g.dtype) for g in m.autograd.grad(x * 2, x, m.ones(3, dtype=m.float64))])


@case
def gradients_with_a_history(m, say):
    x = leaf(m)
    (x * x).sum().backward(create_graph=True)
    say(x.grad)
    (x * x).sum().backward(create_graph=True)
    say(x.grad)


# -- anomaly mode ------------------------------------------------------------------------------------


@case
def anomaly_mode(m, say):
    say(m.is_anomaly_enabled())
    nan = function(m, lambda ctx, x: x * 2, lambda ctx, g: g * float("nan"))
    with m.autograd.detect_anomaly():
        say(m.is_anomaly_enabled())
        with say.refused():
            nan.apply(leaf(m)).sum().backward()
        x = leaf(m)
        y = x + 0
        z = y * y
        y.add_(1)
        with say.refused():
            z.sum().backward()
    with m.autograd.set_detect_anomaly(True, check_nan=False):
        x = leaf(m)
        nan.apply(x).sum().backward()
        say(str(x.grad.tolist()))
    m.autograd.set_detect_anomaly(True)
    say(m.is_anomaly_enabled())
    m.autograd.set_detect_anomaly(False)
    say(m.is_anomaly_enabled())
    x = m.zeros(1, requires_grad=True)
    y = x.sqrt() * x
    with m.autograd.detect_anomaly(), say.refused():
        y.backward()


def say_warnings(say, backward):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with say.refused():
            backward()
    caught = [w for w in caught if w.category is not RuntimeWarning]  # of NumPy's, about the numbers
    say([[w.category.__name__, str(w.message).split(".")[0]] for w in caught])


@case
def anomaly_mode_warns(m, say):
    def said(backward):
        say_warnings(say, backward)

    x = m.zeros(1, requires_grad=True)
    y = x.sqrt() * x
    with m.autograd.detect_anomaly():
        said(y.backward)
        y = x.sqrt() * x
        said(y.backward)
    said(lambda: m.autograd.detect_anomaly())


@case
def anomaly_mode_looks_at_hooks_too(m, say):
    """Whatever fails while a node is evaluated is reported; nan is looked for in what the post-hooks give."""

    def fails(*_):
        raise ValueError("from a hook")

    hooks = {
        "tensor": lambda x, y: y.register_hook(fails),
        "node, before": lambda x, y: y.grad_fn.register_prehook(fails),
        "node, after": lambda x, y: y.grad_fn.register_hook(fails),
        "leaf": lambda x, y: x.register_hook(fails),
        "leaf, another size": lambda x, y: x.register_hook(lambda g: m.ones(3)),
        "leaf, after": lambda x, y: x.register_post_accumulate_grad_hook(fails),
        "nan made": lambda x, y: y.grad_fn.register_hook(lambda inputs, outputs: (m.full((2,), float("nan")),)),
        "nan at a leaf": lambda x, y: x.register_hook(lambda g: g * float("nan")),
    }
    for hook in hooks.values():
        x = m.tensor([4.0, 1.0], requires_grad=True)
        with m.autograd.set_detect_anomaly(True):
            y = x.sqrt()
            hook(x, y)
            say_warnings(say, y.sum().backward)
        say(None if x.grad is None else str(x.grad.tolist()))
    x = m.zeros(2, requires_grad=True)
    with m.autograd.set_detect_anomaly(True):
        y = x.sqrt() * 0
        y.grad_fn.next_functions[0][0].register_hook(lambda inputs, outputs: (m.zeros(2),))
        say_warnings(say, y.sum().backward)
        say(x.grad)
        first, second = x.exp().unbind()
        first.register_hook(fails)
        say_warnings(say, (first + second).backward)


@case
def anomaly_mode_looks_at_several_starts(m, say):
    """If the walk starts at all."""
    x, u = m.ones(2, requires_grad=True), m.ones(1, requires_grad=True)
    nan = m.full((2,), float("nan"))
    with m.autograd.set_detect_anomaly(True):
        y = x * 2
        for inputs in ([u], [x], [m.ones(2)], None):
            say_warnings(say, lambda inputs=inputs: m.autograd.backward([x, y], [m.ones(2), nan], inputs=inputs))
        say_warnings(say, lambda: m.autograd.grad([u, y], x, [nan[:1], m.ones(2)]))
        say_warnings(say, lambda: m.autograd.grad([y], x, [nan]))


@case
def any_name_may_be_put_on_ctx(m, say):
    names = (
        "shape dtype saved order edges kind options extra constants leaf outputs function likes keep pending".split()
    )

    def forward(ctx, x):
        say(ctx.saved_tensors)
        for name in names:
            setattr(ctx, name, name)
        ctx.shape = tuple(x.shape)
        ctx.save_for_backward(x)
        return x.sum()

    def backward(ctx, g):
        say([getattr(ctx, name) for name in names])
        (x,) = ctx.saved_tensors
        ctx.order = "seen"
        return g.expand(ctx.shape) * x

    x = leaf(m, 2, 3)
    y = function(m, forward, backward).apply(x)
    y.backward(retain_graph=True)
    y.backward()
    say(x.grad, y.grad_fn.order, y)


@case
def a_ctx_lives_as_long_as_its_node(m, say):
    def forward(ctx, x):
        y = x.exp()
        if ctx.needs_input_grad[1]:
            ctx.y = y
        ctx.save_for_backward(y)
        return y

    made = function(m, forward, lambda ctx, g, *_: (g * ctx.saved_tensors[0], None))
    x, z = leaf(m), leaf(m)
    gc.disable()
    try:
        node = made.apply(x, 1).grad_fn
        node.tag = 5
        say(node.tag, node.needs_input_grad)
        held = weakref.ref(node)
        del node
        say(held() is None)
        held = weakref.ref(made.apply(x, z).grad_fn)  # whose ctx holds its result
        say(held() is None)
    finally:
        gc.enable()
    gc.collect()
    say(held() is None)
