"""Domains of numeric options: one table for Python, the command line, its help and all messages.

Within a domain numbers are right and memory suffices; beyond it options are refused before anything is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeGuard, overload

from baserate._errors import OptionError, keyword


class Domain(NamedTuple):
    """Least and greatest value of an option, both included."""

    low: float
    high: float
    words: str
    """The expected values, as messages name them."""
    example: str
    whole: bool = False

    @property
    def or_none(self) -> Domain:
        """The same domain, in words that allow 0, too, for callers that check for 0 first."""
        return self._replace(words=f"0 for none, or {self.words}")

    def holds(self, value: object) -> bool:
        """Return whether a value is a number within the domain; NaN never is.

        >>> LEVEL.holds(0.95), LEVEL.holds(float("nan")), SAMPLES.holds(20.0), SAMPLES.holds(20)
        (True, False, False, True)
        """
        return _is_number(value, whole=self.whole) and self.low <= value <= self.high


LEVEL = Domain(1e-9, 1 - 1e-9, "a confidence level from 1e-9 to 1 - 1e-9", "0.95")
"""Within it all methods distinguish quantiles from 0 and from infinity."""
PREVALENCE = Domain(1e-12, 1 - 1e-12, "a prevalence from 1e-12 to 1 - 1e-12", "0.02")
SHARE = Domain(1e-12, 1 - 1e-12, "a number from 1e-12 to 1 - 1e-12", "0.05")
HARM = Domain(0.0, 1.0, "a number from 0 to 1", "0.01")
RATE = Domain(0.0, 1.0, "a rate from 0 to 1", "0.9")
TOP_K = Domain(1, 10**12, "a whole number from 1 to 10^12", "10", whole=True)
HALF_WIDTH = Domain(1e-9, 1e15, "a number from 1e-9 to 1e15", "0.03")
COST = Domain(-1e15, 1e15, "a cost from -1e15 to 1e15, and 0 or at least 1e-15 in size", "20")
LEAST_COST = 1e-15
"""In size; smaller costs vanish beside others, and products with them would lose their digits."""
FACTOR = Domain(1e-12, 1e12, "a factor from 1e-12 to 1e12", "10")
MARGIN = Domain(-1e15, 1e15, "a number from -1e15 to 1e15", "0.02")
SAMPLES = Domain(1, 10**7, "a whole number from 1 to 10,000,000", "2000", whole=True)
POSTERIOR_BANDWIDTH = Domain(0.01, 10.0, "a bandwidth from 0.01 to 10", "0.1")
"""Of densities of probabilities on a grid."""
BINS = Domain(1, 10_000, "a whole number from 1 to 10,000", "10", whole=True)
MIN_GROUP = 50
"""Default of the least number of rows that a tested rate of a group rests on."""
POINTS = Domain(2, 10**6, "a whole number from 2 to 1,000,000", "101", whole=True)
FOLDS = Domain(2, 10_000, "a whole number from 2 to 10,000", "5", whole=True)
REPEATS = Domain(1, 100_000, "a whole number from 1 to 100,000", "200", whole=True)
ROWS = Domain(1, 10**9, "a whole number of rows from 1 to 1,000,000,000", "1000", whole=True)
PLACE = Domain(-1e100, 1e100, "a number from -1e100 to 1e100", "0.5")
"""Where a figure can draw a line."""
MEAN = Domain(-1e6, 1e6, "a mean from -1e6 to 1e6", "1")
SPREAD = Domain(1e-6, 1e6, "a standard deviation from 1e-6 to 1e6", "1")
SPREAD_RATIO = Domain(1e-3, 1e3, "a number from 0.001 to 1000", "1.5")
SHAPE = Domain(0.01, 1e6, "a shape from 0.01 to 1e6", "2")
KNOTS = Domain(4, 200, "a whole number from 4 to 200", "10", whole=True)
BANDWIDTH = Domain(1e-100, 1e100, "a bandwidth from 1e-100 to 1e100", "0.05")
SPAN = Domain(1e-12, 1, "a share above 0 and at most 1", "0.5")
TRIM = Domain(1e-6, 0.49, "a share from 1e-6 to 0.49", "0.1")
INCHES = Domain(0.5, 100, "a number of inches from 0.5 to 100", "7")

MEMORY = 4 << 30
"""Bytes that one array may take."""


def check_domain(name: str, value: object, domain: Domain) -> None:
    """Refuse a value outside its domain.

    >>> check_domain("level", 1e-320, LEVEL)
    Traceback (most recent call last):
    baserate._errors.OptionError: level is 1e-320; expected a confidence level from 1e-9 to 1 - 1e-9. Give, for \
