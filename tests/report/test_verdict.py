"""Verdict of a report: decision, consequences per 1,000 people, costs, measures and warnings."""

from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Costs, Cut, Policy, RandomizedCut, Report
from baserate.report._natural_frequencies import NaturalFrequencies
from baserate.report._verdict import (
    brief_percent,
    describe_cost,
    describe_decision,
    describe_people,
    verdict,
)
from tests.report.cases import FIRES, report_of_counts, report_of_groups, report_of_scores

NORTH_SOUTH = ("north",), ("south",)
HALF = RandomizedCut((Cut((0.4,)), Cut((0.6,))), (0.5, 0.5))


def list_warnings(report: Report) -> list[str]:
    return [each.text for each in report.verdict.warnings]


def test_sentence_of_a_plan_with_costs() -> None:
    result = report_of_counts(90, 10, 40, 360, prevalence=0.02, costs=Costs(fp=1, fn=20), threshold=0.8)
    assert result.verdict.decision == "Flag scores ≥ 0.8."
    # Of 20 positives 18 are flagged, and of 980 negatives a tenth: 98. Cost: 98 + 2 · 20.
    assert result.verdict.people == (
        "Per 1,000 people at 2% prevalence: 116 flagged, 18 of them positive; 2 positive but not flagged (missed)."
    )
    assert result.verdict.costs == "Cost 138 (flag nobody 400, flag everybody 980)."
    assert dict(result.verdict.measures) == {
        "Sensitivity": "90%",
        "Specificity": "90%",
        "PPV": "16%",
        "NPV": "99.8%",
        "AUC": "0.90",
    }


def test_sentence_without_costs_and_prevalence() -> None:
    result = report_of_counts(40, 10, 5, 95, threshold=0.8).verdict
    assert result.costs == ""
    assert result.people == (
        "Per 1,000 people at the sample prevalence (33%): 299 flagged, 266 of them positive; 67 positive but not "
        "flagged (missed)."
    )
    assert result.sentence == f"{result.decision} {result.people}"


@pytest.mark.parametrize(
    ("words", "people"),
    [
        ({}, "105 flagged, 12 of them positive; 8 positive but not flagged (missed)"),
        ({"outcome": "sick"}, "105 flagged, 12 of them sick; 8 sick but not flagged (missed)"),
        (
            {"outcome": "re-offended", "flag": "detained"},
            "105 detained, 12 of them re-offended; 8 re-offended but not detained (missed)",
        ),
    ],
)
def test_words_of_the_reader(words: dict[str, str], people: str) -> None:
    cells = {"tp": 12, "fn": 8, "fp": 93, "tn": 887}
    sentence = describe_people(NaturalFrequencies(cells, cells), "at 2% prevalence", **words)
    assert sentence == f"Per 1,000 people at 2% prevalence: {people}."


@pytest.mark.parametrize(
    ("exact", "people"),
    [
        ((0, 20, 0, 980), "nobody flagged; 20 positive but not flagged (missed)"),
        ((20, 0, 980, 0), "1,000 flagged, 20 of them positive; nobody missed"),
        ((0.2, 0, 99.8, 900), "100 flagged, fewer than 1 of them positive; nobody missed"),
        ((5, 0.1, 5, 989.9), "10 flagged, 5 of them positive; fewer than 1 positive but not flagged (missed)"),
    ],
)
def test_few_and_no_people(exact: tuple[float, ...], people: str) -> None:
    cells = dict(zip(("tp", "fn", "fp", "tn"), exact, strict=True))
    whole = {name: round(each) for name, each in cells.items()}
    assert describe_people(NaturalFrequencies(cells, whole), "here") == f"Per 1,000 people here: {people}."


def test_referred_people_are_counted() -> None:
    refers = Policy(by_group={(): Cut((0.3, 0.6), ("pass", "refer", "flag"))}, otherwise="refuse")
    result = report_of_scores({0.7: (30, 10), 0.5: (10, 30), 0.1: (10, 410)}, policy=refers).verdict
    assert result.people == (
        "Per 1,000 people at the sample prevalence (10%): 80 flagged, 60 of them positive; 80 referred, 20 of them "
        "positive; 20 positive but neither flagged nor referred (missed)."
    )


@pytest.mark.parametrize(
    ("by_group", "decision"),
    [
        ({(): Cut((0.27123456,))}, "Flag scores ≥ 0.271235."),
        ({(): Cut((-2.0,))}, "Flag scores ≥ −2."),
        ({(): Cut((np.inf,))}, "Flag nobody."),
        ({(): Cut((-np.inf,))}, "Flag everybody."),
        ({(): Cut((), ("flag",))}, "Flag everybody."),
        ({(): Cut((0.3, 0.6), ("pass", "refer", "flag"))}, "Flag scores ≥ 0.6, refer scores ≥ 0.3."),
        ({(): Cut((0.4,), ("flag", "pass"))}, "Flag scores < 0.4."),
        ({(): Cut((0.4, 0.6), ("pass", "flag", "pass"))}, "Flag scores from 0.4 to 0.6."),
        ({(): HALF}, "Flag at random between two thresholds."),
        ({each: Cut((0.4,)) for each in NORTH_SOUTH}, "Flag by group-specific thresholds."),
        (dict.fromkeys(NORTH_SOUTH, HALF), "Flag by group-specific thresholds, partly at random."),
    ],
)
def test_decisions_of_all_policies(by_group: Any, decision: str) -> None:  # noqa: ANN401
    attributes = () if () in by_group else ("site",)
    assert describe_decision(Policy(by_group=by_group, otherwise="refuse", attributes=attributes)) == decision


