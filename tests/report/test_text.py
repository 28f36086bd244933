"""Text of a report: natural frequencies, headline numbers, findings and next commands."""

import re
import shlex
from dataclasses import replace
from textwrap import dedent
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

import baserate
from baserate import Costs, Cut, Policy
from baserate._formatting import format_percent, strip_styles
from baserate.report import Finding, Report
from baserate.report._commands import next_commands
from baserate.report._natural_frequencies import NEGATIVES, POPULATION, POSITIVES, apportion, natural_frequencies
from baserate.report._report import Snippet
from baserate.report._text import report_page
from baserate.text._tables import display_width

FALLING = Finding(
    code="BR005",
    title="Precision falls",
    severity="serious",
    headline="PPV falls to 11.0%",
    sentence="At a prevalence of 2%, precision is 0.11, not 0.30.",
    why="Those who are flagged are mostly negative there.",
    remedy="judge it at the prevalence of the place where it will be used.",
    model="risk",
)
WIDTHS = (40, 60, 80, 100, 120)


def make_report(rows: int = 300, **more: Any) -> Report:  # noqa: ANN401  (keywords of evaluate)
    rng = np.random.default_rng(12)
    sick = rng.random(rows) < 0.3
    scores = {
        name: np.round(1 / (1 + np.exp(1.2 - pull * sick - rng.normal(size=rows))), 3)
        for name, pull in (("risk", 2.0), ("old", 0.5))
    }
    kept = {name: scores[name] for name in more.pop("models", ("risk",))}
    return baserate.evaluate(sick, kept, **more)


def random_scores(seed: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).random(300)


def join_lines(text: str) -> str:
    return " ".join(text.split())


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=6), st.integers(0, 5000))
def test_people_are_apportioned_by_largest_remainders(shares: list[float], many: int) -> None:
    whole, total = apportion(shares, many), sum(shares)
    if total == 0:
        return
    assert sum(whole) == many
    assert all(abs(each - many * share / total) < 1 + 1e-6 for each, share in zip(whole, shares, strict=True))


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=4, max_size=60), st.floats(0.0001, 0.9999))
def test_natural_frequencies_add_up(rows: list[tuple[bool, int]], share: float) -> None:
    truth, score = [*(each for each, _ in rows), True, False], [*(each / 10 for _, each in rows), 0.9, 0.1]
    policy = Policy(by_group={(): Cut((0.3, 0.6), ("pass", "refer", "flag"))}, otherwise="refuse")
    result = natural_frequencies(baserate.evaluate(truth, score, prevalence=share, policy=policy).there)
    assert sum(result.whole.values()) == POPULATION
    positives = sum(result.whole[cell] for cell in POSITIVES)
    assert abs(positives - POPULATION * share) <= 0.5 + 1e-6
    assert positives + sum(result.whole[cell] for cell in NEGATIVES) == POPULATION
    assert all(abs(result.whole[cell] - result.exact[cell]) < 1.5 + 1e-6 for cell in result.exact)
    assert all((result.format_cells(cell) == "0") == (result.exact[cell] == 0) for cell in result.exact)


def matrix_of(report: Report, width: int = 100) -> list[list[str]]:
    """The confusion matrix of 1,000 people, without names."""
    rows = [
        line.strip().split("  ") for line in report.text(width).splitlines() if re.match(r"  .* {2,}<?[\d,]+$", line)
    ]
    return [[each.strip() for each in row[1:] if each] for row in rows][-3:]


def test_natural_frequencies_by_hand() -> None:
    # 3 of 4 positives and 1 of 4 negatives are flagged; of 1,000, 20 are positive.
    report = baserate.evaluate([1, 1, 1, 1, 0, 0, 0, 0], [0.9, 0.8, 0.7, 0.1, 0.6, 0.3, 0.2, 0.1], prevalence=0.02)
    assert "\nPer 1,000 people at 2% prevalence:\n" in report.text()
    assert matrix_of(report) == [["15", "5", "20"], ["245", "735", "980"], ["260", "740", "1,000"]]


