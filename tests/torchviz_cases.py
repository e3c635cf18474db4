"""Five Functions whose backward can, or cannot, be differentiated again, and what torchviz draws of each."""

import re
import warnings
from collections import Counter


def functions(torch) -> dict:
    """Saving an input, an output, results handed out, results hidden away, and a backward that is a Function."""
    Function = torch.autograd.Function

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            power = torch.exp(x)
            ctx.save_for_backward(power)
            return power

        @staticmethod
        def backward(ctx, grad):
            return ctx.saved_tensors[0] * grad

    class Sinh(Function):
        @staticmethod
        def forward(ctx, x):
            up, down = torch.exp(x), torch.exp(-x)
            ctx.save_for_backward(up, down)
            return (up - down) / 2, up, down

        @staticmethod
        def backward(ctx, grad, grad_up, grad_down):
            up, down = ctx.saved_tensors
            return grad * (up + down) / 2 + grad_up * up - grad_down * down

    class SinhBad(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.up, ctx.down = torch.exp(x), torch.exp(-x)
            return (ctx.up - ctx.down) / 2

        @staticmethod
        def backward(ctx, grad):
            return grad * (ctx.up + ctx.down) / 2

    class CubeBackward(Function):
        @staticmethod
        def forward(ctx, grad, x):
            ctx.save_for_backward(grad, x)
            return grad * 3 * x**2

        @staticmethod
        def backward(ctx, grad_of_it):
            grad, x = ctx.saved_tensors
            return grad_of_it * 3 * x**2, grad_of_it * grad * 6 * x

    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            return CubeBackward.apply(grad, ctx.saved_tensors[0])

    return {function.__name__: function for function in (Square, Exp, Sinh, SinhBad, Cube)}


NAMES = ("Square", "Exp", "Sinh", "SinhBad", "Cube")


def graph(torch, name: str) -> tuple:
    """The tensors to draw, and their names: the gradient with its own graph, the input, the output."""
    x = torch.tensor(1.0, requires_grad=True)
    x = x.clone() if name in ("Square", "Exp") else x
    out = functions(torch)[name].apply(x)
    out = out[0] if name == "Sinh" else out
    (grad_x,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    return (grad_x, x, out), {"grad_x": grad_x, "x": x, "out": out}


def structure(nodes: Counter, edges: Counter) -> dict:
    """Nodes and edges by their labels, each with how often it is there: what a file can hold."""
    return {
        "nodes": {label: count for label, count in sorted(nodes.items())},
        "edges": {" -> ".join(pair): count for pair, count in sorted(edges.items())},
    }


def of_dot(dot) -> dict:
    """The structure of what make_dot returned, without the saved tensors that it hangs on functions."""
    body = "\n".join(dot.body)
    label = dict(re.findall(r'^\s*(\S+) \[label=("[^"]*"|[^\s\]]+)', body, re.M))
    label = {id: " ".join(text.strip('"').split()) for id, text in label.items()}
    edges = [(a, b) for a, b, style in re.findall(r"^\s*(\S+) -> (\S+?)(?: (\[.*\]))?$", body, re.M) if not style]
    orange = set(re.findall(r'^\s*(\S+) \[label="[^"]*" fillcolor=orange\]', body, re.M))
    hanging = orange - {id for edge in edges for id in edge}
    return structure(
        Counter(text for id, text in label.items() if id not in hanging),
        Counter((label[a], label[b]) for a, b in edges),
    )


def of_record(record, ends) -> dict:
    """The structure of one of our own pictures, of what autograd keeps."""
    functions = ("function", "accumulate")
    label = {
        node.id: node.name if node.role in functions else f"{node.name} ({', '.join(map(str, node.shape))})".strip()
        for node in record.nodes
    }
    pairs = (ends(edge) for edge in record.edges)
    return structure(Counter(label.values()), Counter((label[used], label[made]) for made, used in pairs))


def recorded(torch) -> dict:
    """What torchviz draws of PyTorch's graphs, case by case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torchviz imports distutils
        import torchviz

        return {name: of_dot(torchviz.make_dot(*graph(torch, name))) for name in NAMES}
