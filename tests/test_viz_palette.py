"""One palette: told apart with every kind of colour vision, the same in graphs and in figures."""

import base64
import itertools
import re

import numpy as np
import pytest

import minigrad as mg
from minigrad.viz import PALETTE, STYLE
from minigrad.viz.dot import EDGES, MARKED, MARKED_EDGES, STYLES
from minigrad.viz.film import EDGE_LOOKS, FAILED, IDLE, NOW
from minigrad.viz.palette import BUILT, CARD, DARK, INK, SOFT_INK, themed
from minigrad.viz.text import LEGEND, TENSORS, details

# Machado, Oliveira and Fernandes 2009, severity 1: what a colour looks like, in linear RGB.
VISION = {
    "all colours": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])
DISTINCT = 10  # CIE 1976; 2.3 is what a trained eye can just tell


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour, vision):
    xyz = TO_XYZ @ np.clip(vision @ linear(colour), 0, 1) / WHITE
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one, other, vision):
    return float(np.linalg.norm(lab(one, vision) - lab(other, vision)))


def contrast(one, other):
    dark, light = sorted(float(linear(colour) @ TO_XYZ[1]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


vision = pytest.mark.parametrize("vision", VISION.values(), ids=VISION)


def test_the_simulation_sees_what_is_known():
    """Red and green of one lightness are alike without green; blue and yellow never are, except without blue."""
    assert distance("#C00000", "#6B6B00", VISION["no green"]) < distance("#C00000", "#6B6B00", np.eye(3)) / 2
    assert distance("#0000FF", "#FFFF00", VISION["no green"]) > 100
    assert distance("#FFFFFF", "#FFFFFF", VISION["no red"]) == 0


@vision
def test_roles_of_one_shape_differ_in_colour(vision):
    for (name, one), (other_name, other) in itertools.combinations(STYLES.items(), 2):
        pair_nodes = {name, other_name} == {"constant", "number"}  # both need no gradient
        if (one.shape, one.style) == (other.shape, other.style) and not pair_nodes:
            apart = max(distance(one.fill, other.fill, vision), distance(one.line, other.line, vision))
            assert apart >= DISTINCT, (name, other_name, apart)


def test_every_state_is_said_in_words_too():
    """No state of a node is shown by its colour alone."""
    for mark in MARKED:
        if mark in ("same", "guilty", "stale"):  # as it was; and what has a note that says it
            continue
        assert details(mg.viz.NodeRecord("n0", "op", name="v", marks=(mark,))), mark


@vision
def test_lines_differ_in_colour_or_in_kind(vision):
    lines = EDGES | MARKED_EDGES
    kinds = {
        name: tuple(look.get(key) for key in ("style", "penwidth", "arrowhead", "label"))
        for name, look in lines.items()
    }
    for one, other in itertools.combinations(lines, 2):
        colours = [lines[name].get("color", SOFT_INK) for name in (one, other)]
        if kinds[one] == kinds[other] and colours[0] != colours[1]:
            assert distance(*colours, vision) >= DISTINCT, (one, other)


@pytest.mark.parametrize("theme", ["light", "dark"])
@vision
def test_curves_differ_in_colour(vision, theme):
    curves = PALETTE.values() if theme == "light" else [DARK[colour] for colour in PALETTE.values()]
    for one, other in itertools.combinations(curves, 2):
        assert distance(one, other, vision) >= 2 * DISTINCT


def pairs():
    """(what it is, ink, ground, least contrast): 4.5 for text, 3 for lines that say something."""
    for name, look in STYLES.items():
        yield name, look.text, look.fill, 4.5
        if name not in ("constant", "number", "none"):
            yield f"the rim of {name}", look.line, CARD, 3
    for name, look in MARKED.items():
        for base in STYLES.values():
            yield name, look.get("fontcolor", base.text), look.get("fillcolor", base.fill), 4.5
    for name, look in (EDGES | MARKED_EDGES).items():
        yield name, look.get("fontcolor", SOFT_INK), CARD, 4.5
        yield name, look.get("color", SOFT_INK), CARD, 3
    for phase, (fill, _, _, _, text) in {"now": NOW, "failed": FAILED, "idle": IDLE}.items():
        yield phase, text, fill, 4.5
    for phase, (_, _, _, text) in EDGE_LOOKS.items():
        yield phase, text, CARD, 4.5
    yield from [("title", INK, CARD, 4.5), ("what backward built", INK, BUILT, 4.5), ("box", INK, "#FFFFFF", 4.5)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read_on_its_ground(theme):
    for name, ink, ground, least in pairs():
        if theme == "dark":
            ink, ground = DARK[ink], DARK[ground]
        assert contrast(ink, ground) >= least, (name, ink, ground, contrast(ink, ground))


def test_a_drawing_brings_a_dark_look_for_every_colour_that_it_has():
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2).exp().sum()
    pictures = [mg.draw(y, view="both", saved=True, legend=True), mg.viz.trace(y.backward).replay(), mg.viz.legend()]
    for svg in [picture.svg for picture in pictures if picture.svg]:
        colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-fA-F]+|[a-z]+)"', svg)) - {"none", "transparent"}
        for colour in colours:
            assert f'="{colour}"]' in themed(svg), colour


