"""Measures whose value depends on what a user states: costs, a threshold probability, or β.

A name alone cannot carry such a number. Without it a measure has a default, which nobody may have meant: costs of 1 for
every error make the expected cost the error rate. So those who compare or decide must state it, results repeat it, and
a note says it in words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from inspect import signature
from typing import Any

from baserate._costs import Costs
from baserate._counts import Counts
from baserate._errors import OptionError
from baserate.measure._about import Measure, about, bare

REQUIRED: Mapping[str, str] = {
    "expected_cost": "costs",
    "net_benefit": "at",
    "standardized_net_benefit": "at",
    "net_reduction": "at",
}
"""Measures of the 2×2 table that mean nothing without a stated number, and the option that states it."""
OPTIONAL: Mapping[str, str] = {"f_beta": "beta", "e_measure": "beta"}
"""Measures with a default that the field agrees on: with β = 1 it is F1."""
_OPTIONS: Mapping[str, str] = {**REQUIRED, **OPTIONAL}
_REMEDIES = {
    "costs": "give costs=Costs(fp=…, fn=…), or partial(measure.{name}, costs=Costs(fp=…, fn=…))",
    "at": "give partial(measure.{name}, at=…)",
}
_WHAT = {"costs": "what errors cost", "at": "a threshold probability"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user states for measures that need it; None where nothing was stated."""

    costs: Costs | None = None
    at: float | None = None
    """Threshold probability of net benefit."""
    beta: float | None = None

    def apply(self, measure: Measure) -> Measure:
        """Bind what was stated to a measure that takes it; what `functools.partial` bound before stays.

        >>> from baserate import Counts, measure
        >>> cost = Settings(costs=Costs(fp=1, fn=5)).apply(measure.expected_cost)
        >>> cost(Counts(tp=3, fp=1, fn=1, tn=5))
        0.6
        """
        option = option_of(measure)
        value = None if option is None else getattr(self, option)
        return measure if value is None or option in _bound(measure) else partial(measure, **{str(option): value})

    def idle(self, measures: Iterable[Measure]) -> list[str]:
        """Name the options that were stated and that none of the measures takes."""
        taken = {option_of(each) for each in measures}
        return [name for name in ("costs", "at", "beta") if getattr(self, name) is not None and name not in taken]


def unstated(measures: Iterable[Measure]) -> Iterator[tuple[str, str]]:
    """Find measures that need a number which was not stated: their names, and the option."""
    for each in measures:
        option = REQUIRED.get(about(each).name)
        if option is not None and about(each).of is Counts and option not in _bound(each):
            yield about(each).name, option


def require_stated(measures: Iterable[Measure]) -> None:
    """Refuse measures that need a number which was not stated."""
    for name, option in unstated(measures):
        raise OptionError(f"{name} needs {_WHAT[option]}; {_REMEDIES[option].format(name=name)}.")


def settings_of(measures: Iterable[Measure]) -> dict[str, dict[str, Any]]:
    """What measures depend on, stated or by default, by their names, as a file can hold it.

    >>> from baserate import measure
    >>> settings_of([measure.auc, measure.net_benefit])
    {'net_benefit': {'at': 0.5}}
    """
    found = {}
    for each in measures:
        option = option_of(each)
        if option is not None:
            default = signature(bare(each)).parameters[option].default
            value: Any = _bound(each).get(option, default)
            found[about(each).name] = {option: asdict(value) if isinstance(value, Costs) else value}
    return found


def settings_notes(settings: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Say in words what measures depend on.

    >>> list(settings_notes({"net_benefit": {"at": 0.1}}))
    ['net_benefit is at a threshold probability of 0.1.']
    """
    for name, options in settings.items():
        for option, value in options.items():
            yield f"{name} {_SPOKEN[option](value)}."


def _costly(costs: Mapping[str, float]) -> str:
    told = ", ".join(f"a {_CELLS[cell]} {costs[cell]:g}" for cell in ("fp", "fn", "tp", "tn"))
    return f"is at these costs: {told}"


_CELLS = {"fp": "false positive", "fn": "false negative", "tp": "true positive", "tn": "true negative"}
_SPOKEN: Mapping[str, Callable[[Any], str]] = {
    "costs": _costly,
    "at": lambda at: f"is at a threshold probability of {at:g}",
    "beta": lambda beta: f"is at β = {beta:g}",
}


def option_of(measure: Measure) -> str | None:
    """Option that states what a measure of the 2×2 table depends on."""
    told = about(measure)
    return _OPTIONS.get(told.name) if told.of is Counts else None


def _bound(measure: Measure) -> dict[str, Any]:
    """Options that `functools.partial` bound."""
    found: dict[str, Any] = {}
    while isinstance(measure, partial):
        found = {**measure.keywords, **found}
        measure = measure.func
    return found
