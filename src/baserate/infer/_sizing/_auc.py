"""Power and size to show that an AUC differs from a number, or from that of another model."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, sqrt

import numpy as np

from baserate._errors import BadOption
from baserate._plurals import count_of
from baserate.infer import AucPair, Size, binormal_spread
from baserate.infer._sizing._auc_pair import Standard, check_classes
from baserate.infer._sizing._power import Sides, checked_power, normal_power, rows_needed, told_sides, z_of
from baserate.infer._sizing._size import check_inside, least_rows, sized


def power_of_auc(
    expect: float,
    *,
    positives: float,
    negatives: float,
    null: float = 0.5,
    alpha: float = 0.05,
    sides: Sides = 2,
) -> float:
    """Chance to show that an AUC is not `null`, when so much is expected [@obuchowski2004].

    >>> round(power_of_auc(0.73, positives=41, negatives=72), 7)  # pROC: power.roc.test
    0.9897453
    """
    _check_one(expect, null)
    check_classes(positives, negatives)
    varying = [binormal_spread(each).at(positives, negatives) for each in (null, expect)]
    return normal_power(expect - null, *varying, z=z_of(alpha, sides))


def size_to_show_auc(
    expect: float, *, power: float, prevalence: float, null: float = 0.5, alpha: float = 0.05, sides: Sides = 2
) -> Size:
    """Rows needed to show, with that power, that an AUC is not `null`, when so much is expected [@obuchowski2004].

    >>> size_to_show_auc(0.8, power=0.9, prevalence=0.5).rows
    34
    """
    _check_one(expect, null)
    check_inside("prevalence", prevalence, "0.1")
    varying = [binormal_spread(each).per_row(prevalence) for each in (null, expect)]
    rows = rows_needed(expect - null, *varying, z=z_of(alpha, sides), power=checked_power(power, alpha))
    return _answer(
        rows,
        expect - null,
        varying,
        prevalence,
        z=z_of(alpha, sides),
        how=f"Obuchowski's normal test of one AUC, {told_sides(sides)}",
    )


def alpha_to_show_auc(
    expect: float, *, power: float, positives: float, negatives: float, null: float = 0.5, sides: Sides = 2
) -> float:
    """Level of significance at which a test would have that power.

    >>> round(alpha_to_show_auc(0.73, power=0.95, positives=41, negatives=72), 9)  # pROC: power.roc.test
    0.009238584
    """
    from scipy.special import ndtr, ndtri

    _check_one(expect, null)
    check_classes(positives, negatives)
    check_inside("power", power, "0.9")
    told_sides(sides)
    zero, real = (binormal_spread(each).at(positives, negatives) for each in (null, expect))
    z = (abs(expect - null) - float(ndtri(power)) * sqrt(real)) / sqrt(zero)
    return min(sides * float(ndtr(-z)), 1.0)


def detectable_auc(
    *, power: float, positives: float, negatives: float, null: float = 0.5, alpha: float = 0.05, sides: Sides = 2
) -> float:
    """Smallest AUC above `null` that so many rows would show with that power.

    >>> round(detectable_auc(power=0.95, positives=41, negatives=72), 4)  # pROC: power.roc.test
    0.6961
    """
    from scipy.optimize import brentq

    check_inside("null", null, "0.5")
    checked_power(power, alpha)

    def lacking(auc: float) -> float:
        found = power_of_auc(auc, positives=positives, negatives=negatives, null=null, alpha=alpha, sides=sides)
        return power - found

    tried = np.linspace(null, 1, 1001)[1:-1].tolist()
    enough = next((place for place, auc in enumerate(tried) if lacking(auc) <= 0), None)
    if enough is None:
        raise BadOption(
            f"no AUC up to 1 could be shown with {count_of(positives, 'positive')} "
            f"and {count_of(negatives, 'negative')}."
        )
    below = tried[enough - 1] if enough else null + (tried[0] - null) * 1e-6
    return float(brentq(lacking, below, tried[enough], xtol=1e-14))


def power_of_auc_difference(
    pair: AucPair,
    *,
    positives: float,
    negatives: float,
    alpha: float = 0.05,
    sides: Sides = 2,
    standard: Standard = None,
) -> float:
    """Chance to show that two AUCs differ [@obuchowski1997].

    >>> from baserate.infer._sizing._auc_pair import stated_pair
    >>> pair = stated_pair(
    ...     0.6119580, 0.8236789, variances=(0.00319081, 0.00146991), covariance=-0.00053297, positives=41, negatives=72
    ... )
    >>> round(power_of_auc_difference(pair, positives=41, negatives=72), 4)
    0.7989
    >>> round(power_of_auc_difference(pair, positives=41, negatives=72, standard="first"), 4)  # pROC: power.roc.test
    0.7132
    """
    check_classes(positives, negatives)
    varying = [each.at(positives, negatives) for each in pair.varying(standard)]
    return normal_power(pair.difference, *varying, z=z_of(alpha, sides))


def size_to_show_auc_difference(
    pair: AucPair,
    *,
    power: float,
    prevalence: float,
    alpha: float = 0.05,
    sides: Sides = 2,
    standard: Standard = None,
) -> Size:
    """Rows needed to show, with that power, that two AUCs differ [@obuchowski1997].

    If each model has rows of its own, so many are needed for each.

    >>> from baserate.infer._sizing._auc_pair import assumed_pair
    >>> size_to_show_auc_difference(assumed_pair(0.8, 0.7, correlation=0.5), power=0.9, prevalence=0.5).rows
    280
    """
    check_inside("prevalence", prevalence, "0.1")
    if pair.difference == 0:
        raise BadOption(f"both AUCs are {pair.first}; no number of rows would show a difference.")
    varying = [each.per_row(prevalence) for each in pair.varying(standard)]
    if min(varying) <= 0:
        raise BadOption("the difference of these two AUCs does not vary, so no size can be told; take a larger pilot.")
    rows = rows_needed(pair.difference, *varying, z=z_of(alpha, sides), power=checked_power(power, alpha))
    how = f"normal test of the difference of two AUCs, {told_sides(sides)}"
    found = _answer(rows, pair.difference, varying, prevalence, z=z_of(alpha, sides), how=how)
    return found if pair.paired else replace(found, samples=2)


def _answer(rows: float, difference: float, varying: list[float], prevalence: float, *, z: float, how: str) -> Size:
    many = max(ceil(rows), least_rows(prevalence))
    reached = normal_power(difference, *(each / many for each in varying), z=z)
    return sized(many, prevalence, power=reached, how=how)


def _check_one(expect: float, null: float) -> None:
    check_inside("expect", expect, "0.8")
    check_inside("null", null, "0.5")
    if expect == null:
        raise BadOption(f"expect and null are both {null}; no number of rows would show a difference.")
