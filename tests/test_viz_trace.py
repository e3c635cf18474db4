"""A traced backward does what it always does, and the trace tells what the engine did, in its order."""

import base64
import random
import re
import sys
import threading
import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pytest
from test_viz_palette import DISTINCT, VISION, contrast, distance

import minigrad as mg
from minigrad.autograd import engine as autograd_engine
from minigrad.autograd import hooks as autograd_hooks
from minigrad.viz import layout
from minigrad.viz.dot import STYLES
from minigrad.viz.film import EDGE_LOOKS, FAILED, IDLE, NOW
from minigrad.viz.palette import CARD

SVG = "{http://www.w3.org/2000/svg}"
UNTOUCHED = autograd_engine.walk, autograd_engine.accumulate, autograd_hooks.retain


@pytest.fixture(autouse=True)
def nothing_stays_behind():
    yield
    assert (autograd_engine.walk, autograd_engine.accumulate, autograd_hooks.retain) == UNTOUCHED


def leaf(value):
    return mg.tensor(value, requires_grad=True)


def kinds(trace):
    return [event.kind for event in trace.events]


def diamond():
    x = leaf(3.0)
    a, b = x * 2, x * 5
    return x, a * b


DIAMOND = """\
backward from y in 5 steps
  1  y starts with the gradient 1.
  2  MulBackward0 (y.grad_fn): the whole gradient is there, 1.
       its derivatives are called with 1.
       what it saved is freed
       15. goes to MulBackward0 [n2], as input 0
       6. goes to MulBackward0 [n5], as input 1
  3  MulBackward0 [n5]: the whole gradient is there, 6.
       its derivatives are called with 6.
       what it saved is freed
       30. goes to x, as input 0
  4  MulBackward0 [n2]: the whole gradient is there, 15.
       its derivatives are called with 15.
       what it saved is freed
       30. goes to x, as input 0: 60. so far
  5  x: the whole gradient is there, 60.
       x.grad: None -> 60.
what each gradient is made of
  y: 1. = 1. to start with
  MulBackward0 [n2]: 15. = 15. from MulBackward0 (y.grad_fn) input 0
  MulBackward0 [n5]: 6. = 6. from MulBackward0 (y.grad_fn) input 1
  x: 60. = 30. from MulBackward0 [n5] input 0 + 30. from MulBackward0 [n2] input 0"""


def test_the_listing_of_a_diamond():
    x, y = diamond()
    trace = mg.viz.trace(y.backward)
    assert trace.text == repr(trace) == DIAMOND
    assert x.grad.item() == 60
    assert trace.graph.by_id["n4"].grad == "None", "the graph is the one before"
    assert "freed" not in trace.graph.by_id["n1"].marks


def test_a_second_backward_adds_to_what_was_there():
    x, y = diamond()
    y.backward(retain_graph=True)
    trace = mg.viz.trace(y.backward, retain_graph=True)
    assert x.grad.item() == 120
    assert "x.grad: 60. -> 120." in trace.text
    assert trace.text.endswith("; .grad 60. -> 120.")
    assert "free" not in kinds(trace)


def random_program(seed):
    """Leaves and an output of a random graph with small whole numbers, and all its nodes."""
    choose = random.Random(seed)
    leaves = [leaf(float(choose.randint(1, 3))) for _ in range(3)]
    values = list(leaves)
    for _ in range(8):
        a, b = choose.choice(values), choose.choice(values)
        values.append(choose.choice([mg.add, mg.sub, mg.mul, lambda a, b: a * 2])(a, b))
    total = mg.stack(values[-4:]).sum()
    return leaves, total


