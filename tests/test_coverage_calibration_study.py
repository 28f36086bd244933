"""The study of calibration intervals and tests runs, and writes its page; coverages are not asserted."""

from pathlib import Path

import numpy as np
import pytest

from baserate import infer
from bench import coverage_calibration


@pytest.fixture(autouse=True)
def small_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(coverage_calibration, "SIZES", (100,))
    monkeypatch.setattr(coverage_calibration, "SHAPES", ((0.5, 0.5),))
    monkeypatch.setattr(coverage_calibration, "N_SIMULATIONS", 20)
    page = tmp_path / "reliability.md"
    marks = (
        "before",
        "<!-- sizes -->",
        "old",
        "<!-- /sizes -->",
        "between",
        "<!-- covers -->",
        "<!-- /covers -->",
        "after",
    )
    page.write_text("\n".join(marks), encoding="utf-8")
    monkeypatch.setattr(coverage_calibration, "_PAGE", page)
    return page


@pytest.mark.slow
def test_both_tables_are_printed_and_written(small_study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert coverage_calibration.main(["--runs", "4", "--docs"]) == 0
    output, page = capsys.readouterr().out, small_study.read_text(encoding="utf-8")
    assert "old" not in page
    assert page.startswith("before\n")
    assert page.endswith("\nafter")
    for text in (output, page):
        assert "| hosmer lemeshow | " in text
        assert "| null reference of ece | " in text
        assert "| rmsce debiased | " in text


@pytest.mark.slow
def test_true_values_agree_with_a_large_sample() -> None:
    setting = coverage_calibration.Setting((2.0, 2.0), 200_000, (-0.5, 0.8))
    sample, probability = coverage_calibration._draw_sample(setting, np.random.default_rng(0))  # noqa: SLF001
    for name, value in coverage_calibration._true_values(setting).items():  # noqa: SLF001
        result = infer.estimate(name, sample, level=0.9999)
        assert result.low <= value <= result.high, name
    result = infer.estimate("rmsce_debiased", sample, level=0.9999)
    assert result.low <= coverage_calibration._true_binned_error(sample, probability) <= result.high  # noqa: SLF001
