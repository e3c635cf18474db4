"""Products of vectors and matrices. PyTorch counterparts: ``torch.mm``, ``mv``, ``dot``, ``matmul``."""

import builtins
import functools
import math
from collections import Counter

import numpy as np

from ..dispatch import op
from ..messages import C_NAMES, refuse, shapes_refused
from ..tensor import Tensor
from .pointwise import clone
from .shape import (
    diagonal,
    expand,
    movedim,
    permute,
    reshaped,
    squeeze_product,
    t,
    transpose,
    transposed,
    unsafe_view,
    unsqueeze,
    view,
)

# A second factor that is a transpose, as the weight of a linear layer: its gradient is computed by columns, and what
# transposes that back has the weight's own order. It becomes the weight's .grad without a copy.
TRANSPOSES = {"t", "transpose", "permute"}


# `a.dot(b)` takes two thirds of the time of `a @ b` on small arrays, and the same on large ones.
@op(
    np.ndarray.dot,
    name="mm",
    fits=True,
    self=lambda grad, mat2: matrix_matrix(grad, transposed(mat2)),
    mat2=lambda grad, self, node: (
        transposed(matrix_matrix(transposed(grad), self))
        if node._next_nodes[1]._kind.name in TRANSPOSES
        else matrix_matrix(transposed(self), grad)
    ),
)
def matrix_matrix(self, mat2):
    """The product of two matrices."""


@op(
    np.ndarray.dot,
    name="mv",
    fits=True,
    self=lambda grad, vec: unsqueeze(grad, 1) * vec,
    vec=lambda grad, self: matrix_vector(transposed(self), grad),
)
def matrix_vector(self, vec):
    """The product of a matrix and a vector."""


@op(
    np.ndarray.dot,
    name="dot",
    fits=True,
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
)
def vector_vector(self, tensor):
    """The inner product of two vectors."""


@op(
    np.ndarray.__matmul__,
    name="bmm",
    fits=True,
    self=lambda grad, mat2: batch_matrix(grad, transpose(mat2, 1, 2)),
    mat2=lambda grad, self: batch_matrix(transpose(self, 1, 2), grad),
)
def batch_matrix(self, mat2):
    """The products of matrices, pair by pair along the first dimension."""


# What PyTorch says where the factors are of two types, and whether it names the types as C++ does.
MIXED = {
    "mm": ("expected m1 and m2 to have the same dtype, but got: {0} != {1}", True),
    "mv": ("addmv input tensors must have the same dtype, but got {1}, {0}, and {1}", False),
    "dot": ("dot : expected both vectors to have same dtype, but found {0} and {1}", False),
    "bmm": ("expected scalar type {0} but found {1}", False),
}


def _check_types(name, self, other):
    """Products do not promote: both factors are of one type."""
    if self._dtype is other._dtype or self._dtype == other._dtype:
        return
    if name in ("mm", "mv") and self.shape[1] != other.shape[0]:
        return  # the shapes are refused first
    sentence, as_in_c = MIXED[name]
    kinds = [x.dtype.tensor_type.removesuffix("Tensor") for x in (self, other)]
    if as_in_c:
        kinds = [C_NAMES.get(x.dtype.name, x.dtype.name) for x in (self, other)]
    raise refuse(RuntimeError, sentence.format(*kinds), "convert one of them, for instance with .float() or .double().")


