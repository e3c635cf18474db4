"""The page about pictures: its examples run, and it leaves nothing out."""

import doctest
import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import minigrad as mg
from minigrad.viz import layout
from minigrad.viz.records import Options

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "minigrad" / "viz" / "README.md"


@pytest.mark.parametrize("engine", ["", "text"])
def test_every_example_prints_what_it_says(engine, monkeypatch):
    monkeypatch.setenv(layout.SETTING, engine)
    examples = doctest.DocTestParser().get_doctest(
        PAGE.read_text(encoding="utf-8").replace("```", ""), {}, PAGE.name, str(PAGE), 0
    )
    assert len(examples.examples) > 40
    failures = []
    doctest.DocTestRunner().run(examples, out=failures.append)
    assert not failures, "".join(failures)


def test_every_option_has_its_place():
    text = PAGE.read_text(encoding="utf-8")
    named = [option.name for option in fields(Options)]
    named += [name for name in inspect.signature(mg.draw).parameters if name not in ("tensors", "options")]
    assert not [name for name in named if f"`{name}`" not in text]
    assert not [name for name in mg.viz.__all__ if name[0].islower() and not re.search(rf"[.`]{name}[(`]", text)]


def test_the_docstring_names_every_option():
    assert not [option.name for option in fields(Options) if f"`{option.name}`" not in mg.draw.__doc__]


def test_the_readme_links_to_it():
    assert "minigrad/viz/README.md" in (ROOT / "README.md").read_text(encoding="utf-8")
