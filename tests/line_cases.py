"""One-line programs over every name of the public face, with its edge cases (`m` is either of the two).

What is to be compared is the last part's answer: values, dtype, shape, flag and node of every tensor in it, the
refusal, and the warnings on the way. `python -m tools.record_torch` writes down what PyTorch answers.
"""

import warnings

# ruff: noqa: E501
X = [[0.5, 1.25, -0.75], [2.0, -1.5, 0.3]]
Y = [[1.5, -0.4, 0.8], [-2.0, 0.7, 1.1]]

# Parts are separated by ";;"; the last is an expression.
LINES = r"""
# conversions
float(s)
float(m.tensor(2.0))
int(m.tensor(2.7))
int(s)
bool(s)
complex(m.tensor(2.0))
int(x)
bool(m.tensor([]))
bool(m.ones(1))
m.tensor(3).__index__()
[1,2,3][m.tensor(1)]
[1,2,3][m.tensor(1.0)]
[1,2,3][m.tensor([1, 2])]
m.tensor([2.5]).item()
m.tensor([True]).item()
m.tensor([]).item()
m.ones(2,3).tolist()
m.tensor(1).tolist()
len(m.ones(4, 2))
len(m.tensor(1.0))
m.ones(2,3).size()
m.ones(2,3).size(-1)
m.ones(2,3).size(2)
m.ones(2,3).size(dim=0)
x.long()
x.int()
x.bool()
x.float()
x.double() is x
x.to(m.float32)
x.to(dtype=m.float32)
x.to(m.float64) is x
x.to(f32)
x.type()
f32.type(), i3.type()
x.type(m.float32)
x.half()
m.tensor([1,2]).float()
m.tensor([1.5, 0.0]).bool()
m.ones(2).to("cpu")
f"{m.tensor(1.5):.3f}"
f"{s.detach()}"
format(m.ones(2))
str(x)
repr(m.zeros(0)), repr(m.zeros(2,0)), repr(m.tensor(True)), repr(m.tensor([1, 2])), repr(m.tensor(2.0, requires_grad=True))
repr(m.tensor([1.5], dtype=m.float64)), repr(m.tensor([1], dtype=m.int32))
repr(x * 2)
repr(m.tensor([float('nan'), 1.0, float('inf')]))
repr(m.arange(2000.))
repr(m.tensor([1e-8, 1.0])), repr(m.tensor([1e10, 1.0]))
# factories
m.tensor([[1, 2], [3, 4]]), m.tensor(1.5), m.tensor(True), m.tensor([1, 2.5]), m.tensor([True, 2])
m.tensor([1, 2], dtype=m.float64)
m.tensor([x[0, 0], 1.0])
m.tensor(m.ones(2))
m.tensor(x)
m.tensor([[1, 2], [3]])
m.tensor("a")
m.tensor(None)
m.tensor([None])
m.ones(2, 3), m.ones((2, 3)), m.ones([2]), m.ones(()), m.ones(2, dtype=m.int64), m.ones(m.Size((2,)))
m.ones(2, 3, requires_grad=True)
m.ones(size=(2, 3))
m.zeros(size=(2,))
m.randn(size=(2,)).shape
m.ones(-1)
m.ones(2.5)
m.zeros(0, 3)
m.full((2,), 3), m.full((2,), 3.0), m.full((2,), True), m.full([2], 1.5, dtype=m.float64), m.full((), 2.0)
m.full((2,), 3.0, requires_grad=True)
m.arange(5), m.arange(1, 4), m.arange(0, 1, 0.25), m.arange(3.0), m.arange(5, 0, -2), m.arange(0)
m.arange(start=1, end=3)
m.arange(1, 4, dtype=m.float32, requires_grad=True)
m.arange(5, 0)
m.eye(2), m.eye(2, 3)
m.eye(2, requires_grad=True)
m.linspace(0, 1, 5), m.linspace(0, 1, steps=3)
m.empty(2, 3).shape, m.empty((2,), dtype=m.int64).dtype
m.ones_like(i3), m.zeros_like(x), m.full_like(i3, 2), m.full_like(x, 2), m.ones_like(x, requires_grad=True), m.zeros_like(i3, dtype=m.float32)
m.randn_like(x).shape, m.rand_like(x).dtype, m.randn_like(x, requires_grad=True).requires_grad, m.rand_like(f32, dtype=m.float64).dtype
m.randn(2, 3).shape, m.rand(()).shape, m.randn([2]).shape, m.rand(2, dtype=m.float64).dtype, m.randn(2, requires_grad=True).is_leaf
m.rand(3, dtype=m.int64)
m.randn_like(i3)
m.manual_seed(3);; a = m.rand(3);; m.manual_seed(3);; bool((a == m.rand(3)).all())
m.Tensor([1, 2]), m.Tensor(2, 3).shape, m.Tensor().shape, m.Tensor([]).dtype
m.Tensor(m.ones(2, dtype=m.float64))
m.Tensor(3).shape
isinstance(x, m.Tensor), m.is_tensor(1)
import numpy as np;; m.from_numpy(np.ones(2))
import numpy as np;; m.from_numpy(np.ones(2, dtype='complex64').real)
import numpy as np;; m.from_numpy([1])
import numpy as np;; m.tensor(np.float32(2)), m.tensor(np.ones(2, dtype='float32')), m.tensor([np.float64(1)])
import numpy as np;; m.ones(3) * np.float64(2)
import numpy as np;; np.float64(2) * m.ones(3)
import numpy as np;; np.asarray(z), np.asarray(z).dtype
import numpy as np;; np.asarray(x)
# operators
x // 2
2 // z
z // m.tensor([2.0, 3.0, 4.0])
i3 // 2, -i3 // 2, i3 // m.tensor([2, 2, 2])
i3 // 0
i3 % 2, -i3 % 3, 5 % i3
i3 / 2, i3 / i3, i3 + 1.5, i3 * True, i3 - 1, 1 - i3
i3 ** 2, i3 ** 2.0, i3 ** -1
2 ** i3
i3 ** m.tensor([1, 2, 3])
x == None
x != None
x == "a"
x == 1
m.ones(2) == m.ones(3)
x < y
x > 0.5
i3 == 1.0
m.tensor([True, False]) + m.tensor([True, True])
m.tensor([True, False]) - m.tensor([True, True])
m.tensor([True, False]) * 2
-m.tensor([True])
+x
~m.tensor([True, False]), ~i3
~x
m.tensor([True]) & m.tensor([False]), i3 & 1, i3 | 4, i3 ^ 1
x & 1
m.ones(2) & m.ones(2)
(x > 0) & (y > 0)
1.5 * m.tensor([True])
m.tensor(1.0, dtype=m.float64) + m.ones(2)
m.ones(2, dtype=m.float64) + m.ones(2)
m.tensor(2) * m.ones(2), m.tensor(2.5) * i3
x @ 2
x @ y
x @ y.t()
2 @ x
x @ v, v @ v
abs(x), -x
x.add(y, alpha=2)
x.sub(y, alpha=2)
m.add(x, 1, alpha=3)
m.add(1, x)
m.add(1, 2)
m.sub(1, x)
m.mul(2, x)
m.mul(2, 3)
m.div(x, 2, rounding_mode="floor")
m.div(x, y, rounding_mode="trunc")
m.div(1, x)
m.div(i3, 2), m.div(x, y)
m.exp(2.0)
m.sin(1)
m.pow(x, 2), m.pow(2, x)
m.mul(m.ones(3), m.ones(3), out=m.zeros(3))
m.mul(leaf(), leaf(), out=m.zeros(3))
m.add(leaf(), leaf(), out=m.zeros(3))
m.exp(m.zeros(2), out=m.zeros(2))
x.add(other=y)
x.mul(other=2.0)
m.mul(input=x, other=y)
m.sum(input=x)
m.add(x, other=1)
x.pow(exponent=2)
m.sum(x, 0), m.sum(x, dim=1, keepdim=True), m.sum(x, (0, 1)), x.sum(-1), x.sum([0]), x.sum(dim=())
x.sum(0, dtype=m.float32)
i3.sum(), (x > 0).sum(), i3.sum(dtype=m.float32), m.tensor([True, True]).sum(0)
x.sum(5)
x.sum(axis=0)
x.sum(0, keepdims=True)
x.mean(), x.mean(0), x.mean((0, 1), keepdim=True), f32.mean(dtype=m.float64)
i3.float().mean()
i3.mean()
x.std(), x.std(0), x.std(0, keepdim=True), x.std(unbiased=False), x.std(0, False), x.std(0, True), x.std(0, True, True), x.std(dim=(0, 1)), x.std(correction=0)
m.std(x, 0), m.var(x)
rg(2.0).std()
rg([2.0]).std()
grads(lambda a: a.std(0, False), x)
x.max(), x.min(), x.max(0), x.min(1), x.max(1, True), x.max(dim=0), m.max(x, y), x.max(y)
m.tensor([]).max()
m.zeros(0, 3).max(0)
m.zeros(3, 0).max(0)
m.zeros(2, 0).max(1)
x.max(5)
x.argmax(), x.argmax(0), x.argmin(1, keepdim=True), x.argmin(), x.argmax(dim=-1)
m.argmax(x), m.argmax(x, dim=1)
m.tensor([]).argmax()
m.tensor([1.0, float('nan'), 2.0]).max(), m.tensor([1.0, float('nan'), 2.0]).argmax()
m.tensor([1., 3., 3.]).argmax(), m.tensor([1., 3., 3.]).max(0)
x.median(), x.median(0), x.median(1, True)
rg([1., 2., 2., 2., 3.]).median()
grads(lambda a: a.median(), rg([1., 2., 2., 2., 3.]))
grads(lambda a: a.median(0)[0], rg([1., 2., 2., 2., 3.]))
m.tensor([3., 1., 3., 1.]).median(0), m.tensor([2., 2., 1.]).median(0)
m.tensor([1.0, float('nan')]).median()
m.tensor([]).median()
rg(2.0).median(0)
x.sort(), x.sort(0, True), x.sort(descending=True), x.sort(dim=0), x.sort(stable=True), x.sort(dim=1, stable=True, descending=True)
m.sort(x), m.sort(x, 0, descending=True), m.sort(x, stable=True)
m.tensor([2, 1, 2]).sort(stable=True), m.tensor([2., 1., 2., 1.]).sort(descending=True, stable=True)
m.tensor([1.0, float('nan'), 0.0]).sort(), m.tensor([1.0, float('nan'), 0.0]).sort(descending=True)
m.tensor(3.0).sort()
m.tensor([True, False]).sort(), m.tensor([3, 1], dtype=m.uint8).sort(descending=True)
x.argsort(), x.argsort(0), x.argsort(descending=True), x.argsort(dim=-1, descending=True, stable=True), m.argsort(x, 0)
x.norm(), x.norm(1), x.norm(2, 0), x.norm(p=2, dim=1, keepdim=True), x.norm(float('inf')), x.norm(float('-inf')), x.norm(0), x.norm('fro'), x.norm(dim=(0, 1)), x.norm(3)
grads(lambda a: a.norm(0), x)
grads(lambda a: a.norm(-1), x)
grads(lambda a: a.norm(0.5), x)
grads(lambda a: a.norm(1), rg([0.0, 1.0]))
m.norm(x), m.norm(x, dim=0), m.norm(x, p=1)
i3.norm()
x.prod(), x.prod(0), x.prod(1, True), i3.prod(), m.prod(x, 0), x.prod(dim=1), m.tensor([True, True]).prod()
grads(lambda a: a.prod(), rg([0.0, 1.0, 2.0]))
grads(lambda a: a.prod(), rg([0.0, 0.0, 2.0]))
grads(lambda a: a.prod(1), rg([[0.0, 3.0], [1.0, 2.0]]))
grads(lambda a: a.prod(0), s)
x.cumsum(0), x.cumsum(dim=1), i3.cumsum(0), m.cumsum(x, 1), (x > 0).cumsum(0), s.cumsum(0)
x.cumprod(0), x.cumprod(dim=1), m.cumprod(x, 1)
x.cumsum(3)
x.all(), (x > 0).all(), (x > 0).all(0), (x > 0).all(1, True), i3.all(), (x > 5).any(), (x > 0).any(0), m.all(x > 0)
x.softmax(0), x.softmax(-1), x.log_softmax(1), m.softmax(x, 1), F.softmax(x, -1), F.log_softmax(x, dim=0), F.softmax(x, dim=1, dtype=m.float32)
i3.softmax(0)
i3.log_softmax(0)
x.softmax(dim=1)
x.softmax(3)
x.logsumexp(0), x.logsumexp(1, True), x.logsumexp((0, 1)), m.logsumexp(x, 0), i3.logsumexp(0)
m.tensor([1000., 1000.]).logsumexp(0), m.tensor([float('inf'), 1.]).logsumexp(0)
grads(lambda a: a.logsumexp((0, 1)), x)
grads(lambda a: a.softmax(1), x)
# clamp
x.clamp(0, 1), x.clamp(min=0), x.clamp(max=0.5), x.clamp(min=0.1, max=0.5), m.clamp(x, 0, 1), x.clamp(1, 0)
x.clamp(min=y), x.clamp(y), x.clamp(max=y), x.clamp(y, y + 1)
grads(lambda a, b: a.clamp(min=b), x, y)
grads(lambda a, b: a.clamp(max=b), x, y)
grads(lambda a, b: a.clamp(b, b + 0.5), x, y)
grads(lambda a, b: a.clamp(b + 1, b), x, y)
grads(lambda a, b: a.clamp(min=b), rg([1.0, 2.0]), rg([1.0, 3.0]))
x.clamp()
i3.clamp(2), i3.clamp(1.5), i3.clamp(max=2)
rg([float('nan'), 1.0]).clamp(0, 1)
grads(lambda a: a.clamp(0, 1), rg([0.0, 1.0, 0.5, 2.0]))
# pointwise edge
grads(lambda a: a ** 0, rg([0.0, 1.0]))
grads(lambda a: a ** 2, rg([0.0, -1.0]))
grads(lambda a: a ** 1, rg([0.0, 4.0]))
grads(lambda a: a.abs(), rg([0.0, -1.0]))
grads(lambda a: a.relu(), rg([0.0, -1.0, 2.0]))
grads(lambda a: a.sigmoid(), rg([-1000.0, 1000.0, 0.0]))
grads(lambda a: a.expm1(), rg([1e-10]))
grads(lambda a: a.log1p(), rg([1e-10]))
grads(lambda a: a.erf(), x)
grads(lambda a: a.rsqrt(), rg([4.0]))
grads(lambda a: a.tan(), x)
grads(lambda a: a.sign() + a.floor() + a.ceil() + a.round() + a.trunc(), x)
grads(lambda a: a // 0.4, x)
grads(lambda a: a % 0.4, x)
grads(lambda a, b: m.maximum(a, b), rg([1.0, 2.0]), rg([1.0, 3.0]))
grads(lambda a, b: m.minimum(a, b), rg([1.0, 2.0]), rg([1.0, 3.0]))
grads(lambda a: a.max(), rg([1.0, 1.0, 0.0]))
grads(lambda a: a.max(0)[0], rg([1.0, 1.0, 0.0]))
grads(lambda a: a.min(), rg([1.0, 1.0, 2.0]))
m.floor(i3), m.ceil(i3), m.round(i3), i3.sign()
(x > 0).exp()
i3.rsqrt(), i3.erf(), i3.expm1(), i3.log1p(), i3.tan(), i3.cosh()
m.where(x > 0, x, y), m.where(x > 0, x, 0.0), m.where(x > 0, 1.0, y), m.where(x > 0, 1, 2), m.where(x > 0, 1.0, 2.0)
x.where(x > 0, y)
m.where(x, x, y)
m.where(m.tensor([1, 0]), m.ones(2), m.zeros(2))
m.where(x > 0, x, f32)
m.lerp(x, y, 0.5), x.lerp(y, y), m.lerp(x, y, s)
x.masked_fill(x > 0, 1.0), x.masked_fill(x > 0, s), x.masked_fill(m.tensor([True, False, True]), 0)
x.masked_fill(i3, 1.0)
x.masked_fill(x > 0, v)
i3.masked_fill(i3 > 1, 2.5)
m.outer(v, v), v.outer(v)
m.outer(x, v)
m.addmm(v, x.t() @ x, x.t() @ y), m.addmm(v, x.t(), x, beta=2, alpha=3), v.addmm(x.t(), x)
m.addmm(x, x, x)
m.einsum("ij,jk", x, y)
m.diag(v), m.diag(x), m.diag(x, 1), m.diag(v, -1), v.diag()
m.diag(m.ones(2,2,2))
x.trace(), x.tril(), x.triu(1), x.tril(-1), m.tril(x), m.triu(x)
v.trace()
x.diagonal(), x.diagonal(1), x.diagonal(offset=-1), x.diagonal(dim1=1, dim2=0)
m.sign(x), m.neg(x), m.abs(x), m.relu(x), m.square(x)
# nn.functional
F.relu(x), F.sigmoid(x), F.tanh(x)
F.leaky_relu(x), F.leaky_relu(x, 0.1), F.leaky_relu(x, negative_slope=0.2)
F.softplus(x), F.softplus(x, beta=2), F.softplus(x, threshold=1), F.softplus(m.tensor([30.0, -30.0, 1000.0]))
grads(lambda a: F.softplus(a), x)
grads(lambda a: F.leaky_relu(a, 0.1), rg([0.0, 1.0, -1.0]))
F.mse_loss(x, y), F.mse_loss(x, y, reduction='sum'), F.mse_loss(x, y, reduction='none'), F.mse_loss(x, v)
F.mse_loss(x, y, reduction='max')
F.linear(x, y), F.linear(x, y, m.ones(2, dtype=m.float64)), F.linear(v, y), F.linear(v, y, m.ones(2, dtype=m.float64))
F.linear(m.ones(2, 2, 3, dtype=m.float64), y, m.ones(2, dtype=m.float64))
F.linear(m.ones(2, 2, 3, dtype=m.float64, requires_grad=True), y, rg([1.0, 2.0])).grad_fn.name()
F.linear(m.ones(2, 2, 3, dtype=m.float64, requires_grad=True), y).grad_fn.name()
F.linear(v, y, rg([1.0, 2.0])).grad_fn.name()
F.linear(v, v)
F.linear(x, x.t())
w = m.ones(5, 3, dtype=m.float64, requires_grad=True);; g = m.autograd.grad(F.linear(x, w, m.ones(5, dtype=m.float64)).sum(), w, create_graph=True)[0];; (g, g.grad_fn.name(), g.stride(), g._is_view())
w = m.ones(5, 3, dtype=m.float64, requires_grad=True);; g = m.autograd.grad(((x @ w.t()) ** 2).sum(), w, create_graph=True)[0];; (g, g.grad_fn.name(), g.grad_fn.next_functions[0][0].name(), g.stride())
x.itemsize, f32.itemsize
F.linear(f32, y)
F.conv2d(m.ones(1, 2, 4, 4), m.ones(3, 2, 2, 2), m.ones(3), stride=(1, 2), padding=(1, 0))
F.conv2d(m.ones(1, 3, 4, 4), m.ones(3, 2, 2, 2))
F.conv2d(m.ones(1, 2, 1, 1), m.ones(3, 2, 2, 2))
F.conv2d(m.ones(1, 2, 4, 4, requires_grad=True), m.ones(3, 2, 2, 2), m.ones(3)).grad_fn.name()
grads(lambda a, b, c: F.conv2d(a, b, c, stride=(2, 1), padding=(0, 1)), m.arange(16.).reshape(1, 1, 4, 4).double().requires_grad_(), m.ones(1, 1, 2, 2, dtype=m.float64, requires_grad=True), rg([1.0]))
F.conv_transpose2d(m.ones(1, 2, 2, 2), m.ones(2, 1, 2, 2), m.ones(1), stride=2, padding=1)
grads(lambda a, b, c: F.conv_transpose2d(a, b, c, stride=(2, 1), padding=(0, 1)), m.arange(9.).reshape(1, 1, 3, 3).double().requires_grad_(), m.ones(1, 1, 2, 2, dtype=m.float64, requires_grad=True), rg([1.0]))
F.conv2d(m.ones(1, 2, 4, 4, requires_grad=True), m.ones(3, 2, 2, 2)).grad_fn._saved_stride
F.conv2d(m.ones(1, 2, 4, 4, requires_grad=True), m.ones(3, 2, 2, 2)).grad_fn._saved_padding
F.cross_entropy(x, m.tensor([0, 2])), F.nll_loss(x, m.tensor([0, 2])), F.cross_entropy(x, m.tensor([0, 2]), reduction='sum'), F.cross_entropy(v, m.tensor(1))
F.cross_entropy(x, m.tensor([0, 3]))
grads(lambda a: a.var(0, correction=2), rg(2.0)), grads(lambda a: a.var(correction=3), rg([3.0, 1.0])), grads(lambda a: a.std((), correction=3), rg([3.0, 1.0]))
grads(lambda a: F.cross_entropy(a, m.tensor(0), ignore_index=0), m.zeros(0, requires_grad=True))
grads(lambda a: F.cross_entropy(a, m.tensor([1, 1]), ignore_index=1), m.zeros(2, 0, requires_grad=True))
x.t().reshape(-2), x.t().reshape(6)
# shapes
x.view(6), x.view(3, -1), x.view((3, 2)), x.view(-1), x.view([6]), m.ones(()).view(1)
x.view(4)
x.view(-1, -1)
x.view(-1, 4)
x.view(0)
x.view(4, -2)
x.t().view(6)
x.t().view(-1)
x.expand(2, 2, 3).view(-1)
x.t().view(3, 2)
x.t().view(3, 1, 2)
x.unsqueeze(0).transpose(0, 1).view(6)
x[:, :2].view(4)
x[:, :2].view(2, 2, 1)
x.reshape(6), x.reshape(3, -1), x.reshape((6,)), m.reshape(x, (6,)), x.t().reshape(-1), m.reshape(x, (-1,))
x.reshape(5)
x.reshape(-1, 5)
m.zeros(0).reshape(-1, 0)
m.zeros(0).view(-1, 0)
m.zeros(0, 3).view(-1)
x.view_as(y), x.view_as(m.ones(6)), x.expand_as(m.ones(2, 2, 3))
x.view(size=(6,))
x.expand(2, 2, 3), v.expand(2, -1), v.expand((2, 3)), s.expand(2)
v.expand(4)
x.expand(3)
v.expand(-1, 3)
x.t(), v.t(), s.t()
m.ones(2, 2, 2).t()
x.T, v.T, m.ones(2, 3, 4).permute(2, 0, 1).shape
x.mT.shape
v.mT
x.transpose(0, 1), x.transpose(-1, 0), m.transpose(x, 0, 1), x.transpose(dim0=0, dim1=1), s.transpose(0, 0)
x.transpose(0, 2)
x.permute(1, 0), x.permute((1, 0)), x.permute(-1, 0), m.permute(x, (1, 0)), x.permute(dims=(1, 0))
x.permute(0)
x.permute(0, 0)
x.unsqueeze(0), x.unsqueeze(-1), x.unsqueeze(2), m.unsqueeze(x, 1), s.unsqueeze(0)
x.unsqueeze(4)
x.unsqueeze(0).squeeze(), x.unsqueeze(0).squeeze(0), x.squeeze(0), x.squeeze(), m.squeeze(x.unsqueeze(1), 1), m.ones(1, 2, 1, 3).squeeze((0, 2)), s.squeeze(), s.squeeze(0)
x.unsqueeze(1).squeeze(-2)
x.squeeze(3)
x.flatten(), m.flatten(x), m.ones(2, 3, 4).flatten(1).shape, m.ones(2, 3, 4).flatten(0, 1).shape, s.flatten(), m.ones(2, 3, 4).flatten(start_dim=1, end_dim=2).shape
x.flatten(1, 0)
x.flatten().grad_fn.name(), x.t().flatten().grad_fn.name(), v.flatten() is v
x.repeat(2, 1), v.repeat(2), x.repeat((1, 2)), v.repeat(2, 2), x.repeat(0, 1)
x.repeat(2)
m.cat([x, y]), m.cat((x, y), 1), m.cat([x, y], dim=-1), m.cat([x, f32]), m.cat([x, m.zeros(0)]), m.cat([i3, v])
m.cat([])
m.cat([x, v])
m.cat([x, m.ones(3, 2)])
m.cat(x)
m.cat([x, 1])
m.cat([s, s])
m.cat([x, y], 2)
m.stack([x, y]), m.stack([x, y], 1), m.stack((v, v), -1), m.stack([s, s])
m.stack([x, v])
m.stack([])
m.stack([x, y], 3)
x.split(1), x.split(2, 1), x.split([1, 2], 1), m.split(x, 1), m.split(x, 2, dim=1), x.split(split_size=1)
x.split(0)
x.split([1, 1], 1)
x.split(-1)
x.chunk(2), x.chunk(2, 1), x.chunk(5), m.chunk(x, 2), x.chunk(chunks=2, dim=1)
x.chunk(0)
x.unbind(), x.unbind(1), m.unbind(x), s.unbind()
x.select(0, 1), x.select(-1, -1), x.select(dim=0, index=1), x.narrow(0, 1, 1), x.narrow(1, -2, 2), x.narrow(dim=1, start=0, length=2), m.narrow(x, 0, 0, 1)
x.select(0, 5)
x.select(3, 0)
s.select(0, 0)
x.narrow(0, 1, 5)
x.narrow(0, 3, 1)
x.narrow(0, 0, -1)
x.unfold(1, 2, 1), v.unfold(0, 2, 2), v.unfold(-1, 3, 1), x.unfold(dimension=0, size=1, step=1)
v.unfold(0, 4, 1)
v.unfold(0, 2, 0)
grads(lambda a: a.unfold(1, 2, 1), x)
x.flip(0), x.flip(0, 1), x.flip((1,)), m.flip(x, (0,)), x.flip(-1), m.flip(x, dims=(0,))
x.flip(2)
x.roll(1), x.roll(1, 0), x.roll((1, 1), (0, 1)), m.roll(x, -1, 1), x.roll(shifts=1, dims=0)
x.gather(1, m.tensor([[0, 2], [1, 1]])), m.gather(x, 0, m.tensor([[0, 1]])), x.gather(dim=1, index=m.tensor([[0], [1]])), v.gather(0, m.tensor([0, 0]))
x.gather(1, m.tensor([[0, 5], [1, 1]]))
x.gather(1, m.tensor([[0, -1], [1, 1]]))
x.gather(1, m.tensor([0, 1]))
x.gather(0, m.tensor([[0, 1, 1, 1]]))
x.gather(1, m.tensor([[0., 1.]]))
x.gather(3, m.tensor([[0, 1]]))
s.gather(0, m.tensor(0))
x.index_select(0, m.tensor([1, 1])), m.index_select(x, 1, m.tensor([0])), x.index_select(dim=0, index=m.tensor([0]))
x.index_select(0, m.tensor([5]))
x.index_select(0, m.tensor([[0]]))
x.index_select(0, m.tensor([0.0]))
x.scatter_add(1, m.tensor([[0, 0, 1], [1, 2, 1]]), y), m.scatter_add(x, 0, m.tensor([[0, 0, 1]]), y)
x.scatter_add(1, m.tensor([[0, 5]]), y)
grads(lambda a, b: a.scatter_add(0, m.tensor([[0, 0, 1]]), b), x, y)
# indexing
x[0], x[-1], x[0, 1], x[:, 1], x[..., 0], x[None], x[0:1], x[::2], x[:, 1:], x[()], x[...], x[1:0]
x[True], x[False], x[None, 0], x[:, None], x[0, ..., None]
x[[0, 1]], x[[0, 0]], x[m.tensor([0, 1])], x[m.tensor(0)], x[x > 0], x[m.tensor([True, False])], x[[True, False]], x[:, [0, 2]], x[[0, 1], [1, 2]], x[0, [0, 1]], x[m.tensor([[0, 1]])]
x[[0, 1], :, None], x[:, m.tensor([0, 1]), None], x[..., m.tensor([0, 1])]
x[m.tensor([0, 1]), 1:], x[1:, m.tensor([0, 1])], x[0][m.tensor([0, 1])]
import numpy as np;; x[np.array([0, 1])], x[np.int64(0)]
x[5]
x[-3]
x[0, 0, 0]
x[::-1]
s[None], s[...]
m.ones(4, 4)[1:3, 1:3][0]
grads(lambda a: a[[0, 0, 1]], x)
grads(lambda a: a[a > 0], x)
grads(lambda a: a[:, [0, 2]], x)
grads(lambda a: a[m.tensor([[0, 1], [1, 1]])], v)
a = m.zeros(2, 3);; a[0] = 1;; a[:, 1] = m.tensor([5., 6.]);; a[a > 4] = -1;; a[1, 2] = m.tensor(3.0);; a[[0, 1], [0, 0]] = 9;; a
a = m.zeros(3);; a[5] = 1
a = m.zeros(3);; a[0:2] = m.ones(3)
a = m.zeros(3);; a[0] = "a"
a = m.zeros(3, dtype=m.int64);; a[0] = 2.7;; a
a = m.zeros(2, 3);; a[:] = m.tensor([1., 2., 3.]);; a
a = m.zeros(2, 3);; a[...] = 5;; a
a = m.zeros(2, 3);; a[None, 0] = 5;; a
a = m.zeros(3);; a[m.tensor([0, 0])] = m.tensor([1., 2.]);; a
a = m.zeros(3);; a[True] = 2;; a
i3.tolist()[m.tensor(0)]
1.0 in m.ones(2), m.tensor(1.0) in m.ones(2)
"a" in m.ones(2)
[i.item() for i in m.tensor([1, 2])]
list(x)[0]
iter(s)
a, b = x;; b
# in place
m.ones(2).add_(1), m.ones(2).add_(m.ones(2), alpha=2), m.ones(2).sub_(1), m.ones(2).sub_(1, alpha=3), m.ones(2).mul_(3), m.ones(2).div_(2), m.ones(2).zero_(), m.ones(2).fill_(3), m.ones(2).exp_(), m.zeros(2).sin_(), m.zeros(2).sigmoid_(), m.ones(2).relu_(), m.ones(2).copy_(m.zeros(2)), m.ones(2, 2).copy_(m.zeros(2))
m.ones(2).copy_(m.zeros(3))
m.ones(2).copy_(1.0)
m.ones(2).fill_(m.tensor(2.0))
m.ones(2).fill_(m.ones(2))
m.ones(2).add_(m.ones(2, 2))
m.ones(2, 2).add_(m.ones(2))
i3.mul_(2), i3.fill_(2.9), i3.copy_(m.tensor([1.5, 2.5, 3.5]))
m.ones(2).mul_(m.ones(2, dtype=m.float64)).dtype
a = m.ones(2);; a += 1;; a -= 0.5;; a *= 2;; a /= 4;; a, a._version
a = m.ones(2);; a **= 2;; a, a._version
a = m.tensor([5., 7.]);; a //= 2;; a, a._version
a = m.tensor([5., 7.]);; a %= 2;; a, a._version
a = m.tensor([True, False]);; a &= True;; a
a = m.tensor([5, 7]);; a |= 8;; a
a = i3;; a /= 2
a = x.clone();; a.add_(y);; a.mul_(y);; a.grad_fn.name(), a._version, [type(f[0]).__name__ for f in a.grad_fn.next_functions]
a = x.clone();; a.fill_(1);; a, a.grad_fn.name()
a = x.clone();; a.zero_();; a, a.grad_fn.name()
a = x.clone();; a.fill_(s);; m.autograd.grad(a.sum(), [x, s])
a = x.clone();; a.copy_(y);; m.autograd.grad((a * a).sum(), [x, y])
a = x.clone();; a.copy_(v);; m.autograd.grad((a * a).sum(), [x, v])
a = m.zeros(2, 3, dtype=m.float64);; a.copy_(y);; a.requires_grad, a.grad_fn.name(), m.autograd.grad((a * a).sum(), [y])
a = x.clone();; a.relu_();; a.sigmoid_();; a.sin_();; a.exp_();; a.div_(y);; a.sub_(y);; a.sum().backward();; x.grad, y.grad
a = x.clone();; a.exp_();; a.mul_(2);; a.sum().backward()
a = x.clone();; b = a * a;; a.zero_();; b.sum().backward()
a = x.clone();; a.add_(a);; a.mul_(a);; a.sum().backward()
a = x.clone();; a.add_(a);; a.sum().backward();; x.grad
F.relu(x.clone(), inplace=True)
a = f32.clone();; a.requires_grad_();; a.is_leaf, a.requires_grad
# deletion of attributes
a = leaf();; a.grad = m.ones(3);; del a.grad;; a.grad
a = leaf();; del a.grad
del leaf().data
del leaf().requires_grad
del leaf().grad_fn
del leaf()._grad_fn
del leaf()._backward_hooks
del leaf().is_leaf
del leaf().shape
a = leaf();; a._version = 1
a = leaf();; a.is_leaf = False
a = leaf();; a.grad_fn = None
a = leaf();; a._base = None
a = leaf();; a.output_nr = 1
a = leaf();; a.dtype = m.float64
a = leaf();; a.shape = (1,)
a = leaf();; a.retains_grad = True
a = leaf();; a.requires_grad = None
a = leaf();; a.requires_grad = 1
a = leaf();; a.requires_grad = "x"
leaf().requires_grad_("no")
a = leaf();; a.data = m.zeros(3);; a, a.is_leaf, a._version
a = leaf();; a.data = m.zeros(5);; a.shape
a = leaf();; a.data = m.zeros(3, dtype=m.float64)
a = leaf();; a.data = 3
a = leaf();; a.data.requires_grad, a.data.grad_fn, a.data._version
a = leaf();; a.grad = m.ones(3);; b = a.grad;; a.sum().backward();; a.grad is b, a.grad
(leaf() * 2).grad
(leaf() * 2).retain_grad(), leaf().retain_grad()
a = leaf() * 2;; a.retain_grad();; a.retains_grad, leaf().retains_grad
hash(x) == hash(x), x is x
x.output_nr, x.unbind()[1].output_nr, x._version, x.is_leaf, x.grad_fn, x.grad
m.ones(3).register_hook(lambda g: g)
m.ones(3).register_post_accumulate_grad_hook(lambda g: g)
h = leaf().register_hook(lambda g: g);; type(h).__name__, h.remove()
# Function
sq()()(x)
f = sq()();; f.apply(x)
sq().apply(x).grad_fn.name(), type(sq().apply(x).grad_fn).__name__, sq().apply(x).grad_fn.saved_tensors[0] is x
sq().apply(x).grad_fn.needs_input_grad
fn(lambda ctx, a: a * 2, lambda ctx, g: g * 2).apply(1.5)
fn(lambda ctx, a, b: a * b, lambda ctx, g: (g, None)).apply(x, 2)
fn(lambda ctx, a: (a * 2, 5, "s", None), lambda ctx, g, *r: (g * 2, [type(q).__name__ for q in r] and None)[:1]).apply(x)
fn(lambda ctx, a: [a * 2], lambda ctx, g: g).apply(x)
fn(lambda ctx, a: None, lambda ctx, g: g).apply(x)
fn(lambda ctx, a: 5, lambda ctx, g: g).apply(x)
fn(lambda ctx, a: "s", lambda ctx, g: g).apply(x)
fn(lambda ctx, a: a, lambda ctx, g: g * 3).apply(x)
a = fn(lambda ctx, a: a, lambda ctx, g: g * 3).apply(x);; a is x, a._version, a._base is x, a._is_view()
fn(lambda ctx, a: a.view(6), lambda ctx, g: g.view(2, 3) * 3).apply(x)
fn(lambda ctx, a: (a, a), lambda ctx, g, h: g + h).apply(x)
b = (lambda q: (q, q));; fn(lambda ctx, a: b(a * 2), lambda ctx, g, h: 2 * (g + h)).apply(x)
fn(lambda ctx, a: (ctx.save_for_backward(a), a * 1)[1], lambda ctx, g: g).apply(x).grad_fn._saved_tensors
fn(lambda ctx, a: (ctx.mark_dirty(a), a.add_(1))[1], lambda ctx, g: g).apply(x.clone())
a = x.clone();; o = fn(lambda ctx, a: (ctx.mark_dirty(a), a.add_(1))[1], lambda ctx, g: g * 5).apply(a);; o is a, a._version, a.grad_fn.name(), m.autograd.grad(a.sum(), x)
fn(lambda ctx, a: (ctx.mark_dirty(a), a.add_(1))[1], lambda ctx, g: g).apply(x)
fn(lambda ctx, a: (ctx.mark_dirty(a), a * 1)[1], lambda ctx, g: g).apply(x.clone())
fn(lambda ctx, a: (ctx.mark_dirty(a), a.add_(1))[1], lambda ctx, g: g).apply(m.ones(3))
fn(lambda ctx, a: (ctx.mark_dirty(a.view(-1)), a * 1)[1], lambda ctx, g: g).apply(x.clone())
fn(lambda ctx, a: (ctx.mark_non_differentiable(a), a)[1], lambda ctx, g: g).apply(x)
fn(lambda ctx, a: (lambda q: (ctx.mark_non_differentiable(q), q)[1])(a * 2), lambda ctx, g: g).apply(x)
o = fn(lambda ctx, a: (lambda q: (ctx.mark_non_differentiable(q), (a * 3, q))[1])(a * 2), lambda ctx, g, h: (print(h) if 0 else g * 3 + h)).apply(x);; o, m.autograd.grad(o[0].sum(), x)
fn(lambda ctx, a: (ctx.mark_non_differentiable(5), a * 1)[1], lambda ctx, g: g).apply(x)
fn(lambda ctx, a: a.long(), lambda ctx, g: g).apply(x)
fn(lambda ctx, a: a * 2, lambda ctx, g: (g, None, None)).apply(x).sum().backward()
fn(lambda ctx, a: a * 2, lambda ctx, g: (g, g)).apply(x).sum().backward()
fn(lambda ctx, a: a * 2, lambda ctx, g: ()).apply(x).sum().backward()
fn(lambda ctx, a: a * 2, lambda ctx, g: None).apply(x).sum().backward();; x.grad
fn(lambda ctx, a: a * 2, lambda ctx, g: [g]).apply(x).sum().backward()
fn(lambda ctx, a: a * 2, lambda ctx, g: "a").apply(x).sum().backward()
fn(lambda ctx, a: a * 2, lambda ctx, g: g.sum()).apply(x).sum().backward()
fn(lambda ctx, a: a * 2, lambda ctx, g: m.ones(2, 2, 3)).apply(x).sum().backward();; x.grad
fn(lambda ctx, a: a * 2, lambda ctx, g: m.ones(4)).apply(x).sum().backward()
fn(lambda ctx, a: a * 2, lambda ctx, g: g.float()).apply(x).sum().backward();; x.grad
fn(lambda ctx, a: a * 2, lambda ctx, g: g.long()).apply(x).sum().backward();; x.grad
fn(lambda ctx, a, b: a * 2, lambda ctx, g: (g, g)).apply(x, y).sum().backward();; x.grad, y.grad
fn(lambda ctx, a, b: a * 2, lambda ctx, g: (g, g)).apply(x, 3).sum().backward();; x.grad
a = fn(lambda ctx, a, b: a * 2, lambda ctx, g: (g, None)).apply(x, y).sum().backward();; x.grad, y.grad
m.autograd.Function.apply(x)
type("E", (m.autograd.Function,), {}).apply(x)
type("E", (m.autograd.Function,), {"forward": lambda ctx, a: a}).apply(x)
type("E", (m.autograd.Function,), {"forward": staticmethod(lambda ctx, a: a * 2)}).apply(x).sum().backward()
type("E", (m.autograd.Function,), {"forward": staticmethod(lambda a: a * 2), "setup_context": staticmethod(lambda ctx, inputs, output: ctx.save_for_backward(*inputs)), "backward": staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])}).apply(x)
type("E", (m.autograd.Function,), {"forward": staticmethod(lambda ctx, a: a * 2), "vjp": staticmethod(lambda ctx, g: g * 2)}).apply(x).sum().backward();; x.grad
type("E", (m.autograd.Function,), {"forward": staticmethod(lambda ctx, a: a * 2), "vjp": staticmethod(lambda ctx, g: g * 2), "backward": staticmethod(lambda ctx, g: g * 2)}).apply(x).sum().backward();; x.grad
fn(lambda ctx, a: setattr(ctx, "k", 5) or a * 2, lambda ctx, g: g * ctx.k).apply(x).sum().backward();; x.grad
fn(lambda ctx, a: a * 2, lambda ctx, g: g * ctx.nothing).apply(x).sum().backward()
fn(lambda ctx, a: a * 2, lambda ctx, g: ctx.saved_tensors and g).apply(x).grad_fn.saved_tensors
fn(lambda ctx, a: (ctx.save_for_backward(a, None), a * 2)[1], lambda ctx, g: g).apply(x).grad_fn.saved_tensors[1]
fn(lambda ctx, a: (ctx.save_for_backward([a]), a * 2)[1], lambda ctx, g: g).apply(x)
fn(lambda ctx, a: (ctx.save_for_backward(3), a * 2)[1], lambda ctx, g: g).apply(m.ones(2))
fn(lambda ctx, a: (ctx.save_for_forward(a), a * 2)[1], lambda ctx, g: g).apply(x)
fn(lambda ctx, a, b=2: a * b, lambda ctx, g, *r: g).apply(x)
fn(lambda ctx, a, b: a * b, lambda ctx, g: (g, None)).apply(x)
sq().apply(x, x)
sq().apply(a=x)
fn(lambda ctx, a: a * 2, lambda ctx, g: g).apply([x])
fn(lambda ctx, l: l[0] * 2, lambda ctx, g: None).apply([x])
o = fn(lambda ctx, a: (a * 2, a * 3), lambda ctx, g, h: g * 2 + h * 3).apply(x);; o[1].grad_fn is o[0].grad_fn, o[1].output_nr, m.autograd.grad(o[1].sum(), x)
o = fn(lambda ctx, a: (ctx.set_materialize_grads(False), a * 2, a * 3)[1:], lambda ctx, g, h: g * 2 if h is None else h).apply(x);; m.autograd.grad(o[0].sum(), x)
sq().apply(x).grad_fn.apply(m.ones(2, 3, dtype=m.float64))
sq().apply(x).grad_fn(m.ones(2, 3, dtype=m.float64))
sq().apply(x).grad_fn.next_functions[0][0].variable is x
sq().apply(x).grad_fn.saved_variables
with_x = sq().apply(x);; with_x.sum().backward();; with_x.grad_fn.saved_tensors
(x * 2).grad_fn.metadata, sq().apply(x).grad_fn.metadata
(x * 2).grad_fn.name(), (x * 2).grad_fn.next_functions[1], x.sum().grad_fn.next_functions[0][0].next_functions[0][0].name() if x.sum().grad_fn.next_functions[0][0].next_functions else None
(x*y).grad_fn._saved_self is x, (x ** 2).grad_fn._saved_exponent, (x ** 2).grad_fn._saved_self is x
x.exp().grad_fn._saved_result.grad_fn.name()
(x * 2).grad_fn(m.ones(2, 3, dtype=m.float64))
(x * y).grad_fn(m.ones(2, 3, dtype=m.float64))
(x * 2).grad_fn == (x * 2).grad_fn
a = x * 2;; a.grad_fn is a.grad_fn, a.grad_fn == a.grad_fn
x.std(0).grad_fn._saved_correction, x.std().grad_fn._saved_dim
(x + 1).grad_fn._saved_alpha, (x.add(y, alpha=3)).grad_fn._saved_alpha
(x * 2).grad_fn._saved_other, (x * 2).grad_fn._saved_self
(x ** 2).sum().backward(), x.grad
x.clamp(0, 1).grad_fn._saved_min, x.clamp(0).grad_fn._saved_max
m.where(x > 0, x, y).grad_fn._saved_condition
x.repeat(2, 1).grad_fn._saved_repeats
x.split(1)[0].grad_fn._saved_split_size, x.chunk(2)[0].grad_fn._saved_dim
F.leaky_relu(x).grad_fn.name(), F.softplus(x).grad_fn.name(), F.linear(x, y).grad_fn.name(), F.linear(x, y, rg([1., 2.])).grad_fn.name()
# modes
m.no_grad()(type("A", (), {"__init__": lambda self: setattr(self, "g", m.is_grad_enabled())}))().g
m.no_grad(lambda: m.is_grad_enabled())()
m.no_grad()(lambda: m.is_grad_enabled())()
m.enable_grad()(lambda: m.is_grad_enabled())(), m.enable_grad(lambda: m.is_grad_enabled())()
m.inference_mode()(lambda: (m.is_grad_enabled(), m.is_inference_mode_enabled()))(), m.inference_mode(lambda: m.is_inference_mode_enabled())()
m.inference_mode(False)(lambda: (m.is_grad_enabled(), m.is_inference_mode_enabled()))()
m.set_grad_enabled(True)(lambda: m.is_grad_enabled())(), m.set_grad_enabled(False)(lambda: m.is_grad_enabled())(), m.is_grad_enabled()
m.set_grad_enabled(mode=True), m.is_grad_enabled()
m.set_grad_enabled("a"), m.is_grad_enabled()
m.set_grad_enabled(1), m.is_grad_enabled()
m.set_grad_enabled(), m.is_grad_enabled()
m.set_grad_enabled(False);; a = m.is_grad_enabled();; m.set_grad_enabled(True);; a, m.is_grad_enabled()
q = m.no_grad();; q.__enter__();; a = m.is_grad_enabled();; q.__exit__(None, None, None);; a, m.is_grad_enabled()
q = m.inference_mode();; q.mode
m.autograd.no_grad is m.no_grad, m.autograd.grad_mode.no_grad is m.no_grad, m.autograd.enable_grad is m.enable_grad
m.is_warn_always_enabled(), m.set_warn_always(True), m.is_warn_always_enabled(), m.set_warn_always(False)
m.is_anomaly_enabled()
# grad / backward
m.autograd.grad(x.sum(), x, m.ones(()))
m.autograd.grad(x.sum(), x, m.ones((), dtype=m.float64))
m.autograd.grad([x.sum(), (x*x).sum()], [x])
m.autograd.grad((x * x).sum(), [x, y], allow_unused=True)
m.autograd.grad((x * x).sum(), [x, y], materialize_grads=True)
m.autograd.grad((x * x).sum(), [x, y], allow_unused=False)
m.autograd.grad(x * x, x)
m.autograd.grad(x * x, x, m.ones(2, 3))
m.autograd.grad(x.sum(), [x, x])
m.autograd.grad(x.sum(), 5)
m.autograd.grad(5, x)
m.autograd.grad(x, x, m.ones_like(x))
m.autograd.grad(x.sum(), x, only_inputs=False)
m.autograd.grad(x.clone(), x, (m.ones(2, 3),), is_grads_batched=True)
m.autograd.grad(outputs=x.sum(), inputs=x)
m.autograd.backward(x.sum(), grad_tensors=m.tensor(2.0, dtype=m.float64)), x.grad
m.autograd.backward([x.sum(), y.sum()]), x.grad, y.grad
m.autograd.backward((x.sum(), (x * y).sum()), inputs=[y]), x.grad, y.grad
m.autograd.backward(x.sum(), inputs=x), x.grad
m.autograd.backward([]), 1
(x * y).sum().backward(inputs=[x]), x.grad, y.grad
(x * y).sum().backward(inputs=x), x.grad
a = x * 2;; a.sum().backward(inputs=[a]);; a.grad
a = x * 2;; a.sum().backward(inputs=[m.ones(2)])
x.sum().backward(gradient=m.tensor(3.0)), x.grad
x.sum().backward(m.tensor(3.0, dtype=m.float64)), x.grad
(x * 1).backward(m.ones(2, 3)), x.grad
(x * 1).backward(m.ones(3))
x.sum().backward(m.tensor(3))
x.backward(m.ones_like(x)), x.grad
x.sum().backward(retain_graph=True, create_graph=True), x.grad
(x * x).sum().backward(create_graph=True), x.grad
m.ones(1).backward()
x.sum().backward("a")
x.sum().backward(inputs=[])
a = x.sum();; a.backward();; a.backward();; x.grad
a = (x * x).sum();; a.backward(retain_graph=True);; a.backward();; x.grad
i3.backward()
# keywords
x.sum(dtype=m.float32), x.sum(axis=0), x.sum(axis=(0,1), keepdims=True), x.sum(0, keepdims=True)
x.mean(axis=1), x.mean(dtype=m.float32), x.std(axis=0), x.var(axis=1, keepdims=True), x.max(axis=0), x.min(axis=1, keepdims=True), x.prod(axis=0)
i3.sum(dtype=m.float32), i3.mean(dtype=m.float32), i3.prod(dtype=m.float64)
x.argmax(axis=1), x.all(axis=0), x.any(axis=0), x.argmin(axis=1, keepdims=True)
m.cat([x, x], axis=1).shape, m.stack([x, x], axis=1).shape
m.mul(input=x, other=y), m.sum(input=x, dim=0), m.exp(input=x)
# other ways to call
m.ones(2).requires_grad_(1)
setattr(m.ones(2), "requires_grad", 1)
m.ones(2, requires_grad=1)
m.tensor([1.], requires_grad="a")
m.tensor([m.tensor(1, dtype=m.int32), 2]), m.tensor([m.tensor(1.), 2]), m.tensor([True, m.tensor(2.5)]), m.tensor([z[0, 0], 1])
m.cat([x, m.zeros(0)]).shape, m.cat([m.zeros(0), x], 1).shape, m.cat([m.zeros(0)]).shape, m.cat([m.zeros(0), m.zeros(0), x], -1).shape
m.cat([m.zeros(0), 1])
m.cat(5)
m.stack(x)
m.stack([x, 1])
m.cat(tensors=[x, x], dim=0).shape
m.cat((t for t in [x]))
a = m.zeros(0, requires_grad=True);; m.autograd.grad(m.cat([a, x], 1).sum(), (x, a))
m.tensor([1.]).T
m.ones(2).copy_(m.zeros(3))
m.ones(2).copy_(m.zeros(2, 2))
m.ones(2).copy_(5)
m.ones(2).fill_(m.ones(2))
m.ones(2).fill_(m.ones(1))
1.0 in m.ones(2), m.tensor(1.) in m.ones(2)
None in m.ones(2)
x.expand(size=(2,3)).shape, x.repeat(repeats=(2,2)).shape, x.reshape(shape=(6,)).shape, x.view(size=(6,)).shape, x.permute(dims=(1,0)).shape
x.flip(dims=(0,)), x.split(split_size=1)[0], m.split(x, split_size_or_sections=1)[0]
x.div(3, rounding_mode="floor"), i3.div(2, rounding_mode="floor"), i3.div(i3, rounding_mode="trunc"), x.clone().div_(2, rounding_mode="floor")
m.div(x, 2, rounding_mode="up")
F.relu(x, inplace=True)
F.mse_loss(x, z[0]), F.mse_loss(x, z[0], reduction="none").shape
F.cross_entropy(x[0], m.tensor(1)), F.cross_entropy(x[0], m.tensor(1), reduction="none"), F.nll_loss(x[0], m.tensor(1))
grads(lambda a: F.cross_entropy(a, m.tensor(1)), v)
x.unfold(0, 5, 1)
x.unfold(0, 2, 0)
x.unfold(0, -1, 1)
m.einsum("...,...->...", x, v), m.einsum("...i,...j->...ij", z, z).shape, m.einsum("i...->...", z), m.einsum("...ij->ij...", m.ones(2,3,4)).shape, m.einsum("...i->i", z), m.einsum("i...,i...", z, z), m.einsum("...i,i", z, z[0])
m.einsum("...ij,...jk->...ik", m.ones(2, 1, 3, 4), m.ones(5, 4, 2)).shape
m.autograd.grad(m.einsum("b...,...->b", m.ones(2, 2, 3, dtype=m.float64), x)[0], x)
m.where(x > 0, 1.0, 2.0).dtype, m.where(x > 0, 1, 2).dtype, m.where(x > 0, 1, 2.0).dtype, m.where(x > 0, True, False).dtype
x.sum(dim=()), x.mean([]), x.std(()), x.var([]), x.norm(2, ())
setattr(x, "_version", 3)
setattr(x, "is_leaf", 3)
setattr(x, "grad_fn", None)
setattr(x, "shape", (3,))
del x._version
# batches, threads of blocks, views of views
m.autograd.grad(x.clone(), x, (m.ones(2, 3),), is_grads_batched=True)
m.autograd.grad(x * x, x, m.stack([z, 2 * z]), is_grads_batched=True), m.autograd.grad((x * x), x, m.stack([z, 2 * z]), is_grads_batched=True, create_graph=True)[0].requires_grad
m.autograd.grad([x * 2, x.sum()], x, [m.ones(3, 2, 3), m.ones(3)], is_grads_batched=True)
m.autograd.grad(x * 2, [x, leaf(2)], m.ones(3, 2, 3), is_grads_batched=True, allow_unused=True)
m.autograd.grad(x * 2, [x, leaf(2)], m.ones(3, 2, 3), is_grads_batched=True)
m.autograd.grad(x.clone(), x, None, is_grads_batched=True)
g = x * x;; m.autograd.grad(g, x, m.ones(2, 2, 3), is_grads_batched=True);; g.sum().backward()
m.autograd.SavedTensor()
a = m.zeros(2);; m.set_grad_enabled(False);; b = a.view(2);; m.set_grad_enabled(True);; b.requires_grad_();; c = b.view(2);; c.div_(2)
a = m.zeros(2);; m.set_grad_enabled(False);; b = a.view(2);; m.set_grad_enabled(True);; b.requires_grad_();; b.div_(2)
a = leaf() * 1;; q = m.inference_mode();; q.__enter__();; b = a.view(3);; q.__exit__(None, None, None);; c = b.view(3);; c.mul_(2)
q = m.inference_mode();; q.__enter__();; a = m.ones(2, requires_grad=True);; q.__exit__(None, None, None);; m.autograd.graph.increment_version(a)
v.narrow(0, m.tensor(1.), 1)
v.narrow(0, m.tensor([1]), 1)
v.narrow(0, m.tensor(1), 1), m.narrow(v, 0, m.tensor(-2), 2)
x.to("cpu", m.float32), x.to(device="cpu") is x, x.to(m.float64, copy=True), x.to("cpu", copy=True), x.to(device="cpu", dtype=m.float32)
h = m.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (h.__exit__(), t)[1]);; h.__enter__();; a = x.sin();; a.sum().backward();; h.__exit__();; b = x.exp();; b.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
# combinations
grads(lambda a, b: m.cat([a[:, 1:], b[:, :2]], 1).view(-1).narrow(0, 1, 4) * 2, x, y)
grads(lambda a, b: m.stack([a, b]).mean(0).t() @ (a - b), x, y)
grads(lambda a: a.unsqueeze(0).expand(2, 2, 3).reshape(4, 3).sum(0).exp().log(), x)
grads(lambda a, b: m.where(a > b, a * b, a / b).max(), x, y)
grads(lambda a, b: (a.matmul(b) ** 2).unbind()[0], x, rg([[0.2, -0.5], [1.1, 0.4], [-0.3, 0.9]]))
grads(lambda a, b: m.maximum(a, b).clamp(-1, 1).minimum(b), x, y)
grads(lambda a, b: a.mv(b).dot(a.mv(b)), x, v)
grads(lambda a: a.chunk(2, 1)[0].repeat(1, 2) * a.flatten()[:4].view(2, 2).sum(), x)
grads(lambda a: a.log_softmax(1).gather(1, m.tensor([[0], [2]])).neg().mean(), x)
grads(lambda a: a.index_select(1, m.tensor([0, 0, 2])).cumsum(1).prod(1), x)
grads(lambda a: a.masked_fill(a < 0, 3.0).norm(dim=1).var(), x)
grads(lambda a: m.diag(a[0]).mm(a.t()).select(1, 0), x)
grads(lambda a: a.permute(1, 0).max(1)[0] - a.min(0).values, x)
grads(lambda a: m.split(a, [1, 2], 1)[1].relu().tanh().sigmoid(), x)
grads(lambda a: F.conv2d(a.view(1, 1, 2, 3), a[:, :2].reshape(1, 1, 2, 2)).sum() * a.tan().mean(), x)
grads(lambda a: F.conv_transpose2d(a.view(1, 1, 2, 3), a[:, :2].reshape(1, 1, 2, 2), stride=2).pow(2), x)
grads(lambda a, b: F.mse_loss(a.sigmoid(), b.sin(), reduction="sum"), x, y)
grads(lambda a: a[m.tensor([0, 1]), m.tensor([2, 0])] * a[..., 0] + a[None, :, -1].squeeze(0), x)
grads(lambda a: m.pow(2, a) + m.pow(a * a, 0.5), x)
a = x.clone();; a[0] = a[1] * 2;; a[:, 1] += 1;; a.sum().backward();; (a, x.grad)
a = x * 1;; b = a[0];; b.mul_(y[1]);; a.exp_();; b.sum().backward();; (a, b, x.grad, y.grad)
a = x * 1;; b = a.t();; b[0].zero_();; a.div_(2);; (a * b.t()).sum().backward();; (a, b, x.grad)
a = x * 1;; a.sigmoid_().mul_(a.detach());; a.sum().backward();; (a, x.grad)
a = z.clone();; a[a > 0] = x[x > 0];; a.sub_(1);; a.pow(2).sum().backward();; (a, x.grad)
a = z.clone();; a.copy_(v);; a.fill_(s);; a.sum().backward();; (a, v.grad, s.grad)
a = x.unbind();; a[0].add_(1)
a = x.split(1);; a[0].mul_(2)
a = x * 1;; b = a.chunk(3, 1);; m.cat(b, 0).std().backward();; (b[1].output_nr, x.grad)
a = x.relu();; a += 1;; a.sum().backward()
a = x.exp();; a *= 2;; a.sum().backward()
a = x.exp();; b = a.view(-1);; b.add_(1);; a.sum().backward()
a = x + 1;; b = a * a;; a[0, 0] = 5;; b.sum().backward()
a = x.sum(0);; b = a.max(0);; b.values.backward(retain_graph=True);; b.values.backward();; (x.grad, b.indices)
a = x * y;; a.retain_grad();; a.register_hook(lambda g: g * 2);; a.sum().backward();; (a.grad, x.grad, a.retains_grad)
h = x.register_hook(lambda g: None);; h.remove();; x.register_hook(lambda g: g.neg());; x.mean().backward();; x.grad
l = [];; x.register_post_accumulate_grad_hook(lambda p: l.append(p.grad.sum().item()));; x.sum().backward();; x.sum().backward();; l
l = [];; a = x.exp();; a.grad_fn.register_prehook(lambda g: (g[0] * 3,));; a.grad_fn.register_hook(lambda i, o: l.append(o[0].sum()));; a.sum().backward();; (x.grad, l)
l = [];; q = m.autograd.graph.register_multi_grad_hook((x, y), lambda gs: l.append([g is None for g in gs]));; (x * 2).sum().backward();; (x * y).sum().backward();; l
m.autograd.grad((x * y).sum(), (x, y, v), allow_unused=True), m.autograd.grad((x * y).sum(), (x, v), materialize_grads=True)
m.autograd.backward([x.sum(), (x * y).mean()], inputs=[x]);; (x.grad, y.grad)
m.autograd.backward([x * 2, y], [m.ones(2, 3), None])
m.autograd.grad([x.sum(), (2 * x).sum()], [x], [m.tensor(2., dtype=m.float64), None])
g, = m.autograd.grad((x ** 3).sum(), x, create_graph=True);; h, = m.autograd.grad(g.sum(), x, create_graph=True);; m.autograd.grad(h.sum(), x)
g, = m.autograd.grad(x.sum(), x, create_graph=True);; g.requires_grad
x.sum().backward(m.tensor(2.));; x.grad
x.sum().backward(m.tensor([2.]))
x.backward(m.ones(3))
x.mean(0).backward(m.tensor([1, 2, 3]));; x.grad
x.grad = y.detach();; x.sum().backward();; (x.grad, x.grad.grad_fn, x.grad_fn)
x.grad = m.ones(3)
x.data = m.ones(4, dtype=m.float64);; (x.shape, x.requires_grad, x._version)
a = x.detach();; a.zero_();; (x, x._version, a._version, a._base)
a = x.data;; a.zero_();; (x, x._version, a._version)
a = x.clone().detach_();; (a.is_leaf, a.requires_grad, a.grad_fn)
a = x[0];; a.detach_()
[t.output_nr for t in x.unbind(1)], x.max(1)[0].output_nr, x.max(1)[1].grad_fn, x.sort()[0].output_nr
(x * 2).grad_fn.next_functions[0][0].variable is x, (x * 2).grad_fn.next_functions[1], (x + y).grad_fn.next_functions[1][0].name()
a = x.exp();; a.sum().backward();; a.grad_fn._saved_result
q = fn(lambda ctx, a, b: (ctx.save_for_backward(a, b), ctx.mark_non_differentiable(c := (a > b)), (a * b, c))[-1], lambda ctx, g, h: (g * ctx.saved_tensors[1], None));; o = q.apply(x, y.detach());; o[0].sum().backward();; (o, x.grad)
q = fn(lambda ctx, a: ctx.mark_dirty(a.mul_(2)) or a, lambda ctx, g: g * 2);; a = x * 1;; b = q.apply(a);; b.sum().backward();; (b is a, b, x.grad)
q = fn(lambda ctx, a: (ctx.set_materialize_grads(False), (a * 1, a * 2))[1], lambda ctx, g, h: None if g is None else g);; q.apply(x)[0].sum().backward();; x.grad
q = fn(lambda ctx, a: a * 2, lambda ctx, g: (g, g));; q.apply(x).sum().backward()
q = fn(lambda ctx, a: a * 2, lambda ctx, g: g[0]);; q.apply(x).sum().backward()
q = fn(lambda ctx, a, k: a * k, lambda ctx, g: (g * 3, None, None));; q.apply(x, 3).sum().backward();; x.grad
m.autograd.functional.jacobian(lambda a: a.t() @ a, z[:, :2]), m.autograd.functional.hessian(lambda a: (a ** 3).sum(), z[0])
m.autograd.functional.vjp(lambda a, b: a * b, (z, y.detach()), z), m.autograd.functional.jvp(lambda a: a.exp().sum(0), z, z)
m.autograd.functional.hvp(lambda a: a.prod(), z[0], z[1]), m.autograd.functional.vhp(lambda a: a.prod(), z[0], z[1])
# said once more
q = m.inference_mode();; q.__enter__();; a = m.ones(1, 2, 3, requires_grad=True);; q.__exit__(None, None, None);; b = a.view(-1);; (b.is_inference(), b.requires_grad, b._is_view(), b.is_leaf, a[0].requires_grad, a.t if 0 else a.transpose(0, 1).is_inference())
a = leaf() * 1;; a.register_hook(lambda g: g.double());; a.sum().backward()
(leaf() ** 2).grad_fn()
(leaf() ** 2).grad_fn(m.ones(3), m.ones(3))
type("MyFn", (m.autograd.Function,), {"forward": staticmethod(lambda ctx, a: a * 2)}).apply(leaf()).sum().backward()
type("MyFn", (m.autograd.Function,), {"backward": staticmethod(lambda ctx, g: g)}).apply(leaf())
m.autograd.backward(leaf().sum(), grad_variables=m.tensor(1.))
m.autograd.detect_anomaly() is None
leaf().mul(2).grad
a = leaf();; (a * a).sum().backward(create_graph=True);; a.grad = None

# nothing said by NumPy, and gradients of one number, of nan, and of what has changed
b = m.tensor(3.0, dtype=m.float64, requires_grad=True);; c = b.clamp(min=-0.25);; (c*c).sum().backward();; b.grad, c
b = m.tensor(3.0, dtype=m.float64, requires_grad=True);; c = b.clamp(-1, 1);; (c*c).sum().backward();; b.grad, c
b = m.tensor(3.0, dtype=m.float64, requires_grad=True);; c = b.var(0);; c.backward();; b.grad
b = m.tensor(3.0, dtype=m.float64, requires_grad=True);; c = b.std(0, unbiased=False);; c.backward();; b.grad
b = rg([0.3, float('nan')]);; b.max().backward();; b.grad
b = rg([0.3, float('nan')]);; b.median().backward();; b.grad
b = rg([0.3, 0.5]);; c = b.max();; b.data.mul_(3);; c.backward();; b.grad
m.tensor([[True]]) ** m.tensor([[-3]])
m.tensor([[-3]]) ** m.tensor([[True]])
x = leaf(); y = x * 1; z = y.reshape(3);; y.detach_();; e = z[:1];; e.requires_grad
a = leaf().exp();; b = a.sum();; a.detach_();; b.backward();; a
m.tensor(0.0).log(), m.tensor(0.0)/0, 1/m.tensor(0.0), m.tensor(1e3).exp(), m.tensor(-1.0).sqrt(), m.tensor([]).mean(), m.tensor(1e38)*10*0, m.tensor(1e300).int() is None
a = m.ones(3);; a.div_(0);; a.sub_(a);; a.log_();; a
a = m.ones(3);; a /= 0;; a
a = leaf();; a.grad = m.ones(3);; (a / 0).log().sum().backward();; a.grad
a = m.zeros(3, requires_grad=True);; a.norm().backward();; a.grad

# what a node shows of what it keeps
[getattr(x[-1:].grad_fn, "_saved_" + n) for n in ("dim", "start", "end", "step")]
[getattr(x[:, 1:-1].grad_fn, "_saved_" + n) for n in ("dim", "start", "end", "step")]
[getattr(x[:5].grad_fn, "_saved_" + n) for n in ("dim", "start", "end", "step")]
[getattr(x[::2].grad_fn, "_saved_" + n) for n in ("dim", "start", "end", "step")]
[getattr(x[0:1].grad_fn, "_saved_" + n) for n in ("dim", "start", "end", "step")]
[getattr(x.narrow(0, -1, 1).grad_fn, "_saved_" + n) for n in ("dim", "start", "end", "step")]
[getattr(x[-1].grad_fn, "_saved_" + n) for n in ("dim", "index")]
[getattr(x[:, -1].grad_fn, "_saved_" + n) for n in ("dim", "index")]
[getattr(x[..., -1].grad_fn, "_saved_" + n) for n in ("dim", "index")]
x.sum(0).grad_fn._saved_dim, x.sum(-1).grad_fn._saved_dim, x.sum((0, -1)).grad_fn._saved_dim, x.sum(dim=[1]).grad_fn._saved_dim, x.sum(0).grad_fn._saved_keepdim, x.sum(0, True).grad_fn._saved_keepdim
x.mean(0).grad_fn._saved_dim, x.mean(-1).grad_fn._saved_dim, x.mean((0, -1)).grad_fn._saved_dim
x.norm().grad_fn._saved_ord, x.norm(3).grad_fn._saved_ord, x.norm().grad_fn._saved_dim, x.norm(2, 0).grad_fn._saved_dim, x.norm(2, (0, -1)).grad_fn._saved_dim, x.norm().grad_fn._saved_keepdim, x.norm(float('inf')).grad_fn._saved_ord
x.max(0)[0].grad_fn._saved_dim, x.max(-1)[0].grad_fn._saved_dim, x.max(0)[0].grad_fn._saved_keepdim, x.max(0)[0].grad_fn._saved_indices
x.prod(0).grad_fn._saved_dim, x.prod(-1).grad_fn._saved_dim
x.cumsum(0).grad_fn._saved_dim, x.cumsum(-1).grad_fn._saved_dim, x.cumprod(-1).grad_fn._saved_dim, x.logsumexp(-1).grad_fn._saved_dim, x.logsumexp(0).grad_fn._saved_keepdim
x.softmax(-1).grad_fn._saved_dim, x.log_softmax(0).grad_fn._saved_dim
x.transpose(0, 1).grad_fn._saved_dim0, x.transpose(0, 1).grad_fn._saved_dim1, x.transpose(-1, 0).grad_fn._saved_dim0, x.mT.grad_fn._saved_dim0, x.swapaxes(0, -1).grad_fn._saved_dim1
x.permute(1, 0).grad_fn._saved_dims, x.permute(-1, 0).grad_fn._saved_dims, x.T.grad_fn._saved_dims, x.movedim(0, -1).grad_fn._saved_dims
x.unsqueeze(0).grad_fn._saved_dim, x.unsqueeze(-1).grad_fn._saved_dim, x[None].grad_fn._saved_dim, x[..., None].grad_fn._saved_dim
rg([[1.0]]).squeeze(-1).grad_fn._saved_dim, rg([[1.0]]).squeeze(0).grad_fn._saved_dim
rg([[1.0]]).squeeze((0, -1)).grad_fn._saved_dim
x.repeat(2, 1).grad_fn._saved_repeats, x.flip(0).grad_fn._saved_dims, x.flip(-1).grad_fn._saved_dims, x.roll(1, 0).grad_fn._saved_shifts, x.roll(1, 0).grad_fn._saved_dims, x.roll(-1, -1).grad_fn._saved_shifts, x.roll(1).grad_fn._saved_dims
m.cat([x, x]).grad_fn._saved_dim, m.cat([x, x], -1).grad_fn._saved_dim, m.stack([x, x], -1).grad_fn._saved_dim, m.stack([x, x]).grad_fn._saved_dim
x.chunk(2)[0].grad_fn._saved_dim, x.chunk(2)[0].grad_fn._saved_split_size, x.split(1, -1)[0].grad_fn._saved_dim, x.split([1, 1])[0].grad_fn._saved_split_sizes, x.unbind(-1)[0].grad_fn._saved_dim, x.unbind()[0].grad_fn._saved_dim
x[[0, 1]].grad_fn._saved_indices
x[x > 0].grad_fn._saved_indices
x[:, [0, 1]].grad_fn._saved_indices
x[m.tensor([0, 1]), m.tensor([1, 2])].grad_fn._saved_indices
x[[0, 1]].grad_fn._raw_saved_indices[0].__class__.__name__
o = x[:, [0, 1]];; n = o.grad_fn;; r = n._raw_saved_indices;; r[0].register_hooks(lambda a: a, lambda a: a)
F.mse_loss(x, y).grad_fn._saved_reduction, F.mse_loss(x, y, reduction="sum").grad_fn._saved_reduction, F.mse_loss(x, y, reduction="none").grad_fn._saved_reduction
[getattr(F.conv2d(m.ones(1,1,3,3).requires_grad_(), m.ones(1,1,2,2)).grad_fn, "_saved_" + n) for n in ("dilation", "groups", "output_padding", "padding", "stride", "transposed")]
[getattr(F.conv_transpose2d(m.ones(1,1,3,3).requires_grad_(), m.ones(1,1,2,2), stride=2, padding=1).grad_fn, "_saved_" + n) for n in ("dilation", "groups", "output_padding", "padding", "stride", "transposed")]
(x ** 2).grad_fn._saved_exponent, (x ** 0.5).grad_fn._saved_exponent, (2 ** x).grad_fn._saved_self, (x ** y).grad_fn._saved_exponent, (2 ** x).grad_fn._saved_exponent
(x * 2).grad_fn._saved_other, (x * 2).grad_fn._saved_self, (x / 2).grad_fn._saved_other, (x / 2).grad_fn._saved_self, (1 / x).grad_fn._saved_other, (x * 2.5).grad_fn._saved_other, (2.5 * x).grad_fn._saved_other
(x * y.detach()).grad_fn._saved_self, (x * y.detach()).grad_fn._saved_other
(x * 2).grad_fn._raw_saved_other.__class__.__name__, (x * 2).grad_fn._raw_saved_self.__class__.__name__
(x + y).grad_fn._saved_alpha, m.add(x, y, alpha=2).grad_fn._saved_alpha, (1 - x).grad_fn._saved_alpha, m.sub(x, y, alpha=0.5).grad_fn._saved_alpha
x.clamp(0, 1).grad_fn._saved_min, x.clamp(0, 1).grad_fn._saved_max, x.clamp(min=0.5).grad_fn._saved_max
x.gather(0, m.tensor([[0, 1, 0]])).grad_fn._saved_dim, x.gather(-1, m.tensor([[0], [1]])).grad_fn._saved_dim, x.gather(0, m.tensor([[0, 1, 0]])).grad_fn._saved_index, x.index_select(-1, m.tensor([0])).grad_fn._saved_dim, x.index_select(0, m.tensor([0])).grad_fn._saved_index
x.masked_fill(x > 0, 0).grad_fn._saved_mask, m.where(x > 0, x, y).grad_fn._saved_condition
x.diagonal().grad_fn._saved_offset, x.diagonal(0, -2, -1).grad_fn._saved_dim1, x.tril(-1).grad_fn._saved_diagonal, x.unfold(-1, 2, 1).grad_fn._saved_dimension, x.unfold(-1, 2, 1).grad_fn._saved_size, x.unfold(-1, 2, 1).grad_fn._saved_step
x.sort(-1)[0].grad_fn._saved_dim, x.sort(0)[0].grad_fn._saved_indices, x.median(-1)[0].grad_fn._saved_dim, x.scatter_add(-1, m.tensor([[0], [1]]), y).grad_fn._saved_dim
x.sum().grad_fn._saved_self_sym_sizes, x.mean().grad_fn._saved_self_sym_sizes, x.expand(1, 2, 3).grad_fn._saved_self_sym_sizes, x.view(6).grad_fn._saved_self_sym_sizes, x[0].grad_fn._saved_self_sym_sizes, x[[0]].grad_fn._saved_self_sym_sizes
m.round(x).grad_fn.__class__.__name__, m.floor(x).grad_fn.next_functions[0][0].name()
sq().apply(x).grad_fn._raw_saved_tensors[0].__class__.__name__
a = sq().apply(x);; a.sum().backward();; a.grad_fn._raw_saved_tensors
m.lerp(x, y, 0.5).grad_fn._saved_weight, m.addmm(m.ones(2, 2, dtype=m.float64), x, y.t()).grad_fn._saved_alpha, m.addmm(m.ones(2, 2, dtype=m.float64), x, y.t()).grad_fn._saved_beta
F.leaky_relu(x, 0.2).grad_fn._saved_negative_slope, F.softplus(x).grad_fn._saved_beta, F.softplus(x).grad_fn._saved_threshold

# further names, and views in place
y = x * 2;; v = y[0];; w = y.view(6);; r = y.t_();; (r is y, y, v, w, y._version, v.grad_fn.next_functions[0][0].name(), w._version)
y = x * 2;; y.t_();; (y * m.arange(6.0, dtype=m.float64).view(3, 2)).sum().backward();; x.grad
y = x * 2;; v = y[:, :2];; v.t_();; (v * m.arange(4.0, dtype=m.float64).view(2, 2)).sum().backward();; v, y, v.grad_fn.next_functions[0][0].name(), x.grad
leaf(2, 3).t_()
leaf(2, 3)[0].unsqueeze_(0)
leaf(1).squeeze_()
a = m.ones(2, 3);; b = a.detach();; a.t_();; a.shape, b.shape, a._version, b._version, a.is_leaf
y = x * 2;; y.unsqueeze_(0);; y.mul_(3);; g = y.grad_fn.next_functions[0][0].name();; y.squeeze_(0);; g, y, y._version
y = x * 2;; y.unsqueeze_(-1);; y.squeeze_();; y.sum().backward();; y, x.grad
y = x * 2;; y.transpose_(0, 1);; y.swapaxes_(0, 1).swapdims_(0, -1);; y
with_grad = leaf(2, 3);; m.set_grad_enabled(False);; with_grad.t_();; with_grad.shape, with_grad.is_leaf, with_grad.requires_grad
a = leaf(2, 3);; m.set_grad_enabled(False);; a.t_();; m.set_grad_enabled(True);; (a * 2).sum().backward();; a.grad
y = x.unbind()[0];; y.unsqueeze_(0)
y = x * 2;; y.retain_grad();; y.t_();; y.sum().backward();; y.grad
grads(lambda a: a.amax(1), x)
grads(lambda a: m.amin(a, (0, 1), keepdim=True), x)
grads(lambda a: a.amax(), rg([1.0, 2.0, 2.0]))
rg([[1.0, 2.0], [2.0, 1.0]]).amax(0), m.tensor([3, 1]).amin(), m.tensor([1.0, float('nan')]).amax()
m.equal(x, x.clone()), m.allclose(x, x + 1e-9), m.isclose(x, x + 1), m.allclose(x, f32), x.equal(y)
m.isinf(m.tensor([1.0, float('inf')])), m.isfinite(m.tensor([1.0, float('nan')])), m.numel(x), m.is_floating_point(i3), m.empty_like(x).shape, m.empty_like(x, dtype=m.int64).dtype
m.absolute(x), m.clip(x, 0, 1), m.subtract(x, y), m.multiply(x, y), m.negative(x), m.divide(x, y), m.true_divide(x, 2), m.concat([x, y]), m.concatenate([x, y], 1)
x.clip(0, 1), x.multiply(2), x.subtract(1), x.negative(), x.absolute(), x.true_divide(2), x.nelement(), x.ndimension(), x.swapdims(0, 1), x.moveaxis(0, 1)
a = x.clone();; m.sigmoid_(a);; m.exp_(a);; m.relu_(a);; m.sin_(a);; a
a = x.clone();; a.clamp_(min=0);; a.square_().tan_();; a
a = x.clone();; a.clamp_(-1, max=0.5);; a.sum().backward();; x.grad
a = x.clone();; a.masked_fill_(a > 0, 0);; a.sum().backward();; (a, x.grad)
x.t().is_contiguous(), x.is_contiguous(), x.t().contiguous(), x.contiguous() is x, x.stride(), x.t().stride(), x.stride(-1)
x.new_zeros(2), x.new_ones((2, 1), dtype=m.int64), x.new_tensor([1, 2]), i3.new_zeros(1, 2, requires_grad=False)
a = x.clone();; a.masked_fill_(a > 0, s);; a.sum().backward();; (a, x.grad, s.grad)
m.broadcast_to(v, (2, 3))

# convolutions with dilation, groups, of one image
F.conv2d(m.ones(1, 2, 4, 4), m.ones(3, 2, 2, 2), stride=2, padding=1, dilation=1, groups=1)
F.conv2d(m.ones(1, 2, 4, 4), m.ones(4, 1, 2, 2), groups=2)
F.conv2d(m.ones(1, 1, 5, 5), m.ones(1, 1, 2, 2), dilation=2)
F.conv2d(m.ones(2, 4, 4), m.ones(3, 2, 2, 2))
F.conv2d(m.ones(2, 4, 4), m.ones(3, 2, 2, 2).requires_grad_(), m.ones(3))
F.conv2d(m.ones(1, 2, 4, 4), m.ones(3, 2, 3, 3), padding='same').shape, F.conv2d(m.ones(1, 2, 4, 4), m.ones(3, 2, 3, 3), padding='valid').shape
F.conv_transpose2d(m.ones(1, 2, 2, 2), m.ones(2, 1, 2, 2), stride=(2, 1), output_padding=(1, 0))
F.conv_transpose2d(m.ones(2, 2, 2), m.ones(2, 1, 2, 2))
m.tensor([True, False]) - 1.0
1 - m.tensor([True, False])
m.tensor([True, False]) - m.tensor([1.0, 2.0])
m.tensor([1.0, 2.0]) - m.tensor([True, False])
m.sub(m.tensor([True, False]), 1)
m.tensor([True, False]) - m.tensor([True, False])
grads(lambda a, b: F.conv2d(a, b, stride=2, padding=1, dilation=2, groups=2), rg([[[[float((i * 7 + j * 3 + c * 5) % 11) for j in range(5)] for i in range(6)] for c in range(4)]]), rg([[[[float((i + 2 * j + o) % 3) for j in range(2)] for i in range(3)] for c in range(2)] for o in range(6)]))
grads(lambda a, b, c: F.conv2d(a, b, c, dilation=(2, 1)), rg([[[[float((i * 7 + j * 3) % 11) for j in range(4)] for i in range(5)]]]), rg([[[[1.0, -2.0], [0.5, 3.0]]]]), rg([0.5]))
grads(lambda a, b: F.conv_transpose2d(a, b, stride=2, padding=1, output_padding=1, groups=2, dilation=2), rg([[[[float((i * 7 + j * 3 + c * 5) % 11) for j in range(3)] for i in range(2)] for c in range(4)]]), rg([[[[float((i + 2 * j + o) % 3) for j in range(2)] for i in range(3)] for c in range(2)] for o in range(4)]))
grads(lambda a, b, c: F.conv_transpose2d(a, b, c, groups=2), rg([[[[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.5, 2.0]]]]), rg([[[[1.0, -2.0], [0.5, 3.0]]]] * 2), rg([0.5, 1.0]))
[getattr(F.conv2d(m.ones(1,2,4,4).requires_grad_(), m.ones(2,1,2,2), stride=(2, 1), padding=1, dilation=(1, 2), groups=2).grad_fn, "_saved_" + n) for n in ("dilation", "groups", "output_padding", "padding", "stride", "transposed")]
F.conv2d(m.ones(1, 3, 4, 4), m.ones(4, 2, 2, 2))
F.conv2d(m.ones(1, 4, 4, 4), m.ones(4, 1, 2, 2), groups=2)
F.conv2d(m.ones(4, 4), m.ones(4, 1, 2, 2))
F.conv2d(m.ones(1, 1, 2, 2), m.ones(1, 1, 2, 2), dilation=2)
F.conv2d(m.ones(1, 1, 2, 2), m.ones(1, 1, 2, 2), padding="odd")

# lists of keys, memory that repeats, hooks that nothing comes to
m.autograd.gradcheck(lambda a: (b := a.clone(), b.register_hook(lambda g: g * 1))[0], (rg([1.0]),))
m.autograd.gradcheck(lambda a: (b := a.clone(), b.register_hook(lambda g: None))[0], (rg([1.0]),))
h = [];; m.autograd.gradcheck(lambda a: (b := a.clone(), b.register_hook(lambda g: h.append(g is None)))[0], (rg([1.0]),)), any(h)
x[[[1, 1, 1], [0]]]
x[[[1, 1, 0], [0, 1, 2]]]
x[[0, 1], [1, 2]]
x[[True, False]]
x[[[True, False, True], [True, True, True]]]
a = x.clone();; a[[[0, 1], [1]]] = 5;; a
x[[slice(0, 1), 0]]
x[[0, slice(0, 2)]]
x[[0, None]]
m.zeros(3).expand(2, 3).fill_(1)
m.zeros(1).expand(5).fill_(1)
a = m.zeros(1).expand(5);; a[0] = 5;; a
a = m.zeros(1).expand(5);; a[:] = 5;; a
a = m.zeros(1).expand(5);; a[:1] = 5;; a
a = m.zeros(3).expand(2, 3);; a[:, 0] = 5;; a
a = m.zeros(1).expand(5);; a.zero_()
a = m.zeros(3);; a.copy_(a)
a = leaf(2);; b = a.expand(3, 2).clone();; e = m.autograd.graph.get_gradient_edge(b);; c = m.autograd.graph.get_gradient_edge(leaf(2) * 2);; m.autograd.grad(b.sum(), (e, c), allow_unused=True, materialize_grads=True)

# dims counted from the back, hooks of nodes, keys and shapes of other kinds
grads(lambda a: a.permute(-1, 0), x)
grads(lambda a: a.unsqueeze(0).permute(-1, 0, -2), x)
grads(lambda a: a.roll((1, 2)), x)
x.roll((1, 2), 0)
grads(lambda a: a.index_select(1, m.tensor(2)), x)
grads(lambda a: a.index_select(0, m.tensor([0])), s)
m.autograd.grad(m.relu(rg([float("nan"), -1.0, 0.0, 2.0])).sum(), v, allow_unused=True)
a = rg([float("nan"), -1.0, 0.0, 2.0]);; a.relu().sum().backward();; a.grad
grads(lambda a: a.logsumexp(dim=[-1, 0]), x)
x.all(dim=[-1, 0])
x[range(2)]
x[m.tensor([0, 1], dtype=m.uint8)]
x[1.0]
m.ones()
m.full(2, 1)
m.eye(-1)
m.Tensor(1.5)
m.Tensor(m.Size([2])).shape, m.Size([1]) + m.Size([2])
import numpy as np;; [np.float64(1.5) - i3, i3 - np.float64(1.5), i3 ** np.float64(1.5), np.float64(1.5) ** i3]
x.numpy(force=True).tolist()
m.autograd.graph.increment_version(3)
m.autograd.grad([x * 2], [x], [m.ones_like(x), m.ones_like(x)])
a = x * x;; a.grad_fn.register_hook(lambda gi, go: 3);; a.sum().backward()
a = x * x;; a.grad_fn.register_hook(lambda gi, go: gi[0]);; a.sum().backward()
a = x * x;; a.grad_fn.register_hook(lambda gi, go: (gi[0],));; a.sum().backward()
a = x * x;; a.grad_fn.register_hook(lambda gi, go: (1, gi[1]));; a.sum().backward()
a = x * x;; a.grad_fn.register_hook(lambda gi, go: (gi[0][:1], gi[1]));; a.sum().backward()
a = x * x;; a.grad_fn.register_hook(lambda gi, go: (None, gi[1]));; a.sum().backward();; x.grad
a = x * 2;; a.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0]));; a.sum().backward()
a = x * x;; a.grad_fn.register_prehook(lambda go: 3);; a.sum().backward()
a = x * x;; a.grad_fn.register_prehook(lambda go: ());; a.sum().backward()
a = x * x;; a.grad_fn.register_prehook(lambda go: (go[0].float(),));; a.sum().backward()
a = x * x;; a.grad_fn.register_prehook(lambda go: (None,));; a.sum().backward();; x.grad
x.register_post_accumulate_grad_hook(lambda t: t);; x.sum().backward();; x.grad
a = (x * 1).copy_(2);; a, a.grad_fn.next_functions[1]
h = [];; ctx = m.autograd.graph.saved_tensors_hooks(lambda t: h.append(t) or t, lambda t: h.append(t) or t);; ctx.__enter__();; a = (s * v[0]) ** (v[1] + 2);; ctx.__exit__();; a.backward();; h
h = [];; ctx = m.autograd.graph.saved_tensors_hooks(lambda t: h.append(t) or t, lambda t: h.append(t) or t);; ctx.__enter__();; a = (x / y).mm(y.t());; ctx.__exit__();; a.sum().backward();; h
import pickle;; [pickle.loads(pickle.dumps([x, z, x * 2], protocol=p)) for p in range(3)]
import copy;; a = copy.copy(x);; a.detach().zero_();; x, a is x

# cross entropy, in all its ways
grads(lambda a: F.cross_entropy(a, m.tensor([0, 2]), ignore_index=2), x)
grads(lambda a: F.cross_entropy(a, m.tensor([0, 2]), label_smoothing=0.1), x)
grads(lambda a: F.cross_entropy(a, m.tensor([0, 2]), m.tensor([1.0, 2.0, 3.0], dtype=m.float64)), x)
grads(lambda a: F.cross_entropy(a, m.tensor([0, 2]), m.tensor([1.0, 2.0, 3.0], dtype=m.float64), label_smoothing=0.2, reduction="sum"), x)
grads(lambda a: F.cross_entropy(a, m.tensor([0, 2]), m.tensor([1.0, 2.0, 3.0], dtype=m.float64), label_smoothing=0.2, ignore_index=0), x)
grads(lambda a: F.cross_entropy(a, m.tensor([0, 2]), m.tensor([1.0, 2.0, 3.0], dtype=m.float64), reduction="none", ignore_index=0), x)
grads(lambda a, b: F.cross_entropy(a, b.softmax(1), reduction="none"), x, y)
F.cross_entropy(x, y.softmax(1), label_smoothing=0.1, reduction="sum"), F.cross_entropy(x, y.softmax(1), m.ones(3, dtype=m.float64)).item()
m.autograd.grad(F.cross_entropy(x.reshape(1, 2, 3), m.tensor([[0, 1, 1]]), m.tensor([1.0, 2.0], dtype=m.float64)), x)
F.cross_entropy(x.reshape(1, 2, 3), m.tensor([[0, 1, -100]]), reduction="none").shape
F.cross_entropy(x, m.tensor([-100, -100]))
F.cross_entropy(x, m.tensor([0, 2]), label_smoothing=2)
F.cross_entropy(x, m.tensor([0, 2]), m.ones(2, dtype=m.float64))
F.cross_entropy(x, m.tensor([0, 2, 1]))
F.cross_entropy(x, m.tensor([0.0, 2.0]))
F.nll_loss(x, m.tensor([0, 2]), m.tensor([1.0, 2.0, 3.0], dtype=m.float64), ignore_index=2, reduction="sum")

# what integers have not
i3.std()
(i3 > 1).var(0)

m.max(input=x, dim=1), m.mean(input=x, dim=0), m.maximum(input=x, other=y), m.std(input=x), m.addmm(input=y[:, :2], mat1=x, mat2=x.t()[:, :2]), m.lerp(input=x, end=y, weight=0.5), m.outer(input=v, vec2=v)
a = m.zeros(3);; m.add(f32[:1, :2], 1, out=a), a
(x * 2).grad_fn(3)

# convolutions: sides that stay, and what they refuse
F.conv2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 3, 3), padding="same", stride=2)
F.conv2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2), stride=0)
F.conv2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2), padding=-1)
F.conv2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2), m.ones(2))
F.conv2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2, dtype=m.float64))
F.conv2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2), m.ones(1, dtype=m.float64))
F.conv_transpose2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2, dtype=m.float64))
F.conv_transpose2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2), m.ones(2))
F.conv_transpose2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2), output_padding=1)
F.conv_transpose2d(m.ones(1, 1, 3, 3), m.ones(1, 1, 2, 2), stride=0)
"""

