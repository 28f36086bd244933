"""Scenarios of the coverage audit: groups that do not differ, with and without weights."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from baserate import Rows, fairness
from bench._audit import Outcome, Rejection, Scenario

_MEASURES = ("flag_rate", "sensitivity", "precision", "accuracy", "f1")
_N_PERMUTATIONS = 999
_MIN_GROUP = 30
"""Below the default, so that the audit also covers groups that are small."""


class Setting(NamedTuple):
    """Groups of the same distribution: their sizes, and the variation of their weights."""

    sizes: tuple[int, ...]
    weights: tuple[float, ...] | None = None
    """Standard deviations of the logarithm of weights."""
    scale: tuple[float, ...] | None = None
    """Median weight of each group."""
    informative: float = 0.0
    """Increase of the logarithm of the weight for flagged rows."""
    prevalence: tuple[float, ...] | None = None


def _draw_rows(setting: Setting, rng: np.random.Generator) -> Rows:
    group = np.repeat(np.arange(len(setting.sizes)), setting.sizes)
    share = 0.4 if setting.prevalence is None else np.array(setting.prevalence)[group]
    truth = rng.random(len(group)) < share
    score = 1 / (1 + np.exp(1 - 2 * truth - 1.2 * rng.normal(size=len(group))))
    weight = None
    if setting.weights is not None:
        weight = np.exp(np.array(setting.weights)[group] * rng.normal(size=len(group)))
        weight *= np.exp(setting.informative * (score >= 0.5))
        weight *= 1.0 if setting.scale is None else np.array(setting.scale)[group]
    groups = tuple((f"group {index}",) for index in range(len(setting.sizes)))
    return Rows(truth, {"m": score}, group=group.astype(np.uint8), groups=groups, attributes=("g",), weight=weight)


def _replicate(setting: Setting, measures: tuple[str, ...], rng: np.random.Generator) -> Mapping[str, Outcome]:
    tallies = _draw_rows(setting, rng).tallies()
    outcomes: dict[str, Outcome] = {}
    gaps = fairness.group_gaps(tallies, measures=measures, n_permutations=_N_PERMUTATIONS, min_group=_MIN_GROUP)
    for row in gaps.rows():
        if row["kind"] == "max_difference" and row["measure"] in measures and row["p"] is not None:
            outcomes[f"largest gap of {row['measure']}"] = Rejection(row["p"] < 0.05)
    for name in measures:  # each alone: p-values are adjusted over all measures that are compared together
        differences = fairness.group_differences(tallies, measures=(name,), min_group=_MIN_GROUP).rows()
        p_values = [row["p_adjusted"] for row in differences if row["p_adjusted"] is not None]
        if p_values:
            outcomes[f"any difference of {name}, Holm-adjusted"] = Rejection(min(p_values) < 0.05)
    return outcomes


_FIVE = (150,) * 5
_SETTINGS = {
    "five equal groups without weights": Setting(_FIVE),
    "five equal groups, survey weights": Setting(_FIVE, (1.0,) * 5),
    "five equal groups, weights on other scales": Setting(_FIVE, (0.7,) * 5, scale=(1, 5, 0.2, 1, 3)),
    "five equal groups, informative weights": Setting(_FIVE, (0.7,) * 5, informative=1.0),
    "a large and four small groups, survey weights": Setting((600, 80, 80, 80, 80), (1.0,) * 5),
    "a small group whose weights vary most": Setting((80, 250, 250, 250, 250), (1.2, 0.3, 0.3, 0.3, 0.3)),
    "two groups, survey weights": Setting((120, 120), (1.0, 1.0)),
}
_RATES = ("sensitivity", "fpr")
_UNEQUAL_PREVALENCES = Setting((200,) * 4, (0.8,) * 4, prevalence=(0.2, 0.3, 0.5, 0.6))
SCENARIOS = (
    *(Scenario(name, partial(_replicate, each, _MEASURES), 0.5) for name, each in _SETTINGS.items()),
    Scenario(
        "equal rates at other prevalences, survey weights", partial(_replicate, _UNEQUAL_PREVALENCES, _RATES), 0.5
    ),
)
