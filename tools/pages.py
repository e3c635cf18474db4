"""Make what the chapters say of each other: `python3 course.py author pages`.

- the line at the end of each notebook that leads to its neighbours;
- in `00_start_here.ipynb` the map of the chapters, the glossary and its index;
- in `README.md` the table of the chapters, and `notebooks/picture.svg`, which its program draws;
- `notebooks/recap.md`: the recap tables of all chapters on one page;
- `notebooks/cheat_sheet.html`: operations, their derivatives and what is refused, on one printed page.

Sources are the notebooks themselves (their names, titles, bold words and recaps) and `notebooks/glossary.md`. What
else is written in a notebook stays; in the cells of the map, the glossary and the index of the first one, nothing does.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat

import minigrad as mg
from minigrad.assemble import source_of
from tools import cheat_sheet, files

ROOT = Path(__file__).resolve().parents[1]
LINE = "\n\n---\n\n"  # above what is generated at the end of a notebook's last cell
MAP = "#The-chapters"  # the heading in the first notebook
START, END = "<!-- chapters: made by course.py author pages -->", "<!-- end of the chapters -->"

# One line each, for the README.
ABOUT = {
    "00": "How the course works, a derivative three ways, the first picture",
    "01": "Which tensors autograd follows, and which it does not",
    "02": "Leaves, `retain_grad`, gradients that add up, updates and freezing",
    "03": "`grad_fn` and `next_functions` by hand, the order of the walk, what keeps a graph alive",
    "04": "Vector-Jacobian products, `gradient=`, `autograd.grad`, hooks, broadcasting, the NaN behind `where`",
    "05": "What is saved and when it is freed, `retain_graph`, stale graphs in a loop",
    "06": "Four ways to cut, and what each really stops",
    "07": "Version counters, views, what may be overwritten and what may not",
    "08": "`Function`, `ctx`, `gradcheck`, and functions worth having",
    "09": "`create_graph`, Functions that can be differentiated twice, Newton, Hessian-vector products",
    "10": "Read minigrad's source, then build an engine of your own",
    "11": "A line, a network, and a loop with six bugs",
    "12": "Tangents, `make_dual`, rows or columns of a Jacobian, forward over reverse, `Function.jvp`",
    "13": "Bytes on the picture, rules and hooks that save less, checkpoints, who keeps a graph alive",
    "14": "Six programs as repositories have them: which variable, saved and overwritten by which line",
}


@dataclass(frozen=True)
class Chapter:
    """One notebook of the course: its file, its number, its title, and its cells."""

    path: Path
    number: str
    title: str
    notebook: nbformat.NotebookNode

    @property
    def name(self) -> str:
        """The title with its number, as a link shows it."""
        return f"{self.number} {self.title}"


def chapters(folder: Path) -> list[Chapter]:
    """The notebooks of a folder, in their order."""
    found = []
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        title = notebook.cells[0].source.splitlines()[0].removeprefix("# ")
        found.append(Chapter(path, path.name[:2], title, notebook))
    return found


def neighbours(chapter: Chapter, all_: list[Chapter]) -> str:
    """The line that leads to the chapter before, the map, the exercises and the chapter after."""
    place = [other.number for other in all_].index(chapter.number)
    links = [f"[Map of the chapters]({all_[0].path.name}{MAP})"] if place else []
    if place:
        before = all_[place - 1]
        links.insert(0, f"\N{LEFTWARDS ARROW} [{before.name}]({before.path.name})")
        links.append(f"[Exercises](../exercises/{chapter.path.name})")
    if place + 1 < len(all_):
        after = all_[place + 1]
        links.append(f"[{after.name}]({after.path.name}) \N{RIGHTWARDS ARROW}")
    return " · ".join(links)


def after_exercises(chapter: Chapter, all_: list[Chapter]) -> str:
    """The line below the score of an exercise notebook: back to its chapter and the map, on to the next chapter."""
    place = [other.number for other in all_].index(chapter.number)
    links = [f"\N{LEFTWARDS ARROW} [{all_[place].name}](../notebooks/{chapter.path.name})"]
    links.append(f"[Map of the chapters](../notebooks/{all_[0].path.name}{MAP})")
    if place + 1 < len(all_):
        after = all_[place + 1]
        links.append(f"[{after.name}](../notebooks/{after.path.name}) \N{RIGHTWARDS ARROW}")
    return " · ".join(links)


def end_with(notebook: nbformat.NotebookNode, line: str) -> None:
    """Put a line of links at the end of the last text of a notebook, in the place of the line that was there."""
    last = [cell for cell in notebook.cells if cell.cell_type == "markdown"][-1]
    text, _, end = last.source.rpartition(LINE)
    were_links = all(re.fullmatch(r"\W?\s?\[.*\]\(\S*\)\s?\W?", part) for part in end.split(" · "))
    last.source = (text if were_links else last.source) + LINE + line


# --- The first notebook ---------------------------------------------------------------------------


def map_of(all_: list[Chapter]) -> str:
    """The cell with the chapters and the questions that they answer, and what to look things up in."""
    rows = [f"| [{c.path.stem}]({c.path.name}) | {c.title} |" for c in all_]
    beside = (
        "Beside them: the glossary and the index below, a [recap](recap.md) of what each call does to `.grad`, graph "
        "and memory, and a [cheat sheet](cheat_sheet.html) of one printed page."
    )
    return "\n".join(["## The chapters", "", "| Chapter | The question it answers |", "|---|---|", *rows, "", beside])


def glossary(text: str) -> dict[str, list[tuple[str, str]]]:
    """The terms of `glossary.md`, with their meanings, by the number of the chapter that brings them."""
    parts = re.split(r"(?m)^## (\d\d)\n", text)
    terms = {}
    for number, body in zip(parts[1::2], parts[2::2], strict=True):
        rows = [line.strip("| ").split(" | ", 1) for line in body.splitlines() if line.startswith("| ")]
        terms[number] = [(term.strip(), meaning.strip()) for term, meaning in rows if term != "Term"]
    return terms


def glossary_cells(terms: dict[str, list[tuple[str, str]]], all_: list[Chapter]) -> list[nbformat.NotebookNode]:
    """The terms of the first notebook, and those of each later chapter under a fold."""
    titles = {chapter.number: chapter.name.replace("`", "") for chapter in all_}
    folds = [
        f"<details><summary>{titles[number]}</summary>\n\n{_table(rows)}\n\n</details>"
        for number, rows in terms.items()
        if number != "00"
    ]
    later = "Those that later chapters bring, to look up when you need one:\n\n" + "\n".join(folds)
    return [
        _text("glossary-00", f"## Glossary\n\nThe terms of this notebook:\n\n{_table(terms['00'])}"),
        _text("glossary-later", later),
    ]


def _table(rows: list[tuple[str, str]]) -> str:
    return "\n".join(["| Term | Meaning |", "|---|---|", *(f"| {term} | {meaning} |" for term, meaning in rows)])


def index_cells(terms: dict[str, list[tuple[str, str]]], all_: list[Chapter]) -> list[nbformat.NotebookNode]:
    """Every term by its first letter, with the chapter that explains it."""
    files = {chapter.number: chapter.path.name for chapter in all_}
    places = {term: number for number, rows in reversed(terms.items()) for term, _ in rows}
    ordered = sorted(places, key=lambda term: term.strip("`").lower())
    links = [f"{term} [{places[term]}]({files[places[term]]})" for term in ordered]
    parts = [links[i : i + 40] for i in range(0, len(links), 40)]
    heads = ["## Index\n\nEach term, and the chapter that explains it.\n\n", *[""] * len(parts)]
    return [
        _text(f"index-{i}", head + " · ".join(part))
        for i, (head, part) in enumerate(zip(heads, parts, strict=False), start=1)
    ]


def _text(name: str, source: str) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_markdown_cell(source)
    cell["id"] = name
    return cell


def is_made(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell of the first notebook is one of map, glossary and index."""
    return cell.id.split("-")[0] in ("map", "glossary", "index")