example, 0.95.
    """
    if not domain.holds(value):
        number: Any = value
        percent = domain.high < 1 < 100 * domain.high and _is_number(value) and 1 < value <= 100 * domain.high
        remedy = f"For {number:g} percent give {number / 100:g} or {f'{number:g}%'!r}." if percent else ""
        raise wrong_option(name, value, domain.words, remedy=remedy or f"Give, for example, {domain.example}.")


def wrong_option(name: str, value: object, expected: str, *, remedy: str = "") -> OptionError:
    """Make the error for an option outside its domain.

    >>> print(wrong_option("by", "size", "'width' or 'mass'"))
    by is 'size'; expected 'width' or 'mass'.
    """
    return OptionError(f"{name} is {value!r}; expected {expected}.", remedy=remedy, option=name, value=value)


def unused_option(name: str, value: object, why: str) -> OptionError:
    """Make the error for an option that changes nothing.

    >>> print(unused_option("threshold", 0.5, "these are decisions already"))
    threshold=0.5 has no use: these are decisions already.
    """
    return OptionError(f"{keyword(name, value)} has no use: {why}.", option=name, value=value)


def check_rates(low: float, high: float) -> None:
    """Refuse an interval that is not one of rates.

    >>> check_rates(0.2, 0.1)
    Traceback (most recent call last):
    baserate._errors.OptionError: the interval (0.2, 0.1) is not one of rates; give 0 ≤ low < high ≤ 1.
    """
    if not 0 <= low < high <= 1:
        raise OptionError(f"the interval ({low}, {high}) is not one of rates", remedy="give 0 ≤ low < high ≤ 1.")


def check_prevalence(name: str, value: object, *, ends: bool = False) -> None:
    """Refuse a value that is not a prevalence; with `ends`, 0 and 1 are prevalences, too.

    >>> check_prevalence("prevalence", 5e-324, ends=True)
    Traceback (most recent call last):
    baserate._errors.OptionError: prevalence is 5e-324; expected 0, 1 or a prevalence from 1e-12 to 1 - 1e-12. Give, \
for example, 0.02.
    """
    if not (ends and _is_number(value) and value in (0, 1)):
        words = f"0, 1 or {PREVALENCE.words}" if ends else PREVALENCE.words
        check_domain(name, value, PREVALENCE._replace(words=words))


ShareLike = float | str
"""A share as a number, or as text such as "5%"."""


@overload
def parse_share(value: ShareLike) -> float: ...
@overload
def parse_share(value: ShareLike | None) -> float | None: ...
@overload
def parse_share(value: Any) -> Any: ...  # noqa: ANN401  (a number, or the text of one)
def parse_share(value: Any) -> Any:
    """Return a share that is written as text as a number: "5%" or "0.05"; leave anything else as it is.

    Text that is no number stays, too: the check of the domain that follows refuses it.

    >>> parse_share("5%"), parse_share(" 0.05 "), parse_share(0.05), parse_share("often")
    (0.05, 0.05, 0.05, 'often')
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return value


@overload
def parse_shares(value: ShareLike | Mapping[Any, ShareLike] | None) -> float | Mapping[Any, float] | None: ...
@overload
def parse_shares(value: Any) -> Any: ...  # noqa: ANN401  (a share, or one for each group or class)
def parse_shares(value: Any) -> Any:
    """Return a share, or those of a mapping, as numbers where they are written as text.

    >>> parse_shares("2%"), parse_shares({"north": "1%", "coast": 0.05})
    (0.02, {'north': 0.01, 'coast': 0.05})
    """
    if isinstance(value, Mapping):
        return {group: parse_share(share) for group, share in value.items()}
    return parse_share(value)


def as_prevalence(value: Any) -> Any:  # noqa: ANN401  (a share, or one for each group)
    """Return a prevalence, or those of groups, as numbers; None stays None.

    >>> as_prevalence("2%"), as_prevalence({"north": "1%", "coast": 0.05})
    (0.02, {'north': 0.01, 'coast': 0.05})
    """
    if isinstance(value, Mapping):
        return {group: as_prevalence(share) for group, share in value.items()}
    share = parse_share(value)
    if share is not None:
        check_prevalence("prevalence", share)
    return share


def as_level(value: ShareLike) -> float:
    """Return a confidence level as a number.

    >>> as_level("90%"), as_level(0.9)
    (0.9, 0.9)
    """
    level = parse_share(value)
    check_domain("level", level, LEVEL)
    return float(level)


def is_cost(value: object) -> bool:
    """Return whether a value is a cost: finite, and neither too great nor too near to 0."""
    return _is_number(value) and COST.holds(value) and (value == 0 or abs(value) >= LEAST_COST)


def check_memory(what: str, numbers: float, remedy: str, *, width: int = 8) -> None:
    """Refuse an array of this many numbers, each of `width` bytes, before it is allocated.

    >>> check_memory("simulating 1000000000 times", 2e9, "Give fewer simulations")
    Traceback (most recent call last):
    baserate._errors.OptionError: simulating 1000000000 times takes 14.9 GiB of memory; expected at most 4 GiB. Give \
fewer simulations.
    """
    needed = numbers * width
    if needed > MEMORY:
        raise OptionError(
            f"{what} takes {needed / 2**30:,.1f} GiB of memory; expected at most {MEMORY / 2**30:g} GiB. {remedy}."
        )


def _is_number(value: object, *, whole: bool = False) -> TypeGuard[float]:
    """Return whether a value is a finite number, and no boolean."""
    # True is an Integral in Python; Decimal is no Real, and does not mix with floats.
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        return False
    number: Any = value
    # Compared, not converted by isfinite: an int beyond float64 would raise OverflowError.
    return bool(-inf < number < inf)
