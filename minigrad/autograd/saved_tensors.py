"""Saved-tensor hooks, which pack what is saved for backward, and the context managers made of them.

PyTorch counterparts: the classes and functions of the same names in ``torch/autograd/graph.py``.
"""

import contextlib
import functools
import threading

from ..messages import refusal, type_name
from ..tensor import Tensor, wrap
from .grad_mode import no_grad
from .node import LEAF, Kind, Node, Packed, creation_hooks
from .outputs import operation_of
from .versions import freed


class _Active(threading.local):
    """The hooks of the blocks that this thread is in; the error message where hooks are disabled."""

    def __init__(self):
        self.hooks: list = []
        self.refusing: str | None = None
        self.mutation = False


_active = _Active()


class saved_tensors_hooks:
    """Inside the block, ``pack_hook(tensor)`` sees each tensor that is saved, and what it returns is kept instead.

    ``unpack_hook`` is given that back when the derivative needs the tensor, and returns a tensor. No version is
    checked then. PyTorch counterpart: ``torch.autograd.graph.saved_tensors_hooks``.

    >>> import minigrad as mg
    >>> x = mg.tensor([2.0, 3.0], requires_grad=True)
    >>> with saved_tensors_hooks(lambda t: t.tolist(), lambda kept: mg.tensor(kept)):
    ...     y = (x * x).sum()
    >>> y.backward(); x.grad
    tensor([4., 6.])
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _active.refusing is not None:
            raise RuntimeError(_active.refusing)
        _active.hooks.append((self.pack_hook, self.unpack_hook))
        creation_hooks.append(_pack_all)

    def __exit__(self, *exception):
        if _active.hooks:
            _active.hooks.pop()
            creation_hooks.remove(_pack_all)


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU. minigrad's are there already, so this changes nothing.

    PyTorch counterpart: ``torch.autograd.graph.save_on_cpu``.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(lambda tensor: tensor, lambda tensor: tensor)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str):
    """Inside the block ``saved_tensors_hooks`` raises RuntimeError with this message.

    PyTorch counterpart: ``torch.autograd.graph.disable_saved_tensors_hooks``.
    """
    if _active.hooks:
        raise RuntimeError(error_message)
    before, _active.refusing = _active.refusing, error_message
    try:
        yield
    finally:
        _active.refusing = before


class _AllowMutationOnSavedContext:
    """One ``allow_mutation_on_saved_tensors`` block."""

    def __init__(self):
        self.entered = True


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """Inside the block, tensors may be overwritten after they were saved: backward uses the values from before.

    Each saved value is copied at once (PyTorch copies it when it is overwritten). Backward has to run in the
    block too. PyTorch counterpart: ``torch.autograd.graph.allow_mutation_on_saved_tensors``.
    """
    if _active.mutation:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()

    def unpack(kept):
        if not context.entered:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was "
                "originally recorded."
            )
        return kept

    _active.mutation = True
    try:
        with saved_tensors_hooks(lambda tensor: wrap(tensor._array.copy()), unpack):
            yield context
    finally:
        _active.mutation = context.entered = False


class SavedTensor:
    """One saved value of a node, packed: ``node._raw_saved_self``. PyTorch counterpart: ``SavedTensor``."""

    def __init__(self, node: Node | None = None, position: int = 0, part: int | None = None):
        if node is None:
            raise refusal("saved tensor made by hand")
        self._node, self._position, self._part = node, position, part

    def register_hooks(self, pack_hook=None, unpack_hook=None) -> None:
        """Pack this value with a pair of hooks of its own; see ``saved_tensors_hooks``."""
        if not callable(pack_hook) or not callable(unpack_hook):
            raise refusal("hooks that cannot be called")
        if self._node._saved is None:
            raise refusal("hooks on a freed tensor")
        if isinstance(self._node._saved[self._position], Packed):
            raise refusal("hooks set twice")
        value = self._node._entry(self._position)[0]
        if value is None or (self._part is not None and isinstance(value[self._part], slice)):
            raise refusal("hooks on None")
        if self._part is not None:
            return pack_indices(self._node, self._position, pack_hook, unpack_hook, self._part)
        if not _is_kept(self._node, self._position):
            return
        pack(self._node, self._position, pack_hook, unpack_hook, lambda tensor: tensor.detach())


def _pack_all(node: Node) -> None:
    """Let this thread's innermost hooks pack all that a new node saves."""
    if not _active.hooks:
        return
    for position, name in in_packing_order(node._kind.saved_names):
        if name and _is_kept(node, position):
            pack(node, position, *_active.hooks[-1])
        elif name == "indices":
            pack_indices(node, position, *_active.hooks[-1])


