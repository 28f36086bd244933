"""Logistic regression and softmax regression by Newton's method, with parameters that may be bounded below by 0."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats, block_slices
from baserate._numeric.distinct import Codes

_MAX_STEPS = 200
_TOLERANCE = 1e-7
"""Relative size of a step after which only rounding is left: the error squares from step to step."""
_LONGEST_STEP = 64.0
"""Longest step: where the function is flat, only the direction of Newton's step is reliable."""
_MIN_INFORMATION = 1e-200
"""Information that can still be divided by."""
_MIN_EIGENVALUE = 1e-15
"""Least share of information that rounding leaves."""
_FLAT_SHARE = 1e-12
"""Share of the initial information below which a direction is flat, so that no finite maximum exists."""

Derivatives = Callable[[Floats], tuple[Floats, Floats]]
"""From parameters to the slope of the function there, and its curvature, which is positive."""


class Maximum(NamedTuple):
    """Maximum of a concave function."""

    theta: Floats
    at_bound: Bools
    """Which parameters stand at their bound of 0."""
    covariance: Floats
    """Inverse of the curvature; parameters at their bound do not vary."""
    converged: bool
    """Whether a maximum was reached; otherwise this is where Newton's method stopped."""


def maximize_concave(moments: Derivatives, start: Floats, *, bounded: int = 0, level: float | None = None) -> Maximum:
    """Maximize a concave function from a start; the first `bounded` parameters never fall below 0.

    With `level` a maximum is known to exist, and gradients up to this one count as rounding.
    """
    theta = start.copy()
    slope, curve = moments(theta)
    first, converged = curve, False
    for _ in range(_MAX_STEPS):
        if level is None and not _has_curvature(curve, first, ~_find_active(theta, slope, bounded)):
            break
        step = _newton_step(theta, slope, curve, bounded)
        converged = _is_small(step, _TOLERANCE * max(np.abs(theta).max(initial=0.0), 1.0))
        if converged:
            theta = _clip_to_bounds(theta + step, bounded)
        # Where a maximum is known to exist, a slope that is only rounding may still give long steps in flat regions.
        if converged := converged or (level is not None and _is_small(slope, level)):
            break
        theta, slope, curve = _take_step(moments, theta, step, slope, bounded)
    slope, curve = moments(theta)
    active = _find_active(theta, slope, bounded)
    free = np.ix_(~active, ~active)
    covariance = np.zeros_like(curve)
    covariance[free] = _invert_curvature(curve[free])
    return Maximum(theta, active, covariance, converged)


def _take_step(
    moments: Derivatives, theta: Floats, step: Floats, slope: Floats, bounded: int
) -> tuple[Floats, Floats, Floats]:
    """Take a step, shortened where it would leave the bounds or overshoot the maximum along the way."""
    # The gradient decides: near the maximum, differences of the function itself are rounding.
    size = _step_length(theta[:bounded], step[:bounded])
    new = theta
    for _ in range(_MAX_STEPS):
        new = _clip_to_bounds(theta + size * step, bounded)
        next_slope, curve = moments(new)
        if next_slope @ step >= -0.5 * (slope @ step):
            break
        size /= 2
    return new, next_slope, curve


def _step_length(theta: Floats, step: Floats) -> float:
    """Return the fraction of a step at which the first parameter reaches its bound."""
    falling = step < 0
    return float(min(1.0, (theta[falling] / -step[falling]).min(initial=1.0)))


def _clip_to_bounds(theta: Floats, bounded: int) -> Floats:
    """Set parameters to 0 that rounding moved just beside their bound."""
    theta[:bounded] = np.where(theta[:bounded] < _TOLERANCE**2, 0.0, theta[:bounded])
    return theta


def _find_active(theta: Floats, slope: Floats, bounded: int) -> Bools:
    """Find the parameters at their bound that would fall below it."""
    active: Bools = (theta <= 0) & (slope <= 0)
    active[bounded:] = False
    return active


