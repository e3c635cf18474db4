"""What `explain` shows for each refusal: small programs with the same misuse, and what people do about it.

Nothing here says what a program gives: it is run when it is shown. The verdicts are ours.
"""

import re
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


def read_cases(table: str) -> dict[str, tuple[Case, ...]]:
    r"""The cases for each refusal, from a table like the one below.

    An entry is a line ``# refusal: title``, the program, and its repairs: ``- verdict, title: why`` (lines that go on
    are indented by two), then the changes to the program, ``    old => new``, in which ``\n`` stands for a new line.

    >>> read_cases("# key: Three\nx = 1\nx + 1\n- right, two more: 1 + 2\n    + 1 => + 2")["key"][0].repairs
    (Repair(title='two more', verdict='right', why='1 + 2', program='x = 1\nx + 2'),)
    """
    found: dict[str, tuple[Case, ...]] = {}
    pieces = re.split(r"(?m)^# (.*)\n", table)[1:]
    for heading, entry in zip(pieces[0::2], pieces[1::2], strict=True):
        key, title = heading.split(": ", 1)
        program, *repairs = re.split(r"\n- ", entry.strip())
        case = Case(title, program, tuple(_repair(each, program) for each in repairs))
        found[key] = (*found.get(key, ()), case)
    return found


def _repair(entry: str, program: str) -> Repair:
    head, *changes = entry.split("\n    ")
    verdict, rest = head.replace("\n  ", " ").split(", ", 1)
    title, why = rest.split(": ", 1)
    for change in changes:
        old, new = change.replace(r"\n", "\n").split(" => ")
        if program.count(old) != 1:
            raise ValueError(f"{old!r} has to be in the program once, for {title!r}:\n{program}")
        program = program.replace(old, new)
    return Repair(title, verdict, why, program)


