"""Small programs with a misuse each, for `lines` and `explain` (`m` is minigrad or PyTorch).

A heading names the program, then what the program calls the tensor that is to blame, then the public issue that it is
a small version of, if any. Comments say which lines are to be named: `saved`, `overwritten`, `made` (or where the
history was lost) and `freed`; `saved 3` is that line in its third round.
"""

import re
from typing import NamedTuple

PROGRAMS = r"""
# augmented | h
w = m.tensor(3.0, requires_grad=True)
h = w * 2
loss = h * h  # saved
h += 1  # overwritten
loss.backward()

# saved result | y
x = m.tensor([1.0, 2.0], requires_grad=True)
y = m.sigmoid(x)  # saved
y.mul_(2)  # overwritten
y.sum().backward()

# border set to zero | att | AggMan96/RK-Net#9
x = m.ones(2, 4, requires_grad=True)
att = m.relu(x * 2)  # saved
att[:, 0] = 0  # overwritten
att[:, -1] = 0  # overwritten
att.sum().backward()

# top-down pathway | laterals[1] | lyongo/NWPU-MOC#4
x = m.tensor([1.0, 2.0])
weights = [m.tensor(0.1 * (i + 1), requires_grad=True) for i in range(3)]
laterals = []
for w in weights:
    laterals.append(m.tanh(x * w))  # saved 2
for i in range(2, 0, -1):
    laterals[i - 1] += laterals[i] * 0.5  # overwritten
(laterals[0] + laterals[1] + laterals[2]).sum().backward()

# residual with an activation in place | x | osmr/imgclsmob#13
def block(x):
    out = x * x  # saved
    return m.relu_(x) + out  # overwritten
weight = m.tensor([2.0, 3.0], requires_grad=True)
block(weight * 1).sum().backward()

# discriminator updated too early | d | pytorch/pytorch#39141
def step(parameters):
    with m.no_grad():
        for p in parameters:
            p -= 0.1 * p.grad  # overwritten
g = m.tensor(2.0, requires_grad=True)
d = m.tensor(3.0, requires_grad=True)
fake = g * 2
loss_d = 1 - d * fake
loss_g = d * fake  # saved
loss_d.backward(retain_graph=True)
step([d])
loss_g.backward()

# fake image of old weights | w2 | tamarott/SinGAN#148
w1 = m.tensor(2.0, requires_grad=True)
w2 = m.tensor(3.0, requires_grad=True)
fake = (w1 * 5) * w2  # saved
for i in range(3):
    loss = fake * fake
    loss.backward(retain_graph=True)
    with m.no_grad():
        w2.sub_(0.1 * w2.grad)  # overwritten

# hidden state carried on | h | MorvanZhou/PyTorch-Tutorial#57
w = m.tensor(0.5, requires_grad=True)
h = m.zeros(2)
for i in range(3):
    h = m.tanh(w + h)  # made 1
    loss = (h * h).sum()
    loss.backward()  # freed 1

# hidden state of a class | self.hidden | sgadgil6/cnslab_fmri#4
class Net:
    def __init__(self):
        self.w = m.tensor(0.5, requires_grad=True)
        self.hidden = m.zeros(2)
    def forward(self, x):
        self.hidden = m.tanh(x * self.w + self.hidden)  # made 1
        return self.hidden.sum()
net = Net()
for x in (m.ones(2), m.ones(2)):
    net.forward(x).backward()  # freed 1

# update of a leaf | s_batch | BaiTheBest/SparseLLM#13
s_batch = m.tensor([1.0, 2.0], requires_grad=True)  # made
(s_batch * s_batch).sum().backward()
s_batch -= 0.1 * s_batch.grad

# bias of a detector | b[:, 1] | DataXujing/YOLO-v5#23
bias = m.zeros(6, requires_grad=True)  # made
b = bias.view(3, -1)
b[:, 1] += 0.5

# neurons edited | weight[:, pos] | Hunter-DDM/knowledge-neurons#14
weight = m.ones(2, 3, requires_grad=True)  # made
pos = 1
weight[:, pos] -= m.ones(2)

# position encoding | E | Atcold/NYU-DLSP20#765
E = m.zeros(2, 4, requires_grad=True)  # made
E[:, 0::2] = m.ones(2, 2)

# losses to NumPy | y | zhuangdizhu/FedGen#1
w = m.tensor(2.0, requires_grad=True)
samples, losses = [3, 4], [w * 2, w * 3]  # made
total = sum(x * y.numpy() for x, y in zip(samples, losses))

# update with alpha | p | pytorch/examples#779
w = m.tensor([1.0, 2.0], requires_grad=True)  # made
(w * w).sum().backward()
for p in [w]:
    p.add_(p.grad, alpha=-0.1)

# loss computed once | h
w = m.tensor(3.0, requires_grad=True)
h = w * w  # made
loss = h.sum()
for i in range(2):
    loss.backward()  # freed 1

# two losses of one forward | features
w = m.tensor([1.0, 2.0], requires_grad=True)
features = m.exp(w)  # made
first = features.sum()
second = (features * 2).sum()
first.backward()  # freed
second.backward()

# no_grad | loss
w = m.tensor([1.0, 2.0], requires_grad=True)
with m.no_grad():
    y = w * w  # made
loss = y.sum()
loss.backward()

# detach | loss
w = m.tensor([1.0, 2.0], requires_grad=True)
y = (w * w).detach()  # made
loss = y.sum()
loss.backward()

# item | loss
w = m.tensor([1.0, 2.0], requires_grad=True)
total = (w * w).sum()
value = total.item()  # made
loss = m.tensor(value * 2)
loss.backward()

# numbers in a list | loss
w = m.tensor([1.0, 2.0], requires_grad=True)
values = []
for i in range(2):
    values.append((w * i).sum().item())  # made 2
loss = m.tensor(values).sum()
loss.backward()

# accuracy as a loss | loss
w = m.tensor([1.0, -2.0], requires_grad=True)
correct = (w * 2) > 0  # made
loss = correct.float().mean()
loss.backward()

# nothing requires grad | loss
w = m.tensor([1.0, 2.0])
y = w * w
loss = y.sum()  # made
loss.backward()

# penalty without create_graph | penalty
x = m.tensor(3.0, requires_grad=True)
(slope,) = m.autograd.grad(x * x, x)  # made
penalty = slope * slope
penalty.backward()

# view saved, base overwritten | part
w = m.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = w * 1
part = y[:2]
loss = (part * part).sum()  # saved
y[0] = 5.0  # overwritten
loss.backward()

# through detach() | h
w = m.tensor([1.0, 2.0], requires_grad=True)
h = w * 2
loss = (h * h).sum()  # saved
copy = h.detach()
copy.zero_()  # overwritten
loss.backward()

# inside a function | features
def normalise(t):
    t.div_(2)  # overwritten
    return t
def model(x):
    features = x * w
    out = features * features  # saved
    return out + normalise(features)
w = m.tensor([1.0, 2.0], requires_grad=True)
model(m.ones(2)).sum().backward()

# rounds of a loop | h
w = m.tensor(3.0, requires_grad=True)
h = w * 1
losses = []
for i in range(3):
    losses.append(h * h)  # saved 3
    h += i  # overwritten 3
(losses[0] + losses[1] + losses[2]).backward()

# buffer reused | buffer
w = m.tensor([1.0, 2.0], requires_grad=True)
buffer, losses = m.zeros(2), []
for i in range(3):
    buffer.copy_(m.ones(2) * i)  # overwritten 3
    losses.append((w * buffer).sum())  # saved 2
losses[1].backward()

# own Function | x
class Square(m.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x
w = m.tensor([1.0, 2.0], requires_grad=True)
x = w * 1
loss = Square.apply(x).sum()  # saved
x.add_(1)  # overwritten
loss.backward()

# out= | scale
w = m.tensor([1.0, 2.0], requires_grad=True)
scale = m.ones(2) * 2
loss = (w * scale).sum()  # saved
m.mul(scale, scale, out=scale)  # overwritten
loss.backward()

# several overwrites | h
w = m.tensor([1.0, 2.0], requires_grad=True)
h = w * 2
loss = (h * h).sum()  # saved
h.add_(1)  # overwritten
for i in range(2):
    h[0] = i  # overwritten
loss.backward()

# weights that are frozen | loss
w = m.tensor([1.0, 2.0], requires_grad=True)
for p in [w]:
    p.requires_grad = False  # made
loss = (w * w).sum()
loss.backward()

# one of several views | first
x = m.tensor([1.0, 2.0], requires_grad=True)
first, second = (x * 2).unbind(0)
first.add_(1)

# several numbers | loss
w = m.tensor([1.0, 2.0], requires_grad=True)
loss = w * w  # made
loss.backward()

# flag of a result | y
w = m.tensor([1.0, 2.0], requires_grad=True)
y = w * w  # made
y.requires_grad_(False)

# deep copy | y
import copy
w = m.tensor([1.0, 2.0], requires_grad=True)
y = w * w  # made
copy.deepcopy(y)

# unused input | w
x = m.tensor(3.0, requires_grad=True)
w = m.tensor(2.0, requires_grad=True)  # made
loss = x * 5
m.autograd.grad(loss, w)

# hook on a constant | x
x = m.tensor([1.0, 2.0])  # made
x.register_hook(print)

# several numbers as one | y
w = m.tensor([1.0, 2.0], requires_grad=True)
y = w * w  # made
y.item()
"""

