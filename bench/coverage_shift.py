"""Simulation study of the coverage of intervals of estimated prevalences, ours and QuaPy's.

The two classes are normal, with means 1.5 standard deviations apart. The validation set has a prevalence of 0.4; the
thousand target rows have another. Run it with:
python -m bench.coverage_shift
"""

from __future__ import annotations

import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from math import erf, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

import baserate as br
from baserate import Target, shift

Floats = npt.NDArray[np.float64]

VALIDATION = (200, 500, 2000)
PREVALENCES = (0.02, 0.1, 0.5, 0.9)
METHODS = ("binned", "mlls", "pacc", "acc")
MEASURES = ("precision", "npv", "accuracy", "f1")
COLUMNS = (*METHODS, *(f"{name} at the estimate" for name in MEASURES), "target alone", "QuaPy")
_DISTANCE, _PREVALENCE, _TARGET_ROWS, _THRESHOLD, _LEVEL = 1.5, 0.4, 1000, 0.5, 0.95
_Z = 1.959963984540054
_N_BOOTSTRAP = 500
"""Default of QuaPy."""


def draw_rows(rng: np.random.Generator, n: int, share: float) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Draw labels, and posteriors that are calibrated at the prevalence of the validation set."""
    truth = rng.random(n) < share
    score = rng.normal(_DISTANCE * truth, 1.0)
    return truth, 1 / (1 + np.exp(_DISTANCE**2 / 2 - _DISTANCE * score - np.log(_PREVALENCE / (1 - _PREVALENCE))))


def true_values(share: float) -> dict[str, float]:
    """Compute the measures of decisions in the population."""
    # The score at which the posterior equals the threshold.
    cut = (
        np.log(_THRESHOLD / (1 - _THRESHOLD)) - np.log(_PREVALENCE / (1 - _PREVALENCE)) + _DISTANCE**2 / 2
    ) / _DISTANCE

    def normal_tail(x: float) -> float:
        return (1 - erf(x / sqrt(2))) / 2

    first, second = normal_tail(cut - _DISTANCE), normal_tail(cut)
    counts = br.Counts(share * first, (1 - share) * second, share * (1 - first), (1 - share) * (1 - second))
    return {name: float(br.measure.MEASURES[name](counts)) for name in MEASURES}


def find_hits(rows: int, share: float, seed: int) -> dict[str, bool]:
    """Return which of our intervals of one sample contain the true value."""
    rng = np.random.default_rng(seed)
    validation, target = br.tally(*draw_rows(rng, rows, _PREVALENCE)), Target(draw_rows(rng, _TARGET_ROWS, share)[1])
    hits: dict[str, bool] = {}
    for method in METHODS:
        estimate = shift.estimate_prevalence(target, validation, method=method, level=_LEVEL).estimate
        hits[method] = estimate.low <= share <= estimate.high
    likelihood = shift.estimate_prevalence(target, validation, method="mlls", level=_LEVEL)
    # An interval that takes the validation set for the truth, as QuaPy's does.
    hits["target alone"] = abs(likelihood.value - share) <= _Z * sqrt(likelihood.target_variance)
    prevalence, truth = shift.estimate_prevalence(target, validation, level=_LEVEL), true_values(share)
    for row in shift.adjusted_summary(prevalence, measures=MEASURES, threshold=_THRESHOLD).rows():
        if row["measure"] in truth:
            hits[f"{row['measure']} at the estimate"] = row["low"] <= truth[row["measure"]] <= row["high"]
    return hits


class _PassthroughClassifier(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose features are its posteriors."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, _x: Floats, _y: Floats) -> _PassthroughClassifier:
        return self

    def predict_proba(self, x: Floats) -> Floats:
        return x

    def predict(self, x: Floats) -> Any:  # noqa: ANN401  (an array of labels)
        return x.argmax(axis=1)


def find_quapy_hit(rows: int, share: float, seed: int) -> bool:
    """Return whether QuaPy's interval of the same sample contains the true value: EMQ, 500 bootstrap samples.

    QuaPy gets posteriors that are recalibrated on the validation set, as our estimator recalibrates them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from quapy.method.aggregative import EMQ
        from quapy.method.confidence import AggregativeBootstrap

        rng = np.random.default_rng(seed)
        (truth, p), (_, q) = draw_rows(rng, rows, _PREVALENCE), draw_rows(rng, _TARGET_ROWS, share)
        calibrator = br.calibration.logistic(br.tally(truth, p))
        p, q = calibrator(p), calibrator(q)
        model = EMQ(_PassthroughClassifier(), fit_classifier=False)
        # Its parallel workers ignore `random_state`: the column of QuaPy varies between runs.
        bootstrap = AggregativeBootstrap(model, n_test_samples=_N_BOOTSTRAP, confidence_level=_LEVEL, random_state=seed)
        bootstrap.fit(np.column_stack([1 - p, p]), truth.astype(int))
        _, region = bootstrap.predict_conf(np.column_stack([1 - q, q]))
    return bool(region.I_low[1] <= share <= region.I_high[1])


def study_coverage(runs: int, quapy_runs: int) -> Iterator[tuple[int, float, dict[str, float]]]:
    """Yield the share of samples whose interval contains the true value, for each size of validation and prevalence."""
    for rows in VALIDATION:
        for share in PREVALENCES:
            hits = [find_hits(rows, share, seed) for seed in range(runs)]
            table = {name: float(np.mean([each[name] for each in hits])) for name in hits[0]}
            if quapy_runs:
                table["QuaPy"] = float(np.mean([find_quapy_hit(rows, share, seed) for seed in range(quapy_runs)]))
            yield rows, share, table


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown, in per cent of the samples."""
    parser = ArgumentParser(prog="python -m bench.coverage_shift", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="samples in each setting [default: 1000]")
    parser.add_argument("--quapy", type=int, default=100, help="samples for QuaPy, 0 for none [default: 100]")
    options = parser.parse_args(argv)
    columns = COLUMNS if options.quapy else COLUMNS[:-1]
    print(f"| validation | prevalence | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 2)}")
    for rows, share, table in study_coverage(options.runs, options.quapy):
        print(f"| {rows} | {share} | {' | '.join(f'{100 * table[name]:.1f}' for name in columns)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
