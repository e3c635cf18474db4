"""Each public name of mg.viz answers on every machine, and says the same everywhere and every time."""

import dataclasses
import os
import re
import subprocess
import sys

import pytest

import minigrad as mg
from minigrad import small_engine
from minigrad.viz import layout


class Parts:
    """A small program with something of everything: made anew for each use, because a backward changes it."""

    def __init__(self):
        self.x = mg.tensor(2.0, requires_grad=True)
        self.w = mg.tensor([3.0, 1.0], requires_grad=True)
        self.y = self.x * self.w
        self.z = (mg.exp(self.y) * self.y).sum()
        self.held, self.array = self.y.detach(), self.w.detach().numpy()
        self.names = {name: thing for name, thing in vars(self).items() if isinstance(thing, mg.Tensor)}
        options = ("saved", "shapes", "hooks", "unused", "aliases", "cuts")
        self.shown = {"params": self.names} | dict.fromkeys(options, True)

    def slope(self):
        return mg.autograd.grad(self.z, self.x, create_graph=True)[0]

    def styled(self):
        matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
        with mg.viz.style():
            return matplotlib.rcParams["axes.facecolor"]

    def refused(self):
        try:
            self.y.backward()
        except RuntimeError as error:
            return error

    def noted(self):
        """What a `lines` block tells of an overwrite."""
        with mg.viz.lines():
            y = self.x * self.w
            z = (y * y).sum()
            y += 1
        try:
            z.backward()
        except RuntimeError as error:
            return mg.viz.explain(error, params=self.names)

    def changed(self):
        before = mg.viz.snapshot(self.z, **self.shown)
        self.z.backward()
        return mg.viz.compare(before, self.z, **self.shown)


# How each name is used. What it gives is looked at, whatever it is.
def own_walk():
    x = small_engine.Node("leaf", ())
    square = small_engine.Node("mul", (), (x, None, x))
    return square, [(square, 1.0, (3.0, None, 3.0)), (x, 6.0, ())]


USES = {
    "HELP": lambda p: mg.viz.HELP,
    "PALETTE": lambda p: mg.viz.PALETTE,
    "STYLE": lambda p: mg.viz.STYLE,
    "Comparison": lambda p: mg.viz.Comparison(*[mg.viz.record(p.z)] * 2, {"n0": "n0"}),
    "Difference": lambda p: mg.viz.Difference(True, *[mg.viz.record(p.z)] * 2, (), (), ()),
    "EdgeRecord": lambda p: mg.viz.EdgeRecord("n0", "n1", "next"),
    "Explanation": lambda p: mg.viz.Explanation("said", "code", mg.viz.draw(p.z, **p.shown)),
    "GraphRecord": lambda p: mg.viz.GraphRecord("title", "kept", (mg.viz.NodeRecord("n0", "leaf"),), (), ("n0",)),
    "NodeRecord": lambda p: mg.viz.NodeRecord("n0", "leaf", name="x"),
    "Picture": lambda p: mg.viz.Picture([mg.viz.record(p.z)]),
    "Trace": lambda p: mg.viz.Trace(mg.viz.record(p.z), (mg.viz.steps.Event("ready", "n1", value="1."),)).replay(),
    "compare": lambda p: p.changed(),
    "difference": lambda p: mg.viz.difference(p.z, p.y),
    "draw": lambda p: mg.viz.draw(p.z, p.slope(), view="both", legend=True, marks={p.y: "here"}, **p.shown),
    "draw_difference": lambda p: mg.viz.draw_difference(p.z, p.y),
    "engine": lambda p: mg.viz.engine() in ("dot", "pygraphviz", "text"),
    "explain": lambda p: mg.viz.explain(p.refused(), params=p.names),
    "legend": lambda p: mg.viz.legend(),
    "lines": lambda p: p.noted(),
    "make_dot": lambda p: mg.viz.make_dot(p.z, params=p.names),
    "marked": lambda p: mg.viz.Picture([mg.viz.marked(mg.viz.record(p.z), {"n1": "here", ("n1", "n2"): "there"})]),
    "record": lambda p: mg.viz.record(p.z, view="written"),
    "replay": lambda p: mg.viz.replay(*own_walk()),
    "snapshot": lambda p: mg.viz.snapshot(p.z, **p.shown),
    "style": lambda p: p.styled(),
    "trace": lambda p: mg.viz.trace(p.z.backward, params=p.names).replay(),
}
uses = pytest.mark.parametrize("name", USES)


def test_no_name_is_left_out():
    assert set(USES) == set(mg.viz.__all__)


def said(answer) -> str:
    """All that an answer says in words, DOT and records, and nothing that a layout engine makes of it."""
    parts = [str(answer)]
    parts += [str(getattr(answer, name)) for name in ("text", "alt", "source", "sentences") if hasattr(answer, name)]
    if dataclasses.is_dataclass(answer):
        parts += [str(getattr(answer, field.name)) for field in dataclasses.fields(answer) if field.repr]
    return "\n".join(parts)


def everything() -> str:
    return "\n".join(said(use(Parts())) for use in USES.values())


@uses
@pytest.mark.parametrize("package", [True, False], ids=["pygraphviz", "no pygraphviz"])
@pytest.mark.parametrize("path", [True, False], ids=["PATH", "no PATH"])
def test_it_answers_with_whatever_layout_engine_there_is(name, path, package, monkeypatch, capfd):
    monkeypatch.setenv(layout.SETTING, "text")
    expected = said(USES[name](Parts()))
    monkeypatch.delenv(layout.SETTING)
    if not path:
        monkeypatch.setenv("PATH", "")
    if not package:
        monkeypatch.setitem(sys.modules, "pygraphviz", None)
    answer = USES[name](Parts())
    assert answer is not None and said(answer) == expected
    if hasattr(answer, "_repr_mimebundle_"):
        bundle = answer._repr_mimebundle_()
        drawn = layout.engine() != "text"
        assert bundle["text/html"] and ("No picture: " in bundle["text/html"]) == (not drawn)
        assert ("data:image/svg+xml" in bundle["text/html"] or "image/svg+xml" in bundle) == drawn
    assert capfd.readouterr().err == ""


@uses
def test_it_says_no_addresses_and_names_nodes_in_order(name):
    words = said(USES[name](Parts()))
    assert not re.search(r"0x[0-9a-f]{4,}|\bat 0x|\b\d{12,}\b", words)
    ids = re.findall(r"^\s*(n\d+) \[label", words, re.MULTILINE)
    if name == "draw":
        assert sorted(set(ids), key=lambda id: int(id[1:])) == [f"n{i}" for i in range(len(set(ids)))] != []


def test_it_says_the_same_in_every_run():
    program = "import test_viz_public; print(test_viz_public.everything())"
    here, paths = os.path.dirname(__file__), [os.path.dirname(__file__), *sys.path]
    runs = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(paths)}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=here, env=environment, capture_output=True, text=True, check=True
        )
        runs.append(done.stdout)
    assert runs[0] == runs[1] and len(runs[0]) > 10_000
