"""Smooth ROC curves: sensitivity at any false positive rate, areas, and their confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats, FrozenMapping, Value, as_python, keep_read_only, ratio
from baserate._domains import LEVEL, POINTS, ShareLike, check_domain, parse_share, wrong_option
from baserate._errors import FitError, OptionError, keyword
from baserate._formatting import count_of
from baserate._numeric.distributions import Distribution, Normal
from baserate._numeric.kernel_density import NormalMixture
from baserate._population import Population
from baserate._rendering import Renderable
from baserate._results import Estimate, Results
from baserate._tally import Tallies, Tally
from baserate.infer._binomial import normal_quantile, t_widening
from baserate.infer._bootstrap import (
    N_BOOTSTRAP,
    Seed,
    check_n_samples,
    make_resampler,
    pool_neighbors,
    sample_in_blocks,
)
from baserate.infer._smooth_roc_fits import Bandwidth, FitOptions, SmoothFit, SmoothMethod, find_method
from baserate.measure import results_data, tabulate_groups
from baserate.read import PredictionOptions, accepts_predictions

DEFAULT_METHOD = "binormal-ml"
_POINTS = 101
_DELTA = "maximum likelihood, delta method on probits"
_MOST_FAILURES = 0.05
"""Share of bootstrap samples without a fit above which there is no interval."""
_NODES = 16
"""Nodes of the quadrature between two breaks."""
_SDS = np.linspace(-9.0, 9.0, 37)
"""Breaks of a normal distribution, in standard deviations."""
_LEAST = 1e-12
"""Rate below which log-odds are those of this rate."""
_BOOTSTRAP_THRESHOLDS = 1000
"""Thresholds at which densities of bootstrap samples are evaluated, between which their ROC curves are straight."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SmoothRoc(Renderable):
    """A smooth ROC curve: a fitted distribution of each class, and the AUC with its confidence interval.

    >>> from baserate import infer
    >>> truth, score = [1, 1, 1, 0, 1, 0, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.65, 0.6, 0.5, 0.4, 0.35, 0.3, 0.1]
    >>> smooth = infer.smooth_roc(truth, score, method="normal", n_bootstrap=0)
    >>> smooth
    SmoothRoc(normal, AUC 0.855)
    >>> round(smooth.tpr(0.1), 4), round(smooth.partial_auc(fpr=(0, 0.2)), 4)
    (0.5887, 0.109)
    """

    method: str
    """Name of the method."""
    negative: Distribution
    """Distribution of the scores of negatives."""
    positive: Distribution
    """Distribution of the scores of positives."""
    auc: Estimate
    """Area under the curve, with its interval."""
    parameters: Mapping[str, float]
    """Parameters of the fit by name: a and b of a binormal curve, bandwidths and so on."""
    columns: Mapping[str, Floats]
    """Points at evenly spaced false positive rates: `threshold`, `fpr`, `sensitivity`, and its bounds `low`, `high`."""
    prevalence: float
    """Share of positives in the data."""
    latent: bool = False
    """Whether the distributions are those after an unknown increasing transformation, so that there are no thresholds
    of scores."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", FrozenMapping(self.parameters))
        object.__setattr__(self, "columns", FrozenMapping(self.columns))

    def __repr__(self) -> str:
        return f"SmoothRoc({self.method}, AUC {self.auc:.3f})"

    @property
    def binormal(self) -> tuple[float, float] | None:
        """Intercept a and slope b of :math:`Φ(a+bΦ^{-1}(x))`; None for curves of another shape."""
        if not isinstance(self.negative, Normal) or not isinstance(self.positive, Normal):
            return None
        spread = self.positive.sd
        return (self.positive.mean - self.negative.mean) / spread, self.negative.sd / spread

    def tpr(self, fpr: Value) -> Value:
        """Return the sensitivity at a false positive rate, or at an array of them.

        At 0 it is the greatest sensitivity without false positives.
        """
        value: Value = as_python(self.positive.sf(self.negative.isf(_check_rate("fpr", fpr))))
        return value

    def fpr(self, tpr: Value) -> Value:
        """Return the false positive rate at a sensitivity, or at an array of them."""
        value: Value = as_python(self.negative.sf(self.positive.isf(_check_rate("tpr", tpr))))
        return value

    def partial_auc(
        self,
        *,
        fpr: tuple[float, float] | None = None,
        tpr: tuple[float, float] | None = None,
        standardized: bool = False,
    ) -> float:
        """Return the area under a section of the curve, as `baserate.measure.partial_auc` does.

        Parameters
        ----------
        fpr
            Interval of false positive rates, such as (0, 0.1).
        tpr
            Interval of true positive rates, whose area is that of specificity over sensitivity.
        standardized
            Whether to map chance to ½ and perfection to 1.

        Returns
        -------
        float
            The area, by quadrature of the fitted distributions.
        """
        if fpr is not None and tpr is not None:
            raise OptionError("give either fpr or tpr; the other follows from the curve.")
        low, high = (fpr or (0.0, 1.0)) if tpr is None else tpr
        if not 0 <= low < high <= 1:
            raise OptionError(f"the interval ({low}, {high}) is not one of rates", remedy="give 0 ≤ low < high ≤ 1.")
        if tpr is None:
            limits = self.negative.isf(np.array([high, low]))
            area = _integrate(self.positive.sf, self.negative, self.positive, limits)
            chance = (high**2 - low**2) / 2
        else:
            limits = self.positive.isf(np.array([high, low]))
            area = _integrate(self.negative.cdf, self.positive, self.negative, limits)
            chance = (high - low) - (high**2 - low**2) / 2
        return (1 + (area - chance) / ((high - low) - chance)) / 2 if standardized else area

    def table(self) -> Results:
        """Return the points as a table."""
        return Results(dict(self.columns), {"method": self.method, "auc": float(self.auc)})

    def population(self, prevalence: ShareLike | None = None) -> Population:
        """Return the population with these distributions, for best thresholds and simulated rows.

        Parameters
        ----------
        prevalence
            Share of positives; that of the data by default.

        Returns
        -------
        Population
            Both distributions; of a binormal curve, those of transformed scores.
        """
        share = self.prevalence if prevalence is None else parse_share(prevalence)
        return Population(self.negative, self.positive, share)


@accepts_predictions("tally")
def smooth_roc(  # noqa: PLR0913  (each is an option of fit or interval)
    tally: Tally,
    *,
    method: str = DEFAULT_METHOD,
    bandwidth: Bandwidth | None = None,
    level: ShareLike = 0.95,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: Seed = 0,
    points: int = _POINTS,
    **predictions: Unpack[PredictionOptions],
) -> SmoothRoc:
    r"""Fit a smooth ROC curve, with confidence intervals of its AUC and of its points.

    The binormal curve is :math:`Φ(a+bΦ^{-1}(x))`, with the AUC :math:`Φ(a/\sqrt{1+b^2})`. Other methods fit a
    distribution to the scores of each class. The curve is :math:`S_1(S_0^{-1}(x))`, where :math:`S_1` and :math:`S_0`
    are the shares of positives and negatives above a score, and its area :math:`\int S_1(t)f_0(t)\,dt`.

    Parameters
    ----------
    tally
        Scores of one model.
    method
        ``"binormal-ml"``: binormal by maximum likelihood over all thresholds [@metz1998]. ``"binormal"``: by least
        squares of probits, as in pROC [@robin2011]. ``"normal"``: normal scores. ``"density"``: kernel densities.
        ``"logcondens"``: log-concave densities by maximum likelihood [@dumbgen2009]. ``"logcondens-smooth"``: these,
        smoothed to the variance of the sample.
    bandwidth
        Of kernel densities: a rule for each class (``"nrd0"``, ``"nrd"`` or ``"sj"``, as in R), a rule for all scores
        together (``"nrd0-pooled"``, as in pROC), a number, or a pair for negatives and positives. By default "nrd0".
    level
        Confidence level.
    n_bootstrap
        Number of bootstrap samples; 0 for no intervals. Maximum likelihood of counted rows needs none.
    seed
        Seed or NumPy generator of the bootstrap.
    points
        Number of evenly spaced false positive rates in the table.

    Returns
    -------
    SmoothRoc
        The curve.

    Raises
    ------
    FitError
        If a class is missing, has a single distinct score, or does not determine the curve, as separated classes.

    Notes
    -----
    The distributions of a binormal curve are those after an increasing transformation of the scores. Other methods
    need a scale on which both densities are smooth: log-odds of probabilities, for example. Kernel densities widen both
    classes, and so lower the AUC; the bootstrap keeps the bandwidth, and its interval does not correct this bias.

    Examples
    --------
    >>> truth, score = [1, 1, 1, 0, 1, 0, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.65, 0.6, 0.5, 0.4, 0.35, 0.3, 0.1]
    >>> smooth_roc(truth, score).auc
    Estimate(0.8574, 0.5028 to 0.9834)
    """
    entry, level = find_method(method), parse_share(level)
    check_domain("level", level, LEVEL)
    check_domain("points", points, POINTS)
    if n_bootstrap:
        check_n_samples(n_bootstrap, "n_bootstrap")
    if bandwidth is not None and entry.name != "density":
        raise OptionError(
            f"{keyword('bandwidth')} is for kernel densities, not for {entry.name}",
            remedy="leave it out, or take the method density.",
            option="bandwidth",
        )
    require_both_classes(tally)
    task = _Task(entry, FitOptions(bandwidth), level, n_bootstrap, seed, np.linspace(0, 1, points))
    data = pool_neighbors(tally) if len(tally.score) > entry.most_scores else tally
    fit = entry.fit(data, task.options)
    auc, low, high = task.bound(data, fit)
    threshold = np.asarray(fit.negative.isf(task.fpr))
    rate = np.asarray(fit.positive.sf(threshold))
    # All curves end in one corner, and those of unbounded scores begin in the other: points without uncertainty.
    fixed = (np.isinf(threshold) | (task.fpr == 1)) & ~np.isnan(low)
    columns = {
        "threshold": np.full(points, nan) if fit.latent else threshold,
        "fpr": task.fpr,
        "sensitivity": rate,
        # Rounding must not leave the value outside of its bounds.
        "low": np.where(fixed, rate, np.minimum(low, rate)),
        "high": np.where(fixed, rate, np.maximum(high, rate)),
    }
    classes = fit.negative, fit.positive
    return SmoothRoc(entry.name, *classes, auc, fit.parameters, columns, tally.prevalence, latent=fit.latent)


@accepts_predictions("tallies")
def smooth_roc_curves(  # noqa: PLR0913  (each is an option of fit or interval)
    tallies: Tallies,
    *,
    method: str = DEFAULT_METHOD,
    bandwidth: Bandwidth | None = None,
    level: ShareLike = 0.95,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: Seed = 0,
    points: int = _POINTS,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Tabulate smooth ROC curves with confidence bands, for every model, all rows and each group.

    Parameters
    ----------
    tallies
        Tallies of models and groups.
    method, bandwidth, level, n_bootstrap, seed, points
        As in `smooth_roc`.

    Returns
    -------
    Results
        One row for each point. `data["fits"]` has the AUC with its interval and the parameters of each curve. A curve
        that is not estimable has one row of NaN, and its reason.

    Examples
    --------
    >>> truth, score = [1, 1, 1, 0, 1, 0, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.65, 0.6, 0.5, 0.4, 0.35, 0.3, 0.1]
    >>> results = smooth_roc_curves(truth, score, points=11)
    >>> results.rows()[1]["fpr"], round(results.rows()[1]["sensitivity"], 4)
    (0.1, 0.665)
    """
    fits: list[dict[str, Any]] = []
    options: dict[str, Any] = {"method": method, "bandwidth": bandwidth, "level": level, "n_bootstrap": n_bootstrap}

    def columns(tally: Tally) -> Mapping[str, Any]:
        try:
            smooth = smooth_roc(tally, **options, seed=seed, points=points)
        except FitError as error:
            reason = str(error)
            fits.append({"auc": _as_row(Estimate(nan, why=reason)), "parameters": {}})
            return {**{name: np.array([nan]) for name in _COLUMNS}, "why": [reason]}
        fits.append({"auc": _as_row(smooth.auc), "parameters": dict(smooth.parameters)})
        return {**smooth.columns, "why": [smooth.auc.why] * points}

    table = tabulate_groups(tallies, columns)
    several = len(tallies.models) > 1
    for each, (model, group, _) in zip(fits, tallies.walk(), strict=True):
        each["model"] = model if several else None
        each["group"] = None if group is None else dict(zip(tallies.attributes, group, strict=True))
    how = next((each["auc"]["how"] for each in fits if each["auc"]["how"]), None)
    entry = find_method(method)
    data = {"method": entry.name, "level": parse_share(level), "how": how, "fits": fits}
    return Results(table, results_data(tallies, [entry.note] * bool(entry.note)) | data)


