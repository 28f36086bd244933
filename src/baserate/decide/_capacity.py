"""Rules for who can only look at so many: one cut-off for a capacity, several for bands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate._tally import Tally
from baserate.decide._cost import merged
from baserate.decide._rule import EQUAL, Gains, rule, steepest, threshold_at

_NAMES = {2: ("low", "high"), 3: ("low", "medium", "high")}


def _shared(curve: Curve, cut: Cut, at_most: float | None = None, share: float | None = None) -> Iterator[str]:
    """Say how many tie at the edge, if capacity is left over for their sake."""
    limit = _limit(curve.tally, at_most, share)
    flagged = cut.counts(curve).flagged
    left = limit - flagged
    if left > EQUAL * limit and flagged < curve.total:
        below = int(np.searchsorted(-curve.tally.score, -cut.threshold, side="right"))
        tied = float(curve.tally.mass[:, below].sum())
        if tied > 1:
            yield f"{flagged:g} of at most {limit:g} are flagged: the next {tied:g} share one score."


@rule(notes=_shared)
def capacity(curve: Curve, *, at_most: float | None = None, share: float | None = None) -> Cut:
    """Flag as many as can be looked at: at most so many of these rows, or at most a share of everybody.

    Rows of one score are flagged together or not at all, so that there may be fewer.

    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.capacity(c, at_most=2).threshold, decide.capacity(c, share=0.5).threshold
    (0.8, 0.7)
    """
    if (at_most is None) == (share is None):
        raise OptionError("give a capacity either as at_most=, in rows, or as share=, of everybody.")
    return Cut((_laxest(curve, _limit(curve.tally, at_most, share)),))


def _limit(tally: Tally, at_most: float | None, share: float | None) -> float:
    if share is not None:
        if not 0 <= share <= 1:
            raise OptionError(f"share is {share}; give a number from 0 to 1, such as 0.1 for the top tenth.")
        return share * tally.total
    assert at_most is not None  # noqa: S101  (for the type checker)
    if not at_most >= 0:
        raise OptionError(f"at_most is {at_most}; give how many can be flagged, 0 or more.")
    if tally.reweighed:
        raise OptionError("at another prevalence rows are no longer counted; give the capacity as share=.")
    return at_most


def _laxest(curve: Curve, limit: float) -> float:
    """Laxest threshold that flags no more than that; the strictest of those that flag the same."""
    flagged = curve.flagged_mass.sum(axis=0)
    within = int(np.searchsorted(flagged, limit * (1 + EQUAL), side="right")) - 1
    return threshold_at(curve, int(np.searchsorted(flagged, flagged[within], side="left")))


def _narrower(_curve: Curve, cut: Cut, **given: Any) -> Iterator[str]:  # noqa: ANN401
    edges = next(given[name] for name in ("thresholds", "shares", "risks") if name in given)
    if len(cut.thresholds) < len(edges):
        yield (
            f"{count_of(len(edges), 'edge makes', 'edges make')} only "
            f"{count_of(len(cut.actions), 'band')} here: some would hold nobody."
        )


@rule(notes=_narrower, looks=lambda **given: "thresholds" not in given)
def bands(
    curve: Curve,
    *,
    thresholds: Sequence[float] | None = None,
    shares: Sequence[float] | None = None,
    risks: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> Cut:
    """Cut scores into bands: at given thresholds, by how many each upper band may hold, or by risk.

    `shares` are of everybody, highest band first: (0.1, 0.2) is the top tenth, the next fifth, and the rest. `risks`
    ascend: a band begins where the share of positives, made monotone over the scores, reaches them; in terms of costs,
    where it pays to flag if a false alarm costs r and a miss 1 − r. `names` are lowest first.

    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.bands(c, shares=(0.2, 0.5)).cut
    Cut(thresholds=(0.6, 0.9), actions=('low', 'medium', 'high'))
    >>> decide.bands(c, risks=(0.4, 0.9), names=("wait", "test", "treat")).cut
    Cut(thresholds=(0.6, 0.8), actions=('wait', 'test', 'treat'))
    """
    given = [each for each in (thresholds, shares, risks) if each is not None]
    if len(given) != 1 or not len(given[0]):
        raise OptionError("give the edges of bands in one way: thresholds=, shares= or risks=.")
    edges = [float(each) for each in given[0]]
    called = _called(len(edges) + 1, names)
    if thresholds is not None:
        return Cut(tuple(edges), called)
    at = _by_share(curve, edges) if shares is not None else _by_risk(curve, edges)
    return merged(called[0], list(zip(at, called[1:], strict=True)))


def _called(many: int, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return _NAMES.get(many) or tuple(f"band {place + 1}" for place in range(many))
    if len(names) != many or len(set(names)) != many:
        raise OptionError(f"names are {list(names)}; give {many} different ones, lowest band first.")
    return tuple(names)


def _by_share(curve: Curve, shares: Sequence[float]) -> list[float]:
    upto = np.cumsum(shares)
    if min(shares) < 0 or upto[-1] > 1 + EQUAL:
        raise OptionError(f"shares are {list(shares)}; give shares of everybody that are at most 1 together.")
    return [_laxest(curve, min(float(each), 1.0) * curve.total) for each in upto[::-1]]


def _by_risk(curve: Curve, risks: Sequence[float]) -> list[float]:
    if any(not 0 < each < 1 for each in risks) or sorted(set(risks)) != list(risks):
        raise OptionError(f"risks are {list(risks)}; give ascending shares between 0 and 1, such as (0.05, 0.2).")
    return [steepest(curve, Gains(1 - each, each)) for each in risks]
