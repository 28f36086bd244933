"""Sample size and power for a proportion: for an interval, against a goal, or for the difference of two models."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt
from numbers import Real

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._errors import OptionError, advice, keyword
from baserate.infer import _binomial
from baserate.infer._binomial import Proportion, proportion_interval
from baserate.infer._sample_size import (
    MAX_ROWS,
    SampleSize,
    Sides,
    check_half_width,
    check_open_share,
    check_power,
    check_share,
    describe_sides,
    find_smallest,
    make_size,
    normal_power,
    normal_sample_size,
    quantile_of_test,
)
from baserate.measure import Measure, as_measure, describe

_ROWS_THAT_COUNT = {
    "total": "rows",
    "positives": "positives",
    "negatives": "negatives",
    "flagged": "flagged",
    "passed": "passed",
}


def sample_size_for_proportion(  # noqa: PLR0913  (each is something that one knows or wants)
    measure: str | Measure,
    expect: float,
    half_width: float,
    *,
    prevalence: float | None = None,
    flag_rate: float | None = None,
    level: float = 0.95,
    method: str | None = None,
) -> SampleSize:
    """Find the rows needed to estimate a proportion to within a half-width.

    Trials are computed first: for sensitivity they are positives, so that 1/prevalence times as many rows are needed
    [@buderer1996]; for precision flagged rows, 1/flag rate times as many; for accuracy all rows.

    Parameters
    ----------
    measure
        Name or function of a measure that is a proportion.
    expect
        Expected value.
    half_width
        Half-width of the interval.
    prevalence
        Share of positives, for measures of one class.
    flag_rate
        Share of flagged rows, for measures of one decision.
    level
        Confidence level.
    method
        Interval method; by default Wilson's, or the exact one where few hits or misses are expected.

    Returns
    -------
    Size
        Rows, trials and the half-width reached.

    Examples
    --------
    >>> sample_size_for_proportion("accuracy", 0.5, half_width=0.03).rows  # z²/4h² − z², from Wilson's half-width
    1064
    >>> sample_size_for_proportion("precision", 0.5, half_width=0.03, flag_rate=0.25).rows
    4256
    """
    function = as_measure(measure)
    check_share("expect", expect)
    check_half_width(half_width)
    check_open_share("level", level, "0.95")
    if method not in (None, *_binomial.METHODS):
        raise OptionError(
            f"method is {method!r}; there are {', '.join(map(repr, _binomial.METHODS))}.", option="method", value=method
        )
    portion = TrialShare.of(function, prevalence, flag_rate)

    def half_width_at(trials: int) -> tuple[float, str]:
        low, high, how = proportion_interval(Proportion(expect * trials, (1 - expect) * trials), level, method)
        return (high - low) / 2, how

    trials = find_smallest(lambda many: half_width_at(many)[0] <= half_width, 1)
    half, how = half_width_at(trials)
    return portion.size(trials, half_width=half, how=how)


@dataclass(frozen=True, slots=True)
class TrialShare:
    """Which rows are trials of a proportion, and their share of all rows."""

    among: str
    share: Fraction
    prevalence: float | None

    @classmethod
    def of(cls, measure: Measure, prevalence: float | None, flag_rate: float | None = None) -> TrialShare:
        """Find the trials of a measure; raise if a rate that this requires is missing."""
        info = describe(measure)
        if info.share is None:
            raise OptionError(
                f"{info.name} is not a share of rows", remedy="take size_by_simulation, or size_of_auc for an AUC."
            )
        margin = info.needs[0]
        needed = {"positives": "prevalence", "negatives": "prevalence", "flagged": "flag_rate", "passed": "flag_rate"}
        options = {"prevalence": prevalence, "flag_rate": flag_rate}
        for name, value in options.items():
            if value is not None:
                check_open_share(name, value, "0.1")
            elif needed.get(margin) == name:
                raise OptionError(_MISSING_OPTION[name].format(measure=info.name, among=_ROWS_THAT_COUNT[margin]))
        # An exact fraction of the typed decimal: 1/0.1 is then 10, without a superfluous row from rounding.
        known_share = Fraction(1) if margin == "total" else Fraction(str(float(options[needed[margin]] or 0)))
        share = 1 - known_share if margin in {"negatives", "passed"} else known_share
        return cls(_ROWS_THAT_COUNT[margin], share, prevalence)

    def rows(self, trials: int) -> int:
        """Return the rows among which that many trials are expected."""
        return ceil(trials / self.share)

    def size(self, trials: int, **reached: object) -> SampleSize:
        """Make the answer for that many trials."""
        return make_size(self.rows(trials), self.prevalence, trials=trials, among=self.among, **reached)


_MISSING_OPTION = {
    "prevalence": "{measure} is among {among}, so give " + keyword("prevalence") + ", the share of positives.",
    "flag_rate": (
        "{measure} is among {among} rows, so give "
        + keyword("flag_rate")
        + ", the share that is flagged: prevalence × sensitivity + "
        "(1 − prevalence) × (1 − specificity)."
    ),
}


Trials = npt.NDArray[np.int64]

_MAX_TRIALS = 100_000
"""Trials above which the search of the exact power would take longer than a few seconds."""
_SEARCH_ALL_BELOW = 1000


def power_of_proportion_test(
    expect: float, *, goal: float, trials: int, alpha: float = 0.05, sides: Sides = 2
) -> float:
    """Return the power of the exact binomial test that a proportion differs from a goal.

    Parameters
    ----------
    expect
        Expected value.
    goal
        Value under the null hypothesis.
    trials
        Number of trials.
    alpha
        Significance level.
    sides
        1 or 2.

    Returns
    -------
    float
        Probability to reject on the side of the expected value.

    Examples
    --------
    >>> round(power_of_proportion_test(0.9, goal=0.8, trials=100, alpha=0.025, sides=1), 4)
    0.703
    """
    _check_alternative(expect, goal, "expect", "goal")
    if not isinstance(trials, Real) or not 1 <= trials <= MAX_ROWS or trials != floor(trials):
        raise OptionError(
            f"trials is {trials!r}",
            remedy=f"give a whole number from 1 to {MAX_ROWS:.0e}.",
            option="trials",
            value=trials,
        )
    check_open_share("alpha", alpha, "0.05")
    describe_sides(sides)
    return float(_exact_power(expect, goal, np.array([trials], dtype=np.int64), alpha / sides)[0])


def sample_size_for_proportion_test(  # noqa: PLR0913  (each is something that one knows or wants)
    measure: str | Measure,
    expect: float,
    *,
    goal: float,
    power: float,
    prevalence: float | None = None,
    flag_rate: float | None = None,
    alpha: float = 0.05,
    sides: Sides = 2,
) -> SampleSize:
    """Find the rows needed to show that a proportion exceeds, or falls below, a goal by the exact binomial test.

    Power does not increase with every trial, since hits are whole numbers; the answer and every larger number of trials
    have the power. Where the number of trials among the rows is random, the mean power over that number is reached. The
    search runs between half and twice the number of the normal approximation, from 1 on where that is below 1000.

    Parameters
    ----------
    measure
        Name or function of a measure that is a proportion.
    expect
        Expected value.
    goal
        Value under the null hypothesis.
    power
        Power of the test.
    prevalence
        Share of positives, for measures of one class.
    flag_rate
        Share of flagged rows, for measures of one decision.
    alpha
        Significance level.
    sides
        1 or 2.

    Returns
    -------
    Size
        Rows, trials and the power reached.

    Examples
    --------
    >>> sample_size_for_proportion_test("sensitivity", 0.9, goal=0.8, power=0.8, prevalence=0.1).trials
    113
    """
    _check_alternative(expect, goal, "expect", "goal")
    check_power(power, alpha)
    portion = TrialShare.of(as_measure(measure), prevalence, flag_rate)
    spread = [share * (1 - share) for share in (goal, expect)]
    about_so_many = normal_sample_size(expect - goal, *spread, z=quantile_of_test(alpha, sides), power=power)
    if about_so_many > _MAX_TRIALS:
        raise OptionError(
            f"about {about_so_many:.0f} trials would be needed", remedy="ask for less, or a goal farther away."
        )
    tried = np.arange(_first_trials(about_so_many), 2 * ceil(about_so_many) + 200, dtype=np.int64)
    powers = _exact_power(expect, goal, tried, alpha / sides)
    lacking = np.flatnonzero(powers < power)
    place = int(lacking[-1]) + 1 if len(lacking) else 0
    if place == len(tried):
        raise OptionError(f"even {tried[-1]} trials would not do", remedy="ask for less, or a goal farther away.")
    trials, reached = _average_over_trials(
        dict(zip(tried.tolist(), powers.tolist(), strict=True)), place, portion, power
    )
    return portion.size(trials, power=reached, how=f"exact binomial test, {describe_sides(sides)}")


def power_of_proportion_difference(  # noqa: PLR0913  (each is something that one knows or wants)
    first: float,
    second: float,
    *,
    trials: float,
    paired: bool = True,
    discordance: float | None = None,
    alpha: float = 0.05,
    sides: Sides = 2,
) -> float:
    r"""Return the power of a test that two proportions differ.

    On the same rows, of McNemar's test: :math:`Φ\big((\sqrt n|δ|-z\sqrt ψ)/\sqrt{ψ-δ^2}\big)` [@connor1987]. On
    separate rows, as many for each, of the usual test of two proportions [@fleiss2003].

    Parameters
    ----------
    first, second
        Both expected values.
    trials
        Number of trials.
    paired
        Whether both models are evaluated on the same rows.
    discordance
        Share ψ of trials on which the models differ; by default that of models with independent errors.
    alpha
        Significance level.
    sides
        1 or 2.

    Returns
    -------
    float
        Probability to reject.

    Examples
    --------
    >>> round(power_of_proportion_difference(0.5, 0.75, trials=50, paired=False), 3)  # R: power.prop.test
    0.74
    """
    _check_alternative(first, second, "first", "second")
    if not 0 < trials < np.inf:
        raise OptionError(f"trials is {trials!r}", remedy="give a number above 0.", option="trials", value=trials)
    zero, real = _difference_variances(first, second, paired=paired, discordance=discordance)
    return normal_power(first - second, zero / trials, real / trials, z=quantile_of_test(alpha, sides))


def sample_size_for_proportion_difference(  # noqa: PLR0913  (each is something that one knows or wants)
    measure: str | Measure,
    first: float,
    second: float,
    *,
    power: float,
    prevalence: float | None = None,
    paired: bool = True,
    discordance: float | None = None,
    alpha: float = 0.05,
    sides: Sides = 2,
) -> SampleSize:
    """Find the rows needed to show that a proportion differs between two models.

    Parameters
    ----------
    measure
        Name or function of a proportion of positives, of negatives or of all rows: two models flag different rows.
    first, second
        Both expected values.
    power
        Power of the test.
    prevalence
        Share of positives, for measures of one class.
    paired
        Whether both models are evaluated on the same rows; if not, the answer holds for each.
    discordance
        Share of trials on which the models differ; by default that of models with independent errors.
    alpha
        Significance level.
    sides
        1 or 2.

    Returns
    -------
    Size
        Rows, trials and the power reached.

    Examples
    --------
    >>> sample_size_for_proportion_difference("accuracy", 0.5, 0.75, power=0.9, paired=False).rows  # R: 76.7
    77
    """
    _check_alternative(first, second, "first", "second")
    function = as_measure(measure)
    if set(describe(function).needs) & {"flagged", "passed"}:
        name = describe(function).name
        raise OptionError(
            f"{name} is among those that a model flags or passes, and two models do not flag the same rows",
            remedy="compare sensitivity and specificity, "
            + advice("goal of one model", "or take sample_size_for_proportion_test for one model."),
        )
    portion = TrialShare.of(function, prevalence)
    zero, real = _difference_variances(first, second, paired=paired, discordance=discordance)
    z = quantile_of_test(alpha, sides)
    needed = normal_sample_size(first - second, zero, real, z=z, power=check_power(power, alpha))
    trials = max(ceil(needed), 1)
    reached = normal_power(first - second, zero / trials, real / trials, z=z)
    test = "McNemar's test" if paired else "test of two proportions"
    return portion.size(trials, power=reached, samples=1 if paired else 2, how=f"{test}, {describe_sides(sides)}")


def _average_over_trials(powers: dict[int, float], place: int, portion: TrialShare, power: float) -> tuple[int, float]:
    """Find the trials from which on the power is reached on average over the random number of trials among all rows.

    Numbers of trials outside of those tried have the power of the nearest one.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    tried = np.array(list(powers))
    values = np.array(list(powers.values()))
    share = float(portion.share)

    def power_at(trials: int) -> float:
        if portion.share == 1:
            return powers[trials]
        rows = portion.rows(trials)
        spread = 8 * sqrt(rows * share * (1 - share)) + 8
        near = np.arange(max(floor(rows * share - spread), 0), min(ceil(rows * share + spread), rows) + 1)
        chance = gammaln(rows + 1) - gammaln(near + 1) - gammaln(rows - near + 1)
        chance = np.exp(chance + xlogy(near, share) + xlog1py(rows - near, -share))
        return float(np.sum(chance * np.interp(near, tried, values)) / chance.sum())

    start = int(tried[place])
    most = int(tried[-1])
    trials = next((many for many in range(start, most + 1) if power_at(many) >= power), most)
    return trials, power_at(trials)


