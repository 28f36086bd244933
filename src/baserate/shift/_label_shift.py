"""Tests of assumptions on validation data: whether probabilities are calibrated, and whether only prevalences changed.

The piecewise linear calibration curve, which `estimate_performance` uses, tests its own fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, inf, isnan, log, nan, sqrt
from typing import Any, NamedTuple, NoReturn

import numpy as np

from baserate._arrays import Cells, Floats, Reals, ratio
from baserate._errors import BaserateError, FitError, OptionError, UsageError, keyword
from baserate._formatting import count_of, format_number, format_p_phrase, there_are
from baserate._numeric.mixture import unconstrained_log_likelihood
from baserate._rendering import short_repr
from baserate._rows import MulticlassRows, MulticlassTarget, Rows, Target
from baserate._tally import Tallies, Tally
from baserate.calibration import pool_tally
from baserate.infer import SMALLEST_P, CalibrationTest, chi_squared_p, holm
from baserate.measure import bin_starts
from baserate.read import accepts_target
from baserate.shift._data import (
    SIGNIFICANCE_LEVEL,
    BinaryData,
    MulticlassData,
    Prevalence,
)
from baserate.shift._maximum_likelihood import JointFit, Posterior, fit_binned
from baserate.shift._moment_matching import binary_moments, binary_pacc, moment_influence, raw_scores
from baserate.shift._multiclass_likelihood import fit_calibration, solve_moments

CALIBRATION_CHECK = "calibration_curve"
_METHOD = "score test, χ²"
_TEST_BINS = 10
_ROWS_PER_TEST_BIN = 5.0
"""Least rows of a bin, counted as 4p(1 − p) each, for a normal approximation."""


def calibration_test(tally: Tally, chance: Floats, columns: Floats | None = None) -> CalibrationTest:
    r"""Test whether probabilities at each score are calibrated, against any other level in each bin.

    Rao's score test for indicators of bins [@rao1948]: residuals :math:`y-p` are summed in bins that contain equal
    parts of :math:`\sum p(1-p)`, and compared with their variance. `columns` are the regressors of a logistic fit to
    the same data, one row for each; the test then projects them out.
    """
    mass = tally.positive + tally.negative
    weight = mass * chance * (1 - chance)
    # Squared weights: the variance of a sum of weighted outcomes.
    noise = tally.squares.sum(axis=0) * chance * (1 - chance)
    bins = min(_TEST_BINS, int(4 * weight.sum() ** 2 / max(noise.sum(), SMALLEST_P) / _ROWS_PER_TEST_BIN))
    if bins < 2:
        return CalibrationTest(CALIBRATION_CHECK, nan, nan, _METHOD, why="there are too few rows for two bins")
    # Scores of a tally fall, but `bin_starts` expects rising ones.
    begins = np.unique(bin_starts(tally.score[::-1], weight[::-1], bins=bins, by="mass"))
    place = np.searchsorted(begins, np.arange(len(weight)), side="right")[::-1] - 1
    member = (place == np.arange(len(begins))[:, None]).astype(np.float64)
    if columns is not None:
        member = member - (member * weight) @ columns.T @ np.linalg.pinv((columns * weight) @ columns.T) @ columns
    surplus = member @ (tally.positive - mass * chance)
    spread = (member * noise) @ member.T
    return _test_surplus(surplus, spread)


def _test_surplus(surplus: Floats, spread: Floats) -> CalibrationTest:
    """Test by χ² whether sums with this covariance are 0, in the directions that vary."""
    # Scaled to a correlation matrix, so that the tolerance does not depend on bin sizes.
    scale = np.sqrt(np.maximum(np.diagonal(spread), SMALLEST_P))
    values, vectors = np.linalg.eigh(spread / np.outer(scale, scale))
    # A projection leaves directions without variance, where rounding would be divided by rounding.
    varies = values > 1e-8 * max(float(values.max()), SMALLEST_P)
    if not varies.any():
        return CalibrationTest(CALIBRATION_CHECK, nan, nan, _METHOD, why="the curve passes through every bin")
    parts = (vectors.T @ (surplus / scale))[varies] ** 2 / values[varies]
    statistic, freedom = float(parts.sum()), int(varies.sum())
    return CalibrationTest(CALIBRATION_CHECK, statistic, chi_squared_p(statistic, freedom), _METHOD, freedom)


_CURVE_BINS = 10
_ROWS_PER_BIN = 20
"""Least validation rows of a bin."""
_ROWS_PER_SLOPE = 10
"""Least rows of a bin with a slope of its own."""
_MAX_FAR, _MAX_OUTSIDE, _MAX_THIN = 0.02, 0.05, 0.2
"""Largest shares of the target far outside the scores of validation, outside, or beyond all but few rows."""
_POOLED_ROWS = 1 << 12
"""Pooled scores of the target before bins are placed."""
_END_ROWS = 5
"""Validation rows at an end, whose range defines what is far."""
_MIN_VARIANCE = 2.0
"""Least variance of the number of positives of a bin in the test."""


class CalibrationCurve(NamedTuple):
    """A calibration curve that is linear in each bin of scores.

    Least squares in each bin leaves residuals without a level or slope. Sums over the target are then biased only by
    the curvature within a bin, times the curvature of the ratio of both densities there.
    """

    tally: Tally
    edges: Floats
    """Highest scores of all bins but the last."""
    middle: Floats
    """Mean score of validation in each bin."""
    level: Floats
    """Probability of the positive class at the middle."""
    slope: Floats
    mass: Floats
    """Mass of validation in each bin."""
    spread: Floats
    """Sum of squared distances from the middle; infinite if the bin has no slope."""
    correction: Floats
    """Factor that corrects squared residuals for fitted parameters."""

    def places(self, score: Reals) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """Return the bin of each score."""
        return np.searchsorted(self.edges, score, side="left")

    def evaluate_lines(self, score: Reals) -> Floats:
        """Evaluate the lines, which may leave [0, 1]."""
        at = self.places(score)
        return np.asarray(self.level[at] + self.slope[at] * (score - self.middle[at]))

    def __call__(self, score: Reals) -> Floats:
        """Return the probability of the positive class at each score."""
        return np.clip(self.evaluate_lines(score), 0.0, 1.0)

    def evaluate_falling(self, score: Floats) -> Floats:
        """Return the probability at each of many scores in falling order, bin by bin, which is faster."""
        ends = len(score) - np.searchsorted(score[::-1], self.edges, side="right")
        chances = np.empty(len(score))
        for place, (start, end) in enumerate(zip([*ends, 0], [len(score), *ends], strict=True)):
            part = np.subtract(score[start:end], self.middle[place], out=chances[start:end])
            part *= self.slope[place]
            part += self.level[place]
        return np.clip(chances, 0.0, 1.0, out=chances)

    def influence_on(self, score: Reals, change: Floats) -> Floats:
        """Compute the influence of validation rows on a number with these derivatives by the probabilities."""
        at, size = self.places(score), len(self.middle)
        level = np.bincount(at, weights=change, minlength=size) / self.mass
        slope = np.bincount(at, weights=change * (score - self.middle[at]), minlength=size) / self.spread
        own, tally = self.places(self.tally.score), self.tally
        each = np.sqrt(self.correction[own]) * (level[own] + slope[own] * (tally.score - self.middle[own]))
        # Not clipped: these are residuals of the lines that were fitted.
        chance = self.evaluate_lines(tally.score)
        return np.stack([each * (1 - chance), each * -chance])

    def check_fit(self) -> CalibrationTest:
        """Test the lines: whether the upper half of each bin lies where its line predicts, by χ²."""
        tally, at = self.tally, self.places(self.tally.score)
        # Clipped here, so that no variance is negative.
        mass, chance = tally.positive + tally.negative, self(tally.score)
        size = len(self.middle)

        def sum_by_bin(values: Floats) -> Floats:
            return np.asarray(np.bincount(at, weights=values, minlength=size), dtype=np.float64)

        upper = (_in_upper_half(at, mass)).astype(np.float64)
        x = tally.score - self.middle[at]
        # Without what level and slope explain, which were fitted to the same rows.
        upper -= (sum_by_bin(mass * upper) / self.mass)[at] + x * (sum_by_bin(mass * upper * x) / self.spread)[at]
        surplus = sum_by_bin(upper * (tally.positive - mass * self.evaluate_lines(tally.score)))
        noise = sum_by_bin(upper**2 * tally.squares.sum(axis=0) * chance * (1 - chance))
        varies = (noise > 0) & (sum_by_bin(mass * chance * (1 - chance)) > _MIN_VARIANCE)
        how = "score test of halves of bins, χ²"
        if not varies.any():
            return CalibrationTest(CALIBRATION_CHECK, nan, nan, how, why="there are too few rows")
        statistic, freedom = float((surplus[varies] ** 2 / noise[varies]).sum()), int(varies.sum())
        return CalibrationTest(CALIBRATION_CHECK, statistic, chi_squared_p(statistic, freedom), how, freedom)

    def notes(self, check: CalibrationTest) -> tuple[str, ...]:
        """Note how scores were recalibrated, and whether the curve fits."""
        bins = count_of(len(self.middle), "bin")
        text = f"Scores were recalibrated on the validation data by a curve that is linear in each of {bins}"
        if check.why:
            return (f"{text}; whether it fits was not tested: {check.why}.",)
        p = format_p_phrase(check.p, digits=3)
        if check.p >= SIGNIFICANCE_LEVEL:
            return (f"{text}; it fits the validation data ({p}).",)
        return (f"{text}; it does not fit the validation data ({p}), so that estimates may be biased.",)


def _in_upper_half(at: Cells, mass: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return whether each score, of falling ones, lies in the upper half of its bin by mass."""
    above = np.cumsum(mass) - mass / 2
    begins = np.flatnonzero(np.append(True, at[1:] != at[:-1]))
    before = (np.cumsum(mass) - mass)[begins]
    total = np.add.reduceat(mass, begins)
    which = np.cumsum(np.append(True, at[1:] != at[:-1])) - 1
    return np.asarray(above - before[which] < total[which] / 2)


