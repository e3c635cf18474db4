"""The checks of chapter 12, "Draft: forward mode"."""

from __future__ import annotations

from exercises.checks import kit

chapter = kit.Chapter(__name__, "12", "Draft: forward mode")


# --- 1 --------------------------------------------------------------------------------------------


@chapter.exercise(
    "Draft: first",
    kind="predict",  # or another of kit.KINDS
    points=1,  # as in the notebook's cell test-first
    beliefs=(),  # the ids of beliefs.py that the check can find behind a wrong answer
    hints=(
        "Where to look: the first hint names the place in the chapter.",
        "The second hint says the rule.",
        "The third hint is nearly the answer: 2 + 3.",
    ),
    idea="What the solution does, and why: 2 + 3 is 5.",
)
def first(answer):
    # Judge the learner's own object on fresh inputs: neither a constant nor a copied number may pass.
    number = kit.a_number(answer)
    if not kit.close(number, 5):
        raise kit.Wrong("other-number", "the sum of 2 and 3", kit.show(answer), look="the sum, on your fingers")
    return "One sentence that says why the answer is right."


chapter.lock()
