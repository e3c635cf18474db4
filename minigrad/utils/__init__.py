"""What helps around a graph. PyTorch counterpart: ``torch.utils``."""

from . import checkpoint

__all__ = ["checkpoint"]
