"""Calibration curves (reliability diagrams) as tables: binned, isotonic, LOWESS, and likelihood ratios."""

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
from baserate.infer._binomial import normal_quantile, wilson
from baserate.infer._bootstrap import Seed, pool_neighbors
from baserate.infer._calibration_summary import split_parts
from baserate.infer._calibration_tests import derived_prevalence
from baserate.infer._estimate import EstimateRequest
from baserate.infer._null_reference import simulate_outcomes as drawn_from
from baserate.measure import (
    Bins,
    By,
    Smoother,
    bin_edges,
    check_probabilities,
    concatenate,
    fill_bins,
    fit_calibration_curve,
    thin_points,
)

N_SIMULATIONS = 1000

BandKind = Literal["consistency", "confidence"]
"""Band around the diagonal, or around the curve."""
Columns = dict[str, Any]


class CurveOptions(NamedTuple):
    """Options of a calibration curve.

    Parameters
    ----------
    bins
        Number of bins, or their edges.
    by
        Bins of equal "width" or "mass".
    band
        "consistency" for a band around the diagonal, "confidence" for one around the curve.
    level
        Confidence level.
    seed
        Seed or NumPy generator of simulated bands.
    """

    bins: int | Sequence[float] = 10
    by: By = "width"
    band: BandKind = "consistency"
    level: float = 0.95
    seed: Seed = 0


def calibration_curve(tally: Tally, what: str = "binned", *, drawn: CurveOptions = CurveOptions()) -> Columns:  # noqa: B008
    """Tabulate a calibration curve of one tally, lowest probability first.

    Parameters
    ----------
    tally
        Tally of probabilities.
    what
        `fill_bins`, `isotonic`, `lowess` or `likelihood_ratio`. A `lowess` fit and its band are clipped to [0, 1].
    drawn
        Options: bins, kind of band, level and seed.

    Returns
    -------
    dict
        Columns by name: the mean probability, the observed share (or ratio), its bounds, and the mass.

    Examples
    --------
    >>> from baserate import infer, tally
    >>> table = infer.calibration_curve(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), drawn=infer.CurveOptions(bins=2))
    >>> table["probability"].round(2).tolist(), table["share"].tolist(), table["mass"].tolist()
    ([0.2, 0.85], [0.0, 1.0], [2.0, 2.0])
    """
    EstimateRequest(drawn.level, None, drawn.seed)
    check_probabilities(tally)
    if what not in CURVES:
        raise OptionError(f"there is no calibration curve {what!r}; there are: {', '.join(CURVES)}.")
    return CURVES[what](tally, drawn)


def bin_curve(tally: Tally, options: CurveOptions) -> Columns:
    """Tabulate the mean probability and the share of positives in each bin that is not empty, with Wilson bounds."""
    bins = fill_bins(tally, bins=options.bins, by=options.by)
    low, high = _bin_limits(tally, bins, options.level)
    lower, upper = bin_edges(tally, bins=options.bins, by=options.by)
    return {
        "lower": lower,
        "upper": upper,
        "probability": bins.expected / bins.mass,
        "share": bins.rate,
        "low": low,
        "high": high,
        "mass": bins.mass,
    }


def _bin_limits(tally: Tally, bins: Bins, level: float) -> tuple[Floats, Floats]:
    """Return Wilson bounds of the share of positives in each bin."""
    if not tally.reweighed:
        return wilson(bins.rate * bins.rows, (1 - bins.rate) * bins.rows, level)
    # Wilson's bounds hold for rows; each class has its own weight, which converts odds of rows to odds of mass.
    one, other = _usual_weight(tally, 0), _usual_weight(tally, 1)
    bounds = wilson(bins.positive / one, np.maximum(bins.mass - bins.positive, 0.0) / other, level)
    low, high = (ratio(bound * one, bound * one + (1 - bound) * other) for bound in bounds)
    return low, high


def _usual_weight(tally: Tally, row: int) -> float:
    """Return the usual weight of a row of a class."""
    mass = float(tally.mass[row].sum())
    return float(tally.squares[row].sum()) / mass if mass else 1.0


def smooth_curve(tally: Tally, options: CurveOptions, *, smoother: Smoother) -> Columns:
    """Tabulate an isotonic or local regression with a simulated band.

    The consistency band lies around the diagonal, where a calibrated model's curve would be; the confidence band lies
    around the curve [@dimitriadis2021]. Both are pointwise. Curve and band are probabilities, so a local regression
    that leaves [0, 1] is clipped.
    """
    if options.band not in ("consistency", "confidence"):
        raise OptionError(
            f"band is {options.band!r}; it is 'consistency' or 'confidence'.", option="band", value=options.band
        )
    fit = _clip(fit_calibration_curve(tally, smoother))
    if not len(fit):
        return dict.fromkeys(("probability", "share", "low", "high", "mass"), fit)
    pooled = pool_neighbors(tally)
    right = (
        pooled.score
        if options.band == "consistency"
        else _avoid_certainty(pooled, fit_calibration_curve(pooled, smoother))
    )
    draws = fit_calibration_curve(drawn_from(pooled, right, draws=N_SIMULATIONS, seed=options.seed), smoother)
    tail = (1 - options.level) / 2
    bounds = np.quantile(draws, [tail, 1 - tail], axis=0)
    low, high = (np.interp(tally.score[::-1], pooled.score[::-1], _clip(bound)[::-1]) for bound in bounds)
    if options.band == "confidence":
        low, high = np.minimum(low, fit[::-1]), np.maximum(high, fit[::-1])
    mass = tally.mass.sum(axis=0, dtype=np.float64)[::-1]
    return {"probability": tally.score[::-1], "share": fit[::-1], "low": low, "high": high, "mass": mass}


