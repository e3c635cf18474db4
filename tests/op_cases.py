"""One expression per operation, written once for minigrad and PyTorch (`m` is either of them).

The tests of the tables run on these; `python tests/record_torch.py` writes what PyTorch says of each.
"""

import ast

INPUTS = {
    "x": [[0.5, 1.25, -0.75], [2.0, -1.5, 0.3]],
    "y": [[1.5, -0.4, 0.8], [-2.0, 0.7, 1.1]],
    "p": [[0.5, 1.25, 0.75], [2.0, 1.5, 0.3]],  # positive
    "r": [1.5, -0.4, 0.8],  # a row: broadcasts against x
    "s": 1.75,  # 0-d
    "w": [[0.2, -0.5], [1.1, 0.4], [-0.3, 0.9]],
    "v": [0.6, -1.2, 0.9],
    "u": [0.3, 0.8, -0.5],
    "image": [[[[0.1 * (7 * i % 11) - 0.4 for i in range(5 * r, 5 * r + 4)] for r in range(c, c + 4)] for c in (0, 3)]],
    "kernel": [[[[0.5, -1.0], [0.25, 0.75 * c]] for c in (1, -1)] for _ in range(3)],
}

CASES = {
    "add": "x + y",
    "add number": "x + 1",
    "add broadcast": "x + r",
    "add 0-d": "x + s",
    "radd": "2 + x",
    "sub": "x - y",
    "sub broadcast": "r - x",
    "rsub": "1 - x",
    "mul": "x * y",
    "mul number": "x * 2",
    "mul broadcast": "x * r",
    "mul itself": "x * x",
    "div": "x / y",
    "div number": "x / 2",
    "rdiv": "1 / x",
    "neg": "-x",
    "pow number": "x ** 2",
    "pow 3": "x ** 3",
    "pow 0": "x ** 0",
    "pow negative": "x ** -1",
    "pow tensor": "p ** y",
    "pow number base": "2 ** x",
    "exp": "x.exp()",
    "log": "p.log()",
    "sqrt": "p.sqrt()",
    "sin": "x.sin()",
    "cos": "x.cos()",
    "tanh": "x.tanh()",
    "sigmoid": "x.sigmoid()",
    "relu": "x.relu()",
    "abs": "x.abs()",
    "sign": "x.sign() * x",
    "clone": "x.clone()",
    "reciprocal": "x.reciprocal()",
    "where": "m.where(x > 0, x, y)",
    "sum": "x.sum()",
    "sum dim": "x.sum(0)",
    "sum keepdim": "x.sum(1, True)",
    "sum dims": "x.sum((0, 1))",
    "mean": "x.mean()",
    "mean dim": "x.mean(1)",
    "mean keepdim": "x.mean(0, True)",
    "var": "x.var()",
    "var dim": "x.var(0)",
    "var keepdim": "x.var(1, keepdim=True)",
    "std": "x.std()",
    "std dim": "x.std(1)",
    "max": "x.max()",
    "max tie": "(x * x).sign().max()",
    "min": "x.min()",
    "mm": "x @ w",
    "mm method": "x.mm(w)",
    "mv": "x @ v",
    "vm": "v @ w",
    "dot": "v @ u",
    "t": "x.t()",
    "T": "x.T",
    "transpose": "x.transpose(0, 1)",
    "permute": "x.permute(1, 0)",
    "view": "x.view(3, 2)",
    "reshape": "x.reshape(-1)",
    "flatten": "x.flatten()",
    "unsqueeze": "x.unsqueeze(0)",
    "squeeze": "x.unsqueeze(0).squeeze()",
    "squeeze dim": "x.unsqueeze(1).squeeze(1)",
    "expand": "v.expand(2, 3)",
    "expand 0-d": "s.expand(2, 3)",
    "cat": "m.cat([x, y])",
    "cat dim": "m.cat([x, y], 1)",
    "stack": "m.stack([x, y])",
    "select": "x[0]",
    "select two": "x[0, 1]",
    "slice": "x[:1]",
    "index list": "x[[0, 0, 1]]",
    "index mask": "x[x > 0]",
    "unbind": "x.unbind()[0]",
    "unbind both": "x.unbind()[0] * x.unbind()[1]",
    "to": "x.float()",
    "mse_loss": "m.nn.functional.mse_loss(x, y)",
    "mse_loss sum": "m.nn.functional.mse_loss(x, y, reduction='sum')",
    "conv2d": "m.nn.functional.conv2d(image, kernel)",
    "conv2d strided": "m.nn.functional.conv2d(image, kernel, stride=2, padding=1)",
    "conv_transpose2d": "m.nn.functional.conv_transpose2d(image, kernel.transpose(0, 1))",
    "conv_transpose2d strided": "m.nn.functional.conv_transpose2d(image, kernel.transpose(0, 1), stride=2, padding=1)",
    "log_softmax": "m.nn.functional.log_softmax(x, 1)",
    "cross_entropy": "m.nn.functional.cross_entropy(x, m.tensor([2, 0]))",
    "cross_entropy sum": "m.nn.functional.cross_entropy(x, m.tensor([2, 0]), reduction='sum')",
    "cross_entropy none": "m.nn.functional.cross_entropy(x, m.tensor([2, 0]), reduction='none')",
    "linear": "m.nn.functional.linear(x, w.t())",
}

# Of these a plain float64 comparison of second derivatives makes no sense: they leave float64.
SINGLE = {"to"}


def names_in(expression: str) -> list[str]:
    """The inputs that an expression uses, in alphabetical order."""
    words = {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}
    return sorted(words & INPUTS.keys())


def function_of(m, expression: str):
    """The expression as a function of its inputs."""
    code, names = compile(expression, "<case>", "eval"), names_in(expression)
    return lambda *tensors: eval(code, {"m": m}, dict(zip(names, tensors, strict=True)))


def leaves(m, expression: str) -> list:
    """Fresh float64 leaves for an expression's inputs."""
    return [m.tensor(INPUTS[name], dtype=m.float64, requires_grad=True) for name in names_in(expression)]


def report(m, expression: str) -> dict:
    """What a library says of an expression: value, node, saved names, first and second derivatives."""
    inputs = leaves(m, expression)
    out = function_of(m, expression)(*inputs)
    node = out.grad_fn
    saved = sorted(n for n in dir(node) if n.startswith("_saved_"))
    first = m.autograd.grad(out.sum(), inputs, create_graph=True)
    total = sum((g * g).sum() for g in first)
    second = m.autograd.grad(total, inputs, allow_unused=True) if total.requires_grad else [None] * len(inputs)
    return {
        "node": type(node).__name__,
        "saved": saved,
        "value": out.tolist(),
        "dtype": str(out.dtype),
        "shape": list(out.shape),
        "first": [(g + 0).tolist() for g in first],
        "second": [None if g is None else (g + 0).tolist() for g in second],
        "names": [type(g.grad_fn).__name__ for g in first],
    }
