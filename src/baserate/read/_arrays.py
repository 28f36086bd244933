"""Arrays and lists: a Tally of two classes, a Confusion or scores of several, and sets of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Reals, make_read_only, refuse_differing_indexes
from baserate._confusion import Confusion, distinct_labels
from baserate._errors import EmptyDataError, NotBinaryError, NotNumericError, ShapeError, UnknownLabelError, keyword
from baserate._formatting import count_of, there_are
from baserate._numeric.cumulative import cache_blocks
from baserate._numeric.distinct import factorize
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import ReadSummary, Tally
from baserate.read import _builders
from baserate.read._columns import (
    Columns,
    as_column,
    as_numbers,
    check_counts,
    check_scores,
    check_truth,
    check_weights,
    missing_objects,
)
from baserate.read._labels import (
    classes_from_names,
    format_labels,
    parse_jointly,
    parse_labels,
    refuse_mixed_types,
    sort_labels,
)
from baserate.read._table import LabelCodes, Numbers, Rule, Table

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


# Categorical columns keep the codes of their library, and are never read row by row.
def is_categorical(series: nw.Series[Any]) -> bool:
    """Whether a column is categorical, an enum or a dictionary of Arrow."""
    import narwhals.stable.v2 as nw

    return isinstance(series.dtype, (nw.Categorical, nw.Enum))


def categorical_codes(series: nw.Series[Any]) -> LabelCodes:
    """Return the codes of a categorical column as its library stores them; labels may be unused, None, or repeat."""
    native = series.to_native()
    if series.implementation.is_polars():
        # Columns of Polars share one table of codes, so that a column with few labels may have large codes.
        distinct = native.unique().drop_nulls()
        label_of = dict(zip(distinct.to_physical().to_list(), distinct.to_list(), strict=True))
        return LabelCodes(
            _fill_codes(native.to_physical()), [label_of.get(at) for at in range(max(label_of, default=-1) + 1)]
        )
    if hasattr(native, "cat"):
        return LabelCodes(native.cat.codes.to_numpy(), native.cat.categories.tolist())
    arrow: Any = series.to_arrow()
    return LabelCodes(_fill_codes(_as_chunked_array(arrow.indices)), arrow.dictionary.to_pylist())


def occurring_codes(column: LabelCodes) -> Bools:
    """Mark the labels that occur."""
    many = np.zeros(len(column.labels) + 1, dtype=np.int64)
    for place in cache_blocks(len(column.codes)):
        many += np.bincount(column.codes[place].astype(np.intp) + 1, minlength=len(many))
    occurs: Bools = many[1:] > 0
    return occurs


def _fill_codes(native: Any) -> npt.NDArray[Any]:  # noqa: ANN401  (whole numbers of Polars or PyArrow)
    """Return codes as an array, −1 where they are null."""
    import narwhals.stable.v2 as nw

    codes = nw.from_native(native, series_only=True)
    # Codes may be unsigned, which cannot hold −1.
    array: npt.NDArray[Any] = (codes.cast(nw.Int64).fill_null(-1) if codes.null_count() else codes).to_numpy()
    return array


def _as_chunked_array(array: Any) -> Any:  # noqa: ANN401  (arrays of PyArrow)
    """Wrap an array of PyArrow as a ChunkedArray, the only kind that Narwhals accepts."""
    import pyarrow as pa

    return pa.chunked_array([array])


_FEW_LABELS = 64
"""Up to this many labels, one comparison for each is faster than converting text to objects."""
_LIBRARIES = ("pandas", "pyarrow")
"""Libraries with columns that are no series."""


def load_table(
    arrays: Mapping[str, Any],
    columns: Columns,
    *,
    coded: Mapping[str, LabelCodes] = MappingProxyType({}),
    text: frozenset[str] = frozenset(),
    same_labels: frozenset[str] = frozenset(),
) -> Table:
    """Load the columns in use from arrays, lists and columns of frames.

    Labels of the columns `text` are parsed by their spelling. Those of `same_labels` are parsed jointly: if one of them
    stays text, all do.
    """
    labels = {name: coded[name] if name in coded else _encode(name, arrays[name]) for name in columns.labels}
    labels |= _parse_texts({name: labels[name] for name in text}, same_labels)
    numbers = {name: to_numbers(name, arrays[name]) for name in columns.numbers}
    orders = {
        name: _category_order(arrays[name]) for name in columns.labels if name not in coded and is_series(arrays[name])
    }
    return Table(labels, numbers, None if columns.id is None else _row_ids(columns.id, arrays[columns.id]), orders)


def _parse_texts(texts: Mapping[str, LabelCodes], same_labels: frozenset[str]) -> dict[str, LabelCodes]:
    """Parse labels of text by their spelling, those of `same_labels` jointly."""
    spellings: dict[str, Any] = {name: column.labels for name, column in texts.items()}
    read = {name: parse_labels(spellings[name]) for name in spellings if name not in same_labels}
    read |= dict(zip(same_labels, parse_jointly([spellings[name] for name in same_labels]), strict=True))
    return {name: LabelCodes(column.codes, read[name]) for name, column in texts.items()}


def _category_order(series: nw.Series[Any]) -> Sequence[object]:
    """Return the categories in order; empty for a column without an order."""
    return tuple(getattr(series.dtype, "categories", ()))


def as_array(name: str, column: Any) -> npt.NDArray[Any]:  # noqa: ANN401  (array, list or column of a frame)
    """Return a column as an array."""
    if not is_series(column):
        return as_column(name, column)
    # to_numpy would turn nulls among integers into NaN, and the integers into floats.
    return np.array(column.to_list(), dtype=object) if column.null_count() else column.to_numpy()


def _row_ids(name: str, column: Any) -> npt.NDArray[Any]:  # noqa: ANN401  (array, list or column of a frame)
    """Return the ids of rows; missing ones become None."""
    names = as_array(name, column)
    missing = np.zeros(len(names), dtype=np.bool_)
    if isinstance(column, np.ma.MaskedArray):
        missing |= np.ma.getmaskarray(column)
    if names.dtype.kind in "fM":
        missing |= np.isnan(names) if names.dtype.kind == "f" else np.isnat(names)
    elif names.dtype.kind == "O":
        missing |= missing_objects(names)
    if missing.any():
        names = names.astype(object)
        names[missing] = None
    return names


def is_series(column: object) -> bool:
    """Whether this is a series of Narwhals; the check must not import Narwhals."""
    return type(column).__module__.startswith("narwhals")


def as_series(name: str, column: Any) -> Any:  # noqa: ANN401  (any column)
    """Return a column of any library as a series of Narwhals; arrays, lists and anything else unchanged."""
    if isinstance(column, (np.ndarray, list, tuple)) or is_series(column):
        return column
    import narwhals.stable.v2 as nw

    library: Any = type(column).__module__.partition(".")[0]
    series = nw.from_native(column, series_only=True, pass_through=True)
    # A pandas.Categorical and a PyArrow array are no series by themselves.
    return nw.new_series(name, column, backend=library) if series is column and library in _LIBRARIES else series


def to_numbers(name: str, column: Any) -> Numbers:  # noqa: ANN401  (array, list or column of a frame)
    """Return the numbers of an array, a list or a column of a frame."""
    return _numbers_of_series(name, column) if is_series(column) else _numbers_of_array(name, column)


def _encode(name: str, column: Any) -> LabelCodes:  # noqa: ANN401  (array, list or column of a frame)
    return encode_series(name, column) if is_series(column) else encode_array(name, column)


def _numbers_of_array(name: str, values: object) -> Numbers:
    """Return the numbers of an array or list."""
    column = as_column(name, values)
    missing = _missing_mask(values, column)
    if missing is not None and missing.any():
        # A copy, since the array is the caller's; integers cannot hold NaN.
        column = column.astype(np.float64) if column.dtype.kind in "biu" else column.copy()
        column[missing] = np.nan
    return Numbers(as_numbers(name, column), missing)


def encode_array(name: str, values: object) -> LabelCodes:
    """Encode the labels of an array or list."""
    column = as_column(name, values)
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    if column.dtype.kind in "fM":
        undefined = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
        missing = undefined if missing is None else missing | undefined
    try:
        if missing is None or not missing.any():
            return _encode_values(column)
        present = _encode_values(column[~missing])
    except TypeError as error:
        raise NotBinaryError(
            f"{name} holds labels that cannot be compared ({error})", remedy="give text or numbers."
        ) from error
    return LabelCodes(_scatter(present.codes, ~missing, -1), present.labels)


def _numbers_of_series(name: str, series: nw.Series[Any]) -> Numbers:
    """Return the numbers of a column of a frame."""
    import narwhals.stable.v2 as nw

    if isinstance(series.dtype, nw.Decimal):
        # Libraries divide by a power of ten and differ in the last bit; Python's own conversion is correctly rounded.
        return _numbers_of_array(name, np.array(series.to_list(), dtype=object))
    if isinstance(series.dtype, (nw.Object, nw.Unknown)):
        return _numbers_of_array(name, series.to_numpy())
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        raise NotNumericError(f"{name} holds {series.dtype}, not numbers", remedy="convert it first.")
    not_null, present = _drop_nulls(series)
    values = _numbers_of_array(name, present.to_numpy()).values
    return Numbers(values) if not_null is None else Numbers(_scatter(values, not_null, np.nan), ~not_null)


def encode_series(name: str, series: nw.Series[Any]) -> LabelCodes:
    """Encode the labels of a column of a frame; its library compares text faster than Python."""
    import narwhals.stable.v2 as nw

    if is_categorical(series):
        return _renumber_used(name, categorical_codes(series))
    not_null, present = _drop_nulls(series)
    coded = _encode_text(name, present) if series.dtype == nw.String else encode_array(name, present.to_numpy())
    return coded if not_null is None else LabelCodes(_scatter(coded.codes, not_null, -1), coded.labels)


def encode_labels(name: str, column: Any) -> LabelCodes:  # noqa: ANN401  (array, list or column of a frame)
    """Encode the labels of a column; a categorical one keeps its own codes, not all of which may occur."""
    return categorical_codes(column) if is_series(column) and is_categorical(column) else _encode(name, column)


def _renumber_used(name: str, column: LabelCodes) -> LabelCodes:
    """Renumber the labels that occur, if necessary."""
    used = np.flatnonzero(occurring_codes(column))
    labels = np.empty(len(used), dtype=object)
    labels[:] = [column.labels[at] for at in used.tolist()]
    distinct = encode_array(name, labels)
    if np.array_equal(distinct.codes, np.arange(len(column.labels))):
        return LabelCodes(column.codes, distinct.labels)
    number = np.full(len(column.labels) + 1, -1, dtype=distinct.codes.dtype)
    number[used] = distinct.codes
    return LabelCodes(number[column.codes], distinct.labels)  # the code −1 indexes the last entry, which is −1


def _drop_nulls(series: nw.Series[Any]) -> tuple[Bools | None, nw.Series[Any]]:
    """Return which values are not null (None if all), and these values."""
    if not series.null_count():
        return None, series
    return ~series.is_null().to_numpy(), series.drop_nulls()


def _encode_text(name: str, series: nw.Series[Any]) -> LabelCodes:
    labels = series.unique().to_list()
    if len(labels) > _FEW_LABELS:
        return encode_array(name, np.array(series.to_list(), dtype=object))
    codes = np.zeros(len(series), dtype=np.int8)
    for at, label in enumerate(labels):
        codes[(series == label).to_numpy()] = at
    return LabelCodes(codes, labels)


def _scatter(values: Any, where: Bools, missing: float) -> Any:  # noqa: ANN401  (an array of the type of the values)
    column = np.full(len(where), missing, dtype=values.dtype)
    column[where] = values
    return column


def _missing_mask(values: object, column: npt.NDArray[Any]) -> Bools | None:
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values)
    return missing_objects(column) if column.dtype.kind == "O" else None


def _encode_values(column: npt.NDArray[Any]) -> LabelCodes:
    """Encode the labels of a column without missing ones."""
    if column.dtype.kind == "b":
        return LabelCodes(column.view(np.int8), [False, True])  # booleans are 0 and 1 in memory: no copy
    if column.dtype.kind == "O":
        return _encode_objects(column)
    codes, distinct = factorize(column)
    return LabelCodes(
        _as_signed_codes(codes, len(distinct)),
        _format_times(distinct) if column.dtype.kind == "M" else distinct.tolist(),
    )


def _encode_objects(column: npt.NDArray[Any]) -> LabelCodes:
    """Encode objects by equality; missing ones get the code −1."""
    distinct = list(dict.fromkeys(column))
    missing = missing_objects(distinct)
    labels = [label for label, absent in zip(distinct, missing, strict=True) if not absent]
    # A NaN equals nothing, not even itself, but a dict finds it by identity.
    number = dict.fromkeys(distinct, -1) | {label: at for at, label in enumerate(labels)}
    kind = np.min_scalar_type(-len(distinct) - 1)
    codes = np.fromiter(map(number.__getitem__, column), dtype=kind, count=len(column))
    return LabelCodes(
        codes, _format_times(labels) if labels and all(isinstance(each, date) for each in labels) else labels
    )


def _as_signed_codes(codes: npt.NDArray[Any], labels: int) -> npt.NDArray[Any]:
    """Return codes in a signed type, without a copy if it is as wide."""
    kind = np.dtype(np.min_scalar_type(-labels - 1))
    return codes.view(kind) if kind.itemsize == codes.itemsize else codes.astype(kind)


def _format_times(times: Iterable[Any]) -> list[str]:
    """Format dates and times in ISO 8601, since every library has its own types for them."""
    zoned = [getattr(time, "tzinfo", None) for time in times]
    return [
        time.isoformat() if zone else str(np.datetime_as_string(np.datetime64(time, "us"), unit="auto"))
        for time, zone in zip(times, zoned, strict=True)
    ]


def tally(
    truth: npt.ArrayLike,
    score: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    positive: object = None,
) -> Tally:
    """Tally how much of each class sits at each score.

    Parameters
    ----------
    truth
        True class of each row: booleans, 0 and 1, or any two labels if `positive` names one of them.
    score
        Score of each row; a higher score means more likely positive. Some measures need probabilities.
    weight
        Sampling or importance weight of each row, ≥ 0.
    count
        Number of identical rows that each row stands for, a whole number ≥ 0.
    positive
        Label of the positive class; optional for booleans and for 0 and 1.

    Returns
    -------
    Tally
        Mass of both classes at each distinct score.

    Examples
    --------
    >>> tally(["sick", "well", "well"], [0.9, 0.4, 0.4], positive="sick")
    Tally(3 rows, 2 distinct scores from 0.4 to 0.9, prevalence 0.333333)
    """
    refuse_differing_indexes({"truth": truth, "score": score, "weight": weight, "count": count})
    columns: dict[str, npt.NDArray[Any]] = {"truth": check_truth(truth, positive), "score": check_scores(score)}
    if weight is not None:
        columns["weight"] = check_weights(weight)
    if count is not None:
        columns["count"] = check_counts(count)
    _check_lengths(columns)
    columns = _present(columns)
    return Tally.of_rows(**columns)


def _check_lengths(columns: dict[str, npt.NDArray[Any]]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ShapeError(f"the columns have different lengths ({text})", remedy="give one value of each for every row.")
    if not lengths["truth"]:
        raise EmptyDataError("there are no rows", remedy="give at least one.")


def _present(columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Leave out rows of weight or count zero, which count as absent."""
    for name in ("weight", "count"):
        if name in columns and not columns[name].all():
            nonzero = columns[name] != 0
            if not nonzero.any():
                raise EmptyDataError(
                    f"every {name} is zero, so there are no rows", remedy=f"give at least one a {name} above zero."
                )
            columns = {other: column[nonzero] for other, column in columns.items()}
    return columns


