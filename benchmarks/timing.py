"""Interleaved bursts in one process: everybody meets the same noise, and the fastest counts."""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import repeat
from time import perf_counter


@dataclass(frozen=True)
class Step:
    """What is timed. With `prepare`, `run` gets a fresh, untimed `prepare()` every time."""

    run: Callable
    prepare: Callable | None = None

    def once(self):
        """Run once and return the result."""
        return self.run(self.prepare()) if self.prepare else self.run()


def burst(step: Step, count: int) -> float:
    """Seconds a run, over `count` runs in a row."""
    run = step.run
    if step.prepare:
        prepared = [step.prepare() for _ in range(count)]
        start = perf_counter()
        for one in prepared:
            run(one)
        return (perf_counter() - start) / count
    start = perf_counter()
    for _ in repeat(None, count):
        run()
    return (perf_counter() - start) / count


def runs_per_burst(step: Step, seconds: float, most: int = 1000) -> int:
    """How many runs fill a burst of that length; finding out warms the step up."""
    burst(step, 1)
    fastest = min(burst(step, 1) for _ in range(2))
    return max(1, min(most, round(seconds / fastest)))


def interleave(
    steps: Mapping[str, Step],
    rounds: int,
    seconds: float = 0.01,
    every: Callable[[str], int] = lambda name: 1,
    collect: bool = False,
) -> dict[str, list[float]]:
    """Seconds a run of each step, one number for each burst it took part in.

    A round gives every step one burst, and starts one step later than the round before; step
    `name` takes part in each `every(name)`-th round. The garbage collector is off within a burst
    and runs between bursts, for all alike; `collect=True` leaves it on.
    """
    counts = {name: runs_per_burst(step, seconds) for name, step in steps.items()}
    taken: dict[str, list[float]] = {name: [] for name in steps}
    names = list(steps)
    gc.collect()
    gc.freeze()
    try:
        for number in range(rounds):
            start = number % max(1, len(names))
            for name in names[start:] + names[:start]:
                if number % every(name):
                    continue
                gc.collect()
                if not collect:
                    gc.disable()
                taken[name].append(burst(steps[name], counts[name]))
                gc.enable()
    finally:
        gc.enable()
        gc.unfreeze()
    return taken