def test_text_begins_with_the_verdict() -> None:
    report = make_report(prevalence=0.02, costs=Costs(fp=1, fn=20))
    headline, verdict, numbers = report.text(100).split("\n\n")[:3]
    assert headline.startswith("300 rows · positive: truth = True · sample prevalence 33.7% (28.6% to 39.2%)")
    assert verdict.splitlines()[0] == "Verdict"
    assert report.verdict.sentence in join_lines(verdict)
    assert f"\n  {report.verdict.measure_line}\n" in verdict
    assert (
        "\n  Rule: least cost with FP\N{NO-BREAK SPACE}1, FN\N{NO-BREAK SPACE}20, at a prevalence of 2%.\n" in verdict
    )
    assert [line.removeprefix("  ! ") for line in verdict.splitlines() if line.startswith("  ! ")] == [
        warning.text for warning in report.verdict.warnings
    ]
    assert numbers.startswith("Performance ")


def test_banner_stands_above_the_decision() -> None:
    report = make_report(15)
    assert report.verdict.banner
    first, *_ = join_lines(report.text(80)).partition("Verdict ")[2].split(" Flag scores")
    assert first == f"!! {report.verdict.banner.text}"
    assert f"\n\n**Serious:** {report.verdict.banner.text}\n\nFlag scores" in report.markdown().replace("\\", "")
    assert f"Serious: {report.verdict.banner.text}" in report._repr_html_()


def test_words_of_the_reader() -> None:
    names: dict[str, Any] = {
        "outcome_name": "ill",
        "flag_name": "recalled",
        "title": "Screening",
        "model_labels": {"risk": "Model A"},
    }
    report = make_report(models=("risk", "old"), **names)
    assert report.text().startswith("Screening · 300 rows · ")
    assert "\nVerdict: Model A\n" in report.text()
    assert re.search(r"\n {20,}Model A +old\n", report.text())
    assert "\nModel A − old, each at its own threshold, in the sample:\n" in report.text(100)
    assert " BR001 Model A: Accuracy is" in report.text(200) or " BR007 Model A: Calibration" in report.text(200)
    one = make_report(**names | {"model_labels": None})
    assert re.search(r"\n +recalled +not recalled +total\n  ill \(truth = True\) .*\n  not ill \(truth", one.text(100))
    assert "Flag scores ≥ 0.5. Per 1,000 people" in join_lines(one.text())
    with pytest.raises(baserate.BaserateError, match=r"there is no model 'new'\. Known are: risk\."):
        make_report(model_labels={"new": "Model A"})


def test_text_names_the_sample_prevalence_by_default() -> None:
    output = baserate.evaluate([1, 0, 0, 0], [0.9, 0.6, 0.4, 0.1]).text()
    assert "\nPer 1,000 people at the sample prevalence (25%):\n" in output
    assert "\n  PPV (precision) in the sample  " in output


def test_fractions_of_a_person_are_fewer_than_one() -> None:
    report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.0001)
    assert "fewer than 1 of them positive; fewer than 1 positive but not flagged" in join_lines(report.text())
    assert matrix_of(report)[0] == ["<1", "<1", "<1"]


def test_text_where_nobody_is_flagged() -> None:
    output = join_lines(baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], threshold=2).text())
    assert "nobody flagged; 500 positive but not flagged (missed)." in output
    assert "¹ nothing is flagged" in output


def test_referred_people_have_a_column() -> None:
    policy = Policy(by_group={(): Cut((0.3, 0.6), ("pass", "refer", "flag"))}, otherwise="refuse")
    output = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], policy=policy).text()
    assert "flagged  referred  not flagged  total" in output
    assert "Flag scores ≥ 0.6, refer scores ≥ 0.3." in output
    assert "Rates of decisions exclude referred people" in join_lines(output)


