"""What a picture says of the state: what was overwritten, shared, cut, hooked, and which backward built it."""

import gc
import re
import subprocess
import threading

import numpy as np
import pytest

import minigrad as mg
from minigrad.viz.live import built_by, relation, storage
from minigrad.viz.records import ends
from minigrad.viz.text import head


@pytest.fixture
def leaves():
    return mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)


def marked(graph, mark):
    return [head(node) for node in graph.nodes if mark in node.marks]


def lines(graph, role):
    names = graph.by_id
    return [(head(names[e.source]), head(names[e.target]), e.note) for e in graph.edges if e.role == role]


# -- where backward would fail -------------------------------------------------------------------


def test_a_variable_that_refuses_every_question_is_left_out():
    """The last name of a loop over rows, after a row was overwritten through an index."""
    y = mg.tensor([1.0, 2.0], requires_grad=True) * 2
    rows = list(y)
    row = rows[-1]
    y[0] = 7.0
    with pytest.raises(RuntimeError, match="is a view and its base"):
        row.grad_fn  # noqa: B018  asking is refused
    assert "row" not in mg.draw(y, aliases=True).text


def test_a_backward_that_would_fail_is_seen_before_it_is_called(leaves):
    x, _ = leaves
    y = mg.exp(x)
    z = y * y + x
    assert marked(mg.viz.record(z), "fails") == []
    with mg.no_grad():
        y.add_(1)
    graph = mg.viz.record(z)
    assert marked(graph, "fails") == ["MulBackward0", "ExpBackward0"]
    assert "backward would fail here" in mg.draw(z).text
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


@pytest.mark.parametrize("change", ["view", "detach", "data"])
def test_what_the_version_counter_does_not_see_is_not_called_a_failure(leaves, change):
    x, _ = leaves
    y = x * 1
    z = y * y
    with mg.no_grad():
        alias = {"view": lambda: y.view(1), "detach": y.detach, "data": lambda: y.data}[change]()
        alias.add_(1)
    expected = [] if change == "data" else ["MulBackward0"]
    assert marked(mg.viz.record(z), "fails") == expected
    if expected:
        with pytest.raises(RuntimeError):
            z.backward()
    else:
        z.backward()


def test_the_guilty_are_marked_where_they_are(leaves):
    x, w = leaves
    y = x * w
    z = y * y
    marks = {x: "a leaf", y: "overwritten", z.grad_fn: "saved it", (y.grad_fn, 1): "this way", (z.grad_fn, "self"): ""}
    graph = mg.viz.record(z, params={"x": x, "y": y}, marks=marks)
    assert marked(graph, "guilty") == ["MulBackward0", "x = 2.", "self = 6.", "y = 6."]
    notes = {head(node): node.note for node in graph.nodes if "guilty" in node.marks}
    assert notes == {
        "MulBackward0": "! saved it",
        "self = 6.": "! here",
        "x = 2.": "! a leaf",
        "y = 6.": "! overwritten",
    }
    assert [(e.note, e.position) for e in graph.edges if "guilty" in e.marks] == [("! this way", 1)]
    picture = mg.draw(z, marks=marks)
    assert "! saved it" in picture.text and "! this way" in picture.text and "! this way" in picture.alt


def test_marks_in_what_you_wrote(leaves):
    x, w = leaves
    y = x * w
    graph = mg.viz.record(y + 1, view="written", marks={y: "this one", y.grad_fn: "made here"})
    assert [(n.role, n.note) for n in graph.nodes if "guilty" in n.marks] == [
        ("intermediate", "! this one"),
        ("op", "! made here"),
    ]


def test_notes_say_without_blame(leaves):
    x, w = leaves
    y = x * w
    notes = {x: "you made it", (y.grad_fn, 1): "dy/dw", (y.grad_fn, "other"): "held"}
    picture = mg.draw(y, notes=notes, marks={y: "look"})
    graph = picture.shown[0]
    assert marked(graph, "guilty") == ["y = 6."] and marked(graph, "noted") == ["x = 2.", "other = 3."]
    assert "! look" in picture.text and "!" not in picture.text.replace("! look", "")
    for note in notes.values():
        assert note in picture.text and note in picture.alt and note in picture.source
    assert "penwidth=3.5" not in mg.draw(y, notes=notes).source  # what is marked has it: a line that says "wrong"
    assert "penwidth=3.5" in mg.draw(y, marks=notes).source


