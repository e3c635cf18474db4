"""Programs that once showed a difference from PyTorch, shrunk; `torch` is either library.

`python tests/record_torch.py` writes down what PyTorch says after each; minigrad has to say the same.
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
}
