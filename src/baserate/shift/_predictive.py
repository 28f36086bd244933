"""PPV and NPV from sensitivity, specificity and prevalence alone: Bayes' rule."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from baserate._arrays import Floats, as_python, ratio
from baserate._errors import OptionError

Many = float | Floats
"""One number, or many."""


@overload
def ppv(sensitivity: float, specificity: float, prevalence: float) -> float: ...
@overload
def ppv(sensitivity: Many, specificity: Many, prevalence: Floats) -> Floats: ...
@overload
def ppv(sensitivity: Floats, specificity: Floats, prevalence: float) -> Floats: ...
def ppv(sensitivity: Many, specificity: Many, prevalence: Many) -> Many:
    r"""Share of the flagged that are positive, :math:`\frac{Se·π}{Se·π+(1-Sp)(1-π)}`.

    Numbers, or arrays that fit together. Undefined where nothing is flagged.
    Also: positive predictive value, precision, post-test probability.
    Reference: [@altman1994b].

    >>> [round(ppv(0.99, 0.99, at), 4) for at in (0.02, 0.06, 0.10)]
    [0.6689, 0.8634, 0.9167]
    """
    true, false, share = _checked(sensitivity=sensitivity, specificity=specificity, prevalence=prevalence)
    hits = true * share
    found: Many = as_python(ratio(hits, hits + (1 - false) * (1 - share)))
    return found


@overload
def npv(sensitivity: float, specificity: float, prevalence: float) -> float: ...
@overload
def npv(sensitivity: Many, specificity: Many, prevalence: Floats) -> Floats: ...
@overload
def npv(sensitivity: Floats, specificity: Floats, prevalence: float) -> Floats: ...
def npv(sensitivity: Many, specificity: Many, prevalence: Many) -> Many:
    r"""Share of the passed that are negative, :math:`\frac{Sp(1-π)}{Sp(1-π)+(1-Se)π}`.

    Numbers, or arrays that fit together. Undefined where everything is flagged.
    Also: negative predictive value.
    Reference: [@altman1994b].

    >>> round(npv(231 / 258, 54 / 86, 0.25), 2)  # Altman and Bland's liver scans, where abnormality is rare
    0.95
    """
    true, false, share = _checked(sensitivity=sensitivity, specificity=specificity, prevalence=prevalence)
    hits = false * (1 - share)
    found: Many = as_python(ratio(hits, hits + (1 - true) * share))
    return found


def _checked(**given: Any) -> list[Floats]:  # noqa: ANN401  (numbers, one or many)
    """Shares between 0 and 1, or an error that names the one that is none."""
    found: list[Floats] = []
    for name, value in given.items():
        numbers: Floats = np.asarray(value, dtype=np.float64)
        wrong = ~((numbers >= 0) & (numbers <= 1))
        if wrong.any():
            first = numbers[wrong].ravel()[0]
            raise OptionError(
                f"{wrong.sum()} of {wrong.size} values of {name} lie outside [0, 1], such as {first:g}; give shares."
            )
        found.append(numbers)
    return found
