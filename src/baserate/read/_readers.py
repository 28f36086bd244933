"""Readers of any table: tallies, rows, confusion matrices, scores of several classes, and targets; and their join.

Each reader checks the names of the columns, opens the source (`_engines.open_table`), and returns one result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from baserate._confusion import Confusions
from baserate._domains import wrong_option
from baserate._errors import EmptyDataError, MissingValuesError, OptionError, ShapeError, keyword
from baserate._formatting import count_of, there_are
from baserate._rows import MulticlassRows, MulticlassTarget, Rows, Target
from baserate._tally import ReadSummary, Tallies
from baserate.read._columns import ColumnNames, Columns, TargetColumnNames
from baserate.read._engines import Source, as_paths, open_table
from baserate.read._labels import format_labels
from baserate.read._table import Rule

if TYPE_CHECKING:  # DuckDB is slow to import, and not needed for columns in memory
    from baserate.read._duckdb import Watch

_MAX_IDS = 3
"""IDs that a message lists."""
_AMOUNTS = ("weight", "count")


def tallies(
    source: Source,
    *,
    positive: object = None,
    negative: object = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[ColumnNames],
) -> Tallies:
    """Tally the scores of each class in any table, for each model and group.

    Where an engine holds the data and scores repeat, the engine aggregates and no row leaves it.

    Parameters
    ----------
    source
        A mapping from names to arrays or lists; a frame of pandas, Polars, PyArrow or another library that Narwhals
        supports; a lazy frame; a DuckDB relation; any object with an Arrow stream; or the path of a CSV, TSV, Parquet,
        JSON lines or Arrow file, a pattern (``part-*.csv``), a folder of such files, several of these in a list, or
        ``-`` for standard input.
    positive, negative
        Labels of the two classes. The positive one is optional for booleans and for 0 and 1; the negative one if there
        are only two labels. If both are stated, rows with other labels count as missing.
    missing
        ``"refuse"`` rows with a missing, NaN or infinite value or an unknown label; or ``"drop"`` them, and store their
        number in ``intake``.
    watch
        Called with a function that returns the percentage of a file read so far; returns a context to read in.
    truth, score, predicted, group, weight, count
        Names of columns. `truth` is required, and `score` (one, or several for several models) or `predicted` (labels
        of a classifier without scores). Several columns of `group` form combinations. `weight` and `count` are as in
        :func:`tally`.

    Returns
    -------
    Tallies
        A tally for each model and group, and a summary of the reading.

    Examples
    --------
    >>> table = {"sick": ["y", "n", "n", "y"], "risk": [0.9, 0.4, 0.4, 0.2], "sex": ["f", "f", "m", "m"]}
    >>> by_sex = tallies(table, truth="sick", score="risk", group="sex", positive="y")
    >>> by_sex.models["risk"]["f",]
    Tally(2 rows, 2 distinct scores from 0.4 to 0.9, prevalence 0.5)
    >>> by_sex.intake.description
    '4 rows read; positive = y, negative = n'
    """
    names, rule = replace(Columns.of(columns), id=None, cluster=None), Rule(positive, negative, missing)
    with open_table(source, names, watch) as table:
        return table.tallies(rule)


def rows(
    source: Source,
    *,
    positive: object = None,
    negative: object = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[ColumnNames],
) -> Rows:
    """Read the rows of any table, for paired comparisons, clusters and anything else that needs single rows.

    Parameters
    ----------
    source
        A table, as in :func:`tallies`.
    positive, negative
        Labels of the two classes, as in :func:`tallies`.
    missing
        Whether to ``"refuse"`` or to ``"drop"`` incomplete rows, as in :func:`tallies`.
    watch
        Shows the progress of reading a file, as in :func:`tallies`.
    truth, score, predicted, group, weight, count, id, cluster
        Names of columns, as in :func:`tallies`, and two more: `id` identifies a row, `cluster` the cluster (patient,
        household) to which it belongs.

    Returns
    -------
    Rows
        Labels, scores and further columns of the complete rows.

    Examples
    --------
    >>> table = {"sick": [1, 0, 0], "risk": [0.9, 0.4, None], "who": ["a", "b", "c"]}
    >>> complete = rows(table, truth="sick", score="risk", id="who", missing="drop")
    >>> complete.id.tolist(), complete.intake.description
    (['a', 'b'], '3 rows read, 1 of them dropped (risk: 1 missing); positive = 1, negative = 0')
    """
    names, rule = Columns.of(columns), Rule(positive, negative, missing)
    with open_table(source, names, watch) as table:
        return table.rows(rule)


def confusions(
    source: Source,
    *,
    labels: Iterable[object] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[ColumnNames],
) -> Confusions:
    """Count the confusion matrix of any table, for each group.

    Parameters
    ----------
    source
        A table, as in :func:`tallies`.
    labels
        All classes in order; by default the labels that occur in either column, sorted.
    missing
        Whether to ``"refuse"`` or to ``"drop"`` incomplete rows, as in :func:`tallies`.
    watch
        Shows the progress of reading a file, as in :func:`tallies`.
    truth, predicted, group, weight, count
        Names of columns, as in :func:`tallies`; `truth` and `predicted` are required.

    Returns
    -------
    Confusions
        A confusion matrix for each group, and a summary of the reading.

    Examples
    --------
    >>> table = {"is": ["cat", "dog", "dog", "fish"], "called": ["cat", "cat", "dog", "dog"]}
    >>> confusions(table, truth="is", predicted="called").pooled
    Confusion(cat, dog, fish; 4, of which 2 on the diagonal)
    """
    names = replace(Columns.of(columns), id=None, cluster=None)
    if names.predicted is None or names.score:
        raise OptionError(
            "a confusion matrix needs true and predicted labels",
            remedy=f"give {keyword('predicted')} and no {keyword('score')}.",
        )
    with open_table(source, names, watch) as table:
        return table.confusions(Rule(missing=missing, labels=_as_tuple(labels)))


def class_rows(
    source: Source,
    *,
    labels: Iterable[object] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[ColumnNames],
) -> MulticlassRows:
    """Read the rows of any table with a score for each class.

    Parameters
    ----------
    source
        A table, as in :func:`tallies`.
    labels
        All classes in order; needed if the names of the columns do not contain the classes.
    missing
        Whether to ``"refuse"`` or to ``"drop"`` incomplete rows, as in :func:`tallies`.
    watch
        Shows the progress of reading a file, as in :func:`tallies`.
    truth, score, group, weight, count
        Names of columns, as in :func:`tallies`. `score` has a column for each class, or a pattern, ``score="p_*"``. The
        name of a column, without the common beginning and end of all, is its class; or a mapping states the classes,
        ``score={"cat": "p1", "dog": "p2"}``.

    Returns
    -------
    MulticlassRows
        True classes and scores of the complete rows.

    Examples
    --------
    >>> table = {"is": ["cat", "dog", "dog"], "p_cat": [0.8, 0.3, 0.6], "p_dog": [0.2, 0.7, 0.4]}
    >>> class_rows(table, truth="is", score="p_*")
    MulticlassRows(3 rows; scores for cat, dog)
    """
    score = columns.get("score")
    bound = None
    if isinstance(score, Mapping):
        bound, columns["score"] = tuple(score), tuple(score.values())
    names = replace(Columns.of(columns), id=None, cluster=None)
    if not names.score or names.predicted is not None:
        raise OptionError(
            "rows of several classes need a column of scores for each class",
            remedy=f"give {keyword('score')} and no {keyword('predicted')}.",
        )
    with open_table(source, names, watch) as table:
        return table.class_rows(Rule(missing=missing, labels=_as_tuple(labels), bound=bound))


def decisions(
    source: Source,
    *,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[ColumnNames],
) -> Tallies | Confusions:
    """Read true and predicted labels of any table: as tallies for two classes, as confusion matrices for more.

    Parameters
    ----------
    source
        A table, as in :func:`tallies`.
    missing
        Whether to ``"refuse"`` or to ``"drop"`` incomplete rows, as in :func:`tallies`.
    watch
        Shows the progress of reading a file, as in :func:`tallies`.
    truth, predicted, group, weight, count
        Names of columns, as in :func:`confusions`.

    Returns
    -------
    Tallies or Confusions
        Whichever fits the number of classes.
    """
    names = replace(Columns.of(columns), id=None, cluster=None)
    with open_table(source, names, watch) as table:
        # Two passes over the table, but the first is one cheap query, and only labels decide the number of classes.
        tables = table.confusions(Rule(missing=missing))
        return tables if len(tables.labels) > 2 else table.tallies(Rule(missing=missing))


def _as_tuple(labels: Iterable[object] | None) -> tuple[object, ...] | None:
    return None if labels is None else tuple(labels)


def target(
    source: Source,
    *,
    positive: object = None,
    negative: object = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[TargetColumnNames],
) -> Target:
    """Read the scores of deployment data, most or all of them unlabelled.

    Where an engine holds the data and scores repeat, the engine aggregates and no row leaves it.

    Parameters
    ----------
    source
        A table, as in :func:`tallies`; or the scores themselves, as an array or list, if no column is named.
    positive, negative
        Labels of the two classes, as in :func:`tallies`. State both if all labelled rows may be of one class.
    missing
        ``"refuse"`` rows whose score or weight is missing, NaN or infinite, or whose truth is an unknown label; or
        ``"drop"`` them, and store their number in ``intake``.
    watch
        Shows the progress of reading a file, as in :func:`tallies`.
    score, truth, weight, count
        Names of columns. `score` is one column. With `truth`, rows in which it is missing are unlabelled, and all
        others go into ``labelled``; without it, all rows are unlabelled. `weight` and `count` are as in :func:`tally`.

    Returns
    -------
    Target
        Scores of the unlabelled rows, and a tally of the labelled ones.

    Examples
    --------
    >>> table = {"risk": [0.9, 0.4, 0.4, 0.2], "sick": ["y", None, None, "n"]}
    >>> deployment = target(table, score="risk", truth="sick", positive="y")
    >>> deployment
    Target(2 unlabelled rows, 2 labelled)
    >>> deployment.intake.description
    '4 rows read; 2 labelled; positive = y, negative = n'
    >>> target([0.9, 0.4, 0.4])
    Target(3 unlabelled rows)
    """
    if "score" not in columns and _is_score_array(source):
        source, columns["score"] = {"score": source}, "score"
    names, rule = Columns.of_target(columns), Rule(positive, negative, missing)
    if not names.truth and (positive is not None or negative is not None):
        raise OptionError(
            f"{keyword('positive')} and {keyword('negative')} are labels, but no column holds any",
            remedy=f"name it with {keyword('truth')}.",
        )
    with open_table(source, names, watch) as table:
        if len(table.columns.score) > 1:
            raise OptionError(
                f"a target has one score for each row, not several ({format_labels(table.columns.score)})",
                remedy="name one, or read a score for each class with read.class_target.",
            )
        return table.target(rule)


def class_target(
    source: Source,
    *,
    labels: Iterable[object] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[TargetColumnNames],
) -> MulticlassTarget:
    """Read a score for each class from deployment data, most or all rows unlabelled.

    Parameters
    ----------
    source
        A table, as in :func:`tallies`; or a matrix of scores with a column for each class.
    labels
        All classes in order. Needed for a table if the names of the columns do not contain the classes, and for a
        matrix if the classes are not 0, 1, 2, ….
    missing
        Whether to ``"refuse"`` or to ``"drop"`` incomplete rows, as in :func:`tallies`.
    watch
        Shows the progress of reading a file, as in :func:`tallies`.
    score, truth, weight, count
        Names of columns, as in :func:`target`; `score` has a column for each class, as in :func:`class_rows`.

    Returns
    -------
    MulticlassTarget
        Scores of the unlabelled rows, and the labelled rows.

    Examples
    --------
    >>> table = {"p_cat": [0.8, 0.3, 0.6], "p_dog": [0.2, 0.7, 0.4], "is": ["cat", None, None]}
    >>> class_target(table, score="p_*", truth="is")
    MulticlassTarget(2 unlabelled rows, 1 labelled; scores for cat, dog)
    >>> class_target(np.array([[0.8, 0.2], [0.3, 0.7]]), labels=["cat", "dog"])
    MulticlassTarget(2 unlabelled rows; scores for cat, dog)
    """
    order = _as_tuple(labels)
    if "score" not in columns and isinstance(source, np.ndarray) and source.ndim == 2:
        source, columns["score"] = _split_columns(source, order)
    score, bound = columns.get("score"), None
    if isinstance(score, Mapping):
        bound, columns["score"] = tuple(score), tuple(score.values())
    with open_table(source, Columns.of_target(columns), watch) as table:
        return table.class_target(Rule(missing=missing, labels=order, bound=bound))


def _is_score_array(source: Source) -> bool:
    """Return whether these are the scores themselves: an array, or a list of anything but paths."""
    return hasattr(source, "dtype") or (isinstance(source, (list, tuple)) and not as_paths(source))


def _split_columns(scores: Any, labels: tuple[object, ...] | None) -> tuple[dict[str, Any], dict[object, str]]:  # noqa: ANN401  (an array)
    """Return the columns of a matrix by name, and the name of each class's column."""
    names = [f"score of column {at}" for at in range(scores.shape[1])]
    classes = tuple(range(len(names))) if labels is None else labels
    if len(classes) != len(names):
        raise OptionError(
            f"{there_are(len(classes), 'label')} for {len(names)} columns of scores", remedy="give one for each."
        )
    return dict(zip(names, scores.T, strict=True)), dict(zip(classes, names, strict=True))