def start_here(start: Chapter, all_: list[Chapter], terms: dict) -> None:
    """Replace map, glossary and index in the first notebook."""
    cells = start.notebook.cells
    place = next(i for i, cell in enumerate(cells) if is_made(cell))
    rest = [cell for cell in cells if not is_made(cell)]
    new = [_text("map", map_of(all_)), *glossary_cells(terms, all_), *index_cells(terms, all_)]
    start.notebook.cells = [*rest[:place], *new, *rest[place:]]


# --- README, recap --------------------------------------------------------------------------------


def readme_table(all_: list[Chapter]) -> str:
    """The chapters, one line each."""
    rows = []
    for c in all_:
        exercises = f"[exercises](exercises/{c.path.name})" if c.number != "00" else ""
        rows.append(f"| {c.number} | [{c.title}](notebooks/{c.path.name}) | {ABOUT[c.number]} | {exercises} |")
    return "\n".join([START, "", "| | Chapter | | |", "|---|---|---|---|", *rows, "", END])


def picture(readme: str) -> str:
    """What the program in the README draws with its last line, as SVG; "" where nothing can draw."""
    *lines, last = re.findall(r"(?s)```python\n(.*?)\n```", readme)[0].splitlines()
    names: dict = {}
    exec("\n".join(lines), names)
    return eval(last, names).svg


