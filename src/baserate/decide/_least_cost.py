"""`least_cost`: for each row the class that costs least to decide, under any costs of K classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, make_read_only, ratio
from baserate._confusion import Confusion, distinct_labels
from baserate._costs import CostMatrix
from baserate._cut import REFER
from baserate._errors import EmptyDataError, MissingValuesError, OptionError, ShapeError, UnknownNameError
from baserate._estimate import Estimate
from baserate._formatting import count_of, there_are
from baserate._immutable import keep_read_only
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate.calibrate.multiclass import checked_shares
from baserate.infer import estimate
from baserate.measure.multiclass import check_class_probabilities, expected_cost
from baserate.shift import reweigh

Shares = Mapping[Any, float] | Sequence[float] | Floats
"""Share of every class, by label or in order."""
BROKEN = "they are not right here."
"""How a note ends on posteriors that do not keep what they promise."""
REFERRED = -1
"""Code of a row that is left to somebody else."""
_NEAR = 1e-12
"""Of the largest cost: what differs less is rounding."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decisions:
    """What to decide of each row, and what that is expected to cost."""

    costs: CostMatrix
    codes: npt.NDArray[np.intp]
    """Number of the class that is decided, an index into `labels`; −1 where the row is referred."""
    cost: Floats
    """Expected cost of the decision on each row, by its posteriors."""
    refer: float | None = None
    """What it costs to refer a row."""

    def __repr__(self) -> str:
        referred = "" if self.refer is None else f", {np.count_nonzero(self.referred)} of them referred"
        return f"Decisions({count_of(len(self.codes), 'row')}{referred}; expected cost {self.cost.mean():.6g} per row)"

    @property
    def labels(self) -> tuple[object, ...]:
        """Classes that can be decided."""
        return self.costs.labels

    @property
    def referred(self) -> Bools:
        """Which rows are left to somebody else."""
        found: Bools = self.codes == REFERRED
        return found

    def decided(self) -> list[object]:
        """Label of the decision on each row, or "refer"."""
        names = (*self.labels, REFER)  # where −1 finds it
        return [names[code] for code in self.codes.tolist()]

    def confusion(self, rows: MulticlassRows, *, shares: Shares | None = None) -> Confusion:
        """Table of these decisions against what was true; what is referred is in none of its cells.

        With `shares` of the classes, of all rows, masses are what they would be there.
        """
        there = carried(self._checked(rows), shares)
        return replace(_confusion(self.costs, there, self.codes), reweighed=shares is not None)

    def left(self, rows: MulticlassRows, *, shares: Shares | None = None) -> Floats:
        """Mass of each class that is referred, in the order of `labels`."""
        there = carried(self._checked(rows), shares).only(self.referred)
        found: Floats = np.zeros(len(self.labels))
        found[_order(rows.labels, self.costs)] = there.support
        return found

    def results(self, rows: MulticlassRows, *, shares: Shares | None = None, level: float | None = 0.95) -> Results:
        """Expected and realised cost per row, and how much is referred: of these decisions, and of the likeliest class.

        Where posteriors are right the two costs agree, but for chance; if those of these decisions do not, a note says
        so. Bounds are of the realised cost, None without a `level`. With `shares` of the classes both costs are those
        where the classes are shared out so, which posteriors should know: see `shift.reprior`.

        >>> triage = CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["home", "ward", "theatre"])
        >>> rows = MulticlassRows(np.array([2, 0]), np.array([[0.6, 0.3, 0.1], [0.9, 0.1, 0.0]]), triage.labels)
        >>> [(row["rule"], row["realised"]) for row in least_cost(rows, triage).results(rows).rows()]
        [('least cost', 1.5), ('highest probability', 4.5)]
        """
        there = carried(self._checked(rows), shares)
        likeliest = _order(rows.labels, self.costs)[rows.decision()]
        at_likeliest = _expected(rows.score, rows.labels, self.costs)[np.arange(len(rows)), likeliest]
        each = [(self.codes, self.cost), (likeliest, at_likeliest)]
        expected = [_mean(cost, there) for _, cost in each]
        realised = [self._realised(there, codes, level, known=shares is not None) for codes, _ in each]
        columns: dict[str, list[Any]] = {
            "rule": ["least cost", "highest probability"],
            "expected": expected,
            "realised": [found.value for found in realised],
            **{name: [getattr(found, name) for found in realised] for name in ("low", "high", "level", "how", "why")},
            "referred": [_mean(codes == REFERRED, there) for codes, _ in each],
        }
        return Results(columns, {"rows": len(rows), "refer": self.refer, "notes": [*_broken(expected[0], realised[0])]})

    def _realised(
        self, rows: MulticlassRows, codes: npt.NDArray[np.intp], level: float | None, *, known: bool
    ) -> Estimate:
        """Mean cost with its interval, of a table in which to refer a row is one more decision."""
        if not (codes == REFERRED).any():
            table, costs = _confusion(self.costs, rows, codes), self.costs
        else:
            table, costs = self._with_referred(rows, codes)
        measure = partial(expected_cost, costs=costs)
        if level is None:
            return Estimate(measure(table))
        return estimate(measure, replace(table, reweighed=known), level=level)

    def _with_referred(self, rows: MulticlassRows, codes: npt.NDArray[np.intp]) -> tuple[Confusion, CostMatrix]:
        many = len(self.labels)
        labels = (*self.labels, object())  # whatever classes are called, none is called so
        truth = _order(rows.labels, self.costs)[rows.truth]
        decided = np.where(codes == REFERRED, many, codes)
        table = Confusion.of_rows(truth, decided, labels, weight=rows.weight, count=rows.count)
        paid = np.column_stack([self.costs.cost, np.full(many, self.refer)])
        # Nothing is of the class "referred". Draws put a trace there, which must not move the mean.
        mean = np.nan_to_num(ratio(float((paid * table.mass[:many]).sum()), rows.total))
        return table, CostMatrix(np.vstack([paid, np.full(many + 1, mean)]), labels)

    def _checked(self, rows: MulticlassRows) -> MulticlassRows:
        if len(rows) != len(self.codes):
            raise ShapeError(
                f"{there_are(len(self.codes), 'decision')} for {count_of(len(rows), 'row')}; "
                "give the rows they were made of."
            )
        return rows


