"""Thinned curves omit thresholds within their stated bounds, and keep exact counts."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import baserate
from baserate import (
    Costs,
    Curve,
    Cut,
    FileFormatError,
    Plan,
    Policy,
    RandomizedCut,
    Report,
    Tallies,
    Tally,
    decide,
    infer,
    measure,
    read,
    shift,
)
from baserate.report import _curves
from baserate.report._curves import ThinnedCurve, thin_curves
from tests.strategies import rows

PLAN = Plan(truth="sick", score="risk")


@st.composite
def long_tallies(draw: st.DrawFn) -> Tally:
    """Draw thousands of scores: few or many of each class, separated or not, with weights of any size or none."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    size = draw(st.integers(1001, 6000))
    share, sharp = draw(st.sampled_from([0.001, 0.02, 0.3, 0.5, 0.98])), draw(st.sampled_from([-1.0, 0.0, 1.0, 4.0]))
    truth = rng.random(size) < share
    score = rng.normal(size=size) + sharp * truth
    if draw(st.booleans()):  # much of the mass at a few scores
        score = np.where(rng.random(size) < 0.3, np.round(score), score)
    spread = draw(st.sampled_from([None, 1.0, 5.0]))
    return baserate.tally(truth, score, weight=None if spread is None else np.exp(rng.normal(scale=spread, size=size)))


def thin_single(tally: Tally) -> ThinnedCurve:
    return thin_curves(Tallies({"risk": {(): tally}}), PLAN, {})[0]


def flagged_mass(thinned: ThinnedCurve) -> Any:  # noqa: ANN401  (an array)
    """Return flagged masses at +inf and at each kept threshold, positives first, of everybody."""
    running = thinned.mass.sum(axis=1).cumsum(axis=1)
    return np.concatenate([np.zeros((2, 1)), running], axis=1)


def neighbor_counts(thinned: ThinnedCurve, tally: Tally) -> Any:  # noqa: ANN401  (two arrays)
    """Return counts at every threshold of a tally, and at the next stricter kept threshold."""
    full = Curve(tally)
    place = len(thinned.threshold) - np.searchsorted(thinned.threshold[::-1], full.threshold, side="left")
    kept = np.concatenate([[np.inf], thinned.threshold])[place]
    assert (kept >= full.threshold).all()
    return full.counts, full.at(kept)


def check_bounds(thinned: ThinnedCurve, tally: Tally, steps: int) -> None:
    here, there = neighbor_counts(thinned, tally)
    for name in ("sensitivity", "fpr"):
        if not np.isnan(measure.MEASURES[name](here)).any():
            assert (np.abs(measure.MEASURES[name](here) - measure.MEASURES[name](there)) < 1 / steps + 1e-12).all()
    for prevalence in (1e-4, 0.02, 0.5, 0.97):
        if tally.positives and tally.negatives:
            near, far = (shift.reweigh(each, prevalence=prevalence) for each in (here, there))
            for name in ("precision", "npv"):
                a, b = (measure.MEASURES[name](each) for each in (near, far))
                assert (np.isnan(a) == np.isnan(b)).all()
                assert (np.abs(a - b)[~np.isnan(a)] <= 5 / steps + 1e-9).all()


@given(long_tallies())
def test_every_threshold_has_a_stricter_neighbor_within_the_bounds(tally: Tally) -> None:
    check_bounds(thin_single(tally), tally, _curves.STEPS)


