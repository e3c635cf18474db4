"""compare(before, after): what was added, gone, freed, cut or changed, each told by a sentence."""

import gc
import weakref

import pytest

import minigrad as mg
from minigrad.viz import compare, snapshot
from minigrad.viz.text import head


@pytest.fixture
def leaves():
    return mg.tensor(2.0, requires_grad=True), mg.tensor(3.0, requires_grad=True)


def names(nodes):
    return [head(node) for node in nodes]


def test_nothing_changed(leaves):
    x, w = leaves
    y = x * w
    found = compare(snapshot(y), y)
    assert found.same and found.sentences == () and "nothing changed" in found.text
    assert all(node.marks == ("same",) for panel in found.records for node in panel.nodes)


def test_a_backward_frees_and_fills(leaves):
    x, w = leaves
    y = x * w + x
    before = snapshot(y)
    y.backward()
    found = compare(before, y)
    assert found.sentences == ("freed: what MulBackward0 saved", "x.grad: None is now 4.", "w.grad: None is now 2.")
    assert names(found.freed) == ["MulBackward0"] and names(found.changed) == ["x = 2.", "w = 3."]
    assert found.added == found.gone == found.cut == ()


def test_retain_graph_frees_nothing(leaves):
    x, _ = leaves
    y = x * x
    before = snapshot(y)
    y.backward(retain_graph=True)
    assert compare(before, y).sentences == ("x.grad: None is now 4.",)
    middle = snapshot(y)
    y.backward()
    assert compare(middle, y).sentences == ("freed: what MulBackward0 saved", "x.grad: 4. is now 8.")


def test_saved_values_that_are_freed_are_marked(leaves):
    x, w = leaves
    y = x * w
    before = snapshot(y, saved=True)
    y.backward()
    found = compare(before, y)
    assert [node.role for node in found.freed] == ["function", "saved", "saved"]


def test_in_place_adds_a_node_and_turns_the_arrow(leaves):
    x, _ = leaves
    y = x * 3
    before = snapshot(y)
    y.add_(1)
    found = compare(before, y)
    assert found.sentences == (
        "added: AddBackward0",
        "cut: the arrow from y = 6. to MulBackward0 (y.grad_fn)",
        "y: 6. is now 7.",
    )
    assert names(found.added) == ["AddBackward0"] and found.gone == ()
    assert [edge.role for edge in found.cut] == ["grad_fn"]


def test_an_overwritten_value_makes_backward_fail(leaves):
    x, _ = leaves
    y = mg.exp(x)
    z = y * 2
    before = snapshot(z)
    with mg.no_grad():
        y.add_(1)
    assert compare(before, z).sentences == ("ExpBackward0: a backward would fail now",)


def test_detach_in_the_second_program_is_a_cut(leaves):
    x, w = leaves

    def program(cut):
        y = x * w
        return (y.detach() if cut else y) * x

    found = compare(program(False), program(True), params={"x": x, "w": w})
    assert found.sentences == (
        "gone: MulBackward0",
        "gone: leaf w = 3.",
        "cut: the arrow from MulBackward0 to MulBackward0",
    )
    assert names(found.gone) == ["MulBackward0", "AccumulateGrad", "w = 3."]


def test_a_name_that_lost_its_history(leaves):
    x, w = leaves
    y = x * w
    before = snapshot(y)
    y = y.detach()
    found = compare(before, y)
    assert "y needs no gradient now" in found.sentences
    assert "cut: the arrow from y = 6. to MulBackward0 (y.grad_fn)" in found.sentences


def test_double_backward_adds_a_generation(leaves):
    x, _ = leaves
    y = x**3
    before = snapshot(y)
    (slope,) = mg.autograd.grad(y, x, create_graph=True)
    found = compare(before, (y, slope))
    assert found.sentences == ("added: slope = 12.", "added: MulBackward0 (2 times)", "added: PowBackward0")
    assert all(node.groups == ("generation 1",) for node in found.added)


