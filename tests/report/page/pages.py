"""Reports for tests of the page: one model with groups, two models, many groups, and names that would inject HTML."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import baserate
from baserate import Costs, Cut, Plan, Policy, Report, fairness, read
from baserate.population import Screening, screening_csv, simulate_screening

COSTS = Costs(fp=1, fn=20)
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'`\\ onload=alert(1) &quot;",
    "{{script}} {{payload}}",
    "<!-- ]]> ${alert(1)}",
    "مرحبا \u202e שלום",
    "🧑🏽‍🚀🏳️‍🌈",
    "long" * 2500,
)
"""Names that break a page that does not treat them as text."""


class ScreeningReport(NamedTuple):
    """A report of a file, with the folder and the data of the file."""

    folder: Path
    people: Screening
    report: Report


def screening_report(folder: Path) -> ScreeningReport:
    """Return a report of people at three sites, at a deployment prevalence of 0.02."""
    people = simulate_screening(rows=5000)
    path = folder / "people.csv"
    path.write_text(screening_csv(people), encoding="utf-8")
    plan = Plan(files=str(path), truth="sick", score="risk", group="site", prevalence=0.02, costs=COSTS)
    return ScreeningReport(folder, people, baserate.run(plan))


@cache
def two_model_report() -> Report:
    """Return a report of two models on the same rows, with groups by site."""
    people = simulate_screening(rows=3000)
    other = np.round(people.risk**2 * 0.5 + np.random.default_rng(1).random(people.risk.size) * 0.5, 3)
    scores = {"risk": people.risk, "old": other}
    return baserate.evaluate(people.sick, scores, group={"site": people.site}, prevalence=0.02, costs=COSTS)


def many_group_report(groups: int = 50, models: int = 8) -> Report:
    """Return a report of many groups and many models."""
    draw = np.random.default_rng(5)
    truth = draw.random(5000) < 0.3
    marker = draw.normal(size=truth.size) + truth
    scores = {f"model {at}": 1 / (1 + np.exp(-marker - draw.normal(size=truth.size))) for at in range(models)}
    return baserate.evaluate(truth, scores, group={"town": draw.integers(groups, size=truth.size).astype(str)})


def hostile_report() -> Report:
    """Return a report whose columns, models and groups have the names of `HOSTILE`."""
    draw = np.random.default_rng(3)
    truth = draw.random(1500) < 0.3
    table = {f"{name} ": np.round(draw.random(1500) * 0.7 + truth * 0.3, 2) for name in HOSTILE}
    group = np.array(HOSTILE)[draw.integers(len(HOSTILE), size=truth.size)]
    label, attribute = HOSTILE[0], HOSTILE[1]
    plan = Plan(truth=label, score=tuple(table), group=attribute, prevalence=0.1, costs=COSTS)
    return baserate.run(plan, {label: truth, attribute: group, **table})


PEOPLE = simulate_screening(rows=2000)
SITE = {"site": PEOPLE.site}


def randomized_report() -> Report:
    """Return a report with randomized decisions by site."""
    columns: dict[str, Any] = {"sick": PEOPLE.sick, "risk": PEOPLE.risk, **SITE}
    tallies = read.tallies(columns, truth="sick", score="risk", group="site")
    policy = fairness.optimal_policy(tallies, fairness.Goal("equal-opportunity"))
    assert policy.needs_id
    return baserate.evaluate(PEOPLE.sick, {"risk": PEOPLE.risk}, predicted=PEOPLE.risk > 0.3, group=SITE, policy=policy)


def referring_report() -> Report:
    """Return a report of a policy that refers some people."""
    policy = Policy(by_group={(): Cut((0.1, 0.5), ("pass", "refer", "flag"))}, otherwise="refuse")
    return baserate.evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE, policy=policy)


ODD_REPORTS: dict[str, Callable[[], Report]] = {
    "ten rows": lambda: baserate.evaluate(
        [1, 1, 0, 1, 0, 0, 1, 0, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0]
    ),
    "no probabilities": lambda: baserate.evaluate(PEOPLE.sick, 9 * PEOPLE.risk - 4, group=SITE, prevalence=1e-4),
    "labels": lambda: baserate.evaluate(PEOPLE.sick, predicted=PEOPLE.risk > 0.3, group=SITE),
    "scores and labels": lambda: baserate.evaluate(PEOPLE.sick, {"risk": PEOPLE.risk}, predicted=PEOPLE.risk > 0.3),
    "weights": lambda: baserate.evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE, weight=np.sqrt(np.arange(1, 2001))),
    "one class": lambda: baserate.evaluate([0, 0, 0], [0.1, 0.2, 0.3]),
    "one score": lambda: baserate.evaluate([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5]),
    "a group of one class": lambda: baserate.evaluate(
        [1, 0, 1, 0, 0, 0], [0.9, 0.2, 0.6, 0.7, 0.3, 0.1], group=[*"aaaabb"]
    ),
    "randomized decisions and labels": randomized_report,
    "referred": referring_report,
    "separate samples": lambda: baserate.evaluate(
        {"old": PEOPLE.sick[:900], "new": PEOPLE.sick[900:]}, {"old": PEOPLE.risk[:900], "new": PEOPLE.risk[900:]}
    ),
}
"""Name -> function that makes an unusual report."""
