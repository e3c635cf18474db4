"""Large graphs: what repeats is drawn once, what does not is cut short, and little is laid out."""

import importlib
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as mg
from minigrad.viz import layout
from minigrad.viz.fold import (
    KEPT_NODES,
    MAX_NODES,
    MIN_NODES_TO_FOLD,
    cut_short,
    folded_graph,
    readable,
    repeats,
    summary,
)
from minigrad.viz.records import ends
from minigrad.viz.text import OPERATIONS, head

collect = importlib.import_module("minigrad.viz.collect")  # mg.viz.collect is its function


def leaf(value=1.0):
    return mg.tensor(value, requires_grad=True)


def loop(times):
    state, weight = leaf(), leaf(0.5)
    for _ in range(times):
        state = mg.tanh(state * weight)
    return state


def layers(times):
    state = mg.ones(2, 3)
    for _ in range(times):
        state = mg.relu(state @ mg.ones(3, 3, requires_grad=True) + mg.ones(3, requires_grad=True))
    return state.sum()


def recurrent(times):
    state, loss, w, u = mg.tensor(0.0), 0, leaf(), leaf()
    for step in range(times):
        state = mg.tanh(state * w + u * float(step))
        loss = loss + (state - 1) ** 2
    return loss


def residual(times):
    x = state = leaf()
    for _ in range(times):
        state = state * 2 + x
    return state


def irregular(size):
    choose = random.Random(1).choice
    tensors = [leaf(), leaf(2.0)]
    for _ in range(size):
        tensors.append(choose([mg.mul, mg.add, mg.sub])(choose(tensors[-20:]), choose(tensors[-20:])))
    return sum(tensors[-20:])


views = pytest.mark.parametrize("view", ["kept", "written"])


def operations(graph):
    return Counter(node.op for node in graph.nodes for _ in range(node.count) if node.role in OPERATIONS)


@views
@pytest.mark.parametrize("program", [loop, layers, recurrent, residual])
def test_a_loop_is_drawn_as_one_round(program, view):
    whole = mg.viz.record(program(40), view=view)
    folded = folded_graph(whole)
    assert len(folded.nodes) <= 40 < len(whole.nodes)
    assert operations(folded) == operations(whole)  # every operation is drawn or counted
    assert [title for _, title in folded.titles] == ["39 times"]
    assert all(root in folded.by_id for root in folded.roots)
    assert len(folded.inputs_first) == len(folded.nodes)  # no cycle but the dashed one


def test_the_text_counts_the_rounds():
    lines = mg.draw(loop(30)).text.splitlines()
    assert lines[1].endswith("(output) -> TanhBackward0 (29 times)")
    assert lines[2:5] == ["    MulBackward0 (29 times)", "      TanhBackward0", "        MulBackward0"]


def test_layers_fold_with_their_own_weights():
    folded = folded_graph(mg.viz.record(layers(12)))
    leaves = [node for node in folded.nodes if node.role == "leaf"]
    assert sorted(node.count for node in leaves) == [1, 1, 11, 11]


def test_a_shared_weight_stays_one_leaf():
    folded = folded_graph(mg.viz.record(loop(30)))
    assert sorted(node.count for node in folded.nodes if node.role == "leaf") == [1, 1]


def test_the_way_back_to_the_round_before_is_a_line_beside_the_graph():
    folded = folded_graph(mg.viz.record(loop(30)))
    (again,) = [edge for edge in folded.edges if edge.role == "repeat"]
    assert [head(folded.by_id[id]) for id in ends(again)] == ["MulBackward0", "TanhBackward0"]


def test_small_graphs_are_drawn_as_they_are():
    small = mg.viz.record(loop(8))
    assert readable(small) is small
    assert len(readable(small, fold=True).nodes) < len(small.nodes)
    large = mg.viz.record(loop(50))
    assert readable(large, fold=False) is large
    assert "times" not in mg.draw(loop(50), fold=False).text


def test_what_was_freed_is_not_folded_with_what_was_not():
    state, weight, middle = leaf(), leaf(), None
    for step in range(20):
        state = mg.tanh(state * weight)
        middle = state if step == 9 else middle
    middle.backward()
    folded = folded_graph(mg.viz.record(state))
    counted = {(node.count, "freed" in node.marks) for node in folded.nodes if node.role == "function"}
    assert {(9, True), (10, False)} <= counted


def test_what_backward_built_from_a_loop_is_folded_too():
    x = leaf()
    state = x
    for _ in range(30):
        state = mg.sin(state)
    (slope,) = mg.autograd.grad(state, x, create_graph=True)
    (curve,) = mg.autograd.grad(slope, x, create_graph=True)
    for outputs in ((state, slope), (state, slope, curve)):
        whole = mg.viz.record(*outputs)
        folded = folded_graph(whole)
        assert len(folded.nodes) < 60 < len(whole.nodes)
        assert operations(folded) == operations(whole)


def test_rounds_that_take_their_input_from_elsewhere_are_not_equal():
    """One operation throughout, but now of the round before and now of the beginning."""
    x = leaf()
    first = state = mg.sin(x)
    for step in range(30):
        state = mg.sin(first if step in (4, 5, 11, 20) else state) + state
    folded = folded_graph(mg.viz.record(state))
    assert max(node.count for node in folded.nodes) < 10


def test_nothing_repeats_in_an_irregular_graph():
    whole = mg.viz.record(irregular(200))
    shown = readable(whole)
    assert len(shown.nodes) <= MAX_NODES
    assert operations(folded_graph(whole)) == operations(whole)


