"""The study of optimism: calibrators look too good on their own rows, and not when cross-fitted."""

import numpy as np
import pytest

from bench import calibrator_optimism


@pytest.mark.slow
def test_cross_fitted_scores_are_not_optimistic() -> None:
    """Stratified folds would have the prevalence of the training rows, which hides the error of the intercept."""
    for method in ("logistic", "isotonic"):
        runs = [excess for seed in range(150) if (excess := calibrator_optimism.fit_sample(method, 200, seed))]
        own, crossfitted, new = np.array(runs).T
        assert own.mean() < 0 < new.mean()
        difference = crossfitted - new
        error = difference.std() / np.sqrt(len(difference))
        # Calibrators of four fifths of the rows are slightly worse than that of all rows, and never better.
        assert -2 * error < difference.mean() < new.mean() / 2 + 3 * error


@pytest.mark.slow
def test_table_has_a_line_per_method_and_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrator_optimism.main(["--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(calibrator_optimism.METHODS) * len(calibrator_optimism.SIZES)
    assert all(line.count("|") == 6 for line in lines)
