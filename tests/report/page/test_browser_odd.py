"""Pages of odd reports, whatever is done to them: nothing throws, and nothing undefined is shown or drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Cut, Policy, Report, equalize, read
from baserate.population import simulate_screening
from tests.report.page.browser import Opened
from tests.tiers import tiered

PEOPLE = simulate_screening(rows=2000)
SITE = {"site": PEOPLE.site}
WALK = """([seed, steps]) => {
  let at = seed;
  const chance = () => (at = (at * 48271) % 2147483647) / 2147483647;
  const some = several => several[Math.floor(chance() * several.length)];
  const fire = (element, value, event) => { element.value = value; element.dispatchEvent(new Event(event)); };
  const deeds = [];
  for (const id of ["threshold", "flag-rate", "prevalence", "fp", "fn"]) {
    const [slider, box] = [document.getElementById(id), document.getElementById(id + "-number")];
    for (const part of [0, 0.001, 0.3, 0.9, 1]) deeds.push(() => fire(slider, Math.round(part * slider.max), "input"));
    for (const text of ["", "0", "1", "-5", "1e9", "0.3", "1e-7"]) deeds.push(() => fire(box, text, "change"));
  }
  for (const button of document.querySelectorAll("[data-rule], [data-parity], #sample-prevalence")) {
    deeds.push(() => button.click());
  }
  for (const list of document.querySelectorAll("select")) {
    for (const { value } of list.options) deeds.push(() => fire(list, value, "change"));
  }
  document.querySelectorAll("details").forEach(each => { each.open = true; });
  const odd = "path[d*=NaN], path[d*=Infinity], path[d*=undefined], circle[cx*=NaN], [data-value=undefined]";
  const told = [];
  for (let step = 0; step < steps; step += 1) {
    some(deeds)();
    const words = document.body.innerText.match(/NaN|undefined|Infinity|\\[object/g) ?? [];
    const drawn = document.querySelectorAll(odd).length;
    if (words.length || drawn) told.push(`${drawn} ${words} at ${JSON.stringify(window.baserate.state())}`);
  }
  return told;
}"""


def randomized() -> Report:
    """People whose sites have randomized decisions."""
    columns: dict[str, Any] = {"sick": PEOPLE.sick, "risk": PEOPLE.risk, **SITE}
    tallies = read.tallies(columns, truth="sick", score="risk", group="site")
    policy = equalize.optimal_policy(tallies, equalize.Goal("equal-opportunity"))
    assert policy.needs_id
    return baserate.evaluate(PEOPLE.sick, {"risk": PEOPLE.risk}, predicted=PEOPLE.risk > 0.3, group=SITE, policy=policy)


def referring() -> Report:
    """People of whom some are referred to others."""
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
    "randomized decisions and labels": randomized,
    "referred": referring,
    "apart": lambda: baserate.evaluate(
        {"old": PEOPLE.sick[:900], "new": PEOPLE.sick[900:]}, {"old": PEOPLE.risk[:900], "new": PEOPLE.risk[900:]}
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", tiered(ODD, {"labels", "a group of one class"}.__contains__))
def test_whatever_is_done_to_a_page_it_knows_what_it_shows(opened: Opened, kind: str) -> None:
    page = opened(ODD[kind]().html())
    assert page.evaluate(WALK, [len(kind) + 1, 60]) == []


@pytest.mark.slow
def test_who_is_referred_is_not_among_the_decided(opened: Opened) -> None:
    report = referring()
    page = opened(report.html())
    output = page.inner_text("#panel-thousand .sentence")
    share = 1 - report.here.coverage.value
    assert float(output.split("%", maxsplit=1)[0]) == pytest.approx(100 * share, abs=0.051)
    assert "have no decision. Of 1,000 others" in output
    for name in ("sensitivity", "precision"):
        shown = page.get_attribute(f"#panel-measures [data-number='{name}']", "data-value")
        assert shown is not None
        assert float(shown) == pytest.approx(getattr(report.here, name).value, abs=1e-12)


@pytest.mark.slow
def test_what_a_model_has_no_plan_for_is_one_cut_off(opened: Opened) -> None:
    page = opened(randomized().html())
    assert page.evaluate("() => window.baserate.state().parity") == "planned"
    page.evaluate("() => window.baserate.set({ model: 1, threshold: 1, parity: 'planned' })")
    assert page.evaluate("() => window.baserate.state().parity") == "single"


def test_labels_are_beside_models_as_they_are(opened: Opened) -> None:
    report = baserate.evaluate(PEOPLE.sick, {"risk": PEOPLE.risk}, predicted=PEOPLE.risk > 0.3)
    page = opened(report.html())
    row = page.locator("#panel-models tbody tr").nth(1)
    for name in ("flag_rate", "sensitivity", "precision"):
        shown = row.locator(f"[data-number='{name}']").get_attribute("data-value")
        assert shown is not None
        assert float(shown) == pytest.approx(getattr(report.of("predicted").here, name).value, abs=1e-12)
    assert "labels" in row.inner_text()
