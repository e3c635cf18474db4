"""The learner's desk: copies of the chapters and exercises to write in, opened by `python3 course.py`.

    python3 course.py fresh 05             give chapter 05 back as new
    python3 course.py fresh exercises/05   the same for its exercises

The old notebook stays beside the new one, under another name. The desk is the folder `desk`, or the one that the
variable MINIGRAD_DESK names. A new version of the course overwrites nothing that was changed there: a cell that both
have changed stays as it is, and the course's is put below it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tools import files, generate, predictions

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("glossary.md", "recap.md", "cheat_sheet.html")
STATE, PROGRESS = ".desk.json", ".progress.json"
NOTE = "**New in the course.** The cell above is yours; the one below is how the course has it now."
HOW = (
    "Name a chapter by its number, as in `course.py fresh 05`, or its exercises, as in `course.py fresh exercises/05`."
)
# A link to a file that is in the folder of the course and not on the desk.
LEADS_AWAY = re.compile(r"\[([^\]]*)\]\(\.\./((?!notebooks/|exercises/)[^)]*)\)")
# What is done to cells, in the order in which it is said.
NEW, CHANGED, BELOW, GONE = "new", "changed", "changed where you had, too: yours stay, the course's are below", "gone"


def place() -> Path:
    """The folder of the desk."""
    return Path(os.environ.get("MINIGRAD_DESK") or ROOT / "desk").absolute()


# --- What the course has ---------------------------------------------------------------------------


def names() -> list[str]:
    """What lies on the desk, as paths from there."""
    found = [path for folder in ("notebooks", "exercises") for path in sorted((ROOT / folder).glob("[0-9]*_*.ipynb"))]
    found += [ROOT / "notebooks" / page for page in PAGES]
    return [path.relative_to(ROOT).as_posix() for path in found if path.exists()]


def source(name: str) -> Path:
    """What a file of the desk is made from. In exercises/ somebody may have written: their source is the solution."""
    solution = ROOT / "solutions" / Path(name).name
    return solution if name.startswith("exercises/") and solution.exists() else ROOT / name


def as_new(name: str) -> NotebookNode:
    """A notebook as the course brings it: without outputs, and in a chapter with a line for each prediction."""
    chapter = nbformat.read(source(name), as_version=4)
    notebook = generate.exercise_notebook(copy.deepcopy(chapter))
    for cell in notebook.cells:
        cell.source = LEADS_AWAY.sub(r"\1 (`\2` in the folder of the course)", cell.source)
    if name.startswith("notebooks/"):
        predictions.prepare(notebook, chapter, Path(name).name[:2])
    return notebook


def mark(name: str) -> str:
    """A digest of a file of the course and of what prepares its copy: it changes when either does."""
    made_by = [Path(str(module.__file__)) for module in (sys.modules[__name__], predictions, generate)]
    return digest(b"".join(path.read_bytes() for path in (source(name), predictions.ANSWERS, *made_by)))


def digest(content: bytes | str) -> str:
    return hashlib.sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()[:20]


def digests(notebook: NotebookNode) -> dict[str, str]:
    """The digest of each cell's source, by the cell's id."""
    return {cell.id: digest(cell.source) for cell in notebook.cells}


# --- What is on the desk ---------------------------------------------------------------------------


class Desk:
    """The folder, and a note of what the course has brought: by name, the mark and what stood in the cells."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.is_new = folder, not (folder / STATE).exists()
        try:
            noted: Any = json.loads((folder / STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            noted = None
        self.brought: dict[str, dict] = noted if isinstance(noted, dict) else {}

    def update(self) -> list[str]:
        """Bring what is new in the course, and say what that was."""
        said = []
        for name in names():
            mine, is_known = self.folder / name, mark(name) == self.brought.get(name, {}).get("mark")
            if is_known and mine.exists():
                continue
            mine.parent.mkdir(parents=True, exist_ok=True)
            try:
                did = self.bring(name, mine) if mine.suffix == ".ipynb" else self.bring_page(name, mine)
            except OSError:
                raise
            except Exception as error:  # as after a merge with conflicts
                did = f"not brought, for {source(name)} cannot be read ({type(error).__name__})"
            said += [f"{name}: {did}"] if did else []
        old = ROOT / "exercises" / PROGRESS
        if self.is_new and old.exists() and not (self.folder / PROGRESS).exists():
            shutil.copyfile(old, self.folder / PROGRESS)
            said.append(f"{PROGRESS}: taken along, so that what you have solved counts")
        return said

    def bring(self, name: str, mine: Path) -> str:
        """Bring a notebook as the course has it now; say what was done, or why nothing was."""
        new, before = as_new(name), self.brought.get(name, {}).get("cells")
        if mine.exists():
            did = merge(mine, new, before)
        elif self.is_new and is_written_in(ROOT / name, new):
            shutil.copyfile(ROOT / name, mine)
            did = "taken along, with what you have written in it"
        else:
            write(mine, new)
            did = "" if self.is_new else "here again" if before else "new"
        self.note(name, cells=digests(new))
        return did

    def bring_page(self, name: str, mine: Path) -> str:
        """Bring a page that is there to be read; one that was written in stays, under another name."""
        text = (ROOT / name).read_text(encoding="utf-8")
        now = digest(mine.read_bytes()) if mine.exists() else None
        is_changed = now not in (None, digest(text), self.brought.get(name, {}).get("text"))
        kept = f"as the course has it; yours is {keep(mine).name}" if is_changed else ""
        files.write(mine, text)
        self.note(name, text=digest(text))
        return kept

    def note(self, name: str, **what: Any) -> None:
        """Remember what was brought: at once, so that a start that is broken off is taken up where it ended."""
        self.brought[name] = {"mark": mark(name), **what}
        files.write(self.folder / STATE, json.dumps(self.brought))

    def fresh(self, name: str) -> str:
        """Give a notebook back as new, keep the old one, and say so."""
        mine, new = self.folder / name, as_new(name)
        mine.parent.mkdir(parents=True, exist_ok=True)
        if mine.exists() and mine.read_text(encoding="utf-8", errors="replace") == text_of(new):
            return f"{name} is as new already: nothing was done."
        kept = f"; the old one is beside it, {keep(mine).name}" if mine.exists() else ""
        write(mine, new)
        self.note(name, cells=digests(new))
        return f"{name} is as new{kept}. Where it is open in JupyterLab: File > Reload Notebook from Disk."


def keep(mine: Path) -> Path:
    """Move a file aside, under a free name by which JupyterLab still opens it."""
    return files.keep(mine, f"{mine.stem}.kept-{{}}{mine.suffix}")


def text_of(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def write(mine: Path, notebook: NotebookNode) -> None:
    files.write(mine, text_of(notebook))


def is_written_in(exercise: Path, new: NotebookNode) -> bool:
    """Whether there are answers in exercises/, from a time before the desk."""
    try:
        return exercise.parent.name == "exercises" and digests(nbformat.read(exercise, 4)) != digests(new)
    except Exception:  # no notebook, so there is nothing to work on: it stays where it is
        return False


# --- A new version, and what was changed -----------------------------------------------------------


def merge(mine: Path, new: NotebookNode, before: dict[str, str] | None) -> str:
    """Bring what is new into a learner's notebook; say what was done, or why nothing was.

    `before` is what the course had brought. Where that is not known, whatever differs is the learner's.
    """
    try:
        notebook = nbformat.read(mine, as_version=4)
        nbformat.validate(notebook)
    except Exception:
        return f"left as it is, for it cannot be read; `course.py fresh {mine.parent.name}/{mine.name[:2]}` keeps it"
    old = text_of(notebook)
    done = merge_cells(notebook, new, digests(new) if before is None else before)
    if text_of(notebook) != old:
        write(mine, notebook)
    said = {what: done.count(what) for what in (NEW, CHANGED, BELOW, GONE)}
    return "; ".join(f"{count} cell{'s' * (count > 1)} {what}" for what, count in said.items() if count)


def merge_cells(notebook: NotebookNode, new: NotebookNode, before: dict[str, str]) -> list[str]:
    """Bring the cells of `new` that are not as they were `before` into `notebook`; what was done, by cell."""
    now, done = digests(new), []
    kept = [cell for cell in notebook.cells if cell.id in now or before.get(cell.id) != digest(cell.source)]
    done += [GONE] * (len(notebook.cells) - len(kept))
    at = 0  # where the next cell of the course goes: below the one before it
    for cell in new.cells:
        places = [i for i, known in enumerate(kept) if known.id == cell.id]
        if places:
            at = places[0] + 1
            yours = digest(kept[at - 1].source)
            if "prediction" in cell.metadata:
                kept[at - 1].metadata["prediction"] = cell.metadata["prediction"]
            if yours == now[cell.id] or before.get(cell.id) == now[cell.id]:
                continue
            if yours == before.get(cell.id):
                kept[at - 1] = cell
                done.append(CHANGED)
            else:
                beside = below(cell, {known.id for known in kept})
                kept[at:at] = beside
                at += len(beside)
                done.append(BELOW)
        elif before.get(cell.id) != now[cell.id]:
            kept.insert(at, cell)
            at += 1
            done.append(NEW)
    notebook.cells = kept
    return done


def below(cell: NotebookNode, taken: set[str]) -> list[NotebookNode]:
    """A note and a cell of the course, to stand below the learner's, whose id and place in the grading stay its own."""
    number = next(n for n in range(1, len(taken) + 2) if f"new-{n}" not in taken and f"note-{n}" not in taken)
    beside = copy.deepcopy(cell)
    beside["id"] = f"new-{number}"
    beside.metadata.pop("nbgrader", None)
    return [nbformat.v4.new_markdown_cell(NOTE, id=f"note-{number}"), beside]


# --- All of it -------------------------------------------------------------------------------------


def prepared() -> Path:
    """The folder of the desk with all that is new in the course, after saying what that was."""
    desk = Desk(place())
    try:
        said = desk.update()
    except OSError as error:
        sys.exit(cannot_be_written(desk.folder, error))
    if desk.is_new:
        print(f"Your desk is {desk.folder}: chapters and exercises that are yours to write in.", flush=True)
    elif said:
        print("There is a new version of the course. What you have written is as it was.")
    for line in said:
        print(f"  {line}", flush=True)
    return desk.folder


def cannot_be_written(folder: Path, error: OSError) -> str:
    return (
        f"The desk {folder} cannot be written ({error.strerror or error}): make room, or let the variable "
        "MINIGRAD_DESK name a folder of your own."
    )


def named(word: str) -> str:
    """The notebook that a word names: 05, exercises/05, or its file."""
    found = re.fullmatch(r"(?:(?:.*/)?(notebooks|exercises)/)?(\d\d)(_\w+)?(\.ipynb)?", word.replace("\\", "/"))
    beginning = f"{found[1] or 'notebooks'}/{found[2]}_" if found else "none"
    matching = [name for name in names() if name.startswith(beginning)]
    if not matching:
        sys.exit(f"There is no {word!r} to make new. {HOW}")
    return matching[0]


def main(words: Sequence[str]) -> int:
    """`fresh`: give the named notebooks back as new."""
    if not words:
        sys.exit(f"Which one? {HOW}")
    desk, wanted = Desk(place()), [named(word) for word in words]
    try:
        for name in wanted:
            print(desk.fresh(name), flush=True)
    except OSError as error:
        sys.exit(cannot_be_written(desk.folder, error))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
