"""Prevalences on the page: those of groups equal those of Python, and every number states its prevalence."""

from __future__ import annotations

import ast
import shlex
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page as BrowserPage

import baserate
from baserate import Costs, Cut, Plan, Policy, Report, shift
from baserate.population import simulate_screening
from baserate.report._page import page_payload
from tests.cli.shell import plan_of
from tests.report.page.browser import PageOpener, change, panel_numbers
from tests.report.page.node import Page
from tests.report.page.pages import two_model_report

STATED = {"north": 0.01, "coast": 0.06}
"""Groups with a prevalence of their own; hill keeps that of the sample."""
BY_SITE = Policy(
    by_group={("coast",): Cut((0.2,)), ("hill",): Cut((0.4,)), ("north",): Cut((0.3,))},
    otherwise="refuse",
    attributes=("site",),
)
RATES = ("prevalence", "flag_rate", "sensitivity", "fpr", "precision", "npv", "accuracy", "f1", "mcc")
DECISIONS = ("flag_rate", "sensitivity", "specificity", "precision", "npv", "accuracy", "f1", "mcc")


def group_report(**more: Any) -> Report:  # noqa: ANN401  (fields of a plan)
    people = simulate_screening(rows=2000)
    table = {"sick": people.sick, "risk": people.risk, "site": people.site}
    return baserate.run(Plan(truth="sick", score="risk", group="site", prevalence=STATED, **more), table)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "more",
    [{"costs": Costs(fp=1, fn=20)}, {"threshold": 0.3}, {"policy": BY_SITE}],
    ids=["least cost", "fixed threshold", "policy by group"],
)
def test_groups_have_the_prevalences_stated_for_them(more: dict[str, Any]) -> None:
    report = group_report(**more)
    page = Page("view.js", "core.js")
    book = page.keep("loadReport", page_payload(report))
    view = page.keep("makeView", book, page.keep("planState", book, 0))
    sample = page.keep("makeView", book, {**plan_state(report), "prevalence": None})
    for name in DECISIONS:
        page.expect(getattr(report.there, name).value, f"MEASURES.{name}", view.part("everybody"))
        page.expect(getattr(report.here, name).value, f"MEASURES.{name}", sample.part("everybody"))
        for at, group in enumerate(report.groups):
            own = report.within(**group)
            page.expect(getattr(own.there, name).value, f"MEASURES.{name}", view.part("groups", at, "counts"))
            page.expect(getattr(own.here, name).value, f"MEASURES.{name}", sample.part("groups", at, "counts"))
    page.check(within=1e-9)


def plan_state(report: Report) -> dict[str, Any]:
    at = report.policy.flags_from
    parity = "planned" if at is None else "single"
    shared = {"model": 0, "who": -1, "fp": 1, "fn": 1, "parity": parity}
    return {**shared, "threshold": 0.3 if at is None else at}


def test_a_moved_prevalence_changes_the_odds_of_all_groups_by_one_factor() -> None:
    report = group_report(threshold=0.3)
    assert report.prevalence is not None
    page = Page("view.js", "core.js")
    book = page.keep("loadReport", page_payload(report))
    view = page.keep("makeView", book, {**plan_state(report), "prevalence": 0.2})
    page.expect(0.2, "MEASURES.prevalence", view.part("everybody"))
    for at in range(len(report.groups)):
        page.ask("MEASURES.prevalence", view.part("groups", at, "counts"))
    result = [each for each in page.check(within=1e-9) if isinstance(each, float)][1:]
    stated = [report.within(**group).there.prevalence.value for group in report.groups]
    factors = [(new / (1 - new)) / (old / (1 - old)) for new, old in zip(result, stated, strict=True)]
    assert factors == pytest.approx([factors[0]] * 3, rel=1e-6)
    assert factors[0] > 1


def test_scores_of_a_decision_curve_are_adjusted_from_the_sample() -> None:
    report = group_report(threshold=0.3)
    assert report.prevalence is not None
    page = Page("view.js", "curves.js")
    book = page.keep("loadReport", page_payload(report))
    view = page.keep("makeView", book, page.keep("planState", book, 0))
    sample = report.here.prevalence.value
    for probability in (0.02, 0.1, 0.5):
        wanted = shift.reprior_threshold(probability, sample_prevalence=sample, prevalence=report.prevalence)
        page.expect(float(wanted), "unadjustedScore", probability, view.part("adjustment"))
    page.check(within=1e-9)


def test_copied_code_contains_prevalences_of_groups() -> None:
    report = group_report(threshold=0.3)
    page = Page("view.js", "export.js")
    book = page.keep("loadReport", page_payload(report))
    view = page.keep("makeView", book, page.keep("planState", book, 0))
    page.ask("commandOf", view)
    page.ask("pythonOf", view)
    command, python = [each for each in page.answers() if isinstance(each, str)]
    result = plan_of(*shlex.split(command)[2:]).prevalence
    expected = {group["site"]: report.within(**group).there.prevalence.value for group in report.groups}
    assert result == pytest.approx(expected, rel=1e-9)
    (call,) = [each for each in ast.walk(ast.parse(python)) if isinstance(each, ast.Call) and each.keywords]
    written = {each.arg: each.value for each in call.keywords}
    assert ast.literal_eval(written["prevalence"]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("prevalence", "measure", "where"),
    [
        (None, "ece", "here"),
        (0.02, "ece", "there"),
        (0.02, "auc", "there"),
        (0.3, "auc", "here"),  # ranks within both classes are the same at any prevalence of everybody
        (0.3, "ece", None),
        (0.3, "average_precision", None),
    ],
)
def test_measures_of_scores_are_shown_only_at_computed_prevalences(
    prevalence: float | None, measure: str, where: str | None
) -> None:
    report = two_model_report()
    page = Page("view.js")
    book = page.keep("loadReport", page_payload(report))
    state = {"model": 0, "who": -1, "threshold": 0.3, "fp": 1, "fn": 20, "parity": "single", "prevalence": prevalence}
    page.ask("currentNumber", page.keep("makeView", book, state), measure)
    result = page.answers()[-1]
    if where is None:
        assert result is None
    else:
        assert result["value"] == getattr(getattr(report.of("risk"), where), measure).value


