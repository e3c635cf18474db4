"""What `mg.viz.lines()` costs a call of PyTorch's: `python -m benchmarks.lines`.

Processor time in microseconds: of the call itself, and how much more it takes in a TorchFunctionMode that does nothing
and inside `lines()`. The fastest of many short bursts counts.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import nullcontext
from time import process_time
from typing import Any

import minigrad as mg

ROUNDS = 15
BURSTS = 20


def calls(torch: Any) -> dict[str, Callable]:
    """What is called, by its name."""
    nn = torch.nn
    x, weight = torch.randn(2, 4, 16), torch.randn(16, 16, requires_grad=True)
    linear, attention = nn.Linear(16, 16), nn.MultiheadAttention(16, 2, batch_first=True)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 6)
    large = attention.in_proj_weight, attention.in_proj_bias, None, None, False, 0.0
    large = x, x, x, 16, 2, *large, attention.out_proj.weight, attention.out_proj.bias
    return {
        "x.requires_grad": lambda: x.requires_grad,
        "x.add(1.0)": lambda: x.add(1.0),
        "x.add_(0.0)": lambda: x.add_(0.0),
        "x @ weight": lambda: x @ weight,
        "torch.cat([x, x, x])": lambda: torch.cat([x, x, x]),
        "torch.stack([x] * 20)": lambda: torch.stack([x] * 20),
        "torch.stack([x] * 30)": lambda: torch.stack([x] * 30),
        "torch.stack([x] * 100)": lambda: torch.stack([x] * 100),
        "nn.Linear": lambda: linear(x),
        "nn.MultiheadAttention": lambda: attention(x, x, x),
        "its multi_head_attention_forward": lambda: nn.functional.multi_head_attention_forward(*large),
        "six transformer layers, backward": lambda: encoder(x).sum().backward(),
    }


def fastest(call: Callable) -> float:
    """Microseconds of processor time that a call takes, in the fastest of some bursts."""
    count = 5
    for _ in range(count):
        call()
    bursts = []
    for _ in range(BURSTS):
        start = process_time()
        for _ in range(count):
            call()
        bursts.append((process_time() - start) / count * 1e6)
    return min(bursts)


def main() -> None:
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)

    class Bare(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    around: tuple[Callable[[], Any], ...] = nullcontext, Bare, mg.viz.lines
    print(f"{'microseconds':34}{'alone':>9}{'a mode':>9}{'lines()':>9}")
    for name, call in calls(torch).items():
        taken: list[list[float]] = [[], [], []]
        for _ in range(ROUNDS):
            for found, block in zip(taken, around, strict=True):
                with block():
                    found.append(fastest(call))
        alone, bare, noted = map(min, taken)
        print(f"{name:34}{alone:9.1f}{bare - alone:+9.1f}{noted - alone:+9.1f}")


if __name__ == "__main__":
    main()
