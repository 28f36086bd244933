"""Any table -> Tallies, or Rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, Unpack

from baserate._arrays import refuse_differing_indexes
from baserate._confusion import Confusions
from baserate._errors import BaserateError, FileFormatError, OptionError
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Tallies
from baserate._target import MulticlassTarget, Target
from baserate.read import _classes, _unlabelled
from baserate.read._eager import Rule, Table, gathered
from baserate.read._memory import loaded
from baserate.read._named import Columns, Named

if TYPE_CHECKING:  # DuckDB is slow to import, and not needed for what is in memory
    from baserate.read._duckdb import Relation, Watch
    from baserate.read._lazy import Lazy

Source = str | PathLike[str] | Mapping[str, Any] | Any


def tallies(
    source: Source,
    *,
    positive: object = None,
    negative: object = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[Named],
) -> Tallies:
    """Tally any table, for each model and group.

    Where an engine holds the data and scores repeat, the engine adds up and no row leaves it.

    Parameters
    ----------
    source
        A mapping from names to arrays or lists; a frame of pandas, Polars, PyArrow or another library that Narwhals
        knows; a lazy frame; a DuckDB relation; any object with an Arrow stream; or the path of a CSV, TSV, Parquet,
        JSON lines or Arrow file, a pattern (``part-*.csv``), a folder of such files, several of these in a list, or
        ``-`` for standard input.
    positive, negative
        Labels of the two classes. The positive one may be left out for booleans and for 0 and 1; the negative one
        wherever there are just two labels. With both named, rows of other labels count as missing.
    missing
        ``"refuse"`` rows in which something is missing, NaN, infinite or an unknown label; or ``"drop"`` them, and
        remember how many in ``intake``.
    watch
        Called with a function that tells how many per cent of a file are read; returns a context to read in.
    truth, score, predicted, group, weight, count
        Names of columns. `truth` is needed, and `score` (one, or several for several models) or `predicted` (labels
        of a classifier that gives no scores). Several of `group` make their combinations. `weight` and `count` are as
        in :func:`tally`.

    Examples
    --------
    >>> table = {"sick": ["y", "n", "n", "y"], "risk": [0.9, 0.4, 0.4, 0.2], "sex": ["f", "f", "m", "m"]}
    >>> found = tallies(table, truth="sick", score="risk", group="sex", positive="y")
    >>> found.models["risk"]["f",]
    Tally(2 rows, 2 distinct scores from 0.4 to 0.9, prevalence 0.5)
    >>> found.intake.told
    '4 rows read; positive = y, negative = n'
    """
    named, rule = replace(Columns.of(columns), id=None, cluster=None), Rule(positive, negative, missing)
    with opened(source, named, watch) as table:
        return table.tallies(rule)


def rows(
    source: Source,
    *,
    positive: object = None,
    negative: object = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[Named],
) -> Rows:
    """Read the rows of any table, for what needs to know which row is which.

    As :func:`tallies`, with two more columns: `id` names a row, `cluster` what it belongs to.

    >>> table = {"sick": [1, 0, 0], "risk": [0.9, 0.4, None], "who": ["a", "b", "c"]}
    >>> found = rows(table, truth="sick", score="risk", id="who", missing="drop")
    >>> found.id.tolist(), found.intake.told
    (['a', 'b'], '3 rows read, 1 of them dropped (risk: 1 missing); positive = 1, negative = 0')
    """
    named, rule = Columns.of(columns), Rule(positive, negative, missing)
    with opened(source, named, watch) as table:
        return table.rows(rule)


def confusions(
    source: Source,
    *,
    labels: Iterable[object] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[Named],
) -> Confusions:
    """Count how often each pair of true and predicted label occurs in any table, for each group.

    As :func:`tallies`, with the columns `truth` and `predicted`, and no class that is positive. The classes are the
    labels that occur in either, in order; name them as `labels` to fix the order, or to include what does not occur.

    >>> table = {"is": ["cat", "dog", "dog", "fish"], "called": ["cat", "cat", "dog", "dog"]}
    >>> confusions(table, truth="is", predicted="called").pooled
    Confusion(cat, dog, fish; 4, of which 2 on the diagonal)
    """
    named = replace(Columns.of(columns), id=None, cluster=None)
    if named.predicted is None or named.score:
        raise OptionError("a table of true and predicted labels needs predicted= and no score=.")
    with opened(source, named, watch) as table:
        return table.confusions(Rule(missing=missing, labels=as_tuple(labels)))


def class_rows(
    source: Source,
    *,
    labels: Iterable[object] | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[Named],
) -> MulticlassRows:
    """Read the rows of any table that has a score for each class.

    As :func:`tallies`, with the columns `truth` and `score`: one score for each class, or the beginning of their names
    as ``score="p_*"``. Which column belongs to which class is told by its name, without what all of them begin or end
    with, or by a mapping, ``score={"cat": "p1", "dog": "p2"}``. `labels` puts the classes into an order; where names
    tell nothing, it is that of the columns.

    >>> table = {"is": ["cat", "dog", "dog"], "p_cat": [0.8, 0.3, 0.6], "p_dog": [0.2, 0.7, 0.4]}
    >>> class_rows(table, truth="is", score="p_*")
    ClassRows(3 rows; scores for cat, dog)
    """
    score = columns.get("score")
    bound = None
    if isinstance(score, Mapping):
        bound, columns["score"] = tuple(score), tuple(score.values())
    named = replace(Columns.of(columns), id=None, cluster=None)
    if not named.score or named.predicted is not None:
        raise OptionError("rows of several classes need score=, a column for each class, and no predicted=.")
    with opened(source, named, watch) as table:
        return table.class_rows(Rule(missing=missing, labels=as_tuple(labels), bound=bound))


def decisions(
    source: Source,
    *,
    missing: Literal["refuse", "drop"] = "refuse",
    watch: Watch | None = None,
    **columns: Unpack[Named],
) -> Tallies | Confusions:
    """Read true and predicted labels as whatever they are: tallies if there are two classes, otherwise confusions."""
    named = replace(Columns.of(columns), id=None, cluster=None)
    with opened(source, named, watch) as table:
        found = table.confusions(Rule(missing=missing))
        return found if len(found.labels) > 2 else table.tallies(Rule(missing=missing))


class Asked(Protocol):
    """A table that is open, and what it can be asked for."""

    @property
    def columns(self) -> Columns: ...
    def tallies(self, rule: Rule) -> Tallies: ...
    def rows(self, rule: Rule) -> Rows: ...
    def confusions(self, rule: Rule) -> Confusions: ...
    def class_rows(self, rule: Rule) -> MulticlassRows: ...
    def target(self, rule: Rule) -> Target: ...
    def class_target(self, rule: Rule) -> MulticlassTarget: ...


class _Memory:
    """Columns in memory."""

    def __init__(self, given: Mapping[str, Any], columns: Columns) -> None:
        self.given, self.columns = given, columns

    def tallies(self, rule: Rule) -> Tallies:
        return gathered(self._loaded, self.columns, rule, lasting=False).tallies()

    def rows(self, rule: Rule) -> Rows:
        return gathered(self._loaded, self.columns, rule)

    def confusions(self, rule: Rule) -> Confusions:
        return _classes.confusions(self._loaded, self.columns, rule)

    def class_rows(self, rule: Rule) -> MulticlassRows:
        return _classes.class_rows(self._loaded, self.columns, rule)

    def target(self, rule: Rule) -> Target:
        return _unlabelled.target(self._loaded, self.columns, rule)

    def class_target(self, rule: Rule) -> MulticlassTarget:
        return _unlabelled.class_target(self._loaded, self.columns, rule, lasting=False)  # scores are put together

    @property
    def _loaded(self) -> Table:
        return loaded(self.given, self.columns)


class _Lazy:
    """A lazy frame of any engine."""

    def __init__(self, frame: Any, columns: Columns) -> None:  # noqa: ANN401  (a lazy frame of Narwhals)
        self.frame, self.columns = frame, columns

    def tallies(self, rule: Rule) -> Tallies:
        from baserate.read._lazy import aggregated

        with _foreign():
            return aggregated(self._renamed, self.columns, rule)

    def rows(self, rule: Rule) -> Rows:
        return self._collected.rows(rule)

    def confusions(self, rule: Rule) -> Confusions:
        from baserate.read._lazy import confused

        with _foreign():
            return confused(self._renamed, self.columns, rule)

    def class_rows(self, rule: Rule) -> MulticlassRows:
        return self._collected.class_rows(rule)

    def target(self, rule: Rule) -> Target:
        from baserate.read._lazy import targeted

        with _foreign():
            return targeted(self._renamed, self.columns, rule)

    def class_target(self, rule: Rule) -> MulticlassTarget:
        return self._collected.class_target(rule)

    @property
    def _renamed(self) -> Lazy:
        from baserate.read._lazy import Lazy

        # Names of our own: an engine may take a name such as ^p.*$ for a pattern.
        names = {name: f"baserate {at}" for at, name in enumerate(self.columns.used)}
        return Lazy(self.frame.rename(names), names)

    @property
    def _collected(self) -> _Memory:
        with _foreign():
            frame = self.frame.select(*self.columns.used).collect()
        return _Memory({name: frame[name] for name in self.columns.used}, self.columns)


@contextmanager
def opened(source: Source, columns: Columns, watch: Watch | None) -> Iterator[Asked]:
    """Open whatever holds a table, with the columns in use."""
    if paths := paths_of(source):
        from baserate.read import _files

        with _files.opened(paths, columns, watch) as relation:
            yield relation
    elif isinstance(source, Mapping):
        columns = columns.found(list(source))
        refuse_differing_indexes({name: source[name] for name in columns.used})
        yield _Memory(source, columns)
    else:
        with _framed(source, columns) as table:
            yield table


def as_tuple(labels: Iterable[object] | None) -> tuple[object, ...] | None:
    return None if labels is None else tuple(labels)


def paths_of(source: Source) -> list[str | PathLike[str]]:
    """The paths that are named; none if the source is something else."""
    named: list[Any] = list(source) if isinstance(source, (list, tuple)) else [source]
    return named if all(isinstance(each, (str, PathLike)) for each in named) else []


@contextmanager
def _framed(source: Any, columns: Columns) -> Iterator[Asked]:  # noqa: ANN401  (a frame, or what can stream)
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(source, pass_through=True)
    except DuplicateError as error:
        raise FileFormatError("two columns of the frame have the same name; rename one of them.") from error
    if isinstance(frame, nw.DataFrame):
        columns = columns.found(frame.columns)
        yield _Memory({name: frame[name] for name in columns.used}, columns)
    elif isinstance(frame, nw.LazyFrame):
        with _foreign():
            names = frame.collect_schema().names()
        columns = columns.found(names)
        yield _relation(frame.to_native(), columns) if frame.implementation.is_duckdb() else _Lazy(frame, columns)
    elif hasattr(source, "__arrow_c_stream__"):
        with _streamed(source, columns) as relation:
            yield relation
    else:
        raise OptionError(
            f"{type(source).__name__} is no table that we know; give a frame, a mapping of columns, or a path."
        )


@contextmanager
def _foreign() -> Iterator[None]:
    """Say in our words that an engine failed; each has errors of its own."""
    try:
        yield
    except (BaserateError, KeyboardInterrupt):
        raise
    except Exception as error:
        told = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise FileFormatError(f"the frame cannot be read: {told[0].rstrip('.')}.") from error


@contextmanager
def _streamed(source: object, columns: Columns) -> Iterator[Relation]:
    """Read an Arrow stream once, into the engine."""
    from baserate.read._duckdb import engine

    with engine() as connection:
        with _foreign():
            connection.from_arrow(source).create("streamed")
        streamed = connection.table("streamed")
        yield _relation(streamed, columns.found(streamed.columns))


def _relation(native: Any, columns: Columns) -> Relation:  # noqa: ANN401  (a relation of DuckDB)
    from baserate.read._duckdb import Relation

    return Relation(native, columns)