@pytest.mark.parametrize("more", [{"costs": Costs(fp=1, fn=20), "prevalence": 0.02}, {}])
def test_headline_numbers_are_those_of_the_report(more: dict[str, Any]) -> None:
    report = make_report(**more)
    lines = {line[2:].partition("  ")[0]: line for line in report.text(120).splitlines() if line.startswith("  ")}
    there, at = report.there, "at 2% prevalence" if more else "in the sample"
    rates = {"Sensitivity (recall)": there.sensitivity, "Specificity": there.specificity}
    rates |= {f"PPV (precision) {at}": there.precision, f"NPV {at}": there.npv, f"Flag rate {at}": there.flag_rate}
    rates |= {"PPV (precision) in the sample": report.here.precision}
    for name, each in rates.items():
        numbers = re.findall(r"[\d.]+%", lines[name].removeprefix(f"  {name}"))
        assert numbers == [format_percent(end) for end in (each.value, each.low, each.high)], name
    for name, each in {"AUC": report.here.auc, f"O/E {at}": there.observed_expected}.items():
        numbers = re.findall(r"\d\.\d+", lines[name])
        assert [float(number) for number in numbers] == pytest.approx([each.value, each.low, each.high], abs=1e-3)
    if more:
        assert f"{1000 * there.expected_cost.value:.4g}" in lines["Cost per 1,000 people at 2% prevalence"]


def test_percentages_follow_the_digits() -> None:
    report = make_report()
    page = strip_styles(report_page(report, 6).text(100))
    assert re.search(rf"Sensitivity \(recall\) +{100 * report.here.sensitivity.value:.3f}% ", page)
    page = strip_styles(report_page(report, 2).text(100))
    assert re.search(rf"Sensitivity \(recall\) +{100 * report.here.sensitivity.value:.0f}% ", page)


def test_definitions_and_methods_are_shown_on_request() -> None:
    report = make_report(prevalence=0.02)
    brief, full = report.text(100), report.text(100, explain=True)
    assert brief.endswith("\nIntervals: 95% confidence. Methods and definitions: text(explain=True).\n")
    assert "Share of positives that are flagged" not in brief
    assert "Share of positives that are flagged" in full
    assert "DeLong on log-odds for AUC" in join_lines(full)
    assert "DeLong" not in brief
    assert "Methods and definitions" not in full
    finding = report.findings[0]
    assert finding.why not in join_lines(brief)
    assert finding.why in join_lines(full)
    assert join_lines(finding.why) in join_lines(report.markdown().replace("\\", ""))
    assert "Methods and definitions" not in report.markdown()


def test_reasons_of_undefined_numbers_always_stay() -> None:
    report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], threshold=2)
    for explain in (False, True):
        assert "¹ nothing is flagged" in report.text(80, explain=explain)


def test_notes_stand_below_the_results() -> None:
    output = make_report(group={"site": ["a", "b", "c"] * 100}, prevalence=0.1).text(80)
    last = output.rpartition("\n\n")[2]
    assert join_lines(last).startswith(
        "Prevalences of groups: the odds of being positive are multiplied by the same factor"
    )
    assert "Holm-adjusted p: over all" in last
    assert re.search(r"\nDigest of the data [0-9a-f]{12}, baserate ", last)
    assert last.splitlines()[-1].startswith("Intervals: 95% confidence.")


def test_npv_is_listed_for_scores_that_are_no_probabilities() -> None:
    output = baserate.evaluate([1, 0, 1, 0, 1, 0], [9, 6, 4, 1, 8, 2], prevalence=0.1).text()
    assert "\n  NPV at 10% prevalence " in output
    assert "O/E" not in output
    assert "Default threshold: that of Youden's index." in join_lines(output)


def test_predicted_labels_have_no_rank_measures() -> None:
    output = baserate.evaluate([1, 0, 1, 0], predicted=[1, 0, 0, 0]).text()
    assert "\n  Flag by predicted labels. Per 1,000 people" in output
    assert "\n  Flag rate in the sample " in output
    assert "AUC" not in output


def test_models_are_columns_with_their_differences_below() -> None:
    report = make_report(models=("risk", "old"))
    output = report.text(100)
    assert re.search(r"\n {20,}risk +old\n  True positives ", output)
    assert "risk − old, each at its own threshold, in the sample:" in output
    difference = report.select(part="differences", measure="auc")[0]
    assert re.search(rf"\n +AUC +{difference['value']:.4f} .* < 0\.0001 +< 0\.0001\n", output)
    assert "DeLong, paired for differences of AUC" in join_lines(report.text(100, explain=True))
    assert [line for line in output.splitlines() if line.startswith("Verdict")] == ["Verdict: risk", "Verdict: old"]


