"""A target and its validation rows: classes in one order, checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from baserate._arrays import Cells, Floats, Reals, make_read_only
from baserate._errors import FitError, MissingValuesError, NotAProbabilityError, UnknownLabelError
from baserate._numeric.codes import Codes
from baserate._rows import MulticlassRows
from baserate._target import MulticlassTarget
from baserate.calibrate.multiclass import listed
from baserate.measure.multiclass import check_class_probabilities

_SCALES = 5.0
"""From this ratio of their spreads on, scores look as if they were on two scales."""
_FEW = 20
"""Rows below which their spread says little."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Rows that count, with a score for each class."""

    score: Reals
    amount: Floats | None
    squares: Floats | None
    """Sum of squared weights; None where it is the amount."""
    rows: int

    @staticmethod
    def of(score: Reals, weight: Floats | None, count: Cells | None) -> tuple[Side, Cells | None]:
        """Leave out rows of no weight; which are left, if not all are."""
        if weight is None and count is None:
            return Side(score, None, None, len(score)), None
        times = np.ones(len(score)) if count is None else count.astype(np.float64)
        amount = times if weight is None else weight * times
        there = np.flatnonzero(amount > 0)
        squares = None if weight is None else (weight * amount)[there]
        return Side(score[there], amount[there], squares, int(times[there].sum())), there

    @property
    def total(self) -> float:
        """Mass of everything."""
        return float(len(self.score) if self.amount is None else self.amount.sum())

    @property
    def effective(self) -> float:
        """How many rows of equal weight would be as sure (Kish)."""
        return self.total if self.squares is None else self.total**2 / float(self.squares.sum())

    def mean(self, z: Floats) -> tuple[Floats, Floats]:
        """Mean of the rows of z, and its covariance."""
        middle = self.middle(z)
        return middle, self.squared(z - middle) / self.total**2

    def middle(self, z: Floats) -> Floats:
        """Mean of the rows of z."""
        amount = np.ones(len(z)) if self.amount is None else self.amount
        found: Floats = amount @ z / self.total
        return found

    def squared(self, influence: Floats) -> Floats:
        """Covariance of what each row moves by so much: the sum of squares, with squared weights."""
        weight = self.amount if self.squares is None else self.squares
        found: Floats = influence.T @ (influence if weight is None else influence * weight[:, None])
        return found

    @property
    def unbiased(self) -> float:
        """What a variance is to be multiplied with, n/(n − 1)."""
        return 1 / (1 - 1 / max(self.effective, 2.0))

    def part(self, there: Cells) -> Side:
        """Some of the rows."""
        amount, squares = (None if each is None else each[there] for each in (self.amount, self.squares))
        return Side(self.score[there], amount, squares, len(there))

    def as_rows(self) -> MulticlassRows:
        """Scores alone, as if all were of the first class."""
        return MulticlassRows(np.zeros(len(self.score), dtype=np.uint8), self.score, tuple(range(self.score.shape[1])))


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Both sides, with classes in the order of the validation rows."""

    labels: tuple[object, ...]
    target: Side
    validation: Side
    truth: Codes
    rows: MulticlassRows
    """The validation rows as they are, for a calibration."""
    seen_rows: Floats
    """Rows of the target whose truth is known, of each class."""
    seen: Floats
    """Their mass."""
    seen_squares: Floats
    kept: Cells | None = None
    """Which validation rows count; None if all do."""
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(target: MulticlassTarget, validation: MulticlassRows) -> Pair:
        """Put classes in one order; refuse those that one side lacks, or of which validation has too few rows."""
        if len(validation.labels) < 2:
            raise FitError(f"there is only the class {validation.labels[0]}, whose share is 1; give two or more.")
        order = _order(target.labels, validation.labels)
        _check_finite(validation.score)
        score = target.score if order == sorted(order) else make_read_only(target.score[:, order])
        side, _ = Side.of(score, target.weight, target.count)
        other, there = Side.of(validation.score, validation.weight, validation.count)
        truth = validation.truth if there is None else validation.truth[there]
        _check_present(validation)
        rows, mass, squares = (_seen(target.labelled, order, power) for power in range(3))
        notes = (*_other_scale(side.score, other.score),)
        return Pair(validation.labels, side, other, truth, validation, rows, mass, squares, there, notes)

    def unlabelled(self) -> Pair:
        """The same without the rows of the target whose truth is known."""
        none = np.zeros(len(self.labels))
        return replace(self, seen_rows=none, seen=none, seen_squares=none)

    def of_all(self, moved: Floats) -> Floats:
        """Something of the rows that count, with nothing for those that do not."""
        if self.kept is None:
            return moved
        found = np.zeros((len(self.rows), moved.shape[1]))
        found[self.kept] = moved
        return found

    @property
    def shares(self) -> Floats:
        """Share of each class in validation."""
        mass = np.bincount(self.truth, weights=self.validation.amount, minlength=len(self.labels))
        found: Floats = mass / self.validation.total
        return found

    @property
    def class_rows(self) -> Floats:
        """Rows of each class in validation: as many of equal weight as would be as sure."""
        parts = (self.validation.part(np.flatnonzero(self.truth == k)) for k in range(len(self.labels)))
        return np.array([part.effective for part in parts])

    @property
    def known(self) -> int:
        """How many rows of the target have their truth."""
        return int(self.seen_rows.sum())

    @property
    def labelled(self) -> float:
        """How many rows of equal weight the labelled ones are worth."""
        return float(self.seen.sum() ** 2 / self.seen_squares.sum()) if self.seen.any() else 0.0

    def check_probabilities(self) -> None:
        """Refuse scores that are no probabilities, on either side; they may add up to almost 1."""
        for whose, side in (("target", self.target), ("validation", self.validation)):
            try:
                check_class_probabilities(
                    side.as_rows(), "estimate by acc, which needs only the class with the highest score."
                )
            except NotAProbabilityError as error:
                raise NotAProbabilityError(f"{whose}: {error}") from error


def _order(given: tuple[object, ...], wanted: tuple[object, ...]) -> list[int]:
    """Where each class of the validation rows stands in the target."""
    place = {label: at for at, label in enumerate(given)}
    lacking = [str(label) for label in wanted if label not in place]
    unknown = [str(label) for label in given if label not in wanted]
    if lacking:
        raise UnknownLabelError(
            f"the target has no score for {listed(lacking)}, which validation has; add that column."
        )
    if unknown:
        raise UnknownLabelError(
            f"the target has scores for {listed(unknown)}, which validation has not; leave them out."
        )
    return [place[label] for label in wanted]


def _check_finite(score: Reals) -> None:
    missing = int(np.count_nonzero(~np.isfinite(score)))
    if missing:
        raise MissingValuesError(
            f"{missing} of {score.size} scores of validation are NaN or infinite; leave those rows out, or fill them "
            "in."
        )


def _check_present(rows: MulticlassRows) -> None:
    """A class whose scores were never seen cannot be found; one row does not show how scores vary."""
    times = np.ones(len(rows)) if rows.count is None else rows.count
    times = times if rows.weight is None else np.where(rows.weight > 0, times, 0)
    of_class = np.bincount(rows.truth, weights=times, minlength=len(rows.labels))
    told = f"among {int(of_class.sum())} of validation"
    absent, single = ([str(rows.labels[at]) for at in np.flatnonzero(of_class == many)] for many in (0, 1))
    if absent:
        raise FitError(
            f"{listed(absent)} has no row {told}, so that nobody knows how its scores look; give rows of every class, "
            "or leave its column out."
        )
    if single:
        raise FitError(
            f"{listed(single)} has a single row {told}, which does not show how its scores vary; give two or more of "
            "every class."
        )


def _seen(labelled: MulticlassRows | None, order: list[int], power: int) -> Floats:
    """Sum of a power of the weights of labelled rows, in each class."""
    if labelled is None:
        return np.zeros(len(order))
    times = np.ones(len(labelled)) if labelled.count is None else labelled.count
    weight = np.ones(len(labelled)) if labelled.weight is None else labelled.weight**power * (labelled.weight > 0)
    return np.bincount(labelled.truth, weights=times * weight, minlength=len(order))[order].astype(np.float64)


def _other_scale(target: Reals, validation: Reals) -> Iterator[str]:
    """Say if scores look as if one side were in per cent, or were logarithms."""
    if len(target) < _FEW:
        return
    lows, highs = zip(*((float(each.min()), float(each.max())) for each in (target, validation)), strict=True)
    spread = [high - low for low, high in zip(lows, highs, strict=True)]
    if max(spread) > _SCALES * min(spread) > 0 or lows[0] > highs[1] or lows[1] > highs[0]:
        yield (
            f"scores go from {lows[0]:.4g} to {highs[0]:.4g} in the target, but from {lows[1]:.4g} to {highs[1]:.4g} "
            "in validation, as if they were on two scales; if they are, no method is right."
        )
