"""Policies that the page exports equal the files of Python byte for byte."""

from __future__ import annotations

import json
import struct
from hashlib import sha256
from math import inf, isfinite
from typing import Any

import numpy as np
import pytest

from baserate import Costs, Policy, Tallies, Tally, decide, read
from baserate._tally import ReadSummary
from baserate.fairness import Goal, find_parity, optimal_policy
from tests.report.page.models import at_prevalence, costs_payload, model_payload, unusual_names
from tests.report.page.node import CORE_MODULES, Page, find_differences

COSTS = Costs(fp=1, fn=7)
TALLY = Tally.from_counts([0.9, 0.7, 0.4, 0.1], [[3, 2, 1, 1], [0, 1, 2, 5]])
OTHER = Tally.from_counts([0.8, 0.7, 0.3, 0.2], [[1, 2, 2, 0], [1, 1, 1, 4]])


def tallies_by_group(attributes: tuple[str, ...], *labels: object, score: str = "risk", truth: str = "sick") -> Tallies:
    """Two groups or more, by one attribute or several, which all have the same labels."""
    result = {(label,) * len(attributes): (TALLY, OTHER)[at % 2] for at, label in enumerate(labels)}
    return Tallies(
        {score: result}, attributes, ReadSummary(read=0, columns={"truth": truth, "score": score}, positive="yes")
    )


def export_policies(*cases: dict[str, Any]) -> list[str]:
    """Return the policy files that the page writes."""
    page = Page("policy.js")
    for each in cases:
        page.ask("policyText", each)
    return page.answers()


def load_unchanged(text: str) -> Policy:
    """Load a policy, and check that Python writes the same text."""
    policy = Policy.from_json(text)
    assert policy.to_json() == text
    return policy


def sample_floats() -> list[float]:
    """Return numbers of all sizes."""
    rng = np.random.default_rng(1)
    hand = [0.0, -0.0, 1.0, 0.1, 1e-4, 9.999e-5, 1e-5, 1e15, 1e16, 123456789012345680.0, 5e-324, 1.7976931348623157e308]
    bits = [struct.unpack("<d", rng.bytes(8))[0] for _ in range(3000)]
    near = [float(sign * each * 10.0**power) for power in range(-8, 20) for each in (1, 1.5, np.pi) for sign in (1, -1)]
    return [*hand, *near, *(each for each in bits if isfinite(each))]


def test_floats_are_written_as_in_python() -> None:
    page = Page("policy.js")
    for each in sample_floats():
        # JSON preserves the sign of 0 and all digits.
        page.expect(repr(each), "pythonFloat", each)
    page.check()


def test_hashes_equal_those_of_python() -> None:
    page = Page("sha256.js")
    for text in [*("a" * size for size in range(140)), "é" * 500, "\U0001f9ea", "", "x" * 100_000]:
        page.expect(sha256(text.encode()).hexdigest(), "sha256", text)
    page.check()


@pytest.mark.quick(3)
@pytest.mark.parametrize("threshold", [0.27, 1.0, 1e-5, -3.5, 1e300, inf, -inf, 0.0, -0.0])
def test_single_threshold_is_exported_as_a_fixed_policy(threshold: float) -> None:
    tallies = Tallies({"risk": {(): TALLY}}, (), ReadSummary(read=0, columns={"truth": "sick", "score": "risk"}))
    case = {
        "model": model_payload(tallies),
        "threshold": threshold,
        "rule": "fixed",
        "settings": {"threshold": threshold},
    }
    policy = load_unchanged(*export_policies(case))
    assert policy.threshold == threshold
    assert policy.settings["threshold"] == threshold
    assert (policy.prevalence, policy.chosen_on, policy.needs_group, policy.needs_id) == (None, None, False, False)
    assert dict(policy.columns) == {"truth": "sick", "score": "risk"}


def test_chosen_threshold_is_exported_as_the_policy_of_python() -> None:
    tallies = Tallies({"risk": {(): TALLY}}, (), ReadSummary(read=0, columns={"truth": "sick", "score": "risk"}))
    cases, wanted = [], []
    for prevalence in (None, 0.02, 1 / 3):
        moved = at_prevalence(tallies, prevalence)
        policy = decide.choose_policy(moved, lambda curve: decide.cost(curve, COSTS))
        settings = {"costs": costs_payload(COSTS)} | ({} if prevalence is None else {"prevalence": policy.prevalence})
        output = {"model": model_payload(tallies), "threshold": policy.threshold, "rule": "cost", "settings": settings}
        cases.append({**output, "prevalence": policy.prevalence, "notes": list(policy.notes)})
        wanted.append(policy)
    assert export_policies(*cases) == [each.to_json() for each in wanted]


