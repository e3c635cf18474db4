"""Pictures as plain data: what is in the records, the listing and the DOT."""

import gc

import pytest

import minigrad as mg
from minigrad.viz.dot import MARKED, STYLES, to_dot
from minigrad.viz.records import NodeRecord, value_text
from minigrad.viz.text import alt, details, head, listing


@pytest.fixture
def leaves():
    return mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)


def rows(graph):
    return [(node.id, node.role, head(node), tuple(details(node))) for node in graph.nodes]


def arrows(graph):
    return [(edge.source, edge.target, edge.role, edge.position) for edge in graph.edges]


def test_golden_records_of_what_autograd_keeps(leaves):
    x, w = leaves
    graph = mg.viz.record(x * w + 1, params={"x": x, "w": w})
    assert graph.title == "what autograd keeps"
    assert graph.roots == ("n0",)
    assert rows(graph) == [
        ("n0", "output", "7.", ()),
        ("n1", "function", "AddBackward0", ()),
        ("n2", "function", "MulBackward0", ()),
        ("n3", "accumulate", "AccumulateGrad", ()),
        ("n4", "leaf", "x = 2.", (".grad None",)),
        ("n5", "accumulate", "AccumulateGrad", ()),
        ("n6", "leaf", "w = 3.", (".grad None",)),
    ]
    assert arrows(graph) == [
        ("n0", "n1", "grad_fn", 0),
        ("n1", "n2", "next", 0),
        ("n2", "n3", "next", 0),
        ("n2", "n5", "next", 1),
        ("n3", "n4", "accumulate", 0),
        ("n5", "n6", "accumulate", 0),
    ]


def test_golden_records_of_what_you_wrote(leaves):
    x, _ = leaves
    c = mg.tensor([1.0, 2.0])
    graph = mg.viz.record(x**2 * c - 3, view="written", params={"x": x, "c": c})
    assert graph.title == "what you wrote"
    assert rows(graph) == [
        ("n0", "output", "[1., 5.]", ()),
        ("n1", "op", "sub", ()),
        ("n2", "intermediate", "shape (2,)", ()),
        ("n3", "op", "mul", ()),
        ("n4", "intermediate", "shape ()", ()),
        ("n5", "op", "pow 2", ()),
        ("n6", "leaf", "x = 2.", (".grad None",)),
        ("n7", "constant", "c = [1., 2.]", ()),
        ("n8", "number", "3", ()),
    ]
    assert arrows(graph) == [
        ("n1", "n0", "forward", 0),
        ("n2", "n1", "forward", 0),
        ("n8", "n1", "forward", 1),
        ("n3", "n2", "forward", 0),
        ("n4", "n3", "forward", 0),
        ("n7", "n3", "forward", 1),
        ("n5", "n4", "forward", 0),
        ("n6", "n5", "forward", 0),
    ]


def test_golden_dot(leaves):
    x, _ = leaves
    y = x - 1
    lines = mg.draw(y, view="written", params={"x": x}).source.splitlines()
    nodes = [line.strip() for line in lines if line.strip().startswith("n")]
    ink = 'fontcolor="#1A1A1A"'
    grey = 'fontcolor="#585858" margin="0.05,0.02" shape=ellipse style="filled,dashed"'
    assert nodes[1:] == [
        f'n0 [label=<<b>y = 1.</b>> color="#00734F" fillcolor="#C5EBDD" {ink}'
        ' margin="0.05,0.02" shape=ellipse style=filled]',
        'n1 [label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="2"><tr>'
        '<td port="i0"><font point-size="9">1st</font></td>'
        '<td rowspan="2">\N{MINUS SIGN}</td></tr><tr>'
        '<td port="i1"><font point-size="9">2nd</font></td></tr></table>> class=sockets'
        f' color="#8A7400" fillcolor="#FDF3C4" {ink}'
        ' margin="0.02,0.02" ordering=in shape=box style=filled]',
        'n2 [label=<<b>x = 2.</b><br/><font point-size="10">.grad None</font>> color="#0072B2"'
        f' fillcolor="#CBE6F7" {ink} margin="0.05,0.02" shape=ellipse style=filled]',
        f'n3 [label=<1> color="#8A8A8A" fillcolor="#EFEFEC" {grey}]',
        "n1 -> n0",
        "n3 -> n1:i1",
        "n2 -> n1:i0",
    ]


