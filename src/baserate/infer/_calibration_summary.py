"""Calibration summaries (all measures and tests of each model, group or class) and calibration curves as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite, isnan, log
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats, Reals, ratio
from baserate._calibrator import Calibrator, MulticlassCalibrator, shift_log_odds
from baserate._curve import Curve
from baserate._domains import PREVALENCE, SAMPLES, ShareLike, check_domain
from baserate._errors import OptionError, keyword, unknown_name
from baserate._formatting import count_of
from baserate._numeric.logistic import PROBABILITY_CLIP
from baserate._rendering import short_repr
from baserate._results import Estimate, Results
from baserate._rows import MulticlassRows
from baserate._tally import Tallies, Tally
from baserate.infer._binomial import wilson
from baserate.infer._bootstrap import Seed, pool_neighbors
from baserate.infer._calibration_intervals import (
    DISTANCES,
    NULL_REFERENCE_HINT,
    NullReference,
    null_references,
    simulate_outcomes,
)
from baserate.infer._calibration_tests import (
    SMALLEST_P,
    CalibrationTest,
    calibration_tests,
    derived_prevalence,
    intrinsic_calibration,
    likelihood_ratio_curve,
    usual_weight,
)
from baserate.infer._estimate import EstimateRequest, estimate
from baserate.measure import (
    BIN_MEASURES,
    DISTANCE_MEASURES,
    Bins,
    By,
    Measure,
    Quantile,
    Smoother,
    bin_edges,
    calibration_in_the_large,
    check_probabilities,
    concatenate,
    count_clipped,
    describe,
    e50,
    e90,
    fill_bins,
    find_measure,
    fit_calibration_curve,
    group_attributes,
    multiclass,
    results_data,
    thin_points,
    tidy_columns,
    undefined_reason,
)
from baserate.read import PredictionOptions, accepts_predictions

Prevalence = ShareLike | Literal["derived"] | None
ORIGINAL = {"adjusted": None, "calibrated": None}


class CalibrationPart(NamedTuple):
    """A tally to evaluate, with the labels of its rows in the results."""

    tally: Tally
    labels: Mapping[str, Any]
    title: str

    @property
    def is_original(self) -> bool:
        """Return whether the probabilities are neither adjusted nor calibrated."""
        return self.labels["adjusted"] is None and self.labels["calibrated"] is None


@dataclass(frozen=True, slots=True)
class CalibratedData:
    """The same rows with other probabilities.

    Parameters
    ----------
    data
        Tallies or rows with the new probabilities.
    how
        How these were made.
    notes
        Notes for the reader.
    """

    data: Tallies | MulticlassRows
    how: str
    notes: tuple[str, ...] = ()

    __repr__ = short_repr


SAME_ROWS = "the calibrator was fitted to the same rows, so results after calibration are optimistic."


@accepts_predictions("data")
def apply_calibrator(
    data: Tallies | MulticlassRows,
    by: Calibrator | MulticlassCalibrator,
    *,
    how: str | None = None,
    **predictions: Unpack[PredictionOptions],
) -> CalibratedData:
    """Apply a calibrator to data; a note says so if it was fitted to the same rows.

    Parameters
    ----------
    data
        Tallies of one score, or rows with a score for each class.
    by
        Calibrator of that score, or of these classes.
    how
        Label of the result; by default, the method of the calibrator.

    Returns
    -------
    CalibratedData
        The same rows with calibrated probabilities.

    Raises
    ------
    OptionError
        The calibrator has other classes than the data, or there are several scores.

    Examples
    --------
    >>> from baserate import calibration, infer, read
    >>> table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    >>> data = read.tallies(table, truth="sick", score="risk")
    >>> infer.apply_calibrator(data, calibration.fit(data, "offset")).notes
    ('the calibrator was fitted to the same rows, so results after calibration are optimistic.',)
    """
    how = how or f"calibrated by {by.method}"
    if isinstance(data, MulticlassRows):
        if not isinstance(by, MulticlassCalibrator) or by.labels != tuple(map(str, data.labels)):
            of = "two classes" if isinstance(by, Calibrator) else f"the classes {', '.join(by.labels)}"
            raise OptionError(f"the calibrator is of {of}, but the scores are of {', '.join(map(str, data.labels))}.")
        return CalibratedData(replace(data, score=by(data.score)), how, (SAME_ROWS,) * by.was_fitted_on(data))
    if not isinstance(by, Calibrator):
        raise OptionError(
            f"the calibrator is of the classes {', '.join(by.labels)}, but there is one score",
            remedy="give the scores of all these classes.",
        )
    if len(data.models) > 1:
        raise OptionError(
            f"there are several scores ({', '.join(data.models)}), but a calibrator applies to one",
            remedy="read that score alone.",
        )
    ((model, groups),) = data.models.items()
    after = {group: tally.with_scores(by(tally.score)) for group, tally in groups.items()}
    same = by.was_fitted_on(data.pooled(model))
    return CalibratedData(replace(data, models={model: after}, decisions={}), how, (SAME_ROWS,) * same)


def split_parts(
    data: Tallies | MulticlassRows, sample_prevalence: Prevalence = None, after: CalibratedData | None = None
) -> tuple[list[CalibrationPart], dict[str, Any]]:
    """Split data into parts to evaluate, each also after adjustment or calibration; return the header, too.

    Before a calibration, scores outside [0, 1] cannot be evaluated as probabilities and are left out.
    """
    if after is not None and (sample_prevalence is not None or type(after.data) is not type(data)):
        raise OptionError(
            f"{keyword('after')} requires the same kind of data, and no {keyword('sample_prevalence')}",
            remedy=f"leave {keyword('sample_prevalence')} out.",
        )
    if isinstance(data, MulticlassRows):
        if sample_prevalence is not None:
            raise OptionError(
                "sample_prevalence requires two classes, and there are scores of several",
                remedy=f"leave {keyword('sample_prevalence')} out.",
            )
        return list(_multiclass_parts(data, after)), multiclass.results_data(data, data.confusion(), [])
    if not (sample_prevalence is None or sample_prevalence == "derived" or PREVALENCE.holds(sample_prevalence)):
        raise OptionError(
            f"sample_prevalence is {sample_prevalence!r}; expected {PREVALENCE.words}, or 'derived'.",
            remedy="Give one of these.",
            option="sample_prevalence",
            value=sample_prevalence,
        )
    if isinstance(data, Tallies):
        return list(_binary_parts(data, sample_prevalence, after)), results_data(data, [])
    raise OptionError(
        f"{type(data).__name__} is neither Tallies nor MulticlassRows", remedy="read them with baserate.read."
    )


def _binary_parts(
    tallies: Tallies, sample_prevalence: Prevalence, after: CalibratedData | None
) -> Iterator[CalibrationPart]:
    label_column = tallies.intake.columns.get("predicted")
    has_probabilities = {
        model: after is None or _are_probabilities(tallies.pooled(model).score) for model in tallies.models
    }
    for model, group, tally in tallies.walk():
        if model == label_column:
            raise OptionError(
                f"{model} holds labels, which are not probabilities", remedy=f"leave {keyword('predicted')} out."
            )
        name = model if len(tallies.models) > 1 else None
        labels = {"model": name, "group": group_attributes(tallies, group), "class": None, "top": False, **ORIGINAL}
        title = model if group is None else f"{model} of {', '.join(map(str, group))}"
        if has_probabilities[model]:
            yield CalibrationPart(tally, labels, title)
        if after is not None:
            assert isinstance(after.data, Tallies)  # noqa: S101  (for the type checker)
            calibrated = after.data.pooled(model) if group is None else after.data.models[model][group]
            yield CalibrationPart(calibrated, labels | {"calibrated": after.how}, title)
        if sample_prevalence is not None:
            at = derived_prevalence(tally).value if sample_prevalence == "derived" else float(sample_prevalence)
            # With a single class, or only probabilities of 0 and 1, there is nothing to adjust; notes say so.
            if not isnan(at) and tally.positives and tally.negatives:
                added = log(tally.positives / tally.negatives) - log(at / (1 - at))
                yield CalibrationPart(
                    tally.with_scores(shift_log_odds(added)(tally.score)), labels | {"adjusted": at}, title
                )


def _multiclass_parts(classes: MulticlassRows, after: CalibratedData | None = None) -> Iterator[CalibrationPart]:
    if after is None:
        yield from _class_parts(classes)
        return
    assert isinstance(after.data, MulticlassRows)  # noqa: S101  (for the type checker)
    has_probabilities = _are_probabilities(classes.score)
    for before, part in zip(_class_parts(classes), _class_parts(after.data), strict=True):
        yield from (before,) * has_probabilities
        yield part._replace(labels={**part.labels, "calibrated": after.how})


def _are_probabilities(score: Reals) -> bool:
    """Return whether scores lie in [0, 1]; other scores can only be evaluated after calibration."""
    return not score.size or bool(score.min() >= 0 and score.max() <= 1)


def _class_parts(classes: MulticlassRows) -> Iterator[CalibrationPart]:
    for group, rows in multiclass.iterate_groups(classes):
        assert isinstance(rows, MulticlassRows)  # noqa: S101  (for the type checker)
        of = "" if group is None else f" of {', '.join(map(str, group.values()))}"
        labels = {"model": None, "group": group, "class": None, "top": False, **ORIGINAL}
        for at, label in enumerate(rows.labels):
            yield CalibrationPart(rows.against_rest(at), labels | {"class": label}, f"{label}{of}")
        yield CalibrationPart(rows.top_class(), labels | {"top": True}, f"the most probable class{of}")


COLUMNS = (
    *("measure", "model", "group", "class", "top", "adjusted", "calibrated", "threshold", "value", "low", "high"),
    *("level", "how", "why", "floor", "floor_low", "floor_high", "p", "p_is_bound", "freedom"),
)
PART_COLUMNS = ("model", "group", "class")
MEAN_MEASURES = ("mean_probability", "observed_expected", "calibration_in_the_large")
LINE_MEASURES = ("calibration_intercept", "calibration_slope")
SCORE_PARTS = {
    "brier": ("brier", "brier_miscalibration", "brier_discrimination", "brier_uncertainty"),
    "log_loss": ("log_loss", "log_miscalibration", "log_discrimination", "log_uncertainty"),
}
TOP_CLASS_MEASURES = ("ece", "mce", "rmsce", "rmsce_debiased", "ece_sweep", "smooth_ece")
FEW_ROWS = 20
"""Rows below which a note warns."""


@dataclass(frozen=True, slots=True)
class CalibrationOptions:
    """Options of a calibration summary.

    Parameters
    ----------
    bins
        Number of bins of all binned measures, or their edges.
    by
        Bins of equal "width" or "mass"; by default, what is usual for each measure.
    fitted
        Whether the model was fitted to these rows.
    level
        Confidence level.
    seed
        Seed or NumPy generator.
    n_simulations
        Number of simulations of the null references; 0 omits them.
    smoother
        Curve of ICI, E50, E90 and Emax: "lowess" or "isotonic".
    quantile
        Definition of E50 and E90: "inverted_cdf", or "linear" as in rms (R's type 7).
    """

    bins: int | Sequence[float] = 10
    by: By | None = None
    fitted: bool = False
    level: float = 0.95
    seed: Seed = 0
    n_simulations: int = 500
    smoother: Smoother = "lowess"
    quantile: Quantile = "inverted_cdf"

    def __post_init__(self) -> None:
        EstimateRequest(self.level, None, self.seed)
        # False equals 0, but is not a number of simulations.
        if self.n_simulations != 0 or isinstance(self.n_simulations, bool):
            check_domain("n_simulations", self.n_simulations, SAMPLES.or_none)

    def configure(self, measure: Measure) -> Measure:
        """Return a measure with these bins or this smoother, if it has any."""
        if measure in DISTANCE_MEASURES:
            quantile = {"quantile": self.quantile} if measure in (e50, e90) else {}
            return partial(measure, smoother=self.smoother, **quantile)
        if measure not in BIN_MEASURES:
            return measure
        return partial(measure, bins=self.bins, **({} if self.by is None else {"by": self.by}))


@accepts_predictions("data")
def calibration_summary(
    data: Tallies | MulticlassRows,
    *,
    options: CalibrationOptions = CalibrationOptions(),
    sample_prevalence: Prevalence = None,
    after: CalibratedData | Calibrator | MulticlassCalibrator | None = None,
    watch: Callable[[int, int], None] | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Summarize calibration: every measure with its interval or its null reference, and every test.

    All rows (group None) come first, then each group. For several classes, each is evaluated against all others, then
    the class with the highest probability (`top`).

    Parameters
    ----------
    data
        Tallies of models and groups, or rows with a probability for each class.
    options
        Options: bins, smoother, level, seed and number of simulations.
    sample_prevalence
        Prevalence at which the probabilities are calibrated, or "derived" for the best-fitting one. Everything is then
        evaluated once more after an adjustment to the prevalence of the rows; the column `adjusted` holds it.
    after
        Calibrator, or the same rows with other probabilities, evaluated once more; the column `calibrated` says how.
    watch
        Function called with the number of finished parts and of all parts.

    Returns
    -------
    Results
        Tidy table. `verdicts` in its metadata say in words whether another prevalence would calibrate the model.

    Examples
    --------
    >>> from baserate import infer, read
    >>> table = {"sick": [1, 0, 1, 0, 1, 0, 0, 1], "risk": [0.9, 0.6, 0.4, 0.1, 0.7, 0.2, 0.8, 0.6]}
    >>> results = infer.calibration_summary(read.tallies(table, truth="sick", score="risk"))
    >>> [round(row["value"], 3) for row in results.rows() if row["measure"] == "ece"]  # and that of the likelier class
    [0.288, 0.237]
    """
    if isinstance(after, Calibrator | MulticlassCalibrator):
        after = apply_calibrator(data, after)
    parts, head = split_parts(data, sample_prevalence, after)
    rows: list[dict[str, Any]] = []
    for number, part in enumerate(parts, start=1):
        rows += _summarize_part(part, options)
        if watch:
            watch(number, len(parts))
    seed = options.seed if isinstance(options.seed, int) else None
    head["interval"] = {"level": options.level, "method": None, "seed": seed, "clusters": None}
    head["notes"] += [*_make_notes(parts, sample_prevalence), *(after.notes if after else ())]
    head["verdicts"] = [{name: row[name] for name in (*PART_COLUMNS, "verdict")} for row in rows if "verdict" in row]
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, head)


