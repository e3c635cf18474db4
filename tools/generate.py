"""Make exercises/*.ipynb from solutions/*.ipynb: `python -m tools.generate`.

The answers between `### BEGIN SOLUTION` and `### END SOLUTION` (nbgrader's convention) are taken
out, outputs are cleared, and everything else stays, cell ids and nbgrader's metadata included.

What the learner starts from must stand in the cell outside that region, because nbgrader keeps
nothing of what is inside: `flags = ...` before it, or a `def` line around it. Where the region is
the body of a function, `...` takes its place.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

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


def generate(solutions: Path, exercises: Path) -> list[Path]:
    """Write the exercise notebook of each solution notebook; the same bytes on every system."""
    written = []
    for source in sorted(solutions.glob("[0-9][0-9]_*.ipynb")):
        text = nbformat.writes(exercise_notebook(nbformat.read(source, as_version=4)))
        target = exercises / source.name
        target.write_text(text.rstrip("\n") + "\n", encoding="utf-8", newline="\n")
        written.append(target)
    return written


def main() -> int:
    """Generate all exercises and say which."""
    for path in generate(_ROOT / "solutions", _ROOT / "exercises"):
        print(f"made exercises/{path.name} from solutions/{path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
