"""The same work with every derivative written out in NumPy: the limit that no autograd beats."""

import numpy as np

from . import inputs
from .timing import Step


def chain() -> Step:
    x, w, b = inputs.chain()

    def step():
        states = [x]
        for _ in range(333):
            states.append(np.tanh(states[-1] * w + b))
        states[-1].sum()
        slope, slope_w, slope_b = np.ones_like(x), np.zeros_like(w), np.zeros_like(b)
        while len(states) > 1:
            y = states.pop()
            slope = slope - slope * y * y
            slope_b += slope
            slope_w += slope * states[-1]
            slope = slope * w
        return slope_w, slope_b

    return Step(step)


def chain_no_grad() -> Step:
    x, w, b = inputs.chain()

    def step():
        h = x
        for _ in range(333):
            h = np.tanh(h * w + b)
        return [h.sum()]

    return Step(step)


def descend(arrays, slopes, rate: float):
    """One step of gradient descent, in place."""
    for array, slope in zip(arrays, slopes, strict=True):
        array -= rate * slope
    return arrays


def mlp() -> Step:
    x, labels = inputs.classification(inputs.LARGE, 128)
    arrays = inputs.layers(inputs.LARGE)
    ones, rows = np.ones(128, np.float32), np.arange(128)

    def step():
        w1, b1, w2, b2, w3, b3 = arrays
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        logits = h2 @ w3 + b3
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        slope3 = powers / powers.sum(axis=1, keepdims=True)
        -np.log(slope3[rows, labels]).mean()
        slope3[rows, labels] -= 1
        slope3 /= 128
        slope2 = (slope3 @ w3.T) * (h2 > 0)
        slope1 = (slope2 @ w2.T) * (h1 > 0)
        slopes = x.T @ slope1, ones @ slope1, h1.T @ slope2, ones @ slope2
        return descend(arrays, (*slopes, h2.T @ slope3, ones @ slope3), 0.01)

    return Step(step)


def small_mlp() -> Step:
    x, target = inputs.regression(inputs.SMALL, 32)
    arrays = inputs.layers(inputs.SMALL)
    ones, twice_mean = np.ones(32, np.float32), np.float32(2 / 32)

    def step():
        w1, b1, w2, b2, w3, b3 = arrays
        h1 = np.tanh(x @ w1 + b1)
        h2 = np.tanh(h1 @ w2 + b2)
        error = h2 @ w3 + b3 - target
        (error * error).mean()
        slope3 = error * twice_mean
        slope2 = slope3 @ w3.T
        slope2 -= slope2 * h2 * h2
        slope1 = slope2 @ w2.T
        slope1 -= slope1 * h1 * h1
        slopes = x.T @ slope1, ones @ slope1, h1.T @ slope2, ones @ slope2
        return descend(arrays, (*slopes, h2.T @ slope3, ones @ slope3), 0.01)

    return Step(step)


def hessian_vector(sizes: tuple[int, ...], batch: int) -> Step:
    """Pearlmutter's way: forward and backward, and the change of each along the vector (d_)."""
    x, target = inputs.regression(sizes, batch)
    arrays = inputs.layers(sizes)
    vectors = inputs.directions(arrays)
    ones, twice_mean = np.ones(batch, np.float32), np.float32(2 / target.size)

    def step():
        (w1, b1, w2, b2, w3, b3), (v1, c1, v2, c2, v3, c3) = arrays, vectors
        h1 = np.tanh(x @ w1 + b1)
        t1 = 1 - h1 * h1
        d_h1 = t1 * (x @ v1 + c1)
        h2 = np.tanh(h1 @ w2 + b2)
        t2 = 1 - h2 * h2
        d_h2 = t2 * (d_h1 @ w2 + h1 @ v2 + c2)
        slope3 = (h2 @ w3 + b3 - target) * twice_mean
        d_slope3 = (d_h2 @ w3 + h2 @ v3 + c3) * twice_mean
        back2 = slope3 @ w3.T
        slope2 = back2 * t2
        d_slope2 = (d_slope3 @ w3.T + slope3 @ v3.T) * t2 - 2 * back2 * h2 * d_h2
        back1 = slope2 @ w2.T
        d_slope1 = (d_slope2 @ w2.T + slope2 @ v2.T) * t1 - 2 * back1 * h1 * d_h1
        d_w2 = d_h1.T @ slope2 + h1.T @ d_slope2
        d_w3 = d_h2.T @ slope3 + h2.T @ d_slope3
        return x.T @ d_slope1, ones @ d_slope1, d_w2, ones @ d_slope2, d_w3, ones @ d_slope3

    return Step(step)


