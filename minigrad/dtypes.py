"""Element types, the default one, and which type the result of mixed operands has.

PyTorch counterparts: ``torch.float32`` ..., ``torch.set_default_dtype``, ``torch.result_type``.
"""

import builtins

import numpy as np


class dtype:
    """An element type. ``numpy`` is NumPy's name for the same thing."""

    __slots__ = ("name", "numpy", "tensor_type")

    def __init__(self, name: str, tensor_type: str):
        self.name = name
        self.numpy = np.dtype(name)
        self.tensor_type = tensor_type  # PyTorch's legacy name, which its error sentences still use

    @property
    def is_floating_point(self) -> bool:
        return self.numpy.kind == "f"

    def __repr__(self):
        return "torch." + self.name

    def __reduce__(self):
        return self.name  # the module's global of that name: there is one object per type


float16 = half = dtype("float16", "HalfTensor")
float32 = dtype("float32", "FloatTensor")
float64 = double = dtype("float64", "DoubleTensor")
uint8 = dtype("uint8", "ByteTensor")
int8 = dtype("int8", "CharTensor")
int16 = short = dtype("int16", "ShortTensor")
int32 = dtype("int32", "IntTensor")
int64 = long = dtype("int64", "LongTensor")
bool = dtype("bool", "BoolTensor")

_known = {d.numpy: d for d in (float32, float64, int64, bool, float16, int32, uint8, int8, int16)}
_default = float32


# Python's own types mean the widest of their kind.
_PYTHON = {builtins.float: float64, builtins.int: int64, builtins.bool: bool}


def as_dtype(given) -> dtype:
    """A type, given as itself or as Python's ``float``, ``int`` or ``bool``.

    >>> as_dtype(float), as_dtype(int64)
    (torch.float64, torch.int64)
    """
    if not isinstance(given, dtype) and given not in _PYTHON:
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(given).__name__}")
    return _PYTHON.get(given, given)


def get_default_dtype() -> dtype:
    """The type of tensors made from Python floats.

    >>> get_default_dtype()
    torch.float32
    """
    return _default


def set_default_dtype(new: dtype) -> None:
    """Choose the type of tensors made from Python floats; float32 at the start."""
    global _default
    if not new.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = new


def from_numpy_dtype(numpy_dtype: np.dtype) -> dtype:
    """The minigrad type of a NumPy type; TypeError for those that PyTorch has not either."""
    try:
        return _known[numpy_dtype]
    except KeyError:
        if not numpy_dtype.isnative and numpy_dtype.newbyteorder("=") in _known:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. Conversion between byte orders "
                "is currently not supported."
            ) from None
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. The only supported types are: "
            "float64, float32, float16, int64, int32, int16, int8, uint8, and bool."
        ) from None


def promote(*operands) -> np.dtype:
    """The NumPy type in which mixed operands meet.

    Arrays with dimensions outrank 0-d arrays, and those outrank Python numbers, unless the lower rank is
    of a higher kind (bool < integer < float). PyTorch counterpart: ``torch.result_type``.

    >>> promote(np.zeros(2, "float32"), np.array(1.0)), promote(np.array([1]), 2.5)
    (dtype('float32'), dtype('float32'))
    """
    ranks: list = [None, None, None]
    for operand in operands:
        if isinstance(operand, np.ndarray):
            rank, kind = (0 if operand.ndim else 1), operand.dtype
        else:
            rank, kind = 2, _number_dtype(operand)
        ranks[rank] = kind if ranks[rank] is None else _larger(ranks[rank], kind)
    best = None
    for kind in ranks:
        if kind is not None and (best is None or _level(kind) > _level(best)):
            best = kind
    return best


def _larger(a: np.dtype, b: np.dtype) -> np.dtype:
    """The type of two of one rank: floats win over integers as they are, where NumPy would widen them."""
    if (a.kind == "f") == (b.kind == "f"):
        return np.promote_types(a, b)
    return a if a.kind == "f" else b


def _level(kind: np.dtype) -> int:
    return "biuf".index(kind.kind) if kind.kind != "u" else 1


def _number_dtype(number) -> np.dtype:
    if number is True or number is False:
        return bool.numpy
    return int64.numpy if isinstance(number, (int, np.integer)) else _default.numpy
