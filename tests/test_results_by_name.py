"""Results by the names of measures, as tables for people, and as frames; views of a report by name."""

import re
from pathlib import Path
from rlcompleter import Completer
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import baserate
from baserate import (
    Estimate,
    NotInstalledError,
    OptionError,
    Results,
    UnknownNameError,
    _results,
    decide,
    fairness,
    infer,
    measure,
    shift,
)
from tests.cli.shell import run

RNG = np.random.default_rng(5)
TRUTH = RNG.random(200) < 0.4
RISK = 1 / (1 + np.exp(0.4 - 1.5 * TRUTH - RNG.normal(size=200)))
GROUP = np.where(RNG.random(200) < 0.5, "a", "b")
CLASSES = np.array(["cat", "dog", "fox"])[np.arange(60) % 3]
SCORES = RNG.dirichlet([1, 1, 1], 60)
SUMMARY = infer.summary(TRUTH, RISK, threshold=0.5)
BY_GROUP = infer.summary(TRUTH, RISK, threshold=0.5, group=GROUP)
REPORT = baserate.evaluate(TRUTH, RISK, prevalence=0.05)
BOTH = baserate.evaluate(TRUTH, {"p": RISK, "q": RISK**2})
TYPED = Results(
    {
        "measure": ["tp", "recall_x", "auc"],
        "group": [None, {"site": "north"}, {"site": "south"}],
        "level": [None, 0.95, 0.95],
        "threshold": [0.5, 0.5, None],
        "value": [1200.0, 0.8532, None],
        "low": [None, 0.8411, None],
        "high": [None, 0.8654, None],
        "how": [None, "Wilson", None],
        "why": [None, None, "no positives"],
        "small": [False, False, False],
        "p": [0.00001, None, 0.04],
    }
)


def test_one_row_of_a_measure_is_an_estimate() -> None:
    auc = infer.estimate("auc", TRUTH, RISK)
    for name in ("auc", "AUC", "roc_auc", "ROC AUC", "roc_auc_score", "c-statistic"):
        assert SUMMARY[name] == auc
    assert SUMMARY.auc == SUMMARY.roc_auc == auc
    assert SUMMARY.ppv == SUMMARY["positive predictive value"] == SUMMARY.precision
    assert isinstance(SUMMARY.tp, Estimate)
    assert float(SUMMARY.tp) == float((TRUTH & (RISK >= 0.5)).sum())


def first_words(results: Results) -> list[str]:
    """Return the first word of each line of a table."""
    return [line.split()[0] for line in str(results).splitlines() if line.strip()]


def test_tables_show_the_names_that_were_typed() -> None:
    results = infer.summary(TRUTH, RISK, measures=["ppv", "roc_auc", "f1", "true  positive rate"], threshold=0.5)
    assert list(results.columns["measure"][4:]) == ["precision", "f1", "sensitivity", "auc"]
    assert results.data["names"] == {"precision": "ppv", "auc": "roc_auc", "sensitivity": "true positive rate"}
    assert {"ppv", "roc_auc", "f1", "true"} <= {*first_words(results)}
    assert not {"precision", "auc", "sensitivity"} & {*first_words(results)}
    assert "roc_auc" in results.text(explain=True).splitlines()[-1]  # of the methods of intervals
    assert results["ppv"] == results["precision"] == SUMMARY.ppv


@pytest.mark.parametrize(
    "results",
    [
        infer.summary(TRUTH, RISK),
        infer.summary(TRUTH, RISK, measures="all", threshold=0.5),
        infer.summary(TRUTH, RISK, measures=["precision", measure.auc], threshold=0.5),
        baserate.compare(TRUTH, {"p": RISK, "q": RISK**2}, measures="auc"),
        decide.check(TRUTH, RISK, "precision >= 0.1", threshold=0.5),
    ],
    ids=["usual", "all", "own names", "compare", "check"],
)
def test_own_names_are_not_stored_twice(results: Results) -> None:
    assert "names" not in results.data