def nodes_of(tensor):
    found, stack = [], [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if node not in found:
            found.append(node)
            stack.extend(function for function, _ in node.next_functions if function is not None)
    return [node for node in found if type(node).__name__ != "AccumulateGrad"]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.filterwarnings("ignore:Using backward")
def test_order_and_gradients_are_those_that_hooks_see(seed, create_graph):
    """The same program twice: once with public hooks on every node, once traced."""
    leaves, total = random_program(seed)
    seen = []
    for node in nodes_of(total):
        node.register_prehook(lambda grads, node=node: seen.append((type(node).__name__, grads[0].tolist())))
    total.backward(create_graph=create_graph)
    expected = [x.grad and x.grad.item() for x in leaves]

    again, total = random_program(seed)
    trace = mg.viz.trace(total.backward, create_graph=create_graph)
    assert [x.grad and x.grad.item() for x in again] == expected
    names = trace.graph.by_id
    rules = [(names[e.node].name, e.value) for e in trace.events if e.kind == "rule"]
    assert rules == [(name, mg.viz.records.value_text(grad)) for name, grad in seen]


@pytest.mark.parametrize("seed", range(12))
def test_the_ledger_adds_up(seed):
    _, total = random_program(seed)
    ledger = mg.viz.trace(total.backward).ledger
    checked = 0
    for place, entries in ledger.entries.items():
        if "[" not in ledger.totals[place] and all("[" not in entry.value for entry in entries):
            assert float(ledger.totals[place]) == sum(float(entry.value) for entry in entries)
            checked += len(entries) > 1
    assert checked or seed not in (0, 1, 2)


def test_gathering_is_told_when_contributions_meet():
    x = leaf(2.0)
    y = x * x + x
    adds = [e for e in mg.viz.trace(y.backward).events if e.kind == "add"]
    to_x = [(e.value, e.before, e.position) for e in adds][1:]
    assert to_x == [("1.", "1.", 1), ("2.", "3.", 0), ("2.", "5.", 1)]


def test_several_roots_one_above_the_other():
    x = leaf(2.0)
    u = x * 2
    v = u * 3
    trace = mg.viz.trace(mg.autograd.backward, [v, u])
    assert trace.text.startswith("backward from v, u in 4 steps")
    assert "u: 4. = 1. to start with + 3. from MulBackward0 (v.grad_fn) input 0" in trace.text
    assert x.grad.item() == 8


def test_grad_accumulates_nothing_and_returns_what_it_keeps():
    x = leaf(2.0)
    h = x * 3
    y = h * h
    trace = mg.viz.trace(mg.autograd.grad, y, [x, h])
    assert [g.item() for g in trace.result] == [36, 12]
    assert "accumulate" not in kinds(trace) and x.grad is None
    assert "h: 12. is kept for the caller" in trace.text and "x: 36. is kept for the caller" in trace.text


def test_grad_goes_only_where_it_is_wanted():
    x, w = leaf(2.0), leaf(5.0)
    h = x * 3
    trace = mg.viz.trace(mg.autograd.grad, h * w, h)
    assert [e.value for e in trace.events if e.kind == "capture"] == ["5."]
    assert kinds(trace).count("rule") == 1
    assert "to w" not in trace.text


def test_inputs_are_added_to_in_the_walk():
    x, w = leaf(2.0), leaf(5.0)
    h = x * 3
    trace = mg.viz.trace((h * w).backward, inputs=[x, h])
    assert kinds(trace)[-3:] == ["add", "ready", "accumulate"] and "capture" not in kinds(trace)
    assert "h.grad: None -> 5. (retained)" in trace.text and "x.grad: None -> 15." in trace.text
    assert (x.grad.item(), h.grad.item(), w.grad) == (15, 5, None)


def test_a_node_with_several_outputs():
    x = leaf(2.0)
    p, q = (mg.ones(2) * x).unbind(0)
    r = p * q * q
    trace = mg.viz.trace(r.backward)
    assert x.grad.item() == 12
    ready = [
        (e.output, e.value) for e in trace.events if e.kind == "ready" and "Unbind" in trace.ledger.words.name(e.node)
    ]
    assert sorted(ready) == [(0, "4."), (1, "8.")]
    assert "UnbindBackward0 (p.grad_fn) output 1: 8. = 4." in trace.text
    assert "[4., 8.] goes to" in trace.text


def test_hooks_of_one_output_among_several():
    x = leaf(2.0)
    p, q = (mg.ones(2) * x).unbind(0)
    q.register_hook(lambda grad: grad * 10)
    q.retain_grad()
    trace = mg.viz.trace((p * q * q).backward)
    assert (x.grad.item(), q.grad.item()) == (84, 80)
    (turn,) = [step for step in trace.steps if any(e.kind == "hook" for e in step.events)]
    assert [(e.kind, e.output, e.value) for e in turn.events][:4] == [
        ("ready", 1, "8."),
        ("hook", 0, "80."),
        ("keep", 1, "80."),
        ("ready", 0, "4."),
    ]
    assert "its derivatives are called with 4., 80." in trace.text
    scene = trace.replay().scenes[turn.number - 1]
    assert "gradient 4., 80." in scene.lines[turn.node]


def test_create_graph_leaves_gradients_with_a_history():
    x = leaf(3.0)
    trace = mg.viz.trace(mg.autograd.grad, x**3, x, create_graph=True)
    (slope,) = trace.result
    assert "free" not in kinds(trace)
    second = mg.viz.trace(mg.autograd.grad, slope, x)
    assert second.result[0].item() == 18
    assert all(node.name != "partial" for node in second.graph.nodes)


def test_hooks_are_told_with_what_they_make_of_the_gradient():
    def double(grad):
        return grad * 2

    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.register_hook(double)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.item()))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    y.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, None))
    trace = mg.viz.trace((y * 1).backward)
    assert seen == [90, 90] and y.grad.item() == 2
    middle = next(step for step in trace.steps if any(e.kind == "keep" for e in step.events))
    assert [e.kind for e in middle.events] == ["ready", "hook", "keep", "hook", "rule", "hook", "free", "add"]
    assert middle.events[1].words == "double"
    assert "hook double is called and makes 2. of 1." in trace.text
    assert "y.grad: None -> 2. (retained)" in trace.text
    assert "90. goes to x, as input 0" in trace.text
    assert [e.kind for e in trace.steps[-1].events] == ["ready", "hook", "accumulate", "hook"]


