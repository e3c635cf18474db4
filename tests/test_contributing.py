"""What CONTRIBUTING.md says of the repository is so: its layout, the files that it names, the code that it quotes."""

import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LAYOUT = re.search(r"## What lies where\n\n```text\n(.*?)```", PAGE, re.DOTALL)[1]


def drawn(layout: str) -> set[str]:
    """The paths that are drawn, folders with a slash at the end. Each line has a path and a few words on it."""
    paths, folders = set(), []
    for line in layout.splitlines():
        indent, name, said = re.fullmatch(r"((?:  )*)(\S+) {2,}(\S.*)", line).groups()
        del folders[len(indent) // 2 :]
        assert len(folders) == len(indent) // 2, f"{name} is indented below nothing: {said}"
        path = "".join(folders) + name
        assert path not in paths, f"{path} is drawn twice"
        paths.add(path)
        folders.append(name)
    return paths


def tracked() -> tuple[set[str], set[str]]:
    """The folders and the files that git tracks."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: git cannot say what belongs to the repository")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    files = {PurePosixPath(name) for name in listed.decode().split("\0") if name}
    folders = {f"{folder}/" for file in files for folder in file.parents if folder.name}
    return folders, {str(file) for file in files}


def test_the_layout_that_is_drawn_is_that_of_the_repository():
    folders, files = tracked()
    at_the_top = {file for file in files if "/" not in file}
    missing = sorted((folders | at_the_top) - drawn(LAYOUT))
    gone = sorted(drawn(LAYOUT) - folders - files)
    assert not missing, f"draw these in CONTRIBUTING.md, with a few words each: {', '.join(missing)}"
    assert not gone, f"git does not track these; take them out of CONTRIBUTING.md: {', '.join(gone)}"


def test_each_file_that_is_named_is_there():
    named = re.findall(r"`([\w./*]+/[\w./*]*|\w+\.(?:py|md))(?:::\w+)?`", PAGE)
    named += re.findall(r"(?<= )tests/\w+\.py", PAGE)
    for name in named:
        pattern = name.replace("NN", "[0-9][0-9]").replace("_name", "_*")
        if not name.startswith(".venv"):
            assert list(ROOT.glob(pattern)), f"CONTRIBUTING.md names {name}, which is not there"
    assert len(named) > 15


def test_the_row_that_is_quoted_is_that_of_the_source():
    (quoted,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert quoted in (ROOT / "minigrad" / "ops" / "pointwise.py").read_text(encoding="utf-8")
