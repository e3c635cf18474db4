"""Chapter 10: wrong answers with the diagnosis that each must get, and unusual right ones."""

import re
from pathlib import Path

import nbformat

from banks.patterns import changed

NOTEBOOK = "10_inside_the_engine"

_SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions" / f"{NOTEBOOK}.ipynb"
_ANSWERS = {
    cell.id.removeprefix("answer-"): re.sub("(?m)^ *### (BEGIN|END) SOLUTION\n?", "", cell.source)
    for cell in nbformat.read(_SOLUTIONS, as_version=4).cells
    if cell.id.startswith("answer-")
}


def _broken(exercise: str, *changes: tuple[str, str]) -> str:
    """The solution of an exercise with some of its words replaced."""
    source = _ANSWERS[exercise]
    for old, new in changes:
        if old not in source:
            raise ValueError(f"the solution of {exercise} has no {old!r}")
        source = source.replace(old, new)
    return source


def _walking(walk: str) -> str:
    """The solution of the last exercise with another walk."""
    source = _ANSWERS["engine"]
    return source[: source.rindex("def walk(")] + walk


_MINIGRAD_INSIDE = """
class Tensor:
    def __init__(self, data, requires_grad=False):
        self.inner = data if type(data) is mg.Tensor else mg.tensor(
            np.array(data, float), dtype=mg.float64, requires_grad=requires_grad)
    data = property(lambda self: self.inner.detach().numpy())
    node = property(lambda self: self.inner.grad_fn)
    grad = property(lambda self: self.inner.grad and Tensor(self.inner.grad))
    def backward(self, retain_graph=False, create_graph=False):
        self.inner.backward(retain_graph=retain_graph, create_graph=create_graph)
    def __mul__(self, other):
        return Tensor(self.inner * other.inner)
    def sum(self):
        return Tensor(self.inner.sum())
"""
_saved = changed("saved", {"A": 2, "B": 0, "C": 1, "D": 1, "E": 2, "B twice": True, "D twice": False})
_gradients = changed("gradients", {"A": 9, "B": 33, "B visits": 5, "C": 15, "D": 33, "E": 117, "minigrad": 66})

_RECURSIVE_TURNS = """
def turns(root):
    order, seen = [], set()
    def visit(node):
        if node not in seen:
            seen.add(node)
            for edge in node.edges:
                visit(edge)
            order.append(node)
    visit(root)
    return order[::-1]
"""
_SQUARE = """
def backward(root):
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            if edge not in waiting:
                waiting.append(edge)
"""
_MET = """
def backward(root):
    root.grad, waiting, met = 1.0, [root], {root}
    while waiting:
        node = waiting.pop(0)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            if edge not in met:
                met.add(edge)
                waiting.append(edge)
"""
_TWICE = """
def backward_twice(root):
    root.grad = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            waiting.add(edge)
"""
_RECORD = """
def record(op, inputs, shape):
    edges = [tensor.node for tensor in inputs]
    if not any(edges):
        return None
    named, saved = dict(zip(op.rules, inputs)), {}
    for edge, rule in zip(edges, op.rules.values()):
        for name in small.asked(rule) if edge else []:
            saved[name] = (named[name], named[name].version)
    return small.Node(op.name, shape, edges, list(op.rules.values()), saved)
"""
_ARRIVE = """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    gathered[edge] = gathered.get(edge, 0.0) + part
"""
_TURN = """
def turn(node, grad, retain_graph):
    if node.saved is None:
        raise RuntimeError("a second time")
    for tensor, version in node.saved.values():
        if tensor.version != version:
            raise RuntimeError("modified by an inplace operation")
    grads = []
    for edge, rule in zip(node.edges, node.rules):
        needed = [node.saved[name][0] for name in small.asked(rule) if edge]
        grads.append(rule(grad, *needed) if edge else None)
    if node.saved and not retain_graph:
        node.saved = None
    return grads
"""


def _with(source: str, old: str, new: str) -> str:
    if old not in source:
        raise ValueError(f"no {old!r}")
    return source.replace(old, new)


