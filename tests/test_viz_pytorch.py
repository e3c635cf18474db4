"""PyTorch's tensors are drawn, compared, folded and traced as ours: the same program gives the same listing."""

import linecache
import re
import subprocess
import sys
import threading
import time
import timeit
import warnings
from pathlib import Path

import pytest

import minigrad as mg
from minigrad.autograd.node import creation_hooks

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="draws PyTorch's own graphs")


class Program:
    """A graph with a bit of everything."""

    def __init__(self, m):
        self.x = m.tensor([1.0, 2.0], requires_grad=True)
        self.w = m.tensor([3.0, 1.0], requires_grad=True)
        self.c = m.ones(2)
        self.y = self.x * self.w
        self.y.retain_grad()
        self.z = (m.exp(self.y) * self.c * 2).sum()
        self.cut = (self.y.detach() * self.x).sum()
        self.names = {name: thing for name, thing in vars(self).items() if hasattr(thing, "grad_fn")}


def listing(m, draw, **options) -> str:
    program = Program(m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return draw(program, {"params": program.names} | options)


def drawn(what="z", **more):
    return lambda p, options: mg.draw(getattr(p, what), **options | more).text


def freed(p, options):
    p.z.backward()
    return mg.draw(p.z, saved=True, **options).text


def overwritten(p, options):
    p.y.add_(1)
    return mg.draw(p.z, **options).text


def generations(p, options):
    with mg.viz.lines():
        (slope,) = (mg if isinstance(p.z, mg.Tensor) else sys.modules["torch"]).autograd.grad(
            p.z, p.x, create_graph=True
        )
    return mg.draw(p.z, slope, **options).text


def aliases(p, options):
    view, detached, data = p.y[:1], p.y.detach(), p.x.data
    array = data.numpy()
    return mg.draw(p.z, aliases=True, **options).text + str(len((view, detached, array)))


def cuts(p, options):
    held = p.y.detach()
    return mg.draw((held * p.x).sum(), cuts=True, **options).text


def hooks(p, options):
    p.y.register_hook(lambda grad: grad)
    p.x.register_hook(lambda grad: grad)
    return mg.draw(p.z, hooks=True, **options).text


def compared(p, options):
    before = mg.viz.snapshot(p.z, **options)
    p.z.backward()
    return str(mg.viz.compare(before, p.z, **options).sentences)


def marked(p, options):
    node = p.z.grad_fn.next_functions[0][0]
    return mg.draw(p.z, marks={p.x: "here", node: "there", (node, "other"): "its second"}, **options).text


def loop(p, options):
    state = p.x
    for _ in range(30):
        state = (state * p.w).tanh()
    return mg.draw(state, **options).text


def retraced(p, options):
    p.y.register_hook(lambda grad: grad * 2)
    return mg.viz.trace(p.z.backward, **options).text


def replayed(p, options):
    return "\n".join(scene.alt for scene in mg.viz.trace(p.z.backward, **options).replay().scenes)


DRAWN = {
    "kept": drawn(),
    "written": drawn(view="written"),
    "both": drawn(view="both"),
    "no values, no grads": drawn(values=False, grads=False),
    "shapes": drawn(shapes=True),
    "unused": drawn(unused=True),
    "written shapes": drawn(view="written", shapes=True),
    "freed": freed,
    "overwritten": overwritten,
    "generations": generations,
    "aliases": aliases,
    "cuts": cuts,
    "hooks": hooks,
    "compare": compared,
    "marks": marked,
    "loop": loop,
    "trace": retraced,
    "film": replayed,
}


@pytest.mark.parametrize("what", DRAWN)
def test_the_listing_is_that_of_minigrad(torch, what):
    ours, theirs = listing(mg, DRAWN[what]).splitlines(), listing(torch, DRAWN[what]).splitlines()
    if what == "freed":  # of what was not saved at all minigrad says so, too
        ours = [line for line in ours if line in theirs]
    assert theirs == ours, theirs


def test_what_was_freed_is_told_from_what_was_overwritten(torch):
    program = Program(torch)
    program.y.detach().add_(1)
    text = mg.draw(program.z, saved=True, params=program.names).text
    assert "FloatTensor [2] (saved at version 0, now 1)" in text or "result" in text
    other = (program.x * program.w).sum()
    program.w.data.add_(1)
    other.backward()
    assert "(freed)" in mg.draw(other, saved=True).text


def test_trace_leaves_no_hook_behind(torch):
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    run, calls = torch.autograd._engine_run_backward, []
    y.register_hook(calls.append)
    hooks = dict(y._backward_hooks)
    traced = [mg.viz.trace(y.backward, retain_graph=True) for _ in range(2)]
    assert len(traced[0].events) == len(traced[1].events) and len(calls) == 2
    assert torch.autograd._engine_run_backward is run and dict(y._backward_hooks) == hooks
    y.backward()
    assert x.grad == 12 and len(calls) == 3


def test_what_a_hook_has_packed_is_not_unpacked_for_a_picture(torch):
    runs = []

    def part(t):
        runs.append(t)
        return (t * t).exp()

    x = torch.ones(2, requires_grad=True)
    loss = torch.utils.checkpoint.checkpoint(part, x * 1, use_reentrant=False).sum()
    assert "packed by a hook" in mg.draw(loss, saved=True).text and mg.make_dot(loss, show_saved=True).source
    assert len(runs) == 1
    loss.backward()
    assert len(runs) == 2 and x.grad is not None


def test_what_other_threads_do_is_not_noted(torch):
    x = torch.ones(2, requires_grad=True)
    with mg.viz.lines() as log:
        thread = threading.Thread(target=lambda: (x * 2).sum().backward())
        thread.start()
        thread.join()
    assert log.calls == [] and x.grad is not None


def test_lines_are_put_on_and_taken_off(torch):
    before = torch.autograd.backward, vars(torch.autograd.Function)["apply"], dict(vars(mg.Tensor))
    with mg.viz.lines() as log:
        torch.ones(2) + 1
    count = len(log.calls)
    torch.ones(2) + 1
    assert count == len(log.calls) == 2
    assert before == (torch.autograd.backward, vars(torch.autograd.Function)["apply"], dict(vars(mg.Tensor)))


def test_a_call_costs_nothing_outside_and_inside_what_is_printed(torch, capsys):
    """The promise is 15 microseconds a call; how fast a machine is, no test decides."""
    x, w, y = torch.ones(3), torch.ones(3, 3, requires_grad=True), torch.ones(3)
    calls = [lambda: w * 2, lambda: torch.relu(w), lambda: x @ w, lambda: y.add_(1)]

    def cost(call) -> float:
        return min(timeit.repeat(call, number=300, repeat=15, timer=time.thread_time)) / 300

    outside = [cost(call) for call in calls]
    with mg.viz.lines():
        inside = [cost(call) for call in calls]
    most = max(b - a for a, b in zip(outside, inside, strict=True))
    with capsys.disabled():
        print(f"\na call inside lines(): {most * 1e6:.1f} us more")
    assert not creation_hooks and torch.overrides._get_current_function_mode_stack() == []


def test_minigrad_does_not_import_pytorch():
    program = (
        "import sys, minigrad as mg\nwith mg.viz.lines():\n    mg.draw(mg.ones(2) * 2)\nprint('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_transformer_is_drawn_by_its_modules(torch):
    block = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    loss = block(torch.ones(1, 4, 16)).sum()
    shown = {node.name for node in mg.draw(loss).shown[0].nodes}
    assert {"block.norm1", "block.norm2", "block.linear1", "block.linear2", "ReluBackward0"} <= shown and len(
        shown
    ) < 20
    names = {node.name for node in mg.draw(block(torch.ones(1, 4, 16)).sum(), params=block).shown[0].nodes}
    assert {"norm1", "norm2", "linear1", "linear2"} <= names, "a Module gives its parameters' names"
    net = torch.nn.TransformerEncoder(block, 6)
    loss = net(torch.ones(1, 4, 16)).sum()
    names = [node.name for node in mg.draw(loss).shown[0].nodes]
    assert [name for name in names if "." in name] == [f"net.layers.{i}" for i in reversed(range(6))]


def test_without_lines_the_node_is_marked_and_no_line_of_pytorch_is_called_yours(torch):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    h = w * 2
    loss = (h * h).sum()
    h += 1
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    why = mg.viz.explain(caught.value)
    assert why.story is None and "%%explain" in why.advice and why.code == "loss.backward()"
    assert "self = FloatTensor [2] (saved at version 0, now 1, ! overwritten since)" in why.picture.text


def test_what_was_compiled_or_hidden_is_said_to_be_unseen(torch):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    h = w * 2
    with pytest.raises(RuntimeError) as caught, mg.viz.lines():
        loss = (h * h).sum()
        with torch._C.DisableTorchFunction():
            h.add_(1)
        loss.backward()
    story = mg.viz.explain(caught.value).story
    assert "h * h" in story.saved.text and not story.overwritten and "Not all" in "".join(story.sentences)


def test_the_readme_shows_what_its_program_says(torch, capsys):
    root = Path(__file__).resolve().parents[1]
    section = (root / "README.md").read_text(encoding="utf-8").split("## Your own PyTorch program")[1]
    program, said = (re.search(rf"```{kind}\n(.*?)```", section, re.DOTALL)[1] for kind in ("python", "text"))
    linecache.cache["train.py"] = len(program), None, program.splitlines(True), "train.py"
    space = {"__name__": "__main__"}
    exec(compile(program, "train.py", "exec"), space)
    assert capsys.readouterr().out == said
    stored = (root / "notebooks" / "explained.svg").read_text(encoding="utf-8")
    for words in ("backward would fail here", "saved at version 0, now 1", "! overwritten since", "loss = 20."):
        assert words in stored and words in space["why"].picture.text
