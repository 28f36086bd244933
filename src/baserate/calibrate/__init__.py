"""Tally or Rows -> Map: make the probabilities right.

May import the nouns and `measure`. Each method is a function from a tally to a `Map`; `fit` takes a method by name and
data of any kind, `crossfitted` judges a method on rows that it has not seen, and `choose` picks one. What is fitted to
several classes at once stands in `multiclass`. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.calibrate import multiclass
    from baserate.calibrate._beta import beta
    from baserate.calibrate._choose import Choice, choose
    from baserate.calibrate._closed import identity, logistic, offset, prevalence, temperature
    from baserate.calibrate._crossfit import crossfitted
    from baserate.calibrate._methods import CLASS_METHODS, METHODS, fit
    from baserate.calibrate._pieces import histogram, isotonic, venn_abers

_HOMES = {
    "_beta": ("beta",),
    "_choose": ("Choice", "choose"),
    "_closed": ("identity", "logistic", "offset", "prevalence", "temperature"),
    "_crossfit": ("crossfitted",),
    "_methods": ("CLASS_METHODS", "METHODS", "fit"),
    "_pieces": ("histogram", "isotonic", "venn_abers"),
    "multiclass": ("multiclass",),
}

__all__ = [
    "CLASS_METHODS",
    "METHODS",
    "Choice",
    "beta",
    "choose",
    "crossfitted",
    "fit",
    "histogram",
    "identity",
    "isotonic",
    "logistic",
    "multiclass",
    "offset",
    "prevalence",
    "temperature",
    "venn_abers",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
