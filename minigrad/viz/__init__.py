"""Pictures of the graph: the live graph becomes records, records become DOT, DOT becomes a picture.

    draw(z)                  what autograd keeps
    draw(z, view="written")  what you wrote
    draw(z, view="both")     the two side by side

``import minigrad`` does not import this package; the first ``mg.draw`` does.
"""

import itertools
import sys

from .collect import collect
from .compare import Difference, difference, draw_difference
from .layout import HELP, engine
from .picture import Picture
from .records import EdgeRecord, GraphRecord, Names, NodeRecord, is_tensor
from .torchviz import make_dot

__all__ = [
    "HELP",
    "Difference",
    "EdgeRecord",
    "GraphRecord",
    "NodeRecord",
    "Picture",
    "difference",
    "draw",
    "draw_difference",
    "engine",
    "make_dot",
    "record",
]
VIEWS = {"kept": ("kept",), "written": ("written",), "both": ("written", "kept")}


def draw(
    *tensors,
    view: str = "kept",
    params: dict | None = None,
    values: bool = True,
    saved: bool = False,
    unused: bool = False,
    width: int | None = None,
    direction: str | None = None,
) -> Picture:
    """A picture of the graph behind one or more tensors. PyTorch counterpart: torchviz's `make_dot`.

    `view` is "kept" (what autograd keeps), "written" (what you wrote) or "both". Names come from
    `params`, a dict of name to tensor, then from your variables. `values` shows small values, `saved`
    what each function saved for backward, `unused` the (None, 0) entries of next_functions. `width`
    is the most pixels it may take, `direction` "LR" or "TB". What is no tensor raises TypeError.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> y = x * 2
    >>> draw(y)
    what autograd keeps
      y = 6. (output) -> MulBackward0 (y.grad_fn)
        AccumulateGrad -> x = 3. (leaf, .grad None)
    >>> draw(y, view="written")
    what you wrote
      y = 6. (output) <- mul
        x = 3. (leaf, .grad None)
        2
    """
    _check(tensors, view)
    names = Names(tensors, params, sys._getframe(1))
    ids = itertools.count()
    panels = [collect(tensors, v, names, ids, values, saved, unused) for v in VIEWS[view]]
    return Picture(panels, width, direction)


def record(*tensors, view: str = "kept", params: dict | None = None, **options) -> GraphRecord:
    """The plain records of one view, for tests and checks. Names come from `params` only."""
    _check(tensors, view)
    return collect(tensors, view, Names(tensors, params), **options)


def _check(tensors: tuple, view: str) -> None:
    if not tensors:
        raise TypeError("draw() needs at least one tensor")
    for tensor in tensors:
        if not is_tensor(tensor):
            raise TypeError(f"draw() takes tensors, not {type(tensor).__name__}")
    if view not in VIEWS:
        raise ValueError(f"view is {view!r}; it can be 'kept', 'written' or 'both'")