def in_packing_order(names: tuple) -> list:
    """Positions and names in the order in which PyTorch packs and unpacks: by name, the result last."""
    return sorted(enumerate(names), key=lambda each: (each[1] == "result", each[1].partition("[")[0]))


def _is_kept(node: Node, position: int) -> bool:
    value = node._saved[position]
    return not isinstance(value, Packed) and isinstance(node._entry(position)[0], Tensor)


def pack(node: Node, position: int, pack_hook, unpack_hook, shown=lambda tensor: tensor) -> None:
    """Replace a saved tensor by what `pack_hook` makes of it."""
    tensor = node._entry(position)[0]
    version = tensor._version
    with no_grad():
        box = pack_hook(shown(tensor))
    if tensor._version != version:
        raise refusal("pack hook in place")
    history, own_output = tensor._node, None
    if history is not None and operation_of(history) is node:
        history, own_output = None, tensor.output_nr  # a node must not hold itself
    saved = list(node._saved)
    saved[position] = Packed(box, functools.partial(_open, box, unpack_hook, history, own_output))
    node._saved = tuple(saved)
    if not node._kind.grad_fn_class._unpacks_on_access:
        node._kind = with_unpacking(node._kind)


def pack_indices(node: Node, position: int, pack_hook, unpack_hook, part: int | None = None) -> None:
    """Replace the indices of a key, or one of them, by what `pack_hook` makes of them."""
    indices = node._saved[position]
    boxes = [None if isinstance(each, slice) or part not in (None, i) else each for i, each in enumerate(indices)]
    with no_grad():
        boxes = [None if each is None else (pack_hook(wrap(each)),) for each in boxes]

    def unpack(node):
        pairs = zip(boxes, indices, strict=True)
        return tuple(each if box is None else _unpacked_tensor(unpack_hook, *box)._array for box, each in pairs)

    saved = list(node._saved)
    saved[position] = Packed(boxes, unpack)
    node._saved, node._kind = tuple(saved), with_unpacking(node._kind)


def _open(box, unpack_hook, history: Node | None, own_output: int | None, node: Node) -> Tensor:
    """The tensor that was packed, with the history that it had."""
    kept = _unpacked_tensor(unpack_hook, box)
    tensor = wrap(kept._array, kept._version_counter)
    if own_output is not None:
        node._kind.grad_fn_class.attach(node, tensor, own_output)
        return tensor
    tensor._node = history
    if history is not None and history._kind is LEAF:
        tensor._meta = history._leaf
    return tensor


def _unpacked_tensor(unpack_hook, box) -> Tensor:
    """What a hook unpacks, which has to be a tensor.

    Hooks that it enters or leaves without undoing that are reset: they are not to outlive the call.
    """
    before = list(_active.hooks)
    try:
        kept = unpack_hook(box)
        if not isinstance(kept, Tensor):
            raise refusal("unpack returns no tensor", type_name(kept))
        return kept
    finally:
        for _ in range(len(_active.hooks) - len(before)):
            creation_hooks.remove(_pack_all)
        for _ in range(len(before) - len(_active.hooks)):
            creation_hooks.append(_pack_all)
        _active.hooks[:] = before


def with_unpacking(kind: Kind) -> Kind:
    """The same kind, for nodes with packed saved tensors: its derivatives unpack them first."""
    if kind.packed is None:
        twin = kind.packed = Kind(kind.name, kind.grad_fn_class, kind.saved_names, kind.option_names, kind.needs)
        twin.vjp = functools.partial(_unpacked, kind, "vjp")
        twin.vjp_recorded = functools.partial(_unpacked, kind, "vjp_recorded")
        twin.packed = twin
    return kind.packed


def _unpacked(kind: Kind, vjp: str, node: Node, grad, next_nodes):
    """Unpack what the hooks have packed, and apply the derivatives to it."""
    packed = node._saved
    if packed is None:
        packed = freed(node)
    saved = list(packed)
    for position, name in in_packing_order(kind.saved_names):
        value = packed[position]
        if isinstance(value, Packed):
            tensor = value.open(node)
            if isinstance(tensor, tuple):  # a key's indices, which have no version
                saved[position] = tensor
                continue
            kept = (tensor._array,) if name == "result" else (tensor,)
            kept += (tensor._version_counter,) if name == "result" else ()
            saved[position : position + len(kept) + 1] = (*kept, tensor._version_counter[0])
    return getattr(kind, vjp)(node, grad, next_nodes, tuple(saved))