def test_a_hook_that_changes_its_gradient_in_place_is_seen_to():
    x = leaf(2.0)
    y = x * 3
    y.register_hook(lambda grad: grad.mul_(5) and None)
    assert "makes 5. of 1." in mg.viz.trace((y * 1).backward).text
    assert x.grad.item() == 15


def test_hooks_and_derivatives_are_their_own_again_afterwards():
    x = leaf(2.0)
    y = x * 3

    def hook(grad):
        raise KeyError("on purpose")

    handle = y.register_hook(hook)
    node, kind = y._node, y._node._kind
    trace = mg.viz.trace((y * 1).backward)
    assert isinstance(trace.error, KeyError)
    assert trace.steps[-1].failed and trace.graph.by_id[trace.steps[-1].node].note == "y.grad_fn"
    assert node._kind is kind and list(node._hooks.tensor_hooks[0].values()) == [hook]
    handle.remove()
    (x * 3).backward()
    assert x.grad.item() == 3


def test_a_hook_that_removes_itself_stays_removed():
    x = leaf(2.0)
    y = x * 3
    handle = y.register_hook(lambda grad: handle.remove())
    mg.viz.trace(y.backward)
    assert not y._node._hooks.tensor_hooks[0]


def test_what_an_error_calls_a_hook_stays_its_name():
    def shrink(grad):
        return grad[:1]

    y = mg.ones(3, requires_grad=True) * 2
    y.register_hook(shrink)
    error = mg.viz.trace(y.sum().backward).error
    assert str(error) == "hook 'shrink' has changed the size of value"