_COLUMNS = ("threshold", "fpr", "sensitivity", "low", "high")


def _as_row(auc: Estimate) -> dict[str, Any]:
    """Return an estimate as plain data, with None for undefined numbers."""
    numbers = {name: getattr(auc, name) for name in ("value", "low", "high")}
    return {name: None if isnan(each) else each for name, each in numbers.items()} | {
        "level": auc.level,
        "how": auc.how,
        "why": auc.why,
    }


def effective_rows_of(tally: Tally, row: int) -> float:
    """Return the effective number of rows of a class."""
    mass, squares = (float(cells[row].sum()) for cells in (tally.mass, tally.squares))
    return ratio(mass**2, squares)


def require_both_classes(tally: Tally) -> None:
    """Raise an error unless there are rows of both classes."""
    missing = [word for word in ("positives", "negatives") if not getattr(tally, word)]
    if missing:
        raise FitError(
            f"a smooth ROC curve needs both classes, and there are no {missing[0]}", remedy="give rows of both."
        )


class _Task(NamedTuple):
    """A method with its options, and the intervals that are asked for."""

    method: SmoothMethod
    options: FitOptions
    level: float
    n_bootstrap: int
    seed: Seed
    fpr: Floats

    def bound(self, tally: Tally, fit: SmoothFit) -> tuple[Estimate, Floats, Floats]:
        """Return the AUC with its interval, and the bounds of the sensitivity at each false positive rate."""
        if fit.binormal is not None and fit.binormal.covariance is not None:
            return self._bound_by_covariance(fit)
        value = area_under(fit)
        if not self.n_bootstrap:
            nothing = np.full(len(self.fpr), nan)
            return Estimate(value), nothing, nothing
        return self._bound_by_bootstrap(tally, fit, value)

    def _bound_by_covariance(self, fit: SmoothFit) -> tuple[Estimate, Floats, Floats]:
        from scipy.special import ndtr, ndtri

        line = fit.binormal
        assert line is not None  # noqa: S101  (for the type checker)
        z = normal_quantile(self.level)
        value, low, high = (float(ndtr(line.distance + sign * z * line.distance_error)) for sign in (0, -1, 1))
        probit = ndtri(self.fpr)
        inner = np.isfinite(probit)
        safe = np.where(inner, probit, 0.0)
        reach = z * line.errors(safe)
        below, above = (np.where(inner, ndtr(line.a + line.b * safe + sign * reach), self.fpr) for sign in (-1, 1))
        return Estimate(value, low, high, self.level, _DELTA), below, above

    def _bound_by_bootstrap(self, tally: Tally, fit: SmoothFit, value: float) -> tuple[Estimate, Floats, Floats]:
        tally = pool_neighbors(tally)
        resample = make_resampler(tally, "stratified")
        evaluate = self._refit(tally, fit)

        def sample(rng: np.random.Generator, samples: int) -> Floats:
            return np.array([evaluate(resample(rng)) for _ in range(samples)])

        size = tally.mass.size * _NODES
        values = sample_in_blocks(sample, n_samples=self.n_bootstrap, seed=self.seed, size=size)
        failed = int(np.isnan(values[:, 0]).sum())
        how = (
            f"t quantiles on log-odds, {count_of(self.n_bootstrap, 'sample')} of a Bayesian bootstrap within each class"
        )
        why = None
        if failed > _MOST_FAILURES * self.n_bootstrap:
            why = f"{failed} of {self.n_bootstrap} bootstrap samples do not determine the curve"
        elif self.n_bootstrap - failed < 2:
            why = "a single bootstrap sample has no spread; take more"
        if why is not None:
            nothing = np.full(len(self.fpr), nan)
            return Estimate(value, level=self.level, how=how, why=why), nothing, nothing
        rates = np.asarray(fit.positive.sf(fit.negative.isf(self.fpr)))
        rows = [effective_rows_of(tally, row) for row in (0, 1)]
        # Log-odds of 0 and 1 are those of half a row, and for the AUC of half a pair of rows.
        edges = np.full(len(values[0]), 0.5 / (rows[0] + 1))
        edges[0] = 0.5 / (rows[0] * rows[1] + 1)
        reach = normal_quantile(self.level) * t_widening(max(min(rows) - 1, 1.0), self.level)
        low, high = _bound_log_odds(np.append(value, rates), values, edges, reach)
        return Estimate(value, float(low[0]), float(high[0]), self.level, how), low[1:], high[1:]

    def _refit(self, tally: Tally, fit: SmoothFit) -> Callable[[Tally], Floats]:
        """Return a function that fits a sample, and returns its AUC and its sensitivities."""
        thresholds = _spread_thresholds(fit)
        if isinstance(fit.negative, NormalMixture) and isinstance(fit.positive, NormalMixture):
            return _KernelSamples.of(tally, (fit.negative, fit.positive), thresholds, self.fpr).evaluate
        options = self.options._replace(start=fit)

        def evaluate(sample: Tally) -> Floats:
            try:
                each = self.method.fit(sample, options)
            except FitError:
                return np.full(len(self.fpr) + 1, nan)
            if isinstance(each.negative, Normal):
                return np.append(area_under(each), each.positive.sf(each.negative.isf(self.fpr)))
            return _measure_points(each.negative.sf(thresholds), each.positive.sf(thresholds), self.fpr)

        return evaluate


