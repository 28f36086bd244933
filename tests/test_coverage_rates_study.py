"""The study of intervals of F1, MCC, balanced accuracy and cost runs, and its methods agree in large samples."""

import numpy as np
import pytest

from bench import coverage_rates
from bench.coverage_rates import METHODS, STUDIED, Setting


@pytest.mark.slow
@pytest.mark.parametrize("deployment", [None, 0.1])
def test_all_methods_agree_in_large_samples(deployment: float | None) -> None:
    setting = Setting(100_000, 0.3, 0.7, 0.1, deployment)
    tables = coverage_rates.draw_tables(np.random.default_rng(0), setting, 3)
    for name, scaled in STUDIED.items():
        low, high = METHODS["quadrature"](tables, scaled, setting, 0)
        for method in ("delta method", "simulated cells"):
            other = METHODS[method](tables, scaled, setting, 0)
            np.testing.assert_allclose(other, (low, high), atol=0.1 * float((high - low).max()), err_msg=name)


@pytest.mark.slow
def test_study_prints_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(coverage_rates, "PREVALENCES", (0.1,))
    monkeypatch.setattr(coverage_rates, "SIZES", (200,))
    assert coverage_rates.main(["--samples", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(METHODS)
    assert all(line.count("|") == len(STUDIED) + 2 for line in lines)