def _has_curvature(curve: Floats, first: Floats, free: Bools) -> bool:
    """Return whether enough information is left in every direction."""
    if not free.any():
        return True
    now, before = curve[np.ix_(free, free)], first[np.ix_(free, free)]
    # Relative to the first curvature, so that units of parameters do not matter.
    try:
        root = np.linalg.inv(np.linalg.cholesky(before))
    except np.linalg.LinAlgError:
        return False
    return bool(np.linalg.eigvalsh(root @ now @ root.T)[0] > _FLAT_SHARE)


def _newton_step(theta: Floats, slope: Floats, curve: Floats, bounded: int) -> Floats:
    """Compute Newton's step of the free parameters; parameters that it would push over their bound stay."""
    active = _find_active(theta, slope, bounded)
    while True:
        step, free = np.zeros(len(slope)), ~active
        step[free] = _invert_curvature(curve[np.ix_(free, free)]) @ slope[free]
        pushed = (theta <= 0) & (step < 0) & (np.arange(len(theta)) < bounded)
        if not pushed.any():
            return step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max(initial=0.0)), _LONGEST_STEP))
        active |= pushed


def _is_small(values: Floats, most: float) -> bool:
    return bool(np.abs(values).max(initial=0.0) <= most)


def _invert_curvature(matrix: Floats) -> Floats:
    """Invert a symmetric matrix; eigenvalues that rounding made flat or negative count as barely positive."""
    # Scaled to a unit diagonal: slopes and intercepts may have very different units.
    scale = np.sqrt(np.maximum(np.diag(matrix), _MIN_INFORMATION))
    bend, axes = np.linalg.eigh(matrix / np.outer(scale, scale))
    inverse = (axes / np.maximum(bend, _MIN_EIGENVALUE)) @ axes.T
    unscaled: Floats = inverse / np.outer(scale, scale)
    return unscaled


PROBABILITY_CLIP = 1e-12
"""Distance from 0 and 1 to which probabilities are clipped before their log-odds are computed."""
_BLOCK = 1 << 14
"""Places that fit the cache."""
_DIVERGED = 1e3
"""Coefficients beyond this show that the fit to pooled data diverged."""
_N_GROUPS = 1 << 12
"""Groups of neighbors in which large data are pooled for a first fit, which saves most steps on the data themselves."""


class LogisticFit(NamedTuple):
    """Log-odds a + b·x with their covariance; arrays for many regressions at once."""

    intercept: Floats
    slope: Floats
    covariance: Floats
    """Of intercept and slope, of shape (…, 2, 2)."""


def fit_logistic(
    x: Floats, hits: Floats, misses: Floats, *, squares: Floats | None = None, start: tuple[float, float] | None = None
) -> LogisticFit:
    r"""Maximize :math:`\sum h\lnσ(a+bx)+m\ln(1-σ(a+bx))` over a and b.

    Hits h and misses m are sums at each x, of shape (m,), or (…, m) for many regressions at once. The covariance is the
    inverse of Fisher's information H; with sums of squared weights q, that of weighted rows, :math:`H^{-1}QH^{-1}`. Of
    many regressions, which show their own spread, it is NaN.
    Where no finite maximum exists, the result is where Newton's method stopped; the caller must check that. It starts
    from a constant, or from a given intercept and slope.
    """
    # Scores of any unit become values in [−1, 1]: otherwise the information may be singular to rounding.
    middle, scale = _center_and_scale(x)
    z = (x - middle) / scale
    if start is not None:
        start = start[0] + start[1] * middle, start[1] * scale
    elif hits.ndim == 1 and len(z) > 4 * _N_GROUPS:
        start = _start_from_groups(z, hits, misses)
    a, b, information = _maximize_line(z, hits, misses, start)
    if hits.ndim > 1:
        return LogisticFit(a - b * middle / scale, b / scale, np.full((*a.shape, 2, 2), np.nan))
    # For many x the last step changes the information by less than matters, and another pass costs a third more.
    inverse = _invert_2x2(information if len(z) > _BLOCK else _line_information(z, hits + misses, a, b))
    back = np.array([[1.0, -middle / scale], [0.0, 1 / scale]])
    # The inverse of a singular matrix is infinite, and its products with 0 are NaN: the variance is then unknown.
    with np.errstate(invalid="ignore", over="ignore"):
        if squares is not None:
            inverse = inverse @ _line_information(z, squares, a, b) @ inverse
        covariance = back @ inverse @ back.T
    return LogisticFit(a - b * middle / scale, b / scale, covariance)


