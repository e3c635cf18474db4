"""python -m benchmarks: measure, and print one table."""

import argparse
import gc
import importlib.metadata
import json
import platform
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from . import fresh, libraries, operations, workloads
from .table import Row, lines
from .timing import Step, interleave
from .workloads import WORKLOADS, Workload

# What stands between these is the point of the table, so they are measured in every round.
MAIN = ("hand", "minigrad", "torch", "torch.nn")
CANNOT_YET = (AttributeError, NotImplementedError, ModuleNotFoundError)


class Bench:
    """One run of the command: the libraries found, the options, and remarks for below the table."""

    def __init__(self, rounds: int, collect: bool):
        self.found = libraries.present()
        self.rounds = rounds
        self.collect = collect
        self.remarks: list[str] = []

    def attempt(self, name: str, library: str, build: Callable[..., Step]) -> Step | str:
        """A step that has run once, or the word that stands in the table in its place."""
        lib = self.found[library]
        if name in lib.cannot:
            return "-"
        try:
            step = build(lib)
            step.once()
        except CANNOT_YET as problem:
            self.remarks.append(f"{library}, {name}: {problem}")
            return "not yet"
        except RecursionError:
            return "RecursionError"
        return step

    def fastest(self, steps: dict, rounds: int | None = None) -> dict[str, float | str]:
        """The shortest burst of each step, in seconds a run; words stay."""
        runnable = {name: step for name, step in steps.items() if isinstance(step, Step)}
        bursts = interleave(
            runnable,
            rounds or self.rounds,
            every=lambda name: 1 if name in MAIN else 4,
            collect=self.collect,
        )
        return steps | {name: min(taken) for name, taken in bursts.items()}

    def workload(self, name: str, workload: Workload) -> list[Row]:
        able = ("minigrad", "torch") if workload.torch_only else self.found
        steps = {lib: self.attempt(name, lib, workload.build) for lib in self.found if lib in able}
        if workload.by_hand:
            steps = {"hand": workload.by_hand()} | steps
        limits = {"torch": workload.to_torch, "hand": workload.to_hand}
        limits = {other: most for other, most in limits.items() if most}
        cells = self.fastest(steps, min(self.rounds, workload.rounds))
        return [Row(name, workload.title, "ms", scaled(cells, 1e3), limits)]

    def memory(self) -> list[Row]:
        """The graph of the deepest chain, in fresh processes."""
        names = [name for name, lib in self.found.items() if name not in ("micrograd", "torch.nn")]
        cells = {name: fresh.graph_bytes(name) or "not here" for name in names}
        title = "... memory of its graph"
        return [Row("memory", title, "MB", scaled(cells, 1e-6), {"torch": 0.5})]

    def imports(self) -> list[Row]:
        """Import time in fresh processes, in turns; `hand` is NumPy alone."""
        modules = {"hand": "numpy"} | {name: name for name in self.found if name != "torch.nn"}
        modules["micrograd"] = "micrograd.engine"
        taken: dict[str, list[float]] = {name: [] for name in modules}
        for turn in range(min(self.rounds, 10) + 1):
            for name, module in modules.items():
                seconds = fresh.import_seconds(module)
                if turn and seconds:  # the first turn fills the disk cache and __pycache__
                    taken[name].append(seconds)
        cells = {name: min(times, default="not yet") for name, times in taken.items()}
        return [Row("import", "import", "ms", scaled(cells, 1e3), {"hand": 1.15})]

    def growth(self) -> list[Row]:
        """Time and memory of an operation in short and long chains; many paths, few nodes."""
        time, memory, paths = {}, {}, {}
        for name, lib in self.found.items():
            if name not in MAIN or name == "torch.nn" or self.attempt("growth", name, workloads.doubling) == "not yet":
                continue
            lengths = {n: workloads.deep(lib, n) for n in (1_000, 10_000, 100_000)}
            each = {n: t / n for n, t in self.fastest(lengths, min(self.rounds, 8)).items()}
            time[name] = max(each.values()) / min(each.values())
            both = {"many": workloads.doubling(lib), "one": workloads.adding(lib)}
            taken = self.fastest(both)
            paths[name] = taken["many"] / taken["one"]
            self.remarks.append(
                f"{name}, backward per op at 1,000 / 10,000 / 100,000 ops, in us: "
                + " / ".join(f"{seconds * 1e6:.2f}" for seconds in each.values())
            )
            if name == "minigrad":
                sizes = [traced_bytes(step) / n for n, step in lengths.items()]
                memory[name] = max(sizes) / min(sizes)
                self.remarks.append(f"{name}, graph per op, in bytes: " + " / ".join(f"{s:.0f}" for s in sizes))
        rows = (
            ("growth_time", "backward per op, most / least of 3 lengths", time),
            ("growth_memory", "graph per op, most / least of 3 lengths", memory),
            ("paths", "60 levels of h = h + h / of h = h + x", paths),
        )
        return [Row(name, title, "x", cells, {}, 1.3) for name, title, cells in rows]

    def tracing(self) -> list[Row]:
        """What a trace leaves behind for a backward that is not traced: a burst before each trace, and one after it."""
        lib = self.found["minigrad"]
        plain, small = {"plain": workloads.deep(lib, 1_000)}, workloads.deep(lib, 10)
        before, after = [], []
        for _ in range(self.rounds):
            before += interleave(plain, 1)["plain"]
            lib.module.viz.trace(small.run, small.prepare())
            after += interleave(plain, 1)["plain"]
        return [Row("trace", "backward after a trace / before", "x", {"minigrad": min(after) / min(before)}, {}, 1.1)]


