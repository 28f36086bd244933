"""Choice of a calibrator by cross-validated log-loss, with intervals for the differences between methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import DataError, FitError, OptionError, keyword
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.calibrate import multiclass
from baserate.calibrate._cross_fitting import FOLDS, ProgressCallback, assign_folds, iterate_folds
from baserate.calibrate._fit_data import LEVEL, Data, Z
from baserate.calibrate._registry import (
    BINARY_METHODS,
    MULTICLASS_METHODS,
    all_probabilities,
    bind_options,
    find_binary,
    find_multiclass,
    fit,
)

COLUMNS = ("method", "chosen", "log_loss", "difference", "low", "high", "level", "matters", "why")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Choice:
    """The calibrator with the lowest log-loss, fitted to all rows, with the comparison of all methods.

    Parameters
    ----------
    map
        The calibrator.
    results
        A row for each method: its cross-validated log-loss, the difference from the lowest with an interval, and
        whether that is more than chance explains (`matters`).
    verdict
        The comparison in a sentence.
    """

    calibrator: Calibrator | MulticlassCalibrator
    results: Results
    verdict: str

    def __repr__(self) -> str:
        return f"Choice({self.calibrator.method}; {self.verdict})"


class _Comparison(NamedTuple):
    """Methods to compare, and how to cross-validate them."""

    methods: Sequence[str]
    probabilities: bool
    folds: int
    seed: int
    watch: ProgressCallback


class _Losses(NamedTuple):
    """Loss of each method in each cell, or why it cannot be fitted; and the mass of each cell."""

    by_method: Mapping[str, Floats]
    why: Mapping[str, str]
    mass: Floats
    squares: Floats


def choose(
    data: Data | MulticlassRows,
    *,
    methods: Iterable[str] | None = None,
    probabilities: bool | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    watch: ProgressCallback | None = None,
) -> Choice:
    """Choose the calibrator with the lowest cross-validated log-loss.

    Among equally good methods the simplest wins. The intervals of differences assume independent rows.

    Parameters
    ----------
    data
        A tally, tallies by group, or rows.
    methods
        Names or aliases of methods; by default all.
    probabilities
        Whether scores are probabilities; by default they are if those of all rows lie in [0, 1].
    folds
        Number of folds.
    seed
        Random seed of the partition.
    watch
        Called with the number of methods that are complete, and the number of all.

    Returns
    -------
    The calibrator and the comparison of all methods.

    Raises
    ------
    FitError
        If no method can be fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import calibrate, tally
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.random(2000)
    >>> choice = calibrate.choose(tally(rng.random(2000) < 0.3 + 0.4 * risk, risk), methods=["identity", "logistic"])
    >>> choice.calibrator.method, choice.results.rows()[0]["matters"]
    ('logistic', True)
    """
    all_methods = MULTICLASS_METHODS if isinstance(data, MulticlassRows) else BINARY_METHODS
    names = list(dict.fromkeys(all_methods if methods is None else methods))
    if not names:
        raise OptionError("there is no method to choose from", remedy=f"name some, or leave {keyword('methods')} out.")
    stated = all_probabilities(data) if probabilities is None else probabilities
    comparison = _Comparison(names, stated, folds, seed, watch or (lambda _done, _all: None))
    losses = _multiclass_losses(data, comparison) if isinstance(data, MulticlassRows) else _losses(data, comparison)
    if not losses.by_method:
        raise FitError(f"no method can be fitted. {' '.join(f'{name}: {why}' for name, why in losses.why.items())}")
    # `min` returns the first of equal ones, which is the simplest.
    best = min(losses.by_method, key=lambda name: _mean(losses.by_method[name], losses.mass))
    rows = [_row(name, best, losses) for name in names]
    results = Results({name: [row[name] for row in rows] for name in COLUMNS}, {"folds": folds, "seed": seed})
    return Choice(fit(data, best, probabilities=stated), results, _verdict(rows, best))


def _losses(data: Data, comparison: _Comparison) -> _Losses:
    """Return binary losses; a cell is a fold, a score and a class."""
    parts = list(iterate_folds(assign_folds(data, folds=comparison.folds, seed=comparison.seed)))
    folds = [Tally.sum(fold.values()) for fold, _ in parts]
    by_method: dict[str, Floats] = {}
    why: dict[str, str] = {}
    for at, name in enumerate(comparison.methods):
        try:
            fit_rest = bind_options(find_binary, name, {}, probabilities=comparison.probabilities)
            cells = [_log_losses(fit_rest(rest)(fold.score)) for fold, (_, rest) in zip(folds, parts, strict=True)]
            by_method[name] = np.concatenate([each.ravel() for each in cells])
        except (DataError, OptionError) as error:
            why[name] = str(error)
        comparison.watch(at + 1, len(comparison.methods))
    mass, squares = (
        np.concatenate([np.asarray(getattr(fold, field), dtype=np.float64).ravel() for fold in folds])
        for field in ("mass", "squares")
    )
    return _Losses(by_method, why, mass, squares)


def _log_losses(p: Floats) -> Floats:
    """Return the loss of positives and of negatives."""
    with np.errstate(divide="ignore"):
        return -np.stack([np.log(p), np.log1p(-p)])


def _multiclass_losses(data: MulticlassRows, comparison: _Comparison) -> _Losses:
    """Return multiclass losses; a cell is a row."""
    multiclass.assign_folds(data, comparison.folds, seed=comparison.seed)  # raises the errors that concern all methods
    by_method: dict[str, Floats] = {}
    why: dict[str, str] = {}
    for at, name in enumerate(comparison.methods):
        try:
            fit_rest = bind_options(find_multiclass, name, {}, probabilities=comparison.probabilities)
            after = multiclass.cross_fit(data, fit_rest, folds=comparison.folds, seed=comparison.seed)
            with np.errstate(divide="ignore"):
                by_method[name] = -np.log(after.score[np.arange(len(data)), data.truth])
        except (DataError, OptionError) as error:
            why[name] = str(error)
        comparison.watch(at + 1, len(comparison.methods))
    weight = np.ones(len(data)) if data.weight is None else data.weight
    count = np.ones(len(data)) if data.count is None else data.count
    return _Losses(by_method, why, weight * count, weight**2 * count)


def _mean(loss: Floats, mass: Floats) -> float:
    """Return the mean loss; infinite losses without mass do not count."""
    nonempty = mass > 0
    return float((loss[nonempty] * mass[nonempty]).sum() / mass.sum())


def _row(name: str, best: str, losses: _Losses) -> dict[str, Any]:
    """Return the row of one method in the comparison."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"method": name, "chosen": name == best}
    if name in losses.why:
        return row | {"why": losses.why[name]}
    row["log_loss"] = _mean(losses.by_method[name], losses.mass)
    if not isfinite(row["log_loss"]):
        return row | {"difference": inf, "matters": True, "why": "it gave probability 0 to what happened."}
    if name == best:
        return row
    difference, low, high = _difference(losses.by_method[name], losses.by_method[best], losses)
    bounds = {"difference": difference, "low": low, "high": high, "level": LEVEL}
    return row | bounds | {"matters": bool(low > 0)}


