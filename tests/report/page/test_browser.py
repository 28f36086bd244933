"""The page in a real browser: its numbers equal those of Python, and every control changes the right panels."""

import re
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import baserate
from baserate import Costs, Report
from baserate.decide import page_rules
from baserate.report._natural_frequencies import natural_frequencies
from tests.report.page.browser import (
    CHARTS,
    PANELS,
    SLIDERS,
    Media,
    PageOpener,
    Scheme,
    change,
    changed_panels,
    current_threshold,
    open_details,
    overflow_width,
    panel_contents,
    panel_intervals,
    panel_numbers,
    state,
    violations,
    wait_until_drawn,
)
from tests.report.page.pages import ScreeningReport, many_group_report, two_model_report
from tests.tiers import slow, take_in_tiers, tiered_rows

SHARES = {"sensitivity", "specificity", "precision", "npv", "flag_rate", "accuracy"}
MOVING = SHARES | {"balanced_accuracy", "f1", "mcc", "expected_cost"}
"""Measures that every page shows; intervals of shares follow the controls."""
MOVES: dict[str, dict[str, Any]] = {
    "as planned": {},
    "stricter": {"threshold": 0.6},
    "laxer": {"threshold": 0.05},
    "rarer": {"prevalence": 0.001},
    "commoner": {"prevalence": 0.4},
    "as the rows are": {"prevalence": None},
    "dear alarms": {"fp": 7},
    "cheap misses": {"fn": 2},
    "a group": {"who": 1},
    "all at once": {"threshold": 0.4, "prevalence": 0.15, "fp": 2, "fn": 5, "who": 2},
}
STEADY = {"findings", "cost-map"}
"""Panels that do not depend on the threshold."""
MOVED_BY: dict[str, set[str]] = {
    "threshold": {*PANELS, "groups"} - STEADY,
    "flag-rate": {*PANELS, "groups"} - STEADY,
    "prevalence": {
        "scores",
        "cost-map",
        "thousand",
        "measures",
        "roc",
        "pr",
        "thresholds",
        "benefit",
        "prevalence",
        "groups",
    },
    "ratio": {"measures", "roc", "benefit", "cost-map"},
    "fp": {"measures", "roc", "benefit", "cost-map"},
    "fn": {"measures", "roc", "benefit", "cost-map"},
}
"""Panels that change with a control; findings are those of the plan."""


@pytest.fixture(scope="module")
def two_model_page() -> str:
    return two_model_report().html()


@pytest.mark.slow
def test_requests_messages_and_errors_of_a_page_are_recorded(browser: Browser, tmp_path: Path) -> None:
    pages = PageOpener(browser, tmp_path)
    deeds = "console.log('hm'); alert('ha'); setTimeout(() => { throw Error('oh'); }); new Image().src = 'http://x.invalid/y'"
    page = pages(f"<html data-ready=1 data-drawn=1><body><script>{deeds}</script>")
    wanted = {"console: hm", "dialog: ha", "threw: oh", "asked for http://x.invalid/y"}
    patience = monotonic() + 30
    while (result := {each for each in wanted if each in " ".join(pages.troubles)}) != wanted:
        assert monotonic() < patience, result
        page.wait_for_timeout(20)
    pages.close()


@pytest.mark.parametrize(
    ("width", "scheme", "media"),
    tiered_rows(
        [(1280, "dark", "screen"), (1280, "light", "screen"), (390, "light", "screen"), (1280, "light", "print")]
    ),
)
def test_page_has_no_accessibility_violations(
    two_model_page: str, open_page: PageOpener, *, width: int, scheme: Scheme, media: Media
) -> None:
    page = open_page(two_model_page, width=width, scheme=scheme, media=media)
    assert violations(page) == []


