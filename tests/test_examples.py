"""The screening example prints its numbers and writes its files."""

from pathlib import Path

import numpy as np
import pytest

import baserate
from baserate import Estimate, Policy, infer, load_calibrator, measure, shift
from baserate.population import simulate_screening
from examples.screening.__main__ import (
    calibrated_tallies,
    cheapest_threshold,
    compare_rules,
    equalize_sites,
    evaluate_file,
    main,
    tallies_by_site,
    validate_policy,
)


def test_simulated_people_have_the_documented_distribution() -> None:
    people = simulate_screening()
    tallies = tallies_by_site(people)
    assert tallies["all"].digest == baserate.tally(people.sick, people.risk).digest
    prevalences = [tallies[site].prevalence for site in ("north", "coast", "hill")]
    assert prevalences == pytest.approx([0.04, 0.08, 0.15], abs=0.012)
    # The model ranks well, but overestimates risks: their mean is above the prevalence.
    assert measure.auc(baserate.curve(tallies["all"])) > 0.8
    assert people.risk.mean() > 1.2 * people.sick.mean()
    assert simulate_screening(rows=50).risk.tolist() == simulate_screening(rows=50).risk.tolist()


def test_threshold_has_the_least_cost() -> None:
    tally = tallies_by_site(simulate_screening(rows=3000))["all"]
    curve = baserate.curve(tally)
    costs = baserate.Costs(fp=1, fn=20)
    least = np.min(measure.expected_cost(curve.counts, costs=costs))
    assert measure.expected_cost(curve.at(cheapest_threshold(tally)), costs=costs) == pytest.approx(least)


def test_demo_prints_its_numbers_and_writes_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tallies = tallies_by_site(simulate_screening())
    main(tmp_path)
    printed = capsys.readouterr().out
    area = measure.auc(baserate.curve(tallies["all"]))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"{area:.3f}" in printed
    result = infer.estimate("auc", tallies["all"])
    assert f"{result.low:.3f}–{result.high:.3f}" in printed
    rules = compare_rules(tallies["all"])
    assert rules["least cost"]["cost per person"].value == min(each["cost per person"].value for each in rules.values())
    youden = rules["Youden"]["threshold"]
    assert f"{youden.low:.3f}–{youden.high:.3f}" in printed
    counts = baserate.curve(tallies["all"]).at(cheapest_threshold(tallies["all"]))
    rarer = infer.estimate("precision", shift.reweigh(counts, prevalence=0.02))
    assert f"{rarer.low:.3f}–{rarer.high:.3f}" in printed
    after = infer.estimate("calibration_slope", calibrated_tallies(tallies["all"])["after beta"])
    assert f"{after.low:.3f}–{after.high:.3f}" in printed
    assert load_calibrator(tmp_path / "calibrator.json").method == "beta"
    policy, requirements = validate_policy(simulate_screening())
    assert Policy.load(tmp_path / "policy.json").to_json() == policy.to_json()
    assert {name.rpartition(": ")[2] for name in requirements["on the other half"]} == {"holds", "undecided", "fails"}
    for name, each in requirements["on the other half"].items():
        assert isinstance(each, Estimate)
        assert f"{each.low:.3f}–{each.high:.3f}" in printed
        assert name in printed
    site_policy, parity = equalize_sites(tallies)
    assert Policy.load(tmp_path / "policy-by-site.json") == site_policy
    rates = {name: row["sensitivity, with parity"] for name, row in parity.items()}
    assert [*rates] == ["coast", "hill", "north"]
    shares = [each.value for each in rates.values() if isinstance(each, Estimate)]
    assert max(shares) - min(shares) <= 0.02 + 1e-12
    report = evaluate_file(simulate_screening(), tmp_path / "people.csv")
    assert printed.endswith(f"{report.text()}\n\nOpen {tmp_path / 'report.html'}\n")
    assert page == report.html()
    assert f"baserate decide {tmp_path / 'people.csv'}" in printed
