"""Prior correction: probabilities, thresholds and summaries of measures at another prevalence, known or estimated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp, log, log1p
from numbers import Real
from typing import Any, Literal, NamedTuple, Unpack, overload

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Value, as_python
from baserate._calibrator import Calibrator, MulticlassCalibrator, Parameter
from baserate._calibrator_forms import Form, Line, LogOdds, Softmax, Steps
from baserate._confusion import Confusion, Confusions
from baserate._costs import CostMatrix
from baserate._counts import Counts
from baserate._domains import ShareLike, parse_share, parse_shares
from baserate._errors import MissingValuesError, OptionError, keyword
from baserate._formatting import format_p_phrase
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Tallies, Tally
from baserate.calibration import histogram, logistic, prevalence as prevalence_calibrator
from baserate.calibration.multiclass import bias_corrected, reprior as reprior_classes
from baserate.infer import (
    IntervalOptions,
    interval_methods,
    multiclass_summary as infer_class_summary,
    summary as infer_summary,
)
from baserate.measure import Measure, describe, multiclass, names_as_typed, select_measures, summary as measure_summary
from baserate.measure.multiclass import select_measures as select_class_measures
from baserate.read import IntervalPredictionOptions, accepts_predictions, accepts_words
from baserate.shift._class_weights import PrevalenceLike, gamma, gamma as gamma_of, reweigh
from baserate.shift._data import SIGNIFICANCE_LEVEL, MulticlassPrevalence, Prevalence
from baserate.shift._label_shift import calibration_test
from baserate.shift._maximum_likelihood import Posterior, default_bins


@accepts_words
def reprior(
    p: npt.ArrayLike,
    *,
    sample_prevalence: PrevalenceLike,
    prevalence: PrevalenceLike,
    labels: Sequence[object] | None = None,
) -> Floats:
    r"""Adjust probabilities that are calibrated at one prevalence to another, :math:`\frac{p}{p+γ(1-p)}`, row by row.

    With shares of K classes, :math:`p_k` becomes :math:`∝p_k·π'_k/π_k` [@saerens2002]. Probabilities of 0 and 1
    stay; nothing is fitted. `reprior_calibrator` returns the same adjustment as a calibrator.

    Parameters
    ----------
    p : array-like
        Probabilities of the positive class, of any shape; for K classes a row for each case and a column for each
        class.
    sample_prevalence : float, mapping or sequence
        Prevalence π at which `p` is calibrated, or the share of every class, by label or in order.
    prevalence : float, mapping or sequence
        Deployment prevalence π', or the share of every class.
    labels : sequence, optional
        Order of the columns, if shares are given by label.

    Returns
    -------
    ndarray
        Adjusted probabilities, in the shape of `p`.

    Examples
    --------
    >>> reprior([0.1, 0.5, 0.9], sample_prevalence=0.4, prevalence=0.1).round(7).tolist()
    [0.0181818, 0.1428571, 0.6]
    >>> reprior([[0.2, 0.3, 0.5]], sample_prevalence=[0.2, 0.3, 0.5], prevalence=[0.6, 0.3, 0.1]).round(9).tolist()
    [[0.6, 0.3, 0.1]]
    """
    return reprior_calibrator(sample_prevalence=sample_prevalence, prevalence=prevalence, labels=labels)(p)


@accepts_words
def reprior_calibrator(
    *, sample_prevalence: PrevalenceLike, prevalence: PrevalenceLike, labels: Sequence[object] | None = None
) -> Calibrator | MulticlassCalibrator:
    """Build the calibrator of `reprior`, an offset of all log-odds, which can be applied, saved and exported.

    Parameters
    ----------
    sample_prevalence : float, mapping or sequence
        Prevalence at which scores are calibrated, or the share of every class, by label or in order.
    prevalence : float, mapping or sequence
        Deployment prevalence, or the share of every class.
    labels : sequence, optional
        Order of the columns, if shares are given by label.

    Returns
    -------
    Calibrator or MulticlassCalibrator
        Of two prevalences the first, of shares of classes the second.

    Examples
    --------
    >>> reprior_calibrator(sample_prevalence=0.5, prevalence=0.1)
    Calibrator(prevalence, log-odds -2.197)
    >>> half, few = {"cat": 0.5, "dog": 0.5}, {"cat": 0.2, "dog": 0.8}
    >>> reprior_calibrator(sample_prevalence=half, prevalence=few)([[0.8, 0.2]]).round(9).tolist()
    [[0.5, 0.5]]
    """
    before: Any = sample_prevalence
    after: Any = prevalence
    single = [isinstance(each, Real) for each in (before, after)]
    if all(single):
        return prevalence_calibrator(sample_prevalence=float(before), prevalence=float(after))
    if any(single):
        remedy = "give two prevalences, or twice the share of every class."
        what = f"sample_prevalence is {before!r} and prevalence {after!r}"
        raise OptionError(what, remedy=remedy, option="sample_prevalence", value=before)
    if labels is None and not isinstance(before, Mapping):
        # Order from either mapping; shares in order have no labels, so that their positions take the place of labels.
        labels = list(after) if isinstance(after, Mapping) else [str(at) for at in range(len(before))]
    return reprior_classes(sample_prevalence=before, prevalence=after, labels=labels)


@accepts_words
def reprior_threshold(c: Value, *, sample_prevalence: ShareLike, prevalence: ShareLike) -> Value:
    r"""Compute the threshold on raw scores that flags the same rows as `c` on adjusted ones, :math:`\frac{γc}{γc+1-c}`.

    Raw scores are calibrated at `sample_prevalence`, and `reprior` adjusts them to `prevalence`. With both exchanged, a
    threshold on raw scores becomes one on adjusted scores.

    Parameters
    ----------
    c : float or array
        Threshold on adjusted scores. Values outside [0, 1], such as infinity, stay.
    sample_prevalence : float
        Prevalence at which raw scores are calibrated.
    prevalence : float
        Deployment prevalence, to which scores are adjusted.

    Returns
    -------
    float or ndarray
        Threshold on raw scores.

    Examples
    --------
    >>> round(reprior_threshold(0.5, sample_prevalence=0.5, prevalence=0.1), 9)  # where one in ten is positive
    0.9
    >>> [reprior_threshold(each, sample_prevalence=0.5, prevalence=0.1) for each in (0.0, 1.0, np.inf)]
    [0.0, 1.0, inf]
    """
    thresholds: Floats = np.asarray(c, dtype=np.float64)
    if np.isnan(thresholds).any():
        raise MissingValuesError(
            f"{np.isnan(thresholds).sum()} of {thresholds.size} thresholds are NaN", remedy="give numbers, or inf."
        )
    # Only thresholds within [0, 1] are probabilities; infinity, which flags nothing, must not become NaN.
    odds = gamma(sample_prevalence=sample_prevalence, prevalence=prevalence)
    within = np.clip(thresholds, 0.0, 1.0)
    adjusted: Value = as_python(
        np.where(within == thresholds, odds * within / (odds * within + 1 - within), thresholds)
    )
    return adjusted


_METHOD = "recalibrated, to another prevalence"


@overload
def posterior_calibrator(estimate: Prevalence, *, prevalence: ShareLike | None = ...) -> Calibrator: ...
@overload
def posterior_calibrator(
    estimate: MulticlassPrevalence, *, prevalence: Mapping[Any, ShareLike] | Sequence[float] | Floats | None = ...
) -> MulticlassCalibrator: ...
@accepts_words
def posterior_calibrator(
    estimate: Prevalence | MulticlassPrevalence, *, prevalence: PrevalenceLike | None = None
) -> Calibrator | MulticlassCalibrator:
    """Build the calibrator whose probabilities are right at the estimated prevalence, or at another.

    Scores are recalibrated on the validation data, unless the estimate used them uncalibrated. Their odds are then
    multiplied by the ratio of both prevalence odds. If the estimate needed no calibration and a logistic curve does not
    fit the validation data, the calibrator is a histogram of shares of positives; its notes say so.

    Parameters
    ----------
    estimate : Prevalence or MulticlassPrevalence
        Result of `estimate_prevalence`.
    prevalence : float, mapping or sequence, optional
        Another deployment prevalence, or the share of every class. The default is the estimated one.

    Returns
    -------
    Calibrator or MulticlassCalibrator
        Of a `Prevalence` the first, of `MulticlassPrevalence` the second.

    Raises
    ------
    OptionError
        If the prevalence is 0 or 1, or the calibrator has no offset that could be changed.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> validation = tally([1, 0, 1, 0, 1, 0, 0, 1, 0, 0] * 9, [0.9, 0.2, 0.6, 0.7, 0.8, 0.1, 0.4, 0.3, 0.3, 0.2] * 9)
    >>> estimate = shift.estimate_prevalence(Target(np.array([0.1, 0.2, 0.3, 0.9] * 5)), validation)
    >>> corrected = shift.posterior_calibrator(estimate)
    >>> corrected([0.2, 0.8]).round(3).tolist(), bool(estimate.value < validation.prevalence)
    ([0.0, 0.194], True)
    """
    stated: Any = estimate.value if prevalence is None else parse_shares(prevalence)
    if isinstance(estimate, MulticlassPrevalence):
        return _multiclass_posterior(estimate, stated)
    return AdjustableCalibrator.of(estimate).at(float(stated))


class AdjustableCalibrator(NamedTuple):
    """A calibrator that is right at one prevalence, and can be adjusted to others."""

    base: Calibrator | None
    """None where scores are used without recalibration."""
    prevalence: float

    @classmethod
    def of(cls, estimate: Prevalence) -> AdjustableCalibrator:
        """Use the calibrator of the estimate, or fit one to the validation data."""
        # An estimate with `sample_prevalence` used probabilities; the same ones must serve for its posteriors.
        if estimate.sample_prevalence is not None:
            return cls(estimate.calibrator, estimate.sample_prevalence)
        return cls(_fit_calibrator(estimate.validation), estimate.validation.prevalence)

    def at(self, share: float) -> Calibrator:
        """Adjust the calibrator to a prevalence."""
        if not 0 < share < 1:
            raise OptionError(
                f"at a prevalence of {share:g} every posterior is the same",
                remedy=f"name another with {keyword('prevalence')}.",
            )
        if self.base is None:
            return prevalence_calibrator(sample_prevalence=self.prevalence, prevalence=share)
        both = Parameter("prevalence before", self.prevalence), Parameter("prevalence after", share)
        form = _shift_log_odds(self.base.form, share, self.prevalence)
        return replace(self.base, form=form, method=_METHOD, parameters=both)


def _fit_calibrator(tally: Tally) -> Calibrator:
    """Fit a logistic curve; where it does not fit, shares of positives in bins, which need not rise."""
    curve = logistic(tally)
    x = Posterior(curve, tally.prevalence).regressor(tally.score)
    check = calibration_test(tally, curve(tally.score), np.stack([np.ones_like(x), x]))
    if not check.p < SIGNIFICANCE_LEVEL:  # also where p is NaN, since there are too few rows for a test
        return curve
    p = format_p_phrase(check.p, digits=3)
    note = f"a logistic curve does not fit the validation data ({p}), so that probabilities are shares of bins."
    bins = default_bins((float(tally.rows[0].sum(dtype=np.int64)), float(tally.rows[1].sum(dtype=np.int64))))
    return replace(histogram(tally, bins=bins), notes=(note,))


def _multiclass_posterior(
    estimate: MulticlassPrevalence, to: Mapping[Any, float] | Sequence[float] | Floats
) -> MulticlassCalibrator:
    if not isinstance(to, Mapping) and not np.all(np.asarray(to) > 0):
        raise OptionError(
            "a class has a share of 0, which no posterior can have",
            remedy=f"name other shares with {keyword('prevalence')}.",
        )
    # mlls without recalibration took probabilities as calibrated; every other method leaves that open.
    if estimate.calibrator is None and estimate.method == "mlls":
        return reprior_classes(sample_prevalence=estimate.sample_prevalence, prevalence=to, labels=estimate.labels)
    base = estimate.calibrator or bias_corrected(estimate.validation)
    correction = reprior_classes(sample_prevalence=estimate.sample_prevalence, prevalence=to, labels=estimate.labels)
    if not isinstance(base.form, Softmax) or not isinstance(correction.form, Softmax):
        raise OptionError(f"a calibrator of the kind {base.form.kind} cannot be adjusted to other shares.")
    # Both biases are offsets of log-probabilities within the same softmax, so they add up.
    form = replace(base.form, bias=base.form.bias + correction.form.bias)
    return replace(base, form=form, method=_METHOD, parameters=correction.parameters)


def _shift_log_odds(form: Form, to: float, at: float) -> Form:
    """Add the change of prevalence log-odds to the log-odds of a calibrator."""
    added = log(to) - log1p(-to) - log(at) + log1p(-at)
    if isinstance(form, Line):
        return replace(form, intercept=form.intercept + added)
    if isinstance(form, LogOdds):
        return replace(form, c=form.c + added)
    if isinstance(form, Steps):
        return replace(form, y=form.y / (form.y + (1 - form.y) * exp(-added)))
    raise OptionError(
        f"a calibrator of the kind {form.kind} cannot be adjusted to another prevalence",
        remedy="recalibrate logistically.",
    )


RAW_SCORES, CORRECTED_SCORES = "as given", "corrected"
_VALUE_COLUMNS = ("value", "low", "high", "level", "how", "why")
MeasureNames = Iterable[str | Measure] | Literal["usual", "all"]
Averages = Iterable[str | Mapping[Any, float]]


class _Section(NamedTuple):
    """Results at one prevalence, of scores as given or corrected."""

    where: Literal["here", "there"]
    scores: str
    results: Results


@accepts_predictions("tallies")
def summary(
    tallies: Tallies,
    *,
    prevalence: ShareLike | None = None,
    gamma: float | None = None,
    measures: MeasureNames = "usual",
    threshold: float | Iterable[float] | None = None,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[IntervalPredictionOptions],
) -> Results:
    """Measure at the prevalence of the sample and at the deployment prevalence.

    The columns are those of `baserate.infer.summary` with three more: `where` ("here" is the sample, "there" the
    deployment population), the `prevalence` of the row, and `scores`. Decisions and ranks use the scores as given.
    Measures of probabilities are repeated after `reprior`, which takes scores as calibrated in the sample.

    Parameters
    ----------
    tallies : Tallies
        Scores of models, by group. Groups get prevalences of their own, as in `reweigh`.
    prevalence : float, optional
        Deployment prevalence.
    gamma : float, optional
        How many times as frequent negatives are per positive in deployment as in the sample; instead of `prevalence`.
    measures : iterable, "usual" or "all", default "usual"
        Measures to compute.
    threshold : float or iterable of floats, optional
        Decision thresholds.
    interval : Interval or None
        Kind of confidence interval; None for values only.

    Returns
    -------
    Results
        A row for each model, group, measure, place and kind of scores.

    Examples
    --------
    >>> from baserate import read, shift
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> for row in shift.summary(t, prevalence=0.1, measures=["precision", "brier"], interval=None).rows():
    ...     if row["measure"] in ("precision", "brier"):
    ...         print(row["measure"], row["where"], row["prevalence"], row["scores"], round(row["value"], 4))
    precision here 0.5 as given 0.5
    brier here 0.5 as given 0.185
    precision there 0.1 as given 0.1
    brier there 0.1 as given 0.185
    brier there 0.1 corrected 0.0651
    """
    prevalence = parse_share(prevalence)
    deployment = reweigh(tallies, prevalence=prevalence, gamma=gamma)
    # All models have the same rows, and so the same prevalence.
    model = next(iter(tallies.models))
    before = tallies.pooled(model).prevalence
    after = deployment.pooled(model).prevalence if prevalence is None else float(prevalence)
    measures = measures if isinstance(measures, str) else list(measures)
    requested = select_measures(measures)
    cuts = list(threshold) if isinstance(threshold, Iterable) else threshold

    def summarize(data: Tallies, own: list[Measure], *, reweighed: bool) -> Results:
        which = measures if own is requested and isinstance(measures, str) else own
        if interval is None:
            return measure_summary(data, measures=which, threshold=cuts)
        fit = _IntervalChoice(interval, requested).of(own, reweighed=reweighed)
        return infer_summary(data, measures=which, threshold=cuts, interval=fit)

    parts = [
        _Section("here", RAW_SCORES, summarize(tallies, requested, reweighed=False)),
        _Section("there", RAW_SCORES, summarize(deployment, requested, reweighed=True)),
    ]
    corrected = _correct_scores(deployment, before, after)
    of_probabilities = [measure for measure in requested if describe(measure).of is Tally]
    if corrected is not None and of_probabilities:
        results = summarize(corrected, of_probabilities, reweighed=True)
        parts.append(
            _Section("there", CORRECTED_SCORES, _fill_model(results, corrected, several=len(tallies.models) > 1))
        )
    # The requested prevalence itself: the share of the weights differs from it by rounding.
    shares = {"here": _group_prevalences(tallies), "there": _group_prevalences(deployment) | {None: after}}
    notes = _describe_shift(parts, tallies, before, after)
    data = {
        "deployment": {"prevalence": after, "gamma": gamma_of(sample_prevalence=before, prevalence=after)},
        **_interval_data(parts, interval),
        **names_as_typed(measures),
    }
    return _join_sections(parts, lambda part, row: shares[part.where][_group_key(row["group"])], data, notes)


@accepts_predictions("classes")
def class_summary(
    classes: Confusions | MulticlassRows,
    *,
    prevalence: PrevalenceLike,
    measures: MeasureNames = "usual",
    averages: Averages | None = None,
    costs: CostMatrix | None = None,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[IntervalPredictionOptions],
) -> Results:
    """Measure decisions between several classes at the shares of the sample and at the deployment shares.

    The columns are those of `baserate.infer.multiclass_summary` and, as in `summary`, `where`, `prevalence` (the share
    of the class of a row, None in rows of all classes) and `scores`. Rows with a probability for each class are decided
    for the highest, and once more after `reprior`, which takes probabilities as calibrated in the sample.

    Parameters
    ----------
    classes : Confusions or MulticlassRows
        Confusion matrices, or scores of each class.
    prevalence : mapping or sequence
        Deployment share of every class, by label or in order.
    measures : iterable, "usual" or "all", default "usual"
        Measures of decisions.
    averages : iterable, optional
        Averages over classes, as in `baserate.measure.multiclass.summary`.
    costs : CostMatrix, optional
        Costs of decisions.
    interval : Interval or None
        Kind of confidence interval; None for values only.

    Returns
    -------
    Results
        A row for each group, measure, class or average, place and kind of scores.

    Raises
    ------
    OptionError
        If a measure is not one of decisions.

    Examples
    --------
    >>> from baserate import read, shift
    >>> table = {"is": ["cat", "cat", "dog", "dog"], "called": ["cat", "cat", "cat", "dog"]}
    >>> decisions = read.confusions(table, truth="is", predicted="called")
    >>> results = shift.class_summary(decisions, prevalence={"cat": 0.2, "dog": 0.8}, interval=None)
    >>> [(row["where"], round(row["value"], 4)) for row in results.rows() if row["measure"] == "accuracy"]
    [('here', 0.75), ('there', 0.6)]
    """
    measures = measures if isinstance(measures, str) else list(measures)
    requested = select_class_measures(measures, both=averages is not None)
    unfit = [describe(each).name for each in requested if describe(each).of not in (Counts, Confusion)]
    if unfit and not isinstance(measures, str):
        raise OptionError(
            f"{', '.join(unfit)} cannot be computed at other shares", remedy="name measures of decisions only."
        )
    several = None if averages is None else list(averages)

    def summarize(data: Confusions) -> Results:
        of: dict[str, Any] = {"measures": measures, "averages": several, "costs": costs}
        if interval is None:
            return multiclass.summary(data, **of)
        return infer_class_summary(
            data, **of, interval=_IntervalChoice(interval, requested).of(requested, reweighed=data.pooled.reweighed)
        )

    sample = _confusion_tables(classes)
    deployment = reweigh(sample, prevalence=prevalence)
    before, after = (table.truth / table.total for table in (sample.pooled, deployment.pooled))
    parts = [_Section("here", RAW_SCORES, summarize(sample)), _Section("there", RAW_SCORES, summarize(deployment))]
    if isinstance(classes, MulticlassRows) and _has_row_probabilities(classes):
        calibrator = reprior_calibrator(sample_prevalence=before, prevalence=after, labels=sample.labels)
        corrected = _confusion_tables(replace(classes, score=calibrator(classes.score)))
        parts.append(_Section("there", CORRECTED_SCORES, summarize(reweigh(corrected, prevalence=prevalence))))
    shares = {"here": _group_shares(sample), "there": _group_shares(deployment)}
    prevalences = {str(label): float(share) for label, share in zip(sample.labels, after, strict=True)}
    data = {"deployment": {"prevalences": prevalences}, **_interval_data(parts, interval)}
    notes = _describe_class_shift(parts, sample)
    return _join_sections(
        parts, lambda part, row: shares[part.where][_group_key(row["group"])].get(row["class"]), data, notes
    )


class _IntervalChoice(NamedTuple):
    """An interval method that not all measures support."""

    interval: IntervalOptions
    measures: Sequence[Measure]

    def of(self, own: Sequence[Measure], *, reweighed: bool) -> IntervalOptions:
        """Drop the method where none of its `own` measures supports it; keep it, to raise, if none does anywhere."""
        useful = self._useful(own, reweighed=reweighed)
        elsewhere = any(self._useful(self.measures, reweighed=fixed) for fixed in (False, True))
        return self.interval if useful or not elsewhere else replace(self.interval, method=None)

    def _useful(self, measures: Sequence[Measure], *, reweighed: bool) -> bool:
        return any(self.interval.method in interval_methods(measure, reweighed=reweighed) for measure in measures)


def _interval_data(parts: Sequence[_Section], interval: IntervalOptions | None) -> dict[str, Any]:
    """Describe the intervals, with the method of the request."""
    return {} if interval is None else {"interval": {**parts[0].results.data["interval"], "method": interval.method}}


def _correct_scores(deployment: Tallies, before: float, after: float) -> Tallies | None:
    """Correct the scores of those models whose scores are probabilities; None if there are none."""
    calibrator = reprior_calibrator(sample_prevalence=before, prevalence=after)
    models = {
        model: {group: tally.with_scores(calibrator(tally.score)) for group, tally in groups.items()}
        for model, groups in deployment.models.items()
        if _has_probabilities(deployment, model)
    }
    return replace(deployment, models=models, decisions={}) if models else None


def _has_probabilities(tallies: Tallies, model: str) -> bool:
    return model != tallies.intake.columns.get("predicted") and tallies.pooled(model).probable


def _fill_model(results: Results, tallies: Tallies, *, several: bool) -> Results:
    """Fill in the model's name where only one of several models has corrected scores."""
    if not several or len(tallies.models) > 1:
        return results
    return Results({**results.columns, "model": [*tallies.models] * len(results)}, results.data)


