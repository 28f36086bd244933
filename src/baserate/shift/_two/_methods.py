"""Names -> methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from baserate._errors import OptionError
from baserate.shift._two import _bins, _likelihood, _moments
from baserate.shift._two._result import Prevalence

METHODS: dict[str, Callable[..., Prevalence]] = {
    "binned": _bins.binned,
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
}


def called(function: Callable[..., Any], data: tuple[Any, ...], name: str, options: Mapping[str, Any]) -> Any:  # noqa: ANN401  (what it returns)
    """Call a method with options that it has."""
    known = list(signature(function).parameters)[len(data) :]
    unknown = [option for option in options if option not in known]
    if unknown:
        has = f"it has {', '.join(known)}" if known else "it has none"
        other = "; method='mlls' takes it" if name == "binned" and unknown[0] in ("recalibrate", "at") else ""
        raise OptionError(f"{unknown[0]}= has no use for {name}; {has}{other}.")
    return function(*data, **options)
