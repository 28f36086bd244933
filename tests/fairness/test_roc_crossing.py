"""Crossings of ROC curves: by hand, in exact arithmetic, and as policies."""

from fractions import Fraction
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from baserate import Costs, Curve, Policy, Tally, curve, measure, tally
from baserate._curve import Mixture
from baserate._errors import FitError, InfeasibleError, OptionError
from baserate.fairness import Goal, RocCrossing, ScoreScale, choose_roc_crossing, optimal_policy, roc_crossings
from baserate.fairness._group_counts import as_tallies, group_tables, rate_gaps

Steps = list[tuple[int, int]]


def curve_of_steps(steps: Steps) -> Curve:
    """Make a curve from numbers of positives and negatives at descending scores."""
    return curve(Tally.from_counts(0.9 - 0.1 * np.arange(len(steps)), np.array(steps).T))


# Positives and negatives of ten each: up, right, or both at once.
UP_FIRST = [(5, 0), (0, 5), (5, 0), (0, 5)]


@pytest.mark.parametrize(
    ("second", "points"),
    [
        pytest.param(UP_FIRST, [], id="the same curve"),
        pytest.param([(10, 0), (0, 10)], [], id="above, and together at both ends"),
        pytest.param([(10, 10)], [], id="below, touching in the middle"),
        pytest.param([(0, 5), (5, 0), (0, 5), (5, 0)], [], id="below, touching in a corner"),
        pytest.param([(3, 0), (0, 3), (7, 0), (0, 7)], [(0.3, 0.5)], id="an upward and a rightward line"),
        pytest.param([(8, 0), (0, 8), (2, 0), (0, 2)], [(0.5, 0.8)], id="the other way round"),
        pytest.param([(3, 4), (7, 0), (0, 6)], [(0.4, 0.5)], id="a slope before"),
        pytest.param([(3, 0), (0, 2), (2, 0), (0, 2), (5, 0), (0, 6)], [(0.2, 0.5)], id="together for a while"),
        pytest.param([(3, 0), (0, 2), (2, 0), (0, 3), (3, 0), (0, 2), (2, 0), (0, 3)], [], id="together, then back"),
        pytest.param([(3, 0), (2, 5), (5, 2), (0, 3)], [], id="touching in a corner, from below"),
        pytest.param(
            [(3, 0), (0, 2), (4, 0), (0, 5), (3, 0), (0, 3)], [(0.2, 0.5), (0.5, 0.7)], id="there and back again"
        ),
        pytest.param([(4, 0), (2, 10), (4, 0)], [], id="a slope that touches a corner"),
    ],
)
def test_crossings_of_simple_curves(second: Steps, points: list[tuple[float, float]]) -> None:
    first, other = curve_of_steps(UP_FIRST), curve_of_steps(second)
    for result in (roc_crossings(first, other), roc_crossings(other, first)):
        assert [(each.fpr, each.tpr) for each in result] == [pytest.approx(point, abs=1e-12) for point in points]


def test_thresholds_at_a_crossing() -> None:
    (result,) = roc_crossings(curve_of_steps(UP_FIRST), curve_of_steps([(3, 0), (0, 3), (7, 0), (0, 7)]))
    assert list_values(result.first) == pytest.approx([0.9, 0.8, 0.6])
    assert list_values(result.second) == pytest.approx([0.8, 0.7, 2 / 7])
    assert result.thresholds == pytest.approx((0.84, 0.8 - 0.1 * 2 / 7))
    h = result.scale
    assert h([0.6, result.thresholds[1], 0.9]).tolist() == pytest.approx([0.6, 0.84, 0.9])
    assert is_increasing(h)


def is_increasing(h: ScoreScale) -> bool:
    """Return whether the scale is strictly increasing, also beyond its ends."""
    return bool((np.diff(h(np.linspace(h.x[0] - 1, h.x[-1] + 1, 1001))) > 0).all())


def list_values(mixture: Mixture[float]) -> list[float]:
    return [mixture.strict, mixture.lax, mixture.chance]


def test_a_crossing_above_the_greatest_score_is_at_it() -> None:
    (result,) = roc_crossings(
        curve_of_steps([(4, 4), (6, 0), (0, 6)]), curve_of_steps([(1, 0), (0, 4), (9, 1), (0, 5)])
    )
    assert list_values(result.first) == pytest.approx([inf, 0.9, 0.25])
    assert result.thresholds == pytest.approx((0.9, 0.9 - 0.1 / 4))
    # From there up scores of the second group stay as far away.
    assert result.scale([0.6, 0.875, 0.89, 0.9]).tolist() == pytest.approx([0.7, 0.9, 0.915, 0.925])
    back = roc_crossings(curve_of_steps([(1, 0), (0, 4), (9, 1), (0, 5)]), curve_of_steps([(4, 4), (6, 0), (0, 6)]))[0]
    assert back.scale([0.7, 0.9]).tolist() == pytest.approx([0.6, 0.875])


