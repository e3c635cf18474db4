"""Which exercises were ever solved and which beliefs they found: one small JSON file, never lost or corrupted.

Written to a temporary file and then moved over the old one; read again before each write, under a
lock, so that two notebooks open at once keep each other's entries. A file that cannot be read is
set aside under another name, never overwritten.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

VERSION = 1
# A kernel starts in the folder of its notebook: on a learner's desk that is a folder of the desk.
_DESK = next((folder for folder in (Path.cwd(), Path.cwd().parent) if (folder / ".desk.json").exists()), None)


def path() -> Path:
    """Where progress is kept: MINIGRAD_PROGRESS, or .progress.json on the desk, or else among the exercises.

    Of a link it is the target.
    """
    chosen = os.environ.get("MINIGRAD_PROGRESS")
    return Path(os.path.realpath(chosen or (_DESK or Path(__file__).resolve().parents[1]) / ".progress.json"))


def read() -> tuple[dict[str, dict], str]:
    """The entries by exercise id, and one sentence when something is wrong with the file."""
    try:
        return _read()
    except OSError as error:
        return {}, f"Progress is not shown: {path().name} cannot be read ({_reason(error)})."


def _read() -> tuple[dict[str, dict], str]:
    """As `read`, but raises OSError when there is a file that can be neither read nor set aside."""
    file = path()
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}, ""
    except (ValueError, RecursionError):
        return {}, _set_aside(file, "could not be read")
    entries = content.get("exercises") if isinstance(content, dict) else None
    if not isinstance(entries, dict) or content.get("version") != VERSION:
        return {}, _set_aside(file, "has a form that this version does not know")
    kept = {key: entry for key, entry in entries.items() if isinstance(entry, dict)}
    odd = {key: entry for key, entry in entries.items() if key not in kept}
    return kept, _set_entries_aside(file, odd) if odd else ""


def record(exercise_id: str, passed: bool, belief: str = "", mended: str = "") -> str:
    """Add one try of an exercise. Returns one sentence when it could not be saved, else ''.

    `belief` is the one that explains a wrong answer: it stays open until the exercise is right, or until
    another try names it as `mended`.
    """
    try:
        with _lock():
            entries, notice = _read()
            entries[exercise_id] = _after(entries.get(exercise_id, {}), passed, belief)
            for missed in (entry.get("missed") for entry in entries.values()):
                if isinstance(missed, dict) and mended in missed:
                    missed[mended] = False
            _replace(path(), {"version": VERSION, "exercises": entries})
        return notice
    except OSError as error:
        return f"Progress cannot be saved here ({_reason(error)}). Your score still counts."


def _after(before: dict, passed: bool, belief: str) -> dict:
    """The entry of an exercise after one more try."""
    tries, missed = before.get("tries", 0), before.get("missed")
    missed = dict(missed) if isinstance(missed, dict) else {}
    missed = dict.fromkeys(missed, False) if passed else missed | dict.fromkeys([belief] if belief else [], True)
    entry = {"solved": bool(before.get("solved")) or passed, "tries": (tries if type(tries) is int else 0) + 1}
    return entry | ({"missed": missed} if missed else {})


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _set_aside(file: Path, what: str) -> str:
    number = 1
    while (kept := file.with_name(f"{file.name}.bad-{number}")).exists():
        number += 1
    file.rename(kept)
    return f"The progress file {what}. It is kept as {kept.name}; progress starts anew."


def _set_entries_aside(file: Path, odd: dict) -> str:
    """Move what is no valid entry into a file beside. Doing it again with the same entries changes nothing."""
    kept, number = file.with_name(f"{file.name}.odd"), len(odd)
    with contextlib.suppress(OSError, ValueError, TypeError):
        odd = json.loads(kept.read_text(encoding="utf-8")) | odd
    _replace(kept, odd)
    what = "One entry" if number == 1 else f"{number} entries"
    return f"{what} of the progress file could not be read; kept in {kept.name}. The rest counts."


def _replace(file: Path, content: dict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".new")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=1, sort_keys=True)
            stream.flush()
            os.fsync(stream.fileno())
        _move(temporary, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _move(temporary: str, file: Path) -> None:
    """os.replace; on Windows it fails for a moment while another program reads the file."""
    for patience in (0.02, 0.05, 0.1, 0.2):
        try:
            return os.replace(temporary, file)
        except PermissionError:
            time.sleep(patience)
    os.replace(temporary, file)


@contextlib.contextmanager
def _lock(patience: float = 2.0) -> Iterator[None]:
    """A directory as a lock: making one is atomic everywhere. One left by a crash is taken over."""
    lock = path().with_name(path().name + ".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    give_up = time.monotonic() + patience
    while time.monotonic() < give_up:
        try:
            lock.mkdir()
            break
        except FileExistsError:
            time.sleep(0.01)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.rmdir()
