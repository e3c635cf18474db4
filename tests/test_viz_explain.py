"""Each refusal is explained: your graph with what is to blame marked, and repairs that really were run."""

import copy
import gc
import pickle
import sys
import textwrap
import warnings
import weakref

import pytest
from misuse_cases import CASES as MISUSES

import minigrad as mg
from minigrad.jupyter import notebook
from minigrad.messages import REFUSALS, refusal
from minigrad.viz import layout
from minigrad.viz.explain import AT_NODE, AT_TENSOR, UNKNOWN, attempts, key_of, run
from minigrad.viz.misuses import CASES


@pytest.fixture
def no_last_error(monkeypatch):
    monkeypatch.setattr(sys, "last_value", None, raising=False)


def leaf(value):
    return mg.tensor(value, requires_grad=True)


def raised(call) -> Exception:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as caught:
            call()
    return caught.value


@pytest.mark.parametrize("key", REFUSALS)
def test_every_refusal_is_known(key):
    """By the very sentence that is raised, whatever stands in its gaps."""
    kind, sentence, advice = REFUSALS[key]
    error = refusal(key, *("[7] (of 2.5)" for _ in range((sentence + advice).count("{}"))))
    found = key_of(error)
    assert found == key or REFUSALS[found][:2] == (kind, sentence)


@pytest.mark.parametrize("name", MISUSES)
def test_every_error_is_answered(name):
    error = raised(lambda: MISUSES[name](mg))
    explanation = mg.viz.explain(error)
    assert explanation.message.startswith(type(error).__name__)
    assert explanation.message.endswith(UNKNOWN) == (key_of(error) == "")
    assert not (explanation.message.endswith(UNKNOWN) and name in BLAMED)
    for note in getattr(error, "__notes__", ()):
        assert note in explanation.message


BLAMED = {
    "backward on a vector": "[2., 2., 2.] (output, ! has several entries) -> MulBackward0",
    "backward without history": "[1.] (needs no grad, ! no grad_fn: there is no way back)",
    "second root without history": "[1., 1., 1.] (needs no grad, ! no grad_fn: there is no way back",
    "gradient of another shape": "[2., 2., 2.] (output, ! asks for a gradient of its own shape) -> MulBackward0",
    "grad of a constant": "[1., 1., 1.] (needs no grad, ! not part of any graph",
    "grad of an unused input": "[1., 1., 1.] (leaf, .grad None, ! not reached)",
    "second derivative of a line": "g = [5.] (needs no grad, ! no grad_fn: there is no way back)",
    "backward twice": "MulBackward0 (! what it saved has been freed, buffers freed)",
    "_saved_self after backward": "-> MulBackward0 (y.grad_fn, ! what it saved has been freed, buffers freed)",
    "saved_tensors after backward": "-> MyFnBackward (y.grad_fn, ! what it saved has been freed, buffers freed)",
    "in place on a leaf": "[1., 1., 1.] (leaf, .grad None, ! to be changed in place)",
    "in place on a view of a leaf": "[1.] (output, ! to be changed in place) -> SliceBackward0",
    "saved intermediate modified": "self = [2., 2., 2.] (saved at version 0, now 1, ! overwritten since)",
    "saved leaf modified": "self = [2., 2., 2.] (saved at version 0, now 1, ! overwritten since)",
    "saved result modified": "result = [3.7183, 3.7183, 3.7183] (saved at version 0, now 1, ! overwritten since)",
    "saved by a Function, modified": "saved_tensors[0] = [2., 2., 2.] (saved at version 0, now 1, ! overwritten since)",
    "integer requires_grad_": "[1, 2] (needs no grad, ! integers)",
    "requires_grad = False on a result": "y = [2., 2., 2.] (output, ! a result: its flag follows from its inputs)",
    "numpy of a leaf": "[1., 1., 1.] (leaf, .grad None, ! requires grad)",
    "retain_grad of a constant": "[1., 1., 1.] (needs no grad, ! no gradient comes by)",
    "hook on a constant": "[1., 1., 1.] (needs no grad, ! no gradient comes by)",
    "item of several": "[1., 1., 1.] (leaf, .grad None, ! has several entries)",
    "bool of several": "[1., 1., 1.] (leaf, .grad None, ! has several entries)",
    "deepcopy of a result": "[2., 2., 2.] (output, ! a result: it has a history) -> MulBackward0",
    "hook changes the shape": "MulBackward0 (y.grad_fn, ! a hook here returned another shape)",
    "hook changes the dtype": "MulBackward0 (y.grad_fn, ! a hook here returned another dtype)",
    "hook returns a number": "MulBackward0 (y.grad_fn, ! a hook here returned no tensor)",
    "Function: gradient of another shape": "MyFnBackward -> AccumulateGrad: ! its gradient does not fit",
    "Function: too few gradients": "MyFnBackward (! returned too few or too many gradients)",
    "Function: gradient is a float": "MyFnBackward (! returned something that is no tensor)",
    "Function: once, twice": "! can be differentiated once only",
    "derivative of floor_divide": "NotImplemented (! has no derivative)",
}


