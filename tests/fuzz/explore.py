"""Collect differences from PyTorch: `python -m tests.fuzz.explore FIRST COUNT`, from the top of the repository.

Runs programs of seeds from FIRST on and prints each kind of difference once, shrunk, the most frequent first.
"""

import random
import re
import sys
import time

import torch

import minigrad

from .known import known
from .programs import Writer
from .run import compare, shrink, steps

SAID = "# torch | minigrad"


def program(seed: int) -> tuple[list[str], list | None]:
    """The program of a seed, and what PyTorch has shown while it was written."""
    writer = Writer(torch, random.Random(seed).randrange)
    return writer.program(), writer.seen


def kind_of(difference: str) -> str:
    """What is left of a difference without its names and numbers: two of a kind are shown once."""
    lines, _, found = difference.partition(SAID)
    line, what = lines.strip().splitlines()[-1], found.strip().splitlines()
    if what[0].startswith("#   error"):
        return re.sub(r"\b[a-h]\b|[-\d.]+", "", what[0])
    keys = sorted({re.sub(r"^([a-h]) ", "", each[4:].partition(":")[0]) for each in what})
    return f"{keys} {re.findall('[A-Za-z_.]{3,}', line)[-2:]}"


def of_kind(kind: str):
    """A test for programs that show a kind of difference."""

    def shows(lines):
        if any(known(line, error) for line, (error, _) in zip(lines, steps(torch, lines), strict=True)):
            return False
        difference = compare(lines, torch, minigrad)
        return difference is not None and kind_of(difference) == kind

    return shows


def main(first: int, count: int) -> None:
    torch.set_num_threads(1)
    kinds, start = {}, time.perf_counter()
    for seed in range(first, first + count):
        lines, seen = program(seed)
        difference = compare(lines, torch, minigrad, seen)
        if difference:
            kinds.setdefault(kind_of(difference), []).append(lines)
    took = time.perf_counter() - start
    for kind, cases in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"---- {len(cases)} times")
        print(compare(shrink(cases[0], of_kind(kind)), torch, minigrad))
    differ = sum(map(len, kinds.values()))
    print(f"{count} programs in {took:.1f} s: {differ} differ, in {len(kinds)} ways")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
