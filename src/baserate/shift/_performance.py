"""Performance without labels: expected measures of a target, from calibrated probabilities or an estimated prevalence.

Under covariate shift the probability at each score is that of validation. A row with probability p counts as p of a
positive and 1 − p of a negative; the target then has a tally, and every measure a value [@bialek2024]. Under label
shift the class distributions are those of validation, which is measured at the estimated prevalence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isinf, isnan, log, log1p, nan
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats, make_read_only, ratio
from baserate._calibrator import Calibrator
from baserate._domains import ShareLike, parse_share, unused_option, wrong_option
from baserate._errors import NotAProbabilityError, OptionError, advice
from baserate._formatting import format_exact, format_number
from baserate._numeric.cumulative import parallel_map
from baserate._numeric.distinct import run_sums, sum_columns, value_counts
from baserate._results import Estimate, Results
from baserate._rows import MulticlassRows, MulticlassTarget, Rows, Target
from baserate._tally import Tallies, Tally
from baserate.calibration import pool_tally
from baserate.infer import CalibrationTest, normal_quantile
from baserate.measure import (
    COLUMNS,
    Measure,
    Place,
    as_thresholds,
    describe,
    measures_data,
    plan_summary,
    tidy_columns,
    undefined_reason,
)
from baserate.read import TableSource, accepts_target, as_target
from baserate.shift._adjusted_measures import Precision, Slopes, adjusted_summary, bound_value, measure_slopes
from baserate.shift._data import BinaryData, Prevalence, variance_and_reach
from baserate.shift._estimators import call_with_options, estimate_prevalence
from baserate.shift._label_shift import (
    CalibrationCurve,
    calibration_notes,
    check_calibration,
    describe_rejections,
    fit_curve,
    tidy_check,
)
from baserate.shift._maximum_likelihood import Posterior, recalibrate_scores, target_influence
from baserate.shift._multiclass_performance import (
    BINARY_ASSUMPTIONS,
    INFLUENCE_METHOD,
    TARGET_ONLY_METHOD,
    UNCHECKED_PROBABILITIES,
    Assume,
    multiclass_performance as of_classes,
    reject_options,
)
from baserate.shift._prior_correction import RAW_SCORES

_POOLED_ROWS = 1 << 12
"""Pools of neighboring scores for intervals, at least; fewer than twice as many scores are not pooled."""
_CELLS = ("tp", "fp", "fn", "tn")


@accepts_target
def estimate_performance(
    target: Target | MulticlassTarget,
    validation: Tally | Tallies | Rows | MulticlassRows | None = None,
    /,
    *,
    assume: Assume,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
    level: ShareLike = 0.95,
    **options: Any,  # noqa: ANN401  (of `prevalence`, by maximum likelihood)
) -> Results:
    """Estimate measures in an unlabelled target from validation data or calibrated probabilities.

    Under label shift the validation data are measured at the prevalence that `estimate_prevalence` estimates. Under
    covariate shift scores are recalibrated on the validation data by a piecewise linear curve, and the target is
    measured with these probabilities. Intervals are for the population of the target, not for its rows, and include the
    uncertainty from validation. Notes say whether the calibration fits.

    Parameters
    ----------
    target : Target or MulticlassTarget
        Scores without labels. For a `MulticlassTarget`, rows are decided for their highest score.
    validation : Tally, Tallies, Rows or MulticlassRows, optional
        Labelled scores of the same model; required under label shift. Without it, scores are taken as calibrated.
    assume : {"label-shift", "covariate-shift"}
        What changed between validation and target. The target's scores alone cannot decide between them.
    measures : iterable, "usual" or "all", default "usual"
        Measures to estimate.
    threshold : float or iterable of floats, optional
        Decision thresholds; for two classes only.
    level : float, default 0.95
        Confidence level of the intervals.
    **options
        `recalibrate`: False takes scores as calibrated, a `Calibrator` is applied first, and "logistic" fits a logistic
        curve; under label shift these three estimate by mlls. `sample_prevalence`: prevalence at which
        probabilities are calibrated. `averages` of a `MulticlassTarget`, as in `baserate.measure.multiclass.summary`.

    Returns
    -------
    Results
        A row for each measure, with the assumption and notes in `data`.

    Raises
    ------
    OptionError
        If an option has no use, or validation data are missing under label shift.
    FitError
        Under covariate shift, if more than 5% of the target lies outside the scores of validation.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import Target, shift
    >>> p = np.array([0.95, 0.8, 0.6, 0.45, 0.3, 0.2, 0.05])
    >>> results = shift.estimate_performance(Target(p), assume="covariate shift", measures=["accuracy", "auc"])
    >>> [(row["measure"], round(row["value"], 7)) for row in results.rows() if row["measure"] in ("accuracy", "auc")]
    [('accuracy', 0.7642857), ('auc', 0.843488)]
    """
    level = parse_share(level)
    assumption = str(assume).replace("-", " ")
    if assumption not in BINARY_ASSUMPTIONS:
        raise wrong_option("assume", assume, "'label-shift' or 'covariate-shift'")
    if isinstance(target, MulticlassTarget):
        if threshold is not None:
            raise unused_option("threshold", threshold, "of several classes the highest score decides")
        return of_classes(target, validation, assumption, measures, {"level": level, **options})
    if isinstance(validation, MulticlassRows):
        raise OptionError(
            "the validation data have several classes, but the target does not", remedy="read one by read.class_target."
        )
    measures = measures if isinstance(measures, str) else list(measures)
    cuts = as_thresholds(threshold)
    own = None if validation is None else pool_tally(validation)
    if assumption == "label shift" and own is not None and _is_default(options):
        return _label_shift_performance(target, own, measures, cuts, level)
    expectation = _expect_target(target, own, assumption, level, {**options, "thresholds": cuts})
    tallies = Tallies({"score": {(): expectation.tally}})
    tasks, notes = plan_summary(tallies, measures, cuts, _PerformanceIntervals(expectation, level))
    # Measures of a table cost next to nothing: threads pay only for those of ranks, in large targets.
    rows = parallel_map(lambda task: task() | {"model": None}, tasks, size=len(expectation.tally.score) // 4)
    head = _header(expectation, assumption, notes) | measures_data(measures, rows)
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, head)


def _is_default(options: Mapping[str, Any]) -> bool:
    """Return whether options leave the recalibration at its default."""
    return set(options) <= {"recalibrate"} and options.get("recalibrate", True) is True


def _label_shift_performance(
    target: Target,
    validation: Tally,
    measures: Sequence[str | Measure] | Literal["usual", "all"],
    cuts: list[float] | None,
    level: float,
) -> Results:
    """Measure validation at the estimated prevalence, which is what label shift predicts for the target."""
    estimate = estimate_prevalence(target, validation, level=level)
    results = adjusted_summary(estimate, measures=measures, threshold=cuts)
    # Cells are expected counts of the target, so validation's are rescaled to its size.
    each = target.total / validation.total
    rows = [
        {**row, "model": None, **({"value": each * row["value"]} if row["measure"] in _CELLS else {})}
        for row in results.rows()
        if row["scores"] == RAW_SCORES
    ]
    head = {
        **_header(
            TargetExpectation(target, estimate.validation, None, estimate, BinaryData(target, validation, level)),
            "label shift",
            [],
        ),
        **{name: results.data[name] for name in ("settings",) if name in results.data},
        "prevalence": estimate.value,
    }
    head["notes"] = list(dict.fromkeys([*head["notes"], *results.data["notes"], *_flagged_notes(target, rows)]))
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, head)


def _flagged_notes(target: Target, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Note the share of the target that is flagged, which may differ from the expected one."""
    cuts = dict.fromkeys(row["threshold"] for row in rows if row["threshold"] is not None)
    mass = np.ones(len(target.score)) if target.mass is None else target.mass
    shares = [100 * float(np.dot(mass, target.score >= cut)) / target.total for cut in cuts]
    return [
        f"{format_number(share, 4)}% of the unlabelled rows are flagged at {format_exact(cut)}; counts and rates are "
        "those expected under label shift."
        for share, cut in zip(shares, cuts, strict=True)
    ]


