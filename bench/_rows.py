"""All rows, by name."""

from functools import partial

from bench import (
    _apply as apply,
    _calibrate as calibrate,
    _classes as classes,
    _decide as decide,
    _equalize as equalize,
    _intervals as intervals,
    _page as page,
    _policy as policy,
    _policy_file as policy_file,
    _reliability as reliability,
    _report as report,
    _shift as shift,
)
from bench._row import Row, duel, peak
from bench._scores import auc, everything, f1, hull, positive_scores, real_scores, tally, weighted_scores
from bench._shell import helped, measured, with_intervals
from bench._start import start

_AUC = "sklearn roc_auc_score"
_SORT = "numpy.sort of the scores"
_SCORES = "sklearn confusion_matrix, accuracy, balanced accuracy, MCC and κ"
_ARRAY = "an array of n float64"
_PANDAS = "pandas, and sklearn's AUC, AP, Brier and F1"

_positive = partial(tally, positive_scores)
_real = partial(tally, real_scores)
_weighted = partial(tally, weighted_scores)
_auc = duel(partial(auc, positive_scores))
_auc_weighted = duel(partial(auc, weighted_scores))

ROWS: dict[str, Row] = {
    "auc-1e6": Row("exact AUC of 10⁶ scores", _AUC, ">=", 15, _auc, n=10**6, repeats=25),
    "auc-1e7": Row("exact AUC of 10⁷ scores", _AUC, ">=", 15, _auc, n=10**7),
    "auc-weighted-1e7": Row("exact AUC of 10⁷ weighted scores", _AUC, ">=", 3, _auc_weighted, n=10**7),
    "everything-1e7": Row(
        "ROC, PR, F1, MCC and J at every threshold, AUC and AP, of 10⁷ scores",
        "sklearn's ROC, PR, AUC and AP",
        ">=",
        15,
        duel(everything, slow=True),
        n=10**7,
        repeats=3,
    ),
    "tally-positive-1e7": Row("tally of 10⁷ scores ≥ 0", _SORT, "<=", 4, duel(_positive), n=10**7),
    "tally-real-1e7": Row("tally of 10⁷ scores of either sign", _SORT, "<=", 6, duel(_real), n=10**7),
    "tally-weighted-1e7": Row("tally of 10⁷ weighted scores", _SORT, "<=", 13, duel(_weighted), n=10**7),
    "memory-positive-1e7": Row("memory to tally scores ≥ 0", _ARRAY, "<=", 6, peak(_positive), n=10**7, repeats=1),
    "memory-real-1e7": Row("memory to tally real scores", _ARRAY, "<=", 6, peak(_real), n=10**7, repeats=1),
    "memory-weighted-1e7": Row("memory to tally weighted scores", _ARRAY, "<=", 6, peak(_weighted), n=10**7, repeats=1),
    "hull-1e6": Row("convex hull of 10⁶ points", "monotone chain in Python", ">=", 20, duel(hull), n=10**6),
    "f1-2e4": Row(
        "F1 at all thresholds of 20 000 scores",
        "sklearn metric_at_thresholds",
        ">=",
        1000,
        duel(f1, slow=True),
        n=20_000,
        repeats=1,
    ),
    "import-name": Row("import baserate", "import numpy", "<=", 1.5, start("import baserate"), repeats=15),
    "import-tally": Row(
        "import baserate; baserate.tally",
        "import numpy",
        "<=",
        1.5,
        start("import baserate; baserate.tally"),
        repeats=15,
    ),
    "help": Row("baserate --help", "python -c 'import numpy'", "<=", 1, helped, repeats=15),
    "measure-parquet-1e7": Row(
        "baserate measure of a Parquet file of 10⁷ rows", _PANDAS, ">=", 8, measured("parquet"), n=10**7, repeats=3
    ),
    "confusion-int-1e7": Row(
        "K×K table of 10⁷ whole numbers, K = 10, and all its measures",
        _SCORES,
        ">=",
        10,
        duel(partial(classes.table, classes.whole_numbers)),
        n=10**7,
    ),
    "confusion-text-1e7": Row(
        "the same of NumPy's text",
        _SCORES,
        ">=",
        2,
        duel(partial(classes.table, classes.texts), slow=True),
        n=10**7,
        repeats=1,
    ),
    "confusion-object-1e7": Row(
        "the same of Python's strings",
        _SCORES,
        ">=",
        10,
        duel(partial(classes.table, classes.objects), slow=True),
        n=10**7,
        repeats=1,
    ),
    "hand-till-1e6": Row(
        "Hand–Till and one-vs-rest macro AUC of 10⁶ rows, K = 10",
        "sklearn roc_auc_score both ways",
        ">=",
        10,
        duel(classes.areas),
        n=10**6,
        repeats=3,
    ),
    "statistics": Row(
        "every statistic of one K×K table, K = 10",
        "pycm ConfusionMatrix",
        ">=",
        50,
        duel(lambda _: classes.statistics(1)),
        repeats=25,
    ),
    "statistics-stack": Row(
        "every statistic of a thousand K×K tables, K = 10",
        "pycm ConfusionMatrix, a thousand times",
        ">=",
        50,
        duel(classes.statistics),
        n=1000,
        repeats=3,
    ),
    "measure-csv-1e6": Row(
        "baserate measure of a CSV file of 10⁶ rows", _PANDAS, ">=", 3, measured("csv"), n=10**6, repeats=5
    ),
    "cells-1e6": Row(
        "intervals of 12 measures of a 2×2 table of 10⁶ rows, 10 000 draws each",
        "a loop of 2000 over sklearn's 12 functions",
        ">=",
        10_000,
        intervals.cells,
        n=10**6,
    ),
    "resample-auc-1e5": Row(
        "1000 resamples of the AUC of 10⁵ scores",
        "a loop of 1000 over roc_auc_score",
        ">=",
        25,
        intervals.areas,
        n=10**5,
        repeats=3,
    ),
    "delong-1e6": Row(
        "DeLong's interval of 10⁶ scores", "confidenceinterval", ">=", 10, duel(intervals.delong), n=10**6, repeats=3
    ),
    "paired-delong-1e5": Row(
        "DeLong's test of all pairs of 5 models, 10⁵ rows",
        "MLstatkit, pair by pair",
        ">=",
        5,
        duel(intervals.paired),
        n=10**5,
        repeats=3,
    ),
    "measure-intervals-1e6": Row(
        "baserate measure of 10⁶ rows in Parquet, with intervals",
        "the same with --no-interval",
        "<=",
        2,
        with_intervals,
        n=10**6,
        repeats=9,
    ),
    "calzone-5e5": Row(
        "binned, Cox, local and tested calibration of 5·10⁵ scores",
        "calzone's calculate_metrics('all')",
        ">=",
        6,
        duel(reliability.everything),
        n=5 * 10**5,
        repeats=3,
    ),
    "calzone-resampled-5e3": Row(
        "1000 resamples of binned, Cox and local calibration of 5000 scores",
        "calzone's bootstrap",
        ">=",
        10,
        partial(reliability.resampled, local=True),
        n=5000,
        repeats=3,
    ),
    "calzone-binned-5e3": Row(
        "the same without the local regression",
        "calzone's bootstrap",
        ">=",
        50,
        partial(reliability.resampled, local=False),
        n=5000,
        repeats=5,
    ),
    "ici-5e5": Row(
        "integrated calibration index of 5·10⁵ scores",
        "statsmodels lowess, same settings",
        ">=",
        5,
        duel(reliability.local_index),
        n=5 * 10**5,
        repeats=3,
    ),
    "isotonic-1e6": Row(
        "isotonic fit of 10⁶ scores", "sklearn IsotonicRegression", ">=", 5, duel(calibrate.isotonic), n=10**6
    ),
    "logistic-1e6": Row(
        "logistic fit of 10⁶ scores",
        "sklearn LogisticRegression without penalty",
        ">=",
        5,
        duel(calibrate.logistic),
        n=10**6,
    ),
    "beta-1e6": Row("beta calibration of 10⁶ scores", "betacal", ">=", 5, duel(calibrate.beta), n=10**6, repeats=3),
    **{
        f"apply-{name}-1e7": Row(
            f"10⁷ scores mapped ({name})",
            f"np.interp with {many} knots",
            "<=",
            3,
            duel(partial(apply.mapped, name)),
            n=10**7,
        )
        for name, (_, many) in apply.FORMS.items()
    },
    "apply-parquet-1e8": Row(
        "an isotonic map applied to a Parquet file of 10⁸ rows",
        "DuckDB's copy of the file",
        "<=",
        2,
        apply.filed,
        n=10**8,
        repeats=3,
    ),
    "apply-policy-file-1e8": Row(
        "a policy of 20 groups, one with a lottery, applied to a Parquet file of 10⁸ rows",
        "DuckDB's copy of the file",
        "<=",
        2,
        policy_file.filed,
        n=10**8,
        repeats=3,
    ),
    "apply-policy-1e7": Row(
        "a policy of 3 groups applied to an Arrow table of 10⁷ rows",
        "one comparison of the scores with a threshold",
        "<=",
        12,
        duel(policy.groups),
        n=10**7,
        repeats=15,
    ),
    "apply-lottery-1e6": Row(
        "a policy that draws lots for 5 % of 10⁶ rows",
        "a loop that hashes every row",
        ">=",
        15,
        duel(policy.lottery),
        n=10**6,
    ),
    "against-prevalence-1e6": Row(
        "all measures of decisions at 1000 prevalences",
        "the tally of 10⁶ scores that they are cut from",
        "<=",
        0.05,
        shift.against_prevalence,
        n=10**6,
        repeats=25,
    ),
    "mlls-quapy-1e6": Row(
        "a prevalence by maximum likelihood, with its interval, from 10⁶ posteriors",
        "QuaPy's EMQ",
        ">=",
        12,
        duel(partial(shift.mlls, rival="quapy")),
        n=10**6,
    ),
    "mlls-mlquantify-1e6": Row(
        "a prevalence by maximum likelihood, with its interval, from 10⁶ posteriors",
        "mlquantify's EMQ",
        ">=",
        12,
        duel(partial(shift.mlls, rival="mlquantify")),
        n=10**6,
    ),
    "prevalence-quapy-1e6": Row(
        "a prevalence by the default method, with its interval and tests, from 10⁶ scores",
        "QuaPy's EMQ",
        ">=",
        12,
        duel(shift.histograms),
        n=10**6,
    ),
    "label-free-validated-1e6": Row(
        "six measures of 10⁶ rows without truth, recalibrated on 2000 others, with intervals",
        "the tally of as many rows with truth",
        "<=",
        2,
        shift.recalibrated,
        n=10**6,
        repeats=15,
    ),
    "label-free-1e6": Row(
        "six measures of 10⁶ rows without truth, with intervals",
        "the tally of as many rows with truth",
        "<=",
        2,
        shift.without_labels,
        n=10**6,
        repeats=15,
    ),
    **{
        f"{name}-threshold-1e6": Row(
            f"the threshold of {what} among all, from 10⁶ rows",
            "scikit-learn's TunedThresholdClassifierCV over 100 thresholds",
            ">=",
            50,
            duel(partial(decide.threshold, name), slow=True),
            n=10**6,
            repeats=1,
        )
        for name, what in (("cost", "least cost"), ("f1", "best F1"))
    },
    "cutoffs-1e5": Row(
        "1000 resampled cut-offs of 10⁵ rows, with the optimism of the choice",
        "a loop of scikit-learn's roc_curve and argmax",
        ">=",
        25,
        decide.cutoffs,
        n=10**5,
        repeats=3,
    ),
    "decision-curve-1e6": Row(
        "a decision curve at 100 probabilities, with intervals, from 10⁶ rows",
        "dcurves",
        ">=",
        50,
        duel(decide.decision_curve),
        n=10**6,
    ),
    "equalized-odds-1e6": Row(
        "equalized odds of two groups, exactly, from 10⁶ rows",
        "fairlearn ThresholdOptimizer, on its grid of 1000",
        ">=",
        50,
        duel(equalize.equalized_odds, slow=True),
        n=10**6,
        repeats=3,
    ),
    "reject-option": Row(
        "the reject option of two groups, the best of all bands, from 6150 rows",
        "AIF360 0.6.1's RejectOptionClassification, 12.06 s of CPU as measured once",
        ">=",
        200,
        equalize.reject_option,
        n=6150,
    ),
    "group-table-1e6": Row(
        "4 measures of 8 groups, with intervals, from 10⁶ rows",
        "fairlearn's MetricFrame, n_boot=100",
        ">=",
        500,
        equalize.group_table,
        n=10**6,
        repeats=1,
    ),
    "evaluate-1e6": Row(
        "a report of 10⁶ rows: a cut-off, 20 measures with intervals, a noise floor, findings",
        "sklearn's AUC, AP, Brier score and calibration curve, without intervals",
        "<=",
        1.5,
        duel(report.evaluate),
        n=10**6,
        repeats=9,
    ),
    "page-size-1e5": Row("the page of a model on 10⁵ rows", "300 KB", "<=", 1, page.one, n=10**5),
    "page-size-groups-1e5": Row("the page of a model in three groups", "500 KB", "<=", 1, page.three, n=10**5),
    "page-write-1e5": Row("to write that page, when the report is there", "0.3 s", "<=", 1, page.written, n=10**5),
    "page-ready-1e5": Row(
        "to open it in Chromium, until all is drawn", "400 ms", "<=", 1, page.ready, n=10**5, repeats=9
    ),
    "page-move-1e5": Row(
        "to move its slowest control: time of its scripts", "16 ms", "<=", 1, page.moved, n=10**5, repeats=9
    ),
}
