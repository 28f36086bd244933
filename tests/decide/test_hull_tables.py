"""Tables of hulls, likelihood ratios, combined scores and cheapest thresholds."""

import numpy as np
import pytest

import baserate
from baserate import Costs, decide, read
from baserate._tally import Tallies

PEOPLE = {
    "sick": [1, 0, 1, 1, 0, 0, 0, 1, 0, 0],
    "risk": [0.92, 0.85, 0.71, 0.64, 0.64, 0.31, 0.30, 0.22, 0.11, 0.05],
    "old": [0.81, 0.40, 0.95, 0.30, 0.62, 0.33, 0.05, 0.55, 0.20, 0.10],
    "says": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    "sex": [*"fmfmfmfmfm"],
}
COSTS = Costs(fp=1, fn=5)


@pytest.fixture
def tallies() -> Tallies:
    return read.tallies(PEOPLE, truth="sick", score=["risk", "old"])


def test_hull_table_adds_ranges_costs_and_a_mixture(tallies: Tallies) -> None:
    results = decide.hull_table(tallies, costs=COSTS, prevalence=0.1, fpr=0.1)
    hull = decide.roc_convex_hull({name: baserate.curve(tallies.pooled(name)) for name in tallies.models})
    rows = [row for row in results.rows() if row["fpr"] is not None]
    assert [row["cost"] for row in rows] == [vertex.cost(COSTS, 0.1) for vertex in hull.vertices]
    assert results.data["at"]["best"]["threshold"] == hull.at(COSTS, 0.1).threshold
    assert sum(row["chance"] for row in rows) == pytest.approx(1)
    mixture = hull.mixture(fpr=0.1)
    assert (results.data["hybrid"]["chance"], results.data["hybrid"]["tpr"]) == (mixture.chance, mixture.tpr)
    assert {"ratio_from", "prevalence_to"} <= {*results.columns}


def test_labels_are_one_point_of_a_hull() -> None:
    labels = read.tallies(PEOPLE, truth="sick", predicted="says")
    rows = decide.hull_table(labels).rows()
    assert [(row["classifier"], row["threshold"]) for row in rows] == [
        ("none", np.inf),
        ("says", None),
        ("all", -np.inf),
    ]
    assert decide.CHOSEN_NOTE not in decide.hull_table(labels).data["notes"]


def test_likelihood_ratios_of_each_model(tallies: Tallies) -> None:
    results = decide.likelihood_ratio_table(tallies, prevalence=0.1, level=0.9)
    for name in tallies.models:
        pools = decide.hull_likelihood_ratios(baserate.curve(tallies.pooled(name)), prevalence=0.1, level=0.9)
        rows = [row for row in results.rows() if row["model"] == name]
        assert [row["ratio"] for row in rows] == pools["ratio"].tolist()
        assert [row["posterior"] for row in rows] == pools["posterior"].tolist()
    assert (results.data["level"], results.data["at"]) == (0.9, {"prevalence": 0.1})


def test_a_combination_as_a_row() -> None:
    rows = read.rows(PEOPLE, truth="sick", score=["risk", "old"])
    (row,) = decide.combination_table(rows).rows()
    combination = decide.combine_scores(rows)
    assert (row["first"], row["second"]) == combination.names
    assert (row["first_weight"], row["second_weight"]) == combination.weights
    assert (row["auc"], row["exact"]) == (combination.auc, combination.exact)


def test_cheapest_thresholds_of_models_and_groups() -> None:
    tallies = read.tallies({**PEOPLE, "sex": [*"ffffffffff"[:8], "m", "m"]}, truth="sick", score="risk", group="sex")
    results = decide.cheapest_thresholds(tallies, COSTS, 0.1)
    everybody, women, men = results.rows()
    curve = baserate.curve(tallies.pooled("risk"))
    assert everybody["threshold"] == decide.cost(curve, COSTS, prevalence=0.1).threshold
    x = results.data["probability_cost"]
    assert x == decide.probability_cost(COSTS, 0.1)
    # The height of the cost curve at x is the least of all thresholds.
    counts = curve.counts
    heights = counts.fn / counts.positives * x + counts.fp / counts.negatives * (1 - x)
    assert everybody["cost"] == pytest.approx(heights.min())
    assert women["why"] is None
    assert (men["threshold"], men["why"]) == (None, "there are no positives")
