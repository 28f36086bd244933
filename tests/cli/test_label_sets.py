"""`baserate measure` of sets of labels, and of averages over some classes; and the reader of their columns."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

import baserate
from baserate import OptionError, UnknownLabelError, UnknownNameError, infer, measure, read
from baserate.measure import multiclass
from tests.cli.shell import fits_terminal, render_pages, run
from tests.cli.test_classes import pets
from tests.schemas import read_results

LABELS = ("sea", "sky", "sand")


def make_photos() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    truth = (rng.random((60, 3)) < [0.5, 0.4, 0.2]).astype(int)
    return truth, (truth * 0.3 + rng.random((60, 3)) * 0.7).round(3)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    truth, score = make_photos()
    columns = {f"has_{label}": truth[:, at] for at, label in enumerate(LABELS)}
    columns |= {f"p_{label}": score[:, at] for at, label in reversed(list(enumerate(LABELS)))}
    columns |= {f"d_{label}": (score[:, at] >= 0.5).astype(int) for at, label in enumerate(LABELS)}
    path = tmp_path / "photos.csv"
    pd.DataFrame({**columns, "w": np.tile([1, 2], 30)}).to_csv(path, index=False)
    return path


def run_rows(*typed: object) -> dict[tuple[Any, ...], dict[str, Any]]:
    result = run("measure", *typed, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    return {(row["measure"], row["class"], row["average"]): row for row in read_results(result.stdout)["rows"]}


def test_the_reader_matches_columns_by_their_labels(photos: Path) -> None:
    truth, score = make_photos()
    sets = read.label_columns(photos, truth="has_*", predicted="d_*", score="p_*", weight="w")
    assert sets.labels == LABELS
    assert np.array_equal(sets.truth, truth == 1)
    assert sets.score is not None
    assert np.array_equal(sets.score, score)
    assert sets.intake.columns["score"] == ["p_sand", "p_sky", "p_sea"]
    assert sets.total == 90
    frame = pd.read_csv(photos)
    for source in (frame, frame.to_dict("list")):
        names = [f"has_{label}" for label in LABELS], [f"p_{label}" for label in LABELS]
        other = read.label_columns(source, truth=names[0], score=names[1])
        assert other.labels == LABELS
        assert np.array_equal(other.truth, sets.truth)
    # The table form of a measure.
    assert multiclass.ndcg(frame, truth="has_*", score="p_*") == multiclass.ndcg(
        baserate.label_sets(truth, score=score)
    )


def test_a_closer_pattern_wins_a_column() -> None:
    table = {"p_a": [0.1, 0.9], "p_b": [0.3, 0.2], "p_true_a": [0, 1], "p_true_b": [1, 1]}
    sets = read.label_columns(table, truth="p_true_*", score="p_*")
    assert sets.labels == ("a", "b")
    assert sets.truth.tolist() == [[False, True], [True, True]]
    with pytest.raises(OptionError, match="score has no columns of its own"):
        read.label_columns(table, truth="p_*", score="p_*")


def test_bad_columns_are_refused() -> None:
    table = {"y_a": [0, 1], "y_b": [1, 0], "p_a": [0.1, 0.2], "p_c": [0.4, 0.2], "z_a": [0, 2], "z_b": [1, 1]}
    table |= {"w_a": [0, 1], "w_b": [1, 1]}
    with pytest.raises(UnknownLabelError, match="columns of score have the labels 'a', 'c', those of truth 'a', 'b'"):
        read.label_columns(table, truth="y_*", score="p_*")
    with pytest.raises(OptionError, match="no columns to evaluate are named"):
        read.label_columns(table, truth="y_*")
    with pytest.raises(baserate.NotBinaryError, match="truth holds values other than 0 and 1"):
        read.label_columns(table, truth="z_*", predicted="y_*")
    with pytest.raises(UnknownNameError, match="no label 'c'"):
        read.label_columns(table, truth="y_*", predicted="w_*", labels=["c"])


def test_missing_rows_are_dropped_on_request() -> None:
    table = {"y_a": [0, 1, 1], "y_b": [1, 0, 1], "p_a": [0.1, np.nan, 0.4], "p_b": [0.4, 0.2, 0.1]}
    with pytest.raises(baserate.MissingValuesError):
        read.label_columns(table, truth="y_*", score="p_*")
    sets = read.label_columns(table, truth="y_*", score="p_*", missing="drop")
    assert (len(sets), sets.intake.dropped) == (2, 1)


def test_the_shell_has_the_numbers_of_the_library(photos: Path) -> None:
    truth, score = make_photos()
    sets = baserate.label_sets(truth, score=score, predicted=score >= 0.5, labels=LABELS)
    averages: tuple[Literal["samples", "macro", "micro"], ...] = ("samples", "macro", "micro")
    rows = run_rows(photos, "--truths", "has_", "--scores", "p_", "--average", ",".join(averages))
    for name in ("sensitivity", "precision", "f1"):
        for how in averages:
            estimate = infer.estimate(multiclass.average_over_classes(name, how), sets)
            row = rows[name, None, how]
            assert (row["value"], row["low"], row["high"]) == pytest.approx(
                (estimate.value, estimate.low, estimate.high)
            )
        assert rows[name, "sky", None]["value"] == pytest.approx(multiclass.per_class(name, sets)[1])
    assert ("auc", None, "samples") not in rows
    for name in ("exact_match", "coverage_error", "lrap", "label_ranking_loss", "ndcg"):
        assert rows[name, None, None]["value"] == pytest.approx(multiclass.MEASURES[name](sets))
        assert rows[name, None, None]["low"] < rows[name, None, None]["high"]
    assert rows["tp", "sea", None]["value"] == ((truth == 1) & (score >= 0.5))[:, 0].sum()
    decided = run_rows(photos, "--truths", "has_", "--predicted", "d_", "--measures", "jaccard")
    assert decided["jaccard", "sea", None]["value"] == pytest.approx(multiclass.per_class("jaccard", sets)[0])
    strict = run_rows(photos, "--truths", "has_", "--scores", "p_", "--threshold", "0.7", "--measures", "flag_rate")
    assert strict["flag_rate", "sea", None]["value"] == pytest.approx((score[:, 0] >= 0.7).mean())


@pytest.mark.parametrize("average", ["macro", "micro", "weighted", "samples"])
def test_averages_over_some_labels_equal_scikit_learn(photos: Path, average: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth, score = make_photos()
    predicted = (score >= 0.5).astype(int)
    some = truth[:, :2].any(axis=1) | predicted[:, :2].any(axis=1)  # 0/0 has no value here, and 0 there
    rows = some if average == "samples" else slice(None)
    expected = metrics.f1_score(truth[rows], predicted[rows], labels=[0, 1], average=average)
    options = ("--average", average, "--average-over", "sea,sky", "--measures", "f1")
    value = run_rows(photos, "--truths", "has_", "--predicted", "d_", *options)["f1", None, average]["value"]
    assert value == pytest.approx(expected)
    sets = baserate.label_sets(truth, predicted=predicted)
    assert multiclass.average_over_classes("f1", average, labels=[1, 0])(sets) == pytest.approx(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_averages_over_some_classes_equal_scikit_learn(average: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    truth, predicted = rng.integers(0, 4, (2, 200))
    expected = metrics.f1_score(truth, predicted, labels=[1, 3], average=average)
    table = baserate.confusion(truth, predicted)
    function = multiclass.average_over_classes("f1", average, labels=[1, 3])  # type: ignore[arg-type]
    assert function(table) == pytest.approx(expected)
    estimate = infer.estimate(function, table)
    assert estimate.low < expected < estimate.high
    with pytest.raises(UnknownNameError, match="no class '9'"):
        multiclass.average_over_classes("f1", average, labels=[9])(table)  # type: ignore[arg-type]


def test_the_shell_averages_over_some_classes(tmp_path: Path) -> None:
    command = (pets(tmp_path), "--truth", "is", "--predicted", "called", "--measures", "recall")
    rows = run_rows(*command, "--average", "macro,micro", "--average-over", "cat,dog")
    each = [rows["sensitivity", name, None]["value"] for name in ("cat", "dog")]
    assert rows["sensitivity", None, "macro"]["value"] == pytest.approx(np.mean(each))
    assert rows["sensitivity", None, "micro"]["how"].startswith("2 classes pooled")
    refused = run("measure", *command, "--average-over", "cow")
    assert refused.exit_code == 2
    assert "no class 'cow'" in refused.stderr


def test_undefined_combinations_are_refused(photos: Path) -> None:
    sets = ("measure", photos, "--truths", "has_")
    for typed, words in (
        ((), "sets of labels need --predicted or --scores; name their columns"),
        (("--scores", "p_", "--truth", "has_sea"), "sets of labels have no --truth"),
        (("--scores", "p_", "--prevalence", "2%"), "sets of labels have neither"),
        (("--predicted", "d_", "--threshold", "0.5"), "--predicted holds decisions already"),
        (("--scores", "p_", "--threshold", "0.5,0.6"), "decided at one threshold"),
        (("--predicted", "d_", "--measures", "ndcg"), "there are decisions alone, no scores"),
        (("--predicted", "d_", "--measures", "hand_till"), "rows have sets of labels, not one class each"),
        (("--predicted", "d_", "--average", "sample"), "no average of classes 'sample'"),
        (("--predicted", "d_", "--fp", "1"), "--fp is for two classes"),
        (("--scores", "p_", "--top-k", "2"), "write k in the name, such as --measures top_3_accuracy, or ndcg_at_3"),
        (("--scores", "p_", "--tests"), "--tests is for rows of one class each"),
        (("--scores", "p_", "--average", "none", "--average-over", "sea"), "--average none has no average"),
    ):
        result = run(*sets, *typed)
        assert result.exit_code == 2, typed
        assert words in result.stderr, typed
        assert "--truth has_sea" not in result.stderr.replace("".join(typed), ""), typed
    refused = run("measure", photos, "--truth", "has_sea", "--predicted", "d_sea", "--average", "samples")
    assert "no average of classes 'samples'" in refused.stderr
    assert run("report", photos, "--truths", "has_").exit_code == 2


def test_a_perfect_average_has_an_interval() -> None:
    truth, _ = make_photos()
    sets = baserate.label_sets(truth, predicted=truth)
    estimate = infer.estimate(multiclass.average_over_classes("recall", "macro"), sets)
    assert estimate.low < estimate.value == estimate.high == 1


def test_an_average_of_faultless_and_hopeless_labels_has_an_interval() -> None:
    truth, predicted = np.tile([1, 1, 0, 0], (12, 1)), np.tile([1, 0, 1, 0], (12, 1))
    truth[:6, 2:], predicted[:6, 2:] = [0, 1], [0, 1]
    sets = baserate.label_sets(truth, predicted=predicted)
    estimate = infer.estimate(multiclass.average_over_classes("recall", "macro"), sets)
    assert estimate.value == pytest.approx(2 / 3)
    assert 0 < estimate.low < estimate.value < estimate.high


def test_the_page_fits_the_terminal(photos: Path) -> None:
    command = ("measure", photos, "--truths", "has_", "--scores", "p_")
    assert fits_terminal(*command, widths=[60, 80, 120])
    for _, text in render_pages(*command, widths=[80, 120]):
        assert "each label" in text
        assert "NDCG" in text
    assert measure.describe(multiclass.find_measure("ndcg_at_2")).name == "ndcg_at_2"
