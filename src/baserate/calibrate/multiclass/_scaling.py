"""Probabilities of several classes made less or more sure: a slope for all of them or for each, with biases or not."""

from __future__ import annotations

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import MulticlassCalibrator, Parameter
from baserate._calibrator_forms import Softmax
from baserate._errors import FitError
from baserate._numeric.logistic import NEAREST
from baserate._numeric.simplex import contrasts
from baserate._numeric.softmax import Found, Model, Rows, climbed, determined, information
from baserate._rows import MulticlassRows
from baserate.calibrate._parameters import parameter, with_temperature
from baserate.calibrate.multiclass._given import Given, listed

_CONSTANT = 1e-20
"""Variance of logarithms of probabilities, a row, that is rounding."""


def temperature(rows: MulticlassRows) -> MulticlassCalibrator:
    r"""All probabilities less or more sure alike, :math:`\mathrm{softmax}(\ln p_k/T)`.

    The most likely temperature T, not below 0; the slope is 1/T. Which class is the most likely never changes.

    Also: temperature scaling.
    Reference: [@guo2017].

    >>> from baserate import scored
    >>> rows = scored(list("aabb"), [[0.8, 0.2], [0.8, 0.2], [0.8, 0.2], [0.2, 0.8]])
    >>> cooler = temperature(rows)
    >>> cooler([[0.8, 0.2]]).round(9).tolist()
    [[0.75, 0.25]]
    """
    given = Given.probabilities(rows)
    logs = given.logarithms(alike=True)
    width = len(given.labels)
    space = np.concatenate([np.ones(width), np.zeros(width)])[:, None]
    model = Model(np.zeros(2 * width), space, np.zeros(1), bounded=1)
    if information(logs, model, model.start)[0, 0] <= _CONSTANT * given.rows.total:
        raise FitError(
            f"each of {given.many} rows gives all classes the same probability, so that no temperature changes them; "
            "fit prior."
        )
    if not logs.x[np.arange(len(logs.x)), logs.truth].any():
        raise FitError(
            f"in all {given.many} rows the true class has the highest probability, so that no temperature is too low; "
            "give rows that the model was not trained on, or fit prior."
        )
    found = _settled(climbed(logs, model), given)
    slope, variance = float(found.theta[0]), None if found.held[0] else float(found.covariance[0, 0])
    told = parameter("slope", slope, variance)
    return _made(given, "temperature", found.parameters, with_temperature(told), _held(found, "one"))


def bias_corrected(rows: MulticlassRows) -> MulticlassCalibrator:
    r"""All probabilities less or more sure alike, and every class as frequent as they say.

    :math:`\mathrm{softmax}(w\ln p_k+b_k)`, the most likely w and b; the biases add up to 0 and w is not below 0. Fit it
    before a shift of the classes is estimated.

    Also: bias-corrected temperature scaling, BCTS.
    Reference: [@alexandari2020].

    >>> from baserate import scored
    >>> rows = scored(list("aaabbb"), [[0.8, 0.2], [0.8, 0.2], [0.4, 0.6], [0.8, 0.2], [0.4, 0.6], [0.4, 0.6]])
    >>> bias_corrected(rows)([[0.8, 0.2], [0.4, 0.6]]).round(9).tolist()
    [[0.666666667, 0.333333333], [0.333333333, 0.666666667]]
    """
    given = Given.probabilities(rows)
    given.refuse_absent("temperature")
    width = len(given.labels)
    found, both, covariance = _with_biases(given, np.ones((width, 1)), alike=True)
    variance = np.diag(covariance)
    told = [
        parameter("slope", both[0], None if found.held[0] else variance[0]),
        *_each("bias of", given, both[width:], variance[width:]),
    ]
    return _made(given, "bias-corrected", both, told, _held(found, "one"))


