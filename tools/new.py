"""Make a draft of an exercise or a chapter.

    python3 course.py new exercise 05 four_times
    python3 course.py new chapter 12 forward_mode

A draft passes the tests as it is, and says in each place what is to be written there (`tools/skeletons/`). It says
"Draft: " to everybody who meets it; the tests ask less of it, list it, and refuse it in a release. Nothing that exists
is overwritten, and if anything fails, everything is as it was before.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

import nbformat

from tools import files, generate

ROOT = Path(__file__).resolve().parents[1]
DRAFT = "Draft: "
MOST_EXERCISES = 12
LONGEST_NAME = 30
NAME = rf"(?=.{{2,{LONGEST_NAME}}}\Z)(?=.*[a-z]{{2}})[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
LOCK = "chapter.lock()\n"
# What a draft changes; all of it is put back if a step fails.
PLACES = ["README.md", "tools/pages.py", "notebooks/*", "solutions/*", "exercises/*.ipynb"]
PLACES += ["exercises/checks/*.py", "tests/banks/*.py"]


class Refusal(Exception):
    """Why nothing was made, and what to do, in one sentence."""


# --- What is a draft -------------------------------------------------------------------------------


def is_draft(chapter: Path) -> bool:
    """Whether a chapter's notebook says that it is a draft."""
    return nbformat.read(chapter, as_version=4).cells[0].source.startswith(f"# {DRAFT}")


def drafts(solution: Path) -> list[str]:
    """The names of the exercises that are drafts, in the notebook that holds their solutions."""
    heading = re.compile(rf"## \d+\. {DRAFT}")
    cells = nbformat.read(solution, as_version=4).cells
    return [cell.id.removeprefix("task-") for cell in cells if heading.match(cell.source)]


# --- An exercise -----------------------------------------------------------------------------------


def new_exercise(number: str, name: str) -> str:
    """Add a draft of an exercise to the end of a chapter's; says what to do next."""
    number, known = number.zfill(2), {path.name[:2]: path for path in solutions()}
    if number not in known:
        raise Refusal(f"There are no exercises of a chapter {number!r}: choose one of {', '.join(known)}.")
    solution = known[number]
    refuse_name(name, number, solution)
    refuse_unmade()
    with all_or_nothing():
        add_exercise(solution, name)
        finish(solution)
    return f"""\
Made a draft of exercise {name!r}. What is to be written is said in
  solutions/{solution.name}: task-{name}, answer-{name}, and the number of exercises in the first cell
  exercises/checks/ch{number}.py: {name}
  tests/banks/ch{number}.py: WRONG[{name!r}] and RIGHT[{name!r}]
Then take "{DRAFT}" out of the check's title, and run: course.py author outputs, author exercises, test."""


def refuse_name(name: str, number: str, solution: Path) -> None:
    """An exercise's name is that of a cell, of a function of the checks, and of the learner's variable."""
    if not re.fullmatch(NAME, name):
        raise Refusal(
            f"{name!r} is no name for an exercise: take small letters, digits and _, as in four_times, "
            f"{LONGEST_NAME} characters at most."
        )
    if keyword.iskeyword(name) or hasattr(builtins, name) or name in ("display", "get_ipython"):
        raise Refusal(f"{name!r} means something in Python or Jupyter already: take another name.")
    checks = (ROOT / "exercises" / "checks" / f"ch{number}.py").read_text(encoding="utf-8")
    if name in {"check", "score", "hint", "again", *names_of(checks)}:
        raise Refusal(f"The name {name!r} is taken in exercises/checks/ch{number}.py: take another one.")
    ids = [cell.id for cell in nbformat.read(solution, as_version=4).cells]
    if sum(id.startswith("test-") for id in ids) >= MOST_EXERCISES:
        raise Refusal(f"Chapter {number} has {MOST_EXERCISES} exercises, which is the most: take one out first.")
    if f"answer-{name}" in ids or "end" not in ids or not checks.endswith(LOCK):
        raise Refusal(f"Chapter {number} has a cell answer-{name}, or no cell `end`, or checks without an end.")


