"""Bytes in pictures: each memory once, at the tensor that owns it; the same for PyTorch's tensors."""

import numpy as np
import pytest

import minigrad as mg
from minigrad.viz import record


def notes(graph):
    return [(node.name, node.note) for node in graph.nodes if node.note]


def program(m):
    x = m.ones(100, requires_grad=True)
    h = m.exp(x)
    y = h[:50] * x[50:]
    return x, h, y


def test_each_memory_is_counted_once():
    x, h, y = program(mg)
    graph = record(y, params={"x": x, "h": h, "y": y}, saved=True, memory=True)
    assert graph.captions == ("1,000 bytes: 400 in leaves, 200 in results, 400 saved for backward",)
    assert [note for name, note in notes(graph) if name == "x"] == ["400 bytes"]
    saved = [note.split("\n")[-1] for name, note in notes(graph) if name in ("self", "other", "result")]
    assert sorted(saved) == ["400 bytes", "on the memory of result", "on the memory of x"]


def test_without_the_boxes_the_nodes_say_it():
    x, _, y = program(mg)
    graph = record(y, params={"x": x, "y": y}, memory=True)
    assert [node.name for node in graph.nodes if "keeps 400 bytes" in node.note] == ["ExpBackward0"]  # which made it
    assert graph.captions[-1].startswith("1,000 bytes")


def test_freed_and_packed():
    x = mg.ones(10, requires_grad=True)
    y = mg.exp(x)
    z = y.sum()
    del y
    assert "40 saved for backward" in record(z, memory=True).captions[-1]
    z.backward()
    assert "saved" not in record(z, memory=True).captions[-1]
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
        z = mg.exp(x).sum()
    assert "20 saved for backward" in record(z, memory=True, saved=True).captions[-1]
    with mg.autograd.graph.saved_tensors_hooks(lambda t: t.numpy().copy(), mg.tensor):
        z = mg.exp(x).sum()
    assert "40 saved for backward" in record(z, memory=True).captions[-1]


def test_what_you_wrote_and_arrays():
    x, h, y = program(mg)
    graph = record(y, params={"x": x, "h": h, "y": y}, view="written", memory=True)
    assert graph.captions == ("1,000 bytes: 400 in leaves, 600 in results",)
    a = np.zeros(4, dtype=np.float32)
    t = mg.from_numpy(a).requires_grad_()
    graph = record(t * 2, params={"t": t, "a": a}, aliases=True, memory=True)
    assert ("a", "on the memory of t") in notes(graph)


@pytest.mark.torch
def test_the_same_for_pytorch():
    torch = pytest.importorskip("torch", reason="draws its graphs")
    x, h, y = program(torch)
    mine = program(mg)
    options = {"saved": True, "memory": True}
    theirs = record(y, params={"x": x, "h": h, "y": y}, **options)
    assert theirs.captions == record(mine[2], params=dict(zip("xhy", mine, strict=True)), **options).captions


def test_tensors_say_their_bytes():
    x = mg.zeros(6, dtype=mg.float64)
    part = x[::2]
    assert (x.element_size(), x.nbytes, part.nbytes, part.untyped_storage().nbytes()) == (8, 48, 24, 48)
    assert (
        part.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() != mg.zeros(6).untyped_storage().data_ptr()
    )
