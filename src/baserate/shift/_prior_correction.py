"""Prior correction: probabilities and thresholds at another prevalence, known or estimated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log, log1p
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Value, as_python
from baserate._calibrator import Calibrator, MulticlassCalibrator, Parameter
from baserate._calibrator_forms import Form, Line, LogOdds, Softmax, Steps
from baserate._errors import MissingValuesError, OptionError, keyword
from baserate._formatting import format_p_phrase
from baserate._tally import Tally
from baserate.calibrate import histogram, logistic, prevalence
from baserate.calibrate.multiclass import bias_corrected, reprior as reprior_classes
from baserate.shift._calibration_curve import SIGNIFICANCE_LEVEL, calibration_test
from baserate.shift._class_weights import PrevalenceLike, gamma
from baserate.shift._estimates import MulticlassPrevalence, Prevalence
from baserate.shift._histogram_matching import default_bins
from baserate.shift._maximum_likelihood import Posterior


def reprior(
    p: npt.ArrayLike, *, from_: PrevalenceLike, to: PrevalenceLike, labels: Sequence[object] | None = None
) -> Floats:
    r"""Adjust probabilities that are calibrated at one prevalence to another, :math:`\frac{p}{p+γ(1-p)}`, row by row.

    With shares of K classes, :math:`p_k` becomes :math:`∝p_k·to_k/from_k` [@saerens2002]. Probabilities of 0 and 1
    stay; nothing is fitted. `reprior_calibrator` returns the same adjustment as a calibrator.

    Parameters
    ----------
    p : array-like
        Probabilities of the positive class, of any shape; for K classes a row for each case and a column for each
        class.
    from_ : float, mapping or sequence
        Prevalence at which `p` is calibrated, or the share of every class, by label or in order.
    to : float, mapping or sequence
        Deployment prevalence, or the share of every class.
    labels : sequence, optional
        Order of the columns, if shares are given by label.

    Returns
    -------
    ndarray
        Adjusted probabilities, in the shape of `p`.

    Examples
    --------
    >>> reprior([0.1, 0.5, 0.9], from_=0.4, to=0.1).round(7).tolist()
    [0.0181818, 0.1428571, 0.6]
    >>> reprior([[0.2, 0.3, 0.5]], from_=[0.2, 0.3, 0.5], to=[0.6, 0.3, 0.1]).round(9).tolist()
    [[0.6, 0.3, 0.1]]
    """
    return reprior_calibrator(from_=from_, to=to, labels=labels)(p)


def reprior_calibrator(
    *, from_: PrevalenceLike, to: PrevalenceLike, labels: Sequence[object] | None = None
) -> Calibrator | MulticlassCalibrator:
    """Build the calibrator of `reprior`, an offset of all log-odds, which can be applied, saved and exported.

    Parameters
    ----------
    from_ : float, mapping or sequence
        Prevalence at which scores are calibrated, or the share of every class, by label or in order.
    to : float, mapping or sequence
        Deployment prevalence, or the share of every class.
    labels : sequence, optional
        Order of the columns, if shares are given by label.

    Returns
    -------
    Calibrator or MulticlassCalibrator
        Of two prevalences the first, of shares of classes the second.

    Examples
    --------
    >>> reprior_calibrator(from_=0.5, to=0.1)
    Calibrator(prevalence, log-odds)
    >>> reprior_calibrator(from_={"cat": 0.5, "dog": 0.5}, to={"cat": 0.2, "dog": 0.8})([[0.8, 0.2]]).round(9).tolist()
    [[0.5, 0.5]]
    """
    before: Any = from_
    after: Any = to
    single = [isinstance(each, Real) for each in (before, after)]
    if all(single):
        return prevalence(at=float(before), to=float(after))
    if any(single):
        raise OptionError(
            f"from_ is {from_!r} and to {to!r}",
            remedy="give two prevalences, or twice the share of every class.",
            option="from_",
            value=from_,
        )
    if labels is None and not isinstance(before, Mapping):
        # Order from either mapping; positions have no labels, so their numbers serve.
        labels = list(after) if isinstance(after, Mapping) else [str(at) for at in range(len(before))]
    return reprior_classes(before, after, labels=labels)


def reprior_threshold(c: Value, *, from_: float, to: float) -> Value:
    r"""Compute the threshold on raw scores that flags the same rows as `c` on adjusted ones, :math:`\frac{γc}{γc+1-c}`.

    Raw scores are calibrated at the prevalence `from_`, and `reprior` adjusts them to `to`. With the two exchanged, a
    threshold on raw scores becomes one on adjusted scores.

    Parameters
    ----------
    c : float or array
        Threshold on adjusted scores. Values outside [0, 1], such as infinity, stay.
    from_ : float
        Prevalence at which raw scores are calibrated.
    to : float
        Prevalence to which scores are adjusted.

    Returns
    -------
    float or ndarray
        Threshold on raw scores.

    Examples
    --------
    >>> round(reprior_threshold(0.5, from_=0.5, to=0.1), 9)  # as likely as not, where one in ten is positive
    0.9
    >>> [reprior_threshold(each, from_=0.5, to=0.1) for each in (0.0, 1.0, np.inf)]
    [0.0, 1.0, inf]
    """
    thresholds: Floats = np.asarray(c, dtype=np.float64)
    if np.isnan(thresholds).any():
        raise MissingValuesError(
            f"{np.isnan(thresholds).sum()} of {thresholds.size} thresholds are NaN", remedy="give numbers, or inf."
        )
    # Only thresholds within [0, 1] are probabilities; infinity, which flags nothing, must not become NaN.
    odds = gamma(at=from_, to=to)
    within = np.clip(thresholds, 0.0, 1.0)
    adjusted: Value = as_python(
        np.where(within == thresholds, odds * within / (odds * within + 1 - within), thresholds)
    )
    return adjusted


_METHOD = "recalibrated, to another prevalence"


@overload
def posterior_calibrator(estimate: Prevalence, *, to: float | None = ...) -> Calibrator: ...
@overload
def posterior_calibrator(
    estimate: MulticlassPrevalence, *, to: Mapping[Any, float] | Sequence[float] | Floats | None = ...
) -> MulticlassCalibrator: ...
def posterior_calibrator(
    estimate: Prevalence | MulticlassPrevalence, *, to: Any = None
) -> Calibrator | MulticlassCalibrator:
    """Build the calibrator whose probabilities are right at the estimated prevalence, or at another.

    Scores are recalibrated on the validation data, unless the estimate used them uncalibrated. Their odds are then
    multiplied by the ratio of both prevalence odds. If the estimate needed no calibration and a logistic curve does not
    fit the validation data, the calibrator is a histogram of shares of positives; its notes say so.

    Parameters
    ----------
    estimate : Prevalence or Shares
        Result of `prevalence`.
    to : float, mapping or sequence, optional
        Another prevalence, or the share of every class. The default is the estimated one.

    Returns
    -------
    Calibrator or MulticlassCalibrator
        Of a `Prevalence` the first, of `MulticlassPrevalence` the second.

    Raises
    ------
    OptionError
        If the prevalence is 0 or 1, or the calibrator has no offset that could be changed.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> validation = tally([1, 0, 1, 0, 1, 0, 0, 1, 0, 0] * 9, [0.9, 0.2, 0.6, 0.7, 0.8, 0.1, 0.4, 0.3, 0.3, 0.2] * 9)
    >>> estimate = shift.estimate_prevalence(Target(np.array([0.1, 0.2, 0.3, 0.9] * 5)), validation)
    >>> corrected = shift.posterior_calibrator(estimate)
    >>> corrected([0.2, 0.8]).round(3).tolist(), bool(estimate.value < validation.prevalence)
    ([0.0, 0.194], True)
    """
    if isinstance(estimate, MulticlassPrevalence):
        return _multiclass_posterior(estimate, estimate.value if to is None else to)
    return AdjustableCalibrator.of(estimate).at(estimate.value if to is None else float(to))


class AdjustableCalibrator(NamedTuple):
    """A calibrator that is right at one prevalence, and can be adjusted to others."""

    base: Calibrator | None
    """None where scores are taken as they are."""
    prevalence: float

    @classmethod
    def of(cls, estimate: Prevalence) -> AdjustableCalibrator:
        """Use the calibrator of the estimate, or fit one to the validation data."""
        # An estimate with `at` used probabilities; the same ones must serve for its posteriors.
        if estimate.calibrated_at is not None:
            return cls(estimate.calibrator, estimate.calibrated_at)
        return cls(_fit_calibrator(estimate.validation), estimate.validation.prevalence)

    def at(self, share: float) -> Calibrator:
        """Adjust the calibrator to a prevalence."""
        if not 0 < share < 1:
            raise OptionError(
                f"at a prevalence of {share:g} every posterior is the same",
                remedy=f"name another with {keyword('to')}.",
            )
        if self.base is None:
            return prevalence(at=self.prevalence, to=share)
        both = Parameter("prevalence before", self.prevalence), Parameter("prevalence after", share)
        form = _shift_log_odds(self.base.form, share, self.prevalence)
        return replace(self.base, form=form, method=_METHOD, parameters=both)


def _fit_calibrator(tally: Tally) -> Calibrator:
    """Fit a logistic curve; where it does not fit, shares of positives in bins, which need not rise."""
    curve = logistic(tally)
    x = Posterior(curve, tally.prevalence).variable(tally.score)
    check = calibration_test(tally, curve(tally.score), np.stack([np.ones_like(x), x]))
    if not check.p < SIGNIFICANCE_LEVEL:
        return curve
    p = format_p_phrase(check.p, digits=3)
    note = f"a logistic curve does not fit the validation data ({p}), so that these are shares of positives in bins."
    bins = default_bins((float(tally.rows[0].sum(dtype=np.int64)), float(tally.rows[1].sum(dtype=np.int64))))
    return replace(histogram(tally, bins=bins), notes=(note,))


def _multiclass_posterior(
    estimate: MulticlassPrevalence, to: Mapping[Any, float] | Sequence[float] | Floats
) -> MulticlassCalibrator:
    if not isinstance(to, Mapping) and not np.all(np.asarray(to) > 0):
        raise OptionError(
            "a class has a share of 0, so that no row could be of it", remedy=f"name other shares with {keyword('to')}."
        )
    # mlls without recalibration took probabilities as calibrated; every other method leaves that open.
    if estimate.calibrator is None and estimate.method == "mlls":
        return reprior_classes(estimate.calibrated_at, to, labels=estimate.labels)
    base = estimate.calibrator or bias_corrected(estimate.validation)
    correction = reprior_classes(estimate.calibrated_at, to, labels=estimate.labels)
    if not isinstance(base.form, Softmax) or not isinstance(correction.form, Softmax):
        raise OptionError(f"a map of the kind {base.form.kind} cannot be moved to other shares.")
    # Both biases are offsets of log-probabilities within the same softmax, so they add up.
    form = replace(base.form, bias=base.form.bias + correction.form.bias)
    return replace(base, form=form, method=_METHOD, parameters=correction.parameters)


def _shift_log_odds(form: Form, to: float, at: float) -> Form:
    """Add the change of prevalence log-odds to the log-odds of a calibrator."""
    added = log(to) - log1p(-to) - log(at) + log1p(-at)
    if isinstance(form, Line):
        return replace(form, intercept=form.intercept + added)
    if isinstance(form, LogOdds):
        return replace(form, c=form.c + added)
    if isinstance(form, Steps):
        return replace(form, y=form.y / (form.y + (1 - form.y) * exp(-added)))
    raise OptionError(f"a map of the kind {form.kind} cannot be moved to another prevalence; recalibrate logistically.")
