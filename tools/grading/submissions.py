"""Which notebook is whose, and what of it is an answer. Nothing in it is believed, or run, here."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .material import Sheet

MOST_BYTES = 20_000_000  # a notebook with pictures has about one million
_NBGRADERS_FOLDER = "submitted"


class Unreadable(Exception):
    """Why there is nothing to grade in a file, in a few words."""


@dataclass(frozen=True)
class Submission:
    """One file and whose it is. `path` is None for a learner's folder in which there is no notebook."""

    learner: str
    name: str
    path: Path | None


def find(folder: Path, stems: Iterable[str]) -> list[Submission]:
    """Every notebook below a folder, by learner.

    In a folder of its own, a notebook belongs to the learner of that name: the outermost folder, or
    the one inside `submitted`, as nbgrader has it. A notebook that lies in no folder belongs to the
    learner whose name stands before (or after) the name of the exercises: `ada_01_requires_grad.ipynb`.
    """
    inner = folder / _NBGRADERS_FOLDER
    root = inner if inner.is_dir() and not inner.is_symlink() else folder
    found = [_submission(path, root, list(stems)) for path in _notebooks(root)]
    with_notebook = {one.name.partition("/")[0] for one in found}
    for place in sorted(root.iterdir()):
        if place.is_dir() and not place.name.startswith(".") and place.name not in with_notebook:
            found.append(Submission(place.name, f"{place.name}/", None))
    return sorted(found, key=lambda one: (one.learner, one.name))


def _notebooks(root: Path) -> Iterator[Path]:
    """Real files only: a link could be to somebody else's, or to a device that never ends."""
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            if path.suffix.lower() == ".ipynb" and name[0] != "." and path.is_file() and not path.is_symlink():
                yield path


def _submission(path: Path, root: Path, stems: list[str]) -> Submission:
    inside = path.relative_to(root)
    learner = inside.parts[0] if len(inside.parts) > 1 else _name_beside(path.stem, stems)
    return Submission(learner, inside.as_posix(), path)


def _name_beside(stem: str, stems: list[str]) -> str:
    """What a file name has besides the name of the exercises: ada of `ada_01_requires_grad`."""
    for known in stems:
        before, found, after = stem.partition(known)
        if found:
            return before.strip(" _-.") or after.strip(" _-.") or stem
    return stem


def read_cells(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook file, as they are; Unreadable says what is wrong with the file."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"cannot be read ({error.strerror})") from None
    if len(content) > MOST_BYTES:
        raise Unreadable(f"larger than {MOST_BYTES // 1_000_000} MB")
    if not content.strip():
        raise Unreadable("an empty file")
    return _cells(_parsed(content))


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)  # UTF-8, UTF-16 and UTF-32
    except UnicodeDecodeError:
        content = content.decode("latin-1").encode()  # an editor's doing; code is ASCII almost always
    except (ValueError, RecursionError):
        raise Unreadable("not a whole notebook: its JSON is broken") from None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Unreadable("not a notebook: neither text nor JSON") from None


def _cells(notebook: Any) -> list[dict[str, Any]]:
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if isinstance(notebook, dict) and "worksheets" in notebook:
        raise Unreadable("a notebook in an old format: open it in Jupyter and save it again")
    if not isinstance(cells, list):
        raise Unreadable("JSON, but not a notebook")
    return [cell for cell in cells if isinstance(cell, dict)]


def sheet_of(cells: list[dict[str, Any]], name: str, sheets: dict[str, Sheet]) -> Sheet:
    """The exercises that a notebook answers: those it has most cells of; its name decides a tie."""
    ids = [{*_names(cell)} for cell in cells]
    count = {stem: sum(bool(one & sheet.below.keys()) for one in ids) for stem, sheet in sheets.items()}
    best = max(count.values(), default=0)
    if not best:
        raise Unreadable("none of its cells is a cell of the exercises")
    return max((sheets[stem] for stem in count if count[stem] == best), key=lambda sheet: sheet.stem in name)


def sheet_named(name: str, sheets: dict[str, Sheet]) -> Sheet | None:
    """The exercises that a file claims by its name: all there is to go by when it cannot be read."""
    return next((sheet for stem, sheet in sheets.items() if stem in name), None)


def answers(cells: list[dict[str, Any]], sheet: Sheet) -> list[list[str]]:
    """The learner's code for each task: answer cells by their id, added cells by where they stand.

    Of all other cells of the course (checks, points, set-up) nothing is taken, whatever was done to
    them. Where there are several answer cells of one id, all of them run, in their order.
    """
    found: list[list[str]] = [[] for _ in sheet.tasks]
    place = 0
    for cell in cells:
        known = next((name for name in _names(cell) if name in sheet.below), None)
        mine = sheet.answers.get(known) if known else place
        if cell.get("cell_type") == "code" and mine is not None and mine < len(found):
            found[mine].append(_source(cell))
        place = sheet.below[known] if known else place
    return found


def _names(cell: dict[str, Any]) -> list[str]:
    """nbgrader's name of a cell, which survives copying, and its id, which survives all but that."""
    metadata = cell.get("metadata")
    flags = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    names = (flags.get("grade_id") if isinstance(flags, dict) else None, cell.get("id"))
    return [name for name in names if isinstance(name, str)]


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def printable(text: str, length: int = 80) -> str:
    """A name that somebody else chose, for one line on a terminal."""
    return re.sub(r"[^\S ]", " ", "".join(c if c.isprintable() else "?" for c in text))[:length]
