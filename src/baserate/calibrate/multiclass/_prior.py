"""Shares of several classes made right: biases alone."""

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import MulticlassCalibrator, Parameter
from baserate._calibrator_forms import Softmax
from baserate._errors import FitError
from baserate._numeric.logistic import NEAREST
from baserate._numeric.softmax import Model, climbed, level
from baserate._rows import MulticlassRows
from baserate.calibrate._parameters import parameter
from baserate.calibrate.multiclass._given import Given

_SWEEPS = 5


def prior(rows: MulticlassRows) -> MulticlassCalibrator:
    r"""Probabilities moved until every class is as frequent as they say, :math:`\mathrm{softmax}(\ln p_k+b_k)`.

    The most likely biases, and those with which the mean probability of every class is its share. They also tell for
    which shares the probabilities were made, :math:`π_k∝\bar y_ke^{-b_k}`, if nothing else is wrong with them. The
    biases add up to 0. Of two classes it is an offset of log-odds.

    >>> from baserate import scored
    >>> rows = scored(list("ccddd"), [[0.8, 0.2], [0.4, 0.6], [0.6, 0.4], [0.3, 0.7], [0.1, 0.9]])
    >>> moved = prior(rows)
    >>> moved(rows.score).mean(axis=0).round(9).tolist()
    [0.4, 0.6]
    """
    given = Given.probabilities(rows)
    given.refuse_absent("temperature")
    bias, variance = _biases(given)
    made_for = given.shares * np.exp(bias.min() - bias)
    made_for /= made_for.sum()
    told = [
        *(parameter(f"bias of {name}", *each) for name, *each in zip(given.labels, bias, variance, strict=True)),
        *(Parameter(f"prior of {name}", float(share)) for name, share in zip(given.labels, made_for, strict=True)),
    ]
    return MulticlassCalibrator(
        Softmax(np.ones(len(bias)), bias, NEAREST),
        given.labels,
        method="prior",
        fitted=given.fitted,
        parameters=tuple(told),
        columns=given.columns,
        notes=given.notes,
    )


def _biases(given: Given) -> tuple[Floats, Floats]:
    """Biases that add up to 0, and their variances."""
    logs, width = given.logarithms(alike=True), len(given.labels)
    # Beside the most frequent class, whose bias is 0 at first: sums of what is small stay exact.
    beside = np.delete(np.eye(width), int(given.shares.argmax()), axis=1)
    base = np.concatenate([np.ones(width), np.zeros(width)])
    start = level(logs, sweeps=_SWEEPS)
    start = np.delete(start - start[given.shares.argmax()], int(given.shares.argmax()))
    space = np.concatenate([np.zeros(beside.shape), beside])
    found = climbed(logs, Model(base, space, start, coercive=True))
    if not found.settled:
        raise FitError("the biases did not settle: almost all probabilities are 0 or 1; fit temperature.")
    centred = np.eye(width) - 1 / width
    covariance = centred @ found.covariance[width:, width:] @ centred
    return centred @ found.parameters[width:], np.diag(covariance)
