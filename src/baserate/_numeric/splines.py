"""Penalized cubic regression splines, whose smoothness generalized cross-validation chooses."""

from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats

_LOG_PENALTIES = np.linspace(-25.0, 40.0, 651)
"""Logarithms of the searched penalties, relative to the largest one that changes the fit."""


class SplineFit(NamedTuple):
    """A smooth fit at each x, and its effective degrees of freedom."""

    fitted: Floats
    freedom: float


def fit_regression_spline(x: Floats, y: Floats, *, knots: int = 10) -> SplineFit:
    r"""Fit a natural cubic spline with few knots, penalized by :math:`\int f''^2` [@wood2017, section 5.3].

    The penalty minimizes the criterion of generalized cross-validation, :math:`n\,RSS/(n-edf)^2`. Knots are equally
    spaced quantiles of x. `x` increases strictly, and has at least four values.

    >>> x = np.linspace(0, 1, 20)
    >>> fit = fit_regression_spline(x, 2 - x)
    >>> bool(np.allclose(fit.fitted, 2 - x)), round(fit.freedom, 3)
    (True, 2.0)
    """
    place = np.quantile(x, np.linspace(0, 1, min(knots, len(x))))
    curvature = _curvature(place)
    design = _design(x, place, curvature)
    gaps = np.diff(place)
    penalty = _second_differences(gaps).T @ curvature[1:-1]
    orthonormal, upper = np.linalg.qr(design)
    rotated = np.linalg.solve(upper.T, np.linalg.solve(upper.T, (penalty + penalty.T) / 2).T)
    roughness, vectors = np.linalg.eigh((rotated + rotated.T) / 2)
    roughness = np.maximum(roughness, 0.0)
    roughness[:2] = 0.0  # constants and lines have no curvature
    basis = orthonormal @ vectors
    parts = basis.T @ y
    # What no spline with these knots can fit adds to the residuals whatever the penalty.
    left = float(np.sum((y - basis @ parts) ** 2)) + (_ROUNDING * float(np.linalg.norm(y))) ** 2
    penalties = np.exp(_LOG_PENALTIES)[:, None] / max(float(roughness[-1]), np.finfo(float).tiny)
    kept = 1 / (1 + penalties * roughness)
    freedom = kept.sum(axis=1)
    residual = left + ((1 - kept) ** 2) @ parts**2
    with np.errstate(divide="ignore", invalid="ignore"):
        criterion = len(x) * residual / (len(x) - freedom) ** 2
    # A spline through all points has neither residuals nor degrees of freedom left. Of equals the smoothest is best.
    best = -1 - int(np.argmin(np.where(freedom < len(x) - _SPARE, criterion, np.inf)[::-1]))
    return SplineFit(basis @ (kept[best] * parts), float(freedom[best]))


_SPARE = 1e-6
"""Least degrees of freedom that a fit leaves."""
_ROUNDING = 1e-10
"""Relative size of residuals that are rounding."""


def _second_differences(gaps: Floats) -> Floats:
    """Return the matrix from values at knots to the changes of slope at inner knots."""
    n = len(gaps) + 1
    matrix = np.zeros((n - 2, n))
    inner = np.arange(n - 2)
    matrix[inner, inner] = 1 / gaps[:-1]
    matrix[inner, inner + 1] = -1 / gaps[:-1] - 1 / gaps[1:]
    matrix[inner, inner + 2] = 1 / gaps[1:]
    return matrix


def _curvature(place: Floats) -> Floats:
    """Return the matrix from values of a natural spline at its knots to its second derivatives there."""
    gaps = np.diff(place)
    n = len(place)
    band = np.diag((gaps[:-1] + gaps[1:]) / 3) + np.diag(gaps[1:-1] / 6, 1) + np.diag(gaps[1:-1] / 6, -1)
    curvature = np.zeros((n, n))
    curvature[1:-1] = np.linalg.solve(band, _second_differences(gaps))
    return curvature


def _design(x: Floats, place: Floats, curvature: Floats) -> Floats:
    """Return the matrix from values at the knots to values at each x."""
    cell = np.clip(np.searchsorted(place, x, side="right") - 1, 0, len(place) - 2)
    gap = np.diff(place)[cell]
    left, right = (place[cell + 1] - x) / gap, (x - place[cell]) / gap
    bend_left, bend_right = (left**3 - left) * gap**2 / 6, (right**3 - right) * gap**2 / 6
    matrix: Floats = bend_left[:, None] * curvature[cell] + bend_right[:, None] * curvature[cell + 1]
    rows = np.arange(len(x))
    matrix[rows, cell] += left
    matrix[rows, cell + 1] += right
    return matrix