def join(parts: Mapping[str, Rows], *, missing: Literal["refuse", "drop"] = "refuse") -> Rows:
    """Join the rows of several models by `id`, so that each row has the scores of all models.

    Truth, groups, weights and clusters must be the same in all parts.

    Parameters
    ----------
    parts
        Rows of each part, read with `id`. A single score is named like its part, several are named ``part: score``.
    missing
        Whether to ``"refuse"`` or to ``"drop"`` rows that are not in all parts.

    Returns
    -------
    Rows
        The common rows, in the order of the first part.

    Examples
    --------
    >>> from baserate import read
    >>> new = read.rows({"sick": [1, 0], "risk": [0.9, 0.2], "who": ["a", "b"]}, truth="sick", score="risk", id="who")
    >>> old = read.rows({"sick": [0, 1], "risk": [0.4, 0.7], "who": ["b", "a"]}, truth="sick", score="risk", id="who")
    >>> {model: score.tolist() for model, score in join({"new": new, "old": old}).score.items()}
    {'new': [0.9, 0.2], 'old': [0.7, 0.4]}
    """
    if missing not in ("refuse", "drop"):
        raise wrong_option("missing", missing, "'refuse' or 'drop'")
    if len(parts) < 2:
        raise OptionError("there is nothing to join", remedy="give the rows of two models or more.")
    places = {part: _locate_ids(part, rows) for part, rows in parts.items()}
    common, stray = _common_ids(places, missing)
    # IDs match by value, so that the text "1" of a CSV file is not the number 1 of a Parquet file.
    selected = {part: np.array([row_of[name] for name in common]) for part, row_of in places.items()}
    (first, base), *others = parts.items()
    for other, rows in others:
        _check_same_rows(base, rows, selected[first], selected[other], (first, other))
    rows_of_first = selected[first]
    columns: dict[str, Any] = {
        name: None if getattr(base, name) is None else getattr(base, name)[rows_of_first]
        for name in (*_AMOUNTS, "id", "cluster")
    }
    score = {
        _model_name(part, model, rows): rows.score[model][selected[part]]
        for part, rows in parts.items()
        for model in rows.score
    }
    # Without attributes `group` is empty: there is no number for each row to select.
    group = base.group[rows_of_first] if base.attributes else base.group
    intake = _join_summaries(parts, stray, len(common))
    return replace(base, truth=base.truth[rows_of_first], score=score, group=group, intake=intake, **columns)


