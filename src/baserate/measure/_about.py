"""What a measure knows of itself: `@measure(best, span, needs)`.

A measure stays the plain function that it is. What the decorator is told, and what the docstring says (meaning,
formula, other names), is what tables, documentation, errors and the laws in the tests read.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import getdoc
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin

Measure = Callable[..., Any]
F = TypeVar("F", bound=Measure)
Best = Literal["high", "low"] | None

_CAUSES = {
    "total": "there are no rows",
    "positives": "there are no positives",
    "negatives": "there are no negatives",
    "flagged": "nothing is flagged",
    "passed": "everything is flagged",
    "either": "there are no positives and nothing is flagged",
    "chance_disagreement": "truth and decision are constant and equal, so chance alone agrees fully",
    "truth_spread": "there is at most one true class",
    "decided_spread": "everything is decided alike",
    "any_spread": "truth and decisions are both constant",
    "alternatives": "there is a single label, so nothing else could be decided",
    "event": "nothing happened, and nothing was expected to",
    "score_spread": "all probabilities are equal",
    "doubt": "all probabilities are 0 or 1, which no shift of log-odds moves",
    "overlap": "a threshold separates the classes, so no finite slope fits",
}
"""What it means that a margin is zero."""


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a measure."""

    name: str
    of: type
    """The noun that it takes: Counts, Curve, Tally or Confusion."""
    best: Best
    """Which end is better, or None where neither is."""
    span: tuple[float, float]
    """Least and greatest value."""
    needs: tuple[str, ...]
    """Margins that must not be zero: properties of the noun. The value is NaN exactly when one is."""
    dual: str | None
    """The measure that gives the same value when the classes swap names (Counts) or scores change sign too (Curve)."""
    share: tuple[tuple[str, ...], tuple[str, ...]] | None
    """Of a share, its hits and its misses: properties of the noun, to be added up. It is hits/(hits + misses)."""
    sampled: bool
    """Whether it makes up for the size of the sample: then a weight is not the same as repetition, as in intervals."""
    stacks: bool
    """Whether it takes a `Stack` of many tallies, too, and gives an array."""
    doc: str

    @property
    def causes(self) -> tuple[str, ...]:
        """What makes the value undefined: one cause for each margin that it needs."""
        return tuple(_CAUSES[margin] for margin in self.needs)

    @property
    def meaning(self) -> str:
        """The first sentence, without the formula."""
        return re.sub(r",? :math:`[^`]*`", "", self._summary).rstrip(".") + "."

    @property
    def formula(self) -> str | None:
        """The formula of the first paragraph, in TeX."""
        found = re.search(r":math:`([^`]*)`", self._summary)
        return found and found[1]

    @property
    def also(self) -> tuple[str, ...]:
        """Other names."""
        found = re.search(r"Also: (.*?)\.(?:\s|$)", self.doc, re.DOTALL)
        return tuple(" ".join(name.split()) for name in found[1].split(",")) if found else ()

    @property
    def references(self) -> tuple[str, ...]:
        """Keys into docs/references.bib."""
        return tuple(re.findall(r"\[@([\w-]+)\]", self.doc))

    @property
    def _summary(self) -> str:
        return " ".join(self.doc.split("\n\n")[0].split())


def measure(
    *,
    best: Best,
    span: tuple[float, float],
    needs: tuple[str, ...],
    dual: str | None = None,
    share: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
    sampled: bool = False,
) -> Callable[[F], F]:
    """Make a function of Counts, Curve, Tally or Confusion a measure, by telling what it is."""

    def decorate(function: F) -> F:
        annotated = next(iter(function.__annotations__.values()))
        several = isinstance(annotated, UnionType)  # the first is the noun, the others are many of it
        noun = get_args(annotated)[0] if several else get_origin(annotated) or annotated  # Counts[Value] is Counts
        doc = getdoc(function) or ""
        vars(function)["about"] = About(function.__name__, noun, best, span, needs, dual, share, sampled, several, doc)
        return function

    return decorate


def about(function: Measure) -> About:
    """Return what a measure knows of itself; with some of its options chosen by `functools.partial`, it is the same."""
    while isinstance(function, partial) and "about" not in vars(function):
        function = function.func
    told = vars(function)["about"]
    assert isinstance(told, About)  # noqa: S101  (for the type checker)
    return told


def bare(function: Measure) -> Measure:
    """Return the measure itself, without options that `functools.partial` chose."""
    while isinstance(function, partial):
        function = function.func
    return function