@pytest.mark.slow
def test_open_details_are_accessible_and_fit_every_width(two_model_page: str, open_page: PageOpener) -> None:
    page = open_page(two_model_page)
    open_details(page)
    assert violations(page) == []
    for width in (1920, 1280, 700, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_drawn(page)
        assert overflow_width(page) <= 0, width


@pytest.mark.quick(1)
@pytest.mark.parametrize("media", ["screen", "print"])
def test_all_panels_are_visible_and_explained(two_model_page: str, open_page: PageOpener, media: Media) -> None:
    page = open_page(two_model_page, media=media)
    for name in (*PANELS, "groups", "models"):
        panel = page.locator(f"#panel-{name}")
        assert panel.is_visible(), name
        box = panel.bounding_box()
        assert box, name
        assert box["height"] > 40, name
    for name in CHARTS:
        assert page.locator(f"#panel-{name} svg").count() > 0, name
        assert page.locator(f"#panel-{name} details.how").count() == 1, name
        assert page.locator(f"#panel-{name} details.table").count() == 1, name


@pytest.mark.slow
def test_every_chart_has_a_table_of_its_data(screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page)
    for name in CHARTS:
        page.locator(f"#panel-{name} details.table > summary").click()
        rows = page.locator(f"#panel-{name} details.table tr")
        rows.nth(1).wait_for()
        assert rows.first.locator("th").count() >= 2, name


def test_page_prints_to_pdf(screening_page: str, open_page: PageOpener) -> None:
    assert open_page(screening_page, media="print").pdf().startswith(b"%PDF")


def select_group(report: Report, who: int) -> Report:
    return report if who < 0 else report.within(**report.groups[who])


def evaluate_in_python(screening: ScreeningReport, now: Mapping[str, Any], threshold: float) -> Report:
    """Evaluate the data in Python at the settings of the page."""
    report = baserate.evaluate(
        screening.people.sick,
        screening.people.risk,
        group={"site": screening.people.site},
        prevalence=now["prevalence"],
        costs=Costs(fp=now["fp"], fn=now["fn"]),
        threshold=threshold,
    )
    return select_group(report, now["who"])


def read_box(page: Page, name: str) -> float:
    """Return the number in a box; shares are percentages."""
    text = page.input_value(f"#{name}-number")
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def is_equal(result: float, wanted: float) -> bool:
    """Return whether two numbers are equal up to rounding, or both undefined."""
    return result == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True)


def check_numbers(page: Page, screening: ScreeningReport) -> None:
    """Check that the numbers on the page equal those of Python."""
    now = state(page)
    report = evaluate_in_python(screening, now, current_threshold(page))
    check_measures(page, report, select_group(screening.report, now["who"]))
    check_thousand(page, report)
    result = panel_numbers(page, "groups")
    for at, group in enumerate(report.groups):
        view = report.within(**group).there
        wanted = {name: getattr(view, name).value for name in ("sensitivity", "precision", "flag_rate")}
        for name, value in (wanted | {"fpr": 1 - view.specificity.value}).items():
            assert is_equal(result[name][at], value), (name, group)


def check_measures(page: Page, report: Report, planned: Report) -> None:
    """Check that numbers at the threshold are those of the settings, and all others those of the plan."""
    result, ends = panel_numbers(page, "measures"), panel_intervals(page, "measures")
    assert set(result) >= MOVING
    for name in MOVING:
        assert is_equal(result[name][0], getattr(report.there, name).value), name
    assert is_equal(result.pop("fpr")[0], 1 - report.there.specificity.value)
    for name in SHARES:
        own = getattr(report.there, name)
        assert all(map(is_equal, ends[name][0], (own.low, own.high))), name
    for name in set(result) - MOVING:
        known = [getattr(view, name).value for view in (planned.here, planned.there)]
        assert any(is_equal(result[name][0], each) for each in known), name


def check_thousand(page: Page, report: Report) -> None:
    """Check that natural frequencies equal those of Python."""
    cells, screening = panel_numbers(page, "thousand"), natural_frequencies(report.there)
    assert {cell: cells[cell][0] for cell in screening.whole} == dict(screening.whole)
    for cell in screening.whole:
        assert page.inner_text(f"#panel-thousand [data-number='{cell}'] b") == screening.format_cells(cell)


@pytest.mark.quick(2)
@pytest.mark.parametrize("move", take_in_tiers(MOVES, {"as planned", "rarer", "a group", "all at once"}.__contains__))
def test_numbers_equal_those_of_python(screening: ScreeningReport, page: Page, move: str) -> None:
    change(page, **MOVES[move])
    now = {**state(page), "threshold": current_threshold(page)}
    for name, value in MOVES[move].items():
        # The threshold becomes one of the scores that the page contains.
        assert now[name] == (pytest.approx(value, abs=0.01) if name == "threshold" else value)
    check_numbers(page, screening)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", take_in_tiers(SLIDERS, lambda name: name != "fp"))
