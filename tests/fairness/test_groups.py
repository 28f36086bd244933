"""Comparison of groups: measures of each, differences from a reference, and gaps."""

from collections.abc import Mapping
from itertools import combinations
from math import comb, isnan, nan, sqrt
from typing import Any

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, true_positive_rate
from hypothesis import given, settings, strategies as st
from sklearn.metrics import accuracy_score, precision_score, recall_score

from baserate import (
    Counts,
    Curve,
    Cut,
    OptionError,
    Policy,
    RandomizedCut,
    Results,
    Tallies,
    Tally,
    UnknownNameError,
    fairness,
    infer,
    read,
    shift,
)
from baserate.fairness._gaps import NORMAL_NULL, PERMUTATION_NULL, WEIGHTED_NULL, simulate_null_gaps
from baserate.infer._comparison import holm
from baserate.measure import MEASURES

Cells = tuple[int, int, int, int]
"""True and false positives, false and true negatives."""

QUICK: dict[str, Any] = {"n_permutations": 200}


def tallies(tables: Mapping[Any, Cells]) -> Tallies:
    """Make tallies of groups with these confusion matrices; scores are 1 and 0."""
    result = {
        key if isinstance(key, tuple) else (key,): Tally.from_counts([1.0, 0.0], [[tp, fn], [fp, tn]])
        for key, (tp, fp, fn, tn) in tables.items()
    }
    wide = len(next(iter(result)))
    return Tallies({"m": result}, ("g",) if wide == 1 else tuple(f"g{at}" for at in range(wide)))


def weighted_counts(weight: Any, cell: Any) -> Counts[float]:  # noqa: ANN401  (arrays)
    """Count weighted rows, each in cell 0 (TP), 1 (FP), 2 (FN) or 3 (TN)."""
    mass, squares, times = (Counts(*np.bincount(cell, weight**power, minlength=4).tolist()) for power in (1, 2, 0))
    return Counts(mass.tp, mass.fp, mass.fn, mass.tn, moments=(squares, times))


def counts(cells: Cells) -> Counts[float]:
    return Counts(*cells)


THREE: dict[str, Cells] = {"a": (40, 10, 20, 30), "b": (30, 25, 15, 40), "c": (5, 2, 5, 8)}
cell = st.integers(0, 30)
several = st.lists(st.tuples(cell, cell, cell, cell), min_size=2, max_size=5).map(lambda each: dict(enumerate(each)))


def select_rows(result: Results, **wanted: object) -> list[dict[str, Any]]:
    return [row for row in result.rows() if all(row[name] == value for name, value in wanted.items())]


