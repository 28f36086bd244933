"""Cross-validation of a parity: gaps on held-out folds."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import (
    Costs,
    Counts,
    Curve,
    Cut,
    FitError,
    OptionError,
    Policy,
    RandomizedCut,
    Tallies,
    Tally,
    UnknownNameError,
    fairness,
    measure,
    population,
    read,
)
from baserate._cut import Treatment
from baserate._tally import Group
from baserate.fairness import Folds, Goal, ParityValidation
from baserate.infer import IntervalOptions

near = partial(pytest.approx, rel=0, abs=1e-9)
ODDS = Goal("equalized-odds")
CELLS = ("tp", "fp", "fn", "tn")
BY_SEX: dict[Group, Treatment] = {("f",): Cut((0.5,)), ("m",): RandomizedCut((Cut((0.0,)), Cut((1.0,))), (0.25, 0.75))}
Choose = Callable[[Tallies, Goal], Policy]


def people(rows: int = 400, seed: int = 0) -> dict[str, Any]:
    """Simulate two groups with scores of different quality."""
    (sick, risk), (also, less) = (
        population.binormal(means=(0, mean), prevalence=share).draw(rows // 2, seed + at)
        for at, (mean, share) in enumerate([(1.5, 0.4), (0.8, 0.5)])
    )
    sex = np.repeat(["f", "m"], rows // 2)
    return {"sick": np.append(sick, also), "risk": np.append(risk, less).round(1), "sex": sex}


def read_tallies(columns: dict[str, Any], **more: Any) -> Tallies:  # noqa: ANN401
    return read.tallies(columns, truth="sick", score="risk", group="sex", **more)


def curve_of(tallies: Tallies, group: Group) -> Curve:
    return Curve(tallies.models["risk"][group])


def fixed_policy(_tallies: Tallies, _goal: Goal) -> Policy:
    return Policy(by_group=BY_SEX, otherwise="refuse", attributes=("sex",))


def cells(table: Counts[float]) -> list[float]:
    return [getattr(table, cell) for cell in CELLS]


def recording_rule(observed: list[Tallies]) -> Choose:
    """Return the optimal policy, and record the data: all rows first, then those without each fold."""

    def choose(tallies: Tallies, goal: Goal) -> Policy:
        observed.append(tallies)
        return fairness.optimal_policy(tallies, goal)

    return choose


def test_fixed_policy_is_the_same_in_all_folds() -> None:
    t = read_tallies(people())
    costs = Costs(fp=1, fn=4)
    result = fairness.cross_validate(t, Goal("equalized-odds", costs=costs), choose=fixed_policy, folds=Folds(folds=4))
    for group, treatment in BY_SEX.items():
        curve = curve_of(t, group)
        assert cells(result.tables[group]) == near(cells(treatment.counts(curve)))
    assert result.cost.value == near(result.cost_apparent)
    whole = sum(costs.total(treatment.counts(curve_of(t, group))) for group, treatment in BY_SEX.items())
    assert result.cost_apparent == near(whole / 400)
    assert result.policy == fixed_policy(t, ODDS)


@settings(max_examples=settings().max_examples // 4)
@given(seed=st.integers(0, 10**6), folds=st.integers(2, 6), repeats=st.integers(1, 3))
def test_every_row_is_held_out_once_and_never_fitted_to(seed: int, folds: int, repeats: int) -> None:
    t, observed = read_tallies(people(120, seed)), list[Tallies]()
    result = fairness.cross_validate(
        t, ODDS, choose=recording_rule(observed), folds=Folds(folds=folds, repeats=repeats, seed=seed)
    )
    assert len(result.greatest_gaps) == len(observed) - 1 == folds * repeats
    for group, tally in t.models["risk"].items():
        table = result.tables[group]
        assert [table.positives, table.negatives] == near([tally.positives, tally.negatives])
        rest = Tally.sum(each.models["risk"][group] for each in observed[1 : 1 + folds])
        np.testing.assert_array_equal(rest.score, tally.score)
        np.testing.assert_array_equal(rest.rows, tally.rows.astype(np.int64) * (folds - 1))
    assert result.policy == fairness.optimal_policy(t, ODDS)
    assert result.cost_apparent == near(result.policy.settings["cost"])
    assert max(result.apparent.values()) < 1e-9
    assert min(result.greatest_gaps) >= 0


def test_each_fold_is_evaluated_by_the_policy_fitted_without_it() -> None:
    """With two folds, the data without one are the other fold."""
    t, observed = read_tallies(people()), list[Tallies]()
    result = fairness.cross_validate(t, ODDS, choose=recording_rule(observed), folds=Folds(folds=2))
    _, one, other = observed
    tables = [
        {group: policy.by_group[group].counts(curve_of(half, group)) for group in t.groups}
        for policy, half in ((fairness.optimal_policy(one, ODDS), other), (fairness.optimal_policy(other, ODDS), one))
    ]
    for group in t.groups:
        added = np.sum([cells(each[group]) for each in tables], axis=0)
        assert cells(result.tables[group]) == near(added.tolist())
    for at, each in enumerate(tables):
        f, m = each["f",], each["m",]
        wide = [abs(rate(f) - rate(m)) for rate in (measure.sensitivity, measure.fpr)]
        assert [gaps[at] for gaps in result.gaps.values()] == near(wide)
        assert result.greatest_gaps[at] == near(max(wide))
    assert result.mean_gap == near(result.greatest_gaps.mean())
    assert result.quantile(0.95) == near(np.quantile(result.greatest_gaps, 0.95))


def test_a_parity_fitted_to_many_rows_generalizes() -> None:
    few = read_tallies(people(2000))
    many = {
        group: Tally.from_counts(tally.score, tally.rows.astype(np.int64) * 10**6) for group, tally in groups_of(few)
    }
    wide, narrow = (fairness.cross_validate(each, ODDS) for each in (few, Tallies({"risk": many}, ("sex",))))
    assert wide.greatest_gaps.max() > 0.02
    assert narrow.greatest_gaps.max() < 0.001
    assert max(narrow.null_gaps.values()) < 0.001
    assert narrow.cost.value == pytest.approx(narrow.cost_apparent, abs=1e-4)
    assert wide.cost.value > wide.cost_apparent


def groups_of(tallies: Tallies) -> list[tuple[Group, Tally]]:
    return list(tallies.models["risk"].items())


def test_intervals_are_those_of_the_tables() -> None:
    interval = IntervalOptions(level=0.9, method="jeffreys")
    result = fairness.cross_validate(
        read_tallies(people()), Goal(["equalized-odds", "demographic-parity"]), interval=interval
    )
    assert [*result.rates] == ["sensitivity", "fpr", "flag_rate"]
    for rate, groups in result.rates.items():
        for group, estimate in groups.items():
            assert estimate == interval.of(measure.MEASURES[rate], result.tables[group])
    assert result.cost.low < result.cost.value < result.cost.high
    assert result.cost.level == 0.9


def test_scale_of_weights_does_not_matter() -> None:
    columns = people()
    weight = np.random.default_rng(0).uniform(0.5, 2, 400)
    one, tenfold = (read_tallies(columns | {"w": weight * by}, weight="w") for by in (1, 10))
    result, scaled = (fairness.cross_validate(each, ODDS, folds=Folds(folds=3)) for each in (one, tenfold))
    assert result.greatest_gaps == near(scaled.greatest_gaps)
    assert result.cost.value == near(scaled.cost.value)
    for group, tally in groups_of(one):
        table = result.tables[group]
        assert [table.positives, table.negatives] == near([tally.positives, tally.negatives])
        assert table.rows.total == near(200)
        low, high = (each.rates["fpr"][group].low for each in (result, scaled))
        assert low == near(high)


def test_clusters_are_not_split_between_folds() -> None:
    columns = people()
    # Every cluster has a score of its own, by which it is known again.
    columns["risk"] = np.arange(400) // 8 / 50 + columns["risk"].round() / 1000
    columns["home"] = np.arange(400) // 8
    rows = read.rows(columns, truth="sick", score="risk", group="sex", cluster="home")
    observed = list[Tallies]()
    result = fairness.cross_validate(rows, ODDS, choose=recording_rule(observed), folds=Folds(folds=5))
    whole, *parts = observed
    for part in parts:
        homes = [np.floor(each.pooled("risk").score * 50 + 0.25).astype(int) for each in (part, whole)]
        left = {*homes[1]} - {*homes[0]}
        assert len(left) == 10
        assert sum(int(tally.rows.sum()) for _, tally in groups_of(part)) == 320
    assert sum(table.total for table in result.tables.values()) == near(400)
    assert any("cluster" in note for note in result.data["notes"])
    assert not any("cluster" in note for note in fairness.cross_validate(read_tallies(people()), ODDS).data["notes"])


def test_neither_the_order_of_rows_nor_the_names_of_groups_matter() -> None:
    columns = people()
    order = np.random.default_rng(1).permutation(400)
    shuffled = {name: values[order] for name, values in columns.items()}
    renamed = columns | {"sex": np.where(columns["sex"] == "f", "z", "a")}
    one, *others = (
        fairness.cross_validate(read_tallies(each), ODDS, folds=Folds(repeats=3))
        for each in (columns, shuffled, renamed)
    )
    for other in others:
        assert one.greatest_gaps == near(other.greatest_gaps)
        assert one.null_gaps == pytest.approx(other.null_gaps, abs=1e-9)
        assert one.cost.value == near(other.cost.value)
    assert cells(one.tables["f",]) == near(cells(others[1].tables["z",]))


def test_folds_depend_on_the_seed_and_the_first_partition_is_stable() -> None:
    t = read_tallies(people())
    once, often, again = (
        fairness.cross_validate(t, ODDS, folds=Folds(repeats=each, seed=seed))
        for each, seed in ((1, 0), (4, 0), (1, 1))
    )
    assert often.greatest_gaps[:5].tolist() == once.greatest_gaps.tolist()
    assert len({*often.greatest_gaps.tolist()}) > 10
    assert cells(often.tables["f",]) == cells(once.tables["f",])
    assert again.greatest_gaps.tolist() != once.greatest_gaps.tolist()


def test_watch_receives_every_fold() -> None:
    output = list[tuple[int, int]]()
    deal = Folds(folds=3, repeats=2)
    fairness.cross_validate(
        read_tallies(people()), ODDS, folds=deal, watch=lambda done, every: output.append((done, every))
    )
    assert output == [(at, 6) for at in range(1, 7)]


def with_small_group(positives: int) -> Tallies:
    """Add a third group with few positives."""
    columns = people()
    more: dict[str, Any] = {
        "sick": [1] * positives + [0] * 10,
        "risk": [0.5] * (positives + 10),
        "sex": ["x"] * (positives + 10),
    }
    return read_tallies({name: np.append(values, more[name]) for name, values in columns.items()})


def test_a_group_that_lacks_a_class_without_a_fold_needs_an_action() -> None:
    t = with_small_group(1)
    with pytest.raises(FitError, match=r"without fold \d of 5: sex = x has no positives.*otherwise= an action.*folds"):
        fairness.cross_validate(t, ODDS)
    result = fairness.cross_validate(t, ODDS, otherwise="flag")
    assert ("x",) in result.policy.by_group
    assert sum(table.total for table in result.tables.values()) == near(411)
    assert result.tables["x",].tp == near(1)
    assert any("sex = x lacks a class without 1 of 5 folds; its action is: flag" in each for each in notes(result))
    assert any("is left out" in note for note in notes(result))


def test_group_without_a_class_is_excluded() -> None:
    with pytest.raises(FitError, match="sex = x has no positives"):
        fairness.cross_validate(with_small_group(0), ODDS)
    result = fairness.cross_validate(with_small_group(0), ODDS, otherwise="refer")
    assert [*result.tables] == [("f",), ("m",)]
    assert result.cost_apparent == near(result.policy.settings["cost"])


def notes(result: ParityValidation) -> list[str]:
    kept: list[str] = result.data["notes"]
    return kept


def test_an_undefined_gap_is_not_0() -> None:
    """A fold where only one group has positives has no gap in sensitivity."""
    t = Tallies(
        {"risk": {("f",): Tally.from_counts([0.9, 0.1], [[20, 20], [9, 9]]), ("m",): two_positives()}}, ("sex",)
    )
    result = fairness.cross_validate(t, Goal("equal-opportunity"), choose=fixed_policy, folds=Folds(folds=4))
    assert 1 <= np.isnan(result.greatest_gaps).sum() < 4
    assert result.mean_gap == near(np.nanmean(result.greatest_gaps))
    alone = fairness.cross_validate(
        Tallies({"risk": {("f",): Tally.from_counts([0.9, 0.1], [[20, 20], [9, 9]])}}, ("sex",)),
        Goal("equal-opportunity"),
        choose=fixed_policy,
    )
    assert isnan(alone.mean_gap)
    assert isnan(alone.quantile())
    undefined = [row for row in alone.results().rows() if row["measure"] == "gap" and row["kind"] != "apparent"]
    assert {row["why"] for row in undefined} == {"no rate is defined in two groups"}
    assert len(undefined) == 3


def test_the_null_gap_is_that_of_equal_groups() -> None:
    """The mean gap of equal groups at equal thresholds is about the null gap."""
    truth, score = population.binormal(means=(0, 1)).draw(3000, 4)
    t = read.tallies({"y": truth, "s": score, "g": ["f", "m", "x"] * 1000}, truth="y", score="s", group="g")

    def same_threshold(tallies: Tallies, _goal: Goal) -> Policy:
        return Policy(by_group=dict.fromkeys(tallies.groups, Cut((0.5,))), otherwise="refuse", attributes=("g",))

    result = fairness.cross_validate(t, ODDS, choose=same_threshold, folds=Folds(folds=10, repeats=10))
    assert result.mean_gap == pytest.approx(result.null_gaps["sensitivity, fpr"], rel=0.15)
    assert result.null_gaps["sensitivity, fpr"] > max(result.null_gaps["sensitivity"], result.null_gaps["fpr"]) > 0.03


def two_positives() -> Tally:
    return Tally.from_counts([0.9, 0.1], [[1, 1], [20, 20]])


@pytest.mark.parametrize("prevalence", [0.1, {"f": 0.05, "m": 0.3}])
def test_tables_are_adjusted_to_the_deployment_prevalence(prevalence: Any) -> None:  # noqa: ANN401
    t, costs = read_tallies(people()), Costs(fp=1, fn=5)
    original = fairness.cross_validate(t, Goal("equalized-odds", costs=costs), choose=fixed_policy)
    goal = Goal(["equalized-odds", "demographic-parity"], costs=costs, prevalence=prevalence)
    adjusted = fairness.cross_validate(t, goal, choose=fixed_policy)
    assert adjusted.cost.value == near(adjusted.cost_apparent)
    assert adjusted.cost.value != near(original.cost.value)
    for rate in ("sensitivity", "fpr"):
        assert adjusted.gaps[rate] == near(original.gaps[rate])
    if isinstance(prevalence, dict):
        for (sex,), table in adjusted.tables.items():
            assert measure.prevalence(table) == near(prevalence[sex])
    chosen = fairness.cross_validate(t, Goal("equalized-odds", costs=costs, prevalence=prevalence))
    assert chosen.cost_apparent == near(chosen.policy.settings["cost"])


def test_results_name_the_kind_of_every_number() -> None:
    t = read_tallies(people())
    result = fairness.cross_validate(t, ODDS, folds=Folds(folds=3, repeats=2, seed=5))
    rows = result.results().rows()
    output = {(row["measure"], row["kind"], row["rate"], *(row["group"] or {}).values()): row["value"] for row in rows}
    assert len(output) == len(rows) == 4 + 3 * 4 + 2
    assert output["fpr", "held out", None, "m"] == result.rates["fpr"]["m",].value
    assert output["gap", "held out", "fpr"] == near(result.gaps["fpr"].mean())
    assert output["gap", "apparent", "sensitivity"] == result.apparent["sensitivity"]
    assert output["gap", "if alike", "fpr"] == result.null_gaps["fpr"]
    assert output["gap", "held out", "sensitivity, fpr"] == result.mean_gap
    assert output["gap", "95 % of folds", "sensitivity, fpr"] == result.quantile()
    assert output["expected_cost", "held out", None] == result.cost.value
    assert output["expected_cost", "apparent", None] == result.cost_apparent
    data = result.results().data
    assert data["dealt"] == {"folds": 3, "repeats": 2, "seed": 5}
    assert data["digest"] == t.digest == result.policy.chosen_on
    assert data["parity"] == ["equalized-odds"]
    assert "95 % of folds" in result.results().to_json()


def test_one_model_of_several_must_be_selected() -> None:
    columns = people()
    columns["other"] = -columns["risk"]
    t = read.tallies(columns, truth="sick", score=["risk", "other"], group="sex")
    with pytest.raises(OptionError, match="model="):
        fairness.cross_validate(t, ODDS)
    alone = fairness.cross_validate(read_tallies(columns), ODDS)
    assert fairness.cross_validate(t, ODDS, model="risk").greatest_gaps == near(alone.greatest_gaps)
    rows = read.rows(
        columns | {"home": np.arange(400)}, truth="sick", score=["risk", "other"], group="sex", cluster="home"
    )
    assert fairness.cross_validate(rows, ODDS, model="other").policy.columns["score"] == "other"


def test_invalid_requests_raise() -> None:
    with pytest.raises(OptionError, match="repeats is 0"):
        Folds(repeats=0)
    with pytest.raises(OptionError, match="folds is 1"):
        fairness.cross_validate(read_tallies(people()), ODDS, folds=Folds(folds=1))
    with pytest.raises(UnknownNameError, match="no model 'nobody'"):
        fairness.cross_validate(read_tallies(people()), ODDS, model="nobody")


def test_invalid_quantiles_raise() -> None:
    result = fairness.cross_validate(read_tallies(people()), ODDS)
    assert all(one <= other for one, other in pairwise(result.quantile(share / 4) for share in range(5)))
    with pytest.raises(OptionError, match="from 0 to 1"):
        result.quantile(95)


def test_policy_of_bands_raises() -> None:
    def bands(_tallies: Tallies, _goal: Goal) -> Policy:
        return Policy(by_group={(): Cut((0.3,), ("low", "high"))}, otherwise="refuse")

    with pytest.raises(OptionError, match="the action 'high'"):
        fairness.cross_validate(read_tallies(people()), ODDS, choose=bands)


def test_a_policy_without_groups_is_evaluated_by_group() -> None:
    result = fairness.cross_validate(
        read_tallies(people()), Goal("equalized-odds", within=0.3), choose=fairness.common_threshold
    )
    assert not result.policy.needs_group
    assert [row["group"] for row in result.results().rows()][:2] == [{"sex": "f"}, {"sex": "m"}]
    assert sum(table.total for table in result.tables.values()) == near(400)
