"""ClassRows -> ClassMap: probabilities of several classes made right.

Each function takes rows with a probability for every class, and gives a map that can be applied, saved and read back.
`METHODS` holds those that need nothing else, by name.
"""

from collections.abc import Callable

from baserate._calibrator import MulticlassCalibrator
from baserate._rows import MulticlassRows
from baserate.calibrate.multiclass._crossfit import crossfitted, folds_of
from baserate.calibrate.multiclass._given import listed as listed
from baserate.calibrate.multiclass._known import checked_shares as checked_shares, identity, reprior
from baserate.calibrate.multiclass._one_vs_rest import one_vs_rest
from baserate.calibrate.multiclass._prior import prior
from baserate.calibrate.multiclass._scaling import bias_corrected, temperature, vector

METHODS: dict[str, Callable[[MulticlassRows], MulticlassCalibrator]] = {
    "identity": identity,
    "prior": prior,
    "temperature": temperature,
    "bias-corrected": bias_corrected,
    "vector": vector,
}

__all__ = [
    "METHODS",
    "bias_corrected",
    "crossfitted",
    "folds_of",
    "identity",
    "one_vs_rest",
    "prior",
    "reprior",
    "temperature",
    "vector",
]


def __dir__() -> list[str]:
    return sorted(__all__)
