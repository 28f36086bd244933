"""The binormal ROC curve Φ(a + b Φ⁻¹(x)), by maximum likelihood and by least squares.

Some increasing transformation makes the scores of both classes normal: of negatives with mean 0 and standard deviation
1, of positives with mean a/b and standard deviation 1/b. The fit uses the order of the scores alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats

_STEPS = 200
_TOLERANCE = 1e-19
"""Expected gain of the log-likelihood, for each row, below which the search ends."""
_NEAR = 1e-11
"""Expected gain for each row below which a step needs no check: rounding of the likelihood would refuse it."""
_STEEPEST = 50.0
"""Slope b, or its inverse, and distance a beyond which the likelihood has no maximum."""
_SMALLEST = 1e-12
"""Share of a step below which nothing is gained."""
_START_ROUNDS = 40
_FEWEST = 3
"""Categories of scores that determine both parameters."""


class Binormal(NamedTuple):
    """Parameters, and their covariance if the fit has one."""

    a: float
    b: float
    covariance: Floats | None = None

    @property
    def distance(self) -> float:
        """Probit of the AUC."""
        return self.a / hypot(1.0, self.b)

    @property
    def distance_error(self) -> float:
        """Standard error of the probit of the AUC, by the delta method."""
        assert self.covariance is not None  # noqa: S101  (for the type checker)
        scale = hypot(1.0, self.b)
        slope = np.array([1 / scale, -self.a * self.b / scale**3])
        return sqrt(float(slope @ self.covariance @ slope))

    def errors(self, probit: Floats) -> Floats:
        """Return standard errors of a + b z."""
        assert self.covariance is not None  # noqa: S101  (for the type checker)
        (aa, ab), (_, bb) = self.covariance
        errors: Floats = np.sqrt(np.maximum(aa + 2 * ab * probit + bb * probit**2, 0.0))
        return errors


def fit_line(tpr: Floats, fpr: Floats) -> Binormal | None:
    """Regress probits of specificity on probits of sensitivity by least squares, and solve for sensitivity.

    This is pROC's `smooth(method = "binormal")`. All points with rates between 0 and 1 weigh the same, although
    they are correlated and differ in variance, and the regression is of the false positives on the true ones. None if
    there are fewer than two such points, or if they do not rise.
    """
    from scipy.special import ndtri

    inner = (tpr > 0) & (tpr < 1) & (fpr > 0) & (fpr < 1)
    x, y = ndtri(tpr[inner]), -ndtri(fpr[inner])
    if len(x) < 2 or not np.ptp(x) > 0:
        return None
    dx = x - x.mean()
    slope = float(dx @ (y - y.mean()) / (dx @ dx))
    if not slope < 0:
        return None
    intercept = float(y.mean()) - slope * float(x.mean())
    return Binormal(-intercept / slope, -1 / slope)


def fit_binormal(positive: Floats, negative: Floats) -> Binormal | None:
    """Maximize the likelihood over both parameters and all thresholds [@metz1998].

    Neighboring scores of the same class alone are one category, which leaves the maximum where it is. Fisher's scoring
    follows; the information is tridiagonal in the thresholds, so that a step takes time in proportion to the rows.

    Parameters
    ----------
    positive, negative
        Numbers of rows at each score, in increasing order of the scores.

    Returns
    -------
    Binormal or None
        The fit with its covariance; None where the likelihood has no maximum, as for separated classes.
    """
    positive, negative = _merge_runs(positive, negative)
    if len(positive) < _FEWEST:
        return None
    rows = float((positive + negative).sum())
    state = _start(positive, negative)
    value = state.log_likelihood(positive, negative)
    for _ in range(_STEPS):
        try:
            step, gain, covariance = state.score(positive, negative)
        except np.linalg.LinAlgError:  # thresholds have left the range of both classes
            return None
        if gain < _TOLERANCE * rows:
            break
        size = 1.0
        trial = state.move(step, size)
        reached = trial.log_likelihood(positive, negative)
        while not (reached > value or (gain < _NEAR * rows and np.isfinite(reached))):
            size /= 2
            if size < _SMALLEST:
                return None
            trial = state.move(step, size)
            reached = trial.log_likelihood(positive, negative)
        state, value = trial, reached
        if not (1 / _STEEPEST < state.b < _STEEPEST and abs(state.a) < _STEEPEST):
            return None
    fit = Binormal(state.a, state.b, covariance)
    # Where the likelihood is level, it has no maximum.
    return fit if gain < _NEAR * rows and float(np.abs(np.diag(covariance)).max()) < _STEEPEST**2 else None


def _merge_runs(positive: Floats, negative: Floats) -> tuple[Floats, Floats]:
    """Add up neighboring scores that only one and the same class has."""
    kind = np.where(positive == 0, -1, np.where(negative == 0, 1, 0))
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(kind) != 0) | (kind[1:] == 0)]))
    return np.add.reduceat(positive, starts, dtype=np.float64), np.add.reduceat(negative, starts, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _State:
    """Parameters and thresholds between categories, on the scale on which negatives are standard normal."""

    a: float
    b: float
    thresholds: Floats

    def log_likelihood(self, positive: Floats, negative: Floats) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [
                np.where(rows > 0, rows * np.log(_cells(at)), 0.0)
                for rows, at in ((positive, self.b * self.thresholds - self.a), (negative, self.thresholds))
            ]
        return float(np.sum(parts))

    def move(self, step: Floats, size: float) -> _State:
        """Move the parameters and thresholds; an order that is lost has likelihood 0."""
        a, b, *_ = moved = np.concatenate([[self.a, self.b], self.thresholds]) + size * step
        if b <= 0 or not (np.diff(moved[2:]) > 0).all():
            return _State(self.a, self.b, np.full_like(self.thresholds, np.nan))
        return _State(float(a), float(b), moved[2:])

    def score(self, positive: Floats, negative: Floats) -> tuple[Floats, float, Floats]:
        """Return a step of Fisher's scoring, its expected gain, and the covariance of both parameters."""
        from scipy.linalg import solveh_banded

        at = self.b * self.thresholds - self.a
        cells = [_Cells.of(rows, each) for rows, each in ((positive, at), (negative, self.thresholds))]
        high, low = cells
        # Tridiagonal: a threshold bounds two neighboring categories.
        diagonal = self.b**2 * high.diagonal + low.diagonal
        beside = self.b**2 * high.beside + low.beside
        border = np.column_stack([-self.b * high.times(np.ones_like(at)), self.b * high.times(self.thresholds)])
        corner = np.array(
            [
                [high.form(np.ones_like(at), np.ones_like(at)), -high.form(np.ones_like(at), self.thresholds)],
                [-high.form(np.ones_like(at), self.thresholds), high.form(self.thresholds, self.thresholds)],
            ]
        )
        slope_thresholds = self.b * high.slope + low.slope
        slope = np.array([-float(high.slope.sum()), float(high.slope @ self.thresholds)])
        solved = solveh_banded(
            np.vstack([np.append(0.0, beside), diagonal]), np.column_stack([border, slope_thresholds])
        )
        schur = corner - border.T @ solved[:, :2]
        covariance = np.linalg.inv(schur)
        both = covariance @ (slope - border.T @ solved[:, 2])
        rest = solved[:, 2] - solved[:, :2] @ both
        gain = float(slope @ both + slope_thresholds @ rest)
        return np.concatenate([both, rest]), gain, covariance


