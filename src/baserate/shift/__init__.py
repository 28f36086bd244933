"""The class axis: the same classifier at another prevalence, known or unknown.

May import the nouns, `measure`, `infer`, `calibrate` and `apply`. Where the prevalence is known, `reweigh` changes
masses and never scores, and `reprior` changes scores and never masses. Where it is not, `prevalence` estimates it from
scores without truth. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.shift._against import against, table
    from baserate.shift._corrected import corrected
    from baserate.shift._gamma import gamma, gamma_of_counts, gamma_of_sampling, prevalence_of_gamma
    from baserate.shift._label_shift import label_shift
    from baserate.shift._performance import expected, performance
    from baserate.shift._posterior import posterior
    from baserate.shift._predictive import npv, ppv
    from baserate.shift._prevalence import ALIASES, METHODS, prevalence
    from baserate.shift._reprior import reprior, reprior_map, threshold
    from baserate.shift._reweigh import reweigh
    from baserate.shift._several._result import Shares
    from baserate.shift._summary import class_summary, summary
    from baserate.shift._two._assumption import Assumption
    from baserate.shift._two._result import Prevalence

_HOMES: dict[str, tuple[str, ...]] = {
    "_against": ("against", "table"),
    "_corrected": ("corrected",),
    "_gamma": ("gamma", "gamma_of_counts", "gamma_of_sampling", "prevalence_of_gamma"),
    "_label_shift": ("label_shift",),
    "_performance": ("expected", "performance"),
    "_posterior": ("posterior",),
    "_predictive": ("npv", "ppv"),
    "_prevalence": ("ALIASES", "METHODS", "prevalence"),
    "_reprior": ("reprior", "reprior_map", "threshold"),
    "_reweigh": ("reweigh",),
    "_several._result": ("Shares",),
    "_summary": ("class_summary", "summary"),
    "_two._assumption": ("Assumption",),
    "_two._result": ("Prevalence",),
}

__all__ = [
    "ALIASES",
    "METHODS",
    "Assumption",
    "Prevalence",
    "Shares",
    "against",
    "class_summary",
    "corrected",
    "expected",
    "gamma",
    "gamma_of_counts",
    "gamma_of_sampling",
    "label_shift",
    "npv",
    "performance",
    "posterior",
    "ppv",
    "prevalence",
    "prevalence_of_gamma",
    "reprior",
    "reprior_map",
    "reweigh",
    "summary",
    "table",
    "threshold",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
