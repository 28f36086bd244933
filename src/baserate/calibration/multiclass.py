"""Multiclass calibrators: rescale the probabilities of several classes.

Each fitting function takes rows with a probability for every class, and returns a calibrator that can be applied, saved
and loaded: `prior`, `temperature`, `bias_corrected` and `vector` scale all classes jointly, `one_vs_rest` fits a binary
calibrator for each. `reprior` adjusts to other class shares without a fit. `cross_fit` calibrates every row by a fit
on the other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from baserate import _domains
from baserate._arrays import Floats, make_read_only
from baserate._calibrator import Calibrator, MulticlassCalibrator, Parameter
from baserate._calibrator_forms import OneVsRest, Softmax
from baserate._domains import ShareLike, check_domain, parse_share, wrong_option
from baserate._errors import EmptyDataError, FitError, OptionError, ShapeError, keyword
from baserate._formatting import count_of
from baserate._numeric.distinct import Codes, Hashes, float_bits, hash_rows
from baserate._numeric.logistic import (
    PROBABILITY_CLIP,
    SoftmaxData,
    SoftmaxFit,
    SoftmaxModel,
    fit_biases,
    fit_softmax,
    is_identified,
    softmax_information,
)
from baserate._numeric.simplex import contrasts
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.calibration._fit_data import (
    MAX_PARTITIONS,
    MulticlassFitRows,
    add_temperature,
    format_labels,
    wald_parameter,
)
from baserate.measure.multiclass import NEAR
from baserate.read import PredictionOptions, accepts_predictions

__all__ = [
    "assign_folds",
    "bias_corrected",
    "cross_fit",
    "identity",
    "one_vs_rest",
    "prior",
    "reprior",
    "temperature",
    "vector",
]


def __dir__() -> list[str]:
    return sorted(__all__)


Shares = Mapping[Any, ShareLike] | Sequence[float] | Floats


@accepts_predictions("class rows")
def identity(rows: MulticlassRows, **predictions: Unpack[PredictionOptions]) -> MulticlassCalibrator:
    """Leave probabilities unchanged, except that they add up to 1.

    Parameters
    ----------
    rows
        Rows with a probability for each class.

    Returns
    -------
    MulticlassCalibrator
        The calibrator.

    Examples
    --------
    >>> from baserate import class_scores
    >>> same = identity(class_scores(["cat", "dog"], [[0.8, 0.2], [0.3, 0.7]]))
    >>> same([[0.6, 0.4], [0.0, 1.0]]).round(9).tolist()
    [[0.6, 0.4], [0.0, 1.0]]
    """
    fit_rows = MulticlassFitRows.probabilities(rows)
    width = len(fit_rows.labels)
    return MulticlassCalibrator(
        Softmax(np.ones(width), np.zeros(width)), fit_rows.labels, method="identity", columns=fit_rows.columns
    )


def reprior(
    *, sample_prevalence: Shares, prevalence: Shares, labels: Sequence[object] | None = None
) -> MulticlassCalibrator:
    r"""Adjust probabilities to other shares of the classes, :math:`∝p_k·π'_k/π_k` [@saerens2002].

    This assumes label shift: the distribution of features within each class stays the same. Nothing is fitted, and
    probabilities of 0 stay 0.

    Parameters
    ----------
    sample_prevalence
        Shares π of the classes at which the probabilities are calibrated: a mapping from class to share, or shares in
        the order of `labels`.
    prevalence
        Deployment prevalence π': the shares to which they are adjusted, in the same form.
    labels
        Classes, in order; by default those that `sample_prevalence` maps.

    Returns
    -------
    MulticlassCalibrator
        The calibrator.

    Examples
    --------
    >>> adjusted = reprior(sample_prevalence={"cat": 0.5, "dog": 0.5}, prevalence={"cat": 0.2, "dog": 0.8})
    >>> adjusted([[0.5, 0.5], [0.8, 0.2], [0.0, 1.0]]).round(9).tolist()
    [[0.2, 0.8], [0.5, 0.5], [0.0, 1.0]]
    """
    if labels is None:
        if not isinstance(sample_prevalence, Mapping):
            raise OptionError(
                "sample_prevalence is not a mapping from class to share",
                remedy=f"name the classes with {keyword('labels')}.",
            )
        labels = list(sample_prevalence)
    names = tuple(map(str, labels))
    first = check_shares("sample_prevalence", sample_prevalence, labels)
    then = check_shares("prevalence", prevalence, labels)
    parameters = [
        Parameter(f"prior of {name} {time}", float(share))
        for time, shares in (("before", first), ("after", then))
        for name, share in zip(names, shares, strict=True)
    ]
    return MulticlassCalibrator(
        Softmax(np.ones(len(names)), np.log(then / first)), names, "reprior", parameters=tuple(parameters)
    )


def check_shares(what: str, given: Shares, labels: Sequence[object]) -> Floats:
    """Check shares of all classes, and return them in the order of the labels."""
    if isinstance(given, Mapping):
        if set(given) != set(labels):
            raise OptionError(
                f"{what} names {count_of(len(given), 'class', 'classes')}, other than the labels",
                remedy="give each of them its share.",
            )
        given = [parse_share(given[label]) for label in labels]
        if any(isinstance(share, str) for share in given):
            raise wrong_option(what, given, "a number, or text such as '5%', for each class")
    shares = np.array(given, dtype=np.float64)
    if shares.shape != (len(labels),):
        raise ShapeError(f"{what} has shape {shares.shape}", remedy=f"give a share for each of {len(labels)} classes.")
    if not (np.isfinite(shares).all() and (shares > 0).all() and abs(shares.sum() - 1) <= NEAR):
        raise wrong_option(what, shares.tolist(), "shares above 0 that add up to 1")
    normalized: Floats = shares / shares.sum()
    return normalized


_SWEEPS = 5
"""Sinkhorn iterations before Newton's method."""