def _summarize_part(part: CalibrationPart, options: CalibrationOptions) -> Iterator[dict[str, Any]]:
    tally, labels = part.tally, dict(part.labels)
    if labels["top"]:
        yield from (labels | row for row in _summarize_measures(tally, TOP_CLASS_MEASURES, options))
        return
    yield from (labels | row for row in _summarize_tally(tally, options, original=part.is_original))
    if labels["class"] is None:
        yield from (
            labels | {"top": True} | row for row in _summarize_measures(tally.top_class(), TOP_CLASS_MEASURES, options)
        )


def _summarize_tally(tally: Tally, options: CalibrationOptions, *, original: bool) -> Iterator[dict[str, Any]]:
    """Summarize one tally with all measures and tests."""
    # Any threshold gives the same prevalence.
    share = estimate("prevalence", Curve(tally).at(0.5), level=options.level)
    yield {"measure": "prevalence"} | tidy_columns(share)
    names = [*MEAN_MEASURES, *LINE_MEASURES, *(name for names in SCORE_PARTS.values() for name in names)]
    names += [describe(each).name for each in DISTANCES] + ["rmsce_debiased"]
    yield from _summarize_measures(tally, list(dict.fromkeys(names)), options)
    by: By = "mass" if options.by is None else options.by
    tests = calibration_tests(tally, bins=options.bins, fitted=options.fitted, seed=options.seed, by=by)
    yield from map(_test_row, tests)
    if original and tally.positives and tally.negatives:
        result = intrinsic_calibration(tally, level=options.level, seed=options.seed)
        yield {"measure": "derived_prevalence", "verdict": result.verdict} | tidy_columns(result.prevalence)
        yield from map(_test_row, (result.against_slope, result.against_free))


