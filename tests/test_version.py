"""The version is said once, in minigrad/__init__.py, and everything else that names one agrees."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import minigrad as mg

ROOT = Path(__file__).resolve().parents[1]


def test_the_package_takes_its_version_from_minigrad():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in told["project"] and told["project"]["dynamic"] == ["version"]
    assert told["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "minigrad.__version__"}
    assert version("minigrad") == mg.__version__


def test_the_changelog_starts_with_what_is_unreleased_and_then_this_version():
    titles = re.findall(r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert titles[:2] == ["Unreleased", mg.__version__]


def test_course_py_says_this_version_before_there_is_an_environment(tmp_path):
    command = [sys.executable, str(ROOT / "course.py"), "--version"]
    variables = os.environ | {"MINIGRAD_VENV": str(tmp_path / "none")}
    said = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60).stdout
    assert f"minigrad {mg.__version__}," in said and not (tmp_path / "none").exists()