def fit_curve(tally: Tally, score: Floats, mass: Cells, thresholds: Iterable[float] = ()) -> CalibrationCurve:
    """Fit a curve for a target with these scores, falling, and their masses.

    Bins contain equal parts of both samples, and end at thresholds, so that decisions are not smoothed over.
    """
    _check_support(tally, score, mass)
    edges = _bin_edges(tally, score, mass, thresholds)
    at = np.searchsorted(edges, tally.score, side="left")
    own = tally.positive + tally.negative

    def sum_by_bin(values: Floats | Cells) -> Floats:
        return np.asarray(np.bincount(at, weights=values, minlength=len(edges) + 1), dtype=np.float64)

    total, rows = sum_by_bin(own), sum_by_bin(tally.rows.sum(axis=0))
    middle, level = sum_by_bin(own * tally.score) / total, sum_by_bin(tally.positive) / total
    x = tally.score - middle[at]
    spread = sum_by_bin(own * x**2)
    # An infinite spread makes the slope 0 without a special case: of few rows, or of scores that are equal to rounding.
    spread[(rows < _ROWS_PER_SLOPE) | (spread <= 1e-20 * total * np.maximum(middle**2, 1e-280))] = inf
    lines = np.where(np.isinf(spread), 1, 2)
    correction = ratio(rows, np.maximum(rows - lines, 1.0))
    slope = sum_by_bin(tally.positive * x) / spread
    return CalibrationCurve(tally, edges, middle, level, slope, total, spread, correction)


