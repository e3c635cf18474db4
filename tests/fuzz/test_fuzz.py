"""Random programs do the same on minigrad and on PyTorch, line after line.

Runs where torch is installed. MINIGRAD_FUZZ_PROGRAMS sets how many programs are counted besides (CI: 10,000).
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st

import minigrad

torch = pytest.importorskip("torch", reason="torch is not installed: only comparisons with PyTorch need it")

from .explore import program  # noqa: E402
from .programs import CHOICES, Writer  # noqa: E402
from .run import compare  # noqa: E402

PROGRAMS = 400
PARTS = 8  # for the processes of pytest-xdist to share
COUNTED = int(os.environ.get("MINIGRAD_FUZZ_PROGRAMS", "0"))

torch.set_num_threads(1)


@st.composite
def programs(draw):
    """A program: every choice is Hypothesis', which shrinks it towards the first of the possibilities."""
    below = [st.integers(0, most) for most in range(CHOICES)]
    writer = Writer(torch, lambda n: draw(below[n - 1]))
    return writer.program(), writer.seen


@pytest.mark.torch
@pytest.mark.parametrize("part", range(PARTS))
def test_same_as_pytorch(part):
    @seed(part)
    @settings(
        max_examples=-(-PROGRAMS // PARTS),
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(programs())
    def same(program):
        difference = compare(program[0], torch, minigrad, program[1])
        if difference:
            note(difference)
            raise AssertionError("PyTorch and minigrad differ:\n" + difference)

    same()


@pytest.mark.torch
@pytest.mark.skipif(not COUNTED, reason="takes a minute: MINIGRAD_FUZZ_PROGRAMS says how many programs to count")
@pytest.mark.parametrize("part", range(2))  # for two processes
def test_at_most_two_in_a_thousand_differ(part):
    found, numbers = [], range(part, COUNTED, 2)
    for number in numbers:
        lines, seen = program(number)
        found += filter(None, [compare(lines, torch, minigrad, seen)])
    print(*found, f"{len(found)} of {len(numbers)} programs differ", sep="\n\n")
    assert len(found) <= 0.002 * len(numbers), f"{len(found)} of {len(numbers)} programs differ"
