"""Watching PyTorch's engine: a prehook and a hook on every node of the walk, taken off when it is over."""

import threading
from functools import partial
from typing import Any

from . import pytorch
from .records import MAX_ELEMENTS, Names
from .watch import Place, Watch, text_of


class TorchWatch(Watch):
    """A Watch that notes what PyTorch's engine does as well."""

    def __init__(self, torch: Any, names: Names):
        super().__init__()
        self._autograd, self._names = torch.autograd, names
        self._kept: dict[Any, str] = {}  # the .grad of tensors that retain theirs, before the walk; of leaves, too
        self._frees = False

    def __enter__(self) -> "TorchWatch":
        super().__enter__()
        self._run = self._autograd._engine_run_backward
        self._autograd._engine_run_backward = self.run
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._autograd._engine_run_backward = self._run
        super().__exit__(kind, error, trace)

    def run(self, tensors, grads, keep_graph, create_graph, inputs, *rest, **options):
        """In the place of what torch.autograd calls: one walk of the engine."""
        walk = partial(self._run, tensors, grads, keep_graph, create_graph, inputs, *rest, **options)
        if threading.get_ident() != self._thread:
            return walk()
        if self._depth:
            return self.nested_walk(walk)
        self._depth, self._frees = 1, not keep_graph
        try:
            self.hang_on(tensors, grads)
            captured = walk()
            for tensor, grad in zip(inputs, captured or (), strict=False):
                if grad is not None:
                    self.note("capture", Place(*pytorch.edge_of(tensor)), text_of(grad))
            return captured
        finally:
            self._depth = 0
            while self._undo:
                self._undo.pop()()

    def hang_on(self, tensors, grads) -> None:
        """Hooks on all nodes that the walk can reach. (A device has a thread of its own, which runs them, too.)"""
        roots = [Place(*pytorch.edge_of(tensor)) for tensor in tensors if tensor.requires_grad]
        retained = {}
        for tensor in self._names.held():
            if pytorch.is_theirs(tensor) and tensor.retains_grad:
                retained[Place(*pytorch.edge_of(tensor))] = tensor
                self._kept[tensor] = text_of(tensor.grad)
        for node in pytorch.reachable(place.node for place in roots):
            kept = [(place, tensor) for place, tensor in retained.items() if place.node is node]
            handles = (
                node.register_prehook(partial(self.before_node, node, kept)),
                node.register_hook(partial(self.after_node, node)),
            )
            self._undo += [handle.remove for handle in handles]
            for place, tensor in self.hooked(node):
                self.replace(tensor._backward_hooks, node, partial(self.on_gradient, place.index))
        for place, grad in zip(roots, grads, strict=False):
            self.roots.append(place)
            self.note("seed", place, text_of(grad))
            self.add_up(place, grad)

    def hooked(self, node: Any) -> list:
        """The tensors with hooks of their own whose gradient a node is given, as far as a variable holds them."""
        found = [node.variable] if hasattr(node, "variable") else []
        found += [t for t in self._names.held() if t.grad_fn is node and pytorch.is_theirs(t)]
        return [(Place(node, tensor.output_nr), tensor) for tensor in found if tensor._backward_hooks]

    def is_ignored(self) -> bool:
        return self._depth != 1

    def before_node(self, node: Any, kept: list, grads: tuple) -> None:
        if self.is_ignored():
            return
        self.take_turn(node, {index: grad for index, grad in enumerate(grads) if grad is not None})
        for place, tensor in kept:
            self.note("keep", place, text_of(tensor.grad), before=self._kept[tensor])
        if hasattr(node, "variable"):
            self._kept[node] = text_of(node.variable.grad)
        else:
            self.note("rule", Place(node), ", ".join(text_of(grad) for grad in grads if grad is not None))

    def after_node(self, node: Any, passed: tuple, grads: tuple) -> None:
        if self.is_ignored():
            return
        if hasattr(node, "variable"):
            self.note("accumulate", Place(node), text_of(node.variable.grad), before=self._kept[node])
            return
        if self._frees and pytorch.has_buffers(node):
            self.note("free", Place(node))
        for position, ((following, index), grad) in enumerate(zip(node.next_functions, passed, strict=False)):
            if following is not None and grad is not None:
                place = Place(following, index)
                total = self.add_up(place, grad)
                self.note("add", place, text_of(grad), before=total, source=node, position=position)

    def add_up(self, place: Place, grad: Any) -> str:
        if not hasattr(grad, "data_ptr"):
            return super().add_up(place, grad)
        if grad.numel() > MAX_ELEMENTS:
            return text_of(grad)
        here, grad = self._sums.get(place), grad.detach()
        self._sums[place] = grad.clone() if here is None else here + grad
        return text_of(self._sums[place])
