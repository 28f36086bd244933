"""Fit data: the data of calibrators of two and of several classes, checked for a fit; parameters with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from math import isfinite, sqrt
from typing import Concatenate, ParamSpec

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, FitSource, Parameter
from baserate._errors import EmptyDataError, FitError, NotAProbabilityError, OptionError, keyword
from baserate._formatting import count_of
from baserate._numeric.cumulative import run_in_background
from baserate._numeric.logistic import PROBABILITY_CLIP, SoftmaxData
from baserate._rows import MulticlassRows, Rows
from baserate._tally import ReadSummary, Tallies, Tally
from baserate.measure.multiclass import check_class_probabilities
from baserate.read import OfPredictions, accepts_predictions

Data = Tally | Tallies | Rows
Options = ParamSpec("Options")
MIN_ROWS = 20
"""Rows below which a note says that a fit is unreliable."""
LEVEL = 0.95
Z = 1.959963984540054
"""Quantile of the standard normal distribution for two-sided intervals at that level."""
MAX_PARTITIONS = 100
"""Random partitions into folds that are tried until every class is in more than one fold."""


def pool_tally(data: Data) -> Tally:
    """Pool all groups of data with one score in one tally; raise if there are several scores."""
    if isinstance(data, Tally):
        return data
    tallies = data.tallies() if isinstance(data, Rows) else data
    if not isinstance(tallies, Tallies):
        what = f"data is {type(data).__name__}; expected a Tally, Tallies or Rows."
        remedy = "Make a tally of arrays: baserate.tally(y, p)."
        raise OptionError(what, remedy=remedy, option="data", value=type(data).__name__)
    if len(tallies.models) > 1:
        raise OptionError(
            f"there are several scores ({', '.join(tallies.models)}), but a calibrator is of one",
            remedy="read one score only.",
        )
    return tallies.pooled(next(iter(tallies.models)))


def add_column_names(calibrator: Calibrator, data: Data) -> Calibrator:
    """Store the names of columns and of the positive class in a calibrator, where the data contain them."""
    if isinstance(data, Tally):
        return calibrator
    return replace(calibrator, columns=_column_names(data.intake), positive=str(data.intake.positive))


def _column_names(intake: ReadSummary) -> Mapping[str, str]:
    names = {role: intake.columns[role] for role in ("truth", "score") if role in intake.columns}
    return {role: name if isinstance(name, str) else name[0] for role, name in names.items() if name}


def binary_calibrator(
    function: Callable[Concatenate[Tally, Options], Calibrator],
) -> OfPredictions[Tally, Options, Calibrator]:
    """Decorate a fitting function: its tally has both classes, and its calibrator stores what it was fitted on."""

    @accepts_predictions("tally")
    @wraps(function)
    def fit(tally: Tally, /, *args: Options.args, **options: Options.kwargs) -> Calibrator:
        # The digest takes as long as some fits, and is computed in another thread.
        with run_in_background(lambda: tally.digest, size=3 * len(tally.score)) as digest:
            calibrator = function(_check_classes(tally), *args, **options)
            rows = int(tally.rows.sum(dtype=np.int64))
            few = [f"it was fitted on {rows} rows, too few to rely on."] if rows < MIN_ROWS else []
            prevalence = tally.prevalence
        return replace(calibrator, fitted=FitSource(digest(), rows, prevalence), notes=(*calibrator.notes, *few))

    return fit


def _check_classes(tally: Tally) -> Tally:
    """Check that a tally has both classes, and drop scores without mass."""
    positive, negative = (bool(mass.any()) for mass in tally.mass)
    if not (positive or negative):
        raise EmptyDataError("there are no rows with weight to fit a calibrator to", remedy="give some.")
    if not (positive and negative):
        raise FitError(f"all rows are {'positive' if positive else 'negative'}", remedy="give rows of both classes.")
    # Isotonic regression needs mass at every score; for other fits the range of scores would be too wide.
    nonempty = np.logical_or(*tally.mass)
    if nonempty.all():
        return tally
    mass, squares, rows = (cells[:, nonempty] for cells in (tally.mass, tally.squares, tally.rows))
    return Tally(tally.score[nonempty], mass, squares, rows, reweighed=tally.reweighed)


def are_probabilities(tally: Tally, stated: bool | None) -> bool:  # noqa: FBT001  (what the caller states, if anything)
    """Return whether scores are probabilities: as stated, otherwise if all of them lie in [0, 1]."""
    return tally.probable if stated is None else stated


def require_probabilities(tally: Tally, method: str, *, probabilities: bool | None = None) -> None:
    """Refuse scores that are not probabilities, for calibrators that need them."""
    # In cross-fitting, the scores of other folds may show that these are not probabilities.
    if not tally.probable or probabilities is False:
        scores = "are not probabilities" if tally.probable else f"go from {tally.score[-1]:.6g} to {tally.score[0]:.6g}"
        raise NotAProbabilityError(
            f"scores {scores}, but {method} changes probabilities",
            remedy="fit logistic or isotonic, which take any score.",
        )


def clipping_note(tally: Tally) -> tuple[str, ...]:
    """Return a note on rows whose log-odds are infinite, if there are any."""
    if tally.score[-1] >= PROBABILITY_CLIP and tally.score[0] <= 1 - PROBABILITY_CLIP:
        return ()
    rows = int(
        tally.rows[:, (tally.score < PROBABILITY_CLIP) | (tally.score > 1 - PROBABILITY_CLIP)].sum(dtype=np.int64)
    )
    subject = "row has a probability" if rows == 1 else "rows have a probability"
    clip = f"{PROBABILITY_CLIP:g}"
    return (f"{rows} {subject} of 0 or 1, or next to it, without finite log-odds; it was moved {clip} away.",)


def log_probabilities(score: Floats) -> tuple[Floats, Floats]:
    """Return ln p and −ln(1 − p), after moving certainties by `PROBABILITY_CLIP` from 0 and 1."""
    p = np.clip(score, PROBABILITY_CLIP, 1 - PROBABILITY_CLIP)
    return np.log(p), -np.log1p(-p)


def refuse_separation(tally: Tally) -> None:
    """Refuse classes that a threshold separates: the likelihood has no maximum, it grows with the slope."""
    lowest, highest = _class_extremes(tally)
    # Equal scores are another error, which the caller raises.
    if lowest >= highest and tally.score[0] > tally.score[-1]:
        where = f"between {highest:.6g} and {lowest:.6g}" if lowest > highest else f"at {lowest:.6g}"
        raise FitError(
            f"a threshold {where} separates the classes, so that no finite slope fits best",
            remedy=f"fit isotonic, or logistic with {keyword('smoothed', value=True)}.",
        )


def refuse_separation_at_half(tally: Tally) -> None:
    """Refuse classes that ½ separates: the likelihood has no maximum, it grows as the temperature falls."""
    lowest, highest = _class_extremes(tally)
    if lowest >= 0.5 >= highest:
        raise FitError("½ separates the classes, so that no temperature above 0 fits best", remedy="fit isotonic.")


def _class_extremes(tally: Tally) -> tuple[float, float]:
    """Return the lowest score of a positive, and the highest of a negative."""
    # Scores descend, and `argmax` finds the first True: the first negative has the highest score.
    last, first = (tally.mass[0][::-1] > 0).argmax(), (tally.mass[1] > 0).argmax()
    return float(tally.score[::-1][last]), float(tally.score[first])


def wald_parameter(name: str, value: float, variance: float | None) -> Parameter:
    """Return a fitted parameter with its Wald interval; without one where its variance is unknown.

    >>> wald_parameter("slope", 2.0, 0.25)
    Parameter(name='slope', value=2.0, standard_error=0.5, low=1.020018007729973, high=2.979981992270027, level=0.95)
    """
    # A singular information gives a variance that is NaN, infinite or, by rounding, negative.
    if variance is None or not isfinite(variance) or variance < 0:
        return Parameter(name, float(value))
    error = sqrt(variance)
    return Parameter(name, float(value), error, float(value - Z * error), float(value + Z * error), LEVEL)


def add_temperature(slope: Parameter) -> tuple[Parameter, ...]:
    """Return a slope b and its temperature 1/b, with a standard error by the delta method.

    The bounds are the reciprocals of those of the slope; there is no upper bound where the slope may be 0.
    """
    if slope.value <= 0 or slope.standard_error is None or slope.low is None or slope.high is None:
        return (slope,)
    error, high = slope.standard_error / slope.value**2, 1 / slope.low if slope.low > 0 else None
    return slope, Parameter("temperature", 1 / slope.value, error, 1 / slope.high, high, slope.level)


_MAX_LABELS = 5
"""Classes that a message lists."""


@dataclass(frozen=True, slots=True)
class MulticlassFitRows:
    """Rows of several classes with weight, checked for a fit, and what a calibrator stores about them."""

    rows: MulticlassRows
    digest: str
    """Digest of all rows, including those without weight."""

    @staticmethod
    def of(rows: MulticlassRows) -> MulticlassFitRows:
        """Drop rows without weight; refuse data without rows."""
        weighted = rows if rows.amount is None or rows.amount.all() else rows.only(rows.amount > 0)
        if not len(weighted):
            raise EmptyDataError("there are no rows with weight to fit a calibrator to", remedy="give some.")
        return MulticlassFitRows(weighted, rows.digest)

    @staticmethod
    def probabilities(rows: MulticlassRows) -> MulticlassFitRows:
        """Refuse also scores that are not probabilities, and rows of a single class."""
        fit_rows = MulticlassFitRows.of(rows)
        check_class_probabilities(fit_rows.rows, "fit one-vs-rest with a method that takes any score.")
        present = np.flatnonzero(fit_rows.rows.support)
        if len(present) < 2:
            raise FitError(
                f"all {len(fit_rows.rows)} rows are of the class {rows.labels[present[0]]}",
                remedy="give rows of two or more.",
            )
        return fit_rows

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        return tuple(map(str, self.rows.labels))

    @property
    def columns(self) -> dict[str, str]:
        """Class -> name of its score column, if the rows were read from columns."""
        names = self.rows.intake.columns.get("score", [])
        if isinstance(names, str) or len(names) != len(self.labels):
            return {}
        return dict(zip(self.labels, names, strict=True))

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        shares: Floats = self.rows.support / self.rows.total
        return shares

    @property
    def n_rows(self) -> int:
        """Number of rows, with their counts."""
        return len(self.rows) if self.rows.count is None else int(self.rows.count.sum())

    @property
    def sample(self) -> FitSource:
        """Description of the rows, for the calibrator to store."""
        return FitSource(digest=self.digest, rows=self.n_rows, prevalence=tuple(self.shares.tolist()))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the rows that apply to every fit."""
        clipped = int((self.rows.score < PROBABILITY_CLIP).sum())
        few = f"fitted on {count_of(self.n_rows, 'row')} only: another sample may give a very different calibrator."
        clip = f"{PROBABILITY_CLIP:g}"
        near = f"{clipped} of {self.rows.score.size} probabilities are below {clip}, and are taken as {clip}."
        return (*((few,) if self.n_rows < MIN_ROWS else ()), *((near,) if clipped else ()))

    def log_probabilities(self, *, same_slope: bool) -> SoftmaxData:
        """Return log-probabilities, with classes and amounts.

        With the `same_slope` for all classes they are relative to the likeliest class, so that differences lose no
        digits where one class is almost certain. Otherwise that would change the model.
        """
        rows = self.rows
        # Clipped, since ln 0 would rule a class out whatever the parameters.
        x = np.log(np.maximum(np.ascontiguousarray(rows.score, dtype=np.float64), PROBABILITY_CLIP))
        if same_slope:
            x -= x.max(axis=1, keepdims=True)
        amount = None if rows.amount is None else rows.amount.astype(np.float64)
        squares = None if rows.weight is None else np.square(rows.weight)
        if squares is not None and rows.count is not None:
            squares = squares * rows.count
        return SoftmaxData(x, rows.truth, amount, squares)

    def refuse_absent_classes(self, alternative: str) -> None:
        """Refuse a class that never occurs: the likelihood of its bias has no maximum."""
        absent = [label for label, mass in zip(self.labels, self.rows.support, strict=True) if not mass]
        if absent:
            raise FitError(
                f"{format_labels(absent)} never occurs in {count_of(self.n_rows, 'row')}, so that no finite bias fits",
                remedy=f"fit {alternative}, or give rows of every class.",
            )


def format_labels(labels: list[str]) -> str:
    """Format the names of some classes for a message.

    >>> format_labels(["cat"]), format_labels([str(at) for at in range(7)])
    ('cat', '0, 1, 2, 3, 4 and 2 more')
    """
    more = len(labels) - _MAX_LABELS
    return ", ".join(labels[:_MAX_LABELS]) + (f" and {more} more" if more > 0 else "")
