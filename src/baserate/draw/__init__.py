"""Values -> Drawing: figures for papers and slides, the only home of matplotlib (extra `plot`).

May import the nouns and every room below; `report` is its neighbour. Each figure is a function of tallies, in the
manner of scikit-learn's displays: it computes once, keeps the numbers, and paints on axes of your own if you give them.
Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.draw._cost_curve import cost_curve
    from baserate.draw._decision_curve import decision_curve
    from baserate.draw._drawing import Drawing
    from baserate.draw._gain import gain, lift
    from baserate.draw._groups import groups
    from baserate.draw._likelihood_ratio import likelihood_ratio
    from baserate.draw._population import population
    from baserate.draw._pr import pr
    from baserate.draw._prevalence import prevalence
    from baserate.draw._reliability import reliability
    from baserate.draw._roc import roc
    from baserate.draw._scores import scores
    from baserate.draw._thresholds import thresholds

_HOMES: dict[str, tuple[str, ...]] = {
    "_cost_curve": ("cost_curve",),
    "_decision_curve": ("decision_curve",),
    "_drawing": ("Drawing",),
    "_gain": ("gain", "lift"),
    "_groups": ("groups",),
    "_likelihood_ratio": ("likelihood_ratio",),
    "_population": ("population",),
    "_pr": ("pr",),
    "_prevalence": ("prevalence",),
    "_reliability": ("reliability",),
    "_roc": ("roc",),
    "_scores": ("scores",),
    "_thresholds": ("thresholds",),
}

__all__ = [
    "Drawing",
    "cost_curve",
    "decision_curve",
    "gain",
    "groups",
    "lift",
    "likelihood_ratio",
    "population",
    "pr",
    "prevalence",
    "reliability",
    "roc",
    "scores",
    "thresholds",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
