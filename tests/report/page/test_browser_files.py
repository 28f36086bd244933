"""Exports of the page: policies, commands, programs, charts and tables; and the page in a notebook."""

import csv
import io
import json
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Page

import baserate
from baserate import Counts, Cut, Plan, Policy, Report, decide, measure, read, shift
from baserate.report._natural_frequencies import apportion
from baserate.report._page import page_payload
from tests.cli.shell import run
from tests.report.page.browser import (
    CHARTS,
    PageOpener,
    change,
    current_threshold,
    panel_numbers,
    read_download,
    state,
    wait_until_drawn,
)
from tests.report.page.pages import HOSTILE, ScreeningReport
from tests.tiers import take_in_tiers

MOVE = {"threshold": 0.4, "prevalence": 0.15, "fp": 2, "fn": 5}
RATES = ("sensitivity", "specificity", "precision", "npv", "flag_rate")


def export_policy(page: Page, folder: Path) -> Path:
    """Export the policy by a click, and return the path of its file."""
    with read_download(page) as texts:
        page.click("#export-policy")
    path = folder / "policy.json"
    path.write_text(texts[0], encoding="utf-8")
    return path


def check_table(page: Page, table: Counts[Any]) -> None:
    """Check that the page shows this confusion matrix."""
    cells = panel_numbers(page, "thousand")
    positives, negatives = apportion([table.positives, table.negatives], 1000)
    whole = [*apportion([table.tp, table.fn], positives), *apportion([table.fp, table.tn], negatives)]
    assert [cells[cell][0] for cell in ("tp", "fn", "fp", "tn")] == whole
    group_rates = panel_numbers(page, "measures")
    for name in RATES:
        assert group_rates[name][0] == pytest.approx(measure.MEASURES[name](table), abs=1e-12), name


@pytest.mark.quick(2)
@pytest.mark.parametrize("parity", ["single", "own", "demographic-parity", "equal-opportunity", "equalized-odds"])
def test_exported_policy_gives_the_table_of_the_page(
    screening: ScreeningReport, page: Page, tmp_path: Path, parity: str
) -> None:
    change(page, **MOVE | {"prevalence": None}, parity=parity)
    path = export_policy(page, tmp_path)
    policy = Policy.load(path)
    assert policy.to_json() == path.read_text(encoding="utf-8")
    tallies = read.tallies(str(screening.folder / "people.csv"), truth="sick", score="risk", group="site")
    tables = decide.decision_tables(tallies, policy)
    check_table(page, tables[None]["flag"])
    result = panel_numbers(page, "groups")
    wanted = [measure.sensitivity(tables[str(group["site"]),]["flag"]) for group in screening.report.groups]
    assert result["sensitivity"] == pytest.approx(wanted, abs=1e-12)


def test_exported_policy_applied_to_rows_gives_the_table_of_the_page(
    screening: ScreeningReport, page: Page, tmp_path: Path
) -> None:
    change(page, threshold=0.4, prevalence=None)
    result = run(
        "apply", export_policy(page, tmp_path), screening.folder / "people.csv", "-o", tmp_path / "decided.csv"
    )
    assert result.exit_code == 0, result.stderr
    cells = dict.fromkeys(("1flag", "0flag", "1pass", "0pass"), 0)
    for row in csv.DictReader(io.StringIO((tmp_path / "decided.csv").read_text(encoding="utf-8"))):
        cells[row["sick"] + row["action"]] += 1
    tp, fp, fn, tn = cells.values()
    check_table(page, Counts(tp=tp, fp=fp, fn=fn, tn=tn))


def copy_text(page: Page, button: str) -> str:
    """Click a button, and return the text in the clipboard."""
    page.click(button)
    wait_until_drawn(page)
    text: str = page.evaluate("() => navigator.clipboard.readText()")
    return text