@op(
    layout="rows",
    input=lambda grad, beta: grad * beta,
    mat1=lambda grad, mat2, alpha: _times(matrix_matrix(grad, transposed(mat2)), alpha),
    mat2=lambda grad, mat1, alpha, node: _times(
        transposed(matrix_matrix(transposed(grad), mat1))
        if node._next_nodes[2]._kind.name in TRANSPOSES
        else matrix_matrix(transposed(mat1), grad),
        alpha,
    ),
)
def addmm(input, mat1, mat2, beta=1, alpha=1):
    """``beta * input + alpha * (mat1 @ mat2)``, for matrices and an input that broadcasts to their product."""
    if mat1.ndim != 2 or mat2.ndim != 2:
        name, matrix = ("mat1", mat1) if mat1.ndim != 2 else ("mat2", mat2)
        raise RuntimeError(f"{name} must be a matrix, got {matrix.ndim}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise shapes_refused("mm", ValueError(), mat1, mat2)
    product = _times(mat1.dot(mat2), alpha)
    if beta == 1 and input.shape == product.shape[1:] and input.dtype == product.dtype:  # a bias, as nearly always
        product += input
        return product
    if input.ndim != 1 or input.shape != product.shape[1:]:  # other than a row: let expand() refuse what does not fit
        expand(input, product.shape)
    return product if beta == 0 else _times(input, beta) + product  # 0: what is in the input does not matter


def _times(product, factor):
    return product if factor == 1 else product * factor


def outer(self, vec2):
    """All products of an element of one vector and an element of another. PyTorch counterpart: ``torch.outer``."""
    if self._array.ndim != 1 or vec2._array.ndim != 1:
        name, vector = ("self", self) if self._array.ndim != 1 else ("vec2", vec2)
        raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return reshaped(self, (-1, 1)) * vec2


def bmm(self, mat2):
    """The products of matrices, pair by pair. Shapes: (b, n, m) and (b, m, p). PyTorch counterpart: ``torch.bmm``."""
    shape, others = self._array.shape, mat2._array.shape
    if len(shape) != 3 or len(others) != 3:
        raise RuntimeError(f"batch{1 if len(shape) != 3 else 2} must be a 3D tensor")
    if shape[0] != others[0] or shape[2] != others[1]:
        expected = f"[{self.shape[0]}, {self.shape[2]}]"
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: "
            f"[{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    _check_types("bmm", self, mat2)
    return batch_matrix(self, mat2)


def mm(self, mat2):
    """The product of two matrices. PyTorch counterpart: ``torch.mm``."""
    if self.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(f"{'self' if self.ndim != 2 else 'mat2'} must be a matrix")
    _check_types("mm", self, mat2)
    return matrix_matrix(self, mat2)


def mv(self, vec):
    """The product of a matrix and a vector. PyTorch counterpart: ``torch.mv``."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    _check_types("mv", self, vec)
    return matrix_vector(self, vec)


def dot(self, tensor):
    """The inner product of two vectors. PyTorch counterpart: ``torch.dot``."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    _check_types("dot", self, tensor)
    return vector_vector(self, tensor)


def matmul(self, other):
    """The matrix product ``self @ other`` of vectors, matrices and batches of them. PyTorch: ``torch.matmul``."""
    if other.__class__ is Tensor and self._array.ndim == 2 == other._array.ndim and self._dtype is other._dtype:
        return matrix_matrix(self, other)  # at once: this is what networks are made of
    if not isinstance(other, Tensor):
        raise TypeError(f"unsupported operand type(s) for @: 'Tensor' and '{type(other).__name__}'")
    dims = (self._array.ndim, other._array.ndim)
    if dims[0] > 2 and dims[1] > 2:
        return _batch_by_batch(self, other)
    if dims == (2, 2):
        _check_types("mm", self, other)
        return matrix_matrix(self, other)
    if 0 in dims:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and {dims[1]}D")
    if dims == (2, 1):
        return mv(self, other)
    if dims == (1, 1):
        return dot(self, other)
    if dims == (1, 2):
        return squeeze_product(mm(unsqueeze(self, 0), other), 0)
    if dims[1] <= 2:
        return _batch_by_matrix(self, other)
    if dims[0] == 1:
        return _batch_by_matrix(transpose(other, -2, -1), self)
    return clone(transpose(_batch_by_matrix(transpose(other, -2, -1), t(self)), -2, -1))


def _batch_by_matrix(self, other):
    """A batch of matrices times one matrix or vector: one product, of all their rows."""
    product_of_rows = matmul(reshaped(self, (math.prod(self.shape[:-1]), self.shape[-1])), other)
    return unsafe_view(product_of_rows, (*self.shape[:-1], *other.shape[1:]))


def _batch_by_batch(self, other):
    """Two batches of matrices, whose batch dimensions broadcast."""
    shape, others = self._array.shape, other._array.shape
    if others[:-2] != shape[:-2]:
        try:
            batch = np.broadcast_shapes(shape[:-2], others[:-2])
        except ValueError as error:
            raise shapes_refused("matmul", error, self._array[..., 0, 0], other._array[..., 0, 0]) from None
        shape, others = batch + shape[-2:], batch + others[-2:]
    flat, flat2 = shape, others
    if len(shape) != 3:
        count = math.prod(shape[:-2])
        flat, flat2 = (count, *shape[-2:]), (count, *others[-2:])
    fits = shape[-1] == others[-2] and self._dtype is other._dtype
    multiply = batch_matrix if fits else bmm  # which asks and refuses
    product = multiply(reshaped(expand(self, shape), flat), reshaped(expand(other, others), flat2))
    return unsafe_view(product, (*shape[:-1], others[-1]))


def einsum(equation, *operands):
    """Products of elements with equal letters, summed over the letters that the result has not.

    ``einsum("ij,jk->ik", a, b)`` is ``a @ b``; ``...`` stands for all dimensions without a letter.
    PyTorch counterpart: ``torch.einsum``.
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    layouts, contractions, kept, summed = _plan(equation, tuple([tensor._array.shape for tensor in operands]))
    product, *others = [_laid_out(*pair) for pair in zip(operands, layouts, strict=True)]
    if not others:
        return product.sum(summed) if summed else product
    for other, contraction in zip(others, contractions, strict=True):
        product = _contracted(product, other, *contraction)
    return view(product, product._array.shape[:kept]) if summed else product


@functools.lru_cache(maxsize=64)
def _plan(equation: str, shapes: tuple) -> tuple:
    """The layout of each operand, how they are multiplied, the number of the result's letters, and what is summed."""
    terms, arrow, result = equation.replace(" ", "").partition("->")
    given = terms.split(",")
    terms, rest = _spelled_out(given, shapes)
    counts = Counter("".join(terms))
    _check_result(result.replace("...", ""), counts)
    once = sorted(letter for letter in counts if counts[letter] == 1 and letter not in rest)
    result = result.replace("...", rest) if arrow else rest + "".join(once)
    _check_dimensions(terms, shapes, given)
    order = result + "".join(sorted(counts.keys() - set(result)))
    summed = tuple(range(len(result), len(order)))
    each = zip(range(len(terms)), terms, shapes, strict=True)
    layouts, sizes = zip(*[_layout(*operand, order) for operand in each], strict=True)
    _check_broadcast(terms, shapes)
    return layouts, _contractions(sizes, summed), len(result), summed


def _check_result(letters: str, counts: Counter) -> None:
    """Refuse letters of a result that it has twice, or that no operand has."""
    for letter in letters:
        if letters.count(letter) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter} appears more than once in the output")
        if letter not in counts:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
            )


