"""Calibrated equalized odds on COMPAS, beside AIF360 0.6.1, whose shares were computed for these columns."""

import numpy as np
import pytest

from baserate import InfeasibleError, Policy, Tallies, fairness, read
from tests.golden.compas import FILTERED, UNFILTERED, people
from tests.golden.conftest import Columns

# `priv_mix_rate` of Caucasians after `CalibratedEqOddsPostprocessing(…, cost_constraint="weighted").fit`. "raw" scores
# are deciles / 10, "cal" are the shares of each decile and race that came back.
OF_AIF360 = {
    (UNFILTERED, "raw"): 0.1855200687305762,
    (UNFILTERED, "cal"): 0.37686578316635216,
    (FILTERED, "raw"): 0.13916047513248658,
    (FILTERED, "cal"): 0.2604596657875861,
}
IMPOSSIBLE = {
    (UNFILTERED, "raw", "fnr"): 1.284654206174366,
    (UNFILTERED, "raw", "fpr"): 1.5083875987225133,
    (UNFILTERED, "cal", "fnr"): 1.917236209612241,
    (FILTERED, "raw", "fnr"): 1.5138520013412902,
    (FILTERED, "cal", "fpr"): 2.4142720690942894,
}
"""Shares above 1, which AIF360 accepts: its draws of the base rate then change all rows, and the rates stay unequal."""


def tallies(columns: Columns, population: str, kind: str, group: str = "race") -> Tallies:
    """Read a population with raw scores, or with calibrated ones."""
    rows = people(columns, population)
    if kind == "cal":
        keys = np.char.add(rows[group].astype(str), rows["decile"].astype(str))
        cell = np.unique(keys, return_inverse=True)[1]
        rows["decile"] = (np.bincount(cell, weights=rows["again"]) / np.bincount(cell))[cell]
    return read.tallies(rows, truth="again", score="decile", group=group)


def shares(policy: Policy) -> dict[str, float]:
    return {each["group"][0]: each["share"] for each in policy.settings["mixing"]}


@pytest.mark.parametrize(("population", "kind"), OF_AIF360)
def test_shares_of_aif360(columns: Columns, population: str, kind: str) -> None:
    policy = fairness.calibrated_equalized_odds(tallies(columns, population, kind))
    expected = {"African-American": 0, "Caucasian": OF_AIF360[population, kind]}
    assert shares(policy) == pytest.approx(expected, abs=1e-12)
    assert bool(policy.notes) == (kind == "raw")  # deciles / 10 are no probabilities


@pytest.mark.parametrize(("population", "kind", "equalize"), IMPOSSIBLE)
def test_impossible_shares_of_aif360_are_refused(columns: Columns, population: str, kind: str, equalize: str) -> None:
    share = IMPOSSIBLE[population, kind, equalize]
    with pytest.raises(InfeasibleError, match=f"cannot be equalized.*would take a share of {share:.4g}"):
        fairness.calibrated_equalized_odds(tallies(columns, population, kind), equalize)


def test_shares_of_aif360_by_sex(columns: Columns) -> None:
    raw = tallies(columns, UNFILTERED, "raw", "sex")
    by_cost, by_fnr = (shares(fairness.calibrated_equalized_odds(raw, each)) for each in ("weighted", "fnr"))
    assert by_cost == pytest.approx({"Female": 0, "Male": 0.024319457146143225}, abs=1e-12)
    assert by_fnr == pytest.approx({"Female": 0, "Male": 0.38018897026008275}, abs=1e-12)
    # AIF360 withholds a share of -2.16 here: the scores of women are worse than their base rate.
    with pytest.raises(InfeasibleError, match=r"share of -2\.156"):
        fairness.calibrated_equalized_odds(raw, "fpr")
    calibrated = fairness.calibrated_equalized_odds(tallies(columns, UNFILTERED, "cal", "sex"))
    assert shares(calibrated) == pytest.approx({"Female": 0.40725642504679627, "Male": 0}, abs=1e-12)


def test_generalized_rates_of_aif360(columns: Columns) -> None:
    raw = tallies(columns, UNFILTERED, "raw")
    results = fairness.mixing_impact(raw, fairness.calibrated_equalized_odds(raw))
    rates = {
        (row["measure"], row["group"]["race"]): row["value"]
        for row in results.rows()
        if row["set"] == "scores" and row["group"] and row["measure"].startswith("generalized_f")
    }
    assert rates == pytest.approx(
        {
            ("generalized_fnr", "Caucasian"): 0.5182194616977225,
            ("generalized_fnr", "African-American"): 0.3712782745923198,
            ("generalized_fpr", "Caucasian"): 0.30322580645161296,
            ("generalized_fpr", "African-American"): 0.43961002785515313,
        },
        abs=1e-12,
    )
