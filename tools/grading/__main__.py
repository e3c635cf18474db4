"""Grade a folder of collected exercise notebooks: points by learner, exercise and belief.

    python3 course.py grade FOLDER

Whose is a notebook? In a folder of its own it belongs to the learner of that name: the outermost
folder, or the one inside `submitted` (nbgrader's submitted/<student>/<assignment>/<notebook>.ipynb).
Without a folder, to the name before or after that of the exercises: ada_01_requires_grad.ipynb. Which
exercises it answers is told by its cells, so it may have any name. Of several notebooks of a learner
with the same exercises, the one with the most points counts.

What is graded? Answer cells, found by nbgrader's name or by their cell id, and cells that the learner
added, where they stand. Checks, their points and minigrad are the course's own: whatever happened to
those in the notebook does not matter. A notebook runs in a process of its own, with a limit of time and
memory; an exercise that breaks it costs its own points, and the rest is graded in a new process.

A limit is not a sandbox. The notebooks run as you, and code that is written to do harm can read and
change what you can. For notebooks of people you do not trust, run this in a container, for example:

    docker run --rm --network none --memory 4g --pids-limit 256 -w /course -v COURSE:/course:ro
        -v COLLECTED:/collected:ro -v GRADES:/grades IMAGE
        python3 -m tools.grading /collected --out /grades

where IMAGE has Python with the packages of requirements.txt. For a large class, nbgrader
with JupyterHub does the collecting, too, and runs the same checks: see the README.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from . import material, processes, submissions, tables
from .material import Sheet
from .submissions import Submission, Unreadable, printable
from .supervisor import Limits, Supervisor
from .tables import Class, Graded

WIDTH_OF_BAR = 24


def options(words: list[str]) -> argparse.Namespace:
    """What was typed."""
    lines = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("course.py grade", description=__doc__, formatter_class=lines)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the notebooks are")
    parser.add_argument("--out", type=Path, help="folder for the tables (FOLDER-grades)")
    defaults = Limits()
    parser.add_argument("--seconds", type=_positive, default=defaults.seconds, help="for a notebook (%(default)g)")
    parser.add_argument(
        "--exercise-seconds", type=_positive, default=defaults.task_seconds, help="for an exercise (%(default)g)"
    )
    parser.add_argument(
        "--memory", type=int, default=defaults.megabytes, metavar="MB", help="for a notebook (%(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at once (%(default)s)")
    parser.add_argument("--base", type=Path, default=Path(), help=argparse.SUPPRESS)  # where it was typed
    chosen = parser.parse_args(words)
    chosen.folder = (chosen.base / chosen.folder).resolve()
    if not chosen.folder.is_dir():
        parser.exit(1, f"There is no folder {chosen.folder}: name the one that holds the notebooks.\n")
    beside = chosen.folder.with_name(f"{chosen.folder.name}-grades")
    chosen.out = (chosen.base / chosen.out).resolve() if chosen.out else beside
    return chosen


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError("a positive number of seconds")
    return number


def grade_file(submission: Submission, sheets: dict[str, Sheet], supervisor: Supervisor, read: dict) -> Graded:
    """One file, to its points or to why it has none."""
    who = (submission.learner, submission.name)
    found = read[submission.name]
    if isinstance(found, Unreadable):
        return Graded(*who, submissions.sheet_named(submission.name, sheets), why=str(found))
    sheet, answers = found
    return Graded(*who, sheet, tuple(supervisor.grade(sheet, answers)))


def read_file(submission: Submission, sheets: dict[str, Sheet]) -> tuple[Sheet, list[list[str]]] | Unreadable:
    """The exercises that a file answers and the learner's code for each, or why that cannot be found."""
    try:
        if submission.path is None:
            raise Unreadable("there is no notebook in this folder")
        cells = submissions.read_cells(submission.path)
        sheet = submissions.sheet_of(cells, submission.name, sheets)
        return sheet, submissions.answers(cells, sheet)
    except Unreadable as why:
        return why


def grade_all(found: list[Submission], sheets: dict, supervisor: Supervisor, jobs: int) -> Iterator[Graded]:
    """Each file as soon as it is graded, `jobs` of them at once."""
    # All are read before any code runs: nothing that it does to a file is seen.
    read = {one.name: read_file(one, sheets) for one in found}
    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        waiting = {pool.submit(grade_file, one, sheets, supervisor, read) for one in found}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in done)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        processes.end_all()


def line_of(one: Graded) -> str:
    """What the terminal says about one file."""
    what = one.sheet.stem if one.sheet else ""
    said = f"{one.points:3} of {one.sheet.points}" if one.results else f"not graded: {one.why}"
    odd = [result.task.id for result in one.results if result.status == "not graded"]
    said += f"   not graded: {', '.join(odd)}" if odd else ""
    return f"{printable(one.learner, 28):28}  {what:20}  {said}"


def bar(done: int, total: int, seconds: float) -> str:
    """The progress, and about how long it will still take."""
    filled = WIDTH_OF_BAR * done // total
    left = f", about {seconds / done * (total - done):.0f} s left" if 0 < done < total else ""
    return f"[{'#' * filled}{'.' * (WIDTH_OF_BAR - filled)}] {done} of {total}{left}"


def show(one: Graded, done: int, total: int, seconds: float) -> None:
    """A line for a file; the bar below it on a terminal, and after it elsewhere."""
    if sys.stdout.isatty():
        print(f"\r\033[K{line_of(one)}\n{bar(done, total, seconds)}", end="\n" if done == total else "", flush=True)
    else:
        print(f"{line_of(one)}   {bar(done, total, seconds)}", flush=True)


def main(words: list[str]) -> int:
    """Grade, write the tables, and say where they are."""
    chosen = options(words)
    sheets = material.read_sheets()
    found = submissions.find(chosen.folder, sheets)
    if not found:
        sys.exit(f"There is no notebook (.ipynb) in {chosen.folder}.")
    chosen.out.mkdir(parents=True, exist_ok=True)
    closed = [chosen.folder, chosen.out, material.ROOT / "solutions", material.ROOT / "tests"]
    limits = Limits(chosen.exercise_seconds, chosen.seconds, chosen.memory)
    supervisor = Supervisor(material.course_files(), list(map(str, closed)), limits)
    processes.adopt_orphans()
    print(f"grading {len(found)} notebooks, {chosen.jobs} at once", flush=True)
    begin, graded = time.monotonic(), []
    for one in grade_all(found, sheets, supervisor, chosen.jobs):
        graded.append(one)
        show(one, len(graded), len(found), time.monotonic() - begin)
    graded.sort(key=lambda one: (one.learner, one.name))
    room = Class(graded, limits, supervisor.unlimited)
    for path in tables.write(room, chosen.out):
        print(f"wrote {path}")
    if "memory" in room.unlimited:
        print("Memory was not limited: this system has no limit that a program can set for itself.")
    print(f"{len(graded)} notebooks in {time.monotonic() - begin:.0f} s. A limit is not a sandbox: see --help.")
    return 0


def stop(*_: object) -> None:
    """A polite request to end ends the notebooks, too."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a name that the terminal has no letters for
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nStopped. Nothing was written, and nothing is left running.")
