"""Verdict, score and progress as cards, each in HTML and in plain text.

The styles are inline, for a notebook that is not trusted keeps no others. A card has the ground and the ink of the
page, light or dark; words in colour are white on that colour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

from .beliefs import BELIEFS

QUIET, TINT, LINE = "opacity:0.78", "background-color:rgba(128,128,128,0.16)", "#8c8c8c"
HEADINGS = {
    "passed": ("#23724f", "Right"),
    "wrong": ("#a4550f", "Not yet"),
    "unanswered": ("#5f6b79", "Not answered yet"),
    "unjudged": ("#6a4c9c", "Not judged"),
    "solved": ("#5f6b79", "Right before"),
}
_MONOSPACE = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px"
_HINT_NAMES = ("Hint 1", "Hint 2", "Hint 3", "The idea of the solution")


@dataclass(frozen=True)
class Card:
    """Something to display, with the same content as HTML and as plain text."""

    html: str
    text: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def display(card: Any) -> None:
    """Show a card in the notebook, or print it where there is no notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import display as show_in_notebook
    except ImportError:
        print(card)
        return
    show_in_notebook(card) if get_ipython() is not None else print(card)


def verdict_card(verdict: Any, exercise: Any) -> Card:
    """The card of one check: what was expected, what came, the belief behind it, what next."""
    colour, heading = HEADINGS[verdict.status]
    name = f"{exercise.id} · {_points(exercise.points)}" if exercise.points else exercise.id
    head = f"{_pill(f'{heading}.', colour)} {_prose(exercise.title)}{_small(name)}"
    html = [f"<div>{head}</div>"]
    text = [f"{heading}. {_plain(exercise.title)} ({name})"]
    rows = [(label, said) for label, said in _rows(verdict) if said]
    if rows:
        html.append(_grid([(label, _prose(said)) for label, said in rows]))
        text += [f"  {label + ':':10}{_plain(said)}" for label, said in rows]
    if verdict.picture is not None:
        html.append(f'<div style="margin-top:10px">{picture_html(verdict.picture)}</div>')
        text.append(_indented(picture_text(verdict.picture)))
    if verdict.status != "passed" and exercise.hints:
        html.append(_folds([*exercise.hints, exercise.idea]))
        text.append(f'  hints:    check.hint("{exercise.name}") shows the next one')
    return Card(_box(colour, html), "\n".join(text))


def _points(number: int) -> str:
    return f"{number} point" if number == 1 else f"{number} points"


def _rows(verdict: Any) -> list[tuple[str, str]]:
    belief = f"“{verdict.belief_text}”" if verdict.belief else ""
    return [
        ("given", verdict.given),
        ("expected", verdict.expected),
        ("came", verdict.got),
        ("belief", belief),
        ("in fact" if belief else "why", verdict.why),
        ("do next" if verdict.status == "unanswered" else "look at", verdict.look),
        ("printed", verdict.printed),
    ]


def hint_card(number: int, hint: str, exercise: Any) -> Card:
    """One hint, unfolded: for those who ask by name, or cannot click."""
    name, colour = _HINT_NAMES[number], HEADINGS["unanswered"][0]
    head = f"{_pill(f'{name}.', colour)} {_prose(exercise.title)}{_small(exercise.id)}"
    html = [f"<div>{head}</div>", f'<div style="margin-top:6px">{_prose(hint)}</div>']
    return Card(_box(colour, html), f"{name}. {_plain(exercise.title)} ({exercise.id})\n  {_plain(hint)}")


