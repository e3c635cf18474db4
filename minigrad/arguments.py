"""Other names for an operation's arguments, and attributes that take no argument at all.

PyTorch counterpart: ``torch/csrc/utils/python_arg_parser.cpp``, which knows NumPy's names too.
"""

from .messages import refusal


def with_numpy_names(operation, self, given: dict, others: dict):
    """Call an operation with NumPy's names of its arguments, ``axis`` and ``keepdims``, or on another ``dtype``."""
    dtype = others.pop("dtype", None)
    for name, value in others.items():
        own = {"axis": "dim", "keepdims": "keepdim"}.get(name, "")
        if own not in given:
            raise TypeError(f"{operation.__name__}() got an unexpected keyword argument '{name}'")
        given[own] = value
    if dtype is None or dtype is self.dtype:
        return operation(self, **given)
    converted = self.to(dtype)
    if converted._node is not None:
        converted._node = self._node  # no node for the conversion: `fit` casts the gradient back
    result = operation(converted, **given)
    if result._node is not None:
        result._node._fits = False
    return result


def read_only(kind: type, *names: str) -> None:
    """Make properties of a class refuse a new value in PyTorch's words."""
    for name in names:

        def refuse(self, *value, name=name):
            raise refusal("not writable", name)

        setattr(kind, name, getattr(kind, name).setter(refuse).deleter(refuse))