WRONG = {
    "sources": {
        "sub-saves": _saved(B=2),
        "second-fails": _saved({"B twice": False}),
        "one-x": _saved(A=1),
        "result-forgotten": _saved(C=0),
        "unneeded-saved": _saved(D=2),
        "constant-not-saved": _saved(D=0),
        "one-of-two": _saved(E=1),
        "constants-stay": _saved({"D twice": True}),
        "operand-too": _saved(C=2),
        "whole-row": _saved(D=3),
        "whole-row/other": _saved(E=3),
        "wrong-A": _saved(A=4),
        "kind": _saved({"B twice": "yes"}),
    },
    "walks": {
        "overwriting-adds": _gradients(A=33),
        "first-not-last": _gradients(A=3),
        "no-order-needed": _gradients(C=33),
        "one-visit": _gradients({"B visits": 1}),
        "edges-not-ways": _gradients({"B visits": 3}),
        "inside-is-clean": _gradients(E=66),
        "minigrad-keeps": _gradients(minigrad=117),
        "cleared-between": _gradients(minigrad=33),
        "wrong-B": _gradients(B=27),
        "wrong-E": _gradients(E=99),
        "kind": _gradients(A="nine"),
    },
    "square": {
        "overwrites": """
def backward(root):
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad = node.grad * slope
            if edge not in waiting:
                waiting.append(edge)
""",
        "two-turns": """
def backward(root):
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            waiting.append(edge)
""",
        "too-early": """
def backward(root):
    root.grad, found = 1.0, [root]
    for node in found:
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            if edge not in found:
                found.append(edge)
""",
        "paths": """
def backward(root, grad=1.0):
    root.grad += grad
    for edge, slope in zip(root.edges, root.slopes):
        backward(edge, grad * slope)
""",
        "recursion": """
def backward(root):
    order, seen = [], set()
    def visit(node):
        if node not in seen:
            seen.add(node)
            for edge in node.edges:
                visit(edge)
            order.append(node)
    visit(root)
    root.grad = 1.0
    for node in order[::-1]:
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
""",
        "too-early/oldest": _with(_SQUARE, "max(waiting", "min(waiting"),
        "too-early/last-found": _with(_MET, "waiting.pop(0)", "waiting.pop()"),
        "too-early/first-found": _MET,
        "zero-is-not-new": """
def backward(root):
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            if edge.grad == 0.0:
                waiting.append(edge)
            edge.grad += node.grad * slope
""",
        "no-end": _with(_SQUARE, "        waiting.remove(node)\n", ""),
        "paths/cleared-at-the-turn": """
def backward(root):
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        grad = node.grad
        if node.edges:
            node.grad = 0.0
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += grad * slope
            waiting.append(edge)
""",
        "overwrites/edges-in-a-dict": _with(
            _SQUARE, "in zip(node.edges, node.slopes)", "in dict(zip(node.edges, node.slopes)).items()"
        ),
        "other-start": _with(_SQUARE, "root.grad = 1.0", "root.grad = 2.0"),
        "other-gradient/one-turn": _with(
            _SQUARE, "                waiting.append(edge)", "                waiting.append(edge)\n        break"
        ),
        "given-engine": """
def backward(root):
    found, seen = [root], {root}
    for node in found:
        new = [edge for edge in dict.fromkeys(node.edges) if edge not in seen]
        found += new
        seen |= set(new)
    made = {}
    for node in sorted(found, key=attrgetter("number")):
        if node.edges:
            a, b = (made[edge] for edge in node.edges)
            made[node] = a + b if node.name == "add" else a * b
        else:
            made[node] = mg.tensor(node.value, dtype=mg.float64, requires_grad=True)
    made[root].backward()
    for node, tensor in made.items():
        if not node.edges and tensor.grad is not None:
            node.grad = tensor.grad.item()
""",
        "nothing": """
def backward(root):
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            if edge not in waiting:
                waiting.append(edge)
""",
        "other-gradient": """
def backward(root):
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += slope
            if edge not in waiting:
                waiting.append(edge)
""",
        "raised": """
def backward(root):
    root.grad = 1.0
    for edge, slope in zip(root.edges, root.slope):
        edge.grad += slope
""",
    },
    "twice": {
        "leaves-cleared": """
def backward_twice(root):
    seen, waiting = {root}, [root]
    for node in waiting:
        node.grad = 0.0
        for edge in node.edges:
            if edge not in seen:
                seen.add(edge)
                waiting.append(edge)
    root.grad = 1.0
    for node in sorted(seen, key=attrgetter("number"), reverse=True):
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
""",
        "leaves-cleared/set": """
def backward_twice(root):
    gathered = {root: 1.0}
    while gathered:
        node = max(gathered, key=attrgetter("number"))
        node.grad = gathered.pop(node)
        for edge, slope in zip(node.edges, node.slopes):
            gathered[edge] = gathered.get(edge, 0.0) + node.grad * slope
""",
        "kept-inside": """
def backward_twice(root):
    root.grad = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            waiting.add(edge)
    root.grad = 0.0
""",
        "kept-inside/added": """
def backward_twice(root):
    root.grad += 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            waiting.add(edge)
""",
        "nothing/all-cleared": _TWICE + "        node.grad = 0.0\n",
        "overwrites": _with(_TWICE, "edge.grad += ", "edge.grad = "),
        "leaves-cleared/second-walk-refused": _with(
            _TWICE, "    root.grad = 1.0\n", "    if root.grad:\n        return\n    root.grad = 1.0\n"
        ),
        "kept-inside/inputs-of-the-root-cleared": _with(
            _TWICE,
            "    root.grad = 1.0\n",
            "    root.grad = 1.0\n    for edge in root.edges:\n        edge.grad *= not edge.edges\n",
        ),
        "kept-inside/one-dict-for-all-walks": """
def backward_twice(root, gathered={}):
    gathered[root] = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        if not node.edges:
            node.grad += gathered[node]
        for edge, slope in zip(node.edges, node.slopes):
            gathered[edge] = gathered.get(edge, 0.0) + gathered[node] * slope
            waiting.add(edge)
""",
        "zero-is-not-new": """
def backward_twice(root):
    gathered, waiting = {root: 1.0}, [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        grad = gathered[node]
        if not node.edges:
            node.grad += grad
            continue
        for edge, slope in zip(node.edges, node.slopes):
            if not gathered.get(edge):
                waiting.append(edge)
            gathered[edge] = gathered.get(edge, 0.0) + grad * slope
""",
        "nothing": """
def backward_twice(root):
    gathered = {root: 1.0}
    while gathered:
        node = max(gathered, key=attrgetter("number"))
        grad = gathered.pop(node)
        for edge, slope in zip(node.edges, node.slopes):
            gathered[edge] = gathered.get(edge, 0.0) + grad * slope
""",
        "overwrites/in-the-dict": """
def backward_twice(root):
    gathered = {root: 1.0}
    while gathered:
        node = max(gathered, key=attrgetter("number"))
        grad = gathered.pop(node)
        if not node.edges:
            node.grad += grad
        for edge, slope in zip(node.edges, node.slopes):
            gathered[edge] = grad * slope
""",
        "paths": """
def backward_twice(root, grad=1.0):
    if not root.edges:
        root.grad += grad
    for edge, slope in zip(root.edges, root.slopes):
        backward_twice(edge, grad * slope)
""",
    },
    "turns": {
        "recursion": _RECURSIVE_TURNS,
        "paths": """
def turns(root):
    order = []
    def visit(node):
        for edge in node.edges:
            visit(edge)
        if node not in order:
            order.append(node)
    visit(root)
    return order[::-1]
""",
        "twice": """
def turns(root):
    order = [root]
    for node in order:
        order += node.edges
        if len(order) > 1000:
            break
    return order
""",
        "too-early": """
def turns(root):
    found = [root]
    for node in found:
        for edge in node.edges:
            if edge not in found:
                found.append(edge)
    return found
""",
        "inputs-first": """
def turns(root):
    found, seen = [root], {root}
    for node in found:
        for edge in node.edges:
            if edge not in seen:
                seen.add(edge)
                found.append(edge)
    return sorted(found, key=attrgetter("number"))
""",
        "too-early/depth-first": """
def turns(root):
    order, seen, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            stack += node.edges
    return order
""",
        "too-early/oldest-first": """
def turns(root):
    waiting, order, seen = [(root.number, root)], [], {root}
    while waiting:
        node = heappop(waiting)[1]
        order.append(node)
        for edge in node.edges:
            if edge not in seen:
                seen.add(edge)
                heappush(waiting, (edge.number, edge))
    return order
""",
        "no-end": """
def turns(root):
    waiting, order = [root], []
    while waiting:
        node = waiting[0]
        if node not in order:
            order.append(node)
        waiting += [edge for edge in node.edges if edge not in order]
    return order
""",
        "missing/root": """
def turns(root):
    found = list(dict.fromkeys(root.edges))
    for node in found:
        found += [edge for edge in dict.fromkeys(node.edges) if edge not in found]
    return sorted(found, key=attrgetter("number"), reverse=True)
""",
        "type/generator": """
def turns(root):
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        waiting.update(node.edges)
        yield node
""",
        "missing": """
def turns(root):
    found, seen = [root], {root}
    for node in found:
        for edge in node.edges:
            if edge not in seen and edge.edges:
                seen.add(edge)
                found.append(edge)
    return sorted(found, key=attrgetter("number"), reverse=True)
""",
        "type": """
def turns(root):
    found = {root}
    for edge in root.edges:
        found.add(edge)
    return found
""",
        "type/numbers": """
def turns(root):
    return [node.number for node in root.edges]
""",
    },
    "arrive": {
        "overwrites": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    gathered[edge] = part
""",
        "first-only": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    gathered.setdefault(edge, part)
""",
        "unbroadcast": """
def arrive(gathered, edge, part):
    gathered[edge] = gathered.get(edge, 0.0) + part
""",
        "other-shape": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.sum(i)
    gathered[edge] = gathered.get(edge, 0.0) + part
""",
        "unbroadcast/leading-only": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    gathered[edge] = gathered.get(edge, 0.0) + part
""",
        "mean": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.mean(0)
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.mean(i, keepdims=True)
    gathered[edge] = gathered.get(edge, 0.0) + part
""",
        "in-place": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    part = np.asarray(part)
    if edge in gathered:
        gathered[edge] += part
    else:
        gathered[edge] = part
""",
        "in-place/the-part": _with(
            _ARRIVE,
            "    gathered[edge] = gathered.get(edge, 0.0) + part\n",
            "    part = np.asarray(part)\n    part += gathered.get(edge, 0.0)\n    gathered[edge] = part\n",
        ),
        "other-shape/last-dimension": _with(_ARRIVE, "part.sum(0)", "part.sum(-1)"),
        "other-gradient/all-in-one": """
def arrive(gathered, edge, part):
    if part.shape != edge.shape:
        part = np.full(edge.shape, part.sum())
    gathered[edge] = gathered.get(edge, 0.0) + part
""",
        "other-gradient/added-before": """
def arrive(gathered, edge, part):
    part = gathered.get(edge, 0.0) + part
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    gathered[edge] = part
""",
        "nothing-stored/another-key": _with(
            _with(_ARRIVE, "gathered[edge]", "gathered[edge.name]"), ".get(edge,", ".get(edge.name,"
        ),
        "nothing-stored/another-dict": _with(
            _ARRIVE, "    gathered[edge] = gathered", "    return {edge: part}\n    gathered[edge] = gathered"
        ),
        "type/number": _with(_ARRIVE, " + part\n", " + (part if edge.shape else float(part))\n"),
        "raised": _with(
            _ARRIVE,
            "    gathered[edge] = ",
            "    if gathered.get(edge):\n        part = gathered[edge] + part\n    gathered[edge] = ",
        ),
        "nothing-stored": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    return part
""",
        "type": """
def arrive(gathered, edge, part):
    gathered[edge] = list(part)
""",
        "other-gradient": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part.sum(0)
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    gathered[edge] = gathered.get(edge, 1.0) + part
""",
        "other-gradient/cut": """
def arrive(gathered, edge, part):
    while part.ndim > len(edge.shape):
        part = part[0]
    for i, length in enumerate(edge.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    gathered[edge] = gathered.get(edge, 0.0) + part
""",
    },
    "record": {
        "constant-recorded": _with(_RECORD, "    if not any(edges):\n        return None\n", ""),
        "edge-lost": _with(_RECORD, "for tensor in inputs]", "for tensor in dict.fromkeys(inputs)]"),
        "edge-lost/constants": _with(_RECORD, "for tensor in inputs]", "for tensor in inputs if tensor.node]"),
        "tensor-as-edge": _with(_RECORD, "shape, edges, list", "shape, [t if t.node else None for t in inputs], list"),
        "edge-for-constant": _with(
            _RECORD, "shape, edges, list", "shape, [e or small.Node('leaf', shape) for e in edges], list"
        ),
        "other-edge": _with(_RECORD, "shape, edges, list", "shape, [small.Node('leaf', shape), None], list"),
        "not-saved": _with(_RECORD, ", saved)", ")"),
        "saves-all": _with(_RECORD, "small.asked(rule) if edge else []", "small.asked(rule)"),
        "not-a-pair": _with(_RECORD, "(named[name], named[name].version)", "named[name]"),
        "not-a-pair/copy": _with(
            _RECORD, "(named[name], named[name].version)", "(small.Tensor(named[name].data), named[name].version)"
        ),
        "other-version": _with(_RECORD, "named[name].version)", "0)"),
        "one-is-enough": _with(_RECORD, "if not any(edges)", "if not all(edges)"),
        "arguments-of-node/shape-of-an-input": _with(_RECORD, "op.name, shape,", "op.name, inputs[0].data.shape,"),
        "arguments-of-node/dict-of-rules": _with(_RECORD, "list(op.rules.values())", "op.rules"),
        "arguments-of-node/some-rules": _with(
            _RECORD, "list(op.rules.values())", "[r for e, r in zip(edges, op.rules.values()) if e]"
        ),
        "not-saved/its-own": _with(
            _RECORD,
            "for name in small.asked(rule) if edge else []",
            "for name in [n for n in op.rules if named[n].node]",
        ),
        "not-a-pair/array": _with(_RECORD, "(named[name], named", "(named[name].data, named"),
        "type/number-as-edge": _with(
            _RECORD, "shape, edges, list", "shape, [e.number if e else None for e in edges], list"
        ),
        "type/no-return": _with(_RECORD, "    return small.Node", "    small.Node"),
        "arguments-of-node": _with(_RECORD, "small.Node(op.name,", "small.Node('node',"),
        "type": """
def record(op, inputs, shape):
    edges = [tensor.node for tensor in inputs]
    if any(edges):
        return edges
""",
    },
    "turn": {
        "no-release": _with(_TURN, "node.saved and not retain_graph", "False"),
        "frees-anyway": _with(_TURN, "node.saved and not retain_graph", "node.saved"),
        "frees-all": _with(_TURN, "node.saved and not retain_graph", "not retain_graph"),
        "no-version": _with(_TURN, "if tensor.version != version:", "if False:"),
        "too-strict": _with(_TURN, "if tensor.version != version:", "if tensor.version != 0:"),
        "no-second-time": _with(
            _TURN,
            'if node.saved is None:\n        raise RuntimeError("a second time")',
            "node.saved = node.saved or {}",
        ),
        "no-second-time/another-error": _with(
            _TURN, 'if node.saved is None:\n        raise RuntimeError("a second time")', "pass"
        ),
        "no-release/empty": _with(_TURN, "        node.saved = None", "        node.saved = {}"),
        "unneeded": _with(
            _with(
                _TURN, "for name in small.asked(rule) if edge]", "for name in small.asked(rule) if name in node.saved]"
            ),
            "rule(grad, *needed) if edge else None",
            "rule(grad, *needed) if needed or not small.asked(rule) else grad",
        ),
        "other-gradient": _with(_TURN, "rule(grad, *needed) if edge", "rule(grad * 2.0, *needed) if edge"),
        "type": _with(_TURN, "    return grads", "    return grads[0]"),
        "raised": _with(_TURN, "rule(grad, *needed) if edge", "rule(*needed) if edge"),
        "raised/freed-too-early": _with(_TURN, "    grads = []\n", "    grads, node.saved = [], None\n"),
        "not-the-tensor": _with(_TURN, "node.saved[name][0] for", "node.saved[name][0].data for"),
        "not-the-tensor/copy": _with(_TURN, "node.saved[name][0] for", "small.Tensor(node.saved[name][0].data) for"),
        "not-the-tensor/grad": _with(
            _TURN, "rule(grad, *needed) if edge", "rule(small.Tensor(grad.data), *needed) if edge"
        ),
        "rule-again": _with(
            _TURN,
            "    if node.saved and not",
            "    for edge, rule in zip(node.edges, node.rules):\n"
            "        rule(grad, *[node.saved[n][0] for n in small.asked(rule) if edge]) if edge else 0\n"
            "    if node.saved and not",
        ),
        "edges-lost": _with(_TURN, "    return grads", "        node.edges = ()\n    return grads"),
        "no-version/one-change-is-fine": _with(_TURN, "tensor.version != version", "tensor.version > version + 1"),
        "no-second-time/assert": _with(
            _TURN,
            'if node.saved is None:\n        raise RuntimeError("a second time")',
            'assert node.saved is not None, "freed"',
        ),
        "no-second-time/value-error": _with(_TURN, 'RuntimeError("a second', 'ValueError("a second'),
        "type/only-the-edges": _with(_TURN, "return grads", "return [grad for grad in grads if grad]"),
    },
    "rule": {
        "dead-end": """
def sigmoid_rule(grad, a):
    s = 1 / (1 + np.exp(-a.data))
    return grad * (s * (1 - s))
""",
        "dead-end/half": """
def sigmoid_rule(grad, a):
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s * (1 - s.data)
""",
        "dead-end/minigrad": """
def sigmoid_rule(grad, a):
    s = mg.sigmoid(mg.tensor(a.data)).numpy()
    return grad * (s * (1 - s))
""",
        "dead-end/fresh-tensor": """
def sigmoid_rule(grad, a):
    s = small.Tensor(1 / (1 + np.exp(-a.data)))
    return grad * s - grad * s * s
""",
        "grad-without-history": """
def sigmoid_rule(grad, a):
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return s * grad.data - s * s * grad.data
""",
        "other-gradient/sign": """
def sigmoid_rule(grad, a):
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s * (s - 1.0)
""",
        "raised/number-first": """
def sigmoid_rule(grad, a):
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s * (1.0 - s)
""",
        "grad-forgotten": """
def sigmoid_rule(grad, a):
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return s - s * s
""",
        "value-not-slope": """
def sigmoid_rule(grad, a):
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s
""",
        "other-gradient": """
def sigmoid_rule(grad, a):
    s = (a.exp() + 1.0) ** -1.0
    return grad * s * s
""",
        "raised": """
def sigmoid_rule(grad, a):
    s = 1 / (1 + np.exp(a * -1.0))
    return grad * s * (1 - s)
""",
        "type": """
def sigmoid_rule(grad, a):
    s = 1 / (1 + np.exp(-a.data))
    return grad.data * s * (1 - s)
""",
        "other-shape": """
def sigmoid_rule(grad, a):
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return (grad * s - grad * s * s).sum()
""",
    },
    "engine": {
        "overwrites": _broken("engine", ("gathered[edge] + part if edge in gathered else part", "part")),
        "too-early": _broken("engine", ('sorted(found, key=attrgetter("number"), reverse=True)', "found")),
        "second-turn": _walking(
            """
def walk(node, grad, retain_graph):
    if node.leaf:
        node.leaf.grad = grad + (node.leaf.grad or 0.0)
    for edge, part in zip(node.edges, turn(node, grad, retain_graph)):
        if edge:
            walk(edge, part if part.data.shape == edge.shape else part.sum(edge.shape), retain_graph)
"""
        ),
        "second-turn/oldest-first": _walking(
            """
def walk(root, gradient, retain_graph):
    gathered, waiting = {root: gradient}, [root]
    while waiting:
        node = min(waiting, key=attrgetter("number"))
        waiting.remove(node)
        grad = gathered.pop(node)
        if node.leaf:
            node.leaf.grad = grad + (node.leaf.grad or 0.0)
        for edge, part in zip(node.edges, turn(node, grad, retain_graph)):
            if edge:
                arrive(gathered, edge, part)
                if edge not in waiting:
                    waiting.append(edge)
"""
        ),
        "paths": _walking(
            """
def walk(node, grad, retain_graph):
    if node.leaf:
        node.leaf.grad = grad + (node.leaf.grad or 0.0)
    for edge, part in zip(node.edges, turn(node, grad, True)):
        if edge:
            walk(edge, part if part.data.shape == edge.shape else part.sum(edge.shape), retain_graph)
"""
        ),
        "recursion": _walking(
            _RECURSIVE_TURNS.replace("in node.edges:", "in filter(None, node.edges):")
            + _ANSWERS["engine"][_ANSWERS["engine"].rindex("def walk(") : _ANSWERS["engine"].rindex("a = Tensor(")]
        ),
        "unbroadcast": _broken("engine", ("if part.data.shape != edge.shape:", "if False:")),
        "no-release": _broken("engine", ("if node.saved and not retain_graph:", "if False:")),
        "no-release/unnoticed": _broken("engine", ('        raise RuntimeError("a second time")', "        return []")),
        "no-release/always-retained": _broken("engine", ("retain_graph or create_graph)", "True)")),
        "frees-all": _broken("engine", ("if node.saved and not retain_graph:", "if node.edges and not retain_graph:")),
        "frees-all/leaves": _broken("engine", ("if node.saved and not retain_graph:", "if not retain_graph:")),
        "frees-anyway": _broken("engine", ("if node.saved and not retain_graph:", "if node.saved:")),
        "kept-inside": _broken(
            "engine",
            (
                "gathered[edge] + part if edge in gathered else part",
                "edge.kept + part if edge.kept else part\n    edge.kept = gathered[edge]",
            ),
            ("self.number = Node.made", "self.number, self.kept = Node.made, None"),
            (
                "node.leaf.grad = grad + (node.leaf.grad or 0.0)",
                "node.leaf.grad, node.kept = grad + (node.leaf.grad or 0.0), None",
            ),
        ),
        "no-version": _broken("engine", ("if tensor.version != version:", "if False:")),
        "no-version/uncounted": _broken("engine", ("self.version += 1", "pass")),
        "too-strict": _broken("engine", ("if tensor.version != version:", "if tensor.version:")),
        "create-graph": _broken(
            "engine",
            ("before, Node.recording = Node.recording, create_graph", "before, Node.recording = Node.recording, False"),
        ),
        "dead-end": _broken("engine", ("grad - grad * a.tanh() * a.tanh()", "grad * (1 - np.tanh(a.data) ** 2)")),
        "second-derivative": _broken("engine", ("grad * a.tanh() * a.tanh()", "grad * a.tanh() * np.tanh(a.data)")),
        "constant-recorded": _broken("engine", ("    if not any(edges):\n        return None\n", "")),
        "other-graph": _broken("engine", ('sub = op("sub"', 'sub = op("minus"')),
        "value": _broken("engine", ('op("tanh", np.tanh', 'op("tanh", np.sinh')),
        "other-gradient": _broken("engine", ("a=lambda grad, b: grad @ b.t()", "a=lambda grad, b: grad @ b")),
        "sub": _broken("engine", ("self.data -= amount", "self.data += amount")),
        "raised": _broken("engine", ("Tensor.exp, Tensor.log, Tensor.tanh = exp, log, tanh", "pass")),
        "no-gradient": _broken("engine", ("node.leaf.grad = grad +", "node.grad = grad +")),
        "leaf-overwritten": _broken("engine", ("grad + (node.leaf.grad or 0.0)", "grad + 0.0")),
        "create-fails": _broken("engine", ("retain_graph or create_graph", "retain_graph")),
        "not-recorded": _broken("engine", ("return Node(op.name, shape", "Node(op.name, shape")),
        "second-derivative/arrays-arrive": _broken(
            "engine", ("part = part.sum(edge.shape)", "part = Tensor(part.sum(edge.shape).data)")
        ),
        "raised/array-part": _broken(
            "engine", ("    if part.data.shape != edge.shape:", "    while part.ndim > len(edge.shape):")
        ),
        "raised/none-as-edge": _broken("engine", ("if edge and edge not in seen", "if edge not in seen")),
        "switch-left": _broken(
            "engine",
            ("        try:\n            walk(", "        walk("),
            (
                "                 retain_graph or create_graph)\n        finally:\n            Node",
                "                 retain_graph or create_graph)\n        Node",
            ),
        ),
        "always-recorded": _broken("engine", ("Node.recording, create_graph", "Node.recording, True")),
        "grad-shared": _broken(
            "engine",
            (
                "    gathered[edge] = gathered[edge] + part if edge in gathered else part",
                "    if edge in gathered:\n        gathered[edge].data += part.data\n"
                "    else:\n        gathered[edge] = part",
            ),
        ),
        "grad-shared/leaf": _broken(
            "engine",
            (
                "node.leaf.grad = grad + (node.leaf.grad or 0.0)",
                "node.leaf.grad = grad if node.leaf.grad is None else node.leaf.grad + grad",
            ),
        ),
        "grad-shared/leaf-in-place": _broken(
            "engine",
            (
                "node.leaf.grad = grad + (node.leaf.grad or 0.0)",
                "node.leaf.grad = node.leaf.grad or grad\n"
                "            node.leaf.grad.data += grad.data * (node.leaf.grad is not grad)",
            ),
        ),
        "grad-elsewhere": _broken(
            "engine",
            (
                "self.rules, self.saved, self.leaf = rules, dict(saved), None",
                "self.rules, self.saved, self.leaf, self.sum = rules, dict(saved), None, 0.0",
            ),
            (
                "node.leaf.grad = grad + (node.leaf.grad or 0.0)",
                "node.sum = grad + node.sum\n            node.leaf.grad = node.sum + 0.0",
            ),
        ),
        "edge-lost": _broken(
            "engine",
            (
                "return Node(op.name, shape, edges, list(op.rules.values()), saved)",
                "kept = [one for one in zip(edges, op.rules.values()) if one[0]]\n"
                "    return Node(op.name, shape, [e for e, _ in kept], [r for _, r in kept], saved)",
            ),
        ),
        "other-start": _broken("engine", ("Tensor(np.ones(self.data.shape))", "Tensor(2 * np.ones(self.data.shape))")),
        "other-shape": _broken("engine", (".sum(axes, keepdims=True).reshape(shape)", ".sum(axes)")),
        "other-gradient/log": _broken("engine", ("grad * a ** -1.0)", "grad * a)")),
        "other-gradient/pow": _broken("engine", ("grad * n * a **", "grad * a **")),
        "other-gradient/sub": _broken("engine", ("b=lambda grad: grad * -1.0", "b=lambda grad: grad")),
        "second-derivative/log": _broken("engine", ("grad * a ** -1.0)", "grad * (1 / a.data))")),
        "second-derivative/mm": _broken("engine", ("grad @ b.t()", "grad @ b.data.T")),
        "no-version/copy": _broken("engine", ("(named[name], named[name].version)", "(Tensor(named[name].data), 0)")),
        "no-graph": _broken("engine", ("self.name, self.shape", "self.op, self.shape")),
        "raised/no-methods": """
class Tensor:
    def __init__(self, data, requires_grad=False):
        self.data, self.node = np.array(data, float), None
""",
        "raised/no-requires-grad": """
class Tensor:
    def __init__(self, data):
        self.data = np.array(data, float)
""",
        "raised/freed-too-early": _broken("engine", ("    grads = []\n", "    grads, node.saved = [], None\n")),
        "given-engine/what-it-makes": """
class Tensor:
    def __new__(cls, *inputs, **options):
        return small.Tensor(*inputs, **options)
""",
        "given-engine/parts": _broken(
            "engine", ("turn(node, grad, retain_graph)):", "small.turn(node, grad, retain_graph)):")
        ),
        "given-engine/minigrad-inside": _MINIGRAD_INSIDE,
        "given-engine": "Tensor = small.Tensor",
        "given-engine/minigrad": "class Tensor(mg.Tensor):\n    pass",
        "type/array-in-grad": _broken("engine", ("grad + (node.leaf.grad or 0.0)", "grad.data")),
        "type": "Tensor = 5",
        "type/minigrad": "Tensor = mg.tensor",
    },
}

