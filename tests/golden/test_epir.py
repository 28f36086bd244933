"""Every row of `epi.tests(c(670, 202, 74, 640))`, computed by epiR 2.0.57; where epiR differs, who is right."""

from math import inf

import pytest

from baserate import Counts, infer

TABLE = Counts(tp=670, fp=202, fn=74, tn=640)

WILSON = {  # epi.tests(…, method = "wilson")
    "flag_rate": (0.54981084489281207, 0.52523476066764707, 0.5741462179345844),
    "prevalence": (0.46910466582597732, 0.44464847090754595, 0.4937101626176523),
    "sensitivity": (0.90053763440860213, 0.87693191250382840, 0.9200284498433728),
    "specificity": (0.76009501187648454, 0.73011176252985355, 0.7877157752816378),
    "accuracy": (0.82597730138713743, 0.80653678532236261, 0.8438425303403425),
    "precision": (0.76834862385321101, 0.73920650564448342, 0.7951367767917628),
    "npv": (0.89635854341736698, 0.87184006371725065, 0.9166348746484619),
    "pass_rate": (0.45018915510718788, 0.42585378206541558, 0.4747652393323728),  # p.rout
    "fpr": (0.23990498812351543, 0.21228422471836209, 0.2698882374701465),  # p.tpdn
    "fnr": (0.09946236559139784, 0.07997155015662719, 0.1230680874961715),  # p.tndp
    "fdr": (0.23165137614678899, 0.20486322320823727, 0.2607934943555166),  # p.dntp
    "false_omission_rate": (0.10364145658263306, 0.08336512535153805, 0.1281599362827494),  # p.dptn
}
EXACT = {  # method = "exact", its default
    "sensitivity": (0.87674617679571087, 0.9210922995836943),
    "specificity": (0.72977646320355494, 0.7885803245751011),
    "precision": (0.73889262737975692, 0.7959784291653595),
    "accuracy": (0.80640488802642407, 0.8443346423770484),
}
LOGARITHMS = {
    "positive_likelihood_ratio": (3.75372617906951955, 3.32068843550748083, 4.2432346488051333),
    "negative_likelihood_ratio": (0.13085517473118283, 0.10506432351192252, 0.1629770809116312),
    "diagnostic_odds_ratio": (28.68611185442868461, 21.51819165663515676, 38.2417364086937042),
}


@pytest.mark.parametrize("name", WILSON)
def test_shares_have_the_intervals_of_wilson(name: str) -> None:
    result = infer.estimate(name, TABLE, method="wilson")
    assert (result.value, result.low, result.high) == pytest.approx(WILSON[name], rel=1e-9)


@pytest.mark.parametrize("name", EXACT)
def test_shares_have_the_exact_intervals(name: str) -> None:
    result = infer.estimate(name, TABLE, method="clopper-pearson")
    assert (result.low, result.high) == pytest.approx(EXACT[name], rel=1e-9)


@pytest.mark.parametrize("name", LOGARITHMS)
def test_ratios_have_the_intervals_of_their_logarithms(name: str) -> None:
    result = infer.estimate(name, TABLE, method="log")
    assert (result.value, result.low, result.high) == pytest.approx(LOGARITHMS[name], rel=1e-12)
    default = infer.estimate(name, TABLE)
    assert (default.low, default.high) == pytest.approx(LOGARITHMS[name][1:], rel=0.03)


def test_ratios_of_a_small_table() -> None:
    """epi.tests(c(12, 9, 8, 11))."""
    table = Counts(tp=12, fp=9, fn=8, tn=11)
    wanted = {
        "positive_likelihood_ratio": (0.730044030757, 2.435165144676),
        "negative_likelihood_ratio": (0.373166050103, 1.417400161909),
        "diagnostic_odds_ratio": (0.522361999321, 6.434447979521),
    }
    for name, bounds in wanted.items():
        result = infer.estimate(name, table, method="log")
        assert (result.low, result.high) == pytest.approx(bounds, rel=1e-10)


def test_an_empty_cell_leaves_the_logarithm_undefined() -> None:
    """epi.tests(c(10, 0, 5, 20)) has the bounds NaN and Inf; ours says why, and the default interval exists."""
    table = Counts(tp=10, fp=0, fn=5, tn=20)
    result = infer.estimate("positive_likelihood_ratio", table, method="log")
    assert result.value == inf
    assert result.why == "a cell is empty, so the logarithm or its variance is infinite"
    assert 3 < infer.estimate("positive_likelihood_ratio", table).low < 10
    minus = infer.estimate("negative_likelihood_ratio", table, method="log")
    assert (minus.low, minus.high) == pytest.approx((0.16295357313, 0.6818574700), rel=1e-9)


def test_the_number_needed_to_diagnose_inverts_the_interval_of_youden() -> None:
    """epiR adds both lower bounds and both upper bounds, as if both rates erred together: 1.4129 to 1.6473.

    Errors of two independent rates add in quadrature, which makes the interval narrower.
    """
    result = infer.estimate("number_needed_to_diagnose", TABLE)
    youden = infer.estimate("youden", TABLE)
    assert result.value == pytest.approx(1.51370054995505643, rel=1e-12)
    assert (result.low, result.high) == pytest.approx((1 / youden.high, 1 / youden.low), rel=1e-12)
    assert 1.41293982274933771 < result.low < result.value < result.high < 1.6473279289904714


def test_a_number_needed_to_diagnose_that_may_be_infinite() -> None:
    """epi.tests(c(12, 9, 8, 11)) gives 6.67 (−3.08 to 1.73), an interval that excludes its own estimate."""
    result = infer.estimate("number_needed_to_diagnose", Counts(tp=12, fp=9, fn=8, tn=11))
    assert result.value == pytest.approx(6.666666666667, rel=1e-11)
    assert result.low == pytest.approx(2.208, abs=5e-4)
    assert result.high == inf
    assert str(result.how).endswith("which may be 0: the interval continues beyond infinity, up to -5.396")
