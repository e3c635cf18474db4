"""%%versus: both sides of a cell, in a real IPython shell; the recordings against PyTorch, where it is installed."""

import json
import sys
import warnings
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

import minigrad as mg
from minigrad.jupyter import versus
from minigrad.jupyter.versus import CannotCompare, Cell, Comparison, compare
from tools.record_transcripts import as_stored, in_the_course

HALF = "half = mg.tensor(6.0).requires_grad_() / 2"


@pytest.fixture(autouse=True)
def asks_pytorch(monkeypatch):
    """As in a notebook that is run, not stored."""
    monkeypatch.delenv("MINIGRAD_VERSUS", raising=False)


@pytest.fixture
def no_pytorch(monkeypatch):
    """As where PyTorch is not installed, whether it is here or not."""
    monkeypatch.setattr(versus, "installed_pytorch", lambda: None)


@pytest.fixture
def recorded(no_pytorch, tmp_path, monkeypatch):
    """Store `rows` as what PyTorch said to the cell with this text."""

    def store(source, rows):
        monkeypatch.setattr(versus, "TRANSCRIPTS", tmp_path / "transcripts.json")
        content = {"pytorch": "9.8.7", "cells": {Cell.of(source).source: rows}}
        versus.TRANSCRIPTS.write_text(as_stored(content), encoding="utf-8")

    return store


def ours(code, names=""):
    """What the lines of a cell say under minigrad."""
    return versus.run(Cell.of(f"%%versus {names}\n{code}"), mg)


# ---------------------------------------------------------------------- one side


def test_a_row_is_what_a_line_prints_warns_and_gives():
    says = ours(f"{HALF}\nprint('one'); half.is_leaf\nhalf.grad\nNone")
    assert says[:3] == ["", "one", "False"]
    assert says[3].startswith("UserWarning: The .grad attribute of a Tensor that is not a leaf")
    assert says[4] == ""
    assert ours("def f():\n    print('two')\n    return mg.ones(2).grad\nf()") == ["", "two"]


def test_an_error_ends_the_cell_with_its_type_and_first_line():
    says = ours("mg.tensor(2, requires_grad=True)\nprint('never')")
    assert says == ["RuntimeError: Only Tensors of floating point and complex dtype can require gradients", None]
    assert ours("print('before'), 1 / 0") == ["before\nZeroDivisionError: division by zero"]
    assert ours("raise ValueError('one\\ntwo')") == ["ValueError: one"]


def test_a_value_that_cannot_be_shown_is_an_error_of_its_line():
    says = ours("class Odd:\n    def __repr__(self):\n        raise ValueError('no')\nOdd()")
    assert says == ["", "ValueError: no"]


def test_warnings_come_each_time_and_numpy_stays_silent():
    first, second = (ours(f"{HALF}\nhalf.grad")[1] for _ in range(2))
    assert first == second != ""
    assert ours("mg.tensor(1.0) / 0, mg.tensor(0.0).log()") == ["(tensor(inf), tensor(-inf))"]


def library(**names):
    """A library with minigrad's modes and these names."""
    modes = ("Tensor", "enable_grad", "float32", "get_default_dtype", "set_default_dtype")
    return SimpleNamespace(**{name: vars(mg)[name] for name in modes}, **names)


def test_pytorchs_places_and_addresses_are_left_out():
    def slow():
        warnings.warn("slow (Triggered internally at /build/x.cpp:493.)", stacklevel=1)
        return print("<MulBackward0 object at 0x7f00aa>, <function f at 0x1>")

    said = versus.run(Cell.of("%%versus\nmg.slow()"), library(slow=slow))
    assert said == ["<MulBackward0>, <function f>\nUserWarning: slow"]


def test_the_facts_about_a_tensor():
    says = ours(f"{HALF}\nhalf.mul_(5)\n(half * half).backward()\nn = 5", "half n nobody")
    facts = dict(zip(Cell.of(f"%%versus half n nobody\n{HALF}\n1\n2\n3").labels, says, strict=True))
    assert facts["half"] == "tensor(15., grad_fn=<MulBackward0>)"
    assert (facts["half.dtype"], facts["half.requires_grad"], facts["half.is_leaf"]) == (
        "torch.float32",
        "True",
        "False",
    )
    assert facts["half.grad_fn"] == "MulBackward0"
    assert facts["nodes behind half"] == "MulBackward0, DivBackward0, AccumulateGrad"
    assert (facts["half._version"], facts["half.grad"]) == ("1", "None")
    assert (facts["n"], facts["n.dtype"], facts["nobody"], facts["nobody.grad"]) == ("5", "", "not made", "")


