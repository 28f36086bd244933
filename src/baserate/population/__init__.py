"""Populations in closed form: exact curves, best thresholds and simulation studies.

- `_families`: constructors of populations
- `_best_threshold`: best threshold of any measure, and thresholds where a measure has a value
- `_tables`: exact curves and values as tidy rows, and simulation studies

A `Population` contains the score distributions of its classes, so its measures have no sampling error. They are the
reference for samples and for the tests of this library. May import the types and `measure`.
"""

from baserate.population._best_threshold import Best, best, cheapest, where
from baserate.population._families import FAMILIES, LEVELS, beta, binormal, linear, logit_normal, retrieval
from baserate.population._tables import header as header, study, summary, table, theory, thresholds

__all__ = [
    "FAMILIES",
    "LEVELS",
    "Best",
    "best",
    "beta",
    "binormal",
    "cheapest",
    "linear",
    "logit_normal",
    "retrieval",
    "study",
    "summary",
    "table",
    "theory",
    "thresholds",
    "where",
]


def __dir__() -> list[str]:
    return sorted(__all__)
