"""Rows about groups: their table beside a rival that resamples for its intervals."""

from typing import Any

import numpy as np
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from sklearn.metrics import accuracy_score

from baserate import Results, equalize, read
from bench._row import Outcome, medians

_GROUPS = 8
_MEASURES = {
    "sensitivity": true_positive_rate,
    "fpr": false_positive_rate,
    "flag_rate": selection_rate,
    "accuracy": accuracy_score,
}
_DRAWN, _WANTED = 2, 100
"""Samples that the rival is timed with, and those that percentiles need at least."""
_TOLERANCE = 1e-9


def group_table(n: int, repeats: int) -> Outcome:
    """Four measures of eight groups with intervals, from arrays of labels; of the rival, values and 100 samples.

    It is timed with two samples and with none: each sample takes half of the difference.
    """
    few, data = _labels(max(n // 100, 200)), _labels(n)
    apart = _apart(_ours(few), _rival(few, 0))
    if not apart <= _TOLERANCE:
        raise ArithmeticError(f"ours and the rival's results are {apart:g} apart; they must agree to be compared.")
    _ours(data)
    ours, whole, none = medians([lambda: _ours(data), lambda: _rival(data, _DRAWN), lambda: _rival(data, 0)], repeats)
    rival = none + max(whole - none, 0.0) / _DRAWN * _WANTED
    note = f"n_boot={_WANTED}, extrapolated from n_boot={_DRAWN} ({whole:.1f} s) and from none ({none:.1f} s)"
    return Outcome(ours, rival, note=note)


def _labels(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.3
    says = rng.random(n) < np.where(truth, 0.7, 0.2)
    return {"truth": truth.astype(int), "says": says.astype(int), "group": rng.integers(0, _GROUPS, n)}


def _ours(data: dict[str, Any]) -> Results:
    found = read.tallies(data, truth="truth", predicted="says", group="group", positive=1)
    return equalize.group_table(found, measures=_MEASURES)


def _rival(data: dict[str, Any], samples: int) -> Any:  # noqa: ANN401  (a frame of metrics)
    drawn = {"n_boot": samples, "ci_quantiles": [0.025, 0.975], "random_state": 0} if samples else {}
    return MetricFrame(
        metrics=_MEASURES, y_true=data["truth"], y_pred=data["says"], sensitive_features=data["group"], **drawn
    )


def _apart(ours: Results, rival: Any) -> float:  # noqa: ANN401  (a frame of metrics)
    theirs: dict[Any, Any] = {group: rival.by_group.loc[group] for group in range(_GROUPS)}
    theirs[None] = rival.overall
    differences = (row["value"] - theirs[row["group"] and row["group"]["group"]][row["measure"]] for row in ours.rows())
    return float(max(map(abs, differences)))
