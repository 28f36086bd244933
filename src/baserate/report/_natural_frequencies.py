"""Natural frequencies: the confusion matrix of 1000 people, in whole numbers that add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import NamedTuple

from baserate.report._report import View

POPULATION = 1000
POSITIVES = ("tp", "referred_positives", "fn")
NEGATIVES = ("fp", "referred_negatives", "tn")


class NaturalFrequencies(NamedTuple):
    """Cells of the confusion matrix of 1000 people, exact and in whole people; referred people are cells, too."""

    exact: Mapping[str, float]
    whole: Mapping[str, int]

    def format_cells(self, *cells: str) -> str:
        """Return the number of people in some cells; "<1" where there are some, but too few to count.

        >>> people = NaturalFrequencies({"tp": 0.3, "fp": 99.7, "fn": 0}, {"tp": 0, "fp": 100, "fn": 0})
        >>> people.format_cells("tp"), people.format_cells("fn"), people.format_cells("tp", "fp")
        ('<1', '0', '100')
        """
        whole = sum(self.whole.get(cell, 0) for cell in cells)
        return "<1" if not whole and self.has_people(*cells) else str(whole)

    def has_people(self, *cells: str) -> bool:
        """Return whether any of these cells contains people, however few."""
        return any(self.exact.get(cell, 0) > 0 for cell in cells)


def natural_frequencies(view: View) -> NaturalFrequencies:
    """Return the natural frequencies of a view; classes are rounded first, so that rows and columns add up.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.02)
    >>> dict(natural_frequencies(report.there).whole)
    {'tp': 10, 'fn': 10, 'fp': 490, 'tn': 490}
    """
    classes = [[cell for cell in each if cell in view] for each in (POSITIVES, NEGATIVES)]
    mass = {cell: getattr(view, cell).value for each in classes for cell in each}
    exact = {cell: POPULATION * each / sum(mass.values()) for cell, each in mass.items()}
    whole: dict[str, int] = {}
    for each, people in zip(
        classes, apportion([sum(exact[cell] for cell in each) for each in classes], POPULATION), strict=True
    ):
        whole |= zip(each, apportion([exact[cell] for cell in each], people), strict=True)
    return NaturalFrequencies(exact, whole)


def apportion(shares: Sequence[float], many: int) -> list[int]:
    """Apportion whole people in proportion to shares, by largest remainders.

    >>> apportion([0.5, 2.2, 0.3], 3), apportion([1, 1, 1], 10), apportion([0, 0], 0)
    ([1, 2, 0], [4, 3, 3], [0, 0])
    """
    total = sum(shares)
    due = [many * share / total if total else 0.0 for share in shares]
    whole = [floor(each) for each in due]
    # The sort is stable, so that equal remainders go to the first cell, as in the page's script.
    first = sorted(range(len(due)), key=lambda at: whole[at] - due[at])
    for at in first[: many - sum(whole)]:
        whole[at] += 1
    return whole
