"""Requirements such as "specificity >= 0.9, precision >= 30%": their type, and the parser of their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal, NoReturn

import numpy as np

from baserate._counts import Counts
from baserate._errors import OptionError, UnknownNameError
from baserate.measure import Measure, as_measure, describe, find_measure

Sense = Literal[">=", "<="]

_SIGNS = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<="}
_SIGN = re.compile(r">=|≥|<=|≤|=>|=<|==|=|>|<")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*%?")
_ROUNDING = 1e-12
"""Relative tolerance of a bound: sums of weights may miss it by rounding."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A measure with a bound that it must satisfy.

    Parameters
    ----------
    measure
        Any measure.
    sense
        ">=" or "<=".
    bound
        Number on the right-hand side.

    Examples
    --------
    >>> from baserate import Counts, decide
    >>> [each] = decide.parse_requirements("false alarm rate <= 10%")
    >>> str(each), bool(each.holds_for(Counts(tp=3, fp=1, fn=2, tn=9)))
    ('fpr <= 0.1', True)
    """

    measure: Measure
    sense: Sense
    bound: float

    def __post_init__(self) -> None:
        name = describe(as_measure(self.measure)).name
        if self.sense not in (">=", "<="):
            raise OptionError(f"sense is {self.sense!r}; it is '>=' or '<='.", option="sense", value=self.sense)
        if isnan(self.bound):
            raise OptionError(f"the bound of {name} is NaN", remedy="give a number.")

    def __str__(self) -> str:
        return f"{self.name} {self.sense} {self.bound:g}"

    @property
    def name(self) -> str:
        """Name of the measure."""
        return describe(self.measure).name

    @property
    def slack(self) -> float:
        """Tolerance around the bound, since sums differ by rounding."""
        return _ROUNDING * max(abs(self.bound), 1.0)

    def holds_for(self, counts: Counts[Any]) -> Any:  # noqa: ANN401  (one, or one for each table)
        """Return whether confusion matrices satisfy the requirement; undefined values do not."""
        return self.holds(self.measure(counts))

    def holds(self, value: Any) -> Any:  # noqa: ANN401  (a number, or many)
        """Return whether values satisfy the requirement."""
        if self.sense == ">=":
            return np.greater_equal(value, self.bound - self.slack)
        return np.less_equal(value, self.bound + self.slack)


def parse_requirements(given: Any, *, of_decisions: bool = False) -> tuple[Requirement, ...]:  # noqa: ANN401  (see below)
    """Parse requirements: measures by any of their names, `>=` or `<=`, and a number or a percentage.

    Parameters
    ----------
    given
        Text with requirements separated by commas, semicolons or "and"; a `Requirement`; or several of either.
    of_decisions
        Whether to refuse measures that do not depend on the threshold.

    Returns
    -------
    tuple of Requirement
        One for each bound, in their order.

    Raises
    ------
    OptionError
        If the text cannot be parsed; the message points at the character.

    Examples
    --------
    >>> from baserate import decide
    >>> print(*decide.parse_requirements("TNR >= 0.9 and precision >= 30%"), sep="; ")
    specificity >= 0.9; precision >= 0.3
    """
    if isinstance(given, Requirement):
        if of_decisions and (independence := _describe_independence(given.measure)):
            raise OptionError(f"{independence}", remedy="see whether it is kept with decide.check.")
        return (given,)
    if isinstance(given, str):
        return tuple(_parse(given, of_decisions=of_decisions))
    if not isinstance(given, Iterable):
        raise OptionError(f"{given!r} is no requirement", remedy='write it, such as "specificity >= 0.9".')
    return tuple(each for part in given for each in parse_requirements(part, of_decisions=of_decisions))


def _parse(text: str, *, of_decisions: bool) -> Iterator[Requirement]:
    start = 0
    while True:
        sign = _SIGN.search(text, start)
        name = text[start : sign.start() if sign else len(text)]
        first = start + len(name) - len(name.lstrip())
        if not name.strip():
            _raise_at(text, first, "a measure is expected here, such as specificity")
        if sign is None:
            _raise_at(text, len(text.rstrip()), f">= or <= and a number are expected after {name.strip()!r}")
        if sign[0] not in _SIGNS:  # = and > are common slips, so the pattern finds them
            _raise_at(text, sign.start(), f"{sign[0]} is no bound; write >= or <=")
        measure = _parse_measure(text, first, name.strip())
        if of_decisions and (independence := _describe_independence(measure)):
            _raise_at(text, first, independence)
        number = _NUMBER.match(text, _skip_spaces(text, sign.end()))
        if number is None:
            _raise_at(text, _skip_spaces(text, sign.end()), "a number is expected here, such as 0.9 or 90%")
        yield Requirement(measure, ">=" if _SIGNS[sign[0]] == ">=" else "<=", _parse_number(number[0]))
        start = _skip_spaces(text, number.end())
        if start == len(text):
            return
        between = re.compile(r"[,;]|and\b|&&?|∧").match(text, start)
        if between is None:
            _raise_at(text, start, "a comma is expected here, before the next requirement")
        start = between.end()


def _parse_measure(text: str, place: int, name: str) -> Measure:
    try:
        return find_measure(name)
    except UnknownNameError as error:
        _raise_at(text, place, error.what.rstrip("."), kind=UnknownNameError)


def _describe_independence(measure: Measure) -> str | None:
    """Describe that a measure does not depend on the threshold; None if it does."""
    info = describe(measure)
    slip = f"{info.name} does not depend on the threshold, so no threshold can be held to it"
    return None if info.of is Counts else slip


def _parse_number(text: str) -> float:
    return float(text.rstrip("% \t")) / 100 if text.endswith("%") else float(text)


def _skip_spaces(text: str, place: int) -> int:
    return place + len(text[place:]) - len(text[place:].lstrip())


def _raise_at(
    text: str, place: int, message: str, *, kind: type[OptionError | UnknownNameError] = OptionError
) -> NoReturn:
    """Raise an error with a caret below the character that cannot be parsed."""
    line = text.replace("\n", " ").replace("\t", " ")
    end = "" if message.endswith("?") else "."
    raise kind(f"the requirements cannot be read at character {place + 1}: {message}{end}\n  {line}\n  {' ' * place}^")
