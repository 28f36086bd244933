"""The registry of measures of several classes, and any measure of two classes as an average over classes.

`Split` sets each class against the rest, once for many measures; `per_class` and `average_over_classes` apply a
measure to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Unpack, get_args

import numpy as np

from baserate._arrays import Floats, mean_defined
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError, ShapeError, UnknownNameError, unknown_name
from baserate._numeric.cumulative import parallel_map
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.measure import _measure
from baserate.measure._measure import Measure, collect, describe
from baserate.measure._registry import as_measure, margin
from baserate.measure.multiclass import _information, _label_ranking, _ordinal, _rates, _scores
from baserate.read import PredictionOptions, accepts_predictions

Average = Literal["macro", "weighted", "micro", "samples"]
AVERAGES: tuple[str, ...] = get_args(Average)
"""`macro`: plain mean over classes. `weighted`: mean by class frequency. `micro`: all classes pooled, then measured.
`samples`: mean over rows in place of classes, for sets of labels."""
_CAUSES = {
    "total": "there are no rows",
    "positives": "no row is of the class",
    "negatives": "every row is of the class",
    "flagged": "the class is never predicted",
    "not_flagged": "nothing else is ever predicted",
    "either": "the class is neither true nor predicted anywhere",
    "chance_disagreement": "the class is true and predicted everywhere, or nowhere",
}
"""Reason why a measure of one class against the rest is undefined, for each margin that is zero."""
_NO_CLASS = "no class has a value"

MEASURES: dict[str, Measure] = collect(_rates, _information, _scores, _ordinal, _label_ranking)
"""Measures of all classes together by name, in the order of the documentation and of tables."""


def find_measure(name: str) -> Measure:
    """Find a measure of all classes by its name or an alias, as `baserate.measure.find_measure` does.

    Top-k accuracy, discounted gains and weighted kappa have a name for each k and each kind of weights.

    Parameters
    ----------
    name
        Name or alias.

    Returns
    -------
    Measure
        The function, with its description as `about`.

    Examples
    --------
    >>> find_measure("R_K").__name__, find_measure("Cohen's kappa").__name__
    ('mcc', 'kappa')
    >>> find_measure("top-5 accuracy").about.name, find_measure("quadratic weighted kappa").about.name
    ('top_5_accuracy', 'quadratic_kappa')
    """
    plain = re.sub(r"[\s_-]+", " ", name.strip().lower())
    if top := re.fullmatch(r"top ?([1-9][0-9]{0,5})( accuracy)?", plain):
        k = int(top[1])
        among = "has the highest score" if k == 1 else f"is among the {k} highest scores"
        summary = f"Share of rows whose true class {among}."
        return _measure.specialize(_scores.top_k_accuracy, f"top_{k}_accuracy", summary, k=k)
    if weighted := re.fullmatch(r"(linear|quadratic)( weighted)? kappa", plain):
        kind = weighted[1]
        summary = f"Cohen's kappa with {kind} weights for disagreements: weighted agreement beyond chance."
        return _measure.specialize(_rates.kappa, f"{kind}_kappa", summary, weights=kind)
    if best := re.fullmatch(r"(n?dcg)( at |@)([1-9][0-9]{0,5})", plain):
        kind, k = best[1], int(best[3])
        gain = "Discounted cumulative gain" if kind == "dcg" else "Normalized discounted cumulative gain"
        summary = f"{gain} of the {k} labels with the highest scores in each row."
        return _measure.specialize(MEASURES[kind], f"{kind}_at_{k}", summary, k=k)
    return _measure.find_by_name(name, MEASURES)


def search(words: str) -> list[str]:
    """Return the names of measures of all classes whose name, aliases or summary contain all words.

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
    >>> search("Mosley")
    ['class_balanced_accuracy']
    """
    return _measure.search_names(words, MEASURES)


# No slots: cached_property stores its values in the __dict__.
@dataclass(frozen=True, eq=False)
class Split:
    """Each class against the rest, as arguments of measures of two classes; computed once for many measures."""

    classes: Confusion | MulticlassRows | LabelSets
    places: tuple[int, ...] | None = None
    """Indexes of the classes in use; None for all."""

    @staticmethod
    def of(classes: Classes) -> Split:
        """Set each class against the rest."""
        if isinstance(classes, Split):
            return classes
        if not isinstance(classes, Confusion | MulticlassRows | LabelSets):
            raise OptionError(
                f"{type(classes).__name__} has no classes", remedy="give a Confusion, MulticlassRows or LabelSets."
            )
        return Split(classes)

    def select(self, labels: Iterable[object]) -> Split:
        """Select some of the classes; each is still set against all others."""
        every = self.classes.labels
        wanted = list(dict.fromkeys(labels))
        unknown = [label for label in wanted if label not in every]
        if unknown:
            raise unknown_name("class", str(unknown[0]), [str(each) for each in every])
        if not wanted:
            raise OptionError("no class is left to average", remedy="name at least one.")
        return replace(self, places=tuple(every.index(label) for label in wanted))

    @property
    def labels(self) -> tuple[object, ...]:
        """Return the classes in use."""
        every = self.classes.labels
        return every if self.places is None else tuple(every[at] for at in self.places)

    @cached_property
    def support(self) -> Floats:
        """Return the mass of each class."""
        every = self.classes.truth if isinstance(self.classes, Confusion) else self.classes.support
        return every if self.places is None else every[..., self.places]

    @cached_property
    def counts(self) -> Counts[Floats]:
        """Return the 2×2 tables of decisions, one for each class."""
        if isinstance(self.classes, LabelSets):
            every = self.classes.per_label()
        else:
            table = self.classes.confusion() if isinstance(self.classes, MulticlassRows) else self.classes
            every = table.one_vs_rest()
        return every if self.places is None else every[(..., np.array(self.places))]  # type: ignore[call-overload]

    @cached_property
    def pooled_counts(self) -> Counts[Any]:
        """Return the sum of the tables of all classes."""
        # Masses alone: a row is in the table of every class, so squared weights would not add up to a variance.
        each = self.counts
        return Counts(*(np.asarray(cell).sum(axis=-1) for cell in (each.tp, each.fp, each.fn, each.tn)))

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """Return the tallies of scores, one for each class."""
        if isinstance(self.classes, Confusion):
            raise OptionError("labels have neither ranks nor probabilities", remedy="give a score for each class.")
        places = range(len(self.classes.labels)) if self.places is None else self.places
        if isinstance(self.classes, LabelSets):
            every = self.classes.one_vs_rest()
            return tuple(every[at] for at in places)
        return tuple(parallel_map(self.classes.against_rest, places, size=self.classes.score.size))

    def arguments(self, measure: Measure) -> Any:  # noqa: ANN401  (Counts, or a list of arguments)
        """Return the arguments of a measure, class by class."""
        kind = describe(measure).of
        if kind is Counts:
            return self.counts
        if kind not in (Curve, Tally):
            raise OptionError(
                f"{describe(measure).name} is a measure of all classes together; it has no value for each."
            )
        return [Curve(tally) if kind is Curve else tally for tally in self.tallies]


Classes = Confusion | MulticlassRows | LabelSets | Split


@accepts_predictions("class data", at=1, others=(Split,))
def per_class(measure: str | Measure, classes: Classes, /, **options: Any) -> Floats:  # noqa: ANN401  (of the measure)
    """Compute a measure for each class against the rest, in the order of the labels.

    Parameters
    ----------
    measure
        A measure of two classes, or its name.
    classes
        A confusion matrix, rows with a score for each class, or sets of labels.
    **options
        Options of the measure.

    Returns
    -------
    ndarray
        One value for each class; NaN if undefined.

    Examples
    --------
    >>> from baserate import Confusion, measure
    >>> table = Confusion.of_matrix([[100, 80, 10, 10], [0, 9, 0, 1], [0, 1, 8, 1], [0, 1, 0, 9]], "ABCD", truth="rows")
    >>> per_class(measure.sensitivity, table).tolist()
    [0.5, 0.9, 0.8, 0.9]
    """
    measure = as_measure(measure)
    arguments = Split.of(classes).arguments(measure)
    if isinstance(arguments, Counts):
        return np.asarray(measure(arguments, **options))
    return np.array(
        parallel_map(
            partial(measure, **options), arguments, size=sum(len(_tally_of(argument).score) for argument in arguments)
        )
    )


def average_over_classes(
    measure: str | Measure,
    how: Average | Mapping[Any, float],
    *,
    labels: Iterable[object] | None = None,
    **options: Any,  # noqa: ANN401  (of the measure)
) -> Measure:
    """Make a measure of all classes from one of two classes: its average over each class against the rest.

    Classes with an undefined value are left out of the average; `undefined_classes` lists them with the reasons.

    Parameters
    ----------
    measure
        A measure of two classes, or its name.
    how
        ``"macro"`` (plain mean), ``"weighted"`` (mean by class frequency), ``"micro"`` (all classes pooled, then
        measured), ``"samples"`` (mean over rows, for sets of labels), or a weight for each label.
    labels
        Classes to average, by default all: each is set against all others, whether or not these are averaged. Values of
        rows, ``"samples"``, are over these labels alone.
    **options
        Options of the measure.

    Returns
    -------
    Measure
        A function of a confusion matrix, rows with a score for each class, or sets of labels.

    Examples
    --------
    >>> from baserate import Confusion, measure
    >>> table = Confusion.of_matrix([[100, 80, 10, 10], [0, 9, 0, 1], [0, 1, 8, 1], [0, 1, 0, 9]], "ABCD", truth="rows")
    >>> [round(average_over_classes(measure.sensitivity, how)(table), 10) for how in ("macro", "micro", "weighted")]
    [0.775, 0.547826087, 0.547826087]
    >>> average_over_classes(measure.sensitivity, {"A": 0, "B": 1, "C": 1, "D": 0})(table)
    0.8500000000000001
    >>> round(average_over_classes(measure.precision, "micro", labels=["B", "C"])(table), 10)
    0.1559633028
    """
    measure, wanted = as_measure(measure), None if labels is None else tuple(labels)
    if not isinstance(how, Mapping) and how not in AVERAGES:
        listing = f"Known are: {', '.join(AVERAGES)}, and a weight for each label."
        raise unknown_name("average", how, AVERAGES, listing=listing)

    @accepts_predictions("class data", others=(Split,))
    def average(classes: Classes, **predictions: Unpack[PredictionOptions]) -> float:
        split = Split.of(classes) if wanted is None else Split.of(classes).select(wanted)
        if how == "micro":
            value: float = measure(_pool_classes(split, measure), **options)
            return value
        if how == "samples":
            return _average_over_rows(split, measure, options)
        return mean_defined(per_class(measure, split, **options), _class_weights(how, split))

    description = describe(measure)
    name = f"{how if isinstance(how, str) else 'weighted'} {description.name}"
    of = Confusion if description.of is Counts else MulticlassRows
    # An average has no options, is not a share of rows, and the page does not show it.
    plain: dict[str, Any] = {"dual": None, "share": None, "page": None, "option": None, "option_required": False}
    vars(average)["about"] = replace(description, name=name, of=of, needs=(), **plain)
    # With some classes alone, none of the closed forms applies.
    vars(average)["parts"] = measure, how if wanted is None else (how, wanted), options
    # Undefined classes are left out, so no single margin says when the average itself is undefined.
    vars(average)["why"] = lambda classes: None if not np.isnan(average(classes)) else _NO_CLASS
    return average


@accepts_predictions("class data", at=1, others=(Split,))
def undefined_classes(
    measure: str | Measure, classes: Classes, **predictions: Unpack[PredictionOptions]
) -> dict[object, str]:
    """Return the classes for which a measure is undefined, each with the reason.

    Parameters
    ----------
    measure
        A measure of two classes, or its name.
    classes
        A confusion matrix, rows with a score for each class, or sets of labels.

    Returns
    -------
    dict
        Reason for each class without a value.

    Examples
    --------
    >>> from baserate import Confusion, measure
    >>> undefined_classes(measure.precision, Confusion.of_matrix([[5, 0], [2, 0]], ["cat", "dog"], truth="rows"))
    {'dog': 'the class is never predicted'}
    """
    measure, split = as_measure(measure), Split.of(classes)
    arguments = split.arguments(measure)
    if isinstance(arguments, Counts) and len(arguments.shape) > 1:
        raise ShapeError(f"these are {arguments.shape[:-1]} tables", remedy="give one, for example confusion[0].")
    reasons: dict[object, str] = {}
    for name, cause in zip(describe(measure).needs, describe(measure).causes, strict=True):
        masses = (
            margin(arguments, name)
            if isinstance(arguments, Counts)
            else [margin(argument, name) for argument in arguments]
        )
        for at in np.flatnonzero(np.asarray(masses) == 0):
            label = split.labels[at]
            reasons[label] = " and ".join(filter(None, [reasons.get(label), _CAUSES.get(name, cause)]))
    return reasons


def _tally_of(argument: Curve | Tally) -> Tally:
    return argument.tally if isinstance(argument, Curve) else argument


def _pool_classes(split: Split, measure: Measure) -> Any:  # noqa: ANN401  (an argument of the measure)
    arguments = split.arguments(measure)
    if isinstance(arguments, Counts):
        return split.pooled_counts
    pooled = Tally.sum(map(_tally_of, arguments))
    return Curve(pooled) if isinstance(arguments[0], Curve) else pooled


def _average_over_rows(split: Split, measure: Measure, options: Mapping[str, Any]) -> float:
    sets = split.classes
    if isinstance(sets, LabelSets) and split.places is not None:
        sets = sets.over(split.labels)
    if not isinstance(sets, LabelSets) or describe(measure).of is not Counts:
        raise OptionError("an average over samples needs sets of labels, several for each row", remedy="use macro.")
    return mean_defined(measure(sets.per_row(), **options), 1.0 if sets.weight is None else sets.weight)


def _class_weights(how: str | Mapping[Any, float], split: Split) -> Floats | float:
    if isinstance(how, str):
        return 1.0 if how == "macro" else split.support
    if set(how) != set(split.labels):
        raise UnknownNameError(
            f"there are weights for {list(how)}, but the classes are {list(split.labels)}", remedy="name each."
        )
    weights = np.array([how[label] for label in split.labels], dtype=np.float64)
    if not (weights.min() >= 0 and 0 < weights.sum() < np.inf):
        raise OptionError(f"the weights of the classes are {dict(how)}", remedy="give numbers of 0 or more, not all 0.")
    return weights
