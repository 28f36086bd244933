"""Calls of measures: with the type that a measure is written for, or with labels and scores in any form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

import numpy.typing as npt

from baserate._arrays import Value
from baserate._confusion import Confusion
from baserate._costs import CostMatrix, Costs, as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import ShareLike, parse_share, wrong_option
from baserate._errors import NotBinaryError, OptionError, keyword
from baserate._lazy import load_object
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Stack, Tally
from baserate.read import (
    CHOICES,
    NOUNS,
    FittedClassifier,
    Missing,
    OwnData,
    Scores,
    TableSource,
    check_options,
    coerce,
    own_options,
    too_many_arguments,
)

P = ParamSpec("P")
Noun = TypeVar("Noun", Curve, Tally, Tally | Stack, Confusion, MulticlassRows, LabelSets)
N_contra = TypeVar("N_contra", contravariant=True)


class MeasureOptions(TypedDict, total=False):
    """Keywords of measures of predictions: arrays or names of columns, how to read them, and options of measures."""

    truth: npt.ArrayLike | str
    score: Scores | str
    predicted: npt.ArrayLike | str
    weight: npt.ArrayLike | str | None
    count: npt.ArrayLike | str | None
    sample_weight: npt.ArrayLike | None
    positive: object
    pos_label: object
    negative: object
    missing: Missing
    labels: Iterable[object] | None
    threshold: float | npt.NDArray[Any] | Sequence[float] | None
    prevalence: ShareLike | None
    costs: Costs | CostMatrix | Mapping[str, float] | None
    fp: float
    fn: float
    at: float
    beta: float
    alpha: float
    fpr: tuple[float, float]
    tpr: tuple[float, float]
    standardized: bool
    specificity: float
    sensitivity: float
    precision: float
    interpolated: bool
    bins: int | Sequence[float]
    by: Literal["width", "mass"]
    smoother: Literal["lowess", "isotonic"]
    span: float
    step: float
    quantile: Literal["inverted_cdf", "linear"]
    width: float | None
    weights: Literal["none", "linear", "quadratic"] | npt.ArrayLike
    base: float
    k: int


class OfCounts(Protocol[P]):
    """A measure of the 2×2 table: of decisions, or of scores at a threshold."""

    __name__: str

    @overload
    def __call__(self, counts: Counts[Value], /, *args: P.args, **options: P.kwargs) -> Value: ...
    @overload
    def __call__(self, truth: npt.ArrayLike, score: Scores, /, **options: Unpack[MeasureOptions]) -> float: ...
    @overload
    def __call__(self, table: TableSource | OwnData, /, **options: Unpack[MeasureOptions]) -> float: ...
    @overload
    def __call__(
        self, estimator: FittedClassifier, features: Any, y: npt.ArrayLike, /, **options: Unpack[MeasureOptions]
    ) -> float: ...
    @overload
    def __call__(self, /, **options: Unpack[MeasureOptions]) -> float: ...


class OfScores(Protocol[N_contra, P]):
    """A measure of scores, or of several classes."""

    __name__: str

    @overload
    def __call__(self, data: N_contra, /, *args: P.args, **options: P.kwargs) -> float: ...
    @overload
    def __call__(self, truth: npt.ArrayLike, score: Scores, /, **options: Unpack[MeasureOptions]) -> float: ...
    @overload
    def __call__(self, table: TableSource | OwnData, /, **options: Unpack[MeasureOptions]) -> float: ...
    @overload
    def __call__(
        self, estimator: FittedClassifier, features: Any, y: npt.ArrayLike, /, **options: Unpack[MeasureOptions]
    ) -> float: ...
    @overload
    def __call__(self, /, **options: Unpack[MeasureOptions]) -> float: ...


class MeasureDecorator(Protocol):
    """What `@measure(…)` returns."""

    @overload
    def __call__(self, function: Callable[Concatenate[Counts[Value], P], Value], /) -> OfCounts[P]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Noun, P], float], /) -> OfScores[Noun, P]: ...


NOUN_OF: dict[type, str] = {
    Counts: "counts",
    Curve: "curve",
    Tally: "tally",
    Confusion: "confusion",
    MulticlassRows: "class rows",
    LabelSets: "label sets",
}
"""Type of the argument -> name of the type in `baserate.read`."""


_SCIKIT_LEARN = {"sample_weight": "weight", "pos_label": "positive"}
"""Keywords that `make_scorer` of scikit-learn passes -> ours."""
_REQUIREMENTS = {
    "costs": ("the costs of errors", "fp=1, fn=20"),
    "at": ("a threshold probability", "at=0.1"),
    "specificity": ("a specificity", "specificity=0.9"),
    "sensitivity": ("a sensitivity", "sensitivity=0.9"),
    "precision": ("a precision", "precision=0.9"),
}


def accept_predictions(
    function: Callable[..., Any], of: type, option: str | None, *, required: bool
) -> Callable[..., Any]:
    """Let a measure also take labels and scores, or a table; one of two classes, also the deployment prevalence.

    Parameters
    ----------
    function
        A measure of `of`.
    of
        The type of its argument.
    option, required
        The option on which the value depends, if any, and whether it must be stated.
    """
    name, own, counts = function.__name__, own_options(function), of is Counts
    types, most = (Tally, Stack) if of is Tally else (of,), function.__code__.co_argcount - 1
    costs = ("fp", "fn") if counts and option == "costs" else ()
    more_options = (*costs, *(("threshold",) if counts else ()), *(("prevalence",) if of in _OF_TWO_CLASSES else ()))
    known = own | {*NOUNS[NOUN_OF[of]].roles, *CHOICES, *more_options}

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], types) and options.keys() <= own:
            return function(*args, **options)
        options = {_SCIKIT_LEARN.get(each, each): value for each, value in options.items()}
        check_options(name, options, known)
        if costs:
            stated = as_costs(options.pop("costs", None), options.pop("fp", None), options.pop("fn", None))
            options |= {} if stated is None else {"costs": stated}
        if required and str(option) not in options:
            what, example = _REQUIREMENTS[str(option)]
            raise OptionError(f"{name} needs {what}.", remedy=f"Give {example}.", option=str(option))
        noun = NOUN_OF[of]
        options = _read_numbers(options) if options else options
        more = {"threshold": options.pop("threshold", None)} if counts else {}
        prevalence = options.pop("prevalence", None)
        try:
            data, rest = coerce(name, noun, args, options, own, **more)
        except NotBinaryError as error:
            raise _advise_classes(error, name) from None
        if len(rest) > most:
            raise too_many_arguments(name, len(rest) - most, sorted(own | {*more_options}))
        if prevalence is not None:
            data = load_object("baserate.shift:reweigh")(data, prevalence=prevalence)
        return function(data, *rest, **options)

    return call


_OF_TWO_CLASSES = (Counts, Curve, Tally)
"""Types whose classes are reweighted to a stated prevalence."""
_NUMBERS = (
    *("threshold", "at", "beta", "alpha", "specificity", "sensitivity", "precision"),
    *("span", "step", "width", "base", "k"),
)
"""Options that are numbers, and may be written as text, such as "5%"."""


def _read_numbers(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with numbers in place of their text."""
    for name in _NUMBERS:
        if isinstance(options.get(name), str):
            options[name] = parse_share(options[name])
            if isinstance(options[name], str):
                raise wrong_option(name, options[name], "a number")
    return options


def _advise_classes(error: NotBinaryError, name: str) -> NotBinaryError:
    """Add the measure of several classes to an error about more than two labels."""
    from baserate.measure import multiclass

    if "more than two" not in error.what or name not in multiclass.MEASURES:
        return error
    return NotBinaryError(
        error.what,
        remedy=f"use baserate.measure.multiclass.{name}, or name {keyword('positive')} and {keyword('negative')}.",
    )
