"""The page in a real browser: what it shows is what Python says, and every control moves what it should."""

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
from baserate.report._text import natural_frequencies
from tests.report.page.browser import (
    CHARTS,
    PANELS,
    SLIDERS,
    Media,
    Opened,
    Scheme,
    change,
    changed,
    cut,
    intervals,
    numbers,
    settled,
    shown,
    state,
    unfolded,
    violations,
    wider,
)
from tests.report.page.pages import Screened, crowd, several
from tests.tiers import slow, tiered, tiered_rows

SHARES = {"sensitivity", "specificity", "precision", "npv", "flag_rate", "accuracy"}
MOVING = SHARES | {"balanced_accuracy", "f1", "mcc", "expected_cost"}
"""At the least, the page tells these; intervals of shares move with the controls."""
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
MOVED_BY: dict[str, set[str]] = {
    "threshold": {*PANELS, "groups"} - {"findings"},
    "flag-rate": {*PANELS, "groups"} - {"findings"},
    "prevalence": {"thousand", "measures", "roc", "pr", "thresholds", "benefit", "prevalence", "groups"},
    "fp": {"measures", "roc"},
    "fn": {"measures", "roc"},
}
"""Panels that look otherwise after a control was moved; findings are those of the plan."""


@pytest.fixture(scope="module")
def page_of_two() -> str:
    return several().html()


@pytest.mark.slow
def test_a_page_that_asks_complains_or_throws_is_noticed(browser: Browser, tmp_path: Path) -> None:
    pages = Opened(browser, tmp_path)
    deeds = "console.log('hm'); alert('ha'); setTimeout(() => { throw Error('oh'); }); new Image().src = 'http://x.invalid/y'"
    page = pages(f"<html data-ready=1><body><script>{deeds}</script>")
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
def test_everybody_can_read_it(page_of_two: str, opened: Opened, *, width: int, scheme: Scheme, media: Media) -> None:
    page = opened(page_of_two, width=width, scheme=scheme, media=media)
    assert violations(page) == []


@pytest.mark.slow
def test_what_is_unfolded_can_be_read_and_fits(page_of_two: str, opened: Opened) -> None:
    page = opened(page_of_two)
    unfolded(page)
    assert violations(page) == []
    for width in (1920, 1280, 700, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        assert wider(page) <= 0, width


@pytest.mark.quick(1)
@pytest.mark.parametrize("media", ["screen", "print"])
def test_all_panels_are_there_explained_and_seen(page_of_two: str, opened: Opened, media: Media) -> None:
    page = opened(page_of_two, media=media)
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
def test_a_chart_tells_its_data_in_a_table(page_of_people: str, opened: Opened) -> None:
    page = opened(page_of_people)
    for name in CHARTS:
        page.locator(f"#panel-{name} details.table > summary").click()
        rows = page.locator(f"#panel-{name} details.table tr")
        rows.nth(1).wait_for()
        assert rows.first.locator("th").count() >= 2, name


def test_it_prints(page_of_people: str, opened: Opened) -> None:
    assert opened(page_of_people, media="print").pdf().startswith(b"%PDF")


def of_whom(report: Report, who: int) -> Report:
    return report if who < 0 else report.within(**report.groups[who])


def judged(people: Screened, now: Mapping[str, Any], threshold: float) -> Report:
    """What Python says at the settings of the page."""
    report = baserate.evaluate(
        people.people.sick,
        people.people.risk,
        group={"site": people.people.site},
        prevalence=now["prevalence"],
        costs=Costs(fp=now["fp"], fn=now["fn"]),
        threshold=threshold,
    )
    return of_whom(report, now["who"])


def same(result: float, wanted: float) -> bool:
    """Whether two numbers are equal but for the last digits, or both undefined."""
    return result == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True)


def check_numbers(page: Page, people: Screened) -> None:
    """See that what is shown is what Python says."""
    now = state(page)
    report = judged(people, now, cut(page))
    check_measures(page, report, of_whom(people.report, now["who"]))
    check_thousand(page, report)
    result = numbers(page, "groups")
    for at, group in enumerate(report.groups):
        view = report.within(**group).there
        wanted = {name: getattr(view, name).value for name in ("sensitivity", "precision", "flag_rate")}
        for name, value in (wanted | {"fpr": 1 - view.specificity.value}).items():
            assert same(result[name][at], value), (name, group)


