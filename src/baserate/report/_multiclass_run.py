"""Report on several classes: how the data of a call are read and measured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from baserate._confusion import Confusions
from baserate._domains import LEVEL, MIN_GROUP, check_domain
from baserate._errors import BaserateError, NotAProbabilityError, OptionError, unknown_name
from baserate._rows import MulticlassRows
from baserate._version import __version__
from baserate.infer import (
    CurveOptions,
    IntervalOptions,
    calibration_curve,
    estimate,
    multiclass_summary,
    null_references,
)
from baserate.measure import MEASURES, multiclass, tidy_columns
from baserate.read import NOUNS, Predictions, has_class_scores
from baserate.report._curves import ThinnedCurve, thin_class_curves
from baserate.report._findings import REGISTRY
from baserate.report._findings_multiclass import MULTICLASS_CHECKS, find_all
from baserate.report._multiclass_report import BIN_COLUMNS, COLUMNS, MulticlassReport, make_results

CLASS_MEASURES = ("prevalence", "flag_rate", "sensitivity", "precision", "f1", "specificity")
"""Measures of each class against the rest, of the predicted labels."""
SCORE_MEASURES = ("auc", "average_precision")
"""Measures of each class against the rest, of its score."""
OVERALL_MEASURES = ("accuracy", "balanced_accuracy", "mcc", "kappa")
PROBABILITY_MEASURES = ("log_loss", "brier")
CALIBRATION_MEASURES = ("mean_probability", "observed_expected", "rmsce_debiased")
"""Measures of the probability of the predicted class, with intervals."""
DISTANCES = ("ece", "mce")
"""Measures of the probability of the predicted class, with null references."""
N_SIMULATIONS = 500
"""Simulations of the null reference, as many as `CalibrationOptions` has by default."""
_NOT_AVERAGED = {"prevalence", "flag_rate"}
_TWO_CLASSES = {
    "prevalence": "For deployment shares of several classes use baserate.shift.class_summary(…, prevalence={…}).",
    "costs": "For costs of several classes use baserate.decide.multiclass_summary(…, costs=CostMatrix(…)).",
    "threshold": "Of several classes the highest score decides.",
    "rule": "Of several classes the highest score decides.",
    "policy": "Of several classes the highest score decides.",
    "reference": "For groups use baserate.infer.multiclass_summary(…, group=…).",
    "min_group": "For groups use baserate.infer.multiclass_summary(…, group=…).",
    "flag_name": "Of several classes none is flagged.",
    "model_labels": "A report on several classes has one model.",
}
"""Option of reports on two classes -> what to use for several."""


class MulticlassOptions(NamedTuple):
    """Options of a report on several classes."""

    level: float = 0.95
    method: str | None = None
    seed: int = 0
    ignore: tuple[str, ...] = ()
    title: str | None = None
    outcome_name: str | None = None


class ClassSource(NamedTuple):
    """Data of several classes, and the files they were read from."""

    data: Confusions | MulticlassRows
    files: tuple[str, ...] = ()


def names_classes(predictions: Predictions) -> bool:
    """Return whether a call states several classes: a matrix of scores, columns for classes, or more than two labels.

    >>> import numpy as np
    >>> names_classes(Predictions(None, {"truth": [0, 1, 2], "score": np.eye(3)}, {}))
    True
    """
    labels, score = predictions.choices.get("labels"), predictions.columns.get("score")
    several = labels is not None and len(list(labels)) > 2
    return several or has_class_scores(predictions) or (predictions.table is not None and isinstance(score, Mapping))


def read_classes(predictions: Predictions) -> ClassSource:
    """Read data of several classes in any form."""
    if {"score", "predicted"} <= predictions.columns.keys():
        raise OptionError(
            "several classes have both scores and predicted labels; expected one of them.",
            remedy="Leave out one: the highest score is the predicted class.",
        )
    if "id" in predictions.columns:
        raise OptionError("several classes have no use for id.", remedy="Leave it out.", option="id")
    table = predictions.table
    files = (os.fspath(table),) if isinstance(table, (str, os.PathLike)) else ()
    return ClassSource(NOUNS["classes"].build(predictions), tuple(map(str, files)))


def find_classes(predictions: Predictions) -> ClassSource | None:
    """Read data that are not of two classes; None if they are not of several classes, either."""
    columns, choices = predictions.columns, predictions.choices
    one_score = (
        "predicted" not in columns
        and not isinstance(columns.get("score"), (list, tuple))
        and not hasattr(columns.get("score"), "columns")
    )
    if one_score or {"positive", "negative"} & choices.keys() or {"score", "predicted"} <= columns.keys():
        return None
    try:
        source = read_classes(predictions)
    except BaserateError:
        return None
    return source if len(source.data.labels) > 2 else None


def select_options(use: Mapping[str, Any]) -> MulticlassOptions:
    """Return those options of `evaluate` that hold for several classes; refuse the others."""
    for name, remedy in _TWO_CLASSES.items():
        default = MIN_GROUP if name == "min_group" else None
        if use[name] is not None and use[name] != default:
            what = f"{name} is an option of reports on two classes, and these data have several."
            raise OptionError(what, remedy=remedy, option=name)
    return MulticlassOptions(**{name: use[name] for name in MulticlassOptions._fields})


def evaluate_classes(source: ClassSource, options: MulticlassOptions) -> MulticlassReport:
    """Measure several classes, and return the report with its findings."""
    check_domain("level", options.level, LEVEL)
    known = sorted([*REGISTRY, *MULTICLASS_CHECKS])
    unknown = [code for code in options.ignore if code not in known]
    if unknown:
        raise unknown_name("finding", unknown[0], known)
    data = source.data
    if data.attributes:
        raise OptionError(
            "a report on several classes has no groups.",
            remedy="Leave out group, or use baserate.infer.multiclass_summary(…, group=…).",
            option="group",
        )
    summary = multiclass_summary(
        data, measures=_select_measures(data), interval=IntervalOptions(options.level, options.method, options.seed)
    )
    rows = [*_data_rows(data), *filter(None, map(_place_row, summary.rows()))]
    bins: list[dict[str, Any]] = []
    sketches: tuple[ThinnedCurve, ...] = ()
    if isinstance(data, MulticlassRows):
        sketches = thin_class_curves(data)
        if is_probable(data):
            rows += _calibration_rows(data, options.level, options.seed)
            bins = list(_bin_rows(data, options.level))
    head = {"version": __version__, **summary.data, "scored": isinstance(data, MulticlassRows)}
    numbers = make_results(rows, COLUMNS, head)
    settings = {**options._asdict(), "ignore": list(options.ignore), "files": list(source.files)}
    report = MulticlassReport(settings, head, numbers, make_results(bins, BIN_COLUMNS, head), sketches=sketches)
    return report.with_findings(find_all(report))


def _select_measures(data: Confusions | MulticlassRows) -> list[Any]:
    """Return the measures that these data have: of each class, then of all classes together."""
    scored = isinstance(data, MulticlassRows)
    of_each = [MEASURES[name] for name in (*CLASS_MEASURES, *(SCORE_MEASURES if scored else ()))]
    of_all = [multiclass.MEASURES[name] for name in (*OVERALL_MEASURES, *["hand_till"] * scored)]
    if isinstance(data, MulticlassRows) and is_probable(data):
        of_all += [multiclass.MEASURES[name] for name in PROBABILITY_MEASURES]
    if scored and len(data.labels) > 2:
        of_all.append(multiclass.find_measure("top-2 accuracy"))
    return [*of_each, *of_all]


def is_probable(rows: MulticlassRows) -> bool:
    """Return whether the scores of each row are probabilities of all classes."""
    try:
        multiclass.check_class_probabilities(rows, "")
    except NotAProbabilityError:
        return False
    return True


def _data_rows(data: Confusions | MulticlassRows) -> Iterator[dict[str, Any]]:
    """Yield numbers of rows: of all classes, and of each, true and predicted; `support` is the sum of their weights."""
    table = data.confusion() if isinstance(data, MulticlassRows) else data.pooled
    yield {"part": "data", "measure": "rows", "value": float(table.rows.total)}
    columns = {"rows": table.rows.truth, "support": table.truth, "predicted": table.predicted}
    for name, values in columns.items():
        for label, value in zip(table.labels, values.tolist(), strict=True):
            yield {"part": "data", "measure": name, "class": label, "value": float(value)}


def _place_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a row of the summary with its part of the report; None for a row that the report lacks."""
    if row["measure"] in multiclass.PAIRS or (row["average"] and row["measure"] in _NOT_AVERAGED):
        return None
    part = "averages" if row["average"] else "overall" if row["class"] is None else "classes"
    return {**row, "part": "cells" if row["measure"] == "cell" else part}


