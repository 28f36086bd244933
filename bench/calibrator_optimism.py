"""How far what a map seems to be worth lies from what it is worth on new rows, for each method and size of sample.

Probabilities are drawn, moved by a known curve, and what happens is drawn from that. Then the truth about a fitted map
is an integral, and needs no test set. Run it with: python -m bench.calibrator_optimism
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baserate import FitError, calibrate, measure, tally

Floats = npt.NDArray[np.float64]

METHODS = ("offset", "logistic", "beta", "histogram", "isotonic", "strict-isotonic", "venn-abers")
SIZES = (200, 1000, 5000)
_GRID = 2001


class Worth(NamedTuple):
    """Brier score above that of the true probabilities, of one sample: what it seems on rows, and what it is."""

    own: float
    """On the rows it was fitted on."""
    crossfitted: float
    new: float


def truth_of(p: Floats) -> Floats:
    """What happens where probabilities that are too extreme, and for another prevalence, say p."""
    found: Floats = 1 / (1 + ((1 - p) / p) ** 0.6 * np.exp(0.4))
    return found


def seen(method: str, size: int, seed: int) -> Worth | None:
    """One sample; None where it determines no map."""
    rng = np.random.default_rng(seed)
    p = np.clip(rng.beta(1, 3, size), 1e-3, 1 - 1e-3)
    q = truth_of(p)
    happened = rng.random(size) < q
    sample = tally(happened, p)
    try:
        found, after = calibrate.fit(sample, method), calibrate.cross_fit(sample, method, seed=seed)
    except FitError:
        return None
    least = float(np.mean((happened - q) ** 2))
    own = measure.brier(sample.with_scores(found(sample.score)))
    # Quantiles of all probabilities there are: Beta(1, 3) has them in closed form.
    everywhere = np.clip(1 - (1 - (np.arange(_GRID) + 0.5) / _GRID) ** (1 / 3), 1e-3, 1 - 1e-3)
    new = float(np.mean((found(everywhere) - truth_of(everywhere)) ** 2))
    return Worth(own - least, measure.brier(after) - least, new)


def mean_worth(method: str, size: int, runs: int) -> Worth:
    """Mean over many samples."""
    found = [worth for seed in range(runs) if (worth := seen(method, size, seed)) is not None]
    return Worth(*(float(each) for each in np.mean(found, axis=0)))


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown: in ten thousandths of the Brier score, above that of the truth."""
    parser = ArgumentParser(
        prog="python -m bench.calibrator_optimism", description="What maps seem to be worth, and what they are."
    )
    parser.add_argument("--runs", type=int, default=200, help="samples of each size")
    asked = parser.parse_args(argv)
    print("| method | rows | on its own rows | cross-fitted | on new rows |\n|---|---|---|---|---|")
    for size in SIZES:
        for method in METHODS:
            worth = (f"{1e4 * each:.1f}".replace("-", "−") for each in mean_worth(method, size, asked.runs))
            print(f"| {method} | {size} | {' | '.join(worth)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
