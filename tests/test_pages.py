"""What the chapters say of each other is made from the chapters, and is not out of date."""

import re
from pathlib import Path

import nbformat
import pytest

from exercises import pages

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = pages.chapters(ROOT / "notebooks")
TERMS = pages.glossary((ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8"))


def test_nothing_is_out_of_date():
    stale = [p.name for p, text in pages.pages().items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    assert not stale, "run `python3 course.py pages`, and `exercises` after it"


def prose(chapter):
    cells = [c.source for c in chapter.notebook.cells if c.cell_type == "markdown" and not made(c)]
    return "\n".join(cells).replace("\n", " ").lower()


def made(cell):
    return cell.id.split("-")[0] in ("map", "glossary", "index")


def test_every_chapter_has_a_line_in_the_readme():
    assert {chapter.number for chapter in CHAPTERS} <= set(pages.ABOUT)


@pytest.mark.parametrize("number", TERMS)
def test_a_term_is_explained_where_the_index_says(number):
    (text,) = (prose(chapter) for chapter in CHAPTERS if chapter.number == number)
    names = [re.split(r", ", term.strip("`").lower())[0] for term, _ in TERMS[number]]
    assert not [name for name in names if name not in text]
    assert all(meaning for _, meaning in TERMS[number])


def test_the_index_has_every_term_once_and_its_links_lead_somewhere():
    text = "\n".join(cell.source for cell in pages.index_cells(TERMS, CHAPTERS))
    terms = {term for rows in TERMS.values() for term, _ in rows}
    assert len(re.findall(r"\[\d\d\]\(", text)) == len(terms)
    assert all((ROOT / "notebooks" / file).exists() for file in re.findall(r"\]\((.*?)\)", text))


def test_a_chapter_leads_to_its_neighbours():
    first, second, *_, last = CHAPTERS
    assert "Map" not in pages.neighbours(first, CHAPTERS) and second.path.name in pages.neighbours(first, CHAPTERS)
    line = pages.neighbours(second, CHAPTERS)
    assert first.path.name in line and f"../exercises/{second.path.name}" in line
    assert "\N{RIGHTWARDS ARROW}" not in pages.neighbours(last, CHAPTERS)


def test_making_them_twice_changes_nothing():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title\n\nText.")])
    for _ in range(2):
        pages.end_with(notebook, "a line")
    assert notebook.cells[0].source == "# Title\n\nText." + pages.LINE + "a line"


def test_every_recap_is_on_the_page():
    text = pages.recap_page(CHAPTERS)
    with_recap = [c for c in CHAPTERS if any("## Recap" in cell.source for cell in c.notebook.cells)]
    assert len(with_recap) >= 4 and all(f"({chapter.path.name})" in text for chapter in with_recap)