def test_one_measure_has_one_value_at_one_prevalence(open_page: PageOpener) -> None:
    report = two_model_report()
    page = open_page(report.html())
    for prevalence, place, words in ((0.02, "there", "at 2% prevalence"), (None, "here", "in the sample (")):
        change(page, prevalence=prevalence)
        models, measures = panel_numbers(page, "models"), panel_numbers(page, "measures")
        for name in ("auc", "average_precision", "brier"):
            wanted = [getattr(getattr(report.of(model), place), name).value for model in report.models]
            assert models[name] == pytest.approx(wanted, rel=1e-9)
            assert measures[name] == pytest.approx(wanted[:1], rel=1e-9)
        average = getattr(report.of("risk"), place).average_precision.value
        assert f"AP {average:.4f}" in page.inner_text("#panel-pr")
        error = getattr(report.of("risk"), place).ece.value
        assert f"ECE {100 * error:.1f}%" in page.inner_text("#panel-reliability")
        for panel in ("measures", "models", "groups", "reliability", "pr", "thresholds"):
            assert words in page.inner_text(f"#panel-{panel}"), (panel, words)


@pytest.mark.slow
def test_sample_prevalence_is_marked_where_groups_have_their_own(open_page: PageOpener) -> None:
    report = group_report(threshold=0.3)
    page = open_page(report.html())
    assert f"prevalence in the sample: {100 * report.here.prevalence.value:.1f}" in page.inner_text("#panel-prevalence")
    assert f"selected prevalence: {100 * (report.prevalence or 0):.1f}" in page.inner_text("#panel-prevalence")


def shown_differences(page: BrowserPage) -> dict[str, float]:
    """Return the differences of a page with two models by measure, and check that its tables have them."""
    numbers = page.evaluate("() => baserate.numbers()")
    stated = {each["measure"]: each["value"] for each in numbers if "other" in each}
    page.locator("#panel-models details:not(.how):not(.table)").evaluate("each => { each.open = true; }")
    page.wait_for_selector("#panel-models [data-number^='difference ']")
    listed = panel_numbers(page, "models")
    assert {f"difference {name}": [value] for name, value in stated.items()}.items() <= listed.items()
    return stated


def test_differences_are_of_the_table_above_them(open_page: PageOpener) -> None:
    page = open_page(two_model_report().html())
    change(page, threshold=0.6)  # the planned thresholds stay
    models, differences = panel_numbers(page, "models"), shown_differences(page)
    for name in ("auc", "sensitivity", "specificity"):
        risk, old = models[name][:2]
        assert differences[name] == pytest.approx(risk - old, abs=1e-9), name
    assert "These differences stay those of the plan." in page.inner_text("#panel-models")
    # In the last table all models flag the same share, as near as their scores allow.
    share, other = models["flag_rate"][2:]
    assert other <= share + 1e-12
    assert share != models["flag_rate"][0]


def test_groups_show_their_prevalences_and_both_gaps(open_page: PageOpener) -> None:
    report = two_model_report().of("risk")
    page = open_page(two_model_report().html())
    shown = panel_numbers(page, "groups")
    wanted = [report.within(**group).there.prevalence.value for group in report.groups]
    assert shown["prevalence"] == pytest.approx(wanted, rel=1e-9)
    output = page.inner_text("#panel-groups")
    (gap,) = report.select(part="gaps", measure="flag_rate")
    assert "the odds of the base rates, multiplied by the same factor in every group" in output
    assert f"In the sample: flag rate {100 * gap['value']:.1f}".removesuffix(".0") in output


def test_differences_are_those_of_compare(open_page: PageOpener) -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(300) < 0.4
    scores = {name: 1 / (1 + np.exp(-(weight * truth + rng.normal(size=300)))) for name, weight in (("a", 2), ("b", 1))}
    page = open_page(baserate.evaluate(truth, scores, prevalence="5%", fp=1, fn=5).html())
    shown, text = shown_differences(page), page.inner_text("#panel-models")
    wanted = baserate.compare(truth, scores, prevalence="5%", fp=1, fn=5)
    for row in wanted.rows():
        assert shown[row["measure"]] == pytest.approx(row["difference"], rel=1e-12)
    assert "Differences at the planned thresholds, at 5% prevalence" in text
    assert "Net benefit" in text
    assert "The controls differ from the plan" not in text
    change(page, threshold=0.6)
    assert shown_differences(page) == shown
    assert "The controls differ from the plan" in page.inner_text("#panel-models")
