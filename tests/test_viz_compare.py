"""Graphs as answers: what counts as the same graph, and what is said when it is not."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as mg
from minigrad.viz import difference, draw_difference, record
from minigrad.viz.collect import collect
from minigrad.viz.matching import _Graph, isomorphism


def build(program):
    x = mg.tensor(2.0, requires_grad=True)
    y = mg.tensor(3.0, requires_grad=True)
    c = mg.tensor(1.0)
    return program(x, y, c)


def compare(expected, got, **options):
    return difference(build(expected), build(got), **options)


both_views = pytest.mark.parametrize("view", ["written", "kept"])


@both_views
@pytest.mark.parametrize(
    "expected, got",
    [
        (lambda x, y, c: x * y + x, lambda x, y, c: y + y * x),
        (lambda x, y, c: (x * y) + (x * y), lambda x, y, c: (y * x) + (x * y)),
        (lambda x, y, c: x * 2, lambda x, y, c: 3 * x),
        (lambda x, y, c: x * 2, lambda x, y, c: x * c),
        (lambda x, y, c: x - y, lambda x, y, c: y - x),  # both are leaves: only names differ
        (lambda x, y, c: x**2, lambda x, y, c: y**3),
        (lambda x, y, c: (x * y, x + y), lambda x, y, c: (y * x, x + y)),
        (lambda x, y, c: c, lambda x, y, c: c * 2),
    ],
)
def test_same(expected, got, view):
    found = compare(expected, got, view=view)
    assert found.same and not found.missing and not found.unexpected


@both_views
@pytest.mark.parametrize(
    "expected, got, sentences",
    [
        (
            lambda x, y, c: mg.exp(x) * y,
            lambda x, y, c: mg.exp(x),
            {"written": {"missing: operation mul", "missing: leaf 3."}},
        ),
        (
            lambda x, y, c: mg.exp(x) * y,
            lambda x, y, c: mg.sin(mg.exp(x) * y),
            {"written": {"extra: operation sin"}},
        ),
        (
            lambda x, y, c: x * x,
            lambda x, y, c: x * y,
            {"written": {"missing: the arrow from 2. to mul", "extra: leaf 3."}},
        ),
        (
            lambda x, y, c: x * y - x,
            lambda x, y, c: x - x * y,
            {
                "written": {"the operands of sub are swapped"},
                "kept": {"the operands of SubBackward0 are swapped"},
            },
        ),
        (
            lambda x, y, c: mg.exp(x) * y,
            lambda x, y, c: mg.exp(x) + y,
            {
                "written": {"missing: operation mul", "extra: operation add"},
                "kept": {"missing: MulBackward0", "extra: AddBackward0"},
            },
        ),
        (
            lambda x, y, c: x * y,
            lambda x, y, c: x * c,
            {"written": {"missing: leaf 3.", "extra: constant 1."}},
        ),
        (
            lambda x, y, c: (x * y) + (x * y),
            lambda x, y, c: (lambda u: u + u)(x * y),
            {"written": {"missing: operation mul"}},
        ),
        (lambda x, y, c: (x * y, x + y), lambda x, y, c: (x + y, x * y), {}),
        (lambda x, y, c: (x * y, x + y), lambda x, y, c: x * y, {}),
        (lambda x, y, c: x * y, lambda x, y, c: (x * y).detach(), {}),
    ],
)
def test_different(expected, got, sentences, view):
    found = compare(expected, got, view=view)
    assert not found.same and found.sentences
    if view in sentences:
        assert set(found.sentences) == sentences[view]
    for panel, mark in ((found.expected, "missing"), (found.got, "unexpected")):
        for item in panel.nodes + panel.edges:
            assert item.marks[-1] in ("same", mark)


def test_roots_in_another_order_differ():
    assert compare(lambda x, y, c: (x * y, x + y), lambda x, y, c: (y * x, x + y)).same
    found = compare(lambda x, y, c: (x * y, x + y), lambda x, y, c: (x + y, x * y))
    assert not found.same and found.sentences == ("the outputs are in another order",)


def test_constants_count_if_asked():
    two, three = (lambda x, y, c: x * 2), (lambda x, y, c: x * 3)
    assert compare(two, three).same
    found = compare(two, three, constants=True)
    assert found.sentences == ("missing: constant 2", "extra: constant 3")
    assert not compare(lambda x, y, c: x**2, lambda x, y, c: x**3, constants=True).same


def test_names_count_if_asked():
    x, y = (mg.tensor(1.0, requires_grad=True) for _ in range(2))
    names = {"x": x, "y": y}
    assert difference(x - y, y - x, params=names).same
    found = difference(x - y, y - x, params=names, names=True)
    assert found.sentences == ("the operands of sub are swapped",)


@pytest.mark.parametrize(
    "expected, got, extra",
    [
        (lambda w, x, b: w * x.detach() + b, lambda w, x, b: w * x + b, "x"),
        (lambda w, x, b: w * x.detach() + b, lambda w, x, b: b + x * w, "x"),
        (lambda w, x, b: w.detach() * x + b, lambda w, x, b: w * x + b, "w"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_the_leaf_that_is_too_many_is_found_by_its_name(expected, got, extra, named):
    leaves = {name: mg.tensor(2.0, requires_grad=True) for name in "wxb"}
    found = difference(expected(*leaves.values()), got(*leaves.values()), view="kept", params=leaves, names=named)
    assert [node.name for node in found.unexpected if node.role == "leaf"] == [extra]
    assert not found.missing


def test_another_leaf_in_the_same_place_differs_if_names_count():
    leaves = {name: mg.tensor(2.0, requires_grad=True) for name in "wxb"}
    w, x, b = leaves.values()
    for got in (w.detach() * x + b, w * x.detach().requires_grad_() + b):
        found = difference(w * x.detach() + b, got, view="kept", params=leaves, names=True)
        assert not found.same and [node.role for node in found.unexpected if node.role == "leaf"]


@pytest.mark.parametrize("got", [lambda k, x, b: k * x + b, lambda k, x, b: b + x * k])
def test_without_a_common_name_the_leaf_is_found_by_its_place(got):
    target, mine = mg.tensor(2.0, requires_grad=True), {n: mg.tensor(2.0, requires_grad=True) for n in "kxb"}
    stored = record(3 * target + 1, view="kept"), record(got(*mine.values()), view="kept", params=mine)
    found = difference(*stored)
    assert "b" in [node.name for node in found.unexpected] and not found.missing


def put(product, entry):
    product[0] = entry
    return product


@pytest.mark.parametrize(
    "got, sentences",
    [
        (lambda a, b: put(a.detach() * 2, b), ("missing: MulBackward0", "missing: leaf a = [1., 2., 3.]")),
        (lambda a, b: put(a * 2, b.detach()), ("missing: leaf b = 4.",)),
        (
            lambda a, b: mg.ones(3) * b,
            ("missing: CopySlices", "missing: leaf a = [1., 2., 3.]"),
        ),
        (lambda a, b: put(a * 2, b).sum(), ("extra: SumBackward0",)),
        (
            lambda a, b: put(a * 2, b * 3),
            ("missing: the arrow from CopySlices to AccumulateGrad", "extra: MulBackward0"),
        ),
    ],
)
@pytest.mark.parametrize("names", ["ab", "pq"])  # by name, or by shape
def test_nothing_is_called_missing_that_is_there(got, sentences, names):
    a, b = mg.tensor([1.0, 2.0, 3.0], requires_grad=True), mg.tensor(4.0, requires_grad=True)
    expected = record(put(a * 2, b), view="kept", params={"a": a, "b": b})
    found = difference(expected, record(got(a, b), view="kept", params=dict(zip(names, (a, b), strict=True))))
    assert found.sentences == sentences


def test_what_is_too_many_is_found_though_another_part_has_the_structure():
    w1, w2, w3 = leaves = [mg.tensor(2.0, requires_grad=True) for _ in range(3)]
    names = dict(zip(("w1", "w2", "w3"), leaves, strict=True))
    found = difference(w3 * (w2.detach() * (w1 * 3)), (w3 * (w2 * (w1 * 3))).clone(), view="kept", params=names)
    assert found.sentences == ("extra: CloneBackward0", "extra: leaf w2 = 2.")


def test_a_record_can_be_compared_with_a_tensor():
    stored = record(build(lambda x, y, c: x * y), view="kept")
    assert difference(stored, build(lambda x, y, c: y * x), view="kept").same


def test_the_picture_shows_both_and_says_what_differs():
    picture = draw_difference(build(lambda x, y, c: mg.exp(x)), build(lambda x, y, c: mg.sin(x)))
    assert [panel.title for panel in picture.records] == ["the graph to build", "your graph"]
    assert picture.records[1].captions == (
        "missing: operation exp",
        "extra: operation sin",
    )
    ids = Counter(node.id for panel in picture.records for node in panel.nodes)
    assert max(ids.values()) == 1
    assert "exp (missing)" in picture.text and "sin (extra)" in picture.text
    assert 'style="filled,dashed"' in picture.source and "peripheries=2" in picture.source


@both_views
def test_arrows_that_read_alike_are_not_called_missing(view):
    def loss(x, y, c):
        return mg.sum((x - y) ** 2) + mg.mean(x**3)

    def swapped(x, y, c):
        return mg.mean((x - y) ** 2) + mg.sum(x**3)

    assert compare(loss, swapped, view=view).sentences == ("the same operations and leaves, joined by other arrows",)


def test_below_the_picture_stand_three_sentences_at_most():
    x = mg.tensor(2.0, requires_grad=True)
    picture = draw_difference(3 * x + 1, (x + 1) * 3, view="kept")
    assert picture.records[1].captions == (
        "missing: the arrow from AddBackward0 to MulBackward0",
        "missing: the arrow from MulBackward0 to AccumulateGrad",
        "extra: the arrow from MulBackward0 to AddBackward0",
        "and 1 more difference",
    )


def test_the_picture_of_equal_graphs_has_its_colours():
    picture = draw_difference(build(lambda x, y, c: x * y), build(lambda x, y, c: y * x))
    assert picture.records[1].captions == ("the same graph",)
    assert not any(node.marks for panel in picture.records for node in panel.nodes)


@both_views
def test_deep_graphs_are_compared_without_recursion(view):
    def chain(length):
        y = mg.tensor(1.0, requires_grad=True)
        for _ in range(length):
            y = mg.sin(y)
        return y

    assert difference(chain(5_000), chain(5_000), view=view).same
    assert not difference(chain(300), chain(301), view=view).same


# -- against brute force -------------------------------------------------------------------------

steps = st.lists(
    st.tuples(st.sampled_from(["add", "mul", "sub"]), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=3,
)


def run(plan, leaves):
    values = [mg.tensor(float(i + 1), requires_grad=True) for i in range(leaves)]
    for name, i, j in plan:
        values.append(getattr(mg, name)(values[i % len(values)], values[j % len(values)]))
    return values[-1]


def same_by_brute_force(ours, theirs):
    """Try every pairing of the nodes."""
    if Counter(ours.kinds.values()) != Counter(theirs.kinds.values()):
        return False
    mine = list(ours.order)
    for other in itertools.permutations(theirs.order):
        pairs = dict(zip(mine, other, strict=True))
        if [pairs[r] for r in ours.panel.roots] == list(theirs.panel.roots) and all(
            ours.kinds[a] == theirs.kinds[b]
            and theirs.input_colours(b, {x: x for x in theirs.order})
            == (
                tuple(sorted(pairs[i] for i in ours.inputs[a]))
                if a in ours.commutative
                else tuple(pairs[i] for i in ours.inputs[a])
            )
            for a, b in pairs.items()
        ):
            return True
    return False


@settings(max_examples=60, deadline=None)
@given(steps, steps, st.integers(1, 2))
def test_isomorphism_agrees_with_brute_force(one, other, leaves):
    ids = itertools.count()
    ours, theirs = (_Graph(collect([run(plan, leaves)], "written", ids=ids), False, False) for plan in (one, other))
    if len(ours.order) > 8 or len(theirs.order) > 8:
        return
    assert (isomorphism(ours, theirs) is not None) == same_by_brute_force(ours, theirs)


long_steps = st.lists(
    st.tuples(st.sampled_from(["add", "mul", "sub"]), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=20,
)


@settings(max_examples=100, deadline=None)
@given(long_steps, st.lists(st.booleans(), min_size=20, max_size=20))
def test_swapping_operands_of_sums_and_products_changes_nothing(plan, swaps):
    swapped = [
        (name, j, i) if swap and name != "sub" else (name, i, j)
        for (name, i, j), swap in zip(plan, swaps, strict=False)
    ]
    found = difference(run(plan, 3), run(swapped, 3))
    assert found.same, found.sentences


@settings(max_examples=100, deadline=None)
@given(long_steps)
def test_one_operation_more_is_noticed(plan):
    graph = run(plan, 3)
    found = difference(graph, mg.exp(run(plan, 3)))
    assert [node.op for node in found.unexpected if node.role == "op"] == ["exp"]
    assert not found.missing
