"""The registry: measures by name, why a measure is undefined, and the options on which some measures depend.

Some values depend on a number that the user states: costs, a threshold probability, or β. A name alone does not contain
it, and a default may not be the one that the user means: with costs of 1 for every error, the expected cost is the
error rate. So functions that compare or decide require the number, results repeat it, and a note states it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from inspect import signature
from typing import Any

from baserate._confusion import Confusion
from baserate._costs import Costs, as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError, ShapeError, UnknownNameError
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Forecasts, Tally
from baserate.measure import (
    _calibration_bins,
    _calibration_curve,
    _calibration_slope,
    _fairness_measures,
    _likelihood_indexes,
    _measure,
    _operating_points,
    _proper_scores,
    _rank,
    _rates,
    _roc_points,
)
from baserate.measure._measure import Measure, collect, describe, typed_names, unwrap_options

_MARGINS: Mapping[str, Callable[[Forecasts], float]] = _calibration_slope.MARGINS
"""Margins of probabilities, which need a computation and are therefore no properties of a tally."""

MEASURES: dict[str, Measure] = collect(
    _rates,
    _roc_points,
    _rank,
    _operating_points,
    _proper_scores,
    _calibration_slope,
    _calibration_bins,
    _calibration_curve,
    _likelihood_indexes,
    _fairness_measures,
)
"""Measures of two classes by name, in the order of the documentation and of tables."""

REQUIRED_OPTIONS: Mapping[str, str] = {
    name: str(describe(each).option) for name, each in MEASURES.items() if describe(each).option_required
}
"""Measures that mean nothing without a stated number, and the option that states it."""


def find_measure(name: str) -> Measure:
    """Find a measure by its name or an alias; case, spaces and hyphens do not matter.

    Precision, recall and hits at k have a name for each k.

    Parameters
    ----------
    name
        Name or alias, such as ``"ppv"`` or ``"recall"``.

    Returns
    -------
    Measure
        The function, with its description as `about`.

    Examples
    --------
    >>> find_measure("TPR").__name__, find_measure("false alarm rate").__name__
    ('sensitivity', 'fpr')
    >>> find_measure("precision at 20").about.name
    'precision_at_20'
    """
    try:
        return _find_top_k(name) or _measure.find_by_name(name, MEASURES)
    except UnknownNameError as error:
        if not _is_of_several_classes(name):
            raise
        what = f"{name} is a measure of several classes"
        remedy = "name one of two classes, or give data of several."
        raise UnknownNameError(what, remedy=remedy, option=error.option, value=error.value) from None


def _is_of_several_classes(name: str) -> bool:
    from baserate.measure import multiclass  # which imports this module

    try:
        multiclass.find_measure(name)
    except UnknownNameError:
        return False
    return True


def get_measure(name: str) -> Measure | None:
    """Return the measure whose own name is in a row of results; None for other rows, such as cells.

    >>> get_measure("precision_at_20").about.name, get_measure("tp")
    ('precision_at_20', None)
    """
    return MEASURES.get(name) or _find_top_k(name)


def _find_top_k(name: str) -> Measure | None:
    """Find precision, recall or hits at a number that the name contains."""
    parts = re.fullmatch(r"(precision|recall|hits)( at |@)([1-9][0-9]{0,8})", _measure.normalize_name(name))
    if parts is None:
        return None
    kind, k = parts[1], int(parts[3])
    among = f"among the {k} rows with the highest scores" if k > 1 else "where the score is highest, as 0 or 1"
    summary = {
        "precision": f"Share of positives {among}.",
        "recall": f"Share of all positives that are {among}.",
        "hits": f"Number of positives {among}.",
    }
    # The name contains k, so results need not repeat it.
    return _measure.specialize(MEASURES[f"{kind}_at_k"], f"{kind}_at_{k}", summary[kind], option=None, k=k)


def names_as_typed(measures: Any) -> dict[str, dict[str, str]]:  # noqa: ANN401  (names, functions or neither)
    """Return the names of measures of two classes as a user typed them, as `data` of results; empty without any.

    >>> names_as_typed(["ppv", "PPV", "auc"]), names_as_typed(["auc"])
    ({'names': {'precision': 'ppv'}}, {})
    """
    return typed_names(measures, lambda name: [find_measure(name)])


def as_measure(measure: str | Measure) -> Measure:
    """Return the measure of this name, or the function itself if it is a measure."""
    if isinstance(measure, str):
        return find_measure(measure)
    try:
        describe(measure)
    except (KeyError, TypeError):
        raise OptionError(
            f"{measure!r} is not a measure", remedy="give a name, or a function of baserate.measure."
        ) from None
    return measure


def search(words: str) -> list[str]:
    """Return the names of measures whose name, aliases or summary contain all words.

    Parameters
    ----------
    words
        Words to look for, separated by spaces.

    Returns
    -------
    list of str
        Names of the measures, in the order of the registry.

    Examples
    --------
    >>> search("threat")
    ['jaccard']
    """
    return _measure.search_names(words, MEASURES)


def undefined_reason(
    measure: Measure, noun: Counts[float] | Confusion | Curve | Tally | MulticlassRows | LabelSets
) -> str | None:
    """Return the reason why a measure is undefined, or None if it is defined.

    Parameters
    ----------
    measure
        A measure.
    noun
        One argument of it: a table, curve, tally or rows.

    Returns
    -------
    str or None
        The margins that are zero, in words.

    Examples
    --------
    >>> from baserate import Counts
    >>> undefined_reason(find_measure("precision"), Counts(tp=0, fp=0, fn=3, tn=5))
    'nothing is flagged'
    """
    if isinstance(noun, Counts | Confusion) and noun.shape:
        kind = type(noun).__name__.lower()
        raise ShapeError(f"these are {noun.shape} tables", remedy=f"give one, for example {kind}[0].")
    if "why" in vars(measure):  # averages over classes have reasons of their own
        reason: str | None = vars(measure)["why"](noun)
        return reason
    description = describe(measure)
    missing = [
        cause for name, cause in zip(description.needs, description.causes, strict=True) if margin(noun, name) == 0
    ]
    return " and ".join(missing) or None


def margin(argument: Any, name: str) -> Any:  # noqa: ANN401  (of any type; one number, or one for each table)
    """Return a margin of an argument: a sum that must not be zero."""
    return _MARGINS[name](argument) if name in _MARGINS else getattr(argument, name)


_REMEDIES = {"costs": "give costs=Costs(fp=…, fn=…), or partial(measure.{name}, costs=Costs(fp=…, fn=…))"}
_REMEDY = "give partial(measure.{name}, {option}=…)"
REQUIREMENTS: Mapping[str, str] = {
    "costs": "the costs of errors",
    "at": "a threshold probability",
    "specificity": "a specificity",
    "sensitivity": "a sensitivity",
    "precision": "a precision",
}
"""What a measure needs, for each option that users must state."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Options that a user states for measures that depend on them; None if not stated."""

    costs: Costs | None = None
    at: float | None = None
    """Threshold probability of net benefit."""
    beta: float | None = None
    k: int | None = None
    """Number of rows with the highest scores."""
    specificity: float | None = None
    """Specificity at which another rate is measured; the next two likewise."""
    sensitivity: float | None = None
    precision: float | None = None
    alpha: float | None = None
    """Exponent of generalized entropy."""

    def apply(self, measure: Measure) -> Measure:
        """Bind a stated option to a measure that takes it; an option bound before stays.

        >>> from baserate import Counts, measure
        >>> cost = Settings(costs=Costs(fp=1, fn=5)).apply(measure.expected_cost)
        >>> cost(Counts(tp=3, fp=1, fn=1, tn=5))
        0.6
        """
        option = option_of(measure)
        value = None if option is None else getattr(self, option)
        if value is None or option in _bound_options(measure):
            return measure
        return partial(measure, **{str(option): value})

    def idle(self, measures: Iterable[Measure]) -> list[str]:
        """Return the stated options that none of the measures takes."""
        options = {option_of(each) for each in measures}
        stated = (each.name for each in fields(self) if getattr(self, each.name) is not None)
        return [name for name in stated if name not in options]