def check_measures(page: Page, report: Report, planned: Report) -> None:
    """Numbers at the cut-off are those of the settings, all others those of the plan."""
    result, ends = numbers(page, "measures"), intervals(page, "measures")
    assert set(result) >= MOVING
    for name in MOVING:
        assert same(result[name][0], getattr(report.there, name).value), name
    assert same(result.pop("fpr")[0], 1 - report.there.specificity.value)
    for name in SHARES:
        own = getattr(report.there, name)
        assert all(map(same, ends[name][0], (own.low, own.high))), name
    for name in set(result) - MOVING:
        known = [getattr(view, name).value for view in (planned.here, planned.there)]
        assert any(same(result[name][0], each) for each in known), name


def check_thousand(page: Page, report: Report) -> None:
    """A thousand people are dealt to the cells as Python deals them."""
    cells, people = numbers(page, "thousand"), natural_frequencies(report.there)
    assert {cell: cells[cell][0] for cell in people.whole} == dict(people.whole)
    for cell in people.whole:
        assert page.inner_text(f"#panel-thousand [data-number='{cell}'] b") == people.format_cells(cell)


@pytest.mark.quick(2)
@pytest.mark.parametrize("move", tiered(MOVES, {"as planned", "rarer", "a group", "all at once"}.__contains__))
def test_numbers_are_those_of_python(people: Screened, page: Page, move: str) -> None:
    change(page, **MOVES[move])
    now = {**state(page), "threshold": cut(page)}
    for name, value in MOVES[move].items():
        # A cut-off is one of the scores that the page keeps.
        assert now[name] == (pytest.approx(value, abs=0.01) if name == "threshold" else value)
    check_numbers(page, people)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", tiered(SLIDERS, lambda name: name != "fp"))
def test_keys_move_every_slider(people: Screened, page: Page, name: str) -> None:
    panels = MOVED_BY[name] - {"thousand"}  # whole people may be as many after a small step
    page.focus(f"#{name}")
    for key in ("ArrowRight", "PageUp", "ArrowLeft"):
        before, value = shown(page, *panels), page.input_value(f"#{name}")
        page.keyboard.press(key)
        settled(page)
        assert page.input_value(f"#{name}") != value, key
        assert changed(before, shown(page, *panels)) == panels, key
    check_numbers(page, people)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("name", "typed"),
    [("threshold", 0.5), ("flag-rate", 0.1), ("prevalence", 0.0123), slow("fp", 3.5), ("fn", 12)],
)
def test_a_number_box_takes_the_exact_value(people: Screened, page: Page, *, name: str, typed: float) -> None:
    before = shown(page, *MOVED_BY[name])
    page.fill(f"#{name}-number", str(typed))
    page.keyboard.press("Enter")
    settled(page)
    now = state(page)
    if name in now and name != "threshold":  # a cut-off moves to a score that there is
        assert now[name] == typed
    assert changed(before, shown(page, *MOVED_BY[name])) == MOVED_BY[name]
    check_numbers(page, people)


@pytest.mark.parametrize(
    ("name", "typed"), [("flag-rate", "1.5"), ("prevalence", "0"), ("fp", "-1"), ("fn", ""), ("threshold", "")]
)
def test_what_cannot_be_used_is_said_and_does_nothing(page: Page, *, name: str, typed: str) -> None:
    now, box = state(page), page.locator(f"#{name}-number")
    box.fill(typed)
    box.press("Tab")
    assert state(page) == now
    assert box.get_attribute("aria-invalid") == "true"
    assert " is not valid. Enter a" in page.inner_text(f"#{name}-output")
    change(page, fn=9)
    assert box.get_attribute("aria-invalid") is None
    assert float(box.input_value()) == pytest.approx({**now, "flag-rate": float(box.input_value()), "fn": 9}[name])


def test_a_cut_off_that_is_no_score_is_told_what_becomes_of_it(page: Page) -> None:
    page.fill("#threshold-number", "0.30001")
    page.press("#threshold-number", "Enter")
    settled(page)
    assert page.inner_text("#threshold-output").startswith(f"0.30001 becomes {state(page)['threshold']}: flags ")


