"""How often intervals of an estimated prevalence hold the truth, ours and QuaPy's, where the truth is known.

Two normal classes 1.5 apart; validation at a prevalence of 0.4, a thousand target rows at another. Run it with:
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
_APART, _AT, _ROWS, _CUT, _LEVEL = 1.5, 0.4, 1000, 0.5, 0.95
_Z = 1.959963984540054
_DRAWS = 500
"""What QuaPy draws when nobody says how often."""


def drawn(rng: np.random.Generator, n: int, share: float) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Truth, and posteriors that are right at the prevalence of validation."""
    truth = rng.random(n) < share
    score = rng.normal(_APART * truth, 1.0)
    return truth, 1 / (1 + np.exp(_APART**2 / 2 - _APART * score - np.log(_AT / (1 - _AT))))


def true_values(share: float) -> dict[str, float]:
    """Measures of decisions in the population."""
    cut = (np.log(_CUT / (1 - _CUT)) - np.log(_AT / (1 - _AT)) + _APART**2 / 2) / _APART

    def above(x: float) -> float:
        return (1 - erf(x / sqrt(2))) / 2

    first, second = above(cut - _APART), above(cut)
    counts = br.Counts(share * first, (1 - share) * second, share * (1 - first), (1 - share) * (1 - second))
    return {name: float(br.measure.MEASURES[name](counts)) for name in MEASURES}


def hits(rows: int, share: float, seed: int) -> dict[str, bool]:
    """Of one sample, which intervals of ours hold the truth; without those that are refused."""
    rng = np.random.default_rng(seed)
    validation, target = br.tally(*drawn(rng, rows, _AT)), Target(drawn(rng, _ROWS, share)[1])
    found: dict[str, bool] = {}
    for method in METHODS:
        estimate = shift.estimate_prevalence(target, validation, method=method, level=_LEVEL).estimate
        found[method] = estimate.low <= share <= estimate.high
    alone = shift.estimate_prevalence(target, validation, method="mlls", level=_LEVEL)
    found["target alone"] = abs(alone.value - share) <= _Z * sqrt(alone.target_variance)
    made, truth = shift.estimate_prevalence(target, validation, level=_LEVEL), true_values(share)
    for row in shift.adjusted_summary(made, measures=MEASURES, threshold=_CUT).rows():
        if row["measure"] in truth:
            found[f"{row['measure']} at the estimate"] = row["low"] <= truth[row["measure"]] <= row["high"]
    return found


class _Same(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier whose features are its posteriors."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, _x: Floats, _y: Floats) -> _Same:
        return self

    def predict_proba(self, x: Floats) -> Floats:
        return x

    def predict(self, x: Floats) -> Any:  # noqa: ANN401  (an array of labels)
        return x.argmax(axis=1)


def quapy_hit(rows: int, share: float, seed: int) -> bool:
    """Whether QuaPy's interval of the same sample holds the truth: EMQ, 500 draws of the target.

    It is given the posteriors after recalibration on the validation set, as ours uses them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from quapy.method.aggregative import EMQ
        from quapy.method.confidence import AggregativeBootstrap

        rng = np.random.default_rng(seed)
        (truth, p), (_, q) = drawn(rng, rows, _AT), drawn(rng, _ROWS, share)
        right = br.calibrate.logistic(br.tally(truth, p))
        p, q = right(p), right(q)
        model = EMQ(_Same(), fit_classifier=False)
        bootstrap = AggregativeBootstrap(model, n_test_samples=_DRAWS, confidence_level=_LEVEL, random_state=seed)
        bootstrap.fit(np.column_stack([1 - p, p]), truth.astype(int))
        _, region = bootstrap.predict_conf(np.column_stack([1 - q, q]))
    return bool(region.I_low[1] <= share <= region.I_high[1])


def study(runs: int, others: int) -> Iterator[tuple[int, float, dict[str, float]]]:
    """Share of samples whose interval holds the truth, for each size of validation and each prevalence."""
    for rows in VALIDATION:
        for share in PREVALENCES:
            found = [hits(rows, share, seed) for seed in range(runs)]
            table = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
            if others:
                table["QuaPy"] = float(np.mean([quapy_hit(rows, share, seed) for seed in range(others)]))
            yield rows, share, table


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown: per cent of the samples."""
    parser = ArgumentParser(prog="python -m bench.coverage_shift", description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="samples at each place")
    parser.add_argument("--quapy", type=int, default=100, help="samples that QuaPy is given, too; 0 for none")
    asked = parser.parse_args(argv)
    columns = COLUMNS if asked.quapy else COLUMNS[:-1]
    print(f"| validation | prevalence | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 2)}")
    for rows, share, table in study(asked.runs, asked.quapy):
        print(f"| {rows} | {share} | {' | '.join(f'{100 * table[name]:.1f}' for name in columns)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
