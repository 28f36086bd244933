"""A table in memory: columns of any library as numbers and codes, the rule for reading them, and the complete rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals, make_read_only, refuse_differing_lengths
from baserate._domains import wrong_option
from baserate._errors import (
    EmptyDataError,
    MissingValuesError,
    NotBinaryError,
    NotNumericError,
    UnknownLabelError,
    keyword,
)
from baserate._numeric.cumulative import cache_blocks
from baserate._numeric.distinct import Codes, factorize
from baserate._tally import Group, describe_reasons
from baserate.read._columns import (
    Columns,
    as_column,
    as_numbers,
    check_counts,
    check_weights,
    missing_objects,
    refuse_all_zero,
)
from baserate.read._labels import note_missing_codes, parse_jointly, parse_labels, sort_labels

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

_MAX_COMBINATIONS = 2**20
"""Up to this many combinations, counting them all is faster than sorting."""
_FEW_LABELS = 64
"""Up to this many labels, one comparison for each is faster than converting text to objects."""
_LIBRARIES = ("pandas", "pyarrow")
"""Libraries with columns that are no series."""


class Numbers(NamedTuple):
    """Numbers as float32 or float64; a missing one is NaN, and marked, so that it differs from a real NaN."""

    values: Reals
    missing: Bools | None = None


class LabelCodes(NamedTuple):
    """Labels as indexes into the distinct labels; −1 is missing."""

    codes: Codes
    labels: Sequence[object]


class Table(NamedTuple):
    """Columns in use, by their role: one column may be both label and number."""

    labels: Mapping[str, LabelCodes]
    numbers: Mapping[str, Numbers]
    id: npt.NDArray[Any] | None = None
    orders: Mapping[str, Sequence[object]] = MappingProxyType({})
    """Ordered categories, of columns that have them."""


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
    return Table(labels, numbers, None if columns.id is None else _load_ids(columns.id, arrays[columns.id]), orders)


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


def _load_ids(name: str, column: Any) -> npt.NDArray[Any]:  # noqa: ANN401  (array, list or column of a frame)
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
    """Return whether this is a series of Narwhals."""
    # By the name of the module: isinstance would import Narwhals, which arrays and lists do not need.
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


def is_categorical(series: nw.Series[Any]) -> bool:
    """Return whether a column is categorical, an enum or a dictionary of Arrow."""
    import narwhals.stable.v2 as nw

    # Such columns keep the codes of their library, and are never read row by row.
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
    many = np.zeros(len(column.labels) + 1, dtype=np.int64)  # bincount takes no negative codes: −1 is counted at 0
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


def _renumber_used(name: str, column: LabelCodes) -> LabelCodes:
    """Renumber the labels that occur, if necessary."""
    used = np.flatnonzero(occurring_codes(column))
    labels = np.empty(len(used), dtype=object)  # np.array of tuples or lists would have two dimensions
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
    kind = np.min_scalar_type(-len(distinct) - 1)  # the narrowest signed type that holds all codes and −1
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


@dataclass(frozen=True, slots=True)
class Rule:
    """How to read labels and missing values."""

    positive: object = None
    negative: object = None
    missing: Literal["refuse", "drop"] = "refuse"
    labels: tuple[object, ...] | None = None
    """All classes, in order, for results without a positive class; None for those that occur."""
    bound: tuple[object, ...] | None = None
    """Class of each column of scores; None to infer it from their names."""
    remedy: str = f"leave them out with {keyword('missing', 'drop')}"

    def __post_init__(self) -> None:
        if self.missing not in ("refuse", "drop"):
            raise wrong_option("missing", self.missing, "'refuse' or 'drop'")


@dataclass(slots=True)
class Problems:
    """Invalid values by column and kind, and the rows that have any; `times` is the number of rows of each entry."""

    size: int
    times: npt.NDArray[Any] | None = None
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    bad: Bools | None = None

    def add(self, column: str, what: str, where: Bools | None) -> None:
        """Count rows with a problem, if there are any."""
        many = 0 if where is None else self._rows(where)
        if where is None or not many:
            return
        kinds = self.reasons.setdefault(column, {})
        kinds[what] = kinds.get(what, 0) + many
        # A copy, since `where` may be a mask of the caller.
        self.bad = where.copy() if self.bad is None else self.bad | where

    def resolve(self, rule: Rule) -> tuple[int, int]:
        """Refuse rows with problems, or return the number of rows and how many of them are dropped."""
        total = self.size if self.times is None else int(self.times.sum())
        dropped = 0 if self.bad is None else self._rows(self.bad)
        if not total:
            raise EmptyDataError("there are no rows", remedy="give at least one.")
        if dropped and rule.missing == "refuse":
            only_labels = {what for kinds in self.reasons.values() for what in kinds} == {"unknown label"}
            remedy = "Recode them" if only_labels else "Fill them in"
            unknown = NotBinaryError if rule.labels is None else UnknownLabelError
            raise (unknown if only_labels else MissingValuesError)(
                f"{dropped} of {total} rows cannot be used ({describe_reasons(self.reasons)}).",
                remedy=f"{remedy}, or {rule.remedy}.",
            )
        if dropped == total:
            which = "the only row was" if total == 1 else f"all {total} rows were"
            raise EmptyDataError(
                f"{which} dropped ({describe_reasons(self.reasons)})", remedy="give at least one complete row."
            )
        return total, dropped

    def _rows(self, where: Bools) -> int:
        return int(np.count_nonzero(where) if self.times is None else self.times[where].sum())


@dataclass(frozen=True, slots=True)
class CompleteRows:
    """Columns restricted to the rows without problems."""

    table: Table
    columns: Columns
    valid: Bools | None
    """Which rows these are; None for all."""
    copy: bool
    """Whether arrays that need no selection are copied, since somebody else may change them."""
    read: int
    dropped: int

    @property
    def size(self) -> int:
        """Number of rows."""
        return count_rows(self.table) if self.valid is None else int(np.count_nonzero(self.valid))

    def select(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Select the valid rows, as a read-only array."""
        if self.valid is not None:
            return make_read_only(values[self.valid])
        # A view, since the caller's own array must stay writable.
        return make_read_only(values.copy() if self.copy else values.view())

    def numbers(self, name: str) -> Any:  # noqa: ANN401  (of the type of the column)
        """Return the numbers of a column."""
        return self.select(self.table.numbers[name].values)

    def labels(self, name: str) -> LabelCodes:
        """Return the labels of a column."""
        return LabelCodes(self.select(self.table.labels[name].codes), self.table.labels[name].labels)

    def groups(self) -> tuple[npt.NDArray[Any], tuple[Group, ...]]:
        """Return the number of each row's group, and the groups."""
        return number_groups([self.labels(name) for name in self.columns.group])

    @property
    def weight(self) -> Floats | None:
        """Weights, or None."""
        name = self.columns.weight
        return None if name is None else self.numbers(name).astype(np.float64, copy=False)

    @property
    def count(self) -> Cells | None:
        """Counts, or None."""
        name = self.columns.count
        return None if name is None else make_read_only(self.numbers(name).astype(np.int64))


