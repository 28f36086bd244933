"""Metrics of AIF360 on COMPAS: African-American against Caucasian defendants, flagged from decile 5 on.

Numbers are from AIF360 0.6.1: `ClassificationMetric(dataset, predicted, unprivileged_groups=[{"race": 0}],
privileged_groups=[{"race": 1}])` with favorable label 1 (recidivism) and scores of decile/10.
"""

from math import inf, sqrt
from typing import Any

import pytest

from baserate import Counts, Cut, Policy, Tallies, decide, fairness
from baserate.measure import MEASURES, generalized_entropy, theil_index
from tests.golden.compas import RACES, UNFILTERED, tallies
from tests.golden.conftest import Columns


@pytest.fixture(scope="module")
def both(columns: Columns) -> Tallies:
    return tallies(columns, UNFILTERED)


DIFFERENCES = {
    "average_odds": 0.20564895979925066,
    "average_predictive_value": 0.049897497818793685,
    "flag_rate": 0.2402002032197631,
    "sensitivity": 0.19737296377737334,
    "error_rate": 0.03166907460917234,
    "false_omission_rate": 0.06141507884362679,
    "generalized_fpr": 0.43961002785515313 - 0.30322580645161296,
    "generalized_fnr": 0.3712782745923198 - 0.5182194616977225,
}
RATIOS = {
    "flag_rate": 1.6902240031631133,  # disparate_impact
    "error_rate": 1.0959455667789,
    "fdr": 0.9060846735185033,
    "fpr": 1.9120926483147231,
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences(name: str, both: Tallies) -> None:
    (row,) = fairness.group_differences(both, policy=0.5, measures=[name], reference=RACES[1]).rows()
    assert row["value"] == pytest.approx(DIFFERENCES[name], abs=1e-12)
    assert row["low"] < row["value"] < row["high"]


@pytest.mark.parametrize("name", RATIOS)
def test_ratios(name: str, both: Tallies) -> None:
    (row,) = fairness.group_ratios(both, policy=0.5, measures=[name], reference=RACES[1]).rows()
    assert row["value"] == pytest.approx(RATIOS[name], abs=1e-12)
    assert row["low"] < row["value"] < row["high"]


def test_odds_differ_by_definition(both: Tallies) -> None:
    rows = fairness.group_gaps(both, policy=0.5, measures=["sensitivity", "fpr"], n_permutations=100).rows()
    odds = {row["kind"]: row["value"] for row in rows if row["parity"] == "equalized-odds"}
    assert odds["max_difference"] == pytest.approx(0.21392495582112797, abs=1e-12)  # equalized_odds_difference
    assert odds["mean_absolute"] == pytest.approx(0.20564895979925066, abs=1e-12)  # average_abs_odds_difference


def test_generalized_rates_of_everybody(both: Tallies) -> None:
    whole = both.pooled("decile")
    assert MEASURES["generalized_fpr"](whole) == pytest.approx(0.37779469996954, abs=1e-12)
    assert MEASURES["generalized_fnr"](whole) == pytest.approx(0.4207882804325079, abs=1e-12)


ENTROPY = {2: 0.1654350010385722, 1: 0.22764925481327447, 0.5: 0.3820092462053082, 3: 0.16524948482260005, 0: inf}
BETWEEN = {2: 0.0016260756539151415, 1: 0.0016398832027280713, 0.5: 0.0016471940479217656, 3: 0.0016133282073635933}


@pytest.fixture(scope="module")
def counts(both: Tallies) -> Counts[float]:
    policy = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
    return decide.decision_tables(both, policy)[None]["flag"]


@pytest.mark.parametrize("alpha", ENTROPY)
def test_generalized_entropy(alpha: float, counts: Counts[float]) -> None:
    assert generalized_entropy(counts, alpha=alpha) == pytest.approx(ENTROPY[alpha], abs=1e-12)


def test_theil_index_and_coefficient_of_variation(counts: Counts[float]) -> None:
    assert theil_index(counts) == pytest.approx(0.22764925481327447, abs=1e-12)
    assert MEASURES["benefit_variation"](counts) == pytest.approx(0.575213005831009, abs=1e-12)
    assert MEASURES["benefit_variation"](counts) == pytest.approx(sqrt(2 * ENTROPY[2]))


@pytest.mark.parametrize("alpha", BETWEEN)
def test_entropy_between_groups(alpha: float, both: Tallies) -> None:
    results = fairness.decompose_entropy(both, policy=0.5, alpha=alpha)
    parts: dict[str, Any] = {row["part"]: row for row in results.rows() if row["group"] is None}
    assert parts["total"]["value"] == pytest.approx(ENTROPY[alpha], abs=1e-12)
    assert parts["between"]["value"] == pytest.approx(BETWEEN[alpha], abs=1e-12)
    assert parts["within"]["value"] == pytest.approx(ENTROPY[alpha] - BETWEEN[alpha], abs=1e-12)


def test_mean_logarithmic_deviation_is_not_divided_by_the_mean_benefit(both: Tallies, counts: Counts[float]) -> None:
    results = fairness.decompose_entropy(both, policy=0.5, alpha=0)
    (between,) = [row["value"] for row in results.rows() if row["part"] == "between"]
    # AIF360 has −mean(ln(b/μ)/μ); the index of Speicher et al. has no second division by μ.
    assert between / (counts.benefits / counts.total) == pytest.approx(0.00161256645095166, abs=1e-12)
