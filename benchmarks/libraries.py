"""How each library differentiates a program. The programs themselves are in `workloads`.

An adapter offers the mathematics the programs need (`tanh`, `constant`, ...) and turns a
program `value(*leaves) -> scalar` into a `Step`: `gradients`, `forward` (nothing recorded),
`training` (a gradient, then plain gradient descent), `second_gradients`, `backward_alone`.
`cannot` names the workloads for which a library has nothing.
"""

import importlib
import math
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np

from .timing import Step


class Backward:
    """What libraries with `output.backward()` and `leaf.grad` have in common."""

    cannot = ()  # names of workloads

    def backward_alone(self, value, arrays):
        def prepare():
            leaves = self.leaves(arrays)
            return value(*leaves), leaves

        def run(prepared):
            output, leaves = prepared
            output.backward()
            return [leaf.grad for leaf in leaves]

        return Step(run, prepare)


class TorchLike(Backward):
    """minigrad and PyTorch: one code for both, which is the point."""

    def __init__(self, module: ModuleType):
        self.module = module
        self.no_grad = module.no_grad
        if hasattr(module, "set_num_threads"):
            module.set_num_threads(1)

    def __getattr__(self, name):
        if name in ("tanh", "sin", "sum"):
            return getattr(self.module, name)
        return getattr(importlib.import_module(f"{self.module.__name__}.nn.functional"), name)

    def constant(self, array):
        return self.module.from_numpy(array)

    def leaves(self, arrays):
        return [self.module.from_numpy(array).requires_grad_() for array in arrays]

    def numbers(self, tensors):
        return [tensor.detach().numpy() for tensor in tensors]

    def gradients(self, value, arrays):
        leaves = self.leaves(arrays)

        def step():
            for leaf in leaves:
                leaf.grad = None
            value(*leaves).backward()
            return [leaf.grad for leaf in leaves]

        return Step(step)

    def forward(self, value, arrays):
        leaves, no_grad = self.leaves(arrays), self.no_grad

        def step():
            with no_grad():
                return [value(*leaves)]

        return Step(step)

    def training(self, value, arrays, rate):
        leaves, no_grad = self.leaves(arrays), self.no_grad

        def step():
            value(*leaves).backward()
            with no_grad():
                for leaf in leaves:
                    leaf -= rate * leaf.grad
                    leaf.grad = None
            return leaves

        return Step(step)

    def second_gradients(self, value, arrays, combine):
        leaves, grad = self.leaves(arrays), self.module.autograd.grad

        def step():
            first = grad(value(*leaves), leaves, create_graph=True)
            return grad(combine(first), leaves)

        return Step(step)


class TorchModules(TorchLike):
    """PyTorch as a training step is mostly written: nn.Linear, nn.MSELoss, optim.SGD. It can do that alone."""

    cannot = (
        *("chain", "chain_no_grad", "mlp", "fan_out", "double_backward", "hvp_small", "hvp_large"),
        *("rnn", "conv2d", "conv2d_32", "one_op", "deep"),
    )

    def __init__(self, nn: ModuleType):
        super().__init__(importlib.import_module("torch"))
        self.nn = nn

    def network(self, arrays, inputs, targets, rate):
        nn, layers = self.nn, []
        for weight, bias in zip(arrays[::2], arrays[1::2], strict=True):
            layer = nn.Linear(*weight.shape)
            layer.weight.data, layer.bias.data = self.constant(weight.T.copy()), self.constant(bias.copy())
            layers += [layer, nn.Tanh()]
        net, criterion = nn.Sequential(*layers[:-1]), nn.MSELoss()
        optimizer = self.module.optim.SGD(net.parameters(), lr=rate)
        x, y = self.constant(inputs), self.constant(targets)

        def step():
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()
            return [p.t() for p in net.parameters()]

        return Step(step)