def test_groups_at_the_sample_prevalence_and_number_of_omitted_ones() -> None:
    site = np.array([f"site {at % 15:02}" for at in range(300)])
    report = make_report(group={"site": site}, prevalence=0.02)
    output = report.text(100)
    assert "\n3 more groups not listed; JSON and CSV contain all.\n" in output
    assert "site 11" in output
    assert "site 12" not in output
    counts = report.within(site="site 00").here.counts
    line = next(line for line in output.splitlines() if "site 00" in line)
    assert f" {format_percent(counts.fp / (counts.fp + counts.tn))} " in line
    assert line.split()[2] == "20"


def test_findings_contain_remedies() -> None:
    report = replace(make_report(), findings=(FALLING, replace(FALLING, code="BR011", severity="note")))
    output = report.text(60)
    assert (
        "  !! BR005 PPV falls to 11.0%\n    At a prevalence of 2%, precision is 0.11, not 0.30.\n    → judge it"
        in output
    )
    assert "  · BR011 PPV falls to 11.0%\n" in output
    assert "- **Serious: BR005 PPV falls to 11.0%** At a prevalence" in report.markdown()
    assert "Findings: none." in replace(make_report(), findings=()).text()


def test_findings_name_their_model_where_there_are_several() -> None:
    report = replace(make_report(models=("risk", "old")), findings=(FALLING, replace(FALLING, model=None)))
    heads = [line for line in report.text().splitlines() if "BR005" in line]
    assert heads == ["  !! BR005 risk: PPV falls to 11.0%", "  !! BR005 PPV falls to 11.0%"]


def test_severities_are_colored_on_terminals_only() -> None:
    report = replace(make_report(15), findings=(FALLING, replace(FALLING, severity="caution")))
    colored = report_page(report).text(80)
    assert "\n  \x1b[1;31m!!\x1b[0m 15 rows" in colored
    assert "\n  \x1b[1;31m!!\x1b[0m \x1b[1mBR005 PPV falls to 11.0%\x1b[0m\n" in colored
    assert "\n  \x1b[1;33m!\x1b[0m \x1b[1mBR005 PPV falls to 11.0%\x1b[0m\n" in colored
    assert strip_styles(colored).replace("add --explain", "text(explain=True)") == report.text(80)


@pytest.mark.quick(2)
@pytest.mark.parametrize("width", WIDTHS)
def test_lines_fit_the_width(width: int) -> None:
    site = np.array(["north", "the far south"] * 150)
    long = {"the newest of all models": random_scores(1), "the oldest of all models, by far": random_scores(2)}
    truth = [*[True, False] * 150]
    # Names that are typed stand whole.
    output, _, typed = baserate.evaluate(truth, long).text(width).partition("\nNext, in Python\n")
    longest = 10 + len('"the oldest of all models, by far": score["the oldest of all models, by far"]}, ')
    typed_lines = [line for line in output.splitlines() if line.startswith(" " * 6)]
    assert max(map(display_width, typed_lines)) <= max(width, longest)
    assert max(map(display_width, {*output.splitlines()} - {*typed_lines})) <= width
    assert '"the newest of all models"' in typed
    for more in ({"group": {"site": site}}, {"models": ("risk", "old")}, {"costs": Costs(fn=9)}):
        report = replace(make_report(prevalence=0.02, **more), findings=(FALLING,))
        output = report.text(width).partition("\nNext, in Python\n")[0]
        assert max(map(display_width, output.splitlines())) <= width


def test_only_terminal_text_has_styles() -> None:
    report = replace(make_report(), findings=(FALLING,))
    assert "\x1b" not in report.text()
    assert "\x1b[1m" in report_page(report).text(80)