def score_card(chapter: Any, statuses: dict[str, str]) -> Card:
    """The score of one chapter in this session: N of M, points, and every exercise by its state.

    What was only solved in an earlier session ("solved") is told apart, and counts when its check runs again.
    """
    exercises = list(chapter.exercises.values())
    right = [one for one in exercises if statuses.get(one.id) == "passed"]
    points, all_points = sum(one.points for one in right), sum(one.points for one in exercises)
    total = f"{len(right)} of {len(exercises)} exercises, {points} of {all_points} points"
    head = f"Chapter {chapter.number} · {chapter.title}"
    colour = HEADINGS["passed" if len(right) == len(exercises) else "unanswered"][0]
    rows, lines = [], []
    for one in exercises:
        tint, word = HEADINGS.get(statuses.get(one.id, ""), ("", "Not run yet"))
        state = _pill(word, tint) if tint else word
        worth = f"{one.points if one in right else 0}/{one.points}"
        rows.append((f"{_prose(one.title)}{_small(one.id)}", f"{state}{_small(worth)}"))
        lines.append(f"  {worth:5}{word:18}{_plain(one.title)} ({one.id})")
    html = [f"<div><b>{total}</b>{_small(head)}</div>"]
    html += [_bar(len(right), len(exercises), colour), _grid(rows, "minmax(0,1fr) auto", "")]
    return Card(_box(colour, html), "\n".join([f"{head}: {total}", *lines]))


def progress_card(chapters: list[tuple[str, str, int, int]], notice: str) -> Card:
    """All chapters, as (number, title, done, total): a bar for each that is begun, how much there is in the others."""
    rows, lines = [], []
    width = max((len(title) for _, title, _, _ in chapters), default=0)
    for number, title, done, total in chapters:
        colour = HEADINGS["passed" if done == total else "unanswered"][0]
        ahead = f"{total} exercise{'s' * (total != 1)}"
        count = f"{done} of {total}" if done else ahead
        state = f"<span>{count}</span>" if done else f'<span style="{QUIET}">{count}</span>'
        rows.append((f"{number} · {escape(title)}", (_bar(done, total, colour) if done else "") + state))
        filled = round(20 * done / total) if total else 0
        bar = f"[{'#' * filled}{'.' * (20 - filled)}] " if done else ""
        lines.append(f"  {number} {title:{width}}  {bar}{count}")
    begun = any(done for _, _, done, _ in chapters)
    heading, colour = "Exercises done so far" if begun else "What is ahead", HEADINGS["unanswered"][0]
    html = [f"<div><b>{heading}</b></div>", _grid(rows, "1fr 1fr", "")]
    if notice:
        html.append(f'<div style="margin-top:8px;{QUIET}">{_prose(notice)}</div>')
        lines.append(f"  {notice}")
    return Card(_box(colour, html), "\n".join([heading, *lines]))


_STATES = {  # of a belief: its sign, for those who see no colour, and its colour
    "missed": ("!", "#a4550f"),
    "mended": ("+", "#2f5d9b"),
    "seen through": ("=", "#23724f"),
}


def belief_card(states: dict[str, str], places: dict[str, list[str]], notice: str = "") -> Card:
    """The beliefs that were met, each in words and with its state: none of these false sentences stands alone.

    `places` names the exercises in which a missed belief is open.
    """
    met = [(state, id) for state in _STATES for id, found in states.items() if found == state]
    total = ", ".join(f"{sum(found == state for found, _ in met)} {state}" for state in _STATES)
    words = f"{total}, {len(states) - len(met)} not met yet" if met else "none met yet"
    colour = _STATES["missed" if "missed" in states.values() else "seen through"][1]
    html, text = [f"<div><b>Beliefs</b>{_small(words)}</div>"], [f"Beliefs: {words}"]
    for state, id in met:
        sign, tint = _STATES[state]
        where = f" · {', '.join(places[id])}" if places.get(id) else ""
        mark = _pill(f"{sign} {state}", tint)
        html.append(f'<div style="margin-top:5px">{mark} “{_prose(BELIEFS[id])}”{_small(where)}</div>')
        text.append(f"  {sign} {state}: “{BELIEFS[id]}”{where}")
    if notice:
        html.append(f'<div style="margin-top:8px;{QUIET}">{_prose(notice)}</div>')
        text.append(f"  {notice}")
    return Card(_box(colour, html), "\n".join(text))


def _pill(words: str, colour: str) -> str:
    """A few words in white on a colour, which can be read on any page."""
    style = f"background-color:{colour};color:#ffffff;border-radius:9px;padding:1px 9px;font-weight:600"
    return f'<span style="{style}">{escape(words)}</span>'


