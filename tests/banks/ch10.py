"""Chapter 10: wrong answers with the diagnosis that each must get, and unusual right ones."""

import re
from pathlib import Path

import nbformat

from banks.patterns import changed, functions

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
            for next_node in node.next_nodes:
                visit(next_node)
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
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            if next_node not in waiting:
                waiting.append(next_node)
"""
_MET = """
def backward(root):
    root.grad, waiting, met = 1.0, [root], {root}
    while waiting:
        node = waiting.pop(0)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            if next_node not in met:
                met.add(next_node)
                waiting.append(next_node)
"""
_TWICE = """
def backward_twice(root):
    root.grad = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            waiting.add(next_node)
"""
_RECORD = """
def record(op, inputs, shape):
    next_nodes = [tensor.node for tensor in inputs]
    if not any(next_nodes):
        return None
    named, saved = dict(zip(op.rules, inputs)), {}
    for next_node, rule in zip(next_nodes, op.rules.values()):
        for name in small.needs(rule) if next_node else []:
            saved[name] = (named[name], named[name].version)
    return small.Node(op.name, shape, next_nodes, list(op.rules.values()), saved)
"""
_ARRIVE = """
def arrive(grads, next_node, part):
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    grads[next_node] = grads.get(next_node, 0.0) + part
"""
_TURN = """
def turn(node, grad, retain_graph):
    if node.saved is None:
        raise RuntimeError("a second time")
    for tensor, version in node.saved.values():
        if tensor.version != version:
            raise RuntimeError("modified by an inplace operation")
    grads = []
    for next_node, rule in zip(node.next_nodes, node.rules):
        needed = [node.saved[name][0] for name in small.needs(rule) if next_node]
        grads.append(rule(grad, *needed) if next_node else None)
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
        "second-fails/and-the-other-does-not": _saved({"B twice": False, "D twice": True}),
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
        "no-order-needed/but-by-the-newest": _gradients(C=33, D=15),
        "one-visit": _gradients({"B visits": 1}),
        "edges-not-ways": _gradients({"B visits": 3}),
        "inside-is-clean": _gradients(E=66),
        "minigrad-keeps": _gradients(minigrad=117),
        "cleared-between": _gradients(minigrad=33),
        "wrong-B": _gradients(B=27),
        "wrong-E": _gradients(E=99),
        "kind": _gradients(A="nine"),
    },
    "square": functions(
        "backward(root)",
        """
overwrites
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad = node.grad * slope
            if next_node not in waiting:
                waiting.append(next_node)
two-turns
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            waiting.append(next_node)
too-early
    root.grad, found = 1.0, [root]
    for node in found:
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            if next_node not in found:
                found.append(next_node)
recursion
    order, seen = [], set()
    def visit(node):
        if node not in seen:
            seen.add(node)
            for next_node in node.next_nodes:
                visit(next_node)
            order.append(node)
    visit(root)
    root.grad = 1.0
    for node in order[::-1]:
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
zero-is-not-new
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            if next_node.grad == 0.0:
                waiting.append(next_node)
            next_node.grad += node.grad * slope
paths/cleared-at-the-turn
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        grad = node.grad
        if node.next_nodes:
            node.grad = 0.0
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += grad * slope
            waiting.append(next_node)
given-engine
    found, seen = [root], {root}
    for node in found:
        new = [next_node for next_node in dict.fromkeys(node.next_nodes) if next_node not in seen]
        found += new
        seen |= set(new)
    made = {}
    for node in sorted(found, key=attrgetter("number")):
        if node.next_nodes:
            a, b = (made[next_node] for next_node in node.next_nodes)
            made[node] = a + b if node.name == "add" else a * b
        else:
            made[node] = mg.tensor(node.value, dtype=mg.float64, requires_grad=True)
    made[root].backward()
    for node, tensor in made.items():
        if not node.next_nodes and tensor.grad is not None:
            node.grad = tensor.grad.item()
nothing
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            if next_node not in waiting:
                waiting.append(next_node)
other-gradient
    root.grad = 1.0
    waiting = [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += slope
            if next_node not in waiting:
                waiting.append(next_node)
raised
    root.grad = 1.0
    for next_node, slope in zip(root.next_nodes, root.slope):
        next_node.grad += slope
""",
    )
    | {
        "paths": """
def backward(root, grad=1.0):
    root.grad += grad
    for next_node, slope in zip(root.next_nodes, root.slopes):
        backward(next_node, grad * slope)
""",
        "other-gradient/a-mean-at-leaves": _with(
            _SQUARE.replace("    waiting = [root]\n", "    waiting, met = [root], []\n"),
            "        for next_node",
            "        node.grad /= 1 if node.next_nodes or node is root else met.count(node)\n"
            "        met += node.next_nodes\n        for next_node",
        ),
        "other-gradient/the-first-inside": _with(
            _SQUARE,
            "            next_node.grad += node.grad * slope\n",
            "            if not (next_node.next_nodes and next_node in waiting):\n"
            "                next_node.grad += node.grad * slope\n",
        ),
        "other-gradient/noise": _with(_SQUARE, "node.grad * slope", "node.grad * slope * (1 + 1e-8)"),
        "other-start/root-twice": _with(_SQUARE, "waiting = [root]", "waiting = [root, root]"),
        "two-turns/as-found": _with(
            _with(_SQUARE, 'max(waiting, key=attrgetter("number"))', "waiting[0]"),
            "            if next_node not in waiting:\n                waiting",
            "            waiting",
        ),
        "nothing/another-attribute": _with(_ANSWERS["twice"], "backward_twice", "backward").replace(
            "node.grad += grad", "node.gradient = grad"
        ),
        "none": _SQUARE + "    for node in root.next_nodes:\n        node.grad = None\n",
        "no-end/recursion": """
def backward(root):
    root.grad = 1.0
    def visit(node):
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
        visit(node.next_nodes[0] if node.next_nodes else node)
    visit(root)
""",
        "at-zero/value": _with(
            _SQUARE,
            "(node)\n        for",
            "(node)\n        if node.next_nodes and not node.value:\n            continue\n        for",
        ),
        "equal-values": _with(
            _SQUARE, "next_node not in waiting", "next_node.value not in [one.value for one in waiting]"
        ),
        "too-early/oldest": _with(_SQUARE, "max(waiting", "min(waiting"),
        "too-early/last-found": _with(_MET, "waiting.pop(0)", "waiting.pop()"),
        "too-early/first-found": _MET,
        "no-end": _with(_SQUARE, "        waiting.remove(node)\n", ""),
        "overwrites/edges-in-a-dict": _with(
            _SQUARE, "in zip(node.next_nodes, node.slopes)", "in dict(zip(node.next_nodes, node.slopes)).items()"
        ),
        "other-start": _with(_SQUARE, "root.grad = 1.0", "root.grad = 2.0"),
        "at-zero": _with(
            _SQUARE,
            "            next_node.grad +=",
            "            if slope == 0:\n                break\n            next_node.grad +=",
        ),
        "late-leaf": _with(
            _SQUARE,
            "(node)\n        for",
            "(node)\n        if not node.next_nodes:\n            break\n        for",
        ),
        "rounded/large": _with(
            _SQUARE,
            "next_node.grad += node.grad * slope",
            "next_node.grad = min(1e8, next_node.grad + node.grad * slope)",
        ),
        "leaf-as-root": _with(_SQUARE, "root.grad = 1.0", "root.grad = 1.0 if root.next_nodes else 0.0"),
        "again": "met = set()\n"
        + _with(_MET, "[root], {root}", "[root]")
        .replace("pop(0)", "pop(waiting.index(max(waiting, key=attrgetter('number'))))")
        .replace(", met =", " ="),
        "given-changed": _with(_SQUARE, "(node)\n        for", "(node)\n        node.value = 0.0\n        for"),
        "none/deleted": _SQUARE + "    if not root.next_nodes:\n        del root.grad\n",
        "mode-left": "import sys\n"
        + _with(_SQUARE, "    root.grad = 1.0\n", "    root.grad = 1.0\n    sys.setrecursionlimit(50_000)\n"),
        "rounded": _with(
            _SQUARE,
            "next_node.grad += node.grad * slope",
            "next_node.grad = round(next_node.grad + node.grad * slope, 6)",
        ),
        "other-gradient/one-turn": _with(
            _SQUARE,
            "                waiting.append(next_node)",
            "                waiting.append(next_node)\n        break",
        ),
    },
    "twice": functions(
        "backward_twice(root)",
        """
cleared-comes-back
    backward_twice.totals = getattr(backward_twice, 'totals', {})
    grads, heap = {root: 1.0}, [(-root.number, root)]
    while heap:
        node = heappop(heap)[1]
        grad = grads.pop(node)
        if not node.next_nodes:
            backward_twice.totals[node] = backward_twice.totals.get(node, 0.0) + grad
            node.grad = backward_twice.totals[node]
        for next_node, slope in zip(node.next_nodes, node.slopes):
            if next_node not in grads:
                heappush(heap, (-next_node.number, next_node))
            grads[next_node] = grads.get(next_node, 0.0) + grad * slope
other-gradient/leaves-of-value-0
    grads = {root: 1.0}
    while grads:
        node = max(grads, key=attrgetter("number"))
        grad = grads.pop(node)
        if not node.next_nodes and node.value:
            node.grad += grad
        for next_node, slope in zip(node.next_nodes, node.slopes):
            grads[next_node] = grads.get(next_node, 0.0) + grad * slope
leaves-cleared
    seen, waiting = {root}, [root]
    for node in waiting:
        node.grad = 0.0
        for next_node in node.next_nodes:
            if next_node not in seen:
                seen.add(next_node)
                waiting.append(next_node)
    root.grad = 1.0
    for node in sorted(seen, key=attrgetter("number"), reverse=True):
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
leaves-cleared/set
    grads = {root: 1.0}
    while grads:
        node = max(grads, key=attrgetter("number"))
        node.grad = grads.pop(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            grads[next_node] = grads.get(next_node, 0.0) + node.grad * slope
kept-inside
    root.grad = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            waiting.add(next_node)
    root.grad = 0.0
kept-inside/added
    root.grad += 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            waiting.add(next_node)
zero-is-not-new
    grads, waiting = {root: 1.0}, [root]
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        grad = grads[node]
        if not node.next_nodes:
            node.grad += grad
            continue
        for next_node, slope in zip(node.next_nodes, node.slopes):
            if not grads.get(next_node):
                waiting.append(next_node)
            grads[next_node] = grads.get(next_node, 0.0) + grad * slope
nothing
    grads = {root: 1.0}
    while grads:
        node = max(grads, key=attrgetter("number"))
        grad = grads.pop(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            grads[next_node] = grads.get(next_node, 0.0) + grad * slope
overwrites/in-the-dict
    grads = {root: 1.0}
    while grads:
        node = max(grads, key=attrgetter("number"))
        grad = grads.pop(node)
        if not node.next_nodes:
            node.grad += grad
        for next_node, slope in zip(node.next_nodes, node.slopes):
            grads[next_node] = grad * slope
kept-inside/root
    root.grad = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            waiting.add(next_node)
        if node.next_nodes and node is not root:
            node.grad = 0.0
""",
    )
    | {
        "too-early": """
def backward_twice(root):
    grads, found = {root: 1.0}, [root]
    for node in found:
        for next_node, slope in zip(node.next_nodes, node.slopes):
            grads[next_node] = grads.get(next_node, 0.0) + grads[node] * slope
            if next_node not in found:
                found.append(next_node)
    for node in found:
        if not node.next_nodes:
            node.grad += grads[node]
""",
        "leaves-cleared/marked": _with(
            _ANSWERS["twice"], "    grads = {root: 1.0}", "    grads = {} if hasattr(root, 'walked') else {root: 1.0}"
        ).replace("    while", "    root.walked = True\n    while"),
        "kept-inside/divided-by-the-walks": """
def backward_twice(root):
    root.walks = getattr(root, "walks", 0) + 1
    root.grad = root.grad + 1.0 if not root.next_nodes else 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        grad = node.grad if node is root or not node.next_nodes else node.grad / root.walks
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += grad * slope
            waiting.add(next_node)
""",
        "nothing/all-cleared": _TWICE + "        node.grad = 0.0\n",
        "leaf-of-two-walks": _with(_ANSWERS["twice"], "node.grad += grad", "node.grad += node.grad + grad"),
        "leaves-cleared/unless-other-numbers": _with(
            _ANSWERS["twice"], "node.grad += grad", "node.grad += grad * (node.grad != grad)"
        ),
        "cleared-comes-back/of-7": _with(
            _ANSWERS["twice"], "node.grad += grad", "node.grad = grad + node.grad * (node.grad != 7.0)"
        ),
        "overwrites": _with(_TWICE, "next_node.grad += ", "next_node.grad = "),
        "leaf-as-root": _TWICE + "        if node.next_nodes:\n            node.grad = 0.0\n",
        "other-start/three-walks": "walks = []\n"
        + _with(_ANSWERS["twice"], "{root: 1.0}", "{root: 1.0 * (walks.count(root) < 3)}").replace(
            "    while", "    walks.append(root)\n    while"
        ),
        "leaves-cleared/second-walk-refused": _with(
            _TWICE, "    root.grad = 1.0\n", "    if root.grad:\n        return\n    root.grad = 1.0\n"
        ),
        "kept-inside/inputs-of-the-root-cleared": _with(
            _TWICE,
            "    root.grad = 1.0\n",
            "    root.grad = 1.0\n    for node in root.next_nodes:\n        node.grad *= not node.next_nodes\n",
        ),
        "kept-inside/one-dict-for-all-walks": """
def backward_twice(root, grads={}):
    grads[root] = 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        if not node.next_nodes:
            node.grad += grads[node]
        for next_node, slope in zip(node.next_nodes, node.slopes):
            grads[next_node] = grads.get(next_node, 0.0) + grads[node] * slope
            waiting.add(next_node)
""",
        "paths": """
def backward_twice(root, grad=1.0):
    if not root.next_nodes:
        root.grad += grad
    for next_node, slope in zip(root.next_nodes, root.slopes):
        backward_twice(next_node, grad * slope)
""",
    },
    "turns": functions(
        "turns(root)",
        """
too-early/one-user-twice
    users, seen, todo = {}, {root}, [root]
    while todo:
        for next_node in set(todo.pop().next_nodes):
            users[next_node] = users.get(next_node, 0) + 1
            if next_node not in seen:
                seen.add(next_node)
                todo.append(next_node)
    order = [root]
    for node in order:
        for next_node in node.next_nodes:
            users[next_node] -= 1
            if users[next_node] == 0:
                order.append(next_node)
    return order
paths
    order = []
    def visit(node):
        for next_node in node.next_nodes:
            visit(next_node)
        if node not in order:
            order.append(node)
    visit(root)
    return order[::-1]
twice
    order = [root]
    for node in order:
        order += node.next_nodes
        if len(order) > 1000:
            break
    return order
too-early
    found = [root]
    for node in found:
        for next_node in node.next_nodes:
            if next_node not in found:
                found.append(next_node)
    return found
inputs-first
    found, seen = [root], {root}
    for node in found:
        for next_node in node.next_nodes:
            if next_node not in seen:
                seen.add(next_node)
                found.append(next_node)
    return sorted(found, key=attrgetter("number"))
too-early/depth-first
    order, seen, stack = [], set(), [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            stack += node.next_nodes
    return order
too-early/oldest-first
    waiting, order, seen = [(root.number, root)], [], {root}
    while waiting:
        node = heappop(waiting)[1]
        order.append(node)
        for next_node in node.next_nodes:
            if next_node not in seen:
                seen.add(next_node)
                heappush(waiting, (next_node.number, next_node))
    return order
no-end
    waiting, order = [root], []
    while waiting:
        node = waiting[0]
        if node not in order:
            order.append(node)
        waiting.extend(next_node for next_node in node.next_nodes if next_node not in order)
    return order
missing/root
    found = list(dict.fromkeys(root.next_nodes))
    for node in found:
        found += [next_node for next_node in dict.fromkeys(node.next_nodes) if next_node not in found]
    return sorted(found, key=attrgetter("number"), reverse=True)
type/generator
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        waiting.update(node.next_nodes)
        yield node
missing
    found, seen = [root], {root}
    for node in found:
        for next_node in node.next_nodes:
            if next_node not in seen and next_node.next_nodes:
                seen.add(next_node)
                found.append(next_node)
    return sorted(found, key=attrgetter("number"), reverse=True)
type
    found = {root}
    for next_node in root.next_nodes:
        found.add(next_node)
    return found
type/numbers
    return [node.number for node in root.next_nodes]
given-changed
    found = [root]
    for node in found:
        for next_node in node.next_nodes:
            if not hasattr(next_node, "seen"):
                next_node.seen = True
                found.append(next_node)
    return sorted(found, key=attrgetter("number"), reverse=True)
missing/leaf-as-root
    found, seen = [root], {root}
    for node in found:
        new = set(node.next_nodes) - seen
        seen |= new
        found += new
    return sorted(found, key=attrgetter("number"), reverse=True) if root.next_nodes else []
""",
    )
    | {
        "recursion": _RECURSIVE_TURNS,
        "missing/copies": _with(
            _ANSWERS["turns"], "return sorted(", "return __import__('copy').deepcopy(sorted("
        ).replace("reverse=True)", "reverse=True))"),
        "again": """
def turns(root, seen=set()):
    found = [root]
    for node in found:
        for next_node in node.next_nodes:
            if next_node not in seen:
                seen.add(next_node)
                found.append(next_node)
    return sorted(found, key=attrgetter("number"), reverse=True)
""",
    },
    "arrive": functions(
        "arrive(grads, next_node, part)",
        """
in-place/after-a-sum
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    part = part.sum(tuple(i for i, length in enumerate(next_node.shape) if length == 1), keepdims=True)
    if next_node in grads:
        grads[next_node] += part
    else:
        grads[next_node] = part
overwrites
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    grads[next_node] = part
first-only
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    grads.setdefault(next_node, part)
unbroadcast
    grads[next_node] = grads.get(next_node, 0.0) + part
other-shape
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.sum(i)
    grads[next_node] = grads.get(next_node, 0.0) + part
unbroadcast/leading-only
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    grads[next_node] = grads.get(next_node, 0.0) + part
mean
    while part.ndim > len(next_node.shape):
        part = part.mean(0)
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.mean(i, keepdims=True)
    grads[next_node] = grads.get(next_node, 0.0) + part
in-place
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    part = np.asarray(part)
    if next_node in grads:
        grads[next_node] += part
    else:
        grads[next_node] = part
other-gradient/all-in-one
    if part.shape != next_node.shape:
        part = np.full(next_node.shape, part.sum())
    grads[next_node] = grads.get(next_node, 0.0) + part
other-gradient/added-before
    part = grads.get(next_node, 0.0) + part
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    grads[next_node] = part
nothing-stored
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    return part
type
    grads[next_node] = list(part)
other-gradient
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    grads[next_node] = grads.get(next_node, 1.0) + part
other-gradient/cut
    while part.ndim > len(next_node.shape):
        part = part[0]
    for i, length in enumerate(next_node.shape):
        if length == 1:
            part = part.sum(i, keepdims=True)
    grads[next_node] = grads.get(next_node, 0.0) + part
other-dtype
    part = part.astype(np.float32)
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, n in enumerate(next_node.shape):
        if n == 1:
            part = part.sum(i, keepdims=True)
    grads[next_node] = grads[next_node] + part if next_node in grads else part
entry-lost
    while part.ndim > len(next_node.shape):
        part = part.sum(0)
    for i, n in enumerate(next_node.shape):
        if n == 1:
            part = part.sum(i, keepdims=True)
    before = grads.pop(next_node, 0.0)
    grads.clear()
    grads[next_node] = before + part
unbroadcast/same-size
    if part.size != np.prod(next_node.shape):
        while part.ndim > len(next_node.shape):
            part = part.sum(0)
        for i, n in enumerate(next_node.shape):
            if n == 1:
                part = part.sum(i, keepdims=True)
    grads[next_node] = grads[next_node] + part if next_node in grads else part
""",
    )
    | {
        "given-changed": _with(_ARRIVE, "    grads[", "    next_node.arrived = True\n    grads["),
        "other-gradient/zeros-first": _with(
            _ARRIVE,
            "grads.get(next_node, 0.0) + part",
            "grads[next_node] + part if next_node in grads else np.zeros(next_node.shape)",
        ),
        "other-dtype/whole-numbers": _with(_ARRIVE, " + part\n", " + part.astype(int)\n").replace("0.0", "0"),
        "no-end": "def arrive(grads, next_node, part):\n    arrive(grads, next_node, part)\n",
        "in-place/shape": _with(
            _ARRIVE,
            "    while",
            "    if part.size == np.prod(next_node.shape):\n        part.shape = next_node.shape\n    while",
        ),
        "rounded": _with(_ARRIVE, "    grads[", "    part = np.round(part, 6)\n    grads["),
        "other-shape/two-new-dimensions": _with(
            _ARRIVE, "while part.ndim > len(next_node.shape):", "for _ in range(part.ndim - len(next_node.shape))[:2]:"
        ),
        "unbroadcast/third-dimension": _with(
            _ARRIVE, "enumerate(next_node.shape):", "list(enumerate(next_node.shape))[:2]:"
        ),
        "in-place/the-part": _with(
            _ARRIVE,
            "    grads[next_node] = grads.get(next_node, 0.0) + part\n",
            "    part = np.asarray(part)\n    part += grads.get(next_node, 0.0)\n    grads[next_node] = part\n",
        ),
        "other-shape/last-dimension": _with(_ARRIVE, "part.sum(0)", "part.sum(-1)"),
        "nothing-stored/another-key": _with(
            _with(_ARRIVE, "grads[next_node]", "grads[next_node.name]"), ".get(next_node,", ".get(next_node.name,"
        ),
        "nothing-stored/another-dict": _with(
            _ARRIVE, "    grads[next_node] = grads", "    return {next_node: part}\n    grads[next_node] = grads"
        ),
        "type/number": _with(_ARRIVE, " + part\n", " + (part if next_node.shape else float(part))\n"),
        "raised": _with(
            _ARRIVE,
            "    grads[next_node] = ",
            "    if grads.get(next_node):\n        part = grads[next_node] + part\n    grads[next_node] = ",
        ),
    },
    "record": {
        "one-is-enough/the-second": _with(_RECORD, "not any(next_nodes)", "next_nodes[0] is None"),
        "one-is-enough/not-twice": _with(
            _RECORD, "not any(next_nodes)", "not any(next_nodes) or inputs[0] is inputs[1]"
        ),
        "constant-recorded/an-empty-list": _with(_RECORD, "return None", "return []"),
        "arguments-of-node/op-for-rules": _with(_RECORD, "list(op.rules.values()), saved", "op, saved"),
        "saves-all/grad": _with(
            _RECORD,
            "    return small.Node",
            "    saved |= {'grad': (inputs[0], inputs[0].version)}\n    return small.Node",
        ),
        "type/shape-for-next-nodes": _with(_RECORD, "shape, next_nodes, list", "next_nodes, shape, list"),
        "type/dict-of-next-nodes": _with(
            _RECORD, "shape, next_nodes, list", "shape, dict(zip(op.rules, next_nodes)), list"
        ),
        "given-changed/equal-grad": _with(
            _RECORD, "    next_nodes", "    inputs[0].grad = small.Tensor([9.0, 9.0])\n    next_nodes"
        ),
        "one-is-enough/the-first": _with(_RECORD, "not any(next_nodes)", "next_nodes[-1] is None"),
        "rules-used-up": """
def record(op, inputs, shape):
    next_nodes = [tensor.node for tensor in inputs]
    if not any(next_nodes):
        return None
    by_name, saved = dict(zip(op.rules, inputs)), {}
    for next_node, rule in zip(next_nodes, op.rules.values()):
        if next_node:
            for name in small.needs(rule):
                saved[name] = by_name[name], by_name[name].version
    return small.Node(op.name, shape, next_nodes, iter(op.rules.values()), saved)
""",
        "same-node": """
known = {}

def record(op, inputs, shape):
    key = (op.name, *map(id, inputs))
    if key in known:
        return known[key]
    next_nodes = [tensor.node for tensor in inputs]
    if not any(next_nodes):
        return None
    by_name, saved = dict(zip(op.rules, inputs)), {}
    for next_node, rule in zip(next_nodes, op.rules.values()):
        if next_node:
            for name in small.needs(rule):
                saved[name] = by_name[name], by_name[name].version
    known[key] = small.Node(op.name, shape, next_nodes, list(op.rules.values()), saved)
    return known[key]
""",
        "not-saved/one-name": _with(_RECORD, "in small.needs(rule) if", "in small.needs(rule)[:1] if"),
        "saves-all/extra": _with(
            _RECORD, "    return small.Node", "    saved['grad'] = (inputs[0], 0)\n    return small.Node"
        ),
        "arguments-of-node/op": _with(_RECORD, "small.Node(op.name,", "small.Node(op,"),
        "constant-recorded": _with(_RECORD, "    if not any(next_nodes):\n        return None\n", ""),
        "not-saved/other-names": _with(
            _RECORD, "in small.needs(rule) if", "in [n for n in 'ab' if n in small.needs(rule)] if"
        ),
        "edge-lost/third": _with(_RECORD, "for tensor in inputs]", "for tensor in inputs[:2]]"),
        "other-leaf": _with(_RECORD, "    return small.Node", "    node = small.Node")
        + "    node.leaf = None if inputs[0].node is None or inputs[0].node.leaf else inputs[0]\n    return node\n",
        "given-changed": _with(
            _RECORD, "    next_nodes", "    for one in inputs:\n        one.grad = None\n    next_nodes"
        ),
        "saves-all/of-an-earlier-call": _with(
            _with(_RECORD, "inputs, shape)", "inputs, shape, saved={})"), "inputs)), {}", "inputs)), saved"
        ),
        "edge-lost": _with(_RECORD, "for tensor in inputs]", "for tensor in dict.fromkeys(inputs)]"),
        "edge-lost/constants": _with(_RECORD, "for tensor in inputs]", "for tensor in inputs if tensor.node]"),
        "tensor-as-edge": _with(
            _RECORD, "shape, next_nodes, list", "shape, [t if t.node else None for t in inputs], list"
        ),
        "edge-for-constant": _with(
            _RECORD, "shape, next_nodes, list", "shape, [e or small.Node('leaf', shape) for e in next_nodes], list"
        ),
        "other-edge": _with(_RECORD, "shape, next_nodes, list", "shape, [small.Node('leaf', shape), None], list"),
        "not-saved": _with(_RECORD, ", saved)", ")"),
        "saves-all": _with(_RECORD, "small.needs(rule) if next_node else []", "small.needs(rule)"),
        "not-a-pair": _with(_RECORD, "(named[name], named[name].version)", "named[name]"),
        "not-a-pair/copy": _with(
            _RECORD, "(named[name], named[name].version)", "(small.Tensor(named[name].data), named[name].version)"
        ),
        "other-version": _with(_RECORD, "named[name].version)", "0)"),
        "one-is-enough": _with(_RECORD, "if not any(next_nodes)", "if not all(next_nodes)"),
        "arguments-of-node/shape-of-an-input": _with(_RECORD, "op.name, shape,", "op.name, inputs[0].data.shape,"),
        "arguments-of-node/dict-of-rules": _with(_RECORD, "list(op.rules.values())", "op.rules"),
        "arguments-of-node/some-rules": _with(
            _RECORD, "list(op.rules.values())", "[r for e, r in zip(next_nodes, op.rules.values()) if e]"
        ),
        "not-saved/its-own": _with(
            _RECORD,
            "for name in small.needs(rule) if next_node else []",
            "for name in [n for n in op.rules if named[n].node]",
        ),
        "not-a-pair/array": _with(_RECORD, "(named[name], named", "(named[name].data, named"),
        "type/number-as-edge": _with(
            _RECORD, "shape, next_nodes, list", "shape, [e.number if e else None for e in next_nodes], list"
        ),
        "type/no-return": _with(_RECORD, "    return small.Node", "    small.Node"),
        "arguments-of-node": _with(_RECORD, "small.Node(op.name,", "small.Node('node',"),
        "type": """
def record(op, inputs, shape):
    next_nodes = [tensor.node for tensor in inputs]
    if any(next_nodes):
        return next_nodes
""",
    },
    "turn": {
        "rules-first/one-by-one": """
def turn(node, grad, retain_graph):
    if node.saved is None:
        raise RuntimeError("a second time")
    parts = []
    for next_node, rule in zip(node.next_nodes, node.rules):
        part = None
        if next_node:
            args = []
            for name in small.needs(rule):
                tensor, version = node.saved[name]
                if tensor.version != version:
                    raise RuntimeError("modified by an inplace operation")
                args.append(tensor)
            part = rule(grad, *args)
        parts.append(part)
    if node.saved and not retain_graph:
        node.saved = None
    return parts
""",
        "rules-first": _with(
            _with(_TURN, "    for tensor, version", "    checked = node.saved\n    for tensor, version"),
            "    for tensor, version in node.saved.values():\n        if tensor.version != version:\n"
            '            raise RuntimeError("modified by an inplace operation")\n',
            "",
        ).replace(
            "    if node.saved and",
            "    if any(tensor.version != version for tensor, version in checked.values()):\n"
            "        raise RuntimeError\n    if node.saved and",
        ),
        "no-version/first-only": _with(_TURN, "in node.saved.values():", "in list(node.saved.values())[:1]:"),
        "frees-first": _with(
            _with(
                _TURN,
                "    for tensor, version in node",
                "    kept, node.saved = node.saved, None\n    for tensor, version in node",
            ),
            "node.saved.values()",
            "kept.values()",
        ).replace("    grads = []\n", "    node.saved, grads = kept, []\n"),
        "no-release": _with(_TURN, "node.saved and not retain_graph", "False"),
        "raised/by-python": _with(
            _TURN,
            "    for tensor, version in node.saved.values():\n",
            "    for name in node.saved:\n"
            "        node.saved[name + '!'] = node.saved[name]\n    for tensor, version in node.saved.values():\n",
        ),
        "too-strict/again": "done = set()\n"
        + _with(_TURN, "node.saved is None:", "node in done or node.saved is None:").replace(
            "    return grads", "    done.update([node] * (not retain_graph))\n    return grads"
        ),
        "unneeded/zero": _with(_TURN, "else None)", "else 0.0)"),
        "not-the-tensor/times-one": _with(_TURN, "rule(grad, *needed)", "rule(grad * 1.0, *needed)"),
        "frees-anyway/deleted": _with(
            _TURN,
            "if node.saved and not retain_graph:\n        node.saved = None",
            "if node.saved:\n        del node.saved",
        ),
        "given-changed/name": _with(
            _TURN, 'raise RuntimeError("a second time")', 'node.name = "freed"\n        return []'
        ),
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
                _TURN,
                "for name in small.needs(rule) if next_node]",
                "for name in small.needs(rule) if name in node.saved]",
            ),
            "rule(grad, *needed) if next_node else None",
            "rule(grad, *needed) if needed or not small.needs(rule) else grad",
        ),
        "other-gradient": _with(_TURN, "rule(grad, *needed) if next_node", "rule(grad * 2.0, *needed) if next_node"),
        "type": _with(_TURN, "    return grads", "    return grads[0]"),
        "raised": _with(_TURN, "rule(grad, *needed) if next_node", "rule(*needed) if next_node"),
        "raised/freed-too-early": _with(_TURN, "    grads = []\n", "    grads, node.saved = [], None\n"),
        "dead-end/node-deleted": _with(
            _TURN, "    return grads", "    for part in filter(None, grads):\n        del part.node\n    return grads"
        ),
        "not-the-tensor": _with(_TURN, "node.saved[name][0] for", "node.saved[name][0].data for"),
        "not-the-tensor/copy": _with(_TURN, "node.saved[name][0] for", "small.Tensor(node.saved[name][0].data) for"),
        "not-the-tensor/grad": _with(
            _TURN, "rule(grad, *needed) if next_node", "rule(small.Tensor(grad.data), *needed) if next_node"
        ),
        "rule-again": _with(
            _TURN,
            "    if node.saved and not",
            "    for next_node, rule in zip(node.next_nodes, node.rules):\n"
            "        rule(grad, *[node.saved[n][0] for n in small.needs(rule) if next_node]) if next_node else 0\n"
            "    if node.saved and not",
        ),
        "given-changed/edges": _with(_TURN, "    return grads", "        node.next_nodes = ()\n    return grads"),
        "no-version/one-change-is-fine": _with(_TURN, "tensor.version != version", "tensor.version > version + 1"),
        "no-version/retained": _with(_TURN, "version != version", "version != version and not retain_graph"),
        "no-version/once": _with(
            _TURN,
            '            raise RuntimeError("modified',
            "            node.saved = {n: (t, t.version) for n, (t, _) in node.saved.items()}\n"
            '            raise RuntimeError("modified',
        ),
        "other-gradient/order-of-the-dict": _with(
            _TURN,
            "[node.saved[name][0] for name in small.needs(rule) if next_node]",
            "[pair[0] for name, pair in node.saved.items() if name in small.needs(rule)]",
        ),
        "type/two-next-nodes": _with(
            _TURN, "zip(node.next_nodes, node.rules)", "list(zip(node.next_nodes, node.rules))[:2]"
        ),
        "raised/no-part-of-zeros": _with(
            _TURN, " if next_node else None)", " if next_node and grad.data.any() else None)"
        ),
        "no-version/leaves-only": _with(
            _TURN, "version != version:", "version != version and not (tensor.node and tensor.node.next_nodes):"
        ),
        "error-swallowed": _with(
            _TURN,
            "        grads.append(rule(grad, *needed) if next_node else None)",
            "        try:\n            grads.append(rule(grad, *needed) if next_node else None)\n"
            "        except Exception:\n            grads.append(None)",
        ),
        "dead-end": _with(
            _TURN,
            "    grads = []\n",
            "    grads, before, small.Node.recording = [], small.Node.recording, False\n",
        ).replace("    return grads", "    small.Node.recording = before\n    return grads"),
        "given-changed/old-grad": _with(_TURN, "    grads = []\n", "    grads, grad.grad = [], None\n"),
        "mode-left": _with(_TURN, "    grads = []\n", "    grads, small.Node.recording = [], False\n"),
        "no-second-time/assert": _with(
            _TURN,
            'if node.saved is None:\n        raise RuntimeError("a second time")',
            'assert node.saved is not None, "freed"',
        ),
        "no-second-time/value-error": _with(_TURN, 'RuntimeError("a second', 'ValueError("a second'),
        "type/only-the-edges": _with(_TURN, "return grads", "return [grad for grad in grads if grad]"),
    },
    "rule": functions(
        "sigmoid_rule(grad, a)",
        """
overflow
    e = (a * -1.0).exp()
    return grad * e * (e + 1.0) ** -2.0
dead-end
    s = 1 / (1 + np.exp(-a.data))
    return grad * (s * (1 - s))
dead-end/recording-off
    before, small.Node.recording = small.Node.recording, False
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    result = grad * s - grad * s * s + np.zeros(a.data.shape)
    small.Node.recording = before
    return result
dead-end/history-taken-away
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    s.node = None
    return grad * s - grad * s * s
always-recorded/new-leaf
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    result = grad * s - grad * s * s
    return result if small.Node.recording else small.Tensor(result.data, requires_grad=True)
overflow/a-half-far-out
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s - grad * s * s + (a.data > 500) * 0.5
dead-end/half
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s * (1 - s.data)
dead-end/minigrad
    s = mg.sigmoid(mg.tensor(a.data)).numpy()
    return grad * (s * (1 - s))
dead-end/fresh-tensor
    s = small.Tensor(1 / (1 + np.exp(-a.data)))
    return grad * s - grad * s * s
grad-without-history
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return s * grad.data - s * s * grad.data
other-gradient/sign
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s * (s - 1.0)
raised/number-first
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s * (1.0 - s)
grad-forgotten
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return s - s * s
value-not-slope
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s
other-gradient
    s = (a.exp() + 1.0) ** -1.0
    return grad * s * s
raised
    s = 1 / (1 + np.exp(a * -1.0))
    return grad * s * (1 - s)
type
    s = 1 / (1 + np.exp(-a.data))
    return grad.data * s * (1 - s)
other-shape
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return (grad * s - grad * s * s).sum()
mode-left
    small.Node.recording = True
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s - grad * s * s
given-changed
    a.data[...] = np.clip(a.data, -500, 500)
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s - grad * s * s
again
    s = sigmoid_rule.__dict__.setdefault(a, ((a * -1.0).exp() + 1.0) ** -1.0)
    return grad * s - grad * s * s
always-recorded
    before, small.Node.recording = small.Node.recording, True
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    result = grad * s - grad * s * s
    small.Node.recording = before
    return result
overflow/of-exp-a
    e = a.exp()
    return grad * e * (e + 1.0) ** -2.0
overflow/sigma-of-exp-a
    e = a.exp()
    s = e * (e + 1.0) ** -1.0
    return grad * s * (s * -1.0 + 1.0)
dead-end/new-leaf
    s = small.Tensor(1.0 / (1.0 + np.exp(-a.data)), requires_grad=True)
    return grad * s * (s * -1.0 + 1.0)
dead-end/grad-of-a-result
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    slope = grad * s - grad * s * s
    return small.Tensor(slope.data) if grad.node and grad.node.next_nodes else slope
overflow/all
    if (a.data < -500).all():
        return grad * 0.0
    e = (a * -1.0).exp()
    return grad * e * (e + 1.0) ** -2.0
rounded
    s, t = ((((a + h) * -1.0).exp() + 1.0) ** -1.0 for h in (5e-4, -5e-4))
    return grad * (s - t) * 1e3
""",
    ),
    "engine": {
        "other-gradient/pow-at-0": _broken("engine", ("a ** (n - 1.0)", "a ** n * a ** -1.0")),
        "shares-memory": _broken("engine", ("np.array(data, dtype=float)", "np.asarray(data, dtype=float)")),
        "leaf-without-node": _broken("engine", ("        if requires_grad:", "        if False:")),
        "raised/no-sub_": _broken(
            "engine", ("    def sub_(self, amount):\n        self.data -= amount\n        self.version += 1\n", "")
        ),
        "raised/no-create-graph": _broken(
            "engine", ("create_graph=False):", "create=False):\n        create_graph = create")
        ),
        "raised/dict-changed": _broken("engine", ("for node in turns(root):", "for node in grads:")),
        "no-end/init": _broken("engine", ("np.array(data, dtype=float), 0", "Tensor(data).data, 0")),
        "other-gradient/mul": _broken("engine", ("b=lambda grad, a: grad * a)", "b=lambda grad, a: grad * a * 0.0)")),
        "other-gradient/half-of-two": _broken(
            "engine", ("= grads[next_node] + part if", "= (grads[next_node] + part) * 0.5 if")
        ),
        "one-part": _broken(
            "engine",
            ("[next_node] + part if next_node in grads else part", "[next_node] if next_node in grads else part"),
        ),
        "one-part/inside": _broken(
            "engine", ("[next_node] + part if", "[next_node] + part * float(next_node.leaf is not None) if")
        ),
        "overwrites/of-one-node": _broken(
            "engine", ("in zip(node.next_nodes, parts)", "in dict(zip(node.next_nodes, parts)).items()")
        ),
        "other-shape/of-ones": _broken(
            "engine",
            (
                "    if part.data.shape != next_node.shape:\n        part = part.sum(next_node.shape)\n",
                "    if part.data.shape != next_node.shape or part.data.size == 1:\n"
                "        part = part.sum(tuple(n for n in next_node.shape if n > 1))\n",
            ),
        ),
        "other-gradient/array-first": _broken(
            "engine",
            (
                "Tensor.__add__ = Tensor.__radd__ = add",
                "Tensor.__add__ = add\nTensor.__radd__ = lambda a, b: (\n"
                "    add(a, b) if type(b) is float else add(a * 0.0, b + a.data))",
            ),
        ),
        "no-release/inside": _broken(
            "engine",
            ("parts = turn(node, grad, retain_graph)", "parts = turn(node, grad, retain_graph or node is not root)"),
        ),
        "leaf-overwritten/kept": _broken(
            "engine",
            ("node.leaf.grad = grad + (node.leaf.grad or 0.0)", "node.leaf.grad = node.leaf.grad or grad + 0.0"),
        ),
        "second-turn/leaf": _broken(
            "engine",
            (
                "        before, Node",
                "        if not self.node.next_nodes:\n            raise RuntimeError\n        before, Node",
            ),
        ),
        "type/whole-numbers": _broken("engine", ("np.array(data, dtype=float)", "np.array(data)")),
        "no-version/first-only": _broken("engine", ("in node.saved.values():", "in list(node.saved.values())[:1]:")),
        "too-strict/unneeded": _broken(
            "engine", ("for name in needs(rule) if next_node else []:", "for name in needs(rule):")
        ),
        "switch-left/on": _broken("engine", ("Node.recording = before\n", "Node.recording = True\n")),
        "overwrites": _broken("engine", ("grads[next_node] + part if next_node in grads else part", "part")),
        "too-early": _broken("engine", ('sorted(found, key=attrgetter("number"), reverse=True)', "found")),
        "second-turn": _walking(
            """
def walk(node, grad, retain_graph):
    if node.leaf:
        node.leaf.grad = grad + (node.leaf.grad or 0.0)
    for next_node, part in zip(node.next_nodes, turn(node, grad, retain_graph)):
        if next_node:
            walk(next_node, part if part.data.shape == next_node.shape else part.sum(next_node.shape), retain_graph)
"""
        ),
        "second-turn/oldest-first": _walking(
            """
def walk(root, gradient, retain_graph):
    grads, waiting = {root: gradient}, [root]
    while waiting:
        node = min(waiting, key=attrgetter("number"))
        waiting.remove(node)
        grad = grads.pop(node)
        if node.leaf:
            node.leaf.grad = grad + (node.leaf.grad or 0.0)
        for next_node, part in zip(node.next_nodes, turn(node, grad, retain_graph)):
            if next_node:
                arrive(grads, next_node, part)
                if next_node not in waiting:
                    waiting.append(next_node)
"""
        ),
        "paths": _walking(
            """
def walk(node, grad, retain_graph):
    if node.leaf:
        node.leaf.grad = grad + (node.leaf.grad or 0.0)
    for next_node, part in zip(node.next_nodes, turn(node, grad, True)):
        if next_node:
            walk(next_node, part if part.data.shape == next_node.shape else part.sum(next_node.shape), retain_graph)
"""
        ),
        "recursion": _walking(
            _RECURSIVE_TURNS.replace("in node.next_nodes:", "in filter(None, node.next_nodes):")
            + _ANSWERS["engine"][_ANSWERS["engine"].rindex("def walk(") : _ANSWERS["engine"].rindex("a = Tensor(")]
        ),
        "unbroadcast": _broken("engine", ("if part.data.shape != next_node.shape:", "if False:")),
        "no-release": _broken("engine", ("if node.saved and not retain_graph:", "if False:")),
        "no-release/unnoticed": _broken("engine", ('        raise RuntimeError("a second time")', "        return []")),
        "no-release/always-retained": _broken("engine", ("retain_graph or create_graph)", "True)")),
        "frees-all": _broken(
            "engine", ("if node.saved and not retain_graph:", "if node.next_nodes and not retain_graph:")
        ),
        "frees-all/leaves": _broken("engine", ("if node.saved and not retain_graph:", "if not retain_graph:")),
        "frees-anyway": _broken("engine", ("if node.saved and not retain_graph:", "if node.saved:")),
        "kept-inside": _broken(
            "engine",
            (
                "grads[next_node] + part if next_node in grads else part",
                "next_node.kept + part if next_node.kept else part\n    next_node.kept = grads[next_node]",
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
        "constant-recorded": _broken("engine", ("    if not any(next_nodes):\n        return None\n", "")),
        "other-graph": _broken("engine", ('sub = op("sub"', 'sub = op("minus"')),
        "value": _broken("engine", ('op("tanh", np.tanh', 'op("tanh", np.sinh')),
        "other-gradient": _broken("engine", ("a=lambda grad, b: grad @ b.t()", "a=lambda grad, b: grad @ b")),
        "sub": _broken("engine", ("self.data -= amount", "self.data += amount")),
        "raised": _broken("engine", ("Tensor.exp, Tensor.log, Tensor.tanh = exp, log, tanh", "pass")),
        "no-gradient": _broken("engine", ("node.leaf.grad = grad +", "node.grad = grad +")),
        "second-derivative/added-in-an-array": _broken(
            "engine",
            (
                "node.leaf.grad = grad + (node.leaf.grad or 0.0)",
                "node.leaf.grad = node.leaf.grad or grad * 0.0\n"
                "            node.leaf.grad.data += grad.data * (node.leaf.grad is not grad)",
            ),
        ),
        "raised/number-first": _broken("engine", ("Tensor.__mul__ = Tensor.__rmul__ = mul", "Tensor.__mul__ = mul")),
        "raised/numbers-in-sub": _broken(
            "engine",
            (
                "Tensor.t, Tensor.sum =",
                "Tensor.__sub__ = lambda a, b: sub(a, b) if type(b) is Tensor else NotImplemented\n"
                "Tensor.t, Tensor.sum =",
            ),
        ),
        "value/sum-to-one": _broken("engine", ("flip, sum_to", "flip, lambda a, shape=(): sum_to(a)")).replace(
            "part.sum(next_node.shape)", "sum_to(part, next_node.shape)"
        ),
        "value/whole-powers": _broken("engine", ("def power(a, n):\n", "def power(a, n):\n    n = float(int(n))\n")),
        "value/exp-of-large": _broken("engine", ('"exp", np.exp', '"exp", lambda a: np.exp(np.minimum(a, 20.0))')),
        "shares-memory/operand": _ANSWERS["engine"]
        .replace("Tensor(t) for t", "wrapped(t) for t")
        .replace(
            "def op(",
            "def wrapped(array):\n    tensor = Tensor(0.0)\n    tensor.data = np.asarray(array, float)\n"
            "    return tensor\n\n\ndef op(",
        ),
        "kept-inside/after-an-error": _broken(
            "engine", ("    grads = {root: gradient}\n", "    grads[root] = gradient\n")
        ).replace("def walk(", "grads = {}\n\n\ndef walk("),
        "switch-left/other-errors": _broken(
            "engine",
            (
                "        finally:\n            Node.recording = before",
                "        except RuntimeError:\n            Node.recording = before\n"
                "            raise\n        Node.recording = before",
            ),
        ),
        "grad-lost": _broken(
            "engine", ("        self.version += 1", "        self.version += 1\n        self.grad = None")
        ),
        "no-gradient/of-zeros": _broken(
            "engine",
            (
                "            if next_node:\n                arrive",
                "            if next_node and part.data.any():\n                arrive",
            ),
            (
                "        grad = grads.pop(node)\n",
                "        grad = grads.pop(node, None)\n        if grad is None:\n            continue\n",
            ),
        ),
        "no-release/retained-once": _broken(
            "engine",
            (
                "        before, Node.recording",
                "        Node.retain = retain_graph = retain_graph or hasattr(Node, 'retain') and Node.retain\n"
                "        before, Node.recording",
            ),
        ),
        "left-operand": _broken("engine", ("    __array_priority__ = 1\n", "")),
        "other-shape/root": _broken("engine", ("Tensor(np.ones(self.data.shape))", "Tensor(1.0)")),
        "grad-of-result": _broken(
            "engine",
            ("            result.node = record(", "            result.node = node = record("),
            (
                "        return result\n\n    apply",
                "        if Node.recording and node:\n            node.leaf = result\n"
                "        return result\n\n    apply",
            ),
        ),
        "grad-unreached": _broken(
            "engine",
            (
                "self.grad = self.node = None",
                "self.grad = self.node = None\n        if requires_grad:\n"
                "            self.grad = Tensor(np.zeros(self.data.shape))",
            ),
        ),
        "no-gradient/late-leaf": _broken(
            "engine",
            (
                "        if node.leaf:\n            node.leaf.grad = grad + (node.leaf.grad or 0.0)\n",
                "        if node.leaf:\n"
                "            node.leaf.grad = grad + (node.leaf.grad or 0.0)\n            break\n",
            ),
        ),
        "no-version/results": _broken(
            "engine",
            (
                "tensor.version != version:",
                "tensor.version != version and not (tensor.node and tensor.node.next_nodes):",
            ),
        ),
        "always-recorded/retained": _broken(
            "engine", ("Node.recording, create_graph", "Node.recording, create_graph or retain_graph")
        ),
        "second-derivative/sub": _broken("engine", ("b=lambda grad: grad * -1.0", "b=lambda grad: Tensor(-grad.data)")),
        "no-version/second": _broken("engine", ("self.version += 1", "self.version = 1")),
        "leaf-overwritten": _broken("engine", ("grad + (node.leaf.grad or 0.0)", "grad + 0.0")),
        "create-fails": _broken("engine", ("retain_graph or create_graph", "retain_graph")),
        "not-recorded/first-input": _broken("engine", ("not any(next_nodes)", "next_nodes[0] is None")),
        "not-recorded": _broken("engine", ("return Node(op.name, shape", "Node(op.name, shape")),
        "second-derivative/arrays-arrive": _broken(
            "engine", ("part = part.sum(next_node.shape)", "part = Tensor(part.sum(next_node.shape).data)")
        ),
        "raised/array-part": _broken(
            "engine", ("    if part.data.shape != next_node.shape:", "    while part.ndim > len(next_node.shape):")
        ),
        "raised/none-as-edge": _broken(
            "engine", ("if next_node and next_node not in seen", "if next_node not in seen")
        ),
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
                "    grads[next_node] = grads[next_node] + part if next_node in grads else part",
                "    if next_node in grads:\n        grads[next_node].data += part.data\n"
                "    else:\n        grads[next_node] = part",
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
                "return Node(op.name, shape, next_nodes, list(op.rules.values()), saved)",
                "kept = [one for one in zip(next_nodes, op.rules.values()) if one[0]]\n"
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
        "leaf-without-node/no-methods": """
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
        "given-engine/parts": _broken("engine", ("parts = turn(", "parts = small.turn(")),
        "given-engine/minigrad-inside": _MINIGRAD_INSIDE,
        "given-engine": "Tensor = small.Tensor",
        "given-engine/minigrad": "class Tensor(mg.Tensor):\n    pass",
        "type/array-in-grad": _broken("engine", ("grad + (node.leaf.grad or 0.0)", "grad.data")),
        "type": "Tensor = 5",
        "type/minigrad": "Tensor = mg.tensor",
    },
}

WRONG["engine"]["other-gradient/summed-after"] = """class Node:  # like small.Node
    recording = True
    made = 0

    def __init__(self, name, shape, next_nodes=(), rules=(), saved=()):
        Node.made += 1
        self.number = Node.made
        self.name, self.shape, self.next_nodes = name, shape, next_nodes
        self.rules, self.saved, self.leaf = rules, dict(saved), None

    def __repr__(self):
        return f"<{self.name}>"


def needs(rule):  # like small.needs
    return [*signature(rule).parameters][1:]


class Tensor:
    __array_priority__ = 1  # so that `array * tensor` asks the tensor

    def __init__(self, data, requires_grad=False):
        self.data, self.grad, self.node = np.array(data, dtype=float), None, None
        self.version = 0
        if requires_grad:
            self.node = Node("leaf", self.data.shape)
            self.node.leaf = self

    def sub_(self, amount):
        self.data -= amount
        self.version += 1

    def backward(self, retain_graph=False, create_graph=False):
        if self.node is None or self.data.size != 1:
            raise RuntimeError("backward needs a result with one number that requires grad")
        before, Node.recording = Node.recording, create_graph
        try:
            walk(self.node, Tensor(np.ones(self.data.shape)), retain_graph or create_graph)
        finally:
            Node.recording = before


def record(op, inputs, shape):
    next_nodes = [tensor.node for tensor in inputs]
    if not any(next_nodes):
        return None
    by_name, saved = dict(zip(op.rules, inputs)), {}
    for next_node, rule in zip(next_nodes, op.rules.values()):
        if next_node:
            for name in needs(rule):
                saved[name] = by_name[name], by_name[name].version
    return Node(op.name, shape, next_nodes, list(op.rules.values()), saved)


def op(name, forward, **rules):  # a row of the table
    def apply(*operands):
        inputs = [one if isinstance(one, Tensor) else Tensor(one) for one in operands]
        result = Tensor(forward(*[one.data for one in inputs]))
        if Node.recording:
            result.node = record(apply, inputs, result.data.shape)
        return result

    apply.name, apply.rules = name, rules  # so `apply` is the `op` of record
    return apply


add = op("add", np.add, a=lambda grad: grad, b=lambda grad: grad)
sub = op("sub", np.subtract, a=lambda grad: grad, b=lambda grad: grad * -1.0)
mul = op("mul", np.multiply, a=lambda grad, b: grad * b, b=lambda grad, a: grad * a)
mm = op("mm", np.matmul, a=lambda grad, b: grad @ b.t(), b=lambda grad, a: a.t() @ grad)
exp = op("exp", np.exp, a=lambda grad, a: grad * a.exp())
log = op("log", np.log, a=lambda grad, a: grad * a ** -1.0)
tanh = op("tanh", np.tanh, a=lambda grad, a: grad - grad * a.tanh() * a.tanh())
t = op("t", np.transpose, a=lambda grad: grad.t())


def power(a, n):
    rule = lambda grad, a: grad * n * a ** (n - 1.0)
    return op("pow", lambda data: data ** n, a=rule)(a)


def sum_to(a, shape=()):
    before, new = a.data.shape, a.data.ndim - len(shape)
    axes = tuple(range(new)) + tuple(new + i for i, n in enumerate(shape) if n == 1)
    rule = lambda grad: grad * np.ones(before)
    return op("sum", lambda data: data.sum(axes, keepdims=True).reshape(shape), a=rule)(a)


Tensor.__add__ = Tensor.__radd__ = add
Tensor.__mul__ = Tensor.__rmul__ = mul
Tensor.__sub__, Tensor.__matmul__, Tensor.__pow__ = sub, mm, power
Tensor.exp, Tensor.log, Tensor.tanh, Tensor.t, Tensor.sum = exp, log, tanh, t, sum_to


def turns(root):
    order, heap, met = [], [(-root.number, root)], {root}
    while heap:
        node = heappop(heap)[1]
        order.append(node)
        for next_node in node.next_nodes:
            if next_node and next_node not in met:
                met.add(next_node)
                heappush(heap, (-next_node.number, next_node))
    return order


def turn(node, grad, retain_graph):
    if node.saved is None:
        raise RuntimeError("backward a second time")
    for tensor, version in node.saved.values():
        if tensor.version != version:
            raise RuntimeError("modified by an inplace operation")
    parts = []
    for next_node, rule in zip(node.next_nodes, node.rules):
        saved = [node.saved[name][0] for name in needs(rule)] if next_node else []
        parts.append(rule(grad, *saved) if next_node else None)
    if node.saved and not retain_graph:
        node.saved = None
    return parts


def arrive(grads, next_node, part):
    if next_node in grads:
        part = grads[next_node] + part
    if part.data.shape != next_node.shape:
        part = part.sum(next_node.shape)
    grads[next_node] = part


def walk(root, gradient, retain_graph):
    grads = {root: gradient}
    for node in turns(root):
        grad = grads.pop(node)
        if node.leaf:
            node.leaf.grad = grad + (0.0 if node.leaf.grad is None else node.leaf.grad)
        for next_node, part in zip(node.next_nodes, turn(node, grad, retain_graph)):
            if next_node:
                arrive(grads, next_node, part)
"""

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
        for e, s in zip(n.next_nodes, n.slopes):
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
        new = [next_node for next_node in dict.fromkeys(node.next_nodes) if next_node not in seen]
        found += new
        seen |= set(new)
    grads = dict.fromkeys(found, 0.0)
    grads[root] = 1.0
    for node in sorted(found, key=lambda node: -node.number):
        node.grad = grads[node]
        for next_node, slope in zip(node.next_nodes, node.slopes):
            grads[next_node] += node.grad * slope
""",
        """
def backward(root):
    grads, waiting = {root: 1.0}, {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        if not node.next_nodes:
            node.grad = grads[node]
        for next_node, slope in zip(node.next_nodes, node.slopes):
            part = grads[node] * slope
            if part:  # without a part of 0 a leaf has 0, as before
                grads[next_node] = grads.get(next_node, 0.0) + part
                waiting.add(next_node)
""",
    ],
    "twice": [
        """
def backward_twice(root):
    root.part, waiting = 1.0, {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        if not node.next_nodes:
            node.grad += node.part
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.part = (next_node.part if next_node in waiting else 0.0) + node.part * slope
            waiting.add(next_node)
""",
        """
def backward_twice(root):
    root.grad += 1.0
    waiting = {root}
    while waiting:
        node = max(waiting, key=attrgetter("number"))
        waiting.remove(node)
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
            waiting.add(next_node)
        if node.next_nodes:
            node.grad = 0.0
""",
        """
def backward_twice(root):
    found = {root}
    todo = [root]
    while todo:
        for next_node in todo.pop().next_nodes:
            if next_node not in found:
                found.add(next_node)
                todo.append(next_node)
    for node in found:
        if node.next_nodes:
            node.grad = 0.0
    root.grad += 1.0
    for node in sorted(found, key=attrgetter("number"), reverse=True):
        for next_node, slope in zip(node.next_nodes, node.slopes):
            next_node.grad += node.grad * slope
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
            stack += [(next_node, False) for next_node in node.next_nodes]
    return order[::-1]
""",
        """
def turns(root):
    waiting, order = {root}, []
    while waiting:
        newest = max(waiting, key=lambda node: node.number)
        waiting.discard(newest)
        waiting.update(newest.next_nodes)
        order.append(newest)
    return tuple(order)
""",
    ],
    "arrive": [
        """
def arrive(grads, next_node, part):
    places = np.broadcast_to(np.arange(np.prod(next_node.shape, dtype=int)).reshape(next_node.shape), part.shape)
    part = np.bincount(places.ravel(), part.ravel(), np.prod(next_node.shape, dtype=int)).reshape(next_node.shape)
    grads[next_node] = grads[next_node] + part if next_node in grads else part
""",
        """
def arrive(so_far, next_node, part):
    extra = part.ndim - len(next_node.shape)
    axes = tuple(range(extra)) + tuple(
        extra + i for i, n in enumerate(next_node.shape) if n == 1)
    fitted = part.sum(axis=axes, keepdims=True).reshape(next_node.shape)
    so_far[next_node] = so_far.get(next_node, 0.0) + fitted
""",
        """
def arrive(grads, next_node, part):
    if part.shape != next_node.shape:
        lengths = (1,) * (part.ndim - len(next_node.shape)) + tuple(next_node.shape)
        for axis, length in enumerate(lengths):
            if length == 1:
                part = np.add.reduce(part, axis, keepdims=True)
        part = part.reshape(next_node.shape)
    if next_node not in grads:
        grads[next_node] = np.zeros(next_node.shape)
    grads[next_node] = np.add(grads[next_node], part)
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
            for name in small.needs(rule):
                t = tensors[places[name]]
                saved[name] = t, t.version
    node = small.Node(op.name, shape, tuple(t.node for t in tensors), tuple(op.rules.values()))
    node.saved = saved
    return node
""",
        """
def record(op, inputs, shape):
    next_nodes, wanted = [], set()
    for tensor, rule in zip(inputs, op.rules.values()):
        next_nodes.append(tensor.node)
        if tensor.node:
            wanted.update(small.needs(rule))
    if next_nodes.count(None) == len(next_nodes):
        return
    return small.Node(op.name, shape, next_nodes, [*op.rules.values()],
                      {n: (t, t.version) for n, t in zip(op.rules, inputs) if n in wanted})
""",
    ],
    "turn": [
        "class Freed(RuntimeError):\n    pass\n\n"
        + _with(_TURN, 'RuntimeError("a second time")', 'Freed("a second time")'),
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
        None if next_node is None else rule(grad, **{n: saved[n][0] for n in small.needs(rule)})
        for next_node, rule in zip(node.next_nodes, node.rules))
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
    for i in range(len(node.next_nodes)):
        if node.next_nodes[i]:
            parts.append(node.rules[i](g, *map(values.get, small.needs(node.rules[i]))))
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
    return grad * ((a * -1.0).exp() + 1.0) ** -1.0 * (a.exp() + 1.0) ** -1.0
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
    grads, waiting = {root: gradient}, [(-root.number, 0, root)]
    while waiting:
        *_, node = heappop(waiting)
        grad = grads.pop(node)
        if node.leaf:
            node.leaf.grad = grad + (node.leaf.grad or 0.0)
        for next_node, part in zip(node.next_nodes, turn(node, grad, retain_graph)):
            if next_node and next_node not in grads:
                heappush(waiting, (-next_node.number, 0, next_node))
            if next_node:
                arrive(grads, next_node, part)
"""
        ),
        _broken(
            "engine",
            ("dtype=float)", "dtype=np.float32)"),
            ("self.data -= amount", "self.data = self.data - amount"),
            ("Node.made += 1", "Node.made = Node.made + 1"),
        ),
        _walking(
            """
def walk(root, gradient, retain_graph):
    users, found = {root: 0}, [root]
    for node in found:
        for next_node in filter(None, node.next_nodes):
            if next_node not in users:
                found.append(next_node)
            users[next_node] = users.get(next_node, 0) + 1
    grads, ready = {root: gradient}, [root]
    while ready:
        node = ready.pop()
        grad = grads.pop(node)
        if node.leaf:
            node.leaf.grad = grad + (node.leaf.grad or 0.0)
        for next_node, part in zip(node.next_nodes, turn(node, grad, retain_graph)):
            if next_node is None:
                continue
            arrive(grads, next_node, part)
            users[next_node] -= 1
            if not users[next_node]:
                ready.append(next_node)
"""
        ),
    ],
}

RIGHT["arrive"].append("""def arrive(grads, next_node, part):
    part = small.Tensor(part).sum(next_node.shape).data
    grads[next_node] = grads[next_node] + part if next_node in grads else part
""")

RIGHT["rule"].append("""def sigmoid_rule(grad, a):
    s = ((a * -1.0).exp() + 1.0) ** -1.0
    return grad * s * (s * -1.0 + 1.0)
""")

RIGHT["turns"].append("""def turns(root):
    nodes, todo = {root}, [root]
    while todo:
        for next_node in todo.pop().next_nodes:
            if next_node not in nodes:
                nodes.add(next_node)
                todo.append(next_node)
    return tuple(sorted(nodes, key=lambda node: -node.number))
""")
