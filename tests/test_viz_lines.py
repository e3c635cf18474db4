"""`lines` and `explain` name the variable, the line that saved it and those that overwrote it, PyTorch's and ours."""

import linecache
import re
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


REPAIRS = {
    "state of an LSTM": "state = tuple(part.detach() for part in state)",
    "state of an LSTM, in a function": "state = tuple(part.detach() for part in state)",
    "state of an LSTMCell": "self.h = tuple(part.detach() for part in self.h)",
    "pair of an LSTMCell": "h = h.detach(); c = c.detach()",
    "cell of an RNN": "h = h.detach()",
    "ReLU(inplace=True)": "`inplace=True`",
}


@pytest.mark.torch
@pytest.mark.parametrize("name", REPAIRS)
def test_the_repair_fits_what_the_variable_holds(name):
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    assert REPAIRS[name] in explained(torch, TORCH_CASES[name]).story.repair


@pytest.mark.torch
def test_a_result_without_a_name_is_not_called_by_that_of_a_later_tensor():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    source = """net = m.nn.Sequential(m.nn.Linear(3, 3), m.nn.Sigmoid(), m.nn.ReLU(inplace=True), m.nn.Linear(3, 1))
x = m.ones(4, 3)
net(x).sum().backward()
"""
    story = explained(torch, Program("unnamed", "", "", source, {})).story
    assert story.variable == "" and story.sentences[0].startswith("What `sigmoid` gave was saved by line 3, ")
    assert story.repair == "Leave `inplace=True` out where the Module of `relu` is made."


@pytest.mark.torch
def test_a_tensor_that_no_call_made_is_not_taken_for_a_dead_one_with_its_id():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    source = """w = m.ones(2, requires_grad=True)
ids_of_the_dead = {id(x) for x in [w * 2 for _ in range(200)]}
made = [m.Tensor([1.0])]
while id(made[-1]) not in ids_of_the_dead and len(made) < 10_000:
    made.append(m.Tensor([1.0]))
assert id(made[-1]) in ids_of_the_dead
made[-1].backward()
"""
    story = explained(torch, Program("dead", "", "", source, {})).story
    assert story.made is None and not any("line 2" in sentence for sentence in story.sentences)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("change", "repair"),
    [("m.nn.functional.relu(h, True)", "Leave `inplace=True` out."), ("Twice.apply(h)", "Change a clone() instead")],
)
def test_a_call_that_changes_its_input_gets_a_repair_of_its_own(change, repair):
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    source = f"""class Twice(m.autograd.Function):
    @staticmethod
    def forward(ctx, h):
        ctx.mark_dirty(h)
        return h.mul_(2)
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
w = m.ones(2, requires_grad=True)
h = w * 2
loss = (h * h).sum()
{change}
loss.backward()
"""
    story = explained(torch, Program("change", "", "", source, {})).story
    assert story.variable == "h" and story.repair.startswith(repair)


VIEW = """x = m.tensor([[0.5, 1.0], [2.0, 3.0]], requires_grad=True)
probs = x.exp()
col = probs[:, 0]
{}
probs.sum().backward()
"""
CHANGES = ["col[0] = 1.0", "col *= 2.0", "col.mul_(2.0)", "col += x[1]"]


def check_view(m, change: str):
    source = VIEW.format(change)
    story = explained(m, Program("view", "", "", source, {})).story
    assert story.variable == "probs" and {line.number for line in story.overwritten} == {4}
    repair = "Write `probs = probs.clone()` before line 3, `col = probs[:, 0]`"
    assert story.repair == f"{repair}: then the view is one of the copy."
    repaired = source.replace("col = probs", "probs = probs.clone()\ncol = probs")
    exec(repaired, space := {"m": m})
    assert space["x"].grad is not None and space["probs"].sum().item() != space["x"].exp().sum().item()


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_changed_through_a_view_is_copied_before_the_view_is_taken(change):
    check_view(mg, change)


@pytest.mark.torch
@pytest.mark.parametrize("change", CHANGES)
def test_the_same_view_in_pytorch(change):
    check_view(pytest.importorskip("torch", reason="compares with PyTorch itself"), change)