@pytest.mark.quick(2)
@pytest.mark.parametrize("rule", [*page_rules()])
def test_a_rule_chooses_what_python_chooses(people: Screened, page: Page, rule: str) -> None:
    page.focus(f"[data-rule='{rule}']")
    page.keyboard.press("Enter")
    settled(page)
    planned = people.report.plan
    wanted = baserate.evaluate(
        people.people.sick, people.people.risk, prevalence=planned.prevalence, costs=planned.costs, rule=rule
    )
    result, best = (judged(people, state(page), each) for each in (cut(page), wanted.there.threshold.value))
    # The page keeps some of the scores alone: it may stop at one beside, but at none that is seen to be another.
    assert result.there.sensitivity.value == pytest.approx(best.there.sensitivity.value, abs=0.003)
    assert result.there.specificity.value == pytest.approx(best.there.specificity.value, abs=0.003)
    page.click("[data-rule='planned']")
    assert cut(page) == people.report.there.threshold.value


@pytest.mark.parametrize("parity", ["own", "demographic-parity", "equal-opportunity", "equalized-odds", "single"])
def test_a_parity_is_kept(page: Page, parity: str) -> None:
    page.focus(f"[data-parity='{parity}']")
    page.keyboard.press("Space")
    settled(page)
    assert state(page)["parity"] == parity
    result = numbers(page, "groups")
    equal = {
        "demographic-parity": ("flag_rate",),
        "equal-opportunity": ("sensitivity",),
        "equalized-odds": ("sensitivity", "fpr"),
    }
    for name in equal.get(parity, ()):
        assert result[name] == pytest.approx([result[name][0]] * 3, abs=1e-9), name


@pytest.mark.slow
def test_keys_choose_models_and_groups(page_of_two: str, opened: Opened) -> None:
    page = opened(page_of_two)
    own = {*PANELS} - {"findings"}
    for name in ("model", "who"):
        before = shown(page, *own)
        page.focus(f"#{name}")
        page.keyboard.press("ArrowDown")
        settled(page)
        assert changed(before, shown(page, *own)) == own, name


def test_dragging_the_threshold_moves_every_panel(people: Screened, page: Page) -> None:
    panels = MOVED_BY["threshold"]
    handle = page.locator("#panel-scores svg [role='slider']")
    handle.scroll_into_view_if_needed()
    before, box = shown(page, *panels), handle.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 90, y, steps=6)
    page.mouse.up()
    settled(page)
    assert changed(before, shown(page, *panels)) == panels
    assert cut(page) > people.report.there.threshold.value
    check_numbers(page, people)


