"""Histograms of scores: the share that makes those of the two classes add up to that of the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Reals
from baserate._errors import BadOption, CannotFit
from baserate._estimate import Estimate
from baserate._numeric.two_samples import Fit, Profile, Seen, root
from baserate._tally import Tally
from baserate.infer._binomial import two_sided
from baserate.infer._moments import widening
from baserate.measure._bins import firsts
from baserate.shift._two._given import Given, effective
from baserate.shift._two._moments import with_labels
from baserate.shift._two._result import Prevalence

_MOST, _FEWEST = 10, 3
_EACH = 16
"""Rows of the rarer class of validation for each bin, if nobody says how many: with fewer, intervals are too short."""
_GRIDS = range(10, 111, 10)
"""Numbers of bins of which HDy takes the median."""

Places = npt.NDArray[np.intp]
Place = Callable[[Reals], Places]
"""In which bin each score lies."""


class Binned(NamedTuple):
    """Counts in bins, as many as would be as sure; and the bin of each validation score."""

    seen: Seen
    places: Places


def binned(given: Given, *, bins: int | Sequence[float] | None = None) -> Prevalence:
    r"""Share and both histograms that are likeliest together.

    In bins with counts :math:`n_1,n_0` of validation and t of the target, of
    :math:`\sum n_1\ln f_1+n_0\ln f_0+t\ln(qf_1+(1-q)f_0)`. The same for scores on any scale that keeps order, without
    calibration; it loses what bins hide. The interval is that of the profile likelihood, in which both sets are
    random. `bins` are of equal mass of all rows, ten unless validation is small, or given by the edges between them.
    """
    found = sorted_into(given, bins)
    profile = Profile(found.seen)
    fit = profile.peak
    wide = two_sided(given.level) * widening(min(given.rows) - 1, given.level)
    low, high = profile.bounds(fit, wide**2 / 2)
    moved, spread = _moved(given, found, fit, joint=True)
    estimate = Estimate(fit.share, low, high, given.level, "profile likelihood, with validation")
    made = with_labels(given, Prevalence(estimate, "binned", fit.share, given.validation, moved, spread))
    # Labels are part of the likelihood already; only the variance was without them.
    return replace(made, estimate=estimate, unclipped=fit.share)


def hdy(given: Given) -> Prevalence:
    r"""Share that makes the Hellinger distance of the histograms least, :math:`\sum(\sqrt{qf_1+(1-q)f_0}-\sqrt h)^2`.

    The median of those with 10, 20, …, 110 bins of equal width, each found exactly [@gonzalez2013]. Where there are few
    validation rows for so many bins it is biased, and nobody knows how much; so its interval is that of `binned`, as
    far as it must reach to hold the estimate.
    """
    given.probabilities("hdy")
    several = [(_nearest(found.seen), found) for found in (_of_width(given, many) for many in _GRIDS)]
    share, found = sorted(several, key=lambda each: each[0])[len(several) // 2]
    fit = Fit(share, found.seen.first / found.seen.first.sum(), found.seen.second / found.seen.second.sum(), 0.0)
    moved, spread = _moved(given, found, fit, joint=False)
    sure = binned(given).estimate  # which knows of labels, too
    made = with_labels(given, Prevalence(sure, "hdy", share, given.validation, moved, spread))
    value = made.unclipped
    return replace(made, estimate=replace(sure, value=value, low=min(sure.low, value), high=max(sure.high, value)))


def sorted_into(given: Given, bins: int | Sequence[float] | None) -> Binned:
    """Sort validation and target into bins of equal mass of both, or between given edges.

    Rows of the target whose truth is known look like those of validation, and count with them.
    """
    if bins is None:
        bins = min(max(int(min(given.rows)) // _EACH, _FEWEST), _MOST)
    edges = _edges(given, bins) if isinstance(bins, int | np.integer) else _checked(bins)
    # Where validation has no rows, neither class says anything: such a bin is joined to the one below.
    seen = np.searchsorted(edges, given.validation.score, side="left")
    edges = edges[np.isin(np.arange(1, len(edges) + 1), seen) & (np.arange(len(edges)) >= seen.min())]

    def place(score: Reals) -> Places:
        return np.searchsorted(edges, score, side="left")

    labelled = given.target.labelled
    more = 0.0 if labelled is None else _classes(labelled, place, len(edges) + 1)
    return _counted(given, place, len(edges) + 1, more)


def _of_width(given: Given, many: int) -> Binned:
    def place(score: Reals) -> Places:
        # As np.histogram has them: the last bin alone holds its upper end.
        return np.minimum((np.asarray(score, dtype=np.float64) * many).astype(np.intp), many - 1)

    return _counted(given, place, many, 0.0)


def _counted(given: Given, place: Place, many: int, more: Floats | float) -> Binned:
    """Counts of bins that hold something."""
    target, places = given.target, place(given.validation.score)
    first, second = _classes(given.validation, place, many) + more
    mass = np.bincount(place(target.score), weights=target.mass, minlength=many).astype(np.float64)
    mixed = mass if target.squares is None else effective(mass, target.squares)
    there = first + second + mixed > 0
    bin_of = np.cumsum(there) - 1
    return Binned(Seen(first[there], second[there], mixed[there], given.known), bin_of[places])


def _classes(tally: Tally, place: Place, many: int) -> Floats:
    """Counts of both classes, as many as would be as sure."""
    places = place(tally.score)
    found = [
        effective(np.bincount(places, weights=mass, minlength=many), squares)
        for mass, squares in zip(tally.mass, tally.squares, strict=True)
    ]
    return np.stack(found)


def _edges(given: Given, bins: int) -> Floats:
    """Between the last score of a bin and the first of the next."""
    tally, target = given.validation, given.target
    mass = np.ones(len(target.score)) if target.mass is None else target.mass
    score = np.concatenate([tally.score, np.asarray(target.score, dtype=np.float64)])
    amount = np.concatenate([tally.positive + tally.negative, mass])
    order = np.argsort(score, kind="stable")
    distinct, start = np.unique(score[order], return_index=True)
    begins = np.unique(firsts(distinct, np.add.reduceat(amount[order], start), bins=bins, by="mass"))
    begins = begins[(begins > 0) & (begins < len(distinct))]
    found: Floats = distinct[begins - 1]
    return found


def _checked(edges: Sequence[float]) -> Floats:
    found = np.asarray(edges, dtype=np.float64)
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all() or (np.diff(found) <= 0).any():
        raise BadOption(f"bins is {list(edges)!r}; give a whole number, or the scores at which bins end, rising.")
    return found


def _nearest(seen: Seen) -> float:
    """Share of least Hellinger distance: where the slope of Σ√(mixture·h) is 0."""
    f, g, h = (each / each.sum() for each in (seen.first, seen.second, seen.mixed))
    there = h > 0
    rise, height = (f - g)[there], np.sqrt(h[there])

    def slope(q: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            part = height * rise / np.sqrt(q * f[there] + (1 - q) * g[there])
        return float(np.nan_to_num(part, nan=0.0, posinf=1e300, neginf=-1e300).sum())

    return root(slope, 0.0, 1.0)


def _moved(given: Given, found: Binned, fit: Fit, *, joint: bool) -> tuple[Floats, float]:
    r"""How much validation rows move the share, and the variance that comes from the target, in large samples.

    Both methods solve :math:`\sum_bw_b(h_b-qf_b-(1-q)g_b)=0` with weights :math:`w=(f-g)/m`; when the histograms are
    estimated jointly, m is the variance of what is compared rather than that of the mixture alone.
    """
    seen, q = found.seen, fit.share
    rows = [max(float(each.sum()), 1.0) for each in (seen.first, seen.second, seen.mixed)]
    mixture = q * fit.first + (1 - q) * fit.second
    noise = mixture / rows[2]
    if joint:
        noise = noise + q**2 * fit.first / rows[0] + (1 - q) ** 2 * fit.second / rows[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.nan_to_num((fit.first - fit.second) / noise)
    slope = float(weight @ (fit.first - fit.second))
    if slope <= 0:
        raise CannotFit("the histograms of the two classes are the same, so no prevalence can be told; give others.")
    weight /= slope
    tally = given.validation
    own = weight[found.places]
    first, second = float(weight @ fit.first), float(weight @ fit.second)
    moved = np.stack([q * (first - own) / tally.positives, (1 - q) * (second - own) / tally.negatives])
    mean = float(weight @ mixture)
    return moved, float(mixture @ (weight - mean) ** 2) / rows[2]
