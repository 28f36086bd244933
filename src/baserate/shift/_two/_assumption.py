"""Is it label shift at all? What scores can tell of that, and what they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, nan, sqrt
from typing import NoReturn

from baserate._errors import UsageError
from baserate._numbers import format_p_phrase
from baserate._numeric.two_samples import fitted, free
from baserate._plurals import there_are
from baserate.infer import Check
from baserate.shift._two._bins import sorted_into
from baserate.shift._two._given import Given
from baserate.shift._two._likelihood import mlls, moved_by_target
from baserate.shift._two._moments import line, moved, pacc, scores

_LEAST = 5e-324
"""No p is 0, however far out."""
_ALIKE = 0.02
"""Share of the variance of either estimate below which their difference is no more than rounding and small samples."""
_SIZE = 0.05

_FIT = "goodness_of_fit"
HAUSMAN = "mlls_less_pacc"
_FITS = "The target's scores could be a mixture of those of the two classes ({p}): nothing speaks against label shift."
_MISFITS = (
    "The target's scores are no mixture of those of the two classes ({p}): it is not label shift alone, and "
    "whatever rests on it is in doubt."
)
_AGREE = "Two estimates that label shift would make agree do so ({p})."
_DISAGREE = (
    "Two estimates that label shift would make agree do not ({p}): either it is not label shift alone, or the "
    "recalibration does not fit."
)
UNTESTED = (
    "Not tested, since scores alone cannot tell: whether the classes score otherwise than they did in a way that looks "
    "like another prevalence. A small random sample of the target with its truth would."
)


@dataclass(frozen=True, slots=True)
class Assumption:
    """Tests of label shift, and in words what was and was not tested."""

    checks: tuple[Check, ...]
    told: tuple[str, ...]

    def __bool__(self) -> NoReturn:
        # True of every object, it would read as "yes": assert would pass whatever was found.
        raise UsageError("an Assumption is neither true nor false; ask whether a test rejects it: assumption.doubtful.")

    @property
    def doubtful(self) -> bool:
        """Whether a test rejects at 5 %."""
        return any(check.p < _SIZE for check in self.checks)


def assumption(given: Given, *, bins: int | Sequence[float] | None = None) -> Assumption:
    """Make both tests."""
    return told((goodness_of_fit(given, bins=bins), hausman(given)))


def told(checks: tuple[Check, ...]) -> Assumption:
    """Say in words what was and was not tested."""
    words = {_FIT: (_FITS, _MISFITS), HAUSMAN: (_AGREE, _DISAGREE)}
    lines = [
        f"Not tested by {check.name}: {check.why}."
        if check.why
        else words[check.name][check.p < _SIZE].format(p=format_p_phrase(check.p, digits=3))
        for check in checks
    ]
    return Assumption(checks, (*lines, UNTESTED))


def goodness_of_fit(given: Given, *, bins: int | Sequence[float] | None = None) -> Check:
    r"""Whether the target's histogram is a mixture of those of the classes: a likelihood ratio.

    :math:`G=2(\ln L_{free}-\ln L_{mixture})` is a χ² variable with B − 2 degrees of freedom in B bins. It does not
    reject when only the prevalence has changed, as tests that compare the scores of two samples do.
    """
    how = "likelihood ratio, χ²"
    seen = sorted_into(given, bins).seen
    many = len(seen.first)
    if many < 3:
        return Check(
            _FIT, nan, nan, how, why=f"{there_are(many, 'bin that holds', 'bins that hold')} anything, and it takes 3"
        )
    from scipy.special import gammaincc

    statistic = max(2 * (free(seen) - fitted(seen).height), 0.0)
    return Check(_FIT, statistic, max(float(gammaincc((many - 2) / 2, statistic / 2)), _LEAST), how, many - 2)


def hausman(given: Given) -> Check:
    """Whether maximum likelihood and the mean score agree, as far as they should [@hausman1978].

    Both are right under label shift, and react differently to most else. Where the prevalence is nearly that of
    validation, both are all but the same, and it tells nothing.
    """
    how = "normal, two-sided"
    efficient, simple, target = mlls(given), pacc(given), given.target
    if efficient.value in (0.0, 1.0) or target.labelled is not None:
        why = (
            "the estimate is at an end of [0, 1]" if target.labelled is None else "rows with truth enter both estimates"
        )
        return Check(HAUSMAN, nan, nan, how, why=why)
    found = line(given, scores)
    differing = efficient.moved - moved(given, scores, found, simple.unclipped)
    by_target = moved_by_target(given, efficient) - (scores(target.score) - found.target) / (found.gap * target.total)
    squares = 1.0 if target.squares is None else target.squares
    variance = float((given.validation.squares * differing**2).sum() + (squares * by_target**2).sum())
    if variance < _ALIKE * min(efficient.variance, simple.variance):
        return Check(HAUSMAN, nan, nan, how, why="the prevalence is so near to that of validation that both must agree")
    z = (efficient.value - simple.unclipped) / sqrt(variance)
    return Check(HAUSMAN, z, max(erfc(abs(z) / sqrt(2)), _LEAST), how)
