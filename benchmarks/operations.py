"""Every public operation alone, as programs write it: `python -m benchmarks ops`.

A row is an expression, run by minigrad and by PyTorch, and beside it what NumPy would be called with: the limit of any
operation that computes with NumPy. Forward, and forward and backward, on float32 matrices of 16 x 16 and 256 x 256.
"""

from __future__ import annotations

import argparse
import importlib
import math
import warnings

import numpy as np

from .inputs import normal
from .timing import Step, interleave

SIZES = 16, 256
# The most that minigrad may take of PyTorch's time: the geometric mean, and any row (unless bare NumPy takes more).
GOALS = {
    (16, "forward"): (0.85, 2),
    (16, "forward + backward"): (0.50, 2),
    (16, "others"): (0.75, 2),
    (256, "forward"): (1.0, 3),
    (256, "forward + backward"): (0.85, 3),
}

# Besides a and b (n x n, they require grad) there are: p, a with positive elements; row, column and v, of n elements;
# c, a matrix without gradient; index, n/2 positions; labels, n classes; mask, of bool; places, a matrix of positions;
# batch, 4 matrices of n/4 x n/4; m is the library, F its nn.functional.
OPERATIONS = {
    "a + b": "a + b",
    "a - b": "a - b",
    "a * b": "a * b",
    "a / p": "a / p",
    "a + 1.5": "a + np.float32(1.5)",
    "2 * a": "np.float32(2) * a",
    "1 - a": "1 - a",
    "1 / p": "1 / p",
    "-a": "-a",
    "a + row": "a + row",
    "a * column": "a * column",
    "a ** 2": "np.square(a)",
    "a ** 3": "a * a * a",
    "p ** 0.5": "np.sqrt(p)",
    "p ** b": "p ** b",
    "a.exp()": "np.exp(a)",
    "p.log()": "np.log(p)",
    "p.sqrt()": "np.sqrt(p)",
    "p.rsqrt()": "1 / np.sqrt(p)",
    "m.sin(a)": "np.sin(a)",
    "m.cos(a)": "np.cos(a)",
    "m.tanh(a)": "np.tanh(a)",
    "m.sigmoid(a)": "1 / (1 + np.exp(-a))",
    "m.log1p(p)": "np.log1p(p)",
    "m.expm1(a)": "np.expm1(a)",
    "m.reciprocal(p)": "np.reciprocal(p)",
    "m.square(a)": "np.square(a)",
    "m.abs(a)": "np.abs(a)",
    "F.relu(a)": "np.maximum(a, 0)",
    "F.leaky_relu(a)": "np.maximum(a, a * np.float32(0.01))",
    "F.softplus(a)": "np.log1p(np.exp(a))",
    "a.clamp(-1, 1)": "np.minimum(np.maximum(a, -1), 1)",
    "a.clamp(min=0)": "np.maximum(a, 0)",
    "m.maximum(a, b)": "np.maximum(a, b)",
    "m.minimum(a, b)": "np.minimum(a, b)",
    "m.where(mask, a, b)": "np.where(mask, a, b)",
    "a.masked_fill(mask, 0.0)": "np.where(mask, 0, a)",
    "m.lerp(a, b, 0.3)": "a + np.float32(0.3) * (b - a)",
    "a.sum()": "a.sum()",
    "a.sum(0)": "a.sum(0)",
    "a.sum(1)": "a.sum(1)",
    "a.sum(-1, keepdim=True)": "a.sum(-1, keepdims=True)",
    "a.mean()": "a.mean()",
    "a.mean(0)": "a.mean(0)",
    "a.var()": "a.var()",
    "a.std()": "a.std()",
    "a.std(0)": "a.std(0)",
    "a.max()": "a.max()",
    "a.max(1).values": "a.max(1), a.argmax(1)",
    "a.min(0).values": "a.min(0), a.argmin(0)",
    "a.amax(1)": "a.max(1)",
    "a.norm()": "np.linalg.norm(a)",
    "a.norm(dim=1)": "np.linalg.norm(a, axis=1)",
    "(a * 0.01 + 1).prod()": "(a * np.float32(0.01) + 1).prod()",
    "p.prod(1)": "p.prod(1)",
    "a.cumsum(0)": "a.cumsum(0)",
    "a.cumsum(1)": "a.cumsum(1)",
    "p.cumprod(1)": "p.cumprod(1)",
    "a.logsumexp(1)": "np.log(np.exp(a - a.max(1, keepdims=True)).sum(1))",
    "F.softmax(a, 1)": "softmax(a)",
    "F.log_softmax(a, 1)": "log_softmax(a)",
    "a.sort(1).values": "a.argsort(1)",
    "a.median()": "np.partition(a, a.size // 2, None)",
    "a @ b": "a @ b",
    "a @ v": "a @ v",
    "v @ v": "v @ v",
    "m.outer(v, v)": "np.outer(v, v)",
    "batch @ batch": "batch @ batch",
    "m.addmm(row, a, b)": "a @ b + row",
    "F.linear(a, b, row)": "a @ b.T + row",
    "a @ b.T + row": "a @ b.T + row",
    "m.einsum('ij,jk->ik', a, b)": "a @ b",
    "m.einsum('ij,ij->i', a, b)": "np.einsum('ij,ij->i', a, b)",
    "a.trace()": "a.trace()",
    "a.T": "a.T",
    "a.transpose(0, 1)": "a.swapaxes(0, 1)",
    "batch.permute(2, 0, 1)": "batch.transpose(2, 0, 1)",
    "a.reshape(-1)": "a.reshape(-1)",
    "a.view(-1, 4)": "a.reshape(-1, 4)",
    "batch.flatten(1)": "batch.reshape(4, -1)",
    "a.unsqueeze(0)": "a[None]",
    "column.squeeze(1)": "column[:, 0]",
    "row.expand(a.shape)": "np.broadcast_to(row, a.shape)",
    "a.clone()": "a.copy()",
    "a[0]": "a[0]",
    "a[:, 0]": "a[:, 0]",
    "a[1:-1]": "a[1:-1]",
    "a[None]": "a[None]",
    "a[0, 1]": "a[0, 1]",
    "a[index]": "a[index]",
    "a[mask]": "a[mask]",
    "a[rows, labels]": "a[rows, labels]",
    "a.index_select(0, index)": "a.take(index, 0)",
    "a.gather(1, places)": "np.take_along_axis(a, places, 1)",
    "a.scatter_add(1, places, b)": "a.copy()",
    "m.cat([a, b])": "np.concatenate([a, b])",
    "m.stack([a, b])": "np.stack([a, b])",
    "a.chunk(4)[0]": "np.split(a, 4)[0]",
    "a.split(4)[0]": "[a[i:i + 4] for i in range(0, len(a), 4)][0]",
    "a.unbind()[0]": "list(a)[0]",
    "row.repeat(4, 1)": "np.tile(row, (4, 1))",
    "a.flip(0)": "a[::-1].copy()",
    "a.roll(1, 0)": "np.roll(a, 1, 0)",
    "a.tril()": "np.tril(a)",
    "a.diagonal()": "a.diagonal()",
    "F.mse_loss(a, c)": "np.square(a - c).mean()",
    "F.nll_loss(a, labels)": "-a[rows, labels].mean()",
    "F.cross_entropy(a, labels)": "-log_softmax(a)[rows, labels].mean()",
}

