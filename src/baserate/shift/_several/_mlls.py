"""The likeliest shares of classes, from probabilities that are right or are made right first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, Reals
from baserate._calibrator import MulticlassCalibrator
from baserate._calibrator_forms import Softmax
from baserate._errors import FitError, OptionError
from baserate._formatting import count_of
from baserate._numeric.logistic import NEAREST
from baserate._numeric.simplex import Mixture, contrasts, inverse, mixed, moments
from baserate._numeric.softmax import Model, Rows, information
from baserate._rows import MulticlassRows
from baserate._target import MulticlassTarget
from baserate.calibrate.multiclass import bias_corrected, listed, temperature, vector
from baserate.shift._several._linear import check_told_apart, means
from baserate.shift._several._pair import Pair, Side
from baserate.shift._several._result import Shares, estimated

Recalibration = Literal["bias-corrected", "vector", "temperature"]
Given = Mapping[Any, float] | Sequence[float] | Floats

_FITS: dict[str, Callable[[MulticlassRows], MulticlassCalibrator]] = {
    "bias-corrected": bias_corrected,
    "vector": vector,
    "temperature": temperature,
}
_NEAR = 0.01
"""How far from 1 shares may add up to: they were rounded."""
_BLOCK = 1 << 15
"""Numbers that fit the cache with what is computed of them."""
_TAKEN = "probabilities are taken as they are: if they are not right, neither are the shares, nor the intervals."


def mlls(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    at: Given | None = None,
) -> Shares:
    r"""The likeliest shares, :math:`\max_q\sum_j\ln\sum_kq_kp_{jk}/π_k`, of probabilities p that are right at shares π.

    They are first made right on the validation rows, whose shares are then π; a bias of each class is essential
    [@alexandari2020]. With `recalibrate=None` probabilities are taken as they are, and `at` says for which shares they
    were made, by default those of validation. The maximum is exact, where expectation and maximisation may stop early.
    Rows of the target whose truth is known add :math:`\ln q_k` each, beside rows for which the calibration is taken as
    exact. The interval holds the uncertainty of the calibration and of π; of probabilities taken as they are, that of
    the target alone.

    Also: maximum likelihood label shift, EM, EMQ, SLD, Saerens–Latinne–Decaestecker.
    Reference: [@saerens2002].

    >>> from baserate import scored
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> rows = scored(list("aaabbb"), score * 2, count=[40, 20, 10, 10, 20, 40])
    >>> mlls(MulticlassTarget(np.array(score), ("a", "b"), count=np.array([70, 20, 10])), rows).value.round(3).tolist()
    [1.0, 0.0]
    """
    pair = Pair.of(target, validation)
    fit = prepared(pair, recalibrate=recalibrate, at=at)
    check_told_apart(*means(pair.truth, pair.validation, fit.right), pair.labels, level=level)
    found = mixed(fit.across.T, amount=pair.target.amount, fixed=pair.seen)
    if not found.settled:
        raise FitError("the likelihood of the shares has no single maximum that could be found; estimate by pacc.")
    return _made(pair, fit, found, level=level)


def prepared(
    pair: Pair, *, recalibrate: Recalibration | bool | None = "bias-corrected", at: Given | None = None
) -> Fit:
    """Make probabilities right on the validation rows, or take them as they are."""
    pair.check_probabilities()
    if recalibrate is True:  # as of two classes
        recalibrate = "bias-corrected"
    if not recalibrate:
        return as_it_is(pair, pair.shares if at is None else _prior(at, pair.labels))
    if at is not None:
        raise OptionError("at= is for probabilities taken as they are; add recalibrate=None, or leave it out.")
    return made_right(pair, _recalibrated(recalibrate, pair))


class Fit(NamedTuple):
    """How likely each row of the target is in each class, and what that comes from."""

    across: Floats
    """Up to a factor of the row; a column for each row."""
    at: Floats
    """Shares at which the probabilities are right."""
    right: Floats
    """Probabilities of the validation rows."""
    map: MulticlassCalibrator | None = None
    line: Line | None = None
    x: Floats | None = None
    """Logarithms of the probabilities, as they were; a column for each row."""


def as_it_is(pair: Pair, at: Floats) -> Fit:
    """Probabilities that are right at given shares."""
    across = np.ascontiguousarray(pair.target.score.T, dtype=np.float64)
    return Fit(across / at[:, None], at, np.asarray(pair.validation.score, dtype=np.float64))


def made_right(pair: Pair, made: MulticlassCalibrator) -> Fit:
    """Probabilities that a map makes right, which was fitted on the validation rows."""
    right = made(pair.validation.score)
    line = Line.of(made, pair, right)
    across, x = line.of_target(pair.target.score)
    return Fit(across, line.at, right, made, line, x)


class Line(NamedTuple):
    r"""The calibration as :math:`\ln a_{jk}=w_k(\ln p_{jk}-\bar x_k)+c_k`, c being biases less ln π."""

    weight: Floats
    shift: Floats
    middle: Floats
    at: Floats
    """Mean probability of each class in validation, which is π; with biases, exactly its share."""
    alone: Floats
    """How weights and biases follow what is true of the rows: times :math:`(x_i∘(y_i-m_i),y_i-m_i)`."""
    lead: Floats
    """How weights and shifts do, in which biases are less ln π."""
    covariance: Floats
    """Of weights and shifts."""

    @staticmethod
    def of(made: MulticlassCalibrator, pair: Pair, right: Floats) -> Line:
        """Take the map apart, and say how it varies; `right` is what it makes of the validation rows."""
        form, side = made.form, pair.validation
        assert isinstance(form, Softmax)  # noqa: S101  (for the type checker)
        logs = np.log(np.maximum(side.score, NEAREST, dtype=np.float64))
        # Around the mean of every class, where slopes and biases hardly depend on each other.
        middle = np.average(logs, axis=0, weights=side.amount)
        logs -= middle
        shift = form.bias + form.weight * middle
        at, spread = side.mean(right)
        rows = Rows(logs, pair.truth, side.amount, side.squares)
        both = np.concatenate([form.weight, shift])
        alone, lead, covariance = _follows(rows, both, _free(made.method, form.weight), at * side.total)
        covariance[len(at) :, len(at) :] += spread / np.outer(at, at)
        return Line(form.weight, shift - np.log(at), middle, at, alone, lead, covariance)

    def logarithms(self, score: Reals) -> Floats:
        """Logarithms of probabilities, around their means."""
        found: Floats = np.log(np.maximum(score, NEAREST, dtype=np.float64)) - self.middle
        return found

    def of_target(self, new: Reals) -> tuple[Floats, Floats]:
        """How likely each row is in each class, up to a factor of the row; and logarithms; a column for each row."""
        x = np.log(np.maximum(new.T, NEAREST, order="C", dtype=np.float64))
        x -= self.middle[:, None]
        a = x * self.weight[:, None]
        a += self.shift[:, None]
        a -= a.max(axis=0)
        np.exp(a, out=a)
        return a, x


def _free(method: str, weight: Floats) -> Floats:
    """Directions in which weights and biases were fitted, except weights that are held at 0."""
    width = len(weight)
    slopes = np.eye(width)[:, weight > 0] if method == "vector" else np.ones((width, int(weight[0] > 0)))
    biases = contrasts(width) if method != "temperature" else np.zeros((width, 0))
    found = np.zeros((2 * width, slopes.shape[1] + biases.shape[1]))
    found[:width, : slopes.shape[1]], found[width:, slopes.shape[1] :] = slopes, biases
    return found


def _follows(rows: Rows, both: Floats, space: Floats, mass: Floats) -> tuple[Floats, Floats, Floats]:
    r"""How weights and biases, and these less :math:`\ln π`, follow what is true of given scores, and how they vary.

    Fitted parameters go with :math:`Vx_i^⊤(y_i-m_i)`, and π, the mean of m, with :math:`H_{b·}/n` times that, where H
    is the information and V its inverse. So biases less ln π go with :math:`L=1-\mathrm{diag}(1/nπ)H_{b·}` in place of
    1, and all of it varies as :math:`LVQVL^⊤`; Q is H, or that of squared weights. How π varies as scores do is not in
    it. `mass` is nπ. Where every class has a bias this is, with that, V less diag(1/nπ): calibration and shares move
    together, and neither is as unsure as it would be alone.
    """
    width = len(mass)
    whole = Model(np.zeros(2 * width), np.eye(2 * width), both)
    bend = information(rows, whole, both)
    square = bend if rows.squares is None else information(rows, whole, both, squared=True)
    lead = np.eye(2 * width)
    lead[width:] -= bend[width:] / mass[:, None]
    alone = space @ np.linalg.inv(space.T @ bend @ space) @ space.T
    lead = lead @ alone
    return alone, lead, lead @ square @ lead.T


def pulled(side: Side, q: Floats, across: Floats, x: Floats) -> Floats:
    r"""How the slope of the likelihood moves with weights and shifts, of shape (K, 2K).

    With :math:`b_j=a_j/(a_j·q)`, :math:`∂b_{jk}/∂c_l=b_{jk}(δ_{kl}-q_lb_{jl})`, and x times that for a weight.
    """
    width = len(q)
    single, double = np.zeros((2, width)), np.zeros((2, width, width))
    step = max(_BLOCK // width, 1)
    for start in range(0, across.shape[1], step):
        place = slice(start, start + step)
        share = across[:, place] / (q @ across[:, place])
        times = share if side.amount is None else share * side.amount[place]
        part = x[:, place]
        single += (times * part).sum(axis=1), times.sum(axis=1)
        double += times @ (share * part).T, times @ share.T
    found: Floats = np.concatenate([np.diag(s) - d * q for s, d in zip(single, double, strict=True)], axis=1)
    return found


def turned(pair: Pair, fit: Fit, q: Floats) -> Floats:
    """Inverse of what the likelihood of the shares is curved by: of the target's rows, and of those with a truth."""
    known = pair.seen > 0
    bend = moments(fit.across, q, pair.target.amount)[1]
    bend[known, known] += pair.seen[known] / np.square(q[known])
    return inverse(bend)


