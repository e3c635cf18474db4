"""`make_dot` as in torchviz: the same arguments, labels, colours and edges, for any depth.

Blue is a leaf that requires grad, green an output, dark green the base of an output that is a view,
orange a saved tensor, grey a function. Two things differ: nodes are called n0, n1 ..., and it shows
in Jupyter without a `dot` program too.
"""

from collections.abc import Iterator
from html import escape
from typing import Any

import graphviz

from ..autograd.node import Packed
from . import layout
from .collect import is_accumulator
from .live import engine_node, saved_values
from .picture import html_image
from .pytorch import FREED, Overwritten, peek, saved_names
from .records import is_tensor

_NODES = {"style": "filled", "shape": "box", "align": "left", "fontsize": "10"}
_NODES |= {"ranksep": "0.1", "height": "0.2", "fontname": "monospace"}
MAX_DRAWN = 1000  # nodes and edges; a layout of many more may take minutes


class Dot(graphviz.Digraph):
    """A graphviz.Digraph that any of the picture engines shows."""

    def __repr__(self):
        return self.source

    def _repr_mimebundle_(self, include=None, exclude=None, **_):
        if len(self.body) > MAX_DRAWN:
            count = f"{len(self.body):,} nodes and edges are too many for a picture that can be read"
            return {"text/plain": f"{count}: mg.draw() folds what repeats; .source has the DOT."}
        try:
            svg = layout.normalised(layout.render(self.source))
        except layout.NoPicture as reason:
            html = f"<pre>{escape(self.source)}</pre><p>No picture: {reason}. {layout.HELP}</p>"
            return {"text/plain": self.source, "text/html": html}
        words = f"Autograd graph in the style of torchviz, {len(self.body)} nodes and edges"
        return {
            "text/plain": self.source,
            "text/html": html_image(svg, words),
            "image/svg+xml": svg,
        }


def make_dot(var, params=None, show_attrs=False, show_saved=False, max_attr_chars=50) -> Dot:
    """The graph of `var`, a tensor or a tuple of tensors, drawn as torchviz draws it.

    `params` maps names to tensors; `show_attrs` lists what each function saved, at most
    `max_attr_chars` wide; `show_saved` draws saved tensors. PyTorch counterpart: ``torchviz.make_dot``.

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> print(make_dot(x * x, {"x": x}).body[1].strip())
    n1 [label=MulBackward0]
    """
    drawing = _Drawing(params, show_attrs, show_saved, max_attr_chars)
    for tensor in var if isinstance(var, tuple) else (var,):
        drawing.add_output(tensor)
    size = max(12, len(drawing.dot.body) * 0.15)
    drawing.dot.graph_attr["size"] = f"{size},{size}"
    return drawing.dot