# What else programs do, at 16 x 16. `x` is a matrix that requires grad, `loss` a scalar made of it.
OTHERS = {
    "c.zero_()": "c.fill(0)",
    "c.fill_(1.5)": "c.fill(1.5)",
    "c.copy_(d)": "np.copyto(c, d)",
    "c.add_(1)": "np.add(c, 1, c)",
    "c.mul_(-1.0)": "np.multiply(c, np.float32(-1), c)",
    "c += d": "np.add(c, d, c)",
    "c.sub_(d, alpha=0.01)": "np.subtract(c, np.float32(0.01) * d, c)",
    "c[0] = 1": "c[0] = 1",
    "c[0] = row0": "c[0] = row0",
    "c[1:3] = 0": "c[1:3] = 0",
    "c[mask] = 0": "c[mask] = 0",
    "c[index] = 1": "c[index] = 1",
    "c[0, 1].item()": "c[0, 1].item()",
    "number.item()": "number.item()",
    "float(number)": "float(number)",
    "c.detach()": "",
    "c.numpy()": "",
    "c.shape": "c.shape",
    "c.to(m.float64)": "c.astype(np.float64)",
    "c > 0": "c > 0",
    "c == d": "c == d",
    "c.argmax()": "c.argmax()",
    "c.argmax(1)": "c.argmax(1)",
    "(c == d).all()": "(c == d).all()",
    "(c == d).float().mean()": "(c == d).mean()",
    "c.tolist()": "c.tolist()",
    "m.tensor(1.0)": "np.array(1.0, np.float32)",
    "m.tensor([1.0, 2.0, 3.0])": "np.array([1.0, 2.0, 3.0], np.float32)",
    "m.tensor(listed)": "np.array(listed, np.float32)",
    "m.tensor([1.0, 2.0], requires_grad=True)": "np.array([1.0, 2.0], np.float32)",
    "m.from_numpy(array)": "",
    "m.zeros(16, 16)": "np.zeros((16, 16), np.float32)",
    "m.ones(16, 16)": "np.ones((16, 16), np.float32)",
    "m.zeros_like(c)": "np.zeros_like(c)",
    "m.randn(16, 16)": "rng.standard_normal((16, 16), np.float32)",
    "m.arange(16)": "np.arange(16)",
    "with m.no_grad(): pass": "",
    "with m.no_grad(): x * x": "c * c",
    "x.requires_grad_()": "",
    "Square.apply(x)": "c * c",
    "Square.apply(x).sum().backward(); x.grad = None": "",
    "m.autograd.grad((x * x).sum(), x)": "",
    "m.autograd.grad((x * x).sum(), x, create_graph=True)": "",
    "m.autograd.functional.jacobian(lambda v: v * v, row0)": "",
    "m.autograd.functional.hessian(lambda v: (v * v).sum(), row0)": "",
    "m.autograd.functional.vjp(lambda v: v * v, row0, row0)": "",
    "x.register_hook(keep).remove()": "",
    "y = x * x; y.register_hook(keep); y.sum().backward(); x.grad = None": "",
    "y = x * x; y.retain_grad(); y.sum().backward(); x.grad = None": "",
    "(x * x).sum().backward()": "",
}


