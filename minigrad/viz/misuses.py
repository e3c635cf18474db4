"""What `explain` shows for each refusal: small programs with the same misuse, and what people do about it.

Nothing here says what a program gives: it is run when it is shown. The verdicts are ours.
"""

from textwrap import dedent
from typing import NamedTuple


class Repair(NamedTuple):
    """One thing people do. ``verdict`` is right, wrong or "depends"; ``why`` is a sentence about what it gives."""

    title: str
    verdict: str
    why: str
    program: str


class Case(NamedTuple):
    """A misuse in a small program of ours, and its repairs. The last line of a program is what it gives."""

    title: str
    program: str
    repairs: tuple[Repair, ...]


def case(title: str, program: str, *repairs: tuple) -> Case:
    """A Case. A repair is (title, verdict, why, changes); `changes` are pairs of old and new text of the program.

    >>> case("a", "x = 1\\nx + 1", ("b", "right", "c", ("+ 1", "+ 2"))).repairs[0].program
    'x = 1\\nx + 2'
    """
    program = dedent(program).strip()
    made = []
    for name, verdict, why, *changes in repairs:
        repaired = program
        for old, new in changes:
            if repaired.count(old) != 1:
                raise ValueError(f"{old!r} is not there once, in the program of {title!r}")
            repaired = repaired.replace(old, new)
        made.append(Repair(name, verdict, why, repaired))
    return Case(title, program, tuple(made))


KEEPS = "retain_graph=True"
UPDATE = """
    w = mg.tensor(3.0, requires_grad=True)
    (w * w).backward()
    w -= 0.1 * w.grad
    w, w.is_leaf
"""
ENTRY = """
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    x[0] = 5.0
    (x * x).sum().backward()
    x.grad
"""
LINEAR = """
    class Linear(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w
        @staticmethod
        def backward(ctx, grad):
            x, w = ctx.saved_tensors
            return grad @ w.t(), grad.t() @ x

    x = mg.tensor([[1.0, 2.0, 3.0]])
    w = mg.ones(3, 2, requires_grad=True)
    Linear.apply(x, w).sum().backward()
    w.grad
"""
SCALE = """
    class Scale(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor
        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor

    x = mg.tensor(2.0, requires_grad=True)
    (Scale.apply(x, 3.0) * 10).backward()
    x.grad
"""