class _Drawing:
    """One run of make_dot: the DOT so far, and what has been drawn."""

    def __init__(self, params, show_attrs: bool, show_saved: bool, max_attr_chars: int):
        self.dot = Dot(node_attr=_NODES, graph_attr={"size": "12,12"})
        self.params = {id(tensor): name for name, tensor in (params or {}).items()}
        self.show_attrs, self.show_saved = show_attrs, show_saved
        self.width = max(max_attr_chars, 3)
        self.ids: dict[int, str] = {}
        self.seen: dict[int, Any] = {}  # holds the objects, so that no id is used twice

    def id(self, thing) -> str:
        return self.ids.setdefault(id(thing), f"n{len(self.ids)}")

    def is_new(self, thing) -> bool:
        new = id(thing) not in self.seen
        self.seen[id(thing)] = thing
        return new

    def add_output(self, tensor) -> None:
        """An output and its graph; for a view also its base, and so on."""
        color, views = "darkolivegreen1", []
        while tensor is not None and self.is_new(tensor):
            self.add_tensor(tensor, color)
            if tensor.grad_fn is not None:
                self.add_functions(tensor.grad_fn)
                self.dot.edge(self.id(tensor.grad_fn), self.id(tensor))
            base = getattr(tensor, "_base", None)
            views.append((base, tensor))
            tensor, color = base, "darkolivegreen3"
        for base, view in reversed(views):
            if base is not None:
                self.dot.edge(self.id(base), self.id(view), style="dotted")

    def add_tensor(self, tensor, color: str, name: str = "") -> None:
        name = name or self.params.get(id(tensor), "")
        size = ", ".join(str(length) for length in tensor.shape)
        self.dot.node(self.id(tensor), f"{name}\n ({size})", fillcolor=color)

    def add_functions(self, root) -> None:
        """Depth first with a stack of generators, so that no graph is too deep."""
        stack = [self.function(root)] if self.is_new(root) else []
        while stack:
            function = next(stack[-1], None)
            if function is None:
                stack.pop()
            elif self.is_new(function):
                stack.append(self.function(function))

    def function(self, node) -> Iterator:
        """Draw one function; yields the next ones where torchviz would go on to them."""
        attributes = _attributes(node) if self.show_attrs or self.show_saved else {}
        if self.show_saved:
            for name, value in attributes.items():
                self.add_saved(node, name, value)
        if is_accumulator(node):
            self.is_new(node.variable)
            self.add_tensor(node.variable, "lightblue")
            self.dot.edge(self.id(node.variable), self.id(node))
        self.dot.node(self.id(node), self.label(node, attributes))
        for following, _ in node.next_functions:
            if following is not None:
                self.dot.edge(self.id(following), self.id(node))
                yield following
        for tensor in _saved_by_function(node):
            self.is_new(tensor)
            self.dot.edge(self.id(tensor), self.id(node), dir="none")
            self.add_tensor(tensor, "orange")

    def add_saved(self, node, name: str, value) -> None:
        self.is_new(value)
        several = isinstance(value, tuple)
        for position, tensor in enumerate(value if several else (value,)):
            if is_tensor(tensor):
                self.is_new(tensor)
                self.dot.edge(self.id(node), self.id(tensor), dir="none")
                self.add_tensor(tensor, "orange", f"{name}[{position}]" if several else name)

    def label(self, node, attributes: dict) -> str:
        name = type(node).__name__
        if not self.show_attrs or not attributes:
            return name
        texts = {key: _attribute_text(value) for key, value in attributes.items()}
        left = max(map(len, texts))
        right = min(max(map(len, texts.values())), self.width)
        rows = [f"{key:<{left}}: {_cut(text, right):>{right}}" for key, text in texts.items()]
        return "\n".join([name, "-" * max(left + right + 2, len(name)), *rows])


def _attributes(node) -> dict[str, Any]:
    """What a node saved, by name and in the order of the names; FREED where a backward has freed it."""
    own = engine_node(node)
    if own is not None:
        state = sorted(saved_values(own), key=lambda entry: entry[0])
        return {entry[0]: FREED if entry[1] is None else entry[1] for entry in state}
    return {name[7:]: _shown(peek(node, name)) for name in saved_names(node)}


def _shown(value: Any) -> Any:
    return FREED if isinstance(value, Overwritten) else "packed by a hook" if isinstance(value, Packed) else value


def _saved_by_function(node) -> tuple:
    """The tensors that a Function saved with save_for_backward."""
    tensors = peek(node, "saved_tensors") if hasattr(type(node), "saved_tensors") else ()
    return (
        ()
        if not isinstance(tensors, tuple) or isinstance(tensors, Overwritten)
        else tuple(t for t in tensors if t is not None)
    )


def _attribute_text(value) -> str:
    if value is FREED:
        return "[freed]"
    if is_tensor(value):
        return "[saved tensor]"
    if isinstance(value, tuple) and any(map(is_tensor, value)):
        return "[saved tensors]"
    return str(value)


def _cut(text: str, width: int) -> str:
    return text[: width - 3] + "..." if len(text) > width else text
