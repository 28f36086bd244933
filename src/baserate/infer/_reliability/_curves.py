"""Calibration curves as tables: in bins, isotonic, local, and the likelihood ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._errors import OptionError
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Tallies, Tally
from baserate.infer._binomial import two_sided, wilson
from baserate.infer._draws import Seed
from baserate.infer._estimate import EstimateRequest
from baserate.infer._reliability._intrinsic import derived_prevalence
from baserate.infer._reliability._null import drawn as drawn_from, neighbours_pooled
from baserate.infer._reliability._parts import parted
from baserate.measure import Bins, By, Smoother, binned, check_probabilities, curve, edges, joined, spread

DRAWS = 1000

Band = Literal["consistency", "confidence"]
"""Around what would be right, or around what was seen."""
Columns = dict[str, Any]


class Drawn(NamedTuple):
    """How a curve is to be made."""

    bins: int | Sequence[float] = 10
    by: By = "width"
    band: Band = "consistency"
    level: float = 0.95
    seed: Seed = 0


def reliability_curve(tally: Tally, what: str = "binned", *, drawn: Drawn = Drawn()) -> Columns:  # noqa: B008
    """Tabulate a calibration curve: `binned`, `isotonic`, `lowess` or `likelihood_ratio`; lowest probability first.

    A `lowess` fit and its band are clipped to [0, 1].

    >>> from baserate import infer, tally
    >>> table = infer.reliability_curve(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), drawn=infer.Drawn(bins=2))
    >>> table["probability"].round(2).tolist(), table["share"].tolist(), table["mass"].tolist()
    ([0.2, 0.85], [0.0, 1.0], [2.0, 2.0])
    """
    EstimateRequest(drawn.level, None, drawn.seed)
    check_probabilities(tally)
    if what not in CURVES:
        raise OptionError(f"there is no calibration curve {what!r}; there are: {', '.join(CURVES)}.")
    return CURVES[what](tally, drawn)


def in_bins(tally: Tally, how: Drawn) -> Columns:
    """Mean probability and share of positives in each bin that is not empty, with Wilson's bounds."""
    found = binned(tally, bins=how.bins, by=how.by)
    low, high = _shares(tally, found, how.level)
    lower, upper = edges(tally, bins=how.bins, by=how.by)
    return {
        "lower": lower,
        "upper": upper,
        "probability": found.expected / found.mass,
        "share": found.rate,
        "low": low,
        "high": high,
        "mass": found.mass,
    }


def _shares(tally: Tally, found: Bins, level: float) -> tuple[Floats, Floats]:
    """Wilson's bounds of the share of positives in each bin."""
    if not tally.reweighed:
        return wilson(found.rate * found.rows, (1 - found.rate) * found.rows, level)
    # Wilson's bounds are of rows; those of a class have a weight of their own, by which odds become odds of mass.
    one, other = _weight(tally, 0), _weight(tally, 1)
    bounds = wilson(found.positive / one, np.maximum(found.mass - found.positive, 0.0) / other, level)
    low, high = (ratio(bound * one, bound * one + (1 - bound) * other) for bound in bounds)
    return low, high


def _weight(tally: Tally, row: int) -> float:
    """What a row of a class usually weighs."""
    mass = float(tally.mass[row].sum())
    return float(tally.squares[row].sum()) / mass if mass else 1.0


def smoothed(tally: Tally, how: Drawn, *, smoother: Smoother) -> Columns:
    """Isotonic or local regression, with a band that is drawn: of what would be seen if all were right, or around it.

    The band of consistency lies around the diagonal, and a curve that leaves it is no chance; that of confidence lies
    around the curve [@dimitriadis2021]. Both hold at single probabilities, not at all of them together. Curve and band
    are probabilities: where the lines of a local regression leave [0, 1], they are clipped to it.
    """
    if how.band not in ("consistency", "confidence"):
        raise OptionError(f"band is {how.band!r}; it is 'consistency' or 'confidence'.")
    fit = _clip(curve(tally, smoother))
    if not len(fit):
        return dict.fromkeys(("probability", "share", "low", "high", "mass"), fit)
    pooled = neighbours_pooled(tally)
    right = pooled.score if how.band == "consistency" else _possible(pooled, curve(pooled, smoother))
    draws = curve(drawn_from(pooled, right, draws=DRAWS, seed=how.seed), smoother)
    tail = (1 - how.level) / 2
    bounds = np.quantile(draws, [tail, 1 - tail], axis=0)
    low, high = (np.interp(tally.score[::-1], pooled.score[::-1], _clip(bound)[::-1]) for bound in bounds)
    if how.band == "confidence":
        low, high = np.minimum(low, fit[::-1]), np.maximum(high, fit[::-1])
    mass = tally.mass.sum(axis=0, dtype=np.float64)[::-1]
    return {"probability": tally.score[::-1], "share": fit[::-1], "low": low, "high": high, "mass": mass}


