"""The same quantity at the same prevalence is the same number on the page, in Python, in JSON and on the terminal.

A number is identified by its measure, model, group, prevalence and, where it depends on decisions, its threshold. Each
test collects all numbers of all panels: elements with `data-number`, which state where they hold, and those that
`window.baserate.numbers()` lists for legends and descriptions.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from playwright.sync_api import Page

import baserate
from baserate import Costs, Report
from baserate.measure import MEASURES
from baserate.report._measurements import INVARIANT_MEASURES
from tests.report.page.browser import PageOpener, change, open_details
from tests.report.page.pages import PEOPLE, SITE, randomized_report
from tests.tiers import take_in_tiers

RELATIVE = 1e-9
"""Differences of the same number that are rounding errors."""
COLLECT_SCRIPT = """() => {
  document.querySelectorAll("details").forEach(each => { each.open = true; });
  dispatchEvent(new Event("beforeprint"));  // draws the panels that are not near the window, too
  const visible = element => !element.closest("[hidden]");
  const own = element => [...element.childNodes].filter(each => each.nodeType === 3).map(each => each.data).join(" ")
    || element.querySelector("b")?.textContent || "";
  const words = selector => element => [...(element?.querySelectorAll(selector) ?? [])].filter(visible)
    .map(each => each.textContent).join(" ");
  const headings = words("h3, h4, h5, caption");
  const decision = words("#verdict-decision");
  const before = block => block?.previousElementSibling?.matches("h3, h4, p")
    ? block.previousElementSibling.textContent : "";
  return [...document.querySelectorAll("[data-number]")].filter(visible).map(element => {
    const place = element.closest("[data-at]");
    const table = element.closest("table, dl");
    const block = table?.closest(".body > *, #verdict");
    return {
      panel: element.closest("[id^=panel-], #verdict")?.id ?? "", measure: element.dataset.number,
      value: element.dataset.value, low: element.dataset.low, high: element.dataset.high, text: own(element),
      at: place?.dataset.at, model: place?.dataset.model, group: place?.dataset.group, cut: element.dataset.cut,
      table: table ? [...document.querySelectorAll("table, dl")].indexOf(table) : null,
      caption: [before(block), headings(block), headings(table), decision(element.closest("#verdict"))].join(" "),
      row: element.closest("tr")?.textContent ?? "",
      column: table?.querySelectorAll("thead th, thead td")[element.closest("td")?.cellIndex]?.textContent ?? "",
    };
  });
}"""


class Key(NamedTuple):
    """What a number is: the same key must have one value."""

    measure: str
    model: int
    group: int | None
    at: float | str
    """Prevalence of everybody, "sample", or "any" where a measure does not depend on it."""
    cut: float | str | None
    """Threshold, or the name of a policy; None for measures of the scores."""


@dataclass(frozen=True)
class PageNumber:
    """A number as a panel shows it."""

    key: Key
    panel: str
    value: float
    bounds: tuple[float, float] | None
    text: str = ""
    table: int | None = None
    caption: str = ""
    row: str = ""
    column: str = ""


Settings = Mapping[str, Any]
Case = Callable[[Settings], Report]
"""Evaluates a report at deployment settings: prevalence, costs and threshold."""


def evaluate(truth: Any, score: Any = None, **options: Any) -> Case:  # noqa: ANN401  (whatever `evaluate` takes)
    """Return a case that evaluates the same data at any settings."""
    return lambda settings: baserate.evaluate(truth, score, **{**options, **settings})


def two_models() -> Case:
    other = np.round(PEOPLE.risk**2 * 0.5 + np.random.default_rng(1).random(PEOPLE.risk.size) * 0.5, 3)
    return evaluate(PEOPLE.sick, {"risk": PEOPLE.risk, "old": other}, group=SITE)


def thirty_groups() -> Case:
    draw = np.random.default_rng(5)
    truth = draw.random(3000) < 0.3
    score = 1 / (1 + np.exp(-draw.normal(size=truth.size) - truth))
    return evaluate(truth, score, group={"town": draw.integers(30, size=truth.size).astype(str)})


def read_reference(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of a file of reference data."""
    folder = os.environ.get("BASERATE_REFERENCE_DATA")
    if folder is None:
        pytest.skip(f"BASERATE_REFERENCE_DATA names no folder with {name}")
    with (Path(folder) / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {column: np.array([row[column] for row in rows]) for column in rows[0]}


def compas() -> Case:
    table = read_reference("compas.csv")
    scores = table["decile_score"].astype(float) / 10
    return evaluate(table["two_year_recid"] == "1", scores, group={"race": table["race"]})


def asah() -> Case:
    table = read_reference("aSAH.csv")
    markers = {name: table[name].astype(float) for name in ("s100b", "ndka")}
    return evaluate(table["outcome"] == "Poor", markers, group={"gender": table["gender"]})


COSTS = Costs(fp=1, fn=20)
PLAN: Settings = {"prevalence": 0.02, "costs": COSTS}
FEW = np.random.default_rng(8).random(15).round(2)
CASES: dict[str, tuple[Callable[[], Case], Settings]] = {
    "screening": (lambda: evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE), PLAN),
    "sample": (lambda: evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE), {}),
    "two models": (two_models, PLAN),
    "labels": (lambda: evaluate(PEOPLE.sick, predicted=PEOPLE.risk > 0.3, group=SITE), {"prevalence": 0.1}),
    "15 rows": (lambda: evaluate(FEW > 0.6, FEW), PLAN),
    "30 groups": (thirty_groups, PLAN),
    "weights": (lambda: evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE, weight=np.sqrt(np.arange(1, 2001))), PLAN),
    "one class": (lambda: evaluate([0, 0, 0], [0.1, 0.2, 0.3]), {}),
    "no probabilities": (lambda: evaluate(PEOPLE.sick, 9 * PEOPLE.risk - 4, group=SITE), PLAN),
    "group prevalences": (
        lambda: evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE),
        {"prevalence": {"north": 0.02, "coast": 0.03, "hill": 0.05}, "costs": COSTS},
    ),
    "compas": (compas, {}),
    "aSAH": (asah, {"prevalence": 0.1}),
}
QUICK = {"screening", "two models", "labels", "15 rows"}


