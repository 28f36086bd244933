"""All benchmarks, by name."""

from functools import partial
from time import process_time

from bench import (
    _apply as apply,
    _calibration as calibration,
    _decide as decide,
    _fairness as fairness,
    _intervals as intervals,
    _multiclass as multiclass,
    _page as page,
    _policy as policy,
    _policy_file as policy_file,
    _reliability as reliability,
    _report as report,
    _scores as scores,
    _shift as shift,
)
from bench._benchmark import Benchmark, time_pair, trace_memory
from bench._commands import measure_file, measure_with_intervals, show_help
from bench._import_time import import_time

_AUC = "sklearn roc_auc_score"
_SORT = "numpy.sort of the scores"
_CONFUSION = "sklearn confusion_matrix, accuracy, balanced accuracy, MCC and κ"
_ARRAY = "an array of n float64"
_PANDAS = "pandas, and sklearn's AUC, AP, Brier and F1"

_tally_positive = partial(scores.tally_rows, scores.positive_scores)
_tally_real = partial(scores.tally_rows, scores.real_scores)
_tally_weighted = partial(scores.tally_rows, scores.weighted_scores)
_auc = time_pair(partial(scores.exact_auc, scores.positive_scores))
_auc_arrays = time_pair(scores.auc_of_arrays)
_auc_weighted = time_pair(partial(scores.exact_auc, scores.weighted_scores))