class TargetExpectation(NamedTuple):
    """A target with its expected class masses, and how they were computed."""

    target: Target
    tally: Tally
    """Expected masses of both classes at each score."""
    posterior: Posterior | None
    """None if scores are taken as calibrated."""
    estimate: Prevalence | None
    """Estimated prevalence under label shift."""
    data: BinaryData | None
    curve: CalibrationCurve | None = None
    """Piecewise linear calibration curve, if one was fitted."""
    checks: tuple[CalibrationTest, ...] = ()
    notes: tuple[str, ...] = ()


def expected_tally(
    target: Target | npt.ArrayLike | TableSource, calibrator: Calibrator | None = None, *, score: str | None = None
) -> Tally:
    """Build the expected tally of a target: at each score its mass times p, and times 1 − p.

    Parameters
    ----------
    target : Target, array-like or table
        Scores without labels.
    calibrator : Calibrator, optional
        Calibrator from scores to probabilities; without it, scores must be probabilities.
    score : str, optional
        Column with the scores, if the target is a table.

    Returns
    -------
    Tally
        Expected masses of both classes at each score.

    Raises
    ------
    NotAProbabilityError
        If scores are not probabilities and there is no calibrator.

    Examples
    --------
    >>> expected_tally([0.75, 0.75, 0.5]).mass.tolist()
    [[1.5, 0.5], [0.5, 0.5]]
    """
    distinct = _distinct_scores(as_target(target, score))
    if calibrator is None and not (distinct.score[-1] >= 0 and distinct.score[0] <= 1):
        raise NotAProbabilityError(
            f"scores of the target go from {distinct.score[-1]:.6g} to {distinct.score[0]:.6g}, but must be "
            "probabilities",
            remedy=advice("validation", "give validation data to recalibrate them on."),
        )
    return _split_mass(distinct, distinct.score if calibrator is None else calibrator(distinct.score))


