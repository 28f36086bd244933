"""Reader of sets of labels: a table with a column of 0 and 1, and perhaps one of scores, for each label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Literal

import numpy as np

from baserate._arrays import Reals
from baserate._errors import OptionError, UnknownLabelError, keyword
from baserate._rows import LabelSets
from baserate._tally import ReadSummary
from baserate.read._columns import Columns
from baserate.read._duckdb import Watch
from baserate.read._engines import Source, open_table
from baserate.read._labels import classes_from_names, format_labels, parse_labels, resolve_label
from baserate.read._multiclass_arrays import label_sets
from baserate.read._table import CompleteRows, Problems, Rule, count_rows, select_complete

Names = str | Sequence[str]


def label_columns(  # noqa: PLR0913  (each is documented)
    source: Source,
    *,
    truth: Names,
    predicted: Names | None = None,
    score: Names | None = None,
    labels: Iterable[object] | None = None,
    weight: str | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
) -> LabelSets:
    """Read sets of labels from any table with columns for each label.

    Parameters
    ----------
    source
        A table, as in :func:`tallies`.
    truth
        Columns that are 1 where a row has the label, and 0 otherwise; or a pattern, ``truth="y_*"``. The name of a
        column, without the common beginning and end of all, is its label.
    predicted
        Columns of the predicted labels, named likewise.
    score
        Columns of scores, named likewise; a higher score means more likely.
    labels
        Labels in use, in order; by default all.
    weight
        Column of weights.
    missing
        Whether to ``"refuse"`` or to ``"drop"`` incomplete rows, as in :func:`tallies`.
    watch
        Shows the progress of reading a file, as in :func:`tallies`.

    Returns
    -------
    LabelSets
        True and predicted labels, and scores, of the complete rows.

    Raises
    ------
    OptionError
        There is nothing to evaluate.
    UnknownLabelError
        The columns of different roles have different labels.

    Examples
    --------
    >>> table = {"y_sea": [1, 0], "y_sky": [1, 1], "p_sea": [0.9, 0.2], "p_sky": [0.4, 0.8]}
    >>> label_columns(table, truth="y_*", score="p_*")
    LabelSets(2 rows; labels sea, sky)
    """
    stated = {"truth": truth, "predicted": predicted, "score": score}
    patterns = {role: _as_tuple(names) for role, names in stated.items() if names is not None}
    if len(patterns) < 2:
        raise OptionError(
            "no columns to evaluate are named",
            remedy=f"name {keyword('predicted', 'd_*')} or {keyword('score', 'p_*')}.",
        )
    every = list(dict.fromkeys(name for names in patterns.values() for name in names))
    columns = Columns.of_target({"score": every, **({} if weight is None else {"weight": weight})})
    with open_table(source, columns, watch) as table:
        loaded, columns = table.load(), table.columns
        problems = Problems(count_rows(loaded))
        complete = select_complete(loaded, columns, Rule(missing=missing), problems, copy=table.copies)
    return _build_sets(complete, patterns, problems, labels)


def _build_sets(
    complete: CompleteRows, patterns: Mapping[str, tuple[str, ...]], problems: Problems, labels: Iterable[object] | None
) -> LabelSets:
    names = _assign_columns(patterns, complete.columns.score)
    labels_of = {role: _label_columns(patterns[role], names[role]) for role in patterns}
    known = labels_of["truth"]
    tables = {
        role: _stack(complete, dict(zip(labels_of[role], names[role], strict=True)), known, role) for role in names
    }
    sets = label_sets(
        tables["truth"],
        predicted=tables.get("predicted"),
        score=tables.get("score"),
        labels=known,
        weight=complete.weight,
    )
    weights = {} if complete.columns.weight is None else {"weight": complete.columns.weight}
    used: dict[str, str | list[str]] = {**names, **weights}
    intake = ReadSummary(complete.read, complete.dropped, problems.reasons, None, None, used, classes=tuple(known))
    sets = replace(sets, intake=intake)
    return sets if labels is None else sets.over(resolve_label(label, known) for label in labels)


def _as_tuple(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _assign_columns(patterns: Mapping[str, tuple[str, ...]], columns: Sequence[str]) -> dict[str, list[str]]:
    """Assign each column to the role that names it most closely: y_* rather than *."""
    names: dict[str, list[str]] = {role: [] for role in patterns}
    for column in columns:
        fits = {
            role: max((_closeness(pattern, column) for pattern in each), default=-1.0)
            for role, each in patterns.items()
        }
        names[max(fits, key=lambda role: fits[role])].append(column)
    empty = [role for role, each in names.items() if not each]
    if empty:
        raise OptionError(
            f"{empty[0]} has no columns of its own: {format_labels(patterns[empty[0]])} are those of another role",
            remedy="name other columns.",
        )
    return names


def _closeness(pattern: str, column: str) -> float:
    """Return the length of the beginning that a pattern states; −1 if the column does not begin so."""
    if pattern == column:
        return inf
    return len(pattern) - 1 if pattern.endswith("*") and column.startswith(pattern[:-1]) else -1


def _label_columns(patterns: tuple[str, ...], names: Sequence[str]) -> list[object]:
    """Return the label of each column."""
    stem = patterns[0][:-1] if len(patterns) == 1 and patterns[0].endswith("*") else ""
    return parse_labels([str(each) for each in classes_from_names(names, (), stem)])


def _stack(complete: CompleteRows, columns: Mapping[object, str], labels: Sequence[object], role: str) -> Reals:
    """Stack columns as a matrix, in the order of the labels."""
    if set(columns) != set(labels):
        raise UnknownLabelError(
            f"the columns of {role} have the labels {format_labels(list(columns))}, those of truth "
            f"{format_labels(labels)}",
            remedy="name a column for each label.",
        )
    return np.stack([np.asarray(complete.numbers(columns[label])) for label in labels], axis=1)
