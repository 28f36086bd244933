"""Tables of `baserate prevalence` and `baserate expect`: the estimate, its tests, measures, and what was read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Literal, Unpack, overload

import numpy.typing as npt

from baserate._confusion import Confusions
from baserate._formatting import count_of, format_number
from baserate._results import Results
from baserate._rows import MulticlassRows, MulticlassTarget, Target
from baserate._tally import Tallies
from baserate.infer import (
    IntervalOptions,
    multiclass_summary as multiclass_interval_summary,
    summary as interval_summary,
)
from baserate.measure import COLUMNS, Measure, multiclass, results_data, tidy_columns
from baserate.read import PredictionOptions, Scores, TableSource, accepts_target
from baserate.shift._adjusted_measures import adjusted_summary
from baserate.shift._data import SIGNIFICANCE_LEVEL, MulticlassPrevalence, Prevalence
from baserate.shift._estimators import estimate_prevalence
from baserate.shift._label_shift import CALIBRATION_CHECK, tabulate_tests
from baserate.shift._multiclass_performance import Assume
from baserate.shift._performance import estimate_performance
from baserate.shift._prior_correction import RAW_SCORES

TARGET, VALIDATION = "target", "validation"
"""Values of the column `set` of a summary: the data that a number is of."""
_TEST_COLUMNS = ("p", "p_adjusted", "freedom", "prevalence", "scores", "set")
"""Columns of a summary beside those of every measure."""


@overload
def prevalence_summary(
    estimate: Prevalence,
    target: Target,
    validation: Tallies,
    *,
    measures: Sequence[str | Measure] | Literal["usual", "all"] = ...,
    threshold: Sequence[float] | None = ...,
    bins: int | None = ...,
) -> Results: ...
@overload
def prevalence_summary(
    estimate: MulticlassPrevalence,
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    measures: Sequence[str | Measure] | Literal["usual", "all"] = ...,
) -> Results: ...
@overload
def prevalence_summary(
    estimate: Prevalence | MulticlassPrevalence,
    target: npt.ArrayLike | TableSource,
    validation: npt.ArrayLike | TableSource,
    score: Scores = ...,
    /,
    *,
    measures: Sequence[str | Measure] | Literal["usual", "all"] = ...,
    threshold: Sequence[float] | None = ...,
    bins: int | None = ...,
    **predictions: Unpack[PredictionOptions],
) -> Results: ...
@partial(accepts_target, at=1, noun="data")
def prevalence_summary(
    estimate: Prevalence | MulticlassPrevalence,
    target: Target | MulticlassTarget,
    validation: Tallies | MulticlassRows,
    *,
    measures: Sequence[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: Sequence[float] | None = None,
    bins: int | None = None,
) -> Results:
    """Tabulate an estimated prevalence, tests of label shift, and measures in validation and at the estimate.

    Parameters
    ----------
    estimate : Prevalence or MulticlassPrevalence
        Estimate from `estimate_prevalence`.
    target : Target or MulticlassTarget
        Unlabelled data that the estimate is of.
    validation : Tallies or MulticlassRows
        Labelled data that the estimate uses.
    measures : sequence of str or Measure, "usual" or "all"
        Measures to adjust to the estimate.
    threshold : sequence of float, optional
        Decision thresholds; the default is 0.5 if the scores are probabilities.
    bins : int, optional
        Number of bins of the test of label shift between two classes.

    Returns
    -------
    Results
        Rows of the estimate, of each test, and of each measure; `set` is "target" or "validation".

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import Target, read
    >>> score = np.linspace(0.05, 0.95, 200)
    >>> validation = read.tallies({"y": score > np.tile([0.3, 0.7], 100), "p": score}, truth="y", score="p")
    >>> target = Target(score**0.5)
    >>> estimate = estimate_prevalence(target, validation)
    >>> rows = prevalence_summary(estimate, target, validation, measures=["auc"]).rows()
    >>> [row["measure"] for row in rows if row["set"] == "target"]
    ['prevalence', 'auc']
    """
    if isinstance(estimate, MulticlassPrevalence):
        assert isinstance(target, MulticlassTarget)  # noqa: S101  (for the type checker, as below)
        assert isinstance(validation, MulticlassRows)  # noqa: S101
        return _summarize_classes(estimate, target, validation, measures)
    assert isinstance(target, Target)  # noqa: S101
    assert isinstance(validation, Tallies)  # noqa: S101
    level = estimate.estimate.level or 0.95
    settings: dict[str, Any] = {"measures": measures, "threshold": threshold}
    adjusted = adjusted_summary(estimate, **settings)
    unadjusted = interval_summary(
        Tallies({"score": {(): estimate.validation}}, intake=validation.intake),
        **settings,
        interval=IntervalOptions(level=level),
    )
    tests = tabulate_tests(target, validation, {} if bins is None else {"bins": bins}, estimate.checks)
    sample = {"prevalence": estimate.validation.prevalence, "scores": RAW_SCORES, "set": VALIDATION}
    rows = [
        {**dict.fromkeys(COLUMNS), "measure": "prevalence", **tidy_columns(estimate.estimate), "set": TARGET},
        *tests.rows,
        *({**row, "set": TARGET} for row in adjusted.rows()),
        *({**row, **sample} for row in unadjusted.rows()),
    ]
    notes = [*target.intake.notes, *unadjusted.data["notes"], *tests.notes, *adjusted.data["notes"]]
    data = {
        **describe_target(target),
        **{name: unadjusted.data[name] for name in ("positive", "negative", "settings") if name in unadjusted.data},
        "prevalence": estimate.value,
        **_describe_estimate(estimate, unadjusted, level),
        "doubts": [*tests.rejections, *_describe_disagreement(estimate, target, validation)],
        "notes": name_scores(notes, next(iter(validation.models))),
    }
    return Results({name: [row.get(name) for row in rows] for name in (*COLUMNS, *_TEST_COLUMNS)}, data)


def _summarize_classes(
    estimate: MulticlassPrevalence,
    target: MulticlassTarget,
    validation: MulticlassRows,
    measures: Sequence[str | Measure] | Literal["usual", "all"],
) -> Results:
    """Tabulate the estimated shares of several classes, tests, and measures."""
    level = estimate.estimates[0].level or 0.95
    adjusted = adjusted_summary(estimate, measures=measures)
    decisions = Confusions({(): validation.confusion()}, intake=validation.intake)
    unadjusted = multiclass_interval_summary(decisions, measures=measures, interval=IntervalOptions(level=level))
    tests = tabulate_tests(target, validation, {})
    columns = tuple(adjusted.columns)
    rows = [
        *(
            {**dict.fromkeys(columns), "measure": "prevalence", "class": label, **tidy_columns(each), "set": TARGET}
            for label, each in zip(estimate.labels, estimate.estimates, strict=True)
        ),
        *tests.rows,
        *({**row, "scores": RAW_SCORES, "set": TARGET} for row in adjusted.rows()),
        *({**row, "scores": RAW_SCORES, "set": VALIDATION} for row in unadjusted.rows()),
    ]
    notes = [*target.intake.notes, *unadjusted.data["notes"], *tests.notes, *adjusted.data["notes"]]
    data = {
        **describe_target(target),
        **{name: unadjusted.data[name] for name in ("classes", "truth_in")},
        "prevalences": dict(zip(map(str, estimate.labels), estimate.value.tolist(), strict=True)),
        **_describe_estimate(estimate, unadjusted, level),
        "doubts": tests.rejections,
        "notes": list(dict.fromkeys(notes)),
    }
    return Results({name: [row.get(name) for row in rows] for name in (*columns, *_TEST_COLUMNS)}, data)


def describe_target(target: Target | MulticlassTarget) -> dict[str, Any]:
    """Describe what was read of a target, for the header of results."""
    intake = target.intake
    return {
        "rows": len(target),
        "labelled": intake.labelled or 0,
        "read": intake.read,
        "refused": intake.dropped,
        "reasons": {column: dict(kinds) for column, kinds in intake.reasons.items()},
        "weighted": "weight" in intake.columns,
        "columns": dict(intake.columns),
    }


def name_scores(notes: Iterable[str], column: str) -> list[str]:
    """Put the column of scores into notes on pooled validation data, which call it score; drop duplicates.

    >>> name_scores(["score runs from 0 to 3.", "score runs from 0 to 3."], "risk")
    ['risk runs from 0 to 3.']
    """
    pattern = r"^(log_loss of )?score(?= runs| is infinite)"
    return list(dict.fromkeys(re.sub(pattern, lambda match: (match[1] or "") + column, note) for note in notes))


def _describe_estimate(
    estimate: Prevalence | MulticlassPrevalence, unadjusted: Results, level: float
) -> dict[str, Any]:
    """Return the method, the interval and the validation data, for the header of a summary."""
    own = ("rows", "read", "refused", "reasons", "prevalence", "prevalences", "weighted", "digest", "columns")
    unclipped = estimate.unclipped.tolist() if isinstance(estimate, MulticlassPrevalence) else estimate.unclipped
    return {
        "assume": "label shift",
        "method": estimate.method,
        "recalibrated": estimate.calibrator is not None,
        "unclipped": unclipped,
        "validation": {name: unadjusted.data[name] for name in own if name in unadjusted.data},
        "interval": {"level": level, "method": None, "seed": 0, "clusters": None},
    }


def _describe_disagreement(estimate: Prevalence, target: Target, validation: Tallies) -> list[str]:
    """Report the estimate of the default method where calibration is rejected and the intervals exclude each other."""
    if not any(check.name == CALIBRATION_CHECK and check.p < SIGNIFICANCE_LEVEL for check in estimate.checks):
        return []
    own = estimate.estimate
    default = estimate_prevalence(target, validation, level=own.level or 0.95).estimate
    if own.low <= default.value <= own.high and default.low <= own.value <= default.high:
        return []
    return [f"estimates disagree: binned gives {format_number(default.value, 3)}"]


def performance_summary(
    target: Target | MulticlassTarget,
    validation: Tallies | MulticlassRows | None = None,
    *,
    assume: Assume,
    level: float = 0.95,
    **options: Any,  # noqa: ANN401  (those of `estimate_performance`)
) -> Results:
    """Tabulate the expected measures of a target beside descriptions of the target and of the validation data.

    Parameters
    ----------
    target : Target or MulticlassTarget
        Scores without labels.
    validation : Tallies or MulticlassRows, optional
        Labelled data.
    assume : {"label-shift", "covariate-shift"}
        What changed between validation and target.
    level : float, default 0.95
        Confidence level of the intervals.
    **options
        Options of `estimate_performance`.

    Returns
    -------
    Results
        The rows of `estimate_performance`; its header contains what was read of both, and all notes.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import Target
    >>> target = Target(np.array([0.95, 0.8, 0.6, 0.45, 0.3, 0.2, 0.05]))
    >>> results = performance_summary(target, assume="covariate-shift", measures=["auc"])
    >>> results.data["rows"], results.data["validation"]
    (7, None)
    """
    expected = estimate_performance(target, validation, assume=assume, level=level, **options)
    observed: dict[str, Any] = {}
    if isinstance(validation, MulticlassRows):
        observed = multiclass.results_data(validation, validation.confusion(), [])
    elif validation is not None:
        observed = results_data(validation, [])
    notes = [*expected.data["notes"], *observed.pop("notes", [])]
    labels: dict[str, Any] = {}
    if isinstance(target, Target):
        labels = _describe_labels(target, validation)
        notes = name_scores(
            [*notes, *_note_unused_labels(target, assume)], *target.intake.columns.get("score", ["score"])
        )
    data = {
        **describe_target(target),
        **labels,
        **expected.data,
        "validation": observed or None,
        "interval": {"level": level, "method": None, "seed": None, "clusters": None},
        "notes": list(dict.fromkeys(notes)),
    }
    return Results(expected.columns, data)


def _describe_labels(target: Target, validation: Tallies | MulticlassRows | None) -> dict[str, Any]:
    """Return the labels of both classes; None where the data have none."""
    intake = target.intake if validation is None else validation.intake
    labelled = validation is not None or bool(target.intake.labelled)
    return {name: getattr(intake, name) if labelled else None for name in ("positive", "negative")}


def _note_unused_labels(target: Target, assume: str) -> list[str]:
    """Note that labels of the target are not used under covariate shift."""
    count = target.intake.labelled
    if not count or assume == "label shift":
        return []
    single = "row of the target has a label and was left out."
    return [count_of(count, single, "rows of the target have labels and were left out.")]
