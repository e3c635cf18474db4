"""What is computed: each program once, for every library, against an adapter of `libraries`."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from . import hand, inputs, spellings
from .timing import Step


def chain_program(lib, x, operations: int) -> Callable:
    """`operations` of mul, add, tanh in a row, the last one a sum."""
    tanh, x = lib.tanh, lib.constant(x)

    def value(w, b):
        h = x
        for _ in range(operations // 3):
            h = tanh(h * w + b)
        return lib.sum(h)

    return value


def chain(lib, operations: int = 1_000) -> Step:
    x, *leaves = inputs.chain()
    return lib.gradients(chain_program(lib, x, operations), leaves)


def chain_no_grad(lib) -> Step:
    x, *leaves = inputs.chain()
    return lib.forward(chain_program(lib, x, 1_000), leaves)


def deep(lib, operations: int = 100_000) -> Step:
    x, *leaves = inputs.chain()
    return lib.backward_alone(chain_program(lib, x, operations), leaves)


def doubling(lib, levels: int = 60) -> Step:
    """h = h + h: few nodes, 2**levels paths through them."""

    def value(x):
        for _ in range(levels):
            x = x + x
        return lib.sum(x)

    return lib.backward_alone(value, [inputs.normal(4, seed=0)])


def adding(lib, levels: int = 60) -> Step:
    """h = h + x: as many nodes and edges, one path for each."""

    def value(x):
        h = x
        for _ in range(levels):
            h = h + x
        return lib.sum(h)

    return lib.backward_alone(value, [inputs.normal(4, seed=0)])


def mlp(lib) -> Step:
    x, labels = map(lib.constant, inputs.classification(inputs.LARGE, 128))
    relu, cross_entropy = lib.relu, lib.cross_entropy

    def loss(w1, b1, w2, b2, w3, b3):
        h = relu(x @ w1 + b1)
        h = relu(h @ w2 + b2)
        return cross_entropy(h @ w3 + b3, labels)

    return lib.training(loss, inputs.layers(inputs.LARGE), 0.01)


def squared_error(lib, sizes: tuple[int, ...], batch: int) -> Callable:
    """Three layers, tanh, mean squared error."""
    x, target = map(lib.constant, inputs.regression(sizes, batch))
    tanh = lib.tanh

    def loss(w1, b1, w2, b2, w3, b3):
        h = tanh(x @ w1 + b1)
        h = tanh(h @ w2 + b2)
        error = h @ w3 + b3 - target
        return (error * error).mean()

    return loss


def small_mlp(lib) -> Step:
    if hasattr(type(lib), "network"):
        return lib.network(inputs.layers(inputs.SMALL), *inputs.regression(inputs.SMALL, 32), 0.01)
    loss = squared_error(lib, inputs.SMALL, 32)
    return lib.training(loss, inputs.layers(inputs.SMALL), 0.01)


def hessian_vector(lib, sizes: tuple[int, ...], batch: int) -> Step:
    arrays = inputs.layers(sizes)
    vectors = [lib.constant(vector) for vector in inputs.directions(arrays)]

    def product(slopes):
        pairs = zip(slopes, vectors, strict=True)
        return sum((slope * vector).sum() for slope, vector in pairs)

    return lib.second_gradients(squared_error(lib, sizes, batch), arrays, product)


def hvp_small(lib) -> Step:
    return hessian_vector(lib, inputs.SMALL, 32)


def hvp_large(lib) -> Step:
    return hessian_vector(lib, inputs.LARGE, 128)


def double_backward(lib) -> Step:
    sin = lib.sin
    return lib.second_gradients(
        lambda x: (sin(x) * x**3).sum(),
        [inputs.normal(4, seed=3)],
        lambda slopes: slopes[0].sum(),
    )


def fan_out(lib) -> Step:
    leaf, scale, _ = inputs.chain()
    scale = lib.constant(scale)

    def value(leaf):
        total = leaf * scale
        for _ in range(9_999):
            total = total + leaf * scale
        return lib.sum(total)

    return lib.gradients(value, [leaf])


def rnn(lib) -> Step:
    sequence, weight = inputs.recurrent()
    sequence, tanh = [lib.constant(x) for x in sequence], lib.tanh

    def value(weight):
        h = sequence[0]
        for x in sequence[1:]:
            h = tanh(h @ weight + x)
        return h.sum()

    return lib.gradients(value, [weight])


def conv2d(lib, channels: int = 3) -> Step:
    *leaves, slope = inputs.convolution(channels)
    slope, convolve = lib.constant(slope), lib.conv2d

    def value(image, weight, bias):
        return (convolve(image, weight, bias, padding=1) * slope).sum()

    return lib.gradients(value, leaves)


def conv2d_32(lib) -> Step:
    return conv2d(lib, 32)


def one_op(lib) -> Step:
    return lib.backward_alone(lib.sum, [inputs.normal(4, seed=0)])


@dataclass(frozen=True)
class Workload:
    """A row of the table. The goals limit minigrad's time over torch's, and over `by_hand`'s."""

    title: str
    build: Callable[..., Step]
    to_torch: float | None = None
    to_hand: float | None = None
    by_hand: Callable[[], Step] | None = None
    rounds: int = 10_000  # at most
    torch_only: bool = False  # written in words that only minigrad and PyTorch have


WORKLOADS = {
    "chain": Workload("chain, 1,000 ops on 4 numbers", chain, 0.60, 3.3, hand.chain),
    "chain_no_grad": Workload("... under no_grad", chain_no_grad, 0.60, 2.6, hand.chain_no_grad),
    "mlp": Workload("MLP 784-256-128-10, batch 128, step", mlp, 1.0, 1.08, hand.mlp),
    "small_mlp": Workload("MLP 2-16-16-1, batch 32, step", small_mlp, 0.45, 2.2, hand.small_mlp),
    "fan_out": Workload("one leaf used 10,000 times", fan_out, 0.45, 5, hand.fan_out),
    "double_backward": Workload("double backward of sum(sin(x) x^3)", double_backward, 0.45, 6, hand.double_backward),
    "hvp_small": Workload("Hessian-vector, small MLP", hvp_small, 0.65, 5.5, hand.hvp_small),
    "hvp_large": Workload("Hessian-vector, large MLP", hvp_large, 1.0, 1.7, hand.hvp_large),
    "rnn": Workload("RNN, 512 steps", rnn, 0.65, 1.8, hand.rnn),
    "conv2d": Workload("conv2d 3x3, 32x3x32x32 to 16", conv2d, 1.9, 1.06, hand.conv2d),
    "conv2d_32": Workload("conv2d 3x3, 32x32x32x32 to 16", conv2d_32, None, 1.06, hand.conv2d_32),
    "one_op": Workload("backward() alone, one op", one_op, 0.40),
    "deep": Workload("backward() alone, 100,000 ops", deep, 0.4, rounds=5),
}
# Each of these again in other words, so that nothing is tuned for one spelling.
for _name, _plain in list(WORKLOADS.items()):
    if _other := getattr(spellings, _name, None):
        WORKLOADS[_name + "_spelled"] = replace(
            _plain, title="(other words) " + _plain.title, build=_other, torch_only=True
        )
