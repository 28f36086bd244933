"""Results from a table in memory: Rows and Tallies, Confusions, MulticlassRows, and targets mostly without labels.

Each builder checks the labels, leaves out or refuses rows with problems, and makes the result of the complete rows.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from baserate._arrays import Bools, Cells, Floats, Reals, make_read_only
from baserate._confusion import Confusion, Confusions, distinct_labels, row_amounts
from baserate._costs import CostMatrix
from baserate._domains import wrong_option
from baserate._errors import (
    DataError,
    EmptyDataError,
    FileFormatError,
    NoSuchFileError,
    NotBinaryError,
    OptionError,
    ShapeError,
    UnknownLabelError,
    advice,
    keyword,
)
from baserate._formatting import count_of
from baserate._numeric.distinct import Codes, positions_by_code
from baserate._rows import MulticlassRows, MulticlassTarget, Rows, Target
from baserate._tally import Group, ReadSummary, Tallies, Tally
from baserate.read._columns import Columns, first_record, remove_quoted_cells
from baserate.read._labels import (
    Classes,
    classes_from_names,
    find_classes,
    format_labels,
    occurs_in_names,
    parse_jointly,
    parse_labels,
    refuse_mixed_types,
    resolve_label,
    sort_labels,
)
from baserate.read._table import (
    CompleteRows,
    LabelCodes,
    Problems,
    Rule,
    Table,
    check_labels,
    count_rows,
    find_unknown,
    is_label,
    note_labels,
    select_complete,
)

_MAX_CLASSES = 5000
"""More classes than this are more likely identifiers or numbers."""
_MAX_CELLS = 10**8
"""Cells of the tables of all groups that fit into memory."""


def build_tallies(table: Table, columns: Columns, rule: Rule) -> Tallies:
    """Build the tallies of each model and group."""
    return build_rows(table, columns, rule, copy=False).tallies()


def build_rows(table: Table, columns: Columns, rule: Rule, *, copy: bool = True) -> Rows:
    """Build rows of two classes; without `copy` they may share memory with the table."""
    problems = Problems(count_rows(table))
    two = check_binary_labels(table.labels, columns, rule, problems)
    complete = select_complete(table, columns, rule, problems, copy=copy)
    scores = {name: complete.numbers(name) for name in columns.score}
    if columns.predicted is not None:
        flagged = is_label(complete.labels(columns.predicted), two.positive)
        scores[columns.predicted] = make_read_only(flagged.astype(np.float32))
    group, groups = complete.groups()
    return Rows(
        truth=make_read_only(is_label(complete.labels(columns.truth), two.positive)),
        score=scores,
        group=group,
        groups=groups,
        attributes=columns.group,
        weight=complete.weight,
        count=complete.count,
        id=None if table.id is None else complete.select(table.id),
        cluster=None if columns.cluster is None else complete.labels(columns.cluster).codes,
        intake=ReadSummary(
            complete.read, complete.dropped, problems.reasons, *two, columns.names, note_labels(table.labels)
        ),
    )


def build_confusions(table: Table, columns: Columns, rule: Rule) -> Confusions:
    """Build the confusion matrix of each group."""
    problems = Problems(count_rows(table))
    stated = check_classes(table.labels, columns, rule, problems)
    complete = select_complete(table, columns, rule, problems, copy=False)
    pair = [complete.labels(columns.truth), complete.labels(str(columns.predicted))]
    labels = stated or occurring_labels(pair, columns, table.orders)
    truth, predicted = (renumber(column, labels) for column in pair)
    group, groups = complete.groups()
    refuse_large_tables(labels, len(groups))
    amounts = row_amounts(complete.weight, complete.count)
    tables = tabulate_groups(truth, predicted, labels, amounts, group, groups)
    intake = ReadSummary(
        complete.read, complete.dropped, problems.reasons, None, None, columns.names, note_labels(table.labels), labels
    )
    return Confusions(tables, columns.group, intake)


def build_class_rows(
    table: Table, columns: Columns, rule: Rule, *, copy: bool = True, score: Reals | None = None
) -> MulticlassRows:
    """Build rows with a score for each class; `score` is all of them in one array, where they came as one."""
    problems = Problems(count_rows(table))
    truth = check_labels(table.labels, columns, problems)
    refuse_mixed_types(truth.labels, columns.truth, UnknownLabelError)
    columns, rule = share_score(columns, rule)
    classes = match_classes(columns, rule, sort_labels(truth.labels))
    labels = order_classes(classes, rule, truth.labels)
    problems.add(columns.truth, "unknown label", find_unknown(truth, labels))
    complete = select_complete(table, columns, replace(rule, labels=labels), problems, copy=copy)
    codes = renumber(complete.labels(columns.truth), labels)
    if score is None or complete.valid is not None:  # an array in one piece serves only if no row is left out
        score = stack_scores(complete, classes, labels)
    group, groups = complete.groups()
    intake = summarize_classes(complete, classes, labels, problems)
    return MulticlassRows(codes, score, labels, complete.weight, complete.count, group, groups, columns.group, intake)


def build_target(table: Table, columns: Columns, rule: Rule, *, copy: bool = True) -> Target:
    """Build a target: scores of rows without label, and a tally of the labelled rows."""
    table = blank_to_missing(table)
    problems = Problems(count_rows(table))
    two = find_target_classes(table.labels, columns, rule, problems)
    complete = select_complete(table, columns, rule, problems, copy=copy)
    intake = ReadSummary(
        complete.read, complete.dropped, problems.reasons, *two, columns.names, note_labels(table.labels), labelled=0
    )
    score, weight, count = complete.numbers(columns.score[0]), complete.weight, complete.count
    if two.positive is None:
        return Target.of_rows(score, weight=weight, count=count, intake=intake)
    truth = complete.labels(columns.truth)
    labelled_rows = truth.codes >= 0
    refuse_all_labelled(labelled_rows, len(labelled_rows), columns)
    positive = is_label(truth, two.positive)[labelled_rows]
    amounts = {"weight": _select_rows(weight, labelled_rows), "count": _select_rows(count, labelled_rows)}
    labelled = Tally.of_rows(positive, score[labelled_rows], **amounts)
    return Target.of_rows(
        score[~labelled_rows],
        weight=_select_rows(weight, ~labelled_rows),
        count=_select_rows(count, ~labelled_rows),
        labelled=labelled if len(positive) else None,
        intake=replace(intake, labelled=len(positive)),
    )


def build_class_target(table: Table, columns: Columns, rule: Rule, *, copy: bool = True) -> MulticlassTarget:
    """Build a target with a score for each class: rows without label, and the labelled rows."""
    table = blank_to_missing(table)
    problems = Problems(count_rows(table))
    truth = table.labels.get(columns.truth)
    occurring = [] if truth is None or not _has_labels(truth) else sort_labels(truth.labels)
    with _add_label_notes(table.labels, UnknownLabelError):
        classes, labels = _resolve_classes(columns, rule, occurring)
    if truth is not None and occurring:
        problems.add(columns.truth, "unknown label", find_unknown(truth, labels))
    complete = select_complete(table, columns, replace(rule, labels=labels), problems, copy=copy)
    score, weight, count = stack_scores(complete, classes, labels), complete.weight, complete.count
    intake = replace(summarize_classes(complete, classes, labels, problems), labelled=0)
    if not occurring:
        return MulticlassTarget(score, labels, weight, count, intake=intake)
    codes, distinct = complete.labels(columns.truth)
    labelled_rows = codes >= 0
    refuse_all_labelled(labelled_rows, len(labelled_rows), columns)
    intake = replace(intake, labelled=int(np.count_nonzero(labelled_rows)))
    numbers = renumber(LabelCodes(codes[labelled_rows], distinct), labels)
    labelled = MulticlassRows(
        numbers,
        score[labelled_rows],
        labels,
        _select_rows(weight, labelled_rows),
        _select_rows(count, labelled_rows),
        intake=intake,
    )
    rest = (_select_rows(weight, ~labelled_rows), _select_rows(count, ~labelled_rows))
    return MulticlassTarget(score[~labelled_rows], labels, *rest, labelled if len(numbers) else None, intake)


def check_binary_labels(labels: Mapping[str, LabelCodes], columns: Columns, rule: Rule, problems: Problems) -> Classes:
    """Count missing and unknown labels, and find the two classes."""
    truth = check_labels(labels, columns, problems)
    two = find_classes(sort_labels(truth.labels), rule.positive, rule.negative)
    classes = [label for label in two if label is not None]
    problems.add(columns.truth, "unknown label", find_unknown(truth, classes))
    if columns.predicted is not None:
        predicted = labels[columns.predicted]
        others = [label for label in sort_labels(predicted.labels) if label not in classes]
        # With a single class in truth, the other predicted label can only be the negative class.
        if len(others) == 1 and two.negative is None:
            two, classes = Classes(two.positive, others[0]), [*classes, others[0]]
        elif others and rule.negative is None:
            raise NotBinaryError(
                f"{columns.predicted} holds {format_labels(others)}, but truth {format_labels(classes)}",
                remedy="give both the same labels.",
            )
        problems.add(columns.predicted, "unknown label", find_unknown(predicted, classes))
    return two


def check_classes(
    labels: Mapping[str, LabelCodes], columns: Columns, rule: Rule, problems: Problems
) -> tuple[object, ...] | None:
    """Count missing labels, and unknown ones if the classes are stated; return the stated classes."""
    pair = [check_labels(labels, columns, problems), labels[str(columns.predicted)]]
    occurring = list(dict.fromkeys(label for column in pair for label in column.labels))
    refuse_mixed_types(occurring, f"{columns.truth} beside {columns.predicted}", UnknownLabelError)
    if rule.labels is None:
        _refuse_disjoint(pair, columns)
        return None
    stated = distinct_labels(resolve_label(label, occurring) for label in rule.labels)
    for name, column in zip((columns.truth, str(columns.predicted)), pair, strict=True):
        problems.add(name, "unknown label", find_unknown(column, stated))
    return stated


def _refuse_disjoint(pair: Sequence[LabelCodes], columns: Columns) -> None:
    """Refuse true and predicted labels without a common one: they are probably spelled differently."""
    truth, predicted = (sort_labels(column.labels) for column in pair)
    if min(len(truth), len(predicted)) > 1 and not set(truth) & set(predicted):
        are_scores = all(isinstance(label, float) for label in predicted)
        raise UnknownLabelError(
            f"{columns.truth} holds {format_labels(truth)}, but {columns.predicted} holds {format_labels(predicted)}: "
            "no label is in both",
            remedy="decide on the scores first, such as score >= 0.5." if are_scores else "spell them in the same way.",
        )


def occurring_labels(
    pair: Sequence[LabelCodes], columns: Columns, orders: Mapping[str, Sequence[object]] = MappingProxyType({})
) -> tuple[object, ...]:
    """Return the labels that occur, in the order of their categories if they have one, otherwise sorted."""
    occurring: dict[object, None] = {}
    for codes, labels in pair:
        times = np.bincount(codes, minlength=len(labels))
        occurring |= {label: None for label, rows in zip(labels, times, strict=True) if rows}
    if len(occurring) > _MAX_CLASSES:
        raise ShapeError(
            f"{columns.truth} and {columns.predicted} hold {len(occurring)} different labels, too many for a confusion "
            "matrix",
            remedy="name columns of classes, not of names or numbers.",
        )
    own = [*orders.get(columns.truth, ()), *orders.get(str(columns.predicted), ())]
    return tuple(dict.fromkeys([label for label in own if label in occurring] + sort_labels(occurring)))


def refuse_large_tables(labels: Sequence[object], groups: int) -> None:
    """Refuse tables that would not fit into memory."""
    if groups * len(labels) ** 2 > _MAX_CELLS:
        raise ShapeError(
            f"{count_of(groups, 'group')} of {len(labels)} classes make {groups * len(labels) ** 2} cells, "
            "too many to count",
            remedy="group by something coarser.",
        )


def renumber(column: LabelCodes, labels: Sequence[object]) -> Codes:
    """Return codes as places among these labels, which contain every label that occurs."""
    place = {label: at for at, label in enumerate(labels)}
    # Unused categories may be absent from `labels`; no row has their code, so that any number serves.
    number = np.array([place.get(label, 0) for label in column.labels], dtype=np.min_scalar_type(len(labels)))
    if np.array_equal(number, np.arange(len(number))):
        return column.codes  # already numbered so; no copy
    return number[column.codes]


def tabulate_groups(
    truth: Codes,
    predicted: Codes,
    labels: tuple[object, ...],
    amounts: Sequence[Cells | None],
    group: Codes,
    groups: Sequence[Group],
) -> dict[Group, Confusion]:
    """Build the confusion matrix of each group."""
    if len(groups) == 1:
        return {groups[0]: Confusion.of_sums(truth, predicted, labels, amounts)}
    tables = {}
    for each, place in zip(groups, positions_by_code(group, len(groups)), strict=True):
        parts = [None if amount is None else amount[place] for amount in amounts]
        tables[each] = Confusion.of_sums(truth[place], predicted[place], labels, parts)
    return tables


def share_score(columns: Columns, rule: Rule) -> tuple[Columns, Rule]:
    """Let all stated labels share a single column of scores: that of ordered classes."""
    labels = rule.labels or ()
    if len(columns.score) != 1 or rule.bound is not None or columns.stem or len(labels) < 2:
        return columns, rule
    return replace(columns, score=columns.score * len(labels)), replace(rule, bound=labels)


def match_classes(columns: Columns, rule: Rule, occurring: Sequence[object]) -> tuple[object, ...]:
    """Return the class of each column of scores: stated, or inferred from names, or else in the order of the labels."""
    if rule.bound is not None:
        return tuple(resolve_label(label, occurring) for label in rule.bound)
    stated = [resolve_label(label, occurring) for label in rule.labels or ()]
    try:
        return tuple(classes_from_names(columns.score, stated or occurring, columns.stem))
    except UnknownLabelError:
        if len(stated) == len(columns.score) and not any(occurs_in_names(label, columns.score) for label in stated):
            return tuple(stated)
        raise


def order_classes(classes: tuple[object, ...], rule: Rule, occurring: Iterable[object]) -> tuple[object, ...]:
    """Return the classes in the order of the stated labels, if occurring are any."""
    if rule.labels is None:
        return classes
    stated = tuple(resolve_label(label, occurring) for label in rule.labels)
    if set(stated) != set(classes) or len(stated) != len(classes):
        raise UnknownLabelError(
            f"the labels are {format_labels(stated)}, but there are scores for {format_labels(classes)}",
            remedy="name these, each once.",
        )
    return stated


def stack_scores(complete: CompleteRows, classes: Sequence[object], labels: Sequence[object]) -> Reals:
    """Stack scores as a matrix with a column for each label; `classes` are those of the columns that were read."""
    score = np.empty((complete.size, len(labels)), order="F")  # measures sort one class at a time
    for name, label in zip(complete.columns.score, classes, strict=True):
        score[:, labels.index(label)] = complete.numbers(name)
    return make_read_only(score)


def summarize_classes(
    complete: CompleteRows, classes: Sequence[object], labels: tuple[object, ...], problems: Problems
) -> ReadSummary:
    """Summarize the reading, with the columns of scores in the order of the labels."""
    columns = complete.columns
    notes = (*note_labels(complete.table.labels), *_note_pattern(columns))
    names = columns.names | {"score": [columns.score[classes.index(label)] for label in labels]}
    return ReadSummary(complete.read, complete.dropped, problems.reasons, None, None, names, notes, labels)


def _note_pattern(columns: Columns) -> Iterator[str]:
    if columns.stem:
        yield f"{columns.stem}* is taken for the scores {format_labels(columns.score)}."


def blank_to_missing(table: Table) -> Table:
    """Treat blank text as missing: files often have an empty cell where the label is unknown."""
    return table._replace(labels={name: _blank_column(column) for name, column in table.labels.items()})


@contextmanager
def _add_label_notes(labels: Mapping[str, LabelCodes], kind: type[DataError]) -> Iterator[None]:
    """Add notes on labels such as NA to an error about labels, since these may be its cause."""
    try:
        yield
    except kind as error:
        raise kind(" ".join([str(error), *note_labels(labels)])) from error


def _find_stated_classes(labels: Sequence[object], rule: Rule) -> Classes:
    """Find the two classes; where both are stated, one of them may be absent from the few labelled rows."""
    stated = [each for each in (rule.positive, rule.negative) if each is not None and not np.ndim(each)]  # type: ignore[arg-type]
    resolved_labels = [resolve_label(each, labels) for each in stated]
    if len(resolved_labels) == len({*resolved_labels}) == 2 and all(label in resolved_labels for label in labels):
        return Classes(*resolved_labels)
    return find_classes(labels, rule.positive, rule.negative)


def _resolve_classes(
    columns: Columns, rule: Rule, occurring: Sequence[object]
) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """Return the class of each column of scores, and the classes in order."""
    refuse_mixed_types(occurring, columns.truth, UnknownLabelError)
    if len(columns.score) < 2:
        raise OptionError(
            f"there is only one column of scores, {columns.score[0]!r}", remedy="give one for each class."
        )
    if not occurring and rule.labels is None and rule.bound is None:
        classes = tuple(parse_labels([str(text) for text in classes_from_names(columns.score, (), columns.stem)]))
        return classes, classes
    try:
        classes = match_classes(columns, rule, occurring)
    except UnknownLabelError as error:
        if occurring:
            raise
        raise UnknownLabelError(
            f"the labels are {format_labels(rule.labels or ())}, but the names of the scores, "
            f"{format_labels(columns.score)}, do not contain them",
            remedy=advice(
                *("class of each score", "name the class of each column with a mapping, score={label: column}."),
                *("cat", "p_cat"),
            ),
        ) from error
    return classes, order_classes(classes, rule, occurring)


def _blank_column(column: LabelCodes) -> LabelCodes:
    blank = [isinstance(label, str) and not label.strip() for label in column.labels]
    if not any(blank):
        return column
    labels = [label for label, nothing in zip(column.labels, blank, strict=True) if not nothing]
    # One more entry at the end, to which the code −1 of missing labels points.
    number = np.where([*blank, True], -1, np.cumsum(np.logical_not([*blank, True])) - 1)
    return LabelCodes(number.astype(column.codes.dtype)[column.codes], labels)


def _has_labels(truth: LabelCodes) -> bool:
    return bool((truth.codes >= 0).any())


def _select_rows(column: Cells | None, where: Bools) -> Cells | None:
    return None if column is None else column[where]


def find_target_classes(labels: Mapping[str, LabelCodes], columns: Columns, rule: Rule, problems: Problems) -> Classes:
    """Count unknown labels, and find the two classes; both are None if no row has a label."""
    truth = labels.get(columns.truth)
    if truth is None or not _has_labels(truth):
        return Classes(None, None)
    with _add_label_notes(labels, NotBinaryError):
        two = _find_stated_classes(sort_labels(truth.labels), rule)
    problems.add(columns.truth, "unknown label", find_unknown(truth, [label for label in two if label is not None]))
    return two


def refuse_all_labelled(labelled: Bools, many: int, columns: Columns) -> None:
    """Refuse a target whose rows all have labels: it is a labelled sample."""
    if labelled.all():
        raise EmptyDataError(
            f"each of {many} rows in use has its {columns.truth}, so that none is unlabelled",
            remedy=f"{advice('labelled rows', 'evaluate them with read.tallies or read.class_rows')}, or leave "
            f"{keyword('truth')} out to use all of them as unlabelled.",
        )


class _CrossTable(NamedTuple):
    """Cells of a text file, and the labels of its rows and columns."""

    rows: list[object]
    columns: list[object]
    cells: Floats


def cross_table(path: str | PathLike[str], *, truth: Literal["rows", "columns"]) -> Confusion:
    """Read a confusion matrix from a text file whose first line and first column hold labels.

    Cells are separated by commas, tabs, semicolons or bars. A label with a row but no column, or the other way round,
    was never predicted, or never true.

    Parameters
    ----------
    path
        Path of the file, or `-` for standard input.
    truth
        Whether the true classes are in the ``"rows"`` or in the ``"columns"``.

    Returns
    -------
    Confusion
        The counts, with true classes in rows.
    """
    _check_orientation(truth)
    rows, columns, cells = _parse_cross_table(path)
    labels = list(dict.fromkeys([*rows, *columns]))
    square = np.zeros((len(labels), len(labels)))
    square[np.ix_([labels.index(label) for label in rows], [labels.index(label) for label in columns])] = cells
    return Confusion.of_matrix(square, labels, truth=truth)


def cost_matrix(path: str | PathLike[str], *, truth: Literal["rows", "columns"]) -> CostMatrix:
    """Read the cost of each decision for each true class, from a text file of the same form as a cross-table.

    Parameters
    ----------
    path
        Path of the file, or `-` for standard input.
    truth
        Whether the true classes are in the ``"rows"`` or in the ``"columns"``.

    Returns
    -------
    CostMatrix
        The costs, with true classes in rows.
    """
    _check_orientation(truth)
    rows, columns, cells = _parse_cross_table(path)
    if set(rows) != set(columns):
        odd = next(label for label in [*rows, *columns] if label not in rows or label not in columns)
        raise FileFormatError(
            f"{path} has no row or no column for {odd!r}", remedy="give the cost of every decision for every class."
        )
    square = cells[:, [columns.index(label) for label in rows]]
    return CostMatrix(square if truth == "rows" else square.T, tuple(rows))


def _check_orientation(truth: str) -> None:
    """Refuse an unknown orientation before anything is read."""
    if truth not in ("rows", "columns"):
        raise wrong_option("truth", truth, "'rows' or 'columns' of the table")


def _parse_cross_table(path: str | PathLike[str]) -> _CrossTable:
    name, text = _read_text(path)
    # Counted in the header only: decimal commas in cells must not decide the delimiter.
    bare = remove_quoted_cells("".join(first_record(text)[1]))
    reader = csv.reader(StringIO(text, newline=""), delimiter=max("\t,;|", key=bare.count))
    lines = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    if len(lines) < 2:
        raise EmptyDataError(f"{name} holds no cross-table", remedy="give a line of labels, and one for each class.")
    (_, header), *rest = lines
    for at, line in rest:
        if len(line) != len(header):
            raise FileFormatError(
                f"line {at} of {name} has {count_of(len(line), 'cell')} where the first has {len(header)}",
                remedy="correct that line.",
            )
    body = [line for _, line in rest]
    rows, columns = [line[0].strip() for line in body], [label.strip() for label in header[1:]]
    for what, labels in (("row", rows), ("column", columns)):
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise FileFormatError(f"{name} has two {what}s {twice[0]!r}", remedy="give each class one.")
    of_rows, of_columns = parse_jointly([rows, columns])
    if not set(of_rows) & set(of_columns):
        raise FileFormatError(
            f"{name} has the rows {format_labels(rows)} and the columns {format_labels(columns)}: no label is in both."
        )
    cells = [
        [_parse_cell(cell, name, row, column) for column, cell in zip(columns, line[1:], strict=True)]
        for row, line in zip(rows, body, strict=True)
    ]
    matrix = np.array(cells, dtype=float)
    _refuse_totals(name, rows, columns, matrix)
    return _CrossTable(of_rows, of_columns, matrix)


def _refuse_totals(name: str, rows: list[str], columns: list[str], cells: Floats) -> None:
    """Refuse a last row and column that are the sums of the others, not a class."""
    if rows[-1] == columns[-1] and len(rows) > 2 and len(columns) > 2:
        down, across = cells[:-1].sum(axis=0), cells[:, :-1].sum(axis=1)
        # Exactly: totals of counts are whole, and rounded shares of a real class hardly ever add up.
        if np.array_equal(down, cells[-1]) and np.array_equal(across, cells[:, -1]):
            raise FileFormatError(
                f"the row and column {rows[-1]!r} of {name} add up the others", remedy="leave them out."
            )


def _parse_cell(cell: str, name: str, row: str, column: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise FileFormatError(
            f"the cell of {name} in row {row!r} and column {column!r} is {cell!r}, not a number",
            remedy="write 0 for none.",
        ) from error


def _read_text(path: str | PathLike[str]) -> tuple[str, str]:
    if str(path) == "-":
        if sys.stdin is None:
            raise EmptyDataError("standard input is closed", remedy="name a file, or pipe one in.")
        return "standard input", sys.stdin.read()
    try:
        return str(path), Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NoSuchFileError(f"{path} cannot be opened: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} is not UTF-8 text", remedy="convert it first, for example: iconv -f latin1 -t utf-8."
        ) from error
