"""Convolutions of arrays: as sums of products of matrices, one for each row of the kernels.

Copying every patch that a kernel meets into a column (im2col) makes one large product, but with many channels the copy
takes longer than the product. So the image is copied only once for each column of the kernels, shifted by that column;
what the kernels' other rows meet then lies in the same memory, some rows of the image further on. A few images are done
at a time, so that all of this stays in the processor's cache.
"""

import functools
from collections.abc import Iterator

import numpy as np

BLOCK = 30_000  # elements of the shifted copies that are made at a time


class Shifts:
    """The shifted copies of some images, and where everything lies in them. Pairs are rows, columns.

    A copy's shape: (groups, columns of the kernel, channels of a group, images, padded height, output's width).
    """

    def __init__(self, shape: tuple, sides, kernel: tuple, stride, padding, dilation, groups: int):
        self.count, self.channels, self.groups, self.kernel = shape[0], shape[1] // groups, groups, kernel
        (self.height, self.width), (self.down, right), (self.below, beside) = sides, stride, dilation
        self.padded = max(shape[2] + 2 * padding[0], (kernel[0] - 1) * self.below + (self.height - 1) * self.down + 1)
        self.pitch = self.padded if self.down == 1 else self.height  # rows from one image to the next in a product
        self.image_rows = slice(padding[0], padding[0] + shape[2])
        self.places = [self._places(j * beside - padding[1], right, shape[3]) for j in range(kernel[1])]
        self.zeros = functools.lru_cache(maxsize=4)(np.zeros)  # what is around images and outputs stays 0 for the next

    def _places(self, start: int, step: int, length: int) -> tuple[slice, slice]:
        """Which columns of a copy are in the image, and which columns of the image these are."""
        first = max(0, -(start // step))
        last = max(first, min(self.width, (length - 1 - start) // step + 1))
        return slice(first, last), slice(start + first * step, max(0, start + last * step), step)

    def blocks(self) -> Iterator[slice]:
        """So many images at a time."""
        size = max(1, BLOCK // max(1, self.groups * self.channels * self.kernel[1] * self.padded * self.width))
        return (slice(at, min(at + size, self.count)) for at in range(0, self.count, size))

    def empty(self, images: int, dtype) -> np.ndarray:
        return self.zeros((self.groups, self.kernel[1], self.channels, images, self.padded, self.width), dtype)

    def pairs(self, copies: np.ndarray, images: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each column of the kernels, what is the same in its copy and in the images."""
        apart = images.reshape(len(images), self.groups, self.channels, *images.shape[2:]).transpose(1, 2, 0, 3, 4)
        for j, (here, there) in enumerate(self.places):
            yield copies[:, j, :, :, self.image_rows, here], apart[..., there]

    def of(self, images: np.ndarray, dtype) -> np.ndarray:
        """The copies of some images."""
        copies = self.empty(len(images), dtype)
        for copy, image in self.pairs(copies, images):
            copy[...] = image
        return copies

    def met_by(self, row: int, copies: np.ndarray) -> np.ndarray:
        """What a row of the kernels meets: where the step is 1, the same memory from another place on."""
        at, matrix = row * self.below, (self.groups, self.kernel[1] * self.channels, -1)
        if self.down == 1:
            start = at * self.width
            return copies.reshape(matrix)[:, :, start : start + self.length(copies.shape[3])]
        return copies[..., at : at + self.down * self.height : self.down, :].reshape(matrix)

    def add_to(self, row: int, copies: np.ndarray, product: np.ndarray) -> None:
        """Add to what a row of the kernels meets."""
        if self.down == 1:
            met = self.met_by(row, copies)
        else:
            at = row * self.below
            met = copies[..., at : at + self.down * self.height : self.down, :]
        met += product.reshape(met.shape)

    def length(self, images: int) -> int:
        """The columns of a product: the elements of each output, and below each image some that do not count."""
        return ((images - 1) * self.pitch + self.height) * self.width

    def grid(self, images: int, filters: int, dtype) -> np.ndarray:
        """Zeros for the outputs, as products have them: (groups, filters of a group, images, rows, columns)."""
        return self.zeros((self.groups, filters // self.groups, images, self.pitch, self.width), dtype)

    def product_of(self, grid: np.ndarray) -> np.ndarray:
        return grid.reshape(*grid.shape[:2], -1)[:, :, : self.length(grid.shape[2])]

    def outputs_of(self, grid: np.ndarray) -> np.ndarray:
        """The part of a grid that counts, as (images, groups, filters, height, width)."""
        return grid[:, :, :, : self.height].transpose(2, 0, 1, 3, 4)

    def grad_rows(self, grad_output: np.ndarray) -> np.ndarray:
        """The gradients of some outputs, as matrices."""
        grid = self.grid(len(grad_output), grad_output.shape[1], grad_output.dtype)
        outputs = self.outputs_of(grid)
        outputs[...] = grad_output.reshape(outputs.shape)
        return self.product_of(grid)

    def rows_of(self, weight: np.ndarray) -> np.ndarray:
        """The kernels' rows, as a matrix for each row and group."""
        apart = weight.reshape(self.groups, -1, self.channels, *self.kernel).transpose(3, 0, 1, 4, 2)
        return apart.reshape(self.kernel[0], self.groups, len(weight) // self.groups, -1)


def sides_of(shape: tuple, kernel: tuple, stride, padding, dilation) -> tuple:
    """Height and width of the output; refused where a kernel is larger than the image."""
    sizes = [n + 2 * pad for n, pad in zip(shape[2:], padding, strict=True)]
    reach = [(length - 1) * step + 1 for length, step in zip(kernel, dilation, strict=True)]
    if reach[0] > sizes[0] or reach[1] > sizes[1]:
        raise RuntimeError(
            f"Calculated padded input size per channel: ({sizes[0]} x {sizes[1]}). Kernel size: ({reach[0]} x "
            f"{reach[1]}). Kernel size can't be greater than actual input size"
        )
    return tuple((size - length) // step + 1 for size, length, step in zip(sizes, reach, stride, strict=True))


def convolved(input, weight, stride, padding, dilation, groups) -> np.ndarray:
    """Slide the kernels over the images. Shapes: (n, c, h, w) and (o, c / groups, i, j)."""
    sides = sides_of(input.shape, weight.shape[2:], stride, padding, dilation)
    shifts = Shifts(input.shape, sides, weight.shape[2:], stride, padding, dilation, groups)
    dtype, kernels = np.result_type(input, weight), shifts.rows_of(weight)
    result = np.empty((len(input), groups, len(weight) // groups, *sides), dtype)
    for block in shifts.blocks():
        copies = shifts.of(input[block], dtype)
        grid = shifts.grid(len(input[block]), len(weight), dtype)
        total = shifts.product_of(grid)
        np.matmul(kernels[0], shifts.met_by(0, copies), total)
        for row, kernel in enumerate(kernels[1:], 1):
            total += np.matmul(kernel, shifts.met_by(row, copies))
        result[block] = shifts.outputs_of(grid)
    return result.reshape(len(input), len(weight), *sides)


def weight_gradient(input, grad_output, stride, padding, dilation, groups, shape) -> np.ndarray:
    """The derivative by the kernels, which have that `shape`, from the gradient `grad_output` of the output."""
    shifts = Shifts(input.shape, grad_output.shape[2:], shape[2:], stride, padding, dilation, groups)
    dtype = np.result_type(input, grad_output)
    total = np.zeros((shape[2], groups, shape[3] * shape[1], shape[0] // groups), dtype)
    for block in shifts.blocks():
        copies, grad_rows = shifts.of(input[block], dtype), shifts.grad_rows(grad_output[block])
        for row in range(shape[2]):
            total[row] += np.matmul(shifts.met_by(row, copies), grad_rows.swapaxes(1, 2))
    return total.reshape(*total.shape[:2], shape[3], shape[1], total.shape[3]).transpose(1, 4, 3, 0, 2).reshape(shape)


def input_gradient(grad_output, weight, stride, padding, dilation, groups, shape) -> np.ndarray:
    """The derivative by the images, which have that `shape`: the transpose of a convolution."""
    kernel, lengths = weight.shape[2:], zip(weight.shape[2:], dilation, padding, strict=True)
    opposite = [(length - 1) * step - pad for length, step, pad in lengths]
    whole = max(stride) == 1 and sides_of(shape, kernel, stride, padding, dilation) == grad_output.shape[2:]
    if whole and min(opposite) >= 0 and len(weight) <= shape[1]:
        # With few filters it is quicker to convolve with the kernels turned round.
        turned = weight.reshape(groups, -1, shape[1] // groups, *kernel)[..., ::-1, ::-1].swapaxes(1, 2)
        return convolved(grad_output, turned.reshape(shape[1], -1, *kernel), stride, opposite, dilation, groups)
    shifts = Shifts(shape, grad_output.shape[2:], kernel, stride, padding, dilation, groups)
    dtype, kernels = np.result_type(grad_output, weight), shifts.rows_of(weight).swapaxes(2, 3)
    result = np.zeros(shape, dtype)
    for block in shifts.blocks():
        copies, grad_rows = shifts.empty(len(grad_output[block]), dtype), shifts.grad_rows(grad_output[block])
        copies.fill(0)
        for row, each in enumerate(kernels):
            shifts.add_to(row, copies, np.matmul(each, grad_rows))
        for copy, image in shifts.pairs(copies, result[block]):
            image += copy
    return result
