"""From DOT to something that is shown: both engines, neither, and the three forms."""

import base64
import os
import re
import subprocess
import sys
import weakref
import xml.etree.ElementTree as xml

import pytest

import minigrad as mg
from minigrad.viz import layout

SVG = "{http://www.w3.org/2000/svg}"


def picture(**options):
    x = mg.tensor(2.0, requires_grad=True)
    w = mg.tensor([3.0, 1.0], requires_grad=True)
    z = ((x * w).sum() - x) ** 2
    return mg.draw(z, **options)


@pytest.mark.parametrize("view", ["kept", "written", "both"])
def test_every_engine_draws_every_view(engine, view):
    drawing = picture(view=view)
    root = xml.fromstring(drawing.svg)
    assert float(root.get("width")) > 100 and float(root.get("height")) > 100
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    for node in (node for panel in drawing.records for node in panel.nodes):
        if node.role in ("leaf", "function", "accumulate"):
            assert any(node.name in text for text in texts), (node, texts)
    titles = {"kept": 1, "written": 1, "both": 2}[view]
    assert sum("what " in text for text in texts) == titles


def test_nothing_of_the_engine_is_left_in_the_svg(engine):
    svg = picture().svg
    assert svg.startswith("<svg") and "<!--" not in svg and "raphviz" not in svg
    assert " id=" not in svg and 'pt"' not in svg
    assert svg == picture().svg


def test_lines_of_a_node_are_centred_on_it(engine):
    root = xml.fromstring(picture().svg)
    nodes = [g for g in root.iter(f"{SVG}g") if g.get("class") == "node"]
    checked = 0
    for node in nodes:
        ellipse = node.find(f"{SVG}ellipse")
        for text in node.iter(f"{SVG}text") if ellipse is not None else ():
            assert text.get("text-anchor") == "middle"
            assert float(text.get("x")) == pytest.approx(float(ellipse.get("cx")), abs=0.02)
            checked += 1
    assert checked >= 3


def width_in_a_wide_font(text, size):
    """Roughly what DejaVu Sans takes, the widest of the fonts that a browser may pick."""
    ems = {**dict.fromkeys("mwMW@", 0.95), **dict.fromkeys("ijlft.,:;|()[] ", 0.4), "=": 0.84}
    return size * sum(ems.get(letter, 0.64) for letter in text)


@pytest.mark.parametrize("saved", [False, True])
def test_boxes_are_wide_enough_for_a_wider_font(engine, saved):
    root = xml.fromstring(picture(view="both", saved=saved).svg)
    checked = 0
    for node in (g for g in root.iter(f"{SVG}g") if g.get("class") == "node"):
        polygon = node.find(f"{SVG}polygon")
        for text in node.iter(f"{SVG}text") if polygon is not None else ():
            across = [float(x) for x in re.findall(r"(-?[\d.]+),", polygon.get("points"))]
            words, size = "".join(text.itertext()), float(text.get("font-size"))
            assert width_in_a_wide_font(words, size) <= max(across) - min(across), words
            checked += 1
    assert checked >= 8


def with_words_on_lines():
    """Pictures whose arrows and dotted lines have words, at the right edge too."""
    x, w = mg.tensor(2.0, requires_grad=True), mg.tensor([3.0, 1.0], requires_grad=True)
    y = x * w
    held = y.detach()
    yield mg.draw(y.sum(), aliases=True)
    yield mg.draw((held * x).sum(), cuts=True)
    yield mg.draw((held * x).sum(), view="written", cuts=True)
    for position in (0, 1):
        yield mg.draw(y, marks={(y.grad_fn, position): "a gradient that does not fit its tensor"})
    yield mg.viz.compare(x * x, x.detach() * w)
    yield mg.viz.draw_difference(x - w, w - x)
    w = mg.tensor([3.0, 1.0, 2.2, 4.4], requires_grad=True)
    film = mg.viz.trace((mg.exp(w) * x * w).sum().backward).replay()
    yield from film.frames


def test_no_words_reach_beyond_their_card(engine):
    for drawing in with_words_on_lines():
        root = xml.fromstring(getattr(drawing, "svg", drawing))
        clusters = [group for group in root.iter(f"{SVG}g") if group.get("class") == "cluster"]
        cards = [[float(x) for x in re.findall(r"(-?[\d.]+),", g.find(f"{SVG}path").get("d"))] for g in clusters]
        checked = 0
        for text in root.iter(f"{SVG}text"):
            start, width = float(text.get("x")), 0.44 * float(text.get("font-size")) * len("".join(text.itertext()))
            start -= {"start": 0, "middle": width / 2}[text.get("text-anchor")]
            assert any(min(card) <= start and start + width <= max(card) for card in cards), "".join(text.itertext())
            checked += 1
        assert checked > 3


