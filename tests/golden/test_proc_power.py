"""Sizes and powers as published: pROC's `power.roc.test`, Obuchowski's table 4, R's `power.prop.test`."""

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from baserate import Rows, tally
from baserate.infer import (
    AucPair,
    alpha_of_auc_test,
    binormal_pair,
    binormal_spread,
    delong_pair,
    detectable_auc,
    power_of_auc_difference,
    power_of_auc_test,
    power_of_proportion_difference,
    reported_pair,
    sample_size_for_auc_difference,
    sample_size_for_auc_test,
    sample_size_for_proportion_difference,
)
from baserate.infer._auc_intervals import estimate_auc
from baserate.infer._sample_size import normal_sample_size, quantile_of_test

Columns = Callable[[str], dict[str, list[str]]]
PRINTED: dict[str, Any] = {"rel": 2e-7, "abs": 0}
PREVALENCE = 41 / 113


FORMULA: dict[str, Any] = {"method": "obuchowski"}


@pytest.fixture(scope="module")
def facts(load_published: Callable[[str], Any]) -> dict[str, Any]:
    entries = load_published("pROC_aSAH_reference.json")
    assert isinstance(entries, dict)
    return entries


@pytest.fixture(scope="module")
def patients(columns: Columns) -> Rows:
    rows = columns("aSAH.csv")
    truth = np.array([outcome == "Poor" for outcome in rows["outcome"]])
    return Rows(truth, {name: np.array(rows[name], dtype=float) for name in ("ndka", "wfns")})


def test_power_of_one_curve(facts: dict[str, Any]) -> None:
    power, auc = facts["power"], facts["auc"]["s100b_recomputed"]
    classes: dict[str, Any] = {"positives": 41, "negatives": 72}
    assert power_of_auc_test(auc, **classes, **FORMULA) == pytest.approx(power["s100b_41_72"], **PRINTED)
    assert power_of_auc_test(0.73, **classes, **FORMULA) == pytest.approx(power["auc.73_41_72"], **PRINTED)
    assert alpha_of_auc_test(0.73, power=0.95, **classes, **FORMULA) == pytest.approx(
        power["siglevel_for_.95"], **PRINTED
    )


def test_rounded_constants_of_the_paper_give_the_published_digits(facts: dict[str, Any]) -> None:
    # With √2 in place of 1.414 the power of 41 and 72 would be 0.9897465, not 0.9897453.
    square = 2 * ndtri(0.73) ** 2
    exact = 0.0099 * np.exp(-square / 2) * np.array([5 * square + 8, square + 8])
    assert binormal_spread(0.73) == pytest.approx(exact, rel=1e-3)
    assert binormal_spread(0.73) != pytest.approx(exact, rel=1e-5)
    assert power_of_auc_test(0.73, positives=41, negatives=72, **FORMULA) != pytest.approx(0.9897465, rel=5e-7)


def test_sample_size_of_one_curve(facts: dict[str, Any]) -> None:
    cases, controls = facts["power"]["n_for_power.95_kappa1.7"]
    auc = facts["auc"]["s100b_recomputed"]
    assert power_of_auc_test(auc, positives=cases, negatives=controls, **FORMULA) == pytest.approx(0.95, rel=1e-6)
    result = sample_size_for_auc_test(auc, power=0.95, prevalence=1 / 2.7, **FORMULA)
    assert result.rows == ceil(cases + controls)


def test_detectable_auc(facts: dict[str, Any]) -> None:
    # pROC's search stops at a tolerance of 1e-4: what it prints has power 0.95001.
    result = detectable_auc(power=0.95, positives=41, negatives=72, **FORMULA)
    assert result == pytest.approx(facts["power"]["auc_for_.95"], rel=0, abs=1e-5)
    assert power_of_auc_test(result, positives=41, negatives=72, **FORMULA) == pytest.approx(0.95, rel=1e-12)


def test_table_4_of_obuchowski(facts: dict[str, Any]) -> None:
    table = facts["power"]["obuchowski2004_table4_one_sided_.05_.9"]
    compared = 0
    for line, ratio in enumerate(table["kappas"]):
        for column, auc in enumerate(table["thetas"]):
            share = 1 / (1 + ratio)
            spreads = [binormal_spread(each).per_row(share) for each in (0.5, auc)]
            rows = normal_sample_size(auc - 0.5, *spreads, z=quantile_of_test(0.05, 1), power=0.9)
            cases, controls = ceil(rows * share), ceil(rows * (1 - share))
            # The table has at least ten of each, and keeps their ratio then.
            least_cases, least_controls = 10 / ratio * (controls < 10), 10 * ratio * (cases < 10)
            assert max(10, least_cases, cases) == table["ncases"][line][column]
            assert max(10, least_controls, controls) == table["ncontrols"][line][column]
            result = sample_size_for_auc_test(auc, power=0.9, prevalence=share, alpha=0.05, sides=1, **FORMULA)
            assert result.rows == max(ceil(rows - 1e-9), ceil(2 / min(share, 1 - share) - 1e-9))
            compared += 1
    assert compared == 25