def _summarize_measures(tally: Tally, names: Iterable[str], options: CalibrationOptions) -> Iterator[dict[str, Any]]:
    """Summarize measures with their intervals or their null references."""
    measures = {name: options.configure(find_measure(name)) for name in names}
    distances = {
        name: each for name, each in measures.items() if options.n_simulations and find_measure(name) in DISTANCES
    }
    references = null_references(
        list(distances.values()), tally, level=options.level, seed=options.seed, n_simulations=options.n_simulations
    )
    by_name = dict(zip(distances, references, strict=True))
    for name, measure in measures.items():
        reference = by_name.get(name)
        if reference is not None and isfinite(reference.value):  # the null reference holds the value already
            number = Estimate(reference.value, level=options.level, how="plug-in", why=NULL_REFERENCE_HINT)
        else:
            number = estimate(measure, tally, level=options.level, seed=options.seed)
        yield {"measure": name} | tidy_columns(number) | _reference_columns(reference)


def _reference_columns(reference: NullReference | None) -> dict[str, Any]:
    if reference is None:
        return {}
    columns = {"floor": reference.typical, "floor_low": reference.low, "floor_high": reference.high}
    return columns | {"p": reference.p, "p_is_bound": None if isnan(reference.p) else reference.p_is_bound}


def _test_row(test: CalibrationTest) -> dict[str, Any]:
    columns = {"value": test.statistic, "how": test.how, "why": test.why, "p": test.p, "freedom": test.freedom}
    bound = None if isnan(test.p) else test.p_is_bound or test.p <= SMALLEST_P
    return {"measure": f"{test.name}_test", **columns, "p_is_bound": bound}