def test_a_fact_that_a_tensor_refuses_is_its_error():
    class Shy(SimpleNamespace):
        @property
        def _version(self):
            raise RuntimeError("Inference tensors do not track version counter.\nand more")

    shy = library(shy=Shy(dtype="d", requires_grad=False, is_leaf=True, grad_fn=None, grad=None))
    shy.Tensor = Shy
    cell = Cell.of("%%versus x\nx = mg.shy")
    facts = dict(zip(cell.labels, versus.run(cell, shy), strict=True))
    assert facts["x._version"] == "RuntimeError: Inference tensors do not track version counter."
    assert (facts["x.is_leaf"], facts["x.grad_fn"], facts["nodes behind x"]) == ("True", "None", "")


def test_the_notebooks_modes_neither_reach_the_cell_nor_change():
    code = "print(mg.is_grad_enabled(), mg.get_default_dtype())\nmg.set_grad_enabled(False)\n"
    mg.set_default_dtype(mg.float64)
    try:
        assert ours(code + "mg.set_default_dtype(mg.float16)\n1 / 0")[0] == "True torch.float32"
        assert (mg.is_grad_enabled(), mg.get_default_dtype()) == (True, mg.float64)
        with mg.no_grad():
            assert ours(code)[0] == "True torch.float32"
            assert not mg.is_grad_enabled()
    finally:
        mg.set_default_dtype(mg.float32)


def test_a_hundred_thousand_nodes_are_named():
    cell = Cell.of("%%versus x\nx = mg.ones(1, requires_grad=True)\nfor _ in range(100_000): x = -x")
    says = dict(zip(cell.labels, versus.run(cell, mg), strict=True))
    assert says["nodes behind x"].count("NegBackward0") == 100_000


# ---------------------------------------------------------------------- the cell


def test_space_at_the_ends_makes_no_other_cell():
    assert Cell.of("%%versus x \nx = 1  \r\n\n").source == Cell.of("%%versus x\nx = 1").source == "%%versus x\nx = 1"
    assert Cell.of("%%versus\nx = 1").source != Cell.of("%%versus\nx = 2").source


