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


def test_natural_frequencies_by_hand() -> None:
    # 3 of 4 positives and 1 of 4 negatives are flagged; of 1000, 20 are positive.
    truth, score = [1, 1, 1, 1, 0, 0, 0, 0], [0.9, 0.8, 0.7, 0.1, 0.6, 0.3, 0.2, 0.1]
    output = join_lines(baserate.evaluate(truth, score, prevalence=0.02).text())
    assert (
        "Of 1000 people at the deployment prevalence of 2%, 20 are positive: 15 of them are flagged (true positives) "
        "and 5 are missed (false negatives)." in output
    )
    assert "Of 980 negatives, 245 are flagged (false positives). Of 260 flagged people, 15 are positive." in output
    table = baserate.evaluate(truth, score, prevalence=0.02).text().splitlines()
    rows = [line.split("  ")[2:] for line in table if re.match(r"  (positive|negative|total) ", line)]
    assert [[each.strip() for each in row if each] for row in rows] == [
        ["15", "5", "20"],
        ["245", "735", "980"],
        ["260", "740", "1,000"],
    ]


def test_text_names_the_sample_prevalence_by_default() -> None:
    assert "Of 1000 people at the sample prevalence of 25%, 250 are positive" in join_lines(
        baserate.evaluate([1, 0, 0, 0], [0.9, 0.6, 0.4, 0.1]).text()
    )


def test_fractions_of_a_person_are_fewer_than_one() -> None:
    output = join_lines(baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], prevalence=0.0001).text())
    assert "fewer than 1 are positive: fewer than 1 of them are flagged" in output
    assert "<1 <1 <1" in output


def test_text_where_nobody_is_flagged() -> None:
    output = join_lines(baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], threshold=2).text())
    assert "500 are positive. Nobody is flagged." in output
    assert "¹ nothing is flagged" in output
    output = join_lines(baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], threshold=0.8).text())
    assert "Of 500 negatives, 0 are flagged (false positives). Of 250 flagged people, 250 are positive." in output


def test_referred_people_have_a_column() -> None:
    policy = Policy(by_group={(): Cut((0.3, 0.6), ("pass", "refer", "flag"))}, otherwise="refuse")
    output = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], policy=policy).text()
    assert "flagged  referred  not flagged  total" in output
    assert (
        "250 of them are flagged (true positives), 250 are referred and 0 are missed (false negatives)"
        in join_lines(output)
    )
    assert "Rates of decisions exclude referred people" in join_lines(output)


@pytest.mark.parametrize(
    ("more", "fifth"),
    [
        ({"costs": Costs(fp=1, fn=20), "prevalence": 0.02}, "cost of 1000 people"),
        ({}, "O/E ratio"),
    ],
)
def test_headline_numbers_are_those_of_the_report(more: dict[str, Any], fifth: str) -> None:
    report = make_report(**more)
    lines = report.text(120).splitlines()
    there = report.there
    numbers = {"sensitivity": there.sensitivity, "specificity": there.specificity, "auc": report.here.auc}
    for name, each in numbers.items():
        line = next(line for line in lines if line.startswith(f"  {name} "))
        assert f"{each.value:.4f}" in line
        assert f"{each.low:.4f} – " in line or f"{each.low:.5f} – " in line
    line = next(line for line in lines if line.startswith(f"  {fifth} "))
    value = 1000 * there.expected_cost.value if more else report.here.observed_expected.value
    assert f"{value:.4g}" in line


def test_precision_is_listed_in_sample_and_deployment() -> None:
    report = make_report(prevalence=0.02)
    here, there = report.here.precision.value, report.there.precision.value
    assert here > 2 * there
    lines = {line.split("  ")[1]: line for line in report.text(120).splitlines() if line.startswith("  precision")}
    assert f"{there:.5f}" in lines["precision at 2%"] or f"{there:.4f}" in lines["precision at 2%"]
    assert f"{here:.4f}" in lines["precision in the sample"]


def test_npv_is_listed_for_scores_that_are_no_probabilities() -> None:
    output = baserate.evaluate([1, 0, 1, 0, 1, 0], [9, 6, 4, 1, 8, 2], prevalence=0.1).text()
    assert "\n  npv at 10% " in output
    assert "O/E" not in output
    assert "(default: Youden's threshold)" in join_lines(output)


def test_predicted_labels_have_no_rank_measures() -> None:
    output = baserate.evaluate([1, 0, 1, 0], predicted=[1, 0, 0, 0]).text()
    assert "Predicted labels of predicted are the decisions: rows with the positive label are flagged." in output
    assert "\n  flag rate " in output
    assert "\n  auc " not in output


def test_models_are_columns_with_their_differences_below() -> None:
    report = make_report(models=("risk", "old"))
    output = report.text(100)
    assert re.search(r"of 1000 people +risk +old\n", output)
    assert "risk − old, each at its own threshold, in the sample:" in output
    difference = report.select(part="differences", measure="auc")[0]
    assert re.search(rf"\n +auc +{difference['value']:.4f} .* < 0\.0001 +< 0\.0001\n", output)
    assert "DeLong, paired for differences of auc" in join_lines(output)


def test_groups_at_the_sample_prevalence_and_number_of_omitted_ones() -> None:
    site = np.array([f"site {at % 15:02}" for at in range(300)])
    report = make_report(group={"site": site}, prevalence=0.02)
    output = report.text(100)
    assert "3 more groups are not listed" in output
    assert "site 11" in output
    assert "site 12" not in output
    counts = report.within(site="site 00").here.counts
    line = next(line for line in output.splitlines() if "site 00" in line)
    assert f"{counts.fp / (counts.fp + counts.tn):.4f}" in line
    assert line.split()[2] == "20"


def test_findings_contain_remedies() -> None:
    report = replace(make_report(), findings=(FALLING, replace(FALLING, code="BR011", severity="note")))
    output = report.text(60)
    assert (
        "  !! BR005 Precision falls\n    At a prevalence of 2%, precision is 0.11, not 0.30.\n    → judge it" in output
    )
    assert "  · BR011 Precision falls\n" in output
    assert "- **!! BR005 Precision falls** At a prevalence" in report.markdown()
    assert "Findings: none." in replace(make_report(), findings=()).text()


def test_findings_name_their_model_where_there_are_several() -> None:
    report = replace(make_report(models=("risk", "old")), findings=(FALLING, replace(FALLING, model=None)))
    heads = [line for line in report.text().splitlines() if "BR005" in line]
    assert heads == ["  !! BR005 Precision falls (risk)", "  !! BR005 Precision falls"]


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