def test_keys_move_every_slider(screening: ScreeningReport, page: Page, name: str) -> None:
    panels = MOVED_BY[name] - {"thousand"}  # whole people may be as many after a small step
    page.focus(f"#{name}")
    for key in ("ArrowRight", "PageUp", "ArrowLeft"):
        before, value = panel_contents(page, *panels), page.input_value(f"#{name}")
        page.keyboard.press(key)
        wait_until_drawn(page)
        assert page.input_value(f"#{name}") != value, key
        assert changed_panels(before, panel_contents(page, *panels)) == panels, key
    check_numbers(page, screening)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("threshold", "0.5", 0.5),
        ("flag-rate", "10%", 0.1),
        ("prevalence", "0.0123", 0.0123),
        ("prevalence", "1.5 %", 0.015),
        slow("fp", "3.5", 3.5),
        ("fn", "1,200", 1200),
        ("ratio", "12 : 1", 12),
        ("ratio", "1:4", 0.25),
    ],
)
def test_a_number_box_takes_the_exact_value(
    screening: ScreeningReport, page: Page, *, name: str, text: str, wanted: float
) -> None:
    before = panel_contents(page, *MOVED_BY[name])
    page.fill(f"#{name}-number", text)
    page.keyboard.press("Enter")
    wait_until_drawn(page)
    now = state(page)
    if name in now and name != "threshold":  # a threshold becomes a score that occurs
        assert now[name] == wanted
    if name == "ratio":
        assert now["fn"] / now["fp"] == pytest.approx(wanted)
    assert changed_panels(before, panel_contents(page, *MOVED_BY[name])) == MOVED_BY[name]
    check_numbers(page, screening)


@pytest.mark.parametrize(
    ("name", "text_or_number"),
    [("flag-rate", "1.5"), ("prevalence", "0"), ("prevalence", "two"), ("fp", "-1"), ("fn", ""), ("threshold", "")],
)
def test_invalid_input_is_reported_and_ignored(page: Page, *, name: str, text_or_number: str) -> None:
    now, box = state(page), page.locator(f"#{name}-number")
    box.fill(text_or_number)
    box.press("Tab")
    assert state(page) == now
    assert box.get_attribute("aria-invalid") == "true"
    assert " is not valid. Enter a" in page.inner_text(f"#{name}-output")
    change(page, fn=9)
    assert box.get_attribute("aria-invalid") is None
    wanted = {**now, "flag-rate": read_box(page, "flag-rate"), "fn": 9}[name]
    assert read_box(page, name) == pytest.approx(wanted)


def test_threshold_between_scores_is_rounded_with_a_message(page: Page) -> None:
    page.fill("#threshold-number", "0.30001")
    page.press("#threshold-number", "Enter")
    wait_until_drawn(page)
    assert page.inner_text("#threshold-output").startswith(f"0.30001 becomes {state(page)['threshold']}: flags ")


@pytest.mark.quick(2)
@pytest.mark.parametrize("rule", [*page_rules()])
def test_rules_choose_the_threshold_of_python(screening: ScreeningReport, page: Page, rule: str) -> None:
    page.focus(f"[data-rule='{rule}']")
    page.keyboard.press("Enter")
    wait_until_drawn(page)
    planned = screening.report.plan
    wanted = baserate.evaluate(
        screening.people.sick, screening.people.risk, prevalence=planned.prevalence, costs=planned.costs, rule=rule
    )
    result, best = (
        evaluate_in_python(screening, state(page), each)
        for each in (current_threshold(page), wanted.there.threshold.value)
    )
    # The page keeps some of the scores alone: it may stop at one beside, but at none that is seen to be another.
    assert result.there.sensitivity.value == pytest.approx(best.there.sensitivity.value, abs=0.003)
    assert result.there.specificity.value == pytest.approx(best.there.specificity.value, abs=0.003)
    page.focus("#planned")  # by the keyboard: where nothing differs from the plan, the button is not enabled
    page.keyboard.press("Enter")
    assert current_threshold(page) == screening.report.there.threshold.value


