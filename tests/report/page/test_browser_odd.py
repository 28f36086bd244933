"""Pages of unusual reports under random input: nothing throws, and nothing undefined is shown or drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Cut, Policy, Report, fairness, read
from baserate.population import simulate_screening
from tests.report.page.browser import PageOpener
from tests.tiers import take_in_tiers

PEOPLE = simulate_screening(rows=2000)
SITE = {"site": PEOPLE.site}
RANDOM_WALK_SCRIPT = """([seed, steps]) => {
  let at = seed;
  const chance = () => (at = (at * 48271) % 2147483647) / 2147483647;
  const some = several => several[Math.floor(chance() * several.length)];
  const fire = (element, value, event) => { element.value = value; element.dispatchEvent(new Event(event)); };
  const inputs = [];
  for (const id of ["threshold", "flag-rate", "prevalence", "fp", "fn"]) {
    const [slider, box] = [document.getElementById(id), document.getElementById(id + "-number")];
    for (const part of [0, 0.001, 0.3, 0.9, 1]) inputs.push(() => fire(slider, Math.round(part * slider.max), "input"));
    for (const text of ["", "0", "1", "-5", "1e9", "0.3", "1e-7"]) inputs.push(() => fire(box, text, "change"));
  }
  for (const button of document.querySelectorAll("[data-rule], [data-parity], #sample-prevalence")) {
    inputs.push(() => button.click());
  }
  for (const list of document.querySelectorAll("select")) {
    for (const { value } of list.options) inputs.push(() => fire(list, value, "change"));
  }
  document.querySelectorAll("details").forEach(each => { each.open = true; });
  const odd = "path[d*=NaN], path[d*=Infinity], path[d*=undefined], circle[cx*=NaN], [data-value=undefined]";
  const problems = [];
  for (let step = 0; step < steps; step += 1) {
    some(inputs)();
    const words = document.body.innerText.match(/NaN|undefined|Infinity|\\[object/g) ?? [];
    const drawn = document.querySelectorAll(odd).length;
    if (words.length || drawn) problems.push(`${drawn} ${words} at ${JSON.stringify(window.baserate.state())}`);
  }
  return problems;
}"""


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


ODD: dict[str, Callable[[], Report]] = {
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", take_in_tiers(ODD, {"labels", "a group of one class"}.__contains__))
def test_random_input_shows_nothing_undefined(open_page: PageOpener, kind: str) -> None:
    page = open_page(ODD[kind]().html())
    assert page.evaluate(RANDOM_WALK_SCRIPT, [len(kind) + 1, 60]) == []


@pytest.mark.slow
def test_referred_people_are_excluded_from_natural_frequencies(open_page: PageOpener) -> None:
    report = referring_report()
    page = open_page(report.html())
    output = page.inner_text("#panel-thousand .sentence")
    share = 1 - report.here.coverage.value
    assert float(output.split("%", maxsplit=1)[0]) == pytest.approx(100 * share, abs=0.051)
    assert "have no decision. Of 1,000 others" in output
    for name in ("sensitivity", "precision"):
        shown = page.get_attribute(f"#panel-measures [data-number='{name}']", "data-value")
        assert shown is not None
        assert float(shown) == pytest.approx(getattr(report.here, name).value, abs=1e-12)


@pytest.mark.slow
def test_models_without_a_planned_policy_have_a_single_threshold(open_page: PageOpener) -> None:
    page = open_page(randomized_report().html())
    assert page.evaluate("() => window.baserate.state().parity") == "planned"
    page.evaluate("() => window.baserate.set({ model: 1, threshold: 1, parity: 'planned' })")
    assert page.evaluate("() => window.baserate.state().parity") == "single"


def test_predicted_labels_keep_their_decisions_in_the_model_comparison(open_page: PageOpener) -> None:
    report = baserate.evaluate(PEOPLE.sick, {"risk": PEOPLE.risk}, predicted=PEOPLE.risk > 0.3)
    page = open_page(report.html())
    row = page.locator("#panel-models tbody tr").nth(1)
    for name in ("flag_rate", "sensitivity", "precision"):
        shown = row.locator(f"[data-number='{name}']").get_attribute("data-value")
        assert shown is not None
        assert float(shown) == pytest.approx(getattr(report.of("predicted").here, name).value, abs=1e-12)
    assert "labels" in row.inner_text()
