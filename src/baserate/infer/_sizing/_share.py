"""Power and size to show that a share differs from a goal, or from that of another model."""

from __future__ import annotations

from math import ceil, floor, sqrt
from numbers import Real

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._errors import OptionError
from baserate.infer._sizing._power import Sides, checked_power, normal_power, rows_needed, told_sides, z_of
from baserate.infer._sizing._size import LARGEST, Portion, Size, check_inside, check_share
from baserate.measure import Measure, about, known

Trials = npt.NDArray[np.int64]

_MANY = 100_000
"""Trials beyond which the exact power is not searched: it would take longer than a few seconds."""
_FEW = 1000


def power_of_share(expect: float, *, goal: float, trials: int, alpha: float = 0.05, sides: Sides = 2) -> float:
    """Chance that the exact binomial test shows a share to be on that side of a goal on which it is expected.

    >>> round(power_of_share(0.9, goal=0.8, trials=100, alpha=0.025, sides=1), 4)
    0.703
    """
    _check_two(expect, goal, "expect", "goal")
    if not isinstance(trials, Real) or not 1 <= trials <= LARGEST or trials != floor(trials):
        raise OptionError(f"trials is {trials!r}; give a whole number from 1 to {LARGEST:.0e}.")
    check_inside("alpha", alpha, "0.05")
    told_sides(sides)
    return float(_exact_power(expect, goal, np.array([trials], dtype=np.int64), alpha / sides)[0])


def size_to_show_share(  # noqa: PLR0913  (each is something that one knows or wants)
    measure: str | Measure,
    expect: float,
    *,
    goal: float,
    power: float,
    prevalence: float | None = None,
    flag_rate: float | None = None,
    alpha: float = 0.05,
    sides: Sides = 2,
) -> Size:
    """Rows needed to show, with that power, that a share is above a goal, or below it, by the exact binomial test.

    Power does not grow with every trial, since hits are whole numbers and the test spends less than α on most of them;
    so many trials are returned that this and every larger number has the power, and more where the number of rows that
    count for the share is left to chance: then it is the mean power over that number that is reached. It is looked for
    between half and twice the number of the normal approximation, from 1 on where that is below 1000.

    >>> size_to_show_share("sensitivity", 0.9, goal=0.8, power=0.8, prevalence=0.1).trials
    113
    """
    _check_two(expect, goal, "expect", "goal")
    checked_power(power, alpha)
    portion = Portion.of(known(measure), prevalence, flag_rate)
    spread = [share * (1 - share) for share in (goal, expect)]
    about_so_many = rows_needed(expect - goal, *spread, z=z_of(alpha, sides), power=power)
    if about_so_many > _MANY:
        raise OptionError(f"about {about_so_many:.0f} trials would be needed; ask for less, or a goal farther away.")
    tried = np.arange(_first(about_so_many), 2 * ceil(about_so_many) + 200, dtype=np.int64)
    found = _exact_power(expect, goal, tried, alpha / sides)
    lacking = np.flatnonzero(found < power)
    place = int(lacking[-1]) + 1 if len(lacking) else 0
    if place == len(tried):
        raise OptionError(f"even {tried[-1]} trials would not do; ask for less, or a goal farther away.")
    trials, reached = _averaged(dict(zip(tried.tolist(), found.tolist(), strict=True)), place, portion, power)
    return portion.size(trials, power=reached, how=f"exact binomial test, {told_sides(sides)}")


def power_of_share_difference(  # noqa: PLR0913  (each is something that one knows or wants)
    first: float,
    second: float,
    *,
    trials: float,
    paired: bool = True,
    discordance: float | None = None,
    alpha: float = 0.05,
    sides: Sides = 2,
) -> float:
    r"""Chance to show that two shares differ.

    On the same rows, by McNemar's test: :math:`Φ\big((\sqrt n|δ|-z\sqrt ψ)/\sqrt{ψ-δ^2}\big)` [@connor1987], where the
    discordance ψ is the share of trials on which the models differ; unless it is given it is that of models which err
    independently. On rows of their own, each as many, by the usual test of two proportions [@fleiss2003].

    >>> round(power_of_share_difference(0.5, 0.75, trials=50, paired=False), 3)  # R: power.prop.test
    0.74
    """
    _check_two(first, second, "first", "second")
    if not 0 < trials < np.inf:
        raise OptionError(f"trials is {trials!r}; give a number above 0.")
    zero, real = _spreads(first, second, paired=paired, discordance=discordance)
    return normal_power(first - second, zero / trials, real / trials, z=z_of(alpha, sides))


