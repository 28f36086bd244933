"""Charts react to pointer and keyboard: tooltips at the marked point and within the window, one tab stop each."""

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

import baserate
from tests.report.page.browser import PageOpener, state, wait_until_drawn
from tests.report.page.pages import COSTS, PEOPLE

MOST_TAB_STOPS = {"one model": 40, "groups": 50}
_ACTIVE_SCRIPT = """() => {
  const active = document.activeElement;
  if (!active || active === document.body) return null;
  const { x, y, width, height } = active.getBoundingClientRect();
  const style = getComputedStyle(active);
  return { name: active.id || active.getAttribute("aria-label") || active.textContent.slice(0, 60),
           panel: active.closest(".panel")?.id ?? null, top: y + scrollY, left: x,
           visible: width > 0 && height > 0 && style.visibility !== "hidden" };
}"""


def tab_stops(page: Page) -> list[dict[str, Any]]:
    """Return what the Tab key visits, from the first element to the last."""
    stops = []
    for _ in range(200):
        page.keyboard.press("Tab")
        active = page.evaluate(_ACTIVE_SCRIPT)
        if active is None:
            break
        stops.append(active)
    return stops


def visible_charts(page: Page) -> list[Locator]:
    """Return the charts of all visible panels."""
    return page.locator(".panel:visible .chart:visible").all()


def tooltip_box(page: Page) -> dict[str, float]:
    """Return where the tooltip is in the window."""
    wait_until_drawn(page)
    box = page.locator(".tip:visible").bounding_box()
    assert box, "no tooltip"
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def is_within_window(page: Page, box: dict[str, float]) -> bool:
    """Return whether a box is within the window."""
    size = page.viewport_size
    assert size
    across = box["x"] >= 0 and box["x"] + box["width"] <= size["width"]
    return across and box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_tooltips_stay_in_the_window(screening_page: str, open_page: PageOpener, width: int) -> None:
    page = open_page(screening_page, width=width)
    for chart in visible_charts(page):
        # In the middle of the window, so that the sheet of controls covers no chart.
        chart.evaluate("each => each.scrollIntoView({ block: 'center', behavior: 'instant' })")
        box = chart.bounding_box()
        assert box
        for across, up in [(0.15, 0.1), (0.97, 0.1), (0.5, 0.5), (0.97, 0.8)]:
            page.mouse.move(box["x"] + across * box["width"], box["y"] + up * box["height"])
            tip = tooltip_box(page)
            assert is_within_window(page, tip), (chart.get_attribute("aria-label"), across, up, tip)
            assert page.locator(".tip").inner_text().strip()
        page.mouse.move(1, 1)


def test_the_tooltip_is_at_the_marked_point(page: Page) -> None:
    chart = page.locator("#panel-roc .chart")
    chart.evaluate("each => each.scrollIntoView({ block: 'center', behavior: 'instant' })")
    box = chart.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    tip, ring = tooltip_box(page), page.locator("#panel-roc .ring").bounding_box()
    assert ring
    middle = ring["x"] + ring["width"] / 2
    assert tip["x"] - 1 <= middle <= tip["x"] + tip["width"] + 1
    gap = max(tip["y"] - (ring["y"] + ring["height"]), ring["y"] - (tip["y"] + tip["height"]))
    assert 0 <= gap <= 20


def test_every_chart_has_a_tooltip_by_keyboard(page: Page) -> None:
    for chart in visible_charts(page):
        label = chart.get_attribute("aria-label")
        grip = chart.locator(".grip")
        assert grip.count() == 1, label
        grip.focus()
        page.keyboard.press("ArrowRight")
        first = page.locator(".tip:visible").inner_text()
        for _ in range(30):
            page.keyboard.press("ArrowRight")
        wait_until_drawn(page)
        assert first.strip(), label
        assert page.locator(".tip").inner_text() != first, label
        assert is_within_window(page, tooltip_box(page)), label
        assert grip.get_attribute("aria-valuetext"), label
        page.keyboard.press("Escape")
        wait_until_drawn(page)
        assert page.locator(".tip:visible").count() == 0, label


@pytest.mark.parametrize("kind", [*MOST_TAB_STOPS])
def test_few_tab_stops_in_visual_order(screening_page: str, open_page: PageOpener, kind: str) -> None:
    alone = baserate.evaluate(PEOPLE.sick, PEOPLE.risk, prevalence=0.02, costs=COSTS)
    page = open_page(screening_page if kind == "groups" else alone.html(), width=1440)
    stops = tab_stops(page)
    assert 20 <= len(stops) <= MOST_TAB_STOPS[kind], [stop["name"] for stop in stops]
    assert [stop["name"] for stop in stops if not stop["visible"]] == []
    panels = list(dict.fromkeys(stop["panel"] for stop in stops if stop["panel"]))
    tops = page.evaluate(
        """names => names.map(name => document.getElementById(name).getBoundingClientRect())
             .map(({ x, y }) => [y + scrollY, x])""",
        panels,
    )
    # From top to bottom, and from left to right within a line of panels.
    assert tops == sorted(tops, key=lambda place: (round(place[0]), place[1]))
    for before, after in pairwise(stops):
        if before["panel"] == after["panel"] and before["panel"]:
            assert after["top"] >= before["top"] - 4, (before, after)


def test_focus_follows_the_layout_of_the_sheet(screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page, width=390)
    page.evaluate("() => document.getElementById('more').click()")  # a real click would move the start of tabbing
    wait_until_drawn(page)
    names = [stop["name"] for stop in tab_stops(page) if not stop["panel"]]
    places = page.evaluate(
        """names => { document.querySelector("form").scrollTop = 0;
             return names.map(name => document.getElementById(name)).filter(each => each?.closest("form"))
               .map(each => each.getBoundingClientRect()).map(({ x, y, height }) => [y + height / 2, x]); }""",
        names,
    )
    assert len(places) >= 14
    for (before_y, before_x), (y, x) in pairwise(places):
        assert y > before_y + 8 or (abs(y - before_y) <= 8 and x > before_x), places


def test_pressed_buttons_differ_in_forced_colors(screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page)
    page.emulate_media(forced_colors="active")
    buttons = page.locator("button[aria-pressed]:visible")
    colors = {
        pressed: {
            each.evaluate("each => getComputedStyle(each).backgroundColor")
            for each in buttons.all()
            if each.get_attribute("aria-pressed") == pressed
        }
        for pressed in ("true", "false")
    }
    assert len(colors["true"]) == 1
    assert not colors["true"] & colors["false"]


def test_print_is_light_from_a_dark_page(screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page, scheme="dark")
    script = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(script)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(script) == "rgb(255, 255, 255)" != dark
    card = page.evaluate("() => getComputedStyle(document.querySelector('.panel')).backgroundColor")
    assert card == "rgb(255, 255, 255)"


def test_a_line_is_dragged_and_followed_by_its_tooltip(page: Page) -> None:
    before = state(page)["threshold"]
    chart = page.locator("#panel-scores .chart")
    chart.evaluate("each => each.scrollIntoView({ block: 'center', behavior: 'instant' })")
    box = chart.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"], steps=4)
    page.mouse.up()
    wait_until_drawn(page)
    after = state(page)["threshold"]
    assert after != before
    assert after == pytest.approx(0.7, abs=0.06)
    assert page.locator(".tip:visible").count() == 1