def test_predicted_labels_have_no_auc() -> None:
    result = baserate.evaluate([1, 0, 1, 0], predicted=[1, 1, 0, 0]).verdict
    assert result.decision == "Flag by predicted labels."
    assert [name for name, _ in result.measures] == ["Sensitivity", "Specificity", "PPV", "NPV"]


def test_costs_have_as_many_decimals_as_tell_them_apart() -> None:
    assert describe_cost(0.2621, 0.4, 0.98) == "Cost 262 (flag nobody 400, flag everybody 980)."
    assert describe_cost(0.3996, 0.4, 0.98) == "Cost 399.6 (flag nobody 400.0, flag everybody 980.0)."
    assert describe_cost(0.4, 0.4, 19.6) == "Cost 400 (flag nobody 400, flag everybody 19,600)."
    assert describe_cost(0.00262, 0.004, 0.0098) == "Cost 2.62 (flag nobody 4.00, flag everybody 9.80)."
    assert describe_cost(-0.5, 0.0, 0.25) == "Cost −500 (flag nobody 0, flag everybody 250)."
    assert describe_cost(float("nan"), 0.4, 0.98) == ""


def test_halves_are_rounded_as_by_the_page() -> None:
    # f"{12.5:.0f}" is 12, and toFixed of JavaScript gives 13.
    assert brief_percent(0.125) == "13%"
    assert describe_cost(0.1125, 0.1, 0.9) == "Cost 113 (flag nobody 100, flag everybody 900)."


@pytest.mark.parametrize(
    ("cells", "banner"),
    [
        (
            (40, 10, 5, 95),
            ("caution", "150 rows (50 positive): intervals are wide; decide by their bounds, not"),
        ),
        ((10, 0, 5, 5), ("caution", "20 rows (10 positive): intervals are wide; decide by")),
        ((9, 0, 5, 995), ("serious", "1,009 rows (9 positive): intervals are wide; use these numbers only to plan a")),
        ((90, 910, 2, 1), ("serious", "1,003 rows (3 negative): intervals are wide; use these numbers only to plan a")),
        ((0, 0, 5, 95), ("serious", "100 rows (0 positive): intervals are wide; use these")),
        ((90, 10, 5, 95), None),
    ],
)
def test_banner_warns_of_few_rows(cells: tuple[int, ...], banner: tuple[str, str] | None) -> None:
    answer = report_of_counts(*cells, threshold=0.5).verdict
    if banner is None:
        assert answer.banner is None
        return
    assert answer.banner is not None
    assert (answer.banner.code, answer.banner.severity) == ("BR003", banner[0])
    assert answer.banner.text.startswith(banner[1])
    assert str(answer).startswith(answer.banner.text)
    assert answer.banner not in answer.warnings


def test_banner_can_be_ignored() -> None:
    assert report_of_counts(4, 0, 5, 95, ignore=["BR003"]).verdict.banner is None
    assert not list_warnings(report_of_counts(40, 10, 5, 95, threshold=0.8, ignore=["BR003", "BR007"]))


def test_decisions_that_cost_more_than_none_are_warned_of() -> None:
    costs = {"prevalence": 0.01, "costs": Costs(fp=1, fn=5), "ignore": ["BR007"]}
    assert list_warnings(report_of_counts(90, 10, 40, 360, threshold=0.8, **costs)) == [
        "Flagging nobody costs less (50)"
    ]
    assert list_warnings(report_of_counts(900, 100, 10, 990, threshold=0.8, **costs)) == []


def test_largest_group_difference_is_warned_of() -> None:
    text = "Sensitivity by site: s2 40%, s0 90%"
    assert text in list_warnings(report_of_groups(90, 80, 40, rows=200))
    assert text not in list_warnings(report_of_groups(90, 80, 40, rows=200, ignore=["BR011"]))
    assert not [each for each in list_warnings(report_of_groups(90, 88, rows=200)) if "by site" in each]


def test_predicted_risks_are_warned_of_at_deployment() -> None:
    sample: dict[float, tuple[int, int]] = {0.2: (80, 320), 0.8: (320, 80)}
    assert list_warnings(report_of_scores(sample)) == []
    assert list_warnings(report_of_scores(sample, prevalence=0.02)) == [
        "Predicted risks too high at 2% prevalence: O/E 0.061"
    ]
    # At its own prevalence the mean of the predictions is right, but they are too far from it.
    extreme = report_of_scores({0.1: (80, 320), 0.9: (320, 80)})
    assert list_warnings(extreme) == ["Predicted risks too extreme: calibration slope 0.63"]


def test_serious_findings_come_first_and_there_are_at_most_three() -> None:
    assert list_warnings(FIRES["BR002"][0]())[0] == "AUC is below 0.5: scores may be reversed"
    assert list_warnings(FIRES["BR018"][0]())[0].startswith("Scores were probably fitted to these rows")
    apart = FIRES["BR006"][0]()
    assert verdict(apart, apart.models[0]).warnings[0].text.startswith("Samples differ in prevalence")
    for makes in FIRES.values():
        report = makes[0]()
        assert all(len(verdict(report, model).warnings) <= 3 for model in report.models)