BENCHMARKS: dict[str, Benchmark] = {
    "auc-1e6": Benchmark("exact AUC of 10⁶ scores", _AUC, ">=", 15, _auc, n=10**6, repeats=25),
    "auc-arrays-100": Benchmark("AUC of arrays of 100 rows", _AUC, ">=", 8, _auc_arrays, n=100, repeats=15),
    "auc-arrays-1e4": Benchmark("AUC of arrays of 10⁴ rows", _AUC, ">=", 6, _auc_arrays, n=10**4, repeats=15),
    "auc-arrays-1e6": Benchmark("AUC of arrays of 10⁶ rows", _AUC, ">=", 15, _auc_arrays, n=10**6, repeats=15),
    "auc-1e7": Benchmark("exact AUC of 10⁷ scores", _AUC, ">=", 15, _auc, n=10**7),
    "auc-weighted-1e7": Benchmark("exact AUC of 10⁷ weighted scores", _AUC, ">=", 3, _auc_weighted, n=10**7),
    "curves-1e7": Benchmark(
        "ROC, PR, F1, MCC and J at every threshold, AUC and AP, of 10⁷ scores",
        "sklearn's ROC, PR, AUC and AP",
        ">=",
        15,
        time_pair(scores.all_curves, slow=True),
        n=10**7,
        repeats=3,
    ),
    "tally-positive-1e7": Benchmark("tally of 10⁷ scores ≥ 0", _SORT, "<=", 4, time_pair(_tally_positive), n=10**7),
    "tally-real-1e7": Benchmark("tally of 10⁷ scores of either sign", _SORT, "<=", 6, time_pair(_tally_real), n=10**7),
    "tally-weighted-1e7": Benchmark(
        "tally of 10⁷ weighted scores", _SORT, "<=", 13, time_pair(_tally_weighted), n=10**7
    ),
    "memory-positive-1e7": Benchmark(
        "memory to tally scores ≥ 0", _ARRAY, "<=", 6, trace_memory(_tally_positive), n=10**7, repeats=1
    ),
    "memory-real-1e7": Benchmark(
        "memory to tally real scores", _ARRAY, "<=", 6, trace_memory(_tally_real), n=10**7, repeats=1
    ),
    "memory-weighted-1e7": Benchmark(
        "memory to tally weighted scores", _ARRAY, "<=", 6, trace_memory(_tally_weighted), n=10**7, repeats=1
    ),
    "hull-1e6": Benchmark(
        "convex hull of 10⁶ points", "monotone chain in Python", ">=", 20, time_pair(scores.convex_hull), n=10**6
    ),
    "f1-2e4": Benchmark(
        "F1 at all thresholds of 20 000 scores",
        "sklearn metric_at_thresholds",
        ">=",
        1000,
        time_pair(scores.f1_curve, slow=True),
        n=20_000,
        repeats=1,
    ),
    "import-baserate": Benchmark(
        "import baserate", "import numpy", "<=", 1.5, import_time("import baserate"), repeats=15
    ),
    "import-tally": Benchmark(
        "import baserate; baserate.tally",
        "import numpy",
        "<=",
        1.5,
        import_time("import baserate; baserate.tally"),
        repeats=15,
    ),
    "help": Benchmark("baserate --help", "python -c 'import numpy'", "<=", 1, show_help, repeats=15),
    "measure-parquet-1e7": Benchmark(
        "baserate measure of a Parquet file of 10⁷ rows", _PANDAS, ">=", 8, measure_file("parquet"), n=10**7, repeats=3
    ),
    "confusion-int-1e7": Benchmark(
        "confusion matrix of 10⁷ integer labels, K = 10, and all its measures",
        _CONFUSION,
        ">=",
        10,
        time_pair(partial(multiclass.confusion_matrix, multiclass.integer_labels)),
        n=10**7,
    ),
    "confusion-text-1e7": Benchmark(
        "confusion matrix of 10⁷ NumPy strings, K = 10, and all its measures",
        _CONFUSION,
        ">=",
        2,
        time_pair(partial(multiclass.confusion_matrix, multiclass.text_labels), slow=True),
        n=10**7,
        repeats=1,
    ),
    "confusion-object-1e7": Benchmark(
        "confusion matrix of 10⁷ Python strings, K = 10, and all its measures",
        _CONFUSION,
        ">=",
        10,
        time_pair(partial(multiclass.confusion_matrix, multiclass.object_labels), slow=True),
        n=10**7,
        repeats=1,
    ),
    "hand-till-1e6": Benchmark(
        "Hand–Till and one-vs-rest macro AUC of 10⁶ rows, K = 10",
        "sklearn roc_auc_score, ovo and ovr",
        ">=",
        10,
        time_pair(multiclass.hand_till),
        n=10**6,
        repeats=3,
    ),
    "confusion-statistics": Benchmark(
        "all statistics of one confusion matrix, K = 10",
        "pycm ConfusionMatrix",
        ">=",
        50,
        time_pair(lambda _: multiclass.all_statistics(1)),
        repeats=25,
    ),
    "confusion-statistics-stack": Benchmark(
        "all statistics of a thousand confusion matrices, K = 10",
        "pycm ConfusionMatrix, a thousand times",
        ">=",
        50,
        time_pair(multiclass.all_statistics),
        n=1000,
        repeats=3,
    ),
    "measure-csv-1e6": Benchmark(
        "baserate measure of a CSV file of 10⁶ rows", _PANDAS, ">=", 3, measure_file("csv"), n=10**6, repeats=5
    ),
    "threshold-measures-1e6": Benchmark(
        "intervals of 12 measures at a threshold of 10⁶ rows, from 10 000 simulated tables",
        "a bootstrap of 2000 samples with sklearn's 12 functions",
        ">=",
        10_000,
        intervals.threshold_measures,
        n=10**6,
    ),
    "bootstrap-auc-1e5": Benchmark(
        "bootstrap of the AUC of 10⁵ scores, 1000 samples",
        "a bootstrap of 1000 samples with sklearn's roc_auc_score",
        ">=",
        25,
        intervals.bootstrap_auc,
        n=10**5,
        repeats=3,
    ),
    "delong-1e6": Benchmark(
        "DeLong's interval of 10⁶ scores",
        "confidenceinterval",
        ">=",
        10,
        time_pair(intervals.delong_interval),
        n=10**6,
        repeats=3,
    ),
    "delong-test-1e5": Benchmark(
        "DeLong's test of all pairs of 5 models, 10⁵ rows",
        "MLstatkit, pair by pair",
        ">=",
        5,
        time_pair(intervals.delong_test),
        n=10**5,
        repeats=3,
    ),
    "venkatraman-1e3": Benchmark(
        "Venkatraman's test of two ROC curves of 1000 rows, 9999 permutations",
        "a loop that sorts the ranks of each permutation",
        ">=",
        1,
        intervals.venkatraman_test,
        n=1000,
        repeats=3,
    ),
    "measure-intervals-1e6": Benchmark(
        "baserate measure of 10⁶ rows in Parquet, with intervals",
        "baserate measure --no-interval",
        "<=",
        2,
        measure_with_intervals,
        n=10**6,
        repeats=9,
    ),
    "calzone-5e5": Benchmark(
        "binned errors, Cox's line, local regression and tests of calibration of 5·10⁵ scores",
        "calzone's calculate_metrics('all')",
        ">=",
        6,
        time_pair(reliability.all_measures),
        n=5 * 10**5,
        repeats=3,
    ),
    "calzone-bootstrap-5e3": Benchmark(
        "bootstrap of binned, Cox and local calibration of 5000 scores, 1000 samples",
        "calzone's bootstrap",
        ">=",
        10,
        partial(reliability.bootstrap_measures, local=True),
        n=5000,
        repeats=3,
    ),
    "calzone-bootstrap-binned-5e3": Benchmark(
        "bootstrap of binned and Cox calibration of 5000 scores, 1000 samples",
        "calzone's bootstrap",
        ">=",
        50,
        partial(reliability.bootstrap_measures, local=False),
        n=5000,
        repeats=5,
    ),
    "ici-5e5": Benchmark(
        "integrated calibration index of 5·10⁵ scores",
        "statsmodels lowess, same settings",
        ">=",
        5,
        time_pair(reliability.integrated_index),
        n=5 * 10**5,
        repeats=3,
    ),
    "isotonic-1e6": Benchmark(
        "isotonic fit of 10⁶ scores", "sklearn IsotonicRegression", ">=", 5, time_pair(calibration.isotonic), n=10**6
    ),
    "logistic-1e6": Benchmark(
        "logistic fit of 10⁶ scores",
        "sklearn LogisticRegression without penalty",
        ">=",
        5,
        time_pair(calibration.logistic),
        n=10**6,
    ),
    "beta-1e6": Benchmark(
        "beta calibration of 10⁶ scores", "betacal", ">=", 5, time_pair(calibration.beta), n=10**6, repeats=3
    ),
    **{
        f"apply-{name}-1e7": Benchmark(
            f"calibrator applied to 10⁷ scores ({name})",
            f"np.interp with {knots} knots",
            "<=",
            3,
            time_pair(partial(apply.calibrate_scores, name)),
            n=10**7,
        )
        for name, (_, knots) in apply.FORMS.items()
    },
    "apply-parquet-1e8": Benchmark(
        "an isotonic calibrator applied to a Parquet file of 10⁸ rows",
        "DuckDB's copy of the file",
        "<=",
        2,
        apply.calibrate_file,
        n=10**8,
        repeats=3,
    ),
    "apply-policy-file-1e8": Benchmark(
        "a policy of 20 groups, one of them randomized, applied to a Parquet file of 10⁸ rows",
        "DuckDB's copy of the file",
        "<=",
        2,
        policy_file.decide_file,
        n=10**8,
        repeats=3,
    ),
    "apply-policy-1e7": Benchmark(
        "a policy of 3 groups applied to an Arrow table of 10⁷ rows",
        "one comparison of the scores with a threshold",
        "<=",
        12,
        time_pair(policy.decide_by_group),
        n=10**7,
        repeats=15,
    ),
    "apply-randomized-1e6": Benchmark(
        "a policy that randomizes 5% of 10⁶ rows",
        "a loop that hashes every row",
        ">=",
        15,
        time_pair(policy.decide_at_random),
        n=10**6,
    ),
    "prevalence-table-1e6": Benchmark(
        "all measures of decisions at 1000 prevalences",
        "the tally of the 10⁶ scores",
        "<=",
        0.05,
        shift.tabulate_prevalences,
        n=10**6,
        repeats=25,
    ),
    "mlls-quapy-1e6": Benchmark(
        "prevalence by maximum likelihood, with its interval, from 10⁶ posteriors",
        "QuaPy's EMQ",
        ">=",
        12,
        time_pair(partial(shift.estimate_by_likelihood, peer="quapy")),
        n=10**6,
    ),
    "mlls-mlquantify-1e6": Benchmark(
        "prevalence by maximum likelihood, with its interval, from 10⁶ posteriors",
        "mlquantify's EMQ",
        ">=",
        12,
        time_pair(partial(shift.estimate_by_likelihood, peer="mlquantify")),
        n=10**6,
    ),
    "prevalence-quapy-1e6": Benchmark(
        "prevalence by the default method, with its interval and tests, from 10⁶ scores",
        "QuaPy's EMQ",
        ">=",
        12,
        time_pair(shift.estimate_by_histogram),
        n=10**6,
    ),
    "prevalence-study": Benchmark(
        "three prevalence estimators with intervals on 210 samples of 500 rows",
        "QuaPy's APP and evaluate, without intervals",
        ">=",
        1.2,
        time_pair(shift.study_estimators),
        n=10**4,
    ),
    "unlabelled-recalibrated-1e6": Benchmark(
        "six measures of 10⁶ unlabelled rows, recalibrated on 2000 labelled rows, with intervals",
        "the tally of 10⁶ labelled rows",
        "<=",
        2,
        shift.estimate_with_validation,
        n=10**6,
        repeats=15,
    ),
    "unlabelled-1e6": Benchmark(
        "six measures of 10⁶ unlabelled rows, with intervals",
        "the tally of 10⁶ labelled rows",
        "<=",
        2,
        shift.estimate_without_labels,
        n=10**6,
        repeats=15,
    ),
    **{
        f"{name}-threshold-1e6": Benchmark(
            f"the threshold of {optimum} among all scores, from 10⁶ rows",
            "sklearn TunedThresholdClassifierCV over 100 thresholds",
            ">=",
            50,
            time_pair(partial(decide.best_threshold, name), slow=True),
            n=10**6,
            repeats=1,
        )
        for name, optimum in (("cost", "least cost"), ("f1", "best F1"))
    },
    "bootstrap-threshold-1e5": Benchmark(
        "bootstrap of the Youden threshold of 10⁵ rows, with its optimism, 1000 samples",
        "a bootstrap of 1000 samples with sklearn's roc_curve",
        ">=",
        25,
        decide.bootstrap_threshold,
        n=10**5,
        repeats=3,
    ),
    "decision-curve-1e6": Benchmark(
        "decision curve at 100 probabilities, with intervals, from 10⁶ rows",
        "dcurves",
        ">=",
        50,
        time_pair(decide.decision_curve),
        n=10**6,
    ),
    "equalized-odds-1e6": Benchmark(
        "equalized odds of two groups, exactly, from 10⁶ rows",
        "fairlearn ThresholdOptimizer, on its grid of 1000",
        ">=",
        50,
        time_pair(fairness.equalized_odds, slow=True),
        n=10**6,
        repeats=3,
    ),
    "reject-option": Benchmark(
        "the reject option of two groups, the best of all bands, from 6150 rows",
        "AIF360 0.6.1's RejectOptionClassification, 12.06 s of CPU as measured once",
        ">=",
        200,
        fairness.reject_option,
        n=6150,
    ),
    "group-table-1e6": Benchmark(
        "4 measures of 8 groups, with intervals, from 10⁶ rows",
        "fairlearn's MetricFrame, n_boot=100",
        ">=",
        500,
        fairness.group_table,
        n=10**6,
        repeats=1,
    ),
    "evaluate-1e6": Benchmark(
        "a report of 10⁶ rows: a threshold, 20 measures with intervals, null references, findings",
        "sklearn's AUC, AP, Brier score and calibration curve, without intervals",
        "<=",
        0.8,
        time_pair(report.evaluate_arrays, clock=process_time),
        n=10**6,
        repeats=9,
    ),
    "page-size-1e5": Benchmark(
        "size of the page of a model with 10⁵ scores", "200 KB", "<=", 1, page.model_size, n=10**5
    ),
    "page-size-groups-1e5": Benchmark(
        "size of the page of a model with thirty groups", "350 KB", "<=", 1, page.groups_size, n=10**5
    ),
    "page-write-1e5": Benchmark(
        "writing this page, without the evaluation", "0.3 s", "<=", 1, page.write_time, n=10**5
    ),
    "page-load-1e5": Benchmark(
        "opening this page in Chromium, until it can be used",
        "100 ms",
        "<=",
        1,
        page.load_time,
        n=10**5,
        repeats=9,
    ),
    "page-control-1e5": Benchmark(
        "one move of the slowest control of this page, with layout",
        "12 ms",
        "<=",
        1,
        page.control_time,
        n=10**5,
        repeats=9,
    ),
}