def test_in_what_autograd_keeps_arrows_point_back_at_the_leaves(leaves):
    x, _ = leaves
    source = mg.draw(x * 2).source
    assert "n1 -> n0 [dir=back]" in source
    assert 'n3 -> n2 [color="#0072B2" dir=back style=dashed]' in source


def test_same_program_same_picture(leaves):
    def program():
        x = mg.tensor(2.0, requires_grad=True)
        return mg.draw(mg.exp(x) * x, view="both")

    assert program().source == program().source
    assert program().text == program().text


def test_both_views_have_different_ids(leaves):
    x, _ = leaves
    ids = [node.id for panel in mg.draw(x * 2, view="both").records for node in panel.nodes]
    assert ids == [f"n{i}" for i in range(len(ids))]


# -- names ---------------------------------------------------------------------------------------


def test_names_come_from_params_then_locals_then_globals(leaves):
    x, w = leaves
    y = x * w
    _hidden = y
    alias = y
    graph = mg.draw(y, params={"weight": w}).records[0]
    names = [node.name for node in graph.nodes if node.role in ("output", "leaf")]
    assert names == ["y", "x", "weight"]
    assert alias is y


GLOBAL = mg.tensor(1.0, requires_grad=True)


def test_names_of_globals_list_entries_and_gradients():
    layers = [mg.tensor(2.0, requires_grad=True)]
    y = (layers[0] * GLOBAL) ** 2
    text = mg.draw(y).text
    assert "GLOBAL = 1." in text and "layers[0] = 2." in text
    y.backward()
    assert "nothing for layers[0].grad" in mg.draw(layers[0].grad).text


def test_intermediate_variables_are_named_in_both_views(leaves):
    x, _ = leaves
    u = x * 2
    z = u + 1
    assert "u = 4. <- mul" in mg.draw(z, view="written").text
    assert "MulBackward0 (u.grad_fn)" in mg.draw(z).text


def test_a_dead_constant_is_still_a_constant(leaves):
    x, _ = leaves
    y = x + mg.tensor(5.0)
    gc.collect()
    assert [head(n) for n in mg.viz.record(y, view="written").nodes if n.role == "number"] == ["constant"]


def test_one_constant_used_twice_is_one_node(leaves):
    x, _ = leaves
    c = mg.tensor(5.0)
    graph = mg.viz.record((x * c) + c, view="written", params={"c": c})
    assert [head(n) for n in graph.nodes if n.role == "constant"] == ["c = 5."]


# -- states --------------------------------------------------------------------------------------


def test_backward_fills_grad_and_frees_buffers(leaves):
    x, w = leaves
    z = x * w
    before, after = mg.draw(z), (z.backward(), mg.draw(z))[1]
    assert "buffers freed" not in before.text and ".grad None" in before.text
    assert "MulBackward0 (z.grad_fn, buffers freed)" in after.text
    assert "x = 2. (leaf, .grad 3.)" in after.text and "w = 3. (leaf, .grad 2.)" in after.text


def test_a_number_minus_a_tensor_is_drawn_as_written(leaves):
    x, _ = leaves
    lines = mg.draw(5 - x, view="written", params={"x": x}).text.splitlines()[1:]
    assert lines[0] == "  3. (output) <- sub" and lines[2] == "    x = 2. (leaf, .grad None)"
    assert lines[1].strip() in ("5", "constant")


def test_powers_say_their_number(leaves):
    x, w = leaves
    assert "pow 3" in mg.draw(x**3, view="written").text
    assert "2 **" in mg.draw(2**x, view="written").text
    assert [n.name for n in mg.viz.record(x**w, view="written").nodes if n.op] == ["pow"]


def test_retained_tensors_are_shown_with_their_gradient(leaves):
    x, _ = leaves
    u = x * 3
    z = u * u
    u.retain_grad()
    z.backward()
    for view in ("kept", "written"):
        assert "u = 6. (.grad 12., retained)" in mg.draw(z, view=view).text


def test_saved_values_and_their_versions(leaves):
    x, _ = leaves
    y = x * 1
    z = y * y
    with mg.no_grad():
        y.add_(1)
    text = mg.draw(z, saved=True).text
    assert "self = 3. (saved at version 0, now 1)" in text


def test_freed_values_are_said_to_be_freed(leaves):
    x, w = leaves
    z = x * w
    z.backward()
    assert "self (freed)" in mg.draw(z, saved=True).text


def test_unused_inputs_are_shown_on_request(leaves):
    x, _ = leaves
    assert [n.role for n in mg.viz.record(x * 2, unused=True).nodes].count("none") == 1
    assert "none" not in [n.role for n in mg.viz.record(x * 2).nodes]