@accepts_predictions("class rows")
def prior(rows: MulticlassRows, **predictions: Unpack[PredictionOptions]) -> MulticlassCalibrator:
    r"""Add a bias to each class, so that its mean probability is its share: :math:`\mathrm{softmax}(\ln p_k+b_k)`.

    The maximum-likelihood biases add up to 0. They also estimate the shares at which the probabilities were calibrated,
    :math:`π_k∝\bar y_ke^{-b_k}`, if only the shares differ. With two classes this is an offset of log-odds.

    Parameters
    ----------
    rows
        Rows with a probability for each class.

    Returns
    -------
    MulticlassCalibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import class_scores
    >>> rows = class_scores(list("ccddd"), [[0.8, 0.2], [0.4, 0.6], [0.6, 0.4], [0.3, 0.7], [0.1, 0.9]])
    >>> calibrator = prior(rows)
    >>> calibrator(rows.score).mean(axis=0).round(9).tolist()
    [0.4, 0.6]
    """
    fit_rows = MulticlassFitRows.probabilities(rows)
    fit_rows.refuse_absent_classes("temperature")
    bias, variance = _fit_biases(fit_rows)
    # Relative to the smallest bias, so that exp cannot overflow.
    derivation = fit_rows.shares * np.exp(bias.min() - bias)
    derivation /= derivation.sum()
    parameters = [
        *_class_parameters("bias of", fit_rows, bias, variance),
        *(Parameter(f"prior of {name}", float(share)) for name, share in zip(fit_rows.labels, derivation, strict=True)),
    ]
    return MulticlassCalibrator(
        Softmax(np.ones(len(bias)), bias, PROBABILITY_CLIP),
        fit_rows.labels,
        method="prior",
        fitted=fit_rows.sample,
        parameters=tuple(parameters),
        columns=fit_rows.columns,
        notes=fit_rows.notes,
    )


def _fit_biases(fit_rows: MulticlassFitRows) -> tuple[Floats, Floats]:
    """Return biases that add up to 0, and their variances."""
    logs, width = fit_rows.log_probabilities(same_slope=True), len(fit_rows.labels)
    # Relative to the most frequent class, whose bias is 0 at first, so that sums of small numbers stay exact.
    relative = np.delete(np.eye(width), int(fit_rows.shares.argmax()), axis=1)
    base = np.concatenate([np.ones(width), np.zeros(width)])
    start = fit_biases(logs, sweeps=_SWEEPS)
    start = np.delete(start - start[fit_rows.shares.argmax()], int(fit_rows.shares.argmax()))
    space = np.concatenate([np.zeros(relative.shape), relative])
    fit = fit_softmax(logs, SoftmaxModel(base, space, start, coercive=True))
    if not fit.converged:
        raise FitError("the biases did not converge: almost all probabilities are 0 or 1", remedy="fit temperature.")
    centering = np.eye(width) - 1 / width
    covariance = centering @ fit.covariance[width:, width:] @ centering
    return centering @ fit.parameters[width:], np.diag(covariance)