def words_in(svg: str) -> list[str]:
    """The words in a drawing. All else in it differs from one engine or font to another."""
    return sorted(re.findall(r"<text[^>]*>([^<]*)</text>", svg))


def recap_page(all_: list[Chapter]) -> str:
    """The recap table of every chapter."""
    parts = ["# Recap", "What each call does to `.grad`, to the graph and to memory, chapter by chapter."]
    for chapter in all_:
        for cell in chapter.notebook.cells:
            found = re.search(r"(?ms)^## Recap\n+(\|.*?)(?:\n\n|\Z)", cell.source)
            if cell.cell_type == "markdown" and found:
                parts += [f"## [{chapter.name}]({chapter.path.name})", found[1].strip()]
    return "\n\n".join(parts) + "\n"


# --- All of it -------------------------------------------------------------------------------------


def pages(root: Path = ROOT) -> dict[Path, str]:
    """Every file that is made, with its text."""
    all_ = chapters(root / "notebooks")
    terms = glossary((root / "notebooks" / "glossary.md").read_text(encoding="utf-8"))
    start_here(all_[0], all_, terms)
    for chapter in all_:
        end_with(chapter.notebook, neighbours(chapter, all_))
    solutions = chapters(root / "solutions")
    for solution in solutions:
        end_with(solution.notebook, after_exercises(solution, all_))
    made = {c.path: nbformat.writes(c.notebook).rstrip("\n") + "\n" for c in (*all_, *solutions)}
    made[root / "notebooks" / "recap.md"] = recap_page(all_)
    made[root / "notebooks" / "cheat_sheet.html"] = cheat_sheet.sheet()
    made[root / "minigrad" / "assembled_mul.txt"] = source_of(mg.mul)
    readme = (root / "README.md").read_text(encoding="utf-8")
    stored, drawn = root / "notebooks" / "picture.svg", picture(readme)
    if drawn and not (stored.exists() and words_in(stored.read_text(encoding="utf-8")) == words_in(drawn)):
        made[stored] = drawn
    before, rest = readme.split(START)
    made[root / "README.md"] = before + readme_table(all_) + rest.split(END)[1]
    return made


def main() -> int:
    """Write what has changed, and say what that is."""
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            files.write(path, text)
            print(f"made {path.relative_to(ROOT).as_posix()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