def check_report(page: Page, report: Report) -> None:
    """Check that a report has the numbers of the page."""
    now = state(page)
    assert report.there.threshold.value == current_threshold(page)
    assert report.plan.prevalence == now["prevalence"]
    assert report.plan.costs
    assert (report.plan.costs.fp, report.plan.costs.fn) == (now["fp"], now["fn"])
    result = panel_numbers(page, "measures")
    for name in RATES:
        assert result[name][0] == pytest.approx(getattr(report.there, name).value, abs=1e-12), name


@pytest.mark.parametrize("move", take_in_tiers([MOVE, {}]))
def test_copied_command_gives_the_same_report(
    screening: ScreeningReport, page: Page, tmp_path: Path, move: dict[str, Any]
) -> None:
    change(page, **move)
    program, verb, *words = shlex.split(copy_text(page, "#copy-command"))
    assert (program, verb) == ("baserate", "report")
    result = run(verb, *words, "--save-json", tmp_path / "report.json")
    assert result.exit_code == 0, result.stderr
    check_report(page, Report.load(tmp_path / "report.json"))


@pytest.mark.parametrize("move", take_in_tiers([MOVE, {}]))
def test_copied_python_gives_the_same_report(screening: ScreeningReport, page: Page, move: dict[str, Any]) -> None:
    change(page, **move)
    names: dict[str, Any] = {}
    exec(copy_text(page, "#copy-python"), names)  # noqa: S102  (our own lines)
    reports = [each for each in names.values() if isinstance(each, Report)]
    assert len(reports) == 1
    check_report(page, reports[0])


