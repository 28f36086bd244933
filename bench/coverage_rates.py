"""Simulation study of intervals of F1, MCC, balanced accuracy and cost by three methods, as a table in Markdown.

    python -m bench.coverage_rates                2000 samples in each setting
    python -m bench.coverage_rates --samples 200

Tables have 200 and 2000 rows, prevalences from 2 to 50% and four pairs of rates. They are evaluated in the sample,
where the number of positives is random, and at a known prevalence of 2 and 30%, where it is not. The methods are bounds
of the parts in quadrature (the default), the delta method with half a row added to each cell, on log-odds or Fisher's
z, and percentiles of simulated cells with half a row added to each, and without where one is empty.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple
from warnings import catch_warnings

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from baserate import Costs, Counts, shift
from baserate.infer import normal_quantile, rate_interval
from baserate.measure import MEASURES, Measure, expected_cost

LEVEL = 0.95
SIZES = (200, 2000)
PREVALENCES = (0.02, 0.05, 0.1, 0.3, 0.5)
RATES = ((0.6, 0.05), (0.9, 0.2), (0.3, 0.01), (0.95, 0.02))
"""Sensitivity and false positive rate."""
DEPLOYMENTS = (None, 0.02, 0.3)
MISS_COST = 20
N_TABLES = 1000
"""Simulated tables of one sample."""

Floats = npt.NDArray[np.float64]


class ScaledMeasure(NamedTuple):
    """A measure, and the scale on which the delta method is used."""

    measure: Measure
    forward: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]


class Setting(NamedTuple):
    """Number of rows, prevalence, sensitivity and false positive rate of samples, and a known prevalence or None."""

    rows: int
    prevalence: float
    sensitivity: float
    fpr: float
    deployment: float | None


STUDIED: dict[str, ScaledMeasure] = {
    "F1": ScaledMeasure(MEASURES["f1"], logit, expit),
    "MCC": ScaledMeasure(MEASURES["mcc"], np.arctanh, np.tanh),
    "balanced accuracy": ScaledMeasure(MEASURES["balanced_accuracy"], logit, expit),
    "cost": ScaledMeasure(partial(expected_cost, costs=Costs(fp=1, fn=MISS_COST)), np.log, np.exp),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the lowest coverage of each method and measure, and its mean width relative to quadrature."""
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=2000)
    samples = parser.parse_args(argv).samples
    results: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for place, setting in enumerate(settings()):
        for key, result in study(setting, samples, place).items():
            results.setdefault(key, []).append(result)
    print(f"| lowest / mean coverage, median width | {' | '.join(STUDIED)} |\n|---|{'---|' * len(STUDIED)}")
    for method in METHODS:
        cells = []
        for name in STUDIED:
            shares, widths = zip(*results[method, name], strict=True)
            own = np.median(np.divide(widths, [width for _, width in results["quadrature", name]]))
            cells.append(f"{100 * min(shares):.1f} / {100 * np.mean(shares):.1f}%, {own:.2f}")
        print(f"| {method} | {' | '.join(cells)} |")
    return 0


def settings() -> Iterator[Setting]:
    """Yield all settings."""
    for rows, prevalence, rates, deployment in product(SIZES, PREVALENCES, RATES, DEPLOYMENTS):
        yield Setting(rows, prevalence, *rates, deployment)


