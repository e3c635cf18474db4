"""Run the chapters and the solutions, or those that are named, and store their outputs: `course.py author outputs`.

Cells stay as they are. A notebook that fails, or that is saved by somebody while it runs, is left alone.
They are run as the tests run them: without anybody's progress, and with a failed check as a failed cell.
%%versus shows its recording even where PyTorch is installed, for readers who have none. A stored picture is kept while
its text form and its colours stay the same: another machine's layout engine and fonts would only change its bytes.
"""

import base64
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tools import files

ROOT = Path(__file__).resolve().parent.parent


def refresh(path: Path) -> str:
    """Run one notebook and write it back, with nothing in its metadata that differs between machines."""
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, 4)
    resources = {"metadata": {"path": str(path.parent)}}
    try:  # a stream may come in pieces
        NotebookClient(notebook, resources=resources, timeout=120, record_timing=False, coalesce_streams=True).execute()
    except CellExecutionError as error:
        return f"left as it is: {error.ename}: {error.evalue}"
    if path.read_text(encoding="utf-8") != text:
        return "left as it is: it was changed while it ran"
    keep_pictures(nbformat.reads(text, 4), notebook)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    files.write(path, nbformat.writes(notebook).rstrip("\n") + "\n")
    return "stored"


def keep_pictures(before: nbformat.NotebookNode, after: nbformat.NotebookNode) -> None:
    """Put the pictures of before in the place of those that say the same."""
    drawn: dict = {}
    for cell in before.cells:
        drawn |= {(cell.id, _text(output)): output for output in cell.get("outputs", []) if _text(output)}
    for cell in after.cells:
        if "outputs" in cell:
            cell.outputs = [drawn.get((cell.id, _text(output)), output) for output in cell.outputs]


def _text(output: nbformat.NotebookNode) -> str:
    """The text form of an output that is a picture, and its look on dark pages; "" for any other."""
    data = output.get("data", {})
    if "image/svg+xml" not in data:
        return ""
    images = re.findall('base64,([^"]+)', data.get("text/html", ""))
    looks = [re.findall("<style>.*?</style>", base64.b64decode(image).decode()) for image in images]
    return f"{data.get('text/plain', '')}{looks}"


def main(words: list[str]) -> int:
    """Run those that are named, or all; 1 if one was left."""
    missing = [word for word in words if not (ROOT / word).is_file()]
    if missing:
        sys.exit(f"There is no notebook {missing[0]!r}: name one as in `outputs notebooks/00_start_here.ipynb`.")
    said = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"PYTEST_VERSION": "refresh", "MINIGRAD_PROGRESS": str(Path(folder) / "progress.json")}
        os.environ["MINIGRAD_VERSUS"] = "recorded"
        named = [ROOT / word for word in words]
        for path in named or sorted([*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "solutions").glob("*.ipynb")]):
            print(f"{path.relative_to(ROOT).as_posix()}: ", end="", flush=True)
            said.append(refresh(path))
            print(said[-1], flush=True)
    return int(set(said) != {"stored"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