def _make_notes(parts: Sequence[CalibrationPart], sample_prevalence: float | str | None) -> Iterator[str]:
    """Make notes about few rows, clipped probabilities and adjustments."""
    for part in parts:
        rows = int(part.tally.rows.sum(dtype=np.int64))
        if rows < FEW_ROWS and part.is_original:
            yield f"{part.title} has {count_of(rows, 'row')}, too few to evaluate probabilities."
        rows_at_ends = count_clipped(part.tally)
        if rows_at_ends and part.is_original and not part.labels["top"]:
            rows_with = count_of(rows_at_ends, f"row of {part.title} has", f"rows of {part.title} have")
            yield (
                f"{rows_with} a probability at or next to 0 or 1, without "
                f"finite log-odds; the recalibration line clips it at {PROBABILITY_CLIP:g}."
            )
    if not any(part.is_original for part in parts):
        yield "the scores are not probabilities, so only the calibrated ones are evaluated."
    for part in parts if sample_prevalence is not None else ():
        reason = undefined_reason(calibration_in_the_large, part.tally)
        if reason:
            yield f"{part.title} is not adjusted: {reason}."
    if sample_prevalence == "derived" and any(part.labels["adjusted"] is not None for part in parts):
        yield "the adjustment was fitted to the same rows, so results after it are optimistic."


