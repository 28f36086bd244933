"""Panels of groups: rates and differences, strategies, frontier, ROC curves, and thresholds that are dragged."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

import baserate
from baserate import Costs, Cut, Policy, Report, decide, fairness, measure, read, shift
from tests.cli.shell import run
from tests.report.page.browser import (
    PageOpener,
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
from tests.report.page.pages import COSTS, PEOPLE, SITE, ScreeningReport, hostile_report
from tests.tiers import take_in_tiers

PANELS = ("groups", "group-policies", "group-frontier", "group-roc", "group-scores")
RATES = ("flag_rate", "sensitivity", "fpr", "precision")
STRATEGIES = ("single", "own", "demographic-parity", "equal-opportunity", "equalized-odds")
STRATEGY_SCRIPT = """() => [...document.querySelectorAll("#panel-group-policies table")[0].querySelectorAll("tbody tr")]
  .map(row => [
    row.querySelector("button").dataset.parity,
    Object.fromEntries(
      [...row.querySelectorAll("[data-number]")].map(({ dataset }) => [dataset.number, Number(dataset.value)])
    ),
  ])"""


def report_of_groups(sizes: list[int], *, one_class: bool = False, **options: Any) -> Report:  # noqa: ANN401
    """Return a report of groups of these sizes; the last one perhaps with one class alone."""
    rng = np.random.default_rng(11)
    group = np.repeat([f"town {at:02}" for at in range(len(sizes))], sizes)
    truth = rng.random(group.size) < 0.35
    if one_class:
        truth[group == group[-1]] = False
    risk = np.round(1 / (1 + np.exp(0.7 - 1.5 * truth - rng.normal(size=group.size))), 3)
    return baserate.evaluate(truth, risk, group={"town": group}, costs=Costs(fp=1, fn=3), **options)


def columns_of(screening: ScreeningReport) -> dict[str, Any]:
    """Return the rows of the screening."""
    return {"sick": screening.people.sick, "risk": screening.people.risk, "site": screening.people.site}


def shown_panels(page: Page) -> set[str]:
    """Return the visible panels of groups."""
    return {name for name in PANELS if page.locator(f"#panel-{name}:visible").count()}


@pytest.mark.parametrize("count", take_in_tiers([1, 2, 3, 8, 9, 30], {1, 2, 9}.__contains__))
def test_reports_of_any_number_of_groups_have_their_panels(open_page: PageOpener, count: int) -> None:
    page = open_page(report_of_groups([100 + at for at in range(count)]).html(), width=1024)
    assert shown_panels(page) == (set(PANELS) if count > 1 else set())
    if count == 1:
        assert page.locator("#part-fairness:visible").count() == 0
        return
    shown = min(count, 8)
    assert page.locator("#panel-group-scores .multiples > div").count() == shown
    labels = page.locator("#panel-group-roc .end-label").all_text_contents()
    assert len(labels) == len(set(labels)) == shown
    looks = [each.get_attribute("class") or "" for each in page.locator("#panel-group-roc .marks > .line").all()]
    styles = {look for look in looks if "series-" in look}
    assert len(styles) == shown
    assert {re.sub(r".*(series-\d) (dash-\d).*", r"\1 \2", look) for look in styles} == {
        f"series-{at} dash-{at}" for at in range(shown)
    }
    assert len([look for look in looks if "other" in look]) == count - shown
    assert page.locator("#panel-groups .picker").count() == (count > 8)
    assert len(panel_numbers(page, "groups")["sensitivity"]) == count
    page.set_viewport_size({"width": 390, "height": 900})
    wait_until_drawn(page)
    assert overflow_width(page) <= 0


def test_highlighted_groups_are_chosen_by_the_reader(open_page: PageOpener) -> None:
    html = report_of_groups([100 + at for at in range(12)]).html()
    page = open_page(html)
    assert page.evaluate("() => baserate.state().shown") is None
    page.click("#panel-groups .picker summary")
    boxes = page.locator("#panel-groups .picker input")
    assert [boxes.nth(at).is_checked() for at in range(12)] == [False] * 4 + [True] * 8  # the largest ones
    assert boxes.nth(0).is_disabled()
    boxes.nth(11).uncheck()
    wait_until_drawn(page)
    boxes.nth(0).check()
    wait_until_drawn(page)
    wanted = [0, *range(4, 11)]
    assert sorted(state(page)["shown"]) == wanted
    titles = page.locator("#panel-group-scores .multiples h4").all_inner_texts()
    assert titles == [f"town = town {at:02}" for at in wanted]
    # The address is written a moment later, and may still be that of the first click.
    page.wait_for_function("() => new URLSearchParams(location.hash.slice(1)).get('shown')?.split(',').includes('0')")
    again = open_page(html, state=page.evaluate("() => location.hash"))
    assert sorted(state(again)["shown"]) == wanted
    assert again.locator("#panel-group-scores .multiples h4").all_inner_texts() == titles


def test_small_groups_are_marked_and_left_out_of_largest_differences(open_page: PageOpener) -> None:
    report = report_of_groups([400, 400, 30])
    page = open_page(report.html())
    text = page.inner_text("#panel-groups")
    assert "town = town 02 †" in text
    assert "† fewer than 50 positives or negatives" in text
    assert "Groups with fewer than 50 rows for a rate are left out." in text
    assert page.locator("#panel-groups .marks .hollow .dot").count() >= 1
    assert "fewer than 50 rows for the rate" in page.inner_text("#panel-groups .legend")
    numbers = panel_numbers(page, "groups")
    for row in report.gaps.rows():
        if row["measure"] in RATES:
            assert numbers[f"gap {row['measure']}"] == pytest.approx([row["value"]], abs=1e-12)
            assert numbers[f"chance {row['measure']}"] == pytest.approx([row["floor"]], abs=1e-12)
            assert numbers[f"limit {row['measure']}"] == pytest.approx([row["floor_high"]], abs=1e-12)
    heads = page.locator("#panel-groups thead").last.inner_text()
    assert "expected by chance" in heads
    assert "95% limit if groups were equal" in heads
    assert "null reference" not in text


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_differences_are_those_of_python_at_every_setting(
    screening: ScreeningReport, page: Page, prevalence: float | None
) -> None:
    change(page, prevalence=prevalence, threshold=0.4, reference=0)
    columns: dict[str, Any] = {
        "sick": screening.people.sick,
        "risk": screening.people.risk,
        "site": screening.people.site,
    }
    tallies = read.tallies(columns, truth="sick", score="risk", group="site")
    if prevalence is not None:
        tallies = shift.reweigh(tallies, prevalence=prevalence)
    reference = screening.report.groups[0]["site"]
    wanted = fairness.group_differences(
        tallies, policy=state(page)["threshold"], measures=RATES, reference=reference
    ).rows()
    numbers, intervals = panel_numbers(page, "groups"), panel_intervals(page, "groups")
    for name in RATES:
        rows = [row for row in wanted if row["measure"] == name]
        assert numbers[f"difference {name}"] == pytest.approx([row["value"] for row in rows], abs=1e-12)
        for ends, row in zip(intervals[f"difference {name}"], rows, strict=True):
            assert ends == pytest.approx((row["low"], row["high"]), abs=1e-12)
        assert f"p {name}" not in numbers  # tests are of the plan's decisions and reference group
    assert "There are no p-values for another reference group." in page.inner_text("#panel-groups")


def test_p_values_are_those_of_the_plan(screening: ScreeningReport, open_page: PageOpener) -> None:
    people = screening.people
    report = baserate.evaluate(people.sick, people.risk, group={"site": people.site}, threshold=0.3)
    page = open_page(report.html())
    planned = state(page)["reference"]
    numbers = panel_numbers(page, "groups")
    for name in RATES:
        rows = [row for row in report.group_differences.rows() if row["measure"] == name]
        assert numbers[f"p {name}"] == [row["p_adjusted"] for row in rows]
    page.select_option("#panel-groups select", "0")
    wait_until_drawn(page)
    assert state(page)["reference"] == 0 != planned
    assert not [name for name in panel_numbers(page, "groups") if name.startswith("p ")]
    # At another prevalence only rates within a class are those that were tested.
    change(page, reference=planned, prevalence=0.2)
    assert [name for name in panel_numbers(page, "groups") if name.startswith("p ")] == ["p sensitivity", "p fpr"]


def test_measures_of_the_chart_are_chosen(page: Page) -> None:
    titles = page.locator("#panel-groups .facet text")
    assert titles.all_text_contents() == ["Sensitivity", "False positive rate", "PPV", "Flagged"]
    page.click("#panel-groups [data-rate='npv']")
    page.click("#panel-groups [data-rate='fpr']")
    wait_until_drawn(page)
    assert titles.all_text_contents() == ["Sensitivity", "PPV", "Flagged", "NPV"]
    assert page.get_attribute("#panel-groups [data-rate='fpr']", "aria-pressed") == "false"


def test_strategies_have_the_numbers_of_python(screening: ScreeningReport, page: Page) -> None:
    change(page, prevalence=0.1, fn=7, threshold=0.4)
    columns: dict[str, Any] = {
        "sick": screening.people.sick,
        "risk": screening.people.risk,
        "site": screening.people.site,
    }
    tallies = read.tallies(columns, truth="sick", score="risk", group="site")
    moved = shift.reweigh(tallies, prevalence=0.1)
    costs = Costs(fp=1, fn=7)
    before = screening.report.there.threshold.value
    shown = dict(page.evaluate(STRATEGY_SCRIPT))
    assert tuple(shown) == STRATEGIES
    used = float(state(page)["threshold"])
    for name, numbers in shown.items():
        policy: Policy | float = used
        if name != "single":
            within = float("inf") if name == "own" else 0.0
            parity = "equalized-odds" if name == "own" else name
            policy = fairness.optimal_policy(tallies, fairness.Goal(parity, within=within, costs=costs, prevalence=0.1))
        tables = group_counts(moved, policy)
        cost = float(measure.expected_cost(sum_counts(tables), costs=costs))
        assert numbers["expected_cost"] == pytest.approx(cost, abs=1e-9), name
        for rate in ("flag_rate", "sensitivity", "fpr"):
            values = [measure.MEASURES[rate](table) for table in tables.values()]
            assert numbers[f"gap {rate}"] == pytest.approx(np.ptp(values), abs=1e-9), (name, rate)
        assert numbers["changed"] == pytest.approx(changed_share(columns, moved, before, policy), abs=1e-6), name
    least = shown["own"]["expected_cost"]
    for numbers in shown.values():
        assert numbers["above_own"] == pytest.approx(numbers["expected_cost"] - least, abs=1e-9)
        assert numbers["above_single"] == pytest.approx(
            numbers["expected_cost"] - shown["single"]["expected_cost"], abs=1e-9
        )


def group_counts(tallies: Any, policy: Any) -> dict[Any, Any]:  # noqa: ANN401
    """Return the table of each group."""
    if isinstance(policy, float):
        policy = Policy(by_group={(): Cut((policy,))}, otherwise="refuse")
    tables = decide.decision_tables(tallies, policy)
    return {group: tables[group]["flag"] for group in tables if group is not None}


def sum_counts(tables: dict[Any, Any]) -> Any:  # noqa: ANN401
    """Return the table of all groups."""
    cells = {name: sum(getattr(table, name) for table in tables.values()) for name in ("tp", "fp", "fn", "tn")}
    return baserate.Counts(**cells)


def changed_share(columns: dict[str, Any], moved: Any, before: float, policy: Any) -> float:  # noqa: ANN401
    """Compute row by row the expected share of people whose decision differs from that of a threshold."""
    site, score, sick = columns["site"], columns["risk"], columns["sick"] == 1
    flagged = np.zeros(len(score))
    for group in np.unique(site):
        own = site == group
        cuts = [(1.0, policy)] if isinstance(policy, float) else mixture_of(policy.by_group[group,])
        flagged[own] = sum(chance * (score[own] >= threshold) for chance, threshold in cuts)
    changed = np.abs(flagged - (score >= before))
    prevalence = moved.pooled("risk").prevalence
    share = sum(weight * changed[own].mean() for weight, own in ((prevalence, sick), (1 - prevalence, ~sick)))
    return float(share)


def mixture_of(treatment: Any) -> list[tuple[float, float]]:  # noqa: ANN401
    """Return chances and thresholds of a treatment."""
    if isinstance(treatment, Cut):
        return [(1.0, treatment.threshold)]
    return [(chance, cut.threshold) for chance, cut in zip(treatment.chances, treatment.cuts, strict=True)]


@pytest.mark.parametrize("parity", take_in_tiers(STRATEGIES[2:]))
def test_frontier_begins_at_the_strategy_and_ends_at_the_optimum(page: Page, parity: str) -> None:
    page.click(f"#panel-group-frontier [data-frontier='{parity}']")
    wait_until_drawn(page)
    assert state(page)["frontier"] == parity
    assert page.get_attribute(f"#panel-group-frontier [data-frontier='{parity}']", "aria-pressed") == "true"
    shown = dict(page.evaluate(STRATEGY_SCRIPT))
    open_details(page)
    cells = page.locator("#panel-group-frontier details.table td").all_inner_texts()
    within, cost = ([float(each) for each in cells[at::2]] for at in (0, 1))
    assert within[0] == 0
    assert cost[0] == pytest.approx(shown[parity]["expected_cost"], rel=1e-3)
    assert cost[-1] == pytest.approx(shown["own"]["expected_cost"], rel=1e-3)
    assert cost == sorted(cost, reverse=True)
    labels = page.locator("#panel-group-frontier .end-label").all_text_contents()
    assert len(labels) == len(STRATEGIES)
    assert len([label for label in labels if "current" in label or "…" in label]) >= 1


def test_dragging_a_line_gives_a_group_its_own_threshold(
    screening: ScreeningReport,
    screening_page: str,
    open_page: PageOpener,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = open_page(screening_page)
    before = float(state(page)["threshold"])
    grip = page.locator("#panel-group-scores .multiples > div").nth(1).locator(".grip")
    grip.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    wait_until_drawn(page)
    now = state(page)
    assert now["parity"] == "custom"
    assert [now["cuts"][at] == before for at in range(3)] == [True, False, True]
    assert page.locator("#panel-group-policies [data-parity='custom'][aria-pressed='true']").count() == 1
    assert page.inner_text("#verdict-decision").startswith("Flag by group-specific thresholds.")
    # A pointer moves the line of another group.
    box = page.locator("#panel-group-scores .multiples > div").nth(2).locator("svg.chart").bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.4 * box["height"])
    page.mouse.down()
    page.mouse.up()
    wait_until_drawn(page)
    cuts = state(page)["cuts"]
    assert len(set(cuts)) == 3
    page.wait_for_function("last => location.hash.includes(last)", arg=str(cuts[2]))
    again = open_page(screening_page, state=page.evaluate("() => location.hash"))
    assert state(again) == state(page)
    check_custom_exports(screening, page, tmp_path, monkeypatch)


def check_custom_exports(screening: ScreeningReport, page: Page, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that policy, command and Python of custom thresholds give the rates of the page."""
    monkeypatch.chdir(folder)
    cuts = state(page)["cuts"]
    with read_download(page) as texts:
        page.click("#export-policy")
    Path("policy.json").write_text(texts[0], encoding="utf-8")
    policy = Policy.load("policy.json")
    assert policy.to_json() == texts[0]
    sites = [group["site"] for group in screening.report.groups]
    assert {group: cut.threshold for (group,), cut in policy.by_group.items() if isinstance(cut, Cut)} == dict(
        zip(sites, cuts, strict=True)
    )
    assert "thresholds set by hand on the page of a report, on these rows." in policy.notes
    wanted = panel_numbers(page, "groups")
    program, verb, *words = shlex.split(copy_text(page, "#copy-command"))
    assert (program, verb) == ("baserate", "report")
    result = run(verb, *words, "--save-json", folder / "report.json")
    assert result.exit_code == 0, result.stderr
    names: dict[str, Any] = {}
    text = copy_text(page, "#copy-python")
    exec(text, names)  # noqa: S102  (our own lines)
    assert "baserate.evaluate(" in text
    for report in (Report.load(folder / "report.json"), names["report"]):
        for name in ("sensitivity", "precision", "flag_rate"):
            values = [getattr(report.within(site=site).there, name).value for site in sites]
            assert wanted[name] == pytest.approx(values, abs=1e-12), name


