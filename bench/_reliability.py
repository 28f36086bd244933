"""Rows about calibration, beside calzone and statsmodels."""

from __future__ import annotations

import warnings
from functools import partial
from time import perf_counter

import numpy as np
import numpy.typing as npt
from statsmodels.nonparametric.smoothers_lowess import lowess

import baserate as br
from baserate import infer, measure
from bench._row import Duel, Outcome, medians

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own imports
    from calzone.metrics import CalibrationMetrics

_TURNS = 20
"""Turns of a loop that are timed."""
_RESAMPLES = 1000
_NEAR = 1e-3
"""It leaves the lowest row out of bins of equal mass, and clips at 1e-7."""
_SAME = {"ECE-H": "ece", "MCE-H": "mce", "COX coef": "calibration_slope", "Loess ICI": "ici"}
_BINNED = ("ECE-H", "MCE-H", "ECE-C", "MCE-C")

Columns = tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]


def _columns(n: int) -> Columns:
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, n)
    return rng.random(n) < p, p


def everything(n: int) -> Duel:
    """All that calzone computes, from columns."""
    truth, p = _columns(n)
    labels, both = truth.astype(np.int64), np.stack([1 - p, p], axis=1)

    def ours() -> dict[str, float]:
        sample = br.tally(truth, p)
        top = sample.top_class()
        found = {"top " + name: each for name, each in _in_bins(top).items()} | _in_bins(sample)
        by_width, by_mass = (infer.hosmer_lemeshow(sample, by=by, fitted=True) for by in ("width", "mass"))
        found |= {"HL-H": by_width.statistic, "HL-C": by_mass.statistic}
        found["z"] = infer.spiegelhalter(sample).statistic
        line = {name: infer.estimate(name, sample) for name in ("calibration_slope", "calibration_intercept")}
        found |= {name: each.value for name, each in line.items()}
        return found | {"cox_ici": measure.cox_ici(sample), "ici": measure.ici(sample)}

    def rival() -> dict[str, float]:
        return dict(CalibrationMetrics(class_to_calculate=1).calculate_metrics(labels, both, "all"))

    return Duel(ours, rival, _difference)


def _in_bins(sample: br.Tally) -> dict[str, float]:
    return {
        **{name: getattr(measure, name)(sample) for name in ("ece", "mce")},
        **{f"{name} by mass": getattr(measure, name)(sample, by="mass") for name in ("ece", "mce")},
    }


def _difference(ours: dict[str, float], rival: dict[str, float]) -> float:
    worst = max(abs(ours[name] - rival[other]) for other, name in _SAME.items())
    return max(worst - _NEAR, 0.0)


def resampled(n: int, repeats: int, *, local: bool) -> Outcome:
    """Percentiles of all that is no test statistic, with rows drawn again, beside calzone's loop."""
    truth, p = _columns(n)
    labels, both = truth.astype(np.int64), np.stack([1 - p, p], axis=1)
    bins = [partial(each, by=by) for by in ("width", "mass") for each in (measure.ece, measure.mce)]
    line = [measure.calibration_slope, measure.calibration_intercept, measure.cox_ici]

    def ours() -> list[br.Estimate]:
        sample = br.tally(truth, p)
        found = infer.bootstrap([*bins, *line, *([measure.ici] if local else [])], sample, n_bootstrap=_RESAMPLES)
        return found + infer.bootstrap(bins, sample.top_class(), n_bootstrap=_RESAMPLES)

    wanted = [*_BINNED, "COX", *(["Loess"] if local else [])]
    rival = CalibrationMetrics(class_to_calculate=1)
    np.random.seed(0)  # noqa: NPY002  (it draws from the global state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of draws whose classes are parted
        start = perf_counter()
        rival.bootstrap(labels, both, wanted, n_samples=_TURNS)
        looped = (perf_counter() - start) / _TURNS * _RESAMPLES
    (seconds,) = medians([ours], repeats)
    return Outcome(seconds, looped, note=f"the loop's first {_TURNS} of {_RESAMPLES} turns")


def local_index(n: int) -> Duel:
    """Integrated calibration index of a local regression, from columns."""
    truth, p = _columns(n)
    labels = truth.astype(np.float64)

    def ours() -> float:
        return measure.ici(br.tally(truth, p))

    def rival() -> float:
        return float(np.mean(np.abs(lowess(labels, p, frac=0.5, delta=0.001, it=0, return_sorted=False) - p)))

    return Duel(ours, rival, lambda a, b: max(abs(a - b) - 1e-9, 0.0))