_RULE = Rule(remedy="leave those rows out first")  # these functions have no option `missing`


def confusion(
    truth: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
) -> Confusion:
    """Count how often each pair of true and predicted label occurs.

    Parameters
    ----------
    truth, predicted
        Label of each row: text, whole numbers or booleans, of any number of classes.
    weight, count
        Weight and number of identical rows of each row, as in :func:`baserate.tally`.
    labels
        All classes in order; by default the labels that occur in either column, sorted.

    Returns
    -------
    Confusion
        Counts with true classes in rows.

    Examples
    --------
    >>> confusion(["cat", "dog", "dog"], ["cat", "cat", "dog"]).mass.tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    columns = Columns("truth", predicted="predicted")
    table, columns = _load_arrays({"truth": truth, "predicted": predicted}, columns, weight, count)
    rule = _RULE if labels is None else replace(_RULE, labels=tuple(labels))
    return _builders.build_confusions(table, columns, rule).pooled


def class_scores(
    truth: npt.ArrayLike,
    score: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
) -> MulticlassRows:
    """Check true labels and a matrix with a score for each class.

    Parameters
    ----------
    truth
        True label of each row.
    score
        Matrix of scores with a column for each class; a higher score means more likely. Some measures need
        probabilities.
    weight, count
        Weight and number of identical rows of each row, as in :func:`baserate.tally`.
    labels
        Class of each column; by default the names of the columns of a frame, or the sorted labels of `truth` if there
        are as many, or 0, 1, 2, ….

    Returns
    -------
    MulticlassRows
        Codes of the true classes, and the scores.

    Examples
    --------
    >>> class_scores(["cat", "dog", "dog"], [[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    MulticlassRows(3 rows; scores for cat, dog)
    """
    refuse_differing_indexes({"truth": truth, "score": score, "weight": weight, "count": count})
    scores = _two_dimensional(score)
    names = tuple(f"score of column {at}" for at in range(scores.shape[1]))
    arrays = {"truth": truth} | {name: scores[:, at] for at, name in enumerate(names)}
    table, columns = _load_arrays(arrays, Columns("truth", score=names), weight, count)
    classes = _infer_columns(table, len(names), _column_titles(score)) if labels is None else distinct_labels(labels)
    if len(classes) != len(names):
        raise ShapeError(
            f"{there_are(len(classes), 'label')} for {len(names)} columns of scores", remedy="give one for each."
        )
    matrix = _reuse_array(scores, score)
    rows = _builders.build_class_rows(table, columns, replace(_RULE, bound=classes), score=matrix)
    return replace(rows, intake=ReadSummary(rows.intake.read, classes=rows.labels))


def _load_arrays(
    arrays: Mapping[str, Any], columns: Columns, weight: npt.ArrayLike | None, count: npt.ArrayLike | None
) -> tuple[Table, Columns]:
    refuse_differing_indexes({**arrays, "weight": weight, "count": count})
    arrays = {name: _keep_categories(column) for name, column in arrays.items()}
    amounts = {name: column for name, column in (("weight", weight), ("count", count)) if column is not None}
    columns = replace(columns, weight=None if weight is None else "weight", count=None if count is None else "count")
    return load_table({**arrays, **amounts}, columns), columns


def _keep_categories(column: Any) -> Any:  # noqa: ANN401  (array, list or column of a frame)
    """Keep a column of a frame as a series, since its categories may have an order."""
    if isinstance(column, (np.ndarray, list, tuple)) or not hasattr(column, "dtype"):
        return column
    import narwhals.stable.v2 as nw

    return nw.from_native(column, series_only=True, pass_through=True)


def _two_dimensional(score: npt.ArrayLike) -> npt.NDArray[Any]:
    bare = np.ma.filled(score.astype(np.float64), np.nan) if isinstance(score, np.ma.MaskedArray) else score
    scores = np.asfortranarray(bare)  # measures sort one class at a time
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ShapeError(
            f"score has shape {scores.shape}", remedy="give a row for each row and a column for each class."
        )
    return scores


def _reuse_array(scores: npt.NDArray[Any], original: npt.ArrayLike) -> Reals | None:
    """Return the scores themselves if they are float64 in an array of our own, so that they need no second copy."""
    ours = scores.dtype == np.float64 and not np.may_share_memory(scores, np.asarray(original))
    return make_read_only(scores) if ours else None


def _column_titles(score: object) -> list[str]:
    """Return the names of the columns of a frame, unless they are only 0, 1, 2, …."""
    titles = list(getattr(score, "columns", ()))
    return [] if titles == list(range(len(titles))) else list(map(str, titles))


def _infer_columns(table: Table, many: int, titles: Sequence[str]) -> tuple[object, ...]:
    """Infer the classes of the columns: from their titles, or from the labels of truth if there are as many."""
    occurring = sort_labels(table.labels["truth"].labels)
    if titles:
        return tuple(classes_from_names(titles, occurring))
    if len(occurring) == many:
        return tuple(occurring)
    if 0 in occurring and all(type(label) is int and 0 <= label < many for label in occurring):
        return tuple(range(many))
    raise UnknownLabelError(
        f"truth holds {count_of(len(occurring), 'class', 'classes')} ({format_labels(occurring)}), but there are "
        f"{many} columns of scores",
        remedy=f"name the class of each with {keyword('labels')}.",
    )


Sets = npt.ArrayLike | Sequence[Iterable[object]]


def label_sets(
    truth: Sets,
    *,
    predicted: Sets | None = None,
    score: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
    weight: npt.ArrayLike | None = None,
) -> LabelSets:
    """Check multilabel data, in which each row may have several labels.

    Parameters
    ----------
    truth, predicted
        True and predicted labels of each row: a matrix of booleans, or of 0 and 1, with a column for each label; or a
        list with a set of labels for each row.
    score
        Matrix of scores with a column for each label; a higher score means more likely.
    labels
        Label of each column; by default 0, 1, 2, … or, for sets, all labels that occur, sorted.
    weight
        Weight of each row, as in :func:`baserate.tally`.

    Returns
    -------
    LabelSets
        Indicator matrices of true and predicted labels, and the scores.

    Examples
    --------
    >>> label_sets([{"sea", "sky"}, {"sky"}, set()], predicted=[{"sea"}, {"sky"}, {"sky"}])
    LabelSets(3 rows; labels sea, sky)
    """
    refuse_differing_indexes({"truth": truth, "predicted": predicted, "score": score, "weight": weight})
    of_sets = _is_list_of_sets(truth)
    columns = _frame_labels(truth) if labels is None else distinct_labels(labels)
    if columns is None and of_sets:
        both: list[Any] = [truth, [] if predicted is None else predicted]
        columns = tuple(_collect_labels([row for rows in both for row in rows]))
    indicators = _indicator_table("truth", truth, columns, of_sets=of_sets)
    if not len(indicators):
        raise EmptyDataError("there are no rows", remedy="give at least one.")
    columns = tuple(range(indicators.shape[1])) if columns is None else columns
    flagged = None if predicted is None else _indicator_table("predicted", predicted, columns, of_sets=of_sets)
    scores = None if score is None else _score_table(_order_columns("score", score, columns))
    amounts = None if weight is None else check_weights(weight)
    if amounts is not None and len(amounts) != len(indicators):
        raise ShapeError(
            f"{there_are(len(amounts), 'weight')} for {count_of(len(indicators), 'row')}", remedy="give one for each."
        )
    return _drop_zero_weights(LabelSets(indicators, columns, predicted=flagged, score=scores, weight=amounts))


def _drop_zero_weights(sets: LabelSets) -> LabelSets:
    """Leave out rows of weight zero, which count as absent."""
    if sets.weight is None or sets.weight.all():
        return sets
    nonzero = sets.weight != 0
    if not nonzero.any():
        raise EmptyDataError(
            "every weight is zero, so there are no rows", remedy="give at least one a weight above zero."
        )
    predicted = None if sets.predicted is None else sets.predicted[nonzero]
    score = None if sets.score is None else sets.score[nonzero]
    return LabelSets(sets.truth[nonzero], sets.labels, predicted=predicted, score=score, weight=sets.weight[nonzero])


def _is_list_of_sets(values: Any) -> bool:  # noqa: ANN401  (anything)
    """Whether this is a list of sets of labels, not a matrix, which may also be a list of rows."""
    if isinstance(values, np.ndarray) or hasattr(values, "dtype") or hasattr(values, "columns"):
        return False
    rows = [row for row in values if isinstance(row, Iterable)]
    if any(isinstance(row, str) for row in rows):
        raise ShapeError(
            "a row is a text, not a set of labels", remedy="split it first, for example with text.split(',')."
        )
    ragged = len({len(list(row)) for row in rows}) > 1
    return ragged or any(
        isinstance(row, (set, frozenset)) or any(isinstance(each, str) for each in row) for row in rows
    )


def _frame_labels(values: object) -> tuple[object, ...] | None:
    """Return the names of the columns of a frame as labels; None without a frame."""
    columns = getattr(values, "columns", None)
    return None if columns is None else tuple(columns)


def _order_columns(name: str, values: Any, labels: tuple[object, ...] | None) -> Any:  # noqa: ANN401
    """Put the columns of a frame in the order of the labels."""
    titles = _frame_labels(values)
    if titles is None or labels is None or titles == tuple(range(len(titles))):
        return values
    if set(titles) != set(labels):
        raise UnknownLabelError(
            f"{name} has the columns {format_labels(titles)}, but the labels are {format_labels(labels)}",
            remedy="name these.",
        )
    return np.asarray(values)[:, [titles.index(label) for label in labels]]


def _collect_labels(rows: Sequence[Iterable[object]]) -> list[object]:
    labels = sort_labels(dict.fromkeys(label for row in rows for label in row))
    refuse_mixed_types(labels, "truth", UnknownLabelError)
    return labels


def _indicator_table(name: str, values: Any, labels: tuple[object, ...] | None, *, of_sets: bool) -> Bools:  # noqa: ANN401
    if labels is not None and of_sets:
        return _indicate(name, [set(row) for row in values], labels)
    table = np.asarray(_order_columns(name, values, labels))
    if table.ndim != 2:
        raise ShapeError(
            f"{name} has shape {table.shape}", remedy="give a row for each row and a column for each label."
        )
    if table.dtype.kind not in "biuf" or not ((table == 0) | (table == 1)).all():
        raise NotBinaryError(
            f"{name} holds values other than 0 and 1", remedy="give 1 for each label that a row has, otherwise 0."
        )
    return table.astype(np.bool_)


def _indicate(name: str, rows: Sequence[set[object]], labels: tuple[object, ...]) -> Bools:
    place = {label: at for at, label in enumerate(labels)}
    table = np.zeros((len(rows), len(labels)), dtype=np.bool_)
    for at, row in enumerate(rows):
        unknown = [label for label in row if label not in place]
        if unknown:
            raise UnknownLabelError(
                f"row {at} of {name} holds {format_labels(unknown)}, not among the labels {format_labels(labels)}."
            )
        table[at, [place[label] for label in row]] = True
    return table


def _score_table(score: npt.ArrayLike) -> Reals:
    table = np.asarray(score)
    if table.ndim != 2:
        raise ShapeError(
            f"score has shape {table.shape}", remedy="give a row for each row and a column for each label."
        )
    return check_scores(table.ravel()).reshape(table.shape)