def _contractions(sizes: tuple, summed: tuple) -> list:
    """For each factor but the first: what to sum in the product so far and in the factor, and the product of matrices.

    Summed are the dimensions that no later factor has; those that both have are summed by a product of matrices.
    """
    left = {dim: builtins.sum([size[dim] != 1 for size in sizes]) for dim in summed}
    one, contractions = sizes[0], []
    for other in sizes[1:]:
        both = [dim for dim in left if one[dim] != 1 != other[dim]]
        for dim in both:
            left[dim] -= 1
        last = [dim for dim in left if left[dim] == 1 and (dim in both or one[dim] != 1 or other[dim] != 1)]
        left.update(dict.fromkeys(last, 0))
        inner = [dim for dim in last if dim in both]
        for_one, for_other = (tuple([d for d in last if d not in both and size[d] != 1]) for size in (one, other))
        alone = (*for_one, *for_other)
        one, other = ([1 if dim in alone else n for dim, n in enumerate(size)] for size in (one, other))
        contractions.append((for_one, for_other, _matrices(one, other, inner) if inner else None))
        one = [1 if dim in inner else n if m == 1 else m for dim, (m, n) in enumerate(zip(one, other, strict=True))]
    return contractions


def _contracted(one, other, for_one: tuple, for_other: tuple, matrices: tuple | None):
    """The product of two factors, as `_contractions` planned it."""
    one = one.sum(for_one, True) if for_one else one
    other = other.sum(for_other, True) if for_other else other
    if matrices is None:
        return one * other
    swapped, to_left, left, to_right, right, lengths, back = matrices
    if swapped:
        one, other = other, one
    _check_types("bmm", one, other)
    product = batch_matrix(reshaped(permute(one, to_left), left), reshaped(permute(other, to_right), right))
    return permute(view(product, lengths), back)