def hvp_small() -> Step:
    return hessian_vector(inputs.SMALL, 32)


def hvp_large() -> Step:
    return hessian_vector(inputs.LARGE, 128)


def double_backward() -> Step:
    x = inputs.normal(4, seed=3)

    def step():
        sin, cos, square = np.sin(x), np.cos(x), x * x
        cube = square * x
        (sin * cube).sum()
        (cos * cube + 3 * square * sin).sum()
        return [6 * (square * cos + x * sin) - sin * cube]

    return Step(step)


def fan_out() -> Step:
    leaf, scale, _ = inputs.chain()

    def step():
        total = leaf * scale
        for _ in range(9_999):
            total = total + leaf * scale
        total.sum()
        one, slope = np.ones_like(leaf), np.zeros_like(leaf)
        for _ in range(10_000):
            slope += one * scale
        return [slope]

    return Step(step)


def rnn() -> Step:
    sequence, weight = inputs.recurrent()

    def step():
        states = [sequence[0]]
        for x in sequence[1:]:
            states.append(np.tanh(states[-1] @ weight + x))
        states[-1].sum()
        slope, slope_w = np.ones_like(states[-1]), np.zeros_like(weight)
        while len(states) > 1:
            y = states.pop()
            slope = slope - slope * y * y
            slope_w += states[-1].T @ slope
            slope = slope @ weight.T
        return [slope_w]

    return Step(step)


def conv2d(channels: int = 3) -> Step:
    """Nine shifted matrix products over padded rows: of one image at a time, which stays in the cache, or of all."""
    image, weight, bias, slope = inputs.convolution(channels)
    (count, _, height, width), filters = image.shape, len(weight)
    size = 1 if channels > 8 else count
    length = size * (height + 2) * (width + 2) - 2 * (width + 2) - 2
    places = [(i, j, slice(i * (width + 2) + j, i * (width + 2) + j + length)) for i in range(3) for j in range(3)]

    def padded(channels):
        array = np.zeros((channels, size, height + 2, width + 2), np.float32)
        return array, array.reshape(channels, -1)

    def step():
        out, slope_image, slope_weight = np.empty_like(slope), np.empty_like(image), np.zeros_like(weight)
        inner, flat = padded(channels)
        total, total_flat = padded(filters)
        back, back_flat = padded(filters)
        for at in range(0, count, size):
            inner[:, :, 1:-1, 1:-1] = image[at : at + size].transpose(1, 0, 2, 3)
            total.fill(0)
            for i, j, place in places:
                total_flat[:, :length] += weight[:, :, i, j].copy() @ flat[:, place]
            out[at : at + size] = total[:, :, :height, :width].transpose(1, 0, 2, 3)
        out += bias[:, None, None]
        (out * slope).sum()
        for at in range(0, count, size):
            inner[:, :, 1:-1, 1:-1] = image[at : at + size].transpose(1, 0, 2, 3)
            back[:, :, :height, :width] = slope[at : at + size].transpose(1, 0, 2, 3)
            spread, spread_flat = padded(channels)
            for i, j, place in places:
                slope_weight[:, :, i, j] += back_flat[:, :length] @ flat[:, place].T
                spread_flat[:, place] += weight[:, :, i, j].T.copy() @ back_flat[:, :length]
            slope_image[at : at + size] = spread[:, :, 1:-1, 1:-1].transpose(1, 0, 2, 3)
        return slope_image, slope_weight, slope.sum((0, 2, 3))

    return Step(step)


def conv2d_32() -> Step:
    return conv2d(32)