def people(size: int = 600, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    risk = np.round(rng.random(size), 2)
    return {
        "sick": (rng.random(size) < risk).astype(int),
        "risk": risk,
        "sex": rng.choice(["f", "m"], size),
        "site": rng.choice(["hill", "coast", "north"], size),
        "w": rng.choice([0.5, 1.0, 2.0], size),
    }


class TestTable:
    def test_numbers_equal_those_of_each_group(self) -> None:
        result = fairness.group_table(tallies(THREE), measures=["sensitivity", "mcc"])
        whole = tuple(sum(each) for each in zip(*THREE.values(), strict=True))
        tables: list[tuple[str | None, tuple[int, ...]]] = [(None, whole), *THREE.items()]
        for name in ("sensitivity", "mcc"):
            for group, cells in tables:
                (row,) = select_rows(result, measure=name, group=group and {"g": group})
                wanted = infer.estimate(name, Counts(*cells))
                assert (row["value"], row["low"], row["high"]) == (wanted.value, wanted.low, wanted.high)
                tp, fp, fn, tn = cells
                assert (row["rows"], row["positives"], row["negatives"]) == (sum(cells), tp + fn, fp + tn)
                assert row["prevalence"] == (tp + fn) / sum(cells)

    def test_trials_count_the_rows_of_a_measure(self) -> None:
        names = ["flag_rate", "sensitivity", "fpr", "precision", "accuracy", "f1", "auc"]
        result = fairness.group_table(tallies(THREE), measures=names)
        output = {row["measure"]: row["trials"] for row in select_rows(result, group={"g": "a"})}
        wanted = {"flag_rate": 100, "sensitivity": 60, "fpr": 40, "precision": 50, "accuracy": 100, "f1": 100}
        assert output == {**wanted, "auc": 100}

    def test_sensitivity_without_positives_is_undefined(self) -> None:
        truth, said, group = [1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 1, 0], ["a", "a", "a", "a", "b", "b"]
        read_ = read.tallies({"y": truth, "p": said, "g": group}, truth="y", predicted="p", group="g", positive=1)
        (row,) = select_rows(fairness.group_table(read_, measures=["sensitivity"]), group={"g": "b"})
        assert (row["value"], row["why"], row["trials"]) == (None, "there are no positives", 0)
        frame = MetricFrame(metrics=true_positive_rate, y_true=truth, y_pred=said, sensitive_features=group)
        assert frame.by_group["b"] == 0  # as if all of its positives were missed
        gaps = fairness.group_gaps(read_, measures=["sensitivity"], **QUICK, min_group=1)
        assert select_rows(gaps, kind="max_difference")[0]["why"] == "fewer than two groups have a value"
        (note,) = gaps.data["notes"]
        assert "fewer than the minimum of 1: g = b (0 positives)" in note

    def test_values_equal_those_of_fairlearn(self) -> None:
        data = people()
        said = (data["risk"] >= 0.4).astype(int)
        metrics = {"sensitivity": recall_score, "precision": precision_score, "accuracy": accuracy_score}
        frame = MetricFrame(metrics=metrics, y_true=data["sick"], y_pred=said, sensitive_features=data["site"])
        t = read.tallies(data, truth="sick", score="risk", group="site")
        for row in fairness.group_table(t, policy=0.4, measures=metrics).rows():
            theirs = frame.overall if row["group"] is None else frame.by_group.loc[row["group"]["site"]]
            assert row["value"] == pytest.approx(theirs[row["measure"]], abs=1e-12)

    def test_the_detectable_difference_has_80_percent_power(self) -> None:
        (row,) = select_rows(
            fairness.group_table(tallies({"a": (40, 0, 60, 0), "b": (120, 0, 180, 0)}), measures=["sensitivity"]),
            group={"g": "a"},
        )
        p = 161 / 402
        assert row["detects"] == pytest.approx(
            (1.959964 + 0.841621) * sqrt(p * (1 - p) * (1 / 100 + 1 / 300)), abs=1e-6
        )
        rng = np.random.default_rng(0)
        few, many = (
            rng.binomial(100, 0.4 + row["detects"] * 3 / 4, 4000),
            rng.binomial(300, 0.4 - row["detects"] / 4, 4000),
        )
        pooled = (few + many) / 400
        z = (few / 100 - many / 300) / np.sqrt(pooled * (1 - pooled) * (1 / 100 + 1 / 300))
        assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.8, abs=0.03)

    def test_small_groups_are_marked(self) -> None:
        tables = {"tiny": (10, 0, 10, 0), "coarse": (22, 0, 22, 0), "large": (300, 0, 300, 0)}
        result = select_rows(fairness.group_table(tallies(tables), measures=["sensitivity", "auc", "f1"]))
        marked = {row["group"]["g"]: row["small"] for row in result if row["measure"] == "sensitivity" and row["group"]}
        assert marked == {"tiny": True, "coarse": True, "large": False}
        (coarse,) = [row for row in result if row["measure"] == "sensitivity" and row["group"] == {"g": "coarse"}]
        assert coarse["trials"] >= 30
        assert coarse["detects"] > 0.2
        assert {row["detects"] for row in result if row["measure"] != "sensitivity"} == {None}
        assert not any(row["small"] for row in result if row["group"] is None)

    def test_weights_count_with_their_effective_size(self) -> None:
        data = people()
        plain, same, uneven = (
            fairness.group_table(
                read.tallies({**data, "w": weight}, truth="sick", score="risk", group="sex", weight="w"),
                measures=["fpr"],
            ).rows()[1]
            for weight in (np.ones(600), np.full(600, 3.0), data["w"])
        )
        assert same["detects"] == pytest.approx(plain["detects"], rel=1e-9)
        assert uneven["detects"] > 1.05 * plain["detects"]

    def test_grouping_by_some_attributes_ignores_the_others(self) -> None:
        both = read.tallies(people(), truth="sick", score="risk", group=["sex", "site"])
        alone = read.tallies(people(), truth="sick", score="risk", group="site")
        assert (
            fairness.compare_groups(both, by="site", **QUICK).rows() == fairness.compare_groups(alone, **QUICK).rows()
        )
        crossed = fairness.group_table(both, measures=["fpr"]).rows()
        assert [row["group"] for row in crossed[:3]] == [
            None,
            {"sex": "f", "site": "coast"},
            {"sex": "f", "site": "hill"},
        ]
        assert len(crossed) == 7


