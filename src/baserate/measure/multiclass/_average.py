"""Averages over classes, for any measure of two classes: each class against the rest, then one number of many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, get_args

import numpy as np

from baserate._arrays import Floats, mean_defined
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError, ShapeError, UnknownNameError
from baserate._numeric.threads import mapped
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.measure._about import Measure, about
from baserate.measure._registry import known, margin

__all__ = ["AVERAGES", "averaged", "each", "undefined"]

Average = Literal["macro", "weighted", "micro", "samples"]
AVERAGES: tuple[str, ...] = get_args(Average)
"""`macro`: every class alike. `weighted`: by how frequent each is. `micro`: all classes pooled, then measured.
`samples`: over rows in place of classes, for sets of labels."""

_CAUSES = {
    "total": "there are no rows",
    "positives": "no row is of the class",
    "negatives": "every row is of the class",
    "flagged": "the class is never decided",
    "passed": "nothing else is ever decided",
    "either": "the class is neither true nor decided anywhere",
    "chance_disagreement": "the class is true and decided everywhere, or nowhere",
}
"""What it means for a class against the rest that a margin is zero."""
_WHY = "no class has a value"


@dataclass(frozen=True, eq=False)
class Split:
    """Each class against the rest: what measures of two classes are taken of. Made once, it serves many measures."""

    classes: Confusion | MulticlassRows | LabelSets

    @staticmethod
    def of(classes: Classes) -> Split:
        """Set each class against the rest."""
        if isinstance(classes, Split):
            return classes
        if not isinstance(classes, Confusion | MulticlassRows | LabelSets):
            raise OptionError(f"{type(classes).__name__} has no classes; give a Confusion, ClassRows or LabelSets.")
        return Split(classes)

    @property
    def labels(self) -> tuple[object, ...]:
        """The classes."""
        return self.classes.labels

    @cached_property
    def support(self) -> Floats:
        """Mass of each class."""
        return self.classes.truth if isinstance(self.classes, Confusion) else self.classes.support

    @cached_property
    def counts(self) -> Counts[Floats]:
        """Decisions, one 2×2 table for each class."""
        if isinstance(self.classes, LabelSets):
            return self.classes.per_label()
        return (self.classes.decided() if isinstance(self.classes, MulticlassRows) else self.classes).one_vs_rest()

    @cached_property
    def pooled(self) -> Counts[Any]:
        """All classes' tables added up."""
        each = self.counts
        return Counts(*(np.asarray(cell).sum(axis=-1) for cell in (each.tp, each.fp, each.fn, each.tn)))

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """Scores, one tally for each class."""
        if isinstance(self.classes, Confusion):
            raise OptionError("labels have neither ranks nor probabilities; give a score for each class.")
        if isinstance(self.classes, LabelSets):
            return self.classes.one_vs_rest()
        many = range(len(self.labels))
        return tuple(mapped(self.classes.against_rest, many, size=self.classes.score.size))

    def nouns(self, measure: Measure) -> Any:  # noqa: ANN401  (Counts, or a list of what the measure takes)
        """What a measure is taken of, class by class."""
        noun = about(measure).of
        if noun is Counts:
            return self.counts
        if noun not in (Curve, Tally):
            raise OptionError(f"{about(measure).name} is a measure of all classes together; it has no value for each.")
        return [Curve(tally) if noun is Curve else tally for tally in self.tallies]


Classes = Confusion | MulticlassRows | LabelSets | Split


def each(measure: str | Measure, classes: Classes, **options: Any) -> Floats:  # noqa: ANN401  (of the measure)
    """Return a measure of each class against the rest, in the order of the labels.

    >>> from baserate import Confusion, measure
    >>> table = Confusion.of_matrix([[100, 80, 10, 10], [0, 9, 0, 1], [0, 1, 8, 1], [0, 1, 0, 9]], "ABCD", truth="rows")
    >>> each(measure.sensitivity, table).tolist()
    [0.5, 0.9, 0.8, 0.9]
    """
    measure = known(measure)
    nouns = Split.of(classes).nouns(measure)
    if isinstance(nouns, Counts):
        return np.asarray(measure(nouns, **options))
    return np.array(mapped(partial(measure, **options), nouns, size=sum(len(_tally(noun).score) for noun in nouns)))


