"""Tests of label shift: whether only the prevalence changed, as far as scores alone can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, log, nan, sqrt
from typing import NoReturn

import numpy as np

from baserate._arrays import Floats
from baserate._errors import OptionError, UsageError
from baserate._formatting import format_number, format_p_phrase, there_are
from baserate._numeric.mixture import unconstrained_log_likelihood
from baserate._rows import MulticlassRows, MulticlassTarget, Rows, Target
from baserate._tally import Tallies, Tally
from baserate.calibrate import pool_tally
from baserate.infer import CalibrationTest, holm
from baserate.shift._calibration_curve import CALIBRATION_CHECK, SIGNIFICANCE_LEVEL, calibration_test
from baserate.shift._data import BinaryData, MulticlassData
from baserate.shift._estimates import Prevalence
from baserate.shift._gmm import SIGNIFICANCE, fit_calibration, solve_moments
from baserate.shift._histogram_matching import JointFit, fit_binned
from baserate.shift._maximum_likelihood import Posterior
from baserate.shift._moment_matching import binary_moments, binary_pacc, moment_influence, raw_scores

_SMALLEST_P = 5e-324
"""Smallest positive float: no p-value is 0."""
_MIN_RELATIVE_VARIANCE = 0.02
"""Least variance of the difference, relative to that of either estimate; below it, only rounding would be tested."""
_SIGNIFICANCE = 0.05
_ADJUSTED_P = "Holm-adjusted p"

_FIT = "goodness_of_fit"
DIFFERENCE = "binned_less_pacc"
_FITS = "The target's scores could be a mixture of those of the two classes ({p}): nothing speaks against label shift."
_MISFITS = (
    "The target's scores are no mixture of those of the two classes ({p}): it is not label shift alone, and "
    "whatever rests on it is in doubt."
)
_AGREE = "Two estimates that label shift would make agree do so ({p})."
_DIFFER = "Two estimates that label shift would make agree do not ({p}): it is not label shift alone."
UNTESTED = (
    "Not tested, since scores alone cannot tell: whether the classes score otherwise than they did in a way that looks "
    "like another prevalence. A small random sample of the target with its truth would."
)


@dataclass(frozen=True, slots=True)
class LabelShiftTestResult:
    """Tests of label shift, with sentences that say what was and was not tested.

    Parameters
    ----------
    checks : tuple of Check
        The tests.
    told : tuple of str
        A sentence for each test, and one about what scores alone cannot test.
    """

    checks: tuple[CalibrationTest, ...]
    summary: tuple[str, ...]

    def __bool__(self) -> NoReturn:
        # Any object is truthy, so that `assert label_shift(…)` would pass whatever the tests say.
        raise UsageError(
            "a LabelShiftTestResult is neither true nor false", remedy="ask whether a test rejects: result.rejected."
        )

    @property
    def adjusted(self) -> tuple[float, ...]:
        """Holm-adjusted p-values: under label shift, the chance that any is below 0.05 is at most 5%."""
        return tuple(holm([check.p for check in self.checks]))

    @property
    def rejected(self) -> bool:
        """Whether any test rejects, at a family-wise level of 5%."""
        return any(p < _SIGNIFICANCE for p in self.adjusted)


def check_label_shift(data: BinaryData, *, bins: int | Sequence[float] | None = None) -> LabelShiftTestResult:
    """Make both tests of label shift for two classes."""
    return check_binned(data, *fit_binned(data, bins))


def check_binned(data: BinaryData, estimate: Prevalence, joint: JointFit) -> LabelShiftTestResult:
    """Make both tests of an estimate by `binned`."""
    return describe_checks((goodness_of_fit(joint), hausman_difference(data, estimate, joint)))


def describe_checks(checks: tuple[CalibrationTest, ...]) -> LabelShiftTestResult:
    """Add sentences about each test, and about what was not tested."""
    words = {_FIT: (_FITS, _MISFITS), DIFFERENCE: (_AGREE, _DIFFER)}
    p_name = _ADJUSTED_P if len([check for check in checks if not check.why]) > 1 else "p"
    unworded = LabelShiftTestResult(checks, ())
    lines = [
        f"Not tested by {check.name}: {check.why}."
        if check.why
        else words[check.name][p < _SIGNIFICANCE].format(p=format_p_phrase(p, digits=3, name=p_name))
        for check, p in zip(checks, unworded.adjusted, strict=True)
    ]
    return LabelShiftTestResult(checks, (*lines, UNTESTED))


_HEADLINES = {
    _FIT: "no mixture of the classes",
    DIFFERENCE: "estimates disagree",
    CALIBRATION_CHECK: "calibration does not fit",
}


def describe_rejections(checks: Sequence[CalibrationTest]) -> list[str]:
    """Name the tests that reject, in a few words for a headline; those of label shift are Holm-adjusted."""
    families = [[check for check in checks if (check.name == CALIBRATION_CHECK) is curve] for curve in (False, True)]
    pairs = [checked for part in families for checked in zip(part, holm([check.p for check in part]), strict=True)]
    several = len([check for check in families[0] if not check.why]) > 1
    return [
        f"{_HEADLINES[check.name]} "
        f"({format_p_phrase(p, name=_ADJUSTED_P if several and check.name != CALIBRATION_CHECK else 'p')})"
        for check, p in pairs
        if p < _SIGNIFICANCE
    ]


def disagreement_notes(data: BinaryData, estimate: Prevalence, tests: LabelShiftTestResult) -> tuple[str, ...]:
    """Say which tests reject label shift, and what another method estimates; empty where none rejects."""
    # Not strict: the last sentence, about what was not tested, has no p-value.
    lines = [line for line, p in zip(tests.summary, tests.adjusted, strict=False) if p < _SIGNIFICANCE]
    if tests.adjusted[-1] < _SIGNIFICANCE:
        other = format_number(binary_pacc(data).value, 3)
        both = f"{estimate.method} gives {format_number(estimate.value, 3)} and pacc {other}"
        lines.append(f"Estimates disagree: {both}.")
    return tuple(lines)


def check_calibration(data: BinaryData, posterior: Posterior, *, fitted: bool) -> CalibrationTest:
    """Test on validation whether probabilities are calibrated; `fitted` if a logistic curve was fitted to it."""
    from scipy.special import expit

    tally = data.validation
    chance = expit(posterior.log_ratio(tally.score) + log(tally.positives) - log(tally.negatives))
    x = posterior.variable(tally.score) if fitted else None
    return calibration_test(tally, chance, None if x is None else np.stack([np.ones_like(x), x]))


def calibration_notes(check: CalibrationTest) -> tuple[str, ...]:
    """Say whether probabilities fit the validation data."""
    if check.why:
        return (f"Whether probabilities fit the validation data was not tested: {check.why}.",)
    p = format_p_phrase(check.p, digits=3)
    if check.p >= SIGNIFICANCE_LEVEL:
        return (f"The probabilities that numbers rest on fit the validation data ({p}).",)
    doubt = "numbers may be biased by more than their intervals say"
    return (f"The probabilities that numbers rest on do not fit the validation data ({p}): {doubt}.",)


def binned_note(data: BinaryData, check: CalibrationTest) -> tuple[str, ...]:
    """Say what `binned` estimates, which needs no calibration, where the calibration of another method does not fit."""
    if not check.p < SIGNIFICANCE_LEVEL:
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
        return CalibrationTest(
            _FIT, nan, nan, how, why=f"{there_are(many, 'bin that holds', 'bins that hold')} anything, and it takes 3"
        )
    from scipy.special import gammaincc

    # Rounding may make the free likelihood fall below that of the mixture.
    statistic = max(2 * (unconstrained_log_likelihood(counts) - joint.fit.log_likelihood), 0.0)
    return CalibrationTest(
        _FIT, statistic, max(float(gammaincc((many - 2) / 2, statistic / 2)), _SMALLEST_P), how, many - 2
    )


def hausman_difference(data: BinaryData, estimate: Prevalence, joint: JointFit) -> CalibrationTest:
    """Test whether the likelihood of histograms and the mean score agree [@hausman1978].

    Both are right under label shift, whatever the calibration, and react differently to most other changes.
    """
    how, simple, target = "normal, two-sided", binary_pacc(data), data.target
    if estimate.value in (0.0, 1.0) or target.labelled is not None:
        why = (
            "the estimate is at an end of [0, 1]" if target.labelled is None else "rows with truth enter both estimates"
        )
        return CalibrationTest(DIFFERENCE, nan, nan, how, why=why)
    means = binary_moments(data, raw_scores)
    differing = estimate.influence - moment_influence(data, raw_scores, means, simple.unclipped)
    by_target: Floats = joint.target_influence(data)
    by_target -= (raw_scores(target.score) - means.target) / (means.gap * target.total)
    squares = 1.0 if target.squares is None else target.squares
    variance = float((data.validation.squares * differing**2).sum() + (squares * by_target**2).sum())
    # Otherwise rounding would be divided by rounding, and the test would reject at random.
    if variance < _MIN_RELATIVE_VARIANCE * min(estimate.variance, simple.variance):
        return CalibrationTest(
            DIFFERENCE, nan, nan, how, why="both estimates weigh scores so alike that they must agree"
        )
    z = (estimate.value - simple.unclipped) / sqrt(variance)
    return CalibrationTest(DIFFERENCE, z, max(erfc(abs(z) / sqrt(2)), _SMALLEST_P), how)


_HANSEN = "overidentification"
_HANSEN_METHOD = "Hansen's test of moments, χ²"
_MULTICLASS_FITS = (
    "The target's scores could be a mixture of those of the classes ({p}): nothing speaks against label shift."
)
_MULTICLASS_MISFITS = (
    "The target's scores are no mixture of those of the classes ({p}): it is not label shift alone, and whatever rests "
    "on it is in doubt."
)


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
    Assumption
        The tests, with sentences that say what was and was not tested.

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
        raise OptionError("of several classes, give a MulticlassTarget and MulticlassRows.")
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
    line = (_MULTICLASS_FITS, _MULTICLASS_MISFITS)[check.p < SIGNIFICANCE].format(p=format_p_phrase(check.p, digits=3))
    return LabelShiftTestResult((check,), (line, UNTESTED))
