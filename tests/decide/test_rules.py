"""Decision rules choose the best threshold, and the strictest of equals."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from inspect import signature
from itertools import pairwise
from math import inf, isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from baserate import (
    Costs,
    Counts,
    Curve,
    Cut,
    FitError,
    InfeasibleError,
    OptionError,
    Policy,
    UnknownNameError,
    curve,
    decide,
    measure,
    population,
    tally,
)
from baserate.measure import Values, measure as as_measure
from baserate.shift import reweigh
from tests.strategies import Rows, rows

whole = st.integers(0, 20).map(float)
positive = st.integers(1, 20).map(float)
prices = st.builds(Costs, fp=positive, fn=positive)
both = rows().filter(lambda data: 0 < data.truth.sum() < len(data.truth))


def curve_of(data: Rows) -> Curve:
    return curve(tally(data.truth, data.score))


def strictest_argmax(c: Curve, value: Callable[..., Fraction]) -> float:
    """Return the strictest threshold where a function of whole counts is greatest."""
    counts = c.counts
    cells = zip(*(map(int, each) for each in (counts.tp, counts.fp, counts.fn, counts.tn)), strict=True)
    values = [value(*each) for each in cells]
    return float(c.threshold[values.index(max(values))])


@given(both)
def test_youden_is_the_greatest_sum_of_both_rates(data: Rows) -> None:
    c = curve_of(data)
    wanted = strictest_argmax(c, lambda tp, fp, fn, tn: Fraction(tp, tp + fn) - Fraction(fp, fp + tn))
    assert decide.youden(c).threshold == wanted


@given(both)
def test_closest_minimizes_the_distance_to_the_corner(data: Rows) -> None:
    c = curve_of(data)
    wanted = strictest_argmax(c, lambda tp, fp, fn, tn: -(Fraction(fn, tp + fn) ** 2) - Fraction(fp, fp + tn) ** 2)
    assert decide.closest(c).threshold == wanted


@given(both)
def test_balanced_minimizes_the_difference_of_rates(data: Rows) -> None:
    c = curve_of(data)
    wanted = strictest_argmax(c, lambda tp, fp, fn, tn: -abs(Fraction(tp, tp + fn) - Fraction(tn, fp + tn)))
    assert decide.balanced(c).threshold == wanted


@given(rows().filter(lambda data: data.truth.any()))
def test_break_even_minimizes_the_difference_of_precision_and_recall(data: Rows) -> None:
    c = curve_of(data)

    def negative_gap(tp: int, fp: int, fn: int, _tn: int) -> Fraction:
        return -abs(Fraction(tp, tp + fp) - Fraction(tp, tp + fn)) if tp else Fraction(-2)

    assert decide.break_even(c).threshold == strictest_argmax(c, negative_gap)


@given(rows(), prices)
def test_no_threshold_is_cheaper_than_that_of_cost(data: Rows, costs: Costs) -> None:
    c = curve_of(data)
    result = decide.cost(c, costs)
    wanted = strictest_argmax(
        c, lambda tp, fp, fn, tn: -Fraction(fp * int(costs.fp) + fn * int(costs.fn), 1) + 0 * (tp + tn)
    )
    assert result.threshold == wanted
    least = costs.total(result.cut.counts(c))
    assert least <= min(costs.fn * c.positives, costs.fp * c.negatives)


@given(both, prices, st.floats(0.01, 0.99))
def test_least_cost_is_the_tangent_point_of_the_hull(data: Rows, costs: Costs, prevalence: float) -> None:
    c = curve_of(data)
    hull = c.hull()
    slopes = np.diff(hull.flagged_mass[0]) / c.positives, np.diff(hull.flagged_mass[1]) / c.negatives
    slope = costs.slope(prevalence)
    assume(not np.isclose(slopes[0], slope * slopes[1], rtol=1e-9).any())  # an edge: rounding decides
    result = decide.cost(c, costs, prevalence=prevalence).threshold
    assert result in hull.threshold
    assert result == c.tangent(slope)


@given(both, prices, st.floats(0.01, 0.99))
def test_stated_prevalence_equals_reweighted_data(data: Rows, costs: Costs, prevalence: float) -> None:
    c = curve_of(data)
    reweighted = reweigh(c, prevalence=prevalence)
    stated = decide.cost(c, costs, prevalence=prevalence)
    chosen = decide.cost(reweighted, costs)
    cheapest = measure.expected_cost(reweighted.at(stated.threshold), costs=costs)
    assert measure.expected_cost(reweighted.at(chosen.threshold), costs=costs) == pytest.approx(cheapest, rel=1e-9)
    assert chosen.settings["prevalence"] == pytest.approx(prevalence)


JUDGING = ["f1", "mcc", "accuracy", "kappa", "npv", "precision", "fpr", "expected_cost", "lift"]
RATIOS = ["positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio"]


@given(both, st.sampled_from([*JUDGING, *RATIOS]))
def test_best_optimizes_any_measure(data: Rows, name: str) -> None:
    c = curve_of(data)
    function = measure.find_measure(name)
    sign = 1 if measure.describe(function).best == "high" else -1
    worth = sign * np.asarray(function(c.counts))
    finite = worth[np.isfinite(worth)]
    if not finite.size:
        with pytest.raises(FitError, match=f"{name} is (infinite at|undefined at every)"):
            decide.best(c, name)
        return
    result = decide.best(c, name)
    reached = sign * function(c.at(result.threshold))
    assert reached == pytest.approx(finite.max(), rel=1e-11)
    stricter = worth[(c.threshold > result.threshold) & np.isfinite(worth)]
    assert not (stricter > reached - 1e-15 * abs(reached)).any()
    skipped = int((worth == inf).sum())
    assert [note for note in result.notes if "infinite" in note] == _skipped_note(skipped, name)


def _skipped_note(many: int, name: str) -> list[str]:
    places = "1 threshold" if many == 1 else f"{many} thresholds"
    were = "was" if many == 1 else "were"
    note = f"{places} with an infinite {name.replace('_', ' ')} {were} skipped: an infinity never wins a search."
    return [note] * bool(many)


def test_one_flagged_row_does_not_win_with_an_infinite_ratio() -> None:
    rng = np.random.default_rng(4)
    truth, score = population.binormal(means=(0, 1), prevalence=0.3).draw(500, rng)
    c = curve(tally(truth, score))
    for name in ("diagnostic_odds_ratio", "positive_likelihood_ratio"):
        worth = np.asarray(measure.find_measure(name)(c.counts))
        assert np.isinf(worth).any()
        result = decide.best(c, name)
        assert np.isfinite(measure.find_measure(name)(c.at(result.threshold)))
        kept = decide.require(c, "flag_rate >= 0", maximize=name)
        assert (kept.threshold, kept.notes) == (result.threshold, result.notes)


def test_infinities_do_not_win_under_requirements() -> None:
    c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    result = decide.require(c, "specificity >= 0.6", maximize="diagnostic_odds_ratio")
    assert result.threshold == 0.7
    assert result.notes == tuple(
        _skipped_note(3, "diagnostic_odds_ratio")
    )  # at 0.9, 0.8 and 0.6; that at 0.4 is not kept
    with pytest.raises(FitError, match="diagnostic_odds_ratio is infinite at 2 of 3 thresholds and finite at none"):
        decide.require(c, "specificity >= 1", maximize="diagnostic_odds_ratio")


def test_minus_infinity_does_not_win_toward_low() -> None:
    @as_measure("Minus the positive likelihood ratio.", values=Values("low", (-inf, 0), needs=("flagged",)))
    def shortfall(c: Counts[Any]) -> Any:  # noqa: ANN401
        return -measure.positive_likelihood_ratio(c)

    c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    result = decide.best(c, shortfall)
    assert (result.threshold, result.notes) == (0.6, tuple(_skipped_note(2, "shortfall")))
    assert decide.require(c, "flag_rate >= 0", minimize=shortfall).notes == result.notes


@given(both, st.floats(0, 1), st.sampled_from(["sensitivity", "precision", "npv", "specificity"]))
def test_require_is_optimal_among_thresholds_that_satisfy_requirements(data: Rows, bound: float, name: str) -> None:
    c = curve_of(data)
    kept = np.asarray(measure.find_measure(name)(c.counts)) >= bound - 1e-12
    if not kept.any():
        with pytest.raises(InfeasibleError, match=f"no threshold has {name} >= "):
            decide.require(c, f"{name} >= {bound!r}", maximize="accuracy")
        return
    result = decide.require(c, f"{name} >= {bound!r}", maximize="accuracy").threshold
    reached = measure.accuracy(c.at(result))
    assert measure.find_measure(name)(c.at(result)) >= bound - 1e-12
    assert reached == pytest.approx(np.asarray(measure.accuracy(c.counts))[kept].max())


def test_infeasible_requirements_list_the_nearest_values(twenty_rows: Curve) -> None:
    with pytest.raises(ValueError, match=r"no threshold has precision >= 1.5: precision is 1 at most, at 1;"):
        decide.require(twenty_rows, "precision >= 1.5")
    with pytest.raises(ValueError, match="no threshold has sensitivity") as error:
        decide.require(twenty_rows, "sensitivity >= 0.9, specificity >= 0.9")
    assert str(error.value) == (
        "no threshold has sensitivity >= 0.9 and specificity >= 0.9: with specificity >= 0.9, sensitivity is 0.666667 "
        "at most, at 0.8; with sensitivity >= 0.9, specificity is 0.571429 at most, at 0.45; relax one of "
        "them."
    )
    with pytest.raises(ValueError, match="fpr is 0 at least, at inf"):
        decide.require(twenty_rows, "fpr <= -0.1")
    with pytest.raises(ValueError, match="nor all but one of them"):
        decide.require(twenty_rows, "accuracy >= 0.8, flag rate <= 5%, flag rate >= 95%")


@pytest.fixture
def twenty_rows() -> Curve:
    truth = [1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, *[0] * 8]
    return curve(tally(truth, [round(1 - i / 20, 2) for i in range(20)]))


def test_objectives_can_be_minimized(twenty_rows: Curve) -> None:
    priced = partial(measure.expected_cost, costs=Costs(fp=1, fn=5))
    result = decide.require(twenty_rows, "specificity >= 0.9", minimize=priced)
    kept = [t for t in twenty_rows.threshold if measure.specificity(twenty_rows.at(float(t))) >= 0.9]
    assert result.threshold == min(kept, key=lambda t: (priced(twenty_rows.at(float(t))), -t))
    with pytest.raises(OptionError, match="give either maximize= or minimize="):
        decide.require(twenty_rows, "specificity >= 0.9", maximize="f1", minimize="fpr")
    with pytest.raises(OptionError, match="there is no requirement"):
        decide.require(twenty_rows, [])
    with pytest.raises(OptionError, match="auc does not depend on the threshold"):
        decide.require(twenty_rows, "specificity >= 0.9", maximize="auc")


@given(rows(), st.floats(0, 1))
def test_capacity_is_used_up_to_ties(data: Rows, share: float) -> None:
    c = curve_of(data)
    result = decide.capacity(c, share=share)
    flagged = c.counts.flagged
    within = flagged[flagged <= share * c.total * (1 + 1e-12)]
    assert result.cut.counts(c).flagged == within.max()
    many = int(share * c.total)
    assert decide.capacity(c, at_most=many).cut.counts(c).flagged == flagged[flagged <= many].max()


def test_capacity_unused_by_ties_is_noted() -> None:
    c = curve(tally([1, 0, 1, 0, 1], [0.9, 0.5, 0.5, 0.5, 0.1]))
    result = decide.capacity(c, at_most=3)
    assert result.threshold == 0.9
    assert result.notes == ("1 of at most 3 are flagged, since the next 3 rows have the same score.",)
    assert decide.capacity(c, at_most=4).notes == ()
    assert decide.capacity(c, at_most=0).threshold == inf
    for wrong in ({}, {"at_most": 1, "share": 0.1}, {"share": 1.5}, {"at_most": -1}):
        with pytest.raises(OptionError):
            decide.capacity(c, **wrong)
    with pytest.raises(OptionError, match="as share="):
        decide.capacity(reweigh(c, prevalence=0.1), at_most=1)


@given(rows(), st.lists(st.floats(0, 0.4), min_size=1, max_size=3))
def test_bands_contain_at_most_their_share(data: Rows, shares: list[float]) -> None:
    assume(sum(shares) <= 1)
    c = curve_of(data)
    cut = decide.bands(c, shares=shares).cut
    table = cut.stretches(c)
    held = dict(zip(cut.actions, table.flagged / c.total, strict=True))
    names = {1: ("low", "high"), 2: ("low", "medium", "high")}.get(len(shares)) or [f"band {k + 1}" for k in range(4)]
    above = 0.0
    for share, name in zip(np.cumsum(shares), names[:0:-1], strict=True):
        above += held.get(name, 0.0)
        assert above <= share * (1 + 1e-9)
    assert table.flagged.sum() == pytest.approx(c.total)


@given(rows(), st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True))
def test_bands_by_risk_begin_where_flagging_pays(data: Rows, percent: list[int]) -> None:
    c, risks = curve_of(data), [each / 100 for each in sorted(percent)]
    cut = decide.bands(c, risks=risks).cut
    alone = [decide.cost(c, Costs(fp=risk, fn=1 - risk)).threshold for risk in risks]
    assert list(cut.thresholds) == sorted(set(alone))
    assert alone == sorted(alone)


def test_edges_of_bands(twenty_rows: Curve) -> None:
    named = decide.bands(twenty_rows, thresholds=(0.2, 0.6), names=("green", "amber", "red"))
    assert named.cut == Cut((0.2, 0.6), ("green", "amber", "red"))
    assert named.chosen_on is None  # nobody looked at the data
    thin = decide.bands(twenty_rows, risks=(0.41, 0.42))
    assert thin.cut.actions == ("low", "high")
    assert thin.notes == ("2 edges make only 2 bands: others would be empty.",)
    for wrong in (
        {},
        {"thresholds": (0.1,), "shares": (0.1,)},
        {"shares": ()},
        {"shares": (0.7, 0.7)},
        {"shares": (-0.1,)},
        {"risks": (0.3, 0.1)},
        {"risks": (1.1,)},
        {"risks": (0.0, 0.5)},
        {"thresholds": (0.1,), "names": ("a",)},
        {"thresholds": (0.1,), "names": ("a", "a")},
    ):
        with pytest.raises(OptionError):
            decide.bands(twenty_rows, **wrong)


def least_cost_by_enumeration(c: Curve, costs: dict[str, tuple[float, float]], actions: tuple[str, ...]) -> float:
    """Compute the least cost of any cut into these actions in order; ranges may be empty."""
    best, size = inf, len(c.threshold)
    flagged = c.flagged_mass
    total = flagged[:, -1]
    if len(actions) == 1:
        return float(costs[actions[0]][1] * total[0] + costs[actions[0]][0] * total[1])
    for high in range(size):
        for low in range(high, size) if len(actions) == 3 else (high,):
            edges = [total, flagged[:, low], flagged[:, high], np.zeros(2)]
            held = [above - below for above, below in pairwise(edges)]
            steps = held if len(actions) == 3 else [held[0], held[2]]
            paid = sum(
                costs[action][1] * mass[0] + costs[action][0] * mass[1]
                for action, mass in zip(actions, steps, strict=True)
            )
            best = min(best, paid)
    return best


@given(rows(max_size=12), st.tuples(*[st.integers(0, 12)] * 6))
def test_no_cut_into_actions_is_cheaper(data: Rows, given: tuple[int, ...]) -> None:
    c = curve_of(data)
    wait, test, treat = ((float(a), float(b)) for a, b in zip(given[::2], given[1::2], strict=True))
    costs = {"wait": wait, "test": test, "treat": treat}
    cut = decide.actions(c, costs).cut
    table = cut.stretches(c)
    paid = sum(
        costs[action][1] * tp + costs[action][0] * fp
        for action, tp, fp in zip(cut.actions, table.tp, table.fp, strict=True)
    )
    orders = [("wait", "test", "treat"), ("wait", "treat"), ("test", "treat"), ("wait", "test")]
    orders += [("wait",), ("test",), ("treat",)]
    sensible = [order for order in orders if all(costs[b][1] <= costs[a][1] for a, b in pairwise(order))]
    assert paid <= min(least_cost_by_enumeration(c, costs, order) for order in sensible) + 1e-9


def test_unused_actions_are_noted(twenty_rows: Curve) -> None:
    result = decide.actions(twenty_rows, {"pass": (0, 1), "refer": (0.6, 0.6), "flag": (1, 0)})
    assert result.cut.actions == ("pass", "flag")
    assert result.notes == ("refer is the cheapest action at no score.",)
    for wrong in ({"pass": (0, 1)}, {"a": (0, 1), "b": (0, inf)}):
        with pytest.raises(OptionError):
            decide.actions(twenty_rows, wrong)
    with pytest.raises(ValueError, match="two numbers"):
        decide.actions(twenty_rows, {"a": (0, 1), "b": (0,)})  # type: ignore[dict-item]


@given(rows(max_size=14), st.integers(1, 9), st.integers(1, 9), st.integers(0, 8))
def test_chows_rule_is_the_cheapest(data: Rows, fp: int, fn: int, refer: int) -> None:
    c, costs = curve_of(data), Costs(fp=fp, fn=fn)
    policy = decide.abstain(c, costs, refer=refer)
    cut = policy.cut
    table = cut.stretches(c)
    referred = dict(zip(cut.actions, table.flagged, strict=True)).get("refer", 0.0)
    paid = refer * referred
    for action, tp, fp_mass in zip(cut.actions, table.tp, table.fp, strict=True):
        paid += {"pass": fn * tp, "flag": fp * fp_mass, "refer": 0.0}[action]
    lines = {"pass": (0.0, float(fn)), "refer": (float(refer),) * 2, "flag": (float(fp), 0.0)}
    assert paid <= least_cost_by_enumeration(c, lines, ("pass", "refer", "flag")) + 1e-9


@given(rows(max_size=14), st.floats(0.05, 1), st.integers(1, 4), st.integers(1, 4))
def test_no_cut_with_the_coverage_is_cheaper(data: Rows, coverage: float, fp: int, fn: int) -> None:
    c, costs = curve_of(data), Costs(fp=fp, fn=fn)
    cut = decide.abstain(c, costs, coverage=coverage).cut
    result = cut.counts(c)
    flagged = c.counts
    best = inf
    for high in range(len(flagged.tp)):
        for low in range(high, len(flagged.tp)):
            tp, bad, missed, tn = flagged.tp[high], flagged.fp[high], flagged.fn[low], flagged.tn[low]
            decided = tp + bad + missed + tn
            if decided >= coverage * c.total * (1 - 1e-9):
                best = min(best, (fp * bad + fn * missed) / decided)
    assert result.total >= coverage * c.total * (1 - 1e-9)
    assert costs.total(result) / result.total == pytest.approx(best, abs=1e-12)


def test_options_of_abstention(twenty_rows: Curve) -> None:
    for wrong in ({}, {"refer": 0.1, "coverage": 0.5}, {"coverage": 0}, {"coverage": 1.5}, {"refer": inf}):
        with pytest.raises(OptionError):
            decide.abstain(twenty_rows, **wrong)
    dear = decide.abstain(twenty_rows, refer=5)
    assert dear.cut.actions == ("pass", "flag")
    assert dear.notes == ("no case is referred at a cost of 5: a decision is cheaper at every score.",)
    assert decide.abstain(twenty_rows, coverage=1).cut == decide.best(twenty_rows, "accuracy").cut


def test_abstention_at_another_prevalence_is_that_of_reweighed_data(twenty_rows: Curve) -> None:
    for options in ({"refer": 0.2}, {"coverage": 0.7}):
        stated = decide.abstain(twenty_rows, Costs(fp=1, fn=3), prevalence=0.1, **options)  # type: ignore[call-overload]
        reweighted = decide.abstain(reweigh(twenty_rows, prevalence=0.1), Costs(fp=1, fn=3), **options)  # type: ignore[call-overload]
        assert stated.cut == reweighted.cut


def test_constant_decisions_and_odd_costs_are_noted(twenty_rows: Curve) -> None:
    assert decide.cost(twenty_rows, Costs(fp=1, fn=1000)).notes == ()
    none = decide.cost(curve(tally([0, 1], [0.9, 0.1])), Costs(fp=10, fn=1))
    assert none.threshold == inf
    assert none.notes == ("flagging nobody is cheapest, so the scores are not used.",)
    everybody = decide.cost(curve(tally([0, 1], [0.9, 0.1])), Costs(fp=1, fn=10))
    assert everybody.notes == ("flagging everybody is cheapest, so the scores are not used.",)
    assert "check the costs" in decide.cost(twenty_rows, Costs(tp=5, fn=5)).notes[0]
    assert "flagging everybody is free" in decide.cost(twenty_rows, Costs(fp=0, tn=0)).notes[0]
    assert decide.best(curve(tally([0, 0, 1], [0.9, 0.5, 0.1])), "accuracy").notes == (
        "flagging nobody is best, so the scores are not used.",
    )


def test_data_without_both_classes_raise() -> None:
    single = curve(tally([1, 1], [0.2, 0.4]))
    for choose in (decide.youden, decide.closest, decide.balanced):
        with pytest.raises(FitError, match="there are no negatives"):
            choose(single)
    with pytest.raises(FitError, match="undefined at every threshold: there are no positives"):
        decide.break_even(curve(tally([0, 0], [0.2, 0.4])))
    with pytest.raises(FitError, match="specificity is undefined at every threshold: there are no negatives"):
        decide.best(single, "specificity")
    with pytest.raises(FitError, match="a stated prevalence needs both classes"):
        decide.cost(single, Costs(), prevalence=0.1)
    with pytest.raises(OptionError, match="prevalence is 2"):
        decide.cost(curve(tally([0, 1], [0, 1])), Costs(), prevalence=2)
    empty = curve(tally([1, 0], [0.2, 0.4]).__class__.sum([]))
    with pytest.raises(FitError, match="the curve has no mass"):
        decide.youden(empty)
    assert decide.youden(tally([0, 1], [0.1, 0.9])).threshold == 0.9
    with pytest.raises(OptionError, match="youden needs labels and scores"):
        decide.youden([0, 1])  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="costs have no fn"):
        decide.cost(single, {"fp": 1})


def test_best_rejects_other_measures(twenty_rows: Curve) -> None:
    with pytest.raises(OptionError, match="auc does not depend on the threshold"):
        decide.best(twenty_rows, "auc")
    with pytest.raises(OptionError, match="neither end of flag_rate is better"):
        decide.best(twenty_rows, "flag_rate")
    with pytest.raises(OptionError, match="toward is 'up'"):
        decide.best(twenty_rows, "f1", toward="up")  # type: ignore[call-overload]
    assert decide.best(twenty_rows, "flag_rate", toward="low").threshold == inf
    assert decide.best(twenty_rows, "f_beta", beta=2).settings == {"measure": "f_beta", "beta": 2}


def test_a_policy_stores_its_rule_and_settings(twenty_rows: Curve) -> None:
    result = decide.cost(twenty_rows, Costs(fp=1, fn=3), prevalence=0.2)
    assert isinstance(result, Policy)
    assert (result.rule, result.otherwise, result.needs_group) == ("cost", "refuse", False)
    assert result.settings == {"costs": Costs(fp=1, fn=3), "prevalence": 0.2}
    assert result.chosen_on == twenty_rows.tally.digest
    assert decide.fixed(twenty_rows, 0.3).chosen_on is None
    assert decide.break_even(twenty_rows).rule == "break-even"


def test_rules_have_names() -> None:
    assert decide.find_rule("Break even") is decide.break_even
    for name, choose in decide.RULES.items():
        assert decide.find_rule(name) is choose
        assert choose.__doc__
    with pytest.raises(UnknownNameError, match="Did you mean 'youden'"):
        decide.find_rule("yuoden")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("closest.topleft", "closest"),  # pROC
        ("roc01", "closest"),  # cutpointr
        ("youden_index", "youden"),
        ("Youden's J", "youden"),
        ("balanced_accuracy", "youden"),  # scikit-learn
        ("sum_sens_spec", "youden"),  # cutpointr
        ("abs_d_sens_spec", "balanced"),  # cutpointr
        ("SpEqualSe", "balanced"),  # OptimalCutpoints
        ("PrevalenceMatching", "prevalence-matching"),  # OptimalCutpoints
        ("NPVEqualPPV", "balanced-predictive-values"),
        ("PROC01", "closest-predictive-values"),
        ("MaxSpSe", "maximin"),
        ("MaxNPVPPV", "maximin-predictive-values"),
        ("Minimax", "minimax"),
        ("ObservedPrev", "observed-prevalence"),
        ("MeanPrev", "mean-score"),
        ("MinPvalue", "min-p-value"),
        ("oc_youden_normal", "normal"),  # cutpointr
        ("oc_youden_kernel", "kernel"),
        ("maximize_loess_metric", "loess"),
        ("maximize_gam_metric", "spline"),
        ("maximize_boot_metric", "bootstrap-average"),
        ("oc_mean", "mean-score"),
        ("oc_median", "median-score"),
        ("p_chisquared", "min-p-value"),
        ("misclassification_cost", "cost"),  # cutpointr
        ("top-k", "capacity"),
        ("reject option", "abstain"),
    ],
)
def test_names_of_other_software_are_accepted(name: str, rule: str) -> None:
    assert decide.find_rule(name) is decide.RULES[rule]


def test_registry_of_rules() -> None:
    aliases = [alias for entry in decide.DECISION_RULES.values() for alias in entry.aliases]
    assert len({*aliases, *decide.RULES}) == len(aliases) + len(decide.RULES)
    for name, entry in decide.DECISION_RULES.items():
        options = {option.name for option in entry.options}
        parameters = {*signature(entry.function).parameters} | {"at_most", "share", "measure", "value"}
        assert (entry.name, entry.function) == (name, decide.RULES[name])
        assert entry.function.__name__ == name.replace("-", "_")
        assert {*entry.needs} | {each for group in entry.exclusive for each in group} <= options
        assert bool(entry.needs) == bool(entry.needs_example)
        assert {option.parameter for option in entry.options} - {None} <= parameters
        assert all(decide.find_rule(alias) is entry.function for alias in entry.aliases)
        assert entry.summary.endswith(".")
        # A plan has no place for options other than costs, and the page offers what a plan can name.
        assert not entry.in_plans or {option.kind for option in entry.options} <= {"cost"}
        assert entry.in_plans == (entry.page_label is not None)
    assert [name for name, entry in decide.DECISION_RULES.items() if not entry.uses_data] == ["fixed"]


@given(both)
def test_unit_of_weights_does_not_matter(data: Rows) -> None:
    """Equal weights in another unit do not change the threshold."""
    c = curve_of(data)
    third = curve(tally(data.truth, data.score, weight=np.full(len(data.truth), 1 / 3)))
    for choose in (decide.youden, decide.closest, decide.balanced, partial(decide.best, measure="f1")):
        assert choose(c).threshold == choose(third).threshold


def test_undefined_thresholds_do_not_take_part() -> None:
    c = curve(tally([0, 1], [0.9, 0.1]))
    assert isnan(measure.precision(c.at(inf)))
    assert decide.best(c, "precision").threshold == 0.1
    counts: Counts[float] = decide.best(c, "precision").cut.counts(c)
    assert counts.flagged == 2
