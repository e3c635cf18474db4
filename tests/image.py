"""The steps of tools/hub/Dockerfile, done without Docker: `python tests/image.py FOLDER` makes an environment there.

What it copies goes to FOLDER/course, its RUN lines run there in a clean environment; those that need an image's root
do not run, and are named. Standard library only.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = ROOT / "tools" / "hub" / "Dockerfile"
FOR_ROOT = ("useradd", "apt-get")


def instructions(text):
    """Each instruction of a Dockerfile and what follows it; comments are no instructions."""
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n", "", text)).splitlines()
    return [tuple(line.split(maxsplit=1)) for line in lines if line.strip()]


def run(words, folder, variables):
    """One RUN line, as a shell in the environment `folder` runs it in the folder of the course."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        ["bash", "-euc", words],
        cwd=folder / "course",
        env={**own, **variables, "PATH": path, "VIRTUAL_ENV": str(folder), "PIP_QUIET": "1"},
        check=True,
    )


def make(folder):
    """The environment, by all steps of the Dockerfile."""
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    course, variables = folder / "course", {}
    course.mkdir()
    for name, words in instructions(DOCKERFILE.read_text("utf-8")):
        if name == "COPY":
            *sources, target = words.split()
            for source in sources:
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, course / target, ignore=shutil.ignore_patterns("__pycache__", ".*"))
                else:
                    shutil.copy(ROOT / source, course / target)
        elif name in ("ARG", "ENV"):
            variable, _, value = words.partition("=")
            variables[variable] = value.replace("/usr/local", str(folder))  # where the image has its Python
        elif name == "RUN" and words.startswith(FOR_ROOT):
            print(f"not run, it needs the root of an image: {words}")
        elif name == "RUN":
            print(f"RUN {words}", flush=True)
            run(words, folder, variables)


if __name__ == "__main__":
    make(Path(sys.argv[1]).absolute())