N_BAND_SIMULATIONS = 1000

BandKind = Literal["consistency", "confidence"]
"""Band around the diagonal, or around the curve."""
Columns = dict[str, Any]


class CurveOptions(NamedTuple):
    """Options of a calibration curve.

    Parameters
    ----------
    bins
        Number of bins, or their edges.
    by
        Bins of equal "width" or "mass".
    band
        "consistency" for a band around the diagonal, "confidence" for one around the curve.
    level
        Confidence level.
    seed
        Seed or NumPy generator of simulated bands.
    """

    bins: int | Sequence[float] = 10
    by: By = "width"
    band: BandKind = "consistency"
    level: float = 0.95
    seed: Seed = 0


@accepts_predictions("tally")
def calibration_curve(
    tally: Tally,
    what: str = "binned",
    *,
    options: CurveOptions = CurveOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[PredictionOptions],
) -> Columns:
    """Tabulate a calibration curve of one tally, lowest probability first.

    Parameters
    ----------
    tally
        Tally of probabilities.
    what
        `binned`, `isotonic`, `lowess` or `likelihood_ratio`. A `lowess` fit and its band are clipped to [0, 1].
    options
        Options: bins, kind of band, level and seed.

    Returns
    -------
    dict
        Columns by name: the mean probability, the observed share (or ratio), its bounds, and the mass.

    Examples
    --------
    >>> from baserate import infer, tally
    >>> table = infer.calibration_curve(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), options=infer.CurveOptions(bins=2))
    >>> table["probability"].round(2).tolist(), table["share"].tolist(), table["mass"].tolist()
    ([0.2, 0.85], [0.0, 1.0], [2.0, 2.0])
    """
    EstimateRequest(options.level, None, options.seed)
    check_probabilities(tally)
    if what not in CURVES:
        raise unknown_name("calibration curve", what, CURVES)
    return CURVES[what](tally, options)


