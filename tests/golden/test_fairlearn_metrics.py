"""Metrics of fairlearn: all differences and ratios by both of its aggregations, and control features."""

from typing import Any

import numpy as np
import pytest
from fairlearn import metrics as peer

from baserate import Tallies, fairness, read

AT = 0.4


@pytest.fixture(scope="module")
def people() -> dict[str, Any]:
    rng = np.random.default_rng(11)
    size = 2400
    site, age = rng.choice(["hill", "coast", "north"], size, p=[0.2, 0.3, 0.5]), rng.choice(["old", "young"], size)
    risk = rng.beta(2 + (site == "hill"), 3, size).round(3)
    return {"sick": (rng.random(size) < risk).astype(int), "risk": risk, "site": site, "age": age}


@pytest.fixture(scope="module")
def sites(people: dict[str, Any]) -> Tallies:
    return read.tallies(people, truth="sick", score="risk", group=["site", "age"])


@pytest.fixture(scope="module")
def gaps(sites: Tallies) -> dict[tuple[str, str], float]:
    rows = fairness.group_gaps(
        sites, by="site", policy=AT, measures=["flag_rate", "sensitivity", "fpr"], n_permutations=100
    )
    return {(row["parity"], row["kind"]): row["value"] for row in rows.rows()}


@pytest.mark.parametrize(
    ("function", "agg", "parity", "kind"),
    [
        ("demographic_parity_difference", None, "demographic-parity", "max_difference"),
        ("demographic_parity_ratio", None, "demographic-parity", "ratio"),
        ("equal_opportunity_difference", None, "equal-opportunity", "max_difference"),
        ("equal_opportunity_ratio", None, "equal-opportunity", "ratio"),
        ("equalized_odds_difference", "worst_case", "equalized-odds", "max_difference"),
        ("equalized_odds_difference", "mean", "equalized-odds", "mean_difference"),
        ("equalized_odds_ratio", "worst_case", "equalized-odds", "ratio"),
        ("equalized_odds_ratio", "mean", "equalized-odds", "mean_ratio"),
    ],
)
def test_parity_metrics(
    function: str, agg: str | None, parity: str, kind: str, people: dict[str, Any], gaps: dict[tuple[str, str], float]
) -> None:
    theirs = getattr(peer, function)(
        people["sick"],
        (people["risk"] >= AT).astype(int),
        sensitive_features=people["site"],
        **({"agg": agg} if agg else {}),
    )
    assert gaps[parity, kind] == pytest.approx(theirs, abs=1e-12)


def test_extremes_of_groups(people: dict[str, Any], sites: Tallies) -> None:
    frame = peer.MetricFrame(
        metrics=peer.selection_rate,
        y_true=people["sick"],
        y_pred=(people["risk"] >= AT).astype(int),
        sensitive_features=people["site"],
    )
    rows = fairness.group_gaps(sites, by="site", policy=AT, measures=["flag_rate"], n_permutations=100).rows()
    kinds = {row["kind"]: row["value"] for row in rows}
    assert (kinds["max"], kinds["min"]) == pytest.approx((frame.group_max(), frame.group_min()), abs=1e-12)


def test_control_features(people: dict[str, Any], sites: Tallies) -> None:
    frame = peer.MetricFrame(
        metrics=peer.true_positive_rate,
        y_true=people["sick"],
        y_pred=(people["risk"] >= AT).astype(int),
        sensitive_features=people["site"],
        control_features=people["age"],
    )
    results = fairness.stratified_differences(
        sites, control="age", policy=AT, measures=["sensitivity"], reference="north"
    )
    strata = [row for row in results.rows() if row["kind"] == "stratum"]
    assert len(strata) == 4
    for row in strata:
        rates = frame.by_group[row["stratum"]["age"]]
        assert row["value"] == pytest.approx(rates[row["group"]["site"]] - rates["north"], abs=1e-12)