def least_cost(
    posteriors: npt.ArrayLike | MulticlassRows,
    costs: CostMatrix,
    *,
    labels: Iterable[object] | None = None,
    refer: float | None = None,
) -> Decisions:
    r"""Decide for each row the class j of least expected cost, :math:`\sum_kp_kC_{kj}` [@elkan2001].

    `posteriors` hold a row for each case and a column for each class, in the order of `labels`, otherwise of the costs;
    they must be right where the decisions are made: see `shift.reprior` for other shares of the classes. Of classes
    that cost the same, the one that comes first in the costs is decided. With `refer`, the cost of leaving a row to
    somebody else, that is done where it is cheaper than every class.

    >>> triage = CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["home", "ward", "theatre"])
    >>> found = least_cost([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], triage)
    >>> found.decided(), found.cost.round(9).tolist()
    (['home', 'ward', 'theatre'], [0.2, 0.9, 0.6])
    >>> least_cost([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1]], triage, refer=0.5).decided()
    ['home', 'refer']
    """
    if not isinstance(costs, CostMatrix):
        raise OptionError(f"costs are {type(costs).__name__}; give a CostMatrix, with a cost for each pair of classes.")
    if refer is not None and not isfinite(refer):
        raise OptionError(f"refer is {refer}; give what it costs to refer a row, or leave it out.")
    rows = _as_rows(posteriors, costs, labels)
    check_class_probabilities(rows, "calibrate the scores first.")
    expected = _expected(rows.score, rows.labels, costs)
    near = _NEAR * float(np.abs(costs.cost).max())
    least = expected.min(axis=1)
    codes = (expected <= (least + near)[:, None]).argmax(axis=1)
    cost: Floats = expected[np.arange(len(codes)), codes]
    if refer is not None:
        cheaper = refer < least - near
        codes, cost = np.where(cheaper, REFERRED, codes), np.where(cheaper, refer, cost)
    return Decisions(costs, make_read_only(codes), make_read_only(cost), refer)