def _calibration_rows(rows: MulticlassRows, level: float, seed: int) -> Iterator[dict[str, Any]]:
    """Yield measures of the probability of the predicted class, as `baserate.infer.calibration_summary` does."""
    tally = rows.top_class()
    for name in CALIBRATION_MEASURES:
        number = estimate(name, tally, level=level, seed=seed)
        yield {"part": "calibration", "measure": name, **tidy_columns(number)}
    references = null_references(
        [MEASURES[name] for name in DISTANCES], tally, level=level, seed=seed, n_simulations=N_SIMULATIONS
    )
    for name, reference in zip(DISTANCES, references, strict=True):
        distance = {"value": reference.value, "level": level, "how": "plug-in", "why": reference.why}
        null = {"floor": reference.typical, "floor_low": reference.low, "floor_high": reference.high}
        p = {"p": reference.p, "p_is_bound": reference.p_is_bound}
        yield {"part": "calibration", "measure": name, **distance, **null, **p}


def _bin_rows(rows: MulticlassRows, level: float) -> Iterable[dict[str, Any]]:
    """Return bins of the probability of the predicted class."""
    table = calibration_curve(rows.top_class(), options=CurveOptions(level=level))
    columns = [table[name].tolist() for name in BIN_COLUMNS]
    return [dict(zip(BIN_COLUMNS, values, strict=True)) for values in zip(*columns, strict=True)]