def test_large_values_give_way_to_shapes_and_values_can_be_hidden(leaves):
    x, _ = leaves
    w = mg.ones(3, 4, dtype=mg.float64, requires_grad=True)
    text = mg.draw(w * 2).text
    assert "w (leaf, shape (3, 4) float64, .grad None)" in text
    assert "x (leaf, shape (), .grad None)" in mg.draw(x * 2, values=False).text


def test_lone_tensors_come_with_a_sentence(leaves):
    x, _ = leaves
    c = x.detach()
    assert "x is a leaf: no grad_fn" in mg.draw(x).text
    assert "autograd keeps nothing for c: it needs no gradient" in mg.draw(c).text
    picture = mg.draw(c, x * 2, view="both")
    assert len(picture.records[1].roots) == 2


def test_an_operation_with_several_outputs():
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    first, second = w.unbind()
    graph = mg.viz.record(first * second, view="written", params={"second": second})
    assert [node.op for node in graph.nodes if node.role == "op"] == ["mul", "unbind"]
    assert [n.name for n in graph.nodes if n.role == "intermediate"] == ["", "second"]


def test_wrong_arguments_are_refused_in_one_sentence(leaves):
    x, _ = leaves
    with pytest.raises(TypeError, match="takes tensors, not float"):
        mg.draw(1.0)
    module = type("Net", (), {"named_parameters": lambda self: []})()
    with pytest.raises(TypeError, match="not Net: call the Net, and draw what it gives"):
        mg.draw(module)
    with pytest.raises(TypeError, match="at least one"):
        mg.draw()
    with pytest.raises(ValueError, match="'kept', 'written' or 'both'"):
        mg.draw(x, view="wrong")


# -- depth, text ---------------------------------------------------------------------------------


@pytest.mark.parametrize("view, length", [("kept", 20_000), ("written", 20_000)])
def test_a_long_chain_is_listed_without_recursion(view, length):
    y = mg.tensor(1.0, requires_grad=True)
    for _ in range(length):
        y = y + 1
    picture = mg.draw(y, view=view, fold=False)
    assert len(picture.records[0].nodes) > length
    assert len(picture.text.splitlines()) < 110
    assert "more nodes" in picture.text and "more sentences" in picture.alt
    assert picture.svg == "" and "too many" in picture._repr_mimebundle_()["text/html"]


def test_alt_text_states_the_graph(leaves):
    x, w = leaves
    words = mg.draw(x * w + x, params={"x": x, "w": w}).alt
    assert words.startswith("Graph of 8., what autograd keeps: output 8. passes gradients to")
    assert "MulBackward0 passes gradients to AccumulateGrad (n3) and AccumulateGrad (n5)" in words


def test_alt_text_and_labels_are_escaped(leaves):
    x, _ = leaves
    picture = mg.draw(x * 2, params={'<b>"x"&': x})
    assert "&lt;b&gt;" in picture.source and "<b><b>" not in picture.source
    bundle = picture._repr_mimebundle_()
    assert "&lt;b&gt;&quot;x&quot;&amp;" in bundle["text/html"]
    assert picture.records[0].nodes[3].name in alt(picture.records[0])


def test_a_shared_node_is_listed_once(leaves):
    x, _ = leaves
    text = listing(mg.viz.record(x * x + x, params={"x": x}))
    assert text.count("x = 2.") == 1 and text.count("again") == 2


def test_values_are_short():
    values = {0.1234567: "0.1235", 2.0: "2.", -0.0: "0.", 1e-9: "1e-09", 1e20: "1e+20", 5: "5"}
    assert {value: value_text(value) for value in values} == values
    assert value_text(float("nan")) == "nan" and value_text(float("-inf")) == "-inf"
    assert value_text(mg.tensor([[1.0, 2.5], [3.0, 4.0]])) == "[[1., 2.5], [3., 4.]]"


# -- colours -------------------------------------------------------------------------------------


def test_every_role_and_mark_can_be_drawn():
    marked = [NodeRecord(f"m{i}", "op", op="add", marks=(m,)) for i, m in enumerate(MARKED)]
    nodes = tuple(NodeRecord(f"n{i}", role, name="v") for i, role in enumerate(STYLES))
    graph = mg.viz.GraphRecord("all", "kept", nodes + tuple(marked), (), ())
    source = to_dot((graph,)).source
    assert all(f"{node.id} [label=<" in source for node in graph.nodes)
