"""Any table whose truth is not known, or known of some rows only -> Target or ClassTarget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from baserate._errors import OptionError
from baserate._formatting import there_are
from baserate._target import MulticlassTarget, Target
from baserate.read._eager import Rule
from baserate.read._labels import listed
from baserate.read._named import Columns, NamedTarget
from baserate.read._tables import Source, as_tuple, opened, paths_of

if TYPE_CHECKING:  # DuckDB is slow to import, and not needed for what is in memory
    from baserate.read._duckdb import Watch


def target(
    source: Source,
    *,
    positive: object = None,
    negative: object = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[NamedTarget],
) -> Target:
    """Read scores from where a classifier will be used, most or all of them without a truth.

    Where an engine holds the data and scores repeat, the engine adds up and no row leaves it.

    Parameters
    ----------
    source
        As in :func:`tallies`; or the scores themselves, as an array or list, if no column is named.
    positive, negative
        As in :func:`tallies`, for the rows whose truth is known. Few rows may all be of one class: name both then.
    missing
        ``"refuse"`` rows whose score or weight is missing, NaN or infinite, or whose truth is an unknown label; or
        ``"drop"`` them, and remember how many in ``intake``.
    watch
        As in :func:`tallies`.
    score, truth, weight, count
        Names of columns. `score` is one column. With `truth`, rows in which it is missing are those without truth, and
        all others go into ``labelled``; without it, no row has one. `weight` and `count` are as in :func:`tally`.

    Examples
    --------
    >>> found = target({"risk": [0.9, 0.4, 0.4, 0.2], "sick": ["y", None, None, "n"]}, score="risk", truth="sick",
    ...                positive="y")
    >>> found
    Target(2 rows without truth, 2 with it)
    >>> found.intake.told
    '4 rows read; 2 with truth; positive = y, negative = n'
    >>> target([0.9, 0.4, 0.4])
    Target(3 rows without truth)
    """
    if "score" not in columns and _bare(source):
        source, columns["score"] = {"score": source}, "score"
    named, rule = Columns.of_target(columns), Rule(positive, negative, missing)
    if not named.truth and (positive is not None or negative is not None):
        raise OptionError("positive= and negative= are labels of the truth; name its column too, with truth=.")
    with opened(source, named, watch) as table:
        if len(table.columns.score) > 1:
            raise OptionError(
                f"a target has one score for each row, not several ({listed(table.columns.score)}); name one, or read "
                "a score for each class with read.class_target."
            )
        return table.target(rule)


def class_target(
    source: Source,
    *,
    labels: Iterable[object] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[NamedTarget],
) -> MulticlassTarget:
    """Read a score for each class from where a classifier will be used, most or all rows without a truth.

    As :func:`target`, with a column of scores for each class. Which belongs to which class is told as in
    :func:`class_rows`; `labels` puts them into an order, and is needed where names tell nothing. An array of a row for
    each row and a column for each class needs no names, but `labels`, if these are not 0, 1, 2, ….

    >>> table = {"p_cat": [0.8, 0.3, 0.6], "p_dog": [0.2, 0.7, 0.4], "is": ["cat", None, None]}
    >>> class_target(table, score="p_*", truth="is")
    ClassTarget(2 rows without truth, 1 with it; scores for cat, dog)
    >>> class_target(np.array([[0.8, 0.2], [0.3, 0.7]]), labels=["cat", "dog"])
    ClassTarget(2 rows without truth; scores for cat, dog)
    """
    order = as_tuple(labels)
    if "score" not in columns and isinstance(source, np.ndarray) and source.ndim == 2:
        source, columns["score"] = _by_class(source, order)
    score, bound = columns.get("score"), None
    if isinstance(score, Mapping):
        bound, columns["score"] = tuple(score), tuple(score.values())
    with opened(source, Columns.of_target(columns), watch) as table:
        return table.class_target(Rule(missing=missing, labels=order, bound=bound))


def _bare(source: Source) -> bool:
    """Whether these are scores themselves, not a table: a list of anything but paths, or what has one type."""
    return hasattr(source, "dtype") or (isinstance(source, (list, tuple)) and not paths_of(source))


def _by_class(scores: Any, labels: tuple[object, ...] | None) -> tuple[dict[str, Any], dict[object, str]]:  # noqa: ANN401  (an array)
    """Columns of an array, and which belongs to which class."""
    names = [f"score of column {at}" for at in range(scores.shape[1])]
    known = tuple(range(len(names))) if labels is None else labels
    if len(known) != len(names):
        raise OptionError(f"{there_are(len(known), 'label')} for {len(names)} columns of scores; give one for each.")
    return dict(zip(names, scores.T, strict=True)), dict(zip(known, names, strict=True))
