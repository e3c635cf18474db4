"""Make exercises/*.ipynb from solutions/*.ipynb: `python3 course.py author exercises`.

An exercise in which something is written is left as it is. With its number after the command (`exercises 03`, several
if need be) only those exercises are made, whatever is written in them, and the old ones are kept beside them.

An exercise's title and points stand in its check; each solution notebook gets its headings and points from there first.

The answers between `### BEGIN SOLUTION` and `### END SOLUTION` (nbgrader's convention) are taken
out, outputs are cleared, and everything else stays, cell ids and nbgrader's metadata included.

What the learner starts from must stand in the cell outside that region, because nbgrader keeps
nothing of what is inside: `flags = ...` before it, or a `def` line around it. Where the region is
the body of a function, `...` takes its place.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from tools import files

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
_ROOT = Path(__file__).resolve().parents[1]


def without_solution(source: str) -> str:
    """The source of a cell with its solution taken out.

    >>> print(without_solution('''def double(x):
    ...     ### BEGIN SOLUTION
    ...     return 2 * x
    ...     ### END SOLUTION'''))
    def double(x):
        ...
    """
    kept, inside = [], False
    for line in source.splitlines():
        if line.strip() == BEGIN and not inside:
            inside, indent = True, line[: line.index("#")]
            kept += [indent + "..."] if indent else []
        elif line.strip() == END and inside:
            inside = False
        elif not inside:
            kept.append(line)
    if inside:
        raise ValueError(f"there is a {BEGIN} without its {END}")
    return "\n".join(kept).strip("\n")


def exercise_notebook(solution: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A copy of a solution notebook without solutions, outputs and execution counts."""
    notebook = nbformat.from_dict(solution)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.source, cell.outputs, cell.execution_count = (
                without_solution(cell.source),
                [],
                None,
            )
    notebook.metadata.language_info = {"name": "python"}  # without the version that ran it last
    nbformat.validate(notebook)
    return notebook


def with_headings(solution: nbformat.NotebookNode, exercises: Mapping[str, Any]) -> nbformat.NotebookNode:
    """The notebook with the number, title and points of each exercise in its two cells, `task-NAME` and `test-NAME`."""
    cells = {cell.id: cell for cell in solution.cells}
    names = [id.removeprefix("task-") for id in cells if id.startswith("task-")]
    for number, name in enumerate(names, 1):
        one, (task, test) = exercises[name], (cells["task-" + name], cells["test-" + name])
        heading = f"## {number}. {one.title}\n\n*{one.points} point{'s' * (one.points != 1)}*\n"
        task.source = heading + task.source.split("\n", 3)[3]
        test.metadata.nbgrader["points"] = one.points
    return solution


def write_headings(solution: Path) -> None:
    """Bring a solution notebook's headings in line with its checks."""
    chapter = importlib.import_module(f"exercises.checks.ch{solution.name[:2]}").chapter
    notebook = with_headings(nbformat.read(solution, as_version=4), chapter.exercises)
    text = nbformat.writes(notebook).rstrip("\n") + "\n"
    if text != solution.read_text(encoding="utf-8"):
        files.write(solution, text)


def made_from(solution: str) -> str:
    """The text of the exercise notebook for that of a solution notebook."""
    return nbformat.writes(exercise_notebook(nbformat.reads(solution, as_version=4))).rstrip("\n") + "\n"


def is_written_in(exercise: Path, solution: Path) -> bool:
    """Whether a cell of the exercise comes neither from the solution as it is nor as it was last committed."""
    try:
        made = [made_from(text) for text in (solution.read_text(encoding="utf-8"), committed(solution)) if text]
        known = {cell.source for text in made for cell in nbformat.reads(text, as_version=4).cells}
        return not {cell.source for cell in nbformat.read(exercise, as_version=4).cells} <= known
    except Exception:  # not even a notebook, as after a merge with conflicts
        return True


def committed(path: Path) -> str:
    """The text of a file in the last commit; "" where there is none, or no git."""
    try:
        show = ["git", "show", f"HEAD:./{path.name}"]
        return subprocess.run(show, cwd=path.parent, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return ""


def generate(solutions: Path, exercises: Path, named: tuple[str, ...] = ()) -> list[str]:
    """Make the exercise notebooks that have changed, or those that are named, and say what was done."""
    said = []
    for solution in sorted(solutions.glob("[0-9][0-9]_*.ipynb")):
        exercise, text = exercises / solution.name, made_from(solution.read_text(encoding="utf-8"))
        is_asked_for = not named or solution.name.startswith(named)
        if not is_asked_for or (exercise.exists() and exercise.read_bytes() == text.encode()):
            continue
        if exercise.exists() and is_written_in(exercise, solution):
            if not named:
                said.append(
                    f"left {exercise.name}, for something is written in it: `exercises {exercise.name[:2]}` makes it"
                )
                continue
            said.append(f"kept {exercise.name} as {files.keep(exercise).name}")
        files.write(exercise, text)
        said.append(f"made {exercise.name}")
    return said


def main(words: Sequence[str] = ()) -> int:
    """Generate what is asked for and say what that is; 1 if something was left."""
    names = [path.name for path in (_ROOT / "solutions").glob("[0-9][0-9]_*.ipynb")]
    for word in words:
        if not any(name.startswith(word) for name in names) or len(word) < 2:
            sys.exit(f"There are no exercises {word!r}: name them by number, as in `exercises 03`.")
    for solution in sorted((_ROOT / "solutions").glob("[0-9][0-9]_*.ipynb")):
        write_headings(solution)
    said = generate(_ROOT / "solutions", _ROOT / "exercises", tuple(words))
    print("\n".join(said) or "exercises/ is up to date")
    return int(any(line.startswith("left") for line in said))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
