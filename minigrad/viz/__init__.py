"""Pictures of the graph: the live graph becomes records, records become DOT, DOT becomes a picture.

    draw(z)                  what autograd keeps
    draw(z, view="written")  what you wrote
    draw(z, view="both")     the two side by side

``import minigrad`` does not import this package; the first ``mg.draw`` does.
"""

import itertools
import sys

from . import figures
from .changes import Comparison, pair_nodes, panels_of
from .collect import collect, panel
from .explain import Explanation, explain
from .layout import HELP, engine
from .lines import WATCHERS, lines
from .lines_minigrad import watch_minigrad
from .lines_torch import watch_torch
from .matching import Difference, difference, draw_difference
from .own import replay
from .palette import PALETTE, STYLE, style
from .picture import Picture
from .records import EdgeRecord, GraphRecord, Names, NodeRecord, Options, is_tensor, marked
from .text import LEGEND
from .torchviz import make_dot
from .trace import Trace, trace

__all__ = [
    "HELP",
    "PALETTE",
    "STYLE",
    "Comparison",
    "Difference",
    "EdgeRecord",
    "Explanation",
    "GraphRecord",
    "NodeRecord",
    "Picture",
    "Trace",
    "compare",
    "difference",
    "draw",
    "draw_difference",
    "engine",
    "explain",
    "legend",
    "lines",
    "make_dot",
    "marked",
    "record",
    "replay",
    "snapshot",
    "style",
    "trace",
]
WATCHERS[:] = [watch_minigrad, watch_torch]
figures.register()
VIEWS = {"kept": ("kept",), "written": ("written",), "both": ("written", "kept")}


def draw(
    *tensors,
    view: str = "kept",
    params: dict | None = None,
    width: int | None = None,
    direction: str | None = None,
    fold: bool | None = None,
    legend: bool = False,
    **options,
) -> Picture:
    """A picture of the graph behind one or more tensors. PyTorch counterpart: torchviz's `make_dot`.

    `view` is "kept" (what autograd keeps), "written" (what you wrote) or "both". Names come from `params`, a dict of
    name to tensor, then from your variables. `width` is the most pixels it may take, `direction` "LR" or "TB". `fold`
    draws blocks that repeat once, and Modules as one node (None: in large graphs); `legend` explains the colours.
    Options that are True: `values`, `grads`, `tangents` (inside of dual_level()), `generations` (what a backward with
    create_graph=True built, in a box). That are False: `shapes`, `lines` (the line that made each node, noted by a
    `lines` block), `saved` (what each function saved), `memory` (bytes, each memory once), `unused` (the (None, 0)
    entries), `hooks`, `aliases` (variables on the same memory), `cuts` (where a history was cut off). `marks` says of a
    tensor, a node, (node, position of an input) or (node, "name of a saved value") what is wrong, in red; `notes` no
    blame. PyTorch's tensors are drawn as ours. All else raises TypeError. README.md here has examples.

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
    names, shown = Names(tensors, params, sys._getframe(1)), Options.of(options)
    ids = itertools.count()
    part = panel if fold is None else collect
    return Picture([part(tensors, v, names, ids, shown) for v in VIEWS[view]], width, direction, fold, legend)


def record(*tensors, view: str = "kept", params: dict | None = None, **options) -> GraphRecord:
    """The plain records of one view, for tests and checks. Names come from `params` only."""
    _check(tensors, view)
    return collect(tensors, view, Names(tensors, params), options=Options.of(options))


def snapshot(*tensors, view: str = "kept", params: dict | None = None, **options) -> GraphRecord:
    """The graph as it is now, for `compare`: plain records, which keep nothing alive. `draw`'s options.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> snapshot(x * x).by_id["n1"].name
    'MulBackward0'
    """
    _check(tensors, view)
    return collect(tensors, view, Names(tensors, params, sys._getframe(1)), options=Options.of(options))


def compare(before, after, *, view: str = "", params: dict | None = None, width: int | None = None, **options):
    """Two graphs side by side, with what was added, gone, freed, cut or changed marked and told.

    Each side is a snapshot, a picture, a tensor or a tuple of tensors; a graph changes in place, so `before`
    is mostly a snapshot. Options are those of `draw`; without any, the snapshot's. Returns a Comparison: a
    Picture with `.sentences`, `.added`, `.gone`, `.freed`, `.changed` (nodes) and `.cut` (edges).

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> before = snapshot(y)
    >>> y.backward()
    >>> compare(before, y).sentences
    ('freed: what MulBackward0 saved', 'x.grad: None is now 6.')
    """
    frame = sys._getframe(1)
    one, other = panels_of(before, after, view, lambda tensors: Names(tensors, params, frame), options)
    return Comparison(one, other, pair_nodes(one, other), width=width)


def legend() -> Picture:
    """What every colour and line means, in one picture.

    >>> "leaf that requires grad" in legend().text
    True
    """
    return Picture([GraphRecord("what the colours mean", "kept", (), (), ())], legend=LEGEND)


def _check(tensors: tuple, view: str) -> None:
    if not tensors:
        raise TypeError("draw() needs at least one tensor")
    for tensor in tensors:
        if not is_tensor(tensor):
            kind = type(tensor).__name__
            hint = f": call the {kind}, and draw what it gives" if hasattr(tensor, "named_parameters") else ""
            raise TypeError(f"draw() takes tensors, not {kind}{hint}")
    if view not in VIEWS:
        raise ValueError(f"view is {view!r}; it can be 'kept', 'written' or 'both'")
