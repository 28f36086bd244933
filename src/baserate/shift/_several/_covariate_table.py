"""The expected table under covariate shift: recalibrated probabilities, corrected by their errors in validation."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats
from baserate._errors import FitError
from baserate._numeric.codes import Codes
from baserate.infer import two_sided
from baserate.shift._several._expected import Expected, products, quadratic, tabulated
from baserate.shift._several._mlls import Fit
from baserate.shift._several._pair import Pair

_EACH = 10
"""Validation rows for each function of the scores in a regression."""
_FLAT = 1e-9
"""Eigenvalue, beside the largest, below which a function is a sum of others."""
_OUTSIDE = 0.1
"""Share of the target's rows that may lie where validation has none."""
_NEARLY = 1e-6
"""Least share of a row's residual that its own regression leaves, so that it can be divided by."""


def under_covariate_shift(pair: Pair, fit: Fit, *, level: float) -> Expected:
    r"""Expect of each row the recalibrated probability m, and of rows like it the mean error of m in validation.

    Among the rows with the same decision, errors y − m of validation are regressed on functions b of the scores (1, m,
    √m and m² of each class, as far as there are rows for them), and the target gets :math:`m+b^⊤β`. It is right if
    either the errors or the ratio of the two densities is a sum of the functions, and nearly so if both almost are: a
    generalized regression estimator, doubly robust [@deville1992]. Each validation row moves a cell by its
    weight :math:`\bar b^⊤(\sum bb^⊤)^{-1}b_i` times its residual over 1 − leverage (jackknife, HC3 [@mackinnon1985]).
    Refused where more than a tenth of the target lies outside of the scores of validation.
    """
    plain = (fit.across * fit.at[:, None]).T
    plain /= plain.sum(axis=1, keepdims=True)
    side, width = pair.target, len(pair.labels)
    mass = np.ones(len(plain)) if side.amount is None else side.amount
    rows = side.as_rows().decision(), mass
    p, errors = plain, np.zeros((width, width, width))
    if fit.line is not None:  # else probabilities are taken as they are
        p, errors = _corrected(pair, fit, plain, rows)
    sums = products(p, rows[0], mass if side.squares is None else side.squares, width)

    def variances(slopes: Floats) -> tuple[float, float]:
        return quadratic(slopes, sums), quadratic(slopes, errors)

    notes = (*_misfit(p - plain, rows, errors, level=level),)
    return Expected(np.maximum(tabulated(p, *rows, width), 0.0), variances, notes)


def _corrected(pair: Pair, fit: Fit, plain: Floats, rows: tuple[Codes, Floats]) -> tuple[Floats, Floats]:
    """Add the regressed errors to probabilities; return also the covariance of their sums by decision."""
    (decided, mass), width = rows, len(pair.labels)
    old = pair.validation.as_rows().decision()
    p, errors = np.empty(plain.shape), np.zeros((width, width, width))
    for region in _regions(old, decided, width):
        part = _Region.of(pair, fit, np.flatnonzero(np.isin(old, region)))
        there = np.flatnonzero(np.isin(decided, region))
        b = _functions(plain[there], part.kind)
        part.check_support(b, mass[there])
        p[there] = plain[there] + b @ part.slopes
        for at in region:
            own = decided[there] == at
            errors[at] = part.squared(mass[there][own] @ b[own])
    return p, errors


def _regions(old: Codes, new: Codes, width: int) -> Iterator[list[int]]:
    """Decisions whose rows are regressed together: each alone, if validation has enough rows of it."""
    rows = np.bincount(old, minlength=width)
    enough = rows >= _EACH * width
    few = np.flatnonzero(~enough)
    alone = [[int(at)] for at in np.flatnonzero(enough)]
    if rows[few].sum() >= _EACH * width or not alone:
        alone.append(few.tolist())
    else:
        alone[int(np.argmin(rows[enough]))].extend(few.tolist())
    yield from (each for each in alone if np.isin(new, each).any())


class _Region(NamedTuple):
    """A regression of the errors of some validation rows."""

    kind: int
    inner: Floats
    """Inverse of the products of the functions, in the directions that are not sums of others."""
    slopes: Floats
    rows: Floats
    residual: Floats
    """Errors that are left, over 1 − leverage, times the root of squared weights."""
    leverage: Floats

    @staticmethod
    def of(pair: Pair, fit: Fit, there: Cells) -> _Region:
        """Regress errors of these rows on functions of their probabilities."""
        width = len(pair.labels)
        side = pair.validation.part(there)
        amount = np.ones(len(there)) if side.amount is None else side.amount
        squares = amount if side.squares is None else side.squares
        right = fit.right[there]
        kind = int(np.clip(len(there) // (_EACH * width), 0, 3))
        whole = _functions(right, kind)
        size, axes = np.linalg.eigh((whole * amount[:, None]).T @ whole)
        sure = size > _FLAT * size[-1]
        inner = np.asarray((axes[:, sure] / size[sure]) @ axes[:, sure].T)
        error = np.eye(width)[pair.truth[there]] - right
        slopes = inner @ (whole * amount[:, None]).T @ error
        each = np.einsum("ij,ij->i", whole @ inner, whole)
        own = each * squares / amount  # of a single row, where some are counted together
        residual = (error - whole @ slopes) * (np.sqrt(squares) / np.maximum(1 - own, _NEARLY))[:, None]
        return _Region(kind, inner, slopes, whole, residual, each)

    def squared(self, total: Floats) -> Floats:
        """Covariance of what the regression adds up to, of each class, at a sum of functions."""
        moved = self.residual * (self.rows @ (self.inner @ total))[:, None]
        return np.asarray(moved.T @ moved)

    def check_support(self, b: Floats, mass: Floats) -> None:
        """Refuse a target much of which lies where validation has no rows."""
        far = np.einsum("ij,ij->i", b @ self.inner, b) > self.leverage.max() * (1 + _NEARLY)
        share = float(mass[far].sum() / mass.sum())
        if share > max(_OUTSIDE, 2 * b.shape[1] / len(self.rows)):
            raise FitError(
                f"{share:.0%} of some decisions of the target have scores where validation has none, so that nobody "
                "knows how right they are; give validation rows with such scores."
            )


def _functions(p: Floats, kind: int) -> Floats:
    """Return a constant, and with more rows the probabilities, their roots and their squares."""
    columns = [np.ones((len(p), 1)), p, np.sqrt(np.maximum(p, 0.0)), p * p]
    return np.concatenate(columns[: kind + 1], axis=1)


def _misfit(change: Floats, rows: tuple[Codes, Floats], errors: Floats, *, level: float) -> Iterator[str]:
    """Say if the correction of the expected accuracy is more than chance."""
    decided, mass = rows
    gap = float(mass @ change[np.arange(len(change)), decided]) / float(mass.sum())
    error = sqrt(quadratic(np.eye(change.shape[1]), errors)) / float(mass.sum())
    if abs(gap) > two_sided(level) * error:
        yield (
            "the calibration curve does not fit in validation: the correction by its errors there changes the expected "
            f"accuracy by {gap:+.3g} (standard error {error:.2g})."
        )