def calibrated(pair: Pair, fit: Fit, *, shares: bool = True) -> Floats:
    """What each row of validation does to weights and shifts; without `shares`, to weights and biases."""
    assert fit.line is not None  # noqa: S101  (for the type checker)
    line, width = fit.line, len(pair.labels)
    gap = np.eye(width)[pair.truth] - fit.right
    both = np.concatenate([line.logarithms(pair.validation.score) * gap, gap], axis=1)
    found: Floats = both @ (line.lead if shares else line.alone).T
    if shares:
        found[:, width:] -= (fit.right - line.at) / (line.at * pair.validation.total)
    return found


def _moved(pair: Pair, fit: Fit, found: Mixture) -> Floats:
    """What each row of validation does to the shares."""
    if fit.line is None or fit.x is None:
        return np.zeros((len(pair.rows), len(pair.labels)))
    pull = pulled(pair.target, found.q, fit.across, fit.x)
    return pair.of_all(calibrated(pair, fit) @ pull.T @ inverse(found.information))


def _covariance(pair: Pair, fit: Fit, found: Mixture) -> Floats:
    r"""Covariance :math:`H^{-1}(M+GSG^⊤)H^{-1}` of shares: M of the target's rows, S of the calibration."""
    inner, middle = inverse(found.information), found.information
    squares = pair.target.squares
    if squares is not None or (pair.seen != pair.seen_squares).any():
        middle = moments(fit.across, found.q, pair.target.amount if squares is None else squares)[1]
        there = pair.seen_squares > 0
        middle[there, there] += pair.seen_squares[there] / np.square(found.q[there])
    if fit.line is not None and fit.x is not None:
        pull = pulled(pair.target, found.q, fit.across, fit.x)
        middle = middle + pull @ fit.line.covariance @ pull.T
    return inner @ middle @ inner


