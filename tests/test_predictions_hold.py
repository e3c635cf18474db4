"""What an exercise asks to predict is what its program does: the code of each text, run on minigrad and on PyTorch."""

import ast
import importlib.util
import re
import textwrap
from pathlib import Path

import nbformat
import pytest

import minigrad

ROOT = Path(__file__).resolve().parents[1]
FENCED = re.compile(r"```python\n(.*?)```", re.S)
LETTER, NUMBER = re.compile(r"#\s([A-Z])\s*$", re.M), re.compile(r"#\s(\d)\s*$", re.M)


def frameworks():
    """minigrad, and PyTorch where it is installed."""
    yield pytest.param(minigrad, id="minigrad")
    installed = importlib.util.find_spec("torch") is not None
    missing = pytest.mark.skipif(not installed, reason="PyTorch is not installed")
    yield pytest.param(installed and importlib.import_module("torch"), id="torch", marks=[pytest.mark.torch, missing])


# --- The text of an exercise -----------------------------------------------------------------------


def exercises():
    """chNN.name: the code in the text, and the prediction that the solution gives."""
    for path in sorted((ROOT / "solutions").glob("[0-9][0-9]_*.ipynb")):
        cells = {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}
        chapter = importlib.import_module(f"exercises.checks.ch{path.name[:2]}").chapter
        for name, one in chapter.exercises.items():
            if one.kind == "predict":
                answers = [s.value for s in ast.parse(cells[f"answer-{name}"]).body if isinstance(s, ast.Assign)]
                truth = [ast.literal_eval(value) for value in answers if isinstance(value, ast.Dict)][1]
                yield one.id, FENCED.findall(cells[f"task-{name}"]), truth


EXERCISES = {id: rest for id, *rest in exercises()}


def statements(source):
    """The statements at the top of a program: their source, and the letter of the comment behind them."""
    lines = source.splitlines()
    for one in ast.parse(source).body:
        letter = LETTER.search("\n".join(lines[one.lineno - 1 : one.end_lineno]))
        yield ast.get_source_segment(source, one), letter and letter[1]


def chunks(source):
    """What stands above the first marked statement; then each letter's statements, the unmarked ones below included."""
    above, by_letter, letter = [], {}, None
    for statement, mark in statements(source):
        letter = mark or letter
        (above if letter is None else by_letter.setdefault(letter, [])).append(statement)
    return above, by_letter


class Program(dict):
    """A namespace that runs statements; `_` is the value of the last one."""

    def __init__(self, mg, *sources):
        ad = mg.autograd.forward_ad
        names = "dual_level make_dual unpack_dual"
        super().__init__({name: getattr(ad, name) for name in names.split()}, mg=mg, _=None)
        for source in sources:
            self.run(source)

    def run(self, source):
        *before, last = ast.parse(textwrap.dedent(source)).body
        exec(compile(ast.Module(before, []), "<program>", "exec"), self)
        if isinstance(last, ast.Expr):
            self["_"] = eval(compile(ast.Expression(last.value), "<program>", "eval"), self)
        else:
            exec(compile(ast.Module([last], []), "<program>", "exec"), self)

    def __call__(self, expression):
        found = eval(expression, globals() | self | {"names": self})
        return found.item() if isinstance(found, self["mg"].Tensor) else found


# --- How programs are asked -------------------------------------------------------------------------


def at_the_end(expression="{}"):
    """The whole program, then this for each name."""

    def ask(mg, code, names):
        program = Program(mg, *code)
        return {name: program(expression.format(name)) for name in names}

    return ask


def each(expression, then="", error="error"):
    """Each marked line alone, below what stands above them. `A w1` asks with w1 in the place of {}."""

    def ask(mg, code, names):
        above, by_letter = chunks(code[-1])
        found = {}
        for name in names:
            letter, _, rest = name.partition(" ")
            try:
                program = Program(mg, *code[:-1], *above, *by_letter[letter], *([then] if then else []))
                program["letter"] = letter
                found[name] = program(expression.format(rest))
            except (RuntimeError, TypeError, IndexError):
                found[name] = error
        return found

    return ask


