"""The coverage audit summarizes outcomes, lists missed targets, and writes its page."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from bench import coverage_audit
from bench._audit import (
    Bounds,
    Correction,
    HalfWidth,
    Outcome,
    Power,
    Refusal,
    Rejection,
    Scenario,
    summarize,
)
from tests.tiers import take_in_tiers

PAGE = Path(__file__).parents[1] / "docs" / "coverage_audit.md"
SCENARIOS = coverage_audit.all_scenarios()
FASTER = {"two normals, 150 rows": "calibrated, 300 rows"}
"""First scenario of a subject -> a faster one that is tested in its place."""
QUICK = {subject: FASTER.get(name, name) for subject, name in reversed(SCENARIOS)}


def normal_mean(rng: np.random.Generator) -> Mapping[str, Outcome]:
    """Mean of 50 normal values: intervals that are exact, too wide and too narrow, a test, and a refusal."""
    mean = float(rng.normal(size=50).mean())
    half = 1.96 / np.sqrt(50)
    return {
        "mean": Bounds(mean - 2 * half, mean + 2 * half, 0.0),
        "mean: exact": Bounds(mean - half, mean + half, 0.0),
        "short": Bounds(mean - half / 2, mean + half / 2, 0.0),
        "test": Rejection(abs(mean) > half),
        "refused": Refusal("for no reason"),
    }


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario("toy", normal_mean)
    monkeypatch.setattr(coverage_audit, "all_scenarios", lambda: {("toys", "toy"): scenario})


def test_coverage_is_the_share_of_intervals_with_the_true_value() -> None:
    result = summarize("s", "q", [Bounds(0, 2, 1), Bounds(0, 4, 5), Bounds(1, 1, 1), Refusal("none")])
    assert (result.kind, result.width) == ("coverage", 2)
    assert result.value == pytest.approx(2 / 3)
    assert (result.replicates, result.refused, result.reasons) == (3, 1, ("none",))
    assert not summarize("s", "q", [Bounds(0, 1, 2)] * 20).passes
    near = summarize("s", "q", [Bounds(0, 1, 2 if at < 10 else 1) for at in range(100)])
    assert near.passes
    assert not near.meets_target
    text = coverage_audit.format_sections([("toys", near)])["toys"]
    assert "- s, q: coverage 90.0%, within two Monte-Carlo errors" in text


def test_summaries_of_rates_biases_and_widths() -> None:
    rejections = summarize("s", "q", [Rejection(at < 6) for at in range(100)])
    assert (rejections.kind, rejections.value, rejections.target) == ("error rate", 0.06, 0.065)
    assert not summarize("s", "q", [Rejection(at < 20) for at in range(100)]).passes
    assert not summarize("s", "q", [Power(at < 60, 0.8) for at in range(100)]).passes
    assert summarize("s", "q", [Correction(0.95, 1.0)] * 10).value == pytest.approx(0.95)
    assert not summarize("s", "q", [Correction(0.6, 1.0), Correction(0.4, 1.0)] * 50).passes
    assert not summarize("s", "q", [HalfWidth(0.039, 0.03)] * 10).passes


def test_missed_targets_are_listed(toy: None) -> None:
    outcomes = coverage_audit.replicate(coverage_audit.Task(("toys", "toy"), 0, 200))
    summaries = [("toys", summarize("toy", name, each)) for name, each in outcomes.items()]
    misses = coverage_audit.find_misses(summaries)
    assert misses["toy", "mean"] == "2.0× as wide as exact"
    assert misses["toy", "short"].startswith("coverage ")
    assert not misses["toy", "test"]
    text = coverage_audit.format_sections(summaries)["toys"]
    assert "**2 of 4 miss the target**" in text
    assert "refused in 200: for no reason" in text


def test_methods_that_fail_elsewhere_are_no_reference_for_width() -> None:
    wide, narrow = [Bounds(-2, 2, 0)] * 100, [Bounds(-1, 1, 0)] * 100
    reliable = [("x", summarize("a", "m", wide)), ("x", summarize("a", "m: other", narrow))]
    failing = [("x", summarize("b", "m", wide)), ("x", summarize("b", "m: other", [Bounds(1, 2, 0)] * 100))]
    assert coverage_audit.find_misses(reliable)["a", "m"] == "2.0× as wide as other"
    assert not coverage_audit.find_misses([*reliable, *failing])["a", "m"]


def test_replicates_do_not_depend_on_chunks(toy: None) -> None:
    key = ("toys", "toy")
    whole = coverage_audit.replicate(coverage_audit.Task(key, 0, 4))
    parts = [coverage_audit.replicate(coverage_audit.Task(key, start, start + 2)) for start in (0, 2)]
    assert whole["mean"] == parts[0]["mean"] + parts[1]["mean"]


@pytest.mark.slow
def test_page_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "audit.md"
    old = "### Groups\n\nold\n\n### Weights\n\nkept\n"
    page.write_text(f"before\n<!-- audit -->\n\n{old}\n<!-- /audit -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(coverage_audit, "_PAGE", page)
    coverage_audit.main(["two groups", "--replicates", "2", "--jobs", "1", "--docs"])
    assert "old" in page.read_text(encoding="utf-8")  # a subject that ran in part keeps its section
    coverage_audit.main(["groups", "--replicates", "2", "--jobs", "1", "--docs"])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("<!-- /audit -->\nafter\n")
    assert "old" not in text
    assert text.index("### Groups\n") < text.index("### Weights\n\nkept\n")
    assert "| two groups, survey weights | " in text


def test_page_contains_every_scenario() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = [name for _, name in SCENARIOS if f"| {name} |" not in page]
    assert not missing, "run python -m bench.coverage_audit --docs"
    assert sum(line.startswith("| ") and ": " not in line.split("|")[2] for line in page.splitlines()) >= 60


@pytest.mark.slow
@pytest.mark.parametrize("key", take_in_tiers(SCENARIOS, lambda key: QUICK[key[0]] == key[1]), ids=" ".join)
def test_every_scenario_runs(key: tuple[str, str]) -> None:
    result = coverage_audit.replicate(coverage_audit.Task(key, 0, 1))
    assert result
    for quantity, outcomes in result.items():
        for each in outcomes:
            if isinstance(each, Bounds):
                assert each.low <= each.high, quantity
                assert np.isfinite(each.truth), quantity
