"""Coercion of calls: the arguments of a public function become one of the library's types, a noun of `NOUNS`.

`coerce` reads the arguments of a call. `NOUNS` lists the types that public functions take, and how each is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._arrays import refuse_differing_indexes
from baserate._confusion import Confusion, Confusions
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import unused_option
from baserate._errors import OptionError, ShapeError, keyword, unknown_name
from baserate._rows import LabelSets, MulticlassRows, Rows
from baserate._tally import ReadSummary, Stack, Tallies, Tally
from baserate.read._arrays import tally as tally_arrays
from baserate.read._columns import no_column
from baserate.read._estimators import is_estimator, responses
from baserate.read._predictions import (
    CHOICES,
    OPTIONS,
    OWN,
    ROLES,
    Predictions,
    build_class_data,
    build_class_rows,
    build_class_summary,
    build_classes,
    build_confusion,
    build_counts,
    build_curves,
    build_data,
    build_label_sets,
    build_matrix,
    build_rows,
    build_tallies,
    build_tallies_or_rows,
    build_tally,
    build_tally_or_classes,
    find_counts,
    is_table,
    name_arrays,
    pool_curves,
    pool_single,
)

if TYPE_CHECKING:
    from baserate.read._inspection import ColumnSummary


@dataclass(frozen=True, slots=True)
class Noun:
    """Type that a function takes: which types pass unchanged, how others convert, and how predictions become one."""

    types: tuple[type, ...]
    build: Callable[..., Any]
    roles: tuple[str, ...] = ROLES
    """Columns that the type can hold."""
    convert: Mapping[type, Callable[..., Any]] = field(default_factory=dict)
    mapping: bool = False
    """Whether a mapping from groups to tallies or curves also passes."""
    prefers_labels: bool = False
    """Whether classifiers predict labels rather than scores."""
    samples: bool = False
    """Whether two mappings, of labels and of scores, are separate samples."""
    of_arrays: Callable[[Any, Any], Any] | None = None
    """Makes the type from two plain arrays, without options: the short way, which counts on small data."""

    @property
    def takes_several_classes(self) -> bool:
        """Whether one of the types holds more than two classes."""
        return not {Confusion, Confusions, MulticlassRows}.isdisjoint(self.types)

    @property
    def takes_two_classes(self) -> bool:
        """Whether one of the types holds scores of two classes."""
        return self.mapping or not {Counts, Tally, Curve, Tallies, Rows}.isdisjoint(self.types)

    def accepts(self, value: object) -> bool:
        """Return whether the function takes this value as it is."""
        if isinstance(value, self.types):
            return True
        if not (self.mapping and isinstance(value, Mapping)):
            return False
        # A mapping of arrays is a table; what is neither is refused by the function.
        return not value or isinstance(next(iter(value.values())), OWN) or not holds_values(next(iter(value.values())))


_ONE_MODEL = ("truth", "score", "predicted", "weight", "count")
_TALLIES = (*_ONE_MODEL, "group")


def _as_tallies(tally: Tally) -> Tallies:
    return Tallies({"score": {(): tally}}, intake=ReadSummary(read=int(tally.rows.sum(dtype=np.int64))))


def _count_single(data: Tallies | Rows, threshold: Any = None) -> Counts[Any]:
    return find_counts(pool_single(data if isinstance(data, Tallies) else data.tallies()), threshold)


_TO_TALLY: dict[type, Callable[[Any], Any]] = {
    Curve: lambda curve: curve.tally,
    Tallies: pool_single,
    Rows: lambda rows: pool_single(rows.tallies()),
}
_TO_CURVE: dict[type, Callable[[Any], Any]] = {
    Tally: Curve,
    Tallies: lambda tallies: Curve(pool_single(tallies)),
    Rows: lambda rows: Curve(pool_single(rows.tallies())),
}
_TO_CURVES: dict[type, Callable[[Any], Any]] = {
    Tally: lambda tally: {"score": Curve(tally)},
    Curve: lambda curve: {"score": curve},
    Tallies: pool_curves,
    Rows: lambda rows: pool_curves(rows.tallies()),
}
_TO_TALLIES: dict[type, Callable[[Any], Any]] = {
    Tally: _as_tallies,
    Curve: lambda curve: _as_tallies(curve.tally),
    Rows: Rows.tallies,
}
_TO_PLAN_DATA: dict[type, Callable[[Any], Any]] = {
    **{kind: _TO_TALLIES[kind] for kind in (Tally, Curve)},
    Confusion: lambda table: Confusions({(): table}, intake=ReadSummary(int(table.rows.total), classes=table.labels)),
}
_TO_COUNTS: dict[type, Callable[..., Any]] = {
    Tally: find_counts,
    Curve: find_counts,
    **dict.fromkeys((Tallies, Rows), _count_single),
}
NOUNS: dict[str, Noun] = {
    "counts": Noun((Counts,), build_counts, _ONE_MODEL, _TO_COUNTS),
    "tally": Noun((Tally, Stack), build_tally, _ONE_MODEL, _TO_TALLY, of_arrays=tally_arrays),
    "curve": Noun(
        (Curve,),
        lambda predictions: Curve(build_tally(predictions)),
        _ONE_MODEL,
        _TO_CURVE,
        of_arrays=lambda truth, score: Curve(tally_arrays(truth, score)),
    ),
    "tallies": Noun((Tallies,), build_tallies, _TALLIES, _TO_TALLIES),
    "groups": Noun((Tallies,), build_tallies, _TALLIES, {Rows: Rows.tallies}, mapping=True),
    "rows": Noun((Rows,), build_rows),
    "tallies or rows": Noun((Tallies, Rows), build_tallies_or_rows, ROLES, _TO_TALLIES),
    "any": Noun(OWN, build_tally_or_classes, ROLES, mapping=True),
    "data": Noun((Tallies, MulticlassRows), build_data, _TALLIES, _TO_TALLIES),
    "fit": Noun((Tally, Tallies, Rows, MulticlassRows), build_data, _TALLIES),
    "groups or rows": Noun((Tallies, Rows), build_tallies_or_rows, ROLES, mapping=True),
    "figure": Noun(OWN, build_tallies, _TALLIES, mapping=True),
    "matrix": Noun(OWN, build_matrix, _TALLIES, mapping=True, prefers_labels=True),
    "classes": Noun((Confusions, MulticlassRows), build_classes, _TALLIES),
    "class summary": Noun((Confusions, MulticlassRows, LabelSets), build_class_summary, _TALLIES),
    "confusion": Noun((Confusion,), build_confusion, _ONE_MODEL, {MulticlassRows: MulticlassRows.confusion}),
    "class rows": Noun((MulticlassRows,), build_class_rows, _TALLIES),
    "class data": Noun(
        (Confusion, MulticlassRows, LabelSets),
        build_class_data,
        _ONE_MODEL,
        {Confusions: lambda tables: tables.pooled},
    ),
    "curves": Noun((), build_curves, ROLES, _TO_CURVES, mapping=True),
    "plan data": Noun(
        (Tallies, Rows, MulticlassRows, Confusions),
        lambda predictions: predictions,
        (*_TALLIES, "id"),
        _TO_PLAN_DATA,
        samples=True,
    ),
    "label sets": Noun((LabelSets,), build_label_sets, ("truth", "predicted", "score", "weight")),
}
"""Types that public functions take, by name."""


def parse_predictions(
    name: str, noun: Noun, args: tuple[Any, ...], options: dict[str, Any], own: frozenset[str] = frozenset()
) -> tuple[Predictions, int]:
    """Collect predictions from the arguments of a call; return them, and how many positional arguments they took.

    Options of predictions are removed from `options`, unless they are the function's `own`.
    """
    columns = {role: options.pop(role) for role in ROLES if role in options and role not in own}
    choices = {choice: options.pop(choice) for choice in CHOICES if choice in options and choice not in own}
    columns = {role: each for role, each in columns.items() if each is not None}
    choices = {choice: each for choice, each in choices.items() if each is not None}
    for role in columns:
        if role not in noun.roles:
            raise OptionError(
                f"{name} has no use for {keyword(role)}: it takes {_type_names(noun)}.",
                remedy="Leave it out, or use a function of groups or rows.",
                option=role,
            )
    taken = 0
    table: Any = None
    are_samples = noun.samples and len(args) > 1 and isinstance(args[0], Mapping)
    if args and not are_samples and (isinstance(columns.get("truth"), str) or is_table(args[0])):
        table, taken = args[0], 1
    elif args:
        if "truth" in columns:
            raise OptionError(f"{name} has truth twice; expected it once.", option="truth")
        columns["truth"], taken = args[0], 1
        if len(args) > 1 and args[1] is None:
            taken = 2  # no scores, but predicted labels
        elif len(args) > 1 and "score" not in columns and holds_values(args[1]):
            columns["score"], taken = args[1], 2
        elif len(args) > 1 and not {"score", "predicted"} & columns.keys() and not _is_argument(args[1]):
            raise no_column("score", args[1])
    predictions = Predictions(table, columns, choices)
    _check_arguments(name, predictions)
    return predictions, taken


def _is_argument(value: Any) -> bool:
    """Return whether a value is meant as something else than scores: a rule, a goal, costs and so on."""
    return callable(value) or type(value).__module__.startswith("baserate.")


def _type_names(noun: Noun) -> str:
    return " or ".join(dict.fromkeys(each.__name__ for each in noun.types[:2])) or "curves by name"


def _check_arguments(name: str, predictions: Predictions) -> None:
    """Refuse calls without labels or scores, and names of columns without a table."""
    table, columns, _ = predictions
    if table is not None:
        wrong = next((role for role, each in columns.items() if not _is_column_name(role, each)), None)
        if wrong is not None:
            raise OptionError(
                f"{wrong} is {type(columns[wrong]).__name__}, but a table is given; expected the name of a column.",
                remedy="Add the values to the table, or give all columns as arrays.",
                option=wrong,
            )
        if "truth" not in columns or not {"score", "predicted"} & columns.keys():
            raise _missing_columns(name, predictions)
        return
    if "truth" not in columns or not {"score", "predicted"} & columns.keys():
        raise OptionError(
            f"{name} needs labels and scores.",
            remedy=f"Give both, {name}(truth, score); or a table and names of its columns, {name}(table, "
            "truth='label', score='risk').",
            option="truth" if "truth" not in columns else "score",
        )
    named = next((role for role, each in columns.items() if isinstance(each, str)), None)
    if named is not None:
        raise OptionError(
            f"{named} is {columns[named]!r}, a name, but there is no table.",
            remedy="Give an array; or the table first, and names of its columns.",
            option=named,
            value=columns[named],
        )
    if "score" in columns and not name_arrays("score", columns["score"]):
        raise ShapeError(
            f"score is of type {type(columns['score']).__name__}, without columns; expected one for each model.",
            remedy='Give an array, or scores by name: {"a": score}.',
        )
    _check_indexes(columns)


def _check_indexes(columns: Mapping[str, Any]) -> None:
    """Refuse columns whose row labels differ, also those of scores by name."""
    labelled = {role: each for role, each in columns.items() if not isinstance(each, (np.ndarray, list))}
    if not labelled or isinstance(columns["truth"], Mapping):  # separate samples have indexes of their own
        return
    refuse_differing_indexes(
        {
            role if name == role else f"{role} of {name}": array
            for role, each in labelled.items()
            for name, array in name_arrays(role, each).items()
        }
    )


def _missing_columns(name: str, predictions: Predictions) -> OptionError:
    """Make the error for a table without names of columns: it describes them, and completes the call."""
    from baserate.read._inspection import inspect_columns  # which loads engines, for errors alone

    table, columns, _ = predictions
    given = columns.keys() | ({"score"} if "predicted" in columns else set())
    roles = [role for role in ("truth", "score") if role not in given]
    what = f"{name} needs the name of the column of {'labels' if 'truth' in roles else 'scores'}."
    found = inspect_columns(table)
    if found is None:
        remedy = f"Give {keyword('truth', 'label')} and {keyword('score', 'risk')}, with your names."
        return OptionError(what, remedy=remedy, option=roles[0])
    lines = found.lines(str(table) if isinstance(table, (str, PathLike)) else "The table")
    likely = {role: found.candidates("labels" if role == "truth" else "scores")[:1] for role in roles}
    unlikely = [role for role, several in likely.items() if not several]
    remedy = f"No column looks right for {' and '.join(unlikely)}; name yours: truth='label', score='risk'."
    if not unlikely:
        remedy = f"Call {_complete_call(name, predictions, {role: several[0] for role, several in likely.items()})}."
    return OptionError("\n".join([what, *lines, ""]), remedy=remedy, option=roles[0])


def _complete_call(name: str, predictions: Predictions, likely: Mapping[str, ColumnSummary]) -> str:
    """Complete a call by the likeliest columns, and by the positive class where its label does not tell."""
    table, columns, choices = predictions
    named = {**columns, **{role: each.name for role, each in likely.items()}}
    if "truth" in likely and likely["truth"].positive is not None and "positive" not in choices:
        named["positive"] = likely["truth"].positive
    source = repr(str(table)) if isinstance(table, (str, PathLike)) else "table"
    return f"{name}({source}, {', '.join(f'{role}={each!r}' for role, each in named.items())})"


def _is_column_name(role: str, value: Any) -> bool:
    """Return whether a value names a column, or for scores and groups several."""
    if isinstance(value, str):
        return True
    if role not in ("score", "group"):
        return False
    names: Iterable[Any] = value.values() if isinstance(value, Mapping) else value
    return isinstance(value, (list, tuple, Mapping)) and all(isinstance(each, str) for each in names)


def check_options(name: str, options: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keywords that a function does not have; the names of other libraries are known."""
    known = {*known}
    for each in options:
        if each not in known:
            if each in OPTIONS:
                raise OptionError(
                    f"{name} has no use for {keyword(each)}.",
                    remedy=f"Leave it out. Options of {name} are {', '.join(sorted(known))}.",
                    option=each,
                )
            from baserate._other_names import find_other_option  # only now: most calls have no unknown option

            other = find_other_option(each, known) or each
            near = [here for here in (other, other.removesuffix("s")) if here in known]
            listing = f"{name} has the options {', '.join(sorted(known))}."
            raise unknown_name("option", each, known, near=near or None, listing=listing)


