"""Maps judged on rows that they were not fitted on."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from baserate import _domains
from baserate._arrays import make_read_only
from baserate._calibrator import MulticlassCalibrator
from baserate._domains import check_domain
from baserate._errors import EmptyDataError, FitError
from baserate._numeric.codes import Codes
from baserate._numeric.hashing import Words, each_hashed, of_floats
from baserate._rows import MulticlassRows

_DEALS = 100
"""How often rows are dealt before we give up."""


def crossfitted(
    rows: MulticlassRows,
    fit: Callable[[MulticlassRows], MulticlassCalibrator],
    *,
    folds: int = 5,
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
) -> MulticlassRows:
    """Rows with the probabilities that a map gives which was fitted on the other folds.

    They are in the same order, and as many. On them a map is judged as on new rows, if a little worse than the map of
    all rows would be. `watch` is told how many folds of how many are done.

    >>> from baserate import scored
    >>> from baserate.calibrate.multiclass import prior
    >>> rows = scored(list("ccdd"), [[0.8, 0.2], [0.4, 0.6], [0.6, 0.4], [0.3, 0.7]])
    >>> crossfitted(rows, prior)
    ClassRows(4 rows; scores for c, d)
    """
    fold = folds_of(rows, folds, seed=seed)
    score = np.empty(rows.score.shape, order="F")
    many = int(fold.max()) + 1
    for at in range(many):
        out = fold == at
        if not out.any():
            continue
        try:
            made = fit(rows.only(~out))
        except FitError as error:
            raise FitError(f"without fold {at + 1} of {many}: {error}") from error
        score[out] = made(rows.score[out])
        if watch:
            watch(at + 1, many)
    return replace(rows, score=make_read_only(score))


def folds_of(rows: MulticlassRows, folds: int = 5, *, seed: int = 0) -> Codes:
    """Number of the fold of each row: folds are equally large, and hold of each class what chance gives them.

    What a row holds decides where it goes, not its place, so that the order of the rows changes nothing. Chance that
    leaves all rows of a class in one fold is dealt anew, since the others could not be fitted.

    >>> from baserate import scored
    >>> rows = scored(list("ccddd"), [[0.8, 0.2], [0.4, 0.6], [0.6, 0.4], [0.3, 0.7], [0.1, 0.9]])
    >>> np.bincount(folds_of(rows, 2)).tolist()
    [3, 2]
    """
    check_domain("folds", folds, _domains.FOLDS)
    if not len(rows):
        raise EmptyDataError("there are no rows to deal into folds.")
    times = np.bincount(rows.truth, minlength=len(rows.labels))
    least = int(np.where(times > 0, times, len(rows) + 1).argmin())
    if times[least] < 2:
        raise FitError(f"{rows.labels[least]} has a single row, which cannot be in two folds; give more rows of it.")
    folds = int(min(folds, len(rows)))
    rng = np.random.default_rng(seed)
    order = np.lexsort((_hashes(rows), rows.truth))
    found = np.empty(len(rows), dtype=np.min_scalar_type(folds))
    for _ in range(_DEALS):
        found[order] = rng.permutation(np.arange(len(rows)) % folds)
        in_fold = np.bincount(rows.truth * np.intp(folds) + found, minlength=len(times) * folds).reshape(-1, folds)
        if (in_fold < times[:, None])[times > 0].all():
            return found
    raise FitError(f"all rows of {rows.labels[least]} are in one fold, however they are dealt; give more rows of it.")


def _hashes(rows: MulticlassRows) -> Words:
    """What a row holds, as a number."""
    columns = [of_floats(rows.score[:, at]) for at in range(len(rows.labels))]
    columns += [of_floats(amount) for amount in (rows.weight, rows.count) if amount is not None]
    if rows.attributes:
        columns.append(rows.group.astype(np.uint64))
    return each_hashed(columns)