class TestDecisions:
    def test_a_policy_decides_for_each_group(self) -> None:
        data = people()
        t = read.tallies(data, truth="sick", score="risk", group=["sex", "site"])
        policy = Policy(by_group={("f",): Cut((0.3,)), ("m",): Cut((0.6,))}, otherwise="refuse", attributes=("sex",))
        said = np.where(data["sex"] == "f", data["risk"] >= 0.3, data["risk"] >= 0.6).astype(int)
        done = read.tallies({**data, "said": said}, truth="sick", predicted="said", group=["sex", "site"], positive=1)
        for by in ("site", ("sex", "site")):
            ours = fairness.compare_groups(t, policy=policy, by=by, **QUICK).rows()
            assert ours == fairness.compare_groups(done, by=by, **QUICK).rows()

    def test_randomized_policies_are_evaluated_in_expectation(self) -> None:
        t = read.tallies(people(), truth="sick", score="risk", group="sex")
        randomized = Policy(by_group={(): RandomizedCut((Cut((0.3,)), Cut((0.6,))), (0.3, 0.7))}, otherwise="refuse")
        result = fairness.compare_groups(t, policy=randomized, measures=["sensitivity"], **QUICK)
        lax, strict = (
            select_rows(fairness.group_table(t, policy=at, measures=["sensitivity"]), group={"sex": "f"})[0]["value"]
            for at in (0.3, 0.6)
        )
        assert select_rows(result, table="group", group={"sex": "f"})[0]["value"] == pytest.approx(
            0.3 * lax + 0.7 * strict
        )
        assert select_rows(result, kind="max_difference")[0]["how"] == NORMAL_NULL

    def test_a_policy_fitted_to_the_same_rows_is_noted(self) -> None:
        t = read.tallies(people(), truth="sick", score="risk", group="sex")
        policy = fairness.optimal_policy(t, fairness.Goal("equal-opportunity"))
        result = fairness.compare_groups(t, policy=policy, measures=["sensitivity"], **QUICK)
        assert result.data["same"] == ["risk"]
        assert any("chosen on these rows" in note for note in result.data["notes"])
        assert select_rows(result, kind="max_difference")[0]["value"] == pytest.approx(0, abs=1e-12)

    def test_models_of_scores_and_of_labels(self) -> None:
        data = people()
        data["said"] = (data["risk"] >= 0.5).astype(int)
        t = read.tallies(data, truth="sick", score="risk", predicted="said", group="sex", positive=1)
        result = fairness.compare_groups(t, measures=["fpr", "auc"], **QUICK)
        risk, said = (select_rows(result, model=name, measure="fpr") for name in ("risk", "said"))
        assert [{**row, "model": None} for row in risk] == [{**row, "model": None} for row in said]
        assert not select_rows(result, model="said", measure="auc")
        assert len(select_rows(result, model="risk", measure="auc", table="group")) == 3


