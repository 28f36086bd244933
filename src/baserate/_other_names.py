"""Words of other tools for what baserate does: scikit-learn, fairlearn, AIF360, pROC, rms, dcurves, cutpointr and more.

The module is loaded only when a name in Python or a command is unknown, to suggest names that exist.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from baserate._errors import nearest, suggest


class OtherName(NamedTuple):
    """What baserate calls a word of another tool."""

    python: tuple[str, ...]
    """Dotted names below `baserate`, such as `measure.auc`, the nearest first."""
    commands: tuple[str, ...]
    """Commands, with an option where the word means one case of the command, the nearest first."""


def _measure(name: str, words: str) -> tuple[str, OtherName]:
    return words, OtherName((f"measure.{name}",), (f"measure --measures {name}",))


def _parity(name: str, words: str) -> tuple[str, OtherName]:
    python = ("fairness.group_gaps", "equalize")
    return words, OtherName(python, ("groups", f"equalize --parity {name}"))


def _entry(words: str, python: str = "", commands: str = "") -> tuple[str, OtherName]:
    return words, OtherName(tuple(python.split()), tuple(filter(None, commands.split(", "))))


_ENTRIES = (
    # Evaluation
    _entry("evaluate ClassificationPreset explore dashboard validate", "evaluate", "report, measure"),
    _entry(
        "classification_report precision_recall_fscore_support metric metrics metric_set score scores stats "
        "ClassificationMetric PerformanceCalculator evalmod HMeasure epi.tests ROCR",
        "measure.summary infer.summary",
        "measure",
    ),
    _entry(
        "confusion_matrix conf_mat confusionMatrix ConfusionMatrixDisplay multilabel_confusion_matrix "
        "confusion_matrix_at_thresholds contingency_table crosstab misclassCounts",
        "confusion measure.summary",
        "measure",
    ),
    _entry("plot figure chart graph autoplot ggplot visualize", "draw", "draw"),
    _entry(
        "roc_curve RocCurveDisplay plot.roc ggroc plot_roc roc", "draw.roc measure.curves curve", "draw roc, curve roc"
    ),
    _entry(
        "precision_recall_curve PrecisionRecallDisplay pr_curve plot_precision_recall pr prc",
        "draw.pr measure.curves",
        "draw pr, curve pr",
    ),
    _entry("det_curve DetCurveDisplay det", "measure.curves", "curve det"),
    _entry("gain_curve cumulative_gain cap_curve cap", "draw.gain measure.curves", "draw gain, curve gain"),
    _entry("lift_curve lift_chart", "draw.lift measure.curves", "draw lift, curve lift"),
    _entry("lorenz_curve lorenz", "measure.curves", "curve lorenz"),
    _entry("coords threshold_perf performance", "decide.summary measure.summary", "curve roc, measure --threshold 0.5"),
    _entry("ggdist hist density", "draw.scores", "draw scores"),
    # Measures
    _measure("auc", "roc_auc_score roc_auc auroc auc concordance c_statistic c_index cindex somers2 gini_auc"),
    _measure("average_precision", "average_precision_score aps auprc"),
    _measure("pr_auc", "prauc"),
    _measure("partial_auc", "pauc auc_partial"),
    _measure("brier", "brier_score_loss brier_score BrierScore brier_class"),
    _measure("brier_skill", "d2_brier_score scaled_brier"),
    _measure("log_loss", "log_loss_score mn_log_loss cross_entropy neg_log_loss"),
    _measure("log_loss_skill", "d2_log_loss_score"),
    _measure("precision", "precision_score ppv positive_predictive_value posPredValue"),
    _measure("npv", "negative_predictive_value negPredValue"),
    _measure("sensitivity", "recall_score recall sens tpr true_positive_rate hit_rate"),
    _measure("specificity", "spec tnr true_negative_rate"),
    _measure("fpr", "false_positive_rate false_alarm_rate fall_out"),
    _measure("fnr", "false_negative_rate miss_rate"),
    _measure("fdr", "false_discovery_rate"),
    _measure("f1", "f1_score"),
    _measure("f_beta", "fbeta_score f_score f_meas"),
    _measure("accuracy", "accuracy_score"),
    _measure("error_rate", "zero_one_loss"),
    _measure("balanced_accuracy", "balanced_accuracy_score bal_accuracy"),
    _measure("mcc", "matthews_corrcoef matthews"),
    _measure("kappa", "cohen_kappa_score cohens_kappa kap"),
    _measure("jaccard", "jaccard_score"),
    _measure("youden", "j_index informedness bookmaker"),
    _measure("flag_rate", "selection_rate alert_rate"),
    _measure("ks", "ks_statistic kolmogorov_smirnov ks_2samp"),
    _measure("gini", "gini_score somers_d"),
    _measure("lift", "lift_score"),
    _measure("mean_probability", "mean_prediction"),
    _measure("ece", "expected_calibration_error ece_score"),
    _measure("ici", "integrated_calibration_index"),
    _measure("observed_expected", "oe_ratio eo_ratio"),
    _measure("calibration_slope", "cal_slope"),
    _measure("net_reduction", "net_intervention_avoided interventions_avoided"),
    _measure("expected_cost", "misclassification_cost total_cost"),
    _entry(
        "class_likelihood_ratios likelihood_ratio dlr",
        "measure.positive_likelihood_ratio draw.likelihood_ratio",
        "measure --measures positive_likelihood_ratio, draw likelihood-ratio",
    ),
    _entry(
        "multiclass.roc multiclass_auc roc_auc_ovo hand_till_auc",
        "measure.multiclass.hand_till",
        "measure",
    ),
    _entry("top_k_accuracy_score top_k", "measure.multiclass.top_k_accuracy", "measure --scores p_"),
    _entry("hamming_loss", "measure.multiclass.hamming_loss", "measure --measures hamming_loss"),
    # Intervals, comparison, plans of studies
    _entry(
        "ci ci.auc ci.se ci.sp ci.coords bootstrap boot_ci confidence_interval",
        "infer.summary infer.bootstrap",
        "measure",
    ),
    _entry("ci.thresholds", "decide.bootstrap_threshold", "decide"),
    _entry(
        "roc.test delong delong_roc_test mcnemar mcnemar.test cov test significance compare_models",
        "infer.compare infer.compare_unpaired",
        "compare",
    ),
    _entry(
        "power power.roc.test sample_size pmsampsize pmvalsampsize presize n_required",
        "infer.sample_size_for_auc infer.sample_size_for_proportion",
        "size",
    ),
    _entry("simulate simulation bigamma binormal", "population.simulation_study population.summary", "population"),
    # Calibration
    _entry(
        "calibration calibration_curve CalibrationDisplay reliability_diagram reliability_curve cal_plot_breaks "
        "cal_plot_logistic val.prob val.prob.ci.2 valProbggplot calibration_plot calibration_belt calPlot",
        "infer.calibration_summary draw.reliability infer.calibration_curve",
        "reliability, draw reliability",
    ),
    _entry("hoslem.test hosmer_lemeshow_test spiegelhalter_test", "infer.calibration_tests", "reliability"),
    _entry(
        "CalibratedClassifierCV CalibratedClassifier calibrator cal_estimate_logistic recalibrate rms_calibrate",
        "calibrate sklearn.CalibratedClassifier",
        "calibrate",
    ),
    _entry("platt sigmoid platt_scaling", "calibration.logistic", "calibrate --with logistic"),
    _entry(
        "isotonic IsotonicRegression cal_estimate_isotonic pava", "calibration.isotonic", "calibrate --with isotonic"
    ),
    _entry("temperature_scaling temperature", "calibration.temperature", "calibrate --with temperature"),
    _entry("beta_calibration betacal cal_estimate_beta", "calibration.beta", "calibrate --with beta"),
    _entry("venn_abers VennAbersCalibrator", "calibration.venn_abers", "calibrate --with venn-abers"),
    _entry("histogram_binning", "calibration.histogram", "calibrate --with histogram"),
    # Prevalence
    _entry(
        "quantification quantify quantifier EMQ SLD PACC PCC HDy KDEy EMQuantifier base_rate",
        "shift.estimate_prevalence",
        "prevalence",
    ),
    _entry(
        "label_shift prior_shift prior_probability_shift adjust reweight resample",
        "shift.summary shift.reweigh",
        "shift",
    ),
    _entry(
        "prior_correction rebalance undersampling oversampling",
        "shift.reprior",
        "reprior, calibrate --with prevalence",
    ),
    _entry(
        "monitor monitoring drift data_drift DataDriftPreset CBPE estimate_performance psi",
        "shift.estimate_performance shift.estimate_prevalence shift.label_shift_test",
        "expect, prevalence",
    ),
    # Decisions
    _entry(
        "cutpointr optimal_cutpoint optimal_cutpoints optimal.cutpoints optimal_threshold threshold cutoff cutpoint "
        "maximize_metric minimize_metric TunedThresholdClassifierCV tune_threshold tune optimize choose_threshold "
        "oc_youden_kernel oc_youden_normal best_threshold",
        "choose_threshold decide.summary",
        "decide",
    ),
    _entry("youden youden_index", "decide.youden measure.youden", "decide --rule youden"),
    _entry("FixedThresholdClassifier", "sklearn.PolicyClassifier decide.fixed", "decide --threshold 0.5"),
    _entry("predict predict_proba transform cal_apply deploy", "apply.frame apply.file", "apply"),
    _entry("policy rule", "Policy decide.choose_policy", "decide, show"),
    _entry("reject abstention triage", "decide.abstain decide.bands", "decide --bands 0.2,0.5"),
    _entry(
        "dca decision_curve decision_curve_analysis decision_curves net_benefit plot_dca standardized_net_benefit nb",
        "decide.net_benefit_curve draw.decision_curve",
        "benefit, draw decision-curve",
    ),
    _entry(
        "expected_utility cost_matrix cost_sensitive cost", "decide.least_cost Costs", "costs, decide --fp 1 --fn 5"
    ),
    _entry("rocch convex_hull roc_convex_hull", "decide.roc_convex_hull", "hull"),
    # Fairness
    _entry(
        "fairness MetricFrame bias BinaryLabelDatasetMetric bias_report group_metrics subgroups by_group disparity",
        "fairness.group_table fairness.group_gaps",
        "groups, equalize",
    ),
    _entry(
        "ThresholdOptimizer mitigate mitigation postprocess post_processing ExponentiatedGradient GridSearch",
        "equalize fairness.optimal_policy",
        "equalize",
    ),
    _entry("RejectOptionClassification", "fairness.reject_option", "equalize"),
    _parity(
        "demographic-parity",
        "demographic_parity demographic_parity_difference demographic_parity_ratio statistical_parity_difference "
        "disparate_impact disparate_impact_ratio four_fifths DisparateImpactRemover",
    ),
    _parity(
        "equalized-odds",
        "equalized_odds equalized_odds_difference equalized_odds_ratio average_odds_difference EqOddsPostprocessing",
    ),
    _parity(
        "equal-opportunity",
        "equal_opportunity equal_opportunity_difference equal_opportunity_ratio true_positive_rate_parity",
    ),
    # Files, help
    _entry("sql to_sql python codegen export", "apply.as_sql apply.as_python", "export FILE --to sql"),
    _entry("inspect describe print view load", "load_policy load_calibrator", "show"),
    _entry("assert require gate ci_check", "decide.check", "check"),
    _entry("make_scorer get_scorer scoring", "sklearn.scorer sklearn.scorers", "measure"),
    _entry("read_csv read_parquet read_data", "read.tallies read.rows", "report"),
    _entry("example examples tutorial dataset load_dataset", "", "demo"),
    _entry("names available", "", "list"),
    _entry("help", "", "--help"),
)
OTHER_NAMES = {word: name for words, name in _ENTRIES for word in words.split()}
"""Word of another tool -> names of baserate."""


def find_other_name(word: str) -> OtherName | None:
    """Find a word of another tool; case, spaces, dots, hyphens and underscores do not matter.

    >>> find_other_name("roc-auc score").python
    ('measure.auc',)
    """
    squashed = _squash(word)
    return next((name for each, name in OTHER_NAMES.items() if _squash(each) == squashed), None)


_PACKAGES = (
    *("measure", "draw", "decide", "infer", "calibration", "shift"),
    *("fairness", "apply", "read", "report", "population", "sklearn"),
)
"""Packages whose names may be looked for in another one."""


def suggest_attribute(package: str, name: str) -> str:
    """Say what to use in place of a name that a package does not have.

    >>> suggest_attribute("baserate", "MetricFrame")
    'Use baserate.fairness.group_table or baserate.fairness.group_gaps.'
    >>> suggest_attribute("baserate", "roc_auc_score")
    'Use baserate.measure.auc(y_true, y_score).'
    >>> suggest_attribute("baserate.measure", "reweigh"), suggest_attribute("baserate.decide", "youdenn")
    ('Use baserate.shift.reweigh.', "Did you mean 'youden'?")
    """
    if find_spec(f"{package}.{name}") is not None:
        return f"Import it first: import {package}.{name}."
    here = package.partition(".")[2]
    own = _list_names(package)
    places = [_spell(f"{each}.{name}") for each in _PACKAGES if name in _list_names(f"baserate.{each}")]
    same = [f"{package}.{each}" for each in own if _squash(each) == _squash(name)]
    if same:
        return f"Use {_join([*places, *same])}."
    other = find_other_name(name)
    if other is not None:
        return _advise(other, here)
    near = suggest(name, own, cutoff=0.75)
    if near:
        return near
    if places:
        return f"Use {_join(places)}."
    word = next(iter(nearest(name, OTHER_NAMES, cutoff=0.85)), None)
    return suggest(name, own) if word is None else _advise(OTHER_NAMES[word], here)


def _advise(other: OtherName, package: str) -> str:
    """Name what to use, the names of the package first; in the shell, where Python has none."""
    if not other.python:
        return f"In the shell: baserate {other.commands[0]}."
    own = [each for each in other.python if package and each.rpartition(".")[0] == package]
    return f"Use {_join([_spell(each) for each in own or other.python])}."


def _spell(name: str) -> str:
    """Write a name with its package, and a measure as a call."""
    package, _, last = name.rpartition(".")
    is_measure = package == "measure" and last in ("summary", *import_module("baserate.measure").MEASURES)
    return f"baserate.{name}(y_true, y_score)" if is_measure else f"baserate.{name}"


def _join(names: Sequence[str]) -> str:
    return " or ".join(names[:3])


def _list_names(package: str) -> list[str]:
    try:
        return dir(import_module(package))
    except ImportError:  # scikit-learn is optional
        return []


def _squash(word: str) -> str:
    return word.lower().translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", " ._-")
