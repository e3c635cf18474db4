"""Make the course's site, `site/`, from the stored notebooks: `python3 course.py site`.

Pages that ask nothing of the network: every chapter with its pictures and films, the exercises without answers,
glossary, recap, cheat sheet, and a search. Open `site/index.html`, or put the folder on any server.

    python3 course.py site --lite   adds site/lab: JupyterLite, where the notebooks run in the browser
"""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import nbformat
from nbconvert.filters import Highlight2HTML, ansi2html, markdown2html
from nbformat import NotebookNode

from tools import desk, files, generate, lite, pages, predictions

ROOT = Path(__file__).resolve().parents[1]
STYLE = Path(__file__).with_name("style") / "site"
TEMPLATES = jinja2.Environment(loader=jinja2.FileSystemLoader(STYLE), trim_blocks=True, lstrip_blocks=True)
TEMPLATES.filters |= {
    "markdown2html": markdown2html,
    "highlight": Highlight2HTML(pygments_lexer="ipython3"),
    "ansi2html": ansi2html,
}
HEADING = re.compile(r'(?s)<h([12]) id="([^"]*)">(.*?)(?:<a class="anchor-link".*?)?</h\1>')


@dataclass
class Page:
    """One page: where it goes, and what it says."""

    path: str
    title: str
    body: str
    about: str = ""
    number: str = ""  # of a chapter
    exercises: str = ""  # the page of the chapter's exercises
    opens: str = ""  # the notebook that JupyterLite opens
    answers: bool = False  # whether something is folded until it is asked for
    sections: list[tuple[str, str]] = field(default_factory=list)


def page(path: str, notebook: NotebookNode, folded: Collection[str] = (), **more: Any) -> Page:
    """A page with the cells of a notebook; what the `folded` ones give is folded."""
    for cell in notebook.cells:
        cell.source = desk.LEADS_AWAY.sub(r"\1 (`\2` in the folder of the course)", cell.source)
    body = TEMPLATES.get_template("cells.html.j2").render(cells=notebook.cells, folded=folded)
    body = re.sub(r'(href="(?!\w+:)[^"#]*)\.(?:ipynb|md)(?=[#"])', r"\1.html", body)
    body = scrolling(body)
    found = [(level, id, words(heading)) for level, id, heading in HEADING.findall(body)]
    sections = [(id, heading) for level, id, heading in found if level == "2"]
    return Page(path, found[0][2], body, answers=bool(folded), sections=sections, **more)


def scrolling(body: str) -> str:
    """Tables that scroll within themselves."""
    return re.sub(r"(?s)<table>.*?</table>", r'<div class="scroll">\g<0></div>', body)


