"""The page of several classes: its numbers equal those of Python, its controls, layout, accessibility and files."""

import csv
import io
import json
import re
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page as BrowserPage
from sklearn import metrics

import baserate
from baserate import MulticlassReport, measure
from baserate.report import MULTICLASS_CHECKS
from baserate.report._multiclass_page import multiclass_payload
from baserate.report._scripts import inline_scripts
from tests.report.class_reports import ODD_CLASS_REPORTS, class_report, forty_report, random_data, sklearn_data
from tests.report.page.browser import (
    Media,
    PageOpener,
    Scheme,
    change,
    open_details,
    overflow_width,
    panel_intervals,
    panel_numbers,
    read_download,
    state,
    violations,
    wait_until_drawn,
)
from tests.report.page.node import PAGE, Page
from tests.tiers import take_in_tiers, tiered_rows

PANELS = ("confusion", "overall", "per-class", "class-roc", "class-pr", "class-scores", "top-class", "findings")
SCORED = {"class-roc", "class-pr", "class-scores"}
MEASURES = ("sensitivity", "precision", "f1", "specificity", "auc", "average_precision")


def shown_panels(page: BrowserPage) -> list[str]:
    """Return the ids of the visible panels, in the order of the page."""
    ids: list[str] = page.evaluate("() => [...document.querySelectorAll('main .panel')].map(each => each.id)")
    return [each.removeprefix("panel-") for each in ids if page.locator(f"#{each}").is_visible()]


def check_numbers(page: BrowserPage, report: MulticlassReport) -> None:
    """Check that all numbers of the page are those of the report."""
    shown, bounds = panel_numbers(page, "per-class"), panel_intervals(page, "per-class")
    for name in MEASURES:
        rows = report.select(part="classes", measure=name)
        averages = {
            f"{average} {name}": report.select(part="averages", measure=name, average=average)
            for average in ("macro", "weighted")
        }
        for key, own in {name: rows, **averages}.items():
            assert_equal(shown.get(key, []), [row["value"] for row in own])
            assert bounds.get(key, []) == [(row["low"], row["high"]) for row in own if row["low"] is not None]
    assert_equal(shown["support"], [row["value"] for row in report.select(part="data", measure="support")])
    for panel, part in {"overall": "overall", "top-class": "calibration"}.items():
        if rows := report.select(part=part):
            numbers = panel_numbers(page, panel)
            assert [*numbers] == [row["measure"] for row in rows] or part == "calibration"
            for row in rows:
                assert_equal(numbers[row["measure"]], [row["value"]])
    verdict = report.verdict
    assert page.text_content("#verdict-decision") == verdict.accuracy
    assert page.locator("#verdict-more p").all_text_contents() == [*verdict.sentences[1:]]
    figures = page.locator("#verdict-figures div").all()
    texts = [(each.locator("dt").inner_text(), each.locator("dd").inner_text()) for each in figures]
    assert texts == [*verdict.measures]
    assert page.locator("#verdict-warnings li").all_text_contents() == [each.text for each in verdict.warnings]


def assert_equal(observed: list[float], expected: list[float | None]) -> None:
    """Check that numbers are equal to the last digit, and undefined where the report has none."""
    assert [None if isnan(each) else each for each in observed] == expected


@pytest.fixture(scope="module")
def digits_page(shared_opener: PageOpener) -> BrowserPage:
    return shared_opener(class_report("digits").html())


@pytest.mark.parametrize(
    "kind", take_in_tiers(ODD_CLASS_REPORTS, {"labels", "never predicted", "one row", "hostile names"}.__contains__)
)
def test_odd_pages_show_the_numbers_of_python(open_page: PageOpener, kind: str) -> None:
    report = ODD_CLASS_REPORTS[kind]()
    page = open_page(report.html())
    check_numbers(page, report)
    absent = (set() if report.has_scores else SCORED) | (set() if len(report.bins) else {"top-class"})
    assert shown_panels(page) == [name for name in PANELS if name not in absent]
    codes = page.locator("#panel-findings li").all_text_contents()
    assert len(codes) == len(report.findings)
    assert all(each.code in text for each, text in zip(report.findings, codes, strict=True))
    assert overflow_width(page) <= 0


