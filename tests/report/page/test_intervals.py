"""Exact intervals on the page equal those of SciPy, and are right where SciPy's are rounded."""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import comb

import numpy as np

from baserate.infer._binomial import clopper_pearson, wilson
from tests.report.page.models import CONFIDENCE
from tests.report.page.node import Page


def hits_and_misses() -> list[tuple[float, float]]:
    """Return pairs of hits and misses: few of one, and up to a million of the other."""
    rng = np.random.default_rng(7)
    few = [*range(14), *rng.uniform(0.01, 13, 25)]
    many = [0, 0.4, 1, 2, 7.7, 13, 100, 1234.5, 1e5, 1e6]
    return [pair for one in few for other in many for pair in ((float(one), float(other)), (float(other), float(one)))]


def test_exact_intervals_equal_those_of_scipy() -> None:
    page = Page("intervals.js")
    for hits, misses in hits_and_misses():
        for level in (0.5, 0.9, 0.95, 0.999):
            low, high = clopper_pearson(hits, misses, level)
            page.expect({"low": low, "high": high}, "clopperPearson", hits, misses, level)
        if hits + misses:
            low, high = wilson(hits, misses, 0.95)
            page.expect({"low": low, "high": high}, "wilson", hits, misses, CONFIDENCE[1])
    page.check()


def binomial_cdf(rate: Decimal, hits: int, misses: int) -> Decimal:
    """Return the probability of at most this many hits, exactly."""
    trials = hits + misses
    return sum((comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(hits + 1)), Decimal(0))


def test_exact_bounds_have_all_their_digits() -> None:
    page = Page("intervals.js")
    wanted = [(hits, misses) for hits in (0, 1, 4, 12) for misses in (1, 30, 10**6)]
    for hits, misses in wanted:
        page.ask("clopperPearson", hits, misses, 0.95)
    for (hits, misses), result in zip(wanted, page.answers(), strict=True):
        with localcontext(prec=50):
            high = Decimal(result["high"])
            # The chance falls so steeply that a change in the thirteenth digit moves it beyond the tail.
            chances = [binomial_cdf(high * (1 + Decimal(sign) * Decimal("1e-13")), hits, misses) for sign in (-1, 1)]
            assert chances[0] > Decimal(1 - 0.95) / 2 > chances[1], (hits, misses)