class TestDifferences:
    def test_each_group_is_compared_with_the_largest_as_independent_samples(self) -> None:
        data = people()
        t = read.tallies(data, truth="sick", score="risk", group="site")
        sites, sizes = np.unique(data["site"], return_counts=True)
        largest = str(sites[np.argmax(sizes)])
        names = ["fpr", "f1", "auc", "brier"]
        result = fairness.group_differences(t, measures=names)
        for name in names:
            alike = select_rows(result, measure=name)
            assert [row["group"]["site"] for row in alike] == [site for site in sites if site != largest]
            for row in alike:
                groups = t.models["risk"]
                at = 0.5 if name in ("fpr", "f1") else None
                one = groups[row["group"]["site"],]
                wanted = infer.compare_unpaired(one, groups[largest,], measure=name, threshold=at)
                output = wanted.difference
                assert row["other"] == {"site": largest}
                assert (row["value"], row["low"], row["high"], row["p"]) == (
                    output.value,
                    output.low,
                    output.high,
                    wanted.p,
                )
        rows = result.rows()
        assert [row["p_adjusted"] for row in rows] == holm([row["p"] for row in rows])

    def test_many_groups_are_compared_with_the_largest_too(self) -> None:
        rng = np.random.default_rng(1)
        tables = {at: tuple(rng.integers(30, 60, 4).tolist()) for at in range(13)}
        largest = max(tables, key=lambda at: sum(tables[at]))
        result = fairness.group_differences(tallies(tables), measures=["fpr", "auc"])
        for at, cells in tables.items():
            if at != largest:
                (row,) = select_rows(result, measure="fpr", group={"g": at})
                one, other = (infer.estimate("fpr", Counts(*each)).value for each in (cells, tables[largest]))
                assert row["other"] == {"g": largest}
                assert row["value"] == pytest.approx(one - other, abs=1e-15)
        assert len(result) == 2 * 12

    def test_undefined_differences_name_their_group(self) -> None:
        tables = {"a": (3, 1, 1, 3), "b": (0, 2, 0, 2)}
        result = fairness.group_differences(tallies(tables), measures=["sensitivity"], min_group=1)
        (row,) = result.rows()
        assert (row["value"], row["p"], row["why"]) == (None, None, "g = b: there are no positives")


def gap_by_definition(values: list[float], kind: str) -> float:
    """Compute a gap by its definition."""
    pairs = [abs(one - other) for one, other in combinations(values, 2)]
    if kind == "ratio":
        return min(values) / max(values) if max(values) else nan
    return max(pairs) if kind == "max_difference" else sum(pairs) / len(pairs)


