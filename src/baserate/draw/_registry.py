"""The registry of figures: one entry per figure, from which lists of figures and the commands of the shell follow.

To add a figure, write its function in the module of its subject, one entry in `_ENTRIES`, and list the function in the
package. Entries name no function, so that the help of the command line can read them without loading NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from baserate._errors import nearest, unknown_name

if TYPE_CHECKING:
    from baserate.draw._figure import Drawing


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureType:
    """An entry of the registry: what a figure shows, and which options it shares with others."""

    name: str
    """Name on the command line and of its page in the gallery; the function has underscores for hyphens."""
    summary: str
    """Imperative sentence in standard words, at most 60 characters."""
    details: str = ""
    """Further sentences on what it shows."""
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
    marks: bool = False
    """Whether it can mark thresholds and policies: options `threshold` and `policy`."""
    band: Literal["none", "pointwise", "simultaneous"] = "none"
    """Confidence bands that it can have: options `band` and `level`."""

    @property
    def function(self) -> Callable[..., Drawing]:
        """The function of the package that draws it."""
        function: Any = getattr(import_module(__package__ or ""), self.name.replace("-", "_"))
        return function  # type: ignore[no-any-return]

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the function's options, without the data and the axes."""
        _, *names = signature(self.function).parameters
        return tuple(name for name in names if name not in ("ax", "predictions"))


_ENTRIES = (
    FigureType(
        name="roc",
        summary="Draw the ROC curve.",
        details="The AUC is labelled with its interval. With costs, an iso-cost line touches the best point of all. "
        "Predicted labels are a point.",
        aliases=("roc-curve", "receiver-operating-characteristic"),
        takes_labels=True,
        at_deployment=True,
        marks=True,
        band="simultaneous",
    ),
    FigureType(
        name="pr",
        summary="Draw the precision–recall curve.",
        details="It has the steps that average precision adds up. Behind it are lines of equal F1, and the prevalence, "
        "which is the precision of chance.",
        aliases=("precision-recall", "precision-recall-curve", "pr-curve", "prc"),
        takes_labels=True,
        at_deployment=True,
        marks=True,
        band="pointwise",
    ),
    FigureType(
        name="det",
        summary="Draw the detection error tradeoff (DET) curve.",
        details="It shows the false negative rate against the false positive rate, both on normal deviate scales.",
        aliases=("det-curve", "detection-error-tradeoff"),
        takes_labels=True,
        marks=True,
        band="pointwise",
    ),
    FigureType(
        name="confusion-matrix",
        summary="Draw the confusion matrix with rates.",
        details="Cells have counts and shares; the labels give sensitivity, specificity, PPV and NPV with intervals.",
        aliases=("confusion", "contingency-table", "cm"),
        models="one",
        groups="pooled",
        takes_labels=True,
        at_deployment=True,
    ),
    FigureType(
        name="scores",
        summary="Draw the score distributions of both classes.",
        aliases=("score-distributions", "histogram"),
        models="one",
        groups="pooled",
        marks=True,
    ),
    FigureType(
        name="thresholds",
        summary="Draw measures against the threshold.",
        aliases=("threshold-curve", "discrimination-threshold"),
        models="one",
        groups="pooled",
        at_deployment=True,
        marks=True,
        band="pointwise",
    ),
    FigureType(
        name="gain",
        summary="Draw the cumulative gain curve.",
        details="It shows the share of positives that are flagged against the share of all that are flagged.",
        aliases=("gains", "cumulative-gain", "cap"),
        takes_labels=True,
        marks=True,
        band="pointwise",
    ),
    FigureType(
        name="lift",
        summary="Draw the lift curve.",
        details="It shows how many times as many positives are flagged as by chance.",
        aliases=("lift-curve",),
        takes_labels=True,
        marks=True,
        band="pointwise",
    ),
    FigureType(
        name="reliability",
        summary="Draw a reliability diagram (calibration curve).",
        details="It shows the observed share of positives against the predicted probability, with counts below. A "
        "single score has intervals in bins, or a band around a curve; several scores or groups have lines alone.",
        aliases=("calibration", "calibration-curve", "calibration-plot", "reliability-diagram"),
        needs_probabilities=True,
    ),
    FigureType(
        name="likelihood-ratio",
        summary="Draw the likelihood ratios of the probabilities.",
        details="They show how many times as frequent a probability is among positives as among negatives, at any "
        "prevalence, beside those that the probabilities imply.",
        aliases=("likelihood-ratios", "lr"),
        needs_probabilities=True,
    ),
    FigureType(
        name="decision-curve",
        summary="Draw decision curves (net benefit).",
        details="They show net benefit against the threshold probability, beside flagging all and flagging none. Thick "
        "lines at the bottom mark where a model is better than both. Scores must be probabilities; at another "
        "prevalence they are adjusted to it.",
        aliases=("decision-curves", "dca", "net-benefit"),
        needs_probabilities=True,
        at_deployment=True,
    ),
    FigureType(
        name="cost-curve",
        summary="Draw cost curves.",
        details="They show the expected cost of the best threshold at any costs and any prevalence.",
        aliases=("cost-curves", "brier-curve"),
        at_deployment=True,
    ),
    FigureType(
        name="prevalence",
        summary="Draw PPV and NPV against the prevalence.",
        details="Other measures of decisions can take their place.",
        aliases=("predictive-values", "ppv-npv"),
        takes_labels=True,
        at_deployment=True,
    ),
    FigureType(
        name="groups",
        summary="Draw measures by group, with intervals.",
        details="Hollow dots rest on few rows. The figure shows differences between groups, not whether they are "
        "justified.",
        aliases=("fairness", "subgroups", "forest"),
        groups="required",
        takes_labels=True,
    ),
    FigureType(
        name="population",
        summary="Draw a theoretical population, with a sample of it.",
        details="Choose a population; a sample is simulated from it, or read from FILE.",
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
