"""Families of populations: score distributions whose curves are known in closed form."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._domains import MEAN, SHAPE, SPREAD, Domain, check_domain
from baserate._errors import OptionError, nearest, unknown_name
from baserate._numeric.distributions import Beta, Distribution, Linear, LogitNormal, Normal, Point
from baserate._population import Population

Pair = tuple[float, float]


def linear(*, prevalence: float = 0.5) -> Population:
    """Make a population with linear densities on [0, 1]: 2 − 2x for negatives, 2x for positives.

    Every curve can be derived by hand: TPR 1 − t², FPR (1 − t)², AUC 5/6. At prevalence ½ the score is calibrated.

    Parameters
    ----------
    prevalence
        Share of positives.

    Examples
    --------
    >>> linear().posterior(0.3)
    0.3
    """
    return Population(Linear(rising=False), Linear(rising=True), prevalence)


def binormal(*, means: Pair = (0.0, 1.0), sds: Pair = (1.0, 1.0), prevalence: float = 0.5) -> Population:
    """Make a population with normal scores.

    Parameters
    ----------
    means
        Means of negatives and of positives.
    sds
        Standard deviations of negatives and of positives.
    prevalence
        Share of positives.

    Examples
    --------
    >>> round(binormal(means=(0, 1)).auc, 6)
    0.76025
    """
    (low, high), (low_sd, high_sd) = _pair("means", means, MEAN), _pair("sds", sds, SPREAD)
    return Population(Normal(low, low_sd), Normal(high, high_sd), prevalence)


def logit_normal(*, means: Pair = (-1.0, 1.0), sds: Pair = (1.0, 1.0), prevalence: float = 0.5) -> Population:
    """Make a population with normal log-odds: the curves of `binormal`, on the scale of a probability.

    Parameters
    ----------
    means
        Means of the log-odds of negatives and of positives.
    sds
        Standard deviations of the log-odds of negatives and of positives.
    prevalence
        Share of positives.

    Examples
    --------
    >>> round(logit_normal(means=(0, 1)).auc, 6)
    0.76025
    """
    (low, high), (low_sd, high_sd) = _pair("means", means, MEAN), _pair("sds", sds, SPREAD)
    return Population(LogitNormal(low, low_sd), LogitNormal(high, high_sd), prevalence)


def beta(*, negative: Pair = (1.0, 2.0), positive: Pair = (2.0, 1.0), prevalence: float = 0.5) -> Population:
    """Make a population with beta distributions of scores on [0, 1].

    Parameters
    ----------
    negative
        Two shape parameters for negatives.
    positive
        Two shape parameters for positives.
    prevalence
        Share of positives.

    Examples
    --------
    >>> round(beta(negative=(1, 4), positive=(1, 1)).auc, 12)
    0.8
    """
    return Population(Beta(*_pair("negative", negative, SHAPE)), Beta(*_pair("positive", positive, SHAPE)), prevalence)


LEVELS: dict[str, tuple[Distribution, Distribution]] = {
    "random": (Normal(0, 1), Normal(0, 1)),
    "ER-": (Beta(1, 1), Beta(4, 1)),
    "ER+": (Beta(1, 4), Beta(1, 1)),
    "excellent": (Normal(0, 1), Normal(3, 1)),
    "perfect": (Point(0), Point(1)),
}
"""Five levels of performance, from none to perfect; scores of negatives, then of positives [@saito2015]."""

_SPELLINGS = {
    "er−": "ER-",
    "er–": "ER-",
    "poor early retrieval": "ER-",
    "poor": "ER-",
    "good early retrieval": "ER+",
    "good": "ER+",
}


def retrieval(level: str, *, prevalence: float = 0.5) -> Population:
    """Make a population with one of Saito and Rehmsmeier's five levels of performance.

    Their ROC curves do not depend on the prevalence; their precision–recall curves do [@saito2015].

    Parameters
    ----------
    level
        `random`; `ER-`, poor early retrieval; `ER+`, good early retrieval, with the AUC of `ER-`; `excellent`; or
        `perfect`.
    prevalence
        Share of positives.

    Examples
    --------
    >>> [round(retrieval(level).auc, 4) for level in LEVELS]
    [0.5, 0.8, 0.8, 0.9831, 1.0]
    """
    spellings = {name.lower(): name for name in LEVELS} | _SPELLINGS
    plain = " ".join(str(level).lower().replace("_", " ").split())
    if plain not in spellings:
        raise unknown_name("level", level, LEVELS, near=[spellings[each] for each in nearest(plain, spellings)])
    negative, positive = LEVELS[spellings[plain]]
    return Population(negative, positive, prevalence)


FAMILIES: dict[str, Callable[..., Population]] = {
    "linear": linear,
    "binormal": binormal,
    "logit_normal": logit_normal,
    "beta": beta,
    "retrieval": retrieval,
}
"""Makers by name."""


def _pair(name: str, values: Pair, domain: Domain) -> Pair:
    try:
        negative, positive = map(float, values)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{name} is {values!r}", remedy="give two numbers, for example (0, 1).", option=name, value=values
        ) from error
    for each in (negative, positive):
        check_domain(name, each, domain)
    return negative, positive


class Screening(NamedTuple):
    """Simulated predictions: label, score and site of each person."""

    sick: npt.NDArray[np.bool_]
    risk: npt.NDArray[np.float64]
    site: npt.NDArray[np.str_]


def simulate_screening(rows: int = 20_000, seed: int = 2026) -> Screening:
    """Generate people screened at three sites, with a risk score that is miscalibrated in a realistic way.

    Each person belongs to a site: north (60 %, prevalence 4 %), coast (30 %, 8 %) or hill (10 %, 15 %). The sick have a
    marker from N(d, 1), the healthy from N(0, 1); d is 1.8, 1.6 and 1.1 at the three sites. The score is that of an
    overfitted model from a prevalence of 12 % with d = 1.7: its log-odds are 1.3 times as far from their middle as they
    should be. So it ranks well, is overconfident, and overestimates risk where the disease is rare. Scores have four
    digits, so there are ties.

    Parameters
    ----------
    rows
        Number of people.
    seed
        Random seed.

    Returns
    -------
    Screening
        Label, score and site of each person.

    Examples
    --------
    >>> people = simulate_screening(5)
    >>> people.risk.tolist(), people.site[:2].tolist()
    ([0.0928, 0.061, 0.0178, 0.017, 0.0289], ['north', 'coast'])
    """
    rng = np.random.default_rng(seed)
    sites = np.array(["north", "coast", "hill"])
    site = rng.choice(3, size=rows, p=[0.6, 0.3, 0.1])
    sick = rng.random(rows) < np.array([0.04, 0.08, 0.15])[site]
    marker = rng.normal(size=rows) + np.where(sick, np.array([1.8, 1.6, 1.1])[site], 0.0)
    evidence = 1.7 * marker - 1.7**2 / 2
    log_odds = np.log(0.12 / 0.88) + 1.3 * evidence
    return Screening(sick, np.round(1 / (1 + np.exp(-log_odds)), 4), sites[site])


def screening_csv(people: Screening) -> str:
    """Write screened people as a CSV file of predictions.

    >>> screening_csv(simulate_screening(1)).splitlines()[0]
    'sick,risk,site'
    """
    lines = (f"{sick:d},{risk:.4f},{site}\n" for sick, risk, site in zip(*people, strict=True))
    return "sick,risk,site\n" + "".join(lines)
