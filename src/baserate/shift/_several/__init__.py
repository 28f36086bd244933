"""Shares of several classes in a target without truth: `METHODS` by name, each (target, validation) -> Shares."""

from collections.abc import Callable

from baserate._errors import OptionError
from baserate.shift._several._gmm import gmm
from baserate.shift._several._goodness import Agreement, goodness
from baserate.shift._several._linear import acc, cm_l, cm_map, pacc, rlls, rlls_hard, scm_l, scm_map
from baserate.shift._several._mlls import mlls
from baserate.shift._several._result import Shares

METHODS: dict[str, Callable[..., Shares]] = {
    "gmm": gmm,
    "mlls": mlls,
    "acc": acc,
    "pacc": pacc,
    "cm-l": cm_l,
    "scm-l": scm_l,
    "cm-map": cm_map,
    "scm-map": scm_map,
    "rlls": rlls,
    "rlls-hard": rlls_hard,
}


def method(name: str) -> Callable[..., Shares]:
    """Find a method by its name.

    >>> method("pacc") is pacc
    True
    """
    if name in METHODS:
        return METHODS[name]
    raise OptionError(
        f"{name} cuts a single score into bins, so it is for two classes; of several, take one of {', '.join(METHODS)}."
    )


__all__ = ["METHODS", "Agreement", "Shares", "goodness", "method"]
