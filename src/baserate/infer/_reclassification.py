r"""Net reclassification improvement (NRI) and integrated discrimination improvement (IDI) of one model over another.

All of them are sums of two means: of a change d of each positive, and of −d of each negative. d is the change of the
probability (IDI), its sign (continuous NRI), or the sign of the change of category (NRI) [@pencina2008] [@pencina2011].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import hypot, inf, isnan, nan, sqrt
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Bools, Floats, ratio
from baserate._domains import LEVEL, ShareLike, check_domain, parse_share, wrong_option
from baserate._errors import EmptyDataError, OptionError
from baserate._formatting import format_exact
from baserate._numeric.distinct import Codes
from baserate._results import Results
from baserate._rows import Rows
from baserate.infer._binomial import NormalLevel, normal_quantile
from baserate.infer._comparison import (
    NO_VARIANCE,
    SMALLEST_P,
    Limits,
    StudentizedDifference,
    format_group,
    normal_p,
)
from baserate.infer._influence_differences import cluster_component
from baserate.infer._mcnemar import TESTS, DiscordantCounts, mcnemar_interval, mid_p_test
from baserate.infer._model_bootstrap import UniqueRows, unique_rows
from baserate.infer._paired_comparison import iterate_groups, list_pairs
from baserate.infer._variances import VarianceComponent
from baserate.measure import brier, check_probabilities, results_data
from baserate.read import PredictionOptions, accepts_predictions

ReclassificationMethod = Literal["asymptotic"]
NRI_NOTE = (
    "the NRI is no proper measure: it can favor a model that is miscalibrated or contains noise; decide by the "
    "difference in net benefit, Brier score, log loss or AUC"
)
SAME_ROWS_NOTE = "intervals and tests of NRI and IDI require rows that neither model was fitted to"
_COLUMNS = (
    *("measure", "model", "other", "group", "class", "from", "to", "threshold", "value", "low", "high", "level"),
    *("statistic", "p", "p_is_bound", "how", "why"),
)
_CLASSES = ("positive", "negative")
_MID_P = "McNemar, mid-p"
_SUM = "bounds of both classes by McNemar's mid-p test, added in quadrature"
_T = "t quantiles with fourth-moment degrees of freedom"
_ASYMPTOTIC = "normal, published variance"
_MAX_Z = 32.0
"""Standard errors beyond which p-values are bounds."""


@accepts_predictions("rows")
def net_reclassification(
    rows: Rows,
    *,
    thresholds: Sequence[float] = (),
    models: Sequence[str] | Sequence[tuple[str, str]] | None = None,
    level: ShareLike = 0.95,
    method: ReclassificationMethod | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    r"""Estimate how a new model reclassifies rows compared with an old one: NRI, continuous NRI and IDI.

    Of positives, the NRI is the share that moves up a category less the share that moves down; of negatives, the
    reverse; the NRI is the sum of both [@pencina2008]. The continuous NRI counts any change of the probability
    [@pencina2011]. The IDI is the difference of the mean changes of both classes, and so that of
    :func:`baserate.measure.discrimination_slope`. With one threshold the parts are the differences in sensitivity and
    specificity.

    **Do not choose a model by the NRI.** It is no proper measure: a model that is miscalibrated, or to which noise was
    added, can have a positive NRI on new rows [@hilden2014] [@pepe2015] [@kerr2014]. Use the difference of net benefit,
    Brier score, log loss or AUC (`baserate.compare`), or the likelihood-ratio test of the added predictors. Both models
    count as given: on rows that they were fitted to, tests of NRI and IDI are invalid for nested models [@kerr2011].

    Shares have McNemar's mid-p test and interval, as in `infer.compare`, and their sum adds both distances in
    quadrature [@zou2008]. Weighted and clustered rows, and the IDI, have t intervals.

    Parameters
    ----------
    rows
        Labels and the probabilities of two or more models, the new model first.
    thresholds
        Ascending probabilities between categories; a row is in the higher category from the threshold on. Without any,
        there is no categorical NRI.
    models
        Pairs of names (new, old), or names to pair each with each later one; by default, all.
    level
        Confidence level.
    method
        "asymptotic" for the normal intervals and tests of the publications, as in Hmisc's `improveProb`.

    Returns
    -------
    Results
        Rows of the reclassification tables (`measure` is "cell"), and of each number: for all rows, and as
        `…_positives` and `…_negatives`. p-values are two-sided and unadjusted. The notes state what the NRI is not.

    Raises
    ------
    OptionError
        Thresholds are not ascending probabilities, or there is a single model.
    NotAProbabilityError
        Scores are not probabilities.

    See Also
    --------
    baserate.compare : Differences of measures that are proper or have costs.

    Examples
    --------
    >>> from baserate import infer
    >>> truth = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> new, old = [0.9, 0.4, 0.6, 0.3, 0.1, 0.2, 0.4, 0.1], [0.6, 0.6, 0.3, 0.2, 0.2, 0.1, 0.6, 0.3]
    >>> results = infer.net_reclassification(truth, {"new": new, "old": old}, thresholds=[0.5])
    >>> {row["measure"]: round(row["value"], 4) for row in results.rows() if row["measure"] in ("nri", "idi")}
    {'nri': 0.25, 'idi': 0.225}
    """
    level = parse_share(level)
    check_domain("level", level, LEVEL)
    if method not in (None, "asymptotic"):
        raise wrong_option("method", method, "None or 'asymptotic'")
    if method is not None and (rows.weight is not None or rows.cluster is not None):
        raise OptionError(
            "method is 'asymptotic', and rows are weighted or clustered.", remedy="Leave it out.", option="method"
        )
    edges = _check_thresholds(thresholds)
    pairs = list_pairs(rows, models, brier)
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    records: list[dict[str, Any]] = []
    for group, place in iterate_groups(rows):
        cells = unique_rows(rows, names, place)
        if not len(cells):
            raise EmptyDataError(f"there are no rows{format_group(group)}", remedy="give at least one.")
        for name in names:
            check_probabilities(cells.tally(name))
        for pair in pairs:
            request = _PairOnRows(cells, pair, edges, level, method)
            head = {"model": pair[0], "other": pair[1], "group": None if group is None else dict(group)}
            records += ({**head, **record} for record in request.records())
    data = {
        **results_data(rows.tallies(), [NRI_NOTE, SAME_ROWS_NOTE]),
        "level": level,
        "category_thresholds": list(thresholds),
    }
    return Results({name: [record.get(name) for record in records] for name in _COLUMNS}, data)


def _check_thresholds(thresholds: Sequence[float]) -> Floats:
    edges = np.asarray(list(thresholds), dtype=np.float64)
    inside = bool(((edges > 0) & (edges < 1)).all())
    if not inside or (np.diff(edges) <= 0).any():
        text = ", ".join(map(format_exact, edges.tolist()))
        raise OptionError(
            f"thresholds are {text}; expected ascending probabilities between 0 and 1.",
            remedy="Give, for example, 0.1 and 0.3.",
            option="thresholds",
            value=thresholds,
        )
    return edges


class _Shift(NamedTuple):
    """Mean change of the rows of a class towards the better side, and what its interval needs."""

    value: float
    members: Bools
    influence: Floats
    """What one row of each kind adds to the mean; 0 for rows of the other class."""
    counts: DiscordantCounts | None
    """Rows that move to the better and to the worse side; None where changes are not counts of rows."""


@dataclass(frozen=True, slots=True)
class _PairOnRows:
    """A new and an old model on one group of rows."""

    cells: UniqueRows
    pair: tuple[str, str]
    edges: Floats
    level: float
    method: str | None

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the cells of the table, then the numbers."""
        new, old = (self.cells.score[name] for name in self.pair)
        if len(self.edges):
            before, after = (np.searchsorted(self.edges, score, side="right").astype(np.int64) for score in (old, new))
            yield from self._table(before, after)
            yield from self._numbers("nri", np.sign(after - before).astype(np.float64), are_signs=True)
        yield from self._numbers("continuous_nri", np.sign(new - old), are_signs=True)
        yield from self._numbers("idi", new - old, are_signs=False)

    def _table(self, before: Codes, after: Codes) -> Iterator[dict[str, Any]]:
        """Yield the mass of each class in each category of the old and of the new model."""
        names = name_categories(self.edges)
        for label, members in zip(_CLASSES, self.cells.classes, strict=True):
            place = before[members] * len(names) + after[members]
            masses = np.bincount(place, self.cells.mass[members], minlength=len(names) ** 2)
            for (old, new), mass in zip(product(names, repeat=2), masses.tolist(), strict=True):
                yield {"measure": "cell", "class": label, "from": old, "to": new, "value": mass}

    def _numbers(self, name: str, change: Floats, *, are_signs: bool) -> Iterator[dict[str, Any]]:
        """Yield the sum of the means of both classes, and each of them."""
        by_class = {
            label: self._mean_change(members, side * change, are_signs=are_signs)
            for label, members, side in zip(_CLASSES, self.cells.classes, (1.0, -1.0), strict=True)
        }
        for suffix, labels in (("", _CLASSES), *((f"_{label}s", (label,)) for label in _CLASSES)):
            shifts = [by_class[label] for label in labels]
            present = [shift for shift in shifts if shift is not None]
            absent = [f"no {label}s" for label in labels if by_class[label] is None]
            why = f"there are {' and '.join(absent)}"
            yield {"measure": f"{name}{suffix}", **({"value": nan, "why": why} if absent else self._estimate(present))}

    def _mean_change(self, members: Bools, change: Floats, *, are_signs: bool) -> _Shift | None:
        """Return the mean change of a class; None of an empty one."""
        mass, times, own = self.cells.mass[members], self.cells.times[members], change[members]
        if not len(own):
            return None
        value = float(np.sum(mass * own) / mass.sum())
        influence = np.zeros(len(self.cells))
        influence[members] = mass / times * (own - value) / mass.sum()
        if not are_signs or self.cells.weight is not None or self.cells.cluster is not None:
            return _Shift(value, members, influence, None)
        better, worse = (int(times[own * side > 0].sum()) for side in (1, -1))
        return _Shift(value, members, influence, DiscordantCounts(better, worse, int(times.sum())))

    def _estimate(self, shifts: Sequence[_Shift]) -> dict[str, Any]:
        """Return a sum of means with its interval and test."""
        value = sum(shift.value for shift in shifts)
        if self.method == "asymptotic":
            return self._estimate_asymptotically(value, shifts)
        counts = [shift.counts for shift in shifts if shift.counts is not None]
        if len(counts) == len(shifts):
            return self._estimate_by_counts(value, counts)
        return self._estimate_by_variance(value, shifts)

    def _estimate_by_counts(self, value: float, counts: Sequence[DiscordantCounts]) -> dict[str, Any]:
        """Return McNemar's mid-p interval and test; of two classes, with both distances added in quadrature."""

        def interval(level: float) -> Limits:
            down = up = 0.0
            for each in counts:
                low, high = mcnemar_interval(TESTS["mcnemar-mid-p"], each, level)
                middle = (each.first - each.second) / each.rows
                down, up = hypot(down, middle - low), hypot(up, high - middle)
            return value - down, value + up

        low, high = interval(self.level)
        if len(counts) > 1:
            return self._record(value, (low, high), (nan, find_agreeing_p(interval, value)), _SUM)
        return self._record(value, (low, high), mid_p_test(counts[0].first, counts[0].second, "two-sided"), _MID_P)

    def _estimate_by_variance(self, value: float, shifts: Sequence[_Shift]) -> dict[str, Any]:
        """Return the t interval and test."""
        if self.cells.cluster is None:
            parts = [
                VarianceComponent.of_rows(shift.influence[shift.members], self.cells.times[shift.members])
                for shift in shifts
            ]
        else:
            parts = [cluster_component(self.cells, np.sum([shift.influence for shift in shifts], axis=0))]
        how = _T if self.cells.cluster is None else f"{_T}, summed within clusters"
        difference = StudentizedDifference.of(value, parts, how)
        if not difference.is_usable(1.0):
            return self._record(value, (nan, nan), (nan, nan), how, NO_VARIANCE)
        return self._record(value, difference.interval(self.level), difference.test("two-sided", 0.0), how)

    def _estimate_asymptotically(self, value: float, shifts: Sequence[_Shift]) -> dict[str, Any]:
        """Return the normal interval and test of the publications."""
        error = sqrt(sum(map(self._published_variance, shifts)))
        if not 0 < error < inf:
            return self._record(value, (nan, nan), (nan, nan), _ASYMPTOTIC, NO_VARIANCE)
        reach, z = normal_quantile(self.level) * error, value / error
        return self._record(value, (value - reach, value + reach), (z, normal_p(z, "two-sided")), _ASYMPTOTIC)

    def _published_variance(self, shift: _Shift) -> float:
        """Return the variance of a mean: of shares with n, of changes of probabilities with n − 1."""
        squares = float(np.sum(self.cells.times * shift.influence**2))
        rows = int(self.cells.times[shift.members].sum())
        return squares if shift.counts is not None else squares * ratio(rows, rows - 1)

    def _record(
        self, value: float, bounds: Limits, test: tuple[float, float], how: str, why: str | None = None
    ) -> dict[str, Any]:
        """Return the columns of a number."""
        least = -2.0 if how == _SUM else -inf
        low, high = max(bounds[0], least), min(bounds[1], -least)
        statistic, p = test
        estimate = {"value": value, "low": low, "high": high, "level": self.level, "how": how, "why": why}
        return estimate | {"statistic": statistic, "p": p, "p_is_bound": None if isnan(p) else p <= SMALLEST_P}