@pytest.mark.parametrize(
    "change", ["col = probs.detach()\ncol += 1.0", "col = probs[0]\ny = probs * probs\ncol += 1.0\nprobs = y"]
)
def test_a_clone_is_not_told_where_it_would_not_help(change):
    source = "x = m.tensor([1.0, 2.0], requires_grad=True)\nprobs = x.exp()\n" + change + "\nprobs.sum().backward()\n"
    story = explained(mg, Program("detached", "", "", source, {})).story
    assert story.repair.startswith("Write `col = col + 1.0` there")


@pytest.mark.torch
def test_a_list_of_saved_tensors_that_was_freed_is_no_obstacle():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    source = """x = m.tensor([0.0, 1.0], requires_grad=True)
a = m.softmax(x, 0)
a[a < 0.5] = 0
a.sum().backward()
"""
    why = explained(torch, Program("mask", "", "", source, {}))
    assert why.story.variable == "a" and [line.number for line in why.story.overwritten] == [3]
    assert "IndexPutBackward0" in why.picture.text and "SoftmaxBackward0" in why.picture.text
    loss = torch.ones(2, requires_grad=True)[torch.tensor([0])].sum()
    loss.backward()
    assert "freed" in mg.draw(loss, saved=True).text


PENALTY = """ws = [m.tensor([1.0, 2.0], requires_grad=True) for _ in range(2)]
penalty = sum((w * w).sum() for w in ws)
for i in range(2):
    loss = ws[0].sum() + penalty
    loss.backward()
"""


def check_penalty(m):
    story = explained(m, Program("penalty", "", "", PENALTY, {})).story
    assert story.variable == "penalty" and story.repair.startswith("Compute `penalty` in the loop")


def test_what_is_made_once_before_the_loop_is_to_be_made_in_it():
    check_penalty(mg)


@pytest.mark.torch
def test_the_same_penalty_in_pytorch():
    check_penalty(pytest.importorskip("torch", reason="compares with PyTorch itself"))


NUMBERS = [
    "loss = m.tensor([h.item() for h in hs]).sum()",
    "loss = m.tensor(\n    [\n        h.item()\n        for h in hs\n    ]\n).sum()",
    "numbers = [h.item() for h in hs]\nloss = m.tensor(numbers).sum()",
]


def check_numbers(m, made: str):
    source = f"w = m.tensor([1.0, 2.0], requires_grad=True)\nhs = [w[0] * 2, w[1] * 3]\n{made}\nloss.backward()\n"
    story = explained(m, Program("numbers", "", "", source, {})).story
    assert "`h.item()` gives plain numbers" in story.sentences[1] and "h.item()" in story.made.text
    assert (story.made.times, story.made.total) == (2, 2)


@pytest.mark.parametrize("made", NUMBERS)
def test_numbers_that_a_comprehension_took_out_are_found(made):
    check_numbers(mg, made)


@pytest.mark.torch
@pytest.mark.parametrize("made", NUMBERS)
def test_the_same_numbers_in_pytorch(made):
    check_numbers(pytest.importorskip("torch", reason="compares with PyTorch itself"), made)


def check_inference(m):
    source = """w = m.tensor([1.0, 2.0], requires_grad=True)
with m.inference_mode():
    z = w * 2
loss = (w * z).sum()
"""
    story = explained(m, Program("inference", "", "", source, {})).story
    assert story.variable == "z" and story.made.number == 3 and "`no_grad()`" in story.repair
    for repaired in (source.replace("inference_mode", "no_grad"), source.replace("w * z", "w * z.clone()")):
        exec(repaired, space := {"m": m})
        space["loss"].backward()


def test_a_tensor_of_inference_mode_gets_a_repair():
    check_inference(mg)


@pytest.mark.torch
def test_the_same_tensor_of_inference_mode_in_pytorch():
    check_inference(pytest.importorskip("torch", reason="compares with PyTorch itself"))


