"""Sample size and power for a proportion: for an interval, against a goal, or for the difference of two models."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._domains import LEVEL, Domain, ShareLike, check_domain, parse_share
from baserate._errors import OptionError, advice, keyword, unknown_name
from baserate.infer._auc_intervals import CLOSED_SHARE
from baserate.infer._binomial import METHODS, Proportion, proportion_interval
from baserate.infer._sample_size import (
    MAX_ROWS,
    SampleSize,
    Sides,
    check_differ,
    check_half_width,
    check_power,
    check_shares,
    describe_sides,
    find_smallest,
    make_size,
    normal_power,
    normal_sample_size,
    quantile_of_test,
)
from baserate.measure import Measure, as_measure, describe
from baserate.read import accepts_words

_RATE_OF_MARGIN = {
    "positives": "prevalence",
    "negatives": "prevalence",
    "flagged": "flag_rate",
    "not_flagged": "flag_rate",
}
"""Rate that determines how many rows are trials of a proportion."""


@accepts_words
def sample_size_for_proportion(  # noqa: PLR0913  (each is an assumption or a goal of the study)
    measure: str | Measure,
    expect: float,
    half_width: float,
    *,
    prevalence: ShareLike | None = None,
    flag_rate: float | None = None,
    level: ShareLike = 0.95,
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
    SampleSize
        Rows, trials and the half-width reached.

    Examples
    --------
    >>> sample_size_for_proportion("accuracy", 0.5, half_width=0.03).rows  # z²/4h² − z², from Wilson's half-width
    1064
    >>> sample_size_for_proportion("precision", 0.5, half_width=0.03, flag_rate=0.25).rows
    4256
    """
    prevalence, level = parse_share(prevalence), parse_share(level)
    function = as_measure(measure)
    check_domain("expect", expect, CLOSED_SHARE)
    check_half_width(half_width)
    check_domain("level", level, LEVEL)
    if method not in (None, *METHODS):
        raise unknown_name("method", method, METHODS)
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
                f"{info.name} is not a proportion of rows",
                remedy="use sample_size_by_simulation, or sample_size_for_auc for an AUC.",
            )
        margin, options = info.needs[0], {"prevalence": prevalence, "flag_rate": flag_rate}
        check_shares(**{name: value for name, value in options.items() if value is not None})
        if margin == "total":
            return cls("rows", Fraction(1), prevalence)
        rate = _RATE_OF_MARGIN[margin]
        if options[rate] is None:
            raise OptionError(f"{info.name} is a proportion of {_ROWS[margin]}", remedy=_MISSING_OPTION[rate])
        # An exact fraction of the typed decimal: 1/0.1 is then 10, without a superfluous row from rounding.
        share = Fraction(str(float(options[rate] or 0)))
        # Result files name rows that are not flagged by the action of policies.
        among = "passed" if margin == "not_flagged" else margin
        return cls(among, 1 - share if margin in {"negatives", "not_flagged"} else share, prevalence)

    def rows(self, trials: int) -> int:
        """Return the rows among which that many trials are expected."""
        return ceil(trials / self.share)

    def size(self, trials: int, **reached: object) -> SampleSize:
        """Make the answer for that many trials."""
        return make_size(self.rows(trials), self.prevalence, trials=trials, among=self.among, **reached)


_ROWS = {
    "positives": "positives",
    "negatives": "negatives",
    "flagged": "flagged rows",
    "not_flagged": "rows not flagged",
}
_MISSING_OPTION = {
    "prevalence": f"give {keyword('prevalence')}, the share of positives.",
    "flag_rate": (
        f"give {keyword('flag_rate')}, the share that is flagged: prevalence × sensitivity + "
        "(1 − prevalence) × (1 − specificity)."
    ),
}


Trials = npt.NDArray[np.int64]

_MAX_TRIALS = 100_000
"""Trials above which the search of the exact power would take longer than a few seconds."""
_SEARCH_ALL_BELOW = 1000
_TRIALS = Domain(1, MAX_ROWS, f"a whole number from 1 to {MAX_ROWS:.0e}", "100")


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
    _check_goal(expect, goal)
    # A float is as good if it is whole: sizes may come from arithmetic.
    if not _TRIALS.holds(trials) or trials != floor(trials):
        raise OptionError(f"trials is {trials!r}; expected {_TRIALS.words}.", option="trials", value=trials)
    quantile_of_test(alpha, sides)  # raises for other numbers
    return float(_exact_power(expect, goal, np.array([trials], dtype=np.int64), alpha / sides)[0])


