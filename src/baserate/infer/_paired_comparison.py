"""Comparison of models on the same rows: DeLong's, McNemar's, influence-function and bootstrap tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import isclose, isfinite, isinf, isnan, nan, sqrt
from typing import Any, Unpack

import numpy as np

from baserate._arrays import Floats
from baserate._costs import CostsLike, as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import ShareLike, as_prevalence
from baserate._errors import EmptyDataError, OptionError, keyword, unknown_name
from baserate._formatting import count_of
from baserate._numeric.distinct import argsort_descending
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.infer import _auc_intervals
from baserate.infer._auc_intervals import AucInfluence, auc_influence
from baserate.infer._binomial import FIXED_METHOD, classify_share, normal_quantile, t_widening
from baserate.infer._bootstrap import Seed
from baserate.infer._comparison import (
    NO_VARIANCE,
    SAME_PREDICTIONS,
    BootstrapDifference,
    Comparison,
    ComparisonRequest,
    GroupKey,
    Limits,
    Question,
    adjust_p_values,
    format_group,
    normal_p,
    student_p,
)
from baserate.infer._influence_differences import has_closed_form, studentize_difference
from baserate.infer._mcnemar import (
    TESTS,
    DiscordantCounts,
    McNemar,
    count_joint_table,
    margin_p,
    mcnemar_interval,
    simulate_differences,
)
from baserate.infer._model_bootstrap import Place, UniqueRows, bootstrap_models, unique_rows
from baserate.infer._roc_permutation import paired_curve_test
from baserate.infer._variances import Units
from baserate.measure import Measure, MeasureInfo, Settings, as_measure, describe, require_options, undefined_reason
from baserate.read import PredictionOptions, accepts_predictions

USE_BOOTSTRAP = f"use {keyword('method', 'resample')}."
AUC_SCALES = {"auc": 1.0, "gini": 2.0, "accuracy_ratio": 2.0}
"""Measures that are linear in the AUC, and their slopes."""

Pair = tuple[str, str]
_DEFAULT_THRESHOLD = 0.5
_SAME_RANKS = "the same ranks in every row"


@accepts_predictions("rows")
def compare(  # noqa: PLR0913  (each is a part of the question)
    rows: Rows,
    *,
    measure: str | Measure | Iterable[str | Measure] = "auc",
    models: Sequence[str] | Sequence[Pair] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    question: Question = Question(),  # noqa: B008  (it is immutable)
    prevalence: ShareLike | None = None,
    costs: CostsLike | None = None,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> tuple[Comparison, ...]:
    """Compare models on the same rows: the difference of a measure, its interval, and a p-value.

    The measure determines the test, unless the question names a method:

    - AUC and its linear transforms: DeLong's paired test.
    - ROC curves as a whole (`Question(method="venkatraman")` with AUC): Venkatraman's permutation test
      [@venkatraman1996]. It also sees curves that cross. The interval is that of the difference in AUC.
    - Proportions of rows that the label alone selects (accuracy, sensitivity, specificity and their complements, flag
      rate): McNemar's mid-p test, with an interval that excludes 0 exactly where the test rejects.
    - Brier score, log loss, their skill, and average precision: t test of row contributions, with fourth-moment degrees
      of freedom. KS: the same at the thresholds of the sample.
    - Other measures of a confusion matrix: simulated joint tables of the label and both decisions.
    - All else: Bayesian bootstrap with the same random weights of rows for both models.

    For clustered rows, whole clusters get a weight, and row contributions are summed within clusters. Where rows show
    no variance, limits of proportions of as many rows take their place.

    At a stated prevalence the classes are reweighted to it, in every group, and only chance within each class counts:
    the prevalence is known. Measures that do not depend on the prevalence keep their tests. McNemar's tests count rows,
    so that simulated joint tables take their place for accuracy and flag rate.

    Parameters
    ----------
    rows
        Labels and the scores of two or more models. Groups are compared one by one after all rows.
    measure
        Name or function of a measure, perhaps with options set by `functools.partial`, or several of them.
    models
        Names to compare each with each, or pairs of names; by default, all. A difference is the first less the second.
    threshold
        Scores at or above it are flagged, for measures that need it: one for all models, or one for each by name. By
        default 0.5 if scores are probabilities.
    question
        Alternative, margin, level and method.
    prevalence
        Deployment prevalence, such as 0.02 or "2%", at which models are compared; by default that of the sample.
    costs
        Costs of outcomes, for the measure expected_cost: ``fp=1, fn=20``, a mapping, or :class:`baserate.Costs`. A
        threshold probability of net benefit is set by `functools.partial(measure.net_benefit, at=0.1)`. Without such a
        number these measures raise an error.
    seed
        Seed or NumPy generator; equal seeds give equal results.

    Returns
    -------
    tuple of Comparison
        One for each measure, group and pair of models, with Holm-adjusted p-values.

    Raises
    ------
    OptionError
        A method does not fit the measure, or an option is missing.
    UnknownNameError
        A model or measure does not exist.

    Examples
    --------
    >>> truth = np.array([1, 1, 1, 0, 0, 0, 0], dtype=bool)
    >>> new, old = np.array([9, 7, 6, 8, 3, 2, 1.0]), np.array([7, 3, 9, 8, 6, 2, 1.0])
    >>> compare(Rows(truth, {"new": new, "old": old}))[0]
    Comparison(auc: new 0.833333, old 0.75; difference 0.0833333 (-0.281884 to 0.448551), p 0.654721)
    >>> at_ten_percent = compare(truth, {"new": new, "old": old}, measure="precision", threshold=5, prevalence="10%")
    >>> [round(value, 4) for value in at_ten_percent[0].values]
    [0.3077, 0.129]
    """
    share, settings = as_prevalence(prevalence), Settings(costs=as_costs(costs))
    # Without repetition: Holm's adjustment must count a measure once, even if it is named twice.
    functions = list(dict.fromkeys(settings.apply(as_measure(each)) for each in _as_list(measure)))
    if not functions:
        raise OptionError(
            "there is no measure to compare by", remedy=f"name one, for example {keyword('measure', 'auc')}."
        )
    require_options(functions)
    if settings.idle(functions):
        raise OptionError(
            f"{keyword('costs')} has no effect on these measures", remedy="compare by expected_cost, or leave them out."
        )
    pairs = {at: list_pairs(rows, models, each) for at, each in enumerate(functions)}
    names = list(dict.fromkeys(name for each in pairs.values() for pair in each for name in pair))
    needs_thresholds = any(describe(each).of is Counts for each in functions)
    # From all rows, so that every group is compared at the same thresholds.
    thresholds = _find_thresholds(rows, names, threshold) if needs_thresholds else {}
    comparisons: list[Comparison] = []
    for group, place in iterate_groups(rows):
        cells = unique_rows(rows, names, place)
        if not len(cells):
            raise EmptyDataError(
                f"there are no rows{format_group(group)}", remedy="give at least one, with a weight above 0."
            )
        reweighed = None if share is None else _reweigh(cells, share)
        for at, each in enumerate(functions):
            request = ComparisonRequest(each, question)
            if share is None or not depends_on_prevalence(each):
                comparisons += _PairedComparison(request, cells, thresholds, seed, group).compare_pairs(pairs[at])
            elif reweighed is None:
                comparisons += _conclude_without_class(request, cells, group, pairs[at])
            else:
                comparisons += _PairedComparison(request, reweighed, thresholds, seed, group).compare_pairs(pairs[at])
    return adjust_p_values(comparisons)


_PROBE = np.array([[3.14, 2.72, 1.41, 1.62], [1.2, 2.65, 3.61, 4.67]])
"""Masses of both classes at four scores; odd numbers, so that no costs balance by chance."""


def depends_on_prevalence(measure: Measure) -> bool:
    """Return whether a measure of the same scores is another one at another prevalence.

    >>> from baserate.measure import auc, precision, sensitivity
    >>> [depends_on_prevalence(each) for each in (auc, precision, sensitivity)]
    [False, True, False]
    """
    of = describe(measure).of
    if of is Tally:
        return True  # they are estimates over all rows
    values = []
    for negatives in (1.0, 9.0):
        mass = _PROBE * [[1.0], [negatives]]
        curve = Curve(Tally(np.array([0.9, 0.6, 0.4, 0.1]), mass, mass, np.ones((2, 4), dtype=np.int64)))
        values.append(float(measure(curve if of is Curve else curve.at(_DEFAULT_THRESHOLD))))
    return not (isclose(*values, rel_tol=1e-9, abs_tol=1e-12) or all(map(isnan, values)))


def _reweigh(cells: UniqueRows, prevalence: float) -> UniqueRows | None:
    """Return rows at a known prevalence; None where a class is missing."""
    return cells.reweigh(prevalence) if all(members.any() for members in cells.classes) else None


def _conclude_without_class(
    request: ComparisonRequest, cells: UniqueRows, group: GroupKey, pairs: Sequence[Pair]
) -> Iterator[Comparison]:
    """Yield comparisons without values: rows of one class show nothing at another prevalence."""
    why = f"there are no {'negatives' if cells.truth.any() else 'positives'} that could be reweighted"
    for pair in pairs:
        yield request.conclude((nan, nan), (nan, nan), "", models=pair, group=group, why=why)


@dataclass(slots=True)
class _PairedComparison:
    """One measure on one group of rows."""

    request: ComparisonRequest
    cells: UniqueRows
    thresholds: Mapping[str, float | None]
    seed: Seed
    group: GroupKey
    tallies: dict[str, Tally] = field(default_factory=dict)

    def compare_pairs(self, pairs: Sequence[Pair]) -> Iterator[Comparison]:
        """Compare each pair by the requested or fitting method."""
        info = describe(self.request.measure)
        method = _choose_method(self.request, self.cells)
        # Sorting, influences and samples are shared by all pairs that need them.
        different = [pair for pair in pairs if not self._has_same_scores(*pair)]
        names = list(dict.fromkeys(name for pair in different for name in pair))
        compare_pair: Any = None
        if info.of is Counts:
            compare_pair = partial(self._compare_decisions, method)
        elif different and method == "venkatraman":
            compare_pair = partial(self._compare_curves, names, auc_influence(self.cells, names))
        elif different and method == "delong":
            compare_pair = partial(self._compare_aucs, names, auc_influence(self.cells, names))
        elif different and method == "influence":
            compare_pair = self._compare_by_influence
        elif different:
            compare_pair = partial(
                self._compare_by_bootstrap, names, bootstrap_models(self.request.measure, self.cells, names, self.seed)
            )
        for pair in pairs:
            yield compare_pair(pair) if pair in different else self._conclude_identical(pair)

    def _conclude(self, pair: Pair, bounds: Limits, how: str, **more: Any) -> Comparison:  # noqa: ANN401
        values = self._evaluate_pair(pair)
        if isnan(values[0] - values[1]):
            more["why"] = self._explain_undefined(pair)
        return self.request.conclude(values, bounds, how, **self._describe_pair(pair), **more)

    def _describe_pair(self, pair: Pair) -> dict[str, Any]:
        """Return the models, group and thresholds of a comparison."""
        at = (self.thresholds.get(pair[0]), self.thresholds.get(pair[1])) if self._needs_threshold else (None, None)
        return {"models": pair, "group": self.group, "thresholds": at}

    @property
    def _n_units(self) -> float:
        """Return the number of independent units: clusters, rows, or for ranks the rows of the smaller class."""
        cells = self.cells
        if cells.cluster is not None:
            return cells.clusters
        by_class = [int(cells.times[members].sum()) for members in cells.classes]
        if describe(self.request.measure).of is Curve:
            return min(by_class)
        if cells.prevalence is None:
            return sum(by_class)
        # As few as if all rows were of the class whose rows count most.
        return min(by_class[0] / cells.prevalence, by_class[1] / (1 - cells.prevalence))

    @property
    def _needs_threshold(self) -> bool:
        return describe(self.request.measure).of is Counts

    def _tally(self, model: str) -> Tally:
        if model not in self.tallies:
            self.tallies[model] = self.cells.tally(model)
        return self.tallies[model]

    def _make_input(self, model: str) -> Any:  # noqa: ANN401  (what the measure takes)
        tally = self._tally(model)
        if self._needs_threshold:
            return Curve(tally).at(self._threshold(model))
        return Curve(tally) if describe(self.request.measure).of is Curve else tally

    def _threshold(self, model: str) -> float:
        cut = self.thresholds[model]
        return _DEFAULT_THRESHOLD if cut is None else cut

    def _evaluate_pair(self, pair: Pair) -> tuple[float, float]:
        first, second = (float(self.request.measure(self._make_input(model))) for model in pair)
        return first, second

    def _explain_undefined(self, pair: Pair) -> str | None:
        reasons = {model: undefined_reason(self.request.measure, self._make_input(model)) for model in pair}
        if len(set(reasons.values())) == 1:
            return reasons[pair[0]]
        return "; ".join(f"{model}: {reason}" for model, reason in reasons.items() if reason)

    def _has_same_scores(self, first: str, second: str) -> bool:
        """Return whether both models have equal scores of more than two values: labels may agree by chance."""
        one, other = self.cells.score[first], self.cells.score[second]
        same = np.array_equal(one, other) and not ((one == one.min()) | (one == one.max())).all()
        return same and (not self._needs_threshold or self._threshold(first) == self._threshold(second))

    def _conclude_identical(self, pair: Pair, how: str = SAME_PREDICTIONS) -> Comparison:
        values = self._evaluate_pair(pair)
        reason = {"why": self._explain_undefined(pair)} if isnan(values[0]) else {}
        return self.request.conclude_identical(values, how, **self._describe_pair(pair), **reason)

    def _compare_aucs(self, names: Sequence[str], rows: AucInfluence, pair: Pair) -> Comparison:
        """Compare by DeLong's test; where the variance is 0 or undefined, by Newcombe's limits."""
        scale = AUC_SCALES[describe(self.request.measure).name]
        first, second = self._evaluate_pair(pair)
        variance = rows.variance_of_difference(names.index(pair[0]), names.index(pair[1]))
        # NaN for a single row of a class; rounding may make the variance of nearly equal models negative.
        error = scale * sqrt(variance) if variance >= 0 else nan
        if not error > 0:
            return self._compare_constant_aucs(pair, scale)
        half = normal_quantile(self.request.question.level) * error
        z = (first - second - self.request.bound) / error
        how, p = "DeLong, paired", normal_p(z, self.request.side)
        if self.cells.cluster is not None:
            # With eight clusters, a normal quantile rejected in 9% of null samples instead of 5%.
            freedom = self.cells.clusters - 1
            how, p = "DeLong, paired, clusters by Obuchowski", student_p(z, freedom, self.request.side)
            half *= t_widening(freedom, self.request.question.level)
        bounds = (first - second - half, first - second + half)
        return self._conclude(pair, bounds, how, statistic=z, p=p, test=how)

    def _compare_curves(self, names: Sequence[str], rows: AucInfluence, pair: Pair) -> Comparison:
        """Compare whole ROC curves by Venkatraman's test; the interval is that of the difference in area."""
        areas = self._compare_aucs(names, rows, pair)
        if isnan(areas.difference.value):
            return areas
        truth = np.repeat(self.cells.truth, self.cells.times)
        # Ordered by name, so that the models in the other order only change the sign of the difference.
        first, second = (np.repeat(self.cells.score[model], self.cells.times) for model in sorted(pair))
        return replace(areas, **paired_curve_test(truth, first, second, self.seed).as_test)

    def _compare_constant_aucs(self, pair: Pair, scale: float) -> Comparison:
        if self._has_same_ranking(pair):
            return self._conclude_identical(pair, _SAME_RANKS)
        areas = [_estimate_auc(self.cells, self._tally(model)) for model in pair]
        difference = areas[0].value - areas[1].value
        if isnan(difference):
            return self._conclude(pair, (nan, nan), "")
        how = f"Newcombe's score limits of both areas as if independent: {NO_VARIANCE}"
        more = {**self._describe_pair(pair), "statistic": 0.0 if scale * difference == self.request.bound else nan}
        return self.request.conclude_by_areas(self._evaluate_pair(pair), areas, how, scale, **more)

    def _has_same_ranking(self, pair: Pair) -> bool:
        """Return whether one model is a function of the other; perfect models may rank a few rows equally by chance."""
        imperfect = _auc_intervals.estimate_auc(self._tally(pair[0])).variance > 0
        return imperfect and _have_same_ranks(*(self.cells.score[model] for model in pair))

    def _compare_decisions(self, method: str, pair: Pair) -> Comparison:
        """Compare decisions by McNemar's test, or by simulated joint tables."""
        flagged = [self.cells.score[model] >= self._threshold(model) for model in pair]
        table = count_joint_table(self.cells, flagged[0], flagged[1])
        values = self._evaluate_pair(pair)
        if isnan(values[0] - values[1]):
            return self._conclude(pair, (nan, nan), "")
        stated = self.cells.prevalence
        if stated is not None and classify_share(self.request.measure) == "known":
            return self.request.conclude_identical((stated, stated), FIXED_METHOD, **self._describe_pair(pair))
        if method in TESTS:
            return self._test_mcnemar(TESTS[method], table.discordant(self.request.measure), pair)
        # Ordered by name, so that the models in the other order only change the sign.
        bootstrap = simulate_differences(self.request.measure, table, self.seed, swapped=pair[0] > pair[1])
        return self.request.conclude_by_bootstrap(
            values, bootstrap, same=table.is_agreement, **self._describe_pair(pair)
        )

    def _test_mcnemar(self, test: McNemar, counts: DiscordantCounts, pair: Pair) -> Comparison:
        """Compare by one of McNemar's tests, with the interval that agrees with it."""
        bounds = mcnemar_interval(test, counts, self.request.question.level)
        how = f"{test.name}: {count_of(counts.first, 'row')} against {counts.second}"
        how_interval = f"{test.name}, inverted"
        # The tests themselves have no margin: this p-value comes from the distribution behind their interval.
        if self.request.question.margin:
            p = margin_p(test, counts, self.request.bound, self.request.side)
            return self._conclude(pair, bounds, how_interval, p=p, test=f"{how}, at the margin")
        result = test.test(counts.first, counts.second, self.request.side)
        return self._conclude(pair, bounds, how_interval, **result._asdict(), test=how)

    def _compare_by_influence(self, pair: Pair) -> Comparison:
        """Compare by a t test of row contributions; where they show no variance, by limits of proportions."""
        values = self._evaluate_pair(pair)
        if not isfinite(values[0] - values[1]):
            return self._explain_infinite(pair, values)
        difference = studentize_difference(self.request.measure, self.cells, pair, values)
        if not difference.is_usable(max(map(abs, values))):
            return self._compare_as_shares(pair, values)
        return self.request.conclude_by_t(values, difference, **self._describe_pair(pair))

    def _explain_infinite(self, pair: Pair, values: tuple[float, float]) -> Comparison:
        """Return a comparison without interval and test, with the reason: a value is infinite or undefined."""
        infinite = [model for model, value in zip(pair, values, strict=True) if isinf(value)]
        if isnan(sum(values)) or len(infinite) == len(pair):
            return self._conclude(pair, (nan, nan), "")
        name = describe(self.request.measure).name
        reason = f"{name} of {infinite[0]} is infinite: a row has probability 0 of its own class"
        return self._conclude(pair, (nan, nan), "", why=reason)

    def _compare_as_shares(self, pair: Pair, values: tuple[float, float]) -> Comparison:
        """Compare by limits of proportions where rows show no variance, unless both models rank all rows equally."""
        if values[0] == values[1] and self._has_same_ranking(pair):
            return self._conclude_identical(pair, _SAME_RANKS)
        return self.request.conclude_as_shares(values, Units(self._n_units), **self._describe_pair(pair))

    def _compare_by_bootstrap(self, names: Sequence[str], columns: tuple[Any, str], pair: Pair) -> Comparison:
        """Compare by random weights of rows."""
        values = self._evaluate_pair(pair)
        value = values[0] - values[1]
        if isnan(value):
            return self._conclude(pair, (nan, nan), "")
        samples, how = columns
        with np.errstate(invalid="ignore"):  # samples may be infinite
            differences = samples[:, names.index(pair[0])] - samples[:, names.index(pair[1])]
        bootstrap = BootstrapDifference(differences, how, Units(self._n_units))
        if bootstrap.is_constant(max(map(abs, values))) and not (value == 0 and self._has_same_ranking(pair)):
            return self.request.conclude_as_shares(values, bootstrap.units, **self._describe_pair(pair))
        return self.request.conclude_by_bootstrap(values, bootstrap, **self._describe_pair(pair))