CASES = [line for line in LINES.strip().splitlines() if not line.startswith("# ")]


def tools(m) -> dict:
    """The names that the lines use."""

    def leaf(*shape):
        return m.ones(shape or (3,), requires_grad=True)

    def rg(data, dtype=None):
        return m.tensor(data, dtype=dtype or m.float64, requires_grad=True)

    def fn(forward, backward, name="MyFn"):
        methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        return type(name, (m.autograd.Function,), methods)

    def sq():
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        return fn(forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0], "Sq")

    def grads(f, *xs):
        """Value, first and second derivatives."""
        value = f(*xs)
        outputs = [y for y in (value if isinstance(value, (tuple, list)) else [value]) if y.requires_grad]
        total = sum((y * y).sum() for y in outputs)
        first = m.autograd.grad(total, xs, create_graph=True, allow_unused=True)
        again = [g for g in first if g is not None and g.requires_grad]
        second = m.autograd.grad(sum((g * g).sum() for g in again), xs, allow_unused=True) if again else ()
        return [value, *[[None if g is None else g.detach() for g in order] for order in (first, second)]]

    z, f32, i3 = m.tensor(X, dtype=m.float64), m.tensor(X), m.tensor([3, 1, 2])
    inputs = dict(x=rg(X), y=rg(Y), v=rg([0.6, -1.2, 0.9]), s=rg(1.75), z=z, f32=f32, i3=i3)
    return dict(m=m, F=m.nn.functional, leaf=leaf, rg=rg, fn=fn, sq=sq, grads=grads, X=X, warnings=warnings, **inputs)