def select_complete(table: Table, columns: Columns, rule: Rule, problems: Problems, *, copy: bool) -> CompleteRows:
    """Count invalid numbers too, and refuse or leave out the rows with problems."""
    for name in columns.numbers:
        check_numbers(name, table.numbers[name], problems)
    if table.id is not None:
        problems.add(str(columns.id), "missing", _missing_ids(table.id))
    read, dropped = problems.resolve(rule)
    valid = _drop_zeros(table.numbers, columns, None if problems.bad is None else ~problems.bad)
    return CompleteRows(table, columns, valid, copy, read, dropped)


def check_labels(labels: Mapping[str, LabelCodes], columns: Columns, problems: Problems) -> LabelCodes:
    """Count missing labels, and return the true labels; refuse a table without any."""
    for name in columns.labels:
        problems.add(name, "missing", labels[name].codes < 0)
    truth = labels[columns.truth]
    if not len(truth.codes):
        raise EmptyDataError("there are no rows", remedy="give at least one.")
    if not truth.labels:
        raise EmptyDataError(f"every value of {columns.truth} is missing", remedy="give at least one label.")
    return truth


def note_labels(labels: Mapping[str, LabelCodes]) -> tuple[str, ...]:
    """Note labels that may be codes for missing values."""
    return tuple(
        note for name, column in labels.items() for note in note_missing_codes(name, sort_labels(column.labels))
    )