class MyGrad(TorchLike):
    """Tensors and backward() as in PyTorch; first derivatives only. backward() clears `.grad`."""

    cannot = ("double_backward", "hvp_small", "hvp_large")

    def __init__(self, module: ModuleType):
        self.module = module
        self.no_grad = lambda: module.no_autodiff
        self.tanh, self.sin, self.sum = module.tanh, module.sin, module.sum
        self.relu = importlib.import_module("mygrad.nnet.activations").relu
        self.losses = importlib.import_module("mygrad.nnet.losses")
        self.layers = importlib.import_module("mygrad.nnet.layers")

    def cross_entropy(self, logits, labels):
        return self.losses.softmax_crossentropy(logits, labels.data)

    def conv2d(self, image, weight, bias, padding):
        out = self.layers.conv_nd(image, weight, stride=1, padding=padding)
        return out + bias.reshape(1, -1, 1, 1)

    def constant(self, array):
        return self.module.tensor(array, constant=True, copy=False)

    def leaves(self, arrays):
        return [self.module.tensor(array, copy=False) for array in arrays]

    def numbers(self, tensors):
        return [np.asarray(tensor) for tensor in tensors]

    def gradients(self, value, arrays):
        leaves = self.leaves(arrays)

        def step():
            value(*leaves).backward()
            return [leaf.grad for leaf in leaves]

        return Step(step)

    def training(self, value, arrays, rate):
        leaves = self.leaves(arrays)

        def step():
            value(*leaves).backward()
            for leaf in leaves:
                leaf.data -= rate * leaf.grad
            return leaves

        return Step(step)


class HipsAutograd:
    """Functions of arrays, differentiated by grad()."""

    cannot = ("conv2d", "conv2d_32")

    def __init__(self, module: ModuleType):
        self.module = module
        self.np = importlib.import_module("autograd.numpy")
        self.tanh, self.sin, self.sum = self.np.tanh, self.np.sin, self.np.sum

    def relu(self, array):
        return self.np.maximum(array, 0)

    def cross_entropy(self, logits, labels):
        shifted = logits - logits.max(axis=1, keepdims=True)
        logs = self.np.log(self.np.exp(shifted).sum(axis=1))
        return (logs - shifted[np.arange(len(labels)), labels]).mean()

    def constant(self, array):
        return array

    def numbers(self, arrays):
        return [np.asarray(array) for array in arrays]

    def grad(self, value, arrays):
        return self.module.grad(value, tuple(range(len(arrays))))

    def gradients(self, value, arrays):
        grad = self.grad(value, arrays)
        return Step(lambda: grad(*arrays))

    def forward(self, value, arrays):
        return Step(lambda: [value(*arrays)])

    def training(self, value, arrays, rate):
        grad = self.grad(value, arrays)

        def step():
            for array, slope in zip(arrays, grad(*arrays), strict=True):
                array -= rate * slope
            return arrays

        return Step(step)

    def second_gradients(self, value, arrays, combine):
        first = self.grad(value, arrays)
        return self.gradients(lambda *leaves: combine(first(*leaves)), arrays)

    def backward_alone(self, value, arrays):
        make_vjp = self.module.make_vjp(value, tuple(range(len(arrays))))
        return Step(lambda prepared: prepared[0](1.0), lambda: make_vjp(*arrays))


class Micrograd(Backward):
    """Scalars: it computes the first element of what the others compute."""

    cannot = (
        *("chain_no_grad", "mlp", "small_mlp", "double_backward"),
        *("hvp_small", "hvp_large", "rnn", "conv2d", "conv2d_32"),
    )

    def __init__(self, module: ModuleType):
        self.value_class = importlib.import_module("micrograd.engine").Value
        # Its walk recurses. Enough for 20,000 operations in a row, not for the deepest workload.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 40_000))

    def constant(self, array):
        return self.value_class(float(array.flat[0]))

    def leaves(self, arrays):
        return [self.constant(array) for array in arrays]

    def numbers(self, slopes):
        return [np.float32(slope) for slope in slopes]

    def sum(self, value):
        return value

    def tanh(self, value):
        """Written as its own relu is; it has no tanh."""
        out = self.value_class(math.tanh(value.data), (value,), "tanh")

        def _backward():
            value.grad += (1 - out.data * out.data) * out.grad

        out._backward = _backward
        return out

    def gradients(self, value, arrays):
        return Step(self.backward_alone(value, arrays).once)


ADAPTERS: dict[str, Callable] = {
    "minigrad": TorchLike,
    "torch": TorchLike,
    "torch.nn": TorchModules,
    "autograd": HipsAutograd,
    "mygrad": MyGrad,
    "micrograd": Micrograd,
}


def load(name: str):
    """The adapter of one library; ModuleNotFoundError where it is not installed."""
    return ADAPTERS[name](importlib.import_module(name))


def present() -> dict[str, object]:
    """An adapter for each library that can be imported here, in the table's order."""
    found = {}
    for name in ADAPTERS:
        try:
            found[name] = load(name)
        except ModuleNotFoundError:
            pass
    return found
