"""Judging mutants and equivalents with the real checks, and comparing with what is known of them."""

from __future__ import annotations

import ast
import importlib
import re
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from zlib import crc32

from banks.classroom import ROOT, Classroom

import minigrad as mg
from exercises.checks import kit, sandbox

from . import equivalents, operators

KNOWN = Path(__file__).with_name("known")  # a file for each chapter
CHAPTERS = [path.stem for path in sorted((ROOT / "tests/banks").glob("ch[0-9][0-9].py"))]
ABOUT_GRAPHS = ("05.shared", "05.stale", "05.memory", "05.apart")  # They speak of what `retain_graph` keeps
OWN_ENGINE = "ch10"  # the chapter whose numbers and tensors are not minigrad's
UNTRACKED = (
    "04.fit",
    "06.values_of",
    "11.rate",
    "11.smooth",
    "12.divide",
    "12.moved",
    "12.columns",
)  # What they are given, or return, has no history
DATA = {  # What they are given beside that, and take from it, has none
    "02.freeze": frozenset(("x",)),
    "07.shift": frozenset(("x", "number")),
    "09.hvp": frozenset(("v",)),
    "12.trick": frozenset(("x", "t")),
    "12.curved": frozenset(("p", "v")),
    "13.extra": frozenset(("t",)),
    "13.half": frozenset(("t",)),
    "13.segments": frozenset(("x",)),
    "14.gated": frozenset(("x",)),
    "14.remember": frozenset(("xs", "x")),
    "14.carry": frozenset(("xs", "x")),
    "14.rows": frozenset(("data", "row", "buffer")),
}
ONCE = (
    "08.reciprocal",
    "08.clip",
    "08.library",
    "09.cube",
    "12.ratio",
    "12.still",
)  # Functions that nobody differentiates twice
# Of one answer's mutants: many of an unusual answer are the solution's once more. Of its equivalents, one in four.
OF_THE_SOLUTION, OF_AN_UNUSUAL, ONE_IN = 100, 20, 4


@dataclass
class Tally:
    """What became of an exercise's mutants and equivalents: the sources of those that surprise, by what was changed."""

    exercise: str
    total: int = 0
    passed: dict[str, str] = field(default_factory=dict)
    unjudged: dict[str, str] = field(default_factory=dict)
    equivalents: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@cache
def room(chapter: str) -> tuple[Classroom, dict[str, list[str]]]:
    """The solution notebook of a chapter, and its unusual right answers by exercise."""
    bank = importlib.import_module(f"banks.{chapter}")
    return Classroom(ROOT / "solutions" / f"{bank.NOTEBOOK}.ipynb"), bank.RIGHT


def exercises(chapter: str) -> list[str]:
    """The names of a chapter's exercises."""
    return room(chapter)[0].exercises


def right_answers(chapter: str, exercise: str) -> tuple[str, list[str]]:
    """The name of the answer, and the sources that are right: the solution and the unusual ones."""
    classroom, unusual = room(chapter)
    name = classroom.source(f"test-{exercise}").partition("(")[2].rstrip(")")
    return name, [classroom.source(f"answer-{exercise}"), *unusual[exercise]]


def all_mutants(chapter: str, exercise: str, whole: bool = True) -> Iterable[operators.Mutant]:
    """An exercise's mutants, or those of its solution; each program once, though several answers may have it."""
    name, sources = right_answers(chapter, exercise)
    seen = {ast.unparse(operators.parsed(source, name)[0]) for source in sources}
    known, id = dict(kit.all_chapters())[chapter[2:]].exercises[exercise], f"{chapter[2:]}.{exercise}"
    task = operators.Task(
        name,
        known.kind,
        returns="return " in sources[0],
        graphs=id in ABOUT_GRAPHS,
        second=id not in ONCE,
        typed="result dtype" not in known.off,
        tracked=id not in UNTRACKED and chapter != OWN_ENGINE,
        data=DATA.get(id, frozenset()),
        given=_given(sources[0]) - {name},
    )
    for source in sources if whole else sources[:1]:
        made = operators.mutants(source, task, habits=source is sources[0])
        most = OF_THE_SOLUTION if source is sources[0] else OF_AN_UNUSUAL
        for mutant in sorted(made, key=lambda one: crc32(one.source.encode()))[:most]:
            if mutant.source not in seen and not mutant.equal:
                seen.add(mutant.source)
                yield replace(mutant, change=mutant.change + _place(source, sources[0]))


def _given(solution: str) -> frozenset[str]:
    """The functions and classes that the exercise gives, and that its solution leaves as they are."""
    before, _, written = solution.partition("### BEGIN SOLUTION")
    names = [set(re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE)) for text in (before, written)]
    return frozenset(names[0] - names[1])


def _place(source: str, solution: str) -> str:
    """In which answer something was changed; layout is left out, and the order of the answers too."""
    return "" if source is solution else f" (in {crc32(ast.unparse(ast.parse(source)).encode()) % 1_000:03})"


