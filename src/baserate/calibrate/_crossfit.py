"""Cross-fitting: every row is mapped by a map that was fitted without it, so that what is seen afterwards is honest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from baserate import _domains
from baserate._calibrator import Calibrator
from baserate._domains import check_domain
from baserate._errors import FitError
from baserate._numeric.hashing import each_hashed, of_floats
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Group, Tallies, Tally
from baserate.calibrate import multiclass
from baserate.calibrate._data import Data, tally_of
from baserate.calibrate._methods import all_probabilities, check_method, class_method, named, with_options

Fold = dict[Group, Tally]
"""A part of the rows, by group."""
Codes = npt.NDArray[Any]
FOLDS = 5
_MANY = 10_000_000
"""Rows that are not dealt one by one, but by how many of a kind there are."""
_DEALS = 100
"""How often rows are dealt before we give up."""
Watch = Callable[[int, int], None]
"""Told how many of how many are done."""


@overload
def crossfitted(data: Tally, method: str = ..., **asked: Any) -> Tally: ...  # noqa: ANN401
@overload
def crossfitted(data: Tallies | Rows, method: str = ..., **asked: Any) -> Tallies: ...  # noqa: ANN401
@overload
def crossfitted(data: MulticlassRows, method: str = ..., **asked: Any) -> MulticlassRows: ...  # noqa: ANN401
def crossfitted(
    data: Data | MulticlassRows,
    method: str = "logistic",
    *,
    folds: int = FOLDS,
    seed: int = 0,
    watch: Watch | None = None,
    **options: Any,
) -> Tally | Tallies | MulticlassRows:
    """Map every row by what was fitted to the rows of other folds.

    Rows are dealt to folds whatever their class: with equally many of each class in all folds, every fold would know
    the prevalence of the others, and look better than it is. Rows of one cluster stay together; of tallies, which do
    not know them, rows are dealt one by one. With "choose" the choice is made anew without each fold. `watch` is told
    how many folds of how many are done; the options are those of `fit`. All rows together decide whether scores are
    probabilities, not those of a fold.

    >>> import numpy as np
    >>> from baserate import calibrate, measure, tally
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.random(2000)
    >>> overconfident = tally(rng.random(2000) < 0.3 + 0.4 * risk, risk)
    >>> after = calibrate.crossfitted(overconfident, "logistic")
    >>> round(measure.log_loss(overconfident), 3), round(measure.log_loss(after), 3)
    (0.798, 0.667)
    """
    check_method("crossfitted", method)
    watch = watch or (lambda _done, _all: None)
    fit = _fitter(data, method, {"folds": folds, "seed": seed}, options)
    if isinstance(data, MulticlassRows):
        return multiclass.crossfitted(data, fit, folds=folds, seed=seed, watch=watch)
    after = _out_of_fold(dealt(data, folds=folds, seed=seed), fit, watch)
    if isinstance(data, Tally):
        return after[()]
    tallies = data.tallies() if isinstance(data, Rows) else data
    return replace(tallies, models={next(iter(tallies.models)): after}, decisions={})


def _out_of_fold(parts: Sequence[Fold], fit: Callable[[Tally], Calibrator], watch: Watch) -> Fold:
    """Everybody, mapped by what was fitted without their fold."""
    after: dict[Group, list[Tally]] = {group: [] for group in parts[0]}
    for at, (fold, rest) in enumerate(left_out(parts), start=1):
        try:
            found = fit(rest)
        except FitError as error:
            raise FitError(f"without fold {at} of {len(parts)}: {error}") from error
        for group, tally in fold.items():
            after[group].append(tally.rescored(found(tally.score)))
        watch(at, len(parts))
    return {group: Tally.sum(tallies) for group, tallies in after.items()}


def _fitter(
    data: Data | MulticlassRows, method: str, deal: Mapping[str, Any], options: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """Make the function that fits the rows outside a fold."""
    stated: bool | None = options.get("probabilities")
    whole = all_probabilities(data) if stated is None else stated
    others = {name: value for name, value in options.items() if name != "probabilities"}
    if method == "choose":
        from baserate.calibrate._choose import choose

        return lambda rest: choose(rest, probabilities=whole, **deal, **others).map
    if isinstance(data, MulticlassRows):
        return with_options(class_method, method, others, probabilities=whole)
    return with_options(named, method, others, probabilities=whole)


def dealt(data: Data, *, folds: int = FOLDS, seed: int = 0) -> list[Fold]:
    """Deal rows to folds that are equally large, in an order that depends on the seed alone.

    Chance that leaves all rows of a class in one fold is dealt anew, since the others could not be fitted.
    """
    whole = tally_of(data)
    folds = _fewer(whole, folds)
    rng = np.random.default_rng(seed)
    clustered = isinstance(data, Rows) and data.cluster is not None
    known = data.tallies() if isinstance(data, Rows) and not clustered else data
    for _ in range(_DEALS):
        parts = _of_clusters(known, folds, rng) if isinstance(known, Rows) else _one_by_one(known, folds, rng)
        # Rows of each class in each fold: there must be some elsewhere.
        there = np.array([np.sum([tally.rows.sum(axis=1) for tally in fold.values()], axis=0) for fold in parts])
        if (there.max(axis=0) < whole.rows.sum(axis=1)).all():
            return parts
    raise FitError("all rows of a class are in one fold, however they are dealt; give more rows, or more clusters.")


def _one_by_one(tallies: Tally | Tallies, folds: int, rng: np.random.Generator) -> list[Fold]:
    groups = {(): tallies} if isinstance(tallies, Tally) else next(iter(tallies.models.values()))
    parts: list[Fold] = [{} for _ in range(folds)]
    for group, tally in groups.items():
        for fold, part in zip(parts, _of_tally(tally, folds, rng), strict=True):
            fold[group] = part
    return parts


def left_out(parts: Sequence[Fold]) -> Iterator[tuple[Fold, Tally]]:
    """Each fold, and everybody else."""
    for at, fold in enumerate(parts):
        yield fold, Tally.sum(tally for other, each in enumerate(parts) if other != at for tally in each.values())


def _fewer(tally: Tally, folds: int) -> int:
    """No more folds than rows, and rows of both classes to fit to and to judge with."""
    check_domain("folds", folds, _domains.FOLDS)
    least = int(tally.rows.sum(axis=1, dtype=np.int64).min())
    if least < 2:
        one = "no row" if not least else "one row"
        raise FitError(f"there is {one} of a class, too few to fit without and to judge with; give more.")
    return min(folds, int(tally.rows.sum(dtype=np.int64)))


def _of_tally(tally: Tally, folds: int, rng: np.random.Generator) -> Iterator[Tally]:
    """Deal the rows at each score; where they have weights, each has the mean of those at its score and class."""
    dealt = dealt_counts(tally.rows.ravel().astype(np.int64), folds, rng)
    for rows in dealt.reshape(folds, 2, -1):
        there = rows.any(axis=0)
        if not tally.weighted:
            yield Tally.counted(tally.score[there], rows[:, there])
            continue
        part = rows[:, there] / np.maximum(tally.rows[:, there].astype(np.float64), 1)
        mass, squares = tally.mass[:, there] * part, tally.squares[:, there] * part
        yield Tally(tally.score[there], mass, squares, rows[:, there], reweighed=tally.reweighed)


def dealt_counts(counts: Codes, folds: int, rng: np.random.Generator) -> Codes:
    """How many rows of each cell are in each fold; folds are equally large, or nearly so where rows are many."""
    total, cells = int(counts.sum()), len(counts)
    if total > _MANY:
        return rng.multinomial(counts, np.full(folds, 1 / folds)).T
    label = rng.permutation(np.arange(total) % folds)
    at = np.repeat(np.arange(cells), counts)
    return np.bincount(label * cells + at, minlength=folds * cells).reshape(folds, cells)


def _of_clusters(data: Rows, folds: int, rng: np.random.Generator) -> list[Fold]:
    """Deal whole clusters, in an order that does not depend on that of the rows: by what is in them."""
    (score,) = data.score.values()
    _, cluster = np.unique(np.asarray(data.cluster), return_inverse=True)
    hashes = each_hashed([data.truth.astype(np.uint64), of_floats(score)])
    content = np.zeros(cluster.max() + 1, dtype=np.uint64)
    np.add.at(content, cluster, hashes)
    order = np.argsort(content, kind="stable")
    folds = min(folds, len(order))
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = rng.permutation(np.arange(len(order)) % folds)
    parts = (data.only(fold[cluster] == at).tallies() for at in range(folds))
    return [dict(next(iter(part.models.values()))) for part in parts]
