"""What chapter 10 asks of a learner's engine: minigrad does it, the small engine, and the solution in 150 lines."""

from pathlib import Path

import nbformat
import numpy as np
import pytest

pytest.importorskip("IPython")

import minigrad as mg
from exercises.checks import ch10, engines
from minigrad import small_engine
from minigrad.ops.shape import sum_to

SOLUTION = Path(__file__).resolve().parents[1] / "solutions" / "10_inside_the_engine.ipynb"


class Node:
    """A node of minigrad with the names that the exercise has for it."""

    def __init__(self, node):
        self.node = node

    @property
    def name(self):
        return self.node.op_name

    @property
    def next_nodes(self):
        return [seen(following) for following, _ in self.node.next_functions]


nodes: dict = {}  # one Node for each node, as long as it is alive


def seen(node):
    return nodes.setdefault(node, Node(node)) if node is not None else None


class Tensor:
    """A tensor of minigrad with the names that the exercise has for it."""

    __array_priority__ = 1

    def __init__(self, data, requires_grad=False):
        given = isinstance(data, mg.Tensor)
        self.inner = data if given else mg.tensor(np.array(data, float), requires_grad=requires_grad)

    @property
    def data(self):
        return self.inner.detach().numpy()

    @property
    def node(self):
        if self.inner.grad_fn is None and self.inner.requires_grad:
            return seen((self.inner * 1).grad_fn.next_functions[0][0])
        return seen(self.inner.grad_fn)

    @property
    def grad(self):
        return None if self.inner.grad is None else Tensor(self.inner.grad)

    @grad.setter
    def grad(self, value):
        self.inner.grad = value

    def backward(self, retain_graph=False, create_graph=False):
        self.inner.backward(retain_graph=retain_graph or create_graph, create_graph=create_graph)

    def sub_(self, amount):
        with mg.no_grad():
            self.inner.sub_(mg.tensor(amount))


def method(name):
    def apply(self, *others):
        inner = [other.inner if isinstance(other, Tensor) else other for other in others]
        inner = [mg.tensor(one) if isinstance(one, np.ndarray) else one for one in inner]
        return Tensor(getattr(self.inner, name)(*inner))

    return apply


for name in "add radd mul rmul sub pow matmul".split():
    setattr(Tensor, f"__{name}__", method(f"__{name}__"))
for name in "exp log tanh t".split():
    setattr(Tensor, name, method(name))
Tensor.sum = lambda self, shape=(): Tensor(sum_to(self.inner, shape))


@pytest.fixture(autouse=True)
def double_precision():
    before = mg.get_default_dtype()
    mg.set_default_dtype(mg.float64)
    yield
    mg.set_default_dtype(before)
    nodes.clear()


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.parametrize("stage", ch10.STAGES, ids=lambda stage: stage.__name__.strip("_"))
def test_minigrad_passes_what_a_learners_engine_has_to_pass(stage, monkeypatch):
    monkeypatch.setattr(engines.once, "__kwdefaults__", engines.once.__kwdefaults__ | {"never": ()})
    # the walk may be minigrad's here
    stage(Tensor)


@pytest.mark.parametrize("stage", ch10.STAGES, ids=lambda stage: stage.__name__.strip("_"))
def test_the_small_engine_passes_it_too(stage):
    stage(small_engine.Tensor)


def test_the_engine_of_the_solution_has_at_most_150_lines():
    (cell,) = (cell for cell in nbformat.read(SOLUTION, as_version=4).cells if cell.id == "answer-engine")
    given, _, written = cell.source.partition("### BEGIN SOLUTION\n")
    kept = given.partition("class Tensor:")[0]  # Node and needs are not written again
    assert len((kept + written.partition("\na = Tensor(")[0]).splitlines()) <= 150