def test_what_cannot_be_folded_is_cut_short():
    whole = mg.viz.record(irregular(2000))
    shown = readable(whole)
    assert len(shown.nodes) < 60 and shown.by_id["more"].name.endswith("more nodes")
    assert shown.captions[-1] == summary(whole)
    assert set(shown.roots) <= set(shown.by_id)
    ids = {node.id for node in shown.nodes}
    assert all({edge.source, edge.target} <= ids for edge in shown.edges)
    count = int(shown.by_id["more"].name.split()[1].replace(",", ""))
    assert count + len(shown.nodes) - 1 == len(whole.nodes)


def test_a_graph_with_very_many_outputs_is_cut_short_too():
    outputs = [leaf(float(i)) * 2 for i in range(400)]
    whole = mg.viz.record(*outputs)
    assert len(cut_short(whole, len(whole.nodes)).nodes) < 60


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("ab"), max_size=4), st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
       st.integers(3, 9))  # fmt: skip
def test_runs_are_true_repetitions(before, block, times):
    names = [*before, *block * times]
    column = np.array([ord(name) for name in names])
    found = repeats([(column,)], len(names))
    for start, period, count in found:
        rounds = [names[start + i * period : start + (i + 1) * period] for i in range(count)]
        assert count >= 3 and all(one == rounds[0] for one in rounds)
    covered = sum(period * count for _, period, count in found)
    assert covered >= len(block) * times


@pytest.fixture
def work(monkeypatch):
    """What drawing a picture costs, whatever the machine: nodes recorded, programs run, nodes laid out."""
    counted = Counter()

    def counting(record):
        def counts(self, item, id):
            counted["records"] += 1
            return record(self, item, id)

        return counts

    def laid_out(source, *format):
        counted["layouts"] += 1
        counted["nodes laid out"] += source.count(" [label=<")
        return render(source, *format)

    render = layout.render
    for view in (collect.Kept, collect.Written):
        monkeypatch.setattr(view, "record", counting(view.record))
    monkeypatch.setattr(layout, "render", laid_out)
    return counted


@views
@pytest.mark.parametrize("program, size", [(loop, 5000), (layers, 2000), (irregular, 10_000)])
def test_of_ten_thousand_nodes_few_are_laid_out_once(program, size, view, work):
    picture = mg.draw(program(size), view=view)
    bundle = picture._repr_mimebundle_()
    picture._repr_mimebundle_()
    nodes = len(picture.records[0].nodes)
    assert nodes >= 8_000 and work["records"] == nodes
    assert work["layouts"] == 1 and 0 < work["nodes laid out"] <= MIN_NODES_TO_FOLD + 10
    assert len(bundle["text/html"]) < 300_000
    if mg.viz.engine() != "text":
        assert "<img" in bundle["text/html"]


@views
@pytest.mark.parametrize("program, size", [(loop, 50_000), (irregular, 100_000)])
def test_of_a_hundred_thousand_operations_only_those_next_to_the_output_are_recorded(program, size, view, work):
    picture = mg.draw(program(size), view=view)
    assert picture._repr_mimebundle_()
    assert work["layouts"] == 1 and work["nodes laid out"] <= KEPT_NODES + 1
    assert work["records"] <= 3 * KEPT_NODES
    assert picture.records[0].by_id["more"].name == "... and so on"
    assert picture.records[0].inputs_first[-1] == picture.records[0].roots[0]


@pytest.mark.parametrize(("view", "names"), [("kept", ("TanhBackward0", "MulBackward0")), ("written", ("tanh", "mul"))])
def test_a_hundred_thousand_operations_give_a_summary(view, names):
    summary = mg.draw(loop(50_000), view=view).text.splitlines()[1]
    assert summary == "  100,000 operations: 50,000 {}, 50,000 {}, 2 leaves".format(*names)


def test_an_enormous_graph_is_folded_if_asked_for(monkeypatch):
    monkeypatch.setattr(collect, "MAX_RECORDED", 100)
    assert "and so on" in mg.draw(loop(60)).text
    assert "(59 times)" in mg.draw(loop(60), fold=True).text
    assert len(mg.draw(loop(60), fold=False).shown[0].nodes) > 120


def test_what_is_pointed_at_is_shown_however_far_away(monkeypatch):
    monkeypatch.setattr(collect, "MAX_RECORDED", 100)
    x = leaf()
    first = state = mg.sin(x)
    for _ in range(200):
        state = mg.tanh(state)
    text = mg.draw(state, marks={first.grad_fn: "the first", x: "the leaf"}).text
    assert "SinBackward0 (first.grad_fn, ! the first)" in text and "x = 1. (leaf, .grad None, ! the leaf)" in text
    monkeypatch.undo()
    for said, seen in (("marks", "! the first"), ("notes", "the first")):
        text = mg.draw(irregular(2000), state, **{said: {first.grad_fn: "the first"}}).text
        assert f"SinBackward0 (first.grad_fn, {seen}" in text and "more nodes" in text


def test_what_stands_for_itself_is_counted_once_in_a_summary(monkeypatch):
    monkeypatch.setattr(collect, "MAX_RECORDED", 3)
    p, q = leaf([1.0, 2.0]).unbind()
    assert mg.draw(p * q * q).text.splitlines()[1] == "  3 operations: 2 MulBackward0, 1 UnbindBackward0, 1 leaf"


def test_a_picture_of_too_many_nodes_is_refused_in_one_sentence(tmp_path, capsys):
    picture = mg.draw(irregular(400), fold=False)
    picture.save(tmp_path / "graph.png")
    assert "graph.png was not saved: " in capsys.readouterr().out and picture.svg == ""
    picture.save(tmp_path / "graph.dot")
    assert (tmp_path / "graph.dot").stat().st_size > 10_000