def _have_same_ranks(first: Floats, second: Floats) -> bool:
    """Return whether two models rank all rows equally, ties included."""
    order = argsort_descending(first)
    one, other = np.diff(first[order]), np.diff(second[order])
    return bool((np.sign(one) == np.sign(other)).all())


def has_mcnemar_test(measure: Measure) -> bool:
    """Return whether a measure is a proportion of rows that the label alone selects, as McNemar's tests require."""
    info = describe(measure)
    return info.of is Counts and info.share is not None and set(info.needs) <= {"total", "positives", "negatives"}


def has_delong_test(info: MeasureInfo, method: str | None) -> bool:
    """Return whether a measure is linear in the AUC; raise if DeLong's method is requested for any other."""
    area = info.name in AUC_SCALES and info.of is Curve
    if method == "delong" and not area:
        raise OptionError(
            f"DeLong's test compares areas ({', '.join(AUC_SCALES)}), not {info.name}", remedy=USE_BOOTSTRAP
        )
    return area


def check_curve_test(request: ComparisonRequest, unfit: str | None) -> None:
    """Refuse Venkatraman's test of anything but two ROC curves of independent, unweighted rows."""
    info, question = describe(request.measure), request.question
    if info.name != "auc":
        raise OptionError(
            f"Venkatraman's test compares whole ROC curves, not {info.name}",
            remedy=f"leave {keyword('method', 'venkatraman')} out, or give {keyword('measures', 'auc')}.",
        )
    if question.alternative != "two-sided":
        raise OptionError(
            "Venkatraman's test is two-sided: curves that cross differ in both directions",
            remedy=f"leave {keyword('alternative')} out, or {keyword('method')}.",
        )
    if unfit:
        raise OptionError(f"Venkatraman's test {unfit}", remedy=f"use {keyword('method', 'delong')}.")