class LogisticBasisFit(NamedTuple):
    """Log-odds Σ bᵢ·fᵢ with their covariance."""

    weights: Floats
    covariance: Floats
    at_bound: Bools
    """Which weights are held at 0, below which they would fall."""
    converged: bool
    """Whether a maximum was reached; otherwise this is where Newton's method stopped."""


def fit_logistic_basis(
    columns: Floats, hits: Floats, misses: Floats, *, squares: Floats | None = None, bounded: int = 0
) -> LogisticBasisFit:
    r"""Maximize the likelihood of `fit_logistic` over weights of functions fᵢ of x, one in each row of `columns`.

    The first weights, as many as are `bounded`, never fall below 0.
    """
    start = np.zeros(len(columns))
    if columns.shape[1] > 4 * _N_GROUPS:
        *means, hit, miss = _group_neighbors([*columns], hits, misses)
        near = fit_logistic_basis(np.stack(means), hit, miss, bounded=bounded)
        start = near.weights if near.converged else start
    optimum = maximize_concave(partial(_basis_derivatives, columns, hits, hits + misses), start, bounded=bounded)
    covariance = optimum.covariance
    if squares is not None:
        _, noise = _basis_derivatives(columns, np.zeros(len(squares)), squares, optimum.theta)
        covariance = covariance @ noise @ covariance
    return LogisticBasisFit(optimum.theta, covariance, optimum.at_bound, optimum.converged)


def fit_intercept(
    offset: Floats, hits: Floats, misses: Floats, *, squares: Floats | None = None
) -> tuple[Floats, Floats]:
    r"""Maximize the likelihood of log-odds :math:`offset+a` over a; return a (±∞ for one class) and its variance."""
    from scipy.special import logit

    total, observed = hits + misses, hits.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = logit(observed / total.sum(axis=-1))
        # Expected hits grow with a; at these ends they are too few and too many. One further, since a root exactly at
        # an end could be approached from one side only.
        low, high = mean - offset.max(initial=-np.inf) - 1, mean - offset.min(initial=np.inf) + 1
        a = np.where(np.isfinite(mean), (low + high) / 2, mean)
        if hits.ndim == 1 and len(offset) > 4 * _N_GROUPS:
            near, hit, miss = _group_neighbors([offset], hits, misses)
            pooled, _ = fit_intercept(near, hit, miss)
            a = pooled if low <= pooled <= high else a
        for _ in range(_MAX_STEPS):
            expected, information = _intercept_moments(offset, total, a)
            gap = observed - expected
            low, high = np.where(gap >= 0, a, low), np.where(gap <= 0, a, high)
            new = a + gap / information
            new = np.where((new >= low) & (new <= high), new, (low + high) / 2)
            unsettled = np.abs(new - a) > _TOLERANCE * np.maximum(np.abs(a), 1.0)
            a = np.where(np.isfinite(mean), new, a)
            if not unsettled.any():
                break
        if len(offset) <= _BLOCK:  # for many offsets the last step changes it by less than matters
            _, information = _intercept_moments(offset, total, a)
        noise = information if squares is None else _intercept_moments(offset, squares, a)[1]
        return a, noise / information**2