@pytest.mark.parametrize("parity", ["demographic-parity", "equal-opportunity", "equalized-odds"])
def test_exported_strategy_gives_the_tables_of_the_page(parity: str) -> None:
    rng = np.random.default_rng(2)
    site, sick = rng.choice(["north", "south", "east"], 300), rng.random(300) < 0.4
    risk = np.round(1 / (1 + np.exp(1 - 2 * sick - rng.normal(size=300))), 3)
    table = {"sick": sick, "risk": risk, "site": site}
    tallies = read.tallies(table, truth="sick", score="risk", group="site")
    page = Page(*CORE_MODULES, "fairness.js", "policy.js")
    model = page.keep("expand", output := model_payload(tallies))
    problem = {name: model.part(name) for name in ("threshold", "groups")} | {"costs": costs_payload(COSTS)}
    factors = page.keep("factorsFor", model.part("everybody"), 0.2)
    strategy = page.ask("solveStrategy", {"rates": find_parity(parity).rates}, problem | {"factors": factors})
    settings = {
        "parity": [parity],
        "within": 0,
        "costs": costs_payload(COSTS),
        "prevalence": 0.2,
        "cost": strategy.part("cost"),
    }
    case = {"model": output, "rule": "equalized", "settings": settings, "prevalence": 0.2}
    text = page.ask("policyText", case | {"treatments": strategy.part("treatments")})
    answers = page.answers()
    policy = load_unchanged(answers[text.call])
    python = optimal_policy(tallies, Goal(parity, costs=COSTS, prevalence=0.2))
    assert policy.chosen_on == python.chosen_on
    assert [*policy.by_group] == [*python.by_group]
    tables = decide.decision_tables(at_prevalence(tallies, 0.2), policy)
    for at, group in enumerate(tallies.groups):
        flagged = tables[group]["flag"]
        shown = {name: getattr(flagged, name) for name in ("tp", "fp", "fn", "tn")}
        assert find_differences(answers[strategy.call]["counts"][at], shown) == []
    assert policy.needs_id == any("lottery" in each for each in answers[strategy.call]["treatments"])


def test_exported_policy_applied_to_rows_gives_the_tables_of_the_page() -> None:
    rng = np.random.default_rng(3)
    table = {"sick": rng.random(200) < 0.4, "risk": np.round(rng.random(200), 2), "site": rng.choice(["a", "b"], 200)}
    tallies = read.tallies(table, truth="sick", score="risk", group="site")
    page = Page(*CORE_MODULES, "fairness.js", "policy.js")
    model = page.keep("expand", output := model_payload(tallies))
    problem = {name: model.part(name) for name in ("threshold", "groups")} | {"costs": costs_payload(COSTS)}
    strategy = page.ask(
        "solveStrategy", {"rates": []}, problem | {"factors": {"positive": 1, "negative": 1, "known": False}}
    )
    case = {
        "model": output,
        "rule": "cost",
        "settings": {},
        "prevalence": 0.4,
        "treatments": strategy.part("treatments"),
    }
    text = page.ask("policyText", case)
    answers = page.answers()
    policy = load_unchanged(answers[text.call])
    flagged = np.array(
        [policy.action(risk, [site]) == "flag" for risk, site in zip(table["risk"], table["site"], strict=True)]
    )
    for at, (site,) in enumerate(tallies.groups):
        here = table["site"] == site
        truth, done = table["sick"][here], flagged[here]
        counts = [np.sum(truth & done), np.sum(~truth & done), np.sum(truth & ~done), np.sum(~truth & ~done)]
        shown = answers[strategy.call]["counts"][at]
        assert [shown[name] for name in ("tp", "fp", "fn", "tn")] == counts


@pytest.mark.quick(5)
@pytest.mark.parametrize("name", unusual_names())
def test_unusual_names_are_exported_unchanged(name: str) -> None:
    tallies = tallies_by_group((name, "2", "1"), name, "other", score=name, truth=f"{name}!")
    output = model_payload(tallies)
    treatments = [
        {"thresholds": [0.5]},
        {"lottery": [{"chance": 0.25, "threshold": inf}, {"chance": 0.75, "threshold": 0.4}]},
    ]
    settings = {"costs": costs_payload(COSTS), name: [1, name, None, True, {"𝒜": 0.5, "￿": inf}]}
    case = {"model": output, "treatments": treatments, "rule": "equalized", "settings": settings, "prevalence": 0.25}
    (text,) = export_policies(case | {"notes": [name, "plain"]})
    policy = load_unchanged(text)
    assert policy.attributes == (name, "2", "1")
    assert [*policy.by_group] == [(name,) * 3, ("other",) * 3]
    assert policy.notes == (name, "plain")
    assert policy.columns["score"] == name
    assert policy.settings["costs"] == COSTS
    assert json.loads(text)["chosen_on"] == tallies.digest


@pytest.mark.quick(2)
@pytest.mark.parametrize("labels", [(1, 2), (True, False), (0.5, 1.5), ("1", "2"), (10**15, -3)])
def test_labels_of_groups_keep_their_type(labels: tuple[object, object]) -> None:
    tallies = tallies_by_group(("site",), *labels)
    case = {
        "model": model_payload(tallies),
        "treatments": [{"thresholds": [0.5]}, {"thresholds": [0.4]}],
        "rule": "equalized",
    }
    policy = load_unchanged(*export_policies(case))
    assert [*policy.by_group] == [(label,) for label in labels]
    assert [type(label) for (label,) in policy.by_group] == [type(label) for label in labels]


def test_groups_without_a_treatment_get_the_action_otherwise() -> None:
    tallies = tallies_by_group(("site",), "north", "south")
    case = {"model": model_payload(tallies), "treatments": [None, {"thresholds": [0.4]}], "rule": "equalized"}
    refused, passed = map(load_unchanged, export_policies(case, case | {"otherwise": "pass"}))
    assert [*refused.by_group] == [*passed.by_group] == [("south",)]
    assert (refused.otherwise, passed.otherwise) == ("refuse", "pass")
    assert passed.action(0.9, ["north"]) == "pass"