def judge(chapter: str, exercise: str, share: int = 1) -> Tally:
    """Judge an exercise's mutants and equivalents with its check: all, or a fixed one in `share` of its solution's."""
    tally, limit = Tally(f"{chapter[2:]}.{exercise}"), sandbox.SECONDS
    started = time.monotonic()
    sandbox.SECONDS = 4 * limit  # what is right must not fail because the machine is busy
    try:
        name, sources = right_answers(chapter, exercise)
        for source in sources if share == 1 else sources[:1]:  # to make those of the others takes longest
            rare = share if source is sources[0] else share * ONE_IN
            for kind, changed in equivalents.equivalents(source, name):
                if crc32(f"{tally.exercise} {changed}".encode()) % rare == 0:
                    _pass(tally, chapter, kind, changed)
        usual = _seconds(chapter, exercise, sources[0])
        for mutant in all_mutants(chapter, exercise, share == 1):
            if crc32(f"{tally.exercise} {mutant.change}".encode()) % share == 0:
                patient = reason("equal", tally.exercise, mutant.change) or reason(
                    "hole", tally.exercise, mutant.change
                )
                sandbox.SECONDS = 4 * limit if patient else min(limit, 0.15 + 8 * usual)
                _kill(tally, chapter, mutant)
        sandbox.SECONDS = 4 * limit
        _seconds(chapter, exercise, sources[0])  # the room is still as it was
    finally:
        sandbox.SECONDS = limit
    tally.seconds = time.monotonic() - started
    return tally


def _check(chapter: str, exercise: str, source: str):
    try:
        return room(chapter)[0].check(exercise, source)[0]
    finally:
        mg.set_grad_enabled(True)  # a cell runs in this thread, and may have left it off
        mg.set_default_dtype(mg.float32)


def _seconds(chapter: str, exercise: str, source: str) -> float:
    """How long a right answer takes; that it passes is what everything here compares with."""
    started = time.monotonic()
    verdict = _check(chapter, exercise, source)
    assert verdict.status == "passed", f"{chapter}.{exercise}: {verdict}"
    return time.monotonic() - started


def _kill(tally: Tally, chapter: str, mutant: operators.Mutant) -> None:
    verdict = _check(chapter, tally.exercise[3:], mutant.source)
    tally.total += 1
    if verdict.status == "passed":
        tally.passed[mutant.change] = mutant.source
    elif verdict.status == "unjudged":
        tally.unjudged[mutant.change] = verdict.why


def _pass(tally: Tally, chapter: str, kind: str, source: str) -> None:
    verdict = _check(chapter, tally.exercise[3:], source)
    tally.equivalents += 1
    if verdict.status != "passed":
        tally.refused[kind] = f"{verdict.code}: {verdict.got}\n{source}"


# --- What is known --------------------------------------------------------------------------------


@cache
def groups() -> dict[str, list[dict]]:
    """Everything in `known/`: "equal", "hole" and "refused", each in groups with one reason."""
    found: dict[str, list[dict]] = {}
    for path in sorted(KNOWN.glob("*.toml")):
        for what, of_the_chapter in tomllib.loads(path.read_text(encoding="utf-8")).items():
            found.setdefault(what, []).extend(of_the_chapter)
    return found


@cache
def reasons(what: str) -> dict[str, str]:
    """The reason for every exception of a kind, by "exercise: change"."""
    return {line: group["why"] for group in groups().get(what, ()) for line in group["what"]}


def reason(what: str, exercise: str, change: str) -> str:
    """Why a mutant may pass, or an equivalent be refused, in this exercise or in all; "" if nothing is known."""
    known = reasons(what)
    return known.get(f"{exercise}: {change}", "") or known.get(f"all: {change}", "")


def unused(what: str, tallies: list[Tally]) -> list[str]:
    """Exceptions that no longer are any, as they are written."""
    judged = {tally.exercise for tally in tallies}
    found = {
        f"{tally.exercise}: {change}"
        for tally in tallies
        for change in (tally.refused if what == "refused" else tally.passed | tally.unjudged)
    }
    return [line for line in reasons(what) if line.partition(": ")[0] in judged and line not in found]


def prune(tallies: list[Tally]) -> None:
    """Take out of the lists what is no exception any more, and groups that are empty then."""
    gone = {line for what in ("equal", "hole", "refused") for line in unused(what, tallies)}
    for path in KNOWN.glob("*.toml"):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        text = "".join(line for line in lines if _written(line) not in gone)
        path.write_text(re.sub(r"\[\[\w+\]\]\nwhy = .*\nwhat = \[\n\]\n\n?", "", text), encoding="utf-8")
    groups.cache_clear()
    reasons.cache_clear()


def _written(line: str) -> str:
    """The exception that stands in a line of the list, or ""."""
    entry = re.fullmatch(r"""\s+(["'].*["']),\n""", line)
    return tomllib.loads(f"line = {entry[1]}")["line"] if entry else ""