def _bin_edges(tally: Tally, score: Floats, mass: Cells, thresholds: Iterable[float]) -> Floats:
    """Place edges at thresholds first, then between equal parts, as long as each bin has enough rows."""
    own = tally.positive + tally.negative
    if (each := len(score) // _POOLED_ROWS) > 1:
        starts = np.arange(0, len(score), each)
        score, mass = score[starts], np.add.reduceat(mass, starts, dtype=np.float64)
    places = np.concatenate([tally.score, score])
    parts = np.concatenate([own / own.sum(), np.asarray(mass, dtype=np.float64) / float(mass.sum())])
    order = np.argsort(places, kind="stable")
    begins = bin_starts(places[order], parts[order], bins=_CURVE_BINS, by="mass")
    equal = places[order][np.unique(begins[begins > 0]) - 1]
    rows = np.cumsum(tally.rows.sum(axis=0)[::-1].astype(np.int64))
    rising = tally.score[::-1]
    rows_below: list[int] = [0, int(rows[-1])]
    edges: list[float] = []
    # Bins include their upper edge, but a score equal to a threshold is flagged: its edge lies one float below.
    for edge, least in [
        *((np.nextafter(each, -inf), _ROWS_PER_SLOPE) for each in thresholds),
        *((e, _ROWS_PER_BIN) for e in equal),
    ]:
        place = int(np.searchsorted(rising, edge, side="right"))
        below = int(rows[place - 1]) if place else 0
        if min(abs(below - each) for each in rows_below) >= least:
            rows_below.append(below)
            edges.append(float(edge))
    return np.sort(np.array(edges, dtype=np.float64))


def _check_support(tally: Tally, score: Floats, mass: Cells) -> None:
    """Raise if too much of the target lies where validation has no scores."""
    # The range of the outermost rows at an end is the unit: far is over one unit outside, thin up to one unit inside.
    rows = np.cumsum(tally.rows.sum(axis=0, dtype=np.int64))
    low, high = float(tally.score[-1]), float(tally.score[0])
    below = float(tally.score[np.searchsorted(rows, rows[-1] - min(_END_ROWS, rows[-1]), side="right")]) - low
    above = high - float(tally.score[np.searchsorted(rows, min(_END_ROWS, rows[-1]))])
    total = float(mass.sum())
    far, outside, thin = (
        float(np.dot(mass, (score < low - many * below) | (score > high + many * above))) / total for many in (1, 0, -1)
    )
    if far > _MAX_FAR or outside > _MAX_OUTSIDE or thin > _MAX_THIN:
        raise FitError(
            f"{format_number(100 * outside, 3)}% of the unlabelled scores lie outside those of validation "
            f"({format_number(low, 4)} to {format_number(high, 4)}), and {format_number(100 * thin, 3)}% beyond all "
            f"but {_END_ROWS} rows at an end, where the calibration is unknown",
            remedy="give validation rows with such scores, or use scores as calibrated probabilities with "
            f"{keyword('recalibrate', value=False)}.",
        )


_MIN_RELATIVE_VARIANCE = 0.02
"""Least variance of the difference, relative to that of either estimate; below it, only rounding would be tested."""
_ADJUSTED_P = "Holm-adjusted p"

_FIT = "goodness_of_fit"
DIFFERENCE = "binned_less_pacc"
_FITS = "The unlabelled scores could be a mixture of the classes ({p}): no evidence against label shift."
_MISFITS = (
    "The unlabelled scores are not a mixture of the classes ({p}): it is not label shift alone, and results that "
    "assume label shift are in doubt."
)
_AGREE = "Two estimates that agree under label shift do so ({p})."
_DIFFER = "Two estimates that agree under label shift do not ({p}): it is not label shift alone."
UNTESTED = (
    "Not tested, since scores alone cannot show it: whether the scores of the classes changed in a way that looks like "
    "another prevalence. A small random sample of the unlabelled data with labels would show it."
)


@dataclass(frozen=True, slots=True)
class LabelShiftTestResult:
    """Tests of label shift, and a summary in sentences."""

    checks: tuple[CalibrationTest, ...]
    """The tests."""
    summary: tuple[str, ...]
    """A sentence for each test, and one about assumptions that scores alone cannot test."""

    __repr__ = short_repr

    def __bool__(self) -> NoReturn:
        # Any object is truthy, so that `assert label_shift(…)` would pass whatever the tests say.
        raise UsageError(
            "a LabelShiftTestResult is neither true nor false", remedy="use result.rejected: whether a test rejects."
        )

    @property
    def adjusted(self) -> tuple[float, ...]:
        """Holm-adjusted p-values: under label shift, the chance that any is below 0.05 is at most 5%."""
        return tuple(holm([check.p for check in self.checks]))

    @property
    def rejected(self) -> bool:
        """Whether any test rejects, at a family-wise level of 5%."""
        return any(p < SIGNIFICANCE_LEVEL for p in self.adjusted)


def check_label_shift(data: BinaryData, *, bins: int | Sequence[float] | None = None) -> LabelShiftTestResult:
    """Test label shift for two classes by both tests."""
    return check_binned(data, *fit_binned(data, bins))


def check_binned(data: BinaryData, estimate: Prevalence, joint: JointFit) -> LabelShiftTestResult:
    """Test label shift by both tests on the histograms of an estimate by `binned`."""
    return describe_checks((goodness_of_fit(joint), hausman_difference(data, estimate, joint)))


def describe_checks(checks: tuple[CalibrationTest, ...]) -> LabelShiftTestResult:
    """Add a sentence about each test, and one about assumptions that were not tested."""
    words = {_FIT: (_FITS, _MISFITS), DIFFERENCE: (_AGREE, _DIFFER)}
    p_name = _ADJUSTED_P if len([check for check in checks if not check.why]) > 1 else "p"
    adjusted = holm([check.p for check in checks])
    lines = [
        f"Not tested by {check.name}: {check.why}."
        if check.why
        else words[check.name][p < SIGNIFICANCE_LEVEL].format(p=format_p_phrase(p, digits=3, name=p_name))
        for check, p in zip(checks, adjusted, strict=True)
    ]
    return LabelShiftTestResult(checks, (*lines, UNTESTED))


_HEADLINES = {
    _FIT: "no mixture of the classes",
    DIFFERENCE: "estimates disagree",
    CALIBRATION_CHECK: "calibration does not fit",
}


def describe_rejections(checks: Sequence[CalibrationTest]) -> list[str]:
    """Name the tests that reject, in a few words for a headline; those of label shift are Holm-adjusted."""
    # Two families: a calibration that does not fit is no evidence against label shift.
    families = [[check for check in checks if (check.name == CALIBRATION_CHECK) is curve] for curve in (False, True)]
    pairs = [checked for part in families for checked in zip(part, holm([check.p for check in part]), strict=True)]
    several = len([check for check in families[0] if not check.why]) > 1
    return [
        f"{_HEADLINES[check.name]} "
        f"({format_p_phrase(p, name=_ADJUSTED_P if several and check.name != CALIBRATION_CHECK else 'p')})"
        for check, p in pairs
        if p < SIGNIFICANCE_LEVEL
    ]


def disagreement_notes(data: BinaryData, estimate: Prevalence, tests: LabelShiftTestResult) -> tuple[str, ...]:
    """Note which tests reject label shift, and what another method estimates; empty where none rejects."""
    # Not strict: the last sentence, about untested assumptions, has no p-value.
    lines = [line for line, p in zip(tests.summary, tests.adjusted, strict=False) if p < SIGNIFICANCE_LEVEL]
    if tests.adjusted[-1] < SIGNIFICANCE_LEVEL:
        other = format_number(binary_pacc(data).value, 3)
        both = f"{estimate.method} gives {format_number(estimate.value, 3)} and pacc {other}"
        lines.append(f"Estimates disagree: {both}.")
    return tuple(lines)


def check_calibration(data: BinaryData, posterior: Posterior, *, fitted: bool) -> CalibrationTest:
    """Test on validation whether probabilities are calibrated; `fitted` if a logistic curve was fitted to it."""
    from scipy.special import expit

    tally = data.validation
    chance = expit(posterior.log_ratio(tally.score) + log(tally.positives) - log(tally.negatives))
    x = posterior.regressor(tally.score) if fitted else None
    return calibration_test(tally, chance, None if x is None else np.stack([np.ones_like(x), x]))


def calibration_notes(check: CalibrationTest) -> tuple[str, ...]:
    """Note whether probabilities fit the validation data."""
    if check.why:
        return (f"Whether probabilities fit the validation data was not tested: {check.why}.",)
    p = format_p_phrase(check.p, digits=3)
    if check.p >= SIGNIFICANCE_LEVEL:
        return (f"The probabilities fit the validation data ({p}).",)
    return (f"The probabilities do not fit the validation data ({p}): estimates may be biased beyond their intervals.",)


def binned_note(data: BinaryData, check: CalibrationTest) -> tuple[str, ...]:
    """Note what `binned` estimates, which needs no calibration, if the calibration of another method does not fit."""
    if not check.p < SIGNIFICANCE_LEVEL:  # also where p is NaN, since there was no test
        return ()
    other = fit_binned(data)[0].estimate
    value, low, high = (format_number(each, 3) for each in (other.value, other.low, other.high))
    return (f"By binned, which needs no calibration, the prevalence is {value} ({low} to {high}).",)


def goodness_of_fit(joint: JointFit) -> CalibrationTest:
    r"""Test whether the target's histogram is a mixture of those of the classes, by a likelihood ratio.

    :math:`G=2(\ln L_{free}-\ln L_{mixture})` is a χ² variable with B − 2 degrees of freedom in B bins. Unlike tests
    that compare the scores of two samples, it does not reject when only the prevalence has changed.
    """
    how = "likelihood ratio, χ²"
    counts = joint.histograms.counts
    many = len(counts.first)
    if many < 3:
        why = f"{there_are(many, 'bin')} with rows, and the test needs 3"
        return CalibrationTest(_FIT, nan, nan, how, why=why)
    # Rounding may make the free likelihood fall below that of the mixture.
    statistic = max(2 * (unconstrained_log_likelihood(counts) - joint.fit.log_likelihood), 0.0)
    # Each class histogram has B − 1 free parameters, the third B − 1 more; the mixture has one in their place.
    return CalibrationTest(_FIT, statistic, chi_squared_p(statistic, many - 2), how, many - 2)


def hausman_difference(data: BinaryData, estimate: Prevalence, joint: JointFit) -> CalibrationTest:
    """Test whether the likelihood of histograms and the mean score agree [@hausman1978].

    Both are right under label shift, whatever the calibration, and react differently to most other changes.
    """
    how, simple, target = "normal, two-sided", binary_pacc(data), data.target
    if estimate.value in (0.0, 1.0) or target.labelled is not None:
        end, labels = "the estimate is at an end of [0, 1]", "both estimates use the labelled rows"
        return CalibrationTest(DIFFERENCE, nan, nan, how, why=end if target.labelled is None else labels)
    means = binary_moments(data, raw_scores)
    differing = estimate.influence - moment_influence(data, raw_scores, means, simple.unclipped)
    by_target: Floats = joint.target_influence(data)
    by_target -= (raw_scores(target.score) - means.target) / (means.gap * target.total)
    squares = 1.0 if target.squares is None else target.squares
    variance = float((data.validation.squares * differing**2).sum() + (squares * by_target**2).sum())
    # Otherwise rounding would be divided by rounding, and the test would reject at random.
    if variance < _MIN_RELATIVE_VARIANCE * min(estimate.variance, simple.variance):
        why = "both estimates weight scores almost equally, so that they must agree"
        return CalibrationTest(DIFFERENCE, nan, nan, how, why=why)
    z = (estimate.value - simple.unclipped) / sqrt(variance)
    # By erfc: 2(1 − Φ(|z|)) would be 0 from |z| = 8.3 on.
    return CalibrationTest(DIFFERENCE, z, max(erfc(abs(z) / sqrt(2)), SMALLEST_P), how)


_HANSEN = "overidentification"
_HANSEN_METHOD = "Hansen's test of moments, χ²"


@accepts_target
def label_shift_test(
    target: Target | MulticlassTarget,
    validation: Tally | Tallies | Rows | MulticlassRows,
    *,
    bins: int | Sequence[float] | None = None,
) -> LabelShiftTestResult:
    """Test whether only the prevalences of the classes changed, as far as scores can show.

    For two classes there are two tests: whether the target's histogram is a mixture of those of the classes (goodness
    of fit), and whether two estimates agree that must agree under label shift. For several classes there is one:
    whether some shares explain the means of all features (Hansen's test).

    Parameters
    ----------
    target : Target or MulticlassTarget
        Scores without labels.
    validation : Tally, Tallies, Rows or MulticlassRows
        Labelled scores of the same model; `MulticlassRows` for a `MulticlassTarget`.
    bins : int or sequence of floats, optional
        Number of bins of the histograms, or the edges between them; for two classes only.

    Returns
    -------
    LabelShiftTestResult
        The tests, and a summary in sentences.

    Raises
    ------
    FitError
        If scores do not separate the classes in the validation data.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> noisier = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.5))
    >>> shift.label_shift_test(noisier, validation).rejected
    True
    """
    if isinstance(target, MulticlassTarget) and isinstance(validation, MulticlassRows):
        return multiclass_label_shift(target, validation)
    if isinstance(target, MulticlassTarget) or isinstance(validation, MulticlassRows):
        raise OptionError(
            "one of the data sets has several classes", remedy="give a MulticlassTarget and MulticlassRows."
        )
    data = BinaryData(target, pool_tally(validation))
    data.check_information()
    return check_label_shift(data, bins=bins)


def multiclass_label_shift(target: MulticlassTarget, validation: MulticlassRows) -> LabelShiftTestResult:
    """Test whether the target is a mixture of several classes by Hansen's test [@hansen1982].

    The test uses the moments of `gmm`, of which there are more than shares, and does not depend on a calibration. The
    notes of `gmm` say whether maximum likelihood, which needs a calibration, disagrees.
    """
    data = MulticlassData.of(target, validation)
    fit = solve_moments(data, fit_calibration(data)[0], level=0.95)
    if not fit.over:
        why = "there are no more moments than shares"
        check = CalibrationTest(_HANSEN, nan, nan, _HANSEN_METHOD, why=why)
        return LabelShiftTestResult((check,), (f"Not tested by {_HANSEN}: {why}.", UNTESTED))
    check = CalibrationTest(_HANSEN, fit.statistic, fit.p, _HANSEN_METHOD, fit.over)
    line = (_FITS, _MISFITS)[check.p < SIGNIFICANCE_LEVEL].format(p=format_p_phrase(check.p, digits=3))
    return LabelShiftTestResult((check,), (line, UNTESTED))


class TidyTests(NamedTuple):
    """Tests of label shift and of calibration: tidy rows, notes, and short descriptions of what they reject."""

    rows: list[dict[str, Any]]
    notes: Sequence[str]
    rejections: list[str]


def tabulate_tests(
    target: Any,  # noqa: ANN401  (of two classes or several, as the validation data)
    validation: Any,  # noqa: ANN401
    bins: Mapping[str, Any],
    checks: Sequence[CalibrationTest] = (),
) -> TidyTests:
    """Tabulate tests of label shift, and the test of the calibration among the checks of the estimate."""
    # The other checks of an estimate are those of label shift, which are made here.
    calibration = [check for check in checks if check.name == CALIBRATION_CHECK]
    calibration_rows = [_tidy_test(check, check.p) for check in calibration]
    try:
        result = label_shift_test(target, validation, **bins)
    except BaserateError as error:
        notes = [f"label shift was not tested: {error}"]
        return TidyTests(calibration_rows, notes, describe_rejections(calibration))
    rows = [_tidy_test(check, p) for check, p in zip(result.checks, result.adjusted, strict=True)]
    rejections = describe_rejections([*result.checks, *calibration])
    return TidyTests([*rows, *calibration_rows], result.summary, rejections)


def _tidy_test(check: CalibrationTest, adjusted: float) -> dict[str, Any]:
    """Return a test as a tidy row, with its p-value adjusted for the number of tests."""
    return {
        "measure": f"{check.name}_test",
        "value": check.statistic,
        "p": None if isnan(check.p) else check.p,
        "p_adjusted": None if isnan(adjusted) else adjusted,
        "freedom": check.freedom,
        "how": check.how,
        "why": check.why,
    }


def tidy_check(check: CalibrationTest) -> dict[str, Any]:
    """Return a test as an entry in the header of results."""
    undefined = check.why is not None
    return {
        "name": check.name,
        "statistic": None if undefined else check.statistic,
        "p": None if undefined else check.p,
        "freedom": check.freedom,
        "how": check.how,
        "why": check.why,
    }
