"""Shapes: tuples that are printed as PyTorch prints them."""


class Size(tuple):
    """A shape. PyTorch counterpart: ``torch.Size``.

    >>> Size((2, 3)).numel()
    6
    """

    __slots__ = ()

    def numel(self) -> int:
        count = 1
        for length in self:
            count *= length
        return count

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other):
        return Size(tuple.__add__(self, other))