@pytest.mark.parametrize("name", BLAMED)
def test_what_is_to_blame_is_marked_in_the_graph(name):
    picture = mg.viz.explain(raised(lambda: MISUSES[name](mg))).picture
    assert BLAMED[name] in picture.text
    assert any("guilty" in thing.marks for panel in picture.records for thing in (*panel.nodes, *panel.edges))


def test_each_note_belongs_to_a_refusal_that_there_is():
    assert (AT_NODE.keys() | AT_TENSOR.keys()) <= REFUSALS.keys()
    shared = {"in place, view", "flag of integers"}
    assert CASES.keys() - shared <= REFUSALS.keys()


# -- the repairs -------------------------------------------------------------------------------------

EVERY_CASE = [(key, case) for key, cases in CASES.items() for case in cases]
# What a program says whose case serves for several refusals.
SAID = {"in place, view": "in place", "flag of integers": "factory of integers"}
SAID |= {"hook on a constant": "retain_grad of a constant", "modified, anomaly mode": "modified"}
CASE_IDS = [f"{key}: {case.title}" for key, case in EVERY_CASE]


@pytest.mark.parametrize(("key", "case"), EVERY_CASE, ids=CASE_IDS)
def test_the_program_really_is_that_misuse(key, case):
    error = raised(lambda: exec(case.program, {"mg": mg}))
    assert key_of(error) == SAID.get(key, key)
    assert case.repairs


GIVES = {
    "run the forward in every step": "tensor(1.0800, requires_grad=True)",
    "add the losses, go backward once": "tensor(42.)",
    "retain_graph=True in the first": "tensor(42.)",
    "the out-of-place operation": "tensor(6.)",
    "change a clone()": "tensor(6.)",
    "overwrite it through .data": "tensor(8.)",
    "update inside no_grad": "(tensor(2.4000, requires_grad=True), True)",
    "the out-of-place form": "(tensor(2.4000, grad_fn=<SubBackward0>), False)",
    "update .data": "(tensor(2.4000, requires_grad=True), True)",
    "set it inside no_grad": "tensor([10.,  4.])",
    "a new tensor with the 5. in it": "tensor([0., 4.])",
    "sum() first": "tensor([2., 4., 6.])",
    "mean() first": "tensor([0.6667, 1.3333, 2.0000])",
    "say which gradient to start from": "tensor([  2.,  40., 600.])",
    "requires_grad_() on the result": "None",
    "create_graph=True": "(tensor(18.),)",
    "allow_unused=True": "(None,)",
    "materialize_grads=True": "(tensor(0.),)",
    "derive the formula": "tensor([[1., 1.],\n        [2., 2.],\n        [3., 3.]])",
    "reshape until it fits": "tensor([[1., 2.],\n        [3., 1.],\n        [2., 3.]])",
    "None for what has no gradient": "tensor(30.)",
    "make a tensor of the number": "tensor(3.)",
    "minigrad's own operation": "(tensor([1.0000, 2.7183], grad_fn=<ExpBackward0>), True)",
    "detach().numpy()": "(tensor([1.0000, 2.7183]), False)",
    "detach()": "tensor(36.)",
}


def test_what_the_repairs_give():
    made = [attempt for _, case in EVERY_CASE for attempt in attempts(case)]
    given = {attempt.title: attempt.gives for attempt in made}
    assert {title: given[title] for title in GIVES} == GIVES
    assert all(attempt.came_through for attempt in made if attempt.verdict in ("right", "depends"))
    assert not any(attempt.came_through for attempt in made if not attempt.verdict)


def test_retain_graph_is_tried_where_people_try_it_and_is_mostly_wrong():
    tried = [
        (attempt.verdict, attempt.came_through)
        for _, case in EVERY_CASE
        for attempt in attempts(case)
        if "retain_graph=True" in attempt.title
    ]
    assert tried.count(("wrong", False)) == len(tried) - 2 >= 5
    assert tried.count(("depends", True)) == 2


