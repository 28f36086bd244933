"""Objectives other than costs: exact under parity constraints, beside a linear program and all combinations."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

import baserate
from baserate import Costs, Counts, Curve, FitError, OptionError, Policy, Tally, curve, fairness, measure
from baserate._counts import combine_counts
from baserate.fairness import Goal
from baserate.fairness._group_counts import as_tallies, group_tables, rate_gaps
from baserate.fairness._objectives import OBJECTIVES
from tests.fairness.random_problems import PARITY_OF

Groups = dict[str, Curve]
FRACTIONS = {"f1": 1.0, "jaccard": 1.0, "kappa": 1.0}
tolerances = st.sampled_from([0.0, 0.05, 0.2, inf])
parities = st.lists(st.sampled_from(sorted(PARITY_OF)), min_size=1, max_size=2, unique=True)


@st.composite
def groups(draw: st.DrawFn, *, most: int = 3) -> Groups:
    """Make groups with both classes and few scores, some of them worse than chance."""
    result = {}
    for name in "abc"[: draw(st.integers(2, most))]:
        several = draw(st.integers(1, 4))
        cells = st.lists(st.integers(0, 6), min_size=several, max_size=several)
        rows = np.array([draw(cells), draw(cells)])
        rows[:, draw(st.integers(0, several - 1))] += 1
        result[name] = curve(Tally.from_counts(np.linspace(0.9, 0.1, several), rows))
    return result


def pooled(policy: Policy, several: Groups) -> Counts[float]:
    """Count the outcomes of all groups."""
    return combine_counts([*group_tables(as_tallies(several), policy, "score").values()])


def keeps(policy: Policy, several: Groups, goal: Goal) -> bool:
    gaps = rate_gaps(group_tables(as_tallies(several), policy, "score"), goal.rates)
    return all(gaps[rate] <= bound + 1e-9 for rate, bound in goal.tolerances.items())


class Program:
    """Constraints on the probabilities of all thresholds of all groups, with their true and false positives."""

    def __init__(self, several: Groups, bounds: Mapping[str, float]) -> None:
        curves = [*several.values()]
        sizes = [len(each.threshold) for each in curves]
        starts = np.cumsum([0, *sizes])
        width = starts[-1] + len(bounds)
        self.whole = np.zeros((len(curves), width))
        self.true, self.false = np.zeros(width), np.zeros(width)
        rows, most = [np.zeros(width)], [0.0]
        for at, each in enumerate(curves):
            place = slice(starts[at], starts[at + 1])
            self.whole[at, place] = 1.0
            self.true[place], self.false[place] = each.flagged_mass
            true, false = each.flagged_mass
            rates = {"sensitivity": true / true[-1], "fpr": false / false[-1], "flag_rate": (true + false) / each.total}
            for level, (rate, bound) in enumerate(bounds.items()):
                if bound < 1:
                    row = np.zeros(width)
                    row[place], row[starts[-1] + level] = rates[rate], -1.0
                    rows += [row, -row]
                    most += [bound, 0.0]
        self.rows, self.most = np.array(rows), np.array(most)
        self.positives = sum(each.positives for each in curves)
        self.negatives = sum(each.negatives for each in curves)

    def ratio(self, above: tuple[float, float, float], below: tuple[float, float, float]) -> float:
        """Maximize a ratio of linear functions of T, F and 1, by the transformation of Charnes and Cooper."""
        weights = [np.append(one * self.true + other * self.false, constant) for one, other, constant in (above, below)]
        scaled = np.column_stack([self.rows, -self.most])
        equal = np.vstack([np.column_stack([self.whole, -np.ones(len(self.whole))]), weights[1]])
        target = np.append(np.zeros(len(self.whole)), 1.0)
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        result = linprog(-weights[0], A_ub=scaled, b_ub=np.zeros(len(scaled)), A_eq=equal, b_eq=target, options=options)
        assert result.success, result.message
        return -float(result.fun)

    def outcomes(self, directions: int) -> list[tuple[float, float]]:
        """Return the best true and false positives in many directions."""
        result = []
        for angle in np.linspace(0, np.pi / 2, directions):
            weights = np.cos(angle) * self.false - np.sin(angle) * self.true
            best = linprog(weights, A_ub=self.rows, b_ub=self.most, A_eq=self.whole, b_eq=np.ones(len(self.whole)))
            result.append((float(self.true @ best.x), float(self.false @ best.x)))
        return result


def best_ratio(objective: str, several: Groups, bounds: Mapping[str, float]) -> float:
    program = Program(several, bounds)
    p, n = program.positives, program.negatives
    if objective == "f1":
        return program.ratio((2, 0, 0), (1, 1, p))
    if objective == "jaccard":
        return program.ratio((1, 0, 0), (0, 1, p))
    return program.ratio((2 * n, -2 * p, 0), (n - p, n - p, p * (p + n)))


@given(groups(), parities, tolerances, st.sampled_from(sorted(FRACTIONS)))
def test_ratios_have_the_value_of_a_linear_program(
    several: Groups, rates: list[str], within: float, objective: str
) -> None:
    goal = Goal([PARITY_OF[each] for each in rates], within=within, objective=objective)
    policy = fairness.optimal_policy(several, goal)
    assert keeps(policy, several, goal)
    value = float(measure.find_measure(objective)(pooled(policy, several)))
    assert value == pytest.approx(policy.settings.get("value", nan), abs=1e-8, nan_ok=True)
    best = best_ratio(objective, several, dict.fromkeys(rates, within))
    assert (0.0 if isnan(value) else value) == pytest.approx(best, abs=1e-7)


@pytest.mark.quick(15)
@given(groups(most=2), parities, tolerances, st.sampled_from(["mcc", "fowlkes_mallows", "balanced_accuracy", "youden"]))
def test_no_direction_has_a_better_value(several: Groups, rates: list[str], within: float, objective: str) -> None:
    goal = Goal([PARITY_OF[each] for each in rates], within=within, objective=objective)
    policy, function = fairness.optimal_policy(several, goal), measure.find_measure(objective)
    assert keeps(policy, several, goal)
    value = float(function(pooled(policy, several)))
    program = Program(several, dict.fromkeys(rates, within))
    for true, false in program.outcomes(60):
        tp, fp = min(true, program.positives), min(false, program.negatives)
        other = float(function(Counts(tp=tp, fp=fp, fn=program.positives - tp, tn=program.negatives - fp)))
        assert isnan(other) or (0.0 if isnan(value) else value) >= other - 1e-7


def combinations(several: Groups) -> list[tuple[tuple[int, ...], list[dict[str, float]]]]:
    """Return the rates and cells of each group, for all combinations of thresholds."""
    tables = []
    for each in several.values():
        counts = each.at(each.threshold)
        tables.append(
            [
                {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
                for tp, fp, fn, tn in zip(counts.tp, counts.fp, counts.fn, counts.tn, strict=True)
            ]
        )
    places = product(*(range(len(each)) for each in tables))
    return [(at, [each[place] for each, place in zip(tables, at, strict=True)]) for at in places]


def rate(table: Mapping[str, float], name: str) -> float:
    return {
        "sensitivity": table["tp"] / (table["tp"] + table["fn"]),
        "fpr": table["fp"] / (table["fp"] + table["tn"]),
        "flag_rate": (table["tp"] + table["fp"]) / sum(table.values()),
    }[name]


def value_of(objective: str, tables: Sequence[Mapping[str, float]]) -> float:
    """Return an objective of several tables, 0 where it is undefined."""
    tp, fp, fn, tn = (float(sum(each[cell] for each in tables)) for cell in ("tp", "fp", "fn", "tn"))
    value = float(measure.find_measure(objective)(Counts(tp=tp, fp=fp, fn=fn, tn=tn)))
    return 0.0 if isnan(value) else value


@given(groups(), parities, tolerances, st.sampled_from(OBJECTIVES))
def test_deterministic_thresholds_are_the_best_of_all(
    several: Groups, rates: list[str], within: float, objective: str
) -> None:
    goal = Goal([PARITY_OF[each] for each in rates], within=within, objective=objective)
    allowed = [
        tables
        for _, tables in combinations(several)
        if all(np.ptp([rate(each, name) for each in tables]) <= within + 1e-12 for name in goal.rates)
    ]
    best = max(value_of(objective, tables) for tables in allowed)
    policy = fairness.deterministic_thresholds(several, goal)
    assert keeps(policy, several, goal)
    found = measure.find_measure(objective)(pooled(policy, several))
    assert np.nan_to_num(found) == pytest.approx(best, abs=1e-12)
    assert policy.settings["exact"]
    assert policy.settings.get("bound", 0.0) >= best - 1e-9


@given(groups(), parities, tolerances, st.sampled_from(OBJECTIVES))
def test_a_common_threshold_is_the_best_of_all(
    several: Groups, rates: list[str], within: float, objective: str
) -> None:
    goal = Goal([PARITY_OF[each] for each in rates], within=within, objective=objective)
    scores = [inf, *sorted({score for each in several.values() for score in each.tally.score.tolist()})]
    values = []
    for threshold in scores:
        tables = [
            {cell: float(getattr(each.at(threshold), cell)) for cell in ("tp", "fp", "fn", "tn")}
            for each in several.values()
        ]
        if all(np.ptp([rate(each, name) for each in tables]) <= within + 1e-12 for name in goal.rates):
            values.append(value_of(objective, tables))
    policy = fairness.common_threshold(several, goal)
    assert np.nan_to_num(measure.find_measure(objective)(pooled(policy, several))) == pytest.approx(max(values))


@given(groups(), tolerances)
def test_accuracy_is_equal_costs(several: Groups, within: float) -> None:
    by_costs, by_accuracy = (
        fairness.optimal_policy(several, Goal("equalized-odds", within=within, **each))
        for each in ({"costs": Costs(fp=1, fn=1)}, {"objective": "accuracy"})
    )
    assert by_costs.by_group == by_accuracy.by_group
    assert by_accuracy.settings["value"] == pytest.approx(1 - by_costs.settings["cost"], abs=1e-12)


EXAMPLE = {
    "f": curve(baserate.tally([1, 1, 0, 1, 0, 0, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2, 0.15, 0.1])),
    "m": curve(baserate.tally([1, 0, 1, 0, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1, 0.05, 0.02])),
}


def test_objectives_by_hand() -> None:
    free = fairness.optimal_policy(EXAMPLE, Goal("equal-opportunity", within=inf, objective="f1"))
    # Positives are 3 and 3; true and false positives 3 + 2 and 1 + 1 give 2·5/(6 + 7) = 10/13.
    assert free.settings["value"] == pytest.approx(10 / 13, abs=1e-12)
    equal = fairness.deterministic_thresholds(EXAMPLE, Goal("equal-opportunity", objective="f1"))
    # Sensitivities of 1: false positives 1 + 3, so 2·6/(6 + 10). Sensitivities of 2/3 give 8/(6 + 5), which is less.
    assert equal.settings["value"] == pytest.approx(3 / 4, abs=1e-12)
    assert [each.thresholds for each in equal.by_group.values()] == [(0.6,), (0.1,)]  # type: ignore[union-attr]


def test_price_is_in_units_of_the_objective() -> None:
    goal = Goal("equalized-odds", objective="mcc")
    results = fairness.impact(EXAMPLE, goal)
    data = results.data
    assert data["objective"] == "mcc"
    assert data["price"] == pytest.approx(data["value_without"] - data["value"])
    assert data["best"] == pytest.approx(data["value"])
    assert "least" not in data
    rows = [row for row in results.rows() if row["measure"] == "mcc" and row["group"] is None]
    assert [row["set"] for row in rows] == ["without parity", "with parity"]
    assert rows[1]["value"] == data["value"]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_prices_fall_with_the_tolerance(objective: str) -> None:
    prices = fairness.frontier(EXAMPLE, Goal("equalized-odds", objective=objective), within=[0, 0.1, 0.3, 1])
    rows = prices.rows()
    assert [row["price"] for row in rows] == sorted((row["price"] for row in rows), reverse=True)
    assert rows[-1]["price"] == 0
    assert prices.data["value_without"] == rows[-1]["value"]
    for row in rows:
        assert row["price"] == pytest.approx(rows[-1]["value"] - row["value"], abs=1e-12)
        for kind in ("deterministic_value", "blind_value"):
            assert row[kind] is None or row[kind] <= row["value"] + 1e-9
    assert "cost" not in rows[0]


def test_cross_validation_estimates_the_objective() -> None:
    truth, score = baserate.population.binormal(means=(0, 1)).draw(600, 1)
    rows = baserate.read.tallies(
        {"sick": truth, "risk": score, "sex": ["f", "m"] * 300}, truth="sick", score="risk", group="sex"
    )
    validation = fairness.cross_validate(rows, Goal("equal-opportunity", objective="f1"))
    assert validation.value is not None
    assert validation.value.low < validation.value.value < validation.value.high
    assert validation.value_apparent == pytest.approx(validation.policy.settings["value"], abs=1e-9)
    kinds = [(row["kind"], row["value"]) for row in validation.results().rows() if row["measure"] == "f1"]
    assert [kind for kind, _ in kinds] == ["held out", "apparent"]
    assert fairness.cross_validate(rows, Goal("equal-opportunity")).value is None


def test_crossing_and_reject_option_use_the_objective() -> None:
    goal = Goal("equalized-odds", within=inf, objective="f1")
    several = {
        "f": curve(baserate.tally([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])),
        "m": curve(baserate.tally([1, 1, 0, 0, 1, 0], [0.8, 0.7, 0.6, 0.5, 0.3, 0.1])),
    }
    crossing = fairness.choose_roc_crossing(several, goal)
    values = [measure.find_measure("f1")(pooled(crossing, several)), crossing.settings["value"]]
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert crossing.settings["bound"] - crossing.settings["value"] == pytest.approx(crossing.settings["above"])
    band = fairness.reject_option(EXAMPLE, goal, favor="m", favorable="flag")
    same = fairness.reject_option(
        EXAMPLE, Goal("equalized-odds", within=inf), favor="m", favorable="flag", objective="f1"
    )
    assert band.by_group == same.by_group
    assert band.settings["objective"] == "f1"


def test_trivial_solutions_are_noted() -> None:
    worse = {"f": curve(baserate.tally([0, 1], [0.9, 0.1])), "m": curve(baserate.tally([1, 0], [0.9, 0.1]))}
    policy = fairness.deterministic_thresholds(worse, Goal("equalized-odds", objective="mcc"))
    assert [each.thresholds for each in policy.by_group.values()] == [(inf,), (inf,)]  # type: ignore[union-attr]
    assert "value" not in policy.settings
    assert any(note.startswith("nobody is flagged") and "mcc is undefined" in note for note in policy.notes)


def test_the_policy_describes_its_objective() -> None:
    policy = fairness.optimal_policy(EXAMPLE, Goal("equalized-odds", objective="balanced accuracy"))
    assert policy.settings["objective"] == "balanced_accuracy"
    assert "best balanced accuracy that keeps equalized-odds within 0" in " ".join(str(policy).split())
    assert Policy.from_json(policy.to_json()).settings == policy.settings
    assert repr(Goal("equalized-odds", objective="MCC")) == "Goal(equalized-odds within 0.0; objective mcc)"


@pytest.mark.parametrize("objective", ["g_mean", "precision", "auc", "markedness"])
def test_other_measures_are_refused(objective: str) -> None:
    with pytest.raises(OptionError, match=f"objective is '{objective}', which cannot be maximized.*balanced_accuracy"):
        Goal("equalized-odds", objective=objective)


def test_both_classes_are_needed() -> None:
    none: dict[str, Any] = {name: curve(baserate.tally([0, 0], [0.9, 0.1])) for name in "fm"}
    with pytest.raises(FitError, match="f1 needs rows of both classes"):
        fairness.optimal_policy(none, Goal("demographic-parity", objective="f1"))