def test_pictures_are_at_most_700_pixels_wide(engine):
    tensors = [mg.tensor(float(i), requires_grad=True) for i in range(12)]
    total = mg.stack(tensors).sum()
    wide = mg.draw(total, direction="TB")
    root = xml.fromstring(wide.svg)
    assert float(root.get("width")) == 700
    box = [float(v) for v in root.get("viewBox").split()]
    assert float(root.get("height")) == pytest.approx(700 * box[3] / box[2], abs=1)
    narrow = xml.fromstring(mg.draw(total, direction="TB", width=300).svg)
    assert float(narrow.get("width")) == 300


def test_a_small_graph_is_compact(engine):
    x = mg.tensor(3.0, requires_grad=True)
    for view in ("kept", "written"):
        root = xml.fromstring(mg.draw(x * 2 + 1, view=view).svg)
        assert 150 <= float(root.get("width")) <= 560
        assert float(root.get("height")) <= 480


def test_three_forms(engine):
    drawing = picture()
    bundle = drawing._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert bundle["text/plain"] == repr(drawing) == drawing.text
    html = bundle["text/html"]
    assert html.startswith('<img alt="Graph of') and "max-width:100%" in html
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html).group(1)
    assert base64.b64decode(data).decode() == bundle["image/svg+xml"] == drawing.svg


@pytest.mark.parametrize("ending, start", [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_save(engine, tmp_path, ending, start):
    path = tmp_path / f"graph.{ending}"
    picture().save(path)
    assert path.read_bytes().startswith(start)


def test_save_dot_needs_no_engine(no_engine, tmp_path, capsys):
    picture().save(str(tmp_path / "graph.dot"))
    assert (tmp_path / "graph.dot").read_text().startswith("digraph")
    for name in ("graph.png", "graph.svg", "graph.jpg"):
        picture().save(tmp_path / name)
        assert not (tmp_path / name).exists()
        assert f"{name} was not saved: " in capsys.readouterr().out


def test_text_is_the_same_for_every_engine(engine, monkeypatch):
    drawn = picture(view="both")._repr_mimebundle_()["text/plain"]
    monkeypatch.setenv(layout.SETTING, "text")
    assert picture(view="both")._repr_mimebundle_()["text/plain"] == drawn


def test_without_an_engine_there_is_the_listing_and_one_line(no_engine):
    assert layout.engine() == "text"
    bundle = picture()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "pip install pygraphviz" in bundle["text/html"]
    assert "PowBackward0" in bundle["text/html"] and "<img" not in bundle["text/html"]


@pytest.mark.parametrize("forced", ["dot", "pygraphviz", "text", "nonsense"])
def test_a_forced_engine_that_is_not_there_is_one_sentence(no_engine, monkeypatch, forced):
    monkeypatch.setenv(layout.SETTING, forced)
    html = picture()._repr_mimebundle_()["text/html"]
    assert html.count("No picture: ") == 1 and "Traceback" not in html
    assert picture().svg == ""


def test_a_dot_that_fails_or_hangs_gives_way_to_the_next_engine(monkeypatch):
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    monkeypatch.delenv(layout.SETTING, raising=False)
    monkeypatch.setattr(layout.shutil, "which", lambda name: name)

    def failing(*args, **options):
        return subprocess.CompletedProcess(args, 1, b"", b"boom")

    def hanging(*args, **options):
        raise subprocess.TimeoutExpired("dot", options["timeout"])

    def missing(*args, **options):
        raise FileNotFoundError("dot")

    for run in (failing, hanging, missing):
        monkeypatch.setattr(layout.subprocess, "run", run)
        assert picture().svg.startswith("<svg")
        assert layout.engine() == "pygraphviz"


def test_a_failing_pygraphviz_gives_way_to_the_listing(no_engine, monkeypatch):
    class Broken:
        def AGraph(self, string):
            raise ValueError("bad")

    monkeypatch.setitem(sys.modules, "pygraphviz", Broken())
    assert "pygraphviz failed (ValueError)" in picture()._repr_mimebundle_()["text/html"]


def test_nothing_is_written_to_stderr(engine, capfd):
    picture().svg  # noqa: B018
    assert capfd.readouterr() == ("", "")


def test_a_picture_is_a_snapshot():
    x = mg.tensor(3.0, requires_grad=True)
    y = x * x
    before = mg.draw(y)
    y.backward()
    assert ".grad None" in before.text and "freed" not in before.source


def test_a_picture_keeps_no_graph_alive():
    def program():
        x = mg.tensor(3.0, requires_grad=True)
        y = x * x
        return mg.draw(y), weakref.ref(y)

    drawing, gone = program()
    assert gone() is None and "y = 9." in drawing.text


def test_import_minigrad_does_not_import_pictures():
    code = "import sys, minigrad; print([m for m in sys.modules if 'viz' in m or m == 'IPython'])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "[]"