@cache
def report_of(name: str) -> Report:
    make, settings = CASES[name]
    return make()(settings)


def collect_numbers(page: Page, report: Report) -> list[PageNumber]:
    """Return all numbers of the page."""
    numbers = [_element_number(each) for each in page.evaluate(COLLECT_SCRIPT)]
    listed = page.evaluate("() => window.baserate.numbers()")
    numbers += [_listed_number(each) for each in listed if "other" not in each]
    return [replace(each, key=normalize(each.key, report)) for each in numbers]


def _element_number(each: Mapping[str, Any]) -> PageNumber:
    assert each["at"] is not None, f"{each['measure']} in {each['panel']} does not state its prevalence (data-at)"
    cut = each["cut"]
    key = Key(
        each["measure"],
        int(each["model"]),
        None if each["group"] is None else int(each["group"]),
        each["at"] if each["at"] in ("sample", "any") else float(each["at"]),
        None if cut is None else _cut(cut),
    )
    bounds = None if each["low"] is None else (_number(each["low"]), _number(each["high"]))
    details = {name: each[name] for name in ("text", "table", "caption", "row", "column")}
    return PageNumber(key, each["panel"], _number(each["value"]), bounds, **details)


def _listed_number(each: Mapping[str, Any]) -> PageNumber:
    at = "sample" if each["prevalence"] is None else each["prevalence"]
    key = Key(each["measure"], each["model"], each.get("group"), at, each.get("threshold"))
    bounds = (each["low"], each["high"]) if each.get("low") is not None else None
    return PageNumber(key, each["panel"], math.nan if each["value"] is None else each["value"], bounds)


def _number(text: str) -> float:
    return float(text.replace("Infinity", "inf") or "nan")


def _cut(text: str) -> float | str:
    try:
        return _number(text)
    except ValueError:
        return text


def normalize(key: Key, report: Report) -> Key:
    """Return a key without prevalence where a measure is the same at each, and without group for all groups."""
    if key.measure.startswith("all "):
        key = key._replace(measure=key.measure.removeprefix("all "), group=None)
    mixes = isinstance(report.plan.prevalence, Mapping)
    return key._replace(at="any") if key.measure in INVARIANT_MEASURES and not mixes else key


def is_same(one: float, other: float) -> bool:
    return (
        one == other
        or (math.isnan(one) and math.isnan(other))
        or math.isclose(one, other, rel_tol=RELATIVE, abs_tol=1e-12)
    )


SIZES = ("rows", "positives")
"""Numbers of rows, which are those of the sample wherever they stand."""


