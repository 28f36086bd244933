"""Multiclass decisions of least expected cost, and their summary beside those for the most probable class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, keep_read_only, make_read_only, ratio
from baserate._confusion import Confusion, distinct_labels
from baserate._costs import CostMatrix
from baserate._cut import REFER
from baserate._errors import EmptyDataError, MissingValuesError, OptionError, ShapeError, UnknownNameError, keyword
from baserate._formatting import count_of, there_are
from baserate._results import Estimate, Results
from baserate._rows import MulticlassRows
from baserate.calibrate.multiclass import check_shares
from baserate.infer import estimate
from baserate.measure.multiclass import check_class_probabilities, expected_cost, results_data
from baserate.shift import reprior, reweigh

Shares = Mapping[Any, float] | Sequence[float] | Floats
"""Share of each class, by label or in order."""
WRONG_POSTERIORS = "they are not right here."
"""End of the note about posteriors that do not predict the realized cost."""
REFERRED = -1
"""Code of a referred row."""
_TOLERANCE = 1e-12
"""Difference relative to the largest cost that rounding can cause."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decisions:
    """The decision on each row, and its expected cost."""

    costs: CostMatrix
    codes: npt.NDArray[np.intp]
    """Index into `labels` of the class that is decided; −1 where the row is referred."""
    cost: Floats
    """Expected cost of the decision on each row by its posteriors."""
    refer: float | None = None
    """Cost of referring a row."""

    def __repr__(self) -> str:
        referred = "" if self.refer is None else f", {np.count_nonzero(self.is_referred)} of them referred"
        return f"Decisions({count_of(len(self.codes), 'row')}{referred}; expected cost {self.cost.mean():.6g} per row)"

    @property
    def labels(self) -> tuple[object, ...]:
        """Classes that can be decided."""
        return self.costs.labels

    @property
    def is_referred(self) -> Bools:
        """Mask of the rows that are referred."""
        mask: Bools = self.codes == REFERRED
        return mask

    def to_labels(self) -> list[object]:
        """Return the label of the decision on each row, or "refer"."""
        names = (*self.labels, REFER)  # last, so that the code −1 indexes it
        return [names[code] for code in self.codes.tolist()]

    def confusion(self, rows: MulticlassRows, *, shares: Shares | None = None) -> Confusion:
        """Tabulate these decisions against the true classes, without referred rows.

        Parameters
        ----------
        rows
            The rows that were decided, with their true classes.
        shares
            Share of each class to reweight all rows to; as in the rows by default.
        """
        reweighed = reweigh_rows(self._check_length(rows), shares)
        return replace(_decision_confusion(self.costs, reweighed, self.codes), reweighed=shares is not None)

    def referred_mass(self, rows: MulticlassRows, *, shares: Shares | None = None) -> Floats:
        """Return the mass of each class that is referred, in the order of `labels`.

        Parameters
        ----------
        rows
            The rows that were decided, with their true classes.
        shares
            Share of each class to reweight all rows to; as in the rows by default.
        """
        reweighed = reweigh_rows(self._check_length(rows), shares).only(self.is_referred)
        masses: Floats = np.zeros(len(self.labels))
        masses[_label_positions(rows.labels, self.costs)] = reweighed.support
        return masses

    def results(self, rows: MulticlassRows, *, shares: Shares | None = None, level: float | None = 0.95) -> Results:
        """Compare expected and realized cost per row with those of deciding for the most probable class.

        The two costs agree, up to chance, if the posteriors are calibrated. A note warns if those of these decisions
        do not.

        Parameters
        ----------
        rows
            The rows that were decided, with their true classes.
        shares
            Share of each class to reweight both costs to. The posteriors should fit these shares: see `shift.reprior`.
        level
            Confidence level of the intervals of the realized cost; None for no intervals.

        Returns
        -------
        Results
            One row for these decisions, and one for the most probable class, each with the share that is referred.

        Examples
        --------
        >>> triage = CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["home", "ward", "theatre"])
        >>> rows = MulticlassRows(np.array([2, 0]), np.array([[0.6, 0.3, 0.1], [0.9, 0.1, 0.0]]), triage.labels)
        >>> [(row["rule"], row["realised"]) for row in least_cost(rows, triage).results(rows).rows()]
        [('least cost', 1.5), ('highest probability', 4.5)]
        """
        reweighed = reweigh_rows(self._check_length(rows), shares)
        likeliest = _label_positions(rows.labels, self.costs)[rows.decision()]
        at_likeliest = _expected_costs(rows.score, rows.labels, self.costs)[np.arange(len(rows)), likeliest]
        each = [(self.codes, self.cost), (likeliest, at_likeliest)]
        expected = [_weighted_mean(cost, reweighed) for _, cost in each]
        realised = [self._realized_cost(reweighed, codes, level, known_shares=shares is not None) for codes, _ in each]
        columns: dict[str, list[Any]] = {
            "rule": ["least cost", "highest probability"],
            "expected": expected,
            "realised": [found.value for found in realised],
            **{name: [getattr(found, name) for found in realised] for name in ("low", "high", "level", "how", "why")},
            "referred": [_weighted_mean(codes == REFERRED, reweighed) for codes, _ in each],
        }
        return Results(
            columns,
            {"rows": len(rows), "refer": self.refer, "notes": [*_note_wrong_posteriors(expected[0], realised[0])]},
        )

    def _realized_cost(
        self, rows: MulticlassRows, codes: npt.NDArray[np.intp], level: float | None, *, known_shares: bool
    ) -> Estimate:
        """Estimate the mean cost from a table in which referral is one more decision."""
        if not (codes == REFERRED).any():
            table, costs = _decision_confusion(self.costs, rows, codes), self.costs
        else:
            table, costs = self._add_referral(rows, codes)
        measure = partial(expected_cost, costs=costs)
        if level is None:
            return Estimate(measure(table))
        return estimate(measure, replace(table, reweighed=known_shares), level=level)

    def _add_referral(self, rows: MulticlassRows, codes: npt.NDArray[np.intp]) -> tuple[Confusion, CostMatrix]:
        many = len(self.labels)
        labels = (*self.labels, object())  # a label that equals no class
        truth = _label_positions(rows.labels, self.costs)[rows.truth]
        decisions = np.where(codes == REFERRED, many, codes)
        table = Confusion.of_rows(truth, decisions, labels, weight=rows.weight, count=rows.count)
        paid = np.column_stack([self.costs.cost, np.full(many, self.refer)])
        # No row has the true class "referred", but random tables of the interval put a small mass there. At the
        # mean cost, that mass does not change the result.
        mean = np.nan_to_num(ratio(float((paid * table.mass[:many]).sum()), rows.total))
        return table, CostMatrix(np.vstack([paid, np.full(many + 1, mean)]), labels)

    def _check_length(self, rows: MulticlassRows) -> MulticlassRows:
        if len(rows) != len(self.codes):
            raise ShapeError(
                f"{there_are(len(self.codes), 'decision')} for {count_of(len(rows), 'row')}",
                remedy="give the rows they were made of.",
            )
        return rows