def _choose_method(request: ComparisonRequest, cells: UniqueRows) -> str:
    """Return the requested method, if it fits, or the default."""
    info, method = describe(request.measure), request.question.method
    area = has_delong_test(info, method)
    unfit = _explain_no_mcnemar(cells)
    if method == "venkatraman":
        check_curve_test(request, unfit)
    if method is None:
        return "delong" if area else _default_method(request.measure, unfit)
    if method in TESTS and not has_mcnemar_test(request.measure):
        raise OptionError(
            "McNemar's test compares proportions of rows that the label alone selects, such as accuracy, sensitivity "
            f"or specificity, not {info.name}",
            remedy=USE_BOOTSTRAP,
        )
    if method in TESTS and unfit:
        raise OptionError(f"McNemar's test {unfit}", remedy=USE_BOOTSTRAP)
    return method


def _default_method(measure: Measure, unfit: str | None) -> str:
    """Return the default method of measures other than AUC."""
    if has_closed_form(measure):
        return "influence"
    return "resample" if unfit or not has_mcnemar_test(measure) else "mcnemar-mid-p"


def _explain_no_mcnemar(cells: UniqueRows) -> str | None:
    if cells.prevalence is not None:
        return "counts rows, and a stated prevalence reweights them"
    if cells.weight is not None:
        return "counts rows, and these have weights"
    if cells.cluster is not None:
        return "requires independent rows, and these are clustered"
    return None