RIGHT = {
    "sources": [
        _saved({"A": 2.0, "D": 1.0}),
        "saved = dict(A=2, B=0, C=1, D=1, E=2) | {'D twice': False, 'B twice': True}",
    ],
    "walks": [
        "gradients = {'minigrad': 66.0, 'E': 117.0, 'D': 33.0, 'C': 15.0, 'B visits': 5, 'B': 33.0, 'A': 9.0}",
        "gradients = dict(A=3*3, B=6+27, C=6+9, D=33, E=33+18+66, minigrad=2*33) | {'B visits': 2 + 2 + 1}",
    ],
    "square": [
        """
from heapq import heappop, heappush
def backward(y):
    y.grad, heap, met = 1.0, [(-y.number, y)], {y}
    while heap:
        _, n = heappop(heap)
        for e, s in zip(n.edges, n.slopes):
            e.grad = e.grad + s * n.grad
            if e not in met:
                met.add(e)
                heappush(heap, (-e.number, e))
""",
        """
def backward(root):
    found = [root]
    seen = {root}
    for node in found:
        new = [edge for edge in dict.fromkeys(node.edges) if edge not in seen]
        found += new
        seen |= set(new)
    grads = dict.fromkeys(found, 0.0)
    grads[root] = 1.0
    for node in sorted(found, key=lambda node: -node.number):
        node.grad = grads[node]
        for edge, slope in zip(node.edges, node.slopes):
            grads[edge] += node.grad * slope
""",
    ],
    "twice": [
        """
def backward_twice(root):
    root.grad = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
            waiting.add(edge)
        if node.edges:
            node.grad = 0.0
""",
        """
def backward_twice(root):
    found = {root}
    todo = [root]
    while todo:
        for edge in todo.pop().edges:
            if edge not in found:
                found.add(edge)
                todo.append(edge)
    for node in found:
        if node.edges:
            node.grad = 0.0
    root.grad = 1.0
    for node in sorted(found, key=attrgetter("number"), reverse=True):
        for edge, slope in zip(node.edges, node.slopes):
            edge.grad += node.grad * slope
""",
    ],
    "turns": [
        """
def turns(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(edge, False) for edge in node.edges]
    return order[::-1]
""",
        """
def turns(root):
    waiting, order = {root}, []
    while waiting:
        newest = max(waiting, key=lambda node: node.number)
        waiting.discard(newest)
        waiting.update(newest.edges)
        order.append(newest)
    return tuple(order)
""",
    ],
    "arrive": [
        """
def arrive(so_far, edge, part):
    extra = part.ndim - len(edge.shape)
    axes = tuple(range(extra)) + tuple(
        extra + i for i, n in enumerate(edge.shape) if n == 1)
    fitted = part.sum(axis=axes, keepdims=True).reshape(edge.shape)
    so_far[edge] = so_far.get(edge, 0.0) + fitted
""",
        """
def arrive(gathered, edge, part):
    if part.shape != edge.shape:
        lengths = (1,) * (part.ndim - len(edge.shape)) + tuple(edge.shape)
        for axis, length in enumerate(lengths):
            if length == 1:
                part = np.add.reduce(part, axis, keepdims=True)
        part = part.reshape(edge.shape)
    if edge not in gathered:
        gathered[edge] = np.zeros(edge.shape)
    gathered[edge] = np.add(gathered[edge], part)
""",
    ],
    "record": [
        """
def record(op, tensors, shape):
    if all(t.node is None for t in tensors):
        return None
    places = {name: i for i, name in enumerate(op.rules)}
    saved = {}
    for i, rule in enumerate(op.rules.values()):
        if tensors[i].node is not None:
            for name in small.asked(rule):
                t = tensors[places[name]]
                saved[name] = t, t.version
    node = small.Node(op.name, shape, tuple(t.node for t in tensors), tuple(op.rules.values()))
    node.saved = saved
    return node
""",
        """
def record(op, inputs, shape):
    edges, wanted = [], set()
    for tensor, rule in zip(inputs, op.rules.values()):
        edges.append(tensor.node)
        if tensor.node:
            wanted.update(small.asked(rule))
    if edges.count(None) == len(edges):
        return
    return small.Node(op.name, shape, edges, [*op.rules.values()],
                      {n: (t, t.version) for n, t in zip(op.rules, inputs) if n in wanted})
""",
    ],
    "turn": [
        """
def turn(node, grad, retain_graph):
    saved = node.saved
    if saved is None:
        raise RuntimeError
    if any(kept[0].version != kept[1] for kept in saved.values()):
        raise RuntimeError("changed")
    if saved and not retain_graph:
        node.saved = None
    return tuple(
        None if edge is None else rule(grad, **{n: saved[n][0] for n in small.asked(rule)})
        for edge, rule in zip(node.edges, node.rules))
""",
        """
def turn(node, g, retain_graph):
    class Stale(RuntimeError):
        pass
    try:
        values = {name: tensor for name, (tensor, version) in node.saved.items() if tensor.version == version}
        if len(values) != len(node.saved):
            raise RuntimeError("overwritten")
    except AttributeError:
        raise RuntimeError("freed") from None
    parts = []
    for i in range(len(node.edges)):
        if node.edges[i]:
            parts.append(node.rules[i](g, *map(values.get, small.asked(node.rules[i]))))
        else:
            parts.append(None)
    if len(node.saved) > 0 and retain_graph is not True:
        node.saved = None
    return parts
""",
    ],
    "rule": [
        """
def sigmoid_rule(grad, a):
    e = a.exp()
    return grad * e * (e + 1.0) ** -2.0
""",
        """
sigmoid_rule = lambda g, t: g * ((t * 0.5).tanh() ** 2.0 * -0.25 + 0.25)
""",
    ],
    "engine": [
        _broken(
            "engine",
            ("grad - grad * a.tanh() * a.tanh()", "grad * (a.tanh() ** 2.0 * -1.0 + 1.0)"),
            (
                "node.leaf.grad = grad + (node.leaf.grad or 0.0)",
                "old = node.leaf.grad\n            node.leaf.grad = grad * 1.0 if old is None else old + grad",
            ),
        ),
        _walking(
            """
def walk(root, gradient, retain_graph):
    gathered, waiting = {root: gradient}, [(-root.number, 0, root)]
    while waiting:
        *_, node = heappop(waiting)
        grad = gathered.pop(node)
        if node.leaf:
            node.leaf.grad = grad + (node.leaf.grad or 0.0)
        for edge, part in zip(node.edges, turn(node, grad, retain_graph)):
            if edge and edge not in gathered:
                heappush(waiting, (-edge.number, 0, edge))
            if edge:
                arrive(gathered, edge, part)
"""
        ),
        _broken(
            "engine",
            ("dtype=float)", "dtype=np.float32)"),
            ("self.data -= amount", "self.data = self.data - amount"),
            ("Node.made += 1", "Node.made = Node.made + 1"),
            ("    __array_priority__ = 1\n", ""),
        ),
        _walking(
            """
def walk(root, gradient, retain_graph):
    users, found = {root: 0}, [root]
    for node in found:
        for edge in filter(None, node.edges):
            if edge not in users:
                found.append(edge)
            users[edge] = users.get(edge, 0) + 1
    gathered, ready = {root: gradient}, [root]
    while ready:
        node = ready.pop()
        grad = gathered.pop(node)
        if node.leaf:
            node.leaf.grad = grad + (node.leaf.grad or 0.0)
        for edge, part in zip(node.edges, turn(node, grad, retain_graph)):
            if edge is None:
                continue
            arrive(gathered, edge, part)
            users[edge] -= 1
            if not users[edge]:
                ready.append(edge)
"""
        ),
    ],
}
