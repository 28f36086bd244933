"""What the page exports is a policy that Python reads, and would have written to the last byte."""

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
from baserate.equalize import Goal, find_parity, optimal_policy
from tests.report.page.models import costs_of, entry, many_names, there
from tests.report.page.node import CORE, Page, unlike

COSTS = Costs(fp=1, fn=7)
TALLY = Tally.from_counts([0.9, 0.7, 0.4, 0.1], [[3, 2, 1, 1], [0, 1, 2, 5]])
OTHER = Tally.from_counts([0.8, 0.7, 0.3, 0.2], [[1, 2, 2, 0], [1, 1, 1, 4]])


def grouped(attributes: tuple[str, ...], *labels: object, score: str = "risk", truth: str = "sick") -> Tallies:
    """Two groups or more, by one attribute or several, which all have the same labels."""
    result = {(label,) * len(attributes): (TALLY, OTHER)[at % 2] for at, label in enumerate(labels)}
    return Tallies(
        {score: result}, attributes, ReadSummary(read=0, columns={"truth": truth, "score": score}, positive="yes")
    )


def exported(*cases: dict[str, Any]) -> list[str]:
    """Texts of policies."""
    page = Page("policy.js")
    for each in cases:
        page.ask("policyText", each)
    return page.answers()


def accepted(text: str) -> Policy:
    """The policy of a text, which Python would write just so."""
    policy = Policy.from_json(text)
    assert policy.to_json() == text
    return policy


def floats() -> list[float]:
    """Numbers of all sizes."""
    rng = np.random.default_rng(1)
    hand = [0.0, -0.0, 1.0, 0.1, 1e-4, 9.999e-5, 1e-5, 1e15, 1e16, 123456789012345680.0, 5e-324, 1.7976931348623157e308]
    bits = [struct.unpack("<d", rng.bytes(8))[0] for _ in range(3000)]
    near = [float(sign * each * 10.0**power) for power in range(-8, 20) for each in (1, 1.5, np.pi) for sign in (1, -1)]
    return [*hand, *near, *(each for each in bits if isfinite(each))]


def test_numbers_are_written_as_python_writes_them() -> None:
    page = Page("policy.js")
    for each in floats():
        # JSON that is told to node keeps the sign of 0, and all digits.
        page.expect(repr(each), "pythonFloat", each)
    page.check()


def test_hashes_are_pythons() -> None:
    page = Page("sha256.js")
    for text in [*("a" * size for size in range(140)), "é" * 500, "\U0001f9ea", "", "x" * 100_000]:
        page.expect(sha256(text.encode()).hexdigest(), "sha256", text)
    page.check()


@pytest.mark.quick(3)
@pytest.mark.parametrize("threshold", [0.27, 1.0, 1e-5, -3.5, 1e300, inf, -inf, 0.0, -0.0])
def test_one_threshold_for_everybody_is_a_fixed_policy(threshold: float) -> None:
    tallies = Tallies({"risk": {(): TALLY}}, (), ReadSummary(read=0, columns={"truth": "sick", "score": "risk"}))
    case = {"model": entry(tallies), "threshold": threshold, "rule": "fixed", "settings": {"threshold": threshold}}
    policy = accepted(*exported(case))
    assert policy.threshold == threshold
    assert policy.settings["threshold"] == threshold
    assert (policy.prevalence, policy.chosen_on, policy.needs_group, policy.needs_id) == (None, None, False, False)
    assert dict(policy.columns) == {"truth": "sick", "score": "risk"}


def test_a_chosen_threshold_is_the_policy_that_python_chooses() -> None:
    tallies = Tallies({"risk": {(): TALLY}}, (), ReadSummary(read=0, columns={"truth": "sick", "score": "risk"}))
    cases, wanted = [], []
    for prevalence in (None, 0.02, 1 / 3):
        moved = there(tallies, prevalence)
        policy = decide.choose_policy(moved, lambda curve: decide.cost(curve, COSTS))
        settings = {"costs": costs_of(COSTS)} | ({} if prevalence is None else {"prevalence": policy.prevalence})
        output = {"model": entry(tallies), "threshold": policy.threshold, "rule": "cost", "settings": settings}
        cases.append({**output, "prevalence": policy.prevalence, "notes": list(policy.notes)})
        wanted.append(policy)
    assert exported(*cases) == [each.to_json() for each in wanted]