class TestGaps:
    @given(several)
    def test_each_kind_follows_its_definition(self, tables: dict[int, Cells]) -> None:
        if not all(map(sum, tables.values())):
            return
        result = fairness.group_gaps(
            tallies(tables), measures=["sensitivity", "fpr", "accuracy"], n_permutations=2, min_group=1
        )
        values = {
            name: [
                each for each in (float(MEASURES[name](counts(cells))) for cells in tables.values()) if not isnan(each)
            ]
            for name in ("sensitivity", "fpr", "accuracy")
        }
        for name, each in values.items():
            output = {row["kind"]: row for row in select_rows(result, measure=name)}
            if len(each) < 2:
                assert {row["value"] for row in output.values()} == {None}
                continue
            for kind in ("max_difference", "ratio", "mean_absolute"):
                wanted = gap_by_definition(each, kind)
                got = output[kind]["value"]
                assert (got is None and isnan(wanted)) or got == pytest.approx(wanted, abs=1e-12)
            assert output["worst_group"]["value"] == (max if name == "fpr" else min)(each)
        if min(len(values[name]) for name in ("sensitivity", "fpr")) > 1:
            output = {row["kind"]: row["value"] for row in select_rows(result, parity="equalized-odds")}
            odds = [
                [gap_by_definition(values[name], kind) for name in ("sensitivity", "fpr")]
                for kind in ("max_difference", "mean_absolute")
            ]
            assert output["max_difference"] == pytest.approx(max(odds[0]), abs=1e-12)
            assert output["mean_absolute"] == pytest.approx(sum(odds[1]) / 2, abs=1e-12)

    def test_a_parity_is_listed_if_all_its_measures_are_measured(self) -> None:
        t = read.tallies(people(), truth="sick", score="risk", group="sex")
        every = {name for each in fairness.PARITIES.values() for name in each.measures}
        output = {row["parity"] for row in fairness.group_gaps(t, measures=sorted(every), **QUICK).rows()}
        assert output == {*fairness.PARITIES}
        alone = fairness.group_gaps(t, measures=["sensitivity", "auc"], **QUICK).rows()
        assert {(row["measure"], row["parity"]) for row in alone} == {
            ("sensitivity", "equal-opportunity"),
            ("auc", None),
        }

    def test_extreme_groups_are_listed(self) -> None:
        result = fairness.group_gaps(tallies(THREE), measures=["fpr"], **QUICK, min_group=1)
        ends = {row["kind"]: (row["group"], row["other"]) for row in result.rows()}
        assert ends == {
            "max_difference": ({"g": "b"}, {"g": "c"}),
            "ratio": ({"g": "b"}, {"g": "c"}),
            "max": ({"g": "b"}, None),
            "min": ({"g": "c"}, None),
            "worst_group": ({"g": "b"}, None),
            "mean_absolute": (None, None),
        }

    def test_numbers_that_may_be_negative_have_no_ratio(self) -> None:
        kinds = {
            row["kind"] for row in fairness.group_gaps(tallies(THREE), measures=["mcc"], **QUICK, min_group=1).rows()
        }
        assert kinds == {"max_difference", "max", "min", "worst_group", "mean_absolute"}

    def test_the_four_fifths_rule_is_noted_only_where_it_may_apply(self) -> None:
        for measures, wanted in ((["flag_rate"], 1), (["pass_rate", "fpr"], 1), (["sensitivity", "fpr"], 0)):
            notes = fairness.group_gaps(tallies(THREE), measures=measures, **QUICK).data["notes"]
            assert sum("four-fifths" in note for note in notes) == wanted
            assert not any("fair" in note for note in notes)


