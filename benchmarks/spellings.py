"""The programs of `workloads` in other words: nn.functional, addmm, methods, in-place updates with alpha.

What is computed is the same, so hand-written NumPy is compared with both. Only minigrad and PyTorch have these words.
"""

from collections.abc import Callable

from . import inputs
from .timing import Step


def chain_program(lib, x) -> Callable:
    x = lib.constant(x)

    def value(w, b):
        h = x
        for _ in range(333):
            h = h.mul(w).add(b).tanh()
        return h.sum()

    return value


def chain(lib) -> Step:
    x, *leaves = inputs.chain()
    return lib.gradients(chain_program(lib, x), leaves)


def chain_no_grad(lib) -> Step:
    x, *leaves = inputs.chain()
    return lib.forward(chain_program(lib, x), leaves)


def training(lib, loss: Callable, arrays: list, rate: float) -> Step:
    """Weights as nn.Linear has them, (out, in); an update with alpha; gradients set to None or to zero."""
    leaves = lib.leaves([array.T.copy() for array in arrays])
    no_grad = lib.no_grad

    def step():
        loss(*leaves).backward()
        with no_grad():
            for leaf in leaves:
                leaf.sub_(leaf.grad, alpha=rate)
                leaf.grad.zero_()
        return leaves

    return Step(step)


def mlp(lib) -> Step:
    x, labels = map(lib.constant, inputs.classification(inputs.LARGE, 128))
    linear, relu, cross_entropy = lib.linear, lib.relu, lib.cross_entropy

    def loss(w1, b1, w2, b2, w3, b3):
        h = relu(linear(x, w1, b1))
        h = relu(linear(h, w2, b2))
        return cross_entropy(linear(h, w3, b3), labels)

    return training(lib, loss, inputs.layers(inputs.LARGE), 0.01)


def small_mlp(lib) -> Step:
    x, target = map(lib.constant, inputs.regression(inputs.SMALL, 32))
    linear, mse_loss = lib.linear, lib.mse_loss

    def loss(w1, b1, w2, b2, w3, b3):
        h = linear(x, w1, b1).tanh()
        h = linear(h, w2, b2).tanh()
        return mse_loss(linear(h, w3, b3), target)

    return training(lib, loss, inputs.layers(inputs.SMALL), 0.01)


def fan_out(lib) -> Step:
    leaf, scale, _ = inputs.chain()
    scale, add = lib.constant(scale), lib.module.add

    def value(leaf):
        total = leaf.mul(scale)
        for _ in range(9_999):
            total = add(total, leaf.mul(scale))
        return total.sum()

    return lib.gradients(value, [leaf])


def double_backward(lib) -> Step:
    pow = lib.module.pow
    return lib.second_gradients(
        lambda x: x.sin().mul(pow(x, 3)).sum(), [inputs.normal(4, seed=3)], lambda slopes: slopes[0].sum()
    )


def hessian_vector(lib, sizes: tuple[int, ...], batch: int) -> Step:
    """Layers by addmm, and the vector given as grad_outputs."""
    arrays = inputs.layers(sizes)
    x, target = map(lib.constant, inputs.regression(sizes, batch))
    leaves, vectors = lib.leaves(arrays), [lib.constant(vector) for vector in inputs.directions(arrays)]
    addmm, mse_loss, grad = lib.module.addmm, lib.mse_loss, lib.module.autograd.grad

    def step():
        w1, b1, w2, b2, w3, b3 = leaves
        h = addmm(b2, addmm(b1, x, w1).tanh(), w2).tanh()
        slopes = grad(mse_loss(addmm(b3, h, w3), target), leaves, create_graph=True)
        return grad(slopes, leaves, grad_outputs=vectors)

    return Step(step)


def hvp_small(lib) -> Step:
    return hessian_vector(lib, inputs.SMALL, 32)


def hvp_large(lib) -> Step:
    return hessian_vector(lib, inputs.LARGE, 128)


def rnn(lib) -> Step:
    sequence, weight = inputs.recurrent()
    sequence, addmm = [lib.constant(x) for x in sequence], lib.module.addmm

    def value(weight):
        h = sequence[0]
        for x in sequence[1:]:
            h = addmm(x, h, weight).tanh()
        return h.sum()

    return lib.gradients(value, [weight])


def conv2d(lib, channels: int = 3) -> Step:
    *leaves, slope = inputs.convolution(channels)
    slope, convolve = lib.constant(slope), lib.conv2d

    def value(image, weight, bias):
        return convolve(image, weight, bias, padding="same").mul(slope).sum()

    return lib.gradients(value, leaves)


def conv2d_32(lib) -> Step:
    return conv2d(lib, 32)