def test_a_mark_on_what_was_not_saved_is_refused(leaves):
    x, _ = leaves
    y = x * 2
    with pytest.raises(ValueError, match="MulBackward0 saved no 'self'; it saved other"):
        mg.draw(y, marks={(y.grad_fn, "self"): ""})


def test_records_can_be_marked_afterwards(leaves):
    x, _ = leaves
    graph = mg.viz.marked(mg.viz.record(x * x), {"n1": "here it stops", ("n1", "n2"): "twice"})
    assert [(n.id, n.note) for n in graph.nodes if n.marks] == [("n1", "! here it stops")]
    assert [e.note for e in graph.edges if "guilty" in e.marks] == ["! twice", "! twice"]


def test_a_picture_unpacks_nothing_that_a_hook_packed(leaves):
    x, _ = leaves
    unpacked = []
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t, unpacked.append):
        y = mg.exp(x)
    assert "result = packed by a hook" in mg.draw(y, saved=True).text and unpacked == []


# -- switches ------------------------------------------------------------------------------------


def test_shapes_and_dtypes_on_request(leaves):
    x, _ = leaves
    w = mg.ones(2, 1, dtype=mg.float64, requires_grad=True)
    text = mg.draw(x * w, shapes=True).text
    assert "x = 2. (leaf, .grad None, shape () float32)" in text
    assert "w = [[1.], [1.]] (leaf, .grad None, shape (2, 1) float64)" in text
    assert "float" not in mg.draw(x * x).text


def test_gradients_can_be_hidden(leaves):
    x, _ = leaves
    assert ".grad" not in mg.draw(x * 2, params={"x": x}, grads=False).text.replace("AccumulateGrad", "")


def test_hooks_are_counted_on_request(leaves):
    x, w = leaves
    y = x * w
    y.retain_grad()
    z = y * 2
    handles = [x.register_hook(print), x.register_hook(print), y.register_hook(print)]
    w.register_post_accumulate_grad_hook(print)
    z.grad_fn.register_prehook(print)
    y.grad_fn.register_hook(print)
    graph = mg.viz.record(z, hooks=True, params={"x": x, "w": w, "y": y})
    notes = {head(node): node.note for node in graph.nodes if "hook" in node.note}
    assert notes == {
        "MulBackward0": "y.grad_fn\n1 hook",
        "x = 2.": "2 hooks",
        "w = 3.": "1 post-accumulate hook",
        "y = 6.": "1 hook",
    }
    assert "1 prehook" in [node.note for node in graph.nodes]
    for handle in handles:
        handle.remove()
    again = mg.viz.record(z, hooks=True, params={"x": x})
    assert "2 hooks" not in [node.note for node in again.nodes]
    assert "hook" not in mg.draw(z).text


def test_an_option_that_is_not_there_is_refused_in_one_sentence(leaves):
    x, _ = leaves
    with pytest.raises(TypeError, match=r"no option 'value'; it has values, grads, .*marks"):
        mg.draw(x, value=False)


# -- shared memory -------------------------------------------------------------------------------


def test_aliases_of_a_leaf():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    flat, detached, data = x.view(2, 1), x.detach(), x.data
    array = detached.numpy()
    other = mg.tensor([1.0, 2.0])
    names = {"x": x, "flat": flat, "detached": detached, "data": data, "array": array, "other": other}
    found = lines(mg.viz.record(x * 2, aliases=True, params=names), "alias")
    assert [(source.split(" ")[0], target.split(" ")[0], note) for source, target, note in found] == [
        ("x", "flat", "view: shared version"),
        ("x", "detached", "detach(): shared version"),
        ("x", "data", ".data: own version"),
        ("x", "array", "NumPy: no version"),
    ]
    assert lines(mg.viz.record(x * 2, params=names), "alias") == []


def test_numpy_variables_are_found(leaves):
    x, _ = leaves
    values = x.detach().numpy()
    text = mg.draw(x * 2, aliases=True).text
    assert "x = 2. -- values = 2.: NumPy: no version" in text and values == 2


def test_an_alias_of_an_intermediate_shows_it(leaves):
    x, w = leaves
    y = x * w
    kept = y.data
    for view in ("kept", "written"):
        graph = mg.viz.record(y + 1, view=view, aliases=True, params={"y": y, "kept": kept})
        assert lines(graph, "alias") == [("y = 6.", "kept = 6.", ".data: own version")]