_CONSTANT = 1e-20
"""Variance of log-probabilities per row that is rounding error."""


@accepts_predictions("class rows")
def temperature(rows: MulticlassRows, **predictions: Unpack[PredictionOptions]) -> MulticlassCalibrator:
    r"""Fit temperature scaling, :math:`\mathrm{softmax}(\ln p_k/T)` [@guo2017].

    The maximum-likelihood temperature T is not below 0; the slope is 1/T. The most likely class never changes.

    Parameters
    ----------
    rows
        Rows with a probability for each class.

    Returns
    -------
    MulticlassCalibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import class_scores
    >>> rows = class_scores(list("aabb"), [[0.8, 0.2], [0.8, 0.2], [0.8, 0.2], [0.2, 0.8]])
    >>> calibrator = temperature(rows)
    >>> calibrator([[0.8, 0.2]]).round(9).tolist()
    [[0.75, 0.25]]
    """
    fit_rows = MulticlassFitRows.probabilities(rows)
    logs = fit_rows.log_probabilities(same_slope=True)
    width = len(fit_rows.labels)
    space = np.concatenate([np.ones(width), np.zeros(width)])[:, None]
    model = SoftmaxModel(np.zeros(2 * width), space, np.zeros(1), bounded=1)
    # Without information the likelihood does not depend on the temperature.
    if softmax_information(logs, model, model.start)[0, 0] <= _CONSTANT * fit_rows.rows.total:
        raise FitError(
            f"in each of {fit_rows.n_rows} rows all classes are equally probable, whatever the temperature",
            remedy="fit prior.",
        )
    # Relative to the likeliest class, all true classes are at 0: the likelihood grows as T falls.
    if not logs.x[np.arange(len(logs.x)), logs.truth].any():
        raise FitError(
            f"in all {fit_rows.n_rows} rows the true class has the highest probability, so that the best temperature "
            "is 0",
            remedy="give rows that the model was not trained on, or fit prior.",
        )
    fit = _check_convergence(fit_softmax(logs, model), fit_rows)
    slope, variance = float(fit.theta[0]), None if fit.at_bound[0] else float(fit.covariance[0, 0])
    parameters = add_temperature(wald_parameter("slope", slope, variance))
    return _make_calibrator(fit_rows, "temperature", fit.parameters, parameters, _zero_slope_note(fit, "one"))


@accepts_predictions("class rows")
def bias_corrected(rows: MulticlassRows, **predictions: Unpack[PredictionOptions]) -> MulticlassCalibrator:
    r"""Fit bias-corrected temperature scaling (BCTS), :math:`\mathrm{softmax}(w\ln p_k+b_k)` [@alexandari2020].

    The maximum-likelihood biases add up to 0, and w is not below 0. Fit it before estimating label shift.

    Parameters
    ----------
    rows
        Rows with a probability for each class.

    Returns
    -------
    MulticlassCalibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import class_scores
    >>> rows = class_scores(list("aaabbb"), [[0.8, 0.2], [0.8, 0.2], [0.4, 0.6], [0.8, 0.2], [0.4, 0.6], [0.4, 0.6]])
    >>> bias_corrected(rows)([[0.8, 0.2], [0.4, 0.6]]).round(9).tolist()
    [[0.666666667, 0.333333333], [0.333333333, 0.666666667]]
    """
    fit_rows = MulticlassFitRows.probabilities(rows)
    fit_rows.refuse_absent_classes("temperature")
    width = len(fit_rows.labels)
    fit, estimates, covariance = _fit_with_biases(fit_rows, np.ones((width, 1)), same_slope=True)
    variance = np.diag(covariance)
    parameters = [
        wald_parameter("slope", estimates[0], None if fit.at_bound[0] else variance[0]),
        *_class_parameters("bias of", fit_rows, estimates[width:], variance[width:]),
    ]
    return _make_calibrator(fit_rows, "bias-corrected", estimates, parameters, _zero_slope_note(fit, "one"))


