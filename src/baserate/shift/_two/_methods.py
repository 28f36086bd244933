"""Names -> methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baserate._errors import BadOption
from baserate.shift._two import _bins, _likelihood, _moments
from baserate.shift._two._given import Given
from baserate.shift._two._result import Prevalence

METHODS: dict[str, Callable[..., Prevalence]] = {
    "mlls": _likelihood.mlls,
    "acc": _moments.acc,
    "pacc": _moments.pacc,
    "cm-l": _moments.cm_l,
    "scm-l": _moments.scm_l,
    "cm-map": _moments.cm_map,
    "scm-map": _moments.scm_map,
    "rlls": _moments.rlls,
    "rlls-hard": _moments.rlls_hard,
    "hdy": _bins.hdy,
    "binned": _bins.binned,
}


def estimated(given: Given, method: str, options: dict[str, Any]) -> Prevalence:
    """Call a method with its options."""
    try:
        return METHODS[method](given, **options)
    except TypeError as error:
        unknown = [name for name in options if f"'{name}'" in str(error)]
        if not unknown:
            raise
        raise BadOption(f"{unknown[0]}= has no use for {method}; leave it out.") from error
