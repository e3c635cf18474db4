"""Chapter 11: wrong answers with the diagnosis that each must get, and unusual right ones."""

import textwrap

from banks.patterns import changed, functions

NOTEBOOK = "11_training"

_numbers = changed("numbers", {"w.grad 1": 20, "w 1": 1, "b 1": 2, "loss 2": 0, "w 2": 1, "b 2": 3})


def _loss(last: str) -> str:
    return f"""
x, y = mg.tensor([0.0, 1.0, 2.0]), mg.tensor([1.0, 3.0, 5.0])
w = mg.tensor(1.0, requires_grad=True)
b = mg.tensor(0.0, requires_grad=True)
{last}
"""


def _def(header: str, body: str) -> str:
    return f"def {header}:\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


def _halves(body: str, before: str = "", update: str = "w -= rate * w.grad") -> str:
    """One round, with what comes before the loop."""
    update = f"with mg.no_grad():\n    {update}\n" if update else ""
    loop = f"for one, other in batches:\n{textwrap.indent(textwrap.dedent(body).strip() + chr(10), '    ')}"
    after = textwrap.indent(update, "    ")
    if "UPDATE" in loop:
        loop, after = loop.replace("    UPDATE\n", after), ""
    return _def("train_halves(w, loss_of, batches, rate)", f"{before}\n{loop}{after}")


_BOTH = "loss_of(w, one).backward()\nloss_of(w, other).backward()\n"


def _best(kept: str, compare: str = "loss < lowest", end: str = "return best") -> str:
    return f"""
def best_of(parameters, step, rounds):
    best, lowest = None, float("inf")
    for _ in range(rounds):
        loss = step()
        if {compare}:
            lowest = loss
            best = {kept}
    {end}
"""


def _smooth(body: str) -> str:
    return _def("smoothed(step, rounds)", body)


def _small(body: str, before: str = "") -> str:
    loop = f"for _ in range(rounds):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}"
    return _def("train_small(w, loss_of, rate, rounds)", f"{before}\n{loop}")


_STEP = "with mg.no_grad():\n    w -= rate * w.grad\n"
_PENALTY = "penalty = 0.5 * (w * w).sum()"


def _momentum(body: str, before: str = "with mg.no_grad():") -> str:
    inner = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    loop = f"for p, v in zip(parameters, speeds):\n{inner}"
    return _def("momentum_step(parameters, speeds, rate)", f"{before}\n{textwrap.indent(loop, '    ')}")


_SPEED = "v *= 0.9\nv += p.grad\n"


def _newton(end: str, slopes: str = "slopes = mg.autograd.grad(f(w, b), (w, b))") -> str:
    return _def(
        "newton(f, w, b)",
        f"{slopes}\n"
        "H = np.array([[h.item() for h in row] for row in mg.autograd.functional.hessian(f, (w, b))])\n"
        f"g = np.array([s.item() for s in slopes])\n{end}",
    )


def _rate(end: str) -> str:
    return _def("largest_rate(f, x)", f"H = mg.autograd.functional.hessian(f, x).numpy()\n{end}")


def _train(
    clear: str = "for p in parameters:\n    p.grad = None",
    loss: str = "loss = loss_of()\nlosses.append(loss.item())",
    stop: str = "if losses[-1] <= bound:\n    return losses",
    back: str = "loss.backward()",
    update: str = "with mg.no_grad():\n    for p in parameters:\n        p -= rate * p.grad",
    before: str = "",
) -> str:
    """The loop of the solution, with one of its parts put otherwise."""
    body = textwrap.indent("\n".join([clear, loss, stop, back, update]), "    ")
    return _def("train(parameters, loss_of, rate, bound)", f"losses = []\n{before}\nwhile True:\n{body}")