@accepts_predictions("class rows")
def vector(rows: MulticlassRows, **predictions: Unpack[PredictionOptions]) -> MulticlassCalibrator:
    r"""Fit vector scaling, with a slope for each class: :math:`\mathrm{softmax}(w_k\ln p_k+b_k)` [@guo2017].

    The maximum-likelihood biases add up to 0, and no weight is below 0. With two classes this is beta calibration. The
    most likely class may change.

    Parameters
    ----------
    rows
        Rows with a probability for each class.

    Returns
    -------
    MulticlassCalibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import class_scores
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> rows = class_scores(list("aaabbb"), [score[at] for at in (0, 0, 1, 0, 1, 2)], count=[3, 1, 2, 1, 2, 5])
    >>> vector(rows).parameters[0].name
    'weight of a'
    """
    fit_rows = MulticlassFitRows.probabilities(rows)
    fit_rows.refuse_absent_classes("temperature")
    width = len(fit_rows.labels)
    fit, estimates, covariance = _fit_with_biases(fit_rows, np.eye(width), same_slope=False)
    variance = np.diag(covariance)
    names = [name for name, held in zip(fit_rows.labels, fit.at_bound, strict=False) if held]
    parameters = [
        *(
            wald_parameter(f"weight of {name}", value, None if name in names else each)
            for name, value, each in zip(fit_rows.labels, estimates, variance, strict=False)
        ),
        *_class_parameters("bias of", fit_rows, estimates[width:], variance[width:]),
    ]
    return _make_calibrator(fit_rows, "vector", estimates, parameters, _zero_slope_note(fit, format_labels(names)))


def _fit_with_biases(
    fit_rows: MulticlassFitRows, slopes: Floats, *, same_slope: bool
) -> tuple[SoftmaxFit, Floats, Floats]:
    """Fit slopes and a bias for each class; return the fit, weights and biases, and their covariance."""
    logs = fit_rows.log_probabilities(same_slope=same_slope)
    width, n_slopes = slopes.shape
    # Centered at the mean of every class, where slopes and biases are nearly uncorrelated. In place: x is our own copy.
    mean = np.average(logs.x, axis=0, weights=logs.amount)
    np.subtract(logs.x, mean, out=logs.x)
    contrast = contrasts(width)
    space = np.zeros((2 * width, n_slopes + width - 1))
    space[:width, :n_slopes], space[width:, n_slopes:] = slopes, contrast
    start = np.concatenate([np.zeros(n_slopes), contrast.T @ np.log(fit_rows.shares)])
    model = SoftmaxModel(np.zeros(2 * width), space, start, bounded=n_slopes)
    _check_variation(fit_rows, logs, model)
    fit = _check_convergence(fit_softmax(logs, model), fit_rows)
    # Back to uncentered logarithms: the bias of each class becomes bias − slope·mean.
    centering = np.eye(width) - 1 / width
    transform = np.block([[np.eye(width), np.zeros((width, width))], [-centering * mean, centering]])
    return fit, transform @ fit.parameters, transform @ fit.covariance @ transform.T


def _check_variation(fit_rows: MulticlassFitRows, logs: SoftmaxData, model: SoftmaxModel) -> None:
    """Refuse scores that do not vary enough to distinguish slopes and biases."""
    hessian = softmax_information(logs, model, model.start)
    flat = np.diag(hessian)[: model.bounded] <= _CONSTANT * fit_rows.rows.total
    if flat.any():
        names = [name for name, at in zip(fit_rows.labels, flat, strict=False) if at] if len(flat) > 1 else []
        subject = f"the probability of {format_labels(names)} is" if names else "the probabilities are"
        raise FitError(
            f"{subject} the same in all {fit_rows.n_rows} rows, so that slope and bias are not identified",
            remedy="fit prior, or give rows that differ.",
        )
    if not is_identified(hessian):
        raise FitError(
            f"the probabilities in {fit_rows.n_rows} rows vary too little or together, so that slopes and biases are "
            "not identified",
            remedy="fit temperature, or prior.",
        )