def bin_curve(tally: Tally, options: CurveOptions) -> Columns:
    """Tabulate the mean probability and the share of positives in each bin that is not empty, with Wilson bounds."""
    bins = fill_bins(tally, bins=options.bins, by=options.by)
    low, high = _bin_limits(tally, bins, options.level)
    lower, upper = bin_edges(tally, bins=options.bins, by=options.by)
    return {
        "lower": lower,
        "upper": upper,
        "probability": bins.expected / bins.mass,
        "share": bins.rate,
        "low": low,
        "high": high,
        "mass": bins.mass,
    }


def _bin_limits(tally: Tally, bins: Bins, level: float) -> tuple[Floats, Floats]:
    """Return Wilson bounds of the share of positives in each bin."""
    if not tally.reweighed:
        return wilson(bins.rate * bins.rows, (1 - bins.rate) * bins.rows, level)
    # Wilson's bounds hold for rows; each class has its own weight, which converts odds of rows to odds of mass.
    one, other = usual_weight(tally, 0), usual_weight(tally, 1)
    bounds = wilson(bins.positive / one, np.maximum(bins.mass - bins.positive, 0.0) / other, level)
    low, high = (ratio(bound * one, bound * one + (1 - bound) * other) for bound in bounds)
    return low, high


def smooth_curve(tally: Tally, options: CurveOptions, *, smoother: Smoother) -> Columns:
    """Tabulate an isotonic or local regression with a simulated band.

    The consistency band lies around the diagonal, where a calibrated model's curve would be; the confidence band lies
    around the curve [@dimitriadis2021]. Both are pointwise. Curve and band are probabilities, so a local regression
    that leaves [0, 1] is clipped.
    """
    if options.band not in ("consistency", "confidence"):
        raise OptionError(
            f"band is {options.band!r}; expected 'consistency' or 'confidence'.", option="band", value=options.band
        )
    fit = _clip_probabilities(fit_calibration_curve(tally, smoother))
    if not len(fit):
        return dict.fromkeys(("probability", "share", "low", "high", "mass"), fit)
    pooled = pool_neighbors(tally)
    right = (
        pooled.score
        if options.band == "consistency"
        else _avoid_certainty(pooled, fit_calibration_curve(pooled, smoother))
    )
    simulated = fit_calibration_curve(
        simulate_outcomes(pooled, right, n_simulations=N_BAND_SIMULATIONS, seed=options.seed), smoother
    )
    tail = (1 - options.level) / 2
    bounds = np.quantile(simulated, [tail, 1 - tail], axis=0)
    # Reversed, since np.interp requires rising scores.
    low, high = (np.interp(tally.score[::-1], pooled.score[::-1], _clip_probabilities(bound)[::-1]) for bound in bounds)
    if options.band == "confidence":
        # Refits to simulated outcomes are biased where the curve bends, so their percentiles may exclude the curve.
        low, high = np.minimum(low, fit[::-1]), np.maximum(high, fit[::-1])
    mass = tally.mass.sum(axis=0, dtype=np.float64)[::-1]
    return {"probability": tally.score[::-1], "share": fit[::-1], "low": low, "high": high, "mass": mass}