def words(text: str) -> str:
    """What can be read in a piece of a page."""
    text = re.sub(r"(?s)<script.*?</script>|<a class=\"anchor-link\".*?</a>", "", text)
    text = re.sub(r"<(?:/?(?:p|div|pre|li|td|th|tr|h\d|details|summary)\b|br)[^>]*>", " ", text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def text(source: str) -> NotebookNode:
    """A notebook of nothing but a text."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(source, id="text")])


GLOSSARY = """# Glossary

The terms of the course, by the chapter that brings them. The [index](00_start_here.ipynb#Index) has them by letter.
"""


# --- The pages --------------------------------------------------------------------------------------


def chapter_pages() -> list[Page]:
    """The chapters. What answers a "Predict" is folded."""
    made = []
    for chapter in pages.chapters(ROOT / "notebooks"):
        asked = {cell.id for cell, _ in predictions.asked(chapter.notebook, chapter.number)}
        name, exercises = chapter.path.stem, ROOT / "solutions" / chapter.path.name
        made.append(
            page(
                f"notebooks/{name}.html",
                chapter.notebook,
                asked,
                number=chapter.number,
                about=pages.ABOUT.get(chapter.number, ""),
                exercises=f"exercises/{name}.html" if exercises.exists() else "",
                opens=f"notebooks/{name}.ipynb",
            )
        )
    return made


def exercise_pages() -> list[Page]:
    """The exercises, with the pictures that they give and without answers."""
    made = []
    for solution in pages.chapters(ROOT / "solutions"):
        given = {cell.id: cell.outputs for cell in solution.notebook.cells if cell.id.startswith("given-")}
        notebook = generate.exercise_notebook(solution.notebook)
        for cell in notebook.cells:
            cell.update({"outputs": given[cell.id]} if cell.id in given else {})
        name = solution.path.stem
        made.append(page(f"exercises/{name}.html", notebook, opens=f"exercises/{name}.ipynb"))
    return made


def sheets(chapters: list[Page]) -> list[Page]:
    """Glossary, recap and cheat sheet."""
    source = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8").partition("\n## ")
    terms = "".join(source[1:])
    for chapter in chapters:
        terms = terms.replace(f"\n## {chapter.number}\n", f"\n## {chapter.number} {chapter.title}\n")
    made = [page("notebooks/glossary.html", text(GLOSSARY + terms))]
    made.append(page("notebooks/recap.html", text((ROOT / "notebooks" / "recap.md").read_text(encoding="utf-8"))))
    sheet = (ROOT / "notebooks" / "cheat_sheet.html").read_text(encoding="utf-8")
    body = re.sub(r"(?s)</?main>|^.*<body>|</body>.*", "", sheet)
    body = re.sub(
        r"<h([12])>(.*?)</h", lambda found: f'<h{found[1]} id="{found[2].replace(" ", "-")}">{found[2]}</h', body
    )
    body = scrolling(body) + '<p><a href="cheat_sheet_print.html">The same on one sheet of paper</a></p>'
    made.append(Page("notebooks/cheat_sheet.html", "Cheat sheet", f'<div class="sheet">{body}</div>'))
    return made


def start_page(chapters: list[Page], lab: bool) -> Page:
    """The first page: what the course is, a picture, and the map."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    intro = readme.partition("\n## ")[0]
    example = re.search(r"(?s)```python\n.*?\n```\n\n!\[.*?\]\(notebooks/picture\.svg\)", readme)
    start = page("index.html", text(intro + (f"\n\n{example[0]}" if example else "")))
    map_ = TEMPLATES.get_template("map.html.j2").render(chapters=chapters, lab=lab)
    start.body = start.body.replace("<p><img", '<p class="scroll"><img') + map_
    return start


# --- Search -----------------------------------------------------------------------------------------


def index(all_: Sequence[Page]) -> Iterator[tuple[str, str, str, str]]:
    """What is searched, piece by piece: page, heading, address, text. A term of the glossary is a piece of its own."""
    for one in all_:
        places = [*HEADING.finditer(one.body)]
        ends = [*(place.start() for place in places[1:]), len(one.body)]
        for place, end in zip(places, ends, strict=True):
            yield (
                one.title,
                words(place[3]),
                f"{one.path}#{place[2]}",
                words(one.body[place.end() : end]),
            )
    (glossary,) = (one for one in all_ if one.title == "Glossary")
    terms = pages.glossary((ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8"))
    for (anchor, _), rows in zip(glossary.sections, terms.values(), strict=True):
        for term, meaning in rows:
            yield "Glossary", term.replace("`", ""), f"{glossary.path}#{anchor}", meaning.replace("`", "")


# --- All of it --------------------------------------------------------------------------------------


def make(folder: Path, lab: bool = False) -> list[Page]:
    """Make the site in a folder; its pages."""
    chapters = chapter_pages()
    search = Page("search.html", "Search", TEMPLATES.get_template("search.html.j2").render())
    all_ = [start_page(chapters, lab), *chapters, *exercise_pages(), *sheets(chapters)]
    for part in ("notebooks", "exercises", "style"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    frame = TEMPLATES.get_template("page.html.j2")
    for one in (*all_, search):
        root = "../" * one.path.count("/")
        files.write(folder / one.path, frame.render(page=one, chapters=chapters, root=root, lab=lab))
    files.write(folder / "style" / "index.js", f"const PIECES = {json.dumps([*index(all_)], ensure_ascii=False)};\n")
    for name in ("site.css", "site.js", "search.js"):
        shutil.copyfile(STYLE / name, folder / "style" / name)
    shutil.copyfile(ROOT / "notebooks" / "picture.svg", folder / "notebooks" / "picture.svg")
    shutil.copyfile(ROOT / "notebooks" / "cheat_sheet.html", folder / "notebooks" / "cheat_sheet_print.html")
    return [*all_, search]


def size(folder: Path) -> float:
    """Megabytes in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main(options: Sequence[str]) -> int:
    """Make site/ anew and say where it is."""
    if unknown := set(options) - {"--lite"}:
        sys.exit(f"There is no option {sorted(unknown)[0]!r}: `course.py site --help` says what there is.")
    with_lab = "--lite" in options
    if with_lab and (problem := lite.missing()):
        sys.exit(problem)
    folder = ROOT / "site"
    shutil.rmtree(folder, ignore_errors=True)
    made = make(folder, with_lab)
    print(f"{len(made)} pages, {size(folder):.1f} MB: open {folder / 'index.html'}", flush=True)
    if with_lab:
        lite.make(folder / "lab")
        print(f"JupyterLite, {size(folder / 'lab'):.1f} MB, needs a server: python -m http.server -d {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