def _bound_log_odds(values: Floats, samples: Floats, edges: Floats, reach: float) -> tuple[Floats, Floats]:
    """Bound values by a multiple of the standard deviations of their log-odds in the samples.

    Percentiles of the samples would be too narrow for few rows, and lie on one side of a value whose fit is biased.
    """
    from scipy.special import expit, logit

    # A value nearer to an end than half a row has an edge nearer still.
    least, most = (np.clip(each / 10, _LEAST, edges) for each in (values, 1 - values))
    spread = np.nanstd(logit(np.clip(samples, least, 1 - most)), axis=0)
    center = logit(np.clip(values, least, 1 - most))
    low, high = (expit(center + sign * reach * spread) for sign in (-1, 1))
    return np.minimum(low, values), np.maximum(high, values)


def _spread_thresholds(fit: SmoothFit) -> Floats:
    """Return falling thresholds that are dense where the densities change, for bootstrap samples."""
    breaks = np.union1d(_breaks(fit.negative), _breaks(fit.positive))
    places = np.linspace(0, len(breaks) - 1, _BOOTSTRAP_THRESHOLDS)
    return np.interp(places, np.arange(len(breaks)), breaks)[::-1]


def _measure_points(false: Floats, true: Floats, fpr: Floats) -> Floats:
    """Return the AUC of a dense line of points, and the sensitivities on it."""
    auc = np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2)
    rates = np.interp(fpr, false, true)
    # Where the curve runs straight up, at 0, its highest point counts.
    highest = true[max(int(np.searchsorted(false, 0.0, side="right")) - 1, 0)]
    return np.append(auc, np.where(fpr > 0, rates, highest))