def copy_text(page: Page, button: str) -> str:
    """Click a button, and return the text in the clipboard."""
    page.click(button)
    wait_until_drawn(page)
    text: str = page.evaluate("() => navigator.clipboard.readText()")
    return text


def test_a_group_of_one_class_is_excluded_from_parities(open_page: PageOpener) -> None:
    page = open_page(report_of_groups([200, 200, 60], one_class=True).html())
    assert "–" in page.locator("#panel-groups tbody tr").nth(2).inner_text()
    change(page, parity="equal-opportunity")
    assert "1 group lacks a class and is excluded." in page.inner_text("#panel-groups")
    assert "excluded: lacks a class" in page.inner_text("#panel-group-policies")
    assert violations(page) == []


def test_labels_have_the_chart_of_rates_alone(open_page: PageOpener) -> None:
    page = open_page(baserate.evaluate(PEOPLE.sick, predicted=PEOPLE.risk > 0.3, group=SITE).html())
    assert shown_panels(page) == {"groups"}
    assert "threshold" not in page.locator("#panel-groups thead").first.inner_text()
    both = baserate.evaluate(PEOPLE.sick, {"risk": PEOPLE.risk}, predicted=PEOPLE.risk > 0.3, group=SITE)
    page = open_page(both.html())
    assert shown_panels(page) == set(PANELS)
    change(page, model=1)
    assert shown_panels(page) == {"groups"}