@pytest.mark.parametrize(
    ("results", "names"),
    [
        (measure.summary(TRUTH, RISK, measures=iter(["ppv"]), threshold=0.5), {"precision": "ppv"}),
        (shift.summary(TRUTH, RISK, prevalence=0.05, measures=iter(["ppv"])), {"precision": "ppv"}),
        (baserate.compare(TRUTH, {"p": RISK, "q": RISK**2}, measures="roc_auc"), {"auc": "roc_auc"}),
        (fairness.group_table(TRUTH, RISK, group=GROUP, measures=iter(["recall"])), {"sensitivity": "recall"}),
        (
            decide.check(TRUTH, RISK, "ppv >= 10%, TPR >= 0.2", threshold=0.5),
            {"precision": "ppv", "sensitivity": "TPR"},
        ),
        (infer.multiclass_summary(CLASSES, SCORES, measures=iter(["ppv"])), {"precision": "ppv"}),
        (shift.class_summary(CLASSES, SCORES, prevalence=[0.5, 0.3, 0.2], measures=["ppv"]), {"precision": "ppv"}),
    ],
    ids=["measure", "shift", "compare", "groups", "check", "classes", "shift of classes"],
)
def test_all_tables_of_measures_have_typed_names(results: Results, names: dict[str, str]) -> None:
    assert results.data["names"] == names
    assert names.keys() <= {*results.columns["measure"]}
    shown = str(results)
    assert all(typed in shown for typed in names.values())
    assert not any(re.search(rf"^ *{name}\b", shown, re.MULTILINE) for name in names)


def test_several_rows_of_a_measure_are_results() -> None:
    some = BY_GROUP["roc_auc"]
    assert isinstance(some, Results)
    assert some.rows() == [row for row in BY_GROUP.rows() if row["measure"] == "auc"]
    assert len(some) == 3
    assert some.data == BY_GROUP.data


def test_undefined_numbers_keep_their_reason() -> None:
    undefined = measure.summary([1, 1], [0.2, 0.6], positive=1, negative=0)["specificity"]
    assert str(undefined) == "undefined (there are no negatives)"


def test_rows_slices_and_columns() -> None:
    rows = SUMMARY.rows()
    assert list(SUMMARY) == rows
    assert SUMMARY[0] == rows[0]
    assert SUMMARY[-1] == rows[-1]
    assert SUMMARY[2:5].rows() == rows[2:5]
    assert list(SUMMARY["value"]) == list(SUMMARY.columns["value"])
    with pytest.raises(IndexError):
        SUMMARY[len(rows)]
    curve = measure.curves(baserate.read.tallies({"y": TRUTH, "p": RISK}, truth="y", score="p"), "roc")
    assert curve["fpr"] is curve.columns["fpr"]
    assert isinstance(curve[:3].columns["fpr"], np.ndarray)
    assert curve[:3].rows() == curve.rows()[:3]


def test_membership_is_by_name_or_row() -> None:
    assert "ppv" in SUMMARY
    assert "value" in SUMMARY
    assert "lift_index" not in SUMMARY
    assert TYPED[1] in TYPED
    assert {"measure": "auc"} not in TYPED


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"no measure or column 'pvv'\. Did you mean 'ppv'"):
        SUMMARY["pvv"]
    with pytest.raises(AttributeError, match=r"no measure or column 'to_panda'\. Did you mean 'to_pandas'"):
        _ = SUMMARY.to_panda
    with pytest.raises(UnknownNameError, match=r"no column 'valu'\. Did you mean 'value'\? Columns are: value"):
        Results({"value": [1.0]})["valu"]


def test_completion_lists_measures_and_methods() -> None:
    names = dir(SUMMARY)
    assert {"auc", "precision", "brier", "to_pandas", "rows", "measures"} <= {*names}
    assert all(getattr(SUMMARY, name) is not None for name in names if not name.startswith("_"))
    assert {"auc", "precision", "tp", "counts"} <= {*dir(REPORT.here)}
    assert all(getattr(REPORT.here, name) is not None for name in dir(REPORT.here))


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        *[("summary.au", "summary.auc"), ("summary.to_pol", "summary.to_polars()"), ("view.prec", "view.precision")],
        *[("read.talli", "read.tallies("), ("baserate.choose", "baserate.choose_threshold(")],
    ],
)
def test_tab_completes_names(typed: str, name: str) -> None:
    space = {"summary": SUMMARY, "view": REPORT.here, "baserate": baserate, "read": baserate.read}
    assert Completer(space).attr_matches(typed) == [name]


def test_text_is_a_table_for_people() -> None:
    lines = TYPED.text(80).splitlines()
    assert lines == [
        "threshold 0.5 · 3 rows of results",
        "",
        "measure   group.site           value (95% CI)         p",
        "tp        everybody   1,200                    < 0.0001",
        "recall_x  north           0.85 (0.84 to 0.87)",
        "auc       south           –¹                     0.040",
        "",
        "¹ no positives",
    ]
    assert str(TYPED) == TYPED.text().rstrip("\n")
    assert repr(TYPED).startswith("Results(3 rows of measure, group,")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("results", [SUMMARY, BY_GROUP, TYPED], ids=["one", "groups", "typed"])