def right_after(expression):
    """The program as it stands, asked after each marked line."""

    def ask(mg, code, names):
        program, found = Program(mg), {}
        for statement, letter in statements(code[0]):
            try:
                program.run(statement)
                found |= {letter: program(expression)} if letter else {}
            except RuntimeError:
                found[letter] = "error"
        return {name: found[name] for name in names}

    return ask


def with_these(mg, code, names, **expressions):
    program = Program(mg, *code)
    return {name: program(expressions.get(name, name)) for name in names}


def programs(source):
    """A text with `# P` above each program: their sources."""
    pieces = re.split(r"(?m)^# ([A-Z])$\n", source)
    return pieces[0], dict(zip(pieces[1::2], pieces[2::2], strict=True))


# --- What needs more than an expression --------------------------------------------------------------


def leads_to_w(mg, code, names):
    program = Program(mg, *code)
    found = {}
    for name in names:
        result = program[name]
        grads = [None]
        if result.requires_grad:
            grads = mg.autograd.grad(result, program["w"], retain_graph=True, allow_unused=True)
        found[name] = grads[0] is not None
    return found


def nodes_behind(result, without=()):
    found, waiting = set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [edge[0] for edge in node.next_functions]
    return sum(node.name().split("::")[-1] not in without for node in found)


def follow(mg, code, names):
    program = Program(mg, *code)
    p, z = program["p"].grad_fn, program["z"].grad_fn
    ways = len(z.next_functions), any(node is p for node, _ in z.next_functions), p.next_functions[1][0] is not None
    return dict(zip(names, (nodes_behind(program["z"]), *ways), strict=True))


def chain(mg, code, names):
    local = {"dz/de": (lambda e: e * 5, "e"), "de/dp": (mg.exp, "p"), "dp/dv": (lambda v: v * 3, "v")}
    program, found = Program(mg, *code), {}
    for name, (function, at) in local.items():
        here = program[at].detach().requires_grad_()
        found[name] = mg.autograd.grad(function(here), here)[0].item()
    return found | {name: program(name) for name in names if name not in local}


def is_number(value):
    return type(value) in (int, float)


def outcome(grads):
    return "None" if grads[0] is None else "zero" if grads[0].item() == 0 else "another"


def how_often(result):
    result.backward()
    try:
        result.backward()
    except RuntimeError:
        return "once"
    return "twice"


def raising_line(mg, code, names):
    found = {}
    for name, source in programs(code[0])[1].items():
        found[name], program = 0, Program(mg)
        for statement, _ in statements(source):
            try:
                program.run(statement)
            except RuntimeError:
                place = source.index(statement)
                found[name] = int(NUMBER.search(source, place + len(statement) - 1)[1])
                break
    return found


def when_refused(mg, code, names):
    """Where the loop raises; at its end, whether `w.grad` is the slope of what was computed (by differences)."""
    loop, (_, lines) = code[0], chunks(code[1])

    def total(line, w):
        program = Program(mg, loop.split("for _")[0])
        body = textwrap.dedent(loop.split("in range(2):\n")[1]).replace("y.sum().backward()", "")
        with mg.no_grad():
            program.run(f"w.copy_(mg.tensor({w}))")
            program.run(body + "\n" + "\n".join(line))
        return program["y"].sum().item()

    def outcome(line):
        program = Program(mg, loop.split("for _")[0])
        body = textwrap.dedent(loop.split("in range(2):\n")[1]).replace("y.sum().backward()", "")
        for word in ("backward", "second round"):
            program.run(body)
            try:
                program.run("\n".join(line))
            except RuntimeError:
                return "at once"
            try:
                program.run("w.grad = None\ny.sum().backward()")
            except RuntimeError:
                return word
        start = [1.0, 2.0, 3.0]
        ends = [[[n + step * (i == j) for j, n in enumerate(start)] for step in (0.25, -0.25)] for i in range(3)]
        slopes = [(total(line, up) - total(line, down)) / 0.5 for up, down in ends]
        return "fine" if program["w"].grad.tolist() == pytest.approx(slopes, rel=1e-3) else "wrong"

    return {name: outcome(lines[name]) for name in names}


def inside_a_function(mg, code, names):
    def run(gradients):
        program = Program(mg, code[0].replace("return ...  # the gradients", f"return {gradients}"))
        return program["seen"] | {"operations": nodes_behind(program["z"], without=("AccumulateGrad",))}

    with pytest.raises(RuntimeError):
        run("grad_output * 15, None")
    return run("grad_output * 15, None, None") | {"gradients": 3}