def shown(thing) -> str:
    """An answer as text: of a tensor what can be seen of it."""
    if isinstance(thing, (tuple, list)):
        return "(" + ", ".join(map(shown, thing)) + ")"
    if not hasattr(thing, "requires_grad"):
        return f"{thing:.6g}" if isinstance(thing, float) else repr(thing)
    values = f"{rounded(thing.detach().tolist())} {str(thing.dtype).rpartition('.')[2]} {list(thing.shape)}"
    node = "" if thing.grad_fn is None else " " + type(thing.grad_fn).__name__
    return values + (" requires_grad" if thing.requires_grad else "") + node


def rounded(value):
    """To the digits that both compute alike."""
    return [rounded(v) for v in value] if isinstance(value, list) else round(value, 5) if value % 1 else value


def answer(m, line: str) -> str:
    """What a line answers, or how it is refused; and the warnings."""
    m.manual_seed(0)
    m.set_warn_always(True)  # so that the order of the lines makes no difference
    space, (*parts, last) = tools(m), line.split(";;")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for part in parts:
                exec(part.strip(), space)
            said = shown(eval(last.strip(), space))
        except Exception as error:
            said = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        finally:
            m.set_grad_enabled(True)
            m.set_warn_always(False)
    return " | ".join([said, *(f"{w.category.__name__}: {str(w.message)[:60]}" for w in caught)])
