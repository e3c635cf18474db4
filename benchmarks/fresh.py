"""What takes a process of its own: the time of an import, the memory of a graph."""

import gc
import math
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def ask(program: str) -> float | None:
    """The number that the program prints, run by a new Python in the repository's root."""
    answer = _run("-c", program)
    return float(answer.stdout) if answer.returncode == 0 else None


def _run(*arguments: str) -> subprocess.CompletedProcess:
    # Bytecode is kept, as on a learner's machine, even where whoever measures has switched it off.
    keep = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=keep, capture_output=True, text=True, check=False)


def modules_of(module: str, rounds: int) -> dict[str, float]:
    """Milliseconds that each module takes by itself which `import module` imports: the least of some processes."""
    least: dict[str, float] = {}
    for _ in range(rounds):
        for line in _run("-X", "importtime", "-c", f"import {module}").stderr.splitlines()[1:]:
            alone, _together, name = line.removeprefix("import time:").split("|")
            least[name.strip()] = min(float(alone) / 1e3, least.get(name.strip(), math.inf))
    return least


def import_seconds(module: str) -> float | None:
    """Seconds that `import module` takes, the interpreter's own start not counted."""
    clock = "from time import perf_counter as now; start = now(); "
    return ask(f"{clock}import {module}; print(now() - start)")


def graph_bytes(library: str, operations: int = 100_000) -> float | None:
    """How much a process grows while it records a chain of that many operations. Linux only."""
    call = f"grown({library!r}, {operations})"
    return ask(f"from benchmarks.fresh import grown; print({call})")


def grown(library: str, operations: int) -> int:
    """The answer to `graph_bytes`, within the new process."""
    from . import libraries, workloads

    lib = libraries.load(library)
    workloads.deep(lib, 300).once()  # whatever is allocated once is not the graph's
    step = workloads.deep(lib, operations)
    gc.collect()
    before = resident_bytes()
    kept = step.prepare()
    after = resident_bytes()
    del kept
    return after - before


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
