"""Grade a folder of collected exercise notebooks: points by learner, exercise and belief.

    python3 course.py grade FOLDER

Whose is a notebook? In a folder of its own it belongs to the learner of that name: the outermost folder, or the one
inside `submitted`, where the folder is nbgrader's (submitted/<student>/<assignment>/<notebook>.ipynb). An outermost
folder in which several folders hold the same exercises is a group, and each of those a learner. Without a folder, to
the name before or after that of the exercises: ada_01_requires_grad.ipynb. Which exercises it answers is told by its
cells, so it may have any name. Of several notebooks of a learner with the same exercises, the best one counts.

What is graded? Answer cells, found by nbgrader's name or by their cell id, cells that the learner added, where they
stand, and changes to the cells that come with an exercise. Checks and their points are the course's own. A notebook
runs in a process of its own, with a limit of time and memory; an exercise that breaks it costs its own points, and the
rest is graded in a new process. Files beside a notebook are there when it runs.

What is finished is on disk. Stop the grading whenever you like: the same command goes on from there. A notebook that
was changed is graded again, and so are all when the limits or the course have changed.

Where bubblewrap is installed (Linux: apt-get install bubblewrap), each notebook runs behind its wall: without network,
with its own process ids, the course read-only, solutions and other people's work out of sight, and 256 MB for files.
Elsewhere it runs as you, in a plain process with the same limits, and code that is written to do harm can read and
change what you can: see the README.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from . import material, processes, submissions, tables, walls
from .journal import Graded, Journal
from .material import Sheet
from .submissions import Submission, printable
from .supervisor import Limits, NotStarted, Supervisor
from .tables import Class

WIDTH_OF_BAR = 24


def options(words: list[str]) -> argparse.Namespace:
    """What was typed."""
    lines = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("course.py grade", description=__doc__, formatter_class=lines)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the notebooks are")
    parser.add_argument("--out", type=Path, help="folder for the tables (FOLDER-grades)")
    task_seconds, seconds, megabytes = vars(Limits()).values()
    parser.add_argument("--seconds", type=_positive, default=seconds, help="for a notebook (%(default)g)")
    parser.add_argument(
        "--exercise-seconds", type=_positive, default=task_seconds, help="for an exercise (%(default)g)"
    )
    parser.add_argument("--memory", type=int, default=megabytes, metavar="MB", help="for a notebook (%(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at once (%(default)s)")
    parser.add_argument("--fresh", action="store_true", help="begin afresh: grade what is graded already, too")
    parser.add_argument("--plain", action="store_true", help="do without bubblewrap")
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


@dataclass
class Grading:
    """What every notebook needs to be graded."""

    sheets: dict[str, Sheet]
    supervisor: Supervisor
    journal: Journal
    course: str

    def known(self, one: Submission) -> Graded | None:
        """What became of a file in an earlier run, if it is as it was."""
        with contextlib.suppress(Exception):  # it is told when the file is graded
            if one.name in self.journal.done:
                return self.journal.before(one, submissions.read(one, self.sheets, self.course), self.sheets)
        return None

    def grade(self, one: Submission) -> Graded:
        """One file, to its points or to why it has none. Nothing that happens here reaches another file."""
        fingerprint = ""
        try:
            handed = submissions.read(one, self.sheets, self.course)
            fingerprint, graded = handed.fingerprint, Graded(one.learner, one.name, handed.sheet, why=handed.why)
            if handed.sheet and not handed.why:
                results, odd = self.supervisor.grade(handed.sheet, handed.answers, handed.files)
                graded = replace(graded, results=tuple(results), odd=odd, walled=self.supervisor.hidden is not None)
        except processes.Stopped:
            raise
        except Exception as error:
            sheet = submissions.sheet_named(one.name, self.sheets)
            graded = Graded(one.learner, one.name, sheet, why=_fault(error), ours=True)
        if processes.stopped():  # its process was ended by us
            raise processes.Stopped
        self.journal.add(graded, fingerprint)
        return graded


def _fault(error: Exception) -> str:
    """Why a notebook was not graded through no fault of its own, for a teacher."""
    if isinstance(error, NotStarted):
        return f"the process that was to run it did not start: {error}"
    if isinstance(error, OSError):
        return f"this computer could not do its part ({error.strerror or error}); the same command tries again"
    return f"the grader itself failed on it, please report that ({type(error).__name__}: {error})"


def grade_all(found: list[Submission], grading: Grading, jobs: int) -> Iterator[Graded]:
    """Each file as soon as it is graded, `jobs` of them at once; at last, one by one, those that had no fair try."""
    again = []
    pool = ThreadPoolExecutor(max(1, jobs))
    try:
        waiting = {pool.submit(grading.grade, one): one for one in found}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                one, graded = waiting.pop(future), future.result()
                if graded.ours:
                    again.append(one)
                else:
                    yield graded
        yield from (pool.submit(grading.grade, one).result() for one in again)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        processes.end_all()


def line_of(one: Graded) -> str:
    """What the terminal says about one file."""
    what = one.sheet.stem if one.sheet else ""
    said = f"{one.points:3} of {one.sheet.points}" if one.results and one.sheet else f"not graded: {one.why}"
    missing = [result.task.id for result in one.results if result.status == "not graded"]
    said += f"   not graded: {', '.join(missing)}" if missing else ""
    said += f"   worth a look: {one.odd}" if one.odd else ""
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
    found = submissions.find(chosen.folder, sheets, chosen.out)
    if not found:
        sys.exit(f"There is no notebook (.ipynb) in {chosen.folder}.")
    limits = Limits(chosen.exercise_seconds, chosen.seconds, chosen.memory)
    hidden = [chosen.folder, chosen.out]
    why_not = "--plain was typed" if chosen.plain else walls.unfit(hidden)
    try:
        chosen.out.mkdir(parents=True, exist_ok=True)
        kept = Journal(chosen.out / "journal.jsonl", chosen.fresh)
    except OSError as error:
        sys.exit(f"{chosen.out} cannot be written ({error.strerror}): name another folder with --out.")
    supervisor = Supervisor(None if why_not else hidden, limits)
    where = f"without a wall: {why_not}" if why_not else "each behind the wall of bubblewrap"
    return grade_class(found, Grading(sheets, supervisor, kept, f"{material.digest()} {limits}"), chosen, where)


def grade_class(found: list[Submission], grading: Grading, chosen: argparse.Namespace, where: str) -> int:
    """Grade what is not graded yet. Whatever stops that, what is finished is in the tables."""
    begin = time.monotonic()
    known = {one.name: graded for one in found if (graded := grading.known(one))}
    new = [one for one in found if one.name not in known]
    print(f"grading {len(new)} notebook{'s' * (len(new) != 1)}, {chosen.jobs} at once, {where}", flush=True)
    if known:
        print(f"{len(known)} of {len(found)} were graded before and are as they were; to begin afresh, add --fresh")
    stopped = False
    try:
        for number, one in enumerate(grade_all(new, grading, chosen.jobs), start=1):
            known[one.name] = one
            show(one, number, len(new), time.monotonic() - begin)
    except KeyboardInterrupt:
        stopped = True
        ended = {one.name: grading.known(one) for one in new if one.name not in known}  # meanwhile, and not yet shown
        known |= {name: graded for name, graded in ended.items() if graded}
    return finish(found, known, grading, chosen, stopped)


def finish(found: list[Submission], known: dict[str, Graded], grading: Grading, chosen, stopped: bool) -> int:
    """Write the tables and say where they are."""
    missing = "not graded yet, for the grading was stopped: the same command goes on from there"
    graded = [known.get(one.name) or Graded(one.learner, one.name, None, why=missing) for one in found]
    supervisor = grading.supervisor
    room = Class(sorted(graded, key=lambda one: (one.learner, one.name)), supervisor.limits, supervisor.unlimited)
    try:
        for path in tables.write(room, chosen.out):
            print(f"wrote {path}")
        grading.journal.flush()
    except OSError as error:
        sys.exit(
            f"{chosen.out} cannot be written ({error.strerror}). What is there is kept: make room, and type it again."
        )
    if "memory" in room.unlimited:
        print("Memory was not limited: this system has no limit that a program can set for itself.")
    if stopped:
        done = f"{len(known)} of {len(found)} notebooks are graded and kept"
        sys.exit(f"\nStopped. {done}: the same command goes on from there. Nothing is left running.")
    print(f"{len(found)} notebook{'s' * (len(found) != 1)}. {tables.about_walls(room)}")
    return 0


def stop(*_: object) -> None:
    """A polite request to end ends the notebooks, too."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal has no letters for
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nStopped: what is finished is kept, and the same command goes on from there.")
    except BrokenPipeError:  # whoever read what is printed has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit("Stopped, for nobody reads on: what is finished is kept, and the same command goes on from there.")