def _confusion_tables(classes: Confusions | MulticlassRows) -> Confusions:
    if isinstance(classes, Confusions):
        return classes
    if not classes.attributes:
        return Confusions({(): classes.confusion()}, intake=classes.intake)
    tables = {group: classes.of_group(at).confusion() for at, group in enumerate(classes.groups)}
    return Confusions(tables, classes.attributes, classes.intake)


def _has_row_probabilities(rows: MulticlassRows) -> bool:
    # Rows need not add up to 1: reprior normalizes them.
    score = np.asarray(rows.score)
    return bool(score.min() >= 0 and score.max() <= 1 and (score.sum(axis=1) > 0).all())


def _group_prevalences(tallies: Tallies) -> dict[tuple[object, ...] | None, float]:
    """Return the overall prevalence and that of each group, which are the same for all models."""
    first = next(iter(tallies.models))
    return {group: tally.prevalence for model, group, tally in tallies.walk() if model == first}


def _group_shares(tables: Confusions) -> dict[tuple[object, ...] | None, dict[object, float]]:
    """Return the share of each class, overall and in each group."""
    return {
        group: dict(zip(table.labels, (table.truth / table.total).tolist(), strict=True))
        for group, table in tables.walk()
    }


def _group_key(group: Mapping[str, object] | None) -> tuple[object, ...] | None:
    return None if group is None else tuple(group.values())