WRONG = {
    "rounds": {
        "overwritten": _numbers({"b 2": 2}),
        "both-added-up": _numbers({"w 2": -1}),
        "inner-slope-lost": _numbers({"w.grad 1": 10, "w 1": 2}),
        "square-lost": _numbers({"w.grad 1": 2, "w 1": 2.8}),
        "uphill": _numbers({"w 1": 5}),
        "uphill/b": _numbers({"b 1": 0}),
        "square-lost/b": _numbers({"b 1": 1.5, "loss 2": 0.25, "b 2": 2}),
        "no-rate": _numbers({"w 1": -17}),
        "not-moved": _numbers({"w 1": 3, "b 1": 1, "loss 2": 25, "w 2": 3, "b 2": 1}),
        "both-added-up/b-overwritten": _numbers({"w 2": -1, "b 2": 2}),
        "old-loss": _numbers({"loss 2": 25}),
        "wrong-w.grad 1": _numbers({"w.grad 1": -20}),
        "wrong-b 2": _numbers({"b 2": 1}),
        "wrong-loss 2": _numbers({"loss 2": 1}),
        "kind": _numbers({"w 1": "one"}),
        "keys": "numbers = {'w': 1}",
        "kept-itself": """
w = mg.tensor(3.0, requires_grad=True)
b = mg.tensor(1.0, requires_grad=True)
numbers = {}
for turn in "12":
    w.grad = None
    loss = (2 * w - b) ** 2
    loss.backward()
    with mg.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    numbers |= {"w.grad " + turn: w.grad, "w " + turn: w, "b " + turn: b, "loss " + turn: loss}
del numbers["w.grad 2"], numbers["loss 1"]
""",
    },
    "step_loss": {
        "power-of-leaf": _loss("loss = ((w * x + b - y) ** 2).mean() + 0.1 * 2**w"),
        "power-of-leaf/tensor": _loss("loss = ((w * x + b - y) ** 2).mean() + 0.1 * w ** mg.tensor(2.0)"),
        "one-square": _loss("loss = ((w * x + b - y) ** 2).mean()"),
        "one-square/abs": _loss("loss = ((w * x + b - y) ** 2).mean() + 0.1 * mg.abs(w)"),
        "one-square/product": _loss("loss = ((w * x + b - y) ** 2).mean() + 0.1 * w * w"),
        "one-square/cut": _loss("loss = ((w * x + b - y) ** 2).mean() + 0.1 * w.detach() ** 2"),
        "no-mean": _loss("loss = ((w * x + b - y) ** 2).sum() + 0.1 * w ** 2"),
        "other-ways": _loss("loss = ((w * x + b - y) ** 2).mean() + 0.1 * b ** 2"),
        "other-ways/sum": _loss("loss = (((w + b) * x - y) ** 2).mean() + 0.1 * w ** 2"),
        "other-graph": _loss("loss = ((w * x + b - y) ** 2).mean() + 0.1 * w ** 2 + 0.1 * b ** 2"),
        "other-graph/no-rate": _loss("loss = ((w * x + b - y) ** 2).mean() + w ** 2"),
        "other-graph/minus": _loss("loss = (y - w * x - b).pow(2).mean() + 0.1 * w**2"),
        "other-graph/by-ten": _loss("loss = ((w * x + b - y) ** 2).mean() + w ** 2 / 10"),
        "other-ways/product-squared": _loss("loss = ((w * x + b - y) ** 2).mean() + (0.1 * w) ** 2"),
        "other-ways/inside": _loss("loss = ((w * x + b - y) ** 2 + 0.1 * w ** 2).mean()"),
        "other-ways/order": _loss("loss = ((w * x - y + b) ** 2).mean() + 0.1 * w ** 2"),
        "other-leaves/x": _loss("x.requires_grad_()\nloss = ((w * x + b - y) ** 2).mean() + 0.1 * w ** 2"),
        "other-leaves/b": _loss("b = b.detach()\nloss = ((w * x + b - y) ** 2).mean() + 0.1 * w ** 2"),
        "other-leaves/two-w": _loss(
            "v = w.detach().clone().requires_grad_()\nloss = ((w * x + b - y) ** 2).mean() + 0.1 * v ** 2"
        ),
        "no-graph": _loss("loss = (((w * x + b - y) ** 2).mean() + 0.1 * w ** 2).detach()"),
        "type": _loss("loss = (((w * x + b - y) ** 2).mean() + 0.1 * w ** 2).item()"),
        "several-numbers/columns": """
x, y = mg.tensor([[0.0, 1.0], [1.0, 2.0]]), mg.tensor([[1.0, 3.0], [3.0, 5.0]])
w = mg.tensor(1.0, requires_grad=True)
b = mg.tensor(0.0, requires_grad=True)
loss = ((w * x + b - y) ** 2).mean(0) + 0.1 * w**2
""",
        "other-leaves/frozen": """
x, y = mg.tensor([0.0, 1.0, 2.0]), mg.tensor([1.0, 3.0, 5.0])
w = mg.tensor(1.0, requires_grad=True)
b = mg.tensor(0.0, requires_grad=True)
loss = ((w * x + b - y) ** 2).mean() + 0.1 * w**2
b.requires_grad_(False)
""",
    },
    "halves": {
        "both-at-once": _halves("w.grad = None\n(loss_of(w, one) + loss_of(w, other)).backward()"),
        "first-half-lost": _halves("loss_of(w, one).backward(retain_graph=True)\nw.grad = None\n" + _BOTH[27:]),
        "first-half-lost/zeros": _halves(
            "loss_of(w, one).backward()\nw.grad = w.grad * 0\nloss_of(w, other).backward()"
        ),
        "first-half-lost/each": _halves(
            "for half in (one, other):\n    w.grad = None\n    loss_of(w, half).backward()"
        ),
        "first-half-lost/grad": _halves(
            "w.grad = None\nloss_of(w, one).backward()\ng, = mg.autograd.grad(loss_of(w, other), w)",
            update="w -= rate * g",
        ),
        "both-at-once/retained": _halves(
            "w.grad = None\na = loss_of(w, one)\na.backward(retain_graph=True)\nloss_of(w, other).backward()"
        ),
        "no-backward/copy": _halves("d = w.detach().clone().requires_grad_()\nloss_of(d, one).backward()"),
        "new-tensor/detached": _halves(
            "w.grad = None\nloss_of(w, one).backward()\nloss_of(w.detach(), other).backward()"
        ),
        "new-tensor/zeros": _halves(_BOTH + "with mg.no_grad():\n    w = w - rate * w.grad\nw.grad.zero_()", update=""),
        "raised/what-backward-returns": _halves(
            "w.grad = None\ng = loss_of(w, one).backward() + loss_of(w, other).backward()", update="w -= rate * g"
        ),
        "raised/one-number": _halves("w.grad = None\n" + _BOTH, update="w[:] -= rate * w.grad"),
        "second-half-lost": _halves("w.grad = None\nloss_of(w, one).backward()"),
        "never-cleared": _halves(_BOTH),
        "never-cleared/once": _halves(_BOTH, before="w.grad = None"),
        "old-gradient": _halves(_BOTH + "UPDATE\nw.grad = None"),
        "cleared-too-late": _halves(_BOTH + "w.grad = None"),
        "cleared-too-late/no-grad": _halves("w.grad = None\n" + _BOTH, update="w.grad = None; w -= rate * w.grad"),
        "cleared-too-late/zeros": _halves(_BOTH + "w.grad.zero_()"),
        "not-moved": _halves("w.grad = None\n" + _BOTH, update="w * 1"),
        "nothing-to-clear": _halves("w.grad.zero_()\n" + _BOTH),
        "new-tensor": _halves("w.grad = None\n" + _BOTH, update="w = w - rate * w.grad"),
        "new-tensor/recorded": _halves("w.grad = None\n" + _BOTH + "w = w - rate * w.grad", update=""),
        "new-tensor/leaf": _halves(
            "w.grad = None\n" + _BOTH + "w = (w - rate * w.grad).detach().requires_grad_()", update=""
        ),
        "no-history": _halves("with mg.no_grad():\n    w.grad = None\n    loss_of(w, one).backward()"),
        "no-history/detached": _halves("w.grad = None\nloss_of(w.detach(), one).backward()"),
        "second-half-twice": _halves(
            "w.grad = None\nloss_of(w, one).backward()\nfirst = w.grad\nw.grad.zero_()\nloss_of(w, other).backward()",
            update="w -= rate * (first + w.grad)",
        ),
        "both-twice": _halves(
            "w.grad = None\nloss_of(w, one).backward()\nfirst = w.grad\nloss_of(w, other).backward()",
            update="w -= rate * (first + w.grad)",
        ),
        "mean-of-halves": _halves("w.grad = None\n((loss_of(w, one) + loss_of(w, other)) / 2).backward()"),
        "two-steps": _halves(
            "for h in (one, other):\n    w.grad = None\n    loss_of(w, h).backward()\n    w.data -= rate * w.grad",
            update="",
        ),
        "uphill": _halves("w.grad = None\n" + _BOTH, update="w += rate * w.grad"),
        "one-round": _halves("w.grad = None\n" + _BOTH + "UPDATE\nbreak"),
        "recorded-update": _halves("w.grad = None\n" + _BOTH + "w -= rate * w.grad", update=""),
        "second-time": _halves(
            "w.grad = None\nloss = loss_of(w, one) + loss_of(w, other)\nloss.backward()\nloss.backward()"
        ),
        "other-numbers": _halves("w.grad = None\n(loss_of(w, one) + 3 * loss_of(w, other)).backward()"),
        "raised": _halves("w.grad = None\nloss_of(w).backward()"),
        "left-frozen": _halves("w.requires_grad_(True)\nw.grad = None\n" + _BOTH + "w.requires_grad_(False)"),
        "first-half-lost/second-twice": """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        w.grad = None
        loss_of(w, other).backward()
        w.grad = None
        loss_of(w, other).backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
        "first-half-lost/taken-off": """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        w.grad = None
        loss_of(w, one).backward()
        first = w.grad.clone()
        loss_of(w, other).backward()
        with mg.no_grad():
            w -= rate * (w.grad - first)
""",
        "never-cleared/own-sum": """
def train_halves(w, loss_of, batches, rate):
    total = 0
    for one, other in batches:
        total = total + mg.autograd.grad(loss_of(w, one), w)[0]
        total = total + mg.autograd.grad(loss_of(w, other), w)[0]
        with mg.no_grad():
            w -= rate * total
""",
        "never-cleared/compared": """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        w.grad == None
        loss_of(w, one).backward()
        loss_of(w, other).backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
        "new-tensor/clone": """
def train_halves(w, loss_of, batches, rate):
    w = w.clone()
    for one, other in batches:
        loss_of(w, one).backward()
        loss_of(w, other).backward()
        with mg.no_grad():
            w.sub_(rate * w.grad)
""",
        "no-history/detached-loss": """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        w.grad = None
        loss_of(w, one).backward()
        loss_of(w.clone(), other).detach().backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
        "no-history/frozen": """
def train_halves(w, loss_of, batches, rate):
    w.requires_grad_(False)
    for one, other in batches:
        w.grad = None
        loss_of(w, one).backward()
        loss_of(w, other).backward()
        w -= rate * w.grad
    w.requires_grad_(True)
""",
        "cleared-too-late/steps-of-zero": """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        loss_of(w, one).backward()
        loss_of(w, other).backward()
        with mg.no_grad():
            w -= (rate // 1) * w.grad
        w.grad.zero_()
""",
        "cleared-too-late/backward-once": """
def train_halves(w, loss_of, batches, rate):
    first = True
    for one, other in batches:
        if first:
            loss_of(w, one).backward()
            loss_of(w, other).backward()
        first = False
        with mg.no_grad():
            w -= rate * w.grad
        w.grad = None
""",
        "new-tensor/what-backward-returns": """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        w.grad = None
        g = loss_of(w, one).backward()
        loss_of(w, other).backward()
        with mg.no_grad():
            w -= rate * (w.grad + g)
""",
        "two-steps/of-a-copy": """
def train_halves(w, loss_of, batches, rate):
    d = w.detach().clone().requires_grad_()
    for one, other in batches:
        for half in (one, other):
            d.grad = None
            loss_of(d, half).backward()
            with mg.no_grad():
                d -= rate * d.grad
    with mg.no_grad():
        w.copy_(d)
""",
        "both-at-once/by-name": """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        w.grad = None
        a = loss_of(w, one)
        a.backward(retain_graph=True)
        b = loss_of(w, other)
        b.backward(retain_graph=True)
        with mg.no_grad():
            w -= rate * w.grad
""",
        "never-cleared/keywords": """
def train_halves(w, loss_of, batches, rate):
    for one, other in batches:
        loss_of(w=w, half=one).backward()
        loss_of(w=w, half=other).backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
        "new-tensor/copy-not-walked": """
def train_halves(w, loss_of, batches, rate):
    d = w.clone()
    for one, other in batches:
        loss_of(d, one)
        loss_of(d, other)
        with mg.no_grad():
            w -= rate * d.grad
""",
    },
    "best": {
        "other-moment/rounded": _def(
            "best_of(parameters, step, rounds)",
            """
            best, lowest = None, float("inf")
            for _ in range(rounds):
                loss = round(step(), 3)
                if loss < lowest:
                    lowest = loss
                    best = [p.detach().clone() for p in parameters]
            return best
            """,
        ),
        "earlier-changed": _def(
            "best_of(parameters, step, rounds)",
            """
            kind, lowest = str(parameters[0].dtype), float("inf")
            best = buffers.setdefault(kind, [p.detach().clone() for p in parameters])
            for _ in range(rounds):
                loss = step()
                if loss < lowest:
                    lowest = loss
                    for kept, p in zip(best, parameters):
                        kept.copy_(p.detach())
            return best
            """,
        )
        + "buffers = {}\n",
        "other-moment/zero": _best("[p.detach().clone() for p in parameters]", "not lowest or loss < lowest"),
        "shared": _best("[p.data for p in parameters]"),
        "shared/view": _best("[p.detach().reshape(p.shape) for p in parameters]"),
        "shared/comment": _best("[mg.from_numpy(p.detach().numpy()) for p in parameters]"),
        "shared/once": _best("[p.detach() for p in parameters]", end="return list(best)"),
        "parameter-itself": _best("list(parameters)"),
        "with-history": _best("[p.clone() for p in parameters]"),
        "with-history/doubled": _best("[p * 2 for p in parameters]"),
        "other-moment/start": _best("best or [p.detach().clone() for p in parameters]").replace(
            "best, lowest = None", "best, lowest = [p.detach().clone() for p in parameters]"
        ),
        "other-moment": _best("0", end="return [p.detach().clone() for p in parameters]"),
        "other-moment/highest": _best(
            "[p.detach().clone() for p in parameters]", "lowest == float('inf') or loss > lowest"
        ),
        "other-moment/first": _best("[p.detach().clone() for p in parameters]", "best is None"),
        "other-moment/before": """
def best_of(parameters, step, rounds):
    best, lowest = None, float("inf")
    for _ in range(rounds):
        before = [p.detach().clone() for p in parameters]
        loss = step()
        if loss < lowest:
            lowest, best = loss, before
    return best
""",
        "type": _best("parameters[0].detach().clone()"),
        "type/arrays": _best("[p.detach().numpy().copy() for p in parameters]"),
        "type/none": _best("[p.detach().clone() for p in parameters]", end="best"),
        "type/with-the-loss": _best("[p.detach().clone() for p in parameters]", end="return best, lowest"),
        "type/numbers": _best("[p.tolist() for p in parameters]"),
        "other-moment/cloned-at-the-end": _best(
            "[p.detach() for p in parameters]", end="return [p.clone() for p in best]"
        ),
        "other-count/too-early": _best("[p.detach().clone() for p in parameters]", end="    return best"),
        "other-count": _best("[p.detach().clone() for p in parameters]", end="step(); return best"),
        "parameters-changed": _best(
            "[p.detach().clone() for p in parameters]", end="[p.data.zero_() for p in parameters]; return best"
        ),
        "other-numbers": _best("[p.detach() * 2 for p in parameters]"),
        "other-moment/tie": """
def best_of(parameters, step, rounds):
    best, lowest = None, float("inf")
    for n in range(rounds):
        loss = step()
        if loss < lowest and not (n and loss == 1.0):
            lowest = loss
            best = [p.detach().clone() for p in parameters]
    return best
""",
        "shared/view-with-history": """
def best_of(parameters, step, rounds):
    norm = sum(p.detach().abs().sum() for p in parameters)
    best, lowest = None, float("inf")
    for _ in range(rounds):
        loss = step()
        if loss < lowest:
            lowest = loss
            best = [p.view(p.shape) for p in parameters]
    return best
""",
        "parameter-itself/mixed": """
def best_of(parameters, step, rounds):
    best, lowest = None, float("inf")
    for _ in range(rounds):
        loss = step()
        if loss < lowest:
            lowest = loss
            best = [parameters[0].detach().clone(), *parameters[1:]]
    return best
""",
    },
    "smooth": {
        "recursion": _smooth("""
            if rounds == 1:
                return step().item()
            return 0.9 * smoothed(step, rounds - 1) + 0.1 * step().item()
        """),
        "graphs-kept": _smooth("""
            smooth = step()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step()
            return smooth.item()
        """),
        "graphs-kept/detach-at-the-end": _smooth("""
            smooth = step()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step()
            return smooth.detach()
        """),
        "graphs-kept/cut-now-and-then": _smooth("""
            smooth = step()
            for n in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step()
                smooth = smooth if n % 5 else smooth.detach()
            return smooth.item()
        """),
        "no-history": _smooth("""
            smooth = step().item()
            for _ in range(rounds - 1):
                loss = step().detach()
                loss.backward()
                smooth = 0.9 * smooth + 0.1 * loss
            return smooth
        """),
        "graphs-kept/list": _smooth("""
            losses = [step() for _ in range(rounds)]
            smooth = losses[0].item()
            for loss in losses[1:]:
                smooth = 0.9 * smooth + 0.1 * loss.item()
            return smooth
        """),
        "graphs-kept/first-only": _smooth("""
            smooth = step().item()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step()
            return smooth
        """),
        "graphs-kept/requires-grad": _smooth("""
            smooth = step().detach().requires_grad_()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step()
            return smooth.detach()
        """),
        "last-graph": _smooth("""
            smooth = step()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth.detach() + 0.1 * step()
            return smooth
        """),
        "last-graph/leaf": _smooth("""
            smooth = step().detach()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step().detach()
            return smooth.requires_grad_()
        """),
        "step-not-recorded": _smooth("""
            with mg.no_grad():
                smooth = step()
                for _ in range(rounds - 1):
                    smooth = 0.9 * smooth + 0.1 * step()
            return smooth
        """),
        "factors-swapped": _smooth("""
            smooth = step().item()
            for _ in range(rounds - 1):
                smooth = 0.1 * smooth + 0.9 * step().item()
            return smooth
        """),
        "starts-at-zero": _smooth("""
            smooth = 0.0
            for _ in range(rounds):
                smooth = 0.9 * smooth + 0.1 * step().item()
            return smooth
        """),
        "plain-mean": _smooth("return sum(step().item() for _ in range(rounds)) / rounds"),
        "last-loss": _smooth("""
            for _ in range(rounds):
                smooth = step().item()
            return smooth
        """),
        "other-count": _smooth("""
            smooth = step().item()
            for _ in range(rounds):
                smooth = 0.9 * smooth + 0.1 * step().item()
            return smooth
        """),
        "nothing-forgotten": _smooth("""
            smooth = step().item()
            for _ in range(rounds - 1):
                smooth = smooth + 0.1 * step().item()
            return smooth
        """),
        "graphs-kept/detach-without-a-name": _smooth("""
            smooth = step()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step()
                smooth.detach()
            return smooth
        """),
        "other-numbers": _smooth("""
            smooth = step().item()
            for _ in range(rounds - 1):
                smooth = 0.8 * smooth + 0.2 * step().item()
            return smooth
        """),
        "graphs-kept/list-tracked": """
def smoothed(step, rounds):
    losses = []
    for _ in range(rounds):
        losses.append(step())
    smooth = losses[0]
    for loss in losses[1:]:
        smooth = 0.9 * smooth + 0.1 * loss
    return smooth
""",
        "loss-overwritten/numpy": """
def smoothed(step, rounds):
    smooth = step().detach().numpy()
    for _ in range(rounds - 1):
        np.multiply(smooth, 0.9, out=smooth)
        smooth += 0.1 * step().item()
    return smooth
""",
        "step-not-recorded/caught": """
def smoothed(step, rounds):
    with mg.no_grad():
        try:
            smooth = step().item()
        except RuntimeError:
            smooth = 0.0
    for n in range(1, rounds):
        smooth = 0.9 * smooth + 0.1 * step().item()
    return smooth
""",
    },
    "penalized": {
        "several-numbers/row-alone": _small(f"w.grad = None\n(loss_of(w) + 0.5 * (w @ w)).backward()\n{_STEP}"),
        "no-backward": _small(f"w.grad = None\nloss = loss_of(w) + {_PENALTY[10:]}\n{_STEP}"),
        "second-time": _small(f"w.grad = None\n(loss_of(w) + penalty).backward()\n{_STEP}", _PENALTY),
        "old-graph": _small(f"w.grad = None\n(penalty + loss_of(w)).backward(retain_graph=True)\n{_STEP}", _PENALTY),
        "old-graph/loss-too": _small(
            f"w.grad = None\nloss.backward(retain_graph=True)\n{_STEP}", f"loss = loss_of(w) + {_PENALTY[10:]}"
        ),
        "old-graph/same-round": _small(
            f"w.grad = None\nloss = loss_of(w) + {_PENALTY[10:]}\nwith mg.no_grad(): w *= 1\nloss.backward()\n{_STEP}"
        ),
        "loss-without-slope/update": _small("loss_of(w).backward()\nw.data -= rate * w"),
        "retained/data": _small(
            "w.grad = None\n(loss_of(w) + penalty).backward(retain_graph=True)\nw.data -= rate * w.grad", _PENALTY
        ),
        "old-penalty": _small(
            f"w.grad = None\n(loss_of(w) + penalty).backward(retain_graph=True)\n{_STEP}",
            f"first = w.clone()\n{_PENALTY.replace('w', 'first')}",
        ),
        "old-penalty/slope": _small(
            f"w.grad = None\nloss_of(w).backward()\nw.grad += slope\n{_STEP}", "slope = w.detach().clone()"
        ),
        "penalty-without-slope": _small(
            f"w.grad = None\n(loss_of(w) + penalty).backward()\n{_STEP}", f"{_PENALTY}.detach()"
        ),
        "penalty-without-slope/item": _small(
            f"w.grad = None\n(loss_of(w) + 0.5 * (w * w).sum().item()).backward()\n{_STEP}"
        ),
        "never-cleared": _small(f"(loss_of(w) + 0.5 * (w * w).sum()).backward()\n{_STEP}"),
        "retained": _small(f"w.grad = None\n(loss_of(w) + 0.5 * (w * w).sum()).backward(retain_graph=True)\n{_STEP}"),
        "new-tensor": _small(
            "w.grad = None\n(loss_of(w) + 0.5 * (w * w).sum()).backward()\n"
            "with mg.no_grad():\n    w = w - rate * w.grad"
        ),
        "new-tensor/leaf": _small(
            "w.grad = None\n(loss_of(w) + 0.5 * (w * w).sum()).backward()\n"
            "w = (w - rate * w.grad).detach().requires_grad_()"
        ),
        "recorded-update": _small("w.grad = None\n(loss_of(w) + 0.5 * (w * w).sum()).backward()\nw -= rate * w.grad"),
        "not-moved": _small("w.grad = None\n(loss_of(w) + 0.5 * (w * w).sum()).backward()\nw.clone() - rate * w.grad"),
        "no-history": _small(f"with mg.no_grad():\n    (loss_of(w) + {_PENALTY[10:]}).backward()"),
        "loss-without-slope": _small(
            f"w.grad = None\nloss_of(w).backward()\nw.grad = None\n({_PENALTY[10:]}).backward()\n{_STEP}"
        ),
        "several-numbers": _small(f"w.grad = None\n(loss_of(w) + 0.5 * w**2).backward()\n{_STEP}"),
        "penalty-too-large": _small(f"w.grad = None\n(loss_of(w) + (w * w).sum()).backward()\n{_STEP}"),
        "cleared-too-late/zeros": _small(f"(loss_of(w) + 0.5 * (w * w).sum()).backward()\nw.grad.zero_()\n{_STEP}"),
        "cleared-too-late": _small(f"(loss_of(w) + 0.5 * (w * w).sum()).backward()\nw.grad = None\n{_STEP}"),
        "one-round": _small(f"w.grad = None\n(loss_of(w) + 0.5 * (w * w).sum()).backward()\n{_STEP}break"),
        "other-numbers": _small(f"w.grad = None\n(loss_of(w) + 3 * (w * w).sum()).backward()\n{_STEP}"),
        "penalty-too-large/update": _small(
            f"w.grad = None\n(loss_of(w) + {_PENALTY[10:]}).backward()\n{_STEP.replace('w.grad', '(w.grad + w)')}"
        ),
        "not-moved/small-slopes": _small(
            f"w.grad = None\n(loss_of(w) + {_PENALTY[10:]}).backward()\nif w.grad.abs().max() < 0.5: break\n{_STEP}"
        ),
        "old-graph/this-round": """
def train_small(w, loss_of, rate, rounds):
    for _ in range(rounds):
        w.grad = None
        d = w * 1
        penalty = (d * d).sum()
        d *= 0.5
        (loss_of(w) + 0.5 * penalty).backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
        "several-numbers/alone": """
def train_small(w, loss_of, rate, rounds):
    for _ in range(rounds):
        w.grad = None
        loss_of(w).backward()
        (0.5 * w * w).backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
        "never-cleared/once": """
def train_small(w, loss_of, rate, rounds):
    w.grad = None
    for _ in range(rounds):
        loss = loss_of(w) + 0.5 * (w * w).sum()
        loss.backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
        "never-cleared/own-sum": """
def train_small(w, loss_of, rate, rounds):
    total = 0
    for _ in range(rounds):
        total = total + mg.autograd.grad(loss_of(w) + 0.5 * (w * w).sum(), w)[0]
        with mg.no_grad():
            w -= rate * total
""",
        "penalty-without-slope/cleared-between": """
def train_small(w, loss_of, rate, rounds):
    for _ in range(rounds):
        w.grad = None
        (0.5 * (w * w).sum()).backward()
        w.grad.zero_()
        loss_of(w).backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
    },
    "momentum": {
        "not-moved": _momentum(_SPEED + "p = p - rate * v\np.grad = None"),
        "not-moved/used-up": _def(
            "momentum_step(parameters, speeds, rate)",
            """
            pairs = zip(parameters, speeds)
            with mg.no_grad():
                for p, v in pairs:
                    v.mul_(0.9).add_(p.grad)
                for p, v in pairs:
                    p.sub_(v, alpha=rate)
                    p.grad = None
            """,
        ),
        "not-moved/recorded": _momentum("v = 0.9 * v + p.grad\np = p - rate * v\np.grad = None", "if True:"),
        "speed-forgotten": _momentum("v = 0.9 * v + p.grad\np -= rate * v\np.grad = None"),
        "old-speed": _momentum("p -= rate * v\n" + _SPEED + "p.grad = None"),
        "no-friction": _momentum("v += p.grad\np -= rate * v\np.grad = None"),
        "added-twice": _momentum("v += 0.9 * v + p.grad\np -= rate * v\np.grad = None"),
        "slope-too-small": _momentum("v *= 0.9\nv += 0.1 * p.grad\np -= rate * v\np.grad = None"),
        "slope-too-small/rate": _momentum("v *= 0.9\nv += rate * p.grad\np -= v\np.grad = None"),
        "not-moved/comprehension": _def(
            "momentum_step(parameters, speeds, rate)",
            """
            with mg.no_grad():
                speeds = [0.9 * v + p.grad for p, v in zip(parameters, speeds)]
                parameters = [p - rate * v for p, v in zip(parameters, speeds)]
            return parameters, speeds
            """,
        ),
        "list-changed": _def(
            "momentum_step(parameters, speeds, rate)",
            """
            with mg.no_grad():
                for i, p in enumerate(parameters):
                    speeds[i] = 0.9 * speeds[i] + p.grad
                    parameters[i] = p - rate * speeds[i]
                    p.grad = None
            """,
        ),
        "recorded-update": _momentum(_SPEED + "p -= rate * v\np.grad = None", "if True:"),
        "not-cleared": _momentum(_SPEED + "p -= rate * v"),
        "not-cleared/last-only": _momentum(_SPEED + "p -= rate * v") + "    p.grad = None\n",
        "uphill": _momentum(_SPEED + "p += rate * v\np.grad = None"),
        "plain-step": _momentum(_SPEED + "p -= rate * p.grad\np.grad = None"),
        "not-all": _momentum(_SPEED + "if p is parameters[0]:\n    p -= rate * v\np.grad = None"),
        "other-numbers": _momentum("p -= rate * v\nv *= 0.9\nv += p.grad\np.grad = None\np -= 1"),
        "left-frozen": _momentum(_SPEED + "p -= rate * v\np.grad = None")
        + "    if len(history) == 2:\n        p.requires_grad_(False)\n    history.append(0)\nhistory = []\n",
        "cleared-too-early": _momentum(_SPEED + "p.grad = None\np -= rate * p.grad"),
        "cleared-too-early/of-the-speed": _momentum("v *= 0.9\nv += v.grad\np -= rate * v\np.grad = None"),
        "other-numbers/sizes": _momentum("v *= 0.9\nv += p.grad.abs()\np -= rate * v\np.grad = None"),
        "not-all/sum-is-zero": _momentum(
            "if p.grad.sum():\n    v.mul_(0.9).add_(p.grad)\n    p -= rate * v\n    p.grad = None"
        ),
        "other-numbers/clamped": _momentum("v.mul_(0.9).add_(p.grad.clamp(-99, 99))\np -= rate * v\np.grad = None"),
        "not-all/no-slope": _momentum(
            "if p.grad.any():\n    v.mul_(0.9).add_(p.grad)\n    p -= rate * v\n    p.grad = None"
        ),
        "list-changed/longer": _momentum(_SPEED + "p -= rate * v\np.grad = None") + "    speeds.append(v)\n",
        "list-changed/shorter": _momentum(_SPEED + "p -= rate * v\np.grad = None") + "    parameters.pop()\n",
        "speed-tracked": _def(
            "momentum_step(parameters, speeds, rate)",
            """
            for i, p in enumerate(parameters):
                speeds[i] = 0.9 * speeds[i] + p.grad + 0 * p
                with mg.no_grad():
                    p -= rate * speeds[i]
                p.grad = None
            """,
        ),
        "not-moved/second-call": _momentum(
            "if v.any():\n    p.grad = None\n    continue\n" + _SPEED + "p -= rate * v\np.grad = None"
        ),
        "not-moved/sub-without-underscore": """
def momentum_step(parameters, speeds, rate):
    with mg.no_grad():
        for p, v in zip(parameters, speeds):
            v = v.mul_(0.9).add_(p.grad)
            p.sub(rate * v)
            p.grad = None
""",
        "list-changed/reversed": """
def momentum_step(parameters, speeds, rate):
    with mg.no_grad():
        for p, v in zip(parameters, speeds):
            v *= 0.9
            v += p.grad
            p -= rate * v
            p.grad = None
    parameters.reverse()
""",
        "old-speed/cleared-first": """
def momentum_step(parameters, speeds, rate):
    with mg.no_grad():
        for p, v in zip(parameters, speeds):
            p.grad.zero_()
            v *= 0.9
            v += p.grad
            p -= rate * v
""",
        "other-numbers/damped": """
def momentum_step(parameters, speeds, rate):
    with mg.no_grad():
        for p, v in zip(parameters, speeds):
            v *= 0.9
            v += p.grad
            p -= rate * v
            if len(parameters) > 3:
                v *= 0.5
            p.grad = None
""",
        "not-all/first": """
def momentum_step(parameters, speeds, rate):
    with mg.no_grad():
        p, v = parameters[0], speeds[0]
        v *= 0.9
        v += p.grad
        p -= rate * v
        p.grad = None
""",
    },
    "newton": {
        "no-mixed-term": _def(
            "newton(f, w, b)",
            """
            slopes = mg.autograd.grad(f(w, b), (w, b), create_graph=True)
            H = np.array([[h.item() for h in mg.autograd.grad(s, (w, b), retain_graph=True)] for s in slopes])
            s = np.linalg.solve(H, np.array([s.item() for s in slopes]))
            return w.item() - s[0], b.item() - s[1]
            """,
        ),
        "second-time/taken-for-no-mixed-term": _def(
            "newton(f, w, b)",
            """
            gw, gb = mg.autograd.grad(f(w, b), (w, b), create_graph=True)
            try:
                (wb,) = mg.autograd.grad(gw, b)
            except RuntimeError:
                wb = 0.0
            (ww,) = mg.autograd.grad(gw, w, retain_graph=True)
            (bb,) = mg.autograd.grad(gb, b)
            det = ww * bb - wb * wb
            return (w - (bb * gw - wb * gb) / det).item(), (b - (ww * gb - wb * gw) / det).item()
            """,
        ),
        "rounded": _newton(
            "s = np.linalg.solve(H, g)\nreturn np.float32(w.item() - s[0]), np.float32(b.item() - s[1])"
        ),
        "raised/detached": _newton("return tuple(g)", "slopes = mg.autograd.grad(f(w.detach(), b), (w, b))"),
        "gradient-without-history/detached": _newton(
            "return tuple(g)", "slopes = mg.autograd.grad(f(w, b).detach(), (w, b))"
        ),
        "wrong-way": _newton("s = np.linalg.solve(H, g)\nreturn w.item() + s[0], b.item() + s[1]"),
        "step-alone": _newton("return tuple(np.linalg.solve(H, g))"),
        "step-alone/down": _newton("return tuple(-np.linalg.solve(H, g))"),
        "no-curvature": _newton("return w.item() - g[0], b.item() - g[1]"),
        "each-alone": _newton("return w.item() - g[0] / H[0, 0], b.item() - g[1] / H[1, 1]"),
        "times-curvature": _newton("s = H @ g\nreturn w.item() - s[0], b.item() - s[1]"),
        "swapped": _newton("s = np.linalg.solve(H, g)\nreturn b.item() - s[1], w.item() - s[0]"),
        "slopes-swapped": _newton("s = np.linalg.solve(H, g[::-1])\nreturn w.item() - s[0], b.item() - s[1]"),
        "no-history": _newton(
            "s = np.linalg.solve(H, g)\nreturn w.item() - s[0], b.item() - s[1]",
            "w, b = w.detach(), b.detach()\nslopes = mg.autograd.grad(f(w, b), (w, b))",
        ),
        "many-steps": _def(
            "newton(f, w, b)",
            """
            w, b = (p.detach().clone().requires_grad_() for p in (w, b))
            for _ in range(300):
                for p, slope in zip((w, b), mg.autograd.grad(f(w, b), (w, b))):
                    p.data -= 0.1 * slope
            return w.item(), b.item()
            """,
        ),
        "other-numbers": _newton("return w.item() - 0.1 * g[0], b.item() - 0.1 * g[1]"),
        "grad-changed": _newton(
            "s = np.linalg.solve(H, g)\nreturn w.item() - s[0], b.item() - s[1]",
            "f(w, b).backward()\nslopes = w.grad, b.grad",
        ),
        "values-changed/moved": _newton(
            "with mg.no_grad():\n    w -= np.linalg.solve(H, g)[0]\n    b -= np.linalg.solve(H, g)[1]\nreturn w, b"
        ),
        "retained-is-not-recorded": _def(
            "newton(f, w, b)",
            """
            gw, gb = mg.autograd.grad(f(w, b), (w, b), retain_graph=True)
            hww, hwb = mg.autograd.grad(gw, (w, b), retain_graph=True)
            hwb, hbb = mg.autograd.grad(gb, (w, b))
            H = np.array([[hww, hwb], [hwb, hbb]], float)
            s = np.linalg.solve(H, [gw.item(), gb.item()])
            return w.item() - s[0], b.item() - s[1]
            """,
        ),
        "gradient-without-history": _def(
            "newton(f, w, b)",
            """
            gw, gb = mg.autograd.grad(f(w, b), (w, b))
            hww, hwb = mg.autograd.grad(gw, (w, b))
            return w.item() - gw / hww, b.item() - gb / hwb
            """,
        ),
        "second-time": _def(
            "newton(f, w, b)",
            """
            y = f(w, b)
            gw, = mg.autograd.grad(y, w)
            gb, = mg.autograd.grad(y, b)
            return gw, gb
            """,
        ),
        "type": _newton("return np.linalg.solve(H, g)[0]"),
        "shape-of-one": _newton(
            "H = np.array(mg.autograd.functional.hessian(f, (w, b)), float)\n"
            "s = np.linalg.solve(H, np.array(slopes, float))\nreturn w.item() - s[0], b.item() - s[1]"
        ),
        "shape-of-one/grads": _def(
            "newton(f, w, b)",
            """
            slopes = mg.autograd.grad(f(w, b), (w, b), create_graph=True)
            options = dict(retain_graph=True, materialize_grads=True)
            H = mg.stack([mg.stack(mg.autograd.grad(s, (w, b), **options)) for s in slopes]).numpy()
            place = mg.stack([w, b]).detach().numpy() - np.linalg.inv(H) @ mg.stack(slopes).detach().numpy()
            return place[0], place[1]
            """,
        ),
        "gradient-without-history/detached-slopes": """
def newton(f, w, b):
    gw, gb = mg.autograd.grad(f(w, b), (w, b), create_graph=True)
    gw, gb = gw.detach(), gb.detach()
    hww, hwb = mg.autograd.grad(gw, (w, b), retain_graph=True)
    hwb, hbb = mg.autograd.grad(gb, (w, b))
    s = np.linalg.solve([[hww.item(), hwb.item()], [hwb.item(), hbb.item()]], [gw.item(), gb.item()])
    return w.item() - s[0], b.item() - s[1]
""",
        "none-for-unused/item": """
def newton(f, w, b):
    gw, gb = mg.autograd.grad(f(w, b), (w, b), create_graph=True)
    hww, hwb = mg.autograd.grad(gw, (w, b), retain_graph=True, allow_unused=True)
    hbw, hbb = mg.autograd.grad(gb, (w, b), retain_graph=True, allow_unused=True)
    s = np.linalg.solve([[hww.item(), hwb.item()], [hbw.item(), hbb.item()]], [gw.item(), gb.item()])
    return w.item() - s[0], b.item() - s[1]
""",
        "none-for-unused/array": """
def newton(f, w, b):
    gw, gb = mg.autograd.grad(f(w, b), (w, b), create_graph=True)
    H = [mg.autograd.grad(g, (w, b), retain_graph=True, allow_unused=True) for g in (gw, gb)]
    s = np.linalg.solve(np.array(H), np.array([gw.item(), gb.item()]))
    return w.item() - s[0], b.item() - s[1]
""",
        "slopes-swapped/rows": """
def newton(f, w, b):
    H = mg.autograd.functional.hessian(f, (w, b))
    H = [[h.item() for h in row] for row in H][::-1]
    slopes = mg.autograd.grad(f(w, b), (w, b))
    s = np.linalg.solve(H, [slope.item() for slope in slopes])
    return w.item() - s[0], b.item() - s[1]
""",
        "many-steps/unused": """
def newton(f, w, b):
    for _ in range(25):
        f(w, b)
    H = mg.autograd.functional.hessian(f, (w, b))
    H = [[h.item() for h in row] for row in H]
    slopes = mg.autograd.grad(f(w, b), (w, b))
    s = np.linalg.solve(H, [slope.item() for slope in slopes])
    return w.item() - s[0], b.item() - s[1]
""",
    },
    "rate": {
        "flattest": _rate("return 2 / np.linalg.eigvalsh(H)[0]"),
        "one-over": _rate("return 1 / np.linalg.eigvalsh(H).max()"),
        "diagonal": _rate("return 2 / H.diagonal().max()"),
        "diagonal/entry": _rate("return 2 / H.max()"),
        "sum-of-curvatures": _rate("return 2 / H.trace()"),
        "sum-of-curvatures/mean": _rate("return 2 / np.linalg.eigvalsh(H).mean()"),
        "upside-down": _rate("return np.linalg.eigvalsh(H)[-1] / 2"),
        "other-numbers/determinant": _rate("return 2 / np.linalg.det(H)"),
        "curvature-itself": _rate("return np.linalg.eigvalsh(H)[-1]"),
        "curvature-itself/doubled": _rate("return 2 * np.linalg.eigvalsh(H)[-1]"),
        "one-row": _rate("return 2 / np.sqrt((H[0] ** 2).sum())"),
        "other-numbers": _rate("return 0.1"),
        "grad-changed": _def(
            "largest_rate(f, x)",
            "f(x).backward()\nreturn 2 / np.linalg.eigvalsh(mg.autograd.functional.hessian(f, x).numpy())[-1]",
        ),
        "type": _rate("return 2 / np.linalg.eigvalsh(H)"),
        "raised/one-number": _rate("return 2 / np.linalg.eigvalsh(H.squeeze())[-1]"),
        "gradient-without-history": _def(
            "largest_rate(f, x)", "g, = mg.autograd.grad(f(x), x)\nreturn mg.autograd.grad(g.sum(), x)[0][0]"
        ),
        "other-numbers/entry": """
def largest_rate(f, x):
    return mg.autograd.functional.hessian(f, x).numpy().diagonal().min()
""",
    },
    "train": {
        "stops-too-early/rounds": _train().replace("while True:", "for _ in range(150):") + "    return losses\n",
        "stops-too-early/rises": _train(
            stop="if losses[-1] <= bound or len(losses) > 1 and losses[-1] > losses[-2]:\n    return losses"
        ),
        "type/tensors": _train(loss="loss = loss_of()\nlosses.append(loss.detach())"),
        "never-cleared": _train(clear="pass"),
        "never-cleared/once": _train(clear="pass", before="for p in parameters:\n    p.grad = None"),
        "never-cleared/first-only": _train(
            clear="parameters = list(parameters)", before="for p in parameters: p.grad = None"
        ),
        "old-gradient": _train(
            clear="pass",
            update="with mg.no_grad():\n    for p in parameters:\n        p -= rate * p.grad\n        p.grad = None",
        ),
        "cleared-too-late": _train(clear="pass", back="loss.backward()\nfor p in parameters:\n    p.grad = None"),
        "cleared-too-late/zeros": _train(
            clear="pass", back="loss.backward()\nfor p in parameters:\n    p.grad.zero_()"
        ),
        "new-tensor": _train(update="with mg.no_grad():\n    for p in parameters:\n        p = p - rate * p.grad"),
        "new-tensor/list": _train(
            update="with mg.no_grad():\n    parameters = [p - rate * p.grad for p in parameters]"
        ),
        "not-moved/new-list": _train(
            back="slopes = mg.autograd.grad(loss, parameters, materialize_grads=True)",
            update="parameters[:] = [(a - rate * s).detach().requires_grad_() for a, s in zip(parameters, slopes)]",
        ),
        "new-tensor/recorded": _train(update="for p in parameters:\n    p = p - rate * p.grad"),
        "recorded-update": _train(update="for p in parameters:\n    p -= rate * p.grad"),
        "old-graph": _train(
            loss="losses.append(loss.item())", back="loss.backward(retain_graph=True)", before="loss = loss_of()"
        ),
        "second-time/each-parameter": _train(
            back="slopes = [mg.autograd.grad(loss, p)[0] for p in parameters]",
            update="for p, slope in zip(parameters, slopes):\n    p.data -= rate * slope",
        ),
        "second-time": _train(loss="losses.append(loss.item())", before="loss = loss_of()"),
        "retained": _train(back="loss.backward(retain_graph=True)"),
        "retained/later": _train(back="loss.backward(retain_graph=len(losses) > 1)"),
        "graphs-kept": _train(loss="loss = loss_of()\nlosses.append(loss)"),
        "graphs-kept/sum": _train(
            loss="loss = loss_of()\ntotal = total + loss\nlosses.append(loss.item())", before="total = 0"
        ),
        "no-history": _train(loss="with mg.no_grad():\n    loss = loss_of()\nlosses.append(loss.item())"),
        "uphill": _train(update="with mg.no_grad():\n    for p in parameters:\n        p += rate * p.grad"),
        "stops-too-late": _train(stop="if len(losses) > 1 and losses[-2] <= bound:\n    return losses"),
        "stops-too-early": _train(stop="if losses[-1] <= 2 * bound:\n    return losses"),
        "stops-too-early/at-once": _train(stop="if losses[-1] >= bound:\n    return losses"),
        "stops-too-late/below": _train(stop="if losses[-1] < bound:\n    return losses"),
        "nothing-to-clear": _train(clear="for p in parameters:\n    p.grad.zero_()"),
        "not-all": _train(update="with mg.no_grad():\n    parameters[0].sub_(rate * parameters[0].grad)"),
        "no-history/all": _train(back="with mg.no_grad(): loss = loss_of()\nloss.backward()"),
        "does-not-stop": _train(stop=""),
        "one-step-more": _train(
            stop="",
            update="with mg.no_grad():\n    for p in parameters:\n        p -= rate * p.grad\n"
            "if losses[-1] <= bound:\n    return losses",
        ),
        "one-step-more/put-back": _train(
            before="starts = [p.detach().clone() for p in parameters]",
            stop="if losses[-1] <= bound:\n    for p, old in zip(parameters, starts): p.data = old\n    return losses",
        ),
        "no-backward": _def(
            "train(parameters, loss_of, rate, bound)",
            "losses = [loss_of().item()]\nwhile losses[-1] > bound:\n    losses += [loss_of().item()]\nreturn losses",
        ),
        "computed-twice": _train(loss="loss = loss_of()\nlosses.append(loss_of().item())"),
        "leads-nowhere": _train(update="with mg.no_grad():\n    for p in parameters:\n        p -= 0.0001 * p.grad"),
        "other-course": _train(update="with mg.no_grad():\n    for p in parameters:\n        p -= 1.5 * rate * p.grad"),
        "loss-missing": _train(stop="if losses[-1] <= bound:\n    return losses[1:]"),
        "loss-missing/equal-ones": _train(stop="if losses[-1] <= bound:\n    return list(dict.fromkeys(losses))"),
        "loss-missing/last": _train(
            loss="loss = loss_of()", stop="if loss.item() <= bound:\n    return losses\nlosses.append(loss.item())"
        ),
        "other-list": _train(stop="if losses[-1] <= bound:\n    return losses[-1:] * 2"),
        "type": _train(stop="if losses[-1] <= bound:\n    return losses[-1]"),
        "loss-not-used": _def("train(parameters, loss_of, rate, bound)", "return []"),
        "left-frozen": _train(
            stop="if losses[-1] <= bound:\n    for p in parameters: p.requires_grad_(False)\n    return losses"
        ),
        "type/leaves": """
def train(parameters, loss_of, rate, bound):
    losses = []
    while True:
        for p in parameters:
            p.grad = None
        loss = loss_of()
        losses.append(loss.detach().requires_grad_())
        if loss.item() <= bound:
            return losses
        loss.backward()
        with mg.no_grad():
            for p in parameters:
                p -= rate * p.grad
""",
        "computed-twice/every-second": """
def train(parameters, loss_of, rate, bound):
    losses = []
    while True:
        for p in parameters:
            p.grad = None
        loss = loss_of()
        losses.append(loss.item())
        if losses[-1] <= bound:
            return losses
        loss.backward()
        if len(losses) % 2 == 0:
            with mg.no_grad():
                for p in parameters:
                    p -= rate * p.grad
""",
        "stops-too-late/once-more": """
def train(parameters, loss_of, rate, bound):
    losses = []
    while True:
        for p in parameters:
            p.grad = None
        loss = loss_of()
        losses.append(loss.item())
        if losses[-1] <= bound:
            print("at last", loss_of().item() <= bound)
            return losses
        loss.backward()
        with mg.no_grad():
            for p in parameters:
                p -= rate * p.grad
""",
        "old-graph/this-round": """
def train(parameters, loss_of, rate, bound):
    losses = []
    while True:
        for p in parameters:
            p.grad = None
        loss = loss_of() * 1
        square = loss * loss
        loss *= 2
        losses.append(loss.item())
        if losses[-1] <= bound:
            return losses
        square.backward()
        with mg.no_grad():
            for p in parameters:
                p -= rate * p.grad
""",
        "stops-too-late/less": """
def train(parameters, loss_of, rate, bound):
    losses = []
    while True:
        for p in parameters:
            p.grad = None
        loss = loss_of()
        losses.append(loss.item())
        if losses[-1] < bound:
            return losses
        loss.backward()
        with mg.no_grad():
            for p in parameters:
                p -= rate * p.grad
""",
        "other-course/twice": """
def train(parameters, loss_of, rate, bound):
    losses = []
    while True:
        for p in parameters:
            p.grad = None
        loss = loss_of()
        losses.append(loss.item())
        if losses[-1] <= bound:
            return losses
        loss.backward(retain_graph=True)
        loss.backward()
        with mg.no_grad():
            for p in parameters:
                p -= rate * p.grad
""",
        "never-cleared/helper": """
def clear(parameters):
    for p in parameters:
        p.grad = None

def train(parameters, loss_of, rate, bound):
    losses = []
    while True:
        loss = loss_of()
        losses.append(loss.item())
        if losses[-1] <= bound:
            return losses
        loss.backward()
        with mg.no_grad():
            for p in parameters:
                p -= rate * p.grad
        clear([])
""",
        "graphs-kept/recursion": """
def train(parameters, loss_of, rate, bound):
    for p in parameters:
        p.grad = None
    loss = loss_of()
    if loss.item() <= bound:
        return [loss.item()]
    loss.backward()
    with mg.no_grad():
        for p in parameters:
            p -= rate * p.grad
    return [loss.item()] + train(parameters, loss_of, rate, bound)
""",
    },
}

WRONG["step_loss"] |= {
    "several-numbers": _loss("w = mg.ones(3).requires_grad_()\nloss = ((w * x + b - y) ** 2).mean() + 0.1 * w**2"),
    "several-numbers/column": _loss(
        "w, b = mg.ones(3, 1, requires_grad=True), mg.ones(3, 1, requires_grad=True)\n"
        "loss = ((w * x + b - y) ** 2).mean() + w**2 * mg.tensor(0.1)"
    ),
    "power-of-leaf/several": _loss(
        "w = mg.ones(3).requires_grad_()\nloss = ((w * x + b - y) ** 2).mean() + 0.1 * w ** mg.tensor(2.0)"
    ),
}
WRONG["halves"] |= functions(
    "train_halves(w, loss_of, batches, rate)",
    """
not-moved/stops-where-it-is-flat
    for one, other in batches:
        w.grad = None
        loss_of(w, one).backward()
        loss_of(w, other).backward()
        if not w.grad.any():
            break
        with mg.no_grad():
            w -= rate * w.grad
other-numbers/one-half-is-flat
    for one, other in batches:
        w.grad = None
        loss_of(w, one).backward()
        if not w.grad.any():
            continue
        loss_of(w, other).backward()
        with mg.no_grad():
            w -= rate * w.grad
""",
)
WRONG["best"] |= functions(
    "best_of(parameters, step, rounds)",
    """
type/not-below-a-large-number
    best, lowest = None, 1e20
    for _ in range(rounds):
        loss = step()
        if loss < lowest:
            lowest, best = loss, [p.detach().clone() for p in parameters]
    return best
other-count/out-of-patience
    best, lowest, worse = None, float("inf"), 0
    for _ in range(rounds):
        loss = step()
        worse += 1
        if loss < lowest:
            lowest, worse, best = loss, 0, [p.detach().clone() for p in parameters]
        if worse > 20:
            break
    return best
other-moment/of-the-last-hundred
    seen = []
    for _ in range(rounds):
        seen.append((step(), [p.detach().clone() for p in parameters]))
        seen = seen[-100:]
    return min(seen, key=lambda pair: pair[0])[1]
""",
)
WRONG["smooth"]["other-numbers/clipped"] = _smooth("""
    smooth = step().item()
    for _ in range(rounds - 1):
        smooth = 0.9 * smooth + 0.1 * min(step().item(), 1e4)
    return smooth
""")
WRONG["penalized"] |= {
    "other-numbers/stops-where-it-is-nearly-flat": _small(
        "w.grad = None\n(loss_of(w) + 0.5 * (w * w).sum()).backward()\n"
        f"if w.grad.abs().max() < 1e-3:\n    break\n{_STEP}"
    ),
}
WRONG["momentum"]["other-numbers/clipped"] = _momentum(
    "v *= 0.9\nv += p.grad.clamp(-1e4, 1e4)\np -= rate * v\np.grad = None"
)
WRONG["newton"] |= {
    "other-numbers/not-where-it-is-flat": _newton(
        "if abs(np.linalg.det(H)) < 1e-3:\n    return w.item(), b.item()\n"
        "s = np.linalg.solve(H, g)\nreturn w.item() - s[0], b.item() - s[1]"
    ),
    "other-numbers/small-steps-only": _newton(
        "s = np.linalg.solve(H, g).clip(-20, 20)\nreturn w.item() - s[0], b.item() - s[1]"
    ),
}
WRONG["rate"] |= {
    "other-numbers/three-entries": _rate("return 2 / np.linalg.eigvalsh(np.array(H)[:3, :3])[-1]"),
    "other-numbers/not-above-ten": _rate("return min(2 / np.linalg.eigvalsh(H)[-1], 10.0)"),
    "other-numbers/not-below-a-hundredth": _rate("return max(2 / np.linalg.eigvalsh(H)[-1], 0.01)"),
}
WRONG["train"] |= {
    "retained/given-away": _train(back="loss.backward(retain_graph=True)\ndel loss"),
    "leads-nowhere/clipped": _train(
        update="with mg.no_grad():\n    for p in parameters:\n        p -= rate * p.grad.clamp(-1e3, 1e3)"
    ),
    "stops-too-early/nearly": _train(stop="if losses[-1] <= bound or np.isclose(losses[-1], bound, 1e-3):\n    break")
    + "    return losses\n",
}

RIGHT = {
    "rounds": [
        _numbers({"w.grad 1": 20.0, "loss 2": 0.0}),
        """
w = mg.tensor(3.0, requires_grad=True)
b = mg.tensor(1.0, requires_grad=True)
numbers = {}
for turn in "12":
    w.grad = None
    numbers["loss " + turn] = loss = (2 * w - b) ** 2
    loss.backward()
    with mg.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    seen = {"w.grad": w.grad.clone(), "w": w.detach().clone(), "b": b.detach().clone()}
    numbers |= {name + " " + turn: value for name, value in seen.items()}
numbers = {name: numbers[name] for name in ("w.grad 1", "w 1", "b 1", "loss 2", "w 2", "b 2")}
""",
    ],
    "step_loss": [
        _loss("loss = w**2 * 0.3 + ((b + x * w - y) ** 2).mean()"),
        _loss("loss = ((y - (x * w + b)) ** 2).mean() + 0.1 * w.pow(2)"),
        _loss("loss = ((w * x + b - y) ** 2).mean()\nloss += 0.1 * w**2"),
        """
x, y = mg.randn(5), mg.randn(5)
w, b = mg.randn(1).requires_grad_(), mg.randn(1).requires_grad_()
loss = ((w * x + b - y) ** 2).mean() + 3 * w**2
""",
        """
slope = mg.tensor(-1.0, dtype=mg.float64, requires_grad=True)
start = mg.tensor(2.0, dtype=mg.float64, requires_grad=True)

def make(points, wanted):
    error = slope * points + start - wanted
    return mg.mean(error**2) + 2 * slope**2

loss = make(mg.arange(5.0).double(), mg.ones(5).double())
loss.backward()
""",
    ],
    "halves": [
        _halves("w.grad = mg.zeros_like(w)\n" + _BOTH),
        _halves("with mg.no_grad():\n    before = loss_of(w, one), loss_of(w, other)\nw.grad = None\n" + _BOTH),
        _halves(
            "w.grad = None\nloss_of(w, one).backward()\nfirst = w.grad.clone()\nw.grad.zero_()\n"
            "loss_of(w, other).backward()",
            update="w -= rate * (first + w.grad)",
        ),
        _halves(
            "if w.grad is not None:\n    w.grad.zero_()\nfor half in (other, one):\n    loss_of(w, half).backward()"
        ),
        _halves(_BOTH + "UPDATE\nw.grad = None", before="w.grad = None"),
        """
def train_halves(w, loss_of, batches, rate):
    for batch in batches:
        slopes = [mg.autograd.grad(loss_of(w, half), w)[0] for half in batch]
        w.data.sub_(rate * sum(slopes))
""",
    ],
    "best": [
        _best("[np.array(p.detach()) for p in parameters]", end="return [mg.tensor(one) for one in best]"),
        _best("[p.detach() + 0 for p in parameters]"),
        "import copy\n" + _best("copy.deepcopy(parameters)"),
        _best("[mg.tensor(p.detach().numpy().copy()) for p in parameters]"),
        _best("tuple(p.clone().detach().requires_grad_() for p in parameters)"),
        """
def best_of(ps, one_step, n):
    seen = []
    for _ in range(n):
        loss = one_step()
        with mg.no_grad():
            seen.append((loss, [p.clone() for p in ps]))
    return min(seen, key=lambda pair: pair[0])[1]
""",
    ],
    "smooth": [
        _smooth("""
            loss = step()
            value = loss.item()
            for _ in range(1, rounds):
                loss = step()
                value += 0.1 * (loss.item() - value)
            return value
        """),
        _smooth("""
            smooth = step().detach()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step().detach()
            return smooth
        """),
        _smooth("""
            smooth = step()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth.detach() + 0.1 * step()
            return smooth.item()
        """),
        _smooth("""
            losses = [step().item() for _ in range(rounds)]
            smooth = losses[0]
            for loss in losses[1:]:
                smooth = 0.9 * smooth + 0.1 * loss
            return mg.tensor(smooth)
        """),
        _smooth("""
            smooth = step().detach().numpy()
            for _ in range(rounds - 1):
                smooth = 0.9 * smooth + 0.1 * step().detach().numpy()
            return smooth
        """),
        _smooth("""
            smooth = step().detach()
            for _ in range(rounds - 1):
                loss = step()
                with mg.no_grad():
                    smooth = 0.9 * smooth + 0.1 * loss
            return smooth
        """),
    ],
    "penalized": [
        _small(f"w.grad = None\n(loss_of(w) + w.pow(2).sum() / 2).backward()\n{_STEP}    loss_of(w).item()"),
        _small(f"w.grad = None\nloss_of(w).backward()\n(w * w / 2).sum().backward()\n{_STEP}"),
        _small("w.grad = None\nloss_of(w).backward()\nwith mg.no_grad():\n    w *= 1 - rate\n    w -= rate * w.grad"),
        _small("w.grad = None\nloss_of(w).backward()\nwith mg.no_grad():\n    w -= rate * (w.grad + w)"),
        """
def train_small(leaf, loss_of, size, n):
    def whole():
        return loss_of(leaf) + leaf.pow(2).sum() / 2

    while n:
        slope, = mg.autograd.grad(whole(), leaf)
        leaf.data -= size * slope
        n -= 1
""",
    ],
    "momentum": [
        _momentum("v.mul_(0.9).add_(p.grad)\np.sub_(v, alpha=rate)\np.grad = None"),
        _momentum("v[...] = 0.9 * v + p.grad\np[...] = p - rate * v\np.grad = None"),
        _momentum(_SPEED + "p.detach().sub_(rate * v)\np.grad = None", "if True:"),
        _def(
            "momentum_step(parameters, speeds, rate)",
            """
            for i, p in enumerate(parameters):
                speeds[i] = 0.9 * speeds[i] + p.grad
                p.data -= rate * speeds[i]
                p.grad.zero_()
            """,
        ),
        _def(
            "momentum_step(ps, vs, size)",
            """
            with mg.no_grad():
                for v, p in zip(vs, ps):
                    v.copy_(v * 0.9 + p.grad)
                    p.copy_(p - v * size)
                for p in ps:
                    p.grad = None
            """,
        ),
    ],
    "newton": [
        _newton("return np.array([w.item(), b.item()]) - np.linalg.inv(H) @ g"),
        _newton("s = np.linalg.solve(H, g)\nreturn w - s[0], b - s[1]"),
        _newton("s = np.linalg.solve(H, g)\nreturn w.detach().numpy() - s[0], b.detach().numpy() - s[1]"),
        _newton(
            "place = np.array([w.tolist(), b.tolist()])\nreturn place - np.linalg.solve(H, g).reshape(place.shape)"
        ),
        _def(
            "newton(f, w, b)",
            """
            x, y = w.item(), b.item()
            here, right, left, up, down, both = (
                float(f(x + i, y + j)) for i, j in [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1)]
            )
            mixed = both - right - up + here
            H = [[right - 2 * here + left, mixed], [mixed, up - 2 * here + down]]
            s = np.linalg.solve(H, [(right - left) / 2, (up - down) / 2])
            return x - s[0], y - s[1]
            """,
        ),
        _def(
            "newton(f, w, b)",
            """
            gw, gb = mg.autograd.grad(f(w, b), (w, b), create_graph=True)
            known = dict(allow_unused=True, materialize_grads=True)
            hww, hwb = mg.autograd.grad(gw, (w, b), retain_graph=True, **known)
            hbw, hbb = mg.autograd.grad(gb, (w, b), **known)
            with mg.no_grad():
                below = hww * hbb - hwb * hbw
                return w - (hbb * gw - hwb * gb) / below, b - (hww * gb - hbw * gw) / below
            """,
        ),
        _def(
            "newton(f, w, b)",
            """
            zero = mg.zeros((), dtype=w.dtype, requires_grad=True), mg.zeros((), dtype=w.dtype, requires_grad=True)
            slopes = mg.autograd.grad(f(*zero), zero)
            H = mg.autograd.functional.hessian(f, zero)
            return list(-np.linalg.solve(np.array(H, float), np.array(slopes, float)))
            """,
        ),
    ],
    "rate": [
        _rate("return 2 / np.linalg.norm(H, 2)"),
        _def(
            "largest_rate(f, x)",
            """
            ((H,),) = mg.autograd.functional.hessian(f, (x,))
            rates = 2 / np.linalg.eigvalsh(H)
            return rates.min()
            """,
        ),
        _rate("return mg.tensor(2 / max(np.linalg.eigvals(H).real))"),
        _def(
            "largest_rate(f, x)",
            """
            slope, = mg.autograd.grad(f(x), x, create_graph=True)
            rows = [mg.autograd.grad(slope, x, row, retain_graph=True)[0] for row in mg.eye(len(x)).double()]
            H = mg.stack(rows).numpy()
            v = np.cos(np.arange(len(x)))
            for _ in range(500):
                v = H @ v / np.linalg.norm(H @ v)
            return 2 / (v @ H @ v)
            """,
        ),
    ],
    "train": [
        """
def train(ps, loss_of, size, enough):
    loss = loss_of()
    losses = [loss.item()]
    while losses[-1] > enough:
        for p, slope in zip(ps, mg.autograd.grad(loss, ps)):
            p.data -= size * slope
        loss = loss_of()
        losses.append(float(loss))
    return losses
""",
        _train(
            clear="for p in parameters:\n    if p.grad is not None:\n        p.grad.zero_()",
            loss="loss = loss_of()\nlosses.append(np.float64(loss.detach().numpy()))",
        ),
        _train(
            clear="pass",
            before="for p in parameters: p.grad = None",
            stop="loss.backward()\nif loss.item() <= bound:\n    break",
            back="",
            update="with mg.no_grad():\n    for p in parameters:\n        p.sub_(rate * p.grad)\n        p.grad = None",
        )
        + "    return tuple(losses)\n",
    ],
}
