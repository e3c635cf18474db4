"""Pictures of the graph: the live graph becomes records, records become DOT, DOT becomes a picture.

    draw(z)                  what autograd keeps
    draw(z, view="written")  what you wrote
    draw(z, view="both")     the two side by side

``import minigrad`` does not import this package; the first ``mg.draw`` does.
"""

import itertools
import sys

from .collect import collect
from .picture import Picture
from .records import Names

__all__ = ["Picture", "draw"]


def draw(
    *tensors, view="kept", params=None, values=True, saved=False, unused=False, width=None, direction=None
) -> Picture:
    """A picture of the graph that `tensors` are the outputs of."""
    names = Names(tensors, params, sys._getframe(1))
    views = ("written", "kept") if view == "both" else (view,)
    ids = itertools.count()
    panels = tuple(collect(tensors, v, names, ids, values, saved, unused) for v in views)
    return Picture(panels, width, direction)
