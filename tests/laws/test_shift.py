"""Laws of known prevalence: weights change, scores do not, and only rows within classes are random."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from baserate import Counts, Curve, Tally, infer, measure, shift, tally
from baserate.measure import MEASURES, describe
from tests.strategies import Rows, measure_argument, probability, rows, same, tables

SLOW = settings(max_examples=settings().max_examples // 5)
near = partial(pytest.approx, rel=1e-9, abs=1e-12, nan_ok=True)
share = st.floats(0.001, 0.999)
people = rows(score=probability, max_size=25)
UNTOUCHED = ("auc", "gini", "accuracy_ratio", "ks", "partial_auc", "sensitivity", "specificity", "fpr", "fnr")
RATES = ("positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio", "youden", "g_mean")
CHEAP = [name for name in MEASURES if name not in ("pr_auc", "partial_auc")]


def make_tally(data: Rows) -> Tally:
    assume(data.truth.any() and not data.truth.all())
    return tally(*data, positive=True)


def estimate_measure(name: str, data: Tally, **options: Any) -> Any:  # noqa: ANN401
    return infer.estimate(name, data, threshold=0.5 if describe(MEASURES[name]).of is Counts else None, **options)


@given(people, share)
def test_reweighing_changes_only_masses(data: Rows, to: float) -> None:
    sample = make_tally(data)
    result = shift.reweigh(sample, prevalence=to)
    assert result.reweighed
    assert result.prevalence == near(to)
    assert result.total == near(sample.total)
    assert result.score is sample.score
    assert result.rows is sample.rows
    assert result.digest == sample.digest
    # Each class keeps its effective number of rows.
    kish = [(each.mass**1.0).sum(axis=1) ** 2 / each.squares.sum(axis=1) for each in (sample, result)]
    assert same(*kish, within=1e-9)


@given(people, st.floats(0.01, 100))
def test_reweighing_by_gamma_and_back_restores_masses(data: Rows, gamma: float) -> None:
    sample = make_tally(data)
    there = shift.reweigh(sample, gamma=gamma)
    assert there.prevalence == near(shift.prevalence_of_gamma(gamma, sample_prevalence=sample.prevalence))
    back = shift.reweigh(there, gamma=1 / gamma)
    assert same(back.mass, sample.mass, within=1e-12)
    assert same(back.squares, sample.squares, within=1e-12)
    own = shift.reweigh(sample, prevalence=sample.prevalence)
    assert same(own.mass, sample.mass, within=1e-12)


@given(people, share)
def test_reweighing_keeps_measures_within_classes(data: Rows, to: float) -> None:
    sample = make_tally(data)
    result = shift.reweigh(sample, prevalence=to)
    for name in (*UNTOUCHED, *RATES):
        function = MEASURES[name]
        before, after = (function(measure_argument(describe(function).of, each)) for each in (sample, result))
        assert same(before, after, within=1e-9), name


@given(tables(st.integers(1, 50)), share)
def test_classes_may_swap_names(c: Counts[float], to: float) -> None:
    one, other = shift.reweigh(c, prevalence=to).swap_classes(), shift.reweigh(c.swap_classes(), prevalence=1 - to)
    assert one.reweighed
    assert other.reweighed
    for name in ("tp", "fp", "fn", "tn"):
        assert getattr(one, name) == near(getattr(other, name))
    result, dual = (
        infer.estimate(name, shift.reweigh(each, prevalence=at))
        for name, each, at in (("precision", c, to), ("npv", c.swap_classes(), 1 - to))
    )
    assert (dual.value, dual.low, dual.high) == near((result.value, result.low, result.high))


@given(tables(st.integers(1, 50)), share)
def test_closed_forms(c: Counts[float], to: float) -> None:
    gamma = shift.gamma(sample_prevalence=measure.prevalence(c), prevalence=to)
    there = shift.reweigh(c, prevalence=to)
    assert measure.precision(there) == near(c.tp / (c.tp + gamma * c.fp))
    assert measure.accuracy(there) == near((c.tp + gamma * c.tn) / (c.positives + gamma * c.negatives))
    assert measure.npv(there) == near(gamma * c.tn / (gamma * c.tn + c.fn))
    rates = measure.sensitivity(c), measure.specificity(c)
    assert shift.ppv(*rates, to) == near(measure.precision(there))
    assert shift.npv(*rates, to) == near(measure.npv(there))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), share, share)
def test_repriored_posteriors_come_back_and_keep_their_order(p: list[float], here: float, there: float) -> None:
    scores = np.sort(p)
    moved = shift.reprior(scores, sample_prevalence=here, prevalence=there)
    assert (np.diff(moved) >= 0).all()
    np.testing.assert_allclose(
        shift.reprior(moved, sample_prevalence=there, prevalence=here), scores, rtol=1e-6, atol=1e-12
    )
    gamma = shift.gamma(sample_prevalence=here, prevalence=there)
    np.testing.assert_allclose(moved, scores / (scores + gamma * (1 - scores)), rtol=1e-9, atol=1e-12)
    # A threshold on one scale flags what its image flags on the other.
    cut = shift.reprior_threshold(0.3, sample_prevalence=here, prevalence=there)
    clear = np.abs(moved - 0.3) > 1e-9
    assert ((scores >= cut) == (moved >= 0.3))[clear].all()
    assert shift.reprior_threshold(cut, sample_prevalence=there, prevalence=here) == pytest.approx(0.3, rel=1e-9)


@SLOW
@given(people, share)
def test_intervals_hold_the_value_and_stay_in_the_span(data: Rows, to: float) -> None:
    sample = shift.reweigh(make_tally(data), prevalence=to)
    for name in CHEAP:
        result = estimate_measure(name, sample)
        if np.isnan(result.low):
            assert result.why, name
            continue
        least, most = describe(MEASURES[name]).span
        assert least <= result.low <= result.value <= result.high <= most, name
        assert result.how


@SLOW
@given(people, share)
def test_nested_levels_nest(data: Rows, to: float) -> None:
    sample = shift.reweigh(make_tally(data), prevalence=to)
    for name in CHEAP:
        last = estimate_measure(name, sample, level=0.5)
        for level in (0.8, 0.95):
            result = estimate_measure(name, sample, level=level)
            if not np.isnan(result.low):
                assert result.low <= last.low + 1e-12, name
                assert result.high >= last.high - 1e-12, name
            last = result


@SLOW
@given(people, share)
def test_reweighing_keeps_intervals_of_areas_and_fixes_the_prevalence(data: Rows, to: float) -> None:
    sample = make_tally(data)
    result = shift.reweigh(sample, prevalence=to)
    for name in ("sensitivity", "specificity", "fpr", "fnr", "auc", "gini"):
        before, after = estimate_measure(name, sample), estimate_measure(name, result)
        assert (after.value, after.low, after.high) == near((before.value, before.low, before.high)), name
        assert after.how == before.how
    for name in ("prevalence", "brier_uncertainty", "log_uncertainty"):
        exact = estimate_measure(name, result)
        assert exact.low == exact.value == exact.high
        assert exact.how == "known"


@SLOW
@given(people, share, st.sampled_from([2.0**-10, 8.0]))
def test_reweighed_intervals_do_not_depend_on_the_total_mass(data: Rows, to: float, factor: float) -> None:
    sample = make_tally(data)
    once = shift.reweigh(sample, prevalence=to)
    scaled = shift.reweigh(tally(*data, positive=True, weight=np.full(len(data.truth), factor)), prevalence=to)
    for name in CHEAP:
        result, other = estimate_measure(name, once), estimate_measure(name, scaled)
        wanted = (result.value, result.low, result.high)
        assert (other.value, other.low, other.high) == pytest.approx(wanted, rel=1e-6, abs=1e-9, nan_ok=True), name


@given(tables(st.integers(0, 30)), st.lists(share, min_size=1, max_size=5))
def test_a_curve_against_the_prevalence_is_made_of_reweighed_tables(c: Counts[float], at: list[float]) -> None:
    assume(c.positives and c.negatives)
    names = ["precision", "npv", "accuracy", "f1", "jaccard", "prevalence", "sensitivity"]
    result = shift.prevalence_curve(c, names, prevalences=at).rows()
    for row in result:
        alone = infer.estimate(row["measure"], shift.reweigh(c, prevalence=row["prevalence"]))
        if row["value"] is None:
            assert row["why"] == alone.why
            continue
        assert row["value"] == near(alone.value)
        simulated = row["measure"] == "jaccard"
        wanted = pytest.approx((alone.low, alone.high), abs=0.05 if simulated else 1e-9, rel=0.1 if simulated else 1e-9)
        assert (row["low"], row["high"]) == wanted, row


def test_groups_share_gamma() -> None:
    from baserate import read

    rng = np.random.default_rng(0)
    sick = rng.random(200) < 0.4
    site = np.where(rng.random(200) < 0.3 + 0.4 * sick, "a", "b")
    data = read.tallies({"y": sick, "p": rng.random(200), "g": site}, truth="y", score="p", group="g")
    result = shift.reweigh(data, prevalence=0.05)
    (model,) = result.models
    assert result.pooled(model).prevalence == near(0.05)
    assert result.pooled(model).reweighed
    gamma = shift.gamma(sample_prevalence=data.pooled(model).prevalence, prevalence=0.05)
    for group, each in data.models[model].items():
        wanted = shift.reweigh(each, gamma=gamma)
        assert result.models[model][group].prevalence == near(wanted.prevalence)
        # P(group | class) is what it was.
        for row in (0, 1):
            before = each.mass[row].sum() / data.pooled(model).mass[row].sum()
            assert result.models[model][group].mass[row].sum() / result.pooled(model).mass[row].sum() == near(before)


def test_hulls_of_reweighed_curves_stay_reweighed() -> None:
    curve = Curve(shift.reweigh(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), prevalence=0.1))
    assert isinstance(shift.reweigh(curve, prevalence=0.2), Curve)
    assert curve.hull().tally.reweighed
    assert curve.at(0.5).reweighed
    assert curve.counts.reweighed
    assert all(block.reweighed for _, block in curve.blocks())
