"""Write down what PyTorch says to the %%versus cells of the course: `python3 course.py author transcripts`.

Needs PyTorch, in the environment of the course; the tests fail where a recording is missing, or has drifted.
"""

import json
import sys
from pathlib import Path

from minigrad.jupyter import versus

ROOT = Path(__file__).resolve().parents[1]


def versus_cells(path: Path) -> list[str]:
    """The texts of the %%versus cells of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [text for text in texts if text.startswith(versus.HEAD)]


def in_the_course() -> list[str]:
    """The texts of all %%versus cells, in the order of the chapters."""
    paths = [path for folder in ("notebooks", "solutions") for path in sorted((ROOT / folder).glob("*.ipynb"))]
    return [text for path in paths for text in versus_cells(path)]


def as_stored(transcripts: dict) -> str:
    return json.dumps(transcripts, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    torch = versus.installed_pytorch()
    if torch is None:
        sys.exit(
            "PyTorch is not installed in this environment: `python -m pip install torch==2.13.0` in it, then again."
        )
    transcripts = versus.record(torch, in_the_course())
    versus.TRANSCRIPTS.write_text(as_stored(transcripts), encoding="utf-8", newline="\n")
    print(f"recorded {len(transcripts['cells'])} cells from PyTorch {transcripts['pytorch']}")


if __name__ == "__main__":
    main()
