"""Maps of several classes that need no fit: priors that are known, and none at all."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import MulticlassCalibrator, Parameter
from baserate._calibrator_forms import Softmax
from baserate._errors import OptionError, ShapeError
from baserate._formatting import count_of
from baserate._rows import MulticlassRows
from baserate.calibrate.multiclass._given import Given
from baserate.measure.multiclass import NEAR

Shares = Mapping[Any, float] | Sequence[float] | Floats


def identity(rows: MulticlassRows) -> MulticlassCalibrator:
    """Probabilities as they are, made to add up to 1: what other maps are compared with.

    >>> from baserate import scored
    >>> same = identity(scored(["cat", "dog"], [[0.8, 0.2], [0.3, 0.7]]))
    >>> same([[0.6, 0.4], [0.0, 1.0]]).round(9).tolist()
    [[0.6, 0.4], [0.0, 1.0]]
    """
    given = Given.probabilities(rows)
    width = len(given.labels)
    return MulticlassCalibrator(
        Softmax(np.ones(width), np.zeros(width)), given.labels, method="identity", columns=given.columns
    )


def reprior(before: Shares, after: Shares, *, labels: Sequence[object] | None = None) -> MulticlassCalibrator:
    r"""Probabilities as they would be with other shares of the classes, :math:`∝p_k·after_k/before_k`.

    `before` is what the probabilities were made for, `after` where they are to hold; the classes of each must look as
    they did [@saerens2002]. Nothing is fitted, and what cannot be stays so. Both are mappings from class to share, or
    shares in the order of `labels`.

    >>> moved = reprior({"cat": 0.5, "dog": 0.5}, {"cat": 0.2, "dog": 0.8})
    >>> moved([[0.5, 0.5], [0.8, 0.2], [0.0, 1.0]]).round(9).tolist()
    [[0.2, 0.8], [0.5, 0.5], [0.0, 1.0]]
    """
    if labels is None:
        if not isinstance(before, Mapping):
            raise OptionError("before is no mapping from class to share, so labels= must name the classes.")
        labels = list(before)
    names = tuple(map(str, labels))
    first, then = (checked_shares(what, shares, labels) for what, shares in (("before", before), ("after", after)))
    told = [
        Parameter(f"prior of {name} {what}", float(share))
        for what, shares in (("before", first), ("after", then))
        for name, share in zip(names, shares, strict=True)
    ]
    return MulticlassCalibrator(
        Softmax(np.ones(len(names)), np.log(then / first)), names, "reprior", parameters=tuple(told)
    )


def checked_shares(what: str, given: Shares, labels: Sequence[object]) -> Floats:
    """Shares of all classes, in the order of the labels."""
    if isinstance(given, Mapping):
        if set(given) != set(labels):
            raise OptionError(
                f"{what} names {count_of(len(given), 'class', 'classes')}, not the same as labels; "
                "give each of them its share."
            )
        given = [given[label] for label in labels]
    shares = np.array(given, dtype=np.float64)
    if shares.shape != (len(labels),):
        raise ShapeError(f"{what} has shape {shares.shape}; give a share for each of {len(labels)} classes.")
    if not (np.isfinite(shares).all() and (shares > 0).all() and abs(shares.sum() - 1) <= NEAR):
        raise OptionError(f"{what} is {shares.tolist()}; give shares above 0 that add up to 1.")
    found: Floats = shares / shares.sum()
    return found
