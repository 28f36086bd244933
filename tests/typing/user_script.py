"""The common jobs as a user writes them, in all forms; type checkers must accept every line and know the results."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl

import baserate
from baserate import (
    Calibrator,
    MulticlassCalibrator,
    MulticlassReport,
    Policy,
    Report,
    Results,
    decide,
    draw,
    fairness,
    infer,
    measure,
    population,
    read,
    shift,
)
from baserate.draw import Drawing


class Model:
    """A fitted classifier, as scikit-learn's."""

    classes_ = np.array([0, 1])

    def predict(self, X: Any) -> Any:  # noqa: ANN401, N803
        return np.asarray(X)[:, 0] > 0.5

    def predict_proba(self, X: Any) -> Any:  # noqa: ANN401, N803
        return np.column_stack([1 - np.asarray(X)[:, 0], np.asarray(X)[:, 0]])


y = np.tile([1, 0, 0, 1, 0, 0], 8)
p: npt.NDArray[np.float64] = 0.3 * y + np.linspace(0.02, 0.6, 48)
q = p[::-1].copy()
g = np.tile(["a", "b"], 24)
frame = pd.DataFrame({"sick": y, "risk": p, "site": g})
table = pl.DataFrame({"sick": y, "risk": p, "site": g})
model, X = Model(), p[:, None]
classes = np.array(["cat", "dog", "fox"])[np.arange(48) % 3]
matrix = np.full((48, 3), 0.2) + np.eye(3)[np.arange(48) % 3] * 0.4


def measure_scores() -> None:
    assert_type(measure.auc(y, p), float)
    assert_type(measure.auc(y.tolist(), p.tolist()), float)
    assert_type(measure.auc(frame["sick"], frame["risk"]), float)
    assert_type(measure.auc(y, np.column_stack([1 - p, p])), float)
    assert_type(measure.auc(y, {"model": p}), float)
    assert_type(measure.auc(frame, truth="sick", score="risk"), float)
    assert_type(measure.auc(table, truth="sick", score="risk"), float)
    assert_type(measure.auc({"sick": y, "risk": p}, truth="sick", score="risk"), float)
    assert_type(measure.auc(truth=y, score=p, weight=p), float)
    assert_type(measure.auc(model, X, y), float)
    assert_type(measure.auc(np.where(y == 1, "sick", "well"), p, positive="sick"), float)
    assert_type(measure.auc(baserate.tally(y, p)), float)
    assert_type(measure.sensitivity(y, p, threshold=0.5), float)
    assert_type(measure.ppv(y, p > 0.5), float)
    assert_type(measure.expected_cost(y, p, fp=1, fn=5), float)
    assert_type(measure.multiclass.hand_till(classes, matrix), float)
    assert_type(measure.summary(y, p, measures=["auc", "ppv"]), Results)
    assert_type(infer.estimate("auc", y, p, level=0.9), baserate.Estimate)
    assert_type(infer.estimate("auc", y, p, level="90%"), baserate.Estimate)
    assert_type(measure.expected_cost(y, p, costs={"fp": 1, "fn": 5}), float)


def evaluate_models() -> None:
    assert_type(baserate.evaluate(y, p), Report)
    assert_type(baserate.evaluate(y, {"lr": p, "rf": q}, group=g, prevalence="5%", fp=1, fn=5), Report)
    assert_type(baserate.evaluate(frame, truth="sick", score="risk", prevalence=0.05, costs={"fp": 1, "fn": 5}), Report)
    assert_type(baserate.evaluate(model, X, y, level=0.9, seed=1), Report)
    assert_type(baserate.evaluate(baserate.class_scores(classes, matrix), level="90%"), MulticlassReport)
    assert_type(baserate.evaluate(baserate.confusion(classes, classes), ignore=["BR102"]), MulticlassReport)


