"""Fitted numbers, and how sure they are."""

from math import isfinite, sqrt

from baserate._calibrator import Parameter

LEVEL = 0.95
WIDE = 1.959963984540054
"""Standard errors on either side of a number within which its interval at that level lies."""


def parameter(name: str, value: float, variance: float | None) -> Parameter:
    """A fitted number with its Wald interval; without one where it does not vary, or nobody knows how much.

    >>> parameter("slope", 2.0, 0.25)
    Parameter(name='slope', value=2.0, standard_error=0.5, low=1.020018007729973, high=2.979981992270027, level=0.95)
    """
    if variance is None or not isfinite(variance) or variance < 0:
        return Parameter(name, float(value))
    error = sqrt(variance)
    return Parameter(name, float(value), error, float(value - WIDE * error), float(value + WIDE * error), LEVEL)


def with_temperature(slope: Parameter) -> tuple[Parameter, ...]:
    """A slope and the temperature 1/b that belongs to it, with its error by the delta method.

    The bounds are those of the slope, seen from the other side; there is no upper one where the slope may be 0.
    """
    if slope.value <= 0 or slope.standard_error is None or slope.low is None or slope.high is None:
        return (slope,)
    error, high = slope.standard_error / slope.value**2, 1 / slope.low if slope.low > 0 else None
    return slope, Parameter("temperature", 1 / slope.value, error, 1 / slope.high, high, slope.level)