class Fails(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("half-way")


class Misfits(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, grad):
        return grad, mg.ones(7)


def test_a_function_that_fails_half_way_ends_the_trace_there():
    x, w = leaf(2.0), leaf(3.0)
    trace = mg.viz.trace((Fails.apply(x * 2, w) * 5).backward)
    assert str(trace.error) == "half-way" and x.grad is None
    last = trace.steps[-1]
    assert trace.graph.by_id[last.node].name == "FailsBackward"
    assert [e.kind for e in last.events] == ["ready", "rule", "stop"]
    assert "stopped by ValueError: half-way" in trace.text
    assert trace.replay().scenes[-1].phases[last.node] == "failed"


def test_a_gradient_that_does_not_fit_is_told_on_its_edge():
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = Misfits.apply(x * 2, w).sum()
    trace = mg.viz.trace(y.backward)
    assert "invalid gradient at index 1" in str(trace.error)
    assert [e.kind for e in trace.events][-3:] == ["add", "refuse", "stop"]
    assert "shape (7,) cannot go to w, as input 1" in trace.text
    phases = [phase for phase, _ in trace.replay().scenes[-1].edges.values()]
    assert phases.count("failed") == 1


def test_a_call_that_is_refused_before_the_walk():
    x = mg.ones(3, requires_grad=True)
    trace = mg.viz.trace((x * 2).backward)
    assert trace.text.startswith("no backward\n  1  stopped by RuntimeError: grad can be implicitly created")
    assert "MulBackward0" in [node.name for node in trace.graph.nodes]
    assert trace.replay().text == trace.text


def test_a_call_that_does_nothing():
    trace = mg.viz.trace(lambda: 7)
    assert trace.result == 7 and trace.events == () and trace.text == "no backward"
    assert trace.replay()._repr_mimebundle_()["text/plain"] == trace.text


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="as in trace"):
        mg.viz.trace(leaf(1.0) * 2)


def test_an_interrupt_passes_through():
    def interrupted(grad):
        raise KeyboardInterrupt

    y = leaf(1.0) * 2
    y.register_hook(interrupted)
    with pytest.raises(KeyboardInterrupt):
        mg.viz.trace(y.backward)


def test_a_backward_inside_a_backward_is_told_of_and_not_mixed_in():
    x, w = leaf(2.0), leaf(3.0)

    def inner(grad):
        with mg.enable_grad():
            (w * w).backward()

    y = x * 3
    y.register_hook(inner)
    trace = mg.viz.trace((y * 2).backward)
    assert (x.grad.item(), w.grad.item()) == (6, 6)
    assert kinds(trace).count("inside") == 1 and kinds(trace).count("seed") == 1
    assert kinds(trace).count("accumulate") == 1


def test_a_function_of_ones_own_may_go_backward_more_than_once():
    x = leaf(2.0)

    def twice():
        (x * 3).backward()
        (x * 5).backward()

    trace = mg.viz.trace(twice)
    assert kinds(trace).count("seed") == 2 and kinds(trace).count("accumulate") == 2
    assert "x.grad: 3. -> 8." in trace.text
    assert trace.graph.by_id[next(n.id for n in trace.graph.nodes if n.role == "leaf")].grad == "None"
    scenes = trace.replay().scenes
    assert len(scenes) == len(trace.steps) == 6
    again = scenes[3]  # the second walk begins: nothing is left of the first but what it put into .grad
    assert sorted(again.phases.values()).count("idle") == len(again.phases) - 1
    assert any(lines[1:] == [".grad 3."] for lines in again.lines.values())


def test_another_threads_backward_is_not_noted():
    x, other = leaf(2.0), leaf(7.0)
    started, done = threading.Event(), threading.Event()

    def elsewhere():
        started.wait(10)
        (other * other).backward()
        done.set()

    def call():
        started.set()
        assert done.wait(10)
        (x * 3).backward()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    trace = mg.viz.trace(call)
    thread.join()
    assert other.grad.item() == 14 and x.grad.item() == 3
    assert kinds(trace).count("seed") == 1


