"""Laws of the curve and its hull, against slow exact arithmetic."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import Curve, Tally
from baserate._numeric import cumulative
from tests.strategies import Rows, few, like, real, rows, same

Point = tuple[int, int]
both_classes = rows(min_size=2).filter(lambda data: 0 < data.truth.sum() < len(data.truth))


def points(curve: Curve) -> list[Point]:
    """(FP, TP) at each threshold."""
    true, false = curve.flagged_mass.astype(int).tolist()
    return list(zip(false, true, strict=True))


def hull_by_hand(path: list[Point]) -> list[Point]:
    """Upper hull by the monotone chain, in whole numbers."""
    hull: list[Point] = []
    for x, y in sorted(set(path)):
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (y - y0) < (x - x0) * (y1 - y0):
                break
            hull.pop()
        hull.append((x, y))
    return hull


@given(st.data())
def test_counts_flag_scores_at_or_above_the_threshold(data: st.DataObject) -> None:
    sample = data.draw(rows())
    weight = data.draw(like(sample, st.sampled_from([0.5, 1.0, 4.0])))
    curve = baserate.curve(baserate.tally(*sample, weight=weight))
    extra = data.draw(st.lists(few | real, max_size=3))
    for threshold, table in [(t, curve.at(t)) for t in [*curve.threshold, *extra, -np.inf]]:
        flagged = sample.score >= threshold
        cells = {"tp": flagged & sample.truth, "fp": flagged & ~sample.truth}
        cells |= {"fn": ~flagged & sample.truth, "tn": ~flagged & ~sample.truth}
        for cell, where in cells.items():
            assert getattr(table, cell) == weight[where].sum()
            assert getattr(table.squares, cell) == (weight[where] ** 2).sum()
            assert getattr(table.rows, cell) == where.sum()


@given(rows())
def test_a_curve_starts_with_nothing_flagged_and_ends_with_everything(data: Rows) -> None:
    curve = baserate.curve(baserate.tally(*data))
    counts = curve.counts
    assert curve.threshold[0] == np.inf
    assert (np.diff(curve.threshold) < 0).all()
    assert curve.threshold.shape == counts.shape == curve.flagged_mass[0].shape
    assert (counts[0].flagged, counts[-1].not_flagged) == (0, 0)
    assert same(curve.at(curve.threshold).tp, counts.tp)


@given(st.data())
def test_blocks_are_the_counts_piece_by_piece(data: st.DataObject) -> None:
    sample = data.draw(rows())
    weight = data.draw(st.none() | like(sample, st.floats(0.1, 8)))
    curve = baserate.curve(baserate.tally(*sample, weight=weight))
    whole = curve.counts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cumulative, "_BLOCK", 3)
        pieces = list(curve.blocks())
        area = baserate.measure.auc(curve)
    assert [place.start for place, _ in pieces[1:]] == [place.stop for place, _ in pieces[:-1]]
    for cell in ("tp", "fp", "fn", "tn"):
        together = np.concatenate([getattr(counts, cell) for _, counts in pieces])
        assert same(together, getattr(whole, cell), within=1e-12)
        assert same(together == 0, getattr(whole, cell) == 0)
    assert same(area, baserate.measure.auc(curve), within=1e-12)


@given(rows())
def test_the_hull_is_the_upper_convex_hull(data: Rows) -> None:
    curve = baserate.curve(baserate.tally(*data))
    hull = curve.hull()
    # With one class there is no area, and the hull is the one edge from end to end.
    wanted = hull_by_hand(points(curve)) if 0 < data.truth.sum() < len(data.truth) else [(0, 0), points(curve)[-1]]
    # The chain meets a vertical start at its top only; the curve begins at nothing flagged.
    assert points(hull)[points(hull)[:1] != wanted[:1] :] == wanted
    assert points(hull)[0] == (0, 0)
    assert set(hull.threshold) <= set(curve.threshold)
    assert same(hull.counts.tp, curve.at(hull.threshold).tp)
    assert hull.hull().tally.digest == hull.tally.digest


@given(both_classes)
def test_the_hull_lies_nowhere_below_and_ranks_at_least_as_well(data: Rows) -> None:
    curve = baserate.curve(baserate.tally(*data))
    hull = curve.hull()
    x, y = hull.flagged_mass[1], hull.flagged_mass[0]
    assert (np.interp(curve.flagged_mass[1], x, y) >= curve.flagged_mass[0] - 1e-9).all()
    assert baserate.measure.auc(hull) >= baserate.measure.auc(curve)


@given(st.data())
def test_a_weighted_hull_dominates_and_bends_one_way(data: st.DataObject) -> None:
    sample = data.draw(both_classes)
    weight = data.draw(like(sample, st.floats(0.1, 8)))
    curve = baserate.curve(baserate.tally(*sample, weight=weight))
    hull = curve.hull()
    positive, negative = hull.tally.positive, hull.tally.negative
    assert (positive[:-1] * negative[1:] > positive[1:] * negative[:-1]).all()
    true, false = hull.flagged_mass
    assert (np.interp(curve.flagged_mass[1], false, true) >= curve.flagged_mass[0] - 1e-9).all()
    assert hull.tally.rows.sum() == curve.tally.rows.sum()
    assert hull.tally.squares.sum() == pytest.approx(curve.tally.squares.sum())


@given(both_classes, st.floats(0, 1), st.sampled_from(["fpr", "tpr"]))
def test_a_mixture_reaches_its_rate_on_the_hull(data: Rows, wanted: float, axis: str) -> None:
    curve = baserate.curve(baserate.tally(*data))
    mixture = curve.mixture(**{axis: wanted})
    assert 0 <= mixture.chance <= 1
    assert mixture.strict > mixture.lax
    strict, lax = curve.at(mixture.strict), curve.at(mixture.lax)
    rates = {}
    for name, measure in (("fpr", baserate.measure.fpr), ("tpr", baserate.measure.sensitivity)):
        rates[name] = (1 - mixture.chance) * measure(strict) + mixture.chance * measure(lax)
    assert rates[axis] == pytest.approx(wanted)
    true, false = curve.flagged_mass / curve.flagged_mass[:, -1:]
    if axis == "fpr":  # no single threshold with as few false alarms finds more,
        assert rates["tpr"] >= true[false <= wanted].max() - 1e-9
    else:  # … nor finds as many with fewer.
        assert rates["fpr"] <= false[true >= wanted].min() + 1e-9


@given(both_classes, st.floats(0, 20) | st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf]))
def test_the_tangent_touches_the_best_point_and_the_strictest_of_equals(data: Rows, slope: float) -> None:
    curve = baserate.curve(baserate.tally(*data))
    touched = curve.tangent(slope)
    path, threshold = points(curve), curve.threshold.tolist()
    if slope == np.inf:
        assert touched == np.inf or curve.at(touched).fp == 0
        return
    positives, negatives, m = int(data.truth.sum()), int((~data.truth).sum()), Fraction(slope)
    height = [Fraction(true, positives) - m * Fraction(false, negatives) for false, true in path]
    # The hull compares slopes as floats: it may take an equal height that is laxer by the last bit, never a lower one.
    assert max(height) - height[threshold.index(touched)] <= Fraction(1, 10**12)


def test_the_tangent_takes_the_strictest_of_equals() -> None:
    curve = baserate.curve(baserate.tally([1, 0, 1, 0], [4, 3, 2, 1]))
    assert curve.hull().threshold.tolist() == [np.inf, 4, 2, 1]
    assert curve.tangent(1.0) == 4
    assert np.asarray(curve.tangent(np.array([np.inf, 2.0, 1.0, 0.99, 0.0]))).tolist() == [np.inf, 4, 4, 2, 2]


def interpolate(path: list[Point], at: Fraction, *, along: int) -> Fraction:
    """The other coordinate where the broken path reaches `at`, taking the better end of a step."""
    here = [point for point in path if point[along] == at]
    if here:
        return Fraction(max(p[1] for p in here) if along == 0 else min(p[0] for p in here))
    before, after = next((a, b) for a, b in pairwise(path) if a[along] < at < b[along])
    share = (at - before[along]) / (after[along] - before[along])
    other = 1 - along
    return before[other] + share * (after[other] - before[other])


def places(first: list[Point], second: list[Point], *, along: int) -> set[Fraction]:
    """Where either path bends or steps, and just beside: between these, straight lines cannot cross unseen."""
    bends = {point[along] for point in first + second}
    beside = {bend + side * Fraction(1, 10**6) for bend in bends for side in (-1, 0, 1)}
    return {place for place in beside if 0 <= place <= max(bends)}


def dominates_in_roc(first: list[Point], second: list[Point]) -> bool:
    falses = places(first, second, along=0)
    return all(interpolate(first, x, along=0) >= interpolate(second, x, along=0) for x in falses)


def dominates_in_pr(first: list[Point], second: list[Point]) -> bool:
    def precision(path: list[Point], true: Fraction) -> Fraction:
        return true / (true + interpolate(path, true, along=1))

    recalls = places(first, second, along=1) - {0}
    return all(precision(first, y) >= precision(second, y) for y in recalls)


@given(st.data())
def test_roc_dominance_is_pr_dominance(data: st.DataObject) -> None:
    sample = data.draw(both_classes)
    if data.draw(st.booleans()):
        other = data.draw(like(sample, few))
    else:
        # Worsened by lifting one negative: dominated more often than chance would have it.
        other = sample.score.copy()
        other[np.flatnonzero(~sample.truth)[0]] = data.draw(few)
    first, second = (points(baserate.curve(baserate.tally(sample.truth, s))) for s in (sample.score, other))
    assert dominates_in_roc(first, second) == dominates_in_pr(first, second)
    assert dominates_in_roc(second, first) == dominates_in_pr(second, first)


def test_dominance_is_detected() -> None:
    truth = np.array([1, 1, 0, 0, 1, 0])
    good, bad = (points(baserate.curve(baserate.tally(truth, s))) for s in ([6, 5, 2, 1, 4, 3], [6, 3, 5, 1, 4, 2]))
    assert dominates_in_roc(good, bad)
    assert dominates_in_pr(good, bad)
    assert not dominates_in_roc(bad, good)
    assert not dominates_in_pr(bad, good)


def test_a_curve_without_rows_has_one_threshold() -> None:
    curve = baserate.curve(Tally.sum([]))
    assert curve.threshold.tolist() == [np.inf]
    assert curve.hull().threshold.tolist() == [np.inf]
    assert curve.at(0.5).total == 0
    assert [np.asarray(counts.tp).tolist() for _, counts in curve.blocks()] == [[0.0]]
