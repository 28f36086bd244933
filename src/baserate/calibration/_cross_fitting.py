"""Cross-fitting: calibrate every row by a fit on the other folds, and choose the method with the least log loss.

Measures of out-of-fold probabilities are not optimistic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any, NamedTuple, Unpack, overload

import numpy as np
import numpy.typing as npt

from baserate import _domains
from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._domains import check_domain
from baserate._errors import DataError, FitError, OptionError, keyword
from baserate._numeric.distinct import float_bits, hash_rows
from baserate._results import Results
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Group, Tallies, Tally
from baserate.calibration import multiclass
from baserate.calibration._fit_data import LEVEL, MAX_PARTITIONS, Data, Z, pool_tally
from baserate.calibration._registry import (
    BINARY_METHODS,
    MULTICLASS_METHODS,
    all_probabilities,
    bind_options,
    check_method,
    find_binary,
    find_multiclass,
    fit,
)
from baserate.read import PredictionOptions, Scores, TableSource, accepts_predictions

Fold = dict[Group, Tally]
"""Tallies of the rows in one fold, by group."""
Codes = npt.NDArray[Any]
FOLDS = 5
_MAX_PERMUTATION = 10_000_000
"""Rows up to which a permutation assigns them to folds; beyond, multinomial counts do."""
ProgressCallback = Callable[[int, int], None]
"""Progress callback: called with the number of completed steps, and the number of all."""


@overload
def cross_fit(data: Tally, method: str = ..., **options: Any) -> Tally: ...  # noqa: ANN401
@overload
def cross_fit(data: Tallies | Rows, method: str = ..., **options: Any) -> Tallies: ...  # noqa: ANN401
@overload
def cross_fit(data: MulticlassRows, method: str = ..., **options: Any) -> MulticlassRows: ...  # noqa: ANN401
@overload
def cross_fit(truth: npt.ArrayLike, score: Scores, method: str = ..., **options: Any) -> Tallies: ...  # noqa: ANN401
@overload
def cross_fit(table: TableSource, method: str = ..., **options: Any) -> Tallies: ...  # noqa: ANN401
@accepts_predictions("fit")
def cross_fit(
    data: Data | MulticlassRows,
    /,
    method: str = "logistic",
    *,
    folds: int = FOLDS,
    seed: int = 0,
    watch: ProgressCallback | None = None,
    **options: Any,
) -> Tally | Tallies | MulticlassRows:
    """Calibrate every row by a fit on the rows of the other folds.

    Folds are not stratified by class: with the same prevalence in all folds, each fit would use the prevalence of the
    rows that it is evaluated on, and look better than it is. Rows of one cluster stay in one fold; tallies contain no
    clusters, so that their rows are assigned one by one. With "choose" each fold chooses anew.

    Parameters
    ----------
    data
        A tally, tallies by group, or rows.
    method
        Name or alias of a method, or "choose".
    folds
        Number of folds.
    seed
        Random seed of the partition.
    watch
        Called with the number of folds that are complete, and the number of all.
    **options
        Options of `fit`. All rows, not those of a fold, determine whether scores are probabilities.

    Returns
    -------
    Tally, Tallies or MulticlassRows
        Data of the same kind with calibrated probabilities; rows of two classes as tallies.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import calibration, measure, tally
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.random(2000)
    >>> overconfident = tally(rng.random(2000) < 0.3 + 0.4 * risk, risk)
    >>> after = calibration.cross_fit(overconfident, "logistic")
    >>> round(measure.log_loss(overconfident), 3), round(measure.log_loss(after), 3)
    (0.798, 0.667)
    """
    check_method("cross_fit", method)
    watch = watch or (lambda _done, _all: None)
    fit = _fit_function(data, method, {"folds": folds, "seed": seed}, options)
    if isinstance(data, MulticlassRows):
        return multiclass.cross_fit(data, fit, folds=folds, seed=seed, watch=watch)
    after = _calibrate_folds(assign_folds(data, folds=folds, seed=seed), fit, watch)
    if isinstance(data, Tally):
        return after[()]
    tallies = data.tallies() if isinstance(data, Rows) else data
    return replace(tallies, models={next(iter(tallies.models)): after}, decisions={})


def _calibrate_folds(parts: Sequence[Fold], fit: Callable[[Tally], Calibrator], watch: ProgressCallback) -> Fold:
    """Calibrate each fold by a fit on the others, and merge the groups."""
    after: dict[Group, list[Tally]] = {group: [] for group in parts[0]}
    for at, (fold, rest) in enumerate(iterate_folds(parts), start=1):
        try:
            calibrator = fit(rest)
        except FitError as error:
            raise FitError(f"without fold {at} of {len(parts)}: {error}") from error
        for group, tally in fold.items():
            after[group].append(tally.with_scores(calibrator(tally.score)))
        watch(at, len(parts))
    return {group: Tally.sum(tallies) for group, tallies in after.items()}


def _fit_function(
    data: Data | MulticlassRows, method: str, partition: Mapping[str, Any], options: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """Return the function that fits the rows outside a fold."""
    stated: bool | None = options.get("probabilities")
    # Decided on all rows: a fold may lack the few scores outside [0, 1].
    whole = all_probabilities(data) if stated is None else stated
    others = {name: value for name, value in options.items() if name != "probabilities"}
    if method == "choose":
        return lambda rest: choose(rest, probabilities=whole, **partition, **others).calibrator
    if isinstance(data, MulticlassRows):
        return bind_options(find_multiclass, method, others, probabilities=whole)
    return bind_options(find_binary, method, others, probabilities=whole)


def assign_folds(data: Data, *, folds: int = FOLDS, seed: int = 0) -> list[Fold]:
    """Assign rows at random to folds that are equally large.

    A partition with all rows of a class in one fold is repeated, since the other folds could not be fitted.

    Parameters
    ----------
    data
        A tally, tallies by group, or rows.
    folds
        Number of folds.
    seed
        Random seed.

    Returns
    -------
    list
        The tallies of each fold, by group.
    """
    whole = pool_tally(data)
    folds = _check_folds(whole, folds)
    rng = np.random.default_rng(seed)
    clustered = isinstance(data, Rows) and data.cluster is not None
    source = data.tallies() if isinstance(data, Rows) and not clustered else data
    for _ in range(MAX_PARTITIONS):
        parts = _split_clusters(source, folds, rng) if isinstance(source, Rows) else _split_rows(source, folds, rng)
        # Rows of each class in each fold: every class must also occur outside of it.
        counts = np.array([np.sum([tally.rows.sum(axis=1) for tally in fold.values()], axis=0) for fold in parts])
        if (counts.max(axis=0) < whole.rows.sum(axis=1)).all():
            return parts
    raise FitError("all rows of a class are in one fold of every partition", remedy="give more rows, or more clusters.")


def _split_rows(tallies: Tally | Tallies, folds: int, rng: np.random.Generator) -> list[Fold]:
    groups = {(): tallies} if isinstance(tallies, Tally) else next(iter(tallies.models.values()))
    parts: list[Fold] = [{} for _ in range(folds)]
    for group, tally in groups.items():
        for fold, part in zip(parts, _split_tally(tally, folds, rng), strict=True):
            fold[group] = part
    return parts


def iterate_folds(parts: Sequence[Fold]) -> Iterator[tuple[Fold, Tally]]:
    """Yield each fold, and one tally of the rows outside of it."""
    for at, fold in enumerate(parts):
        yield fold, Tally.sum(tally for other, each in enumerate(parts) if other != at for tally in each.values())


def _check_folds(tally: Tally, folds: int) -> int:
    """Check the number of folds, and reduce it to the number of rows; each class needs two rows."""
    check_domain("folds", folds, _domains.FOLDS)
    rarest = int(tally.rows.sum(axis=1, dtype=np.int64).min())
    if rarest < 2:
        one = "no row" if not rarest else "one row"
        raise FitError(f"there is {one} of a class, too few to fit and to evaluate on", remedy="give more.")
    return min(folds, int(tally.rows.sum(dtype=np.int64)))


def _split_tally(tally: Tally, folds: int, rng: np.random.Generator) -> Iterator[Tally]:
    """Assign the rows at each score to folds; each has the mean weight of its score and class."""
    counts = assign_fold_counts(tally.rows.ravel().astype(np.int64), folds, rng)
    for rows in counts.reshape(folds, 2, -1):
        nonempty = rows.any(axis=0)
        if not tally.weighted:
            yield Tally.from_counts(tally.score[nonempty], rows[:, nonempty])
            continue
        # A class without rows at a score has share 0, not 0/0.
        share = rows[:, nonempty] / np.maximum(tally.rows[:, nonempty].astype(np.float64), 1)
        mass, squares = tally.mass[:, nonempty] * share, tally.squares[:, nonempty] * share
        yield Tally(tally.score[nonempty], mass, squares, rows[:, nonempty], reweighed=tally.reweighed)


def assign_fold_counts(counts: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """Return how many rows of each cell are in each fold; folds are equally large, or nearly so with many rows."""
    total, cells = int(counts.sum()), len(counts)
    if total > _MAX_PERMUTATION:
        return rng.multinomial(counts, np.full(folds, 1 / folds)).T
    # Permuting balanced fold numbers makes the folds equally large.
    label = rng.permutation(np.arange(total) % folds)
    at = np.repeat(np.arange(cells), counts)
    return np.bincount(label * cells + at, minlength=folds * cells).reshape(folds, cells)


def _split_clusters(data: Rows, folds: int, rng: np.random.Generator) -> list[Fold]:
    """Assign whole clusters to folds, in an order that their content determines, not the order of rows."""
    (score,) = data.score.values()
    _, cluster = np.unique(np.asarray(data.cluster), return_inverse=True)
    hashes = hash_rows([data.truth.astype(np.uint64), float_bits(score)])
    content = np.zeros(cluster.max() + 1, dtype=np.uint64)
    # A sum of hashes does not depend on the order of rows; `bincount` would add them as floats.
    np.add.at(content, cluster, hashes)
    order = np.argsort(content, kind="stable")
    folds = min(folds, len(order))
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = rng.permutation(np.arange(len(order)) % folds)
    parts = (data.only(fold[cluster] == at).tallies() for at in range(folds))
    return [dict(next(iter(part.models.values()))) for part in parts]


COLUMNS = ("method", "chosen", "log_loss", "difference", "low", "high", "level", "matters", "why")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Choice:
    """The calibrator with the lowest log-loss, fitted to all rows, with the comparison of all methods."""

    calibrator: Calibrator | MulticlassCalibrator
    results: Results
    """A row for each method: its cross-validated log-loss, the difference from the lowest with an interval, and whether
    that is more than chance explains (`matters`)."""
    verdict: str
    """The comparison in a sentence."""

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
    """Loss of each method in each cell, or why it cannot be fitted; and the mass of each cell.

    All methods have the same folds, so that their losses are paired and the variance of a difference is that of pairs.
    """

    by_method: Mapping[str, Floats]
    why: Mapping[str, str]
    mass: Floats
    squares: Floats


@accepts_predictions("fit")
def choose(
    data: Data | MulticlassRows,
    *,
    methods: Iterable[str] | None = None,
    probabilities: bool | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    watch: ProgressCallback | None = None,
    **predictions: Unpack[PredictionOptions],
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
    Choice
        The calibrator and the comparison of all methods.

    Raises
    ------
    FitError
        If no method can be fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import calibration, tally
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.random(2000)
    >>> choice = calibration.choose(tally(rng.random(2000) < 0.3 + 0.4 * risk, risk), methods=["identity", "logistic"])
    >>> choice.calibrator.method, choice.results.rows()[0]["matters"]
    ('logistic', True)
    """
    all_methods = MULTICLASS_METHODS if isinstance(data, MulticlassRows) else BINARY_METHODS
    names = list(dict.fromkeys(all_methods if methods is None else methods))
    if not names:
        raise OptionError("there is no method to choose from", remedy=f"name some, or leave {keyword('methods')} out.")
    stated = all_probabilities(data) if probabilities is None else probabilities
    comparison = _Comparison(names, stated, folds, seed, watch or (lambda _done, _all: None))
    if isinstance(data, MulticlassRows):
        losses = _multiclass_losses(data, comparison)
    else:
        losses = _binary_losses(data, comparison)
    if not losses.by_method:
        raise FitError(f"no method can be fitted. {' '.join(f'{name}: {why}' for name, why in losses.why.items())}")
    # `min` returns the first of equal ones, which is the simplest.
    best = min(losses.by_method, key=lambda name: _mean_loss(losses.by_method[name], losses.mass))
    rows = [_compare_method(name, best, losses) for name in names]
    results = Results({name: [row[name] for row in rows] for name in COLUMNS}, {"folds": folds, "seed": seed})
    return Choice(fit(data, best, probabilities=stated), results, _describe_choice(rows, best))


