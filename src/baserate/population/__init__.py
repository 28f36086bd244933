"""Populations in closed form: exact curves, best thresholds and simulation studies.

- `_families`: constructors of populations, exact curves and values
- `_simulation`: simulated rows and studies, and the data of the demo
- `_best_threshold`: best threshold of any measure, and thresholds where a measure has a value

A `Population` contains the score distributions of its classes, so its measures have no sampling error. They are the
reference for samples and for the tests of this library. May import the types and `measure`.
"""

from baserate._population import describe_population as describe_population
from baserate.population._best_threshold import BestThreshold, best_threshold, find_thresholds, least_cost_threshold
from baserate.population._families import (
    FAMILIES,
    LEVELS,
    beta,
    binormal,
    default_thresholds,
    exact_value,
    linear,
    logit_normal,
    retrieval,
    summary,
    table,
)
from baserate.population._simulation import (
    Screening as Screening,
    screening_csv as screening_csv,
    simulate_rows,
    simulate_screening as simulate_screening,
    simulation_study,
)

__all__ = [
    "FAMILIES",
    "LEVELS",
    "BestThreshold",
    "best_threshold",
    "beta",
    "binormal",
    "default_thresholds",
    "exact_value",
    "find_thresholds",
    "least_cost_threshold",
    "linear",
    "logit_normal",
    "retrieval",
    "simulate_rows",
    "simulation_study",
    "summary",
    "table",
]


def __dir__() -> list[str]:
    return sorted(__all__)
