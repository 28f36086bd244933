"""The simulation study of chosen thresholds runs, and corrected intervals cover better."""

import numpy as np
import pytest

from baserate import population
from bench import coverage_thresholds


@pytest.mark.slow
def test_corrected_intervals_cover_better_than_apparent_ones() -> None:
    distribution = population.binormal(means=(0, 0.5), prevalence=0.1)
    result = np.mean([coverage_thresholds.find_hits(distribution, 200, seed) for seed in range(40)], axis=0)
    shares = dict(zip(coverage_thresholds.COLUMNS, result, strict=True))
    assert shares["Youden apparent"] < 0.95
    assert shares["corrected"] > shares["Youden apparent"]


@pytest.mark.slow
def test_table_has_a_line_per_setting(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_thresholds, "ROWS", (100,))
    monkeypatch.setattr(coverage_thresholds, "DISTANCES", (1.5,))
    assert coverage_thresholds.main(["--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(line.count("|") == len(coverage_thresholds.COLUMNS) + 4 for line in lines)