def test_decisions_of_a_policy_are_compared_with_those_of_the_plan(open_page: PageOpener) -> None:
    cuts: dict[tuple[object, ...], Cut] = {
        (site,): Cut((0.1 + 0.1 * at,)) for at, site in enumerate(np.unique(SITE["site"]))
    }
    policy = Policy(by_group=cuts, otherwise="refuse", attributes=("site",))
    page = open_page(baserate.evaluate(PEOPLE.sick, PEOPLE.risk, group=SITE, policy=policy, costs=COSTS).html())
    shown = dict(page.evaluate(STRATEGY_SCRIPT))
    assert shown["planned"]["changed"] == 0
    flagged = np.array([PEOPLE.risk[at] >= cuts[site,].threshold for at, site in enumerate(SITE["site"])])
    optimum = fairness.optimal_policy(
        read.tallies({"sick": PEOPLE.sick, "risk": PEOPLE.risk, **SITE}, truth="sick", score="risk", group="site"),
        fairness.Goal("equalized-odds", within=float("inf"), costs=COSTS),
    )
    own = np.array([PEOPLE.risk[at] >= optimum.by_group[site,].thresholds[0] for at, site in enumerate(SITE["site"])])  # type: ignore[union-attr]
    assert shown["own"]["changed"] == pytest.approx(np.mean(flagged != own), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1024, "dark"), (1440, "light")])
