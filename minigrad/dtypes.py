"""Element types, and the default one. PyTorch counterparts: ``torch.float32`` ..., ``torch.set_default_dtype``."""

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
    def is_floating_point(self) -> builtins.bool:
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

by_numpy_dtype = {d.numpy: d for d in (float32, float64, int64, bool, float16, int32, uint8, int8, int16)}
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
    """The dtype of tensors made from Python floats. PyTorch counterpart: ``torch.get_default_dtype``.

    >>> get_default_dtype()
    torch.float32
    """
    return _default


def set_default_dtype(new: dtype) -> None:
    """Set the dtype of tensors made from Python floats, float32 at first. PyTorch: ``torch.set_default_dtype``."""
    global _default
    if not new.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = new


def from_numpy_dtype(numpy_dtype: np.dtype) -> dtype:
    """The minigrad type of a NumPy type; TypeError for those that PyTorch has not either."""
    try:
        return by_numpy_dtype[numpy_dtype]
    except KeyError:
        if not numpy_dtype.isnative and numpy_dtype.newbyteorder("=") in by_numpy_dtype:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. Conversion between byte orders "
                "is currently not supported."
            ) from None
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. The only supported types are: "
            "float64, float32, float16, int64, int32, int16, int8, uint8, and bool."
        ) from None


def native(array: np.ndarray) -> np.ndarray:
    """An array from outside with the one object that there is of its dtype, as `is` compares. (Pickle makes more.)"""
    known = from_numpy_dtype(array.dtype).numpy
    return array if array.dtype is known else array.view(known)


def dtype_of_number(number) -> np.dtype:
    """The NumPy type of a tensor that is made of a Python number."""
    if number is True or number is False:
        return bool.numpy
    return int64.numpy if isinstance(number, (int, np.integer)) else _default.numpy
