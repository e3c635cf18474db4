"""Graphs that a learner is to build: the picture of each, and what a wrong one is shown beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import minigrad as mg
from exercises.checks import cards, graphs, kit

_DRAWN = 30  # a larger graph is no near miss, and no picture to learn from


class Targets:
    """The graphs of a chapter: each name stands for a function that makes the tensor and its named tensors."""

    def __init__(self, **makers: Callable[[], tuple[mg.Tensor, dict[str, mg.Tensor]]]) -> None:
        self.makers = makers

    def show(self, name: str) -> None:
        """Show the picture that an exercise asks for: show("diamond")."""
        if name not in self.makers:
            known = " or ".join(f'"{one}"' for one in self.makers)
            cards.display(cards.notice_card(f"There is a picture for {known}."))
            return
        target, names = self.makers[name]()
        cards.display(mg.draw(target, params={name: target, **names}, values=False))

    def refuse_other(self, y: mg.Tensor, name: str, diagnosis: kit.Wrong) -> None:
        """Raise the diagnosis, completed by both graphs side by side, unless `y` has the graph of that name."""
        target, names = self.makers[name]()
        if y.requires_grad and mg.viz.difference(target, y, view="kept").same:
            return
        diagnosis.verdict.expected = "the graph in the picture above"
        diagnosis.verdict.got = f"a graph of {_in_words(y)}"
        diagnosis.verdict.picture = side_by_side(y, target, names, values=False)
        raise diagnosis


def no_node(y: mg.Tensor, name: str) -> kit.Wrong:
    """The diagnosis for a tensor, called `name`, that no recorded operation has made."""
    if y.requires_grad:
        tensors = kit.notebook_tensors()
        others = [one for one, tensor in tensors.items() if tensor is y and one != name]
        if others:
            why = f"`{name}` is the leaf `{others[0]}` itself, by another name: no operation lies in between."
            return kit.Wrong("leaf-itself", why=why, look=f"the right side of `{name} =`")
        why = f"`{name}` is a leaf: no recorded operation leads to it, and a flag that is set on it makes none."
        look = f"`{name}.grad_fn` and that of each result before it, and on which tensor you set the flag"
        untracked = any(not one.requires_grad for one in tensors.values())  # of which it may be made
        return kit.Wrong("asked-at-the-end", belief="M01" if untracked else "", why=why, look=look)
    why = "Your tensor has no `grad_fn`: no operation that made it was recorded, or its history was cut off."
    look = "`requires_grad` of what you start from when the first operation runs, and of each result after it"
    return kit.Wrong("nothing-tracked", why=why, look=look)


def _in_words(y: mg.Tensor) -> str:
    made_of, found = Counter(graphs.operations(y)), graphs.leaves(y)
    boxes = [name if times == 1 else f"{times} {name}" for name, times in made_of.items()]
    leaves_text, asking = ("1 leaf", "requires") if len(found) == 1 else (f"{len(found)} leaves", "require")
    if all(leaf.requires_grad for leaf in found):  # the flag may have been taken back since
        leaves_text += f" that {asking} grad"
    return f"{', '.join(boxes) or 'no operation'}, and {leaves_text}"


def side_by_side(
    y: mg.Tensor,
    target: mg.Tensor,
    tensors: dict,
    learners: dict | None = None,
    values: bool = True,
    **options: Any,
) -> Any:
    """The two graphs as one picture, each with its own names for its tensors; None if `y` has a large one.

    `values` is about the target: where its numbers are up to the learner, or are the answer, it shows none.
    """
    if len(graphs.operations(y)) > _DRAWN:
        return None
    learners = kit.notebook_tensors() if learners is None else learners
    expected = mg.viz.record(target, view="kept", params=tensors, values=values)
    return mg.viz.draw_difference(expected, mg.viz.record(y, view="kept", params=learners), **options)
