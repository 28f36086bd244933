"""Findings: each code is reported where it should be and only there, in sentences whose numbers are right."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import baserate
from baserate import Costs, Cut, Finding, Policy, RandomizedCut, Report, Results
from baserate._formatting import format_number, format_p, format_percent, round_fixed, round_significant
from baserate.report import CHECKS
from baserate.report._findings import brief_area, format_short
from baserate.report._report import SEVERITIES
from baserate.report._run import find_all
from tests.report.cases import (
    FIRES,
    NEAR_MISSES,
    Make,
    list_cases,
    report_of_counts,
    report_of_groups,
    report_of_scores,
)

VERDICTS = re.compile(r"\b(un)?(fair|just|good|bad|biased|discriminat\w*|accept\w*|poor|excellent)\b", re.IGNORECASE)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]\d+)?")


def codes_of(report: Report) -> list[str]:
    return [each.code for each in report.findings]


def check_finding(finding: Finding) -> None:
    """Check that a finding has a headline with a number, and sentences without verdicts, and stores their numbers."""
    headline, sentence = finding.headline, finding.sentence
    assert sentence[0].isupper() or sentence[0].isdigit()
    assert sentence.endswith(".")
    assert headline[0].isupper() or headline[0].isdigit()
    assert not headline.endswith(".")
    values = [each for each in finding.numbers.values() if not isinstance(each, str)]
    assert all(each == each for each in values)  # noqa: PLR0124  (NaN is not)
    names = " ".join(each for each in finding.numbers.values() if isinstance(each, str))
    known = {spelling for each in values for spelling in spell_number(abs(each))} | set(NUMBER.findall(names))
    known |= {"5", "0.5", "0.05", "1", "95", "0.0001"}
    known |= {format_p(each) for name, each in finding.numbers.items() if name.endswith("_p_adjusted")}
    for text in (headline, sentence):
        assert "\n" not in text
        assert "nan" not in text.lower()
        assert not VERDICTS.search(text)
        # Levels, names of groups, reasons and classes are quoted as they are.
        plain = re.sub(
            r"[\d.]+% CI|Reasons: [^.]*\.|\b(?!p = )\w+ = \w+|site \d|class, [^,]*,| (flags|has|have) (none|all)",
            "",
            text,
        )
        assert set(NUMBER.findall(plain)) <= known, text


def spell_number(value: float) -> set[str]:
    """Return how a finding may write a number: as a percentage, an area, a count, a threshold, or points."""
    if not np.isfinite(value):
        return set()
    percentages = {format_percent(value).strip("<>% "), round_significant(100 * value, 4), *spell_decimals(100 * value)}
    numbers = {format_short(value), brief_area(value).strip("<> "), round_significant(value, 6), *spell_decimals(value)}
    return {re.sub(r"[^\d.,e+-]", "", each) for each in (percentages | numbers)}


def spell_decimals(value: float) -> set[str]:
    """Return a number with one to six decimals, or three significant digits."""
    return {format_number(value, 3), *(round_fixed(value, decimals) for decimals in range(7))}


def test_every_code_has_cases_and_near_misses() -> None:
    codes = [*(f"BR{at:03}" for at in range(1, 20)), "BR022"]
    assert [*CHECKS] == [*FIRES] == [*NEAR_MISSES] == codes
    assert all(check.code == code for code, check in CHECKS.items())
    assert all(FIRES.values())
    assert all(NEAR_MISSES.values())


@pytest.mark.parametrize(("code", "make"), list_cases(FIRES))
def test_checks_report_their_cases(code: str, make: Make) -> None:
    report = make()
    assert code in codes_of(report)
    for finding in report.findings:
        check_finding(finding)
        check = CHECKS[finding.code]
        assert (finding.title, finding.severity, finding.why, finding.remedy) == (
            *(check.title, check.severity, check.why, check.remedy),
        )
        assert (finding.model is None) == check.whole
    again = Report.from_json(report.to_json())
    assert again.findings == report.findings
    assert find_all(again) == report.findings


@pytest.mark.quick(20)
@pytest.mark.parametrize(("code", "make"), list_cases(NEAR_MISSES))
def test_checks_report_no_near_misses(code: str, make: Make) -> None:
    assert code not in codes_of(make())


TEXTS = {
    (
        "BR001",
        0,
    ): "Accuracy is 88.0% in the sample; always predicting negative reaches 90.0%. Accuracy is 88.0% (95% CI",
    (
        "BR001",
        1,
    ): "93.0% (95% CI 86.1% to 97.1%) in the sample, and its interval contains the 90.0% of always predicting",
    ("BR001", 2): "Accuracy is 94.9% (95% CI 88.7% to 98.2%) at 2% prevalence, no more than the 98.0% of",
    ("BR002", 0): "AUC is 0.20, below 0.5: the scores may be reversed. AUC is 0.200 (95% CI 0.131 to 0.292): positives",
    ("BR002", 1): "Reversed (−score), it would be 0.800 (95% CI 0.708 to 0.869).",
    ("BR003", 0): "from 10 positives. Sensitivity is 60.0% (95% CI 26.2% to 87.8%) in the sample. ±5 percentage points "
    "need about 3,660 rows like these.",
    ("BR003", 1): "from 92 flagged rows. PPV is 70.",
    ("BR003", 2): "Sensitivity is known to ±40.0 percentage points only, from 5 positives.",
    ("BR004", 1): "PPV is 14.3% in the sample, although AUC is 0.84",
    (
        "BR005",
        0,
    ): "Prevalence is 50.0% in the sample and 2% in deployment: PPV falls from 88.9% to 14.0%. Prevalence in",
    ("BR005", 1): "PPV rises from 88.9% to 98.6%",
    ("BR005", 2): "Nobody is flagged, so PPV is undefined.",
    (
        "BR006",
        0,
    ): "Prevalence is 50.0% in site 0 but 10.0% in site 1: PPV is not comparable. Prevalence is 50.0% (95% CI",
    ("BR007", 0): "Calibration error (ECE) is 40.0% in the sample, more than chance explains. A perfectly calibrated",
    ("BR007", 1): "A constant shift of the log-odds does not explain the error; the calibration slope is 0.184 (95% CI",
    ("BR007", 2): "A constant shift of the log-odds does not explain the error.",
    ("BR008", 0): "The threshold 0.8 was chosen and evaluated on the same 100 rows. The rule youden chose it",
    ("BR009", 0): "The threshold ∞ flags none of 100 rows. The flag rate at the threshold ∞ is 0% (95% CI 0% to 3.6%)",
    ("BR009", 1): "The threshold −∞ flags all of 100 rows.",
    ("BR009", 2): "The threshold 0.5 flags 0.1% of 1,000 rows.",
    ("BR009", 3): "The column of predicted labels flags all of 4 rows.",
    ("BR010", 0): "PPV is 33.3% in the sample: 66.7% of flagged rows are false alarms. PPV is 33.3% (95% CI 22.7% to "
    "45.9%) in the sample, limited by the threshold: at the threshold 0.9 it would be 85.7%, with a sensitivity of "
    "60.0% instead of 100%.",
    ("BR010", 1): "limited by the score: no threshold with at least half of the sensitivity reaches more than 33.3%.",
    (
        "BR011",
        0,
    ): "Sensitivity is 50.0 points lower in site = s1 than in site = s0. Sensitivity is 50.0 points lower "
    "in site = s1 than in site = s0 (40.0% vs 90.0%, 95% CI of the diff",
    ("BR012", 0): "2 of 2 groups have few rows; site = s0 has 29 positives. The smallest group is site = s0, with 29",
    ("BR013", 1): "100 rows with only 91 distinct scores. 10.0% of the rows share one score",
    ("BR014", 0): "1 of 4 predicted labels differs from the decision at the threshold 0.5. The threshold 0.4 gives the",
    ("BR014", 1): "3 of 4 predicted labels differ from the decision at the threshold 0.5. The threshold ∞ agrees best",
    (
        "BR015",
        0,
    ): "The positive class, 1, is the majority: 51.0% of the rows. The share of the positive class, 1, is 51.0%",
    (
        "BR015",
        1,
    ): "80.0% of the rows of site 1. The share of the positive class, 1, is 80.0% (95% CI 71.1% to 86.7%) of",
    ("BR016", 0): "1 of 4 rows (25.0%) was dropped. Reasons: truth: 1 missing; score: 1 missing. 3 of 4 rows remain.",
    ("BR017", 1): "2 of 4 rows repeat the id of another. 2 of 4 rows have the id of an earlier row",
    (
        "BR019",
        0,
    ): "The threshold 0.7 has the least p-value of all that were tried. A chi-square test of these rows gives "
    "p = 0.079 as if the threshold were fixed, and p = 0.64 adjusted for the search.",
    ("BR019", 1): "It was chosen on other rows, where its p-value was the least of many.",
    ("BR018", 0): "Calibration is perfect to 1",
    ("BR018", 3): "Each of 10 distinct scores equals the share of positives among its rows. The largest deviation of a",
}


@pytest.mark.quick(33)
@pytest.mark.parametrize("place", TEXTS, ids=lambda place: f"{place[0]}-{place[1]}")
def test_headlines_and_sentences_of_findings(place: tuple[str, int]) -> None:
    code, which = place
    (finding,) = (each for each in FIRES[code][which]().findings if each.code == code)
    assert TEXTS[place] in f"{finding.headline}. {finding.sentence}"


@pytest.mark.quick(18)
@pytest.mark.parametrize("code", [*CHECKS])
def test_headlines_have_a_number(code: str) -> None:
    for make in FIRES[code]:
        (finding,) = (each for each in make().findings if each.code == code)
        assert re.search(r"\d|∞|none|all", finding.headline)
        assert finding.headline != finding.title
        assert len(finding.headline) <= 110


def test_low_ppv_is_not_reported_of_a_strict_threshold() -> None:
    # PPV is 100% at 0.9, although average precision is low: the headline must not call PPV low.
    shares = {0.9: (3, 0), 0.8: (0, 40), 0.7: (27, 0), 0.2: (0, 430)}
    report = report_of_scores(shares, threshold=0.9)
    (finding,) = (each for each in report.findings if each.code == "BR004")
    assert re.fullmatch(r"Average precision is 0\.\d\d in the sample, although AUC is 0\.9\d", finding.headline)
    assert "PPV" not in finding.headline + finding.sentence


def test_files_of_early_releases_have_titles_as_headlines() -> None:
    report = report_of_counts(5, 5, 7, 83)
    form = json.loads(report.to_json())
    for each in form["findings"]:
        del each["headline"]
    again = Report.from_json(json.dumps(form))
    assert [each.headline for each in again.findings] == [each.title for each in report.findings]


def test_ignored_codes_are_not_reported_but_listed() -> None:
    report = report_of_counts(90, 10, 5, 95, prevalence=0.02, ignore=["BR005", "br001"])
    assert {"BR001", "BR005"}.isdisjoint(codes_of(report))
    assert "\n  Ignored: BR005 and BR001. Leave out ignore to list them.\n" in report.text()
    assert "Ignored: BR005 and BR001." in report.markdown()
    assert "Ignored" not in report_of_counts(90, 10, 5, 95, prevalence=0.02).text()


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ("BR999", "there is no finding 'BR999'. Did you mean 'BR019'?"),
        (["x"], "ignore is 'x'; expected the code of a finding, such as BR004."),
        (4, "ignore is 4; expected a name or a list of names."),
    ],
)
def test_unknown_codes_to_ignore_are_refused(codes: Any, message: str) -> None:  # noqa: ANN401  (also wrong types)
    with pytest.raises(baserate.BaserateError, match=re.escape(message)):
        report_of_counts(5, 5, 7, 83, ignore=codes)


def test_texts_contain_no_verdicts() -> None:
    for check in CHECKS.values():
        assert check.severity in SEVERITIES
        assert not VERDICTS.search(f"{check.title} {check.why} {check.remedy}")


def test_good_data_have_no_findings() -> None:
    rng = np.random.default_rng(0)
    risk = 1 / (1 + np.exp(-rng.normal(-0.6, 1.8, 2000)))
    truth = rng.random(2000) < risk
    report = baserate.evaluate(truth, risk, group={"site": rng.choice(["north", "south"], 2000)}, id=np.arange(2000))
    assert report.findings == ()


@pytest.mark.slow
def test_calibrated_scores_are_not_reported_as_overfitted() -> None:
    rng = np.random.default_rng(5)
    for at in range(60):
        rows = int(rng.choice([20, 60, 250]))
        risk = 1 / (1 + np.exp(-rng.normal(-1, 1.5, rows)))
        risk = [risk, np.round(risk, 1), np.round(risk, 2), rng.choice([0.2, 0.5, 0.8], rows)][at % 4]
        weight = rng.choice([0.5, 1.0, 3.0], rows) if at % 3 == 0 else None
        truth = rng.random(rows) < risk
        report = baserate.evaluate(truth, risk, weight=weight, positive=True, negative=False)
        assert "BR018" not in codes_of(report), (at, rows)


def test_match_probability_multiplies_binomial_probabilities() -> None:
    shares = {0.1: (4, 36), 0.3: (12, 28), 0.5: (20, 20), 0.7: (28, 12), 0.9: (36, 4)}
    wanted = np.prod([stats.binom.pmf(many, many + rest, share) for share, (many, rest) in shares.items()])
    assert finding_numbers(report_of_scores(shares), "BR018")["p"] == pytest.approx(wanted)


def test_serious_findings_come_first_and_name_their_models() -> None:
    truth = {"north": [1] * 50 + [0] * 50, "south": [1] * 10 + [0] * 90}
    score = {"north": [0.2] * 50 + [0.8] * 50, "south": [0.8] * 10 + [0.1] * 90}
    report = baserate.evaluate(truth, score, rule="youden")
    assert codes_of(report)[:2] == ["BR002", "BR006"]
    order = [SEVERITIES.index(each.severity) for each in report.findings]
    assert order == sorted(order)
    assert [each.model for each in report.findings if each.code == "BR008"] == ["north", "south"]
    assert "BR002" not in codes_of(report.of("south"))
    assert "BR006" in codes_of(report.of("south"))


def test_findings_about_rows_are_reported_once_for_all_models() -> None:
    report = baserate.evaluate(
        [1, 1, 0, 1] * 3 + [None],
        {"a": np.linspace(0.9, 0.1, 13), "b": np.linspace(0.2, 0.8, 13)},
        group=["n", "s", "n"] * 4 + ["n"],
        id=[1] * 13,
        missing="drop",
    )
    for code in ("BR012", "BR015", "BR016", "BR017"):
        assert [each.model for each in report.findings if each.code == code] == [None]


def replace_numbers(report: Report, part: str, **column: list[Any]) -> Report:
    """Replace some numbers of a report."""
    columns = {name: [*every] for name, every in report.numbers.columns.items()}
    places = [at for at, each in enumerate(columns["part"]) if each == part]
    for name, values in column.items():
        for at, value in zip(places, values, strict=True):
            columns[name][at] = value
    return replace(report, numbers=Results(columns, report.numbers.data))


@pytest.mark.parametrize(
    ("p", "named"),
    [
        ([0.08, 0.08, 0.08], ()),
        ([0.04, None, 0.06], ("flag_rate",)),
        ([0.06, 0.01, 0.049], ("sensitivity", "precision")),
    ],
)
def test_groups_that_differ_significantly_are_named(p: list[float | None], named: tuple[str, ...]) -> None:
    measured = ["flag_rate", "sensitivity", "precision"]  # fpr of 10 in 50 is alike, and is left out
    report = replace_numbers(report_of_groups(45, 20), "group_differences", p_adjusted=[p[0], p[1], None, p[2]])
    said = CHECKS["BR011"].find(report)
    result = [name for name in measured if said and f"{name}[site = s1]" in said.numbers]
    assert tuple(result) == named
    loose = replace(report, plan=replace(report.plan, level=0.9))
    assert CHECKS["BR011"].find(loose) is not None


@pytest.mark.slow
def test_p_values_of_groups_are_adjusted_over_groups_and_measures() -> None:
    report = report_of_groups(45, 20, 30, 44)
    rows = report.group_differences.rows()
    assert len(rows) == 3 * 4
    assert {row["other_group"]["site"] for row in rows} == {"s0"}
    tested = [row for row in rows if row["p"] is not None]
    wanted = multipletests([row["p"] for row in tested], method="holm")[1]
    assert [row["p_adjusted"] for row in tested] == pytest.approx(wanted.tolist())
    named = {name for name in finding_numbers(report, "BR011") if name.endswith("]")}
    assert named == {f"{row['measure']}[site = {row['group']['site']}]" for row in tested if row["p_adjusted"] < 0.05}


def report_with_tiny_group() -> Report:
    """Two large groups whose false positive rates are 0.5 and 0.3, and a tiny one at 4 of 6: the farthest apart."""
    cells = {"a": (560, 240, 400, 400), "b": (490, 210, 210, 490), "c": (4, 2, 4, 2)}
    truth, score, race = [], [], []
    for name, many in cells.items():
        truth += np.repeat([1, 1, 0, 0], many).tolist()
        score += np.repeat([0.8, 0.2, 0.8, 0.2], many).tolist()
        race += [name] * sum(many)
    return baserate.evaluate(truth, score, group={"race": race}, positive=1)


def test_tiny_groups_do_not_hide_differences_between_large_ones() -> None:
    report = report_with_tiny_group()
    said = finding_numbers(report, "BR011")
    assert said["fpr[race = b]"] == pytest.approx(0.3 - 0.5)
    assert said["fpr[race = b]_reference"] == "race = a"
    assert said["fpr[race = b]_p_adjusted"] < 1e-10
    assert not any("race = c" in name for name in said)
    (tiny,) = report.select(part="group_differences", measure="fpr", group={"race": "c"})
    assert (tiny["p"], tiny["p_adjusted"]) == (None, None)
    assert tiny["why"] == "not tested: race = c has 6 negatives, fewer than the minimum of 50"
    (gap,) = report.select(part="gaps", measure="fpr")
    assert gap["value"] == pytest.approx(0.2)
    output = " ".join(report.text().split())
    assert "FPR is 20.0 points lower in race = b than in race = a (30.0% vs 50.0%, 95% CI" in output
    assert "Holm-adjusted p: over all" in output
    assert "comparisons are not tested: a group has fewer than 50 rows for the measure" in output
    again = Report.from_json(report.to_json())
    assert again.group_differences.rows() == report.group_differences.rows()


def test_small_groups_are_not_tested() -> None:
    report = report_of_groups(10, 2, rows=28)
    assert "BR011" not in codes_of(report)
    rows = report.select(part="group_differences", measure="sensitivity")
    assert [row["p"] for row in rows] == [None]
    assert report.select(part="gaps", measure="sensitivity")[0]["value"] is None


def finding_numbers(report: Report, code: str) -> dict[str, Any]:
    (finding,) = (each for each in report.findings if each.code == code)
    return dict(finding.numbers)


def test_reversed_scores_have_the_reported_auc() -> None:
    truth, score = np.array([1, 0] * 30), np.array([0.2, 0.8, 0.3, 0.7, 0.6, 0.5] * 10)
    said = finding_numbers(baserate.evaluate(truth, score), "BR002")
    turned = baserate.evaluate(truth, 1 - score).here.auc
    assert [said[f"reversed_auc{end}"] for end in ("", "_low", "_high")] == pytest.approx(
        [turned.value, turned.low, turned.high]
    )


@pytest.mark.parametrize(
    ("cells", "more"),
    [((6, 4, 4, 86), {}), ((900, 100, 20, 9), {}), ((6, 0, 4, 90), {}), ((45, 5, 1, 49), {"prevalence": 0.1})],
)
def test_reported_number_of_rows_gives_the_target_width(cells: tuple[int, ...], more: dict[str, float]) -> None:
    small = report_of_counts(*cells, **more)
    said = finding_numbers(small, "BR003")
    measure = next(name for name in ("sensitivity", "specificity", "precision") if name in said)
    if measure == "precision":  # rows drawn there, as many as are expected of each kind
        counts = small.there.counts
        cells = tuple(round(1000 * each) for each in (counts.tp, counts.fn, counts.fp, counts.tn))
    times = said["rows_needed"] / sum(cells)
    result = getattr(report_of_counts(*(round(times * each) for each in cells)).here, measure)
    assert (result.high - result.low) / 2 == pytest.approx(0.05, abs=0.002)


def test_probabilities_adjusted_to_the_reported_prevalence_are_calibrated() -> None:
    truth = np.repeat([1, 0, 1, 0], [20, 180, 100, 100])
    score = np.repeat([0.5, 0.9], 200)
    said = finding_numbers(baserate.evaluate(truth, score), "BR007")
    output = baserate.shift.reprior(score, sample_prevalence=said["derived_prevalence"], prevalence=said["prevalence"])
    assert "BR007" not in codes_of(baserate.evaluate(truth, output))
    assert output.mean() == pytest.approx(truth.mean())


@pytest.mark.slow
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=2, max_size=40))
def test_attainable_precision_by_brute_force(rows: list[tuple[bool, int]]) -> None:
    truth, score = np.array([each for each, _ in rows]), np.array([each / 10 for _, each in rows])
    flagged = score >= 0.5
    report = baserate.evaluate(truth, score, positive=True, negative=False)
    if not flagged.any() or truth[flagged].mean() >= 0.5 or not truth.any():
        assert "BR010" not in codes_of(report)
        return
    said = finding_numbers(report, "BR010")
    result = truth[flagged].sum()
    kept = [score >= cut for cut in score if truth[score >= cut].sum() >= max(result / 2, 1)]
    best = max(truth[each].mean() for each in kept)
    assert said["best_precision"] == pytest.approx(best)
    assert ("other_threshold" in said) == (best - truth[flagged].mean() >= 0.1)


FOUR: dict[str, Any] = {"truth": [1, 0, 1, 0], "score": [0.9, 0.6, 0.4, 0.1]}
RANDOMIZED = RandomizedCut((Cut((0.3,)), Cut((0.7,))), (0.5, 0.5))
SEPARATE: dict[tuple[object, ...], Cut | RandomizedCut] = {("a",): Cut((0.3,)), ("b",): Cut((0.7,))}
DEGENERATE: dict[str, dict[str, Any]] = {
    "negatives alone": {"truth": [0] * 4, "score": [0.1, 0.2, 0.3, 0.4], "positive": 1},
    "positives alone": {"truth": [1] * 4, "score": [0.1, 0.2, 0.3, 0.4], "positive": 1},
    "one row": {"truth": [1], "score": [0.5]},
    "constant scores": {"truth": [1, 0, 1, 0], "score": [0.5] * 4, "prevalence": 0.1},
    "constant scores of no scale": {"truth": [1, 0, 1, 0], "score": [1e9] * 4},
    "four rows": FOUR | {"group": ["a", "a", "b", "b"]},
    "groups of one class": FOUR | {"group": ["a", "b", "a", "b"], "prevalence": 0.2},
    "all flagged": FOUR | {"threshold": 0.1},
    "weights": FOUR | {"weight": [0.5, 0, 2e6, 1e-9], "prevalence": 0.3},
    "counts": FOUR | {"count": [10**6, 0, 1, 7]},
    "infinite cut": FOUR | {"threshold": np.inf, "prevalence": 0.001},
    "labels alone": {"truth": [1, 0, 1, 0], "predicted": [1, 1, 0, 0], "group": ["a", "a", "b", "b"]},
    "rare beyond measure": FOUR | {"prevalence": 1e-12, "level": 0.999999},
    "perfectly wrong": {"truth": [1, 0] * 20, "score": [0.0, 1.0] * 20, "costs": Costs(fp=1, fn=1)},
    "by lot": FOUR | {"policy": Policy(by_group={(): RANDOMIZED}, otherwise="refuse")},
    "cut apart": FOUR
    | {
        "group": {"site": ["a", "a", "b", "b"]},
        "predicted": [1, 0, 0, 0],
        "id": [1, 1, 1, 1],
        "policy": Policy(by_group=SEPARATE, otherwise="refuse", attributes=("site",)),
    },
}


@pytest.mark.quick(6)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_rows_have_findings_without_an_error(name: str) -> None:
    report = baserate.evaluate(**DEGENERATE[name])
    assert report.findings
    for finding in report.findings:
        check_finding(finding)
    assert Report.from_json(report.to_json()).findings == report.findings


@pytest.mark.slow
def test_many_models_in_many_groups() -> None:
    rng = np.random.default_rng(2)
    truth, site = rng.random(400) < 0.4, np.arange(400) % 25
    report = baserate.evaluate(truth, {f"m{at}": rng.random(400) for at in range(3)}, group={"site": site})
    small = finding_numbers(report, "BR012")
    assert (small["small"], small["groups"]) == (25, 25)
    assert {each.model for each in report.findings if each.code == "BR001"} == {f"m{at}" for at in range(3)}


@st.composite
def evaluate_arguments(draw: st.DrawFn) -> dict[str, Any]:
    """Draw arguments of `evaluate`: a small data set of both classes, with any options."""
    rows = draw(st.integers(2, 12))
    some = st.lists(st.booleans(), min_size=rows, max_size=rows)
    truth = draw(some.filter(lambda each: len({*each}) == 2))
    probable = st.sampled_from([0.0, 1e-9, 0.1, 0.5, 0.9, 1.0])
    real = st.floats(-1e6, 1e6)
    output: dict[str, Any] = {
        "truth": truth,
        "score": draw(st.lists(draw(st.sampled_from([probable, real])), min_size=rows, max_size=rows)),
    }
    optional: dict[str, st.SearchStrategy[Any]] = {
        "group": st.lists(st.sampled_from("ab"), min_size=rows, max_size=rows),
        "weight": st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=rows, max_size=rows),
        "predicted": some,
        "id": st.lists(st.integers(0, 9), min_size=rows, max_size=rows),
        "prevalence": st.sampled_from([1e-6, 0.02, 0.5, 0.9]),
        "threshold": st.sampled_from([-np.inf, 0.0, 0.1, 0.5, np.inf]),
        "level": st.sampled_from([0.5, 0.999]),
    }
    return output | {name: draw(each) for name, each in optional.items() if draw(st.booleans())}


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 3)
@given(evaluate_arguments())
def test_any_rows_have_a_report_with_well_formed_findings(arguments: dict[str, Any]) -> None:
    report = baserate.evaluate(**arguments)
    for finding in report.findings:
        check_finding(finding)
    assert Report.from_json(report.to_json()).findings == report.findings
    order = [SEVERITIES.index(each.severity) for each in report.findings]
    assert order == sorted(order)
