"""The study of cross-fitting runs: cross-fitted measures are not optimistic, measures on the same rows are."""

import numpy as np
import pytest

from bench import honesty


@pytest.mark.slow
def test_cross_fitting_is_honest_and_own_rows_are_not() -> None:
    """Stratified folds would hide a third of the cost, since each fit would use the prevalence of its test rows."""
    for method in ("logistic", "isotonic"):
        runs = [worth for seed in range(150) if (worth := honesty.seen(method, 200, seed))]
        own, crossfitted, new = np.array(runs).T
        assert own.mean() < 0 < new.mean()
        differences = crossfitted - new
        error = differences.std() / np.sqrt(len(differences))
        # A fit to four fifths of the rows is slightly worse: the estimate is pessimistic, but not by much.
        assert -2 * error < differences.mean() < new.mean() / 2 + 3 * error


@pytest.mark.slow
def test_output_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert honesty.main(["--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(honesty.METHODS) * len(honesty.SIZES)
    assert all(line.count("|") == 6 for line in lines)
