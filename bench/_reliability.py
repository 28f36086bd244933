"""Benchmarks of assessing calibration, beside calzone and statsmodels."""

from __future__ import annotations

import warnings
from functools import partial
from time import perf_counter

import numpy as np
import numpy.typing as npt
from statsmodels.nonparametric.smoothers_lowess import lowess

import baserate as br
from baserate import infer, measure
from bench._benchmark import Outcome, Pair, median_seconds

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # calzone warns on import in some environments
    from calzone.metrics import CalibrationMetrics

_TIMED_SAMPLES = 20
"""Bootstrap samples of the peer that are timed."""
_N_BOOTSTRAP = 1000
_INACCURACY = 1e-3
"""calzone drops the lowest row from bins of equal mass, and clips probabilities at 1e-7."""
_NAMES = {"ECE-H": "ece", "MCE-H": "mce", "COX coef": "calibration_slope", "Loess ICI": "ici"}
"""Name of calzone -> name of ours, where both have the same definition."""
_BINNED_METRICS = ("ECE-H", "MCE-H", "ECE-C", "MCE-C")

Data = tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]


def _draw_columns(n: int) -> Data:
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, n)
    return rng.random(n) < p, p


def all_measures(n: int) -> Pair:
    """Compute all that calzone does, from columns."""
    truth, p = _draw_columns(n)
    labels, probabilities = truth.astype(np.int64), np.stack([1 - p, p], axis=1)

    def ours() -> dict[str, float]:
        sample = br.tally(truth, p)
        top = sample.top_class()
        values = {"top " + name: each for name, each in _binned_measures(top).items()} | _binned_measures(sample)
        by_width, by_mass = (infer.hosmer_lemeshow(sample, by=by, fitted=True) for by in ("width", "mass"))
        values |= {"HL-H": by_width.statistic, "HL-C": by_mass.statistic}
        values["z"] = infer.spiegelhalter(sample).statistic
        line = {name: infer.estimate(name, sample) for name in ("calibration_slope", "calibration_intercept")}
        values |= {name: each.value for name, each in line.items()}
        return values | {"cox_ici": measure.cox_ici(sample), "ici": measure.ici(sample)}

    def peer() -> dict[str, float]:
        return dict(CalibrationMetrics(class_to_calculate=1).calculate_metrics(labels, probabilities, "all"))

    return Pair(ours, peer, _difference)


def _binned_measures(sample: br.Tally) -> dict[str, float]:
    return {
        **{name: getattr(measure, name)(sample) for name in ("ece", "mce")},
        **{f"{name} by mass": getattr(measure, name)(sample, by="mass") for name in ("ece", "mce")},
    }


def _difference(ours: dict[str, float], peer: dict[str, float]) -> float:
    greatest = max(abs(ours[name] - peer[peer_name]) for peer_name, name in _NAMES.items())
    return max(greatest - _INACCURACY, 0.0)


def bootstrap_measures(n: int, repeats: int, *, local: bool) -> Outcome:
    """Bootstrap all measures that are no test statistics, beside calzone's loop; `local` adds the local regression."""
    truth, p = _draw_columns(n)
    labels, probabilities = truth.astype(np.int64), np.stack([1 - p, p], axis=1)
    bins = [partial(each, by=by) for by in ("width", "mass") for each in (measure.ece, measure.mce)]
    line = [measure.calibration_slope, measure.calibration_intercept, measure.cox_ici]

    def ours() -> list[br.Estimate]:
        sample = br.tally(truth, p)
        estimates = infer.bootstrap([*bins, *line, *([measure.ici] if local else [])], sample, n_bootstrap=_N_BOOTSTRAP)
        return estimates + infer.bootstrap(bins, sample.top_class(), n_bootstrap=_N_BOOTSTRAP)

    metrics = [*_BINNED_METRICS, "COX", *(["Loess"] if local else [])]
    peer = CalibrationMetrics(class_to_calculate=1)
    np.random.seed(0)  # noqa: NPY002  (calzone uses the global generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in bootstrap samples whose classes are separated
        start = perf_counter()
        peer.bootstrap(labels, probabilities, metrics, n_samples=_TIMED_SAMPLES)
        peer_seconds = (perf_counter() - start) / _TIMED_SAMPLES * _N_BOOTSTRAP
    (seconds,) = median_seconds([ours], repeats)
    return Outcome(seconds, peer_seconds, note=f"{_TIMED_SAMPLES} of {_N_BOOTSTRAP} samples of the peer are timed")


def integrated_index(n: int) -> Pair:
    """Compute the integrated calibration index by local regression, from columns."""
    truth, p = _draw_columns(n)
    labels = truth.astype(np.float64)

    def ours() -> float:
        return measure.ici(br.tally(truth, p))

    def peer() -> float:
        # it=0: robustness iterations would treat the rarer outcome as outliers.
        return float(np.mean(np.abs(lowess(labels, p, frac=0.5, delta=0.001, it=0, return_sorted=False) - p)))

    return Pair(ours, peer, lambda a, b: max(abs(a - b) - 1e-9, 0.0))
