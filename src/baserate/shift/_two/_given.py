"""What is given: scores of a target and a tally of validation, checked against each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baserate._arrays import Cells, Floats, Reals
from baserate._domains import LEVEL, check_domain
from baserate._errors import EmptyDataError, FitError, NotAProbabilityError, OptionError
from baserate._tally import Tally
from baserate._target import Target
from baserate.infer import Part, freedom, two_sided, widening

_FEW = 0.5
"""Share of the target that must lie where validation has scores, or else a note says so."""


@dataclass(frozen=True, slots=True)
class Given:
    """A target, a validation set with both classes, and how sure an interval is to be."""

    target: Target
    validation: Tally
    level: float = 0.95

    def __post_init__(self) -> None:
        if not isinstance(self.target, Target):
            raise OptionError(f"{type(self.target).__name__} is no Target; read one with baserate.read.target.")
        check_domain("level", self.level, LEVEL)
        _check_classes(self.validation)

    @property
    def score(self) -> Reals:
        """Scores of the target."""
        return self.target.score

    @property
    def known(self) -> tuple[float, float]:
        """Positives and negatives among the rows of the target whose truth is known, as many as are as sure."""
        tally = self.target.labelled
        if tally is None or not tally.total:
            return 0.0, 0.0
        each = tally.total / float(tally.squares.sum())
        return tally.positives * each, tally.negatives * each

    @property
    def effective(self) -> float:
        """Rows of the target without truth, as many of equal weight as would be as sure."""
        squares = self.target.squares
        return self.target.total if squares is None else self.target.total**2 / float(squares.sum())

    @property
    def rows(self) -> tuple[float, float]:
        """Rows of both classes in the validation set."""
        positives, negatives = self.validation.rows.sum(axis=1, dtype=np.int64)
        return float(positives), float(negatives)

    def mean(self, values: Floats) -> tuple[float, float]:
        """Mean of something over the target, and the variance of that mean."""
        target = self.target
        if target.mass is None or target.squares is None:
            mean = float(values.mean())
            return mean, float(np.dot(values - mean, values - mean)) / len(values) ** 2
        total = target.total
        mean = float(np.dot(target.mass, values)) / total
        return mean, float(np.dot(target.squares, (values - mean) ** 2)) / total**2

    def probabilities(self, what: str) -> None:
        """Refuse scores that are no probabilities, on either side."""
        for name, low, high in (
            ("the target", float(self.score.min()), float(self.score.max())),
            ("validation", float(self.validation.score[-1]), float(self.validation.score[0])),
        ):
            if low < 0 or high > 1:
                raise NotAProbabilityError(
                    f"scores of {name} go from {low:.6g} to {high:.6g}, but {what} takes probabilities; calibrate them "
                    "first, or estimate by 'mlls' with recalibration, 'binned' or 'pacc'."
                )

    def reach(self, moved: Floats, spread: float) -> tuple[float, float]:
        """Variance of an estimate, and how many standard errors its interval reaches."""
        return reach(self.validation, moved, spread, self.level)

    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the two sets of scores."""
        low, high = self.validation.score[-1], self.validation.score[0]
        mass = self.target.mass
        outside = (self.score < low) | (self.score > high)
        share = float(outside.mean() if mass is None else np.dot(mass, outside) / mass.sum())
        if share <= _FEW:
            return ()
        told = f"{share:.0%} of the target's scores lie outside those of validation ({low:.6g} to {high:.6g})"
        return (f"{told}: they may be on different scales.",)

    def check_information(self) -> None:
        """Refuse scores that do not tell the classes apart: then no prevalence can be ruled out."""
        first, second = means(self.validation, np.asarray(self.validation.score))
        gap, noise = first[0] - second[0], first[1] + second[1]
        if self.validation.score[0] == self.validation.score[-1]:
            raise FitError("all validation scores are the same, so they say nothing about the classes; give others.")
        if gap**2 <= two_sided(self.level) ** 2 * noise:
            raise FitError(
                "the scores carry no information: their means in the two classes of the validation set differ by "
                f"{gap:.3g} with a standard error of {noise**0.5:.3g}, so at level {self.level:g} no prevalence can be "
                "ruled out (Fieller's set is unbounded); give a better classifier, or more validation rows."
            )


def reach(tally: Tally, moved: Floats, spread: float, level: float) -> tuple[float, float]:
    """Variance of something estimated, and how many standard errors its interval reaches.

    `moved` is how much one more row of each class at each validation score moves it; `spread` the variance that comes
    from the target. That from validation was estimated from its rows, and counts with a t quantile.
    """
    parts = []
    for squares, rows, by in zip(tally.squares, tally.rows, moved, strict=True):
        there = np.flatnonzero(rows)
        second = squares[there] * np.square(by[there])
        many = float(rows.sum(dtype=np.int64))
        parts.append(Part.of(float(second.sum()), float(np.sum(second**2 / rows[there])), many))
    own = sum(part.variance for part in parts)
    wide = widening(freedom(parts), level) ** 2 if own > 0 else 1.0
    variance, z = own + spread, two_sided(level)
    return variance, z * float(np.sqrt((own * wide + spread) / variance)) if variance > 0 else z


def means(tally: Tally, values: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean of something at each score, and the variance of that mean, in both classes."""
    found = []
    for mass, squares, rows in zip(tally.mass, tally.squares, tally.rows, strict=True):
        total, many = float(mass.sum()), int(rows.sum(dtype=np.int64))
        mean = float(np.dot(mass, values)) / total
        lost = many / (many - 1) if many > 1 else np.inf
        found.append((mean, lost * float(np.dot(squares, (values - mean) ** 2)) / total**2))
    return found[0], found[1]


def effective(cells: Cells, squares: Cells) -> Floats:
    """Masses as numbers of rows that would be as sure."""
    total = float(squares.sum())
    return np.asarray(cells, dtype=np.float64) * (float(cells.sum()) / total if total else 0.0)


def _check_classes(tally: Tally) -> None:
    if not isinstance(tally, Tally):
        raise OptionError(f"{type(tally).__name__} is no Tally; tally the validation set first.")
    if tally.reweighed:
        raise OptionError("the validation set was reweighed; give it as it was drawn.")
    if not tally.total:
        raise EmptyDataError("the validation set has no rows with weight; give some.")
    if not tally.positives or not tally.negatives:
        which = "negative" if tally.positives else "positive"
        raise FitError(f"the validation set has no {which} rows, so nothing tells how they score; give rows of both.")
    if min(tally.rows.sum(axis=1, dtype=np.int64)) < 2:
        raise FitError("a class of the validation set has a single row, which says nothing of its spread; give more.")