class TestNullGaps:
    def test_null_gap_of_six_equal_groups(self) -> None:
        for hits in (30, 40, 50):
            t = tallies(dict.fromkeys(range(6), (hits, 0, 100 - hits, 0)))
            row = select_rows(fairness.group_gaps(t, measures=["sensitivity"]), kind="max_difference")[0]
            assert row["value"] == 0
            assert row["floor"] == pytest.approx(0.12, abs=0.01)
            assert row["floor_high"] > 0.17
            assert (row["p"], row["how"]) == (1, PERMUTATION_NULL)

    def test_p_values_equal_those_of_all_permutations(self) -> None:
        # Of 7 trials 4 are hits; the first group has 3 of the trials.
        trials, hits, observed = (3, 4), 4, abs(3 / 3 - 1 / 4)
        chance = [comb(3, k) * comb(4, hits - k) / comb(7, hits) for k in range(4)]
        apart = [abs(k / trials[0] - (hits - k) / trials[1]) for k in range(4)]
        exact = sum(each for each, gap in zip(chance, apart, strict=True) if gap >= observed - 1e-12)
        (row,) = select_rows(
            fairness.group_gaps(tallies({"a": (3, 0, 0, 5), "b": (1, 5, 3, 0)}), measures=["sensitivity"], min_group=1),
            kind="max_difference",
        )
        assert row["p"] == pytest.approx(exact, abs=0.015)
        assert row["floor"] == pytest.approx(sum(np.multiply(chance, apart)), abs=0.01)

    def test_equalized_odds_permute_within_classes(self) -> None:
        tables = {"a": (30, 20, 20, 30), "b": (25, 25, 25, 25), "c": (20, 30, 30, 20)}
        result = fairness.group_gaps(tallies(tables), measures=["sensitivity", "fpr"])
        output = {row["measure"]: row for row in select_rows(result, kind="max_difference")}
        rng = np.random.default_rng(5)
        permutations = rng.multivariate_hypergeometric([50, 50, 50], 75, size=(20_000, 2)) / 50
        worst = np.ptp(permutations, axis=2).max(axis=1)
        both = output["sensitivity, fpr"]
        assert both["floor"] == pytest.approx(worst.mean(), abs=0.002)
        assert both["p"] == pytest.approx(np.mean(worst >= 0.2 - 1e-12), abs=0.02)
        assert both["floor"] > output["sensitivity"]["floor"]

    @pytest.mark.slow
    @pytest.mark.parametrize("weighted", [False, True])
    def test_type_one_error_is_the_level(self, *, weighted: bool) -> None:
        rng = np.random.default_rng(3)
        alarms = 0
        for _ in range(400):
            hits = rng.binomial(80, 0.4, 5)
            t = tallies({at: (int(hit), 0, 80 - int(hit), 0) for at, hit in enumerate(hits)})
            if weighted:
                groups = t.models["m"]
                result = {
                    group: Tally(each.score, each.mass * 2.0, each.mass * 4.0, each.rows)
                    for group, each in groups.items()
                }
                t = Tallies({"m": result}, ("g",))
            row = select_rows(
                fairness.group_gaps(t, measures=["sensitivity"], n_permutations=400), kind="max_difference"
            )[0]
            assert row["how"] == (WEIGHTED_NULL if weighted else PERMUTATION_NULL)
            alarms += row["p"] <= 0.05
        assert 8 <= alarms <= 34  # 20 expected, and a standard error of 4.4

    def test_weighted_groups_vary_as_their_effective_sizes(self) -> None:
        rng = np.random.default_rng(4)
        drawn = [(np.exp(0.5 * rng.normal(size=n)), rng.random(n) < 0.4) for n in (300, 300)]
        nouns = [weighted_counts(weight, np.where(hit, 0, 2)) for weight, hit in drawn]
        gaps = simulate_null_gaps(MEASURES["sensitivity"], nouns, [], n_simulations=20_000, rng=rng).gaps
        unit = [weight / weight.mean() for weight, _ in drawn]
        every, hits = np.concatenate(unit), np.concatenate([hit for _, hit in drawn])
        residual = np.sum(every**2 * (hits - np.average(hits, weights=every)) ** 2) / np.sum(every**2)
        variance = residual * sum(np.sum(each**2) / np.sum(each) ** 2 for each in unit)
        assert gaps is not None
        # The mean of a normal variable without its sign.
        assert gaps.mean() == pytest.approx(sqrt(2 * variance / np.pi), rel=0.03)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["sensitivity", "precision", "f1"])
    def test_weights_that_vary_in_one_small_group_raise_no_false_alarms(self, name: str) -> None:
        # With the standard error of each group alone: 10 to 13% for F1. With permuted rows: 9 to 18%.
        rng, runs, alarms = np.random.default_rng(5), 300, 0
        measure = MEASURES[name]
        for _ in range(runs):
            sizes, spreads = (60, 200, 200, 200, 200), (1.2, 0.3, 0.3, 0.3, 0.3)
            nouns = [
                weighted_counts(np.exp(spread * rng.normal(size=n)), rng.choice(4, n, p=[0.22, 0.12, 0.08, 0.58]))
                for n, spread in zip(sizes, spreads, strict=True)
            ]
            chance = simulate_null_gaps(measure, nouns, [], n_simulations=400, rng=rng)
            alarms += (chance.p_value(float(np.ptp([measure(noun) for noun in nouns]))) or 1) <= 0.05
        assert alarms / runs < 0.065 + 2 * sqrt(0.05 * 0.95 / runs)

    def test_unbounded_ratios_use_normal_deviates(self) -> None:
        rng = np.random.default_rng(6)
        actual: dict[tuple[object, ...], Tally] = {
            (at,): Tally.of_rows(rng.random(200) < 0.5, rng.integers(0, 2, 200) * 1.0, weight=rng.random(200) + 1)
            for at in range(3)
        }
        result = fairness.group_gaps(
            Tallies({"m": actual}, ("g",)), policy=0.5, measures=["positive_likelihood_ratio", "mcc"], **QUICK
        )
        output = {row["measure"]: row["how"] for row in select_rows(result, kind="max_difference")}
        assert output == {"positive_likelihood_ratio": NORMAL_NULL, "mcc": WEIGHTED_NULL}

    @settings(max_examples=settings().max_examples * 3 // 10)
    @given(several, st.permutations(range(5)))
    def test_order_of_groups_does_not_matter(self, tables: dict[int, Cells], order: list[int]) -> None:
        if not all(map(sum, tables.values())):
            return
        shuffled = {at: tables[at] for at in order if at in tables}
        one, other = (
            fairness.compare_groups(tallies(each), measures=["fpr", "precision"], n_permutations=20, min_group=5)
            for each in (tables, shuffled)
        )
        assert one.rows() == other.rows()

    def test_results_depend_on_the_seed_and_not_on_the_order_of_measures(self) -> None:
        def chance(measures: list[str], seed: int) -> dict[str, float]:
            result = fairness.group_gaps(
                tallies(THREE), measures=measures, interval=infer.IntervalOptions(seed=seed), min_group=30, **QUICK
            )
            return {row["measure"]: row["floor"] for row in select_rows(result, kind="max_difference") if row["parity"]}

        first, again, other = (chance(["fpr", "sensitivity"], seed) for seed in (1, 1, 2))
        assert first == again == chance(["sensitivity", "fpr"], 1)
        assert chance(["fpr"], 1)["fpr"] == first["fpr"]
        assert first["fpr"] != other["fpr"]

    def test_rank_measures_use_their_standard_errors(self) -> None:
        t = read.tallies(people(2000), truth="sick", score="risk", group="site")
        result = fairness.group_gaps(t, measures=["auc"])
        (row,) = select_rows(result, kind="max_difference")
        errors = [
            (each["high"] - each["low"]) / 2 / 1.959964
            for each in fairness.group_table(t, measures=["auc"]).rows()
            if each["group"]
        ]
        drawn = np.random.default_rng(9).standard_normal((40_000, 3)) * errors
        assert row["floor"] == pytest.approx(np.ptp(drawn, axis=1).mean(), rel=0.03)
        assert row["how"] == NORMAL_NULL

    def test_known_prevalence_uses_normal_deviates(self) -> None:
        t = shift.reweigh(read.tallies(people(), truth="sick", score="risk", group="sex"), prevalence=0.1)
        result = fairness.compare_groups(t, measures=["precision"], **QUICK)
        assert select_rows(result, kind="max_difference")[0]["how"] == NORMAL_NULL
        assert {row["detects"] for row in select_rows(result, table="group")} == {None}
        assert select_rows(result, table="group", group=None)[0]["prevalence"] == pytest.approx(0.1)


class TestErrors:
    def test_invalid_options_raise_with_a_remedy(self) -> None:
        data = people(50)
        ungrouped = read.tallies(data, truth="sick", score="risk")
        with pytest.raises(OptionError, match="read without groups; read them with group="):
            fairness.compare_groups(ungrouped)
        t = read.tallies(data, truth="sick", score="risk", group="sex")
        with pytest.raises(OptionError, match="n_permutations is 0; expected a whole number from 1"):
            fairness.compare_groups(t, n_permutations=0)
        with pytest.raises(OptionError, match="groups by site are needed"):
            fairness.compare_groups(t, by="site")
        with pytest.raises(UnknownNameError, match="Did you mean"):
            fairness.compare_groups(t, measures=["sensitivityx"])
        with pytest.raises(OptionError, match="method='delong' makes no interval of fpr"):
            fairness.compare_groups(t, measures=["fpr"], interval=infer.IntervalOptions(method="delong"))
        with pytest.raises(OptionError, match="there is no measure; name"):
            fairness.compare_groups(t, measures=[])
        bands = Policy(by_group={(): Cut((0.3, 0.6), ("low", "middle", "high"))}, otherwise="refuse")
        with pytest.raises(OptionError, match="low, middle, high has no confusion matrix"):
            fairness.compare_groups(t, policy=bands)
        with pytest.raises(OptionError, match="threshold is nan"):
            fairness.compare_groups(t, policy=nan)
        deciles = read.tallies({**data, "risk": data["risk"] * 10}, truth="sick", score="risk", group="sex")
        with pytest.raises(OptionError, match="scores are not probabilities; give threshold="):
            fairness.compare_groups(deciles)
        assert len(fairness.group_table(deciles, measures=["auc"])) == 3

    def test_labels_have_no_ranks(self) -> None:
        t = read.tallies({"y": [1, 0], "p": [1, 0], "g": ["a", "b"]}, truth="y", predicted="p", group="g", positive=1)
        with pytest.raises(OptionError, match="p contains labels"):
            fairness.compare_groups(t, measures=["auc"])

    def test_one_group_has_no_gap(self) -> None:
        result = fairness.compare_groups(tallies({"a": (3, 1, 1, 3)}), measures=["fpr"], **QUICK, min_group=1)
        assert [row["table"] for row in result.rows()] == ["group", "group", "gap", "gap"]
        assert {row["why"] for row in select_rows(result, table="gap")} == {"fewer than two groups have a value"}


def test_combined_tables_equal_the_single_ones() -> None:
    t = read.tallies(people(), truth="sick", score="risk", group="sex")
    together = fairness.compare_groups(t, **QUICK)
    alone = {
        "group": fairness.group_table(t),
        "difference": fairness.group_differences(t),
        "gap": fairness.group_gaps(t, **QUICK),
    }
    for name, result in alone.items():
        kept = [{key: row[key] for key in result.columns} for row in select_rows(together, table=name)]
        assert kept == result.rows()


def test_both_groups_of_a_gap_have_columns_in_files() -> None:
    t = read.tallies(people(), truth="sick", score="risk", group=["sex", "site"])
    head = fairness.group_differences(t, measures=["fpr"]).to_csv().splitlines()[0]
    assert head.startswith("measure,model,group.sex,group.site,other.sex,other.site,value")


def test_rank_and_probability_measures_equal_those_of_each_group() -> None:
    t = read.tallies(people(), truth="sick", score="risk", group="sex")
    result = fairness.group_table(t, measures=["auc", "observed_expected"])
    for group, tally in t.models["risk"].items():
        for name, noun in (("auc", Curve(tally)), ("observed_expected", tally)):
            (row,) = select_rows(result, measure=name, group={"sex": group[0]})
            assert row["value"] == MEASURES[name](noun)


def test_each_attribute_is_compared_alone_and_then_all_together() -> None:
    people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": [*"ffmm"], "site": [*"abab"]}
    tallies = read.tallies(people, truth="sick", score="risk", group=["sex", "site"])
    options: dict[str, Any] = {"measures": ["flag_rate"], "n_permutations": 100, "min_group": 1}
    results = fairness.compare_attributes(tallies, ["sex", "site"], reference={"sex": "m"}, **options)
    assert results.data["by"] == ["sex", "site", "sex, site"]
    alone = fairness.compare_groups(tallies, by="sex", reference={"sex": "m"}, **options)
    assert [row for row in results.rows() if row["by"] == "sex"] == [{"by": "sex", **row} for row in alone.rows()]
