"""Decorators of public functions, which then take predictions in any form.

A function whose first argument is a Tally, a Curve, Tallies, Rows and so on also takes `f(truth, score, …)` and
`f(table, truth="…", score="…", …)`. Calls with the right type pass straight through, and no function below this
boundary sees anything else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from inspect import unwrap
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

from baserate._costs import as_costs
from baserate._domains import LEVEL, check_domain, parse_shares, wrong_option
from baserate._errors import OptionError, ShapeError, keyword
from baserate._lazy import load_object
from baserate._rows import MulticlassTarget, Target
from baserate.read._coercion import NOUNS, check_options, coerce, holds_values
from baserate.read._estimators import FittedClassifier
from baserate.read._predictions import CHOICES, OPTIONS, OWN, OwnData, Scores, TableSource, is_table

P = ParamSpec("P")
N_contra = TypeVar("N_contra", contravariant=True)
M_contra = TypeVar("M_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
M = TypeVar("M")
N = TypeVar("N")
R = TypeVar("R")


class OfPredictions(Protocol[N_contra, P, R_co]):
    """A function of predictions in any form."""

    __name__: str

    @overload
    def __call__(self, data: N_contra, /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, truth: npt.ArrayLike, score: Scores, /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, table: TableSource | OwnData, /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(
        self,
        estimator: FittedClassifier | Mapping[str, FittedClassifier],
        features: Any,
        y: npt.ArrayLike,
        /,
        *args: P.args,
        **options: P.kwargs,
    ) -> R_co: ...


class OfMeasureAndPredictions(Protocol[M_contra, N_contra, P, R_co]):
    """A function of a measure, or several, and of predictions in any form."""

    __name__: str

    @overload
    def __call__(self, measure: M_contra, data: N_contra, /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(
        self, measure: M_contra, truth: npt.ArrayLike, score: Scores, /, *args: P.args, **options: P.kwargs
    ) -> R_co: ...
    @overload
    def __call__(
        self, measure: M_contra, table: TableSource | OwnData, /, *args: P.args, **options: P.kwargs
    ) -> R_co: ...


class _Decorator(Protocol):
    def __call__(self, function: Callable[Concatenate[N, P], R], /) -> OfPredictions[N, P, R]: ...


class _DecoratorAfterMeasure(Protocol):
    def __call__(self, function: Callable[Concatenate[M, N, P], R], /) -> OfMeasureAndPredictions[M, N, P, R]: ...


@overload
def accepts_predictions(
    noun: str, *, costs: bool = True, others: tuple[type, ...] = (), adjusts: bool = False
) -> _Decorator: ...
@overload
def accepts_predictions(
    noun: str, *, at: Literal[1], others: tuple[type, ...] = (), adjusts: bool = False
) -> _DecoratorAfterMeasure: ...
def accepts_predictions(
    noun: str, *, at: int = 0, costs: bool = True, others: tuple[type, ...] = (), adjusts: bool = False
) -> Any:
    """Let a function take predictions in any form where it takes a noun of `NOUNS`.

    The function declares `**predictions: Unpack[PredictionOptions]` for type checkers and help; it never receives any.
    Wherever it takes a prevalence, text such as "5%" will do; where it takes costs, a mapping, or `fp=` and `fn=`;
    where it takes the options of intervals as `interval`, also `level=`, `method=` and `seed=`.

    Parameters
    ----------
    noun
        The type that the function takes: a name in `NOUNS`.
    at
        Place of the predictions among the positional arguments: 1 after a measure.
    costs
        Whether a parameter `costs` means the costs of the four outcomes.
    others
        Types of other packages that the function takes, too.
    adjusts
        Whether the decorator adds `prevalence=`, at which the classes are reweighted before the function sees them.
    """
    kind = NOUNS[noun]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name, parameters = function.__name__, _parameters(function)
        data_name = parameters.names[at]
        own = frozenset(parameters.names) - {data_name}
        has_costs = costs and "costs" in own
        of_interval = _OF_INTERVAL - own if "interval" in own else frozenset()
        known = own | {*kind.roles, *CHOICES} | ({"fp", "fn"} if has_costs else set()) | of_interval
        known |= {"prevalence"} if adjusts else set()
        default_interval = unwrap(function).__kwdefaults__["interval"] if of_interval else None
        place = parameters.names.index("costs") if has_costs else -1

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            if len(args) == at and data_name in options:
                args = (*args, options.pop(data_name))
            if len(args) > at and isinstance(args[at], others):
                return function(*args, **options)
            prevalence = options.pop("prevalence", None) if adjusts else None
            options = _pack_interval(options, of_interval, default_interval)
            is_own = len(args) > at and isinstance(args[at], kind.types) and options.keys() <= own
            if not is_own:
                check_options(name, filter(_FOREIGN.__contains__, options) if parameters.open_ended else options, known)
                data, rest = coerce(name, noun, args[at:], options, own)
                args = (*args[:at], data, *rest)
            _check_arguments(name, parameters, args, options)
            if has_costs and len(args) > place and (isinstance(args[place], Mapping) or {"fp", "fn"} & options.keys()):
                stated = as_costs(args[place], options.pop("fp", None), options.pop("fn", None))
                args = (*args[:place], stated, *args[place + 1 :])
            if not _WORDED.isdisjoint(options):
                options = read_worded_options(options, has_costs=has_costs)
            if prevalence is not None:
                evaluate_at = load_object("baserate.shift:evaluate_at_prevalence")
                evaluate = partial(function, *args[:at])
                return evaluate_at(evaluate, args[at], *args[at + 1 :], prevalence=prevalence, **options)
            return function(*args, **options)

        forms = _Forms(name, data_name, at, has_interval=bool(of_interval), adjusts=adjusts)
        call.__doc__ = _describe_forms(function.__doc__ or "", forms)
        return call

    return decorate


_OF_INTERVAL = frozenset({"level", "method", "seed"})
"""Options of confidence intervals, which `IntervalOptions` holds."""


def _pack_interval(options: Mapping[str, Any], names: frozenset[str], default: Any) -> dict[str, Any]:
    """Return options with those of intervals as one, `interval`, if there are any."""
    if names.isdisjoint(options):
        return dict(options)
    more = read_worded_options({name: each for name, each in options.items() if name in names})
    interval = options.get("interval", default)
    if interval is None:
        interval = load_object("baserate.infer:IntervalOptions")()
    rest = {name: each for name, each in options.items() if name not in names}
    return {**rest, "interval": replace(interval, **more)}


_SHARES = ("prevalence", "sample_prevalence", "level", "threshold", "share", "coverage", "at")
"""Options that are shares, or numbers, and may be written as text."""
_NUMBERS = ("share", "coverage", "at")
"""Those that cannot be words, such as a prevalence that is "derived"."""
_UNIT = LEVEL._replace(low=5e-324, high=1 - 2**-53)
"""Levels that some function takes; each checks its own domain."""
_WORDED = {*_SHARES, "costs", "fp", "fn"}
"""Options that may be written in several ways."""
_FOREIGN = frozenset(
    {"y_true", "y_score", "y_prob", "y_proba", "y_pred", "probas_pred", "sample_weight"}
    | {"pos_label", "sensitive_features", "random_state", "metric", "metrics"}
)
"""Options of other libraries that are options of no method, rule or measure here."""


class OfTarget(Protocol[P, R_co]):
    """A function of unlabelled scores and of validation data in any form."""

    __name__: str

    @overload
    def __call__(self, target: Any, validation: Any = ..., /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(
        self, target: Any, truth: npt.ArrayLike, score: Scores, /, *args: P.args, **options: P.kwargs
    ) -> R_co: ...


def accepts_target(
    function: Callable[Concatenate[Any, Any, P], R], *, at: int = 0, noun: str = "any"
) -> OfTarget[P, R]:
    """Let a function of a target and of validation data take both in any form.

    The target may be an array of scores, a matrix with a column for each class, or a table; the validation data are
    `truth, score`, a pair of them, or a table. Names of columns hold for both tables.

    Parameters
    ----------
    function
        The function that is decorated.
    at
        Place of the target among the positional arguments.
    noun
        The type of the validation data: a name in `NOUNS`.
    """
    name, parameters = function.__name__, _parameters(function)
    data_names = parameters.names[at : at + 2]
    own = frozenset(parameters.names) - {*data_names}
    types = (*_TARGETS, *NOUNS[noun].types)
    plain: Any = function

    @wraps(function)
    def call(*args: Any, **options: Any) -> R:
        for place, each in enumerate(data_names, start=at):
            if len(args) == place and each in options:
                args = (*args, options.pop(each))
        data = args[at:]
        are_own = len(data) in (1, 2) and all(each is None or isinstance(each, types) for each in data)
        if not (are_own and (parameters.open_ended or options.keys() <= own)):
            columns = {
                each: options.pop(each) for each in (*CHOICES, *_TARGET_ROLES) if each in options and each not in own
            }
            known = own | {*CHOICES, *_TARGET_ROLES}
            check_options(name, filter(_FOREIGN.__contains__, options) if parameters.open_ended else options, known)
            data = _coerce_target(name, noun, data, columns)
        value: R = plain(*args[:at], *data, **read_worded_options(options))
        return value

    return call


_TARGET_ROLES = ("truth", "score", "weight", "count")
_TARGETS = (Target, MulticlassTarget)


def _coerce_target(name: str, noun: str, args: tuple[Any, ...], columns: dict[str, Any]) -> tuple[Any, ...]:
    """Return a target, validation data or None, and the other positional arguments."""
    if not args:
        raise OptionError(f"{name} needs scores without labels.", remedy=f"Give {name}(scores, truth, score), arrays.")
    validation, rest = None, args[1:]
    if rest and rest[0] is None:
        rest = rest[1:]
    elif rest or {"truth", "predicted"} <= columns.keys():
        try:
            validation, rest = coerce(name, noun, rest, dict(columns), frozenset())
        except (OptionError, ShapeError) as error:
            if not any(each in error.what for each in ("different lengths", "needs labels")):
                raise
            remedy = f"Scores without labels come first: {name}(scores, truth, score)."
            raise type(error)(f"{error.what.removesuffix('.')}.", remedy=remedy) from error
    return as_target(args[0], columns.get("score"), labels=columns.get("labels")), validation, *rest


def as_target(target: Any, score: Any = None, *, labels: Any = None) -> Any:
    """Read unlabelled scores from an array, a matrix with a column for each class, or a table.

    >>> as_target([0.2, 0.9]).score.tolist()
    [0.2, 0.9]
    """
    from baserate.read import _readers

    if isinstance(target, _TARGETS):
        return target
    if is_table(target):
        if score is None:
            raise OptionError("the target is a table; expected the name of its column of scores.", option="score")
        several = not isinstance(score, str) or score.endswith("*")
        if several:
            return _readers.class_target(target, labels=labels, score=score)
        return _readers.target(target, score=score)
    if np.ndim(target) == 2 and np.shape(target)[1] > 2:
        return _readers.class_target(np.asarray(target), labels=labels)
    scores = np.asarray(target)[:, -1] if np.ndim(target) == 2 else target
    return _readers.target({"score": scores}, score="score")


class OfTwo(Protocol[N_contra, P, R_co]):
    """A function of two sets of predictions, each in any form; of arrays, a pair `(truth, score)`."""

    __name__: str

    def __call__(
        self,
        first: N_contra | tuple[npt.ArrayLike, Scores],
        second: N_contra | tuple[npt.ArrayLike, Scores],
        /,
        *args: P.args,
        **options: P.kwargs,
    ) -> R_co: ...


def accepts_two(
    noun: str, *, also: tuple[type, ...] = ()
) -> Callable[[Callable[Concatenate[N, N, P], R]], OfTwo[N, P, R]]:
    """Let a function of two samples take each as a noun of `NOUNS`, as a pair `(truth, score)`, or as a table.

    Samples of the types `also` are passed on unchanged.
    """

    def decorate(function: Callable[Concatenate[N, N, P], R]) -> OfTwo[N, P, R]:
        name, own = function.__name__, own_options(function)
        known = own | {*NOUNS[noun].roles, *CHOICES}

        @wraps(function)
        def call(first: Any, second: Any, /, *args: Any, **options: Any) -> R:
            check_options(name, options, known)
            columns = {each: options.pop(each) for each in OPTIONS & options.keys() - own}
            samples = (first, second)
            pair: Any = (
                each if isinstance(each, also) else _coerce_sample(name, noun, each, columns) for each in samples
            )
            return function(*pair, *args, **read_worded_options(options))

        return call

    return decorate


def _coerce_sample(name: str, noun: str, sample: Any, columns: Mapping[str, Any]) -> Any:
    """Return one of two samples as a noun."""
    if isinstance(sample, NOUNS[noun].types):
        return sample
    if not isinstance(sample, (tuple, *OWN)) and not is_table(sample):
        expected = NOUNS[noun].types[0].__name__
        raise OptionError(
            f"a sample of {name} is of type {type(sample).__name__}; expected {expected}, or a pair.",
            remedy=f"Give a pair for each, {name}((truth, score), (truth, score)).",
        )
    return coerce(name, noun, (sample,), dict(columns), frozenset())[0]


def accepts_words(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of numbers take prevalences as text, such as "5%", and costs as a mapping."""
    parameters = _parameters(function)
    names = parameters.names

    plain: Any = function

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        _check_arguments(function.__name__, parameters, args, options)
        first = [_read_words(*each) for each in zip(names, args, strict=False)]
        named = {name: _read_words(name, each) for name, each in options.items()}
        value: R = plain(*first, *args[len(names) :], **named)
        return value

    return call


