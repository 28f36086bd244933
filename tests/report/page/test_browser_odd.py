"""Pages of unusual reports under random input: nothing throws, and nothing undefined is shown or drawn."""

import pytest

import baserate
from tests.report.page.browser import PageOpener
from tests.report.page.pages import ODD_REPORTS, PEOPLE, randomized_report, referring_report
from tests.tiers import take_in_tiers

RANDOM_WALK_SCRIPT = """([seed, steps]) => {
  let at = seed;
  const chance = () => (at = (at * 48271) % 2147483647) / 2147483647;
  const some = several => several[Math.floor(chance() * several.length)];
  const fire = (element, value, event) => { element.value = value; element.dispatchEvent(new Event(event)); };
  const inputs = [];
  for (const id of ["threshold", "flag-rate", "prevalence", "ratio", "fp", "fn"]) {
    const [slider, box] = [document.getElementById(id), document.getElementById(id + "-number")];
    for (const part of [0, 0.001, 0.3, 0.9, 1]) inputs.push(() => fire(slider, Math.round(part * slider.max), "input"));
    const texts = ["", "0", "1", "-5", "1e9", "0.3", "1e-7", "2%", "1:4"];
    for (const text of texts) inputs.push(() => fire(box, text, "change"));
  }
  for (const button of document.querySelectorAll("[data-rule], [data-parity], #sample-prevalence, #planned, #pin")) {
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
    dispatchEvent(new Event("beforeprint"));  // draws the panels that are not near the window, too
    const words = document.body.innerText.match(/NaN|undefined|Infinity|\\[object/g) ?? [];
    const drawn = document.querySelectorAll(odd).length;
    if (words.length || drawn) problems.push(`${drawn} ${words} at ${JSON.stringify(window.baserate.state())}`);
  }
  return problems;
}"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", take_in_tiers(ODD_REPORTS, {"labels", "a group of one class"}.__contains__))
def test_random_input_shows_nothing_undefined(open_page: PageOpener, kind: str) -> None:
    page = open_page(ODD_REPORTS[kind]().html())
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
