"""Thresholds of cutpointr 1.1.2 and mgcv 1.8 (R 4.2.2) for the biomarkers of aSAH, computed by running them.

cutpointr's kernel rule (plug-in bandwidths, a local search) gives 320.9 for ndka, where the index of its own curves is
0.02; their maximum, 0.26, is at 17.4. The kernel estimate with Silverman's bandwidths has its maximum at 14.39, by a
search over 20,001 thresholds and `optimize`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from baserate import Costs, Curve, curve, decide, tally
from baserate.decide._rule import Rule
from tests.golden.conftest import Columns

COST = {"measure": "expected_cost", "costs": Costs(fp=1, fn=5)}


@pytest.fixture(scope="module")
def marker(columns: Columns) -> Callable[[str], Curve]:
    data = columns("aSAH.csv")
    truth = np.array(data["outcome"]) == "Poor"
    return lambda name: curve(tally(truth, np.array(data[name], dtype=float)))


@pytest.mark.parametrize(
    ("name", "rule", "threshold", "within"),
    [
        ("s100b", decide.youden, 0.22, 0),  # maximize_metric
        ("ndka", decide.youden, 11.09, 0),
        ("s100b", decide.normal, 0.352103792317, 1e-11),  # oc_youden_normal
        ("ndka", decide.normal, 37.9362417464, 1e-11),
        ("s100b", decide.spline, 0.22, 0),  # maximize_gam_metric(formula = m ~ s(x.sorted, bs = "cr"))
        ("ndka", decide.spline, 12.67, 0),
        ("s100b", partial(decide.loess, span=0.3), 0.23, 0),  # loess(degree = 1, span = 0.3, surface = "direct")
        (
            "s100b",
            partial(decide.bootstrap_average, samples=2000),
            0.244515,
            0.005,
        ),  # maximize_boot_metric, 2000 samples
        ("ndka", partial(decide.bootstrap_average, samples=2000), 14.06904, 0.03),
        ("s100b", decide.kernel, 0.196841880693, 1e-5),  # optimize() of the sum of normal distribution functions
        ("ndka", decide.kernel, 14.3938963062, 1e-4),
        ("s100b", partial(decide.kernel, measure="f1"), 0.1914990758, 1e-5),
        ("s100b", partial(decide.normal, measure="f1"), 0.3379432301, 1e-5),
        ("s100b", partial(decide.normal, **COST), 0.2238816, 5e-5),
        ("s100b", partial(decide.normal, equal_variances=True, **COST), 0.03, 0),  # 0.0053 is below all scores
    ],
)
def test_thresholds_of_cutpointr(
    marker: Callable[[str], Curve], name: str, rule: Rule, threshold: float, within: float
) -> None:
    assert rule(marker(name)).threshold == pytest.approx(threshold, rel=within, abs=0)


def test_notes_of_the_fits(marker: Callable[[str], Curve]) -> None:
    c = marker("s100b")
    assert decide.kernel(c).notes == ("kernel bandwidths are 0.1406 (positives) and 0.0257 (negatives).",)
    means = "the normal distributions have means 0.3971 (positives) and 0.1615 (negatives)"
    assert decide.normal(c).notes == (f"{means} and standard deviations 0.3752 and 0.1309.",)
    freedom = "the spline has 9.7 effective degrees of freedom, by generalized cross-validation."  # mgcv: 9.6997
    assert decide.spline(c).notes == (freedom,)
    assert decide.spline(marker("ndka")).notes == (freedom.replace("9.7", "9.2"),)  # mgcv: 9.2139
