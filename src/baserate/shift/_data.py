"""Data and results of prevalence estimators: unlabelled and validation data, checked; the estimated prevalences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from baserate._arrays import Cells, Floats, Reals, keep_read_only, make_read_only, read_only_copy
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._domains import LEVEL, check_domain
from baserate._errors import (
    EmptyDataError,
    FitError,
    MissingValuesError,
    NotAProbabilityError,
    OptionError,
    ShapeError,
    UnknownLabelError,
)
from baserate._formatting import count_of
from baserate._numeric.distinct import Codes
from baserate._rendering import Renderable
from baserate._results import Estimate
from baserate._rows import MulticlassRows, MulticlassTarget, Target
from baserate._tally import Tally
from baserate.calibration import format_labels
from baserate.infer import (
    CalibrationTest,
    VarianceComponent,
    degrees_of_freedom,
    normal_quantile,
    t_widening,
    wilson_or_exact,
)
from baserate.measure.multiclass import check_class_probabilities

SIGNIFICANCE_LEVEL = 0.05
"""Level of tests of assumptions; of several in one note, of the family."""
_MIN_OVERLAP = 0.5
"""Largest share of the target outside the scores of validation that gives no note."""


@dataclass(frozen=True, slots=True)
class BinaryData:
    """A target and a validation sample of two classes, and the confidence level of intervals."""

    target: Target
    validation: Tally
    level: float = 0.95

    def __post_init__(self) -> None:
        if not isinstance(self.target, Target):
            raise OptionError(
                f"{type(self.target).__name__} is not a Target", remedy="read one with baserate.read.target."
            )
        check_domain("level", self.level, LEVEL)
        _check_validation(self.validation)

    @property
    def score(self) -> Reals:
        """Scores of the target."""
        return self.target.score

    @property
    def label_counts(self) -> tuple[float, float]:
        """Positives and negatives among labelled rows of the target, as effective numbers of rows."""
        tally = self.target.labelled
        if tally is None or not tally.total:
            return 0.0, 0.0
        # Kish's effective size, (Σw)²/Σw², divided between the classes by weight.
        each = tally.total / float(tally.squares.sum())
        return tally.positives * each, tally.negatives * each

    @property
    def effective(self) -> float:
        """Effective number of unlabelled rows of the target (Kish)."""
        squares = self.target.squares
        return self.target.total if squares is None else self.target.total**2 / float(squares.sum())

    @property
    def rows(self) -> tuple[float, float]:
        """Rows of both classes in the validation data."""
        positives, negatives = self.validation.rows.sum(axis=1, dtype=np.int64)
        return float(positives), float(negatives)

    def mean(self, values: Floats) -> tuple[float, float]:
        """Compute the mean of values over the target, and the variance of that mean."""
        target = self.target
        # The variance is that of influence functions, Σw²(x − m)²/(Σw)², for weights in any unit.
        if target.mass is None or target.squares is None:
            mean = float(values.mean())
            return mean, float(np.dot(values - mean, values - mean)) / len(values) ** 2
        total = target.total
        mean = float(np.dot(target.mass, values)) / total
        return mean, float(np.dot(target.squares, (values - mean) ** 2)) / total**2

    def check_probabilities(self, what: str) -> None:
        """Raise unless scores of both samples are probabilities."""
        for name, low, high in (
            ("the target", float(self.score.min()), float(self.score.max())),
            ("validation", float(self.validation.score[-1]), float(self.validation.score[0])),
        ):
            if low < 0 or high > 1:
                raise NotAProbabilityError(
                    f"scores of {name} go from {low:.6g} to {high:.6g}, but {what} takes probabilities",
                    remedy="calibrate them first, or estimate by 'mlls' with recalibration, 'binned' or 'pacc'.",
                )

    def reach(self, influence: Floats, spread: float) -> tuple[float, float]:
        """Compute the variance of an estimate, and how many standard errors its interval reaches."""
        return variance_and_reach(self.validation, influence, spread, self.level)

    def notes(self) -> tuple[str, ...]:
        """Note if most scores of the target lie outside those of validation."""
        low, high = self.validation.score[-1], self.validation.score[0]
        mass = self.target.mass
        outside = (self.score < low) | (self.score > high)
        share = float(outside.mean() if mass is None else np.dot(mass, outside) / mass.sum())
        if share <= _MIN_OVERLAP:
            return ()
        text = f"{share:.0%} of the unlabelled scores lie outside those of validation ({low:.6g} to {high:.6g})"
        return (f"{text}: they may be on different scales.",)

    def check_information(self) -> None:
        """Raise unless scores separate the classes; otherwise no prevalence could be excluded."""
        first, second = class_means(self.validation, np.asarray(self.validation.score))
        gap, noise = first[0] - second[0], first[1] + second[1]
        if self.validation.score[0] == self.validation.score[-1]:
            raise FitError("all validation scores are equal", remedy="give scores that vary.")
        if gap**2 <= normal_quantile(self.level) ** 2 * noise:
            raise FitError(
                "the scores carry no information: their means in the two classes of the validation data differ by "
                f"{gap:.3g} with a standard error of {noise**0.5:.3g}, so at level {self.level:g} no prevalence can be "
                "ruled out (Fieller's set is unbounded)",
                remedy="use a better classifier, or more validation rows.",
            )


def variance_and_reach(tally: Tally, influence: Floats, spread: float, level: float) -> tuple[float, float]:
    """Compute the variance of an estimate, and how many standard errors its interval reaches.

    `influence` is that of one more row of each class at each validation score, `spread` the variance from the target.
    The variance from validation is itself estimated from few rows, and counts with a t quantile.
    """
    parts = []
    for squares, rows, by in zip(tally.squares, tally.rows, influence, strict=True):
        present = np.flatnonzero(rows)
        second = squares[present] * np.square(by[present])
        many = float(rows.sum(dtype=np.int64))
        # Each class has its own degrees of freedom: the rare one may have few rows.
        parts.append(VarianceComponent.of(float(second.sum()), float(np.sum(second**2 / rows[present])), many))
    own = sum(part.variance for part in parts)
    wide = t_widening(degrees_of_freedom(parts), level) ** 2 if own > 0 else 1.0
    variance, z = own + spread, normal_quantile(level)
    return variance, z * float(np.sqrt((own * wide + spread) / variance)) if variance > 0 else z


def class_means(tally: Tally, values: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """Compute the mean of values in both classes, each with its variance."""
    means = []
    for mass, squares, rows in zip(tally.mass, tally.squares, tally.rows, strict=True):
        total, many = float(mass.sum()), int(rows.sum(dtype=np.int64))
        mean = float(np.dot(mass, values)) / total
        # Bessel's correction; a single row has no variance.
        lost = many / (many - 1) if many > 1 else np.inf
        means.append((mean, lost * float(np.dot(squares, (values - mean) ** 2)) / total**2))
    return means[0], means[1]


def effective_counts(cells: Cells, squares: Cells) -> Floats:
    """Scale masses to effective numbers of rows (Kish)."""
    total = float(squares.sum())
    return np.asarray(cells, dtype=np.float64) * (float(cells.sum()) / total if total else 0.0)


def _check_validation(tally: Tally) -> None:
    if not isinstance(tally, Tally):
        raise OptionError(f"{type(tally).__name__} is not a Tally", remedy="tally the validation data first.")
    if tally.reweighed:
        raise OptionError("the validation data are reweighted", remedy="give them with their own weights.")
    if not tally.total:
        raise EmptyDataError("the validation data have no rows with weight", remedy="give some.")
    if not tally.positives or not tally.negatives:
        which = "negative" if tally.positives else "positive"
        raise FitError(f"the validation data have no {which} rows", remedy="give rows of both classes.")
    if min(tally.rows.sum(axis=1, dtype=np.int64)) < 2:
        raise FitError("a class of the validation data has a single row, without a variance", remedy="give more.")


_SCALE_RATIO = 5.0
"""Ratio of ranges from which scores look as if they were on two scales."""
_MIN_ROWS = 20
"""Rows below which a range says little."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows with positive weight and a score for each class."""

    score: Reals
    amount: Floats | None
    squares: Floats | None
    """Sum of squared weights of each row; None if equal to the amount."""
    rows: int

    @staticmethod
    def of(score: Reals, weight: Floats | None, count: Cells | None) -> tuple[Sample, Cells | None]:
        """Drop rows without weight; return also the places of the others, None if all remain."""
        if weight is None and count is None:
            return Sample(score, None, None, len(score)), None
        times = np.ones(len(score)) if count is None else count.astype(np.float64)
        amount = times if weight is None else weight * times
        used = np.flatnonzero(amount > 0)
        squares = None if weight is None else (weight * amount)[used]
        return Sample(score[used], amount[used], squares, int(times[used].sum())), used

    @property
    def total(self) -> float:
        """Total weight."""
        return float(len(self.score) if self.amount is None else self.amount.sum())

    @property
    def effective(self) -> float:
        """Effective number of rows of equal weight (Kish)."""
        return self.total if self.squares is None else self.total**2 / float(self.squares.sum())

    def mean(self, z: Floats) -> tuple[Floats, Floats]:
        """Compute the mean of the rows of z, and its covariance."""
        middle = self.average(z)
        return middle, self.covariance_of(z - middle) / self.total**2

    def average(self, z: Floats) -> Floats:
        """Compute the mean of the rows of z."""
        amount = np.ones(len(z)) if self.amount is None else self.amount
        average: Floats = amount @ z / self.total
        return average

    def covariance_of(self, influence: Floats) -> Floats:
        """Compute the covariance of a sum from the influence of each row: products with squared weights."""
        weight = self.amount if self.squares is None else self.squares
        covariance: Floats = influence.T @ (influence if weight is None else influence * weight[:, None])
        return covariance

    @property
    def bessel(self) -> float:
        """Bessel's correction of a variance, n/(n − 1)."""
        return 1 / (1 - 1 / max(self.effective, 2.0))

    def subset(self, places: Cells) -> Sample:
        """Return some of the rows."""
        amount, squares = (None if each is None else each[places] for each in (self.amount, self.squares))
        return Sample(self.score[places], amount, squares, len(places))

    def as_rows(self) -> MulticlassRows:
        """Return the scores as rows with a dummy label, for methods that need rows."""
        return MulticlassRows(np.zeros(len(self.score), dtype=np.uint8), self.score, tuple(range(self.score.shape[1])))


