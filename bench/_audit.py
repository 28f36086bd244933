"""Types of the coverage audit: scenarios, what one replicate reports, and how outcomes are summarized.

A scenario draws one data set per replicate and returns one outcome per quantity. Files named `audit_*.py` hold the
scenarios of one subject in a tuple `SCENARIOS`; `python -m bench.coverage_audit` runs them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

COVERAGE = 0.93
"""Coverage that intervals with a nominal level of 95% must reach."""
TYPE_I = 0.065
"""Type-I error that tests at a nominal level of 5% may have."""
WIDTH = 1.3
"""Greatest width of an interval, as a multiple of the narrowest method that covers."""


class Bounds(NamedTuple):
    """A 95% confidence interval, and the true value that it should contain."""

    low: float
    high: float
    truth: float


class Rejection(NamedTuple):
    """Whether a true null hypothesis was rejected, or an unmet requirement was reported as met."""

    rejected: bool
    limit: float = TYPE_I


class Power(NamedTuple):
    """Whether a planned study of the planned size reached its goal; `planned` is how often it should."""

    reached: bool
    planned: float


class Correction(NamedTuple):
    """An estimated bias and the actual bias of the sample; `limit` bounds the share of the bias that remains."""

    estimated: float
    actual: float
    limit: float = 0.1


class HalfWidth(NamedTuple):
    """Half of the width of an interval in a study of the planned size; its mean should be the planned one."""

    reached: float
    planned: float


class Refusal(NamedTuple):
    """No interval, with a stated reason."""

    reason: str


Outcome = Bounds | Rejection | Power | Correction | HalfWidth | Refusal
Replicate = Callable[[np.random.Generator], Mapping[str, Outcome]]


class Scenario(NamedTuple):
    """A distribution of data, and the quantities that are computed from each data set.

    Quantities are the keys of the result of `replicate`: "AUC" is our default method, "AUC: Wilson" is another method
    for the same quantity, whose width the default is compared with.

    The name is the seed of the scenario: a renamed scenario has other random numbers.
    """

    name: str
    replicate: Replicate
    share: float = 1.0
    """Share of the usual number of replicates, for scenarios that take long."""


class Summary(NamedTuple):
    """Outcomes of all replicates of one quantity in one scenario."""

    scenario: str
    quantity: str
    kind: str
    value: float
    """Coverage, error rate, power, share of the bias removed, or ratio of widths."""
    error: float
    """Monte-Carlo standard error of the value."""
    target: float
    width: float
    """Median width of intervals, NaN for other outcomes."""
    replicates: int
    refused: int
    reasons: tuple[str, ...]

    @property
    def meets_target(self) -> bool:
        """Whether the value meets the target."""
        return self._meets(0.0)

    @property
    def passes(self) -> bool:
        """Whether the value meets the target, or misses it by at most two Monte-Carlo errors."""
        return self._meets(2 * self.error)

    def _meets(self, tolerance: float) -> bool:
        if not self.replicates:
            return True  # refused everywhere, with a reason
        if self.kind in ("error rate", "planned width"):
            return self.value <= self.target + tolerance
        value = self.value
        if self.kind == "bias removed":  # a correction that is too large leaves a bias, too
            value = min(value, 2 - value)
        return value >= self.target - tolerance


def summarize(scenario: str, quantity: str, outcomes: Sequence[Outcome]) -> Summary:
    """Summarize the outcomes of one quantity, all of one type but for refusals."""
    refusals = [each.reason for each in outcomes if isinstance(each, Refusal)]
    values = [each for each in outcomes if not isinstance(each, Refusal)]
    kind, value, error, target, width = (
        _KINDS[type(values[0])](values) if values else ("coverage", nan, nan, COVERAGE, nan)
    )
    reasons = tuple(sorted(set(refusals)))[:3]
    return Summary(scenario, quantity, kind, value, error, target, width, len(values), len(refusals), reasons)


_Statistics = tuple[str, float, float, float, float]
"""Kind, value, its Monte-Carlo error, target and median width: fields of `Summary`."""


def _summarize_coverage(outcomes: Sequence[Bounds]) -> _Statistics:
    low, high, truth = np.array(outcomes, dtype=np.float64).T
    share = float(np.mean((low <= truth) & (truth <= high)))
    return "coverage", share, _binomial_error(share, len(outcomes)), COVERAGE, float(np.median(high - low))


def _summarize_rejections(outcomes: Sequence[Rejection]) -> _Statistics:
    share = float(np.mean([each.rejected for each in outcomes]))
    return "error rate", share, _binomial_error(share, len(outcomes)), outcomes[0].limit, nan


def _summarize_power(outcomes: Sequence[Power]) -> _Statistics:
    share = float(np.mean([each.reached for each in outcomes]))
    return "power", share, _binomial_error(share, len(outcomes)), outcomes[0].planned, nan


def _summarize_corrections(outcomes: Sequence[Correction]) -> _Statistics:
    estimated, actual = np.array([(each.estimated, each.actual) for each in outcomes]).T
    # A ratio of means, since the bias of a single sample may be 0 or negative; its error by linearization.
    share = float(estimated.mean() / actual.mean())
    residual = estimated - share * actual
    error = float(residual.std(ddof=1) / sqrt(len(outcomes)) / abs(actual.mean()))
    return "bias removed", share, error, 1 - outcomes[0].limit, nan


def _summarize_widths(outcomes: Sequence[HalfWidth]) -> _Statistics:
    reached = np.array([each.reached for each in outcomes])
    ratio = float(reached.mean() / outcomes[0].planned)
    return "planned width", ratio, float(reached.std() / sqrt(len(reached)) / outcomes[0].planned), 1.05, nan


def _binomial_error(share: float, n: int) -> float:
    # The floor keeps the error positive where every replicate agrees.
    return sqrt(max(share * (1 - share), 0.25 / n) / n)


_KINDS: Mapping[type, Callable[..., _Statistics]] = {
    Bounds: _summarize_coverage,
    Rejection: _summarize_rejections,
    Power: _summarize_power,
    Correction: _summarize_corrections,
    HalfWidth: _summarize_widths,
}