@pytest.mark.torch
@pytest.mark.parametrize(("key", "case"), EVERY_CASE, ids=CASE_IDS)
def test_pytorch_gives_the_same(key, case):
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    for program in (case.program, *(repair.program for repair in case.repairs)):
        assert run(program, mg) == run(program, torch), program


def test_running_repairs_touches_nothing_of_yours():
    x = leaf(2.0)
    with mg.no_grad():
        given = [attempt.gives for _, case in EVERY_CASE for attempt in attempts(case)]
        assert not mg.is_grad_enabled()
    assert given == [attempt.gives for _, case in EVERY_CASE for attempt in attempts(case)]
    assert x.grad is None and mg.is_grad_enabled()


# -- what explain() is given ---------------------------------------------------------------------------

TWICE = """\
RuntimeError: a Tensor with 2 elements cannot be converted to Scalar
minigrad: item() is for one element; use tolist() for more.

raised by your line: values.item()

your graph: what autograd keeps
  values = [2., 4.] (output, ! has several entries) -> MulBackward0 (values.grad_fn)
    AccumulateGrad -> [1., 2.] (leaf, .grad None)

The same misuse in a small program of ours, and what people do about it. Each was run just now:

item() of several numbers
  as it is
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    x.item()
    -> RuntimeError: a Tensor with 2 elements cannot be converted to Scalar
  tolist() (right: all of them)
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    x.tolist()
    -> [1.0, 2.0]
  reduce first (right: one number)
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    x.sum().item()
    -> 3.0"""


def test_the_whole_of_an_explanation():
    def report(values):
        values.item()

    explanation = mg.viz.explain(raised(lambda: report(leaf([1.0, 2.0]) * 2)))
    assert explanation.text == repr(explanation) == TWICE


def test_names_are_those_of_the_function_that_failed():
    def step(weight):
        weight -= 0.1

    w = leaf(1.0)
    explanation = mg.viz.explain(raised(lambda: step(w)))
    assert "weight = 1. (leaf" in explanation.picture.text and explanation.code == "weight -= 0.1"
    renamed = mg.viz.explain(raised(lambda: step(w)), params={"bias": w})
    assert "bias = 1. (leaf" in renamed.picture.text


def test_the_graph_is_drawn_from_your_last_result_that_came_through_the_node():
    def program():
        h = leaf([1.0, 2.0]) * 1
        square = h * h
        loss = square.sum()
        unrelated = h.sum()  # did not come through the node that fails
        h += 1
        (loss * unrelated).backward()

    text = mg.viz.explain(raised(program)).picture.text
    assert "loss = 5. (output) -> SumBackward0 (loss.grad_fn)" in text and "unrelated" not in text
    assert "MulBackward0 (square.grad_fn, backward would fail here)" in text
    assert "self = [2., 3.] (saved at version 0, now 1, ! overwritten since)" in text


def test_the_graph_is_drawn_from_the_node_where_you_named_no_result():
    def program():
        x = leaf([1.0, 2.0])
        h = x * 1
        part = h[:1]
        part *= part  # the node that fails is one that a CopySlices goes through
        with mg.no_grad():
            part += 1
        (h * 2).sum().backward()

    text = mg.viz.explain(raised(program)).picture.text
    assert text.startswith("what autograd keeps\n  MulBackward0") and "! overwritten since" in text


def test_an_exception_can_be_sent_to_another_process():
    """There, what it is about is left behind: a node is of this process."""
    y = leaf([1.0, 2.0]) * 2
    for error in (raised(y.backward), raised(lambda: [y.sum().backward(), y.sum().backward()])):
        assert error.about
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.__notes__, again.about) == (str(error), error.__notes__, ())


def test_a_line_of_the_standard_library_is_nobodys():
    y = leaf(1.0) * 2
    explanation = mg.viz.explain(raised(lambda: copy.deepcopy([y])))
    assert "copy.deepcopy([y])" in explanation.code


def test_a_hook_of_a_leaf_is_found_at_its_end_of_the_graph():
    x = leaf([1.0, 2.0])
    x.register_hook(lambda grad: grad[:1])
    explanation = mg.viz.explain(raised(lambda: (x * 2).sum().backward()))
    assert "AccumulateGrad (! a hook here returned another shape) -> x = [1., 2.]" in explanation.picture.text


