"""Programs that once showed a difference from PyTorch, shrunk; `torch` is either library.

`python -m tools.record_torch` writes down what PyTorch says after each; minigrad has to say the same.
"""

FOUND = {
    "view of strides that do not allow it": "a = torch.ones((2, 3), requires_grad=True)\nb = a.t().view(6)",
    "view of another size": "a = torch.ones((2, 3))\nb = a.view(5)\nb = a.reshape(-1, 4)\nb = a[:0].view(-1, 0)",
    "expand refused": "a = torch.ones((2, 3))\nb = a.expand(3)\nb = a.expand(3, 2, 4)\nb = a.expand(-1, 2, 3)",
    "permute refused": "a = torch.ones((2, 3))\nb = a.permute(1, 0, 2)\nb = a.permute(0, 0)\nb = a.permute(0, 2)",
    "dimensions of a 0-d tensor": """\
a = torch.tensor(2.0, requires_grad=True)
b = a.transpose(0, -1)
c = a.squeeze(0)
d = a.movedim(0, -1)
e = a.flip(0)
f = a.mean(0, True)
g = a.median(0)[0]
h = a.transpose(0, 1)
h = a.movedim(0, 1)
h = a.squeeze(1)
h = a.unbind(0)
h = a.chunk(2)
h = a.split(1)
h = a.diagonal()
h = a.tril()
h = a.argsort(1)
(b + c + d + e + f + g).sum().backward()""",
    "join refused": """\
a = torch.ones((2, 3))
b = torch.ones(3)
c = torch.cat([a, b])
c = torch.cat([a, torch.ones((3, 4))])
c = torch.cat([a, a], 2)
c = torch.cat([a, torch.tensor(1.0)])
c = torch.stack([a, b])
c = torch.stack([a, a], 3)""",
    "t of three dimensions": "a = torch.ones((2, 2, 3))\nb = a.t()\nb = a.diag()\nb = a.trace()\nb = a[0, 0].mT",
    "flatten of one dimension": "a = torch.ones(3, requires_grad=True)\nb = a.flatten()\nc = a.flatten(0, 1)",
    "a view of everything": "a = torch.ones((2, 3), requires_grad=True)\nb = a[...]\nb.sum().backward()",
    "chunks of nothing": "a = torch.ones((0, 3), requires_grad=True)\nb, c = a.chunk(2)",
    "addmm refused": """\
a = torch.ones((2, 3))
b = torch.addmm(a, a, a)
b = torch.addmm(a, a[0], a)
b = torch.addmm(torch.ones(4), a, a.t())
b = torch.outer(a, a[0])
b = torch.nn.functional.linear(a[0, 0], a)""",
    "steps have no slope that is recorded": """\
a = torch.tensor([1.5, -0.5], requires_grad=True)
b = a.ceil()
(b * b).sum().backward(retain_graph=True)
c = torch.autograd.grad(b.sum(), a, create_graph=True)[0]
d = torch.autograd.grad((a.floor() + a.trunc() + a.round() + a.sign()).sum(), a, create_graph=True)[0]""",
    "mse_loss of unequal shapes": """\
a = torch.tensor([[2.5], [0.0]], dtype=torch.float64, requires_grad=True)
b = torch.tensor([[0.75, -0.4, 1.5]], dtype=torch.float64, requires_grad=True)
c = torch.nn.functional.mse_loss(a, b)
c.backward()
d = torch.nn.functional.mse_loss(torch.ones((1, 3)), a[0, 0])
e = torch.nn.functional.mse_loss(b, torch.ones(2))""",
    "integers to a fractional power": """\
a = torch.tensor([1, 2])
b = a**0.5
c = a**-0.25
d = a**2
e = 1.5**a
f = a % 1.5""",
    "products of two types": """\
a = torch.ones((2, 3), requires_grad=True)
b = torch.ones((2, 3), dtype=torch.float64)
c = a @ b.t()
c = a.mm(b)
c = a @ b[0]
c = a[0] @ b[0]
c = a[0].dot(b[0, :2])
c = a[0] @ b.t()
c = a.unsqueeze(0) @ b.t()
c = a.unsqueeze(0) @ b.t().unsqueeze(0)
c = a.long() @ a.t()""",
    "masked_fill keeps the dtype": """\
a = torch.tensor([1, 2])
b = a.masked_fill(a > 1, 0.5)
c = (a > 1).masked_fill(a > 0, 2)""",
    "largest of nothing": """\
a = torch.ones((0, 3), requires_grad=True)
b = a.max()
b = a.min(0)
b = a.argmax()
b = a.median()
c = a.logsumexp(0)
d = a.softmax(0)
e = a.std(0)
f = a.mean(0)""",
    "indexing refused": """\
a = torch.ones((2, 3))
b = torch.tensor(2.0)
c = b[0]
c = b[1]
c = b[:1]
c = b[[0]]
b[0] = 1
c = a[0, 0, 0]
c = a[..., 5]
c = a[None, 0, 7]
c = a[:, [9]]
c = a[[0], [8]]
c = a[a[0] > 0]
c = a[:, torch.ones(5) > 0]
c = a[[0, 1], [0, 1, 2]]
c = a[torch.ones(2)]
c = torch.ones(0)[[0]]
a[[0]] = a.double()
a[[0]] = a[:1].double()
a[[7]] = torch.ones((3, 2))
b[b > 0] = a
a[0] = a
a[:1] = torch.ones((2, 2))
a[a > 0] = torch.tensor(2.0, dtype=torch.float64)""",
    "slices of everything": """\
a = torch.ones((2, 3), requires_grad=True) * 2
b = a[:]
c = a[:, :]
d = a[..., :3]
e = a[0, :3]
f = a[:, 0:9, None]
a[:2] = 3
a[..., :1] = 4""",
    "assigned values are viewed": """\
a = torch.ones((2, 3), requires_grad=True) * 2
b = torch.ones((1, 3), requires_grad=True)
a[...] = b
a[0] = b
a[:] = a
a[0] = b.sum()
a.sum().backward()""",
    "a whole leaf is a leaf": "a = torch.ones((1, 3), requires_grad=True)\na[:1] = 2\na[0] = 2\na[[0]] = 2",
    "dtypes of changes in place": """\
a = torch.tensor([1, 2])
b = torch.ones(2, dtype=torch.float64, requires_grad=True)
a.mul_(0.5)
a.sin_()
a.div_(2)
a.div_(a)
a.add_(b)
a.fill_(0.5)
a.copy_(b.detach())
c = a > 0
c.add_(1)
c.mul_(True)
c.copy_(b)
d = torch.ones(2, requires_grad=True) * 1
d.mul_(b)
d.copy_(b)
d.sum().backward()""",
    "shapes of changes in place": """\
a = torch.ones(3)
a.copy_(torch.ones(2))
a.copy_(torch.ones((2, 3)))
a.add_(torch.ones((2, 3)))
a.long().mul_(torch.ones((2, 3)))
a.fill_(torch.ones(1))
b = torch.ones(3, requires_grad=True)
a.add_(b)
a.t().add_(torch.ones(2))""",
    "memory that repeats": """\
a = torch.ones(3)
b = a.expand(2, 3)
b.fill_(2)
b.zero_()
b.add_(1)
b[1] = 5""",
    "flags of results": """\
a = torch.ones(2, requires_grad=True) * 2
a.requires_grad = True
a.requires_grad = False
a.requires_grad_()""",
    "grads of another dtype and shape": "a = torch.ones(2)\na.grad = torch.ones((2, 2), dtype=torch.float64)",
    "materialized under create_graph": """\
a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
c = torch.autograd.grad((a * a).sum(), [a, b], create_graph=True, materialize_grads=True)[1]""",
    "views without a record lead nowhere": """\
a = torch.ones(3, requires_grad=True)
with torch.no_grad(): b = a[1:]
c = (b * b).sum()
b.backward(torch.ones(2))
d = torch.autograd.grad(c, b, allow_unused=True)[0]
b.requires_grad_(False)
a.detach_()""",
    "a view behind its base": """\
a = torch.ones((3, 2))
with torch.no_grad(): b = a[1:]
c = a[:1]
a[[0]] = 0.5
a.requires_grad = True""",
    "how a view was made last": """\
a = torch.ones((2, 3), requires_grad=True) * 2
with torch.no_grad(): b = a[0]
c = b[1:]
c.add_(1)
b.unbind(0)[0].add_(1)
with torch.no_grad(): d = a.unbind(0)[0][1:]
d.add_(1)""",
    "data of another type": """\
a = torch.ones(2, requires_grad=True)
b = a * 2
a.data = torch.ones(2, dtype=torch.float64)
c = a * 2
(b.sum() + c.sum()).backward()""",
    "inputs of a backward run": """\
a = torch.ones(2, requires_grad=True)
b, c = SumAndDifference.apply(a, a * 2)
(b * c).sum().backward(inputs=[c])
(b * c).sum().backward(inputs=[b])
d = Wrong.apply(a)
(d * d).sum().backward(inputs=[d])
e = a.exp()
e.retain_grad()
handle = e.register_hook(doubled)
e.sum().backward(inputs=[e], retain_graph=True)
e.sum().backward(inputs=[c], retain_graph=True)
e.backward(torch.ones(2), inputs=[d])""",
    "vector by matrix": """\
a = torch.ones(2, requires_grad=True)
b = torch.ones((2, 3), requires_grad=True)
c = a @ b
d = torch.nn.functional.linear(a, b.t())""",
    "mark_dirty of a view": """\
a = torch.ones((2, 2), requires_grad=True)
b = Tripled.apply(a[0])
c = a * 2
d = Tripled.apply(c[0])
e = Part.apply(c)
e = Tripled.apply(e)
c.sum().backward()""",
    "powers and remainders": """\
a = torch.tensor([2, -3, 1, -1])
b = a ** torch.tensor([-1, -2, -3, -3])
c = 2 ** a
d = (a > 1) ** True
e = 0.5 - a
f = (torch.tensor([1.0, -0.5]) % -0.25).reciprocal()
g = (a > 1).sign()""",
    "a place in nothing": "a = torch.ones((1, 0))\na[[0, 1]] = a\nb = a[[0, 1]]\na[:, [0]] = 1",
    "a view without a record that is made a leaf": """\
a = torch.ones((2, 3), requires_grad=True) * 2
with torch.no_grad(): b = a[0]
c = b.exp()
b.requires_grad_()
d = b.exp()
(c + d).sum().backward()""",
    "extremes beside nan": """\
a = torch.tensor([float("nan"), 1.0, 2.0], requires_grad=True)
b = torch.tensor([1.0, 1.0, 3.0], requires_grad=True)
(torch.maximum(a, b) + torch.minimum(a, b)).sum().backward()
c = a.sign()
d = a.median(0)""",
    "hooks after a node see what broadcasting is undone of, and all outputs": """\
a = torch.tensor([[1.5], [0.5]], requires_grad=True)
b = torch.tensor([1.0, 2.0], requires_grad=True)
c = b - a
c.grad_fn.register_hook(node_seen)
d = c.unbind(0)[0]
d.grad_fn.register_hook(node_seen)
d.backward(torch.ones_like(d))""",
    "a view that is of no use any more, asked for its gradient": """\
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = Same.apply(a)
b.detach().add_(0.5)
c = torch.autograd.grad(b, a)[0]""",
    "memory that repeats is written to in one place": """\
a = torch.tensor([[0.5], [1.0]]).unsqueeze(0).expand(2, -1, -1)
a[[0]] = 2
a[a > 1] = 3
b = torch.ones(3).expand(2, 3)
b[:, 0] = 2
b[0] = 5""",
    "a view that is of no use any more is asked to require grad": """\
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = Part.apply(a * 1)
with torch.no_grad(): b.fill_(1)
b.requires_grad_()
c = b * 2""",
    "a view of what was detached in place": """\
a = torch.tensor([1.0, 2.0], requires_grad=True) * 1
b = a.reshape((2,))
a.detach_()
with torch.no_grad(): c = b[:1]""",
    "numbers that fit no dtype": """\
a = torch.tensor([3, 0], dtype=torch.uint8)
a.fill_(-1)
a.fill_(300)
a[:1] = -1
a[a > 0] = -0.25
b = a * 300
c = a > -1
d = a.clamp(-1, 1)
e = torch.full_like(a, inf)
f = a % -1""",
    "numbers beside bools": """\
a = torch.tensor([True, False])
b = a % 2
c = 1 % a
d = a.add(a, alpha=True)
e = torch.ones(2).add(a, alpha=True)
f = a.isclose(a)
g = a.long().sub(1, alpha=0.5)""",
    "quotients rounded down": """\
a = torch.tensor([3.0, 0.5], requires_grad=True)
b = a.div(torch.tensor([0.3, 0.0]), rounding_mode="floor")
c = a // 2
d = 5 % a
d.sum().backward()""",
    "both ends of an interpolation": """\
a = torch.tensor([inf, 1.0])
b = torch.lerp(a, torch.tensor([1.0, inf]), 1.0)
c = torch.lerp(torch.ones(2), a, torch.tensor([0.25, 0.75]))""",
    "extremes of nothing": """\
a = torch.zeros((0, 2))
b = a.amax()
b = a.amax(0)
b = a.amin((0, 1))
b = a.norm(inf)
b = a[0:0].expand(())""",
    "several hooks, and none came": """\
a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
c = Cut.apply(a * b)
d = (c + a).sum()
torch.autograd.graph.register_multi_grad_hook([a, b, c], several)
torch.autograd.graph.register_multi_grad_hook([a, torch.ones(1)], seen, mode="any")
a.grad_fn
d.backward()""",
    "one hook on a result twice": """\
a = torch.ones(2, requires_grad=True)
b = a * 2
torch.autograd.graph.register_multi_grad_hook([b, b], several)
c = torch.autograd.grad((b + a).sum(), a)[0]""",
    "products by letters, one of them twice with two lengths": """\
a = torch.ones(2, 3, requires_grad=True)
b = torch.einsum("ii,i->i", a, a[0])""",
    "products by letters, under an ellipsis of two lengths": """\
a = torch.ones(2, 3, requires_grad=True)
b = torch.einsum("...,ii...->...", a[:, 0], torch.ones(2, 2, 3))""",
    "products by letters": """\
e = torch.einsum("ij,kj->ki", torch.ones((0, 3)), torch.ones((2, 3)))
a = torch.tensor([[1.0, 2.0, 0.5], [0.25, -1.0, 3.0]], requires_grad=True)
b = torch.einsum("ij,kj->ki", a, a)
c = torch.einsum("ij,ij,j->i", a, a, a[0])
d = torch.einsum("ij,ij->ij", a, a)
f = torch.einsum("iij,jj->ji", torch.stack([a, a]), a.t() @ a)
g = f.grad_fn.next_functions[0][0].next_functions
(b.sum() + c.sum() + d.sum()).backward()""",
    "saved by two derivatives": """\
a = torch.ones(2, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(packed, unpacked): b = torch.lerp(torch.ones(2), torch.zeros(2), a)
with torch.autograd.graph.saved_tensors_hooks(packed, unpacked): c = torch.maximum(a, torch.zeros(2))
with torch.autograd.graph.saved_tensors_hooks(packed, unpacked): d = a / torch.ones(2)
(b + c + d).sum().backward()""",
    "a linear layer of vectors": """\
a = torch.ones(3, requires_grad=True)
b = torch.nn.functional.linear(a, a, a[0])
b.backward()""",
}
