"""Formats, ticks, text and addresses of the page."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Costs, Report
from baserate.fairness import PARITIES
from baserate.measure import MEASURES, describe
from baserate.population import simulate_screening
from baserate.report import CHECKS
from baserate.report._page import page_payload
from tests.report.page.node import Page
from tests.tiers import take_in_tiers

WRITTEN: list[tuple[str, str, list[Any]]] = [
    ("57.8%", "formatPercent", [0.57792]),
    ("58.0%", "formatPercent", [0.58]),
    ("99.06%", "formatPercent", [0.990594]),
    ("0.50%", "formatPercent", [0.005]),
    ("0.10%", "formatPercent", [0.000996]),
    ("0.0012%", "formatPercent", [0.0000123]),
    ("1.000e−7%", "formatPercent", [1e-9]),
    ("99.94%", "formatPercent", [0.99938]),
    ("99.99%", "formatPercent", [0.99994]),
    ("> 99.99%", "formatPercent", [0.999984]),
    ("> 99.99%", "formatPercent", [1 - 1e-10]),
    ("100%", "formatPercent", [1]),
    ("100%", "formatPercent", [1 - 1e-15]),
    ("0%", "formatPercent", [0]),
    ("130.0%", "formatPercent", [1.3]),
    ("−1.4%", "formatPercent", [-0.0141]),
    ("57.2%", "formatPercent", [0.5725]),
    ("57.8%", "formatPercent", [0.5775]),
    ("–", "formatPercent", [nan]),
    ("−∞", "formatPercent", [-inf]),
    ("0.8505", "formatNumber", [0.850512]),
    ("0.8500", "formatNumber", [0.85]),
    ("−1.500", "formatNumber", [-1.5]),
    ("1.235e−7", "formatNumber", [1.23456e-7]),
    ("2.000e15", "formatNumber", [2e15]),
    ("20,000", "formatNumber", [20000]),
    ("1,234,568", "formatNumber", [1234567.8]),
    ("10.00", "formatNumber", [9.9996]),
    ("1.000", "formatNumber", [0.99999]),
    ("1", "formatNumber", [1]),
    ("0", "formatNumber", [0]),
    ("∞", "formatNumber", [inf]),
    ("57.8% (55.1 to 60.4)", "formatEstimate", [0.578, {"low": 0.551, "high": 0.604}, "percent"]),
    ("0.8500 (0.8400 to 0.8600)", "formatEstimate", [0.85, {"low": 0.84, "high": 0.86}]),
    ("57.8%", "formatEstimate", [0.578, None, "percent"]),
    ("2%", "formatSetting", [0.02]),
    ("12.5%", "formatSetting", [0.125]),
    ("95%", "formatLevel", [0.95]),
    ("0.00001%", "formatSetting", [1e-7]),
    ("0.8500", "formatEstimate", [0.85, {"low": nan, "high": nan}]),
    ("< 0.0001", "formatPValue", [1.2e-15]),
    ("< 0.0001", "formatPValue", [0.00005, True]),
    ("≤ 0.00020", "formatPValue", [0.0002, True]),
    ("0.012", "formatPValue", [0.01234]),
    ("0.50", "formatPValue", [0.5]),
    ("1", "formatPValue", [1]),
    ("–", "formatPValue", [nan]),
    ("20,000", "formatCount", [20000]),
    ("1,234,567", "formatCount", [1234567]),
    ("none: nobody is flagged", "formatThreshold", [inf]),
    ("0.2712", "formatThreshold", [0.2712]),
    ("ab…", "shorten", ["abcdef", 3]),
    ("🧑‍🚀", "shorten", ["🧑‍🚀", 3]),
]
PARSED: list[tuple[float, str, str]] = [
    (0.02, "parseShare", "2%"),
    (0.02, "parseShare", "2 %"),
    (0.02, "parseShare", " 0.02 "),
    (0.029, "parseShare", "2.9\u202f%"),
    (2, "parseShare", "2"),
    (nan, "parseShare", "x%"),
    (nan, "parseShare", "%"),
    (nan, "parseShare", "2%%"),
    (nan, "parseShare", ""),
    (1000, "parseNumber", "1,000"),
    (1234567.5, "parseNumber", "1,234,567.5"),
    (20000, "parseNumber", "20\u202f000"),
    (-2.5, "parseNumber", "−2.5"),
    (0.001, "parseNumber", "1e-3"),
    (0.5, "parseNumber", ".5"),
    (nan, "parseNumber", "1,00"),
    (nan, "parseNumber", "1,000 000"),
    (nan, "parseNumber", "0x10"),
    (nan, "parseNumber", "Infinity"),
    (nan, "parseNumber", "."),
]


def test_formatted_numbers() -> None:
    page = Page("format.js")
    for output, name, given in WRITTEN:
        page.expect(output, name, *given)
    page.check()


def test_numbers_in_texts_are_parsed() -> None:
    page = Page("format.js")
    for value, name, text in PARSED:
        page.expect(value, name, text)
    page.check(within=0)


def test_halves_round_to_even_as_in_python() -> None:
    page, halves = Page("format.js"), np.arange(1, 400) / 1600
    for share in halves:
        if 100 * share >= 1:
            page.expect(f"{100 * share:.1f}%", "formatPercent", float(share))
    for value in halves + 20:
        page.expect(f"{value:.2f}", "formatNumber", float(value))
    page.check()


@pytest.mark.parametrize(
    ("ticks", "style", "wanted"),
    [
        ([0, 0.2, 0.4], "percent", ["0%", "20%", "40%"]),
        ([0, 0.5, 1], None, ["0.0", "0.5", "1.0"]),
        ([-0.05, 0, 0.05], "percent", ["−5%", "0%", "5%"]),
        ([1e-5, 1e-4, 1e-3], "percent", ["0.001%", "0.01%", "0.1%"]),
        ([0, 5000, 10000], None, ["0", "5,000", "10,000"]),
        ([1e-9, 2e-9, 3e-9], None, ["1e−9", "2e−9", "3e−9"]),
    ],
)
def test_ticks_have_as_few_decimals_as_tell_them_apart(
    ticks: list[float], style: str | None, wanted: list[str]
) -> None:
    page = Page("format.js")
    page.expect(wanted, "formatTicks", ticks, style)
    page.check()


def test_ticks_are_round_even_and_within_the_axis() -> None:
    page, rng = Page("paths.js"), np.random.default_rng(7)
    domains = [(0.0, 1.0), (-0.22, 1.0), (0.0, 0.02), (-4.0, 5.0), (1e-9, 3e-9), (0.0, 1e12), (999.0, 1001.0)]
    domains += [
        (low, low + wide) for low, wide in zip(rng.normal(0, 10, 50), 10 ** rng.uniform(-6, 6, 50), strict=True)
    ]
    for domain in domains:
        page.ask("ticksOf", [*map(float, domain)], 5)
    for (low, high), ticks in zip(domains, page.answers(), strict=True):
        step = np.diff(ticks)
        assert 2 <= len(ticks) <= 8
        assert low - 1e-9 * (high - low) <= ticks[0] < ticks[-1] <= high + 1e-9 * (high - low)
        assert step == pytest.approx(step[0], rel=1e-6)


def test_paths_omit_repeated_points_and_break_at_gaps() -> None:
    page = Page("paths.js")
    straight, steps = False, True
    across, up = (page.keep("scaleOf", {"domain": [0, 1]}, room) for room in ([0, 100], [100, 0]))
    page.expect("M0 100L50 50L100 0", "pathOf", [0, 0.5, 0.50001, 1], [0, 0.5, 0.50001, 1], across, up, straight)
    page.expect("M0 100L50 50M100 0", "pathOf", [0, 0.5, 0.7, 1], [0, 0.5, nan, 1], across, up, straight)
    page.expect("M0 100H50V50", "pathOf", [0, 0.5], [0, 0.5], across, up, steps)
    page.check()


def test_every_finding_has_a_panel_with_text() -> None:
    page = Page("labels.js")
    page.ask("PANELS")
    panels = page.answers()[0]
    assert {check.panel for check in CHECKS.values()} <= set(panels)
    assert all(len(each["how"]) > 75 and each["title"] and each["name"] for each in panels.values())


def test_measures_and_parities_are_those_of_the_registries(report: Report) -> None:
    payload, page = page_payload(report), Page("core.js")
    labels = {name: describe(each).page for name, each in MEASURES.items() if describe(each).page is not None}
    assert {name: each["label"] for name, each in payload["measures"].items()} == labels
    assert all(each["hint"].endswith(".") for each in payload["measures"].values())
    for name, each in payload["measures"].items():
        if not each["of_scores"]:
            page.ask(f"MEASURES.{name}", {"tp": 1, "fp": 1, "fn": 1, "tn": 1})
    assert all(isinstance(value, int | float) for value in page.answers())
    parities = {name: each.rates for name, each in PARITIES.items() if each.page_id is not None}
    assert {each["id"]: each["rates"] for each in payload["parities"]} == parities


@pytest.mark.parametrize(("label", "term"), [("Sensitivity (recall)", "sensitivity"), ("PPV (precision)", "PPV")])
def test_terms_of_measures_in_sentences(label: str, term: str) -> None:
    page = Page("view.js")
    page.expect(term, "termOf", {"payload": {"measures": {"any": {"label": label}}}}, "any")
    page.check()


def test_glossary_and_panel_share_the_definition_of_confidence_intervals() -> None:
    page = Page("labels.js")
    page.ask("TERMS")
    page.ask("PANELS")
    terms, panels = page.answers()
    definition = terms["Confidence interval"]
    assert definition == (
        "A 95% confidence interval is computed by a method whose intervals contain the true value in 95% of repeated "
        "samples."
    )
    assert definition in panels["measures"]["how"]
    assert "Interval" not in terms


@pytest.fixture(scope="module")
def report() -> Report:
    people = simulate_screening(rows=1000)
    scores = {"risk": people.risk, "old": np.round(people.risk**2, 2)}
    return baserate.evaluate(
        people.sick, scores, group={"site": people.site}, prevalence=0.02, costs=Costs(fp=1, fn=20)
    )


def test_address_round_trip(report: Report) -> None:
    page, rng = Page("url_state.js", "view.js"), np.random.default_rng(3)
    output = page_payload(report)
    book = page.keep("loadReport", output)
    for _ in range(200):
        model = int(rng.integers(2))
        state = {
            "model": model,
            "who": int(rng.integers(-1, 3)),
            "threshold": [inf, *output["models"][model]["threshold"]][rng.integers(9)],
            "prevalence": [None, 0.02, float(rng.random())][rng.integers(3)],
            "fp": float(rng.integers(4)),
            "fn": [20, float(rng.random() * 9)][rng.integers(2)],
            "parity": ["single", "own", "equalized-odds"][rng.integers(3)],
        }
        page.expect(state, "stateOf", book, page.keep("hashOf", book, state))
    page.expect("", "hashOf", book, page.keep("planState", book, 0))
    page.check(within=0)


STATES: list[dict[str, Any]] = [
    {"model": 0, "fn": 20, "threshold": threshold, "prevalence": prevalence, "fp": fp, "who": who, "parity": parity}
    for threshold in (0.05, 0.6)
    for prevalence in (None, 0.02, 0.4)
    for fp, who, parity in ((1, -1, "single"), (5, 1, "single"), (1, -1, "equalized-odds"))
]


@pytest.mark.parametrize("state", take_in_tiers(STATES))
def test_dot_of_decision_curve_lies_on_its_line(report: Report, state: dict[str, Any]) -> None:
    page = Page("view.js", "panels/benefit.js")
    view = page.keep("makeView", page.keep("loadReport", page_payload(report)), state)
    page.ask("benefitSpec", view)
    spec = page.answers()[-1]
    marks = {mark["key"]: mark for mark in spec["marks"]}
    dot, line = marks["now"], marks["current"]
    acts = state["fp"] / (state["fp"] + 20)
    assert dot["x"] == [pytest.approx(acts)]
    # In the odds of the probability, net benefit of decisions that do not change is a straight line.
    odds = np.array(line["x"]) / (1 - np.array(line["x"]))
    slope, level = np.polyfit(odds, line["y"], 1)
    assert level + slope * odds == pytest.approx(line["y"], abs=1e-12)
    assert dot["y"] == [pytest.approx(level + slope * acts / (1 - acts), abs=1e-12)]
    low, high = spec["y"]["domain"]
    assert low <= dot["y"][0] <= high
    what = "current threshold" if state["parity"] == "single" else "current policy"
    assert line["label"].startswith(what)
    place = "in the sample" if state["prevalence"] is None else f"at {100 * state['prevalence']:g}% prevalence"
    assert dot["label"].startswith("net benefit ")
    assert place in dot["label"]
    assert all(mark.get("label") for mark in spec["marks"])


def report_names(report: Report) -> list[str]:
    """Return the names of groups as the page writes them."""
    names: list[str] = page_payload(report)["models"][0]["names"]
    return names


@pytest.mark.parametrize("state", take_in_tiers(STATES))
def test_decision_curve_states_whether_scores_were_adjusted(report: Report, state: dict[str, Any]) -> None:
    page = Page("view.js", "panels/benefit.js")
    page.ask("benefitSpec", page.keep("makeView", page.keep("loadReport", page_payload(report)), state))
    spec = page.answers()[-1]
    marks = {mark["key"]: mark for mark in spec["marks"]}
    name = "risk" if state["who"] < 0 else f"risk, {report_names(report)[state['who']]}"
    if state["prevalence"] is None:
        assert marks["model"]["label"] == name
        assert "unadjusted" not in marks
        assert "Scores are not adjusted to the prevalence." in spec["description"]
        return
    assert marks["model"]["label"] == f"{name}, adjusted"
    assert marks["unadjusted"]["label"] == f"{name}, not adjusted"
    assert f"Decision curve at {100 * state['prevalence']:g}% prevalence." in spec["description"]
    assert "Scores are adjusted to the prevalence." in spec["description"]
    assert spec["table"]["columns"][1:3] == [f"{name}, adjusted", "scores not adjusted"]
    assert not np.allclose(marks["model"]["y"], marks["unadjusted"]["y"])


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    "odd",
    [
        *("threshold=x", "model=7", "model=-1", "who=3", "prevalence=1", "fp=-2", "fn=inf", "parity=planned"),
        *("threshold=", "who=", "fp="),
    ],
)
def test_invalid_settings_in_addresses_are_those_of_the_plan(report: Report, odd: str) -> None:
    page = Page("url_state.js", "view.js")
    book = page.keep("loadReport", page_payload(report))
    page.ask("planState", book, 0)
    page.ask("stateOf", book, f"#{odd}")
    _, planned, result = page.answers()
    assert result == planned


def test_prevalence_slider_is_logarithmic_below_one_percent() -> None:
    page, shares = Page("controls.js"), [1e-5, 1e-4, 1e-3, 0.0042, 0.01, 0.02, 0.25, 0.5, 0.99]
    for place in (0, 100, 200, 300, 1000):
        page.ask("prevalenceAt", place)
    assert page.answers() == pytest.approx([1e-5, 1e-4, 1e-3, 1e-2, 0.99], rel=1e-3)
    page = Page("controls.js")
    for share in shares:
        page.ask("prevalenceAt", page.keep("prevalencePosition", share))
    assert [each for each in page.answers() if each is not None] == pytest.approx(shares, rel=5e-3)
