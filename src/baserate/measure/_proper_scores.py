"""Proper scores of probabilities: Brier score, log loss and their skill scores. Each takes a `Tally`."""

from collections.abc import Iterator
from math import fsum, inf, nan

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._errors import NotAProbabilityError, advice
from baserate._formatting import count_of
from baserate._tally import Forecasts, Tally
from baserate.measure._measure import Values, measure

__all__ = ["brier", "brier_skill", "log_loss", "log_loss_skill"]

_BLOCK = 1 << 15
"""Scores that fit the cache together with intermediate results."""


@measure(
    "Brier score: mean squared difference between predicted probability and outcome.",
    formula=r"\frac1n\sum(p_i-y_i)^2",
    aliases=("Brier score", "quadratic score", "mean squared error"),
    references=("brier1950",),
    values=Values("low", (0, 1), needs=("total",)),
    page="Brier score",
)
def brier(t: Tally) -> float:
    """Each row counts once: the value is half the sum over both classes.

    >>> from baserate import tally
    >>> round(brier(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.0375
    """
    check_probabilities(t)
    parts = (np.sum(true * (1 - score) ** 2 + false * score**2) for score, true, false in _iterate_blocks(t))
    return ratio(fsum(parts), t.total)


@measure(
    "Brier skill score: one minus the Brier score over that of always predicting the prevalence.",
    formula="1-BS/(π(1-π))",
    aliases=("Brier skill score", "BSS", "scaled Brier score", "D² Brier", "index of prediction accuracy", "IPA"),
    references=("murphy1973",),
    values=Values("high", (-inf, 1), needs=("positives", "negatives")),
    page="Brier skill score",
)
def brier_skill(t: Tally) -> float:
    """
    >>> from baserate import tally
    >>> round(brier_skill(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.85
    """
    return 1 - relative_loss(brier(t), t.prevalence * (1 - t.prevalence))


@measure(
    "Mean negative log-likelihood of the outcomes under the predicted probabilities.",
    formula=r"-\frac1n\sum\ln p_i(y_i)",
    aliases=("cross-entropy", "logarithmic score"),
    references=("good1952",),
    values=Values("low", (0, inf), needs=("total",)),
    page="Log loss",
)
def log_loss(t: Tally) -> float:
    """Infinite if an outcome had probability 0; probabilities are not clipped.

    >>> from baserate import tally
    >>> round(log_loss(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.2161618747
    """
    check_probabilities(t)
    with np.errstate(divide="ignore"):  # log(0) is −inf, and the loss infinite
        # Only where there is mass: 0 · log(0) would be NaN, not 0.
        parts = [
            _sum_where_mass(true, np.log, score) + _sum_where_mass(false, np.log1p, -score)
            for score, true, false in _iterate_blocks(t)
        ]
    return ratio(-fsum(parts) + 0.0, t.total)  # + 0.0 turns −0.0 into 0.0


@measure(
    "McFadden's R²: one minus the log loss over that of always predicting the prevalence.",
    formula="1-LL/H(π)",
    aliases=("McFadden's R²", "D² log-loss", "relative information gain", "normalised cross-entropy skill"),
    references=("mcfadden1974",),
    values=Values("high", (-inf, 1), needs=("positives", "negatives")),
)
def log_loss_skill(t: Tally) -> float:
    """
    >>> from baserate import tally
    >>> round(log_loss_skill(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.6881443354
    """
    from scipy.special import entr

    return 1 - relative_loss(log_loss(t), float(entr(t.prevalence) + entr(1 - t.prevalence)))


def _sum_where_mass(mass: Floats, function: np.ufunc, values: Floats) -> float:
    """Sum mass times a function of the values, over those with mass."""
    occupied = np.flatnonzero(mass > 0)
    return float(np.sum(mass[occupied] * function(values[occupied])))


def _iterate_blocks(t: Tally) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield scores and the mass of both classes in blocks that fit the cache.

    Sum products of them with np.sum: np.dot would start threads for each block, which wait for each other on a busy
    machine.
    """
    for start in range(0, len(t.score), _BLOCK):
        place = slice(start, start + _BLOCK)
        yield t.score[place], t.mass[0, place].astype(np.float64), t.mass[1, place].astype(np.float64)


def relative_loss(loss: float, constant: float) -> float:
    """Return the loss relative to the constant forecast; NaN if that is 0, as with a single class."""
    return loss / constant if constant > 0 else nan


def check_probabilities(t: Forecasts) -> None:
    """Refuse scores that are not probabilities."""
    # Scores fall, so the two ends show whether all are in [0, 1], without a pass over them.
    if len(t.score) and not (t.score[-1] >= 0 and t.score[0] <= 1):
        outside = (t.score < 0) | (t.score > 1)
        rows = int((t.rows if isinstance(t, Tally) else np.stack([t.positive[0], t.negative[0]]))[:, outside].sum())
        outside_rows = count_of(rows, "row has a score outside [0, 1]", "rows have scores outside [0, 1]")
        raise NotAProbabilityError(
            f"{outside_rows} (from {t.score[-1]:.6g} to {t.score[0]:.6g}), so the scores are not probabilities.",
            remedy="Rank measures take any score; "
            + advice("calibrate first", "to use this one, calibrate the scores first."),
        )