def _intercept_moments(offset: Floats, mass: Floats, a: Floats) -> tuple[Floats, Floats]:
    """Return the sums of mass times probability p, and of mass times p·(1 − p), at log-odds offset + a."""
    expected, information = np.zeros(mass.shape[:-1]), np.zeros(mass.shape[:-1])
    for place in block_slices(len(offset), _BLOCK):
        share = _expit_of_negative(-offset[place] - np.asarray(a)[..., None])
        hits = mass[..., place] * share
        expected = expected + hits.sum(axis=-1)
        hits *= np.subtract(1, share, out=share)
        information = information + hits.sum(axis=-1)
    return expected, information


def log_odds(share: Floats) -> Floats:
    """Return the log-odds of probabilities, clipped at `PROBABILITY_CLIP`."""
    within = np.clip(share, PROBABILITY_CLIP, 1 - PROBABILITY_CLIP)
    odds: Floats = within / (1 - within)  # half the time of SciPy's logit; near ½ only the absolute error is as small
    return np.log(odds, out=odds)


def shift_probabilities(share: Floats, shift: float) -> Floats:
    """Return probabilities whose log-odds, clipped as in `log_odds`, are shifted by a number.

    >>> shift_probabilities(np.array([0.5, 0.2]), float(np.log(4))).tolist()
    [0.8, 0.5]
    """
    odds = np.clip(share, PROBABILITY_CLIP, 1 - PROBABILITY_CLIP)
    np.divide(odds, 1 - odds, out=odds)
    odds *= np.exp(shift)  # of one number, not of as many logarithms
    shifted: Floats = np.divide(odds, 1 + odds, out=odds)
    return shifted


def _center_and_scale(x: Floats) -> tuple[float, float]:
    """Return the middle and half the range of x: in these units it lies in [−1, 1]."""
    if not len(x):
        return 0.0, 1.0
    low, high = float(x.min()), float(x.max())
    return (low + high) / 2, (high - low) / 2 or 1.0


def _maximize_line(
    z: Floats, hits: Floats, misses: Floats, start: tuple[float, float] | None
) -> tuple[Floats, Floats, Floats]:
    """Return intercept and slope of the highest likelihood, and the information."""
    total = hits + misses
    if start is None:
        odds = np.log(hits.sum(axis=-1) / misses.sum(axis=-1))
        initial = np.stack([odds, np.zeros_like(odds)], axis=-1)
    else:
        initial = np.broadcast_to(np.array(start), (*hits.shape[:-1], 2))
    coefficients, information = _maximize_batch(partial(_line_newton_step, z, hits, total), initial)
    return coefficients[..., 0], coefficients[..., 1], information


def _start_from_groups(z: Floats, hits: Floats, misses: Floats) -> tuple[float, float] | None:
    """Return the fit to pooled neighbors, or None if it diverged."""
    mean, hit, miss = _group_neighbors([z], hits, misses)
    a, b, _ = _maximize_line(mean, hit, miss, None)
    return (float(a), float(b)) if _is_usable_start(np.array([a, b])) else None


def _is_usable_start(start: Floats) -> bool:
    """Return whether a fit to pooled data is a usable start; pooled data may be separable where the data are not."""
    return bool((np.abs(start) < _DIVERGED).all())


