"""Intersections of attributes: each group against what its attributes explain one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import Any, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats
from baserate._domains import MIN_GROUP
from baserate._errors import OptionError
from baserate._formatting import join_words
from baserate._results import Results
from baserate._tally import Group, Tallies
from baserate.fairness._group_counts import (
    Decisions,
    Eligibility,
    GroupCounts,
    ModelCounts,
    Row,
    check_eligibility,
    check_min_group,
    count_groups,
    exclusion_notes,
)
from baserate.infer import (
    Comparison,
    ComparisonRequest,
    IntervalOptions,
    Question,
    add_in_quadrature,
    chi_squared_p,
    conclude_by_quadrature,
    effective_shares,
    has_fixed_prevalence,
    holm,
    make_limits,
    normal_quantile,
)
from baserate.measure import Measure, describe, tidy_columns
from baserate.read import AdjustedIntervalOptions, accepts_predictions

EXCESS_COLUMNS = (
    *("measure", "model", "kind", "group", "value", "low", "high", "level", "observed", "expected"),
    *("p", "p_adjusted", "p_is_bound", "trials", "degrees", "how", "why"),
)
_JOINT_METHOD = "weighted least squares of additive effects, chi-squared of the residuals"
_LEAST = 2
"""Least number of attributes."""


@accepts_predictions("tallies", adjusts=True)
def intersection_excess(
    tallies: Tallies,
    *,
    policy: Decisions = None,
    measures: Iterable[str | Measure] | None = None,
    by: Sequence[str] | None = None,
    min_group: int = MIN_GROUP,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    r"""Compare each intersection of attributes with what its attributes explain when their effects add up.

    Weighted least squares fits an effect of each attribute to the values of all intersections, each weighted by the
    rows on which it rests. So effects of one attribute are adjusted for the others. The excess is the residual: the
    value of an intersection less the sum of its effects. It is 0 if attributes act separately: women of the north
    then differ only as much as being a woman and living in the north explain. With the weights fixed, an excess is a
    sum of independent values with factors. The distances of their limits are added in quadrature [@zou2008].

    The joint row tests whether any intersection deviates. Additive effects are one definition: effects that multiply,
    or add up on log-odds, have another excess.

    Parameters
    ----------
    tallies, policy, measures
        As in `group_table`.
    by
        Attributes, at least two; the default is all of them.
    min_group
        Least number of rows on which a measure of an intersection must rest to be tested.
    interval
        Level of the intervals, and the seed.

    Returns
    -------
    Results
        Rows of two kinds for each model and measure. "excess": the excess of one intersection, its interval and
        p-value, and the `observed` and `expected` value. "joint": the statistic of the joint test with its `degrees` of
        freedom. `p_adjusted` is Holm-adjusted over the rows of a kind and a model.

    Examples
    --------
    >>> from baserate import fairness, read
    >>> people = {"y": [1] * 400, "says": [*[1] * 80, *[0] * 20, *[1, 0] * 100, *[1] * 20, *[0] * 80]}
    >>> people |= {"sex": ["f"] * 200 + ["m"] * 200, "site": (["a"] * 100 + ["b"] * 100) * 2}
    >>> t = read.tallies(people, truth="y", predicted="says", group=["sex", "site"], positive=1)
    >>> row = fairness.intersection_excess(t, measures=["sensitivity"]).rows()[0]
    >>> row["group"], *(round(row[name], 2) for name in ("observed", "expected", "value"))  # additive effects
    ({'sex': 'f', 'site': 'a'}, 0.8, 0.8, 0.0)
    """
    counts, size = count_groups(tallies, policy, measures, by), check_min_group(min_group)
    if len(counts.by) < _LEAST:
        what = f"by is {join_words(list(map(repr, counts.by)))}; expected {_LEAST} attributes or more"
        raise OptionError(what, remedy="read groups by several columns.", option="by", value=by)
    results = counts.results(
        EXCESS_COLUMNS, excess_rows(counts, interval, size), exclusion_notes(counts, size), interval
    )
    return Results(results.columns, {**results.data, "min_group": size})


def excess_rows(counts: GroupCounts, interval: IntervalOptions, min_group: int) -> Iterator[Row]:
    """Yield one row for each model, measure and intersection, and one for each joint test."""
    for model in counts.models:
        rows = [*_model_rows(counts, model, interval, min_group)]
        for kind in ("excess", "joint"):
            same = [row for row in rows if row["kind"] == kind]
            yield from ({**row, "p_adjusted": p} for row, p in zip(same, holm([row["p"] for row in same]), strict=True))


def _model_rows(counts: GroupCounts, model: ModelCounts, interval: IntervalOptions, min_group: int) -> Iterator[Row]:
    """Yield the rows of one model, without adjusted p-values."""
    inputs = {of: model.measure_inputs(of) for of in {describe(measure).of for measure in model.measures}}
    for measure in model.measures:
        request = ComparisonRequest(measure, Question(level=interval.level))
        eligibility = check_eligibility(model, measure, min_group)
        fit = _AdditiveFit.of(request, inputs[describe(measure).of], eligibility)
        place = {"model": model.model, "measure": describe(measure).name}
        for group in model.groups:
            row = {"kind": "excess", "group": counts.attributes_of(group), "trials": eligibility.trials[group]}
            if group in fit.groups:
                yield place | row | _excess_row(fit.compare(group), eligibility, group)
            else:
                yield (
                    place | row | {"value": nan, "p": nan, "why": "the measure is undefined or infinite in this group"}
                )
        yield place | {"kind": "joint"} | fit.test()


def _excess_row(comparison: Comparison, eligibility: Eligibility, group: Group) -> Row:
    few = group in eligibility.too_small
    minimum = f"fewer than the minimum of {eligibility.min_group}"
    untested = f"not tested: it has {eligibility.describe(group)}, {minimum}" if few else None
    p = nan if untested else comparison.p
    return {
        **tidy_columns(comparison.difference),
        "observed": comparison.values[0],
        "expected": comparison.values[1],
        "p": p,
        "p_is_bound": comparison.p_is_bound if p > 0 else None,
        "why": comparison.difference.why or untested,
    }


class _AdditiveFit(NamedTuple):
    """Values of all groups in which a measure is defined, and their design: a constant and an effect of each label."""

    request: ComparisonRequest
    groups: tuple[Group, ...]
    samples: list[Any]
    values: Floats
    rows: Floats
    """Rows on which the values rest."""
    design: Floats

    @staticmethod
    def of(request: ComparisonRequest, inputs: Mapping[Any, Any], eligibility: Eligibility) -> _AdditiveFit:
        measured = {group: float(request.measure(inputs[group])) for group in eligibility.trials}
        groups = tuple(group for group, value in measured.items() if isfinite(value))
        rows = np.array([eligibility.trials[group] for group in groups], dtype=np.float64)
        values = np.array([measured[group] for group in groups])
        return _AdditiveFit(request, groups, [inputs[g] for g in groups], values, rows, _make_design(groups))

    def residual_factors(self, weights: Floats) -> Floats:
        """Return the matrix that maps values to residuals of weighted least squares."""
        root = np.sqrt(weights)[:, None]
        hat = self.design @ np.linalg.pinv(root * self.design) * root.T
        factors = np.eye(len(self.groups)) - hat
        # Where attributes explain a group fully, rounding errors must not remain.
        return np.where(np.abs(factors) < 1e-10, 0.0, factors)

    def compare(self, group: Group) -> Comparison:
        """Compare the value of a group with the one that its attributes explain."""
        at = self.groups.index(group)
        factors, observed = self.residual_factors(self.rows)[at].tolist(), float(self.values[at])
        values = observed, observed - float(np.dot(factors, self.values))
        limits, how = make_limits(self.request.measure, self.samples, factors)
        own = self.values.tolist()
        if self._has_score_limits:
            return self.request.conclude_from_intervals(
                values, lambda level: add_in_quadrature(factors, own, limits(level)), how
            )
        bounds = add_in_quadrature(factors, own, limits(self.request.question.level))
        return conclude_by_quadrature(self.request, values, bounds, how)

    @property
    def _has_score_limits(self) -> bool:
        """Return whether limits have a closed form, so that a p-value can be searched for."""
        return describe(self.request.measure).share is not None and not any(map(has_fixed_prevalence, self.samples))

    def test(self) -> Row:
        """Test jointly whether effects of attributes explain all groups."""
        degrees = len(self.groups) - int(np.linalg.matrix_rank(self.design)) if self.groups else 0
        if degrees < 1:
            return {"value": nan, "p": nan, "why": "too few intersections have a value"}
        variances = self._null_variances()
        if not (np.isfinite(variances) & (variances > 0)).all():
            return {"value": nan, "p": nan, "why": "an intersection has no variance"}
        residuals = self.residual_factors(1 / variances) @ self.values
        statistic = float(np.sum(residuals**2 / variances))
        return {"value": statistic, "p": chi_squared_p(statistic, degrees), "degrees": degrees, "how": _JOINT_METHOD}

    def _null_variances(self) -> Floats:
        """Return the variances of values: of shares, those at the fitted values; otherwise those of their intervals."""
        limits, _ = make_limits(self.request.measure, self.samples, np.ones(len(self.groups)).tolist())
        low, high = np.array(limits(level := self.request.question.level)).T
        if not self._has_score_limits:
            return np.asarray(((high - low) / 2 / normal_quantile(level)) ** 2)
        effective = np.array([sum(each) for each in effective_shares(self.request.measure, self.samples)])
        fitted = self.values - self.residual_factors(self.rows) @ self.values
        # An empty cell is not certain: at least half a hit and half a miss.
        share = np.clip(fitted, 0.5 / (effective + 1), 1 - 0.5 / (effective + 1))
        return np.asarray(share * (1 - share) / effective)


def _make_design(groups: Sequence[Group]) -> Floats:
    """Return a constant, and an indicator of each label of each attribute but the first.

    >>> _make_design([("f", "a"), ("f", "b"), ("m", "a"), ("m", "b")]).tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    columns = [np.ones(len(groups))]
    for labels in zip(*groups, strict=True):
        _, *others = dict.fromkeys(labels)
        columns += [np.array([label == other for label in labels], dtype=np.float64) for other in others]
    return np.stack(columns, axis=1)
