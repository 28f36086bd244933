"""Public names of packages, their documentation, and imports that stay lazy."""

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import baserate

PUBLIC = {
    "baserate": """
        BaserateError Calibrator Confusion Confusions CostMatrix Costs Counts Curve Cut DataError EmptyDataError
        Estimate FileFormatError Finding FitError InfeasibleError LabelSets MissingValuesError Mixture
        MulticlassCalibrator MulticlassReport MulticlassRows MulticlassTarget NoSuchFileError NotAProbabilityError
        NotBinaryError NotInstalledError NotNumericError OptionError Plan Policy Population RandomizedCut ReadSummary
        Report
        Results Rows ShapeError Tallies Tally Target
        UnknownAttributeError UnknownLabelError UnknownNameError UsageError WeightError
        __version__ apply calibrate calibration choose_threshold class_scores compare confusion curve decide draw
        equalize estimate_prevalence evaluate fairness infer label_sets
        load_calibrator load_policy measure population read report run shift tally
    """,
    "baserate.apply": "Actions WriteSummary actions as_python as_sql file frame",
    "baserate.calibration": """
        BINARY_METHODS Choice MULTICLASS_METHODS beta choose cross_fit fit histogram identity isotonic logistic
        multiclass offset prevalence temperature venn_abers
    """,
    "baserate.calibration.multiclass": """
        assign_folds bias_corrected cross_fit identity one_vs_rest prior reprior temperature vector
    """,
    "baserate.decide": """
        ClassifierMixture Combination CorrectedEstimate Decisions DominatedClassifier IsoCost ROCConvexHull
        RULES Requirement ReversibleClassifier RuleCrossValidation ThresholdBootstrap Vertex abstain actions
        balanced balanced_predictive_values bands best bootstrap_average bootstrap_threshold break_even brier_curve
        capacity cheapest_thresholds check choose_policy closest closest_predictive_values combination_table
        combine_scores compare cost cost_curve cost_curves cost_table cross_validate_rule decision_tables
        evaluate_policy find_rule fixed group_thresholds hull_likelihood_ratios hull_table iso_cost kernel
        least_cost likelihood_ratio_table loess maximin maximin_predictive_values mean_score median_score
        min_p_value minimax multiclass_summary nearest net_benefit_curve net_benefit_difference net_benefits
        normal observed_prevalence on_raw_scores parse_requirements prevalence_matching probability_cost
        rank_by_hull require roc_convex_hull spline summary use_midpoints youden
    """,
    "baserate.draw": """
        CalibrationDisplay ConfusionMatrixDisplay DecisionCurveDisplay DetCurveDisplay DetDisplay Drawing
        PrecisionRecallDisplay RocCurveDisplay RocDisplay confusion_matrix cost_curve decision_curve det gain groups
        lift likelihood_ratio population pr prevalence reliability roc scores thresholds
    """,
    "baserate.fairness": """
        Folds Goal PARITIES Parity ParityValidation RocCrossing ScoreScale calibrated_equalized_odds
        choose_roc_crossing common_threshold compare_attributes compare_groups cross_validate decompose_entropy
        deterministic_thresholds find_parity frontier group_differences group_gaps group_ratios group_table impact
        intersection_excess mix_scores mixing_impact multicalibration optimal_policy reject_option roc_crossings
        stratified_differences
    """,
    "baserate.infer": """
        AucPair CalibratedData CalibrationOptions CalibrationTest ClassVariance Comparison ConfidenceBand
        CurveOptions DecisionTest INTERVAL_METHODS IntervalOptions IntrinsicCalibration NullReference Question
        SMOOTH_METHODS SampleSize SmoothRoc alpha_of_auc_test apply_calibrator binormal_pair binormal_spread bootstrap
        calibration_curve
        calibration_curves calibration_summary calibration_tests compare compare_classes compare_unpaired
        confidence_band confidence_bands cox_test delong_pair derived_prevalence detectable_auc ecce_test estimate
        hosmer_lemeshow hypothetical_pair independent_pair intrinsic_calibration methods multiclass_summary
        no_information_test
        null_reference null_references power_of_auc_difference power_of_auc_test power_of_proportion_difference
        power_of_proportion_test reported_pair sample_size_by_simulation sample_size_for_auc
        sample_size_for_auc_difference sample_size_for_auc_test sample_size_for_observed_expected
        sample_size_for_proportion
        sample_size_for_proportion_difference sample_size_for_proportion_test slope_test smooth_roc smooth_roc_curves
        spiegelhalter summary symmetry_test tabulate_comparisons
    """,
    "baserate.measure": """
        DEFAULT_MEASURES MEASURES Measure MeasureInfo TABLES Values curves describe find_measure measure multiclass
        search summary table undefined_reason
    """,
    "baserate.measure.multiclass": """
        AVERAGES DEFAULT_MEASURES MEASURES Split average_over_classes find_measure find_measures pairwise_auc
        pairwise_ordinal_auc per_class per_row search summary undefined_classes
    """,
    "baserate.population": """
        BestThreshold FAMILIES LEVELS best_threshold beta binormal default_thresholds exact_value find_thresholds
        least_cost_threshold linear logit_normal retrieval simulate_rows simulation_study summary table
    """,
    "baserate.read": """
        LabelText class_rows class_scores class_target confusion confusions cost_matrix cross_table decisions join
        label_columns label_sets rows tallies tally target
    """,
    "baserate.report": """
        CHECKS Finding MULTICLASS_CHECKS MulticlassReport MulticlassVerdict Plan Report Verdict View draw_figures
        evaluate run
    """,
    "baserate.shift": """
        ALIASES LabelShiftTestResult METHODS MulticlassPrevalence Prevalence adjusted_summary class_summary
        estimate_performance estimate_prevalence expected_tally gamma gamma_of_counts gamma_of_sampling
        label_shift_test npv posterior_calibrator ppv prevalence_curve prevalence_curves
        prevalence_of_gamma prevalence_summary prevalence_table quantification_study reprior
        reprior_calibrator reprior_threshold reweigh summary
    """,
    "baserate.sklearn": "CalibratedClassifier PolicyClassifier scorer scorers",
}
"""Package -> its public names; `baserate.measure` and its `multiclass` have their measures besides."""


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names(name: str) -> None:
    package = importlib.import_module(name)
    measures = set(vars(package).get("MEASURES", ())) if name.startswith("baserate.measure") else set()
    assert set(dir(package)) - measures == {*PUBLIC[name].split()} - measures
    assert measures <= set(dir(package))


