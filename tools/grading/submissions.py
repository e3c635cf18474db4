"""Which notebook is whose, and what of it is an answer. Nothing in it is believed, or run, here."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .material import Sheet

MOST_BYTES = 20_000_000  # a notebook with pictures has about one million
MOST_BESIDE = 10_000_000  # of the files beside it
MOST_FILES = 200
MAX_DEPTH = 12  # of nested folders
_NBGRADERS_FOLDER = "submitted"
_BESIDE_NBGRADERS = {"source", "release", "autograded", "feedback", "exchange", _NBGRADERS_FOLDER}
_NOBODYS = {".ipynb_checkpoints", "__pycache__", "__MACOSX"}


class Unreadable(Exception):
    """Why there is nothing to grade in a file, in a few words."""


@dataclass(frozen=True)
class Submission:
    """One file and whose it is. `path` is None where there is nothing to read, and `why` says what there is instead."""

    learner: str
    name: str
    path: Path | None
    why: str = ""


@dataclass(frozen=True)
class Handed:
    """What is in a submission: its exercises, the code for each, the files beside it; or `why` there is nothing."""

    fingerprint: str
    sheet: Sheet | None = None
    answers: tuple[list[str], ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    why: str = ""


def find(folder: Path, stems: Iterable[str], leave_out: Path | None = None) -> list[Submission]:
    """Every notebook below a folder, by learner; and everybody who has a folder there without one.

    In a folder of its own, a notebook belongs to the learner of that name: the outermost folder, or the one inside
    `submitted`, where nbgrader's folders are. Where folders inside an outermost folder hold the same exercises, it is a
    group, and each of those is a learner: `group/ada`. A notebook that lies in no folder belongs to the learner whose
    name stands before (or after) the name of the exercises: `ada_01_requires_grad.ipynb`.
    """
    nbgrader = _is_nbgraders(folder, leave_out)
    root = folder / _NBGRADERS_FOLDER if nbgrader else folder
    stems, leave_out = list(stems), leave_out or folder
    entries = [one for one in _walk(root, MAX_DEPTH, leave_out) if one.name.lower().endswith(".ipynb")]
    places = {Path(one.path).relative_to(root): one.is_file(follow_symlinks=False) for one in entries}
    groups = set() if nbgrader else _groups(places, stems)
    found = []
    for place, real in places.items():
        depth = 2 if place.parts[0] in groups and len(place.parts) > 2 else 1
        learner = "/".join(place.parts[:depth]) if len(place.parts) > 1 else _name_beside(place.stem, stems)
        why = "" if real else "no file but a link or a device, which is not read"
        found.append(Submission(learner, place.as_posix(), root / place if real else None, why))
    inside = {f"{group}/{name}" for group in groups for name in _folders(root / group)}
    for name in (_folders(root, leave_out) - groups | inside) - {one.learner for one in found if "/" in one.name}:
        found.append(Submission(name, f"{name}/", None, "there is no notebook (.ipynb) in this folder"))
    return sorted(found, key=lambda one: (one.learner, one.name))


def _is_nbgraders(folder: Path, leave_out: Path | None) -> bool:
    """Whether this is nbgrader's own folder, and `submitted` in it not a learner of that name."""
    folders = _folders(folder, leave_out)
    notebooks = any(path.suffix.lower() == ".ipynb" for path in folder.iterdir())
    inner = _folders(folder / _NBGRADERS_FOLDER) if _NBGRADERS_FOLDER in folders else set()
    return bool(inner) and folders <= _BESIDE_NBGRADERS and not notebooks


def _folders(place: Path, leave_out: Path | None = None) -> set[str]:
    folders: list[Path] = []
    with contextlib.suppress(OSError):  # nobody may read it
        folders = [one for one in place.iterdir() if one.is_dir() and one != leave_out]
    return {one.name for one in folders if not one.name.startswith(".") and one.name not in _NOBODYS}


def _groups(places: Iterable[Path], stems: list[str]) -> set[str]:
    """The outermost folders in which several folders hold the same exercises, as far as file names tell."""
    held: dict[tuple[str, str], set[str]] = {}
    for place in places:
        if len(place.parts) > 2:
            which = next((stem for stem in stems if stem in place.name), "")
            held.setdefault((place.parts[0], which), set()).add(place.parts[1])
    return {group for (group, _), inside in held.items() if len(inside) > 1}


