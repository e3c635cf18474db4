"""What the judged mutants and equivalents say, as text."""

from __future__ import annotations

from collections import Counter

from . import judge
from .judge import Tally

WHATS = ("equal", "hole")


def summary(name: str, tallies: list[Tally]) -> str:
    """Killed / total in one line, and what the rest is."""
    counts: Counter[str] = Counter()
    for tally in tallies:
        for change in tally.passed | tally.unjudged:
            counts[next((what for what in WHATS if judge.reason(what, tally.exercise, change)), "new")] += 1
    total, passed = sum(t.total for t in tallies), sum(len(t.passed | t.unjudged) for t in tallies)
    equivalents, refused = sum(t.equivalents for t in tallies), sum(len(t.refused) for t in tallies)
    rest = ", ".join(f"{counts[what]} {what}" for what in (*WHATS, "new") if counts[what])
    return (
        f"{name:18} killed {total - passed:4} / total {total:4} mutants{f' ({rest})' if rest else '':28} "
        f"passed {equivalents - refused:3} / total {equivalents:3} equivalents, {sum(t.seconds for t in tallies):.0f} s"
    )


def faults(tallies: list[Tally], whole: bool, sources: bool = False) -> list[str]:
    """Everything that is in no list, and with `whole` what is in a list and should no longer be."""
    found = []
    for tally in tallies:
        for change, source in tally.passed.items():
            if not any(judge.reason(what, tally.exercise, change) for what in WHATS):
                found.append(f"{tally.exercise}: {change}    passed{_indented(source) if sources else ''}")
        for kind, source in tally.refused.items():
            if not judge.reason("refused", tally.exercise, kind):
                found.append(f"{tally.exercise}: {kind}    refused{_indented(source) if sources else ''}")
        for change, why in tally.unjudged.items():
            if not judge.reason("hole", tally.exercise, change):
                found.append(f"{tally.exercise}: {change}    not judged: {why}")
    for what in (*WHATS, "refused") if whole else ():
        found += [f"{line}    no longer {what}" for line in judge.unused(what, tallies)]
    return found


def _indented(source: str) -> str:
    return "".join(f"\n    {line}" for line in source.splitlines())