def check_numbers(name: str, column: Numbers, problems: Problems) -> None:
    """Count missing, NaN and infinite numbers."""
    values, missing = column
    with np.errstate(over="ignore", invalid="ignore"):
        # One sum is cheaper than three masks; it is finite unless a value is not, or huge values overflow.
        clean = bool(np.isfinite(values.sum()))
    if clean:
        return
    nan = np.isnan(values)
    if missing is not None:
        problems.add(name, "missing", missing)
        nan &= ~missing
    problems.add(name, "NaN", nan)
    problems.add(name, "infinite", np.isinf(values))


def count_rows(table: Table) -> int:
    """Return the number of rows; refuse columns of different lengths."""
    columns: dict[str, npt.NDArray[Any]] = {name: column.codes for name, column in table.labels.items()}
    columns |= {name: column.values for name, column in table.numbers.items()}
    if table.id is not None:
        columns["id"] = table.id
    refuse_differing_lengths(columns)
    return len(next(iter(columns.values())))


def _drop_zeros(numbers: Mapping[str, Numbers], columns: Columns, valid: Bools | None) -> Bools | None:
    """Leave out rows of weight or count zero, which count as absent; refuse invalid weights."""
    for name, check in ((columns.weight, check_weights), (columns.count, check_counts)):
        if name is not None:
            values = numbers[name].values
            check(values if valid is None else values[valid], name=name)
    for name in columns.amounts:
        nonzero = numbers[name].values != 0
        if not nonzero.all():
            valid = nonzero if valid is None else valid & nonzero
            refuse_all_zero(name, valid)
    return valid


def number_groups(attributes: Sequence[LabelCodes]) -> tuple[npt.NDArray[Any], tuple[Group, ...]]:
    """Number the groups that occur: each a combination of one label of every attribute."""
    if not attributes:
        return np.zeros(0, dtype=np.uint8), ((),)
    groups: list[Group] = [()]
    number: npt.NDArray[Any] = np.zeros(1, dtype=np.intp)
    for codes, labels in map(_sort_codes, attributes):
        # Renumbered after each attribute, so that the number of combinations cannot overflow.
        occurring, number = _number_combinations(number * len(labels) + codes, len(groups) * len(labels))
        groups = [(*groups[at // len(labels)], labels[at % len(labels)]) for at in occurring.tolist()]
    return make_read_only(number.astype(np.min_scalar_type(len(groups)))), tuple(groups)


def _number_combinations(combined: npt.NDArray[Any], most: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return which of `most` combinations occur, and the place of each row's among them."""
    if most > _MAX_COMBINATIONS:
        occurring, number = np.unique(combined, return_inverse=True)
        return occurring, number
    occurring = np.flatnonzero(np.bincount(combined, minlength=most))
    place = np.zeros(most, dtype=np.intp)
    place[occurring] = np.arange(len(occurring))
    return occurring, place[combined]


def _sort_codes(column: LabelCodes) -> LabelCodes:
    """Number the labels in sorted order."""
    labels = sort_labels(column.labels)
    place = {label: at for at, label in enumerate(labels)}
    return LabelCodes(np.array([place[label] for label in column.labels])[column.codes], labels)


def find_unknown(column: LabelCodes, known: Sequence[object]) -> Bools | None:
    """Mark rows whose label is not among the known ones, but is not missing; None if there are none."""
    unknown = [at for at, label in enumerate(column.labels) if label not in known]
    return np.isin(column.codes, unknown) if unknown else None


def is_label(column: LabelCodes, label: object) -> Bools:
    """Mark rows that have the label."""
    # No row has the code after the last label; −1 would mark rows whose label is missing.
    at = next((at for at, other in enumerate(column.labels) if other == label), len(column.labels))
    return np.asarray(column.codes == at)


def _missing_ids(column: npt.NDArray[Any]) -> Bools:
    return np.fromiter((name is None for name in column), dtype=np.bool_, count=len(column))
