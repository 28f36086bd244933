"""Measures of decisions against the prevalence: tables of curves, with bands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError, ShapeError
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.infer import EstimateRequest, Seed, bound_at_fixed_prevalence, has_empty_cells, simulate_tables
from baserate.measure import Measure, about, header, known, tabulated, why
from baserate.shift._reweigh import masses, reweigh

_USUAL = ("precision", "npv", "accuracy")
_NAMED = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4)
"""Prevalences that people name, below one half."""
_POINTS = 199
_MIDDLE = 0.5
_DRAWS = 2000
_AT_ONCE = 128
"""Prevalences whose draws are kept together in memory."""
_HOW = f"percentiles of {_DRAWS} Dirichlet draws of the cells within each class; prevalence known"

Bounds = tuple[Floats, Floats, str]


def against(  # noqa: PLR0913  (all but two are seldom given)
    data: Counts[float] | Tally | Curve | Tallies,
    measures: str | Measure | Iterable[str | Measure] = _USUAL,
    *,
    prevalences: npt.ArrayLike | None = None,
    threshold: float | None = None,
    level: float = 0.95,
    band: bool = True,
    seed: Seed = 0,
) -> Results:
    r"""Tabulate measures of decisions at many prevalences, each taken as known, with the doubt that is left.

    Sensitivity and specificity stay what they are, and all else follows, as
    :math:`PPV=\frac{π\,TPR}{π\,TPR+(1-π)FPR}` [@altman1994b]. Any measure of `Counts` will do. A tally is cut at a
    `threshold`; if its scores are probabilities, at 0.5 unless told otherwise. Of `Tallies`, every model and group has
    curves of its own, against its own prevalence. `low` and `high` hold at each prevalence with confidence `level`: in
    closed form for shares, and otherwise by draws of the two rates, the same for all prevalences. Without `prevalences`
    there are 199, from 0.001 to 0.999.

    >>> from baserate import Counts
    >>> found = against(Counts(tp=99, fn=1, fp=1, tn=99), "precision", prevalences=[0.02, 0.1])
    >>> [(row["prevalence"], round(row["value"], 4), round(row["low"], 2)) for row in found.rows()]
    [(0.02, 0.6689, 0.27), (0.1, 0.9167, 0.67)]
    """
    asked = EstimateRequest(level, None, seed)
    chosen = _chosen(measures)
    at = _prevalences(prevalences)

    def columns(noun: Counts[float] | Tally | Curve) -> dict[str, Any]:
        table, cut = _table(noun, threshold)
        return _columns(table, cut, chosen, at, asked if band else None)

    told = {"level": level if band else None, "seed": seed if isinstance(seed, int) else None}
    if isinstance(data, Tallies):
        return Results(tabulated(data, columns), header(data, []) | told)
    made = columns(data)
    nothing = [None] * len(made["value"])
    return Results({"model": nothing, "group": nothing, **made}, told)


def table(
    data: Counts[float] | Tally | Curve,
    *measures: str | Measure,
    prevalences: npt.ArrayLike | None = None,
    threshold: float | None = None,
) -> dict[str, Floats]:
    """Tabulate only values of measures of decisions at many prevalences: columns of equal length, `prevalence` first.

    >>> from baserate import Counts
    >>> found = table(Counts(tp=99, fn=1, fp=1, tn=99), "precision", "npv", prevalences=[0.02, 0.1])
    >>> {name: column.round(4).tolist() for name, column in found.items()}
    {'prevalence': [0.02, 0.1], 'precision': [0.6689, 0.9167], 'npv': [0.9998, 0.9989]}
    """
    at = _prevalences(prevalences)
    tables = masses(_table(data, threshold)[0], to=at)
    return {"prevalence": at} | {about(each).name: each(tables) for each in _chosen(measures or _USUAL)}


def grid() -> Floats:
    """Prevalences from 0.001 to 0.999, evenly spread in log-odds, with those that people name among them.

    >>> found = grid()
    >>> len(found), found[[0, -1]].tolist(), bool(np.isin([0.01, 0.05, 0.1, 0.5, 0.9], found).all())
    (199, [0.001, 0.999], True)
    """
    names = default_prevalences()
    most = np.log(names.max() / names.min())
    even = 1 / (1 + np.exp(np.linspace(-most, most, _POINTS - len(names) + 2)[1:-1]))
    return np.sort(np.concatenate([names, even]))


def default_prevalences() -> Floats:
    """Prevalences that people name, from 0.001 to 0.999.

    >>> default_prevalences()[[0, 5, 11, -1]].tolist()
    [0.001, 0.05, 0.5, 0.999]
    """
    low = np.array(_NAMED)
    return np.concatenate([low, [_MIDDLE], (1 - low[::-1]).round(3)])


def _prevalences(given: npt.ArrayLike | None) -> Floats:
    if given is None:
        return grid()
    at: Floats = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if at.ndim > 1 or not len(at):
        raise ShapeError(f"prevalences has shape {at.shape}; give one or several in a row.")
    return at


def _chosen(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    several = [measures] if isinstance(measures, str) or callable(measures) else measures
    found = [known(each) for each in several]
    unfit = [about(each).name for each in found if about(each).of is not Counts]
    if unfit:
        raise OptionError(f"{', '.join(unfit)} is no measure of decisions; reweigh a tally to one prevalence for it.")
    if not found:
        raise OptionError("there is nothing to measure; name a measure of decisions, for example 'precision'.")
    return found


def _table(noun: object, threshold: float | None) -> tuple[Counts[float], float | None]:
    """One 2×2 table, and the threshold that it was cut at."""
    if isinstance(noun, Counts):
        if noun.shape:
            raise ShapeError(f"these are {noun.shape} tables; take one, for example counts[0].")
        if threshold is not None:
            raise OptionError(f"threshold={threshold} has no use: these are decisions already.")
        return noun, None
    curve = Curve(noun) if isinstance(noun, Tally) else noun
    if not isinstance(curve, Curve):
        raise OptionError(f"{type(noun).__name__} has no decisions; give Counts, a Tally, a Curve or Tallies.")
    score = curve.tally.score
    if threshold is None and not curve.tally.probable:
        raise OptionError(f"scores run from {score[-1]:.6g} to {score[0]:.6g}, so none is usual; give a threshold=.")
    cut = _MIDDLE if threshold is None else float(threshold)
    return curve.at(cut), cut


def _columns(
    table: Counts[float], cut: float | None, measures: list[Measure], at: Floats, asked: EstimateRequest | None
) -> dict[str, Any]:
    """Rows of all measures, one below the other."""
    size = len(at) * len(measures)
    missing = next((name for name in ("positives", "negatives") if not getattr(table, name)), None)
    if missing:
        reason = f"there are no {missing}, so nothing tells what more of them would bring"
        found: dict[str, Any] = dict.fromkeys(("value", "low", "high"), np.full(size, np.nan))
        found |= {"how": [None] * size, "why": [reason] * size}
    else:
        found = _numbers(table, measures, at, asked)
    names = _repeated([about(measure).name for measure in measures], len(at))
    return {"threshold": [cut] * size, "prevalence": np.tile(at, len(measures)), "measure": names, **found}


def _numbers(
    table: Counts[float], measures: list[Measure], at: Floats, asked: EstimateRequest | None
) -> dict[str, Any]:
    """Values with their bounds, if these are asked for, and reasons."""
    tables = reweigh(table, to=at)
    values = [np.asarray(measure(tables), dtype=np.float64) for measure in measures]
    both = list(zip(measures, values, strict=True))
    # What is undefined at one prevalence is so at all others: none of them makes a cell empty, or fills it.
    whys = [why(measure, tables[0]) if np.isnan(value).any() else None for measure, value in both]
    if asked is None:
        low = high = [np.full(len(at) * len(measures), np.nan)]
        hows: Sequence[str | None] = [None] * len(measures)
    else:
        low, high, hows = map(list, zip(*_bands(table, tables, both, asked), strict=True))
    return {
        "value": np.concatenate(values),
        "low": np.concatenate(low),
        "high": np.concatenate(high),
        "how": _repeated(hows, len(at)),
        "why": _repeated(whys, len(at)),
    }


def _repeated(texts: Sequence[str | None], times: int) -> npt.NDArray[np.object_]:
    return np.repeat(np.array(texts, dtype=np.object_), times)


def _bands(
    table: Counts[float], tables: Counts[Floats], measured: Iterable[tuple[Measure, Floats]], asked: EstimateRequest
) -> Iterable[Bounds]:
    """Bounds of each measure: inside its span, and the value between them."""
    drawn: list[Floats] = []
    for measure, value in measured:
        found = bound_at_fixed_prevalence(tables, measure, asked.level)
        if found is None:
            drawn = drawn or _drawn(table, asked.seed)
            found = _percentiles(drawn, tables, measure, asked.level)
        low, high, how = found
        least, most = about(measure).span
        undefined = np.isnan(value)
        low, high = np.minimum(np.maximum(low, least), value), np.maximum(np.minimum(high, most), value)
        yield np.where(undefined, np.nan, low), np.where(undefined, np.nan, high), how


def _drawn(table: Counts[float], seed: Seed) -> list[Floats]:
    """Random tables, half a row added to each cell; where one is empty, also without that."""
    ways = [True, False] if has_empty_cells(table) else [True]
    return [simulate_tables(table, way="stratified", seed=seed, filled=filled)[:_DRAWS] for filled in ways]


def _percentiles(drawn: list[Floats], tables: Counts[Floats], measure: Measure, level: float) -> Bounds:
    """Middle of the draws at each prevalence; an empty cell may be so always, or by chance."""
    tail = (1 - level) / 2
    ends: list[tuple[Floats, Floats]] = []
    for start in range(0, len(tables.tp), _AT_ONCE):
        here = tables[start : start + _AT_ONCE]
        values = [_at(cells, here, measure) for cells in drawn]
        low = [np.quantile(each, tail, axis=0, method="lower") for each in values]
        high = [np.quantile(each, 1 - tail, axis=0, method="higher") for each in values]
        ends.append((np.fmin.reduce(low), np.fmax.reduce(high)))
    lows, highs = zip(*ends, strict=True)
    return np.concatenate(lows), np.concatenate(highs), _HOW


def _at(cells: Floats, tables: Counts[Floats], measure: Measure) -> Floats:
    """Values of a measure at random tables (a row for each) with the classes' masses of other ones (a column)."""
    whole = cells.sum(axis=-1)[..., None]
    first, second = tables.positives / whole[:, 0], tables.negatives / whole[:, 1]
    (tp, fn), (fp, tn) = (cells[:, row, :, None].swapaxes(0, 1) for row in (0, 1))
    found: Floats = measure(Counts(tp * first, fp * second, fn * first, tn * second))
    return found
