"""Posteriors that are right where the target is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log, log1p
from typing import Any, NamedTuple, overload

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator, Parameter
from baserate._calibrator_forms import Form, Line, LogOdds, Softmax, Steps
from baserate._errors import OptionError
from baserate._formatting import format_p_phrase
from baserate._tally import Tally
from baserate.calibrate import histogram, logistic, prevalence
from baserate.calibrate.multiclass import bias_corrected, reprior
from baserate.shift._several import Shares
from baserate.shift._two._bins import usual_bins
from baserate.shift._two._fit import SIZE, curve_fit
from baserate.shift._two._likelihood import Posterior
from baserate.shift._two._result import Prevalence

METHOD = "recalibrated, to another prevalence"


@overload
def posterior(found: Prevalence, *, to: float | None = ...) -> Calibrator: ...
@overload
def posterior(
    found: Shares, *, to: Mapping[Any, float] | Sequence[float] | Floats | None = ...
) -> MulticlassCalibrator: ...
def posterior(found: Prevalence | Shares, *, to: Any = None) -> Calibrator | MulticlassCalibrator:
    """Map scores to probabilities that are right at the estimated prevalence, or at another.

    Scores are recalibrated on the validation set, unless the estimate took them as they are, and their odds multiplied
    by the ratio of those of both prevalences. Where a logistic curve does not fit the validation data, and the estimate
    needed none, it is the share of positives in bins; the notes of the map say so.

    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> validation = tally([1, 0, 1, 0, 1, 0, 0, 1, 0, 0] * 9, [0.9, 0.2, 0.6, 0.7, 0.8, 0.1, 0.4, 0.3, 0.3, 0.2] * 9)
    >>> found = shift.prevalence(Target(np.array([0.1, 0.2, 0.3, 0.9] * 5)), validation)
    >>> corrected = shift.posterior(found)
    >>> corrected([0.2, 0.8]).round(3).tolist(), bool(found.value < validation.prevalence)
    ([0.0, 0.194], True)
    """
    if isinstance(found, Shares):
        return _of_classes(found, found.value if to is None else to)
    return Recalibrated.of(found).at(found.value if to is None else float(to))


class Recalibrated(NamedTuple):
    """A map to probabilities that are right at one prevalence, and can be made so at others."""

    base: Calibrator | None
    """None where scores are taken as they are."""
    prevalence: float

    @classmethod
    def of(cls, found: Prevalence) -> Recalibrated:
        """Take the map that the estimate used, or one that fits the validation data."""
        if found.at is not None:
            return cls(found.map, found.at)
        return cls(_fitting(found.validation), found.validation.prevalence)

    def at(self, share: float) -> Calibrator:
        """Map scores to probabilities that are right at that prevalence."""
        if not 0 < share < 1:
            raise OptionError(f"at a prevalence of {share:g} every posterior is the same; name another with to=.")
        if self.base is None:
            return prevalence(at=self.prevalence, to=share)
        both = Parameter("prevalence before", self.prevalence), Parameter("prevalence after", share)
        form = _moved(self.base.form, share, self.prevalence)
        return replace(self.base, form=form, method=METHOD, parameters=both)


def _fitting(tally: Tally) -> Calibrator:
    """A logistic curve if it fits; otherwise shares of bins, which need not rise."""
    made = logistic(tally)
    x = Posterior(made, tally.prevalence).variable(tally.score)
    check = curve_fit(tally, made(tally.score), np.stack([np.ones_like(x), x]))
    if not check.p < SIZE:
        return made
    p = format_p_phrase(check.p, digits=3)
    note = f"a logistic curve does not fit the validation data ({p}), so that these are shares of positives in bins."
    bins = usual_bins((float(tally.rows[0].sum(dtype=np.int64)), float(tally.rows[1].sum(dtype=np.int64))))
    return replace(histogram(tally, bins=bins), notes=(note,))


def _of_classes(found: Shares, to: Mapping[Any, float] | Sequence[float] | Floats) -> MulticlassCalibrator:
    if not isinstance(to, Mapping) and not np.all(np.asarray(to) > 0):
        raise OptionError("a class has a share of 0, so that no row could be of it; name other shares with to=.")
    if found.map is None and found.method == "mlls":
        return reprior(found.at, to, labels=found.labels)
    base = found.map or bias_corrected(found.validation)
    moved = reprior(found.at, to, labels=found.labels)
    if not isinstance(base.form, Softmax) or not isinstance(moved.form, Softmax):
        raise OptionError(f"a map of the kind {base.form.kind} cannot be moved to other shares.")
    form = replace(base.form, bias=base.form.bias + moved.form.bias)
    return replace(base, form=form, method=METHOD, parameters=moved.parameters)


def _moved(form: Form, to: float, at: float) -> Form:
    added = log(to) - log1p(-to) - log(at) + log1p(-at)
    if isinstance(form, Line):
        return replace(form, intercept=form.intercept + added)
    if isinstance(form, LogOdds):
        return replace(form, c=form.c + added)
    if isinstance(form, Steps):
        return replace(form, y=form.y / (form.y + (1 - form.y) * exp(-added)))
    raise OptionError(f"a map of the kind {form.kind} cannot be moved to another prevalence; recalibrate logistically.")