@pytest.mark.parametrize("name", PALETTE)
def test_curves_stand_out_from_the_card(name):
    assert contrast(PALETTE[name], CARD) >= 3
    assert contrast(DARK[PALETTE[name]], DARK[CARD]) >= 3


def test_a_figure_is_a_drawing_with_a_dark_look_and_its_words():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from minigrad.viz.figures import html

    with mg.viz.style():
        figure = Figure()
        axes = figure.subplots()
        for _ in PALETTE:
            axes.plot([1, 2, 3])
        axes.set(title="The loss", xlabel="step")
        image = html(figure)
        assert image == html(figure), "the same in every run: what is stored changes only with what is drawn"
        assert image.startswith('<img alt="A plot. The loss; step"')
        svg = base64.b64decode(re.search('base64,([^"]+)', image)[1]).decode()
        for colour in [*PALETTE.values(), CARD]:
            assert f': {colour.lower()}"]' in svg.split("</style>")[0], colour
        axes.scatter(np.arange(9000), np.arange(9000))
        assert html(figure) is None


def test_black_text_of_a_figure_in_matplotlibs_own_style_is_light_on_a_dark_page():
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from minigrad.viz.figures import html

    with matplotlib.rc_context(matplotlib.rcParamsDefault):
        figure = Figure()
        figure.subplots().set_xlabel("x")
        svg = base64.b64decode(re.search('base64,([^"]+)', html(figure))[1]).decode()
    opening, rules = re.search(r"(<svg[^>]*>)<style>(.*?)</style>", svg, re.DOTALL).groups()
    assert "fill: #000000" in opening, "what has no colour of its own takes it from here"
    assert f'[style*="fill: #000000"]{{fill:{DARK["#000000"]}!important}}' in rules


def test_the_legend_explains_every_role_and_mark():
    explained = {name for kind, name in LEGEND if kind in ("role", "mark")}
    assert set(STYLES) - explained == {"number", "none"}  # drawn as constants; and says None
    assert set(MARKED) <= explained
    assert TENSORS <= set(STYLES)


def test_a_legend_names_only_what_is_there():
    x = mg.tensor(3.0, requires_grad=True)
    y = x * x
    picture = mg.draw(y, legend=True)
    assert picture.legend == (("role", "leaf"), ("role", "output"), ("role", "function"), ("role", "accumulate"))
    assert "saved for backward" not in picture.source and "gets a .grad" in picture.source
    y.backward()
    assert ("mark", "freed") in mg.draw(y, legend=True).legend
    assert mg.draw(y).legend == () and "gets a .grad" not in mg.draw(y).source


def test_the_whole_legend_is_a_picture():
    legend = mg.viz.legend()
    assert legend.legend == tuple(LEGEND)
    assert all(words in legend.text for words in LEGEND.values())
    if mg.viz.engine() != "text":
        assert legend.svg.startswith("<svg")


def test_figures_have_the_style_of_graphs():
    matplotlib = pytest.importorskip("matplotlib")
    before = matplotlib.rcParams["axes.facecolor"]
    with mg.viz.style():
        assert matplotlib.rcParams["axes.facecolor"] == CARD
        cycle = list(matplotlib.rcParams["axes.prop_cycle"])
        assert [entry["color"] for entry in cycle] == list(PALETTE.values())
        looks = {(entry["color"], entry["linestyle"]) for entry in cycle}
        assert len(looks) == len(cycle)
    assert matplotlib.rcParams["axes.facecolor"] == before
    width, dpi = STYLE["figure.figsize"][0], STYLE["figure.dpi"]
    assert width * dpi <= 700
    assert not set(STYLE) - set(matplotlib.rcParams)
