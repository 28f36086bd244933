"""Smooth distributions of both classes: binormal, normal, kernel density and log-concave; the table of methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._errors import FitError, OptionError, unknown_name
from baserate._formatting import count_of
from baserate._numeric.binormal import Binormal, fit_binormal, fit_line
from baserate._numeric.cumulative import cumulative_sums
from baserate._numeric.distributions import Distribution, Normal
from baserate._numeric.kernel_density import (
    NormalMixture,
    WeightedSample,
    normal_reference_bandwidth,
    sheather_jones_bandwidth,
)
from baserate._numeric.log_concave import LogConcave, SmoothedLogConcave, fit_log_concave
from baserate._tally import Tally

Bandwidth = str | float | tuple[float, float]
"""Rule, or number for both classes, or numbers for negatives and positives."""

BANDWIDTHS: dict[str, Callable[[WeightedSample], float]] = {
    "nrd0": normal_reference_bandwidth,
    "nrd": lambda sample: normal_reference_bandwidth(sample, 1.06),
    "sj": sheather_jones_bandwidth,
}
"""Rules by their names in R. With `-pooled` after the name, both classes share the bandwidth of all scores."""
_POOLED = "-pooled"


class SmoothFit(NamedTuple):
    """Distributions of the scores of negatives and positives, up to an increasing transformation if `latent`."""

    negative: Distribution
    positive: Distribution
    parameters: Mapping[str, float]
    latent: bool = False
    binormal: Binormal | None = None
    """Parameters with their covariance, where intervals have a closed form."""


class FitOptions(NamedTuple):
    """Options of a fit: the bandwidth of kernel densities, and a fit of similar data to start from."""

    bandwidth: Bandwidth | None = None
    """None for nrd0."""
    start: SmoothFit | None = None


Fitter = Callable[[Tally, FitOptions], SmoothFit]


@dataclass(frozen=True, slots=True)
class SmoothMethod:
    """An entry of the table of methods."""

    name: str
    fit: Fitter
    summary: str
    aliases: tuple[str, ...] = ()
    note: str = ""
    """Weakness of the method, for those who use it."""
    most_scores: float = inf
    """Distinct scores above which neighbors are pooled, which changes smooth densities by less than their error."""


def fit_binormal_line(tally: Tally, _options: FitOptions) -> SmoothFit:
    """Fit the binormal curve by least squares of probits, as pROC does."""
    true, false = cumulative_sums(tally.mass)
    line = fit_line(ratio(true, true[-1]), ratio(false, false[-1]))
    if line is None:
        raise _not_estimable("the binormal curve", "two thresholds with different rates, none of which is 0 or 1")
    return _describe_binormal(line)


def fit_binormal_likelihood(tally: Tally, _options: FitOptions) -> SmoothFit:
    """Fit the binormal curve by maximum likelihood."""
    positive, negative = (np.asarray(row[::-1], dtype=np.float64) for row in tally.mass)
    fit = fit_binormal(positive, negative)
    if fit is None:
        raise _not_estimable(
            "the binormal curve", "classes that overlap at two thresholds or more; its likelihood has no maximum"
        )
    # The covariance is that of rows which count once each.
    return _describe_binormal(fit if not tally.weighted else fit._replace(covariance=None))


def _describe_binormal(fit: Binormal) -> SmoothFit:
    return SmoothFit(
        Normal(0.0, 1.0), Normal(fit.a / fit.b, 1 / fit.b), {"a": fit.a, "b": fit.b}, latent=True, binormal=fit
    )


def fit_normal(tally: Tally, _options: FitOptions) -> SmoothFit:
    """Fit a normal distribution to the scores of each class, by maximum likelihood."""
    fits = []
    for sample in class_samples(tally, "a normal distribution"):
        spread = float(np.sqrt(np.average((sample.x - sample.mean) ** 2, weights=sample.weight)))
        fits.append(Normal(sample.mean, spread))
    low, high = fits
    names = ("mean_negative", "sd_negative", "mean_positive", "sd_positive")
    return SmoothFit(low, high, dict(zip(names, (low.mean, low.sd, high.mean, high.sd), strict=True)))


def fit_density(tally: Tally, options: FitOptions) -> SmoothFit:
    """Estimate the density of each class with a normal kernel."""
    samples = class_samples(tally, "a kernel density")
    rule = "nrd0" if options.bandwidth is None else options.bandwidth  # 0 is an error, and not the default
    low, high = (
        NormalMixture(each.x, each.weight / each.weight.sum(), bandwidth)
        for each, bandwidth in zip(samples, _find_bandwidths(tally, samples, rule), strict=True)
    )
    parameters = {"bandwidth_negative": low.bandwidth, "bandwidth_positive": high.bandwidth}
    return SmoothFit(low, high, parameters)


def _find_bandwidths(tally: Tally, samples: list[WeightedSample], bandwidth: Bandwidth) -> tuple[float, float]:
    if isinstance(bandwidth, str):
        rule = bandwidth.lower().removesuffix(_POOLED)
        if rule not in BANDWIDTHS:
            raise unknown_name("bandwidth", bandwidth, [*BANDWIDTHS, *(name + _POOLED for name in BANDWIDTHS)])
        if bandwidth.lower().endswith(_POOLED):
            shared = BANDWIDTHS[rule](_sample_of(tally.score[::-1], *_both_classes(tally)))
            return shared, shared
        low, high = map(BANDWIDTHS[rule], samples)
        return low, high
    pair: Any = bandwidth if isinstance(bandwidth, (tuple, list)) else (bandwidth, bandwidth)
    if len(pair) != 2 or not all(isinstance(each, (int, float)) and 0 < each < np.inf for each in pair):
        raise OptionError(
            f"bandwidth is {bandwidth!r}; expected a rule ({', '.join(BANDWIDTHS)}), a number above 0, or one for "
            "negatives and one for positives.",
            option="bandwidth",
            value=bandwidth,
        )
    return float(pair[0]), float(pair[1])


def fit_log_concave_classes(tally: Tally, options: FitOptions) -> SmoothFit:
    """Fit a log-concave density to the scores of each class by maximum likelihood."""
    low, high = (base for _, base in _fit_shapes(tally, options))
    return SmoothFit(low, high, {"knots_negative": len(low.knots), "knots_positive": len(high.knots)})


def fit_smoothed_log_concave(tally: Tally, options: FitOptions) -> SmoothFit:
    """Add normal noise to the log-concave fits, so that each has the variance of its sample."""
    low, high = (
        SmoothedLogConcave(base, sqrt(max(sample.sd**2 - base.variance, (_LEAST_SD * sample.sd) ** 2)))
        for sample, base in _fit_shapes(tally, options)
    )
    return SmoothFit(low, high, {"smoothing_sd_negative": low.sd, "smoothing_sd_positive": high.sd})


def _fit_shapes(tally: Tally, options: FitOptions) -> list[tuple[WeightedSample, LogConcave]]:
    """Fit a log-concave density to the scores of negatives and of positives."""
    samples = class_samples(tally, "a log-concave density")
    starts = _log_concave_starts(options.start)
    try:
        return [
            (each, fit_log_concave(each.x, each.weight, start=start))
            for each, start in zip(samples, starts, strict=True)
        ]
    except np.linalg.LinAlgError:
        raise _not_estimable("the log-concave density", "weights of the same order of magnitude") from None


def _log_concave_starts(start: SmoothFit | None) -> list[LogConcave | None]:
    if start is None:
        return [None, None]
    both: tuple[Any, Any] = (start.negative, start.positive)
    return [each.base if isinstance(each, SmoothedLogConcave) else each for each in both]


_LEAST_SD = 1e-3
"""Share of a standard deviation that smoothing adds at least."""
_FEWEST = 2
_WIDEST = 1e150
"""Half of the range of scores above which their squares overflow."""


def class_samples(tally: Tally, what: str) -> list[WeightedSample]:
    """Return the scores of negatives and of positives with their weights, in increasing order."""
    samples = []
    for name, row in (("negatives", 1), ("positives", 0)):
        mass, squares = (np.asarray(cells[row][::-1], dtype=np.float64) for cells in (tally.mass, tally.squares))
        sample = _sample_of(tally.score[::-1], mass, squares)
        if len(sample.x) < _FEWEST:
            raise FitError(
                f"the {name} have {count_of(len(sample.x), 'distinct score')}; expected at least {_FEWEST} for {what}.",
                remedy="Take the empirical curve, or another method.",
            )
        if sample.x[-1] / 2 - sample.x[0] / 2 > _WIDEST or sample.sd == 0:
            raise FitError(
                f"the scores of {name} go from {sample.x[0]:g} to {sample.x[-1]:g}, beyond the range of {what}.",
                remedy="Rescale them.",
            )
        samples.append(sample)
    return samples


def _both_classes(tally: Tally) -> tuple[Floats, Floats]:
    mass, squares = (cells[:, ::-1].sum(axis=0, dtype=np.float64) for cells in (tally.mass, tally.squares))
    return mass, squares


def _sample_of(score: Floats, mass: Floats, squares: Floats) -> WeightedSample:
    """Return the scores that occur, with the effective number of rows."""
    occurs = mass > 0
    total = float(mass.sum())
    rows = total**2 / float(squares.sum()) if total else 0.0
    return WeightedSample(np.ascontiguousarray(score[occurs]), mass[occurs], rows)


def _not_estimable(what: str, needs: str) -> FitError:
    return FitError(f"{what} is not estimable: it needs {needs}", remedy="take the empirical curve, or another method.")


METHODS: dict[str, SmoothMethod] = {
    each.name: each
    for each in (
        SmoothMethod(
            "binormal-ml",
            fit_binormal_likelihood,
            "Binormal curve by maximum likelihood; uses the order of the scores alone.",
            aliases=("binormal-mle", "rockit", "labroc"),
        ),
        SmoothMethod(
            "binormal",
            fit_binormal_line,
            "Binormal curve by least squares of probits, as in pROC.",
            aliases=("binormal-ls", "least-squares"),
            note="least squares weighs correlated points alike; binormal-ml has intervals without bootstrap.",
        ),
        SmoothMethod("normal", fit_normal, "Normal distribution of each class.", aliases=("fitdistr", "gaussian")),
        SmoothMethod(
            "density",
            fit_density,
            "Kernel density of each class, with a normal kernel.",
            aliases=("kernel", "kde"),
            note="kernel densities widen both classes, which lowers the AUC; its interval does not correct this bias.",
            most_scores=4096,
        ),
        SmoothMethod(
            "logcondens",
            fit_log_concave_classes,
            "Log-concave density of each class by maximum likelihood.",
            aliases=("log-concave",),
            note="log-concave densities have no heavy tails, which raises the AUC of small samples.",
            most_scores=20_000,
        ),
        SmoothMethod(
            "logcondens-smooth",
            fit_smoothed_log_concave,
            "Log-concave density of each class, smoothed to the variance of the sample.",
            aliases=("smoothed-log-concave",),
            most_scores=20_000,
        ),
    )
}
"""Methods by name, the default first."""


SMOOTH_METHODS = {each.name: each.summary for each in METHODS.values()}
"""Methods of smooth ROC curves with a summary of each, the default first."""


def find_method(name: str) -> SmoothMethod:
    """Find a method by its name or an alias, with hyphens, underscores, points or spaces between words."""
    plain = "-".join(str(name).strip().lower().replace("_", " ").replace(".", " ").replace("-", " ").split())
    for each in METHODS.values():
        if plain in (each.name, *each.aliases):
            return each
    raise unknown_name("smoothing method", name, list(METHODS))