@dataclass(frozen=True, slots=True, eq=False)
class MulticlassData:
    """A target and a validation sample of several classes, with classes in the order of validation."""

    labels: tuple[object, ...]
    target: Sample
    validation: Sample
    truth: Codes
    rows: MulticlassRows
    """All validation rows, for a calibration."""
    labelled_rows: Floats
    """Labelled rows of the target, of each class."""
    labelled_mass: Floats
    """Weight of labelled rows, of each class."""
    labelled_squares: Floats
    used_rows: Cells | None = None
    """Places of validation rows with weight; None if all have."""
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(target: MulticlassTarget, validation: MulticlassRows) -> MulticlassData:
        """Put classes in one order; raise if a sample lacks a class, or validation has too few rows of one."""
        if len(validation.labels) < 2:
            raise FitError(f"there is only one class, {validation.labels[0]}", remedy="give two or more.")
        order = _class_order(target.labels, validation.labels)
        _check_finite(validation.score)
        # Copy only if columns really change places: targets may be large.
        score = target.score if order == sorted(order) else make_read_only(target.score[:, order])
        side, _ = Sample.of(score, target.weight, target.count)
        other, used = Sample.of(validation.score, validation.weight, validation.count)
        truth = validation.truth if used is None else validation.truth[used]
        _check_class_rows(validation)
        rows, mass, squares = (_labelled_sums(target.labelled, order, power) for power in range(3))
        notes = (*_scale_notes(side.score, other.score),)
        return MulticlassData(validation.labels, side, other, truth, validation, rows, mass, squares, used, notes)

    def expand(self, influence: Floats) -> Floats:
        """Expand values of rows with weight to all validation rows, with 0 for those without."""
        if self.used_rows is None:
            return influence
        expanded = np.zeros((len(self.rows), influence.shape[1]))
        expanded[self.used_rows] = influence
        return expanded

    @property
    def shares(self) -> Floats:
        """Share of each class in validation."""
        mass = np.bincount(self.truth, weights=self.validation.amount, minlength=len(self.labels))
        shares: Floats = mass / self.validation.total
        return shares

    @property
    def class_rows(self) -> Floats:
        """Effective number of rows of each class in validation."""
        parts = (self.validation.subset(np.flatnonzero(self.truth == k)) for k in range(len(self.labels)))
        return np.array([part.effective for part in parts])

    @property
    def n_labelled(self) -> int:
        """Number of labelled rows of the target."""
        return int(self.labelled_rows.sum())

    @property
    def effective_labelled(self) -> float:
        """Effective number of labelled rows of the target."""
        return float(self.labelled_mass.sum() ** 2 / self.labelled_squares.sum()) if self.labelled_mass.any() else 0.0

    def check_probabilities(self) -> None:
        """Raise unless scores of both samples are probabilities that add up to almost 1."""
        for whose, side in (("target", self.target), ("validation", self.validation)):
            try:
                check_class_probabilities(
                    side.as_rows(), "estimate by acc, which needs only the class with the highest score."
                )
            except NotAProbabilityError as error:
                raise NotAProbabilityError(f"{whose}: {error}") from error