def test_what_a_cell_needs_from_elsewhere():
    code = """
        import math
        def f(x, k=far):
            global made
            made = [x + outer for x in range(3)]
            return math.pi, inner
        class A(mg.autograd.Function):
            y = f(1)
        inner = far.near
        """
    lines = [line[8:] for line in code.splitlines()]
    assert Cell.of("%%versus\n" + "\n".join(lines[1:])).needs - {"range"} == {"mg", "far", "outer"}


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("%%versus x, y\nx = 1", "`%%versus x, y` is not understood; write `%%versus`, or `%%versus x y` with names."),
        ("%%versus\nx = 1\nx =", "line 3 is not Python: invalid syntax."),
        ("%%versus\nreturn", "line 2 is not Python: 'return' outside function."),
        ("%%versus\nimport torch.nn as nn", "leave out the import of `torch.nn`; `mg` is there"),
        ("%%versus\nfrom minigrad import tensor", "leave out the import of `minigrad`; `mg` is there"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(source, sentence):
    with pytest.raises(CannotCompare) as refused:
        Cell.of(source)
    assert str(refused.value).startswith(sentence)
    assert refused.value._render_traceback_() == [f"%%versus: {refused.value}"]


# ---------------------------------------------------------------------- both sides


def test_the_recording_is_shown_and_named(recorded):
    source = "%%versus\nx = mg.ones(2)\nx.sum()\nx.nonsense\nx"
    no_such = "AttributeError: 'Tensor' object has no attribute 'nonsense'"
    recorded(source, ["", "tensor(2.)", "a dream\nof two lines", ""])
    both = compare(Cell.of(source + "  \n"))
    assert both.origin == "recorded from PyTorch 9.8.7"
    assert repr(both) == (
        "minigrad and PyTorch say the same in 1 of 2 rows.\n"
        "  x.sum()\n"
        "    both      tensor(2.)\n"
        "  x.nonsense\n"
        f"    minigrad  {no_such}\n"
        "    PyTorch   a dream\n"
        "              of two lines"
    )


def test_a_line_that_only_one_side_reaches_or_answers(recorded):
    recorded("%%versus\n1 / 0\nprint(5)\n7", ["", "5", None])
    assert repr(compare(Cell.of("%%versus\n1 / 0\nprint(5)\n7"))).splitlines()[1:] == [
        "  1 / 0",
        "    minigrad  ZeroDivisionError: division by zero",
        "    PyTorch   (nothing)",
        "  print(5)",
        "    minigrad  (not reached)",
        "    PyTorch   5",
    ]


def test_a_changed_cell_shows_no_wrong_recording(recorded):
    recorded("%%versus\nmg.ones(2)", ["tensor([1., 1.])"])
    both = compare(Cell.of("%%versus\nmg.ones(1)"))
    assert "no recording of this cell" in repr(both) and "no recording of this cell" in both._html()
    assert [answers for _, answers in both.rows] == [[("minigrad", "tensor([1.])")]]


def test_silence_is_said(recorded):
    recorded("%%versus\nx = 1", [""])
    assert repr(compare(Cell.of("%%versus\nx = 1"))).startswith("Nothing was said. End the cell with a value")


def test_an_installed_pytorch_is_asked_instead(recorded, monkeypatch):
    recorded("%%versus\nmg.ones(1)", ["the recording"])
    stored = repr(compare(Cell.of("%%versus\nmg.ones(1)")))
    torch = library(__version__="9.9.0+cpu", ones=lambda size: print("the recording"))
    monkeypatch.setattr(versus, "installed_pytorch", lambda: torch)
    both = compare(Cell.of("%%versus\nmg.ones(1)"))
    assert (both.theirs, both.origin) == (["the recording"], "run with PyTorch 9.9.0")
    assert repr(both) == stored
    monkeypatch.setenv("MINIGRAD_VERSUS", "recorded")
    assert compare(Cell.of("%%versus\nmg.ones(1)")).origin == "recorded from PyTorch 9.8.7"


def test_minigrad_in_the_place_of_torch_is_no_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", mg)
    assert versus.installed_pytorch() is None


def test_a_torch_that_is_missing_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert versus.installed_pytorch() is None


class Table(HTMLParser):
    """Rows of (tag, attributes, text), and the text of the caption."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.caption, self.tags = [], "", []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        while self.tags.pop() != tag:
            pass

    def handle_data(self, data):
        if "caption" in self.tags:
            self.caption += data
        else:
            self.rows[-1][-1][2] += data


def test_the_table_says_in_words_and_in_structure_what_is_the_same():
    cell = Cell.of("%%versus\n'<a>'\n2")
    table = Table(Comparison(cell, ["'<a>'", "2"], ["'<a>'", "3"], "recorded from PyTorch 9.8.7")._html())
    texts = [[text for _, _, text in row] for row in table.rows]
    assert texts == [["line", "minigrad", "PyTorch", "verdict"], ["'<a>'", "'<a>'", "same"], ["2", "2", "3", "differs"]]
    assert "in 1 of 2 rows" in table.caption and "recorded from PyTorch 9.8.7" in table.caption
    assert [attributes["scope"] for _, attributes, _ in table.rows[0]] == ["col"] * 4
    assert [row[0][1]["scope"] for row in table.rows[1:]] == ["row"] * 2
    assert table.rows[1][1][1]["colspan"] == "2"


# ---------------------------------------------------------------------- in IPython


@pytest.fixture
def shell(tmp_path, monkeypatch, no_pytorch):
    interactive = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = interactive.InteractiveShell()
    shell.history_manager.enabled = False
    shell.user_ns["mg"] = mg
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    versus.register()
    yield shell
    shell.restore_sys_module_state()


def test_the_magic_gives_the_comparison_and_leaves_no_name(shell):
    result = shell.run_cell("%%versus x\nx = mg.ones(1)", store_history=False)
    assert isinstance(result.result, Comparison) and result.success
    assert "x" not in shell.user_ns


def test_names_of_other_cells_are_refused(shell, capsys):
    shell.user_ns.update(w=mg.ones(1), k=2, unused=3)
    result = shell.run_cell("%%versus\nx = k\nlen([mg.sin(w)])", store_history=False)
    assert isinstance(result.error_in_exec, CannotCompare)
    said = capsys.readouterr().out
    assert "%%versus: this cell uses `k`, `w` of another cell; it has to stand alone" in said
    assert "Traceback" not in said


def test_nothing_happens_outside_ipython(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    versus.register()


# ---------------------------------------------------------------------- the recordings


def test_the_recordings_are_stored_as_they_are_written():
    text = versus.TRANSCRIPTS.read_text(encoding="utf-8")
    assert text == as_stored(json.loads(text))
    assert list(versus.stored()) == ["pytorch", "cells"]


@pytest.mark.torch
def test_the_recordings_are_what_pytorch_says():
    torch = versus.installed_pytorch()
    assert torch is not None
    assert versus.record(torch, in_the_course()) == versus.stored(), (
        "`python3 course.py author transcripts` records anew"
    )


@pytest.mark.torch
def test_pytorch_is_asked_in_the_same_way():
    torch = versus.installed_pytorch()
    code = f"{HALF}\nprint(half.grad_fn)\n(half * half).backward()\nhalf.grad\nmg.tensor(2, requires_grad=True)"
    both = compare(Cell.of(f"%%versus half\n{code}"))
    assert both.origin == f"run with PyTorch {versus.version(torch)}"
    assert repr(both).startswith("minigrad and PyTorch say the same.\n")
    assert "0x" not in repr(both) and "Triggered" not in repr(both)
