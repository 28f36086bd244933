"""Tally: how much of each class sits at each score; `Tallies` by model and group; `Stack`, many at the same scores.

`ReadSummary` describes the rows that were read, and those that were dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from baserate._arrays import (
    Bools,
    Cells,
    Floats,
    FrozenMapping,
    Reals,
    keep_read_only,
    make_read_only,
    ratio,
    read_only_copy,
    refuse_differing_indexes,
)
from baserate._counts import all_or_none_reweighed
from baserate._domains import wrong_option
from baserate._errors import (
    FileFormatError,
    MissingValuesError,
    NotAProbabilityError,
    OptionError,
    ShapeError,
    WeightError,
)
from baserate._files import TALLY, FileKind, JsonFile, format_file, parse_file
from baserate._formatting import count_groups, count_of, replace_unprintable
from baserate._numeric.distinct import distinct_counts, distinct_sums, narrow_integers, sum_columns
from baserate._rendering import Renderable, short_repr

Reasons = Mapping[str, Mapping[str, int]]
"""Column -> problem -> number of rows."""


@dataclass(frozen=True, slots=True)
class ReadSummary:
    """Summary of reading: rows, rows dropped and why, labels and columns.

    >>> ReadSummary(read=10, dropped=2, reasons={"p": {"NaN": 2}}, positive="sick", negative="well").description
    '10 rows read, 2 of them dropped (p: 2 NaN); positive = sick, negative = well'
    >>> ReadSummary(read=10, labelled=3).description, ReadSummary(read=10, labelled=0).description
    ('10 rows read; 3 labelled; positive = True, negative = False', '10 rows read; none labelled')
    """

    read: int
    """Rows read, also those that were then dropped."""
    dropped: int = 0
    """Rows left out because something in them is missing or unknown."""
    reasons: Reasons = field(default_factory=dict)
    """Problems of the dropped rows; a row may have several."""
    positive: object = True
    """Label of the positive class."""
    negative: object = False
    """Label of the other class; None when it does not occur."""
    columns: Mapping[str, str | list[str]] = field(default_factory=dict)
    """Role (truth, score, group and so on) -> column."""
    notes: tuple[str, ...] = ()
    """Notes for the user."""
    classes: tuple[object, ...] = ()
    """Labels of all classes, where none of them is the positive one."""
    labelled: int | None = None
    """Labelled rows in use, where labels may be missing; None where every row has one."""

    __repr__ = short_repr

    @property
    def description(self) -> str:
        """The summary as one sentence."""
        dropped = f", {self.dropped} of them dropped ({describe_reasons(self.reasons)})" if self.dropped else ""
        labelled = "" if self.labelled is None else f"; {self.labelled or 'none'} labelled"
        return f"{count_of(self.read, 'row')} read{dropped}{labelled}{self._labels}"

    @property
    def _labels(self) -> str:
        if self.classes:
            return f"; classes: {', '.join(map(str, self.classes))}"
        negative = "" if self.negative is None else f", negative = {self.negative}"
        return "" if self.labelled == 0 else f"; positive = {self.positive}{negative}"


def describe_reasons(reasons: Reasons) -> str:
    """List the reasons why rows were dropped.

    >>> describe_reasons({"p": {"NaN": 2, "missing": 1}, "sex": {"missing": 4}})
    'p: 2 NaN, 1 missing; sex: 4 missing'
    """
    return "; ".join(
        f"{column}: " + ", ".join(f"{many} {what}" for what, many in kinds.items()) for column, kinds in reasons.items()
    )


_BLOCK = 1 << 16
"""Entries that are hashed at once."""
Data = TypeVar("Data")
Result = TypeVar("Result")


def once_per_tally(function: Callable[[Data], Result]) -> Callable[[Data], Result]:
    """Remember what a function returned for each tally, which never changes; other data are computed every time."""
    results: WeakKeyDictionary[Any, Result] = WeakKeyDictionary()

    @wraps(function)
    def call(data: Data) -> Result:
        if not isinstance(data, Tally):
            return function(data)
        if data not in results:
            results[data] = function(data)
        return results[data]

    return call


@keep_read_only
@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Tally(Renderable, JsonFile):
    """Mass, squared weights and rows of each class at each distinct score.

    `mass`, `squares` and `rows` have two rows, positives first, and one column for each score. Without weights they
    are one array of whole numbers in the narrowest type that holds them: cast before adding (`positive` and `negative`
    do). Two tallies add up to the tally of all their rows.

    >>> t = Tally.from_counts(score=[0.9, 0.4], rows=[[2, 1], [0, 3]])
    >>> t
    Tally(6 rows, 2 distinct scores from 0.4 to 0.9, prevalence 0.5)
    >>> (t + t).total
    12.0
    """

    file_kind: ClassVar[FileKind] = TALLY
    score: Floats
    """Distinct scores, strictly decreasing."""
    mass: Cells
    """Sum of weights, of shape (2, number of scores)."""
    squares: Cells
    """Sum of squared weights."""
    rows: Cells
    """Number of rows."""
    resolution: float | None = None
    """Width of the buckets that scores were rounded down to; None when they are exact."""
    reweighed: bool = field(default=False, kw_only=True)
    """Whether the classes were reweighted to known shares: prevalence then has no sampling error, rates still do."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", read_only_copy(_check_scores(self.score)))
        # Without weights the three arrays are one object: check and copy it once, and keep the identity that
        # `weighted` tests.
        checked_cells = [(self.rows, read_only_copy(_check_rows(self.rows, len(self.score))))]
        object.__setattr__(self, "rows", checked_cells[0][1])
        for name in ("mass", "squares"):
            cells = getattr(self, name)
            same = next((checked for original, checked in checked_cells if original is cells), None)
            checked = read_only_copy(_check_cells(name, cells, len(self.score))) if same is None else same
            checked_cells.append((cells, checked))
            object.__setattr__(self, name, checked)

    @classmethod
    def from_counts(cls, score: npt.ArrayLike, rows: npt.ArrayLike, *, resolution: float | None = None) -> Tally:
        """Make a tally from numbers of rows without weights."""
        refuse_differing_indexes({"score": score, "rows": rows})
        cells = np.asarray(rows)
        return cls(np.asarray(score, dtype=np.float64), cells, cells, cells, resolution)

    @classmethod
    def of_rows(cls, truth: Bools, score: Reals, *, weight: Floats | None = None, count: Cells | None = None) -> Tally:
        """Tally columns that were checked before; `baserate.tally` checks them first."""
        if weight is None and count is None:
            distinct, rows = distinct_counts(score, truth)
            return _new_tally(make_read_only(distinct), [make_read_only(rows)], None)
        distinct, tables = distinct_sums(score, truth, weight, count)
        return _new_tally(make_read_only(distinct), [make_read_only(table) for table in tables], None)

    @classmethod
    def of_sums(cls, score: Floats, tables: list[Cells]) -> Tally:
        """Make a tally from sums: numbers of rows, preceded by mass and squares if there are weights.

        Scores may be in any order and occur several times.
        """
        return _sum_equal_scores(score + 0.0, tables, None)  # −0.0 becomes 0.0

    def __repr__(self) -> str:
        rows = int(self.rows.sum())
        if rows == 0:
            return "Tally(no rows)"
        where = f"from {self.score[-1]:.6g} to {self.score[0]:.6g}"
        rounded = "" if self.resolution is None else f", rounded to {self.resolution:g}"
        marked = ", reweighed" if self.reweighed else ""
        scores = count_of(len(self.score), "distinct score")
        what = f"{count_of(rows, 'row')}, {scores} {where}{rounded}, prevalence {self.prevalence:.6g}"
        return f"Tally({what}{marked})"

    @property
    def positive(self) -> Floats:
        """Mass of the positive class at each score."""
        return np.asarray(self.mass[0], dtype=np.float64)

    @property
    def negative(self) -> Floats:
        """Mass of the negative class at each score."""
        return np.asarray(self.mass[1], dtype=np.float64)

    @property
    @once_per_tally
    def positives(self) -> float:
        """Mass of the positive class."""
        return float(self.mass[0].sum())  # NumPy adds narrow integers in 64 bits, so that none overflows

    @property
    @once_per_tally
    def negatives(self) -> float:
        """Mass of the negative class."""
        return float(self.mass[1].sum())

    @property
    def total(self) -> float:
        """Mass of everything."""
        return self.positives + self.negatives

    @property
    def prevalence(self) -> float:
        """Share of the positive class; NaN when there is no mass."""
        return ratio(self.positives, self.total)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights, so that mass differs from the number of rows."""
        return self.mass is not self.rows

    @property
    def probable(self) -> bool:
        """Whether all scores lie in [0, 1], so that they can be probabilities."""
        return not len(self.score) or bool(self.score[-1] >= 0 and self.score[0] <= 1)

    @property
    @once_per_tally
    def digest(self) -> str:
        """SHA-256 of scores and row counts: the same for the same rows in any order, however they were split.

        Weights do not enter, since the last bit of a sum depends on its order.
        """
        from hashlib import sha256  # slow to import, and not always needed

        digest = sha256(b"baserate tally 1\n")
        score = self.score + 0.0 if (self.score == 0).any() else self.score  # −0.0 is 0.0
        digest.update(np.ascontiguousarray(score, dtype="<f8").data)
        # Little-endian and 64 bits, so that digests depend neither on the machine nor on the type of the counts. One
        # buffer for all blocks, since allocating takes as long as hashing.
        wide = np.empty(min(_BLOCK, self.rows.shape[1]), dtype="<i8")
        for column in self.rows:
            for start in range(0, len(column), _BLOCK):
                block = column[start : start + _BLOCK]
                wide[: len(block)] = block
                digest.update(wide[: len(block)].data)
        return digest.hexdigest()

    def __add__(self, other: object) -> Tally:
        if isinstance(other, Tally):
            return Tally.sum([self, other])
        return NotImplemented

    def __radd__(self, other: object) -> Tally:
        # The built-in sum() starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    @staticmethod
    def sum(tallies: Iterable[Tally]) -> Tally:
        """Add many tallies, in one sort."""
        parts = list(tallies)
        if not parts:
            return Tally.from_counts([], np.empty((2, 0), dtype=np.uint8))
        names = _columns(weighted=any(part.weighted for part in parts))
        # Scores of several parts are sorted once; adding tallies one by one would sort each intermediate sum.
        columns = [np.concatenate([getattr(part, name) for part in parts], axis=1) for name in names]
        resolutions = [part.resolution for part in parts if part.resolution is not None]
        reweighed = all_or_none_reweighed(part.reweighed for part in parts if len(part.score))
        score, resolution = np.concatenate([part.score for part in parts]), max(resolutions, default=None)
        return _sum_equal_scores(score, columns, resolution, reweighed=reweighed)

    def round_scores(self, resolution: float) -> Tally:
        """Round scores down to a multiple of the resolution.

        Rounding down keeps the counts at every edge exact: flagged at threshold e ⇔ score ≥ e ⇔ rounded score ≥ e.

        >>> exact = Tally.from_counts(score=[0.39, 0.31, 0.3, 0.25], rows=[[1, 1, 1, 0], [0, 0, 1, 1]])
        >>> exact.round_scores(0.1).score.tolist()
        [0.3, 0.2]
        """
        if not 0 < resolution < np.inf:
            raise wrong_option("resolution", resolution, "the width of a bucket, for example 0.001")
        columns = [getattr(self, name) for name in _columns(weighted=self.weighted)]
        coarsest = max(resolution, self.resolution or 0.0)
        return _sum_equal_scores(_edge_below(self.score, resolution), columns, coarsest, reweighed=self.reweighed)

    def with_scores(self, score: npt.ArrayLike) -> Tally:
        """Replace each score by another and keep the masses; scores that become equal are pooled.

        >>> tally = Tally.from_counts(score=[0.8, 0.5, 0.2], rows=[[1, 1, 0], [0, 1, 1]])
        >>> tally.with_scores([0.9, 0.4, 0.4]).rows.tolist()
        [[1, 1], [0, 2]]
        """
        new = np.asarray(score, dtype=np.float64)
        if new.shape != self.score.shape:
            raise ShapeError(f"score has shape {new.shape}", remedy=f"give one for each of {len(self.score)} scores.")
        columns = [getattr(self, name) for name in _columns(weighted=self.weighted)]
        return _sum_equal_scores(new + 0.0, columns, self.resolution, reweighed=self.reweighed)

    def scale_classes(self, positive: float, negative: float) -> Tally:
        """Multiply the mass of each class by a factor; the class shares then count as known.

        >>> tally = Tally.from_counts(score=[0.8, 0.5, 0.2], rows=[[1, 1, 0], [0, 1, 1]])
        >>> tally.scale_classes(0.5, 1.5)
        Tally(4 rows, 3 distinct scores from 0.2 to 0.8, prevalence 0.25, reweighed)
        """
        # Squared weights scale with the square, or effective sample sizes, and so intervals, would be wrong.
        by = np.array([[positive], [negative]])
        mass, squares = make_read_only(self.mass * by), make_read_only(self.squares * by**2)
        return replace(self, mass=mass, squares=squares, reweighed=True)

    def top_class(self) -> Tally:
        """Tally whether the predicted class is the true one, by its probability: p where p ≥ 0.5, otherwise 1 − p.

        >>> Tally.from_counts(score=[0.8, 0.5, 0.3], rows=[[3, 1, 1], [1, 0, 2]]).top_class()
        Tally(8 rows, 3 distinct scores from 0.5 to 0.8, prevalence 0.75)
        """
        if not self.probable:
            raise NotAProbabilityError(
                f"scores from {self.score[-1]:.6g} to {self.score[0]:.6g} are not probabilities, so no class is the "
                "likelier one",
                remedy="calibrate the scores first.",
            )
        flagged = self.score >= 0.5
        names = _columns(weighted=self.weighted)
        columns = [np.where(flagged, each, each[::-1]) for each in (getattr(self, name) for name in names)]
        # Positive now means predicted correctly, whose share was never fixed: drop `reweighed`, so that intervals
        # are conservative.
        return _sum_equal_scores(np.where(flagged, self.score, 1 - self.score), columns, self.resolution)

    def to_json(self) -> str:
        """Return the tally as versioned JSON that restores every number exactly."""
        # Written only where true: releases without the field refuse the file instead of misreading it.
        marked = {"reweighed": True} if self.reweighed else {}
        columns = ("score", *_columns(weighted=self.weighted))
        arrays = {name: getattr(self, name).tolist() for name in columns}
        return format_file(TALLY, {"resolution": self.resolution, **marked, **arrays})

    @classmethod
    def from_json(cls, text: str) -> Tally:
        """Read the JSON of `to_json`, checking its form."""
        form = _check_form(text)
        try:
            cells = [_numbers(form, name) for name in _columns(weighted="mass" in form)]
            score = _numbers(form, "score").astype(np.float64)
            return _new_tally(score, cells, form["resolution"], reweighed="reweighed" in form)
        except (TypeError, ValueError) as error:
            raise FileFormatError(f"not a tally: {error}") from error


def _columns(*, weighted: bool) -> tuple[str, ...]:
    return ("mass", "squares", "rows") if weighted else ("rows",)


def _new_tally(score: Floats, cells: list[Cells], resolution: float | None, *, reweighed: bool = False) -> Tally:
    """Make a tally from the columns that `_columns` names."""
    mass, squares, rows = cells if len(cells) > 1 else cells * 3
    return Tally(score, mass, squares, rows, resolution, reweighed=reweighed)


def _sum_equal_scores(
    score: Floats, columns: list[Cells], resolution: float | None, *, reweighed: bool = False
) -> Tally:
    distinct, tables = sum_columns(score, columns)
    return _new_tally(
        make_read_only(distinct), [make_read_only(table) for table in tables], resolution, reweighed=reweighed
    )


def _check_scores(score: Floats) -> Floats:
    if score.ndim != 1:
        raise ShapeError(f"score has shape {score.shape}", remedy="give one dimension.")
    # The ends suffice for infinities; a NaN inside fails the comparison of neighbors below.
    if len(score) and not (np.isfinite(score[0]) and np.isfinite(score[-1])):
        raise MissingValuesError("a score is NaN or infinite", remedy="leave such rows out before tallying.")
    if not (score[1:] < score[:-1]).all():
        raise ShapeError("scores are not distinct and decreasing", remedy="let baserate.tally(truth, score) sort them.")
    return score


def _check_cells(name: str, cells: Cells, width: int) -> Cells:
    if cells.shape != (2, width):
        raise ShapeError(f"{name} has shape {cells.shape}", remedy=f"give a row for each class and {width} columns.")
    # Unsigned integers come from our own kernels and cannot be negative or NaN: skip a pass over the array.
    if cells.dtype.kind != "u" and cells.size and not (cells.min() >= 0 and cells.max() < np.inf):
        raise WeightError(
            f"{name} holds negative, NaN or infinite numbers", remedy="leave such rows out before tallying."
        )
    return cells


def _check_rows(rows: Cells, width: int) -> Cells:
    cells = _check_cells("rows", rows, width)
    if cells.dtype.kind == "u":
        return cells
    if not (cells == np.trunc(cells)).all():
        raise WeightError("rows holds fractions", remedy="give whole numbers, and weights as mass.")
    return make_read_only(narrow_integers(cells.astype(np.int64)))


def _edge_below(score: Floats, resolution: float) -> Floats:
    """Return the largest multiple of the resolution at or below each score.

    For a resolution of 1/n the multiples are i/n, which rounds as decimals do; i·(1/n) would miss 0.3 by one bit.
    """
    per_unit = round(1 / resolution) if resolution < 1 else 0
    divides = per_unit > 0 and abs(per_unit * resolution - 1) < 1e-9

    def edge(index: Floats) -> Floats:
        return index / per_unit if divides else index * resolution

    index = np.floor(score / resolution)
    if (np.abs(index) >= 2**53).any():
        raise OptionError(
            f"a resolution of {resolution} is finer than scores of this size", remedy="give a coarser one."
        )
    # The quotient may be rounded across an edge in either direction.
    index += edge(index + 1) <= score
    index -= edge(index) > score
    return edge(index)


def _numbers(form: dict[str, Any], name: str) -> Cells:
    array = np.array(form[name])
    if array.dtype.kind not in "iuf":
        raise FileFormatError(f"{name} holds something else than numbers.")
    return array


def _check_form(text: str) -> dict[str, Any]:
    form = parse_file(text, TALLY)
    wanted = {"resolution", "score", "rows"}
    with_weights = wanted | {"mass", "squares"}
    if set(form) - {"reweighed"} not in (wanted, with_weights):
        raise FileFormatError(
            f"a tally with the fields {sorted(form)}; expected {sorted(wanted)}, or {sorted(with_weights)}."
        )
    if form.get("reweighed", True) is not True:
        raise FileFormatError(f'a tally whose "reweighed" is {form["reweighed"]!r}; expected true, or no such field.')
    resolution = form["resolution"]
    if resolution is not None and not (type(resolution) in (int, float) and resolution > 0):  # true is not a number
        raise FileFormatError(f"a tally of resolution {resolution!r}; expected null or a number above 0.")
    return form


Group = tuple[object, ...]
"""Labels of a group, one for each attribute."""


def as_group(key: object) -> Group:
    """Return a group as a tuple of labels; a plain label is of one attribute.

    >>> as_group("f"), as_group(("f", "north"))
    (('f',), ('f', 'north'))
    """
    return key if isinstance(key, tuple) else (key,)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tallies(Renderable):
    """Model -> group -> Tally.

    A group is a tuple of values, one for each of the `attributes`; ungrouped data has the single group `()`.

    >>> t = Tally.from_counts(score=[0.9, 0.4], rows=[[2, 1], [0, 3]])
    >>> both = Tallies({"risk": {("f",): t, ("m",): t}}, attributes=("sex",), intake=ReadSummary(read=12))
    >>> both.pooled("risk").total
    12.0
    >>> [(group, tally.total) for _, group, tally in both.walk()]
    [(None, 12.0), (('f',), 6.0), (('m',), 6.0)]
    """

    models: Mapping[str, Mapping[Group, Tally]]
    attributes: tuple[str, ...] = ()
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))
    decisions: Mapping[str, Tally] = field(default_factory=dict)
    """Model -> tally of all rows with the predicted label in place of the outcome; empty without predicted labels."""
    _sums: dict[str, Tally] = field(default_factory=dict, init=False)
    """Cache of `pooled`: adding groups takes as long as reading them."""

    def __post_init__(self) -> None:
        models = {model: FrozenMapping(groups) for model, groups in self.models.items()}
        object.__setattr__(self, "models", FrozenMapping(models))
        keys = [list(groups) for groups in models.values()]
        if not keys or not keys[0] or any(other != keys[0] for other in keys):
            raise OptionError(
                "every model needs a tally for each of the same groups", remedy="give at least one of both."
            )
        if any(len(group) != len(self.attributes) for group in keys[0]):
            raise OptionError(f"a group is not a tuple with a value for each attribute, {list(self.attributes)}.")

    def __repr__(self) -> str:
        groups = f" in {count_groups(len(self.groups), self.attributes)}" if self.attributes else ""
        return replace_unprintable(f"Tallies({', '.join(self.models)}{groups}; {self.intake.description})")

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, the same for every model."""
        return tuple(next(iter(self.models.values())))

    @property
    def tally(self) -> Tally:
        """The only tally, where there is one model and no grouping."""
        if len(self.models) > 1 or self.attributes:
            raise OptionError(
                "there are several tallies", remedy="take tallies.models[model][group], or tallies.pooled(model)."
            )
        return self.models[next(iter(self.models))][()]

    def pooled(self, model: str) -> Tally:
        """Return the tally of all groups of a model; it is computed once."""
        if model not in self._sums:
            groups = list(self.models[model].values())
            self._sums[model] = groups[0] if len(groups) == 1 else Tally.sum(groups)
        return self._sums[model]

    def walk(self) -> Iterator[tuple[str, Group | None, Tally]]:
        """Iterate over models: the pooled tally (group None), then the tally of each group if there are groups."""
        for model, groups in self.models.items():
            yield model, None, self.pooled(model)
            if self.attributes:
                yield from ((model, group, tally) for group, tally in groups.items())

    @property
    def digest(self) -> str:
        """SHA-256 of all tallies; of a single tally its own digest.

        It depends on scores, classes, groups and the order of models; not on names, file formats or the order of rows.
        """
        digests = [(group, tally.digest) for groups in self.models.values() for group, tally in groups.items()]
        if len(digests) == 1:
            return digests[0][1]
        from hashlib import sha256  # slow to import, and not always needed

        lines = [f"{list(map(str, group))} {digest}" for group, digest in digests]
        return sha256("\n".join(["baserate tallies 1", *lines]).encode()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Masses of both classes at the same scores, one row for each of many tallies, such as bootstrap samples.

    A measure that is written in terms of `score`, `positive`, `negative` and `total` takes a stack where it takes a
    tally, and returns an array with one number for each.

    >>> import numpy as np
    >>> many = Stack(np.array([0.9, 0.4]), np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 1.0]]))
    >>> many.prevalence.tolist()
    [0.6666666666666666, 0.5]
    """

    score: Floats
    """Distinct scores, strictly decreasing."""
    positive: Floats
    """Mass of the positive class: a row for each tally, a column for each score."""
    negative: Floats
    shared: bool = False
    """Whether all have the same total mass at each score, so that only outcomes differ."""
    weight: float = 1.0
    """Typical weight of a row."""

    @property
    def positives(self) -> Floats:
        """Mass of the positive class in each."""
        mass: Floats = self.positive.sum(axis=-1)
        return mass

    @property
    def negatives(self) -> Floats:
        """Mass of the negative class in each."""
        mass: Floats = self.negative.sum(axis=-1)
        return mass

    @property
    def total(self) -> Floats:
        """Mass of everything in each."""
        return self.positives + self.negatives

    @property
    def prevalence(self) -> Floats:
        """Share of the positive class in each."""
        return ratio(self.positives, self.total)


Forecasts = Tally | Stack
"""Argument of probability measures; for a `Stack` they return an array, which the annotations do not say."""
