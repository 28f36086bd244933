"""The simulation study of smooth ROC curves runs, and the closed form covers."""

import numpy as np
import pytest

from baserate import population
from bench import coverage_smooth_roc


def test_intervals_of_maximum_likelihood_cover() -> None:
    truth = population.binormal(means=(0, 1))
    outcomes = [
        coverage_smooth_roc.find_hits("binormal-ml", truth, (30, 60), seed=seed, samples=0) for seed in range(200)
    ]
    hits = np.mean([each.hits for each in outcomes if each is not None], axis=0)
    assert (hits > 0.9).all()


def test_table_has_a_line_per_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert coverage_smooth_roc.main(["normal", "--runs", "2", "--samples", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(coverage_smooth_roc.SIZES) * len(coverage_smooth_roc.CLASSES)
    assert all(line.count("|") == len(coverage_smooth_roc.COLUMNS) + 4 for line in lines)