def test_a_crossing_at_a_threshold_is_deterministic() -> None:
    (result,) = roc_crossings(curve_of_steps([(5, 5), (5, 5)]), curve_of_steps([(3, 5), (4, 0), (3, 5)]))
    assert (result.fpr, result.tpr) == (0.5, 0.5)
    assert list_values(result.first) == [inf, 0.9, 1.0]
    assert list_values(result.second) == pytest.approx([0.9, 0.8, 0.5])


steps = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7)


@st.composite
def step_curves(draw: st.DrawFn) -> Curve:
    result = draw(steps)
    assume(all(sum(each) for each in zip(*result, strict=True)))
    return curve_of_steps(result)


@given(step_curves(), step_curves())
def test_crossings_equal_those_of_exact_arithmetic(first: Curve, second: Curve) -> None:
    result = [(each.fpr, each.tpr) for each in roc_crossings(first, second)]
    assert result == [pytest.approx(point, abs=1e-9) for point in exact_crossings(first, second)]


def exact_crossings(first: Curve, second: Curve) -> list[tuple[float, float]]:
    """Find in fractions where two paths change sides."""
    paths = [_corners(each) for each in (first, second)]
    sums = sorted({x + y for path in paths for x, y in path})
    pairs = [tuple(_point_on_path(path, total) for path in paths) for total in sums]
    apart = [one[0] - other[0] for one, other in pairs]
    points, side, touched = [], Fraction(0), None
    for (before, after), gap, was in zip(pairwise(pairs), apart[1:], apart, strict=False):
        if gap * was < 0:
            part = was / (was - gap)
            points.append(tuple(float((1 - part) * a + part * b) for a, b in zip(before[0], after[0], strict=True)))
        if gap == 0 and was != 0:
            touched = tuple(map(float, after[0]))
        if was == 0 and side * gap < 0:
            assert touched is not None
            points.append(touched)
        side = gap or side
    return points  # type: ignore[return-value]


def _corners(curve: Curve) -> list[tuple[Fraction, Fraction]]:
    counts = curve.counts
    return [
        (Fraction(int(fp), int(curve.negatives)), Fraction(int(tp), int(curve.positives)))
        for fp, tp in zip(counts.fp, counts.tp, strict=True)
    ]


def _point_on_path(path: list[tuple[Fraction, Fraction]], total: Fraction) -> tuple[Fraction, Fraction]:
    for (x0, y0), (x1, y1) in pairwise(path):
        if x0 + y0 < x1 + y1 and x0 + y0 <= total <= x1 + y1:
            part = (total - x0 - y0) / (x1 + y1 - x0 - y0)
            return x0 + part * (x1 - x0), y0 + part * (y1 - y0)
    raise AssertionError(total)


@given(step_curves(), step_curves(), st.booleans())
def test_both_groups_reach_the_point(first: Curve, second: Curve, hull: bool) -> None:  # noqa: FBT001
    for each in roc_crossings(first, second, hull=hull):
        assert 0 < each.fpr + each.tpr < 2
        for group, mixture in ((first, each.first), (second, each.second)):
            for rate, value in ((measure.fpr, each.fpr), (measure.sensitivity, each.tpr)):
                strict, lax = (rate(group.at(at)) for at in (mixture.strict, mixture.lax))
                assert (1 - mixture.chance) * strict + mixture.chance * lax == pytest.approx(value, abs=1e-9)
        assert is_increasing(each.scale)
        assert each.scale(each.thresholds[1]) == pytest.approx(each.thresholds[0], abs=1e-12)


def people(seed: int, size: int = 4000) -> tuple[Curve, Curve]:
    """Simulate two groups with distinct scores in (0, 1) whose curves cross."""
    random = np.random.default_rng(seed)
    result = []
    for apart, spread in ((1.3, 1.0), (1.5, 2.0)):
        truth = random.random(size) < 0.4
        score = random.normal(size=size) * np.where(truth, spread, 1.0) + apart * truth
        result.append(curve(tally(truth, 1 / (1 + np.exp(-score)))))
    return result[0], result[1]


