"""The warm-up of notebook 00. It carries no points, so it fails no cell when it is wrong."""

from __future__ import annotations

from exercises.checks import kit

chapter = kit.Chapter(__name__, "00", "Start here")


@chapter.exercise(
    "The slope of 3x² at 5",
    kind="predict",
    points=0,
    hints=(
        "The slope says how fast `y` grows, not how large it is.",
        "The derivative of `x**2` is `2*x`. A factor in front stays in front.",
        "So the slope is `3 * 2 * x`. Put `x = 5` in.",
    ),
    idea="`y = 3*x**2` has the slope `6*x`, and at `x = 5` that is 30.",
)
def warm_up(answer):
    slope = kit.a_number(answer)
    if kit.close(slope, 30, 1e-3):
        return "If `x` grows by 0.001, `y` grows by about 30 times as much. That is a derivative."
    for wrong, code, why, look in _WRONG_SLOPES:
        if kit.close(slope, wrong, 1e-3):
            raise kit.Wrong(code, "the slope of `y`", kit.show(answer), why=why, look=look)
    look = "the derivative of `x**2`, then the factor 3 in front of it"
    raise kit.Wrong("other-slope", "the slope of `y` at `x = 5`", kit.show(answer), look=look)


_WRONG_SLOPES = (
    (
        75,
        "value-not-slope",
        "75 is `y` itself: 3 times 25. The slope says how fast `y` grows when `x` grows.",
        "how much `y` changes from `x = 5` to `x = 5.00001`, divided by 0.00001",
    ),
    (
        10,
        "factor-lost",
        "10 is the slope of `x**2` alone. Three times as high is three times as steep.",
        "the factor 3 in front of `x**2`",
    ),
    (
        15,
        "power-lost",
        "15 is `3*x`. The derivative of `x**2` is `2*x`: the power comes down as a factor.",
        "the derivative of `x**2`",
    ),
    (
        6,
        "x-lost",
        "6 is the slope's own slope: `6*x` still holds an `x`, which is 5 here.",
        "what the derivative `6*x` gives at `x = 5`",
    ),
)

chapter.lock()
