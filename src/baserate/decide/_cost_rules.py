"""Decisions of least expected cost: one threshold, several actions, referral of uncertain cases, several classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import inf, isfinite
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, keep_read_only, make_read_only, ratio
from baserate._confusion import Confusion, distinct_labels
from baserate._costs import CostMatrix, Costs, CostsLike, as_costs
from baserate._curve import Curve
from baserate._cut import FLAG, PASS, REFER, Cut
from baserate._domains import ShareLike, parse_share
from baserate._errors import EmptyDataError, MissingValuesError, OptionError, ShapeError, UnknownNameError, keyword
from baserate._formatting import count_of
from baserate._numeric.cumulative import sliding_argmin
from baserate._results import Estimate, Results
from baserate._rows import MulticlassRows
from baserate.calibration.multiclass import check_shares
from baserate.decide._rule import (
    RELATIVE_TOLERANCE,
    check_stated_prevalence,
    cost_gains,
    join_actions,
    require_both_classes,
    rule,
    threshold_at,
    threshold_of_greatest_gain,
)
from baserate.infer import estimate
from baserate.measure.multiclass import check_class_probabilities, expected_cost
from baserate.read import PredictionOptions
from baserate.shift import reweigh

ActionCosts = Mapping[str, tuple[float, float]]
"""Cost of each action for a negative, and for a positive."""


def _note_one_sided_costs(curve: Curve, cut: Cut, costs: Costs, **_: Any) -> Iterator[str]:  # noqa: ANN401
    if costs.fn <= costs.tp:
        yield "a false negative costs no more than a true positive, so flagging saves nothing: check the costs."
    elif costs.fp <= costs.tn:
        yield "a false positive costs no more than a true negative, so flagging everybody is free: check the costs."
    counts = cut.counts(curve)
    if not counts.flagged or not counts.not_flagged:
        yield f"flagging {'nobody' if not counts.flagged else 'everybody'} is cheapest, so the scores are not used."


@rule(gains=cost_gains, notes=_note_one_sided_costs)
def cost(
    curve: Curve, costs: CostsLike, *, prevalence: ShareLike | None = None, **predictions: Unpack[PredictionOptions]
) -> Cut:
    """Minimize the expected cost per case, at a stated prevalence or that of the data.

    The threshold is where a line with slope `costs.slope(prevalence)` touches the ROC convex hull [@provost2001]. No
    other threshold costs less, and neither does flagging everybody or nobody. Scores need not be probabilities.

    Parameters
    ----------
    curve
        Curve of the data.
    costs
        Costs of false positives, false negatives and, where not 0, of correct decisions.
    prevalence
        Prevalence where the policy will be used; that of the data by default.

    Returns
    -------
    Policy
        Policy that flags from the strictest cheapest threshold on.

    Examples
    --------
    >>> from baserate import Costs, curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.cost(c, Costs(fp=1, fn=1)).threshold, decide.cost(c, Costs(fp=1, fn=5)).threshold
    (0.8, 0.6)
    >>> decide.cost(c, Costs(fp=1, fn=5), prevalence=0.02).threshold
    0.8
    """
    costs, prevalence = as_costs(costs), parse_share(prevalence)
    if not isinstance(costs, Costs):
        raise OptionError(
            f"costs are {type(costs).__name__}; expected baserate.Costs(fp=…, fn=…).", option="costs", value=costs
        )
    check_stated_prevalence(curve, prevalence)
    return Cut((threshold_of_greatest_gain(curve, cost_gains(curve.positives, curve.negatives, costs, prevalence)),))


def _note_unused_actions(_curve: Curve, cut: Cut, costs: ActionCosts, **_: Any) -> Iterator[str]:  # noqa: ANN401
    for action in costs:
        if action not in cut.actions:
            yield f"{action} is the cheapest action at no score."


@rule(notes=_note_unused_actions)
def actions(
    curve: Curve, costs: ActionCosts, *, prevalence: ShareLike | None = None, **predictions: Unpack[PredictionOptions]
) -> Cut:
    """Minimize the expected cost per case over any number of actions.

    The cost of an action is a line over the risk. The lower envelope of these lines gives the actions that are ever
    cheapest, and the odds where each begins. Each such odds is the slope of a tangent to the ROC convex hull, so the
    thresholds ascend and no others cost less. Two actions are the rule `cost`; a third at a constant cost is Chow's
    rule [@chow1970].

    Parameters
    ----------
    curve
        Curve of the data.
    costs
        Cost of each action for a negative and for a positive, by the name of the action.
    prevalence
        Prevalence where the policy will be used; that of the data by default.

    Returns
    -------
    Policy
        Policy with the actions that are cheapest at some score.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]))
    >>> prices = {"wait": (0, 10), "test": (2, 3), "treat": (6, 0)}
    >>> decide.actions(c, prices).cut
    Cut(thresholds=(0.4, 0.8), actions=('wait', 'test', 'treat'))
    """
    prevalence = parse_share(prevalence)
    check_stated_prevalence(curve, prevalence)
    return cheapest_cut(curve, _check_action_costs(costs), prevalence)


def cheapest_cut(curve: Curve, costs: ActionCosts, prevalence: float | None) -> Cut:
    """Find the cut of least cost among actions."""
    ordered = _lower_envelope(costs)
    cuts: list[tuple[float, str]] = []
    for low, high in pairwise(ordered):
        # Between neighbors, the lower action is to pass and the higher one to flag.
        pair = Costs(tn=costs[low][0], fn=costs[low][1], fp=costs[high][0], tp=costs[high][1])
        gains = cost_gains(curve.positives, curve.negatives, pair, prevalence)
        cuts.append((threshold_of_greatest_gain(curve, gains), high))
    return join_actions(ordered[0], cuts)


def _lower_envelope(costs: ActionCosts) -> list[str]:
    """List the actions that are cheapest at some risk, in order of the risk."""
    # At risk 0 only the cost for a negative matters. Ties: the cheaper for a positive, then the first in order.
    envelope = [min(costs, key=lambda action: costs[action])]
    while True:
        # Only actions that cost less for a positive become cheaper as the risk grows: the quotient below is finite.
        neg, pos = costs[envelope[-1]]
        better = [action for action in costs if costs[action][1] < pos]
        if not better:
            return envelope

        def odds(action: str, neg: float = neg, pos: float = pos) -> tuple[float, float]:
            """Return the odds from which on an action is cheaper than the last, then its cost for a positive."""
            return (costs[action][0] - neg) / (pos - costs[action][1]), costs[action][1]

        envelope.append(min(better, key=odds))


def _check_action_costs(costs: ActionCosts) -> ActionCosts:
    if len(costs) < 2:
        raise OptionError("give two actions or more, each with its cost for a negative and for a positive.")
    for action, pair in costs.items():
        if len(pair) != 2:
            raise ShapeError(f"{action} costs {pair}", remedy="give two numbers, for a negative and for a positive.")
        if not all(map(isfinite, pair)):
            raise OptionError(f"{action} costs {pair}; every cost must be a finite number.")
    return costs


def _note_no_referrals(_curve: Curve, cut: Cut, refer: float | None = None, **_: Any) -> Iterator[str]:  # noqa: ANN401
    if REFER not in cut.actions:
        at_cost = f" at a cost of {refer:g}" if refer is not None else ""
        yield f"no case is referred{at_cost}: a decision is cheaper at every score."


@rule(notes=_note_no_referrals)
def abstain(
    curve: Curve,
    costs: CostsLike | None = None,
    *,
    refer: float | None = None,
    coverage: float | None = None,
    prevalence: ShareLike | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Cut:
    """Flag high scores, do not flag low ones, and refer those between two thresholds (reject option).

    With the cost of a referral, the thresholds minimize the expected cost [@chow1970]. With a coverage, they minimize
    the cost per decided case.

    Parameters
    ----------
    curve
        Curve of the data.
    costs
        Costs of decisions; 1 per error by default, so that accuracy is maximized.
    refer
        Cost of referring a case.
    coverage
        Least share of cases to decide instead, above 0 and at most 1.
    prevalence
        Prevalence where the policy will be used; that of the data by default.

    Returns
    -------
    Policy
        Policy with the actions "pass", "refer" and "flag", without those that are never best.

    Examples
    --------
    >>> from baserate import Costs, curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]))
    >>> decide.abstain(c, Costs(fp=1, fn=1), refer=0.2).cut
    Cut(thresholds=(0.4, 0.8), actions=('pass', 'refer', 'flag'))
    >>> decide.abstain(c, coverage=0.75).cut
    Cut(thresholds=(0.6, 0.8), actions=('pass', 'refer', 'flag'))
    """
    costs, prevalence = as_costs(costs), parse_share(prevalence)
    if (refer is None) == (coverage is None):
        raise OptionError(f"give either {keyword('refer')}, the cost of a referral, or {keyword('coverage')}.")
    costs = Costs() if costs is None else costs
    check_stated_prevalence(curve, prevalence)
    if coverage is not None:
        return _cut_for_coverage(curve, costs, coverage, prevalence)
    assert refer is not None  # noqa: S101  (for the type checker)
    _check_referral_cost(refer)
    # Referral costs the same for both classes: a third action, with a horizontal line of cost over risk.
    prices = {PASS: (costs.tn, costs.fn), REFER: (refer, refer), FLAG: (costs.fp, costs.tp)}
    return cheapest_cut(curve, prices, prevalence)


def _check_referral_cost(refer: float) -> None:
    if not isfinite(refer):
        raise OptionError(f"refer is {refer}; expected a finite cost.", option="refer", value=refer)


class _CumulativeCosts(NamedTuple):
    """Cumulative cost of flagging all above each threshold, of passing all below it, and mass; strictest first."""

    flagged: Floats
    passed: Floats
    mass: Floats


def _cut_for_coverage(curve: Curve, costs: Costs, coverage: float, prevalence: float | None) -> Cut:
    """Minimize the cost per decided case exactly, by Dinkelbach's iteration.

    The cost per decided case is a ratio. It is least where cost − λ · decided has its minimum 0. For a given λ this is
    a sum of one function of each threshold, and the two may not be further apart than the mass that may be referred.
    """
    if not 0 < coverage <= 1:
        raise OptionError(f"coverage is {coverage}; expected above 0, at most 1.", option="coverage", value=coverage)
    sums = _cumulate_costs(curve, costs, prevalence)
    most = (1 - coverage) * sums.mass[-1] * (1 + RELATIVE_TOLERANCE)
    # For each lower threshold, the first upper one that does not refer too much.
    first = np.searchsorted(sums.mass, sums.mass - most - RELATIVE_TOLERANCE * sums.mass[-1], side="left")
    price, best_pair = inf, (0, 0)
    while True:
        high, low = _cheapest_pair(sums, first, 0.0 if price == inf else price)
        cost = sums.flagged[high] + sums.passed[low]
        ratio_now = float(cost / _decided_mass(sums, high, low))
        # Dinkelbach's ratio decreases strictly until the optimum, then stays. At first, inf − inf is NaN.
        if not ratio_now < price - RELATIVE_TOLERANCE * abs(price) and price != inf:
            break
        price, best_pair = ratio_now, (high, low)
    at = [threshold_at(curve, place) for place in best_pair]
    return join_actions(PASS, [(at[1], REFER), (at[0], FLAG)])


def _cheapest_pair(sums: _CumulativeCosts, first: Any, price: float) -> tuple[int, int]:  # noqa: ANN401
    """Return the indices of both thresholds of least cost at a price per decided case.

    Of equals, those that refer least win.
    """
    above = sums.flagged - price * sums.mass
    below = sums.passed + price * sums.mass
    high = sliding_argmin(above, first)
    total = above[high] + below
    # Relative to the terms: their sum may cancel, and the errors of the terms remain.
    size = max(float(np.abs(above).max()), float(np.abs(below).max()))
    near = np.flatnonzero(total <= total.min() + RELATIVE_TOLERANCE * size)
    low = int(near[np.argmax(_decided_mass(sums, high[near], near))])
    return int(high[low]), low


def _decided_mass(sums: _CumulativeCosts, high: Any, low: Any) -> Any:  # noqa: ANN401  (a place, or many)
    return sums.mass[high] + sums.mass[-1] - sums.mass[low]


def _cumulate_costs(curve: Curve, costs: Costs, prevalence: float | None) -> _CumulativeCosts:
    positive, negative = curve.flagged_mass
    if prevalence is not None:
        require_both_classes(curve, "a stated prevalence")
        positive = positive * (prevalence / positive[-1])
        negative = negative * ((1 - prevalence) / negative[-1])
    flagged = costs.tp * positive + costs.fp * negative
    passed = costs.fn * (positive[-1] - positive) + costs.tn * (negative[-1] - negative)
    return _CumulativeCosts(flagged, passed, positive + negative)


Shares = Mapping[Any, ShareLike] | Sequence[float] | Floats
"""Share of each class, by label or in order."""
LEAST_COST = "least cost"
"""Name of the rule in results."""
INTERVAL_COLUMNS = ("low", "high", "level", "how", "why")
WRONG_POSTERIORS = "they are not calibrated on these rows."
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

    def confusion(self, rows: MulticlassRows, *, prevalence: Shares | None = None) -> Confusion:
        """Tabulate these decisions against the true classes, without referred rows.

        Parameters
        ----------
        rows
            The rows that were decided, with their true classes.
        prevalence
            Share of each class to reweight all rows to; as in the rows by default.
        """
        reweighed = reweigh_rows(self._check_length(rows), prevalence)
        return replace(_decision_confusion(self.costs, reweighed, self.codes), reweighed=prevalence is not None)

    def referred_mass(self, rows: MulticlassRows, *, prevalence: Shares | None = None) -> Floats:
        """Return the mass of each class that is referred, in the order of `labels`; parameters as of `confusion`."""
        reweighed = reweigh_rows(self._check_length(rows), prevalence).only(self.is_referred)
        masses: Floats = np.zeros(len(self.labels))
        masses[_label_positions(rows.labels, self.costs)] = reweighed.support
        return masses

    def results(
        self, rows: MulticlassRows, *, prevalence: Shares | None = None, level: ShareLike | None = 0.95
    ) -> Results:
        """Compare expected and realized cost per row with those of deciding for the most probable class.

        The two costs agree, up to chance, if the posteriors are calibrated. A note warns if those of these decisions
        do not.

        Parameters
        ----------
        rows
            The rows that were decided, with their true classes.
        prevalence
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
        reweighed = reweigh_rows(self._check_length(rows), prevalence)
        likeliest = _label_positions(rows.labels, self.costs)[rows.decision()]
        at_likeliest = _expected_costs(rows.score, rows.labels, self.costs)[np.arange(len(rows)), likeliest]
        both = [(self.codes, self.cost), (likeliest, at_likeliest)]
        expected = [_weighted_mean(cost, reweighed) for _, cost in both]
        realised = [
            self._realized_cost(reweighed, codes, parse_share(level), known_shares=prevalence is not None)
            for codes, _ in both
        ]
        columns: dict[str, list[Any]] = {
            "rule": [LEAST_COST, "highest probability"],
            "expected": expected,
            "realised": [each.value for each in realised],
            **{name: [getattr(each, name) for each in realised] for name in INTERVAL_COLUMNS},
            "referred": [_weighted_mean(codes == REFERRED, reweighed) for codes, _ in both],
        }
        notes = [*_note_wrong_posteriors(expected[0], realised[0])]
        return Results(columns, {"rows": len(rows), "refer": self.refer, "notes": notes})

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
        n_classes = len(self.labels)
        labels = (*self.labels, object())  # a label that equals no class
        truth = _label_positions(rows.labels, self.costs)[rows.truth]
        decisions = np.where(codes == REFERRED, n_classes, codes)
        table = Confusion.of_rows(truth, decisions, labels, weight=rows.weight, count=rows.count)
        paid = np.column_stack([self.costs.cost, np.full(n_classes, self.refer)])
        # No row has the true class "referred", but random tables of the interval put a small mass there. At the
        # mean cost, that mass does not change the result.
        mean = np.nan_to_num(ratio(float((paid * table.mass[:n_classes]).sum()), rows.total))
        return table, CostMatrix(np.vstack([paid, np.full(n_classes + 1, mean)]), labels)

    def _check_length(self, rows: MulticlassRows) -> MulticlassRows:
        if len(rows) != len(self.codes):
            what = f"{count_of(len(self.codes), 'decision')} for {count_of(len(rows), 'row')}"
            raise ShapeError(what, remedy="give the rows that were decided.")
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
        raise OptionError(f"costs are {type(costs).__name__}; expected a CostMatrix.", option="costs", value=costs)
    if refer is not None:
        _check_referral_cost(refer)
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
    factor = reweigh(table, prevalence=check_shares("prevalence", shares, rows.labels)).truth / table.truth
    # `reweigh` refuses classes without rows, so no factor is 0/0.
    return replace(rows, weight=factor[rows.truth] * (1.0 if rows.weight is None else rows.weight))


