"""Is it label shift at all? What scores can tell of that, and what they cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, log, nan, sqrt
from typing import NoReturn

import numpy as np

from baserate._arrays import Floats
from baserate._errors import UsageError
from baserate._formatting import format_number, format_p_phrase, there_are
from baserate._numeric.two_samples import free
from baserate.infer import Check, holm
from baserate.shift._two._bins import Joint, jointly
from baserate.shift._two._fit import NAME, SIZE, curve_fit
from baserate.shift._two._given import Given
from baserate.shift._two._likelihood import Posterior
from baserate.shift._two._moments import line, moved, pacc, scores
from baserate.shift._two._result import Prevalence

_LEAST = 5e-324
"""No p is 0, however far out."""
_ALIKE = 0.02
"""Share of the variance of either estimate below which their difference is no more than rounding and small samples."""
_SIZE = 0.05
_ADJUSTED = "Holm-adjusted p"

_FIT = "goodness_of_fit"
HAUSMAN = "mlls_less_pacc"
DIFFERENCE = "binned_less_pacc"
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
_DIFFER = "Two estimates that label shift would make agree do not ({p}): it is not label shift alone."
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
    def adjusted(self) -> tuple[float, ...]:
        """Holm-adjusted p-values: if it is label shift, any of them is below 0.05 in no more than 5 % of samples."""
        return tuple(holm([check.p for check in self.checks]))

    @property
    def doubtful(self) -> bool:
        """Whether any test rejects, at 5 % for all of them together."""
        return any(p < _SIZE for p in self.adjusted)


def assumption(given: Given, *, bins: int | Sequence[float] | None = None) -> Assumption:
    """Make both tests."""
    return tested(given, *jointly(given, bins))


def tested(given: Given, found: Prevalence, joint: Joint) -> Assumption:
    """Make both tests of an estimate by `binned`."""
    return told((goodness_of_fit(joint), difference(given, found, joint)))


def told(checks: tuple[Check, ...]) -> Assumption:
    """Say in words what was and was not tested."""
    words = {_FIT: (_FITS, _MISFITS), HAUSMAN: (_AGREE, _DISAGREE), DIFFERENCE: (_AGREE, _DIFFER)}
    named = _ADJUSTED if len([check for check in checks if not check.why]) > 1 else "p"
    made = Assumption(checks, ())
    lines = [
        f"Not tested by {check.name}: {check.why}."
        if check.why
        else words[check.name][p < _SIZE].format(p=format_p_phrase(p, digits=3, name=named))
        for check, p in zip(checks, made.adjusted, strict=True)
    ]
    return Assumption(checks, (*lines, UNTESTED))


_SHORT = {
    _FIT: "no mixture of the classes",
    DIFFERENCE: "estimates disagree",
    HAUSMAN: "estimates disagree",
    NAME: "calibration does not fit",
}


def doubts(checks: Sequence[Check]) -> list[str]:
    """Say in a few words which tests reject, for a headline; those of label shift adjusted for being several."""
    apart = [[check for check in checks if (check.name == NAME) is curve] for curve in (False, True)]
    pairs = [pair for part in apart for pair in zip(part, holm([check.p for check in part]), strict=True)]
    several = len([check for check in apart[0] if not check.why]) > 1
    return [
        f"{_SHORT[check.name]} ({format_p_phrase(p, name=_ADJUSTED if several and check.name != NAME else 'p')})"
        for check, p in pairs
        if p < _SIZE
    ]


def disagreements(given: Given, found: Prevalence, tests: Assumption) -> tuple[str, ...]:
    """Say which tests reject label shift, and what another method estimates; nothing where none does."""
    lines = [line for line, p in zip(tests.told, tests.adjusted, strict=False) if p < _SIZE]
    if tests.adjusted[-1] < _SIZE:
        both = f"{found.method} gives {format_number(found.value, 3)} and pacc {format_number(pacc(given).value, 3)}"
        lines.append(f"Estimates disagree: {both}.")
    return tuple(lines)


def calibration_fit(given: Given, made: Posterior, *, fitted: bool) -> Check:
    """Test on validation whether probabilities are right; `fitted` where a logistic curve was fitted to it."""
    from scipy.special import expit

    tally = given.validation
    chance = expit(made.log_ratio(tally.score) + log(tally.positives) - log(tally.negatives))
    x = made.variable(tally.score) if fitted else None
    return curve_fit(tally, chance, None if x is None else np.stack([np.ones_like(x), x]))


def calibration_notes(check: Check) -> tuple[str, ...]:
    """Say whether probabilities fit the validation data."""
    if check.why:
        return (f"Whether probabilities fit the validation data was not tested: {check.why}.",)
    p = format_p_phrase(check.p, digits=3)
    if check.p >= SIZE:
        return (f"The probabilities that numbers rest on fit the validation data ({p}).",)
    doubt = "numbers may be biased by more than their intervals say"
    return (f"The probabilities that numbers rest on do not fit the validation data ({p}): {doubt}.",)


def beside_binned(given: Given, check: Check) -> tuple[str, ...]:
    """What `binned` estimates, which needs no calibration, where that of another method does not fit."""
    if not check.p < SIZE:
        return ()
    other = jointly(given)[0].estimate
    value, low, high = (format_number(each, 3) for each in (other.value, other.low, other.high))
    return (f"By binned, which needs no calibration, the prevalence is {value} ({low} to {high}).",)


def goodness_of_fit(joint: Joint) -> Check:
    r"""Whether the target's histogram is a mixture of those of the classes: a likelihood ratio.

    :math:`G=2(\ln L_{free}-\ln L_{mixture})` is a χ² variable with B − 2 degrees of freedom in B bins. It does not
    reject when only the prevalence has changed, as tests that compare the scores of two samples do.
    """
    how = "likelihood ratio, χ²"
    seen = joint.found.seen
    many = len(seen.first)
    if many < 3:
        return Check(
            _FIT, nan, nan, how, why=f"{there_are(many, 'bin that holds', 'bins that hold')} anything, and it takes 3"
        )
    from scipy.special import gammaincc

    statistic = max(2 * (free(seen) - joint.fit.height), 0.0)
    return Check(_FIT, statistic, max(float(gammaincc((many - 2) / 2, statistic / 2)), _LEAST), how, many - 2)


def difference(given: Given, found: Prevalence, joint: Joint) -> Check:
    """Whether the likelihood of histograms and the mean score agree, as far as they should [@hausman1978].

    Both are right under label shift, whatever the calibration, and react differently to most else.
    """
    how, simple, target = "normal, two-sided", pacc(given), given.target
    if found.value in (0.0, 1.0) or target.labelled is not None:
        why = (
            "the estimate is at an end of [0, 1]" if target.labelled is None else "rows with truth enter both estimates"
        )
        return Check(DIFFERENCE, nan, nan, how, why=why)
    means = line(given, scores)
    differing = found.moved - moved(given, scores, means, simple.unclipped)
    by_target: Floats = joint.moved_by_target(given)
    by_target -= (scores(target.score) - means.target) / (means.gap * target.total)
    squares = 1.0 if target.squares is None else target.squares
    variance = float((given.validation.squares * differing**2).sum() + (squares * by_target**2).sum())
    if variance < _ALIKE * min(found.variance, simple.variance):
        return Check(DIFFERENCE, nan, nan, how, why="both estimates weigh scores so alike that they must agree")
    z = (found.value - simple.unclipped) / sqrt(variance)
    return Check(DIFFERENCE, z, max(erfc(abs(z) / sqrt(2)), _LEAST), how)
