"""Activation checkpointing: what a part of a program would save is dropped, and recomputed for backward.

The variant of PyTorch that it recommends, ``use_reentrant=False``. While the function runs, saved-tensor hooks put
an empty box in the place of each tensor that is saved. The first box that a backward opens runs the function again,
with other hooks that fill the boxes in the order in which they were made.

PyTorch counterpart: ``torch/utils/checkpoint.py``.
"""

import warnings
import weakref
from contextlib import nullcontext
from typing import Any

from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad, is_grad_enabled
from ..autograd.reentry import running
from ..autograd.saved_tensors import saved_tensors_hooks
from ..factories import zeros
from ..messages import CheckpointError, refusal
from ..random import fork_rng, get_rng_state, set_rng_state
from ..tensor import Tensor

__all__ = ["CheckpointError", "checkpoint"]


def checkpoint(
    function,
    *args,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",
    early_stop: bool = True,
    **kwargs,
) -> Any:
    """``function(*args, **kwargs)``, which saves its arguments and nothing else: backward runs it a second time.

    `preserve_rng_state` gives the second run the random numbers of the first. With `early_stop` it ends when all that
    was saved is there. `determinism_check="none"` does not compare shapes and dtypes. Without `use_reentrant` it warns
    as PyTorch does, which then takes its older variant; here there is only one. PyTorch counterpart:
    ``torch.utils.checkpoint.checkpoint``.

    Raises ValueError for ``use_reentrant=True``; in a backward CheckpointError, a RuntimeError, if the second
    run saves other tensors than the first, and RuntimeError if a tensor of `args` was changed in place since.

    >>> import minigrad as mg
    >>> x = mg.tensor(0.5, requires_grad=True)
    >>> y = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False)
    >>> y.backward(); bool(x.grad == x.cos() * y)
    True
    """
    if use_reentrant:
        raise refusal("reentrant checkpoint")
    if use_reentrant is None:
        warnings.warn(NOT_GIVEN, stacklevel=2)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    if not is_grad_enabled():
        return function(*args, **kwargs)
    part = _Part(function, args, kwargs, preserve_rng_state, determinism_check, early_stop)
    with saved_tensors_hooks(part.pack, part.unpack):
        result = function(*args, **kwargs)
    part.is_complete = True
    return result


NOT_GIVEN = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling "
    "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to "
    "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
    "differences between the two variants."
)


class _Box:
    """In the place of a saved tensor: an empty one, with the tensor's shape and dtype."""

    def __init__(self, tensor: Tensor):
        self.facts = facts(tensor)


def facts(tensor: Tensor) -> dict:
    """What is compared of the tensors that the two runs save."""
    return {"shape": tensor.shape, "dtype": tensor.dtype}


class _Arguments(Function):
    """Saves the tensors among the arguments as an operation would: packed by hooks around it, versions checked."""

    @staticmethod
    def forward(ctx, anchor, *tensors):
        """Save the tensors. The anchor, which requires grad, is there to get a node."""
        ctx.save_for_backward(*tensors)
        return anchor.clone()


class _Enough(Exception):
    """Raised to stop the second run: every tensor that was saved has been computed again."""


class _Part:
    """One call of ``checkpoint``: how to run it again, and the boxes of what its first run saved."""

    def __init__(self, function, args, kwargs, preserve_rng_state, determinism_check, early_stop):
        self.function, self.kwargs = function, kwargs
        self.others = [None if isinstance(each, Tensor) else each for each in args]
        self.places = [place for place, each in enumerate(args) if isinstance(each, Tensor)]
        tensors = (args[place] for place in self.places)
        self.node: Any = _Arguments.apply(zeros(0, requires_grad=True), *tensors).grad_fn
        self.rng_state = get_rng_state() if preserve_rng_state else None
        self.compares, self.early_stop, self.is_complete = determinism_check == "default", early_stop, False
        self.boxes: list = []  # weak references: a box lives as long as its node keeps it
        self.filled: Any = weakref.WeakKeyDictionary()  # walk -> box -> tensor

    def pack(self, tensor: Tensor) -> _Box:
        box = _Box(tensor)
        self.boxes.append(weakref.ref(box))
        return box

    def unpack(self, box: _Box) -> Tensor:
        walk = running.tasks[-1] if running.tasks else _Enough()  # outside of a backward nothing is kept for later
        if walk not in self.filled:
            self.filled[walk] = self.run_again()
        tensor = self.filled[walk].pop(box, None)
        if tensor is None:
            raise refusal("unpacked twice")
        return tensor

    def run_again(self) -> Any:
        """Box -> the tensor that belongs there, for the boxes that still exist."""
        filled: Any = weakref.WeakKeyDictionary()
        count = 0

        def fill(tensor: Tensor) -> Tensor:
            nonlocal count
            if count == len(self.boxes) and self.is_complete:
                raise refusal("saved more")
            box = self.boxes[count]() if count < len(self.boxes) else None
            count += 1
            tensor = tensor.detach() if tensor.requires_grad else tensor
            if box is not None:
                filled[box] = tensor
            if self.early_stop and count == len(self.boxes):
                raise _Enough
            return tensor

        args = list(self.others)
        for place, tensor in zip(self.places, self.node.saved_tensors, strict=True):
            args[place] = tensor
        preserved = self.rng_state is not None
        with fork_rng() if preserved else nullcontext(), saved_tensors_hooks(fill, lambda kept: kept), enable_grad():
            if preserved:
                set_rng_state(self.rng_state)
            try:
                self.function(*args, **self.kwargs)
            except _Enough:
                pass
        self.check(filled, count)
        return filled

    def check(self, filled, count: int) -> None:
        """Refuse what does not fit the boxes."""
        if count < len(self.boxes):
            raise refusal("another number saved", len(self.boxes), count)
        pairs = [(place, box(), filled.get(box())) for place, box in enumerate(self.boxes) if box() is not None]
        unlike = [
            f"tensor at position {place}:\nsaved metadata: {box.facts}\nrecomputed metadata: {facts(tensor)}\n"
            for place, box, tensor in pairs
            if self.compares and box.facts != facts(tensor)
        ]
        if unlike:
            raise refusal("other metadata", "".join(unlike))
