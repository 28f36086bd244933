"""Charts of one or several models: numbers as in Python, threshold A, the map of costs, and differences of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page as BrowserPage

import baserate
from baserate import Costs, Curve, Report, decide, measure, shift
from baserate.report._page import page_payload
from tests.report.page.browser import PageOpener, change, state, wait_until_drawn
from tests.report.page.models import (
    CONFIDENCE,
    PREVALENCES,
    at_prevalence,
    has_both_classes,
    model_payload,
    sample_tallies,
)
from tests.report.page.node import Page
from tests.report.page.pages import COSTS, ODD_REPORTS, PEOPLE, SITE, ScreeningReport, two_model_report

CALIBRATION = ("calibration_slope", "calibration_in_the_large", "observed_expected", "ece")


def several_models(models: int) -> Report:
    """Return a report of models that differ in the noise of their scores."""
    draw = np.random.default_rng(5)
    truth = draw.random(800) < 0.3
    marker = draw.normal(size=truth.size) + truth
    noise = [draw.normal(size=truth.size) * (0.3 + 0.3 * at) for at in range(models)]
    scores = {f"model {at}": 1 / (1 + np.exp(-marker - each)) for at, each in enumerate(noise)}
    return baserate.evaluate(truth, scores, prevalence=0.1, costs=COSTS)


def view_of(page: Page, report: Report, **settings: object) -> Any:  # noqa: ANN401  (a reference)
    """Return a reference to the view of a report, at the settings of its plan unless others are given."""
    book = page.keep("loadReport", page_payload(report))
    use = page_payload(report)["use"]
    costs = use["costs"] if use["priced"] else {"fp": None, "fn": None}
    usual = {"model": 0, "who": -1, "threshold": 0.3, "prevalence": use["prevalence"], "parity": "single", "pin": None}
    plan = usual | {"fp": costs["fp"], "fn": costs["fn"], "scale": "people"}
    return page.keep("makeView", book, plan | settings)


@pytest.mark.parametrize("prevalence", [None, 0.02, 0.4])
@pytest.mark.parametrize("who", [-1, 0, 2])
def test_score_bins_count_people_of_both_classes(prevalence: float | None, who: int) -> None:
    report = baserate.evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE)
    inside = np.ones(2000, bool) if who < 0 else PEOPLE.site == report.groups[who]["site"]
    sick, risk = PEOPLE.sick[inside], PEOPLE.risk[inside]
    # A prevalence multiplies the odds of everybody, and so those of each group, by one factor.
    odds = PEOPLE.sick.mean() / (1 - PEOPLE.sick.mean())
    factor = 1.0 if prevalence is None else prevalence / (1 - prevalence) / odds
    weights = np.where(sick, factor, 1.0)
    edges = report.sketches[0].scores["edges"]
    people = [1000 * np.histogram(risk[each], edges, weights=weights[each])[0] for each in (sick, ~sick)]
    page = Page("view.js", "panels/scores.js")
    view = view_of(page, report, prevalence=prevalence, who=who)
    page.expect([each / weights.sum() for each in people], "peoplePerBin", view)
    shares = [np.histogram(risk[each], edges)[0] / each.sum() for each in (sick, ~sick)]
    page.expect(shares, "classShares", view)
    page.check()


def test_both_classes_have_one_scale_that_follows_the_prevalence() -> None:
    report = baserate.evaluate(PEOPLE.sick, PEOPLE.risk)
    page, asked = Page("view.js", "panels/scores.js"), []
    for prevalence in (0.02, 0.5):
        view = view_of(page, report, prevalence=prevalence)
        asked += [page.ask("scoresSpec", view), page.ask("peoplePerBin", view)]
    answers = page.answers()
    spec, people, common, halves = (answers[each.call] for each in asked)
    bars = {mark["key"]: mark for mark in spec["marks"] if mark["kind"] == "bars"}
    assert bars["positive"]["heights"] == people[0]
    assert bars["negative"]["heights"] == [-each for each in people[1]]
    assert sum(people[0]) == pytest.approx(20)
    assert sum(halves[0]) == pytest.approx(500)
    # The first bins of negatives tower above all others: they are cut, and their numbers are stated.
    assert max(people[1]) > -spec["y"]["domain"][0]
    texts = [mark["text"] for mark in spec["marks"] if mark["kind"] == "text"]
    assert len(texts) == 1
    assert f"cut: {max(people[1]):.0f}" in texts[0]
    assert common["y"]["domain"] != spec["y"]["domain"]


def test_cost_saved_is_that_of_python() -> None:
    page = Page("curves.js")
    for tallies in filter(has_both_classes, sample_tallies()):
        pooled = tallies.pooled("risk")
        vertices = Curve(pooled).hull().counts
        corners = {"fpr": measure.fpr(vertices), "sensitivity": measure.sensitivity(vertices)}
        for prevalence, ratio in ((0.02, 20), (0.3, 1), (0.0004, 900), (0.8, 0.02)):
            saved = saved_share(pooled, prevalence, ratio)
            weight = ratio * prevalence / (1 - prevalence)
            page.expect({"saved": saved}, "relativeUtility", corners, weight)
    page.check(1e-11)


def saved_share(tally: Any, prevalence: float, ratio: float) -> float:  # noqa: ANN401  (a tally)
    """Return the share of the cost that the cheapest threshold saves beside flagging nobody and everybody."""
    there, costs = shift.reweigh(tally, prevalence=prevalence), Costs(fp=1, fn=ratio)
    curve = Curve(there)
    best = curve.at(decide.cost(curve, costs).threshold)
    trivial = min(ratio * prevalence, 1 - prevalence)
    return max(0.0, float(1 - measure.expected_cost(best, costs=costs) / trivial))


@pytest.mark.parametrize("who", [-1, 1])
def test_cells_of_the_cost_map_equal_expected_costs(who: int) -> None:
    report = baserate.evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE, prevalence=0.05, costs=Costs(fp=2, fn=9))
    inside = np.ones(2000, bool) if who < 0 else PEOPLE.site == report.groups[who]["site"]
    tally = baserate.tally(PEOPLE.sick[inside], PEOPLE.risk[inside])
    page = Page("view.js", "panels/cost_map.js")
    view = view_of(page, report, who=who)
    page.ask("costMapSpec", view)
    page.ask("pickSetting", view, 700)
    spec, setting = page.answers()[-2:]
    (cells,) = [mark for mark in spec["marks"] if mark["kind"] == "cells"]
    probe = spec["probe"]
    assert len(cells["values"]) == len(probe["x"]) == 48 * 40
    for at in range(0, len(cells["values"]), 97):
        wanted = saved_share(tally, probe["x"][at], probe["y"][at])
        assert cells["values"][at] == pytest.approx(wanted, abs=1e-10)
    assert max(cells["values"]) <= cells["colors"]["domain"][1]
    (current,) = [mark for mark in spec["marks"] if mark["key"] == "current"]
    assert current["y"] == [4.5]
    # A cell sets the ratio of costs, and the prevalence of everybody that gives the group its own.
    assert setting["fp"] == 2
    assert setting["fn"] / 2 == pytest.approx(probe["y"][700], rel=0.05)
    odds = [each.mean() / (1 - each.mean()) for each in (PEOPLE.sick, PEOPLE.sick[inside])]
    own = probe["x"][700] / (1 - probe["x"][700]) * odds[0] / odds[1]
    assert setting["prevalence"] == pytest.approx(own / (1 + own), rel=0.05)


def test_boundaries_of_the_cost_map_save_one_percent() -> None:
    report = baserate.evaluate(PEOPLE.sick, np.round(PEOPLE.risk, 1))
    page = Page("view.js", "panels/cost_map.js")
    page.ask("costMapSpec", view_of(page, report))
    spec = page.answers()[-1]
    lines = [mark for mark in spec["marks"] if mark["key"].startswith("boundary")]
    tally = baserate.tally(PEOPLE.sick, np.round(PEOPLE.risk, 1))
    assert len(lines) == 2
    for line in lines:
        assert saved_share(tally, line["x"][30], line["y"][30]) == pytest.approx(0.01, abs=1e-6)
    assert [mark["key"] for mark in spec["marks"]] == ["cells", *(line["key"] for line in lines)]


def test_a_useless_classifier_saves_nothing() -> None:
    page = Page("view.js", "panels/cost_map.js")
    reports = (baserate.evaluate([0, 1] * 20, [0.5] * 40), baserate.evaluate([0, 0, 0], [0.1, 0.2, 0.3]))
    asked = [page.ask("costMapSpec", view_of(page, report)) for report in reports]
    answers = page.answers()
    useless, none = (answers[each.call] for each in asked)
    assert not any(useless["marks"][0]["values"])
    assert len(useless["marks"]) == 1
    assert none is None


def test_calibration_measures_follow_from_bins() -> None:
    page = Page("core.js", "bins.js")
    for tallies in sample_tallies():
        output = model_payload(tallies)
        if output["reliability"] is None:
            continue
        everybody = page.keep("expand", output).part("everybody")
        places = [*range(len(output["groups"]))]
        for prevalence in PREVALENCES:
            if prevalence is not None and not has_both_classes(tallies):
                continue
            pooled = at_prevalence(tallies, prevalence).pooled("risk")
            factors = page.keep("factorsFor", everybody, prevalence)
            bins = page.keep("reliabilityBins", output["reliability"], places, factors, CONFIDENCE[1])
            page.expect(measure.ece(pooled), "calibrationError", bins)
            page.expect(measure.observed_expected(pooled), "observedExpected", bins)
    page.check(1e-9)


def test_thin_curves_keep_both_ends() -> None:
    page = Page("curves.js")
    for length in (1, 3, 250, 251, 5000):
        page.ask("thinCurve", [*range(length)])
    for length, thin in zip((1, 3, 250, 251, 5000), page.answers(), strict=True):
        assert (thin[0], thin[-1]) == (0, length - 1)
        assert len(thin) == length or length > 250 >= len(thin) - 1


def test_differences_are_turned_to_the_selected_model() -> None:
    report = several_models(3)
    rows = report.select(part="differences")
    page = Page("view.js", "forest.js")
    asked = [page.ask("differencesWith", view_of(page, report, model=model)) for model in range(3)]
    names, answers = report.models, page.answers()
    for model in range(3):
        differences = answers[asked[model].call]
        assert len(differences) == len(rows) * 2 // 3
        for each in differences:
            other = names[each["other"]]
            direct = [row for row in rows if (row["model"], row["other"]) == (names[model], other)]
            turned = [row for row in rows if (row["model"], row["other"]) == (other, names[model])]
            (row,) = [row for row in direct + turned if row["measure"] == each["measure"]]
            sign, bounds = (1, ("low", "high")) if direct else (-1, ("high", "low"))
            assert each["value"] == pytest.approx(sign * row["value"], rel=1e-12)
            assert [each["low"], each["high"]] == pytest.approx([sign * row[name] for name in bounds], rel=1e-12)
            assert each["p"] == pytest.approx(row["p_adjusted"], rel=1e-12)


@pytest.mark.parametrize(("models", "charts"), [(2, 5), (4, 9)])
def test_measures_of_different_units_have_axes_of_their_own(models: int, charts: int) -> None:
    page = Page("view.js", "forest.js")
    page.ask("forestSpecs", view_of(page, several_models(models)))
    specs = page.answers()[-1]
    assert len(specs) == charts
    rates = next(each["spec"] for each in specs if each["title"] in {"Rates", "Sensitivity (recall)"})
    assert rates["x"]["label"] == "Difference (percentage points)"
    assert len(rates["marks"][1]["x"]) == (4 if models == 2 else models - 1)
    assert all(each["spec"]["marks"][0] == {"kind": "rule", "key": "zero", "x": 0, "look": "quiet"} for each in specs)
    low, high = rates["x"]["domain"]
    assert low < 0 < high
    assert "Holm p" in rates["description"]
    cost = next(each["spec"] for each in specs if each["title"].startswith("Expected cost"))
    assert cost["x"]["name"] == "lower is better"


def test_all_models_are_drawn_with_their_numbers(open_page: PageOpener) -> None:
    report = several_models(3)
    page = open_page(report.html())
    for panel, name, text in (("roc", "auc", "AUC {:.4f}"), ("pr", "average_precision", "AP {:.4f}")):
        legend = page.locator(f"#panel-{panel} .legend").inner_text()
        for model in report.models:
            value = getattr(report.of(model).there, name).value
            assert f"{model}: {text.format(value)}" in legend
    assert legend.count("at 10% prevalence") == 3
    calibration = page.locator("#panel-reliability .legend").inner_text()
    for model in report.models:
        assert f"{model}: ECE {100 * report.of(model).there.ece.value:.1f}% at 10% prevalence" in calibration
    decision = page.locator("#panel-benefit .legend li").all_inner_texts()
    assert {"model 1", "model 2", "model 0, adjusted"} <= {each.strip() for each in decision}
    change(page, model=1)
    assert page.locator("#panel-roc .marks > .strong.series-1.dash-1").count() == 1


def test_predicted_labels_are_points_beside_curves(open_page: PageOpener) -> None:
    page = open_page(ODD_REPORTS["scores and labels"]().html())
    for panel in ("roc", "pr"):
        assert page.locator(f"#panel-{panel} .marks > .dots.series-1").count() == 1
    for panel in ("reliability", "benefit"):
        assert page.locator(f"#panel-{panel} .marks > .series-1").count() == 0


@pytest.mark.parametrize("prevalence", [None, 0.02, 0.2])
def test_numbers_of_charts_equal_those_of_python(open_page: PageOpener, prevalence: float | None) -> None:
    report = two_model_report()
    page = open_page(report.html())
    change(page, prevalence=prevalence)
    numbers = page.evaluate("() => baserate.numbers()")
    charts = [each for each in numbers if each["panel"] in {"roc", "pr", "reliability"} and "threshold" not in each]
    assert all(each["prevalence"] == prevalence for each in charts)
    stated = {(each["measure"], each["model"]): each for each in charts}
    place = "here" if prevalence is None else "there"
    known = prevalence in {None, report.prevalence}
    for model, name in enumerate(report.models):
        results = getattr(report.of(name), place)
        assert stated["auc", model]["value"] == results.auc.value
        assert ("average_precision", model) in stated or not known
        if known:
            for measured in ("average_precision", "ece", *(CALIBRATION if model == 0 else ())):
                assert stated[measured, model]["value"] == getattr(results, measured).value, measured
    if not known:
        scores, people = report.models[0], baserate.tally(*screening_rows())
        assert scores == "risk"
        there = shift.reweigh(people, prevalence=prevalence)
        assert stated["ece", 0]["value"] == pytest.approx(measure.ece(there), abs=1e-9)
        assert stated["observed_expected", 0]["value"] == pytest.approx(measure.observed_expected(there), abs=1e-9)
        assert ("calibration_slope", 0) not in stated


def screening_rows() -> tuple[Any, Any]:
    """Return labels and scores of the first model of `two_model_report`."""
    people = baserate.population.simulate_screening(rows=3000)
    return people.sick, people.risk


def test_numbers_at_the_planned_threshold_agree(open_page: PageOpener) -> None:
    page = open_page(two_model_report().html())
    report, numbers = two_model_report().of("risk"), page.evaluate("() => baserate.numbers()")
    for name in ("precision", "npv"):
        values = {
            each["value"] for each in numbers if (each["measure"], each["model"]) == (name, 0) and "other" not in each
        }
        assert [*values] == [pytest.approx(getattr(report.there, name).value, abs=1e-12)]
    (benefit,) = [each for each in numbers if each["panel"] == "benefit"]
    (row,) = two_model_report().select(part="differences", measure="net_benefit")
    assert benefit["value"] == pytest.approx(row["model_value"], abs=1e-12)


def test_pinned_threshold_is_drawn_beside_the_current_one(page: BrowserPage) -> None:
    charts = ("scores", "roc", "pr", "thresholds")
    assert page.locator(".letter").count() == 0
    page.click("#pin")
    wait_until_drawn(page)
    at = state(page)["pin"]
    for panel in charts:
        assert page.locator(f"#panel-{panel} .letter").all_text_contents() == ["A = B"]
    change(page, threshold=0.6)
    for panel in charts:
        assert page.locator(f"#panel-{panel} .letter").all_text_contents() == ["A", "B"]
    for panel in (*charts, "benefit", "prevalence"):
        legend = page.locator(f"#panel-{panel} .legend").inner_text()
        assert f"A: threshold {at:.6g}" in legend, panel
    for panel in (*charts[:3], "thresholds"):
        description = page.get_attribute(f"#panel-{panel} .chart", "aria-label") or ""
        assert "B: threshold 0.6" in description
        assert f"A: threshold {at:.6g}" in description
    page.click("#pin")
    wait_until_drawn(page)
    assert page.locator(".letter").count() == 0


def test_scale_of_the_scores_is_chosen_by_buttons(page: BrowserPage) -> None:
    title = page.locator("#panel-scores .axis").nth(1)
    assert title.text_content() == "People per 1,000 (per bin)"
    page.focus("[data-choice='classes']")
    page.keyboard.press("Enter")
    wait_until_drawn(page)
    assert title.text_content() == "Share of each class (per bin)"
    assert page.get_attribute("[data-choice='classes']", "aria-pressed") == "true"
    page.wait_for_function("() => location.hash.includes('scale=classes')")
    bars = page.locator("#panel-scores .marks .bars.positive path")
    before = bars.get_attribute("d")
    change(page, prevalence=0.4)
    assert bars.get_attribute("d") == before  # shares of a class do not depend on the prevalence
    change(page, scale="people")
    assert bars.get_attribute("d") != before


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_score_chart_is_as_high_as_the_panel_beside_it(screening_page: str, open_page: PageOpener, width: int) -> None:
    page = open_page(screening_page, width=width)
    chart = page.locator("#panel-scores .chart").bounding_box()
    assert chart
    assert 250 <= chart["height"] <= 380
    if width >= 1000:
        ends = [page.locator(f"#panel-{name}").bounding_box() for name in ("scores", "thousand")]
        assert ends[0]["y"] + ends[0]["height"] == pytest.approx(ends[1]["y"] + ends[1]["height"], abs=1)  # type: ignore[index]


def test_keys_and_clicks_select_costs_in_the_map(page: BrowserPage) -> None:
    grip = page.locator("#panel-cost-map .grip")
    grip.focus()
    texts = []
    for key in ("Home", "ArrowUp", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        texts.append((grip.get_attribute("aria-valuetext"), int(grip.get_attribute("aria-valuenow") or -1)))
    assert [at for _, at in texts] == [0, 48, 49, 1]
    assert len({text for text, _ in texts}) == 4
    before = state(page)
    for _ in range(20):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    wait_until_drawn(page)
    chosen = state(page)
    assert chosen["prevalence"] < 0.001
    assert chosen["fn"] / chosen["fp"] > 1
    assert chosen["threshold"] == before["threshold"]
    box = page.locator("#panel-cost-map .chart").bounding_box()
    assert box
    page.locator("#panel-cost-map .chart").click(position={"x": box["width"] * 0.8, "y": box["height"] * 0.2})
    wait_until_drawn(page)
    clicked = state(page)
    assert clicked["prevalence"] > 0.1
    assert clicked["fn"] / clicked["fp"] > 20


def test_without_costs_no_panel_shows_any(open_page: PageOpener) -> None:
    scores = {"risk": PEOPLE.risk, "old": PEOPLE.risk**2}
    page = open_page(baserate.evaluate(PEOPLE.sick, scores, group=SITE).html())
    page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for panel, words in {
        "roc": ("iso-cost line", "lowest cost"),
        "benefit": ("selected costs", "net benefit 0"),
        "models": ("Expected cost",),
        "cost-map": ("selected",),
    }.items():
        text = page.locator(f"#panel-{panel}").evaluate(
            "each => [...each.querySelectorAll('.legend, table')].map(e => e.innerText).join()"
        )
        for word in words:
            assert word not in text, panel
    assert all(
        each["measure"] not in {"expected_cost", "net_benefit"} for each in page.evaluate("() => baserate.numbers()")
    )
    page.locator("#panel-cost-map .grip").focus()
    page.keyboard.press("Enter")
    wait_until_drawn(page)
    assert state(page)["fp"] == 1
    assert "selected" in page.locator("#panel-cost-map .legend").inner_text()


def test_forest_plots_follow_the_selected_model(open_page: PageOpener) -> None:
    page = open_page(several_models(4).html())
    assert page.locator("#panel-models .forest .chart").count() == 9
    assert "model 0 minus each other model" in page.inner_text("#panel-models")
    ticks = page.locator("#panel-models .forest .chart").first.locator(".tick").all_text_contents()
    assert {"model 1", "model 2", "model 3"} <= {*ticks}
    assert sum(", p " in each for each in ticks) == 3
    change(page, model=2)
    ticks = page.locator("#panel-models .forest .chart").first.locator(".tick").all_text_contents()
    assert {"model 0", "model 1", "model 3"} <= {*ticks}
    grip = page.locator("#panel-models .forest .grip").first
    grip.focus()
    assert "Holm p" in (grip.get_attribute("aria-valuetext") or "")


def test_calibration_measures_state_their_prevalence(screening: ScreeningReport, page: BrowserPage) -> None:
    results = screening.report.there
    body = page.locator("#panel-reliability .body")
    assert "Calibration at 2% prevalence, 95% CI" in body.inner_text()
    assert f"Slope {results.calibration_slope.value:.4f}" in " ".join(body.inner_text().split())
    change(page, prevalence=0.3)
    assert "Calibration at 30% prevalence" in body.inner_text()
    assert "Slope" not in body.inner_text()
    assert "O/E" in body.inner_text()