def test_panels_of_groups_are_accessible_and_fit(
    screening_page: str,
    open_page: PageOpener,
    width: int,
    scheme: Any,  # noqa: ANN401
) -> None:
    page = open_page(screening_page, width=width, scheme=scheme)
    change(page, parity="equalized-odds")
    open_details(page)
    assert violations(page) == []
    assert overflow_width(page) <= 0


@pytest.mark.slow
def test_hostile_names_of_groups_fit_a_phone(open_page: PageOpener) -> None:
    page = open_page(hostile_report().html(), width=390)
    open_details(page)
    assert overflow_width(page) <= 0
    assert "<script>alert(1)</script>" in page.inner_text("#panel-groups")
    assert "NaN" not in page.inner_text("main")


def test_compas_shows_what_it_is_known_for(compas: dict[str, Any], open_page: PageOpener) -> None:
    report = baserate.evaluate(
        compas["again"], compas["decile"], group={"race": compas["race"]}, threshold=0.6, reference="Caucasian"
    )
    page = open_page(report.html())
    row = page.locator("#panel-groups tbody tr", has_text="African-American").nth(1)
    cell = row.locator("[data-number='difference fpr']")
    assert float(cell.get_attribute("data-value") or "nan") == pytest.approx(0.196, abs=5e-5)
    assert cell.inner_text().startswith("+19.6")
    assert "Holm p < 0.0001" in cell.inner_text()
    open_details(page)
    assert "FPR is 19.6 points higher in race = African-American" in page.inner_text("#panel-findings")
    change(page, threshold=0.5)
    shown = dict(zip(sorted({*compas["race"]}), panel_numbers(page, "groups")["fpr"], strict=True))
    for race in ("African-American", "Caucasian"):
        assert round(100 * shown[race], 2) == compas["published"][race]["fpr"]