def group_rates(screening: ScreeningReport, policy: Policy, prevalence: float) -> dict[Any, float]:
    """Return sensitivity and false positive rate of each group under a policy at a prevalence."""
    tallies = read.tallies(str(screening.folder / "people.csv"), truth="sick", score="risk", group="site")
    tables = decide.decision_tables(shift.reweigh(tallies, prevalence=prevalence), policy)
    both = {group: tables[group]["flag"] for group in tables if group is not None}
    every = {"sensitivity": measure.sensitivity, "fpr": measure.fpr}
    return {(group, name): rate(table) for group, table in both.items() for name, rate in every.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "parity", take_in_tiers(["equalized-odds", "own", "demographic-parity", "equal-opportunity"], quick=2)
)
def test_copied_code_for_a_parity_gives_the_policy_of_the_page(
    screening: ScreeningReport,
    screening_page: str,
    open_page: PageOpener,
    tmp_path: Path,
    parity: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = open_page(screening_page)
    change(page, prevalence=0.1, fn=7, parity=parity)
    wanted = group_rates(screening, Policy.load(export_policy(page, tmp_path)), 0.1)
    monkeypatch.chdir(tmp_path)
    program, verb, *words = shlex.split(copy_text(page, "#copy-command"))
    assert (program, verb) == ("baserate", "equalize")
    result = run(verb, *words)
    assert result.exit_code == 0, result.stderr
    assert group_rates(screening, Policy.load("by-group.json"), 0.1) == pytest.approx(wanted, abs=1e-12)
    names: dict[str, Any] = {}
    exec(copy_text(page, "#copy-python"), names)  # noqa: S102  (our own lines)
    assert group_rates(screening, names["policy"], 0.1) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.slow
def test_copied_code_names_the_policy_file(open_page: PageOpener, tmp_path: Path) -> None:
    path, saved = tmp_path / "rows.csv", tmp_path / "my eo.json"
    path.write_text("sick,risk,site\n" + "1,0.9,n\n0,0.2,n\n1,0.6,s\n0,0.7,s\n" * 5, encoding="utf-8")
    by_site: dict[tuple[object, ...], Cut] = {("n",): Cut((0.5,)), ("s",): Cut((0.65,))}
    policy = Policy(by_group=by_site, otherwise="refuse", attributes=("site",))
    policy.save(saved)
    named: dict[str, Any] = {"policy": policy, "policy_file": str(saved)}
    report = baserate.run(Plan(files=path, truth="sick", score="risk", group="site", positive="1", **named))
    page = open_page(report.html())
    typed, python = (copy_text(page, f"#copy-{what}") for what in ("command", "python"))
    assert shlex.split(typed)[shlex.split(typed).index("--policy") + 1] == str(saved)
    names: dict[str, Any] = {}
    exec(python, names)  # noqa: S102  (our own lines)
    assert names["report"].here.sensitivity == report.here.sensitivity


@pytest.mark.quick(1)
@pytest.mark.parametrize("panel", take_in_tiers(["groups", *CHARTS], {"scores", "reliability", "groups"}.__contains__))
def test_charts_are_saved_as_svg_and_csv(screening_page: str, open_page: PageOpener, panel: str) -> None:
    page = open_page(screening_page)  # a page of its own: a browser saves few files of one
    with read_download(page) as texts:
        page.click(f"#panel-{panel} [data-download='svg']")
    picture = ET.fromstring(texts[0])  # noqa: S314  (our own picture)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(picture.iter())) > 20
    assert "var(" not in texts[0]  # colours are its own: no page gives them
    with read_download(page) as texts:
        page.click(f"#panel-{panel} [data-download='csv']")
    header, *rows = csv.reader(io.StringIO(texts[0]))
    assert len(rows) >= 2
    assert {len(row) for row in rows} == {len(header)}
    assert any(_is_number(cell) for row in rows for cell in row)


def test_saved_charts_are_light_and_their_text_is_text(screening_page: str, open_page: PageOpener) -> None:
    pictures = []
    for scheme in ("light", "dark"):
        page = open_page(screening_page, scheme=scheme)
        with read_download(page) as texts:
            page.click("#panel-roc [data-download='svg']")
        assert page.locator("#panel-roc .chart").count() == 1  # the copy in light colors is removed
        pictures.append(texts[0])
    assert pictures[0] == pictures[1]
    svg = ET.fromstring(pictures[0])  # noqa: S314  (our own picture)
    first = svg[0]
    assert (first.tag.rpartition("}")[2], first.get("fill")) == ("rect", "#fff")
    words = [each.text for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"0%", "100%"} <= {*words}


def test_the_data_of_the_page_can_be_read(screening: ScreeningReport, open_page: PageOpener) -> None:
    page = open_page(screening.report.html())
    with read_download(page) as texts:
        page.click("#save-data")
    assert json.loads(texts[0]) == json.loads(json.dumps(page_payload(screening.report)))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.slow
def test_hostile_names_are_exported_unchanged(hostile_page: str, open_page: PageOpener, tmp_path: Path) -> None:
    page = open_page(hostile_page)
    for at, name in enumerate(HOSTILE):
        change(page, model=at, parity="own")
        policy = Policy.load(export_policy(page, tmp_path))
        assert policy.columns["score"] == f"{name} "
        assert {group for (group,) in policy.by_group} == set(HOSTILE)
    with read_download(page) as texts:
        page.click("#panel-groups [data-download='csv']")
    cells = {cell for row in csv.reader(io.StringIO(texts[0])) for cell in row}
    assert all(any(cell.endswith(name) for cell in cells) for name in HOSTILE)


@pytest.mark.slow
def test_the_page_works_in_a_notebook(screening: ScreeningReport, open_page: PageOpener, tmp_path: Path) -> None:
    outer = open_page(
        "<!doctype html><html lang=en data-ready=1 data-drawn=1><title>n</title><body>"
        f"{screening.report.html(framed=True)}"
    )
    frame = outer.frame_locator("iframe")
    frame.locator("html[data-drawn='1']").wait_for(state="attached")
    shown = frame.locator("#panel-measures [data-number='sensitivity']").first
    before = shown.get_attribute("data-value")
    frame.locator("#threshold").focus()
    outer.keyboard.press("ArrowRight")
    wait_until_drawn(outer)
    assert shown.get_attribute("data-value") != before
    with read_download(outer) as texts:
        frame.locator("#export-policy").click()
    assert Policy.from_json(texts[0]).by_group
    assert outer.locator("iframe").get_attribute("sandbox") == "allow-scripts allow-downloads"