def _join_sections(parts: Sequence[_Section], share: Any, data: Mapping[str, Any], notes: Iterable[str]) -> Results:  # noqa: ANN401
    """Stack the rows of all sections, with their place, prevalence and scores before their values."""
    first = parts[0].results
    rows = [
        {**row, "where": part.where, "prevalence": share(part, row), "scores": part.scores}
        for part in parts
        for row in part.results.rows()
    ]
    keys = [name for name in first.columns if name not in _VALUE_COLUMNS]
    names = [*keys, "where", "prevalence", "scores", *_VALUE_COLUMNS]
    return Results({name: [row[name] for row in rows] for name in names}, {**first.data, **data, "notes": [*notes]})


def _describe_shift(parts: Sequence[_Section], tallies: Tallies, before: float, after: float) -> Iterator[str]:
    yield from parts[0].results.data["notes"]
    times = gamma_of(sample_prevalence=before, prevalence=after)
    yield (
        f"the deployment prevalence is {after:.6g}, taken as known: negatives are {times:.4g} times as frequent per "
        "positive as in the sample; scores within each class are assumed to be distributed as in the sample."
    )
    if tallies.attributes:
        yield "that is the prevalence of all groups together; the same factor gives each group its own."
    fit = [model for model in tallies.models if _has_probabilities(tallies, model)]
    cuts = {row["threshold"]: None for row in parts[0].results.rows() if row["threshold"] is not None}
    if fit and cuts:
        # All digits: rounded thresholds would flag other rows.
        same = ", ".join(f"{cut} as {_correct_threshold(cut, before, after)}" for cut in cuts)
        yield f"decisions use the scores as given; these thresholds on corrected scores flag the same rows: {same}."
    if parts[-1].scores == CORRECTED_SCORES:
        yield f"corrected scores assume that scores are calibrated at the prevalence of the sample, {before:.6g}."


def _correct_threshold(cut: float, before: float, after: float) -> float:
    """Correct a threshold with the rounding of corrected scores, so that a score equal to it stays flagged."""
    if not 0 <= cut <= 1:
        return cut
    return float(reprior_calibrator(sample_prevalence=before, prevalence=after)(cut))


def _describe_class_shift(parts: Sequence[_Section], sample: Confusions) -> Iterator[str]:
    yield from parts[0].results.data["notes"]
    yield (
        "the deployment shares of the classes are taken as known; scores within each class are assumed to be "
        "distributed as in the sample."
    )
    if sample.attributes:
        yield "they are the shares of all groups together; the same factors give each group its own."
    if parts[-1].scores == CORRECTED_SCORES:
        yield "corrected scores assume that scores are calibrated at the shares of the sample; the highest decides."