def least_cost(
    posteriors: npt.ArrayLike | MulticlassRows,
    costs: CostMatrix,
    *,
    labels: Iterable[object] | None = None,
    refer: float | None = None,
) -> Decisions:
    r"""Decide each row for the class j of least expected cost, :math:`\sum_kp_kC_{kj}` [@elkan2001].

    Of classes that cost the same, the one that comes first in the costs is decided.

    Parameters
    ----------
    posteriors
        Rows of probabilities with a column per class, calibrated where the decisions are made; or `MulticlassRows`.
        For other shares of the classes, see `shift.reprior`.
    costs
        Cost of each decision for each true class.
    labels
        Classes of the columns; those of the costs by default.
    refer
        Cost of referring a row, which is done where it is less than that of every class.

    Returns
    -------
    Decisions
        The decision on each row, and its expected cost.

    Examples
    --------
    >>> triage = CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["home", "ward", "theatre"])
    >>> results = least_cost([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], triage)
    >>> results.to_labels(), results.cost.round(9).tolist()
    (['home', 'ward', 'theatre'], [0.2, 0.9, 0.6])
    >>> least_cost([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1]], triage, refer=0.5).to_labels()
    ['home', 'refer']
    """
    if not isinstance(costs, CostMatrix):
        raise OptionError(
            f"costs are {type(costs).__name__}", remedy="give a CostMatrix, with a cost for each pair of classes."
        )
    if refer is not None and not isfinite(refer):
        raise OptionError(
            f"refer is {refer}",
            remedy="give what it costs to refer a row, or leave it out.",
            option="refer",
            value=refer,
        )
    rows = _as_rows(posteriors, costs, labels)
    check_class_probabilities(rows, "calibrate the scores first.")
    expected = _expected_costs(rows.score, rows.labels, costs)
    near = _TOLERANCE * float(np.abs(costs.cost).max())
    least = expected.min(axis=1)
    # argmax of a mask is the first class within rounding of the least cost, in the order of the costs.
    codes = (expected <= (least + near)[:, None]).argmax(axis=1)
    cost: Floats = expected[np.arange(len(codes)), codes]
    if refer is not None:
        cheaper = refer < least - near
        codes, cost = np.where(cheaper, REFERRED, codes), np.where(cheaper, refer, cost)
    return Decisions(costs, make_read_only(codes), make_read_only(cost), refer)