def _first_trials(about_so_many: float) -> int:
    return floor(about_so_many / 2) if about_so_many >= _SEARCH_ALL_BELOW else 1


def _difference_variances(
    first: float, second: float, *, paired: bool, discordance: float | None
) -> tuple[float, float]:
    """Return the variance of the difference for one trial, under the null hypothesis and under the alternative."""
    if not paired:
        if discordance is not None:
            raise OptionError("discordance is of models on the same rows", remedy="leave it out, or pair them.")
        mean = (first + second) / 2
        return 2 * mean * (1 - mean), first * (1 - first) + second * (1 - second)
    discordant = first * (1 - second) + second * (1 - first) if discordance is None else discordance
    least, most = abs(first - second), min(first + second, 2 - first - second)
    # Tolerance, since 0.9 − 0.8 is not exactly 0.1.
    if not least - 1e-9 <= discordant <= most + 1e-9:
        raise OptionError(
            f"discordance is {discordant}; models with shares {first} and {second} differ on {least:g} to {most:g} of "
            f"the "
            "trials, so give a number between these.",
            option="discordance",
            value=discordant,
        )
    return discordant, max(discordant - (first - second) ** 2, 0.0)


def _exact_power(expect: float, goal: float, trials: Trials, tail: float) -> Floats:
    """Return the probability to reject the goal, for each number of trials."""
    from scipy.special import bdtrc

    if expect < goal:  # by symmetry, count misses in place of hits
        expect, goal = 1 - expect, 1 - goal
    least = _critical_hits(goal, trials, tail)
    power: Floats = np.where(least > trials, 0.0, bdtrc(least - 1, trials, expect))
    return power


