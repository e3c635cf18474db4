"""The site in Chromium: read, searched and gone through by keyboard, on a phone too; axe-core finds nothing serious."""

import importlib
import importlib.util
import os

import pytest

REQUIRED = bool(os.environ.get("MINIGRAD_REQUIRE_BROWSER"))
MISSING = [name for name in ("playwright", "axe_playwright_python") if importlib.util.find_spec(name) is None]
if MISSING:
    if REQUIRED:
        raise ModuleNotFoundError(f"MINIGRAD_REQUIRE_BROWSER is set and {MISSING[0]} is not installed")
    pytest.skip(f"{MISSING[0]} is not installed", allow_module_level=True)

import lab as jupyter
import web
from axe_playwright_python.sync_playwright import Axe
from banks.classroom import Classroom

from exercises.checks import kit
from tools import site

if jupyter.CHROMIUM is None:
    if REQUIRED:
        raise FileNotFoundError("MINIGRAD_REQUIRE_BROWSER is set and there is no chromium on PATH")
    pytest.skip("there is no chromium on PATH", allow_module_level=True)

pytestmark = pytest.mark.browser

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1400, "height": 900}
CHAPTERS = sorted(path.stem for path in (jupyter.ROOT / "notebooks").glob("[0-9]*_*.ipynb"))
EXERCISES = sorted(path.stem for path in (jupyter.ROOT / "solutions").glob("[0-9]*_*.ipynb"))
SHEETS = [
    "index.html",
    "search.html?q=leaf",
    *(f"notebooks/{name}.html" for name in ("glossary", "recap", "cheat_sheet")),
]
PAGES = [*SHEETS, *(f"notebooks/{name}.html" for name in CHAPTERS), *(f"exercises/{name}.html" for name in EXERCISES)]
# What sticks out of the window although it does not scroll within something.
WIDE = """() => [...document.querySelectorAll('body *')].filter((part) =>
    part.getBoundingClientRect().right > innerWidth + 1 && !part.closest('.output, .scroll, pre'))
    .map((part) => part.outerHTML.slice(0, 200))"""
OPEN = """async () => {
    for (const fold of document.querySelectorAll('details')) fold.open = true;
    for (const image of document.images) await image.decode();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the site is served."""
    folder = tmp_path_factory.mktemp("site")
    site.make(folder)
    (folder / "cards.html").write_text(cards(), encoding="utf-8")
    with web.served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with web.chromium() as browser:
        yield browser


@pytest.fixture
def show(browser, address):
    """Open a page of the site; the test fails if it says anything in the console or asks another server."""
    wrong, contexts = [], []

    def show(path, size=DESK, theme="light"):
        contexts.append(browser.new_context(viewport=size, color_scheme=theme))
        page = contexts[-1].new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith((address, "data:")) or wrong.append(asked.url))
        page.goto(address + path)
        return page

    yield show
    for context in contexts:
        context.close()
    assert not wrong


def cards():
    """A page with the cards of checks: answers that are right, wrong and missing, warm-up, score, progress, beliefs."""
    shown = []
    for name in ("ch04", "ch05", "ch08"):
        bank = importlib.import_module(f"banks.{name}")
        solutions, untouched = (
            Classroom(jupyter.ROOT / kind / f"{bank.NOTEBOOK}.ipynb") for kind in ("solutions", "exercises")
        )
        for exercise, wrong in bank.WRONG.items():
            solutions.check(exercise, next(iter(wrong.values())))
            shown.append(solutions.card["text/html"])
        for room in (solutions, untouched):
            room.check(exercise, room.source(f"answer-{exercise}"))
            shown.append(room.card["text/html"])
        for id in ("again", "score"):
            solutions.run(solutions.source(id))
            shown.append(solutions.card["text/html"])
    shown += [kit.progress_panel().html, kit.belief_panel().html]
    body = "\n".join(f'<div class="output">{card}</div>' for card in shown)
    return (
        '<!doctype html><html lang="en"><head><title>Cards</title><link rel="icon" href="data:,">'
        '<link rel="stylesheet" href="style/site.css">'
        f'<script src="style/site.js" defer></script></head><body><button id="theme">Dark</button>'
        f"<main><h1>Cards</h1>{body}</main></body></html>"
    )


def serious(page, options=None):
    """What axe-core finds that keeps people out."""
    found = Axe().run(page, options=options or {"resultTypes": ["violations"]}).response["violations"]
    return [
        (one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("path", [*PAGES, "cards.html"])
def test_axe_finds_nothing_serious_and_nothing_sticks_out_on_a_phone(show, path):
    page = show(path, PHONE)
    page.evaluate(OPEN)
    page.evaluate("stops()")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"] and not page.evaluate(WIDE)
    assert serious(page) == []
    # The other theme differs in colours alone.
    page.emulate_media(color_scheme="dark")
    assert serious(page, {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}) == []


def test_axe_would_find_what_is_wrong(show):
    page = show("index.html")
    page.evaluate("document.querySelector('main p').style.color = '#999'")
    assert [found[0] for found in serious(page)] == ["color-contrast"]


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_a_film_is_gone_through_by_keyboard(show, size):
    page = show("notebooks/02_leaf_nodes.html", size)
    page.locator("#passes-run summary").focus()
    assert not page.get_by_text("tensor(24.) None None").is_visible()
    page.keyboard.press("Enter")
    assert page.get_by_text("tensor(24.) None None").is_visible()
    film = page.locator("#passes-film .minigrad-film")
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Next":
            break
    page.keyboard.press("Enter")
    assert "step 1 of 4" in film.inner_text() and "loss starts with the gradient 1." in film.inner_text()
    height = film.bounding_box()["height"]
    for step in (2, 3, 4):
        page.keyboard.press("ArrowRight")
        assert f"step {step} of 4" in film.inner_text() and film.bounding_box()["height"] == height, "nothing jumps"
    assert "24" in film.locator("img").first.get_attribute("alt")


def test_the_search_finds_what_is_typed_on_any_page(show):
    page = show("notebooks/02_leaf_nodes.html", PHONE)
    page.get_by_role("searchbox").fill("second time")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=second+time")
    found = page.locator("#found a")
    assert found.count() > 5 and "places" in page.locator("#count").inner_text()
    assert "second time" in page.locator("#found li").first.inner_text().lower()
    page.get_by_role("searchbox").fill("leaf")
    assert found.first.inner_text() == "Glossary: leaf"
    found.first.click()
    assert page.get_by_role("cell", name="a tensor that no recorded operation made or changed").is_visible()
    page.go_back()
    assert page.get_by_role("searchbox").input_value() == "leaf"
    page.get_by_role("searchbox").fill("<b>nowhere</b>")
    assert page.locator("#count").inner_text() == "Nothing has “<b>nowhere</b>”." and found.count() == 0


def test_the_switch_overrules_the_system_on_every_page_and_the_pictures_follow(show):
    page = show("notebooks/00_start_here.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    light, picture = page.evaluate(ground), page.locator(".output img:visible").first
    shot = picture.screenshot()
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(ground)
    assert dark != light and picture.screenshot() != shot
    page.goto(page.url.replace("notebooks/00_start_here", "index"))
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Light").click()
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == dark, "as the system again, once they agree"


def test_every_answer_opens_at_once(show):
    page = show("notebooks/05_retain_graph.html")
    assert page.locator("details.came[open]").count() == 0
    page.get_by_role("button", name="Open every answer").click()
    assert page.locator("details.came:not([open])").count() == 0
    page.get_by_role("button", name="Fold every answer").click()
    assert page.locator("details.came[open]").count() == 0