def softmax(a):
    powers = np.exp(a - a.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def log_softmax(a):
    shifted = a - a.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def arrays(n: int) -> dict:
    """What the expressions are about, as arrays. Those of float32 require grad, but for `c`, `d` and `row0`."""
    draw = np.random.default_rng(0)
    square = {name: normal(n, n, seed=seed) for seed, name in enumerate("abcd")}
    return square | {
        "p": np.abs(square["a"]) + np.float32(0.5),
        "row": normal(n, seed=5),
        "column": normal(n, 1, seed=6),
        "v": normal(n, seed=7),
        "row0": normal(n, seed=8),
        "batch": normal(4, n // 4, n // 4, seed=9),
        "number": np.asarray(normal(1, seed=10)[0]),
        "index": draw.permutation(n)[: n // 2],
        "rows": np.arange(n),
        "labels": draw.integers(n, size=n),
        "places": draw.integers(n, size=(n, n)),
        "mask": draw.random((n, n)) < 0.5,
    }


def names_of(library: str, n: int) -> dict:
    """The names that a library's expressions use."""
    given = arrays(n)
    if library == "numpy":
        return (
            given
            | {"np": np, "softmax": softmax, "log_softmax": log_softmax, "listed": given["c"].tolist()}
            | {"rng": np.random.default_rng(0)}
        )
    module = importlib.import_module(library)
    tensors = {name: module.from_numpy(array.copy()) for name, array in given.items()}
    for name in ("a", "b", "p", "row", "column", "v", "batch"):
        tensors[name].requires_grad_()

    class Square(module.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    return tensors | {
        "m": module, "F": importlib.import_module(f"{library}.nn.functional"), "Square": Square,
        "keep": lambda grad: None, "x": module.from_numpy(given["a"].copy()).requires_grad_(), "array": given["c"],
        "listed": given["c"].tolist(),
    }  # fmt: skip


def names_in(code) -> set:
    """The names that code mentions, also that of functions in it."""
    inner = [names_in(each) for each in code.co_consts if hasattr(each, "co_names")]
    return {*code.co_names, *code.co_varnames}.union(*inner)


def step(source: str, names: dict) -> Step:
    """A step that runs statements; every name in it is a local one."""
    code = compile(f"def run():\n    {source}", "", "exec").co_consts
    used = {name for each in code if hasattr(each, "co_names") for name in names_in(each)}
    own = {name: value for name, value in names.items() if name in used}
    exec(f"def run({', '.join(f'{name}={name}' for name in own)}):\n    {source}", own)
    return Step(own["run"])


def measure(n: int, kind: str, rounds: int) -> list[tuple]:
    """For each row its source, and the fastest burst of minigrad, PyTorch and NumPy in microseconds."""
    names = {library: names_of(library, n) for library in ("minigrad", "torch", "numpy")}
    leaves = ("a", "b", "p", "row", "column", "v", "batch")
    steps = {}
    for source, bare in (OTHERS if kind == "others" else OPERATIONS).items():
        text = source
        if kind == "forward + backward":
            used = [leaf for leaf in leaves if leaf in compile(source, "", "eval").co_names]
            text = f"({source}).sum().backward(); {'; '.join(f'{leaf}.grad = None' for leaf in used)}"
        steps |= {(source, library): step(text, names[library]) for library in ("minigrad", "torch")}
        if bare and kind != "forward + backward":
            steps[source, "numpy"] = step(bare, names["numpy"])
    best = {key: 1e6 * min(taken) for key, taken in interleave(steps, rounds, seconds=0.0005).items()}
    sources = dict.fromkeys(source for source, _ in steps)
    return [(source, *(best.get((source, library), math.nan) for library in names)) for source in sources]


def lines(rows: list[tuple]) -> list[str]:
    width = max(len(source) for source, *_ in rows)
    return [
        f"{source:{width}} {ours:10.2f} {theirs:10.2f} {bare:10.2f} {ours / theirs:8.2f}"
        for source, ours, theirs, bare in rows
    ]


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def print_table(n: int, kind: str, rows: list[tuple], worst_only: int | None) -> None:
    """One table: the means beside their goals, the rows, and which of them take too long."""
    goal, most = GOALS[n, kind]
    mean = geometric_mean([ours / theirs for _, ours, theirs, _ in rows])
    verdict = "met" if mean <= goal else "MISSED"
    print(f"\n{n} x {n}, {kind}: geometric mean {mean:.2f} of torch's time, <= {goal} {verdict}")
    if known := [alone / theirs for _, _, theirs, alone in rows if alone > 0]:
        limit = geometric_mean(known)
        print(f"(what NumPy alone takes: {limit:.2f}; us: minigrad, torch, bare NumPy; minigrad / torch)")
    worst = sorted(rows, key=lambda row: row[2] / row[1])
    print("\n".join(["", *lines(worst[:worst_only] if worst_only else rows)]))
    above = [row[0] for row in worst if row[1] > most * row[2] and not row[3] > most * row[2]]
    print(f"\nabove {most}: {', '.join(above) or 'none'}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks ops", description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="bursts for each (default 60)")
    parser.add_argument("--worst", type=int, metavar="N", help="print only the N slowest rows of each table")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    importlib.import_module("torch").set_num_threads(1)
    for n, kind in GOALS:
        print_table(n, kind, measure(n, kind, chosen.rounds), chosen.worst)


if __name__ == "__main__":
    main()