# What minigrad has no classes for: Modules and optimizers.
WITH_MODULES = r"""
# optimizer between forward and backward | d.weight
d = m.nn.Linear(2, 1, bias=False)
optimizer = m.optim.Adam(d.parameters())
x = m.ones(1, 2, requires_grad=True)
loss_d = d(x).sum()
loss_g = d(x * 2).sum()  # saved
loss_d.backward()
optimizer.step()  # overwritten
loss_g.backward()

# ReLU(inplace=True) | x
class Block(m.nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = m.nn.ReLU(inplace=True)
    def forward(self, x):
        out = x * x  # saved
        return self.relu(x) + out  # overwritten
Block()(m.ones(2, requires_grad=True) * 1).sum().backward()

# second round of two | model.2.weight
model = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.ReLU(), m.nn.Linear(2, 1))
optimizer = m.optim.SGD(model.parameters(), lr=0.1)
losses = []
for i in range(2):
    loss = model(m.ones(4, 2)).mean()  # saved 2
    losses.append(loss)
    loss.backward(retain_graph=True)
    optimizer.step()  # overwritten 2
sum(losses).backward()

# training with a memory | self.state
class Memory(m.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = m.nn.GRUCell(2, 2), m.nn.Linear(2, 3)
        self.state = m.zeros(4, 2)
    def forward(self, x):
        gate = m.sigmoid(x * 2)
        self.state = self.cell(x * gate, self.state)  # made 1
        return self.head(self.state)
net = Memory()
optimizer = m.optim.AdamW(net.parameters())
for i in range(3):
    optimizer.zero_grad()
    loss = m.nn.functional.cross_entropy(net(m.ones(4, 2)), m.tensor([0, 1, 2, 0]))
    loss.backward()  # freed 1
    optimizer.step()

# one column of a softmax | probs
head = m.nn.Linear(2, 3)
probs = m.softmax(head(m.ones(4, 2)), -1)  # saved
probs[:, 0] += 0.1  # overwritten
probs.log().sum().backward()

# weights initialised in place | net.weight
net = m.nn.Linear(2, 2)
net.weight.fill_(0.5)

# cell of an RNN | h
cell = m.nn.RNNCell(2, 2)
h = m.zeros(1, 2)
for i in range(2):
    h = cell(m.ones(1, 2), h)  # made 1
    h.sum().backward()  # freed 1

# second layer of a Sequential | net.2.weight
net = m.nn.Sequential(m.nn.Linear(2, 2), m.nn.Tanh(), m.nn.Linear(2, 1))
loss = net(m.ones(1, 2)).sum()  # saved
with m.no_grad():
    for p in net.parameters():
        p.mul_(0.9)  # overwritten
loss.backward()
"""


class Program(NamedTuple):
    """A program, what it calls the tensor to blame, and the lines to name: word -> [(number, round or 0)]."""

    name: str
    variable: str
    issue: str
    source: str
    lines: dict[str, list[tuple[int, int]]]


def read(table: str) -> dict[str, Program]:
    """The programs of a table, by name."""
    found = {}
    pieces = re.split(r"(?m)^# (.*)\n", table)[1:]
    for heading, source in zip(pieces[0::2], pieces[1::2], strict=True):
        name, variable, issue = [*heading.split(" | "), ""][:3]
        lines: dict[str, list[tuple[int, int]]] = {}
        for number, line in enumerate(source.splitlines(), 1):
            marked = re.search(r"  # (saved|overwritten|made|freed)(?: (\d+))?$", line)
            if marked:
                lines.setdefault(marked[1], []).append((number, int(marked[2] or 0)))
        found[name] = Program(name, variable, issue, source, lines)
    return found


CASES, TORCH_CASES = read(PROGRAMS), read(WITH_MODULES)