def carried(rows: MulticlassRows, shares: Shares | None) -> MulticlassRows:
    """Rows with weights that give each class its share; as they are, if there are no shares."""
    if shares is None:
        return rows
    here = rows.decided()
    factor = reweigh(here, to=checked_shares("shares", shares, rows.labels)).truth / here.truth
    return replace(rows, weight=factor[rows.truth] * (1.0 if rows.weight is None else rows.weight))


def _as_rows(
    given: npt.ArrayLike | MulticlassRows, costs: CostMatrix, labels: Iterable[object] | None
) -> MulticlassRows:
    """Posteriors as rows of classes that have costs; of an array nobody knows the truth, nor asks for it."""
    if isinstance(given, MulticlassRows):
        if labels is not None:
            raise OptionError("labels= has no use: the rows name their classes.")
        rows = given
    else:
        score = np.asarray(given, dtype=np.float64)
        names = costs.labels if labels is None else distinct_labels(labels)
        if score.ndim != 2 or score.shape[1] != len(names):
            raise ShapeError(
                f"posteriors have shape {score.shape}; give a row for each case and a column for each of the "
                f"{len(names)} classes {list(names)}."
            )
        rows = MulticlassRows(np.zeros(len(score), dtype=np.uint8), score, names)
    if not len(rows):
        raise EmptyDataError("there are no rows to decide; give at least one.")
    missing = np.isnan(rows.score).any(axis=1)
    if missing.any():
        raise MissingValuesError(f"in {missing.sum()} of {len(rows)} rows a posterior is NaN; leave those rows out.")
    return rows


def _mean(each: npt.NDArray[Any], rows: MulticlassRows) -> float:
    mass = 1.0 if rows.amount is None else rows.amount
    return ratio(float(np.sum(mass * each)), rows.total)


def _broken(expected: float, realised: Estimate) -> Iterator[str]:
    """Say that posteriors do not keep what they promise."""
    if expected < realised.low or expected > realised.high:
        yield (
            f"by the posteriors a row would cost {expected:.4g}, and it costs {realised.value:.4g} "
            f"({realised.low:.4g} to {realised.high:.4g}): {BROKEN}"
        )


def _order(labels: tuple[object, ...], costs: CostMatrix) -> npt.NDArray[np.intp]:
    """Where each class stands in the costs."""
    unknown = [label for label in labels if label not in costs.labels]
    if unknown:
        told = ", ".join(map(repr, unknown))
        raise UnknownNameError(
            f"there are costs for {list(costs.labels)}, but none for {told}; give costs for every class."
        )
    return np.array([costs.labels.index(label) for label in labels], dtype=np.intp)


def _expected(score: npt.NDArray[np.floating], labels: tuple[object, ...], costs: CostMatrix) -> Floats:
    """Expected cost of each decision on each row; classes that have no posterior do not occur."""
    found: Floats = np.asarray(score, dtype=np.float64) @ costs.cost[_order(labels, costs)]
    return found


def _confusion(costs: CostMatrix, rows: MulticlassRows, codes: npt.NDArray[np.intp]) -> Confusion:
    kept = rows.only(codes != REFERRED)
    truth = _order(rows.labels, costs)[kept.truth]
    return Confusion.of_rows(truth, codes[codes != REFERRED], costs.labels, weight=kept.weight, count=kept.count)