def _common_ids(places: Mapping[str, Mapping[Any, int]], missing: str) -> tuple[list[Any], dict[str, int]]:
    """Return the ids of all parts, in the order of the first, and the number of other ids in each part."""
    first, *others = places.values()
    common = [name for name in first if all(name in other for other in others)]
    stray = {part: len(rows) - len(common) for part, rows in places.items() if len(rows) > len(common)}
    if stray and missing == "refuse":
        counts = ", ".join(f"{many} of {part}" for part, many in stray.items())
        raise MissingValuesError(
            f"some ids are not in all tables ({counts}).",
            remedy=f"Add them, or leave them out with {keyword('missing', 'drop')}.",
        )
    if not common:
        raise EmptyDataError("no id is in all tables", remedy="give tables of the same rows.")
    return common, stray


def _locate_ids(part: str, rows: Rows) -> dict[Any, int]:
    """Return the row of each id."""
    if rows.id is None:
        raise OptionError(
            f"the rows of {part} have no ids", remedy=f"read them with {keyword('id')}, the column that names each row."
        )
    names = rows.id.tolist()
    row_of = {name: at for at, name in enumerate(names)}
    if len(row_of) < len(names):
        earlier: set[Any] = set()
        twice = list(dict.fromkeys(name for name in names if name in earlier or earlier.add(name)))  # type: ignore[func-returns-value]
        raise ShapeError(
            f"{count_of(len(twice), 'id')} of {part} {'names' if len(twice) == 1 else 'name'} several rows "
            f"({_format_ids(twice)})",
            remedy="give each row one of its own.",
        )
    return row_of