def _estimate_auc(cells: UniqueRows, tally: Tally) -> _auc_intervals.AucEstimate:
    """Estimate the AUC; for clustered rows, count the clusters that hold each class in place of rows."""
    estimate = _auc_intervals.estimate_auc(tally)
    if cells.cluster is None:
        return estimate
    n_clusters = [len(np.unique(cells.cluster[cells.truth == positive])) for positive in (True, False)]
    return estimate._replace(positives=float(n_clusters[0]), negatives=float(n_clusters[1]))


def _as_list(measure: Any) -> list[Any]:  # noqa: ANN401  (one measure or several)
    return [measure] if isinstance(measure, str) or callable(measure) else list(measure)


def list_pairs(rows: Rows, models: Any, measure: Measure) -> list[Pair]:  # noqa: ANN401  (names, or pairs of them)
    """Return the pairs to compare; label columns have neither ranks nor probabilities."""
    labels = rows.intake.columns.get("predicted")
    names = list(rows.score) if models is None else list(models)
    decides = describe(measure).of is Counts
    if models is None and not decides:
        names = [model for model in names if model != labels]
    are_names = all(isinstance(each, str) for each in names)
    pairs = list(combinations(names, 2)) if are_names else [tuple(each) for each in names]
    for name in names if are_names else [name for pair in pairs for name in pair]:
        _check_model(rows, name)
        if name == labels and not decides:
            raise OptionError(
                f"{name} contains labels, which have neither ranks nor probabilities",
                remedy="compare it by a measure of the 2×2 table, such as sensitivity.",
            )
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise OptionError(
            f"comparing by {describe(measure).name} requires two models, not {', '.join(map(repr, names)) or 'none'}",
            remedy="give two or more scores of the same rows.",
        )
    return pairs


