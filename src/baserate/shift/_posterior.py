"""Posteriors that are right where the target is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log, log1p
from typing import Any, overload

import numpy as np

from baserate._arrays import Floats
from baserate._class_map import ClassMap
from baserate._errors import BadOption
from baserate._forms import Form, Line, LogOdds, Softmax
from baserate._map import Map, Parameter
from baserate.calibrate import logistic, prevalence
from baserate.calibrate.multiclass import bias_corrected, reprior
from baserate.shift._several import Shares
from baserate.shift._two._result import Prevalence

METHOD = "recalibrated, to another prevalence"


@overload
def posterior(found: Prevalence, *, to: float | None = ...) -> Map: ...
@overload
def posterior(found: Shares, *, to: Mapping[Any, float] | Sequence[float] | Floats | None = ...) -> ClassMap: ...
def posterior(found: Prevalence | Shares, *, to: Any = None) -> Map | ClassMap:
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
    if isinstance(found, Shares):
        return _of_classes(found, found.value if to is None else to)
    share = found.value if to is None else float(to)
    if not 0 < share < 1:
        raise BadOption(f"at a prevalence of {share:g} every posterior is the same; name another with to=.")
    if found.map is None and found.at is not None:
        return prevalence(at=found.at, to=share)
    base = found.map or logistic(found.validation)
    at = found.at if found.map is not None and found.at is not None else found.validation.prevalence
    told = Parameter("prevalence before", at), Parameter("prevalence after", share)
    return replace(base, form=_moved(base.form, share, at), method=METHOD, parameters=told)


def _of_classes(found: Shares, to: Mapping[Any, float] | Sequence[float] | Floats) -> ClassMap:
    if not isinstance(to, Mapping) and not np.all(np.asarray(to) > 0):
        raise BadOption("a class has a share of 0, so that no row could be of it; name other shares with to=.")
    if found.map is None and found.method == "mlls":
        return reprior(found.at, to, labels=found.labels)
    base = found.map or bias_corrected(found.validation)
    moved = reprior(found.at, to, labels=found.labels)
    if not isinstance(base.form, Softmax) or not isinstance(moved.form, Softmax):
        raise BadOption(f"a map of the kind {base.form.kind} cannot be moved to other shares.")
    form = replace(base.form, bias=base.form.bias + moved.form.bias)
    return replace(base, form=form, method=METHOD, parameters=moved.parameters)


def _moved(form: Form, to: float, at: float) -> Form:
    added = log(to) - log1p(-to) - log(at) + log1p(-at)
    if isinstance(form, Line):
        return replace(form, intercept=form.intercept + added)
    if isinstance(form, LogOdds):
        return replace(form, c=form.c + added)
    raise BadOption(f"a map of the kind {form.kind} cannot be moved to another prevalence; recalibrate logistically.")
