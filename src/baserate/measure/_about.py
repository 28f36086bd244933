"""Description of a measure: `@measure(summary=…, formula=…, best=…, span=…, needs=…)`.

A measure stays a plain function. Tables, documentation, errors and the laws in the tests read the fields of its
`About`; none of them reads prose.
"""

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
    """Description and properties of a measure."""

    name: str
    of: type
    """The noun that it takes: Counts, Curve, Tally or Confusion."""
    summary: str
    """One sentence that stands alone, without TeX."""
    formula: str | None
    """The formula in TeX, or None."""
    also: tuple[str, ...]
    """Other names."""
    references: tuple[str, ...]
    """Keys into docs/references.bib."""
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

    @property
    def causes(self) -> tuple[str, ...]:
        """What makes the value undefined: one cause for each margin that it needs."""
        return tuple(_CAUSES[margin] for margin in self.needs)


def measure(  # noqa: PLR0913  (each is a field of About)
    *,
    summary: str,
    formula: str | None = None,
    also: tuple[str, ...] = (),
    references: tuple[str, ...] = (),
    best: Best,
    span: tuple[float, float],
    needs: tuple[str, ...],
    dual: str | None = None,
    share: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
    sampled: bool = False,
) -> Callable[[F], F]:
    """Make a function of Counts, Curve, Tally or Confusion a measure, and complete its docstring from these fields."""

    def decorate(function: F) -> F:
        annotated = next(iter(function.__annotations__.values()))
        several = isinstance(annotated, UnionType)  # the first is the noun, the others are many of it
        noun = get_args(annotated)[0] if several else get_origin(annotated) or annotated  # Counts[Value] is Counts
        described = About(
            name=function.__name__,
            of=noun,
            summary=summary,
            formula=formula,
            also=also,
            references=references,
            best=best,
            span=span,
            needs=needs,
            dual=dual,
            share=share,
            sampled=sampled,
            stacks=several,
        )
        vars(function)["about"] = described
        function.__doc__ = _compose_docstring(described, getdoc(function) or "")
        return function

    return decorate


def _compose_docstring(described: About, written: str) -> str:
    """Put summary, formula, other names and references before the notes and examples that the function has."""
    parts = [
        described.summary,
        f":math:`{described.formula}`" if described.formula else "",
        f"Also called {', '.join(described.also)}." if described.also else "",
        f"See {', '.join(f'[@{key}]' for key in described.references)}." if described.references else "",
        written.strip(),
    ]
    return "\n\n".join(filter(None, parts))


def about(function: Measure) -> About:
    """Return the description of a measure; options chosen by `functools.partial` do not change it."""
    while isinstance(function, partial) and "about" not in vars(function):
        function = function.func
    described = vars(function)["about"]
    assert isinstance(described, About)  # noqa: S101  (for the type checker)
    return described


def bare(function: Measure) -> Measure:
    """Return the measure itself, without options that `functools.partial` chose."""
    while isinstance(function, partial):
        function = function.func
    return function
