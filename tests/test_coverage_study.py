"""The study of coverage runs, reports low coverages, and writes its page; coverages are not asserted."""

import re
from pathlib import Path

import pytest

from bench import coverage
from tests.tiers import take_in_tiers

PAGE = Path(__file__).parents[1] / "docs" / "intervals.md"


@pytest.fixture(autouse=True)
def small_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(coverage, "SIZES", (100,))
    monkeypatch.setattr(coverage, "AREAS", (0.8,))
    page = tmp_path / "intervals.md"
    page.write_text(f"before\n{coverage._MARK}\nold\n{coverage._END}\nafter\n", encoding="utf-8")  # noqa: SLF001
    monkeypatch.setattr(coverage, "_PAGE", page)
    return page


@pytest.mark.parametrize(
    "names", take_in_tiers([("sensitivity", "auc"), ("sensitivity", "brier_skill", "auc", "pr_auc")])
)
def test_low_coverages_are_studied_again(
    names: tuple[str, ...], small_study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # With so few samples, many coverages are low.
    coverage.main([*names, "--runs", "8", "--docs"])
    output = capsys.readouterr()
    again = re.search(rf"(\d+) of {9 * len(names)} coverages are below 0.945 and studied again", output.err)
    assert again is not None
    assert int(again[1]) > 0
    page = small_study.read_text(encoding="utf-8")
    assert page.startswith("before\n")
    assert page.endswith("\nafter\n")
    assert "old" not in page
    for name in (each.replace("_", " ") for each in names):
        assert name in page
        assert name in output.out


def test_low_coverage_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(coverage, "MIN_COVERAGE", 1.01)
    assert coverage.main(["auc", "--runs", "20"]) == 1
    assert re.search(r"auc in Setting\(prevalence=0\.\d.*: coverage 0\.\d+", capsys.readouterr().err)


def test_unknown_measure_raises(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        coverage.main(["recall"])
    assert "no measure 'recall'. Known are: sensitivity" in capsys.readouterr().err


def test_page_contains_every_measure() -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = page[page.index("<!-- coverage -->") : page.index("<!-- /coverage -->")]
    assert [line.split("|")[1].strip() for line in table.splitlines()[3:]] == [
        name.replace("_", " ") for name in coverage.NAMES
    ]
