"""Words of other tools for what baserate does: scikit-learn, fairlearn, AIF360, pROC, rms, dcurves, cutpointr and more.

The module is loaded only when a name in Python or a command is unknown, to suggest names that exist.
"""

from collections.abc import Iterable
from typing import NamedTuple


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
    _entry(
        "improveProb nri NRI idi IDI reclassify reclassification reclass reclassification_improvement",
        "infer.net_reclassification",
        "reclassify, compare",
    ),
    _entry("AccuracyPValue no_information no_information_test", "infer.no_information_test", "measure --tests"),
    _entry("bowker bowker_test mcnemar_bowker McnemarPValue", "infer.symmetry_test", "measure --tests"),
    _entry("evaluate ClassificationPreset explore dashboard validate", "evaluate", "report, measure"),
    _entry(
        "classification_report precision_recall_fscore_support metric metrics metric_set score scores stats "
        "ClassificationMetric PerformanceCalculator evalmod HMeasure epi.tests ROCR",
        "measure.summary infer.summary",
        "measure, list measures",
    ),
    _entry(
        "confusion_matrix conf_mat confusionMatrix multilabel_confusion_matrix "
        "confusion_matrix_at_thresholds contingency_table crosstab misclassCounts",
        "confusion draw.confusion_matrix measure.summary",
        "measure, draw confusion-matrix",
    ),
    _entry(
        "macro_f1 micro_f1 weighted_f1 f1_macro f1_micro f1_weighted macro_precision macro_recall",
        "measure.multiclass.summary",
        "measure --average macro",
    ),
    _entry("ConfusionMatrixDisplay", "draw.ConfusionMatrixDisplay draw.confusion_matrix", "draw confusion-matrix"),
    _entry("RocCurveDisplay", "draw.RocCurveDisplay draw.roc", "draw roc"),
    _entry("PrecisionRecallDisplay", "draw.PrecisionRecallDisplay draw.pr", "draw pr"),
    _entry("DetCurveDisplay", "draw.DetCurveDisplay draw.det", "draw det"),
    _entry("CalibrationDisplay", "draw.CalibrationDisplay draw.reliability", "draw reliability"),
    _entry("plot figure chart graph autoplot ggplot visualize", "draw", "draw, list figures"),
    _entry("roc_curve plot.roc ggroc plot_roc roc", "draw.roc measure.curves curve", "draw roc, curve roc"),
    _entry(
        "precision_recall_curve precision_recall pr_curve plot_precision_recall pr prc",
        "draw.pr measure.curves",
        "draw pr, curve pr",
    ),
    _entry("smooth smooth_curve smooth.roc rocfit", "infer.smooth_roc draw.roc", "curve roc --smooth binormal"),
    _entry("det_curve det", "draw.det measure.curves", "draw det, curve det"),
    _entry("gain_curve cumulative_gain cap_curve cap", "draw.gain measure.curves", "draw gain, curve gain"),
    _entry("lift_curve lift_chart", "draw.lift measure.curves", "draw lift, curve lift"),
    _entry("lorenz_curve lorenz", "measure.curves", "curve lorenz"),
    _entry("coords threshold_perf performance", "decide.summary measure.summary", "curve roc, measure --threshold 0.5"),
    _entry("ggdist hist density", "draw.scores", "draw scores"),
    # Measures
    _measure("auc", "roc_auc_score roc_auc auroc auc concordance c_statistic c_index cindex somers2 gini_auc"),
    _measure("average_precision", "average_precision_score aps auprc"),
    _measure("pr_auc", "prauc"),
    _measure("pr_auc_trapezoid", "pr_auc_linear auc_pr_trapezoid"),
    _measure("log_auc", "logauc binary_logauc multiclass_logauc multilabel_logauc"),
    _measure("roc_distance", "roc_dist"),
    _measure("precision_at_k", "retrieval_precision precision_k"),
    _measure("recall_at_k", "retrieval_recall recall_k"),
    _measure("partial_auc", "pauc auc_partial"),
    _measure("sensitivity_at_specificity", "binary_sensitivity_at_specificity tpr_at_fpr se_at_sp"),
    _measure("specificity_at_sensitivity", "binary_specificity_at_sensitivity tnr_at_tpr sp_at_se"),
    _measure("precision_at_sensitivity", "binary_precision_at_fixed_recall precision_at_fixed_recall"),
    _measure("sensitivity_at_precision", "binary_recall_at_fixed_precision recall_at_fixed_precision"),
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
    _measure("sedi", "sedi symmetric_extremal_dependence_index"),
    _measure("no_information_rate", "NIR"),
    _measure("theil_index", "theil_index"),
    _measure("youden", "j_index informedness bookmaker"),
    _measure("flag_rate", "selection_rate alert_rate"),
    _measure("ks", "ks_statistic kolmogorov_smirnov ks_2samp"),
    _measure("gini", "gini_score somers_d Dxy"),
    _measure("lift", "lift_score"),
    _measure("risk_ratio", "relative_risk"),
    _measure("mean_probability", "mean_prediction"),
    _measure("ece", "expected_calibration_error ece_score calibration_error"),
    _measure("ici", "integrated_calibration_index"),
    _measure("observed_expected", "oe_ratio eo_ratio"),
    _measure("calibration_slope", "cal_slope"),
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
    _entry("ranked_prob_score rps", "measure.multiclass.ranked_probability_score", "measure --scores p_"),
    _entry("classification_cost", "measure.multiclass.classification_cost", "measure --scores p_ --costs costs.csv"),
    _entry("coverage_error multilabel_coverage_error", "measure.multiclass.coverage_error", "measure --truths y_"),
    _entry(
        "label_ranking_average_precision_score multilabel_ranking_average_precision",
        "measure.multiclass.lrap",
        "measure --truths y_",
    ),
    _entry(
        "label_ranking_loss multilabel_ranking_loss", "measure.multiclass.label_ranking_loss", "measure --truths y_"
    ),
    _entry("dcg_score", "measure.multiclass.dcg", "measure --truths y_"),
    _entry("ndcg_score retrieval_normalized_dcg", "measure.multiclass.ndcg", "measure --truths y_"),
    _entry("hamming_loss", "measure.multiclass.hamming_loss", "measure --measures hamming_loss"),
    # Intervals, comparison, plans of studies
    _entry(
        "ci ci.auc ci.coords auc_ci auc_interval confidence_interval",
        "infer.summary infer.estimate infer.bootstrap",
        "measure",
    ),
    _entry(
        "ci.se",
        "infer.estimate measure.sensitivity_at_specificity",
        "measure --measures sensitivity_at_specificity",
    ),
    _entry(
        "ci.sp",
        "infer.estimate measure.specificity_at_sensitivity",
        "measure --measures specificity_at_sensitivity",
    ),
    _entry(
        "bootstrap boot_ci",
        "infer.summary infer.estimate infer.bootstrap",
        "measure --interval bootstrap, compare --method resample",
    ),
    _entry("ci.thresholds", "decide.bootstrap_threshold", "decide"),
    _entry("oc_youden_normal youden_normal", "decide.normal", "decide --rule normal"),
    _entry("oc_youden_kernel youden_kernel", "decide.kernel", "decide --rule kernel"),
    _entry("maximize_loess_metric lowess", "decide.loess", "decide --rule loess"),
    _entry("maximize_gam_metric smoothing_spline gam", "decide.spline", "decide --rule spline"),
    _entry("maximize_boot_metric bagging", "decide.bootstrap_average", "decide --rule bootstrap-average"),
    _entry("boot_test subgroup_thresholds", "decide.group_thresholds", "decide --group-thresholds"),
    _entry(
        "roc.test delong delong_test delong_roc_test mcnemar mcnemar_test mcnemar.test cov test significance "
        "compare_models",
        "compare infer.compare infer.compare_unpaired",
        "compare",
    ),
    _entry("venkatraman venkatraman_test", "infer.compare infer.compare_unpaired", "compare --method venkatraman"),
    _entry(
        "power power.roc.test sample_size pmsampsize pmvalsampsize presize n_required",
        "infer.sample_size_for_auc infer.sample_size_for_proportion",
        "size",
    ),
    _entry("simulate simulation bigamma binormal", "population.simulation_study population.summary", "population"),
    # Calibration
    _entry(
        "calibration calibration_curve reliability_diagram reliability_curve cal_plot_breaks "
        "cal_plot_logistic val.prob val.prob.ci.2 valProbggplot calibration_plot calibration_belt calPlot",
        "infer.calibration_summary draw.reliability infer.calibration_curve",
        "reliability, draw reliability",
    ),
    _entry(
        "nagelkerke nagelkerke_r_squared pseudo_r2",
        "measure.summary measure.nagelkerke_r2",
        "reliability, measure --measures nagelkerke_r2",
    ),
    _entry("hoslem.test hosmer_lemeshow_test spiegelhalter_test", "infer.calibration_tests", "reliability"),
    _entry(
        "CalibratedClassifierCV CalibratedClassifier calibrator cal_estimate_logistic recalibrate rms_calibrate",
        "calibrate calibration.logistic sklearn.CalibratedClassifier",
        "calibrate --with logistic, calibrate --with isotonic",
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
        "quantification quantify quantifier EMQ SLD PACC PCC HDy DyS KDEy KDEyML KDEyHD KDEyCS EMQuantifier base_rate "
        "median_sweep",
        "shift.estimate_prevalence",
        "prevalence",
    ),
    _entry(
        "artificial_prevalence_protocol natural_prevalence_protocol APP NPP UPP evaluation_report quantification_error",
        "shift.quantification_study",
        "prevalence-study",
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
        "best_threshold",
        "choose_threshold decide.summary decide.youden",
        "decide --rule youden, decide --fp 1 --fn 20",
    ),
    _entry("youden youden_index", "decide.youden measure.youden", "decide --rule youden"),
    _entry("MinPvalue minimal_p_value maxstat maximally_selected", "decide.min_p_value", "decide --rule min-p-value"),
    _entry("PrevalenceMatching", "decide.prevalence_matching", "decide --rule prevalence-matching"),
    _entry("ObservedPrev", "decide.observed_prevalence", "decide --rule observed-prevalence"),
    _entry("MeanPrev", "decide.mean_score", "decide --rule mean-score"),
    _entry("SpEqualSe", "decide.balanced", "decide --rule balanced"),
    _entry("NPVEqualPPV", "decide.balanced_predictive_values", "decide --rule balanced-predictive-values"),
    _entry("MaxSpSe", "decide.maximin", "decide --rule maximin"),
    _entry("MaxNPVPPV", "decide.maximin_predictive_values", "decide --rule maximin-predictive-values"),
    _entry("MaxEfficiency MaxKappa MaxDOR", "decide.best", "decide --maximize kappa, decide --rule best"),
    _entry("FixedThresholdClassifier", "sklearn.PolicyClassifier decide.fixed", "decide --threshold 0.5"),
    _entry("predict predict_proba transform cal_apply deploy", "apply.frame apply.file", "apply"),
    _entry("policy rule", "Policy decide.choose_policy", "decide, show, export FILE --to sql"),
    _entry("reject abstention triage", "decide.abstain decide.bands", "decide --bands 0.2,0.5"),
    _entry(
        "dca decision_curve decision_curve_analysis decision_curves net_benefit plot_dca nb plot_graphs "
        "test_consequences",
        "decide.net_benefit_curve draw.decision_curve",
        "benefit, draw decision-curve",
    ),
    _entry(
        "standardized_net_benefit sNB",
        "decide.net_benefit_curve measure.standardized_net_benefit",
        "benefit, draw decision-curve --kind standardized",
    ),
    _entry(
        "net_intervention_avoided interventions_avoided net_reduction",
        "decide.net_benefit_curve measure.net_reduction",
        "benefit, draw decision-curve --kind net-reduction",
    ),
    _entry(
        "expected_utility cost_matrix cost_sensitive cost", "decide.least_cost Costs", "costs, decide --fp 1 --fn 5"
    ),
    _entry("rocch convex_hull roc_convex_hull", "decide.roc_convex_hull", "hull"),
    # Fairness
    _entry(
        "fairness MetricFrame bias BinaryLabelDatasetMetric bias_report group_metrics subgroups by_group disparity "
        "disparities",
        "fairness.group_table fairness.group_gaps",
        "groups, equalize --parity equalized-odds",
    ),
    _entry(
        "ThresholdOptimizer mitigate mitigation postprocess post_processing ExponentiatedGradient GridSearch",
        "equalize fairness.optimal_policy",
        "equalize",
    ),
    _entry("RejectOptionClassification", "fairness.reject_option", "equalize"),
    _entry(
        "multicalibration multiaccuracy multi_calibration subgroup_calibration",
        "fairness.multicalibration",
        "groups --multicalibration",
    ),
    _entry(
        "CalibratedEqOddsPostprocessing CalibratedEqualizedOdds calibrated_eq_odds",
        "fairness.calibrated_equalized_odds",
        "equalize --withhold fnr",
    ),
    _parity(
        "demographic-parity",
        "demographic_parity demographic_parity_difference demographic_parity_ratio statistical_parity_difference "
        "DisparateImpactRemover",
    ),
    _entry(
        "disparate_impact disparate_impact_ratio four_fifths selection_rate_ratio",
        "fairness.group_ratios equalize",
        "groups --measures flag_rate --ratios, equalize --parity demographic-parity",
    ),
    _entry("generalized_entropy_index", "measure.generalized_entropy", "measure --measures generalized_entropy"),
    _entry("to_overall difference_to_overall ratio_to_overall", "fairness.group_differences", "groups --relative-to"),
    _entry(
        "control_features conditional_parity conditional_demographic_disparity mantel_haenszel StratifiedTable",
        "fairness.stratified_differences",
        "groups --control",
    ),
    _entry(
        "average_odds_difference average_abs_odds_difference average_predictive_value_difference",
        "fairness.group_differences fairness.group_gaps",
        "groups --measures average_odds, groups --measures average_predictive_value",
    ),
    _entry(
        "between_group_generalized_entropy_index between_group_theil_index between_all_groups_theil_index",
        "fairness.decompose_entropy measure.generalized_entropy",
        "groups --measures generalized_entropy",
    ),
    _parity(
        "equalized-odds",
        "equalized_odds equalized_odds_difference equalized_odds_ratio EqOddsPostprocessing",
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
    _entry("aliases synonyms glossary", "", "list measures"),
    _entry("help", "", "--help"),
)
OTHER_NAMES = {word: name for words, name in _ENTRIES for word in words.split()}
"""Word of another tool -> names of baserate."""
_OPTION_ENTRIES = {
    "truth": "y_true y label target response outcome actual reference label_column label_name true_labels ground_truth",
    "score": "y_score y_prob y_proba probas_pred proba predictor preds pred prob probability probabilities risk",
    "predicted": "y_pred prediction predictions predicted_labels",
    "weight": "sample_weight weights case_weights",
    "positive": "pos_label positive_class event_level pos positive_label favorable_label",
    "negative": "neg_label negative_class negative_label",
    "group": "sensitive_features sensitive_feature protected_attribute groups subgroup by",
    "threshold": "cutoff cut_off cutpoint thresholds",
    "policy": "threshold cutoff cut_off cutpoint thresholds",
    "thresholds": "threshold cutoff cut_off cutpoint cutoffs threshold_range",
    "seed": "random_state rng random_seed",
    "n_bootstrap": "n_boot n_resamples boot_n boot_runs bootstrap bootstraps n_samples",
    "level": "conf_level confidence_level ci confidence",
    "prevalence": "prior base_rate prev pi to at deployment_prevalence",
    "sample_prevalence": "from from_ train_prevalence training_prevalence calibrated_at",
    "fp": "cost_fp fp_cost false_positive_cost",
    "fn": "cost_fn fn_cost false_negative_cost",
    "costs": "cost cost_matrix",
    "measures": "metric metrics measure",
    "measure": "metric metrics measures",
    "cluster": "clusters subject patient",
    "rule": "method criterion",
    "with": "method calibrator",
    "n_simulations": "simulations n_sim",
    "n_permutations": "permutations n_perm",
    "parity": "constraint constraints fairness",
    "within": "tolerance tol",
    "output": "out save output_file outfile",
    "folds": "cv n_splits n_folds",
    "id": "row_id record_id",
}
OTHER_OPTIONS: dict[str, tuple[str, ...]] = {}
"""Name of an option in scikit-learn, pROC, fairlearn, cutpointr and others -> names in baserate, the nearest first."""
for _name, _words in _OPTION_ENTRIES.items():
    for _word in _words.split():
        OTHER_OPTIONS[_word] = (*OTHER_OPTIONS.get(_word, ()), _name)


