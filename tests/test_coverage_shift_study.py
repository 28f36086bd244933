"""The study of coverage under label shift runs, and shows that the validation error matters."""

import numpy as np
import pytest

from bench import coverage_shift


@pytest.mark.slow
def test_intervals_without_the_validation_error_are_too_short() -> None:
    result = [coverage_shift.find_hits(200, 0.5, seed) for seed in range(60)]
    ours, alone = (np.mean([each[name] for each in result]) for name in ("mlls", "target alone"))
    assert alone < 0.85
    assert ours > 0.88


@pytest.mark.slow
def test_quapy_runs_on_the_same_sample() -> None:
    assert isinstance(coverage_shift.find_quapy_hit(200, 0.1, 0), bool)


def test_true_values_agree_with_a_large_sample() -> None:
    truth = coverage_shift.true_values(0.3)
    rng = np.random.default_rng(0)
    outcome, p = coverage_shift.draw_rows(rng, 400_000, 0.3)
    flagged = p >= 0.5
    assert truth["precision"] == pytest.approx((outcome & flagged).sum() / flagged.sum(), abs=0.005)
    assert truth["accuracy"] == pytest.approx((outcome == flagged).mean(), abs=0.005)


def test_table_has_a_line_per_setting(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_shift, "VALIDATION", (200,))
    monkeypatch.setattr(coverage_shift, "PREVALENCES", (0.1, 0.5))
    assert coverage_shift.main(["--runs", "2", "--quapy", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(line.count("|") == len(coverage_shift.COLUMNS) + 2 for line in lines)