def _group_neighbors(columns: list[Floats], hits: Floats, misses: Floats) -> tuple[Floats, ...]:
    """Return columns in the middle of neighbors, which is near their mean, and sums of their hits and misses."""
    size = -(-len(hits) // _N_GROUPS)
    starts = np.arange(0, len(hits), size)
    middle = np.minimum(starts + size // 2, len(hits) - 1)
    hit, miss = (np.add.reduceat(each, starts) for each in (hits, misses))
    nonempty = hit + miss > 0
    return (*(column[middle[nonempty]] for column in columns), hit[nonempty], miss[nonempty])


NewtonStep = Callable[[Floats], tuple[Floats, Floats, Floats]]
"""Newton's step from somewhere, the slope of the likelihood there, and the information."""


def _maximize_batch(moments: NewtonStep, coefficients: Floats) -> tuple[Floats, Floats]:
    """Return coefficients where the gradient is 0, and the information one step before."""
    step, uphill, information = moments(coefficients)
    for _ in range(_MAX_STEPS):
        unsettled = np.abs(step).max(axis=-1) > _TOLERANCE * np.maximum(np.abs(coefficients).max(axis=-1), 1.0)
        if not unsettled.any():
            break
        size = np.ones(coefficients.shape[:-1])
        for _ in range(_MAX_STEPS):
            new = coefficients + size[..., None] * step
            next_step, slope, information = moments(new)
            # The likelihood is concave: a slope that is more negative at the end than half the initial one overshot.
            behind = (slope * step).sum(axis=-1) < -0.5 * (uphill * step).sum(axis=-1)
            if not behind.any():
                break
            size = np.where(behind, size / 2, size)
        coefficients, step, uphill = new, next_step, slope
    return coefficients + step, information


def _basis_derivatives(columns: Floats, hits: Floats, total: Floats, coefficients: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of the likelihood, and the information."""

    def sums(place: slice) -> tuple[Floats, Floats]:
        block = columns[:, place]
        share = _expit_of_negative(np.einsum("im,i->m", block, -coefficients))
        expected = total[place] * share
        slope = np.einsum("im,m->i", block, hits[place] - expected)
        np.multiply(expected, np.subtract(1, share, out=share), out=expected)
        return slope, np.einsum("im,jm->ij", block * expected, block)

    parts = [sums(place) for place in block_slices(len(hits), _BLOCK)]
    slope, information = (np.sum([part[at] for part in parts], axis=0) for at in range(2))
    return slope, information


def _line_newton_step(z: Floats, hits: Floats, total: Floats, coefficients: Floats) -> tuple[Floats, Floats, Floats]:
    blocks = block_slices(len(z), _BLOCK)
    parts = [_line_sums(z[place], hits[..., place], total[..., place], coefficients) for place in blocks]
    sums = np.sum(parts, axis=0) if parts else np.zeros((5, *hits.shape[:-1]))
    slope = np.stack([sums[0], sums[1]], axis=-1)
    information = _moment_matrix(sums[2:])
    with np.errstate(invalid="ignore", over="ignore"):
        step = (_invert_2x2(information) @ slope[..., None])[..., 0]
    # Where all probabilities are 0 or 1 there is no curvature, so no step.
    return np.where(np.isfinite(step), step, 0.0), slope, information


def _line_sums(z: Floats, hits: Floats, total: Floats, coefficients: Floats) -> Floats:
    """Return moments 0 and 1 of the gaps, and 0 to 2 of the curvature."""
    share = logistic_probability(coefficients[..., 0], coefficients[..., 1], z)
    expected = total * share
    gap = hits - expected
    np.multiply(expected, np.subtract(1, share, out=share), out=expected)
    return np.stack([*_power_moments(z, gap, 1), *_power_moments(z, expected, 2)])


def _power_moments(z: Floats, weight: Floats, most: int) -> list[Floats]:
    """Sum weights times powers of z; not by BLAS, whose threads wait for each other on a busy machine."""
    sums = [weight.sum(axis=-1)]
    power = z
    for _ in range(most):
        sums.append(np.einsum("...m,m->...", weight, power))
        power = power * z
    return sums


def logistic_probability(a: Floats, b: Floats, z: Floats) -> Floats:
    """Return probabilities with log-odds a + b·z; in place, and not by SciPy, which takes three times as long."""
    negative: Floats = -b[..., None] * z
    negative -= a[..., None]
    return _expit_of_negative(negative)


def _expit_of_negative(x: Floats) -> Floats:
    """Return 1/(1 + eˣ) in place."""
    # From 709 on the exponential overflows to infinity, whose reciprocal is the right 0.
    with np.errstate(over="ignore"):
        np.exp(x, out=x)
    x += 1
    return np.reciprocal(x, out=x)


def _line_information(z: Floats, mass: Floats, a: Floats, b: Floats) -> Floats:
    """Return the information of these masses about intercept and slope."""

    def sums(place: slice) -> Floats:
        share = logistic_probability(a, b, z[place])
        return np.stack(_power_moments(z[place], mass[place] * share * (1 - share), 2))

    parts = [sums(place) for place in block_slices(len(z), _BLOCK)]
    return _moment_matrix(np.sum(parts, axis=0) if parts else np.zeros(3))


def _moment_matrix(moments: Floats) -> Floats:
    """Return moments 0 to 2 as matrices."""
    return np.stack([np.stack([*moments[:2]], axis=-1), np.stack([*moments[1:]], axis=-1)], axis=-2)


def _invert_2x2(matrix: Floats) -> Floats:
    """Invert symmetric matrices of two rows; the result is not finite where they are singular."""
    # By hand: for thousands of matrices at once that is faster than LAPACK, and a singular one does not raise.
    p, q, r = matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 1, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1 / (p * r - q * q)
        return np.stack([np.stack([r, -q], axis=-1), np.stack([-q, p], axis=-1)], axis=-2) * scale[..., None, None]


_SOFTMAX_BLOCK = 1 << 17
"""Numbers of a block; larger ones would leave the cache."""
_GRADIENT_ROUNDING = 1e-13
"""Slope of the likelihood of a row, on average, that is rounding."""


class SoftmaxData(NamedTuple):
    """Data of a softmax regression: x of every class, the observed class, and the weight of each row."""

    x: Floats
    truth: Codes
    amount: Floats | None = None
    squares: Floats | None = None
    """Squared weights, if the rows are weighted."""


class SoftmaxModel(NamedTuple):
    """Weights and biases as (w, b) = base + space·θ; the first of θ, as many as `bounded`, never fall below 0."""

    base: Floats
    space: Floats
    start: Floats
    bounded: int = 0
    coercive: bool = False
    """Whether a maximum is known to exist."""


class SoftmaxFit(NamedTuple):
    """Where the likelihood is greatest."""

    parameters: Floats
    """All weights, then all biases."""
    covariance: Floats
    theta: Floats
    at_bound: Bools
    """Which of θ stand at their bound of 0."""
    converged: bool
    """Whether a maximum was reached; otherwise this is where Newton's method stopped."""


def fit_softmax(rows: SoftmaxData, model: SoftmaxModel) -> SoftmaxFit:
    r"""Maximize :math:`\sum_i a_i\ln\mathrm{softmax}(w∘x_i+b)_{y_i}` over θ.

    The covariance is the inverse of Fisher's information H; with squared weights, that of weighted rows,
    :math:`H^{-1}QH^{-1}`. Parameters at their bound, and what was given in `base`, do not vary.
    """
    level = _GRADIENT_ROUNDING * _total_weight(rows) if model.coercive else None
    optimum = maximize_concave(
        partial(_softmax_derivatives, rows, model), model.start, bounded=model.bounded, level=level
    )
    inverse = optimum.covariance
    if rows.squares is not None:
        inverse = inverse @ softmax_information(rows, model, optimum.theta, squared=True) @ inverse
    covariance = model.space @ inverse @ model.space.T
    return SoftmaxFit(
        model.base + model.space @ optimum.theta, covariance, optimum.theta, optimum.at_bound, optimum.converged
    )


def softmax_information(rows: SoftmaxData, model: SoftmaxModel, at: Floats, *, squared: bool = False) -> Floats:
    """Return Fisher's information about θ; with squared amounts, the variance of the gradient."""
    return _softmax_derivatives(rows._replace(amount=rows.squares) if squared else rows, model, at)[1]


def softmax_gradient(rows: SoftmaxData, model: SoftmaxModel, at: Floats) -> Floats:
    """Return the gradient of the log-likelihood by θ."""
    return _softmax_derivatives(rows, model, at)[0]


def is_identified(curve: Floats, *, least: float = 1e-11) -> bool:
    """Return whether an information matrix has full rank, whatever the units of its rows."""
    if not (np.diag(curve) > 0).all():
        return False
    scale = np.sqrt(np.diag(curve))
    return bool(np.linalg.eigvalsh(curve / np.outer(scale, scale))[0] > least)


def _total_weight(rows: SoftmaxData) -> float:
    return float(len(rows.x) if rows.amount is None else rows.amount.sum())


def _softmax_derivatives(rows: SoftmaxData, model: SoftmaxModel, theta: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of the likelihood and the information, with respect to θ."""
    width = rows.x.shape[1]
    both = model.base + model.space @ theta
    blocks = block_slices(len(rows.x), max(_SOFTMAX_BLOCK // width, 1))
    # One after the other: BLAS starts threads of its own, which would wait for ours.
    parts = [_softmax_sums(rows, place, both[:width], both[width:]) for place in blocks]
    slope, cross, square = (np.sum([part[at] for part in parts], axis=0) for at in range(3))
    curve = _full_information(cross, square)
    return model.space.T @ slope, model.space.T @ curve @ model.space


def _softmax_sums(rows: SoftmaxData, place: slice, weight: Floats, bias: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the gradient of all weights and biases, and sums of products of probabilities with x², x, 1 and x·x."""
    x = rows.x[place]
    share = softmax(x * weight + bias)
    own = share if rows.amount is None else share * rows.amount[place, None]
    times = x * own
    truth, at = rows.truth[place], np.arange(len(x))
    amount = 1.0 if rows.amount is None else rows.amount[place]
    slope = -np.concatenate([times.sum(axis=0), own.sum(axis=0)])
    slope += np.bincount(truth, weights=x[at, truth] * amount, minlength=2 * x.shape[1])
    amounts = np.broadcast_to(amount, len(x))
    slope[x.shape[1] :] += np.bincount(truth, weights=amounts, minlength=x.shape[1])
    return slope, np.concatenate([(x * times).T @ share, times.T @ share, own.T @ share]), times.T @ (x * share)


def _full_information(cross: Floats, square: Floats) -> Floats:
    """Return the information about all weights and biases.

    Probabilities of a row add up to 1, so that p(1 − p), on the diagonal, is the sum of the products with the other
    classes. Computed as that sum, it keeps all digits where one class is almost certain.
    """
    width = len(square)
    is_diagonal = np.eye(width, dtype=bool)
    aside = np.where(np.tile(is_diagonal, (3, 1)), 0.0, cross).reshape(3, width, width)
    diagonal = aside.sum(axis=2)
    weights = np.where(is_diagonal, diagonal[0], -square)
    mixed = np.where(is_diagonal, diagonal[1], -aside[1])
    biases = np.where(is_diagonal, diagonal[2], -aside[2])
    matrix: Floats = np.block([[weights, mixed], [mixed.T, biases]])
    return (matrix + matrix.T) / 2


def fit_biases(rows: SoftmaxData, *, sweeps: int) -> Floats:
    r"""Fit biases so that the mean probability of each class nears its share: :math:`b_k+=\ln(y_k/q_k)`.

    Sinkhorn iterations leave flat regions at once but converge slowly: a start for Newton's method.
    """
    width = rows.x.shape[1]
    amount = np.ones(len(rows.x)) if rows.amount is None else rows.amount
    target = np.bincount(rows.truth, weights=amount, minlength=width)
    bias = np.zeros(width)
    for _ in range(sweeps):
        # The smallest float in place of 0, where a probability underflows.
        bias += np.log(target / np.maximum(amount @ softmax(rows.x + bias), np.finfo(np.float64).tiny))
    bias -= bias.mean()
    return bias


def softmax(z: Floats) -> Floats:
    """Compute the softmax of each row in place."""
    # The largest exponent becomes 0, so that nothing overflows.
    z -= z.max(axis=1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=1, keepdims=True)
    return z
