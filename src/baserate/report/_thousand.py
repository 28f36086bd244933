"""A 2×2 table of a thousand people, in whole numbers: how often what happens, without shares of shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import NamedTuple

from baserate.report._report import View

MANY = 1000
POSITIVES = ("tp", "referred_positives", "fn")
NEGATIVES = ("fp", "referred_negatives", "tn")


class Thousand(NamedTuple):
    """Cells by name: what they are exactly, and in whole people. Those who are referred count as a cell, too."""

    exact: Mapping[str, float]
    whole: Mapping[str, int]

    def many(self, *cells: str) -> str:
        """How many are in these cells together; that there are some is told even if they are too few to count.

        >>> told = Thousand({"tp": 0.3, "fp": 99.7, "fn": 0}, {"tp": 0, "fp": 100, "fn": 0})
        >>> told.many("tp"), told.many("fn"), told.many("tp", "fp")
        ('<1', '0', '100')
        """
        whole = sum(self.whole.get(cell, 0) for cell in cells)
        return "<1" if not whole and self.some(*cells) else str(whole)

    def some(self, *cells: str) -> bool:
        """Whether anybody is in these cells, however few."""
        return any(self.exact.get(cell, 0) > 0 for cell in cells)


def thousand(view: View) -> Thousand:
    """Tell of a thousand people what happens to them; classes are rounded first, so that rows and columns add up.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.02)
    >>> dict(thousand(report.there).whole)
    {'tp': 10, 'fn': 10, 'fp': 490, 'tn': 490}
    """
    classes = [[cell for cell in each if cell in view] for each in (POSITIVES, NEGATIVES)]
    mass = {cell: getattr(view, cell).value for each in classes for cell in each}
    exact = {cell: MANY * each / sum(mass.values()) for cell, each in mass.items()}
    whole: dict[str, int] = {}
    for each, people in zip(classes, dealt([sum(exact[cell] for cell in each) for each in classes], MANY), strict=True):
        whole |= zip(each, dealt([exact[cell] for cell in each], people), strict=True)
    return Thousand(exact, whole)


def dealt(shares: Sequence[float], many: int) -> list[int]:
    """Deal so many people in proportion to shares, the last of them to where the most is left over.

    >>> dealt([0.5, 2.2, 0.3], 3), dealt([1, 1, 1], 10), dealt([0, 0], 0)
    ([1, 2, 0], [4, 3, 3], [0, 0])
    """
    total = sum(shares)
    due = [many * share / total if total else 0.0 for share in shares]
    whole = [floor(each) for each in due]
    first = sorted(range(len(due)), key=lambda at: whole[at] - due[at])
    for at in first[: many - sum(whole)]:
        whole[at] += 1
    return whole