def _binary_losses(data: Data, comparison: _Comparison) -> _Losses:
    """Return binary losses; a cell is a fold, a score and a class."""
    parts = list(iterate_folds(assign_folds(data, folds=comparison.folds, seed=comparison.seed)))
    folds = [Tally.sum(fold.values()) for fold, _ in parts]

    def compute_loss(name: str) -> Floats:
        fit_rest = bind_options(find_binary, name, {}, probabilities=comparison.probabilities)
        cells = [_log_losses(fit_rest(rest)(fold.score)) for fold, (_, rest) in zip(folds, parts, strict=True)]
        return np.concatenate([each.ravel() for each in cells])

    mass, squares = (
        np.concatenate([np.asarray(getattr(fold, field), dtype=np.float64).ravel() for fold in folds])
        for field in ("mass", "squares")
    )
    return _Losses(*_try_methods(comparison, compute_loss), mass, squares)


def _try_methods(
    comparison: _Comparison, compute_loss: Callable[[str], Floats]
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Compute the losses of each method, or store why it cannot be fitted."""
    by_method: dict[str, Floats] = {}
    why: dict[str, str] = {}
    for done, name in enumerate(comparison.methods, start=1):
        try:
            by_method[name] = compute_loss(name)
        except (DataError, OptionError) as error:
            why[name] = str(error)
        comparison.watch(done, len(comparison.methods))
    return by_method, why


def _log_losses(p: Floats) -> Floats:
    """Return the loss of positives and of negatives."""
    with np.errstate(divide="ignore"):
        return -np.stack([np.log(p), np.log1p(-p)])


def _multiclass_losses(data: MulticlassRows, comparison: _Comparison) -> _Losses:
    """Return multiclass losses; a cell is a row."""
    multiclass.assign_folds(data, comparison.folds, seed=comparison.seed)  # raises the errors that concern all methods

    def compute_loss(name: str) -> Floats:
        fit_rest = bind_options(find_multiclass, name, {}, probabilities=comparison.probabilities)
        after = multiclass.cross_fit(data, fit_rest, folds=comparison.folds, seed=comparison.seed)
        with np.errstate(divide="ignore"):
            return -np.log(after.score[np.arange(len(data)), data.truth])

    weight = np.ones(len(data)) if data.weight is None else data.weight
    count = np.ones(len(data)) if data.count is None else data.count
    return _Losses(*_try_methods(comparison, compute_loss), weight * count, weight**2 * count)


def _mean_loss(loss: Floats, mass: Floats) -> float:
    """Return the mean loss; infinite losses without mass do not count."""
    nonempty = mass > 0  # ∞·0 would be NaN
    return float((loss[nonempty] * mass[nonempty]).sum() / mass.sum())


def _compare_method(name: str, best: str, losses: _Losses) -> dict[str, Any]:
    """Return the row of one method in the comparison."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"method": name, "chosen": name == best}
    if name in losses.why:
        return row | {"why": losses.why[name]}
    row["log_loss"] = _mean_loss(losses.by_method[name], losses.mass)
    if not isfinite(row["log_loss"]):
        return row | {"difference": inf, "matters": True, "why": "it gave probability 0 to a label that occurred."}
    if name == best:
        return row
    difference, low, high = _estimate_difference(losses.by_method[name], losses.by_method[best], losses)
    bounds = {"difference": difference, "low": low, "high": high, "level": LEVEL}
    return row | bounds | {"matters": bool(low > 0)}


def _estimate_difference(loss: Floats, lowest: Floats, losses: _Losses) -> tuple[float, float, float]:
    """Return the mean difference of two losses, with its Wald interval."""
    nonempty = losses.mass > 0
    differences = loss[nonempty] - lowest[nonempty]
    mass, squares = losses.mass[nonempty], losses.squares[nonempty]
    mean = float((mass * differences).sum() / mass.sum())
    margin = float(Z * np.sqrt((squares * (differences - mean) ** 2).sum()) / mass.sum())
    return mean, mean - margin, mean + margin


def _describe_choice(rows: Sequence[Mapping[str, Any]], best: str) -> str:
    """Describe the choice: the difference, whether it matters, and a simpler method that is as good."""
    by_name = {row["method"]: row for row in rows if row["log_loss"] is not None}
    clauses = [f"{best} has the lowest log-loss, {by_name[best]['log_loss']:.4f}"]
    if best != "identity" and "identity" in by_name:
        clauses.append(_describe_difference(by_name["identity"], "the uncalibrated probabilities"))
    others = [row for name, row in by_name.items() if name not in (best, "identity")]
    if others:
        second = min(others, key=lambda row: row["log_loss"])
        clauses.append(_describe_difference(second, f"{second['method']}, the next"))
    names = list(by_name)
    for name in names[: names.index(best)]:
        if not by_name[name]["matters"]:
            clauses.append(f"{name} is simpler, and the difference may be chance")
            break
    return "; ".join(clauses) + "."


def _describe_difference(row: Mapping[str, Any], beside: str) -> str:
    if row["low"] is None:
        return f"{beside}{',' * (',' in beside)} gave probability 0 to a label that occurred"
    verdict = "more than chance" if row["matters"] else "chance may explain it"
    return f"{row['difference']:.2g} below {beside} ({row['low']:.2g} to {row['high']:.2g}: {verdict})"