def _clip(fit: Floats) -> Floats:
    """Clip fitted values to probabilities; `measure.ici` and its kin measure from the fit before that, as others do."""
    return np.clip(fit, 0.0, 1.0)


def _possible(tally: Tally, fit: Floats) -> Floats:
    """A curve to draw from: what was never, or always, seen is not certain, as half a row more of each would show."""
    rows = tally.mass.sum(axis=0, dtype=np.float64) ** 2 / tally.squares.sum(axis=0, dtype=np.float64)
    never, always = (0.5 / (float(rows[at].sum()) + 1) for at in (fit <= 0, fit >= 1))
    return np.where(fit <= 0, never, np.where(fit >= 1, 1 - always, fit))


def likelihood_ratio(tally: Tally, how: Drawn) -> Columns:
    r"""Likelihood ratio in bins, which no prevalence changes, and the one that the probabilities imply.

    Seen is :math:`\frac{O_b/P}{(n_b-O_b)/N}`, with the bounds of a ratio of shares on a logarithmic scale
    [@simel1991]; implied, at the derived prevalence, the odds of the mean probability over the prior odds.
    """
    found = binned(tally, bins=how.bins, by=how.by)
    negative = found.mass - found.positive
    seen = ratio(ratio(found.positive, tally.positives), ratio(negative, tally.negatives))
    weight = found.squares / found.mass
    one, other = (_weight(tally, 0), _weight(tally, 1)) if tally.reweighed else (weight, weight)
    # Where a class is missing, the bounds are those with half a row more of each.
    missing = (found.positive == 0) | (negative == 0)
    hits, misses = found.positive + one / 2 * missing, negative + other / 2 * missing
    centre = ratio(ratio(hits, tally.positives), ratio(misses, tally.negatives))
    noise = one / hits + other / misses - _kish(tally, 0) - _kish(tally, 1)
    reach = np.exp(two_sided(how.level) * np.sqrt(np.maximum(noise, 0.0)))
    low, high = np.where(found.positive > 0, centre / reach, 0.0), np.where(negative > 0, centre * reach, np.inf)
    mean = found.expected / found.mass
    prior = derived_prevalence(tally).value
    lower, upper = edges(tally, bins=how.bins, by=how.by)
    implied = ratio(mean, 1 - mean) * (1 - prior) / prior
    return {
        "lower": lower,
        "upper": upper,
        "probability": mean,
        "ratio": seen,
        "low": low,
        "high": high,
        "implied": implied,
        "mass": found.mass,
    }


def _kish(tally: Tally, row: int) -> float:
    """One over the effective number of rows of a class."""
    return ratio(float(tally.squares[row].sum()), float(tally.mass[row].sum()) ** 2)


CURVES: dict[str, Callable[[Tally, Drawn], Columns]] = {
    "binned": in_bins,
    "isotonic": partial(smoothed, smoother="isotonic"),
    "lowess": partial(smoothed, smoother="lowess"),
    "likelihood_ratio": likelihood_ratio,
}


def reliability_curves(
    data: Tallies | MulticlassRows,
    what: str = "binned",
    *,
    drawn: Drawn = Drawn(),  # noqa: B008  (it is immutable)
    points: int | None = None,
) -> Results:
    """Tabulate a calibration curve of every model and group, or of every class and the likeliest one.

    It is `binned`, `isotonic`, `lowess` or `likelihood_ratio`. With `points`, at most so many rows of each, spread
    evenly along it; `longest` of the data is how many the longest has. `clipped` is true of a `lowess` fit, which is
    clipped to [0, 1].

    >>> from baserate import infer, read
    >>> table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    >>> infer.reliability_curves(read.tallies(table, truth="sick", score="risk")).columns["probability"].tolist()
    [0.1, 0.4, 0.6, 0.9]
    """
    parts, head = parted(data)
    tables, longest = [], 0
    for part in parts:
        table = reliability_curve(part.tally, what, drawn=drawn)
        # After the names of bins, if there are any, come what is drawn along x and along y.
        along = [column for name, column in table.items() if name not in ("lower", "upper")][:2]
        kept, longest = spread(along, points), max(longest, len(along[0]))
        which = {name: [part.fixed[name]] * len(kept) for name in ("model", "group", "class", "top")}
        tables.append(which | {name: column[kept] for name, column in table.items()})
    columns = {name: joined([table[name] for table in tables]) for name in tables[0]}
    told = {"curve": what, "level": drawn.level, "band": _band(what, drawn), "longest": longest}
    told["clipped"] = what == "lowess"
    return Results(columns, head | told)


def _band(what: str, drawn: Drawn) -> str:
    """What low and high are."""
    if what == "binned":
        return "Wilson"
    return "log-normal" if what == "likelihood_ratio" else drawn.band