def _check_same_rows(
    one: Rows, other: Rows, mine: npt.NDArray[Any], theirs: npt.NDArray[Any], parts: tuple[str, str]
) -> None:
    """Check that two parts agree on everything but the scores."""
    both = f"{parts[0]} and {parts[1]}"
    if one.intake.positive != other.intake.positive:
        raise OptionError(
            f"the positive label is {one.intake.positive!r} in {parts[0]} but {other.intake.positive!r} in {parts[1]}",
            remedy=f"name it with {keyword('positive')}.",
        )
    if one.attributes != other.attributes:
        raise OptionError(
            f"{both} are grouped by different columns", remedy=f"read both with the same {keyword('group')}."
        )
    columns = {"truth": (one.truth[mine], other.truth[theirs])}
    if one.attributes:
        columns["group"] = (_group_names(one)[mine], _group_names(other)[theirs])
    for name in (*_AMOUNTS, "cluster"):
        first, second = getattr(one, name), getattr(other, name)
        if (first is None) != (second is None):
            raise OptionError(f"only one of {both} has a {name}", remedy="read both with the same.")
        if first is not None:
            columns[name] = (first[mine], second[theirs])
    if "cluster" in columns:
        columns["cluster"] = (_cluster_starts(columns["cluster"][0]), _cluster_starts(columns["cluster"][1]))
    for name, (first, second) in columns.items():
        bad = np.flatnonzero(first != second)
        if len(bad):
            assert one.id is not None  # noqa: S101  (for the type checker)
            ids = _format_ids(one.id[mine][bad[:_MAX_IDS]].tolist(), len(bad))
            raise ShapeError(
                f"{name} of {both} differs in {len(bad)} of {len(mine)} rows (id {ids})", remedy="correct one of them."
            )