def test_page_shows_the_numbers_of_python(digits_page: BrowserPage) -> None:
    check_numbers(digits_page, class_report("digits"))


def download(page: BrowserPage, panel: str, kind: str = "csv") -> str:
    """Return the text of a file of a panel."""
    with read_download(page) as texts:
        page.click(f"#panel-{panel} [data-download='{kind}']")
    return texts[0]


def test_matrix_shows_counts_and_shares(digits_page: BrowserPage) -> None:
    data = sklearn_data("digits")
    for mode, normalize in {"count": None, "row": "true", "column": "pred"}.items():
        change(digits_page, matrix=mode)
        header, *lines = csv.reader(io.StringIO(download(digits_page, "confusion")))
        expected = metrics.confusion_matrix(data.truth, data.predicted, normalize=normalize)
        assert header == ["true class", *map(str, range(10))]
        assert np.array([line[1:] for line in lines], dtype=float) == pytest.approx(expected, abs=1e-12)
    change(digits_page, matrix="count")
    texts = digits_page.locator("#panel-confusion .cell-text").all_text_contents()
    cells = metrics.confusion_matrix(data.truth, data.predicted).ravel()
    assert [int(text or 0) for text in texts] == cells.tolist()


def test_curves_are_those_of_python() -> None:
    report, data = class_report("digits"), sklearn_data("digits")
    page = Page("multiclass/view.js")
    loaded = page.keep("loadReport", json.loads(json.dumps(multiclass_payload(report))))
    for at, label in enumerate(np.unique(data.truth)):
        page.ask("classCurve", loaded, at)
        tally = baserate.tally(data.truth == label, data.matrix[:, at])
        curve = baserate.curve(tally)
        answer = page.answers()[-1]
        for place in range(1, len(answer["threshold"]), 7):
            counts = curve.at(answer["threshold"][place])
            for name, own in {"sensitivity": "recall", "fpr": "fpr", "precision": "precision"}.items():
                assert answer[own][place] == pytest.approx(measure.MEASURES[name](counts), abs=1e-12)
        best = max(np.subtract(answer["recall"], answer["fpr"]))
        assert answer["recall"][answer["best"]] - answer["fpr"][answer["best"]] == pytest.approx(best, abs=1e-15)
    first = multiclass_payload(report)["curves"][0]
    assert len(first["threshold"]) <= 400


def test_threshold_of_the_selected_class_follows_the_handle(digits_page: BrowserPage) -> None:
    change(digits_page, **{"class": 3, "threshold": 0.08})
    data = sklearn_data("digits")
    curve = baserate.curve(baserate.tally(data.truth == "3", data.matrix[:, 3]))
    threshold = _threshold(digits_page)
    counts = curve.at(threshold)
    text = digits_page.inner_text("#class-output")
    assert f"recall {100 * measure.sensitivity(counts):.1f}%" in text
    assert f"precision {100 * measure.precision(counts):.1f}%" in text
    grip = digits_page.locator("#panel-class-roc .grip")
    grip.focus()
    grip.press("ArrowRight")
    wait_until_drawn(digits_page)
    assert _threshold(digits_page) < threshold
    assert digits_page.locator("#panel-class-pr .grip").get_attribute("aria-valuenow") == grip.get_attribute(
        "aria-valuenow"
    )


def _threshold(page: BrowserPage) -> float:
    """Return the threshold that the page states, in full."""
    value = page.locator("#panel-class-roc .grip").get_attribute("aria-valuenow")
    rows = list(csv.reader(io.StringIO(download(page, "class-roc"))))
    return float(rows[1 + int(value or 0)][0])


