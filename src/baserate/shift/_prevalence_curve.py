"""Prevalence curves: PPV, NPV and other measures of decisions as functions of the prevalence, with confidence bands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, as_python, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import ShareLike, parse_share, unused_option
from baserate._errors import OptionError, ShapeError, advice, keyword
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.infer import (
    EstimateRequest,
    IntervalOptions,
    Seed,
    bound_at_fixed_prevalence,
    has_empty_cells,
    has_rate_interval,
    rate_interval,
    simulate_tables,
)
from baserate.measure import Measure, as_measure, describe, results_data, tabulate_groups, undefined_reason
from baserate.read import IntervalPredictionOptions, PredictionOptions, accepts_predictions, accepts_words
from baserate.shift._class_weights import reweigh, reweigh_mass

ScalarOrArray = float | Floats
"""One number, or many."""


@overload
def ppv(sensitivity: float, specificity: float, prevalence: ShareLike) -> float: ...
@overload
def ppv(sensitivity: ScalarOrArray, specificity: ScalarOrArray, prevalence: Floats) -> Floats: ...
@overload
def ppv(sensitivity: Floats, specificity: Floats, prevalence: ShareLike) -> Floats: ...
@accepts_words
def ppv(sensitivity: ScalarOrArray, specificity: ScalarOrArray, prevalence: ScalarOrArray | str) -> ScalarOrArray:
    r"""Compute the positive predictive value by Bayes' rule, :math:`\frac{Se·π}{Se·π+(1-Sp)(1-π)}`.

    Also: precision, post-test probability.
    Reference: [@altman1994b].

    Parameters
    ----------
    sensitivity, specificity, prevalence : float or array
        Shares between 0 and 1; arrays must broadcast.

    Returns
    -------
    float or ndarray
        Share of the flagged that are positive; NaN where nothing is flagged.

    Raises
    ------
    OptionError
        If a value lies outside [0, 1].

    Examples
    --------
    >>> [round(ppv(0.99, 0.99, at), 4) for at in (0.02, 0.06, 0.10)]
    [0.6689, 0.8634, 0.9167]
    """
    at = parse_share(prevalence)
    true, false, share = _check_shares(sensitivity=sensitivity, specificity=specificity, prevalence=at)
    hits = true * share
    values: ScalarOrArray = as_python(ratio(hits, hits + (1 - false) * (1 - share)))
    return values


@overload
def npv(sensitivity: float, specificity: float, prevalence: ShareLike) -> float: ...
@overload
def npv(sensitivity: ScalarOrArray, specificity: ScalarOrArray, prevalence: Floats) -> Floats: ...
@overload
def npv(sensitivity: Floats, specificity: Floats, prevalence: ShareLike) -> Floats: ...
@accepts_words
def npv(sensitivity: ScalarOrArray, specificity: ScalarOrArray, prevalence: ScalarOrArray | str) -> ScalarOrArray:
    r"""Compute the negative predictive value by Bayes' rule, :math:`\frac{Sp(1-π)}{Sp(1-π)+(1-Se)π}`.

    Reference: [@altman1994b].

    Parameters
    ----------
    sensitivity, specificity, prevalence : float or array
        Shares between 0 and 1; arrays must broadcast.

    Returns
    -------
    float or ndarray
        Share of the unflagged that are negative; NaN where everything is flagged.

    Raises
    ------
    OptionError
        If a value lies outside [0, 1].

    Examples
    --------
    >>> round(npv(231 / 258, 54 / 86, 0.25), 2)  # Altman and Bland's liver scans, where abnormality is rare
    0.95
    """
    at = parse_share(prevalence)
    true, false, share = _check_shares(sensitivity=sensitivity, specificity=specificity, prevalence=at)
    hits = false * (1 - share)
    values: ScalarOrArray = as_python(ratio(hits, hits + (1 - true) * share))
    return values


def _check_shares(**named_values: Any) -> list[Floats]:  # noqa: ANN401  (numbers, one or many)
    """Return values as arrays, or raise an error that names the first one outside [0, 1]."""
    checked: list[Floats] = []
    for name, value in named_values.items():
        numbers: Floats = np.asarray(value, dtype=np.float64)
        outside = ~((numbers >= 0) & (numbers <= 1))
        if outside.any():
            first = numbers[outside].ravel()[0]
            raise OptionError(
                f"{outside.sum()} of {outside.size} values of {name} lie outside [0, 1], such as {first:g}",
                remedy="give shares.",
            )
        checked.append(numbers)
    return checked


_DEFAULT_MEASURES = ("precision", "npv", "accuracy")
_COMMON_PREVALENCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4)
"""Common round prevalences below one half."""
_GRID_SIZE = 199
_MIDDLE = 0.5
_N_SIMULATIONS = 2000
_BLOCK = 128
"""Prevalences whose simulations are in memory at once."""
_SIMULATION_METHOD = f"percentiles of {_N_SIMULATIONS} Dirichlet simulations within each class; prevalence known"

Bounds = tuple[Floats, Floats, str]


@accepts_predictions("any")
def prevalence_curve(  # noqa: PLR0913  (all but two are seldom given)
    data: Counts[float] | Tally | Curve | Tallies,
    measures: str | Measure | Iterable[str | Measure] = _DEFAULT_MEASURES,
    *,
    prevalences: npt.ArrayLike | None = None,
    threshold: float | None = None,
    level: ShareLike = 0.95,
    band: bool = True,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    r"""Tabulate measures of decisions at many prevalences, each taken as known, with confidence bands.

    Sensitivity and specificity stay the same, and all else follows from them, such as
    :math:`PPV=\frac{π\,TPR}{π\,TPR+(1-π)FPR}` [@altman1994b].

    Parameters
    ----------
    data : Counts, Tally, Curve or Tallies
        Decisions, or scores to decide at a threshold. Each model and group of `Tallies` has curves of its own.
    measures : str, Measure or iterable, default precision, npv and accuracy
        Any measures of `Counts`.
    prevalences : array-like, optional
        Prevalences of the curves. The default is 199 of them, from 0.001 to 0.999.
    threshold : float, optional
        Decision threshold; the default is 0.5 if the scores are probabilities.
    level : float, default 0.95
        Confidence level of `low` and `high` at each prevalence.
    band : bool, default True
        Whether to compute the bands: in closed form for proportions, otherwise by simulation of the two rates.
    seed : int or Generator, default 0
        Random seed of the simulation, the same for all prevalences.

    Returns
    -------
    Results
        A row for each model, group, measure and prevalence.

    Raises
    ------
    OptionError
        If a measure is not one of decisions, or a threshold is missing or has no use.

    Examples
    --------
    >>> from baserate import Counts
    >>> curve = prevalence_curve(Counts(tp=99, fn=1, fp=1, tn=99), "precision", prevalences=[0.02, 0.1])
    >>> [(row["prevalence"], round(row["value"], 4), round(row["low"], 2)) for row in curve.rows()]
    [(0.02, 0.6689, 0.27), (0.1, 0.9167, 0.67)]
    """
    level = parse_share(level)
    request = EstimateRequest(level, None, seed)
    functions = _find_measures(measures)
    at = _check_prevalences(prevalences)

    def columns(item: Counts[float] | Tally | Curve) -> dict[str, Any]:
        table, cut = _confusion_table(item, threshold)
        return _tabulate(table, cut, functions, at, request if band else None)

    settings = {"level": level if band else None, "seed": seed if isinstance(seed, int) else None}
    if isinstance(data, Tallies):
        return Results(tabulate_groups(data, columns), results_data(data, []) | settings)
    table_columns = columns(data)
    nothing = [None] * len(table_columns["value"])
    return Results({"model": nothing, "group": nothing, **table_columns}, settings)


@accepts_predictions("any")
def prevalence_table(
    data: Counts[float] | Tally | Curve,
    *measures: str | Measure,
    prevalences: npt.ArrayLike | None = None,
    threshold: float | None = None,
    **predictions: Unpack[PredictionOptions],
) -> dict[str, Floats]:
    """Tabulate values of measures of decisions at many prevalences, without bands.

    Parameters
    ----------
    data : Counts, Tally or Curve
        Decisions, or scores to decide at a threshold.
    *measures : str or Measure
        Any measures of `Counts`. The default is precision, npv and accuracy.
    prevalences : array-like, optional
        Prevalences of the table. The default is 199 of them, from 0.001 to 0.999.
    threshold : float, optional
        Decision threshold; the default is 0.5 if the scores are probabilities.

    Returns
    -------
    dict of str to ndarray
        Columns of equal length, `prevalence` first.

    Examples
    --------
    >>> from baserate import Counts
    >>> columns = prevalence_table(Counts(tp=99, fn=1, fp=1, tn=99), "precision", "npv", prevalences=[0.02, 0.1])
    >>> {name: column.round(4).tolist() for name, column in columns.items()}
    {'prevalence': [0.02, 0.1], 'precision': [0.6689, 0.9167], 'npv': [0.9998, 0.9989]}
    """
    at = _check_prevalences(prevalences)
    tables = reweigh_mass(_confusion_table(data, threshold)[0], prevalence=at)
    return {"prevalence": at} | {
        describe(each).name: each(tables) for each in _find_measures(measures or _DEFAULT_MEASURES)
    }


def prevalence_grid() -> Floats:
    """Return 199 prevalences from 0.001 to 0.999, evenly spaced in log-odds, that include common round values.

    >>> prevalences = prevalence_grid()
    >>> len(prevalences), prevalences[[0, -1]].tolist(), bool(np.isin([0.01, 0.05, 0.1, 0.5, 0.9], prevalences).all())
    (199, [0.001, 0.999], True)
    """
    names = default_prevalences()
    most = np.log(names.max() / names.min())
    # Inner points only: both ends are among the common values already.
    even = 1 / (1 + np.exp(np.linspace(-most, most, _GRID_SIZE - len(names) + 2)[1:-1]))
    return np.sort(np.concatenate([names, even]))


def default_prevalences() -> Floats:
    """Return common round prevalences from 0.001 to 0.999.

    >>> default_prevalences()[[0, 5, 11, -1]].tolist()
    [0.001, 0.05, 0.5, 0.999]
    """
    low = np.array(_COMMON_PREVALENCES)
    return np.concatenate([low, [_MIDDLE], (1 - low[::-1]).round(3)])


def _check_prevalences(prevalences: npt.ArrayLike | None) -> Floats:
    if prevalences is None:
        return prevalence_grid()
    at: Floats = np.atleast_1d(np.asarray(prevalences, dtype=np.float64))
    if at.ndim > 1 or not len(at):
        raise ShapeError(f"prevalences has shape {at.shape}", remedy="give one or several in a row.")
    return at


def _find_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    several = [measures] if isinstance(measures, str) or callable(measures) else measures
    functions = [as_measure(each) for each in several]
    unfit = [describe(each).name for each in functions if describe(each).of is not Counts]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} is not a measure of decisions",
            remedy=advice("one prevalence", "reweigh a tally to one prevalence for it."),
        )
    if not functions:
        raise OptionError("there is nothing to measure", remedy="name a measure of decisions, for example 'precision'.")
    return functions


def _confusion_table(data: object, threshold: float | None) -> tuple[Counts[float], float | None]:
    """Return one 2×2 table, and the threshold of its decisions."""
    if isinstance(data, Counts):
        if data.shape:
            raise ShapeError(f"these are {data.shape} tables", remedy="take one, for example counts[0].")
        if threshold is not None:
            raise unused_option("threshold", threshold, "these are decisions already")
        return data, None
    curve = Curve(data) if isinstance(data, Tally) else data
    if not isinstance(curve, Curve):
        raise OptionError(f"{type(data).__name__} has no decisions", remedy="give Counts, a Tally, a Curve or Tallies.")
    score = curve.tally.score
    if threshold is None and not curve.tally.probable:
        raise OptionError(
            f"scores run from {score[-1]:.6g} to {score[0]:.6g}, so there is no default threshold",
            remedy=f"give {keyword('threshold')}.",
        )
    cut = _MIDDLE if threshold is None else float(threshold)
    return curve.at(cut), cut


def _tabulate(
    table: Counts[float], cut: float | None, measures: list[Measure], at: Floats, request: EstimateRequest | None
) -> dict[str, Any]:
    """Stack the rows of all measures."""
    size = len(at) * len(measures)
    missing = next((name for name in ("positives", "negatives") if not getattr(table, name)), None)
    if missing:
        reason = f"there are no {missing}, so that their rate is unknown"
        numbers: dict[str, Any] = dict.fromkeys(("value", "low", "high"), np.full(size, np.nan))
        numbers |= {"how": [None] * size, "why": [reason] * size}
    else:
        numbers = _estimate_values(table, measures, at, request)
    names = _repeat_each([describe(measure).name for measure in measures], len(at))
    return {"threshold": [cut] * size, "prevalence": np.tile(at, len(measures)), "measure": names, **numbers}


def _estimate_values(
    table: Counts[float], measures: list[Measure], at: Floats, request: EstimateRequest | None
) -> dict[str, Any]:
    """Compute values, their bounds if there is a request for them, and reasons why a value is undefined."""
    tables = reweigh(table, prevalence=at)
    values = [np.asarray(measure(tables), dtype=np.float64) for measure in measures]
    both = list(zip(measures, values, strict=True))
    # The first table stands for all: another prevalence neither empties nor fills a cell.
    whys = [undefined_reason(measure, tables[0]) if np.isnan(value).any() else None for measure, value in both]
    if request is None:
        low = high = [np.full(len(at) * len(measures), np.nan)]
        hows: Sequence[str | None] = [None] * len(measures)
    else:
        low, high, hows = map(list, zip(*_bound_measures(table, tables, both, request), strict=True))
    return {
        "value": np.concatenate(values),
        "low": np.concatenate(low),
        "high": np.concatenate(high),
        "how": _repeat_each(hows, len(at)),
        "why": _repeat_each(whys, len(at)),
    }


def _repeat_each(texts: Sequence[str | None], times: int) -> npt.NDArray[np.object_]:
    return np.repeat(np.array(texts, dtype=np.object_), times)


def _bound_measures(
    table: Counts[float], tables: Counts[Floats], values: Iterable[tuple[Measure, Floats]], request: EstimateRequest
) -> Iterable[Bounds]:
    """Bound each measure within its span, so that the bounds contain the value."""
    simulations: list[Floats] = []
    for measure, value in values:
        bounds = bound_at_fixed_prevalence(tables, measure, request.level)
        if bounds is None and has_rate_interval(measure):
            bounds = rate_interval(tables, measure, request.level)
        if bounds is None:
            # Simulated once, on first need: the same rates serve all measures and prevalences, so curves are smooth.
            simulations = simulations or _simulate_rates(table, request.seed)
            bounds = _percentile_bounds(simulations, tables, measure, request.level)
        low, high, how = bounds
        least, most = describe(measure).span
        undefined = np.isnan(value)
        # Closed forms and percentiles may miss the value by rounding, or leave the span.
        low, high = np.minimum(np.maximum(low, least), value), np.maximum(np.minimum(high, most), value)
        yield np.where(undefined, np.nan, low), np.where(undefined, np.nan, high), how


def _simulate_rates(table: Counts[float], seed: Seed) -> list[Floats]:
    """Simulate tables with half a row added to each cell; if a cell is empty, also without that."""
    ways = [True, False] if has_empty_cells(table) else [True]
    return [simulate_tables(table, way="stratified", seed=seed, filled=filled)[:_N_SIMULATIONS] for filled in ways]


def _percentile_bounds(simulations: list[Floats], tables: Counts[Floats], measure: Measure, level: float) -> Bounds:
    """Take percentiles of the simulations at each prevalence, the wider of both kinds if a cell is empty."""
    tail = (1 - level) / 2
    ends: list[tuple[Floats, Floats]] = []
    for start in range(0, len(tables.tp), _BLOCK):
        block = tables[start : start + _BLOCK]
        values = [_measure_simulations(cells, block, measure) for cells in simulations]
        # Without interpolation between simulations: measures may be infinite, and ∞ − ∞ is NaN.
        low = [np.quantile(each, tail, axis=0, method="lower") for each in values]
        high = [np.quantile(each, 1 - tail, axis=0, method="higher") for each in values]
        # Measures may be undefined in the tables with empty cells: fmin and fmax ignore NaN.
        ends.append((np.fmin.reduce(low), np.fmax.reduce(high)))
    lows, highs = zip(*ends, strict=True)
    return np.concatenate(lows), np.concatenate(highs), _SIMULATION_METHOD


def _measure_simulations(cells: Floats, tables: Counts[Floats], measure: Measure) -> Floats:
    """Measure simulated tables (a row for each) reweighted to the class totals of other tables (a column for each)."""
    whole = cells.sum(axis=-1)[..., None]
    first, second = tables.positives / whole[:, 0], tables.negatives / whole[:, 1]
    (tp, fn), (fp, tn) = (cells[:, row, :, None].swapaxes(0, 1) for row in (0, 1))
    values: Floats = measure(Counts(tp * first, fp * second, fn * first, tn * second))
    return values


_CURVE_COLUMNS = (
    *("measure", "model", "group", "class", "threshold", "prevalence"),
    *("value", "low", "high", "level", "how", "why"),
)


@accepts_predictions("tallies")
def prevalence_curves(
    tallies: Tallies,
    measures: Sequence[str | Measure] = (),
    *,
    thresholds: Sequence[float] = (),
    prevalences: npt.ArrayLike | None = None,
    interval: IntervalOptions | None = None,
    **predictions: Unpack[IntervalPredictionOptions],
) -> Results:
    """Tabulate measures of decisions against the prevalence, for every model, group and threshold.

    Parameters
    ----------
    tallies : Tallies
        Scores, or predicted labels, which have no threshold.
    measures : sequence of str or Measure, optional
        Any measures of `Counts`. The default is precision, npv and accuracy.
    thresholds : sequence of float, optional
        Decision thresholds; the default is 0.5 if the scores are probabilities.
    prevalences : array-like, optional
        Prevalences of the curves. The default is 199 of them, from 0.001 to 0.999.
    interval : IntervalOptions, optional
        Level and seed of confidence bands; without it there are none.

    Returns
    -------
    Results
        A row for each model, group, threshold, measure and prevalence.

    Examples
    --------
    >>> from baserate import read
    >>> tallies = read.tallies({"y": [1, 1, 0, 0, 0], "p": [0.9, 0.4, 0.6, 0.2, 0.1]}, truth="y", score="p")
    >>> curves = prevalence_curves(tallies, ["precision"], thresholds=[0.3, 0.5], prevalences=[0.1])
    >>> [(row["threshold"], round(row["value"], 4)) for row in curves.rows()]
    [(0.3, 0.25), (0.5, 0.1429)]
    """
    settings: dict[str, Any] = {"prevalences": prevalences, "band": interval is not None}
    settings |= {} if interval is None else {"level": interval.level, "seed": interval.seed}
    settings |= {"measures": measures} if measures else {}
    rows: list[dict[str, Any]] = []
    data: Mapping[str, Any] = {}
    for model, groups in tallies.models.items():
        is_label = model == tallies.intake.columns.get("predicted")
        one_model = replace(tallies, models={model: groups}, decisions={})
        for threshold in (None,) if is_label or not thresholds else thresholds:
            results = prevalence_curve(one_model, threshold=threshold, **settings)
            data, level = results.data, results.data["level"]
            own = {"model": model if len(tallies.models) > 1 else None, "class": None}
            own |= {"threshold": None} if is_label else {}
            rows += [{**row, **own, "level": None if row["low"] is None else level} for row in results.rows()]
    header = {name: value for name, value in data.items() if name not in {"level", "seed"}}
    header |= {"digest": tallies.digest}
    if interval is not None:
        header |= {"interval": {"level": interval.level, "method": None, "seed": interval.seed, "clusters": None}}
    return Results({name: [row[name] for row in rows] for name in _CURVE_COLUMNS}, header)


def spaced_prevalences(points: int) -> list[float]:
    """Return prevalences from 0.001 to 0.999 that are evenly spaced in log-odds.

    >>> spaced_prevalences(3)
    [0.001, 0.5, 0.999]
    """
    low, high = 0.001, 0.999
    inner = 1 / (1 + np.exp(-np.linspace(np.log(low / (1 - low)), np.log(high / (1 - high)), points)))
    # Twelve digits drop the rounding errors of exponentials, so that the middle is 0.5.
    return [low, *(float(f"{each:.12g}") for each in inner[1:-1]), high]
