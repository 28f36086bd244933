"""Shares of several classes in a target without truth: `METHODS` by name, each (target, validation) -> Shares."""

from collections.abc import Callable
from difflib import get_close_matches

from baserate._errors import BadOption, UnknownName
from baserate.shift._several._goodness import Agreement, goodness
from baserate.shift._several._linear import acc, cm_l, cm_map, pacc, rlls, rlls_hard, scm_l, scm_map
from baserate.shift._several._mlls import mlls
from baserate.shift._several._result import Shares

METHODS: dict[str, Callable[..., Shares]] = {
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
ALIASES: dict[str, str] = {
    **dict.fromkeys(("em", "emq", "saerens", "sld"), "mlls"),
    **dict.fromkeys(("cm", "bbse-hard", "gacc"), "acc"),
    **dict.fromkeys(("scm", "bbse", "bbse-soft", "gpacc", "smm"), "pacc"),
}
OF_TWO = ("binned", "hdy")
"""Methods that cut one score into bins."""


def method(name: str) -> Callable[..., Shares]:
    """Find a method by its name or another name of it.

    >>> method("bbse") is pacc
    True
    """
    found = ALIASES.get(name.lower(), name.lower())
    if found in METHODS:
        return METHODS[found]
    if found in OF_TWO:
        raise BadOption(
            f"{name} cuts a single score into bins, so it is for two classes; of several, take one of "
            f"{', '.join(METHODS)}."
        )
    near = get_close_matches(found, [*METHODS, *ALIASES], n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise UnknownName(f"there is no method {name!r} for shares of classes.{meant} There are: {', '.join(METHODS)}.")


__all__ = ["ALIASES", "METHODS", "OF_TWO", "Agreement", "Shares", "goodness", "method"]
