"""How far groups that are alike would lie apart, by chance alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate._domains import check_memory
from baserate._estimate import Estimate
from baserate.infer import Share, reweighed, share, two_sided
from baserate.measure import Measure, about

PERMUTED = "groups dealt anew among the rows that the rate is of"
WEIGHTED = "simulated weighted rows with common rates, as many as the effective size of each group"
NORMAL = "normal draws about a common value, with the standard error of each group's interval"
HIGH = 0.95
"""What is above this share of gaps between groups that are alike is more than chance."""
_CELLS = ("tp", "fp", "fn", "tn")
_TIED = 1e-12
_LARGEST = 10**9
"""Rows that NumPy deals."""


class Noise(NamedTuple):
    """Gaps between groups that are alike, how they were drawn, and why they were not."""

    gaps: Floats | None
    how: str | None
    why: str | None = None

    @property
    def floor(self) -> float | None:
        """Their mean."""
        return None if self.gaps is None else float(self.gaps.mean())

    @property
    def floor_high(self) -> float | None:
        """Bound that only one in twenty exceeds."""
        return None if self.gaps is None else float(np.quantile(self.gaps, HIGH, method="higher"))

    def p(self, seen: float) -> float | None:
        """Share of gaps that are as great as the one that was seen, which is counted among them [@davison1997]."""
        if self.gaps is None:
            return None
        return float((1 + self._reached(seen)) / (1 + len(self.gaps)))

    def is_bound(self, seen: float) -> bool | None:
        """Whether no gap is as great: p is then the smallest that so many permutations can show."""
        return None if self.gaps is None else self._reached(seen) == 0

    def _reached(self, seen: float) -> int:
        return 0 if self.gaps is None else int(np.count_nonzero(self.gaps >= seen - _TIED))


def noise(
    measure: Measure, nouns: Sequence[Any], estimates: Sequence[Estimate], *, draws: int, rng: np.random.Generator
) -> Noise:
    """Draw the greatest difference between groups that are alike, each as large as it is.

    Of a share of counted rows, the hits of all groups are dealt among their trials, each group keeping as many as it
    has: that is to permute the groups among the rows that the rate is of. Of other confusion matrices of weighted rows,
    see `_weighted`. Otherwise each group's value is drawn from a normal distribution with the standard error that its
    interval implies. Groups are sorted by their numbers first, so that it does not matter in which order they come.
    """
    shares = _counted(measure, nouns)
    if shares is not None:
        order = sorted((round(each.trials), round(each.hits)) for each in shares)
        trials, hits = np.array(order, dtype=np.int64).T
        check_memory(f"dealing {draws} times among {len(trials)} groups", 2.0 * draws * len(trials), "Give fewer draws")
        dealt = rng.multivariate_hypergeometric(trials, int(hits.sum()), size=draws)
        return Noise(np.ptp(dealt / trials, axis=1), PERMUTED)
    if _has_weights(measure, nouns):
        return Noise(np.ptp(_weighted(measure, nouns, draws, rng), axis=1), WEIGHTED)
    levels = [each.level or np.nan for each in estimates]
    errors = np.sort([(each.high - each.low) / 2 for each in estimates]) / two_sided(levels[0])
    if not np.isfinite(errors).all():
        return Noise(None, None, "the interval of a group is undefined, so what chance would do is unknown")
    check_memory(f"drawing {draws} times for {len(errors)} groups", 2.0 * draws * len(errors), "Give fewer draws")
    return Noise(np.ptp(rng.standard_normal((draws, len(errors))) * errors, axis=1), NORMAL)


def stream(seed: np.random.Generator, name: str) -> np.random.Generator:
    """Randomness of a measure's own: it does not matter what else is measured, nor in which order."""
    root = seed.bit_generator.seed_seq
    assert isinstance(root, np.random.SeedSequence)  # noqa: S101  (for the type checker)
    key = (*root.spawn_key, *name.encode())
    return np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=key))


def greatest(several: Sequence[Noise]) -> Noise:
    """Noise of the greatest of several gaps, whose rows are dealt independently."""
    unknown = [each for each in several if each.gaps is None]
    if unknown:
        return unknown[0]
    gaps = np.max([each.gaps for each in several if each.gaps is not None], axis=0)
    return Noise(gaps, "; ".join(dict.fromkeys(each.how for each in several if each.how)))


