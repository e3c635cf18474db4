"""Small programs on which minigrad once differed from PyTorch: each leaves what it shows in `out`.

`python -m tools.record_torch` writes down what PyTorch shows; an error is shown as its type and first line.
"""

import copy
import importlib
import pickle
import warnings

import numpy as np

CASES = {
    "relu backward of an infinite gradient is nan, not 0": """\
x = torch.tensor(-1.0, requires_grad=True)
torch.relu(x).sqrt().backward()
out = x.grad""",
    "the same by F.relu": """\
x = torch.tensor([-1.0, 4.0], requires_grad=True)
(1 / F.relu(x)).sum().backward()
out = x.grad""",
    "amax/amin: float64 gradient of a float32 leaf": """\
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.amax().backward()
out = (x.grad.dtype, x.grad)""",
    "add/sub of 0. with alpha, and of a float to integers: float64": """\
x = torch.tensor([1.0, 2.0])
out = (x.add(0.0, alpha=2).dtype, x.sub(0.0, alpha=-1).dtype, torch.tensor([2]).sub(3.0, alpha=-1).dtype)""",
    "masked_fill by a 0-d tensor promotes a 0-d half": """\
h = torch.tensor(1.0, dtype=torch.float16)
out = h.masked_fill(h == 1, torch.tensor(2.0)).dtype""",
    "rsub promotes otherwise": """\
out = torch.rsub(torch.tensor([1.0]), torch.tensor([2])).dtype""",
    "all/any of uint8": """\
out = torch.tensor([1, 0], dtype=torch.uint8).any(0).dtype""",
    "addmm(beta=0) lets nan and inf of the input through": """\
i = torch.tensor([[float("inf")]])
out = torch.addmm(i, torch.ones(1, 1), torch.ones(1, 1), beta=0)""",
    "cross_entropy of ignored targets only, behind another nan": """\
x = torch.tensor([1.0, -1.0], requires_grad=True)
F.mse_loss(F.cross_entropy(x, torch.tensor(0), ignore_index=0), torch.tensor(1.0)).backward()
out = x.grad""",
    "std/var of large float32 overflows": """\
out = torch.tensor([3.0, 1e30, 3.0]).std()""",
    "a hook's result in grad() of the tensor that has it": """\
x = torch.tensor(2.0, requires_grad=True)
y = x * 1
y.register_hook(lambda g: g * 0)
out = torch.autograd.grad(y * 3, [y, x])""",
    "grads_batched and materialized": """\
x = torch.ones(3, requires_grad=True)
u = torch.ones(2, requires_grad=True)
out = torch.autograd.grad(x, [u], torch.ones(4, 3), is_grads_batched=True, materialize_grads=True)[0].shape""",
    "bool or marked output, saved by its Function, requires grad in backward": """\
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.save_for_backward(mask)
        return (x * mask, mask)

    @staticmethod
    def backward(ctx, g, _):
        (m,) = ctx.saved_tensors
        global out
        out = (m.dtype, m.requires_grad)
        return g * m


x = torch.tensor([1.0, -1.0], requires_grad=True)
Fn.apply(x)[0].sum().backward()""",
    "... so that a gradient under create_graph requires grad of a mask": """\
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.save_for_backward(mask)
        return (x * mask, mask)

    @staticmethod
    def backward(ctx, g, _):
        return g * ctx.saved_tensors[0]


x = torch.tensor([1.0, -1.0], requires_grad=True)
(d,) = torch.autograd.grad(Fn.apply(x)[0].sum(), x, create_graph=True)
out = d.requires_grad""",
    "var/std over dim=()": """\
x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
x.var(()).backward()
out = x.grad""",
    "cumprod of nan": """\
x = torch.tensor([0.0, float("nan"), 2.0], requires_grad=True)
x.cumprod(0).sum().backward()
out = x.grad""",
    "var of one element with correction 2": """\
x = torch.tensor([3.0], requires_grad=True)
x.var(0, correction=2).backward()
out = x.grad""",
    "bool + bool with alpha": """\
b = torch.tensor([True])
out = b.add(b, alpha=2).dtype""",
    "tanh backward of an infinite gradient": """\
x = torch.tensor(0.0, requires_grad=True)
torch.autograd.backward(torch.tanh(x), torch.tensor(float("inf")))
out = x.grad""",
    "prod of zeros, cumprod, nll of an ignored target: an infinite gradient": """\
inf = torch.tensor(float("inf"))
x = torch.zeros(3, requires_grad=True)
x.prod().backward(inf)
u = torch.zeros(1, 2, requires_grad=True)
F.nll_loss(u, torch.tensor([0]), reduction="none", ignore_index=0).backward(inf.reshape(1))
out = (x.grad, u.grad)""",
    "uint8: sum, prod, cumsum give a dtype that there is not": """\
out = torch.tensor([1, 2], dtype=torch.uint8).sum().dtype""",
    "after pickle a dtype is another one": """\
x = torch.ones(2, requires_grad=True)
x.grad = pickle.loads(pickle.dumps(torch.ones(2)))
out = x.grad""",
    "from_numpy of an array that was pickled": """\
a = pickle.loads(pickle.dumps(np.ones(2, "float32")))
x = torch.ones(2)
x.grad = torch.from_numpy(a)
out = x.grad""",
    "prod(dim) of a 0-d tensor goes no way back": """\
x = torch.tensor(0.0, requires_grad=True)
x.prod(dim=0).backward()
out = x.grad""",
    "rsub with a tensor that requires grad": """\
out = torch.rsub(torch.tensor([1.0]), torch.tensor([3.0], requires_grad=True)).requires_grad""",
    "an output that is a view of an input that was marked dirty": """\
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        v = a[...]
        ctx.mark_dirty(a)
        return (v, a)

    @staticmethod
    def backward(ctx, g, h):
        return g + h


x = torch.ones(2, requires_grad=True)
v, a = Fn.apply(x.exp())
out = type(v.grad_fn).__name__""",
    "mean cross entropy of no class": """\
x = torch.zeros(0)
out = F.cross_entropy(x, x.softmax(0))""",
    "reshape(-2)": """\
out = torch.ones(1).reshape(-2).shape""",
    "a number % tensor has no derivative": """\
x = torch.tensor([2.0, 3.0], requires_grad=True)
(5 % x).sum().backward()
out = x.grad""",
    "x % t twice: nothing was saved for x": """\
x = torch.tensor([2.0, 3.0], requires_grad=True)
s = (x % torch.tensor([1.5, 2.0])).sum()
s.backward()
s.backward()
out = x.grad""",
    "F.linear with a bias only to learn, twice": """\
b = torch.zeros(2, requires_grad=True)
y = F.linear(torch.ones(3, 2), torch.ones(2, 2), b).sum()
y.backward()
y.backward()
out = b.grad""",
    "clamp by a number and a tensor (0-d)": """\
out = torch.tensor(2.0).clamp(0, torch.tensor(1.0))""",
    "unfold of a 0-d tensor": """\
out = torch.tensor(1.0).unfold(0, 1, 1).shape""",
    "gather saves its input: a change in place is an error": """\
x = torch.ones(2, requires_grad=True)
y = x.gather(0, torch.tensor([0]))
with torch.no_grad():
    x.add_(1)
y.sum().backward()
out = x.grad""",
    "view(-1) of what came from a transposed tensor is refused": """\
t = torch.ones(2, 3).t()
u = torch.ones(2, 3, 4).transpose(0, 2)
out = []
for name, f in dict(
    softmax=lambda: t.softmax(0),
    cat=lambda: torch.cat([t, t]),
    stack=lambda: torch.stack([t, t]),
    cumsum=lambda: t.cumsum(0),
    masked_fill=lambda: t.masked_fill(t > 2, 0.0),
    mean=lambda: u.mean(1),
    amax=lambda: u.amax(1),
    norm=lambda: u.norm(dim=1),
).items():
    try:
        f().view(-1)
    except RuntimeError:
        out.append(name)""",
    "... and is not refused": """\
t = torch.ones(2, 3).t()
out = []
for name, f in dict(
    ones_like=lambda: torch.ones_like(t),
    mixed=lambda: t * torch.ones(3, 2),
    flip=lambda: t.flip(0),
    sort=lambda: t.sort(0)[0],
).items():
    try:
        f().view(-1)
    except RuntimeError:
        out.append(name)""",
    "setup_context that saves an input which forward returned": """\
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        return g


out = Fn.apply(torch.ones(2, requires_grad=True))""",
    "a wrong gradient for an input that is not asked for": """\
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b

    @staticmethod
    def backward(ctx, g):
        return torch.ones(7), g


a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
out = torch.autograd.grad(Fn.apply(a, b).sum(), b)""",
    "backward of a Function that returned None: those before it": """\
log = []


class One(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        log.append(g.tolist())
        return g


class Cut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return None


x = torch.tensor(1.0, requires_grad=True)
Cut.apply(One.apply(x)).backward()
out = (log, x.grad)""",
    "masked_fill of integers by what requires grad": """\
x = torch.tensor([1, 2])
out = x.masked_fill(x == 1, torch.tensor(1.5, requires_grad=True)).requires_grad""",
    "a view without history as a gradient edge": """\
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    v = x.view(-1)
out = torch.autograd.graph.get_gradient_edge(v)[1], v.requires_grad""",
    "norm of order 0 in forward mode": """\
with FA.dual_level():
    out = FA.unpack_dual(FA.make_dual(torch.ones(2), torch.ones(2)).norm(0)).tangent""",
    "x * None and x + None": """\
out = []
for f in (
    lambda x: x * None,
    lambda x: x + None,
    lambda x: x - None,
    lambda x: x / None,
    lambda x: None * x,
    lambda x: x @ None,
    lambda x: x - "a",
):
    try:
        f(torch.ones(1))
    except Exception as e:
        out.append(str(e).splitlines()[0][:70])""",
    "conv_transpose2d without room": """\
out = F.conv_transpose2d(torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1), padding=1).shape""",
    "logical_and with a number": """\
out = torch.tensor([1.0]).logical_and(2.0)""",
    "index_select and gather of 0-d and 1-d in a dim that is not": """\
out = torch.tensor([1.0]).index_select(1, torch.tensor([0]))""",
    "gradient that is the seed itself": """\
x = torch.ones(2, requires_grad=True)
g = torch.ones(2, requires_grad=True)
(d,) = torch.autograd.grad(x, x, g)
out = (d is g, d.requires_grad)""",
    "a seed that requires grad, seen by a hook": """\
x = torch.ones(2, requires_grad=True)
out = []
x.register_hook(lambda g: out.append(g.requires_grad))
x.backward(torch.ones(2, requires_grad=True))""",
    "next_functions of a convolution without bias, clamp by one tensor": """\
out = (
    len(F.conv2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 1, 1, requires_grad=True)).grad_fn.next_functions),
    len(torch.ones(1, requires_grad=True).clamp(torch.zeros(1)).grad_fn.next_functions),
)""",
    "node names": """\
x = torch.ones(2, requires_grad=True)
n = lambda t: t.grad_fn.name()
s = x.sum() * 1
s[...] = 2.0
out = [
    n(x // 2),
    n(x.div(2, rounding_mode=None)),
    n(s),
    n(torch.rsub(x, torch.ones(2))),
    n(torch.einsum("i,i->", x, x)),
]""",
    "nodes inside cross_entropy": """\
x = torch.ones(1, 2, requires_grad=True)
out = [
    F.cross_entropy(x, x.detach().softmax(1)).grad_fn.name(),
    F.cross_entropy(x, torch.tensor([0]), label_smoothing=0.1).grad_fn.next_functions[0][0].name(),
]""",
    "sum(dtype=): one node more": """\
x = torch.ones(2, requires_grad=True)
out = x.sum(dtype=torch.float64).grad_fn.next_functions[0][0].name()""",
    "index of the wrong gradient, where one tensor is given twice": """\
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b

    @staticmethod
    def backward(ctx, g):
        return (g, torch.ones(7))


x = torch.ones(2, requires_grad=True)
Fn.apply(x, x).sum().backward()
out = None""",
    "seeds of a wrong shape, for several outputs": """\
a = torch.ones(2, requires_grad=True)
torch.autograd.backward([a.sum(), a], [None, torch.ones(3)])
out = None""",
    "in place on a half: name of the type": """\
x = torch.ones(1, dtype=torch.float16, requires_grad=True)
y = x.exp()
y.mul_(2)
y.backward()
out = None""",
    "torch.max(x, number)": """\
torch.max(torch.ones(2), 0.5)
out = None""",
    "sizes that do not fit, by a negative dim": """\
torch.ones(2).split([1, 2], -1)
out = None""",
    ".T and .mT of 0-d": """\
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    torch.set_warn_always(True)
    torch.tensor(1.0).T
    torch.tensor(1.0).mT
    out = [str(x.message)[:60] for x in w]""",
    "order of hooks: a leaf that is itself an output": """\
out = []
x = torch.ones(1, requires_grad=True)
u = torch.ones(1, requires_grad=True)
y = x * 2
u.register_hook(lambda g: out.append("u"))
y.register_hook(lambda g: out.append("y"))
torch.autograd.backward([y, u], [torch.ones(1)] * 2)""",
    "a leaf's hook after detach_()": """\
out = []
x = torch.ones(1, requires_grad=True)
y = x * 2
x.register_hook(lambda g: out.append(1))
x.detach_()
y.backward()""",
    "what saved_tensors_hooks see": """\
out = {}
x = torch.tensor([1.0, 2.0], requires_grad=True)
for name, f in dict(
    argsort=lambda: x.argsort(),
    isfinite=lambda: x.isfinite(),
    dot=lambda: x.dot(x),
    matmul=lambda: x @ x,
    gather=lambda: x.gather(0, torch.tensor([0])),
    nll=lambda: F.nll_loss(x, torch.tensor(0)),
    floor_div=lambda: x.div(x, rounding_mode="floor"),
    logsumexp0=lambda: torch.tensor(1.0, requires_grad=True).logsumexp(0),
).items():
    n = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (n.append(1), t)[1], lambda t: t):
        f()
    out[name] = len(n)""",
    "_saved_self of a product whose other factor needs no gradient, after backward": """\
x = torch.ones(1, requires_grad=True)
y = x * torch.ones(1)
y.backward()
out = y.grad_fn._saved_self""",
    "versions after copy, pickle, isclose": """\
t = torch.ones(1)
out = (copy.deepcopy(t)._version, copy.copy(t.clone())._version, pickle.loads(pickle.dumps(t))._version)""",
    "tangent of a tracked primal times a number": """\
x = torch.ones(1, requires_grad=True)
with FA.dual_level():
    out = FA.unpack_dual(FA.make_dual(x, torch.ones(1)) * 2).tangent.requires_grad""",
    "AccumulateGrad called by hand": """\
x = torch.ones(1, requires_grad=True)
(x * 2).grad_fn.next_functions[0][0](torch.ones(1))
out = x.grad""",
    "a numpy warning from an empty mse_loss": """\
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    F.mse_loss(torch.zeros(0), torch.zeros(0))
    out = [x.category.__name__ for x in w]""",
    "forward-mode jacobian of several inputs": """\
import importlib

fn = importlib.import_module(torch.__name__ + ".autograd.functional")
out = type(
    fn.jacobian(lambda x, y: (x * y).sum(), (torch.ones(2), torch.ones(2)), vectorize=True, strategy="forward-mode")
).__name__""",
    "a multi_grad_hook on the output itself, or on one tensor twice": """\
x = torch.ones(1, requires_grad=True)
y = x * 2
out = []
torch.autograd.graph.register_multi_grad_hook((x, y), lambda g: out.append("xy"))
torch.autograd.graph.register_multi_grad_hook((x, x), lambda g: out.append("xx"))
y.backward()""",
    "a multi_grad_hook on a leaf under grad()": """\
x = torch.ones(1, requires_grad=True)
y = torch.ones(1, requires_grad=True)
torch.autograd.graph.register_multi_grad_hook((x, y), lambda g: None)
out = torch.autograd.grad((x * y).sum(), x)""",
    "several hooks on outputs of one node, of which one has no gradient": """\
out = []
x = torch.ones(4, requires_grad=True)
u, v = (x * 1).split(2)
torch.autograd.graph.register_multi_grad_hook((u, v), lambda g: out.append([e is None for e in g]))
u.sum().backward()""",
    "several hooks of which only some take part": """\
out = []
a, b, c = (torch.ones(1, requires_grad=True) for _ in range(3))
y, z = a * 2, b * 3
for each in ((a, b, c), (y, z, c)):
    torch.autograd.graph.register_multi_grad_hook(each, lambda g: out.append([e and e.item() for e in g]))
(a * 2).backward()
(c * 1).backward()
for inputs in ([y], [a]):
    try:
        torch.autograd.grad(y * z, inputs, retain_graph=True)
    except RuntimeError as error:
        out.append(str(error))
(y * z).backward(inputs=[b])""",
    "modes after an interrupt inside inference_mode": """\
out = []
for outer in (torch.no_grad, torch.enable_grad, torch.inference_mode, lambda: torch.inference_mode(False)):
    for inner in (torch.inference_mode, lambda: torch.inference_mode(False), torch.enable_grad):
        with outer():
            try:
                with inner(), torch.enable_grad():
                    out.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled()))
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                out.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.ones(1).is_inference()))
        out.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled()))""",
    "deep copies of tensors that share memory share memory": """\
a = torch.ones(2, 4).t()
c = copy.deepcopy([a[1:3], a, a.detach()])
c[0].add_(1)
out = [(t, t.stride(), t._version) for t in c]""",
    "letters of a result that no operand has, or twice": """\
out = []
for equation in ("ij->ik", "ij->ii"):
    try:
        out.append(torch.einsum(equation, torch.ones(2, 2)).shape)
    except RuntimeError as error:
        out.append(str(error))""",
    "integers changed in place by &, | and ^": """\
x = torch.tensor([1, 2, 3])
y = x
x &= 2
x |= torch.tensor([4, 0, 0])
x ^= x
out = (x is y, x._version, x, y.bitwise_or_(torch.tensor(1)))""",
    "numbers that a type has no room for": """\
out = []
for value, kind in ((300, torch.uint8), (-1, torch.uint8), (float("nan"), torch.int64), (2**40, torch.int32)):
    try:
        out.append(torch.tensor([value], dtype=kind))
    except RuntimeError as error:
        out.append(str(error))""",
    "out= of another shape keeps its type": """\
o = torch.empty(0, dtype=torch.float64)
torch.mul(torch.ones(2), torch.ones(2), out=o)
out = (o, o._version)""",
    "out= of integers for floats": """\
out = torch.exp(torch.ones(2), out=torch.empty(0, dtype=torch.int64))""",
    "nan to start from, in anomaly mode": """\
x = torch.ones(1, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    torch.autograd.backward([x, x], [torch.ones(1), torch.tensor([float("nan")])])""",
    "what var and std note as their correction": """\
x = torch.ones(2, 3, requires_grad=True)
results = [x.var(), x.std(), x.var(0), x.var(dim=0, keepdim=True), x.std(False), x.var(unbiased=True)]
out = [(y.grad_fn._saved_correction, y.grad_fn._saved_dim) for y in results]""",
    "the largest along no elements": """\
out = []
for dim in (-2, 1):
    for name in ("amax", "amin", "argmax"):
        try:
            getattr(torch.ones(2, 0, 3), name)(dim)
        except IndexError as error:
            out.append(str(error))""",
    "a leaf's node called with a row": """\
x = torch.ones(2, 3, requires_grad=True)
end = (x * 2).grad_fn.next_functions[0][0]
out = (end(torch.ones(1, 3)), x.grad, end(torch.ones(3)), x.grad._version)""",
    "next_functions of what has no derivative": """\
x = torch.ones(2, requires_grad=True)
out = [len((torch.ones(2) // x).grad_fn.next_functions), len((x // x).grad_fn.next_functions)]""",
    "a linear layer whose bias is a matrix": """\
y = F.linear(torch.ones(2, 2, 3), torch.ones(4, 3), torch.arange(8.0).reshape(2, 4).requires_grad_())
out = (y[0], y.grad_fn.name())""",
    "expanded memory that is filled by a mask": """\
x = torch.tensor([1.0, 2.0]).expand(2, 2)
out = x.masked_fill_(x > 1, 5.0)""",
    "a float times bools, added in place": """\
x = torch.ones(2)
out = (x.add_(torch.tensor([True, False]), alpha=0.5), x.sub_(torch.tensor([1, 2]), alpha=0.5), x.dtype)""",
    "shares in half are computed in single": """\
out = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float16).softmax(0)""",
    "a hook that unpacks no tensor": """\
x = torch.ones(3, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: 1, lambda t: t):
    y = x[x > 0]
y.sum().backward()""",
    "a difference the other way round lies as its second operand": """\
x = torch.ones(2, 3)
out = (torch.rsub(torch.ones(3, 2).t(), x).stride(), torch.rsub(x, torch.ones(3, 2).t()).stride())""",
    "strides of added dimensions of length 1": """\
x = torch.ones(2, 3)
out = [t.expand(1, 4, 1, 2, 3).stride() for t in (x, x[:, :1].expand(2, 3), torch.ones(3, 2).t())]
out += [x.expand(1, 2, 3).stride(), torch.ones(()).expand(1, 2).stride(), torch.ones(1, 3).expand(1, 1, 3).stride()]""",
    "integers in place whose result is a float": """\
out = []
for change in (lambda x: x.clamp_(0.5), lambda x: x.pow_(0.5), lambda x: x.mul_(0.5)):
    try:
        out.append(change(torch.tensor([1, 2])))
    except RuntimeError as error:
        out.append(str(error))""",
    "dimensions given twice": """\
out = []
x = torch.ones(2, 2)
for call in (lambda: x.sum((0, 0)), lambda: x.squeeze((0, -2)), lambda: x.flip((0, 0)), lambda: torch.max(x, True)):
    try:
        out.append(call())
    except (RuntimeError, TypeError) as error:
        out.append(str(error).splitlines()[0])""",
    "a gradient of nothing has no history": """\
x = torch.zeros(0, requires_grad=True)
x.cumprod(0).mean().backward(create_graph=True)
out = x.grad.requires_grad""",
    "a view made in no_grad as an input of grad()": """\
x = torch.ones(3, requires_grad=True)
with torch.no_grad():
    v = x[:2]
d = v.rsqrt()
d += 1
out = torch.autograd.grad((d * v).sum(), [v, x], allow_unused=True)""",
    "a convolution saves both its operands": """\
out = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: (out.append(t.shape), t)[1], lambda t: t):
    F.conv2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 1, 1, requires_grad=True))""",
    "a post-accumulate hook that returns a number": """\
x = torch.ones(1, requires_grad=True)
x.register_post_accumulate_grad_hook(lambda t: 1)
x.backward()""",
    "a Variable with a flag": """\
x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
out = (x.requires_grad, x.is_leaf)""",
    "shares along a dimension that is not named": """\
out = (F.softmax(torch.ones(2, 2)), F.log_softmax(torch.ones(2, 1, 2)).shape)""",
}


def shown(value) -> str:
    """A value as both print it, numbers to the digits that both compute alike."""
    if hasattr(value, "detach"):
        return shown(value.detach().tolist())
    if isinstance(value, float):
        return f"{value:.5g}"
    if type(value) in (tuple, list):
        return "(" + ", ".join(map(shown, value)) + ")"
    return str(value).replace("minigrad.", "torch.")


def answer(m, source: str) -> str:
    """What a program shows under a library."""
    names = {"torch": m, "F": m.nn.functional, "np": np, "copy": copy, "pickle": pickle, "warnings": warnings}
    names["FA"] = importlib.import_module(f"{m.__name__}.autograd.forward_ad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(source, names)
            return shown(names["out"])
        except Exception as error:
            return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:160]}"
        finally:
            if hasattr(m, "set_warn_always"):
                m.set_warn_always(False)