@pytest.mark.slow
def test_a_finger_that_passes_moves_nothing(browser: Browser, page_of_people: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(page_of_people, encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(path.as_uri())
    chart = page.locator("#panel-scores svg.chart")
    chart.scroll_into_view_if_needed()
    box, before = chart.bounding_box(), state(page)
    assert box
    page.touchscreen.tap(box["x"] + box["width"] - 40, box["y"] + 60)
    settled(page)
    assert state(page) == before
    grip = page.locator("#panel-scores [role='slider']").bounding_box()
    assert grip
    page.touchscreen.tap(grip["x"] + grip["width"] / 2 + 12, grip["y"] + grip["height"] / 2)
    settled(page)
    assert state(page)["threshold"] > before["threshold"]
    page.close()


@pytest.mark.parametrize("panel", ["scores", "roc", "pr"])
def test_keys_move_the_handle_of_a_chart(page: Page, panel: str) -> None:
    before = cut(page)
    handle = page.locator(f"#panel-{panel} svg [role='slider']")
    output = handle.get_attribute("aria-valuetext")
    handle.focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert cut(page) != before
    assert handle.get_attribute("aria-valuetext") != output


@pytest.mark.slow
def test_the_address_keeps_the_state(page_of_two: str, opened: Opened) -> None:
    page = opened(page_of_two)
    usual = state(page)
    change(page, threshold=0.4, prevalence=0.15, fp=2, fn=5, who=2, model=1, parity="equal-opportunity")
    page.wait_for_function("() => location.hash.includes('equal-opportunity')")  # it is written a moment later
    now = state(page)
    assert all(now[name] != usual[name] for name in usual)
    kept = page.evaluate("() => location.hash")
    again = opened(page_of_two, state=kept)
    assert state(again) == now
    panels = (*PANELS, "groups", "models")
    assert changed(shown(page, *panels), shown(again, *panels)) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd", tiered(["#threshold=wrong&who=99&model=-7", "#%%%", "#" + "x" * 5000, "#panel-roc"], quick=2)
)
def test_an_address_that_makes_no_sense_does_no_harm(page_of_people: str, opened: Opened, page: Page, odd: str) -> None:
    assert state(opened(page_of_people, state=odd)) == state(page)


@pytest.mark.slow
def test_findings_lead_to_their_panels(page_of_people: str, opened: Opened) -> None:
    page = opened(page_of_people)
    change(page, threshold=0.4)
    now = state(page)
    unfolded(page)
    links = page.locator("#panel-findings a[href^='#panel-']")
    assert links.count() >= 3
    for at in range(links.count()):
        target = links.nth(at).get_attribute("href")
        links.nth(at).click()
        assert page.locator(str(target)).count() == 1
        assert state(page) == now


@pytest.mark.slow
def test_findings_show_the_command_of_the_report(people: Screened, page_of_people: str, opened: Opened) -> None:
    page = opened(page_of_people)
    unfolded(page)
    typed = page.locator("#panel-findings pre code").all_inner_texts()
    wanted = [each.command.text for each in people.report.findings if each.command]
    assert wanted
    assert typed == wanted
    assert all(text.startswith("baserate ") for text in typed)


@pytest.mark.slow
def test_calm_pages_show_the_same(page_of_people: str, opened: Opened) -> None:
    lively, calm = opened(page_of_people), opened(page_of_people, calm=True)
    for page in (lively, calm):
        change(page, threshold=0.4, prevalence=0.1)
    panels = (*PANELS, "groups")
    assert changed(shown(lively, *panels), shown(calm, *panels)) == set()


def test_names_that_mean_harm_are_text(page_of_harm: str, opened: Opened) -> None:
    page = opened(page_of_harm)
    own = {*PANELS} - {"findings"}
    before = shown(page, *own)
    change(page, model=5, who=3, threshold=0.5)
    assert changed(before, shown(page, *own)) == own
    unfolded(page)
    assert "<script>alert(1)</script>" in page.inner_text("main")
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, [onerror], [onload]").count() == 0
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        assert wider(page) <= 0, width


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "models"), [(14, 3), slow(50, 8)])
def test_a_crowd_is_of_use(opened: Opened, groups: int, models: int) -> None:
    page = opened(crowd(groups, models).html())
    assert (page.locator("#model option").count(), page.locator("#who option").count()) == (models, groups + 1)
    own = {*PANELS} - {"findings"}
    for move in ({"threshold": 0.7}, {"model": models - 1}, {"who": groups - 1}):
        before = shown(page, *own)
        change(page, **move)
        assert changed(before, shown(page, *own)) == own, move
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        settled(page)
        assert wider(page) <= 0, width


@pytest.mark.slow
def test_a_tiny_group_is_no_part_of_the_gap_and_p_values_are_shown_as_people_read_them(opened: Opened) -> None:
    rng = np.random.default_rng(9)
    truth = rng.random(2012) < 0.4
    risk = np.round(np.clip(0.35 * truth + 0.6 * rng.random(2012), 0, 1), 2)
    risk[2000:] = 0.99
    scores = {"new": risk, "old": np.round((risk + rng.random(2012)) / 2, 2), "none": np.round(rng.random(2012), 2)}
    race = np.repeat(["a", "b", "c"], [1200, 800, 12])
    report = baserate.evaluate(truth, scores, group={"race": race}, threshold=0.5)
    page = opened(report.html())
    output = page.locator("#panel-groups").inner_text()
    assert "Largest difference between two groups with at least 30 rows for a rate, in the sample (" in output
    (gap,) = report.of("new").select(part="gaps", measure="fpr")
    each = {race: report.of("new").within(race=race).here.specificity.value for race in "abc"}
    assert gap["value"] == pytest.approx(abs(each["a"] - each["b"]))
    assert each["c"] == 0
    assert not re.search(r"FPR (9\d|100)[.\d]*\s%", output.partition("Largest difference")[2])
    models = page.locator("#panel-models").inner_text()
    assert "Holm-adjusted p" in models
    assert "< 0.0001" in models
    assert "confidence intervals are not adjusted for multiplicity" in models
    assert not re.search(r"e[−-]\d", models)