def _difference(one: Floats, other: Floats, losses: _Losses) -> tuple[float, float, float]:
    """Return the mean difference of two losses, with its Wald interval."""
    nonempty = losses.mass > 0
    differences = one[nonempty] - other[nonempty]
    mass, squares = losses.mass[nonempty], losses.squares[nonempty]
    mean = float((mass * differences).sum() / mass.sum())
    margin = float(Z * np.sqrt((squares * (differences - mean) ** 2).sum()) / mass.sum())
    return mean, mean - margin, mean + margin


def _verdict(rows: Sequence[Mapping[str, Any]], best: str) -> str:
    """Describe the choice: the difference, whether it matters, and a simpler method that is as good."""
    by_name = {row["method"]: row for row in rows if row["log_loss"] is not None}
    clauses = [f"{best} has the lowest log-loss, {by_name[best]['log_loss']:.4f}"]
    if best != "identity" and "identity" in by_name:
        clauses.append(_describe_difference(by_name["identity"], "the probabilities as they are"))
    others = [row for name, row in by_name.items() if name not in (best, "identity")]
    if others:
        second = min(others, key=lambda row: row["log_loss"])
        clauses.append(_describe_difference(second, f"{second['method']}, the next"))
    names = list(by_name)
    for name in names[: names.index(best)]:
        if not by_name[name]["matters"]:
            clauses.append(f"{name} is simpler, and as good as chance allows to tell")
            break
    return "; ".join(clauses) + "."


def _describe_difference(row: Mapping[str, Any], beside: str) -> str:
    if row["low"] is None:
        return f"{beside}{',' * (',' in beside)} gave probability 0 to what happened"
    verdict = "more than chance" if row["matters"] else "chance may explain it"
    return f"{row['difference']:.2g} below {beside} ({row['low']:.2g} to {row['high']:.2g}: {verdict})"
