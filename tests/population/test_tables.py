"""Exact curves, summaries and the values of whole curves."""

import json
from math import inf, isnan

import jsonschema
import numpy as np
import pytest
from scipy import stats

from baserate import OptionError, Population, UnknownNameError, curve, measure, population, tally
from tests.schemas import RESULTS


def test_thresholds_run_from_nothing_to_everything() -> None:
    for made in (*map(population.retrieval, population.LEVELS), population.linear(), population.logit_normal()):
        at = population.thresholds(made, points=11)
        assert (np.diff(at) < 0).all()
        counts = made.at(at)
        assert counts.flagged[0] == counts.passed[-1] == 0
    assert population.thresholds(population.linear(), points=11).tolist() == [k / 10 for k in range(10, -1, -1)]
    assert population.thresholds(population.binormal(), points=11)[[0, -1]].tolist() == [inf, -inf]
    assert len(population.thresholds(population.binormal(), points=11)) == 11
    assert population.thresholds(population.retrieval("perfect")).tolist() == [inf, 1, 0]
    mixed = Population(stats.uniform(), stats.binom(2, 0.5), 0.5)
    assert population.thresholds(mixed, points=5).tolist() == [inf, 2, 4 / 3, 2 / 3, 0]


def test_tables_hold_curves_and_measures() -> None:
    made = population.linear(prevalence=0.25)
    found = population.table(made, "pr", "f1", measure.mcc, points=5)
    assert list(found.columns) == ["model", "group", "threshold", "sensitivity", "precision", "f1", "mcc"]
    assert list(found.columns["threshold"]) == [1, 0.75, 0.5, 0.25, 0]
    np.testing.assert_array_equal(found.columns["f1"], measure.f1(made.at(np.linspace(1, 0, 5))))
    assert found.rows()[0]["precision"] is None
    assert found.data["prevalence"] == 0.25
    assert found.data["auc"] == pytest.approx(5 / 6)
    jsonschema.validate(json.loads(found.to_json()), RESULTS)
    at = population.table(made, "roc", at=[0.1, inf, 0.9])
    assert list(at.columns["threshold"]) == [inf, 0.9, 0.1]


def test_results_describe_their_population() -> None:
    told = population.table(Population(stats.norm(1.5, scale=2), population.linear().positive, 0.5), "roc").data
    assert told["population"] == {"negative": "scipy.stats.norm(1.5, scale=2)", "positive": "Linear(rising=True)"}
    assert "0x" not in population.table(Population(stats.binom(3, 0.5), _Own(), 0.5), "roc").to_json()


class _Own:
    """A distribution of somebody's own."""

    def __init__(self) -> None:
        mine = stats.uniform()
        self.pdf, self.cdf, self.sf, self.ppf, self.isf, self.rvs = (
            getattr(mine, name) for name in ("pdf", "cdf", "sf", "ppf", "isf", "rvs")
        )


def test_summaries_list_best_values_first() -> None:
    found = population.summary(population.linear(), "precision", "F1 score", "flag_rate", "auc", at=[1.0, 0.5])
    rows = found.rows()
    assert [(row["measure"], row["best"], row["how"]) for row in rows[:3]] == [
        ("precision", True, "limit"),
        ("f1", True, None),
        ("auc", False, None),
    ]
    inner = {(row["measure"], row["threshold"]): row for row in rows[3:]}
    assert len(inner) == 6
    assert (inner["precision", 1.0]["value"], inner["precision", 1.0]["why"]) == (None, "nothing is flagged")
    assert inner["flag_rate", 0.5]["value"] == 0.5
    jsonschema.validate(json.loads(found.to_json()), RESULTS)


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize(
    "name", ["auc", "gini", "accuracy_ratio", "cap_area", "lorenz_gini", "ks", "average_precision", "pr_auc"]
)
def test_theory_is_what_large_samples_tend_to(name: str, share: float) -> None:
    made = population.binormal(means=(0, 1.2), sds=(1, 1.5), prevalence=share)
    truth, score = made.draw(200_000, 5, positives=int(200_000 * share))
    sampled = measure.find_measure(name)(curve(tally(truth, score)))
    assert population.exact_value(made, name) == pytest.approx(sampled, abs=0.01)


def test_theory_of_a_reversed_score() -> None:
    made = population.binormal(means=(1, 0))
    assert population.exact_value(made, "gini") < 0
    assert population.exact_value(made, "ks") == pytest.approx(2 * stats.norm.cdf(0.5) - 1, rel=0, abs=1e-14)


def test_theory_that_is_not_known() -> None:
    assert isnan(population.exact_value(population.linear(), "partial_auc"))
    assert isnan(population.exact_value(population.linear(prevalence=1), "auc"))
    row = population.summary(population.linear(), "partial_auc").rows()[0]
    assert row["value"] is None
    assert "no formula is known" in row["why"]


def test_invalid_tables_raise() -> None:
    linear = population.linear()
    with pytest.raises(OptionError, match="auc has one value for a whole curve"):
        population.table(linear, "auc")
    with pytest.raises(UnknownNameError, match="no measure 'rocc'"):
        population.table(linear, "rocc")
    with pytest.raises(OptionError, match="points is 1; expected a whole number from 2 to 1,000,000"):
        population.table(linear, "roc", points=1)
    with pytest.raises(OptionError, match="f1 is not a measure over all thresholds"):
        population.exact_value(linear, "f1")
    with pytest.raises(OptionError, match="brier is of probabilities"):
        population.summary(linear, "brier")