@pytest.mark.parametrize("parity", ["own", "demographic-parity", "equal-opportunity", "equalized-odds", "single"])
def test_parity_buttons_equalize_rates(page: Page, parity: str) -> None:
    page.focus(f"[data-parity='{parity}']")
    page.keyboard.press("Space")
    wait_until_drawn(page)
    assert state(page)["parity"] == parity
    result = panel_numbers(page, "groups")
    equal = {
        "demographic-parity": ("flag_rate",),
        "equal-opportunity": ("sensitivity",),
        "equalized-odds": ("sensitivity", "fpr"),
    }
    for name in equal.get(parity, ()):
        assert result[name] == pytest.approx([result[name][0]] * 3, abs=1e-9), name


@pytest.mark.slow
def test_keys_choose_models_and_groups(two_model_page: str, open_page: PageOpener) -> None:
    page = open_page(two_model_page)
    own = {*PANELS} - {"findings"}
    for name in ("model", "who"):
        before = panel_contents(page, *own)
        page.focus(f"#{name}")
        page.keyboard.press("ArrowDown")
        wait_until_drawn(page)
        assert changed_panels(before, panel_contents(page, *own)) == own, name


def test_dragging_the_threshold_moves_every_panel(screening: ScreeningReport, page: Page) -> None:
    panels = MOVED_BY["threshold"]
    handle = page.locator("#panel-scores svg [role='slider']")
    handle.scroll_into_view_if_needed()
    before, box = panel_contents(page, *panels), handle.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 90, y, steps=6)
    page.mouse.up()
    wait_until_drawn(page)
    assert changed_panels(before, panel_contents(page, *panels)) == panels
    assert current_threshold(page) > screening.report.there.threshold.value
    check_numbers(page, screening)


