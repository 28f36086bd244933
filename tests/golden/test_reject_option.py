"""The reject option and a single threshold on COMPAS, beside AIF360 and a loop over its rows."""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import pytest

from baserate import Cut, Policy, Tallies, decide, fairness, measure, read
from baserate._tally import Group
from baserate.fairness import Goal
from baserate.fairness._group_counts import rate_gaps
from tests.golden.compas import POPULATIONS, RACES, people
from tests.golden.conftest import Columns

GROUPS: list[Group] = [(race,) for race in RACES]
METRICS = {
    "Statistical parity difference": "demographic-parity",
    "Average odds difference": "equalized-odds",
    "Equal opportunity difference": "equal-opportunity",
}


class Compas(NamedTuple):
    back: list[int]
    score: list[float]
    race: list[str]

    @property
    def tallies(self) -> Tallies:
        return read.tallies(self._asdict(), truth="back", score="score", group="race")


Asked = tuple[str, Compas]


@pytest.fixture(scope="module", params=POPULATIONS)
def setting(request: pytest.FixtureRequest, columns: Columns) -> Asked:
    rows = people(columns, request.param)
    return request.param, Compas(*(rows[name].tolist() for name in ("again", "decile", "race")))


@pytest.fixture
def aif360(setting: Asked, load_published: Callable[[str], Any]) -> dict[str, Any]:
    result: dict[str, Any] = load_published("compas_reference.json")[setting[0]]["aif360"]
    return {metric: result[f"aif360_RejectOption_{metric}"] for metric in METRICS}


def test_the_band_of_aif360_reproduces_its_rates(setting: Asked, aif360: dict[str, Any]) -> None:
    # Its scores are chances of the favourable class, which are 1 − ours; what it favours is passed.
    result = aif360["Equal opportunity difference"]
    middle, margin = 1 - result["classification_threshold"], result["ROC_margin"]
    cuts = zip(GROUPS, (Cut((middle + margin,)), Cut((middle - margin,))), strict=True)
    there = decide.decision_tables(
        setting[1].tallies, Policy(by_group=dict(cuts), otherwise="refuse", attributes=("race",))
    )
    for race in RACES:
        counts, rates = there[race,]["flag"], result[race]
        assert measure.sensitivity(counts) == pytest.approx(rates["tpr"], abs=1e-12)
        assert measure.fpr(counts) == pytest.approx(rates["fpr"], abs=1e-12)
        assert measure.flag_rate(counts) == pytest.approx(rates["sel"], abs=1e-12)
    assert measure.accuracy(there[None]["flag"]) == pytest.approx(result["_overall"]["acc"], abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_our_band_is_as_good_as_that_of_aif360(setting: Asked, aif360: dict[str, Any], metric: str) -> None:
    goal = Goal(METRICS[metric])
    names = {"sensitivity": "tpr", "fpr": "fpr", "flag_rate": "sel"}
    rates = aif360[metric]
    within = {rate: abs(rates[RACES[0]][names[rate]] - rates[RACES[1]][names[rate]]) for rate in goal.rates}
    tallies = setting[1].tallies
    policy = fairness.reject_option(
        tallies, Goal(goal.parity, within=within), favor=RACES[0], favorable="pass", objective="balanced_accuracy"
    )
    there = decide.decision_tables(tallies, policy)
    apart = rate_gaps({group: there[group]["flag"] for group in GROUPS}, within)
    assert all(apart[rate] <= bound + 1e-12 for rate, bound in within.items())
    assert measure.balanced_accuracy(there[None]["flag"]) >= _balanced_accuracy(setting[1], rates) - 1e-12


@pytest.mark.parametrize("parity", METRICS.values())
def test_within_the_bound_that_aif360_has_the_same_band_is_the_best_of_all(setting: Asked, parity: str) -> None:
    policy = fairness.reject_option(
        setting[1].tallies,
        Goal(parity, within=0.05),
        favor=RACES[0],
        favorable="pass",
        objective="balanced_accuracy",
    )
    assert policy.settings["band"] == (0.4, 0.6)


def _balanced_accuracy(rows: Compas, rates: dict[str, Any]) -> float:
    """Balanced accuracy of everybody, from the rates of each race."""
    people = list(zip(rows.back, rows.race, strict=True))
    result = {}
    for truth, rate in ((1, "tpr"), (0, "fpr")):
        races = [race for back, race in people if back == truth]
        result[rate] = sum(rates[race][rate] for race in races) / len(races)
    return float(result["tpr"] + 1 - result["fpr"]) / 2


@pytest.mark.quick(6)
@pytest.mark.parametrize("within", [0.05, 0.1, 0.2, inf])
@pytest.mark.parametrize(("parity", "classes"), [("equal-opportunity", (1,)), ("equalized-odds", (0, 1))])
def test_one_threshold_is_the_best_of_a_plain_loop(
    setting: Asked, parity: str, classes: tuple[int, ...], within: float
) -> None:
    rows = list(zip(*setting[1], strict=True))
    errors = {}
    for threshold in (inf, *(decile / 10 for decile in range(10, 0, -1))):
        apart = []
        for truth in classes:
            one, other = (
                [score >= threshold for back, score, race in rows if (back, race) == (truth, name)] for name in RACES
            )
            apart.append(abs(sum(one) / len(one) - sum(other) / len(other)))
        if max(apart) <= within:
            errors[threshold] = sum((score >= threshold) != back for back, score, _ in rows) / len(rows)
    best = min(errors, key=lambda threshold: (errors[threshold], -threshold))
    policy = fairness.common_threshold(setting[1].tallies, Goal(parity, within=within))
    assert policy.threshold == best
    assert policy.settings["cost"] == pytest.approx(errors[best], abs=1e-12)