def test_relations():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with mg.no_grad():
        part = y[0]
    assert relation(y, part) == relation(part, y) == "view"
    assert relation(y, y.detach()) == "detach" and relation(y, y.data) == "data"
    assert relation(y, y.detach().numpy()) == "numpy"
    assert storage(y) == storage(part) == storage(y.detach().numpy()) != storage(x)
    assert storage(np.zeros(2)[:1]) is not None and storage("no memory") is None


# -- cuts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["kept", "written"])
def test_a_detached_input_is_drawn_as_a_cut(leaves, view):
    x, w = leaves
    y = x * w
    held = y.detach()
    graph = mg.viz.record(held * x, view=view, cuts=True, params={"x": x, "w": w, "y": y, "held": held})
    assert lines(graph, "cut") == [("y = 6.", "held = 6.", "cut by detach()")]
    assert "w = 3." in map(head, graph.nodes)  # the history that is cut off is shown
    plain = mg.viz.record(held * x, view=view, params={"x": x, "y": y, "held": held})
    assert lines(plain, "cut") == [] and "y = 6." not in map(head, plain.nodes)


def test_cuts_by_data_by_no_grad_and_of_a_leaf(leaves):
    x, w = leaves
    y = mg.stack([x, w])
    data, leaf = y.data, x.detach()
    with mg.no_grad():
        part = y[0]
    things = {"y": y, "data": data, "part": part, "leaf": leaf, "x": x}
    notes = [line[2] for line in lines(mg.viz.record(data, part, leaf, cuts=True, params=things), "cut")]
    assert notes == ["cut by .data", "cut by no_grad", "cut by detach()"]


@pytest.mark.parametrize("view", ["kept", "written"])
def test_an_unrecorded_view_is_a_dead_end_and_a_cut(leaves, view):
    """It says that it requires grad, as in PyTorch, but what arrives there is lost."""
    y = mg.stack(list(leaves))
    with mg.no_grad():
        part = y[0]
    graph = mg.viz.record(part * 3, view=view, cuts=True, params={"y": y, "part": part})
    assert part.requires_grad and marked(graph, "dead_end") == ["part = 2."]
    assert lines(graph, "cut") == [("y = [2., 3.]", "part = 2.", "cut by no_grad")]


def test_what_no_grad_computes_afresh_is_no_cut_that_can_be_known(leaves):
    x, _ = leaves
    with mg.no_grad():
        y = x * 2
    assert lines(mg.viz.record(y * x, cuts=True, params={"x": x, "y": y}), "cut") == []


def test_a_cut_does_not_count_as_an_input(leaves):
    x, w = leaves
    y = x * w
    held = y.detach()
    graph = mg.viz.record(held * x, cuts=True, params={"y": y, "held": held})
    cut = next(edge for edge in graph.edges if edge.role == "cut")
    assert cut not in graph.inputs[ends(cut)[0]]
    assert len(graph.inputs_first) == len(graph.nodes)


# -- generations ---------------------------------------------------------------------------------


def box(graph, name):
    return [dict(graph.titles)[node.groups[0]] for node in graph.nodes if node.groups and head(node).startswith(name)]


def bridges(graph):
    names = graph.by_id
    return [(head(names[e.source]), head(names[e.target])) for e in graph.edges if "bridge" in e.marks]


def test_what_backward_built_stands_apart(leaves):
    x, _ = leaves
    y = mg.exp(x)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    graph = mg.viz.record(y, slope, params={"x": x, "y": y, "slope": slope})
    assert box(graph, "ExpBackward0") == ["computed by you"]
    assert box(graph, "MulBackward0") == ["built by backward"]
    assert box(graph, "slope") == ["built by backward"] and box(graph, "x") == ["computed by you"]
    assert bridges(graph) == [("MulBackward0", "ExpBackward0")]
    assert "MulBackward0 (slope.grad_fn, built by backward)" in mg.draw(y, slope).text
    apart = mg.viz.record(y, slope, generations=False)
    assert not apart.titles and not bridges(apart) and not any(node.groups for node in apart.nodes)


@pytest.mark.parametrize("view", ["kept", "written"])
def test_third_derivatives_have_three_generations(leaves, view):
    x, _ = leaves
    y = x**4
    (first,) = mg.autograd.grad(y, x, create_graph=True)
    penalty = first * first + y
    (second,) = mg.autograd.grad(penalty, x, create_graph=True)
    (third,) = mg.autograd.grad(second, x, create_graph=True)
    graph = mg.viz.record(y, first, penalty, second, third, view=view)
    assert [title for _, title in graph.titles] == ["computed by you", *(f"built by backward {n}" for n in (1, 2, 3))]
    roots = [graph.by_id[root].groups[0][-1] for root in graph.roots]
    assert roots == ["0", "1", "0", "2", "3"]


