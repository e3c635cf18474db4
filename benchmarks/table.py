"""Rows of measurements, and how they are printed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

COLUMNS = {
    "hand": "NumPy by hand",
    "minigrad": "minigrad",
    "torch": "torch",
    "torch.nn": "torch.nn + optim",
    "autograd": "HIPS autograd",
    "mygrad": "MyGrad",
    "micrograd": "micrograd (scalar)",
}


@dataclass(frozen=True)
class Row:
    """One line: a number or a word for each implementation, and minigrad's limits.

    `limits` maps the implementation that minigrad is divided by to the most that is allowed;
    `most` limits minigrad's own number.
    """

    name: str
    title: str
    unit: str
    cells: Mapping[str, float | str]
    limits: Mapping[str, float]
    most: float | None = None

    def ratio(self, other: str) -> float | None:
        """minigrad's number over another's; None unless both are numbers."""
        mine, theirs = self.cells.get("minigrad"), self.cells.get(other)
        if isinstance(mine, float) and isinstance(theirs, float):
            return mine / theirs
        return None

    def goals(self) -> str:
        """Such as `0.46 of torch, <= 0.6 met; 3.5 of hand, <= 3.3 MISSED`."""
        goals = [(f" of {other}", self.ratio(other), most) for other, most in self.limits.items()]
        if self.most is not None:
            mine = self.cells.get("minigrad")
            goals.append(("", mine if isinstance(mine, float) else None, self.most))
        return "; ".join(goal(*parts) for parts in goals)


def goal(what: str, value: float | None, most: float) -> str:
    if value is None:
        return f"?{what}, <= {most:g}"
    return f"{value:.2f}{what}, <= {most:g} {'met' if value <= most else 'MISSED'}"


def number(value: float | str) -> str:
    """Three digits that count; a word stays as it is."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def lines(rows: Sequence[Row], implementations: Sequence[str], markdown: bool) -> list[str]:
    """The table, as aligned text or as Markdown."""
    head = ["", "unit", *(COLUMNS[name] for name in implementations), "minigrad's goals"]
    body = [
        [
            row.title,
            row.unit,
            *(number(row.cells.get(name, "-")) for name in implementations),
            row.goals(),
        ]
        for row in rows
    ]
    if markdown:
        rule = ["---", "---", *("---:" for _ in implementations), "---"]
        return ["| " + " | ".join(cells) + " |" for cells in [head, rule, *body]]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    numeric = range(2, 2 + len(implementations))
    return [
        "  ".join(
            cell.rjust(width) if place in numeric else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in [head, *body]
    ]