@pytest.mark.slow
def test_touch_away_from_the_handle_scrolls_the_page(browser: Browser, screening_page: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(screening_page, encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(path.as_uri())
    chart = page.locator("#panel-scores svg.chart")
    chart.scroll_into_view_if_needed()
    box, before = chart.bounding_box(), state(page)
    assert box
    page.touchscreen.tap(box["x"] + box["width"] - 40, box["y"] + 60)
    wait_until_drawn(page)
    assert state(page) == before
    grip = page.locator("#panel-scores [role='slider']").bounding_box()
    assert grip
    page.touchscreen.tap(grip["x"] + grip["width"] / 2 + 12, grip["y"] + grip["height"] / 2)
    wait_until_drawn(page)
    assert state(page)["threshold"] > before["threshold"]
    page.close()


@pytest.mark.parametrize("panel", ["scores", "roc", "pr"])
def test_keys_move_the_handle_of_a_chart(page: Page, panel: str) -> None:
    before = current_threshold(page)
    handle = page.locator(f"#panel-{panel} svg [role='slider']")
    output = handle.get_attribute("aria-valuetext")
    handle.focus()
    page.keyboard.press("ArrowRight")
    wait_until_drawn(page)
    assert current_threshold(page) != before
    assert handle.get_attribute("aria-valuetext") != output


@pytest.mark.slow
def test_address_restores_the_state(two_model_page: str, open_page: PageOpener) -> None:
    page = open_page(two_model_page)
    usual = state(page)
    settings = {"threshold": 0.4, "prevalence": 0.15, "fp": 2, "fn": 5, "who": 2, "model": 1}
    change(page, **settings, parity="equal-opportunity", pin=0.5, scale="classes")
    change(page, reference=0, shown=[0, 2], rates=["npv"], frontier="demographic-parity")
    page.wait_for_function("() => location.hash.includes('frontier')")  # it is written a moment later
    now = state(page)
    assert all(now[name] != usual[name] for name in usual if name != "cuts")  # those of custom thresholds
    kept = page.evaluate("() => location.hash")
    again = open_page(two_model_page, state=kept)
    assert state(again) == now
    panels = (*PANELS, "groups", "models")
    assert changed_panels(panel_contents(page, *panels), panel_contents(again, *panels)) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd", take_in_tiers(["#threshold=wrong&who=99&model=-7", "#%%%", "#" + "x" * 5000, "#panel-roc"], quick=2)
)
def test_invalid_addresses_are_ignored(screening_page: str, open_page: PageOpener, page: Page, odd: str) -> None:
    assert state(open_page(screening_page, state=odd)) == state(page)


@pytest.mark.slow
def test_findings_link_to_their_panels(screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page)
    change(page, threshold=0.4)
    now = state(page)
    open_details(page)
    links = page.locator("#panel-findings a[href^='#panel-']")
    assert links.count() >= 3
    for at in range(links.count()):
        target = links.nth(at).get_attribute("href")
        links.nth(at).click()
        assert page.locator(str(target)).count() == 1
        assert state(page) == now


@pytest.mark.slow
def test_findings_show_the_command_of_the_report(
    screening: ScreeningReport, screening_page: str, open_page: PageOpener
) -> None:
    page = open_page(screening_page)
    open_details(page)
    text_or_number = page.locator("#panel-findings pre code").all_inner_texts()
    wanted = [each.command.text for each in screening.report.findings if each.command]
    assert wanted
    assert text_or_number == wanted
    assert all(text.startswith("baserate ") for text in text_or_number)


@pytest.mark.slow
def test_reduced_motion_shows_the_same_content(screening_page: str, open_page: PageOpener) -> None:
    lively, calm = open_page(screening_page), open_page(screening_page, calm=True)
    for page in (lively, calm):
        change(page, threshold=0.4, prevalence=0.1)
    panels = (*PANELS, "groups")
    assert changed_panels(panel_contents(lively, *panels), panel_contents(calm, *panels)) == set()


def test_hostile_names_are_shown_as_text(hostile_page: str, open_page: PageOpener) -> None:
    page = open_page(hostile_page)
    own = {*PANELS} - {"findings"}
    before = panel_contents(page, *own)
    change(page, model=5, who=3, threshold=0.5)
    assert changed_panels(before, panel_contents(page, *own)) == own
    open_details(page)
    assert "<script>alert(1)</script>" in page.inner_text("main")
    scripts = page.evaluate("() => [...document.scripts].map(each => each.id)")
    assert scripts == ["packed-payload", "packed-script", "", "payload", "script"]
    assert page.locator("img, iframe, [onerror], [onload]").count() == 0
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_drawn(page)
        assert overflow_width(page) <= 0, width


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "models"), [(14, 3), slow(50, 8)])
def test_pages_of_many_groups_and_models_work(open_page: PageOpener, groups: int, models: int) -> None:
    page = open_page(many_group_report(groups, models).html())
    assert (page.locator("#model option").count(), page.locator("#who option").count()) == (models, groups + 1)
    own = {*PANELS} - {"findings"}
    for move in ({"threshold": 0.7}, {"model": models - 1}, {"who": groups - 1}):
        before = panel_contents(page, *own)
        change(page, **move)
        moved = own - STEADY if "threshold" in move else own
        assert changed_panels(before, panel_contents(page, *own)) == moved, move
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_drawn(page)
        assert overflow_width(page) <= 0, width


@pytest.mark.slow
def test_small_groups_are_excluded_from_gaps_and_small_p_values_are_bounds(open_page: PageOpener) -> None:
    rng = np.random.default_rng(9)
    truth = rng.random(2012) < 0.4
    risk = np.round(np.clip(0.35 * truth + 0.6 * rng.random(2012), 0, 1), 2)
    risk[2000:] = 0.99
    scores = {"new": risk, "old": np.round((risk + rng.random(2012)) / 2, 2), "none": np.round(rng.random(2012), 2)}
    race = np.repeat(["a", "b", "c"], [1200, 800, 12])
    report = baserate.evaluate(truth, scores, group={"race": race}, threshold=0.5)
    page = open_page(report.html())
    output = page.locator("#panel-groups").inner_text()
    assert "Largest difference between two groups, in the sample (" in output
    assert "Groups with fewer than 50 rows for a rate are left out." in output
    (gap,) = report.of("new").select(part="gaps", measure="fpr")
    each = {race: report.of("new").within(race=race).here.specificity.value for race in "abc"}
    assert gap["value"] == pytest.approx(abs(each["a"] - each["b"]))
    assert each["c"] == 0
    assert not re.search(r"FPR (9\d|100)[.\d]*\s%", output.partition("Largest difference")[2])
    models = page.locator("#panel-models").inner_text()
    assert "Holm p" in models
    assert "< 0.0001" in models
    assert "confidence intervals are not adjusted for multiplicity" in models
    assert not re.search(r"e[−-]\d", models)