def verdicts(mg, code, names):
    x, zero = (mg.tensor(v, dtype=mg.float64, requires_grad=True) for v in ([1.0, 2.0], [0.0]))

    def made(forward, backward):
        body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        return type("Made", (mg.autograd.Function,), body).apply

    def kept(slope):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.slope = 2 * x
            return x * x

        return made(forward, slope)

    def check(function, at=x, of="gradcheck", **options):
        with pytest.warns(UserWarning) if at.dtype is mg.float32 else pytest.MonkeyPatch.context():
            passed = getattr(mg.autograd, of)(function, (at,), raise_exception=False, **options)
        return "pass" if passed else "fail"

    slope, close = kept(lambda ctx, g: g * ctx.slope), kept(lambda ctx, g: g * 2.0001 * ctx.saved_tensors[0])
    return {
        "A": check(lambda x: x * x * x, x.detach().float().requires_grad_()),
        "B": check(mg.relu, zero),
        "C": check(made(lambda ctx, x: x.abs(), lambda ctx, g: g)),
        "D": check(slope),
        "E": check(slope, of="gradgradcheck"),
        "F": check(kept(lambda ctx, g: 2 * ctx.saved_tensors[0])),
        "G": check(close),
        "H": check(close, rtol=1e-6),
    }


def six_cubes(mg, code, names):
    start, variants = code
    found, passed = {}, 0
    for block in variants.strip("\n").split("\n\n"):
        letter = LETTER.search(block)[1]
        cube = Program(mg, start.rstrip().removesuffix("...").rstrip() + "\n" + block + "\n")["Cube"].apply
        x = mg.tensor(2.0, dtype=mg.float64, requires_grad=True)
        passed += mg.autograd.gradcheck(cube, (x,))
        try:
            (slope,) = mg.autograd.grad(cube(x), x, create_graph=True)
            found[letter] = mg.autograd.grad(slope, x)[0].item()
        except RuntimeError:
            found[letter] = "error"
    return found | {"pass gradcheck": passed}


def saved_values(mg, code, names):
    x, k = mg.tensor(2.0, requires_grad=True), mg.tensor(3.0)
    results = {"A": x * x, "B": x - k, "C": mg.exp(x), "D": x / k, "E": k / x}

    def count(result):
        kept = (getattr(result.grad_fn, name) for name in dir(result.grad_fn) if name.startswith("_saved_"))
        return sum(isinstance(value, mg.Tensor) for value in kept)

    saved = {name: count(result) for name, result in results.items()}
    return saved | {f"{name} twice": how_often(results[name]) == "twice" for name in "BD"}


def two_rounds(mg, code, names):
    program, (above, loop) = Program(mg), code[0].split("for _ in range(2):\n")
    program.run(above)
    program.run(loop)
    first = {"w.grad 1": program("w.grad"), "w 1": program("w"), "b 1": program("b")}
    program.run(loop)
    # Only w.grad is cleared: b.grad is the sum of both rounds.
    return first | {"loss 2": program("loss"), "w 2": program("w"), "b 2": program("b")}


def turns(mg, code, names):
    """Five operations in a row, counted where they are pushed, and in the walks back."""
    n, m, operations = 2, 300, 5
    return {"A": n * operations, "B": m * operations, "C": 1 * operations, "D": operations, "E": operations, "F": 1}


def bytes_kept(mg, code, names):
    above, by_letter = chunks(code[0])
    found = {}
    for name in names:
        program, kept = Program(mg, *above), []
        with mg.autograd.graph.saved_tensors_hooks(lambda t, kept=kept: kept.append(t) or t, lambda t: t):
            program.run("\n".join(by_letter[name]))
        memories = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
        found[name] = sum(memories.values())
    return found


def lost_in(mg, code, names):
    above, sources = programs(code[0])
    found = {}
    for name, source in sources.items():
        program, lines = Program(mg, above), []
        for statement, _ in statements(source):
            program.run(statement)
            made = program[re.search(r"(\w+) = ", statement)[1]]
            tracked = isinstance(made, mg.Tensor) and made.requires_grad
            lines += [] if tracked else [int(NUMBER.search(source, source.index(statement))[1])]
        try:
            program.run("loss.backward()")
            found[name] = 0
        except RuntimeError:
            found[name] = lines[0]
    return found


