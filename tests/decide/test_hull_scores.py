"""Ranks of rows by the classifiers of a hull, and its slopes as likelihood ratios."""

from collections.abc import Callable
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from baserate import (
    Counts,
    Curve,
    MissingValuesError,
    NotBinaryError,
    OptionError,
    Population,
    ShapeError,
    Tally,
    UnknownNameError,
    curve,
    decide,
    measure,
    population,
    tally,
)
from tests.strategies import Array, Rows, few, like, rows

scored = rows(few, min_size=2).filter(lambda drawn: 0 < drawn.truth.sum() < len(drawn.truth))


def table(truth: Array, flags: Array) -> Counts[float]:
    return curve(tally(truth, flags.astype(float), positive=True)).at(1.0)


def roc_points(c: Curve) -> list[tuple[float, float]]:
    counts = c.counts
    return list(zip(measure.fpr(counts).tolist(), measure.sensitivity(counts).tolist(), strict=True))


@given(scored)
def test_ranks_of_one_curve_reproduce_its_hull(drawn: Rows) -> None:
    c = curve(tally(drawn.truth, drawn.score, positive=True))
    score = decide.rank_by_hull(decide.roc_convex_hull({"risk": c}), {"risk": drawn.score})
    again = curve(tally(drawn.truth, score, positive=True))
    assert measure.auc(again) == pytest.approx(measure.auc(c.hull()))
    assert roc_points(again) == [pytest.approx(point) for point in roc_points(c.hull())]


@given(scored, st.data())
def test_nested_classifiers_rank_through_all_vertices(drawn: Rows, data: st.DataObject) -> None:
    # Whatever is compared with more and more thresholds flags more and more.
    flags = {str(cut): drawn.score >= cut for cut in data.draw(st.sets(few, min_size=1))}
    result = decide.roc_convex_hull({name: table(drawn.truth, each) for name, each in flags.items()})
    score = decide.rank_by_hull(result, flags)
    through = roc_points(curve(tally(drawn.truth, score, positive=True)))
    assert through == [pytest.approx((each.fpr, each.tpr)) for each in result.vertices]


@given(scored, st.data())
def test_ranks_of_other_classifiers_lose_no_true_positive(drawn: Rows, data: st.DataObject) -> None:
    flags = {name: data.draw(like(drawn, st.sampled_from([False, True]))) for name in "abc"}
    result = decide.roc_convex_hull({name: table(drawn.truth, each) for name, each in flags.items()}, reverse=True)
    score = decide.rank_by_hull(result, flags)
    inner = result.vertices[1:-1]
    reached = curve(tally(drawn.truth, score, positive=True))
    for rank, vertex in zip(range(len(inner), 0, -1), inner, strict=True):
        at = reached.at(float(rank))
        assert measure.sensitivity(at) >= vertex.tpr - 1e-12
        assert measure.fpr(at) >= vertex.fpr - 1e-12
    if inner:
        strictest = reached.at(float(len(inner)))
        assert (measure.fpr(strictest), measure.sensitivity(strictest)) == pytest.approx((inner[0].fpr, inner[0].tpr))


@pytest.mark.parametrize(
    ("strict", "lax", "side"),
    [
        # Of ten positives and ten negatives, those that each of two classifiers flags.
        ((range(5), range(1)), (range(9), range(1, 4)), -1),  # false alarms that differ
        ((range(5), range(1)), (range(1, 10), range(3)), 1),  # hits that differ
        ((range(5), range(1)), (range(9), range(3)), 0),  # nested
    ],
)
def test_classifiers_that_are_not_nested_leave_the_hull(
    strict: tuple[range, range], lax: tuple[range, range], side: int
) -> None:
    truth = np.arange(20) < 10
    flags = {}
    for name, (hits, alarms) in {"strict": strict, "lax": lax}.items():
        flags[name] = np.isin(np.arange(20), [*hits, *(10 + at for at in alarms)])
    front = decide.roc_convex_hull({name: table(truth, each) for name, each in flags.items()})
    assert [each.classifier for each in front.vertices] == ["none", "strict", "lax", "all"]
    area = measure.auc(curve(tally(truth, decide.rank_by_hull(front, flags), positive=True)))
    assert np.sign(round(area - front.auc, 12)) == side


