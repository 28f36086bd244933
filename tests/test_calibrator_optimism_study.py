"""The study of cross-fitting: it sees what it should, and what it sees is honest."""

import numpy as np
import pytest

from bench import calibrator_optimism


@pytest.mark.slow
def test_cross_fitting_is_honest_and_own_rows_are_not() -> None:
    """Folds with equal shares of each class would hide a third of the cost: they know each other's prevalence."""
    for method in ("logistic", "isotonic"):
        runs = [worth for seed in range(150) if (worth := calibrator_optimism.seen(method, 200, seed))]
        own, crossfitted, new = np.array(runs).T
        assert own.mean() < 0 < new.mean()
        apart = crossfitted - new
        error = apart.std() / np.sqrt(len(apart))
        # Four fifths of the rows make a slightly worse map: never better than it is, and not much worse.
        assert -2 * error < apart.mean() < new.mean() / 2 + 3 * error


@pytest.mark.slow
def test_it_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrator_optimism.main(["--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(calibrator_optimism.METHODS) * len(calibrator_optimism.SIZES)
    assert all(line.count("|") == 6 for line in lines)
