"""Where the time of a step goes: `python -m benchmarks.parts`.

Each workload is timed up to one stage after the other, in interleaved bursts, with minigrad and, where it is
installed, with PyTorch. A line says how long a stage takes beyond the one before it, in microseconds; a line that
begins with "of which", how long that part takes alone. The parts of an import are modules, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import minigrad
from minigrad.autograd import evaluate

from . import fresh, hand, inputs, libraries, timing, workloads

ROUNDS = 40


def second_derivative(lib, value: Callable, arrays, combine: Callable) -> dict[str, Callable]:
    """The stages of a derivative of a derivative."""
    module, leaves = lib.module, lib.leaves(arrays)
    grad = module.autograd.grad

    def unrecorded():
        with module.no_grad():
            return value(*leaves)

    def recorded_walk():
        return combine(grad(value(*leaves), leaves, create_graph=True))

    stages = {
        "value, in no_grad": unrecorded,
        "value, recorded": lambda: value(*leaves),
        "first gradient": lambda: grad(value(*leaves), leaves),
        "... with a graph of its own": recorded_walk,
        "second gradient": lambda: grad(recorded_walk(), leaves),
    }
    if module.__name__ == "minigrad":
        calls = derivatives_of(lambda: grad(recorded_walk(), leaves, retain_graph=True))
        first, second = ([call for call in calls if call[-1] is create_graph] for create_graph in (True, False))
        stages[f"of which first: {len(first)} derivatives"] = applied(first)
        stages[f"of which second: {len(second)} derivatives"] = applied(second)
    return stages


def derivatives_of(walk: Callable) -> list:
    """The derivatives that minigrad applies in a walk, each with what it is applied to."""
    calls, apply = [], evaluate.apply_vjp

    def noted(*call):
        calls.append(call)
        return apply(*call)

    evaluate.apply_vjp = noted
    try:
        with minigrad.autograd.set_detect_anomaly(True):  # in which a walk takes no short cuts
            walk()
    finally:
        evaluate.apply_vjp = apply
    return calls


def applied(calls: list) -> Callable:
    """These derivatives one after another, without the walk around them."""
    return lambda: [evaluate.apply_vjp(*call) for call in calls]


def training_step(lib, loss: Callable, arrays) -> dict[str, Callable]:
    """The stages of a step of gradient descent."""
    module, leaves = lib.module, lib.leaves(arrays)

    def unrecorded():
        with module.no_grad():
            return loss(*leaves)

    def backward():
        loss(*leaves).backward()

    def update():
        backward()
        with module.no_grad():
            for leaf in leaves:
                leaf -= 0.01 * leaf.grad
                leaf.grad = None

    return {
        "loss, in no_grad": unrecorded,
        "loss, recorded": lambda: loss(*leaves),
        "backward": backward,
        "update": update,
    }


def double_backward(lib) -> dict[str, Callable]:
    sin = lib.sin
    return second_derivative(lib, lambda x: (sin(x) * x**3).sum(), [inputs.normal(4, seed=3)], lambda g: g[0].sum())


def hvp_small(lib) -> dict[str, Callable]:
    arrays = inputs.layers(inputs.SMALL)
    vectors = [lib.constant(vector) for vector in inputs.directions(arrays)]
    loss = workloads.squared_error(lib, inputs.SMALL, 32)
    return second_derivative(
        lib, loss, arrays, lambda slopes: sum((s * v).sum() for s, v in zip(slopes, vectors, strict=True))
    )


def small_mlp(lib) -> dict[str, Callable]:
    return training_step(lib, workloads.squared_error(lib, inputs.SMALL, 32), inputs.layers(inputs.SMALL))


class Boxed:
    """The least that a Tensor is: an object with five fields, made anew by each operation, which is a function."""

    __slots__ = ("_array", "_dtype", "_meta", "_node", "_version_counter")

    @staticmethod
    def around(array, dtype) -> Boxed:
        box = object.__new__(Boxed)
        box._array, box._dtype = array, dtype
        box._version_counter = box._meta = box._node = None
        return box

    def __mul__(self, other):
        return Boxed.around(np.multiply(self._array, other._array), self._dtype)

    def __add__(self, other):
        return Boxed.around(np.add(self._array, other._array), self._dtype)

    def tanh(self):
        return Boxed.around(np.tanh(self._array), self._dtype)


def chain_no_grad(lib) -> dict[str, Callable]:
    """1,000 operations that are not recorded: NumPy's calls, the same in boxes, and all that minigrad does."""
    everything = workloads.chain_no_grad(lib).run
    if lib.module.__name__ != "minigrad":
        return {"all": everything}
    x, w, b = [Boxed.around(array, array.dtype) for array in inputs.chain()]

    def in_boxes():
        h = x
        for _ in range(333):
            h = (h * w + b).tanh()
        return h

    return {
        "NumPy's calls": hand.chain_no_grad().run,
        "... by functions, in new objects": in_boxes,
        "what is asked besides": everything,
    }


PARTS = {run.__name__: run for run in (chain_no_grad, small_mlp, double_backward, hvp_small)}


def measure(name: str) -> None:
    """Print the stages of one workload."""
    found = {key: lib for key, lib in libraries.present().items() if key in ("minigrad", "torch")}
    stages = {key: PARTS[name](lib) for key, lib in found.items()}
    steps = {f"{key}: {stage}": timing.Step(run) for key, all_ in stages.items() for stage, run in all_.items()}
    steps["by hand"] = getattr(hand, name)()
    best = {key: 1e6 * min(taken) for key, taken in timing.interleave(steps, ROUNDS, seconds=0.003).items()}
    print(f"{workloads.WORKLOADS[name].title}: NumPy by hand {best['by hand']:.1f} us")
    for key, all_ in stages.items():
        whole = {stage: best[f"{key}: {stage}"] for stage in all_ if not stage.startswith("of which")}
        print(f"  {key}: {[*whole.values()][-1]:.1f} us")
        before = 0.0
        for stage, here in whole.items():
            print(f"    {stage:32} {here - before:+8.1f}")
            before = here
        for stage in [stage for stage in all_ if stage not in whole]:
            print(f"      {stage:30} {best[f'{key}: {stage}']:8.1f}")
    print()


def measure_import(rounds: int = 10) -> None:
    """Print what an import takes: each module by itself, as Python's own account of its imports says."""
    numpy, ours = fresh.modules_of("numpy", rounds), fresh.modules_of("minigrad", rounds)
    added = {name: ours[name] for name in ours.keys() - numpy.keys()}
    own = {name: added.pop(name) for name in [*added] if name.startswith("minigrad")}
    slowest = sorted(own, key=own.__getitem__, reverse=True)[:5]
    rest = [taken for name, taken in own.items() if name not in slowest]
    lines = {f"NumPy, with {len(numpy)} modules": sum(numpy.values())}
    lines |= {f"{len(added)} more of Python's": sum(added.values())} | {name: own[name] for name in slowest}
    lines |= {f"{len(rest)} more, {sum(rest) / len(rest):.2f} each": sum(rest)}
    print("import minigrad, in milliseconds")
    for name, taken in lines.items():
        print(f"    {name:32} {taken:+8.1f}")


if __name__ == "__main__":
    for name in PARTS:
        measure(name)
    measure_import()