def _class_order(labels: tuple[object, ...], order: tuple[object, ...]) -> list[int]:
    """Return the place in the target of each class of validation."""
    place = {label: at for at, label in enumerate(labels)}
    lacking = [str(label) for label in order if label not in place]
    unknown = [str(label) for label in labels if label not in order]
    if lacking:
        raise UnknownLabelError(
            f"the target has no score for {format_labels(lacking)}, a class of validation", remedy="add that column."
        )
    if unknown:
        raise UnknownLabelError(
            f"the target has scores for {format_labels(unknown)}, no class of validation", remedy="leave them out."
        )
    return [place[label] for label in order]


def _check_finite(score: Reals) -> None:
    missing = int(np.count_nonzero(~np.isfinite(score)))
    if missing:
        raise MissingValuesError(
            f"{missing} of {score.size} scores of validation are NaN or infinite",
            remedy="leave those rows out, or fill them in.",
        )


def _check_class_rows(rows: MulticlassRows) -> None:
    """Raise if a class has fewer than two rows: its scores, or their variance, would be unknown."""
    times = np.ones(len(rows)) if rows.count is None else rows.count
    times = times if rows.weight is None else np.where(rows.weight > 0, times, 0)
    of_class = np.bincount(rows.truth, weights=times, minlength=len(rows.labels))
    where = f"among {int(of_class.sum())} of validation"
    absent, single = ([str(rows.labels[at]) for at in np.flatnonzero(of_class == many)] for many in (0, 1))
    if absent:
        raise FitError(
            f"{format_labels(absent)} has no row {where}, so that its scores are unknown",
            remedy="give rows of every class, or leave its column out.",
        )
    if single:
        raise FitError(
            f"{format_labels(single)} has a single row {where}, so that the variance of its scores is unknown",
            remedy="give two or more of every class.",
        )