def _matrices(one: list, other: list, inner: list) -> tuple:
    """How factors of these sizes become matrices, and their product a result: orders of dimensions, and shapes.

    The dimensions `inner`, over which the product is summed, stay, with length 1.
    """
    met = [n if m == 1 else m for m, n in zip(one, other, strict=True)]
    kinds = {dim: (one[dim] != 1) - (other[dim] != 1) for dim in range(len(one)) if dim not in inner}
    batch, rows, columns = ([dim for dim in kinds if kinds[dim] == kind] for kind in (0, 1, -1))
    swapped = bool(rows and columns and rows[-1] > columns[-1])  # so that the product lies in the result's order
    if swapped:
        rows, columns = columns, rows
    count = functools.partial(_count, met)
    order = (*batch, *rows, *inner, *columns)
    left, right = (count(batch), count(rows), count(inner)), (count(batch), count(inner), count(columns))
    lengths = tuple([1 if dim in inner else met[dim] for dim in order])
    back = tuple([order.index(dim) for dim in range(len(one))])
    return swapped, order, left, (*batch, *inner, *columns, *rows), right, lengths, back


def _count(lengths: list, dims: list) -> int:
    return math.prod(lengths[dim] for dim in dims)


def _spelled_out(terms: list, shapes: tuple) -> tuple:
    """The terms with digits, which are no letters, for the dimensions that an ellipsis stands for; and all of those."""
    hidden = [
        len(shape) - len(letters) + 3 if "..." in letters else 0 for letters, shape in zip(terms, shapes, strict=False)
    ]
    rest = "0123456789"[: builtins.max(hidden, default=0)]
    shown = zip(terms, [*hidden, *[0] * len(terms)], strict=False)
    return [letters.replace("...", rest[len(rest) - builtins.max(count, 0) :]) for letters, count in shown], rest


def _check_dimensions(terms: list, shapes: tuple, given: list) -> None:
    """Refuse another number of operands than the equation has terms, or of dimensions than a term has letters."""
    if len(terms) != len(shapes):
        more = "fewer" if len(terms) > len(shapes) else "more"
        raise RuntimeError(f"einsum(): {more} operands were provided than specified in the equation")
    for index, (letters, shape) in enumerate(zip(terms, shapes, strict=True)):
        if len(letters) > len(shape) and "..." in given[index]:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(letters)}) is more than the number of "
                f"dimensions ({len(shape)}) for operand {index}"
            )
        if len(letters) != len(shape):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(letters)}) does not match the number of "
                f"dimensions ({len(shape)}) for operand {index} and no ellipsis was given"
            )


def _check_broadcast(terms: list, shapes: tuple) -> None:
    """Refuse two lengths for one letter, unless one of them is 1."""
    lengths: dict = {}
    for index, (letters, shape) in enumerate(zip(terms, shapes, strict=True)):
        for letter, length in zip(letters, shape, strict=True):
            if lengths.setdefault(letter, length) != length and 1 not in (length, lengths[letter]):
                if letter.isdigit():
                    raise RuntimeError(
                        f"einsum(): dimension {[*dict.fromkeys(letters)].index(letter)} covered by ellipsis in operand "
                        f"{index}has size {length} which does not broadcast with previously seen ellipsis with size "
                        f"{lengths[letter]} for the respective dimension"
                    )
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {length} for operand {index} which does not broadcast "
                    f"with previously seen size {lengths[letter]}"
                )
            lengths[letter] = max(length, lengths[letter])


def _layout(operand: int, letters: str, shape: tuple, order: str) -> tuple:
    """How an operand gets one dimension per letter of `order`, of length 1 where it has not that letter; and its shape.

    The layout: the pairs of dimensions with one letter, the dimensions to add, and the order of all.
    """
    places: dict[str, int] = {}
    lengths: dict[str, int] = {}
    twice = []
    for letter, length in zip(letters, shape, strict=True):
        if letter not in places:
            places[letter], lengths[letter] = len(places), length
            continue
        if lengths[letter] != length:
            raise RuntimeError(
                f"einsum(): subscript {letter} is repeated for operand {operand} but the sizes don't match, "
                f"{length} != {lengths[letter]}"
            )
        twice.append((places[letter], len(places)))
    for letter in order:
        places.setdefault(letter, len(places))
    added = range(len(lengths), len(places))
    return (twice, added, tuple([places[letter] for letter in order])), [lengths.get(letter, 1) for letter in order]


def _laid_out(tensor, layout: tuple):
    """A tensor with the dimensions of a `_layout`."""
    twice, added, places = layout
    for first, second in twice:
        tensor = movedim(diagonal(tensor, 0, first, second), -1, first)
    for dim in added:
        tensor = unsqueeze(tensor, dim)
    return permute(tensor, places)