@pytest.mark.torch
def test_a_critic_gets_what_the_generator_made_without_its_history():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    source = """G, D = m.nn.Linear(2, 2), m.nn.Sequential(m.nn.Linear(2, 2), m.nn.Tanh(), m.nn.Linear(2, 1))
og, od = m.optim.Adam(G.parameters()), m.optim.Adam(D.parameters())
for step in range(2):
    fake = G(m.ones(3, 2))
    score = D(fake)
    d_loss = score.mean() - D(m.zeros(3, 2)).mean()
    od.zero_grad()
    d_loss.backward()
    od.step()
    g_loss = -D(fake).mean()
    og.zero_grad()
    g_loss.backward()
    og.step()
"""
    story = explained(torch, Program("gan", "", "", source, {})).story
    assert story.variable == "fake" and story.freed.number == 8
    assert story.repair.startswith("Write `fake.detach()` in line 5, `score = D(fake)`, if that loss is not to train")
    assert "`retain_graph=True` in the first backward" in story.repair
    exec(source.replace("score = D(fake)", "score = D(fake.detach())"), {"m": torch})
    exec(source.replace("d_loss.backward()", "d_loss.backward(retain_graph=True)"), {"m": torch})


def test_a_line_is_told_without_its_comment():
    source = """w = m.tensor([1.0, 2.0], requires_grad=True)
h = w * 2
loss = (h * h).sum()
h += 1      # a "comment"
loss.backward()  # another one
"""
    why = explained(mg, Program("comments", "", "", source, {}))
    assert why.story.overwritten[0].text == "h += 1" and why.code == "loss.backward()"


@pytest.mark.torch
def test_without_lines_one_sentence_says_how_to_see_them():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    h = torch.ones(2, requires_grad=True) * 2
    loss = (h * h).sum()
    h += 1
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    (told,) = mg.viz.explain(caught.value).told
    assert "`with mg.viz.lines():` around the code" in told
    with pytest.raises(RuntimeError) as caught, mg.viz.lines():
        loss.backward()
    (told,) = mg.viz.explain(caught.value).told
    assert "made before the block" in told
    assert mg.viz.explain(ValueError("can't optimize a non-leaf Tensor")).told[0].endswith("what autograd refuses.")


def test_an_error_from_outside_is_not_told_by_the_repairs_that_run_inside_the_block():
    w = mg.tensor(2.0, requires_grad=True)
    h = w * w
    y = h * h
    h += 1
    with pytest.raises(RuntimeError) as refused:
        y.backward()
    with mg.viz.lines() as log:
        why = mg.viz.explain(refused.value)
    assert log.calls == [] and "<repair>" not in "".join(why.told)


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


def unnoticed_in(m) -> list[str]:
    """The notes on what the square of h has saved, when h was overwritten through `.data`."""
    w = m.tensor([1.0, 2.0], requires_grad=True)
    with mg.viz.lines():
        h = w * 3
        y = h * h
        h.data.mul_(2)
        later = h * h  # saved after the overwrite: as it should be
    marked = [
        [node.note for node in mg.draw(result, saved=True, lines=True).records[0].nodes if "stale" in node.marks]
        for result in (y, later)
    ]
    assert marked[1] == []
    return marked[0]


def check_unnoticed(m):
    notes = unnoticed_in(m)
    assert len(notes) == 2 and all(re.search(r"unnoticed\nline \d+ of test_viz_lines", note) for note in notes)


def test_an_overwrite_that_no_version_tells_of_is_shown_with_its_line():
    check_unnoticed(mg)


@pytest.mark.torch
def test_the_same_overwrite_in_pytorch():
    check_unnoticed(pytest.importorskip("torch", reason="compares with PyTorch itself"))


def test_attention_is_noted_once_whatever_mode_stands_before_the_blocks_own():
    torch = pytest.importorskip("torch", reason="compares with PyTorch itself")
    net, x = torch.nn.MultiheadAttention(2, 1), torch.ones(3, 2)

    class Other(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    with mg.viz.lines() as log:
        net(x, x, x)
        with Other():
            net(x, x, x)
        with pytest.raises(AssertionError, match="embedding"):
            net(x[:, :1], x, x)
        inside = torch.overrides._get_current_function_mode()
        net(x, x, x)
    attention = [call for call in log.calls if call.op == "multi_head_attention_forward"]
    assert [call.failed for call in attention] == [False, False, True, False]
    assert inside is not None and torch.overrides._get_current_function_mode() is None
    assert "lines_torch" not in torch.nn.functional.multi_head_attention_forward.__module__