@pytest.mark.parametrize("parity", ["demographic-parity", "equal-opportunity", "equalized-odds"])
def test_a_strategy_of_the_page_is_a_policy_that_does_what_the_page_says(parity: str) -> None:
    rng = np.random.default_rng(2)
    site, sick = rng.choice(["north", "south", "east"], 300), rng.random(300) < 0.4
    risk = np.round(1 / (1 + np.exp(1 - 2 * sick - rng.normal(size=300))), 3)
    table = {"sick": sick, "risk": risk, "site": site}
    tallies = read.tallies(table, truth="sick", score="risk", group="site")
    page = Page(*CORE, "fairness.js", "policy.js")
    model = page.keep("expand", output := entry(tallies))
    problem = {name: model.part(name) for name in ("threshold", "groups")} | {"costs": costs_of(COSTS)}
    factors = page.keep("factorsFor", model.part("everybody"), 0.2)
    strategy = page.ask("solveStrategy", {"rates": find_parity(parity).rates}, problem | {"factors": factors})
    settings = {
        "parity": [parity],
        "within": 0,
        "costs": costs_of(COSTS),
        "prevalence": 0.2,
        "cost": strategy.part("cost"),
    }
    case = {"model": output, "rule": "equalized", "settings": settings, "prevalence": 0.2}
    text = page.ask("policyText", case | {"treatments": strategy.part("treatments")})
    answers = page.answers()
    policy = accepted(answers[text.call])
    python = optimal_policy(tallies, Goal(parity, costs=COSTS, prevalence=0.2))
    assert policy.chosen_on == python.chosen_on
    assert [*policy.by_group] == [*python.by_group]
    tables = decide.decision_tables(there(tallies, 0.2), policy)
    for at, group in enumerate(tallies.groups):
        flagged = tables[group]["flag"]
        shown = {name: getattr(flagged, name) for name in ("tp", "fp", "fn", "tn")}
        assert unlike(answers[strategy.call]["counts"][at], shown) == []
    assert policy.needs_id == any("lottery" in each for each in answers[strategy.call]["treatments"])


def test_rows_that_the_policy_is_applied_to_give_the_table_of_the_page() -> None:
    rng = np.random.default_rng(3)
    table = {"sick": rng.random(200) < 0.4, "risk": np.round(rng.random(200), 2), "site": rng.choice(["a", "b"], 200)}
    tallies = read.tallies(table, truth="sick", score="risk", group="site")
    page = Page(*CORE, "fairness.js", "policy.js")
    model = page.keep("expand", output := entry(tallies))
    problem = {name: model.part(name) for name in ("threshold", "groups")} | {"costs": costs_of(COSTS)}
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
    policy = accepted(answers[text.call])
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
@pytest.mark.parametrize("name", many_names())
def test_names_of_all_kinds_survive(name: str) -> None:
    tallies = grouped((name, "2", "1"), name, "other", score=name, truth=f"{name}!")
    output = entry(tallies)
    treatments = [
        {"thresholds": [0.5]},
        {"lottery": [{"chance": 0.25, "threshold": inf}, {"chance": 0.75, "threshold": 0.4}]},
    ]
    settings = {"costs": costs_of(COSTS), name: [1, name, None, True, {"𝒜": 0.5, "￿": inf}]}
    case = {"model": output, "treatments": treatments, "rule": "equalized", "settings": settings, "prevalence": 0.25}
    (text,) = exported(case | {"notes": [name, "plain"]})
    policy = accepted(text)
    assert policy.attributes == (name, "2", "1")
    assert [*policy.by_group] == [(name,) * 3, ("other",) * 3]
    assert policy.notes == (name, "plain")
    assert policy.columns["score"] == name
    assert policy.settings["costs"] == COSTS
    assert json.loads(text)["chosen_on"] == tallies.digest


@pytest.mark.quick(2)
@pytest.mark.parametrize("labels", [(1, 2), (True, False), (0.5, 1.5), ("1", "2"), (10**15, -3)])
def test_labels_of_groups_keep_their_kind(labels: tuple[object, object]) -> None:
    tallies = grouped(("site",), *labels)
    case = {"model": entry(tallies), "treatments": [{"thresholds": [0.5]}, {"thresholds": [0.4]}], "rule": "equalized"}
    policy = accepted(*exported(case))
    assert [*policy.by_group] == [(label,) for label in labels]
    assert [type(label) for (label,) in policy.by_group] == [type(label) for label in labels]


def test_a_group_without_a_treatment_is_left_to_what_is_done_otherwise() -> None:
    tallies = grouped(("site",), "north", "south")
    case = {"model": entry(tallies), "treatments": [None, {"thresholds": [0.4]}], "rule": "equalized"}
    refused, passed = map(accepted, exported(case, case | {"otherwise": "pass"}))
    assert [*refused.by_group] == [*passed.by_group] == [("south",)]
    assert (refused.otherwise, passed.otherwise) == ("refuse", "pass")
    assert passed.action(0.9, ["north"]) == "pass"