_APPLY = "baserate.apply.actions(policy, scores), or baserate.apply.frame(policy, table)"
_MEMBER_ENTRIES: dict[str, dict[str, str]] = {
    "Policy": {
        "predict decide apply transform decisions": _APPLY,
        "thresholds cutoff cutoffs cutpoint": "policy.threshold, or print(policy) for those of groups",
        "evaluate score summary": "baserate.decide.evaluate_policy(truth, score, policy)",
        "to_sql sql": "baserate.apply.as_sql(policy, score='risk')",
        "to_python": "baserate.apply.as_python(policy, score='risk')",
    },
    "Calibrator": {
        "predict predict_proba transform apply": "the calibrator as a function, calibrator(scores)",
        "coef_ coef intercept intercept_ slope": "calibrator.parameters",
        "to_sql sql": "baserate.apply.as_sql(calibrator, score='risk')",
    },
    "Report": {
        "show display plot": "report in a notebook, print(report), or report.save('report.html')",
        "to_html": "report.html(), or report.save('report.html')",
        "to_markdown": "report.markdown()",
        "to_pandas to_polars to_frame df": "report.frame()",
        "summary": "print(report)",
        "measures metrics results": "report.numbers",
        "thresholds threshold": "report.policy.threshold",
        "sample": "report.here",
        "deployment": "report.there",
    },
    "Drawing": {"savefig write export": "drawing.save('figure.png')", "show plot": "drawing.figure"},
    "Curve": {"plot show draw": "baserate.draw.roc(curve)", "auc roc_auc": "baserate.measure.auc(curve)"},
}
"""Type -> words for its methods in other libraries -> what to use."""
_MEASURED = {"Counts": "counts", "Tally": "tally", "Curve": "curve"}
"""Types that measures take -> name of one in messages."""