def _check_convergence(fit: SoftmaxFit, fit_rows: MulticlassFitRows) -> SoftmaxFit:
    if not fit.converged:
        raise FitError(
            f"the probabilities separate some of {len(fit_rows.labels)} classes in {fit_rows.n_rows} rows, so that no "
            "finite slope or bias fits",
            remedy="give more rows, or rows that the model was not trained on, or fit temperature or prior.",
        )
    return fit


def _class_parameters(prefix: str, fit_rows: MulticlassFitRows, values: Floats, variance: Floats) -> list[Parameter]:
    return [
        wald_parameter(f"{prefix} {name}", *each) for name, *each in zip(fit_rows.labels, values, variance, strict=True)
    ]


def _zero_slope_note(fit: SoftmaxFit, names: str) -> tuple[str, ...]:
    if not fit.at_bound.any():
        return ()
    subject = "slope" if names == "one" else f"weight of {names}"
    return (f"the {subject} is bounded at 0: the likeliest is negative, as if the scores were reversed.",)


def _make_calibrator(
    fit_rows: MulticlassFitRows, method: str, estimates: Floats, parameters: Sequence[Parameter], notes: tuple[str, ...]
) -> MulticlassCalibrator:
    width = len(fit_rows.labels)
    return MulticlassCalibrator(
        Softmax(estimates[:width], estimates[width:], PROBABILITY_CLIP),
        fit_rows.labels,
        method=method,
        fitted=fit_rows.sample,
        parameters=tuple(parameters),
        columns=fit_rows.columns,
        notes=(*fit_rows.notes, *notes),
    )


@accepts_predictions("class rows")
def one_vs_rest(
    rows: MulticlassRows, fit: Callable[[Tally], Calibrator], **predictions: Unpack[PredictionOptions]
) -> MulticlassCalibrator:
    """Fit a binary calibrator for each class against the rest, then divide by the sum [@zadrozny2002].

    The binary probabilities do not add up to 1, so that after division no class is exactly calibrated.

    Parameters
    ----------
    rows
        Rows with a score for each class.
    fit
        Function from a tally to a binary calibrator; it determines which scores are accepted.

    Returns
    -------
    MulticlassCalibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import Calibrator, class_scores
    >>> from baserate._calibrator_forms import Line
    >>> rows = class_scores(["cat", "dog"], [[2.0, -1.0], [-1.0, 1.0]])
    >>> one_vs_rest(rows, lambda tally: Calibrator(Line(0.0, 1.0), method="sigmoid"))([[0.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """
    fit_rows = MulticlassFitRows.of(rows)
    fit_rows.refuse_absent_classes("temperature")
    calibrators = [_fit_class(fit_rows, at, fit) for at in range(len(fit_rows.labels))]
    by_label = list(zip(fit_rows.labels, calibrators, strict=True))
    return MulticlassCalibrator(
        OneVsRest(tuple(each.form for each in calibrators)),
        fit_rows.labels,
        method=f"one-vs-rest-{calibrators[0].method}",
        fitted=fit_rows.sample,
        parameters=tuple(_name_parameters(by_label)),
        columns=fit_rows.columns,
        notes=tuple(f"{name}: {note}" for name, each in by_label for note in each.notes),
    )


def _fit_class(fit_rows: MulticlassFitRows, at: int, fit: Callable[[Tally], Calibrator]) -> Calibrator:
    try:
        return fit(fit_rows.rows.against_rest(at))
    except FitError as error:
        raise FitError(f"{fit_rows.labels[at]} against the rest: {error}") from error


def _name_parameters(by_label: list[tuple[str, Calibrator]]) -> Iterator[Parameter]:
    for name, each in by_label:
        yield from (replace(parameter, name=f"{parameter.name} of {name}") for parameter in each.parameters)