def _clip(fit: Floats) -> Floats:
    """Clip fitted values to probabilities; `measure.ici` and its kin use the fit before clipping, as other tools do."""
    return np.clip(fit, 0.0, 1.0)


def _avoid_certainty(tally: Tally, fit: Floats) -> Floats:
    """Return a curve to simulate from whose shares of 0 and 1 are moved inside, as half a row more of each would do."""
    rows = tally.mass.sum(axis=0, dtype=np.float64) ** 2 / tally.squares.sum(axis=0, dtype=np.float64)
    never, always = (0.5 / (float(rows[at].sum()) + 1) for at in (fit <= 0, fit >= 1))
    return np.where(fit <= 0, never, np.where(fit >= 1, 1 - always, fit))


def likelihood_ratio_curve(tally: Tally, options: CurveOptions) -> Columns:
    r"""Tabulate the likelihood ratio in bins, which no prevalence changes, and the one that the probabilities imply.

    The observed ratio is :math:`\frac{O_b/P}{(n_b-O_b)/N}`, with the bounds of a ratio of proportions on a logarithmic
    scale [@simel1991]. The implied ratio is the odds of the mean probability over the prior odds at the derived
    prevalence.
    """
    bins = fill_bins(tally, bins=options.bins, by=options.by)
    negative = bins.mass - bins.positive
    observed = ratio(ratio(bins.positive, tally.positives), ratio(negative, tally.negatives))
    weight = bins.squares / bins.mass
    one, other = (_usual_weight(tally, 0), _usual_weight(tally, 1)) if tally.reweighed else (weight, weight)
    # Where a class is missing from a bin, the bounds use half a row more of each class.
    missing = (bins.positive == 0) | (negative == 0)
    hits, misses = bins.positive + one / 2 * missing, negative + other / 2 * missing
    centre = ratio(ratio(hits, tally.positives), ratio(misses, tally.negatives))
    noise = one / hits + other / misses - _kish(tally, 0) - _kish(tally, 1)
    reach = np.exp(normal_quantile(options.level) * np.sqrt(np.maximum(noise, 0.0)))
    low, high = np.where(bins.positive > 0, centre / reach, 0.0), np.where(negative > 0, centre * reach, np.inf)
    mean = bins.expected / bins.mass
    prior = derived_prevalence(tally).value
    lower, upper = bin_edges(tally, bins=options.bins, by=options.by)
    implied = ratio(mean, 1 - mean) * (1 - prior) / prior
    return {
        "lower": lower,
        "upper": upper,
        "probability": mean,
        "ratio": observed,
        "low": low,
        "high": high,
        "implied": implied,
        "mass": bins.mass,
    }


def _kish(tally: Tally, row: int) -> float:
    """Return one over the effective number of rows of a class."""
    return ratio(float(tally.squares[row].sum()), float(tally.mass[row].sum()) ** 2)


CURVES: dict[str, Callable[[Tally, CurveOptions], Columns]] = {
    "binned": bin_curve,
    "isotonic": partial(smooth_curve, smoother="isotonic"),
    "lowess": partial(smooth_curve, smoother="lowess"),
    "likelihood_ratio": likelihood_ratio_curve,
}


def calibration_curves(
    data: Tallies | MulticlassRows,
    what: str = "binned",
    *,
    drawn: CurveOptions = CurveOptions(),  # noqa: B008  (it is immutable)
    points: int | None = None,
) -> Results:
    """Tabulate the calibration curves of every model and group, or of every class and the most probable one.

    Parameters
    ----------
    data
        Tallies of models and groups, or rows with a probability for each class.
    what
        `fill_bins`, `isotonic`, `lowess` or `likelihood_ratio`.
    drawn
        Options: bins, kind of band, level and seed.
    points
        Largest number of rows of each curve, spread evenly along it; None for all.

    Returns
    -------
    Results
        Tidy table. Its metadata hold `longest`, the rows of the longest curve, and `clipped`, true for a `lowess` fit.

    Examples
    --------
    >>> from baserate import infer, read
    >>> table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    >>> infer.calibration_curves(read.tallies(table, truth="sick", score="risk")).columns["probability"].tolist()
    [0.1, 0.4, 0.6, 0.9]
    """
    parts, head = split_parts(data)
    tables, longest = [], 0
    for part in parts:
        table = calibration_curve(part.tally, what, drawn=drawn)
        # The two columns after the bin edges, if any, are x and y of the curve.
        along = [column for name, column in table.items() if name not in ("lower", "upper")][:2]
        places, longest = thin_points(along, points), max(longest, len(along[0]))
        which = {name: [part.labels[name]] * len(places) for name in ("model", "group", "class", "top")}
        tables.append(which | {name: column[places] for name, column in table.items()})
    columns = {name: concatenate([table[name] for table in tables]) for name in tables[0]}
    header = {"curve": what, "level": drawn.level, "band": _describe_band(what, drawn), "longest": longest}
    header["clipped"] = what == "lowess"
    return Results(columns, head | header)


def _describe_band(what: str, options: CurveOptions) -> str:
    """Name the kind of bounds in `low` and `high`."""
    if what == "binned":
        return "Wilson"
    return "log-normal" if what == "likelihood_ratio" else options.band
