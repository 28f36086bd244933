"""Layout of the page: the verdict first, controls that stay in view, and panels that do not apply absent."""

from typing import Any

import pytest
from playwright.sync_api import Page

import baserate
from baserate import Report
from tests.report.page.browser import (
    PageOpener,
    change,
    overflow_width,
    show_all_controls,
    state,
    violations,
    wait_until_drawn,
)
from tests.report.page.pages import COSTS, ODD_REPORTS, PEOPLE, SITE, ScreeningReport
from tests.tiers import take_in_tiers

WIDTHS = (320, 390, 768, 1024, 1366, 1440, 1920)


def shown_verdict(page: Page) -> dict[str, Any]:
    """Read the verdict of a page."""
    figures = page.locator("#verdict-figures div").all()
    return {
        "decision": page.inner_text("#verdict-decision"),
        "costs": page.text_content("#verdict-cost"),
        "measures": [(each.locator("dt").inner_text(), each.locator("dd").inner_text()) for each in figures],
    }


def verdict_of_python(report: Report, model: str | None = None) -> dict[str, Any]:
    """Return the verdict of a report in the form in which a page shows it."""
    verdict = report.of(model or report.models[0]).verdict
    return {
        "decision": f"{verdict.decision} {verdict.people}",
        "costs": verdict.costs,
        "measures": [*verdict.measures],
    }


@pytest.mark.parametrize(
    "kind", take_in_tiers(ODD_REPORTS, {"ten rows", "labels", "randomized decisions and labels"}.__contains__)
)
def test_verdict_equals_that_of_python(open_page: PageOpener, kind: str) -> None:
    report = ODD_REPORTS[kind]()
    page = open_page(report.html())
    assert shown_verdict(page) == verdict_of_python(report)
    warnings = [each.text for each in report.of(report.models[0]).verdict.warnings]
    assert page.locator("#verdict-warnings li").all_inner_texts() == warnings


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"threshold": 0.4, "prevalence": 0.1}, {"prevalence": 0.1, "costs": COSTS}),
        ({"threshold": 0.5, "prevalence": 0.0007, "fp": 2, "fn": 3}, {"prevalence": 0.0007, "fp": 2, "fn": 3}),
        ({"threshold": 0.9, "prevalence": None, "fp": 1, "fn": 1}, {"prevalence": None, "fp": 1, "fn": 1}),
        ({"threshold": float("inf")}, {"prevalence": 0.02, "costs": COSTS}),
    ],
)
def test_verdict_follows_the_controls(
    screening: ScreeningReport, page: Page, settings: dict[str, Any], options: dict[str, Any]
) -> None:
    threshold = settings["threshold"]
    page.evaluate(
        "([settings, threshold]) => baserate.set({ ...settings, threshold: Number(threshold) })",
        [
            {name: each for name, each in settings.items() if name != "threshold"},
            str(threshold).replace("inf", "Infinity"),
        ],
    )
    wait_until_drawn(page)
    used = float(state(page)["threshold"] if threshold < 1 else threshold)
    report = baserate.evaluate(screening.people.sick, screening.people.risk, threshold=used, **options)
    assert shown_verdict(page) == verdict_of_python(report)


def test_words_of_the_plan_are_used(open_page: PageOpener) -> None:
    report = baserate.evaluate(
        PEOPLE.sick,
        {"risk": PEOPLE.risk, "old": PEOPLE.risk**2},
        title="Screening in 2026",
        outcome_name="sick",
        flag_name="recalled",
        model_labels={"risk": "Model A"},
        threshold=0.3,
    )
    page = open_page(report.html())
    assert page.title() == "Screening in 2026: classifier report"
    assert page.inner_text("#report-title") == "Screening in 2026"
    assert "outcome: sick (" in page.inner_text("#data-summary")
    assert page.locator("#model option").all_inner_texts() == ["Model A", "old"]
    assert page.inner_text("#verdict-subject") == "Model Model A"
    sentence = page.inner_text("#verdict-decision")
    assert "of them sick" in sentence
    assert " recalled, " in sentence
    assert sentence == verdict_of_python(report, "risk")["decision"]


def test_verdict_comes_before_controls_and_panels(page: Page) -> None:
    order = page.evaluate(
        "() => [...document.querySelectorAll('h1, #verdict, form, main')].map(each => each.localName)"
    )
    assert order == ["h1", "section", "form", "main"]
    titles = page.locator("main h2:visible").all_inner_texts()
    assert titles == ["Decision", "Setting", "Discrimination", "Calibration", "Groups", "Findings"]


@pytest.mark.parametrize("width", [1024, 1440])
def test_controls_stay_at_the_top(screening_page: str, open_page: PageOpener, width: int) -> None:
    page = open_page(screening_page, width=width)
    page.locator("#panel-roc").scroll_into_view_if_needed()
    box = page.locator("form.controls").bounding_box()
    assert box
    assert box["y"] == pytest.approx(0, abs=1)
    assert box["height"] <= 160
    assert page.locator("#threshold").is_visible()