def repaired(mg, code, names):
    instead = {
        "A": "h = h * 3",
        "B": "h.data *= 3",
        "C": "with mg.no_grad(): h *= 3",
        "D": "h = h.clone(); h *= 3",
        "E": "h = h.detach() * 3",
        "F": "h = h.detach().requires_grad_() * 3",
        "G": "h *= 3",
        "H": "h.detach().mul_(3)",
    }
    at = mg.tensor([0.0, 1.0], requires_grad=True)
    ((3 * mg.sigmoid(at)) ** 2).sum().backward()
    found = {}
    for name, line in instead.items():
        source = re.sub(r"h \*= 3.*", line, code[0])
        program = Program(mg)
        try:
            program.run(source.replace("backward()", "backward(retain_graph=True)") if name == "G" else source)
            came = program["w"].grad
            found[name] = "right" if came is not None and mg.allclose(came, at.grad) else "wrong"
        except RuntimeError:
            found[name] = "error"
    return found


ASK = {
    "ch01.spread": at_the_end("{}.requires_grad"),
    "ch01.leaves": at_the_end("{}.is_leaf"),
    "ch01.before_after": at_the_end(),
    "ch01.which_raise": each("False", error=True),
    "ch01.silent": leads_to_w,
    "ch01.when": at_the_end(),
    "ch02.kinds": at_the_end("{}.is_leaf"),
    "ch02.who": at_the_end("{}.grad"),
    "ch02.sums": at_the_end(),
    "ch02.notes": at_the_end(),
    "ch03.follow": follow,
    "ch03.chain": chain,
    "ch03.alive": at_the_end(),
    "ch03.kinks": each("t.grad[0] if letter == 'C' else x.grad"),
    "ch04.rows": each("{}"),
    "ch04.unused": each("outcome(_)"),
    "ch04.hooks": at_the_end(),
    "ch05.often": each("how_often(_)"),
    "ch05.walks": right_after("x.grad"),
    "ch05.kinds": each("_[0]"),
    "ch06.arrives": each("{}.grad", then="y.backward()"),
    "ch06.inside": lambda mg, code, names: with_these(
        mg, code, names, **{name: f"{name}.requires_grad" for name in names if "." not in name}
    ),
    "ch06.frozen": each("{}.grad", then="y.backward()"),
    "ch07.versions": lambda mg, code, names: with_these(
        mg, code, names, **{name: f"{name}._version" for name in names if "[" not in name}
    ),
    "ch07.sides": each("'ok'", then="y.sum().backward()"),
    "ch07.moments": raising_line,
    "ch07.rounds": when_refused,
    "ch08.inside": inside_a_function,
    "ch08.verdicts": verdicts,
    "ch09.twice": each("_"),
    "ch09.both": right_after("(x if 'w' not in names else w if 'v' not in names else v).grad"),
    "ch09.trusted": six_cubes,
    "ch10.sources": saved_values,
    "ch11.rounds": two_rounds,
    "ch12.moves": lambda mg, code, names: with_these(
        mg, code, names, **{name: f"inside[{i}]" for i, name in enumerate("ABCDEF")}, G="outside"
    ),
    "ch12.turns": turns,
    "ch13.weigh": bytes_kept,
    "ch13.runs": right_after("len(calls)"),
    "ch14.lost": lost_in,
    "ch14.repairs": repaired,
}
# The walks of 10.walks are those of the chapter's own engine; 14.lines and 14.names are asked of mg.viz.lines by
# tests/test_chapter_14.py.
ELSEWHERE = {"ch10.walks", "ch14.lines", "ch14.names"}


def test_every_prediction_is_asked():
    assert set(EXERCISES) == set(ASK) | ELSEWHERE


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mg", [*frameworks()])
@pytest.mark.parametrize("id", ASK)
def test_the_program_does_what_the_solution_says(id, mg):
    code, truth = EXERCISES[id]
    found = ASK[id](mg, code, list(truth))
    assert found == {
        name: pytest.approx(right, rel=1e-5) if is_number(right) else right for name, right in truth.items()
    }
