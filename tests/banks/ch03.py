"""Chapter 03: wrong answers with the diagnosis that each must get, and unusual right ones."""

from banks.patterns import changed, functions

NOTEBOOK = "03_the_graph"

_graph = changed("graph", nodes=4, edges_of_z=2, z_to_p=True, p_to_k=False)
_slopes = changed("slopes", {"before": None, "dz/de": 5.0, "de/dp": 1.0, "dp/dv": 3.0, "v.grad": 15.0})
_lives = changed("lives", A=True, B=True, C=False, D=False, E=True)
_kinks = changed("slope_at", A=0.0, B=0.0, C=0.5, D=1.0, E=0.0)

WRONG = {
    "follow": {
        "constant-has-node": _graph(p_to_k=True, nodes=5),
        "copied": _graph(z_to_p=False, nodes=5),
        "each-way": _graph(nodes=6),
        "end-forgotten": _graph(nodes=3),
        "one-too-many": _graph(nodes=5),
        "other-edges/one": _graph(edges_of_z=1),
        "other-edges": _graph(edges_of_z=3),
        "wrong-nodes": _graph(nodes=9),
        "kind": _graph(z_to_p="yes"),
        "constant-has-node/alone": _graph(p_to_k=True),
        "copied/alone": _graph(z_to_p=False),
    },
    "chain": {
        "grad-before": _slopes(before=15),
        "grad-before/zero": _slopes(before=0),
        "exp-input": _slopes({"de/dp": 0, "v.grad": 0}),
        "exp-input/alone": _slopes({"de/dp": 0}),
        "zero-product": _slopes({"v.grad": 0}),
        "value-of-e": _slopes({"dz/de": 1}),
        "value-of-v": _slopes({"dp/dv": 0}),
        "added-along": _slopes({"v.grad": 9}),
        "factor-lost": _slopes({"v.grad": 5}),
        "factor-lost/one-step": _slopes({"v.grad": 3}),
        "wrong-before": _slopes(before=4),
        "still-none": _slopes({"v.grad": None}),
    },
    "leaves_behind": functions(
        "leaves_behind(result)",
        """
node-not-leaf
    found, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.append(node)
            waiting += [following for following, _ in node.next_functions]
    return found
leaf-missing
    node = result.grad_fn
    while node.next_functions:
        node = node.next_functions[0][0]
    return [node.variable]
leaf-missing/one-step
    ends = [node for node, _ in result.grad_fn.next_functions]
    return [node.variable for node in ends if hasattr(node, "variable")]
leaf-missing/nothing
    return []
leaf-twice
    found, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            found.append(node.variable)
        elif node is not None:
            waiting += [following for following, _ in node.next_functions]
    return found
every-way
    found, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            if not any(node.variable is leaf for leaf in found):
                found.append(node.variable)
        elif node is not None:
            waiting += [following for following, _ in node.next_functions]
    return found
every-way/recursive
    found = {}
    def walk(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            walk(following)
    walk(result.grad_fn)
    return list(found.values())
empty-entry-followed
    found, seen, waiting = [], set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            if hasattr(node, "variable"):
                found.append(node.variable)
            waiting += [following for following, _ in node.next_functions]
    return found
node-not-kept
    found, seen, waiting = [], set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            if hasattr(node, "variable"):
                found.append(node.variable)
            waiting += [following for following, _ in node.next_functions]
    return found
compared-by-value
    found, seen, waiting = [], set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable") and node.variable not in found:
            found.append(node.variable)
        waiting += [following for following, _ in node.next_functions]
    return found
variable-everywhere
    found, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None:
            if node.variable is not None:
                found.append(node.variable)
            waiting += [following for following, _ in node.next_functions]
    return found
pair-not-node
    found, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            found.append(node.variable)
        for following in node.next_functions:
            waiting.append(following)
    return found
other-tensor
    return [result]
no-tensor
    found, seen, waiting = [], set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable.item())
        waiting += [following for following, _ in node.next_functions]
    return found
none
    found = []
    found.append(result)
none/reversed
    return [].reverse()
raised/leaf-asked-for-its-node
    waiting = [result.grad_fn]
    for node in waiting:
        if hasattr(node, "variable"):
            node.variable.grad_fn.next_functions
        waiting += [following for following, _ in node.next_functions if following is not None]
raised/grad-of-a-leaf
    waiting = [result.grad_fn]
    for node in waiting:
        if hasattr(node, "variable"):
            node.variable.grad.numel()
        waiting += [following for following, _ in node.next_functions if following is not None]
raised/tuple-without-pop
    return result.grad_fn.next_functions.pop()
raised/variable-of-a-tensor
    return [result.variable]
compared-by-value/sorted
    waiting = [result.grad_fn]
    for node in waiting:
        waiting += [following for following, _ in node.next_functions if following not in [None, *waiting]]
    return sorted(node.variable for node in waiting if hasattr(node, "variable"))
every-way/no-end
    seen = {result.grad_fn}
    while True:
        seen |= {following for node in seen for following, _ in node.next_functions if following is not None}
type
    return result.grad_fn
leaf-missing/adversary-1
    found, seen, waiting = [], set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            if not any(node.variable.item() == f.item() for f in found if f.numel() == 1 == node.variable.numel()):
                found.append(node.variable)
        waiting += [following for following, _ in node.next_functions]
    return found
hooks-changed/adversary-2
    found, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or "seen" in node.metadata:
            continue
        node.metadata["seen"] = True
        if hasattr(node, "variable"):
            found.append(node.variable)
        waiting += [following for following, _ in node.next_functions]
    return found
grad-changed/adversary-1
    found, seen, waiting = [], set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
            node.variable.grad = None
        waiting += [following for following, _ in node.next_functions]
    return found
leaf-missing/adversary-2
    found, seen, waiting = [], set(), [result.grad_fn]
    while waiting and len(seen) < 60:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        waiting += [following for following, _ in node.next_functions]
    return found
leaf-missing/thousand-visits
    found, visits = set(), []
    def walk(node):
        visits.append(node)
        if node is None or len(visits) > 1000:
            return
        if hasattr(node, "variable"):
            found.add(node.variable)
        for following, _ in node.next_functions:
            walk(following)
    walk(result.grad_fn)
    return found
leaf-missing/adversary-3
    found, seen = [], set()
    def walk(node):
        if node is None or node in seen: return
        seen.add(node)
        if hasattr(node, "variable"): found.append(node.variable)
        for n, _ in node.next_functions[:2]: walk(n)
    walk(result.grad_fn)
    return found
leaf-missing/zero
    found, seen, todo = [], set(), [result.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None and leaf.detach().abs().sum() > 0:
            found.append(leaf)
        todo += [n for n, _ in node.next_functions]
    return found
leaf-missing/one-entry
    found, seen, todo = [], set(), [result.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if not node.next_functions and node.variable.shape != (1,):
            found.append(node.variable)
        todo += [n for n, _ in node.next_functions]
    return found
leaf-missing/some-have-a-grad
    found, seen, todo = [], set(), [result.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if not node.next_functions:
            found.append(node.variable)
        todo += [n for n, _ in node.next_functions]
    old = [leaf for leaf in found if leaf.grad is not None]
    return old or found
""",
    )
    | {
        "arguments": """
def leaves_behind():
    return []
""",
        "again/adversary-1": """
def leaves_behind(result, seen=set()):
    found, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        waiting += [following for following, _ in node.next_functions]
    return found
""",
    },
    "which_input": {
        "nothing-ran": "start = 1.0",
        "nothing-ran/negative": "start = -8.0",
        "other-subtractions/few": "start = 7.0",
        "other-subtractions/few-one": "start = 5.0",
        "other-subtractions/few-none": "start = 2.0",
        "other-subtractions": "start = 10.5",
        "other-subtractions/three": "start = 12",
        "too-many-divisions": "start = 9.0",
        "too-many-divisions/edge": "start = 10.0",
        "far-off": "start = 1e9",
        "nothing-ran/far": "start = -2000",
        "type": "start = '8'",
        "nan": "start = float('nan')",
    },
    "one_way": functions(
        "one_way(x)",
        """
flag-of-a-result/off-and-on
    x.requires_grad_(False)
    a = x + 1
    x.requires_grad_(True)
    return a * (x * 4)
both-ways
    return (x + 1) * (x * 4)
other-way
    return (x + 1) * (x * 4).detach()
other-dtype
    return (x.detach() + 1) * (x.double() * 4)
other-value/no-shape
    return ((x.detach() + 1) * (x * 4)).sum()
other-value/rounded
    return round(x.item() + 1, 4) * (x * 4)
all-cut
    return ((x + 1) * (x * 4)).detach()
all-cut/no-grad
    with mg.no_grad():
        return (x + 1) * (x * 4)
new-leaf
    return (x + 1).detach().requires_grad_() * (x * 4)
new-leaf/result-itself
    y = (x + 1) * (x * 4)
    y.detach_()
    return y.requires_grad_()
new-leaf/asked
    return ((x + 1) * (x * 4)).detach().requires_grad_()
input-changed
    x.requires_grad_(False)
    return (x + 1) * (x * 4)
backward-inside
    y = (x + 1).detach() * (x * 4)
    y.backward()
    return y
other-value
    return x * 4
other-value/one-number
    return 3 * (x * 4)
other-gradient
    return (x + 1).detach() * (x * 4) + (x - x.detach())
type
    return (x + 1).item() * (x * 4).item()
none
    y = (x + 1).detach() * (x * 4)
other-value/adversary-1
    a = (x + 1).detach(); c = x * 4
    return a * c - a * c.detach() + (a * c).detach() if False else a*c + 1e-5
input-changed/result
    a = x.detach_() + 1
    x.requires_grad_()
    return a * (x * 4)
no-way-back/freed
    y = (x + 1).detach() * (x * 4)
    mg.autograd.grad(y, x)
    return y
cancelled/behind-one-edge
    h = x * 1
    a, c = h + 1, h * 4
    return a * c - a * c.detach() + (a * c).detach()
new-leaf/beside
    return (x + 1).detach() * (x * 4) + 0 * mg.tensor(0.0, requires_grad=True)
cancelled/adversary-1
    a, c = x + 1, x * 4
    return a * c - a * c.detach() + (a * c).detach()
old-grad/adversary-1
    x.grad = None
    return (x + 1).detach() * (x * 4)
new-leaf/adversary-1
    return (x.detach() + 1) * (x * 4) if x.item() != 0 else mg.tensor(0.0, requires_grad=True)
hooks-changed/cancelled
    y = (x + 1) * (x * 4)
    x.register_hook(lambda g: g * 0 + 4 * (x.detach() + 1))
    return y
other-value/not-large
    return (x.detach() + 1).clamp(-1000.0, 1000.0) * (x * 4)
nan/at-one
    d = x.detach()
    return (x * 4) * ((d**3 - d) / (d * d - d) if d != 0 else d + 1)
rounded/seven-digits
    return (float(f"{x.item():.7g}") + 1) * (x * 4)
""",
    ),
    "alive": {
        "only-names-keep": _lives(A=False, B=False),
        "total-is-a-number": _lives(B=False),
        "saved-forgotten": _lives(A=False),
        "backward-keeps": _lives(C=True),
        "kept-for-ever": _lives(D=True),
        "name-forgotten": _lives(E=False),
        "the-other-way-round": _lives(A=False, B=False, C=True, D=True, E=False),
        "back-again": _lives(B=False, D=True),
        "back-again/saved": _lives(A=False, C=True),
        "kind": _lives(A=2),
        "keys": "lives = {'A': True}",
    },
    "mean_loss": functions(
        "mean_loss(model, batches)",
        """
graph-kept
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total = total + loss
    return total / len(batches)
graph-kept/sum
    losses = [model(batch) for batch in batches]
    for loss in losses:
        loss.backward()
    return sum(losses) / len(losses)
graph-kept/tensor
    total = mg.tensor(0.0)
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss
    return total / len(batches)
kept-until-the-end
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss
    return total.item() / len(batches)
kept-until-the-end/detached
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss
    return (total / len(batches)).detach()
kept-until-the-end/list
    losses = []
    for batch in batches:
        losses.append(model(batch))
        losses[-1].backward()
    return sum(loss.item() for loss in losses) / len(losses)
kept-until-the-end/one-backward
    total = 0
    for batch in batches:
        total += model(batch)
    total.backward()
    return total.item() / len(batches)
backward-changed
    total = 0
    for batch in batches:
        loss = model(batch)
        total += loss.item()
    return total / len(batches)
backward-changed/last-only
    total = 0
    for batch in batches:
        loss = model(batch)
        total += loss.item()
    loss.backward()
    return total / len(batches)
cut-too-early
    total = 0
    for batch in batches:
        loss = model(batch).detach()
        loss.backward()
        total += loss
    return total / len(batches)
cut-too-early/mean-so-far
    total = 0
    for batch in batches:
        loss = model(batch)
        total = (total + loss).detach()
        total.backward()
    return total / len(batches)
raised/of-a-batch
    for batch in batches:
        loss = model(batch)
        batch.backward()
    return loss.item()
raised/by-another-tensor
    for batch in batches:
        loss = model(batch)
        mg.autograd.grad(loss, mg.tensor(1.0))
    return loss.item()
mode-left/off
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        mg.set_grad_enabled(False)
        total += loss
    return total / len(batches)
graph-kept/stacked
    losses = []
    for batch in batches:
        losses.append(model(batch))
        losses[-1].backward()
    return mg.stack(losses).mean()
backward-changed/cleared
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        nodes = [loss.grad_fn]
        for node in nodes:
            nodes += [following for following, _ in node.next_functions if following is not None]
        nodes[-1].variable.grad = None
        total += loss.item()
    return total / len(batches)
cut-too-early/number
    total = 0
    for batch in batches:
        loss = model(batch).item()
        loss.backward()
        total += loss
    return total / len(batches)
not-recorded
    total = 0
    for batch in batches:
        with mg.no_grad():
            loss = model(batch)
        loss.backward()
        total += loss
    return total / len(batches)
other-value
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss.item()
    return total
other-value/last
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total = loss.item()
    return total
none
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss.item()
type
    losses = []
    for batch in batches:
        loss = model(batch)
        loss.backward()
        losses.append(loss.item())
    return losses
other-value/adversary-1
    total, losses = 0, set()
    for batch in batches:
        loss = model(batch)
        loss.backward()
        losses.add(loss.item())
    return sum(losses) / len(losses)
other-value/adversary-2
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += round(loss.item(), 4)
    return total / len(batches)
other-value/adversary-3
    total = 0
    for batch in batches[:50]:
        loss = model(batch)
        loss.backward()
        total += loss.item()
    return total / len(batches)
kept-until-the-end/two
    total, last = 0, []
    for batch in batches:
        loss = model(batch)
        loss.backward()
        last = [*last[-1:], loss]
        total += loss.item()
    return total / len(batches)
graph-kept/last-one
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total = loss + (total.detach() if batch is not batches[0] else 0)
    return total / len(batches)
rounded
    total = mg.tensor(0.0)
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss.detach()
    return total / len(batches)
loss-overwritten
    total = None
    for batch in batches:
        loss = model(batch)
        loss.backward()
        if total is None:
            total = loss.detach()
        else:
            total += loss.detach()
    return total / len(batches)
mode-left/adversary-1
    total = 0
    for batch in batches:
        mg.set_grad_enabled(True)
        loss = model(batch)
        loss.backward()
        mg.set_grad_enabled(False)
        total += loss
    return total / len(batches)
other-value/adversary-4
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total = (total + loss).detach()
    return abs(total) / len(batches)
backward-changed/zero-loss
    total = 0
    for batch in batches:
        loss = model(batch)
        if loss:
            loss.backward()
        total += loss.item()
    return total / len(batches)
other-value/two-losses-a-round
    total = 0
    for batch in batches:
        model(batch).backward()
        total += model(batch).item()
    return total / len(batches)
backward-changed/cleared-at-first
    total = 0
    for i, batch in enumerate(batches):
        loss = model(batch)
        todo = [loss.grad_fn] if i == 0 else []
        while todo:
            n = todo.pop()
            if n is not None:
                if not n.next_functions:
                    n.variable.grad = None
                todo += [m for m, _ in n.next_functions]
        loss.backward()
        total += loss.item()
    return total / len(batches)
""",
    ),
    "kinks": {
        "error/A": _kinks(A=None),
        "error/B": _kinks(B=None),
        "error/C": _kinks(C=None),
        "error/D": _kinks(D=None),
        "error/E": _kinks(E=None),
        "error": _kinks(A=None, B=None, C=None, D=None, E=None),
        "relu-other-answer": _kinks(A=1),
        "relu-other-answer/halfway": _kinks(A=0.5),
        "abs-one-side": _kinks(B=1),
        "abs-one-side/left": _kinks(B=-1),
        "tie-not-shared": _kinks(C=1),
        "tie-lost": _kinks(C=0),
        "if-like-abs": _kinks(D=0),
        "other-branch": _kinks(D=-1),
        "formula-not-operations": _kinks(E=1),
        "wrong-E": _kinks(E=2),
        "kind": _kinks(A="error"),
    },
    "ramp": functions(
        "ramp(x)",
        """
backward-inside/assigned
    if x.item() == 0:
        x.grad = mg.ones_like(x)
    return mg.relu(x)
slope-of-relu
    return mg.relu(x)
slope-of-relu/of-a-list
    return mg.relu(x) if x.dim() else x.clamp(min=0)
other-slope/of-either-sign
    y = x.clamp(min=0)
    y.register_hook(lambda grad: grad.abs())
    return y
other-slope/at-one-number
    return x.clamp(min=0) + (x - x.detach()) * (x.item() == -1)
raised/by-zero
    return x * (x.item() / abs(x.item()) + 1) / 2
flag-changed
    if x < 0:
        x.requires_grad_(False)
    return x if x >= 0 else x * 0
slope-of-relu/strict
    return x if x > 0 else x * 0
slope-of-relu/product
    return x * (x > 0)
tie-shared
    return mg.maximum(x, mg.tensor(0.0))
halfway
    return (x + mg.abs(x)) / 2
no-way-back
    return x if x >= 0 else mg.tensor(0.0)
no-way-back/number
    return x if x >= 0 else 0
no-way-back/flag
    return x if x >= 0 else mg.zeros_like(x, requires_grad=True)
tie-shared/without-effect
    return (x + mg.abs(x)) / 2 + mg.maximum(x * 0, x * 0 - 1)
error-at-kink/asserted
    assert x != 0
    return mg.relu(x)
none/at-zero
    if x > 0:
        return x
    if x < 0:
        return x * 0
no-way-back/detached
    return x.detach() if x >= 0 else x * 0
error-at-kink
    if x == 0:
        raise ValueError("no slope at 0")
    return mg.relu(x)
other-value
    return x
other-value/negative
    return x if x >= 0 else -x
other-slope
    return x if x >= 0 else x - x.detach()
backward-inside
    y = x * 1 if x >= 0 else x * 0
    y.backward()
    return y
no-way-back/float
    return x if x >= 0 else 0.0
type
    return [x if x >= 0 else x * 0]
none
    if x >= 0:
        return x
other-value/adversary-1
    return x if x >= 0 else x * 0 + 1e-6
old-grad/adversary-1
    x.grad = None
    return x * (x >= 0).float()
other-value/adversary-2
    return x if x > -1e-3 else x * 0
other-value/adversary-3
    return mg.relu(x + 1e-7)
values-changed/adversary-1
    if x == 0:
        x.data += 1e-7
    return mg.relu(x)
hooks-changed/at-zero
    if x == 0: x.register_hook(lambda g: g + 1)
    return mg.relu(x)
hooks-changed/of-a-result
    x.retain_grad()
    return x if x >= 0 else x * 0
other-value/float32
    return x * 0 if x < 0 else x + x.float().item() - x.detach() if 1 < x < 9 else x
""",
    ),
    "backward_order": functions(
        "backward_order(root)",
        """
too-early
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop(0)
        if node is not None and node not in order:
            order.append(node)
            waiting += [following for following, _ in node.next_functions]
    return order
too-early/depth-first
    order = []
    def visit(node):
        if node is None or node in order:
            return
        order.append(node)
        for following, _ in node.next_functions:
            visit(following)
    visit(root)
    return order
too-early/depth-first-from-the-right
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in order:
            order.append(node)
            waiting += [following for following, _ in node.next_functions]
    return order
too-early/leaves-last
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop(0)
        if node is not None and node not in order:
            order.append(node)
            waiting += [following for following, _ in node.next_functions]
    return sorted(order, key=lambda node: hasattr(node, "variable"))
way-forward
    order = []
    def visit(node):
        if node is None or node in order:
            return
        for following, _ in node.next_functions:
            visit(following)
        order.append(node)
    visit(root)
    return order
node-twice
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop(0)
        if node is not None:
            order.append(node)
            waiting += [following for following, _ in node.next_functions]
    return order
every-way
    order = []
    def visit(node):
        if node is None:
            return
        for following, _ in node.next_functions:
            visit(following)
        if node not in order:
            order.append(node)
    visit(root)
    return order[::-1]
node-missing
    order = []
    def visit(node):
        if node is None or node in order or not node.next_functions:
            return
        for following, _ in node.next_functions:
            visit(following)
        order.append(node)
    visit(root)
    return order[::-1]
node-not-kept
    counts, waiting = {id(root): 0}, [root]
    while waiting:
        node = waiting.pop()
        for following, _ in node.next_functions:
            if following is not None:
                if id(following) not in counts:
                    counts[id(following)] = 0
                    waiting.append(following)
                counts[id(following)] += 1
    order, ready = [], [root]
    while ready:
        node = ready.pop()
        order.append(node)
        for following, _ in node.next_functions:
            if following is not None:
                counts[id(following)] -= 1
                if counts[id(following)] == 0:
                    ready.append(following)
    return order
too-early/nearest-first
    far = {root: 0}
    nodes = [root]
    for node in nodes:
        new = [following for following, _ in node.next_functions if following not in [None, *nodes]]
        nodes += dict.fromkeys(new)
        far |= {following: far[node] + 1 for following in new}
    return sorted(nodes, key=far.get)
every-way/no-end
    order = [root]
    while order:
        root.next_functions
none/reversed
    return [root].reverse()
node-missing/root
    order = []
    def visit(node):
        for following, _ in node.next_functions:
            if following is not None and following not in order:
                visit(following)
                order.append(following)
    visit(root)
    return order[::-1]
too-early/three-rounds
    far, nodes = {root: 0}, [root]
    for node in nodes:
        nodes += [n for n, _ in node.next_functions if n is not None and n not in far and not far.update({n: 0})]
    for _ in range(3):
        for node in nodes:
            far |= {n: max(far[n], far[node] + 1) for n, _ in node.next_functions if n is not None}
    return sorted(nodes, key=far.get)
node-missing/one-of-a-name
    order, seen = [], set()
    def visit(node):
        if node is None or node in seen:
            return
        seen.add(node)
        for following, _ in node.next_functions:
            visit(following)
        order.append(node)
    visit(root)
    return list({node.name(): node for node in order}.values())[::-1]
empty-entry-followed
    order = []
    def visit(node):
        if node in order:
            return
        for following, _ in node.next_functions:
            visit(following)
        order.append(node)
    visit(root)
    return order[::-1]
empty-entry
    order = []
    def visit(node):
        if node in order:
            return
        for following, _ in getattr(node, "next_functions", ()):
            visit(following)
        order.append(node)
    visit(root)
    return order[::-1]
no-node
    order = []
    def visit(node):
        if node is None or node.name() in order:
            return
        for following, _ in node.next_functions:
            visit(following)
        order.append(node.name())
    visit(root)
    return order[::-1]
type
    found, waiting = set(), [root]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [following for following, _ in node.next_functions]
    return found
none
    order = [root]
    order.append(root)
hooks-changed/adversary-2
    order, ready = [], [root]
    root.metadata["n"] = 0
    nodes = [root]
    for node in nodes:
        for f, _ in node.next_functions:
            if f is not None:
                if "n" not in f.metadata:
                    f.metadata["n"] = 0
                    nodes.append(f)
                f.metadata["n"] += 1
    while ready:
        node = ready.pop()
        order.append(node)
        for f, _ in node.next_functions:
            if f is not None:
                f.metadata["n"] -= 1
                if f.metadata["n"] == 0: ready.append(f)
    return order
node-missing/pairs-uneven
    count, todo, seen = {root: 0}, [root], {root}
    while todo:
        n = todo.pop()
        for m, _ in set(n.next_functions):
            if m is None:
                continue
            count[m] = count.get(m, 0) + 1
            if m not in seen:
                seen.add(m)
                todo.append(m)
    out, ready = [], [root]
    while ready:
        n = ready.pop()
        out.append(n)
        for m in {m for m, _ in n.next_functions if m is not None}:
            count[m] -= 1
            if count[m] == 0:
                ready.append(m)
    return out
too-early/ends-last
    out, todo, seen = [], [root], {root}
    while todo:
        n = todo.pop(0)
        out.append(n)
        for m, _ in n.next_functions:
            if m is not None and m not in seen:
                seen.add(m)
                todo.append(m)
    return [n for n in out if n.next_functions] + [n for n in out if not n.next_functions]
""",
    )
    | {
        "again/adversary-1": """
def backward_order(root, order=[]):
    order.clear()
    seen = set()
    def walk(n):
        if n is None or n in seen: return
        seen.add(n)
        for f, _ in n.next_functions: walk(f)
        order.append(n)
    walk(root)
    order.reverse()
    return order
""",
    },
}

