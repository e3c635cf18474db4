"""Pictures of a whole notebook, as JupyterLab shows it, from top to bottom.

python tests/browser/screenshot.py notebooks/01_requires_grad.ipynb out [--dark] [--run]
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # as pytest has it

import lab as jupyter


def copy_with(notebook, folder):
    """A copy of the course that holds `notebook`, and the notebook's path in it."""
    course = jupyter.copy_of_the_course(folder / "course")
    if notebook.is_relative_to(jupyter.ROOT):
        return course, notebook.relative_to(jupyter.ROOT).as_posix()
    shutil.copy(notebook, course / notebook.name)
    return course, notebook.name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("folder", type=Path, help="where the PNG files go")
    parser.add_argument("--dark", action="store_true", help="on the dark theme")
    parser.add_argument("--run", action="store_true", help="after Run All, not as it is stored")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        course, path = copy_with(chosen.notebook.resolve(), Path(scratch))
        with jupyter.browser_on(course, Path(scratch) / "private") as lab:
            lab.open(path)
            lab.use_theme("JupyterLab Dark" if chosen.dark else "JupyterLab Light")
            if chosen.run:
                print("execution counts:", lab.run_all())
            name = chosen.notebook.stem + ("-dark" if chosen.dark else "")
            for picture in lab.screenshots(chosen.folder, name):
                print(picture)


if __name__ == "__main__":
    main()