@pytest.mark.parametrize("seed", range(3))
def test_on_the_common_scale_one_threshold_serves_both(seed: int) -> None:
    first, second = people(seed)
    result = roc_crossings(first, second)
    assert result
    for each in result:
        moved = curve(second.tally.with_scores(each.scale(second.tally.score)))
        one, other = first.at(each.thresholds[0]), moved.at(each.thresholds[0])
        for rate, classes in ((measure.sensitivity, "positives"), (measure.fpr, "negatives")):
            two_rows = sum(2 / getattr(group, classes) for group in (first, second))
            assert abs(rate(one) - rate(other)) <= two_rows
        assert is_increasing(each.scale)
        assert [*each.scale([second.tally.score[-1], second.tally.score[0]])] == [*each.ends[0]]


def test_scores_of_any_scale_have_a_common_one() -> None:
    first, second = (curve(each.tally.with_scores(20 * each.tally.score - 5)) for each in people(1))
    result = roc_crossings(first, second)[0]
    plain = roc_crossings(*people(1))[0]
    assert result.thresholds == pytest.approx([20 * at - 5 for at in plain.thresholds])
    assert result.scale([-5.0, 0.0, 9.0]) == pytest.approx(20 * plain.scale([0.0, 0.25, 0.7]) - 5)


def test_a_curve_of_one_class_raises() -> None:
    with pytest.raises(FitError, match="give rows of both"):
        roc_crossings(curve_of_steps([(3, 0), (2, 0)]), curve_of_steps(UP_FIRST))


@pytest.mark.parametrize("costs", [Costs(), Costs(fp=1, fn=3)])
def test_at_a_crossing_odds_are_equal_and_cost_no_less_than_the_optimum(costs: Costs) -> None:
    groups = dict(zip("fm", people(2), strict=True))
    goal = Goal("equalized-odds", costs=costs)
    policy = choose_roc_crossing(groups, goal)
    tables = group_tables(as_tallies(groups), policy, "score")
    assert max(rate_gaps(tables, ["sensitivity", "fpr"]).values()) < 1e-12
    paid = sum(costs.total(each) for each in tables.values()) / sum(each.total for each in tables.values())
    settings = policy.settings
    assert settings["cost"] == pytest.approx(paid, abs=1e-12)
    assert settings["bound"] == pytest.approx(optimal_policy(groups, goal).settings["cost"], abs=1e-12)
    assert settings["above"] == settings["cost"] - settings["bound"] >= 0
    assert settings["parity"] == ("equalized-odds",)
    every = [each for hull in (False, True) for each in roc_crossings(*groups.values(), hull=hull)]
    assert settings["cost"] == pytest.approx(min(cost_of(each, groups, costs) for each in every), abs=1e-12)
    assert settings["thresholds"] in [each.thresholds for each in every]
    assert settings["thresholds"][::-1] in settings["scale"]
    assert Policy.from_json(policy.to_json()).settings["thresholds"] == settings["thresholds"]


def cost_of(point: RocCrossing, groups: dict[str, Curve], costs: Costs) -> float:
    positives, negatives = (sum(getattr(each, of) for each in groups.values()) for of in ("positives", "negatives"))
    paid = costs.fn * positives * (1 - point.tpr) + costs.fp * negatives * point.fpr
    return float(paid / (positives + negatives))


def test_the_order_of_groups_does_not_matter() -> None:
    first, second = people(2)
    policy = choose_roc_crossing({"f": first, "m": second}, Goal())
    other = choose_roc_crossing({"m": second, "f": first}, Goal())
    for group in policy.by_group:
        mine, theirs = policy.by_group[group], other.by_group[group]
        assert mine.cuts == theirs.cuts  # type: ignore[union-attr]
        assert mine.chances == pytest.approx(theirs.chances, abs=1e-9)  # type: ignore[union-attr]


def test_curves_without_a_crossing_raise() -> None:
    above, below = curve_of_steps([(10, 0), (0, 10)]), curve_of_steps([(10, 10)])
    with pytest.raises(InfeasibleError, match=r"use fairness\.optimal_policy"):
        choose_roc_crossing({"f": above, "m": below}, Goal())
    with pytest.raises(OptionError, match="3 groups take part"):
        choose_roc_crossing({"f": above, "m": below, "x": below}, Goal())
    with pytest.raises(OptionError, match="flag rates are not"):
        choose_roc_crossing({"f": above, "m": below}, Goal("demographic-parity"))