def _has_weights(measure: Measure, nouns: Sequence[Any]) -> bool:
    """Whether a bounded measure is of confusion matrices of weighted rows, whose shares of classes are not known."""
    told = about(measure)
    bounded = told.of is Counts and isfinite(told.span[1] - told.span[0])
    return bounded and any(noun.moments for noun in nouns) and not any(map(reweighed, nouns))


def _weighted(measure: Measure, nouns: Sequence[Counts[float]], draws: int, rng: np.random.Generator) -> Floats:
    r"""Deviations of each group's value from what it would be if the groups had the same rates.

    Masses of cells are gamma variables, whose means are those of the group with common rates and whose variances are
    sums of squared weights, :math:`\sum_g w^2` times the share of a cell in it over all groups. So each group has its
    own effective size [@kish1965], but the variance of a row is that of all groups: that of one group alone is too
    unsure. Rows permuted with their weights would hold only if weights varied alike in all groups: where those of a
    small group varied more, they rejected 9 to 18 of a hundred true hypotheses at 5%.
    """
    mass, squares = _tables(nouns)
    check_memory(f"drawing {draws} times for {len(mass)} groups", 8.0 * draws * len(mass), "Give fewer draws")
    mean, drawn, effective = np.zeros_like(mass), np.zeros((draws, *mass.shape)), 0.0
    for cells in _strata(measure):
        mean[:, cells], drawn[:, :, cells] = _masses(mass[:, cells], squares[:, cells], draws, rng)
        effective += float(np.nansum(ratio(mass[:, cells].sum(axis=1) ** 2, squares[:, cells].sum(axis=1))))
    expected, values = (np.asarray(measure(Counts(*np.moveaxis(each, -1, 0)))) for each in (mean, drawn))
    # How much a row varies was estimated, from as many rows as are effective.
    degrees = max(effective - len(mass), 1.0)
    widening = np.sqrt(degrees / rng.chisquare(degrees, (draws, 1)))
    # A group of which nothing is left has no value.
    return np.asarray(np.nan_to_num(values - expected) * widening)


def _tables(nouns: Sequence[Counts[float]]) -> tuple[Floats, Floats]:
    """Masses and squared weights of the cells of each group, sorted, so that the order of groups does not matter."""
    rows = sorted([float(getattr(each, cell)) for each in (noun, noun.squares) for cell in _CELLS] for noun in nouns)
    table = np.array(rows)
    return table[:, : len(_CELLS)], table[:, len(_CELLS) :]


def _masses(mass: Floats, squares: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Means of the masses of some cells at common rates, and random masses about them."""
    whole, all_squares = mass.sum(axis=1, keepdims=True), squares.sum(axis=1, keepdims=True)
    # In units of the usual weight of a group, so that the scale of its weights does not matter.
    usual = np.where(whole > 0, ratio(all_squares, whole), 1.0)
    mean = whole * _common(mass / usual)
    variance = all_squares * _common(squares / usual**2)
    scale = np.where(variance > 0, ratio(variance, mean), 1.0)
    return mean, rng.standard_gamma(mean / scale, (draws, *mass.shape)) * scale


def _common(parts: Floats) -> Floats:
    """Shares of cells in all groups together; equal ones where there is nothing."""
    sums = parts.sum(axis=0)
    return sums / sums.sum() if sums.sum() > 0 else np.full(len(sums), 1 / len(sums))


def _strata(measure: Measure) -> list[list[int]]:
    """Cells among which groups are alike: hits and misses of a share, otherwise those of each class."""
    names = about(measure).share
    if names is None:
        return [[_CELLS.index("tp"), _CELLS.index("fn")], [_CELLS.index("fp"), _CELLS.index("tn")]]
    return [[_CELLS.index(name) for each in names for name in each]]


def _counted(measure: Measure, nouns: Sequence[Any]) -> list[Share[float]] | None:
    """Hits and misses of counted rows; None where there are weights, parts of rows, or no share at all."""
    told = about(measure)
    if told.of is not Counts or told.share is None or any(noun.moments or reweighed(noun) for noun in nouns):
        return None
    found = [share(measure, noun) for noun in nouns]
    parts = any(not float(cell).is_integer() for each in found for cell in each)
    return None if parts or sum(each.trials for each in found) >= _LARGEST else found
