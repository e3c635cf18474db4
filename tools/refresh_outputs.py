"""Run the chapters and the solutions and store their outputs: `python3 course.py outputs`.

They are run as the tests run them: without anybody's progress, and with a failed check as a failed cell.
%%versus shows its recording even where PyTorch is installed, for readers who have none.
"""

import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent


def refresh(path: Path) -> None:
    """Run one notebook and write it back, with nothing in its metadata that differs between machines."""
    notebook = nbformat.read(path, 4)
    resources = {"metadata": {"path": str(path.parent)}}
    options = {"timeout": 120, "record_timing": False, "coalesce_streams": True}  # a stream may come in pieces
    NotebookClient(notebook, resources=resources, **options).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, path)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PYTEST_VERSION": "refresh", "MINIGRAD_PROGRESS": str(Path(folder) / "progress.json")}
        os.environ["MINIGRAD_VERSUS"] = "recorded"
        for path in sorted([*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "solutions").glob("*.ipynb")]):
            print(f"running {path.relative_to(ROOT).as_posix()}", flush=True)
            refresh(path)


if __name__ == "__main__":
    main()
