"""make_dot against torchviz itself, on PyTorch's graphs and on ours."""

import json
import re
import warnings
from collections import Counter
from pathlib import Path

import pytest
import torchviz_cases

import minigrad as mg
from minigrad.viz import layout
from minigrad.viz.records import ends

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "torchviz.json").read_text(encoding="utf-8"))


def statements(dot):
    """The DOT body with its node names replaced by n0, n1 ... in the order of their appearance."""
    names = {}
    pattern = re.compile(r'(?<![\w."])(?:n\d+|\d{9,})(?![\w."])')
    return [pattern.sub(lambda m: names.setdefault(m.group(), f"n{len(names)}"), line.strip()) for line in dot.body]


def structure(dot):
    """Labels and edges as multisets: what stays the same if nodes are drawn in another order."""
    labels = dict(re.findall(r'^\s*(\S+) \[label=("[^"]*"|\S+?)[ \]]', "\n".join(dot.body), re.M))
    edges = re.findall(r"^\s*(\S+) -> (\S+?)(?: (\[.*\]))?$", "\n".join(dot.body), re.M)
    return Counter(labels.values()), Counter((labels[a], labels[b], style) for a, b, style in edges)


def programs(torch):
    """Graphs of every shape: each returns (var, params)."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad_out):
            (x,) = ctx.saved_tensors
            return grad_out * 2 * x

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = torch.exp(x)
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad_out):
            (result,) = ctx.saved_tensors
            return result * grad_out

    def leaves():
        x = torch.tensor(2.0, requires_grad=True)
        w = torch.tensor([3.0, 1.0], requires_grad=True)
        return x, w, torch.ones(2)

    def expression():
        x, w, b = leaves()
        return ((x * w + b).sum() / 3 - x) ** 2 * torch.exp(2 * x), {"x": x, "w": w}

    def shared():
        x, _, _ = leaves()
        y = x * x
        return y + y * x, {"x": x}

    def several():
        x, w, b = leaves()
        u = x * w
        return (u, (u + b).sum(), x, b), {"x": x, "u": u}

    def view():
        _, w, _ = leaves()
        return (w * 2)[0], {"w": w}

    def custom():
        x, _, _ = leaves()
        return Exp.apply(Square.apply(x)), {"x": x}

    def double(function):
        def program():
            x = torch.tensor(1.0, requires_grad=True).clone()
            out = function.apply(x)
            (grad_x,) = torch.autograd.grad(out, x, create_graph=True)
            return (grad_x, x, out), {"grad_x": grad_x, "x": x, "out": out}

        return program

    return {
        "expression": expression,
        "shared": shared,
        "several": several,
        "view": view,
        "custom": custom,
        "double Square": double(Square),
        "double Exp": double(Exp),
    }


NAMES = sorted(programs(mg))


def torchviz_make_dot(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torchviz imports distutils
        torchviz = pytest.importorskip("torchviz", reason="torchviz is not installed")
        return torchviz.make_dot(*args, **options)


@pytest.mark.torch
@pytest.mark.parametrize("show_saved", [False, True])
@pytest.mark.parametrize("show_attrs", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_same_statements_as_torchviz_on_pytorch(name, show_attrs, show_saved):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    var, params = programs(torch)[name]()
    options = {"params": params, "show_attrs": show_attrs, "show_saved": show_saved}
    theirs = torchviz_make_dot(var, **options)
    ours = mg.make_dot(var, **options)
    assert statements(ours) == statements(theirs)
    assert ours.node_attr == theirs.node_attr
    assert ours.graph_attr == theirs.graph_attr


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_minigrad_graph_is_what_torchviz_draws_of_pytorch(name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    theirs_var, theirs_params = programs(torch)[name]()
    ours_var, ours_params = programs(mg)[name]()
    theirs = torchviz_make_dot(theirs_var, theirs_params)
    assert structure(mg.make_dot(ours_var, ours_params)) == structure(theirs)


@pytest.mark.parametrize("name", torchviz_cases.NAMES)
def test_double_backward_has_the_nodes_and_edges_of_torchviz(name):
    var, params = torchviz_cases.graph(mg, name)
    assert torchviz_cases.of_dot(mg.make_dot(var, params)) == RECORDED[name]
    assert torchviz_cases.of_record(mg.viz.record(*var, params=params), ends) == RECORDED[name]


@pytest.mark.torch
def test_torchviz_still_draws_what_was_recorded():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("torchviz", reason="torchviz is not installed")
    assert torchviz_cases.recorded(torch) == RECORDED


def test_the_gradient_of_sinh_bad_hangs_on_nothing():
    edges = RECORDED["SinhBad"]["edges"]
    assert "grad_x ()" in RECORDED["SinhBad"]["nodes"] and not any("grad_x" in edge for edge in edges)
    assert any("grad_x" in edge for edge in RECORDED["Sinh"]["edges"])


def test_golden():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    dot = mg.make_dot((x * 2).sum(), {"x": x}, show_saved=True)
    assert statements(dot) == [
        'n0 [label="\n ()" fillcolor=darkolivegreen1]',
        "n1 [label=SumBackward0]",
        "n2 -> n1",
        "n2 [label=MulBackward0]",
        "n3 -> n2",
        'n4 [label="x\n (2)" fillcolor=lightblue]',
        "n4 -> n3",
        "n3 [label=AccumulateGrad]",
        "n1 -> n0",
    ]


def test_saved_tensors_and_attributes_are_shown():
    x = mg.tensor(3.0, requires_grad=True)
    dot = mg.make_dot(x**2, {"x": x}, show_attrs=True, show_saved=True)
    text = "\n".join(dot.body)
    assert "fillcolor=orange" in text or "self\n ()" in text
    assert "exponent:" in text and "[saved tensor]" in text


def test_freed_buffers_do_not_raise():
    x = mg.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward()
    assert "[freed]" in mg.make_dot(y, show_attrs=True, show_saved=True).source


def test_long_values_are_cut():
    x = mg.ones(40, requires_grad=True)
    y = x.reshape(1, 1, 1, 1, 1, 1, 1, 40).sum()
    labels = mg.make_dot(y, show_attrs=True, max_attr_chars=8).source
    assert "..." in labels


def test_a_deep_graph_needs_no_recursion():
    y = mg.tensor(1.0, requires_grad=True)
    for _ in range(20_000):
        y = y + 1
    assert len(mg.make_dot(y).body) > 40_000


def test_a_graph_that_would_take_minutes_is_told_in_one_sentence(monkeypatch):
    monkeypatch.setattr(layout, "render", lambda *args: pytest.fail("it was laid out"))
    y = mg.tensor(1.0, requires_grad=True)
    for _ in range(1000):
        y = y * 1.0
    drawing = mg.make_dot(y)
    assert list(drawing._repr_mimebundle_()) == ["text/plain"]
    assert "too many for a picture" in drawing._repr_mimebundle_()["text/plain"]
    assert drawing.source.count("MulBackward0") == 1000


@pytest.mark.parametrize("engine", ["dot", "pygraphviz", "text"])
def test_shows_with_every_engine(engine, monkeypatch):
    monkeypatch.setenv("MINIGRAD_VIZ", engine)
    x = mg.tensor(3.0, requires_grad=True)
    dot = mg.make_dot(x * x)
    bundle = dot._repr_mimebundle_()
    assert bundle["text/plain"] == dot.source == repr(dot)
    if mg.viz.engine() == engine != "text":
        assert 'src="data:image/svg+xml;base64,' in bundle["text/html"]
    else:
        assert "No picture" in bundle["text/html"]
