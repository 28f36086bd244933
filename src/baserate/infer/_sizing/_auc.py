"""Power and size to show that an AUC differs from a number, or from that of another model."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, exp, log, sqrt
from typing import Any, Literal, get_args

import numpy as np

from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate.infer import AucPair, Size, binormal_spread
from baserate.infer._sizing._auc_pair import Standard, check_classes
from baserate.infer._sizing._expected_area import check_ratio, interval_power, level_of, sampled_power
from baserate.infer._sizing._power import Sides, checked_power, normal_power, rows_needed, told_sides, z_of
from baserate.infer._sizing._size import check_inside, least_from, least_rows, sized

Method = Literal["interval", "obuchowski"]
"""By the interval that `infer.estimate` gives, or by Obuchowski's normal test, as pROC has it."""
_TEN = 10


def power_of_auc(  # noqa: PLR0913  (each is something that one knows or wants)
    expect: float,
    *,
    positives: float,
    negatives: float,
    null: float = 0.5,
    alpha: float = 0.05,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> float:
    """Chance to show that an AUC is not `null`, when so much is expected.

    It is shown where the interval that `infer.estimate` gives at level 1 − α lies beyond `null` (`interval_power`).
    Scores are normal in both classes; `spread_ratio` is the standard deviation of positives over that of negatives.
    With `method="obuchowski"` it is shown by a normal test with the variance of equally spread classes
    [@obuchowski2004], which has more power than the interval where rows are few.

    >>> round(power_of_auc(0.73, positives=41, negatives=72), 3)
    0.984
    >>> round(power_of_auc(0.73, positives=41, negatives=72, method="obuchowski"), 7)  # pROC: power.roc.test
    0.9897453
    """
    _check_one(expect, null)
    check_classes(positives, negatives)
    if _by_formula(method, spread_ratio):
        varying = [binormal_spread(each).at(positives, negatives) for each in (null, expect)]
        return normal_power(expect - null, *varying, z=z_of(alpha, sides))
    z_of(alpha, sides)
    level = level_of(alpha, sides)
    return interval_power(expect, positives, negatives, null=null, level=level, spread_ratio=spread_ratio)


def size_to_show_auc(  # noqa: PLR0913  (each is something that one knows or wants)
    expect: float,
    *,
    power: float,
    prevalence: float,
    null: float = 0.5,
    alpha: float = 0.05,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> Size:
    """Rows needed to show, with that power, that an AUC is not `null`, when so much is expected.

    The power is that of `power_of_auc`, averaged over the number of positives that chance brings, and ten rows of each
    class are expected at least; with `method="obuchowski"` it is that of the expected number [@obuchowski2004].

    >>> size_to_show_auc(0.8, power=0.9, prevalence=0.5).rows
    40
    >>> size_to_show_auc(0.8, power=0.9, prevalence=0.5, method="obuchowski").rows
    34
    """
    _check_one(expect, null)
    check_inside("prevalence", prevalence, "0.1")
    checked_power(power, alpha)
    z = z_of(alpha, sides)
    varying = [binormal_spread(each).per_row(prevalence) for each in (null, expect)]
    about_so_many = rows_needed(expect - null, *varying, z=z, power=power)
    if _by_formula(method, spread_ratio):
        how = f"Obuchowski's normal test of one AUC, {told_sides(sides)}"
        return _answer(about_so_many, expect - null, varying, prevalence, z=z, how=how)
    level = level_of(alpha, sides)

    def reached(rows: int) -> float:
        return sampled_power(expect, rows, prevalence, null=null, level=level, spread_ratio=spread_ratio)

    least = least_rows(prevalence, _TEN)  # with fewer, intervals are not what they are planned to be
    rows = least_from(lambda many: reached(many) >= power, ceil(about_so_many), least)
    return sized(rows, prevalence, power=reached(rows), how=f"interval of the AUC, {_assumed(spread_ratio, sides)}")


def alpha_to_show_auc(  # noqa: PLR0913  (each is something that one knows or wants)
    expect: float,
    *,
    power: float,
    positives: float,
    negatives: float,
    null: float = 0.5,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> float:
    """Level of significance at which a test would have that power.

    >>> options = {"power": 0.95, "positives": 41, "negatives": 72}
    >>> round(alpha_to_show_auc(0.73, **options, method="obuchowski"), 9)  # pROC: power.roc.test
    0.009238584
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    _check_one(expect, null)
    check_classes(positives, negatives)
    check_inside("power", power, "0.9")
    told_sides(sides)
    if _by_formula(method, spread_ratio):
        zero, real = (binormal_spread(each).at(positives, negatives) for each in (null, expect))
        z = (abs(expect - null) - float(ndtri(power)) * sqrt(real)) / sqrt(zero)
        return min(sides * float(ndtr(-z)), 1.0)

    def lacking(logarithm: float) -> float:
        level = 1 - 2 * exp(logarithm) / sides
        found = interval_power(expect, positives, negatives, null=null, level=level, spread_ratio=spread_ratio)
        return power - found

    ends = log(1e-12), log(0.999 * sides / 2)
    if lacking(ends[1]) > 0:
        return 1.0
    return exp(float(brentq(lacking, *ends, xtol=1e-9))) if lacking(ends[0]) > 0 else exp(ends[0])


def detectable_auc(  # noqa: PLR0913  (each is something that one knows or wants)
    *,
    power: float,
    positives: float,
    negatives: float,
    null: float = 0.5,
    alpha: float = 0.05,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> float:
    """Smallest AUC above `null` that so many rows would show with that power.

    >>> options = {"power": 0.95, "positives": 41, "negatives": 72}
    >>> round(detectable_auc(**options, method="obuchowski"), 4)  # pROC: power.roc.test
    0.6961
    """
    from scipy.optimize import brentq

    check_inside("null", null, "0.5")
    checked_power(power, alpha)
    test: dict[str, Any] = {"null": null, "alpha": alpha, "sides": sides, "spread_ratio": spread_ratio}

    def lacking(auc: float) -> float:
        return power - power_of_auc(auc, positives=positives, negatives=negatives, method=method, **test)

    tried = np.linspace(null, 1, 1001 if method == "obuchowski" else 41)[1:-1].tolist()
    enough = next((place for place, auc in enumerate(tried) if lacking(auc) <= 0), None)
    if enough is None:
        raise OptionError(
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
        raise OptionError(f"both AUCs are {pair.first}; no number of rows would show a difference.")
    varying = [each.per_row(prevalence) for each in pair.varying(standard)]
    if min(varying) <= 0:
        raise OptionError(
            "the difference of these two AUCs does not vary, so no size can be told; take a larger pilot."
        )
    rows = rows_needed(pair.difference, *varying, z=z_of(alpha, sides), power=checked_power(power, alpha))
    how = f"normal test of the difference of two AUCs, {told_sides(sides)}"
    found = _answer(rows, pair.difference, varying, prevalence, z=z_of(alpha, sides), how=how)
    return found if pair.paired else replace(found, samples=2)


def _answer(rows: float, difference: float, varying: list[float], prevalence: float, *, z: float, how: str) -> Size:
    many = max(ceil(rows), least_rows(prevalence))
    reached = normal_power(difference, *(each / many for each in varying), z=z)
    return sized(many, prevalence, power=reached, how=how)


def _by_formula(method: Method, spread_ratio: float) -> bool:
    """Whether Obuchowski's formula is wanted, which knows classes of one spread alone."""
    check_ratio(spread_ratio)
    if method not in get_args(Method):
        raise OptionError(f"method is {method!r}; there are 'interval', 'obuchowski'.")
    if method == "obuchowski" and spread_ratio != 1:
        raise OptionError("Obuchowski's formula takes both classes to be equally spread; leave spread_ratio= out.")
    return method == "obuchowski"


def _assumed(spread_ratio: float, sides: Sides) -> str:
    return f"{told_sides(sides)}, normal scores with a spread ratio of {spread_ratio:g}"


def _check_one(expect: float, null: float) -> None:
    check_inside("expect", expect, "0.8")
    check_inside("null", null, "0.5")
    if expect == null:
        raise OptionError(f"expect and null are both {null}; no number of rows would show a difference.")