def test_class_is_selected_by_list_click_and_key(digits_page: BrowserPage) -> None:
    digits_page.select_option("#class", "7")
    wait_until_drawn(digits_page)
    assert state(digits_page)["class"] == 7
    assert "7: AUC" in digits_page.inner_text("#panel-class-roc .legend")
    assert digits_page.locator("#panel-per-class tr.selected th").inner_text() == "7"
    digits_page.locator("#panel-per-class .chart").scroll_into_view_if_needed()
    tick = digits_page.locator("#panel-per-class .tick", has_text=re.compile("^2$")).bounding_box()
    chart = digits_page.locator("#panel-per-class .chart").bounding_box()
    assert tick
    assert chart
    digits_page.mouse.click(chart["x"] + chart["width"] * 0.7, tick["y"] + tick["height"] / 2)
    wait_until_drawn(digits_page)
    assert state(digits_page)["class"] == 2
    grip = digits_page.locator("#panel-confusion .grip")
    grip.focus()
    grip.press("Home")  # the lower left cell
    assert "true 9, predicted 0" in (grip.get_attribute("aria-valuetext") or "")
    grip.press("ArrowUp")
    assert "true 8, predicted 0" in (grip.get_attribute("aria-valuetext") or "")
    grip.press("Enter")
    wait_until_drawn(digits_page)
    assert state(digits_page)["class"] == 8
    assert digits_page.input_value("#class") == "8"


def test_buttons_select_the_measure_and_the_matrix(digits_page: BrowserPage) -> None:
    digits_page.click("#panel-per-class [data-choice='auc']")
    digits_page.click("#panel-confusion [data-choice='column']")
    wait_until_drawn(digits_page)
    assert (state(digits_page)["measure"], state(digits_page)["matrix"]) == ("auc", "column")
    pressed = digits_page.locator("[aria-pressed='true']").all_inner_texts()
    assert pressed == ["% of the predicted class", "AUC"]
    assert "AUC" in (digits_page.text_content("#panel-per-class .axes") or "")


def test_address_restores_the_view(open_page: PageOpener) -> None:
    text = class_report("iris").html()
    page = open_page(text)
    start = state(page)
    assert start == {"class": 1, "matrix": "row", "measure": "sensitivity", "threshold": None}
    change(page, **{"class": 2, "matrix": "count", "measure": "auc", "threshold": 0.25})
    page.wait_for_function("() => location.hash.length > 1")
    fragment = page.evaluate("() => location.hash")
    assert fragment == "#class=2&matrix=count&measure=auc&threshold=0.25"
    again = open_page(text, state=fragment)
    assert state(again) == {"class": 2, "matrix": "count", "measure": "auc", "threshold": 0.25}
    wrong = open_page(text, state="#class=9&matrix=x&measure=y&threshold=z")
    assert state(wrong) == start
    infinite = open_page(text, state="#threshold=inf")
    assert "recall 0%" in infinite.inner_text("#class-output")