def _made(pair: Pair, fit: Fit, found: Mixture, *, level: float) -> Shares:
    covariance = _covariance(pair, fit, found)
    # One step of Newton's method from the bounds, if some shares stand there; it says little of those that do not.
    unclipped = found.q + inverse(found.information) @ found.slope
    middle = np.where(found.q > 0, found.q, unclipped)
    rows = pair.target.effective + pair.labelled
    return Shares(
        pair.labels,
        tuple(estimated(found.q, middle, np.diag(covariance), rows=rows, level=level)),
        method="mlls",
        unclipped=unclipped,
        covariance=covariance,
        at=fit.at,
        rows=pair.target.rows,
        labelled=pair.known,
        map=fit.map,
        notes=(*pair.notes, *_notes(pair, found), *((_TAKEN,) if fit.map is None else fit.map.notes)),
        validation=pair.rows,
        moved=_moved(pair, fit, found),
    )


def _notes(pair: Pair, found: Mixture) -> Iterator[str]:
    score = pair.target.score
    zeros = int(np.count_nonzero(score == 0))
    if zeros:
        yield f"{zeros} of {score.size} probabilities of the target are exactly 0, which no classifier can know."
    absent = [str(label) for label, q in zip(pair.labels, found.q, strict=True) if q == 0]
    if absent:
        yield f"the likeliest share of {listed(absent)} is 0: the likelihood would rise below it."


def _recalibrated(name: str, pair: Pair) -> MulticlassCalibrator:
    if name not in _FITS:
        raise OptionError(f"recalibrate is {name!r}; it is {', '.join(map(repr, _FITS))} or None.")
    try:
        return _FITS[name](pair.rows)
    except FitError as error:
        raise FitError(
            f"the probabilities cannot be made right on validation: {error} Or estimate by acc or pacc, or take "
            "probabilities as they are with recalibrate=None."
        ) from error


def _prior(given: Given, labels: tuple[object, ...]) -> Floats:
    """Shares for which probabilities were made, in the order of the classes."""
    if isinstance(given, Mapping):
        if set(given) != set(labels):
            raise OptionError(
                f"at names {count_of(len(given), 'class', 'classes')}, not the {len(labels)} of validation; "
                "give each its share."
            )
        given = [given[label] for label in labels]
    found = np.array(given, dtype=np.float64)
    if found.shape != (len(labels),) or not ((found > 0).all() and abs(found.sum() - 1) <= _NEAR):
        raise OptionError(f"at is {found.tolist()}; give {len(labels)} shares above 0 that add up to 1.")
    found /= found.sum()
    return found