def study(setting: Setting, samples: int, seed: int) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the coverage and the median width of each method and measure in one setting."""
    rng = np.random.default_rng(seed)
    tables = draw_tables(rng, setting, samples)
    cells = np.array([setting.sensitivity, setting.fpr, 1 - setting.sensitivity, 1 - setting.fpr])
    share = setting.prevalence
    truth = _adjust(_as_counts(cells * [share, 1 - share, share, 1 - share]), setting.deployment)
    result: dict[tuple[str, str], tuple[float, float]] = {}
    for method, bound in METHODS.items():
        for name, scaled in STUDIED.items():
            with np.errstate(all="ignore"):
                value = np.asarray(scaled.measure(_adjust(_as_counts(tables), setting.deployment)))
                low, high = bound(tables, scaled, setting, seed)
                low, high = np.fmin(low, value), np.fmax(high, value)
            defined = ~np.isnan(value)
            right = (low <= scaled.measure(truth)) & (scaled.measure(truth) <= high)
            result[method, name] = float(right[defined].mean()), float(np.median((high - low)[defined]))
    return result


def draw_tables(rng: np.random.Generator, setting: Setting, samples: int) -> Floats:
    """Draw cells tp, fp, fn and tn as rows; where the prevalence is known, the number of positives is fixed."""
    positives = np.full(samples, max(round(setting.rows * setting.prevalence), 1))
    if setting.deployment is None:
        # A sample without one of the classes has no measures.
        positives = np.clip(rng.binomial(setting.rows, setting.prevalence, samples), 1, setting.rows - 1)
    tp, fp = rng.binomial(positives, setting.sensitivity), rng.binomial(setting.rows - positives, setting.fpr)
    return np.array([tp, fp, positives - tp, setting.rows - positives - fp], dtype=np.float64)


def _as_counts(cells: Floats) -> Counts[Any]:
    return Counts(*cells)


def _adjust(counts: Counts[Any], prevalence: float | None) -> Counts[Any]:
    """Reweight tables to a known prevalence."""
    return counts if prevalence is None else shift.reweigh(counts, prevalence=prevalence)


def _bound_by_quadrature(tables: Floats, scaled: ScaledMeasure, setting: Setting, _seed: int) -> tuple[Floats, Floats]:
    low, high, _ = rate_interval(_adjust(_as_counts(tables), setting.deployment), scaled.measure, LEVEL)
    return low, high


def _bound_by_delta(tables: Floats, scaled: ScaledMeasure, setting: Setting, _seed: int) -> tuple[Floats, Floats]:
    """Use the delta method within each class, and with the prevalence as a third part where it is not known."""
    tp, fp, fn, tn = tables + 0.5
    positives, negatives = tp + fn, fp + tn
    parts = [positives / (positives + negatives), tp / positives, fp / negatives]
    sizes = [positives + negatives, positives, negatives]
    if setting.deployment is not None:
        parts[0], sizes[0] = np.full(len(tp), setting.deployment), np.full(len(tp), np.inf)

    def evaluate(share: Floats, sensitivity: Floats, fpr: Floats) -> Floats:
        cells = [share * sensitivity, (1 - share) * fpr, share * (1 - sensitivity), (1 - share) * (1 - fpr)]
        return scaled.forward(np.asarray(scaled.measure(Counts(*cells))))

    variance, step = np.zeros(len(tp)), 1e-6
    for at, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        ends = [evaluate(*(each + sign * step * (to == at) for to, each in enumerate(parts))) for sign in (1, -1)]
        variance += ((ends[0] - ends[1]) / (2 * step)) ** 2 * part * (1 - part) / size
    half = normal_quantile(LEVEL) * np.sqrt(variance)
    return scaled.back(evaluate(*parts) - half), scaled.back(evaluate(*parts) + half)


def _bound_by_simulation(tables: Floats, scaled: ScaledMeasure, setting: Setting, seed: int) -> tuple[Floats, Floats]:
    """Take percentiles of Dirichlet tables; of tables with an empty cell, the wider ones with and without a prior."""
    rng, tail = np.random.default_rng(seed), (1 - LEVEL) / 2
    bounds = []
    for cells in tables.T:
        filled = rng.gamma(cells[:, None] + 0.5, size=(4, N_TABLES))
        ways = [filled, filled * (cells > 0)[:, None]] if (cells == 0).any() else [filled]
        with np.errstate(all="ignore"), catch_warnings(action="ignore", category=RuntimeWarning):
            values = [scaled.measure(Counts(*_fix_classes(way, setting.deployment))) for way in ways]
            ends = [np.nanquantile(each, [tail, 1 - tail]) for each in values]
        # All tables without a prior may be undefined.
        bounds.append((np.nanmin([low for low, _ in ends]), np.nanmax([high for _, high in ends])))
    low, high = np.transpose(bounds)
    return low, high


def _fix_classes(tables: Floats, prevalence: float | None) -> Floats:
    """Rescale the classes of simulated tables to a known prevalence."""
    if prevalence is None:
        return tables
    whole = np.tile(tables[:2] + tables[2:], (2, 1))
    shares: Floats = tables / whole * np.tile([[prevalence], [1 - prevalence]], (2, 1))
    return shares


METHODS = {
    "quadrature": _bound_by_quadrature,
    "delta method": _bound_by_delta,
    "simulated cells": _bound_by_simulation,
}

if __name__ == "__main__":
    raise SystemExit(main())
