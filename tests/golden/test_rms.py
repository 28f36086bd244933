"""`val.prob` of rms 6.5.0, and `somers2` of Hmisc 4.8.0, on the published example of decision curves."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from baserate import Tally, infer, measure, read

near = partial(pytest.approx, rel=1e-7)

GIVEN = {  # val.prob(cancerpredmarker, cancer)
    "nagelkerke_r2": 0.383732165389690,
    "discrimination_index": 0.238210659546567,
    "unreliability_index": -2.66666666666667e-03,
    "quality_index": 0.240877326213234,
    "brier": 0.0849290977970174,
    "calibration_slope": 1.00000001060400,
    "emax": 0.0458497674599039,
    "e90": 0.0319914162819496,
    "ici": 0.0126533651057173,
}
STRETCHED = {  # of plogis(1.5 * qlogis(p) + 0.4)
    "nagelkerke_r2": 0.339044551294295,
    "discrimination_index": 0.207176357866033,
    "unreliability_index": 0.0283676350138664,
    "quality_index": 0.178808722852167,
    "brier": 0.0858427309287609,
    "calibration_slope": 0.666666673735998,
    "calibration_intercept": -0.266666639512415,
    "emax": 0.175251278593852,
    "e90": 0.0437593707593605,
    "ici": 0.0278080975806800,
}


def load(reference: Path, *, stretched: bool) -> Tally:
    tally = read.tallies(reference / "df_binary.csv", truth="cancer", score="cancerpredmarker").tally
    if not stretched:
        return tally
    return Tally(expit(1.5 * logit(tally.score) + 0.4), tally.mass, tally.squares, tally.rows)


@pytest.mark.parametrize("stretched", [False, True])
def test_val_prob(reference: Path, *, stretched: bool) -> None:
    """The curve is R's lowess: two thirds of the rows, and points a hundredth of the range apart."""
    tally = load(reference, stretched=stretched)
    curve: dict[str, Any] = {"span": 2 / 3, "step": 0.01 * np.ptp(tally.score)}
    options: dict[str, dict[str, Any]] = {"emax": curve, "e90": curve | {"quantile": "linear"}, "ici": curve}
    for name, wanted in (STRETCHED if stretched else GIVEN).items():
        assert measure.MEASURES[name](tally, **options.get(name, {})) == near(wanted), name


def test_other_quantile(reference: Path) -> None:
    """quantile(er, 0.9, type = 1) is one of the distances, close to that of type 7."""
    tally = load(reference, stretched=False)
    one, seven = (measure.e90(tally, span=2 / 3, quantile=name) for name in ("inverted_cdf", "linear"))
    assert one != seven
    assert one == pytest.approx(seven, rel=0.02)


def test_tests_of_val_prob(reference: Path) -> None:
    """U:Chi-sq and U:p are Cox's test, S:z and S:p Spiegelhalter's."""
    tally = load(reference, stretched=True)
    cox, spiegelhalter = infer.cox_test(tally), infer.spiegelhalter(tally)
    assert (cox.statistic, cox.p) == near((23.2757262603998, 8.82551914538343e-06), rel=1e-6)
    assert (spiegelhalter.statistic, spiegelhalter.p) == near((4.19521943315145, 2.72607541724579e-05))
    chi_squared = measure.discrimination_index(tally) * 750 + 1
    assert chi_squared == near(156.382268399525)  # D:Chi-sq


def test_two_class_example(reference: Path) -> None:
    tally = read.tallies(reference / "two_class_example.csv", truth="truth", score="Class1", positive="Class1").tally
    wanted = {
        "nagelkerke_r2": 6.90156295909159e-01,
        "discrimination_index": 7.26650886514974e-01,
        "unreliability_index": 2.57673354379923e-02,
        "quality_index": 7.00883551076982e-01,
        "calibration_intercept": -2.70201853327757e-01,
        "calibration_slope": 7.62414198400585e-01,
    }
    for name, value in wanted.items():
        assert measure.MEASURES[name](tally) == near(value, rel=1e-6), name
    # R rounds the 333.3 rows of a window down.
    curve: dict[str, Any] = {"span": 333 / 500, "step": 0.01 * float(np.ptp(tally.score))}
    assert measure.emax(tally, **curve) == near(1.47367342271957e-01)
    assert measure.e90(tally, **curve, quantile="linear") == near(1.04077183410386e-01)
    assert measure.e90(tally, **curve) == near(0.1040129973467087)  # quantile(er, 0.9, type = 1)
    assert measure.e50(tally, **curve, quantile="linear") == near(0.0378269584731049)
    assert measure.e50(tally, **curve) == near(0.0377988300385089)
    assert measure.ici(tally, **curve) == near(4.69880528670442e-02)


def test_rank_correlation(reference: Path) -> None:
    """Dxy of somers2 and rcorr.cens is the Gini. That of val.prob, 0.72124, is of probabilities in bins of 0.002."""
    tally = load(reference, stretched=False)
    assert measure.auc(tally) == near(0.86062753783684)
    assert measure.gini(tally) == near(0.72125507567368)
    rows = read.rows(reference / "df_binary.csv", truth="cancer", score="cancerpredmarker")
    (score,) = rows.score.values()
    counts = np.tile([1, 2, 3], 250)  # somers2(p, y, weights = rep(1:3, 250))
    assert measure.auc(rows.truth, score, count=counts) == near(0.859077995642701)