def coerce(
    name: str, kind: str, args: tuple[Any, ...], options: dict[str, Any], own: frozenset[str], **more: object
) -> tuple[Any, tuple[Any, ...]]:
    """Return the data of a call as the type that the function takes, and the other positional arguments.

    Parameters
    ----------
    name
        Name of the function, for messages.
    kind
        The type that it takes: a name in `NOUNS`.
    args, options
        Arguments of the call. Options of predictions are removed from `options`.
    own
        Options that the function itself takes.
    more
        Options of how the noun is made, such as a threshold.
    """
    noun = NOUNS[kind]
    if noun.of_arrays is not None and len(args) == 2 and not options and all(map(_is_plain, args)):
        return noun.of_arrays(*args), ()
    if args and not isinstance(args[0], (np.ndarray, *OWN)) and _holds_estimators(args[0]):
        args = _score_rows(name, noun, args, options)
    if args and noun.accepts(args[0]):
        _refuse_columns(name, args[0], options)
        return args[0], args[1:]
    if args and isinstance(args[0], OWN):
        _refuse_columns(name, args[0], options)
        convert = next((way for kind, way in noun.convert.items() if isinstance(args[0], kind)), None)
        if convert is None:
            raise OptionError(
                f"{name} takes {_type_names(noun)}, not {type(args[0]).__name__}.",
                remedy="For several classes use baserate.measure.multiclass and baserate.infer.multiclass_summary."
                if isinstance(args[0], (Confusion, Confusions, MulticlassRows, LabelSets))
                else f"Give labels and scores, {name}(truth, score), or read them as {_type_names(noun)}.",
            )
        return convert(args[0], **more), args[1:]
    if args and isinstance(args[0], tuple) and len(args[0]) == 2 and all(map(holds_values, args[0])):
        args = (*args[0], *args[1:])  # (truth, score)
    predictions, taken = parse_predictions(name, noun, args, options, own)
    return noun.build(predictions, **more), args[taken:]


