"""The study of calibration runs and fills the page; its results are not tested."""

from pathlib import Path

import numpy as np
import pytest

from baserate import infer
from bench import calibration


@pytest.fixture(autouse=True)
def small_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(calibration, "SIZES", (100,))
    monkeypatch.setattr(calibration, "SHAPES", ((0.5, 0.5),))
    monkeypatch.setattr(calibration, "SAMPLES", 20)
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
    monkeypatch.setattr(calibration, "_PAGE", page)
    return page


@pytest.mark.slow
def test_both_tables_are_made(small_study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert calibration.main(["--runs", "4", "--docs"]) == 0
    output, page = capsys.readouterr().out, small_study.read_text(encoding="utf-8")
    assert "old" not in page
    assert page.startswith("before\n")
    assert page.endswith("\nafter")
    for text in (output, page):
        assert "| hosmer lemeshow | " in text
        assert "| null reference of ece | " in text
        assert "| rmsce debiased | " in text


@pytest.mark.slow
def test_true_values_equal_those_of_many_rows() -> None:
    place = calibration.Place((2.0, 2.0), 200_000, (-0.5, 0.8))
    sample, chance = calibration._sample(place, np.random.default_rng(0))  # noqa: SLF001
    for name, value in calibration._truth(place).items():  # noqa: SLF001
        result = infer.estimate(name, sample, level=0.9999)
        assert result.low <= value <= result.high, name
    result = infer.estimate("rmsce_debiased", sample, level=0.9999)
    assert result.low <= calibration._gap_in_bins(sample, chance) <= result.high  # noqa: SLF001
