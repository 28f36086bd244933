"""Measures of several classes at estimated shares: decisions of the validation rows, carried to the target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, Literal

import numpy as np

from baserate._arrays import Floats, make_read_only
from baserate._confusion import Confusion, Confusions
from baserate._counts import Counts
from baserate._results import Results
from baserate.infer import Seed, checked_seed, percentiles, simulate_tables
from baserate.measure import MEASURES, Measure, about, multiclass
from baserate.shift._reweigh import reweigh
from baserate.shift._several._result import Shares

_NEAREST = 1e-9
"""Shares below are taken as that: a class that is not there has no recall."""
_DRAWS = 4000
HOW = f"{_DRAWS} draws of rates and shares together"


def corrected(
    found: Shares,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    averages: Iterable[str | Mapping[Any, float]] | None = None,
    seed: Seed = 0,
) -> Results:
    """Measure the decisions of the validation rows as if the classes had the estimated shares.

    What is decided is the class with the highest score as it was given. Rates of each class and the shares are drawn
    together: a validation row moves both.
    """
    shares = np.maximum(found.value, _NEAREST)
    shares /= shares.sum()
    seen = found.validation.decided()
    table = reweigh(seen, to=shares)
    data = Confusions({(): table}, intake=found.validation.intake)
    plain = multiclass.summary(data, measures=measures, averages=averages)
    drawn = _drawn(found, seen, seed)
    level = found.estimates[0].level or 0.95
    ends = [without(table, at) for at, each in enumerate(found.estimates) if each.low == 0]
    rows = [row | _bounds(row, (drawn, ends), level, averages) for row in plain.rows()]
    told = dict(zip(map(str, found.labels), found.value.tolist(), strict=True))
    columns = {name: [row.get(name) for row in rows] for name in plain.columns}
    return Results(columns, {**plain.data, "prevalences": told, "notes": [*plain.data["notes"], *found.notes]})


def _drawn(found: Shares, seen: Confusion, seed: Seed) -> Confusion:
    r"""Random tables: rates of each class by Dirichlet, and shares that go with them as they do in validation rows.

    Given rates R that differ from those seen, C, the shares are :math:`\hat q+\sum_kB_k(R_k-C_k)` and a normal
    remainder, B being the regression of shares on rates by influence functions.
    """
    rng = checked_seed(seed)
    tables = simulate_tables(seen, way="stratified", seed=rng)[:_DRAWS]
    rates, own = (each / each.sum(axis=-1, keepdims=True) for each in (tables, seen.mass))
    together, rest = _regressed(found, seen, own)
    size, axes = np.linalg.eigh(rest)
    noise = rng.standard_normal((len(rates), len(own))) * np.sqrt(np.maximum(size, 0.0)) @ axes.T
    shares = found.unclipped + np.einsum("ikd,kdq->iq", rates - own, together) + noise
    shares = np.maximum(shares, 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    return Confusion(make_read_only(shares[:, :, None] * rates), seen.labels)


def _regressed(found: Shares, seen: Confusion, own: Floats) -> tuple[Floats, Floats]:
    """How shares go with the rates of each class, of shape (K, K, K), and the covariance that is left."""
    rows = found.validation
    width = len(own)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    squares = weight**2 * (1 if rows.count is None else rows.count)
    sums = np.zeros((width, width, width))
    np.add.at(sums, (rows.truth, rows.decision()), found.moved * squares[:, None])
    shared = (sums - own[:, :, None] * sums.sum(axis=1, keepdims=True)) / seen.truth[:, None, None]
    together, rest = np.empty(shared.shape), found.covariance.copy()
    each = seen.squares.truth / seen.truth**2
    for k in range(width):
        spread = (np.diag(own[k]) - np.outer(own[k], own[k])) * each[k]
        together[k] = np.linalg.pinv(spread) @ shared[k]
        rest -= together[k].T @ spread @ together[k]
    return together, rest


def without(table: Confusion, at: int) -> Confusion:
    """Return a table as it would be if a class were absent, but for a trace, so that its recall is defined.

    Where the interval of a share holds 0, intervals of measures must hold what they then are.
    """
    cells = np.array(table.mass, dtype=np.float64)
    cells[at] *= _NEAREST
    return Confusion(make_read_only(cells), table.labels)


def _bounds(
    row: dict[str, Any], tables: tuple[Confusion, list[Confusion]], level: float, averages: object
) -> dict[str, Any]:
    """Bounds of a tidy row; none of cells, nor of what is undefined."""
    drawn, ends = tables
    if row["measure"] not in (MEASURES.keys() | multiclass.MEASURES.keys()) or row["value"] is None:
        return {}
    found = values(row, drawn, averages)
    defined = found[~np.isnan(found)]
    if not len(defined):
        return {"why": "no draw is defined"}
    low, high = percentiles(defined, level)
    how = "; ".join(filter(None, (row["how"], HOW)))
    others = [row["value"], *limits(row, ends, averages)]
    return {"low": min(low, *others), "high": max(high, *others), "level": level, "how": how}


def limits(row: dict[str, Any], ends: Iterable[Confusion], averages: object) -> Iterator[float]:
    """Values of a tidy row at some tables, where they are finite."""
    found = (float(values(row, each, averages)) for each in ends)
    yield from (value for value in found if isfinite(value))


def values(row: dict[str, Any], drawn: Confusion, averages: object) -> Floats:
    """The measure of a tidy row at many tables."""
    if row["class"] is None and row["average"] is None:
        return np.asarray(multiclass.MEASURES[row["measure"]](drawn), dtype=np.float64)
    measure = MEASURES[row["measure"]]
    assert about(measure).of is Counts  # noqa: S101  (labels have no ranks)
    if row["average"] is None:
        found: Floats = measure(drawn.one_vs_rest())[..., drawn.labels.index(row["class"])]
        return found
    custom = [each for each in averages if isinstance(each, Mapping)] if isinstance(averages, list | tuple) else []
    how = custom[0] if row["average"] == "custom" else row["average"]
    return np.asarray(multiclass.averaged(measure, how)(drawn), dtype=np.float64)
