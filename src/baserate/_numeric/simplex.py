"""Proportions on the simplex: projection, least squares, and maximum likelihood of mixtures."""

from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Cells, Floats, Reals

_BLOCK = 1 << 15
"""Numbers of a block; larger ones would leave the cache."""
_STEPS = 200
_CLOSE = 1e-8
"""Relative size of a step of Newton's method after which only rounding is left: the error squares from step to step."""
_ROUNDING = 1e-14
"""Slope, a row, that is rounding; on flat ground it may still be a long step."""
_ALMOST = 1e-12
"""Slope, a row, from which on it counts when a step does not halve it any more."""
_KKT = 1e-9
"""Slope, a row, up to which a place counts as the maximum."""
_BARELY = 1e-14
"""Curvature, beside that of other directions, that is added so that flat ones can be divided by."""
_FEW = 1 << 13
"""Rows of an even subsample that gives the start for large data."""


class MixtureFit(NamedTuple):
    """Maximum of the likelihood of a mixture."""

    q: Floats
    slope: Floats
    """How steeply the likelihood rises with each share, less the steepness of their sum: 0, or below 0 where q is 0."""
    information: Floats
    """Its curvature; `inverse` makes a covariance of it."""
    converged: bool
    """Whether Karush's, Kuhn's and Tucker's conditions hold."""


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
    the simplex the minimum is m/(1+m), with m = ‖Dq‖². Nothing need be weighted to make the sum right.

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

    Neither length is squared. Where θ(τ) has the least :math:`‖Jθ-b‖^2+τ‖θ‖^2`, the two trade at τ‖θ‖/‖Jθ−b‖, which
    rises with τ, and must be the penalty. If it is more for any τ, what lies at the kink is the answer: no penalty.

    >>> fit_regularized(np.diag([0.5, 0.5]), np.array([0.6, 0.4]), np.array([0.5, 0.5]), penalty=0.1).round(9).tolist()
    [0.2, -0.2]
    """
    from scipy.optimize import brentq

    b, scale = o - o_val, float(np.square(j).sum())

    def excess(log_tau: float) -> float:
        theta = _solve_ridge(j, b, scale * np.exp(log_tau))
        return float(np.exp(log_tau) * scale * np.linalg.norm(theta) - penalty * np.linalg.norm(j @ theta - b))

    low, high = np.log(_BARELY), -np.log(_BARELY)
    # Near 0, where no bound is, the first length falls by ‖Jᵀb‖/‖b‖ at most.
    if np.linalg.norm(j.T @ b) <= penalty * np.linalg.norm(b) or excess(high) <= 0:
        return np.zeros(j.shape[1])
    if excess(low) >= 0:
        return _solve_ridge(j, b, 0.0)
    return _solve_ridge(j, b, scale * float(np.exp(brentq(excess, low, high, xtol=1e-14, rtol=1e-14))))


def fit_mixture(a: Reals, *, amount: Cells | None = None, fixed: Floats | None = None) -> MixtureFit:
    r"""Maximize :math:`\sum_j m_j\ln\sum_kq_ka_{jk}+\sum_kf_k\ln q_k` over the simplex; m is `amount`, f `fixed`.

    As logarithms are, it is the maximum over q ≥ 0 of the same less N·Σq, with N = Σm + Σf: the sum is 1 of itself. It
    is concave, and found by sequential quadratic programming [@kim2020]: each step goes to the best place for a
    parabola, so that shares leave and reach 0 in any number. A share is exactly 0 where its slope says so. Every row
    needs some class that it can be of.

    >>> found = fit_mixture(np.array([[2.0, 0.5], [0.5, 2.0], [0.5, 2.0]]))
    >>> found.q.round(9).tolist(), found.converged
    ([0.222222222, 0.777777778], True)
    """
    nonempty = None if amount is None else np.flatnonzero(amount)
    across = np.ascontiguousarray(a.T if nonempty is None else a[nonempty].T, dtype=np.float64)
    prior = np.zeros(len(across)) if fixed is None else np.asarray(fixed, dtype=np.float64)
    mass = None if amount is None or nonempty is None else amount[nonempty].astype(np.float64)
    q = np.full(len(across), 1 / len(across))
    if across.shape[1] > 8 * _FEW:
        every = slice(None, None, across.shape[1] // _FEW)
        near = _maximize(across[:, every], None if mass is None else mass[every], prior * 0, q)
        q = 0.99 * near.q + 0.01 * q  # inside, where every row can be
    return _maximize(across, mass, prior, q)


def shares_covariance(information: Floats) -> Floats:
    """Invert the information of proportions that sum to 1, as if none were at its bound.

    >>> shares_covariance(np.diag([4.0, 4.0])).tolist()
    [[0.125, -0.125], [-0.125, 0.125]]
    """
    z = contrasts(len(information))
    inner = z.T @ information @ z
    covariance: Floats = z @ np.linalg.pinv(inner, rcond=_BARELY, hermitian=True) @ z.T
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
    step = max(_BLOCK // len(across), 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a row that cannot be: the step was too long
        for start in range(0, across.shape[1], step):
            part = across[:, start : start + step]
            share = part / (q @ part)
            times = share if amount is None else share * amount[start : start + step]
            slope += times.sum(axis=1)
            curve += times @ share.T
    return slope, curve


def _maximize(across: Floats, amount: Floats | None, prior: Floats, q: Floats) -> MixtureFit:
    """Climb from an interior point until the Karush–Kuhn–Tucker conditions hold."""
    total = float((across.shape[1] if amount is None else amount.sum()) + prior.sum())
    slope, curve = _derivatives(across, amount, prior, q, total)
    last = np.inf
    for _ in range(_STEPS):
        unmet = _kkt_violation(q, slope)
        # Rounding is left, or on flat ground all that further steps would change.
        if unmet <= _ROUNDING * total or (unmet <= _ALMOST * total and unmet > last / 2):
            break
        last = unmet
        # What has been seen is not 0, and falls to a hundredth at most at once.
        step = np.maximum(_maximize_parabola(slope, curve, q), np.where(prior > 0, 0.01 * q, 0.0)) - q
        converged = bool((np.abs(step) <= _CLOSE * q).all())
        size = 1.0
        for _ in range(_STEPS):
            new = np.maximum(q + size * step, 0.0)
            new /= new.sum()
            after = _derivatives(across, amount, prior, new, total)
            # What rises may fall again past the top, but less steeply; where some row cannot be, nothing is finite.
            if np.isfinite(after[1]).all() and (converged or after[0] @ step >= -0.5 * (slope @ step)):
                break
            size /= 2
        q, (slope, curve) = new, after
        if converged:
            break
    return MixtureFit(q, slope, curve, _kkt_violation(q, slope) <= _KKT * total)


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
    r"""Maximize the parabola :math:`s^⊤(y-q)-\frac12(y-q)^⊤H(y-q)` over y ≥ 0, by an active set, starting here."""
    h = curve + np.diag(_BARELY * np.diag(curve).max() + _BARELY * np.diag(curve))
    b, y = slope + h @ start, start.copy()
    free: Bools = y > 0
    for _ in range(_STEPS * len(y)):
        best = np.zeros(len(y))
        best[free] = np.linalg.solve(h[np.ix_(free, free)], b[free])
        if (best[free] > 0).all():
            y = best
            rise = np.where(free, -np.inf, b - h @ y)
            if rise.max() <= _ROUNDING * np.abs(b).max():
                break
            free[rise.argmax()] = True
        else:
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
    stacked = np.vstack([j, np.sqrt(tau) * np.eye(len(one))])
    theta: Floats = np.linalg.lstsq(stacked, np.append(b, 0 * one))[0]
    if theta.min() < -1:
        theta = nnls(stacked, np.concatenate([b + j @ one, np.sqrt(tau) * one]))[0] - one
    return theta