@pytest.mark.parametrize(
    ("width", "scheme", "media"),
    tiered_rows([(1280, "light", "screen"), (390, "dark", "screen"), (1024, "light", "print")], 2),
)
@pytest.mark.parametrize("kind", take_in_tiers(["iris", "digits", "forty classes", "hostile names"], 2))
def test_pages_are_accessible_and_fit(
    open_page: PageOpener, kind: str, width: int, scheme: Scheme, media: Media
) -> None:
    report = ODD_CLASS_REPORTS[kind]() if kind in ODD_CLASS_REPORTS else class_report(kind)
    page = open_page(report.html(), width=width, scheme=scheme, media=media)
    assert overflow_width(page) <= 0
    open_details(page)
    assert violations(page) == []
    kinds = ("a[href]", "button", "select", "input", "summary", "[tabindex='0']")
    stops = page.locator(", ".join(f"{kind}:not([tabindex='-1']):visible" for kind in kinds)).count()
    assert stops <= 40


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["iris", "forty classes"])
def test_pages_fit_every_width(open_page: PageOpener, kind: str) -> None:
    report = ODD_CLASS_REPORTS[kind]() if kind in ODD_CLASS_REPORTS else class_report(kind)
    page = open_page(report.html())
    for width in (320, 390, 768, 1024, 1366, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until_drawn(page)
        assert overflow_width(page) <= 0, width


def test_many_classes_are_numbered_without_cell_texts(open_page: PageOpener) -> None:
    report = forty_report()
    text = report.html()
    page = open_page(text)
    assert page.locator("#panel-confusion .cell-text").count() == 0
    ticks = page.locator("#panel-confusion .tick").all_text_contents()
    assert [each for each in ticks if each.isdigit()] == ["1", "5", "10", "15", "20", "25", "30", "35", "40"]
    assert any(each.startswith("1. species 00") for each in ticks)
    legend = page.locator("#panel-class-roc .legend li").all_inner_texts()
    assert len(legend) == 3
    assert "other classes" in legend
    assert len(text.encode()) <= 400_000


def test_size_of_three_classes() -> None:
    data = random_data(3, 5000, seed=2)
    report = baserate.evaluate(baserate.class_scores(*data))
    assert len(report.html().encode()) <= 200_000


def test_files_of_panels(digits_page: BrowserPage) -> None:
    change(digits_page, **{"class": 4, "matrix": "row", "measure": "f1"})
    rows = list(csv.DictReader(io.StringIO(download(digits_page, "per-class"))))
    report = class_report("digits")
    assert [row["class"] for row in rows] == [str(label) for label in report.classes]
    (expected,) = report.select(part="classes", measure="f1", **{"class": "4"})
    own = next(row for row in rows if row["class"] == "4")
    assert [float(own[name]) for name in ("f1", "f1 low", "f1 high")] == [
        expected[name] for name in ("value", "low", "high")
    ]
    bins = list(csv.DictReader(io.StringIO(download(digits_page, "top-class"))))
    assert [float(row["accuracy"]) for row in bins] == [row["share"] for row in report.bins]
    for panel in ("confusion", "per-class", "class-roc", "class-pr", "class-scores", "top-class"):
        assert download(digits_page, panel, "svg").startswith("<svg")


def test_page_carries_no_code_of_the_other_one() -> None:
    def read(name: str) -> str:
        return (PAGE / name).read_text(encoding="utf-8")

    one, several = inline_scripts(read, "main.js"), inline_scripts(read, "multiclass.js")
    assert "$multiclass" not in one
    assert not re.search(
        r"const \$(main|view|labels|controls|verdict|policy|rules|fairness|panels_(?!findings))\b", several
    )
    assert len(several) < len(one)


def test_labels_of_panels_and_glossary() -> None:
    several, two = Page("multiclass/labels.js"), Page("labels.js")
    for each in (several, two):
        each.ask("TERMS")
        each.ask("PANELS")
    (terms, panels), (shared, _) = several.answers(), two.answers()
    assert terms["Confidence interval"] == shared["Confidence interval"]
    assert {check.panel for check in MULTICLASS_CHECKS.values()} <= set(panels)
    assert all(len(each["how"]) > 75 and each["title"] for each in panels.values())
    assert [*panels] == [*PANELS]


def test_hostile_names_stay_text(open_page: PageOpener) -> None:
    report = ODD_CLASS_REPORTS["hostile names"]()
    page = open_page(report.html())
    assert page.evaluate("() => document.querySelectorAll('img, main script').length") == 0
    options = page.locator("#class option").all_text_contents()
    assert options[0] == "<script>alert(1)</script>"
    assert page.inner_text("#report-title").startswith("</script><img")


def test_pages_are_reproducible_and_framed(tmp_path: Path) -> None:
    report = class_report("wine")
    assert report.html() == MulticlassReport.from_json(report.to_json()).html()
    report.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == report.html()
    frame = report.html(framed=True)
    assert frame.startswith("<iframe sandbox=")
    payload: dict[str, Any] = multiclass_payload(report)
    assert not any(isnan(cell) for row in payload["matrix"] for cell in row)