def test_the_error_of_a_trace_can_be_explained():
    x = leaf(2.0)
    y = x * x
    y.backward()
    trace = mg.viz.trace(y.backward)
    assert "MulBackward0 (y.grad_fn, ! what it saved has been freed" in mg.viz.explain(trace.error).picture.text


def test_an_explanation_keeps_no_graph_alive():
    def program():
        y = leaf([1.0, 2.0]) * 2
        return weakref.ref(y), mg.viz.explain(raised(lambda: y.item()))

    alive, explanation = program()
    gc.collect()  # a traceback and the frames in it point at each other
    assert alive() is None
    assert "y = [2., 4.]" in explanation.text


def test_the_second_derivative_comes_first_when_grad_was_called():
    x = leaf(2.0)
    (slope,) = mg.autograd.grad(x * x, x)
    titles = [title for title, _ in mg.viz.explain(raised(lambda: mg.autograd.grad(slope, x))).cases]
    assert titles[0] == "The derivative of a derivative"
    titles = [title for title, _ in mg.viz.explain(raised(slope.backward)).cases]
    assert titles[0] == "Nothing requires grad"


def test_what_it_does_not_know_it_says_in_one_sentence():
    explanation = mg.viz.explain(ZeroDivisionError("division by zero"))
    assert explanation.text == f"ZeroDivisionError: division by zero\n{UNKNOWN}"
    assert explanation.picture is None and explanation.cases == ()
    mine = mg.viz.explain(RuntimeError("grad can be implicitly created only for scalar outputs"))
    assert mine.picture is None and mine.cases, "without a traceback there is no graph, but there are repairs"


def test_without_an_error(no_last_error):
    assert mg.viz.explain().text == "There is no error to explain: no cell has ended with one yet."
    with pytest.raises(TypeError, match="takes an exception"):
        mg.viz.explain("a second time")


def test_the_last_error_of_a_cell(monkeypatch):
    x = leaf([1.0, 2.0])
    monkeypatch.setattr(sys, "last_value", raised(lambda: x.backward()), raising=False)
    assert "x = [1., 2.] (leaf, .grad None, ! has several entries)" in mg.viz.explain().text


def test_in_expect_and_after_a_failed_cell(tmp_path, monkeypatch, no_last_error, capsys):
    pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    notebook.register()

    shown = []

    def cell(source):
        monkeypatch.setattr(sys, "displayhook", shown.append)
        result = shell.run_cell(textwrap.dedent(source).strip(), store_history=False)
        return shown.pop() if shown else result.result

    try:
        shell.user_ns["mg"] = mg
        explanation = cell("""
            %%expect RuntimeError "a second time" --explain
            x = mg.tensor(3.0, requires_grad=True)
            y = x * x
            y.backward()
            y.backward()
            """)
        assert "MulBackward0 (y.grad_fn, ! what it saved has been freed" in explanation.text
        assert explanation.code == "y.backward()"
        cell("x -= 1")
        assert "x = 3. (leaf, .grad 6., ! to be changed in place)" in cell("mg.viz.explain()").text
    finally:
        shell.restore_sys_module_state()
        capsys.readouterr()


# -- the forms -----------------------------------------------------------------------------------------


def twice():
    x = leaf(2.0)
    y = x * x
    y.backward()
    return mg.viz.explain(raised(y.backward))


def test_the_page_of_an_explanation(engine):
    bundle = twice()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    html = bundle["text/html"]
    assert html.count('src="data:image/svg+xml;base64,') == 1 and 'alt="Graph of' in html
    assert html.count("<table>") == 3 and html.count("\N{CHECK MARK} right") == 3 and "\N{BALLOT X} wrong" in html
    assert "<b><code>(a&nbsp;+&nbsp;b).backward()</code></b>" in html, "changed lines are bold"
    assert "<script" not in html and "<style" not in html
    assert html == twice().html


def test_what_the_advice_puts_between_backticks_is_code():
    w = mg.tensor(3.0, requires_grad=True)
    with pytest.raises(RuntimeError) as refused:
        w -= 1
    html = mg.viz.explain(refused.value).html
    assert "<p>minigrad: to update a parameter write <code>with no_grad(): w -= step</code>; " in html


def test_without_an_engine_the_listing_stands_for_the_picture(no_engine):
    html = twice().html
    assert "<pre>what autograd keeps" in html and layout.HELP in html
    assert html.count("<table>") == 3