def warm_up_card(question: Any, right: bool | None = None, given: str = "", more: bool = False) -> Card:
    """A question from an earlier chapter: as it is asked, or with what the answer was worth."""
    next_ = " Another belief is open: `check.again()` asks about it." if more else ""
    ask = f'What is `{question.asked}` now? Answer with a number, True, False, None, or "error" if a line raises.'
    how = "Type your answer between the brackets: `check.again(...)`."
    belief = f"The belief that came up: “{BELIEFS[question.belief]}”."
    said = {
        None: ("unanswered", "Warm-up", f"{ask} {how}"),
        True: ("passed", "Right", f"`{question.asked}`: {given}. {belief} You see through it now.{next_}"),
        False: (
            "wrong",
            "Not yet",
            f"`{question.asked}` is not {given}. {belief} Run the program in a cell, line by line.",
        ),
    }
    state, heading, words = said[right]
    colour = HEADINGS[state][0]
    program = f'<pre style="{_MONOSPACE};margin:8px 0">{escape(question.program)}</pre>'
    html = [f"<div>{_pill(f'{heading}.', colour)}</div>", program, _prose(words)]
    lines = [f"{heading}. ({question.belief})", *("    " + line for line in question.program.splitlines())]
    return Card(_box(colour, html), "\n".join([*lines, f"  {_plain(words)}"]))


def notice_card(sentence: str) -> Card:
    """One sentence that belongs to no exercise."""
    return Card(_box(HEADINGS["unjudged"][0], [_prose(sentence)]), _plain(sentence))


def picture_html(picture: Any) -> str:
    """The HTML form of a picture, or its text where it has none."""
    bundle = _bundle(picture)
    if "text/html" in bundle:
        return bundle["text/html"]
    return f'<pre style="{_MONOSPACE};margin:0">{escape(picture_text(picture))}</pre>'


def picture_text(picture: Any) -> str:
    """The plain-text form of a picture."""
    return _bundle(picture).get("text/plain", str(picture))


def _bundle(picture: Any) -> dict[str, str]:
    bundle = picture._repr_mimebundle_() if hasattr(picture, "_repr_mimebundle_") else {}
    return bundle[0] if isinstance(bundle, tuple) else bundle


def _box(colour: str, parts: list[str]) -> str:
    style = (
        f"border:1px solid {LINE};border-left:5px solid {colour};border-radius:4px;"
        "padding:12px 18px;margin:6px 0;max-width:760px;font-size:14px;line-height:1.55;"
        "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
    )
    return f'<div style="{style}">{"".join(parts)}</div>'


def _grid(rows: list[tuple[str, str]], columns: str = "5.5em minmax(0,1fr)", left: str = QUIET) -> str:
    cells = "".join(f'<div style="{left}">{first}</div><div>{second}</div>' for first, second in rows)
    style = f"display:grid;grid-template-columns:{columns};column-gap:14px;row-gap:5px;margin-top:10px"
    return f'<div style="{style}">{cells}</div>'


def _bar(done: int, total: int, colour: str) -> str:
    share = round(100 * done / total) if total else 0
    inner = f'<div style="width:{share}%;height:6px;background-color:{colour};border-radius:3px"></div>'
    return f'<div style="{TINT};border-radius:3px;height:6px;margin:8px 0 3px 0">{inner}</div>'


def _folds(steps: list[str]) -> str:
    """Hints inside one another, so that each must be opened before the next can be seen."""
    html = ""
    for name, step in reversed(list(zip(_HINT_NAMES, steps, strict=True))):
        html = (
            f'<details style="margin-top:8px"><summary style="cursor:pointer;{QUIET}">{name}'
            f'</summary><div style="margin:4px 0 0 14px">{_prose(step)}{html}</div></details>'
        )
    return html


def _small(text: str) -> str:
    return f' <span style="{QUIET};font-size:13px;margin-left:6px">{escape(text)}</span>'


def _prose(text: str) -> str:
    """Escaped text, with `code` in a monospace face."""
    code = f"{_MONOSPACE};{TINT};padding:0 4px;border-radius:3px"
    html = re.sub(r"`([^`]+)`", rf'<span style="{code}">\1</span>', escape(text, quote=False))
    return html.replace("\n", "<br>")


def _plain(text: str) -> str:
    return text.replace("`", "").replace("\n", "\n" + " " * 12)


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
