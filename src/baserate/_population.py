"""Population: how scores are distributed in each class, in closed form, and how frequent the classes are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats, Value, as_python, ratio
from baserate._counts import Counts
from baserate._domains import ShareLike, check_memory, check_prevalence, parse_share
from baserate._errors import MissingValuesError, OptionError
from baserate._numeric.distributions import (
    CLOSED_FORM,
    Distribution,
    LogitNormal,
    Normal,
    atoms,
    closed_form_concordance,
    density,
    expectation,
    log_density,
    normal_distance,
    point_mass,
    prob_at_least,
    prob_below,
    quantiles,
    support,
    to_log_odds_scale,
)

_METHODS = ("cdf", "sf", "ppf", "isf", "rvs")
_KNOTS = np.array([-40.0, -20.0, -10.0, -4.0, -1.5, 0.0, 1.5, 4.0, 10.0, 20.0, 40.0])
"""Log-odds of the quantiles between which a distribution has no more than one bend."""


class Draw(NamedTuple):
    """Rows drawn from a population."""

    truth: Bools
    score: Floats


@dataclass(frozen=True, slots=True)
class Population:
    """Two score distributions and the share of positives: a classifier without sampling error.

    Distributions have the methods of those of `scipy.stats`: `cdf`, `sf`, `ppf`, `isf`, `rvs`, and `pdf`, or `pmf` if
    they are discrete. `baserate.population` makes the usual ones; any frozen one of `scipy.stats` will do.

    >>> from baserate import measure, population
    >>> p = population.linear(prevalence=0.5)
    >>> p.at(0.5)
    Counts(tp=0.375, fp=0.125, fn=0.125, tn=0.375)
    >>> measure.precision(p.at(0.5))
    0.75
    """

    negative: Distribution
    positive: Distribution
    prevalence: float

    def __post_init__(self) -> None:
        for name in ("negative", "positive"):
            _check_distribution(name, getattr(self, name))
        check_prevalence("prevalence", self.prevalence, ends=True)

    def at_prevalence(self, prevalence: ShareLike) -> Population:
        """Return the population with another prevalence and the same score distributions."""
        return replace(self, prevalence=parse_share(prevalence))

    def tpr(self, threshold: Value) -> Value:
        """Return the share of positives that are flagged: those with a score of `threshold` or more."""
        share: Value = as_python(prob_at_least(self.positive, _check_threshold(threshold)))
        return share

    def fpr(self, threshold: Value) -> Value:
        """Return the share of negatives that are flagged."""
        share: Value = as_python(prob_at_least(self.negative, _check_threshold(threshold)))
        return share

    def at(self, threshold: Value) -> Counts[Value]:
        """Return the 2×2 table at a threshold, or the tables at an array of them; everybody has mass 1.

        Each cell is computed from its own tail, so that small cells are as precise as large ones.
        """
        threshold = _check_threshold(threshold)
        share, rest = self.prevalence, 1 - self.prevalence
        return Counts(
            tp=as_python(share * prob_at_least(self.positive, threshold)),
            fp=as_python(rest * prob_at_least(self.negative, threshold)),
            fn=as_python(share * prob_below(self.positive, threshold)),
            tn=as_python(rest * prob_below(self.negative, threshold)),
        )

    def density(self, score: Value) -> Value:
        """Return the density of scores of both classes together, without point masses, which `at` includes."""
        mixed = self.prevalence * density(self.positive, score) + (1 - self.prevalence) * density(self.negative, score)
        value: Value = as_python(mixed)
        return value

    def likelihood_ratio(self, score: Value) -> Value:
        """Return the likelihood ratio of a score, the slope of the ROC curve at that threshold.

        It is the density among positives over that among negatives; NaN where neither class has such scores.

        >>> from baserate import population
        >>> round(population.linear().likelihood_ratio(0.75), 12)
        3.0
        """
        with np.errstate(over="ignore"):
            ratio_of_densities: Value = as_python(np.exp(self._log_likelihood_ratio(score)))
        return ratio_of_densities

    def posterior(self, score: Value) -> Value:
        """Return the probability that somebody with this score is positive: the calibrated score.

        >>> from baserate import population
        >>> population.linear(prevalence=0.25).posterior(0.75)
        0.5
        """
        from scipy.special import expit, logit

        # A sum of log-odds: the product of odds would overflow or vanish where densities are far apart. At a prevalence
        # of 0 or 1 it may be ∞ − ∞.
        with np.errstate(invalid="ignore"):
            probability: Value = as_python(expit(logit(self.prevalence) + self._log_likelihood_ratio(score)))
        return probability

    @property
    def auc(self) -> float:
        """Probability that a random positive scores above a random negative, ties counting half.

        It does not depend on the prevalence.

        >>> from baserate import population
        >>> round(population.linear().auc, 12)  # 5/6
        0.833333333333
        """
        closed_form = closed_form_concordance(self.negative, self.positive)
        if closed_form is not None:
            return closed_form
        unbounded = self._on_unbounded_scale()
        return expectation(unbounded.negative, unbounded._rank_probability, _knots(unbounded.positive))  # noqa: SLF001

    @property
    def average_precision(self) -> float:
        r"""Mean over positives of the precision at their score, :math:`\int P\,dR`; NaN without positives.

        It is the area under the precision–recall curve, and where many share a score, that of its staircase.

        >>> from baserate import population
        >>> round(population.linear(prevalence=0.5).average_precision, 12)  # 5/6
        0.833333333333
        """
        if self.prevalence == 0:
            return float("nan")
        unbounded = self._on_unbounded_scale()
        return expectation(unbounded.positive, unbounded._precision, _knots(unbounded.negative))  # noqa: SLF001

    @property
    def d_prime(self) -> float:
        r"""Distance of the classes in standard deviations, :math:`\sqrt2\,Φ^{-1}(AUC)`.

        For two normal distributions of one spread it is the difference of their means over that spread [@green1966];
        in general, that of those normal distributions which would have the same AUC.

        >>> from baserate import population
        >>> population.binormal(means=(10, 15), sds=(2, 2)).d_prime
        2.5
        """
        from scipy.special import ndtri

        pair = (self.negative, self.positive)
        match pair:
            case (Normal() as low, Normal() as high) | (LogitNormal() as low, LogitNormal() as high):
                # Not through the AUC, which rounds to 1 where the classes are far apart.
                return sqrt(2) * normal_distance(low, high)
        return sqrt(2) * float(ndtri(self.auc))

    def draw(self, rows: int, rng: np.random.Generator | int, *, positives: int | None = None) -> Draw:
        """Draw rows at random: truth and score, in random order.

        `rng` is a generator of NumPy or a seed. The number of positives is random, unless it is given as `positives`.

        >>> from baserate import population
        >>> truth, score = population.linear().draw(1000, 7, positives=300)
        >>> len(score), int(truth.sum())
        (1000, 300)
        """
        if not all(isinstance(each, Integral) for each in (rows, positives or 0)) or not 0 <= (positives or 0) <= rows:
            raise OptionError(
                f"{rows} rows with {positives} positives cannot be drawn", remedy="give 0 ≤ positives ≤ rows."
            )
        check_memory(f"drawing {rows} rows", 3.0 * rows, "Draw fewer rows")
        if not isinstance(rng, np.random.Generator) and not (isinstance(rng, Integral) and rng >= 0):
            raise OptionError(
                f"rng is {rng!r}",
                remedy="give a generator of NumPy, or a whole number of 0 or more as a seed.",
                option="rng",
                value=rng,
            )
        generator = np.random.default_rng(rng)
        n_positives = int(generator.binomial(rows, self.prevalence)) if positives is None else positives
        # The order of calls is part of the result: another one would give other rows for the same seed.
        truth = generator.permutation(np.arange(rows) < n_positives)
        score = np.empty(rows)
        score[truth] = self.positive.rvs(size=n_positives, random_state=generator)
        score[~truth] = self.negative.rvs(size=rows - n_positives, random_state=generator)
        return Draw(truth, score)

    def draw_calibrated(self, rows: int, rng: np.random.Generator | int) -> Draw:
        """Draw rows at random: truth and the posterior probability in place of the score.

        These are the scores of a calibrated model: among rows with probability p, a share p is positive.

        >>> from baserate import population
        >>> truth, probability = population.binormal(prevalence=0.1).draw_calibrated(100_000, 7)
        >>> round(float(truth.sum() / probability.sum()), 2)
        1.0
        """
        # On the scale of log-odds no score is rounded to 0 or 1, where both densities may vanish.
        unbounded = self._on_unbounded_scale()
        truth, score = unbounded.draw(rows, rng)
        return Draw(truth, np.asarray(unbounded.posterior(score)))

    def _on_unbounded_scale(self) -> Population:
        """Return the population with scores in [0, 1] as log-odds, whose order is the same but which do not crowd."""
        pair = to_log_odds_scale(self.negative), to_log_odds_scale(self.positive)
        # Only where both classes change: scores on different scales cannot be compared.
        both = type(pair[0]) is not type(self.negative) and type(pair[1]) is not type(self.positive)
        return Population(*pair, self.prevalence) if both else self

    def _rank_probability(self, score: Floats) -> Floats:
        """Return the probability that a positive scores above a score, ties counting half."""
        return prob_at_least(self.positive, score) - point_mass(self.positive, score) / 2

    def _precision(self, score: Floats) -> Floats:
        tp = self.prevalence * prob_at_least(self.positive, score)
        # Rounding may put extreme quantiles beyond all scores, where precision is 0/0; they have no weight in the mean.
        return np.nan_to_num(ratio(tp, tp + (1 - self.prevalence) * prob_at_least(self.negative, score)))

    def _log_likelihood_ratio(self, score: Value) -> Floats:
        classes = (self.positive, self.negative)
        with np.errstate(divide="ignore", invalid="ignore"):
            density_positive, density_negative = (log_density(each, score) for each in classes)
            mass_positive, mass_negative = (np.log(point_mass(each, score)) for each in classes)
            # Where a score has a point mass in either class, densities are negligible beside the mass.
            has_mass = (mass_positive > -np.inf) | (mass_negative > -np.inf)
            return np.where(has_mass, mass_positive - mass_negative, density_positive - density_negative)


def _knots(distribution: Distribution) -> Floats:
    """Return where means over the other class may bend: at the ends, the atoms and between the quantiles."""
    low, high = support(distribution)
    return np.concatenate([[low, high], atoms(distribution), quantiles(distribution, _KNOTS)])


def _check_threshold(threshold: Value) -> Value:
    if np.isnan(threshold).any():
        raise MissingValuesError("a threshold is NaN", remedy="give a number, or inf to flag nothing.")
    return threshold


def _check_distribution(name: str, distribution: object) -> None:
    missing = [method for method in _METHODS if not hasattr(distribution, method)]
    if not (hasattr(distribution, "pdf") or hasattr(distribution, "pmf")):
        missing.append("pdf")
    if missing:
        raise OptionError(
            f"{name} is not a distribution: it lacks {', '.join(missing)}",
            remedy="take one of baserate.population or a frozen one of scipy.stats.",
        )


def describe_population(population: Population) -> dict[str, Any]:
    """Return distributions, prevalence and areas of a population, for the header of results."""
    return {
        "population": {
            "negative": _describe_distribution(population.negative),
            "positive": _describe_distribution(population.positive),
        },
        "prevalence": population.prevalence,
        "auc": population.auc,
        "d_prime": population.d_prime,
        "average_precision": population.average_precision,
        "notes": [],
    }


def _describe_distribution(distribution: Distribution) -> str:
    """Describe a distribution reproducibly; the repr of SciPy's distributions contains a memory address."""
    if isinstance(distribution, CLOSED_FORM):
        return repr(distribution)
    family = getattr(distribution, "dist", None)
    if family is None:
        return type(distribution).__name__
    attributes = vars(distribution)
    arguments = [
        *map(str, attributes.get("args", ())),
        *(f"{name}={value}" for name, value in attributes.get("kwds", {}).items()),
    ]
    return f"scipy.stats.{family.name}({', '.join(arguments)})"


def check_population(population: object) -> None:
    """Raise an error for anything but a population."""
    if not isinstance(population, Population):
        raise OptionError(
            f"{type(population).__name__} is not a Population",
            remedy="make one first, for example with population.linear().",
        )
