"""What a notebook sees behind the wall that bubblewrap (Linux) builds: Python, the course, and a room of its own.

No network, its own process ids, everything read-only but a temporary folder of limited size. The solutions,
the tests, other people's notebooks and the results are not there at all.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from .material import ROOT

ROOM = "/tmp/notebook"  # where the notebook runs, inside
MEGABYTES = 256  # of all files that one notebook may make; as many in /dev/shm
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store", "/var/cache/fontconfig")
_SETTINGS = ("alternatives", "fonts", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "passwd")
_COURSE = ("minigrad", "exercises", "tools")


def unfit(hidden: list[Path]) -> str:
    """Why no wall stands here, in a few words; '' if one does. It is tried once."""
    if not sys.platform.startswith("linux"):
        return "this system has no bubblewrap"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    words = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); import exercises, numpy"]
    try:
        tried = subprocess.run(around(words, hidden), capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here: {error}"
    said = tried.stderr.strip().splitlines()
    return f"bubblewrap does not work here: {said[-1] if said else tried.returncode}" if tried.returncode else ""


def around(words: list[str], hidden: list[Path]) -> list[str]:
    """The command that runs these words behind the wall, without these folders."""
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    shown = [*_SYSTEM, *sorted(prefixes), *(str(ROOT / name) for name in _COURSE)]
    own = ["--tmpfs", "/tmp", "--size", f"{MEGABYTES << 20}", "--tmpfs", "/dev/shm"]
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--proc", "/proc", "--dev", "/dev", "--size", f"{MEGABYTES << 20}", *own, "--dir", ROOM]
    for place in shown:
        command += ["--ro-bind-try", place, place]
    for name in _SETTINGS:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += _links(Path(sys.executable), shown)
    ours = filter(Path.exists, (ROOT / "solutions", ROOT / "tests"))  # an image has neither
    for folder in (*hidden, *ours):
        if any(folder.is_relative_to(one) for one in shown):
            command += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", ROOM, "--", *words]


def _links(path: Path, shown: list[str]) -> list[str]:
    """A virtual environment's Python is a link, maybe to another link: each has to lead somewhere inside, too."""
    words = []
    for _ in range(10):
        if not any(path.is_relative_to(one) for one in shown):
            words += ["--ro-bind", str(path.resolve()), str(path)]
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return words
