"""In which round of a loop a call was made: the runs of the user's own line, not the calls inside of a library."""

import linecache
import sys

import pytest

import minigrad as mg

# Each program: its source, its line that is looked at, and the rounds that it has to be told with, in order.
BOTH = {
    "a loop": ("for i in range(3):\n    h = w * 2\n", 2, ["1 of 3", "2 of 3", "3 of 3"]),
    "no loop": ("h = w * 2\nh = h * 2\n", 2, ["1 of 1"]),
    "two calls in a line": ("for i in range(2):\n    h = w * 2 + w * 3\n", 2, 3 * ["1 of 2"] + 3 * ["2 of 2"]),
    "a method twice in a line": ("for i in range(2):\n    w.sin().sin()\n", 2, 2 * ["1 of 2"] + 2 * ["2 of 2"]),
    "nested loops": (
        "for i in range(2):\n    for j in range(2):\n        w * 2\n",
        3,
        [f"{i} of 4" for i in (1, 2, 3, 4)],
    ),
    "a comprehension": ("def f():\n    return [w * 2 for _ in range(3)]\nf()\n", 2, ["1 of 3", "2 of 3", "3 of 3"]),
    "a generator expression": (
        "def f():\n    return list(w * 2 for _ in range(2))\nfor i in range(2):\n    f()\n",
        2,
        ["1 of 4", "2 of 4", "3 of 4", "4 of 4"],
    ),
    "recursion": (
        "def f(h, n):\n    h = h * 2\n    return f(h, n - 1) if n else h\nf(w, 3)\n",
        2,
        ["1 of 1", "1 of 3", "2 of 3", "3 of 3"],  # once called by line 4, three times by line 3
    ),
    "deep recursion": (
        "def f(h, n):\n    h = h * 2\n    return f(h, n - 1) if n else h\nf(w, 20)\n",
        2,
        ["1 of 1", *[f"{i} of 20" for i in range(1, 21)]],
    ),
    "a generator": (
        "def g():\n    for i in range(3):\n        yield w * 2\nfor h in g():\n    h + 1\n",
        3,
        ["1 of 3", "2 of 3", "3 of 3"],
    ),
    "a helper called from two lines": (
        "def f(h):\n    return h * 2\nfor i in range(2):\n    h = f(w)\n    h = f(h)\n",
        2,
        ["1 of 2", "1 of 2", "2 of 2", "2 of 2"],
    ),
    "a helper called twice in a line": (
        "def f(h):\n    return h * 2\nfor i in range(2):\n    h = f(w) + f(w)\n",
        2,
        [f"{i} of 4" for i in (1, 2, 3, 4)],
    ),
    "sum() adds several times": ("for i in range(2):\n    h = sum([w, w, w])\n", 2, 6 * ["1 of 1"]),
    "a function of the user's that a library calls": (
        "def f(h):\n    return h * 2\nfor i in range(2):\n    list(map(f, [w, w]))\n",
        2,
        [f"{i} of 4" for i in (1, 2, 3, 4)],
    ),
}
TORCH = {
    "a Module twice in Sequential": (
        "a = m.nn.Linear(2, 2)\nnet = m.nn.Sequential(a, m.nn.ReLU(), a)\nfor i in range(2):\n    net(w)\n",
        4,
        3 * ["1 of 2"] + 3 * ["2 of 2"],
    ),
    "a Module once": (
        "net = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.Linear(2, 2))\nnet(w)\n",
        2,
        2 * ["1 of 1"],
    ),
    "a Module in a comprehension": (
        "a = m.nn.Linear(2, 2)\nnet = m.nn.Sequential(a, a)\nh = [net(w) for _ in range(2)]\n",
        3,
        2 * ["1 of 2"] + 2 * ["2 of 2"],
    ),
    "a Module of the user's": (
        "class Net(m.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = m.nn.Linear(2, 2)\n"
        "    def forward(self, x):\n        x = self.a(x)\n        return self.a(x)\n"
        "net = Net()\nfor i in range(2):\n    net(w)\n",
        7,
        ["1 of 2", "2 of 2"],
    ),
    "a Module of the user's in Sequential": (
        "class Twice(m.nn.Module):\n    def forward(self, x):\n        return x * 2\n"
        "net = m.nn.Sequential(Twice(), Twice())\nfor i in range(2):\n    net(w)\n",
        3,
        [f"{i} of 4" for i in (1, 2, 3, 4)],
    ),
    "an LSTM without batches": (
        "net = m.nn.LSTM(2, 2)\nx = m.ones(3, 2)\nfor i in range(2):\n    out, state = net(x)\n",
        4,
        None,
    ),
    "attention": (
        "net = m.nn.MultiheadAttention(2, 1)\nx = m.ones(3, 2)\nfor i in range(2):\n    net(x, x, x)\n",
        4,
        ["1 of 2", "2 of 2"],
    ),
    "a transformer": (
        "layer = m.nn.TransformerEncoderLayer(2, 1, 4, dropout=0.0)\n"
        "net = m.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)\n"
        "x = m.ones(3, 2)\nfor i in range(2):\n    net(x)\n",
        5,
        None,
    ),
    "an optimizer": (
        "v = m.ones(2, requires_grad=True)\nopt = m.optim.SGD([w, v], lr=0.1, foreach=False)\n"
        "for i in range(2):\n    opt.zero_grad()\n"
        "    (w * v).sum().backward()\n    opt.step()\n",
        6,
        None,
    ),
    "a checkpoint": (
        "from torch.utils.checkpoint import checkpoint\ndef f(h):\n    return h.sin()\nfor i in range(2):\n"
        "    checkpoint(f, w, use_reentrant=False)\n",
        3,
        ["1 of 2", "2 of 2"],
    ),
}


