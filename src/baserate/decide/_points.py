"""Rules that take one point of the curve: a fixed one, those of ROC geometry, and the best by any measure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import OptionError
from baserate.decide._rule import (
    Gains,
    Toward,
    best_at,
    both_classes,
    infinitely_good,
    may_be_infinite,
    no_best,
    rule,
    skipped_note,
    steepest,
    strictest,
    threshold_at,
    undefined,
    worth_along,
)
from baserate.measure import Measure, about, named, precision, sensitivity, settings_notes, settings_of, specificity


@rule(looks=lambda **_: False)
def fixed(curve: Curve, threshold: float) -> Cut:  # noqa: ARG001  (a rule takes a curve)
    """Flag at a given threshold, whatever the data.

    >>> from baserate import curve, decide, tally
    >>> decide.fixed(curve(tally([1, 0], [0.8, 0.3])), 0.5).threshold
    0.5
    """
    return Cut((threshold,))


def _equally(positives: float, negatives: float) -> Gains:
    """Both classes matter alike; in whole numbers, so that equals are equal."""
    return Gains(negatives, positives)


@rule(gains=_equally)
def youden(curve: Curve) -> Cut:
    r"""Flag where sensitivity + specificity is greatest, :math:`\max(TPR-FPR)` [@youden1950].

    Also: the greatest height above the diagonal, the best balanced accuracy.

    >>> from baserate import curve, decide, tally
    >>> truth = [1, 1, 1, 0, 1, 0, 0, 1] + [0, 0, 0, 1] + [0] * 8
    >>> decide.youden(curve(tally(truth, [1 - i / 20 for i in range(20)]))).threshold
    0.65
    """
    both_classes(curve, "Youden's index")
    return Cut((steepest(curve, _equally(curve.positives, curve.negatives)),))


def from_perfection(counts: Counts[Floats]) -> Floats:
    """Squared distance from the upper left corner of ROC space."""
    return (1 - sensitivity(counts)) ** 2 + (1 - specificity(counts)) ** 2


@rule()
def closest(curve: Curve) -> Cut:
    r"""Flag where the ROC curve comes closest to its upper left corner, :math:`\min((1-TPR)^2+FPR^2)`.

    Also: closest to (0, 1), top left, ROC01. It differs from Youden's point, and has no meaning in terms of costs
    [@perkins2006].

    >>> from baserate import curve, decide, tally
    >>> decide.closest(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.8
    """
    both_classes(curve, "the closest point to (0, 1)")
    return Cut((threshold_at(curve, best_at(curve, from_perfection, toward="low")),))


def apart(counts: Counts[Floats]) -> Floats:
    """Distance of sensitivity and specificity."""
    return np.abs(sensitivity(counts) - specificity(counts))


@rule()
def balanced(curve: Curve) -> Cut:
    r"""Flag where sensitivity and specificity are as near to each other as they get, :math:`\min|TPR-TNR|`.

    Also: equal error rate, sensitivity = specificity.

    >>> from baserate import curve, decide, tally
    >>> decide.balanced(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.7
    """
    both_classes(curve, "sensitivity = specificity")
    return Cut((threshold_at(curve, best_at(curve, apart, toward="low")),))


def uneven(counts: Counts[Floats]) -> Floats:
    """Distance of precision and recall; where nothing is found both are 0, and that is no meeting."""
    return np.where(counts.tp > 0, np.abs(precision(counts) - sensitivity(counts)), np.nan)


@rule()
def break_even(curve: Curve) -> Cut:
    r"""Flag where precision and recall are as near to each other as they get: as many flagged as there are positives.

    Also: precision–recall break-even point.

    >>> from baserate import curve, decide, tally
    >>> decide.break_even(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.7
    """
    at = best_at(curve, uneven, toward="low")
    if at is None:
        raise undefined(sensitivity, curve)
    return Cut((threshold_at(curve, at),))


def _best_notes(
    curve: Curve,
    cut: Cut,
    measure: str | Measure,
    toward: Toward | None = None,
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    counts = cut.counts(curve)
    if not counts.flagged or not counts.passed:
        yield f"the best is to {'pass' if not counts.flagged else 'flag'} everybody: no score is needed for that."
    function, toward = objective(measure, toward)
    yield from settings_notes(settings_of([partial(function, **options)]))
    if may_be_infinite(function, toward):
        worth = worth_along(curve, partial(function, **options), toward=toward)
        yield from skipped_note(function, infinitely_good(worth))


@rule(notes=_best_notes)
def best(curve: Curve, /, measure: str | Measure, *, toward: Toward | None = None, **options: Any) -> Cut:  # noqa: ANN401
    """Flag where any measure of the 2×2 table is best, over all thresholds.

    `measure` is a name or a measure; neither end of some is the better one: say which with `toward`. Options such as
    `beta=` go to the measure. Thresholds at which it is undefined or infinite do not take part; a note says how many
    were skipped for being infinitely good, as an odds ratio is where no row is flagged wrongly.

    >>> from baserate import curve, decide, tally
    >>> decide.best(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])), "f1").threshold
    0.6
    """
    function, toward = objective(measure, toward)
    worth = worth_along(curve, partial(function, **options), toward=toward)
    at = strictest(worth)
    if at is None:
        raise no_best(function, curve, worth)
    return Cut((threshold_at(curve, at),))


def objective(measure: str | Measure, toward: Toward | None = None) -> tuple[Measure, Toward]:
    """Find a measure of the 2×2 table, and which end of it is wanted."""
    function = named(measure) if isinstance(measure, str) else measure
    known = about(function)
    if known.of is not Counts:
        raise OptionError(f"{known.name} has one value for a whole curve, not one at each threshold; take another.")
    if toward not in {None, "high", "low"}:
        raise OptionError(f"toward is {toward!r}; it is 'high' or 'low'.")
    wanted = toward or known.best
    if wanted is None:
        raise OptionError(f"neither end of {known.name} is the better one; say which you mean: toward='high' or 'low'.")
    return function, wanted
