"""Judge all mutants and equivalents: `python -m tests.mutants [ch05 05.stale ...] [--sources] [--prune]`.

`--sources` shows the answers that surprise; `--prune` takes out of `known/` what is no exception any more.
"""

import gc
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as pytest has it
os.environ["NBGRADER_VALIDATING"] = "1"  # nobody's progress is written

from mutants import judge, report


def main(arguments: list[str]) -> int:
    """Judge exercise by exercise, in as many processes as there are cores; 1 if something is in no list."""
    wanted = [one.removeprefix("ch") for one in arguments if not one.startswith("--")] or [""]
    work = [(chapter, exercise) for chapter in judge.CHAPTERS for exercise in judge.exercises(chapter)]
    work = [pair for pair in work if f"{pair[0][2:]}.{pair[1]}".startswith(tuple(wanted))]
    tallies = []
    gc.freeze()  # a process that looks through what it got from this one copies it
    with ProcessPoolExecutor() as processes:
        for tally in processes.map(judge.judge, *zip(*work, strict=True)):
            tallies.append(tally)
            print(report.summary(tally.exercise, [tally]), flush=True)
    for chapter in dict.fromkeys(chapter for chapter, _ in work):
        print(report.summary(chapter, [tally for tally in tallies if tally.exercise.startswith(chapter[2:])]))
    print(report.summary("all", tallies))
    if "--prune" in arguments:
        judge.prune(tallies)
    faults = report.faults(tallies, whole=True, sources="--sources" in arguments)
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