def names_of(source: str) -> set[str]:
    """The names that a module makes or imports."""
    tree = ast.parse(source)
    aliases = [alias for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    made = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return made | defined | {alias.asname or alias.name for alias in aliases}


def add_exercise(solution: Path, name: str) -> None:
    """Write the exercise's three cells, its check, and its first wrong and right answer."""
    notebook = nbformat.read(solution, as_version=4)
    ids = [cell.id for cell in notebook.cells]
    place = 1 + sum(id.startswith("test-") for id in ids)
    words = {"name": name, "title": name.replace("_", " "), "place": str(place), "line": "-" * (93 - len(str(place)))}
    end = ids.index("end")
    notebook.cells[end:end] = cells_of(skeleton("exercise", words))
    write_notebook(solution, notebook)
    checks = ROOT / "exercises" / "checks" / f"ch{solution.name[:2]}.py"
    rest = checks.read_text(encoding="utf-8").removesuffix(LOCK)
    checks.write_text(rest + skeleton("check", words) + LOCK, encoding="utf-8", newline="\n")
    with (ROOT / "tests" / "banks" / checks.name).open("a", encoding="utf-8", newline="\n") as bank:
        bank.write(skeleton("wrong", words))


# --- A chapter -------------------------------------------------------------------------------------


def new_chapter(stem: str) -> str:
    """Make the draft of a chapter and of its first exercise; says what to do next."""
    if not re.fullmatch(rf"[0-9][0-9]_{NAME}", stem):
        raise Refusal(
            f"{stem!r} is no name for a chapter: take two digits and a few words, as in 12 forward_mode, "
            f"{LONGEST_NAME} characters at most."
        )
    number, title = stem[:2], stem[3:].replace("_", " ")
    places = ("notebooks", "solutions", "exercises", "exercises/checks", "tests/banks")
    taken = [p for place in places for p in (ROOT / place).glob("*") if re.match(rf"(ch)?{number}[_.]", p.name)]
    if taken:
        raise Refusal(
            f"Chapter {number} is there already ({taken[0].relative_to(ROOT).as_posix()}): take another number."
        )
    refuse_unmade()
    words = {"number": number, "stem": stem, "title": title}
    solution = ROOT / "solutions" / f"{stem}.ipynb"
    with all_or_nothing():
        for folder, kind in (("notebooks", "chapter"), ("solutions", "solution")):
            notebook = nbformat.v4.new_notebook(cells=cells_of(skeleton(kind, words)), nbformat_minor=5)
            write_notebook(ROOT / folder / f"{stem}.ipynb", notebook)
        for folder, kind in (("exercises/checks", "checks"), ("tests/banks", "bank")):
            (ROOT / folder / f"ch{number}.py").write_text(skeleton(kind, words), encoding="utf-8", newline="\n")
        add_line_for_readme(number)
        add_exercise(solution, "first")
        run("tools.pages")
        finish(ROOT / "notebooks" / solution.name, solution)
    return f"""\
Made a draft of chapter {number} with its first exercise. What is to be written is said in
  notebooks/{stem}.ipynb, and notebooks/glossary.md may get a part "## {number}"
  solutions/{stem}.ipynb, exercises/checks/ch{number}.py and tests/banks/ch{number}.py,
  to which `new exercise {number} NAME` adds another one
  tools/pages.py: ABOUT["{number}"], the chapter's line in the README
Then take "{DRAFT}" out of the titles, and run what CONTRIBUTING.md says of a chapter."""


def add_line_for_readme(number: str) -> None:
    """The chapter's row of ABOUT in tools/pages.py, in its place."""
    pages = ROOT / "tools" / "pages.py"
    start, rows, rest = re.split(r"(?s)(?<=\nABOUT = \{\n)(.*?)(?=\}\n)", pages.read_text(encoding="utf-8"), maxsplit=1)
    lines = sorted([*rows.splitlines(), f'    "{number}": "{DRAFT}one line on what it is about",'])
    pages.write_text(start + "\n".join(lines) + "\n" + rest, encoding="utf-8", newline="\n")


# --- What both need --------------------------------------------------------------------------------


def solutions() -> list[Path]:
    """The notebooks with the solutions, in the order of the chapters."""
    return sorted((ROOT / "solutions").glob("[0-9][0-9]_*.ipynb"))


def skeleton(name: str, words: dict[str, str]) -> str:
    """A text of tools/skeletons/ with these words in it."""
    text = (Path(__file__).parent / "skeletons" / f"{name}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def cells_of(text: str) -> list[nbformat.NotebookNode]:
    """The cells of a text that has a line `=== markdown ID` or `=== code ID` above each."""
    _, *pieces = re.split(r"(?m)^=== (markdown|code) (\S+)\n", text)
    cells = []
    for kind, id, source in zip(pieces[0::3], pieces[1::3], pieces[2::3], strict=True):
        cell = nbformat.v4.new_markdown_cell() if kind == "markdown" else nbformat.v4.new_code_cell()
        cell.update(id=id, source=source.strip("\n"))
        if id in ("setup", "score") or id.startswith(("answer-", "test-")):
            cell.metadata["nbgrader"] = nbgrader_flags(id)
        cells.append(cell)
    return cells


def nbgrader_flags(id: str) -> dict:
    """What nbgrader needs to know about a cell: an answer is open, and the test below it gives the points."""
    answer, test = id.startswith("answer-"), id.startswith("test-")
    flags = {
        "grade": test,
        "grade_id": id,
        "locked": not answer,
        "schema_version": 3,
        "solution": answer,
        "task": False,
    }
    return flags | ({"points": 1} if test else {})


def write_notebook(path: Path, notebook: nbformat.NotebookNode) -> None:
    files.write(path, nbformat.writes(notebook).rstrip("\n") + "\n")


def made_from(solution: Path) -> str:
    """The text of an exercise notebook."""
    return generate.made_from(solution.read_text(encoding="utf-8"))


def refuse_unmade() -> None:
    """All exercises are made again; so answers that somebody typed into one would be lost."""
    for solution in solutions():
        exercise = ROOT / "exercises" / solution.name
        if not exercise.exists() or exercise.read_text(encoding="utf-8") != made_from(solution):
            raise Refusal(
                f"exercises/{exercise.name} is not what solutions/{exercise.name} gives: save what you have typed "
                "there, run `course.py author exercises`, and try again."
            )


def finish(*made: Path) -> None:
    """Store the outputs of the notebooks that were changed or count exercises, and make the exercises again."""
    counting = [p for p in (ROOT / "notebooks").glob("*.ipynb") if "_panel()" in p.read_text(encoding="utf-8")]
    before = {path: nbformat.read(path, as_version=4) for path in (*counting, *made)}
    run("tools.refresh_outputs", *(path.relative_to(ROOT).as_posix() for path in before))
    for path, notebook in before.items():
        keep_pictures(path, notebook)
    for solution in solutions():  # none has an answer in it, see refuse_unmade
        files.write(ROOT / "exercises" / solution.name, made_from(solution))


def keep_pictures(path: Path, before: nbformat.NotebookNode) -> None:
    """Put outputs back that say what they said: a picture has other bytes on another machine."""
    notebook, stored = nbformat.read(path, as_version=4), {cell.id: cell for cell in before.cells}
    for cell in notebook.cells:
        if cell.cell_type == "code" and said(cell) == said(stored[cell.id]):
            cell.outputs = stored[cell.id].outputs
    write_notebook(path, notebook)


def said(cell: nbformat.NotebookNode) -> list:
    """The outputs of a cell as text."""
    return [(out.get("text"), out.get("data", {}).get("text/plain")) for out in cell.outputs]


def run(module: str, *options: str) -> None:
    """Run one of the tools on this copy of the course, whichever is installed."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", module, *options]
    if subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}).returncode:
        raise Refusal(f"`python -m {module}` failed, as it says above; everything is as it was before.")


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Put every file back if anything fails."""
    before = contents()
    try:
        yield
    except BaseException:
        for path in contents().keys() - before.keys():
            path.unlink()
        for path, content in before.items():
            if path.read_bytes() != content:
                path.write_bytes(content)
        raise


def contents() -> dict[Path, bytes]:
    paths = [path for place in PLACES for path in ROOT.glob(place) if path.is_file()]
    return {path: path.read_bytes() for path in paths}


def main(words: list[str]) -> int:
    """Make what was asked for, or say in one sentence why not."""
    try:
        match words:
            case ["exercise", number, name]:
                print(new_exercise(number, name))
            case ["chapter", *parts] if 1 <= len(parts) <= 2:
                print(new_chapter("_".join(parts)))
            case _:
                raise Refusal("Type `course.py new exercise 05 four_times` or `course.py new chapter 12 forward_mode`.")
    except Refusal as refusal:
        sys.exit(str(refusal))
    except (OSError, ValueError, SyntaxError) as error:  # a file that is not to be written, or is none of ours any more
        why, *_ = (str(error) or type(error).__name__).splitlines()
        sys.exit(f"Nothing was made, and everything is as it was before: {why}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