def python_numbers(report: Report) -> dict[Key, dict[str, Any]]:
    """Return the numbers of a report at its settings, as JSON holds them."""
    models = {name: at for at, name in enumerate(report.models)}
    groups = {str(group): at for at, group in enumerate(report.groups)}
    result: dict[Key, dict[str, Any]] = {}
    for row in json.loads(report.to_json())["rows"]:
        if (
            row["part"] not in ("decisions", "ranks", "probabilities")
            or row["model"] is None
            or row["measure"] not in {*MEASURES, *SIZES}
        ):
            continue
        at: float | str = "sample" if row["where"] == "here" else float(report.prevalence or 0)
        cut = None
        if row["part"] == "decisions":
            cut = page_cut(report, row["model"])
        group = None if row["group"] is None else groups[str(row["group"])]
        if (row["part"], row["measure"], row["where"]) == ("data", "prevalence", "here"):
            result[Key("base_rate", models[row["model"]], group, at, None)] = row
        result[normalize(Key(row["measure"], models[row["model"]], group, at, cut), report)] = row
    return result


def page_cut(report: Report, model: str) -> float | str:
    """Return the planned threshold of a model on the page, which is a score of the data; a policy has a name."""
    flags_from = report.policies[model].flags_from
    if flags_from is None:
        return "planned"
    (curve,) = (each for each in report.sketches if each.name == model)
    return min((each for each in map(float, curve.form["threshold"]) if each >= flags_from), default=math.inf)


def _json_number(value: Any) -> float:  # noqa: ANN401  (any cell of a row)
    return math.nan if value is None else float(value)


def disagreements(shown: list[PageNumber], report: Report) -> Iterator[str]:
    """Yield what disagrees: two panels with each other, or a panel with Python."""
    wanted = python_numbers(report)
    by_key: dict[Key, list[PageNumber]] = defaultdict(list)
    for each in shown:
        by_key[each.key].append(each)
    for key, several in by_key.items():
        first = several[0]
        for other in several[1:]:
            if not is_same(first.value, other.value):
                yield f"{key}: {first.value} in {first.panel}, {other.value} in {other.panel}"
            if first.bounds and other.bounds and not all(map(is_same, first.bounds, other.bounds)):
                yield f"{key}: {first.bounds} in {first.panel}, {other.bounds} in {other.panel}"
        row = wanted.get(key)
        if row is None:
            continue
        for each in several:
            if not is_same(each.value, _json_number(row["value"])):
                yield f"{key}: {each.value} in {each.panel}, {row['value']} in Python"
            if each.bounds and not all(map(is_same, each.bounds, map(_json_number, (row["low"], row["high"])))):
                yield f"{key}: {each.bounds} in {each.panel}, {row['low'], row['high']} in Python"


def count_common_numbers(shown: list[PageNumber], report: Report) -> int:
    """Return how many numbers of the page Python has, too."""
    wanted = python_numbers(report)
    return sum(each.key in wanted for each in shown)


LEAST_COMMON = {"one class": 5, "labels": 12, "15 rows": 20}


@pytest.mark.parametrize("name", take_in_tiers(CASES, QUICK.__contains__))
def test_panels_agree_with_each_other_and_with_python(open_page: PageOpener, name: str) -> None:
    report = report_of(name)
    page = open_page(report.html())
    open_details(page)
    shown = collect_numbers(page, report)
    assert list(disagreements(shown, report)) == []
    assert count_common_numbers(shown, report) >= LEAST_COMMON.get(name, 25)


@pytest.mark.slow
def test_panels_agree_where_decisions_are_random(open_page: PageOpener) -> None:
    report = randomized_report()
    page = open_page(report.html())
    shown = collect_numbers(page, report)
    assert list(disagreements(shown, report)) == []
    assert count_common_numbers(shown, report) >= 15
    change(page, prevalence=0.2)
    texts = [page.inner_text("#panel-measures td.interval >> nth=0")]
    assert texts == ["no interval: this policy has intervals at the settings of the plan only"]


CHANGES: dict[str, Settings] = {
    "prevalence": {"prevalence": 0.1},
    "threshold": {"threshold": 0.4},
    "costs": {"costs": Costs(fp=1, fn=5)},
}


@pytest.mark.slow
@pytest.mark.parametrize("setting", CHANGES)
@pytest.mark.parametrize("name", ["screening", "two models", "weights", "30 groups"])
def test_changed_settings_agree_with_a_new_evaluation(open_page: PageOpener, name: str, setting: str) -> None:
    make, plan = CASES[name]
    report, case = report_of(name), make()
    page = open_page(report.html())
    now = {**plan, "threshold": report.policies[report.models[0]].flags_from, **CHANGES[setting]}
    costs = now["costs"]
    change(page, prevalence=now["prevalence"], threshold=now["threshold"], fp=costs.fp, fn=costs.fn, parity="single")
    threshold = page.evaluate("() => window.baserate.state().threshold")
    fresh = case({**now, "threshold": threshold})
    shown = [each for each in collect_numbers(page, fresh) if each.key.model == 0]
    assert list(disagreements(shown, fresh)) == []
    assert count_common_numbers(shown, fresh) >= 20


