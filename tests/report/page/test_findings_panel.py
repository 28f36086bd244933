"""Findings and the banner on the page: the texts of the report, open, by severity, with commands to copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Report
from baserate.report._report import SEVERITIES
from tests.report.page.browser import PageOpener, Scheme, open_details
from tests.report.page.pages import ScreeningReport


def small_report(rows: int = 15, **more: Any) -> Report:  # noqa: ANN401  (keywords of evaluate)
    rng = np.random.default_rng(4)
    truth = np.arange(rows) % 4 == 0
    return baserate.evaluate(truth, np.round(rng.random(rows), 2), positive=True, **more)


def texts(page: Any, selector: str) -> list[str]:  # noqa: ANN401  (a page of Playwright)
    found: list[str] = page.locator(f"#panel-findings {selector}").all_inner_texts()
    return found


def test_findings_are_open_and_show_all_their_texts(
    screening: ScreeningReport, screening_page: str, open_page: PageOpener
) -> None:
    page = open_page(screening_page)
    findings = screening.report.findings
    assert len(findings) >= 5
    items = page.locator("#panel-findings .findings > li")
    assert items.count() == len(findings)
    for at, finding in enumerate(findings):
        item = items.nth(at)
        assert item.is_visible()
        assert item.locator(".headline").inner_text() == f"{finding.headline} {finding.code}"
        shown = item.inner_text()
        for text in (finding.sentence, finding.why, f"Action: {finding.remedy}"):
            assert text in shown
        assert finding.command is None or item.locator("pre code").inner_text() == finding.command.text
    assert page.locator("#panel-findings .findings details").count() == 0


def test_findings_stand_under_the_name_of_their_severity(
    screening: ScreeningReport, screening_page: str, open_page: PageOpener
) -> None:
    page = open_page(screening_page)
    wanted = [each for each in SEVERITIES if each in {finding.severity for finding in screening.report.findings}]
    headings = [text.split()[0].lower() for text in texts(page, "h4")]
    assert headings == wanted
    for severity in wanted:
        codes = [finding.code for finding in screening.report.findings if finding.severity == severity]
        assert [text.split()[-1] for text in texts(page, f"div.{severity} .headline")] == codes


def test_commands_are_copied(screening: ScreeningReport, screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page)
    finding = next(each for each in screening.report.findings if each.code == "BR004")
    button = page.locator("[data-copy=BR004]")
    button.click()
    page.wait_for_function("() => document.querySelector('[data-copy=BR004] [role=status]').textContent === 'Copied'")
    assert finding.command
    assert page.evaluate("() => navigator.clipboard.readText()") == finding.command.text


def test_links_name_the_code_and_the_panel(screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page)
    open_details(page)
    link = page.locator("#panel-findings a[href='#panel-pr']")
    assert link.first.inner_text() == "BR004: see Precision–recall curve"
    link.first.click()
    assert page.evaluate("() => document.activeElement.id") == "panel-pr"


def test_findings_have_one_tab_stop(screening_page: str, open_page: PageOpener) -> None:
    page = open_page(screening_page)
    stops = page.locator("#panel-findings .severities :is(button, a)[tabindex='0']")
    assert stops.count() == 1
    stops.focus()
    first = page.evaluate("() => document.activeElement.textContent")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.textContent") != first


def test_ignored_codes_are_listed_last(open_page: PageOpener) -> None:
    page = open_page(small_report(ignore=["BR003", "BR013"]).html())
    text = "Ignored: BR003, BR013. To show them, make the report without ignore."
    assert page.locator("#panel-findings .body > :last-child").inner_text() == text
    assert "BR003" not in " ".join(texts(page, ".findings"))
    page = open_page(small_report(ignore=["BR003"]).html())
    assert page.locator("#ignored-findings").inner_text().startswith("Ignored: BR003. To show it, make")
    page = open_page(small_report().html())
    assert page.locator("#ignored-findings").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_findings_print_open(
    screening: ScreeningReport, screening_page: str, open_page: PageOpener, scheme: Scheme
) -> None:
    page = open_page(screening_page, media="print", scheme=scheme)
    for finding in screening.report.findings:
        assert page.get_by_text(finding.headline, exact=True).is_visible()
    assert page.locator("#panel-findings pre:visible").count() == sum(
        each.command is not None for each in screening.report.findings
    )
    assert page.locator("#panel-findings .buttons:visible").count() == 0


@pytest.mark.parametrize(("rows", "severity"), [(15, "serious"), (200, "caution")])
def test_the_banner_is_that_of_the_verdict(open_page: PageOpener, rows: int, severity: str) -> None:
    report = small_report(rows)
    page = open_page(report.html())
    banner = page.locator("#banner")
    assert banner.is_visible()
    assert report.verdict.banner
    assert banner.inner_text() == f"{report.verdict.banner.text}."
    assert (banner.get_attribute("class"), banner.get_attribute("role")) == (severity, "note")
    below = page.locator("#verdict").bounding_box()
    above = banner.bounding_box()
    assert above
    assert below
    assert above["y"] + above["height"] <= below["y"]


def test_enough_rows_have_no_banner(screening_page: str, open_page: PageOpener) -> None:
    assert not open_page(screening_page).locator("#banner").is_visible()
    assert not open_page(small_report(ignore=["BR003"]).html()).locator("#banner").is_visible()