def test_a_picture_can_be_a_side_and_both_can_be_snapshots(leaves):
    x, _ = leaves
    y = x * x
    before = mg.draw(y, view="written")
    y.backward()
    found = compare(before, snapshot(y, view="written"))
    assert found.sentences == ("x.grad: None is now 4.",)
    assert [panel.view for panel in found.records] == ["written", "written"]
    with pytest.raises(ValueError, match="one graph is of view 'written', the other of view 'kept'"):
        compare(before, snapshot(y))


def test_the_two_panels_have_ids_of_their_own(leaves):
    x, _ = leaves
    y = x * x
    ids = [node.id for panel in compare(snapshot(y), y).records for node in panel.nodes]
    assert ids == [f"n{i}" for i in range(8)]


def test_a_dead_tensor_is_not_taken_for_a_new_one_at_its_address(leaves):
    x, _ = leaves
    y = x * 2
    for _ in range(20):
        before = snapshot(y, mg.tensor(5.0))
        gc.collect()
        found = compare(before, snapshot(y, mg.tensor(7.0)))
        assert names(found.gone) == ["5."] and names(found.added) == ["7."] and found.changed == ()


def test_a_snapshot_keeps_nothing_alive():
    def program():
        x = mg.tensor(2.0, requires_grad=True)
        y = x * x
        return snapshot(y), weakref.ref(y)

    before, gone = program()
    assert gone() is None and names(before.nodes)[0] == "y = 4."


def test_the_comparison_is_drawn_with_its_sentences(leaves):
    x, _ = leaves
    y = x * x
    before = snapshot(y)
    y.backward()
    found = compare(before, y)
    assert "before: what autograd keeps" in found.source and "after: what autograd keeps" in found.source
    assert "freed: what MulBackward0 saved" in found.source and "freed: what MulBackward0 saved" in found.alt


def test_many_changes_are_cut_short_in_the_picture_only():
    xs = [mg.tensor(float(i), requires_grad=True) for i in range(9)]
    y = mg.stack(xs).sum()
    before = snapshot(y)
    y.backward()
    found = compare(before, y)
    assert len(found.sentences) == 9 and "and 5 more changes" in found.text


def test_golden_dot_of_a_comparison(leaves):
    x, _ = leaves
    y = x * 1
    before = snapshot(y, params={"x": x, "y": y})
    y.add_(1)
    source = compare(before, y, params={"x": x, "y": y}).source
    assert [line.strip() for line in source.splitlines() if "->" in line] == [
        'n1 -> n1_n0 [arrowhead=none color="#B3260A" dir=back fontcolor="#B3260A" penwidth=3 style=dashed]',
        'n1_n0 -> n0 [arrowtail=none color="#B3260A" dir=back fontcolor="#B3260A" penwidth=3 style=dashed]',
        'n2 -> n1 [color="#8A8A8A" dir=back]',
        'n3 -> n2 [color="#8A8A8A" dir=back style=dashed]',
        'n5 -> n4 [color="#00734F" dir=back fontcolor="#00734F" penwidth=3]',
        'n6 -> n5 [color="#00734F" dir=back fontcolor="#00734F" penwidth=3]',
        'n7 -> n6 [color="#8A8A8A" dir=back]',
        'n8 -> n7 [color="#8A8A8A" dir=back style=dashed]',
    ]


def test_long_sentences_are_cut_short_in_the_picture_only(leaves):
    x, _ = leaves
    a_rather_long_name_for_a_tensor_that_nobody_would_like_to_type_twice = x * 2
    y = a_rather_long_name_for_a_tensor_that_nobody_would_like_to_type_twice
    names = {"a_rather_long_name_for_a_tensor_that_nobody_would_like_to_type_twice": y}
    before = snapshot(y, params=names)
    y.add_(1)
    found = compare(before, y, params=names)
    assert max(map(len, found.sentences)) > 80
    assert max(map(len, found.records[1].captions)) <= 72
