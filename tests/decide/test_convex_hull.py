"""The ROC convex hull of several classifiers, compared with all of their points."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from baserate import (
    Costs,
    Counts,
    Curve,
    MissingValuesError,
    NotBinaryError,
    OptionError,
    ShapeError,
    curve,
    decide,
    measure,
    tally,
)
from tests.strategies import few, like, rows

Classifiers = dict[str, Counts[float] | Curve]
A = Counts(tp=63, fn=37, fp=28, tn=72)
B = Counts(tp=77, fn=23, fp=77, tn=23)
C = Counts(tp=24, fn=76, fp=88, tn=12)

slopes = st.sampled_from([0.0, 1e-9, 0.25, 0.5, 1.0, 2.0, 1e9, inf]) | st.floats(0, 10)
shares = st.floats(0.01, 0.99)


@st.composite
def label_counts(draw: st.DrawFn) -> Counts[float]:
    cells = [draw(st.integers(0, 6)) for _ in range(4)]
    assume(cells[0] + cells[2] and cells[1] + cells[3])
    return Counts(*cells)


@st.composite
def score_curves(draw: st.DrawFn, *, weighted: bool = False) -> Curve:
    drawn = draw(rows(few, min_size=2))
    assume(0 < drawn.truth.sum() < len(drawn.truth))
    weight = draw(like(drawn, st.sampled_from([0.1, 0.3, 1.0, 2.5]))) if weighted else None
    return curve(tally(drawn.truth, drawn.score, positive=True, weight=weight))


def classifier_sets() -> st.SearchStrategy[Classifiers]:
    return st.dictionaries(
        st.sampled_from(["a", "b", "c", "d", "e"]),
        label_counts() | score_curves() | score_curves(weighted=True),
        min_size=1,
    )


def roc_points(classifiers: Mapping[str, Counts[float] | Curve]) -> list[tuple[float, float]]:
    """List the points of all classifiers and thresholds, and both trivial ones."""
    result = [(0.0, 0.0), (1.0, 1.0)]
    for each in classifiers.values():
        table: Counts[Any] = each.counts if isinstance(each, Curve) else each
        rates = (np.atleast_1d(measure.fpr(table)), np.atleast_1d(measure.sensitivity(table)))
        result += zip(*(rate.tolist() for rate in rates), strict=True)
    return result


def iso_cost_height(fpr: float, tpr: float, slope: float) -> float:
    """Return the height of the iso-cost line through a point; a higher line costs less."""
    angle = np.arctan(slope)
    return float(tpr * np.cos(angle) - fpr * np.sin(angle))


@given(classifier_sets())
def test_hull_runs_from_none_to_all_with_decreasing_slopes(classifiers: Classifiers) -> None:
    result = decide.roc_convex_hull(classifiers)
    assert (result.vertices[0].classifier, result.vertices[-1].classifier) == ("none", "all")
    for left, right in pairwise(result.vertices):
        assert left.slope_to == right.slope_from
        assert left.fpr <= right.fpr
        assert left.tpr <= right.tpr
    inner = [each.slope_to for each in result.vertices[:-1]]
    assert all(high > low for high, low in pairwise(inner))
    named = {name for each in result.vertices for name in (each.classifier, *each.others)}
    assert named | set(result.never_optimal) == {*classifiers, "none", "all"}
    assert not named & set(result.never_optimal)


@given(classifier_sets())
def test_hull_dominates_every_point(classifiers: Classifiers) -> None:
    result = decide.roc_convex_hull(classifiers)
    for fpr, tpr in roc_points(classifiers):
        reached = result.mixture(fpr=fpr)
        assert reached.tpr >= tpr - 1e-12


@given(classifier_sets(), slopes)
def test_best_vertex_maximizes_over_all_points(classifiers: Classifiers, slope: float) -> None:
    best = decide.roc_convex_hull(classifiers).best(slope)
    everywhere = [iso_cost_height(fpr, tpr, slope) for fpr, tpr in roc_points(classifiers)]
    assert iso_cost_height(best.fpr, best.tpr, slope) == pytest.approx(max(everywhere), abs=1e-12)


@given(classifier_sets(), st.tuples(*[st.integers(0, 5)] * 4), shares)
def test_no_point_is_cheaper_at_given_costs(
    classifiers: Classifiers, given_costs: tuple[int, int, int, int], prevalence: float
) -> None:
    right, more, wrong, extra = given_costs
    costs = Costs(tp=right, fn=right + more, tn=wrong, fp=wrong + extra)
    assume(more or extra)
    best = decide.roc_convex_hull(classifiers).at(costs, prevalence).cost(costs, prevalence)
    for fpr, tpr in roc_points(classifiers):
        table = Counts(
            tp=prevalence * tpr, fn=prevalence * (1 - tpr), fp=(1 - prevalence) * fpr, tn=(1 - prevalence) * (1 - fpr)
        )
        assert best <= costs.total(table) + 1e-9


@given(classifier_sets(), slopes, st.floats(0, 1), st.sampled_from(["fpr", "tpr"]))
def test_mixture_attains_its_rate_and_is_no_cheaper_than_its_best_vertex(
    classifiers: Classifiers, slope: float, rate: float, what: str
) -> None:
    result = decide.roc_convex_hull(classifiers)
    mixed = result.mixture(**{what: rate})
    assert getattr(mixed, what) == pytest.approx(rate, abs=1e-12)
    ends = [iso_cost_height(each.fpr, each.tpr, slope) for each in (mixed.strict, mixed.lax)]
    assert iso_cost_height(mixed.fpr, mixed.tpr, slope) <= max(ends) + 1e-12
    costs = Costs(fp=3, fn=2)
    dear = mixed.cost(costs, 0.3)
    assert dear >= min(each.cost(costs, 0.3) for each in (mixed.strict, mixed.lax)) - 1e-12


@given(score_curves())
def test_hull_of_one_curve_equals_its_own_hull(c: Curve) -> None:
    result, hull = decide.roc_convex_hull({"risk": c}), c.hull()
    assert [each.threshold for each in result.vertices] == [*hull.threshold[:-1], -inf]
    np.testing.assert_allclose([each.fpr for each in result.vertices], measure.fpr(hull.counts))
    np.testing.assert_allclose([each.tpr for each in result.vertices], measure.sensitivity(hull.counts))
    assert result.auc == pytest.approx(measure.auc(hull))


@given(score_curves(), slopes)
def test_best_vertex_of_one_curve_is_its_tangent_point(c: Curve, slope: float) -> None:
    edges = decide.roc_convex_hull({"risk": c}).vertices
    for each in (slope, *(vertex.slope_to for vertex in edges[:-1])):
        result, touched = decide.roc_convex_hull({"risk": c}).best(each), c.tangent(each)
        assert touched == (c.threshold[-1] if result.classifier == "all" else result.threshold)


@given(classifier_sets(), st.randoms())
def test_names_and_order_of_classifiers_do_not_matter(classifiers: Classifiers, random: object) -> None:
    order = list(classifiers)
    random.shuffle(order)  # type: ignore[attr-defined]
    result = decide.roc_convex_hull(classifiers)
    other = decide.roc_convex_hull({name.upper(): classifiers[name] for name in order})
    places = [(each.fpr, each.tpr, each.slope_from, each.slope_to) for each in result.vertices]
    assert places == [(each.fpr, each.tpr, each.slope_from, each.slope_to) for each in other.vertices]
    assert {name.upper() for name in result.never_optimal} == set(other.never_optimal)


def least_cost_factor(front: decide.ROCConvexHull, fpr: float, tpr: float) -> float:
    """Find by bisection the factor by which both error rates of a point shrink until it is on the hull."""
    low, high = 0.0, 1.0  # share of both error rates
    for _ in range(60):
        left = (low + high) / 2
        if front.mixture(fpr=left * fpr).tpr >= 1 - left * (1 - tpr) - 1e-15:
            high = left
        else:
            low = left
    return 1 / high if high > 1e-9 else inf


@given(classifier_sets())
def test_gaps_of_dominated_classifiers(classifiers: Classifiers) -> None:
    result = decide.roc_convex_hull(classifiers)
    steps = [each.slope_to for each in result.vertices if 0 < each.slope_to < inf] + [0.01, 0.3, 1.0, 4.0, 90.0]
    for below in result.dominated:
        alone = decide.roc_convex_hull({"it": classifiers[below.classifier]})
        assert below.area == pytest.approx(result.auc - alone.auc, abs=1e-12)
        at = roc_points({"it": classifiers[below.classifier]})[2:]
        inner = [point for point in at if point not in ((0, 0), (1, 1))]
        if isnan(below.gap):
            assert not inner
            continue
        gaps = [result.mixture(fpr=fpr).tpr - tpr for fpr, tpr in inner]
        assert min(gaps) == pytest.approx(below.gap, abs=1e-12)
        assert below.factor >= 1
        assert below.factor == pytest.approx(min(least_cost_factor(result, *each) for each in inner))
        for fpr, tpr in inner:
            for slope in steps:
                best = result.best(slope)
                least = slope * best.fpr + 1 - best.tpr
                assert (slope * fpr + 1 - tpr) >= min(below.factor, 1e9) * least - 1e-9


@given(classifier_sets())
def test_reversible_classifiers_are_listed_and_used_on_request(classifiers: Classifiers) -> None:
    plain, turned = decide.roc_convex_hull(classifiers), decide.roc_convex_hull(classifiers, reverse=True)
    assert plain.reversible == turned.reversible
    assert not any(each.reversed for each in plain.vertices)
    offered = {each.classifier for each in plain.reversible}
    for name, each in classifiers.items():
        area = measure.auc(each) if isinstance(each, Curve) else (1 + measure.sensitivity(each) - measure.fpr(each)) / 2
        assert (name in offered) == (area < 0.5) or abs(area - 0.5) < 1e-12
    assert {each.classifier for each in turned.vertices if each.reversed} <= offered
    assert turned.auc >= plain.auc - 1e-12
    for vertex in (vertex for vertex in turned.vertices if vertex.reversed):
        source = classifiers[vertex.classifier]
        table: Any = source if vertex.threshold is None else source.at(vertex.threshold)  # type: ignore[union-attr]
        back = table.reverse_decisions()
        assert (measure.fpr(back), measure.sensitivity(back)) == pytest.approx((vertex.fpr, vertex.tpr))


@given(score_curves())
def test_reversed_curve_has_the_hull_of_negated_scores(c: Curve) -> None:
    assume(measure.auc(c) < 0.5)
    back = curve(c.tally.with_scores(-c.tally.score))
    both = decide.roc_convex_hull({"as it is": c, "back": back})
    assert decide.roc_convex_hull({"risk": c}, reverse=True).auc == pytest.approx(both.auc)


@given(score_curves() | label_counts())
def test_reversed_classifiers_are_compared_both_ways(one: Counts[float] | Curve) -> None:
    back = one.reverse_decisions() if isinstance(one, Counts) else curve(one.tally.with_scores(-one.tally.score))
    if not decide.roc_convex_hull({"one": one}).reversible:
        one, back = back, one
    strong = Counts(tp=99, fn=1, fp=1, tn=99)
    turned = decide.roc_convex_hull({"one": one, "strong": strong}, reverse=True)
    apart = {
        each.classifier: each for each in decide.roc_convex_hull({"one": one, "back": back, "strong": strong}).dominated
    }
    assume(turned.reversible and {"one", "back"} <= set(apart))
    (result,) = turned.dominated
    for name in ("gap", "factor"):
        assert getattr(result, name) == pytest.approx(min(getattr(each, name) for each in apart.values()), nan_ok=True)
    assert result.area <= min(each.area for each in apart.values()) + 1e-12


def test_collinear_points_are_no_vertices() -> None:
    third = Counts(tp=3, fn=7, fp=1, tn=9)
    twice = Counts(tp=6, fn=4, fp=2, tn=8)
    result = decide.roc_convex_hull({"third": third, "twice": twice})
    assert [each.classifier for each in result.vertices] == ["none", "twice", "all"]
    assert result.never_optimal == ("third",)
    assert result.dominated[0].gap == pytest.approx(0, abs=1e-15)
    assert result.dominated[0].factor == pytest.approx(1)
    # Weights of a tenth do not add up exactly.
    tenths = Counts(tp=0.1 + 0.2, fn=0.7, fp=0.1, tn=0.9)
    assert decide.roc_convex_hull({"tenths": tenths, "twice": twice}).never_optimal == ("tenths",)


def test_classifiers_at_the_same_point_are_listed() -> None:
    result = decide.roc_convex_hull(
        {"first": A, "twin": Counts(tp=630, fn=370, fp=280, tn=720), "idle": Counts(0, 0, 5, 5)}
    )
    assert [(each.classifier, each.others) for each in result.vertices] == [
        ("none", ("idle",)),
        ("first", ("twin",)),
        ("all", ()),
    ]
    assert result.never_optimal == ()


def test_ranges_of_costs_and_prevalences_agree_with_best() -> None:
    result = decide.roc_convex_hull({"A": A, "B": B, "C": C}, reverse=True)
    for row in result.ranges(0.2).rows():
        middle = (row["ratio_from"] + min(row["ratio_to"], 1e6)) / 2
        assert result.at(Costs(fn=middle, fp=1), 0.2).classifier == row["classifier"]
    for row in result.prevalences(Costs(fn=3, fp=1)).rows():
        middle = (row["prevalence_from"] + row["prevalence_to"]) / 2
        assert result.at(Costs(fn=3, fp=1), middle).classifier == row["classifier"]
    starts = [row["prevalence_from"] for row in result.prevalences(Costs()).rows()]
    assert starts[0] == 0
    assert starts == sorted(starts)
    assert result.prevalences(Costs()).rows()[-1]["prevalence_to"] == 1


def test_results_list_every_classifier_once() -> None:
    result = decide.roc_convex_hull({"A": A, "B": B, "C": C})
    output = result.results().rows()
    assert [row["classifier"] for row in output] == ["none", "A", "all", "B", "C"]
    assert [row["slope_to"] for row in output[:3]] == pytest.approx([2.25, 37 / 72, 0])
    assert output[3]["gap"] == pytest.approx(0.63 + 37 / 72 * (0.77 - 0.28) - 0.77)
    # Each kind of mistake would have to be 0.77·2.25 + 0.23 (at slope 2.25), or less at the flatter edge, times dearer.
    at_flat = (0.77 * 37 / 72 + 0.23) / (37 / 72)
    assert output[3]["factor"] == pytest.approx(min(0.77 * 2.25 + 0.23, at_flat))
    assert output[3]["fpr"] is None


def test_exact_slopes() -> None:
    result = decide.roc_convex_hull({"A": A})
    assert result.vertices[0].slope_to == float(Fraction(63, 28))
    assert result.best(2.25).classifier == "none"
    assert result.best(np.nextafter(2.25, 0)).classifier == "A"
    assert result.best(37 / 72).classifier == "A"
    assert result.best(0).classifier == "all"


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (lambda: decide.roc_convex_hull({}), OptionError, "no classifiers"),
        (lambda: decide.roc_convex_hull({"all": A}), OptionError, "'all', which is reserved"),
        (lambda: decide.roc_convex_hull({"a": 3}), OptionError, "a is int"),
        (lambda: decide.roc_convex_hull({"a": Counts(*np.ones((4, 2)))}), ShapeError, r"a has \(2,\) tables"),
        (lambda: decide.roc_convex_hull({"a": Counts(0, 1, 0, 1)}), NotBinaryError, "a has no positives"),
        (
            lambda: decide.roc_convex_hull({"a": curve(tally([1], [1], positive=1))}),
            NotBinaryError,
            "a has no negatives",
        ),
        (lambda: decide.roc_convex_hull({"a": A}).best(nan), MissingValuesError, "slope is NaN"),
        (lambda: decide.roc_convex_hull({"a": A}).at(Costs(fn=0, fp=0), 0.5), MissingValuesError, "slope is NaN"),
        (
            lambda: decide.roc_convex_hull({"a": A}).at(Costs(fn=-1), 0.5),
            OptionError,
            "costs less than a correct decision",
        ),
        (lambda: decide.roc_convex_hull({"a": A}).ranges(0), OptionError, "prevalence is 0"),
        (lambda: decide.roc_convex_hull({"a": A}).prevalences(Costs(fp=0)), OptionError, "costs nothing"),
        (lambda: decide.roc_convex_hull({"a": A}).mixture(), OptionError, "either fpr= or tpr="),
        (
            lambda: decide.roc_convex_hull({"a": A}).mixture(fpr=1.5),
            OptionError,
            "a rate is 1.5; expected a number from 0 to 1",
        ),
        (lambda: decide.roc_convex_hull({"a": A}).vertices[1].cost(Costs(), 2), OptionError, "prevalence is 2"),
    ],
)
def test_errors(work: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        work()