def test_several_scores_and_a_reversed_one() -> None:
    truth = np.array([1, 1, 0, 1, 0, 0], dtype=bool)
    good, bad = np.array([6, 5, 1, 4, 3, 2.0]), np.array([1, 2, 3, 4, 5, 6.0])
    curves = {"bad": curve(tally(truth, bad, positive=True))}
    turned = decide.roc_convex_hull(curves, reverse=True)
    assert decide.rank_by_hull(turned, {"bad": bad}).tolist() == [2, 2, 1, 1, 0, 0]
    both = decide.roc_convex_hull(curves | {"good": curve(tally(truth, good, positive=True))})
    assert decide.rank_by_hull(both, {"bad": bad, "good": good}).tolist() == [1, 1, 0, 1, 0, 0]
    hopeless = decide.roc_convex_hull(curves)
    assert decide.rank_by_hull(hopeless, {"bad": bad}).tolist() == [0] * 6


def test_invalid_columns_raise() -> None:
    result = decide.roc_convex_hull({"a": Counts(tp=5, fn=1, fp=0, tn=4), "b": Counts(tp=6, fn=0, fp=1, tn=3)})
    cases: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: decide.rank_by_hull(result, {"a": [1, 0]}), UnknownNameError, "there is no classifier 'b'"),
        (lambda: decide.rank_by_hull(result, {"a": [1, 0], "b": [1]}), ShapeError, "different lengths"),
        (lambda: decide.rank_by_hull(result, {"a": [[1, 0]], "b": [1]}), ShapeError, r"a has shape \(1, 2\)"),
        (
            lambda: decide.rank_by_hull(result, {"a": [1, np.nan], "b": [1, 0]}),
            MissingValuesError,
            "1 of 2 values of a",
        ),
        (
            lambda: decide.rank_by_hull(result, {"a": [1, 0.3], "b": [1, 0]}),
            OptionError,
            "1 of 2 values of a, which only labels, are neither 0 nor 1",
        ),
    ]
    for work, error, output in cases:
        with pytest.raises(error, match=output):
            work()


# Slopes.


@given(scored, st.sampled_from([0.0, 0.3, 1.0, 2.5, inf]))
def test_ratios_decrease_and_bracket_the_tangent_slope(drawn: Rows, slope: float) -> None:
    c = curve(tally(drawn.truth, drawn.score, positive=True))
    result = decide.hull_likelihood_ratios(c)
    assert (np.diff(result["ratio"][np.isfinite(result["ratio"])]) < 0).all()
    assert np.isinf(result["ratio"]).sum() <= 1
    finite = np.where(np.isfinite(result["ratio"]), result["ratio"], 0.0)
    # Where there are no negatives, positives come at no price.
    gained = np.where(
        result["negatives"] > 0, finite * result["negatives"] / c.negatives, result["positives"] / c.positives
    )
    np.testing.assert_allclose(np.cumsum(gained), measure.sensitivity(c.hull().counts)[1:])
    at = np.searchsorted(-c.hull().threshold, -c.tangent(slope))
    edges = np.concatenate([[inf], result["ratio"], [0.0]])
    assert edges[at + 1] <= slope
    assert slope < edges[at] or at == 0
    assert (result["lower"] <= result["upper"]).all()
    assert set(result["upper"]) | set(result["lower"]) <= set(c.tally.score)
    assert (result["upper"][1:] < result["lower"][:-1]).all()
    observed = c.at(result["lower"]).flagged
    np.testing.assert_allclose(np.cumsum(result["positives"] + result["negatives"]), observed)


