"""Every implementation of a benchmark computes the same numbers. No test here looks at time."""

import numpy as np
import pytest

from benchmarks import libraries, operations
from benchmarks.workloads import WORKLOADS

PRESENT = libraries.present()
PAIRS = [
    (name, library)
    for name, workload in WORKLOADS.items()
    for library, lib in PRESENT.items()
    if workload.by_hand and name not in lib.cannot and (library in ("minigrad", "torch") or not workload.torch_only)
]


@pytest.mark.parametrize("name, library", PAIRS)
def test_the_same_numbers_as_by_hand(name, library):
    workload, lib = WORKLOADS[name], PRESENT[library]
    mine, theirs = workload.by_hand(), workload.build(lib)
    for _ in range(2):  # the second training step goes on from where the first one led
        expected, got = mine.once(), lib.numbers(theirs.once())
    assert len(expected) == len(got)
    for one, other in zip(expected, got, strict=True):
        if name in ("mlp_spelled", "small_mlp_spelled"):  # whose weights are (out, in)
            other = other.T
        largest = np.abs(one).max()
        if library == "micrograd":
            one = one.flat[0]
        np.testing.assert_allclose(other, one, rtol=1e-3, atol=1e-4 * largest)


@pytest.mark.skipif("torch" not in PRESENT, reason="torch is not installed: only comparisons with PyTorch need it")
@pytest.mark.parametrize("source", operations.OPERATIONS)
def test_an_operation_of_the_table_gives_what_pytorch_gives(source):
    ours, theirs = (eval(source, operations.names_of(name, 16)) for name in ("minigrad", "torch"))
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)