class _Cells(NamedTuple):
    """Slope of the log-likelihood of a class in its thresholds, and its information, a tridiagonal matrix."""

    slope: Floats
    diagonal: Floats
    beside: Floats

    @staticmethod
    def of(rows: Floats, thresholds: Floats) -> _Cells:
        share = np.maximum(_cells(thresholds), 1e-300)
        density = np.exp(-(thresholds**2) / 2) / sqrt(2 * np.pi)
        total = float(rows.sum())
        slope = density * (rows[:-1] / share[:-1] - rows[1:] / share[1:])
        diagonal = total * density**2 * (1 / share[:-1] + 1 / share[1:])
        return _Cells(slope, diagonal, -total * density[:-1] * density[1:] / share[1:-1])

    def times(self, vector: Floats) -> Floats:
        """Multiply the information by a vector."""
        product = self.diagonal * vector
        product[:-1] += self.beside * vector[1:]
        product[1:] += self.beside * vector[:-1]
        return product

    def form(self, left: Floats, right: Floats) -> float:
        return float(left @ self.times(right))


def _cells(thresholds: Floats) -> Floats:
    """Return the normal probabilities between thresholds, each as a difference of smaller tails."""
    from scipy.special import ndtr

    low, high = np.append(-np.inf, thresholds), np.append(thresholds, np.inf)
    share: Floats = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    return share


def _start(positive: Floats, negative: Floats) -> _State:
    """Start from a line through the points, and thresholds that give the shares of both classes together."""
    from scipy.special import ndtr, ndtri

    rates = [1 - (np.cumsum(rows)[:-1] - 0.0) / rows.sum() for rows in (positive, negative)]
    # Half a row inside, so that rates of 0 and 1 have probits.
    totals = positive.sum(), negative.sum()
    probits = [ndtri((rate * total + 0.5) / (total + 1)) for rate, total in zip(rates, totals, strict=True)]
    spread = float(np.std(probits[1])) or 1.0
    b = min(max((float(np.std(probits[0])) or 1.0) / spread, 0.2), 5.0)
    a = float(np.mean(probits[0]) - b * np.mean(probits[1]))
    total = float(sum(totals))
    below = np.cumsum(positive + negative)[:-1] / total
    share = float(totals[0]) / total
    reach = 40 + 40 / b + abs(a) / b
    low, high = np.full(len(below), -reach), np.full(len(below), reach)
    for _ in range(_START_ROUNDS):
        middle = (low + high) / 2
        less = share * ndtr(b * middle - a) + (1 - share) * ndtr(middle) < below
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return _State(a, b, (low + high) / 2)