def test_the_third_derivative_alone_still_tells_its_ancestors_apart(leaves):
    """No name holds the first derivative any more, but its records are still in the graph."""
    x, _ = leaves

    def program():
        y = mg.exp(mg.sin(x))
        (first,) = mg.autograd.grad(y, x, create_graph=True)
        (second,) = mg.autograd.grad(first, x, create_graph=True)
        return second

    graph = mg.viz.record(program())
    assert [title for _, title in graph.titles] == ["computed by you", "built by backward 1", "built by backward 2"]
    assert {"SinBackward0", "ExpBackward0"} <= {head(node) for node in graph.nodes if node.groups == ("generation 0",)}


def test_a_plain_backward_builds_nothing(leaves):
    x, _ = leaves
    y = x * x
    y.backward(retain_graph=True)
    z = y * 2
    assert not mg.viz.record(z).titles


def test_a_backward_inside_a_hook_is_a_generation_of_its_own(leaves):
    x, w = leaves
    inner = []

    def hook(grad):
        u = w * w
        inner.extend(mg.autograd.grad(u * w, w, create_graph=True))

    y = x * 3
    y.register_hook(hook)
    z = y * y
    (outer,) = mg.autograd.grad(z, x, create_graph=True)
    nodes = [inner[0].grad_fn, outer.grad_fn, z.grad_fn]
    built = built_by(nodes)
    assert [built.get(id(node)) for node in nodes] == [2, 1, None]


def test_what_another_thread_records_before_or_after_is_not_built_by_backward(leaves):
    x, _ = leaves
    made = []

    def work():
        made.append(mg.tensor(1.0, requires_grad=True) * 2)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    (slope,) = mg.autograd.grad(x**3, x, create_graph=True)
    nodes = [made[0].grad_fn, slope.grad_fn]
    assert [id(node) in built_by(nodes) for node in nodes] == [False, True]