def _as_rows(
    posteriors: npt.ArrayLike | MulticlassRows, costs: CostMatrix, labels: Iterable[object] | None
) -> MulticlassRows:
    """Convert posteriors to rows of classes that have costs; the true classes of an array are unknown, and not used."""
    if isinstance(posteriors, MulticlassRows):
        if labels is not None:
            raise OptionError(f"{keyword('labels')} has no effect on rows with named classes", remedy="leave it out.")
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
        raise MissingValuesError(f"{missing.sum()} of {len(rows)} rows have NaN posteriors", remedy="leave them out.")
    return rows


def _weighted_mean(each: npt.NDArray[Any], rows: MulticlassRows) -> float:
    mass = 1.0 if rows.amount is None else rows.amount
    return ratio(float(np.sum(mass * each)), rows.total)


def _note_wrong_posteriors(expected: float, realised: Estimate) -> Iterator[str]:
    """Yield a note if the posteriors do not predict the realized cost."""
    if expected < realised.low or expected > realised.high:
        yield (
            f"the posteriors predict a cost of {expected:.4g} per row, but it is {realised.value:.4g} "
            f"({realised.low:.4g} to {realised.high:.4g}): {WRONG_POSTERIORS}"
        )


def _label_positions(labels: tuple[object, ...], costs: CostMatrix) -> npt.NDArray[np.intp]:
    """Return the position of each class in the costs."""
    unknown = [label for label in labels if label not in costs.labels]
    if unknown:
        raise UnknownNameError(f"there are no costs for the class {unknown[0]!r}", remedy="give costs for every class.")
    return np.array([costs.labels.index(label) for label in labels], dtype=np.intp)


def _expected_costs(score: npt.NDArray[np.floating], labels: tuple[object, ...], costs: CostMatrix) -> Floats:
    """Compute the expected cost of each decision on each row; classes without a posterior do not occur."""
    # Matrix products round a row differently in tables of other sizes; callers compare with a tolerance.
    expected: Floats = np.asarray(score, dtype=np.float64) @ costs.cost[_label_positions(labels, costs)]
    return expected


def _decision_confusion(costs: CostMatrix, rows: MulticlassRows, codes: npt.NDArray[np.intp]) -> Confusion:
    is_decided = codes != REFERRED
    decided = rows.only(is_decided)
    truth = _label_positions(rows.labels, costs)[decided.truth]
    return Confusion.of_rows(truth, codes[is_decided], costs.labels, weight=decided.weight, count=decided.count)
