"""`combined`: the weighted sum of two scores that ranks best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, mean_defined, refuse_differing_indexes
from baserate._errors import MissingValuesError, NotBinaryError, OptionError, UnknownNameError
from baserate._numeric.hashing import each_hashed, of_floats
from baserate._rows import MulticlassRows, Rows
from baserate.decide._directions import Plane, best_weights

PAIRS = 5_000_000
"""Pairs of a positive and a negative, up to which all are compared; they take about 250 MB."""
_FOLDS = 5
_SIDES = ("negative", "positive")


@dataclass(frozen=True, slots=True)
class Combination:
    """Weights of two scores, and how well their weighted sum ranks."""

    names: tuple[str, str]
    weights: tuple[float, float]
    """In units of the scores; the first is 1 or −1, unless only the second score counts."""
    auc: float
    """On the rows that the weights were chosen on, hence too high."""
    alone: tuple[float, float]
    """AUC of each score."""
    held_out: float
    """Mean AUC in folds whose rows had no part in the choice; NaN where there are too few rows for that."""
    exact: bool
    """Whether no weights whatsoever give a higher AUC; otherwise the best of those that were tried."""
    chosen_on: str
    """SHA-256 of truth and both scores, in whatever order the rows are."""

    def score(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
        """Weighted sum of two scores, row by row."""
        refuse_differing_indexes({"first": first, "second": second})
        columns = (np.asarray(each, dtype=np.float64) for each in (first, second))
        # A score without weight is left out, whatever it holds.
        parts = [weight * each for weight, each in zip(self.weights, columns, strict=True) if weight != 0]
        found: Floats = np.sum(parts, axis=0)
        return found


def combined(
    rows: Rows,
    scores: tuple[str, str] | None = None,
    *,
    positive_weights: bool = False,
    limit: int = PAIRS,
    seed: int = 0,
) -> Combination:
    """Find the weights of two scores whose weighted sum has the highest AUC [@marrocco2008].

    Only the direction of the weights matters. As it turns, a positive and a negative change their order at a single
    angle; all these angles, sorted, give the AUC of every direction, with ties as half, and so the highest. With more
    than `limit` pairs of distinct scores, directions are tried instead, ever closer to the best, and `exact` is false.
    A score may count negatively, unless `positive_weights` are asked for. Masses of rows count in every pair.

    Weights that were chosen on some rows rank these better than others: `held_out` is the mean AUC in five folds, each
    ranked by weights that were chosen without it. Rows of one cluster stay together; `seed` decides the folds alone.

    >>> from baserate import read
    >>> people = {"sick": [1, 1, 1, 0, 0, 0], "age": [60, 80, 50, 70, 30, 40], "dose": [5, 2, 5, 1, 4, 3]}
    >>> found = combined(read.rows(people, truth="sick", score=["age", "dose"]))
    >>> [round(each, 3) for each in (*found.alone, found.auc)], found.exact
    ([0.778, 0.778, 1.0], True)
    """
    names = _names(rows, scores)
    if limit < 0:
        raise OptionError(
            f"limit is {limit}; give the number of pairs up to which all are compared, for example {PAIRS}."
        )
    plane = _plane(rows, names)
    weights, exact = best_weights(plane, positive=positive_weights, limit=limit)
    found = plane.in_units_of_scores(weights)
    score = np.stack([rows.score[name] for name in names], axis=1)
    told = MulticlassRows(rows.truth.astype(np.uint8), score, _SIDES, count=rows.count).digest
    alone = plane.area((1.0, 0.0)), plane.area((0.0, 1.0))
    kept = [_held_out(plane, fold, positive=positive_weights, limit=limit) for fold in _folds(rows, plane, seed)]
    return Combination(names, found, plane.area(weights), alone, mean_defined(np.array(kept)), exact, told)


def _names(rows: Rows, scores: tuple[str, str] | None) -> tuple[str, str]:
    given = tuple(rows.score) if scores is None else tuple(scores)
    unknown = [name for name in given if name not in rows.score]
    if unknown:
        raise UnknownNameError(f"there is no score {unknown[0]!r}; there are: {', '.join(rows.score)}.")
    if len(given) != 2 or given[0] == given[1]:
        raise OptionError(f"scores are {', '.join(given)}; name two that differ, as scores=(first, second).")
    return given[0], given[1]


def _plane(rows: Rows, names: tuple[str, str]) -> Plane:
    bad = sum(int(np.count_nonzero(~np.isfinite(rows.score[name]))) for name in names)
    if bad:
        raise MissingValuesError(f"{bad} of {2 * len(rows)} scores are NaN or infinite; leave those rows out.")
    there = np.ones(len(rows), dtype=np.bool_)
    for amount in (rows.weight, rows.count):
        there &= True if amount is None else amount > 0
    for side, name in ((~rows.truth, "negatives"), (rows.truth, "positives")):
        if not (side & there).any():
            raise NotBinaryError(
                f"there are no {name}, so nothing can be ranked above or below them; give both classes."
            )
    return Plane.of(rows.truth, (rows.score[names[0]], rows.score[names[1]]), rows.weight, rows.count)


def _held_out(plane: Plane, fold: Bools, *, positive: bool, limit: int) -> float:
    """AUC of a fold by weights that were chosen without it."""
    weights, _ = best_weights(plane.only(~fold), positive=positive, limit=limit)
    return plane.only(fold).area(weights)


def _folds(rows: Rows, plane: Plane, seed: int) -> list[Bools]:
    """Rows of each fold: clusters, or single rows, dealt by what they hold, those with positives apart.

    An AUC does not depend on how many there are of a class, so that nothing leaks if folds have equally many.
    """
    own = np.arange(len(rows)) if rows.cluster is None else np.unique(rows.cluster, return_inverse=True)[1]
    units = int(own.max()) + 1
    content = np.zeros(units, dtype=np.uint64)
    held = [plane.first, plane.second, *(each for each in (rows.weight, rows.count) if each is not None)]
    np.add.at(content, own, each_hashed([rows.truth, *map(of_floats, held)]))
    sick = np.bincount(own, weights=rows.truth, minlength=units) > 0
    folds = min(_FOLDS, int(sick.sum()), int((~sick).sum()))
    if folds < 2:
        return []
    rng = np.random.default_rng(seed)
    dealt = np.empty(units, dtype=np.intp)
    for some in (np.flatnonzero(sick), np.flatnonzero(~sick)):
        ordered = some[np.argsort(content[some], kind="stable")]
        dealt[ordered] = rng.permutation(np.arange(len(some)) % folds)
    return [dealt[own] == at for at in range(folds)]
