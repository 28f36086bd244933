"""Reports on several classes: numbers of scikit-learn, forms of data, files, verdict, findings, and refused options."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

import baserate
from baserate import FileFormatError, MulticlassReport, NotBinaryError, OptionError, Report, UnknownNameError, infer
from baserate.report import MULTICLASS_CHECKS
from tests.report.class_reports import (
    ODD_CLASS_REPORTS,
    ClassData,
    class_report,
    labels_report,
    random_data,
    sklearn_data,
)
from tests.schemas import check_schema
from tests.tiers import take_in_tiers

DATASETS = ("iris", "wine", "digits")


def value_of(report: MulticlassReport, part: str, measure: str, **of: object) -> float:
    """Return the value of a number; NaN if it is undefined."""
    (row,) = report.select(part=part, measure=measure, **{"class": None, "average": None, **of})
    return float("nan") if row["value"] is None else float(row["value"])


@pytest.mark.parametrize("name", DATASETS)
def test_numbers_are_those_of_scikit_learn(name: str) -> None:
    (truth, matrix), report = sklearn_data(name), class_report(name)
    predicted, labels = sklearn_data(name).predicted, np.unique(truth)
    assert report.classes == tuple(labels)
    assert report.matrix.tolist() == metrics.confusion_matrix(truth, predicted).tolist()
    table: Any = metrics.classification_report(truth, predicted, output_dict=True)
    names = {"sensitivity": "recall", "precision": "precision", "f1": "f1-score"}
    for measure, theirs in names.items():
        for label in labels:
            ours = value_of(report, "classes", measure, **{"class": label})
            assert ours == pytest.approx(table[label][theirs], abs=1e-12)
        for average in ("macro", "weighted"):
            ours = value_of(report, "averages", measure, average=average)
            assert ours == pytest.approx(table[f"{average} avg"][theirs], abs=1e-12)
    areas = metrics.roc_auc_score(truth, matrix, multi_class="ovr", average=None)
    for label, area in zip(labels, areas, strict=True):
        assert value_of(report, "classes", "auc", **{"class": label}) == pytest.approx(area, abs=1e-12)
        assert value_of(report, "data", "support", **{"class": label}) == table[label]["support"]
    for average in ("macro", "weighted"):
        area = metrics.roc_auc_score(truth, matrix, multi_class="ovr", average=average)
        assert value_of(report, "averages", "auc", average=average) == pytest.approx(area, abs=1e-12)
    overall = {
        "accuracy": metrics.accuracy_score(truth, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, predicted),
        "mcc": metrics.matthews_corrcoef(truth, predicted),
        "kappa": metrics.cohen_kappa_score(truth, predicted),
        "hand_till": metrics.roc_auc_score(truth, matrix, multi_class="ovo"),
        "log_loss": metrics.log_loss(truth, matrix),
        "top_2_accuracy": metrics.top_k_accuracy_score(truth, matrix, k=2),
        "brier": np.mean(np.sum((matrix - (truth[:, None] == labels)) ** 2, axis=1)),
    }
    for measure, expected in overall.items():
        assert value_of(report, "overall", measure) == pytest.approx(expected, abs=1e-12), measure
    assert report.confusion.mass.tolist() == report.matrix.tolist()


def test_numbers_are_those_of_the_functions() -> None:
    report, rows = class_report("wine"), baserate.class_scores(*sklearn_data("wine"))
    summary = infer.multiclass_summary(rows, measures=["sensitivity", "auc", "accuracy", "hand_till"])
    own = ("measure", "class", "average", "value", "low", "high", "how")
    ours = [tuple(row[name] for name in own) for row in report.numbers]
    for row in summary:
        if row["measure"] not in ("cell", "pairwise_auc"):
            assert tuple(row[name] for name in own) in ours
    assert value_of(report, "overall", "accuracy") == report.numbers.accuracy.value


def test_calibration_is_that_of_the_calibration_summary() -> None:
    report, rows = class_report("iris"), baserate.class_scores(*sklearn_data("iris"))
    summary = {row["measure"]: row for row in infer.calibration_summary(rows) if row["top"]}
    for row in report.calibration:
        if row["measure"] in summary:
            names = ("value", "low", "high", "floor", "floor_low", "floor_high", "p")
            expected = summary[row["measure"]]
            assert [row[name] for name in names] == [expected[name] for name in names], row["measure"]
    curve = [row for row in infer.calibration_curves(rows) if row["top"]]
    columns = tuple(report.bins.columns)
    assert [[row[name] for name in columns] for row in report.bins] == [
        [row[each] for each in columns] for row in curve
    ]
    assert value_of(report, "calibration", "mean_probability") == pytest.approx(
        sklearn_data("iris").matrix.max(axis=1).mean(), abs=1e-12
    )


def test_all_forms_give_equal_reports(tmp_path: Path) -> None:
    (truth, matrix), expected = sklearn_data("iris"), class_report("iris")
    labels = [str(label) for label in np.unique(truth)]
    columns = {f"p_{label}": matrix[:, at] for at, label in enumerate(labels)}
    table = {"species": truth, **columns}
    path = tmp_path / "iris.csv"
    pl.DataFrame(table).write_csv(path)
    by_class = {label: f"p_{label}" for label in labels}
    for report in (
        baserate.evaluate(truth, matrix),
        baserate.evaluate(truth.tolist(), matrix.tolist()),
        baserate.evaluate(truth, pd.DataFrame(matrix, columns=labels)),
        baserate.evaluate(truth, matrix, labels=labels),
        baserate.evaluate(table, truth="species", score="p_*"),
        baserate.evaluate(pd.DataFrame(table), truth="species", score=by_class),
        baserate.evaluate(pl.DataFrame(table), truth="species", score=list(columns)),
        baserate.evaluate(path, truth="species", score="p_*"),
        baserate.evaluate(path, truth="species", score=list(columns)),
    ):
        assert isinstance(report, MulticlassReport)
        assert report.rows() == expected.rows()
        assert report.findings == expected.findings


def test_predicted_labels_give_equal_reports(tmp_path: Path) -> None:
    data, expected = sklearn_data("wine"), labels_report()
    table = {"is": data.truth, "called": data.predicted}
    path = tmp_path / "wine.csv"
    pl.DataFrame(table).write_csv(path)
    for report in (
        baserate.evaluate(data.truth, predicted=data.predicted),
        baserate.evaluate(pl.DataFrame(table), truth="is", predicted="called"),
        baserate.evaluate(path, truth="is", predicted="called"),
    ):
        assert isinstance(report, MulticlassReport)
        assert report.rows() == expected.rows()
        assert not report.has_scores
        assert "auc" not in report.per_class.measures
    assert path.name in baserate.evaluate(path, truth="is", predicted="called").text()


def test_classifier_with_features_gives_a_report() -> None:
    features = np.random.default_rng(1).normal(size=(90, 2))
    truth = np.array(["cat", "dog", "fox"])[np.arange(90) % 3]
    model = LogisticRegression().fit(features, truth)
    report = baserate.evaluate(model, features, truth)
    assert isinstance(report, MulticlassReport)
    assert report.rows() == baserate.evaluate(truth, model.predict_proba(features)).rows()


def test_two_classes_stay_binary() -> None:
    p = np.array([0.2, 0.7, 0.9, 0.4])
    both = np.column_stack([1 - p, p])
    assert isinstance(baserate.evaluate([0, 1, 1, 0], both), Report)
    assert isinstance(baserate.evaluate([0, 1, 1, 0], predicted=[0, 1, 0, 0]), Report)
    # Labels of two classes without an evident positive one are not a report on several classes.
    with pytest.raises(NotBinaryError, match="name the positive one"):
        baserate.evaluate(["a", "b", "b"], predicted=["a", "b", "a"])
    with pytest.raises(NotBinaryError, match="more than two labels"):
        baserate.evaluate(["a", "b", "c"], [0.1, 0.2, 0.3])
    three = {"is": ["a", "b", "c", "a"], "called": ["a", "b", "b", "a"]}
    named = baserate.evaluate(three, truth="is", predicted="called", positive="a", negative="b", missing="drop")
    assert isinstance(named, Report)


@pytest.mark.parametrize("kind", ODD_CLASS_REPORTS)
def test_files_and_copies_restore_every_report(kind: str, tmp_path: Path) -> None:
    report = ODD_CLASS_REPORTS[kind]()
    check_schema(json.loads(report.to_json()), "class-report")
    report.save(tmp_path / "report.json")
    again = MulticlassReport.load(tmp_path / "report.json")
    assert again.to_json() == report.to_json()
    assert again.html() == report.html()
    assert again.text(80) == report.text(80)
    copy = pickle.loads(pickle.dumps(report))  # noqa: S301
    assert copy.to_json() == report.to_json()
    assert (again.classes, again.findings) == (copy.classes, copy.findings)


@pytest.mark.parametrize("kind", ODD_CLASS_REPORTS)
def test_text_fits_the_terminal_and_states_the_verdict_first(kind: str) -> None:
    report = ODD_CLASS_REPORTS[kind]()
    text = report.text(80)
    assert max(map(len, text.splitlines())) <= 80
    start = " ".join(text.split("\n\n")[1].split())
    assert start.startswith(f"Verdict {' '.join(report.verdict.accuracy.split())}"[:200])
    assert "nan" not in text.lower().replace("finance", "")
    assert "<script>" not in report._repr_html_().replace("&lt;script&gt;", "")
    assert report.markdown()


def test_save_writes_every_format(tmp_path: Path) -> None:
    report = class_report("iris")
    for ending, start in {
        "html": "<!doctype html>",
        "csv": "part,measure,class",
        "md": "150 rows",
        "txt": "150 rows",
    }.items():
        report.save(tmp_path / f"report.{ending}")
        assert (tmp_path / f"report.{ending}").read_text(encoding="utf-8").startswith(start)
    with pytest.raises(OptionError, match="unknown file type"):
        report.save(tmp_path / "report.xyz")
    with pytest.raises(FileFormatError, match="this is a multiclass report, not a report"):
        Report.from_json(report.to_json())
    with pytest.raises(FileFormatError, match="not a valid report"):
        MulticlassReport.from_json(report.to_json().replace('"options"', '"choices"'))


def test_verdict_names_the_worst_class_and_its_confusion() -> None:
    truth = ["cat"] * 50 + ["dog"] * 30 + ["fox"] * 20
    predicted = ["cat"] * 50 + ["dog"] * 27 + ["cat"] * 3 + ["fox"] * 8 + ["dog"] * 9 + ["cat"] * 3
    verdict = baserate.evaluate(baserate.confusion(truth, predicted)).verdict
    assert verdict.accuracy == (
        "85.0% (76.7 to 90.7) of 100 rows are classified correctly; always predicting the largest class (cat) would "
        "give 50.0%."
    )
    assert (
        verdict.worst
        == "Class with the lowest recall: fox, 40.0% (19.1 to 63.9); most often mistaken for dog (9 of 20 rows)."
    )
    assert verdict.calibration == ""
    assert verdict.measures[0] == ("Accuracy", "85%")
    assert [warning.code for warning in verdict.warnings] == ["BR102"]


def test_verdict_says_whether_probabilities_are_too_high() -> None:
    matrix = np.tile([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]], (60, 1))
    right = matrix.argmax(axis=1)
    wrong = np.where(np.arange(180) % 10 < 4, (right + 1) % 3, right)
    assert "are too high: 90.0% on average, accuracy 60.0%" in evaluate_rows(wrong, matrix).verdict.calibration
    assert "are too low: 90.0% on average, accuracy 100%" in evaluate_rows(right, matrix).verdict.calibration
    some = np.where(np.arange(180) % 10 < 1, (right + 1) % 3, right)
    assert "are consistent with the accuracy" in evaluate_rows(some, matrix).verdict.calibration


def evaluate_rows(truth: Any, matrix: Any, **options: Any) -> MulticlassReport:  # noqa: ANN401
    """Evaluate class scores."""
    return baserate.evaluate(baserate.class_scores(truth, matrix), **options)


FIRES: dict[str, tuple[MulticlassReport, str]] = {
    "BR101": (
        baserate.evaluate(baserate.confusion(["a", "b", "c", "d"] * 40, ["a", "b", "b", "a"] * 40)),
        "Never predicted: c and d, with 80 rows in total.",
    ),
    "BR102": (
        baserate.evaluate(baserate.confusion(["a", "b"] * 40 + ["c"] * 29, ["a", "b"] * 40 + ["c"] * 29)),
        "1 of 3 classes has fewer than 30 rows; the smallest is c, with 29 rows.",
    ),
    "BR103": (
        baserate.evaluate(baserate.confusion(["a"] * 60 + ["b", "c"] * 30, ["a"] * 110 + ["b", "c"] * 5)),
        "Accuracy is 58.3% (49.4 to 66.8), not clearly above 50.0%, the share of the largest class (a).",
    ),
    "BR104": (
        evaluate_rows([0, 1, 2, 0, 1] * 40, [[0.9, 0.1, 0], [0.1, 0.9, 0], *[[0, 0.1, 0.9]] * 2, [0, 1, 0]] * 40),
        "The predicted class has a probability of 92.0% on average, but 80.0% of the rows are classified correctly.",
    ),
}
NEAR_MISSES: dict[str, MulticlassReport] = {
    "BR101": baserate.evaluate(baserate.confusion(["a", "b", "c"] * 40, ["a", "b", "b"] * 39 + ["a", "b", "c"])),
    "BR102": baserate.evaluate(baserate.confusion(["a", "b", "c"] * 30, ["a", "b", "c"] * 30)),
    "BR103": baserate.evaluate(baserate.confusion(["a"] * 60 + ["b", "c"] * 30, ["a"] * 60 + ["b", "a"] * 30)),
    "BR104": class_report("iris"),
}


def test_every_finding_has_cases() -> None:
    assert [*MULTICLASS_CHECKS] == [*FIRES] == [*NEAR_MISSES]


@pytest.mark.parametrize("code", FIRES)
def test_findings_are_reported_and_can_be_ignored(code: str) -> None:
    report, sentence = FIRES[code]
    (finding,) = (each for each in report.findings if each.code == code)
    check = MULTICLASS_CHECKS[code]
    assert (finding.sentence, finding.title, finding.severity) == (sentence, check.title, check.severity)
    assert f"{code} {finding.headline}" in report.text(100)
    assert finding.headline in [warning.text for warning in report.verdict.warnings]
    assert any(letter.isdigit() for letter in finding.headline)
    assert code not in [each.code for each in NEAR_MISSES[code].findings]
    again = baserate.evaluate(report.confusion, ignore=[code])
    assert code not in [each.code for each in again.findings]


def test_command_of_a_finding_names_files_and_columns(tmp_path: Path) -> None:
    data = random_data(3, 300, labels=("a", "b", "it's c"))
    sure = np.eye(3)[data.matrix.argmax(axis=1)] * 0.97 + 0.01
    path = tmp_path / "data.csv"
    pl.DataFrame({"is": data.truth, **{f"p{at}": sure[:, at] for at in range(3)}}).write_csv(path)
    scores = {label: f"p{at}" for at, label in enumerate(("a", "b", "it's c"))}
    report = baserate.evaluate(path, truth="is", score=scores)
    (finding,) = (each for each in report.findings if each.code == "BR104")
    assert finding.command is not None
    assert finding.command.text == (
        f"baserate calibrate {path} --truth is --scores 'a=p0,b=p1,it'\"'\"'s c=p2' -o calibrator.json"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prevalence": 0.1}, r"prevalence is an option of reports on two classes.*baserate\.shift\.class_summary"),
        ({"fp": 1, "fn": 5}, r"costs is an option of reports on two classes.*baserate\.decide\.multiclass_summary"),
        ({"threshold": 0.5}, "the highest score decides"),
        ({"rule": "youden"}, "the highest score decides"),
        ({"min_group": 10}, r"baserate\.infer\.multiclass_summary"),
        ({"flag_name": "flagged"}, "none is flagged"),
        ({"model_labels": {"a": "b"}}, "one model"),
        ({"level": 2}, "expected a confidence level"),
        ({"method": "nonsense"}, "makes no intervals"),
        ({"group": ["a"] * 150}, "a matrix of scores has no groups"),
        ({"predicted": ["a"] * 150}, "both scores and predicted labels"),
        ({"id": np.arange(150)}, "no use for id"),
    ],
)
def test_options_of_two_classes_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        baserate.evaluate(*sklearn_data("iris"), **options)


def test_groups_and_unknown_findings_are_refused() -> None:
    data = sklearn_data("iris")
    table = {"is": data.truth, "called": data.predicted, "site": ["n", "s"] * 75}
    with pytest.raises(OptionError, match=r"no groups.*multiclass_summary\(…, group=…\)"):
        baserate.evaluate(table, truth="is", predicted="called", group="site")
    with pytest.raises(UnknownNameError, match="BR999"):
        baserate.evaluate(data.truth, predicted=data.predicted, ignore=["BR999"])


def test_options_of_the_report_are_used() -> None:
    wide = evaluate_rows(*sklearn_data("iris"), level="80%", seed=3, method="wilson", title="Iris", ignore=["BR102"])
    assert wide.options["level"] == 0.8
    accuracy = wide.numbers.accuracy
    expected = infer.estimate(
        "accuracy", baserate.confusion(*_labels(sklearn_data("iris"))), level=0.8, method="wilson"
    )
    assert (accuracy.low, accuracy.high, accuracy.how) == (expected.low, expected.high, "Wilson")
    assert "80% interval" in wide.text(80)


def _labels(data: ClassData) -> tuple[Any, Any]:
    return data.truth, data.predicted


def test_counts_repeat_rows() -> None:
    data = sklearn_data("iris")
    count = np.arange(150) % 3
    repeated = evaluate_rows(np.repeat(data.truth, count), np.repeat(data.matrix, count, axis=0))
    counted = ODD_CLASS_REPORTS["counts"]()
    assert counted.matrix.tolist() == repeated.matrix.tolist()
    for ours, theirs in zip(counted.rows(), repeated.rows(), strict=True):
        assert (ours["measure"], ours["class"]) == (theirs["measure"], theirs["class"])
        assert ours["value"] == pytest.approx(theirs["value"], abs=1e-12)


@pytest.mark.parametrize("kind", take_in_tiers(["one row", "one row, wrong", "one class"], 3))
def test_undefined_numbers_have_reasons(kind: str) -> None:
    report = ODD_CLASS_REPORTS[kind]()
    undefined = [row for row in report.rows() if row["value"] is None]
    assert undefined
    assert all(row["why"] for row in undefined)