def _is_plain(value: object) -> bool:
    return type(value) is np.ndarray and value.ndim == 1


def _holds_estimators(value: Any) -> bool:
    """Return whether a value is a classifier, or a mapping of classifiers by name; refuse a list of them."""
    if isinstance(value, (list, tuple)) and value and all(map(is_estimator, value)):
        raise OptionError(
            f"there are {len(value)} classifiers without names.", remedy='Name them: {"a": first, "b": second}.'
        )
    return all(map(is_estimator, value.values())) if isinstance(value, Mapping) and value else is_estimator(value)


def _score_rows(name: str, noun: Noun, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Replace a classifier or several, features and labels by labels and scores."""
    if len(args) < 3:
        kind = "classifiers" if isinstance(args[0], Mapping) else f"{type(args[0]).__name__}, a classifier"
        raise OptionError(
            f"{name} was given {kind}; expected features and labels, too.",
            remedy=f"Give {name}(estimator, X, y).",
        )
    estimator, features, truth, *others = args
    arrays = {role: options[role] for role in ROLES if role in options}
    refuse_differing_indexes({"X": features, "y": truth, **arrays})
    if isinstance(estimator, Mapping):
        scores = {}
        for model, each in estimator.items():
            scores[model], options["positive"] = responses(each, features, truth, positive=options.get("positive"))
        return (truth, scores, *others)
    if noun.prefers_labels and not {"threshold", "policy"} & options.keys():
        options["predicted"] = np.asarray(estimator.predict(features))
        return (truth, None, *others)
    classes = getattr(estimator, "classes_", ())
    if not noun.takes_two_classes or (noun.takes_several_classes and len(classes) > 2):
        options["labels"] = list(classes)
        return (truth, estimator.predict_proba(features), *others)
    score, options["positive"] = responses(estimator, features, truth, positive=options.get("positive"))
    return (truth, score, *others)


def holds_values(value: Any) -> bool:
    """Return whether a value is an array, a list, or several by name."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, *OWN))


def _refuse_columns(name: str, data: object, options: Mapping[str, Any]) -> None:
    given = next((each for each in options if each in OPTIONS and options[each] is not None), None)
    if given is not None:
        raise unused_option(given, "…", f"{name} was given {type(data).__name__}, which are read already")
