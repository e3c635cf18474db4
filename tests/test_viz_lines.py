"""`lines` and `explain` name the variable, the line that saved it and those that overwrote it, PyTorch's and ours."""

import linecache
import warnings

import pytest
from blame_programs import CASES, TORCH_CASES, Program

import minigrad as mg


def explained(m, program: Program):
    """What `explain` says of the error that a program ends with, under `lines`."""
    file = f"<{program.name}>"
    linecache.cache[file] = len(program.source), None, program.source.splitlines(True), file
    with warnings.catch_warnings(), pytest.raises(RuntimeError) as caught:
        warnings.simplefilter("ignore")
        with mg.viz.lines():
            exec(compile(program.source, file, "exec"), {"m": m, "__name__": "__main__"})
    return mg.viz.explain(caught.value)


def check(m, program: Program) -> None:
    story = explained(m, program).story
    assert story is not None and story.sentences and story.repair
    assert story.variable == program.variable, story.sentences
    for word, expected in program.lines.items():
        found = getattr(story, word)
        found = found if isinstance(found, tuple) else (found,)
        assert {line.number for line in found} == {number for number, _ in expected}, story.sentences
        for number, times in expected:
            assert not times or times in {line.times for line in found if line.number == number}, story.sentences
        told = "\n".join(story.sentences)
        assert all(f"line {line.number}, `{line.text}`" in told for line in found), told


@pytest.mark.parametrize("name", CASES)
def test_the_lines_of_a_misuse_are_named(name):
    check(mg, CASES[name])


@pytest.mark.torch
@pytest.mark.parametrize("name", CASES | TORCH_CASES)
def test_the_same_of_pytorch(name):
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    torch.manual_seed(0)
    check(torch, (CASES | TORCH_CASES)[name])


def test_there_are_thirty_and_ten_of_them_from_public_issues():
    assert len(CASES) >= 30 and sum(bool(program.issue) for program in CASES.values()) >= 10


def test_a_line_of_another_package_is_named_with_the_line_that_called_it():
    file = "/somewhere/site-packages/package/layers.py"
    source = "def scale(h):\n    h.mul_(2)\n"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    exec(compile(source, file, "exec"), package := {"__name__": "package.layers"})
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError) as caught, mg.viz.lines():
        h = w * 2
        loss = (h * h).sum()
        package["scale"](h)
        loss.backward()
    (line,) = mg.viz.explain(caught.value).story.overwritten
    assert (line.place, line.text) == ("line 2 of layers.py", "h.mul_(2)")
    assert line.callers[0].text == 'package["scale"](h)'