def _clip_probabilities(fit: Floats) -> Floats:
    """Clip fitted values to probabilities; `measure.ici` and its kin use the fit before clipping, as other tools do."""
    return np.clip(fit, 0.0, 1.0)


def _avoid_certainty(tally: Tally, fit: Floats) -> Floats:
    """Move shares of 0 and 1 of a curve inside, as half a row more of each class would do, to simulate from it."""
    rows = tally.mass.sum(axis=0, dtype=np.float64) ** 2 / tally.squares.sum(axis=0, dtype=np.float64)
    never, always = (0.5 / (float(rows[at].sum()) + 1) for at in (fit <= 0, fit >= 1))
    return np.where(fit <= 0, never, np.where(fit >= 1, 1 - always, fit))


CURVES: dict[str, Callable[[Tally, CurveOptions], Columns]] = {
    "binned": bin_curve,
    "isotonic": partial(smooth_curve, smoother="isotonic"),
    "lowess": partial(smooth_curve, smoother="lowess"),
    "likelihood_ratio": lambda tally, options: likelihood_ratio_curve(
        tally, bins=options.bins, by=options.by, level=options.level
    ),
}


@accepts_predictions("data")
def calibration_curves(
    data: Tallies | MulticlassRows,
    what: str = "binned",
    *,
    options: CurveOptions = CurveOptions(),  # noqa: B008  (it is immutable)
    points: int | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Tabulate the calibration curves of every model and group, or of every class and the most probable one.

    Parameters
    ----------
    data
        Tallies of models and groups, or rows with a probability for each class.
    what
        `binned`, `isotonic`, `lowess` or `likelihood_ratio`.
    options
        Options: bins, kind of band, level and seed.
    points
        Largest number of rows of each curve, spread evenly along it; None for all.

    Returns
    -------
    Results
        Tidy table. Its metadata hold `longest`, the rows of the longest curve, and `clipped`, true for a `lowess` fit.

    Examples
    --------
    >>> from baserate import infer, read
    >>> table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    >>> infer.calibration_curves(read.tallies(table, truth="sick", score="risk")).columns["probability"].tolist()
    [0.1, 0.4, 0.6, 0.9]
    """
    parts, head = split_parts(data)
    tables, longest = [], 0
    for part in parts:
        table = calibration_curve(part.tally, what, options=options)
        # The two columns after the bin edges, if any, are x and y of the curve.
        along = [column for name, column in table.items() if name not in ("lower", "upper")][:2]
        places, longest = thin_points(along, points), max(longest, len(along[0]))
        which = {name: [part.labels[name]] * len(places) for name in ("model", "group", "class", "top")}
        tables.append(which | {name: column[places] for name, column in table.items()})
    columns = {name: concatenate([table[name] for table in tables]) for name in tables[0]}
    header = {"curve": what, "level": options.level, "band": _describe_band(what, options), "longest": longest}
    header["clipped"] = what == "lowess"
    return Results(columns, head | header)


def _describe_band(what: str, options: CurveOptions) -> str:
    """Name the kind of bounds in `low` and `high`."""
    if what == "binned":
        return "Wilson"
    return "log-normal" if what == "likelihood_ratio" else options.band
