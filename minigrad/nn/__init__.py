"""Neural-network functions. There are no modules here: parameters are tensors that you keep."""

from . import functional

__all__ = ["functional"]