def _check_model(rows: Rows, name: object) -> None:
    if name not in rows.score:
        listing = f"There are: {', '.join(map(repr, rows.score))}."
        raise unknown_name("model", name, rows.score, listing=listing)


def _find_thresholds(rows: Rows, names: Sequence[str], threshold: Any) -> dict[str, float | None]:  # noqa: ANN401
    """Return the threshold of each model; None for a column of labels."""
    by_name = isinstance(threshold, Mapping)
    for name in threshold if by_name else ():
        _check_model(rows, name)
    return {
        name: None
        if name == rows.intake.columns.get("predicted")
        else find_threshold(name, rows.score[name], threshold.get(name) if by_name else threshold)
        for name in names
    }


def find_threshold(name: str, score: Any, threshold: Any) -> float:  # noqa: ANN401  (checked here)
    """Return the threshold as a number; by default 0.5, if scores are probabilities."""
    if threshold is None and not len(score):
        return _DEFAULT_THRESHOLD
    if threshold is None:
        least, most = float(score.min()), float(score.max())
        if not (least >= 0 and most <= 1):
            raise OptionError(
                f"{name} runs from {least:.6g} to {most:.6g}, so its scores are not probabilities",
                remedy=f"give {keyword('threshold')}.",
            )
        return _DEFAULT_THRESHOLD
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        value = nan
    if isnan(value):
        raise OptionError(
            f"threshold is {threshold!r}",
            remedy="give a number, or a mapping from models to numbers.",
            option="threshold",
            value=threshold,
        )
    return value


def iterate_groups(rows: Rows) -> Iterator[tuple[GroupKey, Place]]:
    """Iterate over all rows, then each group."""
    yield None, slice(None)
    if rows.attributes:
        for at, group in enumerate(rows.groups):
            yield tuple(zip(rows.attributes, group, strict=True)), np.flatnonzero(rows.group == at)