class _KernelSamples(NamedTuple):
    """Kernel densities of one bandwidth for each class, whose weights vary: sums over rows at fixed thresholds."""

    tails: tuple[Floats, Floats]
    """Of negatives and positives: the share of each row's kernel above each threshold."""
    fpr: Floats

    @staticmethod
    def of(
        tally: Tally, classes: tuple[NormalMixture, NormalMixture], thresholds: Floats, fpr: Floats
    ) -> _KernelSamples:
        from scipy.special import ndtr

        negative, positive = (ndtr((tally.score - thresholds[:, np.newaxis]) / each.bandwidth) for each in classes)
        return _KernelSamples((negative, positive), fpr)

    def evaluate(self, sample: Tally) -> Floats:
        masses = sample.mass[1], sample.mass[0]
        false, true = (tail @ mass / mass.sum() for tail, mass in zip(self.tails, masses, strict=True))
        return _measure_points(false, true, self.fpr)


def area_under(fit: SmoothFit) -> float:
    """Return the probability that a positive exceeds a negative."""
    from scipy.special import ndtr

    low, high = fit.negative, fit.positive
    if isinstance(low, Normal) and isinstance(high, Normal):
        return float(ndtr((high.mean - low.mean) / np.hypot(low.sd, high.sd)))
    return _integrate(high.sf, low, high, np.array([-inf, inf]))