@settings(max_examples=15, deadline=None)
@given(st.lists(long_tallies(), min_size=2, max_size=14))
def test_every_threshold_of_a_group_has_a_stricter_neighbor_within_the_bounds(tallies: list[Tally]) -> None:
    groups = Tallies({"risk": {(at,): each for at, each in enumerate(tallies)}}, ("site",))
    thinned = thin_curves(groups, PLAN, {})[0]
    assert thinned.kept["group_steps"] == min(100, 1000 // len(tallies))
    for tally in tallies:
        check_bounds(thinned, tally, thinned.kept["group_steps"])
    if not any(tally.weighted for tally in tallies):
        check_bounds(thinned, groups.pooled("risk"), _curves.STEPS)


@given(long_tallies())
def test_counts_and_hull_equal_those_of_the_full_curve(tally: Tally) -> None:
    thinned, full = thin_single(tally), Curve(tally)
    at = full.at(thinned.threshold)
    np.testing.assert_allclose(flagged_mass(thinned)[:, 1:], [at.tp, at.fp], rtol=1e-12 if tally.weighted else 0)
    assert {*full.hull().tally.score} <= {*thinned.threshold}
    assert (np.diff(thinned.threshold) < 0).all()
    assert {*thinned.threshold} <= {*tally.score}
    if tally.weighted:
        assert thinned.squares is not None
        np.testing.assert_allclose(thinned.squares.sum(axis=(1, 2)), tally.squares.sum(axis=1))
    else:
        assert thinned.squares is None
        thin = Tally.from_counts(thinned.threshold, thinned.mass[:, 0])
        assert Curve(thin).hull().threshold.tolist() == full.hull().threshold.tolist()


@settings(max_examples=15, deadline=None)
@given(long_tallies(), st.floats(0.1, 50))
def test_rules_choose_the_same_on_thinned_curves(tally: Tally, miss: float) -> None:
    if tally.weighted or not (tally.positives and tally.negatives):
        return
    thinned = thin_single(tally)
    full, thin = Curve(tally), Curve(Tally.from_counts(thinned.threshold, thinned.mass[:, 0]))
    for rule in (decide.youden, decide.closest, decide.balanced, decide.break_even):
        assert rule(thin).threshold == rule(full).threshold
    assert decide.cost(thin, Costs(fp=1, fn=miss)).threshold == decide.cost(full, Costs(fp=1, fn=miss)).threshold


@given(rows())
def test_few_scores_are_all_kept(data: Any) -> None:  # noqa: ANN401  (rows)
    tally = baserate.tally(data.truth, data.score, positive=True)
    thinned = thin_single(tally)
    assert thinned.threshold.tolist() == tally.score.tolist()
    assert thinned.bound == "All thresholds are kept; counts are exact."
    edges = thinned.scores["edges"]
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert edges[0] <= tally.score[-1] <= tally.score[0] <= edges[-1]
    for at, name in enumerate(("positive", "negative")):
        for low, high, mass in zip(edges, edges[1:], thinned.scores[name][0], strict=False):
            inside = (tally.score >= low) & ((tally.score < high) | ((tally.score == high) & (high == edges[-1])))
            assert mass == tally.mass[at][inside].sum()
    assert (thinned.reliability is None) == (not tally.probable)
    assert (thinned.band is None) == (not (tally.positives and tally.negatives))


@pytest.mark.parametrize("score", [[1.7e308, -1.7e308], [1.7e308] * 2, [0.0, -5e-324], [2.0, 2.0 + 4e-16], [-3.0] * 2])
def test_odd_scores_have_a_histogram(score: list[float]) -> None:
    result = thin_single(baserate.tally([1, 0], score)).scores
    assert np.isfinite(result["edges"]).all()
    assert result["positive"].sum() == result["negative"].sum() == 1


def test_edges_of_probabilities_are_short() -> None:
    assert thin_single(baserate.tally([1, 0], [0.3, 0.2])).scores["edges"].tolist() == [at / 40 for at in range(41)]


@given(rows(st.floats(0, 1)))
def test_bins_give_the_calibration_error(data: Any) -> None:  # noqa: ANN401  (rows)
    tally = baserate.tally(data.truth, data.score, positive=True)
    bins = thin_single(tally).reliability
    assert bins is not None
    mass = bins["positive"][0] + bins["negative"][0]
    gap = np.abs(bins["positive"][0] - bins["positive_sum"][0] - bins["negative_sum"][0])
    assert mass.sum() == tally.total
    assert gap.sum() / mass.sum() == pytest.approx(measure.ece(tally), abs=1e-12)


def make_table(size: int = 3000) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    sick = rng.random(size) < 0.2
    risk = 1 / (1 + np.exp(2 - 2 * sick - rng.normal(size=size)))
    return {
        "sick": sick,
        "risk": risk,
        "site": rng.choice(["a", "b"], size),
        "w": rng.random(size),
        "says": risk > 0.5,
    }


def make_report(size: int = 3000, **more: Any) -> Report:  # noqa: ANN401  (any field of a plan)
    return baserate.run(Plan(**{"truth": "sick", "score": "risk"} | more), make_table(size))


def test_band_is_close_to_that_of_all_thresholds() -> None:
    result, table = make_report(weight="w").sketches[0].band, make_table()
    assert result is not None
    full = infer.confidence_band(
        baserate.tally(table["sick"], table["risk"], weight=table["w"]), "roc", points=None
    ).columns
    last = np.searchsorted(full["fpr"], result["fpr"] + 1e-6, side="right") - 1
    for name in ("low", "high"):
        assert np.abs(result[name] - full[name][last]).max() < 0.01


def test_thresholds_of_the_policy_are_kept() -> None:
    randomized = RandomizedCut((Cut((0.123456,)), Cut((0.654321,))), (0.5, 0.5))
    policy = Policy(by_group={("a",): Cut((0.2222222, 0.3333333), ("pass", "refer", "flag")), ("b",): randomized},
                    otherwise="refuse", attributes=("site",))  # fmt: skip
    thinned = make_report(group="site", policy=policy).sketches[0]
    assert {0.123456, 0.654321, 0.2222222, 0.3333333} <= {*thinned.threshold.tolist()}
    assert np.inf not in make_report(threshold=np.inf).sketches[0].threshold


def test_labels_have_two_thresholds_and_no_band() -> None:
    report = make_report(predicted="says")
    risk, says = report.sketches
    assert (risk.name, says.name) == ("risk", "says")
    assert says.threshold.tolist() == [1, 0]
    assert (says.band, says.reliability) == (None, None)
    counts = report.of("says").here.counts
    assert says.mass[:, 0, 0].tolist() == [counts.tp, counts.fp]
    assert report.of("says").sketches == (says,)


@pytest.mark.parametrize("more", [{}, {"group": "site"}, {"weight": "w"}, {"predicted": "says", "group": "site"}])
def test_json_round_trip(more: dict[str, Any]) -> None:
    report = make_report(**more)
    again = Report.from_json(report.to_json())
    assert len(again.sketches) == len(report.models)
    for before, after in zip(report.sketches, again.sketches, strict=True):
        assert before.form == after.form
        assert before.mass.tolist() == after.mass.tolist()
        assert before.threshold.tolist() == after.threshold.tolist()
    assert again.to_json() == report.to_json()


def test_whole_numbers_are_written_as_integers() -> None:
    form = json.loads(make_report(size=40).to_json())["curves"][0]
    assert all(isinstance(mass, int) for row in form["positive_mass"] for mass in row)
    assert ThinnedCurve.of_form(form).form == form


@pytest.mark.parametrize("broken", [{"threshold": ["x"]}, {"positive_mass": [[1, 2], [3]]}, {"band": {"fpr": []}}])
def test_broken_curves_are_errors(broken: dict[str, Any]) -> None:
    form = json.loads(make_report(size=40).to_json())
    form["curves"][0] |= broken
    with pytest.raises(FileFormatError, match="not a valid report"):
        Report.from_json(json.dumps(form))


def test_digests_are_those_of_policies_chosen_on_the_same_rows() -> None:
    rng = np.random.default_rng(0)
    table = {"sick": rng.random(50) < 0.5, "risk": rng.random(50), "site": rng.choice(["a", "b"], 50)}
    thinned = baserate.run(Plan(truth="sick", score="risk", group="site"), table).sketches[0]
    tallies = read.tallies(table, truth="sick", score="risk", group="site")
    assert thinned.digest == decide.youden(Curve(tallies.pooled("risk"))).chosen_on
    goal = baserate.fairness.Goal("equal-opportunity", costs=Costs(fp=1, fn=1))
    assert thinned.group_digest == baserate.fairness.optimal_policy(tallies, goal).chosen_on
    assert thinned.groups == ({"site": "a"}, {"site": "b"})


def test_bound_states_the_number_of_thresholds() -> None:
    thinned = make_report(group="site").sketches[0]
    assert repr(thinned) == f"ThinnedCurve(risk: {len(thinned.threshold)} thresholds of 3000)"
    assert "less than 0.002, and PPV and NPV by 0.01 at any prevalence (0.01 and 0.05 in a group)" in thinned.bound
