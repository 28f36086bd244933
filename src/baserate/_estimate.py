"""Estimate: a number, how sure we are of it, and why it is missing if it is."""

from dataclasses import dataclass
from math import isnan, nan

from baserate._errors import OptionError


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval.

    `low` and `high` bound the value at confidence `level`, by the method named in `how`. `why` says why a value
    (then NaN) or its interval (then NaN bounds) is undefined. `least` and `most` bound what the value could be
    when scores were rounded into buckets; on exact data they are None.

    >>> Estimate(0.8, low=0.7, high=0.9, level=0.95, how="Wilson")
    Estimate(value=0.8, low=0.7, high=0.9, level=0.95, how='Wilson', why=None, least=None, most=None)
    """

    value: float
    low: float = nan
    high: float = nan
    level: float | None = None
    how: str | None = None
    why: str | None = None
    least: float | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        if self.level is not None and not 0 < self.level < 1:
            raise OptionError(
                f"level is {self.level}; a confidence level lies between 0 and 1, for example 0.95.",
                option="level",
                value=self.level,
            )
        if self.low > self.high:
            raise OptionError(f"low is {self.low} and high {self.high}; swap them.", option="low", value=self.low)
        if isnan(self.value) and self.why is None:
            raise OptionError("the value is NaN without a reason", remedy="say in `why` what is missing.")
