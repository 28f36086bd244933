r"""Power of normal tests.

A test at level α that compares a difference Δ with its standard error has power
:math:`Φ\big((|Δ|-z_α\sqrt{V_0})/\sqrt{V_A}\big)`, where V₀ is the variance if there were no difference and V_A the
variance if there is; V falls as 1/rows, so the rows needed are :math:`((z_α\sqrt{v_0}+z_β\sqrt{v_A})/Δ)^2`. Of a
two-sided test z is that of α/2, and the chance to reject on the wrong side is not counted.
"""

from __future__ import annotations

from math import sqrt
from typing import Literal

from baserate._errors import OptionError
from baserate.infer._sizing._size import check_inside

Sides = Literal[1, 2]


def z_of(alpha: float, sides: Sides) -> float:
    """How many standard errors a test at that level asks for."""
    from scipy.special import ndtri

    check_inside("alpha", alpha, "0.05")
    told_sides(sides)
    return -float(ndtri(alpha / sides))


def told_sides(sides: Sides) -> str:
    """In words how many sides a test has; anything but 1 and 2 is refused."""
    if sides not in (1, 2):
        raise OptionError(f"sides is {sides!r}; a test has 1 or 2.")
    return "one-sided" if sides == 1 else "two-sided"


def checked_power(power: float, alpha: float) -> float:
    """Refuse a power that no rows are needed for."""
    check_inside("power", power, "0.9")
    if power <= alpha:
        raise OptionError(f"a power of {power} is had for nothing at alpha={alpha}; ask for more, for example 0.9.")
    return power


def normal_power(difference: float, zero: float, real: float, *, z: float) -> float:
    """Chance that a normal test shows a difference with those variances."""
    from scipy.special import ndtr

    margin = abs(difference) - z * sqrt(zero)
    return float(ndtr(margin / sqrt(real))) if real > 0 else float(margin > 0)


def rows_needed(difference: float, zero: float, real: float, *, z: float, power: float) -> float:
    """Rows, fractions included, when variances are those of a single row."""
    from scipy.special import ndtri

    return max((z * sqrt(zero) + float(ndtri(power)) * sqrt(real)) / abs(difference), 0.0) ** 2