def _read_words(name: str, value: Any) -> Any:
    if name == "costs" and isinstance(value, Mapping):
        return as_costs(value)
    if name not in _SHARES:
        return value
    value = parse_shares(value)
    if isinstance(value, str):
        raise wrong_option(name, value, "a number")
    return value


def read_worded_options(options: Mapping[str, Any], *, has_costs: bool = True) -> dict[str, Any]:
    """Return options with shares as numbers, and costs, if there are any of outcomes, as `Costs`.

    >>> read_worded_options({"prevalence": "5%", "fp": 1, "fn": 20})
    {'prevalence': 0.05, 'costs': Costs(tp=0.0, fp=1, fn=20, tn=0.0)}
    """
    plain = dict(options)
    for each in _SHARES:
        if isinstance(plain.get(each), (str, Mapping)):
            plain[each] = parse_shares(plain[each])
        if each in _NUMBERS and isinstance(plain.get(each), str):
            raise wrong_option(each, plain[each], "a number")
    level = plain.get("level")
    if level is not None and not _UNIT.holds(level):
        check_domain("level", level, LEVEL)
    costs = plain.get("costs")
    # A mapping from actions to pairs of costs is something else.
    is_mapping = isinstance(costs, Mapping) and not any(map(np.ndim, costs.values()))
    if has_costs and (is_mapping or "fp" in plain or "fn" in plain):
        plain["costs"] = as_costs(plain.pop("costs", None), plain.pop("fp", None), plain.pop("fn", None))
    return plain