def test_lines_fit_the_width_and_contain_every_number(results: Results, width: int) -> None:
    text = results.text(width, max_rows=None)
    assert max(map(len, text.splitlines())) <= max(width, 52)  # the labels and one number stay together
    for row in results:
        if row["low"] is not None:
            assert f"{_results.estimate_of(row)}".replace(" (", " (") in text


def test_long_results_are_shortened() -> None:
    text = BY_GROUP.text(120, max_rows=5)
    assert "52 more rows: text(max_rows=None) shows all" in text
    assert "recall" not in text
    assert len(BY_GROUP) == 57
    everything = BY_GROUP.text(120, max_rows=None)
    assert "more rows" not in everything
    table = everything.split("\n\n")[1].splitlines()
    assert len(table) == len(BY_GROUP) + 1
    with pytest.raises(OptionError, match="max_rows is 0"):
        BY_GROUP.text(max_rows=0)


def test_empty_results_have_a_text() -> None:
    assert str(Results({"value": []})) == "0 rows of results"


def test_frames_of_each_library(monkeypatch: pytest.MonkeyPatch) -> None:
    frames: dict[type, Any] = {
        pd.DataFrame: SUMMARY.to_pandas(),
        pl.DataFrame: SUMMARY.to_polars(),
        pa.Table: SUMMARY.to_arrow(),
    }
    for kind, frame in frames.items():
        assert [*map(str, frame["measure"])] == [*SUMMARY.columns["measure"]]
        assert isinstance(frame, kind)
    monkeypatch.setattr(_results, "find_spec", lambda _: None)
    for convert, name in ((SUMMARY.to_pandas, "pandas"), (SUMMARY.to_polars, "polars"), (SUMMARY.to_arrow, "pyarrow")):
        with pytest.raises(NotInstalledError, match=f"run: pip install {name}"):
            convert()


@pytest.mark.parametrize(
    ("name", "own"),
    [
        *[("ppv", "precision"), ("recall", "sensitivity"), ("tpr", "sensitivity"), ("tnr", "specificity")],
        *[("roc_auc", "auc"), ("roc_auc_score", "auc"), ("brier_score_loss", "brier"), ("aps", "average_precision")],
    ],
)
def test_views_take_any_name_of_a_measure(name: str, own: str) -> None:
    assert getattr(REPORT.here, name) == getattr(REPORT.here, own) == REPORT.here[name]
    assert name in REPORT.there
    assert getattr(REPORT.there, name) == getattr(REPORT.there, own)


def test_views_suggest_near_names() -> None:
    with pytest.raises(AttributeError, match=r"no number 'senstivity'\. Did you mean 'sensitivity'"):
        _ = REPORT.here.senstivity
    with pytest.raises(UnknownNameError, match=r"no number 'pvv'\. Did you mean 'ppv'"):
        REPORT.there["pvv"]


def test_views_show_their_numbers() -> None:
    there, precision = REPORT.there, REPORT.there.precision
    assert repr(there).startswith("View(score in deployment, prevalence 0.05000: sensitivity 0.")
    assert f"precision {precision}" in repr(there)
    text = str(there)
    assert text.startswith("score in deployment, prevalence 0.05000\n")
    assert re.search(rf"^precision +{re.escape(str(precision))}", text, re.MULTILINE)
    names = {line.split()[0] for line in text.split("\n\n")[1].splitlines()[1:]}
    assert names == {*dir(there)} - {"counts", "text", "title"}


def test_views_of_several_models_say_which_to_select() -> None:
    assert repr(BOTH.here) == "View(p, q in the sample)"
    with pytest.raises(OptionError, match=r"Select one with report\.of\('p'\)"):
        _ = BOTH.here.auc


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_printed_report_is_that_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": TRUTH.astype(int), "p": RISK}).to_csv("people.csv", index=False)
    options = ("--prevalence", 0.05, "--fp", 1, "--fn", 5)
    command = ("report", "people.csv", "--truth", "y", "--score", "p", *options)
    typed, explained = (run(*command, *more, env={"COLUMNS": str(width)}) for more in ((), ("--explain",)))
    report = baserate.evaluate("people.csv", truth="y", score="p", prevalence=0.05, fp=1, fn=5)
    assert report.text(width, explain=True) == explained.stdout
    # Both name their own way to the definitions in the last words.
    python, shell = (text.split() for text in (report.text(width), typed.stdout))
    assert python[:-1] == shell[:-2]
    assert (python[-1], shell[-2:]) == ("text(explain=True).", ["add", "--explain."])
    monkeypatch.setenv("COLUMNS", str(width))
    assert f"{report}\n" == report.text(width)
    report.save("people.txt")
    assert Path("people.txt").read_text(encoding="utf-8") == report.text(100)