SQUARE = """
    class Square(mg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x
        @staticmethod
        @mg.autograd.function.once_differentiable
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    x = mg.tensor(3.0, requires_grad=True)
    (slope,) = mg.autograd.grad(Square.apply(x) ** 2, x, create_graph=True)
    slope.backward()
    x.grad
"""
INFERENCE = """
    x = mg.tensor(3.0, requires_grad=True)
    with mg.inference_mode():
        y = x * 2
    LAST
"""
NO_GRAD = ("inference_mode", "no_grad")
CASES: dict[str, tuple[Case, ...]] = {
    "second time": (
        case(
            "A result that was computed once, before the loop",
            """
            w = mg.tensor(3.0, requires_grad=True)
            h = w * w
            for step in range(2):
                w.grad = None
                (h * 2).backward()
                with mg.no_grad():
                    w -= 0.1 * w.grad
            w
            """,
            (
                "run the forward in every step",
                "right",
                "each step has a graph of its own, of the w of that step",
                ("h = w * w\nfor step in range(2):\n", "for step in range(2):\n    h = w * w\n"),
            ),
            (
                KEEPS,
                "wrong",
                "the kept graph is that of the old w, and the update has overwritten what it saved",
                (".backward()", ".backward(retain_graph=True)"),
            ),
        ),
        case(
            "Two losses of one forward",
            """
            x = mg.tensor(3.0, requires_grad=True)
            h = x * x
            a, b = h * 2, h * 5
            a.backward()
            b.backward()
            x.grad
            """,
            (
                "add the losses, go backward once",
                "right",
                "the same sum of gradients from one walk; nothing has to be kept",
                ("a.backward()\nb.backward()", "(a + b).backward()"),
            ),
            (
                f"{KEEPS} in the first",
                "depends",
                "right where one graph really is walked twice; all that was saved stays in memory meanwhile",
                ("a.backward()", "a.backward(retain_graph=True)"),
            ),
            (
                "detach() the shared part",
                "wrong",
                "cut off from x, b has nothing to go back to",
                ("h * 5", "h.detach() * 5"),
            ),
        ),
    ),
    "modified": (
        case(
            "A value that was saved, then overwritten",
            """
            x = mg.tensor(3.0, requires_grad=True)
            y = x * 1
            z = y * y
            y.add_(1)
            z.backward()
            x.grad
            """,
            (
                "the out-of-place operation",
                "right",
                "z was made of the old y, which is still there",
                ("y.add_(1)", "y = y + 1"),
            ),
            ("change a clone()", "right", "the saved value is left alone", ("y.add_(1)", "v = y.clone().add_(1)")),
            (
                "overwrite it through .data",
                "wrong",
                "no error, and a wrong gradient: 8 where 6 is right",
                ("y.add_(1)", "y.data.add_(1)"),
            ),
            (
                KEEPS,
                "wrong",
                "it keeps saved values from being freed, not from being overwritten",
                ("z.backward()", "z.backward(retain_graph=True)"),
            ),
        ),
    ),
    "in place": (
        case(
            "The update of a parameter",
            UPDATE,
            (
                "update inside no_grad",
                "right",
                "the number changes, nothing is recorded, w stays the leaf",
                ("w -= 0.1 * w.grad", "with mg.no_grad():\n    w -= 0.1 * w.grad"),
            ),
            (
                "the out-of-place form",
                "wrong",
                "w is a result now and no leaf: the next backward fills the .grad of the old w",
                ("w -= 0.1 * w.grad", "w = w - 0.1 * w.grad"),
            ),
            (
                "update .data",
                "depends",
                "it works, and no graph that saved w will notice: a wrong gradient then comes without an error",
                ("w -= 0.1", "w.data -= 0.1"),
            ),
        ),
    ),
    "in place, view": (
        case(
            "One entry of a leaf",
            ENTRY,
            (
                "set it inside no_grad",
                "right",
                "x holds 5. from now on, and all of x is what the gradient is for",
                ("x[0] = 5.0", "with mg.no_grad():\n    x[0] = 5.0"),
            ),
            (
                "a new tensor with the 5. in it",
                "depends",
                "right if the 5. is part of the computation: the overwritten entry of x then gets the gradient 0",
                ("x[0] = 5.0", "y = mg.where(mg.tensor([True, False]), 5.0, x)"),
                ("(x * x)", "(y * y)"),
            ),
            (
                "set it in detach()",
                "depends",
                "the same memory is changed; a graph that had saved x would refuse its backward",
                ("x[0] = 5.0", "x.detach()[0] = 5.0"),
            ),
        ),
    ),
    "backward of several": (
        case(
            "Backward from several numbers",
            """
            x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
            y = x * x
            y.backward()
            x.grad
            """,
            ("sum() first", "right", "the gradient of the sum of all entries", ("y.backward()", "y.sum().backward()")),
            (
                "mean() first",
                "right",
                "another question, another answer: each entry counts for a third",
                ("y.backward()", "y.mean().backward()"),
            ),
            (
                "say which gradient to start from",
                "right",
                "each entry of y counts as much as its entry here; ones give what sum() gives",
                ("y.backward()", "y.backward(mg.tensor([1.0, 10.0, 100.0]))"),
            ),
            (
                KEEPS,
                "wrong",
                "it has to do with a second backward only",
                ("y.backward()", "y.backward(retain_graph=True)"),
            ),
        ),
    ),
    "no history": (
        case(
            "Nothing requires grad",
            """
            x = mg.tensor(3.0)
            y = x * x
            y.backward()
            x.grad
            """,
            (
                "requires_grad=True before the forward",
                "right",
                "now the forward is recorded",
                ("tensor(3.0)", "tensor(3.0, requires_grad=True)"),
            ),
            (
                "requires_grad_() on the result",
                "wrong",
                "no error, and no gradient: y is a leaf now, and nothing leads back to x",
                ("y.backward()", "y.requires_grad_().backward()"),
            ),
            (KEEPS, "wrong", "there is no graph that could be kept", ("y.backward()", "y.backward(retain_graph=True)")),
        ),
        case(
            "The graph was cut",
            """
            x = mg.tensor(3.0, requires_grad=True)
            with mg.no_grad():
                y = x * x
            y.backward()
            x.grad
            """,
            (
                "compute it outside no_grad",
                "right",
                "recorded; the same goes for detach(), item() and numpy()",
                ("with mg.no_grad():\n    y = x * x", "y = x * x"),
            ),
            (
                "requires_grad_() on the result",
                "wrong",
                "no error, and no gradient: the cut is still there",
                ("y.backward()", "y.requires_grad_().backward()"),
            ),
        ),
        case(
            "The derivative of a derivative",
            """
            x = mg.tensor(3.0, requires_grad=True)
            (slope,) = mg.autograd.grad(x ** 3, x)
            mg.autograd.grad(slope, x)
            """,
            (
                "create_graph=True",
                "right",
                "the first walk is recorded too: 6x",
                ("x ** 3, x)", "x ** 3, x, create_graph=True)"),
            ),
            (
                KEEPS,
                "wrong",
                "it keeps the graph of x ** 3; what is missing is a graph of the slope",
                ("x ** 3, x)", "x ** 3, x, retain_graph=True)"),
            ),
        ),
    ),
    "grad of an unused input": (
        case(
            "An output that does not depend on the input",
            """
            x = mg.tensor(3.0, requires_grad=True)
            w = mg.tensor(2.0, requires_grad=True)
            y = x * 5
            mg.autograd.grad(y, w)
            """,
            (
                "allow_unused=True",
                "depends",
                "None: right if w may be unused, and you look for None",
                ("(y, w)", "(y, w, allow_unused=True)"),
            ),
            (
                "materialize_grads=True",
                "depends",
                "a zero, as the derivative of a constant has it; a forgotten w looks the same",
                ("(y, w)", "(y, w, materialize_grads=True)"),
            ),
            ("use it in the forward", "right", "if y was meant to depend on w", ("x * 5", "x * w")),
        ),
    ),
    "grad of a constant": (
        case(
            "The gradient of a tensor that needs none",
            """
            x = mg.tensor(3.0, requires_grad=True)
            c = mg.tensor(2.0)
            y = x * c
            mg.autograd.grad(y, c)
            """,
            (
                "requires_grad=True before the forward",
                "right",
                "now the forward is recorded for c, too",
                ("tensor(2.0)", "tensor(2.0, requires_grad=True)"),
            ),
            (
                "requires_grad_() after the forward",
                "wrong",
                "too late: y was recorded without it",
                ("y = x * c\n", "y = x * c\nc.requires_grad_()\n"),
            ),
        ),
    ),
    "start of another shape": (
        case(
            "A gradient of another shape to start from",
            """
            x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
            y = x * x
            y.backward(mg.ones(2))
            x.grad
            """,
            ("one entry per entry of y", "right", "the gradient of the sum", ("mg.ones(2)", "mg.ones_like(y)")),
            (
                "start from the part you mean",
                "right",
                "the other entries do not count",
                ("y.backward", "y[:2].backward"),
            ),
        ),
    ),
    "gradient does not fit": (
        case(
            "A Function that returns a gradient of another shape",
            LINEAR,
            (
                "derive the formula",
                "right",
                "the shape of w, and the numbers that gradcheck finds",
                ("grad.t() @ x", "x.t() @ grad"),
            ),
            (
                "reshape until it fits",
                "wrong",
                "no error, and wrong numbers in the right shape",
                ("grad.t() @ x", "(grad.t() @ x).reshape(w.shape)"),
            ),
        ),
    ),
    "number of gradients": (
        case(
            "A Function that returns too few gradients",
            SCALE,
            (
                "None for what has no gradient",
                "right",
                "one per argument of forward, numbers included",
                ("return grad * ctx.factor", "return grad * ctx.factor, None"),
            ),
        ),
    ),
    "gradient is no tensor": (
        case(
            "A Function that returns a number",
            SCALE.replace("return grad * ctx.factor", "return 3.0, None"),
            (
                "multiply the gradient that comes in",
                "right",
                "a tensor, and the chain rule is kept",
                ("return 3.0, None", "return grad * ctx.factor, None"),
            ),
            (
                "make a tensor of the number",
                "wrong",
                "no error, and a wrong gradient: the 10 that came in is ignored",
                ("return 3.0, None", "return mg.tensor(3.0), None"),
            ),
        ),
    ),
    "deepcopy of a result": (
        case(
            "A deep copy of a result",
            """
            import copy
            x = mg.tensor(3.0, requires_grad=True)
            y = x * 2
            copy.deepcopy(y)
            """,
            (
                "detach().clone()",
                "right",
                "a copy of the number, without the history",
                ("copy.deepcopy(y)", "y.detach().clone()"),
            ),
            ("clone()", "right", "a copy that stays in the graph", ("copy.deepcopy(y)", "y.clone()")),
        ),
    ),
    "numpy of a tracked tensor": (
        case(
            "NumPy on a tensor that requires grad",
            """
            import numpy as np
            x = mg.tensor([0.0, 1.0], requires_grad=True)
            y = mg.tensor(np.exp(x.numpy()))
            y, y.requires_grad
            """,
            (
                "minigrad's own operation",
                "right",
                "recorded: the gradient comes through",
                ("mg.tensor(np.exp(x.numpy()))", "mg.exp(x)"),
            ),
            (
                "detach().numpy()",
                "depends",
                "right for a picture or a file; in a computation it cuts the graph",
                ("x.numpy()", "x.detach().numpy()"),
            ),
        ),
    ),
    "flag of a result": (
        case(
            "A result that shall need no gradient",
            """
            x = mg.tensor(3.0, requires_grad=True)
            y = x * 2
            y.requires_grad = False
            (y * x * x).backward()
            x.grad
            """,
            (
                "detach()",
                "right",
                "y counts as a constant, x as a variable",
                ("y.requires_grad = False", "y = y.detach()"),
            ),
            (
                "no_grad for that part",
                "right",
                "the same: y is never recorded",
                ("y = x * 2\ny.requires_grad = False", "with mg.no_grad():\n    y = x * 2"),
            ),
        ),
    ),
    "flag of integers": (
        case(
            "Integers that shall require grad",
            """
            x = mg.tensor([1, 2], requires_grad=True)
            (x * x).sum().backward()
            x.grad
            """,
            ("write floats", "right", "values that can move a little", ("[1, 2]", "[1.0, 2.0]")),
            (
                "convert, then require",
                "right",
                "the floats are the leaf",
                ("mg.tensor([1, 2], requires_grad=True)", "mg.tensor([1, 2]).float().requires_grad_()"),
            ),
        ),
    ),
    "retain_grad of a constant": (
        case(
            "retain_grad() where no gradient comes by",
            """
            x = mg.tensor(3.0)
            y = x * 2
            y.retain_grad()
            (y * y).backward()
            x.grad, y.grad
            """,
            (
                "requires_grad=True on the leaf",
                "right",
                "now y is part of a graph",
                ("tensor(3.0)", "tensor(3.0, requires_grad=True)"),
            ),
            (
                "requires_grad_() instead",
                "depends",
                "y becomes a leaf and gets a gradient; x stays a constant",
                ("y.retain_grad()", "y.requires_grad_()"),
            ),
        ),
    ),
    "item of several": (
        case(
            "item() of several numbers",
            """
            x = mg.tensor([1.0, 2.0], requires_grad=True)
            x.item()
            """,
            ("tolist()", "right", "all of them", ("x.item()", "x.tolist()")),
            ("reduce first", "right", "one number", ("x.item()", "x.sum().item()")),
        ),
    ),
    "bool of several": (
        case(
            "Several numbers as one condition",
            """
            x = mg.tensor([1.0, -2.0])
            "positive" if x > 0 else "not positive"
            """,
            ("all()", "right", "if every entry has to be", ("x > 0", "(x > 0).all()")),
            ("any()", "right", "if one is enough", ("x > 0", "(x > 0).any()")),
        ),
    ),
    "hook changes the shape": (
        case(
            "A hook that returns another shape",
            """
            x = mg.tensor([1.0, 2.0], requires_grad=True)
            y = x * 3
            y.register_hook(lambda grad: grad.sum())
            y.sum().backward()
            x.grad
            """,
            (
                "return one entry per entry",
                "right",
                "the gradient has the shape of y",
                ("grad.sum()", "grad * 10"),
            ),
        ),
    ),
    "hook changes the dtype": (
        case(
            "A hook that returns another dtype",
            """
            x = mg.tensor([1.0, 2.0], requires_grad=True)
            y = x * 3
            y.register_hook(lambda grad: grad.double())
            y.sum().backward()
            x.grad
            """,
            ("stay in the dtype", "right", "the gradient has the dtype of y", ("grad.double()", "grad * 10")),
            ("convert and convert back", "right", "double in between only", (".double()", ".double().float()")),
        ),
    ),
    "hook returns no tensor": (
        case(
            "A hook that returns a number",
            """
            x = mg.tensor(2.0, requires_grad=True)
            y = x * 3
            y.register_hook(lambda grad: 10.0)
            y.backward()
            x.grad
            """,
            ("a tensor like the gradient", "right", "it takes the gradient's place", ("10.0", "grad * 10.0")),
            ("return nothing", "right", "a hook that only looks changes nothing", ("10.0", "None")),
        ),
    ),
    "post-accumulate hook of a result": (
        case(
            "A hook on the .grad of a result",
            """
            x = mg.tensor(2.0, requires_grad=True)
            y = x * 3
            seen = []
            y.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad))
            (y * y).backward()
            seen
            """,
            (
                "hang it on the leaf",
                "right",
                "only leaves have a .grad that is added to",
                ("y.register", "x.register"),
            ),
            (
                "register_hook() on the result",
                "right",
                "it is shown the gradient that comes by",
                (
                    "register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad))",
                    "register_hook(seen.append)",
                ),
            ),
        ),
    ),
    "grad of another shape": (
        case(
            "A .grad of another shape",
            """
            x = mg.tensor([1.0, 2.0], requires_grad=True)
            x.grad = mg.tensor(0.0)
            (x * x).sum().backward()
            x.grad
            """,
            ("None", "right", "the next backward makes a new one", ("mg.tensor(0.0)", "None")),
            ("zeros like it", "right", "the next backward adds to them", ("mg.tensor(0.0)", "mg.zeros_like(x)")),
        ),
    ),
    "number of several": (
        case(
            "float() of several numbers",
            """
            x = mg.tensor([1.0, 2.0], requires_grad=True)
            float(x)
            """,
            ("reduce first", "right", "one number", ("float(x)", "float(x.sum())")),
            ("tolist()", "right", "all of them", ("float(x)", "x.tolist()")),
        ),
    ),
    "data of integers": (
        case(
            "Integers as the .data of a parameter",
            """
            w = mg.tensor([1.0, 2.0], requires_grad=True)
            w.data = mg.tensor([3, 4])
            w
            """,
            ("floats", "right", "of the dtype that w has", ("[3, 4]", "[3.0, 4.0]")),
            (
                "copy them inside no_grad",
                "right",
                "converted, and graphs that saved w notice",
                ("w.data = mg.tensor([3, 4])", "with mg.no_grad():\n    w.copy_(mg.tensor([3, 4]))"),
            ),
        ),
    ),
    "nan found": (
        case(
            "An infinite slope, times nothing",
            """
            x = mg.tensor([0.0, 4.0], requires_grad=True)
            with mg.autograd.set_detect_anomaly(True):
                mg.where(x > 0, mg.sqrt(x), 0.0).sum().backward()
            x.grad
            """,
            (
                "choose before the square root",
                "right",
                "the root is never asked at 0",
                ("mg.sqrt(x)", "mg.sqrt(mg.where(x > 0, x, 1.0))"),
            ),
            (
                "turn anomaly mode off",
                "wrong",
                "no error, and nan: the slope at 0 is infinite, and times 0 it is no number",
                ("(True)", "(False)"),
            ),
        ),
    ),
    "no derivative": (
        case(
            "An operation without a derivative",
            """
            x = mg.tensor([3.0, 5.0], requires_grad=True)
            (x // 2).sum().backward()
            x.grad
            """,
            ("divide without rounding", "right", "if the slope is what you want", ("x // 2", "x / 2")),
            ("divide, then floor", "depends", "it has a derivative: 0 everywhere", ("(x // 2)", "(x / 2).floor()")),
            ("detach() first", "wrong", "cut off from x, there is no way back", ("x // 2", "x.detach() // 2")),
        ),
    ),
    "differentiable once": (
        case(
            "A Function that can be differentiated once",
            SQUARE,
            (
                "leave the decorator out",
                "right",
                "its backward is made of operations, so it can be differentiated, too",
                ("    @mg.autograd.function.once_differentiable\n", ""),
            ),
            (
                "retain_graph=True instead",
                "wrong",
                "what it keeps is the graph of the first derivative; the slope has none of its own",
                ("create_graph", "retain_graph"),
            ),
        ),
    ),
    "gradient of no tensor": (
        case(
            "A Function that returns a gradient for a number",
            SCALE.replace("return grad * ctx.factor", "return grad * ctx.factor, grad"),
            (
                "None for what is no tensor",
                "right",
                "a number has no gradient",
                ("return grad * ctx.factor, grad", "return grad * ctx.factor, None"),
            ),
        ),
    ),
    "saved is no tensor": (
        case(
            "A number among the saved tensors",
            SCALE.replace("ctx.factor = factor", "ctx.save_for_backward(x, factor)").replace(
                "return grad * ctx.factor", "return grad * ctx.factor, None"
            ),
            (
                "keep it on ctx",
                "right",
                "only tensors have versions to check",
                ("ctx.save_for_backward(x, factor)", "ctx.factor = factor"),
            ),
        ),
    ),
    "view of strides": (
        case(
            "view() of what does not lie in order",
            """
            x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
            x.t().view(4)
            """,
            ("reshape()", "right", "a copy where it must be one", ("view", "reshape")),
        ),
    ),
    "detach_ of a view": (
        case(
            "detach_() of a view",
            """
            x = mg.tensor([1.0, 2.0], requires_grad=True)
            y = x * 3
            part = y[0]
            part.detach_()
            part
            """,
            ("a detached tensor", "right", "a new one without the history", ("part.detach_()", "part = part.detach()")),
        ),
    ),
    "in place, inference tensor": (
        case(
            "A tensor of inference_mode, changed outside",
            INFERENCE.replace("LAST", "y.add_(1)"),
            ("change a clone()", "right", "an ordinary tensor", ("y.add_(1)", "y.clone().add_(1)")),
            ("no_grad instead", "right", "as little is recorded, and the result stays ordinary", NO_GRAD),
        ),
    ),
    "inference tensor saved": (
        case(
            "A tensor of inference_mode in a graph",
            INFERENCE.replace("LAST", "(x * y).backward()") + "    x.grad\n",
            ("use a clone()", "right", "an ordinary tensor can be saved", ("x * y)", "x * y.clone())")),
            ("no_grad instead", "right", "as little is recorded, and the result can be saved", NO_GRAD),
        ),
    ),
    "in place, overlapping": (
        case(
            "An expanded tensor, changed in place",
            """
            x = mg.tensor([1.0, 2.0])
            rows = x.expand(3, 2)
            rows.add_(1)
            rows
            """,
            ("a new tensor", "right", "the sum has memory of its own", ("rows.add_(1)", "rows = rows + 1")),
            ("clone() first", "right", "each row has memory of its own", ("expand(3, 2)", "expand(3, 2).clone()")),
        ),
    ),
    "out of a tracked tensor": (
        case(
            "out= with a tensor that requires grad",
            """
            x = mg.tensor(3.0, requires_grad=True)
            y = mg.tensor(0.0)
            mg.mul(x, x, out=y)
            y
            """,
            ("take what it returns", "right", "recorded", ("mg.mul(x, x, out=y)", "y = mg.mul(x, x)")),
            (
                "inside no_grad",
                "depends",
                "right where the number is all you want",
                ("mg.mul(x, x, out=y)", "with mg.no_grad():\n    mg.mul(x, x, out=y)"),
            ),
        ),
    ),
}
CASES["modified, anomaly mode"] = CASES["modified"]
CASES["hook on a constant"] = CASES["retain_grad of a constant"]