def size_to_show_share_difference(  # noqa: PLR0913  (each is something that one knows or wants)
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
) -> Size:
    """Rows needed to show, with that power, that a share differs between two models.

    The share must be one of positives, of negatives or of all rows: what is flagged is not the same for both models.
    If each model has rows of its own, so many are needed for each.

    >>> size_to_show_share_difference("accuracy", 0.5, 0.75, power=0.9, paired=False).rows  # R: power.prop.test, 76.7
    77
    """
    _check_two(first, second, "first", "second")
    function = known(measure)
    if set(about(function).needs) & {"flagged", "passed"}:
        name = about(function).name
        raise OptionError(
            f"{name} is among those that a model flags or passes, and two models do not flag the same rows; compare "
            "sensitivity and specificity, or take size_to_show_share for one model."
        )
    portion = Portion.of(function, prevalence)
    zero, real = _spreads(first, second, paired=paired, discordance=discordance)
    z = z_of(alpha, sides)
    needed = rows_needed(first - second, zero, real, z=z, power=checked_power(power, alpha))
    trials = max(ceil(needed), 1)
    reached = normal_power(first - second, zero / trials, real / trials, z=z)
    test = "McNemar's test" if paired else "test of two proportions"
    return portion.size(trials, power=reached, samples=1 if paired else 2, how=f"{test}, {told_sides(sides)}")


def _averaged(powers: dict[int, float], place: int, portion: Portion, power: float) -> tuple[int, float]:
    """Trials from which on the power is reached, averaged over how many of all rows count for the share.

    Trials beside those that were tried have the power of the nearest that was.
    """
    from scipy.special import gammaln, xlog1py, xlogy

    tried = np.array(list(powers))
    values = np.array(list(powers.values()))
    share = float(portion.share)

    def reached(trials: int) -> float:
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
    trials = next((many for many in range(start, most + 1) if reached(many) >= power), most)
    return trials, reached(trials)


def _first(about_so_many: float) -> int:
    return floor(about_so_many / 2) if about_so_many >= _FEW else 1


def _spreads(first: float, second: float, *, paired: bool, discordance: float | None) -> tuple[float, float]:
    """Variance of the difference for one trial: if there were none, and as it is."""
    if not paired:
        if discordance is not None:
            raise OptionError("discordance is of models on the same rows; leave it out, or pair them.")
        mean = (first + second) / 2
        return 2 * mean * (1 - mean), first * (1 - first) + second * (1 - second)
    found = first * (1 - second) + second * (1 - first) if discordance is None else discordance
    least, most = abs(first - second), min(first + second, 2 - first - second)
    # A hair of room, since people write 0.1 for 0.9 − 0.8.
    if not least - 1e-9 <= found <= most + 1e-9:
        raise OptionError(
            f"discordance is {found}; models with shares {first} and {second} differ on {least:g} to {most:g} of the "
            "trials, so give a number between these."
        )
    return found, max(found - (first - second) ** 2, 0.0)


def _exact_power(expect: float, goal: float, trials: Trials, tail: float) -> Floats:
    """Chance to reject the goal, for each number of trials."""
    from scipy.special import bdtrc

    if expect < goal:  # count misses in place of hits
        expect, goal = 1 - expect, 1 - goal
    least = _critical(goal, trials, tail)
    found: Floats = np.where(least > trials, 0.0, bdtrc(least - 1, trials, expect))
    return found


def _critical(goal: float, trials: Trials, tail: float) -> Trials:
    """Fewest hits that so many trials of the goal reach with a chance of no more than `tail`."""
    from scipy.special import bdtrc, bdtrik

    def rare(hits: Trials) -> npt.NDArray[np.bool_]:
        # A hair of room, since 1 − 0.95 is more than 0.05.
        found: npt.NDArray[np.bool_] = np.where(hits < 1, 1.0, bdtrc(hits - 1, trials, goal)) <= tail * (1 + 1e-12)
        return found

    # The inverse is exact but for rounding, so these loops run once or twice.
    inverse = np.nan_to_num(bdtrik(1 - tail, trials, goal))
    least: Trials = np.clip(np.ceil(inverse), 0, trials).astype(np.int64) + 1
    while not (enough := rare(least)).all():
        least += ~enough
    while (more := rare(least - 1)).any():
        least -= more
    return least


def _check_two(one: float, other: float, first: str, second: str) -> None:
    check_share(first, one)
    check_share(second, other)
    if one == other:
        raise OptionError(f"{first} and {second} are both {one}; no number of rows would show a difference.")
    if second == "goal" and not 0 < other < 1:
        raise OptionError(f"goal is {other!r}; give a number between 0 and 1, for example 0.8.")
