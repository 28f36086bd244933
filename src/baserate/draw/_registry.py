"""The registry of figures: one entry per figure, from which every list of figures is derived.

To add a figure, write its function in the module of its subject and one entry in `_ENTRIES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Literal

from baserate._errors import nearest, unknown_name
from baserate.draw import _calibration, _decision_curves, _groups, _population, _rank_curves, _thresholds
from baserate.draw._figure import Drawing


@dataclass(frozen=True, slots=True)
class FigureType:
    """An entry of the registry: a figure's function, and what it shows."""

    name: str
    """Name on the command line and of its page in the gallery; the function has underscores for hyphens."""
    function: Callable[..., Drawing]
    summary: str
    """Imperative sentence in standard words, at most 60 characters."""
    aliases: tuple[str, ...] = ()
    """Other names in the literature and in other software."""
    models: Literal["one", "several", "none"] = "several"
    """How many models it shows; "none" is of a population in closed form."""
    groups: Literal["separate", "pooled", "required", "none"] = "separate"
    """Whether groups are series of their own, pooled, required, or not part of its data."""
    takes_labels: bool = False
    """Whether it shows classifiers without scores (predicted labels, confusion matrices) as points."""
    needs_probabilities: bool = False
    """Whether the scores must be probabilities."""
    at_deployment: bool = False
    """Whether it can show the deployment prevalence rather than that of the sample."""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the function's options, without the data and the axes."""
        _, *names = signature(self.function).parameters
        return tuple(name for name in names if name != "ax")


_ENTRIES = (
    FigureType(
        "roc",
        _rank_curves.roc,
        "Draw the ROC curve.",
        aliases=("roc-curve", "receiver-operating-characteristic"),
        takes_labels=True,
        at_deployment=True,
    ),
    FigureType(
        "pr",
        _rank_curves.pr,
        "Draw the precision–recall curve.",
        aliases=("precision-recall", "precision-recall-curve", "pr-curve", "prc"),
        takes_labels=True,
        at_deployment=True,
    ),
    FigureType(
        "scores",
        _thresholds.scores,
        "Draw the score distributions of both classes.",
        aliases=("score-distributions", "histogram"),
        models="one",
        groups="pooled",
    ),
    FigureType(
        "thresholds",
        _thresholds.thresholds,
        "Draw measures against the threshold.",
        aliases=("threshold-curve", "discrimination-threshold"),
        models="one",
        groups="pooled",
        at_deployment=True,
    ),
    FigureType(
        "gain",
        _rank_curves.gain,
        "Draw the cumulative gain curve.",
        aliases=("gains", "cumulative-gain", "cap"),
        takes_labels=True,
    ),
    FigureType("lift", _rank_curves.lift, "Draw the lift curve.", aliases=("lift-curve",), takes_labels=True),
    FigureType(
        "reliability",
        _calibration.reliability,
        "Draw a reliability diagram (calibration curve).",
        aliases=("calibration", "calibration-curve", "calibration-plot", "reliability-diagram"),
        needs_probabilities=True,
    ),
    FigureType(
        "likelihood-ratio",
        _calibration.likelihood_ratio,
        "Draw the likelihood ratios of the probabilities.",
        aliases=("likelihood-ratios", "lr"),
        needs_probabilities=True,
    ),
    FigureType(
        "decision-curve",
        _decision_curves.decision_curve,
        "Draw decision curves (net benefit).",
        aliases=("decision-curves", "dca", "net-benefit"),
        needs_probabilities=True,
        at_deployment=True,
    ),
    FigureType(
        "cost-curve",
        _decision_curves.cost_curve,
        "Draw cost curves.",
        aliases=("cost-curves", "brier-curve"),
        at_deployment=True,
    ),
    FigureType(
        "prevalence",
        _thresholds.prevalence,
        "Draw PPV and NPV against the prevalence.",
        aliases=("predictive-values", "ppv-npv"),
        takes_labels=True,
        at_deployment=True,
    ),
    FigureType(
        "groups",
        _groups.groups,
        "Draw measures by group, with intervals.",
        aliases=("fairness", "subgroups", "forest"),
        groups="required",
        takes_labels=True,
    ),
    FigureType(
        "population",
        _population.population,
        "Draw a theoretical population, with a sample of it.",
        models="none",
        groups="none",
    ),
)

FIGURES: dict[str, FigureType] = {entry.name: entry for entry in _ENTRIES}
"""Entry of every figure by its name."""
_ALIASES = {alias: entry.name for entry in _ENTRIES for alias in entry.aliases}


def find_figure(name: str) -> FigureType:
    """Find a figure by its name or a name in other software; capitals, spaces and underscores do not matter.

    >>> find_figure("Precision Recall").name, find_figure("dca").name
    ('pr', 'decision-curve')
    """
    plain = "-".join(name.lower().replace("_", " ").replace("-", " ").split())
    plain = _ALIASES.get(plain, plain)
    if plain in FIGURES:
        return FIGURES[plain]
    near = [_ALIASES.get(each, each) for each in nearest(plain, [*FIGURES, *_ALIASES])]
    raise unknown_name("figure", name, FIGURES, near=near)
