"""Thresholds of groups: the rule's choice in each, differences between groups, and warnings."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import Costs, OptionError, Results, curve, decide, infer, population, tally
from tests.decide.test_rules import both
from tests.strategies import Rows


def simulate(rows: int = 300, shift: float = 0.0, seed: int = 0) -> dict[str, Any]:
    """Return rows of two sites; scores of the south are shifted."""
    rng = np.random.default_rng(seed)
    truth, score = population.binormal(means=(0, 1.5), prevalence=0.4).draw(rows, rng)
    site = rng.choice(["north", "south"], rows)
    return {"truth": truth, "score": score + shift * (site == "south"), "group": site}


def choose(data: dict[str, Any], rule: Any = None, **options: Any) -> Results:  # noqa: ANN401  (options)
    """Choose thresholds in the groups of simulated rows."""
    return decide.group_thresholds(data["truth"], data["score"], rule, group=data["group"], **options)


def rows_of(results: Any, measure: str) -> list[dict[str, Any]]:  # noqa: ANN401  (results)
    return [row for row in results.rows() if row["measure"] == measure]


@given(both, st.lists(st.sampled_from("abc"), min_size=30, max_size=30))
def test_each_group_has_the_threshold_of_the_rule(data: Rows, labels: list[str]) -> None:
    group = np.array(labels[: len(data.truth)])
    results = decide.group_thresholds(data.truth, data.score, "youden", group=group, n_bootstrap=0)
    for row in rows_of(results, "threshold"):
        part = group == row["group"]["group"] if row["group"] else np.ones(len(group), dtype=bool)
        truth, score = data.truth[part], data.score[part]
        if len(set(truth.tolist())) < 2:
            assert row["value"] is None
            assert "needs both classes" in row["why"]
        else:
            assert row["value"] == decide.youden(curve(tally(truth, score))).threshold
    thresholds = {row["group"] and row["group"]["group"]: row["value"] for row in rows_of(results, "threshold")}
    for row in rows_of(results, "threshold_difference"):
        assert np.isfinite([thresholds[row[end]["group"]] for end in ("group", "other")]).all()
        assert row["value"] == thresholds[row["group"]["group"]] - thresholds[row["other"]["group"]]
        assert row["p"] is None


def test_thresholds_have_intervals_and_corrected_measures() -> None:
    data = simulate()
    results = choose(data, rule="youden", measures=["sensitivity"], n_bootstrap=100)
    thresholds, measures = rows_of(results, "threshold"), rows_of(results, "sensitivity")
    assert [row["group"] for row in thresholds] == [None, {"group": "north"}, {"group": "south"}]
    for threshold, row in zip(thresholds, measures, strict=True):
        assert threshold["low"] < threshold["value"] < threshold["high"]
        assert row["corrected_low"] < row["corrected"] < row["corrected_high"]
    north = data["group"] == "north"
    c = curve(tally(data["truth"][north], data["score"][north]))
    counts = c.at(decide.youden(c).threshold)
    assert measures[1]["value"] == infer.estimate("sensitivity", counts).value
    assert measures[1]["high"] == infer.estimate("sensitivity", counts).high
    cells = [
        next(row["value"] for row in rows_of(results, name) if row["group"] == {"group": "north"}) for name in CELLS
    ]
    assert cells == [counts.tp, counts.fp, counts.fn, counts.tn]


CELLS = ("tp", "fp", "fn", "tn")


def test_differences_find_shifted_scores_and_only_those() -> None:
    shifted = rows_of(choose(simulate(400, 3.0), rule="normal", n_bootstrap=200), "threshold_difference")
    (row,) = shifted
    assert (row["group"], row["other"]) == ({"group": "north"}, {"group": "south"})
    assert row["low"] < row["value"] < row["high"] < 0
    assert row["value"] == pytest.approx(-3, abs=0.5)
    assert row["p"] == row["p_adjusted"] == pytest.approx(2 / 201)
    rejected = 0
    for seed in range(20):
        results = choose(simulate(200, seed=seed), rule="normal", n_bootstrap=100, measures=["youden"])
        (row,) = rows_of(results, "threshold_difference")
        assert row["low"] <= row["value"] <= row["high"]
        rejected += row["p"] < 0.05
    assert rejected <= 4


def test_p_values_are_adjusted_over_all_pairs() -> None:
    data = simulate(600, 0.5, 3)
    data["group"] = np.where(np.arange(600) % 3 == 0, "coast", data["group"])
    results = choose(data, rule="normal", n_bootstrap=200, measures=["youden"])
    rows = rows_of(results, "threshold_difference")
    pairs = [(row["group"]["group"], row["other"]["group"]) for row in rows]
    assert pairs == [("coast", "north"), ("coast", "south"), ("north", "south")]
    assert [row["p_adjusted"] for row in rows] == infer.holm([row["p"] for row in rows])
    assert any("3 groups make 3 comparisons" in note for note in results.data["notes"])


def test_results_depend_on_the_seed_and_not_on_the_order_of_rows() -> None:
    data = simulate(150)
    order = np.random.default_rng(1).permutation(150)
    moved = {name: column[order] for name, column in data.items()}
    first, second, other = (
        choose(each, rule="youden", n_bootstrap=60, seed=seed) for each, seed in ((data, 0), (moved, 0), (data, 1))
    )
    assert [row["low"] for row in first.rows()] == [row["low"] for row in second.rows()]
    assert [row["low"] for row in first.rows()] != [row["low"] for row in other.rows()]


def test_small_groups_and_failing_groups_are_noted() -> None:
    data = simulate(120)
    data["group"] = data["group"].copy()
    data["group"][:2] = "islet"
    data["truth"][:2] = True
    results = choose(data, rule="youden", n_bootstrap=50)
    notes = " ".join(results.data["notes"])
    assert (
        "3 groups with fewer than 50 positives or negatives (group = islet; group = north; group = south; the least"
        in notes
    )
    assert "group = islet has no threshold: Youden's index needs both classes" in notes
    assert "use `baserate equalize`" in notes
    islet = next(row for row in rows_of(results, "threshold") if row["group"] == {"group": "islet"})
    assert islet["value"] is None
    assert not [row for row in results.rows() if row["group"] == {"group": "islet"} and row["measure"] == "tp"]
    assert len(rows_of(results, "threshold_difference")) == 1


def test_rules_with_options_costs_midpoints_and_prevalence() -> None:
    data = simulate(200)
    middle = choose(data, n_bootstrap=0, rule="youden", midpoints=True)
    assert rows_of(middle, "threshold")[1]["value"] not in data["score"]
    priced = choose(data, n_bootstrap=0, fp=1, fn=9)
    assert priced.rows()[0]["rule"] == "cost"
    assert rows_of(priced, "expected_cost")
    rare = choose(data, n_bootstrap=0, fp=1, fn=9, prevalence="2%")
    assert rows_of(rare, "threshold")[0]["value"] > rows_of(priced, "threshold")[0]["value"]
    bound = choose(data, n_bootstrap=0, rule=partial(decide.best, measure="f1"))
    named = choose(data, n_bootstrap=0, rule="best", measure="f1")
    assert [row["value"] for row in bound.rows()] == [row["value"] for row in named.rows()]


def test_wrong_uses_are_refused() -> None:
    data = simulate(60)
    with pytest.raises(OptionError, match=r"there are no groups. Name a column: group='site'"):
        decide.group_thresholds(data["truth"], data["score"], "youden")
    for options in ({"rule": "fixed", "threshold": 0.5}, {"rule": "bands", "shares": (0.1, 0.2)}):
        with pytest.raises(OptionError, match="does not choose one threshold on data"):
            choose(data, **options)
    with pytest.raises(OptionError, match="does not choose one threshold"):
        choose(data, rule="abstain", costs=Costs(fp=1, fn=1), refer=0.2)
    with pytest.raises(OptionError, match="n_bootstrap is -1"):
        choose(data, rule="youden", n_bootstrap=-1)
