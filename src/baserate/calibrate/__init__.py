"""Tally or Rows -> Map: make the probabilities right.

May import the nouns and `measure`. Each method is a function from a tally to a `Map`; `fit` takes a method by name and
data of any kind, `crossfitted` judges a method on rows that it has not seen, and `choose` picks one. What is fitted to
several classes at once stands in `multiclass`. Names are resolved on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

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


def __getattr__(name: str) -> object:
    if name == "multiclass":
        return import_module("baserate.calibrate.multiclass")
    if name not in _HOME:
        raise AttributeError(f"module 'baserate.calibrate' has no attribute {name!r}")
    value: object = getattr(import_module(f"baserate.calibrate.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