@given(scored, st.floats(0.01, 0.99))
def test_posteriors_are_the_shares_of_pools_at_any_prevalence(drawn: Rows, prevalence: float) -> None:
    c = curve(tally(drawn.truth, drawn.score, positive=True))
    result = decide.hull_likelihood_ratios(c)
    np.testing.assert_allclose(result["posterior"], result["positives"] / (result["positives"] + result["negatives"]))
    odds = result["ratio"] * prevalence / (1 - prevalence)
    wanted = np.divide(odds, 1 + odds, out=np.ones_like(odds), where=np.isfinite(odds))
    np.testing.assert_allclose(decide.hull_likelihood_ratios(c, prevalence=prevalence)["posterior"], wanted)
    assert ((result["low"] <= result["ratio"]) & (result["ratio"] <= result["high"])).all()


def population_curve(model: Population, thresholds: Array) -> Curve:
    """A curve of the masses of a population between thresholds, strictest first."""
    flagged = model.at(thresholds)
    mass = np.diff([flagged.tp, flagged.fp], axis=1)
    return curve(Tally(thresholds[1:], mass, mass, np.ones(mass.shape, dtype=np.uint8)))


def test_slopes_of_a_population_are_its_likelihood_ratio() -> None:
    cuts = np.linspace(1, 0, 101)
    result = decide.hull_likelihood_ratios(population_curve(population.linear(), cuts))
    middle = (cuts[1:] + cuts[:-1]) / 2
    np.testing.assert_allclose(result["ratio"], population.linear().likelihood_ratio(middle))
    # The steps of a normal density are only nearly straight, the more so the narrower they are.
    off = []
    for steps in (101, 1001):
        cuts = np.linspace(4, -3, steps)
        near = decide.hull_likelihood_ratios(population_curve(population.binormal(), cuts))["ratio"]
        off.append(np.abs(near / population.binormal().likelihood_ratio((cuts[1:] + cuts[:-1]) / 2) - 1).max())
    assert off[0] < 0.02
    assert off[1] < off[0] / 50


def test_bounds_of_a_ratio_by_hand() -> None:
    c = curve(Tally.from_counts(score=[2, 1], rows=[[30, 20], [10, 40]]))
    result = decide.hull_likelihood_ratios(c)
    reach = np.exp(1.959963984540054 * np.sqrt(1 / 30 - 1 / 50 + 1 / 10 - 1 / 50))
    assert (result["low"][0], result["high"][0]) == pytest.approx((3 / reach, 3 * reach))
    weighted = decide.hull_likelihood_ratios(
        curve(Tally(c.tally.score, 7.0 * c.tally.mass, 49.0 * c.tally.mass, c.tally.rows))
    )
    np.testing.assert_allclose(weighted["low"], result["low"])
    apart = decide.hull_likelihood_ratios(curve(Tally.from_counts(score=[2, 1], rows=[[50, 0], [0, 50]])))
    assert (apart["high"][0], apart["low"][1]) == (inf, 0)
    assert apart["low"][0] > 0
    assert apart["high"][1] < 1


def test_likelihood_ratio_errors() -> None:
    one = curve(tally([1, 1], [1, 2], positive=1))
    with pytest.raises(NotBinaryError, match="needs both classes"):
        decide.hull_likelihood_ratios(one)
    two = curve(tally([1, 0], [1, 2]))
    with pytest.raises(OptionError, match="prevalence is 2"):
        decide.hull_likelihood_ratios(two, prevalence=2)
    with pytest.raises(OptionError, match="level is 95"):
        decide.hull_likelihood_ratios(two, level=95)


def test_scores_without_mass_are_in_no_pool() -> None:
    gap = curve(Tally.from_counts(score=[3, 2, 1], rows=[[1, 0, 0], [0, 0, 1]]))
    result = decide.hull_likelihood_ratios(gap)
    assert result["upper"].tolist() == [3, 1]
    assert result["lower"].tolist() == [3, 1]


@given(scored)
def test_weights_of_one_change_nothing(drawn: Rows) -> None:
    assume(len(drawn.truth) < 12)
    plain = decide.hull_likelihood_ratios(curve(tally(drawn.truth, drawn.score, positive=True)))
    weighted = tally(drawn.truth, drawn.score, positive=True, weight=np.ones(len(drawn.truth)))
    for name, column in decide.hull_likelihood_ratios(curve(weighted)).items():
        np.testing.assert_allclose(column, plain[name])