def _walk(root: Path, deepest: int, leave_out: Path | None = None) -> Iterator[os.DirEntry]:
    """What is below a folder and no folder. Folders that nobody may read are passed over, and links to folders, too.

    What is hidden is left out, but for outermost folders: a learner's name may begin with a dot.
    """
    waiting = [(root, deepest)]
    while waiting:
        place, depth = waiting.pop()
        with contextlib.suppress(OSError):
            for entry in sorted(os.scandir(place), key=lambda one: one.name):
                hidden = entry.name.startswith(".") and (depth < deepest or not entry.is_dir())
                if hidden or entry.name in _NOBODYS or Path(entry.path) == leave_out:
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    yield entry
                elif depth:
                    waiting.append((Path(entry.path), depth - 1))


def _name_beside(stem: str, stems: list[str]) -> str:
    """What a file name has besides the name of the exercises: ada of `ada_01_requires_grad`."""
    for known in stems:
        before, found, after = stem.partition(known)
        if found:
            return before.strip(" _-.") or after.strip(" _-.") or stem
    return stem


def read(one: Submission, sheets: dict[str, Sheet], course: str) -> Handed:
    """A submission, as far as it can be read. `course` is part of its fingerprint."""
    fingerprint = hashlib.sha256(course.encode())
    try:
        if one.path is None:
            raise Unreadable(one.why)
        content = _content(one.path)
        files = _beside(one, content, sheets)
        for part in (content, *(f"{name}\0{text}".encode(errors="replace") for name, text in sorted(files.items()))):
            fingerprint.update(hashlib.sha256(part).digest())
        cells = _cells(_parsed(content))
        sheet = sheet_of(cells, one.name, sheets)
        return Handed(fingerprint.hexdigest(), sheet, tuple(answers(cells, sheet)), files)
    except Unreadable as why:
        fingerprint.update(str(why).encode())
        return Handed(fingerprint.hexdigest(), sheet_named(one.name, sheets), why=str(why))


def _beside(one: Submission, content: bytes, sheets: dict[str, Sheet]) -> dict[str, str]:
    """The files beside a notebook, as text of one letter a byte: its code may read or import them.

    Of other notebooks those that it names, for `%run`, and that are no exercises.
    """
    files: dict[str, str] = {}
    folder, left = Path(one.path or "").parent, MOST_BESIDE
    in_own_folder = "/" in one.name
    for entry in _walk(folder, 3 if in_own_folder else 0):
        if entry.name.lower().endswith(".ipynb"):
            named = in_own_folder and os.fsencode(entry.name) in content
            if not named or sheet_named(entry.name, sheets) or Path(entry.path) == one.path:
                continue
        if not entry.is_file(follow_symlinks=False):
            continue
        with contextlib.suppress(OSError):
            size = entry.stat().st_size
            if size <= left and len(files) < MOST_FILES:
                left -= size
                name = Path(entry.path).relative_to(folder).as_posix()
                files[name] = Path(entry.path).read_bytes()[: size + 1].decode("latin-1")
    return files


def _content(path: Path) -> bytes:
    """The bytes of a notebook file; Unreadable says what is wrong with it."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"cannot be read ({error.strerror})") from None
    if len(content) > MOST_BYTES:
        raise Unreadable(f"larger than {MOST_BYTES // 1_000_000} MB")
    if not content.strip():
        raise Unreadable("an empty file")
    return content


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
    """The cells to run for each task: what comes with it, answer cells by their id, added cells by where they stand.

    Set-up and what comes with a task may have been changed, by an import, say: that runs first, and then the course's
    own. Of checks and points nothing is taken. Where there are several answer cells of one id, all of them run.
    """
    found: list[list[str]] = [[] for _ in sheet.tasks]
    changed: list[list[str]] = [[] for _ in sheet.tasks]
    place = 0
    for cell in cells:
        known = next((name for name in _names(cell) if name in sheet.below), None)
        source = _source(cell)
        mine = sheet.answers.get(known) if known else place
        if cell.get("cell_type") == "code" and mine is not None and mine < len(found):
            found[mine].append(source)
        elif known in sheet.given and source.strip() != sheet.given[known].strip():
            changed[sheet.below[known]].append(source)
        place = sheet.below[known] if known else place
    tasks = zip(changed, sheet.tasks, found, strict=True)
    return [[*before, *task.given, *after] for before, task, after in tasks]


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
    """A text that somebody else chose, in one line and without what moves a cursor or turns writing round."""
    # What joins the parts of an emoji is harmless.
    shown = (
        one if one.isprintable() or one == "\u200d" else " " if one.isspace() else "?" for one in text[: 4 * length]
    )
    text = "".join(shown)
    return text if len(text) <= length else f"{text[: length - 3]}..."