def _critical_hits(goal: float, trials: Trials, tail: float) -> Trials:
    """Return the fewest hits that have a probability of at most `tail` under the goal, for each number of trials."""
    from scipy.special import bdtrc, bdtrik

    def rare(hits: Trials) -> npt.NDArray[np.bool_]:
        # Tolerance, since 1 − 0.95 exceeds 0.05.
        is_rare: npt.NDArray[np.bool_] = np.where(hits < 1, 1.0, bdtrc(hits - 1, trials, goal)) <= tail * (1 + 1e-12)
        return is_rare

    # The inverse is exact but for rounding, so these loops run once or twice.
    inverse = np.nan_to_num(bdtrik(1 - tail, trials, goal))
    least: Trials = np.clip(np.ceil(inverse), 0, trials).astype(np.int64) + 1
    while not (enough := rare(least)).all():
        least += ~enough
    while (more := rare(least - 1)).any():
        least -= more
    return least


def _check_alternative(one: float, other: float, first: str, second: str) -> None:
    check_share(first, one)
    check_share(second, other)
    if one == other:
        raise OptionError(f"{first} and {second} are both {one}; no number of rows would show a difference.")
    if second == "goal" and not 0 < other < 1:
        raise OptionError(
            f"goal is {other!r}", remedy="give a number between 0 and 1, for example 0.8.", option="goal", value=other
        )
