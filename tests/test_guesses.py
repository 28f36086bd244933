"""Names that newcomers guess, from the words of other tools: each works, or the message names the right one."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import baserate
from baserate import (
    BaserateError,
    Counts,
    OptionError,
    UnknownNameError,
    apply,
    calibration,
    decide,
    draw,
    fairness,
    infer,
    measure,
    shift,
)
from baserate._errors import UnknownAttributeError
from tests.forms import CLASS, GROUP, MATRIX, OTHER, SCORE, TRUTH

ANSWERS: dict[str, dict[str, str]] = {
    # The list of the issue, and words of many tools.
    "baserate": {
        "plot": "baserate.draw",
        "roc_auc_score": "baserate.measure.auc(y_true, y_score)",
        "brier_score_loss": "baserate.measure.brier(y_true, y_score)",
        "confusion_matrix": "baserate.confusion",
        "ThresholdOptimizer": "baserate.equalize",
        "MetricFrame": "baserate.fairness.group_table",
        "val_prob": "baserate.infer.calibration_summary",
        "dca": "baserate.decide.net_benefit_curve",
        "cutpointr": "baserate.choose_threshold",
        "platt": "baserate.calibration.logistic",
        "sigmoid": "baserate.calibration.logistic",
        "drift": "baserate.shift.label_shift_test",
        "evalute": "'evaluate'",
        "tallies": "baserate.read.tallies",
        "Evaluate": "baserate.evaluate",
        "auc": "baserate.measure.auc(y_true, y_score)",
        "psi": "baserate.shift.estimate_prevalence",
        "reweigh": "baserate.shift.reweigh",
        "example": "In the shell: baserate demo.",
        # scikit-learn
        "roc_curve": "baserate.draw.roc",
        "precision_recall_curve": "baserate.draw.pr",
        "det_curve": "baserate.draw.det",
        "RocCurveDisplay": "baserate.draw.RocCurveDisplay",
        "PrecisionRecallDisplay": "baserate.draw.PrecisionRecallDisplay",
        "CalibrationDisplay": "baserate.draw.CalibrationDisplay",
        "ConfusionMatrixDisplay": "baserate.draw.ConfusionMatrixDisplay",
        "roc.test": "baserate.compare",
        "calibration_curve": "baserate.draw.reliability",
        "classification_report": "baserate.measure.summary",
        "CalibratedClassifierCV": "baserate.calibrate",
        "TunedThresholdClassifierCV": "baserate.choose_threshold",
        "FixedThresholdClassifier": "baserate.sklearn.PolicyClassifier",
        "make_scorer": "baserate.sklearn.scorer",
        "IsotonicRegression": "baserate.calibration.isotonic",
        "average_precision_score": "baserate.measure.average_precision(y_true, y_score)",
        "f1_score": "baserate.measure.f1(y_true, y_score)",
        "log_loss": "baserate.measure.log_loss(y_true, y_score)",
        "top_k_accuracy_score": "baserate.measure.multiclass.top_k_accuracy",
        "class_likelihood_ratios": "baserate.measure.positive_likelihood_ratio",
        "predict_proba": "baserate.apply.frame",
        # fairlearn
        "demographic_parity_difference": "baserate.fairness.group_gaps",
        "equalized_odds_ratio": "baserate.equalize",
        "equal_opportunity_difference": "baserate.fairness.group_gaps",
        "selection_rate": "baserate.measure.flag_rate(y_true, y_score)",
        "false_positive_rate": "baserate.measure.fpr(y_true, y_score)",
        "ExponentiatedGradient": "baserate.equalize",
        "RejectOptionClassification": "baserate.fairness.reject_option",
        "mean_prediction": "baserate.measure.mean_probability(y_true, y_score)",
        # pROC and other packages of R
        "roc": "baserate.draw.roc",
        "coords": "baserate.decide.summary",
        "ci_auc": "baserate.infer.summary",
        "auc_ci": "baserate.infer.estimate",
        "delong_test": "baserate.compare",
        "calibration_error": "baserate.measure.ece(y_true, y_score)",
        "disparities": "baserate.fairness.group_gaps",
        "macro_f1": "baserate.measure.multiclass.summary",
        "ci_thresholds": "baserate.decide.bootstrap_threshold",
        "roc_test": "baserate.infer.compare",
        "power_roc_test": "baserate.infer.sample_size_for_auc",
        "ggroc": "baserate.draw.roc",
        "multiclass_roc": "baserate.measure.multiclass.hand_till",
        "partial_auc": "baserate.measure.partial_auc(y_true, y_score)",
        "hoslem_test": "baserate.infer.calibration_tests",
        "pmvalsampsize": "baserate.infer.sample_size_for_auc",
    },
    "baserate.measure": {
        "confusion_matrix": "baserate.measure.summary(y_true, y_score)",
        "reweigh": "baserate.shift.reweigh",
        "roc_curve": "baserate.measure.curves",
        "sumary": "'summary'",
    },
    "baserate.draw": {
        "calibration_curve": "baserate.draw.reliability",
        "ROC": "baserate.draw.roc",
        "dca": "baserate.draw.decision_curve",
        "precision_recall_curve": "baserate.draw.pr",
        "rok": "'roc'",
    },
    "baserate.decide": {
        "net_benefit": "baserate.decide.net_benefit_curve",
        "threshold_optimizer": "baserate.equalize",
        "yoden": "'youden'",
        "bootstrap": "baserate.infer.bootstrap",
    },
    "baserate.fairness": {"MetricFrame": "baserate.fairness.group_table", "group_gap": "'group_gaps'"},
    "baserate.infer": {"ci": "baserate.infer.summary", "delong": "baserate.infer.compare"},
    "baserate.calibration": {"platt": "baserate.calibration.logistic", "sigmoid": "baserate.calibration.logistic"},
    "baserate.shift": {"EMQ": "baserate.shift.estimate_prevalence", "quantify": "baserate.shift.estimate_prevalence"},
    "baserate.apply": {"to_sql": "baserate.apply.as_sql"},
    "baserate.read": {"read_csv": "baserate.read.tallies", "tallys": "'tally'"},
}
"""Package -> attributes that it does not have, and what the message names."""


@pytest.mark.parametrize(("package", "name"), [(package, name) for package in ANSWERS for name in ANSWERS[package]])
def test_unknown_attributes_name_the_right_function(package: str, name: str) -> None:
    module = import_module(package)
    with pytest.raises(UnknownAttributeError) as caught:
        getattr(module, name)
    message = str(caught.value)
    assert message.startswith(f"module {package!r} has no attribute {name!r}. ")
    assert ANSWERS[package][name] in message
    assert not hasattr(module, name)
    assert name not in dir(module)


def test_the_list_is_long() -> None:
    assert sum(map(len, ANSWERS.values())) + len(ALIASES) >= 100


def test_unknown_attributes_are_attribute_errors_of_baserate() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = getattr(baserate, "roc_auc" + "_score")
    error: Any = caught.value
    assert isinstance(error, BaserateError)
    assert isinstance(error, UnknownNameError)
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):  # noqa: S301  (our own)
        assert (str(again), again.remedy) == (str(error), error.remedy)
    # Names that tools probe for have no suggestions, and load nothing.
    with pytest.raises(AttributeError, match=r"has no attribute '_ipython_display_'\.$"):
        _ = baserate._ipython_display_  # type: ignore[attr-defined]


def test_unknown_attributes_without_an_answer_say_no_more() -> None:
    with pytest.raises(AttributeError, match=r"^module 'baserate' has no attribute 'xyzzy'\.$"):
        _ = baserate.xyzzy  # type: ignore[attr-defined]


def test_words_of_other_tools_are_loaded_only_on_failure() -> None:
    code = (
        "import sys, baserate; baserate.measure.auc([0, 1], [0.2, 0.3]); print('baserate._other_names' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert process.stdout.strip() == "False"


ALIASES = {
    "ppv": "precision",
    "PPV": "precision",
    "positive_predictive_value": "precision",
    "precision_score": "precision",
    "recall": "sensitivity",
    "recall_score": "sensitivity",
    "tpr": "sensitivity",
    "true_positive_rate": "sensitivity",
    "tnr": "specificity",
    "spec": "specificity",
    "false_alarm_rate": "fpr",
    "miss_rate": "fnr",
    "roc_auc": "auc",
    "auroc": "auc",
    "AUROC": "auc",
    "roc_auc_score": "auc",
    "c_statistic": "auc",
    "cindex": "auc",
    "aps": "average_precision",
    "average_precision_score": "average_precision",
    "auprc": "average_precision",
    "brier_score": "brier",
    "brier_score_loss": "brier",
    "log_loss_score": "log_loss",
    "cross_entropy": "log_loss",
    "f1_score": "f1",
    "fbeta_score": "f_beta",
    "accuracy_score": "accuracy",
    "zero_one_loss": "error_rate",
    "balanced_accuracy_score": "balanced_accuracy",
    "matthews_corrcoef": "mcc",
    "cohen_kappa_score": "kappa",
    "jaccard_score": "jaccard",
    "informedness": "youden",
    "selection_rate": "flag_rate",
    "lift_score": "lift",
    "ks_statistic": "ks",
    "expected_calibration_error": "ece",
    "integrated_calibration_index": "ici",
    "d2_brier_score": "brier_skill",
    "d2_log_loss_score": "log_loss_skill",
    "oe_ratio": "observed_expected",
    "negative_predictive_value": "npv",
    "false_discovery_rate": "fdr",
    "pauc": "partial_auc",
}
"""Other names of measures, which resolve to functions."""


@pytest.mark.parametrize("alias", ALIASES)
def test_other_names_of_measures_are_functions_and_strings(alias: str) -> None:
    own = getattr(measure, ALIASES[alias])
    assert getattr(measure, alias) is own
    assert measure.find_measure(alias) is own
    assert alias not in dir(measure)
    threshold = 0.5 if measure.describe(own).of is Counts else None
    if alias != "fbeta_score":
        assert infer.estimate(alias, TRUTH, SCORE, threshold=threshold).value == pytest.approx(own(TRUTH, SCORE))


def test_other_names_of_measures_of_several_classes() -> None:
    assert getattr(measure.multiclass, "cohens_" + "kappa") is measure.multiclass.kappa
    assert measure.multiclass.find_measure("balanced_accuracy_score") is measure.multiclass.balanced_accuracy
    with pytest.raises(AttributeError, match=r"Use baserate\.measure\.auc"):
        _ = getattr(measure.multiclass, "roc_auc" + "_score")
    assert not hasattr(measure.multiclass, "xyzzy")


POLICY = decide.choose_policy(TRUTH, SCORE, decide.youden)
STRINGS: dict[str, Callable[[], Any]] = {
    "calibrate platt": lambda: baserate.calibrate(TRUTH, SCORE, "platt"),
    "calibrate sigmoid": lambda: baserate.calibrate(TRUTH, SCORE, "sigmoid"),
    "calibrate isotonic_regression": lambda: baserate.calibrate(TRUTH, SCORE, "isotonic_regression"),
    "calibrate temperature_scaling": lambda: baserate.calibrate(TRUTH, SCORE, "temperature_scaling"),
    "calibrate histogram_binning": lambda: calibration.fit(TRUTH, SCORE, "histogram_binning"),
    "threshold youden": lambda: baserate.choose_threshold(TRUTH, SCORE, "youden"),
    "threshold Youden's J": lambda: baserate.choose_threshold(TRUTH, SCORE, "youdens_j"),
    "threshold closest.topleft": lambda: baserate.choose_threshold(TRUTH, SCORE, "closest.topleft"),
    "threshold best f1": lambda: baserate.choose_threshold(TRUTH, SCORE, "best", measure="f1_score"),
    "threshold costs": lambda: baserate.choose_threshold(TRUTH, SCORE, fp=1, fn=5, prevalence="5%"),
    "equalize equalized_odds": lambda: baserate.equalize(TRUTH, SCORE, "equalized_odds", group=GROUP),
    "equalize demographic_parity": lambda: baserate.equalize(TRUTH, SCORE, "demographic_parity", group=GROUP),
    "equalize difference": lambda: baserate.equalize(TRUTH, SCORE, "demographic_parity_difference", group=GROUP),
    "equalize opportunity": lambda: baserate.equalize(TRUTH, SCORE, "equal_opportunity", group=GROUP),
    "prevalence EMQ": lambda: baserate.estimate_prevalence(OTHER, TRUTH, SCORE, method="EMQ"),
    "prevalence PACC": lambda: baserate.estimate_prevalence(OTHER, TRUTH, SCORE, method="PACC"),
    "measures": lambda: infer.summary(TRUTH, SCORE, measures=["roc_auc", "PPV", "recall"]),
    "table roc": lambda: measure.curves(TRUTH, SCORE, "roc"),
    "dialect postgres": lambda: apply.as_sql(baserate.calibrate(TRUTH, SCORE), score="p", dialect="postgres"),
    "evaluate costs": lambda: baserate.evaluate(TRUTH, SCORE, fp=1, fn=5),
    "evaluate mapping": lambda: baserate.evaluate(TRUTH, {"lr": SCORE, "rf": OTHER}, costs={"fp": 1, "fn": 5}),
    "evaluate prevalence": lambda: baserate.evaluate(TRUTH, SCORE, prevalence="5%"),
    "measure.auc": lambda: measure.auc(TRUTH, SCORE),
    "measure.auc of probabilities": lambda: measure.auc(TRUTH, np.column_stack([1 - SCORE, SCORE])),
    "draw.roc": lambda: draw.roc(TRUTH, SCORE),
    "multiclass": lambda: measure.multiclass.hand_till(CLASS, MATRIX),
    "groups": lambda: fairness.group_gaps(TRUTH, SCORE, group=GROUP, policy=POLICY),
    "reprior": lambda: shift.reprior(SCORE, sample_prevalence=0.3, prevalence=0.05),
}


@pytest.mark.parametrize("guess", STRINGS)
def test_guesses_work(guess: str) -> None:
    assert STRINGS[guess]() is not None


@pytest.mark.parametrize(
    ("guess", "answer"),
    [
        (lambda: baserate.calibrate(TRUTH, SCORE, "plat"), "'platt'"),
        (lambda: baserate.choose_threshold(TRUTH, SCORE, "yuden"), "'youden'"),
        (lambda: baserate.equalize(TRUTH, SCORE, "equalised_odds", group=GROUP), "'equalized-odds'"),
        (lambda: baserate.estimate_prevalence(OTHER, TRUTH, SCORE, method="emqq"), "'emq'"),
        (lambda: measure.find_measure("recal"), "'sensitivity'"),
        (lambda: measure.curves(TRUTH, SCORE, "rock"), "Curves are: roc"),
        (lambda: apply.as_sql(POLICY, score="p", dialect="posgres"), "'postgresql'"),
        (lambda: baserate.evaluate(TRUTH, SCORE, prevalance=0.05), "'prevalence'"),  # type: ignore[call-overload]
        (lambda: baserate.evaluate({"y": TRUTH, "p": SCORE}, truth="y", score="pp"), "'p'"),
    ],
)
def test_near_misses_are_suggested(guess: Callable[[], object], answer: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        guess()
    assert answer in str(caught.value)


ANY: Any = baserate
REFUSALS: dict[str, tuple[Callable[[], object], str]] = {
    "threshold by position": (lambda: ANY.measure.ppv(TRUTH, SCORE, 0.5), "Name options: prevalence=…, threshold=…"),
    "no parity": (lambda: ANY.equalize(TRUTH, SCORE, group=GROUP), "Give parity='equalized-odds'"),
    "no requirement": (lambda: ANY.decide.check(TRUTH, SCORE), "Give require='sensitivity >= 0.9'"),
    "no specificity": (lambda: ANY.shift.ppv(0.9), "ppv needs specificity"),
    "prevalences by position": (lambda: ANY.shift.reprior(SCORE, 0.6, 0.05), "sample_prevalence=…, prevalence=…"),
    "two models as arrays": (
        lambda: ANY.compare(TRUTH, SCORE, OTHER),
        'Name scores of several models, {"a": p, "b": q}',
    ),
    "groups by position": (lambda: ANY.evaluate(TRUTH, SCORE, GROUP), "group=…"),
    "the target last": (lambda: ANY.estimate_prevalence(TRUTH, SCORE, OTHER[:9]), "Scores without labels come first"),
    "the target named": (lambda: ANY.estimate_prevalence(TRUTH, SCORE, new=OTHER), "Scores without labels come first"),
    "rule under another name": (lambda: ANY.choose_threshold(TRUTH, SCORE, method="youden"), "'rule'"),
    "measure as a rule": (lambda: ANY.choose_threshold(TRUTH, SCORE, "f1"), "Give measure='f1'"),
    "requirement as a rule": (
        lambda: ANY.choose_threshold(TRUTH, SCORE, "recall >= 0.9"),
        "Give require='recall >= 0.9'",
    ),
    "threshold of groups": (lambda: ANY.fairness.group_table(TRUTH, SCORE, group=GROUP, threshold=0.5), "'policy'"),
    "no such policy": (lambda: baserate.load_policy("none.json"), "there is no file none.json"),
    "missing scores": (lambda: measure.auc(TRUTH, [np.nan, *SCORE[1:]]), "missing='drop'"),
    "three labels": (lambda: measure.auc([0, 1, 2], [0.1, 0.2, 0.3]), "truth == label"),
}
"""Calls that cannot work -> a part of the remedy."""


@pytest.mark.parametrize("call", REFUSALS)
def test_calls_that_cannot_work_have_a_remedy(call: str) -> None:
    function, remedy = REFUSALS[call]
    with pytest.raises(BaserateError) as caught:
        function()
    assert remedy in str(caught.value)


def test_lists_of_classifiers_need_names() -> None:
    x = SCORE.reshape(-1, 1)
    fitted = LogisticRegression().fit(x, TRUTH)
    with pytest.raises(OptionError, match=r"there are 2 classifiers without names\. Name them"):
        ANY.compare([fitted, fitted], x, TRUTH)
    assert baserate.compare({"a": fitted, "b": fitted}, x, TRUTH).measures


def test_options_imply_the_rule() -> None:
    implied: dict[str, dict[str, Any]] = {
        "require": {"require": "sensitivity >= 0.9"},
        "best": {"measure": "f1"},
        "capacity": {"share": "10%"},
        "fixed": {"threshold": 0.3},
    }
    for rule, options in implied.items():
        policy = baserate.choose_threshold(TRUTH, SCORE, **options)
        assert policy == baserate.choose_threshold(TRUTH, SCORE, rule, **options)
    best = baserate.choose_threshold(TRUTH, SCORE, "best", measure="f1")
    assert baserate.choose_threshold(TRUTH, SCORE, maximize="f1") == best
    with pytest.raises(OptionError, match="the rule require does not depend on them"):
        baserate.choose_threshold(TRUTH, SCORE, require="sensitivity >= 0.9", fp=1, fn=5)


def test_one_measure_needs_no_list() -> None:
    expected = infer.summary(TRUTH, SCORE, measures=["auc"]).rows()
    for name in ("auc", "roc_auc_score", measure.auc):
        summary: Any = infer.summary
        assert summary(TRUTH, SCORE, measures=name).rows() == expected
    of_classes: Any = infer.multiclass_summary
    assert of_classes(CLASS, MATRIX, measures="accuracy").measures[-1] == "accuracy"


def test_arguments_that_need_a_name_are_listed() -> None:
    summary: Any = infer.summary
    with pytest.raises(
        OptionError, match=r"summary was given 1 argument too many without a name\. Name options: measures="
    ):
        summary(TRUTH, SCORE, ["roc_auc"])
    with pytest.raises(OptionError, match=r"cox_test was given 2 arguments too many without a name\. Leave them out"):
        infer.cox_test(TRUTH, SCORE, 0.5, 3)  # type: ignore[call-overload]
