"""The numbers that every implementation starts from: float32, seeded, fresh copies each call."""

from itertools import pairwise

import numpy as np

SMALL = (2, 16, 16, 1)
LARGE = (784, 256, 128, 10)


def normal(*shape: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """A float32 array of normal numbers, the same for the same seed."""
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def chain() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, w, b for h = tanh(h * w + b).

    With w = 1 and b = 0 the gradient fades slowly. With others it sinks into subnormal numbers
    within a few hundred steps, and they slow the processor down, not the library.
    """
    return normal(4, seed=0), np.ones(4, np.float32), np.zeros(4, np.float32)


def layers(sizes: tuple[int, ...], seed: int = 1) -> list[np.ndarray]:
    """W1, b1, W2, b2, ... of a fully connected network, for `x @ W + b`."""
    arrays = []
    for number, (rows, columns) in enumerate(pairwise(sizes)):
        arrays.append(normal(rows, columns, seed=seed + number, scale=rows**-0.5))
        arrays.append(np.zeros(columns, np.float32))
    return arrays


def regression(sizes: tuple[int, ...], batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (batch, first size) and targets (batch, last size)."""
    return normal(batch, sizes[0], seed=10), normal(batch, sizes[-1], seed=11)


def classification(sizes: tuple[int, ...], batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (batch, first size) and int64 labels (batch,)."""
    labels = np.random.default_rng(12).integers(sizes[-1], size=batch)
    return normal(batch, sizes[0], seed=10), labels


def directions(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """One array of the same shape for each: the vector of a Hessian-vector product."""
    return [normal(*array.shape, seed=20 + i) for i, array in enumerate(arrays)]


def recurrent(steps: int = 512, batch: int = 16, hidden: int = 64) -> tuple[list, np.ndarray]:
    """One (batch, hidden) input a step, and an orthogonal W, so that no gradient fades away."""
    orthogonal, _ = np.linalg.qr(normal(hidden, hidden, seed=30))
    return list(normal(steps, batch, hidden, seed=31, scale=0.01)), orthogonal


def convolution(channels: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Image, weight, bias, and the gradient of the output (padding 1)."""
    return (
        normal(32, channels, 32, 32, seed=40),
        normal(16, channels, 3, 3, seed=41, scale=0.2),
        normal(16, seed=42),
        normal(32, 16, 32, 32, seed=43),
    )