def rounds_of(m, name: str, source: str, line: int) -> list[str]:
    """The rounds with which each call of a line is told."""
    file = f"<{name}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    space = {"m": m, "w": m.ones(2, 2, requires_grad=True), "__name__": "__main__"}
    with mg.viz.lines() as log:
        exec(compile(source, file, "exec"), space)
    told = [log.line(i) for i in range(len(log.calls))]
    assert not [each for each in told if each.text not in source], "no line of a library"
    return [f"{each.times} of {each.total}" for each in told if each.number == line]


@pytest.mark.parametrize("name", BOTH)
def test_the_round_is_that_of_your_line(name):
    source, line, expected = BOTH[name]
    assert rounds_of(mg, name, source, line) == expected


@pytest.mark.torch
@pytest.mark.parametrize("name", BOTH | TORCH)
def test_the_same_in_pytorch(name):
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    source, line, expected = (BOTH | TORCH)[name]
    found = rounds_of(torch, name, source, line)
    if expected is None:  # how many calls one run makes is PyTorch's affair
        expected = [f"{i} of 2" for i in (1, 2) for _ in range(len(found) // 2)]
        assert len(found) > 2
    assert found == expected


@pytest.mark.torch
def test_a_tracer_is_left_in_peace():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    seen, file = [], sys.modules["torch.nn.modules.module"].__file__

    def trace(frame, event, arg):
        if frame.f_code.co_filename == file:
            seen.append(event)
            return trace
        return None

    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    before = sys.gettrace()
    with mg.viz.lines() as log:
        sys.settrace(trace)
        try:
            for _ in range(2):
                net(torch.ones(2))
        finally:
            sys.settrace(before)
    assert {"call", "line", "return"} <= set(seen)
    found = [log.line(i) for i, call in enumerate(log.calls) if not call.direct]
    assert found and {(line.times, line.total) for line in found} == {(1, 1)}, "it does not say what it cannot count"


def test_of_a_package_your_line_is_counted():
    file, source = (
        "/somewhere/site-packages/package/twice.py",
        "def twice(h):\n    for _ in range(2):\n        h = h * 2\n",
    )
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    exec(compile(source, file, "exec"), package := {"__name__": "package.twice"})
    with mg.viz.lines() as log:
        for _ in range(3):
            package["twice"](mg.ones(2))
    found = [str(log.line(i)) for i, call in enumerate(log.calls) if call.op == "__mul__"]
    assert [text.split("the ")[1].split(" times")[0] for text in found] == 2 * ["1st of 3"] + 2 * ["2nd of 3"] + 2 * [
        "3rd of 3"
    ]
    assert found[0].startswith("line 3 of twice.py, `h = h * 2` (in twice(), called by line ")


def test_what_was_forgotten_is_not_counted(monkeypatch):
    monkeypatch.setattr(sys.modules["minigrad.viz.lines"], "MAX_CALLS", 4)
    w = mg.ones(2)
    with mg.viz.lines() as log:
        for _ in range(6):
            w * 2
    assert log.forgotten and {log.line(i).total for i in range(len(log.calls))} == {1}
