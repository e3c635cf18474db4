"""What the chapters say of each other is made from the chapters, and is not out of date."""

import math
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

import minigrad as mg
from tools import cheat_sheet, pages

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = pages.chapters(ROOT / "notebooks")
TERMS = pages.glossary((ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8"))


def test_nothing_is_out_of_date():
    stale = [p.name for p, text in pages.pages().items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    assert not stale, "run `python3 course.py author pages`, and `author exercises` after it"


def prose(chapter):
    cells = [c.source for c in chapter.notebook.cells if c.cell_type == "markdown" and not pages.is_made(c)]
    return "\n".join(cells).replace("\n", " ").lower()


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


@pytest.mark.parametrize("note", ["Mine.", "Mine.\n\n---\n\nMore of mine.", "[A page](https://a.b) that I liked"])
def test_making_them_twice_changes_nothing_and_keeps_what_is_written_above(note):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(note)])
    for chapter in CHAPTERS:
        line = pages.neighbours(chapter, CHAPTERS)
        pages.end_with(notebook, line)
        assert notebook.cells[0].source == note + pages.LINE + line


@pytest.mark.skipif(mg.viz.engine() == "text", reason="nothing here can draw")
def test_the_readme_shows_what_its_program_draws():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    stored = (ROOT / "notebooks" / "picture.svg").read_text(encoding="utf-8")
    assert "](notebooks/picture.svg)" in readme
    assert pages.words_in(stored) == pages.words_in(pages.picture(readme))
    assert "backward would fail here" in pages.words_in(stored)
    assert pages.words_in(stored) != pages.words_in(pages.picture(readme.replace("h += 1", "h = h + 1")))


def test_every_recap_is_on_the_page():
    text = pages.recap_page(CHAPTERS)
    with_recap = [c for c in CHAPTERS if any("## Recap" in cell.source for cell in c.notebook.cells)]
    assert len(with_recap) >= 4 and all(f"({chapter.path.name})" in text for chapter in with_recap)


OPS = ROOT / "minigrad" / "ops"
ELEMENTWISE = {
    name: dict(rules) for file in ("arithmetic.py", "pointwise.py") for name, rules in cheat_sheet.rows(OPS / file)
}


OF_TWO = {"masked_fill", "remainder", "rsub", "clamp", "to"}  # they take another argument


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if [*ELEMENTWISE[n]] == ["self"] and n not in OF_TWO])
def test_the_cheat_sheet_says_what_the_engine_computes(name):
    x = mg.tensor([0.2, 0.5, 0.7], dtype=mg.float64, requires_grad=True)
    y = getattr(mg, name)(x)
    y.backward(mg.tensor([1.0, 2.0, 3.0], dtype=mg.float64))
    known = {"self": x.detach(), "result": y.detach(), "grad": mg.tensor([1.0, 2.0, 3.0], dtype=mg.float64)}
    said = eval(
        ELEMENTWISE[name]["self"],
        {**vars(mg), "math": math, "masked": lambda grad, mask: mg.where(mask, grad, 0.0)} | known,
    )
    assert np.allclose(said.numpy(), x.grad.numpy())


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize(("name", "power"), [("pow", 3.0), ("pow", 0.0), ("pow", 0.5), ("mean", 1.0), ("max", 1.0)])
def test_what_is_written_by_hand_is_what_the_engine_computes(name, power):
    x = mg.tensor([2.0, 0.0, 2.0], dtype=mg.float64, requires_grad=True)
    exponent = mg.tensor(power, dtype=mg.float64, requires_grad=True)
    inputs = {"self": x, "exponent": exponent} if name == "pow" else {"self": x}
    y = getattr(mg, name)(*inputs.values())
    grad = mg.ones_like(y) * 5
    y.backward(grad)
    known = {one: tensor.detach() for one, tensor in inputs.items()} | {"grad": grad, "result": y.detach()}
    known |= {"self_shape": x.shape, "count": 3, "ties": 2, "expand": lambda grad, shape: grad.expand(shape)}
    (rules,) = (group[name] for group in cheat_sheet.BY_HAND.values() if name in group)
    for one, rule in rules:
        said = eval(rule, vars(mg) | known)
        assert np.allclose(said.sum() if one == "exponent" else said, inputs[one].grad.numpy()), rule


def test_the_cheat_sheet_has_what_learners_need():
    text = cheat_sheet.sheet()
    for name in ("mul", "pow", "exp", "tanh", "sigmoid", "relu", "where", "mm", "sum", "mean", "max", "expand"):
        assert text.count(f"<code>{name}</code>") == 1, name
    assert "<code>x.detach()</code>" in text and "reshape_alias" not in text
    assert "Trying to backward through the graph a second time" in text
    assert not re.search(r"\b_\w+\(|{}", text.split("<main>")[1])