def reweigh_rows(rows: MulticlassRows, shares: Shares | None) -> MulticlassRows:
    """Return rows with weights that give each class its share; the same rows if there are no shares."""
    if shares is None:
        return rows
    table = rows.confusion()
    factor = reweigh(table, to=check_shares("shares", shares, rows.labels)).truth / table.truth
    return replace(rows, weight=factor[rows.truth] * (1.0 if rows.weight is None else rows.weight))


def _as_rows(
    posteriors: npt.ArrayLike | MulticlassRows, costs: CostMatrix, labels: Iterable[object] | None
) -> MulticlassRows:
    """Convert posteriors to rows of classes that have costs; the true classes of an array are unknown, and not used."""
    if isinstance(posteriors, MulticlassRows):
        if labels is not None:
            raise OptionError(f"{keyword('labels')} has no use: the rows name their classes.")
        rows = posteriors
    else:
        score = np.asarray(posteriors, dtype=np.float64)
        names = costs.labels if labels is None else distinct_labels(labels)
        if score.ndim != 2 or score.shape[1] != len(names):
            raise ShapeError(
                f"posteriors have shape {score.shape}",
                remedy=f"give a row for each case and a column for each of the {len(names)} classes {list(names)}.",
            )
        rows = MulticlassRows(np.zeros(len(score), dtype=np.uint8), score, names)
    if not len(rows):
        raise EmptyDataError("there are no rows to decide", remedy="give at least one.")
    missing = np.isnan(rows.score).any(axis=1)
    if missing.any():
        raise MissingValuesError(
            f"in {missing.sum()} of {len(rows)} rows a posterior is NaN", remedy="leave those rows out."
        )
    return rows


def _weighted_mean(each: npt.NDArray[Any], rows: MulticlassRows) -> float:
    mass = 1.0 if rows.amount is None else rows.amount
    return ratio(float(np.sum(mass * each)), rows.total)


def _note_wrong_posteriors(expected: float, realised: Estimate) -> Iterator[str]:
    """Yield a note if the posteriors do not predict the realized cost."""
    if expected < realised.low or expected > realised.high:
        yield (
            f"by the posteriors a row would cost {expected:.4g}, and it costs {realised.value:.4g} "
            f"({realised.low:.4g} to {realised.high:.4g}): {WRONG_POSTERIORS}"
        )


def _label_positions(labels: tuple[object, ...], costs: CostMatrix) -> npt.NDArray[np.intp]:
    """Return the position of each class in the costs."""
    unknown = [label for label in labels if label not in costs.labels]
    if unknown:
        names = ", ".join(map(repr, unknown))
        raise UnknownNameError(
            f"there are costs for {list(costs.labels)}, but none for {names}; give costs for every class."
        )
    return np.array([costs.labels.index(label) for label in labels], dtype=np.intp)


def _expected_costs(score: npt.NDArray[np.floating], labels: tuple[object, ...], costs: CostMatrix) -> Floats:
    """Compute the expected cost of each decision on each row; classes without a posterior do not occur."""
    expected: Floats = np.asarray(score, dtype=np.float64) @ costs.cost[_label_positions(labels, costs)]
    return expected


def _decision_confusion(costs: CostMatrix, rows: MulticlassRows, codes: npt.NDArray[np.intp]) -> Confusion:
    decided_rows = rows.only(codes != REFERRED)
    truth = _label_positions(rows.labels, costs)[decided_rows.truth]
    return Confusion.of_rows(
        truth, codes[codes != REFERRED], costs.labels, weight=decided_rows.weight, count=decided_rows.count
    )