def calls_of_backward():
    """Every Python function that a backward runs, in order, by file and name."""
    x = leaf(1.0)
    y = x
    for _ in range(5):
        y = y * 1.5
    y.register_hook(lambda grad: grad)
    found = []

    def note(frame, event, _):
        if event == "call":
            found.append((frame.f_code.co_filename, frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        y.backward()
    finally:
        sys.setprofile(before)
    return found


def test_an_untraced_backward_runs_the_code_that_it_ran_before():
    calls_of_backward()  # the first one puts minigrad's filter of warnings before pytest's
    before = calls_of_backward()
    mg.viz.trace((leaf(2.0) * 3).backward)
    assert calls_of_backward() == before
    assert len(before) > 3 and "viz" not in [Path(file).parent.name for file, _ in before]


# -- the film ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("vision", VISION.values(), ids=VISION)
def test_phases_are_told_apart_with_every_kind_of_colour_vision(vision):
    """Those with a line of one kind; the others differ in dashes or in its width, too."""
    functions = [STYLES["function"].fill, STYLES["accumulate"].fill]
    for fill in functions:
        assert distance(NOW[0], fill, vision) >= DISTINCT and distance(FAILED[0], fill, vision) >= DISTINCT
    assert distance(NOW[1], FAILED[1], vision) >= DISTINCT and NOW[2] != FAILED[2]
    assert min(contrast(look[4], look[0]) for look in (NOW, FAILED, IDLE)) >= 4.5
    assert min(contrast(ink, CARD) for *_, ink in EDGE_LOOKS.values()) >= 4.5


def film():
    x, w = leaf(2.0), leaf([1.0, 3.0])
    y = (x * w).sum()
    y.retain_grad()
    return mg.viz.trace((y * y + x).backward).replay()


def geometry(svg):
    """Where everything is: all points, paths and places of words."""
    root = xml.fromstring(svg)
    return [
        (e.tag, *(e.get(name) for name in ("points", "d", "cx", "cy", "rx", "x", "y", "width", "height")))
        for e in root.iter()
    ]


def test_frames_differ_only_in_colours_and_words(engine):
    drawing = film()
    assert len(drawing.frames) == len(drawing.steps) == 7
    places = [geometry(frame) for frame in drawing.frames]
    assert all(place == places[0] for place in places)
    assert len(set(drawing.frames)) == len(drawing.frames)


def test_a_frame_says_what_its_step_did(engine):
    drawing = film()
    for scene, frame in zip(drawing.scenes, drawing.frames, strict=True):
        said = [text.text or "" for text in xml.fromstring(frame).iter(f"{SVG}text")]
        expected = [line for lines in scene.lines.values() for line in lines if line]
        assert sorted(filter(None, said)) == sorted(
            [scene.title, *expected, *(la for _, la in scene.edges.values() if la)]
        )
    last = [text.text for text in xml.fromstring(drawing.frames[-1]).iter(f"{SVG}text")]
    assert ".grad 65." in last and ".grad [32., 32.]" in last


def test_the_graph_is_laid_out_once(monkeypatch):
    calls = []
    original = layout.render
    monkeypatch.setattr(layout, "render", lambda *args: calls.append(args) or original(*args))
    drawing = film()
    assert drawing.html and drawing.svg
    assert len(calls) == 1


def test_the_three_forms_of_a_film(engine):
    drawing = film()
    bundle = drawing._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/svg+xml"}
    assert bundle["text/plain"] == drawing.text == repr(drawing)
    html = bundle["text/html"]
    assert html.count("<details>") == len(drawing.steps) + 1
    assert html.count('<img alt="') == html.count('src="data:image/svg+xml;base64,') == len(drawing.steps) + 1
    assert html.count("<script>") == 1 and "<style" not in html and " id=" not in html and "http" not in html
    for data in re.findall(r"base64,([^\"]*)", html):
        xml.fromstring(base64.b64decode(data))
    strip = xml.fromstring(bundle["image/svg+xml"])
    assert len(strip.findall(f"{SVG}svg")) == len(drawing.steps)
    assert float(strip.get("width")) <= 700
    assert html == film().html


def test_without_an_engine_the_listing_stands_for_the_film(no_engine):
    drawing = film()
    bundle = drawing._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/html"].startswith("<pre>backward from") and layout.HELP in bundle["text/html"]
    assert drawing.frames == () and drawing.svg == ""


def test_saved_as_a_page_and_as_a_strip(tmp_path, capsys):
    drawing = film()
    drawing.save(tmp_path / "film.html")
    drawing.save(tmp_path / "film.svg")
    drawing.save(tmp_path / "film.gif")
    assert (tmp_path / "film.html").read_text("utf-8").endswith("</script>")
    assert xml.fromstring((tmp_path / "film.svg").read_text("utf-8")).tag == f"{SVG}svg"
    assert capsys.readouterr().out == "film.gif was not saved: the name must end in .html or .svg.\n"


def chain(length):
    y = x = leaf(1.0)
    for _ in range(length):
        y = y * 1.0
    return x, y


def test_a_long_film_is_thinned_with_a_count():
    _, y = chain(60)
    trace = mg.viz.trace(y.backward)
    assert len(trace.steps) == 62
    assert "  ... 22 steps are not listed: 22 × MulBackward0" in trace.text
    drawing = trace.replay()
    assert len(drawing.frames) == 40
    assert "... 22 steps are not shown ..." in drawing.html
    assert drawing.scenes[-1].title == "step 62 of 62"


def test_a_huge_trace_is_told_and_not_drawn(monkeypatch):
    monkeypatch.setattr(layout, "render", lambda *args: pytest.fail("it was laid out"))
    x, y = chain(10_000)
    trace = mg.viz.trace(y.backward)
    assert trace.text.count("\n") < 400
    assert len(trace.events) == 1 + 10_000 * 4 + 2  # the seed; ready, rule, free, add; ready, accumulate
    drawing = trace.replay()
    assert drawing.scenes == ()
    assert "10003 nodes are too many for a film." in drawing.html and len(drawing.html) < 60_000
    assert x.grad.item() == 1


def test_large_gradients_are_told_by_their_shape():
    w = mg.ones(4, 3, requires_grad=True)
    trace = mg.viz.trace((w * 2).sum().backward)
    assert "w.grad: None -> shape (4, 3)" in trace.text
    assert "shape (4, 3) goes to w, as input 0" in trace.text


def test_gradients_are_told_as_they_were_then():
    """What is noted is a copy: a later change of the seed or of .grad does not alter the trace."""
    x, seed = leaf([1.0, 2.0]), mg.tensor([1.0, 1.0])
    trace = mg.viz.trace((x * 2).backward, seed)
    seed.add_(5)
    x.grad.zero_()
    assert "starts with the gradient [1., 1.]" in trace.text and "x.grad: None -> [2., 2.]" in trace.text
    assert np.array_equal(x.grad.numpy(), [0, 0])


# -- engines of one's own -------------------------------------------------------------------------


class Own:
    def __init__(self, name, *next_nodes):
        self.name, self.next_nodes = name, next_nodes


def test_an_engine_of_ones_own_is_filmed_and_what_comes_too_late_is_said():
    x, constant = Own("leaf"), Own("leaf")
    h = Own("mul", x, None, constant)
    y = Own("add", h, h)
    turns = [
        (y, 1.0, (1.0, 2.0)),
        (h, np.array(3.0), (np.array([1.0, 2.0]), None, 5)),
        (x, 4.0, []),
        (y, 9.0, (7.0, 7.0)),
    ]
    film = mg.viz.replay(y, turns, names={x: "x", h: "h"})
    assert film.text.splitlines()[:9] == [
        "backward from add in 5 steps",
        "  1  add starts with the gradient 1.",
        "  2  add: its turn comes, with 1.",
        "       1. goes to mul (h), as input 0",
        "       2. goes to mul (h), as input 1: 3. so far",
        "  3  mul (h): its turn comes, with 3.",
        "       [1., 2.] goes to x, as input 0",
        "       5 goes to leaf, as input 2",
        "  4  x: its turn comes, with 4.",
    ]
    assert "7. too late goes to mul (h), as input 0: 10. so far" in film.text
    assert len(film.scenes) == 5 and film.scenes[3].lines["n2"] == ["x", ".grad 4."]


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        ([1.0], "a tuple (node, gradient, parts) for each turn"),
        ([(Own("mul"), 1.0, ())], "cannot be reached from the root"),
        ([("root", 1.0, (1.0, 2.0))], "mul has 1 next nodes, and its turn 2 parts"),
    ],
)
def test_turns_that_do_not_fit_are_refused_in_a_sentence(turns, problem):
    root = Own("mul", Own("leaf"))
    turns = [(root, *turn[1:]) if isinstance(turn, tuple) and turn[0] == "root" else turn for turn in turns]
    with pytest.raises((TypeError, ValueError), match=re.escape(problem)):
        mg.viz.replay(root, turns)
    with pytest.raises(TypeError, match=re.escape("nodes with .name and .next_nodes, not float")):
        mg.viz.replay(1.0, [])
