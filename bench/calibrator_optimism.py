"""Simulation study of the optimism of calibrators: Brier scores on their own rows, cross-fitted, and on new rows.

Outcomes follow a known curve of the probabilities, so the Brier score of a calibrator on new rows is an integral, and
needs no test set. Run it with: python -m bench.calibrator_optimism
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baserate import FitError, calibration, measure, tally

Floats = npt.NDArray[np.float64]

METHODS = ("offset", "logistic", "beta", "histogram", "isotonic", "strict-isotonic", "venn-abers")
SIZES = (200, 1000, 5000)
_GRID = 2001


class ExcessBrier(NamedTuple):
    """Brier scores of a calibrator, less that of the true probabilities."""

    own: float
    """Apparent: on the rows that it is fitted to."""
    crossfitted: float
    new: float
    """Expected: on new rows."""


def true_probability(p: Floats) -> Floats:
    """Compute the true probability: p is too extreme, and for another prevalence."""
    return np.asarray(1 / (1 + ((1 - p) / p) ** 0.6 * np.exp(0.4)))


def fit_sample(method: str, size: int, seed: int) -> ExcessBrier | None:
    """Fit a calibrator to one sample; return None where the fit fails."""
    rng = np.random.default_rng(seed)
    p = np.clip(rng.beta(1, 3, size), 1e-3, 1 - 1e-3)
    q = true_probability(p)
    truth = rng.random(size) < q
    sample = tally(truth, p)
    try:
        calibrator, crossfitted = calibration.fit(sample, method), calibration.cross_fit(sample, method, seed=seed)
    except FitError:
        return None
    reference = float(np.mean((truth - q) ** 2))
    own = measure.brier(sample.with_scores(calibrator(sample.score)))
    # Quantiles of the probabilities of new rows: those of Beta(1, 3) have a closed form.
    quantiles = np.clip(1 - (1 - (np.arange(_GRID) + 0.5) / _GRID) ** (1 / 3), 1e-3, 1 - 1e-3)
    new = float(np.mean((calibrator(quantiles) - true_probability(quantiles)) ** 2))
    return ExcessBrier(own - reference, measure.brier(crossfitted) - reference, new)


def mean_excess(method: str, size: int, runs: int) -> ExcessBrier:
    """Average over many samples, without failed fits."""
    samples = [excess for seed in range(runs) if (excess := fit_sample(method, size, seed)) is not None]
    return ExcessBrier(*(float(each) for each in np.mean(samples, axis=0)))


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown, in units of 1e-4."""
    parser = ArgumentParser(prog="python -m bench.calibrator_optimism", description="Optimism of calibrators.")
    parser.add_argument("--runs", type=int, default=200, help="samples of each size [default: 200]")
    options = parser.parse_args(argv)
    print("| method | rows | on its own rows | cross-fitted | on new rows |\n|---|---|---|---|---|")
    for size in SIZES:
        for method in METHODS:
            cells = (f"{1e4 * each:.1f}".replace("-", "−") for each in mean_excess(method, size, options.runs))
            print(f"| {method} | {size} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