def _labelled_sums(labelled: MulticlassRows | None, order: list[int], power: int) -> Floats:
    """Sum a power of the weights of labelled rows in each class."""
    if labelled is None:
        return np.zeros(len(order))
    times = np.ones(len(labelled)) if labelled.count is None else labelled.count
    # 0 ** 0 is 1: rows without weight must not count for power 0 either.
    weight = np.ones(len(labelled)) if labelled.weight is None else labelled.weight**power * (labelled.weight > 0)
    # Codes follow the classes of the target; `order` puts the sums in the order of validation.
    return np.bincount(labelled.truth, weights=times * weight, minlength=len(order))[order].astype(np.float64)


def _scale_notes(target: Reals, validation: Reals) -> Iterator[str]:
    """Note if the scores of one sample look like percentages or logarithms of the other's."""
    if len(target) < _MIN_ROWS:
        return
    lows, highs = zip(*((float(each.min()), float(each.max())) for each in (target, validation)), strict=True)
    spread = [high - low for low, high in zip(lows, highs, strict=True)]
    if max(spread) > _SCALE_RATIO * min(spread) > 0 or lows[0] > highs[1] or lows[1] > highs[0]:
        yield (
            f"scores go from {lows[0]:.4g} to {highs[0]:.4g} in the unlabelled data, but from {lows[1]:.4g} to "
            f"{highs[1]:.4g} in validation, as if they were on two scales; if they are, all methods are wrong."
        )


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prevalence(Renderable):
    """An estimated prevalence of the positive class, with an interval that includes the uncertainty from validation."""

    estimate: Estimate
    method: str
    unclipped: float
    """Estimate before clipping to [0, 1]."""
    validation: Tally
    influence: Floats
    """Influence of one more row of each class at each validation score on the estimate."""
    target_variance: float
    """Variance from the target."""
    calibrator: Calibrator | None = None
    """Calibrator whose probabilities are right at `sample_prevalence`, if the method needs one."""
    sample_prevalence: float | None = None
    rows: int = 0
    """Unlabelled rows of the target."""
    labelled: int = 0
    """Labelled rows of the target."""
    notes: tuple[str, ...] = ()
    checks: tuple[CalibrationTest, ...] = ()
    """Tests of assumptions: of label shift for binned, of the calibration for mlls."""

    def __repr__(self) -> str:
        estimate = self.estimate
        return f"Prevalence({estimate.value:.6g}, {estimate.low:.6g} to {estimate.high:.6g}, by {self.method})"

    @property
    def value(self) -> float:
        """The estimate itself."""
        return self.estimate.value

    @property
    def variance(self) -> float:
        """Variance of the unclipped estimate, from validation and from the target."""
        return float((self.validation.squares * self.influence**2).sum()) + self.target_variance

    @property
    def standard_error(self) -> float:
        """Square root of the variance."""
        return sqrt(self.variance)


