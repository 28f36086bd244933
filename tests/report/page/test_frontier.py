"""The frontier of cost and disparity on the page equals that of Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from baserate import Costs, Tallies, fairness, read
from baserate._errors import FitError
from baserate.fairness import Goal
from tests.report.page.models import costs_payload, model_payload, states
from tests.report.page.node import CORE_MODULES, Page
from tests.tiers import take_in_tiers

PARITIES = ("demographic-parity", "equal-opportunity", "predictive-equality", "equalized-odds")
COSTS = (Costs(fp=1, fn=1), Costs(fp=1, fn=5), Costs(fp=3, fn=1), Costs(fp=0, fn=1), Costs(fp=4, fn=3, tp=1))


def cases() -> Iterator[tuple[Tallies, float | None, Costs]]:
    """Yield tallies with groups, prevalences and costs."""
    grouped = [(tallies, at) for tallies, at in states((None, 0.02, 0.4)) if tallies.attributes]
    return ((tallies, at, COSTS[place % len(COSTS)]) for place, (tallies, at) in enumerate(grouped))


def larger_tallies() -> Tallies:
    """Return tallies of five groups with hundreds of scores."""
    rng = np.random.default_rng(8)
    site, sick = rng.choice([*"abcde"], 4000, p=[0.4, 0.3, 0.2, 0.07, 0.03]), rng.random(4000) < 0.3
    shift = np.select([site == "b", site == "c", site == "d"], [0.4, -0.5, 1.0], 0.0)
    risk = np.round(1 / (1 + np.exp(1 - 1.6 * sick - shift - rng.normal(size=4000))), 3)
    return read.tallies({"sick": sick, "risk": risk, "site": site}, truth="sick", score="risk", group="site")


def problem_of(page: Page, tallies: Tallies, goal: Goal) -> dict[str, Any]:
    """Return the arguments of the page for a goal."""
    model = page.keep("expand", model_payload(tallies))
    return {
        "threshold": model.part("threshold"),
        "groups": model.part("groups"),
        "factors": page.keep("factorsFor", model.part("everybody"), goal.prevalence),
        "costs": costs_payload(goal.costs),
    }


def check_frontiers(sample: list[tuple[Tallies, float | None, Costs]], parity: str) -> int:
    """Check costs at many tolerances; return the number of frontiers."""
    page = Page(*CORE_MODULES, "fairness.js", "frontier.js")
    wanted = []
    for tallies, prevalence, costs in sample:
        goal = Goal(parity, costs=costs, prevalence=prevalence)
        try:
            rows = fairness.frontier(tallies, goal, otherwise="pass")
        except FitError:
            continue
        problem = problem_of(page, tallies, goal)
        single = page.ask("singleFrontier", {"rates": list(goal.rates)}, problem)
        shown = page.ask("solveFrontier", {"rates": list(goal.rates)}, problem)
        wanted.append((rows, shown, single))
    answers = page.answers()
    for rows, shown, single in wanted:
        curve = answers[shown.call]
        # The curve consists of straight lines, and is constant beyond its last corner.
        costs_at = np.interp(list(rows.columns["within"]), curve["within"], curve["cost"])
        assert costs_at == pytest.approx(list(rows.columns["cost"]), abs=1e-9)
        assert curve["within"][0] == 0
        assert curve["within"][-1] == pytest.approx(rows.data["free_from"], abs=1e-9)
        assert curve["cost"][-1] == pytest.approx(rows.data["cost_without"], abs=1e-12)
        slopes = np.diff(curve["cost"]) / np.diff(curve["within"])
        assert (slopes <= 1e-9).all()
        steps = answers[single.call]
        # A threshold that satisfies the parity up to rounding satisfies it.
        reached = np.searchsorted(np.array(steps["within"]), np.array(rows.columns["within"]) + 1e-12, side="right") - 1
        assert np.array(steps["cost"])[reached] == pytest.approx(list(rows.columns["blind_cost"]), abs=1e-9)
    return len(wanted)


@pytest.mark.quick(1)
@pytest.mark.parametrize("parity", take_in_tiers(PARITIES, {"equal-opportunity", "equalized-odds"}.__contains__))
def test_costs_at_each_tolerance_are_those_of_python(parity: str) -> None:
    assert check_frontiers([*cases()], parity) > 15


@pytest.mark.quick(1)
@pytest.mark.parametrize("parity", take_in_tiers(PARITIES, {"equalized-odds"}.__contains__))
@pytest.mark.parametrize("prevalence", [None, 0.05])
def test_frontiers_of_larger_samples_are_those_of_python(parity: str, prevalence: float | None) -> None:
    tallies = larger_tallies()
    assert check_frontiers([(tallies, prevalence, costs) for costs in COSTS[:2]], parity) == 2
