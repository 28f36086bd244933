"""The one entry of a measure: the decorator `@measure(…)` describes a plain function by a `MeasureInfo`.

Tables, documentation, the command line, the page, errors and the laws in the tests read these fields, and nothing is
parsed from prose. The registries collect all decorated functions that a module lists in `__all__`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import getdoc
from types import ModuleType, UnionType
from typing import Any, Literal, cast, get_args, get_origin

from baserate._errors import advice, nearest, unknown_name
from baserate.measure._calls import MeasureDecorator, accept_predictions

Measure = Callable[..., Any]
Best = Literal["high", "low"] | None

_CAUSES = {
    "total": "there are no rows",
    "benefits": "every row is a false negative, so that nobody has a benefit",
    "positives": "there are no positives",
    "negatives": "there are no negatives",
    "flagged": "nothing is flagged",
    "not_flagged": "everything is flagged",
    "either": "there are no positives and nothing is flagged",
    "chance_disagreement": "truth and decision are constant and equal, so chance alone agrees fully",
    "truth_spread": "there is at most one true class",
    "predicted_spread": "all rows have the same predicted class",
    "any_spread": "truth and decisions are both constant",
    "labelled": "no row has a label",
    "label_pairs": "every row has all labels or none, so there are no pairs to rank",
    "alternatives": "there is a single label, so nothing else could be predicted",
    "events": "there are neither observed nor expected positives",
    "score_spread": "all probabilities are equal",
    "uncertain_mass": "all probabilities are 0 or 1, which no shift of log-odds moves",
    "overlap": "a threshold separates the classes, so no finite slope fits",
}
"""Reason why a measure is undefined, for each margin that is zero."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a measure: which are better, their range, and where they are undefined."""

    best: Best
    """Which direction is better, or None if neither is."""
    span: tuple[float, float]
    """Least and greatest value."""
    needs: tuple[str, ...] = ()
    """Margins (properties of the argument) that must not be zero. The value is NaN exactly if one is."""
    dual: str | None = None
    """The measure that gives the same value when the classes swap names (Counts) or scores change sign too (Curve)."""
    share: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """For a share, hits/(hits + misses), the properties of the argument that add up to its hits and its misses."""
    sampled: bool = False
    """Whether it corrects for the size of the sample: then a weight differs from repetition, as in intervals."""
    percent: bool | None = None
    """Whether people read it as a percentage; by default if it is a share."""

    def __post_init__(self) -> None:
        if self.percent is None:
            object.__setattr__(self, "percent", self.share is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureInfo(Values):
    """Description and properties of a measure: its entry in the registry."""

    name: str
    of: type
    """Type of its argument: Counts, Curve, Tally, Confusion, MulticlassRows or LabelSets."""
    summary: str
    """One complete sentence that stands alone, without TeX."""
    formula: str | None
    """The formula in TeX, or None."""
    aliases: tuple[str, ...]
    """Other names."""
    references: tuple[str, ...]
    """Keys into docs/references.bib."""
    stacks: bool
    """Whether it also takes a `Stack` of many tallies, and returns an array."""
    page: str | None = None
    """Its label on the HTML page; None if the page does not show it."""
    option: str | None = None
    """Keyword of a number that the value depends on: costs, a threshold probability, or β."""
    option_required: bool = False
    """Whether its default means nothing, so that users must state the option."""
    caution: str | None = None
    """Why another measure is better, as a sentence without subject; results repeat it."""

    def __repr__(self) -> str:
        return f"MeasureInfo({self.name} of {self.of.__name__}: {self.summary})"

    @property
    def causes(self) -> tuple[str, ...]:
        """Return the reasons why the value may be undefined: one for each margin that must not be zero."""
        return tuple(_CAUSES[margin] for margin in self.needs)


def measure(  # noqa: PLR0913  (each is a field of MeasureInfo)
    summary: str,
    *,
    values: Values,
    formula: str | None = None,
    aliases: tuple[str, ...] = (),
    references: tuple[str, ...] = (),
    page: str | None = None,
    option: str | None = None,
    option_required: bool = False,
    caution: str | None = None,
) -> MeasureDecorator:
    """Make a function a measure of predictions in any form, and complete its docstring from these fields.

    The annotation of the first parameter of the function is the type of the argument. The measure also takes labels
    and scores, or a table and names of its columns; see `baserate.read`.

    Parameters
    ----------
    summary, formula, aliases, references, page, option, option_required, caution
        The fields of `MeasureInfo` with these names.
    values
        Direction, range and margins of the values.

    Returns
    -------
    callable
        A decorator.
    """

    def decorate(function: Measure) -> Measure:
        # Read at run time: a module of measures must not have `from __future__ import annotations`.
        annotated = next(iter(function.__annotations__.values()))
        # Forecasts is Tally | Stack: the first is the type, the second many of it. Counts[Value] is Counts.
        several = isinstance(annotated, UnionType)
        described = MeasureInfo(
            **{each.name: getattr(values, each.name) for each in fields(values)},
            name=function.__name__,
            summary=summary,
            formula=formula,
            aliases=aliases,
            references=references,
            page=page,
            option=option,
            option_required=option_required,
            caution=caution,
            of=get_args(annotated)[0] if several else get_origin(annotated) or annotated,
            stacks=several,
        )
        function.__doc__ = _compose_docstring(described, getdoc(function) or "")
        call = accept_predictions(function, described.of, option, required=option_required)
        vars(call)["about"] = described
        return call

    return cast("MeasureDecorator", decorate)


def _compose_docstring(described: MeasureInfo, written: str) -> str:
    """Put summary, formula, other names and references before the notes and examples of the function."""
    parts = [
        described.summary,
        f":math:`{described.formula}`" if described.formula else "",
        f"Also called {', '.join(described.aliases)}." if described.aliases else "",
        f"See {', '.join(f'[@{key}]' for key in described.references)}." if described.references else "",
        written.strip(),
    ]
    return "\n\n".join(filter(None, parts))


def describe(function: Measure) -> MeasureInfo:
    """Return the description of a measure; options bound by `functools.partial` do not change it.

    Parameters
    ----------
    function
        A measure.

    Returns
    -------
    MeasureInfo
        Its entry: names, summary, formula, range, direction and more.
    """
    # A partial may have its own entry, such as top-5 accuracy: unwrap only as far as the first one.
    while isinstance(function, partial) and "about" not in vars(function):
        function = function.func
    described = vars(function)["about"]
    assert isinstance(described, MeasureInfo)  # noqa: S101  (for the type checker)
    return described


def unwrap_options(function: Measure) -> Measure:
    """Return the measure itself, without options bound by `functools.partial`."""
    while isinstance(function, partial):
        function = function.func
    return function


def specialize(measure: Measure, name: str, summary: str, *, option: str | None = None, **options: object) -> Measure:
    """Bind options of a measure, and give it a name and a summary of its own."""
    special = partial(measure, **options)
    vars(special)["about"] = replace(describe(measure), name=name, summary=summary, option=option)
    return special


def collect(*modules: ModuleType) -> dict[str, Measure]:
    """Return the measures that modules list in `__all__`, by name, in the order of their definitions."""
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if name in module.__all__ and "about" in vars(value)
    }


