"""`improveProb` of Hmisc 4.8.0 and `Score` of riskRegression 2022.11.28, on the example of decision curves."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baserate import infer, read
from tests.golden.conftest import Columns

IMPROVE_PROB = {  # improveProb(old, new, cancer)
    "continuous_nri": (0.965669988925803, 0.0712434843623735, 13.5545025284559),
    "continuous_nri_positives": (0.790476190476191, 0.0597731738117208, 13.2245979269247),
    "continuous_nri_negatives": (0.175193798449612, 0.0387659871093924, 4.51926576654011),
    "idi": (0.257641365548156, 0.0231689340331545, 11.1201216758386),
}


@pytest.fixture(scope="module")
def models(columns: Columns, reference: Path) -> tuple[Any, dict[str, Any]]:
    """The published model, and an old one with written coefficients."""
    table = columns("df_binary.csv")
    history, age, marker = (np.array(table[name], float) for name in ("famhistory", "age", "marker"))
    rows = read.rows(reference / "df_binary.csv", truth="cancer", score="cancerpredmarker")
    (new,) = rows.score.values()
    return rows.truth, {"new": new, "old": 1 / (1 + np.exp(3.2 - 0.4 * history - 0.05 * (age - 60) - 0.2 * marker))}


def test_improve_prob(models: tuple[Any, dict[str, Any]]) -> None:
    results = infer.net_reclassification(*models, method="asymptotic")
    rows = {row["measure"]: row for row in results.rows()}
    for name, (value, error, z) in IMPROVE_PROB.items():
        row = rows[name]
        assert row["value"] == pytest.approx(value, rel=1e-9), name
        assert (row["high"] - row["low"]) / (2 * 1.959963984540054) == pytest.approx(error, rel=1e-9), name
        assert row["statistic"] == pytest.approx(z, rel=1e-9), name
    assert rows["idi_positives"]["value"] == pytest.approx(0.294716350014413, rel=1e-9)  # improveSens
    assert rows["idi_negatives"]["value"] == pytest.approx(-0.0370749844662567, rel=1e-9)  # improveSpec


def test_the_default_intervals_are_close(models: tuple[Any, dict[str, Any]]) -> None:
    rows = {row["measure"]: row for row in infer.net_reclassification(*models).rows()}
    for name, (value, error, _) in IMPROVE_PROB.items():
        assert rows[name]["value"] == pytest.approx(value, rel=1e-9)
        assert rows[name]["high"] - rows[name]["low"] == pytest.approx(3.92 * error, rel=0.05), name


def test_scores(models: tuple[Any, dict[str, Any]]) -> None:
    """AUC and Brier score with their standard errors; IPA is the Brier skill score."""
    truth, scores = models
    auc = {"new": (0.86062753783684, 0.821926847073867, 0.899328228599813)}
    auc["old"] = (0.84764857881137, 0.808257709292580, 0.887039448330159)
    brier = {"new": (0.0849290977970174, 0.0710073227221147, 0.0988508728719201, 0.294608822283909)}
    brier["old"] = (0.1182517689353167, 0.0979560503800964, 0.1385474874905369, 0.017842450703350)
    for model, score in scores.items():
        result = infer.estimate("auc", truth, score, method="delong")
        assert (result.value, result.low, result.high) == pytest.approx(auc[model], rel=1e-9)
        value, low, high, ipa = brier[model]
        estimate = infer.estimate("brier", truth, score)
        assert estimate.value == pytest.approx(value, rel=1e-9)
        assert (estimate.low, estimate.high) == pytest.approx((low, high), rel=0.08)  # theirs is normal
        assert infer.estimate("IPA", truth, score).value == pytest.approx(ipa, rel=1e-9)


def test_contrasts(models: tuple[Any, dict[str, Any]]) -> None:
    """Score subtracts the reference; ours subtracts the second model."""
    truth, scores = models
    (auc,) = infer.compare(truth, scores, measure="auc", models=[("old", "new")])
    assert auc.difference.value == pytest.approx(-0.0129789590254706, rel=1e-9)
    assert (auc.difference.low, auc.difference.high) == pytest.approx(
        (-0.0239143752374511, -0.00204354281349015), rel=1e-9
    )
    assert auc.p == pytest.approx(0.0200062889679971, rel=1e-9)
    (brier,) = infer.compare(truth, scores, measure="brier", models=[("old", "new")])
    assert brier.difference.value == pytest.approx(0.03332267113829927, rel=1e-9)
    assert (brier.difference.low, brier.difference.high) == pytest.approx(
        (0.02027139887156042, 0.046373943405038122), abs=2e-4
    )
    # Theirs is normal, ours Student's with degrees of freedom from the fourth moment.
    assert brier.statistic == pytest.approx(0.03332267113829927 / 0.00665893474047769, rel=1e-3)
    (ipa,) = infer.compare(truth, scores, measure="IPA", models=[("old", "new")])
    assert ipa.difference.value == pytest.approx(0.017842450703350 - 0.294608822283909, rel=1e-9)
    assert ipa.p < 1e-5
    (idi,) = infer.compare(truth, scores, measure="discrimination_slope")
    assert idi.difference.value == pytest.approx(0.257641365548156, rel=1e-9)