def decide_and_calibrate(folder: Path) -> None:
    assert_type(baserate.calibrate(y, p), Calibrator)
    assert_type(baserate.calibrate(y, p, "isotonic", prevalence="5%"), Calibrator)
    assert_type(baserate.calibrate(table, truth="sick", score="risk", method="histogram", bins=5), Calibrator)
    assert_type(baserate.calibrate(model, X, y, "platt"), Calibrator)
    assert_type(baserate.calibrate(baserate.class_scores(classes, matrix), "identity"), MulticlassCalibrator)
    assert_type(baserate.choose_threshold(y, p, fp=1, fn=5, prevalence=0.05), Policy)
    assert_type(baserate.choose_threshold(y, p, "youden"), Policy)
    assert_type(baserate.choose_threshold(y, p, "require", require="sensitivity >= 0.9"), Policy)
    assert_type(baserate.choose_threshold(table, truth="sick", score="risk", costs=baserate.Costs(fp=1, fn=5)), Policy)
    assert_type(baserate.choose_threshold(model, X, y, "best", measure="f1"), Policy)
    assert_type(baserate.equalize(y, p, "equal-opportunity", group=g, fp=1, fn=5), Policy)
    assert_type(baserate.equalize(frame, "equal-opportunity", truth="sick", score="risk", group="site"), Policy)
    assert_type(baserate.choose_threshold(y, p, costs={"fp": 1, "fn": 5}, prevalence="5%"), Policy)
    assert_type(
        baserate.equalize(y, p, "equal-opportunity", group=g, costs={"fp": 1, "fn": 5}, prevalence="5%"), Policy
    )
    assert_type(
        baserate.equalize(y, p, "equal-opportunity", group=g, fp=1, fn=5, prevalence={"a": "5%", "b": 0.1}), Policy
    )
    assert_type(decide.youden(y, p), Policy)
    assert_type(decide.cost(y, p, {"fp": 1, "fn": 5}, prevalence="5%"), Policy)
    assert_type(decide.abstain(y, p, {"fp": 1, "fn": 5}, refer=0.2, prevalence="5%"), Policy)
    assert_type(decide.net_benefit_curve(y, p, prevalence="5%", sample_prevalence="30%", level="90%"), Results)
    assert_type(decide.cost_curves(y, p, level="90%"), Results)
    assert_type(decide.hull_table(y, p, costs={"fp": 1, "fn": 5}, prevalence="5%"), Results)
    assert_type(decide.roc_convex_hull(y, p).at({"fp": 1, "fn": 5}, "5%"), decide.Vertex)
    assert_type(decide.check(y, p, require="sensitivity >= 0.5", threshold=0.3, prevalence="5%"), Results)
    baserate.calibrate(y, p)([0.1, 0.9]).round(2)
    baserate.choose_threshold(y, p, "youden").save(folder / "policy.json")


def estimate_and_draw() -> None:
    estimate = baserate.estimate_prevalence(q, y, p)
    assert_type(estimate.value, float)
    assert_type(shift.estimate_prevalence(q, y, p, level="90%").value, float)
    assert_type(shift.reprior(p, sample_prevalence=0.3, prevalence=0.05), npt.NDArray[np.float64])
    assert_type(shift.reprior(p, sample_prevalence="30%", prevalence="5%"), npt.NDArray[np.float64])
    assert_type(shift.summary(y, p, prevalence="5%"), Results)
    assert_type(shift.ppv(0.9, 0.9, "5%"), float)
    assert_type(infer.calibration_summary(y, p, sample_prevalence="30%"), Results)
    assert_type(infer.sample_size_for_auc(0.8, prevalence="5%", half_width=0.05, level="90%"), infer.SampleSize)
    assert_type(population.binormal(prevalence="5%").at_prevalence("10%"), baserate.Population)
    assert_type(fairness.group_table(y, p, group=g, policy=decide.choose_policy(y, p, decide.youden)), Results)
    assert_type(read.tallies(frame, truth="sick", score="risk", group="site"), baserate.Tallies)
    assert_type(draw.roc(y, p), Drawing)
    assert_type(draw.roc(y, p, costs={"fp": 1, "fn": 5}, prevalence="5%", level="90%"), Drawing)
    assert_type(draw.pr(y, p, prevalence="5%"), Drawing)
    assert_type(draw.decision_curve(y, p, prevalence="5%", level="90%"), Drawing)
    assert_type(draw.confusion_matrix(y, p, threshold=0.3, prevalence="5%"), Drawing)
    assert_type(draw.reliability(frame, truth="sick", score="risk"), Drawing)
