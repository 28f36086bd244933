"""Thresholds of OptimalCutpoints 1.1-5 (R 4.2.2) for the biomarkers of aSAH, computed by running it.

Where it lists several thresholds with the same value, ours is one of them. `MaxNPVPPV` stops with an error on these
data, `MaxDOR` prefers an infinite odds ratio, and `ObservedPrev` and `MeanPrev` rescale scores beyond 1.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from baserate import Costs, Curve, curve, decide, measure, tally
from baserate.decide import minimal_p
from baserate.decide._rule import Rule
from tests.golden.conftest import Columns

THREE = Costs(fp=1, fn=3)
RULES: dict[str, Rule] = {
    "CB": partial(decide.cost, costs=THREE),  # costs.ratio = 1/3
    "MCT": partial(decide.cost, costs=THREE),
    "MinValueSp": partial(decide.require, require="specificity >= 0.8", maximize="sensitivity"),
    "MinValueSe": partial(decide.require, require="sensitivity >= 0.8", maximize="specificity"),
    "ValueSp": partial(decide.nearest, measure="specificity", value=0.8),
    "ValueSe": partial(decide.nearest, measure="sensitivity", value=0.8),
    "MaxSe": partial(decide.require, require="sensitivity >= 1", maximize="specificity"),
    "MaxSpSe": decide.maximin,
    "MaxProdSpSe": partial(decide.best, measure="g_mean"),
    "ROC01": decide.closest,
    "SpEqualSe": decide.balanced,
    "Youden": decide.youden,
    "MaxEfficiency": partial(decide.best, measure="accuracy"),
    "Minimax": decide.minimax,
    "MaxKappa": partial(decide.best, measure="kappa"),
    "ValueNPV": partial(decide.nearest, measure="npv", value=0.8),
    "ValuePPV": partial(decide.nearest, measure="precision", value=0.8),
    "PROC01": decide.closest_predictive_values,
    "NPVEqualPPV": decide.balanced_predictive_values,
    "MaxSumNPVPPV": partial(decide.best, measure="markedness"),
    "MaxProdNPVPPV": partial(decide.best, measure="predictive_value_product"),
    "ValueDLR.Negative": partial(decide.nearest, measure="negative_likelihood_ratio", value=0.5),
    "ValueDLR.Positive": partial(decide.nearest, measure="positive_likelihood_ratio", value=3),
    "MinPvalue": partial(decide.min_p_value, trim=1e-6),
    "PrevalenceMatching": decide.prevalence_matching,
}
THRESHOLDS: dict[str, tuple[float | tuple[float, ...], ...]] = {
    "CB": (0.22, 8.23, 2),
    "MCT": (0.22, 8.23, 2),
    "MinValueSp": (0.22, 17.4, 4),
    "MinValueSe": (0.1, 9.57, 2),
    "ValueSp": (0.22, 17.4, 3),
    "ValueSe": (0.11, 9.57, 3),
    "MaxSe": (0.03, 3.87, 1),
    "MaxSpSe": (0.16, (12.67, 12.71, 12.75), 3),
    "MaxProdSpSe": (0.22, 12.75, 4),
    "ROC01": (0.22, 12.75, 3),
    "SpEqualSe": (0.15, 12.59, 3),
    "Youden": (0.22, 11.09, 4),
    "MaxEfficiency": ((0.22, 0.52), (21.22, 32.37), (4, 5)),
    "Minimax": (0.22, 13.56, 4),
    "MaxKappa": (0.22, 13.56, 4),
    "ValueNPV": (0.1, 8.23, 4),
    "ValuePPV": (0.48, 72.57, 5),
    "PROC01": (0.52, 419.19, 5),
    "NPVEqualPPV": (0.46, 72.57, 5),
    "MaxSumNPVPPV": (0.52, 419.19, 5),
    "MaxProdNPVPPV": (0.52, 419.19, 5),
    "ValueDLR.Negative": (0.17, 8.23, 4),
    "ValueDLR.Positive": (0.24, 32.37, 3),
    "MinPvalue": (0.52, 13.56, 4),
    "PrevalenceMatching": ((0.19, 0.22), 13.67, 3),
}
"""Thresholds of s100b, ndka and wfns."""


@pytest.fixture(scope="module")
def marker(columns: Columns) -> Callable[[str], Curve]:
    data = columns("aSAH.csv")
    truth = np.array(data["outcome"]) == "Poor"
    return lambda name: curve(tally(truth, np.array(data[name], dtype=float)))


@pytest.mark.parametrize("criterion", THRESHOLDS)
def test_thresholds_of_optimal_cutpoints(marker: Callable[[str], Curve], criterion: str) -> None:
    for name, wanted in zip(("s100b", "ndka", "wfns"), THRESHOLDS[criterion], strict=True):
        every = wanted if isinstance(wanted, tuple) else (wanted,)
        assert RULES[criterion](marker(name)).threshold in every, name


def test_weighted_kappa_of_optimal_cutpoints(marker: Callable[[str], Curve]) -> None:
    """MaxKappa with weighted.Kappa = TRUE, CFP = 1, CFN = 3."""
    weighted = partial(measure.weighted_kappa, costs=THREE)
    for name, threshold, value in (("s100b", 0.22, 0.4378109453), ("ndka", 11.09, 0.2456041373)):
        assert decide.best(marker(name), weighted).threshold == threshold
        assert weighted(marker(name).at(threshold)) == pytest.approx(value, rel=1e-9)
    assert decide.best(marker("wfns"), weighted).threshold == 2
    assert weighted(marker("wfns").at(2)) == pytest.approx(0.5424197531, rel=1e-9)


def test_chi_square_has_no_correction_for_continuity(marker: Callable[[str], Curve]) -> None:
    """OptimalCutpoints corrects: its least p-value for ndka is 0.0332, ours is that of chisq.test(correct = FALSE)."""
    counts = marker("ndka").at(13.56)
    p = minimal_p(counts.total * float(measure.mcc(counts)) ** 2)
    margins = counts.positives * counts.negatives * counts.flagged * counts.not_flagged
    gap = abs(counts.tp * counts.tn - counts.fp * counts.fn) - counts.total / 2
    assert minimal_p(counts.total * gap**2 / margins) == pytest.approx(0.03317182347, rel=1e-8)
    assert p < 0.03317182347