def test_a_gradient_without_history_is_a_dead_end():
    class SinhBad(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.up, ctx.down = mg.exp(x), mg.exp(-x)
            return (ctx.up - ctx.down) / 2

        @staticmethod
        def backward(ctx, grad):
            return grad * (ctx.up + ctx.down) / 2

    x = mg.tensor(1.0, requires_grad=True)
    y = SinhBad.apply(x)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    graph = mg.viz.record(y, slope, params={"slope": slope})
    assert marked(graph, "dead_end") == ["slope = 1.5431"]
    assert "no history: a dead end" in mg.draw(y, slope).text
    assert marked(mg.viz.record(slope), "dead_end") == []  # alone it is a constant, and its caption says so
    assert marked(mg.viz.record(x, y), "dead_end") == []


def test_options_keep_no_graph_alive(leaves):
    x, w = leaves
    graph = mg.viz.record(x * w, aliases=True, cuts=True, saved=True, hooks=True)
    gc.collect()
    assert all(key() is None for node in graph.nodes[:1] for key in node.identity[:1])


def test_a_tensor_is_shown_as_plain_text():
    """Jupyter asks for forms; a tensor has one, so that a notebook reads as its Python prints."""
    formatters = pytest.importorskip("IPython.core.formatters")
    data, _ = formatters.DisplayFormatter().format(mg.tensor([1.0, 2.0], requires_grad=True) * 2)
    assert data == {"text/plain": "tensor([2., 4.], grad_fn=<MulBackward0>)"}


def test_golden_dot_of_two_generations(leaves):
    x, _ = leaves
    y = mg.exp(x)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    source = mg.draw(y, slope, params={"x": x}).source
    outline = [
        line.strip()
        for line in source.splitlines()
        if any(word in line for word in ("subgraph", "->", "<computed", "<built"))
    ]
    assert outline == [
        "subgraph cluster_0 {",
        "subgraph cluster_0_generation_0 {",
        'color="#CFCFC8" fillcolor="#FFFFFF" label=<computed by you> labelloc=t margin=8 style="rounded,filled"',
        "subgraph cluster_0_generation_1 {",
        'color="#7A3E9D" fillcolor="#F4EBF8" label=<built by backward> labelloc=b margin=8'
        ' style="rounded,filled,dashed"',
        "n1 -> n0 [dir=back]",
        "n2 -> n1 [dir=back]",
        'n3 -> n2 [color="#0072B2" dir=back style=dashed]',
        "n5 -> n4 [dir=back]",
        'n1 -> n5 [color="#7A3E9D" dir=back penwidth=2.5]',
    ]


def test_boxes_of_generations_stand_side_by_side_in_reading_order(leaves, engine):
    """Drawn from the last to the first: the boxes stand in the order of the backwards all the same, and as high."""
    x, _ = leaves
    y = x**3
    (first,) = mg.autograd.grad(y, x, create_graph=True)
    (second,) = mg.autograd.grad(first, x, create_graph=True)
    groups = mg.draw(second, first, y).svg.split('<g class="cluster">')[2:]
    corners = [re.findall(r"(-?[\d.]+),(-?[\d.]+)", re.search(r' d="([^"]*)"', group)[1]) for group in groups]
    lefts = [min(float(x) for x, _ in box) for box in corners]
    tops = [min(float(y) for _, y in box) for box in corners]
    # Debian 12's Graphviz 2.43 begins at the right, whatever order the boxes are written in.
    old = engine == "dot" and "version 2." in subprocess.run(["dot", "-V"], capture_output=True, text=True).stderr
    assert len(set(lefts)) == 3 and (old or lefts == sorted(lefts))
    assert max(tops) - min(tops) < 40, "no corner is left empty above a box"


def test_golden_records_of_marks_hooks_aliases_and_cuts(leaves):
    x, w = leaves
    y = x * w
    y.register_hook(print)
    held = y.detach()
    graph = mg.viz.record(
        held * x, hooks=True, aliases=True, cuts=True, marks={x: "made here"}, params={"x": x, "y": y, "held": held}
    )
    assert [(n.id, n.role, head(n), n.note, n.marks) for n in graph.nodes] == [
        ("n0", "output", "12.", "", ()),
        ("n1", "function", "MulBackward0", "", ()),
        ("n2", "constant", "held = 6.", "", ()),
        ("n3", "accumulate", "AccumulateGrad", "", ()),
        ("n4", "leaf", "x = 2.", "! made here", ("guilty",)),
        ("n5", "intermediate", "y = 6.", "1 hook", ()),
        ("n6", "function", "MulBackward0", "y.grad_fn", ()),
        ("n7", "accumulate", "AccumulateGrad", "", ()),
        ("n8", "leaf", "3.", "", ()),
    ]
    assert [(e.source, e.target, e.role, e.note) for e in graph.edges if e.note] == [
        ("n5", "n2", "cut", "cut by detach()"),
    ]


# -- forward mode ----------------------------------------------------------------------------------


def pushed(forward_ad, m, **options):
    """A picture of a result in forward mode: x = 5 moves by 1, and the result by 10."""
    with forward_ad.dual_level():
        x = forward_ad.make_dual(m.tensor(5.0), m.tensor(1.0)).requires_grad_()
        a = x * x
        y = -a
        return mg.draw(y, view="written", params={"x": x, "a": a, "y": y}, **options), y


def test_tangents_stand_beside_values_inside_of_the_level():
    picture, y = pushed(mg.autograd.forward_ad, mg)
    assert picture.text.splitlines()[1:] == [
        "  y = -25. (output, tangent -10.) <- neg",
        "    a = 25. (tangent 10.) <- mul",
        "      x = 5. (leaf, tangent 1., .grad None) [n4]",
        "      x = 5. [n4] again",
    ]
    assert "tangent -10." in picture.svg and "tangent -10." in picture.alt
    assert "tangent" not in mg.draw(y).text, "the level is over"
    assert "tangent" not in pushed(mg.autograd.forward_ad, mg, tangents=False)[0].text


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # PyTorch's own rules for tangents
def test_pytorchs_tangents_are_drawn_as_ours():
    torch = pytest.importorskip("torch")
    ours, theirs = pushed(mg.autograd.forward_ad, mg)[0], pushed(torch.autograd.forward_ad, torch)[0]
    assert theirs.text == ours.text


def test_a_tangent_that_is_gone_is_told():
    with mg.autograd.forward_ad.dual_level():
        x = mg.autograd.forward_ad.make_dual(mg.tensor([1.0, 2.0]), mg.tensor([0.0, 1.0])).requires_grad_()
        y = x * 2
        before = mg.viz.snapshot(y)
    assert mg.viz.compare(before, y).sentences == (
        "tangent of y: [0., 2.] is now none",
        "tangent of x: [0., 1.] is now none",
    )
