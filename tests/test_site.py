"""The site that `python3 course.py site` makes: whole, closed in itself, small, and without answers."""

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

from tools import generate, site

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*_*.ipynb"))
EXERCISES = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9]*_*.ipynb"))
FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "form": "action"}


class Seen(HTMLParser):
    """What a page has: links, what it fetches, images, ids, headings."""

    def __init__(self, page):
        super().__init__()
        self.links, self.fetched, self.images, self.ids, self.headings, self.classes = [], [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        had = dict(attrs)
        self.ids += [had["id"]] if "id" in had else []
        self.links += [had["href"]] if tag == "a" else []
        self.fetched += [had[FETCHED[tag]]] if FETCHED.get(tag) in had else []
        self.images += [had] if tag == "img" else []
        self.headings += [tag] if re.fullmatch("h[1-6]", tag) else []
        self.classes += [had.get("class", "")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of the site, and what each page of it has."""
    folder = tmp_path_factory.mktemp("made") / "site"
    site.make(folder)
    return folder, {path: Seen(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}


def outside(address):
    return bool(urlsplit(address).scheme or urlsplit(address).netloc)


def target(folder, path, link):
    """The file that a link leads to, and the place in it. A server may add nothing: no link leads to a folder."""
    parts = urlsplit(link)
    return (path.parent / unquote(parts.path)).resolve() if parts.path else path, parts.fragment


def test_each_chapter_and_its_exercises_have_a_page(made):
    folder, pages = made
    expected = {f"notebooks/{name}.html" for name in CHAPTERS} | {f"exercises/{name}.html" for name in EXERCISES}
    expected |= {f"notebooks/{name}.html" for name in ("glossary", "recap", "cheat_sheet", "cheat_sheet_print")}
    assert {path.relative_to(folder).as_posix() for path in pages} == expected | {"index.html", "search.html"}
    for path, page in pages.items():
        assert page.headings.count("h1") == 1, path


def test_every_link_leads_somewhere(made):
    folder, pages = made
    dead = []
    for path, page in pages.items():
        for link in page.links:
            file, place = target(folder, path, link)
            if not outside(link) and (not file.is_file() or (place and place not in pages[file].ids)):
                dead.append(f"{path.relative_to(folder)}: {link}")
    assert not dead and sum(len(page.links) for page in pages.values()) > 500


def test_what_leads_outside_is_a_link_and_nothing_is_fetched_from_there(made):
    folder, pages = made
    for path, page in pages.items():
        for address in page.fetched:
            assert not outside(address) or address.startswith("data:image/"), f"{path}: {address}"
            assert outside(address) or target(folder, path, address)[0].is_file(), f"{path}: {address}"
    scripts = [path.read_text(encoding="utf-8") for path in (folder / "style").iterdir() if path.name != "index.js"]
    pictures = [base64.b64decode(image["src"].split(",")[1]).decode() for page in pages.values()
                for image in page.images if ";base64," in image["src"]]  # fmt: skip
    assert len(pictures) > 100 and not [text for text in scripts if "://" in text]
    assert not [svg for svg in pictures if re.search(r'(href|src)="(?!#|data:)|@import|url\((?!#)', svg)]


def test_every_picture_of_the_chapters_is_there_with_its_alt_text(made):
    folder, pages = made
    count = 0
    for name in CHAPTERS:
        cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
        html = [output.get("data", {}).get("text/html", "") for cell in cells for output in cell.get("outputs", [])]
        stored = [image["alt"] for image in Seen("".join(html)).images]
        assert [image["alt"] for image in pages[folder / "notebooks" / f"{name}.html"].images] == stored, name
        assert all(stored)
        count += len(stored)
    assert count > 100
    assert "backward would fail here" in pages[folder / "index.html"].images[0]["alt"]


def test_no_page_has_an_answer_to_an_exercise(made):
    folder, pages = made
    hidden = 0
    for name in EXERCISES:
        path = folder / "exercises" / f"{name}.html"
        said = site.words(path.read_text(encoding="utf-8"))
        solution = nbformat.read(ROOT / "solutions" / f"{name}.ipynb", as_version=4)
        given = " ".join(" ".join(cell.source for cell in generate.exercise_notebook(solution).cells).split())
        lines = [" ".join(line.split()) for cell in solution.cells for line in cell.source.splitlines()]
        secret = [line for line in lines if len(line) > 25 and line not in given]
        hidden += len(secret)
        assert not [line for line in secret if line in said], name
        assert "Right." not in said and "BEGIN SOLUTION" not in said
        shown = [cell.id for cell in solution.cells if cell.id.startswith("given-") and cell.outputs]
        assert pages[path].classes.count("output") == len(shown), "what an exercise gives is shown, and nothing else"
    assert hidden > 200


def test_a_prediction_is_not_answered_at_once(made):
    folder, pages = made
    for name in CHAPTERS:
        cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
        asked = sum("**Predict" in cell.source for cell in cells if cell.cell_type == "markdown")
        assert pages[folder / "notebooks" / f"{name}.html"].classes.count("came") >= asked * 0.8, name


def test_the_search_knows_every_section_and_every_term(made):
    folder, pages = made
    text = (folder / "style" / "index.js").read_text(encoding="utf-8")
    pieces = json.loads(text.removeprefix("const PIECES = ").rstrip(";\n"))
    assert {page for page, *_ in pieces} >= {"Glossary", "Recap", "Cheat sheet", "Who gets a .grad?"}
    for _, heading, address, said in pieces:
        file, place = target(folder, folder / "search.html", address)
        assert heading and place in pages[file].ids, address
        assert not re.search(r"</?(span|div|p|code|td)\b|base64", said)
    assert any(heading.startswith("vector–Jacobian") for _, heading, *_ in pieces)
    assert any("Trying to backward through the graph a second time" in said for *_, said in pieces)


def test_it_is_small_and_comes_out_the_same_twice(made, tmp_path):
    folder, _ = made
    assert site.size(folder) < 25
    site.make(tmp_path)
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    assert all((folder / file).read_bytes() == (tmp_path / file).read_bytes() for file in files)