def averaged(measure: str | Measure, how: Average | Mapping[Any, float], **options: Any) -> Measure:  # noqa: ANN401
    """Make a measure of all classes from one of two: an average over classes of each against the rest.

    `how` is "macro" (every class alike), "weighted" (by how frequent each is), "micro" (all pooled, then measured),
    "samples" (over rows, for sets of labels), or a weight for each label. What is undefined is left out of the average;
    `undefined` tells which classes these are, and why.

    >>> from baserate import Confusion, measure
    >>> table = Confusion.of_matrix([[100, 80, 10, 10], [0, 9, 0, 1], [0, 1, 8, 1], [0, 1, 0, 9]], "ABCD", truth="rows")
    >>> [round(averaged(measure.sensitivity, how)(table), 10) for how in ("macro", "micro", "weighted")]
    [0.775, 0.547826087, 0.547826087]
    >>> averaged(measure.sensitivity, {"A": 0, "B": 1, "C": 1, "D": 0})(table)
    0.8500000000000001
    """
    measure = known(measure)
    if not isinstance(how, Mapping) and how not in AVERAGES:
        raise UnknownNameError(
            f"there is no average {how!r}. Known are: {', '.join(AVERAGES)}, and a weight for each label."
        )

    def average(classes: Classes) -> float:
        split = Split.of(classes)
        if how == "micro":
            value: float = measure(_pooled(split, measure), **options)
            return value
        if how == "samples":
            return _over_rows(split, measure, options)
        return mean_defined(each(measure, split, **options), _weights(how, split))

    told = about(measure)
    name = f"{how if isinstance(how, str) else 'weighted'} {told.name}"
    of = Confusion if told.of is Counts else MulticlassRows
    vars(average)["about"] = replace(told, name=name, of=of, needs=(), dual=None, share=None)
    vars(average)["parts"] = measure, how, options
    vars(average)["why"] = lambda classes: None if not np.isnan(average(classes)) else _WHY
    return average


def undefined(measure: str | Measure, classes: Classes) -> dict[object, str]:
    """Classes whose own number is undefined, each with the reason.

    >>> from baserate import Confusion, measure
    >>> undefined(measure.precision, Confusion.of_matrix([[5, 0], [2, 0]], ["cat", "dog"], truth="rows"))
    {'dog': 'the class is never decided'}
    """
    measure, split = known(measure), Split.of(classes)
    nouns = split.nouns(measure)
    if isinstance(nouns, Counts) and len(nouns.shape) > 1:
        raise ShapeError(f"these are {nouns.shape[:-1]} tables; ask of one, for example confusion[0].")
    found: dict[object, str] = {}
    for name, cause in zip(about(measure).needs, about(measure).causes, strict=True):
        masses = margin(nouns, name) if isinstance(nouns, Counts) else [margin(noun, name) for noun in nouns]
        for at in np.flatnonzero(np.asarray(masses) == 0):
            label = split.labels[at]
            found[label] = " and ".join(filter(None, [found.get(label), _CAUSES.get(name, cause)]))
    return found


def _tally(noun: Curve | Tally) -> Tally:
    return noun.tally if isinstance(noun, Curve) else noun


def _pooled(split: Split, measure: Measure) -> Any:  # noqa: ANN401  (what the measure takes, once)
    nouns = split.nouns(measure)
    if isinstance(nouns, Counts):
        return split.pooled
    pooled = Tally.sum(map(_tally, nouns))
    return Curve(pooled) if isinstance(nouns[0], Curve) else pooled


def _over_rows(split: Split, measure: Measure, options: Mapping[str, Any]) -> float:
    sets = split.classes
    if not isinstance(sets, LabelSets) or about(measure).of is not Counts:
        raise OptionError("an average over samples is of decided sets of labels, several for each row; use macro here.")
    return mean_defined(measure(sets.per_row(), **options), 1.0 if sets.weight is None else sets.weight)


def _weights(how: str | Mapping[Any, float], split: Split) -> Floats | float:
    if isinstance(how, str):
        return 1.0 if how == "macro" else split.support
    if set(how) != set(split.labels):
        raise UnknownNameError(
            f"weights are given for {list(how)}, but the classes are {list(split.labels)}; name each."
        )
    weights = np.array([how[label] for label in split.labels], dtype=np.float64)
    if not (weights.min() >= 0 and 0 < weights.sum() < np.inf):
        raise OptionError(f"the weights of the classes are {dict(how)}; give numbers of 0 or more, not all 0.")
    return weights