@accepts_predictions("class rows")
def cross_fit(
    rows: MulticlassRows,
    fit: Callable[[MulticlassRows], MulticlassCalibrator],
    *,
    folds: int = 5,
    seed: int = 0,
    watch: Callable[[int, int], None] | None = None,
    **predictions: Unpack[PredictionOptions],
) -> MulticlassRows:
    """Calibrate every row by a fit on the rows of the other folds.

    The rows stay in their order. Measures of them estimate the performance on new rows, a little pessimistically, since
    each fit uses fewer rows than a fit on all.

    Parameters
    ----------
    rows
        Rows with a score for each class.
    fit
        Function from rows to a multiclass calibrator.
    folds
        Number of folds.
    seed
        Random seed of the partition.
    watch
        Called with the number of folds that are complete, and the number of all.

    Returns
    -------
    MulticlassRows
        The rows with calibrated probabilities.

    Examples
    --------
    >>> from baserate import class_scores
    >>> from baserate.calibration.multiclass import prior
    >>> rows = class_scores(list("ccdd"), [[0.8, 0.2], [0.4, 0.6], [0.6, 0.4], [0.3, 0.7]])
    >>> cross_fit(rows, prior)
    MulticlassRows(4 rows; scores for c, d)
    """
    fold = assign_folds(rows, folds, seed=seed)
    score = np.empty(rows.score.shape, order="F")  # measures sort one class at a time
    count = int(fold.max()) + 1
    for at in range(count):
        out = fold == at
        if not out.any():
            continue
        try:
            calibrator = fit(rows.only(~out))
        except FitError as error:
            raise FitError(f"without fold {at + 1} of {count}: {error}") from error
        score[out] = calibrator(rows.score[out])
        if watch:
            watch(at + 1, count)
    return replace(rows, score=make_read_only(score))


@accepts_predictions("class rows")
def assign_folds(
    rows: MulticlassRows, folds: int = 5, *, seed: int = 0, **predictions: Unpack[PredictionOptions]
) -> Codes:
    """Return the fold of each row: folds are equally large and not stratified by class.

    The content of a row determines its fold, so that the order of the rows changes nothing. A partition with all rows
    of a class in one fold is repeated, since the other folds could not be fitted.

    Parameters
    ----------
    rows
        Rows with a score for each class.
    folds
        Number of folds.
    seed
        Random seed of the partition.

    Returns
    -------
    array
        Number of the fold of each row.

    Examples
    --------
    >>> from baserate import class_scores
    >>> rows = class_scores(list("ccddd"), [[0.8, 0.2], [0.4, 0.6], [0.6, 0.4], [0.3, 0.7], [0.1, 0.9]])
    >>> np.bincount(assign_folds(rows, 2)).tolist()
    [3, 2]
    """
    check_domain("folds", folds, _domains.FOLDS)
    if not len(rows):
        raise EmptyDataError("there are no rows to assign to folds", remedy="give some.")
    support = np.bincount(rows.truth, minlength=len(rows.labels))
    # A class that never occurs is no obstacle; one that occurs once is, since no other fold has it.
    rarest = int(np.where(support > 0, support, len(rows) + 1).argmin())
    if support[rarest] < 2:
        raise FitError(
            f"{rows.labels[rarest]} has a single row, which cannot be in two folds", remedy="give more rows of it."
        )
    folds = int(min(folds, len(rows)))
    rng = np.random.default_rng(seed)
    # Sorted by class and content, so that the permutation does not depend on the order of rows.
    order = np.lexsort((_hash_content(rows), rows.truth))
    fold = np.empty(len(rows), dtype=np.min_scalar_type(folds))
    for _ in range(MAX_PARTITIONS):
        fold[order] = rng.permutation(np.arange(len(rows)) % folds)
        # In the width of `intp`: codes of classes are narrow, and their products with folds would wrap around.
        in_fold = np.bincount(rows.truth * np.intp(folds) + fold, minlength=len(support) * folds).reshape(-1, folds)
        if (in_fold < support[:, None])[support > 0].all():
            return fold
    raise FitError(
        f"all rows of {rows.labels[rarest]} are in one fold of every partition", remedy="give more rows of it."
    )


def _hash_content(rows: MulticlassRows) -> Hashes:
    """Hash the scores, amounts and group of each row."""
    columns = [float_bits(rows.score[:, at]) for at in range(len(rows.labels))]
    columns += [float_bits(amount) for amount in (rows.weight, rows.count) if amount is not None]
    if rows.attributes:
        columns.append(rows.group.astype(np.uint64))
    return hash_rows(columns)