class _Parameters(NamedTuple):
    """Parameters of a function: their names, and whether it takes any other keyword."""

    names: tuple[str, ...]
    open_ended: bool
    most: int
    """Number of positional arguments."""
    least: int
    """Number of those without a default."""


def _parameters(function: Callable[..., Any]) -> _Parameters:
    """Return the parameters of a function, without `**predictions`."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    named = code.co_argcount + code.co_kwonlyargcount
    has_keywords = bool(code.co_flags & 0x08)
    rest = code.co_varnames[named + bool(code.co_flags & 0x04)] if has_keywords else "predictions"
    most = sys.maxsize if code.co_flags & 0x04 else code.co_argcount
    least = code.co_argcount - len(function.__defaults__ or ())
    return _Parameters(code.co_varnames[:named], rest != "predictions", most, least)


def too_many_arguments(name: str, many: int, options: Iterable[str]) -> OptionError:
    """Make the error for more positional arguments than a function takes."""
    named = [f"{each}=…" for each in options]
    return OptionError(
        f"{name} was given {many} argument{'s' * (many > 1)} too many without a name.",
        remedy=f"Name options: {', '.join(named)}." if named else "Leave them out.",
    )


_EXAMPLES = {"parity": "equalized-odds", "rule": "youden", "require": "sensitivity >= 0.9"}
"""Values of arguments that have no default, for messages."""


def _check_arguments(name: str, parameters: _Parameters, args: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Refuse a call with too many positional arguments, or without one that has no default."""
    if len(args) > parameters.most:
        extra = args[parameters.most]
        are_names = isinstance(extra, (list, tuple)) and all(isinstance(each, str) for each in extra)
        if holds_values(extra) and not are_names:
            raise OptionError(
                f"{name} was given more arrays than labels and scores.",
                remedy='Name scores of several models, {"a": p, "b": q}; and other columns: group=…, weight=….',
            )
        raise too_many_arguments(name, len(args) - parameters.most, parameters.names[parameters.most :])
    given = {*options, *(("costs",) if {"fp", "fn"} & options.keys() else ())}
    missing = next((each for each in parameters.names[len(args) : parameters.least] if each not in given), None)
    if missing is not None:
        example = keyword(missing, _EXAMPLES[missing]) if missing in _EXAMPLES else f"{keyword(missing)}…"
        example = "fp=1, fn=20, with your costs" if missing == "costs" else example
        raise OptionError(f"{name} needs {missing}.", remedy=f"Give {example}.", option=missing)


def own_options(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the parameters of a function, without the first and without `**predictions`."""
    return frozenset(_parameters(function).names[1:])


class _Forms(NamedTuple):
    """How a function may be called, for its docstring."""

    name: str
    data_name: str
    at: int
    has_interval: bool
    adjusts: bool


def _describe_forms(written: str, forms: _Forms) -> str:
    """Add to a docstring in which forms predictions may be given."""
    name, before = forms.name, "measure, " if forms.at else ""
    found = re.search(r"\n\n( *)Parameters\n", written)
    if found is None:
        return written
    margin = found[1]
    text = (
        f"Instead of `{forms.data_name}`, labels and scores do, ``{name}({before}truth, score)``; or a table and names "
        f"of its\n{margin}columns, ``{name}({before}table, truth=…, score=…)``."
    )
    if forms.has_interval:
        text += f"\n{margin}Options of intervals may be stated alone: ``level=``, ``method=``, ``seed=``."
    if forms.adjusts:
        text += (
            f'\n{margin}``prevalence="5%"`` states the deployment prevalence: the classes are reweighted to it,'
            f"\n{margin}and scores are not adjusted. By default the prevalence is that of the sample."
        )
    return f"{written[: found.start()]}\n\n{margin}{text}{written[found.start() :]}"