CASES = read_cases(r"""
# second time: A result that was computed once, before the loop
w = mg.tensor(3.0, requires_grad=True)
h = w * w
for step in range(2):
    w.grad = None
    (h * 2).backward()
    with mg.no_grad():
        w -= 0.1 * w.grad
w
- right, run the forward in every step: each step has a graph of its own, of the w of that step
    h = w * w\nfor step in range(2): => for step in range(2):\n    h = w * w
- wrong, retain_graph=True: the kept graph is that of the old w, and the update has overwritten what it saved
    .backward() => .backward(retain_graph=True)

# second time: Two losses of one forward
x = mg.tensor(3.0, requires_grad=True)
h = x * x
a, b = h * 2, h * 5
a.backward()
b.backward()
x.grad
- right, add the losses, go backward once: the same sum of gradients from one walk; nothing has to be kept
    a.backward()\nb.backward() => (a + b).backward()
- depends, retain_graph=True in the first: right where one graph really is walked twice; all that was saved stays in
  memory meanwhile
    a.backward() => a.backward(retain_graph=True)
- wrong, detach() the shared part: cut off from x, b has nothing to go back to
    h * 5 => h.detach() * 5

# second time: A state that goes from round to round
w = mg.tensor(0.5, requires_grad=True)
state = mg.tensor(1.0)
for step in range(3):
    state = w * state + 1
    (state * state).backward()
w.grad
- right, detach() the state: each step goes back through itself alone, as most training of this kind does
    w * state + 1 => w * state.detach() + 1
- depends, retain_graph=True: right where each loss is meant for all steps before it; the walks and the memory grow
    .backward() => .backward(retain_graph=True)

# modified: A value that was saved, then overwritten
x = mg.tensor(3.0, requires_grad=True)
y = x * 1
z = y * y
y.add_(1)
z.backward()
x.grad
- right, the out-of-place operation: z was made of the old y, which is still there
    y.add_(1) => y = y + 1
- right, change a clone(): the saved value is left alone
    y.add_(1) => v = y.clone().add_(1)
- wrong, overwrite it through .data: no error, and a wrong gradient: 8 where 6 is right
    y.add_(1) => y.data.add_(1)
- wrong, retain_graph=True: it keeps saved values from being freed, not from being overwritten
    z.backward() => z.backward(retain_graph=True)

# in place: The update of a parameter
w = mg.tensor(3.0, requires_grad=True)
(w * w).backward()
w -= 0.1 * w.grad
w, w.is_leaf
- right, update inside no_grad: the number changes, nothing is recorded, w stays the leaf
    w -= 0.1 * w.grad => with mg.no_grad():\n    w -= 0.1 * w.grad
- wrong, the out-of-place form: w is a result now and no leaf: the next backward fills the .grad of the old w
    w -= 0.1 * w.grad => w = w - 0.1 * w.grad
- depends, update .data: it works, and no graph that saved w will notice: a wrong gradient then comes without an error
    w -= 0.1 => w.data -= 0.1

# in place, view: One entry of a leaf
x = mg.tensor([1.0, 2.0], requires_grad=True)
x[0] = 5.0
(x * x).sum().backward()
x.grad
- right, set it inside no_grad: x holds 5. from now on, and all of x is what the gradient is for
    x[0] = 5.0 => with mg.no_grad():\n    x[0] = 5.0
- depends, a new tensor with the 5. in it: right if the 5. is part of the computation: the overwritten entry of x then
  gets the gradient 0
    x[0] = 5.0 => y = mg.where(mg.tensor([True, False]), 5.0, x)
    (x * x) => (y * y)
- depends, set it in detach(): the same memory is changed; a graph that had saved x would refuse its backward
    x[0] = 5.0 => x.detach()[0] = 5.0

# backward of several: Backward from several numbers
x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * x
y.backward()
x.grad
- right, sum() first: the gradient of the sum of all entries
    y.backward() => y.sum().backward()
- right, mean() first: another question, another answer: each entry counts for a third
    y.backward() => y.mean().backward()
- right, say which gradient to start from: each entry of y counts as much as its entry here; ones give what sum()
  gives
    y.backward() => y.backward(mg.tensor([1.0, 10.0, 100.0]))
- wrong, retain_graph=True: it has to do with a second backward only
    y.backward() => y.backward(retain_graph=True)

# no history: Nothing requires grad
x = mg.tensor(3.0)
y = x * x
y.backward()
x.grad
- right, requires_grad=True before the forward: now the forward is recorded
    tensor(3.0) => tensor(3.0, requires_grad=True)
- wrong, requires_grad_() on the result: no error, and no gradient: y is a leaf now, and nothing leads back to x
    y.backward() => y.requires_grad_().backward()
- wrong, retain_graph=True: there is no graph that could be kept
    y.backward() => y.backward(retain_graph=True)

# no history: The graph was cut
x = mg.tensor(3.0, requires_grad=True)
with mg.no_grad():
    y = x * x
y.backward()
x.grad
- right, compute it outside no_grad: recorded; the same goes for detach(), item() and numpy()
    with mg.no_grad():\n    y = x * x => y = x * x
- wrong, requires_grad_() on the result: no error, and no gradient: the cut is still there
    y.backward() => y.requires_grad_().backward()

# no history: The derivative of a derivative
x = mg.tensor(3.0, requires_grad=True)
(slope,) = mg.autograd.grad(x ** 3, x)
mg.autograd.grad(slope, x)
- right, create_graph=True: the first walk is recorded too: 6x
    x ** 3, x) => x ** 3, x, create_graph=True)
- wrong, retain_graph=True: it keeps the graph of x ** 3; what is missing is a graph of the slope
    x ** 3, x) => x ** 3, x, retain_graph=True)

# grad of an unused input: An output that does not depend on the input
x = mg.tensor(3.0, requires_grad=True)
w = mg.tensor(2.0, requires_grad=True)
y = x * 5
mg.autograd.grad(y, w)
- depends, allow_unused=True: None: right if w may be unused, and you look for None
    (y, w) => (y, w, allow_unused=True)
- depends, materialize_grads=True: a zero, as the derivative of a constant has it; a forgotten w looks the same
    (y, w) => (y, w, materialize_grads=True)
- right, use it in the forward: if y was meant to depend on w
    x * 5 => x * w

# grad of a constant: The gradient of a tensor that needs none
x = mg.tensor(3.0, requires_grad=True)
c = mg.tensor(2.0)
y = x * c
mg.autograd.grad(y, c)
- right, requires_grad=True before the forward: now the forward is recorded for c, too
    tensor(2.0) => tensor(2.0, requires_grad=True)
- wrong, requires_grad_() after the forward: too late: y was recorded without it
    y = x * c => y = x * c\nc.requires_grad_()

# start of another shape: A gradient of another shape to start from
x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * x
y.backward(mg.ones(2))
x.grad
- right, one entry per entry of y: the gradient of the sum
    mg.ones(2) => mg.ones_like(y)
- right, start from the part you mean: the other entries do not count
    y.backward => y[:2].backward

# gradient does not fit: A Function that returns a gradient of another shape
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
- right, derive the formula: the shape of w, and the numbers that gradcheck finds
    grad.t() @ x => x.t() @ grad
- wrong, reshape until it fits: no error, and wrong numbers in the right shape
    grad.t() @ x => (grad.t() @ x).reshape(w.shape)

# number of gradients: A Function that returns too few gradients
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
- right, None for what has no gradient: one per argument of forward, numbers included
    return grad * ctx.factor => return grad * ctx.factor, None

# gradient is no tensor: A Function that returns a number
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor
    @staticmethod
    def backward(ctx, grad):
        return 3.0, None

x = mg.tensor(2.0, requires_grad=True)
(Scale.apply(x, 3.0) * 10).backward()
x.grad
- right, multiply the gradient that comes in: a tensor, and the chain rule is kept
    return 3.0, None => return grad * ctx.factor, None
- wrong, make a tensor of the number: no error, and a wrong gradient: the 10 that came in is ignored
    return 3.0, None => return mg.tensor(3.0), None

# deepcopy of a result: A deep copy of a result
import copy
x = mg.tensor(3.0, requires_grad=True)
y = x * 2
copy.deepcopy(y)
- right, detach().clone(): a copy of the number, without the history
    copy.deepcopy(y) => y.detach().clone()
- right, clone(): a copy that stays in the graph
    copy.deepcopy(y) => y.clone()

# numpy of a tracked tensor: NumPy on a tensor that requires grad
import numpy as np
x = mg.tensor([0.0, 1.0], requires_grad=True)
y = mg.tensor(np.exp(x.numpy()))
y, y.requires_grad
- right, minigrad's own operation: recorded: the gradient comes through
    mg.tensor(np.exp(x.numpy())) => mg.exp(x)
- depends, detach().numpy(): right for a picture or a file; in a computation it cuts the graph
    x.numpy() => x.detach().numpy()

# flag of a result: A result that shall need no gradient
x = mg.tensor(3.0, requires_grad=True)
y = x * 2
y.requires_grad = False
(y * x * x).backward()
x.grad
- right, detach(): y counts as a constant, x as a variable
    y.requires_grad = False => y = y.detach()
- right, no_grad for that part: the same: y is never recorded
    y = x * 2\ny.requires_grad = False => with mg.no_grad():\n    y = x * 2

# flag of integers: Integers that shall require grad
x = mg.tensor([1, 2], requires_grad=True)
(x * x).sum().backward()
x.grad
- right, write floats: values that can move a little
    [1, 2] => [1.0, 2.0]
- right, convert, then require: the floats are the leaf
    mg.tensor([1, 2], requires_grad=True) => mg.tensor([1, 2]).float().requires_grad_()

# retain_grad of a constant: retain_grad() where no gradient comes by
x = mg.tensor(3.0)
y = x * 2
y.retain_grad()
(y * y).backward()
x.grad, y.grad
- right, requires_grad=True on the leaf: now y is part of a graph
    tensor(3.0) => tensor(3.0, requires_grad=True)
- depends, requires_grad_() instead: y becomes a leaf and gets a gradient; x stays a constant
    y.retain_grad() => y.requires_grad_()

# item of several: item() of several numbers
x = mg.tensor([1.0, 2.0], requires_grad=True)
x.item()
- right, tolist(): all of them
    x.item() => x.tolist()
- right, reduce first: one number
    x.item() => x.sum().item()

# bool of several: Several numbers as one condition
x = mg.tensor([1.0, -2.0])
"positive" if x > 0 else "not positive"
- right, all(): if every entry has to be
    x > 0 => (x > 0).all()
- right, any(): if one is enough
    x > 0 => (x > 0).any()

# hook changes the shape: A hook that returns another shape
x = mg.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.register_hook(lambda grad: grad.sum())
y.sum().backward()
x.grad
- right, return one entry per entry: the gradient has the shape of y
    grad.sum() => grad * 10

# hook changes the dtype: A hook that returns another dtype
x = mg.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
y.register_hook(lambda grad: grad.double())
y.sum().backward()
x.grad
- right, stay in the dtype: the gradient has the dtype of y
    grad.double() => grad * 10
- right, convert and convert back: double in between only
    .double() => .double().float()

# hook returns no tensor: A hook that returns a number
x = mg.tensor(2.0, requires_grad=True)
y = x * 3
y.register_hook(lambda grad: 10.0)
y.backward()
x.grad
- right, a tensor like the gradient: it takes the gradient's place
    10.0 => grad * 10.0
- right, return nothing: a hook that only looks changes nothing
    10.0 => None

# post-accumulate hook of a result: A hook on the .grad of a result
x = mg.tensor(2.0, requires_grad=True)
y = x * 3
seen = []
y.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad))
(y * y).backward()
seen
- right, hang it on the leaf: only leaves have a .grad that is added to
    y.register => x.register
- right, register_hook() on the result: it is shown the gradient that comes by
    register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad)) => register_hook(seen.append)

# grad of another shape: A .grad of another shape
x = mg.tensor([1.0, 2.0], requires_grad=True)
x.grad = mg.tensor(0.0)
(x * x).sum().backward()
x.grad
- right, None: the next backward makes a new one
    mg.tensor(0.0) => None
- right, zeros like it: the next backward adds to them
    mg.tensor(0.0) => mg.zeros_like(x)

# number of several: float() of several numbers
x = mg.tensor([1.0, 2.0], requires_grad=True)
float(x)
- right, reduce first: one number
    float(x) => float(x.sum())
- right, tolist(): all of them
    float(x) => x.tolist()

# data of integers: Integers as the .data of a parameter
w = mg.tensor([1.0, 2.0], requires_grad=True)
w.data = mg.tensor([3, 4])
w
- right, floats: of the dtype that w has
    [3, 4] => [3.0, 4.0]
- right, copy them inside no_grad: converted, and graphs that saved w notice
    w.data = mg.tensor([3, 4]) => with mg.no_grad():\n    w.copy_(mg.tensor([3, 4]))

# nan found: An infinite slope, times nothing
x = mg.tensor([0.0, 4.0], requires_grad=True)
with mg.autograd.set_detect_anomaly(True):
    mg.where(x > 0, mg.sqrt(x), 0.0).sum().backward()
x.grad
- right, choose before the square root: the root is never asked at 0
    mg.sqrt(x) => mg.sqrt(mg.where(x > 0, x, 1.0))
- wrong, turn anomaly mode off: no error, and nan: the slope at 0 is infinite, and times 0 it is no number
    (True) => (False)

# no derivative: An operation without a derivative
x = mg.tensor([3.0, 5.0], requires_grad=True)
(x // 2).sum().backward()
x.grad
- right, divide without rounding: if the slope is what you want
    x // 2 => x / 2
- depends, divide, then floor: it has a derivative: 0 everywhere
    (x // 2) => (x / 2).floor()
- wrong, detach() first: cut off from x, there is no way back
    x // 2 => x.detach() // 2

# differentiable once: A Function that can be differentiated once
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
- right, leave the decorator out: its backward is made of operations, so it can be differentiated, too
    @staticmethod\n    @mg.autograd.function.once_differentiable => @staticmethod
- wrong, retain_graph=True instead: what it keeps is the graph of the first derivative; the slope has none of its own
    create_graph => retain_graph

# gradient of no tensor: A Function that returns a gradient for a number
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, grad

x = mg.tensor(2.0, requires_grad=True)
(Scale.apply(x, 3.0) * 10).backward()
x.grad
- right, None for what is no tensor: a number has no gradient
    return grad * ctx.factor, grad => return grad * ctx.factor, None

# saved is no tensor: A number among the saved tensors
class Scale(mg.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return x * factor
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None

x = mg.tensor(2.0, requires_grad=True)
(Scale.apply(x, 3.0) * 10).backward()
x.grad
- right, keep it on ctx: only tensors have versions to check
    ctx.save_for_backward(x, factor) => ctx.factor = factor

# view of strides: view() of what does not lie in order
x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
x.t().view(4)
- right, reshape(): a copy where it must be one
    view => reshape

# detach_ of a view: detach_() of a view
x = mg.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
part = y[0]
part.detach_()
part
- right, a detached tensor: a new one without the history
    part.detach_() => part = part.detach()

# in place, inference tensor: A tensor of inference_mode, changed outside
x = mg.tensor(3.0, requires_grad=True)
with mg.inference_mode():
    y = x * 2
y.add_(1)
- right, change a clone(): an ordinary tensor
    y.add_(1) => y.clone().add_(1)
- right, no_grad instead: as little is recorded, and the result stays ordinary
    inference_mode => no_grad

# inference tensor saved: A tensor of inference_mode in a graph
x = mg.tensor(3.0, requires_grad=True)
with mg.inference_mode():
    y = x * 2
(x * y).backward()
x.grad
- right, use a clone(): an ordinary tensor can be saved
    x * y) => x * y.clone())
- right, no_grad instead: as little is recorded, and the result can be saved
    inference_mode => no_grad

# in place, overlapping: An expanded tensor, changed in place
x = mg.tensor([1.0, 2.0])
rows = x.expand(3, 2)
rows.add_(1)
rows
- right, a new tensor: the sum has memory of its own
    rows.add_(1) => rows = rows + 1
- right, clone() first: each row has memory of its own
    expand(3, 2) => expand(3, 2).clone()

# out of a tracked tensor: out= with a tensor that requires grad
x = mg.tensor(3.0, requires_grad=True)
y = mg.tensor(0.0)
mg.mul(x, x, out=y)
y
- right, take what it returns: recorded
    mg.mul(x, x, out=y) => y = mg.mul(x, x)
- depends, inside no_grad: right where the number is all you want
    mg.mul(x, x, out=y) => with mg.no_grad():\n    mg.mul(x, x, out=y)
""")
CASES["modified, anomaly mode"] = CASES["modified"]
CASES["hook on a constant"] = CASES["retain_grad of a constant"]