class _DistinctScores(NamedTuple):
    """Distinct scores, falling, with the mass at each."""

    score: Floats
    mass: Cells
    squares: Cells
    rows: Cells


def _distinct_scores(target: Target) -> _DistinctScores:
    if target.mass is None or target.squares is None or target.rows is None:
        score, rows = value_counts(target.score)
        return _DistinctScores(score, rows, rows, rows)
    values = np.asarray(target.score, dtype=np.float64) + 0.0
    score, tables = sum_columns(values, [each[None] for each in (target.mass, target.squares, target.rows)])
    return _DistinctScores(score, *(table[0] for table in tables))


def _split_mass(distinct: _DistinctScores, p: Floats) -> Tally:
    mass = np.empty((2, len(p)))
    # In most targets every score has one row, and the mass need not be multiplied.
    each: Cells | float = 1.0 if distinct.mass.dtype.kind == "u" and distinct.mass.max() == 1 else distinct.mass
    np.multiply(each, p, out=mass[0])
    np.subtract(each, mass[0], out=mass[1])
    make_read_only(mass)
    squares = (
        mass
        if distinct.squares is distinct.mass
        else make_read_only(np.stack([distinct.squares * p, distinct.squares * (1 - p)]))
    )
    # The class of a row is unknown; all rows are counted with the negatives.
    rows = np.zeros((2, len(p)), dtype=distinct.rows.dtype)
    rows[1] = distinct.rows
    return Tally(distinct.score, mass, squares, make_read_only(rows))


def _expect_target(
    target: Target, validation: Tally | None, assume: str, level: float, options: Mapping[str, Any]
) -> TargetExpectation:
    cuts, options = options["thresholds"], {name: each for name, each in options.items() if name != "thresholds"}
    if assume == "covariate shift" and validation is None:
        reject_options({name: value for name, value in options.items() if name != "recalibrate"})
        by = options.get("recalibrate")
        calibrator = by if isinstance(by, Calibrator) else None
        return TargetExpectation(
            target, expected_tally(target, calibrator), None, None, None, notes=(UNCHECKED_PROBABILITIES,)
        )
    if validation is None:
        raise OptionError("under label shift the prevalence must be estimated first", remedy="give validation data.")
    data, distinct = BinaryData(target, validation, level), _distinct_scores(target)
    if _is_default(options):
        curve = fit_curve(validation, distinct.score, distinct.mass, cuts or _default_thresholds(validation))
        check = curve.check_fit()
        tally = _split_mass(distinct, curve.evaluate_falling(distinct.score))
        return TargetExpectation(target, tally, None, None, data, curve, (check,), curve.notes(check))
    posterior = call_with_options(recalibrate_scores, (data,), "performance", options)
    estimate = (
        estimate_prevalence(target, validation, method="mlls", level=level, **options)
        if assume == "label shift"
        else None
    )
    at = posterior.at if estimate is None else estimate.value
    fitted = options.get("recalibrate") == "logistic"
    check = check_calibration(data, posterior, fitted=fitted) if estimate is None else estimate.checks[0]
    notes = calibration_notes(check) if estimate is None else ()
    probability = _posterior_probability(posterior.log_ratio(distinct.score), at)
    return TargetExpectation(
        target, _split_mass(distinct, probability), posterior, estimate, data, None, (check,), notes
    )


def _default_thresholds(validation: Tally) -> list[float]:
    """Return the decision thresholds if none is given."""
    return [0.5] if validation.probable else []


def _posterior_probability(log_ratio: Floats, at: float) -> Floats:
    """Compute the posterior at a prevalence from log-likelihood ratios."""
    # exp overflows to infinity for certain negatives, whose probability is then exactly 0.
    with np.errstate(over="ignore"):
        against = np.exp(-log_ratio)
    probability: Floats = at / (at + (1 - at) * against)
    return probability


