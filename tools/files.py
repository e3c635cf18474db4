"""Writing over files of the course, so that nothing is lost."""

import os
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Put text into a file, the same bytes on every system. A full disk or Ctrl-C leaves the old one as it is."""
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8", newline="\n")
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def keep(path: Path, name: str = "") -> Path:
    """Move a file aside, under the first name that is free: `{}` in it is a number."""
    number = 1
    while (kept := path.with_name((name or f"{path.name}.kept-{{}}").format(number))).exists():
        number += 1
    return path.rename(kept)
