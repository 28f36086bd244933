"""Proportions on the simplex: projection, least squares, and maximum likelihood of mixtures."""

from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Cells, Floats, Reals, block_slices

_BLOCK = 1 << 15
"""Numbers of a block; larger ones would leave the cache."""
_MAX_STEPS = 200
_STEP_TOLERANCE = 1e-8
"""Relative size of a step of Newton's method after which only rounding is left: the error squares from step to step."""
_SLOPE_ROUNDING = 1e-14
"""Slope per row that is rounding; in a flat region it may still give a long step."""
_STALL_SLOPE = 1e-12
"""Slope per row below which the search ends as soon as a step does not halve it."""
_KKT_TOLERANCE = 1e-9
"""Slope per row up to which a point counts as the maximum."""
_LEAST_SHARE = 1e-7
"""Share below which the minimum of a Hellinger distance is at 0."""
_RIDGE = 1e-14
"""Relative curvature that is added, so that flat directions have a finite step."""
_SUBSAMPLE = 1 << 13
"""Rows of an even subsample that gives the start for large data."""


class MixtureFit(NamedTuple):
    """Maximum of the likelihood of a mixture."""

    q: Floats
    slope: Floats
    """Gradient of the likelihood, less the multiplier of the sum constraint: 0, or below 0 where q is 0."""
    information: Floats
    """Curvature of the likelihood; `shares_covariance` inverts it."""
    converged: bool
    """Whether the Karush–Kuhn–Tucker conditions hold."""


def project_to_simplex(y: Floats) -> Floats:
    r"""Return the nearest point of the simplex, :math:`\max(y+λ,0)` with the λ that makes it add up to 1 [@duchi2008].

    >>> project_to_simplex(np.array([-0.5, 1.0, 0.25])).tolist()
    [0.0, 0.875, 0.125]
    """
    down = np.sort(y)[::-1]
    lift = (1 - np.cumsum(down)) / np.arange(1, len(y) + 1)
    point: Floats = np.maximum(y + lift[np.flatnonzero(down + lift > 0)[-1]], 0.0)
    point /= point.sum()
    return point


def fit_least_squares(c: Floats, o: Floats) -> Floats:
    r"""Solve least squares on the simplex, :math:`\arg\min_q‖Cq-o‖`, exactly.

    As :math:`Cq-o=(C-o1^⊤)q=Dq`, it is the ray on which :math:`‖Dy‖^2+(1^⊤y-1)^2`, y ≥ 0, is least: along a ray of
    the simplex the minimum is m/(1+m), with m = ‖Dq‖². So nonnegative least squares solves it without a penalty weight
    for the sum constraint.

    >>> c = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.7]])
    >>> fit_least_squares(c, np.array([0.05, 0.75, 0.2])).round(12).tolist()
    [0.0, 0.875, 0.125]
    """
    from scipy.optimize import nnls

    stacked = np.vstack([c - o[:, None], np.ones(c.shape[1])])
    shares: Floats = nnls(stacked, np.append(np.zeros(len(o)), 1.0))[0]
    shares /= shares.sum()
    return shares


def fit_likelihood(c: Floats, o: Floats, *, prior: float | Floats = 0.0) -> MixtureFit:
    r"""Maximize :math:`\sum_k o_k\ln(Cq)_k+\sum_k prior_k\ln q_k` on the simplex: the same problem as `fit_mixture`.

    >>> c = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.7]])
    >>> fit_likelihood(c, np.array([0.05, 0.75, 0.2])).q.round(5).tolist()
    [0.0, 0.85088, 0.14912]
    """
    fixed = np.broadcast_to(np.asarray(prior, dtype=np.float64), c.shape[1])
    return fit_mixture(c, amount=o, fixed=fixed)


def fit_regularized(j: Floats, o: Floats, o_val: Floats, *, penalty: float) -> Floats:
    r"""Minimize :math:`‖Jθ-(o-o_{val})‖+penalty·‖θ‖` with θ ≥ −1, exactly.

    Neither norm is squared. The ridge solution θ(τ), with the least :math:`‖Jθ-b‖^2+τ‖θ‖^2`, b = o − o_val, solves the
    problem for the penalty τ‖θ‖/‖Jθ−b‖, which rises with τ. If it exceeds the penalty for any τ, the minimum is at the
    kink, where the first norm is least: τ = 0.

    >>> fit_regularized(np.diag([0.5, 0.5]), np.array([0.6, 0.4]), np.array([0.5, 0.5]), penalty=0.1).round(9).tolist()
    [0.2, -0.2]
    """
    from scipy.optimize import brentq

    b, scale = o - o_val, float(np.square(j).sum())

    def excess(log_tau: float) -> float:
        theta = _solve_ridge(j, b, scale * np.exp(log_tau))
        return float(np.exp(log_tau) * scale * np.linalg.norm(theta) - penalty * np.linalg.norm(j @ theta - b))

    low, high = np.log(_RIDGE), -np.log(_RIDGE)
    # From θ = 0 the first norm falls by at most ‖Jᵀb‖/‖b‖ per unit: a greater penalty keeps θ at 0.
    if np.linalg.norm(j.T @ b) <= penalty * np.linalg.norm(b) or excess(high) <= 0:
        return np.zeros(j.shape[1])
    if excess(low) >= 0:
        return _solve_ridge(j, b, 0.0)
    return _solve_ridge(j, b, scale * float(np.exp(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))))