def find_agreeing_p(interval: Callable[[float], Limits], value: float) -> float:
    """Return one less the level at which an interval just reaches 0; few evaluations, since each takes milliseconds.

    >>> from baserate.infer._binomial import NormalLevel, normal_quantile
    >>> reach = lambda level: normal_quantile(level) / 2
    >>> round(find_agreeing_p(lambda level: (1 - reach(level), 1 + reach(level)), 1.0), 6)
    0.0455
    """
    from scipy.optimize import brentq

    if value == 0:
        return 1.0

    def distance(z: float) -> float:
        low, high = interval(NormalLevel(z))
        return low if value > 0 else -high

    far = 1.0
    while distance(far) > 0 and far < _MAX_Z:
        far *= 2
    return normal_p(float(brentq(distance, 0.0, far, xtol=1e-7)) if far < _MAX_Z else far, "two-sided")


def name_categories(edges: Floats) -> list[str]:
    """Name the categories between ascending thresholds.

    >>> name_categories(np.array([0.1, 0.3]))
    ['[0, 0.1)', '[0.1, 0.3)', '[0.3, 1]']
    """
    ends = ["0", *map(format_exact, edges.tolist()), "1"]
    names = [f"[{low}, {high})" for low, high in pairwise(ends)]
    return [*names[:-1], f"{names[-1][:-1]}]"]