def test_dir_lists_the_public_names_of_every_package() -> None:
    """Test `dir` in a new process, before any of the names is loaded."""
    code = """
import importlib, pkgutil, baserate
packages = [each.name for each in pkgutil.walk_packages(baserate.__path__, "baserate.") if each.ispkg]
public = ["baserate", *(name for name in packages if not any(part[0] == "_" for part in name.split(".")))]
print(len(public), [name for name in public if dir(mod := importlib.import_module(name)) != sorted(mod.__all__)])
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert process.stdout.split(" ", 1)[1].strip() == "[]"
    assert int(process.stdout.split()[0]) >= 15


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_can_be_loaded(name: str) -> None:
    package = importlib.import_module(name)
    assert all(getattr(package, each) is not None for each in dir(package))


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tallly'"):
        _ = getattr(baserate, "tal" + "lly")


def test_version_matches_the_metadata() -> None:
    from importlib.metadata import version

    assert baserate.__version__ == version("baserate")


def test_imports_are_lazy() -> None:
    def load_modules(code: str) -> set[str]:
        output = subprocess.run(
            [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
            capture_output=True,
            text=True,
            check=True,
        )
        return set(output.stdout.split())

    assert "numpy" not in load_modules("import baserate")
    used = load_modules("import baserate; baserate.measure.auc(baserate.curve(baserate.tally([0, 1], [1, 2])))")
    assert not used & {"scipy", "scipy.stats", "sklearn", "pandas", "duckdb", "narwhals", "click"}
    tabled = load_modules("from baserate import read; read.tallies({'y': [0, 1], 'p': [1, 2]}, truth='y', score='p')")
    assert not tabled & {"scipy", "pandas", "duckdb", "narwhals"}
    theory = load_modules(
        "from baserate import population as p; p.best_threshold(p.linear(), 'f1'); p.binormal().average_precision"
    )
    assert not theory & {"scipy.stats", "pandas", "duckdb", "narwhals"}
    mapped = load_modules(
        "from baserate._calibrator import shift_log_odds; from baserate import apply; m = shift_log_odds(1.0); "
        "apply.frame(m, {'p': [0.5]}, score='p'); apply.as_sql(m, score='p'); apply.as_python(m)"
    )
    assert not mapped & {"scipy", "pandas", "duckdb", "narwhals"}
    assert "baserate._population" in theory - used - tabled


def list_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield public functions except measures, which have their own page."""
    for package, names in PUBLIC.items():
        for name in names.split():
            value = getattr(importlib.import_module(package), name)
            if inspect.isroutine(value) and not hasattr(value, "info"):
                yield f"{package}.{name}", value


def test_public_functions_document_parameters_and_results() -> None:
    functions = dict(list_functions())
    assert len(functions) > 150
    missing = {}
    for name, function in functions.items():
        text = inspect.getdoc(function) or ""
        parameters = text.partition("Parameters\n----------\n")[2]
        undescribed = [
            each
            for each, parameter in inspect.signature(function).parameters.items()
            # Of **options, each option is described by its own name.
            if parameter.kind is not parameter.VAR_KEYWORD
            and not re.search(rf"^\S.*\b{each}\b|^{each}\b", parameters, re.MULTILINE)
        ]
        result = re.search(r"^(Returns\n-------|Yields\n------)\n\S.*\n {4}\S", text, re.MULTILINE)
        missing[name] = [*undescribed, *["result"] * (not result)]
    assert {name: each for name, each in missing.items() if each} == {}