def test_controls_are_a_sheet_on_a_phone(screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page, width=390)
    assert page.locator("#verdict").bounding_box()["y"] < 120  # type: ignore[index]
    sheet = page.locator("form.controls")
    box = sheet.bounding_box()
    assert box
    assert box["y"] + box["height"] == pytest.approx(900, abs=1)
    assert box["height"] <= 130
    assert not page.locator("#prevalence").is_visible()
    show_all_controls(page)
    assert page.locator("#prevalence").is_visible()
    opened = sheet.bounding_box()
    assert opened
    # A chart above the sheet stays in view while its controls move.
    assert opened["height"] <= 0.47 * 900
    page.locator("#panel-roc .chart").scroll_into_view_if_needed()
    page.locator("#threshold").focus()
    page.keyboard.press("ArrowRight")
    chart = page.locator("#panel-roc .chart").bounding_box()
    assert chart
    assert chart["y"] < opened["y"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ODD_REPORTS])
def test_pages_fit_every_width(open_page: PageOpener, kind: str) -> None:
    page = open_page(ODD_REPORTS[kind]().html())
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_drawn(page)
        assert overflow_width(page) <= 0, width


@pytest.mark.parametrize(
    ("kind", "absent"),
    [
        ("labels", {"reliability", "benefit", "scores", "thresholds"}),
        ("no probabilities", {"reliability", "benefit"}),
        ("ten rows", {"groups", "models"}),
    ],
)
def test_panels_that_do_not_apply_are_absent(open_page: PageOpener, kind: str, absent: set[str]) -> None:
    page = open_page(ODD_REPORTS[kind]().html())
    for name in absent:
        assert page.locator(f"#panel-{name}:visible").count() == 0, name
    assert page.locator("#threshold-knob").is_visible() == (kind != "labels")
    # A section without panels has no heading either.
    for part in page.locator("main > .part:visible").all():
        assert part.locator(".panel:visible").count() > 0


def test_without_costs_the_page_states_none(open_page: PageOpener) -> None:
    page = open_page(baserate.evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE).html())
    assert (state(page)["fp"], state(page)["fn"]) == (None, None)
    assert page.input_value("#ratio-number") == ""
    assert page.inner_text("#ratio-output") == "no costs stated"
    assert page.locator("#verdict-cost").is_hidden()
    show_all_controls(page)
    assert page.locator("[data-rule='cost']").is_hidden()
    page.fill("#ratio-number", "20 : 1")
    page.press("#ratio-number", "Enter")
    assert (state(page)["fp"], state(page)["fn"]) == (1, 20)
    assert page.locator("#verdict-cost").is_visible()
    assert page.locator("[data-rule='cost']").is_visible()
    page.click("#planned")
    assert state(page)["fn"] is None
    assert page.inner_text("#ratio-output") == "no costs stated"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*ODD_REPORTS])
def test_odd_pages_are_accessible(open_page: PageOpener, kind: str) -> None:
    page = open_page(ODD_REPORTS[kind]().html())
    show_all_controls(page)
    assert violations(page) == []


def test_reset_returns_to_the_plan(page: Page) -> None:
    now = state(page)
    change(page, threshold=0.5, prevalence=0.3, fn=3, pin=0.2)
    assert page.get_attribute("#planned", "aria-disabled") == "false"
    page.click("#planned")
    wait_until_drawn(page)
    assert state(page) == now
    assert page.get_attribute("#planned", "aria-disabled") == "true"


def test_a_toolbar_is_one_tab_stop(page: Page) -> None:
    toolbar = page.locator("#panel-roc > .tools")
    assert toolbar.get_attribute("role") == "toolbar"
    stops = toolbar.locator("summary, button")
    assert stops.count() == 4
    assert [each.get_attribute("tabindex") for each in stops.all()] == ["0", "-1", "-1", "-1"]
    stops.first.focus()
    for key, at in {"ArrowRight": 1, "End": 3, "ArrowLeft": 2, "Home": 0}.items():
        page.keyboard.press(key)
        assert page.evaluate("each => each === document.activeElement", stops.nth(at).element_handle()), key
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    assert not page.evaluate("() => document.activeElement.closest('#panel-roc > .tools')")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("each => each === document.activeElement", stops.nth(1).element_handle())


def test_a_hidden_button_is_no_tab_stop(open_page: PageOpener) -> None:
    page = open_page(baserate.evaluate(PEOPLE.sick, PEOPLE.risk).html())
    show_all_controls(page)
    rules = page.locator("#rules button")
    assert [each.get_attribute("tabindex") for each in rules.all()].count("0") == 1
    assert page.locator("#rules button[tabindex='0']").is_visible()
    assert page.locator("[data-rule='cost']").is_hidden()