def vector(rows: MulticlassRows) -> MulticlassCalibrator:
    r"""Probabilities of each class less or more sure by a slope of its own, :math:`\mathrm{softmax}(w_k\ln p_k+b_k)`.

    The most likely weights and biases; the biases add up to 0 and no weight is below 0. Of two classes it is beta
    calibration. Which class is the most likely may change.

    Also: vector scaling.
    Reference: [@guo2017].

    >>> from baserate import scored
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> rows = scored(list("aaabbb"), [score[at] for at in (0, 0, 1, 0, 1, 2)], count=[3, 1, 2, 1, 2, 5])
    >>> vector(rows).parameters[0].name
    'weight of a'
    """
    given = Given.probabilities(rows)
    given.refuse_absent("temperature")
    width = len(given.labels)
    found, both, covariance = _with_biases(given, np.eye(width), alike=False)
    variance = np.diag(covariance)
    names = [name for name, held in zip(given.labels, found.held, strict=False) if held]
    told = [
        *(
            parameter(f"weight of {name}", value, None if name in names else each)
            for name, value, each in zip(given.labels, both, variance, strict=False)
        ),
        *_each("bias of", given, both[width:], variance[width:]),
    ]
    return _made(given, "vector", both, told, _held(found, listed(names)))


def _with_biases(given: Given, slopes: Floats, *, alike: bool) -> tuple[Found, Floats, Floats]:
    """Fit slopes and a bias of each class; weights and biases, and how they vary."""
    logs = given.logarithms(alike=alike)
    width, many = slopes.shape
    # Around the mean of every class, where slopes and biases hardly depend on each other.
    middle = np.average(logs.x, axis=0, weights=logs.amount)
    np.subtract(logs.x, middle, out=logs.x)
    contrast = contrasts(width)
    space = np.zeros((2 * width, many + width - 1))
    space[:width, :many], space[width:, many:] = slopes, contrast
    start = np.concatenate([np.zeros(many), contrast.T @ np.log(given.shares)])
    model = Model(np.zeros(2 * width), space, start, bounded=many)
    _check_determined(given, logs, model)
    found = _settled(climbed(logs, model), given)
    centred = np.eye(width) - 1 / width
    back = np.block([[np.eye(width), np.zeros((width, width))], [-centred * middle, centred]])
    return found, back @ found.parameters, back @ found.covariance @ back.T


def _check_determined(given: Given, logs: Rows, model: Model) -> None:
    """Refuse scores that do not vary, or not enough to tell slopes and biases apart."""
    curve = information(logs, model, model.start)
    flat = np.diag(curve)[: model.bounded] <= _CONSTANT * given.rows.total
    if flat.any():
        names = [name for name, at in zip(given.labels, flat, strict=False) if at] if len(flat) > 1 else []
        whose = f"the probability of {listed(names)} is" if names else "the probabilities are"
        raise FitError(
            f"{whose} the same in all {given.many} rows, so that a slope and a bias do the same; fit prior, or give "
            "rows that differ."
        )
    if not determined(curve):
        raise FitError(
            f"the probabilities in {given.many} rows vary too little or together, so that several slopes and biases do "
            "the same; fit temperature, or prior."
        )


def _settled(found: Found, given: Given) -> Found:
    if not found.settled:
        raise FitError(
            f"the probabilities part some of {len(given.labels)} classes in {given.many} rows, so that no slope or "
            "bias is too great; give more rows, or rows that the model was not trained on, or fit temperature or prior."
        )
    return found


def _each(what: str, given: Given, values: Floats, variance: Floats) -> list[Parameter]:
    return [parameter(f"{what} {name}", *each) for name, *each in zip(given.labels, values, variance, strict=True)]


def _held(found: Found, names: str) -> tuple[str, ...]:
    if not found.held.any():
        return ()
    whose = "slope" if names == "one" else f"weight of {names}"
    return (f"the {whose} is held at 0: the likeliest would be negative, as if the scores were upside down.",)


def _made(
    given: Given, method: str, both: Floats, told: tuple[Parameter, ...] | list[Parameter], notes: tuple[str, ...]
) -> MulticlassCalibrator:
    width = len(given.labels)
    return MulticlassCalibrator(
        Softmax(both[:width], both[width:], NEAREST),
        given.labels,
        method=method,
        fitted=given.fitted,
        parameters=tuple(told),
        columns=given.columns,
        notes=(*given.notes, *notes),
    )