def find_by_name(name: str, among: Mapping[str, Measure]) -> Measure:
    """Find a measure by its name or an alias."""
    if name in among:  # the usual case, without an index of all aliases
        return among[name]
    names = _index_names(among)
    plain = normalize_name(name)
    if plain in names:
        return among[names[plain]]
    other = find_other_measure(name)
    if other is not None and other in among:
        return among[other]
    listing = advice("list measures", f"Known are: {', '.join(among)}.")
    near = [names[each] for each in nearest(plain, names, most=3)]
    raise unknown_name("measure", name, among, near=near, listing=listing)


def find_other_measure(name: str) -> str | None:
    """Find the measure that another tool calls so, such as `roc_auc_score`.

    >>> find_other_measure("brier_score_loss")
    'brier'
    """
    from baserate._other_names import find_other_name  # loaded only for names that are unknown

    other = find_other_name(name)
    package, _, measure = other.python[0].rpartition(".") if other is not None and other.python else ("", "", "")
    return measure if package == "measure" else None


def search_names(words: str, among: Mapping[str, Measure]) -> list[str]:
    """Return the names of measures whose name, aliases or summary contain all words."""
    wanted = words.lower().split()
    texts = {name: " ".join([name, *describe(m).aliases, describe(m).summary]).lower() for name, m in among.items()}
    return [name for name, text in texts.items() if all(word in text for word in wanted)]


def normalize_name(name: str) -> str:
    """Return a name in lower case with single spaces, in place of hyphens and underscores as well."""
    return re.sub(r"[\s_‐–-]+", " ", name.strip().lower().replace("−", "-")).strip() or name


def typed_names(measures: Any, find: Callable[[str], Iterable[Measure]]) -> dict[str, dict[str, str]]:  # noqa: ANN401
    """Return the names of measures as a user typed them, as `data` of results; empty where all are their own names.

    A measure that is named twice has the first of its names.

    Parameters
    ----------
    measures
        What a public function takes: names and functions of measures, one of them, "usual", "all", or None.
    find
        Returns the measures of a name.
    """
    if measures is None or callable(measures) or (isinstance(measures, str) and measures in ("usual", "all")):
        return {}
    typed: dict[str, str] = {}
    for name in (each for each in ([measures] if isinstance(measures, str) else measures) if isinstance(each, str)):
        for measure in find(name):
            typed.setdefault(describe(measure).name, " ".join(name.split()))
    others = {name: other for name, other in typed.items() if other != name}
    return {"names": others} if others else {}


def _index_names(among: Mapping[str, Measure]) -> dict[str, str]:
    """Map every spelling to its measure; own names last, so that they win over aliases."""
    also = {normalize_name(other): name for name, m in among.items() for other in describe(m).aliases}
    return also | {normalize_name(name): name for name in among}