@accepts_words
def sample_size_for_proportion_test(  # noqa: PLR0913  (each is an assumption or a goal of the study)
    measure: str | Measure,
    expect: float,
    *,
    goal: float,
    power: float,
    prevalence: ShareLike | None = None,
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
    prevalence, flag_rate
        Shares of positives and of flagged rows, as in `sample_size_for_proportion`.
    alpha, sides
        Options of the test, as in `power_of_proportion_test`.

    Returns
    -------
    SampleSize
        Rows, trials and the power reached.

    Examples
    --------
    >>> sample_size_for_proportion_test("sensitivity", 0.9, goal=0.8, power=0.8, prevalence=0.1).trials
    113
    """
    prevalence = parse_share(prevalence)
    _check_goal(expect, goal)
    check_power(power, alpha)
    portion = TrialShare.of(as_measure(measure), prevalence, flag_rate)
    spread = [share * (1 - share) for share in (goal, expect)]
    approximate = normal_sample_size(expect - goal, *spread, z=quantile_of_test(alpha, sides), power=power)
    remedy = "choose a lower power, or a goal farther away."
    if approximate > _MAX_TRIALS:
        raise OptionError(f"about {approximate:.0f} trials would be needed", remedy=remedy)
    first = floor(approximate / 2) if approximate >= _SEARCH_ALL_BELOW else 1
    candidates = np.arange(first, 2 * ceil(approximate) + 200, dtype=np.int64)
    powers = _exact_power(expect, goal, candidates, alpha / sides)
    lacking = np.flatnonzero(powers < power)
    start = int(lacking[-1]) + 1 if len(lacking) else 0
    if start == len(candidates):
        raise OptionError(f"even {candidates[-1]} trials do not reach the power", remedy=remedy)
    by_trials = dict(zip(candidates.tolist(), powers.tolist(), strict=True))
    trials, reached = _average_over_trials(by_trials, start, portion, power)
    return portion.size(trials, power=reached, how=f"exact binomial test, {describe_sides(sides)}")


def power_of_proportion_difference(  # noqa: PLR0913  (each is an assumption or a goal of the study)
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
    _check_values(first=first, second=second)
    if not 0 < trials < np.inf:
        raise OptionError(f"trials is {trials!r}; expected a number above 0.", option="trials", value=trials)
    zero, real = _difference_variances(first, second, paired=paired, discordance=discordance)
    return normal_power(first - second, zero / trials, real / trials, z=quantile_of_test(alpha, sides))


@accepts_words
def sample_size_for_proportion_difference(  # noqa: PLR0913  (each is an assumption or a goal of the study)
    measure: str | Measure,
    first: float,
    second: float,
    *,
    power: float,
    prevalence: ShareLike | None = None,
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
    alpha, sides
        Options of the test, as in `power_of_proportion_difference`.

    Returns
    -------
    SampleSize
        Rows, trials and the power reached.

    Examples
    --------
    >>> sample_size_for_proportion_difference("accuracy", 0.5, 0.75, power=0.9, paired=False).rows  # R: 76.7
    77
    """
    prevalence = parse_share(prevalence)
    _check_values(first=first, second=second)
    function = as_measure(measure)
    if set(describe(function).needs) & {"flagged", "not_flagged"}:
        raise OptionError(
            f"{describe(function).name} is a proportion of the rows that a model flags or does not flag, and two "
            "models do not flag the same rows",
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


def _average_over_trials(powers: dict[int, float], start: int, portion: TrialShare, power: float) -> tuple[int, float]:
    """Find the trials from which on the power is reached on average over the random number of trials among all rows.

    Numbers of trials outside of the candidates have the power of the nearest one.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    candidates, values = np.array(list(powers)), np.array(list(powers.values()))
    share = float(portion.share)

    def power_at(trials: int) -> float:
        if portion.share == 1:
            return powers[trials]
        rows = portion.rows(trials)
        # Numbers farther than eight standard deviations from the mean have a probability near 1e-15.
        spread = 8 * sqrt(rows * share * (1 - share)) + 8
        near = np.arange(max(floor(rows * share - spread), 0), min(ceil(rows * share + spread), rows) + 1)
        # In logarithms, since binomial coefficients of thousands of rows overflow.
        chance = gammaln(rows + 1) - gammaln(near + 1) - gammaln(rows - near + 1)
        chance = np.exp(chance + xlogy(near, share) + xlog1py(rows - near, -share))
        return float(np.sum(chance * np.interp(near, candidates, values)) / chance.sum())

    most = int(candidates[-1])
    trials = next((size for size in range(int(candidates[start]), most + 1) if power_at(size) >= power), most)
    return trials, power_at(trials)


def _difference_variances(
    first: float, second: float, *, paired: bool, discordance: float | None
) -> tuple[float, float]:
    """Return the variance of the difference for one trial, under the null hypothesis and under the alternative."""
    if not paired:
        if discordance is not None:
            raise OptionError(
                "discordance requires two models on the same rows",
                remedy=f"leave {keyword('discordance')} out, or evaluate both models on the same rows.",
                option="discordance",
                value=discordance,
            )
        mean = (first + second) / 2
        return 2 * mean * (1 - mean), first * (1 - first) + second * (1 - second)
    discordant = first * (1 - second) + second * (1 - first) if discordance is None else discordance
    least, most = abs(first - second), min(first + second, 2 - first - second)
    # Tolerance, since 0.9 − 0.8 is not exactly 0.1.
    if not least - 1e-9 <= discordant <= most + 1e-9:
        raise OptionError(
            f"discordance is {discordant}; models with proportions {first} and {second} differ on {least:g} to "
            f"{most:g} of the trials.",
            remedy="Give a number between these.",
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


def _check_values(**values: float) -> None:
    """Raise unless two proportions, named by their options, are valid and differ."""
    for name, value in values.items():
        check_domain(name, value, CLOSED_SHARE)
    check_differ(**values)


def _check_goal(expect: float, goal: float) -> None:
    _check_values(expect=expect, goal=goal)
    if not 0 < goal < 1:
        raise OptionError(
            f"goal is {goal!r}; expected a number between 0 and 1.",
            remedy="Give, for example, 0.8.",
            option="goal",
            value=goal,
        )