def test_a_pilot_has_delongs_variances(facts: dict[str, Any], patients: Rows) -> None:
    pair = delong_pair(patients)
    assert [pair.first, pair.second] == pytest.approx([facts["auc"]["ndka"], facts["auc"]["wfns"]], rel=1e-14)
    result = [each.at(41, 72) for each in (*pair.variance, pair.covariance)]
    published = [facts["delong_var"]["ndka"], facts["delong_var"]["wfns"], facts["delong_cov"]["wfns,ndka"]]
    assert result == pytest.approx(published, rel=1e-12)
    assert result[0] == pytest.approx(estimate_auc(tally(patients.truth, patients.score["ndka"])).variance, rel=1e-12)


def test_two_curves_with_delongs_variances(facts: dict[str, Any], patients: Rows) -> None:
    power = facts["power"]
    stated = reported_pair(
        facts["auc"]["ndka"],
        facts["auc"]["wfns"],
        variances=(facts["delong_var"]["ndka"], facts["delong_var"]["wfns"]),
        covariance=facts["delong_cov"]["wfns,ndka"],
        positives=41,
        negatives=72,
    )
    cases, controls = power["n_two_curves_power.9"]
    for pair in (delong_pair(patients), stated):
        result = power_of_auc_difference(pair, positives=41, negatives=72, standard="first")
        assert result == pytest.approx(power["two_curves_ndka_wfns_delong"], **PRINTED)
        reached = power_of_auc_difference(pair, positives=cases, negatives=controls, standard="first")
        assert reached == pytest.approx(0.9, rel=1e-6)
        size = sample_size_for_auc_difference(pair, power=0.9, prevalence=PREVALENCE, standard="first")
        assert size.rows == ceil(cases + controls)


def test_the_order_of_curves_does_not_change_the_power(patients: Rows) -> None:
    pair = delong_pair(patients)
    swapped = delong_pair(Rows(patients.truth, dict(reversed(list(patients.score.items())))))

    def power(pair: AucPair, **options: Any) -> float:  # noqa: ANN401
        return power_of_auc_difference(pair, positives=41, negatives=72, **options)

    assert power(pair) == pytest.approx(power(swapped), rel=1e-13)
    assert power(pair, standard="first") == pytest.approx(power(swapped, standard="second"), rel=1e-13)
    assert power(pair, standard="first") == pytest.approx(0.7131594, rel=1e-6)
    assert power(swapped, standard="first") == pytest.approx(0.8766792, rel=1e-6)
    sizes = [sample_size_for_auc_difference(each, power=0.9, prevalence=PREVALENCE) for each in (pair, swapped)]
    assert sizes[0].rows == sizes[1].rows


def test_two_binormal_curves(facts: dict[str, Any], patients: Rows) -> None:
    """pROC takes a and b from the regression of Φ⁻¹(specificity) on Φ⁻¹(sensitivity)."""
    truth = patients.truth
    curves = []
    for score in patients.score.values():
        cuts = np.unique(score)
        sensitivity = np.array([np.mean(score[truth] >= cut) for cut in cuts])
        specificity = np.array([np.mean(score[~truth] < cut) for cut in cuts])
        x, y = ndtri(sensitivity), ndtri(specificity)
        finite = np.isfinite(x) & np.isfinite(y)
        slope, intercept = np.polyfit(x[finite], y[finite], 1)
        curves.append((float(intercept), float(-slope)))
    both = np.array(list(patients.score.values()))
    together = [float(np.corrcoef(both[:, of])[0, 1]) for of in (truth, ~truth)]
    fitted = binormal_pair(curves[0], curves[1], correlation=(together[0], together[1]))
    assert fitted.first == pytest.approx(facts["smooth_auc"]["ndka_binormal"], abs=5e-5)
    assert fitted.covariance.at(41, 72) == pytest.approx(facts["obuchowski_cov"]["wfns,ndka"], **PRINTED)
    # The difference is that of the areas under the steps, the variances are those of the fitted curves.
    pair = AucPair(facts["auc"]["ndka"], facts["auc"]["wfns"], fitted.variance, fitted.covariance)
    result = power_of_auc_difference(pair, positives=41, negatives=72, standard="first")
    assert result == pytest.approx(facts["power"]["two_curves_obuchowski"], **PRINTED)


def test_two_proportions_as_in_the_manual_of_r() -> None:
    assert power_of_proportion_difference(0.5, 0.75, trials=50, paired=False) == pytest.approx(0.740, abs=5e-4)
    assert sample_size_for_proportion_difference("accuracy", 0.5, 0.75, power=0.9, paired=False).rows == ceil(76.7)


def test_connors_formula_by_hand() -> None:
    # ψ = 0.5, δ = 0.4: (1.959964·√0.5 + 0.841621·√0.34)²/0.16 = (1.385904 + 0.490743)²/0.16 = 22.0113
    result = sample_size_for_proportion_difference("accuracy", 0.7, 0.3, power=0.8, discordance=0.5)
    assert result.rows == 23
    assert power_of_proportion_difference(0.7, 0.3, trials=22.0113, discordance=0.5) == pytest.approx(0.8, abs=2e-5)
