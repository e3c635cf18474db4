"""What the learner's record says of each belief, and which one to ask about again."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

import minigrad as mg

from .beliefs import BELIEFS
from .warm_ups import ERROR, WARM_UPS, WarmUp

# The states of a belief, from what happened in the exercises that meet it.
MISSED = "missed"  # a check recognised it in an answer, and nothing has shown since that it is gone
MENDED = "mended"  # it was recognised once, and the same exercise or a warm-up was right afterwards
HELD_OFF = "seen through"  # an exercise that meets it was solved, and no answer ever showed it
NOT_MET = "not met yet"

FIRST = "00"  # the notebook that one comes back to
WARM_UP = "warm-up."  # what the entry of a warm-up is called in the record: warm-up.M02


def states(entries: dict[str, dict], exercises: Iterable) -> dict[str, str]:
    """The state of each belief: `entries` are those of the record, `exercises` all that there are."""
    found = dict.fromkeys(BELIEFS, NOT_MET)
    for exercise in exercises:
        if entries.get(exercise.id, {}).get("solved"):
            found |= dict.fromkeys(exercise.beliefs, HELD_OFF)
    seen = [(belief, open_) for entry in entries.values() for belief, open_ in _missed(entry).items()]
    for belief, open_ in sorted(seen, key=lambda pair: pair[1]):
        found[belief] = MISSED if open_ else MENDED
    return found


def places(entries: dict[str, dict]) -> dict[str, list[str]]:
    """For each belief that is missed, the ids of the exercises in which it is open."""
    found: dict[str, list[str]] = {}
    for id, entry in sorted(entries.items()):
        for belief, open_ in _missed(entry).items():
            if open_ and not id.startswith(WARM_UP):
                found.setdefault(belief, []).append(id)
    return found


def due(entries: dict[str, dict], chapter: str) -> WarmUp | None:
    """The question for the start of a chapter: a belief that an earlier chapter found and nobody mended.

    The first notebook asks about any. Of several it is the one that was asked about least often, so that
    none hides the others.
    """
    open_ = {
        belief
        for id, entry in entries.items()
        for belief, missed in _missed(entry).items()
        if missed and (id.startswith(WARM_UP) or id[2:4] < chapter or chapter == FIRST)
    }
    questions = [question for belief, question in WARM_UPS.items() if belief in open_]
    return min(questions, key=lambda question: _times_asked(entries, question), default=None)


def _times_asked(entries: dict[str, dict], question: WarmUp) -> int:
    tries = entries.get(WARM_UP + question.belief, {}).get("tries")
    return tries if type(tries) is int else 0


def is_right(question: WarmUp, answer: Any) -> bool:
    """Whether an answer says what the program gives: a number, True or False, None, or the word "error"."""
    right = question.answer()
    if type(answer) in (mg.Tensor, np.ndarray) or isinstance(answer, np.generic):
        size = answer.numel() if type(answer) is mg.Tensor else answer.size
        answer = answer.item() if size == 1 else ...
    if isinstance(answer, type) and issubclass(answer, Exception):
        answer = ERROR
    if type(right) is float and type(answer) in (int, float):
        return math.isclose(right, answer, rel_tol=1e-5, abs_tol=1e-5)
    if type(answer) is str:
        answer = {"none": None, "true": True, "false": False}.get(answer.strip().lower(), answer.strip().lower())
    return type(answer) is type(right) and answer == right


def _missed(entry: dict) -> dict[str, bool]:
    """The beliefs that were recognised in the answers of one entry, and whether each is still open."""
    missed = entry.get("missed")
    missed = missed if isinstance(missed, dict) else {}
    return {belief: bool(open_) for belief, open_ in missed.items() if belief in BELIEFS}
