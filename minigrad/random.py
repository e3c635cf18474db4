"""Random tensors. Same names as PyTorch, other numbers: NumPy's generator makes them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import dtypes
from .factories import numpy_of, shape_of
from .layout import laid_out
from .tensor import Tensor
from .tensor_new import finish

_generator: Any = None  # numpy.random takes as long to import as minigrad: it is imported on first use


def generator() -> "np.random.Generator":
    """NumPy's generator behind all random tensors."""
    global _generator
    if _generator is None:
        manual_seed(0)
    return _generator


def manual_seed(seed: int) -> None:
    """Seed the generator, so that the numbers that follow are the same in each run.

    >>> manual_seed(0); a = rand(2); manual_seed(0); b = rand(2)
    >>> bool((a == b)._array.all())
    True
    """
    global _generator
    _generator = np.random.default_rng(seed)


def get_rng_state() -> Any:
    """The generator's state, for `set_rng_state`: NumPy's own description, where PyTorch's is a tensor of bytes.

    >>> state = get_rng_state(); a = rand(2); set_rng_state(state); b = rand(2)
    >>> bool((a == b)._array.all())
    True
    """
    return generator().bit_generator.state


def set_rng_state(new_state: Any) -> None:
    """Put the generator back into a state that `get_rng_state` returned."""
    generator().bit_generator.state = new_state


@contextmanager
def fork_rng() -> Iterator[None]:
    """Inside the block random numbers may be drawn; after it, the generator goes on as if none had been.

    PyTorch counterpart: ``torch.random.fork_rng``.
    """
    before = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(before)


def rand(*args, size=None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of uniform numbers from [0, 1); floating dtypes only. PyTorch counterpart: ``torch.rand``."""
    values = generator().random(shape_of("rand", args, size))
    return finish(np.asarray(values).astype(_floating("check_uniform_bounds", dtype)), requires_grad)


def randn(*args, size=None, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of standard normal numbers (mean 0, deviation 1); floating dtypes only. PyTorch: ``torch.randn``."""
    values = generator().standard_normal(shape_of("randn", args, size))
    return finish(np.asarray(values).astype(_floating("normal_kernel_cpu", dtype)), requires_grad)


def _floating(name: str, dtype) -> np.dtype:
    kind = numpy_of(dtype)
    if kind.kind != "f":
        of = dtypes.from_numpy_dtype(kind).tensor_type.removesuffix("Tensor")
        raise NotImplementedError(f"\"{name}\" not implemented for '{of}'")
    return kind


def rand_like(input: Tensor, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Uniform numbers in another tensor's shape and dtype. PyTorch counterpart: ``torch.rand_like``."""
    return _laid_out_as(input, rand(input.shape, dtype=dtype or input.dtype), requires_grad)


def randn_like(input: Tensor, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Standard normal numbers in another tensor's shape and dtype. PyTorch counterpart: ``torch.randn_like``."""
    return _laid_out_as(input, randn(input.shape, dtype=dtype or input.dtype), requires_grad)


def _laid_out_as(input: Tensor, made: Tensor, requires_grad: bool) -> Tensor:
    return finish(laid_out(made._array, input._array), requires_grad)