def find_other_member(types: Iterable[str], word: str, measure: str | None = None) -> str | None:
    """Find what to use in place of a method, or of the number that a measure gives.

    >>> find_other_member(["Calibrator", "object"], "predict_proba")
    'the calibrator as a function, calibrator(scores)'
    """
    for kind in types:
        for words, used in _MEMBER_ENTRIES.get(kind, {}).items():
            if word in words.split():
                return used
        if kind == "Report" and measure is not None:
            return f"report.here.{measure} in the sample, or report.there.{measure} at the deployment prevalence"
        if kind in _MEASURED and measure is not None:
            return f"baserate.measure.{measure}({_MEASURED[kind]})"
    return None


def find_other_option(word: str, known: Iterable[str]) -> str | None:
    """Find what one of the known options is called in another tool.

    >>> find_other_option("pos_label", ["truth", "positive"]), find_other_option("pos_label", ["truth"])
    ('positive', None)
    """
    known = {*known}
    squashed = squash(word)
    names = next((names for each, names in OTHER_OPTIONS.items() if squash(each) == squashed), ())
    return next((name for name in names if name in known), None)


def find_other_name(word: str) -> OtherName | None:
    """Find a word of another tool; case, spaces, dots, hyphens and underscores do not matter.

    >>> find_other_name("roc-auc score").python
    ('measure.auc',)
    """
    squashed = squash(word)
    found = next((name for each, name in OTHER_NAMES.items() if squash(each) == squashed), None)
    return found or (find_other_name(squashed[:-1]) if squashed.endswith("s") else None)


def suggest_known(word: str, known: Iterable[str]) -> list[str]:
    """List what a word of another tool is called among some known names, such as those of measures or rules.

    >>> suggest_known("roc_auc_score", ["auc", "ks"]), suggest_known("platt", ["logistic", "beta"])
    (['auc'], ['logistic'])
    """
    other, known = find_other_name(word), {*known}
    if other is None:
        return []
    ends = [name.rpartition(".")[2] for name in other.python] + [typed.split()[-1] for typed in other.commands]
    return [name for name in dict.fromkeys(ends) if name in known]


def squash(word: str) -> str:
    return word.lower().translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", " ._-")
