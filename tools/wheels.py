"""Ask the package index what a fresh machine gets: which versions, and whether each package is there as a wheel.

    python -m tools.wheels          ask, store the answer in tools/wheels.jsonl and write the README's tables from it
    python -m tools.wheels --check  ask, and fail where something has to be built that the README does not name

It needs the network, and uv: `python -m pip install uv`. uv answers for a machine of another kind.
`pip download --platform` takes its wheels too, but markers such as `os_name == "nt"` from the machine that it
runs on, and would never ask for what only Windows and macOS need.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import files

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "tools" / "wheels.jsonl"
START, END = "<!-- wheels: made by python -m tools.wheels -->", "<!-- end of the wheels -->"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = {
    "Linux x86-64, glibc 2.28": "x86_64-manylinux_2_28",
    "Linux ARM64, glibc 2.28": "aarch64-manylinux_2_28",
    "macOS 12, Intel": "x86_64-apple-darwin",
    "macOS 12, Apple silicon": "aarch64-apple-darwin",
    "Windows x86-64": "x86_64-pc-windows-msvc",
    "Windows ARM64": "aarch64-pc-windows-msvc",
}
SHOWN = {"JupyterLab": "jupyterlab", "NumPy": "numpy", "Matplotlib": "matplotlib"}
SHOWN |= {name: name.lower() for name in ("graphviz", "pygraphviz", "nbval", "pytest", "Hypothesis")}


def main(words: list[str]) -> int:
    """Ask for each system and Python; 1 where `--check` finds what the README does not say."""
    with ThreadPoolExecutor() as pool:  # uv mostly waits for the network
        asked = [(python, name, pool.submit(ask, SYSTEMS[name], python)) for python in PYTHONS for name in SYSTEMS]
        answer: dict[str, dict[str, dict[str, str]]] = {python: {} for python in PYTHONS}
        for python, name, told in asked:
            answer[python][name] = told.result()
    print("\n".join(tables(answer)))
    if "--check" not in words:
        lines = [[python, name, versions] for python in answer for name, versions in answer[python].items()]
        files.write(STORED, "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines))
        readme = ROOT / "README.md"
        files.write(readme, with_tables(readme.read_text(encoding="utf-8"), answer))
        return 0
    worse = sorted(built(answer) - built(stored()))
    print("\n".join(f"{name}, Python {python}: {package} has no wheel" for name, python, package in worse))
    return int(bool(worse))


def ask(platform: str, python: str) -> dict[str, str]:
    """The version of each package that course and tests get there, or "" for one that has no wheel."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "-q", "--no-header", "--no-annotate"]
    command += ["--python-platform", platform, "--python-version", python, "--only-binary", ":all:"]
    command += ["--extra", "course", "--extra", "test", "pyproject.toml"]
    variables = os.environ | {"MACOSX_DEPLOYMENT_TARGET": "12.0"}
    asked = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    if asked.returncode == 0:
        return dict(line.split("==") for line in asked.stdout.split())
    missing = re.findall(r"Wheels are required for `([^`]+)`", asked.stderr)
    if not missing:
        raise SystemExit(f"uv could not ask the index for {platform}, Python {python}:\n{asked.stderr}")
    return dict.fromkeys(missing, "")


def stored() -> dict[str, dict[str, dict[str, str]]]:
    """What the index said last: by Python and by system, the version of each package."""
    answer: dict[str, dict[str, dict[str, str]]] = {}
    for line in STORED.read_text(encoding="utf-8").splitlines():
        python, name, versions = json.loads(line)
        answer.setdefault(python, {})[name] = versions
    return answer


def built(answer: dict[str, dict[str, dict[str, str]]]) -> set[tuple[str, str, str]]:
    """What would have to be built, for no wheel fits: system, Python, package."""
    return {
        (name, python, package)
        for python, systems in answer.items()
        for name, versions in systems.items()
        for package in versions
        if not versions[package]
    }


def tables(answer: dict[str, dict[str, dict[str, str]]]) -> list[str]:
    """The lines of the README's two tables: versions by Python, and wheels by system and Python."""
    lines = ["| Python | " + " | ".join(SHOWN) + " |", "|---" * (len(SHOWN) + 1) + "|"]
    for python, systems in answer.items():
        found = [{versions.get(package, "") for versions in systems.values()} - {""} for package in SHOWN.values()]
        lines.append(f"| {python} | " + " | ".join(" or ".join(sorted(each)) for each in found) + " |")
    lines += ["", "| Wheels for | " + " | ".join(answer) + " |", "|---" * (len(answer) + 1) + "|"]
    for name in SYSTEMS:
        cells = (wheels(systems[name]) for systems in answer.values())
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def wheels(versions: dict[str, str]) -> str:
    """All wheels that a machine needs, counted, or the packages that have none there."""
    missing = [package for package, version in versions.items() if not version]
    return f"{', '.join(missing)} has none" if missing else f"all {len(versions)}"


def with_tables(readme: str, answer: dict[str, dict[str, dict[str, str]]]) -> str:
    """The README with the tables in their place."""
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    return "\n".join([before + START, "", *tables(answer), "", END + after])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