WRONG["which_input"]["other-shape/one-entry"] = """start = mg.tensor([7.5])
"""

WRONG["mean_loss"]["graph-grows/leaf"] = """def mean_loss(model, batches):
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss.detach().requires_grad_()
    return total / len(batches)
"""

WRONG["mean_loss"]["views/in-place"] = """def mean_loss(model, batches):
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        loss.detach_()
        total += loss
    return total / len(batches)
"""

RIGHT = {
    "follow": [
        """
x = mg.tensor(2.0, requires_grad=True)
k = mg.tensor(5.0)
p = x * k
q = p.exp()
z = q + p
edges, found, waiting = z.grad_fn.next_functions, [], [z.grad_fn]
while waiting:
    node = waiting.pop()
    if node is not None and node not in found:
        found.append(node)
        waiting += [following for following, _ in node.next_functions]
graph = {
    "nodes": len(found),
    "edges_of_z": len(edges),
    "z_to_p": p.grad_fn in [node for node, _ in edges],
    "p_to_k": len([node for node, _ in p.grad_fn.next_functions if node]) == 2,
}
""",
        "import numpy as np\ngraph = dict(p_to_k=np.bool_(False), z_to_p=True, edges_of_z=2.0, nodes=np.int64(4))",
    ],
    "chain": [
        """
v = mg.tensor(0.0, requires_grad=True, dtype=mg.float64)
p = v * 3
e = mg.exp(p)
z = e * 5
before = v.grad
e.retain_grad()
z.backward()
slopes = {"before": before, "dz/de": e.grad, "de/dp": e, "dp/dv": 3, "v.grad": v.grad}
""",
        'slopes = {"v.grad": 15, "dp/dv": 3, "de/dp": 1, "dz/de": 5, "before": None}',
    ],
    "leaves_behind": [
        """
def leaves_behind(result):
    layer, seen = {result.grad_fn}, set()
    while layer:
        seen |= layer
        layer = {n for node in layer for n, _ in node.next_functions if n is not None} - seen
    return [n.variable for n in seen if hasattr(n, "variable")]
""",
        """
def leaves_behind(result):
    seen = set()
    def walk(node):
        if not isinstance(node, mg.autograd.graph.Node) or node in seen:
            return
        seen.add(node)
        for following, _ in node.next_functions:
            walk(following)
    walk(result.grad_fn)
    return {node.variable for node in seen if not node.next_functions}
""",
        """
def leaves_behind(tensor):
    nodes = [tensor.grad_fn] if isinstance(tensor, mg.Tensor) else []
    for node in nodes:
        nodes += [n for n, _ in node.next_functions if n is not None and n not in nodes]
    ends = dict.fromkeys(node for node in nodes if type(node).__name__ == "AccumulateGrad")
    return tuple(node.variable for node in ends)
""",
        """
def leaves_behind(t):
    level, found, seen = [t.grad_fn], [], []
    while level:
        ends = [n for n in level if n.name().endswith("AccumulateGrad") and n not in seen]
        found += [n.variable for n in dict.fromkeys(ends)]
        seen += level
        level = [n for node in level for n, _ in node.next_functions if n and n not in seen]
        level = list(dict.fromkeys(level))
    return found
""",
    ],
    "which_input": [
        "start = 7.5",
        "start = mg.tensor(8.0, dtype=mg.float64)",
        """
import numpy as np

def shrink(x):
    while x > 1:
        x = x - 3 if x > 4 else x / 2
    return x

for number in np.arange(0, 20, 0.25):
    y = shrink(mg.tensor(float(number), requires_grad=True))
    names, node = [], y.grad_fn
    while node is not None and node.next_functions:
        names.append(node.name()[:3])
        node = node.next_functions[0][0]
    if names == ["Div", "Sub", "Sub"]:
        start = number
""",
    ],
    "one_way": [
        """
def one_way(x):
    return (x.detach() + 1) * (x * 4)
""",
        """
def one_way(x):
    return (x.item() + 1) * 4 * x
""",
        """
def one_way(x):
    with mg.no_grad():
        factor = x + 1
    return 4 * x * factor
""",
        """
import numpy as np

def one_way(x):
    return mg.tensor(np.float64(x.item() + 1), dtype=x.dtype) * (x * 4)
""",
    ],
    "alive": [
        """
import weakref
w = mg.tensor(2.0, requires_grad=True)
a = w * 3
y = a * a
watch_a = weakref.ref(a)
del a
A = watch_a() is not None
total, watches = 0, []
for _ in range(3):
    error = w * 5 - 1
    watches.append(weakref.ref(error))
    total += error**2
B = watches[0]() is not None
y.backward()
C = watch_a() is not None
del total
lives = dict(A=A, B=B, C=C, D=watches[0]() is not None, E=watches[2]() is not None)
""",
        'lives = {letter: letter in "ABE" for letter in "EDCBA"}',
    ],
    "mean_loss": [
        """
def mean_loss(model, batches):
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        total += loss.detach()
    return total / len(batches)
""",
        """
def mean_loss(model, batches):
    losses = []
    for batch in batches:
        loss = model(batch)
        loss.backward()
        losses.append(float(loss))
    return mg.tensor(losses, dtype=mg.float64).mean()
""",
        """
def one_round(model, batch):
    loss = model(batch)
    loss.backward()
    return loss.item()

def mean_loss(model, batches):
    return sum(one_round(model, batch) for batch in batches) / len(batches)
""",
        """
def mean_loss(model, batches):
    total = mg.tensor(0.0)
    for batch in batches:
        loss = model(batch)
        total = total + loss.detach()
        loss.backward()
    return total.item() / len(batches)
""",
    ],
    "kinks": [
        """
def size(x):
    return x if x >= 0 else -x

def slope(f, numbers):
    t = mg.tensor(numbers, requires_grad=True, dtype=mg.float64)
    f(t).backward()
    return t.grad

slope_at = {
    "A": slope(mg.relu, 0.0),
    "B": slope(mg.abs, 0.0),
    "C": slope(mg.max, [3.0, 3.0, 1.0])[0],
    "D": slope(size, 0.0),
    "E": slope(lambda x: mg.relu(x) - mg.relu(-x), 0.0),
}
""",
        'slope_at = {"E": 0, "D": 1, "C": 1 / 2, "B": -0.0, "A": 0}',
    ],
    "ramp": [
        """
def ramp(x):
    return x.clamp(min=0)
""",
        """
def ramp(x):
    return x * (x >= 0)
""",
        """
def ramp(x):
    return x + mg.relu(-x)
""",
        """
def ramp(number):
    if number.item() < 0:
        return 0 * number
    return number
""",
        """
ramp = lambda x: mg.where(x < 0, 0.0, x)
""",
    ],
    "backward_order": [
        """
def backward_order(root):
    order, seen = [], set()
    def visit(node):
        if node is None or node in seen:
            return
        seen.add(node)
        for following, _ in node.next_functions:
            visit(following)
        order.append(node)
    visit(root)
    return order[::-1]
""",
        """
def backward_order(start):
    far = {start: 0}
    changed = True
    while changed:
        changed = False
        for node in list(far):
            for following, _ in node.next_functions:
                if following is not None and far.get(following, -1) <= far[node]:
                    far[following] = far[node] + 1
                    changed = True
    return tuple(sorted(far, key=far.get))
""",
        """
def backward_order(root):
    nodes = [root]
    for node in nodes:
        nodes += [n for n, _ in node.next_functions if n is not None and n not in nodes]
    nodes, order = list(dict.fromkeys(nodes)), []
    while nodes:
        told = {n for node in nodes for n, _ in node.next_functions}
        free = [node for node in nodes if node not in told]
        order += free
        nodes = [node for node in nodes if node not in free]
    return order
""",
    ],
}
