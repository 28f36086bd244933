"""Numbers of single precision (float32), and what their decimal digits are read as in double precision.

A text file holds the fewest digits that tell a float32 from its neighbors: 0.1, which is 0.10000000149011612 as a
float32. Read as a double, the digits are another number, a little above or below; some programs write more digits.
"""

from decimal import ROUND_FLOOR, Context, Decimal

import numpy as np

from baserate._arrays import Floats

_HEAD = 64
"""Numbers that are looked at first: doubles are hardly ever of single precision all."""
_DIGITS = 9
"""As many tell any two float32 apart."""


def is_single_precision(values: Floats) -> bool:
    """Whether all numbers are float32, whatever type holds them.

    >>> is_single_precision(np.array([0.5, float(np.float32(0.1))])), is_single_precision(np.array([0.5, 0.1]))
    (True, False)
    """
    with np.errstate(over="ignore"):
        return all(bool((part.astype(np.float32) == part).all()) for part in (values[:_HEAD], values))


def decimal_threshold(value: float) -> float:
    """Return a short decimal that a float32 reaches however it is written, and that no lesser float32 reaches.

    It is the number that the shortest digits are read as, if that is not above the float32. Otherwise it is the
    shortest decimal below that is nearer to this float32 than to others. So it is reached by the float32 itself, by
    its shortest digits, and by any nine digits or more that it is rounded to. Digits of a lesser float32 are nearer to
    that one, and so are less.

    >>> decimal_threshold(float(np.float32(0.1))), float(np.float32(0.1))
    (0.1, 0.10000000149011612)
    >>> decimal_threshold(float(np.float32(0.7))), float(np.float32(0.7))
    (0.69999998, 0.699999988079071)
    """
    single = np.float32(value)
    shortest = float(str(single))
    if shortest <= value:
        return shortest
    exact = Decimal(value)
    for digits in range(1, _DIGITS + 1):
        decimal = float(Context(prec=digits, rounding=ROUND_FLOOR).plus(exact))
        with np.errstate(over="ignore"):
            if decimal <= value and np.float32(decimal) == single:
                return decimal
    return value


def separate_precisions(thresholds: Floats, score: Floats) -> Floats:
    """Lower thresholds among float32 scores, so that they separate these scores and their decimal digits alike.

    Thresholds that are no float32 stay, and so do all of scores that are not of single precision. The same scores reach
    a threshold as before.

    >>> separate_precisions(np.array([np.inf, np.float32(0.1), 0.2]), np.array([0.1, 0.3], dtype=np.float32)).tolist()
    [inf, 0.1, 0.2]
    """
    if not is_single_precision(score):
        return thresholds
    with np.errstate(over="ignore"):
        narrow = np.isfinite(thresholds) & (thresholds.astype(np.float32) == thresholds)
    return np.array([decimal_threshold(at) if own else at for at, own in zip(thresholds.tolist(), narrow, strict=True)])