class _PerformanceIntervals:
    """Intervals of measures by the influence of each row of either sample."""

    def __init__(self, expectation: TargetExpectation, level: float) -> None:
        self.expectation, self.level = expectation, level
        # Neighbors are pooled if there are very many scores: intervals do not need influences to the last digit.
        self.few = _pool_neighbors(expectation.tally)
        self.mass, self.squares = self.few.mass.sum(axis=0), self.few.squares.sum(axis=0)
        self.chance = ratio(np.asarray(self.few.mass[0], dtype=np.float64), self.mass)

    def __call__(self, measure: Measure, data: Any, place: Place) -> Estimate:  # noqa: ANN401  (what it takes)
        value = float(measure(data))
        if isnan(value):
            return Estimate(nan, why=undefined_reason(measure, data) or "it is undefined")
        how = TARGET_ONLY_METHOD if self.expectation.data is None else INFLUENCE_METHOD
        end = self.expectation.estimate is not None and self.expectation.estimate.value in (0.0, 1.0)
        slopes = None if end or isinf(value) else measure_slopes(measure, self.few, place.threshold)
        if slopes is None:
            cause = "the value is infinite" if isinf(value) else "its influence function has no closed form"
            cause = "the estimated prevalence is 0 or 1" if end else cause
            return Estimate(value, level=self.level, how=how, why=cause)
        rows = float(self.mass.sum() ** 2 / self.squares.sum())
        low, high = bound_value(value, Precision(*self._variance(slopes), rows, self.level), describe(measure).span)
        return Estimate(value, min(low, value), max(high, value), self.level, how)

    def _variance(self, slopes: Slopes) -> tuple[float, float]:
        """Compute the variance of a number, and how many standard errors its interval reaches."""
        expectation = self.expectation
        own = self.chance * slopes.positive + (1 - self.chance) * slopes.negative
        if expectation.data is None:
            return float(self.squares @ own**2), normal_quantile(self.level)
        if expectation.curve is not None:
            influence = expectation.curve.influence_on(self.few.score, self.mass * (slopes.positive - slopes.negative))
            return variance_and_reach(expectation.data.validation, influence, float(self.squares @ own**2), self.level)
        assert expectation.posterior is not None  # noqa: S101  (for the type checker)
        change = self.mass * (slopes.positive - slopes.negative) * self.chance * (1 - self.chance)
        level = expectation.posterior.at if expectation.estimate is None else expectation.estimate.value
        with np.errstate(divide="ignore"):
            ratios = np.log(self.chance) - np.log1p(-self.chance) - (log(level) - log1p(-level))
        influence = expectation.posterior.influence_on(
            change, ratios, expectation.data.validation, adjusted=expectation.estimate is not None
        )
        spread = float(self.squares @ own**2)
        if expectation.estimate is not None:
            # Derivative by the prevalence π: it shifts the log-odds of all rows by 1/(π(1 − π)).
            rate = float(change.sum()) / (level * (1 - level))
            influence = influence + rate * expectation.estimate.influence
            by = target_influence(ratios, expectation.estimate, self.mass, expectation.data)
            spread = float(self.squares @ (own + rate * by) ** 2)
            # What pooling and labelled rows leave of the variance of the estimate.
            spread += rate**2 * max(expectation.estimate.target_variance - float(self.squares @ by**2), 0.0)
        return variance_and_reach(expectation.data.validation, influence, spread, self.level)


def _pool_neighbors(tally: Tally) -> Tally:
    """Pool neighbors to some thousands of scores, each with the lowest score of its pool."""
    each = len(tally.score) // _POOLED_ROWS
    if each < 2:
        return tally
    starts = np.arange(0, len(tally.score), each)
    ends = np.append(starts[1:], len(tally.score)) - 1
    mass = make_read_only(run_sums(tally.mass, starts))
    squares = mass if tally.squares is tally.mass else make_read_only(run_sums(tally.squares, starts))
    return Tally(make_read_only(tally.score[ends]), mass, squares, make_read_only(np.ones(mass.shape, dtype=np.uint8)))


def _header(expectation: TargetExpectation, assume: str, notes: list[str]) -> dict[str, Any]:
    """Describe the data and assumptions of the numbers."""
    estimate, target = expectation.estimate, expectation.target
    return {
        "rows": len(target),
        "assume": assume,
        "prevalence": expectation.tally.prevalence,
        "estimate": None if estimate is None else tidy_columns(estimate.estimate),
        "validation": None if expectation.data is None else int(expectation.data.validation.rows.sum(dtype=np.int64)),
        "calibration": [tidy_check(check) for check in expectation.checks],
        "doubts": describe_rejections(expectation.checks if estimate is None else estimate.checks),
        "notes": [
            *(BINARY_ASSUMPTIONS[assume], *expectation.notes, *target.intake.notes, *notes),
            *(() if estimate is None else estimate.notes),
        ],
    }