def traced_bytes(step: Step) -> int:
    """What one prepared graph allocates, as tracemalloc counts (it does not see into torch)."""
    gc.collect()  # empties the free lists, whose memory would not be counted
    tracemalloc.start()
    kept = step.prepare()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return size


def scaled(cells: dict, factor: float) -> dict[str, float | str]:
    return {k: v if isinstance(v, str) else v * factor for k, v in cells.items()}


def environment(found: dict) -> dict[str, str]:
    """The versions of all that was measured."""
    names = ["numpy", *(name for name in found if name not in ("minigrad", "torch.nn"))]
    versions = {name: importlib.metadata.version(name) for name in names}
    return {"python": platform.python_version(), "machine": platform.machine()} | versions


def options() -> argparse.Namespace:
    names = [*WORKLOADS, "memory", "import", "growth", "trace"]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="A,B", help="some of: " + ", ".join(names))
    parser.add_argument("--rounds", type=int, default=30, help="bursts for each (default 30)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--collect", action="store_true", help="leave the garbage collector on")
    chosen = parser.parse_args()
    chosen.names = chosen.only.split(",") if chosen.only else names
    if unknown := set(chosen.names) - set(names):
        parser.error(f"no workload is named {', '.join(sorted(unknown))}; see --help")
    return chosen


def main() -> None:
    if sys.argv[1:2] == ["ops"]:
        operations.main(sys.argv[2:])
        return
    chosen = options()
    bench = Bench(max(1, chosen.rounds), chosen.collect)
    special = {"memory": bench.memory, "import": bench.imports, "growth": bench.growth, "trace": bench.tracing}
    rows: list[Row] = []
    for name in chosen.names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        rows += special[name]() if name in special else bench.workload(name, WORKLOADS[name])
    versions = environment(bench.found)
    collector = "on" if bench.collect else "off in a burst"
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    print(f"one thread; fastest of {bench.rounds} interleaved bursts; collector {collector}")
    print()
    print("\n".join(lines(rows, ["hand", *bench.found], chosen.markdown)))
    print("".join(f"\n{remark}" for remark in bench.remarks))
    if chosen.json:
        listed = [vars(row) | {"goals": row.goals()} for row in rows]
        text = json.dumps({"versions": versions, "rows": listed}, indent=1)
        chosen.json.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