def fit_mixture(a: Reals, *, amount: Cells | None = None, fixed: Floats | None = None) -> MixtureFit:
    r"""Maximize :math:`\sum_j m_j\ln\sum_kq_ka_{jk}+\sum_kf_k\ln q_k` over the simplex; m is `amount`, f `fixed`.

    The maximum over q ≥ 0 of the same function less N·Σq, N = Σm + Σf, has Σq = 1 without a constraint. The function
    is concave, and is maximized by sequential quadratic programming [@kim2020]: each step maximizes a parabola, so that
    any number of shares may leave or reach 0 at once. A share at its bound is exactly 0. Every row needs a class with a
    positive likelihood.

    >>> fit = fit_mixture(np.array([[2.0, 0.5], [0.5, 2.0], [0.5, 2.0]]))
    >>> fit.q.round(9).tolist(), fit.converged
    ([0.222222222, 0.777777778], True)
    """
    nonempty = None if amount is None else np.flatnonzero(amount)
    across = np.ascontiguousarray(a.T if nonempty is None else a[nonempty].T, dtype=np.float64)
    prior = np.zeros(len(across)) if fixed is None else np.asarray(fixed, dtype=np.float64)
    mass = None if amount is None or nonempty is None else amount[nonempty].astype(np.float64)
    q = np.full(len(across), 1 / len(across))
    if across.shape[1] > 8 * _SUBSAMPLE:
        every = slice(None, None, across.shape[1] // _SUBSAMPLE)
        near = _maximize(across[:, every], None if mass is None else mass[every], prior * 0, q)
        q = 0.99 * near.q + 0.01 * q  # inside the simplex, where every row has a positive likelihood
    return _maximize(across, mass, prior, q)


def fit_nonnegative(b: Floats, a: Floats) -> Floats:
    r"""Maximize :math:`a^⊤y-\frac12y^⊤By` over y ≥ 0; B is positive definite.

    >>> fit_nonnegative(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 1.0])).round(9).tolist()
    [1.5, 0.0]
    """
    from scipy.optimize import nnls

    root = np.linalg.cholesky(b)
    y: Floats = nnls(root.T, np.linalg.solve(root, a))[0]
    return y


def fit_hellinger(a: Floats, target: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    r"""Minimize :math:`\sum_jw_j(\sqrt{\sum_ky_ka_{jk}}-\sqrt{t_j})^2` over y ≥ 0.

    Return the minimum, and there the curvature and the slope of half of the negative sum.

    >>> a = np.array([[2.0, 1.0], [0.5, 2.0], [1.0, 1.0]])
    >>> fit_hellinger(a, a @ [0.3, 0.7], np.ones(3))[0].round(9).tolist()
    [0.3, 0.7]
    """
    y = np.full(a.shape[1], 1 / a.shape[1])
    for _ in range(_MAX_STEPS):
        mixed = a @ y
        root = np.sqrt(target / mixed)
        slope, curve = (weight * (root - 1)) @ a, (a * (weight * root / mixed / 2)[:, None]).T @ a
        # The slope is infinite at 0, where no parabola is near the sum: one step reduces a share to a tenth at most.
        step = np.maximum(_maximize_parabola(slope, curve, y), 0.1 * y) - y
        before = _hellinger(mixed, target, weight) * (1 + _SLOPE_ROUNDING)
        size = 1.0
        while size > _STEP_TOLERANCE and _hellinger(a @ (y + size * step), target, weight) > before:
            size /= 2
        y = y + size * step
        if np.abs(step).max() <= _STEP_TOLERANCE * y.max():
            break
    return np.where(y <= _LEAST_SHARE * y.sum(), 0.0, y), curve, slope


def _hellinger(mixed: Floats, target: Floats, weight: Floats) -> float:
    return float(weight @ (np.sqrt(mixed) - np.sqrt(target)) ** 2)


def shares_covariance(information: Floats) -> Floats:
    """Invert the information of proportions that sum to 1, as if none were at its bound.

    >>> shares_covariance(np.diag([4.0, 4.0])).tolist()
    [[0.125, -0.125], [-0.125, 0.125]]
    """
    z = contrasts(len(information))
    inner = z.T @ information @ z
    # A pseudo-inverse: the shares of two classes with equal likelihoods are not identified.
    covariance: Floats = z @ np.linalg.pinv(inner, rcond=_RIDGE, hermitian=True) @ z.T
    return covariance


def contrasts(width: int) -> Floats:
    """Return an orthonormal basis of the directions in which the sum of proportions does not change.

    >>> contrasts(2).round(4).tolist()
    [[0.7071], [-0.7071]]
    """
    directions = np.zeros((width, width - 1))
    for at in range(1, width):
        directions[:at, at - 1], directions[at, at - 1] = 1.0, -at
    directions /= np.sqrt(np.square(directions).sum(axis=0))
    return directions


def mixture_moments(across: Floats, q: Floats, amount: Floats | None = None) -> tuple[Floats, Floats]:
    r"""Sum :math:`b_j=a_j/(a_j·q)` and of its products :math:`b_jb_j^⊤`; `across` has a column for each row."""
    slope, curve = np.zeros(len(across)), np.zeros((len(across), len(across)))
    # After too long a step a row may have likelihood 0; the caller checks for infinite sums.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for place in block_slices(across.shape[1], max(_BLOCK // len(across), 1)):
            part = across[:, place]
            share = part / (q @ part)
            times = share if amount is None else share * amount[place]
            slope += times.sum(axis=1)
            curve += times @ share.T
    return slope, curve


def _maximize(across: Floats, amount: Floats | None, prior: Floats, q: Floats) -> MixtureFit:
    """Maximize from an interior point until the Karush–Kuhn–Tucker conditions hold."""
    total = float((across.shape[1] if amount is None else amount.sum()) + prior.sum())
    slope, curve = _derivatives(across, amount, prior, q, total)
    last = np.inf
    for _ in range(_MAX_STEPS):
        violation = _kkt_violation(q, slope)
        # Only rounding is left, or in a flat region steps no longer reduce the violation.
        if violation <= _SLOPE_ROUNDING * total or (violation <= _STALL_SLOPE * total and violation > last / 2):
            break
        last = violation
        # The share of a class with a prior is above 0, and one step reduces it to a hundredth at most.
        step = np.maximum(_maximize_parabola(slope, curve, q), np.where(prior > 0, 0.01 * q, 0.0)) - q
        converged = bool((np.abs(step) <= _STEP_TOLERANCE * q).all())
        size = 1.0
        for _ in range(_MAX_STEPS):
            new = np.maximum(q + size * step, 0.0)
            new /= new.sum()
            after = _derivatives(across, amount, prior, new, total)
            # A step may pass the maximum, but not fall half as steeply as it rose; an impossible row gives infinities.
            if np.isfinite(after[1]).all() and (converged or after[0] @ step >= -0.5 * (slope @ step)):
                break
            size /= 2
        q, (slope, curve) = new, after
        if converged:
            break
    return MixtureFit(q, slope, curve, _kkt_violation(q, slope) <= _KKT_TOLERANCE * total)


def _derivatives(
    across: Floats, amount: Floats | None, prior: Floats, q: Floats, total: float
) -> tuple[Floats, Floats]:
    """Return the gradient of the log-likelihood less the total, and the curvature."""
    slope, curve = mixture_moments(across, q, amount)
    positive = prior > 0
    with np.errstate(divide="ignore"):
        slope[positive] += prior[positive] / q[positive]
        curve[positive, positive] += prior[positive] / np.square(q[positive])
    return slope - total, curve


def _kkt_violation(q: Floats, slope: Floats) -> float:
    """Return how far the Karush–Kuhn–Tucker conditions are violated."""
    return float(np.where(q > 0, np.abs(slope), slope).max())


def _maximize_parabola(slope: Floats, curve: Floats, start: Floats) -> Floats:
    r"""Maximize the parabola :math:`s^⊤(y-q)-\frac12(y-q)^⊤H(y-q)` over y ≥ 0, by an active set, starting at q."""
    h = curve + np.diag(_RIDGE * np.diag(curve).max() + _RIDGE * np.diag(curve))
    b, y = slope + h @ start, start.copy()
    free: Bools = y > 0
    for _ in range(_MAX_STEPS * len(y)):
        best = np.zeros(len(y))
        best[free] = np.linalg.solve(h[np.ix_(free, free)], b[free])
        if (best[free] > 0).all():
            y = best
            rise = np.where(free, -np.inf, b - h @ y)
            if rise.max() <= _SLOPE_ROUNDING * np.abs(b).max():
                break
            free[rise.argmax()] = True
        else:
            # Only as far as the first bound; a share that reaches it stays at 0 until its slope frees it.
            out = free & (best <= 0)
            reach = y[out] / np.maximum(y[out] - best[out], np.finfo(np.float64).tiny)
            y = np.where(free, y + reach.min() * (best - y), 0.0)
            stopped = np.flatnonzero(out)[reach <= reach.min()]
            y[stopped], free[stopped] = 0.0, False
    return y


def _solve_ridge(j: Floats, b: Floats, tau: float) -> Floats:
    """Minimize ‖Jθ−b‖² + τ‖θ‖² with θ ≥ −1."""
    from scipy.optimize import nnls

    one = np.ones(j.shape[1])
    # Stacked rows in place of normal equations, which would square the condition number.
    stacked = np.vstack([j, np.sqrt(tau) * np.eye(len(one))])
    theta: Floats = np.linalg.lstsq(stacked, np.append(b, 0 * one))[0]
    if theta.min() < -1:
        # θ + 1 ≥ 0 is what nonnegative least squares solves.
        theta = nnls(stacked, np.concatenate([b + j @ one, np.sqrt(tau) * one]))[0] - one
    return theta