DELTA_METHOD = "delta method, cut at 0 and 1"
_MAX_REPR_CLASSES = 6
"""Classes in a repr."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassPrevalence(Renderable):
    """Estimated shares of several classes, each with its interval.

    >>> from baserate import MulticlassTarget, class_scores, shift
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> validation = class_scores(list("aaabbb"), score * 2, count=[40, 20, 10, 10, 20, 40])
    >>> target = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([40, 20, 40]))
    >>> shift.estimate_prevalence(target, validation, method="pacc")
    MulticlassPrevalence(a 0.5 [0.25, 0.75], b 0.5 [0.25, 0.75]; pacc, 100 rows)
    """

    labels: tuple[object, ...]
    estimates: tuple[Estimate, ...]
    method: str
    unclipped: Floats
    """Estimates before clipping to the simplex; by likelihood at a bound, the maximum of the tangent parabola."""
    covariance: Floats
    """Covariance of `unclipped`, from the target and from validation."""
    sample_prevalence: Floats
    """Shares at which probabilities are calibrated, by default those of the validation rows."""
    rows: int
    """Unlabelled rows of the target."""
    validation: MulticlassRows
    influence: Floats
    """Influence of each validation row on `unclipped`; a row for each."""
    labelled: int = 0
    """Labelled rows of the target."""
    calibrator: MulticlassCalibrator | None = None
    """Calibrator of the probabilities; None if they were taken as calibrated."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        width = len(self.labels)
        if len(self.estimates) != width or self.covariance.shape != (width, width):
            raise ShapeError(f"{width} classes need {width} estimates, and a covariance of {width} by {width}.")
        for name in ("unclipped", "covariance", "sample_prevalence"):
            object.__setattr__(self, name, read_only_copy(getattr(self, name)))

    @property
    def value(self) -> Floats:
        """The shares, in the order of `labels`; they add up to 1."""
        return np.array([each.value for each in self.estimates])

    def __repr__(self) -> str:
        parts = [
            f"{label} {each.value:.3g} [{each.low:.3g}, {each.high:.3g}]"
            for label, each in zip(self.labels[:_MAX_REPR_CLASSES], self.estimates, strict=False)
        ]
        parts += [f"and {len(self.labels) - _MAX_REPR_CLASSES} more"] if len(self.labels) > _MAX_REPR_CLASSES else []
        labelled = f" and {self.labelled} labelled" if self.labelled else ""
        return f"{type(self).__name__}({', '.join(parts)}; {self.method}, {count_of(self.rows, 'row')}{labelled})"


def share_intervals(
    value: Floats, unclipped: Floats, variance: Floats, *, rows: float, level: float, how: str = DELTA_METHOD
) -> list[Estimate]:
    r"""Compute intervals of shares, :math:`\tilde q±\sqrt{(\hat q-\tilde q)^2+z^2v}`, clipped at 0 and 1.

    The unclipped q̃ is near normal even where the share is 0. The interval contains all x for which the normal
    likelihood is at most z²/2 below that of the estimate q̂. It is Wald's where q̂ = q̃, and has positive width where
    q̂ is at a bound. It is never narrower than if all `rows` were labelled (Wilson, or Clopper and Pearson where a
    class is rare), which matters for classifiers that hardly err.
    """
    z, estimates = normal_quantile(level), []
    for q, free, v in zip(value.tolist(), unclipped.tolist(), np.maximum(variance, 0.0).tolist(), strict=True):
        half = sqrt((q - free) ** 2 + z * z * v)
        least, most = wilson_or_exact(q * rows, (1 - q) * rows, level)
        # q is included, since rounding may put it outside its own interval.
        low, high = min(free - half, least, q), max(free + half, most, q)
        estimates.append(Estimate(q, low=max(low, 0.0), high=min(high, 1.0), level=level, how=how))
    return estimates
