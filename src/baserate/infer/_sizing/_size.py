"""How many rows are needed for an interval of a wanted half-width, and what such an answer holds.

Half-width is half the distance between the ends of the interval, which need not lie evenly about the value. It is that
of the interval which would be found if exactly what is expected were seen, fractions of rows included: so it falls
steadily with the number of rows, and the smallest number that will do is well defined. A sample that turns out
otherwise than expected gives a somewhat wider or narrower interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from numbers import Real

from baserate._domains import HALF_WIDTH, LEVEL, SHARE, check_domain
from baserate._errors import OptionError
from baserate.infer import _auc, _binomial
from baserate.infer._auc import Area, exponential_variance, newcombe_variance
from baserate.infer._binomial import Share, interval
from baserate.measure import Measure, about, known

LARGEST = 10**12
"""Rows beyond which nobody will go."""

_AMONG = {"total": "rows", "positives": "positives", "negatives": "negatives", "flagged": "flagged", "passed": "passed"}
_EACH = 2
"""Rows of each class below which no AUC has a variance."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows are needed, and what they would reach.

    Classes are as many as the prevalence leads one to expect; chance brings a few more or fewer.

    >>> found = size_of_share("sensitivity", 0.9, half_width=0.05, prevalence=0.1)
    >>> found.rows, found.trials, found.among, round(found.half_width, 4), found.how
    (1410, 141, 'positives', 0.05, 'Wilson')
    """

    rows: int
    positives: int | None
    """None where the prevalence is not known."""
    negatives: int | None
    trials: int | None = None
    """Of a share, the rows that count for it."""
    among: str = "rows"
    """Which rows these are."""
    samples: int = 1
    """How many samples of so many rows: two where each of two models has its own."""
    half_width: float | None = None
    power: float | None = None
    error: float | None = None
    """Standard error of what is reached, where it was simulated."""
    how: str = ""


def size_of_share(  # noqa: PLR0913  (each is something that one knows or wants)
    measure: str | Measure,
    expect: float,
    half_width: float,
    *,
    prevalence: float | None = None,
    flag_rate: float | None = None,
    level: float = 0.95,
    method: str | None = None,
) -> Size:
    r"""Rows needed to know a share to within a half-width, when so much is expected.

    Trials are found first: of sensitivity, positives, so that there must be 1/prevalence times as many rows
    [@buderer1996]; of precision, flagged rows, 1/flag rate times as many; of accuracy, all rows. The interval is that
    which the share will be given: Wilson's, and the exact one where few hits or misses are expected, unless `method`
    names another.

    >>> size_of_share("accuracy", 0.5, half_width=0.03).rows  # z²/4h² − z², Wilson's half-width solved for n
    1064
    >>> size_of_share("precision", 0.5, half_width=0.03, flag_rate=0.25).rows
    4256
    """
    function = known(measure)
    check_share("expect", expect)
    check_half_width(half_width)
    check_inside("level", level, "0.95")
    if method not in (None, *_binomial.METHODS):
        raise OptionError(f"method is {method!r}; there are {', '.join(map(repr, _binomial.METHODS))}.")
    portion = Portion.of(function, prevalence, flag_rate)

    def reached(trials: int) -> tuple[float, str]:
        low, high, how = interval(Share(expect * trials, (1 - expect) * trials), level, method)
        return (high - low) / 2, how

    trials = smallest(lambda many: reached(many)[0] <= half_width, 1)
    half, how = reached(trials)
    return portion.size(trials, half_width=half, how=how)


def size_of_auc(
    expect: float,
    half_width: float,
    *,
    prevalence: float,
    level: float = 0.95,
    method: str | None = None,
    spread_ratio: float = 1.0,
) -> Size:
    """Rows needed to know an AUC to within a half-width, when so much is expected.

    The interval is that which `infer.estimate` will give, and the variance that of normal scores in both classes
    (`expected_area`); `spread_ratio` is the standard deviation of positives over that of negatives, and matters most
    where one class is rare. Exponential scores vary as much as normal ones with a ratio of 1.1, 1.3, 1.5 and 1.8 where
    the AUC is 0.6, 0.7, 0.8 and 0.9.

    `method` names another interval. With a ratio of 1 its variance is that of exponential scores as Newcombe has it
    [@newcombe2006], and with "hanley-mcneil" that of Hanley and McNeil [@hanley1982]. There are never fewer than two
    rows of each class.

    >>> found = size_of_auc(0.8, half_width=0.03, prevalence=0.1)
    >>> found.rows, found.positives, found.negatives, found.how
    (2259, 226, 2033, 'interval of the AUC, normal scores with a spread ratio of 1')
    >>> size_of_auc(0.8, half_width=0.03, prevalence=0.1, spread_ratio=2).rows
    3906
    """
    from baserate.infer._sizing._expected_area import check_ratio  # which imports this module

    check_inside("expect", expect, "0.8")
    check_half_width(half_width)
    check_inside("prevalence", prevalence, "0.1")
    check_inside("level", level, "0.95")
    check_ratio(spread_ratio)
    limits, how = _limits(expect, method, spread_ratio)

    def reached(rows: int) -> float:
        low, high = limits(prevalence * rows, (1 - prevalence) * rows, level)
        return (high - low) / 2

    rows = smallest(lambda many: reached(many) <= half_width, least_rows(prevalence))
    return sized(rows, prevalence, half_width=reached(rows), how=how)


Limits = Callable[[float, float, float], tuple[float, float]]
"""With positives, negatives and a level, gives the interval of the AUC that is expected."""


def _limits(expect: float, method: str | None, spread_ratio: float) -> tuple[Limits, str]:
    """Return the interval of a method, and what is assumed."""
    from baserate.infer._sizing._expected_area import expected_area

    def normal(positives: float, negatives: float) -> Area:
        return expected_area(expect, positives, negatives, spread_ratio)

    assumed = f"normal scores with a spread ratio of {spread_ratio:g}"
    if method is None:
        return lambda some, others, level: _auc.usual(normal(some, others), level)[
            :2
        ], f"interval of the AUC, {assumed}"
    if method not in _auc.METHODS:
        raise OptionError(f"method is {method!r}; there are {', '.join(map(repr, _auc.METHODS))}.")
    bounds, how = _auc.METHODS[method]
    how = "Newcombe's score set" if method == "score" else how
    if spread_ratio == 1:
        variance = exponential_variance if method == "hanley-mcneil" else newcombe_variance
        return lambda some, others, level: bounds(
            Area(expect, variance(expect, some, others), some, others), level
        ), how
    if method == "hanley-mcneil":
        raise OptionError("Hanley and McNeil's formula is of exponential scores; leave spread_ratio= out.")
    return lambda some, others, level: bounds(normal(some, others), level), f"{how}, {assumed}"


@dataclass(frozen=True, slots=True)
class Portion:
    """Which rows count for a share, and how many of all they are."""

    among: str
    share: Fraction
    prevalence: float | None

    @classmethod
    def of(cls, measure: Measure, prevalence: float | None, flag_rate: float | None = None) -> Portion:
        """Find it; what must be known for it and is not is asked for."""
        told = about(measure)
        if told.share is None:
            raise OptionError(
                f"{told.name} is not a share of rows; take size_by_simulation, or size_of_auc for an AUC."
            )
        margin = told.needs[0]
        needed = {"positives": "prevalence", "negatives": "prevalence", "flagged": "flag_rate", "passed": "flag_rate"}
        given = {"prevalence": prevalence, "flag_rate": flag_rate}
        for name, value in given.items():
            if value is not None:
                check_inside(name, value, "0.1")
            elif needed.get(margin) == name:
                raise OptionError(_MISSING[name].format(measure=told.name, among=_AMONG[margin]))
        # As a fraction of what was typed: 1/0.1 is 10 then, and no row too many is asked for.
        known_share = Fraction(1) if margin == "total" else Fraction(str(float(given[needed[margin]] or 0)))
        share = 1 - known_share if margin in {"negatives", "passed"} else known_share
        return cls(_AMONG[margin], share, prevalence)

    def rows(self, trials: int) -> int:
        """Rows among which so many are expected to count."""
        return ceil(trials / self.share)

    def size(self, trials: int, **reached: object) -> Size:
        """Answer with the rows among which so many count."""
        return sized(self.rows(trials), self.prevalence, trials=trials, among=self.among, **reached)


_MISSING = {
    "prevalence": "{measure} is among {among}, so give prevalence=, the share of positives.",
    "flag_rate": (
        "{measure} is among {among} rows, so give flag_rate=, the share that is flagged: prevalence × sensitivity + "
        "(1 − prevalence) × (1 − specificity)."
    ),
}


def sized(rows: int, prevalence: float | None, **others: object) -> Size:
    """Answer with both classes as expected; so many rows that nobody will have them are refused."""
    if rows > LARGEST:
        raise OptionError(f"more than {LARGEST:.0e} rows would be needed; ask for less.")
    if prevalence is None:
        return Size(rows, None, None, **others)  # type: ignore[arg-type]  # the fields of Size
    positives = round(rows * Fraction(str(float(prevalence))))
    return Size(rows, positives, rows - positives, **others)  # type: ignore[arg-type]  # the fields of Size


def least_rows(prevalence: float, each: int = _EACH) -> int:
    """Rows in which so many of each class are expected."""
    rarer = Fraction(str(float(prevalence)))
    return ceil(each / min(rarer, 1 - rarer))


def smallest(holds: Callable[[int], bool], start: int) -> int:
    """Smallest number, from `start` on, for which something holds that keeps holding."""
    low, high = start - 1, start
    while not holds(high):
        low, high = high, 2 * high
        if high > LARGEST:
            raise OptionError(f"more than {LARGEST:.0e} rows would be needed; ask for less.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def least_from(holds: Callable[[int], bool], guess: int, least: int) -> int:
    """Smallest number of at least `least` for which something holds that keeps holding, looked for near a guess."""
    low = guess
    while low > least and holds(low):
        low //= 2
    return smallest(holds, max(low, least))


def check_share(name: str, value: float) -> None:
    """Refuse what is no share."""
    if not isinstance(value, Real) or not 0 <= value <= 1:
        raise OptionError(f"{name} is {value!r}; it is a share, so give a number from 0 to 1.")


def check_inside(name: str, value: float, example: str) -> None:
    """Refuse what is not between 0 and 1, or as good as one of them."""
    check_domain(name, value, (LEVEL if name == "level" else SHARE)._replace(example=example))


def check_half_width(value: float) -> None:
    """Refuse what is no half-width of an interval in [0, 1], or nothing to aim at."""
    if not HALF_WIDTH.holds(value) or value >= 0.5:
        raise OptionError(
            f"half_width is {value!r}; expected a number from 1e-9 to below 0.5. Give, for example, 0.03."
        )