@pytest.mark.parametrize("name", take_in_tiers(CASES, QUICK.__contains__))
def test_shown_texts_are_the_rounded_numbers(open_page: PageOpener, name: str) -> None:
    report = report_of(name)
    page = open_page(report.html())
    open_details(page)
    shown = [each for each in collect_numbers(page, report) if each.text.strip()]
    assert shown
    wrong = [(each.key, each.value, each.text) for each in shown if not is_rounded(each.value, each.text)]
    assert wrong == []


NUMBER = re.compile(r"^[^\d<>–∞+-]*(?P<sign>[<>]?) ?\+?(?P<digits>-?\d[\d.]*(?:e-?\d+)?)\s*(?P<unit>%|pp)?")


def is_rounded(value: float, text: str) -> bool:
    """Return whether a text is a number at some precision: "57.8% of positives", "< 0.1%", "–" for an undefined one."""
    plain = text.replace("−", "-").replace(",", "").strip()
    if plain.split()[0] in ("–", "∞", "-∞"):
        return not math.isfinite(value)
    match = NUMBER.match(plain)
    if not match:
        return False
    digits = match["digits"]
    shown, scaled = float(digits), 100 * value if match["unit"] else value
    if match["sign"]:
        return scaled < shown if match["sign"] == "<" else scaled > shown
    decimals, exponent = len(digits.partition("e")[0].partition(".")[2]), int(digits.partition("e")[2] or 0)
    # Costs may be shown per 1,000 people, and differences in percentage points.
    factors = (1,) if match["unit"] else (1, 100, 1000)
    return any(abs(shown - each * scaled) <= 0.5000001 * 10.0 ** (exponent - decimals) for each in factors)


def test_texts_are_parsed() -> None:
    right = [
        (0.578, "57.8% of positives"),
        (0.123, "+12.3 pp"),
        (-0.05, "−5.0"),
        (0.02, "Sensitivity 2.0%"),
        (0.262, "262"),
    ]
    right += [(5e-5, "Holm p < 0.0001"), (0.9999, "> 99.9%"), (math.nan, "–"), (1.2e-7, "1.200e-7"), (20000, "20,000")]
    assert [(value, text) for value, text in right if not is_rounded(value, text)] == []
    wrong = [(0.578, "57.9%"), (0.1, "< 0.1%"), (0.5, "–"), (0.5, "none"), (-0.05, "5.0%"), (1234, "1,235")]
    assert [(value, text) for value, text in wrong if is_rounded(value, text)] == []


@pytest.mark.parametrize("name", take_in_tiers(CASES, QUICK.__contains__))
def test_no_table_mixes_prevalences_without_saying_so(open_page: PageOpener, name: str) -> None:
    report = report_of(name)
    page = open_page(report.html())
    open_details(page)
    tables: dict[int, list[PageNumber]] = defaultdict(list)
    for each in collect_numbers(page, report):
        if each.table is not None:
            tables[each.table].append(each)
    assert len(tables) >= 2
    for several in tables.values():
        places = {each.key.at for each in several} - {"any"}
        for each in several:
            if each.key.at == "any" or each.key.measure in SIZES or says(f"{each.row} {each.column}", each.key.at):
                continue
            # The caption may state one prevalence, which is that of all numbers without a label of their own.
            stated = [at for at in places if says(each.caption, at)]
            assert stated == [each.key.at], f"{each.key} in {each.panel}: {each.caption!r}, {each.row!r}"


def says(text: str, at: float | str) -> bool:
    """Return whether a text states a prevalence."""
    return "sample" in text if at == "sample" else f"{float(f'{100 * float(at):.6g}'):g}%" in text


@pytest.mark.slow
def test_markdown_shows_the_numbers_of_the_report() -> None:
    report = report_of("screening")
    there, here = report.there, report.here
    output = report.markdown()
    for label, view, name in (
        ("Sensitivity (recall)", there, "sensitivity"),
        ("Specificity", there, "specificity"),
        ("PPV (precision) at 2% prevalence", there, "precision"),
        ("PPV (precision) in the sample", here, "precision"),
        ("NPV at 2% prevalence", there, "npv"),
        ("AUC", there, "auc"),
    ):
        row = re.search(rf"^\| {re.escape(label)} \| ([^|]*) \| ([^|]*) \|", output, re.MULTILINE)
        assert row, label
        result = view[name]
        assert is_rounded(result.value, row[1])
        for text, bound in zip(row[2].split(" – "), (result.low, result.high), strict=True):
            assert is_rounded(bound, text), (label, text, bound)
