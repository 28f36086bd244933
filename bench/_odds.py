"""Rows about choices that treat groups alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from fairlearn.postprocessing import ThresholdOptimizer

from baserate import Policy, decide, equalize, measure, read
from bench._row import Duel
from bench._scores import AsScored

_GRID = 1e-4
"""How far from the optimum a search on a grid of a thousand may end."""
_EQUAL = 1e-12


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
        return equalize.optimum(tallies, equalize.Goal("equalized-odds"))

    def rival() -> Any:  # noqa: ANN401  (a package without types)
        chosen = ThresholdOptimizer(
            estimator=AsScored(), constraints="equalized_odds", prefit=True, predict_method="predict_proba"
        )
        return chosen.fit(score[:, None], truth, sensitive_features=group)

    def gap(mine: Policy, theirs: Any) -> float:  # noqa: ANN401
        tallies = read.tallies(columns, truth="truth", score="score", group="group")
        found = decide.tables(tallies, mine)
        rates = [[float(f(found[each,]["flag"])) for f in (measure.fpr, measure.sensitivity)] for each in (0, 1)]
        accuracy = float(measure.accuracy(found[None]["flag"]))
        chance = theirs._pmf_predict(score[:, None], sensitive_features=group)[:, 1]  # noqa: SLF001  (nothing public)
        better = accuracy - float(np.where(truth == 1, chance, 1 - chance).mean())
        alike = max(abs(one - other) for one, other in zip(*rates, strict=True))
        return alike if -_EQUAL <= better <= _GRID else np.inf

    return Duel(ours, rival, gap)
