"""Posteriors that are right where the target is."""

from __future__ import annotations

from dataclasses import replace
from math import log, log1p

from baserate._errors import BadOption
from baserate._forms import Form, Line, LogOdds
from baserate._map import Map
from baserate.calibrate import logistic, prevalence
from baserate.shift._two._result import Prevalence

METHOD = "recalibrated, to another prevalence"


def posterior(found: Prevalence, *, to: float | None = None) -> Map:
    """Map scores to probabilities that are right at the estimated prevalence, or at another.

    Scores are recalibrated on the validation set, unless the estimate took them as they are, and their odds multiplied
    by the ratio of those of both prevalences.

    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> validation = tally([1, 0, 1, 0, 1, 0, 0, 1, 0, 0] * 9, [0.9, 0.2, 0.6, 0.7, 0.8, 0.1, 0.4, 0.3, 0.3, 0.2] * 9)
    >>> found = shift.prevalence(Target(np.array([0.1, 0.2, 0.3, 0.9] * 5)), validation)
    >>> corrected = shift.posterior(found)
    >>> bool((corrected([0.2, 0.8]) < found.map([0.2, 0.8])).all()), bool(found.value < validation.prevalence)
    (True, True)
    """
    share = found.value if to is None else to
    if not 0 < share < 1:
        raise BadOption(f"at a prevalence of {share:g} every posterior is the same; name another with to=.")
    if found.map is None and found.at is not None:
        return prevalence(at=found.at, to=share)
    base, at = (found.map, found.at) if found.map is not None else (logistic(found.validation), None)
    return replace(base, form=_moved(base.form, share, at or found.validation.prevalence), method=METHOD)


def _moved(form: Form, to: float, at: float) -> Form:
    added = log(to) - log1p(-to) - log(at) + log1p(-at)
    if isinstance(form, Line):
        return replace(form, intercept=form.intercept + added)
    if isinstance(form, LogOdds):
        return replace(form, c=form.c + added)
    raise BadOption(f"a map of the kind {form.kind} cannot be moved to another prevalence; recalibrate logistically.")