def _integrate(height: Callable[[Floats], Any], over: Distribution, other: Distribution, limits: Floats) -> float:
    """Integrate a probability over a distribution between two values, by Gauss's rule between the breaks of both."""
    breaks = np.union1d(_breaks(over), _breaks(other))
    ends = np.clip(limits, breaks[0], breaks[-1])
    edges = np.concatenate([ends[:1], breaks[(breaks > ends[0]) & (breaks < ends[1])], ends[1:]])
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = middle[:, np.newaxis] + half[:, np.newaxis] * nodes
    density: Any = over
    area = float(np.sum(half[:, np.newaxis] * weights * np.asarray(density.pdf(x)) * np.asarray(height(x))))
    return min(area, 1.0)


def _breaks(distribution: Any) -> Floats:  # noqa: ANN401  (a distribution with breaks, or a normal one)
    """Return the points between which a density is nearly a polynomial."""
    if isinstance(distribution, Normal):
        return distribution.mean + distribution.sd * _SDS
    breaks: Floats = distribution.breaks
    return breaks


def _check_rate(name: str, rate: Value) -> Value:
    if not np.all((np.asarray(rate) >= 0) & (np.asarray(rate) <= 1)):
        raise wrong_option(name, rate, "a rate from 0 to 1, or an array of them")
    return rate
