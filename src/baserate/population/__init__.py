"""Populations in closed form: makers, the best threshold of any measure, exact curves, and studies of samples.

May import the nouns and `measure`. A `Population` knows its classes' score distributions, so whatever is measured on it
carries no sampling error: theory to hold samples, and our own code, against.
"""

from baserate.population._best import Best, best, cheapest, where
from baserate.population._families import FAMILIES, LEVELS, beta, binormal, linear, logit_normal, retrieval
from baserate.population._study import study
from baserate.population._table import header as header, summary, table, theory, thresholds

__all__ = ["FAMILIES", "LEVELS", "Best"]
__all__ += ["beta", "binormal", "linear", "logit_normal", "retrieval"]
__all__ += ["best", "cheapest", "study", "summary", "table", "theory", "thresholds", "where"]


def __dir__() -> list[str]:
    return sorted(__all__)
