"""Rows about groups: seeing them side by side, and choices that treat them alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.metrics import accuracy_score

from baserate import Policy, Results, decide, equalize, measure, read
from bench._row import Duel, Outcome, medians
from bench._scores import AsScored

_GRID = 1e-4
"""How far from the optimum a search on a grid of a thousand may end."""
_EQUAL = 1e-12
_AIF360 = 12.06
"""Seconds of CPU that AIF360 0.6.1 took for the rows of the reject option, once; for those of COMPAS 14.28."""
_GOAL = equalize.Goal("equal-opportunity", within=0.05)
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


def grouped(n: int) -> dict[str, npt.NDArray[Any]]:
    """Two groups with different prevalences, whose scores tell the classes apart unequally well."""
    draw = np.random.default_rng(11)
    group = draw.integers(0, 2, n)
    truth = (draw.random(n) < np.where(group == 0, 0.3, 0.45)).astype(np.int64)
    score = 1 / (1 + np.exp(-(draw.standard_normal(n) + truth * np.where(group == 0, 1.0, 1.4) - 0.7)))
    return {"truth": truth, "score": score, "group": group}


def equalized_odds(n: int) -> Duel:
    """From arrays to what is done with each group; theirs searches a grid, ours is exact, so it must not be worse."""
    columns = grouped(n)
    truth, score, group = columns.values()

    def ours() -> Policy:
        tallies = read.tallies(columns, truth="truth", score="score", group="group")
        return equalize.optimal_policy(tallies, equalize.Goal("equalized-odds"))

    def rival() -> Any:  # noqa: ANN401  (a package without types)
        chosen = ThresholdOptimizer(
            estimator=AsScored(), constraints="equalized_odds", prefit=True, predict_method="predict_proba"
        )
        return chosen.fit(score[:, None], truth, sensitive_features=group)

    def gap(mine: Policy, theirs: Any) -> float:  # noqa: ANN401
        tallies = read.tallies(columns, truth="truth", score="score", group="group")
        found = decide.decision_tables(tallies, mine)
        rates = [[float(f(found[each,]["flag"])) for f in (measure.fpr, measure.sensitivity)] for each in (0, 1)]
        accuracy = float(measure.accuracy(found[None]["flag"]))
        chance = theirs._pmf_predict(score[:, None], sensitive_features=group)[:, 1]  # noqa: SLF001  (nothing public)
        better = accuracy - float(np.where(truth == 1, chance, 1 - chance).mean())
        alike = max(abs(one - other) for one, other in zip(*rates, strict=True))
        return alike if -_EQUAL <= better <= _GRID else np.inf

    return Duel(ours, rival, gap)


def people(n: int) -> dict[str, npt.NDArray[Any]]:
    """Two groups as in COMPAS, a risk of three digits that one of them has more of, and who came back."""
    draw = np.random.default_rng(2016)
    one = draw.random(n) < 0.6
    risk = np.round(draw.beta(np.where(one, 2.2, 1.6), 2.2, n), 3)
    return {"back": draw.random(n) < 0.2 + 0.5 * risk, "risk": risk, "race": np.where(one, "one", "other")}


def reject_option(n: int, repeats: int) -> Outcome:
    """Choose the band by balanced accuracy, from rows: ours of all, the rival's of 100 thresholds × 50 margins."""
    columns = people(n)

    def ours() -> object:
        groups = read.tallies(columns, truth="back", score="risk", group="race")
        return equalize.reject_option(groups, _GOAL, favor="one", favorable="pass", objective="balanced_accuracy")

    ours()
    (seconds,) = medians([ours], repeats)
    return Outcome(seconds, _AIF360, note="the rival was timed once, by itself, on these rows")


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