def find_missing_options(measures: Iterable[Measure]) -> Iterator[tuple[str, str]]:
    """Yield the measures that require an option which is not bound, and the option."""
    for each in measures:
        option = option_of(each)
        if option is not None and describe(each).option_required and option not in _bound_options(each):
            yield describe(each).name, option


def require_options(measures: Iterable[Measure]) -> None:
    """Refuse measures that require an option which is not bound."""
    for name, option in find_missing_options(measures):
        remedy = _REMEDIES.get(option, _REMEDY).format(name=name, option=option)
        raise OptionError(f"{name} needs {REQUIREMENTS[option]}", remedy=f"{remedy}.")


def collect_settings(measures: Iterable[Measure]) -> dict[str, dict[str, Any]]:
    """Return the options of measures, stated or by default, as values that JSON can hold.

    >>> from baserate import measure
    >>> collect_settings([measure.auc, measure.net_benefit])
    {'net_benefit': {'at': 0.5}}
    """
    settings = {}
    for each in measures:
        option = option_of(each)
        if option is not None:
            default = signature(unwrap_options(each)).parameters[option].default
            value: Any = _bound_options(each).get(option, default)
            settings[describe(each).name] = {option: asdict(as_costs(value)) if option == "costs" else value}
    return settings


def note_settings(settings: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each option on which a measure depends.

    >>> list(note_settings({"net_benefit": {"at": 0.1}}))
    ['net_benefit is at a threshold probability of 0.1.']
    """
    for name, options in settings.items():
        for option, value in options.items():
            yield f"{name} {_NOTES[option](value)}."


def note_cautions(measures: Iterable[Measure]) -> Iterator[str]:
    """Yield a sentence for each measure in whose place another is better.

    >>> from baserate import measure
    >>> [note.split(":")[0] for note in note_cautions([measure.auc, measure.pr_auc_trapezoid])]
    ['pr_auc_trapezoid is optimistic']
    """
    for each in measures:
        info = describe(each)
        if info.caution:
            yield f"{info.name} {info.caution}"


def _format_costs(costs: Mapping[str, float]) -> str:
    amounts = ", ".join(f"a {_CELLS[cell]} {costs[cell]:g}" for cell in ("fp", "fn", "tp", "tn"))
    return f"is at these costs: {amounts}"


_CELLS = {"fp": "false positive", "fn": "false negative", "tp": "true positive", "tn": "true negative"}
_NOTES: Mapping[str, Callable[[Any], str]] = {
    "costs": _format_costs,
    "at": lambda at: f"is at a threshold probability of {at:g}",
    "beta": lambda beta: f"is at β = {beta:g}",
    "k": lambda k: f"is at k = {k}",
    "specificity": lambda specificity: f"is at a specificity of {specificity:g}",
    "sensitivity": lambda sensitivity: f"is at a sensitivity of {sensitivity:g}",
    "precision": lambda precision: f"is at a precision of {precision:g}",
    "alpha": lambda alpha: f"is at α = {alpha:g}",
}


def option_of(measure: Measure) -> str | None:
    """Return the option on which a measure of the 2×2 table depends, or None."""
    return describe(measure).option


def _bound_options(measure: Measure) -> dict[str, Any]:
    """Return the options that `functools.partial` bound."""
    options: dict[str, Any] = {}
    while isinstance(measure, partial):
        options = {**measure.keywords, **options}  # the outer partial wins, as in a call
        measure = measure.func
    return options