COLUMNS = (
    *("rule", "measure", "model", "group", "class", "against", "threshold"),
    *("value", "low", "high", "level", "how", "why"),
)
LEAST_COST = "least cost"
ADJUSTED_NOTE = "posteriors and masses were moved from the shares of these rows to others, which are taken as known."

Row = dict[str, Any]


def multiclass_summary(
    rows: MulticlassRows,
    costs: CostMatrix,
    *,
    refer: float | None = None,
    shares: Shares | None = None,
    level: float | None = 0.95,
) -> Results:
    """Summarize decisions of least cost beside those for the most probable class.

    Nothing is chosen on these rows, so the numbers are not optimistic.

    Parameters
    ----------
    rows
        Rows with a posterior for each class.
    costs
        Cost of each decision for each true class.
    refer
        Cost of referring a row; without it all rows are decided.
    shares
        Share of each class in deployment. Posteriors and masses are adjusted to these from the shares of the rows.
    level
        Confidence level of the intervals; None for no intervals.

    Returns
    -------
    Results
        Tidy rows: the cells of the decisions of least cost (`class` is the true one, `against` the decision), then for
        both rules `cost_expected` by the posteriors, `cost_realised`, and `referred_share`.

    Examples
    --------
    >>> from baserate import class_scores
    >>> rows = class_scores(["a", "b", "a"], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]], labels=["a", "b"])
    >>> results = multiclass_summary(rows, CostMatrix([[0, 5], [1, 0]], ["a", "b"]))
    >>> [(row["rule"], row["value"]) for row in results.rows() if row["measure"] == "cost_realised"]
    [('least cost', 0.3333333333333333), ('highest probability', 1.6666666666666667)]
    """
    if not isinstance(rows, MulticlassRows):
        raise OptionError(
            f"rows are {type(rows).__name__}", remedy="give MulticlassRows, with a posterior for each class."
        )
    to = None if shares is None else check_shares("shares", shares, rows.labels)
    adjusted = rows if to is None else _adjust_posteriors(rows, to)
    decisions = least_cost(adjusted, costs, refer=refer)
    costs_by_rule = decisions.results(adjusted, shares=to, level=level)
    table = [*_cell_rows(decisions, adjusted, to), *_cost_rows(costs_by_rule, refer)]
    data = results_data(rows, rows.confusion(), [])
    data["notes"] = [*rows.intake.notes, *[ADJUSTED_NOTE] * (to is not None), *costs_by_rule.data["notes"]]
    data |= {"refer": refer, "decisions": list(decisions.labels)}
    if to is not None:
        data["to"] = dict(zip(map(str, rows.labels), to.tolist(), strict=True))
    if level is not None:
        data["interval"] = {"level": level, "method": None, "seed": 0, "clusters": None}
    return Results({name: [row.get(name) for row in table] for name in COLUMNS}, data)


def _adjust_posteriors(rows: MulticlassRows, to: Floats) -> MulticlassRows:
    """Return rows with posteriors adjusted to other shares of the classes."""
    reweighed = reweigh(rows.confusion(), to=to)  # raises an error where a class has no rows to reweight
    score = reprior(rows.score, from_=rows.support / rows.total, to=to, labels=reweighed.labels)
    return replace(rows, score=score)


def _cell_rows(decisions: Decisions, rows: MulticlassRows, shares: Floats | None) -> Iterator[Row]:
    table = decisions.confusion(rows, shares=shares).mass.tolist()
    for label, line in zip(decisions.labels, table, strict=True):
        for other, mass in zip(decisions.labels, line, strict=True):
            yield {"rule": LEAST_COST, "measure": "cell", "class": label, "against": other, "value": mass}
    if decisions.refer is not None:
        for label, mass in zip(decisions.labels, decisions.referred_mass(rows, shares=shares).tolist(), strict=True):
            yield {"rule": LEAST_COST, "measure": "referred", "class": label, "value": mass}


def _cost_rows(costs: Results, refer: float | None) -> Iterator[Row]:
    for row in costs.rows():
        bounds = {name: row[name] for name in ("low", "high", "level", "how", "why")}
        yield {"rule": row["rule"], "measure": "cost_expected", "value": row["expected"]}
        yield {"rule": row["rule"], "measure": "cost_realised", "value": row["realised"], **bounds}
        if refer is not None:
            yield {"rule": row["rule"], "measure": "referred_share", "value": row["referred"]}