def _group_names(rows: Rows) -> npt.NDArray[Any]:
    """Return the group of each row as text, since numbers of groups depend on which groups occur."""
    return np.array([repr(group) for group in rows.groups])[rows.group]


def _cluster_starts(cluster: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the first row of each row's cluster, since numbers of clusters depend on which clusters occur."""
    _, first, which = np.unique(cluster, return_index=True, return_inverse=True)
    return first[which]


def _model_name(part: str, model: str, rows: Rows) -> str:
    return part if len(rows.score) == 1 else f"{part}: {model}"


def _join_summaries(parts: Mapping[str, Rows], stray: Mapping[str, int], common: int) -> ReadSummary:
    """Summarize the reading: rows of the largest table, and reasons for leaving rows out."""
    intakes = [rows.intake for rows in parts.values()]
    read = max(*(intake.read for intake in intakes), common)
    reasons = {
        f"{part} {column}": dict(kinds) for part, rows in parts.items() for column, kinds in rows.intake.reasons.items()
    }
    reasons |= {f"{part} id": {"not in all tables": many} for part, many in stray.items()}
    notes = tuple(dict.fromkeys(note for intake in intakes for note in intake.notes))
    columns = dict(intakes[0].columns)
    if columns.pop("predicted", None):  # joined scores have other names
        notes += ("predicted labels are taken as scores of 0 and 1.",)
    return replace(intakes[0], read=read, dropped=read - common, reasons=reasons, columns=columns, notes=notes)


def _format_ids(names: Sequence[object], many: int | None = None) -> str:
    rest = (len(names) if many is None else many) - len(names[:_MAX_IDS])
    return ", ".join(map(repr, names[:_MAX_IDS])) + (f" and {rest} more" if rest else "")