def test_names_are_escaped_for_terminal_and_markdown() -> None:
    odd = "a\x1b[2J\n|b*"
    site = np.array([odd, "south"] * 150)
    report = baserate.evaluate([*[True, False] * 150], {odd: np.linspace(0, 1, 300)}, group={odd: site}, positive=True)
    report = replace(report, findings=(replace(FALLING, sentence=f"{odd} is odd.", model=odd),))
    for output in (report.text(), report.markdown()):
        assert "\x1b" not in output
        assert "a�[2J�" in output.replace("\\", "")
    tables = [line for line in report.markdown().splitlines() if line.startswith("|") and "2J" in line]
    assert tables
    assert all("\\|b\\*" in line for line in tables)


def test_next_steps_are_python_for_rows_in_memory() -> None:
    report = make_report(models=("risk", "old"))
    output = next_commands(report)
    assert output.language == "python"
    assert [typed for _, (typed,) in output.commands] == [
        'print(report.of("risk").there.ppv)',
        "report.frame()",
        'baserate.apply.actions(report.policies["risk"], new_score).text',
        'report.save("report.html")',
    ]


def test_broken_commands_are_unchanged_for_a_shell() -> None:
    plan = baserate.Plan(files=("my people.csv",), truth="is sick", score=("a -b",), prevalence=0.02, costs=Costs())
    report = replace(make_report(prevalence=0.02), plan=plan)
    wide, narrow = ([*_parse_commands(report_page(report).text(width))] for width in (1000, 40))
    assert wide == narrow
    assert wide[0][5:7] == ["--score", "a -b"]
    assert all(words[0] == "baserate" for words in wide)


def _parse_commands(text: str) -> list[list[str]]:
    """Return the words of the commands of a page."""
    body = text.partition("Next\x1b[0m\n")[2].partition("\n\n")[0].replace("\\\n", " ")
    return [shlex.split(line) for line in body.splitlines() if not line.startswith("  #")]


def test_remedies_are_listed_once_per_code() -> None:
    whole = make_report(models=("risk", "old"))
    both = tuple(replace(FALLING, model=model) for model in whole.models)
    output = replace(whole, findings=(*both, replace(FALLING, code="BR011"))).text()
    assert output.count("BR005") == 2
    assert output.count("→") == 2


@pytest.mark.parametrize("width", WIDTHS)
def test_commands_of_findings_are_unchanged_for_a_shell(width: int) -> None:
    shell = "baserate decide 'my people.csv' --truth 'is sick' --score risk --prevalence 0.02 --fp 1 --fn 20 --folds 5"
    falls = replace(FALLING, remedy="Do it.")
    report = replace(make_report(), findings=(replace(falls, command=Snippet("sh", shell)),))
    body = report.text(width).partition("Do it.\n")[2].partition("\n\n")[0]
    assert shlex.split(body.replace("\\\n", " ")) == shlex.split(shell)
    python = 'f = dict(a=["x, y", (1, 2)], b={"c": [3, 4], "d": "e, f(g"}, h=5)\nf["b"]["d"]'
    report = replace(make_report(), findings=(replace(falls, command=Snippet("python", python)),))
    body = report.text(width).partition("Do it.\n")[2].partition("\n\n")[0]
    names: dict[str, Any] = {}
    exec(dedent(body), names)  # noqa: S102  (our own words)
    assert names["f"] == {"a": ["x, y", (1, 2)], "b": {"c": [3, 4], "d": "e, f(g"}, "h": 5}
    assert f"\n\n  ```python\n  {python.splitlines()[0]}\n  f" in report.markdown()


def test_unparsable_commands_stay_unchanged() -> None:
    for command in (Snippet("sh", "baserate 'decide"), Snippet("python", "f(]'")):
        report = replace(make_report(), findings=(replace(FALLING, command=command),))
        assert command.text in report.text()
        assert Report.from_json(report.to_json()).findings == report.findings


def test_code_in_markdown_is_not_escaped_and_stays_in_its_block() -> None:
    report = replace(make_report(), findings=(replace(FALLING, remedy="Type `a_b --c`, *now*."),))
    assert r"→ Type `a_b --c`, \*now\*." in report.markdown()
    odd = replace(report, plan=replace(report.plan, files=("a```b.csv",)))
    output = odd.markdown()
    assert "\n````sh\n" in output
    assert output.count("````") == 2
