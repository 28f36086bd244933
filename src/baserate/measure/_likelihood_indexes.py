r"""Indexes of probabilities: Nagelkerke's and Tjur's R², and D, U and Q of the likelihood ratio.

The log loss LL of the probabilities is compared with the entropy :math:`H(π)`, the log loss of always predicting the
prevalence, and with :math:`LL_{cal}`, that of the logistic recalibration :math:`\mathrm{logit}\,P(y=1)=a+b\,
\mathrm{logit}\,p`. Differences of twice the log loss are likelihood-ratio χ² statistics per row. D, U and Q subtract
the expectation that these have without any discrimination or miscalibration, their degrees of freedom.

n is the number of rows; of weighted rows, the effective number :math:`(\sum w)^2/\sum w^2`.
"""

from math import inf

import numpy as np

from baserate._arrays import Floats, as_float, ratio
from baserate._numeric.logistic import log_odds, logistic_probability
from baserate._tally import Forecasts, Tally
from baserate.measure._calibration_slope import fit_recalibration
from baserate.measure._measure import Values, measure
from baserate.measure._proper_scores import check_probabilities

__all__ = ["discrimination_index", "discrimination_slope", "nagelkerke_r2", "quality_index", "unreliability_index"]

_BOTH = ("positives", "negatives")
_LINE = (*_BOTH, "score_spread", "overlap")


@measure(
    "Nagelkerke's R²: gain in likelihood over the prevalence, divided by its maximum.",
    formula=r"\frac{1-e^{-2(H(π)-LL)}}{1-e^{-2H(π)}}",
    aliases=("Nagelkerke R²", "R2 Nagelkerke", "Cragg–Uhler R²"),
    references=("nagelkerke1991",),
    values=Values("high", (-inf, 1), needs=_BOTH),
)
def nagelkerke_r2(t: Forecasts) -> float:
    """The probabilities are taken as given, as in `val.prob` of rms: below 0 if they are worse than the prevalence.

    >>> from baserate import tally
    >>> round(nagelkerke_r2(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.8197220405
    """
    entropy, loss = _entropy(t), _mean_loss(t, t.score)
    with np.errstate(over="ignore"):  # a loss of hundreds
        return as_float(ratio(-np.expm1(-2 * (entropy - loss)), -np.expm1(-2 * entropy)))


@measure(
    "Tjur's R²: mean probability of positives minus that of negatives (discrimination slope).",
    formula=r"\bar p_1-\bar p_0",
    aliases=("Tjur's R²", "coefficient of discrimination", "Yates slope"),
    references=("tjur2009",),
    values=Values("high", (-1, 1), needs=_BOTH),
)
def discrimination_slope(t: Forecasts) -> float:
    """Its difference between two models is the integrated discrimination improvement (IDI). It is no proper measure:
    more extreme probabilities raise it, even where they are wrong.

    >>> from baserate import tally
    >>> round(discrimination_slope(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.625
    """
    check_probabilities(t)
    sums = ((mass * t.score).sum(axis=-1) for mass in (t.positive, t.negative))
    means = [
        ratio(np.asarray(each), np.asarray(mass)) for each, mass in zip(sums, (t.positives, t.negatives), strict=True)
    ]
    return as_float(means[0] - means[1])


@measure(
    "Discrimination index D: χ² of the probabilities against the prevalence, less 1, per row.",
    formula=r"2(H(π)-LL)-\frac1n",
    aliases=("D index", "rms D"),
    references=("harrell2015", "miller1991"),
    values=Values("high", (-inf, inf), needs=_BOTH, sampled=True),
)
def discrimination_index(t: Forecasts) -> float:
    """The probabilities are taken as given, as in `val.prob` of rms.

    >>> from baserate import tally
    >>> round(discrimination_index(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.7039706118
    """
    return as_float(2 * (_entropy(t) - _mean_loss(t, t.score)) - 1 / _effective_rows(t))


@measure(
    "Unreliability index U: χ² of the recalibration line against the identity, less 2, per row.",
    formula=r"2(LL-LL_{cal})-\frac2n",
    aliases=("U index", "rms U"),
    references=("harrell2015", "miller1991"),
    values=Values("low", (-inf, inf), needs=_LINE, sampled=True),
)
def unreliability_index(t: Forecasts) -> float:
    """`infer.cox_test` tests whether it exceeds what chance explains; it moves probabilities 10⁻¹² away from 0 and 1.

    >>> from baserate import tally
    >>> round(unreliability_index(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])), 6)
    -0.314127
    """
    return as_float(2 * (_mean_loss(t, t.score) - _line_loss(t)) - 2 / _effective_rows(t))


@measure(
    "Quality index Q: the discrimination index less the unreliability index.",
    formula="D-U",
    aliases=("Q index", "rms Q"),
    references=("harrell2015", "miller1991"),
    values=Values("high", (-inf, inf), needs=_LINE, sampled=True),
)
def quality_index(t: Forecasts) -> float:
    """D already falls with miscalibration, so that Q counts it twice, as `val.prob` of rms does. The log loss and its
    skill (`log_loss_skill`) count it once.

    >>> from baserate import tally
    >>> round(quality_index(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])), 6)
    0.281055
    """
    twice = _entropy(t) + _line_loss(t) - 2 * _mean_loss(t, t.score)
    return as_float(2 * twice + 1 / _effective_rows(t))


def recalibrated_probabilities(t: Forecasts) -> Floats:
    """Return the probability at each score by the recalibration line; NaN where no line fits."""
    line = fit_recalibration(t)
    return logistic_probability(line.intercept, line.slope, log_odds(t.score))


def _line_loss(t: Forecasts) -> Floats:
    return _mean_loss(t, recalibrated_probabilities(t))


def _mean_loss(t: Forecasts, p: Floats) -> Floats:
    """Return the mean negative log-likelihood of probabilities at the scores of the tally."""
    from scipy.special import xlog1py, xlogy

    check_probabilities(t)
    # xlogy(0, 0) is 0, so that a class without mass adds nothing.
    total = (xlogy(t.positive, p) + xlog1py(t.negative, -p)).sum(axis=-1)
    return np.asarray(ratio(-np.asarray(total), np.asarray(t.total)))


def _entropy(t: Forecasts) -> Floats:
    """Return the log loss of always predicting the prevalence; NaN with a single class."""
    from scipy.special import entr

    share = np.asarray(t.prevalence)
    entropy = entr(share) + entr(1 - share)
    return np.where(entropy > 0, entropy, np.nan)


def _effective_rows(t: Forecasts) -> Floats | float:
    """Return the number of rows, or of rows of equal weight that are as informative."""
    if isinstance(t, Tally):
        return ratio(t.total**2, float(t.squares.sum(dtype=np.float64)))
    return np.asarray(t.total) / t.weight
